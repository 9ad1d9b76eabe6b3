//! What follows if a condition holds.

use std::rc::Rc;

use super::super::case::{Step, Stop, unproved};
use super::super::element::{Real, number, strict as strict_text};
use super::super::int::Int;
use super::super::symbolic_value::Value;
use super::{Env, MAX_DEPTH, Run, as_mod, mentions};
use crate::rule::{BinaryOp, ElementType, Expr, ExprKind, Fold, UnaryOp};

impl Run<'_> {
    /// Takes a condition for granted, as far as something follows from it.
    pub fn assume(&mut self, e: &Expr, env: &mut Env) -> Step<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return unproved("an expression is too deep");
        }
        let done = self.assume_inner(e, env);
        self.depth -= 1;
        done
    }

    fn assume_inner(&mut self, e: &Expr, env: &mut Env) -> Step<()> {
        match &e.kind {
            ExprKind::Binary(BinaryOp::And, a, b) => {
                self.assume(a, env)?;
                return self.assume(b, env);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                // One side that is not defined is one that does not hold.
                let side = |v: Step<Value>| match v {
                    Err(Stop::Impossible) => Ok(Value::Bool(false)),
                    other => other,
                };
                let depth = self.depth;
                let (x, y) = (side(self.eval(a, env))?, side(self.eval(b, env))?);
                self.depth = depth;
                return match (x, y) {
                    (Value::Bool(true), _) | (_, Value::Bool(true)) => Ok(()),
                    (Value::Bool(false), _) => self.assume(b, env),
                    (_, Value::Bool(false)) => self.assume(a, env),
                    _ if self.case.choose(2) == 0 => self.assume(a, env),
                    _ => self.assume(b, env),
                };
            }
            ExprKind::If(c, a, b) => {
                let taken = if self.decide(c, env)? { a } else { b };
                return self.assume(taken, env);
            }
            ExprKind::Unary(UnaryOp::Not, inner) => return self.refute(inner, env),
            ExprKind::Fold(Fold::All, each) => {
                let Some(items) = self.items(each, env)? else { return Ok(()) };
                for item in items {
                    env.push((each.symbol.text.clone(), item));
                    let taken = match &each.filter {
                        Some(filter) => self.decide(filter, env),
                        None => Ok(true),
                    };
                    let done = taken.and_then(|t| if t { self.assume(&each.body, env) } else { Ok(()) });
                    env.pop();
                    done?;
                }
                return Ok(());
            }
            _ => {}
        }
        if let ExprKind::Binary(o, a, b) = &e.kind {
            let (a, b) = (self.eval(a, env)?, self.eval(b, env)?);
            match o {
                BinaryOp::Eq => return self.assume_equal(&a, &b),
                BinaryOp::Ne => {
                    if Value::equal(&self.case, &a, &b) == Some(true) {
                        return Err(Stop::Impossible);
                    }
                    if let (Value::Int(x), Value::Int(y)) = (&a, &b) {
                        self.case.not_zero(x.minus(y));
                    }
                    if let (Value::Type(x), Value::Type(y)) = (&a, &b)
                        && let Some(known) = self.case.types.of(*y)
                    {
                        self.case.types.exclude(*x, known);
                    }
                    return Ok(());
                }
                BinaryOp::Lt => return self.assume_less(&a, &b, 1),
                BinaryOp::Le => return self.assume_less(&a, &b, 0),
                BinaryOp::Gt => return self.assume_less(&b, &a, 1),
                BinaryOp::Ge => return self.assume_less(&b, &a, 0),
                BinaryOp::In => {
                    if let Value::Tuple(items) = &b {
                        if items.is_empty() {
                            return Err(Stop::Impossible);
                        }
                        // Only the class of an open type matters. A list of possible types would
                        // give as many cases.
                        if let Value::Type(ty) = &a {
                            return self.assume_class(*ty, items);
                        }
                        let k = self.case.choose(items.len());
                        return self.assume_equal(&a, &items[k]);
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        match self.eval(e, env)? {
            Value::Bool(false) => Err(Stop::Impossible),
            _ => Ok(()),
        }
    }

    fn assume_class(&mut self, ty: super::super::types::Ty, items: &[Value]) -> Step<()> {
        if self.case.types.of(ty).is_some() {
            let found = items.iter().any(|i| Value::equal(&self.case, &Value::Type(ty), i) != Some(false));
            return if found { Ok(()) } else { Err(Stop::Impossible) };
        }
        let narrow = [ElementType::Float16, ElementType::Bfloat16, ElementType::Float32];
        if items.iter().all(
            |i| matches!(i, Value::Type(t) if self.case.types.of(*t).is_some_and(|t| narrow.contains(&t))),
        ) {
            self.case.types.is_narrow(ty);
        }
        let class = self.case.class(ty);
        let fits = items.iter().any(|i| match i {
            Value::Type(t) => {
                self.case.types.of(*t).is_none_or(|t| super::super::types::class_of(t) == class)
            }
            _ => true,
        });
        if fits { Ok(()) } else { Err(Stop::Impossible) }
    }

    /// Takes for granted that a condition does not hold.
    pub(super) fn refute(&mut self, e: &Expr, env: &mut Env) -> Step<()> {
        if let ExprKind::Binary(o, a, b) = &e.kind {
            let (x, y) = (self.eval(a, env)?, self.eval(b, env)?);
            match (o, &x, &y) {
                (BinaryOp::Eq, Value::Int(x), Value::Int(y)) => {
                    if self.case.same(x, y) {
                        return Err(Stop::Impossible);
                    }
                    self.case.not_zero(x.minus(y));
                }
                (BinaryOp::Ne, ..) => return self.assume_equal(&x, &y),
                (BinaryOp::Lt, ..) => return self.assume_less(&y, &x, 0),
                (BinaryOp::Le, ..) => return self.assume_less(&y, &x, 1),
                (BinaryOp::Gt, ..) => return self.assume_less(&x, &y, 0),
                (BinaryOp::Ge, ..) => return self.assume_less(&x, &y, 1),
                _ => {}
            }
            return Ok(());
        }
        match self.eval(e, env)? {
            Value::Bool(true) => Err(Stop::Impossible),
            _ => Ok(()),
        }
    }

    fn assume_less(&mut self, low: &Value, high: &Value, strict: i64) -> Step<()> {
        if let (Value::Int(x), Value::Int(y)) = (low, high) {
            let d = self.case.norm(&y.minus(x).offset(-strict));
            if d.constant().is_some_and(|n| n < 0) {
                return Err(Stop::Impossible);
            }
            self.case.fact(d);
        }
        let bound = match low {
            Value::Real(x) => matches!(&**x, Real::Number(x) if *x > 0.0 || *x == 0.0 && strict == 1),
            Value::Int(n) => self.case.norm(n).constant().is_some_and(|n| n + strict > 0),
            _ => false,
        };
        if let (true, Value::Real(x)) = (bound, high) {
            let (_, text) = strict_text(&mut self.case, x)?;
            self.case.positive.insert(text);
        }
        Ok(())
    }

    /// Takes for granted that two values are equal.
    pub(crate) fn assume_equal(&mut self, a: &Value, b: &Value) -> Step<()> {
        match (a, b) {
            (Value::Unknown, _) | (_, Value::Unknown) => Ok(()),
            (Value::Int(x), Value::Int(y)) => self.assume_int(x, y),
            (Value::Real(x), Value::Real(y)) => {
                self.bind_real(x, y);
                Ok(())
            }
            (Value::Real(x), Value::Int(n)) | (Value::Int(n), Value::Real(x)) => {
                if let Some(n) = self.case.norm(n).constant() {
                    self.bind_real(x, &number(n as f64));
                }
                Ok(())
            }
            (Value::Real(x), Value::Bool(b)) | (Value::Bool(b), Value::Real(x)) => {
                self.bind_real(x, &number(f64::from(u8::from(*b))));
                Ok(())
            }
            (Value::Type(x), Value::Type(y)) => self.case.same_type(*x, *y, "a condition"),
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(a, b)| self.assume_equal(a, b))
            }
            _ => match Value::equal(&self.case, a, b) {
                Some(true) => Ok(()),
                // Of different kinds, or different: no graph.
                _ => Err(Stop::Impossible),
            },
        }
    }

    /// `x % c == r` says more than an equation between functions: `x` is `c * q + r`.
    fn assume_int(&mut self, x: &Int, y: &Int) -> Step<()> {
        if self.case.norm(x).constant().is_none()
            && let (Some((n, c)), Some(r)) = (as_mod(x), self.case.norm(y).constant())
            && let Some(c) = self.case.norm(&c).constant().filter(|c| *c > 1)
            && (0..c).contains(&r)
        {
            let n = self.case.norm(&n);
            let q =
                if self.case.nonneg(&n) { self.case.extent("q") } else { Int::symbol(&self.case.fresh("q")) };
            return self.case.equation(&n.minus(&q.times(&Int::from(c))).offset(-r));
        }
        self.case.equation(&x.minus(y))
    }

    fn bind_real(&mut self, x: &Rc<Real>, value: &Rc<Real>) {
        if let (Real::Constant(name), Real::Number(_)) = (&**x, &**value) {
            self.case.reals.insert(name.clone(), value.clone());
        } else if let (Real::Number(_), Real::Constant(name)) = (&**x, &**value) {
            self.case.reals.insert(name.clone(), x.clone());
        }
    }

    /// Assumes what the rule requires, as far as its inputs and vertices are known, and at the end
    /// everything. The earlier, the fewer cases.
    pub fn conditions(&mut self, all: bool) -> Step<()> {
        let mut later = Vec::new();
        for e in std::mem::take(&mut self.pending) {
            if !all && !self.is_there(e, &mut Vec::new(), 0) {
                later.push(e);
                continue;
            }
            let symbol = self.rule.indices.iter().find(|i| mentions(e, &i.name.text, &self.lets, 0));
            match symbol {
                None => self.assume(e, &mut Vec::new())?,
                Some(index) => {
                    for k in 0..self.count(&index.name.text).unwrap_or(0) {
                        self.assume(e, &mut vec![(index.name.text.clone(), Value::int(k as i64))])?;
                    }
                }
            }
        }
        self.pending = later;
        Ok(())
    }

    /// Whether all that an expression names has been made.
    fn is_there(&self, e: &Expr, bound: &mut Vec<String>, depth: usize) -> bool {
        if depth > MAX_DEPTH || !self.rule.indices.is_empty() {
            return false;
        }
        let mut parts: Vec<&Expr> = Vec::new();
        match &e.kind {
            ExprKind::Name(name) if bound.contains(name) => {}
            ExprKind::Name(name) => match self.lets.get(name) {
                Some(e) => parts.push(e),
                None => return self.exists(name),
            },
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Is(a, _) => parts.push(a),
            ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) => parts.extend([&**a, &**b]),
            ExprKind::Slice(a, b, c) => {
                parts.push(a);
                parts.extend(b.as_deref());
                parts.extend(c.as_deref());
            }
            ExprKind::Tuple(all) | ExprKind::Call(_, all) => parts.extend(all),
            ExprKind::If(a, b, c) => parts.extend([&**a, &**b, &**c]),
            ExprKind::Map(each) | ExprKind::Fold(_, each) => {
                if !each.over.as_ref().is_none_or(|e| self.is_there(e, bound, depth + 1)) {
                    return false;
                }
                bound.push(each.symbol.text.clone());
                let inside = self.is_there(&each.body, bound, depth + 1)
                    && each.filter.as_ref().is_none_or(|e| self.is_there(e, bound, depth + 1));
                bound.pop();
                return inside;
            }
            _ => {}
        }
        parts.into_iter().all(|e| self.is_there(e, bound, depth + 1))
    }
}
