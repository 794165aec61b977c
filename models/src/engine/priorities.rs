//! Schedules by priorities: what is chosen is who goes first, and where that changes.
//!
//! A schedule that chooses the next thread at every point is long, and most of its choices matter nothing. This is the form
//! that probabilistic concurrency testing draws at random (Burckhardt et al., 2010): the thread of the highest priority
//! runs until it cannot, and at a few points the one that runs falls behind all others. A bug of depth d needs d - 1 points.
//! Here whoever brings the numbers chooses, so that a fuzzer can change one at a time.

use super::shuttle::run;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// A schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Priorities {
    /// The priority of each thread of the cell; a higher one goes first, of two equal ones the earlier thread. What is
    /// missing is zero.
    pub of: Vec<u8>,
    /// After how many choices the thread that runs falls behind all others, each; in any order.
    pub changes: Vec<u16>,
}

/// Runs `execution` once, on the schedule of `priorities`.
///
/// # Panics
/// When the engine does: a deadlock, a panic of the code, too many steps.
pub fn prioritise(priorities: &Priorities, execution: impl Fn() + Send + Sync + 'static) {
    let mut changes = priorities.changes.clone();
    changes.sort_unstable();
    let of = priorities.of.iter().map(|priority| i32::from(*priority)).collect();
    run(ByPriority { of, changes, chosen: 0, lowest: 0, ran: false }, execution);
}

struct ByPriority {
    /// By the number of the task, less one: task zero starts the others.
    of: Vec<i32>,
    /// Ascending.
    changes: Vec<u16>,
    chosen: usize,
    /// The lowest priority that was given away.
    lowest: i32,
    ran: bool,
}

impl ByPriority {
    fn priority(&self, task: TaskId) -> i32 {
        match usize::from(task).checked_sub(1) {
            None => i32::MAX,
            Some(thread) => self.of.get(thread).copied().unwrap_or(0),
        }
    }

    fn falls_behind(&mut self, task: TaskId) {
        let Some(thread) = usize::from(task).checked_sub(1) else { return };
        if self.of.len() <= thread {
            self.of.resize(thread + 1, 0);
        }
        self.lowest -= 1;
        self.of[thread] = self.lowest;
    }
}

impl Scheduler for ByPriority {
    fn new_execution(&mut self) -> Option<Schedule> {
        (!std::mem::replace(&mut self.ran, true)).then(|| Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let here = self.changes.partition_point(|change| usize::from(*change) <= self.chosen);
        let due = self.changes.drain(..here).next().is_some();
        self.chosen += 1;
        // A thread that gives way waits for others: it falls behind them, or it would wait forever.
        current.filter(|_| due || yields).into_iter().for_each(|task| self.falls_behind(task));
        let ids = runnable.iter().map(|task| task.id());
        ids.max_by_key(|id| (self.priority(*id), std::cmp::Reverse(usize::from(*id))))
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shuttle::Shuttle;
    use pagefence::platform::{Order as _, Platform, Shared, Threads};
    use std::sync::{Arc, Mutex};

    /// Two threads make three accesses each; the order in which they made them.
    fn order(of: &[u8], changes: &[u16]) -> String {
        let heard = Arc::new(Mutex::new(String::new()));
        let report = Arc::clone(&heard);
        prioritise(&Priorities { of: of.to_vec(), changes: changes.to_vec() }, move || {
            let cell = Arc::new((<Shuttle as Platform>::Cell::<u8>::new(0), <Shuttle as Threads>::Order::new()));
            let body = |name: char| {
                let (cell, heard) = (Arc::clone(&cell), Arc::clone(&heard));
                let work = move || {
                    for _ in 0..3 {
                        cell.0.with(|_| heard.lock().unwrap().push(name));
                        cell.1.next();
                    }
                };
                Box::new(work) as Box<dyn FnOnce() + Send>
            };
            Shuttle::run(vec![body('a'), body('b')]);
        });
        report.lock().unwrap().clone()
    }

    #[test]
    fn the_higher_priority_goes_first_and_falls_behind_at_a_change() {
        assert_eq!(order(&[2, 1], &[]), "aaabbb");
        assert_eq!(order(&[1, 2], &[]), "bbbaaa");
        assert_eq!(order(&[1, 1], &[]), "aaabbb");
        let changed: Vec<String> = (0..20).map(|at| order(&[2, 1], &[at])).collect();
        assert!(changed.contains(&"abbbaa".to_owned()) && changed.contains(&"aabbba".to_owned()), "{changed:?}");
        let twice: Vec<String> = (0..20).flat_map(|at| (0..20).map(move |more| order(&[2, 1], &[at, more]))).collect();
        assert!(twice.contains(&"abaabb".to_owned()), "{twice:?}");
        assert!(changed.iter().all(|one| one != "abaabb"), "one change makes no two switches");
    }
}
