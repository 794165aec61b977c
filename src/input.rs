//! Files from outside: bounded, and refused in one line that names the file.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Why an input can't be used: `FILE: …` or `FILE:LINE: …`, always one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file, as the user gave it.
    pub file: String,
    /// The line, from 1, where there is one to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
}

/// As much of a message as a terminal line bears.
const SHOWN: usize = 300;

impl InputError {
    /// Something is wrong with a file. Whatever a parser or the file itself put into `problem`, it becomes one line
    /// that can be printed.
    #[must_use]
    pub fn new(file: impl Into<String>, line: Option<usize>, problem: impl AsRef<str>) -> Self {
        Self { file: file.into(), line, problem: one_line(problem.as_ref()) }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for InputError {}

/// The text without line ends and control characters, cut where it gets long.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN + 1).collect();
    if line.chars().count() > SHOWN {
        line.pop();
        line.push('…');
    }
    line.trim_end().to_owned()
}

/// Reads a file of at most `cap` bytes of UTF-8 text. Devices and directories are refused before they are read.
///
/// # Errors
/// When it can't be read, is no regular file, is larger than `cap`, or is not text.
pub fn read_text(path: &Path, cap: u64) -> Result<String, InputError> {
    let name = path.display().to_string();
    let bytes = read_bytes(path, cap)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        InputError::new(&*name, Some(line), "not a text file: these bytes are not UTF-8")
    })
}

/// Reads a regular file of at most `cap` bytes.
///
/// # Errors
/// When it can't be read, is no regular file, or is larger than `cap`.
pub fn read_bytes(path: &Path, cap: u64) -> Result<Vec<u8>, InputError> {
    let fail = |problem: String| InputError::new(path.display().to_string(), None, problem);
    let metadata = std::fs::metadata(path).map_err(|error| fail(says(&error)))?;
    if metadata.is_dir() {
        return Err(fail("is a directory, not a file".to_owned()));
    }
    if !metadata.is_file() {
        return Err(fail("is not a regular file".to_owned()));
    }
    let too_large = || fail(format!("is larger than {} MiB, which no such file should be", cap >> 20));
    if metadata.len() > cap {
        return Err(too_large());
    }
    let file = File::open(path).map_err(|error| fail(says(&error)))?;
    // It may grow while it is read, and some file systems report no size at all.
    let mut bytes = Vec::new();
    file.take(cap + 1).read_to_end(&mut bytes).map_err(|error| fail(says(&error)))?;
    if bytes.len() as u64 > cap { Err(too_large()) } else { Ok(bytes) }
}

/// The system's words without its error number.
fn says(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_no_small_text_file_is_refused_in_one_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let refused = |name: &str| {
            let error = read_text(&path(name), 1 << 20).unwrap_err().to_string();
            error.rsplit_once(name).unwrap().1.to_owned()
        };
        assert_eq!(refused("missing"), ": no such file or directory");
        fs::create_dir(path("folder")).unwrap();
        assert_eq!(refused("folder"), ": is a directory, not a file");
        fs::write(path("binary"), b"ok\n\xff\xfe").unwrap();
        assert_eq!(refused("binary"), ":2: not a text file: these bytes are not UTF-8");
        File::create(path("huge")).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(refused("huge"), ": is larger than 1 MiB, which no such file should be");
        fs::write(path("small"), "text").unwrap();
        assert_eq!(read_text(&path("small"), 4).unwrap(), "text");
        assert!(read_text(&path("small"), 3).is_err());
    }

    #[test]
    fn hostile_text_can_not_forge_a_line() {
        let error = InputError::new("a\nb", Some(3), format!("x\u{1b}[31m\ny{}", "z".repeat(1000)));
        let text = error.to_string();
        assert!(!text.contains(char::is_control) && text.starts_with("a b:3: x [31m y"), "{text}");
        assert!(text.ends_with('…') && text.chars().count() < 320, "{text}");
    }
}
