//! What several commands print alike.

use pagefence::explore::{Finding, Run, StopReason};
use pagefence::lifetime::Severity;
use pagefence::report::{Cell, Table, Tone};
use pagefence_models::Ending;

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 state`, `2 states`.
pub fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Why a run stopped, in words.
pub const fn stop(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Closed => "closed: every reachable state was visited",
        StopReason::Time => "TRUNCATED: the time is up",
        StopReason::States => "TRUNCATED: the limit of states is reached",
        StopReason::Memory => "TRUNCATED: the memory limit is reached",
        StopReason::Found => "stopped at a finding",
        StopReason::Interrupted => "TRUNCATED: interrupted",
        StopReason::Walks => "as many walks as were asked for",
    }
}

/// What an explorer did, in a line.
pub fn run(run: &Run) -> String {
    let mut did = Vec::new();
    if let Some(states) = run.states {
        did.push(count(states, "state"));
        did.push(count(run.steps, "transition"));
    }
    did.extend(run.depth.map(|depth| format!("depth {depth}")));
    if let Some(walks) = run.walks {
        did.push(count(walks, "walk"));
        did.push(count(run.steps, "step"));
        let time_is_up = run.stop == StopReason::Time;
        did.push(if time_is_up { "time is up".to_owned() } else { stop(run.stop).to_owned() });
    } else {
        did.push(stop(run.stop).to_owned());
    }
    if run.livelocks > 0 {
        did.push(format!("{} NEVER CAME TO REST", count(run.livelocks, "walk")));
    }
    let signatures = count(run.signatures as u64, "signature");
    format!("{}: {signatures} in {:.1} s; {}", run.explorer, run.seconds, did.join(", "))
}

/// The tone of a severity.
pub fn tone(severity: Severity) -> Tone {
    if severity > Severity::Race { Tone::Bad } else { Tone::Warn }
}

/// Findings, one a row.
pub fn findings(findings: &[Finding]) -> Table {
    let mut table = Table::new("", ["kind", "started", "released", "broke", "steps", "times", "found by", "scope"]);
    for finding in findings {
        let words = &finding.signature;
        let site = |site: Option<pagefence::cell::Site>| site.map_or("-", pagefence::cell::Site::name);
        table.push([
            Cell::new(words.kind.name(), tone(words.kind.severity())),
            site(words.started).into(),
            site(words.released).into(),
            words.broke.name().into(),
            finding.script.len().to_string().into(),
            grouped(finding.found.count).into(),
            finding.found.explorer.as_str().into(),
            finding.scope.name.as_str().into(),
        ]);
    }
    table
}

/// How a job of the models ended, in words.
pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Exhausted => "exhausted".to_owned(),
        Ending::Truncated => "truncated".to_owned(),
        Ending::Found => "found".to_owned(),
        Ending::Failed(why) => format!("FAILED: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_048_576), "1,048,576");
        assert_eq!(count(1, "state"), "1 state");
    }
}
