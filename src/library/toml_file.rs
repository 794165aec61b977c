//! TOML from users: mistakes in one line, with the nearest valid key.

use crate::cell::nearest;
use crate::input::InputError;
use serde::de::DeserializeOwned;

/// Reads `text`, the content of `file`.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, InputError> {
    toml::from_str(text).map_err(|error| {
        let message = error.message();
        let key = message.strip_prefix("missing field ");
        let line = error.span().filter(|_| key.is_none()).map(|span| line_at(text, span.start));
        InputError::new(file, line, explain(message))
    })
}

/// The line of a byte.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The first line that sets `key`, in a table or inline.
pub(crate) fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let sets = |line: &str| {
        line.match_indices(key).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + key.len()..].trim_start();
            before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_') && after.starts_with(['=', '.', ']'])
        })
    };
    text.lines().position(sets).map(|at| at + 1)
}

/// serde's words for an unknown or a missing key, in ours.
fn explain(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (Some(found), known) = (quoted.first(), quoted.get(1..).unwrap_or_default()) else { return message.to_owned() };
    let near = nearest(found, known.iter().copied());
    match (message, near) {
        (m, Some(near)) if m.starts_with("unknown field") => format!("unknown key `{found}`; did you mean `{near}`?"),
        (m, None) if m.starts_with("unknown field") => format!("unknown key `{found}`; no key belongs here"),
        (m, Some(near)) if m.starts_with("unknown variant") => {
            format!("`{found}` is not possible here; did you mean `{near}`?")
        }
        (m, _) if m.starts_with("missing field") => format!("the key `{found}` is missing"),
        _ => message.to_owned(),
    }
}
