//! Events in words that don't depend on which page is which: a page is the n-th of its life.

use pagefence::lifetime::{Arena, Cells, Event, Life, Place, Slots, Span};
use rustc_hash::FxHashMap;

/// Whose a slot is, and the how-manieth of his.
type Name = (Life, u32);

/// The slots of one side, by name.
#[derive(Debug, Default)]
pub struct Names {
    names: FxHashMap<(Place, u32), Name>,
    owned: FxHashMap<(Place, Life), u32>,
    page_size: u32,
}

impl Names {
    /// Nobody has anything.
    #[must_use]
    pub fn new(page_size: u32) -> Self {
        Self { page_size, ..Self::default() }
    }

    /// The event in words; nothing for what only one side can say.
    pub fn words(&mut self, event: &Event) -> Option<String> {
        Some(match event {
            Event::Begin { life } => format!("{life} begins"),
            Event::Alloc { life, slots } => {
                let count = self.take(*life, slots);
                format!("{life} is given {count} {}", of(slots.place))
            }
            Event::Free { life, slots } => {
                let freed = self.give(*life, slots);
                format!("{life} frees {} {freed}", of(slots.place))
            }
            Event::Write { life, cells } => format!("{life} writes {} {}", of(cells.place), self.cells(*life, cells)),
            Event::Read { life, cells } => format!("{life} reads {} {}", of(cells.place), self.cells(*life, cells)),
            Event::Post { op, life, source, target } => {
                let from = source.as_ref().map_or("elsewhere".to_owned(), |cells| self.whole(*life, cells));
                let to = target.as_ref().map_or("elsewhere".to_owned(), |cells| self.whole(*life, cells));
                let arena = target.as_ref().or(source.as_ref()).map_or("nothing", |cells| arena(cells.place.arena));
                format!("write {} of {life} is posted: {arena} {from} to {to}", op.0)
            }
            // An engine writes whole pages, the cell the tokens that are in them.
            Event::Land { op, .. } => format!("write {} lands", op.0),
            Event::Settle { op } => format!("write {} is over", op.0),
            Event::Finish { life, told, .. } => {
                format!("{life} is told {:?}, {} prompt tokens", told.verdict, told.prompt_tokens)
            }
            Event::Crash { node, .. } => format!("node {} dies", node.0),
            // Engines don't say what they have decided; what comes of it is seen.
            Event::Decide { .. } => return None,
        })
    }

    fn take(&mut self, life: Life, slots: &Slots) -> u32 {
        let owned = self.owned.entry((slots.place, life)).or_default();
        let first = *owned;
        for slot in slots.runs.iter().flat_map(|run| run.start..run.end()) {
            self.names.insert((slots.place, slot), (life, *owned));
            *owned += 1;
        }
        *owned - first
    }

    fn give(&mut self, life: Life, slots: &Slots) -> String {
        let all = || slots.runs.iter().flat_map(|run| run.start..run.end());
        let mut named: Vec<String> = all().map(|slot| self.name(life, slots.place, slot)).collect();
        named.sort();
        for slot in all() {
            self.names.remove(&(slots.place, slot));
        }
        self.owned.remove(&(slots.place, life));
        named.join(" ")
    }

    /// Which page of a life it is. Which free page is given next differs from engine to engine, so that who has a lost one says
    /// nothing.
    fn name(&self, life: Life, place: Place, slot: u32) -> String {
        match self.names.get(&(place, slot)) {
            Some((owner, nth)) if *owner == life => nth.to_string(),
            _ => "lost".to_owned(),
        }
    }

    fn width(&self, place: Place) -> u32 {
        if place.arena == Arena::KvPage { self.page_size } else { 1 }
    }

    /// Cells as tokens of their life: `0..7`.
    fn cells(&self, life: Life, cells: &Cells) -> String {
        let width = self.width(cells.place);
        let mut spans: Vec<Span> = Vec::new();
        for cell in cells.runs.iter().flat_map(|run| run.start..run.end()) {
            let Some((_, nth)) = self.names.get(&(cells.place, cell / width)).filter(|name| name.0 == life) else {
                return "lost".to_owned();
            };
            let position = nth * width + cell % width;
            match spans.last_mut() {
                Some(last) if last.end() == position => last.len += 1,
                _ => spans.push(Span::new(position, 1)),
            }
        }
        let words: Vec<String> = spans.iter().map(|span| format!("{}..{}", span.start, span.end())).collect();
        words.join(" ")
    }

    /// The whole slots that cells are in.
    fn whole(&self, life: Life, cells: &Cells) -> String {
        let width = self.width(cells.place);
        let slots = cells.runs.iter().flat_map(|run| {
            let slots = run.slots(width);
            slots.start..slots.end()
        });
        let mut named: Vec<String> = slots.map(|slot| self.name(life, cells.place, slot)).collect();
        named.dedup();
        named.join(" ")
    }
}

fn arena(arena: Arena) -> &'static str {
    if arena == Arena::KvPage { "pages" } else { "rows" }
}

fn of(place: Place) -> String {
    let side = if place.node.0 < 16 { "source" } else { "destination" };
    format!("{side} {}", arena(place.arena))
}
