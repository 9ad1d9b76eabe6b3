//! Branches and loops. Their subgraphs are planned like the model, with the same parameters,
//! kernels and arena.
//!
//! The results of a branch are written to the places of the node's results. A state of a loop has
//! one place, from the first iteration to the result of the node. Its new value is computed in a
//! second place until the iteration ends.

use loops::{Code, Diagnostic, Size};

use crate::attribute::AttributeValue;
use crate::control::{goes_on, trips};
use crate::graph::{Graph, Node, NodeId, Producer, Value, ValueId};

use super::{Branch, Copy, Place, Planner, Port, Repeat, Rounds, Slice, Step, carried_bytes};

/// A node with subgraphs that is not translated.
fn refused(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("G0404"), message.into())
}

/// A subgraph after planning: its steps, and its outputs with their places.
type Scratch = Vec<(Place, Size)>;

type Planned = (Vec<Step>, Vec<(Port, Place)>);

impl<'a> Planner<'a, '_> {
    /// Plans a node with subgraphs that [`Planner::is_planned`].
    pub(super) fn control(&mut self, id: NodeId, at: usize) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        let mut scratch = Vec::new();
        match node.op().name.as_str() {
            "If" => self.branch(id, at, &mut scratch)?,
            "Loop" => self.repeat(id, at, &mut scratch)?,
            _ => self.scan(id, at, &mut scratch)?,
        }
        scratch.into_iter().for_each(|(place, bytes)| self.shared.arena.give(place, &bytes));
        let values =
            node.inputs().iter().flatten().chain(node.captures()).chain(node.outputs().iter().flatten());
        self.free(at, values.copied())
    }

    /// Whether memory can be planned for a node with subgraphs.
    pub(super) fn is_planned(&self, id: NodeId) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        match node.op().name.as_str() {
            "If" if node.op().is_standard() => self.branches_agree(id),
            "Loop" if node.op().is_standard() => self.loop_is_planned(node),
            "Scan" if node.op().is_standard() => self.scan_is_planned(node),
            other => Err(refused(format!("`{other}` has subgraphs"))
                .help("of the operators with subgraphs, If, Loop and Scan are translated to C")),
        }
    }

    fn branches_agree(&self, id: NodeId) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        let (a, b) = (self.subgraph(node, "then_branch")?, self.subgraph(node, "else_branch")?);
        if self.misfit(id, a).is_some() || self.misfit(id, b).is_some() {
            return Ok(());
        }
        for (k, (x, y)) in a.outputs().iter().zip(b.outputs()).enumerate() {
            let (x, y) = (a.value(*x), b.value(*y));
            if let Some(other) = [x, y].into_iter().find(|v| v.ty().is_some() && v.tensor_type().is_none()) {
                return Err(refused(format!("result {k} is not a tensor but {}", shown(other)))
                    .help("sequences and optional values can be evaluated, but not translated to C"));
            }
            if !alike(x, y) {
                let message =
                    format!("result {k} is {} in one branch and {} in the other", shown(x), shown(y));
                return Err(refused(message)
                    .note("memory is planned before the model runs, and the condition is not known then")
                    .help("a condition that depends only on constants and extents is known in advance"));
            }
        }
        Ok(())
    }

    /// Why a branch can't be taken at these sizes, if that is so. A branch whose results have known
    /// shapes fits.
    fn misfit(&self, id: NodeId, branch: &Graph) -> Option<String> {
        let known = |id: &ValueId| branch.value(*id).tensor_type().is_some_and(|t| t.sizes().is_some());
        match branch.outputs().iter().all(known) {
            true => None,
            false => crate::infer::misfit(self.graph, self.shared.opset, id, branch),
        }
    }

    fn loop_is_planned(&self, node: &Node) -> Result<(), Diagnostic> {
        let body = self.subgraph(node, "body")?;
        let count = node.inputs().len().saturating_sub(2);
        self.keeps_states(node, 2, body, 1, count)?;
        if body.outputs().len() > 1 + count && trips(self.graph, node, body).is_none() {
            return Err(refused(format!("the length of result {count} depends on the data"))
                .note("it gets a row in each round, and the number of rounds is not known before the model runs")
                .help("make the number of rounds a constant or let it follow from extents, and keep the condition true"));
        }
        Ok(())
    }

    fn scan_is_planned(&self, node: &Node) -> Result<(), Diagnostic> {
        if self.shared.opset < 9 {
            return Err(refused("`Scan` of version 8 goes through batches")
                .help("onnx.version_converter brings the model to a newer version"));
        }
        let turned = |name: &str| node.ints(name).is_some_and(|axes| axes.iter().any(|axis| *axis != 0));
        if turned("scan_input_axes") || turned("scan_output_axes") {
            return Err(refused("`Scan` goes along other axes than the first, of tensors of unknown rank")
                .help("use a `Transpose` before or after it"));
        }
        let scanned = usize::try_from(node.int("num_scan_inputs", 1)).unwrap_or(1).min(node.inputs().len());
        self.keeps_states(node, 0, self.subgraph(node, "body")?, 0, node.inputs().len() - scanned)
    }

    /// Whether the states of a loop are the same after an iteration as before it.
    fn keeps_states(
        &self,
        node: &Node,
        from: usize,
        body: &Graph,
        skipped: usize,
        count: usize,
    ) -> Result<(), Diagnostic> {
        for k in 0..count {
            let before = node.input(from + k).map(|id| self.graph.value(id));
            let after = body.outputs().get(skipped + k).map(|id| body.value(*id));
            let (Some(before), Some(after)) = (before, after) else {
                return Err(refused(format!("state {k} is missing")));
            };
            if !alike(before, after) {
                return Err(refused(format!(
                    "state {k} is {} at first and {} after a round",
                    shown(before),
                    shown(after)
                ))
                .note("memory is planned before the model runs, so a state must keep its extents")
                .help("give the state its final extents, and fill it part by part"));
            }
        }
        Ok(())
    }

    fn subgraph(&self, node: &'a Node, name: &str) -> Result<&'a Graph, Diagnostic> {
        match node.attribute(name) {
            Some(AttributeValue::Graph(graph)) => Ok(graph),
            _ => Err(refused(format!("the graph `{name}` is missing"))),
        }
    }

    /// Memory for as long as the node runs.
    fn room(&mut self, bytes: &Size, scratch: &mut Scratch) -> Place {
        let place = self.shared.arena.take(bytes);
        scratch.push((place, bytes.clone()));
        place
    }

    /// The place of result `k` of a node. If nothing reads the result, this is memory that is in
    /// use while the node runs.
    fn result(
        &mut self,
        node: &Node,
        k: usize,
        port: &Port,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<Place, Diagnostic> {
        let Some(bytes) = carried_bytes(port.elem, &port.dims) else {
            return Err(Diagnostic::general(Code("G0403"), format!("result {k} is larger than any memory")));
        };
        let Some(output) = node.output(k) else { return Ok(self.room(&bytes, scratch)) };
        // The place is as large as the type that the readers of the result expect.
        let value = self.graph.value(output);
        let said = value.tensor_type().and_then(|ty| Some((ty.elem, ty.sizes()?)));
        if said.is_some_and(|(elem, dims)| elem != port.elem || dims != port.dims) {
            let what =
                format!("result {k} is declared as {} and is {}{:?}", shown(value), port.elem, port.dims);
            return Err(Diagnostic::general(Code("G0301"), what));
        }
        if let Some(place) = self.places.get(&output) {
            return Ok(*place);
        }
        let place = self.shared.arena.take(&bytes);
        self.places.insert(output, place);
        self.last.entry(output).or_insert(at);
        Ok(place)
    }

    /// Plans a subgraph whose inputs are at these places, with its outputs where they are wanted,
    /// as far as that can be.
    fn inside(
        &mut self,
        inner: &'a Graph,
        inputs: &[Place],
        wanted: &[Place],
    ) -> Result<Planned, Diagnostic> {
        let mut outer = Vec::new();
        for (id, value) in inner.values().filter(|(_, v)| v.producer() == Producer::Outer) {
            let around = self.graph.find(value.name()).ok_or_else(|| {
                Diagnostic::general(Code("G0201"), format!("nothing defines `{}`", value.name()))
            })?;
            outer.push((id, self.place(self.root(around))?));
        }
        let mut planner = Planner::new(inner, &mut *self.shared);
        planner.places.extend(outer);
        planner.places.extend(inner.inputs().iter().copied().zip(inputs.iter().copied()));
        let items = planner.items()?;
        let places = planner.run(&items, wanted)?;
        let ports: Vec<Port> =
            inner.outputs().iter().map(|id| planner.port(*id)).collect::<Result<_, _>>()?;
        Ok((planner.steps, ports.into_iter().zip(places).collect()))
    }

    fn branch(&mut self, id: NodeId, at: usize, scratch: &mut Scratch) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        let (then, otherwise) = (self.subgraph(node, "then_branch")?, self.subgraph(node, "else_branch")?);
        let missing = || refused("the condition is missing");
        let condition = self.place(self.root(node.input(0).ok_or_else(missing)?))?;
        let misfits = [self.misfit(id, then), self.misfit(id, otherwise)];
        let fits = if misfits[0].is_none() { then } else { otherwise };
        let mut wanted = Vec::new();
        for (k, id) in fits.outputs().iter().enumerate() {
            let port = self.port_of(fits, *id)?;
            wanted.push(self.result(node, k, &port, at, scratch)?);
        }
        let mut planned = Vec::new();
        for (graph, misfit) in [then, otherwise].into_iter().zip(misfits) {
            if let Some(why) = misfit {
                let name = if planned.is_empty() { "then_branch" } else { "else_branch" };
                let node = crate::infer::label(self.graph, id);
                let what = format!("the `{name}` of {node} does not fit these sizes: it {why}");
                planned.push(vec![Step::Fail(what)]);
                continue;
            }
            let (mut steps, outputs) = self.inside(graph, &[], &wanted)?;
            for ((port, from), to) in outputs.into_iter().zip(&wanted) {
                if from != *to {
                    steps.push(copy(from, *to, port.bytes()));
                }
            }
            planned.push(steps);
        }
        let otherwise = planned.pop().unwrap_or_default();
        let then = planned.pop().unwrap_or_default();
        let node = crate::infer::label(self.graph, id);
        self.steps.push(Step::Branch(Branch { condition, then, otherwise, node }));
        Ok(())
    }

    /// A value of a subgraph as a port.
    fn port_of(&mut self, inner: &'a Graph, id: ValueId) -> Result<Port, Diagnostic> {
        Planner::new(inner, &mut *self.shared).port(id)
    }

    /// The states of a loop: each is put where the result of the node is to be.
    fn states(
        &mut self,
        node: &Node,
        from: usize,
        (count, at): (usize, usize),
        scratch: &mut Scratch,
    ) -> Result<Vec<Place>, Diagnostic> {
        let mut places = Vec::new();
        for k in 0..count {
            let missing = || refused(format!("state {k} is missing"));
            let input = node.input(from + k).ok_or_else(missing)?;
            let before = self.port(input)?;
            let place = self.result(node, k, &before, at, scratch)?;
            let from = self.place(self.root(input))?;
            self.steps.push(copy(from, place, before.bytes()));
            places.push(place);
        }
        Ok(places)
    }

    fn repeat(&mut self, id: NodeId, at: usize, scratch: &mut Scratch) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        let body = self.subgraph(node, "body")?;
        let count = node.inputs().len().saturating_sub(2);
        let known = trips(self.graph, node, body);
        let stacked = body.outputs().len().saturating_sub(1 + count);
        let limit = match (known, node.input(0)) {
            (Some(rounds), _) => Rounds::Known(Size::constant(rounds)),
            (None, Some(limit)) => Rounds::Data(self.place(self.root(limit))?),
            (None, None) => Rounds::Unlimited,
        };
        let states = self.states(node, 2, (count, at), scratch)?;
        let asked = (!goes_on(self.graph, node, body)).then(|| self.room(&Size::constant(1), scratch));
        let number = self.room(&Size::constant(8), scratch);
        let counted = body
            .inputs()
            .first()
            .is_some_and(|id| body.value(*id).use_count() > 0 || body.value(*id).is_output());
        let going = match asked {
            Some(going) => {
                let from = match node.input(1) {
                    Some(condition) => self.place(self.root(condition))?,
                    None => self.truth(),
                };
                self.steps.push(copy(from, going, Size::constant(1)));
                going
            }
            None => self.truth(),
        };
        let inputs: Vec<Place> = [number, going].into_iter().chain(states.iter().copied()).collect();
        let rows = Rows {
            states: states.clone(),
            lengths: vec![(Size::constant(known.unwrap_or(0)), false); stacked],
            skipped: 1,
        };
        let (mut steps, moves) = self.round(node, body, &inputs, &rows, at, scratch)?;
        let mut kept = Vec::new();
        if let (Some(going), Some((port, next))) = (asked, moves.first()) {
            kept.push((*next, going, port.bytes()));
        }
        kept.extend(moves[1..].iter().zip(&states).map(|((port, from), to)| (*from, *to, port.bytes())));
        self.keep(kept, &mut steps, scratch);
        let node = crate::infer::label(self.graph, id);
        self.steps.push(Step::Repeat(Repeat {
            rounds: limit,
            condition: asked,
            number: counted.then_some(number),
            body: steps,
            node,
        }));
        Ok(())
    }

    fn scan(&mut self, id: NodeId, at: usize, scratch: &mut Scratch) -> Result<(), Diagnostic> {
        let node = self.graph.node(id);
        let body = self.subgraph(node, "body")?;
        let scanned = usize::try_from(node.int("num_scan_inputs", 1)).unwrap_or(1).min(node.inputs().len());
        let count = node.inputs().len() - scanned;
        let list = |name: &str, k: usize| node.ints(name).and_then(|l| l.get(k).copied()).unwrap_or(0);
        let states = self.states(node, 0, (count, at), scratch)?;
        let mut inputs = states.clone();
        let mut slices = Vec::new();
        let mut rounds = Size::default();
        for k in 0..scanned {
            let missing = || refused(format!("input {} is missing", count + k));
            let input = node.input(count + k).ok_or_else(missing)?;
            let port = self.port(input)?;
            let length = port.dims.first().cloned().unwrap_or_default();
            if k > 0 && length != rounds {
                return Err(refused(format!("input {} has {length} rows, those before {rounds}", count + k)));
            }
            rounds = length;
            let row = port.dims.get(1..).unwrap_or_default();
            let bytes = carried_bytes(port.elem, row).unwrap_or_default();
            let from =
                slice(self.place(self.root(input))?, &bytes, &rounds, list("scan_input_directions", k) == 1);
            let to = self.room(&bytes, scratch);
            slices.push(Step::Copy(Copy { from, to: to.into(), bytes }));
            inputs.push(to);
        }
        let stacked = body.outputs().len().saturating_sub(count);
        let mut lengths = Vec::new();
        for k in 0..stacked {
            lengths.push((rounds.clone(), list("scan_output_directions", k) == 1));
        }
        let rows = Rows { states: states.clone(), lengths, skipped: 0 };
        let (steps, moves) = self.round(node, body, &inputs, &rows, at, scratch)?;
        let mut steps: Vec<Step> = slices.into_iter().chain(steps).collect();
        let kept = moves.iter().zip(&states).map(|((port, from), to)| (*from, *to, port.bytes())).collect();
        self.keep(kept, &mut steps, scratch);
        let node = crate::infer::label(self.graph, id);
        self.steps.push(Step::Repeat(Repeat {
            rounds: Rounds::Known(rounds),
            condition: None,
            number: None,
            body: steps,
            node,
        }));
        Ok(())
    }

    /// A parameter that is true.
    fn truth(&mut self) -> Place {
        let carried = loops::Tensor { shape: vec![], data: loops::Data::Bool(vec![true]) };
        self.shared.stored("true".into(), carried)
    }

    /// The steps of an iteration, which write rows to their places; and the outputs that are not
    /// rows, with their places.
    fn round(
        &mut self,
        node: &Node,
        body: &'a Graph,
        inputs: &[Place],
        rows: &Rows,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<Planned, Diagnostic> {
        let first = rows.skipped + rows.states.len();
        if body.outputs().len() < first {
            return Err(refused(format!("the body has {} results and needs {first}", body.outputs().len())));
        }
        let mut wanted = Vec::new();
        for id in body.outputs() {
            let port = self.port_of(body, *id)?;
            wanted.push(self.room(&port.bytes(), scratch));
        }
        let mut whole = Vec::new();
        for (k, (id, (length, _))) in body.outputs()[first..].iter().zip(&rows.lengths).enumerate() {
            let mut port = self.port_of(body, *id)?;
            port.dims.insert(0, length.clone());
            whole.push(self.result(node, rows.states.len() + k, &port, at, scratch)?);
        }
        let (mut steps, mut outputs) = self.inside(body, inputs, &wanted)?;
        for ((port, from), (to, (length, backward))) in
            outputs.split_off(first).into_iter().zip(whole.into_iter().zip(&rows.lengths))
        {
            let bytes = port.bytes();
            steps.push(Step::Copy(Copy {
                from: from.into(),
                to: slice(to, &bytes, length, *backward),
                bytes,
            }));
        }
        Ok((steps, outputs))
    }

    /// The results of an iteration become the initial states of the next one. A value may be copied
    /// to one state while another state still has to be copied from it.
    fn keep(&mut self, mut moves: Vec<(Place, Place, Size)>, steps: &mut Vec<Step>, scratch: &mut Scratch) {
        let targets: Vec<Place> = moves.iter().map(|(_, to, _)| *to).collect();
        for (from, to, bytes) in &mut moves {
            if *from != *to && targets.contains(from) {
                let beside = self.room(bytes, scratch);
                steps.push(copy(*from, beside, bytes.clone()));
                *from = beside;
            }
        }
        steps.extend(
            moves
                .into_iter()
                .filter(|(from, to, _)| from != to)
                .map(|(from, to, bytes)| copy(from, to, bytes)),
        );
    }
}

/// What a loop keeps and collects.
struct Rows {
    states: Vec<Place>,
    /// The number of rows of each collected result, and whether they are written from the last one
    /// on.
    lengths: Vec<(Size, bool)>,
    /// Outputs of the body before the states.
    skipped: usize,
}

fn copy(from: Place, to: Place, bytes: Size) -> Step {
    Step::Copy(Copy { from: from.into(), to: to.into(), bytes })
}

/// Row after row of a place.
fn slice(place: Place, bytes: &Size, rows: &Size, backward: bool) -> Slice {
    match backward {
        true => {
            let first = bytes.clone() * (rows.clone() - Size::constant(1));
            Slice { place, first, step: Size::constant(-1) * bytes.clone() }
        }
        false => Slice { place, first: Size::default(), step: bytes.clone() },
    }
}

/// Whether two values have the same type, all of it known.
fn alike(a: &Value, b: &Value) -> bool {
    let known = |v: &Value| v.tensor_type().and_then(|t| Some((t.elem, t.sizes()?)));
    known(a).is_some_and(|a| known(b) == Some(a))
}

fn shown(value: &Value) -> String {
    value.ty().map_or("of an unknown type".to_owned(), ToString::to_string)
}
