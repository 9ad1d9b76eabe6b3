//! Rules for expressions (`cge.1` to `cge.13`, and those of further primitives): an expression at a
//! path is a scalar expression of the loop IR.

use functional::{DataType, Literal, Prim, TermKind};
use loops::{BinaryOp, Code, CompareOp, Diagnostic, Expr, Scalar, Size};

use super::{Generator, Place};
use crate::derivation::Phrase;
use crate::phrase::{Exp, ExpArg, ExpKind, Fun, PVar, Role, Step, scalar_of};
use crate::translate::{Result, closures, resolve};
use crate::view::{self, Viewed};

/// The most nodes that the expressions of one function may have. Views that ask for an index
/// several times can multiply it.
const NODE_LIMIT: usize = 2_000_000;

impl Generator<'_> {
    /// `CodeGen_exp(e, [])` of a scalar.
    pub(super) fn scalar(&mut self, e: &Exp) -> Result<Expr> {
        self.exp(e, Vec::new())
    }

    /// `CodeGen_exp(e, path)`; the last step of the path is the next one.
    pub(super) fn exp(&mut self, e: &Exp, path: Vec<Step>) -> Result<Expr> {
        let (mut e, mut path) = (e.clone(), path);
        loop {
            self.nodes += 1;
            if self.nodes > NODE_LIMIT {
                return Err(too_large());
            }
            if e.open() {
                e = resolve(self.bindings, &e, false);
            }
            match e.kind() {
                ExpKind::Var(var) => match self.expression_of(var) {
                    Some(next) => e = next,
                    None => return self.read(var, &e, path),
                },
                ExpKind::Literal(value) => {
                    return Ok(match *value {
                        Literal::F32(bits) => Expr::f32(f32::from_bits(bits)),
                        Literal::F64(bits) => Expr::f64(f64::from_bits(bits)),
                        Literal::I32(value) => Expr::I32(value),
                        Literal::I64(value) => Expr::Int(value),
                        Literal::Integer(to, value) => Expr::Cast(to, Box::new(Expr::Int(value))),
                        Literal::Bool(value) => Expr::Bool(value),
                    });
                }
                ExpKind::Size(size) => {
                    let value = size.to_expr();
                    let data = matches!(e.ty(), DataType::Scalar(_));
                    return Ok(if data { value.into_data() } else { value });
                }
                ExpKind::Arith(op, a, b) => {
                    let (op, a, b) = (*op, a.clone(), b.clone());
                    return self.arithmetic(op, &a, &b);
                }
                ExpKind::Closure(term, env) => {
                    let lifted = match term.kind() {
                        TermKind::Let(binder, value, body) => {
                            let value = Exp::closure(value, env);
                            Exp::closure(body, &env.with(&binder.var, value))
                        }
                        TermKind::Prim(prim, args) => {
                            Exp::prim(*prim, closures(args, env), term.ty().clone())
                        }
                        _ => return Err(self.stuck("a variable that nothing binds")),
                    };
                    e = lifted;
                }
                ExpKind::Prim(prim, args) => {
                    let old = path.clone();
                    if let Some((rule, next)) = function_at(*prim, args, &mut path) {
                        self.record(rule, Phrase::GenExp(e, old), Phrase::GenExp(next.clone(), path.clone()));
                        e = next;
                        continue;
                    }
                    match view::step(&e, &mut path) {
                        Some(Viewed::Go(rule, next)) => {
                            self.record(
                                rule,
                                Phrase::GenExp(e, old),
                                Phrase::GenExp(next.clone(), path.clone()),
                            );
                            e = next;
                        }
                        Some(Viewed::Branch(rule, cond, (a, pa), (b, pb))) => {
                            self.record(rule, Phrase::GenExp(e.clone(), old), Phrase::GenOp(e));
                            let cond = self.scalar(&cond)?;
                            let (a, b) = (self.exp(&a, pa)?, self.exp(&b, pb)?);
                            return Ok(Expr::Select(Box::new(cond), Box::new(a), Box::new(b)));
                        }
                        None if path.is_empty() => {
                            let (prim, args) = (*prim, args.clone());
                            return self.operation(&e, prim, &args);
                        }
                        None => return Err(self.stuck("a view at too short a path")),
                    }
                }
            }
        }
    }

    fn expression_of(&self, var: &PVar) -> Option<Exp> {
        match var.role {
            Role::Expression { .. } => self.bindings.get(var).cloned(),
            _ => None,
        }
    }

    fn read(&mut self, var: &PVar, e: &Exp, path: Vec<Step>) -> Result<Expr> {
        let value = match self.places.get(&var.id) {
            Some(Place::Index(name)) => Expr::Var(name.clone()),
            Some(Place::Acc(acc)) => {
                let acc = acc.clone();
                Expr::Load(self.access(&acc, path.clone())?)
            }
            _ => Expr::Load(self.variable(var, &path)?),
        };
        self.record("cge.1", Phrase::GenExp(e.clone(), path), Phrase::Expr(value.clone()));
        Ok(value)
    }

    fn arithmetic(&mut self, op: BinaryOp, a: &Exp, b: &Exp) -> Result<Expr> {
        let left = self.scalar(a)?;
        Ok(match (op, b.kind()) {
            // `i + (-1)` is better read as `i - 1`.
            (BinaryOp::Add, ExpKind::Size(s)) if !s.is_natural() && (-s.clone()).is_natural() => {
                Expr::binary(BinaryOp::Sub, left, (-s.clone()).to_expr())
            }
            _ => Expr::binary(op, left, self.scalar(b)?),
        })
    }

    /// A primitive on scalars.
    fn operation(&mut self, e: &Exp, prim: Prim, args: &[ExpArg]) -> Result<Expr> {
        let rule = prim.info().rules[2];
        if !rule.is_empty() {
            self.record(rule, Phrase::GenExp(e.clone(), Vec::new()), Phrase::GenOp(e.clone()));
        }
        let mut values = Vec::new();
        let mut sizes = Vec::new();
        let mut operand = None;
        for arg in args {
            match arg {
                ExpArg::Exp(a) => {
                    operand = operand.or(scalar_of(a.ty()));
                    values.push(self.scalar(a)?);
                }
                ExpArg::Size(s) => sizes.push(s.clone()),
                ExpArg::Fun(_) => return Err(self.stuck("a function in a scalar")),
            }
        }
        let ty = scalar_of(e.ty());
        if let (Prim::ToI64, [ExpArg::Exp(a)]) = (prim, args)
            && matches!(a.ty(), DataType::Idx(_))
        {
            return values.pop().map(Expr::into_data).ok_or_else(|| self.stuck("a conversion of nothing"));
        }
        let operand = operand.or(ty).unwrap_or(Scalar::I64);
        operator(prim, ty, operand, values, &sizes)
            .ok_or_else(|| self.stuck("a primitive that is no scalar expression"))
    }
}

/// The operator of the loop IR for a primitive on scalars.
fn operator(
    prim: Prim,
    ty: Option<Scalar>,
    operand: Scalar,
    values: Vec<Expr>,
    sizes: &[Size],
) -> Option<Expr> {
    let mut values = values.into_iter();
    if let Some(op) = prim.unary_operator() {
        return Some(Expr::unary(op, values.next()?));
    }
    let mut next = || values.next();
    if let Some(op) = prim.binary_operator(operand) {
        return Some(Expr::binary(op, next()?, next()?));
    }
    let comparison = match prim {
        Prim::Eq => Some(CompareOp::Eq),
        Prim::Ne => Some(CompareOp::Ne),
        Prim::Lt => Some(CompareOp::Lt),
        Prim::Le => Some(CompareOp::Le),
        Prim::Gt => Some(CompareOp::Gt),
        Prim::Ge => Some(CompareOp::Ge),
        _ => None,
    };
    if let Some(op) = comparison {
        return Some(Expr::compare(op, next()?, next()?));
    }
    Some(match prim {
        Prim::DivIdx => {
            let (a, b) = (next()?, next()?);
            if matches!(b, Expr::Int(k) if k != 0) {
                Expr::binary(BinaryOp::FloorDiv, a, b)
            } else {
                let by_zero = Expr::compare(CompareOp::Eq, b.clone(), Expr::Int(0));
                let quotient = Expr::binary(BinaryOp::FloorDiv, a, b);
                Expr::Select(Box::new(by_zero), Box::new(Expr::Int(0)), Box::new(quotient))
            }
        }
        Prim::Select => {
            let (c, a, b) = (next()?, next()?, next()?);
            Expr::Select(Box::new(c), Box::new(a), Box::new(b))
        }
        Prim::Zero => Expr::constant(ty?, 0),
        Prim::One => Expr::constant(ty?, 1),
        prim if prim.conversion().is_some() => {
            let value = next()?;
            if ty? == operand { value } else { Expr::Cast(ty?, Box::new(value)) }
        }
        Prim::IdxPred => (sizes.first()?.clone() - Size::constant(1)).to_expr(),
        Prim::ToIdx => {
            let last = (sizes.first()?.clone() - Size::constant(1)).to_expr();
            let low = Expr::binary(BinaryOp::Max, next()?, Expr::Int(0));
            Expr::binary(BinaryOp::Min, low, last)
        }
        _ => return None,
    })
}

/// Functions inside views, applied to the index at which they are read.
fn function_at(prim: Prim, args: &[ExpArg], path: &mut Vec<Step>) -> Option<(&'static str, Exp)> {
    let apply = |f: &Fun, arg: Exp| {
        let env = f.env.with(&f.params.first()?.var, arg);
        Some(Exp::closure(&f.body, &env))
    };
    let Some(Step::At(i)) = path.last().cloned() else { return None };
    match (prim, args) {
        (Prim::Generate, [ExpArg::Size(_), ExpArg::Fun(f)]) => {
            let next = apply(f, i)?;
            path.pop();
            Some(("cge.generate", next))
        }
        (Prim::Reorder, [ExpArg::Fun(f), ExpArg::Exp(xs)]) => {
            let place = apply(f, i)?;
            path.pop();
            path.push(Step::At(place));
            Some(("cge.reorder", xs.clone()))
        }
        (
            Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
            [ExpArg::Fun(f), ExpArg::Exp(xs)],
        ) => {
            let next = apply(f, xs.at(i)?)?;
            path.pop();
            Some(("cge.mapV", next))
        }
        _ => None,
    }
}

fn too_large() -> Diagnostic {
    Diagnostic::general(
        Code("D0105"),
        "the views of this definition ask for so many indices that its expressions do not fit",
    )
    .note("each `join` after a `split` by another length doubles the index that is computed")
    .help("store an intermediate array with `toMem` or `copySeq`")
}
