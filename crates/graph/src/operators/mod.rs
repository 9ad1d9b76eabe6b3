//! The operator library: each operator's meaning as a functional program.
//!
//! A [`Call`] is an operator with its attributes and the types of its inputs. [`meaning`] gives its
//! [`Meaning`]: a definition of the functional language whose evaluation is the operator. The
//! evaluator, lowering to C, and the checks of rewrite rules all use this one definition. What is
//! the same for all ranks is text in `library/onnx/`. Ranks, axes, broadcasting and paddings are
//! put together in Rust, with one file for each family of operators.
//!
//! Extents may be symbolic wherever an operator does not compute with them. If the shape of a
//! result depends on values (`Reshape`, `Range`), those inputs must be constants of the call. If it
//! depends on all data (`NonZero`), only the evaluator can compute it.

mod attention;
mod build;
mod byte_filters;
mod call_evaluation;
mod constants;
mod convolution;
mod cut_products;
mod elementwise;
mod epilogue;
mod filter_lanes;
mod fours;
mod gather;
mod image;
mod image_windows;
mod indices;
mod learning;
mod library;
mod line_reductions;
mod linear_attention;
mod loss;
mod matrix;
mod movement;
mod normalise;
mod number_functions;
mod packing;
mod pairs;
mod pool;
mod quantise;
mod recurrent;
mod reduce;
mod resample;
mod row_sums;
mod row_tiles;
mod schedule;
mod select;
mod separable;
mod signal;
mod sliding;
mod softmax;
mod storage_type;
mod strips;
mod table;
mod tiles;
mod transposed_products;
mod value;
mod whole_images;

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use functional::{Binder, Definition, Fact, FactKind};
use loops::diagnostic::Span;
use loops::{Code, Diagnostic, Name, Registers, Scalar, Size};

use crate::attribute::{Attribute, AttributeValue};
use crate::graph::Operator;
use crate::tensor::Tensor;
use crate::types::ElementType;

pub use call_evaluation::{evaluate, evaluate_within};
pub use cut_products::{CutProduct, cut};
pub use epilogue::{After, Elementwise, Source, elementwise, fits};
pub use indices::{Indices, indices};
pub use packing::Packing;
pub use schedule::{compiled, compiled_with, schedule};
pub use storage_type::{carrier, decode, encode, stored};
pub use table::{Elements, Entry, Role, TABLE, Work, lookup, page};
pub use tiles::Cut;

use build::{Cx, Extents, tensor_type};
use epilogue::Stages;
use packing::Packed;
use value::Val;

/// An operator that the library does not have.
pub const UNKNOWN_OPERATOR: Code = Code("G0501");
/// Element types that an operator of the library does not take.
pub const TYPES: Code = Code("G0502");
/// Inputs or attributes that do not fit the operator.
pub const INPUTS: Code = Code("G0503");
/// An input that decides a shape and is not a constant.
pub(crate) const NOT_CONSTANT: Code = Code("G0504");
/// The library is at fault: a program that has no type.
pub(crate) const INTERNAL: Code = Code("G0505");
/// An index beyond the extent of its axis.
pub const OUTSIDE: Code = Code("G0506");

/// Terms of a program nest as deep as a call has inputs, so there is a bound.
const MOST_INPUTS: usize = 1 << 12;

/// A call of an operator: what a program is made for.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The operator.
    pub op: &'a Operator,
    /// Version of the operator's domain.
    pub opset: i64,
    /// Its attributes.
    pub attributes: &'a [Attribute],
    /// Its inputs; `None` where an optional one is absent.
    pub inputs: Vec<Option<Operand<'a>>>,
    /// How many results are requested (those that are present, up to the last one).
    pub outputs: usize,
}

/// An input of a call.
#[derive(Clone, Debug)]
pub struct Operand<'a> {
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents, outermost first.
    pub shape: Vec<Size>,
    /// Its value, if that is known.
    pub constant: Option<&'a Tensor>,
    /// Its elements, if they are few integers that follow from extents.
    pub sizes: Option<Vec<Size>>,
}

/// A result of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents.
    pub shape: Vec<Size>,
}

/// What a call means.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The program. Elements of types that the language lacks are stored in other types, see
    /// [`carrier`]. Several results are nested pairs: `(first, (second, third))`.
    pub definition: Definition,
    /// Which input each parameter of the definition is.
    pub arguments: Vec<usize>,
    /// The layouts in which the program of [`compiled`] expects constants among them, in the same
    /// order.
    pub packings: Vec<Option<Packing>>,
    /// Its results in order; there may be more than were asked for.
    pub results: Vec<Output>,
    /// The only result has the elements of this input in the same order, so nothing is computed.
    pub view: Option<usize>,
}

/// Why a call has no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    code: Code,
    message: String,
}

impl Refusal {
    fn types(message: impl Into<String>) -> Refusal {
        Refusal { code: TYPES, message: message.into() }
    }

    fn inputs(message: impl Into<String>) -> Refusal {
        Refusal { code: INPUTS, message: message.into() }
    }

    fn not_constant(message: impl Into<String>) -> Refusal {
        Refusal { code: NOT_CONSTANT, message: message.into() }
    }

    fn outside(message: impl Into<String>) -> Refusal {
        Refusal { code: OUTSIDE, message: message.into() }
    }

    fn internal(message: impl Into<String>) -> Refusal {
        Refusal { code: INTERNAL, message: message.into() }
    }
}

/// The outcome of building a program.
type Done = Result<(), Refusal>;

/// The meaning of a call.
///
/// # Errors
/// `G0501` for an operator that the library lacks, `G0502` for element types, `G0503` for inputs or
/// attributes that do not fit, `G0504` if a shape depends on a value that is not known, `G0506` for
/// constant indices that are outside.
pub fn meaning(call: &Call<'_>) -> Result<Meaning, Diagnostic> {
    build_program(call, None, &After::default(), &Cut::default())
}

/// The program of a call and of the operators that are fused with it. With registers, contractions
/// are in tiles that fit them.
fn build_program(
    call: &Call<'_>,
    fast: Option<Registers>,
    after: &After,
    cut: &Cut,
) -> Result<Meaning, Diagnostic> {
    let Some(entry) = lookup(&call.op.domain, &call.op.name) else {
        let message = format!("the operator `{}` is not in the library", call.op);
        return Err(
            Diagnostic::general(UNKNOWN_OPERATOR, message).help("docs/operators.md lists those that are")
        );
    };
    few_inputs(call.op, call.inputs.len())?;
    let mut op = Op::new(call);
    op.fast = fast;
    op.cut = cut.clone();
    indices::inside(call)
        .and_then(|()| op.behind(after))
        .and_then(|()| (entry.build)(&mut op))
        .and_then(|()| op.finish())
        .map_err(|why| Diagnostic::general(why.code, format!("`{}`: {}", call.op, why.message)))
}

/// Refuses a call of so many inputs that its program would be nested too deep.
///
/// # Errors
/// `G0503` for more inputs than there may be.
pub(crate) fn few_inputs(op: &Operator, count: usize) -> Result<(), Diagnostic> {
    match count > MOST_INPUTS {
        true => {
            let message = format!("`{op}` has {count} inputs; programs have {MOST_INPUTS} at most");
            Err(Diagnostic::general(INPUTS, message))
        }
        false => Ok(()),
    }
}

/// An input in use: a value of the language with its type.
#[derive(Clone, Debug)]
struct Input {
    val: Val,
    elem: ElementType,
    shape: Extents,
}

impl Input {
    fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The scalar that carries its elements.
    fn scalar(&self) -> Scalar {
        carrier(self.elem).unwrap_or(Scalar::F32)
    }

    /// The element at a place.
    fn at(&self, place: &[Val]) -> Val {
        self.val.at(place)
    }

    /// The element that is broadcast to a place of the result.
    fn spread(&self, place: &[Val]) -> Val {
        self.val.at(&build::aligned(&self.shape, place))
    }
}

/// A program that is being built.
struct Op<'a> {
    call: &'a Call<'a>,
    cx: Cx,
    params: BTreeMap<usize, Binder>,
    packings: BTreeMap<usize, Packing>,
    results: Vec<(Val, Output)>,
    combined: Option<Val>,
    fast: Option<Registers>,
    /// How products cut extents that are no numbers.
    cut: Cut,
    /// What callers guarantee of sizes.
    facts: Vec<Fact>,
    view: Option<usize>,
    /// What is done to each element behind the operator, and whether it is.
    after: Stages,
    done: bool,
}

impl<'a> Op<'a> {
    fn new(call: &'a Call<'a>) -> Op<'a> {
        Op {
            call,
            cx: Cx::new(),
            params: BTreeMap::new(),
            packings: BTreeMap::new(),
            results: Vec::new(),
            combined: None,
            fast: None,
            cut: Cut::default(),
            facts: Vec::new(),
            view: None,
            after: Stages::default(),
            done: false,
        }
    }

    /// Declares the operators that are fused with this one. Their tensors are inputs after those of
    /// the call.
    fn behind(&mut self, after: &After) -> Done {
        self.done = after.stages.is_empty();
        self.after.stages = after.stages.clone();
        for (k, (elem, shape)) in after.operands.iter().enumerate() {
            let Some(scalar) = carrier(*elem) else {
                return Err(Refusal::types(format!("a tensor has elements of type {elem}")));
            };
            let number = self.arity() + k;
            let binder = self.cx.parameter(&format!("x{number}"), tensor_type(shape, scalar));
            self.after.tensors.push((functional::build::var(&binder).into(), shape.clone()));
            self.params.insert(number, binder);
        }
        Ok(())
    }

    /// The functions that an operator applies to each element of its result when it writes it, if
    /// it does this itself.
    fn stages(&mut self) -> Stages {
        self.done = true;
        self.after.clone()
    }

    /// The operand of an input, if it is there.
    fn operand(&self, k: usize) -> Option<&'a Operand<'a>> {
        self.call.inputs.get(k)?.as_ref()
    }

    /// Number of inputs, absent ones in the middle included.
    fn arity(&self) -> usize {
        self.call.inputs.len()
    }

    /// An input that may be absent.
    fn optional(&mut self, k: usize) -> Result<Option<Input>, Refusal> {
        let Some(operand) = self.operand(k) else { return Ok(None) };
        let Some(scalar) = carrier(operand.elem) else {
            return Err(Refusal::types(format!("input {k} has elements of type {}", operand.elem)));
        };
        let cx = &mut self.cx;
        let binder = self
            .params
            .entry(k)
            .or_insert_with(|| cx.parameter(&format!("x{k}"), tensor_type(&operand.shape, scalar)));
        let val = functional::build::var(binder).into();
        Ok(Some(Input { val, elem: operand.elem, shape: operand.shape.clone() }))
    }

    /// An input.
    fn input(&mut self, k: usize) -> Result<Input, Refusal> {
        self.optional(k)?.ok_or_else(|| Refusal::inputs(format!("input {k} is missing")))
    }

    /// An optional input that is subtracted from numbers; none if all of it is known to be 0.
    fn zero_point(&mut self, k: usize) -> Result<Option<Input>, Refusal> {
        let known = self.operand(k).and_then(|operand| operand.constant?.to_integers());
        match known.is_some_and(|all| all.iter().all(|zero| *zero == 0)) {
            true => Ok(None),
            false => self.optional(k),
        }
    }

    /// The zero point that an input is, if it is constant and one for all.
    fn known_zero_point(&self, k: usize) -> Option<i64> {
        let all = self.operand(k)?.constant?.to_integers()?;
        let first = all.first().filter(|first| all.iter().all(|zero| zero == *first))?;
        i64::try_from(*first).ok()
    }

    /// An input with so many dimensions.
    fn ranked(&mut self, k: usize, ranks: impl RangeBounds<usize>) -> Result<Input, Refusal> {
        let x = self.input(k)?;
        match ranks.contains(&x.rank()) {
            true => Ok(x),
            false => Err(Refusal::inputs(format!("input {k} can't have {} dimensions", x.rank()))),
        }
    }

    /// An input that may be absent, with so many dimensions.
    fn optional_ranked(&mut self, k: usize, rank: usize) -> Result<Option<Input>, Refusal> {
        match self.operand(k) {
            Some(_) => self.ranked(k, rank..=rank).map(Some),
            None => Ok(None),
        }
    }

    /// A number of the call from which extents are computed. It is refused if it is so large that
    /// something might overflow.
    fn moderate(&self, what: &str, number: i64) -> Result<i64, Refusal> {
        match number.unsigned_abs() < 1 << 28 {
            true => Ok(number),
            false => Err(Refusal::inputs(format!("{what} is {number}, which is too large"))),
        }
    }

    /// The panels of an input instead of its elements, if it is a constant and code is generated.
    /// Then nothing may use the input itself.
    fn packed(&mut self, k: usize, packing: Option<Packing>) -> Option<Packed> {
        let constant = self.operand(k).is_some_and(|operand| operand.constant.is_some());
        let packing = packing.filter(|_| self.fast.is_some() && constant)?;
        let scalar = packing.stored.scalar().or(carrier(self.operand(k)?.elem))?;
        let ty = tensor_type(&[Size::constant(packing.count())], scalar);
        let binder = self.cx.parameter(&format!("x{k}"), ty);
        let val = functional::build::var(&binder).into();
        self.params.insert(k, binder);
        self.packings.insert(k, packing.clone());
        Some(Packed { val, packing })
    }

    /// All inputs.
    fn inputs(&mut self) -> Result<Vec<Input>, Refusal> {
        (0..self.arity()).map(|k| self.input(k)).collect()
    }

    /// The integers of an input that decides a shape; `None` if it is absent.
    fn constant_ints(&self, k: usize) -> Result<Option<Vec<i64>>, Refusal> {
        let Some(operand) = self.operand(k) else { return Ok(None) };
        let Some(tensor) = operand.constant else {
            return Err(Refusal::not_constant(format!("input {k} decides a shape and must be a constant")));
        };
        match tensor.to_ints() {
            Some(ints) => Ok(Some(ints)),
            None => {
                Err(Refusal::types(format!("input {k} must have elements of type i64, not {}", operand.elem)))
            }
        }
    }

    /// The integers of an input that decides a shape, as far as they follow from extents; `None` if
    /// it is absent.
    fn size_elements(&self, k: usize) -> Result<Option<Vec<Size>>, Refusal> {
        if let Some(Operand { constant: None, sizes: Some(sizes), .. }) = self.operand(k) {
            return Ok(Some(sizes.clone()));
        }
        Ok(self.constant_ints(k)?.map(|ints| ints.into_iter().map(Size::constant).collect()))
    }

    /// Says what has to hold of sizes: the first one is at most the second one.
    fn require(&mut self, left: Size, right: Size) {
        let known = left.as_constant().zip(right.as_constant());
        let natural = (right.clone() - left.clone()).is_natural();
        if known.is_none_or(|(left, right)| left > right) && !natural && left != right {
            self.facts.push(Fact { kind: FactKind::AtMost, left, right });
        }
    }

    /// The numbers of an input that decides a shape.
    fn constant_numbers(&self, k: usize) -> Result<Option<Vec<f64>>, Refusal> {
        let Some(operand) = self.operand(k) else { return Ok(None) };
        let Some(tensor) = operand.constant else {
            return Err(Refusal::not_constant(format!("input {k} decides a shape and must be a constant")));
        };
        match tensor
            .to_ints()
            .map(|v| v.into_iter().map(|x| x as f64).collect())
            .or_else(|| storage_type::numbers(tensor))
        {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(Refusal::types(format!("input {k} must have numbers, not {}", operand.elem))),
        }
    }

    fn attribute(&self, name: &str) -> Option<&'a AttributeValue> {
        self.call.attributes.iter().find(|a| &*a.name == name).map(|a| &a.value)
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).and_then(AttributeValue::int).unwrap_or(default)
    }

    fn float(&self, name: &str, default: f32) -> f64 {
        f64::from(self.attribute(name).and_then(AttributeValue::float).unwrap_or(default))
    }

    fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).and_then(AttributeValue::ints)
    }

    fn string(&self, name: &str, default: &'a str) -> &'a str {
        self.attribute(name).and_then(AttributeValue::string).unwrap_or(default)
    }

    /// An axis that may count from the end, as a number below `rank`.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, Refusal> {
        let positive = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(positive) {
            Ok(axis) if axis < rank => Ok(axis),
            _ => Err(Refusal::inputs(format!("there is no axis {axis} among {rank}"))),
        }
    }

    /// Axes by [`Op::axis`], in ascending order, each once.
    fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, Refusal> {
        let mut found = axes.iter().map(|a| self.axis(*a, rank)).collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Adds a result.
    fn result(&mut self, val: Val, elem: ElementType, shape: impl Into<Extents>) {
        self.results.push((val, Output { elem, shape: shape.into() }));
    }

    /// Adds the result whose element at each place is `f` of it, fitted to the element type.
    fn tensor(&mut self, elem: ElementType, shape: &[Size], f: &mut dyn FnMut(&mut Cx, &[Val]) -> Val) {
        self.tensor_exact(elem, shape, &mut |cx, place| {
            let value = f(cx, place);
            storage_type::fit(cx, elem, value)
        });
    }

    /// Several results that one value computes: nested pairs, the types in order.
    fn results_of(&mut self, all: Val, types: Vec<(ElementType, Extents)>) {
        for (elem, shape) in types {
            self.result(all.clone(), elem, shape);
        }
        self.combined = Some(all);
    }

    /// As [`Op::tensor`], of values that the element type has.
    fn tensor_exact(&mut self, elem: ElementType, shape: &[Size], f: &mut dyn FnMut(&mut Cx, &[Val]) -> Val) {
        let after = self.stages();
        let dims = vec![1; shape.len()];
        let val = self.cx.tensor(shape, &mut |cx, place| {
            let value = f(cx, place);
            after.apply(cx, value, place, &dims)
        });
        self.result(val, elem, shape.to_vec());
    }

    /// Applies the remaining fused functions: the type of the result, and the elements if the
    /// operator did not apply them.
    fn last_stages(&mut self) {
        let (Some(elem), [(val, output)]) = (self.after.elem(), &mut self.results[..]) else { return };
        if !self.done {
            let (after, shape, dims) = (&self.after, output.shape.clone(), vec![1; output.shape.len()]);
            *val = self.cx.bind("result", val.clone().stored(), |cx, result| {
                cx.tensor(&shape, &mut |cx, place| after.apply(cx, result.at(place), place, &dims))
            });
        }
        output.elem = elem;
    }

    fn finish(mut self) -> Result<Meaning, Refusal> {
        if self.combined.is_none() {
            self.results.truncate(self.call.outputs.max(1));
        }
        self.last_stages();
        let mut terms = Vec::new();
        for (val, _) in &self.results {
            terms.push(val.clone());
        }
        let Some(last) = terms.pop() else { return Err(Refusal::internal("no result")) };
        let body = match self.combined.take() {
            Some(all) => all,
            None => terms.into_iter().rev().fold(last, |rest, first| first.pair(&rest)),
        };
        // A value that was used twice occurs twice. The binders of each occurrence get their own
        // numbers.
        let body = self.cx.refreshed(&body.term()?);
        let mut sizes: Vec<Name> = Vec::new();
        for operand in self.call.inputs.iter().flatten() {
            let elements = operand.sizes.iter().flatten();
            for name in operand.shape.iter().chain(elements).flat_map(Size::params) {
                if !sizes.contains(&name) {
                    sizes.push(name);
                }
            }
        }
        let name = snake(&self.call.op.name);
        let packings = self.params.keys().map(|k| self.packings.remove(k)).collect();
        let (arguments, params) = self.params.into_iter().unzip();
        let definition =
            Definition { name: name.into(), sizes, facts: self.facts, params, body, span: Span::default() };
        let results = self.results.into_iter().map(|(_, output)| output).collect();
        Ok(Meaning { definition, arguments, packings, results, view: self.view })
    }
}

/// `BatchNormalization` as `batch_normalization`.
fn snake(name: &str) -> String {
    let mut out = String::from("onnx");
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    out
}
