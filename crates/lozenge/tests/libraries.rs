//! Libraries as other programs use them: headers in C and C++, `pkg-config`, CMake. They need the
//! packages of `./x setup`.

use std::fs;
use std::path::Path;
use std::process::Command;

use lozenge::files::Scratch;
use lozenge::process::on_path;

const PRODUCT: &str = "def product [n] (xs ys: [n]f64): [n]f64 = zip xs ys |> mapPar (\\(x, y) -> x * y)\n";
const SCALE: &str = "void scale(int n, int m, double k, double a[n][m]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      a[i][j] *= k;\n#pragma endscop\n}\n";
const MAIN: &str = "#include <stdio.h>
#include \"libproduct.h\"
#include \"libscale.h\"
#ifdef __cplusplus
#define ARRAY(a) &a[0][0]
#else
#define ARRAY(a) a
#endif

int main(void) {
    double a[2][2] = {{1, 2}, {3, 4}}, out[4];
    scale(2, 2, 10, ARRAY(a));
    int status = product(4, &a[0][0], &a[0][0], out);
    printf(\"%d %g %g\\n\", status, out[0], out[3]);
    return 0;
}
";

fn folder() -> Scratch {
    let scratch = Scratch::new().expect("there is room for files");
    for (name, text) in [("product.loz", PRODUCT), ("scale.c", SCALE), ("main.c", MAIN), ("main.cpp", MAIN)] {
        fs::write(scratch.path().join(name), text).expect("it can be written");
    }
    scratch
}

fn tell(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("PKG_CONFIG_PATH", folder)
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("CC")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}\n{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    told
}

/// A test that lacks a program fails: one that passes without it would be taken for run.
fn needs(program: &str) {
    assert!(on_path(Path::new(program)).is_some(), "{program} is missing: ./x setup installs it");
}

fn build(folder: &Path, kind: &str, ending: &str) {
    for (source, name) in [("product.loz", "libproduct"), ("scale.c", "libscale")] {
        let output = format!("{name}.{ending}");
        tell(folder, "lozenge", &["compile", source, kind, "--pkg-config", "-o", &output]);
    }
}

#[test]
fn headers_are_for_c_and_cpp() {
    for (kind, ending) in [("--static", "a"), ("--shared", "so")] {
        let scratch = folder();
        build(scratch.path(), kind, ending);
        let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"];
        for (compiler, source) in [("gcc", "main.c"), ("g++", "main.cpp")] {
            needs(compiler);
            let libraries = ["-L.", "-lproduct", "-lscale", "-fopenmp", "-lm", "-o", "program"];
            tell(scratch.path(), compiler, &[&strict[..], &[source], &libraries].concat());
            assert_eq!(tell(scratch.path(), "./program", &[]), "0 100 1600\n", "{kind} {compiler}");
        }
    }
}

#[test]
fn pkg_config_says_what_to_link_with() {
    needs("pkg-config");
    for (kind, ending) in [("--static", "a"), ("--shared", "so")] {
        let scratch = folder();
        build(scratch.path(), kind, ending);
        let flags = tell(scratch.path(), "pkg-config", &["--cflags", "--libs", "libproduct", "libscale"]);
        let flags: Vec<&str> = flags.split_whitespace().collect();
        tell(scratch.path(), "gcc", &[&["main.c", "-o", "program"], &flags[..]].concat());
        assert_eq!(tell(scratch.path(), "./program", &[]), "0 100 1600\n", "{kind}");
    }
}

#[test]
fn the_same_source_gives_the_same_library() {
    let scratch = folder();
    let mut made = Vec::new();
    for _ in 0..2 {
        build(scratch.path(), "--static", "a");
        build(scratch.path(), "--shared", "so");
        let names = ["libproduct.a", "libscale.a", "libproduct.so", "libscale.so"];
        made.push(names.map(|name| fs::read(scratch.path().join(name)).expect("it was built")));
    }
    assert!(made[0] == made[1]);
}

#[test]
fn cmake_builds_libraries_from_sources() {
    needs("cmake");
    for kind in ["STATIC", "SHARED"] {
        let scratch = folder();
        let project = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(test C)\nfind_package(Lozenge CONFIG REQUIRED)\n\
             lozenge_add_library(kernels {kind} SOURCES product.loz scale.c OPTIONS --reassociate)\n\
             add_executable(program main.c)\ntarget_link_libraries(program PRIVATE kernels)\n"
        );
        fs::write(scratch.path().join("CMakeLists.txt"), project).expect("it can be written");
        let module = golden::root().join("share/cmake");
        let found = format!("-DLozenge_DIR={}", module.display());
        let command = format!("-DLOZENGE_COMMAND={}", env!("CARGO_BIN_EXE_lozenge"));
        tell(scratch.path(), "cmake", &["-S", ".", "-B", "build", &found, &command]);
        tell(scratch.path(), "cmake", &["--build", "build"]);
        assert_eq!(tell(scratch.path(), "build/program", &[]), "0 100 1600\n", "{kind}");
    }
}
