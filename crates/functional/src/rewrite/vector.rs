//! Vectorisation rules: numbers become the lanes of vectors.

use std::collections::BTreeMap;

use loops::{Size, UnaryOp};

use super::context::{Context, Rewritten, array, as_map, binary, no, param};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Term, TermKind, Var};
use crate::types::DataType;
use crate::walk;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "vectorise",
        params: &["k"],
        family: Family::Vector,
        statement: "map f xs -> asScalar (map f' (asVector k xs))",
        doc: "`f'` is `f` on vectors of `k` lanes. `xs` is an array of numbers, or a zip of such arrays. `f` is arithmetic. What does not depend on the element is copied into all lanes. It must be known that the length is a multiple of `k`.",
        reassociates: false,
        apply: |cx, args, term| {
            let map = as_map(term)?;
            let DataType::Scalar(result) = map.f.body.ty() else {
                return no("its function does not give a number");
            };
            if *result == loops::Scalar::Bool {
                return no("its function gives a truth value, not a number");
            }
            let k = &args[0];
            let vectors = as_vectors(cx, k, map.xs)?;
            let elem = array(&vectors)?.1.clone();
            let x = param(map.f)?.clone();
            let f = cx.fun1(&x.var.name, &elem, |cx, v| {
                let mut lanes = BTreeMap::new();
                lanes.insert(x.var.clone(), v);
                lift(cx, k, &map.f.body, &lanes)
            })?;
            let mapped = cx.map(map.prim, f, vectors)?;
            cx.un(Prim::AsScalar, mapped)
        },
    },
    Rule {
        name: "vectoriseBlocks",
        params: &["k"],
        family: Family::Vector,
        statement: "map f xs -> join (map (\\ys -> mapVec f ys) (split k xs))",
        doc: "Blocks of `k` numbers. The lanes of a vector compute each block. The function must be elementwise. It must be known that the length is a multiple of `k`.",
        reassociates: false,
        apply: |cx, args, term| {
            let map = as_map(term)?;
            super::choose::lanes(map.f)?;
            let blocks = cx.sz(Prim::Split, &args[0], map.xs.clone())?;
            let block = array(&blocks)?.1.clone();
            let f = cx.fun1("ys", &block, |cx, ys| cx.map(Prim::MapVec, map.f.clone(), ys))?;
            let mapped = cx.map(map.prim, f, blocks)?;
            cx.un(Prim::Join, mapped)
        },
    },
];

/// The array with its numbers as vectors, through zips.
fn as_vectors(cx: &mut Context<'_>, k: &Size, xs: &Term) -> Rewritten {
    match array(xs)?.1 {
        DataType::Scalar(s) if *s != loops::Scalar::Bool => cx.sz(Prim::AsVector, k, xs.clone()),
        DataType::Pair(..) => {
            let (a, b) = binary(xs, Prim::Zip).or_else(|_| no("its pairs do not come from a zip"))?;
            let (a, b) = (as_vectors(cx, k, a)?, as_vectors(cx, k, b)?);
            cx.zip(a, b)
        }
        other => no(format!("its elements are {other}, not numbers")),
    }
}

/// Whether vectors have this operation: arithmetic of numbers, and pairs.
fn is_lane_by_lane(prim: Prim) -> bool {
    match prim.unary_operator() {
        Some(op) => !matches!(op, UnaryOp::Bits | UnaryOp::Not),
        None => matches!(
            prim,
            Prim::Add
                | Prim::Sub
                | Prim::Mul
                | Prim::Div
                | Prim::Min
                | Prim::Max
                | Prim::Pow
                | Prim::Atan2
                | Prim::Hypot
                | Prim::Fmod
                | Prim::Fst
                | Prim::Snd
                | Prim::Pair
        ),
    }
}

/// The expression on vectors. `lanes` gives the vectors of the variables that differ from lane to
/// lane.
fn lift(cx: &mut Context<'_>, k: &Size, term: &Term, lanes: &BTreeMap<Var, Term>) -> Rewritten {
    if !lanes.keys().any(|var| walk::mentions(term, var)) {
        return match term.ty() {
            DataType::Scalar(s) if *s != loops::Scalar::Bool => cx.sz(Prim::Splat, k, term.clone()),
            other => no(format!("a value of type {other} cannot be copied into lanes")),
        };
    }
    match term.kind() {
        TermKind::Var(var) => Ok(lanes[var].clone()),
        TermKind::Prim(prim, args) if is_lane_by_lane(*prim) => {
            let mut lifted = Vec::with_capacity(args.len());
            for arg in args {
                let Arg::Term(arg) = arg else { return no("its function is malformed") };
                lifted.push(Arg::Term(lift(cx, k, arg, lanes)?));
            }
            cx.ap(*prim, lifted)
        }
        TermKind::Let(binder, value, body) => {
            let value = lift(cx, k, value, lanes)?;
            let bound = cx.supply.binder(&binder.var.name, value.ty().clone());
            let mut lanes = lanes.clone();
            lanes.insert(binder.var.clone(), build::var(&bound));
            let body = lift(cx, k, body, &lanes)?;
            Ok(build::let_in(bound, value, body)?)
        }
        TermKind::Prim(prim, _) => no(format!("`{}` has no form on vectors", prim.name())),
        _ => no("its function is malformed"),
    }
}
