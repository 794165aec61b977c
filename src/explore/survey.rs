//! A survey: short hunts over many profiles and scopes, for what nobody has told of yet.

use super::budget::Budget;
use super::finding::Finding;
use super::hunt::{HuntOptions, hunt};
use crate::cell::{Profile, Scope};
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Something that nobody has told of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct News {
    /// The shortest script for it.
    pub finding: Finding,
    /// Where it was met, as (profile, scope), in the order of the survey.
    pub met: Vec<(String, String)>,
}

/// What a survey saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// Pairs of profile and scope that were hunted.
    pub hunted: usize,
    /// Of those, how many were searched to their end.
    pub closed: usize,
    /// Pairs that were not reached in time.
    pub skipped: usize,
    /// Signatures, met again or not, that somebody has told of.
    pub known: usize,
    /// Random walks that never came to rest.
    pub livelocks: u64,
    /// Signatures that nobody has told of, each once, the worst first.
    pub news: Vec<News>,
}

/// Hunts on each pair in turn until the budget is spent; each may use an equal share of the time that is left. `told`
/// says whether a finding is known; `at` hears of each pair before it is hunted.
pub fn survey(
    pairs: &[(Profile, Scope)],
    options: &HuntOptions,
    budget: &Budget<'_>,
    told: impl Fn(&Finding) -> bool,
    mut at: impl FnMut(&Profile, &Scope),
) -> Survey {
    let began = Instant::now();
    let stopped = || budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let mut survey = Survey::default();
    // Only what is news is worth its smallest script.
    let raw = HuntOptions { minimise: false, ..options.clone() };
    for (done, (profile, scope)) in pairs.iter().enumerate() {
        let left = budget.time.map(|time| time.saturating_sub(began.elapsed()));
        if stopped() || left.is_some_and(|left| left.is_zero()) {
            survey.skipped = pairs.len() - done;
            break;
        }
        at(profile, scope);
        let time = left.map(|left| left / (pairs.len() - done) as u32);
        let hunt = hunt(profile, scope, &raw, &Budget { time, ..*budget });
        survey.hunted += 1;
        survey.closed += usize::from(hunt.closed());
        survey.livelocks += hunt.livelocks();
        for finding in hunt.findings {
            if told(&finding) {
                survey.known += 1;
            } else {
                survey.add(finding);
            }
        }
    }
    for news in &mut survey.news {
        if stopped() {
            break;
        }
        if let Some(small) = news.finding.minimise() {
            news.finding = small;
        }
    }
    let severity = |news: &News| news.finding.violation.kind.severity();
    survey.news.sort_by_key(|news| (std::cmp::Reverse(severity(news)), news.finding.signature));
    survey
}

impl Survey {
    fn add(&mut self, finding: Finding) {
        let place = (finding.profile.name.clone(), finding.scope.name.clone());
        match self.news.iter_mut().find(|news| news.finding.signature == finding.signature) {
            Some(news) => {
                news.met.push(place);
                if finding.script.len() < news.finding.script.len() {
                    news.finding = finding;
                }
            }
            None => self.news.push(News { finding, met: vec![place] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Explorer;
    use crate::lifetime::{Kind, Severity};

    #[test]
    fn only_what_nobody_told_of_is_news() {
        let scope = crate::library::scope("abort").unwrap();
        let names = ["sglang-0.5.11", "sglang-0.5.20"];
        let pairs: Vec<_> = names.map(|name| (Profile::preset(name).unwrap(), scope.clone())).into();
        let explorers = vec![Explorer::Swarm];
        let options = HuntOptions { seed: 1, jobs: 1, explorers, stop_at: Severity::Corruption, minimise: true };
        let budget = Budget { walks: Some(256), ..Budget::default() };
        let mut heard = Vec::new();
        let told = |finding: &Finding| finding.signature.kind != Kind::FreeInFlight;
        let survey = survey(&pairs, &options, &budget, told, |profile, _| heard.push(profile.name.clone()));
        assert_eq!(heard, names);
        assert_eq!((survey.hunted, survey.closed, survey.skipped), (2, 0, 0));
        assert!(survey.known > 0);
        assert!(!survey.news.is_empty());
        for news in &survey.news {
            assert_eq!(news.finding.signature.kind, Kind::FreeInFlight);
            assert!(news.finding.minimised && !news.met.is_empty());
        }
    }

    #[test]
    fn what_was_not_reached_is_counted() {
        let pairs = [(Profile::reference(), crate::library::scope("abort").unwrap())];
        let explorers = Explorer::ALL.to_vec();
        let options = HuntOptions { seed: 1, jobs: 1, explorers, stop_at: Severity::Corruption, minimise: true };
        let budget = Budget { time: Some(std::time::Duration::ZERO), ..Budget::default() };
        let survey = survey(&pairs, &options, &budget, |_| false, |_, _| ());
        assert_eq!((survey.hunted, survey.skipped), (0, 1));
    }
}
