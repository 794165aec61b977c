//! The same cell on operating-system threads.

use super::kit::{oldest, reference, scope};
use crate::cell::{Config, Leg, Outcome, RequestSpec, Scope, Switches, run_on_threads};
use crate::lifetime::{Kind, Verdict};
use crate::platform::Std;

/// More turns than any thread needs, however unfair the machine is.
const ROUNDS: u32 = 100_000_000;

fn run(switches: Switches, scope: Scope) -> Outcome {
    run_on_threads::<Std>(&Config { switches, scope }, ROUNDS)
}

#[test]
fn the_reference_serves_every_shipped_scope_without_a_violation() {
    for scope in crate::library::scopes() {
        let refused = |spec: &RequestSpec| {
            let longest = spec.prompt + spec.max_new - 1;
            spec.rejected.is_some() || spec.prompt > scope.prefill_limit() || longest > scope.decode_limit()
        };
        // Where pools are too small for all at once, decode may drop a running request.
        let pages = |spec: &RequestSpec| scope.pages(spec.prompt + spec.max_new - 1);
        let roomy = scope.requests.iter().map(pages).sum::<u32>() <= scope.decode_pages;
        for _ in 0..20 {
            let outcome = run(reference(), scope.clone());
            assert_eq!((outcome.violations, outcome.starved), (vec![], false), "{}", scope.name);
            for (spec, leg) in scope.requests.iter().zip(outcome.legs) {
                let expected = if refused(spec) { Verdict::Rejected } else { Verdict::Success };
                let dropped = !roomy && leg == Leg::Done(Verdict::Failed);
                assert!(dropped || leg == Leg::Done(expected), "{}: {leg:?}", scope.name);
            }
        }
    }
}

#[test]
fn the_incident_happens_on_threads_too() {
    let incident = "page_size = 16\nprefill_pages = 7\ndecode_pages = 9\nrequests = [{ prompt = 128, max_new = 2 }]";
    let outcome = run(oldest(), scope(incident));
    let kinds: Vec<Kind> = outcome.violations.iter().map(|violation| violation.kind).collect();
    assert!(kinds.contains(&Kind::StaleRead) && kinds.contains(&Kind::FalseSuccess), "{kinds:?}");
    assert_eq!(outcome.legs, [Leg::Done(Verdict::Success)]);
}

#[test]
fn a_run_that_is_cut_short_says_so() {
    let outcome = run_on_threads::<Std>(&Config { switches: reference(), scope: scope("") }, 1);
    assert!(outcome.starved);
}
