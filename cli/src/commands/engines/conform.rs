//! `pagefence conform`.

use crate::args::ConformArgs;
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::progress::Spinner;
use anyhow::Result;
use pagefence::cell::{Config, Profile, Scope, Step};
use pagefence::explore::Serving;
use pagefence::library;
use pagefence::report::{Cell, Table, Tone, count};
use pagefence_drive::home::{Home, Release};
use pagefence_drive::lockstep::{Conformance, Difference, generate, minimise, run as hold};
use pagefence_drive::pair::{Hosts, inexpressible};
use serde::Serialize;

/// A class of differences: the same words that only one side says.
#[derive(Serialize)]
struct Class {
    scope: String,
    count: u64,
    /// The number of the first script that shows it.
    first: u64,
    /// That script, minimised.
    script: Vec<Step>,
    step: Step,
    only_model: Vec<String>,
    only_engine: Vec<String>,
}

/// How a scope came out.
#[derive(Serialize)]
struct Row {
    scope: String,
    scripts: u64,
    agree: u64,
    steps: u64,
    not_expressible: u64,
    differ: u64,
}

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    engine: String,
    profile: &'a str,
    seed: u64,
    interrupted: bool,
    scopes: &'a [Row],
    differences: &'a [Class],
}

pub fn run(args: &ConformArgs, console: &mut Console) -> Result<Outcome> {
    interrupt::flag();
    let home = Home::of_user()?;
    let release = home.find(&args.engine)?;
    let profile = release.profile();
    let scopes = scopes(args)?;
    let name = release.name();
    let each = args.scripts.div_ceil(scopes.len().max(1) as u64);
    console.line(format!(
        "conform: {name} against profile {}, seed {}, {} in each of {}",
        profile.name,
        args.seed,
        count(each, "script"),
        count(scopes.len() as u64, "scope")
    ))?;
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    let spinner = Spinner::bar("conform", (each * scopes.len() as u64) as usize);
    for scope in &scopes {
        spinner.at(scope.name.clone());
        if !interrupt::pressed() {
            rows.push(hold_scope(&home, &release, &profile, scope, each, args, &mut classes, &spinner)?);
        }
    }
    drop(spinner);
    print(&rows, &classes, console)?;
    let interrupted = interrupt::pressed();
    let (seed, profile) = (args.seed, profile.name.as_str());
    console.json(&Report {
        command: "conform",
        engine: name,
        profile,
        seed,
        interrupted,
        scopes: &rows,
        differences: &classes,
    })?;
    Ok(Outcome::found(!classes.is_empty() || interrupted))
}

/// The scopes that were asked for, or every shipped one whose scripts an engine can take: of those in which prefill may die, hardly
/// any script is without it.
fn scopes(args: &ConformArgs) -> Result<Vec<Scope>> {
    if args.scopes.is_empty() {
        return Ok(library::scopes()
            .filter(|scope| inexpressible(scope).is_none() && scope.faults.kills == 0 && is_small(scope))
            .collect());
    }
    Ok(args.scopes.iter().map(|word| library::scope(word)).collect::<Result<Vec<_>, _>>()?)
}

/// Whether a prompt of the scope is computed in no time. The incident at its full scale is no scope for thousands of scripts.
fn is_small(scope: &Scope) -> bool {
    const TOKENS: u32 = 1 << 12;
    scope.prefill_pages.max(scope.decode_pages).saturating_mul(scope.page_size) <= TOKENS
}

#[allow(clippy::too_many_arguments)]
fn hold_scope(
    home: &Home,
    release: &Release,
    profile: &Profile,
    scope: &Scope,
    each: u64,
    args: &ConformArgs,
    classes: &mut Vec<Class>,
    spinner: &Spinner,
) -> Result<Row> {
    let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
    let mut hosts = Hosts::start(home, release, scope)?;
    let mut row = Row { scope: scope.name.clone(), scripts: 0, agree: 0, steps: 0, not_expressible: 0, differ: 0 };
    for number in (0..each).take_while(|_| !interrupt::pressed()) {
        let script = generate(&serving, args.seed, number, args.steps);
        row.scripts += 1;
        match hold(&serving, &mut hosts, &script)? {
            Conformance::Agree { steps } => {
                row.agree += 1;
                row.steps += steps as u64;
            }
            Conformance::NotExpressible(_) => row.not_expressible += 1,
            Conformance::Differ(difference) => {
                row.differ += 1;
                file(&serving, &mut hosts, number, &script, *difference, classes)?;
            }
        }
        spinner.done(format!("{} agree, {} differ", row.agree, row.differ));
    }
    Ok(row)
}

/// Counts a difference among those of its class. Of a class that is new, the script is minimised.
fn file(
    serving: &Serving,
    hosts: &mut Hosts,
    number: u64,
    script: &[Step],
    difference: Difference,
    classes: &mut Vec<Class>,
) -> Result<()> {
    let scope = &serving.config().scope.name;
    let (only_model, only_engine) = difference.heard.differing();
    let same = |class: &&mut Class| {
        class.scope == *scope && class.only_model == only_model && class.only_engine == only_engine
    };
    if let Some(class) = classes.iter_mut().find(same) {
        class.count += 1;
        return Ok(());
    }
    let (script, difference) = minimise(serving, hosts, script, difference)?;
    let step = difference.step;
    classes.push(Class { scope: scope.clone(), count: 1, first: number, script, step, only_model, only_engine });
    Ok(())
}

fn print(rows: &[Row], classes: &[Class], console: &mut Console) -> Result<()> {
    let mut table = Table::new("", ["scope", "scripts", "agree", "steps", "not expressible", "differ"]);
    for row in rows {
        let tone = if row.differ == 0 { Tone::Good } else { Tone::Bad };
        table.push([
            row.scope.as_str().into(),
            row.scripts.to_string().into(),
            row.agree.to_string().into(),
            row.steps.to_string().into(),
            row.not_expressible.to_string().into(),
            Cell::new(row.differ.to_string(), tone),
        ]);
    }
    console.table(&table)?;
    for class in classes {
        console.line(format!(
            "\n{} in {}, first by script {}:",
            count(class.count, "difference"),
            class.scope,
            class.first
        ))?;
        let steps: Vec<String> = class.script.iter().map(ToString::to_string).collect();
        console.line(format!("  {}", steps.join("; ")))?;
        for (who, words) in [("model", &class.only_model), ("engine", &class.only_engine)] {
            for word in words {
                console.line(format!("  only the {who}: {word}"))?;
            }
        }
    }
    let agree: u64 = rows.iter().map(|row| row.agree).sum();
    let all: u64 = rows.iter().map(|row| row.scripts - row.not_expressible).sum();
    console.line(format!("{agree} of {} agree", count(all, "script")))?;
    Ok(())
}
