//! Where engines are installed.
//!
//! The work is done by the Python package of `engines/sglang/`, which is compiled in: a `pagefence` that was copied somewhere needs no
//! checkout. It is unpacked into the folder of the engines, under a name made of its contents.

use crate::error::DriveError;
use crate::host::Patience;
use crate::profiles;
use include_dir::{Dir, DirEntry, include_dir};
use pagefence::cell::Profile;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

static PACKAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../engines/sglang/src");

/// The folder of the engines.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
    package: PathBuf,
    python: OsString,
    patience: Patience,
}

/// A release that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// `0.5.22`.
    pub version: String,
    /// The torch that it runs with.
    pub torch: String,
    /// The `PYTHONPATH` of its environment; absent where it is not installed.
    pub python_path: Option<String>,
}

impl Release {
    /// `sglang==0.5.22`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("sglang=={}", self.version)
    }

    /// The profile that stands for it.
    #[must_use]
    pub fn profile(&self) -> Profile {
        profiles::of_version(&self.version)
    }
}

impl Home {
    /// The folder that `PAGEFENCE_ENGINES` names, or one under the user's data.
    ///
    /// # Errors
    /// When it can't be made, or the package not be unpacked into it.
    pub fn of_user() -> Result<Self, DriveError> {
        let data = || std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let share = || std::env::home_dir().map(|home| home.join(".local/share"));
        let default = || data().or_else(share).unwrap_or_default().join("pagefence/engines");
        Self::at(std::env::var_os("PAGEFENCE_ENGINES").map_or_else(default, PathBuf::from))
    }

    /// The folder `folder`.
    ///
    /// # Errors
    /// When it can't be made, or the package not be unpacked into it.
    pub fn at(folder: PathBuf) -> Result<Self, DriveError> {
        let python = std::env::var_os("PAGEFENCE_PYTHON").unwrap_or_else(|| "python3".into());
        let package = folder.join(format!("package-{:016x}", digest(&PACKAGE)));
        if !package.is_dir() {
            std::fs::create_dir_all(&folder).map_err(DriveError::io(&folder))?;
            let draft = tempfile::tempdir_in(&folder).map_err(DriveError::io(&folder))?;
            PACKAGE.extract(draft.path()).map_err(DriveError::io(draft.path()))?;
            // Another process may have been first, with the same.
            if let Err(error) = std::fs::rename(draft.keep(), &package)
                && !package.is_dir()
            {
                return Err(DriveError::Io { path: package, source: error });
            }
        }
        Ok(Self { folder, package, python, patience: Patience::default() })
    }

    /// With another Python than the user's, or another patience with the processes that it runs.
    #[must_use]
    pub fn with(self, python: impl Into<OsString>, patience: Patience) -> Self {
        Self { python: python.into(), patience, ..self }
    }

    /// How long a process may be silent.
    #[must_use]
    pub const fn patience(&self) -> Patience {
        self.patience
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes an environment for a release, `0.5.22` or `sglang==0.5.22`. The installer tells its progress on standard error.
    ///
    /// # Errors
    /// When the release is unknown, the system lacks something, or the index can't be reached: the installer has said which.
    pub fn install(&self, release: &str) -> Result<(), DriveError> {
        self.run("install", &self.known(release)?)
    }

    /// Removes a release, and what no other needs.
    ///
    /// # Errors
    /// When it is unknown or not installed.
    pub fn remove(&self, release: &str) -> Result<(), DriveError> {
        self.run("remove", &self.find(release)?)
    }

    /// Every release that can be installed, oldest first.
    ///
    /// # Errors
    /// When there is no Python.
    pub fn list(&self) -> Result<Vec<Release>, DriveError> {
        let mut command = self.command(&["list"]);
        let output = command.output().map_err(|error| self.no_python(error))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("without a word").to_owned();
            DriveError::Installer(format!("`{}` can't run the installer: {last}", self.python.to_string_lossy()))
        })
    }

    /// A release that can be installed, `0.5.22` or `sglang==0.5.22`.
    ///
    /// # Errors
    /// When it is unknown: the error has the list of those that are not.
    pub fn known(&self, release: &str) -> Result<Release, DriveError> {
        let version = release.trim_start_matches("sglang==");
        let known = self.list()?;
        if let Some(found) = known.iter().find(|each| each.version == version) {
            return Ok(found.clone());
        }
        let names: Vec<String> = known.iter().map(Release::name).collect();
        Err(DriveError::Installer(format!("unknown engine `{release}`; known: {}", names.join(", "))))
    }

    /// An installed release.
    ///
    /// # Errors
    /// When it is unknown, or not installed: the error says how to.
    pub fn find(&self, release: &str) -> Result<Release, DriveError> {
        let found = self.known(release)?;
        if found.python_path.is_none() {
            let name = found.name();
            return Err(DriveError::Installer(format!("{name} is not installed: pagefence engine install {name}")));
        }
        Ok(found)
    }

    /// A Python that runs a command of the package.
    pub(crate) fn python(&self, python_path: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "pagefence_sglang"]).env("PYTHONPATH", python_path);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    pub(crate) fn no_python(&self, source: std::io::Error) -> DriveError {
        DriveError::NoPython { python: self.python.to_string_lossy().into_owned(), source }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.python(&self.package.to_string_lossy());
        command.args(words).arg("--home").arg(&self.folder).stdin(Stdio::null());
        command
    }

    fn run(&self, what: &str, release: &Release) -> Result<(), DriveError> {
        let status = self.command(&[what, &release.version]).status().map_err(|error| self.no_python(error))?;
        if status.success() {
            return Ok(());
        }
        // It has said why.
        Err(DriveError::Installer(format!("{what} {}: failed ({status})", release.name())))
    }
}

/// A number made of every file in `folder`.
fn digest(folder: &Dir<'_>) -> u64 {
    fn feed(folder: &Dir<'_>, hasher: &mut FxHasher) {
        for entry in folder.entries() {
            match entry {
                // What Python has compiled beside its sources says nothing.
                DirEntry::Dir(inner) if inner.path().ends_with("__pycache__") => {}
                DirEntry::Dir(inner) => feed(inner, hasher),
                DirEntry::File(file) => {
                    hasher.write(file.path().as_os_str().as_encoded_bytes());
                    hasher.write(file.contents());
                }
            }
        }
    }
    let mut hasher = FxHasher::default();
    feed(folder, &mut hasher);
    hasher.finish()
}
