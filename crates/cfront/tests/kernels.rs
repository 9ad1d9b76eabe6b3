//! Every kernel of `tests/c/kernels` is taken.

use std::process::Command;

/// A file of the folder after the system's preprocessor.
fn preprocess(path: &std::path::Path) -> String {
    let output = Command::new("gcc").args(["-E", "-std=gnu11"]).arg(path).output().expect("gcc is needed for these tests");
    assert!(output.status.success(), "the preprocessor failed on {}", path.display());
    String::from_utf8(output.stdout).expect("UTF-8 in, UTF-8 out")
}

#[test]
fn every_kernel_is_taken() {
    let mut failures = String::new();
    for case in golden::cases("c/kernels", "c") {
        let preprocessed = preprocess(&case.path);
        match cfront::parse(&case.input, &preprocessed, &case.name) {
            Ok(file) => {
                assert!(!file.regions.is_empty(), "{}", case.name);
                for region in file.regions {
                    if let Ok(only) = std::env::var("SHOW") {
                        if case.name.contains(&only) {
                            println!("{}", region.function);
                            println!("{:#?}", region.info);
                        }
                    }
                    for pair in &region.info.may_alias {
                        failures.push_str(&format!("{}: {pair:?}\n", case.name));
                    }
                    for warning in &region.warnings {
                        failures.push_str(&format!("{}: {warning}\n", case.name));
                    }
                }
            }
            Err(diagnostics) => {
                for d in diagnostics {
                    failures.push_str(&format!("{}: {d}\n", case.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
