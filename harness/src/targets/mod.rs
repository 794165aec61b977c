//! What a fuzzer drives, one file each. A target takes any bytes, and returns what is wrong with pagefence, or what pagefence
//! found and nobody has told of: both are what a fuzzer calls a crash.

mod audit;
mod config;
mod profile;
mod schedule;
mod script;

pub use audit::audit;
pub use config::config;
pub use profile::profile;
pub use schedule::{ScheduleInput, schedule};
pub use script::{Pins, Script};

use crate::coverage::Coverage;
use std::fmt;

/// Why an input is a crash, in words for the person who looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash(pub String);

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Crash {}

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A walk through any shipped world.
    Script,
    /// A schedule of threads through a slice or a whole cell.
    Schedule,
    /// A set of protections.
    Profile,
    /// A trace.
    Audit,
    /// A file that a user brings.
    Config,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 5] = [Self::Script, Self::Schedule, Self::Profile, Self::Audit, Self::Config];

    /// The name of its binary, and of its folder in the corpus.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Schedule => "schedule",
            Self::Profile => "profile",
            Self::Audit => "audit",
            Self::Config => "config",
        }
    }

    /// Runs it on one input, without pins.
    ///
    /// # Errors
    /// What a fuzzer would call a crash.
    pub fn run(self, bytes: &[u8], coverage: &mut impl Coverage) -> Result<(), Crash> {
        match self {
            Self::Script => Script::default().run(bytes, coverage),
            Self::Schedule => schedule(bytes),
            Self::Profile => profile(bytes),
            Self::Audit => audit(bytes),
            Self::Config => config(bytes),
        }
    }
}
