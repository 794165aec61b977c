//! What can be said on the command line.

mod engine;
mod examples;
mod explore;
mod look;
mod model;
mod night;
mod values;

pub use engine::{ConfirmArgs, ConformArgs, DriveArgs, EngineArgs, EngineCommand};
pub use explore::{CasesArgs, CheckArgs, CompareArgs, HuntArgs, ProveArgs};
pub use look::{AtlasArgs, AuditArgs, GateArgs, MinimizeArgs, ProfilesArgs, ReplayArgs};
pub use model::{EngineName, ModelArgs, ModelCommand, ModelRunArgs};
pub use night::{MergeArgs, NightlyArgs, PromoteArgs};
pub use values::{Rung, Who};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use examples::{
    COMPARE_EXAMPLES, DRIVE_EXAMPLES, GATE_EXAMPLES, HUNT_EXAMPLES, MERGE_EXAMPLES, NIGHTLY_EXAMPLES, PROMOTE_EXAMPLES,
    PROVE_EXAMPLES, REPLAY_EXAMPLES,
};

/// Finds the interleavings in which a KV-cache page is reused before its transfer finishes.
///
/// Without a subcommand it checks: every public fault is found where it is declared, and nowhere else.
///
/// Exit codes: 0 all as declared, 1 something found or unexpected, 2 bad usage or input.
#[derive(Debug, Parser)]
#[command(name = "pagefence", version, propagate_version = true, after_help = EXAMPLES)]
pub struct Cli {
    /// How to print results.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub check: CheckArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  pagefence                                       check everything, then hunt for 30 s
  pagefence hunt --profile sglang-0.5.22 --set metadata_gate=off
  pagefence prove --profile reference
  pagefence replay findings/stale-read-1b2c3d4e.json --html finding.html
  pagefence gate prefill.log http://decode:30000/metrics";

/// How to print results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check that every public fault is found where it is declared, then hunt for more (the default).
    #[command(
        after_help = "Examples:\n  pagefence check\n  pagefence check --budget 10m --out findings --html check.html"
    )]
    Check(CheckArgs),
    /// Show the cases: known faults, and on which profiles each must show.
    #[command(after_help = "Examples:\n  pagefence cases\n  pagefence cases S14\n  pagefence cases S14 S16 --run")]
    Cases(CasesArgs),
    /// Hunt for findings under one profile in one scope.
    #[command(after_help = HUNT_EXAMPLES)]
    Hunt(HuntArgs),
    /// Search every reachable state, and say whether the search closed.
    #[command(after_help = PROVE_EXAMPLES)]
    Prove(ProveArgs),
    /// Run a finding again, and show it step by step.
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Make a finding's script as small as it gets.
    #[command(after_help = "Example:\n  pagefence minimize finding.json -o small.json")]
    Minimize(MinimizeArgs),
    /// Show which behaviour each profile has.
    #[command(after_help = "Examples:\n  pagefence profiles\n  pagefence profiles --long")]
    Profiles(ProfilesArgs),
    /// Show the shipped scopes.
    #[command(after_help = "Example:\n  pagefence scopes")]
    Scopes,
    /// Show which producer of a rejection reached which stage, how often, and what came of it.
    #[command(after_help = "Examples:\n  pagefence atlas\n  pagefence atlas --profile sglang-0.5.23 --walks 10000")]
    Atlas(AtlasArgs),
    /// Compare two profiles, or one with some of its switches set: what appears, and what is gone.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Make a regression of a fuzzer's crash, and a case if that is wanted.
    #[command(after_help = PROMOTE_EXAMPLES)]
    Promote(PromoteArgs),
    /// Run everything with budgets, into one folder with reports; goes on after a kill.
    #[command(after_help = NIGHTLY_EXAMPLES)]
    Nightly(NightlyArgs),
    /// Join the folders of the shards of a night.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Judge recorded traces of real engines.
    #[command(
        after_help = "Examples:\n  pagefence audit run.jsonl\n  pagefence audit --lenient *.jsonl --html audit.html"
    )]
    Audit(AuditArgs),
    /// Race the cell's threads under loom and shuttle.
    Model(ModelArgs),
    /// Install real engines, list them, remove them.
    Engine(EngineArgs),
    /// Run a script on a real engine, and judge what it does.
    #[command(after_help = DRIVE_EXAMPLES)]
    Drive(DriveArgs),
    /// Ask a real engine whether it shows a finding of the model.
    Confirm(ConfirmArgs),
    /// Hold the model against a real engine: the same scripts, step by step.
    Conform(ConformArgs),
    /// Compare the KV capacity that nodes really have with the context length.
    #[command(after_help = GATE_EXAMPLES)]
    Gate(GateArgs),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  pagefence completions bash > /etc/bash_completion.d/pagefence")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// Which behaviour.
#[derive(Clone, Debug, Args)]
pub struct ProfileArgs {
    /// A shipped profile (see `pagefence profiles`), or a TOML file.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "sglang-0.5.23")]
    pub profile: String,
    /// Turn a switch on or off; may be repeated.
    #[arg(long = "set", value_name = "SWITCH=on|off")]
    pub settings: Vec<String>,
}

/// How many threads to use.
pub fn threads(jobs: Option<usize>) -> usize {
    jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=256) => Ok(jobs),
        _ => Err("must be from 1 to 256".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagefence::lifetime::Severity;

    #[test]
    fn the_command_line_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_hunt_goes_as_far_as_the_cases_do() {
        let cli = Cli::try_parse_from(["pagefence", "hunt"]).unwrap();
        let Some(Command::Hunt(args)) = cli.command else { panic!("a hunt was asked for") };
        assert_eq!(Severity::from(args.stop_at), pagefence::cases::STOP_AT);
    }
}
