//! The prefill role: scheduler, transfer workers, bootstrap listener, and what they share (protocol sections 2 and 4).

mod admission;
mod forward;
mod listener;
mod release;
mod scheduler;
mod send;
mod shared;
mod worker;

pub use listener::listen;
pub use scheduler::{PrefillRequest, PrefillScheduler, PrefillStage, RankHold};
pub use shared::{Chunk, PrefillShared, maybe_ack};
pub use worker::{Job, Worker};
