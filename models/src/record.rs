//! What happens in the execution that runs now, on this operating-system thread.
//!
//! Both engines run all threads of an execution on the operating-system thread that called them, so what they do is recorded
//! there, without a lock and without giving the engine another scheduling point.

use pagefence::cell::Site;
use pagefence::explore::{Access, Schedule, short_name};
use pagefence::lifetime::Event;
use std::cell::RefCell;

/// What an execution has done so far.
#[derive(Debug, Default)]
struct Record {
    accesses: Vec<(u8, &'static str)>,
    events: Vec<(u8, Site, Event)>,
}

thread_local! {
    static RECORD: RefCell<Record> = RefCell::default();
}

/// Forgets the last execution.
pub fn begin() {
    RECORD.with_borrow_mut(|record| {
        record.accesses.clear();
        record.events.clear();
    });
}

/// Thread number `thread` makes an access to a `T`.
pub fn access<T>(thread: u8) {
    step(thread, std::any::type_name::<T>());
}

/// Thread number `thread` does `what`.
pub fn step(thread: u8, what: &'static str) {
    RECORD.with_borrow_mut(|record| record.accesses.push((thread, what)));
}

/// How many entries the schedule has so far.
#[must_use]
pub fn accesses() -> usize {
    RECORD.with_borrow(|record| record.accesses.len())
}

/// Thread number `thread` did something that the oracle hears.
pub fn event(thread: u8, site: Site, event: &Event) {
    RECORD.with_borrow_mut(|record| {
        record.accesses.push((thread, site.name()));
        record.events.push((thread, site, event.clone()));
    });
}

/// What the threads did, in order.
#[must_use]
pub fn events() -> Vec<(u8, Site, Event)> {
    RECORD.with_borrow(|record| record.events.clone())
}

/// The schedule of this execution so far.
#[must_use]
pub fn schedule() -> Schedule {
    RECORD.with_borrow(|record| Schedule {
        accesses: record
            .accesses
            .iter()
            .map(|(thread, did)| Access { thread: *thread, did: short_name(did) })
            .collect(),
    })
}
