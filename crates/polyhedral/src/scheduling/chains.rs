//! Statements that hand values on in scalars within one iteration: no schedule takes them apart, so
//! the scheduler sees one of them for all.
//!
//! The work of the set library's scheduler grows much faster than the number of statements; bodies
//! of twenty assignments to local variables (a lattice Boltzmann step) took it longer than its
//! limit. PPCG does the like with `--group-chains`.

use isl::{UnionMap, UnionSet};

use crate::dependence::{Dependence, Kind};
use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::tree::{Band, Branch, FunctionText, Member, Node, SetText, Tree, tuple};

/// With fewer statements the scheduler is quick.
const FEW: usize = 10;

/// Which statement stands for which.
pub(super) struct Chains<'m> {
    model: &'m Model,
    /// For each statement, as its position in the model, the first of its chain: itself, if it is
    /// in none.
    heads: Vec<usize>,
    /// From each instance to that of the head.
    contraction: UnionMap,
    /// From each instance of a head to those that it stands for.
    expansion: UnionMap,
    /// Instances of heads of two statements and more, with themselves.
    same: UnionMap,
}

impl<'m> Chains<'m> {
    /// The chains of a model, of local scalars or of local arrays as well; none where the scheduler
    /// does without.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn of(model: &'m Model, dependences: &[Dependence], arrays: bool) -> Result<Option<Chains<'m>>> {
        if model.statements.len() < FEW && !swaps(model, dependences, arrays) {
            return Ok(None);
        }
        let heads = heads(model, dependences, arrays)?;
        if heads.iter().enumerate().all(|(k, head)| k == *head) {
            return Ok(None);
        }
        let mut pairs = Vec::new();
        for (statement, head) in model.statements.iter().zip(&heads) {
            let (own, names) = tuple(statement)?;
            pairs.push(format!("{own} -> {}[{}]", model.statements[*head].tuple, names.join(", ")));
        }
        let contraction = UnionMap::read(&model.ctx, &format!("{{ {} }}", pairs.join("; ")));
        let contraction = contraction.map_err(fault::library)?;
        let mut same = UnionSet::empty(&model.ctx).map_err(fault::library)?;
        for (k, head) in heads.iter().enumerate() {
            if k != *head {
                let set = model.statements[*head].domain.to_union();
                same = set.and_then(|set| same.union(&set.universe()?)).map_err(fault::library)?;
            }
        }
        let expansion = contraction.reverse().map_err(fault::library)?;
        let same = same.identity().map_err(fault::library)?;
        Ok(Some(Chains { model, heads, contraction, expansion, same }))
    }

    /// Whether a dependence is one of storage that each instance of a chain has for itself: a local
    /// scalar that nothing else uses. Chains stay together, so it orders nothing.
    ///
    /// Of many statements it is said that it does: the scheduler is slow without (a step of a
    /// lattice Boltzmann method took 9 s, not 0.6).
    pub fn is_storage(&self, dependence: &Dependence) -> bool {
        if self.model.statements.len() >= FEW {
            return false;
        }
        let mut locals = self.model.locals.iter();
        let scalar = locals.any(|local| local.name == dependence.array && local.dims.is_empty());
        if !dependence.private || !scalar {
            return false;
        }
        let touches = |s: &Statement| s.accesses.iter().any(|touch| touch.array == dependence.array);
        let statements = self.model.statements.iter().zip(&self.heads);
        let mut heads = statements.filter(|(s, _)| touches(s)).map(|(_, head)| head);
        let first = heads.next();
        heads.all(|head| Some(head) == first)
    }

    /// The instances of heads.
    pub(crate) fn folded_domain(&self, domain: &UnionSet) -> isl::Result<UnionSet> {
        domain.apply(&self.contraction)
    }

    /// A relation between instances as one between those of heads. What it says within an instance
    /// of a chain is left out, since that keeps its order.
    pub fn folded(&self, relation: &UnionMap) -> isl::Result<UnionMap> {
        let heads = self.expansion.apply_range(relation)?.apply_range(&self.contraction)?;
        heads.subtract(&self.same)?.coalesce()
    }

    /// A schedule of heads as one of all statements.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn unfolded(&self, tree: Tree) -> Result<Tree> {
        Ok(Tree { root: self.node(tree.root, &[])? })
    }

    /// A node whose instances are those of `active` heads.
    fn node(&self, node: Node, active: &[usize]) -> Result<Node> {
        Ok(match node {
            Node::Domain { domain, child } => {
                let active = self.active(&domain)?;
                let child = Box::new(self.node(*child, &active)?);
                Node::Domain { domain: self.set(&domain)?, child }
            }
            Node::Filter(branch) => Node::Filter(self.branch(branch)?),
            Node::Sequence(branches) => {
                Node::Sequence(branches.into_iter().map(|b| self.branch(b)).collect::<Result<_>>()?)
            }
            Node::Set(branches) => {
                Node::Set(branches.into_iter().map(|b| self.branch(b)).collect::<Result<_>>()?)
            }
            Node::Band(band) => {
                let members = band.members.into_iter().map(|m| self.member(m)).collect::<Result<_>>()?;
                Node::Band(Band { members, child: Box::new(self.node(*band.child, active)?), ..band })
            }
            Node::Leaf => self.leaf(active)?,
            other => return Err(fault::edit(format!("the scheduler made a {} node", other.kind()))),
        })
    }

    fn branch(&self, branch: Branch) -> Result<Branch> {
        let active = self.active(&branch.filter)?;
        Ok(Branch { filter: self.set(&branch.filter)?, child: Box::new(self.node(*branch.child, &active)?) })
    }

    /// The heads that a set has instances of.
    fn active(&self, set: &SetText) -> Result<Vec<usize>> {
        let sets = UnionSet::read(&self.model.ctx, set.as_str()).and_then(|set| set.sets());
        let mut found = Vec::new();
        for set in sets.map_err(fault::library)? {
            let name = set.tuple_name().map_err(fault::library)?;
            found.extend(self.model.statements.iter().position(|s| Some(&s.tuple) == name.as_ref()));
        }
        found.sort_unstable();
        Ok(found)
    }

    fn set(&self, set: &SetText) -> Result<SetText> {
        let set = UnionSet::read(&self.model.ctx, set.as_str()).and_then(|set| set.apply(&self.expansion));
        Ok(SetText::new(set.map_err(fault::library)?.to_string()))
    }

    fn member(&self, member: Member) -> Result<Member> {
        let function = || -> isl::Result<Option<isl::UnionPwAff>> {
            let own = isl::UnionPwAff::read(&self.model.ctx, member.function.as_str())?;
            let all = self.contraction.apply_range(&own.graph()?)?;
            Ok(all.as_multi_union_pw_aff()?.members()?.into_iter().next())
        };
        let Some(function) = function().map_err(fault::library)? else { return Ok(member) };
        Ok(Member { function: FunctionText::new(function.to_string()), ..member })
    }

    /// The statements of chains, in the order of the text.
    fn leaf(&self, active: &[usize]) -> Result<Node> {
        let stands = |head: usize| (head..self.heads.len()).filter(move |k| self.heads[*k] == head);
        let all: Vec<usize> = active.iter().flat_map(|head| stands(*head)).collect();
        if all.len() == active.len() {
            return Ok(Node::Leaf);
        }
        let branch = |k: usize| -> Result<Branch> {
            let filter = SetText::new(format!("{{ {} }}", tuple(&self.model.statements[k])?.0));
            Ok(Branch { filter, child: Box::new(Node::Leaf) })
        };
        Ok(Node::Sequence(all.into_iter().map(branch).collect::<Result<_>>()?))
    }
}

/// Whether iterations keep values in local scalars that no other text takes the place of, as those
/// of a swap. On cores such a scalar is memory of each.
fn swaps(model: &Model, dependences: &[Dependence], on_cores: bool) -> bool {
    let private = |d: &Dependence| d.private && model.locals.iter().any(|l| l.name == d.array);
    !on_cores && dependences.iter().any(private) && passes::COPY_PROPAGATION.run(&model.function).is_none()
}

/// The first statement of each one's chain. A chain is a run of statements of one body, from the
/// first that touches a local to the last, if what is read of it was written in the same iteration;
/// runs that overlap are one.
fn heads(model: &Model, dependences: &[Dependence], arrays: bool) -> Result<Vec<usize>> {
    let mut heads: Vec<usize> = (0..model.statements.len()).collect();
    for local in model.locals.iter().filter(|l| arrays || l.dims.is_empty()) {
        let touches = |s: &Statement| s.accesses.iter().any(|touch| touch.array == local.name);
        let users: Vec<usize> =
            model.statements.iter().enumerate().filter(|(_, s)| touches(s)).map(|(k, _)| k).collect();
        let (Some(first), Some(last)) = (users.first(), users.last()) else { continue };
        let mut stays = first < last;
        for k in *first..=*last {
            stays = stays && beside(&model.statements[*first], &model.statements[k])?;
        }
        for d in dependences.iter().filter(|d| d.array == local.name && d.kind == Kind::Flow) {
            // That another iteration's value would be read is said of storage alone.
            stays = stays && (d.private || within(d).map_err(fault::library)?);
        }
        if stays {
            let head = heads[*first];
            let last = (*last..heads.len()).take_while(|k| heads[*k] <= *last).last().unwrap_or(*last);
            heads[head..=last].fill(head);
        }
    }
    Ok(heads)
}

/// Whether two statements are in one body, run for the same iterations, and without conditions on
/// data.
fn beside(a: &Statement, b: &Statement) -> Result<bool> {
    let body = |s: &Statement| s.position[..s.position.len() - 1].to_vec();
    let loops = |s: &Statement| s.loops.iter().map(|l| l.number).collect::<Vec<_>>();
    let plain = |s: &Statement| s.guards.is_empty() && s.nest.is_none();
    if body(a) != body(b) || loops(a) != loops(b) || !plain(a) || !plain(b) {
        return Ok(false);
    }
    b.domain.set_tuple_name(&a.tuple).and_then(|own| own.is_equal(&a.domain)).map_err(fault::library)
}

/// Whether a dependence stays inside one iteration of all loops.
fn within(dependence: &Dependence) -> isl::Result<bool> {
    let dims = dependence.relation.dim(isl::Dim::In)?;
    let mut same = isl::Map::universe(&dependence.relation.space()?)?;
    for level in 0..dims {
        same = same.equate((isl::Dim::In, level), (isl::Dim::Out, level))?;
    }
    dependence.relation.is_subset(&same)
}
