//! The smallest script that still shows the same thing.

use super::protocol::Protocol;
use super::replay::Tail;
use super::signature::Signature;
use super::walker::{Moment, Walker};
use crate::lifetime::Violation;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What a smaller script must still show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The same signature: the same race by the same steps.
    Signature,
    /// The same kind of violation, however it comes about.
    Kind,
}

impl Keep {
    fn holds(self, violation: &Violation, signature: &Signature) -> bool {
        match self {
            Self::Signature => Signature::from(violation) == *signature,
            Self::Kind => violation.kind == signature.kind,
        }
    }
}

/// How to minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimiseOptions {
    /// What must be kept.
    pub keep: Keep,
    /// What follows the script. With a drain, steps that a drain takes anyway need not be in the script, and findings
    /// at rest are seen at all.
    pub tail: Tail,
}

impl Default for MinimiseOptions {
    fn default() -> Self {
        Self { keep: Keep::Signature, tail: Tail::Drain { bound: 4096 } }
    }
}

/// A script from which nothing can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised<Step> {
    /// The script. No single step, and in a short script no pair of steps, can be removed from it.
    pub steps: Vec<Step>,
    /// The violation as it shows it.
    pub violation: Violation,
    /// Whether it is seen only in the tail, after the script's last step.
    pub in_tail: bool,
    /// How many scripts were tried.
    pub runs: u64,
}

/// Up to this length, pairs of steps are tried as well: an abort and its retry go together or not at all.
const PAIRS: usize = 48;

/// Shrinks a script as long as it shows the signature. None if it does not show it to begin with.
///
/// Delta debugging: ever smaller runs of steps are left out, down to single steps until none can be, then pairs. Each
/// success also drops what came after the violation and what had no effect. No randomness: same script, same result.
pub fn minimise<P: Protocol>(
    protocol: &P,
    script: &[P::Step],
    signature: &Signature,
    options: &MinimiseOptions,
) -> Option<Minimised<P::Step>> {
    let mut shrinker = Shrinker { walker: Walker::new(protocol), signature, options, runs: 0 };
    let mut best = shrinker.run(script.iter())?;
    let mut chunk = best.steps.len() / 2;
    while chunk > 1 {
        shrinker.without_chunks(&mut best, chunk);
        chunk /= 2;
    }
    loop {
        while shrinker.without_chunks(&mut best, 1) {}
        if !shrinker.without_a_pair(&mut best) {
            break;
        }
    }
    Some(Minimised { steps: best.steps, violation: best.violation, in_tail: best.in_tail, runs: shrinker.runs })
}

/// What a script showed, and as much of it as was needed for that.
struct Shown<Step> {
    steps: Vec<Step>,
    violation: Violation,
    in_tail: bool,
}

struct Shrinker<'a, P: Protocol> {
    walker: Walker<'a, P>,
    signature: &'a Signature,
    options: &'a MinimiseOptions,
    runs: u64,
}

impl<P: Protocol> Shrinker<'_, P> {
    /// Leaves out each run of `chunk` steps in turn; whether any could be.
    fn without_chunks(&mut self, best: &mut Shown<P::Step>, chunk: usize) -> bool {
        let (mut at, mut shrunk) = (0, false);
        while at < best.steps.len() {
            let end = (at + chunk).min(best.steps.len());
            if let Some(shown) = self.run(best.steps[..at].iter().chain(&best.steps[end..])) {
                // What stood at `end` stands here now: look at the same place again.
                *best = shown;
                shrunk = true;
            } else {
                at = end;
            }
        }
        shrunk
    }

    /// Leaves out the first two steps that can be left out together.
    fn without_a_pair(&mut self, best: &mut Shown<P::Step>) -> bool {
        let len = best.steps.len();
        if len > PAIRS {
            return false;
        }
        for first in 0..len {
            for second in first + 1..len {
                let rest = best.steps.iter().enumerate().filter(|(at, _)| *at != first && *at != second);
                if let Some(shown) = self.run(rest.map(|(_, step)| step)) {
                    *best = shown;
                    return true;
                }
            }
        }
        false
    }

    /// Runs a script until it shows the violation.
    fn run<'s>(&mut self, script: impl Iterator<Item = &'s P::Step>) -> Option<Shown<P::Step>>
    where
        P::Step: 's,
    {
        let MinimiseOptions { keep, tail } = *self.options;
        let is_it = |violation: &&Violation| keep.holds(violation, self.signature);
        self.runs += 1;
        self.walker.reset();
        let mut steps = Vec::new();
        for step in script {
            self.walker.before.clone_from(&self.walker.state);
            self.walker.take(step);
            let violations = &self.walker.violations;
            // A step without any effect is not part of the story.
            if violations.is_empty() && self.walker.state == self.walker.before {
                continue;
            }
            steps.push(step.clone());
            if let Some(violation) = violations.iter().find(is_it) {
                return Some(Shown { steps, violation: violation.clone(), in_tail: false });
            }
        }
        let Tail::Drain { bound } = tail else { return None };
        let mut shown = None;
        self.walker.drain(bound, |moment: Moment<'_, P>| {
            shown = moment.violations().iter().find(is_it).cloned();
            if shown.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        shown.map(|violation| Shown { steps, violation, in_tail: true })
    }
}
