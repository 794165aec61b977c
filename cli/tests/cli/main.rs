//! The command as users meet it.

mod atlas;
mod bad_input;
mod commands;
#[cfg(unix)]
mod engines;
mod help;
#[cfg(unix)]
mod interrupt;
mod kit;
mod models;
mod night;
mod pages;
mod patch;
mod recordings;
