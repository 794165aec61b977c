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

/// The oldest write lands.
const LAND: Step = Step::Land { op: 0, piece: 0 };

/// One request is sent, and both servers have let it in: its pages at decode are reserved, prefill knows them.
const ADMITTED: [Step; 4] = [Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL];

/// As [`ADMITTED`], and a worker has posted the write of its pages.
const POSTED: [Step; 7] = [Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL, Step::Prefill, WORKER, WORKER];

/// As [`POSTED`] by the first of two prefill ranks; the second has its chunk queued.
const POSTED_BY_ONE_OF_TWO: [Step; 8] = [
    Step::Submit,
    Step::Prefill,
    Step::Decode,
    TO_PREFILL,
    Step::Deliver(Lane::ToPrefill { from: 0, to: 1 }),
    Step::Prefill,
    WORKER,
    WORKER,
];

/// Two prefill ranks write to one decode rank.
const FAN_IN: &str = "
prefill_pages = 1
decode_pages = 1
prefill_ranks = 2
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }]
";
