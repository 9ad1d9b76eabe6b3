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
/// Steps of a tile that is written out without loops: up to as many as a box that is broadcast has
/// rows, and what most tiles have. They are the same for all programs, so that these share the
/// functions.
const FEW: usize = 8;
/// See [`FEW`].
const USUAL: usize = 16;
/// Steps that a tile has for sure, if it is not computed in the short way.
const OUTER: usize = 4;
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
    /// What the names of its functions begin with.
    pub fn prefix(self) -> String {
        let ty = if self.elem == Scalar::F32 { "floats" } else { "doubles" };
        let several = if self.products == 1 { String::new() } else { format!("{}_", self.products) };
        format!("contract_{several}{ty}")
    }

    /// The name of a function.
    pub fn name(self, rows: usize, vectors: usize, aligned: bool) -> String {
        let end = if aligned { "" } else { "_anywhere" };
        format!("{}_{rows}x{vectors}{end}", self.prefix())
    }

    /// Vectors in a row of a block, descending.
    pub fn vectors(self) -> impl Iterator<Item = usize> {
        VECTORS.into_iter().filter(move |v| self.products == 1 || *v <= SEVERAL)
    }
}

/// All blocks of a kind.
fn blocks(kind: Kind) -> impl Iterator<Item = Block> {
    ROWS.into_iter().flat_map(move |rows| {
        let widths = kind.vectors();
        widths.flat_map(move |vectors| [true, false].map(|aligned| Block { kind, rows, vectors, aligned }))
    })
}

/// The declarations of all functions of a kind.
pub(super) fn declarations(kind: Kind) -> String {
    blocks(kind).map(|block| format!("{};\n", block.signature())).collect()
}

/// All functions of a kind.
pub(super) fn functions(kind: Kind) -> String {
    let functions: Vec<String> = blocks(kind).map(|block| indented(&block.function())).collect();
    functions.join("\n")
}

/// A text with two blanks before a line for each brace around it; lines that go on keep theirs.
fn indented(text: &str) -> String {
    let (mut lines, mut depth) = (String::new(), 0_usize);
    for line in text.lines() {
        let (ends, begins) = (line.matches('}').count(), line.matches('{').count());
        let outer = ["}", "case ", "default:"].iter().any(|start| line.trim_start().starts_with(start));
        let here = depth.saturating_sub(usize::from(outer));
        let goes_on = depth == 0 && line.starts_with(' ');
        let blanks = if goes_on { 4 } else { 2 * here };
        lines.push_str(&format!("{:blanks$}{}\n", "", line.trim_start()));
        depth = (depth + begins).saturating_sub(ends);
    }
    lines
}

/// An address: some rows below another one, and some elements beside it.
fn place(base: &str, (rows, pitch): (usize, &str), beside: usize) -> String {
    let below = match rows {
        0 => String::new(),
        1 => format!(" + {pitch}"),
        rows => format!(" + {rows} * {pitch}"),
    };
    let beside = if beside == 0 { String::new() } else { format!(" + {beside}") };
    format!("{base}{below}{beside}")
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
            format!("    simd_load{suffix}(n{r}{q}, {});\n", place(from, (r, "c_row"), 4 * q))
        })
    }

    /// Rows that are still in registers go out, or come there.
    fn left(self, verb: &str, to: &str) -> String {
        let suffix = self.suffix();
        self.each(self.rows - self.beside()..self.rows, |r, q| {
            format!("    simd_{verb}{suffix}(o{r}{q}, {});\n", place(to, (r, "c_row"), 4 * q))
        })
    }

    /// The factors of some steps later.
    fn advance(self, steps: usize) -> String {
        let times = if steps == 1 { String::new() } else { format!("{steps} * ") };
        let each = (0..self.kind.products).map(|p| {
            let (a, b) = (self.of("a", p), self.of("b", p));
            format!("{a} += {times}{a}_step, {b} += {times}{b}_row")
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// A step of the sum; of those in the middle, the one that is `at` steps ahead.
    fn step(self, kind: Step) -> String {
        let (vector, suffix) = (self.vector(), self.suffix());
        let short = if self.kind.elem == Scalar::F32 { "s" } else { "d" };
        let products = self.kind.products;
        let ahead = |of: &str| {
            if kind == Step::Middle { format!(" + (at) * {of}") } else { String::new() }
        };
        let mut text = String::from("{");
        for p in 0..products {
            let b = self.of("b", p);
            let from = format!("{b}{}", ahead(&format!("{b}_row")));
            for q in 0..self.vectors {
                let from = place(&from, (0, ""), 4 * q);
                text.push_str(&format!(" {vector} {b}{q}; simd_load{suffix}({b}{q}, {from});"));
            }
        }
        text.push('\n');
        for r in 0..self.rows {
            text.push_str("   ");
            for p in 0..products {
                let a = self.of("a", p);
                let from = place(&a, (r, &format!("{a}_row")), 0) + &ahead(&format!("{a}_step"));
                text.push_str(&format!(" {vector} {a}{r}; simd_loade({a}{r}, {from});"));
            }
            for q in 0..self.vectors {
                let place = place("c", (r, "c_row"), 4 * q);
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
        format!("{}  {};\n", self.step(kind), self.advance(1))
    }

    fn element(self) -> &'static str {
        super::expr::c_type(self.kind.elem)
    }

    /// What a function is and is given, without its body.
    fn signature(self) -> String {
        let Block { kind, rows, vectors, aligned } = self;
        let (name, ty) = (kind.name(rows, vectors, aligned), self.element());
        let products: String = (0..kind.products)
            .map(|p| {
                let (a, b) = (self.of("a", p), self.of("b", p));
                format!(
                    "\n    const {ty} *{a}_group, long {a}_row, long {a}_step, const {ty} *{b}_group, long {b}_row,"
                )
            })
            .collect();
        format!("void {name}({ty} *c_first, long c_row,{products}\n    long n, long blocks, long groups)")
    }

    /// The cycles of its parts.
    fn cycles(self) -> Cycles {
        let Block { kind: Kind { products, .. }, rows, vectors, aligned } = self;
        let slot = if aligned { 1.0 } else { UNALIGNED };
        let block = (rows * vectors) as f64;
        let adds = block * if products == 1 { 1.0 } else { products as f64 + 1.0 };
        let memory = (slot * vectors as f64 + rows as f64) * products as f64;
        // Each vector of the block is a chain of additions; alone, a step waits for its sum of
        // products, too.
        let cycles = |moved: f64| adds.max(memory + slot * moved).max(cost::CHAIN);
        let (middle, beside) = (cycles(0.0), (self.beside() * vectors) as f64);
        let chain = if products == 1 { 0.0 } else { cost::CHAIN * (products as f64 + 1.0) };
        let call = CALL + 10.0 * products as f64;
        let ends = cycles(block - beside) + 2.0 * cycles(beside) + cycles(block - beside);
        Cycles {
            call,
            start: call + slot * 3.0 * beside,
            middle,
            alone: middle.max(chain),
            around: slot * 2.0 * block + cost::LOOP + BLOCK,
            ends: ends + cost::LOOP + BLOCK,
        }
    }

    /// The steps between the outer ones, and their cycles.
    fn between(self) -> (String, String) {
        let Cycles { middle, alone, .. } = self.cycles();
        let body = |steps: usize| match (0..steps).map(|at| format!("STEP({at})")).collect::<Vec<_>>() {
            none if none.is_empty() => String::new(),
            steps => format!("      {}\n", steps.join(" ")),
        };
        let looped = |steps: usize| {
            let (advance, body) = (self.advance(steps), body(steps));
            format!("    for (; k + {steps} < n; k += {steps}, {advance}) {{\n{body}    }}\n")
        };
        let many = |steps: usize| steps as f64 * middle + cost::LOOP;
        let one = format!("    for (; k + 1 < n; k++, {})\n      STEP(0)\n", self.advance(1));
        let rest = format!("{} * ((n - {OUTER}) % {SOME}) + {}", alone + cost::LOOP, 2.0 * cost::LOOP);
        if !self.aligned || self.kind.products > 1 {
            let text = format!("    long k = {};\n{}{one}", OUTER - 1, looped(SOME));
            return (text, format!("{} * ((n - {OUTER}) / {SOME}) + {rest}", many(SOME)));
        }
        let straight = (OUTER..=FEW).chain([USUAL]).map(|steps| {
            let skip = match steps - OUTER {
                0 => String::new(),
                steps => format!("      {};\n", self.advance(steps)),
            };
            format!("    case {steps}:\n{}{skip}      break;\n", body(steps - OUTER))
        });
        let straight: String = straight.collect();
        let loops = looped(MOST) + &looped(SOME) + &one;
        let text = format!(
            "    long k = {};\n    switch (n) {{\n{straight}    default:\n{loops}    }}\n",
            OUTER - 1
        );
        let lots = format!("{} * ((n - {OUTER}) / {MOST})", many(MOST));
        let few = format!("{} * ((n - {OUTER}) % {MOST} / {SOME})", many(SOME));
        let known = format!("n <= {FEW} || n == {USUAL} ? {middle} * (n - {OUTER})");
        (text, format!("({known} : {lots} + {few} + {rest})"))
    }

    /// The names of its vectors.
    fn names(self) -> String {
        let mut names: Vec<String> = Vec::new();
        for (name, from, to) in
            [("c", 0, self.rows), ("n", 0, self.beside()), ("o", self.rows - self.beside(), self.rows)]
        {
            names.extend((from..to).flat_map(|r| (0..self.vectors).map(move |q| format!("{name}{r}{q}"))));
        }
        names.join(", ")
    }

    /// Where the factors of a block begin: of a group of rows, or of the current one.
    fn factors(self, group: Option<&str>) -> String {
        let width = 4 * self.vectors;
        let each = (0..self.kind.products).map(|p| {
            let (a, b) = (self.of("a", p), self.of("b", p));
            let below =
                group.map_or_else(String::new, |group| format!(" + {} * {group} * {a}_row", self.rows));
            format!("{a} = {a}_group{below}, *{b} = {b}_group + {width} * block")
        });
        format!("const {} *{};", self.element(), each.collect::<Vec<_>>().join(", *"))
    }

    fn function(self) -> String {
        let Block { rows, vectors, .. } = self;
        let (vector, products, ty) = (self.vector(), self.kind.products, self.element());
        let (cycles, (between, taken), width) = (self.cycles(), self.between(), 4 * vectors);
        let operations = 8 * rows * vectors * products;
        let down = (0..products).map(|p| self.of("a", p)).map(|a| format!("{a}_group += {rows} * {a}_row"));
        format!(
            "/* A step of the sum, `at` steps from here. */
#define STEP(at) {middle}

{signature}
{{
  {vector} {names};
  if (n < 1 || blocks < 1 || groups < 1) {{
    emulated_compute({call}, 0);
    return;
  }}
  if (n < {OUTER}) {{
    for (long all = 0; all < groups * blocks; all++) {{
      const long group = all / blocks, block = all % blocks;
      {ty} *const c = c_first + {rows} * group * c_row + {width} * block;
      {any}
  if (n == 1) {only}  else {{
  {alone}  if (n == 3) {{
  STEP(0)
  {advance};
  }}
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
  {first}  {second}  {third}  {{
{between}  }}
  {last}  before = c;
  }}
  }}
{stored}  (void)before;
  emulated_compute({start} + {GROUP} * groups + ({ends} + {taken}) * blocks * groups, {operations} * n * blocks * groups);
}}
#undef STEP
",
            middle = self.step(Step::Middle).trim_end().replace('\n', " \\\n"),
            signature = self.signature(),
            names = self.names(),
            any = self.factors(Some("group")),
            these = self.factors(None),
            only = self.step(Step::Only),
            alone = self.steps(Step::Alone),
            advance = self.advance(1),
            end = self.step(Step::End),
            call = cycles.call,
            short = cycles.alone,
            around = cycles.around,
            early = self.early("c"),
            old = self.left("load", "c"),
            first = self.steps(Step::First),
            second = self.steps(Step::Second),
            third = self.steps(Step::Third),
            last = self.step(Step::Last),
            stored = self.left("store", "before"),
            start = cycles.start,
            ends = cycles.ends,
            down = down.collect::<Vec<_>>().join(", "),
        )
    }
}

/// The cycles of the parts of a function.
struct Cycles {
    /// A call with nothing to do, and one with something.
    call: f64,
    start: f64,
    /// A step among others, and one that waits for its result.
    middle: f64,
    alone: f64,
    /// What a short block takes beside its steps, and a longer one beside those between the outer
    /// steps.
    around: f64,
    ends: f64,
}
