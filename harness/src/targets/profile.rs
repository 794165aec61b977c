//! A set of protections. What contains all of `reference` shows nothing in a shipped scope that no case declares for
//! `reference` itself, whatever else it has on.

use super::Crash;
use crate::input::Input;
use crate::known::Known;
use crate::walk::Walk;
use crate::worlds::{World, WorldKey, Worlds};
use pagefence::cell::{Profile, Switch};
use std::cell::RefCell;

/// How many bytes choose the switches: a bit each.
const SWITCHES: usize = Switch::ALL.len().div_ceil(8);

thread_local! {
    /// What cases declare for `reference`.
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Walks through a scope under `reference` and whatever the first bytes add to it.
///
/// # Errors
/// Any violation that no case declares for `reference`.
pub fn profile(bytes: &[u8]) -> Result<(), Crash> {
    let (bits, rest) = bytes.split_at(bytes.len().min(SWITCHES));
    let chosen = |at: usize| bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    let reference = Profile::reference();
    let added = Switch::ALL.iter().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, switch)| *switch);
    let profile = added.fold(reference.clone(), |profile, switch| profile.with(switch, true));
    let input = Input::from_bytes(rest);
    let worlds = Worlds::shipped();
    let key = WorldKey { profile: worlds.profile(&reference.name).expect("it is shipped"), ..worlds.key(&input) };
    let plain = worlds.world(key);
    let world = World::new(profile, plain.scope.clone());
    let mut walk = Walk::new(&world);
    let met = walk.walk(&input, &mut ()).iter();
    match KNOWN.with_borrow_mut(|known| met.into_iter().find(|met| known.case(key, &plain, &met.violation).is_none())) {
        None => Ok(()),
        Some(met) => {
            let (profile, scope) = (&world.profile.name, &world.scope.name);
            Err(Crash(format!("{:?}\n{} on {profile} in {scope}", met.violation, met.violation.kind)))
        }
    }
}
