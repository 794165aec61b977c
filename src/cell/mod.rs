//! The serving cell: a balancer, a prefill server, a decode server and the fabric between them, as the engine's public
//! record describes them by version.
//!
//! # What is abstracted away
//!
//! Each of these could hide a fault; a reader who wonders why a fault is not found looks here first.
//!
//! * A batch is one chunk of one request, and a decode step is one batch of all running requests.
//! * Ranks of one server take their scheduler steps in lockstep, as their collectives force; their pools, tables,
//!   workers and messages are their own.
//! * A scheduler iteration is one step on [`Local`](crate::platform::Local): what happens inside it, between two
//!   accesses to shared state, is for the threaded models.
//! * Requests have no shared prefix: every page belongs to one request.
//! * Request rows, staging regions and host pages are known to the oracle and not allocated by the cell.
//! * Retraction is modelled as its last resort: the youngest request is dropped with an error.
//! * A page's KV lands as one thing: layers are not told apart.
//! * The balancer is told of a leg's end in the same step in which the server ends it.
//! * Requests are sent in the order of the scope.

mod balancer;
mod crew;
mod decode;
mod fabric;
mod message;
mod nearest;
mod pool;
mod prefill;
mod profile;
mod rejection;
mod room;
mod scope;
mod serving;
mod site;
mod step;
mod switch;
mod world;

#[cfg(test)]
mod tests;

pub use balancer::{Balancer, Client, Leg, Pair};
pub use crew::{Actor, Listener, Outcome, Shift, Watched, Worked, run_on_threads, whole_cell, work};
pub use decode::{Armed, DecodeRank, DecodeRequest, DecodeScheduler, DecodeShared, DecodeStage};
pub use fabric::{Fabric, Payload, Told, Transfer};
pub use message::{AuxData, Http, Queue, RowContent, ToDecode, ToPrefill, TransferInfo};
pub use nearest::nearest;
pub use prefill::{Chunk, Job, PrefillRequest, PrefillScheduler, PrefillShared, PrefillStage, RankHold, Worker};
pub use profile::{Profile, ProfileError};
pub use rejection::{Legs, Producer, Rejection, Shape};
pub use room::{Poll, RoomKey};
pub use scope::{Completion, Faults, Policy, RequestSpec, Scope, ScopeError, Timers};
pub use serving::{Cell, PrefillHealth};
pub use site::{Site, UnknownSite};
pub use step::Step;
pub use switch::{Switch, Switches, UnknownSwitch};
pub use world::{Config, Ctx, Lane, Probe, World, decode_node, is_decode, place, prefill_node};
