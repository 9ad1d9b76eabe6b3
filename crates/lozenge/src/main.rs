//! The `lozenge` command.

/// Rewriting and reading models make and drop many small things; with the system's allocator that
/// took a third of the time. The set library makes small things as well: the feature `override`
/// gives it this allocator, and takes an eighth or more off a translation of C.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(lozenge::command::main(std::env::args_os()))
}
