//! Acceptors, expressions and terms as text.

use functional::{Arg, Group, Lambda, Literal, Prim, Term, TermKind};
use loops::{BinaryOp, Scalar};

use super::Printer;
use crate::env::Env;
use crate::phrase::{Acc, AccKind, AccView, Exp, ExpArg, ExpKind, Fun, PVar, Role, Step};

impl Printer<'_> {
    pub(super) fn acc_atom(&mut self, a: &Acc) {
        let atom = !matches!(a.kind(), AccKind::View(..));
        self.parenthesised(!atom, |p| p.acc(a));
    }

    pub(super) fn parenthesised(&mut self, yes: bool, body: impl FnOnce(&mut Self)) {
        self.text(if yes { "(" } else { "" });
        body(self);
        self.text(if yes { ")" } else { "" });
    }

    pub(super) fn acc(&mut self, a: &Acc) {
        match a.kind() {
            AccKind::Var(v) => match self.bindings.get_acc(v) {
                Some(acc) if !self.bound.contains(&v.id) => self.acc_atom(&acc.clone()),
                _ => {
                    let half = if v.role == Role::Memory { ".1" } else { "" };
                    self.text(&format!("{}{half}", v.name));
                }
            },
            AccKind::At(inner, i) => {
                self.acc_atom(inner);
                self.text("{");
                self.exp(i);
                self.text("}");
            }
            AccKind::View(view, inner) => {
                self.text(&acc_view(view));
                self.text(" ");
                self.acc_atom(inner);
            }
        }
    }

    pub(super) fn path(&mut self, path: &[Step]) {
        self.text(", [");
        for (k, step) in path.iter().rev().enumerate() {
            self.text(if k > 0 { "; " } else { "" });
            match step {
                Step::At(i) => self.exp(i),
                Step::First => self.text(".x1"),
                Step::Second => self.text(".x2"),
            }
        }
        self.text("]");
    }

    pub(super) fn exp_atom(&mut self, e: &Exp) {
        let atom = match e.kind() {
            ExpKind::Var(v) => {
                return match self.standing(v) {
                    Some(value) => self.exp_atom(&value),
                    None => self.exp(e),
                };
            }
            ExpKind::Literal(_) => true,
            ExpKind::Size(s) => s.as_constant().is_some() || s.as_param().is_some(),
            ExpKind::Prim(prim, args) => *prim == Prim::Index || *prim == Prim::Pair || args.is_empty(),
            ExpKind::Closure(term, _) => atomic(term),
            ExpKind::Arith(..) => false,
        };
        self.parenthesised(!atom, |p| p.exp(e));
    }

    pub(super) fn standing(&self, v: &PVar) -> Option<Exp> {
        if self.bound.contains(&v.id) {
            return None;
        }
        self.local.get(&v.id).or_else(|| self.bindings.get(v)).cloned()
    }

    pub(super) fn exp(&mut self, e: &Exp) {
        if self.cut {
            return;
        }
        match e.kind() {
            ExpKind::Var(v) => match self.standing(v) {
                Some(value) => self.exp(&value),
                None => {
                    let half = if v.role == Role::Memory { ".2" } else { "" };
                    self.text(&format!("{}{half}", v.name));
                }
            },
            ExpKind::Literal(value) => self.text(&literal(*value)),
            ExpKind::Size(s) => self.text(&s.to_string()),
            ExpKind::Closure(term, env) => self.term(term, env),
            ExpKind::Arith(op, a, b) => {
                let word = match op {
                    BinaryOp::Add => " + ",
                    BinaryOp::Sub => " - ",
                    BinaryOp::Mul => " * ",
                    BinaryOp::FloorDiv => " / ",
                    BinaryOp::Mod => " % ",
                    BinaryOp::Min => " min ",
                    _ => " max ",
                };
                self.exp_atom(a);
                self.text(word);
                self.exp_atom(b);
            }
            ExpKind::Prim(prim, args) => self.application(*prim, args, &mut |p, arg, atom| match arg {
                ExpArg::Size(s) => p.text(&format!("({s})")),
                ExpArg::Fun(f) => p.function(f),
                ExpArg::Exp(e) if atom => p.exp_atom(e),
                ExpArg::Exp(e) => p.exp(e),
            }),
        }
    }

    pub(super) fn function(&mut self, f: &Fun) {
        self.lambda(&f.params, &f.body, &f.env);
    }

    pub(super) fn lambda(&mut self, params: &[functional::Binder], body: &Term, env: &Env) {
        self.text("(λ");
        for (k, param) in params.iter().enumerate() {
            self.text(if k > 0 { " " } else { "" });
            self.text(&param.var.name);
        }
        self.text(". ");
        self.term(body, env);
        self.text(")");
    }

    /// A term whose free variables stand for what the environment says.
    pub(super) fn term(&mut self, term: &Term, env: &Env) {
        if self.cut {
            return;
        }
        match term.kind() {
            TermKind::Var(v) => match env.get(v) {
                Some(e) => {
                    let e = e.clone();
                    self.exp(&e);
                }
                None => self.text(&v.name),
            },
            TermKind::Literal(value) => self.text(&literal(*value)),
            TermKind::Size(s) => self.text(&s.to_string()),
            TermKind::Let(b, value, body) => {
                self.text(&format!("let {} = ", b.var.name));
                self.term(value, env);
                self.text(" in ");
                self.term(body, env);
            }
            TermKind::Prim(prim, args) => self.application(*prim, args, &mut |p, arg, atom| match arg {
                Arg::Size(s) => p.text(&format!("({s})")),
                Arg::Fun(Lambda { params, body }) => p.lambda(params, body, env),
                Arg::Term(t) => {
                    let exp = Exp::closure(t, env);
                    match exp.kind() {
                        ExpKind::Closure(..) => p.parenthesised(atom && !atomic(t), |p| p.term(t, env)),
                        _ if atom => p.exp_atom(&exp),
                        _ => p.exp(&exp),
                    }
                }
            }),
        }
    }

    /// A primitive applied to arguments, whatever they are.
    pub(super) fn application<T>(
        &mut self,
        prim: Prim,
        args: &[T],
        arg: &mut dyn FnMut(&mut Self, &T, bool),
    ) {
        match (prim, args) {
            (Prim::Index, [a, i]) => {
                arg(self, a, true);
                self.text("[");
                arg(self, i, false);
                self.text("]");
            }
            (Prim::Pair, [a, b]) => {
                self.text("(");
                arg(self, a, false);
                self.text(", ");
                arg(self, b, false);
                self.text(")");
            }
            (_, [a, b]) if infix(prim).is_some() => {
                arg(self, a, true);
                self.text(&format!(" {} ", infix(prim).unwrap_or_default()));
                arg(self, b, true);
            }
            _ => {
                self.text(prim.name());
                for a in args {
                    self.text(" ");
                    arg(self, a, true);
                }
            }
        }
    }

    /// An operator with `CodeGen_exp` of its operands.
    pub(super) fn operator(&mut self, e: &Exp) {
        let ExpKind::Prim(prim, args) = e.kind() else { return self.exp(e) };
        let mut operand = |p: &mut Self, arg: &ExpArg, _| match arg {
            ExpArg::Exp(e) => {
                p.text("CodeGen_exp(");
                p.exp(e);
                p.text(", [])");
            }
            ExpArg::Size(s) => p.text(&format!("({s})")),
            ExpArg::Fun(f) => p.function(f),
        };
        self.application(*prim, args, &mut operand);
    }
}

fn atomic(term: &Term) -> bool {
    match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) => true,
        TermKind::Size(s) => s.as_constant().is_some() || s.as_param().is_some(),
        TermKind::Let(..) => false,
        TermKind::Prim(prim, args) => matches!(prim, Prim::Index | Prim::Pair) || args.is_empty(),
    }
}

fn infix(prim: Prim) -> Option<&'static str> {
    if prim.info().group != Group::Scalar {
        return None;
    }
    Some(match prim {
        Prim::Add => "+",
        Prim::Sub => "-",
        Prim::Mul => "*",
        Prim::Div => "/",
        Prim::Mod => "%",
        Prim::Eq => "==",
        Prim::Ne => "!=",
        Prim::Lt => "<",
        Prim::Le => "<=",
        Prim::Gt => ">",
        Prim::Ge => ">=",
        Prim::And => "&&",
        Prim::Or => "||",
        _ => return None,
    })
}

fn literal(value: Literal) -> String {
    match value {
        Literal::F32(bits) => f32::from_bits(bits).to_string(),
        Literal::F64(bits) => f64::from_bits(bits).to_string(),
        Literal::I32(value) => value.to_string(),
        Literal::I64(value) => value.to_string(),
        Literal::Integer(Scalar::U64, value) => (value as u64).to_string(),
        Literal::Integer(_, value) => value.to_string(),
        Literal::Bool(value) => value.to_string(),
    }
}

/// The name of a view of acceptors.
fn acc_view(view: &AccView) -> String {
    let name = match view {
        AccView::Zip1 => "zipAcc1",
        AccView::Zip2 => "zipAcc2",
        AccView::Split(_) => "splitAcc",
        AccView::Join(_) => "joinAcc",
        AccView::Pair1 => "pairAcc1",
        AccView::Pair2 => "pairAcc2",
        AccView::Transpose => "transposeAcc",
        AccView::Reverse(_) => "reverseAcc",
        AccView::Take => "takeAcc",
        AccView::Drop(k) => return format!("dropAcc ({k})"),
        AccView::Unzip => "unzipAcc",
        AccView::AsVector(_) => "asVectorAcc",
        AccView::AsScalar(_) => "asScalarAcc",
        AccView::Map(view) => return format!("mapAcc ({})", acc_view(view)),
    };
    name.to_owned()
}
