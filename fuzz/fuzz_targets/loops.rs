//! Loop programs: read, validated, printed and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(program) = loops::parse(text) else { return };
    let _ = loops::validate::validate_program(&program);
    assert_eq!(loops::parse(&program.to_string()).as_ref(), Ok(&program));
});
