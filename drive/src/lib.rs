//! Real engines under the same scripts as the cell.
//!
//! A model that nobody holds against the engine is a story. Here the complete, unmodified scheduler of a released SGLang runs on a
//! CPU, with its own queues, manager, senders, receivers and threads; the script decides which of them goes on, which message
//! arrives and which part of which write lands, step by step, as it does in the cell.
//!
//! * [`home`]: where engines are installed, by the Python package in `engines/sglang/` that this crate carries.
//! * [`host`]: processes that have an engine ready, and the nodes that are forked from them.
//! * [`pair`]: a prefill and a decode node, moved by the steps of a script.
//! * [`profiles`]: which profile of the cell stands for a release.
//! * [`recording`]: what they did, as a trace.
//! * [`lockstep`]: the cell and a pair under the same script, step by step: where they differ, and whether a finding of the one is one
//!   of the other.

pub mod error;
pub mod home;
pub mod host;
pub mod lockstep;
pub mod pair;
pub mod profiles;
pub mod recording;

pub use error::DriveError;
