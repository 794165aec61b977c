//! The public faults that live between two accesses: where they must be found, and where they must not.

mod common;

use common::{job, profile, run};
use pagefence::cell::Site;
use pagefence::lifetime::Kind;
use pagefence_models::{Ending, Engine, Report};

/// A fault by its public number, where it shows, as what, released by which step, and the profiles on which it must be
/// found and must not.
struct Fault {
    id: &'static str,
    place: &'static str,
    kind: Kind,
    released: Option<Site>,
    found: &'static [&'static str],
    holds: &'static [&'static str],
}

const FAULTS: &[Fault] = &[
    Fault {
        id: "S14",
        place: "release/release-meets-landing",
        kind: Kind::WriteAfterFree,
        released: Some(Site::DecodeReleaseNow),
        found: &["sglang-0.5.11", "sglang-0.5.20"],
        holds: &["sglang-0.5.21", "sglang-0.5.23", "reference"],
    },
    Fault {
        id: "S15",
        place: "transfer/late-landing",
        kind: Kind::FreeInFlight,
        released: Some(Site::DecodeTimeout),
        found: &["sglang-0.5.21", "sglang-0.5.22", "sglang-0.5.23"],
        holds: &["sglang-0.5.11", "reference"],
    },
    Fault {
        id: "S20",
        place: "release/source-meets-landing",
        kind: Kind::ReadAfterFree,
        released: None,
        found: &["sglang-0.5.11", "sglang-0.5.20", "sglang-0.5.21", "sglang-0.5.22", "sglang-0.5.23"],
        holds: &["reference"],
    },
    Fault {
        id: "S23",
        place: "scheduler/aborted-batch",
        kind: Kind::Stuck,
        released: None,
        found: &["sglang-0.5.23 skip_acks=off"],
        holds: &["sglang-0.5.23", "reference"],
    },
    Fault {
        id: "S27",
        place: "transfer/error-with-sibling",
        kind: Kind::FreeInFlight,
        released: Some(Site::PrefillFailure),
        found: &["sglang-0.5.11", "sglang-0.5.20"],
        holds: &["sglang-0.5.21", "sglang-0.5.23", "reference"],
    },
    Fault {
        id: "S28",
        place: "scheduler/overlap",
        kind: Kind::StaleRead,
        released: None,
        found: &["sglang-0.5.21"],
        holds: &["sglang-0.5.23", "reference"],
    },
    Fault {
        id: "S39",
        place: "admission/room-used-again",
        kind: Kind::Crash,
        released: None,
        found: &["sglang-0.5.11"],
        holds: &["reference"],
    },
];

const ENOUGH: u64 = 40_000;
/// What must not be found is looked for this long.
const PATIENCE: u64 = 3_000;

fn shows(report: &Report, fault: &Fault) -> bool {
    report.met.iter().any(|met| {
        met.signature.kind == fault.kind && (fault.released.is_none() || met.signature.released == fault.released)
    })
}

#[test]
fn each_fault_is_found_where_it_is_declared() {
    let rows: Vec<_> = FAULTS.iter().flat_map(|fault| fault.found.iter().map(move |name| (fault, *name))).collect();
    let jobs: Vec<_> = rows
        .iter()
        .map(|(fault, name)| job(fault.place, profile(name), Engine::Shuttle, ENOUGH, &[fault.kind]))
        .collect();
    for (report, (fault, name)) in run(&jobs).iter().zip(&rows) {
        assert_eq!(report.ending, Ending::Found, "{} on {name}", fault.id);
        assert!(shows(report, fault), "{} on {name}: {:?}", fault.id, report.met);
    }
}

#[test]
fn no_fault_is_found_where_its_remedy_is_in() {
    let rows: Vec<_> = FAULTS.iter().flat_map(|fault| fault.holds.iter().map(move |name| (fault, *name))).collect();
    let jobs: Vec<_> =
        rows.iter().map(|(fault, name)| job(fault.place, profile(name), Engine::Shuttle, PATIENCE, &[])).collect();
    for (report, (fault, name)) in run(&jobs).iter().zip(&rows) {
        assert_eq!(report.ending, Ending::Truncated, "{} on {name}", fault.id);
        assert!(!shows(report, fault), "{} on {name}", fault.id);
    }
}

#[test]
fn loom_finds_them_too() {
    let loom = Engine::Loom { preemptions: Some(3) };
    for (id, name) in [("S15", "sglang-0.5.23"), ("S20", "sglang-0.5.23"), ("S27", "sglang-0.5.20")] {
        let fault = FAULTS.iter().find(|fault| fault.id == id).unwrap();
        let reports = run(&[job(fault.place, profile(name), loom, u64::MAX, &[fault.kind])]);
        assert!(reports[0].ending == Ending::Found && !reports[0].met.is_empty(), "{id}: {:?}", reports[0]);
    }
}
