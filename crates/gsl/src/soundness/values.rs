//! Random numbers, random tensors and their comparison.

use graph::{ElementType, Tensor};

use super::integers;

/// A generator of numbers that is the same everywhere.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
    /// The greatest rank of a tensor that nothing else says the rank of.
    pub rank: usize,
    /// Extents that come now and then besides small ones.
    pub extents: Vec<usize>,
    /// NaN and infinities come now and then.
    pub specials: bool,
    /// Some of the numbers are NaN, infinite, a zero, or near an end of their type.
    pub extreme: bool,
    /// Extents of 0 come, too.
    pub empty: bool,
    /// Numbers have more digits than half precision, now and then.
    pub long: bool,
}

impl Dice {
    pub fn new(seed: u64, name: &str) -> Dice {
        let mix = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        let state = name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, mix);
        Dice {
            state,
            rank: 4,
            extents: Vec::new(),
            specials: false,
            extreme: false,
            empty: false,
            long: false,
        }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high + 1 - low)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// An extent, mostly a small one.
    pub fn extent(&mut self) -> usize {
        if self.empty && self.once_in(3) {
            return 0;
        }
        if !self.extents.is_empty() && self.once_in(8) {
            let k = self.below(self.extents.len());
            return self.extents[k];
        }
        self.pick(&[1, 2, 2, 3, 4])
    }

    /// A number between -2 and 2 with few digits; sometimes a special one, if these are requested.
    pub fn number(&mut self) -> f64 {
        if self.specials && self.once_in(4) {
            return self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        }
        if self.long && self.once_in(4) {
            return (self.below(1 << 20) as f64 - f64::from(1 << 19)) / f64::from(1 << 18);
        }
        (self.below(257) as f64 - 128.0) / 64.0
    }
}

/// The number of elements of a tensor with these extents; none if there are too many for a draw.
pub(super) fn count(dims: &[usize]) -> Option<usize> {
    dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(|n| *n <= 1 << 16)
}

/// A random tensor. Positive numbers only, if asked for.
pub(super) fn random(elem: ElementType, dims: Vec<usize>, positive: bool, dice: &mut Dice) -> Option<Tensor> {
    let count = count(&dims)?;
    if elem.is_int() {
        return integers::random(elem, dims, positive, dice);
    }
    let mut number = || match positive {
        true => dice.number().abs() + 0.5,
        false if dice.extreme && dice.once_in(3) => dice.pick(&extremes(elem)),
        false => dice.number(),
    };
    let numbers: Vec<f64> = (0..count).map(|_| number()).collect();
    of_numbers(elem, dims, &numbers)
}

/// NaN, infinities, zeros of both signs, the ends of a type's range, and numbers whose squares or
/// exponentials are beyond these ends.
fn extremes(elem: ElementType) -> [f64; 18] {
    let (most, least, far) = match elem {
        ElementType::F64 => (f64::MAX, f64::from_bits(1), 1e3),
        ElementType::F16 => (65504.0, 5.960_464_5e-8, 20.0),
        ElementType::Bf16 => (3.389_531_4e38, 9.183_549_6e-41, 100.0),
        _ => (f64::from(f32::MAX), f64::from(f32::from_bits(1)), 100.0),
    };
    let (large, small) = (4.0 * most.sqrt(), least.sqrt() / 4.0);
    let infinity = f64::INFINITY;
    [
        f64::NAN,
        f64::NAN,
        infinity,
        -infinity,
        0.0,
        -0.0,
        most,
        -most,
        least,
        -least,
        large,
        -large,
        small,
        -small,
        far,
        -far,
        1.0,
        -1.0,
    ]
}

/// Whether two tensors of one type are the same bit for bit, any NaN being equal to any.
pub(super) fn same_bits(a: &Tensor, b: &Tensor) -> bool {
    let all = |a: Vec<f64>, b: Vec<f64>| {
        a.iter().zip(&b).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
    };
    match (a.bytes() == b.bytes(), a.elem.is_float(), a.to_numbers(), b.to_numbers()) {
        (false, true, Some(x), Some(y)) => all(x, y),
        (same, ..) => same,
    }
}

/// A tensor of these numbers, rounded to its type.
pub(super) fn of_numbers(elem: ElementType, dims: Vec<usize>, numbers: &[f64]) -> Option<Tensor> {
    Some(match elem {
        ElementType::F64 => Tensor::from_f64s(dims, numbers),
        ElementType::F32 => Tensor::from_f32s(dims, &numbers.iter().map(|x| *x as f32).collect::<Vec<_>>()),
        ElementType::I64 => Tensor::from_i64s(dims, &numbers.iter().map(|x| *x as i64).collect::<Vec<_>>()),
        ElementType::I32 => Tensor::from_i32s(dims, &numbers.iter().map(|x| *x as i32).collect::<Vec<_>>()),
        ElementType::Bool => Tensor::from_bools(dims, &numbers.iter().map(|x| *x > 0.0).collect::<Vec<_>>()),
        _ if elem.is_int() => {
            let least = if integers::is_signed(elem) { -(1i128 << (elem.bits() - 1)) } else { 0 };
            let most = least + (1i128 << elem.bits()) - 1;
            let all: Vec<i128> = numbers.iter().map(|x| (*x as i128).clamp(least, most)).collect();
            return integers::of_integers(elem, dims, &all);
        }
        ElementType::F16 | ElementType::Bf16 => {
            let data = loops::Data::F32(numbers.iter().map(|x| *x as f32).collect());
            return graph::operators::encode(elem, &loops::Tensor { shape: dims, data });
        }
        _ => return None,
    })
}

/// The first place where two tensors of one type differ by more than rounding, and what they hold
/// there. Of `each` number the rounding is measured by itself, else by the largest.
pub(super) fn difference(a: &Tensor, b: &Tensor, each: bool) -> Option<(Vec<usize>, String, String)> {
    if let (Some(x), Some(y)) = (a.to_integers(), b.to_integers()) {
        let k = x.iter().zip(&y).position(|(x, y)| x != y)?;
        return Some((place(k, &a.dims), x[k].to_string(), y[k].to_string()));
    }
    let (Some(x), Some(y)) = (a.to_numbers(), b.to_numbers()) else {
        let (x, y) = (a.to_bools()?, b.to_bools()?);
        let k = x.iter().zip(&y).position(|(x, y)| x != y)?;
        return Some((place(k, &a.dims), u8::from(x[k]).to_string(), u8::from(y[k]).to_string()));
    };
    let tolerance = match a.elem {
        ElementType::F64 => 1e-9,
        ElementType::F32 => 2e-4,
        ElementType::F16 => 1e-2,
        ElementType::Bf16 => 8e-2,
        _ => 0.0,
    };
    let scale = x.iter().filter(|v| v.is_finite()).fold(1.0f64, |m, v| m.max(v.abs()));
    let least = extremes(a.elem)[8];
    let same = |x: f64, y: f64| {
        let allowed = if each { tolerance * x.abs().max(y.abs()) + 8.0 * least } else { tolerance * scale };
        x == y || x.is_nan() && y.is_nan() || x.is_finite() && y.is_finite() && (x - y).abs() <= allowed
    };
    let k = x.iter().zip(&y).position(|(x, y)| !same(*x, *y))?;
    Some((place(k, &a.dims), x[k].to_string(), y[k].to_string()))
}

fn place(mut k: usize, dims: &[usize]) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for d in (0..dims.len()).rev() {
        at[d] = k % dims[d];
        k /= dims[d];
    }
    at
}
