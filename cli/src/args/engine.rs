//! `engine`, `drive`, `confirm`, `conform`.

use super::examples::{CONFIRM_EXAMPLES, CONFORM_EXAMPLES, ENGINE_EXAMPLES};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What is done with engines that can be installed.
#[derive(Debug, Args)]
#[command(after_help = ENGINE_EXAMPLES)]
pub struct EngineArgs {
    #[command(subcommand)]
    pub command: EngineCommand,
}

#[derive(Debug, Subcommand)]
pub enum EngineCommand {
    /// Make an isolated environment for a release, from the public package index.
    Install {
        /// Which: `sglang==0.5.23`.
        release: String,
    },
    /// Show which releases can be installed, and which are.
    List,
    /// Remove a release, and what no other release needs.
    Remove {
        /// Which: `sglang==0.5.23`.
        release: String,
    },
}

#[derive(Debug, Args)]
pub struct DriveArgs {
    /// What to do with the engine: a finding, or the name of a case.
    #[arg(value_name = "FINDING.json|CASE")]
    pub script: String,
    /// The release that is driven; it must be installed.
    #[arg(long, value_name = "sglang==VERSION", default_value = "sglang==0.5.23")]
    pub engine: String,
    /// Keep what the engine did: a trace in pagefence's schema, gzipped where the name ends in `.gz`.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Draw the violations into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = CONFIRM_EXAMPLES)]
pub struct ConfirmArgs {
    /// Findings, or names of cases.
    #[arg(required = true, value_name = "FINDING.json|CASE")]
    pub scripts: Vec<String>,
    /// The release that is asked [default: the one whose profile the finding was made under].
    #[arg(long, value_name = "sglang==VERSION")]
    pub engine: Option<String>,
    /// Keep the trace of each that is confirmed in this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = CONFORM_EXAMPLES)]
pub struct ConformArgs {
    /// The release that the model is held against; it must be installed.
    #[arg(long, value_name = "sglang==VERSION", default_value = "sglang==0.5.23")]
    pub engine: String,
    /// How many scripts are made, in all scopes together.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub scripts: u64,
    /// Where scripts come from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Only in these scopes [default: all whose scripts an engine can take]; may be repeated.
    #[arg(long = "scope", value_name = "NAME|FILE.toml")]
    pub scopes: Vec<String>,
    /// Steps of a script before it is drained.
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub steps: usize,
}
