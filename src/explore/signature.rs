//! What makes two findings the same.

use crate::lifetime::{Kind, Label, Violation};
use serde::{Deserialize, Serialize};

/// The identity of a finding: what went wrong and the protocol steps that raced, without which request and which page
/// it hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// What is wrong.
    pub kind: Kind,
    /// The step that started the access, or gave the slot away.
    pub started: Option<Label>,
    /// The step that took the slot away: the release path.
    pub released: Option<Label>,
    /// The step in which it broke.
    pub broke: Label,
}

impl From<&Violation> for Signature {
    fn from(violation: &Violation) -> Self {
        Self { kind: violation.kind, started: violation.started, released: violation.released, broke: violation.broke }
    }
}
