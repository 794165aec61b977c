//! Every case's own script shows its violation, and shows it no more once what stops it is on.

use pagefence::cases::{Case, Suite};
use pagefence::cell::Profile;

#[test]
fn every_script_shows_its_violation_on_the_first_profile_that_has_it() {
    for case in Suite::shipped().cases() {
        let profile = Case::profile(&case.found[0]).unwrap();
        assert_eq!(case.script_shows(&profile).unwrap(), Some(true), "{} on {}", case.id, profile.name);
    }
}

#[test]
fn no_script_shows_it_once_what_stops_it_is_on() {
    let mut stopped = 0;
    for case in Suite::shipped().cases() {
        let Some(profile) = case.stopped().unwrap() else { continue };
        assert_eq!(case.script_shows(&profile).unwrap(), Some(false), "{} on {}", case.id, profile.name);
        stopped += 1;
    }
    assert!(stopped >= 20, "{stopped} cases name a remedy");
}

#[test]
fn no_script_shows_it_on_the_reference_unless_the_case_says_so() {
    let reference = Profile::reference();
    for case in Suite::shipped().cases() {
        let declared = case.found.iter().any(|words| words == "reference");
        assert_eq!(case.script_shows(&reference).unwrap(), Some(declared), "{}", case.id);
    }
}
