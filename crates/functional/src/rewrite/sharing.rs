//! What is not used goes, and what occurs twice is computed once.
//!
//! Both rules look at the whole term below them in time that is proportional to its size.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use super::context::{Context, Rewritten, no};
use super::{Family, Rule};
use crate::build;
use crate::prim::Prim;
use crate::term::{Arg, Term, TermKind, Var};
use crate::types::DataType;
use crate::walk::{self, Position};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "dropUnused",
        params: &[],
        family: Family::Simplify,
        statement: "C[let v = e in b] -> C[b]",
        doc: "Everywhere below, if `b` does not use `v`.",
        reassociates: false,
        apply: |_, _, term| {
            let new = used(term, &mut HashSet::new());
            if new.same_node(term) { no("every name is used") } else { Ok(new) }
        },
    },
    Rule {
        name: "share",
        params: &[],
        family: Family::Simplify,
        statement: "D[C[e, e]] -> D[let v = e in C[v, v]]",
        doc: "For the first and largest `e` with a loop that occurs more than once below. An array is shared only if an element of it takes a long loop. `v` is bound where all uses meet, or outside of loops that it does not depend on. There `e` must be computed in any case, or its value must exist.",
        reassociates: false,
        apply: share,
    },
];

/// The term without names that nothing uses. `found` collects the variables that are used; a `let`
/// is looked at after its body, so what only unused names use goes, too.
fn used(term: &Term, found: &mut HashSet<Var>) -> Term {
    match term.kind() {
        TermKind::Var(var) => {
            found.insert(var.clone());
            term.clone()
        }
        TermKind::Let(binder, value, body) => {
            let new_body = used(body, found);
            if !found.contains(&binder.var) {
                return new_body;
            }
            let new_value = used(value, found);
            if new_value.same_node(value) && new_body.same_node(body) {
                return term.clone();
            }
            Term::new(TermKind::Let(binder.clone(), new_value, new_body), term.ty().clone(), term.span())
        }
        _ => walk::map_children(term, |_, child| used(child, found)),
    }
}

/// Programs with more loops than this are left as they are.
const MOST: usize = 4096;
/// Reductions over fewer elements are done again rather than kept for each element of an array.
const LONG: i64 = 16;

/// What the search for equal terms needs of one.
#[derive(Clone, Copy, Default)]
struct Summary {
    /// The same for terms that are equal up to names, whatever their variables are.
    hash: u64,
    /// Whether there is a loop over an accumulator, or a temporary.
    loops: bool,
    /// Whether such a loop may be long.
    long: bool,
}

fn share(cx: &mut Context<'_>, _: &[loops::Size], term: &Term) -> Rewritten {
    let mut summaries = HashMap::new();
    summarise(term, &mut summaries);
    let mut candidates: Vec<(Position, &Term)> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut todo = vec![(Position::root(), term)];
    while let Some((position, here)) = todo.pop() {
        let summary = summaries.get(&here.address()).copied().unwrap_or_default();
        if !summary.loops {
            continue;
        }
        if candidates.len() == MOST {
            return no("there are too many loops to look at");
        }
        let pays = summary.long || !matches!(here.ty(), DataType::Array(..) | DataType::Pair(..));
        if pays && !matches!(here.kind(), TermKind::Let(..)) {
            by_hash.entry(summary.hash).or_default().push(candidates.len());
            candidates.push((position.clone(), here));
        }
        let children = walk::children(here).into_iter().rev();
        todo.extend(children.map(|(k, child)| (position.child(k), child)));
    }
    for (k, (position, e)) in candidates.iter().enumerate() {
        let hash = summaries.get(&e.address()).copied().unwrap_or_default().hash;
        let same = by_hash.get(&hash).into_iter().flatten().filter(|other| **other > k);
        let same = same.map(|other| &candidates[*other]).filter(|(_, other)| walk::alpha_equal(e, other));
        let mut places: Vec<&Position> = vec![position];
        places.extend(same.map(|(place, _)| place));
        if places.len() > 1
            && let Some(shared) = bound(cx, term, e, &places)?
        {
            return Ok(shared);
        }
    }
    no("no loop occurs twice")
}

/// The term with `e`, which stands at these places, bound where they meet; none if it might not be
/// computed there.
fn bound(
    cx: &mut Context<'_>,
    term: &Term,
    e: &Term,
    places: &[&Position],
) -> Result<Option<Term>, super::Refusal> {
    let common = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let length = places.iter().fold(usize::MAX, |length, p| length.min(common(&places[0].0, &p.0)));
    let meet = Position(places[0].0[..length.min(places[0].0.len())].to_vec());
    let Some(around) = walk::subterm(term, &meet) else { return Ok(None) };
    let sure = places.iter().any(|place| is_sure(around, &place.0[meet.0.len()..]));
    let choice = matches!(around.kind(), TermKind::Prim(Prim::Select | Prim::And | Prim::Or, _));
    if !sure && (choice || !cx.is_total(e)) {
        return Ok(None);
    }
    let (meet, around) = match outside(cx, term, &meet, e) {
        Some((place, around)) => (place, around),
        None => (meet, around),
    };
    let v = cx.supply.binder("shared", e.ty().clone());
    let mut body = around.clone();
    for place in places {
        let below = Position(place.0[meet.0.len()..].to_vec());
        match walk::replace(&body, &below, &build::var(&v)) {
            Some(new) => body = new,
            None => return Ok(None),
        }
    }
    let whole = build::let_in(v, e.clone(), body)?;
    let whole = Term::new(whole.kind().clone(), around.ty().clone(), around.span());
    Ok(walk::replace(term, &meet, &whole))
}

/// The place outside of the functions around a place that `e` does not depend on, if its value must
/// exist.
fn outside<'t>(cx: &Context<'_>, term: &'t Term, place: &Position, e: &Term) -> Option<(Position, &'t Term)> {
    let free = walk::free_vars(e);
    let mut found = None;
    let mut path = place.0.as_slice();
    while let Some((step, above)) = path.split_last() {
        path = above;
        let here = Position(above.to_vec());
        let node = walk::subterm(term, &here)?;
        match node.kind() {
            TermKind::Let(binder, ..) if *step == 1 && free.contains(&binder.var) => break,
            TermKind::Prim(Prim::Select | Prim::And | Prim::Or, _) if *step > 0 => break,
            TermKind::Prim(_, args) => {
                if let Some(Arg::Fun(f)) = args.get(*step as usize) {
                    if f.params.iter().any(|param| free.contains(&param.var)) {
                        break;
                    }
                    found = Some((here, node));
                }
            }
            _ => {}
        }
    }
    found.filter(|_| cx.is_total(e))
}

/// Whether the subterm at a place is computed whenever the term is.
fn is_sure(term: &Term, place: &[u32]) -> bool {
    let mut here = term;
    for step in place {
        if let TermKind::Prim(prim, args) = here.kind() {
            let lazy = matches!(prim, Prim::Select | Prim::And | Prim::Or) && *step > 0;
            if lazy || matches!(args.get(*step as usize), Some(Arg::Fun(_))) {
                return false;
            }
        }
        match walk::children(here).into_iter().find(|(k, _)| k == step) {
            Some((_, child)) => here = child,
            None => return false,
        }
    }
    true
}

fn summarise(term: &Term, summaries: &mut HashMap<usize, Summary>) -> Summary {
    let mut hasher = DefaultHasher::new();
    let mut summary = Summary::default();
    match term.kind() {
        TermKind::Var(_) => 0.hash(&mut hasher),
        TermKind::Literal(literal) => format!("{literal:?}").hash(&mut hasher),
        TermKind::Size(size) => size.to_string().hash(&mut hasher),
        TermKind::Let(..) => 1.hash(&mut hasher),
        TermKind::Prim(prim, args) => {
            prim.hash(&mut hasher);
            for arg in args {
                if let Arg::Size(size) = arg {
                    size.to_string().hash(&mut hasher);
                }
            }
            let made = loop_of(*prim, args);
            (summary.loops, summary.long) = (made != Loops::None, made == Loops::Long);
        }
    }
    for (_, child) in walk::children(term) {
        let inner = summarise(child, summaries);
        inner.hash.hash(&mut hasher);
        summary.loops |= inner.loops;
        summary.long |= inner.long;
    }
    summary.hash = hasher.finish();
    summaries.insert(term.address(), summary);
    summary
}

/// What a primitive is: no loop whose result is worth keeping, or one that is short, or may be
/// long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    None,
    Short,
    Long,
}

fn loop_of(prim: Prim, args: &[Arg]) -> Loops {
    let of = |short: bool| if short { Loops::Short } else { Loops::Long };
    let short = |arg: Option<&Arg>| match arg {
        Some(Arg::Term(xs)) => {
            matches!(xs.ty(), DataType::Array(n, _) if n.as_constant().is_some_and(|n| n < LONG))
        }
        Some(Arg::Size(k)) => k.as_constant().is_some_and(|k| k < LONG),
        _ => false,
    };
    match prim {
        Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar => of(short(args.last())),
        Prim::Iterate => of(short(args.first())),
        Prim::ScanSeq
        | Prim::ScanPar
        | Prim::ReduceByIndex
        | Prim::ReduceByIndexPar
        | Prim::Scatter
        | Prim::ToMem
        | Prim::TransPar
        | Prim::ReverseSeq
        | Prim::CopySeq => Loops::Long,
        _ => Loops::None,
    }
}
