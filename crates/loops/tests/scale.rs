//! Every stage takes time in proportion to the program, and the stack of a thread suffices for the
//! deepest one.

use loops::{Function, Program};
use std::fmt::Write as _;
use std::time::Instant;

/// Kernels beside each other, with all kinds of loops.
fn wide(kernels: usize) -> String {
    let mut text = String::from("fn wide[n, m](a: in f64[n][m], b: inout f64[n * m]) {\n");
    for k in 0..kernels {
        let _ = writeln!(
            text,
            "par i_{k} in 0..n {{ local t{k}: f64[8] for j_{k} in 0..m {{ t{k}[j_{k} mod 8] = a[i_{k}][j_{k}]
             b[(i_{k} * m + j_{k}) floordiv 1] = t{k}[j_{k} mod 8] * 2.0 }} }}"
        );
    }
    text + "}"
}

fn stages(function: &Function) -> [f64; 4] {
    let mut times = [0.0; 4];
    let start = Instant::now();
    let text = function.to_string();
    times[0] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    assert!(loops::parse(&text).is_ok());
    times[1] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let _ = loops::simplify::function_for_c(function);
    times[2] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let _ = loops::validate(function);
    times[3] = start.elapsed().as_secs_f64();
    times
}

#[test]
fn time_grows_with_the_program() {
    let parsed = |text: &str| loops::parse(text).unwrap().functions.remove(0);
    let (small, large) = (parsed(&wide(50)), parsed(&wide(400)));
    let (few, many) = (stages(&small), stages(&large));
    println!("print, parse, simplify, validate: {few:?} and {many:?} s for 50 and 400 kernels");
    for (few, many) in few.iter().zip(many) {
        // 8 times the program; a quadratic stage would take 64 times as long. Small times are
        // noise.
        assert!(many < 0.05 || many < 40.0 * few, "{few} s, then {many} s");
    }
}

#[test]
fn the_deepest_programs_fit_the_stack_of_a_thread() {
    let depth = loops::MAX_DEPTH / 2 - 10;
    let mut text = String::from("fn deep[n](a: inout f64[n], s: inout i64) {\n");
    for k in 0..depth {
        let _ = writeln!(
            text,
            "par i_{k} in {}..n {{",
            if k == 0 { "0".to_owned() } else { format!("i_{}", k - 1) }
        );
    }
    let sum = "(1 + 2 * ".repeat(depth / 4) + "n" + &") mod 7".repeat(depth / 4);
    let _ = writeln!(text, "s = {sum} {}", "}".repeat(depth + 1));
    let work = move || {
        let program: Program = loops::parse(&text).unwrap();
        let times = stages(&program.functions[0]);
        assert!(loops::visit::check_depth(&program.functions[0]).is_ok());
        println!("print, parse, simplify, validate: {times:?} s for {depth} loops in each other");
        assert!(times.iter().all(|seconds| *seconds < 20.0), "{times:?}");
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}
