//! One finding of a run.

use super::signature::Signature;
use crate::lifetime::Violation;
use serde::{Deserialize, Serialize};

/// A signature that a run met, with one script that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found<Step> {
    /// What makes it the same as other findings.
    pub signature: Signature,
    /// The violation as the script shows it.
    pub violation: Violation,
    /// The steps from the initial state. When `at_rest`, the violation is judged in the state that they lead to;
    /// otherwise the last of them is the step that violates.
    pub steps: Vec<Step>,
    /// Whether it was judged at rest (a leak, a stuck request) rather than in a step.
    pub at_rest: bool,
    /// How many times the run met the signature.
    pub count: u64,
    /// The random walk that found it, where one did.
    pub walk: Option<u64>,
}
