//! Where output goes: text as it comes, or one JSON document at the end.

use crate::args::Format;
use crate::outcome::Outcome;
use pagefence::report::{Table, TerminalOptions, Timeline, render_table, render_terminal};
use serde::Serialize;
use std::io::{self, Write as _};

/// The output of one command.
#[derive(Debug)]
pub struct Console {
    format: Format,
}

/// Columns, where nobody says how many there are.
const WIDTH: usize = 100;
/// Steps of a short story.
const SHORT: usize = 24;

impl Console {
    pub const fn new(format: Format) -> Self {
        Self { format }
    }

    pub fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    /// Prints a line of text; nothing in JSON.
    pub fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        if !self.is_text() {
            return Ok(());
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", text.as_ref())
    }

    /// Prints a table; nothing in JSON.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        let mut text = String::new();
        render_table(table, true, &mut text).map_err(io::Error::other)?;
        self.line(text.trim_end())
    }

    /// Prints a timeline; nothing in JSON.
    pub fn timeline(&mut self, timeline: &Timeline) -> io::Result<()> {
        let mut text = String::new();
        // A short story is told whole.
        let elide = if timeline.steps.len() <= SHORT { 0 } else { 3 };
        let options = TerminalOptions { width: width(), elide, ..TerminalOptions::default() };
        render_terminal(timeline, &options, &mut text).map_err(io::Error::other)?;
        self.line(text.trim_end())
    }

    /// Prints the one JSON document; nothing in text.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        if self.is_text() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)
    }

    /// Prints text that is the command's product, whatever the format.
    pub fn product(&mut self, text: &str) -> io::Result<()> {
        io::stdout().lock().write_all(text.as_bytes())
    }

    /// Says something about the run that is no result: on standard error, in any format.
    pub fn note(&mut self, text: impl AsRef<str>) {
        // Nobody is left to tell when standard error is closed.
        _ = writeln!(anstream::stderr().lock(), "{}", text.as_ref());
    }

    /// Says why the command failed. A reader who has closed the pipe (`| head`) has what he wanted.
    pub fn failed(&mut self, error: &anyhow::Error) -> Outcome {
        let pipe = error.chain().any(|cause| match cause.downcast_ref::<io::Error>() {
            Some(error) => error.kind() == io::ErrorKind::BrokenPipe,
            None => cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe)),
        });
        if pipe {
            return Outcome::AsDeclared;
        }
        let text = format!("{error:#}").replace(['\n', '\r'], " ");
        self.note(format!("\u{1b}[1;31merror:\u{1b}[0m {text}"));
        Outcome::BadInput
    }
}

/// The columns of the terminal; `COLUMNS` wins, so that a report can be made for another one.
fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(real).filter(|width| (1..=1000).contains(width)).unwrap_or(WIDTH)
}
