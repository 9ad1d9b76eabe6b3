//! Evaluates attribute expressions for a match.

use std::cell::RefCell;

use graph::operators::{self, Role, Work};
use graph::simplify::{FoldOptions, is_folded};
use graph::{AttributeValue, Graph, Model, Node, NodeId, Operator, Producer, Tensor, ValueId};

use crate::program::{Deps, Inst, Item, Over, Property, REach, RExpr, Requirement, ValueRef, Variant, What};
use crate::rule::{BinaryOp, Fold, Kind, UnaryOp};
use crate::value::{
    Eval, MAX_ITEMS, Undefined, Value, apply, binary, equal, fold, item, negate, slice, type_code,
};

/// Tensors with more elements than this are not looked into.
const MAX_ELEMENTS: usize = 1 << 16;

/// Facts about the values of a graph that matching asks for again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// By value: whether it is an initializer, or folding makes one of it. What folding leaves
    /// alone is computed each time the model runs.
    parameter: Vec<bool>,
}

impl Facts {
    /// The facts of a graph whose nodes are in topological order. Linear.
    pub fn of(model: &Model) -> Facts {
        let mut facts = Facts::default();
        facts.grow(&model.graph);
        for (id, _) in model.graph.nodes() {
            facts.add(model, id);
        }
        facts
    }

    /// Notes new values that are not results of nodes.
    pub fn grow(&mut self, graph: &Graph) {
        let from = self.parameter.len();
        self.parameter.resize(graph.value_bound(), false);
        for (id, value) in graph.values_from(from) {
            self.parameter[id.index()] = value.producer() == Producer::Initializer;
        }
    }

    /// Notes the results of a new node, whose types are inferred.
    pub fn add(&mut self, model: &Model, id: NodeId) {
        if self.parameter.len() < model.graph.value_bound() {
            self.grow(&model.graph);
        }
        let folded = is_folded(&model.graph, id, model.opset(), &FoldOptions::for_models(), &|v| {
            self.parameter.get(v.index()).copied().unwrap_or(false)
        });
        for output in model.graph.node(id).outputs().iter().flatten() {
            self.parameter[output.index()] = folded;
        }
    }

    pub fn is_parameter(&self, value: ValueId) -> bool {
        self.parameter.get(value.index()).copied().unwrap_or(false)
    }
}

/// What has been matched to what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// By vertex of the pattern and instance.
    pub vertices: Vec<Vec<Option<NodeId>>>,
    /// By input of the pattern and instance; `Some(None)`: an optional input that is absent.
    pub inputs: Vec<Vec<Option<Option<ValueId>>>>,
    pub operators: Vec<Option<Operator>>,
    /// Number of instances, by index symbol.
    pub counts: Vec<usize>,
}

impl Found {
    pub fn new(variant: &Variant) -> Found {
        Found {
            vertices: vec![Vec::new(); variant.vertices.len()],
            inputs: vec![Vec::new(); variant.inputs.len()],
            operators: vec![None; variant.operators.len()],
            counts: vec![0; variant.symbols.len()],
        }
    }

    pub fn vertex(&self, v: usize, inst: usize) -> Option<NodeId> {
        self.vertices[v].get(inst).copied().flatten()
    }

    pub fn input(&self, k: usize, inst: usize) -> Option<Option<ValueId>> {
        self.inputs[k].get(inst).copied().flatten()
    }
}

/// Everything that evaluation looks at.
pub(crate) struct Context<'a> {
    pub model: &'a Model,
    pub facts: &'a Facts,
    pub variant: &'a Variant,
    pub found: &'a Found,
    /// Closed lets that have been evaluated; only where the match is final.
    pub memo: Option<&'a RefCell<Vec<Option<Eval<Value>>>>>,
}

/// Values of symbols, by slot.
pub(crate) type Env = Vec<Option<Value>>;

impl<'a> Context<'a> {
    pub fn env(&self) -> Env {
        vec![None; self.variant.slots]
    }

    /// An environment in which an index symbol has a value.
    pub(crate) fn env_at(&self, symbol: Option<usize>, k: usize) -> Env {
        let mut env = self.env();
        if let Some(s) = symbol {
            env[s] = Some(Value::Int(k as i64));
        }
        env
    }

    fn graph(&self) -> &'a Graph {
        &self.model.graph
    }

    pub(crate) fn inst(&self, inst: &Inst, env: &mut Env) -> Eval<usize> {
        match inst {
            Inst::Shared => Ok(0),
            Inst::Slot(s) => {
                env[*s].as_ref().and_then(Value::int).and_then(|n| usize::try_from(n).ok()).ok_or(Undefined)
            }
            Inst::At(e) => self.eval(e, env)?.int().and_then(|n| usize::try_from(n).ok()).ok_or(Undefined),
        }
    }

    pub fn vertex(&self, v: usize, inst: &Inst, env: &mut Env) -> Eval<NodeId> {
        let inst = self.inst(inst, env)?;
        self.found.vertex(v, inst).ok_or(Undefined)
    }

    /// The value of the graph; `None` for an optional input that is absent.
    pub fn value(&self, value: &ValueRef, env: &mut Env) -> Eval<Option<ValueId>> {
        let inst = self.inst(&value.inst, env)?;
        match &value.what {
            What::Input(k) => self.found.input(*k, inst).ok_or(Undefined),
            What::Result(v, item) => {
                let node = self.found.vertex(*v, inst).ok_or(Undefined)?;
                let item = match item {
                    Item::Fixed(k) => *k,
                    Item::Computed(e) => {
                        self.eval(e, env)?.int().and_then(|n| usize::try_from(n).ok()).ok_or(Undefined)?
                    }
                };
                Ok(self.graph().node(node).output(item))
            }
        }
    }

    /// Whether all that an expression needs is matched.
    pub fn ready(&self, deps: &Deps, env: &mut Env) -> bool {
        deps.vertices.iter().all(|(v, inst)| self.vertex(*v, inst, env).is_ok())
            && deps
                .inputs
                .iter()
                .all(|(k, inst)| self.inst(inst, env).is_ok_and(|inst| self.found.input(*k, inst).is_some()))
    }

    pub fn holds(&self, requirement: &Requirement, env: &mut Env) -> bool {
        let holds = || -> Eval<bool> {
            match requirement {
                Requirement::Holds(e) => self.eval(e, env)?.truth(),
                Requirement::Attribute(v, inst, name, e) => {
                    let node = self.vertex(*v, inst, env)?;
                    let (a, b) = (self.attribute(node, name)?, self.eval(e, env)?);
                    equal(&a, &b)
                }
                Requirement::Like(v, inst, w, w_inst, except) => {
                    let (a, b) = (self.vertex(*v, inst, env)?, self.vertex(*w, w_inst, env)?);
                    self.alike(a, b, except)
                }
            }
        };
        let mut holds = holds;
        holds().unwrap_or(false)
    }

    fn alike(&self, a: NodeId, b: NodeId, except: &[String]) -> Eval<bool> {
        if a == b {
            return Ok(true);
        }
        let (x, y) = (self.graph().node(a), self.graph().node(b));
        let mut names: Vec<&str> = x.attributes().iter().chain(y.attributes()).map(|a| &*a.name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            if except.iter().any(|e| e == name) {
                continue;
            }
            if !equal(&self.attribute(a, name)?, &self.attribute(b, name)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn eval(&self, e: &RExpr, env: &mut Env) -> Eval<Value> {
        Ok(match e {
            RExpr::Int(n) => Value::Int(*n),
            RExpr::Float(x) => Value::Float(*x),
            RExpr::Str(s) => Value::text(s),
            RExpr::Bool(b) => Value::Bool(*b),
            RExpr::None => Value::None,
            RExpr::Type(t) => Value::Type(type_code(*t)),
            RExpr::Slot(s) => env[*s].clone().ok_or(Undefined)?,
            RExpr::Let(k) => return self.named(*k, env),
            RExpr::Attribute(v, inst, name) => {
                let node = self.vertex(*v, inst, env)?;
                self.attribute(node, name)?
            }
            RExpr::Property(value, property) => {
                let value = self.value(value, env)?.ok_or(Undefined)?;
                self.property(value, *property)?
            }
            RExpr::Operator(v, inst) => {
                let node = self.vertex(*v, inst, env)?;
                Value::text(&self.graph().node(node).op().to_string())
            }
            RExpr::Is(value, kind) => Value::Bool(self.is(self.value(value, env)?, *kind)),
            RExpr::Instances(s) => Value::Int(self.found.counts[*s] as i64),
            RExpr::Results(v, inst) => {
                let node = self.vertex(*v, inst, env)?;
                Value::Int(self.graph().node(node).outputs().len() as i64)
            }
            RExpr::Item(base, index) => {
                // One extent of a shape is asked for most often: no need for the whole tuple.
                let index = self.eval(index, env)?;
                item(&self.eval(base, env)?, &index)?
            }
            RExpr::Slice(base, low, high) => {
                let bound =
                    |e: &Option<Box<RExpr>>, env: &mut Env| e.as_ref().map(|e| self.eval(e, env)).transpose();
                let (low, high) = (bound(low, env)?, bound(high, env)?);
                slice(&self.eval(base, env)?, low.as_ref(), high.as_ref())?
            }
            RExpr::Tuple(items) => {
                Value::tuple(items.iter().map(|e| self.eval(e, env)).collect::<Eval<_>>()?)
            }
            RExpr::Unary(UnaryOp::Neg, inner) => negate(&self.eval(inner, env)?)?,
            RExpr::Unary(UnaryOp::Not, inner) => Value::Bool(!self.eval(inner, env)?.truth()?),
            RExpr::Binary(BinaryOp::And, a, b) => {
                Value::Bool(self.eval(a, env)?.truth()? && self.eval(b, env)?.truth()?)
            }
            RExpr::Binary(BinaryOp::Or, a, b) => {
                // If one side is true it does not matter that the other is not known.
                match self.eval(a, env).and_then(|v| v.truth()) {
                    Ok(true) => Value::Bool(true),
                    Ok(false) => Value::Bool(self.eval(b, env)?.truth()?),
                    Err(Undefined) if self.eval(b, env)?.truth()? => Value::Bool(true),
                    Err(Undefined) => return Err(Undefined),
                }
            }
            RExpr::Binary(op, a, b) => binary(*op, &self.eval(a, env)?, &self.eval(b, env)?)?,
            RExpr::If(c, a, b) => {
                if self.eval(c, env)?.truth()? {
                    self.eval(a, env)?
                } else {
                    self.eval(b, env)?
                }
            }
            RExpr::Call(function, arguments) => {
                let arguments = arguments.iter().map(|e| self.eval(e, env)).collect::<Eval<Vec<_>>>()?;
                apply(*function, &arguments)?
            }
            RExpr::Map(each) => Value::tuple(self.each(each, env)?),
            RExpr::Fold(f, each) => self.folded(*f, each, env)?,
        })
    }

    fn folded(&self, f: Fold, each: &REach, env: &mut Env) -> Eval<Value> {
        fold(f, &self.each(each, env)?)
    }

    fn each(&self, each: &REach, env: &mut Env) -> Eval<Vec<Value>> {
        let saved = env[each.slot].clone();
        let mut out = Vec::new();
        let mut one = |value: Value, env: &mut Env| -> Eval<()> {
            env[each.slot] = Some(value);
            if let Some(filter) = &each.filter
                && !self.eval(filter, env)?.truth()?
            {
                return Ok(());
            }
            out.push(self.eval(&each.body, env)?);
            if out.len() > MAX_ITEMS { Err(Undefined) } else { Ok(()) }
        };
        let result = match &each.over {
            Over::Tuple(e) => self.eval(e, env).and_then(|items| {
                let Value::Tuple(items) = items else { return Err(Undefined) };
                items.iter().try_for_each(|v| one(v.clone(), env))
            }),
            Over::Symbol(s) => (0..self.found.counts[*s]).try_for_each(|k| one(Value::Int(k as i64), env)),
        };
        env[each.slot] = saved;
        result.map(|()| out)
    }

    fn named(&self, k: usize, env: &mut Env) -> Eval<Value> {
        let Some(memo) = self.memo.filter(|_| self.variant.lets[k].closed) else {
            return self.eval(&self.variant.lets[k].value, env);
        };
        if let Some(known) = &memo.borrow()[k] {
            return known.clone();
        }
        let value = self.eval(&self.variant.lets[k].value, env);
        memo.borrow_mut()[k] = Some(value.clone());
        value
    }

    fn is(&self, value: Option<ValueId>, kind: Kind) -> bool {
        let Some(value) = value else { return kind == Kind::Absent };
        match kind {
            Kind::Present => true,
            Kind::Absent => false,
            Kind::Parameter => self.facts.is_parameter(value),
            Kind::Variable => !self.facts.is_parameter(value),
            Kind::Constant => self.graph().constant(value).is_some(),
            Kind::Input => self.graph().value(value).producer() == Producer::Input,
        }
    }

    fn property(&self, value: ValueId, property: Property) -> Eval<Value> {
        if property == Property::Value {
            return self.elements(value);
        }
        let ty = self.graph().value(value).tensor_type().ok_or(Undefined)?;
        Ok(match property {
            Property::Type => Value::Type(ty.elem.code()),
            Property::Rank => Value::Int(ty.rank().ok_or(Undefined)? as i64),
            Property::Shape | Property::Value => {
                Value::Tuple(ty.shape.as_ref().ok_or(Undefined)?.iter().map(Value::from_dim).collect())
            }
            Property::Size => {
                let shape = ty.shape.as_ref().ok_or(Undefined)?;
                let product = |a: Value, d| binary(BinaryOp::Mul, &a, &Value::from_dim(d));
                shape.iter().try_fold(Value::Int(1), product)?
            }
        })
    }

    fn elements(&self, value: ValueId) -> Eval<Value> {
        if let Some(tensor) = self.graph().constant(value) {
            return tensor_value(tensor);
        }
        let v = self.graph().value(value);
        let known = v.known_elements().ok_or(Undefined)?;
        let scalar = v.tensor_type().and_then(|t| t.rank()) == Some(0);
        if scalar {
            return known.first().map(Value::from_dim).ok_or(Undefined);
        }
        Ok(Value::Tuple(known.iter().map(Value::from_dim).collect()))
    }

    /// Whether the value is a constant of one element, or of a tuple of them, with this value.
    pub fn is_constant(&self, value: ValueId, wanted: &Value) -> bool {
        let Some(tensor) = self.graph().constant(value) else { return false };
        let Ok(have) = tensor_value(tensor) else { return false };
        match (&have, wanted) {
            // A number also matches a tensor of one element.
            (Value::Tuple(items), Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Bool(_)) => {
                items.len() == 1 && equal(&items[0], wanted) == Ok(true)
            }
            _ => equal(&have, wanted) == Ok(true),
        }
    }

    /// An attribute of a node, with the default of the operator where there is none, and `none`
    /// where there is no default.
    pub fn attribute(&self, node: NodeId, name: &str) -> Eval<Value> {
        let n = self.graph().node(node);
        if matches!(name, "pads") && !matches!(n.string("auto_pad", "NOTSET"), "NOTSET" | "VALID" | "") {
            return Err(Undefined);
        }
        if let Some(value) = n.attribute(name) {
            return match value {
                AttributeValue::Reference(_) => Err(Undefined),
                value => Ok(Value::from_attribute(value)),
            };
        }
        if let Some(default) = self.shaped_default(n, name)? {
            return Ok(default);
        }
        let op = n.op();
        let version = self.model.version(&op.domain).unwrap_or(i64::MAX);
        let schema = graph::schema::lookup(&op.domain, &op.name, version);
        let default = schema.and_then(|s| s.attribute(name)).and_then(|a| a.default);
        Ok(default.map_or(Value::None, default_value))
    }

    /// Defaults that depend on the rank: those of windows and of permutations.
    fn shaped_default(&self, n: &Node, name: &str) -> Eval<Option<Value>> {
        let rank_of =
            |k: usize| n.input(k).and_then(|v| self.graph().value(v).tensor_type()?.rank()).ok_or(Undefined);
        let op = n.op();
        if op.is("Transpose") && name == "perm" {
            let rank = rank_of(0)? as i64;
            return Ok(Some(Value::Tuple((0..rank).rev().map(Value::Int).collect())));
        }
        let Some(entry) = operators::lookup("", &op.name).filter(|_| op.is_standard()) else {
            return Ok(None);
        };
        let convolution = entry.work == Work::Convolution;
        let window = convolution || entry.work == Work::Window;
        if !window || !matches!(name, "strides" | "dilations" | "pads" | "kernel_shape" | "output_padding") {
            return Ok(None);
        }
        let weight = entry.slot(Role::Weights).unwrap_or(1);
        if name == "kernel_shape" {
            if !convolution {
                return Err(Undefined);
            }
            let w = n.input(weight).ok_or(Undefined)?;
            let shape = self.property(w, Property::Shape)?;
            return slice(&shape, Some(&Value::Int(2)), None).map(Some);
        }
        let k = match n.ints("kernel_shape") {
            Some(shape) => shape.len(),
            None if convolution => rank_of(weight)?.checked_sub(2).ok_or(Undefined)?,
            None => rank_of(0)?.checked_sub(2).ok_or(Undefined)?,
        };
        Ok(Some(match name {
            "pads" => Value::ints(&vec![0; 2 * k]),
            "output_padding" => Value::ints(&vec![0; k]),
            _ => Value::ints(&vec![1; k]),
        }))
    }
}

/// The elements of a constant: one for a tensor without dimensions, else a tuple, row-major.
pub(crate) fn tensor_value(tensor: &Tensor) -> Eval<Value> {
    if tensor.count() > MAX_ELEMENTS {
        return Err(Undefined);
    }
    let items: Vec<Value> = if let Some(ints) = tensor.to_ints() {
        ints.into_iter().map(Value::Int).collect()
    } else if let Some(bools) = tensor.to_bools() {
        bools.into_iter().map(Value::Bool).collect()
    } else {
        let ints = tensor.elem.is_int();
        let numbers = tensor.to_numbers().ok_or(Undefined)?;
        let double = tensor.elem == graph::ElementType::F64;
        let float = if double { Value::Double } else { Value::Float };
        numbers.into_iter().map(|x| if ints { Value::Int(x as i64) } else { float(x) }).collect()
    };
    if tensor.dims.is_empty() { items.into_iter().next().ok_or(Undefined) } else { Ok(Value::tuple(items)) }
}

/// A default of the schema table.
fn default_value(text: &str) -> Value {
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return Value::Tuple(
            inner.split(',').filter(|t| !t.trim().is_empty()).map(|t| default_value(t.trim())).collect(),
        );
    }
    if let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return Value::text(inner);
    }
    if let Ok(n) = text.parse() {
        return Value::Int(n);
    }
    text.parse::<f32>().map_or(Value::None, |x| Value::Float(f64::from(x)))
}
