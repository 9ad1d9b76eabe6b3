//! Rules on memory: temporaries, packing, and names for values that are computed once.

use std::collections::BTreeSet;

use super::context::{Context, Rewritten, args_of, array, no, unary};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Term, TermKind, Var};
use crate::types::DataType;
use crate::walk::{self, Position};

const fn memory(
    name: &'static str,
    params: &'static [&'static str],
    statement: &'static str,
    doc: &'static str,
    apply: fn(&mut Context<'_>, &[loops::Size], &Term) -> Rewritten,
) -> Rule {
    Rule { name, params, family: Family::Memory, statement, doc, reassociates: false, apply }
}

pub(super) const RULES: &[Rule] = &[
    memory(
        "toMem",
        &[],
        "e -> toMem e",
        "Stores the value in a temporary. Not for variables, and not twice.",
        |cx, _, term| match term.kind() {
            TermKind::Var(_) => no("it is a variable, which is in memory"),
            TermKind::Prim(Prim::ToMem, _) => no("it is in memory already"),
            TermKind::Let(..) => no("it is a `let`; apply the rule to its body"),
            _ => cx.un(Prim::ToMem, term.clone()),
        },
    ),
    memory("dropToMem", &[], "toMem e -> e", "Removes the temporary.", |_, _, term| {
        Ok(unary(term, Prim::ToMem)?.clone())
    }),
    memory(
        "pack",
        &["k"],
        "xss -> join (map transpose (toMem (map transpose (split k xss))))",
        "A packed copy: `k` rows lie side by side, column after column. This is the order in which a tile of `k` rows reads them. It must be known that the number of rows is a multiple of `k`. If the rows are padded (`padMap`), the last block is copied separately from the full ones. The views around the copy cancel with those of tiling.",
        |cx, args, term| {
            let (_, row) = array(term)?;
            if !matches!(row, DataType::Array(..)) {
                return no("it is not an array of arrays");
            }
            let turned = match clamped(term) {
                // Blocks without padding are copied without looking for it.
                Some((padding, xs)) => {
                    let q = args[0].clone() * array(xs)?.0.div(&args[0]);
                    let again = cx.again(xs);
                    let full = cx.sz(Prim::Take, &q, xs.clone())?;
                    let full = cx.sz(Prim::Split, &args[0], full)?;
                    let rest = cx.sz(Prim::Drop, &q, again)?;
                    let sizes = [0.into(), padding.clone()].map(Arg::Size);
                    let rest = cx.ap(Prim::PadClamp, sizes.into_iter().chain([Arg::Term(rest)]).collect())?;
                    let rest = cx.sz(Prim::Split, &args[0], rest)?;
                    let (full, rest) = (map_copy(cx, full)?, map_copy(cx, rest)?);
                    cx.bin(Prim::Concat, full, rest)?
                }
                None => {
                    let blocks = cx.sz(Prim::Split, &args[0], term.clone())?;
                    map_copy(cx, blocks)?
                }
            };
            let stored = cx.un(Prim::ToMem, turned)?;
            let back = map_transpose(cx, stored)?;
            cx.un(Prim::Join, back)
        },
    ),
    memory(
        "hoist",
        &[],
        "C[toMem e] -> let v = toMem e in C[v]",
        "Computes a temporary once, outside of all loops that enclose it here. It takes the first `toMem` whose value depends on nothing that is bound inside. The value must exist even if a loop is empty.",
        |cx, _, term| {
            let found = find(cx, term, &Position::root(), &mut BTreeSet::new());
            let Some((position, value)) = found else {
                return no("there is no `toMem` inside that could be computed here");
            };
            let v = cx.supply.binder("packed", value.ty().clone());
            let Some(body) = walk::replace(term, &position, &build::var(&v)) else {
                return no("the place is gone");
            };
            Ok(build::let_in(v, value, body)?)
        },
    ),
];

/// The padding after an array, if the term is just that.
fn clamped(term: &Term) -> Option<(&loops::Size, &Term)> {
    match args_of(term, Prim::PadClamp).ok()? {
        [Arg::Size(l), Arg::Size(r), Arg::Term(xs)] if l.as_constant() == Some(0) => Some((r, xs)),
        _ => None,
    }
}

/// `map (\p -> map (\r -> map (\x -> x) r) (transpose p)) xs`: the loops go in the order of the
/// copy, whose elements are contiguous.
fn map_copy(cx: &mut Context<'_>, xs: Term) -> Rewritten {
    let elem = array(&xs)?.1.clone();
    let f = cx.fun1("p", &elem, |cx, p| {
        let turned = cx.un(Prim::Transpose, p)?;
        let row = array(&turned)?.1.clone();
        let rows = cx.fun1("r", &row, |cx, r| {
            let elem = array(&r)?.1.clone();
            let copy = cx.fun1("x", &elem, |_, x| Ok(x))?;
            cx.map(Prim::Map, copy, r)
        })?;
        cx.map(Prim::Map, rows, turned)
    })?;
    cx.map(Prim::Map, f, xs)
}

fn map_transpose(cx: &mut Context<'_>, xs: Term) -> Rewritten {
    let elem = array(&xs)?.1.clone();
    let f = cx.fun1("p", &elem, |cx, p| cx.un(Prim::Transpose, p))?;
    cx.map(Prim::Map, f, xs)
}

/// The first temporary that does not depend on `bound`.
fn find(
    cx: &Context<'_>,
    term: &Term,
    position: &Position,
    bound: &mut BTreeSet<Var>,
) -> Option<(Position, Term)> {
    if let TermKind::Prim(prim, args) = term.kind() {
        let free = || walk::free_vars(term).is_disjoint(bound);
        if *prim == Prim::ToMem && !position.0.is_empty() && free() && cx.is_total(term) {
            return Some((position.clone(), term.clone()));
        }
        for (arg, k) in args.iter().zip(0..) {
            let found = match arg {
                Arg::Size(_) => None,
                Arg::Term(t) => find(cx, t, &position.child(k), bound),
                Arg::Fun(f) => {
                    bound.extend(f.params.iter().map(|p| p.var.clone()));
                    find(cx, &f.body, &position.child(k), bound)
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }
    if let TermKind::Let(binder, value, body) = term.kind() {
        // A temporary that has a name already is left where it is.
        let named = matches!(value.kind(), TermKind::Prim(Prim::ToMem, _));
        let found = if named { None } else { find(cx, value, &position.child(0), bound) };
        if found.is_some() {
            return found;
        }
        bound.insert(binder.var.clone());
        return find(cx, body, &position.child(1), bound);
    }
    None
}
