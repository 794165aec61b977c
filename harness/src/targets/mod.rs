//! What a fuzzer drives, one file each. A target takes any bytes, and returns what is wrong with pagefence, or what pagefence
//! found and nobody has told of: both are what a fuzzer calls a crash.

mod audit;
mod config;
mod profile;
mod schedule;
mod script;

pub use audit::audit;
pub use config::config;
pub use profile::{SWITCH_BYTES, profile};
pub use schedule::{ScheduleInput, schedule};
pub use script::Script;

pub(crate) use profile::chosen_world;
pub(crate) use schedule::{place, run_schedule};

use crate::coverage::Coverage;
use crate::pins::pins;
use pagefence::lifetime::Violation;
use std::fmt;
use std::str::FromStr;

/// Why an input is a crash, in words for the person who looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash(pub String);

impl Crash {
    fn of(violation: &Violation, profile: &str, place: &str, case: Option<&str>) -> Self {
        let case = case.unwrap_or("no case");
        Self(format!("{violation:?}\n{} on {profile} in {place}, declared by {case}", violation.kind))
    }
}

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

    /// Whether a crash is about an engine, and can be [promoted](crate::promote) to a finding; the others are about pagefence.
    #[must_use]
    pub const fn is_about_engines(self) -> bool {
        matches!(self, Self::Script | Self::Schedule | Self::Profile)
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

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let known = Self::ALL.into_iter().find(|target| target.name() == name);
        known.ok_or_else(|| format!("there is no target `{name}`; there are {names}"))
    }
}
