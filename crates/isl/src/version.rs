//! Which isl this program is linked with.

use std::ffi::{CStr, c_char};

/// Name and version of the set library, as isl tells it, on one line.
pub fn version() -> String {
    unsafe extern "C" {
        fn isl_version() -> *const c_char;
    }
    // SAFETY: the function takes nothing and returns a constant string that ends in 0.
    let text = unsafe { CStr::from_ptr(isl_version()) };
    let text = text.to_string_lossy().split_whitespace().collect::<Vec<_>>().join(" ");
    // Sources that are no release of isl only say what numbers they use.
    if text.starts_with("isl") { text } else { format!("isl, {text}") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_one_line_that_names_isl() {
        let version = super::version();
        assert!(version.starts_with("isl"), "{version}");
        assert!(!version.contains('\n'));
    }
}
