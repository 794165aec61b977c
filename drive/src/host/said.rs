//! What a node says that is no event of the trace.

use pagefence::lifetime::Verdict;
use serde::{Deserialize, Serialize};

/// A line with `say`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Said {
    /// The engine is ready to be forked.
    Made(Made),
    /// A node stands still for the first time.
    Ready(Ready),
    /// A command has been carried out, or an iteration has ended.
    Done(Done),
    /// The engine sends a message to the other node.
    Message(Message),
    /// The scheduler answers a client.
    Answer(Answered),
    /// A thread died of its own error.
    Died(Died),
    /// The scheduler died of its own error.
    Crashed(Crashed),
}

/// What an engine has.
#[derive(Clone, Debug, Deserialize)]
pub struct Made {
    /// `0.5.22`.
    pub version: String,
    /// Hooks that this release has no place for.
    pub missing: Vec<String>,
    /// Tokens of its pool.
    pub free: u32,
    /// Its metadata rows.
    pub rows: u32,
    /// The longest prompt that it takes.
    pub longest_prompt: u32,
    /// How long it took to import it.
    pub import_seconds: f64,
    /// How long it took to make its scheduler.
    pub start_seconds: f64,
    /// Its resident memory.
    pub memory_mb: u64,
}

/// What the other node must know of this one to write to it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ready {
    /// The process.
    pub process: u32,
    /// Its name among transfer engines.
    pub session: String,
    /// Where its slots are in memory.
    pub buffers: Vec<Buffers>,
}

/// Arrays of equal items in memory.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Buffers {
    arena: String,
    starts: Vec<u64>,
    item: Vec<u64>,
    length: Vec<u64>,
}

/// A node, as the other one is told of it.
#[derive(Clone, Debug, Serialize)]
pub struct Peer<'a> {
    /// Its number in the trace.
    pub node: u8,
    /// The rest.
    #[serde(flatten)]
    pub ready: &'a Ready,
}

/// How a command went.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Done {
    /// What went wrong.
    #[serde(default)]
    pub error: Option<String>,
    /// What it returned.
    #[serde(default)]
    pub result: serde_json::Value,
    /// What is in which queue, after an iteration.
    #[serde(default)]
    pub state: serde_json::Value,
    /// How the transport stands.
    #[serde(default)]
    pub transport: Transport,
}

/// Who waits where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Transport {
    /// Chunks that wait for the worker.
    pub queued: u32,
    /// Workers that have taken a chunk and not looked at its room.
    pub looking: u32,
    /// Writes whose initiator waits to be told.
    pub posted: Vec<u32>,
}

/// Frames of a message, in base 64.
pub type Frames = Vec<String>;

/// A message between nodes.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// The room that it is about.
    pub room: Option<u32>,
    /// What it is made of.
    pub frames: Frames,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Decode says once where its memory is.
    Registration,
    /// Decode says where a request is to be written to.
    TransferInfo,
    /// Prefill says how a transfer ended.
    KvStatus,
    /// Decode takes a request back.
    Abort,
    /// Prefill has nothing in flight any more.
    AbortAck,
    /// Metadata by message.
    AuxData,
}

/// What a client is told by one of the two servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Answered {
    /// The request's name.
    pub rid: String,
    /// How it ended.
    pub verdict: Verdict,
    /// `usage.prompt_tokens`.
    pub prompt_tokens: u32,
    /// What the engine says of it.
    pub reason: Option<String>,
}

/// A thread that is no more.
#[derive(Clone, Debug, Deserialize)]
pub struct Died {
    /// Its name.
    pub thread: String,
    /// What it died of.
    pub error: String,
}

/// A scheduler that is no more.
#[derive(Clone, Debug, Deserialize)]
pub struct Crashed {
    /// What it died of.
    pub error: String,
    /// The end of its stack.
    pub trace: String,
}
