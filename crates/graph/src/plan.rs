//! Plans: a model at known extents as a list of calls of functional programs over planned memory.
//!
//! Each distinct call of an operator becomes one [`Kernel`]; the steps call kernels on places. Results that live only inside the model share
//! one arena: a place is used again when its last reader has run. Results that only rearrange nothing (`Reshape`, …) are the same place.
//! What becomes of a plan (loops, C) is a matter of the command.

mod arena;
mod extents;
mod fuse;

use std::collections::HashMap;

use functional::Definition;
use loops::{Code, Diagnostic, Name, Registers, Size};

use crate::graph::{Graph, NodeId, Producer, ValueId};
use crate::infer::label;
use crate::model::Model;
use crate::operators::{self, Call, Operand, Packing, carrier};
use crate::tensor::Tensor;
use crate::types::{Dim, ElementType, TensorType};

use arena::Arena;
pub use extents::{bind, extent_name, fix};
use fuse::Todo;

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
    pub results: Vec<(ElementType, Vec<usize>)>,
    /// What each parameter is laid out as, if not as the model has it.
    pub packings: Vec<Option<Packing>>,
}

/// Where data are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// The input of the model with this number (of those that are not parameters).
    Input(usize),
    /// The output with this number.
    Output(usize),
    /// The parameters, from this byte.
    Parameters(usize),
    /// The arena, from this byte.
    Arena(usize),
}

/// A call of a kernel.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which kernel.
    pub kernel: usize,
    /// Its arguments.
    pub arguments: Vec<Place>,
    /// Its results.
    pub results: Vec<Place>,
    /// Indices that have to be inside before it may run.
    pub checks: Vec<Check>,
    /// The node, for comments.
    pub node: String,
}

/// Indices that are not known before the model runs: a kernel would clamp those that are outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Where they are.
    pub place: Place,
    /// Type of their elements.
    pub elem: ElementType,
    /// How many there are.
    pub count: usize,
    /// The extents of the axes that they count along, in turns.
    pub extents: Vec<i64>,
}

/// An input or output of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name in the model.
    pub name: Name,
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents.
    pub dims: Vec<usize>,
}

impl Port {
    /// Bytes of the carried form (what programs and C have).
    pub fn bytes(&self) -> usize {
        carried_bytes(self.elem, &self.dims).unwrap_or(0)
    }
}

/// A model as calls over planned memory.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the graph.
    pub name: Name,
    /// Distinct calls.
    pub kernels: Vec<Kernel>,
    /// Calls in order.
    pub steps: Vec<Step>,
    /// Copies after the last step: from, to, number of bytes.
    pub copies: Vec<(Place, Place, usize)>,
    /// Inputs that the caller gives.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// The parameters that are read, at their places: offset, name, tensor in carried form.
    pub parameters: Vec<(usize, Name, loops::Tensor)>,
    /// Bytes of all parameters.
    pub parameter_bytes: usize,
    /// Bytes of the arena.
    pub arena_bytes: usize,
}

/// Bytes of a tensor in carried form.
fn carried_bytes(elem: ElementType, dims: &[usize]) -> Option<usize> {
    let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d))?;
    count.checked_mul(carrier(elem)?.bytes()).filter(|b| *b <= MAX_BYTES)
}

/// Plans a model whose types are all known, for a processor with these registers.
///
/// # Errors
/// `G0402` if a value has no known type, or one that programs lack; `G0403` if the model needs more memory than any machine has; `G0501` and
/// others for operators without a program, with the node.
pub fn plan(model: &Model, registers: Registers) -> Result<Plan, Diagnostic> {
    Planner::new(model, registers).run()
}

struct Planner<'a> {
    graph: &'a Graph,
    opset: i64,
    registers: Registers,
    plan: Plan,
    /// Which value each value is the same data as.
    root: HashMap<ValueId, ValueId>,
    /// Places of roots.
    places: HashMap<ValueId, Place>,
    /// Places of parameters that are laid out for tiles.
    packed: HashMap<(ValueId, Packing), Place>,
    /// Kernels by their programs, and by what their calls mean and which of their inputs are constants.
    kernels: HashMap<String, usize>,
    calls: HashMap<(String, Vec<bool>), usize>,
    /// The step after which each root is not read any more.
    last: HashMap<ValueId, usize>,
    arena: Arena,
}

impl<'a> Planner<'a> {
    fn new(model: &'a Model, registers: Registers) -> Planner<'a> {
        let name = model.graph.name.clone();
        Planner {
            graph: &model.graph,
            opset: model.opset(),
            registers,
            plan: Plan {
                name,
                kernels: Vec::new(),
                steps: Vec::new(),
                copies: Vec::new(),
                inputs: Vec::new(),
                outputs: Vec::new(),
                parameters: Vec::new(),
                parameter_bytes: 0,
                arena_bytes: 0,
            },
            root: HashMap::new(),
            places: HashMap::new(),
            packed: HashMap::new(),
            kernels: HashMap::new(),
            calls: HashMap::new(),
            last: HashMap::new(),
            arena: Arena::default(),
        }
    }

    fn port(&self, id: ValueId) -> Result<Port, Diagnostic> {
        let value = self.graph.value(id);
        let known = value.tensor_type().and_then(|t| Some((t.elem, t.known_shape()?)));
        let Some((elem, dims)) = known else {
            let ty = value.ty().map_or("unknown".to_owned(), ToString::to_string);
            return Err(Diagnostic::general(
                Code("G0402"),
                format!("the type of `{}` is not known: {ty}", value.name()),
            )
            .note("code is made for one size: all extents follow from those of the inputs"));
        };
        if carrier(elem).is_none() {
            return Err(Diagnostic::general(
                Code("G0402"),
                format!("`{}` has elements of type {elem}, which programs lack", value.name()),
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

    fn run(mut self) -> Result<Plan, Diagnostic> {
        for id in self.graph.inputs() {
            if self.graph.value(*id).initializer().is_none() {
                let port = self.port(*id)?;
                self.places.insert(*id, Place::Input(self.plan.inputs.len()));
                self.plan.inputs.push(port);
            }
        }
        let order: Vec<NodeId> = self.graph.order().collect();
        let mut calls = Vec::with_capacity(order.len());
        for id in order {
            let (call, meaning) = self.call(id)?;
            if meaning.view.is_none() {
                calls.push((id, call, meaning));
            }
        }
        let calls = fuse::fuse(self.graph, calls);
        // The last reader of each place; outputs are read after the last step.
        for (at, todo) in calls.iter().enumerate() {
            for input in todo.arguments(self.graph) {
                self.last.insert(self.root(input), at);
            }
        }
        // A result that is an output is made where the caller wants it, unless another output is the same.
        for (k, id) in self.graph.outputs().iter().enumerate() {
            let port = self.port(*id)?;
            let root = self.root(*id);
            self.last.insert(root, usize::MAX);
            if matches!(self.graph.value(root).producer(), Producer::Node(..)) {
                self.places.entry(root).or_insert(Place::Output(k));
            }
            self.plan.outputs.push(port);
        }
        for (at, todo) in calls.iter().enumerate() {
            self.step(todo, at)?;
        }
        for (k, id) in self.graph.outputs().iter().enumerate() {
            let from = self.place(self.root(*id))?;
            if from != Place::Output(k) {
                let bytes = self.plan.outputs[k].bytes();
                self.plan.copies.push((from, Place::Output(k), bytes));
            }
        }
        self.plan.arena_bytes = self.arena.size;
        if self.plan.arena_bytes > MAX_BYTES {
            return Err(Diagnostic::general(
                Code("G0403"),
                "the model needs more memory than any machine has",
            ));
        }
        Ok(self.plan)
    }

    /// The meaning of a node at its types; views are noted.
    fn call(&mut self, id: NodeId) -> Result<(Call<'a>, operators::Meaning), Diagnostic> {
        let graph = self.graph;
        let node = graph.node(id);
        let at_node = |d: Diagnostic| {
            let note = format!("at {}", label(graph, id));
            d.note(note)
        };
        if !node.captures().is_empty() || node.has_subgraphs() {
            return Err(at_node(
                Diagnostic::general(Code("G0404"), format!("`{}` has subgraphs", node.op()))
                    .help("branches and loops are not translated to C"),
            ));
        }
        let mut inputs = Vec::with_capacity(node.inputs().len());
        for input in node.inputs() {
            inputs.push(match input {
                None => None,
                Some(input) => {
                    let port = self.port(*input).map_err(at_node)?;
                    Some(Operand {
                        elem: port.elem,
                        shape: port.dims.iter().map(|d| Size::constant(*d as i64)).collect(),
                        constant: graph.constant(*input),
                    })
                }
            });
        }
        let outputs = node.outputs().len();
        let call = Call { op: node.op(), opset: self.opset, attributes: node.attributes(), inputs, outputs };
        let meaning = operators::meaning(&call).map_err(at_node)?;
        if let (Some(k), [Some(output)]) = (meaning.view, node.outputs())
            && let Some(input) = node.input(k)
        {
            let root = self.root(input);
            self.root.insert(*output, root);
            return Ok((call, meaning));
        }
        Ok((call, operators::Meaning { view: None, ..meaning }))
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

    /// Where a parameter is in this layout. Each layout that is read is stored once, whoever reads it.
    fn packed(&mut self, root: ValueId, packing: &Packing) -> Result<Place, Diagnostic> {
        let key = (root, packing.clone());
        if let Some(place) = self.packed.get(&key) {
            return Ok(*place);
        }
        let place = self.parameter(root, Some(packing))?;
        self.packed.insert(key, place);
        Ok(place)
    }

    /// A new place for a parameter, with its elements as they are to lie there.
    fn parameter(&mut self, root: ValueId, packing: Option<&Packing>) -> Result<Place, Diagnostic> {
        let value = self.graph.value(root);
        let tensor: Option<&Tensor> = self.graph.constant(root).or(value.initializer());
        let carried = tensor.and_then(operators::decode).and_then(|carried| match packing {
            Some(packing) => packing.pack(&carried),
            None => Some(carried),
        });
        let Some(carried) = carried else {
            let message = format!("the elements of `{}` are not at hand", value.name());
            return Err(Diagnostic::general(Code("G0402"), message));
        };
        let bytes = carried_bytes(tensor.map_or(ElementType::F32, |t| t.elem), &carried.shape).unwrap_or(0);
        let place = Place::Parameters(self.plan.parameter_bytes);
        self.plan.parameters.push((self.plan.parameter_bytes, value.name().clone(), carried));
        self.plan.parameter_bytes += aligned(bytes);
        Ok(place)
    }

    fn step(&mut self, todo: &Todo<'_>, at: usize) -> Result<(), Diagnostic> {
        let (id, node) = (todo.head, self.graph.node(todo.tail()));
        let read = todo.arguments(self.graph);
        let kernel = self.kernel(todo)?;
        let mut arguments = Vec::with_capacity(read.len());
        for (input, packing) in read.iter().zip(self.plan.kernels[kernel].packings.clone()) {
            let root = self.root(*input);
            arguments.push(match packing {
                Some(packing) => self.packed(root, &packing)?,
                None => self.place(root)?,
            });
        }
        let mut results = Vec::new();
        let mut scratch = Vec::new();
        for (k, result) in todo.results.iter().enumerate() {
            let dims: Option<Vec<usize>> =
                result.shape.iter().map(|s| usize::try_from(s.as_constant()?).ok()).collect();
            let bytes = dims.as_ref().and_then(|d| carried_bytes(result.elem, d));
            let Some(bytes) = bytes else {
                return Err(Diagnostic::general(
                    Code("G0403"),
                    format!("result {k} of {} has no size", label(self.graph, id)),
                ));
            };
            // Where inference does not know the operator, the declared type is all there was.
            let said = node.output(k).and_then(|v| Some((v, self.graph.value(v).tensor_type()?)));
            if let Some((output, said)) = said
                && (said.elem != result.elem || said.known_shape() != dims)
            {
                let found = TensorType {
                    elem: result.elem,
                    shape: dims.map(|dims| dims.into_iter().map(|n| Dim::Known(n as i64)).collect()),
                };
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
                        let place = Place::Arena(self.arena.take(aligned(bytes)));
                        self.places.insert(output, place);
                        // A result that nobody reads is free after this step.
                        self.last.entry(output).or_insert(at);
                        place
                    }
                },
                None => {
                    let offset = self.arena.take(aligned(bytes));
                    scratch.push((offset, aligned(bytes)));
                    Place::Arena(offset)
                }
            };
            results.push(place);
        }
        let checks = self.checks(id, &todo.call)?;
        self.plan.steps.push(Step { kernel, arguments, results, checks, node: todo.label(self.graph) });
        scratch.into_iter().for_each(|(offset, bytes)| self.arena.give(offset, bytes));
        let mut done: Vec<ValueId> = read.iter().map(|v| self.root(*v)).collect();
        done.extend(node.outputs().iter().flatten());
        done.sort_unstable();
        done.dedup();
        for root in done {
            if self.last.get(&root) == Some(&at)
                && let Some(Place::Arena(offset)) = self.places.get(&root)
            {
                let port = self.port(root)?;
                self.arena.give(*offset, aligned(port.bytes()));
            }
        }
        Ok(())
    }

    /// Indices of a call that are not constants.
    fn checks(&mut self, id: NodeId, call: &Call<'_>) -> Result<Vec<Check>, Diagnostic> {
        let Some(found) = operators::indices(call) else { return Ok(Vec::new()) };
        let known =
            call.inputs.get(found.input).is_none_or(|o| o.as_ref().is_none_or(|o| o.constant.is_some()));
        let Some(input) = self.graph.node(id).input(found.input).filter(|_| !known) else {
            return Ok(Vec::new());
        };
        let port = self.port(input)?;
        let place = self.place(self.root(input))?;
        let count = port.dims.iter().product();
        Ok(vec![Check { place, elem: port.elem, count, extents: found.extents }])
    }

    fn kernel(&mut self, todo: &Todo<'_>) -> Result<usize, Diagnostic> {
        let (id, call) = (todo.head, &todo.call);
        let constant = call.inputs.iter().map(|o| o.as_ref().is_some_and(|o| o.constant.is_some())).collect();
        let meaning = functional::print::definition(&todo.meaning.definition);
        let key = (format!("{meaning}{:?}", todo.after), constant);
        if let Some(known) = self.calls.get(&key) {
            return Ok(*known);
        }
        let compiled = operators::compiled_with(call, &todo.after, self.registers)
            .map_err(|d| d.note(format!("at {}", label(self.graph, id))))?;
        // Calls that mean the same may differ in what is constant without another program.
        let text = format!("{}{:?}", functional::print::definition(&compiled.definition), compiled.packings);
        if let Some(known) = self.kernels.get(&text) {
            self.calls.insert(key, *known);
            return Ok(*known);
        }
        let number = self.plan.kernels.len();
        let mut definition = compiled.definition;
        definition.name = format!("{}_{number}", definition.name).into();
        let results = todo.results.iter().map(|r| {
            let dims =
                r.shape.iter().map(|s| s.as_constant().and_then(|n| usize::try_from(n).ok()).unwrap_or(0));
            (r.elem, dims.collect())
        });
        self.plan.kernels.push(Kernel {
            definition,
            operator: todo.operators(self.graph),
            results: results.collect(),
            packings: compiled.packings,
        });
        self.kernels.insert(text, number);
        self.calls.insert(key, number);
        Ok(number)
    }
}

fn aligned(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(ALIGNMENT)
}
