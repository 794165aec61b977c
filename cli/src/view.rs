//! What several commands print alike.

use pagefence::cases::Suite;
use pagefence::explore::{Finding, Run, StopReason};
use pagefence::lifetime::Severity;
use pagefence::report::{Cell, Table, Tone, count, grouped};
use pagefence_models::Ending;
use serde::Serialize;

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

/// The case that explains a finding.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// Its name.
    pub case: String,
    /// Whether the case names this very profile; otherwise the finding is only alike.
    pub declared: bool,
}

impl Known {
    /// The case that explains a finding, if one does.
    pub fn of(suite: &Suite, finding: &Finding) -> Option<Self> {
        let declares = suite.declares(finding);
        let case = declares.or_else(|| suite.resembles(finding))?;
        Some(Self { case: case.id.clone(), declared: declares.is_some() })
    }

    /// `S27`, `like S27`, or `-`.
    pub fn text(known: Option<&Self>) -> String {
        match known {
            Some(Self { case, declared: true }) => case.clone(),
            Some(Self { case, .. }) => format!("like {case}"),
            None => "-".to_owned(),
        }
    }
}

/// The case that explains each finding, in their order.
pub fn known(suite: &Suite, findings: &[Finding]) -> Vec<Option<Known>> {
    findings.iter().map(|finding| Known::of(suite, finding)).collect()
}

/// The table of findings with a column more.
pub fn explained(findings: &[Finding], known: &[Option<Known>]) -> Table {
    let mut table = self::findings(findings);
    table.head.push("known".to_owned());
    for (row, known) in table.rows.iter_mut().zip(known) {
        row.push(Known::text(known.as_ref()).into());
    }
    table
}

/// Findings, one a row.
pub fn findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Table {
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
            finding.place().into(),
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
