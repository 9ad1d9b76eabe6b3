//! Holds functions after passes against the one before: by the validator, and by the interpreter at
//! small sizes.

use std::collections::BTreeMap;

use loops::visit::nodes;
use loops::{
    Code, Data, Diagnostic, Elem, Expr, Function, Name, Param, ParamMode, Scalar, Stmt, Tensor, evaluate,
};

use crate::pass::Applied;

/// Values that all sizes take in turn, and one run in which they differ.
const SIZES: [i64; 5] = [0, 1, 2, 5, 9];
/// Steps of a run; a function that takes more is not compared at that size.
const MOST_STEPS: u64 = 400_000;
/// Elements of an argument; a function with a larger one is not compared at that size.
const MOST_ELEMENTS: usize = 200_000;

/// A subscript that is outside of its array.
const OUT_OF_RANGE: Code = Code("L0205");

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// Functions that the validator has accepted.
    pub valid: usize,
    /// Runs whose results were compared, bit by bit.
    pub runs: usize,
}

/// Why a pass is not believed.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The pass.
    pub pass: &'static str,
    /// What is wrong.
    pub what: String,
    /// What the validator says.
    pub diagnostics: Vec<Diagnostic>,
}

/// Holds the function after each pass against the one before all of them.
///
/// The validator must accept it if it accepts the one before. At sizes 0, 1, 2, 5, 9 and at
/// different ones together, the interpreter must give the same bits and find no race, unless the
/// function lets updates be reordered. Runs that end in an error before, or take more than 400,000
/// steps, are left out. Takes time in proportion to the steps of the runs.
///
/// # Errors
/// The first pass after which something differs.
pub fn verify(before: &Function, applied: &[Applied]) -> Result<Verified, Box<Fault>> {
    let mut verified = Verified::default();
    let known = loops::validate(before);
    let runs = if reorders(before) { Vec::new() } else { runs(before) };
    for one in applied {
        let fault = |what: String, diagnostics| Box::new(Fault { pass: one.pass, what, diagnostics });
        let report = loops::validate(&one.function);
        // Where a subscript of the text is only in range for some sizes, a piece of the new loops
        // may be for the others alone.
        let beyond = |d: &&Diagnostic| known.subscripts_unknown > 0 && d.code == OUT_OF_RANGE;
        let errors: Vec<Diagnostic> = report.errors().filter(|d| !beyond(d)).cloned().collect();
        if known.errors().next().is_none() && !errors.is_empty() {
            return Err(fault("the loops after it are not valid".to_owned(), errors));
        }
        verified.valid += 1;
        for run in &runs {
            let got = run.again(&one.function).map_err(|d| {
                fault(format!("the loops after it fail where those before run ({})", run.sizes()), vec![d])
            })?;
            if let Some(name) = run.differs(&got) {
                let what = format!("`{name}` has other bits after it ({})", run.sizes());
                return Err(fault(what, Vec::new()));
            }
            verified.runs += 1;
        }
    }
    Ok(verified)
}

/// Whether some update may be reordered: results may then differ by roundings.
fn reorders(function: &Function) -> bool {
    let mut found = false;
    for stmt in nodes(&function.body) {
        match stmt {
            Stmt::Assign(assign) => found |= assign.update.is_some_and(|update| update.reorder),
            Stmt::Loop(l) => found |= !l.reductions.is_empty(),
            _ => {}
        }
    }
    found
}

/// A run of the function before all passes.
struct Run {
    sizes: BTreeMap<Name, i64>,
    arguments: BTreeMap<Name, Tensor>,
    results: BTreeMap<Name, Tensor>,
}

impl Run {
    fn sizes(&self) -> String {
        let each: Vec<String> = self.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if each.is_empty() { "it has no sizes".to_owned() } else { each.join(", ") }
    }

    /// The same run of another function; what a pass adds may take more steps.
    fn again(&self, function: &Function) -> Result<BTreeMap<Name, Tensor>, Diagnostic> {
        let options = loops::Options { races: true, max_steps: 64 * MOST_STEPS, ..loops::Options::default() };
        // The same elements, also where dimensions have become one.
        let given = |param: &Param| {
            let mut tensor = self.arguments.get(&param.name)?.clone();
            let shape = shape(param, &self.sizes)?;
            if shape.iter().product::<usize>() == tensor.data.len() {
                tensor.shape = shape;
            }
            Some((param.name.clone(), tensor))
        };
        let arguments = function.params.iter().filter_map(given).collect();
        loops::run(function, &self.sizes, arguments, &options)
    }

    /// The first array with other bits; any not-a-number is as good as another.
    fn differs(&self, got: &BTreeMap<Name, Tensor>) -> Option<Name> {
        let other = |(name, tensor): &(&Name, &Tensor)| {
            got.get(*name).is_none_or(|got| bits(&tensor.data) != bits(&got.data))
        };
        self.results.iter().find(other).map(|(name, _)| name.clone())
    }
}

fn bits(data: &Data) -> Vec<u64> {
    match data {
        Data::F32(v) => v.iter().map(|x| if x.is_nan() { 1 } else { u64::from(x.to_bits()) << 1 }).collect(),
        Data::F64(v) => v.iter().map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits()).collect(),
        Data::I32(v) => v.iter().map(|x| *x as u64).collect(),
        Data::I64(v) => v.iter().map(|x| *x as u64).collect(),
        Data::Bool(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::I8(v) => v.iter().map(|x| *x as u64).collect(),
        Data::U8(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::I16(v) => v.iter().map(|x| *x as u64).collect(),
        Data::U16(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::U32(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::U64(v) => v.clone(),
        Data::F16(v) => v.iter().map(|x| u64::from(x.to_bits())).collect(),
        Data::Pair(a, b) => bits(a).into_iter().chain(bits(b)).collect(),
    }
}

/// The runs that can be made.
fn runs(function: &Function) -> Vec<Run> {
    let alike = SIZES.map(|n| vec![n; function.sizes.len()]);
    let different = (0..function.sizes.len() as i64).map(|k| 3 + 2 * k).collect();
    let all = alike.into_iter().chain([different]);
    let mut runs: Vec<Run> = Vec::new();
    for values in all {
        let sizes: BTreeMap<Name, i64> = function.sizes.iter().cloned().zip(values).collect();
        if runs.iter().all(|run| run.sizes != sizes)
            && let Some(run) = run(function, sizes)
        {
            runs.push(run);
        }
    }
    runs
}

fn run(function: &Function, sizes: BTreeMap<Name, i64>) -> Option<Run> {
    let mut arguments = BTreeMap::new();
    for param in &function.params {
        if param.mode != ParamMode::Out {
            arguments.insert(param.name.clone(), argument(param, &sizes)?);
        }
    }
    let options = loops::Options {
        races: true,
        max_steps: MOST_STEPS,
        max_bytes: 1 << 28,
        ..loops::Options::default()
    };
    let results = loops::run(function, &sizes, arguments.clone(), &options).ok()?;
    Some(Run { sizes, arguments, results })
}

/// Numbers that differ, small enough to be subscripts; none if the array is too large.
fn argument(param: &Param, sizes: &BTreeMap<Name, i64>) -> Option<Tensor> {
    let shape = shape(param, sizes)?;
    let count: usize = shape.iter().product();
    let salt = param.name.as_str().bytes().map(u64::from).sum::<u64>();
    Some(Tensor { data: numbers(&param.elem, count, salt), shape })
}

/// The extents of a parameter; none if they are too large.
fn shape(param: &Param, sizes: &BTreeMap<Name, i64>) -> Option<Vec<usize>> {
    let extent = |dim: &Expr| match evaluate::expr(dim, &|name| sizes.get(name).copied()) {
        Ok(loops::Value::I64(n)) => usize::try_from(n).ok(),
        _ => None,
    };
    let shape = param.dims.iter().map(extent).collect::<Option<Vec<usize>>>()?;
    let count = shape.iter().try_fold(1_usize, |count, n| count.checked_mul(*n))?;
    (count <= MOST_ELEMENTS).then_some(shape)
}

fn numbers(elem: &Elem, count: usize, salt: u64) -> Data {
    let raw = |k: usize| (k as u64 + salt).wrapping_mul(7919) % 1000;
    let real = |k: usize| raw(k) as f64 / 500.0 - 0.7;
    let small = |k: usize| raw(k) % 4;
    macro_rules! column {
        ($kind:ident, $of:expr) => {
            Data::$kind((0..count).map($of).collect())
        };
    }
    match elem {
        Elem::Scalar(Scalar::F32) => column!(F32, |k| real(k) as f32),
        Elem::Scalar(Scalar::F64) => column!(F64, real),
        Elem::Scalar(Scalar::I32) => column!(I32, |k| small(k) as i32),
        Elem::Scalar(Scalar::I64) => column!(I64, |k| small(k) as i64),
        Elem::Scalar(Scalar::Bool) => column!(Bool, |k| small(k) % 2 == 0),
        Elem::Scalar(Scalar::I8) => column!(I8, |k| small(k) as i8),
        Elem::Scalar(Scalar::U8) => column!(U8, |k| small(k) as u8),
        Elem::Scalar(Scalar::I16) => column!(I16, |k| small(k) as i16),
        Elem::Scalar(Scalar::U16) => column!(U16, |k| small(k) as u16),
        Elem::Scalar(Scalar::U32) => column!(U32, |k| small(k) as u32),
        Elem::Scalar(Scalar::U64) => column!(U64, small),
        Elem::Scalar(Scalar::F16) => column!(F16, |k| loops::f16::from_f32(small(k) as f32)),
        Elem::Pair(a, b) => {
            Data::Pair(Box::new(numbers(a, count, salt)), Box::new(numbers(b, count, salt + 1)))
        }
    }
}
