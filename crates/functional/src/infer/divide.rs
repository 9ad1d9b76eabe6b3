//! Exact division of polynomials in several unknowns, which solves `factor * ? = rest`.

use std::collections::BTreeMap;

use loops::Size;

/// A product of atoms; each atom is a size of one factor.
type Monomial = BTreeMap<Size, u32>;

/// Quotients have at most this many terms.
const MAX_TERMS: usize = 32;

/// `q` with `divisor * q == dividend` as polynomials, if there is one.
///
/// The equation then holds for all values. `q` is the only solution only if the divisor is not 0.
pub(super) fn exact_quotient(dividend: &Size, divisor: &Size) -> Option<Size> {
    if let Some(quotient) = dividend.exact_div(divisor) {
        return Some(quotient);
    }
    let (lead, coefficient) = leading(divisor)?;
    let mut rest = dividend.clone();
    let mut quotient = Size::constant(0);
    for _ in 0..MAX_TERMS {
        let Some((monomial, c)) = leading(&rest) else { return Some(quotient) };
        if c.checked_rem(coefficient)? != 0 {
            return None;
        }
        let mut term = Size::constant(c.checked_div(coefficient)?);
        for (atom, exponent) in &monomial {
            let remaining = exponent.checked_sub(lead.get(atom).copied().unwrap_or(0))?;
            for _ in 0..remaining {
                term = term * atom.clone();
            }
        }
        if lead.keys().any(|atom| !monomial.contains_key(atom)) {
            return None;
        }
        rest = rest - term.clone() * divisor.clone();
        quotient = quotient + term;
    }
    None
}

/// The largest term by degree, then by the exponents of the atoms in their order. Products preserve
/// this order.
fn leading(size: &Size) -> Option<(Monomial, i64)> {
    let terms: Vec<(Monomial, i64)> = size
        .terms()
        .map(|(c, factors)| (factors.into_iter().map(|(f, e)| (f.to_size(), e)).collect(), c))
        .collect();
    let mut atoms: Vec<Size> = terms.iter().flat_map(|(m, _)| m.keys().cloned()).collect();
    atoms.sort();
    atoms.dedup();
    let key = |m: &Monomial| {
        let degree: u32 = m.values().sum();
        (degree, atoms.iter().map(|a| m.get(a).copied().unwrap_or(0)).collect::<Vec<u32>>())
    };
    terms.into_iter().max_by_key(|(m, _)| key(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_what_is_a_product() {
        let (n, m, k) = (Size::param("n"), Size::param("m"), Size::param("k"));
        let one = Size::constant(1);
        for (a, b) in [
            (n.clone() + one.clone(), m.clone() - k.clone()),
            (n.clone() * m.clone() + k.clone(), n.clone() + m.clone() + one.clone()),
            (Size::constant(3) * n.clone() - one.clone(), n.clone() * n.clone() + Size::constant(2)),
        ] {
            let product = a.clone() * b.clone();
            assert_eq!(exact_quotient(&product, &a), Some(b.clone()));
            assert_eq!(exact_quotient(&product, &b), Some(a.clone()));
            assert_eq!(exact_quotient(&(product + one.clone()), &a), None);
        }
        assert_eq!(exact_quotient(&n, &(n.clone() + one)), None);
        assert_eq!(exact_quotient(&n, &Size::constant(0)), None);
    }
}
