//! Posted accesses: whose they are, and what they touch.

use super::pages::{PageSet, common, each, push_page, size};
use super::raw::Role;
use super::{Importer, Telling};
use crate::lifetime::{Cells, Event, Life, OpId, Span, Spans};
use crate::trace::error::Problem;
use crate::trace::reader::Sink;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How many of the last `send_chunk` and `publish_dst` are remembered.
const REMEMBERED: usize = 1024;

/// One posted access of the recorder is at most two of the oracle's: what is the request's own, and a shared prefix.
#[derive(Debug)]
struct Live {
    life: Life,
    ops: [Option<(OpId, u32)>; 2],
}

/// What is known of transfers.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    live: FxHashMap<u32, Live>,
    sent: VecDeque<(Life, Spans)>,
    published: VecDeque<(Life, Spans)>,
    rows: FxHashMap<u32, Life>,
    /// Where row 0 of the first metadata buffer is, once a transfer has shown it.
    table: Option<u64>,
    /// The requests whose pages were posted and whose row was not yet, oldest first, with that row.
    row_due: VecDeque<(Life, u32)>,
}

impl Transfers {
    pub(super) fn sent(&mut self, life: Life, pages: Spans) {
        remember(&mut self.sent, life, pages);
    }

    pub(super) fn published(&mut self, life: Life, pages: Spans) {
        remember(&mut self.published, life, pages);
    }

    pub(super) fn row_owner(&self, row: u32) -> Option<Life> {
        self.rows.get(&row).copied()
    }

    /// Pages of a life were posted: its row will follow. It may be another's by then, so the row is noted now.
    fn pages_posted(&mut self, life: Life, row: Option<u32>) {
        let Some(row) = row.filter(|_| !self.row_due.iter().any(|&(due, _)| due == life)) else { return };
        if self.row_due.len() == REMEMBERED {
            self.row_due.pop_front();
        }
        self.row_due.push_back((life, row));
    }

    /// Which row lies at an address, and whose write it is: of the request that has waited longest to write this row;
    /// if none has, of the row's owner.
    fn row_at(&mut self, address: u64, row_bytes: u64) -> Option<(u32, Life)> {
        let row = match self.table {
            // Rows of one buffer lie behind one another.
            Some(table) => u32::try_from(address.checked_sub(table)?.checked_div(row_bytes)?).ok()?,
            None => {
                let &(_, row) = self.row_due.back()?;
                self.table = Some(address.checked_sub(u64::from(row).checked_mul(row_bytes)?)?);
                row
            }
        };
        match self.row_due.iter().position(|&(_, due)| due == row) {
            Some(at) => self.row_due.remove(at).map(|(life, row)| (row, life)),
            None => Some((row, self.row_owner(row)?)),
        }
    }

    pub(super) fn take_row(&mut self, row: u32, life: Life) {
        self.rows.insert(row, life);
    }

    pub(super) fn free_row(&mut self, row: u32) {
        self.rows.remove(&row);
    }

    /// The lives that have something in flight, sent, published or in a row.
    pub(super) fn lives(&self) -> impl Iterator<Item = Life> {
        let lists = self.sent.iter().chain(&self.published).map(|&(life, _)| life);
        let due = self.row_due.iter().map(|&(life, _)| life);
        self.live.values().map(|live| live.life).chain(lists).chain(due).chain(self.rows.values().copied())
    }
}

fn remember(list: &mut VecDeque<(Life, Spans)>, life: Life, pages: Spans) {
    if list.len() == REMEMBERED {
        list.pop_front();
    }
    list.push_back((life, pages));
}

/// The life of the latest entry that holds the page.
fn latest(list: &VecDeque<(Life, Spans)>, page: u32) -> Option<Life> {
    let holds = |pages: &Spans| pages.iter().any(|run| run.start <= page && page < run.end());
    list.iter().rev().find(|(_, pages)| holds(pages)).map(|&(life, _)| life)
}

/// The pages on both sides, in the order of the descriptors.
#[derive(Default)]
struct Sides {
    source: Spans,
    target: Spans,
}

impl Importer {
    pub(super) fn post<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        id: u32,
        src: &[u64],
        dst: &[u64],
        lens: &[u64],
        n: u64,
    ) -> Result<(), Problem> {
        if src.len() != dst.len() || src.len() != lens.len() {
            return Err(Problem::Unplaceable(format!("transfer {id} has lists of different lengths")));
        }
        if telling.role != Role::Prefill || self.pools[Role::Decode as usize].is_none() {
            return Err(Problem::Unplaceable(format!("transfer {id} is not posted by prefill to a ready decode")));
        }
        if self.transfers.live.contains_key(&id) || id > u32::MAX / 2 {
            return Err(Problem::BadOperation(format!("transfer {id} is posted again before it is done")));
        }
        let (Some(&first), Some(&row_bytes)) = (dst.first(), lens.first()) else { return Ok(()) };
        if self.pool(Role::Decode)?.locate(first).is_none() {
            return self.post_row(telling, id, first, row_bytes);
        }
        let (mut sides, complete) = self.sides(id, src, dst, lens, n)?;
        let life = self.whose(&sides);
        if !complete {
            self.complete(life, &mut sides, id)?;
        }
        let row = self.requests.info(life).and_then(|info| info.published_row);
        self.transfers.pages_posted(life, row);
        self.post_pages(telling, id, life, &sides)
    }

    /// Maps the descriptors of the first buffer to pages. The other buffers, one for each layer's K and V, repeat
    /// them. The second value is false if the recorder's list ends before the first buffer does.
    fn sides(&self, id: u32, src: &[u64], dst: &[u64], lens: &[u64], n: u64) -> Result<(Sides, bool), Problem> {
        let (from, to) = (self.pool(Role::Prefill)?, self.pool(Role::Decode)?);
        let mut sides = Sides::default();
        let mut only = None;
        for ((&src, &dst), &len) in src.iter().zip(dst).zip(lens) {
            let outside = || Problem::Unplaceable(format!("transfer {id} has an address outside the KV buffers"));
            let (buffer, target) = to.locate(dst).ok_or_else(outside)?;
            if *only.get_or_insert(buffer) != buffer {
                return Ok((sides, true));
            }
            let (read, source) = from.locate(src).ok_or_else(outside)?;
            let count = to.pages_in(buffer, target, len).min(from.pages_in(read, source, len));
            for page in 0..count {
                push_page(&mut sides.source, source + page);
                push_page(&mut sides.target, target + page);
            }
        }
        let listed = src.len() as u64;
        Ok((sides, listed == n || n == listed.saturating_mul(to.buffer_count())))
    }

    /// Whose transfer it is: of the request that sent the source pages last; if none did, of the one that published
    /// the target pages last. The target alone can't say it: a late write goes to pages that are another's by now.
    fn whose(&self, sides: &Sides) -> Life {
        let source = each(&sides.source).last();
        let target = each(&sides.target).last();
        source
            .and_then(|page| latest(&self.transfers.sent, page))
            .or_else(|| target.and_then(|page| latest(&self.transfers.published, page)))
            .unwrap_or(super::requests::NOBODY)
    }

    /// The recorder lists few descriptors. The rest follows from the chunk that was sent and the pages that were
    /// published for it, both in the order of tokens.
    fn complete(&self, life: Life, sides: &mut Sides, id: u32) -> Result<(), Problem> {
        let unknown = || Problem::Unplaceable(format!("transfer {id} lists too few descriptors to know its pages"));
        let find = |list: &VecDeque<(Life, Spans)>, page: Option<u32>| {
            let page = page?;
            let holds = |pages: &Spans| PageSet::new(pages).contains(page);
            list.iter().rev().find(|(whose, pages)| *whose == life && holds(pages)).map(|(_, pages)| pages.clone())
        };
        let (first_source, first_target) = (each(&sides.source).next(), each(&sides.target).next());
        let sent = find(&self.transfers.sent, first_source).ok_or_else(unknown)?;
        let published = find(&self.transfers.published, first_target).ok_or_else(unknown)?;
        let behind = |runs: &Spans, page| each(runs).skip_while(|&other| Some(other) != page).collect::<Vec<_>>();
        let (sources, targets) = (behind(&sent, first_source), behind(&published, first_target));
        if targets.len() < sources.len() {
            return Err(unknown());
        }
        *sides = Sides::default();
        for (source, target) in sources.into_iter().zip(targets) {
            push_page(&mut sides.source, source);
            push_page(&mut sides.target, target);
        }
        Ok(())
    }

    fn post_pages<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        id: u32,
        life: Life,
        sides: &Sides,
    ) -> Result<(), Problem> {
        let order = self.requests.info(life).map(|info| info.order[Role::Prefill as usize].clone()).unwrap_or_default();
        let own_pages = PageSet::new(&common(&sides.source, &order));
        let mut own = Sides::default();
        let mut shared = Spans::new();
        for (source, target) in each(&sides.source).zip(each(&sides.target)) {
            if own_pages.contains(source) {
                push_page(&mut own.source, source);
                push_page(&mut own.target, target);
            } else {
                push_page(&mut shared, target);
            }
        }
        let (from, to) = (self.pool(Role::Prefill)?, self.pool(Role::Decode)?);
        let posts = [
            (!own.target.is_empty()).then(|| (Some(from.all_cells(&own.source)), to.all_cells(&own.target))),
            (!shared.is_empty()).then(|| (None, to.all_cells(&shared))),
        ];
        self.start(telling, id, life, posts)
    }

    /// A write of a metadata row.
    fn post_row<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        id: u32,
        address: u64,
        row_bytes: u64,
    ) -> Result<(), Problem> {
        // Something else, or a row that was given back: nothing says whose write it is.
        let Some((row, life)) = self.transfers.row_at(address, row_bytes) else { return Ok(()) };
        if let Some(info) = self.requests.info_mut(life) {
            info.row_written = true;
        }
        let place = self.pool(Role::Decode)?.rows_place();
        let target = Cells { place, runs: [Span::new(row, 1)].into_iter().collect() };
        self.start(telling, id, life, [Some((None, target)), None])
    }

    fn start<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        id: u32,
        life: Life,
        posts: [Option<(Option<Cells>, Cells)>; 2],
    ) -> Result<(), Problem> {
        let mut ops = [None; 2];
        for ((slot, post), number) in ops.iter_mut().zip(posts).zip([id * 2, id * 2 + 1]) {
            let Some((source, target)) = post else { continue };
            let op = OpId(number);
            *slot = Some((op, size(&target.runs)));
            self.tell(telling, &Event::Post { op, life, source, target: Some(target) })?;
        }
        self.transfers.live.insert(id, Live { life, ops });
        Ok(())
    }

    pub(super) fn done<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        id: u32,
        status: i64,
        forced: bool,
    ) -> Result<(), Problem> {
        // One that could not be placed was passed over when it was posted.
        if status != 0 && !forced {
            return Ok(());
        }
        let Some(live) = self.transfers.live.remove(&id) else { return Ok(()) };
        for (op, cells) in live.ops.into_iter().flatten() {
            if status == 0 {
                self.tell(telling, &Event::Land { op, part: Span::new(0, cells) })?;
            }
            self.tell(telling, &Event::Settle { op })?;
        }
        Ok(())
    }
}
