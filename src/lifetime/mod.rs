//! The oracle: what a page-lifetime violation is, written once, knowing no engine.
//!
//! It is told [`Event`]s and answers with [`Violation`]s. The simulator, the explorers, and traces recorded from real
//! engines are all judged here; nothing in this module imports the rest of the crate.

mod event;
mod life;
mod oracle;
mod runs;
mod slot;
#[cfg(test)]
mod tests;
mod violation;

pub use event::{Answer, Event, Verdict};
pub use life::{Label, Life, OpId};
pub use oracle::{LiveOp, Oracle};
pub use runs::Runs;
pub use slot::{Arena, Cells, Node, Place, Slots, Span, Spans};
pub use violation::{Kind, Severity, Violation};
