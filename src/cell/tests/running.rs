//! Requests that decode runs: when one grows, and who goes when there is no room (D14, D15).

use super::kit::{Bench, HANDSHAKE, TO_DECODE, WORKER, land, newest, scope};
use crate::cell::{DecodeStage, Leg, Step};
use crate::lifetime::Verdict;

/// From a request that is sent to one that runs on decode.
fn run_first(bench: &mut Bench) {
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE, Step::Decode]);
}

#[test]
fn a_request_gets_a_page_when_its_next_token_starts_one() {
    for (prompt, pages) in [(3, vec![(0, 1)]), (4, vec![(0, 2)]), (5, vec![(0, 2)])] {
        let wide = format!("page_size = 4\ndecode_pages = 3\nrequests = [{{ prompt = {prompt}, max_new = 3 }}]");
        let mut bench = Bench::new(newest(), scope(&wide));
        run_first(&mut bench);
        assert_eq!(bench.decode_pages(0, 0), Some(pages), "a prompt of {prompt}");
    }
}

#[test]
fn only_requests_that_run_need_room_to_grow() {
    let two = "decode_pages = 5\nrequests = [{ prompt = 4, max_new = 3 }, { prompt = 3, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode]);
    bench.take([HANDSHAKE[3], HANDSHAKE[3], Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE]);
    assert_eq!(bench.decode_stage(1), Some(DecodeStage::Transfer), "its page would be full, and it does not run");
    bench.take([Step::Decode]);
    assert_eq!((bench.decode_stage(0), bench.legs(0).1), (Some(DecodeStage::Running), Leg::Open));
    assert_eq!(bench.decode_pages(0, 0).map(|pages| pages.len()), Some(2), "it has grown");
    assert!(!bench.answers().contains(&(0, Verdict::Failed)));
}
