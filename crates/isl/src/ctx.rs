//! Contexts, errors and operation limits.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_ulong};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::space::Val;
use crate::watch::{Hang, Watch};

/// isl's context, opaque.
pub(crate) enum RawCtx {}

const ON_ERROR_CONTINUE: c_int = 1;
const QUOTA: c_int = 6;

unsafe extern "C" {
    fn isl_ctx_alloc() -> *mut RawCtx;
    fn isl_ctx_free(ctx: *mut RawCtx);
    fn isl_options_set_on_error(ctx: *mut RawCtx, value: c_int) -> c_int;
    fn isl_ctx_last_error(ctx: *mut RawCtx) -> c_int;
    fn isl_ctx_last_error_msg(ctx: *mut RawCtx) -> *const c_char;
    fn isl_ctx_last_error_file(ctx: *mut RawCtx) -> *const c_char;
    fn isl_ctx_last_error_line(ctx: *mut RawCtx) -> c_int;
    fn isl_ctx_reset_error(ctx: *mut RawCtx);
    fn isl_ctx_set_max_operations(ctx: *mut RawCtx, operations: c_ulong);
    fn isl_ctx_get_max_operations(ctx: *mut RawCtx) -> c_ulong;
    fn isl_ctx_reset_operations(ctx: *mut RawCtx);
    fn isl_ctx_aborted(ctx: *mut RawCtx) -> c_int;
}

/// What went wrong, in isl's classification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The work was taken for a hang; see [`Hang`].
    Abort,
    /// Out of memory.
    Alloc,
    /// isl does not say; among others, syntax errors.
    Unknown,
    /// A defect of isl.
    Internal,
    /// The arguments do not fit the operation.
    Invalid,
    /// The operation limit was reached.
    Quota,
    /// isl cannot do this.
    Unsupported,
    /// An argument was refused by this crate before isl saw it.
    Argument,
}

/// An error of isl, with its words and the place in its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// Classification.
    pub kind: ErrorKind,
    /// isl's message.
    pub message: String,
    /// File and line in isl's source, if it says.
    pub place: Option<(String, i32)>,
}

impl Error {
    pub(crate) fn argument(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Argument, message: message.into(), place: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.place {
            Some((file, line)) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// The result of an operation of isl.
pub type Result<T> = std::result::Result<T, Error>;

/// An isl context: cheap to clone, freed with the last object that holds it.
///
/// It and everything made in it stays on one thread.
#[derive(Clone)]
pub struct Ctx(Rc<Inner>);

struct Inner {
    raw: NonNull<RawCtx>,
}

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Elementary operations of this thread so far, in work that was limited and has ended or begun
/// other such work.
pub fn spent() -> u64 {
    SPENT.with(Cell::get)
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: every object of this context holds a `Ctx`, so the last of them is gone and
        // nothing refers to the context.
        unsafe { isl_ctx_free(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctx({:p})", self.0.raw)
    }
}

impl Ctx {
    /// A fresh context.
    ///
    /// # Panics
    /// If there is no memory for it.
    #[allow(clippy::new_without_default)] // a context is a resource, not a value
    pub fn new() -> Ctx {
        // SAFETY: no preconditions.
        let raw = unsafe { isl_ctx_alloc() };
        let raw = NonNull::new(raw).expect("no memory for an isl context");
        // SAFETY: `raw` is a live context. Errors are to be values: isl must neither print nor
        // abort.
        unsafe { isl_options_set_on_error(raw.as_ptr(), ON_ERROR_CONTINUE) };
        Ctx(Rc::new(Inner { raw }))
    }

    pub(crate) fn raw(&self) -> *mut RawCtx {
        self.0.raw.as_ptr()
    }

    /// Whether both are the same context.
    pub fn same(&self, other: &Ctx) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Takes the pending error out of the context.
    pub(crate) fn take_error(&self) -> Error {
        let text = |pointer: *const c_char| {
            // SAFETY: isl gives NULL or a NUL-terminated string that lives until the next error; it
            // is copied here.
            (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
        };
        // SAFETY: the context is live.
        let (code, message, file, line) = unsafe {
            (
                isl_ctx_last_error(self.raw()),
                text(isl_ctx_last_error_msg(self.raw())),
                text(isl_ctx_last_error_file(self.raw())),
                isl_ctx_last_error_line(self.raw()),
            )
        };
        // SAFETY: the context is live. Without the reset the next failure without an error of its
        // own would report this one.
        unsafe { isl_ctx_reset_error(self.raw()) };
        // isl's parsers report a failure inside, the fuse's included, as a syntax error of theirs.
        let code = if code != QUOTA && self.fuse_is_blown() { QUOTA } else { code };
        // SAFETY: the context is live.
        let code = if unsafe { isl_ctx_aborted(self.raw()) } != 0 { 1 } else { code };
        let kind = match code {
            1 => ErrorKind::Abort,
            2 => ErrorKind::Alloc,
            4 => ErrorKind::Internal,
            5 => ErrorKind::Invalid,
            QUOTA => ErrorKind::Quota,
            7 => ErrorKind::Unsupported,
            _ => ErrorKind::Unknown,
        };
        let message = message.unwrap_or_else(|| "isl gave no result and no reason".to_owned());
        if kind == ErrorKind::Quota {
            return Error {
                kind,
                message: "the limit on set operations was reached".to_owned(),
                place: None,
            };
        }
        if kind == ErrorKind::Abort {
            return Error { kind, message: Hang.to_string(), place: None };
        }
        Error { kind, message, place: file.map(|file| (file, line)) }
    }

    /// Whether the operation limit is used up: then each allocation fails.
    fn fuse_is_blown(&self) -> bool {
        enum RawPrinter {}
        unsafe extern "C" {
            fn isl_printer_to_str(ctx: *mut RawCtx) -> *mut RawPrinter;
            fn isl_printer_free(printer: *mut RawPrinter) -> *mut RawPrinter;
        }
        // SAFETY: the context is live; the printer is freed, and the error of the attempt is reset.
        unsafe {
            if isl_ctx_get_max_operations(self.raw()) == 0 {
                return false;
            }
            let printer = isl_printer_to_str(self.raw());
            isl_printer_free(printer);
            let blown = printer.is_null() && isl_ctx_last_error(self.raw()) == QUOTA;
            isl_ctx_reset_error(self.raw());
            blown
        }
    }

    /// The pending error, if there is one: for functions whose result cannot show it.
    pub(crate) fn pending_error(&self) -> Option<Error> {
        // SAFETY: the context is live.
        let code = unsafe { isl_ctx_last_error(self.raw()) };
        (code != 0).then(|| self.take_error())
    }

    /// Runs `work` with a limit on isl's elementary operations; beyond it each call gives
    /// [`ErrorKind::Quota`].
    ///
    /// The limit that held before holds again afterwards, also if `work` panics; its count starts
    /// anew. Operations differ in cost, and isl may be caught in one of them: what takes half an
    /// hour ([`crate::HANG_SECONDS`]) unwinds with a [`Hang`], so that no result is made of it.
    pub fn limited<T>(&self, operations: u64, work: impl FnOnce() -> T) -> T {
        struct Restore<'a>(&'a Ctx, c_ulong);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.account();
                // SAFETY: the context is live.
                unsafe {
                    isl_ctx_set_max_operations(self.0.raw(), self.1);
                    isl_ctx_reset_operations(self.0.raw());
                }
            }
        }
        // SAFETY: the context is live.
        let before = unsafe { isl_ctx_get_max_operations(self.raw()) };
        if before != 0 {
            self.account();
        }
        let watch = (before == 0).then(|| Watch::start(self));
        let restore = Restore(self, before);
        // SAFETY: the context is live.
        unsafe {
            isl_ctx_set_max_operations(self.raw(), operations.max(1) as c_ulong);
            isl_ctx_reset_operations(self.raw());
        }
        let result = work();
        drop(restore);
        // SAFETY: the context is live.
        let hung = unsafe { isl_ctx_aborted(self.raw()) } != 0;
        drop(watch);
        if hung {
            std::panic::resume_unwind(Box::new(Hang));
        }
        result
    }

    /// Adds the operations since the last reset to [`spent`].
    ///
    /// isl counts, but does not tell: one allocation is one operation, and fails where the limit is
    /// reached, so the count is found by halving.
    fn account(&self) {
        // SAFETY: the context is live.
        let most = unsafe { isl_ctx_get_max_operations(self.raw()) } as u64;
        let (mut least, mut bound, mut tried) = (0, most, 0);
        while least < bound {
            let middle = least + (bound - least) / 2;
            // SAFETY: the context is live, and the count does not depend on the limit.
            unsafe { isl_ctx_set_max_operations(self.raw(), (middle + tried + 1) as c_ulong) };
            // One allocation, so one operation.
            if Val::int(self, 0).is_ok() {
                tried += 1;
                bound = middle;
            } else {
                least = middle + 1;
            }
        }
        // SAFETY: the context is live.
        unsafe { isl_ctx_set_max_operations(self.raw(), most as c_ulong) };
        SPENT.with(|spent| spent.set(spent.get().saturating_add(least)));
    }

    /// Sets one of isl's options.
    ///
    /// # Errors
    /// If isl refuses the value.
    pub fn set(&self, flag: Flag, value: i32) -> Result<()> {
        let setter = flag.setter();
        // SAFETY: the context is live, and all setters have this signature.
        match unsafe { setter(self.raw(), value) } {
            0 => Ok(()),
            _ => Err(self.take_error()),
        }
    }
}

macro_rules! flags {
    ($($(#[$meta:meta])* $name:ident = $function:ident;)*) => {
        /// Options of isl; see its manual for their meaning.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Flag { $($(#[$meta])* $name,)* }

        unsafe extern "C" { $(fn $function(ctx: *mut RawCtx, value: c_int) -> c_int;)* }

        impl Flag {
            fn setter(self) -> unsafe extern "C" fn(*mut RawCtx, c_int) -> c_int {
                match self { $(Flag::$name => $function,)* }
            }
        }
    };
}

flags! {
    /// Fusion only where it does not reduce the depth of bands.
    ScheduleMaximizeBandDepth = isl_options_set_schedule_maximize_band_depth;
    /// Fusion only where it does not lose coincidence.
    ScheduleMaximizeCoincidence = isl_options_set_schedule_maximize_coincidence;
    /// Avoid schedules that coalesce loops.
    ScheduleTreatCoalescing = isl_options_set_schedule_treat_coalescing;
    /// No fusion at all: strongly connected components one after the other.
    ScheduleSerializeSccs = isl_options_set_schedule_serialize_sccs;
    /// Compute schedules for whole components before splitting them.
    ScheduleWholeComponent = isl_options_set_schedule_whole_component;
    /// Upper bounds are one expression (`min`) rather than a conjunction.
    AstBuildAtomicUpperBound = isl_options_set_ast_build_atomic_upper_bound;
    /// Use division of non-negative numbers where possible.
    AstBuildPreferPdiv = isl_options_set_ast_build_prefer_pdiv;
    /// Find minima and maxima in piecewise expressions.
    AstBuildDetectMinMax = isl_options_set_ast_build_detect_min_max;
    /// Simplify conditions by the bounds of enclosing loops.
    AstBuildExploitNestedBounds = isl_options_set_ast_build_exploit_nested_bounds;
    /// Loops with strides count by one.
    AstBuildScaleStrides = isl_options_set_ast_build_scale_strides;
    /// `else` may be generated.
    AstBuildAllowElse = isl_options_set_ast_build_allow_else;
    /// `||` may be generated in conditions.
    AstBuildAllowOr = isl_options_set_ast_build_allow_or;
}
