//! `pagefence atlas`.

use crate::args::AtlasArgs;
use crate::atlas::table;
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::Result;
use pagefence::cell::Profile;
use pagefence::library;
use pagefence_harness::atlas::{Entry, draw};
use serde::Serialize;

/// The atlas of one profile, as it is printed in JSON.
#[derive(Serialize)]
struct Drawn {
    profile: String,
    cells: Vec<Entry>,
}

const LEGEND: [&str; 4] = [
    "",
    "A cell: in how many walks the request came there, and the worst that befell it in one of them.",
    "`.`: never reached; that is where to look next. p: prefill, d: decode.",
    "What one server refuses goes on at the other until that hears of it.",
];

pub fn run(args: &AtlasArgs, console: &mut Console) -> Result<Outcome> {
    let profiles: Vec<Profile> = if args.profiles.is_empty() {
        Profile::presets().map(|(profile, _)| profile).collect()
    } else {
        args.profiles.iter().map(|word| library::profile(word, &[])).collect::<Result<_, _>>()?
    };
    console.line(format!("atlas: seed {}, {} walks for each producer in each scope", args.seed, args.walks))?;
    let mut drawn = Vec::new();
    for profile in profiles {
        let atlas = draw(&profile, args.walks, args.seed);
        console.line("")?;
        console.table(&table(&profile.name, &atlas))?;
        drawn.push(Drawn { profile: profile.name, cells: atlas.entries().collect() });
    }
    for line in LEGEND {
        console.line(line)?;
    }
    console.json(&drawn)?;
    Ok(Outcome::AsDeclared)
}
