//! Traces: recorded events of real engines, judged by the same oracle as everything else.
//!
//! [`Reader`] streams a file in constant memory, whether it is written in our own [`schema`] or by one of the recorders
//! that [`import`] knows; [`audit`] feeds the oracle with it and reports what the oracle found, by line number. [`stories`]
//! reads it again and draws what happened around each violation.

mod audit;
mod check;
mod error;
pub mod import;
mod lines;
mod reader;
mod render;
pub mod schema;
mod story;

pub use audit::{Answers, AuditOptions, AuditReport, Auditor, Finding, Held, audit};
pub use error::{Problem, TraceError};
pub use lines::MAX_LINE;
pub use reader::{Format, Reader, Sink};
pub use story::stories;
