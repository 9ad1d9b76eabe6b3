//! C after the preprocessor: regions are read and lowered.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let options = cfront::Options::default();
    let _ = cfront::parse_with(text, text, "region.c", &options);
});
