//! The scheduler loops against the threads that write under them: overlapped results, who owns a batch's pages, metadata
//! rows that somebody else fills (protocol 2.2, 3.2, P8 to P12, D11, D15).

use super::{ADMITTED, LAND, POSTED, TO_DECODE, TO_PREFILL, WORKER};
use crate::model::{Model, Slice};
use pagefence::cell::Actor::{Abort, Connection, DecodeScheduler, DecodeThread, Fabric, PrefillScheduler, Worker};
use pagefence::cell::{Actor, Lane, Step};

const OVERLAP: &str = "
prefill_pages = 2
decode_pages = 3
chunk = 1
overlap = true
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 2, max_new = 1 }]
";

const ROW: &str = "
prefill_pages = 2
decode_pages = 2
metadata_rows = 1
aux_by_message = true
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }, { prompt = 1, max_new = 1 }]
";

const BATCH: &str = "
prefill_pages = 2
decode_pages = 3
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 2 }, { prompt = 1, max_new = 2 }]
";

/// Brings metadata to decode rank 0.
const METADATA: Actor = Connection(Lane::Aux { from: 0, to: 0 });

pub(crate) fn model() -> Model {
    let landed: Vec<Step> = [&POSTED[..], &[LAND]].concat();
    // Pages and metadata of a request are on their way to decode, or there.
    let sent = [Step::Submit, Step::Decode, TO_PREFILL, Step::Prefill, WORKER, WORKER, LAND, WORKER];
    Model {
        name: "scheduler",
        about: "the scheduler loops against the threads that write under them; overlapped results; who owns a batch's pages",
        slices: vec![
            Slice::new(
                "early-send",
                "a chunk is queued while the forward that fills it runs (P9, P10; S28)",
                OVERLAP,
                &ADMITTED,
                &[(PrefillScheduler, 3), (Worker(0), 3), (Fabric, 1)],
            ),
            Slice::new(
                "aborted-batch",
                "a client leaves while its forward runs and its first chunk is sent (P12; S20)",
                OVERLAP,
                &[&ADMITTED[..], &[Step::Prefill, Step::Prefill, Step::ForwardEnds]].concat(),
                &[(Abort(0), 1), (PrefillScheduler, 3), (Worker(0), 2), (Fabric, 1)],
            ),
            Slice::new(
                "row-meets-commit",
                "metadata comes as a message while decode looks at the row (D11, 5 AUX_DATA; S31, S32)",
                ROW,
                &[&landed[..], &[WORKER]].concat(),
                &[(DecodeThread(0), 2), (METADATA, 1), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "row-meets-next-owner",
                "metadata comes as a message while its row changes hands (D12, D13, 5 AUX_DATA; S31, M01, M02)",
                ROW,
                &[
                    &landed[..],
                    &[WORKER, Step::Abort(0), Step::Submit, Step::Decode, Step::Prefill, TO_PREFILL, TO_PREFILL],
                ]
                .concat(),
                &[(DecodeThread(0), 4), (METADATA, 2), (DecodeScheduler, 3)],
            ),
            Slice::new(
                "late-row-meets-commit",
                "metadata of a request that is done comes as a message while the row's next owner is committed (D11; S31)",
                ROW,
                &[&sent[..], &[TO_DECODE, Step::Decode], &sent].concat(),
                &[(DecodeThread(0), 4), (METADATA, 2), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "batch-meets-landing",
                "decode runs one request while the pages of another land (D14, D15)",
                BATCH,
                &[
                    &landed[..],
                    &[WORKER, LAND, WORKER, TO_DECODE, Step::Submit, Step::Prefill],
                    &[Step::Decode, TO_PREFILL, Step::Prefill, WORKER, WORKER],
                ]
                .concat(),
                &[(DecodeScheduler, 2), (Fabric, 1), (Worker(0), 1), (DecodeThread(0), 1)],
            ),
        ],
        wholes: ["overlap", "rows", "aux-message", "aux-rooms", "chunks"].map(Slice::whole).to_vec(),
        broken: Vec::new(),
    }
}
