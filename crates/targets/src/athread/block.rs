//! The innermost code of contractions: functions that keep a block of the result in registers while a sum runs.
//!
//! `c[r][q] += a[r][k] * b[k][q]` for `k` ascending, one block beside the other along the rows, with rows of `c`, rows and steps of `a`, and rows of `b` at any distance. The block is loaded beside
//! the first step and stored beside the last, where the pipelines for memory and for arithmetic have room for each other.

use loops::Scalar;

use super::cost;

/// Rows of the blocks, and vectors in a row: the largest, and what is left over.
pub(super) const ROWS: [usize; 2] = [4, 1];
/// See [`ROWS`].
pub(super) const VECTORS: [usize; 4] = [4, 3, 2, 1];
/// Steps in one iteration of the loop.
const UNROLL: usize = 7;
/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;
/// Cycles between two blocks of a call.
const BLOCK: f64 = 6.0;
/// Cycles of a call with nine arguments.
const CALL: f64 = 12.0;

/// The name of a function.
pub(super) fn name(elem: Scalar, rows: usize, vectors: usize, aligned: bool) -> String {
    let ty = if elem == Scalar::F32 { "floats" } else { "doubles" };
    let end = if aligned { "" } else { "_anywhere" };
    format!("contract_{ty}_{rows}x{vectors}{end}")
}

/// All functions for a type.
pub(super) fn functions(elem: Scalar) -> String {
    let mut text = String::from(
        "\n/* c += a b for blocks of vectors: the sum runs over n steps in ascending order. */\n",
    );
    for rows in ROWS {
        for vectors in VECTORS {
            for aligned in [true, false] {
                text.push_str(&function(elem, rows, vectors, aligned));
            }
        }
    }
    text
}

/// What happens to the block in a step.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    First,
    Middle,
    Last,
    Only,
}

fn function(elem: Scalar, rows: usize, vectors: usize, aligned: bool) -> String {
    let (ty, vector) = if elem == Scalar::F32 { ("float", "floatv4") } else { ("double", "doublev4") };
    let suffix = if aligned { "" } else { "u" };
    let step = |kind: Step, at: usize| -> String {
        let mut text = String::from("{ ");
        for q in 0..vectors {
            text.push_str(&format!("{vector} b{q}; simd_load{suffix}(b{q}, b + {at} * b_row + {}); ", 4 * q));
        }
        text.push('\n');
        for r in 0..rows {
            text.push_str(&format!("    {vector} a{r}; simd_loade(a{r}, a + {r} * a_row + {at} * a_step);"));
            for q in 0..vectors {
                let place = format!("c + {r} * c_row + {}", 4 * q);
                if matches!(kind, Step::First | Step::Only) {
                    text.push_str(&format!(" simd_load{suffix}(c{r}{q}, {place});"));
                }
                text.push_str(&format!(" c{r}{q} = simd_vmad(a{r}, b{q}, c{r}{q});"));
                if matches!(kind, Step::Last | Step::Only) {
                    text.push_str(&format!(" simd_store{suffix}(c{r}{q}, {place});"));
                }
            }
            text.push('\n');
        }
        text.push_str("  }\n");
        text
    };
    let names: Vec<String> = (0..rows).flat_map(|r| (0..vectors).map(move |q| format!("c{r}{q}"))).collect();
    let slot = if aligned { 1.0 } else { UNALIGNED };
    let (adds, width) = ((rows * vectors) as f64, 4 * vectors);
    let memory = slot * vectors as f64 + rows as f64;
    // Each vector of the block is a chain of additions.
    let middle = adds.max(memory).max(cost::CHAIN);
    let end = adds.max(memory + slot * adds).max(cost::CHAIN);
    let unrolled = UNROLL as f64 * middle + cost::LOOP;
    let single = middle + cost::LOOP;
    let steps: String = (0..UNROLL).map(|at| format!("  {}", step(Step::Middle, at))).collect();
    format!(
        "static void {}({ty} *c, long c_row, const {ty} *a_first, long a_row, long a_step, const {ty} *b_first, long b_row, long n, long blocks)
{{
  {vector} {};
  if (n < 1 || blocks < 1) {{
    emulated_compute({CALL}, 0);
    return;
  }}
  for (long block = 0; block < blocks; block++, c += {width}, b_first += {width}) {{
  const {ty} *a = a_first, *b = b_first;
  if (n == 1) {}  else {{
  {}  a += a_step, b += b_row;
  long k = 1;
  for (; k + {UNROLL} < n; k += {UNROLL}, a += {UNROLL} * a_step, b += {UNROLL} * b_row) {{
{steps}  }}
  for (; k + 1 < n; k++, a += a_step, b += b_row) {}  {}  }}
  }}
  if (n == 1)
    emulated_compute({CALL} + {} * blocks, {} * blocks);
  else
    emulated_compute({CALL} + ({} + {unrolled} * ((n - 2) / {UNROLL}) + {single} * ((n - 2) % {UNROLL})) * blocks, {} * n * blocks);
}}
",
        name(elem, rows, vectors, aligned),
        names.join(", "),
        step(Step::Only, 0),
        step(Step::First, 0),
        step(Step::Middle, 0),
        step(Step::Last, 0),
        end + slot * adds + BLOCK,
        8.0 * adds,
        2.0 * end + 2.0 * cost::LOOP + BLOCK,
        8.0 * adds,
    )
}
