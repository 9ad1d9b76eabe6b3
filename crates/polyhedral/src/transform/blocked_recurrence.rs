//! Dynamic programs by blocks: `t[i][j] = max(t[i][j], t[i][k] + t[k + 1][j])` over intervals,
//! where an element is the best of what pairs of smaller ones give.
//!
//! The loops over elements can be tiled, but the one over `k` reads what the same tile computes, so
//! it stays inside. Most of its steps, though, read elements of tiles that are done: those come
//! first, for all elements of the tile, as a contraction in register tiles; the few others stay in
//! their place (Li, Ranka, Sahni 2014; Palkowski and Bielecki 2017 tile the same recurrences). This
//! changes the order in which an element is updated, so updates must be the same in any order:
//! minima, maxima, and sums of integers.
//!
//! Nothing is trusted: the checker sees the result. Left out: elements of more or less than two
//! indices, and recurrences whose reads depend on the tile in a skewed way.

use std::collections::BTreeSet;

use arith::Linear;
use isl::{UnionMap, UnionPwAff, UnionSet};
use loops::poly::linear;
use loops::{Access, Expr, Name};

use super::contraction::{self, Shape, at_least, value};
use crate::affine::Frame;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::{Model, Statement};
use crate::tree::{self, Band, Branch, FunctionText, LoopCode, Member, Node, SetText};

type Row = Linear<Name>;

/// What is done in each tile of these sizes of a band of points: statements that wait for nothing
/// there, contractions over the steps that read tiles that are done, then `points` with the rest.
/// The points come back as they are if no statement is such a recurrence; statements that are
/// `refused` are no contractions.
///
/// # Errors
/// Those of the set library.
pub(crate) fn tile(
    (model, dependences): (&Model, &[Dependence]),
    band: &Band,
    points: Node,
    sizes: &[i64],
    refused: &BTreeSet<Name>,
) -> Result<std::result::Result<Node, Node>> {
    let ([first, second], [_, _]) = (band.members.as_slice(), sizes) else { return Ok(Err(points)) };
    let driven = [locality::driven(model, first)?, locality::driven(model, second)?];
    let tuples = locality::tuples(model, first)?;
    let statements: Vec<&Statement> = tuples.iter().filter_map(|tuple| model.by_tuple(tuple)).collect();
    let domain = UnionSet::of(&model.ctx, statements.iter().map(|s| &s.domain)).map_err(fault::library)?;
    let (mut branches, mut rest) = (Vec::new(), domain);
    let mut others = Vec::new();
    for statement in &statements {
        others.push(*statement);
        let own: Option<Vec<usize>> = driven.iter().map(|d| d.get(&statement.tuple).copied()).collect();
        let Some(own) = own.filter(|own| own[0] != own[1]) else { continue };
        if refused.contains(&statement.label) {
            continue;
        }
        let Some(recurrence) = Recurrence::of(model, statement, band, &own)? else { continue };
        let Some(done) = recurrence.done(sizes) else { continue };
        let frame = Frame::of_space(
            &statement.domain.space().map_err(fault::library)?,
            &model.function.sizes,
            statement.iterators(),
        );
        let set = frame.condition("the steps of a recurrence", &done)?;
        let set = set.intersect(&statement.domain).and_then(|set| set.to_union()).map_err(fault::library)?;
        if set.is_empty().map_err(fault::library)? {
            continue;
        }
        rest = rest.subtract(&set).map_err(fault::library)?;
        others.pop();
        branches.push(Branch { filter: SetText::new(set.to_string()), child: recurrence.nest(band)? });
    }
    if branches.is_empty() {
        return Ok(Err(points));
    }
    let mut before = Vec::new();
    for statement in others.into_iter().filter(|s| s.loops.len() == 2) {
        let own = statement.domain.to_union().map_err(fault::library)?;
        if waits_for_nothing(dependences, band, sizes, &own).map_err(fault::library)? {
            rest = rest.subtract(&own).map_err(fault::library)?;
            let child = Box::new(Node::Band(Band { child: Box::new(Node::Leaf), ..band.clone() }));
            before.push(Branch { filter: SetText::new(own.to_string()), child });
        }
    }
    branches.splice(..0, before);
    let rest = rest.coalesce().map_err(fault::library)?;
    branches.push(Branch { filter: SetText::new(rest.to_string()), child: Box::new(points) });
    Ok(Ok(Node::Sequence(branches)))
}

/// Whether instances depend on nothing of their own tile.
fn waits_for_nothing(
    dependences: &[Dependence],
    band: &Band,
    sizes: &[i64],
    own: &UnionSet,
) -> isl::Result<bool> {
    let mut relation = UnionMap::empty(own.ctx())?;
    for dependence in dependences.iter().filter(|d| d.reduction.is_none() && !d.private) {
        relation = relation.union(&dependence.relation.to_union()?.intersect_range(own)?)?;
    }
    for (member, size) in band.members.iter().zip(sizes) {
        let function = UnionPwAff::read(own.ctx(), member.function.as_str())?;
        let domain = function.domain()?;
        relation = relation.intersect_domain(&domain)?.intersect_range(&domain)?;
        relation = relation.eq_at(&function.scale_down(*size)?.floor()?.to_multi()?)?;
    }
    relation.is_empty()
}

/// Rows and columns of a tile, about, as multiples of those of a register tile: what reads the
/// tile itself grows with it. On one thread, RNA folding of 2500 bases takes 0.10 to 0.15 s with
/// tiles of 32 by 48, 0.17 to 0.20 s with 64 by 64, and 0.25 s with 96 by 96.
const TILE: [i64; 2] = [32, 48];

/// The sizes of tiles of a band, if a statement in it is such a recurrence.
///
/// # Errors
/// Those of the set library.
pub(crate) fn tile_sizes(model: &Model, band: &Band, shape: &Shape) -> Result<Option<Vec<i64>>> {
    let tuples = locality::tuples(model, &band.members[0])?;
    let statement = tuples.iter().filter_map(|tuple| model.by_tuple(tuple)).find(|s| may_be_one(s));
    let Some(statement) = statement.filter(|_| band.members.len() == 2) else { return Ok(None) };
    let bytes = locality::element_bytes(model, &statement.assign.target.array).unwrap_or(8);
    let columns = (shape.vectors * shape.vector_bytes / bytes).max(1);
    let in_all = |size: i64, part: i64| (size / part).max(1) * part;
    Ok(Some(vec![in_all(TILE[0], shape.rows), in_all(TILE[1], columns)]))
}

/// Whether a statement that may be such a recurrence reads what it has computed, updates in any
/// order apart.
pub(crate) fn feeds_itself(statement: &Statement, dependences: &[Dependence]) -> bool {
    let own = |d: &&Dependence| d.source == statement.label && d.target == statement.label;
    may_be_one(statement) && dependences.iter().filter(own).any(|d| d.reduction.is_none() && !d.private)
}

/// Whether a statement is such a recurrence: an element of two indices is updated by a loop whose
/// variable is in no subscript of it, from other elements of its array, in any order.
fn may_be_one(statement: &Statement) -> bool {
    let target = &statement.assign.target;
    let in_target = |name: &Name| target.indices.iter().any(|index| index.mentions(name));
    statement.loops.len() == 3
        && target.indices.len() == 2
        && statement.assign.update.is_some_and(|update| update.reorder)
        && statement.certain()
        && statement.exact()
        && statement.loops.iter().filter(|around| !in_target(&around.var)).count() == 1
        && statement.assign.value.loads().any(|access| access.array == target.array)
}

/// A statement of this kind.
struct Recurrence<'a> {
    statement: &'a Statement,
    /// The loops over elements, in the order of the band.
    over: [Name; 2],
    /// The loop that updates one.
    step: usize,
}

impl<'a> Recurrence<'a> {
    fn of(
        model: &Model,
        statement: &'a Statement,
        band: &Band,
        own: &[usize],
    ) -> Result<Option<Recurrence<'a>>> {
        let Some(step) = (0..3).find(|k| !own.contains(k)) else { return Ok(None) };
        let target = &statement.assign.target;
        let is_step = |name: &Name| target.indices.iter().any(|index| index.mentions(name));
        if !may_be_one(statement) || is_step(&statement.loops[step].var) {
            return Ok(None);
        }
        // Tiles begin at multiples of their sizes only if members are the loops themselves.
        for (member, k) in band.members.iter().zip(own) {
            let (instance, names) = tree::tuple(statement)?;
            let text = format!("{{ {instance} -> [({})] }}", names[*k]);
            let same = || -> isl::Result<bool> {
                let domain = statement.domain.to_union()?;
                let plain = UnionPwAff::read(&model.ctx, &text)?;
                let own = UnionPwAff::read(&model.ctx, member.function.as_str())?;
                let equal = own.intersect_domain(&domain)?.sub(&plain)?.zero_set()?;
                domain.subtract(&equal)?.is_empty()
            };
            if !same().map_err(fault::library)? {
                return Ok(None);
            }
        }
        let over = [own[0], own[1]].map(|k| statement.loops[k].var.clone());
        Ok(Some(Recurrence { statement, over, step }))
    }

    /// The condition that a step reads finished tiles alone, and is one of every element of its
    /// tile; none if that is not seen.
    fn done(&self, sizes: &[i64]) -> Option<Expr> {
        let step = &self.statement.loops[self.step];
        let own = self.inverse()?;
        let mut rows = Vec::new();
        for read in self.statement.assign.value.loads() {
            if read.array == self.statement.assign.target.array {
                rows.extend(self.before(read, &own)?);
            }
        }
        let var = Expr::Var(step.var.clone());
        let mut bounds = Vec::new();
        at_least(&var, &step.lower, 0, &mut bounds)?;
        at_least(&step.upper, &var, 1, &mut bounds)?;
        rows.extend(bounds.into_iter().map(|row| (row, None)));
        let conditions: Option<Vec<Expr>> =
            rows.iter().map(|(row, before)| self.everywhere(row, *before, sizes)).collect();
        conditions?.into_iter().reduce(|a, b| a.and(b))
    }

    /// For each loop over elements the subscript of the target that it makes, with its factor 1 or
    /// -1 and what else is in it.
    fn inverse(&self) -> Option<[(usize, i128, Row); 2]> {
        let [a, b] = [0, 1].map(|m| {
            let subscripts = self.statement.assign.target.indices.iter().map(linear::<i128>);
            let subscripts = subscripts.collect::<Option<Vec<Row>>>()?;
            let mut with = (0..2).filter(|d| subscripts[*d].mentions(&self.over[m]));
            let (d, None) = (with.next()?, with.next()) else { return None };
            let (factor, rest) = subscripts[d].split(&self.over[m]);
            let factor = factor.filter(|factor| factor.abs() == 1)?;
            (!rest.mentions(&self.over[1 - m])).then_some((d, factor, rest))
        });
        Some([a?, b?])
    }

    /// What has to be positive so that the element of a read is in an earlier tile: for a loop over
    /// elements, how far its value for that element lies before the first one of the tile.
    fn before(&self, read: &Access, own: &[(usize, i128, Row); 2]) -> Option<Vec<(Row, Option<usize>)>> {
        let step = &self.statement.loops[self.step].var;
        let mut rows = Vec::new();
        for (m, (d, factor, rest)) in own.iter().enumerate() {
            let subscript = linear::<i128>(read.indices.get(*d)?)?;
            let value = subscript.minus(rest)?.times(*factor)?;
            if value.mentions(step) {
                rows.push((value.negated()?.plus_constant(-1)?, Some(m)));
            }
        }
        (!rows.is_empty()).then_some(rows)
    }

    /// That a row, with the first value of a tile for one loop added if that is given, is not
    /// negative for any element of the tile.
    fn everywhere(&self, row: &Row, added: Option<usize>, sizes: &[i64]) -> Option<Expr> {
        let first =
            |m: usize| Expr::Var(self.over[m].clone()).floor_div(Expr::Int(sizes[m])) * Expr::Int(sizes[m]);
        let (mut row, mut least) = (row.clone(), Expr::Int(0));
        for (m, size) in sizes.iter().enumerate() {
            let (factor, rest) = row.split(&self.over[m]);
            let Some(factor) = factor.filter(|factor| *factor != 0) else { continue };
            let last = if factor < 0 { factor.checked_mul(i128::from(size - 1))? } else { 0 };
            least = least + first(m) * Expr::Int(i64::try_from(factor).ok()?);
            row = rest.plus_constant(last)?;
        }
        if let Some(m) = added {
            least = least + first(m);
        }
        Some((least + value(&row)?).at_least(Expr::Int(0)))
    }

    /// The loops over elements and the steps, for register tiles.
    fn nest(&self, band: &Band) -> Result<Box<Node>> {
        let (instance, names) = tree::tuple(self.statement)?;
        let function = FunctionText::new(format!("{{ {instance} -> [({})] }}", names[self.step]));
        let step = Member { function, coincident: false, code: LoopCode::Default };
        let over = band.members.iter().map(|m| Member { code: LoopCode::Default, ..m.clone() });
        let members = over.chain([step]).collect();
        let nest = Band { members, permutable: true, isolate: None, child: Box::new(Node::Leaf) };
        let child = Box::new(Node::Band(nest));
        Ok(Box::new(Node::Mark { name: contraction::MARK_COLUMNS.to_owned(), child }))
    }
}
