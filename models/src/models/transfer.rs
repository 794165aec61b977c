//! Transfer: workers that post batches of writes, slices that land in any order, errors with siblings live, a timeout with
//! the first attempt live, metadata after data, a completion that is seen before the bytes are (protocol P13 to P17,
//! 2.4; transfer semantics K.1, K.4).

use super::{POSTED, TO_DECODE, WORKER};
use crate::model::{Model, Slice};
use pagefence::cell::Actor::{
    BootstrapThread, Clock, DecodeScheduler, DecodeThread, Fabric, PrefillScheduler, SecondRail, TransferError,
    TransferTimeout, Worker,
};
use pagefence::cell::Step;

const SLICES: &str = "
prefill_pages = 2
decode_pages = 3
slices = 2
requests = [{ prompt = 2, max_new = 2 }]
";

const ACCEPTED: &str = "
prefill_pages = 2
decode_pages = 3
completion = \"accepted\"
requests = [{ prompt = 2, max_new = 2 }]
";

const SIBLINGS: &str = "
prefill_pages = 2
decode_pages = 2
siblings = 2
faults = { transfer_errors = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 2, max_new = 1 }]
";

const RETRY: &str = "
prefill_pages = 1
decode_pages = 2
retries = 1
faults = { transfer_timeouts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 2 }, { prompt = 1, max_new = 1 }]
";

const STALL: &str = "
prefill_pages = 1
decode_pages = 1
faults = { transfer_timeouts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }, { prompt = 1, max_new = 1 }]
";

pub(crate) fn model() -> Model {
    Model {
        name: "transfer",
        about: "batches of writes, slices in any order, errors and timeouts with writes live, metadata after data",
        slices: vec![
            Slice::new(
                "two-rails",
                "two network cards land the slices of a write while the worker polls (P13, P14; K.1)",
                SLICES,
                &POSTED,
                &[(Fabric, 2), (SecondRail, 2), (Worker(0), 3), (DecodeThread(0), 1)],
            ),
            Slice::new(
                "error-with-sibling",
                "one write of a batch fails while the other lands (2.4, P15; S27)",
                SIBLINGS,
                &POSTED,
                &[(TransferError, 1), (Fabric, 1), (Worker(0), 2), (PrefillScheduler, 2)],
            ),
            Slice::new(
                "timeout-with-first-attempt",
                "a write is tried again while the first attempt goes on (K.1; model finding M03)",
                RETRY,
                &POSTED,
                &[(TransferTimeout, 1), (Worker(0), 4), (SecondRail, 2), (DecodeThread(0), 1)],
            ),
            Slice::new(
                "timeout-with-release",
                "a write times out, prefill fails the room, decode releases, and the write lands (P15, D12, D13; S14)",
                STALL,
                &POSTED,
                &[(TransferTimeout, 1), (Worker(0), 1), (DecodeThread(0), 2), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "late-landing",
                "the release timer passes while the write still lands (6.2, section 10; S15)",
                STALL,
                &[&POSTED[..], &[Step::TransferTimeout(0), WORKER, TO_DECODE, Step::Decode, Step::Submit]].concat(),
                &[(Clock, 1), (DecodeScheduler, 2), (Fabric, 1), (BootstrapThread(0), 1)],
            ),
        ],
        wholes: ["retry", "siblings", "stall", "huge-batch"].map(Slice::whole).to_vec(),
        broken: vec![Slice::new(
            "completion-before-bytes",
            "the completion only says that the socket has taken the bytes, and the metadata lands first (K.1, TCP v1)",
            ACCEPTED,
            &POSTED,
            &[(SecondRail, 2), (Worker(0), 3), (DecodeThread(0), 1), (DecodeScheduler, 2)],
        )],
    }
}
