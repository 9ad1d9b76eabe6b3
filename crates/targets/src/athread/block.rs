//! The innermost code of contractions: functions that keep a block of the result in registers while
//! a sum runs.
//!
//! They compute `c[r][q] += a[r][k] * b[k][q]` for `k` ascending, one block beside the other along
//! the rows, and one group of rows below the other. Rows of `c`, rows and steps of `a`, and rows of
//! `b` may be at any distance. What is added may be a sum of several such products, which are added
//! to each other first.
//!
//! The processor's memory pipeline has free slots beside the arithmetic in each step, but not
//! enough for a whole block at once. So the four outer steps share this work. The first loads what
//! is missing of the block. The second stores what the block before has left in registers. The
//! third loads rows of the next block, as far as there are registers. The last stores as much as
//! fits.

use std::collections::BTreeSet;

use loops::Scalar;

use super::cost;

/// Rows of the blocks, and vectors in a row: the largest block, and the blocks for remainders.
pub(super) const ROWS: [usize; 2] = [4, 1];
/// See [`ROWS`].
pub(super) const VECTORS: [usize; 4] = [4, 3, 2, 1];
/// The maximal number of products in a sum, and of vectors in a row if there are several. Factors
/// and sums are in registers, too.
pub(super) const PRODUCTS: usize = 4;
/// See [`PRODUCTS`].
pub(super) const SEVERAL: usize = 2;
/// Steps in one iteration of the loops: for most blocks, and for blocks that are rare or long.
const MOST: usize = 12;
/// See [`MOST`].
const SOME: usize = 4;
/// Steps of a tile that is written out without loops.
const SHORT: usize = 16;
/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;
/// Cycles between two groups of rows of a call.
const GROUP: f64 = 8.0;
/// Cycles between two blocks of a call.
const BLOCK: f64 = 6.0;
/// Cycles of a call beside its arguments.
const CALL: f64 = 4.0;

/// The functions for a type of elements, and for sums of so many products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    /// Type of all elements.
    pub elem: Scalar,
    /// Products in the sum.
    pub products: usize,
}

impl Kind {
    /// The name of a function.
    pub fn name(self, rows: usize, vectors: usize, aligned: bool) -> String {
        let ty = if self.elem == Scalar::F32 { "floats" } else { "doubles" };
        let several = if self.products == 1 { String::new() } else { format!("{}_", self.products) };
        let end = if aligned { "" } else { "_anywhere" };
        format!("contract_{several}{ty}_{rows}x{vectors}{end}")
    }

    /// Vectors in a row of a block, descending.
    pub fn vectors(self) -> impl Iterator<Item = usize> {
        VECTORS.into_iter().filter(move |v| self.products == 1 || *v <= SEVERAL)
    }
}

/// All functions of a kind. Tiles of `short` steps are unrolled, in addition to those of [`SHORT`]
/// steps.
pub(super) fn functions(kind: Kind, short: &BTreeSet<usize>) -> String {
    let products: Vec<String> = if kind.products == 1 {
        vec!["a b".to_owned()]
    } else {
        (0..kind.products).map(|p| format!("a{p} b{p}")).collect()
    };
    let mut text = format!(
        "\n/* c += {} for blocks of vectors: the sum runs over n steps in ascending order. */\n",
        products.join(" + ")
    );
    for rows in ROWS {
        for vectors in kind.vectors() {
            for aligned in [true, false] {
                text.push_str(&Block { kind, rows, vectors, aligned }.function(short));
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
    /// What the block before has left in registers is stored.
    Second,
    /// Some of the next block is loaded: as much as there are registers for.
    Third,
    Middle,
    /// Some of it is stored, the rest stays in registers.
    Last,
    /// It is loaded and stored.
    Only,
    /// It is loaded, all of it.
    Alone,
    /// All of it is stored.
    End,
}

#[derive(Clone, Copy)]
struct Block {
    kind: Kind,
    rows: usize,
    vectors: usize,
    aligned: bool,
}

impl Block {
    /// The name of a factor of a product: with its number, if there are several.
    fn of(self, name: &str, p: usize) -> String {
        if self.kind.products == 1 { name.to_owned() } else { format!("{name}{p}") }
    }

    fn vector(self) -> &'static str {
        if self.kind.elem == Scalar::F32 { "floatv4" } else { "doublev4" }
    }

    fn suffix(self) -> &'static str {
        if self.aligned { "" } else { "u" }
    }

    /// Rows of the next block, or of the one before, that are in registers beside this one and its
    /// factors.
    fn beside(self) -> usize {
        let taken = self.rows + self.vectors * self.kind.products + self.rows * self.vectors;
        // Several products need sums of their own.
        let sums = if self.kind.products == 1 { 0 } else { 8 };
        if self.rows == 4 {
            (32usize.saturating_sub(taken + sums).min(8) / self.vectors).min(self.rows)
        } else {
            0
        }
    }

    /// Whether a row of a block is stored during the block behind it.
    fn late(self, row: usize) -> bool {
        row >= self.rows - self.beside()
    }

    /// For all vectors of some rows.
    fn each(self, rows: std::ops::Range<usize>, text: impl Fn(usize, usize) -> String) -> String {
        rows.flat_map(|r| (0..self.vectors).map(move |q| (r, q))).map(|(r, q)| text(r, q)).collect()
    }

    /// Loads rows of the next block.
    fn early(self, from: &str) -> String {
        let suffix = self.suffix();
        self.each(0..self.beside(), |r, q| {
            format!("    simd_load{suffix}(n{r}{q}, {from} + {r} * c_row + {});\n", 4 * q)
        })
    }

    /// Rows that are still in registers go out, or come there.
    fn left(self, verb: &str, to: &str) -> String {
        let suffix = self.suffix();
        self.each(self.rows - self.beside()..self.rows, |r, q| {
            format!("    simd_{verb}{suffix}(o{r}{q}, {to} + {r} * c_row + {});\n", 4 * q)
        })
    }

    /// The next factors.
    fn advance(self, steps: &str) -> String {
        let each = (0..self.kind.products).map(|p| {
            let (a, b) = (self.of("a", p), self.of("b", p));
            format!("{a} += {steps}{a}_step, {b} += {steps}{b}_row")
        });
        each.collect::<Vec<_>>().join(", ")
    }

    fn step(self, kind: Step, at: usize) -> String {
        let (vector, suffix) = (self.vector(), self.suffix());
        let short = if self.kind.elem == Scalar::F32 { "s" } else { "d" };
        let products = self.kind.products;
        let mut text = String::from("{ ");
        for p in 0..products {
            let b = self.of("b", p);
            for q in 0..self.vectors {
                text.push_str(&format!(
                    "{vector} {b}{q}; simd_load{suffix}({b}{q}, {b} + {at} * {b}_row + {}); ",
                    4 * q
                ));
            }
        }
        text.push('\n');
        for r in 0..self.rows {
            text.push_str("   ");
            for p in 0..products {
                let a = self.of("a", p);
                text.push_str(&format!(
                    " {vector} {a}{r}; simd_loade({a}{r}, {a} + {r} * {a}_row + {at} * {a}_step);"
                ));
            }
            for q in 0..self.vectors {
                let place = format!("c + {r} * c_row + {}", 4 * q);
                let ready = kind == Step::First && r < self.beside();
                if matches!(kind, Step::First | Step::Only | Step::Alone) && !ready {
                    text.push_str(&format!(" simd_load{suffix}(c{r}{q}, {place});"));
                }
                let addend = if ready { "n" } else { "c" };
                let stays = kind == Step::Last && self.late(r);
                let result = if stays { "o" } else { "c" };
                if products == 1 {
                    text.push_str(&format!(" {result}{r}{q} = simd_vmad(a{r}, b{q}, {addend}{r}{q});"));
                } else {
                    let first = format!("simd_vmul{short}(a0{r}, b0{q})");
                    let sum =
                        (1..products).fold(first, |sum, p| format!("simd_vmad(a{p}{r}, b{p}{q}, {sum})"));
                    text.push_str(&format!(" {result}{r}{q} = simd_vadd{short}({addend}{r}{q}, {sum});"));
                }
                if matches!(kind, Step::Last | Step::Only | Step::End) && !stays {
                    text.push_str(&format!(" simd_store{suffix}(c{r}{q}, {place});"));
                }
            }
            text.push('\n');
        }
        if kind == Step::Second {
            text.push_str(&self.left("store", "before"));
        }
        if kind == Step::Third {
            text.push_str(&self.early("next"));
        }
        text.push_str("  }\n");
        text
    }

    /// A step, and the next factors.
    fn steps(self, kind: Step) -> String {
        format!("{}  {};\n", self.step(kind, 0), self.advance(""))
    }

    fn function(self, short: &BTreeSet<usize>) -> String {
        let Block { kind, rows, vectors, aligned } = self;
        let (vector, products) = (self.vector(), kind.products);
        let ty = if kind.elem == Scalar::F32 { "float" } else { "double" };
        let mut names: Vec<String> = Vec::new();
        for (name, from, to) in [("c", 0, rows), ("n", 0, self.beside()), ("o", rows - self.beside(), rows)] {
            names.extend((from..to).flat_map(|r| (0..vectors).map(move |q| format!("{name}{r}{q}"))));
        }
        let slot = if aligned { 1.0 } else { UNALIGNED };
        let (block, width) = ((rows * vectors) as f64, 4 * vectors);
        let adds = block * if products == 1 { 1.0 } else { products as f64 + 1.0 };
        let memory = (slot * vectors as f64 + rows as f64) * products as f64;
        // Each vector of the block is a chain of additions; alone, a step waits for its sum of
        // products, too.
        let cycles = |moved: f64| adds.max(memory + slot * moved).max(cost::CHAIN);
        let (middle, beside) = (cycles(0.0), (self.beside() * vectors) as f64);
        let chain = if products == 1 { 0.0 } else { cost::CHAIN * (products as f64 + 1.0) };
        let single = middle.max(chain) + cost::LOOP;
        let (call, operations) = (CALL + 10.0 * products as f64, 8.0 * block * products as f64);
        let ends = cycles(block - beside) + 2.0 * cycles(beside) + cycles(block - beside);
        let body = |steps: usize| {
            (0..steps).map(|at| format!("  {}", self.step(Step::Middle, at))).collect::<String>()
        };
        let looped = |steps: usize| {
            let (advance, body) = (self.advance(&format!("{steps} * ")), body(steps));
            format!("  for (; k + {steps} < n; k += {steps}, {advance}) {{\n{body}  }}\n")
        };
        let many = |steps: usize| steps as f64 * middle + cost::LOOP;
        // The steps between, and their cycles.
        let one = format!("  for (; k + 1 < n; k++, {}) {}", self.advance(""), self.step(Step::Middle, 0));
        let rest = format!("{} * ((n - 4) % {SOME}) + {}", single, 2.0 * cost::LOOP);
        let (between, taken) = if aligned && products == 1 {
            let (mut text, mut taken) = (String::from("  "), String::from("("));
            // A tile has four steps for sure.
            for steps in short.iter().copied().filter(|steps| *steps >= 4).chain([SHORT]) {
                let (straight, skip) = (body(steps - 4), self.advance(&format!("{} * ", steps - 4)));
                text.push_str(&format!("if (n == {steps}) {{\n{straight}  {skip};\n  }} else "));
                taken.push_str(&format!("n == {steps} ? {} : ", (steps - 4) as f64 * middle));
            }
            text.push_str(&format!("{{\n  long k = 3;\n{}{}{one}  }}\n", looped(MOST), looped(SOME)));
            let lots = format!("{} * ((n - 4) / {MOST})", many(MOST));
            let few = format!("{} * ((n - 4) % {MOST} / {SOME})", many(SOME));
            (text, format!("{taken}{lots} + {few} + {rest})"))
        } else {
            let text = format!("  {{\n  long k = 3;\n{}{one}  }}\n", looped(SOME));
            (text, format!("({} * ((n - 4) / {SOME}) + {rest})", many(SOME)))
        };
        let list = |text: &dyn Fn(usize) -> String| (0..products).map(text).collect::<Vec<_>>().join(", ");
        let parameters = list(&|p| {
            let (a, b) = (self.of("a", p), self.of("b", p));
            format!("const {ty} *{a}_group, long {a}_row, long {a}_step, const {ty} *{b}_group, long {b}_row")
        });
        let at = |by_group: bool| {
            let each = (0..products).map(|p| {
                let (a, b) = (self.of("a", p), self.of("b", p));
                let group = if by_group { format!(" + {rows} * group * {a}_row") } else { String::new() };
                format!("{a} = {a}_group{group}, *{b} = {b}_group + {width} * block")
            });
            format!("const {ty} *{};", each.collect::<Vec<_>>().join(", *"))
        };
        let down = list(&|p| {
            let a = self.of("a", p);
            format!("{a}_group += {rows} * {a}_row")
        });
        format!(
            "static __attribute__((noinline)) void {name}({ty} *c_first, long c_row, {parameters}, long n, long blocks, long groups)
{{
  {vector} {names};
  if (n < 1 || blocks < 1 || groups < 1) {{
    emulated_compute({call}, 0);
    return;
  }}
  if (n < 4) {{
    for (long all = 0; all < groups * blocks; all++) {{
      const long group = all / blocks, block = all % blocks;
      {ty} *const c = c_first + {rows} * group * c_row + {width} * block;
      {any}
  if (n == 1) {only}  else {{
  {alone}  if (n == 3) {{
  {third_of_three}  }}
  {end}  }}
    }}
    emulated_compute({call} + ({short} * n + {around}) * blocks * groups, {operations} * n * blocks * groups);
    return;
  }}
  {ty} *c = c_first, *before = c_first;
{early}{old}  for (long group = 0; group < groups; group++, c_first += {rows} * c_row, {down}) {{
  c = c_first;
  for (long block = 0; block < blocks; block++, c += {width}) {{
  {these}
  const {ty} *const next = block + 1 < blocks ? c + {width} : group + 1 < groups ? c_first + {rows} * c_row : c;
  (void)next;
  {first}  {second}  {third}{between}  {last}  before = c;
  }}
  }}
{stored}  (void)before;
  emulated_compute({start} + {GROUP} * groups + ({ends} + {taken}) * blocks * groups, {operations} * n * blocks * groups);
}}
",
            name = kind.name(rows, vectors, aligned),
            names = names.join(", "),
            any = at(true),
            these = at(false),
            only = self.step(Step::Only, 0),
            alone = self.steps(Step::Alone),
            third_of_three = self.steps(Step::Middle),
            end = self.step(Step::End, 0),
            short = middle.max(chain),
            around = slot * 2.0 * block + cost::LOOP + BLOCK,
            early = self.early("c"),
            old = self.left("load", "c"),
            first = self.steps(Step::First),
            second = self.steps(Step::Second),
            third = self.steps(Step::Third),
            last = self.step(Step::Last, 0),
            stored = self.left("store", "before"),
            start = call + slot * 3.0 * beside,
            ends = ends + cost::LOOP + BLOCK,
        )
    }
}
