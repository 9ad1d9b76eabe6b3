//! Runs one case of a rule: its source pattern as tensors, its conditions as facts, its target as
//! tensors to compare with.

use std::collections::HashMap;
use std::rc::Rc;

use crate::rule::{
    Action, AttributeItem, Binding, Call as CallPattern, Clause, Count, Expr, ExprKind, OperatorClass,
    Pattern, Rule, Trait, Var,
};

use super::case::{Case, Mode, Step, Stop, unproved};
use super::element::{Real, number, strict};
use super::int::Int;
use super::open::{self, Open};
use super::operators::{Attributes, Call, apply};
use super::ring;
use super::symbolic_expr::Named;
use super::symbolic_value::Value;
use super::tensor::Tensor;

mod target_side;

/// How deep patterns may be nested.
const MAX_DEPTH: usize = 32;

/// Of no more branches than this a rule is proved.
const MAX_BRANCHES: usize = 8;

/// A vertex of the source.
pub(super) struct Vertex {
    op: String,
    attributes: Attributes,
    results: Vec<Tensor>,
}

/// What a pattern of the target has become.
#[derive(Clone)]
enum Made {
    One(Tensor),
    Many(Vec<Tensor>),
    Absent,
}

/// How far a comparison went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Equal {
    /// By laws that keep every bit.
    pub exact: bool,
}

pub(super) struct Run<'a> {
    pub rule: &'a Rule,
    pub case: Case,
    pub lets: HashMap<String, &'a Expr>,
    pub depth: usize,
    /// Conditions that have not been looked at yet.
    pub pending: Vec<&'a Expr>,
    vertices: HashMap<(String, usize), Vertex>,
    inputs: HashMap<(String, usize), Option<Tensor>>,
    counts: HashMap<String, usize>,
    operators: HashMap<String, String>,
    locals: HashMap<(String, usize), Made>,
    inputs_made: usize,
    /// Vertices in construction, so that a rule that refers to itself terminates.
    active: usize,
    /// Which alternative of a pattern was taken, by vertex.
    alternatives: HashMap<String, usize>,
    /// What the conditions say of inputs at once.
    known: HashMap<String, open::Known>,
}

impl<'a> Run<'a> {
    pub fn new(rule: &'a Rule, case: Case) -> Run<'a> {
        let lets = rule.conditions.iter().filter_map(|line| match &line.value {
            Clause::Let(name, e) => Some((name.text.clone(), e)),
            Clause::Require(_) => None,
        });
        let more = rule.target.iter().filter_map(|line| match &line.value {
            Action::Let(name, e) => Some((name.text.clone(), e)),
            Action::Bind(_) => None,
        });
        Run {
            rule,
            case,
            lets: lets.chain(more).collect(),
            depth: 0,
            pending: super::symbolic_expr::requirements(rule),
            vertices: HashMap::new(),
            inputs: HashMap::new(),
            counts: HashMap::new(),
            operators: HashMap::new(),
            locals: HashMap::new(),
            inputs_made: 0,
            active: 0,
            alternatives: HashMap::new(),
            known: open::known(rule),
        }
    }

    /// Compares what the source and the target compute.
    pub fn prove(&mut self) -> Step<Equal> {
        self.choose_classes()?;
        let rule = self.rule;
        for line in &rule.source {
            for k in 0..self.instances(&line.value) {
                self.bind(&line.value, k)?;
            }
        }
        self.conditions(true)?;
        self.case.mode = Mode::Show;
        let mut exact = true;
        let mut compared = 0;
        for line in &rule.target {
            let Action::Bind(binding) = &line.value else { continue };
            for k in 0..self.instances(binding) {
                let made = self.target(&binding.pattern, k, 1)?;
                let parts = self.parts(binding, made)?;
                for (var, part) in binding.names.iter().zip(parts) {
                    let Some(var) = var else { continue };
                    if let Some(old) = self.replaced(&var.name.text, k) {
                        let Made::One(new) = &part else { return unproved("a result that is no tensor") };
                        exact &= self.compare(&old, new)?.exact;
                        compared += 1;
                    }
                    self.locals.insert((var.name.text.clone(), k), part);
                }
            }
        }
        if compared == 0 {
            return unproved("nothing is replaced");
        }
        Ok(Equal { exact })
    }

    fn compare(&mut self, old: &Tensor, new: &Tensor) -> Step<Equal> {
        if old.rank() != new.rank() {
            return unproved("the ranks differ");
        }
        for (a, b) in old.shape.iter().zip(&new.shape) {
            self.case.equal(a, b, "the result")?;
        }
        self.case.same_type(old.ty, new.ty, "the result")?;
        // A place in the result; it exists only if no extent is 0.
        let place: Vec<Int> = old
            .shape
            .iter()
            .map(|n| if self.case.norm(n).is(1) { Int::default() } else { self.case.index(n) })
            .collect();
        let (a, b) = (old.at(&mut self.case, &place)?, new.at(&mut self.case, &place)?);
        let ((a, x), (b, y)) = (strict(&mut self.case, &a)?, strict(&mut self.case, &b)?);
        if x == y {
            return Ok(Equal { exact: true });
        }
        if ring::equal(&mut self.case, &a, &b)? {
            return Ok(Equal { exact: false });
        }
        unproved("the two sides have different normal forms")
    }

    fn choose_classes(&mut self) -> Step<()> {
        let rule = self.rule;
        for index in &rule.indices {
            let least = |e: &Expr| match &e.kind {
                ExprKind::Int(n) => usize::try_from(*n).ok().filter(|n| *n <= MAX_BRANCHES),
                _ => None,
            };
            let most = self.case.bounds.branches;
            let (low, high) = match &index.count {
                Count::AtLeast(e) => (least(e), Some(most)),
                Count::Between(low, high) => (least(low), least(high).map(|n| n.saturating_sub(1).min(most))),
                Count::Exactly(e) => (least(e), least(e)),
            };
            let (Some(low), Some(high)) = (low, high) else {
                return unproved("the number of branches is open");
            };
            let n = low + self.case.choose((high + 1).saturating_sub(low));
            self.counts.insert(index.name.text.clone(), n);
        }
        for variable in &rule.operators {
            let mut of: Vec<String> = Vec::new();
            for class in &variable.class {
                of.push(match class {
                    OperatorClass::Named(name) if name.domain.is_empty() => name.name.clone(),
                    // The trait says all that is known of it.
                    OperatorClass::Trait(Trait::Elementwise, _) => format!("?{}", variable.name.text),
                    _ => return unproved("an operator of which nothing is known"),
                });
            }
            let k = self.case.choose(of.len());
            let op = of.into_iter().nth(k).ok_or(Stop::Impossible)?;
            self.operators.insert(variable.name.text.clone(), op);
        }
        Ok(())
    }

    /// The number of values of an index symbol.
    pub fn count(&self, symbol: &str) -> Option<usize> {
        self.counts.get(symbol).copied()
    }

    /// The number of instances of a vertex, or else of its results.
    pub fn length(&self, name: &str) -> Option<usize> {
        let line = self.line(name)?;
        match symbol(line) {
            Some(s) => self.count(s),
            None => self.vertices.get(&(name.to_owned(), 0)).map(|v| v.results.len()),
        }
    }

    fn line(&self, name: &str) -> Option<&'a Binding> {
        let rule = self.rule;
        rule.source.iter().map(|l| &l.value).find(|b| b.names.iter().flatten().any(|v| v.name.text == name))
    }

    fn instances(&self, binding: &Binding) -> usize {
        symbol(binding).and_then(|s| self.counts.get(s)).copied().unwrap_or(1)
    }

    /// A vertex or an input by its name.
    pub fn thing(&mut self, name: &str, k: usize) -> Step<Named> {
        if self.line(name).is_some() {
            return Ok(Named::Vertex(name.to_owned(), k));
        }
        match self.inputs.get(&(name.to_owned(), k)) {
            Some(t) => Ok(Named::Tensor(t.clone())),
            None => Err(Stop::Impossible),
        }
    }

    /// Whether there is a vertex or an input of this name by now.
    pub fn exists(&self, name: &str) -> bool {
        let key = (name.to_owned(), 0);
        self.vertices.contains_key(&key) || self.inputs.contains_key(&key)
    }

    /// An attribute of a vertex.
    pub fn attribute(&self, vertex: &str, k: usize, name: &str) -> Value {
        let Some(v) = self.vertices.get(&(vertex.to_owned(), k)) else { return Value::Unknown };
        if name == "pads"
            && !matches!(v.attributes.get("auto_pad"), None | Some(Value::None))
            && !matches!(v.attributes.get("auto_pad"), Some(Value::Text(s)) if s == "NOTSET")
        {
            return Value::Unknown;
        }
        v.attributes.get(name).cloned().unwrap_or(Value::Unknown)
    }

    /// A result of a vertex: of a template that of instance `k`.
    pub fn result(&mut self, name: &str, k: usize, item: usize) -> Step<Tensor> {
        let Some(line) = self.line(name) else { return Err(Stop::Impossible) };
        if !self.vertices.contains_key(&(name.to_owned(), k)) {
            self.bind(line, k)?;
        }
        let place = line.names.iter().position(|v| v.as_ref().is_some_and(|v| v.name.text == name));
        let item = if line.tuple { place.unwrap_or(0) } else { item };
        let vertex = self.vertices.get(&(name.to_owned(), k)).ok_or(Stop::Impossible)?;
        vertex.results.get(item).cloned().ok_or(Stop::Impossible)
    }

    /// `s[k]`, of a vertex that is no template.
    pub(crate) fn item_of(&mut self, name: &str, k: usize) -> Step<Tensor> {
        self.result(name, 0, k)
    }

    fn bind(&mut self, binding: &'a Binding, k: usize) -> Step<()> {
        let Some(first) = binding.names.iter().flatten().next() else {
            return unproved("a call without a name");
        };
        if self.vertices.contains_key(&(first.name.text.clone(), k)) {
            return Ok(());
        }
        self.active += 1;
        if self.active > MAX_DEPTH {
            return unproved("a pattern is too deep");
        }
        let results = self.asked(binding)?;
        let pattern = self.alternative(&binding.pattern, &first.name.text);
        let Pattern::Call(call) = pattern else { return unproved("a vertex that is no call") };
        let vertex = self.source_call(call, k, results)?;
        self.active -= 1;
        for name in binding.names.iter().flatten() {
            let copy = Vertex {
                op: vertex.op.clone(),
                attributes: vertex.attributes.clone(),
                results: vertex.results.clone(),
            };
            self.vertices.insert((name.name.text.clone(), k), copy);
        }
        Ok(())
    }

    fn alternative(&mut self, pattern: &'a Pattern, name: &str) -> &'a Pattern {
        let Pattern::Either(of, _) = pattern else { return pattern };
        let k = self.case.choose(of.len());
        self.alternatives.insert(name.to_owned(), k);
        &of[k.min(of.len() - 1)]
    }

    /// How many results a vertex has, where its operator leaves that open: what the pattern uses,
    /// or more.
    fn asked(&mut self, binding: &Binding) -> Step<usize> {
        if binding.tuple {
            return Ok(binding.names.len());
        }
        let Pattern::Call(call) = &binding.pattern else { return Ok(1) };
        if call.operator.name == "Split" {
            let most = self.case.bounds.branches;
            return Ok(1 + self.case.choose(most));
        }
        Ok(1)
    }

    fn source_call(&mut self, call: &'a CallPattern, k: usize, results: usize) -> Step<Vertex> {
        if !call.operator.domain.is_empty() {
            return unproved("an operator that is not of the standard");
        }
        let op = self.operators.get(&call.operator.name).unwrap_or(&call.operator.name).clone();
        let mut arguments = Vec::new();
        for pattern in &call.arguments {
            self.argument(pattern, k, &mut arguments)?;
        }
        // The order of the operands of a sum or product is not a case of its own.
        if call.either && !matches!(op.as_str(), "Add" | "Mul") && self.case.choose(2) == 1 {
            arguments.reverse();
        }
        // Inputs that the pattern leaves open are tensors of every rank.
        let mut inputs: Vec<Option<Tensor>> = Vec::new();
        for (slot, argument) in arguments.into_iter().enumerate() {
            let tensor = match argument {
                Argument::Given(t) => Some(t),
                Argument::Absent => None,
                Argument::Number(x) => Some(self.number(x)?),
                Argument::List(items) => Some(self.list(items)),
                Argument::Open(key) => {
                    let known = key.as_ref().and_then(|key| self.inputs.get(key)).cloned();
                    let tensor = match known {
                        Some(t) => t,
                        None => {
                            let id = self.inputs_made;
                            self.inputs_made += 1;
                            let name = key.as_ref().map_or("x", |k| k.0.as_str());
                            let known = self.known.get(name).copied().unwrap_or_default();
                            let open = Open { op: &op, slot, others: &inputs, results, id, name, known };
                            Some(open.tensor(&mut self.case)?)
                        }
                    };
                    if let Some(key) = key {
                        self.inputs.insert(key, tensor.clone());
                    }
                    tensor
                }
            };
            inputs.push(tensor);
        }
        while matches!(inputs.last(), Some(None)) {
            inputs.pop();
        }
        self.conditions(false)?;
        // Attributes that the pattern determines need not be enumerated.
        let mut said: HashMap<String, Value> = HashMap::new();
        for item in &call.attributes {
            if let AttributeItem::Is(name, e) = item {
                let mut env = self.env(k);
                let value = self.eval(e, &mut env)?;
                if !matches!(value, Value::Unknown) {
                    said.insert(name.text.clone(), value);
                }
            }
        }
        let mut attributes = open::attributes(&mut self.case, &op, &inputs, &said)?;
        for (at, item) in call.attributes.iter().enumerate() {
            match item {
                AttributeItem::Like(var) => {
                    let instance = self.instance_of(var, k)?;
                    let Some(like) = self.vertices.get(&(var.name.text.clone(), instance)) else { continue };
                    if like.op != op {
                        return unproved("attributes of another operator");
                    }
                    // Those that a later item names may differ.
                    let except: Vec<&str> = call.attributes[at..]
                        .iter()
                        .filter_map(|i| {
                            if let AttributeItem::Is(n, _) = i { Some(n.text.as_str()) } else { None }
                        })
                        .collect();
                    for (name, value) in like.attributes.clone() {
                        if !except.contains(&name.as_str()) {
                            attributes.insert(name, value);
                        }
                    }
                }
                AttributeItem::Is(name, _) => {
                    if let Some(value) = said.get(&name.text) {
                        attributes.insert(name.text.clone(), value.clone());
                    }
                }
            }
        }
        let results =
            apply(&mut self.case, &Call { op: &op, attributes: &attributes, inputs: &inputs, results })?;
        Ok(Vertex { op, attributes, results })
    }

    fn env(&self, k: usize) -> Vec<(String, Value)> {
        self.counts.keys().map(|s| (s.clone(), Value::int(k as i64))).collect()
    }

    fn instance_of(&mut self, var: &Var, k: usize) -> Step<usize> {
        match &var.index {
            None => Ok(0),
            Some(e) => self.index(e, k),
        }
    }

    fn index(&mut self, e: &Expr, k: usize) -> Step<usize> {
        let mut env = self.env(k);
        let Value::Int(n) = self.eval(e, &mut env)? else { return unproved("an index is open") };
        match self.case.norm(&n).constant().map(usize::try_from) {
            Some(Ok(n)) => Ok(n),
            _ => unproved("an index is open"),
        }
    }

    /// A tensor of one element with this value.
    fn number(&mut self, x: Rc<Real>) -> Step<Tensor> {
        let rank = self.case.choose(self.case.bounds.rank + 1);
        let ty = self.case.types.open();
        Ok(Tensor::new(vec![Int::from(1); rank], ty, Rc::new(move |_, _| Ok(x.clone()))))
    }

    fn list(&mut self, items: Vec<Int>) -> Tensor {
        let id = self.inputs_made;
        self.inputs_made += 1;
        let ty = self.case.types.known(crate::rule::ElementType::Int64);
        Tensor::list(id, items, ty)
    }

    fn argument(&mut self, pattern: &'a Pattern, k: usize, out: &mut Vec<Argument>) -> Step<()> {
        self.active += 1;
        if self.active > MAX_DEPTH {
            return unproved("a pattern is too deep");
        }
        match pattern {
            Pattern::Wildcard(_) => out.push(Argument::Open(None)),
            Pattern::Ref(var) => {
                let one = self.reference(var, k)?;
                out.push(one);
            }
            Pattern::Optional(name) => {
                let key = (name.text.clone(), 0);
                let known = self.inputs.get(&key).cloned();
                out.push(match known {
                    Some(Some(t)) => Argument::Given(t),
                    Some(None) => Argument::Absent,
                    None if self.case.choose(2) == 0 => {
                        self.inputs.insert(key, None);
                        Argument::Absent
                    }
                    None => Argument::Open(Some(key)),
                });
            }
            Pattern::Constant { value, .. } => {
                let mut env = self.env(k);
                out.push(match self.eval(value, &mut env)? {
                    Value::Int(n) => Argument::Number(Rc::new(match self.case.norm(&n).constant() {
                        Some(n) => Real::Number(n as f64),
                        None => Real::Int(n),
                    })),
                    Value::Real(x) => Argument::Number(x),
                    Value::Bool(b) => Argument::Number(number(f64::from(u8::from(b)))),
                    Value::Tuple(items) => Argument::List(ints(&items)?),
                    _ => return unproved("a constant that is not known"),
                });
            }
            Pattern::Call(call) => {
                let vertex = self.source_call(call, k, 1)?;
                out.push(Argument::Given(vertex.results.into_iter().next().ok_or(Stop::Impossible)?));
            }
            Pattern::Item(base, e) => match &**base {
                Pattern::Ref(var) => {
                    let item = self.index(e, k)?;
                    let instance = self.instance_of(var, k)?;
                    let t = self.result(&var.name.text, instance, item)?;
                    out.push(Argument::Given(t));
                }
                _ => return unproved("an item of a pattern without a name"),
            },
            Pattern::Spread(base, _) => match &**base {
                Pattern::Ref(var) => {
                    let all = self.spread(&var.name.text)?;
                    out.extend(all.into_iter().map(Argument::Given));
                }
                _ => return unproved("all items of a pattern without a name"),
            },
            Pattern::Either(of, _) => {
                let one = self.case.choose(of.len());
                let Some(one) = of.get(one) else { return Err(Stop::Impossible) };
                self.argument(one, k, out)?;
            }
            Pattern::Tuple(parts, _) => {
                for part in parts {
                    self.argument(part, k, out)?;
                }
            }
            Pattern::If(..) | Pattern::Case(..) => return unproved("a pattern of the target"),
        }
        self.active -= 1;
        Ok(())
    }

    /// All instances of a template, of a vertex or an input, or all results of a call.
    fn spread(&mut self, name: &str) -> Step<Vec<Tensor>> {
        if let Some(line) = self.line(name) {
            return match symbol(line) {
                Some(s) => {
                    let n = self.count(s).unwrap_or(0);
                    (0..n).map(|k| self.result(name, k, 0)).collect()
                }
                None => {
                    self.result(name, 0, 0)?;
                    let vertex = self.vertices.get(&(name.to_owned(), 0)).ok_or(Stop::Impossible)?;
                    Ok(vertex.results.clone())
                }
            };
        }
        let mut all = Vec::new();
        while let Some(Some(t)) = self.inputs.get(&(name.to_owned(), all.len())) {
            all.push(t.clone());
        }
        if all.is_empty() { unproved("instances that are not known yet") } else { Ok(all) }
    }

    fn reference(&mut self, var: &Var, k: usize) -> Step<Argument> {
        let name = &var.name.text;
        let index = match &var.index {
            Some(e) => Some(self.index(e, k)?),
            None => None,
        };
        let Some(line) = self.line(name) else {
            let key = (name.clone(), index.unwrap_or(0));
            return Ok(match self.inputs.get(&key).cloned() {
                Some(Some(t)) => Argument::Given(t),
                Some(None) => Argument::Absent,
                None => Argument::Open(Some(key)),
            });
        };
        let template = symbol(line).is_some();
        let t = match (template, index) {
            (true, Some(at)) => self.result(name, at, 0)?,
            (true, None) => return unproved("a template without an index"),
            (false, item) => self.result(name, 0, item.unwrap_or(0))?,
        };
        Ok(Argument::Given(t))
    }
}

/// An argument of a call of the source.
enum Argument {
    Given(Tensor),
    Open(Option<(String, usize)>),
    Absent,
    Number(Rc<Real>),
    List(Vec<Int>),
}

fn ints(items: &[Value]) -> Step<Vec<Int>> {
    items
        .iter()
        .map(|v| match v {
            Value::Int(n) => Ok(n.clone()),
            _ => unproved("a list that is not of integers"),
        })
        .collect()
}

/// The index symbol of a variadic binding.
fn symbol(binding: &Binding) -> Option<&str> {
    let var = binding.names.iter().flatten().next()?;
    match &var.index.as_ref()?.kind {
        ExprKind::Name(s) => Some(s),
        _ => None,
    }
}
