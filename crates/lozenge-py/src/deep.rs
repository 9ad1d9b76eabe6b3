//! Work of the compiler: on a stack that holds deeply nested programs, and with panics as failures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lozenge::Failure;

/// As large as that of the command.
const STACK: usize = 1 << 30;

/// Does the work on a stack of its own.
///
/// # Errors
/// What the work refuses; `X0601` if it panics.
pub fn deep<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let guarded = || catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(defect(&panic)));
    std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, guarded) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| Err(defect(&panic))),
            Err(error) => Err(Failure::environment(
                "X0004",
                format!("can't start a thread with a stack of 1 GiB: {error}"),
            )),
        }
    })
}

fn defect(panic: &Box<dyn std::any::Any + Send>) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Failure::refused("X0601", format!("the compiler failed: {what}"))
        .help("this is a defect of lozenge: please report the program and the call")
}
