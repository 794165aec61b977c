//! What threads did, in order: the regression that outlives the engine which found it.

use crate::cell::Shift;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a thread did between two points at which another one could have come first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// The thread: its place in the list of shifts.
    pub thread: u8,
    /// What it reached, the type of a shared cell: `Table<Poll>`; or the step of the protocol that it took: `WorkerPost`.
    /// A step within an access comes before it, and nothing comes between the two.
    pub did: String,
}

/// The accesses of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// The accesses.
    pub accesses: Vec<Access>,
}

impl Schedule {
    /// How often it goes from one thread to another.
    #[must_use]
    pub fn switches(&self) -> usize {
        self.accesses.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }

    /// How many accesses it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Which thread went on for how long, and then which.
    #[must_use]
    pub fn stretches(&self) -> Stretches {
        let mut stretches: Vec<(u8, usize)> = Vec::new();
        for access in &self.accesses {
            match stretches.last_mut() {
                Some((thread, count)) if *thread == access.thread => *count += 1,
                _ => stretches.push((access.thread, 1)),
            }
        }
        Stretches(stretches)
    }
}

/// A schedule in short, `0x12 1x3`: twelve accesses of thread 0, then three of thread 1. What is accessed follows from that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stretches(pub Vec<(u8, usize)>);

/// The longest schedule that a text may stand for.
const MOST: usize = 1 << 20;

impl fmt::Display for Stretches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (thread, count)) in self.0.iter().enumerate() {
            write!(f, "{}{thread}x{count}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl From<Stretches> for String {
    fn from(stretches: Stretches) -> Self {
        stretches.to_string()
    }
}

impl TryFrom<String> for Stretches {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parse = |word: &str| {
            let (thread, count) = word.split_once('x')?;
            Some((thread.parse().ok()?, count.parse().ok().filter(|count| (1..MOST).contains(count))?))
        };
        let stretch = |word: &str| parse(word).ok_or_else(|| format!("`{word}` is no stretch of a thread: `0x12`"));
        text.split_whitespace().map(stretch).collect::<Result<_, _>>().map(Self)
    }
}

impl From<&Stretches> for Schedule {
    fn from(stretches: &Stretches) -> Self {
        let access = |thread| Access { thread, did: String::new() };
        let each = |(thread, count): &(u8, usize)| std::iter::repeat_n(access(*thread), *count);
        Self { accesses: stretches.0.iter().flat_map(each).collect() }
    }
}

/// `Table<Poll>` for the full name of the type.
#[must_use]
pub fn short_name(full: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    for letter in full.chars() {
        match letter {
            ':' => word.clear(),
            letter if letter.is_alphanumeric() || letter == '_' => word.push(letter),
            letter => {
                short.push_str(&word);
                short.push(letter);
                word.clear();
            }
        }
    }
    short + &word
}

/// The threads that race once a finding's script has been taken, and the order in which they showed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// The model.
    pub model: String,
    /// The slice or whole cell of it.
    pub slice: String,
    /// Who works, and for how many turns.
    pub shifts: Vec<Shift>,
    /// Who did what.
    pub schedule: Schedule,
    /// Whether only loom saw it: nothing orders the two accesses, though no harm came of it in this run.
    #[serde(default)]
    pub unordered: bool,
    /// How the engine that found it gets there again. It dies with any change of the code, so `source` says of which.
    pub hint: Hint,
}

/// How an engine repeats a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// The engine and its strategy: `loom with 3 preemptions`, `shuttle pct5`.
    pub engine: String,
    /// The seed of the run.
    pub seed: u64,
    /// In which execution.
    pub execution: u64,
    /// A hash of the source that the run was built from.
    pub source: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(threads: &[u8]) -> Schedule {
        let access = |thread: &u8| Access { thread: *thread, did: String::new() };
        Schedule { accesses: threads.iter().map(access).collect() }
    }

    #[test]
    fn stretches_and_switches_are_counted() {
        let schedule = schedule(&[0, 0, 1, 0, 0, 0]);
        assert_eq!(schedule.stretches(), Stretches(vec![(0, 2), (1, 1), (0, 3)]));
        assert_eq!(schedule.switches(), 2);
    }

    #[test]
    fn a_schedule_in_short_is_the_same_schedule() {
        let stretches = schedule(&[0, 0, 1, 0, 0, 0]).stretches();
        assert_eq!(String::from(stretches.clone()), "0x2 1x1 0x3");
        assert_eq!(Stretches::try_from(" 0x2  1x1 0x3".to_owned()), Ok(stretches.clone()));
        assert_eq!(Schedule::from(&stretches), schedule(&[0, 0, 1, 0, 0, 0]));
        for wrong in ["0", "x", "0x0", "256x1", "0x-1", "0x2 1", "0x99999999"] {
            assert!(Stretches::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_type_is_named_without_its_path() {
        assert_eq!(short_name("pagefence::cell::room::Table<pagefence::cell::room::Poll>"), "Table<Poll>");
        assert_eq!(short_name("u8"), "u8");
    }
}
