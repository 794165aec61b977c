//! A walk through any shipped world. What no case declares for its profile is a crash.

use super::Crash;
use crate::coverage::Coverage;
use crate::input::Input;
use crate::known::Known;
use crate::walk::{Met, Walk};
use crate::worlds::{World, WorldKey, Worlds};
use rustc_hash::FxHashMap;

/// What the environment holds fixed, whatever an input says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The profile.
    pub profile: Option<u8>,
    /// The scope.
    pub scope: Option<u8>,
    /// A case: to meet it is a crash, and nothing else is. For measuring how long that takes.
    pub goal: Option<String>,
}

impl Pins {
    /// Reads `PAGEFENCE_PROFILE`, `PAGEFENCE_SCOPE` and `PAGEFENCE_GOAL`.
    ///
    /// # Panics
    /// When one of them names what does not exist: a fuzzer must not run for an hour on something else.
    #[must_use]
    pub fn from_environment() -> Self {
        let worlds = Worlds::shipped();
        let pin = |name: &str, find: &dyn Fn(&str) -> Option<u8>| {
            let value = std::env::var(name).ok()?;
            Some(find(&value).unwrap_or_else(|| panic!("{name}: there is no `{value}`")))
        };
        Self {
            profile: pin("PAGEFENCE_PROFILE", &|name| worlds.profile(name)),
            scope: pin("PAGEFENCE_SCOPE", &|name| worlds.scope(name)),
            goal: std::env::var("PAGEFENCE_GOAL").ok(),
        }
    }

    fn applied(&self, mut input: Input) -> Input {
        input.profile = self.profile.unwrap_or(input.profile);
        input.scope = self.scope.unwrap_or(input.scope);
        input
    }
}

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
        let input = self.pins.applied(Input::from_bytes(bytes));
        let key = Worlds::shipped().key(&input);
        // Worlds are few, and live as long as the fuzzer does.
        let (world, walk) = self.walks.entry(key).or_insert_with(|| {
            let world: &'static World = Box::leak(Box::new(Worlds::shipped().world(key)));
            (world, Walk::new(world))
        });
        let met = walk.walk(&input, coverage);
        for Met { violation, steps } in met {
            let case = self.known.case(key, world, violation);
            self.declared += u64::from(case.is_some());
            let crash = match &self.pins.goal {
                Some(goal) => case == Some(goal),
                None => case.is_none(),
            };
            if crash {
                let (profile, scope, case) = (&world.profile.name, &world.scope.name, case.unwrap_or("no case"));
                return Err(Crash(format!(
                    "{violation:?}\n{} on {profile} in {scope}, after {steps} steps, declared by {case}",
                    violation.kind
                )));
            }
        }
        Ok(())
    }
}
