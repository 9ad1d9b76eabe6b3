//! The `lozenge` command.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(lozenge::command::main(std::env::args_os()))
}
