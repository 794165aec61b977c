//! What the memory behind the slots sees: every access that the oracle hears, and what devices move, slot by slot.

use super::kit::{Deaf, HANDSHAKE, TO_DECODE, WORKER, land, newest, scope};
use crate::cell::{Cell, Config, Step, decode_node, place, prefill_node};
use crate::lifetime::{Arena, Span};
use crate::platform::{Local, LocalCell, Memory, NoLock, Platform, State};
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// A platform whose memory keeps what was done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Watching;

impl Platform for Watching {
    type Cell<T: State> = LocalCell<T>;
    type Lock = NoLock;
    type Memory = Diary;
}

/// Slots that the memory has, and what was done: `w` or `r`, first slot, number of slots.
#[derive(Debug)]
struct Diary(u32, Mutex<Vec<(char, u32, u32)>>);

impl Diary {
    fn note(&self, what: char, slots: Span) {
        self.1.lock().unwrap().push((what, slots.start, slots.len));
    }

    fn read_out(&self) -> Vec<(char, u32, u32)> {
        std::mem::take(&mut *self.1.lock().unwrap())
    }
}

impl Memory for Diary {
    fn new(slots: u32) -> Self {
        Self(slots, Mutex::default())
    }

    fn write(&self, slots: Span) {
        self.note('w', slots);
    }

    fn read(&self, slots: Span) {
        self.note('r', slots);
    }
}

impl Clone for Diary {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl PartialEq for Diary {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Diary {}

impl Hash for Diary {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

#[test]
fn forwards_landings_commits_and_steps_reach_their_slots() {
    // Two tokens a page: three tokens are two pages, and the last one is half full.
    let config = Config { switches: newest(), scope: scope("slices = 2\nrequests = [{ prompt = 3, max_new = 2 }]") };
    let mut cell = Cell::<Watching>::new(&config.scope);
    let take = |cell: &mut Cell<Watching>, steps: &[Step]| {
        for step in steps {
            assert!(cell.take(*step, &config, &mut Deaf), "{step} is not enabled");
        }
        let arenas = |node| [place(node, Arena::KvPage), place(node, Arena::MetadataRow)];
        let [[pages, rows], [there, rows_there]] = [arenas(prefill_node(0)), arenas(decode_node(0))];
        [pages, rows, there, rows_there].map(|place| cell.world.memory(place).read_out())
    };
    assert_eq!(take(&mut cell, &HANDSHAKE), [vec![], vec![], vec![], vec![]]);
    let [pages, row, ..] = take(&mut cell, &[Step::Prefill]);
    assert_eq!((pages, row), (vec![('w', 0, 2)], vec![('w', 0, 1)]), "the forward fills pages, and the row");
    assert_eq!(take(&mut cell, &[WORKER, WORKER]), [vec![], vec![], vec![], vec![]], "a post moves nothing");
    let one = |what| vec![(what, 1, 1)];
    let moved = take(&mut cell, &[Step::Land { op: 0, piece: 1 }]);
    assert_eq!(moved, [one('r'), vec![], one('w'), vec![]], "the second page");
    let zero = |what| vec![(what, 0, 1)];
    assert_eq!(take(&mut cell, &[land(0)]), [zero('r'), vec![], zero('w'), vec![]], "the first page");
    let moved = take(&mut cell, &[WORKER, land(0)]);
    assert_eq!(moved, [vec![], zero('r'), vec![], zero('w')], "the row");
    let [.., pages, row] = take(&mut cell, &[WORKER, TO_DECODE, Step::Decode]);
    assert_eq!(row, zero('r'), "the commit reads the row");
    let reads: Vec<_> = pages.into_iter().filter(|access| access.0 == 'r').collect();
    assert_eq!(reads, [('r', 0, 2)], "the first decode step attends to three tokens in two pages");
}

#[test]
fn each_arena_has_a_memory_of_its_own_size() {
    let scope = scope("prefill_pages = 4\ndecode_pages = 5\nmetadata_rows = 3");
    let world = Cell::<Watching>::new(&scope).world;
    let slots = |node, arena| world.memory(place(node, arena)).0;
    assert_eq!([Arena::KvPage, Arena::MetadataRow].map(|arena| slots(prefill_node(0), arena)), [4, 3]);
    assert_eq!([Arena::KvPage, Arena::MetadataRow].map(|arena| slots(decode_node(0), arena)), [5, 3]);
}

#[test]
fn a_world_on_another_platform_has_the_same_contents() {
    let config = Config { switches: newest(), scope: scope("prefill_ranks = 2\ndecode_ranks = 2") };
    let mut cell = Cell::<Local>::new(&config.scope);
    for step in [Step::Submit, Step::Prefill, Step::Decode] {
        assert!(cell.take(step, &config, &mut Deaf));
    }
    let there = cell.world.rehosted::<Watching>(&config.scope);
    assert!(there.rehosted::<Local>(&config.scope) == cell.world);
}
