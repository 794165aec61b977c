//! Runs the command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run of the command said.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs `pagefence` with these words, as if nobody looked, on a terminal of 100 columns.
pub fn pagefence<I: AsRef<OsStr>>(words: impl IntoIterator<Item = I>) -> Said {
    pagefence_with(words, [("CI", "1")])
}

/// The same, with more in its environment.
pub fn pagefence_with<I, V>(
    words: impl IntoIterator<Item = I>,
    more: impl IntoIterator<Item = (&'static str, V)>,
) -> Said
where
    I: AsRef<OsStr>,
    V: AsRef<OsStr>,
{
    let output = Command::new(env!("CARGO_BIN_EXE_pagefence"))
        .args(words)
        .env("COLUMNS", "100")
        .env("CI", "1")
        .env_remove("CLICOLOR_FORCE")
        .envs(more)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Said {
    /// It went as declared.
    pub fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.out.contains('\u{1b}') && !self.err.contains('\u{1b}'), "colours in a pipe");
        self
    }

    /// It refused, in one line.
    pub fn refused(self) -> String {
        let said = self.is(2);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        assert!(!said.err.contains("panicked"), "{}", said.err);
        said.err
    }

    /// The JSON document that it printed.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out))
    }
}

/// A directory of a test's own.
pub struct Desk(tempfile::TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The names of what is in it.
    pub fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

/// The names of what is in a directory, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A hunt that is over in no time and finds the same on every machine: a small search that closes, or is cut short by
/// its findings alone.
pub fn small_scope(desk: &Desk) -> PathBuf {
    let text = "name = 'small'\npage_size = 2\nprefill_pages = 2\ndecode_pages = 2\nfaults = { aborts = 1 }\n\
                timers = { bootstrap = 1, waiting = 1, release = 1 }\nrequests = [{ prompt = 2 }, { prompt = 2 }]\n";
    desk.write("small.toml", text)
}
