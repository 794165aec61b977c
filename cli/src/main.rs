//! The `pagefence` command.
fn main() {}
