//! Links the integer set library isl, and gmp which it needs.
//!
//! Both are linked statically where their archives are installed (Debian's `libisl-dev` and `libgmp-dev` have them), so that the
//! program needs no library of ours at run time. Else, or with `LOZENGE_LINK_ISL=dynamic`, the shared library is used.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The folder that has this archive, as the C compiler finds it.
fn folder_of(archive: &str) -> Option<PathBuf> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // a file that is not found is printed as its plain name
    (path.is_absolute() && path.is_file()).then(|| path.parent().map(PathBuf::from))?
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["CC", "PKG_CONFIG_PATH", "LOZENGE_LINK_ISL"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let dynamic = env::var_os("LOZENGE_LINK_ISL").is_some_and(|how| how == "dynamic");
    if let (false, Some(isl), Some(gmp)) = (dynamic, folder_of("libisl.a"), folder_of("libgmp.a")) {
        println!("cargo:rustc-link-search=native={}", isl.display());
        println!("cargo:rustc-link-search=native={}", gmp.display());
        println!("cargo:rustc-link-lib=static=isl");
        println!("cargo:rustc-link-lib=static=gmp");
        return;
    }
    let flags = Command::new("pkg-config").args(["--libs-only-L", "isl"]).output();
    let flags = flags.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    for flag in flags.unwrap_or_default().split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        }
    }
    println!("cargo:rustc-link-lib=isl");
}
