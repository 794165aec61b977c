//! Streams a trace: finds out what wrote it, checks every line, and pushes the facts into a [`Sink`].

use super::check::Checker;
use super::error::{Problem, TraceError};
use super::import::sglang_study::Importer;
use super::lines::Lines;
use super::schema::{Context, Header, NAME, NodeDeclaration, Record, Text, VERSION};
use crate::lifetime::Event;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;
use std::io::BufRead;

/// How many of the skipped lines a lenient reader keeps the error of.
const SKIPPED_KEPT: usize = 10;

/// What wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Our own schema.
    Schema,
    /// The recorder of the SGLang study.
    SglangStudy,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema => write!(f, "{NAME} version {VERSION}"),
            Self::SglangStudy => f.write_str("recording of the SGLang study"),
        }
    }
}

/// Where the facts of a trace go.
pub trait Sink {
    /// A node and its arenas exist from now on.
    fn declare(&mut self, node: &NodeDeclaration);

    /// Something happened, on this line.
    fn event(&mut self, line: u64, context: &Context<'_>, event: &Event);
}

/// A trace that is being read, in memory that does not depend on its length.
#[derive(Debug)]
pub struct Reader<R> {
    file: String,
    lines: Lines<R>,
    lenient: bool,
    skipped: u64,
    first_skipped: Vec<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Schema { header: Option<Header>, checker: Checker },
    SglangStudy { importer: Box<Importer>, first: bool },
}

/// Just enough of the first line to see what wrote it.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow)]
    schema: Option<Text<'a>>,
    ev: Option<IgnoredAny>,
}

/// Looked for once the schema is known: what others call a version is not a number.
#[derive(Deserialize)]
struct VersionProbe {
    version: Option<u64>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line and finds out what wrote the trace. `lenient` skips and counts the bad lines behind it;
    /// the first line itself must always be right, since without it nothing behind it means anything.
    ///
    /// # Errors
    ///
    /// If the first line can't be read, or is of no format or version that this build knows.
    pub fn open(file: impl Into<String>, input: R, lenient: bool) -> Result<Self, TraceError> {
        let file = file.into();
        let mut lines = Lines::new(input);
        match Self::detect(&mut lines) {
            Ok(source) => Ok(Self { file, lines, lenient, skipped: 0, first_skipped: Vec::new(), source }),
            Err(problem) => Err(TraceError { file, line: lines.number().max(1), problem }),
        }
    }

    fn detect(lines: &mut Lines<R>) -> Result<Source, Problem> {
        if !lines.advance()? {
            return Err(Problem::Empty);
        }
        let line = lines.line();
        let probe: Probe<'_> = serde_json::from_slice(line).map_err(|_| Problem::NotATrace)?;
        if probe.ev.is_some() {
            return Ok(Source::SglangStudy { importer: Box::default(), first: true });
        }
        let Some(schema) = probe.schema else {
            return Err(Problem::NotATrace);
        };
        if schema.as_str() != NAME {
            return Err(Problem::UnknownSchema { found: schema.as_str().to_owned() });
        }
        let probe: VersionProbe = serde_json::from_slice(line).map_err(|error| Problem::from_json(&error))?;
        match probe.version {
            Some(VERSION) => {}
            Some(found) => return Err(Problem::UnknownVersion { found }),
            None => return Err(Problem::BadHeader("it has no version".to_owned())),
        }
        // The shape is only looked at once the version is known to be ours.
        let header: Header = serde_json::from_slice(line).map_err(|error| Problem::from_json(&error))?;
        header.check()?;
        let mut checker = Checker::default();
        for node in &header.nodes {
            checker.declare(node);
        }
        Ok(Source::Schema { header: Some(header), checker })
    }

    /// What wrote the trace.
    pub fn format(&self) -> Format {
        match self.source {
            Source::Schema { .. } => Format::Schema,
            Source::SglangStudy { .. } => Format::SglangStudy,
        }
    }

    /// How many bad lines were skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// What was wrong with the first few of them.
    pub fn first_skipped(&self) -> &[String] {
        &self.first_skipped
    }

    /// The number of the line read last.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Pushes the facts of the next line; `false` at the end of the trace.
    ///
    /// # Errors
    ///
    /// The first bad line, unless the reader is lenient; an error of the input itself always.
    pub fn step(&mut self, sink: &mut impl Sink) -> Result<bool, TraceError> {
        loop {
            let result = match &mut self.source {
                Source::Schema { header, checker } => match header.take() {
                    Some(header) => {
                        header.nodes.iter().for_each(|node| sink.declare(node));
                        return Ok(true);
                    }
                    None => step_schema(&mut self.lines, checker, sink).map_err(|problem| (None, problem)),
                },
                Source::SglangStudy { importer, first } => {
                    step_study(&mut self.lines, importer, first, sink).map_err(|(line, problem)| (Some(line), problem))
                }
            };
            let (line, problem) = match result {
                Ok(more) => return Ok(more),
                Err((line, problem)) => (line.unwrap_or(self.lines.number()), problem),
            };
            // An input that fails once would be asked for ever.
            let fatal = !self.lenient || matches!(problem, Problem::Io(_) | Problem::BadHeader(_));
            let error = TraceError { file: self.file.clone(), line: line.max(1), problem };
            if fatal {
                return Err(error);
            }
            self.skipped += 1;
            if self.first_skipped.len() < SKIPPED_KEPT {
                self.first_skipped.push(error.to_string());
            }
        }
    }

    /// Pushes the whole trace.
    ///
    /// # Errors
    ///
    /// As [`Reader::step`].
    pub fn run(&mut self, sink: &mut impl Sink) -> Result<(), TraceError> {
        while self.step(sink)? {}
        Ok(())
    }
}

fn step_schema<R: BufRead>(lines: &mut Lines<R>, checker: &mut Checker, sink: &mut impl Sink) -> Result<bool, Problem> {
    if !lines.advance()? {
        return Ok(false);
    }
    let mut record = parse(lines, Record::parse)?;
    let event = record.take_event()?;
    checker.check(&event)?;
    sink.event(lines.number(), &record.context(), &event);
    Ok(true)
}

/// The recorder's importer looks ahead: it takes lines until it can say what the earliest of them means.
fn step_study<R: BufRead>(
    lines: &mut Lines<R>,
    importer: &mut Importer,
    first: &mut bool,
    sink: &mut impl Sink,
) -> Result<bool, (u64, Problem)> {
    while importer.wants_more() {
        // The first line was read when the format was looked for.
        let more = std::mem::take(first) || lines.advance().map_err(|problem| (lines.number(), problem))?;
        if !more {
            importer.end();
            break;
        }
        let number = lines.number();
        let raw = parse(lines, serde_json::from_str).map_err(|problem| (number, problem))?;
        importer.push(number, lines.line().len(), &raw).map_err(|problem| (number, problem))?;
    }
    importer.step(sink)
}

/// Parses the line read last. A line without an end that does not parse was cut off.
///
/// The line is checked to be UTF-8 once, as a whole: checking string by string costs a quarter of the parsing.
fn parse<'a, R, T>(
    lines: &'a Lines<R>,
    from_text: impl FnOnce(&'a str) -> Result<T, serde_json::Error>,
) -> Result<T, Problem>
where
    R: BufRead,
{
    let text = std::str::from_utf8(lines.line())
        .map_err(|error| Problem::Malformed { message: "invalid UTF-8".to_owned(), column: error.valid_up_to() + 1 })?;
    from_text(text).map_err(|error| match Problem::from_json(&error) {
        Problem::Malformed { message, .. } if !lines.ended() => Problem::Truncated { message },
        problem => problem,
    })
}
