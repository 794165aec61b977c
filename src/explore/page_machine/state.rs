//! The machine's state, packed: one byte a request, so that hashing and comparing it costs a few words.

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Wants a page.
    Waiting,
    /// Has one.
    Admitted,
    /// Its write is in flight.
    Posted,
    /// Its bytes have arrived.
    Landed,
    /// Answered.
    Done,
    /// Aborted while its write is in flight: the page is still taken.
    Draining,
    /// Aborted, and its write has landed.
    Settled,
    /// Aborted, without a page; to be retried.
    Aborted,
    /// At its end, whichever way.
    Gone,
}

impl Phase {
    const ALL: [Self; 9] = [
        Self::Waiting,
        Self::Admitted,
        Self::Posted,
        Self::Landed,
        Self::Done,
        Self::Draining,
        Self::Settled,
        Self::Aborted,
        Self::Gone,
    ];
}

/// One request. `page` means something only in phases that hold one, and is zero in the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) phase: Phase,
    pub(super) attempt: u8,
    pub(super) page: u8,
}

impl Request {
    /// At its end; by which attempt does not matter any more.
    pub(super) const GONE: Self = Self { phase: Phase::Gone, attempt: 0, page: 0 };

    const fn pack(self) -> u8 {
        (self.phase as u8) << 4 | self.attempt << 2 | self.page
    }

    const fn unpack(byte: u8) -> Self {
        Self { phase: Phase::ALL[(byte >> 4) as usize], attempt: byte >> 2 & 3, page: byte & 3 }
    }

    /// Whether it holds any page.
    pub(super) const fn holds_one(self) -> bool {
        !matches!(self.phase, Phase::Waiting | Phase::Aborted | Phase::Gone)
    }

    /// Whether it holds this page.
    pub(super) const fn holds(self, page: u8) -> bool {
        self.holds_one() && self.page == page
    }
}

/// A state of the page machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageState {
    /// Packed requests; those beyond the last stay waiting, which is zero.
    requests: [u8; 8],
    /// Whose bytes a page holds: one more than the request, or zero. A byte a page.
    content: u32,
    /// One bit for each request whose write is in flight to a page that was freed too early. A byte a page.
    strays: u32,
    /// One bit for each page that nobody owns and that is not free.
    forgotten: u8,
}

impl PageState {
    pub(super) const fn new() -> Self {
        let waiting = Request { phase: Phase::Waiting, attempt: 0, page: 0 }.pack();
        Self { requests: [waiting; 8], content: 0, strays: 0, forgotten: 0 }
    }

    #[inline]
    pub(super) const fn request(&self, index: u8) -> Request {
        Request::unpack(self.requests[index as usize])
    }

    pub(super) const fn set_request(&mut self, index: u8, request: Request) {
        self.requests[index as usize] = request.pack();
    }

    /// One bit for each page that is not free.
    pub(super) fn taken(&self) -> u8 {
        let held = (0..8).map(|index| self.request(index)).filter(|request| request.holds_one());
        held.fold(self.forgotten, |taken, request| taken | 1 << request.page)
    }

    /// The bytes of a request arrive in a page.
    pub(super) const fn write(&mut self, request: u8, page: u8) {
        self.content = self.content & !(0xff << (8 * page)) | (request as u32 + 1) << (8 * page);
    }

    /// Whether the page holds bytes of the request.
    pub(super) const fn is_written_by(&self, request: u8, page: u8) -> bool {
        self.content >> (8 * page) & 0xff == request as u32 + 1
    }

    /// Whether a write of the request is in flight to a page that it gave back.
    pub(super) const fn has_stray(&self, request: u8, page: u8) -> bool {
        self.strays >> (8 * page + request) & 1 == 1
    }

    pub(super) const fn begin_stray(&mut self, request: u8, page: u8) {
        self.strays |= 1 << (8 * page + request);
    }

    pub(super) const fn end_stray(&mut self, request: u8, page: u8) {
        self.strays &= !(1 << (8 * page + request));
    }

    /// The page is lost: nobody will free it.
    pub(super) const fn forget(&mut self, page: u8) {
        self.forgotten |= 1 << page;
    }

    /// Whether the page is lost.
    pub(super) const fn is_forgotten(&self, page: u8) -> bool {
        self.forgotten >> page & 1 == 1
    }
}
