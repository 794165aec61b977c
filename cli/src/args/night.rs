//! `nightly`, `merge`, `promote`.

use super::jobs;
use crate::nightly::{Area, Shard};
use clap::Args;
use pagefence_harness::targets::Target;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct NightlyArgs {
    /// The folder of the night: a new one, or one to go on with.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Ten minutes on two cores instead of two hours.
    #[arg(long, conflicts_with = "budgets")]
    pub quick: bool,
    /// Budgets of your own.
    #[arg(long, value_name = "FILE.toml")]
    pub budgets: Option<PathBuf>,
    /// Do only this part of the work: the second quarter is 2/4.
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    pub shard: Shard,
    /// Leave these out; may be repeated.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub skip: Vec<Area>,
    /// The folder of the night before: its corpora are gone on with, and the report says what has changed.
    #[arg(long, value_name = "DIR")]
    pub previous: Option<PathBuf>,
    /// Where random choices take their numbers from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many tasks at once [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// A checkout of pagefence, for its corpora and fuzz targets.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub checkout: PathBuf,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The folders of the shards.
    #[arg(required = true, value_name = "DIR")]
    pub shards: Vec<PathBuf>,
    /// The folder of the whole night.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The folder of the night before, to say what has changed.
    #[arg(long, value_name = "DIR")]
    pub previous: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PromoteArgs {
    /// The crash, or a finding as JSON.
    pub file: PathBuf,
    /// Whose crash it is [default: the name of its folder].
    #[arg(long)]
    pub target: Option<Target>,
    /// Where the regression goes.
    #[arg(long, value_name = "DIR", default_value = "corpus/regressions")]
    pub into: PathBuf,
    /// Also begin a case of this name.
    #[arg(long, value_name = "ID")]
    pub case: Option<String>,
    /// Where the case goes.
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub cases: PathBuf,
    /// Promote what a case declares, too.
    #[arg(long)]
    pub declared: bool,
}
