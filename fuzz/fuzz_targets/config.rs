#![no_main]

use libfuzzer_sys::fuzz_target;
use pagefence_harness::targets::config;

fuzz_target!(|bytes: &[u8]| {
    if let Err(crash) = config(bytes) {
        panic!("{crash}");
    }
});
