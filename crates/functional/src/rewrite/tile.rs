//! Tiling rules: one loop becomes a nest of two. If the length is not a multiple of the block, it
//! is padded, or there is a remainder loop.

use loops::Size;

use super::context::{Context, Rewritten, array, as_map, as_reduce, no, over_parts, sized};
use super::{Family, Rule};
use crate::prim::Prim;
use crate::term::{Arg, Term};
use crate::walk;

const fn tiling(
    name: &'static str,
    params: &'static [&'static str],
    statement: &'static str,
    doc: &'static str,
    apply: fn(&mut Context<'_>, &[Size], &Term) -> Rewritten,
) -> Rule {
    Rule { name, params, family: Family::Tiling, statement, doc, reassociates: false, apply }
}

pub(super) const RULES: &[Rule] = &[
    tiling(
        "splitJoin",
        &["k"],
        "map f xs -> join (map (\\ys -> map f ys) (split k xs))",
        "It must be known that the length is a multiple of `k`.",
        |cx, args, term| split_join(cx, &args[0], term),
    ),
    tiling(
        "splitJoinRest",
        &["k"],
        "map f xs -> concat (join (map (\\ys -> map f ys) (split k (take q xs)))) (map f (drop q xs)), q = k * (n / k)",
        "For any length: full blocks, and the remaining elements.",
        |cx, args, term| {
            let map = as_map(term)?;
            let q = full_blocks(array(map.xs)?.0, &args[0]);
            let again = walk::refresh_lambda(map.f, cx.supply);
            let xs = cx.again(map.xs);
            let head = cx.sz(Prim::Take, &q, map.xs.clone())?;
            let head = cx.map(map.prim, map.f.clone(), head)?;
            let head = split_join(cx, &args[0], &head)?;
            let rest = cx.sz(Prim::Drop, &q, xs)?;
            let rest = cx.map(map.prim, again, rest)?;
            cx.bin(Prim::Concat, head, rest)
        },
    ),
    tiling(
        "padMap",
        &["k"],
        "map f xs -> take n (map f (padClamp 0 (p - n) xs)), p = k * ((n + k - 1) / k)",
        "Makes the length a multiple of `k` by repeating the last element. So `splitJoin` applies to any length. `k` is a constant.",
        |cx, args, term| {
            let map = as_map(term)?;
            let n = array(map.xs)?.0;
            let Some(k) = args[0].as_constant() else { return no("the block is not a constant") };
            let whole = args[0].clone() * (n.clone() + Size::constant(k - 1)).div(&args[0]);
            if cx.facts.equal(&whole, n) {
                return no(format!("the length {n} is a multiple of {k}"));
            }
            let padding = whole - n.clone();
            if !cx.facts.natural(&padding) {
                return no(format!("{padding} is not shown to be a natural number"));
            }
            let padded = cx.ap(
                Prim::PadClamp,
                vec![Arg::Size(0.into()), Arg::Size(padding), Arg::Term(map.xs.clone())],
            )?;
            let mapped = cx.map(map.prim, map.f.clone(), padded)?;
            cx.sz(Prim::Take, n, mapped)
        },
    ),
    tiling(
        "reduceSplit",
        &["k"],
        "reduce f init xs -> reduce (\\ys a -> reduce f a ys) init (split k xs)",
        "The same additions in the same order, in blocks. It must be known that the length is a multiple of `k`.",
        |cx, args, term| reduce_split(cx, &args[0], term),
    ),
    tiling(
        "reduceSplitRest",
        &["k"],
        "reduce f init xs -> reduce f (reduce (\\ys a -> reduce f a ys) init (split k (take q xs))) (drop q xs), q = k * (n / k)",
        "For any length: full blocks first, then the remaining elements. The order of additions stays.",
        |cx, args, term| {
            let reduce = as_reduce(term)?;
            let q = full_blocks(array(reduce.xs)?.0, &args[0]);
            let again = walk::refresh_lambda(reduce.f, cx.supply);
            let xs = cx.again(reduce.xs);
            let head = cx.sz(Prim::Take, &q, reduce.xs.clone())?;
            let head = cx.reduce(reduce.prim, reduce.f.clone(), reduce.init.clone(), head)?;
            let head = reduce_split(cx, &args[0], &head)?;
            let rest = cx.sz(Prim::Drop, &q, xs)?;
            cx.reduce(reduce.prim, again, head, rest)
        },
    ),
    tiling(
        "reduceCut",
        &["k"],
        "reduce f init xs -> reduce f (reduce f init (take q xs)) (drop q xs), q = k * (n / k)",
        "For any length: first the part that full blocks of `k` cover, then the rest. The order of additions stays.",
        |cx, args, term| {
            let reduce = as_reduce(term)?;
            let q = full_blocks(array(reduce.xs)?.0, &args[0]);
            let again = walk::refresh_lambda(reduce.f, cx.supply);
            let xs = cx.again(reduce.xs);
            let head = cx.sz(Prim::Take, &q, reduce.xs.clone())?;
            let head = cx.reduce(reduce.prim, reduce.f.clone(), reduce.init.clone(), head)?;
            let rest = cx.sz(Prim::Drop, &q, xs)?;
            cx.reduce(reduce.prim, again, head, rest)
        },
    ),
    tiling(
        "slideTiling",
        &["k"],
        "slide w 1 xs -> join (map (\\ys -> slide w 1 ys) (slide (k + w - 1) k xs))",
        "Overlapping blocks, so that a stencil can be tiled. It must be known that the number of windows is a multiple of `k`.",
        |cx, args, term| {
            let k = &args[0];
            let slide = super::context::args_of(term, Prim::Slide)?;
            let [Arg::Size(w), Arg::Size(s), Arg::Term(xs)] = slide else {
                return no("`slide` is malformed");
            };
            if *s != Size::constant(1) {
                return no(format!("its windows are {s} apart, not 1"));
            }
            let windows = array(term)?.0.clone();
            let Some(blocks) = windows.exact_div(k) else {
                return no(format!("the number of windows {windows} is not shown to be a multiple of {k}"));
            };
            // Without windows, the number of blocks that the outer `slide` makes is 0 only if the
            // length says so.
            if !cx.facts.at_most(&Size::constant(1), k) {
                return no(format!("{k} is not shown to be positive"));
            }
            let width = k.clone() + w.clone() - Size::constant(1);
            let outer =
                cx.ap(Prim::Slide, vec![Arg::Size(width), Arg::Size(k.clone()), Arg::Term(xs.clone())])?;
            if !cx.facts.equal(array(&outer)?.0, &blocks) {
                return no(format!("{} and {blocks} blocks may differ", array(&outer)?.0));
            }
            let block = array(&outer)?.1.clone();
            let f = cx.fun1("ys", &block, |cx, ys| {
                cx.ap(Prim::Slide, vec![Arg::Size(w.clone()), Arg::Size(1.into()), Arg::Term(ys)])
            })?;
            let mapped = cx.map(Prim::Map, f, outer)?;
            cx.un(Prim::Join, mapped)
        },
    ),
    tiling(
        "splitSplit",
        &["k"],
        "split (k * j) xs -> map (\\b -> join b) (split j (split k xs))",
        "Blocks of blocks.",
        |cx, args, term| {
            let (whole, xs) = sized(term, Prim::Split)?;
            let k = &args[0];
            let Some(j) = whole.exact_div(k) else { return no(format!("{whole} is no multiple of {k}")) };
            let small = cx.sz(Prim::Split, k, xs.clone())?;
            let blocks = cx.sz(Prim::Split, &j, small)?;
            let block = array(&blocks)?.1.clone();
            let f = cx.fun1("b", &block, |cx, b| cx.un(Prim::Join, b))?;
            cx.map(Prim::Map, f, blocks)
        },
    ),
];

/// How many elements full blocks of `k` hold.
fn full_blocks(n: &Size, k: &Size) -> Size {
    k.clone() * n.div(k)
}

fn split_join(cx: &mut Context<'_>, k: &Size, term: &Term) -> Rewritten {
    let map = as_map(term)?;
    let blocks = cx.sz(Prim::Split, k, map.xs.clone())?;
    let block = array(&blocks)?.1.clone();
    let f = cx.fun1("ys", &block, |cx, ys| cx.map(map.prim, map.f.clone(), ys))?;
    let mapped = cx.map(map.prim, f, blocks)?;
    cx.un(Prim::Join, mapped)
}

fn reduce_split(cx: &mut Context<'_>, k: &Size, term: &Term) -> Rewritten {
    let reduce = as_reduce(term)?;
    let blocks = cx.sz(Prim::Split, k, reduce.xs.clone())?;
    let block = array(&blocks)?.1.clone();
    let acc = reduce.f.params[1].clone();
    let f = cx.fun2(("ys", &block), (&acc.var.name, &acc.ty), |cx, ys, a| {
        cx.reduce(reduce.prim, reduce.f.clone(), a, ys)
    })?;
    cx.reduce(over_parts(reduce.prim), f, reduce.init.clone(), blocks)
}
