//! `pagefence confirm`.

use super::{record, start, violations, write_trace};
use crate::args::ConfirmArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::scripted::Scripted;
use anyhow::Result;
use pagefence::report::{Cell, Table, Tone};
use pagefence_drive::home::Home;
use pagefence_drive::lockstep::Trial;
use pagefence_drive::{DriveError, pair};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What an engine says to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Confirmed,
    NotReproduced,
    NotExpressible,
}

impl Answer {
    const fn text(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::NotReproduced => "not reproduced",
            Self::NotExpressible => "not expressible",
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Confirmed => Tone::Bad,
            Self::NotReproduced => Tone::Good,
            Self::NotExpressible => Tone::Warn,
        }
    }
}

#[derive(Serialize)]
struct Row {
    finding: String,
    engine: String,
    goal: String,
    answer: Answer,
    /// Which operation has no counterpart, or where the engine first did something else than the model, and what.
    why: String,
    trace: Option<PathBuf>,
}

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    findings: &'a [Row],
}

pub fn run(args: &ConfirmArgs, console: &mut Console) -> Result<Outcome> {
    let home = Home::of_user()?;
    let mut rows = Vec::new();
    for word in &args.scripts {
        let scripted = Scripted::load(word)?;
        rows.push(ask(&home, &scripted, args, console)?);
    }
    let mut table = Table::new("", ["finding", "engine", "violation", "answer", "why"]);
    for row in &rows {
        let answer = Cell::new(row.answer.text(), row.answer.tone());
        let words = |text: &String| Cell::from(text.as_str());
        table.push([words(&row.finding), words(&row.engine), words(&row.goal), answer, words(&row.why)]);
    }
    console.table(&table)?;
    for path in rows.iter().filter_map(|row| row.trace.as_ref()) {
        console.line(format!("written to {}", path.display()))?;
    }
    console.json(&Report { command: "confirm", findings: &rows })?;
    Ok(Outcome::found(rows.iter().any(|row| row.answer == Answer::Confirmed)))
}

fn ask(home: &Home, scripted: &Scripted, args: &ConfirmArgs, console: &mut Console) -> Result<Row> {
    let engine = args.engine.clone().or_else(|| scripted.release());
    let release = home.find(engine.as_deref().unwrap_or("sglang==0.5.23"))?;
    let row = |answer, why, trace| Row {
        finding: scripted.name.clone(),
        engine: release.name(),
        goal: scripted.goal(),
        answer,
        why,
        trace,
    };
    if let Some(what) = pair::inexpressible(&scripted.scope) {
        return Ok(row(Answer::NotExpressible, what, None));
    }
    let mut hosts = start(home, &release, scripted, console)?;
    let (trial, recording) = match record(scripted, &release, &mut hosts, |_| ()) {
        Err(error) => match error.downcast::<DriveError>()? {
            DriveError::NotExpressible(what) => return Ok(row(Answer::NotExpressible, what, None)),
            other => return Err(other.into()),
        },
        Ok(recorded) => recorded,
    };
    if scripted.is_shown(&violations(&trial)) {
        let stale = if trial.stale() > 0 { format!("{} slots read stale", trial.stale()) } else { String::new() };
        let path = args.out.as_deref().map(|folder| trace_path(folder, scripted, &release.version));
        if let Some(path) = &path {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            write_trace(path, &recording)?;
        }
        return Ok(row(Answer::Confirmed, stale, path));
    }
    if let Some(what) = &trial.inexpressible {
        return Ok(row(Answer::NotExpressible, format!("`{what}`"), None));
    }
    Ok(row(Answer::NotReproduced, instead(&trial), None))
}

/// `M04-0.5.23.jsonl.gz`.
fn trace_path(folder: &Path, scripted: &Scripted, version: &str) -> PathBuf {
    let stem = Path::new(&scripted.name).file_stem().unwrap_or_default().to_string_lossy();
    folder.join(format!("{stem}-{version}.jsonl.gz"))
}

/// Where the engine first did something else than the model, and what.
fn instead(trial: &Trial) -> String {
    let Some(at) = trial.first_difference() else {
        return "it does as the model, and that violates nothing else".to_owned();
    };
    let told = &trial.steps[at];
    let (model, engine) = told.heard.differing();
    let list = |words: &[String]| if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
    format!("move {} ({}): the engine says {}; the model {}", at + 1, told.at, list(&engine), list(&model))
}
