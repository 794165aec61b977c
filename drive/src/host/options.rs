//! What a node is told when it starts. Field names are those of `engines/sglang`, `node/options.py`.

use serde::Serialize;
use std::collections::BTreeMap;

/// Which of the two schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Computes prompts, and writes to decode.
    Prefill,
    /// Generates tokens.
    Decode,
}

impl Role {
    /// `prefill` or `decode`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }
}

/// The size of a node and its timers. Lengths are in tokens unless they say pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// Prefill or decode.
    pub role: Role,
    /// The number of the node in the trace.
    pub node: u8,
    /// Tokens of a page.
    pub page_size: u32,
    /// The KV pool, in pages.
    pub pages: u32,
    /// The longest prompt that validation accepts.
    pub longest_prompt: u32,
    /// Tokens of a chunk of prefill.
    pub chunk: u32,
    /// Metadata rows.
    pub metadata_rows: u32,
    /// Whether prefill keeps the pages of finished prompts for later ones.
    pub prefix_cache: bool,
    /// Where prefill's bootstrap server listens.
    pub bootstrap_port: u16,
    /// Where the engine's own processes would find each other.
    pub group_port: u16,
    /// Environment variables of the engine.
    pub environment: BTreeMap<String, String>,
}
