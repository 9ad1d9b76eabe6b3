//! An end in time: a thread that tells isl to stop when its hour has come.
//!
//! Elementary operations differ in cost by orders of magnitude, so a limit on their number bounds work, but not time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::ctx::{Ctx, RawCtx};

unsafe extern "C" {
    fn isl_ctx_abort(ctx: *mut RawCtx);
}

/// Whether the watched work still runs, and a bell for its end.
#[derive(Default)]
struct Shared {
    over: Mutex<bool>,
    bell: Condvar,
}

/// A watch over a context; it ends when dropped.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    /// The context lives as long as the watch.
    _ctx: Ctx,
}

/// The context of another thread.
struct Watched(*mut RawCtx);

// SAFETY: the pointer is only given to `isl_ctx_abort`, which may be called while isl works: it stores a flag that isl polls, and is there for
// signal handlers.
unsafe impl Send for Watched {}

impl Watch {
    /// Makes isl stop at `deadline` whatever it does in `ctx`; none if no thread can be started.
    pub fn start(ctx: &Ctx, deadline: Instant) -> Option<Watch> {
        let shared = Arc::new(Shared::default());
        let (theirs, watched) = (Arc::clone(&shared), Watched(ctx.raw()));
        let watch = move || {
            let watched = watched;
            let mut over = theirs.over.lock().unwrap_or_else(PoisonError::into_inner);
            while !*over {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    // SAFETY: the work is not over, and that cannot change while the lock is held, so the `Watch` and with it the context live.
                    unsafe { isl_ctx_abort(watched.0) };
                    return;
                }
                over = theirs.bell.wait_timeout(over, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        std::thread::Builder::new().stack_size(64 << 10).spawn(watch).ok()?;
        Some(Watch { shared, _ctx: ctx.clone() })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *self.shared.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.bell.notify_all();
    }
}
