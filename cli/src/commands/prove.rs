//! `pagefence prove`.

use crate::args::{ProveArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::progress::Spinner;
use crate::view;
use anyhow::Result;
use pagefence::cell::{Config, Profile, Scope, Step};
use pagefence::explore::{Budget, Exhaustive, ExhaustiveOptions, Finding, Serving, exhaustive};
use pagefence::library;
use pagefence::report::{Cell, Table, Tone, count, grouped};
use serde::Serialize;
use std::time::Instant;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    profile: &'a Profile,
    options: &'a ExhaustiveOptions,
    proven: bool,
    scopes: &'a [Proof],
}

/// One scope.
#[derive(Serialize)]
struct Proof {
    scope: String,
    verdict: &'static str,
    seconds: f64,
    states: u64,
    transitions: u64,
    depth: u32,
    closed: bool,
    stop: pagefence::explore::StopReason,
    /// In hexadecimal, as it is printed: JSON readers lose the low bits of large numbers.
    digest: String,
    findings: Vec<Finding>,
}

pub fn run(args: &ProveArgs, console: &mut Console) -> Result<Outcome> {
    interrupt::flag();
    let profile = library::profile(&args.profile.profile, &args.profile.settings)?;
    let scopes: Vec<Scope> = if args.scope.is_empty() {
        library::scopes().collect()
    } else {
        args.scope.iter().map(|word| library::scope(word)).collect::<Result<_, _>>()?
    };
    let options =
        ExhaustiveOptions { stop_at: Some(args.stop_at.into()), symmetry: !args.no_symmetry, jobs: threads(args.jobs) };
    let symmetry = if options.symmetry { "on" } else { "off" };
    let some = pagefence::lifetime::Severity::from(args.stop_at);
    console.line(format!(
        "prove: profile {}, {}, symmetry {symmetry}, jobs {}, stop at {some:?}",
        profile.name,
        count(scopes.len() as u64, "scope"),
        options.jobs
    ))?;

    let mut proofs = Vec::new();
    for scope in scopes {
        let proof = prove(args, &options, &profile, scope);
        console.line(line(&proof))?;
        proofs.push(proof);
        if interrupt::pressed() {
            break;
        }
    }
    print(&proofs, &profile, args.timelines, console)?;
    let proven = !interrupt::pressed() && proofs.iter().all(|proof| proof.verdict == "clean");
    console.json(&Report { command: "prove", profile: &profile, options: &options, proven, scopes: &proofs })?;
    Ok(Outcome::found(!proven))
}

fn prove(args: &ProveArgs, options: &ExhaustiveOptions, profile: &Profile, scope: Scope) -> Proof {
    let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
    let spinner = Spinner::new(&format!("proving {}", scope.name));
    let budget = Budget {
        time: args.budget,
        states: args.states,
        memory: Some(args.memory << 20),
        stop: Some(interrupt::flag()),
        progress: Some(&|progress| spinner.tell(progress)),
        ..Budget::default()
    };
    let began = Instant::now();
    let done: Exhaustive<Step> = exhaustive(&serving, options, &budget);
    let seconds = began.elapsed().as_secs_f64();
    let findings: Vec<Finding> = done
        .findings
        .iter()
        .filter_map(|found| Finding::new(found, profile.clone(), scope.clone(), "exhaustive", 0))
        .collect();
    let verdict = match (done.closed, findings.is_empty()) {
        (_, false) => "found",
        (true, true) => "clean",
        (false, true) => "TRUNCATED",
    };
    Proof {
        scope: scope.name,
        verdict,
        seconds,
        states: done.states,
        transitions: done.transitions,
        depth: done.depth,
        closed: done.closed,
        stop: done.stop,
        digest: format!("{:016x}", done.digest),
        findings,
    }
}

/// A line as soon as a scope is done: the table comes when all are.
fn line(proof: &Proof) -> String {
    format!("{}: {}; {}", proof.scope, proof.verdict, view::stop(proof.stop))
}

fn print(proofs: &[Proof], profile: &Profile, timelines: bool, console: &mut Console) -> Result<()> {
    let findings = || proofs.iter().flat_map(|proof| &proof.findings);
    if timelines && console.is_text() {
        for finding in findings() {
            console.line("")?;
            console.timeline(&finding.story(profile, None))?;
        }
    }
    console.line("")?;
    if findings().next().is_some() {
        console.table(&view::findings(&findings().cloned().collect::<Vec<_>>()))?;
    }
    let head = ["scope", "verdict", "states", "transitions", "depth", "search", "signatures", "seconds", "digest"];
    let mut table = Table::new("", head);
    for proof in proofs {
        let tone = if proof.verdict == "clean" { Tone::Good } else { Tone::Bad };
        let search = if proof.closed { Cell::new("closed", Tone::Good) } else { Cell::new("TRUNCATED", Tone::Bad) };
        table.push([
            proof.scope.as_str().into(),
            Cell::new(proof.verdict, tone),
            grouped(proof.states).into(),
            grouped(proof.transitions).into(),
            proof.depth.to_string().into(),
            search,
            proof.findings.len().to_string().into(),
            format!("{:.2}", proof.seconds).into(),
            proof.digest.as_str().into(),
        ]);
    }
    console.table(&table)?;
    Ok(())
}
