//! Links the integer set library isl, and gmp which it needs.
//!
//! Both are linked statically where their archives are installed (Debian's `libisl-dev` and
//! `libgmp-dev` have them), so that the program needs no library of ours at run time. Else, or with
//! `LOZENGE_LINK_ISL=dynamic`, the shared library is used.
//!
//! With the feature `bundled`, isl is built from sources and linked by the crate `isl-rs`. For
//! another processor than this one, archives are looked for by that one's compiler: `TARGET-gcc`,
//! or what `CC_TARGET` names.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The folder that has this archive, as the C compiler finds it.
fn folder_of(archive: &str) -> Option<PathBuf> {
    let compiler = compiler();
    let output = Command::new(compiler).arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // a file that is not found is printed as its plain name
    (path.is_absolute() && path.is_file()).then(|| path.parent().map(PathBuf::from))?
}

/// The C compiler of the processor that is built for.
fn compiler() -> String {
    let [target, host] = ["TARGET", "HOST"].map(|name| env::var(name).unwrap_or_default());
    if let Ok(own) = env::var(format!("CC_{}", target.replace('-', "_"))) {
        return own;
    }
    if target != host {
        // Names of compilers have no vendor: `aarch64-linux-gnu-gcc`.
        return format!("{}-gcc", target.replace("-unknown-", "-"));
    }
    env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The crate `isl-rs` has built and linked it.
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        return;
    }
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
