//! What ranks decide and what the client is told: `begin`, `decide`, `finish`.

use super::Oracle;
use super::draft::{Draft, Fact};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Answer, Kind, Label, Life, Verdict, Violation};

/// The first decision of one group on one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct First {
    group: u8,
    rank: u8,
    verdict: Verdict,
    /// The step that took it.
    label: Label,
    /// Whether another rank was already reported to differ: one group diverges once.
    diverged: bool,
}

/// What is remembered of a life, besides what it owns and has in flight.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    pub(super) life: Life,
    /// The step in which it began, while it has not finished.
    pub(super) begun: Option<Label>,
    /// The first decision that it shall not succeed.
    ended: Option<(Verdict, Label)>,
    /// The step of the first decision that says `Rejected` or `Failed`.
    refused: Option<Label>,
    /// The first decision of each group, in the order in which they came.
    groups: Few<First, 2>,
}

clone_by_field!(Record { life, begun, ended, refused, groups });

impl Record {
    fn new(life: Life) -> Self {
        Self { life, begun: None, ended: None, refused: None, groups: Few::new() }
    }

    /// Takes note of a decision. Answers the first decision of the group when this one is the first to differ.
    fn decide(&mut self, label: Label, group: u8, rank: u8, verdict: Verdict) -> Option<First> {
        if verdict != Verdict::Success {
            self.ended.get_or_insert((verdict, label));
        }
        if matches!(verdict, Verdict::Rejected | Verdict::Failed) {
            self.refused.get_or_insert(label);
        }
        let Some(first) = self.groups.iter_mut().find(|first| first.group == group) else {
            self.groups.push(First { group, rank, verdict, label, diverged: false });
            return None;
        };
        if first.rank == rank || first.verdict == verdict || first.diverged {
            return None;
        }
        first.diverged = true;
        Some(*first)
    }

    /// The decision that an answer with this verdict contradicts.
    fn contradicted_by(&self, verdict: Verdict) -> Option<Label> {
        match (verdict, self.ended) {
            (Verdict::Success, _) => self.refused,
            (Verdict::Failed, Some((Verdict::Rejected, label))) => Some(label),
            _ => None,
        }
    }
}

impl Oracle {
    /// `begin`: from now on the life must finish.
    pub(super) fn begin(&mut self, label: Label, life: Life) {
        self.record(life).begun.get_or_insert(label);
    }

    /// `decide`: a decision on a life of which nothing is left is not remembered.
    pub(super) fn decide(
        &mut self,
        label: Label,
        life: Life,
        (group, rank): (u8, u8),
        verdict: Verdict,
        out: &mut Vec<Violation>,
    ) {
        if let Some(first) = self.record(life).decide(label, group, rank, verdict) {
            Draft::new(label, out).say(Fact::new(Kind::Divergence, life).since(Some(first.label)), 0);
        }
        self.retire(life);
    }

    /// `finish`: every answer is judged against what was decided up to now, a second one too.
    pub(super) fn finish(
        &mut self,
        label: Label,
        life: Life,
        told: &Answer,
        processed: Option<u32>,
        out: &mut Vec<Violation>,
    ) {
        let mut draft = Draft::new(label, out);
        let record = self.find_life(life).ok().map(|at| &mut self.lives[at]);
        let begun = record.as_ref().and_then(|record| record.begun);
        if let Some(record) = record {
            if let Some(decided) = record.contradicted_by(told.verdict) {
                draft.say(Fact::new(Kind::FalseSuccess, life).since(Some(decided)), 0);
            }
            record.begun = None;
        }
        if told.verdict == Verdict::Success {
            let stranger = told.tokens_of.filter(|&owner| owner != life);
            if stranger.is_some() {
                draft.say(Fact::new(Kind::FalseSuccess, life).versus(stranger).since(begun), 0);
            }
            let wrong = processed.map_or(0, |processed| processed.abs_diff(told.prompt_tokens));
            if wrong > 0 {
                draft.say(Fact::new(Kind::WrongUsage, life).since(begun), wrong);
            }
        }
        self.retire(life);
    }

    /// The lives that began and have not finished, in ascending order.
    pub fn unfinished(&self) -> impl Iterator<Item = Life> {
        self.lives.iter().filter(|record| record.begun.is_some()).map(|record| record.life)
    }

    /// Forgets a life that need not end any more and either owns nothing and has nothing in flight, or has no decision
    /// that is worth remembering.
    pub(super) fn retire(&mut self, life: Life) {
        let Ok(at) = self.find_life(life) else { return };
        let record = &self.lives[at];
        if record.begun.is_none() && (record.groups.is_empty() || !self.is_present(life)) {
            self.lives.remove(at);
        }
    }

    /// Whether a life owns a slot or has an access in flight.
    fn is_present(&self, life: Life) -> bool {
        self.ops.iter().any(|op| op.life == life) || self.memory.is_owner(life)
    }

    /// The record of a life, a new one when there is none.
    fn record(&mut self, life: Life) -> &mut Record {
        let at = self.find_life(life).unwrap_or_else(|at| {
            self.lives.insert(at, Record::new(life));
            at
        });
        &mut self.lives[at]
    }

    /// Where the record of a life is in the list, or where it belongs.
    fn find_life(&self, life: Life) -> Result<usize, usize> {
        self.lives.binary_search_by_key(&life, |record| record.life)
    }
}
