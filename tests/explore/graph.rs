//! Protocols drawn by hand: a graph whose nodes are numbers.

use pagefence::explore::{Protocol, Quiet, StepClass};
use pagefence::lifetime::{Kind, Label, Life, Violation};

/// One step: from a node to a node, and what it violates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) class: StepClass,
    pub(crate) violates: Option<Kind>,
}

/// An edge that violates nothing.
pub(crate) const fn edge(from: u32, class: StepClass, to: u32) -> Edge {
    Edge { from, to, class, violates: None }
}

impl Edge {
    pub(crate) const fn violates(self, kind: Kind) -> Self {
        Self { violates: Some(kind), ..self }
    }
}

/// A graph; it starts in node 0. A step is the position of its edge, and so is its label; its family is the class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<Edge>,
    /// What is wrong with a node at rest, and how quiet it must be for it.
    pub(crate) rest: Vec<(u32, Quiet, Kind)>,
    /// Whether `steps` lists the edges from the last to the first.
    pub(crate) reversed: bool,
}

impl Graph {
    pub(crate) fn new(edges: &[Edge]) -> Self {
        Self { edges: edges.to_vec(), ..Self::default() }
    }

    pub(crate) fn at_rest(mut self, node: u32, quiet: Quiet, kind: Kind) -> Self {
        self.rest.push((node, quiet, kind));
        self
    }
}

fn violation(kind: Kind, broke: u32) -> Violation {
    Violation::bare(kind, Life::first(0), Label(broke))
}

impl Protocol for Graph {
    type State = u32;
    type Step = u16;

    fn initial(&self) -> u32 {
        0
    }

    fn steps(&self, state: &u32, out: &mut Vec<u16>) {
        let start = out.len();
        out.extend((0..).zip(&self.edges).filter(|(_, edge)| edge.from == *state).map(|(index, _)| index));
        if self.reversed {
            out[start..].reverse();
        }
    }

    fn apply(&self, state: &mut u32, step: &u16, out: &mut Vec<Violation>) {
        let Some(edge) = self.edges.get(usize::from(*step)).filter(|edge| edge.from == *state) else { return };
        *state = edge.to;
        out.extend(edge.violates.map(|kind| violation(kind, u32::from(*step))));
    }

    fn class(&self, step: &u16) -> StepClass {
        self.edges[usize::from(*step)].class
    }

    fn family(&self, step: &u16) -> u8 {
        self.class(step) as u8
    }

    fn quiet(&self, state: &u32, quiet: Quiet, out: &mut Vec<Violation>) {
        let wrong = self.rest.iter().filter(|(node, when, _)| node == state && *when == quiet);
        out.extend(wrong.map(|(node, _, kind)| violation(*kind, 1000 + node)));
    }
}
