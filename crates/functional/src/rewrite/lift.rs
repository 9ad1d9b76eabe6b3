//! Loop interchange rules.

use super::context::{Context, Rewritten, array, as_map, as_reduce, no, over_parts, param};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Lambda, Term, TermKind};
use crate::walk::{self, Position};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "interchange",
        params: &[],
        family: Family::Interchange,
        statement: "map (\\x -> map (\\y -> e) ys) xs -> transpose (map (\\y -> map (\\x -> e) xs) ys)",
        doc: "The inner loop becomes the outer one. `ys` must not depend on `x`, and must have a value even if `xs` is empty.",
        reassociates: false,
        apply: |cx, _, term| {
            let outer = as_map(term)?;
            let inner = as_map(&outer.f.body).or_else(|_| no("the body of its function is not a map"))?;
            if walk::mentions(inner.xs, &param(outer.f)?.var) {
                return no("the inner array depends on the outer element");
            }
            cx.require_total(inner.xs, "the inner array")?;
            cx.require_total(outer.xs, "the outer array")?;
            let rows = Lambda { params: outer.f.params.clone(), body: inner.f.body.clone() };
            let row = cx.map(outer.prim, rows, outer.xs.clone())?;
            let columns = Lambda { params: inner.f.params.clone(), body: row };
            let swapped = cx.map(inner.prim, columns, inner.xs.clone())?;
            cx.un(Prim::Transpose, swapped)
        },
    },
    Rule {
        name: "liftReduce",
        params: &[],
        family: Family::Interchange,
        statement: "map (\\x -> reduce f init ys) xs -> reduce (\\es acc -> map (\\p -> f (fst p) (snd p)) (zip es acc)) (map (\\x -> init) xs) (transpose (map (\\x -> ys) xs))",
        doc: "One reduction over an array of accumulators instead of many reductions. Each of them keeps its order. If `f` depends on `x`, `x` is zipped in. If `ys` does not depend on `x`, it is not repeated.",
        reassociates: false,
        apply: |cx, _, term| lift_reduce(cx, term),
    },
    Rule {
        name: "separate",
        params: &[],
        family: Family::Interchange,
        statement: "map (\\x -> C[reduce f init ys]) xs -> map (\\q -> C[snd q]) (zip xs (map (\\x -> reduce f init ys) xs))",
        doc: "The first reduction inside the body gets a loop of its own, unless it is in a function there. In `C`, `x` is `fst q`. Then `liftReduce` applies to it.",
        reassociates: false,
        apply: |cx, _, term| {
            let map = as_map(term)?;
            let x = param(map.f)?.clone();
            let Some((position, inner)) = first_reduction(&map.f.body) else {
                return no("there is no reduction inside the body, outside of functions");
            };
            let again = cx.again(map.xs);
            let rows = Lambda { params: map.f.params.clone(), body: inner.clone() };
            let rows = walk::refresh_lambda(&rows, cx.supply);
            let rows = cx.map(map.prim, rows, again)?;
            let r = cx.supply.binder("r", inner.ty().clone());
            let Some(body) = walk::replace(&map.f.body, &position, &build::var(&r)) else {
                return no("the place is gone");
            };
            let zipped = cx.zip(map.xs.clone(), rows)?;
            let elem = array(&zipped)?.1.clone();
            let rest = Lambda { params: vec![x, r], body };
            let f = cx.fun1("q", &elem, |cx, q| {
                let (x, r) = (cx.fst(&q)?, cx.snd(&q)?);
                cx.call(&rest, &[x, r])
            })?;
            cx.map(map.prim, f, zipped)
        },
    },
];

/// The first reduction below the root that is in no function and under no `let`.
fn first_reduction(body: &Term) -> Option<(Position, Term)> {
    let mut todo = vec![(body, Position::root())];
    while let Some((term, position)) = todo.pop() {
        if as_reduce(term).is_ok() && !position.0.is_empty() {
            return Some((position, term.clone()));
        }
        if let TermKind::Prim(prim, args) = term.kind() {
            // What is evaluated only where it is needed stays there.
            let lazy = matches!(prim, Prim::Select | Prim::And | Prim::Or);
            let terms = (0..).zip(args).filter_map(|(k, arg)| match arg {
                Arg::Term(t) if !lazy || k == 0 => Some((t, position.child(k))),
                _ => None,
            });
            let terms: Vec<_> = terms.collect();
            todo.extend(terms.into_iter().rev());
        }
    }
    None
}

fn lift_reduce(cx: &mut Context<'_>, term: &Term) -> Rewritten {
    let map = as_map(term)?;
    let reduce = as_reduce(&map.f.body).or_else(|_| no("the body of its function is not a reduction"))?;
    let x = param(map.f)?.clone();
    let depends = |t: &Term| walk::mentions(t, &x.var);
    let (f_depends, ys_depend) = (depends(&reduce.f.body), depends(reduce.xs));
    if !ys_depend {
        cx.require_total(reduce.xs, "the array that is reduced")?;
    }
    // One map for each part that depends on x, each with its own copy of `xs`.
    let starts = Lambda { params: map.f.params.clone(), body: reduce.init.clone() };
    let starts = cx.map(map.prim, starts, map.xs.clone())?;
    let xs = cx.again(map.xs);
    let elements = if ys_depend {
        let rows = Lambda { params: map.f.params.clone(), body: reduce.xs.clone() };
        let rows = walk::refresh_lambda(&rows, cx.supply);
        let rows = cx.map(Prim::Map, rows, xs)?;
        cx.un(Prim::Transpose, rows)?
    } else {
        reduce.xs.clone()
    };
    // Inside the loop `xs` is used as it stands: it does not depend on the loop.
    let again = f_depends.then(|| cx.again(map.xs));
    let (e, a) = (&reduce.f.params[0], &reduce.f.params[1]);
    let row = array(&elements)?.1.clone();
    let f = cx.fun2((&e.var.name, &row), (&a.var.name, starts.ty()), |cx, es, accs| {
        let mut zipped = if ys_depend { cx.zip(es.clone(), accs)? } else { accs };
        if let Some(xs) = again {
            zipped = cx.zip(xs, zipped)?;
        }
        let elem = array(&zipped)?.1.clone();
        let body = cx.fun1("p", &elem, |cx, p| {
            let (x_value, rest) = if f_depends { (Some(cx.fst(&p)?), cx.snd(&p)?) } else { (None, p) };
            let (e_value, a_value) =
                if ys_depend { (cx.fst(&rest)?, cx.snd(&rest)?) } else { (es.clone(), rest) };
            let mut params = reduce.f.params.clone();
            let mut args = vec![e_value, a_value];
            if let Some(value) = x_value {
                params.push(x.clone());
                args.push(value);
            }
            cx.call(&Lambda { params, body: reduce.f.body.clone() }, &args)
        })?;
        cx.map(map.prim, body, zipped)
    })?;
    cx.reduce(over_parts(reduce.prim), f, starts, elements)
}
