//! What no case declares, as SARIF, for services that show alerts.

use super::night::Night;
use anyhow::Result;
use pagefence::explore::Finding;
use pagefence::lifetime::{Kind, Severity};
use serde_json::{Value, json};
use serde_sarif::sarif::Sarif;

/// Where people read about pagefence.
const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// One rule for each kind of violation that was found, one result for each finding. A finding is about an engine, not about a line
/// of this repository, so its place is the file of the finding.
pub fn sarif(night: &Night) -> Result<String> {
    let findings = night.findings();
    let mut kinds: Vec<Kind> = findings.iter().map(|finding| finding.signature.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<Value> = kinds.iter().copied().map(rule).collect();
    let results: Vec<Value> = findings.into_iter().map(result).collect();
    let driver = json!({
        "name": "pagefence",
        "version": night.about.pagefence,
        "informationUri": HOME,
        "rules": rules,
    });
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    // Through the types of the format, so that nothing is written which it doesn't have.
    let sarif: Sarif = serde_json::from_value(value)?;
    Ok(serde_json::to_string_pretty(&sarif)?)
}

fn rule(kind: Kind) -> Value {
    json!({
        "id": kind.name(),
        "shortDescription": { "text": format!("{} ({})", kind.name(), kind.severity()) },
        "helpUri": format!("{HOME}/blob/main/SECURITY.md"),
        "defaultConfiguration": { "level": level(kind.severity()) },
    })
}

fn result(finding: &Finding) -> Value {
    let file = finding.file_name();
    let text = format!("{} on {} in {}", finding.signature, finding.profile.name, finding.place());
    json!({
        "ruleId": finding.signature.kind.name(),
        "level": level(finding.signature.kind.severity()),
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": format!("findings/{file}") } } }],
        "partialFingerprints": { "pagefence/v1": file },
    })
}

fn level(severity: Severity) -> &'static str {
    if severity > Severity::Race { "error" } else { "warning" }
}
