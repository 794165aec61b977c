//! Files are written whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file that could not be written. What was there before is still there.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {doing}", path.display())]
pub struct WriteError {
    /// Which file.
    pub path: PathBuf,
    /// What was being done.
    doing: &'static str,
    /// Why it failed.
    #[source]
    pub source: std::io::Error,
}

/// Writes `content` to `path`, replacing what is there. A reader sees the old file or the new one, never a part: the
/// content goes to a temporary file beside it, which then takes its name.
///
/// # Errors
/// When the directory isn't there or isn't writable, when the disk is full, when `path` is a directory.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<(), WriteError> {
    let failed = |doing| move |source| WriteError { path: path.to_owned(), doing, source };
    // A bare file name has the empty path as its parent.
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pagefence-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Temporary files are private by default; a report is as readable as any new file (the umask still applies),
        // and one that is replaced keeps what it had.
        let kept = std::fs::metadata(path).map_or(0o666, |m| m.permissions().mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(kept));
    }
    let mut file = builder.tempfile_in(directory).map_err(failed("no temporary file beside it"))?;
    file.write_all(content.as_ref()).map_err(failed("the content does not go to disk"))?;
    file.as_file().sync_all().map_err(failed("the content does not go to disk"))?;
    file.persist(path).map_err(|e| failed("the new file cannot take its name")(e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(directory: &Path) -> Vec<String> {
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        write_whole(&path, "old, and longer").unwrap();
        write_whole(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(directory.path()), ["report.html"]);
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_and_names_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "kept").unwrap();
        let error = write_whole(&path, "new").unwrap_err();
        assert!(error.to_string().contains("report"), "{error}");
        assert_eq!(fs::read_to_string(path.join("inside")).unwrap(), "kept");
        assert_eq!(names(directory.path()), ["report"], "no temporary file stays behind");

        let nowhere = directory.path().join("missing/report.html");
        assert!(write_whole(&nowhere, "new").unwrap_err().to_string().contains("missing/report.html"));
    }
}
