//! The decode role: scheduler, listener, heartbeat, deferred release, and what they share (protocol sections 3 and 6).

mod admission;
mod heartbeat;
mod listener;
mod release;
mod running;
mod scheduler;
mod shared;
mod transfer;

pub use heartbeat::beat;
pub use listener::{listen, listen_aux};
pub use scheduler::{DecodeRank, DecodeRequest, DecodeScheduler, DecodeStage};
pub use shared::{Armed, DecodeShared};
