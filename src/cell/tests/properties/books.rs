//! Conservation: every slot of every pool is free or held, once, and the oracle agrees who holds it.

use super::walk::{any_scope, any_switches, configs, walk};
use crate::cell::pool::Pool;
use crate::cell::{Config, decode_node, place, prefill_node};
use crate::explore::{Random, Serving, ServingState};
use crate::lifetime::{Arena, Life, Place, Slots, Span};

/// What requests hold of one pool: whose, and which slots.
type Held<'a> = Vec<(u8, &'a Slots)>;

fn check_pool(pool: &Pool, place: Place, size: u32, held: &Held<'_>, state: &ServingState) {
    let mut all: Vec<(Span, Option<Life>)> = pool.free().runs.iter().map(|run| (*run, None)).collect();
    for (request, slots) in held {
        assert_eq!(slots.place, place);
        all.extend(slots.runs.iter().map(|run| (*run, Some(Config::life(*request)))));
    }
    all.sort_unstable_by_key(|(run, _)| run.start);
    let mut next = 0;
    for (run, owner) in &all {
        assert_eq!(run.start, next, "{place:?}: slots are missing or held twice: {all:?}");
        next = run.end();
        for slot in [run.start, run.end() - 1] {
            assert_eq!(state.oracle.owner(place, slot), *owner, "{place:?}, slot {slot}");
        }
    }
    assert_eq!(next, size, "{place:?}: slots are missing: {all:?}");
    let free: u32 = pool.free().runs.iter().map(|run| run.len).sum();
    assert_eq!(pool.available(), free);
}

fn check(config: &Config, state: &ServingState) {
    let scope = &config.scope;
    let (prefill, decode) = (&state.cell.prefill, &state.cell.decode);
    for rank in 0..usize::from(scope.prefill_ranks) {
        let of = |arena| place(prefill_node(rank as u8), arena);
        let held = || prefill.requests().iter().map(move |entry| (entry.request, &entry.ranks[rank]));
        let pages = held().filter_map(|(request, rank)| Some((request, rank.pages.as_ref()?))).collect();
        let rows = held().filter_map(|(request, rank)| Some((request, rank.row.as_ref()?))).collect();
        check_pool(&prefill.pools[rank], of(Arena::KvPage), scope.prefill_pages, &pages, state);
        check_pool(&prefill.rows[rank], of(Arena::MetadataRow), scope.metadata_rows, &rows, state);
    }
    for rank in 0..usize::from(scope.decode_ranks) {
        let of = |arena| place(decode_node(rank as u8), arena);
        let held = || decode.requests().iter().map(move |entry| (entry.request, &entry.ranks[rank]));
        let pages = held().filter_map(|(request, rank)| Some((request, rank.pages.as_ref()?))).collect();
        let rows = held().filter_map(|(request, rank)| Some((request, rank.row.as_ref()?))).collect();
        check_pool(&decode.pools[rank], of(Arena::KvPage), scope.decode_pages, &pages, state);
        check_pool(&decode.rows[rank], of(Arena::MetadataRow), scope.metadata_rows, &rows, state);
    }
}

#[test]
fn every_slot_is_free_or_held_once_in_shipped_scopes() {
    for config in configs(6) {
        let serving = Serving::new(config);
        for seed in 0..12 {
            let end = walk(&serving, seed, 80, |state, _, _| check(serving.config(), state));
            check(serving.config(), &end);
        }
    }
}

#[test]
fn every_slot_is_free_or_held_once_in_any_scope() {
    let mut random = Random::new(12, 0);
    for seed in 0..2000 {
        let config = Config { scope: any_scope(&mut random), switches: any_switches(&mut random) };
        let serving = Serving::new(config);
        walk(&serving, seed, 80, |state, _, _| check(serving.config(), state));
    }
}
