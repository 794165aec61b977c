//! Reports: what people look at.
//!
//! A [`Timeline`] says what happened, step by step, and what it did to the slots that race; see [`timeline`] for how to
//! build one, and [`story`] for the one of a script of the serving cell. It is drawn by [`render_terminal`], by [`render_html`] (several of them, under a [`Summary`]), and by
//! [`render_mermaid`]. [`Table`] is for verdicts by case and profile. Everything renders to a string or a
//! [`std::fmt::Write`]; [`write_whole`] puts it into a file, whole or not at all.
mod chart;
mod elide;
mod fill;
mod flight;
mod headline;
mod heat;
mod html;
mod ink;
mod mermaid;
pub(crate) mod objects;
mod story;
mod strip;
mod table;
mod terminal;
pub mod timeline;
mod write;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use crate::number::{count, grouped};
pub use chart::{Chart, ChartLine};
pub use headline::{headline, slots_text};
pub use heat::{HeatMap, Square};
pub use html::{Summary, render_html};
pub use mermaid::render_mermaid;
pub use story::{Act, story, threaded_story};
pub use table::{Cell, Table, Tone, render_table};
pub use terminal::{TerminalOptions, render_terminal};
pub use timeline::{
    Direction, InFlight, Lane, MarkedViolation, Portion, Role, SlotState, Timeline, TimelineStep, WatchedSlot,
};
pub use write::{WriteError, write_whole};
