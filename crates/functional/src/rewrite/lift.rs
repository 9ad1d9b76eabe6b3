//! Loops of a nest change places.

use super::context::{Context, Rewritten, array, as_map, as_reduce, no, param};
use super::{Family, Rule};
use crate::prim::Prim;
use crate::term::{Lambda, Term};
use crate::walk;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "interchange",
        params: &[],
        family: Family::Interchange,
        statement: "map (\\x -> map (\\y -> e) ys) xs -> transpose (map (\\y -> map (\\x -> e) xs) ys)",
        doc: "The inner loop becomes the outer one; `ys` must not depend on `x`, and must have a value even where `xs` is empty.",
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
        doc: "One reduction over an array of accumulators instead of many reductions. The order of each of them stays. Where `f` depends on `x`, `x` is zipped in; where `ys` does not depend on `x`, it is not repeated.",
        reassociates: false,
        apply: |cx, _, term| lift_reduce(cx, term),
    },
];

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
    cx.reduce(reduce.prim, f, starts, elements)
}
