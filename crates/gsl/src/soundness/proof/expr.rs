//! Attribute expressions on symbols: their values, and what follows if a condition holds.

use std::rc::Rc;

use crate::rule::{BinaryOp, Clause, Each, ElementType, Expr, ExprKind, Fold, Function, Kind, Rule, UnaryOp};

use super::case::{Step, Stop, unproved};
use super::element::{Op, Real, number, op};
use super::int::Int;
use super::run::Run;
use super::tensor::Tensor;
use super::value::Value;

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
        // What is asked of an input that is absent is not defined: the condition does not hold.
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
        // Out of range: not defined, so that the condition does not hold, or the rule is not applied.
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
                        // Of an open type only the class matters; to be told that it is one of many would be as many cases.
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

    fn assume_class(&mut self, ty: super::types::Ty, items: &[Value]) -> Step<()> {
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
            Value::Type(t) => self.case.types.of(*t).is_none_or(|t| super::types::class_of(t) == class),
            _ => true,
        });
        if fits { Ok(()) } else { Err(Stop::Impossible) }
    }

    /// Takes for granted that a condition does not hold.
    fn refute(&mut self, e: &Expr, env: &mut Env) -> Step<()> {
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
        Ok(())
    }

    /// Takes for granted that two values are equal.
    pub fn assume_equal(&mut self, a: &Value, b: &Value) -> Step<()> {
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

    /// Takes for granted what the rule requires, as far as its inputs and vertices are there; at the end everything. The sooner, the fewer cases.
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
        (Some((m, 1)), None) => match &m[..] {
            [Atom::Fun(name, arguments)] if &**name == "mod" => match &arguments[..] {
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
