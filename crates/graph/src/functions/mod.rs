//! Functions of a model: replaces their calls by their bodies.
//!
//! All later stages (inference, evaluation, plans, rules) see a model without functions. Each call
//! gets a copy of the body. Its values and nodes are called `call/name` and differ from all names
//! of the model. Attributes that the body takes from the call are those of the call, or the
//! function's default. Inputs that the call leaves out are left out in the body. Calls inside the
//! copy are found as the walk continues. So functions that call functions need no recursion here.
//! The size of the result is bounded.
//!
//! Not here: how functions are read (`onnx`), what operators do.

mod branches;
mod copy;
mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;

use loops::{Code, Diagnostic, Name};

use crate::attribute::{Attribute, AttributeValue};
use crate::graph::{Graph, NewNode, Node, NodeId, Place, Producer, ValueId};
use crate::hash_tables::{Map, Set};
use crate::infer::label;
use crate::model::Model;
use crate::onnx;
pub use branches::decide;
use copy::{Copying, Mapped};

/// Graphs nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;
/// So many nodes come of functions at most,
const MAX_NODES: usize = 1 << 20;
/// and so many bytes of names, attributes and constants, as a file would have them.
const MAX_BYTES: usize = 1 << 30;

/// A function of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its domain.
    pub domain: Name,
    /// Its name.
    pub name: Name,
    /// Tells functions of one name apart; mostly empty.
    pub overload: Name,
    /// Its inputs, values of the body; a call may leave the last ones out, or any by an empty name.
    pub inputs: Vec<ValueId>,
    /// Its results, values of the body.
    pub outputs: Vec<ValueId>,
    /// Attributes without a default.
    pub attributes: Vec<Name>,
    /// Attributes with a default.
    pub defaults: Vec<Attribute>,
    /// The operator sets that the body is written for.
    pub opsets: Vec<(Name, i64)>,
    /// What it does.
    pub body: Graph,
}

impl Function {
    /// Its name for messages.
    pub fn label(&self) -> String {
        let mut label = match self.domain.is_empty() {
            true => self.name.to_string(),
            false => format!("{}.{}", self.domain, self.name),
        };
        if !self.overload.is_empty() {
            label.push_str(&format!(" ({})", self.overload));
        }
        label
    }

    fn version(&self, domain: &str) -> Option<i64> {
        self.opsets.iter().find(|(d, _)| **d == *domain).map(|(_, v)| *v)
    }
}

fn refused(code: &'static str, message: String) -> Diagnostic {
    Diagnostic::general(Code(code), message)
}

/// Replaces calls of functions by the functions' bodies. Returns the number of calls. A model
/// without such calls is not changed.
///
/// # Errors
/// `G0101` and others for functions that can't be read, `G0208` for one that calls itself, `G0209`
/// for a call that does not fit, `G0210` if the function is written for other operators than the
/// model, `G0211` if too much comes out.
pub fn inline(model: &mut Model) -> Result<usize, Diagnostic> {
    if !onnx::has_functions(&model.extra) {
        return Ok(0);
    }
    let functions = Functions::new(onnx::functions(model)?)?;
    let mut roots = Vec::new();
    functions.calls_of(&model.graph, 0, &mut roots)?;
    if roots.is_empty() {
        return Ok(0);
    }
    functions.refuse_recursion(&roots)?;
    let mut names = Set::default();
    names_of(&model.graph, &mut names);
    let defaults = functions.list.iter().flat_map(|f| &f.defaults);
    defaults.flat_map(|d| d.value.graphs()).for_each(|graph| names_of(graph, &mut names));
    let mut inliner = Inliner {
        functions,
        opsets: model.opsets.clone(),
        names,
        numbers: Map::default(),
        nodes: 0,
        bytes: 0,
        calls: 0,
    };
    // The graph is copied, so that an error leaves no half-changed model.
    let mut graph = model.graph.clone();
    inliner.graph(&mut graph, 0)?;
    model.graph = graph;
    model.opsets = inliner.opsets;
    onnx::forget_functions(model);
    Ok(inliner.calls)
}

/// All names of values, those of subgraphs too.
pub(crate) fn names_of(graph: &Graph, names: &mut Set<Name>) {
    names.extend(graph.values().map(|(_, value)| value.name().clone()));
    for (_, node) in graph.nodes() {
        node.attributes().iter().flat_map(|a| a.value.graphs()).for_each(|inner| names_of(inner, names));
    }
}

/// The functions by domain, name and overload.
struct Functions {
    list: Vec<Arc<Function>>,
    known: BTreeMap<(Name, Name, Name), usize>,
}

impl Functions {
    fn new(list: Vec<Function>) -> Result<Functions, Diagnostic> {
        let mut known = BTreeMap::new();
        for (k, function) in list.iter().enumerate() {
            let key = (function.domain.clone(), function.name.clone(), function.overload.clone());
            if known.insert(key, k).is_some() {
                return Err(refused("G0209", format!("there are two functions `{}`", function.label()))
                    .help("functions with one name must differ in their overload: remove one of them"));
            }
        }
        Ok(Functions { list: list.into_iter().map(Arc::new).collect(), known })
    }

    /// The function that a node calls. A function takes precedence over an operator of the same
    /// name.
    fn called(&self, node: &Node) -> Option<usize> {
        let overload = onnx::overload(node).map_or_else(|| Name::new(""), Name::new);
        self.known.get(&(node.op().domain.clone(), node.op().name.clone(), overload)).copied()
    }

    /// The functions that a graph calls, subgraphs included, each once.
    fn calls_of(&self, graph: &Graph, depth: u32, found: &mut Vec<usize>) -> Result<(), Diagnostic> {
        let mut seen: Set<usize> = found.iter().copied().collect();
        self.add_calls(graph, depth, found, &mut seen)
    }

    fn add_calls(
        &self,
        graph: &Graph,
        depth: u32,
        found: &mut Vec<usize>,
        seen: &mut Set<usize>,
    ) -> Result<(), Diagnostic> {
        for (_, node) in graph.nodes() {
            if let Some(k) = self.called(node).filter(|k| seen.insert(*k)) {
                found.push(k);
            }
            for inner in node.attributes().iter().flat_map(|a| a.value.graphs()) {
                if depth >= MAX_DEPTH {
                    return Err(too_deep());
                }
                self.add_calls(inner, depth + 1, found, seen)?;
            }
        }
        Ok(())
    }

    fn calls_any(&self, graph: &Graph) -> bool {
        graph.nodes().any(|(_, node)| {
            self.called(node).is_some()
                || node.attributes().iter().flat_map(|a| a.value.graphs()).any(|g| self.calls_any(g))
        })
    }

    /// A depth-first walk from the functions that the model calls. A function that is reached
    /// during its own walk calls itself.
    fn refuse_recursion(&self, roots: &[usize]) -> Result<(), Diagnostic> {
        let mut done: Set<usize> = Set::default();
        for root in roots {
            let mut path: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
            let mut open: Set<usize> = Set::default();
            let mut next = Some(*root);
            loop {
                if let Some(k) = next.take() {
                    if open.contains(&k) {
                        let by = path.iter().rev().take(8).map(|(k, _)| self.list[*k].label());
                        let by: Vec<String> = by.take_while(|l| *l != self.list[k].label()).collect();
                        let mut diagnostic =
                            refused("G0208", format!("the function `{}` calls itself", self.list[k].label()));
                        if !by.is_empty() {
                            let by: Vec<String> = by.into_iter().rev().collect();
                            diagnostic = diagnostic.note(format!("by way of {}", by.join(", ")));
                        }
                        return Err(diagnostic.help("use the operators Loop or Scan for repetition"));
                    }
                    if !done.contains(&k) {
                        let mut calls = Vec::new();
                        self.calls_of(&self.list[k].body, 0, &mut calls)?;
                        open.insert(k);
                        path.push((k, calls.into_iter()));
                    }
                }
                let Some((k, calls)) = path.last_mut() else { break };
                next = calls.next();
                if next.is_none() {
                    done.insert(*k);
                    open.remove(k);
                    path.pop();
                }
            }
        }
        Ok(())
    }
}

fn too_deep() -> Diagnostic {
    refused("G0211", format!("graphs are nested more than {MAX_DEPTH} deep once functions are in place"))
        .help("functions that call each other in branches and loops nest graphs")
}

/// What comes in place of a node.
struct Body<'a> {
    function: &'a Function,
    /// What its inputs are; those that are left out are absent.
    inputs: &'a [Option<ValueId>],
    /// What names begin with.
    prefix: &'a str,
    /// It is a branch of the model itself.
    branch: bool,
}

/// The prefix of the names of a body: the name of the node that it replaces, or this one.
fn prefix(node: &Node, other: &str) -> Name {
    match node.name().len() {
        1..=64 => node.name().clone(),
        _ => other.chars().take(64).collect::<String>().as_str().into(),
    }
}

/// The captures of a changed subgraph become exactly the values of the enclosing graph that it
/// uses.
pub(crate) fn forget_outer(inner: &mut Graph) {
    inner.close_over();
    let outer: Vec<ValueId> =
        inner.values().filter(|(_, v)| v.producer() == Producer::Outer).map(|(id, _)| id).collect();
    for id in outer {
        inner.remove_value_if_unused(id);
    }
}

/// A walk over a model that replaces calls.
struct Inliner {
    functions: Functions,
    /// Of the model: domains that only functions use are added.
    opsets: Vec<(Name, i64)>,
    /// All names of values there are.
    names: Set<Name>,
    /// Where names that were wanted several times are counted.
    numbers: Map<Name, u64>,
    nodes: usize,
    bytes: usize,
    calls: usize,
}

impl Inliner {
    fn graph(&mut self, graph: &mut Graph, depth: u32) -> Result<(), Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let mut next = graph.order().next();
        while let Some(id) = next {
            match self.functions.called(graph.node(id)) {
                Some(k) => {
                    let function = Arc::clone(&self.functions.list[k]);
                    next = self.call(graph, id, &function)?;
                }
                None => {
                    self.subgraphs(graph, id, depth)?;
                    next = graph.next(id);
                }
            }
        }
        Ok(())
    }

    /// Replaces the calls in a node's subgraphs.
    fn subgraphs(&mut self, graph: &mut Graph, id: NodeId, depth: u32) -> Result<(), Diagnostic> {
        let node = graph.node(id);
        let mut inner = node.attributes().iter().flat_map(|a| a.value.graphs());
        if !inner.any(|g| self.functions.calls_any(g)) {
            return Ok(());
        }
        let mut attributes = node.attributes().to_vec();
        for attribute in &mut attributes {
            let graphs = match &mut attribute.value {
                AttributeValue::Graph(graph) => std::slice::from_mut(graph),
                AttributeValue::Graphs(graphs) => graphs.as_mut_slice(),
                _ => continue,
            };
            for inner in graphs {
                let mut changed = (**inner).clone();
                self.graph(&mut changed, depth + 1)?;
                forget_outer(&mut changed);
                *inner = Arc::new(changed);
            }
        }
        graph.set_attributes(id, attributes);
        Ok(())
    }

    /// Replaces the call by the body. Returns the node to continue with.
    fn call(
        &mut self,
        graph: &mut Graph,
        id: NodeId,
        function: &Function,
    ) -> Result<Option<NodeId>, Diagnostic> {
        self.calls += 1;
        let caller = label(graph, id);
        let node = graph.node(id).clone();
        for (what, given, taken) in [
            ("inputs", node.inputs().len(), function.inputs.len()),
            ("results", node.outputs().len(), function.outputs.len()),
        ] {
            if given > taken {
                let message = format!("{caller} has {given} {what}, and its function has {taken}");
                return Err(refused("G0209", message).help("export the model again, or correct the call"));
            }
        }
        let prefix = prefix(&node, function.name.as_str());
        let inputs: Vec<Option<ValueId>> = (0..function.inputs.len()).map(|k| node.input(k)).collect();
        self.put(graph, id, &Body { function, inputs: &inputs, prefix: &prefix, branch: false })
    }

    /// Replaces a node by a body. Returns the node to continue with.
    fn put(&mut self, graph: &mut Graph, id: NodeId, body: &Body<'_>) -> Result<Option<NodeId>, Diagnostic> {
        let function = body.function;
        let caller = label(graph, id);
        let node = graph.node(id).clone();
        let before = graph.previous(id);
        graph.remove_node(id);
        let mut map = vec![Mapped::Later; function.body.value_bound()];
        for (input, given) in function.inputs.iter().zip(body.inputs) {
            map[input.index()] = given.map_or(Mapped::Absent, Mapped::Value);
        }
        // A result has the name that the caller gave it, unless it is an input or was returned
        // before: then it is a copy.
        let mut copies = Vec::new();
        for (k, output) in function.outputs.iter().enumerate() {
            let Some(result) = node.output(k).filter(|r| graph.is_alive(*r)) else { continue };
            let parameter = function.body.is_parameter(*output);
            match map[output.index()] {
                Mapped::Later if !parameter => map[output.index()] = Mapped::Value(result),
                Mapped::Later | Mapped::Value(_) => copies.push((*output, result)),
                Mapped::Absent => {
                    let name = function.body.value(*output).name();
                    let message = format!(
                        "the function `{}` returns its input `{name}`, which {caller} leaves out",
                        function.label()
                    );
                    return Err(refused("G0209", message).help("give the call this input"));
                }
            }
        }
        let mut copying = Copying {
            inliner: self,
            function,
            attributes: node.attributes(),
            prefix: body.prefix,
            branch: body.branch,
            last: before,
        };
        copying
            .nodes(&function.body, &mut map, graph)
            .map_err(|d| d.note(format!("in the call of the function by {caller}")))?;
        let mut values = Vec::with_capacity(copies.len());
        for (output, result) in copies {
            values.push((copying.value(&function.body, output, &mut map, graph)?, result));
        }
        let mut last = copying.last;
        for (value, result) in values {
            self.import("", function.version("").unwrap_or(14));
            let place = last.map_or(Place::First, Place::After);
            last = Some(graph.insert(NewNode::new("Identity", [value], [result]), place));
        }
        // Values that the body computes from missing inputs have no meaning, and usually no user.
        while let Some(id) = last.filter(|id| Some(*id) != before) {
            last = graph.previous(id);
            let used = |v: &ValueId| graph.value(*v).use_count() > 0 || graph.value(*v).is_output();
            if !graph.node(id).outputs().iter().flatten().any(used) {
                graph.remove_node(id);
            }
        }
        Ok(match before {
            Some(before) => graph.next(before),
            None => graph.order().next(),
        })
    }

    /// The version of a domain that the model imports, from now on at least this.
    fn import(&mut self, domain: &str, version: i64) -> i64 {
        match self.opsets.iter().find(|(d, _)| **d == *domain) {
            Some((_, version)) => *version,
            None => {
                self.opsets.push((domain.into(), version));
                version
            }
        }
    }

    /// A name that nothing in the model has, made from this one.
    fn unique(&mut self, hint: String) -> Name {
        let hint = Name::from(hint.as_str());
        if self.names.insert(hint.clone()) {
            return hint;
        }
        loop {
            let number = self.numbers.entry(hint.clone()).or_insert(0);
            *number += 1;
            let name = Name::from(format!("{hint}_{number}").as_str());
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    fn count(&mut self, nodes: usize, bytes: usize) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        self.bytes = self.bytes.saturating_add(bytes);
        let what = match (self.nodes > MAX_NODES, self.bytes > MAX_BYTES) {
            (true, _) => format!("{MAX_NODES} nodes"),
            (_, true) => format!("{MAX_BYTES} bytes"),
            _ => return Ok(()),
        };
        Err(refused("G0211", format!("the functions of the model expand to more than {what}"))
            .help("functions that call functions several times multiply: let the model call fewer"))
    }
}
