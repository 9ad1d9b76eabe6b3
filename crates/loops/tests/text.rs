//! The textual form: what is printed reads back to the same value, and bad text gives diagnostics.

#[path = "common/programs.rs"]
mod programs;
#[path = "common/random.rs"]
mod random;

use loops::Diagnostic;
use proptest::prelude::*;
use std::fmt::Write as _;

/// The diagnostics of a text, with lines and columns.
fn render(text: &str, errors: &[Diagnostic]) -> String {
    let mut out = String::new();
    for error in errors {
        let _ = writeln!(out, "{error}");
        for label in &error.labels {
            let before = &text[..label.span.start as usize];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            let _ = writeln!(out, "  {line}:{column}: {}", label.text);
        }
        for help in &error.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    out
}

/// Valid text is printed in the standard form, which reads back to the same value.
#[test]
fn programs_print_in_the_standard_form() {
    golden::check("loops/text", "loops", "out", |case| match loops::parse(&case.input) {
        Err(errors) => render(&case.input, &errors),
        Ok(program) => {
            let text = program.to_string();
            assert_eq!(loops::parse(&text).as_ref(), Ok(&program), "{text}");
            text
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_programs_parse_back(seed: u64) {
        let program = programs::program(seed);
        let text = program.to_string();
        match loops::parse(&text) {
            Ok(back) => prop_assert_eq!(&back, &program, "\n{}", text),
            Err(errors) => prop_assert!(false, "{}\n{}", render(&text, &errors), text),
        }
    }
}

/// The example of the page about loop programs is one, and shown to be right.
#[test]
fn the_example_of_the_page_is_right() {
    let page = std::fs::read_to_string(golden::root().join("docs/loops.md")).unwrap();
    let example = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let program = loops::parse(example).unwrap_or_else(|errors| panic!("{}", render(example, &errors)));
    let report = loops::validate(&program.functions[0]);
    assert!(report.is_proved() && report.diagnostics.is_empty(), "{report:?}");
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1500 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_text_is_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        let count = 1_000_000;
        let texts = [
            format!("fn f() {}", "{".repeat(count)),
            format!("fn f(x: out f64) {{ x = {}", "(".repeat(count)),
            format!("fn f(x: out f64) {{ x = {}", "-".repeat(count)),
            format!("fn f(x: out f64) {{ x = 1{} }}", " + 1".repeat(count)),
            format!("fn f(x: out f64) {{ x = {}", "x[".repeat(count)),
            format!("fn f() {{ {}", "if x {} else ".repeat(count)),
            format!("fn f(x: in {}", "(".repeat(count)),
            format!("fn f() {{ {}", "for i in 0..1 {".repeat(count)),
        ];
        for text in texts {
            let errors = loops::parse(&text).unwrap_err();
            assert_eq!(errors[0].code.0, "L0104", "{}", errors[0]);
        }
    });
}

#[test]
fn what_is_within_the_depth_reads_back_on_a_small_stack() {
    use loops::{Access, Assign, Expr, Function, Program, Stmt, UnaryOp};
    on_a_small_stack(|| {
        let mut value = Expr::Int(1);
        for k in 0..loops::MAX_DEPTH / 4 {
            value = Expr::binary(loops::BinaryOp::Mul, Expr::Int(k as i64), Expr::unary(UnaryOp::Neg, value));
        }
        let mut body =
            vec![Stmt::Assign(Assign { label: None, target: Access::scalar("x"), update: None, value })];
        for _ in 0..loops::MAX_DEPTH / 2 - 4 {
            body = vec![Stmt::If { cond: Expr::Bool(true), then: body, otherwise: Vec::new() }];
        }
        let f = Function { name: "f".into(), sizes: vec![], assumptions: vec![], params: vec![], body };
        let program = Program { functions: vec![f] };
        assert_eq!(loops::parse(&program.to_string()), Ok(program));
    });
}
