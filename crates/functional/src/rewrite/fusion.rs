//! Fusion and fission rules: they join passes over data, or split them.

use super::context::{Context, Rewritten, array, as_map, binary, is_reduce, no, param, unary};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Lambda, Term, TermKind};
use crate::walk;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "mapFusion",
        params: &[],
        family: Family::Fusion,
        statement: "map f (map g xs) -> map (\\x -> f (g x)) xs",
        doc: "One pass instead of two, with the strategy of the outer map.",
        reassociates: false,
        apply: |cx, _, term| {
            let outer = as_map(term)?;
            let inner = as_map(outer.xs).or_else(|_| no("its array is not a map"))?;
            let f = compose(cx, outer.f, inner.f)?;
            cx.map(outer.prim, f, inner.xs.clone())
        },
    },
    Rule {
        name: "mapFission",
        params: &[],
        family: Family::Fusion,
        statement: "map (\\x -> p (e x)) xs -> map (\\y -> p y) (map (\\x -> e x) xs)",
        doc: "Two passes instead of one. `p` is a primitive. Exactly one argument depends on `x`, and it is not just `x`.",
        reassociates: false,
        apply: |cx, _, term| fission(cx, term),
    },
    Rule {
        name: "reduceMapFusion",
        params: &[],
        family: Family::Fusion,
        statement: "reduce f init (map g xs) -> reduce (\\x a -> f (g x) a) init xs",
        doc: "The elements are computed where they are consumed. Also for `scanSeq`.",
        reassociates: false,
        apply: |cx, _, term| {
            let (prim, f, init, xs) = consumer(term)?;
            let inner = as_map(xs).or_else(|_| no("its array is not a map"))?;
            let acc = f.params[1].clone();
            let fused = cx.fun2(
                (&param(inner.f)?.var.name, &param(inner.f)?.ty),
                (&acc.var.name, &acc.ty),
                |cx, x, a| {
                    let y = cx.call(inner.f, &[x])?;
                    cx.call(f, &[y, a])
                },
            )?;
            cx.reduce(prim, fused, init.clone(), inner.xs.clone())
        },
    },
    Rule {
        name: "mapGenerate",
        params: &[],
        family: Family::Fusion,
        statement: "map f (generate n g) -> generate n (\\i -> f (g i))",
        doc: "The result is a view: nothing is stored.",
        reassociates: false,
        apply: |cx, _, term| {
            let map = as_map(term)?;
            let args = super::context::args_of(map.xs, Prim::Generate)?;
            let [Arg::Size(n), Arg::Fun(g)] = args else { return no("`generate` is malformed") };
            let f = compose(cx, map.f, g)?;
            cx.ap(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)])
        },
    },
    Rule {
        name: "zipMap",
        params: &[],
        family: Family::Fusion,
        statement: "zip (map f xs) (map g ys) -> map (\\p -> (f (fst p), g (snd p))) (zip xs ys)",
        doc: "Either side may also be any array. Its elements are then unchanged. The strategy is that of the map on the left, or else of the map on the right.",
        reassociates: false,
        apply: |cx, _, term| {
            let (xs, ys) = binary(term, Prim::Zip)?;
            let (left, right) = (as_map(xs).ok(), as_map(ys).ok());
            let prim = match (&left, &right) {
                (Some(map), _) | (None, Some(map)) => map.prim,
                (None, None) => return no("neither side is a map"),
            };
            let from = |map: &Option<super::context::Map<'_>>, all: &Term| {
                map.as_ref().map_or_else(|| all.clone(), |map| map.xs.clone())
            };
            let zipped = cx.zip(from(&left, xs), from(&right, ys))?;
            let elem = array(&zipped)?.1.clone();
            let f = cx.fun1("p", &elem, |cx, p| {
                let (mut a, mut b) = (cx.fst(&p)?, cx.snd(&p)?);
                if let Some(map) = &left {
                    a = cx.call(map.f, &[a])?;
                }
                if let Some(map) = &right {
                    b = cx.call(map.f, &[b])?;
                }
                cx.pair(a, b)
            })?;
            cx.map(prim, f, zipped)
        },
    },
    Rule {
        name: "mapIdentity",
        params: &[],
        family: Family::Fusion,
        statement: "map (\\x -> x) xs -> xs",
        doc: "Also where the body rebuilds a pair: `(fst x, snd x)`.",
        reassociates: false,
        apply: |_, _, term| {
            let map = as_map(term)?;
            if is_identity(map.f) { Ok(map.xs.clone()) } else { no("its function is not the identity") }
        },
    },
    Rule {
        name: "identityMap",
        params: &[],
        family: Family::Fusion,
        statement: "xs -> map (\\x -> x) xs",
        doc: "A copy whose strategy can be chosen.",
        reassociates: false,
        apply: |cx, _, term| {
            let elem = array(term)?.1.clone();
            let f = cx.fun1("x", &elem, |_, x| Ok(x))?;
            cx.map(Prim::Map, f, term.clone())
        },
    },
];

/// `\x -> f (g x)`.
fn compose(cx: &mut Context<'_>, f: &Lambda, g: &Lambda) -> Result<Lambda, super::Refusal> {
    let x = param(g)?;
    cx.fun1(&x.var.name, &x.ty, |cx, x| {
        let y = cx.call(g, &[x])?;
        cx.call(f, &[y])
    })
}

/// A reduction or a scan.
fn consumer(term: &Term) -> Result<(Prim, &Lambda, &Term, &Term), super::Refusal> {
    match term.kind() {
        TermKind::Prim(prim, args) if is_reduce(*prim) || *prim == Prim::ScanSeq => match args.as_slice() {
            [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)] => Ok((*prim, f, init, xs)),
            _ => no("the reduction is malformed"),
        },
        _ => no("it is neither a reduction nor a scan"),
    }
}

fn is_identity(f: &Lambda) -> bool {
    let [x] = f.params.as_slice() else { return false };
    let is_x = |t: &Term| matches!(t.kind(), TermKind::Var(v) if *v == x.var);
    let component = |t: &Term, prim| unary(t, prim).is_ok_and(is_x);
    is_x(&f.body)
        || binary(&f.body, Prim::Pair).is_ok_and(|(a, b)| component(a, Prim::Fst) && component(b, Prim::Snd))
}

fn fission(cx: &mut Context<'_>, term: &Term) -> Rewritten {
    let map = as_map(term)?;
    let x = param(map.f)?;
    let TermKind::Prim(prim, args) = map.f.body.kind() else {
        return no("the body of its function is not a primitive");
    };
    if args.iter().any(|arg| matches!(arg, Arg::Fun(f) if walk::mentions(&f.body, &x.var))) {
        return no("a function in its body depends on the element");
    }
    let dependent: Vec<(usize, &Term)> = (0..)
        .zip(args)
        .filter_map(|(k, arg)| match arg {
            Arg::Term(t) if walk::mentions(t, &x.var) => Some((k, t)),
            _ => None,
        })
        .collect();
    let (k, inner) = match dependent.as_slice() {
        [] => return no("its body does not depend on the element"),
        [one] => *one,
        _ => return no("more than one argument in its body depends on the element"),
    };
    if matches!(inner.kind(), TermKind::Var(_)) {
        return no("its body is one primitive of the element");
    }
    let first =
        cx.map(map.prim, Lambda { params: map.f.params.clone(), body: inner.clone() }, map.xs.clone())?;
    let body_type = map.f.body.ty().clone();
    let second = cx.fun1("y", inner.ty(), |cx, y| {
        let mut args = args.clone();
        args[k] = Arg::Term(y);
        Ok(build::apply_with(*prim, args, Some(&body_type), cx.facts)?)
    })?;
    cx.map(map.prim, second, first)
}
