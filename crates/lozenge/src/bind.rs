//! Sizes and arrays for a run of a loop function: what the user gave, what follows from it, and
//! whether it fits.
//!
//! Everything is checked before anything of the arrays' size is allocated.

use std::collections::{BTreeMap, BTreeSet};

use loops::evaluate;
use loops::{Code, Diagnostic, Elem, Expr, Function, Name, Param, ParamMode, Stmt, Tensor};

use crate::failure::Failure;
use crate::places::Range;
use crate::random::Random;
use crate::value::element;

/// Values of the size parameters.
pub type Sizes = BTreeMap<Name, i64>;

/// An array that the user gave, and where it came from.
#[derive(Clone, Debug)]
pub struct Given {
    /// File name, or `the value of xs`.
    pub origin: String,
    /// The array.
    pub tensor: Tensor,
}

/// The value of an integer expression over sizes; `None` if it uses anything else, or leaves 64
/// bits.
pub fn integer(expr: &Expr, sizes: &Sizes) -> Option<i64> {
    match evaluate::expr(expr, &|name| sizes.get(name).copied()) {
        Ok(loops::Value::I64(value)) => Some(value),
        _ => None,
    }
}

/// The value of a condition over sizes.
pub fn truth(expr: &Expr, sizes: &Sizes) -> Option<bool> {
    match evaluate::expr(expr, &|name| sizes.get(name).copied()) {
        Ok(loops::Value::Bool(value)) => Some(value),
        _ => None,
    }
}

/// The sizes of a command line by their names.
///
/// # Errors
/// `X0102` if a name is given twice.
pub fn by_name(given: &[(String, i64)]) -> Result<Sizes, Failure> {
    let mut sizes = Sizes::new();
    for (name, value) in given {
        if sizes.insert(Name::new(name), *value).is_some() {
            return Err(Failure::usage("X0102", format!("the size `{name}` is given twice")));
        }
    }
    Ok(sizes)
}

/// The sizes of a run, from those given and from the shapes of the given arrays.
///
/// # Errors
/// `X0102` for unknown, negative or contradictory sizes, `X0203` for arrays of another rank,
/// `X0101` for sizes that stay open.
pub fn sizes(function: &Function, given: &Sizes, arrays: &BTreeMap<Name, Given>) -> Result<Sizes, Failure> {
    for (name, value) in given {
        if !function.sizes.contains(name) {
            return Err(Failure::refused("X0102", format!("`{}` has no size `{name}`", function.name))
                .help(list("its sizes are", &function.sizes)));
        }
        if *value < 0 {
            return Err(Failure::refused(
                "X0102",
                format!("the size `{name}` is {value}, which is negative"),
            ));
        }
    }
    let mut known = given.clone();
    let mut origin: BTreeMap<Name, String> =
        given.keys().map(|n| (n.clone(), format!("--size {n}"))).collect();
    // Each round may solve what the next needs: `[n]t` gives n, with which `[n * k]t` gives k.
    loop {
        let before = known.len();
        for param in &function.params {
            let Some(array) = arrays.get(&param.name) else { continue };
            if array.tensor.shape.len() != param.dims.len() {
                return Err(wrong_shape(param, array, "it has another number of dimensions"));
            }
            for (dim, extent) in param.dims.iter().zip(&array.tensor.shape) {
                let Ok(extent) = i64::try_from(*extent) else { continue };
                let open: BTreeSet<Name> =
                    variables(dim).into_iter().filter(|v| !known.contains_key(v)).collect();
                let Some(name) = open.first().filter(|_| open.len() == 1) else { continue };
                if let Some(value) = solve(dim, name, extent, &known) {
                    known.insert(name.clone(), value);
                    origin.insert(name.clone(), array.origin.clone());
                }
            }
        }
        if known.len() == before {
            break;
        }
    }
    for param in &function.params {
        let Some(array) = arrays.get(&param.name) else { continue };
        for (dim, extent) in param.dims.iter().zip(&array.tensor.shape) {
            let Some(wanted) = integer(dim, &known) else { continue };
            if i64::try_from(*extent) != Ok(wanted) {
                let because: Vec<String> = variables(dim)
                    .into_iter()
                    .filter_map(|v| Some(format!("{v} = {} comes from {}", known.get(&v)?, origin.get(&v)?)))
                    .collect();
                let failure =
                    wrong_shape(param, array, &format!("an extent is {extent}, but should be {wanted}"));
                return Err(if because.is_empty() { failure } else { failure.note(because.join(", ")) });
            }
        }
    }
    let open: Vec<&Name> = function.sizes.iter().filter(|n| !known.contains_key(*n)).collect();
    if let Some(first) = open.first() {
        let names: Vec<String> = open.iter().map(|n| format!("`{n}`")).collect();
        let message = match names.as_slice() {
            [one] => format!("the size {one} has no value"),
            [all @ .., last] => format!("the sizes {} and {last} have no values", all.join(", ")),
            [] => String::new(),
        };
        let failure = Failure::refused("X0101", message);
        return Err(match open.len() {
            1 => failure.help(format!(
                "give it with --size {first}=NUMBER, or give an array whose shape determines it"
            )),
            _ => {
                let options: Vec<String> = open.iter().map(|n| format!("--size {n}=NUMBER")).collect();
                failure.help(format!(
                    "give them with {}, or give arrays whose shapes determine them",
                    options.join(" ")
                ))
            }
        });
    }
    if let Some(broken) = function.assumptions.iter().find(|a| truth(a, &known) == Some(false)) {
        let values: Vec<String> = known.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        return Err(Failure::refused("X0102", format!("`{}` requires {broken}", function.name))
            .note(format!("but {}", values.join(", "))));
    }
    Ok(known)
}

/// The one value of `name` for which the expression has this value; none unless the expression is
/// linear in it.
fn solve(expr: &Expr, name: &Name, value: i64, known: &Sizes) -> Option<i64> {
    let at = |x: i64| {
        let mut sizes = known.clone();
        sizes.insert(name.clone(), x);
        integer(expr, &sizes)
    };
    let (zero, one) = (at(0)?, at(1)?);
    let slope = one.checked_sub(zero).filter(|s| *s != 0)?;
    let rest = value.checked_sub(zero)?;
    let solution = rest.checked_div(slope)?;
    (solution >= 0 && at(solution)? == value).then_some(solution)
}

fn variables(expr: &Expr) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    collect(expr, &mut found);
    found
}

fn collect(expr: &Expr, found: &mut BTreeSet<Name>) {
    match expr {
        Expr::Var(name) => {
            found.insert(name.clone());
        }
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => {
            collect(a, found);
            collect(b, found);
        }
        Expr::Unary(_, a) | Expr::Cast(_, a) => collect(a, found),
        Expr::Select(a, b, c) => {
            collect(a, found);
            collect(b, found);
            collect(c, found);
        }
        _ => {}
    }
}

/// The type of a parameter as the language writes it: `[n][m]f32`.
pub fn type_of(param: &Param) -> String {
    let dims: String = param.dims.iter().map(|d| format!("[{d}]")).collect();
    format!("{dims}{}", param.elem)
}

fn wrong_shape(param: &Param, array: &Given, why: &str) -> Failure {
    let shape: Vec<String> = array.tensor.shape.iter().map(ToString::to_string).collect();
    Failure::from(Diagnostic::general(
        Code("X0203"),
        format!(
            "{} has the shape ({}), but the parameter `{}` is {}",
            array.origin,
            shape.join(", "),
            param.name,
            type_of(param)
        ),
    ))
    .note(why.to_owned())
}

/// Refuses an array whose elements are not of the parameter's type.
///
/// # Errors
/// `X0202`.
pub(crate) fn check_type(param: &Param, array: &Given) -> Result<(), Failure> {
    let have = array.tensor.data.elem();
    if have == param.elem {
        return Ok(());
    }
    Err(Failure::refused(
        "X0202",
        format!(
            "{} holds {have} elements, but the parameter `{}` is {}",
            array.origin,
            param.name,
            type_of(param)
        ),
    ))
}

/// `its sizes are `n`, `m``.
pub fn list(what: &str, names: &[Name]) -> String {
    if names.is_empty() {
        return format!("{what} none");
    }
    let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    format!("{what} {}", names.join(", "))
}

/// The extents of a parameter.
///
/// # Errors
/// `X0102` if one is negative or beyond 64 bits at these sizes.
pub fn shape(param: &Param, sizes: &Sizes) -> Result<Vec<usize>, Failure> {
    let extent = |dim: &Expr| match integer(dim, sizes).map(usize::try_from) {
        Some(Ok(extent)) => Ok(extent),
        Some(Err(_)) => {
            Err(Failure::refused("X0102", format!("the extent {dim} of `{}` is negative", param.name)))
        }
        None => {
            Err(Failure::refused("X0102", format!("the extent {dim} of `{}` exceeds 64 bits", param.name)))
        }
    };
    param.dims.iter().map(extent).collect()
}

/// Bytes of an element in C, where a pair is a struct.
pub fn elem_bytes(elem: &Elem) -> u128 {
    match elem {
        Elem::Scalar(s) => s.bytes() as u128,
        // An upper bound: the second component and the end are aligned to at most 8 bytes.
        Elem::Pair(a, b) => elem_bytes(a).next_multiple_of(8) + elem_bytes(b).next_multiple_of(8),
    }
}

/// Bytes of all parameters, and of the local arrays whose extents depend on the sizes alone.
pub fn bytes(function: &Function, sizes: &Sizes) -> u128 {
    let array = |elem: &Elem, dims: &[Expr]| {
        dims.iter().fold(elem_bytes(elem), |n, dim| {
            n.saturating_mul(integer(dim, sizes).map_or(1, |d| u128::from(d.max(0).unsigned_abs())))
        })
    };
    let params = function.params.iter().map(|p| array(&p.elem, &p.dims)).fold(0, u128::saturating_add);
    let mut locals = 0u128;
    let mut pending: Vec<&Stmt> = function.body.iter().collect();
    while let Some(stmt) = pending.pop() {
        match stmt {
            Stmt::Local(local) => locals = locals.saturating_add(array(&local.elem, &local.dims)),
            Stmt::Loop(l) => pending.extend(&l.body),
            Stmt::If { then, otherwise, .. } => pending.extend(then.iter().chain(otherwise)),
            Stmt::Block { body, .. } => pending.extend(body),
            Stmt::Assign(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
    }
    params.saturating_add(locals)
}

/// Refuses a run whose arrays, `copies` times, exceed the memory that is available.
///
/// # Errors
/// `X0103`, before anything is allocated.
pub fn check_memory(function: &Function, sizes: &Sizes, copies: u128) -> Result<(), Failure> {
    let wanted = bytes(function, sizes).saturating_mul(copies);
    let available = available_memory();
    if wanted <= available {
        return Ok(());
    }
    Err(Failure::environment(
        "X0103",
        format!(
            "the arrays of `{}` take {}, and {} of memory are available",
            function.name,
            amount(wanted),
            amount(available)
        ),
    )
    .note(format!("{copies} copies of the arrays are needed: one for the program, the others for comparing"))
    .help("choose smaller sizes"))
}

/// Bytes with a unit.
pub fn amount(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Bytes that a process may still take: what the system calls available, within the limit of its
/// control group; without a limit if neither is known.
pub fn available_memory() -> u128 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let system = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?.to_owned();
        let kib: u128 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    });
    let group = read("/sys/fs/cgroup/memory.max").and_then(|max| {
        let max: u128 = max.trim().parse().ok()?;
        let used: u128 = read("/sys/fs/cgroup/memory.current")?.trim().parse().ok()?;
        Some(max.saturating_sub(used))
    });
    system.into_iter().chain(group).min().unwrap_or(u128::MAX)
}

/// The inputs of a run: given arrays, random data for the rest; `Out` parameters are zeros.
///
/// `ranges` says what the elements of parameters must be that are indices.
///
/// # Errors
/// As [`shape`] and `check_type`; `X0205` if a given index is out of its bounds.
pub fn inputs(
    function: &Function,
    sizes: &Sizes,
    arrays: &BTreeMap<Name, Given>,
    ranges: &BTreeMap<Name, Range>,
    seed: u64,
) -> Result<Vec<Tensor>, Failure> {
    let one = |param: &Param| {
        let shape = shape(param, sizes)?;
        let range = ranges.get(&param.name).copied();
        if let Some(array) = arrays.get(&param.name) {
            check_type(param, array)?;
            if array.tensor.shape != shape {
                return Err(wrong_shape(param, array, "the sizes require another shape"));
            }
            check_bound(param, array, range)?;
            return Ok(array.tensor.clone());
        }
        let mut tensor = Tensor::zeros(&param.elem, shape);
        if param.mode != ParamMode::Out {
            let mut random = Random::named(seed, &param.name);
            fill(&mut tensor.data, range, &mut random);
        }
        Ok(tensor)
    };
    function.params.iter().map(one).collect()
}

fn check_bound(param: &Param, array: &Given, range: Option<Range>) -> Result<(), Failure> {
    let (Some(Range::Index(bound)), loops::Data::I64(values)) = (range, &array.tensor.data) else {
        return Ok(());
    };
    match values.iter().position(|v| *v < 0 || *v >= bound) {
        None => Ok(()),
        Some(k) => Err(Failure::refused(
            "X0205",
            format!(
                "{} holds the index {}, but the indices of `{}` lie below {bound}",
                array.origin,
                element(&array.tensor.data, k),
                param.name
            ),
        )),
    }
}

/// Fills with random data: floating point in -1 .. 1, integers in -9 ..= 9, natural numbers in 0
/// ..= 18, integers of 8 and 16 bits any, indices in their range.
fn fill(data: &mut loops::Data, range: Option<Range>, random: &mut Random) {
    use loops::Data;
    if let Some(range) = range
        && fill_places(data, range, random)
    {
        return;
    }
    match data {
        Data::F32(v) => v.iter_mut().for_each(|x| *x = random.unit() as f32),
        Data::F64(v) => v.iter_mut().for_each(|x| *x = random.unit()),
        Data::I32(v) => v.iter_mut().for_each(|x| *x = random.below(19) as i32 - 9),
        Data::I64(v) => v.iter_mut().for_each(|x| *x = random.below(19) as i64 - 9),
        Data::Bool(v) => v.iter_mut().for_each(|x| *x = random.below(2) == 1),
        Data::I8(v) => v.iter_mut().for_each(|x| *x = random.below(1 << 16) as i8),
        Data::U8(v) => v.iter_mut().for_each(|x| *x = random.below(1 << 16) as u8),
        Data::I16(v) => v.iter_mut().for_each(|x| *x = random.below(1 << 16) as i16),
        Data::U16(v) => v.iter_mut().for_each(|x| *x = random.below(1 << 16) as u16),
        Data::U32(v) => v.iter_mut().for_each(|x| *x = random.below(19) as u32),
        Data::F16(v) => v.iter_mut().for_each(|x| *x = loops::nearest_half(random.unit())),
        Data::U64(v) => v.iter_mut().for_each(|x| *x = random.below(19)),
        Data::Pair(a, b) => {
            fill(a, range, random);
            fill(b, range, random);
        }
    }
}

/// Fills integers with numbers in a range; whether they are integers.
fn fill_places(data: &mut loops::Data, range: Range, random: &mut Random) -> bool {
    use loops::Data;
    // What the elements can hold of it.
    let most = match data {
        Data::I8(_) => i64::from(i8::MAX),
        Data::U8(_) => i64::from(u8::MAX),
        Data::I16(_) => i64::from(i16::MAX),
        Data::U16(_) => i64::from(u16::MAX),
        Data::I32(_) => i64::from(i32::MAX),
        Data::U32(_) => i64::from(u32::MAX),
        Data::I64(_) | Data::U64(_) => i64::MAX - 1,
        _ => return false,
    };
    let (limit, ascending) = match range {
        Range::Index(bound) | Range::Below(bound) => (bound.max(1).min(most + 1), false),
        Range::Ascending(last) => (last.max(0).min(most) + 1, true),
    };
    let mut places: Vec<i64> = (0..data.len()).map(|_| random.below(limit.unsigned_abs()) as i64).collect();
    if ascending {
        places.sort_unstable();
    }
    macro_rules! put {
        ($($kind:ident)*) => {
            match data {
                $(Data::$kind(v) => v.iter_mut().zip(places).for_each(|(x, place)| *x = place as _),)*
                _ => {}
            }
        };
    }
    put!(I8 U8 I16 U16 I32 U32 I64 U64);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use loops::{BinaryOp, CompareOp, Data, Scalar};

    fn function() -> Function {
        let n = || Expr::var("n");
        let rows = Expr::binary(BinaryOp::Mul, n(), Expr::var("k"));
        Function {
            name: "f".into(),
            sizes: vec!["n".into(), "k".into()],
            assumptions: vec![Expr::compare(CompareOp::Le, Expr::Int(1), n())],
            params: vec![
                Param {
                    name: "xs".into(),
                    elem: Scalar::F32.into(),
                    dims: vec![rows, n()],
                    mode: ParamMode::In,
                },
                Param { name: "out".into(), elem: Scalar::I64.into(), dims: vec![n()], mode: ParamMode::Out },
            ],
            body: vec![],
        }
    }

    fn given(shape: Vec<usize>) -> BTreeMap<Name, Given> {
        let tensor = Tensor::zeros(&Scalar::F32.into(), shape);
        BTreeMap::from([("xs".into(), Given { origin: "x.npy".into(), tensor })])
    }

    #[test]
    fn sizes_follow_from_shapes() {
        let sizes = sizes(&function(), &Sizes::new(), &given(vec![12, 4])).unwrap();
        assert_eq!(sizes, Sizes::from([("n".into(), 4), ("k".into(), 3)]));
    }

    #[test]
    fn contradictions_are_told() {
        let code = |given_sizes: &[(&str, i64)], shape: Option<Vec<usize>>| {
            let given_sizes = given_sizes.iter().map(|(n, v)| (Name::from(*n), *v)).collect();
            let failure =
                sizes(&function(), &given_sizes, &shape.map(given).unwrap_or_default()).unwrap_err();
            failure.diagnostics[0].code.0
        };
        assert_eq!(code(&[("m", 1)], None), "X0102");
        assert_eq!(code(&[("n", -1)], None), "X0102");
        assert_eq!(code(&[("n", 1)], None), "X0101");
        assert_eq!(code(&[("n", 0), ("k", 1)], None), "X0102");
        assert_eq!(code(&[], Some(vec![4])), "X0203");
        assert_eq!(code(&[("n", 5)], Some(vec![12, 4])), "X0203");
        assert_eq!(code(&[], Some(vec![13, 4])), "X0101");
    }

    #[test]
    fn memory_is_refused_before_it_is_taken() {
        let huge = Sizes::from([("n".into(), i64::MAX), ("k".into(), 1)]);
        assert_eq!(check_memory(&function(), &huge, 2).unwrap_err().diagnostics[0].code.0, "X0103");
        let small = Sizes::from([("n".into(), 10), ("k".into(), 1)]);
        assert_eq!(bytes(&function(), &small), 480);
        assert!(check_memory(&function(), &small, 2).is_ok());
    }

    #[test]
    fn random_inputs_are_those_of_the_seed() {
        let sizes = Sizes::from([("n".into(), 2), ("k".into(), 1)]);
        let make = |seed| inputs(&function(), &sizes, &BTreeMap::new(), &BTreeMap::new(), seed).unwrap();
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert_eq!(make(1)[1].data, Data::I64(vec![0, 0]));
    }
}
