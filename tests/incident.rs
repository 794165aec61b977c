//! The incident at its published scale: every prompt of the band reaches the unsafe path, none below it does.

use pagefence::cell::{Config, Profile, Step};
use pagefence::explore::{Moment, Protocol, Serving, Tail, replay};
use pagefence::gate::coverage;
use pagefence::library;
use pagefence::lifetime::{Event, Kind, Verdict};
use std::ops::ControlFlow;

const POOL: u32 = 681_280;
const CONTEXT: u32 = 1_048_576;

fn serving(profile: &str, prompt: u32) -> Serving {
    let mut scope = library::scope("incident-full").unwrap();
    scope.requests[0].prompt = prompt;
    // Chunking changes nothing about the band and would make a healthy prompt a thousand steps long.
    scope.chunk = u32::MAX;
    Serving::new(Config { switches: Profile::preset(profile).unwrap().switches, scope })
}

/// How many cells the first decode step finds stale when one request of `prompt` tokens is served without any fault.
fn stale(profile: &str, prompt: u32) -> u32 {
    let mut stale = 0;
    replay(&serving(profile, prompt), &[Step::Submit], Tail::Drain { bound: 256 }, |moment| {
        if let Moment::Step { violations, .. } = moment {
            let read = violations.iter().find(|violation| violation.kind == Kind::StaleRead);
            stale = stale.max(read.map_or(0, |violation| violation.cells));
        }
        ControlFlow::Continue(())
    });
    stale
}

#[test]
fn the_pool_covers_64_97_percent_and_leaves_a_band_of_367_296_tokens() {
    let coverage = coverage(u64::from(POOL), u64::from(CONTEXT));
    assert!(!coverage.covers);
    assert_eq!(coverage.share_basis_points, 6497);
    assert_eq!(coverage.band, 367_296);
}

#[test]
fn every_prompt_in_the_band_reads_slots_that_nobody_wrote() {
    for prompt in POOL + 1..=CONTEXT {
        assert_eq!(stale("sglang-0.5.11", prompt), prompt - 1, "prompt of {prompt} tokens");
    }
}

#[test]
fn no_prompt_below_the_band_does() {
    let edges = [1, 63, 64, 65, POOL - 64, POOL - 1, POOL];
    for prompt in edges.into_iter().chain((1..=POOL).step_by(61)) {
        assert_eq!(stale("sglang-0.5.11", prompt), 0, "prompt of {prompt} tokens");
    }
}

#[test]
fn the_doors_close_the_band() {
    for prompt in (POOL + 1..=CONTEXT).step_by(4099) {
        assert_eq!(stale("sglang-0.5.21", prompt), 0, "prompt of {prompt} tokens");
    }
}

#[test]
fn the_answer_is_200_with_the_original_prompt_tokens() {
    let serving = serving("sglang-0.5.11", 1_000_000);
    let mut state = serving.initial();
    let (mut violations, mut told) = (Vec::new(), None);
    let mut steps = Vec::from([Step::Submit]);
    for _ in 0..64 {
        for step in std::mem::take(&mut steps) {
            serving.apply_heard(&mut state, step, &mut violations, |_, event| {
                if let Event::Finish { told: answer, processed, .. } = event {
                    told = Some((answer.verdict, answer.prompt_tokens, *processed));
                }
            });
        }
        serving.steps(&state, &mut steps);
        steps.retain(|step| *step != Step::Elapse);
    }
    assert_eq!(told, Some((Verdict::Success, 1_000_000, Some(1))));
}

#[test]
fn in_small_127_of_128_slots_are_stale() {
    let scope = library::scope("incident-small").unwrap();
    let serving = Serving::new(Config { switches: Profile::preset("sglang-0.5.11").unwrap().switches, scope });
    let mut cells = Vec::new();
    replay(&serving, &[Step::Submit], Tail::Drain { bound: 256 }, |moment| {
        cells.extend(moment.violations().iter().filter(|v| v.kind == Kind::StaleRead).map(|v| v.cells));
        ControlFlow::Continue(())
    });
    assert_eq!(cells, [127]);
}
