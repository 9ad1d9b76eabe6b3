//! What is proved is never refuted by the values of a small box.

use arith::fourier_motzkin::{System, drop_implied};
use arith::{Budget, Facts, Linear, Monomial, Polynomial};
use proptest::prelude::*;

type Form = Linear<u8>;

const VARIABLES: usize = 3;

fn form() -> impl Strategy<Value = Form> {
    (prop::collection::vec((0..VARIABLES as u8, -3i128..4), 1..4), -5i128..6)
        .prop_map(|(terms, constant)| Linear::sum(terms, constant).unwrap())
}

fn poly() -> impl Strategy<Value = Polynomial<u8>> {
    let monomial = prop::collection::vec((0..VARIABLES as u8, 1u32..3), 0..3)
        .prop_map(|f| Monomial::product(f).unwrap());
    prop::collection::vec((monomial, -3i128..4), 0..4).prop_map(|terms| Polynomial::sum(terms).unwrap())
}

/// All points with coordinates from -5 to 5.
fn points() -> impl Iterator<Item = [i128; VARIABLES]> {
    (-5..=5).flat_map(|x| (-5..=5).flat_map(move |y| (-5..=5).map(move |z| [x, y, z])))
}

fn at(form: &Form, point: &[i128; VARIABLES]) -> i128 {
    form.value(|v| Some(point[usize::from(*v)])).unwrap()
}

fn value(poly: &Polynomial<u8>, point: &[i128; VARIABLES]) -> i128 {
    poly.value(|v| Some(point[usize::from(*v)])).unwrap()
}

fn inside(system: &System<u8>, point: &[i128; VARIABLES]) -> bool {
    system.rows.iter().all(|row| at(row, point) >= 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_empty_system_has_no_points(rows in prop::collection::vec(form(), 0..7)) {
        let system = System::new(rows.clone());
        let raw = System { rows };
        prop_assert!(points().all(|p| inside(&system, &p) == inside(&raw, &p)));
        if system.is_empty_within(&Budget::default()) {
            prop_assert!(points().all(|p| !inside(&system, &p)));
        }
    }

    #[test]
    fn what_is_implied_holds(rows in prop::collection::vec(form(), 0..6), asked in form()) {
        let system = System::new(rows);
        if system.implies(&asked, &Budget::default()) {
            prop_assert!(points().all(|p| !inside(&system, &p) || at(&asked, &p) >= 0));
        }
        let mut left = system.rows.clone();
        drop_implied(&mut left, &[], &Budget::default());
        let pruned = System { rows: left };
        prop_assert!(points().all(|p| inside(&system, &p) == inside(&pruned, &p)));
    }

    /// Every point of the box survives, and where it says so, every point that is left extends to
    /// one of some value of the variable.
    #[test]
    fn elimination_keeps_the_shadow(rows in prop::collection::vec(form(), 0..6)) {
        // Bounds make the box large enough for every value that extends a point.
        let bounds = [Linear::sum([(0u8, 1)], 5), Linear::sum([(0u8, -1)], 5)];
        let system = System::new(rows.into_iter().chain(bounds.into_iter().flatten()));
        let Ok(eliminated) = system.eliminate(&0) else { return Ok(()) };
        prop_assert!(eliminated.system.rows.iter().all(|row| row.variables().all(|v| *v != 0)));
        for y in -5..=5 {
            for z in -5..=5 {
                let shadow = (-5..=5).any(|x| inside(&system, &[x, y, z]));
                let left = inside(&eliminated.system, &[0, y, z]);
                prop_assert!(!shadow || left);
                prop_assert!(!eliminated.exact || shadow == left);
            }
        }
    }

    #[test]
    fn no_budget_proves_nothing_wrong(
        rows in prop::collection::vec(form(), 0..7), most in 0usize..6, steps in 0u64..6
    ) {
        let system = System::new(rows);
        if system.is_empty_within(&Budget::new(most, steps)) {
            prop_assert!(points().all(|p| !inside(&system, &p)));
        }
    }

    #[test]
    fn facts_prove_what_holds(
        known in prop::collection::vec(poly(), 0..5),
        asked in poly(),
        multiples in prop::collection::vec((0..VARIABLES as u8, 2i128..4), 0..2),
    ) {
        let mut facts = Facts::default();
        known.iter().for_each(|fact| facts.learn(fact.clone()));
        multiples.iter().for_each(|(atom, n)| facts.learn_multiple(*atom, *n));
        let budget = Budget::default();
        let possible = |p: &[i128; VARIABLES]| {
            known.iter().all(|fact| value(fact, p) >= 0)
                && multiples.iter().all(|(atom, n)| p[usize::from(*atom)] % n == 0)
        };
        let holds = |what: &dyn Fn(&[i128; VARIABLES]) -> bool| points().all(|p| !possible(&p) || what(&p));
        if facts.nonnegative(&asked, &budget) {
            prop_assert!(holds(&|p| value(&asked, p) >= 0));
        }
        if facts.nonnegative_term_by_term(&asked, 2, 64) {
            prop_assert!(holds(&|p| value(&asked, p) >= 0));
        }
        let divisor = facts.divisor_of(&asked);
        prop_assert!(holds(&|p| value(&asked, p) % divisor == 0));
        for rest in facts.without_facts(&asked, |_, _| true) {
            prop_assert!(holds(&|p| value(&asked, p) >= value(&rest, p)));
        }
        for atom in 0..VARIABLES as u8 {
            if let Some(least) = facts.least(&atom) {
                prop_assert!(holds(&|p| p[usize::from(atom)] >= least));
            }
        }
    }
}

fn form_of(terms: &[(&'static str, i128)], constant: i128) -> Polynomial<&'static str> {
    Polynomial::of_linear(&Linear::sum(terms.iter().copied(), constant).unwrap())
}

#[test]
fn bounds_are_followed_through_names() {
    // 0 <= j < i < n implies j < n, not j < n - 2.
    let mut facts = Facts::default();
    facts.learn(form_of(&[("j", 1)], 0));
    facts.learn(form_of(&[("i", 1), ("j", -1)], -1));
    facts.learn(form_of(&[("n", 1), ("i", -1)], -1));
    let natural = |terms: &[_], constant| facts.nonnegative(&form_of(terms, constant), &Budget::default());
    assert!(natural(&[("n", 1), ("j", -1)], -1));
    assert!(natural(&[("n", 1)], -2));
    assert!(!natural(&[("n", 1), ("j", -1)], -3));
}

#[test]
fn values_are_integers() {
    // 2 i >= 1 implies i >= 1; a multiple of 8 above -8 is at least 0.
    let mut facts = Facts::default();
    facts.learn(form_of(&[("i", 2)], -1));
    assert!(facts.nonnegative(&form_of(&[("i", 1)], -1), &Budget::default()));
    facts.learn_multiple("k", 8);
    facts.learn(form_of(&[("k", 1)], 7));
    assert!(facts.nonnegative(&form_of(&[("k", 1)], 0), &Budget::default()));
    assert!(!facts.nonnegative(&form_of(&[("k", 1)], -8), &Budget::default()));
    assert_eq!(facts.divisor_of(&form_of(&[("k", 3)], 8)), 8);
    assert_eq!(facts.divisor_of(&form_of(&[("k", 3)], 4)), 4);
}

#[test]
fn loop_bounds_of_a_triangle() {
    // 0 <= i < n and 0 <= j <= i
    let row = |terms: &[(&'static str, i128)], c| Linear::sum(terms.iter().copied(), c).unwrap();
    let system = System::new([
        row(&[("i", 1)], 0),
        row(&[("n", 1), ("i", -1)], -1),
        row(&[("j", 1)], 0),
        row(&[("i", 1), ("j", -1)], 0),
    ]);
    let nest = system.loop_bounds(&["i", "j"]).unwrap();
    assert_eq!(nest.to_string(), "if n - 1 >= 0: 0 <= i <= n - 1; 0 <= j <= i");
}
