//! A set of protections. What contains all of `reference` shows nothing in a shipped scope that no case declares for
//! `reference` itself, whatever else it has on.

use super::{Crash, pins};
use crate::input::Input;
use crate::known::Known;
use crate::walk::{Met, Walk};
use crate::worlds::{World, WorldKey, Worlds};
use pagefence::cell::{Profile, Switch};
use std::cell::RefCell;

/// How many bytes choose the switches: a bit each.
pub const SWITCH_BYTES: usize = Switch::ALL.len().div_ceil(8);

thread_local! {
    /// What cases declare for `reference`.
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// The world that these bytes choose, the same under `reference` alone, which cases know, its key, and the walk.
pub(crate) fn chosen_world(bytes: &[u8]) -> (World, World, WorldKey, Input) {
    let (bits, rest) = bytes.split_at(bytes.len().min(SWITCH_BYTES));
    let chosen = |at: usize| bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    let reference = Profile::reference();
    let added = Switch::ALL.iter().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, switch)| *switch);
    let profile = added.fold(reference.clone(), |profile, switch| profile.with(switch, true));
    let input = Input::from_bytes(rest);
    let worlds = Worlds::shipped();
    let key = WorldKey { profile: worlds.profile(&reference.name).expect("it is shipped"), ..worlds.key(&input) };
    let plain = worlds.world(key);
    (World::new(profile, plain.scope.clone()), plain, key, input)
}

/// Walks through a scope under `reference` and whatever the first bytes add to it.
///
/// # Errors
/// Any violation that no case declares for `reference`.
pub fn profile(bytes: &[u8]) -> Result<(), Crash> {
    let (world, plain, key, input) = chosen_world(bytes);
    let mut walk = Walk::new(&world);
    KNOWN.with_borrow_mut(|known| {
        for Met { violation, .. } in walk.walk(&input, &mut ()) {
            let case = known.case(key, &plain, violation);
            if pins().is_crash(case, &world.profile.name, violation) {
                return Err(Crash::of(violation, &world.profile.name, &world.scope.name, case));
            }
        }
        Ok(())
    })
}
