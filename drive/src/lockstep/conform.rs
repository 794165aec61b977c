//! Conformance: for scripts with faults and without, the cell under the profile of a release and the release itself say the same.

use super::side::{Heard, Sides};
use crate::error::DriveError;
use crate::pair::Hosts;
use pagefence::cell::Step;
use pagefence::explore::{DRAIN_BOUND, Moment, Random, Serving, Walker};
use std::ops::ControlFlow;

/// The first step in which the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its place in the script.
    pub at: usize,
    /// The step.
    pub step: Step,
    /// What both say.
    pub heard: Heard,
}

/// How a script went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conformance {
    /// Both say the same, step by step.
    Agree {
        /// How many steps.
        steps: usize,
    },
    /// They differ.
    Differ(Box<Difference>),
    /// A step has no counterpart.
    NotExpressible(String),
}

/// A random script of at most `steps` steps, and every fair step until nothing is left to do behind it. Families of steps are as
/// likely as each other, so that none drowns the rest.
#[must_use]
pub fn generate(serving: &Serving, seed: u64, number: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::new(seed, number);
    let mut walker = Walker::new(serving);
    let mut script = Vec::new();
    while script.len() < steps {
        let enabled = walker.enabled();
        let mut families: Vec<u8> = enabled.iter().map(|step| step.family()).collect();
        families.dedup();
        families.sort_unstable();
        families.dedup();
        let Some(family) = pick(&mut random, &families).copied() else { break };
        let ours: Vec<Step> = enabled.iter().copied().filter(|step| step.family() == family).collect();
        let Some(step) = pick(&mut random, &ours).copied() else { break };
        script.push(step);
        walker.take(&step);
    }
    _ = walker.drain(DRAIN_BOUND, |moment| {
        if let Moment::Step { step, .. } = moment {
            script.push(*step);
        }
        ControlFlow::Continue(())
    });
    script
}

fn pick<'a, T>(random: &mut Random, from: &'a [T]) -> Option<&'a T> {
    from.get(random.below(from.len() as u64) as usize)
}

/// Runs a script on both, up to the first difference.
///
/// # Errors
/// When a node does not do its part.
pub fn run(serving: &Serving, hosts: &mut Hosts, script: &[Step]) -> Result<Conformance, DriveError> {
    let mut sides = Sides::new(serving, hosts.pair()?);
    for (at, step) in script.iter().copied().enumerate() {
        match sides.take(step) {
            // A process that has died is not looked at any further.
            Ok(heard) if heard.agree() && heard.cell.iter().any(|words| words.ends_with("dies")) => break,
            Ok(heard) if heard.agree() => {}
            Ok(heard) => return Ok(Conformance::Differ(Box::new(Difference { at, step, heard }))),
            Err(DriveError::NotExpressible(what)) => return Ok(Conformance::NotExpressible(what)),
            Err(error) => return Err(error),
        }
    }
    Ok(Conformance::Agree { steps: script.len() })
}

/// The script without whatever is not needed to see the same difference.
///
/// # Errors
/// When a node does not do its part.
pub fn minimise(
    serving: &Serving,
    hosts: &mut Hosts,
    script: &[Step],
    difference: Difference,
) -> Result<(Vec<Step>, Difference), DriveError> {
    let mut script = script[..=difference.at].to_vec();
    let mut difference = difference;
    let mut width = script.len() / 2;
    while width > 0 {
        let mut at = 0;
        while at < script.len() {
            let mut shorter = script.clone();
            shorter.drain(at..(at + width).min(shorter.len()));
            match run(serving, hosts, &shorter)? {
                Conformance::Differ(found) if found.heard.differing() == difference.heard.differing() => {
                    script = shorter[..=found.at].to_vec();
                    difference = *found;
                }
                _ => at += width,
            }
        }
        width /= 2;
    }
    Ok((script, difference))
}
