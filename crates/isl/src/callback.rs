//! Closures called from C: a panic or an error inside is kept until isl has returned.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::ctx::{Ctx, Error, Result};

/// What a callback and its caller share, behind isl's `user` pointer.
pub(crate) struct Shared<T> {
    pub ctx: Ctx,
    pub value: T,
    error: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T> Shared<T> {
    pub fn new(ctx: &Ctx, value: T) -> Shared<T> {
        Shared { ctx: ctx.clone(), value, error: None, panic: None }
    }

    /// The pointer for isl. It must not be used after `self` is moved or dropped.
    pub fn user(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    /// After isl has returned: continues a panic, gives the callback's own error, isl's error, or
    /// the value.
    pub fn finish(mut self, ok: bool) -> Result<T> {
        if let Some(panic) = self.panic.take() {
            // isl may have recorded that the callback failed.
            drop(self.ctx.pending_error());
            resume_unwind(panic);
        }
        if let Some(error) = self.error.take() {
            drop(self.ctx.pending_error());
            return Err(error);
        }
        if ok { Ok(self.value) } else { Err(self.ctx.take_error()) }
    }
}

/// Runs the Rust side of a callback. `None` means that isl should stop.
///
/// # Safety
/// `user` comes from [`Shared::user`] of a live `Shared<T>` that nothing else refers to during the
/// call.
pub(crate) unsafe fn with<T, R>(
    user: *mut c_void,
    work: impl FnOnce(&mut Shared<T>) -> Result<R>,
) -> Option<R> {
    // SAFETY: the caller's promise.
    let shared = unsafe { &mut *user.cast::<Shared<T>>() };
    if shared.panic.is_some() || shared.error.is_some() {
        // isl calls on after a failure in places; do nothing more. The arguments it gives away here
        // would leak, so let `work` take them, and ignore what comes of it.
        let _ = catch_unwind(AssertUnwindSafe(|| work(shared)));
        return None;
    }
    match catch_unwind(AssertUnwindSafe(|| work(shared))) {
        Ok(Ok(result)) => Some(result),
        Ok(Err(error)) => {
            shared.error = Some(error);
            None
        }
        Err(panic) => {
            shared.panic = Some(panic);
            None
        }
    }
}
