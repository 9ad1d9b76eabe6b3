//! The textual form of phrases and derivations, in the paper's notation.
//!
//! Memory that `new` declares has a write half `v.1` and a read half `v.2`. `a{i}` is an element of
//! an acceptor, `e[i]` of an expression. A variable that stands for an expression prints as that
//! expression. A side of a step is cut if it gets long.

mod exp;

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use loops::{Access, Expr, LoopKind, ReduceOp};

use crate::derivation::{Bindings, Derivation, Phrase};
use crate::phrase::{Acc, Comm, CommKind, Exp, Folding, Macro, PVar, Then};

/// Characters of one side of a step.
const SIDE: usize = 2_000;

/// The commands on several lines, whole.
pub fn commands(comm: &Comm, bindings: &Bindings) -> String {
    let mut printer = Printer::new(bindings, usize::MAX, true);
    printer.comm(comm);
    printer.out
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stage = "";
        for step in &self.steps {
            let next = if step.rule.starts_with("cg") { "code generation" } else { "commands" };
            if next != stage {
                writeln!(f, "{}-- {next}", if stage.is_empty() { "" } else { "\n" })?;
                stage = next;
            }
            let before = side(&step.before, &self.bindings);
            let after = side(&step.after, &self.bindings);
            writeln!(f, "{before}\n  = {after}    ({})", step.rule)?;
        }
        Ok(())
    }
}

/// One side of a step on one line.
fn side(phrase: &Phrase, bindings: &Bindings) -> String {
    let mut p = Printer::new(bindings, SIDE, false);
    match phrase {
        Phrase::Comm(c) => p.comm(c),
        Phrase::GenComm(c) => p.gen_comm(c),
        Phrase::GenAcc(a, path) => {
            p.text("CodeGen_acc(");
            p.acc(a);
            p.path(path);
            p.text(")");
        }
        Phrase::GenExp(e, path) => {
            p.text("CodeGen_exp(");
            p.exp(e);
            p.path(path);
            p.text(")");
        }
        Phrase::GenOp(e) => p.operator(e),
        Phrase::Access(a) => p.text(&access(a)),
        Phrase::Expr(e) => p.text(&expr(e)),
        Phrase::Assign(a, e) => {
            p.text("CodeGen_acc(");
            p.acc(a);
            p.text(", []) = CodeGen_exp(");
            p.exp(e);
            p.text(", []);");
        }
        Phrase::Declare(name, body) => {
            p.text(&format!("CodeGen_data({name}); "));
            p.gen_comm(body);
        }
        Phrase::Loop(kind, name, n, body) => {
            p.text(&format!("{} ({name} < {n}) {{ ", loop_word(*kind)));
            p.gen_comm(body);
            p.text(" }");
        }
        Phrase::Both(a, b) => {
            p.gen_comm(a);
            p.text(" ");
            p.gen_comm(b);
        }
        Phrase::Remark(text) => p.text(&format!("/* {text} */")),
    }
    p.out
}

fn loop_word(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Sequential => "for",
        LoopKind::Parallel => "parallel for",
        LoopKind::Vector => "vector for",
        LoopKind::Unroll(_) => "unrolled for",
    }
}

fn access(a: &Access) -> String {
    let mut text = a.array.to_string();
    for index in &a.indices {
        let _ = write!(text, "[{}]", expr(index));
    }
    for component in &a.path {
        text.push_str(match component {
            loops::Component::First => ".x1",
            loops::Component::Second => ".x2",
        });
    }
    text
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Load(a) => access(a),
        other => other.to_string(),
    }
}

struct Printer<'b> {
    bindings: &'b Bindings,
    out: String,
    limit: usize,
    /// Whether commands are laid out on lines.
    lines: bool,
    indent: usize,
    cut: bool,
    /// Variables bound by a λ that is being printed.
    bound: Vec<u32>,
    /// What variables stand for where the table of the translation says more than this place knows.
    local: HashMap<u32, Exp>,
}

impl<'b> Printer<'b> {
    fn new(bindings: &'b Bindings, limit: usize, lines: bool) -> Printer<'b> {
        Printer {
            bindings,
            out: String::new(),
            limit,
            lines,
            indent: 0,
            cut: false,
            bound: Vec::new(),
            local: HashMap::new(),
        }
    }

    fn text(&mut self, text: &str) {
        if self.cut {
            return;
        }
        self.out.push_str(text);
        if self.out.len() > self.limit {
            self.out.push('…');
            self.cut = true;
        }
    }

    fn newline(&mut self) {
        if self.lines {
            let indent = self.indent;
            self.text("\n");
            self.text(&"  ".repeat(indent));
        } else {
            self.text(" ");
        }
    }

    /// `(λvars. body)` on lines of its own.
    fn block(&mut self, vars: &[&PVar], body: &Comm) {
        self.text("(λ");
        for (k, var) in vars.iter().enumerate() {
            self.text(if k > 0 { " " } else { "" });
            self.text(&var.name);
        }
        self.text(".");
        let depth = self.bound.len();
        self.bound.extend(vars.iter().map(|v| v.id));
        self.indent += 1;
        self.newline();
        self.comm(body);
        self.indent -= 1;
        self.bound.truncate(depth);
        self.text(")");
    }

    fn gen_comm(&mut self, c: &Comm) {
        self.text("CodeGen_comm(");
        self.comm(c);
        self.text(")");
    }

    fn comm(&mut self, comm: &Comm) {
        if self.cut {
            return;
        }
        match comm.kind() {
            CommKind::Skip => self.text("skip"),
            CommKind::Seq(a, b) => {
                self.comm(a);
                self.text(";");
                self.newline();
                self.comm(b);
            }
            CommKind::Assign(a, e) => {
                self.acc(a);
                self.text(" := ");
                self.exp(e);
            }
            CommKind::Accumulate(op, a, e) => {
                self.acc(a);
                self.text(&format!(" {}:= ", reduce_word(*op)));
                self.exp(e);
            }
            CommKind::New(v, ty, c) => {
                self.text(&format!("new {ty} "));
                self.block(&[v], c);
            }
            CommKind::Alias(v, a, c) => {
                self.text("alias ");
                self.acc_atom(a);
                self.text(" ");
                self.block(&[v], c);
            }
            CommKind::Update(v, _, o, c) => {
                self.text(&format!("update {} ", v.name));
                self.block(&[o], c);
            }
            CommKind::SeqFor(kind, n, i, c) => {
                let word = if *kind == LoopKind::Sequential { "seqfor" } else { "unrollfor" };
                self.text(&format!("{word} ({n}) "));
                self.block(&[i], c);
            }
            CommKind::ParFor { kind, n, out, index, o, body } => {
                let word = if *kind == LoopKind::Vector { "vecfor" } else { "parfor" };
                self.text(&format!("{word} ({n}) "));
                self.acc_atom(out);
                self.text(" ");
                self.block(&[index, o], body);
            }
            CommKind::ReduceFor(op, v, n, i, c) => {
                self.text(&format!("reducefor {} {} ({n}) ", reduce_word(*op), v.name));
                self.block(&[i], c);
            }
            CommKind::If(cond, a, b) => {
                self.text("if ");
                self.exp(cond);
                self.text(" (");
                self.comm(a);
                self.text(") (");
                self.comm(b);
                self.text(")");
            }
            CommKind::Branch(cond, a, b, then) => {
                self.text("branch ");
                self.exp_atom(cond);
                self.text(" ");
                self.exp_atom(a);
                self.text(" ");
                self.exp_atom(b);
                self.then(then);
            }
            CommKind::A(e, a) => {
                self.text("A(");
                self.exp(e);
                self.text(")(");
                self.acc(a);
                self.text(")");
            }
            CommKind::C(e, _, x, c) => {
                self.text("C(");
                self.exp(e);
                self.text(")");
                self.block(&[x], c);
            }
            CommKind::Bind(x, e, c) => {
                let old = self.local.insert(x.id, e.clone());
                self.comm(c);
                match old {
                    Some(e) => self.local.insert(x.id, e),
                    None => self.local.remove(&x.id),
                };
            }
            CommKind::Share(x, e, c) => {
                self.text("share ");
                self.exp_atom(e);
                self.text(" ");
                self.block(&[x], c);
            }
            CommKind::Macro(m) => self.macro_(m),
            CommKind::Yield(e) => {
                self.text("yield ");
                self.exp_atom(e);
            }
        }
    }

    fn then(&mut self, then: &Then) {
        self.text(" ");
        match then {
            Then::Continue(x, c) => self.block(&[x], c),
            Then::Into(a) => self.acc_atom(a),
        }
    }

    fn folding(&mut self, f: &Folding) {
        self.block(&[&f.x, &f.y, &f.o], &f.body);
    }

    fn macro_(&mut self, m: &Macro) {
        match m {
            Macro::Map { kind, y, o, body, xs, out } => {
                self.text(match kind {
                    LoopKind::Sequential => "mapSeqI ",
                    LoopKind::Parallel => "mapParI ",
                    LoopKind::Vector => "mapVecI ",
                    LoopKind::Unroll(_) => "mapUnrollI ",
                });
                self.block(&[y, o], body);
                self.text(" ");
                self.exp_atom(xs);
                self.text(" ");
                self.acc_atom(out);
            }
            Macro::Reduce { kind, f, init, xs, then } => {
                self.text(if *kind == LoopKind::Sequential { "reduceSeqI " } else { "reduceUnrollI " });
                self.folding(f);
                self.text(" ");
                self.exp_atom(init);
                self.text(" ");
                self.exp_atom(xs);
                self.then(then);
            }
            Macro::ReducePar { op, x, value, init, xs, then } => {
                self.text(&format!("reduceParI {} (λ{}. ", reduce_word(*op), x.name));
                self.bound.push(x.id);
                self.exp(value);
                self.bound.pop();
                self.text(") ");
                self.exp_atom(init);
                self.text(" ");
                self.exp_atom(xs);
                self.text(" ");
                self.block(&[&then.0], &then.1);
            }
            Macro::Scan { f, init, xs, out } => {
                self.text("scanSeqI ");
                self.folding(f);
                self.text(" ");
                self.exp_atom(init);
                self.text(" ");
                self.exp_atom(xs);
                self.text(" ");
                self.acc_atom(out);
            }
            Macro::ReduceByIndex { f, is, xs, out } => {
                self.text("reduceByIndexI ");
                self.folding(f);
                for e in [is, xs] {
                    self.text(" ");
                    self.exp_atom(e);
                }
                self.text(" ");
                self.acc_atom(out);
            }
            Macro::ReverseSeq(xs, out) => self.simple("reverseSeqI", &[xs], out),
            Macro::CopySeq(xs, out) => self.simple("copySeqI", &[xs], out),
            Macro::TransPar(xs, out) => self.simple("transParI", &[xs], out),
            Macro::Scatter(is, xs, out) => self.simple("scatterI", &[is, xs], out),
        }
    }

    fn simple(&mut self, name: &str, exps: &[&Exp], out: &Acc) {
        self.text(name);
        for e in exps {
            self.text(" ");
            self.exp_atom(e);
        }
        self.text(" ");
        self.acc_atom(out);
    }
}

fn reduce_word(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "+",
        ReduceOp::Mul => "*",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "&&",
        ReduceOp::Or => "||",
    }
}
