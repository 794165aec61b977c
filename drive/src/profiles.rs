//! Which profile stands for a release.

use pagefence::cell::{Profile, Switch};

/// Releases between two shipped profiles: the later one, without what had not come yet. No case names them, so they are not shipped with
/// the library; what they say of the release is what `pagefence conform` has found to agree.
const BETWEEN: [(&str, &str, &[Switch]); 2] =
    [("0.5.18", "sglang-0.5.20", &BEFORE_0_5_20), ("0.5.19", "sglang-0.5.20", &BEFORE_0_5_20)];

/// What came with 0.5.20 and was not in 0.5.18 and 0.5.19: their prefill sends the result of an aborted forward, their status table lets a
/// room come back from Failed, and they tell of a failure to the endpoint that failed only. A room that is gone comes back by Success in
/// them, though not by Failed; the switch `no_resurrection` is for both.
const BEFORE_0_5_20: [Switch; 3] = [Switch::PrefillAbortAfterForward, Switch::StickyFailed, Switch::NotifyAllEndpoints];

/// The profile that stands for `version`: its own, or the newest of an older version.
#[must_use]
pub fn of_version(version: &str) -> Profile {
    if let Some((name, base, missing)) = BETWEEN.iter().find(|(name, ..)| *name == version)
        && let Ok(base) = Profile::preset(base)
    {
        let switches = missing.iter().fold(base.switches, |switches, switch| switches.with(*switch, false));
        return Profile { name: format!("sglang-{name}"), switches };
    }
    let own = numbers(version);
    let of_sglang = |profile: Profile| Some((numbers(profile.name.strip_prefix("sglang-")?), profile));
    let shipped = Profile::presets().filter_map(|(profile, _)| of_sglang(profile));
    let older = shipped.filter(|(version, _)| *version <= own);
    older.max_by(|a, b| a.0.cmp(&b.0)).map_or_else(Profile::reference, |(_, profile)| profile)
}

fn numbers(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_without_a_profile_is_held_against_the_one_before() {
        let name = |version| of_version(version).name;
        assert_eq!(name("0.5.11"), "sglang-0.5.11");
        assert_eq!(name("0.5.12"), "sglang-0.5.11");
        assert_eq!(name("0.5.22"), "sglang-0.5.22");
        assert_eq!(name("0.6.0"), "sglang-0.5.23");
    }

    #[test]
    fn a_release_between_two_profiles_lacks_what_came_later() {
        let between = of_version("0.5.19");
        assert_eq!(between.name, "sglang-0.5.19");
        assert!(!between.switches.on(Switch::StickyFailed) && between.switches.on(Switch::WorkerChecksRoom));
    }
}
