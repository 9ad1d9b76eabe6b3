//! Mapping to cores with local memory: the tree after each module, and that the mapped program
//! computes the same.

mod common;

use loops::Program;
use polyhedral::athread::{Grid, Options, map};

fn refused(diagnostic: &loops::Diagnostic) -> String {
    let notes = diagnostic.notes.iter().map(|n| format!("  note: {n}"));
    std::iter::once(diagnostic.to_string()).chain(notes).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_tree_after_each_module() {
    golden::check("polyhedral/athread", "loops", "out", |case| {
        let function = common::function(&case.input);
        match map(&function, &Options::default()) {
            Err(diagnostic) => refused(&diagnostic),
            Ok(mapped) => {
                let stages: String =
                    mapped.stages.iter().map(|(name, tree)| format!("# {name}\n{tree}\n")).collect();
                let notes: String = mapped.notes.iter().map(|note| format!("// {note}\n")).collect();
                format!("{notes}{stages}{}", Program { functions: vec![mapped.function] })
            }
        }
    });
}

/// Small local memories and few cores, so that small sizes have several tiles and rounds.
#[test]
fn mapped_kernels_compute_the_same() {
    let mut kernels = 0;
    for (k, case) in golden::cases("polyhedral/optimize", "loops").into_iter().enumerate() {
        let function = common::function(&case.input);
        {
            let (grid, ldm) = if k % 3 == 2 { (Grid::Line(3), 4096) } else { (Grid::Plane(2, 2), 1024) };
            let options = Options { grid, ldm, ..Options::default() };
            match map(&function, &options) {
                Ok(mapped) => {
                    kernels += 1;
                    let report = loops::validate(&mapped.function);
                    assert!(
                        report.is_valid(),
                        "{}: {report:?}\n{}",
                        case.name,
                        Program { functions: vec![mapped.function] }
                    );
                    common::same_results(&function, &mapped.function, &[0, 1, 7]);
                }
                Err(diagnostic) => {
                    assert!(diagnostic.code.0.starts_with("P0"), "{}: {diagnostic}", case.name)
                }
            }
        }
    }
    assert!(kernels >= 20, "only {kernels} mappings of the kernels went through");
}

/// Tiles that are given are taken, whatever the cost model would say, and what does not fit is
/// refused.
#[test]
fn tiles_that_are_given() {
    let (mut taken, mut refused) = (0, 0);
    for case in golden::cases("polyhedral/optimize", "loops") {
        let function = common::function(&case.input);
        let options =
            Options { grid: Grid::Plane(2, 2), ldm: 2048, tiles: vec![3, 5, 2], ..Options::default() };
        match map(&function, &options) {
            Ok(mapped) => {
                taken += mapped.notes.iter().filter(|note| note.contains("tiles [3, 5] and")).count();
                common::same_results(&function, &mapped.function, &[0, 1, 7]);
            }
            Err(diagnostic) => {
                assert!(diagnostic.code.0.starts_with("P0"), "{}: {diagnostic}", case.name)
            }
        }
        let large = Options { tiles: vec![1 << 20], ..options };
        if let Err(diagnostic) = map(&function, &large)
            && diagnostic.code.0 == "P0802"
        {
            refused += usize::from(diagnostic.help.iter().any(|help| help.contains("`--tile`")));
        }
    }
    assert!(taken >= 10, "only {taken} kernels had the tiles that were given");
    assert!(refused >= 10, "only {refused} kernels with large tiles were refused");
}

/// Where cores exchange words, a product with one parallel loop has few rows of what all need in a
/// step: of `double`s these are broadcast, of others they are handed on. Elsewhere more rows at a
/// time are faster.
#[test]
fn steps_of_a_product() {
    let cases = golden::cases("polyhedral/optimize", "loops");
    let case = cases.iter().find(|case| case.name == "gemm").expect("there is a product");
    let mapped = |text: &str, cores: i64, exchange: bool| {
        let function = common::function(text);
        let hints = function.sizes.iter().map(|size| (size.clone(), 1000)).collect();
        let options = Options { grid: Grid::Line(cores), exchange, hints, ..Options::default() };
        let mapped = map(&function, &options).expect("it is mapped");
        (mapped.notes.join("\n"), Program { functions: vec![mapped.function] }.to_string())
    };
    let single = case.input.replace("f64", "f32");
    for cores in [32, 64] {
        let (notes, text) = mapped(&case.input, cores, true);
        assert!(text.contains("mark cast_to_all") && text.contains("mark by_itself"), "{notes}\n{text}");
        let (notes, text) = mapped(&single, cores, true);
        assert!(text.contains("mark among_all") && !text.contains("mark cast_to_all"), "{notes}\n{text}");
        let (notes, text) = mapped(&case.input, cores, false);
        assert!(!notes.contains("[8]") && !text.contains("mark cast_to_all"), "{notes}\n{text}");
    }
    // On 16 cores boxes of a core's own come alone.
    assert_eq!(mapped(&case.input, 16, true), mapped(&case.input, 16, false));
}

/// Triangles on all cores, with tiles so small that there are many rounds: some cores have none of
/// their own in some of these.
#[test]
fn triangles_with_shared_operands_compute_the_same() {
    let mut shared = 0;
    for case in golden::cases("polyhedral/athread", "loops") {
        if !case.name.contains("triangle") {
            continue;
        }
        let function = common::function(&case.input);
        for ldm in [900, 2048, 6000, 7000] {
            let options = Options { grid: Grid::Plane(8, 8), ldm, ..Options::default() };
            // An operand that lies across needs room to be turned.
            let Ok(mapped) = map(&function, &options) else { continue };
            let text = Program { functions: vec![mapped.function.clone()] }.to_string();
            shared += usize::from(text.contains("mark along_"));
            common::same_results(&function, &mapped.function, &[0, 1, 7, 23]);
            let checked = polyhedral::local::check(&function, &mapped.function, ldm, 8_000_000.into());
            assert!(checked.is_ok(), "{}: {checked:?}\n{text}", case.name);
        }
    }
    assert!(shared >= 4, "operands are shared in {shared} mappings only");
}

/// A loop with few iterations in its last round: full rounds are one nest, and what is left over is
/// another, which the next loop inside is mapped of.
#[test]
fn rounds_that_few_cores_fill() {
    let rows = common::function(
        "fn rows[n, m, k](a: inout f64[n][m][k], b: in f64[k][k], t: out f64[k]) {
  for i in 0..n { for j in 0..m {
    for p in 0..k {
      t[p] = 0.0
      for s in 0..k { t[p] += a[i][j][s] * b[s][p] }
    }
    for p in 0..k { a[i][j][p] = t[p] }
  } }
}",
    );
    // Without a workspace, and with a first loop that has no full round; sizes may be below zero.
    let blocks = common::function(
        "fn blocks[n, m, k](a: in f64[n][k][m], c: inout f64[n][m][k]) {
  for i in 0..n - 2 { for j in 0..m { for p in 0..k {
    c[i][j][p] = c[i][j][p] + a[i][p][j]
  } } }
}",
    );
    let extents = [0, 1, 2, 7, 8, 9, 17, 23];
    for (function, said, apart) in [
        (&rows, [11, 90, 24], true),
        (&rows, [16, 90, 24], false),
        (&rows, [15, 90, 24], false),
        (&blocks, [13, 90, 64], true),
        (&blocks, [6, 90, 64], true),
        (&blocks, [10, 90, 64], false),
    ] {
        let hints = function.sizes.iter().cloned().zip(said).collect();
        let options = Options { grid: Grid::Line(8), ldm: 32 << 10, hints, ..Options::default() };
        let mapped = map(function, &options).expect("it is mapped");
        let text = Program { functions: vec![mapped.function.clone()] }.to_string();
        let two = text.contains("8 * (n floordiv 8)") || text.contains("8 * ((n - 2) floordiv 8)");
        assert_eq!(two, apart, "{said:?}: {:?}\n{text}", mapped.notes);
        common::same_results(function, &mapped.function, &extents);
        let checked = polyhedral::local::check(function, &mapped.function, 32 << 10, 8_000_000.into());
        assert!(checked.is_ok(), "{said:?}: {checked:?}\n{text}");
        // With two mapped loops nothing is left over.
        let plane = Options { grid: Grid::Plane(2, 4), ..options };
        let mapped = map(function, &plane).expect("it is mapped");
        assert!(!Program { functions: vec![mapped.function] }.to_string().contains("floordiv 8)"));
    }
}
