//! Functional programs: read, formatted, checked.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = functional::fmt::format(text);
    let mut none = |_: &str, path: &str| Err(format!("{path} is not there"));
    let (sources, errors) = functional::load("program.loz", text, &mut none);
    if errors.is_empty() {
        let _ = functional::check_sources(&sources);
    }
});
