//! Reports: what people look at.
//!
//! [`Timeline`] is the neutral model of one run.
mod fill;
pub mod timeline;

pub use timeline::{
    Direction, InFlight, Lane, MarkedViolation, Portion, Role, SlotState, Timeline, TimelineStep, WatchedSlot,
};
