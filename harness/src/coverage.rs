//! How far into the protocol a walk came.
//!
//! The coverage of code is complete after a few thousand inputs, long before the first rare race. What goes on to grow is
//! which step was taken in which state, and what met what: these are features of their own.

use pagefence::cell::{DecodeStage, Leg, Poll, PrefillStage, Site};
use pagefence::lifetime::{Kind, Severity};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher as _};
use std::sync::atomic::{AtomicU8, Ordering};

/// Something new about a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// A step of this family left a request so.
    Step {
        /// The family of the step.
        family: u8,
        /// Where the request is.
        role: Role,
    },
    /// A rejected request has come here.
    Rejected {
        /// Who rejects it: its place in the list of producers.
        producer: u8,
        /// Where it is at prefill.
        prefill: Option<PrefillStage>,
        /// Where it is at decode.
        decode: Option<DecodeStage>,
    },
    /// A step met an access in flight on the same slots.
    Race {
        /// What posted the access.
        started: Site,
        /// What met it.
        met: Site,
    },
    /// A violation of this severity, by this step.
    Rung {
        /// How bad.
        severity: Severity,
        /// What.
        kind: Kind,
        /// Whether it befell a request that a producer rejects.
        rejected: bool,
    },
}

/// Where a request is, on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role {
    /// Its queue at prefill.
    pub prefill: Option<PrefillStage>,
    /// Its queue at decode.
    pub decode: Option<DecodeStage>,
    /// The status of its room at prefill rank 0.
    pub sender: Option<Poll>,
    /// The status of its room at decode rank 0.
    pub receiver: Option<Poll>,
    /// What its client's decode leg has come to.
    pub leg: Leg,
}

/// Hears of features.
pub trait Coverage {
    /// `feature` was seen.
    fn see(&mut self, feature: Feature);
}

/// Nobody listens.
impl Coverage for () {
    fn see(&mut self, _: Feature) {}
}

/// Every feature that was ever seen.
#[derive(Clone, Debug, Default)]
pub struct Seen(FxHashSet<Feature>);

impl Seen {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Coverage for Seen {
    fn see(&mut self, feature: Feature) {
        self.0.insert(feature);
    }
}

/// Counters that a fuzzer looks at after each input, as libFuzzer does at those of the section `__libfuzzer_extra_counters`.
/// Two features that share a counter by chance look like one.
#[derive(Clone, Copy, Debug)]
pub struct Counters(pub &'static [AtomicU8]);

impl Coverage for Counters {
    fn see(&mut self, feature: Feature) {
        let mut hasher = FxHasher::default();
        feature.hash(&mut hasher);
        let at = (hasher.finish() % self.0.len() as u64) as usize;
        // Wrapping to zero would hide it.
        let counter = &self.0[at];
        counter.store(counter.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_counted_where_it_belongs_and_never_back_to_zero() {
        static CELLS: [AtomicU8; 64] = [const { AtomicU8::new(0) }; 64];
        let mut counters = Counters(&CELLS);
        let feature = Feature::Rung { severity: Severity::Hazard, kind: Kind::FreeInFlight, rejected: false };
        (0..300).for_each(|_| counters.see(feature));
        let counts: Vec<u8> =
            CELLS.iter().map(|cell| cell.load(Ordering::Relaxed)).filter(|count| *count > 0).collect();
        assert_eq!(counts, [u8::MAX]);
    }
}
