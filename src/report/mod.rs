//! Reports: what people look at.
//!
//! [`Timeline`] is the neutral model of one run.
mod elide;
mod fill;
mod flight;
mod headline;
mod html;
mod ink;
mod mermaid;
mod strip;
mod table;
mod terminal;
pub mod timeline;
mod write;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use headline::{headline, slots_text};
pub use html::{Summary, render_html};
pub use mermaid::render_mermaid;
pub use table::{Cell, Table, Tone, render_table};
pub use terminal::{TerminalOptions, render_terminal};
pub use timeline::{
    Direction, InFlight, Lane, MarkedViolation, Portion, Role, SlotState, Timeline, TimelineStep, WatchedSlot,
};
pub use write::{WriteError, write_whole};
