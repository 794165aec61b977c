//! Smaller schedules that show the same.

use crate::engine::follow::follow;
use crate::engine::shuttle::Shuttle;
use crate::record;
use crate::stage::Stage;
use pagefence::cell::Watched;
use pagefence::explore::{Access, Schedule, Signature};
use pagefence::lifetime::Violation;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// What following a schedule led to.
#[derive(Clone, Debug)]
pub struct Followed {
    /// What was violated.
    pub violations: Vec<Violation>,
    /// The accesses that were made: the schedule, and what came after it.
    pub schedule: Schedule,
    /// The state in which the threads left the cell.
    pub after: Watched,
}

/// Follows `schedule` on `stage`; nothing when the engine gave up on the way.
#[must_use]
pub fn follow_on(stage: &Stage, schedule: &Schedule) -> Option<Followed> {
    let result = Arc::new(Mutex::new(None));
    let (out, stage) = (Arc::clone(&result), stage.clone());
    let execution = move || {
        *out.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage.execute_to_state::<Shuttle>());
    };
    catch_unwind(AssertUnwindSafe(|| follow(schedule, execution))).ok()?;
    let (violations, after) = result.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some(Followed { violations, schedule: record::schedule(), after })
}

/// The replays that shrinking may take.
const REPLAYS: usize = 3_000;

/// A schedule with fewer switches between threads that shows `signature` too: stretches of one thread are brought
/// together as long as that shows. Nothing if `schedule` does not show it.
#[must_use]
pub fn shrink(stage: &Stage, schedule: &Schedule, signature: Signature) -> Option<Followed> {
    let shows = |candidate: &Schedule| {
        let followed = follow_on(stage, candidate)?;
        followed.violations.iter().any(|violation| Signature::from(violation) == signature).then_some(followed)
    };
    let mut best = shows(schedule)?;
    let mut left = REPLAYS;
    'again: while left > 0 {
        for candidate in smaller(&best.schedule) {
            if left == 0 {
                break 'again;
            }
            left -= 1;
            if let Some(followed) = shows(&candidate)
                && followed.schedule.switches() < best.schedule.switches()
            {
                best = followed;
                continue 'again;
            }
        }
        break;
    }
    Some(best)
}

/// Schedules in which one stretch has been moved to an earlier or later one of its thread.
fn smaller(schedule: &Schedule) -> impl Iterator<Item = Schedule> + use<> {
    let stretches = schedule.stretches().0;
    let mut starts = vec![0];
    for (_, count) in &stretches {
        starts.push(starts[starts.len() - 1] + count);
    }
    let accesses = schedule.accesses.clone();
    (0..stretches.len()).flat_map(move |at| {
        let thread = stretches[at].0;
        let earlier = (0..at).rev().find(|other| stretches[*other].0 == thread).map(|other| starts[other + 1]);
        let later = (at + 1..stretches.len()).find(|other| stretches[*other].0 == thread).map(|other| starts[other]);
        let (from, until) = (starts[at], starts[at + 1]);
        let moves: Vec<Schedule> =
            [earlier, later].into_iter().flatten().map(|to| moved(&accesses, from, until, to)).collect();
        moves
    })
}

/// `accesses` with `from .. until` taken out and put where `to` was.
fn moved(accesses: &[Access], from: usize, until: usize, to: usize) -> Schedule {
    let mut rest: Vec<Access> = [&accesses[..from], &accesses[until..]].concat();
    let to = if to > from { to - (until - from) } else { to };
    rest.splice(to..to, accesses[from..until].iter().cloned());
    Schedule { accesses: rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(threads: &[u8]) -> Schedule {
        let access = |thread: &u8| Access { thread: *thread, did: String::new() };
        Schedule { accesses: threads.iter().map(access).collect() }
    }

    fn threads(schedule: &Schedule) -> Vec<u8> {
        schedule.accesses.iter().map(|access| access.thread).collect()
    }

    #[test]
    fn a_stretch_moves_to_its_neighbours_of_the_same_thread() {
        let all: Vec<Vec<u8>> = smaller(&schedule(&[0, 1, 1, 0, 2])).map(|schedule| threads(&schedule)).collect();
        assert_eq!(all, [vec![1, 1, 0, 0, 2], vec![0, 0, 1, 1, 2]]);
    }
}
