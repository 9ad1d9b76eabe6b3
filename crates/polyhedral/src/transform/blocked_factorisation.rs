//! Factorizations and triangular solutions by blocks: LU, Cholesky, forward substitution with many
//! right-hand sides.
//!
//! Their nests update an element once for each step `k` of an elimination (`A[i][j] -= A[i][k] *
//! A[k][j]`), and what a step reads has been through all steps before, so no loop is parallel. With
//! the steps in blocks the work falls into zones: where `i` or `j` is in the block of `k` (the
//! diagonal block and the two panels beside it), and where both are beyond. No dependence of a
//! block of steps leads from beyond back to the panels, because in a permutable band none goes back
//! in any loop; so the panels come first, and what is beyond, nearly everything, is a contraction
//! over one block of steps. Each element is still updated in the order of the steps.
//!
//! Nothing is trusted: the checker sees the result. Left out: eliminations whose indices also come
//! before the step (Gauss-Jordan, shortest paths).

use std::collections::BTreeSet;

use isl::{UnionMap, UnionPwAff, UnionSet};
use loops::Name;

use super::{contraction, mark::mark_band};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::{Model, Statement};
use crate::tree::{Band, Branch, FunctionText, LoopCode, Member, Node, SetText};

/// The blocks of a band, if it is an elimination with `size` steps in a block; without those
/// statements as contractions that are `refused`.
///
/// # Errors
/// Those of the set library.
pub(crate) fn blocks(
    model: &Model,
    dependences: &[Dependence],
    band: &Band,
    refused: &BTreeSet<Name>,
    size: i64,
) -> Result<Option<Node>> {
    if !band.permutable || band.members.len() != 3 || has_loops(&band.child) {
        return Ok(None);
    }
    let driven = band.members.iter().map(|m| locality::driven(model, m)).collect::<Result<Vec<_>>>()?;
    let tuples = locality::tuples(model, &band.members[0])?;
    let statements: Vec<&Statement> = tuples.iter().filter_map(|tuple| model.by_tuple(tuple)).collect();
    // The statements that update an element in a step, and the member that counts the steps.
    let mut updates = BTreeSet::new();
    let mut step = None;
    for statement in &statements {
        let own: Option<Vec<usize>> = driven.iter().map(|d| d.get(&statement.tuple).copied()).collect();
        let Some(own) = own else { continue };
        let target: BTreeSet<Name> = statement.assign.target.indices.iter().flat_map(|e| e.vars()).collect();
        let still: Vec<usize> = (0..3).filter(|m| !target.contains(&statement.loops[own[*m]].var)).collect();
        let plain = statement.loops.len() == 3
            && own.iter().collect::<BTreeSet<_>>().len() == 3
            && statement.certain()
            && statement.exact()
            && statement.assign.update.is_some()
            && !refused.contains(&statement.label);
        if let ([k], true) = (still.as_slice(), plain) {
            if step.is_some_and(|step| step != *k) {
                return Ok(None);
            }
            step = Some(*k);
            updates.insert(statement.label.clone());
        }
    }
    let Some(step) = step else { return Ok(None) };
    let found = || -> isl::Result<Option<Elimination<'_>>> {
        let domain = UnionSet::of(&model.ctx, statements.iter().map(|s| &s.domain))?
            .intersect_params(&model.context)?;
        let functions = band
            .members
            .iter()
            .map(|m| UnionPwAff::read(&model.ctx, m.function.as_str()))
            .collect::<isl::Result<Vec<_>>>()?;
        let block = |m: usize| functions[m].scale_down(size)?.floor();
        let negative = UnionSet::read(&model.ctx, "{ [x] : x < 0 }")?;
        let mut near = Vec::new();
        for m in (0..3).filter(|m| *m != step) {
            let behind = functions[m].sub(&functions[step])?.intersect_domain(&domain)?;
            if behind.graph()?.intersect_range(&negative)?.is_empty()? {
                let here = block(m)?.sub(&block(step)?)?.zero_set()?.intersect(&domain)?;
                near.push((m, here));
            }
        }
        let mut relation = UnionMap::empty(&model.ctx)?;
        for dependence in dependences.iter().filter(|d| !d.private) {
            relation = relation.union(&dependence.relation.to_union()?)?;
        }
        let relation = relation.intersect_domain(&domain)?.intersect_range(&domain)?;
        let steps = block(step)?;
        let relation = relation.eq_at(&steps.to_multi()?)?;
        let steps = FunctionText::new(steps.to_string());
        let statements = statements.clone();
        Ok(Some(Elimination {
            model,
            band,
            statements,
            updates,
            functions,
            step,
            steps,
            domain,
            near,
            relation,
        }))
    };
    let Some(elimination) = found().map_err(fault::library)? else { return Ok(None) };
    elimination.node()
}

fn has_loops(node: &Node) -> bool {
    matches!(node, Node::Band(_)) || node.children().into_iter().any(has_loops)
}

/// A band that is an elimination.
struct Elimination<'a> {
    model: &'a Model,
    band: &'a Band,
    statements: Vec<&'a Statement>,
    /// Labels of the statements that can be contractions.
    updates: BTreeSet<Name>,
    /// The members.
    functions: Vec<UnionPwAff>,
    /// Which member counts the steps.
    step: usize,
    /// The number of the block of steps.
    steps: FunctionText,
    domain: UnionSet,
    /// The members that never come before the step, with the instances for which they are in its
    /// block.
    near: Vec<(usize, UnionSet)>,
    /// Dependences inside a block of steps.
    relation: UnionMap,
}

/// A part of a block of steps: the members that are beyond the block, and the instances.
type Zone = (Vec<usize>, UnionSet);

impl Elimination<'_> {
    fn node(&self) -> Result<Option<Node>> {
        let Some((beyond, zones)) = self.zones().map_err(fault::library)? else { return Ok(None) };
        let mut branches = Vec::new();
        for zone in &zones {
            let child = self.panel(zone)?;
            branches.push(Branch { filter: SetText::new(zone.1.to_string()), child: Box::new(child) });
        }
        let Some(child) = self.beyond(&beyond)? else { return Ok(None) };
        branches.push(Branch { filter: SetText::new(beyond.to_string()), child: Box::new(child) });
        let child = Box::new(Node::Sequence(branches));
        let member = Member { function: self.steps.clone(), coincident: false, code: LoopCode::Default };
        Ok(Some(Node::Band(Band { members: vec![member], permutable: false, isolate: None, child })))
    }

    /// What is beyond the block in all ways, and the other zones in their order; none if the former
    /// is nothing.
    fn zones(&self) -> isl::Result<Option<(UnionSet, Vec<Zone>)>> {
        if self.near.is_empty() {
            return Ok(None);
        }
        let mut zones: Vec<Zone> = vec![(Vec::new(), self.domain.clone())];
        for (member, near) in &self.near {
            let mut cut = Vec::new();
            for (far, set) in &zones {
                cut.push((far.clone(), set.intersect(near)?.coalesce()?));
                let far = far.iter().copied().chain([*member]).collect();
                cut.push((far, set.subtract(near)?.coalesce()?));
            }
            zones = cut;
        }
        zones.sort_by_key(|(far, _)| far.len());
        let Some((_, beyond)) = zones.pop() else { return Ok(None) };
        let mut full = Vec::new();
        for zone in zones {
            if !zone.1.is_empty()? {
                full.push(zone);
            }
        }
        Ok(match beyond.is_empty()? {
            true => None,
            false => Some((beyond, full)),
        })
    }

    /// A panel: its far loop in parallel if that carries nothing, the one along memory innermost,
    /// statement by statement.
    fn panel(&self, (far, zone): &Zone) -> Result<Node> {
        let mut along = (i64::MIN, 0);
        for (m, member) in self.band.members.iter().enumerate() {
            let score = locality::vector_score(self.model, member)?;
            along = along.max((score, m));
        }
        let along = along.1;
        let relation = self.inside(zone).map_err(fault::library)?;
        let apart: Vec<usize> = match far.as_slice() {
            // What is no index of the step may be free.
            [] => (0..3).filter(|m| *m != self.step && self.near.iter().all(|(near, _)| near != m)).collect(),
            far => far.to_vec(),
        };
        let mut parallel = None;
        for m in apart {
            if parallel.is_none() && self.carries_nothing(&relation, m).map_err(fault::library)? {
                parallel = Some(m);
            }
        }
        // The step outside lets the rows overlap, and where sums run along memory, any order in
        // which each statement has loops of its own.
        let mut others: Vec<usize> = (0..3).rev().filter(|m| *m != along).collect();
        others.sort_by_key(|m| *m != self.step);
        let make = |inner: &[usize], statements: &[&Statement], carries: &Carries<'_>| {
            let node = match statements {
                [_] => Node::Leaf,
                _ => (*self.band.child).clone(),
            };
            let mut marks = vec![None; inner.len()];
            if statements.len() == 1 && !carries(along)? {
                marks[inner.len() - 1] = Some("vector");
            }
            mark_band(self.members(inner, node), &marks)
        };
        let orders = [(vec![others[0]], vec![others[1], along]), (vec![others[1]], vec![others[0], along])];
        let mut node = None;
        for (outer, inner) in &orders {
            if node.is_none() && self.parts(zone, &relation, outer)?.iter().all(|part| part.len() == 1) {
                let inside = self.one_by_one(zone, &relation, outer, &|statements, carries| {
                    make(inner, statements, carries)
                })?;
                node = Some(Node::Band(self.members(outer, inside)));
            }
        }
        let node = match node {
            Some(node) => node,
            None => {
                others.sort_unstable();
                let inside = self.one_by_one(zone, &relation, &others, &|statements, carries| {
                    make(&[along], statements, carries)
                })?;
                Node::Band(self.members(&others, inside))
            }
        };
        let Some(m) = parallel else { return Ok(node) };
        let mut strips = self.members(&[m], node);
        let strip = self.functions[m].scale_down(STRIP).and_then(|f| f.floor()).map_err(fault::library)?;
        strips.members[0].function = FunctionText::new(strip.to_string());
        mark_band(strips, &[Some("parallel")])
    }

    /// What is beyond the block: contractions, where statements are such.
    fn beyond(&self, zone: &UnionSet) -> Result<Option<Node>> {
        let relation = self.inside(zone).map_err(fault::library)?;
        let mut order: Vec<usize> = (0..3).filter(|m| *m != self.step).collect();
        order.push(self.step);
        let contracts = std::cell::Cell::new(false);
        let node = self.one_by_one(zone, &relation, &[], &|statements, carries| {
            let update = statements.iter().all(|s| self.updates.contains(&s.label));
            if let ([_], true) = (statements, update) {
                contracts.set(true);
                let nest = Node::Band(Band { permutable: true, ..self.members(&order, Node::Leaf) });
                return Ok(Node::Mark { name: contraction::MARK.to_owned(), child: Box::new(nest) });
            }
            let node = (*self.band.child).clone();
            let free = (!carries(order[0])?).then_some("parallel");
            mark_band(self.members(&order, node), &[free, None, None])
        })?;
        Ok(contracts.get().then_some(node))
    }

    /// Some members as a band.
    fn members(&self, which: &[usize], child: Node) -> Band {
        let members =
            which.iter().map(|m| Member { code: LoopCode::Default, ..self.band.members[*m].clone() });
        Band { members: members.collect(), permutable: false, isolate: None, child: Box::new(child) }
    }

    /// The dependences of a block of steps inside a zone.
    fn inside(&self, zone: &UnionSet) -> isl::Result<UnionMap> {
        self.relation.intersect_domain(zone)?.intersect_range(zone)
    }

    /// Whether no pair is in different iterations of a member.
    fn carries_nothing(&self, relation: &UnionMap, member: usize) -> isl::Result<bool> {
        relation.subtract(&relation.eq_at(&self.functions[member].to_multi()?)?)?.is_empty()
    }

    /// The dependences at equal values of the `fixed` members.
    fn at(&self, relation: &UnionMap, fixed: &[usize]) -> Result<UnionMap> {
        fixed.iter().try_fold(relation.clone(), |here, m| {
            self.functions[*m].to_multi().and_then(|function| here.eq_at(&function)).map_err(fault::library)
        })
    }

    /// The statements of a zone in parts, as the dependences want at equal values of the `fixed`
    /// members: together where they go in circles.
    fn parts(&self, zone: &UnionSet, relation: &UnionMap, fixed: &[usize]) -> Result<Vec<Vec<Own<'_>>>> {
        let here = self.at(relation, fixed)?;
        let mut left: Vec<Own<'_>> = Vec::new();
        for statement in &self.statements {
            let set = statement.domain.to_union().and_then(|s| s.intersect(zone)).map_err(fault::library)?;
            if !set.is_empty().map_err(fault::library)? {
                left.push((statement, set));
            }
        }
        let needs = |a: &UnionSet, b: &UnionSet| -> Result<bool> {
            let pairs = here.intersect_domain(a).and_then(|r| r.intersect_range(b));
            Ok(!pairs.and_then(|pairs| pairs.is_empty()).map_err(fault::library)?)
        };
        let mut parts: Vec<Vec<Own<'_>>> = Vec::new();
        while !left.is_empty() {
            let mut first = None;
            for k in 0..left.len() {
                let mut waits = false;
                for other in (0..left.len()).filter(|other| *other != k) {
                    waits = waits || needs(&left[other].1, &left[k].1)?;
                }
                if !waits {
                    first = Some(k);
                    break;
                }
            }
            match first {
                Some(k) => parts.push(vec![left.remove(k)]),
                None => parts.push(std::mem::take(&mut left)),
            }
        }
        Ok(parts)
    }

    /// The parts of a zone one after the other. `make` gets the statements of a part, and whether a
    /// member carries a dependence of it.
    fn one_by_one(
        &self,
        zone: &UnionSet,
        relation: &UnionMap,
        fixed: &[usize],
        make: &Make<'_>,
    ) -> Result<Node> {
        let here = self.at(relation, fixed)?;
        let mut branches = Vec::new();
        for part in self.parts(zone, relation, fixed)? {
            let mut set = UnionSet::empty(&self.model.ctx).map_err(fault::library)?;
            for (_, own) in &part {
                set = set.union(own).map_err(fault::library)?;
            }
            let statements: Vec<&Statement> = part.iter().map(|(statement, _)| *statement).collect();
            let pairs =
                here.intersect_domain(&set).and_then(|r| r.intersect_range(&set)).map_err(fault::library)?;
            let carries = |member: usize| {
                self.carries_nothing(&pairs, member).map(|free| !free).map_err(fault::library)
            };
            let child = make(&statements, &carries)?;
            // The zone is said above: here only which statements.
            let names = set.universe().map_err(fault::library)?;
            branches.push(Branch { filter: SetText::new(names.to_string()), child: Box::new(child) });
        }
        Ok(if branches.len() == 1 { *branches.remove(0).child } else { Node::Sequence(branches) })
    }
}

/// A statement with its instances in a zone.
type Own<'a> = (&'a Statement, UnionSet);

/// Whether a member carries a dependence.
type Carries<'a> = dyn Fn(usize) -> Result<bool> + 'a;

/// What is made of some statements, given whether a member carries a dependence of them.
type Make<'a> = dyn Fn(&[&Statement], &Carries<'_>) -> Result<Node> + 'a;

/// Rows or columns of a panel that a thread takes at a time.
const STRIP: i64 = 64;
