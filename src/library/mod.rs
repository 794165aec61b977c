//! What pagefence ships, and what users bring: scopes and profiles, by name or from a TOML file.

mod profile;
mod scopes;
pub(crate) mod toml_file;

pub use profile::{parse_profile, profile};
pub use scopes::{parse_scope, scope, scopes};

use std::path::Path;

/// The largest scope or profile file.
const MAX_FILE: u64 = 1 << 20;

/// Whether a word on the command line is a file and not a name: it ends in `.toml` or has a directory in it.
fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml") || word.contains(['/', '\\'])
}
