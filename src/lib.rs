//! pagefence finds the interleavings in which a KV-cache page is reused before its transfer finishes, in
//! disaggregated (prefill/decode) LLM serving.
//!
//! Walk through it as data: a script comes in, [steps](cell::Step) the [serving cell](cell::Cell), the cell speaks
//! [events](lifetime::Event) to the [oracle](lifetime::Oracle), the oracle speaks
//! [violations](lifetime::Violation) to the [explorers](explore). Nothing flows back.
//!
//! * [`lifetime`]: what a page-lifetime violation is; knows no engine.
//! * [`platform`]: what holds shared state; one thread or many.
//! * [`cell`]: the engine's protocol, each version-dependent behaviour a switch.
//! * [`explore`]: exhaustive search, random walks, minimisation, replay.
//! * [`cases`]: the public faults, and on which profiles each must show.
//! * [`report`]: timelines, tables, pages.
//! * [`trace`]: the event schema, the auditor of recorded traces, importers.
//! * [`gate`]: whether the pools that a server allocated cover the context that it advertises.

pub mod cases;
pub mod cell;
pub mod explore;
mod few;
pub mod gate;
pub mod input;
pub mod library;
pub mod lifetime;
mod number;
pub mod platform;
pub mod report;
pub mod trace;
