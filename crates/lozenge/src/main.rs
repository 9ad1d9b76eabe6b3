//! The `lozenge` command.
fn main() {}
