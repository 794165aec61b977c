//! One node's KV pool: addresses, owners, and what its free list has been told.

use super::pages::{as_runs, each, push_page};
use super::requests::NOBODY;
use crate::lifetime::{Arena, Cells, Life, Node, Place, Span, Spans};
use crate::trace::error::Problem;
use crate::trace::schema::{ArenaDeclaration, NodeDeclaration};
use rustc_hash::FxHashMap;

/// More pages than this are not a pool; the importer visits pages one by one.
const MAX_PAGES: u64 = 1 << 24;

/// The rows that a metadata arena is declared with. The recording doesn't say how many there are; the oracle's cost
/// does not depend on it.
const ROWS: u32 = 1 << 16;

/// A page that was freed.
#[derive(Clone, Copy, Debug)]
struct Freed {
    by: Life,
    /// Whether the free was only noted down, to be done when the group ends.
    deferred: bool,
}

/// The KV pool of one node.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) node: Node,
    pub(super) page_size: u32,
    pages: u32,
    buffers: Vec<(u64, u64)>,
    owners: FxHashMap<u32, Life>,
    freed: FxHashMap<u32, Freed>,
    free: u64,
}

impl Pool {
    /// The pool of a `ready` event: `free` tokens, and page 0, which the allocator never gives away.
    pub(super) fn new(
        node: Node,
        page_size: u32,
        free: u64,
        kv_ptrs: &[u64],
        kv_item_lens: &[u64],
    ) -> Result<Self, Problem> {
        let bad = |what: &str| Err(Problem::BadHeader(format!("`ready` has {what}")));
        if page_size == 0 {
            return bad("a page size of 0");
        }
        let pages = free / u64::from(page_size) + 1;
        if pages > MAX_PAGES || pages * u64::from(page_size) > u64::from(u32::MAX) {
            return bad("more free tokens than any pool");
        }
        if kv_ptrs.len() != kv_item_lens.len() || kv_item_lens.contains(&0) {
            return bad("KV buffers without item lengths");
        }
        let buffers = kv_ptrs.iter().copied().zip(kv_item_lens.iter().copied()).collect();
        let pages = u32::try_from(pages).unwrap_or(u32::MAX);
        let (owners, freed) = (FxHashMap::default(), FxHashMap::default());
        Ok(Self { node, page_size, pages, buffers, owners, freed, free })
    }

    pub(super) fn declaration(&self, role: &str) -> NodeDeclaration {
        let pages =
            ArenaDeclaration { arena: Arena::KvPage, slots: self.pages, width: self.page_size, frees_recorded: true };
        // The recorder does not hook the allocator of metadata rows.
        let rows = ArenaDeclaration { arena: Arena::MetadataRow, slots: ROWS, width: 1, frees_recorded: false };
        NodeDeclaration { node: self.node, name: role.to_owned(), role: role.to_owned(), arenas: vec![pages, rows] }
    }

    pub(super) fn pages_place(&self) -> Place {
        Place { node: self.node, arena: Arena::KvPage }
    }

    pub(super) fn rows_place(&self) -> Place {
        Place { node: self.node, arena: Arena::MetadataRow }
    }

    /// The cells `from .. from + count` of a life whose pages are `order`.
    pub(super) fn cells(&self, order: &Spans, from: u32, count: u32) -> Cells {
        let (mut skip, mut left) = (u64::from(from), u64::from(count));
        let width = u64::from(self.page_size);
        let mut runs = Spans::new();
        for run in order {
            let len = u64::from(run.len) * width;
            let taken = len.saturating_sub(skip).min(left);
            if taken > 0 {
                let start = u64::from(run.start) * width + skip;
                // Runs of a pool that was checked at `ready`; what lies outside is refused behind this.
                let span =
                    Span::new(u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(taken).unwrap_or(u32::MAX));
                runs.push(span);
            }
            skip = skip.saturating_sub(len);
            left -= taken;
        }
        Cells { place: self.pages_place(), runs }
    }

    /// All cells of some pages.
    pub(super) fn all_cells(&self, pages: &Spans) -> Cells {
        let count = pages.iter().map(|run| u64::from(run.len) * u64::from(self.page_size)).sum::<u64>();
        self.cells(pages, 0, u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Which buffer an address lies in, and at which page.
    pub(super) fn locate(&self, address: u64) -> Option<(usize, u32)> {
        self.buffers.iter().enumerate().find_map(|(index, &(start, item))| {
            let page = address.checked_sub(start)? / item;
            (page < u64::from(self.pages)).then(|| u32::try_from(page).ok().map(|page| (index, page)))?
        })
    }

    /// How many pages a descriptor of this many bytes covers.
    pub(super) fn pages_in(&self, buffer: usize, page: u32, bytes: u64) -> u32 {
        let count = bytes.div_ceil(self.buffers[buffer].1);
        u32::try_from(count).unwrap_or(u32::MAX).min(self.pages - page)
    }

    pub(super) fn buffer_count(&self) -> u64 {
        self.buffers.len() as u64
    }

    pub(super) fn owner(&self, page: u32) -> Option<Life> {
        self.owners.get(&page).copied()
    }

    /// The lives that own pages.
    pub(super) fn owners(&self) -> impl Iterator<Item = Life> {
        self.owners.values().copied()
    }

    /// The pages of a list that nobody owns.
    pub(super) fn unowned(&self, pages: &Spans) -> Spans {
        as_runs(each(pages).filter(|page| !self.owners.contains_key(page)))
    }

    /// Gives pages to a life; answers those that were not its own before.
    pub(super) fn give(&mut self, life: Life, pages: impl Iterator<Item = u32>) -> Spans {
        let mut new = Spans::new();
        for page in pages {
            if self.owners.insert(page, life) != Some(life) {
                self.freed.remove(&page);
                push_page(&mut new, page);
            }
        }
        new
    }

    /// Takes note of how much is free now.
    pub(super) fn count(&mut self, free: u64) {
        if free > self.free {
            // The group ended, and what was noted down is done.
            self.freed.values_mut().for_each(|freed| freed.deferred = false);
        }
        self.free = free;
    }

    /// Takes pages back: by owner, in the order of the list.
    ///
    /// SGLang batches frees: inside a group a free is noted down, and 0.5.11 calls `free` again for all of it when the
    /// group ends. The first call leaves the amount that is free unchanged; that is how the second is recognised, and
    /// passed over.
    pub(super) fn take_back(&mut self, pages: &Spans, free_after: Option<u64>) -> Vec<(Life, Spans)> {
        let deferred = free_after == Some(self.free);
        let mut taken: Vec<(Life, Spans)> = Vec::new();
        let mut passed_over = false;
        for page in each(pages) {
            let life = match self.owners.remove(&page) {
                Some(life) => {
                    self.freed.insert(page, Freed { by: life, deferred });
                    life
                }
                None => match self.freed.get_mut(&page) {
                    Some(freed) if freed.deferred => {
                        freed.deferred = false;
                        passed_over = true;
                        continue;
                    }
                    Some(freed) => freed.by,
                    None => NOBODY,
                },
            };
            match taken.last_mut() {
                Some((last, runs)) if *last == life => push_page(runs, page),
                _ => {
                    let mut runs = Spans::new();
                    push_page(&mut runs, page);
                    taken.push((life, runs));
                }
            }
        }
        match free_after {
            // The flags of what was noted down are taken back page by page as the second call names them.
            Some(free) if passed_over => self.free = free,
            Some(free) => self.count(free),
            None => {}
        }
        taken
    }
}
