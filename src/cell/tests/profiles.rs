//! Profiles and switches: the table of protocol section 12, names and settings.

use super::kit::{preset, scope};
use crate::cell::{Config, Profile, Switch, Switches, decode_node, place};
use crate::lifetime::{Arena, Slots, Span, Spans};

/// The switches that the protocol's table names.
const TABLE: [&str; 15] = [
    "door",
    "prefill_abort_after_forward",
    "abort_message",
    "armed_before_send",
    "defer_by_default",
    "defer_all_failures",
    "keep_ack_target_on_clear",
    "generation",
    "poison",
    "tp_agreement",
    "sticky_failed",
    "no_resurrection",
    "metadata_gate",
    "early_send_waits",
    "batch_bound",
];

/// What the table says is on in `profile`.
fn on(profile: &str) -> Vec<&'static str> {
    let switches = preset(profile);
    TABLE.into_iter().filter(|name| switches.on(name.parse().unwrap())).collect()
}

#[test]
fn each_release_has_what_the_table_says() {
    assert_eq!(on("sglang-0.5.11"), [""; 0]);
    assert_eq!(
        on("sglang-0.5.20"),
        ["prefill_abort_after_forward", "abort_message", "sticky_failed", "no_resurrection", "metadata_gate",]
    );
    assert_eq!(
        on("sglang-0.5.21"),
        [
            "door",
            "prefill_abort_after_forward",
            "abort_message",
            "armed_before_send",
            "defer_by_default",
            "defer_all_failures",
            "keep_ack_target_on_clear",
            "sticky_failed",
            "no_resurrection",
            "metadata_gate",
        ]
    );
    assert_eq!(
        on("sglang-0.5.22"),
        [
            "door",
            "prefill_abort_after_forward",
            "abort_message",
            "armed_before_send",
            "defer_by_default",
            "defer_all_failures",
            "keep_ack_target_on_clear",
            "generation",
            "poison",
            "sticky_failed",
            "no_resurrection",
            "metadata_gate",
            "early_send_waits",
        ]
    );
    let newest: Vec<&str> = TABLE.into_iter().filter(|name| *name != "batch_bound").collect();
    assert_eq!(on("sglang-0.5.23"), newest);
}

#[test]
fn the_reference_has_every_switch() {
    let off: Vec<Switch> = Switch::ALL.iter().copied().filter(|switch| !preset("reference").on(*switch)).collect();
    assert_eq!(off, []);
}

#[test]
fn what_no_release_has_only_the_reference_has() {
    let open = [
        "batch_bound",
        "length_check",
        "source_hold",
        "timeout_holds",
        "poison_recovers",
        "sticky_reason",
        "notify_peer",
        "prealloc_timeout",
        "message_epoch",
        "retry_after_settle",
        "aux_validated",
    ];
    for (profile, _) in Profile::presets().filter(|(profile, _)| profile.name != "reference") {
        for name in open {
            assert!(!profile.switches.on(name.parse().unwrap()), "{name} in {}", profile.name);
        }
    }
}

#[test]
fn every_version_has_all_that_the_one_before_it_has() {
    let all: Vec<Switches> = Profile::presets().map(|(profile, _)| profile.switches).collect();
    assert_eq!(all.len(), 6);
    for pair in all.windows(2) {
        assert!(pair[0].iter().all(|switch| pair[1].on(switch)));
    }
}

#[test]
fn names_of_switches_are_unique_and_parse_back() {
    for switch in Switch::ALL {
        assert_eq!(switch.name().parse(), Ok(*switch));
        assert!(switch.description().ends_with('.'), "{}", switch.description());
        assert!(!switch.description().contains("  "), "{}", switch.description());
    }
}

#[test]
fn an_unknown_switch_is_answered_with_the_nearest() {
    let error = "metdata_gate".parse::<Switch>().unwrap_err();
    assert_eq!(error.to_string(), "unknown switch `metdata_gate`; did you mean `metadata_gate`?");
}

#[test]
fn settings_change_a_profile_and_its_name() {
    let profile = Profile::preset("sglang-0.5.22").unwrap();
    let set = profile.set("metadata_gate=off").unwrap();
    assert_eq!(set.name, "sglang-0.5.22 metadata_gate=off");
    assert!(!set.switches.on(Switch::MetadataGate));
    assert_eq!(set.set("metadata_gate = off").unwrap(), set, "no news, no new name");
    assert_eq!(profile.set("batch_bound=true").unwrap().name, "sglang-0.5.22 batch_bound=on");
    let refused = |setting: &str| profile.set(setting).unwrap_err().to_string();
    assert_eq!(refused("door"), "`door` is not a setting: write SWITCH=on or SWITCH=off");
    assert_eq!(refused("door=maybe"), "`door=maybe` is not a setting: write SWITCH=on or SWITCH=off");
    assert_eq!(refused("dor=on"), "unknown switch `dor`; did you mean `door`?");
}

#[test]
fn an_unknown_profile_is_answered_with_the_nearest() {
    let error = Profile::preset("sglang-0.5.2").unwrap_err();
    assert_eq!(error.to_string(), "unknown profile `sglang-0.5.2`; did you mean `sglang-0.5.20`?");
}

#[test]
fn a_set_of_switches_survives_serialisation_by_name() {
    let switches = preset("sglang-0.5.21");
    let text = serde_json::to_string(&switches).unwrap();
    assert!(text.contains("\"door\":true") && text.contains("\"generation\":false"), "{text}");
    assert_eq!(serde_json::from_str::<Switches>(&text).unwrap(), switches);
    let error = serde_json::from_str::<Switches>("{\"dor\":true}").unwrap_err();
    assert!(error.to_string().contains("did you mean `door`"), "{error}");
}

#[test]
fn a_set_of_switches_is_a_set() {
    let two = Switches::of(&[Switch::Door, Switch::Poison]);
    assert_eq!(two.iter().collect::<Vec<_>>(), [Switch::Door, Switch::Poison]);
    assert_eq!(two.and(&[Switch::Poison, Switch::SkipAcks]).iter().count(), 3, "what is on stays on");
    assert_eq!(two.with(Switch::Poison, true), two);
    assert_eq!(two.with(Switch::Poison, false), Switches::of(&[Switch::Door]));
    assert_eq!(two.differing(Switches::of(&[Switch::Poison, Switch::SkipAcks])), 2);
    assert_eq!(two.differing(two), 0);
}

#[test]
fn the_cells_of_slots_are_counted_along_their_runs() {
    let config = Config { switches: Switches::default(), scope: scope("page_size = 2") };
    let place = place(decode_node(0), Arena::KvPage);
    let slots = Slots { place, runs: Spans::from_slice(&[Span::new(0, 1), Span::new(3, 2), Span::new(8, 1)]) };
    let runs = |cells| config.cells(&slots, cells).runs.as_slice().to_vec();
    assert_eq!(runs(5), [Span::new(0, 2), Span::new(6, 3)]);
    assert_eq!(runs(2), [Span::new(0, 2)]);
    assert_eq!(runs(8), [Span::new(0, 2), Span::new(6, 4), Span::new(16, 2)]);
}
