//! Who: a life is one attempt at one request.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The owner of a slot: a request and its generation, never a request id alone. A retry, a rebootstrap or a reused
/// room is a new life, so that what the earlier one left in flight is told apart from its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Life {
    /// Which request.
    pub request: u32,
    /// Which attempt at it, from zero.
    pub generation: u16,
}

impl Hash for Life {
    /// In one write: a search hashes many of them.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.generation) << 32 | u64::from(self.request));
    }
}

impl Life {
    /// The first life of a request.
    #[must_use]
    pub const fn first(request: u32) -> Self {
        Self { request, generation: 0 }
    }
}

impl fmt::Display for Life {
    /// Requests are named A, B, … Z, then R26, R27, …; a later generation carries its number: `A`, `A#1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u8::try_from(self.request) {
            Ok(n @ 0..26) => write!(f, "{}", char::from(b'A' + n))?,
            _ => write!(f, "R{}", self.request)?,
        }
        if self.generation > 0 {
            write!(f, "#{}", self.generation)?;
        }
        Ok(())
    }
}

/// One posted access. Unique among the accesses that are live; may be used again after `settle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpId(pub u32);

/// Where an event came from, opaque to the oracle: a protocol step of the model, or a line of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub u32);
