//! The rejection atlas: which producer of a rejection reached which stage under which profile, how often, and what came of it.
//!
//! A cell that was never reached is shown as such: that is where a researcher looks next.

use crate::coverage::{Coverage, Feature};
use crate::input::{Input, Op};
use crate::walk::Walk;
use crate::worlds::{World, Worlds};
use pagefence::cell::{DecodeStage, PrefillStage, Producer, Profile};
use pagefence::explore::Random;
use pagefence::lifetime::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a rejected request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The grammar queue of prefill.
    PrefillGrammar,
    /// The bootstrap queue.
    PrefillBootstrap,
    /// The waiting queue of prefill.
    PrefillWaiting,
    /// A forward.
    PrefillForward,
    /// The inflight queue.
    PrefillInflight,
    /// Answered at prefill, its pages held.
    PrefillHeld,
    /// The grammar queue of decode.
    DecodeGrammar,
    /// The prealloc queue.
    DecodePrealloc,
    /// The transfer queue: pages are reserved.
    DecodeTransfer,
    /// The running batch.
    DecodeRunning,
    /// Answered at decode, its pages held.
    DecodeHeld,
}

impl Stage {
    /// Every stage, in the order of a request's way.
    pub const ALL: [Self; 11] = [
        Self::PrefillGrammar,
        Self::PrefillBootstrap,
        Self::PrefillWaiting,
        Self::PrefillForward,
        Self::PrefillInflight,
        Self::PrefillHeld,
        Self::DecodeGrammar,
        Self::DecodePrealloc,
        Self::DecodeTransfer,
        Self::DecodeRunning,
        Self::DecodeHeld,
    ];

    /// Its name, short enough for the head of a column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrefillGrammar => "p grammar",
            Self::PrefillBootstrap => "p bootstrap",
            Self::PrefillWaiting => "p waiting",
            Self::PrefillForward => "p forward",
            Self::PrefillInflight => "p inflight",
            Self::PrefillHeld => "p held",
            Self::DecodeGrammar => "d grammar",
            Self::DecodePrealloc => "d prealloc",
            Self::DecodeTransfer => "d transfer",
            Self::DecodeRunning => "d running",
            Self::DecodeHeld => "d held",
        }
    }

    const fn of_prefill(stage: PrefillStage) -> Self {
        match stage {
            PrefillStage::Grammar => Self::PrefillGrammar,
            PrefillStage::Bootstrap => Self::PrefillBootstrap,
            PrefillStage::Waiting => Self::PrefillWaiting,
            PrefillStage::Forward => Self::PrefillForward,
            PrefillStage::Inflight => Self::PrefillInflight,
            PrefillStage::Held => Self::PrefillHeld,
        }
    }

    const fn of_decode(stage: DecodeStage) -> Self {
        match stage {
            DecodeStage::Grammar => Self::DecodeGrammar,
            DecodeStage::Prealloc => Self::DecodePrealloc,
            DecodeStage::Transfer => Self::DecodeTransfer,
            DecodeStage::Running => Self::DecodeRunning,
            DecodeStage::Held => Self::DecodeHeld,
        }
    }
}

/// One cell of the atlas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// In how many walks.
    pub walks: u64,
    /// In how many of them something befell a rejected request.
    pub violated: u64,
    /// The worst of that.
    pub worst: Option<Severity>,
}

/// The rejection atlas of one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Atlas(BTreeMap<(u8, Stage), Reached>);

/// A cell of an atlas with its place, as it is kept in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Who rejects.
    pub producer: Producer,
    /// How far the request came.
    pub stage: Stage,
    /// How often, and what came of it.
    #[serde(flatten)]
    pub reached: Reached,
}

impl FromIterator<Entry> for Atlas {
    /// Several entries of one cell, from several runs, are added up.
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut atlas = Self::default();
        for Entry { producer, stage, reached } in entries {
            let Some(at) = Producer::ALL.iter().position(|known| *known == producer) else { continue };
            let cell = atlas.0.entry((at as u8, stage)).or_default();
            cell.walks += reached.walks;
            cell.violated += reached.violated;
            cell.worst = cell.worst.max(reached.worst);
        }
        atlas
    }
}

/// What one walk adds to an atlas.
#[derive(Clone, Debug, Default)]
pub struct Page {
    reached: Vec<(u8, Stage)>,
    worst: Option<Severity>,
}

impl Coverage for Page {
    fn see(&mut self, feature: Feature) {
        match feature {
            Feature::Rejected { producer, prefill, decode } => {
                let stages = prefill.map(Stage::of_prefill).into_iter().chain(decode.map(Stage::of_decode));
                for stage in stages {
                    if !self.reached.contains(&(producer, stage)) {
                        self.reached.push((producer, stage));
                    }
                }
            }
            Feature::Rung { severity, rejected: true, .. } => self.worst = self.worst.max(Some(severity)),
            Feature::Rung { .. } | Feature::Step { .. } | Feature::Race { .. } => {}
        }
    }
}

impl Atlas {
    /// Adds a walk.
    pub fn add(&mut self, page: &Page) {
        for key in &page.reached {
            let reached = self.0.entry(*key).or_default();
            reached.walks += 1;
            reached.violated += u64::from(page.worst.is_some());
            reached.worst = reached.worst.max(page.worst);
        }
    }

    /// Every cell that was reached, by producer and then by stage.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().map(|((producer, stage), reached)| Entry {
            producer: Producer::ALL[usize::from(*producer)],
            stage: *stage,
            reached: *reached,
        })
    }

    /// What is known of a producer at a stage; nothing if it was never reached.
    #[must_use]
    pub fn cell(&self, producer: Producer, stage: Stage) -> Option<Reached> {
        let at = Producer::ALL.iter().position(|known| *known == producer)?;
        self.0.get(&(at as u8, stage)).copied()
    }
}

/// The steps of a walk that [`draw`] takes.
const STEPS: usize = 64;

/// Takes `walks` random walks under `profile` for each producer in each shipped scope that plants a rejection. The same seed
/// draws the same atlas.
#[must_use]
pub fn draw(profile: &Profile, walks: u64, seed: u64) -> Atlas {
    let mut atlas = Atlas::default();
    let scopes = Worlds::shipped().scopes.iter().filter(|scope| scope.plants_a_rejection());
    for (place, scope) in (0_u64..).zip(scopes) {
        for (number, producer) in (0_u64..).zip(Producer::ALL) {
            let world = World::new(profile.clone(), scope.planted_by(*producer));
            let mut walk = Walk::new(&world);
            let mut random = Random::new(seed, place << 8 | number);
            let mut input = Input { ops: vec![Op::default(); STEPS], ..Input::default() };
            for _ in 0..walks {
                input.ops.fill_with(|| Op { family: Op::ANY, pick: random.word() as u8 });
                let mut page = Page::default();
                walk.walk(&input, &mut page);
                atlas.add(&page);
            }
        }
    }
    atlas
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rejection of S01 at decode, step by step on the first profile that has it, and on one that refuses it at the door.
    #[test]
    fn a_rejected_request_reaches_the_queues_until_the_door_refuses_it() {
        let worlds = Worlds::shipped();
        let reached = |profile: &str| {
            let header = (worlds.profile(profile).unwrap(), worlds.scope("planted").unwrap());
            let ops = vec![Op { family: Op::ANY, pick: 0 }; 40];
            let input = Input { profile: header.0, scope: header.1, producer: 0, ops };
            let world = worlds.world(worlds.key(&input));
            let mut page = Page::default();
            Walk::new(&world).walk(&input, &mut page);
            let mut atlas = Atlas::default();
            atlas.add(&page);
            Stage::ALL.map(|stage| atlas.cell(Producer::KvBudget, stage).map_or(0, |reached| reached.walks))
        };
        let stages = |counts: [u64; 11]| Stage::ALL.into_iter().zip(counts).filter(|(_, count)| *count == 1).count();
        assert!(stages(reached("sglang-0.5.11")) > stages(reached("reference")), "{:?}", reached("sglang-0.5.11"));
    }

    #[test]
    fn only_grammars_reach_the_grammar_queue_and_the_same_seed_draws_the_same() {
        let oldest = Profile::preset("sglang-0.5.11").unwrap();
        let atlas = draw(&oldest, 8, 3);
        let reached = |producer, stage| atlas.cell(producer, stage).is_some();
        assert!(reached(Producer::KvBudget, Stage::PrefillBootstrap));
        assert!(reached(Producer::GrammarInvalid, Stage::PrefillGrammar));
        assert!(!reached(Producer::KvBudget, Stage::PrefillGrammar));
        assert_eq!(atlas, draw(&oldest, 8, 3));
        assert_ne!(atlas, draw(&oldest, 8, 4));
    }
}
