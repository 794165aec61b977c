//! Who is who: request names, rooms, lives.
//!
//! The recorder names a request where it is queued, run, committed and answered, and its room everywhere else. What
//! ties a room to a request is order: each scheduler takes requests up in the order in which they were queued, so the
//! first new room that a role speaks of belongs to its first queued request without a room. `commit` names both and
//! is checked against that.

use super::raw::Role;
use crate::lifetime::{Life, Spans};
use crate::trace::error::Problem;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// How many requests may wait for their room.
const MAX_WAITING: usize = 1 << 16;

/// Whose slots are those that no event names an owner of.
pub(super) const NOBODY: Life = Life::first(u32::MAX);

/// What is known of one life.
#[derive(Debug)]
pub(super) struct Info {
    pub(super) name: Box<str>,
    room: Option<u64>,
    queued: [bool; 2],
    ended: [bool; 2],
    /// The pages that the life has been given, by role, in the order of its tokens. It outlives their free: what is
    /// read after that is read through the same list.
    pub(super) order: [Spans; 2],
    /// How many tokens its forward passes have written on prefill.
    pub(super) prefilled: u32,
    pub(super) prompt_tokens: Option<u32>,
    /// Its metadata row on decode, while it has one.
    pub(super) row: Option<u32>,
    /// The metadata row that it published last, whether it still has it or not.
    pub(super) published_row: Option<u32>,
    /// Whether a write of that row was seen.
    pub(super) row_written: bool,
    /// The line in which prefill refused it, until the client's answer is told.
    pub(super) refused: Option<(u64, Option<f64>)>,
    pub(super) answered: bool,
}

/// All lives of which something is still to come.
#[derive(Debug)]
pub(super) struct Requests {
    infos: FxHashMap<Life, Info>,
    by_name: FxHashMap<Box<str>, Life>,
    by_room: FxHashMap<u64, Life>,
    waiting: [VecDeque<Life>; 2],
    next: u32,
    sweep_at: usize,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            infos: FxHashMap::default(),
            by_name: FxHashMap::default(),
            by_room: FxHashMap::default(),
            waiting: Default::default(),
            next: 0,
            sweep_at: 1024,
        }
    }
}

impl Requests {
    pub(super) fn info(&self, life: Life) -> Option<&Info> {
        self.infos.get(&life)
    }

    pub(super) fn info_mut(&mut self, life: Life) -> Option<&mut Info> {
        self.infos.get_mut(&life)
    }

    /// The life that goes by this name now.
    pub(super) fn named(&self, name: &str) -> Option<Life> {
        self.by_name.get(name).copied()
    }

    /// A role takes a request in. The second value says whether it is a new life: a name that the same role takes in
    /// again is a retry.
    pub(super) fn queue(&mut self, role: Role, name: &str) -> Result<(Life, bool), Problem> {
        let known = self.named(name);
        let joined = known.filter(|life| !self.infos[life].queued[role as usize]);
        let life = match (joined, known) {
            (Some(life), _) => life,
            (None, Some(earlier)) => Life { generation: earlier.generation.wrapping_add(1), ..earlier },
            (None, None) => {
                let life = Life::first(self.next);
                // The last number is nobody's.
                self.next = (self.next + 1) % NOBODY.request;
                life
            }
        };
        if joined.is_none() {
            self.by_name.insert(name.into(), life);
            self.infos.insert(life, Info::new(name));
        }
        if let Some(info) = self.infos.get_mut(&life) {
            info.queued[role as usize] = true;
        }
        let waiting = &mut self.waiting[role as usize];
        if waiting.len() >= MAX_WAITING {
            return Err(Problem::TooMuch { count: waiting.len(), what: "queued requests without a room" });
        }
        waiting.push_back(life);
        Ok((life, joined.is_none()))
    }

    /// The life whose room this is. `fresh` says that the event starts something, so that a room whose request has
    /// ended is being used again.
    pub(super) fn in_room(&mut self, role: Role, room: u64, fresh: bool) -> Option<Life> {
        let waiting = &mut self.waiting[role as usize];
        if let Some(&life) = self.by_room.get(&room) {
            let over = self.infos.get(&life).is_none_or(|info| info.ended[role as usize]);
            if !(fresh && over) {
                waiting.retain(|&other| other != life);
                return Some(life);
            }
        }
        // One that already has a room was first spoken of by the other role.
        let infos = &self.infos;
        waiting.retain(|life| infos.get(life).is_some_and(|info| info.room.is_none()));
        let life = waiting.pop_front()?;
        self.settle_in(life, room);
        Some(life)
    }

    /// Both names of a request are known at once.
    pub(super) fn check_room(&mut self, role: Role, life: Life, room: u64) -> Result<(), Problem> {
        match self.by_room.get(&room) {
            Some(&other) if other != life => {
                let name = |life| self.infos.get(&life).map_or("?", |info| &info.name);
                Err(Problem::Unplaceable(format!(
                    "room {room} is that of `{}`, but was taken for that of `{}` by the order of the queue",
                    name(life),
                    name(other)
                )))
            }
            Some(_) => Ok(()),
            None => {
                self.waiting[role as usize].retain(|&other| other != life);
                self.settle_in(life, room);
                Ok(())
            }
        }
    }

    fn settle_in(&mut self, life: Life, room: u64) {
        self.by_room.insert(room, life);
        if let Some(info) = self.infos.get_mut(&life) {
            info.room = Some(room);
        }
    }

    /// A role is done with a life: if it never got a room there, it never will.
    pub(super) fn end(&mut self, role: Role, life: Life) {
        self.waiting[role as usize].retain(|&other| other != life);
        if let Some(info) = self.infos.get_mut(&life) {
            info.ended[role as usize] = true;
        }
    }

    /// The lives that prefill refused and whose client's answer was not told yet, oldest first.
    pub(super) fn refused(&self) -> Vec<Life> {
        let mut lives: Vec<Life> =
            self.infos.iter().filter(|(_, info)| info.refused.is_some()).map(|(&life, _)| life).collect();
        lives.sort_unstable_by_key(|life| self.infos[life].refused.map(|(line, _)| line));
        lives
    }

    /// Whether it is time to forget lives that are over.
    pub(super) fn is_crowded(&self) -> bool {
        self.infos.len() >= self.sweep_at
    }

    /// Forgets the answered lives that are not `present` anywhere. The next sweep comes when as many new ones have
    /// gathered as have survived this, so the work stays in proportion and the memory flat.
    pub(super) fn sweep(&mut self, present: &FxHashSet<Life>) {
        self.infos.retain(|life, info| !info.answered || present.contains(life));
        let infos = &self.infos;
        self.by_name.retain(|_, life| infos.contains_key(life));
        self.by_room.retain(|_, life| infos.contains_key(life));
        self.sweep_at = (self.infos.len() * 2).max(1024);
    }
}

impl Info {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            room: None,
            queued: [false; 2],
            ended: [false; 2],
            order: [Spans::new(), Spans::new()],
            prefilled: 0,
            prompt_tokens: None,
            row: None,
            published_row: None,
            row_written: false,
            refused: None,
            answered: false,
        }
    }
}
