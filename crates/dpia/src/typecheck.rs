//! The type checker of phrases, pending nodes included. In tests it checks every step of a
//! derivation.
//!
//! The function that types core terms also types primitives here, so the two languages cannot drift
//! apart. Closures carry terms that the checker of the language has checked. Only their types count
//! here.

use functional::facts::SizeFacts;
use functional::term::{Arg, Lambda, Term, TermKind, Var};
use functional::typing::type_of;
use functional::{DataType, Prim};
use loops::{Scalar, Size};

use crate::derivation::{Bindings, Phrase};
use crate::phrase::{
    Acc, AccKind, AccView, Comm, CommKind, Exp, ExpArg, ExpKind, Macro, Role, Step, Then, element, length,
};

type Result<T> = std::result::Result<T, String>;

/// Checks a side of a step.
///
/// # Errors
/// The first node whose parts do not fit.
pub fn check(phrase: &Phrase, bindings: &Bindings, facts: &SizeFacts) -> Result<()> {
    let checker = Checker { bindings, facts };
    match phrase {
        Phrase::Comm(c) | Phrase::GenComm(c) => checker.comm(c),
        Phrase::GenAcc(a, path) => {
            checker.acc(a)?;
            checker.path(a.ty(), path)
        }
        Phrase::GenExp(e, path) => {
            checker.exp(e)?;
            checker.path(e.ty(), path)
        }
        Phrase::GenOp(e) => checker.exp(e),
        Phrase::Assign(a, e) => checker.assign(a, e),
        Phrase::Declare(_, c) | Phrase::Loop(_, _, _, c) => checker.comm(c),
        Phrase::Both(a, b) => {
            checker.comm(a)?;
            checker.comm(b)
        }
        Phrase::Access(_) | Phrase::Expr(_) | Phrase::Remark(_) => Ok(()),
    }
}

struct Checker<'b> {
    bindings: &'b Bindings,
    facts: &'b SizeFacts,
}

impl Checker<'_> {
    fn same(&self, what: &str, a: &DataType, b: &DataType) -> Result<()> {
        // An index may stand where its value is asked for, and the other way round where a view
        // computes it.
        let scalar = |t: &DataType| matches!(t, DataType::Idx(_) | DataType::Scalar(Scalar::I64));
        if self.facts.same_type(a, b) || (scalar(a) && scalar(b)) {
            return Ok(());
        }
        match (a, b) {
            (DataType::Array(n, s), DataType::Array(m, t)) if self.facts.equal(n, m) => self.same(what, s, t),
            (DataType::Pair(s1, t1), DataType::Pair(s2, t2)) => {
                self.same(what, s1, s2)?;
                self.same(what, t1, t2)
            }
            _ => Err(format!("{what}: {a} is not {b}")),
        }
    }

    fn path(&self, ty: &DataType, path: &[Step]) -> Result<()> {
        let mut ty = ty.clone();
        for step in path.iter().rev() {
            ty = match (step, &ty) {
                (Step::At(i), _) => {
                    self.index(i)?;
                    element(&ty).ok_or_else(|| format!("path: {ty} has no elements"))?
                }
                (Step::First, DataType::Pair(a, _)) => (**a).clone(),
                (Step::Second, DataType::Pair(_, b)) => (**b).clone(),
                _ => return Err(format!("path: {ty} has no components")),
            };
        }
        Ok(())
    }

    fn index(&self, i: &Exp) -> Result<()> {
        self.exp(i)?;
        match i.ty() {
            DataType::Idx(_) | DataType::Scalar(Scalar::I64) => Ok(()),
            other => Err(format!("index: {other} is no index")),
        }
    }

    fn exp(&self, e: &Exp) -> Result<()> {
        match e.kind() {
            ExpKind::Var(v) => match (v.role, self.bindings.get(v)) {
                (Role::Expression { .. }, Some(value)) => self.same("binding", value.ty(), e.ty()),
                _ => Ok(()),
            },
            ExpKind::Literal(value) => self.same("literal", e.ty(), &DataType::Scalar(value.scalar())),
            ExpKind::Size(_) => self.same("size", e.ty(), &DataType::Scalar(Scalar::I64)),
            ExpKind::Closure(term, _) => self.same("closure", e.ty(), term.ty()),
            ExpKind::Arith(_, a, b) => {
                self.index(a)?;
                self.index(b)?;
                self.same("arithmetic", e.ty(), &DataType::Scalar(Scalar::I64))
            }
            ExpKind::Prim(prim, args) => {
                for arg in args {
                    if let ExpArg::Exp(arg) = arg {
                        self.exp(arg)?;
                    }
                }
                self.prim(e, *prim, args)
            }
        }
    }

    fn prim(&self, e: &Exp, prim: Prim, args: &[ExpArg]) -> Result<()> {
        // Elements of arrays and lanes of vectors; an index that a view computes has a type that
        // only bounds it.
        if let (Prim::Index, [ExpArg::Exp(a), ExpArg::Exp(i)]) = (prim, args) {
            self.index(i)?;
            let elem = element(a.ty()).ok_or_else(|| format!("[]: {} has no elements", a.ty()))?;
            return self.same("[]", e.ty(), &elem);
        }
        if let (Prim::Iota, [ExpArg::Size(n)]) = (prim, args) {
            return self.same("iota", e.ty(), &DataType::array(n.clone(), Scalar::I64.into()));
        }
        // Comparisons and conjunctions that views make are of indices.
        if matches!(prim, Prim::Lt | Prim::Le)
            && matches!(e.ty(), DataType::Scalar(Scalar::Bool))
            && let [ExpArg::Exp(a), ExpArg::Exp(b)] = args
        {
            return self.same(prim.name(), a.ty(), b.ty());
        }
        let hole = |ty: &DataType| {
            let var = Var { name: "_".into(), id: 0 };
            Term::new(TermKind::Var(var), ty.clone(), Default::default())
        };
        let args: Vec<Arg> = args
            .iter()
            .map(|arg| match arg {
                ExpArg::Size(s) => Arg::Size(s.clone()),
                ExpArg::Fun(f) => Arg::Fun(Lambda { params: f.params.clone(), body: hole(f.body.ty()) }),
                ExpArg::Exp(e) => Arg::Term(hole(e.ty())),
            })
            .collect();
        let ty = type_of(prim, &args, Some(e.ty()), self.facts).map_err(|error| error.to_string())?;
        self.same(prim.name(), e.ty(), &ty)
    }

    fn acc(&self, a: &Acc) -> Result<()> {
        match a.kind() {
            AccKind::Var(v) => match self.bindings.get_acc(v) {
                Some(acc) => self.same("acceptor", acc.ty(), a.ty()),
                None => Ok(()),
            },
            AccKind::At(inner, i) => {
                self.index(i)?;
                self.acc(inner)?;
                let elem =
                    element(inner.ty()).ok_or_else(|| format!("{{}}: {} has no elements", inner.ty()))?;
                self.same("{}", a.ty(), &elem)
            }
            AccKind::View(view, inner) => {
                self.acc(inner)?;
                let expected = self.beneath(view, a.ty());
                match (expected, view) {
                    (Some(ty), AccView::Take | AccView::Drop(_)) => {
                        // A part of a longer array.
                        let (s, t) = (element(&ty), element(inner.ty()));
                        match (s, t) {
                            (Some(s), Some(t)) => self.same("part", &s, &t),
                            _ => Err("part: not of arrays".to_owned()),
                        }
                    }
                    (Some(ty), AccView::Pair1 | AccView::Pair2 | AccView::Zip1 | AccView::Zip2) => {
                        let whole = match (view, inner.ty()) {
                            (AccView::Pair1, DataType::Pair(first, _)) => (**first).clone(),
                            (AccView::Pair2, DataType::Pair(_, second)) => (**second).clone(),
                            (_, DataType::Array(n, pair)) => match (view, &**pair) {
                                (AccView::Zip1, DataType::Pair(s, _)) => {
                                    DataType::array(n.clone(), (**s).clone())
                                }
                                (AccView::Zip2, DataType::Pair(_, t)) => {
                                    DataType::array(n.clone(), (**t).clone())
                                }
                                _ => return Err(format!("{view:?} of {}", inner.ty())),
                            },
                            _ => return Err(format!("{view:?} of {}", inner.ty())),
                        };
                        self.same("component", &ty, &whole)
                    }
                    (Some(ty), _) => self.same("view", inner.ty(), &ty),
                    (None, _) => Err(format!("{view:?} can't receive {}", a.ty())),
                }
            }
        }
    }

    /// The type of the acceptor below a view that receives `ty`. For components and parts it is the
    /// received type itself.
    fn beneath(&self, view: &AccView, ty: &DataType) -> Option<DataType> {
        Some(match view {
            AccView::Zip1 | AccView::Zip2 | AccView::Pair1 | AccView::Pair2 => ty.clone(),
            AccView::Take | AccView::Drop(_) => ty.clone(),
            AccView::Reverse(n) => {
                self.facts.equal(length(ty)?, n).then(|| ty.clone())?;
                ty.clone()
            }
            AccView::Split(k) => {
                let DataType::Array(n, t) = ty else { return None };
                let blocks = self.quotient(n, k)?;
                DataType::array(blocks, DataType::array(k.clone(), (**t).clone()))
            }
            AccView::AsVector(k) => {
                let DataType::Array(n, t) = ty else { return None };
                let DataType::Scalar(s) = **t else { return None };
                DataType::array(self.quotient(n, k)?, DataType::Vector(k.clone(), s))
            }
            AccView::Join(n) | AccView::AsScalar(n) => {
                let row = element(ty)?;
                self.facts.equal(length(&row)?, n).then_some(())?;
                DataType::array(n.clone() * length(ty)?.clone(), element(&row)?)
            }
            AccView::Transpose => {
                let row = element(ty)?;
                DataType::array(length(&row)?.clone(), DataType::array(length(ty)?.clone(), element(&row)?))
            }
            AccView::Map(view) => {
                let DataType::Array(n, t) = ty else { return None };
                DataType::array(n.clone(), self.beneath(view, t)?)
            }
            AccView::Unzip => {
                let DataType::Array(n, pair) = ty else { return None };
                let DataType::Pair(s, t) = &**pair else { return None };
                let half = |t: &DataType| DataType::array(n.clone(), t.clone());
                DataType::pair(half(s), half(t))
            }
        })
    }

    fn quotient(&self, n: &Size, k: &Size) -> Option<Size> {
        let candidates = [n.exact_div(k), self.facts.normal(n).exact_div(k), Some(n.div(k))];
        candidates.into_iter().flatten().find(|m| self.facts.equal(&(k.clone() * m.clone()), n))
    }

    fn assign(&self, a: &Acc, e: &Exp) -> Result<()> {
        self.acc(a)?;
        self.exp(e)?;
        self.same(":=", a.ty(), e.ty())
    }

    fn comm(&self, comm: &Comm) -> Result<()> {
        match comm.kind() {
            CommKind::Skip => Ok(()),
            CommKind::Seq(a, b) => {
                self.comm(a)?;
                self.comm(b)
            }
            CommKind::Assign(a, e) | CommKind::Accumulate(_, a, e) => self.assign(a, e),
            CommKind::A(e, a) => self.assign(a, e),
            CommKind::New(_, _, c) | CommKind::Update(_, _, _, c) | CommKind::SeqFor(_, _, _, c) => {
                self.comm(c)
            }
            CommKind::ReduceFor(_, _, _, _, c) => self.comm(c),
            CommKind::Alias(_, a, c) => {
                self.acc(a)?;
                self.comm(c)
            }
            CommKind::ParFor { n, out, body, .. } => {
                self.acc(out)?;
                self.lengths("parfor", out.ty(), n)?;
                self.comm(body)
            }
            CommKind::If(cond, a, b) => {
                self.condition(cond)?;
                self.comm(a)?;
                self.comm(b)
            }
            CommKind::Branch(cond, a, b, then) => {
                self.condition(cond)?;
                self.exp(a)?;
                self.exp(b)?;
                self.same("branch", a.ty(), b.ty())?;
                self.then(then, a.ty())
            }
            CommKind::C(e, _, _, c) => {
                self.exp(e)?;
                self.comm(c)
            }
            CommKind::Bind(x, e, c) | CommKind::Share(x, e, c) => {
                self.exp(e)?;
                if let Some(value) = self.bindings.get(x) {
                    self.same("binding", value.ty(), e.ty())?;
                }
                self.comm(c)
            }
            CommKind::Yield(e) => self.exp(e),
            CommKind::Macro(m) => self.macro_(m),
        }
    }

    fn then(&self, then: &Then, ty: &DataType) -> Result<()> {
        match then {
            Then::Continue(_, c) => self.comm(c),
            Then::Into(a) => {
                self.acc(a)?;
                self.same("result", a.ty(), ty)
            }
        }
    }

    fn condition(&self, cond: &Exp) -> Result<()> {
        self.exp(cond)?;
        self.same("condition", cond.ty(), &Scalar::Bool.into())
    }

    fn lengths(&self, what: &str, ty: &DataType, n: &Size) -> Result<()> {
        match length(ty) {
            Some(m) if self.facts.equal(m, n) => Ok(()),
            _ => Err(format!("{what}: {ty} has not length {n}")),
        }
    }

    fn macro_(&self, m: &Macro) -> Result<()> {
        match m {
            Macro::Map { body, xs, out, .. } => {
                self.exp(xs)?;
                self.acc(out)?;
                let n = length(xs.ty()).ok_or_else(|| format!("map: {} is no array", xs.ty()))?;
                self.lengths("map", out.ty(), n)?;
                self.comm(body)
            }
            Macro::Reduce { f, init, xs, then, .. } => {
                self.exp(xs)?;
                self.exp(init)?;
                self.comm(&f.body)?;
                self.then(then, init.ty())
            }
            Macro::ReducePar { value, init, xs, then, .. } => {
                self.exp(xs)?;
                self.exp(init)?;
                self.exp(value)?;
                self.same("reducePar", value.ty(), init.ty())?;
                self.comm(&then.1)
            }
            Macro::Scan { f, init, xs, out } => {
                self.exp(xs)?;
                self.exp(init)?;
                self.acc(out)?;
                self.comm(&f.body)?;
                let elem = element(out.ty()).ok_or_else(|| format!("scan: {} is no array", out.ty()))?;
                self.same("scan", &elem, init.ty())
            }
            Macro::ReduceByIndex { f, is, xs, out } => {
                self.exp(is)?;
                self.exp(xs)?;
                self.acc(out)?;
                self.comm(&f.body)
            }
            Macro::ReverseSeq(xs, out) | Macro::CopySeq(xs, out) => {
                self.exp(xs)?;
                self.acc(out)?;
                self.same("copy", xs.ty(), out.ty())
            }
            Macro::TransPar(xs, out) => {
                self.exp(xs)?;
                self.acc(out)?;
                let beneath = self.beneath(&AccView::Transpose, xs.ty());
                beneath
                    .map_or_else(|| Err("transpose".to_owned()), |ty| self.same("transpose", &ty, out.ty()))
            }
            Macro::Scatter(is, xs, out) => {
                self.exp(is)?;
                self.exp(xs)?;
                self.acc(out)
            }
        }
    }
}
