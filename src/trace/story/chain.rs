//! Which violations of a trace are one story.

use crate::lifetime::Violation;
use crate::trace::audit::Finding;
use crate::trace::render::is_repeated;

/// At most so many violations are marked in one timeline: each is a line of its own.
const MARKED: usize = 8;

/// Violations that belong together: those of one access. Each that is found again in later lines is there once.
pub(super) fn chains(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut chains: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        match chains.iter_mut().find(|chain| together(chain[0], finding)) {
            Some(chain) if chain.len() >= MARKED || chain.iter().any(|known| is_repeated(known, finding)) => {}
            Some(chain) => chain.push(finding),
            None => chains.push(vec![finding]),
        }
    }
    chains
}

/// Whether two violations are of one access. Names of accesses are used again, so the line of the post belongs to it.
fn together(first: &Finding, other: &Finding) -> bool {
    let key = |finding: &Finding| {
        let Violation { op, started, .. } = finding.violation;
        Some((op?, started?))
    };
    (key(first).is_some() && key(first) == key(other)) || is_repeated(first, other)
}

/// The one that a story is about: the worst, and of those the first.
pub(super) fn subject(chain: &[&Finding]) -> usize {
    let rank = |at: &usize| (std::cmp::Reverse(chain[*at].violation.kind.severity()), *at);
    (0..chain.len()).min_by_key(rank).unwrap_or_default()
}
