//! The search that is too simple to be wrong: a queue, and a map of whole states.

use pagefence::explore::{Families, Protocol, Quiet, Signature, StepClass};
use pagefence::lifetime::{Severity, Violation};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What it finds: the same numbers that an exhaustive search reports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Naive {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) self_loops: u64,
    pub(crate) cut: u64,
    pub(crate) depth: u32,
    pub(crate) families: BTreeMap<u8, u64>,
    /// By signature: the length of a shortest script, and how often it was met.
    pub(crate) findings: BTreeMap<Signature, (usize, u64)>,
}

impl Naive {
    fn note(&mut self, violations: &[Violation], length: u32) {
        for violation in violations {
            let (shortest, count) = self.findings.entry(Signature::from(violation)).or_insert((usize::MAX, 0));
            *shortest = (*shortest).min(length as usize);
            *count += 1;
        }
    }
}

pub(crate) fn naive<P: Protocol>(protocol: &P, stop_at: Option<Severity>) -> Naive {
    let mut found = Naive::default();
    let mut depths = HashMap::from([(protocol.initial(), 0)]);
    let mut queue = VecDeque::from([protocol.initial()]);
    while let Some(state) = queue.pop_front() {
        let depth = depths[&state];
        found.states += 1;
        found.depth = found.depth.max(depth);
        let mut steps = Vec::new();
        protocol.steps(&state, &mut steps);
        let mut classes = Vec::new();
        for step in steps {
            let (mut next, mut violations) = (state.clone(), Vec::new());
            protocol.apply(&mut next, &step, &mut violations);
            found.note(&violations, depth + 1);
            if next == state {
                found.self_loops += 1;
                continue;
            }
            classes.push(protocol.class(&step));
            found.transitions += 1;
            *found.families.entry(protocol.family(&step)).or_default() += 1;
            if violations.iter().any(|violation| stop_at.is_some_and(|rung| violation.kind.severity() >= rung)) {
                found.cut += 1;
            } else if !depths.contains_key(&next) {
                depths.insert(next.clone(), depth + 1);
                queue.push_back(next);
            }
        }
        if !classes.contains(&StepClass::Progress) {
            let timers = classes.contains(&StepClass::Timer);
            let mut violations = Vec::new();
            protocol.quiet(&state, if timers { Quiet::TimersPending } else { Quiet::Final }, &mut violations);
            found.note(&violations, depth);
        }
    }
    found
}

/// The counts that are not zero.
pub(crate) fn by_family(families: &Families) -> BTreeMap<u8, u64> {
    (0..64).map(|family| (family, families.count(family))).filter(|&(_, count)| count > 0).collect()
}
