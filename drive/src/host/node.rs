//! A node: a fork of a host that is told what to do, and tells what happens.

use super::options::Role;
use super::said::{Crashed, Done, Ready, Said};
use crate::error::DriveError;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A command takes milliseconds, an iteration that interprets Triton kernels a second.
const PATIENCE: Duration = Duration::from_secs(90);

/// A line that is not `done`.
#[derive(Clone, Debug)]
pub enum Line {
    /// An event of the trace, as it was written.
    Event(String),
    /// Something else.
    Said(Said),
}

/// The driver's side of a node.
#[derive(Debug)]
pub struct Node {
    role: Role,
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    ready: Ready,
    crashed: Option<Crashed>,
}

impl Node {
    /// Waits until the node at the other end of `stream` is ready.
    pub(super) fn new(role: Role, stream: UnixStream) -> Result<Self, DriveError> {
        let error = |source| DriveError::Io { path: "the socket of a node".into(), source };
        stream.set_nonblocking(false).map_err(error)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(error)?;
        let writer = stream.try_clone().map_err(error)?;
        let ready = Ready { process: 0, session: String::new(), buffers: Vec::new() };
        let mut node = Self { role, reader: BufReader::new(stream), writer, ready, crashed: None };
        match node.line()? {
            Line::Said(Said::Ready(ready)) => node.ready = ready,
            Line::Said(Said::Crashed(crashed)) => return Err(node.error(format!("died: {}", crashed.error))),
            other => return Err(node.error(format!("began with {other:?}"))),
        }
        Ok(node)
    }

    /// What the other node must know of it.
    #[must_use]
    pub const fn ready(&self) -> &Ready {
        &self.ready
    }

    /// What the scheduler died of.
    #[must_use]
    pub const fn crashed(&self) -> Option<&Crashed> {
        self.crashed.as_ref()
    }

    /// Says `command`, and waits until it has been carried out; `hear` is told of everything that happens meanwhile.
    ///
    /// A node that crashes, or has crashed, does nothing: that is an answer.
    ///
    /// # Errors
    /// When the node is silent for too long, ends without a word, or says what no node says.
    pub fn command(
        &mut self,
        command: &str,
        fields: impl Serialize,
        mut hear: impl FnMut(Line),
    ) -> Result<Done, DriveError> {
        if self.crashed.is_some() {
            return Ok(Done::default());
        }
        let mut line = json!({ "command": command });
        if let (Value::Object(line), Ok(Value::Object(fields))) = (&mut line, serde_json::to_value(fields)) {
            line.extend(fields);
        }
        writeln!(self.writer, "{line}").map_err(|error| self.error(format!("can't be told to {command}: {error}")))?;
        loop {
            match self.line()? {
                Line::Said(Said::Done(done)) => return Ok(done),
                Line::Said(Said::Crashed(crashed)) => {
                    hear(Line::Said(Said::Crashed(crashed.clone())));
                    self.crashed = Some(crashed);
                    return Ok(Done::default());
                }
                other => hear(other),
            }
        }
    }

    fn line(&mut self) -> Result<Line, DriveError> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        if read.map_err(|error| self.error(format!("said nothing for {} s: {error}", PATIENCE.as_secs())))? == 0 {
            return Err(self.error("ended without a word".to_owned()));
        }
        if line.starts_with("{\"event\"") {
            return Ok(Line::Event(line.trim_end().to_owned()));
        }
        serde_json::from_str(&line).map(Line::Said).map_err(|error| self.error(format!("said {line:?}: {error}")))
    }

    fn error(&self, what: String) -> DriveError {
        DriveError::Node { role: self.role.name(), what }
    }
}
