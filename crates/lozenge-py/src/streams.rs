//! The streams of C for the archives of the set library.
//!
//! Debian builds `libisl.a` and `libgmp.a` for programs, not for shared objects: they take the
//! addresses of `stdin`, `stdout` and `stderr` to be near. Here they are: hidden variables of this
//! object, which the linker prefers to those of the C library, filled with what those hold.
//! Everything else that the archives refer to by a near address is inside of them.

use std::ffi::c_void;

use libloading::os::unix::Library;

#[cfg(target_os = "linux")]
core::arch::global_asm!(
    ".pushsection .bss",
    ".balign 8",
    ".hidden stdin",
    ".globl stdin",
    "stdin: .skip 8",
    ".hidden stdout",
    ".globl stdout",
    "stdout: .skip 8",
    ".hidden stderr",
    ".globl stderr",
    "stderr: .skip 8",
    ".popsection",
);

#[cfg(target_os = "linux")]
mod own {
    unsafe extern "C" {
        pub static mut stdin: *mut std::ffi::c_void;
        pub static mut stdout: *mut std::ffi::c_void;
        pub static mut stderr: *mut std::ffi::c_void;
    }
}

/// Fills the variables; what the program does not have stays null.
#[cfg(target_os = "linux")]
pub fn fill() {
    let program = Library::this();
    let of = |name: &[u8]| {
        // SAFETY: the C library's variable of that name is a pointer to a stream, and is there as
        // long as the program.
        unsafe { program.get::<*mut *mut c_void>(name).map_or(std::ptr::null_mut(), |found| **found) }
    };
    let (input, output, error) = (of(b"stdin\0"), of(b"stdout\0"), of(b"stderr\0"));
    // SAFETY: this runs once, while Python loads the module and before anything of the set library
    // runs.
    unsafe {
        own::stdin = input;
        own::stdout = output;
        own::stderr = error;
    }
}

/// Elsewhere archives are asked to be fit for shared objects.
#[cfg(not(target_os = "linux"))]
pub fn fill() {}
