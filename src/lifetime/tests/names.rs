//! What people and files call things.

use super::kit::*;
use crate::lifetime::{Arena, Kind, Life};

#[test]
fn lives_are_named_as_people_say_them() {
    assert_eq!([A, B, A1].map(|life| life.to_string()), ["A", "B", "A#1"]);
    assert_eq!(Life { request: 26, generation: 2 }.to_string(), "R26#2");
}

#[test]
fn a_kind_has_one_name_everywhere() {
    assert_eq!(Kind::FreeInFlight.name(), "free-in-flight");
    for kind in Kind::ALL {
        assert_eq!((kind.to_string(), serde_json::to_value(kind).unwrap()), (kind.name().into(), kind.name().into()));
    }
}

#[test]
fn all_kinds_are_listed_once_and_in_order() {
    assert!(Kind::ALL.is_sorted_by(|a, b| a < b));
}

#[test]
fn slots_are_named_as_people_say_them() {
    let all = [Arena::KvPage, Arena::MetadataRow, Arena::RequestRow, Arena::StagingRegion, Arena::HostPage];
    let names = ["page", "metadata row", "request row", "staging region", "host page"];
    assert_eq!(all.map(|arena| arena.to_string()), names);
}
