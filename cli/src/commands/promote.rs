//! `pagefence promote`.

use super::save;
use crate::args::PromoteArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::view;
use anyhow::{Context as _, Result, bail};
use pagefence::cases::{Case, Pattern, Race, Status, Suite};
use pagefence::explore::{Finding, Words};
use pagefence::input::read_bytes;
use pagefence::report::{count, write_whole};
use pagefence_harness::promote::findings;
use pagefence_harness::targets::Target;
use pagefence_models::finding::replay;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// libFuzzer writes no larger ones.
const MAX_INPUT: u64 = 1 << 20;

/// What came of it.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    file: String,
    findings: &'a [Finding],
    saved: &'a [PathBuf],
}

pub fn run(args: &PromoteArgs, console: &mut Console) -> Result<Outcome> {
    let findings = read(args, console)?;
    let Some(worst) = findings.first() else { return Ok(Outcome::AsDeclared) };
    let saved = findings.iter().map(|finding| save(&args.into, finding)).collect::<Result<Vec<_>>>()?;
    for (finding, path) in findings.iter().zip(&saved) {
        let timeline = match finding.threads {
            Some(_) => replay(finding, finding.profile.switches)?.timeline,
            None => finding.story(&finding.profile, Some(path)),
        };
        console.timeline(&timeline)?;
        console.line("")?;
    }
    console.table(&view::explained(&findings, &view::known(&Suite::shipped(), &findings)))?;
    let mut saved = saved;
    if let Some(id) = &args.case {
        saved.push(write_case(&args.cases, id, worst)?);
    }
    for path in &saved {
        console.line(format!("saved {}", path.display()))?;
    }
    if args.case.is_some() {
        console.line("the case is a draft: tell its story, and add its name to the list in src/cases/suite.rs")?;
    }
    let file = args.file.display().to_string();
    console.json(&Report { command: "promote", file, findings: &findings, saved: &saved })?;
    Ok(Outcome::AsDeclared)
}

/// The findings that the file is, or shows. Of an input that is about pagefence itself there are none: it is kept as it is.
fn read(args: &PromoteArgs, console: &mut Console) -> Result<Vec<Finding>> {
    let file = args.file.display();
    if args.file.extension().is_some_and(|extension| extension == "json") {
        let finding = Finding::load(&args.file)?;
        let small = if finding.threads.is_some() { None } else { finding.minimise() };
        return Ok(vec![small.unwrap_or(finding)]);
    }
    let target = match args.target {
        Some(target) => target,
        None => target_of(&args.file).with_context(|| format!("{file}: say which target's it is, with --target"))?,
    };
    let bytes = read_bytes(&args.file, MAX_INPUT)?;
    if !target.is_about_engines() {
        let outcome = target.run(&bytes, &mut ());
        let Err(crash) = outcome else { bail!("{file}: is no crash of `{target}`") };
        console.line(format!("{crash}"))?;
        console.line(format!(
            "a fault of pagefence: mend it, and keep the input as corpus/{target}/NAME, which `cargo test` replays"
        ))?;
        return Ok(Vec::new());
    }
    let findings = findings(target, &bytes, args.declared);
    if findings.is_empty() {
        bail!("{file}: shows nothing as an input of `{target}` that no case declares; see --declared");
    }
    console.line(format!("promote: {} of `{target}`", count(findings.len() as u64, "finding")))?;
    console.line("")?;
    Ok(findings)
}

/// cargo-fuzz puts crashes into `artifacts/TARGET/`.
fn target_of(file: &Path) -> Option<Target> {
    file.parent()?.file_name()?.to_str()?.parse().ok()
}

/// Writes what a finding says into a new case, for somebody to tell its story.
fn write_case(folder: &Path, id: &str, finding: &Finding) -> Result<PathBuf> {
    let path = folder.join(format!("{id}.toml"));
    if path.exists() {
        bail!("{}: is there already", path.display());
    }
    let case = draft(id, finding);
    if let Err(problem) = case.validate() {
        bail!("{problem}; a case needs a shipped scope and profile");
    }
    write_whole(&path, toml::to_string(&case)?)?;
    Ok(path)
}

fn draft(id: &str, finding: &Finding) -> Case {
    let Words { kind, started, released, broke } = finding.signature;
    let list = |site: Option<pagefence::cell::Site>| site.into_iter().collect();
    let violation = Pattern {
        started: list(started),
        released: list(released),
        broke: vec![broke],
        within: vec![finding.scope.name.clone()],
        ..Pattern::of(kind)
    };
    let (found, held) = (vec![finding.profile.name.clone()], vec!["reference".to_owned()]);
    let mut case = Case {
        id: id.to_owned(),
        title: finding.signature.to_string(),
        status: Status::ModelFinding,
        references: Vec::new(),
        story: format!("Found by {}. Protocol steps: 1. ...", finding.found.explorer),
        scope: String::new(),
        producers: Vec::new(),
        script: Vec::new(),
        violation,
        consequences: Vec::new(),
        found: Vec::new(),
        held: Vec::new(),
        stopped_by: Vec::new(),
        races: Vec::new(),
    };
    match &finding.threads {
        Some(threads) => {
            let schedule = Some(threads.schedule.stretches());
            case.races = vec![Race { place: finding.place(), violation: None, found, held, schedule }];
        }
        None => {
            let (scope, producer) = match finding.scope.name.split_once(" by ") {
                Some((scope, _)) => (scope.to_owned(), finding.scope.requests.iter().find_map(|r| r.rejected)),
                None => (finding.scope.name.clone(), None),
            };
            case.producers = producer.into_iter().map(|rejection| rejection.by).collect();
            (case.scope, case.script, case.found, case.held) = (scope, finding.script.clone(), found, held);
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagefence_harness::corpus::seeds;

    #[test]
    fn a_draft_is_a_case_that_declares_its_finding() {
        for seed in ["S14", "S01-placeholder-3"] {
            let (_, input) = seeds().into_iter().find(|(name, _)| name == seed).unwrap();
            let finding = findings(Target::Script, &input.to_bytes(), true).remove(0);
            let case = draft("M99", &finding);
            let text = toml::to_string(&case).unwrap();
            let read = Case::parse("M99.toml", &text).unwrap();
            assert_eq!(read, case);
            assert!(Suite::of(vec![read]).declares(&finding).is_some(), "{text}");
        }
    }
}
