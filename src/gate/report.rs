//! What the gate found, as values, plain lines and JSON.

use super::TextKind;
use crate::number::grouped;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// A text to read, and what to call it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name that the report uses: a file, a URL.
    pub name: &'a str,
    /// What the text is.
    pub kind: TextKind,
    /// The text, lossily decoded if it was not UTF-8.
    pub text: &'a str,
}

/// Where in a source an allocation was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A line of a log, from 1.
    Line(u64),
    /// The labels of a metric, as on the page.
    Labels(String),
}

/// One pool that a node says it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allocation {
    /// Its size in tokens.
    pub tokens: u64,
    /// Where that was read.
    pub origin: Origin,
}

/// A pool against a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Whether the pool holds a prompt of the full context.
    pub covers: bool,
    /// How much of the context the pool holds, in hundredths of a percent, rounded down, at most 10,000: 6497 is
    /// 64.97%.
    pub share_basis_points: u32,
    /// How many of the longest prompts don't fit: those of more tokens than the pool, up to the context.
    pub band: u64,
}

/// How much of a context length a pool covers, both in tokens.
///
/// An empty context is covered by anything.
#[must_use]
pub fn coverage(pool: u64, context: u64) -> Coverage {
    let share = (u128::from(pool.min(context)) * 10_000).checked_div(u128::from(context)).unwrap_or(10_000);
    Coverage {
        covers: pool >= context,
        share_basis_points: u32::try_from(share).unwrap_or(10_000),
        band: context.saturating_sub(pool),
    }
}

impl Coverage {
    /// The share as text: `64.97%`.
    #[must_use]
    pub fn share(self) -> String {
        format!("{}.{:02}%", self.share_basis_points / 100, self.share_basis_points % 100)
    }
}

/// What one node says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// The name of the source.
    pub name: String,
    /// What it was read as.
    pub kind: TextKind,
    /// Every pool found: ranks, and restarts.
    pub allocations: Vec<Allocation>,
    /// The smallest of them, by which the source is judged.
    pub pool: u64,
    /// The context length that it is compared with.
    pub context: u64,
    /// What the source itself says the context length is; the longest of several.
    pub context_said: Option<u64>,
    /// The engine's own limit for a prompt, if the source names it: the smaller of pool and context, minus a few.
    pub max_req_input_len: Option<u64>,
    /// The verdict.
    pub coverage: Coverage,
}

/// What all nodes say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateReport {
    /// Whether every pool of every node holds a prompt of the full context.
    pub covers: bool,
    /// One for each source, in the order given.
    pub sources: Vec<SourceReport>,
}

impl Display for GateReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for source in &self.sources {
            write!(f, "{source}")?;
        }
        let short = self.sources.iter().filter(|source| !source.coverage.covers).count();
        match short {
            0 => writeln!(f, "covered: every pool holds a prompt of the full context"),
            _ => writeln!(f, "not covered: {short} of {} nodes", self.sources.len()),
        }
    }
}

impl Display for SourceReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        writeln!(f, "{}", self.name)?;
        for allocation in self.allocations.iter().take(SHOWN) {
            match &allocation.origin {
                Origin::Line(line) => writeln!(f, "  line {line}: {} tokens", grouped(allocation.tokens))?,
                Origin::Labels(labels) => writeln!(f, "  {labels}: {} tokens", grouped(allocation.tokens))?,
            }
        }
        if let Some(more) = self.allocations.len().checked_sub(SHOWN).filter(|&more| more > 0) {
            writeln!(f, "  … and {more} more")?;
        }
        let (pool, context) = (grouped(self.pool), grouped(self.context));
        let share = self.coverage.share();
        writeln!(f, "  pool tokens against context length: {pool} of {context} ({share})")?;
        if let Some(said) = self.context_said.filter(|&said| said != self.context) {
            writeln!(f, "  the node itself says a context of {}", grouped(said))?;
        }
        if let Some(limit) = self.max_req_input_len {
            writeln!(f, "  the engine admits prompts of at most {} tokens", grouped(limit))?;
        }
        if self.coverage.covers {
            writeln!(f, "  covered (a prompt may use a few tokens less than the pool)")
        } else {
            let band = grouped(self.coverage.band);
            writeln!(f, "  NOT covered: prompts of the last {band} tokens of the context fit into no pool of this size")
        }
    }
}
