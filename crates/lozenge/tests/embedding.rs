//! Models as parts of other programs: two of them in one, a header that is enough, and C compilers
//! whose options would make them wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use lozenge::files::Scratch;

const MODEL: &str = "model ir 10\nopset \"\" 17\ngraph main_graph {
  input x: f32[2, 3]
  init w: f32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  t = MatMul(x, w)
  y = Relu(t)
  output y: f32[2, 2]
}\n";

const MAIN: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include \"first.h\"
#include \"second.h\"
static int64_t *block(const char *name) {
    int64_t *bytes;
    FILE *file = fopen(name, \"rb\");
    if (!file || posix_memalign((void **)&bytes, 64, 4096)) exit(1);
    size_t read = fread(bytes, 1, 4096, file);
    fclose(file);
    return read ? bytes : 0;
}
int main(void) {
    float x[6] = {1, -2, 3, 0.5f, 1, -1}, y[4], z[4];
    int64_t *a = block(\"first.parameters\"), *b = block(\"second.parameters\");
    int status = first(a, x, y) + second(b, x, z);
    printf(\"%d %g %g %g %g, %g %g %g %g\\n\", status, y[0], y[1], y[2], y[3], z[0], z[1], z[2], z[3]);
    return 0;
}
";

fn call(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_remove("CC").output().expect("it runs")
}

fn done(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = call(folder, program, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with two models whose graphs have one name, as exporters give it, and their C and
/// headers.
fn two_models() -> Scratch {
    let scratch = Scratch::new().expect("there is room for files");
    let folder = scratch.path();
    let second = MODEL.replace("= [1.0, 2.0", "= [-1.0, -2.0").replace("Relu", "Tanh");
    for (name, text) in [("first.graph", MODEL), ("other.graph", &second), ("main.c", MAIN)] {
        fs::write(folder.join(name), text).expect("it can be written");
    }
    let lozenge = env!("CARGO_BIN_EXE_lozenge");
    for emit in [&["-o", "first.c"][..], &["--emit", "header", "-o", "first.h"]] {
        done(folder, lozenge, &[&["compile", "first.graph"], emit].concat());
    }
    for emit in [&["-o", "second.c"][..], &["--emit", "header", "-o", "second.h"]] {
        done(folder, lozenge, &[&["compile", "other.graph", "--prefix", "second"], emit].concat());
    }
    scratch
}

#[test]
fn two_models_are_linked_into_one_program() {
    let scratch = two_models();
    let folder = scratch.path();
    let flags = ["-std=c99", "-D_POSIX_C_SOURCE=200112L", "-Wall", "-Wextra", "-O2", "-fopenmp"];
    done(folder, "gcc", &[&flags[..], &["main.c", "first.c", "second.c", "-lm", "-o", "main"]].concat());
    // x W, and its hyperbolic tangent with the first row of W negated
    assert_eq!(done(folder, "./main", &[]), "0 10 12 0 0, 1 1 -0.986614 -0.995055\n");
    done(folder, "gcc", &["-fopenmp", "-c", "first.c", "-o", "first.o"]);
    let symbols = done(folder, "nm", &["--defined-only", "--extern-only", "first.o"]);
    assert_eq!(symbols.split_whitespace().last(), Some("first"));
    assert_eq!(symbols.lines().count(), 1, "{symbols}");
}

#[test]
fn a_header_says_what_it_was_made_of() {
    let scratch = two_models();
    let header = fs::read_to_string(scratch.path().join("second.h")).expect("it is there");
    let digest = done(scratch.path(), "sha256sum", &["other.graph"]);
    let digest = digest.split_whitespace().next().expect("a digest");
    assert!(header.contains(&format!("(SHA-256 {digest})")), "{header}");
    assert!(header.contains(&format!("Made by lozenge {}", env!("CARGO_PKG_VERSION"))), "{header}");
    assert!(header.contains("int second(const int64_t *parameters, const float *x, float *y);"), "{header}");
    let lozenge = env!("CARGO_BIN_EXE_lozenge");
    for wrong in ["a-b", "2nd", ""] {
        let output = call(scratch.path(), lozenge, &["compile", "first.graph", "--prefix", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn options_that_make_results_wrong_do_not_compile() {
    let scratch = two_models();
    let folder = scratch.path();
    let associative = ["-O2", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"];
    for flags in [&["-O2", "-ffast-math"][..], &["-Ofast"], &associative, &["-O2", "-ffinite-math-only"]] {
        let output =
            call(folder, "gcc", &[flags, &["-fopenmp", "-c", "second.c", "-o", "second.o"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("results would be wrong"), "{flags:?}: {said}");
    }
    let harmless = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"];
    done(folder, "gcc", &[&harmless[..], &["-fopenmp", "-c", "second.c", "-o", "second.o"]].concat());
}
