//! Scripts for engines: of findings, and of cases.

use anyhow::{Result, bail};
use pagefence::cases::{Pattern, Suite};
use pagefence::cell::{Config, Scope, Step, Switches, nearest};
use pagefence::explore::{Finding, Seen, Serving, Words};
use pagefence::lifetime::Violation;
use pagefence_drive::home::Release;
use pagefence_drive::lockstep::{Move, drained};
use std::path::Path;

/// A script with what it is to show.
pub struct Scripted {
    /// What the user calls it.
    pub name: String,
    /// The scope that it runs in.
    pub scope: Scope,
    script: Vec<Step>,
    /// Whether the steps themselves show it, without those that follow.
    short: bool,
    goal: Goal,
    /// The profile that a finding was made under.
    profile: Option<(String, Switches)>,
}

enum Goal {
    Signature(Words),
    Pattern(Pattern),
}

impl Scripted {
    /// What `word` names: the file of a finding, or a case.
    ///
    /// # Errors
    /// When it is neither, or it takes threads to see it.
    pub fn load(word: &str) -> Result<Self> {
        if let Some(case) = Suite::shipped().cases().iter().find(|case| case.id == word) {
            let Some(scope) = case.scopes()?.into_iter().next() else {
                bail!("{word} has no script: it takes threads to see it");
            };
            let (script, goal) = (case.script.clone(), Goal::Pattern(case.violation.clone()));
            return Ok(Self { name: word.to_owned(), scope, script, short: false, goal, profile: None });
        }
        let path = Path::new(word);
        if !path.exists() {
            let suite = Suite::shipped();
            let near = nearest(word, suite.cases().iter().map(|case| case.id.as_str()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean the case `{near}`?"));
            bail!("`{word}` is neither a file nor a case{near}");
        }
        let finding = Finding::load(path)?;
        if finding.threads.is_some() {
            bail!("{word}: not expressible on an engine: the finding is a schedule of threads");
        }
        Ok(Self {
            name: word.to_owned(),
            scope: finding.scope,
            script: finding.script,
            short: finding.seen == Seen::Step,
            goal: Goal::Signature(finding.signature),
            profile: Some((finding.profile.name, finding.profile.switches)),
        })
    }

    /// The release whose profile the finding was made under.
    pub fn release(&self) -> Option<String> {
        let (name, _) = self.profile.as_ref()?;
        Some(format!("sglang=={}", name.split_whitespace().next()?.strip_prefix("sglang-")?))
    }

    /// The cell that stands for `release` in the scope of the script.
    pub fn serving(&self, release: &Release) -> Serving {
        Serving::new(Config { switches: release.profile().switches, scope: self.scope.clone() })
    }

    /// What is done with an engine that `serving` stands for.
    pub fn plan(&self, serving: &Serving) -> Vec<Move> {
        if self.short {
            return self.script.iter().copied().map(Move::Step).collect();
        }
        drained(serving, &self.script)
    }

    /// Whether what it is to show is among `violations`.
    pub fn is_shown(&self, violations: &[Violation]) -> bool {
        match &self.goal {
            Goal::Pattern(pattern) => pattern.is_among(violations),
            Goal::Signature(signature) => violations.iter().filter_map(Words::of).any(|words| words == *signature),
        }
    }

    /// What it is to show, in words.
    pub fn goal(&self) -> String {
        match &self.goal {
            Goal::Pattern(pattern) => pattern.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or "),
            Goal::Signature(signature) => signature.to_string(),
        }
    }
}
