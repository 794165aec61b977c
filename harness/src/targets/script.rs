//! A walk through any shipped world. What no case declares for its profile is a crash.

use super::Crash;
use crate::coverage::Coverage;
use crate::input::Input;
use crate::known::Known;
use crate::pins::Pins;
use crate::walk::{Met, Walk};
use crate::worlds::{World, WorldKey, Worlds};
use rustc_hash::FxHashMap;

/// The target, with what it keeps between inputs: each world is made once, and asked about once.
#[derive(Default)]
pub struct Script {
    pins: Pins,
    known: Known,
    walks: FxHashMap<WorldKey, (&'static World, Walk<'static>)>,
    declared: u64,
}

impl Script {
    /// The target with these pins.
    #[must_use]
    pub fn new(pins: Pins) -> Self {
        Self { pins, ..Self::default() }
    }

    /// How many violations of the inputs so far were declared by a case.
    #[must_use]
    pub const fn declared(&self) -> u64 {
        self.declared
    }

    /// Walks `bytes`.
    ///
    /// # Errors
    /// A violation that no case declares; with a goal, the goal.
    pub fn run(&mut self, bytes: &[u8], coverage: &mut impl Coverage) -> Result<(), Crash> {
        let mut input = Input::from_bytes(bytes);
        input.profile = self.pins.profile.unwrap_or(input.profile);
        input.scope = self.pins.scope.unwrap_or(input.scope);
        let key = Worlds::shipped().key(&input);
        // Worlds are few, and live as long as the fuzzer does.
        let (world, walk) = self.walks.entry(key).or_insert_with(|| {
            let world: &'static World = Box::leak(Box::new(Worlds::shipped().world(key)));
            (world, Walk::new(world))
        });
        let met = walk.walk(&input, coverage);
        for Met { violation, .. } in met {
            let case = self.known.case(key, world, violation);
            self.declared += u64::from(case.is_some());
            if self.pins.is_crash(case, &world.profile.name, violation) {
                return Err(Crash::of(violation, &world.profile.name, &world.scope.name, case));
            }
        }
        Ok(())
    }
}
