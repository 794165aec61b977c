//! What the oracle may take for granted: places are declared, runs lie inside them, operations are live.
//!
//! The oracle is told facts by code that is right by construction everywhere else; a trace is the one source that may
//! say anything, so it is checked here, before.

use super::error::Problem;
use super::schema::NodeDeclaration;
use crate::lifetime::{Arena, Cells, Event, Life, OpId, Place, Slots, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most accesses that may be live at once, the most runs that they may have together, and the most lives that may
/// be open: the oracle remembers them, and a trace that never ends anything must not fill the memory.
const MAX_LIVE_OPS: usize = 1 << 16;
const MAX_LIVE_RUNS: usize = 1 << 22;
const MAX_OPEN_LIVES: usize = 1 << 20;

const ARENAS: usize = 5;

/// Checks events before the oracle sees them.
#[derive(Debug)]
pub(super) struct Checker {
    /// Slots and width by node and arena; a flat table, since every record asks it.
    arenas: Vec<Option<(u32, u32)>>,
    live: FxHashMap<OpId, Live>,
    live_runs: usize,
    open: FxHashSet<Life>,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    cells: u64,
    runs: usize,
}

impl Default for Checker {
    fn default() -> Self {
        Self { arenas: vec![None; 256 * ARENAS], live: FxHashMap::default(), live_runs: 0, open: FxHashSet::default() }
    }
}

fn index(place: Place) -> usize {
    let arena = match place.arena {
        Arena::KvPage => 0,
        Arena::MetadataRow => 1,
        Arena::RequestRow => 2,
        Arena::StagingRegion => 3,
        Arena::HostPage => 4,
    };
    usize::from(place.node.0) * ARENAS + arena
}

impl Checker {
    pub(super) fn declare(&mut self, node: &NodeDeclaration) {
        for arena in &node.arenas {
            let place = Place { node: node.node, arena: arena.arena };
            self.arenas[index(place)] = Some((arena.slots, arena.width));
        }
    }

    pub(super) fn check(&mut self, event: &Event) -> Result<(), Problem> {
        match event {
            Event::Begin { life } => {
                self.open.insert(*life);
                if self.open.len() > MAX_OPEN_LIVES {
                    self.open.remove(life);
                    return Err(Problem::TooMuch { count: MAX_OPEN_LIVES, what: "unfinished lives" });
                }
                Ok(())
            }
            Event::Finish { life, .. } => {
                self.open.remove(life);
                Ok(())
            }
            Event::Decide { .. } | Event::Crash { .. } => Ok(()),
            Event::Alloc { slots, .. } | Event::Free { slots, .. } => self.slots(slots),
            Event::Write { cells, .. } | Event::Read { cells, .. } => self.cells(cells).map(|_| ()),
            Event::Post { op, source, target, .. } => self.post(*op, source.as_ref(), target.as_ref()),
            Event::Land { op, part } => self.land(*op, *part),
            Event::Settle { op } => match self.live.remove(op) {
                Some(live) => {
                    self.live_runs -= live.runs;
                    Ok(())
                }
                None => Err(Problem::BadOperation(format!("operation {} settles but is not live", op.0))),
            },
        }
    }

    fn slots(&self, slots: &Slots) -> Result<(), Problem> {
        let (count, _) = self.arena(slots.place)?;
        runs(&slots.runs, u64::from(count), "slots").map(|_| ())
    }

    /// Also says how many cells there are.
    fn cells(&self, cells: &Cells) -> Result<u64, Problem> {
        let (count, width) = self.arena(cells.place)?;
        runs(&cells.runs, u64::from(count) * u64::from(width), "cells")
    }

    fn arena(&self, place: Place) -> Result<(u32, u32), Problem> {
        self.arenas[index(place)].ok_or(Problem::Undeclared { place })
    }

    fn post(&mut self, op: OpId, source: Option<&Cells>, target: Option<&Cells>) -> Result<(), Problem> {
        let read = source.map(|cells| self.cells(cells)).transpose()?;
        let written = target.map(|cells| self.cells(cells)).transpose()?;
        let cells = match (read, written) {
            (None, None) => return Err(Problem::MissingField { event: "post", field: "target" }),
            (Some(source_cells), Some(target_cells)) if source_cells != target_cells => {
                return Err(Problem::Unequal { source_cells, target_cells });
            }
            (Some(cells), _) | (None, Some(cells)) => cells,
        };
        let runs = source.map_or(0, |cells| cells.runs.len()) + target.map_or(0, |cells| cells.runs.len());
        if self.live.contains_key(&op) {
            return Err(Problem::BadOperation(format!("operation {} is posted again before it settled", op.0)));
        }
        if self.live.len() >= MAX_LIVE_OPS || self.live_runs + runs > MAX_LIVE_RUNS {
            return Err(Problem::TooMuch { count: self.live.len(), what: "live operations" });
        }
        self.live.insert(op, Live { cells, runs });
        self.live_runs += runs;
        Ok(())
    }

    fn land(&self, op: OpId, part: Span) -> Result<(), Problem> {
        let Some(live) = self.live.get(&op) else {
            return Err(Problem::BadOperation(format!("operation {} lands but is not live", op.0)));
        };
        runs(&[part], live.cells, "cells").map(|_| ())
    }
}

/// Checks an ordered list of runs and says how long it is.
fn runs(runs: &[Span], limit: u64, unit: &'static str) -> Result<u64, Problem> {
    let mut total = 0;
    for run in runs {
        if run.len == 0 {
            return Err(Problem::EmptyRun);
        }
        // In 64 bits: `Span::end` itself may overflow for what a hostile trace says.
        if u64::from(run.start) + u64::from(run.len) > limit {
            return Err(Problem::OutOfRange { start: run.start, len: run.len, limit, unit });
        }
        total += u64::from(run.len);
    }
    match runs {
        [] => Err(Problem::EmptyRun),
        [_] => Ok(total),
        &[first, second] => match first.intersection(second) {
            Some(both) => Err(Problem::Overlap { at: both.start }),
            None => Ok(total),
        },
        more => {
            let mut sorted = more.to_vec();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0].end() > pair[1].start) {
                Some(pair) => Err(Problem::Overlap { at: pair[1].start }),
                None => Ok(total),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::Node;
    use crate::trace::schema::ArenaDeclaration;

    const PAGES: Place = Place { node: Node(1), arena: Arena::KvPage };

    fn checker() -> Checker {
        let mut checker = Checker::default();
        let arena = ArenaDeclaration { arena: Arena::KvPage, slots: 8, width: 4, frees_recorded: true };
        let node = NodeDeclaration { node: Node(1), name: String::new(), role: String::new(), arenas: vec![arena] };
        checker.declare(&node);
        checker
    }

    fn alloc(place: Place, runs: &[(u32, u32)]) -> Event {
        let runs = runs.iter().map(|&(start, len)| Span::new(start, len)).collect();
        Event::Alloc { life: Life::first(0), slots: Slots { place, runs } }
    }

    fn post(op: u32, cells: u32) -> Event {
        let target = Cells { place: PAGES, runs: [Span::new(0, cells)].into_iter().collect() };
        Event::Post { op: OpId(op), life: Life::first(0), source: None, target: Some(target) }
    }

    fn said(event: &Event) -> String {
        checker().check(event).unwrap_err().to_string()
    }

    #[test]
    fn runs_must_lie_inside_their_arena() {
        assert!(checker().check(&alloc(PAGES, &[(0, 8)])).is_ok());
        assert_eq!(said(&alloc(PAGES, &[(1, 8)])), "the run 1+8 reaches past the 8 slots that there are");
        assert_eq!(
            said(&alloc(PAGES, &[(u32::MAX, u32::MAX)])),
            "the run 4294967295+4294967295 reaches past the 8 slots that there are"
        );
        assert_eq!(said(&alloc(PAGES, &[(1, 0)])), "a run is empty");
        assert_eq!(said(&alloc(PAGES, &[])), "a run is empty");
        assert_eq!(said(&alloc(PAGES, &[(1, 2), (2, 2)])), "the runs of one record overlap at index 2");
        assert_eq!(said(&alloc(PAGES, &[(5, 1), (1, 2), (2, 2)])), "the runs of one record overlap at index 2");
    }

    #[test]
    fn places_must_be_declared() {
        let rows = Place { node: Node(1), arena: Arena::MetadataRow };
        assert_eq!(said(&alloc(rows, &[(0, 1)])), "metadata rows of node 1 are used but not declared");
    }

    #[test]
    fn operations_land_and_settle_only_while_they_are_live() {
        let mut checker = checker();
        let land = |len| Event::Land { op: OpId(7), part: Span::new(0, len) };
        let settle = Event::Settle { op: OpId(7) };
        let mut said = |event: &Event| checker.check(event).map_err(|problem| problem.to_string());
        assert_eq!(said(&land(1)), Err("operation 7 lands but is not live".to_owned()));
        assert_eq!(said(&settle), Err("operation 7 settles but is not live".to_owned()));
        assert_eq!(said(&post(7, 8)), Ok(()));
        assert_eq!(said(&post(7, 8)), Err("operation 7 is posted again before it settled".to_owned()));
        assert_eq!(said(&land(8)), Ok(()));
        assert_eq!(said(&land(9)), Err("the run 0+9 reaches past the 8 cells that there are".to_owned()));
        assert_eq!(said(&settle), Ok(()));
        assert_eq!(said(&post(7, 8)), Ok(()));
    }
}
