//! What fuzzers run.
//!
//! A fuzzer brings bytes. An [`Input`] makes a walk of them: which profile, which scope, which steps. A [target](targets)
//! takes the walk and says what nobody has told of. Along the way, [features](coverage) say how far into the protocol it
//! came, for a fuzzer to follow where the coverage of code has long been complete.
//!
//! Nothing here knows libFuzzer: the crate in `fuzz/` binds these targets to it, and the tests run the corpora without it.

pub mod atlas;
pub mod corpus;
pub mod coverage;
mod input;
mod known;
mod mutate;
mod pins;
pub mod promote;
pub mod targets;
mod walk;
mod worlds;

pub use input::{Input, Op};
pub use known::Known;
pub use mutate::mutate;
pub use pins::Pins;
pub use walk::{Met, Walk};
pub use worlds::{World, WorldKey, Worlds};
