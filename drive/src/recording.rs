//! What an engine did, as a trace that anybody can audit again.

use crate::lockstep::{SPARE_PAGES, Told};
use pagefence::cell::{Scope, decode_node, prefill_node};
use pagefence::lifetime::{Arena, Event, Node};
use pagefence::trace::schema::{ArenaDeclaration, Context, Header, NodeDeclaration, Record};

/// The lines of a trace, in the schema of `docs/trace-schema.md`.
#[derive(Clone, Debug)]
pub struct Recording {
    text: String,
}

impl Recording {
    /// A trace of a pair in `scope` in which nothing has happened.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        let node = |node: Node, role: &str, pages: u32| {
            let arena = |arena, slots, width| ArenaDeclaration { arena, slots, width, frees_recorded: true };
            let arenas = vec![
                arena(Arena::KvPage, pages + SPARE_PAGES, scope.page_size),
                arena(Arena::MetadataRow, scope.metadata_rows, 1),
            ];
            NodeDeclaration { node, name: format!("{role}-0"), role: role.to_owned(), arenas }
        };
        let nodes = vec![
            node(prefill_node(0), "prefill", scope.prefill_pages),
            node(decode_node(0), "decode", scope.decode_pages),
        ];
        let mut recording = Self { text: String::new() };
        recording.line(&Header::new(nodes));
        recording
    }

    /// Adds what happened in a move.
    pub fn add(&mut self, told: &Told) {
        for event in &told.events {
            self.line(&Record::new(event, &Context { node: place_of(event), ..Context::default() }));
        }
    }

    /// The whole trace.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn line(&mut self, value: &impl serde::Serialize) {
        self.text += &serde_json::to_string(value).unwrap_or_default();
        self.text.push('\n');
    }
}

/// The node that an event happened on, where it is about the memory of one.
fn place_of(event: &Event) -> Option<Node> {
    match event {
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => Some(slots.place.node),
        Event::Write { cells, .. } | Event::Read { cells, .. } => Some(cells.place.node),
        Event::Post { source, .. } => source.as_ref().map(|cells| cells.place.node),
        _ => None,
    }
}
