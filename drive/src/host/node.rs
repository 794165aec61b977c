//! A node: a fork of a host that is told what to do, and tells what happens.

use super::options::Role;
use super::said::{Crashed, Done, Ready, Said};
use crate::error::DriveError;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

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
    patience: Duration,
}

impl Node {
    /// Waits until the node at the other end of `stream` is ready.
    pub(super) fn new(role: Role, stream: UnixStream, patience: Duration) -> Result<Self, DriveError> {
        let error = |source| DriveError::Io { path: "the socket of a node".into(), source };
        stream.set_nonblocking(false).map_err(error)?;
        stream.set_read_timeout(Some(patience)).map_err(error)?;
        let writer = stream.try_clone().map_err(error)?;
        let ready = Ready { process: 0, session: String::new(), buffers: Vec::new() };
        let mut node = Self { role, reader: BufReader::new(stream), writer, ready, crashed: None, patience };
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
        let silent = |_| self.error(format!("hangs: it has said nothing for {} s", self.patience.as_secs()));
        if read.map_err(silent)? == 0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const MOMENT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);
    const READY: &str = r#"{"say":"ready","process":1,"session":"127.0.0.1:15000","buffers":[]}"#;

    /// A node whose other end is the test's: it has said `lines`.
    fn node(lines: &[&str], patience: Duration) -> (Result<Node, DriveError>, UnixStream) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        for line in lines {
            writeln!(theirs, "{line}").unwrap();
        }
        (Node::new(Role::Decode, ours, patience), theirs)
    }

    fn refused(result: Result<impl std::fmt::Debug, DriveError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_command_is_over_when_the_node_says_so_and_what_comes_before_is_heard() {
        let event = r#"{"event":"free","life":[0,0],"node":16}"#;
        let (made, _theirs) = node(&[READY, event, r#"{"say":"done","result":true}"#], LONG);
        let mut heard = Vec::new();
        let done = made.unwrap().command("tick", json!({}), |line| heard.push(line)).unwrap();
        assert_eq!(done.result, json!(true));
        assert!(matches!(&heard[..], [Line::Event(text)] if text == event), "{heard:?}");
    }

    #[test]
    fn a_node_that_says_nothing_hangs() {
        assert_eq!(refused(node(&[], MOMENT).0), "the decode node hangs: it has said nothing for 0 s");
        let (made, _theirs) = node(&[READY], MOMENT);
        let silent = refused(made.unwrap().command("tick", json!({}), |_| ()));
        assert_eq!(silent, "the decode node hangs: it has said nothing for 0 s");
    }

    #[test]
    fn a_node_whose_process_is_gone_has_ended_without_a_word() {
        let (made, theirs) = node(&[READY], LONG);
        let mut made = made.unwrap();
        drop(theirs);
        let gone = refused(made.command("tick", json!({}), |_| ()));
        // The kernel may refuse the command, or take it and have no answer.
        assert!(gone.starts_with("the decode node can't be told to tick") || gone.ends_with("ended without a word"));
    }

    #[test]
    fn garbage_is_shown() {
        let (made, _theirs) = node(&[READY, "Segmentation fault"], LONG);
        let garbage = refused(made.unwrap().command("tick", json!({}), |_| ()));
        assert!(garbage.starts_with(r#"the decode node said "Segmentation fault\n""#), "{garbage}");
        let (made, _theirs) = node(&[r#"{"say":"dance"}"#], LONG);
        assert!(refused(made).contains("dance"));
    }

    #[test]
    fn a_scheduler_that_dies_is_an_answer_and_so_is_everything_after() {
        let crashed = r#"{"say":"crashed","error":"AssertionError()","trace":""}"#;
        let (made, theirs) = node(&[READY, crashed], LONG);
        let mut made = made.unwrap();
        let mut heard = 0;
        made.command("tick", json!({}), |_| heard += 1).unwrap();
        drop(theirs);
        made.command("tick", json!({}), |_| heard += 1).unwrap();
        assert_eq!(heard, 1);
        assert_eq!(made.crashed().unwrap().error, "AssertionError()");
    }
}
