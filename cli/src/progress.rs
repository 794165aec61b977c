//! A line that moves while a run goes on.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pagefence::explore::Progress;
use std::io::Write as _;

/// A spinner on standard error; nothing where nobody looks: no terminal, or `CI` is set.
pub struct Spinner(ProgressBar);

impl Spinner {
    pub fn new(what: &str) -> Self {
        let seen = std::env::var_os("CI").is_none();
        // Standard error that is no terminal is hidden by indicatif itself.
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(
            ProgressStyle::with_template("{spinner} {prefix} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        bar.set_prefix(what.to_owned());
        Self(bar)
    }

    /// A bar for so many things.
    pub fn bar(what: &str, all: usize) -> Self {
        let spinner = Self::new(what);
        spinner.0.set_length(all as u64);
        let style = ProgressStyle::with_template("{spinner} {prefix} {bar:30} {pos}/{len}, {elapsed}, {msg}");
        spinner.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        spinner
    }

    /// One more is done.
    pub fn done(&self, what: String) {
        self.0.set_message(what);
        self.0.inc(1);
    }

    /// Says something that stays, above the line that moves; on standard error, also where nobody watches the line.
    pub fn say(&self, what: &str) {
        self.0.suspend(|| _ = writeln!(anstream::stderr().lock(), "{what}"));
    }

    /// Says what is looked at now.
    pub fn at(&self, what: String) {
        self.0.set_prefix(what);
    }

    /// Says how far a run has come.
    pub fn tell(&self, progress: &Progress) {
        let Progress { elapsed, states, steps, depth, frontier, walks, findings } = *progress;
        let did = if states > 0 {
            format!("{states} states, depth {depth}, {frontier} waiting")
        } else {
            format!("{walks} walks, {steps} steps")
        };
        self.0.set_message(format!("{:.0} s, {did}, {findings} signatures", elapsed.as_secs_f64()));
        self.0.tick();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
