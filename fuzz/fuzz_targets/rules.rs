//! Substitution rules: read, printed and read again, compiled.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (file, errors) = gsl::parse(text);
    let printed = file.to_string();
    if errors.is_empty() {
        let (again, errors) = gsl::parse(&printed);
        assert!(errors.is_empty() && again == file);
        let _ = gsl::compile(&file);
    }
});
