//! Runs one job in a process of its own, so that an engine that aborts takes nothing else with it.
//!
//! Reads the job as JSON from standard input and writes the report as JSON to standard output.

fn main() {
    // Coroutines that an engine has left unfinished are not to be torn down.
    std::process::exit(pagefence_models::isolated::worker());
}
