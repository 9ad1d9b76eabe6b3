//! The memory of one rank in the interpreter: whole arrays, poisoned where the rank holds nothing.
//!
//! A rank that reads what it does not hold gets numbers that no program expects, and writes outside
//! of its blocks are found by comparing.

use crate::data::{Data, Tensor};
use crate::program::ArrayDecl;

use super::messages::Range;

/// An array of which nothing is held. Each array has its own poison, so that what is computed from
/// the poison of one does not look like that of another.
pub(super) fn poisoned(array: &ArrayDecl, shape: Vec<usize>) -> Tensor {
    let mut tensor = Tensor::zeros(&array.elem, shape);
    let name = array.name.bytes().fold(0x6b_u32, |sum, b| (sum * 31 + u32::from(b)) % 0x3f_ffff);
    poison(&mut tensor.data, name);
    tensor
}

/// Numbers that no program expects; of floating point not numbers, with the name in their bits.
fn poison(data: &mut Data, name: u32) {
    match data {
        Data::F32(v) => v.fill(f32::from_bits(0x7fc0_0000 | name)),
        Data::F64(v) => v.fill(f64::from_bits(0x7ff8_dead_0000_0000 | u64::from(name))),
        Data::I32(v) => v.fill(-0x5eed_beef),
        Data::I64(v) => v.fill(-0x5eed_beef_0bad_f00d),
        Data::Bool(v) => v.fill(true),
        Data::I8(v) => v.fill(-77),
        Data::U8(v) => v.fill(213),
        Data::I16(v) => v.fill(-21_555),
        Data::U16(v) => v.fill(51_966),
        Data::F16(v) => v.fill(half::f16::from_bits(0xfe0d)),
        Data::U32(v) => v.fill(0xdead_beef),
        Data::U64(v) => v.fill(0x7ff8_dead_beef_dead),
        Data::Pair(a, b) => {
            poison(a, name);
            poison(b, name);
        }
    }
}

/// Calls `f` with the place in row-major order of each element of a product of ranges.
pub(super) fn places(shape: &[usize], ranges: &[Vec<Range>], f: &mut dyn FnMut(usize)) {
    fn within(shape: &[usize], ranges: &[Vec<Range>], before: usize, f: &mut dyn FnMut(usize)) {
        let (Some((extent, shape)), Some((own, ranges))) = (shape.split_first(), ranges.split_first()) else {
            return f(before);
        };
        for (low, high) in own {
            for k in *low..*high {
                within(shape, ranges, before * extent + k as usize, f);
            }
        }
    }
    within(shape, ranges, 0, f);
}

/// Copies one element from an array to another of the same type and shape.
pub(super) fn copy_element(from: &Data, to: &mut Data, at: usize) {
    match (from, to) {
        (Data::F32(a), Data::F32(b)) => b[at] = a[at],
        (Data::F64(a), Data::F64(b)) => b[at] = a[at],
        (Data::I32(a), Data::I32(b)) => b[at] = a[at],
        (Data::I64(a), Data::I64(b)) => b[at] = a[at],
        (Data::Bool(a), Data::Bool(b)) => b[at] = a[at],
        (Data::I8(a), Data::I8(b)) => b[at] = a[at],
        (Data::U8(a), Data::U8(b)) => b[at] = a[at],
        (Data::I16(a), Data::I16(b)) => b[at] = a[at],
        (Data::U16(a), Data::U16(b)) => b[at] = a[at],
        (Data::F16(a), Data::F16(b)) => b[at] = a[at],
        (Data::U32(a), Data::U32(b)) => b[at] = a[at],
        (Data::U64(a), Data::U64(b)) => b[at] = a[at],
        (Data::Pair(a, c), Data::Pair(b, d)) => {
            copy_element(a, b, at);
            copy_element(c, d, at);
        }
        _ => {}
    }
}

/// Whether an element has the same bits in two arrays of the same type and shape.
pub(super) fn same_element(a: &Data, b: &Data, at: usize) -> bool {
    match (a, b) {
        (Data::F32(a), Data::F32(b)) => a[at].to_bits() == b[at].to_bits(),
        (Data::F64(a), Data::F64(b)) => a[at].to_bits() == b[at].to_bits(),
        (Data::I32(a), Data::I32(b)) => a[at] == b[at],
        (Data::I64(a), Data::I64(b)) => a[at] == b[at],
        (Data::Bool(a), Data::Bool(b)) => a[at] == b[at],
        (Data::I8(a), Data::I8(b)) => a[at] == b[at],
        (Data::U8(a), Data::U8(b)) => a[at] == b[at],
        (Data::I16(a), Data::I16(b)) => a[at] == b[at],
        (Data::U16(a), Data::U16(b)) => a[at] == b[at],
        (Data::F16(a), Data::F16(b)) => a[at].to_bits() == b[at].to_bits(),
        (Data::U32(a), Data::U32(b)) => a[at] == b[at],
        (Data::U64(a), Data::U64(b)) => a[at] == b[at],
        (Data::Pair(a, c), Data::Pair(b, d)) => same_element(a, b, at) && same_element(c, d, at),
        _ => false,
    }
}

/// Bytes of an element in memory and in a message.
pub(super) fn bytes(data: &Data) -> i64 {
    data.elem().bytes() as i64
}
