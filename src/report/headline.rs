//! A violation in one sentence, in words.

use super::timeline::MarkedViolation;
use crate::lifetime::{Kind, Label, Span, Violation};
use std::fmt::Write as _;

/// One sentence that says what broke: `a late write of A lands in page 2, which B owns`.
#[must_use]
pub fn headline(violation: &Violation) -> String {
    let life = violation.life;
    let slots = slots_text(violation);
    let owner = violation.other.map_or_else(|| "nobody".to_owned(), |other| other.to_string());
    match violation.kind {
        Kind::FreeInFlight => format!("{slots} of {life} {} freed while an access is still in flight", be(violation)),
        // Here `life` is whose access flies, and `other` who gets the slot.
        Kind::ReuseInFlight => match violation.other {
            Some(other) => format!("{slots} {} given to {other} while an access of {life} is in flight", be(violation)),
            None => format!("{slots} {} given to {life} while an older access is in flight", be(violation)),
        },
        Kind::WriteAfterFree => format!("a late write of {life} lands in {slots}, which {owner} owns"),
        Kind::ReadAfterFree => format!("a transfer of {life} takes bytes from {slots}, which {owner} owns"),
        Kind::StaleRead => match violation.other {
            Some(other) => format!("{life} reads {slots} and finds bytes of {other}"),
            None => format!("{life} reads {slots}, which nobody has written for it"),
        },
        Kind::TornRead => format!("{life} reads {slots} while a write to it is in flight"),
        Kind::DoubleFree => format!("{life} frees {slots}, which nobody owns"),
        Kind::ForeignFree => format!("{life} frees {slots}, which {owner} owns"),
        Kind::DoubleAlloc => format!("{slots} {} given to {life} though {owner} owns it", be(violation)),
        Kind::Leak => format!("all work is done and {life} still owns {slots}"),
        Kind::FalseSuccess => match violation.other {
            Some(other) => format!("{life} is answered with the tokens of {other}"),
            None => format!("{life} did not succeed, and the client is not told so"),
        },
        Kind::WrongUsage => format!("{life} is told a token count that was not what was processed"),
        Kind::Stuck => format!("{life} never ends though every fair step was taken"),
        Kind::Divergence => format!("ranks of one group decide differently about {life}"),
        Kind::Crash => format!("a process dies of its own assertion while it works for {life}"),
    }
}

/// `page 2`, `pages 1-3, 7`; `a slot` where the violation names none.
#[must_use]
pub fn slots_text(violation: &Violation) -> String {
    let Some(place) = violation.place.filter(|_| !violation.slots.is_empty()) else { return "a slot".to_owned() };
    let mut text = place.arena.to_string();
    if count(violation) > 1 {
        text.push('s');
    }
    for (i, run) in violation.slots.iter().enumerate() {
        text.push_str(if i == 0 { " " } else { ", " });
        match *run {
            Span { start, len: 0 | 1 } => _ = write!(text, "{start}"),
            run => _ = write!(text, "{}-{}", run.start, run.end() - 1),
        }
    }
    text
}

fn count(violation: &Violation) -> u64 {
    violation.slots.iter().map(|run| u64::from(run.len)).sum()
}

fn be(violation: &Violation) -> &'static str {
    if count(violation) > 1 { "are" } else { "is" }
}

impl MarkedViolation {
    /// Marks a violation of the oracle. `number_of` turns the label of an event into the number of its step; `watched`
    /// are the watched slots it concerns, as indices (see [`Timeline::concerned`](super::Timeline::concerned)).
    #[must_use]
    pub fn of(violation: &Violation, watched: Vec<usize>, number_of: impl Fn(Label) -> usize) -> Self {
        Self {
            kind: violation.kind,
            headline: headline(violation),
            watched,
            started: violation.started.map(&number_of),
            released: violation.released.map(&number_of),
            broke: number_of(violation.broke),
        }
    }
}

impl super::Timeline {
    /// The watched slots that a violation concerns, as indices.
    #[must_use]
    pub fn concerned(&self, violation: &Violation) -> Vec<usize> {
        let hit = |slot: &super::WatchedSlot| {
            violation.place == Some(slot.place)
                && violation.slots.iter().any(|r| r.start <= slot.index && slot.index < r.end())
        };
        self.watched.iter().enumerate().filter(|(_, slot)| hit(slot)).map(|(i, _)| i).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::{Arena, Life, Node, OpId, Place};

    fn violation(kind: Kind, slots: &[Span], other: Option<Life>) -> Violation {
        Violation {
            kind,
            place: Some(Place { node: Node(1), arena: Arena::KvPage }),
            slots: slots.iter().copied().collect(),
            cells: 4,
            life: Life::first(0),
            other,
            op: Some(OpId(0)),
            started: Some(Label(3)),
            released: None,
            broke: Label(9),
        }
    }

    #[test]
    fn sentences_name_the_slots_and_both_lives() {
        let b = Some(Life::first(1));
        let one = violation(Kind::WriteAfterFree, &[Span::new(2, 1)], b);
        assert_eq!(headline(&one), "a late write of A lands in page 2, which B owns");
        let two = violation(Kind::FreeInFlight, &[Span::new(1, 2), Span::new(7, 1)], None);
        assert_eq!(headline(&two), "pages 1-2, 7 of A are freed while an access is still in flight");
        let marked = MarkedViolation::of(&one, vec![0], |label| label.0 as usize + 1);
        assert_eq!((marked.started, marked.released, marked.broke), (Some(4), None, 10));
    }

    #[test]
    fn the_life_of_a_violation_is_whose_access_flies() {
        let reuse = violation(Kind::ReuseInFlight, &[Span::new(2, 1)], Some(Life::first(1)));
        assert_eq!(headline(&reuse), "page 2 is given to B while an access of A is in flight");
    }

    #[test]
    fn every_kind_has_a_sentence_with_or_without_the_other() {
        for kind in Kind::ALL {
            for other in [None, Some(Life::first(1))] {
                let mut v = violation(kind, &[], other);
                v.place = None;
                let text = headline(&v);
                assert!(
                    text.contains(" A ") || text.starts_with("A ") || text.ends_with(" A") || text.contains("group"),
                    "{kind}: {text}"
                );
            }
        }
    }

    #[test]
    fn the_watched_slots_of_a_violation_are_found() {
        let t = crate::report::sample::s14();
        assert_eq!(t.concerned(&violation(Kind::StaleRead, &[Span::new(2, 3)], None)), [1]);
        assert_eq!(t.concerned(&violation(Kind::StaleRead, &[Span::new(0, 3)], None)), [0, 1]);
    }
}
