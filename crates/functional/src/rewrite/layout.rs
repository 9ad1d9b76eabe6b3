//! Rules on views: views cancel, and they move past patterns and each other.

use super::context::{Context, Map, Rewritten, args_of, array, as_map, binary, no, param, sized, unary};
use super::{Family, Refusal, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Lambda, Term};
use crate::walk;

const fn law(
    name: &'static str,
    statement: &'static str,
    doc: &'static str,
    apply: fn(&mut Context<'_>, &[loops::Size], &Term) -> Rewritten,
) -> Rule {
    Rule { name, params: &[], family: Family::Layout, statement, doc, reassociates: false, apply }
}

pub(super) const RULES: &[Rule] = &[
    law("joinSplit", "join (split k xs) -> xs", "", |_, _, term| {
        Ok(sized(unary(term, Prim::Join)?, Prim::Split)?.1.clone())
    }),
    law(
        "splitJoinId",
        "split k (join xss) -> xss",
        "If the rows of `xss` have length `k`.",
        |cx, _, term| {
            let (k, xs) = sized(term, Prim::Split)?;
            let rows = unary(xs, Prim::Join)?;
            let (width, _) = match array(rows)?.1 {
                crate::types::DataType::Array(n, t) => (n, t),
                _ => return no("it does not join rows"),
            };
            if cx.facts.equal(width, k) {
                Ok(rows.clone())
            } else {
                no(format!("the rows are {width} long, not {k}"))
            }
        },
    ),
    law("transposeTranspose", "transpose (transpose xss) -> xss", "", |_, _, term| {
        Ok(unary(unary(term, Prim::Transpose)?, Prim::Transpose)?.clone())
    }),
    law(
        "transposeMapMap",
        "transpose (map (\\xs -> map f xs) xss) -> map (\\xs -> map f xs) (transpose xss)",
        "`f` must not depend on the row.",
        |cx, _, term| {
            let outer = as_map(unary(term, Prim::Transpose)?)?;
            let inner = row_map(&outer)?;
            let columns = cx.un(Prim::Transpose, outer.xs.clone())?;
            map_rows(cx, &outer, &inner, columns)
        },
    ),
    law(
        "mapMapTranspose",
        "map (\\xs -> map f xs) (transpose xss) -> transpose (map (\\xs -> map f xs) xss)",
        "The other way round.",
        |cx, _, term| {
            let outer = as_map(term)?;
            let inner = row_map(&outer)?;
            let rows = unary(outer.xs, Prim::Transpose)?;
            let mapped = map_rows(cx, &outer, &inner, rows.clone())?;
            cx.un(Prim::Transpose, mapped)
        },
    ),
    law(
        "transposeMapZip",
        "transpose (map (\\x -> zip a b) xs) -> map (\\p -> zip (fst p) (snd p)) (zip (transpose (map (\\x -> a) xs)) (transpose (map (\\x -> b) xs)))",
        "Separates two operands. An operand that does not depend on `x` is not repeated. It is paired with each element of the other.",
        |cx, _, term| {
            let outer = as_map(unary(term, Prim::Transpose)?)?;
            let (a, b) = binary(&outer.f.body, Prim::Zip).or_else(|_| no("its rows are not zips"))?;
            let x = &param(outer.f)?.var;
            let side = |cx: &mut Context<'_>, side: &Term, fresh: bool| {
                let f = Lambda { params: outer.f.params.clone(), body: side.clone() };
                let f = if fresh { walk::refresh_lambda(&f, cx.supply) } else { f };
                let xs = if fresh { cx.again(outer.xs) } else { outer.xs.clone() };
                let rows = cx.map(outer.prim, f, xs)?;
                cx.un(Prim::Transpose, rows)
            };
            let (zipped, both) = match (walk::mentions(a, x), walk::mentions(b, x)) {
                (false, false) => return no("neither operand depends on the row"),
                (true, true) => {
                    let (left, right) = (side(cx, a, false)?, side(cx, b, true)?);
                    (cx.zip(left, right)?, (true, true))
                }
                (true, false) => {
                    cx.require_total(b, "the operand that does not depend on the row")?;
                    let left = side(cx, a, false)?;
                    (cx.zip(left, b.clone())?, (true, false))
                }
                (false, true) => {
                    cx.require_total(a, "the operand that does not depend on the row")?;
                    let right = side(cx, b, false)?;
                    (cx.zip(a.clone(), right)?, (false, true))
                }
            };
            let pair = array(&zipped)?.1.clone();
            let f = cx.fun1("p", &pair, |cx, p| {
                let (left, right) = (cx.fst(&p)?, cx.snd(&p)?);
                match both {
                    (true, true) => cx.zip(left, right),
                    (true, false) => {
                        let elem = array(&left)?.1.clone();
                        let f = cx.fun1("a", &elem, |cx, a| cx.pair(a, right))?;
                        cx.map(outer.prim, f, left)
                    }
                    _ => {
                        let elem = array(&right)?.1.clone();
                        let f = cx.fun1("b", &elem, |cx, b| cx.pair(left, b))?;
                        cx.map(outer.prim, f, right)
                    }
                }
            })?;
            cx.map(outer.prim, f, zipped)
        },
    ),
    law("reverseReverse", "reverse (reverse xs) -> xs", "", |_, _, term| {
        Ok(unary(unary(term, Prim::Reverse)?, Prim::Reverse)?.clone())
    }),
    law("mapReverse", "map f (reverse xs) -> reverse (map f xs)", "", |cx, _, term| {
        let map = as_map(term)?;
        let xs = unary(map.xs, Prim::Reverse)?;
        let mapped = cx.map(map.prim, map.f.clone(), xs.clone())?;
        cx.un(Prim::Reverse, mapped)
    }),
    law("copyId", "copy xs -> xs", "", |_, _, term| Ok(unary(term, Prim::Copy)?.clone())),
    law("takeAll", "take n xs -> xs", "If `xs` has `n` elements.", |cx, _, term| {
        let (k, xs) = sized(term, Prim::Take)?;
        let n = array(xs)?.0;
        if cx.facts.equal(k, n) { Ok(xs.clone()) } else { no(format!("{k} and the length {n} may differ")) }
    }),
    law("dropNone", "drop 0 xs -> xs", "", |cx, _, term| {
        let (k, xs) = sized(term, Prim::Drop)?;
        if cx.facts.equal(k, &0.into()) { Ok(xs.clone()) } else { no(format!("{k} may not be 0")) }
    }),
    law("takeMap", "take k (map f xs) -> map f (take k xs)", "", |cx, _, term| cut_map(cx, term, Prim::Take)),
    law("dropMap", "drop k (map f xs) -> map f (drop k xs)", "", |cx, _, term| cut_map(cx, term, Prim::Drop)),
    law("takeZip", "take k (zip xs ys) -> zip (take k xs) (take k ys)", "", |cx, _, term| {
        let (k, zipped) = sized(term, Prim::Take)?;
        let (xs, ys) = binary(zipped, Prim::Zip)?;
        let (xs, ys) = (cx.sz(Prim::Take, k, xs.clone())?, cx.sz(Prim::Take, k, ys.clone())?);
        cx.zip(xs, ys)
    }),
    law("dropZip", "drop k (zip xs ys) -> zip (drop k xs) (drop k ys)", "", |cx, _, term| {
        let (k, zipped) = sized(term, Prim::Drop)?;
        let (xs, ys) = binary(zipped, Prim::Zip)?;
        let (xs, ys) = (cx.sz(Prim::Drop, k, xs.clone())?, cx.sz(Prim::Drop, k, ys.clone())?);
        cx.zip(xs, ys)
    }),
    law(
        "splitZip",
        "split k (zip xs ys) -> map (\\p -> zip (fst p) (snd p)) (zip (split k xs) (split k ys))",
        "",
        |cx, _, term| {
            let (k, zipped) = sized(term, Prim::Split)?;
            let (xs, ys) = binary(zipped, Prim::Zip)?;
            let blocks = match term.ty() {
                crate::types::DataType::Array(m, _) => m.clone(),
                _ => return no("it is not an array"),
            };
            let split = |cx: &Context<'_>, xs: &Term| {
                let elem = array(xs)?.1.clone();
                let rows = crate::types::DataType::array(k.clone(), elem);
                let ty = crate::types::DataType::array(blocks.clone(), rows);
                let args = vec![Arg::Size(k.clone()), Arg::Term(xs.clone())];
                Ok::<_, Refusal>(build::apply_with(Prim::Split, args, Some(&ty), cx.facts)?)
            };
            let zipped = cx.zip(split(cx, xs)?, split(cx, ys)?)?;
            let pair = array(&zipped)?.1.clone();
            let f = cx.fun1("p", &pair, |cx, p| {
                let (a, b) = (cx.fst(&p)?, cx.snd(&p)?);
                cx.zip(a, b)
            })?;
            cx.map(Prim::Map, f, zipped)
        },
    ),
    law("splitMap", "split k (map f xs) -> map (\\ys -> map f ys) (split k xs)", "", |cx, _, term| {
        let (k, xs) = sized(term, Prim::Split)?;
        let map = as_map(xs)?;
        let blocks = cx.sz(Prim::Split, k, map.xs.clone())?;
        let block = array(&blocks)?.1.clone();
        let f = cx.fun1("ys", &block, |cx, ys| cx.map(map.prim, map.f.clone(), ys))?;
        cx.map(map.prim, f, blocks)
    }),
    law(
        "slideMap",
        "slide w s (map f xs) -> map (\\ys -> map f ys) (slide w s xs)",
        "Each window computes its elements, so those that several windows have are computed several times.",
        |cx, _, term| {
            let args = args_of(term, Prim::Slide)?;
            let [Arg::Size(w), Arg::Size(s), Arg::Term(xs)] = args else { return no("`slide` is malformed") };
            let map = as_map(xs)?;
            let args = vec![Arg::Size(w.clone()), Arg::Size(s.clone()), Arg::Term(map.xs.clone())];
            let windows = cx.ap(Prim::Slide, args)?;
            let window = array(&windows)?.1.clone();
            let f = cx.fun1("ys", &window, |cx, ys| cx.map(map.prim, map.f.clone(), ys))?;
            cx.map(map.prim, f, windows)
        },
    ),
    law(
        "joinMapMap",
        "join (map (\\xs -> map f xs) xss) -> map f (join xss)",
        "`f` must not depend on the row. Undoes `splitJoin`.",
        |cx, _, term| {
            let outer = as_map(unary(term, Prim::Join)?)?;
            let inner = row_map(&outer)?;
            let joined = cx.un(Prim::Join, outer.xs.clone())?;
            cx.map(outer.prim, inner.f.clone(), joined)
        },
    ),
    law("mapConcat", "map f (concat xs ys) -> concat (map f xs) (map f ys)", "", |cx, _, term| {
        let map = as_map(term)?;
        let (xs, ys) = binary(map.xs, Prim::Concat)?;
        let again = walk::refresh_lambda(map.f, cx.supply);
        let left = cx.map(map.prim, map.f.clone(), xs.clone())?;
        let right = cx.map(map.prim, again, ys.clone())?;
        cx.bin(Prim::Concat, left, right)
    }),
    law("unzipZip", "unzip (zip xs ys) -> (xs, ys)", "", |cx, _, term| {
        let (xs, ys) = binary(unary(term, Prim::Unzip)?, Prim::Zip)?;
        cx.pair(xs.clone(), ys.clone())
    }),
    law("zipUnzip", "zip (fst (unzip ps)) (snd (unzip ps)) -> ps", "", |_, _, term| {
        let (xs, ys) = binary(term, Prim::Zip)?;
        let left = unary(unary(xs, Prim::Fst)?, Prim::Unzip)?;
        let right = unary(unary(ys, Prim::Snd)?, Prim::Unzip)?;
        if walk::alpha_equal(left, right) {
            Ok(left.clone())
        } else {
            no("the two sides come from different arrays")
        }
    }),
    law(
        "mapUnzip",
        "unzip (map (\\x -> (a, b)) xs) -> (map (\\x -> a) xs, map (\\x -> b) xs)",
        "Two passes. Each makes one half.",
        |cx, _, term| {
            let map = as_map(unary(term, Prim::Unzip)?)?;
            let (a, b) =
                binary(&map.f.body, Prim::Pair).or_else(|_| no("its function does not write out a pair"))?;
            let first = Lambda { params: map.f.params.clone(), body: a.clone() };
            let second = Lambda { params: map.f.params.clone(), body: b.clone() };
            let second = walk::refresh_lambda(&second, cx.supply);
            let xs = cx.again(map.xs);
            let (a, b) = (cx.map(map.prim, first, map.xs.clone())?, cx.map(map.prim, second, xs)?);
            cx.pair(a, b)
        },
    ),
    law("vectorScalar", "asVector k (asScalar vs) -> vs", "If the vectors have `k` lanes.", |cx, _, term| {
        let (_, xs) = sized(term, Prim::AsVector)?;
        let vs = unary(xs, Prim::AsScalar)?;
        if cx.facts.same_type(vs.ty(), term.ty()) {
            Ok(vs.clone())
        } else {
            no("the vectors have other lanes")
        }
    }),
    law("scalarVector", "asScalar (asVector k xs) -> xs", "", |_, _, term| {
        Ok(sized(unary(term, Prim::AsScalar)?, Prim::AsVector)?.1.clone())
    }),
    law("reorderIdentity", "reorder (\\i -> i) xs -> xs", "", |_, _, term| {
        match args_of(term, Prim::Reorder)? {
            [Arg::Fun(f), Arg::Term(xs)] => match f.body.kind() {
                crate::term::TermKind::Var(v) if *v == param(f)?.var => Ok(xs.clone()),
                _ => no("its function is not the identity"),
            },
            _ => no("`reorder` is malformed"),
        }
    }),
];

/// The map over each row, whose function does not depend on the row.
fn row_map<'t>(outer: &Map<'t>) -> Result<Map<'t>, Refusal> {
    let x = &param(outer.f)?.var;
    let inner = as_map(&outer.f.body).or_else(|_| no("its function is not a map"))?;
    match inner.xs.kind() {
        crate::term::TermKind::Var(v) if v == x && !walk::mentions(&inner.f.body, x) => Ok(inner),
        _ => no("its function is not a map over the row by a function that does not depend on it"),
    }
}

/// `map (\xs -> map f xs) rows`.
fn map_rows(cx: &mut Context<'_>, outer: &Map<'_>, inner: &Map<'_>, rows: Term) -> Rewritten {
    let row = array(&rows)?.1.clone();
    let f = cx.fun1("xs", &row, |cx, xs| cx.map(inner.prim, inner.f.clone(), xs))?;
    cx.map(outer.prim, f, rows)
}

fn cut_map(cx: &mut Context<'_>, term: &Term, prim: Prim) -> Rewritten {
    let (k, xs) = sized(term, prim)?;
    let map = as_map(xs)?;
    let cut = cx.sz(prim, k, map.xs.clone())?;
    cx.map(map.prim, map.f.clone(), cut)
}
