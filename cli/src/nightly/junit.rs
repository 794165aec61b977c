//! A night as JUnit XML, for services that show tests.

use super::night::Night;
use super::record::{Record, Verdict};
use anyhow::Result;
use pagefence::cases::{Row, Verdict as RowVerdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// A suite of each kind of task. A case has a test for each profile in each place; what was not done is skipped.
pub fn junit(night: &Night) -> Result<String> {
    let mut report = Report::new("pagefence nightly");
    for tally in night.tallies() {
        let mut suite = TestSuite::new(tally.area.name());
        suite.set_time(Duration::from_secs_f64(tally.seconds));
        for record in night.records.iter().filter(|record| record.task.area == tally.area) {
            suite.add_test_cases(tests(record));
        }
        for task in night.left.iter().filter(|task| task.area == tally.area) {
            let mut status = TestCaseStatus::skipped();
            status.set_message("not done");
            suite.add_test_case(test(task.to_string(), tally.area.name(), status, 0.0));
        }
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

fn tests(record: &Record) -> Vec<TestCase> {
    let area = record.task.area.name();
    if record.rows.is_empty() {
        let failed = record.verdict == Verdict::Failed;
        let mut test = test(record.task.to_string(), area, status(failed, &record.says), record.seconds);
        if failed {
            test.set_system_out(details(record));
        }
        return vec![test];
    }
    let of_row = |row: &Row| {
        let Row { case, profile, scope, .. } = row;
        let failed = row.verdict != RowVerdict::AsDeclared;
        let says = format!("{case} on {profile} in {scope}: {:?}", row.verdict);
        test(format!("{case} on {profile} in {scope}"), area, status(failed, &says), row.seconds)
    };
    record.rows.iter().map(of_row).collect()
}

fn details(record: &Record) -> String {
    let findings = record.findings.iter().map(|finding| format!("{} ({})", finding.signature, finding.file_name()));
    let crashes = record.crashes.iter().map(|crash| format!("{}: {}", crash.file, crash.says));
    findings.chain(crashes).collect::<Vec<_>>().join("\n")
}

fn status(failed: bool, says: &str) -> TestCaseStatus {
    if !failed {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(says);
    status
}

fn test(name: String, area: &str, status: TestCaseStatus, seconds: f64) -> TestCase {
    let mut test = TestCase::new(name, status);
    test.set_classname(format!("pagefence.{area}")).set_time(Duration::from_secs_f64(seconds));
    test
}
