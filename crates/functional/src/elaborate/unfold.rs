//! Evaluates surface trees to core terms.

use std::collections::BTreeMap;
use std::rc::Rc;

use loops::{Diagnostic, Name, Scalar, Size, Span};

use super::cheap::is_cheap;
use super::env::Env;
use super::{Callee, Frame, Fun, Instance, Unfolder, Value, var, wrap};
use crate::infer::finish::misfit;
use crate::infer::inferred_types::Ty;
use crate::infer::node::{Bind, Local, Node, NodeKind};
use crate::prim::Prim;
use crate::syntax::ast::{NumberValue, holds};
use crate::term::{Arg, Binder, Lambda, Literal, Term, TermKind};
use crate::types::DataType;
use crate::walk;

/// So many operations of a long sum are in one term.
const PART: usize = 128;

type Outcome<T> = Result<T, Diagnostic>;

impl<'c> Unfolder<'c> {
    /// The meaning of a tree, where the variables have these values.
    pub(super) fn eval(&mut self, node: &'c Node, frame: &Frame<'c>, env: &Env<'c>) -> Outcome<Value<'c>> {
        self.step(frame.span(node.span))?;
        self.depth += 1;
        let value = self.eval_here(node, frame, env);
        self.depth -= 1;
        value
    }

    fn eval_here(&mut self, node: &'c Node, frame: &Frame<'c>, env: &Env<'c>) -> Outcome<Value<'c>> {
        let span = frame.span(node.span);
        Ok(match &node.kind {
            NodeKind::Local(local) => env.get(*local).cloned().ok_or_else(|| self.broken(span))?,
            NodeKind::Number(value) => {
                let ty = self.typed(&node.ty, frame, span)?;
                if let DataType::Scalar(scalar) | DataType::Vector(_, scalar) = &ty
                    && let Some(why) = value.misfit(*scalar)
                {
                    return Err(misfit(value, *scalar, span, why));
                }
                Value::Term(number(value, &ty, span).ok_or_else(|| self.broken(span))?)
            }
            NodeKind::Bool(value) => {
                let kind = TermKind::Literal(Literal::Bool(*value));
                Value::Term(Term::new(kind, Scalar::Bool.into(), span))
            }
            NodeKind::Size(size) => {
                let ty = self.typed(&node.ty, frame, span)?;
                let size = frame.size(size);
                let kind = match size.as_constant() {
                    Some(value) if ty == DataType::Scalar(Scalar::I64) => {
                        TermKind::Literal(Literal::I64(value))
                    }
                    _ => TermKind::Size(size),
                };
                Value::Term(Term::new(kind, ty, span))
            }
            NodeKind::Prim(prim, sizes) => {
                let sizes = Rc::new(sizes.iter().map(|s| frame.size(s)).collect());
                if matches!(node.ty, Ty::Fun(..)) {
                    let what = Callee::Prim(*prim, sizes, &node.ty, frame.clone());
                    Value::Fun(Rc::new(Fun { what, args: Vec::new() }))
                } else {
                    Value::Term(self.primitive(*prim, &sizes, &node.ty, frame, Vec::new(), span)?)
                }
            }
            NodeKind::Def(name, sizes, types) => {
                let entry = self.defs.get(name).ok_or_else(|| self.broken(span))?;
                let signature = &entry.def.signature;
                let mut instance = Instance::default();
                for (name, size) in signature.sizes.iter().zip(sizes) {
                    instance.sizes.insert(name.clone(), frame.size(size));
                }
                for ((name, _), ty) in signature.types.iter().zip(types) {
                    instance.types.insert(name.clone(), self.typed(ty, frame, span)?);
                }
                instance.foreign = if Some(entry.file) == self.file { None } else { Some(span) };
                let frame = Frame { def: &entry.def, instance: Rc::new(instance) };
                if frame.def.params.is_empty() {
                    self.eval(&frame.def.body, &frame, &Env::default())?
                } else {
                    Value::Fun(Rc::new(Fun { what: Callee::Def(frame), args: Vec::new() }))
                }
            }
            NodeKind::Apply(function, args) => {
                let function = self.eval(function, frame, env)?;
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.eval(arg, frame, env)?);
                }
                self.apply(function, values, span)?
            }
            NodeKind::Lambda(binds, body) => {
                let what = Callee::Lambda(binds, body, env.clone(), frame.clone());
                Value::Fun(Rc::new(Fun { what, args: Vec::new() }))
            }
            NodeKind::Let(bind, value, body) => {
                let value = self.eval(value, frame, env)?;
                self.eval_let(bind, value, body, frame, env)?
            }
            NodeKind::Chain(first, rest) => Value::Term(self.chain(first, rest, frame, env, span)?),
            NodeKind::Array(elements) => {
                let mut terms = Vec::with_capacity(elements.len());
                for element in elements {
                    let term = self.data_term(element, frame, env)?;
                    let view = is_cheap(&term) || matches!(element.kind, NodeKind::Array(_));
                    terms.push(if view { term } else { self.let_value(&Name::new("x"), term) });
                }
                Value::Term(self.array(&terms, span)?)
            }
            NodeKind::Power(base, exponent) => {
                let base = self.data_term(base, frame, env)?;
                Value::Term(self.power(base, *exponent, span)?)
            }
            NodeKind::Error => return Err(self.broken(span)),
        })
    }

    /// A long sum or product. Parts of it get names, so that no stage meets a deep term.
    fn chain(
        &mut self,
        first: &'c Node,
        rest: &'c [(Prim, Node)],
        frame: &Frame<'c>,
        env: &Env<'c>,
        span: Span,
    ) -> Outcome<Term> {
        let mut term = self.data_term(first, frame, env)?;
        for (k, (prim, operand)) in rest.iter().enumerate() {
            let operand = self.data_term(operand, frame, env)?;
            let ty = term.ty().clone();
            term = Term::new(TermKind::Prim(*prim, vec![Arg::Term(term), Arg::Term(operand)]), ty, span);
            if k % PART == PART - 1 {
                // In memory, since a name that is used once is only an abbreviation.
                let ty = term.ty().clone();
                term = Term::new(TermKind::Prim(Prim::ToMem, vec![Arg::Term(term)]), ty, span);
                term = self.let_value(&Name::new("part"), term);
            }
        }
        Ok(term)
    }

    /// The meaning of a tree that is data.
    fn data_term(&mut self, node: &'c Node, frame: &Frame<'c>, env: &Env<'c>) -> Outcome<Term> {
        match self.eval(node, frame, env)? {
            Value::Term(term) => Ok(term),
            Value::Fun(_) => Err(self.broken(frame.span(node.span))),
        }
    }

    /// The array of some elements: a view that chooses among them by bisection.
    fn array(&mut self, elements: &[Term], span: Span) -> Outcome<Term> {
        fn choice(index: &Term, first: usize, elements: &[Term], span: Span) -> Term {
            let (below, above) = match elements {
                [one] => return one.clone(),
                several => several.split_at(several.len() / 2),
            };
            let middle = first + below.len();
            let pivot = TermKind::Literal(Literal::I64(middle as i64));
            let pivot = Term::new(pivot, Scalar::I64.into(), span);
            let whole = vec![Arg::Term(index.clone())];
            let whole = Term::new(TermKind::Prim(Prim::ToI64, whole), Scalar::I64.into(), span);
            let less = TermKind::Prim(Prim::Lt, vec![Arg::Term(whole), Arg::Term(pivot)]);
            let less = Term::new(less, Scalar::Bool.into(), span);
            let ty = elements[0].ty().clone();
            let parts = [less, choice(index, first, below, span), choice(index, middle, above, span)];
            Term::new(TermKind::Prim(Prim::Select, parts.map(Arg::Term).into()), ty, span)
        }
        let Some(first) = elements.first() else { return Err(self.broken(span)) };
        let length = Size::constant(elements.len() as i64);
        let index = self.binder(&Name::new("i"), DataType::Idx(length.clone()));
        let body = choice(&var(&index, span), 0, elements, span);
        let ty = DataType::array(length.clone(), first.ty().clone());
        let f = Lambda { params: vec![index], body };
        Ok(Term::new(TermKind::Prim(Prim::Generate, vec![Arg::Size(length), Arg::Fun(f)]), ty, span))
    }

    /// `base ^ exponent`: from the highest bit of the exponent down, the square, and where the bit
    /// is set the product with the base.
    fn power(&mut self, base: Term, exponent: u32, span: Span) -> Outcome<Term> {
        let ty = base.ty().clone();
        if exponent == 0 {
            return Ok(Term::new(TermKind::Prim(Prim::One, Vec::new()), ty, span));
        }
        let product = |a: &Term, b: &Term| {
            let args = vec![Arg::Term(a.clone()), Arg::Term(b.clone())];
            Term::new(TermKind::Prim(Prim::Mul, args), ty.clone(), span)
        };
        let name = Name::new("power");
        let base = if is_cheap(&base) { base } else { self.let_value(&name, base) };
        let mut power = base.clone();
        for bit in (0..exponent.ilog2()).rev() {
            if power != base {
                power = self.let_value(&name, power);
            }
            power = product(&power, &power);
            if exponent >> bit & 1 == 1 {
                power = product(&power, &base);
            }
        }
        Ok(power)
    }

    /// A `let` of the user stays one, unless it binds a function or takes a name apart.
    fn eval_let(
        &mut self,
        bind: &'c Bind,
        value: Value<'c>,
        body: &'c Node,
        frame: &Frame<'c>,
        env: &Env<'c>,
    ) -> Outcome<Value<'c>> {
        self.lets.push(Vec::new());
        let extended = match (bind, value) {
            (Bind::Local(local), Value::Term(term)) => {
                let name = frame.def.locals[*local as usize].name.clone();
                let variable = self.let_value(&name, term);
                Ok(env.with(*local, Value::Term(variable)))
            }
            (Bind::Pair(..), Value::Term(term)) if !is_cheap(&term) => {
                let variable = self.let_value(&Name::new("p"), term);
                self.bind(bind, Value::Term(variable), frame, env)
            }
            (bind, value) => self.bind(bind, value, frame, env),
        };
        let result = extended.and_then(|env| self.eval(body, frame, &env));
        let lets = self.lets.pop().unwrap_or_default();
        Ok(match result? {
            Value::Term(term) => Value::Term(wrap(lets, term)),
            function => {
                self.lets.last_mut().expect("evaluation is inside a scope").extend(lets);
                function
            }
        })
    }

    /// A new variable for a value, bound around the current scope.
    fn let_value(&mut self, name: &Name, value: Term) -> Term {
        let binder = self.binder(name, value.ty().clone());
        let variable = var(&binder, value.span());
        self.lets.last_mut().expect("evaluation is inside a scope").push((binder, value));
        variable
    }

    /// Binds a parameter to an argument.
    fn bind(
        &mut self,
        bind: &'c Bind,
        value: Value<'c>,
        frame: &Frame<'c>,
        env: &Env<'c>,
    ) -> Outcome<Env<'c>> {
        match (bind, value) {
            (Bind::Ignore, _) => Ok(env.clone()),
            (Bind::Local(local), Value::Fun(f)) => Ok(env.with(*local, Value::Fun(f))),
            (Bind::Local(local), Value::Term(term)) => {
                let info = &frame.def.locals[*local as usize];
                let once = info.uses <= 1 && !info.under_lambda;
                let term = if once || is_cheap(&term) { term } else { self.let_value(&info.name, term) };
                Ok(env.with(*local, Value::Term(term)))
            }
            (Bind::Pair(..), Value::Fun(_)) => Err(self.broken(Span::default())),
            (Bind::Pair(a, b), Value::Term(term)) => {
                if let TermKind::Prim(Prim::Pair, args) = term.kind()
                    && let [Arg::Term(first), Arg::Term(second)] = args.as_slice()
                {
                    let env = self.bind(a, Value::Term(first.clone()), frame, env)?;
                    return self.bind(b, Value::Term(second.clone()), frame, &env);
                }
                let (uses, under) = count_uses(bind, frame);
                let once = uses <= 1 && !under;
                let term = if once || is_cheap(&term) { term } else { self.let_value(&Name::new("p"), term) };
                let (first, second) = components(&term).ok_or_else(|| self.broken(term.span()))?;
                let env = self.bind(a, Value::Term(first), frame, env)?;
                self.bind(b, Value::Term(second), frame, &env)
            }
        }
    }

    /// A function applied to further arguments.
    fn apply(&mut self, function: Value<'c>, args: Vec<Value<'c>>, span: Span) -> Outcome<Value<'c>> {
        self.step(span)?;
        let Value::Fun(fun) = function else {
            return if args.is_empty() { Ok(function) } else { Err(self.broken(span)) };
        };
        let arity = match &fun.what {
            Callee::Lambda(binds, ..) => binds.len(),
            Callee::Prim(_, _, ty, _) => arity(ty),
            Callee::Def(frame) => frame.def.params.len(),
            Callee::Given(f) => f.params.len(),
        };
        let mut all = fun.args.clone();
        all.extend(args);
        if all.len() < arity {
            return Ok(Value::Fun(Rc::new(Fun { what: fun.what.clone(), args: all })));
        }
        let more = all.split_off(arity);
        let result = match &fun.what {
            Callee::Lambda(binds, body, env, frame) => {
                let mut env = env.clone();
                for (bind, value) in binds.iter().zip(all) {
                    env = self.bind(bind, value, frame, &env)?;
                }
                self.eval(body, frame, &env)?
            }
            Callee::Def(frame) => {
                let mut env = Env::default();
                for (local, value) in frame.def.params.iter().zip(all) {
                    let value = match value {
                        Value::Term(term) => self.argument(*local, term, frame),
                        function => function,
                    };
                    env = env.with(*local, value);
                }
                self.eval(&frame.def.body, frame, &env)?
            }
            Callee::Prim(prim, sizes, ty, frame) => {
                Value::Term(self.primitive(*prim, sizes, ty, frame, all, span)?)
            }
            Callee::Given(f) => Value::Term(self.given(f, all, span)?),
        };
        if more.is_empty() { Ok(result) } else { self.apply(result, more, span) }
    }

    /// The argument of a definition: a name for it, if it is used more than once or in a function.
    pub(super) fn argument(&mut self, local: Local, term: Term, frame: &Frame<'c>) -> Value<'c> {
        let info = &frame.def.locals[local as usize];
        let often = info.uses > 1 || info.under_lambda;
        let named = often && !is_cheap(&term);
        Value::Term(if named { self.let_value(&info.name, term) } else { term })
    }

    /// A function of a matched term, applied.
    fn given(&mut self, f: &Lambda, args: Vec<Value<'c>>, span: Span) -> Outcome<Term> {
        let mut replacements = BTreeMap::new();
        for (param, value) in f.params.iter().zip(args) {
            let Value::Term(term) = value else { return Err(self.broken(span)) };
            let once =
                walk::occurrences(&f.body, &param.var) <= 1 && !walk::used_in_function(&f.body, &param.var);
            let term = if once { term } else { self.named(&param.var.name, term) };
            replacements.insert(param.var.clone(), term);
        }
        Ok(walk::settled(&walk::substitute(&f.body, &replacements, &mut self.supply)))
    }

    /// The term with names for what takes work, so that it can be used twice.
    fn named(&mut self, name: &Name, term: Term) -> Term {
        if is_cheap(&term) {
            return term;
        }
        let Some((a, b)) = walk::halves(&term) else { return self.let_value(name, term) };
        let args = [a, b].map(|half| Arg::Term(self.named(name, half.clone())));
        Term::new(TermKind::Prim(Prim::Pair, args.into()), term.ty().clone(), term.span())
    }

    /// A primitive with all its arguments.
    fn primitive(
        &mut self,
        prim: Prim,
        sizes: &[Size],
        ty: &Ty,
        frame: &Frame<'c>,
        values: Vec<Value<'c>>,
        span: Span,
    ) -> Outcome<Term> {
        let mut args: Vec<Arg> = sizes.iter().cloned().map(Arg::Size).collect();
        let mut ty = ty;
        for value in values {
            let Ty::Fun(param, rest) = ty else { return Err(self.broken(span)) };
            args.push(match (value, &**param) {
                (Value::Term(term), _) => Arg::Term(term),
                (function, param @ Ty::Fun(..)) => Arg::Fun(self.reify(function, param, frame, span)?),
                _ => return Err(self.broken(span)),
            });
            ty = rest;
        }
        let ty = self.typed(ty, frame, span)?;
        Ok(Term::new(TermKind::Prim(prim, args), ty, span))
    }

    /// A function as the argument of a primitive.
    fn reify(&mut self, function: Value<'c>, ty: &Ty, frame: &Frame<'c>, span: Span) -> Outcome<Lambda> {
        let Value::Fun(fun) = &function else { return Err(self.broken(span)) };
        let mut names = parameter_names(fun).into_iter();
        let mut params: Vec<Binder> = Vec::new();
        let mut rest = ty;
        while let Ty::Fun(param, result) = rest {
            let name = names.next().unwrap_or_else(|| Name::new("x"));
            let ty = self.typed(param, frame, span)?;
            params.push(self.binder(&name, ty));
            rest = result;
        }
        let args = params.iter().map(|b| Value::Term(var(b, span))).collect();
        self.depth += 1;
        let body = self.scope(|u| u.apply(function, args, span));
        self.depth -= 1;
        Ok(Lambda { params, body: body? })
    }

    fn typed(&self, ty: &Ty, frame: &Frame<'c>, span: Span) -> Outcome<DataType> {
        self.data(ty, frame).ok_or_else(|| self.broken(span))
    }
}

fn arity(mut ty: &Ty) -> usize {
    let mut count = 0;
    while let Ty::Fun(_, rest) = ty {
        count += 1;
        ty = rest;
    }
    count
}

/// Uses of the variables of a pattern, and whether one is inside a function.
fn count_uses(bind: &Bind, frame: &Frame<'_>) -> (u32, bool) {
    match bind {
        Bind::Ignore => (0, false),
        Bind::Local(local) => {
            let info = &frame.def.locals[*local as usize];
            (info.uses, info.under_lambda)
        }
        Bind::Pair(a, b) => {
            let ((m, p), (n, q)) = (count_uses(a, frame), count_uses(b, frame));
            (m + n, p || q)
        }
    }
}

fn components(term: &Term) -> Option<(Term, Term)> {
    let DataType::Pair(a, b) = term.ty() else { return None };
    let part = |prim, ty: &DataType| {
        Term::new(TermKind::Prim(prim, vec![Arg::Term(term.clone())]), ty.clone(), term.span())
    };
    Some((part(Prim::Fst, a), part(Prim::Snd, b)))
}

/// Names for the parameters that a function still waits for.
fn parameter_names(fun: &Fun<'_>) -> Vec<Name> {
    let names: Vec<Name> = match &fun.what {
        Callee::Lambda(binds, _, _, frame) => binds
            .iter()
            .map(|bind| match bind {
                Bind::Local(local) => frame.def.locals[*local as usize].name.clone(),
                Bind::Pair(..) => Name::new("p"),
                Bind::Ignore => Name::new("unused"),
            })
            .collect(),
        Callee::Def(frame) => {
            frame.def.params.iter().map(|l| frame.def.locals[*l as usize].name.clone()).collect()
        }
        Callee::Given(f) => f.params.iter().map(|p| p.var.name.clone()).collect(),
        Callee::Prim(_, _, ty, _) => {
            let (mut names, mut rest) = (Vec::new(), *ty);
            while let Ty::Fun(param, result) = rest {
                let array = matches!(**param, Ty::Array(..));
                let name = match names.len().saturating_sub(fun.args.len()) {
                    0 if array => "xs",
                    0 => "x",
                    _ => "a",
                };
                names.push(Name::new(name));
                rest = result;
            }
            names
        }
    };
    names.into_iter().skip(fun.args.len()).collect()
}

/// A number of a type.
pub(crate) fn number(value: &NumberValue, ty: &DataType, span: Span) -> Option<Term> {
    let scalar = match ty {
        DataType::Scalar(scalar) => *scalar,
        DataType::Idx(_) => {
            let NumberValue::Int(v) = value else { return None };
            let size = Size::constant(i64::try_from(*v).ok()?);
            return Some(Term::new(TermKind::Size(size), ty.clone(), span));
        }
        // All lanes are the number.
        DataType::Vector(k, scalar) => {
            let lane = number(value, &DataType::Scalar(*scalar), span)?;
            let args = vec![Arg::Size(k.clone()), Arg::Term(lane)];
            return Some(Term::new(TermKind::Prim(Prim::Splat, args), ty.clone(), span));
        }
        _ => return None,
    };
    let literal = match (value, scalar) {
        (NumberValue::Int(v), Scalar::F32) => Literal::F32((*v as f32).to_bits()),
        (NumberValue::Int(v), Scalar::F64) => Literal::F64((*v as f64).to_bits()),
        (NumberValue::Int(v), Scalar::I32) => Literal::I32(i32::try_from(*v).ok()?),
        (NumberValue::Int(v), Scalar::I64) => Literal::I64(i64::try_from(*v).ok()?),
        (NumberValue::Int(v), integer) if integer.is_int() => {
            // Of `u64`, the bits.
            holds(integer, *v).then_some(Literal::Integer(integer, *v as i64))?
        }
        (NumberValue::Float(text), Scalar::F32) => Literal::F32(text.parse::<f32>().ok()?.to_bits()),
        (NumberValue::Float(text), Scalar::F64) => Literal::F64(text.parse::<f64>().ok()?.to_bits()),
        _ => return None,
    };
    Some(Term::new(TermKind::Literal(literal), scalar.into(), span))
}
