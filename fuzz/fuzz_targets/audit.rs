#![no_main]

use libfuzzer_sys::fuzz_target;
use pagefence_harness::targets::audit;

fuzz_target!(|bytes: &[u8]| {
    if let Err(crash) = audit(bytes) {
        panic!("{crash}");
    }
});
