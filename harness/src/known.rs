//! Which violations somebody has told of.

use crate::worlds::{World, WorldKey};
use pagefence::cases::Suite;
use pagefence::explore::{Finding, Found, Signature};
use pagefence::lifetime::Violation;
use rustc_hash::FxHashMap;

/// The shipped cases, asked about one signature of a world once: old versions violate something in every second walk.
#[derive(Debug)]
pub struct Known {
    suite: Suite,
    told: FxHashMap<(WorldKey, Signature), Option<String>>,
}

impl Default for Known {
    fn default() -> Self {
        Self { suite: Suite::shipped(), told: FxHashMap::default() }
    }
}

impl Known {
    /// The case that declares `violation` in this world, if one does.
    pub fn case(&mut self, key: WorldKey, world: &World, violation: &Violation) -> Option<&str> {
        let signature = Signature::from(violation);
        let suite = &self.suite;
        let told = self.told.entry((key, signature)).or_insert_with(|| {
            let found =
                Found { signature, violation: violation.clone(), steps: vec![], at_rest: false, count: 1, walk: None };
            let finding = Finding::new(&found, world.profile.clone(), world.scope.clone(), "fuzz", 0)?;
            suite.declares(&finding).map(|case| case.id.clone())
        });
        told.as_deref()
    }
}
