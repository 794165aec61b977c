//! `model`.

use super::examples::MODEL_EXAMPLES;
use super::{ProfileArgs, ReplayArgs, jobs};
use crate::time::duration;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    pub command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Show the models, their slices and whole cells.
    #[command(after_help = "Example:\n  pagefence model list")]
    List,
    /// Run models under a profile.
    #[command(after_help = MODEL_EXAMPLES)]
    Run(ModelRunArgs),
    /// Follow the schedule of a finding again, and show it.
    #[command(after_help = "Examples:\n  pagefence model replay finding.json\n  \
        pagefence model replay finding.json --set locked_tables=on")]
    Replay(ReplayArgs),
    /// Runs one job from standard input; what `run` starts.
    #[command(hide = true)]
    Worker,
}

/// Which checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Slices under loom and shuttle, whole cells under shuttle.
    All,
    /// Every schedule of the slices, up to so many preemptions.
    Loom,
    /// Random schedules of slices and whole cells: four strategies in turn.
    Shuttle,
    /// One of them alone: PCT with a bound of 3.
    Pct3,
    /// PCT with a bound of 5.
    Pct5,
    /// Uniform random walk.
    Urw,
    /// Each choice at random.
    Random,
    /// Every schedule of the slices, depth first, where that ends.
    Dfs,
}

#[derive(Debug, Args)]
pub struct ModelRunArgs {
    /// Run these models [default: all].
    #[arg(value_name = "MODEL")]
    pub models: Vec<String>,
    /// Run only this slice or whole cell; may be repeated.
    #[arg(long = "slice", value_name = "SLICE")]
    pub slices: Vec<String>,
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// Which checker.
    #[arg(long, value_enum, default_value_t = EngineName::All)]
    pub engine: EngineName,
    /// How often loom may preempt a thread; a pass needs at least 3.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    pub preemptions: usize,
    /// Let loom preempt as often as it likes. Few slices end then.
    #[arg(long, conflicts_with = "preemptions")]
    pub unbounded: bool,
    /// How long each slice and whole cell may take under each engine.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5s")]
    pub budget: Duration,
    /// Executions that each may take [default: no limit].
    #[arg(long, value_name = "NUMBER")]
    pub iterations: Option<u64>,
    /// Where random schedules take their numbers from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many at once [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Save findings in this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
