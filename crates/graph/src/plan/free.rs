//! Calls whose extents follow from names: the kernel has size parameters of its own, and each call
//! gives them values.
//!
//! An extent that is no number becomes one parameter. The rows and columns of a product become
//! several: how many tiles of each form there are.

use functional::{Fact, FactKind};
use loops::{Code, Diagnostic, Name, Registers, Size};

use crate::attribute::AttributeValue;
use crate::graph::{Graph, Node, NodeId, ValueId};
use crate::model::Model;
use crate::operators::{self, After, Call, Cut, CutProduct, Operand, carrier};
use crate::types::{Dim, ElementType, TensorType};

/// A call at extents with names of its own.
pub(super) struct Named<'a> {
    pub(super) call: Call<'a>,
    pub(super) after: After,
    /// What the names stand for.
    pub(super) names: Names,
    /// How products are cut.
    pub(super) cut: Cut,
}

/// Names of a kernel for sizes over the names of the model.
#[derive(Default)]
pub(super) struct Names {
    pub(super) values: Vec<(Name, Size)>,
    pub(super) facts: Vec<Fact>,
}

impl Names {
    /// A new name, whose value is at most this number.
    fn fresh(&mut self, value: Size, most: Option<i64>) -> Size {
        let name = Name::new(format!("n{}", self.values.len() + 1));
        self.values.push((name.clone(), value));
        let size = Size::param(name);
        if let Some(most) = most {
            let fact = Fact { kind: FactKind::AtMost, left: size.clone(), right: Size::constant(most) };
            self.facts.push(fact);
        }
        size
    }

    /// The name of an extent, if it is no number.
    fn extent(&mut self, size: &Size) -> Size {
        if size.as_constant().is_some() {
            return size.clone();
        }
        match self.values.iter().find(|(_, value)| value == size) {
            Some((name, _)) => Size::param(name.clone()),
            None => self.fresh(size.clone(), None),
        }
    }

    fn shape(&mut self, sizes: &[Size]) -> Vec<Size> {
        sizes.iter().map(|size| self.extent(size)).collect()
    }
}

/// Gives each extent of a call that is no number a name. Equal extents get the same one.
pub(super) fn named<'a>(call: &Call<'a>, after: &After, registers: Option<Registers>) -> Named<'a> {
    if let Some(named) = registers.and_then(|registers| product(call, after, registers)) {
        return named;
    }
    let mut names = Names::default();
    let mut operand = |o: &Operand<'a>| {
        let sizes = o.sizes.as_ref().map(|sizes| names.shape(sizes));
        Operand { shape: names.shape(&o.shape), sizes, ..o.clone() }
    };
    let inputs = call.inputs.iter().map(|o| o.as_ref().map(&mut operand));
    let inputs = inputs.collect();
    let operands = after.operands.iter().map(|(elem, sizes)| (*elem, names.shape(sizes))).collect();
    let after = After { operands, stages: after.stages.clone() };
    Named { call: Call { inputs, ..call.clone() }, after, names, cut: Cut::default() }
}

/// Which operands of a product of matrices are transposed.
#[derive(Default)]
struct Turned {
    left: bool,
    right: bool,
}

/// The rows, the columns and the sum of a product of matrices, over the names of the model.
struct Product {
    /// Whether the operands are transposed.
    turned: Turned,
    /// Whether all extents before the last one are rows.
    flat: bool,
    m: Size,
    k: Size,
    n: Size,
}

/// What a call multiplies, if it is a product of matrices of floating-point numbers.
fn multiplied(call: &Call<'_>) -> Option<Product> {
    let flag = |name: &str| {
        let found = call.attributes.iter().find(|a| &*a.name == name);
        found.and_then(|a| AttributeValue::int(&a.value)).unwrap_or(0) != 0
    };
    let operand = |k: usize| call.inputs.get(k)?.as_ref();
    let (a, b) = (operand(0)?, operand(1)?);
    let floats = [a, b].iter().all(|o| matches!(o.elem, ElementType::F32 | ElementType::F64));
    let ([.., a0, a1], [.., b0, b1]) = (&a.shape[..], &b.shape[..]) else { return None };
    let turned = match &*call.op.name {
        "Gemm" => Turned { left: flag("transA"), right: flag("transB") },
        "MatMul" => Turned::default(),
        _ => return None,
    };
    let flat = b.shape.len() == 2;
    let (m, k) = if turned.left { (a1, a0) } else { (a0, a1) };
    let (l, n) = if turned.right { (b1, b0) } else { (b0, b1) };
    let m = match flat && !turned.left {
        true => a.shape[..a.shape.len() - 1].iter().fold(Size::constant(1), |m, n| m * n.clone()),
        false => m.clone(),
    };
    let open = m.as_constant().is_none() || n.as_constant().is_none();
    (call.op.is_standard() && floats && k == l && open).then(|| Product {
        turned,
        flat,
        m,
        k: k.clone(),
        n: n.clone(),
    })
}

/// A product whose rows and columns are cut into tiles.
fn product<'a>(call: &Call<'a>, after: &After, registers: Registers) -> Option<Named<'a>> {
    let Product { turned, flat, m, k, n } = multiplied(call)?;
    let mut names = Names::default();
    let scalar = carrier(call.inputs.first()?.as_ref()?.elem)?;
    let CutProduct { cut, rows, columns } =
        operators::cut(registers, scalar, &m, &n, &mut |value, most| names.fresh(value, most));
    let k = names.extent(&k);
    let one = Size::constant(1);
    // Extents of what is read beside, aligned with the result.
    let mut beside = |shape: &[Size]| -> Vec<Size> {
        let Some((last, others)) = shape.split_last() else { return Vec::new() };
        let last = if *last == one { one.clone() } else { columns.clone() };
        let whole = others.iter().any(|n| *n != one);
        match (flat, others.split_last()) {
            (_, None) => vec![last],
            (true, _) => vec![if whole { rows.clone() } else { one.clone() }, last],
            (false, Some((row, batch))) => {
                let row = if *row == one { one.clone() } else { rows.clone() };
                [names.shape(batch), vec![row, last]].concat()
            }
        }
    };
    let third = call.inputs.get(2).cloned().flatten();
    let third = third.map(|o| Operand { shape: beside(&o.shape), ..o });
    let operands = after.operands.iter().map(|(elem, shape)| (*elem, beside(shape))).collect();
    let pair = |turned: bool, first: &Size, second: &Size| match turned {
        true => vec![second.clone(), first.clone()],
        false => vec![first.clone(), second.clone()],
    };
    let mut stacked = |o: &Operand<'a>, matrix: Vec<Size>| {
        let batch = if flat { Vec::new() } else { names.shape(&o.shape[..o.shape.len() - 2]) };
        Operand { shape: [batch, matrix].concat(), ..o.clone() }
    };
    let a = stacked(call.inputs[0].as_ref()?, pair(turned.left, &rows, &k));
    let b = stacked(call.inputs[1].as_ref()?, pair(turned.right, &k, &columns));
    let mut inputs = call.inputs.clone();
    (inputs[0], inputs[1]) = (Some(a), Some(b));
    if let Some(place) = inputs.get_mut(2) {
        *place = third;
    }
    let after = After { operands, stages: after.stages.clone() };
    Some(Named { call: Call { inputs, ..call.clone() }, after, names, cut })
}

/// The elements of a value, if they are integers that follow from these names.
pub(super) fn elements(graph: &Graph, id: ValueId, extents: &[Name]) -> Option<Vec<Size>> {
    if extents.is_empty() {
        return None;
    }
    let known = graph.value(id).known_elements()?;
    let sizes: Vec<Size> = known.iter().map(Dim::size).collect::<Option<_>>()?;
    sizes.iter().flat_map(Size::params).all(|name| extents.contains(&name)).then_some(sizes)
}

/// The names in an extent.
pub(super) fn names(size: &Size) -> Vec<Name> {
    size.params().into_iter().collect()
}

/// The names in the extents of what a node reads and makes.
pub(super) fn names_at(graph: &Graph, id: NodeId) -> Vec<Name> {
    let node = graph.node(id);
    let values = node.inputs().iter().chain(node.outputs()).flatten();
    let dims = values.filter_map(|id| graph.value(*id).tensor_type()?.shape.as_ref()).flatten();
    let mut found: Vec<Name> = dims.filter_map(Dim::size).flat_map(|size| names(&size)).collect();
    found.sort();
    found.dedup();
    found
}

/// A node that needs numbers for names.
pub(super) fn refused(node: &str, names: &[Name], why: &Diagnostic) -> Diagnostic {
    let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let sizes: Vec<String> = names.iter().map(|name| format!("--size {name}=1")).collect();
    let message = format!("{node} can't be compiled for every value of {}", list.join(", "));
    let notes = std::iter::once(&why.message).chain(&why.notes);
    let said = notes.fold(Diagnostic::general(Code("G0409"), message), |d, note| d.note(note.clone()));
    said.help(format!("give numbers: {}", sizes.join(" ")))
}

/// Rounds of [`assume`], at most: a slice may be of what follows from another.
const MOST_ROUNDS: usize = 64;

/// Gives slices whose length is known wherever their ends are inside that length. Programs require
/// that they are.
///
/// # Errors
/// `G0301` if types then contradict each other.
pub(super) fn assume(model: &mut Model) -> Result<(), Diagnostic> {
    for _ in 0..MOST_ROUNDS {
        let graph = &mut model.graph;
        let slices = graph.nodes().filter(|(_, node)| node.op().is("Slice"));
        let found: Vec<(ValueId, TensorType)> = slices.filter_map(|(_, node)| sliced(graph, node)).collect();
        if found.is_empty() {
            break;
        }
        for (id, ty) in found {
            graph.declare(id, ty);
        }
        crate::infer(model)?;
    }
    Ok(())
}

/// The type of a slice of which an extent is not known, if more of it follows.
fn sliced(graph: &Graph, node: &Node) -> Option<(ValueId, TensorType)> {
    let output = node.output(0)?;
    let shape = graph.value(output).tensor_type().and_then(|ty| ty.shape.as_ref());
    if shape.is_some_and(|shape| shape.iter().all(|dim| *dim != Dim::Unknown)) {
        return None;
    }
    let input = graph.value(node.input(0)?).tensor_type()?;
    let from = input.shape.as_ref()?;
    let elements = |k: usize| -> Option<Vec<Size>> {
        let id = node.input(k)?;
        match graph.constant(id) {
            Some(tensor) => Some(tensor.to_ints()?.into_iter().map(Size::constant).collect()),
            None => graph.value(id).known_elements()?.iter().map(Dim::size).collect(),
        }
    };
    let numbers = |k: usize| -> Option<Vec<i64>> { elements(k)?.iter().map(Size::as_constant).collect() };
    let (starts, ends) = (elements(1)?, elements(2)?);
    let axes = match node.input(3) {
        Some(_) => numbers(3)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = if node.input(4).is_some() { numbers(4)? } else { vec![1; starts.len()] };
    let mut shape = shape.cloned().unwrap_or_else(|| from.clone());
    let mut more = false;
    for (((axis, step), start), end) in axes.iter().zip(steps).zip(&starts).zip(&ends) {
        let axis = usize::try_from(if *axis < 0 { axis + from.len() as i64 } else { *axis }).ok()?;
        if step == 1
            && *shape.get(axis)? == Dim::Unknown
            && let Some(open) = crate::slicing::open(&from.get(axis)?.size()?, start, end)
        {
            shape[axis] = open.count.into();
            more = true;
        }
    }
    more.then(|| (output, TensorType::new(input.elem, shape)))
}
