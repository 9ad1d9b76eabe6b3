//! Every rewrite rule keeps types and values: on random well-typed programs, and on terms made to
//! fit each rule.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use functional::build::{self, Supply};
use functional::eval::{Limits, Value, evaluate};
use functional::random::Maker;
use functional::rewrite::{Context, rules};
use functional::strategy::{Options, Strategies};
use functional::walk::{self, Position};
use functional::{Arg, DataType, Definition, Prim, SizeFacts, Term, check, print};
use loops::{Name, Scalar, Size};
use proptest::prelude::*;

const LIMITS: Limits = Limits { elements: 1 << 16, steps: 1 << 13 };
/// A rule may make more work.
const MORE: Limits = Limits { elements: 1 << 18, steps: 1 << 18 };

fn positions(term: &Term) -> Vec<Position> {
    let (mut all, mut todo) = (Vec::new(), vec![(term, Position::root())]);
    while let Some((term, position)) = todo.pop() {
        todo.extend(walk::children(term).into_iter().map(|(k, child)| (child, position.child(k))));
        all.push(position);
    }
    all
}

/// Applies every rule at every place of a definition and compares the values. Tells which rules
/// applied.
fn every_rule(
    definition: &Definition,
    sizes: &BTreeMap<Name, i64>,
    args: &[Value],
    used: &mut BTreeSet<&'static str>,
) {
    let Ok(expected) = evaluate(definition, sizes, args, LIMITS) else { return };
    let facts = SizeFacts::of(definition);
    for position in positions(&definition.body) {
        let term = walk::subterm(&definition.body, &position).unwrap();
        for rule in rules() {
            let sizes_of_rule = vec![Size::constant(2); rule.params.len()];
            let mut supply = Supply::above(definition);
            let mut cx = Context { supply: &mut supply, facts: &facts, reassociate: false };
            let Ok(new) = rule.apply(&mut cx, &sizes_of_rule, term) else { continue };
            used.insert(rule.name);
            let body = walk::replace(&definition.body, &position, &new).unwrap();
            let rewritten = Definition { body, ..definition.clone() };
            let told = || {
                let (before, after) = (print::term(term), print::term(&new));
                format!("{} at {position}\nbefore {before}\nafter {after}", rule.name)
            };
            if let Err(error) = check(&rewritten) {
                panic!("{}\n{}", error.message, told());
            }
            match evaluate(&rewritten, sizes, args, MORE) {
                Ok(found) => assert!(same_bits(&expected, &found), "{}\n{expected:?}\n{found:?}", told()),
                Err(error) if error.code.0 == "F0602" => {}
                Err(error) => panic!("{}\n{}", error.message, told()),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_keep_the_value_of_random_programs(seed: u64, fuel in 5u32..60) {
        let mut maker = Maker::new(seed, fuel);
        let (definition, args) = maker.definition();
        prop_assert!(check(&definition).is_ok(), "{:?}", check(&definition));
        let sizes = maker.sizes.iter().cloned().collect();
        let mut used = BTreeSet::new();
        every_rule(&definition, &sizes, &args, &mut used);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strategies_keep_the_value_of_random_programs_and_replay(seed: u64, fuel in 5u32..60) {
        let mut maker = Maker::new(seed, fuel);
        let (definition, args) = maker.definition();
        let sizes = maker.sizes.iter().cloned().collect();
        let Ok(expected) = evaluate(&definition, &sizes, &args, LIMITS) else { return Ok(()) };
        for strategy in ["simplify", "fuse", "auto", "everywhere (letFloat <+ letFloatLoop <+ interchange <+ liftReduce); auto"] {
            let outcome = Strategies::library().apply(strategy, &definition, Options::default()).unwrap();
            let found = evaluate(&outcome.definition, &sizes, &args, MORE);
            match found {
                Ok(found) => prop_assert!(same_bits(&expected, &found), "{strategy}\n{}", print::definition(&definition)),
                Err(error) => prop_assert_eq!(error.code.0, "F0602", "{}\n{}", error.message, print::definition(&definition)),
            }
            prop_assert_eq!(outcome.trace.replay(&definition).unwrap().body, outcome.definition.body);
        }
    }
}

#[test]
fn random_programs_are_evaluated() {
    let mut evaluated = 0;
    for seed in 0..300 {
        let mut maker = Maker::new(seed, 40);
        let (definition, args) = maker.definition();
        check(&definition).unwrap();
        let sizes = maker.sizes.iter().cloned().collect();
        match evaluate(&definition, &sizes, &args, LIMITS) {
            Ok(_) => evaluated += 1,
            Err(error) => assert_eq!(error.code.0, "F0602", "{}", error.message),
        }
    }
    assert!(evaluated > 250, "{evaluated}");
}

/// The random parts that the terms of [`redex`] are made of.
#[derive(Clone)]
struct Parts {
    n: Size,
    /// Two, and an even length.
    k: Size,
    even: Size,
    t: DataType,
    u: DataType,
    f64: DataType,
    /// An array of `n` elements of type `t`.
    xs: Term,
}

impl Parts {
    fn draw(maker: &mut Maker) -> Parts {
        let n = maker.size();
        let (t, u) = (maker.data_type(0, false), maker.data_type(1, true));
        let k = Size::constant(2);
        let even = k.clone() * n.clone();
        let xs = arr(maker, &n, &t);
        Parts { n, k, even, t, u, f64: DataType::Scalar(Scalar::F64), xs }
    }
}

fn arr(maker: &mut Maker, n: &Size, t: &DataType) -> Term {
    maker.term(&array(n.clone(), t.clone()))
}

fn fun(maker: &mut Maker, from: &DataType, to: &DataType) -> functional::Lambda {
    maker.function(&[("x", from)], to)
}

fn map(maker: &mut Maker, to: &DataType, xs: Term) -> Term {
    let DataType::Array(_, elem) = xs.ty().clone() else { panic!("an array") };
    let f = fun(maker, &elem, to);
    build::map(Prim::Map, f, xs).unwrap()
}

/// A map over rows by a function that does not depend on the row.
fn rows(maker: &mut Maker, to: &DataType, xss: Term) -> Term {
    let DataType::Array(_, row) = xss.ty().clone() else { panic!("rows") };
    let DataType::Array(_, elem) = (*row).clone() else { panic!("rows") };
    let f = fun(maker, &elem, to);
    let outer = maker.supply.lambda1("row", *row, |_, row| build::map(Prim::Map, f, row)).unwrap();
    build::map(Prim::Map, outer, xss).unwrap()
}

fn ok(term: build::Built) -> Option<Term> {
    Some(term.unwrap())
}

/// Terms for some of the rules.
type Group = fn(&str, &mut Maker, Parts) -> Option<Term>;

/// For each rule that random programs seldom fit: a term that it fits, with random parts.
fn redex(rule: &str, maker: &mut Maker) -> Option<Term> {
    let parts = Parts::draw(maker);
    let groups: [Group; 7] = [mapped, rearranged, shortened, in_blocks, nested, vectors_and_lets, scalars];
    groups.into_iter().find_map(|group| group(rule, maker, parts.clone()))
}

/// Maps of maps and of what makes arrays.
fn mapped(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, t, u, xs, .. } = parts;
    match rule {
        "mapFusion" => {
            let inner = map(maker, &u, xs);
            Some(map(maker, &t, inner))
        }
        "mapFission" | "mapReverse" => {
            let xs = arr(maker, &n, &array(n.clone(), t.clone()));
            let f =
                maker.supply.lambda1("x", array(n, t), |_, x| build::reverse(build::reverse(x)?)).unwrap();
            ok(build::map(Prim::Map, f, build::reverse(xs).unwrap()))
        }
        "reduceMapFusion" => {
            let xs = map(maker, &u, xs);
            let f = maker.function(&[("x", &u), ("a", &t)], &t);
            let init = maker.term(&t);
            ok(build::reduce(Prim::Reduce, f, init, xs))
        }
        "mapGenerate" | "indexGenerate" => {
            let four = DataType::Idx(4.into());
            let f = maker.function(&[("i", &four)], &t);
            let all = build::apply(Prim::Generate, vec![Arg::Size(4.into()), Arg::Fun(f)]).unwrap();
            if rule == "mapGenerate" {
                return Some(map(maker, &u, all));
            }
            ok(build::at(all, build::index(3.into(), 4.into())))
        }
        "indexMap" | "indexZip" => {
            let xs = arr(maker, &4.into(), &t);
            let ys = map(maker, &u, xs.clone());
            let ys = if rule == "indexZip" { build::zip(xs, ys).unwrap() } else { ys };
            ok(build::at(ys, build::index(1.into(), 4.into())))
        }
        "zipMap" => {
            let ys = arr(maker, &n, &t);
            let ys = map(maker, &u, ys);
            if maker.dice.below(2) == 0 { ok(build::zip(xs, ys)) } else { ok(build::zip(ys, xs)) }
        }
        "mapIdentity" => {
            let f = maker.supply.lambda1("x", t, |_, x| Ok(x)).unwrap();
            ok(build::map(Prim::Map, f, xs))
        }
        _ => None,
    }
}

/// Blocks, rows and their transposition.
fn rearranged(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, k, even, t, f64, xs, .. } = parts;
    match rule {
        "joinSplit" => ok(build::join(build::split(2, arr(maker, &even, &t)).unwrap())),
        "splitJoinId" => {
            let rows = arr(maker, &n, &array(k.clone(), t));
            ok(build::split(2, build::join(rows).unwrap()))
        }
        "transposeTranspose" => {
            let xss = arr(maker, &n, &array(k, t));
            ok(build::transpose(build::transpose(xss).unwrap()))
        }
        "transposeMapMap" | "joinMapMap" => {
            let xss = arr(maker, &n, &array(k, t));
            let mapped = rows(maker, &f64, xss);
            if rule == "joinMapMap" { ok(build::join(mapped)) } else { ok(build::transpose(mapped)) }
        }
        "mapMapTranspose" => {
            let xss = arr(maker, &n, &array(k, t));
            Some(rows(maker, &f64, build::transpose(xss).unwrap()))
        }
        "transposeMapZip" => {
            let which = maker.dice.below(3);
            let length = maker.size();
            let (same, other) = (arr(maker, &length, &t), arr(maker, &length, &f64));
            let f = fun(maker, &t, &array(length.clone(), f64.clone()));
            let (x, varying) = (f.params, f.body);
            let varying = build::map(Prim::Map, fun(maker, &f64, &f64), varying).unwrap();
            let use_x = build::map(
                Prim::Map,
                maker.supply.lambda1("y", f64.clone(), |_, _| Ok(build::var(&x[0]))).unwrap(),
                varying,
            )
            .unwrap();
            let again = walk::refresh(&use_x, &mut maker.supply);
            let body = match which {
                0 => build::zip(same, use_x),
                1 => build::zip(use_x, other),
                _ => build::zip(use_x, again),
            };
            let lambda = functional::Lambda { params: x, body: body.unwrap() };
            ok(build::transpose(build::map(Prim::Map, lambda, xs).unwrap()))
        }
        _ => None,
    }
}

/// Views that cancel each other, shorten an array or go through pairs.
fn shortened(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, k, even, t, u, f64, xs } = parts;
    match rule {
        "reverseReverse" => ok(build::reverse(build::reverse(xs).unwrap())),
        "copyId" => ok(build::apply(Prim::Copy, vec![Arg::Term(xs)])),
        "takeAll" => ok(build::take(n, xs)),
        "dropNone" => ok(build::drop_first(0, xs)),
        "takeMap" | "dropMap" | "takeZip" | "dropZip" => {
            let ys = arr(maker, &(n.clone() + 1.into()), &t);
            let mapped = map(maker, &u, ys.clone());
            let xs = if rule.ends_with("Zip") { build::zip(ys, mapped).unwrap() } else { mapped };
            if rule.starts_with("take") { ok(build::take(n, xs)) } else { ok(build::drop_first(1, xs)) }
        }
        "splitZip" | "splitMap" => {
            let ys = arr(maker, &even, &t);
            let mapped = map(maker, &f64, ys.clone());
            let xs = if rule == "splitZip" { build::zip(ys, mapped).unwrap() } else { mapped };
            ok(build::split(2, xs))
        }
        "slideMap" => {
            let ys = arr(maker, &(n + Size::constant(2)), &t);
            let mapped = map(maker, &f64, ys);
            ok(build::slide(3.into(), 1.into(), mapped))
        }
        "mapConcat" => {
            let ys = arr(maker, &k, &t);
            Some(map(maker, &u, build::concat(xs, ys).unwrap()))
        }
        "unzipZip" => {
            ok(build::unzip(build::zip(xs.clone(), walk::refresh(&xs, &mut maker.supply)).unwrap()))
        }
        "zipUnzip" => {
            let pairs = build::unzip(arr(maker, &n, &DataType::pair(t, f64))).unwrap();
            let again = walk::refresh(&pairs, &mut maker.supply);
            ok(build::zip(build::fst(pairs).unwrap(), build::snd(again).unwrap()))
        }
        "mapUnzip" => {
            let (a, b) = (fun(maker, &t, &f64), fun(maker, &t, &u));
            let b = walk::instantiate(&b, &[build::var(&a.params[0])], &mut maker.supply);
            let f = functional::Lambda { params: a.params, body: build::pair(a.body, b).unwrap() };
            ok(build::unzip(build::map(Prim::Map, f, xs).unwrap()))
        }
        _ => None,
    }
}

/// What is made of blocks and vectors.
fn in_blocks(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, even, t, u, f64, xs, .. } = parts;
    match rule {
        "vectorScalar" => {
            let vs = build::as_vector(2, arr(maker, &even, &f64)).unwrap();
            ok(build::as_vector(2, build::as_scalar(vs).unwrap()))
        }
        "scalarVector" => ok(build::as_scalar(build::as_vector(2, arr(maker, &even, &f64)).unwrap())),
        "reorderIdentity" => {
            let f = maker.supply.lambda1("i", DataType::Idx(n), |_, i| Ok(i)).unwrap();
            ok(build::apply(Prim::Reorder, vec![Arg::Fun(f), Arg::Term(xs)]))
        }
        "splitJoin" | "splitJoinRest" | "vectoriseBlocks" | "padMap" => {
            let whole = rule == "splitJoin" || rule == "vectoriseBlocks";
            let ys = arr(maker, if whole { &even } else { &n }, &t);
            if rule == "vectoriseBlocks" {
                let f = maker.supply.lambda1("x", t, |_, x| build::mul(x.clone(), x)).unwrap();
                return ok(build::map(Prim::Map, f, ys));
            }
            Some(map(maker, &u, ys))
        }
        "reduceSplit" | "reduceSplitRest" => {
            let ys = arr(maker, if rule == "reduceSplit" { &even } else { &n }, &t);
            let f = maker.function(&[("x", &t), ("a", &u)], &u);
            let init = maker.term(&u);
            ok(build::reduce(Prim::Reduce, f, init, ys))
        }
        "slideTiling" => {
            let ys = arr(maker, &(even + 2.into()), &t);
            ok(build::slide(3.into(), 1.into(), ys))
        }
        "splitSplit" => {
            let ys = arr(maker, &(Size::constant(6) * n), &t);
            ok(build::split(6, ys))
        }
        _ => None,
    }
}

/// Loops inside loops, and sums in another order.
fn nested(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, k, even, t, u, f64, xs } = parts;
    match rule {
        "interchange" => {
            let ys = arr(maker, &k, &f64);
            let f = maker.function(&[("x", &t), ("y", &f64)], &u);
            let inner = functional::Lambda { params: vec![f.params[1].clone()], body: f.body };
            let body = build::map(Prim::Map, inner, ys).unwrap();
            ok(build::map(Prim::Map, functional::Lambda { params: vec![f.params[0].clone()], body }, xs))
        }
        "liftReduce" => {
            let length = maker.size();
            let outer = fun(maker, &t, &array(length, f64.clone()));
            let x = outer.params.clone();
            maker.scope.push(build::var(&x[0]));
            let init = maker.term(&u);
            let f = maker.function(&[("y", &f64), ("a", &u)], &u);
            maker.scope.pop();
            let body = build::reduce(Prim::Reduce, f, init, outer.body).unwrap();
            ok(build::map(Prim::Map, functional::Lambda { params: x, body }, xs))
        }
        "separate" => {
            let f = maker.function(&[("y", &f64), ("a", &f64)], &f64);
            let ys = arr(maker, &k, &f64);
            let outer = fun(maker, &t, &f64);
            let body = build::reduce(Prim::Reduce, f, outer.body, ys).unwrap();
            let body = build::add(body, build::number(Scalar::F64, 1)).unwrap();
            ok(build::map(Prim::Map, functional::Lambda { params: outer.params, body }, xs))
        }
        "useReducePar" => {
            let ys = arr(maker, &n, &I64);
            let f = fun(maker, &I64, &I64);
            let a = maker.supply.binder("a", I64);
            let body = build::add(f.body, build::var(&a)).unwrap();
            let f = functional::Lambda { params: vec![f.params[0].clone(), a], body };
            let init = maker.term(&I64);
            ok(build::reduce(Prim::Reduce, f, init, ys))
        }
        "reduceTree" | "reduceLanes" => {
            let ys = arr(maker, &even, &I64);
            let f = maker.supply.lambda2(("x", I64), ("a", I64), |_, x, a| build::add(x, a)).unwrap();
            let init = maker.term(&I64);
            ok(build::reduce(Prim::Reduce, f, init, ys))
        }
        "reduceJoin" => {
            let plain = |maker: &mut Maker| {
                maker.supply.lambda2(("x", I64), ("a", I64), |_, x, a| build::add(x, a)).unwrap()
            };
            let yss = arr(maker, &n, &array(k.clone(), I64));
            let (outer, inner) = (plain(maker), plain(maker));
            let rows = maker
                .supply
                .lambda1("ys", array(k.clone(), I64), |_, ys| {
                    build::reduce(Prim::Reduce, inner, build::zero(&I64).unwrap(), ys)
                })
                .unwrap();
            let init = maker.term(&I64);
            ok(build::reduce(Prim::Reduce, outer, init, build::map(Prim::Map, rows, yss).unwrap()))
        }
        _ => None,
    }
}

/// Vectors, padded rows and values with names.
fn vectors_and_lets(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, k, even, t, u, f64, xs } = parts;
    match rule {
        "vectorise" => {
            let ys = build::zip(arr(maker, &even, &f64), arr(maker, &even, &f64)).unwrap();
            let scale = maker.term(&f64);
            let pair = DataType::pair(f64.clone(), f64);
            let f = maker
                .supply
                .lambda1("p", pair, |_, p| {
                    build::add(build::mul(build::fst(p.clone())?, scale)?, build::snd(p)?)
                })
                .unwrap();
            ok(build::map(Prim::Map, f, ys))
        }
        "pack" if maker.dice.below(2) == 0 => Some(arr(maker, &even, &array(n, t))),
        "pack" => {
            let rows = arr(maker, &n, &array(k.clone(), t));
            let fill = k.clone() * (n.clone() + 1.into()).div(&k) - n;
            let args = vec![Arg::Size(0.into()), Arg::Size(fill), Arg::Term(rows)];
            ok(build::apply(Prim::PadClamp, args))
        }
        "hoist" | "letFloatLoop" => {
            let value = arr(maker, &n, &f64);
            let value = build::to_mem(value).unwrap();
            let body = if rule == "hoist" {
                value
            } else {
                let v = maker.supply.binder("v", value.ty().clone());
                maker.scope.push(build::var(&v));
                let body = maker.term(&u);
                maker.scope.pop();
                build::let_in(v, value, body).unwrap()
            };
            let f = maker.supply.lambda1("x", t, |_, _| Ok(body)).unwrap();
            ok(build::map(Prim::Map, f, xs))
        }
        _ => None,
    }
}

/// Pairs, numbers and choices.
fn scalars(rule: &str, maker: &mut Maker, parts: Parts) -> Option<Term> {
    let Parts { n, t, u, f64, xs, .. } = parts;
    match rule {
        "pairEta" => {
            let p = maker.term(&DataType::pair(t, f64));
            let again = walk::refresh(&p, &mut maker.supply);
            ok(build::pair(build::fst(p).unwrap(), build::snd(again).unwrap()))
        }
        "mulOne" => ok(build::mul(maker.term(&f64), build::number(Scalar::F64, 1))),
        "addZero" => ok(build::add(build::number(Scalar::I64, 0), maker.term(&I64))),
        "negNeg" => {
            let neg = |x: Term| build::apply(Prim::Neg, vec![Arg::Term(x)]).unwrap();
            Some(neg(neg(maker.term(&f64))))
        }
        "selectConstant" | "mapSelect" => {
            let ys = arr(maker, &n, &t);
            let constant = maker.dice.below(2) as i32;
            let condition = Arg::Term(build::number(Scalar::Bool, constant));
            let chosen = build::apply(Prim::Select, vec![condition, Arg::Term(xs), Arg::Term(ys)]).unwrap();
            if rule == "mapSelect" { Some(map(maker, &u, chosen)) } else { Some(chosen) }
        }
        _ => None,
    }
}

#[test]
fn rules_keep_the_value_of_terms_that_they_fit() {
    let mut used: BTreeMap<&str, usize> = rules().map(|rule| (rule.name, 0)).collect();
    for rule in rules() {
        for seed in 0..24 {
            let mut maker = Maker::new(seed, 12);
            let (mut definition, args) = maker.definition();
            maker.fuel = 12;
            if let Some(body) = redex(rule.name, &mut maker) {
                definition.body = walk::refresh(&body, &mut maker.supply);
            }
            check(&definition).unwrap();
            let sizes = maker.sizes.iter().cloned().collect();
            let mut found = BTreeSet::new();
            every_rule(&definition, &sizes, &args, &mut found);
            for name in found {
                *used.get_mut(name).unwrap() += 1;
            }
        }
    }
    let rare: Vec<_> = used.iter().filter(|(_, count)| **count < 8).collect();
    assert!(rare.is_empty(), "rules that were hardly tested: {rare:?}");
}
