//! The cell and a pair under the same script, step by step.

mod conform;
mod names;
mod plan;
mod side;
mod trial;

pub use conform::{Conformance, Difference, generate, minimise, run};
pub use names::Names;
pub use plan::{Move, drained};
pub use side::{Heard, Sides};
pub(crate) use trial::SPARE_PAGES;
pub use trial::{Told, Trial, attempt};
