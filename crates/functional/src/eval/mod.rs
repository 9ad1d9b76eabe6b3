//! The evaluator: what a definition means, as a function from sizes and values to a value.
//!
//! It is the reference that rewriting, translation and generated code are compared with. Reductions
//! go in the order of the source: element first, accumulator second, index 0 first. They use the
//! precision of the types. So results agree bit for bit with sequential C. Execution strategies
//! have no effect here: `mapPar` is `map`, `toMem` is the identity.
//!
//! Terms are compiled to closures over numbered slots, with sizes known. Layout primitives are
//! strided or lazy views. Patterns make dense arrays. Time and memory are bounded by [`Limits`].

mod array;
mod compile;
mod scalar;
mod value;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use loops::{Code, Diagnostic, Name, Span};

use crate::term::{Definition, FactKind};
pub use value::Value;

/// Sizes or arguments that do not fit the definition.
pub(crate) const BAD_ARGUMENTS: Code = Code("F0601");
/// A limit of the evaluator was reached.
pub const LIMIT: Code = Code("F0602");
/// An operation without a result: an index out of range, an integer divided by 0.
pub const FAULT: Code = Code("F0603");

/// How much an evaluation may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Numbers in memory at one time.
    pub elements: u64,
    /// Elements of arrays computed or visited.
    pub steps: u64,
}

impl Default for Limits {
    /// 2^27 numbers (at most 1 GiB) and 2^34 steps.
    fn default() -> Limits {
        Limits { elements: 1 << 27, steps: 1 << 34 }
    }
}

/// The value of a definition at these sizes and arguments.
///
/// ```
/// use functional::build::{self, Supply};
/// use functional::eval::{Limits, Value, evaluate};
/// use functional::{DataType, Definition, Prim};
/// use loops::{Scalar, Size};
///
/// let mut supply = Supply::new();
/// let f64 = DataType::Scalar(Scalar::F64);
/// let xs = supply.binder("xs", DataType::array(Size::param("n"), f64.clone()));
/// let sum = supply.lambda2(("x", f64.clone()), ("a", f64), |_, x, a| build::add(x, a)).unwrap();
/// let body = build::reduce(Prim::Reduce, sum, build::number(Scalar::F64, 0), build::var(&xs)).unwrap();
/// let definition = Definition {
///     name: "sum".into(), sizes: vec!["n".into()], facts: vec![], params: vec![xs], body, span: Default::default(),
/// };
/// let sizes = [("n".into(), 3)].into();
/// let result = evaluate(&definition, &sizes, &[Value::f64s(&[1.0, 2.0, 4.0])], Limits::default()).unwrap();
/// assert_eq!(result, Value::f64(7.0));
/// ```
///
/// # Errors
/// If a size is missing or negative, a fact does not hold, an argument does not have the shape and
/// type of its parameter, a limit is reached, or an operation has no result.
pub fn evaluate(
    definition: &Definition,
    sizes: &BTreeMap<Name, i64>,
    args: &[Value],
    limits: Limits,
) -> Result<Value, Diagnostic> {
    evaluate_within(definition, sizes, args, &mut { limits })
}

/// The same. Afterwards `limits` no longer has the steps that it took.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_within(
    definition: &Definition,
    sizes: &BTreeMap<Name, i64>,
    args: &[Value],
    limits: &mut Limits,
) -> Result<Value, Diagnostic> {
    crate::check::check_depth(&definition.body, &definition.name)?;
    crate::walk::with_stack(&definition.body, || run(definition, sizes, args, limits))
}

fn run(
    definition: &Definition,
    sizes: &BTreeMap<Name, i64>,
    args: &[Value],
    limits: &mut Limits,
) -> Result<Value, Diagnostic> {
    let name = &definition.name;
    let bad = |message: String| Diagnostic::general(BAD_ARGUMENTS, message);
    for size in &definition.sizes {
        match sizes.get(size) {
            None => return Err(bad(format!("`{name}`: size `{size}` has no value"))),
            Some(value) if *value < 0 => {
                return Err(bad(format!(
                    "`{name}`: size `{size}` is {value}, but sizes are natural numbers"
                )));
            }
            Some(_) => {}
        }
    }
    let value_of = |name: &Name| sizes.get(name).copied();
    for fact in &definition.facts {
        let eval = |size: &loops::Size| size.eval(&value_of).map_err(|e| bad(format!("`{name}`: {e}")));
        let (left, right) = (eval(&fact.left)?, eval(&fact.right)?);
        let (holds, sign) = match fact.kind {
            FactKind::AtMost => (left <= right, "<="),
            FactKind::Equal => (left == right, "=="),
        };
        if !holds {
            let (l, r) = (&fact.left, &fact.right);
            return Err(bad(format!("`{name}` needs {l} {sign} {r}, but these are {left} and {right}")));
        }
    }
    if args.len() != definition.params.len() {
        let (wanted, given) = (definition.params.len(), args.len());
        return Err(bad(format!("`{name}` takes {wanted} arguments, not {given}")));
    }
    let tally = Rc::new(Tally { live: Cell::new(0), limit: limits.elements });
    let mut compiler = compile::Compiler::new(sizes);
    let mut frame = Frame { slots: Vec::new(), steps: limits.steps, tally };
    for (param, arg) in definition.params.iter().zip(args) {
        let ty = compiler.resolve(&param.ty);
        value::check(arg, &param.ty, &ty, &value_of)
            .map_err(|why| bad(format!("`{name}`: argument `{}` {why}", param.var.name)))?;
        let slot = compiler.bind(&param.var);
        let loaded = value::load(arg, &ty, &frame.tally).map_err(|fault| fault.diagnostic(definition))?;
        frame.set(slot, loaded);
    }
    let written_out = crate::blocks::written_out(definition);
    let code = compiler.term(written_out.as_ref().map_or(&definition.body, |d| &d.body));
    let ty = compiler.resolve(definition.body.ty());
    let result = code(&mut frame).and_then(|result| value::store(&result, &ty, &mut frame));
    limits.steps = frame.steps;
    result.map_err(|fault| fault.diagnostic(definition))
}

/// Why an evaluation stopped.
#[derive(Clone, Debug)]
struct Fault {
    code: Code,
    message: String,
    span: Span,
}

type Outcome<T> = Result<T, Box<Fault>>;

impl Fault {
    fn new(message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { code: FAULT, message: message.into(), span: Span::default() })
    }

    fn limit(message: String) -> Box<Fault> {
        Box::new(Fault { code: LIMIT, message, span: Span::default() })
    }

    /// With a place, unless it has one.
    fn at(mut self: Box<Fault>, span: Span) -> Box<Fault> {
        if self.span == Span::default() {
            self.span = span;
        }
        self
    }

    fn diagnostic(self, definition: &Definition) -> Diagnostic {
        let message = format!("`{}`: {}", definition.name, self.message);
        let span = if self.span == Span::default() { definition.span } else { self.span };
        Diagnostic::error(self.code, message, span, "while evaluating this")
    }
}

/// Numbers in memory.
#[derive(Debug)]
struct Tally {
    live: Cell<u64>,
    limit: u64,
}

impl Tally {
    fn take(&self, count: u64) -> Outcome<()> {
        let live = self.live.get().saturating_add(count);
        if live > self.limit {
            return Err(Fault::limit(format!("needs more than {} numbers in memory", self.limit)));
        }
        self.live.set(live);
        Ok(())
    }

    fn give(&self, count: u64) {
        self.live.set(self.live.get().saturating_sub(count));
    }
}

/// The state of an evaluation.
struct Frame {
    slots: Vec<array::Val>,
    steps: u64,
    tally: Rc<Tally>,
}

impl Frame {
    fn set(&mut self, slot: usize, value: array::Val) {
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, array::Val::Bool(false));
        }
        self.slots[slot] = value;
    }

    fn step(&mut self, count: u64) -> Outcome<()> {
        match self.steps.checked_sub(count) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(Fault::limit("takes more steps than the limit".to_string())),
        }
    }
}
