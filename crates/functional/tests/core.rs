//! Constructors, walking and the verifier.

use functional::build::{self, Supply};
use functional::{Arg, Binder, DataType, Definition, Fact, FactKind, Prim, Term, TermKind, check, walk};
use loops::{Scalar, Size};

fn f64s(n: impl Into<Size>) -> DataType {
    DataType::array(n.into(), Scalar::F64.into())
}

fn definition(sizes: &[&str], params: Vec<Binder>, body: Term) -> Definition {
    Definition {
        name: "d".into(),
        sizes: sizes.iter().map(|s| (*s).into()).collect(),
        facts: Vec::new(),
        params,
        body,
        span: Default::default(),
    }
}

fn dot() -> Definition {
    let mut s = Supply::new();
    let n = Size::param("n");
    let (xs, ys) = (s.binder("xs", f64s(n.clone())), s.binder("ys", f64s(n)));
    let pairs = build::zip(build::var(&xs), build::var(&ys)).unwrap();
    let elem = DataType::pair(Scalar::F64.into(), Scalar::F64.into());
    let f = s
        .lambda2(("p", elem), ("a", Scalar::F64.into()), |_, p, a| {
            build::add(build::mul(build::fst(p.clone())?, build::snd(p)?)?, a)
        })
        .unwrap();
    let body = build::reduce(Prim::Reduce, f, build::number(Scalar::F64, 0), pairs).unwrap();
    definition(&["n"], vec![xs, ys], body)
}

#[test]
fn what_is_built_passes_the_verifier() {
    check(&dot()).unwrap();
}

#[test]
fn wrong_arguments_are_refused() {
    let mut s = Supply::new();
    let (xs, ys) = (s.binder("xs", f64s(Size::param("n"))), s.binder("ys", f64s(Size::param("m"))));
    let error = build::zip(build::var(&xs), build::var(&ys)).unwrap_err();
    assert_eq!(error.to_string(), "`zip`: the lengths n and m differ");
    let error = build::split(4, build::var(&xs)).unwrap_err();
    assert_eq!(error.to_string(), "`split`: the length n is not shown to be a multiple of 4");
    let error = build::take(5, build::var(&s.binder("zs", f64s(4)))).unwrap_err();
    assert_eq!(error.to_string(), "`take`: 5 is more than the length 4");
    assert!(build::apply(Prim::Zero, vec![]).is_err(), "the type of zero is open");
    assert!(build::add(build::number(Scalar::F32, 1), build::number(Scalar::F64, 1)).is_err());
    assert!(build::apply(Prim::Neg, vec![]).is_err(), "an argument is missing");
    assert!(build::apply(Prim::Neg, vec![Arg::Size(3.into())]).is_err(), "a size is no value");
}

#[test]
fn split_finds_its_blocks_by_division_by_hint_or_by_a_fact() {
    let mut s = Supply::new();
    let blocks = (Size::param("n") + 7.into()).div(&8.into());
    let xs = s.binder("xs", f64s(Size::constant(8) * blocks.clone()));
    assert_eq!(*build::split(8, build::var(&xs)).unwrap().ty(), DataType::array(blocks, f64s(8)));

    let ys = s.binder("ys", f64s(Size::param("n")));
    let fact =
        Fact { kind: FactKind::Equal, left: Size::param("n"), right: Size::constant(4) * Size::param("m") };
    let mut d = definition(&["n", "m"], vec![ys.clone()], build::var(&ys));
    d.facts.push(fact);
    let facts = functional::SizeFacts::of(&d);
    let args = vec![Arg::Size(4.into()), Arg::Term(build::var(&ys))];
    d.body = build::apply_with(Prim::Split, args, None, &facts).unwrap();
    assert_eq!(*d.body.ty(), DataType::array(Size::param("m"), f64s(4)));
    check(&d).unwrap();
    d.facts.clear();
    assert!(check(&d).is_err(), "without the fact the type is wrong");
}

#[test]
fn the_verifier_sees_scope_numbers_types_and_sizes() {
    let good = dot();
    let message = |d: &Definition| check(d).unwrap_err().message;

    let mut open = good.clone();
    open.params.remove(1);
    assert!(message(&open).contains("`ys` (number 1) is not in scope"));

    let mut twice = good.clone();
    twice.params.push(good.params[0].clone());
    assert!(message(&twice).contains("two variables have number 0"));

    let mut sizes = good.clone();
    sizes.sizes.clear();
    assert!(message(&sizes).contains("size `n` is not in scope"));

    let mut ty = good.clone();
    ty.body = Term::new(good.body.kind().clone(), Scalar::F32.into(), good.span);
    assert!(message(&ty).contains("`reduce` gives f64, the node has f32"));
}

#[test]
fn substitution_keeps_numbers_unique_and_alpha_equality_sees_through_them() {
    let mut s = Supply::new();
    let xs = s.binder("xs", f64s(Size::param("n")));
    let negated = {
        let f =
            s.lambda1("x", Scalar::F64.into(), |_, x| build::apply(Prim::Neg, vec![Arg::Term(x)])).unwrap();
        build::map(Prim::Map, f, build::var(&xs)).unwrap()
    };
    let y = s.binder("y", f64s(Size::param("n")));
    let twice = build::zip(build::var(&y), build::var(&y)).unwrap();
    let result = walk::substitute(&twice, &[(y.var.clone(), negated.clone())].into(), &mut s);
    check(&definition(&["n"], vec![xs], result.clone())).unwrap();
    let TermKind::Prim(_, args) = result.kind() else { panic!("a zip") };
    let [Arg::Term(a), Arg::Term(b)] = args.as_slice() else { panic!("two terms") };
    assert_ne!(a, b);
    assert!(walk::alpha_equal(a, b) && walk::alpha_equal(a, &negated));
    assert!(!walk::alpha_equal(a, &build::var(&y)));
}

#[test]
fn positions_find_and_replace() {
    let d = dot();
    let position = walk::Position(vec![0, 0, 0, 0]);
    assert_eq!(position.to_string().parse(), Ok(position.clone()));
    let here = walk::subterm(&d.body, &position).unwrap();
    assert!(matches!(here.kind(), TermKind::Var(v) if v.name.as_str() == "p"), "{here:?}");
    let changed = walk::replace(&d.body, &walk::Position(vec![1]), &build::number(Scalar::F64, 7)).unwrap();
    assert_eq!(walk::subterm(&changed, &walk::Position(vec![1])), Some(&build::number(Scalar::F64, 7)));
    assert_eq!(walk::replace(&d.body, &walk::Position(vec![9]), here), None);
}

#[test]
fn deep_terms_are_refused() {
    let mut term = build::number(Scalar::F64, 1);
    for _ in 0..walk::MAX_DEPTH {
        term = build::apply(Prim::Neg, vec![Arg::Term(term)]).unwrap();
    }
    assert_eq!(check(&definition(&[], vec![], term)).unwrap_err().code.0, "F0502");
}
