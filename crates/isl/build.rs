//! Finds the system's isl: through `pkg-config` where it is installed, else by its plain name on the linker's path.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let flags = Command::new("pkg-config").args(["--libs", "isl"]).output();
    let flags = match &flags {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => "-lisl".to_owned(),
    };
    for flag in flags.split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if flag == "-lisl" {
            println!("cargo:rustc-link-lib=isl");
        }
    }
}
