//! Examples under the help of the commands.

pub(super) const HUNT_EXAMPLES: &str = "\
Examples:
  pagefence hunt --profile sglang-0.5.11 --scope abort --html hunt.html
  pagefence hunt --profile mine.toml --scope big.toml --budget 10m --seed 7 --out findings
  pagefence hunt --set generation=off --explorers swarm --stop-at corruption";
pub(super) const PROVE_EXAMPLES: &str = "\
Examples:
  pagefence prove --profile reference             every shipped scope
  pagefence prove --profile reference --set length_check=off --scope rejection
A search that was cut short is never a pass: TRUNCATED exits with 1.";
pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  pagefence replay finding.json
  pagefence replay finding.json --html finding.html
  pagefence replay finding.json --set door=on     does the patch help?
Exits with 1 when something breaks, with 0 when nothing does.";
pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  pagefence compare sglang-0.5.22 sglang-0.5.23
  pagefence compare sglang-0.5.23 --set poison=off --scope stall --scope timeouts
  pagefence compare sglang-0.5.23 mine.toml --html compare.html
Exits with 1 when a finding appears.";
pub(super) const PROMOTE_EXAMPLES: &str = "\
Examples:
  pagefence promote fuzz/artifacts/script/crash-1b2c3d
  pagefence promote night/crashes/schedule/crash-1b2c3d --case M13
  pagefence promote findings/stale-read-1b2c3d4e.json";
pub(super) const GATE_EXAMPLES: &str = "\
Examples:
  pagefence gate prefill.log decode.log
  pagefence gate http://prefill:30000/metrics --context 1048576
Exits with 1 when a pool is too small, with 2 when no capacity could be read.";

pub(super) const MODEL_EXAMPLES: &str = "\
Examples:
  pagefence model run                             every model on the newest version
  pagefence model run release --profile reference --budget 1m
  pagefence model run --slice abort-meets-worker --engine loom --preemptions 4
  pagefence model run --profile sglang-0.5.22 --set generation=off --out findings";
pub(super) const NIGHTLY_EXAMPLES: &str = "\
Examples:
  pagefence nightly --out night                   two hours on two cores
  pagefence nightly --quick --out night           ten minutes
  pagefence nightly --out night --shard 2/4 --previous last-night
Killed at any point, the same command goes on where it was.
Exits with 1 when something is not as declared, or what must be complete is not.";
pub(super) const MERGE_EXAMPLES: &str = "\
Example:
  pagefence merge --out night shard-1 shard-2 shard-3 shard-4 --previous last-night";
pub(super) const ENGINE_EXAMPLES: &str = "\
Examples:
  pagefence engine list
  pagefence engine install sglang==0.5.22
  pagefence engine remove sglang==0.5.11
They are kept in the folder that PAGEFENCE_ENGINES names, else under the user's data; PAGEFENCE_PYTHON names the Python.";
pub(super) const DRIVE_EXAMPLES: &str = "\
Examples:
  pagefence drive INCIDENT-SMALL --engine sglang==0.5.11
  pagefence drive findings/free-in-flight-1b2c3d4e.json --engine sglang==0.5.22 --trace run.jsonl
Exits with 1 when the engine violates something, with 0 when it does not.";
pub(super) const CONFIRM_EXAMPLES: &str = "\
Examples:
  pagefence confirm findings/free-in-flight-1b2c3d4e.json
  pagefence confirm M04 M05 M06 --engine sglang==0.5.23 --out confirmed
Exits with 1 when the engine shows one of them, with 0 when it shows none.";
pub(super) const CONFORM_EXAMPLES: &str = "\
Examples:
  pagefence conform --engine sglang==0.5.22 --scripts 1000
  pagefence conform --engine sglang==0.5.11 --scope abort --scope chunks --seed 7
Exits with 1 when they differ somewhere.";
