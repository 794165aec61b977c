#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use pagefence_harness::coverage::Counters;
use pagefence_harness::targets::Script;
use pagefence_harness::{Pins, mutate};
use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU8;

/// libFuzzer looks at this section after each input. `#[used]`, or it is optimised away in silence.
#[used]
#[unsafe(link_section = "__libfuzzer_extra_counters")]
static EXTRA: [AtomicU8; 1 << 14] = [const { AtomicU8::new(0) }; 1 << 14];

/// `PAGEFENCE_COUNTERS=off` hides the coverage of the protocol from the fuzzer, to measure what it is worth.
static COUNTED: LazyLock<bool> = LazyLock::new(|| std::env::var("PAGEFENCE_COUNTERS").as_deref() != Ok("off"));

thread_local! {
    static SCRIPT: RefCell<Script> = RefCell::new(Script::new(Pins::from_environment()));
}

fuzz_target!(|bytes: &[u8]| {
    let walked = SCRIPT.with_borrow_mut(|script| match *COUNTED {
        true => script.run(bytes, &mut Counters(&EXTRA)),
        false => script.run(bytes, &mut ()),
    });
    if let Err(crash) = walked {
        panic!("{crash}");
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, _max_size: usize, seed: u32| { mutate(data, size, seed) });
