//! Ctrl-C: the first one asks for an end, the second one gets it.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that SIGINT ends.
const KILLED: i32 = 130;

/// From now on Ctrl-C sets the flag that is returned; a command that takes long says so before it prints anything.
/// Where no handler can be set, Ctrl-C ends the process as ever.
pub fn flag() -> &'static AtomicBool {
    // A second call finds the handler set, which is as good.
    _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    });
    &STOP
}

/// Whether Ctrl-C was pressed.
pub fn pressed() -> bool {
    STOP.load(Ordering::Relaxed)
}
