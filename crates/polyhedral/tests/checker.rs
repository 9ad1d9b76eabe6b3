//! The checker against wrong code: each mutation of a generated function must be caught, and shown
//! by concrete instances.

mod common;

use loops::{Expr, Function, LoopKind, Name, ReduceOp, Stmt};
use polyhedral::codegen::Generated;
use polyhedral::optimize::Tiling;
use polyhedral::{Options, check, optimize};

const PRODUCT: &str = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]) {
  for i in 0..n { for j in 0..n { Z: c[i][j] = 0.0 for k in 0..n { S: c[i][j] += a[i][k] * b[k][j] } } } }";

fn generated(text: &str) -> (Function, Generated) {
    let original = common::function(text);
    let options =
        Options { tiling: Tiling::Fixed(vec![4]), check: false, contraction: None, ..Options::default() };
    let result = optimize(&original, &options).unwrap();
    let generated = Generated { function: result.function, instances: result.instances };
    check::function(&original, &generated, 1_000_000).unwrap();
    (original, generated)
}

/// The code of the diagnostic, and its text, for a function that was changed.
fn verdict(original: &Function, generated: &Generated) -> (&'static str, String) {
    match check::function(original, generated, 1_000_000) {
        Ok(_) => ("accepted", String::new()),
        Err(diagnostic) => (diagnostic.code.0, diagnostic.message),
    }
}

/// Changes every statement for which `change` does something.
fn mutate(body: &mut Vec<Stmt>, change: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        change(stmt);
        match stmt {
            Stmt::Loop(l) => mutate(&mut l.body, change),
            Stmt::If { then, otherwise, .. } => {
                mutate(then, change);
                mutate(otherwise, change);
            }
            Stmt::Block { body, .. } => mutate(body, change),
            _ => {}
        }
    }
}

fn mutated(generated: &Generated, change: &mut dyn FnMut(&mut Stmt)) -> Generated {
    let mut result = generated.clone();
    mutate(&mut result.function.body, change);
    assert_ne!(result.function, generated.function, "the mutation does something");
    result
}

fn is(label: &Option<Name>, name: &str) -> bool {
    label.as_ref().is_some_and(|l| l.as_str() == name)
}

#[test]
fn each_mutation_is_caught() {
    let (original, good) = generated(PRODUCT);
    let run = |change: &mut dyn FnMut(&mut Stmt)| verdict(&original, &mutated(&good, change));

    // Every loop parallel: the sum's own loop carries a dependence.
    let (code, message) = run(&mut |s| {
        if let Stmt::Loop(l) = s {
            l.kind = LoopKind::Parallel;
        }
    });
    assert_eq!(code, "P0404", "{message}");
    assert!(message.contains("S(") && message.contains(" for n = "), "{message}");

    // One iteration less, one more.
    for (by, code) in [(-1, "P0402"), (1, "P0402")] {
        let mut done = false;
        let found = run(&mut |s| {
            if let Stmt::Loop(l) = s
                && l.body.iter().any(|s| matches!(s, Stmt::Assign(_)))
                && !done
            {
                done = true;
                l.upper = l.upper.clone() + by;
            }
        });
        assert_eq!(found.0, code, "{found:?}");
    }

    // Another element, another operation, another constant.
    let found = run(&mut |s| {
        if let Stmt::Assign(a) = s
            && is(&a.label, "S")
        {
            a.target.indices.swap(0, 1);
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| {
        if let Stmt::Assign(a) = s
            && is(&a.label, "Z")
        {
            a.value = Expr::f64(1.0);
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| {
        if let Stmt::Assign(a) = s
            && let Some(update) = &mut a.update
        {
            update.op = ReduceOp::Mul;
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");

    // A privatised array that is more than updated.
    let found = run(&mut |s| {
        if let Stmt::Loop(l) = s {
            l.reductions.push((ReduceOp::Add, "c".into()));
        }
    });
    assert_eq!(found.0, "P0404", "{found:?}");
}

#[test]
fn lost_doubled_and_reordered_statements_are_caught() {
    let (original, good) = generated(PRODUCT);
    let mut lost = good.clone();
    lost.function.body.pop();
    assert_eq!(verdict(&original, &lost).0, "P0402");

    let mut swapped = good.clone();
    swapped.function.body.reverse();
    let (code, message) = verdict(&original, &swapped);
    assert_eq!(code, "P0401");
    assert!(message.contains("Z(") && message.contains("S("), "{message}");

    let mut foreign = good.clone();
    foreign.instances.clear();
    assert_eq!(verdict(&original, &foreign).0, "P0403");

    let mut wrong = good.clone();
    for instance in wrong.instances.values_mut() {
        instance.iterators.reverse();
    }
    assert_ne!(verdict(&original, &wrong).0, "accepted");

    let mut interface = good.clone();
    interface.function.params.pop();
    assert_eq!(verdict(&original, &interface).0, "P0405");
}

#[test]
fn a_declared_reduction_frees_the_order_but_not_a_shared_accumulator() {
    let text = "fn f[n](a: in f64[n], s: inout f64) { for i in 0..n { S: s reduce += a[i] } }";
    let (original, good) = generated(text);
    let parallel = mutated(&good, &mut |s| {
        if let Stmt::Loop(l) = s {
            l.kind = LoopKind::Parallel;
            l.reductions.clear();
        }
    });
    assert_eq!(verdict(&original, &parallel).0, "P0404");
    let private = mutated(&parallel, &mut |s| {
        if let Stmt::Loop(l) = s {
            l.reductions = vec![(ReduceOp::Add, "s".into())];
        }
    });
    assert_eq!(verdict(&original, &private).0, "accepted");
    // Without the declaration the order is kept.
    let strict = common::function(&text.replace("reduce ", ""));
    assert_ne!(verdict(&strict, &private).0, "accepted");
}

#[test]
fn guards_on_data_stay_with_their_statements() {
    let (original, good) = generated(
        "fn f[n](x: in f64[n], w: in i32[n], y: inout f64[n], z: inout f64[n]) {
  for i in 0..n { if x[i] > 0.0 { S: y[i] = x[i] } else { T: z[i] = y[i] } if w[i] == 1i32 { U: y[i] += 1.0 } } }",
    );
    let run = |change: &mut dyn FnMut(&mut Stmt)| verdict(&original, &mutated(&good, change));
    // Without its condition, under another one, on the other side.
    let found = run(&mut |s| {
        if let Stmt::If { cond, .. } = s {
            *cond = Expr::Bool(true);
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| {
        if let Stmt::If { cond, .. } = s {
            *cond = cond.substitute(&|name| (name.as_str() == "i").then(|| Expr::var("i") + 1));
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| {
        if let Stmt::If { then, otherwise, .. } = s {
            std::mem::swap(then, otherwise);
        }
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    // What a condition reads is a dependence.
    let (original, good) = generated(
        "fn f[n](x: inout f64[n + 1], y: inout f64[n]) {
  for i in 0..n { if x[i] > 0.0 { S: y[i] = 1.0 } T: x[i + 1] = y[i] } }",
    );
    let found = verdict(
        &original,
        &mutated(&good, &mut |s| {
            if let Stmt::Loop(l) = s {
                l.kind = LoopKind::Parallel;
            }
        }),
    );
    assert_eq!(found.0, "P0404", "{found:?}");
}

#[test]
fn locals_are_shared_or_in_each_iteration_not_both() {
    let (original, good) = generated(
        "fn f[n](x: in f64[n], y: inout f64[n]) {
  for i in 0..n { local t: f64 S: t = x[i] T: y[i] = t * t } }",
    );
    let text = loops::Program { functions: vec![good.function.clone()] }.to_string();
    assert!(text.contains("par i") && text.find("local") > text.find("par i"), "{text}");
    // Declared outside, the iterations of a parallel loop share it.
    let mut shared = good.clone();
    let mut moved = Vec::new();
    mutate(&mut shared.function.body, &mut |s| {
        if let Stmt::Loop(l) = s {
            let (locals, rest): (Vec<_>, Vec<_>) =
                std::mem::take(&mut l.body).into_iter().partition(|s| matches!(s, Stmt::Local(_)));
            moved.extend(locals);
            l.body = rest;
        }
    });
    shared.function.body.splice(0..0, moved);
    let found = verdict(&original, &shared);
    assert_eq!(found.0, "P0404", "{found:?}");
    // A value that passes from one iteration to the next does not pass through what is declared
    // inside.
    let (original, good) = generated(
        "fn f[n](x: in f64[n], y: inout f64[n]) {
  local t: f64 R: t = 0.0 for i in 0..n { S: t += x[i] T: y[i] = t } }",
    );
    let mut inside = good.clone();
    inside.function.body.retain(|s| !matches!(s, Stmt::Local(_)));
    let local = good.function.body.iter().find(|s| matches!(s, Stmt::Local(_))).cloned().unwrap();
    mutate(&mut inside.function.body, &mut |s| {
        if let Stmt::Loop(l) = s {
            l.body.insert(0, local.clone());
        }
    });
    assert_ne!(verdict(&original, &inside).0, "accepted");
}

const SPARSE: &str =
    "fn f[n](row: in i64[n + 1], col: in i64[n], val: in f64[n], x: inout f64[n], y: inout f64[n]) {
  for i in 0..n { Y: y[i] = x[col[i]] for k in row[i]..row[i + 1] { S: y[i] += val[k] * x[col[k]] } }
  for i in 0..n { X: x[i] = y[i] } }";

#[test]
fn what_data_decides_is_what_it_was() {
    let (original, good) = generated(SPARSE);
    let run = |change: &mut dyn FnMut(&mut Stmt)| verdict(&original, &mutated(&good, change));
    let data = |e: &Expr| !e.arrays().is_empty();
    let replaced =
        |e: &Expr, from: &str, to: &Expr| e.substitute(&|v| (v.as_str() == from).then(|| to.clone()));
    // Bounds: another end, another row; the nest in lanes.
    let found = run(&mut |s| match s {
        Stmt::Loop(l) if data(&l.upper) => l.upper = l.upper.clone() + 1,
        _ => {}
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| match s {
        Stmt::Loop(l) if data(&l.lower) => l.lower = replaced(&l.lower, "i", &(Expr::var("i") + 1)),
        _ => {}
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    let found = run(&mut |s| match s {
        Stmt::Loop(l) if data(&l.upper) => l.kind = LoopKind::Vector,
        _ => {}
    });
    assert_eq!(found.0, "P0403", "{found:?}");
    // Subscripts: of what gives the place, in a nest and out of one.
    for (label, from, to) in [
        ("S", "k", Expr::var("k") + 1),
        ("S", "k", Expr::var("i")),
        ("S", "i", Expr::var("k")),
        ("Y", "i", Expr::Int(0)),
    ] {
        let found = run(&mut |s| match s {
            Stmt::Assign(a) if is(&a.label, label) && (from == "k" || label == "Y") => {
                a.value = replaced(&a.value, from, &to);
            }
            Stmt::Assign(a) if is(&a.label, label) => {
                a.target = a.target.map_indices(&mut |e| replaced(e, from, &to));
            }
            _ => {}
        });
        assert!(["P0403", "P0402"].contains(&found.0), "{label} {from}: {found:?}");
    }
    // All of `x` is read before any of it is written.
    let mut late = good.clone();
    late.function.body.reverse();
    let found = verdict(&original, &late);
    assert_eq!(found.0, "P0401", "{found:?}");
}

#[test]
fn a_loop_that_may_read_what_it_wrote_is_not_parallel() {
    for text in [
        "fn f[n](at: in i64[n], a: inout f64[n]) { for i in 0..n { S: a[i] = a[at[i]] } }",
        "fn f[n](at: in i64[n + 1], a: inout f64[n], b: inout f64[n]) { for i in 0..n { for k in at[i]..at[i + 1] { S: a[k] = b[i] T: b[i] = a[i] } } }",
        "fn f[n](at: in i64[n + 1], a: inout f64[n], b: inout f64) { for i in 0..n { for k in at[i]..at[i + 1] { S: b += a[k] } } }",
    ] {
        let (original, good) = generated(text);
        let parallel = mutated(&good, &mut |s| match s {
            Stmt::Loop(l) if l.upper.arrays().is_empty() => l.kind = LoopKind::Parallel,
            _ => {}
        });
        assert_eq!(verdict(&original, &parallel).0, "P0404", "{text}");
    }
}

#[test]
fn a_negated_constant_is_the_constant_that_simplified_code_has() {
    let text = "fn f[n](a: inout i32[n]) {\n  for i in 0..n {\n    S: a[i] = i32(!(7i32 % 100i32 * 6i32 != 0i32)) % 1000i32\n  }\n}\n";
    let function = common::function(text);
    let made = polyhedral::optimize(&function, &polyhedral::Options::default()).expect("a schedule");
    let simple = loops::simplify::function(&made.function);
    let generated = polyhedral::codegen::Generated { function: simple, instances: made.instances };
    let plain = passes::CONSTANT_FOLDING.run(&function).expect("another function");
    polyhedral::check::function(&plain, &generated, 1_000_000).expect("the same values");
}
