//! One input, walked to its end.

use crate::coverage::{Coverage, Feature, Role};
use crate::input::{Input, Op};
use crate::worlds::World;
use pagefence::cell::{Config, Producer, Site, Step};
use pagefence::explore::{DRAIN_BOUND, Moment, Protocol as _, Serving, ServingState, Signature, Walker};
use pagefence::lifetime::{Cells, Event, OpId, Place, Span, Spans, Violation};
use pagefence::platform::Shared as _;
use std::ops::ControlFlow;

/// A violation that a walk met, each signature once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// What broke.
    pub violation: Violation,
    /// After how many steps.
    pub steps: usize,
}

/// A run of slots that an access in flight reads or writes.
struct Flight {
    op: OpId,
    started: Site,
    place: Place,
    slots: Span,
}

/// Walks inputs through one world, and keeps its buffers between them.
pub struct Walk<'w> {
    world: &'w World,
    walker: Walker<'w, Serving>,
    of_family: Vec<usize>,
    flights: Vec<Flight>,
    taken: Vec<Step>,
    skipped: usize,
    met: Vec<Met>,
}

impl<'w> Walk<'w> {
    /// Walks through `world`.
    #[must_use]
    pub fn new(world: &'w World) -> Self {
        Self {
            world,
            walker: Walker::new(&world.serving),
            of_family: Vec::new(),
            flights: Vec::new(),
            taken: Vec::new(),
            skipped: 0,
            met: Vec::new(),
        }
    }

    /// The steps that the last input took, as a script.
    #[must_use]
    pub fn script(&self) -> &[Step] {
        &self.taken
    }

    /// How many steps of the last input were not enabled.
    #[must_use]
    pub const fn skipped(&self) -> usize {
        self.skipped
    }

    /// Where the last input led.
    #[must_use]
    pub const fn state(&self) -> &ServingState {
        self.walker.state()
    }

    /// Takes the steps of `input`, whichever world it names, then drains, and returns what was violated.
    pub fn walk(&mut self, input: &Input, coverage: &mut impl Coverage) -> &[Met] {
        self.walker.reset();
        self.flights.clear();
        self.taken.clear();
        self.met.clear();
        self.skipped = 0;
        for op in &input.ops {
            match self.choose(*op) {
                Some(choice) => self.step(choice, coverage),
                None => self.skipped += 1,
            }
        }
        self.drain(coverage);
        &self.met
    }

    /// The position of the enabled step that `op` means.
    fn choose(&mut self, op: Op) -> Option<usize> {
        let enabled = self.walker.enabled();
        if op.family >= Op::ANY {
            let count = enabled.len();
            return (count > 0).then(|| usize::from(op.pick) % count);
        }
        let family = op.family % Step::FAMILIES.len() as u8;
        self.of_family.clear();
        let ours = enabled.iter().enumerate().filter(|(_, step)| self.world.serving.family(step) == family);
        self.of_family.extend(ours.map(|(at, _)| at));
        let count = self.of_family.len();
        (count > 0).then(|| self.of_family[usize::from(op.pick) % count])
    }

    fn step(&mut self, choice: usize, coverage: &mut impl Coverage) {
        let (flights, config) = (&mut self.flights, self.world.serving.config());
        let (step, violations) =
            self.walker.choose(choice, |site, event| follow(flights, config, site, event, &mut *coverage));
        self.taken.push(step);
        see(self.world, &mut self.met, violations, self.taken.len(), coverage);
        roles(self.world, self.walker.state(), step, coverage);
    }

    fn drain(&mut self, coverage: &mut impl Coverage) {
        let (met, steps) = (&mut self.met, self.taken.len());
        let drained = self.walker.drain(DRAIN_BOUND, |moment| {
            see(self.world, met, moment.violations(), steps, coverage);
            if let Moment::Step { step, state, .. } = moment {
                roles(self.world, state, *step, coverage);
            }
            ControlFlow::Continue(())
        });
        assert!(
            !drained.livelock,
            "{} in {}: a drain that never rests",
            self.world.profile.name, self.world.scope.name
        );
    }
}

fn see(world: &World, met: &mut Vec<Met>, violations: &[Violation], steps: usize, coverage: &mut impl Coverage) {
    for violation in violations {
        let spec = world.scope.requests.get(violation.life.request as usize);
        let rejected = spec.is_some_and(|spec| spec.rejected.is_some());
        coverage.see(Feature::Rung { severity: violation.kind.severity(), kind: violation.kind, rejected });
        let signature = Signature::from(violation);
        if met.iter().all(|known| Signature::from(&known.violation) != signature) {
            met.push(Met { violation: violation.clone(), steps });
        }
    }
}

/// Tells where every request is after `step`.
fn roles(world: &World, state: &ServingState, step: Step, coverage: &mut impl Coverage) {
    let cell = &state.cell;
    for (request, spec) in (0..).zip(&world.scope.requests) {
        let at_prefill = cell.prefill.requests().iter().find(|entry| entry.request == request);
        let at_decode = cell.decode.requests().iter().find(|entry| entry.request == request);
        let (prefill, decode) = (at_prefill.map(|entry| entry.stage), at_decode.map(|entry| entry.stage));
        let key = world.serving.config().key(request);
        let role = Role {
            prefill,
            decode,
            sender: cell.world.prefill[0].status(key),
            receiver: cell.world.decode[0].status(key),
            leg: cell.world.balancer.with(|balancer| balancer.pair(request).decode),
        };
        coverage.see(Feature::Step { family: step.family(), role });
        let rejected = spec.rejected.map(|rejection| rejection.by);
        if let Some(producer) = rejected.and_then(|by| Producer::ALL.iter().position(|producer| *producer == by)) {
            coverage.see(Feature::Rejected { producer: producer as u8, prefill, decode });
        }
    }
}

/// Keeps the accesses in flight, and tells which of them an event meets.
fn follow(flights: &mut Vec<Flight>, config: &Config, site: Site, event: &Event, coverage: &mut impl Coverage) {
    let mut touch = |flights: &[Flight], place: Place, run: Span| {
        let meets = |flight: &&Flight| flight.place == place && flight.slots.intersection(run).is_some();
        for flight in flights.iter().filter(meets) {
            coverage.see(Feature::Race { started: flight.started, met: site });
        }
    };
    let slots_of = |cells: &Cells| {
        let width = config.width(cells.place.arena);
        cells.runs.iter().filter(|run| run.len > 0).map(move |run| run.slots(width)).collect::<Spans>()
    };
    match event {
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => {
            slots.runs.iter().for_each(|run| touch(flights, slots.place, *run));
        }
        Event::Write { cells, .. } | Event::Read { cells, .. } => {
            slots_of(cells).iter().for_each(|run| touch(flights, cells.place, *run));
        }
        Event::Post { op, source, target, .. } => {
            for cells in [source, target].into_iter().flatten() {
                for slots in slots_of(cells) {
                    touch(flights, cells.place, slots);
                    flights.push(Flight { op: *op, started: site, place: cells.place, slots });
                }
            }
        }
        Event::Settle { op } => flights.retain(|flight| flight.op != *op),
        _ => {}
    }
}
