//! One file a model.

pub(crate) mod admission;
pub(crate) mod release;
pub(crate) mod scheduler;
pub(crate) mod transfer;

use pagefence::cell::{Lane, Step};

/// Decode rank 0 to prefill rank 0.
const TO_PREFILL: Step = Step::Deliver(Lane::ToPrefill { from: 0, to: 0 });
/// Prefill rank 0 to decode rank 0.
const TO_DECODE: Step = Step::Deliver(Lane::ToDecode { from: 0, to: 0 });
/// The worker of prefill rank 0.
const WORKER: Step = Step::Worker(0);

/// One request is sent, and both servers have let it in: its pages at decode are reserved, prefill knows them.
const ADMITTED: [Step; 4] = [Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL];
