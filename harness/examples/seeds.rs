//! Writes the seeds of every target into `corpus/`: `cargo run -p pagefence-harness --example seeds`.

use pagefence::cell::Profile;
use pagefence::library::scopes;
use pagefence_harness::corpus::{root, seeds};
use pagefence_harness::targets::{SWITCH_BYTES, ScheduleInput, Target};
use std::fs;

fn main() -> std::io::Result<()> {
    let write = |target: Target, name: &str, bytes: &[u8]| {
        let folder = root().join(target.name());
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    let switches = [0; SWITCH_BYTES];
    for (name, input) in seeds() {
        let bytes = input.to_bytes();
        write(Target::Script, &name, &bytes)?;
        write(Target::Profile, &name, &[&switches[..], &bytes].concat())?;
        write(Target::Audit, &name, &[&[1, 0, 0][..], &bytes].concat())?;
    }
    for (place, scope) in scopes().enumerate() {
        let text = toml::to_string(&scope).expect("a scope is TOML");
        write(Target::Config, &format!("scope-{}", scope.name), &[&[1], text.as_bytes()].concat())?;
        let mut input = ScheduleInput { profile: place as u8, place: place as u8, ..ScheduleInput::default() };
        input.priorities.of = (0..16).rev().collect();
        input.priorities.changes = vec![5, 25];
        write(Target::Schedule, &format!("place-{place}"), &input.to_bytes())?;
    }
    for (profile, _) in Profile::presets() {
        let text = toml::to_string(&profile).expect("a profile is TOML");
        write(Target::Config, &format!("profile-{}", profile.name), &[&[0], text.as_bytes()].concat())?;
    }
    Ok(())
}
