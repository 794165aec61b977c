//! Cases: one file a fault, what must show it and what must not.
//!
//! A case names a scope, the violation that the fault shows there, the profiles on which it must be found and those on
//! which it must not. [`Suite`] is every shipped case; [`Suite::check`] runs them all, and [`Suite::declares`] says
//! whether a finding of a hunt is one that some case already tells of.

mod case;
mod check;
mod pattern;
mod race;
mod suite;

pub use case::{Case, CaseError, Status};
pub use check::{CheckOptions, Expected, Row, STOP_AT, Verdict};
pub use pattern::Pattern;
pub use race::{Race, Trial};
pub use suite::Suite;
