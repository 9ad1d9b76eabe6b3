//! Simplification rules: names, pairs, indexing and constants.

use loops::Scalar;

use super::context::{Context, Rewritten, args_of, array, as_map, binary, is_cheap, no, param, unary};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Lambda, Literal, Term, TermKind};
use crate::types::DataType;
use crate::walk;

const fn simpler(
    name: &'static str,
    statement: &'static str,
    doc: &'static str,
    apply: fn(&mut Context<'_>, &[loops::Size], &Term) -> Rewritten,
) -> Rule {
    Rule { name, params: &[], family: Family::Simplify, statement, doc, reassociates: false, apply }
}

pub(super) const RULES: &[Rule] = &[
    simpler(
        "letInline",
        "let v = e in b -> b[v := e]",
        "If `e` is a view or a constant, or is used at most once and not in a loop. Temporaries (`toMem`) stay.",
        |cx, _, term| {
            let TermKind::Let(binder, value, body) = term.kind() else { return no("it is not a `let`") };
            if matches!(value.kind(), TermKind::Prim(Prim::ToMem, _)) {
                return no("its value is a temporary");
            }
            let once =
                walk::occurrences(body, &binder.var) <= 1 && !walk::used_in_function(body, &binder.var);
            if !once && !is_cheap(value) {
                return no("its value would be computed more than once");
            }
            Ok(walk::replace_var(body, &binder.var, value, cx.supply))
        },
    ),
    simpler("letDead", "let v = e in b -> b", "If `b` does not use `v`.", |_, _, term| {
        let TermKind::Let(binder, _, body) = term.kind() else { return no("it is not a `let`") };
        if walk::mentions(body, &binder.var) { no("the name is used") } else { Ok(body.clone()) }
    }),
    simpler(
        "letFloat",
        "p (let v = e in b) -> let v = e in p b",
        "Moves the first `let` among the arguments of a primitive out of it.",
        |cx, _, term| {
            let TermKind::Prim(prim, args) = term.kind() else { return no("it is not a primitive") };
            let mut args = args.clone();
            // The sides of `select`, and the right of `&&` and `||`, are evaluated only where they
            // are needed.
            let lazy = |k: usize| match prim {
                Prim::Select => k > 0,
                Prim::And | Prim::Or => k > 0,
                _ => false,
            };
            let found = args.iter().zip(0usize..).find_map(|(arg, k)| match arg {
                Arg::Term(t) => match t.kind() {
                    TermKind::Let(b, v, body) if !lazy(k) || cx.is_total(v) => {
                        Some((k, b.clone(), v.clone(), body.clone()))
                    }
                    _ => None,
                },
                _ => None,
            });
            let Some((k, binder, value, body)) = found else { return no("no argument is a `let`") };
            args[k] = Arg::Term(body);
            let inner = build::apply_with(*prim, args, Some(term.ty()), cx.facts)?;
            Ok(build::let_in(binder, value, inner)?)
        },
    ),
    simpler(
        "letFloatLoop",
        "map (\\x -> let v = e in b) xs -> let v = e in map (\\x -> b) xs",
        "If `e` does not depend on the parameters, and has a value even if the loop is empty. For every primitive with a function.",
        |cx, _, term| {
            let TermKind::Prim(prim, args) = term.kind() else { return no("it is not a primitive") };
            let mut args = args.clone();
            let found = args.iter().zip(0usize..).find_map(|(arg, k)| match arg {
                Arg::Fun(f) => match f.body.kind() {
                    TermKind::Let(b, v, body) if !f.params.iter().any(|p| walk::mentions(v, &p.var)) => {
                        Some((k, f.params.clone(), b.clone(), v.clone(), body.clone()))
                    }
                    _ => None,
                },
                _ => None,
            });
            let Some((k, params, binder, value, body)) = found else {
                return no("no function starts with a `let` that is independent of its parameters");
            };
            cx.require_total(&value, "the value")?;
            args[k] = Arg::Fun(Lambda { params, body });
            let inner = build::apply_with(*prim, args, Some(term.ty()), cx.facts)?;
            Ok(build::let_in(binder, value, inner)?)
        },
    ),
    simpler("fstPair", "fst (a, b) -> a", "", |_, _, term| {
        Ok(binary(unary(term, Prim::Fst)?, Prim::Pair)?.0.clone())
    }),
    simpler("sndPair", "snd (a, b) -> b", "", |_, _, term| {
        Ok(binary(unary(term, Prim::Snd)?, Prim::Pair)?.1.clone())
    }),
    simpler("pairEta", "(fst p, snd p) -> p", "", |_, _, term| {
        let (a, b) = binary(term, Prim::Pair)?;
        let (p, q) = (unary(a, Prim::Fst)?, unary(b, Prim::Snd)?);
        if walk::alpha_equal(p, q) { Ok(p.clone()) } else { no("the components come from different pairs") }
    }),
    simpler(
        "indexMap",
        "(map f xs)[i] -> f xs[i]",
        "Only the requested element is computed.",
        |cx, _, term| {
            let (xs, i) = binary(term, Prim::Index)?;
            let map = as_map(xs)?;
            let elem = cx.bin(Prim::Index, map.xs.clone(), i.clone())?;
            cx.call(map.f, &[elem])
        },
    ),
    simpler(
        "indexGenerate",
        "(generate n f)[i] -> f i",
        "If it is known that the index is below `n`, so that an error stays an error.",
        |cx, _, term| {
            let (xs, i) = binary(term, Prim::Index)?;
            let [Arg::Size(_), Arg::Fun(f)] = args_of(xs, Prim::Generate)? else {
                return no("`generate` is malformed");
            };
            let valid = cx.bin(Prim::Index, xs.clone(), i.clone())?;
            cx.require_total(&valid, "the element")?;
            cx.call(f, std::slice::from_ref(i))
        },
    ),
    simpler("indexZip", "(zip xs ys)[i] -> (xs[i], ys[i])", "", |cx, _, term| {
        let (zipped, i) = binary(term, Prim::Index)?;
        let (xs, ys) = binary(zipped, Prim::Zip)?;
        let again = cx.again(i);
        let (a, b) = (cx.bin(Prim::Index, xs.clone(), i.clone())?, cx.bin(Prim::Index, ys.clone(), again)?);
        cx.pair(a, b)
    }),
    simpler(
        "mapConstant",
        "map (\\x -> c) xs -> generate n (\\i -> c)",
        "If `c` does not depend on the element. The array is not read.",
        |cx, _, term| {
            let map = as_map(term)?;
            if walk::mentions(&map.f.body, &param(map.f)?.var) {
                return no("its body depends on the element");
            }
            let n = array(map.xs)?.0.clone();
            let f = cx.fun1("i", &DataType::Idx(n.clone()), |_, _| Ok(map.f.body.clone()))?;
            cx.ap(Prim::Generate, vec![Arg::Size(n), Arg::Fun(f)])
        },
    ),
    simpler("mulOne", "x * 1 -> x", "Also on the left. Exact for every number.", |_, _, term| {
        let (x, y) = binary(term, Prim::Mul)?;
        match (is_number(x, 1), is_number(y, 1)) {
            (_, true) => Ok(x.clone()),
            (true, false) => Ok(y.clone()),
            _ => no("neither factor is 1"),
        }
    }),
    simpler(
        "addZero",
        "x + 0 -> x",
        "Also on the left. For integers; a floating-point `-0 + 0` is `0`.",
        |_, _, term| {
            let (x, y) = binary(term, Prim::Add)?;
            if !matches!(term.ty(), DataType::Scalar(s) if s.is_int()) {
                return no("it is no sum of integers");
            }
            match (is_number(x, 0), is_number(y, 0)) {
                (_, true) => Ok(x.clone()),
                (true, false) => Ok(y.clone()),
                _ => no("neither term is 0"),
            }
        },
    ),
    simpler("negNeg", "neg (neg x) -> x", "", |_, _, term| {
        Ok(unary(unary(term, Prim::Neg)?, Prim::Neg)?.clone())
    }),
    simpler(
        "selectConstant",
        "if true then a else b -> a",
        "And `b` where the condition is false.",
        |_, _, term| match args_of(term, Prim::Select)? {
            [Arg::Term(c), Arg::Term(a), Arg::Term(b)] => match c.kind() {
                TermKind::Literal(Literal::Bool(true)) => Ok(a.clone()),
                TermKind::Literal(Literal::Bool(false)) => Ok(b.clone()),
                _ => no("its condition is not a constant"),
            },
            _ => no("`select` is malformed"),
        },
    ),
    simpler(
        "mapSelect",
        "map f (if c then xs else ys) -> if c then map f xs else map f ys",
        "",
        |cx, _, term| {
            let map = as_map(term)?;
            let args = args_of(map.xs, Prim::Select)?;
            let [Arg::Term(c), Arg::Term(xs), Arg::Term(ys)] = args else {
                return no("`select` is malformed");
            };
            let again = walk::refresh_lambda(map.f, cx.supply);
            let (a, b) = (cx.map(map.prim, map.f.clone(), xs.clone())?, cx.map(map.prim, again, ys.clone())?);
            cx.ap(Prim::Select, vec![Arg::Term(c.clone()), Arg::Term(a), Arg::Term(b)])
        },
    ),
];

/// Whether the term is this number, exactly.
pub(super) fn is_number(term: &Term, value: i32) -> bool {
    match term.kind() {
        TermKind::Literal(literal) => {
            term.kind() == build::number(literal.scalar(), value).kind() && literal.scalar() != Scalar::Bool
        }
        TermKind::Prim(Prim::Zero, _) => value == 0,
        TermKind::Prim(Prim::One, _) => value == 1,
        _ => false,
    }
}
