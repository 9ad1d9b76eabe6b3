//! The target of a rule as tensors.

use std::rc::Rc;

use super::super::case::{Step, Stop, unproved};
use super::super::element::{Real, number};
use super::super::open;
use super::super::operators::{Attributes, Call, apply};
use super::super::symbolic_value::Value;
use super::super::tensor::Tensor;
use super::{Argument, MAX_DEPTH, Made, Run, ints, symbol};
use crate::rule::{AttributeItem, Binding, Call as CallPattern, Pattern, Var};

impl<'a> Run<'a> {
    /// The result of the source that a name of the target replaces, at instance `k`.
    pub(super) fn replaced(&mut self, name: &str, k: usize) -> Option<Tensor> {
        let line = self.line(name)?;
        let k = if symbol(line).is_some() { k } else { 0 };
        self.result(name, k, 0).ok()
    }

    pub(super) fn parts(&mut self, binding: &Binding, made: Made) -> Step<Vec<Made>> {
        if !binding.tuple && binding.names.len() == 1 {
            return Ok(vec![made]);
        }
        match made {
            Made::Many(all) if all.len() >= binding.names.len() => {
                Ok(all.into_iter().map(Made::One).collect())
            }
            _ => unproved("too few results"),
        }
    }

    pub(super) fn target(&mut self, pattern: &'a Pattern, k: usize, results: usize) -> Step<Made> {
        self.active += 1;
        if self.active > 4 * MAX_DEPTH {
            return unproved("a pattern is too deep");
        }
        let made = self.target_inner(pattern, k, results);
        self.active -= 1;
        made
    }

    fn target_inner(&mut self, pattern: &'a Pattern, k: usize, results: usize) -> Step<Made> {
        Ok(match pattern {
            Pattern::Ref(var) => self.target_reference(var, k)?,
            Pattern::Optional(name) => match self.inputs.get(&(name.text.clone(), 0)).cloned() {
                Some(Some(t)) => Made::One(t),
                _ => Made::Absent,
            },
            Pattern::Constant { value, ty, .. } => {
                let mut env = self.env(k);
                let value = self.eval(value, &mut env)?;
                let ty = match ty {
                    Some(e) => Some(self.eval(e, &mut env)?),
                    None => None,
                };
                Made::One(self.constant(value, ty)?)
            }
            Pattern::Call(call) => {
                let all = self.target_call(call, k, results)?;
                if all.len() == 1 { Made::One(all[0].clone()) } else { Made::Many(all) }
            }
            Pattern::Tuple(parts, _) => {
                let mut all = Vec::new();
                for part in parts {
                    match self.target(part, k, 1)? {
                        Made::One(t) => all.push(t),
                        Made::Many(more) => all.extend(more),
                        Made::Absent => return unproved("an absent input in a tuple"),
                    }
                }
                Made::Many(all)
            }
            Pattern::Item(base, e) => {
                let item = self.index(e, k)?;
                let made = match &**base {
                    Pattern::Ref(var) if self.local(var, k)?.is_none() => {
                        return Ok(Made::One(self.item_of(&var.name.text, item)?));
                    }
                    base => self.target(base, k, item + 1)?,
                };
                match made {
                    Made::Many(all) => Made::One(all.get(item).cloned().ok_or(Stop::Impossible)?),
                    Made::One(t) if item == 0 => Made::One(t),
                    _ => return unproved("an item that is not there"),
                }
            }
            Pattern::Spread(base, _) => match &**base {
                Pattern::Ref(var) => {
                    let mut all = Vec::new();
                    while let Some(Made::One(t)) = self.locals.get(&(var.name.text.clone(), all.len())) {
                        all.push(t.clone());
                    }
                    if all.is_empty() {
                        all = self.spread(&var.name.text)?;
                    }
                    Made::Many(all)
                }
                base => self.target(base, k, 2)?,
            },
            Pattern::If(c, yes, no, _) => {
                let mut env = self.env(k);
                let taken = if self.decide(c, &mut env)? { yes } else { no };
                self.target(taken, k, results)?
            }
            Pattern::Case(var, of, _) => {
                let Some(one) = self.alternatives.get(&var.name.text).copied() else {
                    return unproved("which alternative was taken");
                };
                let Some(one) = of.get(one) else { return Err(Stop::Impossible) };
                self.target(one, k, results)?
            }
            Pattern::Wildcard(_) | Pattern::Either(..) => return unproved("a pattern of the source"),
        })
    }

    pub(super) fn local(&mut self, var: &Var, k: usize) -> Step<Option<Made>> {
        let name = var.name.text.clone();
        let at = match &var.index {
            Some(e) => self.index(e, k)?,
            None => 0,
        };
        Ok(self.locals.get(&(name, at)).cloned())
    }

    pub(super) fn target_reference(&mut self, var: &Var, k: usize) -> Step<Made> {
        if let Some(made) = self.local(var, k)? {
            return Ok(made);
        }
        Ok(match self.reference(var, k)? {
            Argument::Given(t) => Made::One(t),
            Argument::Absent => Made::Absent,
            _ => return unproved(format!("`{}` is not known", var.name.text)),
        })
    }

    pub(super) fn constant(&mut self, value: Value, ty: Option<Value>) -> Step<Tensor> {
        let ty = match ty {
            Some(Value::Type(ty)) => Some(ty),
            Some(_) => return unproved("a constant of an open type"),
            None => None,
        };
        Ok(match value {
            Value::Tuple(items) => {
                let list = self.list(ints(&items)?);
                match ty {
                    Some(ty) => Tensor { ty, ..list },
                    None => list,
                }
            }
            Value::Int(n) => self.scalar(Rc::new(Real::Int(n)), ty),
            Value::Real(x) => self.scalar(x, ty),
            _ => return unproved("a constant that is not known"),
        })
    }

    pub(super) fn scalar(&mut self, x: Rc<Real>, ty: Option<super::super::types::Ty>) -> Tensor {
        let ty = ty.unwrap_or_else(|| self.case.types.open());
        let x = match &*x {
            Real::Int(n) => match self.case.norm(n).constant() {
                Some(n) => number(n as f64),
                None => x,
            },
            _ => x,
        };
        Tensor::new(Vec::new(), ty, Rc::new(move |_, _| Ok(x.clone())))
    }

    fn target_call(&mut self, call: &'a CallPattern, k: usize, results: usize) -> Step<Vec<Tensor>> {
        if !call.operator.domain.is_empty() {
            return unproved("an operator that is not of the standard");
        }
        let op = self.operators.get(&call.operator.name).unwrap_or(&call.operator.name).clone();
        let mut inputs: Vec<Option<Tensor>> = Vec::new();
        let mut plain = Vec::new();
        for pattern in &call.arguments {
            let number = matches!(pattern, Pattern::Constant { ty: None, long: false, .. });
            match self.target(pattern, k, 1)? {
                Made::One(t) => {
                    if number && t.rank() == 0 && t.value.is_none() {
                        plain.push(inputs.len());
                    }
                    inputs.push(Some(t));
                }
                Made::Many(all) => inputs.extend(all.into_iter().map(Some)),
                Made::Absent => inputs.push(None),
            }
        }
        // A plain number has the type of the other inputs.
        let peer = inputs.iter().enumerate().find(|(k, t)| t.is_some() && !plain.contains(k));
        if let Some(ty) = peer.and_then(|(_, t)| t.as_ref().map(|t| t.ty)) {
            for at in plain {
                if let Some(t) = &mut inputs[at] {
                    t.ty = ty;
                }
            }
        }
        while matches!(inputs.last(), Some(None)) {
            inputs.pop();
        }
        let mut attributes = Attributes::new();
        for item in &call.attributes {
            match item {
                AttributeItem::Like(var) => {
                    let instance = self.instance_of(var, k)?;
                    let like =
                        self.vertices.get(&(var.name.text.clone(), instance)).ok_or(Stop::Impossible)?;
                    for (name, value) in &like.attributes {
                        if like.op == op || open::has(&op, name) {
                            attributes.insert(name.clone(), value.clone());
                        }
                    }
                }
                AttributeItem::Is(name, e) => {
                    let mut env = self.env(k);
                    match self.eval(e, &mut env)? {
                        Value::Unknown => {
                            return unproved(format!("the attribute `{}` is not known", name.text));
                        }
                        Value::None => {
                            attributes.remove(&name.text);
                        }
                        value => {
                            // An attribute has 32 bits: what is computed for wider numbers may not
                            // fit.
                            if let Value::Real(x) = &value
                                && !matches!(&**x, Real::Constant(_))
                                && !matches!(&**x, Real::Number(x) if f64::from(*x as f32) == *x)
                                && !inputs.iter().flatten().any(|t| self.case.types.narrow(t.ty))
                            {
                                return unproved(
                                    "a computed attribute has 32 bits, the elements may have more",
                                );
                            }
                            attributes.insert(name.text.clone(), value);
                        }
                    }
                }
            }
        }
        let sizes = inputs.get(1).cloned().flatten().and_then(|t| t.value).map_or(0, |v| v.len());
        let results = if op == "Split" {
            let branches = self.counts.values().copied().max().unwrap_or(1);
            results.max(sizes).max(branches)
        } else {
            1
        };
        let made =
            apply(&mut self.case, &Call { op: &op, attributes: &attributes, inputs: &inputs, results })?;
        Ok(made)
    }
}
