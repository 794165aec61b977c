//! `pagefence profiles`.

use crate::args::ProfilesArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::Result;
use pagefence::cell::{Profile, Switch};
use pagefence::report::{Cell, Table, Tone};
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report {
    command: &'static str,
    profiles: Vec<Described>,
    switches: Vec<SwitchReport>,
}

#[derive(Serialize)]
struct Described {
    about: &'static str,
    #[serde(flatten)]
    profile: Profile,
}

#[derive(Serialize)]
struct SwitchReport {
    name: &'static str,
    description: &'static str,
}

pub fn run(args: &ProfilesArgs, console: &mut Console) -> Result<Outcome> {
    let presets: Vec<(Profile, &str)> = Profile::presets().collect();
    for (profile, about) in &presets {
        console.line(format!("{:<14} {about}", profile.name))?;
    }
    console.line("")?;
    let short = |name: &str| name.trim_start_matches("sglang-").to_owned();
    let head = std::iter::once("switch".to_owned()).chain(presets.iter().map(|(profile, _)| short(&profile.name)));
    let mut table = Table::new("", head);
    for &switch in Switch::ALL {
        let state = |on| if on { Cell::new("on", Tone::Good) } else { Cell::new("-", Tone::Dim) };
        let states = presets.iter().map(|(profile, _)| state(profile.switches.on(switch)));
        table.push(std::iter::once(Cell::from(switch.name())).chain(states));
    }
    console.table(&table)?;
    if args.long {
        for &switch in Switch::ALL {
            console.line(format!("{}\n    {}", switch.name(), switch.description()))?;
        }
    } else {
        console.line("What each switch does: pagefence profiles --long")?;
    }
    console.json(&Report {
        command: "profiles",
        profiles: presets.into_iter().map(|(profile, about)| Described { about, profile }).collect(),
        switches: Switch::ALL.iter().map(|s| SwitchReport { name: s.name(), description: s.description() }).collect(),
    })?;
    Ok(Outcome::AsDeclared)
}
