//! Prints a certificate as a file for Coq, laid out for human readers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::data::{ArrayType, Certificate, Cmd, Exp, Law, Op, Order, Shape, Tables, Tm, Ty, View};

/// Columns of a line.
const WIDTH: usize = 120;

/// Text with places for line breaks.
struct Doc {
    width: usize,
    kind: Kind,
}

enum Kind {
    Atom(String),
    /// A constructor and its arguments, each in brackets where that is needed.
    App(Vec<Doc>),
    /// A list or a pair: opening, separator, closing.
    List([&'static str; 3], Vec<Doc>),
    /// Commands one after another.
    Lines(Vec<Doc>),
}

fn atom(text: impl Into<String>) -> Doc {
    let text = text.into();
    Doc { width: text.len(), kind: Kind::Atom(text) }
}

fn app(head: &str, args: Vec<Doc>) -> Doc {
    let parts: Vec<Doc> = std::iter::once(atom(head)).chain(args).collect();
    let width = parts.iter().map(|d| d.width + 1 + if d.is_open() { 2 } else { 0 }).sum();
    Doc { width, kind: Kind::App(parts) }
}

fn list(items: Vec<Doc>) -> Doc {
    let width = items.iter().map(|d| d.width + 2).sum::<usize>() + 2;
    Doc { width, kind: Kind::List(["[", "; ", "]"], items) }
}

fn tuple(items: Vec<Doc>) -> Doc {
    let width = items.iter().map(|d| d.width + 2).sum::<usize>() + 2;
    Doc { width, kind: Kind::List(["(", ", ", ")"], items) }
}

fn number(n: u32) -> Doc {
    atom(n.to_string())
}

impl Doc {
    /// Whether it needs brackets as an argument.
    fn is_open(&self) -> bool {
        match &self.kind {
            Kind::Atom(text) => text.contains(' ') && !text.starts_with('"'),
            Kind::App(_) | Kind::Lines(_) => true,
            Kind::List(..) => false,
        }
    }

    fn argument(&self, indent: usize, text: &mut String) {
        if self.is_open() {
            text.push('(');
            self.write(indent + 1, text);
            text.push(')');
        } else {
            self.write(indent, text);
        }
    }

    /// Writes it, with `indent` columns in front of further lines.
    fn write(&self, indent: usize, text: &mut String) {
        let column = text.len() - text.rfind('\n').map_or(0, |k| k + 1);
        let fits = column + self.width <= WIDTH;
        match &self.kind {
            Kind::Atom(word) => text.push_str(word),
            Kind::App(parts) => {
                let mut parts = parts.iter();
                if let Some(head) = parts.next() {
                    head.write(indent, text);
                }
                for part in parts {
                    // Small arguments stay in the line; large ones begin their own.
                    let column = text.len() - text.rfind('\n').map_or(0, |k| k + 1);
                    let multiple = matches!(part.kind, Kind::Lines(_));
                    if !multiple && (fits || column + part.width < WIDTH.min(indent + 60)) {
                        text.push(' ');
                        part.argument(indent + 2, text);
                    } else {
                        newline(indent + 2, text);
                        part.argument(indent + 2, text);
                    }
                }
            }
            Kind::List([open, separator, close], items) => {
                text.push_str(open);
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        text.push_str(separator.trim_end());
                        if fits { text.push(' ') } else { newline(column + 1, text) }
                    }
                    item.write(column + 1, text);
                }
                text.push_str(close);
            }
            Kind::Lines(items) => {
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        text.push_str(";;");
                        newline(indent, text);
                    }
                    item.write(indent, text);
                }
            }
        }
    }
}

fn newline(indent: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent.min(WIDTH / 2)));
}

/// Turns data into text, and gathers the names of operations on the way.
#[derive(Default)]
struct Printer {
    /// The identifier of each operation's name.
    operations: BTreeMap<String, String>,
    /// Constants of floating point.
    constants: BTreeSet<String>,
}

impl Printer {
    fn op(&mut self, op: &Op) -> Doc {
        atom(match op {
            Op::Iadd => "Iadd",
            Op::Isub => "Isub",
            Op::Imul => "Imul",
            Op::Idiv => "Idiv",
            Op::Imod => "Imod",
            Op::Imin => "Imin",
            Op::Imax => "Imax",
            Op::Iwrap => "Iwrap",
            Op::Wadd => "Wadd",
            Op::Wsub => "Wsub",
            Op::Wmul => "Wmul",
            Op::Wdiv => "Wdiv",
            Op::Ieq => "Ieq",
            Op::Ine => "Ine",
            Op::Ilt => "Ilt",
            Op::Ile => "Ile",
            Op::And => "And",
            Op::Or => "Or",
            Op::Not => "Not",
            Op::Select => "Select",
            Op::Scalar(name) => return atom(self.operation(name)),
        })
    }

    fn operation(&mut self, name: &str) -> String {
        self.operations.entry(name.to_owned()).or_insert_with(|| name.replace('.', "_")).clone()
    }

    fn constant(&mut self, text: &str) -> Doc {
        self.constants.insert(text.to_owned());
        quoted(text)
    }

    fn order(&mut self, order: &Order) -> Doc {
        match order {
            Order::InOrder => atom("InOrder"),
            Order::Blocks(q, m) => app("Blocks", vec![self.tm(q), self.tm(m)]),
            Order::Tree(q, m, zero) => app("Tree", vec![self.tm(q), self.tm(m), self.constant(zero)]),
            Order::Lanes(q, m, zero) => app("Lanes", vec![self.tm(q), self.tm(m), self.constant(zero)]),
            Order::Joined(order) => app("Joined", vec![self.order(order)]),
            Order::Turns => atom("Turns"),
            Order::Strips(q, m) => app("Strips", vec![self.tm(q), self.tm(m)]),
        }
    }

    fn tms(&mut self, ts: &[Tm]) -> Doc {
        let items = ts.iter().map(|t| self.tm(t)).collect();
        list(items)
    }

    fn tm(&mut self, t: &Tm) -> Doc {
        match t {
            Tm::Var(x) => atom(format!("Var {x}")),
            Tm::Int(z) => int(*z),
            Tm::Lit(text) => app("Lit", vec![self.constant(text)]),
            Tm::Op(op, ts) => {
                let op = self.op(op);
                app("Op", vec![op, self.tms(ts)])
            }
            Tm::In(a, cs, is) => app("In", vec![number(*a), components(cs), self.tms(is)]),
        }
    }

    fn shape(&mut self, shape: &Shape) -> Doc {
        let tables = shape.iter().map(|(cs, dims)| tuple(vec![components(cs), self.tms(dims)])).collect();
        list(tables)
    }

    fn tables(&mut self, tables: &Tables) -> Doc {
        let one = |(cs, ty, extents): &(Vec<bool>, Ty, Vec<Tm>)| {
            let ty = match ty {
                Ty::Num(name) => app("Num", vec![quoted(name)]),
                Ty::Below(n) => app("Below", vec![self.tm(n)]),
            };
            tuple(vec![components(cs), tuple(vec![ty, self.tms(extents)])])
        };
        list(tables.iter().map(one).collect())
    }

    fn array(&mut self, array: &ArrayType) -> Doc {
        let parts = array.components.iter().map(|(cs, ty)| tuple(vec![components(cs), quoted(ty)])).collect();
        tuple(vec![list(parts), self.tms(&array.extents)])
    }

    fn cmd(&mut self, c: &Cmd) -> Doc {
        match c {
            Cmd::Skip => atom("Skip"),
            Cmd::Seq(..) => {
                let (mut lines, mut rest) = (Vec::new(), c);
                while let Cmd::Seq(a, b) = rest {
                    // A sequence in front is brackets, not a list.
                    let first = self.cmd(a);
                    let nested = matches!(first.kind, Kind::Lines(_));
                    lines.push(if nested { bracketed(first) } else { first });
                    rest = b;
                }
                lines.push(self.cmd(rest));
                Doc { width: WIDTH, kind: Kind::Lines(lines) }
            }
            Cmd::Assign { array, components: cs, subscripts, value } => {
                let (is, value) = (self.tms(subscripts), self.tm(value));
                app("Assign", vec![number(*array), components(cs), is, value])
            }
            Cmd::Local(w, body) => {
                let body = self.cmd(body);
                app("Local", vec![number(*w), own_line(body)])
            }
            Cmd::For { parallel, var, count, body } => {
                let (count, body) = (self.tm(count), self.cmd(body));
                app("For", vec![atom(parallel.to_string()), number(*var), count, own_line(body)])
            }
            Cmd::If(cond, yes, no) => {
                let (cond, yes, no) = (self.tm(cond), self.cmd(yes), self.cmd(no));
                app("If", vec![cond, own_line(yes), own_line(no)])
            }
        }
    }

    fn view(&mut self, view: &View) -> Doc {
        match view {
            View::Split(k) => app("Vsplit", vec![self.tm(k)]),
            View::Join(n) => app("Vjoin", vec![self.tm(n)]),
            View::Transpose => atom("Vtranspose"),
            View::Reverse(n) => app("Vreverse", vec![self.tm(n)]),
            View::Slide(s) => app("Vslide", vec![self.tm(s)]),
            View::Drop(k) => app("Vdrop", vec![self.tm(k)]),
            View::PadClamp(l, n) => app("Vpadclamp", vec![self.tm(l), self.tm(n)]),
            View::Splat => atom("Vsplat"),
        }
    }

    fn exps(&mut self, es: &[Exp]) -> Vec<Doc> {
        es.iter().map(|e| self.exp(e)).collect()
    }

    fn exp(&mut self, e: &Exp) -> Doc {
        let (head, args) = match e {
            Exp::Var(x) => return atom(format!("EVar {x}")),
            Exp::Size(t) => ("ESize", vec![self.tm(t)]),
            Exp::Lit(text) => ("ELit", vec![self.constant(text)]),
            Exp::Op(op, es) => ("EOp", vec![self.op(op), list(self.exps(es))]),
            Exp::Select(es) => ("ESelect", self.exps(&es[..])),
            Exp::Pair(es) => ("EPair", self.exps(&es[..])),
            Exp::Fst(e) => ("EFst", vec![self.exp(e)]),
            Exp::Snd(e) => ("ESnd", vec![self.exp(e)]),
            Exp::Let(x, es) => ("ELet", self.with(vec![number(*x)], &es[..])),
            Exp::Map(x, es) => ("EMap", self.with(vec![number(*x)], &es[..])),
            Exp::Reduce(n, shape, order, [x, a], es) => {
                let front = vec![self.tm(n), self.shape(shape), self.order(order), number(*x), number(*a)];
                ("EReduce", self.with(front, &es[..]))
            }
            Exp::Scan(n, shape, [x, a], es) => {
                let front = vec![self.tm(n), self.shape(shape), number(*x), number(*a)];
                ("EScan", self.with(front, &es[..]))
            }
            Exp::Iterate(n, shape, twice, a, es) => {
                let front = vec![self.tm(n), self.shape(shape), atom(twice.to_string()), number(*a)];
                ("EIterate", self.with(front, &es[..]))
            }
            Exp::Generate(x, e) => ("EGenerate", vec![number(*x), self.exp(e)]),
            Exp::View(view, e) => ("EView", vec![self.view(view), self.exp(e)]),
            Exp::Pad(l, n, es) => {
                let front = vec![self.tm(l), self.tm(n)];
                ("EPad", self.with(front, &es[..]))
            }
            Exp::Concat(n, es) => {
                let front = vec![self.tm(n)];
                ("EConcat", self.with(front, &es[..]))
            }
            Exp::Gather(es) => ("EGather", self.exps(&es[..])),
            Exp::Reorder(x, es) => ("EReorder", self.with(vec![number(*x)], &es[..])),
            Exp::Idx(es) => ("EIdx", self.exps(&es[..])),
            Exp::Scatter(n, shape, es) => {
                let front = vec![self.tm(n), self.shape(shape)];
                ("EScatter", self.with(front, &es[..]))
            }
        };
        app(head, args)
    }

    fn law(&mut self, law: &Law) -> Doc {
        match law {
            Law::Commutes(op) => app("Commutes", vec![quoted(op)]),
            Law::Associates(op) => app("Associates", vec![quoted(op)]),
            Law::Neutral(zero, op) => app("Neutral", vec![self.constant(zero), quoted(op)]),
        }
    }

    fn with(&mut self, front: Vec<Doc>, es: &[Exp]) -> Vec<Doc> {
        front.into_iter().chain(self.exps(es)).collect()
    }
}

/// A body begins its own line.
fn own_line(body: Doc) -> Doc {
    match body.kind {
        Kind::Atom(_) | Kind::Lines(_) => body,
        _ => Doc { width: body.width.max(WIDTH), kind: Kind::Lines(vec![body]) },
    }
}

fn bracketed(doc: Doc) -> Doc {
    Doc { width: doc.width + 2, kind: Kind::List(["(", "", ")"], vec![doc]) }
}

fn int(z: i64) -> Doc {
    if z < 0 { atom(format!("Int ({z})")) } else { atom(format!("Int {z}")) }
}

fn plain_int(z: i64) -> Doc {
    atom(if z < 0 { format!("({z})%Z") } else { format!("{z}%Z") })
}

/// Text in quotes; names and constants have none inside.
fn quoted(text: &str) -> Doc {
    atom(format!("\"{}\"", text.replace('"', "\"\"")))
}

fn components(cs: &[bool]) -> Doc {
    list(cs.iter().map(|c| atom(c.to_string())).collect())
}

/// The number that a constant of floating point is.
pub(super) fn decimal(text: &str) -> Option<String> {
    let (ty, bits) = text.split_once(' ')?;
    match ty {
        "f32" => Some(f32::from_bits(u32::from_str_radix(bits, 16).ok()?).to_string()),
        "f64" => Some(f64::from_bits(u64::from_str_radix(bits, 16).ok()?).to_string()),
        _ => None,
    }
}

/// Names for a comment: without what would end or begin one.
fn legend(names: &[(u32, String)]) -> String {
    let one = |(n, name): &(u32, String)| format!("{n} {}", name.replace(['(', ')', '*', '"'], "_"));
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Certificate {
    /// The certificate as Coq sentences in a module of this name: the data as `c`, which needs only
    /// `Syntax.v`.
    ///
    /// `after` follows the data. The name of the module is [`module_name`] of `name`.
    pub fn to_module(&self, name: &str, after: &str) -> String {
        let name = module_name(name);
        let mut printer = Printer::default();
        let mut fields = Vec::new();
        fields.push(("sizes", number(self.sizes)));
        fields.push(("assume", printer.tms(&self.assume)));
        fields.push(("example", list(self.example.iter().map(|n| plain_int(*n)).collect())));
        let args = self.args.iter().map(|(a, ty)| tuple(vec![number(*a), printer.tables(ty)])).collect();
        fields.push(("args", list(args)));
        fields.push(("returns", printer.tables(&self.returns)));
        fields.push(("source", printer.exp(&self.source)));
        let dims = self.dims.iter().map(|(a, array)| tuple(vec![number(*a), printer.array(array)])).collect();
        fields.push(("dims", list(dims)));
        fields.push(("out", number(self.out)));
        fields.push(("laws", list(self.laws.iter().map(|law| printer.law(law)).collect())));
        let sums = self.sums.iter().map(|(x, zero)| tuple(vec![number(*x), printer.tm(zero)])).collect();
        fields.push(("sums", list(sums)));
        fields.push(("target", printer.cmd(&self.target)));
        let mut text = format!("Module {name}.\n");
        let legends = [
            ("arrays", &self.names.arrays),
            ("sizes and loop variables", &self.names.integers),
            ("variables of the program", &self.names.variables),
        ];
        for (what, names) in legends {
            if !names.is_empty() {
                let _ = writeln!(text, "(* {what}: {} *)", legend(names));
            }
        }
        let explain = |text: &String| Some(format!("{text} is {}", decimal(text)?));
        let constants: Vec<String> = printer.constants.iter().filter_map(explain).collect();
        if !constants.is_empty() {
            let _ = writeln!(text, "(* constants: {} *)", constants.join(", "));
        }
        for (name, identifier) in &printer.operations {
            let _ = writeln!(text, "Definition {identifier} := Scalar \"{name}\".");
        }
        text.push_str("Definition c : certificate := {|");
        for (k, (name, doc)) in fields.iter().enumerate() {
            if k > 0 {
                text.push(';');
            }
            let _ = write!(text, "\n  {name} :=");
            if matches!(*name, "source" | "target") {
                newline(4, &mut text);
            } else {
                text.push(' ');
            }
            doc.write(4, &mut text);
        }
        text.push_str(" |}.\n");
        text.push_str(after);
        let _ = writeln!(text, "End {name}.");
        text
    }

    /// A whole file: the certificate, the theorem that the checker makes of it, and the question
    /// what the theorem rests on.
    pub fn to_coq(&self, name: &str) -> String {
        self.file(name, "ok")
    }

    /// The same file for users who already know what `accept_sound` rests on: it asks only about
    /// the data. The theorem is `accept_sound` of these. So both answers together are that of
    /// [`Certificate::to_coq`], for which Coq reads every proof of the theory.
    pub fn to_claim(&self, name: &str) -> String {
        self.file(name, "c")
    }

    /// What Coq prints of the theorem in [`Certificate::to_coq`], with one space between words.
    pub fn statement(name: &str) -> String {
        let name = module_name(name);
        format!("{name}.ok : correct {name}.c")
    }

    fn file(&self, name: &str, asked: &str) -> String {
        let theorem =
            "Theorem ok : correct c.\nProof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.\n";
        let (module, own) = (self.to_module(name, theorem), module_name(name));
        format!("{HEAD}\n{module}Check {own}.ok.\nPrint Assumptions {own}.{asked}.\n")
    }
}

/// The module of a definition of this name. With a prefix, no name is a word of Coq's or of the
/// theory's.
pub fn module_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("m_{plain}")
}

/// What stands in front of certificates.
pub const HEAD: &str = "\
From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation \"a ;; b\" := (Seq a b) (at level 100, right associativity).
";
