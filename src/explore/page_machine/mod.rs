//! The page machine: the smallest protocol worth exploring, and the yardstick of the explorers.
//!
//! Requests compete for pages. A request is admitted to a free page, posts a write, the write lands, the request
//! completes and releases its page; it may be aborted until it has completed, and retried after. Aborting before the
//! post frees the page at once; later, the page stays taken until the write has landed and the page is released.
//!
//! With 4 requests of 2 attempts each over 3 pages it has 2,791,024 states and 13,374,064 transitions: the numbers that
//! SPIN, TLC, stateright and two searches by hand once gave for a machine of this description. Its rules were rebuilt
//! from that description and those numbers; a few other sets of rules give the same numbers.

mod state;
mod symmetry;

pub use self::state::PageState;
use self::state::{Phase, Request};
use super::protocol::{Protocol, Quiet, StepClass};
use crate::lifetime::{Arena, Kind, Label, Life, Node, OpId, Place, Span, Spans, Violation};
use serde::{Deserialize, Serialize};

/// A fault planted into the machine. Each is caught by other rules of the oracle, in another place of an explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Plant {
    /// An abort frees the page while its write is in flight: a hazard, then a race, then corruption. Seen in steps.
    AbortFreesEarly,
    /// An aborted request forgets its page instead of releasing it: a leak. Seen at rest, when no timer is left.
    PageForgotten,
    /// A write whose request was aborted never lands: the request is stuck. Seen at rest.
    LandingLost,
}

/// One step of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PageStep {
    /// A waiting request is given a free page.
    Admit {
        /// Which request.
        request: u8,
        /// Which page.
        page: u8,
    },
    /// Its write starts.
    Post {
        /// Which request.
        request: u8,
    },
    /// Its bytes arrive.
    Land {
        /// Which request.
        request: u8,
    },
    /// It is answered.
    Complete {
        /// Which request.
        request: u8,
    },
    /// Its page is freed.
    Release {
        /// Which request.
        request: u8,
    },
    /// Somebody gives up on it.
    Abort {
        /// Which request.
        request: u8,
    },
    /// A timer starts the next attempt.
    Retry {
        /// Which request.
        request: u8,
    },
    /// The bytes of a write that nobody waits for arrive. Needs [`Plant::AbortFreesEarly`].
    Stray {
        /// Whose write.
        request: u8,
        /// To which page.
        page: u8,
    },
}

impl PageStep {
    /// The kind of the step, as a number.
    #[must_use]
    pub const fn family(self) -> u8 {
        match self {
            Self::Admit { .. } => 0,
            Self::Post { .. } => 1,
            Self::Land { .. } => 2,
            Self::Complete { .. } => 3,
            Self::Release { .. } => 4,
            Self::Abort { .. } => 5,
            Self::Retry { .. } => 6,
            Self::Stray { .. } => 7,
        }
    }

    const fn label(self) -> Label {
        Label(self.family() as u32)
    }
}

/// The label under which a violation at rest breaks.
const AT_REST: Label = Label(63);
/// The label of [`PageStep::Post`] and of [`PageStep::Abort`], for violations in other steps.
const POST: Label = PageStep::Post { request: 0 }.label();
const ABORT: Label = PageStep::Abort { request: 0 }.label();

/// The machine of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageMachine {
    requests: u8,
    pages: u8,
    attempts: u8,
    plant: Option<Plant>,
}

impl PageMachine {
    /// The most requests.
    pub const MAX_REQUESTS: u8 = 8;
    /// The most pages, and the most attempts at one request.
    pub const MAX_PAGES: u8 = 4;

    /// A machine without a fault.
    ///
    /// # Panics
    ///
    /// If a size is zero or above its most.
    #[must_use]
    pub fn new(requests: u8, pages: u8, attempts: u8) -> Self {
        assert!((1..=Self::MAX_REQUESTS).contains(&requests), "1 to 8 requests, not {requests}");
        assert!((1..=Self::MAX_PAGES).contains(&pages), "1 to 4 pages, not {pages}");
        assert!((1..=Self::MAX_PAGES).contains(&attempts), "1 to 4 attempts, not {attempts}");
        Self { requests, pages, attempts, plant: None }
    }

    /// The same machine with a fault planted, or with none.
    #[must_use]
    pub const fn plant(self, plant: Option<Plant>) -> Self {
        Self { plant, ..self }
    }

    /// The request after it gave up its page: to be retried, or at its end.
    const fn given_up(&self, request: Request) -> Request {
        if request.attempt + 1 < self.attempts {
            Request { phase: Phase::Aborted, page: 0, ..request }
        } else {
            Request::GONE
        }
    }

    /// What is wrong with a page.
    fn violation(kind: Kind, request: u8, page: u8, other: Option<u8>, broke: Label) -> Violation {
        let in_flight = matches!(kind, Kind::FreeInFlight | Kind::ReuseInFlight | Kind::WriteAfterFree);
        Violation {
            kind,
            place: Some(Place { node: Node(0), arena: Arena::KvPage }),
            slots: Spans::from_elem(Span::new(u32::from(page), 1), 1),
            cells: u32::from(kind == Kind::WriteAfterFree),
            life: Life::first(u32::from(request)),
            other: other.map(|other| Life::first(u32::from(other))),
            op: in_flight.then_some(OpId(u32::from(request))),
            started: in_flight.then_some(POST),
            released: in_flight.then_some(ABORT),
            broke,
        }
    }
}

impl Protocol for PageMachine {
    type State = PageState;
    type Step = PageStep;

    fn initial(&self) -> PageState {
        PageState::new()
    }

    fn steps(&self, state: &PageState, out: &mut Vec<PageStep>) {
        let taken = state.taken();
        for request in 0..self.requests {
            let Request { phase, .. } = state.request(request);
            match phase {
                Phase::Waiting => {
                    let free = (0..self.pages).filter(|page| taken >> page & 1 == 0);
                    out.extend(free.map(|page| PageStep::Admit { request, page }));
                }
                Phase::Admitted => out.extend([PageStep::Post { request }, PageStep::Abort { request }]),
                Phase::Posted => out.extend([PageStep::Land { request }, PageStep::Abort { request }]),
                Phase::Landed => out.extend([PageStep::Complete { request }, PageStep::Abort { request }]),
                Phase::Done | Phase::Settled => out.push(PageStep::Release { request }),
                Phase::Aborted => out.push(PageStep::Retry { request }),
                Phase::Draining if self.plant == Some(Plant::LandingLost) => {}
                Phase::Draining => out.push(PageStep::Land { request }),
                Phase::Gone => {}
            }
        }
        if self.plant == Some(Plant::AbortFreesEarly) {
            for page in 0..self.pages {
                let strays = (0..self.requests).filter(|&request| state.has_stray(request, page));
                out.extend(strays.map(|request| PageStep::Stray { request, page }));
            }
        }
    }

    fn apply(&self, state: &mut PageState, step: &PageStep, out: &mut Vec<Violation>) {
        match *step {
            PageStep::Admit { request, page } => self.admit(state, request, page, out),
            PageStep::Stray { request, page } => self.stray(state, request, page, out),
            PageStep::Post { request }
            | PageStep::Land { request }
            | PageStep::Complete { request }
            | PageStep::Release { request }
            | PageStep::Abort { request }
            | PageStep::Retry { request } => {
                if request < self.requests {
                    self.advance(state, request, *step, out);
                }
            }
        }
    }

    fn class(&self, step: &PageStep) -> StepClass {
        match step {
            PageStep::Abort { .. } => StepClass::Fault,
            PageStep::Retry { .. } => StepClass::Timer,
            _ => StepClass::Progress,
        }
    }

    fn family(&self, step: &PageStep) -> u8 {
        step.family()
    }

    fn quiet(&self, state: &PageState, quiet: Quiet, out: &mut Vec<Violation>) {
        if quiet == Quiet::TimersPending {
            return;
        }
        for request in (0..self.requests).filter(|&request| state.request(request).phase != Phase::Gone) {
            let page = state.request(request).page;
            out.push(Self::violation(Kind::Stuck, request, page, None, AT_REST));
        }
        for page in (0..self.pages).filter(|page| state.taken() >> page & 1 == 1) {
            let lost_by = |&request: &u8| state.request(request).holds(page) || state.is_written_by(request, page);
            let request = (0..self.requests).find(lost_by).unwrap_or_default();
            out.push(Self::violation(Kind::Leak, request, page, None, AT_REST));
        }
    }

    fn fingerprint(&self, state: &PageState, symmetry: bool) -> u64 {
        if symmetry { symmetry::fingerprint(state, self.requests, self.pages) } else { super::fingerprint(state) }
    }
}

impl PageMachine {
    fn admit(&self, state: &mut PageState, request: u8, page: u8, out: &mut Vec<Violation>) {
        let enabled = request < self.requests && page < self.pages && state.taken() >> page & 1 == 0;
        if !enabled || state.request(request).phase != Phase::Waiting {
            return;
        }
        let admitted = Request { phase: Phase::Admitted, page, ..state.request(request) };
        state.set_request(request, admitted);
        for owner in (0..self.requests).filter(|&owner| state.has_stray(owner, page)) {
            let broke = PageStep::Admit { request, page }.label();
            out.push(Self::violation(Kind::ReuseInFlight, owner, page, Some(request), broke));
        }
    }

    fn stray(&self, state: &mut PageState, request: u8, page: u8, out: &mut Vec<Violation>) {
        if request >= self.requests || page >= self.pages || !state.has_stray(request, page) {
            return;
        }
        state.end_stray(request, page);
        state.write(request, page);
        let owner = (0..self.requests).find(|&owner| state.request(owner).holds(page));
        let broke = PageStep::Stray { request, page }.label();
        out.push(Self::violation(Kind::WriteAfterFree, request, page, owner, broke));
    }

    /// A step of one request that needs no choice of a page.
    fn advance(&self, state: &mut PageState, index: u8, step: PageStep, out: &mut Vec<Violation>) {
        let request = state.request(index);
        let to = |phase| Request { phase, ..request };
        let next = match (step, request.phase) {
            (PageStep::Post { .. }, Phase::Admitted) => to(Phase::Posted),
            (PageStep::Land { .. }, Phase::Posted) => to(Phase::Landed),
            (PageStep::Land { .. }, Phase::Draining) if self.plant != Some(Plant::LandingLost) => to(Phase::Settled),
            (PageStep::Complete { .. }, Phase::Landed) => to(Phase::Done),
            (PageStep::Release { .. }, Phase::Done) => Request::GONE,
            (PageStep::Release { .. }, Phase::Settled) => {
                if self.plant == Some(Plant::PageForgotten) {
                    state.forget(request.page);
                }
                self.given_up(request)
            }
            (PageStep::Abort { .. }, Phase::Admitted) => self.given_up(request),
            (PageStep::Abort { .. }, Phase::Posted) if self.plant == Some(Plant::AbortFreesEarly) => {
                state.begin_stray(index, request.page);
                out.push(Self::violation(Kind::FreeInFlight, index, request.page, None, ABORT));
                self.given_up(request)
            }
            (PageStep::Abort { .. }, Phase::Posted) => to(Phase::Draining),
            (PageStep::Abort { .. }, Phase::Landed) => to(Phase::Settled),
            (PageStep::Retry { .. }, Phase::Aborted) => {
                Request { phase: Phase::Waiting, attempt: request.attempt + 1, page: 0 }
            }
            _ => return,
        };
        if matches!(step, PageStep::Land { .. }) {
            state.write(index, request.page);
        }
        state.set_request(index, next);
    }
}
