//! Processes that have an engine ready, and the nodes that are forked from them.

mod node;
mod options;
mod said;

pub use node::{Line, Node};
pub use options::{Options, Role};
pub use said::{Answered, Buffers, Crashed, Died, Done, Frames, Kind, Made, Message, Peer, Ready, Said, Transport};

use crate::error::DriveError;
use crate::home::{Home, Release};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process may be silent before it counts as hung.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// While it imports the engine: 10 s, a minute on a busy machine.
    pub start: Duration,
    /// While it forks: a tenth of a second.
    pub fork: Duration,
    /// While a node carries out a command: milliseconds, a second for an iteration that interprets Triton kernels.
    pub command: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { start: seconds(300), fork: seconds(60), command: seconds(90) }
    }
}

/// How often somebody looks whether it is there.
const LOOK: Duration = Duration::from_millis(1);
/// Lines of the log that an error shows.
const LAST_WORDS: usize = 12;

/// A process with an engine ready. Its nodes are forks of it: each has a memory of its own, in the state it had at the start.
#[derive(Debug)]
pub struct Host {
    options: Options,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    listener: UnixListener,
    folder: TempDir,
    made: Option<Made>,
    patience: Patience,
}

impl Host {
    /// Starts the process; it is ready later, see [`made`](Self::made).
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(home: &Home, release: &Release, options: Options) -> Result<Self, DriveError> {
        let folder = TempDir::with_prefix("pagefence-").map_err(DriveError::io("a temporary folder"))?;
        let path = |name: &str| folder.path().join(name);
        let log = File::create(path("log")).map_err(DriveError::io(path("log")))?;
        let listener = UnixListener::bind(path("socket")).map_err(DriveError::io(path("socket")))?;
        listener.set_nonblocking(true).map_err(DriveError::io(path("socket")))?;
        let mut command = home.python(release.python_path.as_deref().unwrap_or_default());
        command.arg("node").arg("--options").arg(serde_json::to_string(&options).unwrap_or_default());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        // A group of its own: with it, every fork and every process that the engine starts can be ended.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| home.no_python(error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let read = BufReader::new(output).lines().map_while(Result::ok);
            read.map_while(|line| sender.send(line).ok()).count()
        });
        Ok(Self { options, child, input, lines, listener, folder, made: None, patience: home.patience() })
    }

    /// Waits until it is ready, and says what it has.
    ///
    /// # Errors
    /// When the process ends, or says nothing for too long.
    pub fn made(&mut self) -> Result<&Made, DriveError> {
        if self.made.is_none() {
            let line = self.lines.recv_timeout(self.patience.start).map_err(|why| match why {
                RecvTimeoutError::Disconnected => self.error("has ended before it was ready"),
                RecvTimeoutError::Timeout => {
                    self.error(&format!("has not become ready in {} s", self.patience.start.as_secs()))
                }
            })?;
            let said = serde_json::from_str(&line).map_err(|error| self.error(&format!("said {line}: {error}")))?;
            let Said::Made(made) = said else { return Err(self.error(&format!("said {line}"))) };
            self.made = Some(made);
        }
        self.made.as_ref().ok_or_else(|| unreachable!("it has just been put there"))
    }

    /// What it was started with.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// A node, in the state in which every node begins.
    ///
    /// # Errors
    /// When the process has ended, or the node does not come.
    pub fn fork(&mut self) -> Result<Node, DriveError> {
        self.made()?;
        let socket = self.folder.path().join("socket");
        let request = serde_json::json!({ "socket": socket });
        writeln!(self.input, "{request}").map_err(|_| self.error("has ended"))?;
        let began = Instant::now();
        let stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break stream,
                Err(_) if began.elapsed() > self.patience.fork => return Err(self.error("does not fork")),
                Err(_) if self.child.try_wait().is_ok_and(|status| status.is_some()) => {
                    return Err(self.error("has ended"));
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        Node::new(self.options.role, stream, self.patience.command)
    }

    /// Where what the engine prints is kept while the process lives.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn error(&self, what: &str) -> DriveError {
        let log = std::fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let last_words = lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n");
        DriveError::Host { role: self.options.role.name(), what: what.to_owned(), last_words }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The whole group, by its number: the engine and each of its forks. Nobody stays behind.
        _ = std::process::Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
