//! What the explorers need to know of a protocol.

use super::fingerprint::fingerprint;
use crate::lifetime::Violation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;

/// When a step may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepClass {
    /// Work that a fair scheduler does sooner or later: drain takes it.
    Progress,
    /// Time passes. Fair too, but in drain only when no progress is left.
    Timer,
    /// A client sends a request: never in drain.
    Client,
    /// Something goes wrong (an abort, a lost message, a dead process): never in drain.
    Fault,
}

/// How quiet a state is that [`Protocol::quiet`] is asked to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quiet {
    /// No progress is left, but a timer may still fire: what a timer would clean up has not leaked.
    TimersPending,
    /// Neither progress nor a timer is left: what is not free has leaked, what has not ended is stuck.
    Final,
}

/// A protocol as a state machine whose every source of choice is a step.
///
/// `steps` and `apply` must be functions of the state alone: explorers rebuild states by taking the same steps again,
/// and name a step by its position in `steps`. A state may enable at most 65,536 steps.
///
/// An enabled step that leaves the state equal to what it was (a poll that finds nothing) is allowed. It counts as a
/// self-loop, neither as a transition nor as progress: a state in which only such steps are left is quiet.
pub trait Protocol: Sync {
    /// Everything that the future depends on, the oracle's memory included.
    ///
    /// Explorers copy with `clone_from` into buffers that they keep. A derived `Clone` allocates anew there; a state
    /// that owns heap memory gains from a `clone_from` by hand.
    type State: Clone + Eq + Hash + Send;
    /// One atomic step of one participant.
    type Step: Clone + Eq + Debug + Send + Sync + Serialize + DeserializeOwned;

    /// Where every script starts.
    fn initial(&self) -> Self::State;

    /// Appends the enabled steps, in an order that depends on the state alone.
    fn steps(&self, state: &Self::State, out: &mut Vec<Self::Step>);

    /// Takes a step and appends what it violates. A step that is not enabled leaves the state as it is, and violates
    /// nothing: scripts are cut and mixed at will.
    fn apply(&self, state: &mut Self::State, step: &Self::Step, out: &mut Vec<Violation>);

    /// As [`apply`](Self::apply), for a step that `steps` has named in this very state, so that it need not be looked
    /// at again.
    fn advance(&self, state: &mut Self::State, step: &Self::Step, out: &mut Vec<Violation>) {
        self.apply(state, step, out);
    }

    /// When the step may be taken.
    fn class(&self, step: &Self::Step) -> StepClass;

    /// The kind of the step, below 64: what coverage counts and what random weights are given to.
    fn family(&self, step: &Self::Step) -> u8;

    /// Judges a state at rest: leaks and stuck requests.
    fn quiet(&self, state: &Self::State, quiet: Quiet, out: &mut Vec<Violation>);

    /// A 64-bit name of the state, the same in every run and on every little-endian machine.
    ///
    /// With `symmetry`, states that differ only in a renaming of interchangeable parts (pages, requests) should share
    /// one; the default knows no symmetry and ignores the flag. Two states that share a fingerprint by chance are
    /// taken for one, see [`fingerprint`] for the odds.
    fn fingerprint(&self, state: &Self::State, symmetry: bool) -> u64 {
        let _ = symmetry;
        fingerprint(state)
    }

    /// About how many bytes the state occupies, heap included: what a memory limit counts for the frontier.
    fn weight(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }
}
