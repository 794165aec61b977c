//! The shipped cases, in the binary.

use super::case::Case;
use crate::explore::Finding;

/// Embeds case files by name.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../cases/", $name, ".toml")))),*] };
}

/// Name and text of every file in `cases/`; a test keeps the list complete.
const SHIPPED: &[(&str, &str)] = &shipped![
    "INCIDENT",
    "INCIDENT-SMALL",
    "M01",
    "M02",
    "M03",
    "M04",
    "M05",
    "M06",
    "M07",
    "M08",
    "M09",
    "M10",
    "M11",
    "M12",
    "S01",
    "S01-at-result",
    "S01-immediate",
    "S01-length-check",
    "S01-placeholder",
    "S01-unmarked",
    "S03",
    "S03-hold",
    "S13",
    "S14",
    "S15",
    "S16",
    "S18",
    "S19",
    "S20",
    "S23",
    "S25",
    "S26",
    "S27",
    "S28",
    "S31",
    "S32",
    "S36",
    "S38",
    "S39",
];

/// The file of a case.
fn file(name: &str) -> String {
    format!("cases/{name}.toml")
}

/// A set of cases.
#[derive(Clone, Debug)]
pub struct Suite {
    cases: Vec<Case>,
}

impl Suite {
    /// Every shipped case.
    ///
    /// # Panics
    /// Never: a test parses them all.
    #[must_use]
    pub fn shipped() -> Self {
        let read = |(name, text): &(&str, &str)| Case::parse(&file(name), text).expect("shipped cases are valid");
        Self { cases: SHIPPED.iter().map(read).collect() }
    }

    /// A suite of these cases.
    #[must_use]
    pub const fn of(cases: Vec<Case>) -> Self {
        Self { cases }
    }

    /// The cases.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The case that tells of a finding, if one does: one that must be found on its profile, and whose violation or
    /// consequences the finding is. Of several, one whose own violation it is, then one of the same place.
    #[must_use]
    pub fn declares(&self, finding: &Finding) -> Option<&Case> {
        let shows = |case: &&Case| {
            let mut named = case.shown_on(finding).filter_map(|words| Case::profile(words).ok());
            named.any(|shown| shown.switches == finding.profile.switches)
        };
        // Profiles are parsed only of the few cases whose pattern fits.
        let told = self.cases.iter().filter(|case| case.tells(finding)).filter(shows);
        told.min_by_key(|case| case.distance(finding))
    }

    /// The case that explains a finding on a profile that no case names, such as a version with a patch: one whose
    /// violation the finding is, declared there for the most similar profile, of the same place if there is one. It says
    /// what to read, not that the finding is declared.
    #[must_use]
    pub fn resembles(&self, finding: &Finding) -> Option<&Case> {
        let fits = self.cases.iter().filter(|case| case.patterns().any(|own| own.matches(&finding.signature)));
        let differing = |case: &Case| {
            let switches = |words: &String| Case::profile(words).ok().map(|profile| profile.switches);
            let named = case.found.iter().chain(case.races.iter().flat_map(|race| &race.found)).filter_map(switches);
            named.map(|named| named.differing(finding.profile.switches)).min().unwrap_or(u32::MAX)
        };
        fits.min_by_key(|case| (!case.tells(finding), differing(case), case.distance(finding)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Producer, Profile};
    use crate::explore::{Found, Words};
    use crate::library;
    use crate::lifetime::{Label, Life, Violation};
    use std::path::Path;

    #[test]
    fn a_case_declares_on_its_profiles_and_resembles_on_others() {
        let suite = Suite::shipped();
        let stale = r#"{ "kind": "stale-read", "started": "DecodeAlloc", "broke": "DecodeStep" }"#;
        let alien = r#"{ "kind": "double-alloc", "broke": "Submit" }"#;
        let old = Profile::preset("sglang-0.5.11").unwrap();
        let patched = old.set("batch_bound=on").unwrap();
        let id = |case: Option<&Case>| case.map(|case| case.id.clone());
        let found = |words: &str, scope: &str, profile: &Profile| finding(words, scope, profile.clone());
        let full = found(stale, "incident-full", &old);
        assert_eq!(id(suite.declares(&full)).as_deref(), Some("INCIDENT"));
        assert_eq!(id(suite.declares(&found(stale, "incident-full", &patched))), None);
        assert_eq!(id(suite.resembles(&full)).as_deref(), Some("INCIDENT"));
        let small = found(stale, "incident-small", &old);
        assert_eq!(id(suite.declares(&small)).as_deref(), Some("INCIDENT-SMALL"));
        assert_eq!(id(suite.resembles(&small)).as_deref(), Some("INCIDENT-SMALL"));
        assert_eq!(id(suite.resembles(&found(alien, "incident-full", &old))), None);
        // Several cases are of requests that wait for a timer; on a patched version it is the one of that version.
        let stuck = r#"{ "kind": "stuck", "started": "DecodeAlloc", "broke": "Quiet" }"#;
        let patched = Profile::preset("sglang-0.5.23").unwrap().set("source_hold=on").unwrap();
        assert_eq!(id(suite.resembles(&found(stuck, "abort", &patched))).as_deref(), Some("S03"));
    }

    #[test]
    fn a_rejection_is_told_of_by_the_case_of_its_producer() {
        let suite = Suite::shipped();
        let old = Profile::preset("sglang-0.5.11").unwrap();
        let answered = r#"{ "kind": "false-success", "started": "PrefillReject", "broke": "Answer" }"#;
        for (producer, case) in
            [(Producer::EmbeddingUnmarked, "S01-unmarked"), (Producer::GrammarRefusesToken, "S01-at-result")]
        {
            let mut found = finding(answered, "planted", old.clone());
            found.scope = found.scope.planted_by(producer);
            assert_eq!(suite.declares(&found).map(|case| case.id.as_str()), Some(case));
        }
    }

    #[test]
    fn what_is_judged_at_rest_is_told_of_at_home_alone() {
        let suite = Suite::shipped();
        let newest = Profile::preset("sglang-0.5.23").unwrap();
        let lost = r#"{ "kind": "leak", "started": "DecodeAlloc", "broke": "Final" }"#;
        let declared = |scope| suite.declares(&finding(lost, scope, newest.clone())).map(|case| case.id.clone());
        assert_eq!(declared("huge-batch").as_deref(), Some("M09"));
        assert_eq!(declared("stall"), None);
    }

    /// A finding as far as a suite looks at it.
    fn finding(words: &str, scope: &str, profile: Profile) -> Finding {
        let signature: Words = serde_json::from_str(words).unwrap();
        let violation = Violation::bare(signature.kind, Life::first(0), Label::from(signature.broke));
        let (signature, steps) = (signature.into(), Vec::new());
        let found = Found { signature, violation, steps, at_rest: false, walk: None, count: 1 };
        Finding::new(&found, profile, library::scope(scope).unwrap(), "swarm", 0).unwrap()
    }

    #[test]
    fn every_case_file_is_shipped_valid_and_named_like_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        let shipped: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
        assert_eq!(shipped, files);
        for (name, text) in SHIPPED {
            let case = Case::parse(&file(name), text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(case.id, *name);
            assert!(!case.references.is_empty() && !case.story.is_empty(), "{name} says too little");
        }
    }
}
