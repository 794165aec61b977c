//! What came of a task.

use super::task::Task;
use pagefence::cases::Row;
use pagefence::explore::Finding;
use pagefence_harness::atlas::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All is as declared.
    Passed,
    /// Something is not, or was found.
    Failed,
}

/// What came of a task, as it is kept in the folder of the night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The task.
    pub task: Task,
    /// How it ended.
    pub verdict: Verdict,
    /// In a line.
    pub says: String,
    /// How long it took.
    pub seconds: f64,
    /// Rows of the table of cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// How many signatures each case explained.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<String, u64>,
    /// What no case declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Crashes of a fuzzer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<Crash>,
    /// How much was done: states, walks, executions or inputs.
    #[serde(default)]
    pub done: u64,
    /// Whether nothing was left to look at.
    #[serde(default)]
    pub closed: bool,
    /// How a fuzzer came on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Point>,
    /// Cells of the rejection atlas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atlas: Vec<Entry>,
}

impl Record {
    /// A task that has passed, with nothing to tell yet.
    pub fn new(task: &Task) -> Self {
        Self {
            task: task.clone(),
            verdict: Verdict::Passed,
            says: String::new(),
            seconds: 0.0,
            rows: Vec::new(),
            known: BTreeMap::new(),
            findings: Vec::new(),
            crashes: Vec::new(),
            done: 0,
            closed: false,
            curve: Vec::new(),
            atlas: Vec::new(),
        }
    }

    /// The same, failed unless `passed`.
    pub fn judged(self, passed: bool, says: impl Into<String>) -> Self {
        let verdict = if passed { Verdict::Passed } else { Verdict::Failed };
        Self { verdict, says: says.into(), ..self }
    }
}

/// What a fuzzer stopped at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// The input, in the folder of the night.
    pub file: String,
    /// What the target said.
    pub says: String,
}

/// How far a fuzzer had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// After so long.
    pub seconds: f64,
    /// Executions until then.
    pub executions: u64,
    /// Edges of the code that were covered.
    pub edges: u64,
    /// Features: edges by how often, and the coverage of the protocol.
    pub features: u64,
    /// Inputs in the corpus.
    pub corpus: u64,
}
