//! Which pairs of instances must stay in order, and which of those a reduction frees.
//!
//! Three views: [`memory`] has every pair of conflicting instances (what legality is checked
//! against), [`dataflow`] has for each read the one write that it sees, and [`nearest`] has the
//! pairs that a schedule should keep near to each other.

use std::collections::BTreeMap;
use std::fmt;

use isl::{Dim, Map, UnionAccessInfo, UnionMap};
use loops::{Name, ReduceOp};

use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::{Model, Statement, Touch, array_tuple};

/// How two accesses of one element follow each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Write, then read.
    Flow,
    /// Read, then write.
    Anti,
    /// Write, then write.
    Output,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Flow => "flow",
            Kind::Anti => "anti",
            Kind::Output => "output",
        })
    }
}

/// Dependences of one kind between two statements through one array.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// How the accesses follow each other.
    pub kind: Kind,
    /// The array.
    pub array: Name,
    /// Label of the earlier statement.
    pub source: Name,
    /// Label of the later statement.
    pub target: Name,
    /// If both ends are updates by this operation that may be reordered: the pairs need not stay in
    /// order.
    pub reduction: Option<ReduceOp>,
    /// Whether the array is local and the two instances are in different iterations around its
    /// declaration: they share its storage and never its contents. A loop with the declaration
    /// inside is free of such pairs.
    pub private: bool,
    /// From instances of the source to instances of the target.
    pub relation: Map,
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {} on {}", self.kind, self.source, self.target, self.array)?;
        if let Some(op) = self.reduction {
            write!(f, " (reduction {})", op.symbol())?;
        }
        if self.private {
            write!(f, " (storage only)")?;
        }
        write!(f, ": {}", self.relation)
    }
}

/// Pairs of instances of two statements of which the first is earlier in the text's order.
///
/// Not by comparing padded times: with the loops that both are in, there is one simple piece for
/// each of them and one for the text.
pub(crate) fn before(source: &Statement, target: &Statement) -> isl::Result<Map> {
    let space = source.domain.space()?.map_to(&target.domain.space()?)?;
    let shared = shared_loops(source, target);
    let mut result = Map::empty(&space)?;
    let mut equal = Map::universe(&space)?;
    for level in 0..shared {
        result = result.union(&equal.order_lt((Dim::In, level), (Dim::Out, level))?)?;
        equal = equal.equate((Dim::In, level), (Dim::Out, level))?;
    }
    // Branches of a conditional share no position, so equal positions mean the same statement.
    if source.position[shared] < target.position[shared] {
        result = result.union(&equal)?;
    }
    Ok(result)
}

/// The pairs that are not [`before`], in pieces of one conjunction each.
pub(crate) fn not_before(source: &Statement, target: &Statement) -> isl::Result<Vec<Map>> {
    let space = source.domain.space()?.map_to(&target.domain.space()?)?;
    let shared = shared_loops(source, target);
    let mut pieces = Vec::new();
    let mut equal = Map::universe(&space)?;
    for level in 0..shared {
        pieces.push(equal.order_gt((Dim::In, level), (Dim::Out, level))?);
        equal = equal.equate((Dim::In, level), (Dim::Out, level))?;
    }
    if source.position[shared] >= target.position[shared] {
        pieces.push(equal);
    }
    Ok(pieces)
}

/// Number of loops that both statements are in.
pub(crate) fn shared_loops(source: &Statement, target: &Statement) -> usize {
    source.loops.iter().zip(&target.loops).take_while(|(a, b)| a.number == b.number).count()
}

/// The largest number of pairs of accesses that is looked at.
const MAX_PAIRS: usize = 400_000;

/// A reference to an access of a statement.
type Site<'a> = (&'a Statement, &'a Touch);

fn by_element(model: &Model) -> BTreeMap<String, Vec<Site<'_>>> {
    let mut groups: BTreeMap<String, Vec<Site<'_>>> = BTreeMap::new();
    for statement in &model.statements {
        for touch in &statement.accesses {
            groups.entry(array_tuple(&touch.array, &touch.path)).or_default().push((statement, touch));
        }
    }
    groups
}

/// Every pair of instances that touch one element, at least one of them writing, in the order of
/// the text.
///
/// # Errors
/// Those of the set library; `P0002` if there are too many pairs of accesses.
pub fn memory(model: &Model) -> Result<Vec<Dependence>> {
    type Key = (Name, Kind, usize, usize, Option<ReduceOp>, bool);
    let index: BTreeMap<&Name, usize> =
        model.statements.iter().enumerate().map(|(k, s)| (&s.label, k)).collect();
    let mut found: BTreeMap<Key, Map> = BTreeMap::new();
    let mut order: BTreeMap<(usize, usize), Map> = BTreeMap::new();
    let mut pairs = 0usize;
    for sites in by_element(model).values() {
        for (s, a) in sites {
            for (t, b) in sites {
                if !a.write && !b.write {
                    continue;
                }
                pairs += 1;
                if pairs > MAX_PAIRS {
                    return Err(fault::limit("pairs of accesses"));
                }
                let kind = match (a.write, b.write) {
                    (true, true) => Kind::Output,
                    (true, false) => Kind::Flow,
                    _ => Kind::Anti,
                };
                let (i, j) = (index[&s.label], index[&t.label]);
                let reduction = a.reduction.filter(|_| a.reduction == b.reduction);
                let mut relate = || -> isl::Result<Option<Map>> {
                    let before = match order.get(&(i, j)) {
                        Some(before) => before.clone(),
                        None => {
                            let before = before(s, t)?;
                            order.insert((i, j), before.clone());
                            before
                        }
                    };
                    let relation = a.relation.apply_range(&b.relation.reverse()?)?.intersect(&before)?;
                    Ok(if relation.is_empty()? { None } else { Some(relation) })
                };
                let Some(relation) = relate().map_err(fault::library)? else { continue };
                let depth = model.scopes.get(&a.array).map_or(0, Vec::len);
                for (private, relation) in by_scope(relation, depth).map_err(fault::library)? {
                    let key = (a.array.clone(), kind, i, j, reduction, private);
                    let merged = match found.remove(&key) {
                        Some(old) => old.union(&relation).map_err(fault::library)?,
                        None => relation,
                    };
                    found.insert(key, merged);
                }
            }
        }
    }
    found
        .into_iter()
        .map(|((array, kind, i, j, reduction, private), relation)| {
            Ok(Dependence {
                kind,
                array,
                source: model.statements[i].label.clone(),
                target: model.statements[j].label.clone(),
                reduction,
                private,
                relation: relation.coalesce().map_err(fault::library)?,
            })
        })
        .collect()
}

/// Pairs in the same iteration of the outermost `depth` loops, and the others, which are private.
fn by_scope(relation: Map, depth: usize) -> isl::Result<Vec<(bool, Map)>> {
    if depth == 0 {
        return Ok(vec![(false, relation)]);
    }
    let mut parts = Vec::new();
    let mut same = relation;
    for level in 0..depth {
        parts.push((true, same.order_lt((Dim::In, level), (Dim::Out, level))?));
        same = same.equate((Dim::In, level), (Dim::Out, level))?;
    }
    parts.push((false, same));
    let mut found = Vec::new();
    for (private, part) in parts {
        if !part.is_empty()? {
            found.push((private, part));
        }
    }
    Ok(found)
}

/// For each read the write whose value it sees: exact dataflow.
///
/// # Errors
/// Those of the set library.
pub fn dataflow(model: &Model) -> Result<Vec<Dependence>> {
    let (reads, order) = (model.touches(false)?, model.order()?);
    let writes = |guarded: bool| -> Result<UnionMap> {
        let statements = model.statements.iter().filter(|s| s.certain() != guarded);
        let touches = statements.flat_map(|s| &s.accesses).filter(|touch| touch.write);
        UnionMap::of(&model.ctx, touches.map(|touch| &touch.relation)).map_err(fault::library)
    };
    // A write under a guard, or in a nest, may happen: it does not hide those before it.
    let (must, may) = (writes(false)?, writes(true)?);
    let flow = || -> isl::Result<UnionMap> {
        let info = UnionAccessInfo::from_sink(&reads)?.must_source(&must)?.may_source(&may)?;
        info.schedule_map(&order)?.compute()?.full_may()
    };
    from_full(model, Kind::Flow, &flow().map_err(fault::library)?)
}

/// Dependences `source -> [target -> element]`, sorted by statements and array.
fn from_full(model: &Model, kind: Kind, full: &UnionMap) -> Result<Vec<Dependence>> {
    let arrays: BTreeMap<String, Name> = model
        .statements
        .iter()
        .flat_map(|s| &s.accesses)
        .map(|touch| (array_tuple(&touch.array, &touch.path), touch.array.clone()))
        .collect();
    let position = |tuple: &str| model.statements.iter().position(|s| s.tuple == tuple);
    let mut found = Vec::new();
    let mut collect = || -> isl::Result<()> {
        for map in full.maps()? {
            if map.is_empty()? {
                continue;
            }
            let relation = map.range_factor_domain()?.coalesce()?;
            let element = map.range_factor_range()?.tuple_name(Dim::Out)?.unwrap_or_default();
            let source = map.tuple_name(Dim::In)?.unwrap_or_default();
            let target = relation.tuple_name(Dim::Out)?.unwrap_or_default();
            if let (Some(i), Some(j), Some(array)) =
                (position(&source), position(&target), arrays.get(&element))
            {
                found.push((array.clone(), i, j, relation));
            }
        }
        Ok(())
    };
    collect().map_err(fault::library)?;
    found.sort_by(|a, b| (&a.0, a.1, a.2).cmp(&(&b.0, b.1, b.2)));
    Ok(found
        .into_iter()
        .map(|(array, i, j, relation)| Dependence {
            kind,
            array,
            source: model.statements[i].label.clone(),
            target: model.statements[j].label.clone(),
            reduction: None,
            private: false,
            relation,
        })
        .collect())
}

/// The dependences of which all others are chains: from each access the last write of its element
/// before it, and to each write the reads since then. A schedule that respects these respects all,
/// and a loop that carries none of them carries none at all. None where chains say less: if an
/// update may be reordered, a write may not happen, or an array is private to iterations; and where
/// the limit is reached.
pub(crate) fn immediate(model: &Model, dependences: &[Dependence], limits: Limits) -> Option<UnionMap> {
    let plain = model.statements.iter().all(Statement::certain)
        && dependences.iter().all(|d| d.reduction.is_none() && !d.private);
    if !plain {
        return None;
    }
    let (reads, writes, order) = (model.touches(false).ok()?, model.touches(true).ok()?, model.order().ok()?);
    let find = || -> isl::Result<UnionMap> {
        let last = UnionAccessInfo::from_sink(&reads.union(&writes)?)?.must_source(&writes)?;
        let last = last.schedule_map(&order)?.compute()?.may()?;
        let next = UnionAccessInfo::from_sink(&writes)?.must_source(&writes)?.may_source(&reads)?;
        last.union(&next.schedule_map(&order)?.compute()?.may()?)?.coalesce()
    };
    limits.run(&model.ctx, || find().map_err(fault::library)).ok()
}

/// Bound on the set library's operations for one dependence.
const NEAREST_OPERATIONS: u64 = 3_000;

/// For each pair of statements and each later instance only the last earlier instance on which it
/// depends: what a schedule should keep near.
///
/// A part of the given dependences; only flow. Not exact dataflow (a write of another statement may
/// come between), which costs far more.
///
/// # Errors
/// Those of the set library.
pub fn nearest(dependences: &[Dependence]) -> Result<Vec<Dependence>> {
    let flow = dependences.iter().filter(|d| d.kind == Kind::Flow);
    flow.map(|dependence| {
        let last = || dependence.relation.reverse()?.lexmax()?.reverse()?.coalesce();
        match dependence.relation.ctx().limited(NEAREST_OPERATIONS, last) {
            Ok(relation) => Ok(Dependence { relation, ..dependence.clone() }),
            // It is advice: all of it will do.
            Err(error) if error.kind == isl::ErrorKind::Quota => Ok(dependence.clone()),
            Err(error) => Err(fault::library(error)),
        }
    })
    .collect()
}

/// The relations of some dependences as one.
///
/// # Errors
/// Those of the set library.
pub fn union<'a>(model: &Model, dependences: impl IntoIterator<Item = &'a Dependence>) -> Result<UnionMap> {
    UnionMap::of(&model.ctx, dependences.into_iter().map(|d| &d.relation))
        .and_then(|map| map.coalesce())
        .map_err(fault::library)
}
