//! Which findings a case is about.

use crate::cell::Site;
use crate::explore::Words;
use crate::lifetime::{Kind, Violation};
use serde::{Deserialize, Serialize};

/// A set of signatures. A list that is empty allows everything, so that a case can name a consequence (`stale-read`)
/// or a cause (`released = ["DecodeTimeout"]`) alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// What is wrong: any of these.
    pub kinds: Vec<Kind>,
    /// The step that started it: any of these.
    #[serde(default)]
    pub started: Vec<Site>,
    /// The release path: any of these.
    #[serde(default)]
    pub released: Vec<Site>,
    /// Only findings without a release path: the access was posted after the slot had been taken away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreleased: bool,
    /// The step in which it broke: any of these.
    #[serde(default)]
    pub broke: Vec<Site>,
    /// Only in these scopes: what is broad must not hide a fault elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
}

impl Pattern {
    /// A pattern of one kind, however it comes about.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self { kinds: vec![kind], ..Self::default() }
    }

    /// Whether one of these is among `violations`.
    #[must_use]
    pub fn is_among(&self, violations: &[Violation]) -> bool {
        violations.iter().filter_map(Words::of).any(|words| self.matches(&words))
    }

    /// Whether a finding that was made in `scope` is one of these.
    #[must_use]
    pub fn matches_in(&self, scope: &str, finding: &Words) -> bool {
        (self.within.is_empty() || self.within.iter().any(|within| names(within, scope))) && self.matches(finding)
    }

    /// Whether a finding is one of these, wherever it was made.
    #[must_use]
    pub fn matches(&self, finding: &Words) -> bool {
        let among = |allowed: &[Site], site: Option<Site>| {
            allowed.is_empty() || site.is_some_and(|site| allowed.contains(&site))
        };
        self.kinds.contains(&finding.kind)
            && among(&self.started, finding.started)
            && among(&self.released, finding.released)
            && !(self.unreleased && finding.released.is_some())
            && among(&self.broke, Some(finding.broke))
    }
}

/// Whether a scope is the one called `name`, or that one with another producer: `planted`, `planted by queue-limit`.
pub(super) fn names(name: &str, scope: &str) -> bool {
    scope.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" by "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> Words {
        Words {
            kind: Kind::WriteAfterFree,
            started: Some(Site::WorkerPost),
            released: Some(Site::DecodeReleaseNow),
            broke: Site::Land,
        }
    }

    #[test]
    fn a_pattern_holds_in_the_scopes_that_it_names() {
        let anywhere = Pattern::of(Kind::WriteAfterFree);
        let somewhere = Pattern { within: vec!["planted".to_owned()], ..anywhere.clone() };
        for (scope, holds) in [("planted", true), ("planted by grammar", true), ("planted-2", false), ("abort", false)]
        {
            assert!(anywhere.matches_in(scope, &finding()));
            assert_eq!(somewhere.matches_in(scope, &finding()), holds, "{scope}");
        }
    }

    #[test]
    fn an_empty_list_allows_everything() {
        let pattern = Pattern { kinds: vec![Kind::WriteAfterFree], ..Pattern::default() };
        assert!(pattern.matches(&finding()));
        assert!(pattern.matches(&Words { released: None, ..finding() }));
    }

    #[test]
    fn a_named_step_must_be_there() {
        let pattern =
            Pattern { kinds: vec![Kind::WriteAfterFree], released: vec![Site::DecodeReleaseNow], ..Pattern::default() };
        assert!(pattern.matches(&finding()));
        assert!(!pattern.matches(&Words { released: None, ..finding() }));
        assert!(!pattern.matches(&Words { released: Some(Site::DecodeTimeout), ..finding() }));
    }

    #[test]
    fn a_pattern_can_ask_for_no_release_path() {
        let pattern = Pattern { kinds: vec![Kind::WriteAfterFree], unreleased: true, ..Pattern::default() };
        assert!(!pattern.matches(&finding()));
        assert!(pattern.matches(&Words { released: None, ..finding() }));
    }

    #[test]
    fn another_kind_is_another_finding() {
        let pattern = Pattern { kinds: vec![Kind::StaleRead], ..Pattern::default() };
        assert!(!pattern.matches(&finding()));
    }
}
