//! Every reachable state, breadth first.
//!
//! Level by level: the states of a level are expanded in blocks, by any worker; each transition becomes a candidate
//! (fingerprint, parent, step). Then the fingerprints are added to the set, by shard, each shard by one worker, in the
//! order of (parent, step). What was new is rebuilt, in that same order, as the next level. So the search is the one
//! that a single worker would do, whatever the number of workers: same states, same numbering, same scripts.
//!
//! A state is judged at rest when no progress step changes it. Progress that goes round in a circle never rests and is
//! not judged here: random walks report it as a livelock of their drain.
//!
//! Whole states are held for the current level and the next only. Of the others remain the fingerprint (8 bytes at
//! a load of 3/8 to 3/4), the parent and the step (6 bytes): a script is rebuilt by taking its steps again.

mod level;
mod scripts;
mod seen;

use self::level::{BLOCK, Candidate, Counts, Expansion, Growth, Scratch, Segment, expand, grow};
use self::scripts::Scripts;
use self::seen::Seen;
use super::budget::{Budget, Clock, Progress, StopReason};
use super::families::Families;
use super::found::Found;
use super::pool;
use super::protocol::Protocol;
use crate::lifetime::Severity;
use serde::{Deserialize, Serialize};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExhaustiveOptions {
    /// A step that violates this or worse ends its path: it is a transition, but where it leads is not followed, nor
    /// counted as a state. With nothing here, every path goes on.
    pub stop_at: Option<Severity>,
    /// Take states that differ in a renaming for one, see [`Protocol::fingerprint`].
    pub symmetry: bool,
    /// How many threads. The result is the same for any number.
    pub jobs: usize,
}

impl Default for ExhaustiveOptions {
    fn default() -> Self {
        Self { stop_at: Some(Severity::Corruption), symmetry: false, jobs: 1 }
    }
}

/// What an exhaustive search visited and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exhaustive<Step> {
    /// Distinct states; classes of them, under symmetry.
    pub states: u64,
    /// Transitions: enabled steps that change the state.
    pub transitions: u64,
    /// Enabled steps that leave the state as it is.
    pub self_loops: u64,
    /// Transitions that were not followed because of what they violate.
    pub cut: u64,
    /// The length of the longest shortest path from the initial state, in steps.
    pub depth: u32,
    /// Whether every state that can be reached (past no cut) was expanded. Only then does silence mean absence.
    pub closed: bool,
    /// Why it stopped.
    pub stop: StopReason,
    /// A checksum of all transitions (from, family of the step, to) that does not depend on their order: pinned, it
    /// shows any change of the protocol.
    pub digest: u64,
    /// Transitions by family.
    pub families: Families,
    /// Each signature once, in order of discovery, with a shortest script for it.
    pub findings: Vec<Found<Step>>,
}

/// Segments between two merges: as much as keeps the candidates in the cache and a merge worth its threads.
const BATCH: usize = 256;
/// With fewer segments than this, starting threads costs more than it brings.
const WORTH_SHARING: usize = 4;

/// Visits every state that the budget allows.
pub fn exhaustive<P: Protocol>(protocol: &P, options: &ExhaustiveOptions, budget: &Budget<'_>) -> Exhaustive<P::Step> {
    Search::new(protocol, options, budget).run()
}

struct Search<'a, P: Protocol> {
    protocol: &'a P,
    options: &'a ExhaustiveOptions,
    budget: &'a Budget<'a>,
    clock: Clock<'a>,
    seen: Vec<Seen>,
    /// By state number: the state that it was first reached from, and by which of its steps.
    parents: Vec<u32>,
    steps: Vec<u16>,
    counts: Counts,
    depth: u32,
    expansions: Vec<Expansion<P::Step>>,
    /// New candidates, by shard, then by segment.
    winners: Vec<Vec<Vec<Candidate>>>,
    /// Segments that are done with, for new ones to be written over.
    spare: Vec<Segment<P::State>>,
}

impl<'a, P: Protocol> Search<'a, P> {
    fn new(protocol: &'a P, options: &'a ExhaustiveOptions, budget: &'a Budget<'a>) -> Self {
        let shards = options.jobs.max(1);
        Self {
            protocol,
            options,
            budget,
            clock: Clock::start(budget),
            seen: (0..shards).map(|_| Seen::new()).collect(),
            parents: Vec::new(),
            steps: Vec::new(),
            counts: Counts::default(),
            depth: 0,
            expansions: (0..BATCH).map(|_| Expansion::new(shards)).collect(),
            winners: vec![vec![Vec::new(); BATCH]; shards],
            spare: Vec::new(),
        }
    }

    fn run(mut self) -> Exhaustive<P::Step> {
        let initial = self.protocol.initial();
        let print = self.protocol.fingerprint(&initial, self.options.symmetry);
        let shard = level::shard_of(print, self.seen.len());
        self.seen[shard].insert(print);
        self.parents.push(0);
        self.steps.push(0);
        let mut frontier = vec![Segment { first: 0, states: vec![initial], prints: vec![print] }];
        let stop = loop {
            let mut next = Vec::new();
            if let Some(reason) = self.level(&mut frontier, &mut next) {
                // States that were found but not expanded still are that deep.
                self.depth += u32::from(!next.is_empty());
                break reason;
            }
            if next.is_empty() {
                break StopReason::Closed;
            }
            self.depth += 1;
            frontier = next;
        };
        self.report(stop)
    }

    /// Expands a whole level; a reason to stop ends it early.
    fn level(&mut self, frontier: &mut [Segment<P::State>], next: &mut Vec<Segment<P::State>>) -> Option<StopReason> {
        let mut waiting: u64 = frontier.iter().map(|segment| segment.len() as u64).sum();
        for batch in frontier.chunks_mut(BATCH) {
            waiting -= batch.iter().map(|segment| segment.len() as u64).sum::<u64>();
            let full = self.batch(batch, next);
            let reached = waiting + next.iter().map(|segment| segment.len() as u64).sum::<u64>();
            if let Some(tell) = self.budget.progress {
                tell(&Progress {
                    elapsed: self.clock.elapsed(),
                    states: self.parents.len() as u64,
                    steps: self.counts.transitions,
                    depth: self.depth,
                    frontier: reached,
                    walks: 0,
                    findings: self.counts.tally.len(),
                });
            }
            if self.budget.until.is_some_and(|severity| self.counts.tally.reaches(severity)) {
                return Some(StopReason::Found);
            }
            if full {
                return Some(StopReason::States);
            }
            if let Some(reason) = self.clock.expired() {
                return Some(reason);
            }
            if self.budget.memory.is_some_and(|limit| self.bytes(next, reached) > limit) {
                return Some(StopReason::Memory);
            }
        }
        None
    }

    /// Expands some consecutive segments of a level. Whether the limit of states kept some of the new ones out.
    fn batch(&mut self, batch: &mut [Segment<P::State>], next: &mut Vec<Segment<P::State>>) -> bool {
        let (protocol, options, depth) = (self.protocol, self.options, self.depth);
        let jobs = if batch.len() < WORTH_SHARING { 1 } else { options.jobs.max(1) };
        let clock = &self.clock;
        pool::for_each(
            jobs,
            batch.iter_mut().zip(&mut self.expansions),
            || Scratch::new(protocol),
            |scratch, (segment, expansion)| {
                expansion.clear();
                if clock.expired().is_none() {
                    expand(protocol, options, depth, segment, scratch, expansion);
                }
            },
        );
        let expansions = &mut self.expansions[..batch.len()];
        for expansion in &mut *expansions {
            self.counts.absorb(&mut expansion.counts);
        }

        let expansions = &*expansions;
        pool::for_each(
            jobs,
            self.seen.iter_mut().zip(&mut self.winners).enumerate(),
            || (),
            |(), (shard, (seen, winners))| {
                for (expansion, winners) in expansions.iter().zip(winners) {
                    winners.clear();
                    winners.extend(expansion.shards[shard].iter().filter(|candidate| seen.insert(candidate.print)));
                }
            },
        );

        // State numbers are 32 bits wide, whatever the limit.
        let room = self.budget.states.unwrap_or(u64::MAX).min(u64::from(u32::MAX)) as usize;
        let mut room = room.saturating_sub(self.parents.len());
        let mut full = false;
        let (winners, spare) = (&self.winners, &mut self.spare);
        let mut growths: Vec<Growth<P::State>> = (0..batch.len())
            .map(|at| {
                let new: usize = winners.iter().map(|shard| shard[at].len()).sum();
                let wanted = new.min(room);
                full |= new > room;
                room -= wanted;
                let kept = spare.len().saturating_sub(wanted.div_ceil(BLOCK));
                Growth::new(wanted, spare.split_off(kept))
            })
            .collect();
        pool::for_each(
            jobs,
            batch.iter_mut().zip(expansions).zip(&mut growths).enumerate(),
            || Scratch::new(protocol),
            |scratch, (at, ((segment, expansion), growth))| {
                let heads = winners.iter().map(|shard| &*shard[at]).collect();
                grow(protocol, segment, expansion, heads, scratch, growth);
                segment.prints.clear();
            },
        );
        for segment in batch {
            let segment = std::mem::replace(segment, Segment { first: 0, states: Vec::new(), prints: Vec::new() });
            if self.spare.len() < BATCH {
                self.spare.push(segment);
            }
        }
        for growth in growths {
            let mut first = self.parents.len();
            self.parents.extend(growth.parents);
            self.steps.extend(growth.steps);
            self.spare.extend(growth.spare);
            for mut segment in growth.segments {
                segment.first = first as u32;
                first += segment.len();
                next.push(segment);
            }
        }
        full
    }

    /// About how many bytes the search holds while `waiting` states wait, all taken for as heavy as a new one.
    fn bytes(&self, next: &[Segment<P::State>], waiting: u64) -> u64 {
        let newest = next.last().and_then(|segment| segment.states.first());
        let state = newest.map_or(0, |state| self.protocol.weight(state)) + size_of::<u64>();
        let visited = self.parents.capacity() * size_of::<u32>() + self.steps.capacity() * size_of::<u16>();
        let seen: usize = self.seen.iter().map(Seen::bytes).sum();
        let spare: usize = self.spare.iter().map(|segment| segment.states.len()).sum();
        (visited + seen) as u64 + (waiting + spare as u64) * state as u64
    }

    fn report(self, stop: StopReason) -> Exhaustive<P::Step> {
        let scripts = Scripts { protocol: self.protocol, parents: &self.parents, steps: &self.steps };
        let counts = self.counts;
        Exhaustive {
            states: self.parents.len() as u64,
            transitions: counts.transitions,
            self_loops: counts.self_loops,
            cut: counts.cut,
            depth: self.depth,
            closed: stop == StopReason::Closed,
            stop,
            digest: counts.digest,
            families: counts.families,
            findings: counts.tally.into_entries().into_iter().map(|entry| scripts.found(entry)).collect(),
        }
    }
}
