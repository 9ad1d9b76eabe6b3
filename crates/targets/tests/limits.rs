//! Programs at the bounds: as deep as the hub allows, with long sequences, with arrays that no
//! memory holds.

use loops::{Access, Expr, Function, LoopKind, Param, ParamMode, Program, Scalar, Stmt, Storage};
use targets::{Options, RegionNames, Style, emit, emit_region};

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1500 << 10).spawn(work).unwrap().join().unwrap();
}

fn function(body: Vec<Stmt>) -> Function {
    Function {
        name: "f".into(),
        sizes: vec!["n".into()],
        assumptions: Vec::new(),
        params: vec![Param {
            name: "x".into(),
            elem: Scalar::F64.into(),
            dims: vec![Expr::var("n")],
            mode: ParamMode::InOut,
        }],
        body,
    }
}

fn assign(value: Expr) -> Stmt {
    Stmt::Assign(loops::Assign {
        label: None,
        target: Access::element("x", vec![Expr::Int(0)]),
        update: None,
        value,
    })
}

fn all_forms(function: &Function) -> Vec<Result<(), loops::Diagnostic>> {
    let program = Program { functions: vec![function.clone()] };
    let paper = Options { style: Style::Paper, ..Options::default() };
    vec![
        emit(&program, &Options { main: true, ..Options::default() }).map(drop),
        emit(&program, &paper).map(drop),
        emit_region(function, &RegionNames::default(), &Options::default()).map(drop),
    ]
}

#[test]
fn depth_is_bounded_and_the_bound_is_reached_on_a_small_stack() {
    on_a_small_stack(|| {
        let check = |body: Vec<Stmt>, refusal: Option<&str>| {
            for result in all_forms(&function(body)) {
                assert_eq!(result.err().map(|e| e.code.0), refusal);
            }
        };
        let value = |depth: usize| {
            let negate = |value, _| Expr::unary(loops::UnaryOp::Neg, value);
            vec![assign((0..depth).fold(Expr::f64(1.0), negate))]
        };
        check(value(loops::MAX_DEPTH - 2), None);
        check(value(loops::MAX_DEPTH + 1), Some("L0104"));
        let nest = |depth: usize| {
            let wrap = |stmt, k| {
                Stmt::Loop(loops::Loop::upto(format!("i{k}"), Expr::var("n"), LoopKind::Parallel, vec![stmt]))
            };
            vec![(1..depth).fold(assign(Expr::f64(0.0)), wrap)]
        };
        check(nest(127), None);
        check(nest(128), Some("T0004"));
    });
}

#[test]
fn long_programs_take_time_in_proportion() {
    let body = |count: usize| {
        let mut body = Vec::new();
        for k in 0..count {
            body.push(Stmt::Local(loops::ArrayDecl {
                name: format!("t{k}").into(),
                elem: Scalar::F64.into(),
                dims: vec![Expr::var("n")],
                storage: Storage::Auto,
            }));
            let write = Stmt::Assign(loops::Assign {
                label: None,
                target: Access::element(format!("t{k}"), vec![Expr::var("i")]),
                update: None,
                value: Expr::f64(1.0),
            });
            body.push(Stmt::Loop(loops::Loop::upto("i", Expr::var("n"), LoopKind::Parallel, vec![write])));
        }
        function(body)
    };
    let text =
        |count| emit(&Program { functions: vec![body(count)] }, &Options::default()).unwrap().source.len();
    let (small, large) = (text(500), text(10_000));
    assert!(large < 25 * small, "{small} {large}");
}

#[test]
fn extents_that_overflow_are_not_allocated() {
    let huge = loops::parse(
        "fn f[n](x: out f64) { local t: f64[9000000000][9000000000][n] t[0][0][0] = 1.0 x = t[0][0][0] }
         fn g[n](x: out f64) { local t: f64[4611686018427387904] t[0] = 1.0 x = t[0] }",
    )
    .unwrap();
    let source = emit(&huge, &Options::default()).unwrap().source;
    assert!(source.contains("lozenge_extent(n, 9223372036854775807)"), "{source}");
    assert!(source.contains("lozenge_alloc(4611686018427387904, sizeof(double))"), "{source}");
}

#[test]
fn what_cannot_be_is_refused() {
    let code = |text: &str| {
        let program = loops::parse(text).unwrap();
        emit(&program, &Options::default()).unwrap_err().code.0
    };
    assert_eq!(code("fn f(x: out f64) { y[0] = 1.0 }"), "T0001");
    assert_eq!(code("fn f[n](x: out f64[n]) { x[0][0] = 1.0 }"), "T0001");
    assert_eq!(code("fn f[n](x: out f64[n]) { x[0].x1 = 1.0 }"), "T0001");
    assert_eq!(code("fn f(x: out (f64, f64)) { x = 1.0 }"), "T0001");
    assert_eq!(code("fn f(x: in i64[1], y: out f64) { local t: f64[x[0]] t[0] = 1.0 y = t[0] }"), "T0002");
    assert_eq!(code("fn f[n](y: out f64) { local t: f64[n] stack t[0] = 1.0 y = t[0] }"), "T0003");
    assert_eq!(code("fn f(y: out f64) { local t: f64[1000000] stack t[0] = 1.0 y = t[0] }"), "T0003");
}
