//! Evaluates attribute expressions on symbols, and derives what follows if a condition holds.

use std::rc::Rc;

use crate::rule::{BinaryOp, Clause, Each, Expr, ExprKind, Fold, Function, Kind, Rule, UnaryOp};

use super::case::{Step, Stop, unproved};
use super::element::{Op, Real, number, op};
use super::int::Int;
use super::run::Run;
use super::symbolic_value::Value;
use super::tensor::Tensor;

mod assume;

/// How deep expressions are followed.
const MAX_DEPTH: usize = 40;

/// Symbols that are bound, innermost last.
pub(super) type Env = Vec<(String, Value)>;

/// What a name stands for.
pub(super) enum Named {
    Value(Value),
    Tensor(Option<Tensor>),
    Vertex(String, usize),
}

impl Run<'_> {
    fn named(&mut self, e: &Expr, env: &mut Env) -> Step<Named> {
        match &e.kind {
            ExprKind::Name(name) => {
                if let Some((_, v)) = env.iter().rev().find(|(n, _)| n == name) {
                    return Ok(Named::Value(v.clone()));
                }
                if let Some(e) = self.lets.get(name).copied() {
                    return Ok(Named::Value(self.eval(e, env)?));
                }
                self.thing(name, 0)
            }
            ExprKind::Item(base, index) => {
                if let ExprKind::Name(name) = &base.kind
                    && !env.iter().any(|(n, _)| n == name)
                    && !self.lets.contains_key(name)
                {
                    let Value::Int(k) = self.eval(index, env)? else { return unproved("an index is open") };
                    let Some(k) = self.case.norm(&k).constant().and_then(|k| usize::try_from(k).ok()) else {
                        return unproved("an index is open");
                    };
                    return match self.thing(name, k) {
                        // No template: an item of its results.
                        Ok(Named::Vertex(name, 0)) if k > 0 => {
                            self.item_of(&name, k).map(|t| Named::Tensor(Some(t)))
                        }
                        other => other,
                    };
                }
                Ok(Named::Value(self.eval(e, env)?))
            }
            _ => Ok(Named::Value(self.eval(e, env)?)),
        }
    }

    fn tensor_of(&mut self, named: Named) -> Step<Option<Tensor>> {
        match named {
            Named::Tensor(t) => Ok(t),
            Named::Vertex(name, k) => self.result(&name, k, 0).map(Some),
            Named::Value(_) => unproved("a tensor is needed"),
        }
    }

    /// The value of an expression.
    pub fn eval(&mut self, e: &Expr, env: &mut Env) -> Step<Value> {
        self.case.pay(2)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return unproved("an expression is too deep");
        }
        let value = self.eval_inner(e, env);
        self.depth -= 1;
        value
    }

    fn eval_inner(&mut self, e: &Expr, env: &mut Env) -> Step<Value> {
        Ok(match &e.kind {
            ExprKind::Int(n) => Value::int(*n),
            ExprKind::Float(x) => Value::Real(number(*x)),
            ExprKind::Str(s) => Value::Text(s.clone()),
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::None => Value::None,
            ExprKind::Type(t) => Value::Type(self.case.types.known(*t)),
            ExprKind::Name(_) => match self.named(e, env)? {
                Named::Value(v) => v,
                _ => Value::Unknown,
            },
            ExprKind::Field(base, name) => {
                if let ExprKind::Field(inner, all) = &base.kind
                    && all.text == "attributes"
                {
                    return Ok(match self.named(inner, env)? {
                        Named::Vertex(vertex, k) => self.attribute(&vertex, k, &name.text),
                        _ => Value::Unknown,
                    });
                }
                let base = self.named(base, env)?;
                self.field(base, &name.text)?
            }
            ExprKind::Item(base, index) => {
                let (base, index) = (self.eval(base, env)?, self.eval(index, env)?);
                self.item(&base, &index)?
            }
            ExprKind::Slice(base, low, high) => {
                let Value::Tuple(items) = self.eval(base, env)? else { return Ok(Value::Unknown) };
                let n = items.len() as i64;
                let mut bound = |e: &Option<Box<Expr>>, default: i64| -> Step<Option<usize>> {
                    let Some(e) = e else { return Ok(usize::try_from(default).ok()) };
                    let Value::Int(k) = self.eval(e, env)? else { return Ok(None) };
                    let k = self.case.norm(&k).constant();
                    Ok(k.map(|k| if k < 0 { k + n } else { k }.clamp(0, n))
                        .and_then(|k| usize::try_from(k).ok()))
                };
                let (Some(low), Some(high)) = (bound(low, 0)?, bound(high, n)?) else {
                    return Ok(Value::Unknown);
                };
                Value::Tuple(items.get(low..high.max(low)).unwrap_or_default().to_vec())
            }
            ExprKind::Tuple(items) => {
                Value::Tuple(items.iter().map(|e| self.eval(e, env)).collect::<Step<_>>()?)
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => match self.eval(inner, env)? {
                Value::Int(n) => Value::Int(n.negated()),
                Value::Real(x) => match &*x {
                    Real::Number(x) => Value::Real(number(-x)),
                    _ => Value::Real(op(Op::Sub, number(0.0), x)),
                },
                _ => Value::Unknown,
            },
            ExprKind::Unary(UnaryOp::Not, inner) => match self.eval(inner, env)? {
                Value::Bool(b) => Value::Bool(!b),
                _ => Value::Unknown,
            },
            ExprKind::Binary(o, a, b) => {
                let a = self.eval(a, env)?;
                if let (BinaryOp::And, Value::Bool(false)) | (BinaryOp::Or, Value::Bool(true)) = (o, &a) {
                    return Ok(a);
                }
                let b = self.eval(b, env)?;
                self.binary(*o, a, b)
            }
            ExprKind::If(c, a, b) => {
                let taken = if self.decide(c, env)? { a } else { b };
                self.eval(taken, env)?
            }
            ExprKind::Call(f, arguments) => self.function(*f, arguments, env)?,
            ExprKind::Map(each) => match self.each(each, env)? {
                Some(items) => Value::Tuple(items),
                None => Value::Unknown,
            },
            ExprKind::Fold(f, each) => match self.each(each, env)? {
                Some(items) => self.folded(*f, items),
                None => Value::Unknown,
            },
            ExprKind::Is(inner, kind) => {
                let named = self.named(inner, env)?;
                let there = match named {
                    Named::Tensor(t) => t.is_some(),
                    Named::Vertex(..) => true,
                    Named::Value(_) => return Ok(Value::Unknown),
                };
                match kind {
                    Kind::Present => Value::Bool(there),
                    Kind::Absent => Value::Bool(!there),
                    _ => Value::Unknown,
                }
            }
        })
    }

    fn field(&mut self, base: Named, name: &str) -> Step<Value> {
        if !matches!(name, "shape" | "rank" | "type" | "value" | "size") {
            let Named::Vertex(vertex, k) = base else { return Ok(Value::Unknown) };
            return Ok(self.attribute(&vertex, k, name));
        }
        // A property of an absent input is not defined, so the condition does not hold.
        let Some(t) = self.tensor_of(base)? else { return Err(Stop::Impossible) };
        Ok(match name {
            "shape" => Value::ints(t.shape),
            "rank" => Value::int(t.rank() as i64),
            "size" => Value::Int(t.count),
            "type" => Value::Type(t.ty),
            _ => match &t.value {
                Some(items) => Value::ints(items.iter().cloned()),
                None if t.rank() == 0 => Value::Real(t.at(&mut self.case, &[])?),
                // Of one element: a tuple of one. Others can't be told apart.
                None if self.case.norm(&t.count).is(1) => {
                    let place = vec![Int::default(); t.rank()];
                    Value::Tuple(vec![Value::Real(t.at(&mut self.case, &place)?)])
                }
                None => Value::Unknown,
            },
        })
    }

    fn item(&mut self, base: &Value, index: &Value) -> Step<Value> {
        let (Value::Tuple(items), Value::Int(k)) = (base, index) else { return Ok(Value::Unknown) };
        let Some(k) = self.case.norm(k).constant() else { return Ok(Value::Unknown) };
        let k = if k < 0 { k + items.len() as i64 } else { k };
        // Out of range: the value is not defined, so the condition does not hold, or the rule is
        // not applied.
        usize::try_from(k).ok().and_then(|k| items.get(k).cloned()).ok_or(Stop::Impossible)
    }

    fn binary(&mut self, o: BinaryOp, a: Value, b: Value) -> Value {
        let ints = |f: fn(&Int, &Int) -> Int| match (&a, &b) {
            (Value::Int(x), Value::Int(y)) => Value::Int(f(x, y)),
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => Value::Tuple(
                x.iter()
                    .zip(y)
                    .map(|(x, y)| match (x, y) {
                        (Value::Int(x), Value::Int(y)) => Value::Int(f(x, y)),
                        _ => Value::Unknown,
                    })
                    .collect(),
            ),
            _ => Value::Unknown,
        };
        let real = |v: &Value| match v {
            Value::Real(x) => Some(x.clone()),
            Value::Int(n) => Some(Rc::new(Real::Int(n.clone()))),
            _ => None,
        };
        let reals = |o: Op| match (real(&a), real(&b)) {
            (Some(x), Some(y)) => Value::Real(op(o, x, y)),
            _ => Value::Unknown,
        };
        let both_ints = !matches!(a, Value::Real(_)) && !matches!(b, Value::Real(_));
        let case = &self.case;
        let order = |low: &Value, high: &Value, strict: i64| match (low, high) {
            (Value::Int(x), Value::Int(y)) => {
                let d = y.minus(x).offset(-strict);
                if case.nonneg(&d) {
                    Value::Bool(true)
                } else if case.nonneg(&d.negated().offset(-1)) {
                    Value::Bool(false)
                } else {
                    Value::Unknown
                }
            }
            _ => Value::Unknown,
        };
        match o {
            BinaryOp::And => match (&a, &b) {
                (Value::Bool(x), Value::Bool(y)) => Value::Bool(*x && *y),
                (_, Value::Bool(false)) => Value::Bool(false),
                _ => Value::Unknown,
            },
            BinaryOp::Or => match (&a, &b) {
                (Value::Bool(x), Value::Bool(y)) => Value::Bool(*x || *y),
                (_, Value::Bool(true)) => Value::Bool(true),
                _ => Value::Unknown,
            },
            BinaryOp::Eq => Value::equal(case, &a, &b).map_or(Value::Unknown, Value::Bool),
            BinaryOp::Ne => Value::equal(case, &a, &b).map_or(Value::Unknown, |e| Value::Bool(!e)),
            BinaryOp::Lt => order(&a, &b, 1),
            BinaryOp::Le => order(&a, &b, 0),
            BinaryOp::Gt => order(&b, &a, 1),
            BinaryOp::Ge => order(&b, &a, 0),
            BinaryOp::In => match &b {
                Value::Tuple(items) => {
                    let all: Vec<Option<bool>> = items.iter().map(|i| Value::equal(case, &a, i)).collect();
                    if all.contains(&Some(true)) {
                        Value::Bool(true)
                    } else if all.iter().all(|e| *e == Some(false)) {
                        Value::Bool(false)
                    } else {
                        Value::Unknown
                    }
                }
                _ => Value::Unknown,
            },
            BinaryOp::Join => match (a, b) {
                (Value::Tuple(x), Value::Tuple(y)) => Value::Tuple(x.into_iter().chain(y).collect()),
                _ => Value::Unknown,
            },
            BinaryOp::Add if both_ints => ints(|x, y| x.plus(y)),
            BinaryOp::Sub if both_ints => ints(|x, y| x.minus(y)),
            BinaryOp::Mul if both_ints => ints(|x, y| x.times(y)),
            BinaryOp::FloorDiv => ints(|x, y| Int::fun("div", vec![x.clone(), y.clone()])),
            BinaryOp::Mod => ints(|x, y| Int::fun("mod", vec![x.clone(), y.clone()])),
            BinaryOp::Add => reals(Op::Add),
            BinaryOp::Sub => reals(Op::Sub),
            BinaryOp::Mul => reals(Op::Mul),
            BinaryOp::Div => reals(Op::Div),
        }
    }

    fn function(&mut self, f: Function, arguments: &[Expr], env: &mut Env) -> Step<Value> {
        if f == Function::Len
            && let [one] = arguments
            && let ExprKind::Name(name) = &one.kind
            && !env.iter().any(|(n, _)| n == name)
            && !self.lets.contains_key(name)
            && let Some(n) = self.length(name)
        {
            return Ok(Value::int(n as i64));
        }
        let values = arguments.iter().map(|e| self.eval(e, env)).collect::<Step<Vec<Value>>>()?;
        let known = |v: &Value, run: &Run<'_>| match v {
            Value::Int(n) => run.case.norm(n).constant(),
            _ => None,
        };
        Ok(match (f, &values[..]) {
            (Function::Len, [Value::Tuple(items)]) => Value::int(items.len() as i64),
            (Function::Range, all) => {
                let bounds: Option<Vec<i64>> = all.iter().map(|v| known(v, self)).collect();
                match bounds.as_deref() {
                    Some([n]) if *n <= 64 => Value::Tuple((0..*n).map(Value::int).collect()),
                    Some([m, n]) if n.saturating_sub(*m) <= 64 => {
                        Value::Tuple((*m..*n).map(Value::int).collect())
                    }
                    _ => Value::Unknown,
                }
            }
            (Function::Reverse, [Value::Tuple(items)]) => Value::Tuple(items.iter().rev().cloned().collect()),
            (Function::Max, [Value::Tuple(items)]) => self.folded(Fold::Max, items.clone()),
            (Function::Max, all) => self.folded(Fold::Max, all.to_vec()),
            (Function::Sum, [Value::Tuple(items)]) => self.folded(Fold::Sum, items.clone()),
            (Function::Product, [Value::Tuple(items)]) => self.folded(Fold::Product, items.clone()),
            (Function::All, [Value::Tuple(items)]) => self.folded(Fold::All, items.clone()),
            (Function::Any, [Value::Tuple(items)]) => self.folded(Fold::Any, items.clone()),
            _ => Value::Unknown,
        })
    }

    fn folded(&mut self, f: Fold, items: Vec<Value>) -> Value {
        let ints: Option<Vec<Int>> =
            items.iter().map(|v| if let Value::Int(n) = v { Some(n.clone()) } else { None }).collect();
        match (f, ints) {
            (Fold::Sum, Some(all)) => Value::Int(all.iter().fold(Int::default(), |s, n| s.plus(n))),
            (Fold::Product, Some(all)) => Value::Int(all.iter().fold(Int::from(1), |s, n| s.times(n))),
            (Fold::Max, Some(all)) if !all.is_empty() => {
                let most = self.case.norm(&Int::fun("max", all.clone()));
                for n in &all {
                    self.case.fact(most.minus(n));
                }
                Value::Int(most)
            }
            (Fold::All, _) => {
                let open = items.iter().any(|v| !matches!(v, Value::Bool(_)));
                let fails = items.iter().any(|v| matches!(v, Value::Bool(false)));
                if fails {
                    Value::Bool(false)
                } else if open {
                    Value::Unknown
                } else {
                    Value::Bool(true)
                }
            }
            (Fold::Any, _) => {
                let open = items.iter().any(|v| !matches!(v, Value::Bool(_)));
                let holds = items.iter().any(|v| matches!(v, Value::Bool(true)));
                if holds {
                    Value::Bool(true)
                } else if open {
                    Value::Unknown
                } else {
                    Value::Bool(false)
                }
            }
            (Fold::Join, _) => {
                let mut out = Vec::new();
                for v in items {
                    match v {
                        Value::Tuple(inner) => out.extend(inner),
                        _ => return Value::Unknown,
                    }
                }
                Value::Tuple(out)
            }
            _ => Value::Unknown,
        }
    }

    /// The items that an iteration goes over; `None` if they are not known.
    fn items(&mut self, each: &Each, env: &mut Env) -> Step<Option<Vec<Value>>> {
        Ok(match &each.over {
            None => self.count(&each.symbol.text).map(|n| (0..n as i64).map(Value::int).collect()),
            Some(over) => match self.eval(over, env)? {
                Value::Tuple(items) => Some(items),
                _ => None,
            },
        })
    }

    fn each(&mut self, each: &Each, env: &mut Env) -> Step<Option<Vec<Value>>> {
        let Some(items) = self.items(each, env)? else { return Ok(None) };
        let mut out = Vec::new();
        for item in items {
            env.push((each.symbol.text.clone(), item));
            let taken = match &each.filter {
                Some(filter) => self.decide(filter, env),
                None => Ok(true),
            };
            let value =
                taken.and_then(|taken| if taken { self.eval(&each.body, env).map(Some) } else { Ok(None) });
            env.pop();
            out.extend(value?);
        }
        Ok(Some(out))
    }

    /// Whether a condition holds; where that is open, each possibility is a case.
    pub fn decide(&mut self, e: &Expr, env: &mut Env) -> Step<bool> {
        if let Value::Bool(b) = self.eval(e, env)? {
            return Ok(b);
        }
        let holds = self.case.choose(2) == 0;
        if holds {
            self.assume(e, env)?
        } else {
            self.refute(e, env)?
        }
        Ok(holds)
    }
}

/// The conditions of a rule, one by one.
pub(super) fn requirements(rule: &Rule) -> Vec<&Expr> {
    fn go<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::And, a, b) => {
                go(a, out);
                go(b, out);
            }
            _ => out.push(e),
        }
    }
    let mut out = Vec::new();
    for line in &rule.conditions {
        if let Clause::Require(e) = &line.value {
            go(e, &mut out);
        }
    }
    out
}

/// The arguments, if it is `mod(n, c)` as it was written.
fn as_mod(e: &Int) -> Option<(Int, Int)> {
    use super::int::Atom;
    let mut all = e.monomials();
    match (all.next(), all.next()) {
        (Some((m, 1)), None) => match m.as_atom() {
            Some(Atom::Fun(name, arguments)) if &**name == "mod" => match &arguments[..] {
                [n, c] => Some((n.clone(), c.clone())),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether a symbol is free in an expression, definitions of names included.
fn mentions(e: &Expr, symbol: &str, lets: &std::collections::HashMap<String, &Expr>, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    let go = |e: &Expr| mentions(e, symbol, lets, depth + 1);
    match &e.kind {
        ExprKind::Name(name) => name == symbol || lets.get(name).is_some_and(|e| go(e)),
        ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Is(a, _) => go(a),
        ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) => go(a) || go(b),
        ExprKind::Slice(a, b, c) => go(a) || b.as_deref().is_some_and(go) || c.as_deref().is_some_and(go),
        ExprKind::Tuple(all) | ExprKind::Call(_, all) => all.iter().any(go),
        ExprKind::If(a, b, c) => go(a) || go(b) || go(c),
        ExprKind::Map(each) | ExprKind::Fold(_, each) => {
            each.over.as_ref().is_some_and(go)
                || each.symbol.text != symbol && (go(&each.body) || each.filter.as_ref().is_some_and(go))
        }
        _ => false,
    }
}
