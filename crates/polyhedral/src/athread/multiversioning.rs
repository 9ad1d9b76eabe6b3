//! Rows as a whole: a kernel for sizes up to a bound, in which a tile has all that one iteration of
//! the parallel loops works on.
//!
//! Where a nest makes sums along a row and then overwrites the row with them (`doitgen`), all sums
//! are needed before the first element may go out. Extents are not known when tiles are made, so no
//! box holds a row: the sums go to main memory and come back. With a bound on the sizes a box does.
//! So the nest is mapped a second time, for sizes up to a little more than those that tiles are
//! chosen for, and the host asks which of the two is to run.
//!
//! The loops that all statements share are parallel, and each statement is a part of its own inside
//! them. A workspace of the program's own stays in local memory.

use std::collections::BTreeMap;

use isl::{Dim, Set, UnionSet};
use loops::visit::fresh;
use loops::{Expr, Function, Name, Stmt, Storage};

use super::host_split::{Item, Kernel, Part};
use super::tile_sizes::{self, ceil};
use super::{Mapped, Options};
use crate::dependence::{self, Dependence};
use crate::fault::{self, Result};
use crate::memo::Memos;
use crate::model::{Model, Statement};
use crate::names::readable;
use crate::tree::{self, FunctionText, LoopCode, Member, Node, SetText};

/// The mark around a transfer that may be made while the tile before is worked on.
pub(super) const EARLY: &str = "early";
/// Bounds of sizes are multiples of this.
const STEP: i64 = 16;

/// The bound that the host asks for, where a size or a number of iterations is said.
pub(super) fn bound(said: i64) -> i64 {
    ceil(said.max(1), STEP) * STEP
}

/// How much less time the second version has to take.
const WORTH: f64 = 0.9;

/// A program for sizes up to some bounds.
pub(super) struct Bounded {
    /// The model with these bounds.
    pub model: Model,
    /// The program.
    pub items: Vec<Item>,
    /// The bounds: each of these sizes is at most this.
    pub bounds: BTreeMap<Name, i64>,
}

/// Nests, of which there are to be as many as said, as one kernel each with rows as a whole; none
/// if there is nothing to win by that.
pub(super) fn bounded(
    model: &Model,
    dependences: &[Dependence],
    options: &Options,
    nests: usize,
) -> Result<Option<Bounded>> {
    // A workspace in main memory is what is to be won.
    if options.hints.is_empty() || !model.locals.iter().any(|l| !l.dims.is_empty()) {
        return Ok(None);
    }
    let plain = |s: &Statement| s.loops.iter().all(|l| l.step == 1);
    if model.statements.len() < 2 || !model.statements.iter().all(plain) {
        return Ok(None);
    }
    let all: Vec<usize> = (0..model.statements.len()).collect();
    let nest = |k: &usize| model.statements[*k].loops.first().map(|l| l.number);
    let groups: Vec<&[usize]> = all.chunk_by(|a, b| nest(a) == nest(b)).collect();
    if groups.len() != nests {
        return Ok(None);
    }
    let mut depths = Vec::new();
    for group in &groups {
        match depth(model, dependences, group)? {
            Some(depth) => depths.push(depth),
            None => return Ok(None),
        }
    }
    let mut bounds = BTreeMap::new();
    for (group, depth) in groups.iter().zip(&depths) {
        match bounds_of(model, group, *depth, options) {
            Some(own) => bounds.extend(own),
            None => return Ok(None),
        }
    }
    let narrow = || -> isl::Result<Set> {
        let names: Vec<String> = bounds.keys().map(|name| readable(name)).collect();
        let below: Vec<String> =
            bounds.iter().map(|(name, n)| format!("{} <= {n}", readable(name))).collect();
        let text = format!("[{}] -> {{ : {} }}", names.join(", "), below.join(" and "));
        model.context.intersect(&Set::read(&model.ctx, &text)?)
    };
    let model = Model {
        function: model.function.clone(),
        context: narrow().map_err(fault::library)?,
        statements: model.statements.clone(),
        locals: model.locals.clone(),
        scopes: model.scopes.clone(),
        ctx: model.ctx.clone(),
        // Answers depend on the context.
        memos: Memos::default(),
        inexact: model.inexact.clone(),
    };
    let mut most = options.hints.clone();
    most.extend(bounds.clone());
    let most = most.iter().map(|(name, n)| (readable(name), *n)).collect();
    let mut items = Vec::new();
    for (group, depth) in groups.iter().zip(&depths) {
        let mut parts = Vec::new();
        for number in *group {
            parts.push(part(&model, dependences, *number, *depth, &most)?);
        }
        let own: Vec<&Statement> = group.iter().map(|k| &model.statements[*k]).collect();
        let filter = UnionSet::of(&model.ctx, own.iter().map(|s| &s.domain)).and_then(|all| all.universe());
        let filter = SetText::new(filter.map_err(fault::library)?.to_string());
        let parallel = (0..*depth).map(|k| member(&own, k, true)).collect::<Result<_>>()?;
        items.push(Item::Kernel(Kernel { whole: true, ..Kernel::new(filter, vec![], parallel, parts) }));
    }
    Ok(Some(Bounded { model, items, bounds }))
}

/// How many of the loops that some statements share are to be mapped or tiled; none if they share
/// none, or one of these carries something.
fn depth(model: &Model, dependences: &[Dependence], group: &[usize]) -> Result<Option<usize>> {
    let own: Vec<&Statement> = group.iter().map(|k| &model.statements[*k]).collect();
    let shared = own.iter().map(|s| dependence::shared_loops(own[0], s)).min().unwrap_or(0);
    let depth = shared.min(2);
    let inside = |label: &Name| own.iter().any(|s| s.label == *label);
    for dependence in dependences.iter().filter(|d| inside(&d.source) && inside(&d.target)) {
        for k in 0..depth {
            if !carries_not(model, dependence, k)? {
                return Ok(None);
            }
        }
    }
    Ok((depth > 0).then_some(depth))
}

/// Whether a dependence stays inside one iteration of a loop.
pub(super) fn carries_not(model: &Model, dependence: &Dependence, k: usize) -> Result<bool> {
    let inside = || -> isl::Result<bool> {
        let relation = dependence.relation.intersect_params(&model.context)?;
        relation.is_subset(&relation.equate((Dim::In, k), (Dim::Out, k))?)
    };
    inside().map_err(fault::library)
}

/// A loop of some statements.
fn member(statements: &[&Statement], k: usize, coincident: bool) -> Result<Member> {
    let each = statements.iter().map(|statement| {
        let (tuple, names) = tree::tuple(statement)?;
        Ok(format!("{tuple} -> [({})]", names[k]))
    });
    let text = format!("{{ {} }}", each.collect::<Result<Vec<_>>>()?.join("; "));
    Ok(Member { function: FunctionText::new(text), coincident, code: LoopCode::Default })
}

/// A statement as a part: loops that carry nothing of its own first, and as a whole.
fn part(
    model: &Model,
    dependences: &[Dependence],
    number: usize,
    depth: usize,
    most: &BTreeMap<String, i64>,
) -> Result<Part> {
    let statement = &model.statements[number];
    let filter = statement.domain.to_union().and_then(|d| d.universe()).map_err(fault::library)?;
    let (mut free, mut rest, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for k in depth..statement.loops.len() {
        let mut coincident = true;
        for own in dependences.iter().filter(|d| d.source == statement.label && d.target == statement.label) {
            coincident &= carries_not(model, own, k)?;
        }
        let member = member(&[statement], k, coincident)?;
        if coincident {
            let trips = tile_sizes::trips(model, &member, &filter, most)?;
            whole.push(bound(trips));
            free.push(member);
        } else {
            rest.push(member);
        }
    }
    free.extend(rest);
    Ok(Part {
        filter: SetText::new(filter.to_string()),
        inner: free,
        single: 0,
        whole,
        sizes: vec![],
        leaf: Node::Leaf,
        statements: vec![number],
        pad: None,
    })
}

/// Bounds of the sizes that the loops of a nest inside of the parallel ones have; none if some size
/// is not said.
fn bounds_of(model: &Model, group: &[usize], depth: usize, options: &Options) -> Option<BTreeMap<Name, i64>> {
    let mut all = BTreeMap::new();
    let ends =
        group.iter().flat_map(|k| &model.statements[*k].loops[depth..]).flat_map(|l| [&l.lower, &l.upper]);
    for name in ends.flat_map(Expr::vars).filter(|name| model.function.sizes.contains(name)) {
        let said = *options.hints.get(&name)?;
        all.insert(name, bound(said));
    }
    (!all.is_empty()).then_some(all)
}

/// Whether rows as a whole are rated so much faster that a second version is worth it.
pub(super) fn is_worth_it(small: &Mapped, any: &Mapped) -> bool {
    small.seconds <= WORTH * any.seconds
}

/// Both versions, one of which runs.
pub(super) fn either(bounds: &BTreeMap<Name, i64>, small: Mapped, any: Mapped) -> Mapped {
    let conditions = bounds.iter().map(|(name, n)| Expr::Var(name.clone()).at_most(*n));
    let Some(cond) = conditions.reduce(|a, b| a.and(b)) else { return any };
    let told = bounds.iter().map(|(name, n)| format!("{name} <= {n}")).collect::<Vec<_>>().join(", ");
    let mut notes: Vec<String> = small.notes.iter().map(|note| format!("{note}, for {told}")).collect();
    notes.extend(any.notes);
    let then = relabelled(renamed(small.function.body, &any.function), "whole");
    let body = vec![Stmt::If { cond, then, otherwise: any.function.body }];
    Mapped { function: Function { body, ..any.function }, notes, seconds: small.seconds, ..any }
}

/// Statements with names of their own for arrays in main memory that another version has as well.
fn renamed(mut body: Vec<Stmt>, other: &Function) -> Vec<Stmt> {
    let mut taken = loops::visit::taken(other);
    taken.extend(loops::visit::names(&body));
    let before = loops::visit::names(&other.body);
    for k in 0..body.len() {
        if let Stmt::Local(local) = &mut body[k]
            && local.storage != Storage::Scratchpad
            && before.contains(&local.name)
        {
            let new = fresh(&local.name, &taken);
            taken.insert(new.clone());
            let old = std::mem::replace(&mut local.name, new.clone());
            let rest = loops::visit::rename_arrays(&body[k + 1..], &[(old, new)].into());
            body.splice(k + 1.., rest);
        }
    }
    body
}

/// Statements with labels of their own, which end with a word.
pub(super) fn relabelled(body: Vec<Stmt>, word: &str) -> Vec<Stmt> {
    body.into_iter()
        .map(|stmt| match stmt.map(&mut |e| e.clone(), &mut |body| relabelled(body.to_vec(), word)) {
            Stmt::Assign(mut assign) => {
                assign.label = assign.label.map(|label| Name::new(format!("{label}_{word}")));
                Stmt::Assign(assign)
            }
            other => other,
        })
        .collect()
}
