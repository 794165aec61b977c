//! Why the gate can't say yes or no.

use super::TextKind;

/// The gate can't be judged. Never a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// Nothing was given to read.
    #[error("no node was given to read")]
    NoSource,
    /// A source names no pool.
    #[error("{source_name}: no KV capacity found; {}", hint(*kind))]
    NoCapacity {
        /// Which source.
        source_name: String,
        /// What it was read as.
        kind: TextKind,
    },
    /// Nobody says how long a prompt may be.
    #[error("{source_name}: no context length found, and none was given")]
    NoContext {
        /// Which source.
        source_name: String,
    },
}

fn hint(kind: TextKind) -> &'static str {
    match kind {
        TextKind::Log => "a start-up log has lines with `max_total_num_tokens=` or `KV Cache is allocated. #tokens:`",
        TextKind::Metrics => "a metrics page has the gauge `sglang:max_total_num_tokens`",
    }
}
