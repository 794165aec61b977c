//! The command as users meet it.

mod bad_input;
mod commands;
mod help;
mod kit;
