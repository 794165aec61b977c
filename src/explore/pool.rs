//! Work shared out to a few threads.

use std::sync::{Mutex, PoisonError};

/// Does `work` for each item, on `jobs` threads, handing out items in order. Each thread makes itself a scratch space.
///
/// Threads are started each time: at some 30 µs they are cheap beside a batch, and a persistent pool would have to
/// own what it works on.
pub(super) fn for_each<T, I, S>(jobs: usize, items: I, scratch: impl Fn() -> S + Sync, work: impl Fn(&mut S, T) + Sync)
where
    T: Send,
    I: Iterator<Item = T> + Send,
{
    let queue = Mutex::new(items);
    let worker = || {
        let mut scratch = scratch();
        loop {
            let item = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = item else { break };
            work(&mut scratch, item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(worker);
        }
        worker();
    });
}
