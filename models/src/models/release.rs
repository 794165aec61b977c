//! Deferred release: hold, ABORT, the outstanding counter, acknowledgement targets, poison, ABORT_ACK, the release timeout
//! (protocol 6.2), and the hold of source pages that no release has (public fault S20).
//!
//! What is under test is one sentence: *an acknowledgement means that no writer of this room is left*. The worker counts a
//! chunk and then looks at the room; the bootstrap thread fails the room and then looks at the counter (Dekker's
//! pattern, protocol section 4). Whoever comes second must see the other.

use super::{ADMITTED, FAN_IN, LAND, POSTED, POSTED_BY_ONE_OF_TWO, TO_DECODE, TO_PREFILL, WORKER};
use crate::model::{Model, Slice};
use pagefence::cell::Actor::{
    Abort, BootstrapThread, Clock, DecodeScheduler, DecodeThread, Fabric, PrefillScheduler, TransferError, Worker,
};
use pagefence::cell::Step;

const ONE: &str = "
prefill_pages = 2
decode_pages = 2
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }]
";

const TWO: &str = "
prefill_pages = 1
decode_pages = 1
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }, { prompt = 1, max_new = 1 }]
";

const ERROR: &str = "
prefill_pages = 2
decode_pages = 2
siblings = 2
slices = 1
faults = { transfer_errors = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 2, max_new = 1 }]
";

pub(crate) fn model() -> Model {
    // The chunk is queued, the client has gone, decode has told prefill.
    let aborted: Vec<Step> = [&ADMITTED[..], &[Step::Prefill, Step::Abort(0), Step::Decode]].concat();
    // As before, and the write is posted.
    let posted: Vec<Step> = [&POSTED[..], &[Step::Abort(0), Step::Decode]].concat();
    Model {
        name: "release",
        about: "hold, ABORT, outstanding counter, acknowledgement targets, poison, ABORT_ACK, release timeout, source hold",
        slices: vec![
            Slice::new(
                "abort-meets-worker",
                "the worker takes a chunk while ABORT comes in (6.2 prefill 1 and 2, P13, P16; S18, S23)",
                ONE,
                &aborted,
                &[(Worker(0), 3), (BootstrapThread(0), 1), (DecodeThread(0), 1)],
            ),
            Slice::new(
                "clear-meets-abort",
                "the scheduler clears a failed sender while ABORT and the worker still work for its room (P19; S16, S20)",
                ONE,
                &aborted,
                &[(PrefillScheduler, 2), (BootstrapThread(0), 1), (Worker(0), 2)],
            ),
            Slice::new(
                "success-meets-abort",
                "the last chunk completes and the sender is cleared while ABORT comes in (P14, P18, P21; S18)",
                ONE,
                &[&posted[..], &[LAND, WORKER, LAND]].concat(),
                &[(Worker(0), 1), (BootstrapThread(0), 1), (PrefillScheduler, 1), (DecodeThread(0), 2)],
            ),
            Slice::new(
                "release-meets-landing",
                "decode releases what an acknowledgement or a timer frees while the write lands (D12, D13; S14, S15)",
                TWO,
                &[&posted[..], &[Step::Submit]].concat(),
                &[(Fabric, 1), (BootstrapThread(0), 1), (DecodeScheduler, 2), (Clock, 1)],
            ),
            Slice::new(
                "source-meets-landing",
                "prefill gives source pages back, and computes over them, while the card reads them (P12, P19; S20)",
                TWO,
                &[&posted[..], &[Step::Submit, Step::Decode, TO_PREFILL]].concat(),
                &[(Fabric, 2), (PrefillScheduler, 3), (Worker(0), 1)],
            ),
            Slice::new(
                "acknowledgement-meets-acknowledgement",
                "two prefill ranks acknowledge while decode counts (6.2 decode 4)",
                FAN_IN,
                &[&POSTED_BY_ONE_OF_TWO[..], &[Step::Abort(0), Step::Decode]].concat(),
                &[(BootstrapThread(0), 1), (BootstrapThread(1), 1), (DecodeThread(0), 2), (DecodeScheduler, 1)],
            ),
            Slice::new(
                "error-meets-sibling",
                "a write fails while its sibling is still running, and decode is told (P15, 2.4, 6.2 prefill 3; S27)",
                ERROR,
                &POSTED,
                &[(TransferError, 1), (Worker(0), 1), (DecodeThread(0), 1), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "abort-meets-commit",
                "the client leaves while the handoff is committed (D11, D12)",
                ONE,
                &[&POSTED[..], &[LAND, WORKER, LAND, WORKER, TO_DECODE]].concat(),
                &[(Abort(0), 1), (DecodeScheduler, 2), (BootstrapThread(0), 1)],
            ),
        ],
        wholes: ["abort", "late-abort", "fan-in", "fan-out", "fan-out-slow", "loss", "quarantine"]
            .map(Slice::whole)
            .to_vec(),
        broken: Vec::new(),
    }
}
