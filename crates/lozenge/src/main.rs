//! The `lozenge` command.

/// Rewriting and reading models make and drop many small things; with the system's allocator that took a third of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(lozenge::command::main(std::env::args_os()))
}
