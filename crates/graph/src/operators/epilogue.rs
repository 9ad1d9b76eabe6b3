//! Elementwise operators that are fused with the operator before them: functions of the elements at
//! one position, such as `Relu`, an addition, or a chain of them.
//!
//! Whether an operator is elementwise is read from its program: a loop over all positions of the
//! result that reads each input at the same position. So there is no list of such operators.

use std::collections::BTreeMap;

use functional::{Arg, Binder, DataType, Prim, Term, TermKind, Var, walk};
use loops::Size;

use super::Meaning;
use super::build::{Cx, Extents, aligned, product, reshape};
use super::value::Val;
use crate::types::ElementType;

/// A function of the elements of its inputs at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elementwise {
    /// The element of each input, with the number of the input.
    inputs: Vec<(usize, Binder)>,
    body: Term,
    elem: ElementType,
}

/// Where an input of a function comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The operator itself (0), or the function before this number.
    Inside(usize),
    /// The tensor with this number of those that [`After`] needs.
    Outside(usize),
}

/// Functions that are fused with an operator, in order. The last one gives the result.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct After {
    /// Each with the sources of its inputs.
    pub stages: Vec<(Elementwise, Vec<Source>)>,
    /// Types of the additional tensors that they read. Extents are those of the result, or 1.
    pub operands: Vec<(ElementType, Vec<Size>)>,
}

/// Primitives that become calls in C. A loop with a call is not vectorised, including the rest of
/// its body.
fn is_call(prim: Prim) -> bool {
    use Prim::*;
    let function = matches!(prim, Exp | Log | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh);
    function || matches!(prim, Pow | Fmod | Reduce | Map | Generate)
}

/// Operations of a function that goes behind another, at most.
const MOST_OPERATIONS: usize = 128;

/// The function of an operator's program, if it is one.
pub fn elementwise(meaning: &Meaning) -> Option<Elementwise> {
    let [result] = &meaning.results[..] else { return None };
    let definition = &meaning.definition;
    let (mut body, mut places) = (&definition.body, Vec::new());
    for _ in &result.shape {
        let TermKind::Prim(Prim::Generate, args) = body.kind() else { return None };
        let [Arg::Size(_), Arg::Fun(f)] = &args[..] else { return None };
        places.push(&f.params[0].var);
        body = &f.body;
    }
    if !matches!(body.ty(), DataType::Scalar(_)) {
        return None;
    }
    let mut reader = Reader { params: &definition.params, places: &places, found: BTreeMap::new() };
    let body = reader.rewrite(body);
    let inputs: Vec<(usize, Binder)> =
        reader.found.into_iter().map(|(k, binder)| (meaning.arguments[k], binder)).collect();
    let closed = walk::free_vars(&body).iter().all(|v| inputs.iter().any(|(_, binder)| binder.var == *v));
    (closed && inputs.len() == meaning.arguments.len()).then_some(Elementwise {
        inputs,
        body,
        elem: result.elem,
    })
}

/// Replaces elements of parameters at the place of the result by variables.
struct Reader<'a> {
    params: &'a [Binder],
    places: &'a [&'a Var],
    found: BTreeMap<usize, Binder>,
}

impl Reader<'_> {
    fn rewrite(&mut self, term: &Term) -> Term {
        if let Some(k) = self.element(term) {
            // A parameter's own variable, now of its element.
            let binder = Binder { var: self.params[k].var.clone(), ty: term.ty().clone() };
            self.found.insert(k, binder.clone());
            return functional::build::var(&binder);
        }
        walk::map_children(term, |_, child| self.rewrite(child))
    }

    /// The number of the parameter whose element at this place the term is.
    fn element(&self, term: &Term) -> Option<usize> {
        if !matches!(term.ty(), DataType::Scalar(_)) {
            return None;
        }
        let (mut at, mut indices) = (term, Vec::new());
        while let TermKind::Prim(Prim::Index, args) = at.kind() {
            let [Arg::Term(array), Arg::Term(index)] = &args[..] else { return None };
            indices.push(index);
            at = array;
        }
        let TermKind::Var(var) = at.kind() else { return None };
        let k = self.params.iter().position(|p| p.var == *var)?;
        let here = indices.iter().zip(self.places.iter().rev()).all(|(index, place)| match index.kind() {
            TermKind::Var(var) => var == *place,
            TermKind::Size(_) => *index.ty() == DataType::Idx(Size::constant(1)),
            _ => false,
        });
        (here && indices.len() <= self.places.len()).then_some(k)
    }
}

impl Elementwise {
    /// The inputs that it reads.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().map(|(k, _)| *k)
    }

    /// Whether it is so short, and so easily vectorised, that it needs no pass of its own.
    pub(crate) fn is_light(&self) -> bool {
        fn calls(term: &Term) -> bool {
            matches!(term.kind(), TermKind::Prim(prim, _) if is_call(*prim))
                || walk::children(term).into_iter().any(|(_, child)| calls(child))
        }
        walk::count(&self.body) <= MOST_OPERATIONS && !calls(&self.body)
    }
}

/// [`After`] in a program: where its tensors are.
#[derive(Clone, Default)]
pub(super) struct Stages {
    pub(super) stages: Vec<(Elementwise, Vec<Source>)>,
    pub(super) tensors: Vec<(Val, Extents)>,
}

impl Stages {
    /// The type of the elements of the result.
    pub(super) fn elem(&self) -> Option<ElementType> {
        Some(self.stages.last()?.0.elem)
    }

    /// The result for the operator's element at a position. Each index of the position counts the
    /// positions of that many dimensions.
    pub(super) fn apply(&self, cx: &mut Cx, value: Val, place: &[Val], dims: &[usize]) -> Val {
        self.stage(cx, 0, vec![value], place, dims)
    }

    /// Whether the additional tensors are constant along the last dimensions of the result.
    pub(super) fn is_the_same_at_places(&self, dims: usize) -> bool {
        let one = Size::constant(1);
        self.tensors.iter().all(|(_, shape)| shape.iter().rev().take(dims).all(|n| *n == one))
    }

    /// The stages before the first one that needs another tensor at each place of these last
    /// dimensions, and those from it on.
    pub(super) fn split(&self, dims: usize) -> (Stages, Stages) {
        let one = Size::constant(1);
        let same = |source: &Source| match source {
            Source::Inside(_) => true,
            Source::Outside(k) => self.tensors[*k].1.iter().rev().take(dims).all(|n| *n == one),
        };
        let alone = |count: usize| {
            let (first, rest) = self.stages.split_at(count);
            let inside = |source: &Source| !matches!(source, Source::Inside(k) if *k < count);
            first.iter().all(|(_, sources)| sources.iter().all(same))
                && rest.iter().all(|(_, sources)| sources.iter().all(inside))
        };
        let count = (0..=self.stages.len()).rev().find(|count| alone(*count)).unwrap_or(0);
        let behind = |source: &Source| match source {
            Source::Inside(k) => Source::Inside(k - count),
            Source::Outside(k) => Source::Outside(*k),
        };
        let rest = self.stages[count..].iter();
        let rest = rest.map(|(f, sources)| (f.clone(), sources.iter().map(behind).collect())).collect();
        let tensors = self.tensors.clone();
        (
            Stages { stages: self.stages[..count].to_vec(), tensors: tensors.clone() },
            Stages { stages: rest, tensors },
        )
    }

    fn stage(&self, cx: &mut Cx, number: usize, mut values: Vec<Val>, place: &[Val], dims: &[usize]) -> Val {
        let last = values.pop().unwrap_or_else(|| super::value::int(0));
        let Some((function, sources)) = self.stages.get(number) else { return last };
        cx.bind("value", last, |cx, last| {
            values.push(last);
            let inputs = sources.iter().map(|source| match source {
                Source::Inside(k) => values[*k].clone(),
                Source::Outside(k) => self.element(cx, *k, place, dims),
            });
            let inputs: Vec<Val> = inputs.collect();
            let value = cx.instance(&function.body, function.inputs.iter().map(|(_, b)| b).zip(&inputs));
            values.push(value);
            self.stage(cx, number + 1, values, place, dims)
        })
    }

    /// The element of a tensor at such a place.
    fn element(&self, cx: &mut Cx, k: usize, place: &[Val], dims: &[usize]) -> Val {
        let (val, shape) = &self.tensors[k];
        if shape.is_empty() {
            return val.clone();
        }
        let missing = dims.iter().sum::<usize>() - shape.len();
        let (mut from, mut flat) = (0, Vec::new());
        for count in dims {
            let to = from + count;
            if to > missing {
                flat.push(product(&shape[from.max(missing) - missing..to - missing]));
            }
            from = to;
        }
        reshape(cx, val, shape, &flat).at(&aligned(&flat, place))
    }
}

/// Whether tensors of these extents can be read at places of a result, of which each index counts
/// the places of so many dimensions.
pub fn fits(shape: &[Size], result: &[Size], dims: &[usize]) -> bool {
    let one = Size::constant(1);
    let missing = result.len() - shape.len();
    let mut from = 0;
    dims.iter().all(|count| {
        let range = from..from + count;
        from += count;
        let extent = |d: usize| if d < missing { &one } else { &shape[d - missing] };
        range.clone().all(|d| *extent(d) == result[d]) || range.clone().all(|d| *extent(d) == one)
    })
}
