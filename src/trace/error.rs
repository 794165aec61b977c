//! What can be wrong with a trace: always one sentence, always with the line.

use super::lines::MAX_LINE;
use super::schema::{NAME, VERSION};
use crate::lifetime::Place;
use crate::number::count;
use std::io;

/// A trace that can't be read on, and where: `FILE:LINE: …`.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct TraceError {
    /// The name of the trace, as the caller gave it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong there. The message says it already, so it is no source: who prints the chain of causes would say
    /// it twice.
    pub problem: Problem,
}

/// What is wrong with one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes could not be read at all.
    #[error("can't be read: {0}")]
    Io(io::Error),
    /// No line at all, or only blank ones.
    #[error("the trace is empty: its first line must be a `{NAME}` header")]
    Empty,
    /// A line longer than [`MAX_LINE`] is not held in memory.
    #[error("the line is longer than {MAX_LINE} bytes")]
    LineTooLong,
    /// Not JSON, or not of the expected shape.
    #[error("not a valid record: {message} (column {column})")]
    Malformed {
        /// What the JSON parser said.
        message: String,
        /// Where in the line, in bytes from 1.
        column: usize,
    },
    /// The last line has no end and does not parse: the recorder died, or the copy is partial.
    #[error("the last line is cut off: {message}")]
    Truncated {
        /// What the JSON parser said.
        message: String,
    },
    /// The first line is neither our header nor a known recorder's.
    #[error("the first line is not a header: expected a `{NAME}` header or a known recorder's first event")]
    NotATrace,
    /// A header of another schema.
    #[error("the schema `{found}` is not known; this reads `{NAME}`")]
    UnknownSchema {
        /// The schema that the header names.
        found: String,
    },
    /// A header of a version that this build doesn't know.
    #[error("version {found} of the `{NAME}` schema is not known; this reads version {VERSION}")]
    UnknownVersion {
        /// The version that the header names.
        found: u64,
    },
    /// A header that contradicts itself or asks for too much.
    #[error("the header is wrong: {0}")]
    BadHeader(String),
    /// A record lacks a field that its event needs.
    #[error("`{event}` needs the field `{field}`")]
    MissingField {
        /// The event's name.
        event: &'static str,
        /// The field that is missing.
        field: &'static str,
    },
    /// A record names a place that no header declared.
    #[error("{} of node {} are used but not declared", plural(*place), place.node.0)]
    Undeclared {
        /// The undeclared place.
        place: Place,
    },
    /// A run reaches beyond its arena.
    #[error("the run {start}+{len} reaches past the {limit} {unit} that there are")]
    OutOfRange {
        /// The first index of the run.
        start: u32,
        /// Its length.
        len: u32,
        /// How many there are.
        limit: u64,
        /// Slots or cells.
        unit: &'static str,
    },
    /// A run of no length means nothing.
    #[error("a run is empty")]
    EmptyRun,
    /// A record whose runs name the same index twice.
    #[error("the runs of one record overlap at index {at}")]
    Overlap {
        /// The first index that is named twice.
        at: u32,
    },
    /// The two sides of a posted access don't have the same number of cells.
    #[error("the access reads {} and writes {target_cells}", count(*source_cells, "cell"))]
    Unequal {
        /// Cells on the reading side.
        source_cells: u64,
        /// Cells on the writing side.
        target_cells: u64,
    },
    /// An operation is posted again before it settled, or its landing does not fit it.
    #[error("{0}")]
    BadOperation(String),
    /// More is open at once than is held in memory.
    #[error("{count} {what} at once, and no more are held in memory: does nothing in this trace ever end?")]
    TooMuch {
        /// How many there are.
        count: usize,
        /// Of what.
        what: &'static str,
    },
    /// A recorder's event that can't be placed.
    #[error("the recording can't be followed: {0}")]
    Unplaceable(String),
}

impl Problem {
    /// What serde_json says, without its own "line 1", which a reader would take for the line of the file.
    pub(super) fn from_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
        Self::Malformed { message, column: error.column() }
    }
}

/// "pages", "metadata rows".
fn plural(place: Place) -> String {
    format!("{}s", place.arena)
}
