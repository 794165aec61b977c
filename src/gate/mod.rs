//! The capacity gate: can every prompt that the service admits fit into the KV pool that each node really has?
//!
//! The incident behind this suite began here: a context length of 1,048,576 tokens was promised, and the pool that
//! the engine had left after loading the model held 681,280. What an engine promises is configured; what it has is
//! only known once it runs. So the gate reads the start-up log or the metrics page of each node, never a
//! configuration.
//!
//! What is compared is the pool, in tokens, against the context length. A prompt may really use a little less than
//! either (the engine's own limit is the smaller of both, minus a few tokens for what it generates), so a pool that
//! covers the context by a hair is still short by these few: the report says which limit it compared.

mod error;
mod log;
mod metrics;
mod report;

pub use error::GateError;
pub use report::{Allocation, Coverage, GateReport, Origin, Source, SourceReport, coverage};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A start-up log.
    Log,
    /// A Prometheus metrics page.
    Metrics,
}

impl TextKind {
    /// What a text looks like: a metrics page has a metadata line (`# HELP`, `# TYPE`) or a sample of the engine's
    /// before anything else; whatever does not is read as a log.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let first = text.lines().map(str::trim_start).find(|line| !line.is_empty()).unwrap_or_default();
        let metrics = ["# HELP ", "# TYPE ", "sglang:"].iter().any(|start| first.starts_with(start));
        if metrics { Self::Metrics } else { Self::Log }
    }
}

/// Judges a service by what its nodes say.
///
/// `context`, if given, is what the service promises and overrides what the nodes say of themselves.
///
/// Every allocation found is reported, and each source is judged by its smallest: a log may hold several ranks and
/// several starts, and nothing in it tells reliably which start a line belongs to. A rank that is short is short for
/// every prompt that is routed to it; an older start that was short is worth a look even if the newest is not.
///
/// # Errors
///
/// [`GateError::NoSource`] without a source, [`GateError::NoCapacity`] if a source names no pool, and
/// [`GateError::NoContext`] if neither the caller nor the source says how long a prompt may be: what can't be read is
/// never a pass.
pub fn judge(sources: &[Source<'_>], context: Option<u64>) -> Result<GateReport, GateError> {
    if context == Some(0) {
        return Err(GateError::NoContext { source_name: "the caller".to_owned() });
    }
    let reports = sources.iter().map(|source| judge_one(source, context)).collect::<Result<Vec<_>, _>>()?;
    if reports.is_empty() {
        return Err(GateError::NoSource);
    }
    Ok(GateReport { covers: reports.iter().all(|source| source.coverage.covers), sources: reports })
}

fn judge_one(source: &Source<'_>, given: Option<u64>) -> Result<SourceReport, GateError> {
    let found = match source.kind {
        TextKind::Log => log::read(source.text),
        TextKind::Metrics => metrics::read(source.text),
    };
    let name = || source.name.to_owned();
    let Some(pool) = found.smallest else {
        return Err(GateError::NoCapacity { source_name: name(), kind: source.kind });
    };
    let Some(context) = given.or(found.context) else {
        return Err(GateError::NoContext { source_name: name() });
    };
    Ok(SourceReport {
        name: name(),
        kind: source.kind,
        allocations: found.allocations,
        pool,
        context,
        context_said: found.context,
        max_req_input_len: found.max_req_input_len,
        coverage: coverage(pool, context),
    })
}

/// How many allocations of one source are listed: more than any deployment has ranks and restarts.
const LISTED: usize = 4096;

/// What a text says.
#[derive(Debug, Default)]
struct Found {
    allocations: Vec<Allocation>,
    /// The smallest pool, listed or not.
    smallest: Option<u64>,
    /// The longest context: some prompt of that length may come to the smallest pool.
    context: Option<u64>,
    /// The smallest limit.
    max_req_input_len: Option<u64>,
}

impl Found {
    fn pool(&mut self, tokens: u64, origin: impl FnOnce() -> Origin) {
        self.smallest = Some(self.smallest.map_or(tokens, |smallest| smallest.min(tokens)));
        if self.allocations.len() < LISTED {
            self.allocations.push(Allocation { tokens, origin: origin() });
        }
    }

    fn context(&mut self, tokens: u64) {
        // Of no length: not known yet.
        if tokens > 0 {
            self.context = self.context.max(Some(tokens));
        }
    }

    fn limit(&mut self, tokens: u64) {
        self.max_req_input_len = Some(self.max_req_input_len.map_or(tokens, |limit| limit.min(tokens)));
    }
}

#[cfg(test)]
mod tests;
