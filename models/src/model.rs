//! The models: what races, and where.

use crate::models::{admission, release, scheduler, transfer};
use crate::stage::Stage;
use pagefence::cell::{Actor, Config, Scope, Shift, Step, Switches, whole_cell};
use pagefence::library;
use std::sync::LazyLock;

/// A part of the protocol, as slices for loom and as whole cells for shuttle.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it is called: after what it models.
    pub name: &'static str,
    /// What it models, in one line.
    pub about: &'static str,
    /// Moments of the protocol with two to four threads.
    pub slices: Vec<Slice>,
    /// Whole cells, every thread and several requests.
    pub wholes: Vec<Slice>,
    /// Moments at which something breaks its word that no protocol can do without: no profile holds there. They show that the
    /// engines would see it.
    pub broken: Vec<Slice>,
}

impl Model {
    /// The slice or whole cell called `name`.
    #[must_use]
    pub fn slice(&self, name: &str) -> Option<&Slice> {
        self.slices.iter().chain(&self.wholes).chain(&self.broken).find(|slice| slice.name == name)
    }
}

/// A moment of the protocol: what leads up to it, and who races through it.
#[derive(Clone, Debug)]
pub struct Slice {
    /// What it is called.
    pub name: String,
    /// What races, and the protocol sections that it stands for.
    pub about: String,
    /// The size of the world.
    pub scope: Scope,
    /// The steps before the threads start.
    pub lead_up: Vec<Step>,
    /// Who works, and for how many turns.
    pub shifts: Vec<Shift>,
}

impl Slice {
    /// A slice of a scope that is written as TOML.
    ///
    /// # Panics
    /// When the scope is not one; a test makes them all.
    #[must_use]
    pub fn new(name: &str, about: &str, scope: &str, lead_up: &[Step], shifts: &[(Actor, u32)]) -> Self {
        let text = format!("name = \"{name}\"\npage_size = 1\n{scope}");
        let scope: Scope = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        scope.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        let shifts = shifts.iter().map(|&(actor, turns)| Shift { actor, turns }).collect();
        Self { name: name.to_owned(), about: about.to_owned(), scope, lead_up: lead_up.to_vec(), shifts }
    }

    /// Every thread of a shipped scope.
    ///
    /// # Panics
    /// When there is no such scope; a test makes them all.
    #[must_use]
    pub fn whole(scope: &str) -> Self {
        let scope = library::scope(scope).unwrap_or_else(|error| panic!("{error}"));
        let shifts = whole_cell(&scope, WHOLE_TURNS);
        Self { name: scope.name.clone(), about: scope.about.clone(), scope, lead_up: Vec::new(), shifts }
    }

    /// The stage of this slice under these switches.
    #[must_use]
    pub fn stage(&self, switches: Switches) -> Stage {
        Stage::new(Config { switches, scope: self.scope.clone() }, &self.lead_up, &self.shifts)
    }
}

/// How many turns a thread of a whole cell has: enough for every request of a shipped scope to end, few enough that a
/// schedule which starves a thread ends too. What is unfinished then is finished by the drain.
const WHOLE_TURNS: u32 = 40;

/// Made once: fifty scopes are parsed for them.
static ALL: LazyLock<[Model; 4]> =
    LazyLock::new(|| [scheduler::model(), admission::model(), transfer::model(), release::model()]);

/// Every model.
#[must_use]
pub fn all() -> &'static [Model] {
    &*ALL
}

/// The model called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Model> {
    all().iter().find(|model| model.name == name)
}

/// The slice or whole cell called `slice` of the model called `model`.
#[must_use]
pub fn slice(model: &str, slice: &str) -> Option<&'static Slice> {
    find(model)?.slice(slice)
}
