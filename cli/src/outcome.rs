//! Exit codes.

use std::process::{ExitCode, Termination};

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is as declared; nothing was found. Code 0.
    AsDeclared,
    /// Something was found, or is not as declared, or a proof is not one. Code 1.
    Found,
    /// The command was used wrongly, or an input can't be used. Code 2.
    BadInput,
}

impl Outcome {
    /// [`Found`](Self::Found) if something was found.
    pub const fn found(found: bool) -> Self {
        if found { Self::Found } else { Self::AsDeclared }
    }
}

impl Termination for Outcome {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Self::AsDeclared => 0,
            Self::Found => 1,
            Self::BadInput => 2,
        })
    }
}
