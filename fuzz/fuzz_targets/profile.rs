#![no_main]

use libfuzzer_sys::fuzz_target;
use pagefence_harness::targets::profile;

fuzz_target!(|bytes: &[u8]| {
    if let Err(crash) = profile(bytes) {
        panic!("{crash}");
    }
});
