//! What each actor does in its turns. The threads take them one after another here, so that each test says what comes of
//! it; what they do to each other is for the crate of the models.

use super::kit::{Bench, HANDSHAKE, TO_PREFILL, WORKER, land, newest, reference, scope};
use crate::cell::{
    Actor, Client, Config, Lane, Poll, PrefillStage, Shift, Site, Step, Told, Worked, run_on_threads, whole_cell, work,
};
use crate::lifetime::{Kind, OpId};
use crate::platform::{AsItComes, Platform, Shared, State, StdCell, StdLock, Threads, Unwatched};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

thread_local! {
    /// How often a body has given way.
    static GIVEN_WAY: Cell<usize> = const { Cell::new(0) };
}

/// Threads that work one after another, in the order of their shifts.
#[derive(Debug)]
struct OneByOne;

impl Platform for OneByOne {
    type Cell<T: State> = StdCell<T>;
    type Lock = StdLock;
    type Memory = Unwatched;
}

impl Threads for OneByOne {
    type Order = AsItComes;

    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>) {
        bodies.into_iter().for_each(|body| body());
    }

    fn give_way() {
        GIVEN_WAY.set(GIVEN_WAY.get() + 1);
    }
}

/// The first card begins to land a piece, then the other thread works to its end, then the card goes on.
#[derive(Debug)]
struct DuringALanding;

static BEGUN: Barrier = Barrier::new(2);
static GO_ON: Barrier = Barrier::new(2);

impl Platform for DuringALanding {
    type Cell<T: State> = StdCell<T>;
    type Lock = StdLock;
    type Memory = Unwatched;
}

impl Threads for DuringALanding {
    type Order = AsItComes;

    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>) {
        let [card, other] = <[_; 2]>::try_from(bodies).ok().unwrap();
        let card = std::thread::spawn(card);
        BEGUN.wait();
        other();
        GO_ON.wait();
        card.join().unwrap();
    }

    fn give_way() {}
}

/// What came of the shifts.
struct Report {
    /// Where what the oracle heard came from.
    sites: Vec<Site>,
    /// How often somebody found nothing to do and had turns left.
    given_way: usize,
    cut_short: bool,
}

/// Lets actors work one after another, each for so many turns.
fn crew(bench: &mut Bench, shifts: &[(Actor, u32)]) -> Report {
    GIVEN_WAY.set(0);
    let shifts: Vec<Shift> = shifts.iter().map(|&(actor, turns)| Shift { actor, turns }).collect();
    let sites = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&sites);
    let listener = Arc::new(move |_: usize, site: Site, _: &_| heard.lock().unwrap().push(site));
    let Worked { watched, violations, cut_short } =
        work::<OneByOne>(&bench.state, bench.serving.config(), &shifts, Some(listener));
    assert_eq!(violations.iter().map(|violation| violation.kind).collect::<Vec<Kind>>(), []);
    bench.state = watched;
    let sites = std::mem::take(&mut *sites.lock().unwrap());
    Report { sites, given_way: GIVEN_WAY.get(), cut_short }
}

/// Two requests of one page.
const TWO: &str = "requests = [{ prompt = 2, max_new = 1 }, { prompt = 2, max_new = 1 }]";

/// A scheduler that comes after everybody else: until it has ended, they go on.
const LATER: (Actor, u32) = (Actor::PrefillScheduler, 1);

fn names(more: &str) -> String {
    let named = |shift: &Shift| format!("{} x{}", shift.actor, shift.turns);
    whole_cell(&scope(more), 7).iter().map(named).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_whole_cell_has_everybody_that_its_scope_has_work_for() {
    let servers = "clients x7, prefill scheduler x7, decode scheduler x7, fabric x7";
    let threads = "worker 0 x7, bootstrap thread 0 x7, decode thread 0 x7";
    assert_eq!(names(""), format!("{servers}, {threads}"));
    let two = "requests = [{ prompt = 4, max_new = 2 }, { prompt = 2, max_new = 1 }]";
    for rails in ["slices = 2", "siblings = 2", "retries = 1", two] {
        assert_eq!(names(rails), format!("{servers}, second rail x7, {threads}"), "{rails}");
    }
    assert_eq!(names("timers = { bootstrap = 2, release = 3 }"), format!("{servers}, {threads}, clock x3"));
    let faults = "faults = { aborts = 1, disconnects = 1, losses = 1, transfer_errors = 2, transfer_timeouts = 1 }";
    assert_eq!(
        names(faults),
        format!(
            "{servers}, {threads}, abort of request 0 x7, disconnect of request 0 x7, transfer error x7, \
             transfer error x7, transfer timeout x7, message loss x7"
        )
    );
    assert_eq!(
        names(&format!("{two}\nfaults = {{ aborts = 3, disconnects = 3 }}")),
        format!(
            "{servers}, second rail x7, {threads}, abort of request 0 x7, abort of request 1 x7, abort of request 0 x7, \
             disconnect of request 0 x7, disconnect of request 1 x7, disconnect of request 0 x7"
        )
    );
}

#[test]
fn where_a_listener_hears_several_each_has_a_connection_of_its_own() {
    let connections = |more| {
        let shifts = whole_cell(&scope(more), 1);
        let lane = |shift: &Shift| match shift.actor {
            Actor::Connection(lane) => Some(lane),
            _ => None,
        };
        shifts.iter().filter_map(lane).collect::<Vec<Lane>>()
    };
    assert_eq!(connections(""), []);
    assert_eq!(connections("prefill_ranks = 2\ndecode_ranks = 2"), [], "ranks are paired");
    let (to_prefill, to_decode) = (Lane::ToPrefill { from: 0, to: 0 }, Lane::ToDecode { from: 0, to: 0 });
    assert_eq!(connections("decode_ranks = 2"), [to_prefill, Lane::ToPrefill { from: 1, to: 0 }]);
    assert_eq!(connections("prefill_ranks = 2"), [to_decode, Lane::ToDecode { from: 1, to: 0 }]);
    assert_eq!(connections("aux_by_message = true"), [Lane::Aux { from: 0, to: 0 }]);
}

#[test]
fn who_owns_something_gives_it_back() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take([Step::Submit]);
    crew(&mut bench, &[(Actor::PrefillScheduler, 1)]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Bootstrap));
    crew(&mut bench, &[(Actor::DecodeScheduler, 1), (Actor::BootstrapThread(0), 1)]);
    assert!(bench.at_decode(0).is_some());
    crew(&mut bench, &[(Actor::PrefillScheduler, 2), (Actor::Worker(0), 1)]);
    assert!(bench.state.cell.workers[0].chunk().is_some());
}

#[test]
fn who_finds_nothing_to_do_gives_way_but_not_after_the_last_turn() {
    for (turns, given_way) in [(1, 0), (2, 1), (3, 2)] {
        let mut bench = Bench::new(newest(), scope(""));
        let report = crew(&mut bench, &[(Actor::Worker(0), turns), LATER]);
        assert_eq!((report.given_way, report.cut_short), (given_way, true));
    }
}

#[test]
fn a_helper_ends_once_no_scheduler_is_left() {
    for (schedulers, ends) in [
        (&[][..], true),
        (&[Actor::PrefillScheduler][..], false),
        (&[Actor::DecodeScheduler][..], false),
        (&[Actor::PrefillScheduler, Actor::DecodeScheduler][..], false),
    ] {
        let mut bench = Bench::new(newest(), scope(""));
        let later = schedulers.iter().map(|scheduler| (*scheduler, 1));
        let shifts: Vec<(Actor, u32)> = std::iter::once((Actor::Worker(0), 3)).chain(later).collect();
        assert_eq!(crew(&mut bench, &shifts).given_way, if ends { 0 } else { 2 }, "{schedulers:?}");
    }
    // Both come first and end: nobody waits for anything.
    let mut bench = Bench::new(newest(), scope("faults = { aborts = 1 }"));
    bench.take([Step::Submit, Step::Abort(0)]);
    let shifts = [(Actor::PrefillScheduler, 9), (Actor::DecodeScheduler, 9), (Actor::Worker(0), 3)];
    let report = crew(&mut bench, &shifts);
    assert_eq!((report.given_way, report.cut_short), (0, false));
}

#[test]
fn a_scheduler_goes_on_while_a_client_may_still_come() {
    let mut bench = Bench::new(newest(), scope(""));
    for scheduler in [Actor::PrefillScheduler, Actor::DecodeScheduler] {
        let report = crew(&mut bench, &[(scheduler, 2)]);
        assert_eq!((report.given_way, report.cut_short), (1, true), "{scheduler}");
    }
}

#[test]
fn a_client_leaves_once_it_waits() {
    for (actor, site) in [(Actor::Abort(0), Site::ClientAbort), (Actor::Disconnect(0), Site::ClientDisconnect)] {
        let mut bench = Bench::new(newest(), scope(""));
        let report = crew(&mut bench, &[(actor, 2)]);
        assert_eq!((report.given_way, report.cut_short, bench.client(0)), (1, true, Client::Unsent));
        bench.take([Step::Submit]);
        let report = crew(&mut bench, &[(actor, 2)]);
        assert!(report.sites.contains(&site), "{actor}");
        assert_eq!((report.given_way, report.cut_short, bench.client(0)), (0, false, Client::Done));
        assert_eq!(crew(&mut bench, &[(actor, 2)]).sites, [], "who has left does not leave again");
    }
}

#[test]
fn a_scheduler_hears_each_tick_of_the_clock_once() {
    let timer = |bench: &Bench| bench.at_prefill(0).map(|request| request.timer);
    let start = || {
        let mut bench = Bench::new(newest(), scope("timers = { bootstrap = 5 }"));
        bench.take([Step::Submit, Step::Prefill]);
        assert_eq!(timer(&bench), Some(Some(5)));
        bench
    };
    let mut bench = start();
    crew(&mut bench, &[(Actor::PrefillScheduler, 3)]);
    assert_eq!(timer(&bench), Some(Some(5)), "without a clock no time passes");
    for ticks in [1, 2] {
        let mut bench = start();
        crew(&mut bench, &[(Actor::Clock, u32::from(ticks)), (Actor::PrefillScheduler, 3)]);
        assert_eq!(timer(&bench), Some(Some(5 - ticks)));
    }
}

#[test]
fn a_heartbeat_fails_what_decode_waits_for() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take(HANDSHAKE);
    let report = crew(&mut bench, &[(Actor::Heartbeat, 2)]);
    assert_eq!(bench.decode_room(0), Some(Poll::Failed));
    assert_eq!((report.given_way, report.cut_short), (0, false));
}

#[test]
fn the_gpu_ends_a_forward_when_prefill_has_nothing_else_to_do() {
    let two = "overlap = true\nchunk = 2\nrequests = [{ prompt = 2, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take(HANDSHAKE);
    let forward = |bench: &Bench| bench.state.cell.prefill.forward_runs();
    assert!(!crew(&mut bench, &[(Actor::PrefillScheduler, 1)]).sites.contains(&Site::PrefillForward));
    assert!(forward(&bench));
    // Another request is at the door: the loop looks at it first.
    bench.take([Step::Submit]);
    assert!(!crew(&mut bench, &[(Actor::PrefillScheduler, 1)]).sites.contains(&Site::PrefillForward));
    assert!(forward(&bench));
    assert!(crew(&mut bench, &[(Actor::PrefillScheduler, 1)]).sites.contains(&Site::PrefillForward));
}

/// Two writes are on their way: of one page, and of two.
fn posted(more: &str) -> Bench {
    let mut bench =
        Bench::new(newest(), scope(&format!("requests = [{{ prompt = 6, max_new = 1 }}]\nsiblings = 2\n{more}")));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    let pages = bench.writes().iter().map(|(_, target, _)| target.iter().map(|run| run.1).sum()).collect::<Vec<u32>>();
    assert_eq!(pages, [1, 2]);
    bench
}

fn told(bench: &Bench) -> Vec<Told> {
    bench.state.cell.world.fabric.with(|fabric| fabric.iter().map(|write| write.told).collect())
}

#[test]
fn a_fault_strikes_once_and_waits_for_something_to_break() {
    let faults = [
        (Actor::TransferTimeout, vec![Told::TimedOut, Told::Nothing]),
        (Actor::TransferError, vec![Told::Failed, Told::Nothing]),
    ];
    for (fault, expected) in faults {
        let mut bench = Bench::new(newest(), scope(""));
        let report = crew(&mut bench, &[(fault, 3), LATER]);
        assert_eq!(report.given_way, 2, "{fault}: there is nothing to break");
        let mut bench = posted("");
        let report = crew(&mut bench, &[(fault, 3), LATER]);
        assert_eq!((report.given_way, told(&bench)), (0, expected), "{fault}");
    }
    // Without a scheduler nothing will come, and a fault that found nothing was not cut short.
    let mut bench = Bench::new(newest(), scope(""));
    assert!(!crew(&mut bench, &[(Actor::TransferError, 3)]).cut_short);
}

#[test]
fn what_a_card_lands_at_the_moment_does_not_break() {
    for (fault, struck) in [(Actor::TransferTimeout, Told::TimedOut), (Actor::TransferError, Told::Failed)] {
        let mut bench = posted("");
        bench.state.cell.world.fabric.with(|fabric| fabric.get_mut(OpId(0)).unwrap().landing = 1);
        crew(&mut bench, &[(fault, 1)]);
        assert_eq!(told(&bench), [Told::Nothing, struck], "{fault}");
        crew(&mut bench, &[(fault, 1)]);
        assert_eq!(told(&bench), [Told::Nothing, struck], "{fault}: what has been told is not told again");
    }
}

#[test]
fn a_write_of_few_pages_does_not_time_out_and_may_fail() {
    for (slow_pages, timed_out) in [(0, 0), (1, 1)] {
        let mut bench = posted(&format!("slow_pages = {slow_pages}"));
        crew(&mut bench, &[(Actor::TransferTimeout, 1)]);
        assert_eq!(told(&bench).iter().position(|told| *told == Told::TimedOut), Some(timed_out));
    }
    let mut bench = posted("slow_pages = 2");
    assert_eq!(crew(&mut bench, &[(Actor::TransferTimeout, 3), LATER]).given_way, 2);
    crew(&mut bench, &[(Actor::TransferError, 1)]);
    assert_eq!(told(&bench), [Told::Failed, Told::Nothing]);
}

#[test]
fn a_loss_takes_one_message_once_there_is_one() {
    let mut bench = Bench::new(newest(), scope(TWO));
    let report = crew(&mut bench, &[(Actor::Loss, 3), LATER]);
    assert_eq!(report.given_way, 2);
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode]);
    let lane = Lane::ToPrefill { from: 0, to: 0 };
    assert_eq!(bench.state.cell.world.waiting(lane), 2);
    let report = crew(&mut bench, &[(Actor::Loss, 3), LATER]);
    assert_eq!((report.given_way, bench.state.cell.world.waiting(lane)), (0, 1));
}

/// Which pieces have landed, as sets of bits.
fn landed(bench: &Bench) -> Vec<u8> {
    bench.state.cell.world.fabric.with(|fabric| fabric.iter().map(|write| write.landed).collect())
}

#[test]
fn one_card_lands_the_oldest_piece_and_the_other_the_newest() {
    for (card, expected) in [(Actor::Fabric, [1, 0]), (Actor::SecondRail, [0, 2])] {
        let mut bench = posted("slices = 2\nslow_pages = 0");
        crew(&mut bench, &[(card, 1), LATER]);
        assert_eq!(landed(&bench), expected, "{card}");
    }
    let mut bench = posted("slices = 2");
    let report = crew(&mut bench, &[(Actor::Fabric, 9)]);
    assert!(!report.cut_short && report.sites.iter().filter(|site| **site == Site::Land).count() == 3);
}

#[test]
fn what_one_card_is_landing_no_other_card_lands() {
    let mut bench = Bench::new(newest(), scope("slices = 2"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    let landings = Arc::new(AtomicUsize::new(0));
    let heard = Arc::clone(&landings);
    let listener = Arc::new(move |thread: usize, site: Site, _: &_| {
        if site == Site::Land {
            heard.fetch_add(1, Ordering::Relaxed);
            if thread == 0 {
                BEGUN.wait();
                GO_ON.wait();
            }
        }
    });
    let shifts = [(Actor::SecondRail, 1), (Actor::Fabric, 2)].map(|(actor, turns)| Shift { actor, turns });
    _ = work::<DuringALanding>(&bench.state, bench.serving.config(), &shifts, Some(listener));
    assert_eq!(landings.load(Ordering::Relaxed), 2, "each piece once");
}

#[test]
fn a_listener_takes_all_that_one_peer_sends_while_another_is_silent() {
    let mut bench = Bench::new(newest(), scope(&format!("{TWO}\ndecode_ranks = 2")));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode]);
    let waiting = |bench: &Bench| [0, 1].map(|from| bench.state.cell.world.waiting(Lane::ToPrefill { from, to: 0 }));
    assert_eq!(waiting(&bench), [2, 2]);
    bench.take([Step::Deliver(Lane::ToPrefill { from: 1, to: 0 }); 2]);
    crew(&mut bench, &[(Actor::BootstrapThread(0), 3)]);
    assert_eq!(waiting(&bench), [0, 0]);
}

#[test]
fn a_listener_looks_at_metadata_and_at_statuses_in_turn() {
    let (control, metadata) = (Lane::ToDecode { from: 0, to: 0 }, Lane::Aux { from: 0, to: 0 });
    let waiting = |bench: &Bench| [control, metadata].map(|lane| bench.state.cell.world.waiting(lane));
    let sent = || {
        let mut bench = Bench::new(newest(), scope("aux_by_message = true"));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER]);
        assert_eq!(waiting(&bench), [1, 1]);
        bench
    };
    for (turns, left) in [(1, [0, 1]), (2, [0, 0])] {
        let mut bench = sent();
        crew(&mut bench, &[(Actor::DecodeThread(0), turns), LATER]);
        assert_eq!(waiting(&bench), left);
    }
    // One of the two is enough to go on for.
    for other in [control, metadata] {
        let mut bench = sent();
        bench.take([Step::Deliver(other)]);
        let report = crew(&mut bench, &[(Actor::DecodeThread(0), 2), LATER]);
        assert_eq!((waiting(&bench), report.given_way), ([0, 0], 0), "{other} was taken before");
    }
}

#[test]
fn a_message_is_heard_once_its_connection_has_brought_it() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take([Step::Submit, Step::Prefill, Step::Decode]);
    let Step::Deliver(lane) = TO_PREFILL else { unreachable!() };
    crew(&mut bench, &[(Actor::BootstrapThread(0), 1), (Actor::Connection(lane), 1)]);
    assert_eq!(bench.state.cell.world.waiting(lane), 1);
    crew(&mut bench, &[(Actor::Connection(lane), 1), (Actor::BootstrapThread(0), 1)]);
    assert_eq!(bench.state.cell.world.waiting(lane), 0);
    // A connection with nothing to bring brings nothing of what is sent later.
    let mut bench = Bench::new(newest(), scope(""));
    bench.take([Step::Submit, Step::Prefill]);
    crew(&mut bench, &[(Actor::Connection(lane), 1), (Actor::DecodeScheduler, 1), (Actor::BootstrapThread(0), 1)]);
    assert_eq!(bench.state.cell.world.waiting(lane), 1);
    let mut bench = Bench::new(newest(), scope(TWO));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode]);
    crew(&mut bench, &[(Actor::Connection(lane), 1), (Actor::BootstrapThread(0), 3)]);
    assert_eq!(bench.state.cell.world.waiting(lane), 1, "the second one is on its way");
}

#[test]
fn what_is_at_rest_is_judged_only_when_nobody_was_cut_short() {
    let config = Config { switches: reference(), scope: scope("") };
    let outcome = run_on_threads::<OneByOne>(&config, 1);
    assert!(outcome.starved);
    assert_eq!(outcome.violations, [], "a request that has begun is not stuck yet");
}
