//! Corpora: seeds that the cases give, and folders of inputs.

use crate::input::{Input, Op};
use crate::targets::Target;
use crate::worlds::{World, Worlds};
use pagefence::cases::{Case, Suite};
use pagefence::cell::{Producer, Step};
use pagefence::explore::{Protocol as _, Walker};
use std::io;
use std::path::{Path, PathBuf};

/// The input that takes `script` in `world`, as far as its steps are enabled.
#[must_use]
pub fn encode(world: &World, script: &[Step]) -> Vec<Op> {
    let mut walker = Walker::new(&world.serving);
    let mut ops = Vec::new();
    for step in script {
        let family = world.serving.family(step);
        let enabled = walker.enabled().iter();
        let pick = enabled.filter(|other| world.serving.family(other) == family).position(|other| other == step);
        // A pick is a byte: what lies beyond is not reached by any input.
        let Some(pick) = pick.and_then(|pick| u8::try_from(pick).ok()) else { continue };
        ops.push(Op { family, pick });
        walker.take(step);
    }
    ops
}

/// The scripts of the shipped cases, each on the first profile that shows it, by name.
///
/// # Panics
/// Never: cases name what exists.
#[must_use]
pub fn seeds() -> Vec<(String, Input)> {
    let worlds = Worlds::shipped();
    let mut seeds = Vec::new();
    for case in Suite::shipped().cases() {
        let Some(first) = case.found.first() else { continue };
        let profile = Case::profile(first).expect("cases name profiles that exist");
        // A profile with switches set is none that an input can name.
        let (Some(profile), Some(scope)) = (worlds.profile(&profile.name), worlds.scope(&case.scope)) else { continue };
        let all = |producer: &Producer| Producer::ALL.iter().position(|known| known == producer);
        let producers: Vec<u8> = case.producers.iter().filter_map(all).map(|at| at as u8 + 1).collect();
        for producer in if producers.is_empty() { vec![0] } else { producers } {
            let input = Input { profile, scope, producer, ops: Vec::new() };
            let world = worlds.world(worlds.key(&input));
            let ops = encode(&world, &case.script);
            let name = if producer == 0 { case.id.clone() } else { format!("{}-{producer}", case.id) };
            seeds.push((name, Input { ops, ..input }));
        }
    }
    seeds
}

/// Where the corpora of this repository are.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

/// The files of a target in the corpus at `root`, in the order of their names; none if it has no folder.
///
/// # Errors
/// When the folder can't be read.
pub fn files(root: &Path, target: Target) -> io::Result<Vec<PathBuf>> {
    let folder = root.join(target.name());
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::Walk;

    #[test]
    fn the_seed_of_a_case_takes_its_script_as_far_as_it_goes_and_shows_its_violation() {
        let (suite, worlds) = (Suite::shipped(), Worlds::shipped());
        let seeds = seeds();
        assert!(seeds.len() > 20, "{}", seeds.len());
        for (name, input) in seeds {
            let world = worlds.world(worlds.key(&input));
            let mut walk = Walk::new(&world);
            let found: Vec<_> = walk.walk(&input, &mut ()).iter().map(|met| met.violation.clone()).collect();
            let case = suite.cases().iter().filter(|case| name.starts_with(&case.id)).max_by_key(|case| case.id.len());
            let case = case.unwrap();
            // Some producers refuse an iteration later, and the drain takes what is left of the script; 0.5.11's worker posts
            // without a look at the room first, one step less than the scripts that later versions show too.
            let mut rest = case.script.iter();
            assert!(walk.script().iter().all(|step| rest.any(|other| other == step)) && walk.skipped() == 0, "{name}");
            assert!(case.violation.is_among(&found), "{name}");
        }
    }
}
