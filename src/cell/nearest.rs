//! "Did you mean": the nearest valid name to a mistyped one.

/// The candidate that is most like `name`; `None` without candidates.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates.max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)))
}
