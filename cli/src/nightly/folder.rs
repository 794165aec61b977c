//! The folder of a night. What is in it is whole: files are written beside their place and moved there.

use super::budgets::Budgets;
use super::record::Record;
use super::task::Task;
use anyhow::{Context as _, Result, bail};
use pagefence::explore::Finding;
use pagefence::report::write_whole;
use pagefence_harness::targets::Target;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Which part of the work: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// Which, from 1.
    pub which: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { which: 1, of: 1 };

    /// The tasks that are this shard's: every n-th, so that each has some of every kind.
    pub fn of_these(self, tasks: Vec<Task>) -> Vec<Task> {
        tasks.into_iter().skip(self.which - 1).step_by(self.of).collect()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.which, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(which, of)| Some((which.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((which, of)) if (1..=of).contains(&which) => Ok(Self { which, of }),
            _ => Err("write which shard of how many: 2/4".to_owned()),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

/// What a night is: one with other budgets is another night, and may not go on in the same folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The version of pagefence.
    pub pagefence: String,
    /// A hash of the source that it was built from.
    pub source: String,
    /// Where random choices take their numbers from.
    pub seed: u64,
    /// Which part of the work.
    pub shard: Shard,
    /// The budgets.
    pub budgets: Budgets,
}

/// The folder of a night.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    /// Held as long as somebody works in it.
    _lock: File,
}

/// The file that says what the night is.
const ABOUT: &str = "night.json";

impl Folder {
    /// Begins a night in `root`, or goes on with the one that is there.
    ///
    /// # Errors
    /// When the folder holds something else, or somebody works in it.
    pub fn open(root: &Path, about: &About) -> Result<Self> {
        let shown = root.display();
        match read_about(root)? {
            Some(known) if known != *about => bail!(
                "{shown}: holds another night ({}); name another folder, or remove this one",
                difference(&known, about)
            ),
            Some(_) => Self::locked(root),
            None if fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some()) => {
                bail!("{shown}: is not empty, and no night; name another folder")
            }
            None => {
                fs::create_dir_all(root).with_context(|| shown.to_string())?;
                let folder = Self::locked(root)?;
                write_whole(&root.join(ABOUT), serde_json::to_string_pretty(about)?)?;
                Ok(folder)
            }
        }
    }

    fn locked(root: &Path) -> Result<Self> {
        let path = root.join(".lock");
        let lock = File::create(&path).with_context(|| path.display().to_string())?;
        if lock.try_lock().is_err() {
            bail!("{}: another night is at work in it", root.display());
        }
        for folder in ["tasks", "findings"] {
            let path = root.join(folder);
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        Ok(Self { root: root.to_owned(), _lock: lock })
    }

    /// A place in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A folder in it, which is made if it isn't there.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// Keeps a record, and its findings as files that can be replayed.
    pub fn keep(&self, record: &Record) -> Result<()> {
        for finding in &record.findings {
            self.keep_finding(finding)?;
        }
        let path = self.root.join("tasks").join(record.task.file_name());
        write_whole(&path, serde_json::to_string_pretty(record)?)?;
        Ok(())
    }

    /// Keeps a finding.
    pub fn keep_finding(&self, finding: &Finding) -> Result<()> {
        write_whole(&self.root.join("findings").join(finding.file_name()), finding.to_json())?;
        Ok(())
    }

    /// The record of a task that is done.
    pub fn record(&self, task: &Task) -> Result<Option<Record>> {
        read_json(&self.root.join("tasks").join(task.file_name()))
    }

    /// Takes over what a fuzzer of another folder has left: inputs and crashes.
    pub fn take_inputs(&self, other: &Path) -> Result<u64> {
        let mut taken = 0;
        for area in ["corpus", "crashes"] {
            for target in Target::ALL {
                let from = other.join(area).join(target.name());
                let Ok(entries) = fs::read_dir(&from) else { continue };
                let to = self.folder(&format!("{area}/{target}"))?;
                for entry in entries {
                    let path = entry.with_context(|| from.display().to_string())?.path();
                    // Named by what is in them, so the same name is the same input.
                    let Some(name) = path.file_name().filter(|_| path.is_file()) else { continue };
                    let content = fs::read(&path).with_context(|| path.display().to_string())?;
                    write_whole(&to.join(name), content)?;
                    taken += 1;
                }
            }
        }
        Ok(taken)
    }
}

/// What the night in `root` is; nothing if there is none.
pub fn read_about(root: &Path) -> Result<Option<About>> {
    read_json(&root.join(ABOUT))
}

/// Every record in `root`.
pub fn read_records(root: &Path) -> Result<Vec<Record>> {
    let folder = root.join("tasks");
    let mut paths: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?,
        Err(error) => bail!("{}: {error}", folder.display()),
    };
    paths.sort();
    let of_tasks = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    of_tasks.filter_map(|path| read_json(path).transpose()).collect()
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => bail!("{}: {error}", path.display()),
    };
    let value = serde_json::from_slice(&content);
    value.map(Some).map_err(|error| anyhow::anyhow!("{}: is not of this version of pagefence: {error}", path.display()))
}

/// What tells two nights apart, in a word.
fn difference(known: &About, about: &About) -> String {
    if known.pagefence != about.pagefence || known.source != about.source {
        "of another version of pagefence".to_owned()
    } else if known.seed != about.seed {
        format!("with seed {}", known.seed)
    } else if known.shard != about.shard {
        format!("shard {}", known.shard)
    } else {
        "with other budgets".to_owned()
    }
}
