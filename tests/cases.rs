//! Every case's own script shows its violation, and shows it no more once what stops it is on.

use pagefence::cases::{Case, Suite};
use pagefence::cell::Profile;

#[test]
fn every_script_shows_its_violation_on_the_first_profile_that_has_it() {
    let mut shown_by_threads_alone = 0;
    for case in Suite::shipped().cases() {
        let Some(first) = case.found.first() else {
            assert!(case.races.iter().any(|race| race.schedule.is_some()), "{} shows nothing", case.id);
            shown_by_threads_alone += 1;
            continue;
        };
        let profile = Case::profile(first).unwrap();
        for scope in case.scopes().unwrap() {
            let shown = case.script_shows(&profile, &scope);
            assert_eq!(shown, Some(true), "{} on {} in {}", case.id, profile.name, scope.name);
        }
    }
    assert_eq!(shown_by_threads_alone, 4, "M07, M08, M11 and M12");
}

#[test]
fn no_script_shows_it_once_what_stops_it_is_on() {
    let mut stopped = 0;
    for case in Suite::shipped().cases() {
        let Some(profile) = case.stopped().unwrap() else { continue };
        for scope in case.scopes().unwrap() {
            let shown = case.script_shows(&profile, &scope);
            assert_eq!(shown, Some(false), "{} on {} in {}", case.id, profile.name, scope.name);
        }
        stopped += 1;
    }
    assert!(stopped >= 20, "{stopped} cases name a remedy");
}

#[test]
fn no_script_shows_it_on_the_reference_unless_the_case_says_so() {
    let reference = Profile::reference();
    for case in Suite::shipped().cases() {
        let declared = case.found.iter().any(|words| words == "reference");
        for scope in case.scopes().unwrap() {
            assert_eq!(case.script_shows(&reference, &scope), Some(declared), "{} in {}", case.id, scope.name);
        }
    }
}
