//! A night beside the one before it.

use super::night::Night;
use super::record::Verdict;
use pagefence::cell::Producer;
use pagefence::report::{Cell, Table, Tone, grouped};
use pagefence_harness::atlas::Stage;
use std::collections::BTreeMap;

/// What is not as it was: a table of changes, and one of how far both came. Empty tables are left out.
pub fn compare(before: &Night, now: &Night) -> Vec<Table> {
    let mut changes = Table::new("since the night before", ["", "what", "where"]);
    findings(before, now, &mut changes);
    verdicts(before, now, &mut changes);
    cells(before, now, &mut changes);
    if changes.rows.is_empty() {
        changes.push([Cell::new("-", Tone::Dim), "nothing has changed".into(), "".into()]);
    }
    vec![changes, coverage(before, now)].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn findings(before: &Night, now: &Night, changes: &mut Table) {
    let (old, new) = (before.findings(), now.findings());
    let missing = |these: &[&pagefence::explore::Finding], name: &str| these.iter().all(|f| f.file_name() != name);
    for finding in new.iter().filter(|finding| missing(&old, &finding.file_name())) {
        let place = format!("{} in {}", finding.profile.name, finding.place());
        changes.push([Cell::new("found", Tone::Bad), finding.signature.to_string().into(), place.into()]);
    }
    for finding in old.iter().filter(|finding| missing(&new, &finding.file_name())) {
        let place = format!("{} in {}", finding.profile.name, finding.place());
        changes.push([Cell::new("not found again", Tone::Warn), finding.signature.to_string().into(), place.into()]);
    }
}

fn verdicts(before: &Night, now: &Night, changes: &mut Table) {
    for record in &now.records {
        let Some(old) = before.records.iter().find(|old| old.task == record.task) else { continue };
        if old.verdict != record.verdict {
            let failed = record.verdict == Verdict::Failed;
            let what = if failed { Cell::new("fails", Tone::Bad) } else { Cell::new("passes again", Tone::Good) };
            changes.push([what, record.says.as_str().into(), record.task.to_string().into()]);
        }
    }
}

/// Cells of the atlas that one of them reached, and what is worst in those that both did.
fn cells(before: &Night, now: &Night, changes: &mut Table) {
    let old: BTreeMap<_, _> = before.atlases().into_iter().collect();
    for (profile, atlas) in now.atlases() {
        let Some(old) = old.get(profile) else { continue };
        for (producer, stage) in Producer::ALL.iter().flat_map(|producer| Stage::ALL.map(|stage| (*producer, stage))) {
            let what = match (old.cell(producer, stage), atlas.cell(producer, stage)) {
                (None, Some(_)) => Cell::new("reached now", Tone::Warn),
                (Some(_), None) => Cell::new("not reached now", Tone::Warn),
                (Some(old), Some(new)) if new.worst > old.worst => Cell::new("worse", Tone::Bad),
                (Some(old), Some(new)) if new.worst < old.worst => Cell::new("better", Tone::Good),
                _ => continue,
            };
            changes.push([what, format!("{} at {}", producer.name(), stage.name()).into(), profile.into()]);
        }
    }
}

fn coverage(before: &Night, now: &Night) -> Table {
    let mut table =
        Table::new("how far the fuzzer came", ["target", "features before", "now", "executions before", "now"]);
    for record in now.fuzzed() {
        let Some(old) = before.fuzzed().find(|old| old.task == record.task) else { continue };
        let features = |record: &super::record::Record| record.curve.last().map_or(0, |point| point.features);
        table.push([
            record.task.place.clone(),
            grouped(features(old)),
            grouped(features(record)),
            grouped(old.done),
            grouped(record.done),
        ]);
    }
    table
}
