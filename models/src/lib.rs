//! The serving cell on threads: what happens *inside* a step, between two accesses to shared state.
//!
//! The library `pagefence` steps the cell one actor at a time. Here the very same code runs on threads, one an actor
//! (protocol section 4), and a checker decides at each access to shared state who goes on. Two checkers do that:
//!
//! * **loom** tries every schedule of a *slice* with at most so many preemptions. A slice is a moment of the protocol: a
//!   script leads up to it, two to four threads race through it, and a drain shows what came of it. Page contents and
//!   metadata rows are tracked there, so that an access that nothing orders is found even where its outcome was good.
//! * **shuttle** runs the *whole cell*, every thread and several requests, on schedules that it draws at random: PCT of depth
//!   3 and 5, uniform random walk, and random, in turn, since no single one wins; and every schedule of a slice, depth
//!   first, where that ends.
//!
//! A pass of loom needs a preemption bound of at least 3, a pass of PCT a depth of at least 3: with less, plain races were
//! seen to be missed.
//!
//! What is found is a [`Finding`](pagefence::explore::Finding) as everywhere, with the same oracle, kinds and signatures, plus
//! the [schedule](pagefence::explore::Schedule): which thread made which access. It is ours, so it outlives the engines' own replay
//! strings, and [`follow`](engine::follow) takes it again.
//!
//! # What is modelled how
//!
//! * The engine's tables are guarded by nothing but an interpreter that runs one thread at a time (protocol section 4). Each
//!   operation on one of them is one sequentially consistent access; a read-modify-write is two.
//! * Pages and metadata rows are written by a network card and read by a GPU. Here nothing orders their accesses but
//!   what the protocol does: a completion that the worker saw, a status message, a room's status.
//! * What a thread does that the oracle hears is a point at which another may come first, and no two such steps commute:
//!   every order in which the oracle can hear them is tried. To be heard orders nothing else
//!   ([`Order`](pagefence::platform::Order)).
//! * The hardware gives this order, and no other: a completion comes after its own write is visible to whoever the completion is
//!   passed on to. Nothing orders two slices of one write, two writes, or a write and a metadata message.
//!
//! # What is abstracted away
//!
//! * The content of a metadata row is read and written as one thing, so a row is never seen half written, and polling it for a
//!   room counts as having seen the write behind it.
//! * Queues between threads are locked queues, as the engine's are.
//! * Prefill does not die while threads race: a script may kill it before, and the explorers of the library do.
//! * A fault of the network strikes at the first write or message that it can, whenever it is scheduled.

pub mod engine;
pub mod finding;
pub mod isolated;
pub mod job;
pub mod model;
mod models;
pub mod races;
pub mod record;
pub mod shrink;
pub mod stage;

pub use job::{Ending, Engine, Job, Met, Report};
pub use model::{Model, Slice, all, find};
