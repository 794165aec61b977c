//! Profiles: presets, TOML files, and settings on top.

use super::{MAX_FILE, is_file, toml_file};
use crate::cell::{Profile, Switch};
use crate::input::{InputError, read_text};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// A profile as a file: `base` is where it starts from (everything off without one), `switches` what differs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    name: String,
    #[serde(default)]
    base: Option<Spanned<String>>,
    #[serde(default)]
    switches: BTreeMap<Spanned<String>, bool>,
}

/// The profile that `word` means (a shipped one by name, or a TOML file), with settings such as `metadata_gate=off`
/// applied in order.
///
/// # Errors
/// When there is no such profile or switch (the error names the nearest), and when the file is not one.
pub fn profile(word: &str, settings: &[String]) -> Result<Profile, InputError> {
    let start = if is_file(word) {
        parse_profile(word, &read_text(Path::new(word), MAX_FILE)?)?
    } else {
        Profile::preset(word).map_err(|error| InputError::new("profile", None, error.to_string()))?
    };
    settings.iter().try_fold(start, |profile, setting| {
        profile.set(setting).map_err(|error| InputError::new(format!("--set {setting}"), None, error.to_string()))
    })
}

/// The profile that `text`, the content of a TOML file, describes; `file` is what errors call it.
///
/// # Errors
/// In one line, with the nearest valid key.
pub fn parse_profile(file: &str, text: &str) -> Result<Profile, InputError> {
    let read: ProfileFile = toml_file::parse(file, text)?;
    let at = |start: usize, problem: &dyn ToString| {
        InputError::new(file, Some(toml_file::line_at(text, start)), problem.to_string())
    };
    let base = match &read.base {
        Some(base) => Profile::preset(base.get_ref()).map_err(|error| at(base.span().start, &error))?.switches,
        None => crate::cell::Switches::default(),
    };
    let switches = read.switches.iter().try_fold(base, |set, (name, on)| {
        let switch: Switch = name.get_ref().parse().map_err(|error| at(name.span().start, &error))?;
        Ok(set.with(switch, *on))
    })?;
    Ok(Profile { name: read.name, switches })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_starts_from_a_base() {
        let text = "name = 'mine'\nbase = 'sglang-0.5.22'\n[switches]\ndoor = false\nbatch_bound = true\n";
        let profile = parse_profile("x.toml", text).unwrap();
        let expected = Profile::preset("sglang-0.5.22").unwrap();
        let expected = expected.with(Switch::Door, false).with(Switch::BatchBound, true).switches;
        assert_eq!(profile, Profile { name: "mine".to_owned(), switches: expected });
        let bare = parse_profile("x.toml", "name = 'bare'\n").unwrap();
        assert_eq!(bare.switches.iter().count(), 0);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let refused = |text: &str| parse_profile("x.toml", text).unwrap_err().to_string();
        let cases = [
            (
                "name = 'x'\nbase = 'sglang-0.5.2'\n",
                "x.toml:2: unknown profile `sglang-0.5.2`; did you mean `sglang-0.5.20`?",
            ),
            ("name = 'x'\n[switches]\ndor = true\n", "x.toml:3: unknown switch `dor`; did you mean `door`?"),
            ("nam = 'x'\n", "x.toml:1: unknown key `nam`; did you mean `name`?"),
            ("base = 'reference'\n", "x.toml: the key `name` is missing"),
            ("name = 'x'\n[switches]\ndoor = 'on'\n", "x.toml:3: invalid type: string \"on\", expected a boolean"),
        ];
        for (text, expected) in cases {
            assert_eq!(refused(text), expected);
        }
    }

    #[test]
    fn settings_apply_to_presets() {
        let changed = profile("reference", &["door=off".to_owned()]).unwrap();
        assert!(!changed.switches.on(Switch::Door) && changed.name == "reference door=off");
        let wrong = profile("reference", &["dor=off".to_owned()]).unwrap_err().to_string();
        assert_eq!(wrong, "--set dor=off: unknown switch `dor`; did you mean `door`?");
        let name = profile("refrence", &[]).unwrap_err().to_string();
        assert_eq!(name, "profile: unknown profile `refrence`; did you mean `reference`?");
        assert!(profile("./nowhere.toml", &[]).unwrap_err().to_string().contains("no such file"));
    }
}
