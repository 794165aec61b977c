//! A night: everything that pagefence can do, with budgets, in one folder that survives being killed.
//!
//! [`Budgets`] say how much of each kind of [`Task`] there is; a shard takes every n-th of them. Each task leaves a [`Record`] in the
//! [`Folder`], whole or not at all, so a night that was killed goes on where it was. The [`Night`] is all the records together, and
//! everything that people look at is made of it alone: so merged shards are reported by the same code as one machine.

mod budgets;
mod comparison;
mod folder;
mod junit;
mod libfuzzer;
mod night;
mod page;
mod record;
mod run;
mod sarif;
mod task;
mod work;
mod write;

pub use budgets::Budgets;
pub use folder::{About, Folder, Shard};
pub use night::Night;
pub use run::{Options, run};
pub use task::Area;
pub use write::write;
