//! Following a schedule that was recorded before, under whichever engine: shuttle runs it.

use super::shuttle::run;
use crate::record;
use pagefence::explore::Schedule;
use shuttle::scheduler::{Scheduler, Task, TaskId};

/// Runs `execution` once, along `schedule` as far as it goes, and then thread by thread.
///
/// # Panics
/// When the engine does: a deadlock, a panic of the code, too many steps.
pub fn follow(schedule: &Schedule, execution: impl Fn() + Send + Sync + 'static) {
    let threads = schedule.accesses.iter().map(|access| access.thread).collect();
    run(Follow { threads, ran: false }, execution);
}

/// Chooses the thread whose access comes next.
struct Follow {
    threads: Vec<u8>,
    ran: bool,
}

impl Scheduler for Follow {
    fn new_execution(&mut self) -> Option<shuttle::scheduler::Schedule> {
        (!std::mem::replace(&mut self.ran, true)).then(|| shuttle::scheduler::Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let ids = || runnable.iter().map(|task| task.id());
        let next = self.threads.get(record::accesses()).map(|thread| TaskId::from(usize::from(*thread) + 1));
        // The thread that starts the others goes first, until they are there; past the end everybody has a turn, and
        // whoever gives way does.
        let wanted = next.into_iter().chain(std::iter::once(TaskId::from(0)).filter(|_| next.is_some()));
        let stays = current.filter(|_| !yields);
        let other = ids().find(|id| Some(*id) != current);
        wanted.chain(stays).find(|id| ids().any(|runs| runs == *id)).or(other).or_else(|| ids().next())
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
