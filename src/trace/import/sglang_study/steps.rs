//! What each event of a scheduler means.

use super::pages::{as_runs, common, each, push_page, size, without};
use super::raw::{Fact, Role, Running, Told};
use super::requests::NOBODY;
use super::{Importer, Pool, Telling, name_of, node_of};
use crate::lifetime::{Answer, Cells, Event, Life, Slots, Spans, Verdict};
use crate::trace::error::Problem;
use crate::trace::reader::Sink;

/// The groups of ranks that decide together: each role is one.
const PREFILL_GROUP: u8 = 0;
const DECODE_GROUP: u8 = 1;

/// Who a reservation is for.
enum Owner {
    /// The request that published its pages.
    Published(Life, Spans),
    /// The requests of a batch.
    Run(Vec<(Life, Spans)>),
    /// Nothing ahead says it.
    Unknown,
}

impl Importer {
    pub(super) fn ready<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        page_size: u32,
        free: u64,
        kv_ptrs: &[u64],
        kv_item_lens: &[u64],
    ) -> Result<(), Problem> {
        let role = telling.role;
        if self.pools[role as usize].is_some() {
            return Err(Problem::BadHeader(format!("{} is ready twice", name_of(role))));
        }
        let pool = Pool::new(node_of(role), page_size, free, kv_ptrs, kv_item_lens)?;
        let declaration = pool.declaration(name_of(role));
        self.checker.declare(&declaration);
        telling.sink.declare(&declaration);
        self.pools[role as usize] = Some(pool);
        Ok(())
    }

    pub(super) fn queued<S: Sink>(&mut self, telling: &mut Telling<'_, S>, rid: &str) -> Result<(), Problem> {
        let (life, new) = self.requests.queue(telling.role, rid)?;
        if new { self.tell(telling, &Event::Begin { life }) } else { Ok(()) }
    }

    /// Pages for tokens that are to be computed (prefill) or received (decode).
    pub(super) fn reserve_extend<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        pages: &Spans,
        tokens: u32,
    ) -> Result<(), Problem> {
        if pages.is_empty() {
            return Ok(());
        }
        let role = telling.role;
        let mut rest = pages.clone();
        match self.find_owner(role, pages) {
            Owner::Published(life, theirs) => {
                rest = without(&rest, &theirs);
                self.give(telling, life, &theirs)?;
            }
            Owner::Run(mut given) => {
                if role == Role::Prefill {
                    self.plan_forward(&mut given, pages, tokens)?;
                }
                for (life, theirs) in given {
                    rest = without(&rest, &theirs);
                    self.give(telling, life, &theirs)?;
                    if role == Role::Decode {
                        self.restore(telling, life, theirs)?;
                    }
                }
            }
            Owner::Unknown => {}
        }
        let rest = self.pool(role)?.unowned(&rest);
        self.give(telling, NOBODY, &rest)
    }

    /// Decode reserves pages that it does not publish for a request that it had taken off its pages: it copies their
    /// content back from the host, which the recorder does not see.
    fn restore<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, pages: Spans) -> Result<(), Problem> {
        let cells = self.pool(Role::Decode)?.all_cells(&pages);
        if let Some(info) = self.requests.info_mut(life) {
            info.order[Role::Decode as usize] = pages;
        }
        self.write(telling, life, cells)
    }

    /// Who the pages of a reservation turn out to be for, by the first event ahead that says so.
    fn find_owner(&mut self, role: Role, pages: &Spans) -> Owner {
        enum Found {
            Room(u64, Spans),
            Batch(Vec<(Box<str>, Spans)>),
        }
        let found = self.later(role).find_map(|fact| match fact {
            Fact::Publish { room, pages: published, .. } if role == Role::Decode => {
                let theirs = common(published, pages);
                (!theirs.is_empty()).then_some(Found::Room(*room, theirs))
            }
            Fact::RunBatch { reqs } => {
                let theirs = reqs.iter().map(|request| (request.rid.clone(), common(&request.pages, pages)));
                let theirs: Vec<_> = theirs.filter(|(_, theirs)| !theirs.is_empty()).collect();
                (!theirs.is_empty()).then_some(Found::Batch(theirs))
            }
            _ => None,
        });
        match found {
            Some(Found::Room(room, theirs)) => match self.requests.in_room(role, room, true) {
                Some(life) => Owner::Published(life, theirs),
                None => Owner::Unknown,
            },
            Some(Found::Batch(batch)) => {
                let named = |(rid, theirs): (Box<str>, _)| Some((self.requests.named(&rid)?, theirs));
                Owner::Run(batch.into_iter().filter_map(named).collect())
            }
            None => Owner::Unknown,
        }
    }

    /// Puts prefill's new pages in the order in which they are sent, and notes how many tokens of the reservation each
    /// request computes. `run_batch` can't say: it counts the context, one short of what a first pass writes.
    fn plan_forward(&mut self, given: &mut [(Life, Spans)], all: &Spans, tokens: u32) -> Result<(), Problem> {
        self.forward.clear();
        let page_size = self.pool(Role::Prefill)?.page_size;
        let mut left = tokens;
        for (life, theirs) in given {
            let sent = self.later(Role::Prefill).find_map(|fact| match fact {
                Fact::SendChunk { pages, .. } => Some(common(pages, theirs)).filter(|sent| same_size(sent, theirs)),
                _ => None,
            });
            if let Some(sent) = sent {
                *theirs = sent;
            }
            let pool = self.pool(Role::Prefill)?;
            let owns = |page| pool.owner(page) == Some(*life);
            let Some(info) = self.requests.info(*life) else { continue };
            let mut order = info.order[Role::Prefill as usize].clone();
            let mut done = info.prefilled;
            if !each(&order).any(owns) {
                // It was taken off its pages, and starts again.
                (order, done) = (Spans::new(), 0);
            }
            for page in each(&without(theirs, &order)) {
                push_page(&mut order, page);
            }
            let room = size(&order).saturating_mul(page_size).saturating_sub(done);
            let computed = if same_size(theirs, all) { left } else { left.min(room) };
            left -= computed;
            self.forward.push((*life, computed));
            if let Some(info) = self.requests.info_mut(*life) {
                info.order[Role::Prefill as usize] = order;
                info.prefilled = done;
            }
        }
        Ok(())
    }

    /// The page of each request's next token: mostly the one that it has, sometimes a new one.
    pub(super) fn reserve_decode<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        pages: &Spans,
    ) -> Result<(), Problem> {
        let role = telling.role;
        let new = self.pool(role)?.unowned(pages);
        if new.is_empty() {
            return Ok(());
        }
        let page_size = self.pool(role)?.page_size;
        let mut wanting: Vec<(Life, Box<str>)> = Vec::new();
        for request in self.later_batches(role).next().unwrap_or_default() {
            let full = request.ctx_tokens.is_multiple_of(page_size);
            if let Some(life) = self.requests.named(&request.rid).filter(|_| full) {
                wanting.push((life, request.rid.clone()));
            }
        }
        let mut given = Vec::new();
        let mut rest = Vec::new();
        for page in each(&new) {
            let shown = if wanting.len() == 1 { Some(0) } else { self.shown_later(role, page, &wanting) };
            match shown {
                Some(at) => given.push((wanting.remove(at).0, page)),
                None => rest.push(page),
            }
        }
        // The allocator hands pages out in the order of the batch.
        let mut wanting = wanting.into_iter().map(|(life, _)| life);
        given.extend(rest.into_iter().map(|page| (wanting.next().unwrap_or(NOBODY), page)));
        given.sort_by_key(|&(_, page)| page);
        for (life, page) in given {
            if let Some(info) = self.requests.info_mut(life) {
                push_page(&mut info.order[role as usize], page);
            }
            self.give(telling, life, &as_runs([page]))?;
        }
        Ok(())
    }

    /// Which of some requests a page is shown to belong to: in the next batch that lists it, or in a free of that
    /// request's pages.
    fn shown_later(&self, role: Role, page: u32, wanting: &[(Life, Box<str>)]) -> Option<usize> {
        let lists = |pages: &Spans| pages.iter().any(|run| run.start <= page && page < run.end());
        self.later(role).find_map(|fact| match fact {
            Fact::RunBatch { reqs } => {
                let request = reqs.iter().find(|request| lists(&request.pages))?;
                wanting.iter().position(|(_, rid)| *rid == request.rid)
            }
            Fact::Free { pages, .. } if lists(pages) => {
                let pool = self.pools[role as usize].as_ref()?;
                let mut freed = wanting
                    .iter()
                    .enumerate()
                    .filter(|(_, (life, _))| each(pages).any(|page| pool.owner(page) == Some(*life)));
                match (freed.next(), freed.next()) {
                    (Some((at, _)), None) => Some(at),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    fn give<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, pages: &Spans) -> Result<(), Problem> {
        let pool = self.pool_mut(telling.role)?;
        let place = pool.pages_place();
        let runs = pool.give(life, each(pages));
        if runs.is_empty() { Ok(()) } else { self.tell(telling, &Event::Alloc { life, slots: Slots { place, runs } }) }
    }

    /// Decode tells prefill where to write.
    pub(super) fn publish<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        room: u64,
        pages: Spans,
        aux: Option<u32>,
    ) -> Result<(), Problem> {
        let Some(life) = self.requests.in_room(telling.role, room, true) else {
            return Err(Problem::Unplaceable(format!("room {room} is published, but no queued request lacks a room")));
        };
        // Pages that were reserved behind the recorder's back.
        let unseen = self.pool(telling.role)?.unowned(&pages);
        self.give(telling, life, &unseen)?;
        self.transfers.published(life, pages.clone());
        if let Some(info) = self.requests.info_mut(life) {
            info.order[telling.role as usize] = pages;
        }
        match aux {
            Some(row) => self.take_row(telling, life, row),
            None => Ok(()),
        }
    }

    /// A metadata row is taken. The recorder doesn't see rows being freed; that the row is given out again shows that
    /// it was.
    fn take_row<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, row: u32) -> Result<(), Problem> {
        if let Some(earlier) = self.transfers.row_owner(row).filter(|&earlier| earlier != life) {
            self.free_row(telling, earlier, row)?;
        }
        self.transfers.take_row(row, life);
        if let Some(info) = self.requests.info_mut(life) {
            info.row = Some(row);
            info.published_row = Some(row);
            info.row_written = false;
        }
        let place = self.pool(telling.role)?.rows_place();
        self.tell(telling, &Event::Alloc { life, slots: Slots { place, runs: as_runs([row]) } })
    }

    fn free_row<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, row: u32) -> Result<(), Problem> {
        self.transfers.free_row(row);
        if let Some(info) = self.requests.info_mut(life) {
            info.row = None;
        }
        let place = self.pool(Role::Decode)?.rows_place();
        self.tell(telling, &Event::Free { life, slots: Slots { place, runs: as_runs([row]) } })
    }

    pub(super) fn free<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        pages: &Spans,
        free_after: Option<u64>,
    ) -> Result<(), Problem> {
        let pool = self.pool_mut(telling.role)?;
        let place = pool.pages_place();
        for (life, runs) in pool.take_back(pages, free_after) {
            self.tell(telling, &Event::Free { life, slots: Slots { place, runs } })?;
        }
        Ok(())
    }

    pub(super) fn commit<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        rid: &str,
        room: Option<u64>,
        prompt_tokens: u32,
    ) -> Result<(), Problem> {
        let Some(life) = self.requests.named(rid) else {
            return Err(Problem::Unplaceable(format!("`{rid}` is committed, but was never queued")));
        };
        self.working_for[telling.role as usize] = Some(life);
        if let Some(room) = room {
            self.requests.check_room(telling.role, life, room)?;
        }
        let Some(info) = self.requests.info_mut(life) else { return Ok(()) };
        info.prompt_tokens = Some(prompt_tokens);
        let (row, row_written) = (info.row, info.row_written);
        let cells = self.context_cells(telling.role, life, None, prompt_tokens)?;
        self.read(telling, life, cells)?;
        if let Some(row) = row {
            // Whether the row was written is only judged if the recording shows any write of it.
            if row_written {
                let place = self.pool(telling.role)?.rows_place();
                self.read(telling, life, Cells { place, runs: as_runs([row]) })?;
            }
            self.free_row(telling, life, row)?;
        }
        Ok(())
    }

    fn read<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, cells: Cells) -> Result<(), Problem> {
        if cells.runs.is_empty() { Ok(()) } else { self.tell(telling, &Event::Read { life, cells }) }
    }

    fn write<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, cells: Cells) -> Result<(), Problem> {
        if cells.runs.is_empty() { Ok(()) } else { self.tell(telling, &Event::Write { life, cells }) }
    }

    /// The cells of the first `tokens` tokens of a life. Pages that a batch `listed` and the life was never given are
    /// a prefix that it shares through the cache: they come first, and are not its own to be judged.
    fn context_cells(&self, role: Role, life: Life, listed: Option<&Spans>, tokens: u32) -> Result<Cells, Problem> {
        let pool = self.pool(role)?;
        let order = self.requests.info(life).map(|info| info.order[role as usize].clone()).unwrap_or_default();
        let shared = listed.map_or(0, |listed| size(listed) - size(&common(listed, &order)));
        Ok(pool.cells(&order, 0, tokens.saturating_sub(shared.saturating_mul(pool.page_size))))
    }

    /// A forward pass of prefill: writes what was reserved for it.
    pub(super) fn run_prefill<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        reqs: &[Running],
    ) -> Result<(), Problem> {
        for (life, tokens) in std::mem::take(&mut self.forward) {
            let Some(info) = self.requests.info_mut(life) else { continue };
            if !reqs.iter().any(|request| request.rid == info.name) {
                continue;
            }
            let (from, order) = (info.prefilled, info.order[Role::Prefill as usize].clone());
            info.prefilled = from.saturating_add(tokens);
            self.working_for[Role::Prefill as usize] = Some(life);
            let cells = self.pool(Role::Prefill)?.cells(&order, from, tokens);
            self.write(telling, life, cells)?;
        }
        Ok(())
    }

    /// A step of decode: each request reads its context and writes one token.
    pub(super) fn run_decode<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        reqs: &[Running],
    ) -> Result<(), Problem> {
        for request in reqs {
            let Some(life) = self.requests.named(&request.rid) else { continue };
            self.working_for[Role::Decode as usize] = Some(life);
            let own = self.context_cells(Role::Decode, life, Some(&request.pages), request.ctx_tokens)?;
            let tokens = size(&own.runs);
            self.read(telling, life, own)?;
            if let Some(info) = self.requests.info(life) {
                let cells = self.pool(Role::Decode)?.cells(&info.order[Role::Decode as usize], tokens, 1);
                self.write(telling, life, cells)?;
            }
        }
        Ok(())
    }

    pub(super) fn receiver_abort<S: Sink>(&mut self, telling: &mut Telling<'_, S>, room: u64) -> Result<(), Problem> {
        match self.requests.in_room(telling.role, room, false) {
            Some(life) => self.decide(telling, life, DECODE_GROUP, Verdict::Aborted),
            None => Ok(()),
        }
    }

    fn decide<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        life: Life,
        group: u8,
        verdict: Verdict,
    ) -> Result<(), Problem> {
        self.tell(telling, &Event::Decide { life, group, rank: 0, verdict })
    }

    /// A process answers. Health checks and the like were never queued and are passed over.
    pub(super) fn client<S: Sink>(
        &mut self,
        telling: &mut Telling<'_, S>,
        rid: &str,
        told: Told,
    ) -> Result<(), Problem> {
        let Some(life) = self.requests.named(rid) else { return Ok(()) };
        self.requests.end(telling.role, life);
        let verdict = match told {
            Told::Tokens => Verdict::Success,
            Told::Abort { status: Some(400..500) } => Verdict::Rejected,
            Told::Abort { status: Some(_) } => Verdict::Failed,
            Told::Abort { status: None } => Verdict::Aborted,
        };
        let Some(info) = self.requests.info_mut(life) else { return Ok(()) };
        match telling.role {
            Role::Prefill if verdict == Verdict::Rejected && !info.answered => {
                info.refused = Some((telling.line, telling.clock));
                self.decide(telling, life, PREFILL_GROUP, verdict)
            }
            // The first token, or a failure of the sender: decode answers.
            Role::Prefill => Ok(()),
            Role::Decode if info.answered => Ok(()),
            Role::Decode => {
                let refused = info.refused.take().is_some();
                let verdict = if refused && verdict != Verdict::Success { Verdict::Rejected } else { verdict };
                self.answer(telling, life, verdict)
            }
        }
    }

    fn answer<S: Sink>(&mut self, telling: &mut Telling<'_, S>, life: Life, verdict: Verdict) -> Result<(), Problem> {
        let Some(info) = self.requests.info_mut(life) else { return Ok(()) };
        info.answered = true;
        let prompt_tokens = info.prompt_tokens.unwrap_or_default();
        let told = Answer { verdict, prompt_tokens, tokens_of: None };
        self.tell(telling, &Event::Finish { life, told, processed: None })
    }

    /// Where decode never said otherwise, prefill's refusal is the answer.
    pub(super) fn tell_refusals(&mut self, sink: &mut impl Sink) -> Result<(), (u64, Problem)> {
        for life in self.requests.refused() {
            let Some((line, clock)) = self.requests.info_mut(life).and_then(|info| info.refused.take()) else {
                continue;
            };
            let mut telling = Telling { sink: &mut *sink, line, clock, role: Role::Prefill };
            self.answer(&mut telling, life, Verdict::Rejected).map_err(|problem| (line, problem))?;
        }
        Ok(())
    }
}

fn same_size(one: &Spans, other: &Spans) -> bool {
    size(one) == size(other)
}
