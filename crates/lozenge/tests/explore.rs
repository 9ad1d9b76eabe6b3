//! `lozenge explore` on every C kernel: a page below its bound, whose text of C is that of
//! `compile`.
#![allow(missing_docs)]

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// Largest page.
const MAX_BYTES: usize = 1_000_000;

fn lozenge(arguments: &[&str], file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(arguments)
        .arg(file)
        .env("LOZENGE_CACHES", "48K,2M")
        .env("LOZENGE_REGISTERS", "32x64")
        .output()
        .expect("the program runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", file.display());
    String::from_utf8(output.stdout).expect("pages are UTF-8")
}

/// The text of a stage, without its markup.
fn stage(page: &str, id: &str) -> String {
    let (_, rest) = page.split_once(&format!("id=\"stage-{id}\"")).expect(id);
    // What is said of the stage before may have `code` as well.
    let (_, rest) = rest.split_once("<pre").expect("a stage has its text in `pre`");
    let (_, rest) = rest.split_once("<code>").expect("and in `code`");
    let (text, _) = rest.split_once("</code></pre>").expect("which ends");
    let mut plain = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if inside => {}
            c => plain.push(c),
        }
    }
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    signs.iter().fold(plain, |text, (sign, plain)| text.replace(sign, plain))
}

/// Whether a page says that a statement of its region has lines of C.
fn ties_c(page: &str) -> bool {
    let (_, rest) = page.split_once("id=\"stage-c\"").expect("there is C");
    let (_, origins) = page.split_once("id=\"origins\">").expect("there are origins");
    let statement = |number: usize| {
        let origin = origins.split("],[").nth(number).unwrap_or_default();
        origin.trim_start_matches('[').starts_with("\"S")
    };
    rest.split("data-o=\"").skip(1).any(|rest| {
        let numbers = rest.split('"').next().unwrap_or_default().split(' ');
        numbers.filter_map(|number| number.parse().ok()).any(statement)
    })
}

#[test]
fn every_kernel_has_a_page() {
    let kernels = golden::cases("c/kernels", "c");
    let (todo, tied) = (Mutex::new(kernels.iter()), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(kernel) = todo.lock().unwrap().next() else { return };
                    let page = lozenge(&["explore"], &kernel.path);
                    assert!(page.len() <= MAX_BYTES, "{}: {} bytes", kernel.name, page.len());
                    assert_eq!(stage(&page, "source").trim_end(), kernel.input.trim_end(), "{}", kernel.name);
                    assert!(!page.contains("lines are left out"), "{}", kernel.name);
                    *tied.lock().unwrap() += usize::from(ties_c(&page));
                }
            });
        }
    });
    let tied = *tied.lock().unwrap();
    assert!(2 * tied > kernels.len(), "{tied} of {} kernels have lines of C that are tied", kernels.len());
}

#[test]
fn c_is_that_of_compile() {
    for name in ["tests/c/kernels/gemm.c", "tests/c/kernels/two-regions.c", "library/mathematics.loz"] {
        let file = golden::root().join(name);
        let page = lozenge(&["explore"], &file);
        let c = lozenge(&["compile"], &file);
        assert_eq!(stage(&page, "c").trim_end(), c.trim_end(), "{name}");
    }
}

/// The loops after each pass are those of `--print-after-all`, and the assembly has lines that come
/// from statements.
#[test]
fn passes_and_assembly_are_stages() {
    let file = golden::root().join("docs/images/heat.c");
    let page = lozenge(&["explore", "--assembly"], &file);
    let passes = stage(&page, "passes");
    assert!(passes.contains("// heat_0 after affine-scheduling\n"), "{passes}");
    let (_, rest) = page.split_once("id=\"stage-assembly\"").expect("there is assembly");
    assert!(rest.contains("heat"), "its function has a label");
    let (_, origins) = page.split_once("id=\"origins\">").expect("there are origins");
    let statement = origins.split("],[").position(|origin| origin.starts_with("\"S0"));
    let statement = statement.expect("the statement is an origin");
    assert!(rest.contains(&format!("data-o=\"{statement}\"")), "an instruction comes from the statement");
}

/// A model whose batch has a name is shown as `compile` compiles it: with the name as an argument.
#[test]
fn models_with_named_extents_have_a_page() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let file = folder.path().join("mlp.onnx");
    let make = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["generate", "mlp", "--small", "-o"])
        .arg(&file)
        .status()
        .expect("the program runs");
    assert!(make.success());
    let page = lozenge(&["explore"], &file);
    assert!(stage(&page, "c").contains("int64_t batch"));
    assert!(page.contains("what the named extents ask for"));
}

/// A measured definition stands beside what the machine can do; what is not known is said.
#[test]
fn measured_pages_have_a_roofline() {
    let file = golden::root().join("library/blas.loz");
    let measured = ["explore", "--measure", "--reps", "1", "--type", "t=f64", "--def"];
    let sizes = ["--size", "m=30", "--size", "n=20", "--size", "p=10"];
    let page = lozenge(&[&measured[..], &["matmul"], &sizes[..]].concat(), &file);
    // 2 m n p operations; 8 (m n + n p + m p) bytes.
    assert!(page.contains("Roofline: 12000 floating-point operations, 8800 bytes"), "{page}");
    assert!(page.contains("Roofline with 1.36 operations a byte"), "{page}");
    let page = lozenge(&[&measured[..], &["iamax", "--size", "n=20"]].concat(), &file);
    assert!(page.contains("No roofline: "), "{page}");
}
