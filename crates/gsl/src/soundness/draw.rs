//! Draws models on which the source of a rule matches, or almost matches. The pattern is read as a
//! program that builds such a model.
//!
//! Inputs and attributes that the pattern leaves open are drawn at random. Conditions are not
//! solved. Instead, calls of one operator often get the same attributes and extents, and numbers of
//! the rule are used as constants. The matcher decides what is an instance.

mod read;

use std::collections::HashMap;

use graph::operators::{self, Role};
use graph::{AttributeValue, ElementType, Graph, Model, NewNode, NodeId, Place, Tensor, ValueId};

use crate::rule::{
    Action, AttributeItem, Binding, Clause, Count, Expr, ExprKind, Kind, OperatorClass, Pattern, Rule, Trait,
    UnaryOp, Var,
};

use read::{collect_numbers, int, items, symbol};

use super::shapes::{self, Attributes, Call, Fill, Slot};
use super::values::{self, Dice};
use super::{elements, integers, literals};
use crate::value::type_code;

/// How deep patterns may be nested.
const MAX_DEPTH: usize = 64;

/// The greatest rank of a tensor whose rank is not determined, and the greatest one that is
/// sometimes drawn if the rule distinguishes ranks.
const RANK: usize = 4;
const MAX_RANK: usize = 7;
/// How many branches a model may have.
const MAX_BRANCHES: usize = 8;

/// A model with elements of one of these types, or nothing if the draw led to a contradiction.
pub(super) fn model(rule: &Rule, types: &[ElementType], dice: &mut Dice) -> Option<Model> {
    let mut draw = Draw {
        rule,
        dice,
        graph: Graph::new("instance"),
        vertices: HashMap::new(),
        inputs: HashMap::new(),
        counts: HashMap::new(),
        operators: HashMap::new(),
        habits: HashMap::new(),
        numbers: vec![0.0, 1.0, 2.0, 0.5, -1.0, std::f64::consts::SQRT_2, 1e-5],
        elem: ElementType::F64,
        opset: 0,
        depth: 0,
    };
    draw.run(types)?;
    let opset = draw.opset;
    Some(Model::new(draw.graph, opset))
}

/// What a pattern has become.
enum Made {
    Value(ValueId),
    Many(Vec<ValueId>),
    /// An input that the call around it has to draw.
    Hole(Option<(String, usize)>),
    Number(Vec<f64>, bool),
    Absent,
}

struct Draw<'a> {
    rule: &'a Rule,
    dice: &'a mut Dice,
    graph: Graph,
    vertices: HashMap<(String, usize), NodeId>,
    inputs: HashMap<(String, usize), Option<ValueId>>,
    counts: HashMap<String, usize>,
    operators: HashMap<String, String>,
    /// Attributes and drawn inputs of the last call of an operator: the next one often gets the
    /// same.
    habits: HashMap<String, (Attributes, Vec<Fill>)>,
    numbers: Vec<f64>,
    elem: ElementType,
    opset: i64,
    depth: usize,
}

impl Draw<'_> {
    fn run(&mut self, types: &[ElementType]) -> Option<()> {
        self.elem = self.dice.pick(types);
        self.opset = elements::opset(self.rule, self.dice);
        let reach = literals::reach(self.rule);
        let wide = reach.rank > RANK && self.dice.once_in(3);
        self.dice.rank = if wide { reach.rank.min(MAX_RANK) } else { RANK };
        let most = reach.branches.min(MAX_BRANCHES) as i64;
        for index in &self.rule.indices {
            let count = match &index.count {
                Count::AtLeast(e) => {
                    let least = int(e)?;
                    least + self.dice.below(usize::try_from(most - least + 1).unwrap_or(0).max(3)) as i64
                }
                Count::Between(low, high) => {
                    int(low)? + self.dice.below((int(high)? - int(low)?).max(1) as usize) as i64
                }
                Count::Exactly(e) => int(e)?,
            };
            self.counts
                .insert(index.name.text.clone(), usize::try_from(count).ok().filter(|n| *n <= MAX_BRANCHES)?);
        }
        for variable in &self.rule.operators {
            let mut of: Vec<String> = Vec::new();
            for class in &variable.class {
                match class {
                    OperatorClass::Named(name) if name.domain.is_empty() => of.push(name.name.clone()),
                    OperatorClass::Named(_) => {}
                    OperatorClass::Trait(Trait::Elementwise, _) => {
                        of.extend(shapes::ELEMENTWISE.iter().map(|s| (*s).into()))
                    }
                    OperatorClass::Trait(Trait::Broadcasting, _) => {
                        of.extend(shapes::BROADCASTING.iter().map(|s| (*s).into()))
                    }
                    OperatorClass::Trait(Trait::Any, _) => {
                        of.extend(
                            shapes::ELEMENTWISE.iter().chain(shapes::BROADCASTING).map(|s| (*s).into()),
                        );
                    }
                }
            }
            let op = if of.is_empty() { return None } else { self.dice.pick(&of) };
            self.operators.insert(variable.name.text.clone(), op);
        }
        let rule = self.rule;
        for line in &rule.conditions {
            let (Clause::Require(e) | Clause::Let(_, e)) = &line.value;
            collect_numbers(e, &mut self.numbers);
        }
        for line in &rule.source {
            for k in 0..self.instances(&line.value) {
                self.bind(&line.value, k)?;
            }
        }
        self.outputs()
    }

    /// How many instances a binding has.
    fn instances(&self, binding: &Binding) -> usize {
        symbol(binding).and_then(|s| self.counts.get(s)).copied().unwrap_or(1)
    }

    fn bind(&mut self, binding: &Binding, k: usize) -> Option<()> {
        let key = binding.names.iter().flatten().next()?.name.text.clone();
        if self.vertices.contains_key(&(key, k)) {
            return Some(());
        }
        let results = self.results(binding);
        let made = self.pattern(&binding.pattern, k, results)?;
        let Made::Value(value) = made else { return None };
        let (node, _) = self.graph.producer(value)?;
        for name in binding.names.iter().flatten() {
            self.vertices.insert((name.name.text.clone(), k), node);
        }
        Some(())
    }

    /// How many results the vertex of a binding needs at least, where its operator leaves that
    /// open.
    fn results(&mut self, binding: &Binding) -> usize {
        if binding.tuple {
            return binding.names.len();
        }
        let Some(Some(var)) = binding.names.first() else { return 1 };
        let mut most = 0;
        for line in &self.rule.source {
            items(&line.value.pattern, &var.name.text, &mut |index| {
                most = most.max(match index {
                    Some(e) => match &e.kind {
                        ExprKind::Int(n) => *n as usize + 1,
                        ExprKind::Name(s) => self.counts.get(s).copied().unwrap_or(1),
                        _ => 1,
                    },
                    None => 2,
                });
            });
        }
        if most == 0 { 1 } else { most + usize::from(self.dice.once_in(3)) }
    }

    fn pattern(&mut self, pattern: &Pattern, k: usize, results: usize) -> Option<Made> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let made = self.pattern_inner(pattern, k, results);
        self.depth -= 1;
        made
    }

    fn pattern_inner(&mut self, pattern: &Pattern, k: usize, results: usize) -> Option<Made> {
        match pattern {
            Pattern::Wildcard(_) => Some(Made::Hole(None)),
            Pattern::Ref(var) => self.reference(var, k),
            Pattern::Optional(name) => {
                let key = (name.text.clone(), 0);
                match self.inputs.get(&key) {
                    Some(Some(value)) => Some(Made::Value(*value)),
                    Some(None) => Some(Made::Absent),
                    None if self.dice.once_in(2) => {
                        self.inputs.insert(key, None);
                        Some(Made::Absent)
                    }
                    None => Some(Made::Hole(Some(key))),
                }
            }
            Pattern::Constant { value, .. } => {
                let mut numbers = Vec::new();
                collect_numbers(value, &mut numbers);
                Some(Made::Number(numbers, matches!(value.kind, ExprKind::Tuple(_))))
            }
            Pattern::Call(call) => {
                let op = self
                    .operators
                    .get(&call.operator.name)
                    .cloned()
                    .unwrap_or_else(|| call.operator.name.clone());
                if !call.operator.domain.is_empty() {
                    return None;
                }
                let mut arguments = Vec::new();
                for argument in &call.arguments {
                    match self.pattern(argument, k, 2)? {
                        Made::Many(values) => arguments.extend(values.into_iter().map(Made::Value)),
                        made => arguments.push(made),
                    }
                }
                if call.either && self.dice.once_in(2) {
                    arguments.reverse();
                }
                self.call(&op, arguments, &call.attributes, k, results).map(Made::Value)
            }
            Pattern::Tuple(parts, _) => {
                let mut many = Vec::new();
                for part in parts {
                    let Made::Value(value) = self.pattern(part, k, 1)? else { return None };
                    many.push(value);
                }
                Some(Made::Many(many))
            }
            Pattern::Item(base, index) => {
                let item = self.index(index, k)?;
                match self.pattern(base, k, item + 1)? {
                    Made::Value(value) => {
                        let (node, _) = self.graph.producer(value)?;
                        self.graph.node(node).output(item).map(Made::Value)
                    }
                    Made::Many(values) => values.get(item).copied().map(Made::Value),
                    _ => None,
                }
            }
            Pattern::Spread(base, _) => {
                if let Pattern::Ref(var) = &**base {
                    let name = &var.name.text;
                    let line = self.rule.source.iter().find(|line| {
                        symbol(&line.value).is_some()
                            && line.value.names.iter().flatten().any(|v| v.name.text == *name)
                    });
                    if let Some(line) = line {
                        for k in 0..self.instances(&line.value) {
                            self.bind(&line.value, k)?;
                        }
                    }
                    let instances = (0..8).map_while(|k| self.vertices.get(&(name.clone(), k)).copied());
                    let nodes: Vec<NodeId> = instances.collect();
                    if nodes.len() > 1 {
                        return Some(Made::Many(
                            nodes.iter().filter_map(|n| self.graph.node(*n).output(0)).collect(),
                        ));
                    }
                }
                let Made::Value(value) = self.pattern(base, k, 2)? else { return None };
                let (node, _) = self.graph.producer(value)?;
                Some(Made::Many(self.graph.node(node).outputs().iter().flatten().copied().collect()))
            }
            Pattern::Either(of, _) => {
                let one = self.dice.below(of.len());
                self.pattern(of.get(one)?, k, results)
            }
            Pattern::If(..) | Pattern::Case(..) => None,
        }
    }

    fn index(&self, e: &Expr, k: usize) -> Option<usize> {
        match &e.kind {
            ExprKind::Int(n) => usize::try_from(*n).ok(),
            ExprKind::Name(s) if self.counts.contains_key(s) => Some(k),
            _ => None,
        }
    }

    fn reference(&mut self, var: &Var, k: usize) -> Option<Made> {
        let name = var.name.text.clone();
        let rule = self.rule;
        let defined =
            rule.source.iter().find(|line| line.value.names.iter().flatten().any(|v| v.name.text == name));
        let index = var.index.as_ref().map(|e| self.index(e, k));
        let Some(line) = defined else {
            let key = (name, index.map_or(Some(0), |i| i)?);
            return Some(match self.inputs.get(&key) {
                Some(Some(value)) => Made::Value(*value),
                Some(None) => Made::Absent,
                None => Made::Hole(Some(key)),
            });
        };
        let variadic = symbol(&line.value).is_some();
        let (instance, item) = match (variadic, index) {
            (true, Some(at)) => (at?, None),
            (true, None) => return None,
            (false, Some(item)) => (0, Some(item?)),
            (false, None) => (0, None),
        };
        if !self.vertices.contains_key(&(name.clone(), instance)) {
            self.bind(&line.value, instance)?;
        }
        let node = self.graph.node(*self.vertices.get(&(name.clone(), instance))?);
        let place = line.value.names.iter().position(|v| v.as_ref().is_some_and(|v| v.name.text == name))?;
        node.output(item.unwrap_or(if line.value.tuple { place } else { 0 })).map(Made::Value)
    }

    fn call(
        &mut self,
        op: &str,
        arguments: Vec<Made>,
        items: &[AttributeItem],
        k: usize,
        results: usize,
    ) -> Option<ValueId> {
        let slots: Vec<Slot> = arguments
            .iter()
            .map(|made| match made {
                Made::Value(value) => {
                    let ty = self.graph.value(*value).tensor_type()?;
                    Some(Slot::Known(ty.known_shape()?))
                }
                Made::Hole(_) => Some(Slot::Hole),
                Made::Number(numbers, list) => {
                    Some(Slot::Known(if *list { vec![numbers.len()] } else { Vec::new() }))
                }
                Made::Absent | Made::Many(_) => Some(Slot::Absent),
            })
            .collect::<Option<_>>()?;
        let most = graph::schema::lookup("", op, self.opset).and_then(|s| s.output_range().1);
        let results = most.map_or(results, |most| results.min(most));
        let call = Call { op, slots: &slots, elem: self.elem, opset: self.opset, results };
        let habit = self.habits.get(op).cloned();
        let mut attributes = match &habit {
            Some((attributes, _)) if self.dice.once_in(2) => attributes.clone(),
            _ => call.attributes(self.dice)?,
        };
        for item in items {
            match item {
                // `y[i] = Conv(…) { ..y[0] }`: the first instance has nothing to copy yet.
                AttributeItem::Like(var) => attributes = self.attributes_of(var, k).unwrap_or(attributes),
                AttributeItem::Is(name, e) => {
                    let Some(value) = self.attribute(e, k) else { continue };
                    attributes.retain(|a| a.0 != name.text);
                    if let Some(value) = value {
                        attributes.push((name.text.clone(), value));
                    }
                }
            }
        }
        let mut fills = call.fills(&attributes, self.dice)?;
        // Inputs that depend on other inputs of the call (a bias) are not reused.
        let depends = operators::lookup("", op).is_some_and(|entry| entry.slot(Role::Channel).is_some());
        let free = !depends || fills.len() < 2;
        if let Some((_, last)) = habit.filter(|h| free && h.1.len() == fills.len()) {
            for (fill, old) in fills.iter_mut().zip(last) {
                if old.elem == fill.elem && old.dims.len() == fill.dims.len() && self.dice.once_in(2) {
                    *fill = old;
                }
            }
        }
        self.habits.insert(op.to_owned(), (attributes.clone(), fills.clone()));
        let mut fills = fills.into_iter();
        let mut inputs: Vec<Option<ValueId>> = Vec::new();
        for made in arguments {
            inputs.push(match made {
                Made::Value(value) => Some(value),
                Made::Hole(key) => {
                    let fill = fills.next()?;
                    // `Mul(x, x)`: both were holes when the patterns were read.
                    let same = key.as_ref().and_then(|key| self.inputs.get(key).copied().flatten());
                    Some(match same {
                        Some(value) => value,
                        None => self.input(key, fill)?,
                    })
                }
                Made::Number(numbers, list) => Some(self.number(op, &numbers, list)?),
                Made::Absent | Made::Many(_) => None,
            });
        }
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        self.takes(op, &inputs).then_some(())?;
        let outputs: Vec<Option<ValueId>> =
            (0..results.max(1)).map(|_| Some(self.graph.add_value("t"))).collect();
        let mut node = NewNode::new(graph::Operator::standard(op), inputs, outputs.clone());
        for (name, value) in attributes {
            node = node.with(name.as_str(), value);
        }
        let id = self.graph.insert(node, Place::Last);
        graph::infer_node(&mut self.graph, self.opset, id).ok()?;
        self.graph.value(outputs[0]?).tensor_type()?.known_shape()?;
        outputs[0]
    }

    /// Whether the standard allows elements of this type for the operator. Inference and evaluation
    /// accept more.
    fn takes(&self, op: &str, inputs: &[Option<ValueId>]) -> bool {
        let of = inputs.get(usize::from(op == "Where")).copied().flatten();
        let ty = of.and_then(|v| self.graph.value(v).tensor_type());
        ty.is_none_or(|ty| match ty.elem.is_int() {
            true => integers::admitted(op).contains(&ty.elem),
            false => !elements::takes_integers_only(op),
        })
    }

    /// An input of the model, or a parameter if the rule asks for one.
    fn input(&mut self, key: Option<(String, usize)>, fill: Fill) -> Option<ValueId> {
        let name = key.as_ref().map_or("x", |k| k.0.as_str());
        let parameter = self.asked(name, Kind::Parameter) || self.asked(name, Kind::Constant);
        let variable = self.asked(name, Kind::Variable) || self.asked(name, Kind::Input);
        let value = if let Some(tensor) = fill.value {
            self.graph.add_initializer(name, tensor)
        } else if parameter || (!variable && self.dice.once_in(5)) {
            let count = values::count(&fill.dims)?;
            let tensor = if count == 1 && !fill.positive && !self.dice.once_in(3) {
                let number = self.dice.pick(&self.numbers);
                values::of_numbers(fill.elem, fill.dims, &[number])?
            } else {
                values::random(fill.elem, fill.dims, fill.positive, self.dice)?
            };
            self.graph.add_initializer(name, tensor)
        } else if fill.positive {
            let tensor = values::random(fill.elem, fill.dims, true, self.dice)?;
            self.graph.add_initializer(name, tensor)
        } else {
            let ty =
                graph::TensorType::new(fill.elem, fill.dims.iter().map(|d| graph::Dim::Known(*d as i64)));
            self.graph.add_input(name, ty)
        };
        if let Some(key) = key {
            self.inputs.insert(key, Some(value));
        }
        Some(value)
    }

    fn number(&mut self, op: &str, numbers: &[f64], list: bool) -> Option<ValueId> {
        let entry = operators::lookup("", op);
        let axes = entry.is_some_and(|entry| entry.inputs.iter().any(|(_, role)| role.is_structure()));
        let amount = entry.is_some_and(|entry| entry.elements.others && entry.slot(Role::Amount).is_some());
        let elem = match axes {
            true => ElementType::I64,
            // The exponent may be of another type than what it is the exponent of.
            false if amount && self.elem.is_int() && self.dice.once_in(2) => ElementType::F32,
            false => self.elem,
        };
        let dims =
            if list { vec![numbers.len()] } else { self.dice.pick(&[vec![], vec![], vec![1], vec![1, 1]]) };
        let tensor: Tensor = values::of_numbers(elem, dims, numbers)?;
        Some(self.graph.add_initializer("k", tensor))
    }

    /// Whether a condition of the rule says `name is kind`, for the input or for an instance of it.
    fn asked(&self, name: &str, kind: Kind) -> bool {
        fn go(e: &Expr, name: &str, kind: Kind) -> bool {
            match &e.kind {
                ExprKind::Is(inner, k) => {
                    let base = match &inner.kind {
                        ExprKind::Item(base, _) => base,
                        _ => inner,
                    };
                    *k == kind && matches!(&base.kind, ExprKind::Name(n) if n == name)
                }
                ExprKind::Binary(_, a, b) => go(a, name, kind) || go(b, name, kind),
                _ => false,
            }
        }
        self.rule.conditions.iter().any(|line| matches!(&line.value, Clause::Require(e) if go(e, name, kind)))
    }

    fn attributes_of(&self, var: &Var, k: usize) -> Option<Attributes> {
        let instance = match &var.index {
            Some(e) => self.index(e, k)?,
            None => 0,
        };
        let node = self.graph.node(*self.vertices.get(&(var.name.text.clone(), instance))?);
        Some(node.attributes().iter().map(|a| (a.name.to_string(), a.value.clone())).collect())
    }

    /// `None`: not known; `Some(None)`: absent.
    #[allow(clippy::option_option)]
    fn attribute(&self, e: &Expr, k: usize) -> Option<Option<AttributeValue>> {
        match &e.kind {
            ExprKind::Int(n) => Some(Some((*n).into())),
            ExprKind::Float(x) => Some(Some((*x as f32).into())),
            ExprKind::Str(s) => Some(Some(s.as_str().into())),
            ExprKind::Bool(b) => Some(Some(i64::from(*b).into())),
            ExprKind::Type(t) => Some(Some(i64::from(type_code(*t)).into())),
            ExprKind::Unary(UnaryOp::Neg, inner) => match inner.kind {
                ExprKind::Int(n) => Some(Some((-n).into())),
                _ => None,
            },
            ExprKind::Tuple(items) => {
                let ints: Option<Vec<i64>> = items.iter().map(int).collect();
                ints.map(|v| Some(v.into()))
            }
            ExprKind::Field(base, name) => {
                let (vertex, instance) = match &base.kind {
                    ExprKind::Name(n) => (n, 0),
                    ExprKind::Item(inner, at) => match &inner.kind {
                        ExprKind::Name(n) => (n, self.index(at, k)?),
                        _ => return None,
                    },
                    _ => return None,
                };
                let node = self.graph.node(*self.vertices.get(&(vertex.clone(), instance))?);
                Some(node.attribute(&name.text).cloned())
            }
            _ => None,
        }
    }

    /// The results that the target replaces are the model's outputs.
    fn outputs(&mut self) -> Option<()> {
        let rule = self.rule;
        let mut any = false;
        for line in &rule.target {
            let Action::Bind(binding) = &line.value else { continue };
            for var in binding.names.iter().flatten() {
                let source = rule.source.iter().find_map(|l| {
                    let at = l
                        .value
                        .names
                        .iter()
                        .position(|v| v.as_ref().is_some_and(|v| v.name.text == var.name.text));
                    at.map(|at| (at, l.value.tuple))
                });
                let Some((place, tuple)) = source else { continue };
                for k in 0..8 {
                    let Some(node) = self.vertices.get(&(var.name.text.clone(), k)) else { break };
                    let value = self.graph.node(*node).output(if tuple { place } else { 0 })?;
                    self.output(value)?;
                    any = true;
                }
            }
        }
        any.then_some(())
    }
}

impl Draw<'_> {
    /// An output of the model, or the operand of one: what is an output itself keeps its name, and
    /// a rule that removes a vertex can't always.
    fn output(&mut self, value: ValueId) -> Option<()> {
        if self.graph.value(value).is_output()
            || self.graph.value(value).use_count() > 0 && self.dice.once_in(2)
        {
            return Some(());
        }
        let op = match self.graph.value(value).tensor_type()?.elem {
            ElementType::Bool => "Not",
            elem if elem.is_int() && !integers::is_signed(elem) => "Identity",
            _ => "Neg",
        };
        let output = if self.dice.once_in(3) { value } else { self.graph.add(op, [value]) };
        self.graph.add_output(output);
        Some(())
    }
}
