//! What can go wrong with an engine, each named, so that a user knows what to do.

use std::path::PathBuf;

/// Why an engine could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The engine is not known, or not installed; the installer says which, and what to do.
    #[error("{0}")]
    Installer(String),
    /// There is no Python that fits.
    #[error("`{python}` can't be run: {source}; name a Python of 3.11 or newer in PAGEFENCE_PYTHON")]
    NoPython {
        /// What was tried.
        python: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A file or folder.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A process that has an engine ready ended, or said nothing for too long.
    #[error("the {role} engine {what}; the last it said:\n{last_words}")]
    Host {
        /// Prefill or decode.
        role: &'static str,
        /// What it did.
        what: String,
        /// The end of its log.
        last_words: String,
    },
    /// A node ended, said nothing for too long, or said something that no node says.
    #[error("the {role} node {what}")]
    Node {
        /// Prefill or decode.
        role: &'static str,
        /// What it did.
        what: String,
    },
    /// The scope or the step has no counterpart on an engine.
    #[error("not expressible on an engine: {0}")]
    NotExpressible(String),
}

impl DriveError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
