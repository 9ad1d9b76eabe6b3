//! Laws of linear forms and polynomials: what is computed on forms is computed on values.

use arith::{Linear, Monomial, Polynomial};
use proptest::prelude::*;

type Form = Linear<u8>;
type Poly = Polynomial<u8>;

fn form() -> impl Strategy<Value = Form> {
    (prop::collection::vec((0u8..4, -9i128..10), 0..5), -20i128..21)
        .prop_map(|(terms, constant)| Linear::sum(terms, constant).unwrap())
}

fn monomial() -> impl Strategy<Value = Monomial<u8>> {
    prop::collection::vec((0u8..4, 0u32..3), 0..3).prop_map(|f| Monomial::product(f).unwrap())
}

fn poly() -> impl Strategy<Value = Poly> {
    prop::collection::vec((monomial(), -9i128..10), 0..5).prop_map(|terms| Polynomial::sum(terms).unwrap())
}

fn point() -> impl Strategy<Value = Vec<i128>> {
    prop::collection::vec(-6i128..7, 4)
}

fn at(form: &Form, point: &[i128]) -> i128 {
    form.value(|v| point.get(usize::from(*v)).copied()).unwrap()
}

fn value(poly: &Poly, point: &[i128]) -> i128 {
    poly.value(|v| point.get(usize::from(*v)).copied()).unwrap()
}

proptest! {
    #[test]
    fn linear_forms_compute_as_their_values(a in form(), b in form(), k in -9i128..10, p in point()) {
        prop_assert_eq!(at(&a.plus(&b).unwrap(), &p), at(&a, &p) + at(&b, &p));
        prop_assert_eq!(at(&a.minus(&b).unwrap(), &p), at(&a, &p) - at(&b, &p));
        prop_assert_eq!(at(&a.times(k).unwrap(), &p), at(&a, &p) * k);
        prop_assert_eq!(at(&a.plus_times(k, &b).unwrap(), &p), at(&a, &p) + k * at(&b, &p));
        prop_assert_eq!(a.minus(&a).unwrap(), Form::default());
        let mut put = p.clone();
        put[1] = at(&b, &p);
        prop_assert_eq!(at(&a.replace(&1, &b).unwrap(), &p), at(&a, &put));
        let (c, rest) = a.split(&2);
        prop_assert_eq!(at(&rest, &p) + c.unwrap_or(0) * p[2], at(&a, &p));
        prop_assert_eq!(at(&a.clone().tightened(), &p) >= 0, at(&a, &p) >= 0);
        prop_assert!(a.plus(&b).unwrap().terms().all(|(_, c)| c != 0));
    }

    #[test]
    fn polynomials_compute_as_their_values(a in poly(), b in poly(), k in -9i128..10, p in point()) {
        prop_assert_eq!(value(&a.plus(&b).unwrap(), &p), value(&a, &p) + value(&b, &p));
        prop_assert_eq!(value(&a.minus(&b).unwrap(), &p), value(&a, &p) - value(&b, &p));
        prop_assert_eq!(value(&a.times(&b).unwrap(), &p), value(&a, &p) * value(&b, &p));
        prop_assert_eq!(value(&a.scaled(k).unwrap(), &p), value(&a, &p) * k);
        let mut put = p.clone();
        put[1] = value(&b, &p);
        let replaced = a.replace(|v| (*v == 1).then_some(&b), 1 << 20).unwrap();
        prop_assert_eq!(value(&replaced, &p), value(&a, &put));
        if let Some((factor, rest)) = a.split(&2) {
            prop_assert_eq!(value(&factor, &p) * p[2] + value(&rest, &p), value(&a, &p));
        }
        let powers = a.by_power(&3);
        let sum: i128 = powers.iter().enumerate().map(|(k, c)| value(c, &p) * p[3].pow(k as u32)).sum();
        prop_assert_eq!(sum, value(&a, &p));
        if let Some(form) = a.as_linear() {
            prop_assert_eq!(at(&form, &p), value(&a, &p));
            prop_assert_eq!(Poly::of_linear(&form), a.clone());
        }
        prop_assert!(a.times(&b).unwrap().terms().all(|(_, c)| c != 0));
    }

    #[test]
    fn products_are_divided_exactly(a in poly(), b in poly(), m in monomial(), k in 1i128..9, p in point()) {
        let product = a.times(&b).unwrap();
        if !a.is_empty() {
            prop_assert_eq!(product.exact_quotient(&a, 64), Some(b.clone()));
            if let Some(other) = b.exact_quotient(&a, 64) {
                prop_assert_eq!(other.times(&a).unwrap(), b);
            }
        }
        let (quotient, rest) = product.divide_by_term(&m, k).unwrap();
        let term = Poly::term(m, k);
        prop_assert_eq!(
            value(&quotient, &p) * value(&term, &p) + value(&rest, &p),
            value(&product, &p)
        );
        prop_assert!(rest.is_empty() || product.exact_quotient(&term, 64).is_none());
    }

    #[test]
    fn products_of_atoms(a in monomial(), b in monomial()) {
        let product = a.times(&b).unwrap();
        prop_assert_eq!(product.over(&a), Some(b.clone()));
        prop_assert_eq!(product.degree(), a.degree() + b.degree());
        prop_assert_eq!(product.expanded().count(), product.degree());
        let (exponent, rest) = product.without(&1);
        prop_assert_eq!(rest.times(&Monomial::product([(1, exponent)]).unwrap()), Some(product));
    }
}

#[test]
fn what_does_not_fit_has_no_form() {
    let large = Linear::<u8, i64>::term(0, i64::MAX);
    assert_eq!(large.plus(&Linear::name(0)), None);
    assert_eq!(large.plus_constant(1).unwrap().plus_constant(i64::MAX), None);
    assert_eq!(Linear::<u8, i64>::term(0, i64::MIN).negated(), None);
    let square = Polynomial::<u8, i64>::atom(0).scaled(i64::MAX).unwrap();
    assert_eq!(square.times(&square), None);
    assert_eq!(Monomial::product([(0u8, u32::MAX), (0, 1)]), None);
    assert_eq!(square.value(|_| Some(2)), None);
}
