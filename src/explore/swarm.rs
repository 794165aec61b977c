//! Seeded random walks over enabled steps.

use super::budget::{Budget, Clock, Progress, StopReason};
use super::families::Families;
use super::found::Found;
use super::pool;
use super::protocol::{Protocol, StepClass};
use super::random::Random;
use super::tally::{Tally, ends_path};
use super::walker::{Moment, Walker};
use crate::lifetime::Severity;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How a walk chooses among enabled steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// Each enabled step alike.
    Uniform,
    /// Each walk with its own random weights by family, and a random half of the fault families switched off: some
    /// faults are only seen when others do not get in their way.
    Swarm,
}

/// What to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwarmOptions {
    /// Where the random numbers come from, together with the number of the walk.
    pub seed: u64,
    /// How steps are chosen.
    pub mix: Mix,
    /// The longest walk, in steps, before it is drained.
    pub length: usize,
    /// The bound of a drain, in steps.
    pub drain: usize,
    /// The number of the first walk: to go on where an earlier run stopped.
    pub from: u64,
    /// A walk ends, without a drain, at a step that violates this or worse. What follows is mostly its echo.
    pub stop_at: Option<Severity>,
    /// How many threads. The result is the same for any number.
    pub jobs: usize,
}

impl Default for SwarmOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            mix: Mix::Uniform,
            length: 256,
            drain: 4096,
            from: 0,
            stop_at: Some(Severity::Corruption),
            jobs: 1,
        }
    }
}

/// What random walks did and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Swarm<Step> {
    /// Walks done.
    pub walks: u64,
    /// The walk to go on from.
    pub next: u64,
    /// Steps of the walks, drains included.
    pub steps: u64,
    /// Walks whose drain never came to rest. Not a pass.
    pub livelocks: u64,
    /// Steps by family, drains included.
    pub families: Families,
    /// Why it stopped.
    pub stop: StopReason,
    /// Each signature once, with the script of the walk with the lowest number.
    pub findings: Vec<Found<Step>>,
}

/// Walks that one worker does in one go.
const BLOCK: u64 = 32;
/// Blocks between two looks at the findings: few at first, to be quick about what is easy to find, then more. Fixed,
/// so that where a run stops does not depend on the number of workers.
const ROUNDS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// The first script that showed a signature.
struct Witness<Step> {
    walk: u64,
    steps: Vec<Step>,
    at_rest: bool,
}

/// What a block of walks did.
struct Block<Step> {
    done: bool,
    steps: u64,
    livelocks: u64,
    families: Families,
    tally: Tally<Witness<Step>>,
}

impl<Step> Default for Block<Step> {
    fn default() -> Self {
        Self { done: false, steps: 0, livelocks: 0, families: Families::default(), tally: Tally::default() }
    }
}

/// Walks at random until the budget is spent. Without a limit of walks or of time, or a finding to wait for, it goes
/// on for ever.
pub fn swarm<P: Protocol>(protocol: &P, options: &SwarmOptions, budget: &Budget<'_>) -> Swarm<P::Step> {
    let clock = Clock::start(budget);
    let mut total = Block::default();
    let mut next = options.from;
    let end = budget.walks.map_or(u64::MAX, |walks| options.from.saturating_add(walks));
    let mut rounds = ROUNDS.iter().chain(ROUNDS.last().into_iter().cycle());
    let stop = loop {
        if next == end {
            break StopReason::Walks;
        }
        let blocks = rounds.next().copied().unwrap_or(1).min((end - next).div_ceil(BLOCK));
        let mut results: Vec<Block<P::Step>> = (0..blocks).map(|_| Block::default()).collect();
        let work = results.iter_mut().enumerate();
        pool::for_each(
            options.jobs,
            work,
            || (Walker::new(protocol), Vec::new()),
            |(walker, script), (index, block)| {
                if clock.expired().is_some() {
                    return;
                }
                let first = next + index as u64 * BLOCK;
                for walk in first..end.min(first.saturating_add(BLOCK)) {
                    one_walk(walker, script, walk, options, block);
                }
                block.done = true;
            },
        );
        // Blocks are handed out in order, but the clock may expire for one and, a moment earlier, not for the next:
        // only the unbroken beginning counts, so that a later run can go on from there.
        for block in results.iter_mut().take_while(|block| block.done) {
            next = end.min(next.saturating_add(BLOCK));
            total.steps += block.steps;
            total.livelocks += block.livelocks;
            total.families.merge(&block.families);
            total.tally.absorb(&mut block.tally);
        }
        if let Some(tell) = budget.progress {
            tell(&Progress {
                elapsed: clock.elapsed(),
                states: 0,
                steps: total.steps,
                depth: 0,
                frontier: 0,
                walks: next - options.from,
                findings: total.tally.len(),
            });
        }
        if budget.until.is_some_and(|severity| total.tally.reaches(severity)) {
            break StopReason::Found;
        }
        if next != end
            && let Some(reason) = clock.expired()
        {
            break reason;
        }
    };
    Swarm {
        walks: next - options.from,
        next,
        steps: total.steps,
        livelocks: total.livelocks,
        families: total.families,
        stop,
        findings: total
            .tally
            .into_entries()
            .into_iter()
            .map(|entry| {
                let Witness { walk, steps, at_rest } = entry.witness;
                Found {
                    signature: entry.signature,
                    violation: entry.violation,
                    steps,
                    at_rest,
                    count: entry.count,
                    walk: Some(walk),
                }
            })
            .collect(),
    }
}

/// The weights of one walk.
struct Weights {
    /// One bit a family that is off, if it is a family of faults.
    off: u64,
    by_family: [u32; Families::COUNT],
}

impl Weights {
    fn draw(random: &mut Random) -> Self {
        let off = random.word();
        // Powers of two from 1 to 32: far enough apart to change what a walk looks like.
        let by_family = std::array::from_fn(|_| 1 << random.below(6));
        Self { off, by_family }
    }

    fn of<P: Protocol>(&self, protocol: &P, step: &P::Step) -> u32 {
        let family = protocol.family(step);
        let off = self.off >> family & 1 == 1 && protocol.class(step) == StepClass::Fault;
        if off { 0 } else { self.by_family[usize::from(family)] }
    }

    /// The position of a step chosen by weight; none if all that is enabled is off.
    fn choose<P: Protocol>(&self, protocol: &P, enabled: &[P::Step], random: &mut Random) -> Option<usize> {
        let sum: u32 = enabled.iter().map(|step| self.of(protocol, step)).sum();
        let mut left = random.below(u64::from(sum)) as u32;
        enabled.iter().position(|step| {
            let weight = self.of(protocol, step);
            let here = left < weight;
            left = left.wrapping_sub(weight);
            here
        })
    }
}

/// One walk and its drain.
fn one_walk<P: Protocol>(
    walker: &mut Walker<'_, P>,
    script: &mut Vec<P::Step>,
    walk: u64,
    options: &SwarmOptions,
    block: &mut Block<P::Step>,
) {
    let protocol = walker.protocol;
    let mut random = Random::new(options.seed, walk);
    let weights = match options.mix {
        Mix::Uniform => None,
        Mix::Swarm => Some(Weights::draw(&mut random)),
    };
    walker.reset();
    script.clear();
    let Block { steps, livelocks, families, tally, .. } = block;
    for _ in 0..options.length {
        let count = walker.enabled().len();
        for violation in walker.judge_if_only_time_can_move() {
            tally.record(violation, 0, || Witness { walk, steps: script.clone(), at_rest: true });
        }
        let choice = match &weights {
            None => (count > 0).then(|| random.below(count as u64) as usize),
            Some(weights) => weights.choose(protocol, &walker.enabled, &mut random),
        };
        let Some(choice) = choice else { break };
        let step = walker.advance(choice).clone();
        families.add(protocol.family(&step));
        *steps += 1;
        script.push(step);
        for violation in &walker.violations {
            tally.record(violation, 0, || Witness { walk, steps: script.clone(), at_rest: false });
        }
        if ends_path(&walker.violations, options.stop_at) {
            return;
        }
    }
    let drained = walker.drain(options.drain, |moment| {
        let at_rest = match moment {
            Moment::Step { step, .. } => {
                families.add(protocol.family(step));
                script.push(step.clone());
                false
            }
            Moment::Rest { .. } | Moment::Skipped { .. } => true,
        };
        for violation in moment.violations() {
            tally.record(violation, 0, || Witness { walk, steps: script.clone(), at_rest });
        }
        if ends_path(moment.violations(), options.stop_at) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    *steps += drained.steps as u64;
    *livelocks += u64::from(drained.livelock);
}
