//! `check`, `cases`, `hunt`, `prove`, `compare`.

use super::{ProfileArgs, Rung, Who, jobs};
use crate::time::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Default, PartialEq, Eq, Args)]
pub struct CheckArgs {
    /// How long to hunt after the cases, which always run in full [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Where random walks take their numbers from [default: 0].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Save new findings in this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw the table and what is not as declared into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CasesArgs {
    /// Tell these cases in full.
    #[arg(value_name = "CASE")]
    pub ids: Vec<String>,
    /// Run them (all of them, if none is named) instead.
    #[arg(long)]
    pub run: bool,
    /// Where random walks take their numbers from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
}

#[derive(Debug, Args)]
pub struct HuntArgs {
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// A shipped scope (see `pagefence scopes`), or a TOML file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "abort")]
    pub scope: String,
    /// How long to hunt.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub budget: Duration,
    /// Where random walks take their numbers from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Who hunts.
    #[arg(long, value_delimiter = ',', default_value = "exhaustive,swarm")]
    pub explorers: Vec<Who>,
    /// A path ends at a violation that is this severe or worse; with a lesser one it goes on to what that leads to. With
    /// the default every case can be found.
    #[arg(long, value_name = "SEVERITY", default_value = "exposure")]
    pub stop_at: Rung,
    /// Save findings in this directory, one file each.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw all findings into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Memory that an exhaustive search may take, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub memory: u64,
}

#[derive(Debug, Args)]
pub struct ProveArgs {
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// A shipped scope or a TOML file; may be repeated [default: every shipped scope].
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub scope: Vec<String>,
    /// How long a scope may take [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// States that a scope may have [default: no limit].
    #[arg(long, value_name = "NUMBER")]
    pub states: Option<u64>,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Tell states apart that differ only in the names of pages.
    #[arg(long)]
    pub no_symmetry: bool,
    /// A path ends at a violation that is this severe or worse.
    #[arg(long, value_name = "SEVERITY", default_value = "corruption")]
    pub stop_at: Rung,
    /// Memory that a search may take, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u64,
    /// Show the timeline of each finding.
    #[arg(long)]
    pub timelines: bool,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The first profile: a shipped one, or a TOML file.
    #[arg(value_name = "A")]
    pub before: String,
    /// The second one [default: the first, with what is set].
    #[arg(value_name = "B")]
    pub after: Option<String>,
    /// Turn a switch of the second on or off; may be repeated.
    #[arg(long = "set", value_name = "SWITCH=on|off")]
    pub settings: Vec<String>,
    /// A shipped scope or a TOML file; may be repeated [default: every shipped scope].
    #[arg(long = "scope", value_name = "NAME|FILE.toml")]
    pub scopes: Vec<String>,
    /// States of an exhaustive search, in each scope on each profile.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    pub states: u64,
    /// Random walks, in each scope on each profile.
    #[arg(long, value_name = "NUMBER", default_value_t = 4096)]
    pub walks: u64,
    /// Random walks of the rejection atlas, for each producer in each scope that plants a rejection.
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub atlas: u64,
    /// Where random walks take their numbers from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "NUMBER", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// A path ends at a violation that is this severe or worse.
    #[arg(long, value_name = "SEVERITY", default_value = "exposure")]
    pub stop_at: Rung,
    /// Save what appears in this directory.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw the comparison into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
