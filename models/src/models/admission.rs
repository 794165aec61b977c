//! Admission: the bootstrap and prealloc queues against rejection, abort, timeout, late and repeated handshakes, and rooms
//! that are made and used again (protocol 1.1, P0 to P7, D0 to D10).
//!
//! A room's status is read and written by schedulers, workers and listeners without a lock: `update_status` is a read
//! and a write, and a room that is cleared in between comes back.

use super::{FAN_IN, LAND, POSTED, POSTED_BY_ONE_OF_TWO, TO_PREFILL, WORKER};
use crate::model::{Model, Slice};
use pagefence::cell::Actor::{
    Abort, BootstrapThread, Clock, Connection, DecodeScheduler, DecodeThread, Heartbeat, PrefillScheduler, Worker,
};
use pagefence::cell::{Actor, Lane, Step};

const ONE: &str = "
prefill_pages = 2
decode_pages = 2
faults = { aborts = 1 }
timers = { bootstrap = 1, waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }]
";

const SHARED_ROOM: &str = "
prefill_pages = 2
decode_pages = 2
faults = { aborts = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1, room = 7 }, { prompt = 1, max_new = 2, room = 7 }]
";

const REFUSED: &str = "
prefill_pages = 2
decode_pages = 2
timers = { bootstrap = 1, waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 2, max_new = 1, rejected = { by = \"input-length\", legs = \"prefill\" } }]
";

const FAN_OUT: &str = "
prefill_pages = 1
decode_pages = 1
decode_ranks = 2
timers = { waiting = 1, release = 1 }
requests = [{ prompt = 1, max_new = 1 }]
";

const QUARANTINE: &str = "
prefill_pages = 1
decode_pages = 1
faults = { kills = 1 }
timers = { waiting = 1, release = 1, prealloc = 1 }
requests = [{ prompt = 1, max_new = 1 }, { prompt = 1, max_new = 1 }]
";

/// Brings what decode rank 1 says.
const SECOND_RANK: Actor = Connection(Lane::ToPrefill { from: 1, to: 0 });

pub(crate) fn model() -> Model {
    let transferred: Vec<Step> = [&POSTED[..], &[LAND, WORKER, LAND]].concat();
    Model {
        name: "admission",
        about: "bootstrap and prealloc queues against rejection, abort, timeout, handshakes, room creation and reuse",
        slices: vec![
            Slice::new(
                "handshake-meets-sender",
                "a room is made by the handshake and by the sender at once (1.1, P2, P3)",
                ONE,
                &[Step::Submit, Step::Decode],
                &[(BootstrapThread(0), 1), (PrefillScheduler, 2), (Worker(0), 2)],
            ),
            Slice::new(
                "abort-meets-sender",
                "ABORT comes in while its room is being made (P2, P21; model finding M06)",
                ONE,
                &[Step::Submit, Step::Decode, Step::Abort(0), Step::Decode],
                &[(BootstrapThread(0), 2), (PrefillScheduler, 2), (Worker(0), 2)],
            ),
            Slice::new(
                "abort-meets-late-handshake",
                "ABORT of one decode rank comes before the handshake of the other (P3, P21, D10; S38, M06)",
                FAN_OUT,
                &[Step::Submit, Step::Decode, TO_PREFILL, Step::Elapse, Step::Decode],
                &[(BootstrapThread(0), 3), (SECOND_RANK, 1), (PrefillScheduler, 2), (Worker(0), 2)],
            ),
            Slice::new(
                "late-abort-meets-sender",
                "decode gives up waiting and sends ABORT while prefill, which knows of none, makes the room (1.1, P2, P21, D10)",
                ONE,
                &[Step::Submit, Step::Decode, Step::Elapse, Step::Decode],
                &[(BootstrapThread(0), 2), (PrefillScheduler, 2), (Worker(0), 2)],
            ),
            Slice::new(
                "timeout-meets-handshake",
                "the bootstrap timer is due while the handshake comes in (P3, P22)",
                ONE,
                &[Step::Submit, Step::Prefill, Step::Decode],
                &[(Clock, 1), (PrefillScheduler, 2), (BootstrapThread(0), 1)],
            ),
            Slice::new(
                "death-meets-prealloc",
                "prefill has died and decode knows; a request waits for pages that nobody will give back (3.4, protocol 10; S13)",
                QUARANTINE,
                &[Step::Submit, Step::Submit, Step::KillPrefill, Step::Heartbeat],
                &[(DecodeThread(0), 1), (DecodeScheduler, 3), (Clock, 2)],
            ),
            Slice::new(
                "success-meets-abort",
                "the status Success comes in while the client leaves (1.1, D9, D10; S36, S38)",
                ONE,
                &[&transferred[..], &[WORKER]].concat(),
                &[(DecodeThread(0), 1), (Abort(0), 1), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "abort-meets-conclusion",
                "the worker concludes a room as Success while prefill's own abort fails it (1.1, P14; S36, S38)",
                ONE,
                &[&transferred[..], &[Step::Abort(0)]].concat(),
                &[(Worker(0), 1), (PrefillScheduler, 2), (DecodeThread(0), 2)],
            ),
            Slice::new(
                "heartbeat-meets-success",
                "the heartbeat gives prefill up while the status Success comes in (3.4, D9)",
                ONE,
                &[&transferred[..], &[WORKER]].concat(),
                &[(Heartbeat, 1), (DecodeThread(0), 1), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "two-statuses",
                "the statuses of two prefill ranks come in, one of them after the client has left (D9, 1.1)",
                FAN_IN,
                &[&POSTED_BY_ONE_OF_TWO[..], &[LAND, WORKER, LAND, WORKER]].concat(),
                &[(DecodeThread(0), 2), (Worker(1), 3), (DecodeScheduler, 2)],
            ),
            Slice::new(
                "room-used-again",
                "a second request starts in a room while the first one's worker and listener are at it (1.1, P17; S39)",
                SHARED_ROOM,
                &[&POSTED[..], &[Step::Abort(0), Step::Decode, Step::Submit]].concat(),
                &[(PrefillScheduler, 2), (BootstrapThread(0), 2), (Worker(0), 2)],
            ),
            Slice::new(
                "rejection-meets-handshake",
                "prefill refuses a request while decode's handshake for it comes in (P0, P1, P3; S01)",
                REFUSED,
                &[Step::Submit, Step::Decode],
                &[(PrefillScheduler, 2), (BootstrapThread(0), 1), (DecodeThread(0), 1)],
            ),
        ],
        wholes: ["rooms", "rejection", "decode-rejection", "late-rejection", "planted", "timeouts", "pairs"]
            .map(Slice::whole)
            .to_vec(),
        broken: Vec::new(),
    }
}
