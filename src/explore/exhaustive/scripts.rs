//! From numbers of states back to scripts.

use super::level::Sight;
use crate::explore::found::Found;
use crate::explore::protocol::Protocol;
use crate::explore::tally::Entry;

/// The tree of first visits.
pub(super) struct Scripts<'a, P: Protocol> {
    pub(super) protocol: &'a P,
    pub(super) parents: &'a [u32],
    pub(super) steps: &'a [u16],
}

impl<P: Protocol> Scripts<'_, P> {
    /// A finding with its script: the path to the state, and the step that violates unless the state itself does.
    pub(super) fn found(&self, entry: Entry<Sight>) -> Found<P::Step> {
        let Sight { parent, step } = entry.witness;
        let mut path: Vec<u16> = step.into_iter().collect();
        let mut at = parent;
        // The initial state is number 0 and has no parent.
        while at != 0 {
            path.push(self.steps[at as usize]);
            at = self.parents[at as usize];
        }
        path.reverse();
        Found {
            signature: entry.signature,
            violation: entry.violation,
            steps: self.walk(&path),
            at_rest: step.is_none(),
            count: entry.count,
            walk: None,
        }
    }

    /// Takes the steps at these positions from the initial state.
    fn walk(&self, path: &[u16]) -> Vec<P::Step> {
        let mut state = self.protocol.initial();
        let mut enabled = Vec::new();
        path.iter()
            .map(|&position| {
                enabled.clear();
                self.protocol.steps(&state, &mut enabled);
                let step = enabled.swap_remove(usize::from(position));
                self.protocol.advance(&mut state, &step, &mut Vec::new());
                step
            })
            .collect()
    }
}
