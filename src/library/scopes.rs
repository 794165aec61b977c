//! The shipped scopes, in the binary.

use super::{MAX_FILE, is_file, toml_file};
use crate::cell::{Scope, nearest};
use crate::input::{InputError, read_text};
use std::path::Path;

/// Embeds scope files by name.
macro_rules! shipped {
    ($($name:literal),+ $(,)?) => { [$(($name, include_str!(concat!("../../scopes/", $name, ".toml")))),+] };
}

/// Name and text of every file in `scopes/`; a test keeps the list complete.
const SHIPPED: &[(&str, &str)] = &shipped![
    "abort",
    "aux-message",
    "aux-rooms",
    "chunks",
    "death",
    "decode-rejection",
    "fan-in",
    "fan-out",
    "fan-out-slow",
    "hold",
    "huge-batch",
    "incident-full",
    "incident-small",
    "late-abort",
    "late-rejection",
    "loss",
    "overlap",
    "pairs",
    "planted",
    "quarantine",
    "rejection",
    "retry",
    "rooms",
    "roomy",
    "rows",
    "siblings",
    "stall",
    "timeouts",
];

/// Every shipped scope, by name.
///
/// # Panics
/// Never: a test parses them all.
pub fn scopes() -> impl Iterator<Item = Scope> {
    SHIPPED.iter().map(|(name, text)| read(name, text))
}

fn read(name: &str, text: &str) -> Scope {
    parse_scope(&format!("scopes/{name}.toml"), text).expect("shipped scopes are valid")
}

/// The scope that `word` means: a shipped one by name, or a TOML file.
///
/// # Errors
/// When there is no such scope (the error names the nearest), and when the file is not one.
pub fn scope(word: &str) -> Result<Scope, InputError> {
    if is_file(word) {
        return parse_scope(word, &read_text(Path::new(word), MAX_FILE)?);
    }
    // A scope is named like its file, so the others need not be parsed.
    SHIPPED.iter().find(|(name, _)| *name == word).map(|(name, text)| read(name, text)).ok_or_else(|| {
        let near = nearest(word, SHIPPED.iter().map(|(name, _)| *name)).unwrap_or_default();
        InputError::new(
            "scope",
            None,
            format!("there is no scope `{word}`; did you mean `{near}`? (a file ends in .toml)"),
        )
    })
}

/// The scope that `text`, the content of a TOML file, describes; `file` is what errors call it.
///
/// # Errors
/// In one line: what is impossible, with its key, or the nearest valid key.
pub fn parse_scope(file: &str, text: &str) -> Result<Scope, InputError> {
    let scope: Scope = toml_file::parse(file, text)?;
    match scope.validate() {
        Ok(()) => Ok(scope),
        Err(error) => Err(InputError::new(file, toml_file::line_of_key(text, error.key), error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_file_is_shipped_and_named_like_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scopes");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        let shipped: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
        assert_eq!(shipped, files);
        for scope in scopes() {
            assert_eq!(super::scope(&scope.name).unwrap(), scope);
            assert!(!scope.about.is_empty(), "{} says nothing about itself", scope.name);
        }
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_the_nearest_key() {
        let refused = |text: &str| parse_scope("x.toml", text).unwrap_err().to_string();
        let good = "name = 'x'\npage_size = 2\nprefill_pages = 3\ndecode_pages = 3\nrequests = [{ prompt = 2 }]\n";
        assert!(parse_scope("x.toml", good).is_ok());
        let cases = [
            ("decode_pages", "decode_page", "x.toml:4: unknown key `decode_page`; did you mean `decode_pages`?"),
            ("page_size = 2", "page_size = 0", "x.toml:2: scope `x`: `page_size` must be at least 1"),
            ("page_size = 2\n", "", "x.toml: the key `page_size` is missing"),
            ("{ prompt = 2 }", "{ promt = 2 }", "x.toml:5: unknown key `promt`; did you mean `prompt`?"),
            ("page_size = 2", "page_size = 'a'", "x.toml:2: invalid type: string \"a\", expected u32"),
            ("page_size = 2", "page_size = -1", "x.toml:2: invalid value: integer `-1`, expected u32"),
        ];
        for (from, to, expected) in cases {
            assert_eq!(refused(&good.replacen(from, to, 1)), expected);
        }
        let policy = refused(&format!("policy = 'hodl'\n{good}"));
        assert!(policy.starts_with("x.toml:1: ") && policy.contains("did you mean `hold`?"), "{policy}");
        assert!(refused("name = \n[[").starts_with("x.toml:1: "), "{}", refused("name = \n[["));
        let deep = format!("x = {}", "[".repeat(100_000));
        assert!(refused(&deep).starts_with("x.toml:1: "), "{}", refused(&deep));
    }

    #[test]
    fn an_unknown_name_brings_the_nearest() {
        let error = scope("abrot").unwrap_err().to_string();
        assert!(error.contains("did you mean `abort`?"), "{error}");
    }
}
