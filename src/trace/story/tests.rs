//! Stories of small traces and of a recorded one, whose truth is told in `tests/traces/README.md`.

use super::stories;
use crate::lifetime::Kind;
use crate::report::{Direction, Lane, Timeline};
use crate::trace::{AuditOptions, audit};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

const HEADER: &str = r#"{"schema": "pagefence-trace", "version": 1, "nodes": [
    {"node": 0, "name": "p0", "role": "prefill", "arenas": [{"arena": "kv_page", "slots": 8, "width": 4}]},
    {"node": 1, "name": "d0", "role": "decode", "arenas": [{"arena": "kv_page", "slots": 8, "width": 4}]}]}"#;

/// Page 2 of decode is freed under a live write from page 5 of prefill, given to another request, and hit.
const RACE: [&str; 11] = [
    r#"{"event": "begin", "life": [0, 0]}"#,
    r#"{"event": "begin", "life": [1, 0]}"#,
    r#"{"event": "alloc", "life": [0, 0], "slots": {"node": 1, "arena": "kv_page", "runs": [[2, 1]]}}"#,
    r#"{"event": "alloc", "life": [0, 0], "slots": {"node": 0, "arena": "kv_page", "runs": [[5, 1]]}}"#,
    r#"{"event": "alloc", "life": [2, 0], "slots": {"node": 1, "arena": "kv_page", "runs": [[7, 1]]}}"#,
    POST,
    r#"{"event": "free", "life": [0, 0], "slots": {"node": 1, "arena": "kv_page", "runs": [[2, 1]]}}"#,
    r#"{"event": "alloc", "life": [1, 0], "slots": {"node": 1, "arena": "kv_page", "runs": [[2, 1]]}}"#,
    r#"{"event": "land", "op": 9, "part": [0, 4]}"#,
    r#"{"event": "settle", "op": 9}"#,
    r#"{"event": "finish", "life": [1, 0], "verdict": "success", "prompt_tokens": 4}"#,
];
const POST: &str = r#"{"event": "post", "op": 9, "life": [0, 0], "source": {"node": 0, "arena": "kv_page", "runs": [[20, 4]]}, "target": {"node": 1, "arena": "kv_page", "runs": [[8, 4]]}}"#;

fn told(trace: &str, most: usize) -> Vec<Timeline> {
    let report = audit("x.jsonl", trace.as_bytes(), &AuditOptions::default()).unwrap();
    stories(trace.as_bytes(), false, &report, most).unwrap()
}

fn trace(lines: &[&str]) -> String {
    let header = HEADER.replace('\n', " ");
    std::iter::once(header.as_str()).chain(lines.iter().copied()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_race_is_one_story_with_its_steps_marked() {
    let told = told(&trace(&RACE), 9);
    assert_eq!(told.len(), 1);
    let told = &told[0];
    assert!(told.title.starts_with("line 10: write-after-free: A on d0 page 2"), "{}", told.title);
    let steps: Vec<(usize, Lane, &str)> = told.steps.iter().map(|s| (s.number, s.lane, s.text.as_str())).collect();
    let expected = [
        (2, Lane::Client, "A begins"),
        (3, Lane::Client, "B begins"),
        (4, Lane::Decode, "gives page 2 to A"),
        (5, Lane::Prefill, "gives page 5 to A"),
        (7, Lane::Prefill, "posts a transfer of A: p0 page 5 to d0 page 2"),
        (8, Lane::Decode, "frees A's page 2"),
        (9, Lane::Decode, "gives page 2 to B"),
        (10, Lane::Fabric, "4 cells of A arrive"),
    ];
    assert_eq!(steps, expected);
    let labels: Vec<&str> = told.watched.iter().map(|slot| slot.label.as_str()).collect();
    assert_eq!(labels, ["d0 page 2", "p0 page 5"]);
    let kinds: Vec<Kind> = told.violations.iter().map(|marked| marked.kind).collect();
    assert!(kinds.contains(&Kind::FreeInFlight) && kinds.contains(&Kind::ReuseInFlight), "{kinds:?}");
    let subject = told.subject().unwrap();
    assert_eq!((subject.kind, subject.started, subject.released), (Kind::WriteAfterFree, Some(7), Some(8)));
    assert_eq!((subject.broke, subject.watched.as_slice()), (10, &[0][..]));
    // After the reuse: B owns the page, and the write for A is still in flight.
    let reused = told.slot(6, 0);
    let flying: Vec<_> = reused.in_flight.iter().map(|access| (access.life.request, access.direction)).collect();
    assert_eq!((reused.owner.map(|life| life.request), flying), (Some(1), vec![(0, Direction::Write)]));
}

#[test]
fn a_trace_without_violations_has_no_story_and_no_more_are_told_than_asked() {
    assert_eq!(told(&trace(&RACE[..6]), 9), []);
    assert_eq!(told(&trace(&RACE), 0), []);
}

#[test]
fn what_surrounds_a_race_is_dropped_when_it_is_too_much_and_the_race_is_kept() {
    let own = r#"{"event": "alloc", "life": [0, 0], "slots": {"node": 1, "arena": "kv_page", "runs": [[3, 1]]}}"#;
    let write = r#"{"event": "write", "life": [0, 0], "cells": {"node": 1, "arena": "kv_page", "runs": [[12, 4]]}}"#;
    let (before, after) = RACE.split_at(6);
    let long: Vec<&str> = [before, &[own], &[write; 20_000], after].concat();
    let told = told(&trace(&long), 9);
    assert_eq!(told.len(), 1);
    let numbers: Vec<usize> = told[0].steps.iter().map(|step| step.number).collect();
    // The two that begin and the page at the other end only surround it.
    assert_eq!(numbers, [4, 7, 20_009, 20_010, 20_011]);
    assert_eq!(told[0].subject().unwrap().broke, 20_011);
}

#[test]
fn a_recorded_late_write_is_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/late-write-0.5.11.jsonl");
    let open = || BufReader::new(File::open(&path).unwrap());
    let report = audit("late", open(), &AuditOptions::default()).unwrap();
    let told = stories(open(), false, &report, 9).unwrap();
    let race = &told[0];
    assert!(race.subtitle.contains(&"B: request A".to_owned()) && race.subtitle.contains(&"A: request C".to_owned()));
    let late = race.violations.iter().find(|marked| marked.kind == Kind::WriteAfterFree).unwrap();
    assert_eq!((late.started, late.released, late.broke), (Some(50), Some(59), 417));
    // Page 7 was A's, is C's, and holds A's bytes.
    let page = race.slot(race.steps.len() - 1, 0);
    assert_eq!((race.watched[0].label.as_str(), page.content_text().as_str()), ("decode page 7", "B 4/4"));
    assert_eq!(page.owner.map(|life| life.request), Some(0));
}
