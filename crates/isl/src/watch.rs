//! An end of hangs: a thread that tells isl to stop what has taken half an hour.
//!
//! Limits on operations end work at the same place on every machine. A clock must not decide what
//! comes out, so what it ends has no result: it unwinds. This is the only place of the compiler
//! that reads one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::ctx::{Ctx, RawCtx};

unsafe extern "C" {
    fn isl_ctx_abort(ctx: *mut RawCtx);
    fn isl_ctx_resume(ctx: *mut RawCtx);
}

/// Seconds after which limited work counts as a hang: more than ten times what the limits on
/// operations allow on a slow machine.
pub const HANG_SECONDS: u64 = 1800;

/// How often the clock is looked at, in seconds.
const LOOK: u64 = 5;

/// What limited work unwinds with that was taken for a hang.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hang;

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gave up after {HANG_SECONDS} seconds: this is a limit of time")
    }
}

/// How many times faster than the true clock this one runs.
static SPEED: AtomicU32 = AtomicU32::new(1);

/// For tests: makes the clock run so many times faster.
pub fn hurry(times: u32) {
    SPEED.store(times.max(1), Ordering::Relaxed);
}

/// The time since `began`, by this clock.
fn since(began: Instant) -> Duration {
    began.elapsed() * SPEED.load(Ordering::Relaxed)
}

/// Watched work: when it began, and its context.
struct Watched(Instant, *mut RawCtx);

// SAFETY: the pointer is only given to `isl_ctx_abort`, which may be called while isl works: it
// stores a flag that isl polls, and is there for signal handlers.
unsafe impl Send for Watched {}

/// The work that is watched, by numbers.
static ALL: Mutex<(u64, BTreeMap<u64, Watched>)> = Mutex::new((0, BTreeMap::new()));
static START: Once = Once::new();

fn all() -> MutexGuard<'static, (u64, BTreeMap<u64, Watched>)> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A watch over a context; it ends when dropped.
pub(crate) struct Watch {
    number: u64,
    ctx: Ctx,
}

impl Watch {
    /// Makes isl stop whatever it does in `ctx` when this takes too long; if no thread can be
    /// started, nothing does.
    pub fn start(ctx: &Ctx) -> Watch {
        START.call_once(|| {
            // Without the thread there are still the limits on operations.
            let _ = std::thread::Builder::new().stack_size(64 << 10).spawn(look);
        });
        let mut all = all();
        all.0 += 1;
        let number = all.0;
        all.1.insert(number, Watched(Instant::now(), ctx.raw()));
        Watch { number, ctx: ctx.clone() }
    }
}

/// Looks at the clock for ever.
fn look() {
    loop {
        std::thread::sleep(Duration::from_secs(LOOK) / SPEED.load(Ordering::Relaxed));
        for Watched(began, ctx) in all().1.values() {
            if since(*began) >= Duration::from_secs(HANG_SECONDS) {
                // SAFETY: while the lock is held no `Watch` ends, and each holds its context.
                unsafe { isl_ctx_abort(*ctx) };
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        all().1.remove(&self.number);
        // SAFETY: the context is live.
        unsafe { isl_ctx_resume(self.ctx.raw()) };
    }
}
