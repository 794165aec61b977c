//! "Did you mean": the nearest valid name to a mistyped one.

/// The candidate that is most like `name`, the first of several; `None` without candidates.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // `min_by` keeps the first of equals, `max_by` the last.
    candidates.min_by(|a, b| strsim::jaro_winkler(name, b).total_cmp(&strsim::jaro_winkler(name, a)))
}
