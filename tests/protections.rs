//! Each protection of the reference, switched off alone, shows a finding in a shipped scope; those of which that is not
//! so are named here, with the reason.

use pagefence::cell::{Config, Profile, Switch};
use pagefence::explore::{Budget, ExhaustiveOptions, Serving, exhaustive};
use pagefence::library;
use pagefence::lifetime::{Kind, Severity};

/// The protection, the scope that needs it, and the kind that shows there.
const NEEDED: &[(Switch, &str, Kind)] = &[
    (Switch::Door, "decode-rejection", Kind::FalseSuccess),
    (Switch::PrefillAbortAfterForward, "late-rejection", Kind::FalseSuccess),
    (Switch::AbortMessage, "late-abort", Kind::FreeInFlight),
    (Switch::ArmedBeforeSend, "late-abort", Kind::Stuck),
    (Switch::DeferByDefault, "late-abort", Kind::FreeInFlight),
    (Switch::DeferAllFailures, "late-rejection", Kind::FreeInFlight),
    (Switch::KeepAckTargetOnClear, "decode-rejection", Kind::Stuck),
    (Switch::Poison, "stall", Kind::FreeInFlight),
    (Switch::TpAgreement, "fan-out", Kind::Divergence),
    (Switch::EarlySendWaits, "overlap", Kind::StaleRead),
    (Switch::SkipAcks, "late-abort", Kind::Stuck),
    (Switch::SourceHold, "late-abort", Kind::FreeInFlight),
    (Switch::TimeoutHolds, "late-abort", Kind::FreeInFlight),
    (Switch::PreallocTimeout, "quarantine", Kind::Stuck),
    (Switch::MessageEpoch, "rooms", Kind::Crash),
    (Switch::RetryAfterSettle, "retry", Kind::FreeInFlight),
    (Switch::AuxValidated, "aux-message", Kind::FreeInFlight),
    (Switch::NotifyPeer, "planted", Kind::Stuck),
];

/// Whether `switch` off alone shows `kind` in `scope`.
fn shows(switch: Switch, scope: &str, kind: Kind) -> bool {
    let profile = Profile::reference().with(switch, false);
    let config = Config { switches: profile.switches, scope: library::scope(scope).unwrap() };
    let options = ExhaustiveOptions { symmetry: true, jobs: 2, stop_at: Some(Severity::Exposure) };
    let mut states = 2_000;
    loop {
        let found =
            exhaustive(&Serving::new(config.clone()), &options, &Budget { states: Some(states), ..Budget::default() });
        if found.findings.iter().any(|found| found.signature.kind == kind) {
            return true;
        }
        if found.closed || states > 400_000 {
            return false;
        }
        states *= 6;
    }
}

#[test]
fn each_protection_is_needed() {
    for (switch, scope, kind) in NEEDED {
        assert!(Profile::reference().switches.on(*switch), "{switch} is no protection of the reference");
        assert!(shows(*switch, scope, *kind), "{switch} off shows no {kind} in {scope}");
    }
}

#[test]
fn the_reference_closes_clean_in_the_scopes_that_are_searched_in_seconds() {
    let small = [
        "decode-rejection",
        "late-abort",
        "planted",
        "incident-small",
        "incident-full",
        "huge-batch",
        "hold",
        "chunks",
        "overlap",
        "fan-out-slow",
        "siblings",
        "timeouts",
    ];
    for name in small {
        let config = Config { switches: Profile::reference().switches, scope: library::scope(name).unwrap() };
        let options = ExhaustiveOptions { symmetry: true, jobs: 2, stop_at: None };
        let found = exhaustive(&Serving::new(config), &options, &Budget::default());
        assert!(found.closed, "{name}");
        assert_eq!(found.findings.iter().map(|f| f.signature.kind).collect::<Vec<_>>(), [], "{name}");
    }
}
