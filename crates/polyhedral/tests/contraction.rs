//! Register tiles over packed operands: the code that comes out, that it computes the same, and
//! that its checker notices damage.

mod common;

use loops::{Expr, Program, Registers, Stmt};
use polyhedral::codegen;
use polyhedral::locality::Caches;
use polyhedral::packing_validation::unstage;
use polyhedral::transform::contraction::{self, Shape, Split};
use polyhedral::{Options, optimize};

/// Tiles so small that small sizes meet whole and partial ones.
fn small() -> Shape {
    Shape { rows: 2, vectors: 2, vector_bytes: 16, depth: 3, block_rows: 4, strips: 2, own_strips: 2 }
}

#[test]
fn contractions_run_as_register_tiles_and_compute_the_same() {
    golden::check("polyhedral/contraction", "loops", "out", |case| {
        let original = common::function(&case.input);
        let options = Options { contraction: Some(small()), ..Options::default() };
        let result = optimize(&original, &options).unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
        assert!(result.report.checked.is_some());
        common::same_results(&original, &result.function, &[0, 1, 2, 5, 9]);
        format!(
            "{}{}\n{}",
            result.report.bands.iter().map(|line| format!("// band: {line}\n")).collect::<String>(),
            result.report.notes.iter().map(|line| format!("// note: {line}\n")).collect::<String>(),
            Program { functions: vec![result.function.clone()] }
        )
    });
}

/// Damages a staged function in one place and asks the checker.
fn damaged(text: &str, damage: impl Fn(&Stmt) -> Option<Vec<Stmt>>) -> Result<(), String> {
    let original = common::function(text);
    let model = polyhedral::Model::extract(&original).unwrap();
    let tree = polyhedral::Tree::original(&model).unwrap();
    let mut generated = codegen::generate(&model, &tree, 1_000_000).unwrap();
    let body = std::mem::take(&mut generated.function.body);
    generated.function.body = vec![Stmt::mark(contraction::MARK, body)];
    let staged = contraction::stage(&generated, small(), Split::Rows).staged.expect("a contraction");
    assert!(unstage(&staged).is_ok());
    let mut done = false;
    let body = edit(&staged.function.body, &damage, &mut done);
    assert!(done, "nothing was damaged");
    let function = loops::Function { body, ..staged.function.clone() };
    unstage(&contraction::Staged { function, ..staged })
        .map(|_| ())
        .map_err(|d| format!("{}: {}", d.code, d.message))
}

/// The first statement that `damage` takes is replaced.
fn edit(body: &[Stmt], damage: &dyn Fn(&Stmt) -> Option<Vec<Stmt>>, done: &mut bool) -> Vec<Stmt> {
    let mut result = Vec::new();
    for stmt in body {
        match if *done { None } else { damage(stmt) } {
            Some(new) => {
                *done = true;
                result.extend(new);
            }
            None => {
                let inner = &mut |inner: &[Stmt]| edit(inner, damage, done);
                result.push(stmt.map(&mut Expr::clone, inner));
            }
        }
    }
    result
}

const PRODUCT: &str = "fn f[n, m, l](a: in f64[n][l], b: in f64[l][m], c: inout f64[n][m]) {
  for i in 0..n { for j in 0..m { for k in 0..l { c[i][j] += a[i][k] * b[k][j] } } }
}";

fn target(stmt: &Stmt) -> &str {
    match stmt {
        Stmt::Assign(assign) => assign.target.array.as_str(),
        _ => "",
    }
}

#[test]
fn damage_to_staging_is_noticed() {
    // The wrong element is copied.
    let wrong_view = damaged(PRODUCT, |s| match s {
        Stmt::Assign(a) if a.target.array.as_str() == "b_columns" => {
            let value = a.value.substitute(&|v| v.starts_with("j_block").then(|| Expr::var("j_block") + 1));
            Some(vec![Stmt::assign(a.target.clone(), value)])
        }
        _ => None,
    });
    // The tile is not stored.
    let no_store = damaged(PRODUCT, |s| (target(s) == "c").then(Vec::new));
    // The tile is stored one row further down.
    let wrong_store = damaged(PRODUCT, |s| match s {
        Stmt::Assign(a) if a.target.array.as_str() == "c" => {
            let target = a.target.map_indices(&mut |e| e.clone() + 1);
            Some(vec![Stmt::assign(target, a.value.clone())])
        }
        _ => None,
    });
    // The panel ends one step early.
    let short = damaged(PRODUCT, |s| match s {
        Stmt::Loop(l) if l.var.as_str() == "k" && l.body.iter().any(|s| matches!(s, Stmt::If { .. })) => {
            Some(vec![Stmt::Loop(loops::Loop { upper: l.upper.clone() - 1, ..l.clone() })])
        }
        _ => None,
    });
    // The panel is filled in whole strips only.
    let ragged = damaged(PRODUCT, |s| match s {
        Stmt::If { cond, then, otherwise }
            if !otherwise.is_empty()
                && cond.to_string().contains("j_strip")
                && !cond.to_string().contains("lane") =>
        {
            Some(vec![Stmt::If { cond: cond.clone(), then: then.clone(), otherwise: Vec::new() }])
        }
        _ => None,
    });
    // The source changes between the copy and the use.
    let changed = damaged(PRODUCT, |s| match s {
        Stmt::Local(local) if local.name.as_str() == "c_tile" => {
            let clear = Stmt::assign(
                loops::Access::element("b_columns", vec![0.into(), 0.into(), 0.into(), 0.into()]),
                Expr::f64(0.0),
            );
            Some(vec![clear, s.clone()])
        }
        _ => None,
    });
    // Iterations of the filling loop meet in one element.
    let race = damaged(PRODUCT, |s| match s {
        Stmt::Assign(a) if a.target.array.as_str() == "b_columns" => {
            let mut target = a.target.clone();
            target.indices[0] = 0.into();
            Some(vec![Stmt::assign(target, a.value.clone())])
        }
        _ => None,
    });
    for (what, verdict) in [
        ("wrong view", wrong_view),
        ("no store", no_store),
        ("wrong store", wrong_store),
        ("short", short),
        ("ragged", ragged),
        ("changed", changed),
        ("race", race),
    ] {
        let message = verdict.expect_err(what);
        assert!(message.starts_with("P0406"), "{what}: {message}");
    }
}

#[test]
fn register_tiles_fit_the_registers() {
    let usual = Shape::default();
    assert_eq!(usual.for_registers(Registers { count: 32, bytes: 64 }), usual);
    let few = usual.for_registers(Registers { count: 16, bytes: 32 });
    // Sums, a vector of each operand's: all in sixteen registers.
    assert_eq!((few.rows, few.vectors, few.vector_bytes), (6, 2, 32));
    assert_eq!(few.block_rows % few.rows, 0);
    let width = |shape: Shape| shape.strips * shape.vectors * shape.vector_bytes;
    assert_eq!(width(few), width(usual));
    let least =
        few.for_registers(Registers { count: 4, bytes: 8 }).for_caches(Caches { l1: 1 << 10, l2: 1 << 10 });
    assert!(least.rows >= 1 && least.block_rows >= least.rows);
}
