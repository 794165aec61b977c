//! How a chunk is cut: into batches, batches into sibling writes, writes into pieces.

use super::kit::{Bench, HANDSHAKE, WORKER, land, newest, plus, scope};
use crate::cell::{Fabric, Payload, RoomKey, Step, Switch, Switches, Told, Transfer};
use crate::lifetime::{Arena, Node, OpId, Place, Slots, Span, Spans};
use proptest::prelude::*;

/// A write of `pages` pages.
fn write(pages: u32, cells: u32, slices: u8) -> Transfer {
    let slots = |node| Slots {
        place: Place { node: Node(node), arena: Arena::KvPage },
        runs: Spans::from_slice(&[Span::new(0, pages)]),
    };
    Transfer {
        op: OpId(0),
        key: RoomKey::new(1, 0, Switches::default()),
        request: 0,
        from: 0,
        to: 0,
        payload: Payload::Kv,
        source: slots(0),
        target: slots(16),
        cells,
        slices,
        landed: 0,
        landing: 0,
        told: Told::Nothing,
        abandoned: false,
        attempt: 0,
    }
}

/// Page by page: which piece a page belongs to.
fn naive_piece_of(page: u32, pages: u32, slices: u32) -> u32 {
    (0..slices).find(|piece| page < pages * (piece + 1) / slices).expect("the last piece ends at the last page")
}

proptest! {
    #[test]
    fn pieces_cover_every_cell_exactly_once(
        (pages, slices) in (1_u32..40).prop_flat_map(|pages| (Just(pages), 1..=pages.min(8))),
        width in 1_u32..5,
        short in 0_u32..5,
    ) {
        let cells = pages * width - short.min(width - 1);
        let write = write(pages, cells, slices as u8);
        let mut owner = vec![None; cells as usize];
        for piece in 0..slices {
            let span = write.piece(piece as u8, width);
            prop_assert!(span.len > 0, "piece {piece} is empty");
            for cell in span.start..span.end() {
                prop_assert_eq!(owner[cell as usize].replace(piece), None, "cell {} lands twice", cell);
            }
        }
        for (cell, piece) in owner.into_iter().enumerate() {
            prop_assert_eq!(piece, Some(naive_piece_of(cell as u32 / width, pages, slices)));
        }
    }
}

#[test]
fn pieces_are_whole_pages_and_as_even_as_they_come() {
    let write = write(5, 9, 3);
    let pieces = [0, 1, 2].map(|piece| write.piece(piece, 2));
    assert_eq!(pieces, [Span::new(0, 2), Span::new(2, 4), Span::new(6, 3)]);
}

#[test]
fn a_write_of_the_largest_pool_has_pieces() {
    let pages = 1 << 28;
    let write = write(pages, pages, 8);
    assert_eq!(write.piece(7, 1), Span::new(7 << 25, 1 << 25));
}

#[test]
fn a_piece_is_untouched_until_a_card_begins_to_land_it() {
    let mut write = write(3, 3, 3);
    (write.landing, write.landed) = (0b110, 0b100);
    assert_eq!([0, 1, 2].map(|piece| write.untouched(piece)), [true, false, false]);
}

#[test]
fn a_room_is_unsettled_while_one_of_its_own_writes_is_live() {
    let mut fabric = Fabric::default();
    let (own, other) = (RoomKey::new(1, 0, Switches::default()), RoomKey::new(2, 0, Switches::default()));
    fabric.post(write(1, 1, 1));
    assert!(fabric.unsettled(0, own));
    assert!(!fabric.unsettled(1, own) && !fabric.unsettled(0, other));
    if let Some(write) = fabric.get_mut(OpId(0)) {
        write.landed = 1;
    }
    assert!(!fabric.unsettled(0, own));
}

const SIX_PAGES: &str = "prefill_pages = 7\ndecode_pages = 7\nrequests = [{ prompt = 11, max_new = 1 }]";

fn sent(switches: Switches, more: &str) -> Bench {
    let mut bench = Bench::new(switches, scope(&format!("{SIX_PAGES}\n{more}")));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    bench
}

#[test]
fn siblings_share_a_batch_evenly() {
    let bench = sent(newest(), "siblings = 4");
    let expected = [(0, vec![(0, 1)], 2), (1, vec![(1, 2)], 4), (2, vec![(3, 1)], 2), (3, vec![(4, 2)], 3)];
    assert_eq!(bench.writes(), expected);
}

#[test]
fn a_worker_goes_on_when_every_sibling_has_landed() {
    let mut bench = sent(newest(), "siblings = 2");
    bench.take([land(1)]);
    assert!(!bench.enabled(WORKER));
    bench.take([land(0)]);
    assert!(bench.enabled(WORKER));
}

#[test]
fn pieces_land_in_any_order_and_the_last_one_settles_the_write() {
    let mut bench = sent(newest(), "slices = 3");
    bench.take([Step::Land { op: 0, piece: 2 }]);
    assert_eq!(bench.lines(), ["Land: 0 lands 8..11"]);
    assert!(!bench.enabled(Step::Land { op: 0, piece: 2 }) && !bench.enabled(WORKER));
    bench.take([Step::Land { op: 0, piece: 0 }, Step::Land { op: 0, piece: 1 }]);
    assert_eq!(bench.lines(), ["Land: 0 lands 0..4", "Land: 0 lands 4..8", "Settled: 0 settles"]);
    assert!(bench.enabled(WORKER));
}

#[test]
fn a_batch_bound_splits_a_chunk_and_is_off_without_its_switch() {
    let mut bench = sent(plus(newest(), Switch::BatchBound), "batch_pages = 4");
    assert_eq!(bench.writes(), [(0, vec![(0, 4)], 8)]);
    bench.take([land(0), WORKER]);
    assert_eq!(bench.writes(), [(0, vec![(4, 2)], 3)]);
    let bench = sent(newest(), "batch_pages = 4");
    assert_eq!(bench.writes(), [(0, vec![(0, 6)], 11)]);
}

#[test]
fn a_batch_of_fewer_pages_than_siblings_or_slices_is_cut_less() {
    let one = "siblings = 4\nslices = 8\nrequests = [{ prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(one));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    assert_eq!(bench.writes(), [(0, vec![(0, 1)], 2)]);
    assert!(!bench.enabled(Step::Land { op: 0, piece: 1 }));
}
