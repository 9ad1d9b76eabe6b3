//! The innermost code of contractions: functions that keep a block of the result in registers while a sum runs.
//!
//! `c[r][q] += a[r][k] * b[k][q]` for `k` ascending, one block beside the other along the rows, and one group of rows below the other, with rows of `c`, rows and steps of `a`, and rows of `b` at any distance. The block is loaded beside
//! the first step (some of it beside the second of the block before) and stored beside the last, where the pipelines for memory and for arithmetic have room for each other.

use loops::Scalar;

use super::cost;

/// Rows of the blocks, and vectors in a row: the largest, and what is left over.
pub(super) const ROWS: [usize; 2] = [4, 1];
/// See [`ROWS`].
pub(super) const VECTORS: [usize; 4] = [4, 3, 2, 1];
/// Steps in one iteration of the loop.
const UNROLL: usize = 13;
/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;
/// Cycles between two groups of rows of a call.
const GROUP: f64 = 8.0;
/// Cycles between two blocks of a call.
const BLOCK: f64 = 6.0;
/// Cycles of a call with ten arguments.
const CALL: f64 = 14.0;

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
    /// It is loaded, but for what the block before has loaded.
    First,
    /// Some of the next block is loaded: as much as there are registers for.
    Second,
    Middle,
    Last,
    /// It is loaded and stored.
    Only,
    /// It is loaded, all of it.
    Alone,
}

fn function(elem: Scalar, rows: usize, vectors: usize, aligned: bool) -> String {
    let (ty, vector) = if elem == Scalar::F32 { ("float", "floatv4") } else { ("double", "doublev4") };
    let suffix = if aligned { "" } else { "u" };
    // Registers beside the block and its factors hold rows of the next block.
    let early =
        if rows == 4 { ((32 - rows - vectors - rows * vectors).min(8) / vectors).min(rows) } else { 0 };
    let next = |from: &str| -> String {
        let mut text = String::new();
        for r in 0..early {
            for q in 0..vectors {
                text.push_str(&format!(
                    "    simd_load{suffix}(n{r}{q}, {from} + {r} * c_row + {});\n",
                    4 * q
                ));
            }
        }
        text
    };
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
                let ready = kind == Step::First && r < early;
                if matches!(kind, Step::First | Step::Only | Step::Alone) && !ready {
                    text.push_str(&format!(" simd_load{suffix}(c{r}{q}, {place});"));
                }
                let addend = if ready { "n" } else { "c" };
                text.push_str(&format!(" c{r}{q} = simd_vmad(a{r}, b{q}, {addend}{r}{q});"));
                if matches!(kind, Step::Last | Step::Only) {
                    text.push_str(&format!(" simd_store{suffix}(c{r}{q}, {place});"));
                }
            }
            text.push('\n');
        }
        if kind == Step::Second {
            text.push_str(&next("next"));
        }
        text.push_str("  }\n");
        text
    };
    let mut names: Vec<String> =
        (0..rows).flat_map(|r| (0..vectors).map(move |q| format!("c{r}{q}"))).collect();
    names.extend((0..early).flat_map(|r| (0..vectors).map(move |q| format!("n{r}{q}"))));
    let slot = if aligned { 1.0 } else { UNALIGNED };
    let (adds, width) = ((rows * vectors) as f64, 4 * vectors);
    let memory = slot * vectors as f64 + rows as f64;
    // Each vector of the block is a chain of additions.
    let cycles = |moved: f64| adds.max(memory + slot * moved).max(cost::CHAIN);
    let (middle, end, ready) = (cycles(0.0), cycles(adds), (early * vectors) as f64);
    let unrolled = UNROLL as f64 * middle + cost::LOOP;
    let single = middle + cost::LOOP;
    let steps: String = (0..UNROLL).map(|at| format!("  {}", step(Step::Middle, at))).collect();
    format!(
        "static __attribute__((noinline)) void {}({ty} *c_first, long c_row, const {ty} *a_group, long a_row, long a_step, const {ty} *b_group, long b_row, long n, long blocks, long groups)
{{
  {vector} {};
  if (n < 1 || blocks < 1 || groups < 1) {{
    emulated_compute({CALL}, 0);
    return;
  }}
  if (n < 3) {{
    for (long all = 0; all < groups * blocks; all++) {{
      const long group = all / blocks, block = all % blocks;
      {ty} *const c = c_first + {rows} * group * c_row + {width} * block;
      const {ty} *a = a_group + {rows} * group * a_row, *b = b_group + {width} * block;
  if (n == 1) {}  else {{
  {}  a += a_step, b += b_row;
  {}  }}
    }}
    emulated_compute({CALL} + {} * n * blocks * groups, {} * n * blocks * groups);
    return;
  }}
  {ty} *c = c_first;
{}  for (long group = 0; group < groups; group++, c_first += {rows} * c_row, a_group += {rows} * a_row) {{
  const {ty} *b_first = b_group;
  c = c_first;
  for (long block = 0; block < blocks; block++, c += {width}, b_first += {width}) {{
  const {ty} *a = a_group, *b = b_first;
  const {ty} *const next = block + 1 < blocks ? c + {width} : group + 1 < groups ? c_first + {rows} * c_row : c;
  (void)next;
  {}  a += a_step, b += b_row;
  {}  a += a_step, b += b_row;
  long k = 2;
  for (; k + {UNROLL} < n; k += {UNROLL}, a += {UNROLL} * a_step, b += {UNROLL} * b_row) {{
{steps}  }}
  for (; k + 1 < n; k++, a += a_step, b += b_row) {}  {}  }}
  }}
  emulated_compute({} + {GROUP} * groups + ({} + {unrolled} * ((n - 3) / {UNROLL}) + {single} * ((n - 3) % {UNROLL})) * blocks * groups, {} * n * blocks * groups);
}}
",
        name(elem, rows, vectors, aligned),
        names.join(", "),
        step(Step::Only, 0),
        step(Step::Alone, 0),
        step(Step::Last, 0),
        end + slot * adds + BLOCK,
        8.0 * adds,
        next("c"),
        step(Step::First, 0),
        step(Step::Second, 0),
        step(Step::Middle, 0),
        step(Step::Last, 0),
        CALL + slot * ready,
        cycles(adds - ready) + cycles(ready) + end + 2.0 * cost::LOOP + BLOCK,
        8.0 * adds,
    )
}
