//! Reports: what people look at.
//!
//! [`Timeline`] is the neutral model of one run.
mod elide;
mod fill;
mod flight;
mod headline;
mod ink;
mod strip;
mod terminal;
pub mod timeline;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use headline::{headline, slots_text};
pub use terminal::{TerminalOptions, render_terminal};
pub use timeline::{
    Direction, InFlight, Lane, MarkedViolation, Portion, Role, SlotState, Timeline, TimelineStep, WatchedSlot,
};
