//! What can be said on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use pagefence::explore::Explorer;
use pagefence::lifetime::Severity;
use pagefence_harness::targets::Target;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Judge recorded traces of real engines.
    #[command(
        after_help = "Examples:\n  pagefence audit run.jsonl\n  pagefence audit --lenient *.jsonl --html audit.html"
    )]
    Audit(AuditArgs),
    /// Race the cell's threads under loom and shuttle.
    Model(ModelArgs),
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

const HUNT_EXAMPLES: &str = "\
Examples:
  pagefence hunt --profile sglang-0.5.11 --scope abort --html hunt.html
  pagefence hunt --profile mine.toml --scope big.toml --budget 10m --seed 7 --out findings
  pagefence hunt --set generation=off --explorers swarm --stop-at corruption";
const PROVE_EXAMPLES: &str = "\
Examples:
  pagefence prove --profile reference             every shipped scope
  pagefence prove --profile reference --set length_check=off --scope rejection
A search that was cut short is never a pass: TRUNCATED exits with 1.";
const REPLAY_EXAMPLES: &str = "\
Examples:
  pagefence replay finding.json
  pagefence replay finding.json --html finding.html
  pagefence replay finding.json --set door=on     does the patch help?
Exits with 1 when something breaks, with 0 when nothing does.";
const COMPARE_EXAMPLES: &str = "\
Examples:
  pagefence compare sglang-0.5.22 sglang-0.5.23
  pagefence compare sglang-0.5.23 --set poison=off --scope stall --scope timeouts
  pagefence compare sglang-0.5.23 mine.toml --html compare.html
Exits with 1 when a finding appears.";
const PROMOTE_EXAMPLES: &str = "\
Examples:
  pagefence promote fuzz/artifacts/script/crash-1b2c3d
  pagefence promote night/crashes/schedule/crash-1b2c3d --case M13
  pagefence promote findings/stale-read-1b2c3d4e.json";
const GATE_EXAMPLES: &str = "\
Examples:
  pagefence gate prefill.log decode.log
  pagefence gate http://prefill:30000/metrics --context 1048576
Exits with 1 when a pool is too small, with 2 when no capacity could be read.";

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

const MODEL_EXAMPLES: &str = "\
Examples:
  pagefence model run                             every model on the newest version
  pagefence model run release --profile reference --budget 1m
  pagefence model run --slice abort-meets-worker --engine loom --preemptions 4
  pagefence model run --profile sglang-0.5.22 --set generation=off --out findings";

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
pub struct ReplayArgs {
    /// The finding.
    pub file: PathBuf,
    /// Run it under another profile.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub profile: Option<String>,
    /// Turn a switch on or off; may be repeated.
    #[arg(long = "set", value_name = "SWITCH=on|off")]
    pub settings: Vec<String>,
    /// Draw it into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MinimizeArgs {
    /// The finding.
    pub file: PathBuf,
    /// Where to put the smaller one [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ProfilesArgs {
    /// Say what each switch does and where that is known from.
    #[arg(long)]
    pub long: bool,
}

#[derive(Debug, Args)]
pub struct AtlasArgs {
    /// Only these profiles: shipped ones or TOML files; may be repeated.
    #[arg(long = "profile", value_name = "NAME|FILE.toml")]
    pub profiles: Vec<String>,
    /// Random walks for each producer in each scope that plants a rejection.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub walks: u64,
    /// The seed of the walks.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
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

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Traces: JSON lines in pagefence's schema, or of a recorder that it knows.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Skip and count bad lines instead of stopping at the first.
    #[arg(long)]
    pub lenient: bool,
    /// Draw a summary and the timelines into one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct GateArgs {
    /// Start-up logs or metrics pages: files, or http:// addresses.
    #[arg(required = true, value_name = "FILE|URL")]
    pub sources: Vec<String>,
    /// The context length that the service promises [default: what each node says].
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u64>,
}

/// An explorer by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Who {
    /// Breadth-first search of every state, with symmetry.
    Exhaustive,
    /// Random walks, each with its own mix of faults.
    Swarm,
    /// Random walks that choose alike.
    Uniform,
}

impl From<Who> for Explorer {
    fn from(who: Who) -> Self {
        match who {
            Who::Exhaustive => Self::Exhaustive,
            Who::Swarm => Self::Swarm,
            Who::Uniform => Self::Uniform,
        }
    }
}

/// A severity by name, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// A slot is free while somebody may still access it.
    Hazard,
    /// The slot has a new owner while the old access is live.
    Race,
    /// Capacity is gone.
    Leak,
    /// Something stops for good.
    Liveness,
    /// The client is told something untrue.
    WrongAnswer,
    /// Bytes of one request are in another's place.
    Corruption,
    /// Bytes of another request are consumed.
    Exposure,
}

impl From<Rung> for Severity {
    fn from(rung: Rung) -> Self {
        match rung {
            Rung::Hazard => Self::Hazard,
            Rung::Race => Self::Race,
            Rung::Leak => Self::Leak,
            Rung::Liveness => Self::Liveness,
            Rung::WrongAnswer => Self::WrongAnswer,
            Rung::Corruption => Self::Corruption,
            Rung::Exposure => Self::Exposure,
        }
    }
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

/// `500ms`, `30s`, `10m`, `2h`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit {
        "ms" => 1,
        "s" | "" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("write a number and ms, s, m or h: 30s".to_owned()),
    };
    let millis = number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale));
    millis.map(Duration::from_millis).ok_or_else(|| "write a number and ms, s, m or h: 30s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn durations() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "s", "-1s", "1.5s", "10 s", "1d", "99999999999999999999h", "18446744073709551615h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
