//! Requests are interchangeable, and so are pages.

use super::state::PageState;
use crate::explore::fingerprint as hash;

/// The fingerprint of the state's class under all renamings of pages and requests.
///
/// Exact: for each order of the pages, everything about one request goes into one word, words are sorted (which is the
/// least renaming of requests), and the least list over all orders of pages names the class.
pub(super) fn fingerprint(state: &PageState, requests: u8, pages: u8) -> u64 {
    let mut order = [0, 1, 2, 3];
    let mut least = [u32::MAX; 9];
    permutations(&mut order, usize::from(pages), &mut |order| {
        let name = renamed(state, requests, pages, order);
        if name < least {
            least = name;
        }
    });
    hash(&least)
}

/// The state under one order of the pages (`order[page]` is its new number), requests sorted.
fn renamed(state: &PageState, requests: u8, pages: u8, order: &[u8; 4]) -> [u32; 9] {
    let mut name = [0; 9];
    for index in 0..requests {
        let request = state.request(index);
        let page = if request.holds_one() { order[usize::from(request.page)] } else { 0 };
        let mut word = (request.phase as u32) << 4 | u32::from(request.attempt) << 2 | u32::from(page);
        for page in 0..pages {
            let renamed = order[usize::from(page)];
            word |= u32::from(state.is_written_by(index, page)) << (8 + renamed);
            word |= u32::from(state.has_stray(index, page)) << (12 + renamed);
        }
        name[usize::from(index)] = word;
    }
    name[..usize::from(requests)].sort_unstable();
    for page in (0..pages).filter(|&page| state.is_forgotten(page)) {
        name[8] |= 1 << order[usize::from(page)];
    }
    name
}

/// Calls `visit` with every permutation of the first `len` elements (Heap's algorithm).
fn permutations(order: &mut [u8; 4], len: usize, visit: &mut impl FnMut(&[u8; 4])) {
    if len <= 1 {
        visit(order);
        return;
    }
    for i in 0..len {
        permutations(order, len - 1, visit);
        order.swap(if len.is_multiple_of(2) { i } else { 0 }, len - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_permutations_once() {
        for (len, count) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
            let (mut all, mut calls) = (HashSet::new(), 0);
            permutations(&mut [0, 1, 2, 3], len, &mut |order| {
                all.insert(*order);
                calls += 1;
            });
            assert_eq!((all.len(), calls), (count, count));
        }
    }
}
