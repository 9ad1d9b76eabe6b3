//! What the cost model says of pairs of programs of which it is known which is faster.

use optimize::{Machine, cost};

fn cycles(text: &str, threads: f64) -> f64 {
    let program = loops::parse(text).expect("a program");
    let machine = Machine { threads, ..Machine::default() };
    cost(&program.functions[0], &machine).cycles()
}

/// The second takes at least this many times as long as the first.
fn slower(times: f64, fast: &str, slow: &str) {
    let (fast_cycles, slow_cycles) = (cycles(fast, 1.0), cycles(slow, 1.0));
    assert!(slow_cycles >= times * fast_cycles, "{fast}: {fast_cycles}\n{slow}: {slow_cycles}");
}

const PRODUCT: &str = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n])";

#[test]
fn walking_down_columns_takes_longer() {
    slower(
        2.0,
        &format!(
            "{PRODUCT} {{ for i in 0..n {{ for k in 0..n {{ for j in 0..n {{ c[i][j] += a[i][k] * b[k][j] }} }} }} }}"
        ),
        &format!(
            "{PRODUCT} {{ for i in 0..n {{ for j in 0..n {{ for k in 0..n {{ c[i][j] += a[i][k] * b[k][j] }} }} }} }}"
        ),
    );
}

#[test]
fn tiles_that_fit_take_less() {
    let nest = |tiles: &str, k: &str, j: &str, ends: &str| {
        format!(
            "{PRODUCT} {{ {tiles} for i in 0..n {{ for k in {k} {{ vec j in {j} {{ c[i][j] += a[i][k] * b[k][j] }} }} }} {ends} }}"
        )
    };
    let tiled = nest(
        "for kt in 0..n step 64 { for jt in 0..n step 256 {",
        "kt..min(n, kt + 64)",
        "jt..min(n, jt + 256)",
        "} }",
    );
    let moves = |text: &str| cost(&loops::parse(text).unwrap().functions[0], &Machine::default()).moves[1];
    assert!(10.0 * moves(&tiled) < moves(&nest("", "0..n", "0..n", "")));
}

#[test]
fn sums_that_wait_for_themselves_take_longer() {
    let sum = |kind: &str, clause: &str| {
        format!("fn f[n](a: in f64[n], s: inout f64) {{ {kind} i in 0..n {clause} {{ s += a[i] }} }}")
    };
    slower(2.0, &sum("vec", "reduce(+: s)"), &sum("for", ""));
}

#[test]
fn conditions_count_as_often_as_they_hold() {
    let with = |condition: &str| {
        format!(
            "fn f[n](a: inout f64[n]) {{ for i in 0..n {{ if {condition} {{ a[i] = sqrt(a[i]) / 3.0 }} }} }}"
        )
    };
    slower(3.0, &with("8 * i < n"), &with("i < n"));
}

#[test]
fn a_triangle_is_half_of_a_square() {
    let nest = |upper: &str| {
        format!(
            "fn f[n](a: inout f64[n][n]) {{ for i in 0..n {{ for j in 0..{upper} {{ a[i][j] *= 2.0 }} }} }}"
        )
    };
    let ratio = cycles(&nest("n"), 1.0) / cycles(&nest("i"), 1.0);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}

#[test]
fn threads_share_long_loops_only() {
    let nest = |n: &str| {
        format!(
            "fn f[n](a: inout f64[n][n]) {{ par i in 0..{n} {{ for j in 0..{n} {{ a[i][j] = sqrt(a[i][j]) }} }} }}"
        )
    };
    assert!(cycles(&nest("n"), 2.0) < 0.6 * cycles(&nest("n"), 1.0));
    assert!(cycles(&nest("4"), 2.0) == cycles(&nest("4"), 1.0));
}

#[test]
fn tiles_move_what_is_in_them() {
    let sum = |nest: &str| format!("fn f[n](a: in f64[n], s: inout f64) {{ {nest} }}");
    let plain = sum("vec i in 0..n reduce(+: s) { s += a[i] }");
    let tiled = sum(
        "for t in 0..(n + 4095) floordiv 4096 { vec i in 4096 * t..min(n, 4096 * t + 4096) reduce(+: s) { s += a[i] } }",
    );
    let ratio = cycles(&plain, 1.0) / cycles(&tiled, 1.0);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

#[test]
fn colours_of_pixels_are_written_out() {
    // Measured: with gcc and clang the loop takes as long as its three iterations.
    let pixels = |body: &str| format!("fn f[n](p: inout u8[n][3]) {{ for i in 0..n {{ {body} }} }}");
    let straight = pixels("p[i][0] *= p[i][0]  p[i][1] *= p[i][1]  p[i][2] *= p[i][2]");
    let looped = pixels("for c in 0..3 { p[i][c] *= p[i][c] }");
    slower(0.99, &straight, &looped);
    slower(0.99, &looped, &straight);
}

#[test]
fn short_windows_are_written_out_and_long_ones_wait() {
    let window = |q: u32| {
        format!(
            "fn f(x: in f32[{q}][58][58], f: in f32[{q}][3][3], y: inout f32[56][56]) {{ \
             for i in 0..56 {{ for j in 0..56 {{ for q in 0..{q} {{ for r in 0..3 {{ for s in 0..3 {{ \
             y[i][j] += x[q][i + r][j + s] * f[q][r][s] }} }} }} }} }} }}"
        )
    };
    // 16 lanes, and no sum that waits for itself.
    slower(20.0, &window(3), &window(8));
}

#[test]
fn quotients_of_integers_are_not_in_lanes() {
    let values = |ty: &str| {
        format!("fn f[n](a: inout {ty}[n], b: in {ty}[n]) {{ for i in 0..n {{ a[i] = a[i] / b[i] }} }}")
    };
    slower(3.0, &values("f64"), &values("i64"));
}
