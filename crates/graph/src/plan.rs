//! Plans: a model with known extents, as a list of calls of functional programs with planned
//! memory.
//!
//! Each distinct call of an operator becomes one [`Kernel`]. The steps call kernels on places in
//! memory. Intermediate results share one arena: a place is used again once the last reader of its
//! content has run. A result that is the same data with another shape (`Reshape`, …) has the same
//! place as its input. Branches and loops are steps that contain steps. The command turns a plan
//! into loops and C.

mod arena;
mod control_flow;
mod extents;
mod free;
mod fuse;
mod merged;
mod port;
mod steps;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use functional::Definition;
use loops::{Code, Diagnostic, Name, Registers, Size};

use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::infer::label;
use crate::model::Model;
use crate::operators::{self, Call, Operand, Packing, carrier};
use crate::tensor::Tensor;
use crate::types::{Dim, ElementType, TensorType};

use arena::Arena;
pub use arena::Room;
pub use extents::{bind, bind_some, extent_name, fix};
use fuse::Todo;
pub use port::Port;
use port::carried_bytes;
pub use steps::{Branch, Check, Copy, KernelCall, Place, Repeat, Rounds, Slice, Step};

/// Places begin at multiples of this many bytes.
pub const ALIGNMENT: usize = 64;
/// A model whose memory would be larger is refused.
const MAX_BYTES: usize = 1 << 40;

/// A distinct call: a program with its parameters and results.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program with a strategy for its loops, by a name that no other has.
    pub definition: Definition,
    /// The operator, for comments.
    pub operator: String,
    /// Type of each result.
    pub results: Vec<(ElementType, Vec<Size>)>,
    /// The packing of each parameter, if it differs from the model's layout.
    pub packings: Vec<Option<Packing>>,
}

/// A model as calls over planned memory.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the graph.
    pub name: Name,
    /// Distinct calls.
    pub kernels: Vec<Kernel>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Inputs that the caller gives.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// The parameters that are read, at their places: offset, name, and the tensor in its storage
    /// type.
    pub parameters: Vec<(usize, Name, loops::Tensor)>,
    /// Bytes of all parameters.
    pub parameter_bytes: usize,
    /// Bytes of the arena without its rooms.
    pub arena_bytes: usize,
    /// The rooms behind it, for results whose bytes follow from names.
    pub rooms: Vec<Room>,
    /// The extents that are no numbers: arguments of the C function, in order of appearance.
    pub extents: Vec<Name>,
}

/// Plans a model whose types are all known, for a processor with these registers; without
/// registers each operator keeps its plain loops, as other machines map them.
///
/// # Errors
/// `G0402` if a value has no known type, or one that programs lack; `G0403` if the model needs more
/// memory than any machine has; `G0501` and others for operators without a program, with the node.
pub fn plan(model: &Model, registers: impl Into<Option<Registers>>) -> Result<Plan, Diagnostic> {
    let mut shared = Shared {
        opset: model.opset(),
        registers: registers.into(),
        plan: Plan {
            name: model.graph.name.clone(),
            kernels: Vec::new(),
            steps: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            parameters: Vec::new(),
            parameter_bytes: 0,
            arena_bytes: 0,
            rooms: Vec::new(),
            extents: Vec::new(),
        },
        kernels: HashMap::new(),
        calls: HashMap::new(),
        meanings: HashMap::new(),
        arena: Arena::default(),
    };
    Planner::new(&model.graph, &mut shared).model()?;
    let Shared { mut plan, arena, .. } = shared;
    plan.arena_bytes = arena.size;
    plan.rooms = arena.rooms();
    if plan.arena_bytes > MAX_BYTES {
        return Err(Diagnostic::general(Code("G0403"), "the model needs more memory than any machine has"));
    }
    Ok(plan)
}

/// What the graph of a model and the graphs inside it share.
struct Shared {
    opset: i64,
    registers: Option<Registers>,
    plan: Plan,
    /// Kernels by their programs, and by the meaning of their calls and the set of their constant
    /// inputs.
    kernels: HashMap<String, usize>,
    calls: HashMap<(String, Vec<bool>), usize>,
    /// What calls without constants mean.
    meanings: HashMap<String, Rc<operators::Meaning>>,
    arena: Arena,
}

impl Shared {
    /// A new parameter with these elements.
    fn stored(&mut self, name: Name, carried: loops::Tensor) -> Place {
        let (plan, bytes) = (&mut self.plan, carried.data.len() * carried.data.elem().bytes());
        let place = Place::Parameters(plan.parameter_bytes);
        plan.parameters.push((plan.parameter_bytes, name, carried));
        plan.parameter_bytes += aligned(bytes);
        place
    }
}

/// The plan of one graph.
struct Planner<'a, 's> {
    graph: &'a Graph,
    shared: &'s mut Shared,
    /// What it does so far.
    steps: Vec<Step>,
    /// Which value each value is the same data as.
    root: HashMap<ValueId, ValueId>,
    /// Places of roots.
    places: HashMap<ValueId, Place>,
    /// Places of parameters that are laid out for tiles.
    packed: HashMap<(ValueId, Packing), Place>,
    /// The step after which each root is not read any more.
    last: HashMap<ValueId, usize>,
}

/// What is planned next.
enum Item<'a> {
    Call(Box<Todo<'a>>),
    /// A node with subgraphs.
    Control(NodeId),
}

/// The calls that nodes become.
fn fused<'a>(
    graph: &Graph,
    nodes: Vec<(NodeId, Call<'a>, Rc<operators::Meaning>)>,
) -> impl Iterator<Item = Item<'a>> {
    fuse::fuse(graph, nodes).into_iter().map(|todo| Item::Call(Box::new(todo)))
}

impl<'a, 's> Planner<'a, 's> {
    fn new(graph: &'a Graph, shared: &'s mut Shared) -> Planner<'a, 's> {
        Planner {
            graph,
            shared,
            steps: Vec::new(),
            root: HashMap::new(),
            places: HashMap::new(),
            packed: HashMap::new(),
            last: HashMap::new(),
        }
    }

    fn port(&self, id: ValueId) -> Result<Port, Diagnostic> {
        let value = self.graph.value(id);
        let known = value.tensor_type().and_then(|t| Some((t.elem, t.sizes()?)));
        let Some((elem, dims)) = known else {
            let ty = value.ty().map_or("unknown".to_owned(), ToString::to_string);
            return Err(Diagnostic::general(
                Code("G0402"),
                format!("the type of `{}` is not known: {ty}", value.name()),
            )
            .note("all extents must follow from those of the inputs"));
        };
        if carrier(elem).is_none() {
            return Err(Diagnostic::general(
                Code("G0402"),
                format!("`{}` has elements of type {elem}, which is not supported", value.name()),
            ));
        }
        let port = Port { name: value.name().clone(), elem, dims };
        if carried_bytes(elem, &port.dims).is_none() {
            return Err(Diagnostic::general(
                Code("G0403"),
                format!("`{}` is larger than any memory", value.name()),
            ));
        }
        Ok(port)
    }

    fn root(&self, id: ValueId) -> ValueId {
        self.root.get(&id).copied().unwrap_or(id)
    }

    /// Plans the graph of the model.
    fn model(mut self) -> Result<(), Diagnostic> {
        for id in self.graph.inputs() {
            if self.graph.value(*id).initializer().is_none() {
                let port = self.port(*id)?;
                for name in port.dims.iter().flat_map(free::names) {
                    if !self.shared.plan.extents.contains(&name) {
                        self.shared.plan.extents.push(name);
                    }
                }
                self.places.insert(*id, Place::Input(self.shared.plan.inputs.len()));
                self.shared.plan.inputs.push(port);
            }
        }
        // What is wrong with a node says more than that its result has no known type.
        let items = self.items()?;
        for id in self.graph.outputs() {
            let port = self.port(*id)?;
            self.shared.plan.outputs.push(port);
        }
        let wanted: Vec<Place> = (0..self.graph.outputs().len()).map(Place::Output).collect();
        let made = self.run(&items, &wanted)?;
        for (k, (from, to)) in made.into_iter().zip(wanted).enumerate() {
            if from != to {
                let bytes = self.shared.plan.outputs[k].bytes();
                self.steps.push(Step::Copy(Copy { from: from.into(), to: to.into(), bytes }));
            }
        }
        self.shared.plan.steps = self.steps;
        Ok(())
    }

    /// Plans all nodes, and returns the places of the outputs. An output that is computed here is
    /// written to its wanted place, unless another output is the same value.
    fn run(&mut self, items: &[Item<'a>], wanted: &[Place]) -> Result<Vec<Place>, Diagnostic> {
        // The last reader of each place; outputs are read after the last step.
        for (at, item) in items.iter().enumerate() {
            for input in self.read(item) {
                self.last.insert(self.root(input), at);
            }
        }
        for (id, wanted) in self.graph.outputs().iter().zip(wanted) {
            let root = self.root(*id);
            self.last.insert(root, usize::MAX);
            if matches!(self.graph.value(root).producer(), Producer::Node(..)) {
                self.places.entry(root).or_insert(*wanted);
            }
        }
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Call(todo) => self.step(todo, at)?,
                Item::Control(id) => self.control(*id, at).map_err(|d| self.at_node(*id, d))?,
            }
        }
        self.graph.outputs().iter().map(|id| self.place(self.root(*id))).collect()
    }

    /// The calls in order. Operators are fused only with calls in the same branch or loop.
    fn items(&mut self) -> Result<Vec<Item<'a>>, Diagnostic> {
        let order = self.needed();
        let mut items = Vec::new();
        let mut calls = Vec::new();
        for id in order {
            if self.graph.node(id).has_subgraphs() {
                self.is_planned(id).map_err(|d| self.at_node(id, d))?;
                items.extend(fused(self.graph, std::mem::take(&mut calls)));
                items.push(Item::Control(id));
                continue;
            }
            let (call, meaning) = self.call(id)?;
            if meaning.view.is_none() {
                calls.push((id, call, meaning));
            }
        }
        items.extend(fused(self.graph, calls));
        Ok(items)
    }

    /// The nodes whose results are read, in order. What is only read for extents that are names is
    /// not.
    fn needed(&mut self) -> Vec<NodeId> {
        let order: Vec<NodeId> = self.graph.order().collect();
        if self.shared.plan.extents.is_empty() {
            return order;
        }
        let graph = self.graph;
        let mut read: HashSet<ValueId> = graph.outputs().iter().copied().collect();
        let mut kept = Vec::new();
        for id in order.into_iter().rev() {
            let node = graph.node(id);
            if !node.outputs().iter().flatten().any(|output| read.contains(output)) {
                continue;
            }
            kept.push(id);
            let call = if node.has_subgraphs() { None } else { self.call(id).ok() };
            match call {
                Some((_, meaning)) => {
                    read.extend(meaning.arguments.iter().filter_map(|k| node.input(*k)));
                    read.extend(meaning.view.and_then(|k| node.input(k)));
                }
                None => read.extend(node.inputs().iter().flatten().chain(node.captures())),
            }
        }
        kept.reverse();
        self.root.clear();
        kept
    }

    /// The values that are read.
    fn read(&self, item: &Item<'_>) -> Vec<ValueId> {
        match item {
            Item::Call(todo) => todo.arguments(self.graph),
            Item::Control(id) => {
                let node = self.graph.node(*id);
                node.inputs().iter().flatten().chain(node.captures()).copied().collect()
            }
        }
    }

    fn at_node(&self, id: NodeId, diagnostic: Diagnostic) -> Diagnostic {
        let names = free::names_at(self.graph, id);
        let label = label(self.graph, id);
        let diagnostic = diagnostic.note(format!("at {label}"));
        match names.first().filter(|_| diagnostic.code != Code("G0409")) {
            Some(_) => free::refused(&label, &names, &diagnostic),
            None => diagnostic,
        }
    }

    /// The meaning of a node at its types; views are noted.
    fn call(&mut self, id: NodeId) -> Result<(Call<'a>, Rc<operators::Meaning>), Diagnostic> {
        let graph = self.graph;
        let node = graph.node(id);
        operators::few_inputs(node.op(), node.inputs().len()).map_err(|d| self.at_node(id, d))?;
        let mut inputs = Vec::with_capacity(node.inputs().len());
        for input in node.inputs() {
            inputs.push(match input {
                None => None,
                Some(input) => {
                    let port = self.port(*input).map_err(|d| self.at_node(id, d))?;
                    let sizes = free::elements(graph, *input, &self.shared.plan.extents);
                    let constant = graph.constant(*input);
                    Some(Operand { elem: port.elem, shape: port.dims, constant, sizes })
                }
            });
        }
        let outputs = node.outputs().len();
        let call =
            Call { op: node.op(), opset: self.shared.opset, attributes: node.attributes(), inputs, outputs };
        let meaning = self.meaning(&call).map_err(|d| self.at_node(id, d))?;
        if let (Some(k), [Some(output)]) = (meaning.view, node.outputs())
            && let Some(input) = node.input(k)
        {
            let root = self.root(input);
            self.root.insert(*output, root);
            return Ok((call, meaning));
        }
        let meaning = match meaning.view {
            Some(_) => Rc::new(operators::Meaning { view: None, ..(*meaning).clone() }),
            None => meaning,
        };
        Ok((call, meaning))
    }

    /// The meaning of a call. Equal calls share it, because a model may have very many.
    fn meaning(&mut self, call: &Call<'_>) -> Result<Rc<operators::Meaning>, Diagnostic> {
        if call.inputs.iter().flatten().any(|operand| operand.constant.is_some()) {
            return operators::meaning(call).map(Rc::new);
        }
        let key = format!("{call:?}");
        if let Some(known) = self.shared.meanings.get(&key) {
            return Ok(known.clone());
        }
        let meaning = Rc::new(operators::meaning(call)?);
        self.shared.meanings.insert(key, meaning.clone());
        Ok(meaning)
    }

    /// Where a root is; parameters get their place when they are first read.
    fn place(&mut self, root: ValueId) -> Result<Place, Diagnostic> {
        if let Some(place) = self.places.get(&root) {
            return Ok(*place);
        }
        let place = self.parameter(root, None)?;
        self.places.insert(root, place);
        Ok(place)
    }

    /// The place of a parameter in this layout. Each layout that is read is stored once.
    fn packed(&mut self, root: ValueId, packing: &Packing) -> Result<Place, Diagnostic> {
        let key = (root, packing.clone());
        if let Some(place) = self.packed.get(&key) {
            return Ok(*place);
        }
        let place = self.parameter(root, Some(packing))?;
        self.packed.insert(key, place);
        Ok(place)
    }

    /// A new place for a parameter, with its elements in the order in which they are stored there.
    fn parameter(&mut self, root: ValueId, packing: Option<&Packing>) -> Result<Place, Diagnostic> {
        let value = self.graph.value(root);
        let tensor: Option<&Tensor> = self.graph.constant(root).or(value.initializer());
        let carried = tensor.and_then(operators::decode).and_then(|carried| match packing {
            Some(packing) => packing.pack(&carried),
            None => Some(carried),
        });
        let Some(carried) = carried else {
            let message = format!("the elements of `{}` are not available", value.name());
            return Err(Diagnostic::general(Code("G0402"), message));
        };
        Ok(self.shared.stored(value.name().clone(), carried))
    }

    fn step(&mut self, todo: &Todo<'_>, at: usize) -> Result<(), Diagnostic> {
        let (id, node) = (todo.head, self.graph.node(todo.tail()));
        let read = todo.arguments(self.graph);
        let (kernel, sizes) = self.kernel(todo)?;
        let mut arguments = Vec::with_capacity(read.len());
        for (input, packing) in read.iter().zip(self.shared.plan.kernels[kernel].packings.clone()) {
            let root = self.root(*input);
            arguments.push(match packing {
                Some(packing) => self.packed(root, &packing)?,
                None => self.place(root)?,
            });
        }
        let mut results = Vec::new();
        let mut scratch = Vec::new();
        for (k, result) in todo.results.iter().enumerate() {
            let Some(bytes) = carried_bytes(result.elem, &result.shape) else {
                return Err(Diagnostic::general(
                    Code("G0403"),
                    format!("result {k} of {} has no size", label(self.graph, id)),
                ));
            };
            // Where inference does not know the operator, the declared type is all there was.
            let said = node.output(k).and_then(|v| Some((v, self.graph.value(v).tensor_type()?)));
            if let Some((output, said)) = said
                && (said.elem != result.elem || said.sizes().as_ref() != Some(&result.shape))
            {
                let found = TensorType::new(result.elem, result.shape.iter().cloned().map(Dim::from));
                let name = self.graph.value(output).name();
                let what = format!(
                    "{} has the result `{name}`, which is declared as {said} and is {found}",
                    label(self.graph, id)
                );
                return Err(Diagnostic::general(Code("G0301"), what));
            }
            let place = match node.output(k) {
                Some(output) => match self.places.get(&output) {
                    Some(place) => *place,
                    None => {
                        let place = self.shared.arena.take(&bytes);
                        self.places.insert(output, place);
                        // A result that nothing reads is free after this step.
                        self.last.entry(output).or_insert(at);
                        place
                    }
                },
                None => {
                    let place = self.shared.arena.take(&bytes);
                    scratch.push((place, bytes));
                    place
                }
            };
            results.push(place);
        }
        let checks = self.checks(id, &todo.call)?;
        let node_label = todo.label(self.graph);
        let call = KernelCall { kernel, sizes, arguments, results, checks, node: node_label };
        self.steps.push(Step::Call(call));
        scratch.into_iter().for_each(|(place, bytes)| self.shared.arena.give(place, &bytes));
        self.free(at, read.into_iter().chain(node.outputs().iter().flatten().copied()))
    }

    /// Gives the places back of those values that nobody reads after a step.
    fn free(&mut self, at: usize, values: impl Iterator<Item = ValueId>) -> Result<(), Diagnostic> {
        let mut done: Vec<ValueId> = values.map(|v| self.root(v)).collect();
        done.sort_unstable();
        done.dedup();
        for root in done {
            // What comes from around a subgraph is not its own.
            let own = matches!(self.graph.value(root).producer(), Producer::Node(..));
            if own
                && self.last.get(&root) == Some(&at)
                && let Some(place @ (Place::Arena(_) | Place::Room(_))) = self.places.get(&root).copied()
            {
                let port = self.port(root)?;
                self.shared.arena.give(place, &port.bytes());
            }
        }
        Ok(())
    }

    /// Indices of a call that are not constants.
    fn checks(&mut self, id: NodeId, call: &Call<'_>) -> Result<Vec<Check>, Diagnostic> {
        let Some(found) = operators::indices(call) else { return Ok(Vec::new()) };
        let known =
            call.inputs.get(found.input).is_none_or(|o| o.as_ref().is_none_or(|o| o.constant.is_some()));
        let numbers = found.extents.iter().all(|n| n.as_constant().is_some());
        let Some(input) = self.graph.node(id).input(found.input).filter(|_| !(known && numbers)) else {
            return Ok(Vec::new());
        };
        let port = self.port(input)?;
        let place = self.place(self.root(input))?;
        let count = port.dims.into_iter().fold(Size::constant(1), |n, d| n * d);
        Ok(vec![Check { place, elem: port.elem, count, extents: found.extents }])
    }

    /// The kernel of a call, and the sizes that it is called with.
    fn kernel(&mut self, todo: &Todo<'_>) -> Result<(usize, Vec<Size>), Diagnostic> {
        let id = todo.head;
        let merged = merged::merged(&todo.call, &todo.after, &todo.meaning);
        let (call, after) = merged.as_ref().map_or((&todo.call, &todo.after), |(call, after)| (call, after));
        let free::Named { call, after, names, cut } = free::named(call, after, self.shared.registers);
        let sizes: Vec<Size> = names.values.iter().map(|(_, value)| value.clone()).collect();
        let constant = call.inputs.iter().map(|o| o.as_ref().is_some_and(|o| o.constant.is_some())).collect();
        let meaning = functional::print::definition(&todo.meaning.definition);
        let key = (format!("{meaning}{after:?}{sizes:?}"), constant);
        if let Some(known) = self.shared.calls.get(&key) {
            return Ok((*known, sizes));
        }
        let compiled = operators::compiled_with(&call, &after, self.shared.registers, &cut)
            .map_err(|d| self.at_node(id, d))?;
        // Calls with the same meaning may differ in what is constant and still have the same
        // program.
        let text = format!("{}{:?}", functional::print::definition(&compiled.definition), compiled.packings);
        if let Some(known) = self.shared.kernels.get(&text) {
            self.shared.calls.insert(key, *known);
            return Ok((*known, sizes));
        }
        let number = self.shared.plan.kernels.len();
        let mut definition = compiled.definition;
        // All names, so that every call gives as many.
        definition.sizes = names.values.into_iter().map(|(name, _)| name).collect();
        definition.facts.extend(names.facts);
        definition.name = format!("{}_{number}", definition.name).into();
        let results = todo.results.iter().map(|r| (r.elem, r.shape.clone()));
        self.shared.plan.kernels.push(Kernel {
            definition,
            operator: todo.operators(self.graph),
            results: results.collect(),
            packings: compiled.packings,
        });
        self.shared.kernels.insert(text, number);
        self.shared.calls.insert(key, number);
        Ok((number, sizes))
    }
}

fn aligned(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(ALIGNMENT)
}
