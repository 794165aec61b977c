//! Bootstrap rooms: the key of everything that two servers share about a request, and its status.

use super::switch::{Switch, Switches};
use crate::few::{Few, clone_by_field};
use crate::platform::Shared;

/// The key of the shared tables: a bootstrap room and, with [`Switch::MessageEpoch`], which use of it.
///
/// Without that switch the epoch is zero and a reused room is the same key, as in the engine (protocol 1.1: there is no
/// room generation in the tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomKey(u16);

impl RoomKey {
    /// The key of `room` for the request `request`.
    #[must_use]
    pub fn new(room: u16, request: u8, switches: Switches) -> Self {
        let epoch = if switches.on(Switch::MessageEpoch) { u16::from(request) + 1 } else { 0 };
        Self(room << 8 | epoch)
    }

    /// The room number, as it stands in a metadata row.
    #[must_use]
    pub const fn room(self) -> u16 {
        self.0 >> 8
    }
}

/// `KVPoll`. The order is load-bearing: ranks agree by the minimum, so one rank's `Failed` fails all (protocol 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Poll {
    /// The transfer has failed.
    Failed,
    /// The sender or receiver exists.
    Bootstrapping,
    /// Both sides know where the pages are.
    WaitingForInput,
    /// Data is on its way.
    Transferring,
    /// Everything has been sent.
    Success,
}

/// A small map by room.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Table<V>(Few<(RoomKey, V), 2>);

clone_by_field!(Table <V: Clone> { 0 });

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self(Few::new())
    }
}

impl<V> Table<V> {
    fn find(&self, key: RoomKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |entry| entry.0)
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: RoomKey) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// The value of `key`, to change.
    pub fn get_mut(&mut self, key: RoomKey) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    /// The value of `key`, made from the default where there is none.
    pub fn entry(&mut self, key: RoomKey) -> &mut V
    where
        V: Default,
    {
        let at = self.find(key).unwrap_or_else(|at| {
            self.0.insert(at, (key, V::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Sets the value of `key`.
    pub fn set(&mut self, key: RoomKey, value: V) {
        match self.find(key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Takes the value of `key` out.
    pub fn remove(&mut self, key: RoomKey) -> Option<V> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// Every key, in order.
    pub fn keys(&self) -> impl Iterator<Item = RoomKey> {
        self.0.iter().map(|entry| entry.0)
    }
}

/// `request_status`: room to status. A plain dictionary without a lock in the engine (protocol 1.1, 4).
pub type RoomTable = Table<Poll>;

/// `update_status` (protocol 1.1): reads the room's status, and writes what follows from it. Two accesses, since the
/// engine has no lock over them. Returns whether the room was created by this call.
pub fn update_status(rooms: &impl Shared<RoomTable>, key: RoomKey, status: Poll, switches: Switches) -> bool {
    let current = rooms.with(|rooms| rooms.get(key).copied());
    if let Some(next) = next_status(current, status, switches) {
        rooms.with(|rooms| rooms.set(key, next));
    }
    current.is_none() && creates(status)
}

/// Whether `status` makes a room that is not there.
const fn creates(status: Poll) -> bool {
    matches!(status, Poll::Bootstrapping | Poll::WaitingForInput)
}

/// What a room's status becomes when it is `current` and told `status`; `None`: the telling is ignored.
fn next_status(current: Option<Poll>, status: Poll, switches: Switches) -> Option<Poll> {
    match (current, status) {
        (None, _) => (creates(status) || !switches.on(Switch::NoResurrection)).then_some(status),
        (Some(_), Poll::Failed) => Some(Poll::Failed),
        (Some(Poll::Failed), _) if switches.on(Switch::StickyFailed) => None,
        (Some(current), status) => Some(current.max(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::LocalCell;

    const NONE: Switches = Switches::of(&[]);

    fn key(room: u16) -> RoomKey {
        RoomKey::new(room, 0, NONE)
    }

    #[test]
    fn a_failure_overwrites_even_success() {
        assert_eq!(next_status(Some(Poll::Success), Poll::Failed, NONE), Some(Poll::Failed));
    }

    #[test]
    fn success_after_failure_wins_unless_failed_is_sticky() {
        assert_eq!(next_status(Some(Poll::Failed), Poll::Success, NONE), Some(Poll::Success));
        let sticky = Switches::of(&[Switch::StickyFailed]);
        assert_eq!(next_status(Some(Poll::Failed), Poll::Success, sticky), None);
    }

    #[test]
    fn a_status_never_goes_back() {
        assert_eq!(next_status(Some(Poll::Success), Poll::WaitingForInput, NONE), Some(Poll::Success));
    }

    #[test]
    fn a_cleared_room_comes_back_only_without_the_protection() {
        assert_eq!(next_status(None, Poll::Success, Switches::of(&[Switch::NoResurrection])), None);
        assert_eq!(next_status(None, Poll::Success, NONE), Some(Poll::Success));
    }

    #[test]
    fn a_handshake_creates_a_room_before_its_sender_exists() {
        let rooms: LocalCell<RoomTable> = Shared::new(RoomTable::default());
        assert!(update_status(&rooms, key(1), Poll::WaitingForInput, Switches::of(&[Switch::NoResurrection])));
        assert!(!update_status(&rooms, key(1), Poll::Bootstrapping, NONE));
        assert_eq!(rooms.with(|rooms| rooms.get(key(1)).copied()), Some(Poll::WaitingForInput));
    }

    #[test]
    fn an_epoch_makes_a_reused_room_another_key() {
        let epoch = Switches::of(&[Switch::MessageEpoch]);
        assert_eq!(RoomKey::new(7, 0, NONE), RoomKey::new(7, 1, NONE));
        assert_ne!(RoomKey::new(7, 0, epoch), RoomKey::new(7, 1, epoch));
        assert_eq!(RoomKey::new(7, 1, epoch).room(), 7);
    }
}
