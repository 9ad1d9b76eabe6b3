//! Builds nodes from the target's patterns.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use graph::simplify::FoldOptions;
use graph::{
    Attribute, AttributeValue, ElementType, Model, NewNode, NodeId, Operator, Place, Producer, Tensor,
    ValueId,
};

use crate::eval::{Context, Env, Facts, Found};
use crate::program::{Inst, OpPattern, RExpr, Target, TargetAttribute, TargetCall, Variant};
use crate::resolve::PER_INSTANCE;
use crate::rewrite::Refusal;
use crate::value::{Eval, Undefined, Value};

/// The new vertices of a rewrite, still beside the old ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Built {
    /// In topological order.
    pub new: Vec<NodeId>,
    /// New parameters.
    pub constants: Vec<ValueId>,
    /// Old result and new value.
    pub replacements: Vec<(ValueId, ValueId)>,
}

/// What a pattern of the target made.
#[derive(Clone, Debug)]
enum Made {
    Absent,
    Value(ValueId),
    /// A parameter that the graph gets when something needs it there.
    Tensor(Rc<Parameter>),
    /// The results of a call.
    Results(Rc<[Option<ValueId>]>),
    Tuple(Rc<[Made]>),
}

/// A constant that was computed.
#[derive(Debug)]
struct Parameter {
    tensor: Tensor,
    /// Where the graph has it, once it does.
    value: OnceCell<ValueId>,
}

impl Made {
    fn tensor(tensor: Tensor) -> Made {
        Made::Tensor(Rc::new(Parameter { tensor, value: OnceCell::new() }))
    }

    fn items(&self) -> Vec<Made> {
        match self {
            Made::Results(all) => all.iter().map(|v| v.map_or(Made::Absent, Made::Value)).collect(),
            Made::Tuple(all) => all.to_vec(),
            one => vec![one.clone()],
        }
    }

    fn len(&self) -> usize {
        match self {
            Made::Results(all) => all.len(),
            Made::Tuple(all) => all.len(),
            _ => 1,
        }
    }

    /// One of [`Made::items`], without the others.
    fn item(&self, k: usize) -> Option<Made> {
        match self {
            Made::Results(all) => all.get(k).map(|v| v.map_or(Made::Absent, Made::Value)),
            Made::Tuple(all) => all.get(k).cloned(),
            one => (k == 0).then(|| one.clone()),
        }
    }
}

/// Makes the vertices of one target.
pub(crate) struct Builder<'a> {
    model: &'a mut Model,
    facts: &'a mut Facts,
    variant: &'a Variant,
    found: &'a Found,
    place: Place,
    memo: &'a RefCell<Vec<Option<Eval<Value>>>>,
    cells: Vec<Option<Made>>,
    /// By local and instance.
    locals: Vec<Vec<Made>>,
    built: Built,
    /// Calls of constants are computed at once.
    pub fold: bool,
}

impl<'a> Builder<'a> {
    pub fn new(
        model: &'a mut Model,
        facts: &'a mut Facts,
        variant: &'a Variant,
        found: &'a Found,
        place: Place,
        memo: &'a RefCell<Vec<Option<Eval<Value>>>>,
    ) -> Builder<'a> {
        let locals = variant
            .target
            .iter()
            .flat_map(|b| b.names.iter().flatten())
            .map(|n| n.local + 1)
            .max()
            .unwrap_or(0);
        Builder {
            model,
            facts,
            variant,
            found,
            place,
            memo,
            cells: vec![None; variant.cells],
            locals: vec![Vec::new(); locals],
            built: Built::default(),
            fold: false,
        }
    }

    pub fn finish(self, replacements: Vec<(ValueId, ValueId)>) -> Built {
        Built { replacements, ..self.built }
    }

    /// Takes back what was made.
    pub(crate) fn abandon(self) {
        for id in self.built.new.iter().rev() {
            self.model.graph.remove_node(*id);
        }
        for value in self.built.constants.iter().rev() {
            self.model.graph.remove_value_if_unused(*value);
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            model: self.model,
            facts: self.facts,
            variant: self.variant,
            found: self.found,
            memo: Some(self.memo),
        }
    }

    fn eval(&self, e: &RExpr, env: &mut Env) -> Result<Value, Refusal> {
        self.context().eval(e, env).map_err(|Undefined| Refusal::Undefined)
    }

    /// Makes everything; returns old results with the values that replace them.
    pub fn run(&mut self) -> Result<Vec<(ValueId, ValueId)>, Refusal> {
        let variant = self.variant;
        let mut replacements = Vec::new();
        for binding in &variant.target {
            let count = binding.symbol.map_or(1, |s| self.found.counts[s]);
            for inst in 0..count {
                let mut env = self.context().env_at(binding.symbol, inst);
                let made = self.make(&binding.value, &mut env)?;
                let parts = if let [_] = binding.names.as_slice() { vec![made] } else { made.items() };
                for (name, part) in binding.names.iter().zip(&parts) {
                    let Some(name) = name else { continue };
                    if let Some((v, item)) = name.replaces {
                        let node = self.found.vertex(v, inst).ok_or(Refusal::Undefined)?;
                        if let Some(old) = self.model.graph.node(node).output(item) {
                            replacements.push((old, self.value(part)?.ok_or(Refusal::Undefined)?));
                        }
                    }
                    self.locals[name.local].push(part.clone());
                }
            }
        }
        Ok(replacements)
    }

    fn make(&mut self, t: &Target, env: &mut Env) -> Result<Made, Refusal> {
        Ok(match t {
            Target::Matched(value) => {
                let value = self.context().value(value, env).map_err(|Undefined| Refusal::Undefined)?;
                value.map_or(Made::Absent, Made::Value)
            }
            Target::Optional(k) => match self.found.input(*k, 0) {
                Some(Some(value)) => Made::Value(value),
                _ => Made::Absent,
            },
            Target::Local(k, inst) => {
                let inst = match inst {
                    Inst::Shared => 0,
                    inst => self.context().inst(inst, env).map_err(|Undefined| Refusal::Undefined)?,
                };
                self.locals[*k].get(inst).cloned().ok_or(Refusal::Undefined)?
            }
            Target::Locals(k) => Made::Tuple(self.locals[*k].as_slice().into()),
            Target::Instances(value, s) => {
                let mut all = Vec::new();
                for inst in 0..self.found.counts[*s] {
                    let context = self.context();
                    let mut env = context.env_at(Some(*s), inst);
                    let value = context.value(value, &mut env).map_err(|Undefined| Refusal::Undefined)?;
                    all.push(value.map_or(Made::Absent, Made::Value));
                }
                Made::Tuple(all.into())
            }
            Target::Constant(value, ty) => {
                let value = self.eval(value, env)?;
                let ty = match ty {
                    Some(e) => Some(self.eval(e, env)?),
                    None => None,
                };
                self.constant(&value, ty.as_ref(), None)?
            }
            Target::Tuple(parts) => {
                Made::Tuple(parts.iter().map(|p| self.make(p, env)).collect::<Result<_, _>>()?)
            }
            Target::Item(inner, index) => {
                let all = self.make(inner, env)?;
                let k = self.eval(index, env)?.int().ok_or(Refusal::Undefined)?;
                let k = if k < 0 { k + all.len() as i64 } else { k };
                usize::try_from(k).ok().and_then(|k| all.item(k)).ok_or(Refusal::Undefined)?
            }
            Target::Spread(inner) => {
                // All results of a matched call that stays, or of a new one.
                if let Target::Matched(v) = &**inner {
                    let value = self.context().value(v, env).ok().flatten().ok_or(Refusal::Undefined)?;
                    let (node, _) = self.model.graph.producer(value).ok_or(Refusal::Undefined)?;
                    let results = Made::Results(self.model.graph.node(node).outputs().into());
                    return Ok(Made::Tuple(results.items().into()));
                }
                Made::Tuple(self.make(inner, env)?.items().into())
            }
            Target::If(condition, yes, no) => {
                let truth = self.eval(condition, env)?.truth().map_err(|Undefined| Refusal::Undefined)?;
                self.make(if truth { yes } else { no }, env)?
            }
            Target::Call(call) => {
                if let Some(known) = call.cell.and_then(|c| self.cells[c].clone()) {
                    return Ok(known);
                }
                let made = self.call(call, env)?;
                if let Some(c) = call.cell {
                    self.cells[c] = Some(made.clone());
                }
                made
            }
        })
    }

    fn call(&mut self, call: &TargetCall, env: &mut Env) -> Result<Made, Refusal> {
        let op = match &call.op {
            OpPattern::Named(op) => op.clone(),
            OpPattern::Variable(k) => self.found.operators[*k].clone().ok_or(Refusal::Undefined)?,
        };
        let mut inputs: Vec<Made> = Vec::new();
        let mut numbers: Vec<(usize, Value)> = Vec::new();
        for arg in &call.args {
            // A plain number has the type of the other inputs.
            if let Target::Constant(e, None) = arg {
                let value = self.eval(e, env)?;
                if matches!(value, Value::Float(_) | Value::Double(_) | Value::Int(_)) {
                    numbers.push((inputs.len(), value));
                    inputs.push(Made::Absent);
                    continue;
                }
            }
            match self.make(arg, env)? {
                Made::Tuple(parts) => inputs.extend(parts.iter().cloned()),
                one => inputs.push(one),
            }
        }
        if !numbers.is_empty() {
            let peer = inputs.iter().find_map(|made| self.element(made));
            for (k, value) in numbers {
                inputs[k] = self.constant(&value, None, peer)?;
            }
        }
        while matches!(inputs.last(), Some(Made::Absent)) {
            inputs.pop();
        }
        let attributes = self.attributes(call, &op, env)?;
        self.check_signature(&op, inputs.len(), &attributes)?;
        if let Some(result) = self.computed(call, &op, &attributes, &inputs) {
            return Ok(Made::tensor(result));
        }
        let inputs = inputs.iter().map(|made| self.value(made)).collect::<Result<Vec<_>, _>>()?;
        let results = if call.results == PER_INSTANCE {
            self.found.counts.iter().copied().max().unwrap_or(1).max(1)
        } else {
            call.results
        };
        // `Split` has as many results as it is given sizes, asked for or not.
        let sizes = inputs.get(1).copied().flatten().filter(|_| op.is("Split"));
        let sizes = sizes.and_then(|v| self.model.graph.constant(v)).map_or(0, Tensor::count);
        let results = results.max(sizes);
        let hint = op.name.to_lowercase();
        let outputs: Vec<Option<ValueId>> =
            (0..results).map(|_| Some(self.model.graph.add_value(&hint))).collect();
        let mut new = NewNode::new(op.clone(), inputs, outputs.clone());
        new.attributes = attributes;
        let id = self.model.graph.insert(new, self.place);
        // A place is right after what was made before, so that the new vertices keep their order.
        if !matches!(self.place, Place::Before(_)) {
            self.place = Place::After(id);
        }
        self.built.new.push(id);
        let opset = self.model.version(&op.domain).unwrap_or(1);
        if graph::infer_node(&mut self.model.graph, opset, id).is_err() {
            return Err(Refusal::Invalid);
        }
        self.facts.add(self.model, id);
        Ok(Made::Results(outputs.into()))
    }

    fn attributes(
        &mut self,
        call: &TargetCall,
        op: &Operator,
        env: &mut Env,
    ) -> Result<Vec<Attribute>, Refusal> {
        let version = self.model.version(&op.domain).unwrap_or(i64::MAX);
        let schema = graph::schema::lookup(&op.domain, &op.name, version);
        let mut attributes: Vec<Attribute> = Vec::new();
        let set = |a: Attribute, all: &mut Vec<Attribute>| match all.iter_mut().find(|b| b.name == a.name) {
            Some(old) => *old = a,
            None => all.push(a),
        };
        for item in &call.attributes {
            match item {
                TargetAttribute::Like(v, inst) => {
                    let node =
                        self.context().vertex(*v, inst, env).map_err(|Undefined| Refusal::Undefined)?;
                    for a in self.model.graph.node(node).attributes() {
                        // Those of another operator are taken as far as this one has them.
                        if schema.is_none_or(|s| s.attribute(&a.name).is_some()) {
                            set(a.clone(), &mut attributes);
                        }
                    }
                }
                TargetAttribute::Is(name, e) => {
                    let value = self.eval(e, env)?;
                    if matches!(value, Value::None) {
                        attributes.retain(|a| *a.name != *name.as_str());
                        continue;
                    }
                    let kind = schema.and_then(|s| s.attribute(name)).map_or("", |a| a.kind);
                    let value: AttributeValue = value.to_attribute(kind).ok_or(Refusal::Undefined)?;
                    set(Attribute::new(name.as_str(), value), &mut attributes);
                }
            }
        }
        Ok(attributes)
    }

    /// Whether the operator set of the model has such a call.
    fn check_signature(&self, op: &Operator, inputs: usize, attributes: &[Attribute]) -> Result<(), Refusal> {
        let Some(version) = self.model.version(&op.domain) else { return Err(Refusal::Opset) };
        if graph::schema::versions(&op.domain, &op.name).is_empty() {
            return Ok(());
        }
        let schema = graph::schema::lookup(&op.domain, &op.name, version).ok_or(Refusal::Opset)?;
        let (least, most) = schema.input_range();
        let fits = inputs >= least
            && most.is_none_or(|m| inputs <= m)
            && attributes.iter().all(|a| schema.attribute(&a.name).is_some())
            && schema.attributes.iter().all(|s| !s.required || attributes.iter().any(|a| *a.name == *s.name));
        if fits { Ok(()) } else { Err(Refusal::Opset) }
    }

    /// A new parameter.
    fn constant(
        &mut self,
        value: &Value,
        ty: Option<&Value>,
        peer: Option<ElementType>,
    ) -> Result<Made, Refusal> {
        let elem = match ty {
            Some(Value::Type(code)) => ElementType::from_code(*code),
            Some(_) => return Err(Refusal::Undefined),
            None => peer.unwrap_or(natural_type(value)),
        };
        let tensor = tensor(value, elem).ok_or(Refusal::Undefined)?;
        let made = Made::tensor(tensor);
        if !self.fold {
            self.value(&made)?;
        }
        Ok(made)
    }

    /// As one value of the graph.
    fn value(&mut self, made: &Made) -> Result<Option<ValueId>, Refusal> {
        match made {
            Made::Absent => Ok(None),
            Made::Value(v) => Ok(Some(*v)),
            Made::Tensor(parameter) => Ok(Some(*parameter.value.get_or_init(|| {
                let id = self.model.graph.add_initializer("constant", parameter.tensor.clone());
                self.facts.grow(&self.model.graph);
                debug_assert_eq!(self.model.graph.value(id).producer(), Producer::Initializer);
                self.built.constants.push(id);
                id
            }))),
            Made::Results(all) => all.first().copied().flatten().map(Some).ok_or(Refusal::Undefined),
            Made::Tuple(_) => Err(Refusal::Undefined),
        }
    }

    /// The elements, if they are at hand.
    fn elements<'m>(&'m self, made: &'m Made) -> Option<&'m Tensor> {
        match made {
            Made::Tensor(parameter) => Some(&parameter.tensor),
            Made::Value(v) => self.model.graph.constant(*v),
            Made::Results(all) => self.model.graph.constant(all.first().copied().flatten()?),
            Made::Absent | Made::Tuple(_) => None,
        }
    }

    fn element(&self, made: &Made) -> Option<ElementType> {
        match made {
            Made::Tensor(parameter) => Some(parameter.tensor.elem),
            Made::Value(v) => Some(self.model.graph.value(*v).tensor_type()?.elem),
            Made::Results(all) => {
                Some(self.model.graph.value(all.first().copied().flatten()?).tensor_type()?.elem)
            }
            Made::Absent | Made::Tuple(_) => None,
        }
    }

    /// The one result of a call of constants, unless it is much larger than what it is made from.
    fn computed(
        &self,
        call: &TargetCall,
        op: &Operator,
        attributes: &[Attribute],
        inputs: &[Made],
    ) -> Option<Tensor> {
        if !self.fold || call.results > 1 {
            return None;
        }
        let mut size = FoldOptions::default().growth;
        let mut tensors = Vec::with_capacity(inputs.len());
        for made in inputs {
            tensors.push(match made {
                Made::Absent => None,
                made => {
                    let tensor = self.elements(made)?;
                    size = size.max(tensor.bytes()?.len());
                    Some(tensor)
                }
            });
        }
        let mut results = graph::folding_kernels::evaluate(op, attributes, &tensors, 1, size)?;
        if results.len() == 1 { results.pop() } else { None }
    }
}

fn natural_type(value: &Value) -> ElementType {
    match value {
        Value::Float(_) => ElementType::F32,
        Value::Double(_) => ElementType::F64,
        Value::Bool(_) => ElementType::Bool,
        Value::Tuple(items) => {
            let has = |elem| items.iter().any(|i| natural_type(i) == elem);
            match (has(ElementType::F64), has(ElementType::F32)) {
                (true, _) => ElementType::F64,
                (_, true) => ElementType::F32,
                _ => items.first().map_or(ElementType::I64, natural_type),
            }
        }
        _ => ElementType::I64,
    }
}

/// A tensor with these elements: a number has no dimensions, a tuple one, a tuple of tuples two,
/// and so on.
fn tensor(value: &Value, elem: ElementType) -> Option<Tensor> {
    let mut dims = Vec::new();
    let mut at = value;
    while let Value::Tuple(items) = at {
        dims.push(items.len());
        match items.first() {
            Some(first) => at = first,
            None => break,
        }
    }
    let mut numbers = Vec::new();
    flatten(value, &dims, &mut numbers)?;
    let ints = || numbers.iter().map(|v| v.int()).collect::<Option<Vec<i64>>>();
    let floats = || numbers.iter().map(|v| v.number()).collect::<Option<Vec<f64>>>();
    Some(match elem {
        ElementType::F32 => {
            Tensor::from_f32s(dims, &floats()?.into_iter().map(|x| x as f32).collect::<Vec<_>>())
        }
        ElementType::F64 => Tensor::from_f64s(dims, &floats()?),
        ElementType::I64 => Tensor::from_i64s(dims, &ints()?),
        ElementType::I32 => {
            let narrow: Option<Vec<i32>> = ints()?.into_iter().map(|n| i32::try_from(n).ok()).collect();
            Tensor::from_i32s(dims, &narrow?)
        }
        ElementType::Bool => {
            Tensor::from_bools(dims, &ints()?.into_iter().map(|n| n != 0).collect::<Vec<_>>())
        }
        ElementType::U8 => {
            let bytes: Option<Vec<u8>> = ints()?.into_iter().map(|n| u8::try_from(n).ok()).collect();
            Tensor::raw(ElementType::U8, dims, bytes?.into())?
        }
        ElementType::I8 => {
            let bytes: Option<Vec<u8>> =
                ints()?.into_iter().map(|n| i8::try_from(n).ok().map(|b| b as u8)).collect();
            Tensor::raw(ElementType::I8, dims, bytes?.into())?
        }
        ElementType::F16 | ElementType::Bf16 => {
            let data = loops::Data::F32(floats()?.into_iter().map(|x| x as f32).collect());
            graph::operators::encode(elem, &loops::Tensor { shape: dims, data })?
        }
        _ => return None,
    })
}

fn flatten<'v>(value: &'v Value, dims: &[usize], out: &mut Vec<&'v Value>) -> Option<()> {
    match (value, dims.split_first()) {
        (Value::Tuple(items), Some((n, rest))) if items.len() == *n => {
            items.iter().try_for_each(|i| flatten(i, rest, out))
        }
        (Value::Tuple(_), _) | (_, Some(_)) => None,
        (one, None) => {
            out.push(one);
            Some(())
        }
    }
}
