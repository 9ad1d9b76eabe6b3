//! Finds sizes that a definition allows. They show that the statement of a certificate is not
//! empty.

use super::data::{Op, Tm};

/// Sizes that are tried.
const TRIES: u32 = 50_000;

/// Sizes of which each of these terms is at least 0.
pub(super) fn sizes(count: u32, assume: &[Tm]) -> Option<Vec<i64>> {
    const USUAL: [i64; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 256, 1024];
    let count = usize::try_from(count).ok()?;
    let allowed = |sizes: &Vec<i64>| assume.iter().all(|t| value(t, sizes).is_some_and(|z| z >= 0));
    let equal = (1..=64).chain([0]).map(|n| vec![n; count]);
    // A number from a sequence of its own for each size (a linear congruential generator).
    let mut state: u64 = 1;
    let mut draw = move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        USUAL[(state >> 33) as usize % USUAL.len()]
    };
    let drawn = (0..TRIES).map(|_| (0..count).map(&mut draw).collect());
    equal.chain(drawn).find(allowed)
}

/// The value of a term over sizes, as `Semantics.v` has it.
fn value(t: &Tm, sizes: &[i64]) -> Option<i128> {
    match t {
        Tm::Var(x) => sizes.get(usize::try_from(*x).ok()?).map(|n| i128::from(*n)),
        Tm::Int(z) => Some(i128::from(*z)),
        Tm::Lit(_) | Tm::In(..) => None,
        Tm::Op(op, ts) => {
            let [a, b] = &ts[..] else { return None };
            let (a, b) = (value(a, sizes)?, value(b, sizes)?);
            let floor = |a: i128, b: i128| a.checked_div_euclid(b).filter(|_| b > 0);
            match op {
                Op::Iadd => a.checked_add(b),
                Op::Isub => a.checked_sub(b),
                Op::Imul => a.checked_mul(b),
                Op::Idiv | Op::Imod if b == 0 => Some(if *op == Op::Idiv { 0 } else { a }),
                Op::Idiv => floor(a, b),
                Op::Imod => floor(a, b).map(|q| a - q * b),
                Op::Imin => Some(a.min(b)),
                Op::Imax => Some(a.max(b)),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_that_are_allowed() {
        let minus = |a, b| Tm::Op(Op::Isub, vec![a, b]);
        let four = Tm::Op(Op::Imul, vec![Tm::Int(4), Tm::Var(1)]);
        let assume = [
            Tm::Var(0),
            minus(Tm::Var(0), four.clone()),
            minus(four, Tm::Var(0)),
            minus(Tm::Var(1), Tm::Int(1)),
        ];
        let found = sizes(2, &assume).unwrap();
        assert!(found[1] >= 1 && found[0] == 4 * found[1], "{found:?}");
        assert_eq!(sizes(1, &[Tm::Var(0), minus(Tm::Int(-1), Tm::Var(0))]), None);
    }
}
