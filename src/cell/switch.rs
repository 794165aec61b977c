//! Every behaviour that a version, a patch or a design changes: one switch each.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares [`Switch`] with the name and the description that users see.
macro_rules! switches {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// One behaviour of the engine that is on or off. The description names the source of the fact.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Switch { $($(#[doc = $doc])+ $variant,)+ }

        impl Switch {
            /// Every switch, in the order of the table that `pagefence profiles` prints.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in profile files and on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it does, in one paragraph.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

switches! {
    /// Both admission queues refuse a request that was rejected before it was admitted (#38935, 0.5.21; protocol P0, D0).
    Door = "door";
    /// Prefill retires an aborted result after the forward instead of sending it (#36988, 0.5.20; protocol P12).
    PrefillAbortAfterForward = "prefill_abort_after_forward";
    /// Decode tells prefill of an abort (#27372, 0.5.20; protocol 5, ABORT).
    AbortMessage = "abort_message";
    /// Decode arms the acknowledgement tracker before it sends ABORT (0.5.21; protocol 6.2).
    ArmedBeforeSend = "armed_before_send";
    /// Decode holds the pages of an aborted transfer until prefill acknowledges (#35049; on by default from 0.5.21).
    DeferByDefault = "defer_by_default";
    /// Failures that decode did not begin are notified and held too (0.5.21, `force_arm`; public fault S19).
    DeferAllFailures = "defer_all_failures";
    /// `sender.clear()` keeps the room's acknowledgement targets and tries to acknowledge (0.5.21; public fault S16).
    KeepAckTargetOnClear = "keep_ack_target_on_clear";
    /// ABORT and ABORT_ACK carry a generation; an acknowledgement of another generation is ignored (0.5.22).
    Generation = "generation";
    /// A room with an unsettled send never acknowledges (0.5.22; protocol 6.2, prefill 3).
    Poison = "poison";
    /// Ranks agree on holding (MAX) and on releasing (MIN) (0.5.23; protocol D12, D13).
    TpAgreement = "tp_agreement";
    /// A room that is Failed stays Failed (0.5.20; protocol 1.1; public fault S38).
    StickyFailed = "sticky_failed";
    /// A status for a room that was cleared does not create it again (0.5.20; protocol 1.1).
    NoResurrection = "no_resurrection";
    /// Decode waits until the metadata row names a room, and zeroes the row on free (#27374, 0.5.20; public fault S32).
    MetadataGate = "metadata_gate";
    /// The transfer worker waits for the forward that fills an early-sent prefix (Mooncake, 0.5.22; public fault S28).
    EarlySendWaits = "early_send_waits";
    /// One batch is bounded in pages (#32758, off by default in every release; public fault S25).
    BatchBound = "batch_bound";
    /// A prefill failure is told to every decode endpoint of the room, not only to the failing one (0.5.20).
    NotifyAllEndpoints = "notify_all_endpoints";
    /// Pages whose forward is still queued are sent early (0.5.20, on by default; protocol P9).
    EarlySend = "early_send";
    /// `abort()` reaches the shared status table, not only the caller's latch (#24522; taken as in from 0.5.20; S36).
    AbortReachesTable = "abort_reaches_table";
    /// An error waits for the sibling writes that are still running (comes with deferred release; protocol 2.4; S27).
    JoinSiblings = "join_siblings";
    /// A room that starts again loses the acknowledgement targets, poison and counter of its last use (0.5.22).
    RoomReset = "room_reset";
    /// Decode compares the metadata row's room with its own (#17430, all releases here; public fault S31).
    MetadataRoomCheck = "metadata_room_check";
    /// Acknowledgements are a set of ranks, so that a repeated one counts once (0.5.20; protocol 6.2).
    AckSet = "ack_set";
    /// A worker that skips a dead room's chunk tries to acknowledge (MC:2562, taken as in from 0.5.20; S23).
    SkipAcks = "skip_acks";
    /// ABORT for a room that is gone but has a chunk outstanding is acknowledged later (0.5.21; public fault S18).
    RegisterWhenCleared = "register_when_cleared";
    /// Freed pages are used again last (first in, first out); off: first (public fault S26).
    FifoReuse = "fifo_reuse";
    /// Decode refuses a handoff that covers another length than it reserved (#38704, open; in no release).
    LengthCheck = "length_check";
    /// Prefill keeps source pages and rows until its workers have drained (#38961, open; public fault S20).
    SourceHold = "source_hold";
    /// The release timeout warns and asks again; it never permits reuse (#38961; in no release).
    TimeoutHolds = "timeout_holds";
    /// Poison ends, with an acknowledgement, when the send is proven settled (#38961; in no release).
    PoisonRecovers = "poison_recovers";
    /// The first terminal reason of a request is what its client is told (#33507; in no release).
    StickyReason = "sticky_reason";
    /// Each side tells the other of every refusal, abort and timeout, early ones by tombstone (#30551; in no release).
    NotifyPeer = "notify_peer";
    /// Waiting for decode pages is bounded (public fault S13; in no release).
    PreallocTimeout = "prealloc_timeout";
    /// Tables, chunks and messages are keyed by room and epoch, so that a reused room is a new one (S39; in no release).
    MessageEpoch = "message_epoch";
    /// A transfer is tried again only once the first attempt has settled (transfer semantics K.1; in no release).
    RetryAfterSettle = "retry_after_settle";
    /// Metadata that comes as a message is checked against the row's present owner (protocol 5, AUX_DATA; in no release).
    AuxValidated = "aux_validated";
    /// A sender that is cleared takes the transfer infos of its room along (0.5.20, seen in conformance; protocol 1.1).
    ClearForgetsInfos = "clear_forgets_infos";
    /// The waiting queue of prefill is polled before a batch is made of it (0.5.20, seen in conformance; protocol P7).
    WaitingPolled = "waiting_polled";
    /// A worker counts a chunk, looks at its room, and skips the chunk of one that is Failed or gone (0.5.20, seen in
    /// conformance; protocol P13, P16). Off: it posts whatever it takes.
    WorkerChecksRoom = "worker_checks_room";
    /// The prealloc queue of decode is polled in every iteration (0.5.20, seen in conformance; protocol D5). Off: not once every
    /// request in it has its handshake, so that one that is aborted while it waits for pages is given them first.
    PreallocPolled = "prealloc_polled";
    /// What a thread does to a room's tables in one go is one access, under a lock (protocol 4; in no release).
    LockedTables = "locked_tables";
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no switch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown switch `{name}`; did you mean `{nearest}`?")]
pub struct UnknownSwitch {
    /// What was asked for.
    pub name: String,
    /// The nearest valid name.
    pub nearest: &'static str,
}

impl FromStr for Switch {
    type Err = UnknownSwitch;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|switch| switch.name() == name).ok_or_else(|| UnknownSwitch {
            name: name.to_owned(),
            nearest: super::nearest::nearest(name, Self::ALL.iter().map(|switch| switch.name())).unwrap_or_default(),
        })
    }
}

/// A set of switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "std::collections::BTreeMap<String, bool>", try_from = "std::collections::BTreeMap<String, bool>")]
pub struct Switches(u64);

impl Switches {
    /// The set of `switches`.
    #[must_use]
    pub const fn of(switches: &[Switch]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < switches.len() {
            bits |= 1 << switches[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    /// This set and `switches`.
    #[must_use]
    pub const fn and(self, switches: &[Switch]) -> Self {
        Self(self.0 | Self::of(switches).0)
    }

    /// Whether `switch` is on.
    #[must_use]
    pub const fn on(self, switch: Switch) -> bool {
        self.0 & (1 << switch as u8) != 0
    }

    /// This set with `switch` turned `on` or off.
    #[must_use]
    pub const fn with(self, switch: Switch, on: bool) -> Self {
        let bit = 1 << switch as u8;
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }

    /// The switches that are on, in table order.
    pub fn iter(self) -> impl Iterator<Item = Switch> {
        Switch::ALL.iter().copied().filter(move |switch| self.on(*switch))
    }

    /// How many switches are on in one of the two sets alone.
    #[must_use]
    pub const fn differing(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

impl From<Switches> for std::collections::BTreeMap<String, bool> {
    fn from(switches: Switches) -> Self {
        Switch::ALL.iter().map(|switch| (switch.name().to_owned(), switches.on(*switch))).collect()
    }
}

impl TryFrom<std::collections::BTreeMap<String, bool>> for Switches {
    type Error = UnknownSwitch;

    fn try_from(map: std::collections::BTreeMap<String, bool>) -> Result<Self, Self::Error> {
        map.iter().try_fold(Self::default(), |set, (name, on)| Ok(set.with(name.parse()?, *on)))
    }
}
