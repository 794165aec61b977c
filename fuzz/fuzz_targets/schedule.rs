#![no_main]

use libfuzzer_sys::fuzz_target;
use pagefence_harness::targets::schedule;

fuzz_target!(|bytes: &[u8]| {
    if let Err(crash) = schedule(bytes) {
        panic!("{crash}");
    }
});
