//! The states of one level of the search, and how they are expanded.

use super::ExhaustiveOptions;
use crate::explore::families::Families;
use crate::explore::fingerprint::mix;
use crate::explore::protocol::{Protocol, Quiet, StepClass};
use crate::explore::tally::{Tally, ends_path};
use crate::lifetime::Violation;

/// How many states are expanded in one go: small enough to share out even a small level whose states are costly, large
/// enough to forget the cost of handing it out.
pub(super) const BLOCK: usize = 64;

/// Consecutive states of a level.
pub(super) struct Segment<S> {
    /// The number of the first state.
    pub(super) first: u32,
    /// The states, and behind them old ones that new ones are written over: copying over a state is cheaper than making
    /// one.
    pub(super) states: Vec<S>,
    /// The fingerprints of the states, one for each.
    pub(super) prints: Vec<u64>,
}

impl<S> Segment<S> {
    /// How many states there are.
    pub(super) const fn len(&self) -> usize {
        self.prints.len()
    }
}

impl<S: Clone> Segment<S> {
    /// Adds a copy of a state, to be changed where it is, and the fingerprint that it will have then.
    fn push(&mut self, state: &S, print: u64) -> &mut S {
        let at = self.len();
        self.prints.push(print);
        match self.states.get_mut(at) {
            Some(old) => old.clone_from(state),
            None => self.states.push(state.clone()),
        }
        &mut self.states[at]
    }
}

/// A transition to a state that may be new: `(parent, step)` says where from.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) print: u64,
    pub(super) parent: u32,
    pub(super) step: u16,
}

/// Where a violation was seen: in a step of a state, or in the state at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) parent: u32,
    pub(super) step: Option<u16>,
}

/// What a search counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) transitions: u64,
    pub(super) self_loops: u64,
    pub(super) cut: u64,
    pub(super) digest: u64,
    pub(super) families: Families,
    pub(super) tally: Tally<Sight>,
}

impl Counts {
    /// Adds a later block's counts and empties them.
    pub(super) fn absorb(&mut self, later: &mut Self) {
        self.transitions += std::mem::take(&mut later.transitions);
        self.self_loops += std::mem::take(&mut later.self_loops);
        self.cut += std::mem::take(&mut later.cut);
        // A sum, so that the order in which transitions are met does not matter.
        self.digest = self.digest.wrapping_add(std::mem::take(&mut later.digest));
        self.families.merge(&later.families);
        later.families.clear();
        self.tally.absorb(&mut later.tally);
    }
}

/// What expanding one segment yields; kept and used again for another.
pub(super) struct Expansion<Step> {
    /// Candidates by shard of the fingerprint set, in order of `(parent, step)`.
    pub(super) shards: Vec<Vec<Candidate>>,
    /// The enabled steps of each state, one list behind the other.
    steps: Vec<Step>,
    /// Where the list of each state begins.
    firsts: Vec<usize>,
    pub(super) counts: Counts,
}

impl<Step> Expansion<Step> {
    pub(super) fn new(shards: usize) -> Self {
        Self { shards: vec![Vec::new(); shards], steps: Vec::new(), firsts: Vec::new(), counts: Counts::default() }
    }

    /// Forgets the last segment; its counts have been taken.
    pub(super) fn clear(&mut self) {
        self.shards.iter_mut().for_each(Vec::clear);
        self.steps.clear();
        self.firsts.clear();
    }
}

/// Which shard a fingerprint belongs to, by its high bits; the set inside addresses by the low ones.
#[inline]
pub(super) const fn shard_of(print: u64, shards: usize) -> usize {
    ((print >> 32) as usize * shards) >> 32
}

/// A worker's buffers.
pub(super) struct Scratch<P: Protocol> {
    next: P::State,
    violations: Vec<Violation>,
}

impl<P: Protocol> Scratch<P> {
    pub(super) fn new(protocol: &P) -> Self {
        Self { next: protocol.initial(), violations: Vec::new() }
    }
}

/// Takes every enabled step of every state of the segment.
pub(super) fn expand<P: Protocol>(
    protocol: &P,
    options: &ExhaustiveOptions,
    depth: u32,
    segment: &Segment<P::State>,
    scratch: &mut Scratch<P>,
    out: &mut Expansion<P::Step>,
) {
    let Scratch { next, violations } = scratch;
    let Expansion { shards, steps, firsts, counts } = out;
    let shard_count = shards.len();
    for ((state, &print), parent) in segment.states.iter().zip(&segment.prints).zip(segment.first..) {
        let first = steps.len();
        firsts.push(first);
        protocol.steps(state, steps);
        let (mut progress, mut timer) = (false, false);
        for (index, step) in (0..=u16::MAX).zip(&steps[first..]) {
            next.clone_from(state);
            violations.clear();
            protocol.advance(next, step, violations);
            for violation in &*violations {
                counts.tally.record(violation, depth as usize + 1, || Sight { parent, step: Some(index) });
            }
            let to = protocol.fingerprint(next, options.symmetry);
            // Under symmetry a renamed state has the same fingerprint, and without it one may have by chance.
            if to == print && next == state {
                counts.self_loops += 1;
                continue;
            }
            match protocol.class(step) {
                StepClass::Progress => progress = true,
                StepClass::Timer => timer = true,
                StepClass::Client | StepClass::Fault => {}
            }
            let family = protocol.family(step);
            counts.transitions += 1;
            counts.families.add(family);
            counts.digest = counts.digest.wrapping_add(mix(mix(print ^ u64::from(family)) ^ to));
            if ends_path(violations, options.stop_at) {
                counts.cut += 1;
                continue;
            }
            shards[shard_of(to, shard_count)].push(Candidate { print: to, parent, step: index });
        }
        let quiet = match (progress, timer) {
            (true, _) => continue,
            (false, true) => Quiet::TimersPending,
            (false, false) => Quiet::Final,
        };
        violations.clear();
        protocol.quiet(state, quiet, violations);
        for violation in &*violations {
            counts.tally.record(violation, depth as usize, || Sight { parent, step: None });
        }
    }
}

/// Rebuilds the states of the new candidates of a segment, merged over the shards into the order of `(parent, step)`,
/// which is the order that one worker alone would have met them in.
///
/// A second `apply` for each new state, instead of keeping the states of the first time: most candidates are not new,
/// and what is never stored needs no room in the cache.
pub(super) fn grow<P: Protocol>(
    protocol: &P,
    segment: &Segment<P::State>,
    expansion: &Expansion<P::Step>,
    mut heads: Vec<&[Candidate]>,
    scratch: &mut Scratch<P>,
    out: &mut Growth<P::State>,
) {
    while out.parents.len() < out.wanted {
        let first = heads.iter_mut().filter(|head| !head.is_empty()).min_by_key(|head| (head[0].parent, head[0].step));
        let Some(head) = first else { break };
        let Candidate { print, parent, step } = head[0];
        *head = &head[1..];
        let at = (parent - segment.first) as usize;
        let (state, first) = (&segment.states[at], expansion.firsts[at]);
        out.parents.push(parent);
        out.steps.push(step);
        if out.segments.last().is_none_or(|segment| segment.len() == BLOCK) {
            out.segments.push(out.spare.pop().unwrap_or(Segment { first: 0, states: Vec::new(), prints: Vec::new() }));
        }
        let Some(last) = out.segments.last_mut() else { break };
        let next = last.push(state, print);
        scratch.violations.clear();
        protocol.advance(next, &expansion.steps[first + usize::from(step)], &mut scratch.violations);
    }
}

/// The next level's states that one segment yields.
pub(super) struct Growth<S> {
    /// How many to build.
    pub(super) wanted: usize,
    pub(super) parents: Vec<u32>,
    pub(super) steps: Vec<u16>,
    pub(super) segments: Vec<Segment<S>>,
    /// Empty segments to fill first.
    pub(super) spare: Vec<Segment<S>>,
}

impl<S> Growth<S> {
    pub(super) fn new(wanted: usize, spare: Vec<Segment<S>>) -> Self {
        let (parents, steps) = (Vec::with_capacity(wanted), Vec::with_capacity(wanted));
        Self { wanted, parents, steps, segments: Vec::new(), spare }
    }
}
