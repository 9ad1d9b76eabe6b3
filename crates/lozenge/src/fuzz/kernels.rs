//! Random C programs with a marked region, in the shapes that kernels have: passes, products,
//! triangles, stencils, sums of rows and columns, sparse rows, and reads at places that an array
//! says.
//!
//! A program runs by itself at several sizes and writes all arrays to the file of its argument.
//! Matrices and vectors have room beyond the sizes, so that every subscript stays inside. Not here:
//! running them (`command::fuzz_kernels`).

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};

use super::writer::Writer;
use crate::random::Random;

/// Sizes `n` and `m` at which a program runs.
const SIZES: [(i64, i64); 5] = [(0, 3), (1, 1), (7, 11), (19, 5), (40, 33)];
const MATRICES: [&str; 4] = ["A", "B", "C", "D"];
const VECTORS: [&str; 3] = ["x", "y", "z"];

/// The types that the cores are not given, with what the output calls them. Products of two numbers
/// of 16 bits may be beyond `int`, so they are not among them.
const OTHERS: [(&str, &str); 5] = [
    ("unsigned char", "u8"),
    ("unsigned", "u32"),
    ("signed char", "i8"),
    ("unsigned long", "u64"),
    ("char", "i8"),
];

/// The program of a seed, with elements that all targets have.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let elem = ["double", "double", "float", "long"][random.below(4) as usize];
    of_elements(random, (elem, elem), false)
}

/// The program of a seed with elements of any type: every fifth one has bytes, or integers without
/// a sign, and another fifth has functions of `math.h`, or operations of integers.
pub fn any(seed: u64) -> String {
    match seed % 5 {
        4 => of_elements(Random::new(seed), OTHERS[(seed / 5 % 5) as usize], false),
        3 => {
            let elem = ["float", "int", "double", "long"][(seed / 5 % 4) as usize];
            of_elements(Random::new(seed), (elem, elem), true)
        }
        _ => program(seed),
    }
}

fn of_elements(mut random: Random, (elem, told): (&str, &str), functions: bool) -> String {
    let float = matches!(elem, "double" | "float");
    let data = random.below(3) == 0;
    let suffix = if elem == "float" { "f" } else { "" };
    let functions = functions.then_some(suffix);
    let header = if functions.is_some() { "#include <math.h>\n" } else { "" };
    let mut maker = Maker { writer: Writer::new(&mut random), float, data, functions };
    for _ in 0..=maker.random.below(3) {
        maker.nest();
    }
    let region = maker.writer.text;
    let matrices = MATRICES.map(|name| format!("T {name}[restrict n + m + 8][n + m + 8]")).join(", ");
    let vectors = VECTORS.map(|name| format!("T {name}[restrict n + m + 8]")).join(", ");
    let sizes = SIZES.map(|(n, m)| format!("{{{n}, {m}}}")).join(", ");
    let each = |names: &[&str], what: &dyn Fn(&str) -> String| -> String {
        names.iter().map(|name| what(name)).collect()
    };
    let mut text = format!(
        "{header}#include <stdio.h>\n#include <stdlib.h>\n\ntypedef {elem} T;\n\nstatic void kernel(int n, int m, int t, T alpha, const int at[restrict n + m + 8], const int row[restrict n + m + 9], {matrices}, {vectors})\n{{\n#pragma scop\n{region}#pragma endscop\n}}\n\n"
    );
    text.push_str(
        "static unsigned long state = 1;\n\nstatic T *made(long count)\n{\n  T *p = malloc((count + 1) * sizeof(T));\n  for (long k = 0; k < count; k++) {\n    state = state * 6364136223846793005ul + 1442695040888963407ul;\n    p[k] = (T)((long)(state >> 59) - 16) / ((T)1 / 2 == 0 ? 1 : 16);\n  }\n  return p;\n}\n\n",
    );
    text.push_str("static void write_array(FILE *out, const char *name, int n, T *p, long count)\n{\n");
    let _ = writeln!(text, "  fprintf(out, \"%s_at_%d {told} %ld\\n\", name, n, count);");
    text.push_str("  fwrite(p, sizeof(T), count, out);\n  free(p);\n}\n\nint main(int argc, char **argv)\n{\n  FILE *out = argc > 1 ? fopen(argv[1], \"wb\") : stdout;\n");
    let _ = writeln!(
        text,
        "  static const int sizes[][2] = {{{sizes}}};\n  for (int k = 0; k < {}; k++) {{\n    int n = sizes[k][0], m = sizes[k][1];\n    long rows = n + m + 8;",
        SIZES.len()
    );
    // Places inside of every array; rows that follow each other, some of them empty.
    text.push_str("    int *at = malloc(rows * sizeof(int)), *row = malloc((rows + 1) * sizeof(int));\n    row[0] = 0;\n    for (long k = 0; k < rows; k++) {\n      at[k] = (int)((k * 7 + n) % rows);\n      row[k + 1] = row[k] + (k % 3 == 1 || row[k] + k % 4 > rows ? 0 : (int)(k % 4));\n    }\n");
    text.push_str(&each(&MATRICES, &|name| format!("    T (*{name})[rows] = (void *)made(rows * rows);\n")));
    text.push_str(&each(&VECTORS, &|name| format!("    T *{name} = made(rows);\n")));
    let _ = writeln!(
        text,
        "    kernel(n, m, 3, (T)2, at, row, {}, {});",
        MATRICES.join(", "),
        VECTORS.join(", ")
    );
    text.push_str(&each(&MATRICES, &|name| {
        format!("    write_array(out, \"{name}\", n, (T *){name}, rows * rows);\n")
    }));
    text.push_str(&each(&VECTORS, &|name| format!("    write_array(out, \"{name}\", n, {name}, rows);\n")));
    text.push_str("    free(at);\n    free(row);\n");
    text.push_str("  }\n  fclose(out);\n  return 0;\n}\n");
    text
}

struct Maker<'r> {
    writer: Writer<'r>,
    float: bool,
    /// Whether places and lengths may be data: such programs have no form for the cores.
    data: bool,
    /// Values may be those of functions, whose names end like this, or of operations that integers
    /// alone have.
    functions: Option<&'static str>,
}

/// A loop variable and the size below which it stays.
#[derive(Clone, Copy)]
struct Var(&'static str, &'static str);

impl<'r> Deref for Maker<'r> {
    type Target = Writer<'r>;

    fn deref(&self) -> &Writer<'r> {
        &self.writer
    }
}

impl<'r> DerefMut for Maker<'r> {
    fn deref_mut(&mut self) -> &mut Writer<'r> {
        &mut self.writer
    }
}

impl Maker<'_> {
    /// A loop; `outer` may bound it.
    fn looped(&mut self, name: &'static str, outer: Option<Var>) -> Var {
        let size = match outer {
            Some(outer) if self.chance(3) => outer.1,
            _ => self.one_of(&["n", "m"]),
        };
        let (mut low, mut high) = (self.one_of(&["0", "0", "0", "1"]).to_owned(), size.to_owned());
        match outer {
            Some(Var(outer, same)) if same == size && self.chance(2) => match self.random.below(4) {
                0 => low = outer.to_owned(),
                1 => low = format!("{outer} + 1"),
                2 => high = outer.to_owned(),
                _ => high = format!("{outer} + 1"),
            },
            _ if self.chance(6) => high = format!("{size} - 1"),
            _ => {}
        }
        let step = if self.chance(12) { format!("{name} += 2") } else { format!("{name}++") };
        self.open(&format!("for (int {name} = {low}; {name} < {high}; {step})"));
        Var(name, size)
    }

    /// A subscript from a loop.
    fn index(&mut self, var: Var) -> String {
        let Var(name, size) = var;
        match self.random.below(13) {
            0 => format!("{name} + {}", self.random.below(4)),
            1 => format!("{size} - {name}"),
            2 => format!("{name} + 1"),
            3 if self.data => format!("at[{name}]"),
            _ => name.to_owned(),
        }
    }

    fn element(&mut self, vars: &[Var]) -> String {
        if vars.len() > 1 && !self.chance(4) {
            let (a, b) = if self.chance(4) { (vars[1], vars[0]) } else { (vars[0], vars[1]) };
            let (a, b) = (self.index(a), self.index(b));
            return format!("{}[{a}][{b}]", self.one_of(&MATRICES));
        }
        let var = self.one_of(vars);
        let at = self.index(var);
        format!("{}[{at}]", self.one_of(&VECTORS))
    }

    fn value(&mut self, vars: &[Var], depth: u32) -> String {
        if depth == 0 || self.chance(4) {
            return match self.random.below(6) {
                0 => "alpha".to_owned(),
                1 => self.one_of(&["2", "3", "1"]).to_owned(),
                _ => self.element(vars),
            };
        }
        let (a, b) = (self.value(vars, depth - 1), self.value(vars, depth - 1));
        if let Some(suffix) = self.functions
            && self.chance(2)
        {
            return self.function(suffix, &a, &b);
        }
        match self.random.below(8) {
            0 => format!("({a} > {b} ? {a} : {b})"),
            1 | 2 => format!("({a} - {b})"),
            3 if self.float => format!("{a} * (T)0.25"),
            3 | 4 => format!("{a} * {}", self.one_of(&["alpha", "2"])),
            _ => format!("({a} + {b})"),
        }
    }

    /// A function of two values, or an operation of two integers.
    fn function(&mut self, suffix: &str, a: &str, b: &str) -> String {
        if !self.float {
            return match self.random.below(10) {
                0 => format!("(({a}) >> {})", self.random.below(32)),
                1 => format!("(({a}) << {})", self.random.below(3)),
                2 => format!("(({a}) & {b})"),
                3 => format!("(({a}) | {b})"),
                4 => format!("(({a}) ^ {b})"),
                5 => format!("(~({a}))"),
                6 => format!("(({a}) / {})", 2 + self.random.below(5)),
                7 => format!("(({a}) % {})", 2 + self.random.below(5)),
                8 => format!("({a} == {b} ? 7 : -({b}))"),
                _ => format!("(T)(({a}) * 0.5)"),
            };
        }
        match self.random.below(12) {
            0 => format!("fmin{suffix}({a}, {b})"),
            1 => format!("fmax{suffix}({a}, {b})"),
            2 => format!("fabs{suffix}({a})"),
            3 => format!("sqrt{suffix}(fabs{suffix}({a}))"),
            4 => format!("exp{suffix}(-fabs{suffix}({a}))"),
            5 => format!("pow{suffix}(fabs{suffix}({a}) + (T)0.5, (T)0.7)"),
            6 => format!("fmod{suffix}({a}, (T)3)"),
            7 => format!("floor{suffix}({a})"),
            8 => format!("tanh{suffix}({a})"),
            9 => format!("(T)(int)fmin{suffix}(fabs{suffix}({a}), (T)100)"),
            10 => format!("({a} < {b} || {b} > (T)0.5 ? {a} : -({b}))"),
            _ => format!("(({a}) / (fabs{suffix}({b}) + 1))"),
        }
    }

    /// One nest of a random shape.
    fn nest(&mut self) {
        match self.random.below(12) {
            0 | 1 => self.pass(),
            2..=5 => self.product(),
            6 | 7 => self.vectors(),
            8 => self.stencil(),
            9 | 10 if self.data => self.sparse(),
            _ => self.rows(),
        }
    }

    /// Each element of a matrix, or of a vector, from others.
    fn pass(&mut self) {
        let i = self.looped("i", None);
        let two = !self.chance(4);
        let vars = if two { vec![i, self.looped("j", Some(i))] } else { vec![i] };
        let guarded = self.chance(5);
        if guarded {
            let condition = self.one_of(&["i % 2 == 0", "i < m - 2", "i != 3"]);
            self.open(&format!("if ({condition})"));
        }
        let value = self.value(&vars, 2);
        let place = if two { "[i][j]" } else { "[i]" };
        let names: &[&str] = if two { &MATRICES } else { &VECTORS };
        let (name, op) = (self.one_of(names), self.one_of(&["=", "=", "+=", "-="]));
        self.line(&format!("{name}{place} {op} {value};"));
        self.close(vars.len() + usize::from(guarded));
    }

    /// `C[i][j] += A[i][k] * B[k][j]`, with operands turned, triangles, scalings, two products, and
    /// what may stand around the sum.
    fn product(&mut self) {
        let (i, first) = (self.looped("i", None), self.random.below(3));
        let j = self.looped("j", Some(i));
        let result = self.one_of(&["C[i][j]", "C[i][j]", "D[i][j]"]);
        match first {
            0 => self.line(&format!("{result} = 0;")),
            1 => self.line(&format!("{result} *= alpha;")),
            _ => {}
        }
        let outer = self.one_of(&[Some(i), Some(j), None]);
        let _ = self.looped("k", outer);
        let left = self.one_of(&["A[i][k]", "A[i][k]", "A[k][i]", "B[i][k]"]);
        let right = self.one_of(&["B[k][j]", "B[k][j]", "B[j][k]", "A[j][k]"]);
        let scale = self.one_of(&["", "alpha * "]);
        let more = if self.chance(5) { " + B[i][k] * A[j][k]" } else { "" };
        self.line(&format!("{result} += {scale}{left} * {right}{more};"));
        self.close(3);
    }

    /// Matrix times vector, by rows, by columns or both.
    fn vectors(&mut self) {
        let i = self.looped("i", None);
        let start = self.chance(2);
        if start {
            self.line("x[i] = 0;");
        }
        let _ = self.looped("j", Some(i));
        let both = self.random.below(3);
        let matrix = self.one_of(&MATRICES);
        if both != 1 {
            self.line(&format!("x[i] += {matrix}[i][j] * z[j];"));
        }
        if both != 0 {
            let by = self.one_of(&["z[i]", "alpha"]);
            self.line(&format!("y[j] += {matrix}[i][j] * {by};"));
        }
        self.close(2);
    }

    /// Neighbours, perhaps for some steps of time.
    fn stencil(&mut self) {
        let timed = self.chance(2);
        if timed {
            self.open("for (int s = 0; s < t; s++)");
        }
        let quarter = if self.float { " * (T)0.25" } else { "" };
        if self.chance(2) {
            self.open("for (int i = 1; i < n; i++)");
            self.open("for (int j = 1; j < m; j++)");
            self.line(&format!("B[i][j] = (A[i][j] + A[i - 1][j] + A[i + 1][j] - A[i][j + 1]){quarter};"));
            self.close(2);
            if timed {
                self.open("for (int i = 1; i < n; i++)");
                self.open("for (int j = 1; j < m; j++)");
                self.line(&format!("A[i][j] = (B[i][j] - B[i][j - 1] + B[i][j + 1]){quarter};"));
                self.close(2);
            }
        } else {
            self.open("for (int i = 1; i < n; i++)");
            self.line(&format!("y[i] = (x[i - 1] + x[i] - x[i + 1]){quarter};"));
            self.close(1);
            if timed {
                self.open("for (int i = 1; i < n; i++)");
                self.line("x[i] = y[i];");
                self.close(1);
            }
        }
        self.close(usize::from(timed));
    }

    /// Rows of which an array says where they begin and end.
    fn sparse(&mut self) {
        let i = self.looped("i", None);
        let sum = self.chance(2);
        match self.random.below(3) {
            _ if sum => self.line("T sum = 0;"),
            0 => self.line("x[i] = 0;"),
            _ => {}
        }
        let step = self.one_of(&["k++", "k++", "k++", "k += 2"]);
        let (low, high) = self.one_of(&[
            ("row[i]", "k < row[i + 1]"),
            ("row[i]", "k < row[i + 1]"),
            ("row[i]", "k <= row[i + 2] - 1"),
            ("0", "k < row[i]"),
        ]);
        self.open(&format!("for (int k = {low}; {high}; {step})"));
        let guarded = self.chance(4);
        if guarded {
            let condition = self.one_of(&["at[k] != i", "y[k] > alpha", "k % 2 == 0"]);
            self.open(&format!("if ({condition})"));
        }
        let factor = self.one_of(&["y[k]", "A[i][k]", "alpha"]);
        match self.random.below(4) {
            _ if sum => self.line(&format!("sum += {factor} * z[at[k]];")),
            0 => {
                let _ = self.looped("j", Some(i));
                self.line(&format!("C[i][j] += {factor} * B[at[k]][j];"));
                self.close(1);
            }
            1 => self.line(&format!("z[k] = z[k] * alpha - {factor};")),
            _ => self.line(&format!("x[i] += {factor} * z[at[k]];")),
        }
        self.close(1 + usize::from(guarded));
        if sum {
            let result = self.one_of(&["x[i] = sum;", "y[i] -= sum;", "x[i] = z[at[i]] + sum;"]);
            self.line(result);
        }
        self.close(1);
    }

    /// A sum of each row, and the row with it.
    fn rows(&mut self) {
        let i = self.looped("i", None);
        self.line("T sum = 0;");
        let j = self.looped("j", Some(i));
        let term = self.value(&[i, j], 1);
        self.line(&format!("sum += {term};"));
        self.close(1);
        if self.chance(2) {
            self.line("y[i] = sum;");
        } else {
            let _ = self.looped("j", Some(i));
            self.line("D[i][j] = C[i][j] - sum;");
            self.close(1);
        }
        self.close(1);
    }
}
