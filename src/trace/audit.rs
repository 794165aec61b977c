//! Feeds the oracle with a trace and keeps what it says.

use super::error::TraceError;
use super::reader::{Format, Reader, Sink};
use super::schema::{Context, NodeDeclaration};
use crate::lifetime::{Event, Kind, Label, Life, Node, Oracle, Place, Spans, Verdict, Violation};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::BufRead;

/// How to audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditOptions {
    /// Skip and count bad lines instead of stopping at the first.
    pub lenient: bool,
    /// How many violations, and how many held runs, are stored. All are counted.
    pub keep: usize,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { lenient: false, keep: 1000 }
    }
}

/// Audits one trace.
///
/// # Errors
///
/// The first line that can't be read; with `lenient`, only a first line that is no header, and failing input.
pub fn audit<R: BufRead>(file: impl Into<String>, input: R, options: &AuditOptions) -> Result<AuditReport, TraceError> {
    let file = file.into();
    let mut reader = Reader::open(file.clone(), input, options.lenient)?;
    let mut auditor = Auditor::new(options.keep);
    reader.run(&mut auditor)?;
    let mut report = auditor.finish();
    report.file = file;
    report.format = reader.format();
    report.lines = reader.line();
    report.skipped = reader.skipped();
    report.first_skipped = reader.first_skipped().to_vec();
    Ok(report)
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditReport {
    /// The name of the trace, as the caller gave it.
    pub file: String,
    /// What wrote it.
    pub format: Format,
    /// How many lines it has.
    pub lines: u64,
    /// How many events the oracle was told.
    pub events: u64,
    /// How many lives began.
    pub requests: u64,
    /// What clients were told.
    pub answers: Answers,
    /// How many violations there are in all.
    pub violations: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<Kind, u64>,
    /// The first of them, in the order of the trace.
    pub findings: Vec<Finding>,
    /// How many slots are owned at the end of the trace. Held, not leaked: the end of a trace is not quiescence.
    pub held_slots: u64,
    /// Who holds them.
    pub held: Vec<Held>,
    /// How many bad lines were skipped.
    pub skipped: u64,
    /// What was wrong with the first few of them.
    pub first_skipped: Vec<String>,
}

impl AuditReport {
    /// Whether nothing is wrong. Held slots are not wrong; skipped lines may hide what is, and are for the caller to
    /// judge.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.violations == 0
    }
}

/// What clients were told, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// Answered with tokens.
    pub success: u64,
    /// Refused.
    pub rejected: u64,
    /// Given up by the client.
    pub aborted: u64,
    /// Failed by the service.
    pub failed: u64,
}

/// One violation, with names. Its labels are line numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What the oracle says; `started`, `released` and `broke` are lines of the trace.
    pub violation: Violation,
    /// The engine's name of `violation.life`.
    pub request: Option<String>,
    /// The engine's name of `violation.other`.
    pub other: Option<String>,
    /// The name of the node where it happened.
    pub node: Option<String>,
}

/// Slots that a life owns at the end of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Who owns them.
    pub life: Life,
    /// The engine's name of that request.
    pub request: Option<String>,
    /// The name of the node.
    pub node: String,
    /// Which arena.
    pub place: Place,
    /// Which slots, in ascending order.
    pub slots: Spans,
    /// How many.
    pub count: u64,
}

/// A [`Sink`] that feeds the oracle.
#[derive(Debug)]
pub struct Auditor {
    oracle: Oracle,
    keep: usize,
    /// What the oracle said about the last event.
    said: Vec<Violation>,
    names: Names,
    nodes: FxHashMap<Node, String>,
    /// Places whose frees the recorder doesn't see.
    unseen_frees: FxHashSet<Place>,
    report: AuditReport,
}

impl Auditor {
    /// An auditor that knows no node yet and stores the first `keep` violations.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Self {
            oracle: Oracle::default(),
            keep,
            said: Vec::new(),
            names: Names::default(),
            nodes: FxHashMap::default(),
            unseen_frees: FxHashSet::default(),
            report: AuditReport {
                file: String::new(),
                format: Format::Schema,
                lines: 0,
                events: 0,
                requests: 0,
                answers: Answers::default(),
                violations: 0,
                by_kind: BTreeMap::new(),
                findings: Vec::new(),
                held_slots: 0,
                held: Vec::new(),
                skipped: 0,
                first_skipped: Vec::new(),
            },
        }
    }

    /// Ends the audit. Neither `leak` nor `stuck` is looked for: where a recording stops, work goes on.
    #[must_use]
    pub fn finish(mut self) -> AuditReport {
        let mut held: BTreeMap<(Place, Life), (Spans, u64)> = BTreeMap::new();
        for (place, life, run) in self.oracle.owned() {
            if self.unseen_frees.contains(&place) {
                continue;
            }
            let (slots, count) = held.entry((place, life)).or_default();
            slots.push(run);
            *count += u64::from(run.len);
            self.report.held_slots += u64::from(run.len);
        }
        for ((place, life), (slots, count)) in held.into_iter().take(self.keep) {
            let node = self.node_name(place.node);
            let request = self.names.get(life);
            self.report.held.push(Held { life, request, node, place, slots, count });
        }
        self.report
    }

    fn node_name(&self, node: Node) -> String {
        match self.nodes.get(&node) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("node {}", node.0),
        }
    }

    /// Takes over what the oracle said.
    #[cold]
    fn keep_findings(&mut self) {
        for violation in std::mem::take(&mut self.said) {
            self.report.violations += 1;
            *self.report.by_kind.entry(violation.kind).or_default() += 1;
            if self.report.findings.len() < self.keep {
                let request = self.names.get(violation.life);
                let other = violation.other.and_then(|other| self.names.get(other));
                let node = violation.place.map(|place| self.node_name(place.node));
                self.report.findings.push(Finding { violation, request, other, node });
            }
        }
    }
}

impl Sink for Auditor {
    fn declare(&mut self, node: &NodeDeclaration) {
        let name = if node.name.is_empty() { &node.role } else { &node.name };
        self.nodes.insert(node.node, name.clone());
        for arena in &node.arenas {
            let place = Place { node: node.node, arena: arena.arena };
            if !self.oracle.is_declared(place) {
                self.oracle.declare(place, arena.slots, arena.width);
            }
            if !arena.frees_recorded {
                self.unseen_frees.insert(place);
            }
        }
    }

    fn event(&mut self, line: u64, context: &Context<'_>, event: &Event) {
        self.report.events += 1;
        let label = Label(u32::try_from(line).unwrap_or(u32::MAX));
        match event {
            Event::Begin { .. } => self.report.requests += 1,
            Event::Finish { told, .. } => {
                let answers = &mut self.report.answers;
                *match told.verdict {
                    Verdict::Success => &mut answers.success,
                    Verdict::Rejected => &mut answers.rejected,
                    Verdict::Aborted => &mut answers.aborted,
                    Verdict::Failed => &mut answers.failed,
                } += 1;
            }
            _ => {}
        }
        if let (Some(name), Some(life)) = (context.request, event.life()) {
            self.names.set(life, name, &self.oracle);
        }
        self.oracle.apply(label, event, &mut self.said);
        if !self.said.is_empty() {
            self.keep_findings();
        }
    }
}

/// The engine's names of requests, for as long as a finding may need them.
#[derive(Debug)]
struct Names {
    names: FxHashMap<Life, Box<str>>,
    /// How many names there may be before those of lives that are gone are dropped.
    sweep_at: usize,
}

impl Default for Names {
    fn default() -> Self {
        Self { names: FxHashMap::default(), sweep_at: 1024 }
    }
}

impl Names {
    fn get(&self, life: Life) -> Option<String> {
        self.names.get(&life).map(ToString::to_string)
    }

    fn set(&mut self, life: Life, name: &str, oracle: &Oracle) {
        if self.names.contains_key(&life) {
            return;
        }
        if self.names.len() >= self.sweep_at {
            self.sweep(oracle);
        }
        self.names.insert(life, name.into());
    }

    /// Drops the names of lives of which nothing is left: no open request, no slot, no live access. What
    /// survives is bounded by what the oracle holds, so memory does not grow with the trace.
    fn sweep(&mut self, oracle: &Oracle) {
        let mut present: FxHashSet<Life> = oracle.unfinished().collect();
        present.extend(oracle.owned().map(|(_, life, _)| life));
        present.extend(oracle.live_ops().map(|op| op.life));
        self.names.retain(|life, _| present.contains(life));
        self.sweep_at = (self.names.len() * 2).max(1024);
    }
}
