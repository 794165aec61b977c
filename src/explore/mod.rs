//! Explorers: they drive a [`Protocol`] through its interleavings and collect what the oracle says.
//!
//! * [`exhaustive()`]: every reachable state, shortest script for each finding, closed or truncated.
//! * [`swarm()`]: seeded random walks over enabled steps, resumable.
//! * [`Walker`]: one state, stepped by hand; [`Walker::drain`] takes every fair step until nothing is left to do.
//! * [`replay()`]: a script, step by step, to an observer.
//! * [`minimise()`]: the smallest script that still shows the same [`Signature`].
//! * [`Finding`]: a violation of the serving cell and its script, as a file.
//! * [`hunt()`]: several explorers on one profile in one scope, each signature once.
//! * [`survey()`]: short hunts over many profiles and scopes, for what is news.
//! * [`canary()`]: proves that all of these still find a fault that was planted on purpose.
//!
//! Same input, same result, for any number of workers; a search that was cut short says so ([`StopReason`]).

mod budget;
mod bulk;
mod canary;
mod drain;
mod exhaustive;
mod families;
mod finding;
mod fingerprint;
mod found;
mod hunt;
mod minimise;
mod page_machine;
mod pool;
mod protocol;
mod random;
mod replay;
mod schedule;
mod serving;
mod signature;
mod survey;
mod swarm;
mod tally;
mod walker;
mod words;

pub use budget::{Budget, Progress, StopReason};
pub use canary::{MissedCanary, canary};
pub use drain::Drained;
pub use exhaustive::{Exhaustive, ExhaustiveOptions, exhaustive};
pub use families::Families;
pub use finding::{DRAIN_BOUND, Finding, Origin, Reproduction, Seen};
pub use fingerprint::{Fingerprinter, fingerprint, mix};
pub use found::Found;
pub use hunt::{Explorer, Hunt, HuntOptions, Run, hunt};
pub use minimise::{Keep, MinimiseOptions, Minimised, minimise};
pub use page_machine::{PageMachine, PageState, PageStep, Plant};
pub use protocol::{Protocol, Quiet, StepClass};
pub use random::Random;
pub use replay::{Replayed, Tail, replay};
pub use schedule::{Access, Hint, Schedule, Stretches, Threads, short_name};
pub use serving::{Serving, ServingState};
pub use signature::Signature;
pub use survey::{News, Survey, survey};
pub use swarm::{Mix, Swarm, SwarmOptions, swarm};
pub use walker::{Moment, Walker};
pub use words::{ViolationInWords, Words};
