//! The timeline of a violation in a trace: the trace is read once more, and what touches the slots that race is kept.
//!
//! A second reading keeps the audit itself flat in memory; what is kept here is bounded for each story.

mod chain;
mod phrases;
mod record;
#[cfg(test)]
mod tests;

use self::record::Record;
use super::audit::AuditReport;
use super::error::TraceError;
use super::reader::{Reader, Sink};
use super::schema::{Context, NodeDeclaration};
use crate::lifetime::{Event, Node, Place};
use crate::report::objects::Places;
use crate::report::{Lane, Timeline};
use rustc_hash::FxHashMap;
use std::io::BufRead;

/// Reads a trace again that `report` is of, and tells a timeline of each violation that is stored in it: what happened
/// to the slots that it names and to those at the other end of its access, step by step, with the lines of the trace as
/// numbers. Violations of one access are one timeline, which is about the worst of them. At most `most` are told.
///
/// # Errors
/// As [`audit`](super::audit()) of the same trace.
pub fn stories<R: BufRead>(
    input: R,
    lenient: bool,
    report: &AuditReport,
    most: usize,
) -> Result<Vec<Timeline>, TraceError> {
    let mut chains = chain::chains(&report.findings);
    chains.truncate(most);
    let mut teller =
        Teller { known: Known::default(), records: chains.into_iter().map(Record::new).collect(), line: 0 };
    if teller.records.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = Reader::open(report.file.clone(), input, lenient)?;
    let last = teller.records.iter().map(Record::last).max().unwrap_or_default();
    // What comes after the last violation is no part of any story.
    while teller.line <= last && reader.step(&mut teller)? {}
    let Teller { known, records, .. } = teller;
    Ok(records.into_iter().map(|record| record.timeline(&known)).collect())
}

/// What a trace declares.
#[derive(Debug, Default)]
struct Known {
    nodes: FxHashMap<Node, (String, Lane)>,
    widths: FxHashMap<Place, u32>,
}

impl Known {
    fn name(&self, node: Node) -> String {
        self.nodes.get(&node).map_or_else(|| format!("node {}", node.0), |(name, _)| name.clone())
    }

    /// The lane of a process: what does not say that it is a prefill server is drawn as the side that receives.
    fn lane(&self, node: Node) -> Lane {
        self.nodes.get(&node).map_or(Lane::Decode, |(_, lane)| *lane)
    }
}

impl Places for Known {
    fn cells_of(&self, place: Place) -> u32 {
        self.widths.get(&place).copied().unwrap_or(1).max(1)
    }

    fn node_of(&self, place: Place) -> String {
        self.name(place.node)
    }
}

/// Hears the trace on behalf of each story.
struct Teller<'a> {
    known: Known,
    records: Vec<Record<'a>>,
    /// The line heard last.
    line: u64,
}

impl Sink for Teller<'_> {
    fn declare(&mut self, node: &NodeDeclaration) {
        let names = [&node.name, &node.role].into_iter().find(|name| !name.is_empty());
        let name = names.map_or_else(|| format!("node {}", node.node.0), Clone::clone);
        let lane = if node.role.starts_with("prefill") { Lane::Prefill } else { Lane::Decode };
        self.known.nodes.insert(node.node, (name, lane));
        for arena in &node.arenas {
            self.known.widths.insert(Place { node: node.node, arena: arena.arena }, arena.width);
        }
    }

    fn event(&mut self, line: u64, context: &Context<'_>, event: &Event) {
        self.line = line;
        for record in &mut self.records {
            record.hear(&self.known, line, context, event);
        }
    }
}
