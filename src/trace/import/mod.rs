//! Importers: what other recorders write, told as facts of the oracle's vocabulary.

pub mod sglang_study;
