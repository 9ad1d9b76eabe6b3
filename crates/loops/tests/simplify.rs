//! The simplifier: golden files in `tests/loops/simplify`, and the law that no run can tell the
//! difference.

#[path = "common/random.rs"]
mod random;

#[path = "common/index_programs.rs"]
mod index_programs;

use index_programs::{function, outcome};
use loops::{Expr, Function, Stmt, simplify};
use proptest::prelude::*;
use random::Random;

#[test]
fn functions_are_simplified() {
    golden::check("loops/simplify", "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let simple = simplify::function(function);
            assert_eq!(simplify::function(&simple), simple, "simplifying again changes it: {}", simple);
            out.push_str(&format!("{simple}\n"));
            let c = simplify::function_for_c(function);
            if c != simple {
                out.push_str(&format!("// for C\n{c}\n"));
            }
            out.push('\n');
        }
        out
    });
}

#[test]
fn sums_are_collected_and_data_is_left() {
    let i = || Expr::var("i");
    let sum = Expr::Int(4) * (i() + 2) - (i() * 3) - 8;
    assert_eq!(simplify::tidy(&sum), i());
    assert_eq!(simplify::tidy(&(Expr::Int(0) - i() + 5)), Expr::Int(5) - i());
    assert_eq!(simplify::tidy(&(Expr::Int(1) + i() - Expr::var("n"))), i() - Expr::var("n") + 1);
    // `i floordiv 2 + 6 - i` is longer than what it says.
    let halves = Expr::binary(loops::BinaryOp::FloorDiv, Expr::Int(12) - i(), Expr::Int(2));
    assert_eq!(simplify::expr(&halves, &loops::facts::Facts::default()), halves);
    let data = Expr::load("a", vec![i() + 1 - 1]) + Expr::load("a", vec![i()]);
    assert_eq!(simplify::tidy(&data), Expr::load("a", vec![i()]) + Expr::load("a", vec![i()]));
    let huge = Expr::Int(i64::MAX) + i() + 1;
    assert_eq!(simplify::tidy(&huge), i() + i64::MAX + 1, "what would overflow is not added up");
}

/// The statements with every expression tidied.
fn tidied(stmts: &[Stmt]) -> Vec<Stmt> {
    stmts.iter().map(|s| s.map(&mut |e| simplify::tidy(e), &mut tidied)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_can_tell_the_difference(seed: u64) {
        let f = function(&mut Random(seed));
        let simple = simplify::function(&f);
        let for_c = simplify::function_for_c(&f);
        let tidy = Function { body: tidied(&f.body), ..f.clone() };
        for n in -2..=5 {
            for m in [-2, 0, 1, 2, 3, 8] {
                // A run that ends in an error may end otherwise after simplification.
                let Ok(expected) = outcome(&f, n, m, 20_000) else { continue };
                for s in [&simple, &for_c, &tidy] {
                    // A loop that was split takes more steps.
                    match outcome(s, n, m, 200_000) {
                        Ok(got) => prop_assert_eq!(&got, &expected, "n = {}, m = {}\n{}\n{}", n, m, f, s),
                        Err(e) => prop_assert!(false, "n = {}, m = {}: {}\n{}\n{}", n, m, e, f, s),
                    }
                }
            }
        }
    }
}
