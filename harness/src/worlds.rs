//! The cells that an input can choose between.

use crate::input::Input;
use pagefence::cell::{Config, Producer, Profile, Scope};
use pagefence::explore::Serving;
use pagefence::library;
use std::sync::LazyLock;

/// A cell under a profile, in a scope.
#[derive(Debug)]
pub struct World {
    /// The profile.
    pub profile: Profile,
    /// The scope.
    pub scope: Scope,
    /// Both, ready to be stepped.
    pub serving: Serving,
}

impl World {
    /// The cell of `scope` under `profile`.
    #[must_use]
    pub fn new(profile: Profile, scope: Scope) -> Self {
        let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
        Self { profile, scope, serving }
    }
}

/// Which cell, in small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorldKey {
    /// The profile's place in the list.
    pub profile: u8,
    /// The scope's.
    pub scope: u8,
    /// The producer's, from one; zero for the one that the scope names, or none.
    pub producer: u8,
}

/// Every shipped profile and scope, in the order of their lists.
#[derive(Debug)]
pub struct Worlds {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The scopes.
    pub scopes: Vec<Scope>,
}

static SHIPPED: LazyLock<Worlds> = LazyLock::new(|| Worlds {
    profiles: Profile::presets().map(|(profile, _)| profile).collect(),
    scopes: library::scopes().collect(),
});

impl Worlds {
    /// What pagefence ships.
    #[must_use]
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Which world an input chooses.
    #[must_use]
    pub fn key(&self, input: &Input) -> WorldKey {
        let scope = input.scope % self.scopes.len() as u8;
        let producers = Producer::ALL.len() as u8;
        let plants = self.scopes[usize::from(scope)].plants_a_rejection();
        let producer = if plants && input.producer > 0 { (input.producer - 1) % producers + 1 } else { 0 };
        WorldKey { profile: input.profile % self.profiles.len() as u8, scope, producer }
    }

    /// The world of that name.
    #[must_use]
    pub fn world(&self, key: WorldKey) -> World {
        let scope = &self.scopes[usize::from(key.scope)];
        let scope = match key.producer.checked_sub(1) {
            Some(producer) => scope.planted_by(Producer::ALL[usize::from(producer)]),
            None => scope.clone(),
        };
        World::new(self.profiles[usize::from(key.profile)].clone(), scope)
    }

    /// Where the profile called `name` is in the list.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<u8> {
        self.profiles.iter().position(|profile| profile.name == name).map(|at| at as u8)
    }

    /// Where the scope called `name` is in the list.
    #[must_use]
    pub fn scope(&self, name: &str) -> Option<u8> {
        self.scopes.iter().position(|scope| scope.name == name).map(|at| at as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_name_a_world_and_only_a_planted_rejection_has_a_producer() {
        let worlds = Worlds::shipped();
        for scope in 0..worlds.scopes.len() as u8 {
            let plants = worlds.scopes[usize::from(scope)].plants_a_rejection();
            for producer in [0, 1, 20, 21, 255] {
                let key = worlds.key(&Input { profile: 255, scope, producer, ops: Vec::new() });
                let named = worlds.world(key).scope.name;
                assert_eq!(named.contains(" by "), plants && producer > 0, "{named}");
            }
        }
    }
}
