//! Runs a compiled function and the reference interpreter on the same random data.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use loops::visit::nodes;
use loops::{Data, Elem, Function, Name, ParamMode, Tensor};

use super::succeed;

/// A small generator: the same data in every run.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn data(&mut self, elem: &Elem, len: usize) -> Data {
        let mut data = Data::zeros(elem, len);
        self.fill(&mut data);
        data
    }

    fn fill(&mut self, data: &mut Data) {
        match data {
            Data::F32(v) => v.iter_mut().for_each(|x| *x = self.float() as f32),
            Data::F64(v) => v.iter_mut().for_each(|x| *x = self.float()),
            Data::I32(v) => v.iter_mut().for_each(|x| {
                *x = match self.next() % 8 {
                    0 => i32::MIN,
                    1 => i32::MAX,
                    2 => self.next() as i32,
                    _ => (self.next() % 21) as i32 - 10,
                }
            }),
            Data::I64(v) => v.iter_mut().for_each(|x| *x = (self.next() % 5) as i64),
            Data::Bool(v) => v.iter_mut().for_each(|x| *x = self.next() & 1 == 0),
            Data::I8(v) => v.iter_mut().for_each(|x| *x = self.next() as i8),
            Data::U8(v) => v.iter_mut().for_each(|x| *x = self.next() as u8),
            Data::I16(v) => v.iter_mut().for_each(|x| *x = self.next() as i16),
            Data::U16(v) => v.iter_mut().for_each(|x| *x = self.next() as u16),
            Data::F16(v) => v.iter_mut().for_each(|x| *x = loops::f16::from_bits(self.next() as u16)),
            Data::U32(v) => v.iter_mut().for_each(|x| *x = self.next() as u32),
            Data::U64(v) => v.iter_mut().for_each(|x| *x = self.next()),
            Data::Pair(a, b) => {
                self.fill(a);
                self.fill(b);
            }
        }
    }

    fn float(&mut self) -> f64 {
        match self.next() % 16 {
            0 => -0.0,
            1 => f64::INFINITY,
            2 => f64::NAN,
            _ => (self.next() % 4001) as f64 / 500.0 - 4.0,
        }
    }
}

/// Numbers without infinities and NaN, for sums in any order.
fn tame(data: &mut Data) {
    match data {
        Data::F32(v) => v.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.25),
        Data::F64(v) => v.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.25),
        Data::Pair(a, b) => {
            tame(a);
            tame(b);
        }
        _ => {}
    }
}

fn bytes(data: &Data, out: &mut Vec<u8>) {
    match data {
        Data::F32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::F64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::I32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::I64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::Bool(v) => out.extend(v.iter().map(|x| u8::from(*x))),
        Data::I8(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::U8(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::I16(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::U16(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::F16(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::U32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::U64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::Pair(a, b) => {
            bytes(a, out);
            bytes(b, out);
        }
    }
}

/// Whether `actual` begins with these numbers, and what follows them; NaN equals NaN.
fn compare<'a>(expected: &Data, mut actual: &'a [u8], tolerance: f64) -> Result<&'a [u8], String> {
    fn column<const N: usize, T: Copy + std::fmt::Debug>(
        expected: &[T],
        actual: &mut &[u8],
        read: fn([u8; N]) -> T,
        same: impl Fn(T, T) -> bool,
    ) -> Result<(), String> {
        for (k, &want) in expected.iter().enumerate() {
            let (head, rest) = actual.split_first_chunk::<N>().ok_or("the output is too short")?;
            let got = read(*head);
            if !same(want, got) {
                return Err(format!("element {k}: the interpreter has {want:?}, the program {got:?}"));
            }
            *actual = rest;
        }
        Ok(())
    }
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()));
    match expected {
        Data::F32(v) => column(v, &mut actual, f32::from_le_bytes, |a, b| {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || near(f64::from(a), f64::from(b))
        })?,
        Data::F64(v) => column(v, &mut actual, f64::from_le_bytes, |a, b| {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || near(a, b)
        })?,
        Data::I32(v) => column(v, &mut actual, i32::from_le_bytes, |a, b| a == b)?,
        Data::I64(v) => column(v, &mut actual, i64::from_le_bytes, |a, b| a == b)?,
        Data::Bool(v) => column(v, &mut actual, |b: [u8; 1]| b[0] == 1, |a, b| a == b)?,
        Data::I8(v) => column(v, &mut actual, i8::from_le_bytes, |a, b| a == b)?,
        Data::U8(v) => column(v, &mut actual, u8::from_le_bytes, |a, b| a == b)?,
        Data::I16(v) => column(v, &mut actual, i16::from_le_bytes, |a, b| a == b)?,
        Data::U16(v) => column(v, &mut actual, u16::from_le_bytes, |a, b| a == b)?,
        Data::F16(v) => column(v, &mut actual, loops::f16::from_le_bytes, |a, b| {
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
        })?,
        Data::U32(v) => column(v, &mut actual, u32::from_le_bytes, |a, b| a == b)?,
        Data::U64(v) => column(v, &mut actual, u64::from_le_bytes, |a, b| a == b)?,
        Data::Pair(a, b) => {
            let rest = compare(a, actual, tolerance)?;
            return compare(b, rest, tolerance);
        }
    }
    Ok(actual)
}

fn shape(param: &loops::Param, sizes: &BTreeMap<Name, i64>) -> Vec<usize> {
    param.dims.iter().map(|d| value(d, sizes)).collect()
}

fn value(e: &loops::Expr, sizes: &BTreeMap<Name, i64>) -> usize {
    use loops::{BinaryOp, Expr};
    fn eval(e: &Expr, sizes: &BTreeMap<Name, i64>) -> i64 {
        match e {
            Expr::Int(v) => *v,
            Expr::Var(name) => sizes[name],
            Expr::Binary(BinaryOp::Add, a, b) => eval(a, sizes) + eval(b, sizes),
            Expr::Binary(BinaryOp::Sub, a, b) => eval(a, sizes) - eval(b, sizes),
            Expr::Binary(BinaryOp::Mul, a, b) => eval(a, sizes) * eval(b, sizes),
            _ => panic!("an extent that this test does not evaluate: {e}"),
        }
    }
    usize::try_from(eval(e, sizes)).unwrap_or(0)
}

fn has_reductions(function: &Function) -> bool {
    nodes(&function.body).any(|s| matches!(s, loops::Stmt::Loop(l) if !l.reductions.is_empty()))
}

/// Random arguments, written to the file `in`.
fn arguments(
    folder: &Path,
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    seed: u64,
) -> BTreeMap<Name, Tensor> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut args, mut input) = (BTreeMap::new(), Vec::new());
    for param in function.params.iter().filter(|p| p.mode != ParamMode::Out) {
        let shape = shape(param, sizes);
        let mut data = random.data(&param.elem, shape.iter().product());
        if has_reductions(function) {
            tame(&mut data);
        }
        bytes(&data, &mut input);
        args.insert(param.name.clone(), Tensor { shape, data });
    }
    std::fs::write(folder.join("in"), input).unwrap();
    args
}

/// The compiled program at these sizes.
fn command(folder: &Path, number: usize, function: &Function, sizes: &BTreeMap<Name, i64>) -> Command {
    let mut command = Command::new(folder.join("run"));
    command
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "3")
        .arg(number.to_string())
        .args(function.sizes.iter().map(|s| sizes[s].to_string()))
        .args(function.params.iter().map(|p| shape(p, sizes).iter().product::<usize>().to_string()));
    command
}

/// Runs the compiled function of this number and the interpreter at these sizes.
pub fn agree(folder: &Path, number: usize, function: &Function, sizes: &BTreeMap<Name, i64>, seed: u64) {
    let what = format!("{} {sizes:?} seed {seed}, in {}", function.name, folder.display());
    let args = arguments(folder, function, sizes, seed);
    let options = loops::interp::Options { races: true, ..Default::default() };
    let expected = loops::interp::run(function, sizes, args, &options);
    let output = command(folder, number, function, sizes).output().unwrap();
    let expected = match expected {
        Ok(expected) => expected,
        // the sizes violate an assumption: the compiled function says so too
        Err(e) if e.code.0 == "L0302" => {
            assert_eq!(output.status.code(), Some(42), "{what}: {e}");
            return;
        }
        Err(e) => panic!("{what}: {e} {:?}", e.notes),
    };
    succeed(&what, &output);
    let actual = std::fs::read(folder.join("out")).unwrap();
    let mut rest = actual.as_slice();
    for param in function.params.iter().filter(|p| p.mode != ParamMode::In) {
        let tolerance = if has_reductions(function) { 1e-12 } else { 0.0 };
        rest = compare(&expected[&param.name].data, rest, tolerance)
            .unwrap_or_else(|e| panic!("{what}, {}: {e}", param.name));
    }
    assert!(rest.is_empty(), "{what}: the output is too long");
}

/// Lets each allocation fail in turn (`FAIL_AT` says which): the function must say so, and free
/// everything. How many there were.
pub fn allocations_fail(
    folder: &Path,
    number: usize,
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
) -> usize {
    arguments(folder, function, sizes, 1);
    for place in 0..1000 {
        let what = format!("{} {sizes:?}, allocation {place}, in {}", function.name, folder.display());
        let output =
            command(folder, number, function, sizes).env("FAIL_AT", place.to_string()).output().unwrap();
        match output.status.code() {
            Some(0) => return place,
            Some(41) => {}
            _ => succeed(&what, &output),
        }
    }
    panic!("{} allocates without end", function.name);
}

/// Sizes 0 and 1 in all combinations, then primes.
pub fn sizes_of(function: &Function) -> Vec<BTreeMap<Name, i64>> {
    let count = function.sizes.len();
    let mut out = Vec::new();
    for mask in 0..1usize << count.min(3) {
        out.push(
            function.sizes.iter().enumerate().map(|(k, s)| (s.clone(), (mask >> k & 1) as i64)).collect(),
        );
    }
    for round in 0..4 {
        let primes = [2, 7, 3, 13, 5, 17, 11, 1, 23];
        out.push(
            function
                .sizes
                .iter()
                .enumerate()
                .map(|(k, s)| (s.clone(), primes[(k * 2 + round * 3) % primes.len()]))
                .collect(),
        );
    }
    if count == 0 {
        out.truncate(1);
    }
    out
}
