//! Files that users bring: what is read, printed and read again is the same.

use super::Crash;
use pagefence::cases::Case;
use pagefence::explore::Finding;
use pagefence::library::{parse_profile, parse_scope};
use std::fmt::Debug;

/// What errors call the file.
const FILE: &str = "fuzz";

/// The first byte says what kind of file the rest is.
///
/// # Errors
/// When a file that is read is not the same once it has been printed, or a refusal is not one line.
pub fn config(bytes: &[u8]) -> Result<(), Crash> {
    let Some((kind, content)) = bytes.split_first() else { return Ok(()) };
    let text = || std::str::from_utf8(content).ok();
    match kind % 4 {
        0 => text().map_or(Ok(()), |text| again(parse_profile(FILE, text), toml, |text| parse_profile(FILE, text))),
        1 => text().map_or(Ok(()), |text| again(parse_scope(FILE, text), toml, |text| parse_scope(FILE, text))),
        2 => text().map_or(Ok(()), |text| again(Case::parse(FILE, text), toml, |text| Case::parse(FILE, text))),
        _ => again(Finding::parse(FILE, content), Finding::to_json, |text| Finding::parse(FILE, text.as_bytes())),
    }
}

fn toml(value: &impl serde::Serialize) -> String {
    toml::to_string(value).expect("what was read from TOML can be written as TOML")
}

fn again<T: PartialEq + Debug, E: ToString>(
    read: Result<T, E>,
    print: impl FnOnce(&T) -> String,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<(), Crash> {
    let value = match read {
        Ok(value) => value,
        Err(error) => return one_line(&error.to_string()),
    };
    let printed = print(&value);
    match parse(&printed) {
        Ok(same) if same == value => Ok(()),
        Ok(other) => Err(Crash(format!("read {value:?}\nprinted {printed}\nread again {other:?}"))),
        Err(error) => Err(Crash(format!("read {value:?}\nprinted {printed}\nrefused: {}", error.to_string()))),
    }
}

fn one_line(error: &str) -> Result<(), Crash> {
    if error.chars().any(char::is_control) {
        Err(Crash(format!("a refusal of several lines: {error:?}")))
    } else {
        Ok(())
    }
}
