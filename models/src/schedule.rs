//! Which thread did what: see [`pagefence::explore::Schedule`].

pub use pagefence::explore::{Access, Schedule, short_name};
