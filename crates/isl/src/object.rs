//! How isl's objects and functions are bound: one table line a function, from which both its C
//! declaration and its safe method come, so that the two cannot disagree.
//!
//! Modes of arguments are isl's own: `take` gives isl a reference of its own (a copy is a count),
//! `keep` lends the pointer, `raw` passes a number.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};

use crate::ctx::{Ctx, Error, Result};

/// An object of isl behind an owned pointer.
pub(crate) trait Object: Sized {
    /// The opaque C type.
    type Raw;
    /// Wraps a pointer that the caller owns and that is not NULL.
    ///
    /// # Safety
    /// `raw` is a live object of `ctx`, and the reference is given away.
    unsafe fn own(ctx: &Ctx, raw: *mut Self::Raw) -> Self;
    /// The pointer, lent.
    fn lend(&self) -> *mut Self::Raw;
    /// A new reference, owned by the caller.
    fn give(&self) -> *mut Self::Raw;
}

/// How a C result becomes a value.
pub(crate) trait FromC: Sized {
    /// The C type.
    type C;
    /// The value, or the pending error.
    ///
    /// # Safety
    /// `c` comes from a function of isl in `ctx` that gives its result away.
    unsafe fn from_c(ctx: &Ctx, c: Self::C) -> Result<Self>;
}

impl FromC for bool {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<bool> {
        if c < 0 { Err(ctx.take_error()) } else { Ok(c != 0) }
    }
}

impl FromC for usize {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<usize> {
        usize::try_from(c).map_err(|_| ctx.take_error())
    }
}

impl FromC for () {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<()> {
        if c < 0 { Err(ctx.take_error()) } else { Ok(()) }
    }
}

impl FromC for i32 {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<i32> {
        ctx.pending_error().map_or(Ok(c), Err)
    }
}

impl FromC for i64 {
    type C = c_long;
    unsafe fn from_c(ctx: &Ctx, c: c_long) -> Result<i64> {
        ctx.pending_error().map_or(Ok(c), Err)
    }
}

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

impl FromC for String {
    type C = *mut c_char;
    unsafe fn from_c(ctx: &Ctx, c: *mut c_char) -> Result<String> {
        if c.is_null() {
            return Err(ctx.take_error());
        }
        // SAFETY: isl gives a NUL-terminated string on the heap, which is the caller's.
        let text = unsafe { CStr::from_ptr(c) }.to_string_lossy().into_owned();
        // SAFETY: as above; isl allocates with `malloc`.
        unsafe { free(c.cast()) };
        Ok(text)
    }
}

/// A name that isl keeps: absent where there is none.
impl FromC for Option<String> {
    type C = *const c_char;
    unsafe fn from_c(ctx: &Ctx, c: *const c_char) -> Result<Option<String>> {
        if c.is_null() {
            return ctx.pending_error().map_or(Ok(None), Err);
        }
        // SAFETY: a NUL-terminated string that lives as long as the object that was lent to the
        // call; it is copied.
        Ok(Some(unsafe { CStr::from_ptr(c) }.to_string_lossy().into_owned()))
    }
}

/// Refuses objects of another context.
pub(crate) fn same(ctx: &Ctx, other: &Ctx) -> Result<()> {
    if ctx.same(other) {
        Ok(())
    } else {
        Err(Error::argument("the arguments belong to different isl contexts"))
    }
}

/// A C string; refuses inner NUL bytes.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::argument("a name or text contains a NUL byte"))
}

/// Declares an object type: `object!(Set: isl_set, isl_set_copy, isl_set_free, isl_set_to_str)`.
macro_rules! object {
    ($(#[$meta:meta])* $name:ident : $raw:ident, $copy:ident, $free:ident $(, $to_str:ident)?) => {
        #[allow(non_camel_case_types)]
        pub(crate) enum $raw {}

        $(#[$meta])*
        pub struct $name {
            raw: std::ptr::NonNull<$raw>,
            ctx: $crate::ctx::Ctx,
        }

        unsafe extern "C" {
            fn $copy(object: *mut $raw) -> *mut $raw;
            fn $free(object: *mut $raw) -> *mut $raw;
        }

        impl $crate::object::Object for $name {
            type Raw = $raw;
            unsafe fn own(ctx: &$crate::ctx::Ctx, raw: *mut $raw) -> Self {
                let raw = std::ptr::NonNull::new(raw).expect("the caller has ruled out NULL");
                $name { raw, ctx: ctx.clone() }
            }
            fn lend(&self) -> *mut $raw {
                self.raw.as_ptr()
            }
            fn give(&self) -> *mut $raw {
                // SAFETY: the object is live; isl counts one more reference.
                unsafe { $copy(self.raw.as_ptr()) }
            }
        }

        impl $crate::object::FromC for $name {
            type C = *mut $raw;
            unsafe fn from_c(ctx: &$crate::ctx::Ctx, c: *mut $raw) -> $crate::ctx::Result<Self> {
                if c.is_null() {
                    return Err(ctx.take_error());
                }
                // SAFETY: not NULL, and given away by isl (the caller's promise).
                Ok(unsafe { <Self as $crate::object::Object>::own(ctx, c) })
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                let raw = $crate::object::Object::give(self);
                // SAFETY: a fresh reference to a live object.
                unsafe { <Self as $crate::object::Object>::own(&self.ctx, raw) }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this reference is owned and not used again; the context is still held by
                // `self.ctx`.
                unsafe { $free(self.raw.as_ptr()) };
            }
        }

        impl $name {
            /// The context in which the object lives.
            #[allow(dead_code)] // lists are not seen outside
            pub fn ctx(&self) -> &$crate::ctx::Ctx {
                &self.ctx
            }
        }

        $(
            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    unsafe extern "C" {
                        fn $to_str(object: *mut $raw) -> *mut std::ffi::c_char;
                    }
                    // SAFETY: the object is live and lent; the string is given away.
                    let text = unsafe {
                        <String as $crate::object::FromC>::from_c(&self.ctx, $to_str(self.raw.as_ptr()))
                    };
                    f.write_str(&text.map_err(|_| std::fmt::Error)?)
                }
            }

            impl std::fmt::Debug for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    std::fmt::Display::fmt(self, f)
                }
            }
        )?
    };
}

/// The Rust type of an argument of a mode.
macro_rules! rust_type {
    (take $ty:ty) => {
        &$ty
    };
    (keep $ty:ty) => {
        &$ty
    };
    (raw $ty:ty) => {
        $ty
    };
    (text $ty:ty) => {
        &$ty
    };
}

/// The C type of an argument of a mode.
macro_rules! c_type {
    (take $ty:ty) => { *mut <$ty as $crate::object::Object>::Raw };
    (keep $ty:ty) => { *mut <$ty as $crate::object::Object>::Raw };
    (raw $ty:ty) => { $ty };
    (text $ty:ty) => { *const std::ffi::c_char };
}

/// What is refused before isl is called.
macro_rules! prepare {
    ($ctx:expr, take $arg:ident) => {
        $crate::object::same($ctx, $arg.ctx())?
    };
    ($ctx:expr, keep $arg:ident) => {
        $crate::object::same($ctx, $arg.ctx())?
    };
    ($ctx:expr, raw $arg:ident) => {
        ()
    };
    ($ctx:expr, text $arg:ident) => {
        $crate::object::c_string($arg)?
    };
}

/// The value passed to C; `prepared` is what `prepare!` gave.
macro_rules! c_arg {
    (take $arg:expr, $prepared:expr) => {
        $crate::object::Object::give($arg)
    };
    (keep $arg:expr, $prepared:expr) => {
        $crate::object::Object::lend($arg)
    };
    (raw $arg:expr, $prepared:expr) => {
        $arg
    };
    (text $arg:expr, $prepared:expr) => {
        $prepared.as_ptr()
    };
}

/// Methods, one line each: `name(mode self, argument: mode Type) -> Result = c_function;`.
macro_rules! methods {
    ($object:ident; $($(#[$meta:meta])* $vis:vis $name:ident ($smode:ident self $(, $arg:ident : $mode:ident $ty:ty)*) -> $ret:ty = $c:ident;)*) => {
        impl $object { $(
            $(#[$meta])*
            ///
            /// # Errors
            /// Those of isl.
            $vis fn $name(&self $(, $arg: rust_type!($mode $ty))*) -> $crate::ctx::Result<$ret> {
                unsafe extern "C" {
                    fn $c(object: c_type!($smode $object) $(, $arg: c_type!($mode $ty))*) -> <$ret as $crate::object::FromC>::C;
                }
                $(#[allow(clippy::let_unit_value)] let $arg = (prepare!(self.ctx(), $mode $arg), $arg);)*
                // SAFETY: the declaration is the header's; the object and the arguments are live
                // and of one context; what isl takes is a reference of its own, what it keeps
                // outlives the call.
                unsafe {
                    let result = $c(c_arg!($smode self, ()) $(, c_arg!($mode $arg.1, $arg.0))*);
                    <$ret as $crate::object::FromC>::from_c(self.ctx(), result)
                }
            }
        )* }
    };
}

/// Constructors that start from a context.
macro_rules! constructors {
    ($object:ident; $($(#[$meta:meta])* $vis:vis $name:ident ($($arg:ident : $mode:ident $ty:ty),*) = $c:ident;)*) => {
        impl $object { $(
            $(#[$meta])*
            ///
            /// # Errors
            /// Those of isl.
            $vis fn $name(ctx: &$crate::ctx::Ctx $(, $arg: rust_type!($mode $ty))*) -> $crate::ctx::Result<$object> {
                unsafe extern "C" {
                    fn $c(ctx: *mut $crate::ctx::RawCtx $(, $arg: c_type!($mode $ty))*) -> <$object as $crate::object::FromC>::C;
                }
                $(#[allow(clippy::let_unit_value)] let $arg = (prepare!(ctx, $mode $arg), $arg);)*
                // SAFETY: the declaration is the header's; the context and the arguments are live.
                unsafe {
                    let result = $c(ctx.raw() $(, c_arg!($mode $arg.1, $arg.0))*);
                    <$object as $crate::object::FromC>::from_c(ctx, result)
                }
            }
        )* }
    };
}

/// Declares a list of objects, as a result and as an argument:
/// `list!(SetList of Set: isl_set_list, ...)`.
macro_rules! list {
    ($name:ident of $element:ident : $raw:ident, $copy:ident, $free:ident, $alloc:ident, $add:ident, $size:ident, $get:ident) => {
        object!(
            /// A list of isl; seen outside as a vector.
            $name : $raw, $copy, $free
        );

        impl $crate::object::FromC for Vec<$element> {
            type C = *mut $raw;
            unsafe fn from_c(ctx: &$crate::ctx::Ctx, c: *mut $raw) -> $crate::ctx::Result<Self> {
                unsafe extern "C" {
                    fn $size(list: *mut $raw) -> std::ffi::c_int;
                    fn $get(list: *mut $raw, index: std::ffi::c_int) -> *mut <$element as $crate::object::Object>::Raw;
                }
                // SAFETY: given away by isl (the caller's promise).
                let list = unsafe { <$name as $crate::object::FromC>::from_c(ctx, c)? };
                // SAFETY: the list is live and lent.
                let size = unsafe { $size($crate::object::Object::lend(&list)) };
                (0..size)
                    .map(|index| {
                        // SAFETY: the list is live, the index within it, and the element is given
                        // away.
                        unsafe { <$element as $crate::object::FromC>::from_c(ctx, $get($crate::object::Object::lend(&list), index)) }
                    })
                    .collect()
            }
        }

        impl $name {
            #[allow(dead_code)] // not every list is an argument somewhere
            pub(crate) fn new(ctx: &$crate::ctx::Ctx, elements: &[$element]) -> $crate::ctx::Result<$name> {
                unsafe extern "C" {
                    fn $alloc(ctx: *mut $crate::ctx::RawCtx, n: std::ffi::c_int) -> *mut $raw;
                    fn $add(list: *mut $raw, element: *mut <$element as $crate::object::Object>::Raw) -> *mut $raw;
                }
                for element in elements {
                    $crate::object::same(ctx, element.ctx())?;
                }
                // SAFETY: the context is live; `add` takes the list and a reference of its own and
                // gives the list back, or NULL.
                unsafe {
                    let mut list = $alloc(ctx.raw(), 0);
                    for element in elements {
                        list = $add(list, $crate::object::Object::give(element));
                    }
                    <$name as $crate::object::FromC>::from_c(ctx, list)
                }
            }
        }
    };
}
