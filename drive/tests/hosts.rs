//! Processes that are to become an engine, and don't: each is named, and nothing of it stays behind. In place of Python runs
//! a script of the shell.

use pagefence_drive::DriveError;
use pagefence_drive::home::{Home, Release};
use pagefence_drive::host::{Host, Options, Patience, Role};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a `python` in it that does what `script` says.
struct Stub {
    folder: TempDir,
    python: PathBuf,
}

impl Stub {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        // Written by another process: one that this process has open for writing could not be run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
        let done = Command::new("sh").args(["-c", write, "sh"]).arg(&python).arg(script).status().unwrap();
        assert!(done.success());
        Self { folder, python }
    }

    fn home(&self, start: Duration) -> Home {
        let patience = Patience { start, ..Patience::default() };
        Home::at(self.folder.path().join("home")).unwrap().with(&self.python, patience)
    }

    /// A host, and what is said of its becoming ready.
    fn made(&self, start: Duration) -> (Host, String) {
        let mut host = Host::start(&self.home(start), &release(), options()).unwrap();
        let said = host.made().unwrap_err().to_string();
        (host, said)
    }
}

const LONG: Duration = Duration::from_secs(60);

fn release() -> Release {
    Release { version: "0.5.22".to_owned(), torch: String::new(), python_path: Some(String::new()) }
}

fn options() -> Options {
    Options {
        role: Role::Prefill,
        node: 0,
        page_size: 4,
        pages: 8,
        longest_prompt: 32,
        chunk: 8,
        metadata_rows: 2,
        prefix_cache: false,
        bootstrap_port: 1,
        group_port: 2,
        environment: Default::default(),
    }
}

#[test]
fn an_engine_that_dies_while_it_starts_is_shown_with_its_last_words() {
    let stub = Stub::new("echo 'ImportError: no torch' >&2; exit 1");
    let said = stub.made(LONG).1;
    assert_eq!(said, "the prefill engine has ended before it was ready; the last it said:\nImportError: no torch");
}

#[test]
fn an_engine_that_says_something_else_is_shown_what_it_said() {
    let said = Stub::new("echo Segmentation fault; cat").made(LONG).1;
    assert!(said.starts_with("the prefill engine said Segmentation fault: "), "{said}");
    let said = Stub::new(r#"echo '{"say":"died","thread":"t","error":"e"}'; cat"#).made(LONG).1;
    assert!(said.contains("died"), "{said}");
}

#[test]
fn an_engine_that_hangs_is_given_up_and_its_processes_are_gone() {
    let stub = Stub::new("sleep 1000 & echo $! > \"${0}.child\"; cat; wait");
    let child = PathBuf::from(format!("{}.child", stub.python.display()));
    // How long it is waited for does not matter to what is said; a script of the shell is there by then or is not.
    let (host, said) = loop {
        let (host, said) = stub.made(Duration::from_millis(100));
        if fs::read_to_string(&child).is_ok_and(|text| text.ends_with('\n')) {
            break (host, said);
        }
    };
    assert!(said.starts_with("the prefill engine has not become ready in 0 s"), "{said}");
    let process: u32 = fs::read_to_string(&child).unwrap().trim().parse().unwrap();
    assert!(runs(process), "the child of the engine was there");
    drop(host);
    // The kernel takes a moment to end it.
    while runs(process) {
        std::thread::yield_now();
    }
}

/// Whether a process is there and is not just waiting to be buried.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    stat.is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z')))
}

const LIST: &str = r#"echo '[{"version":"0.5.11","torch":"2.11.0","python_path":null},
{"version":"0.5.22","torch":"2.14.1","python_path":"there"}]'"#;

#[test]
fn releases_are_found_by_their_number_or_their_full_name() {
    let stub = Stub::new(LIST);
    let home = stub.home(LONG);
    assert_eq!(home.find("0.5.22").unwrap().python_path.as_deref(), Some("there"));
    assert_eq!(home.find("sglang==0.5.22").unwrap().version, "0.5.22");
}

#[test]
fn a_release_that_is_unknown_or_not_installed_is_refused_with_what_to_do() {
    let stub = Stub::new(LIST);
    let home = stub.home(LONG);
    let unknown = "unknown engine `sglang==9`; known: sglang==0.5.11, sglang==0.5.22";
    assert_eq!(home.find("sglang==9").unwrap_err().to_string(), unknown);
    assert_eq!(home.install("sglang==9").unwrap_err().to_string(), unknown);
    assert_eq!(home.remove("sglang==9").unwrap_err().to_string(), unknown);
    let absent = "sglang==0.5.11 is not installed: pagefence engine install sglang==0.5.11";
    assert_eq!(home.find("0.5.11").unwrap_err().to_string(), absent);
    assert_eq!(home.remove("0.5.11").unwrap_err().to_string(), absent);
}

#[test]
fn a_python_that_is_not_there_or_too_old_is_told_of() {
    let stub = Stub::new("echo 'ModuleNotFoundError: no tomllib' >&2; exit 1");
    let said = stub.home(LONG).list().unwrap_err().to_string();
    assert!(said.ends_with("can't run the installer: ModuleNotFoundError: no tomllib"), "{said}");
    let nowhere = stub.home(LONG).with(stub.folder.path().join("nowhere"), Patience::default());
    let error = nowhere.list().unwrap_err();
    assert!(matches!(error, DriveError::NoPython { .. }));
    assert!(error.to_string().contains("PAGEFENCE_PYTHON"), "{error}");
}
