//! Fusion over different numbers of parallel loops: a nest that makes the elements of a matrix, one
//! by one, joins the sums over them.
//!
//! `A[i][j] += ...` can run in parallel over both loops, `x[j] += A[i][j] * y[i]` over one; side by
//! side they move the matrix once more. Where each element is used in the iteration of both loops
//! that makes it, the first nest gives up a parallel loop, and both run in the same tiles.

use super::host_split::{self, Kernel, Part};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{Branch, FunctionText, LoopCode, Member, Node, SetText};

/// Two kernels in one, with a part that has statements of both; none if that is not right, or of no
/// use.
pub(super) fn fused(
    model: &Model,
    dependences: &[Dependence],
    a: &Kernel,
    b: &Kernel,
) -> Result<Option<Kernel>> {
    let ([part], [first, rest @ ..]) = (a.parts.as_slice(), b.parts.as_slice()) else { return Ok(None) };
    let plain = a.parallel.len() == 2
        && b.parallel.len() == 1
        && a.outer.is_empty()
        && b.outer.is_empty()
        && part.inner.is_empty()
        && part.leaf == Node::Leaf
        && first.inner.len() == 1
        && first.single == 0
        && first.leaf == Node::Leaf;
    if !plain {
        return Ok(None);
    }
    for k in 0..2 {
        let narrow = Part { inner: vec![a.parallel[1 - k].clone()], ..part.clone() };
        let own = Kernel { parallel: vec![a.parallel[k].clone()], parts: vec![narrow.clone()], ..a.clone() };
        let Some(joined) = host_split::joined(model, dependences, &own, b)? else { continue };
        let Some(both) = together(model, dependences, &narrow, first)? else { continue };
        let parts = std::iter::once(both).chain(rest.iter().cloned()).collect();
        return Ok(Some(Kernel { parts, ..joined }));
    }
    Ok(None)
}

/// Two parts as one, whose second statement follows the first in each iteration.
fn together(model: &Model, dependences: &[Dependence], a: &Part, b: &Part) -> Result<Option<Part>> {
    let (left, right) =
        (host_split::function(model, &a.inner[0])?, host_split::function(model, &b.inner[0])?);
    let both = left.union_add(&right).map_err(fault::library)?;
    let (from, to) = (host_split::read(model, &a.filter)?, host_split::read(model, &b.filter)?);
    let mut related = false;
    for dependence in dependences {
        let pointwise = || -> isl::Result<Option<bool>> {
            let between = dependence.relation.intersect_params(&model.context)?.to_union()?;
            let between = between.intersect_domain(&from)?.intersect_range(&to)?;
            if between.is_empty()? {
                return Ok(None);
            }
            Ok(Some(between.is_subset(&between.eq_at(&both.to_multi()?)?)?))
        };
        match pointwise().map_err(fault::library)? {
            Some(true) => related = true,
            Some(false) => return Ok(None),
            None => {}
        }
    }
    if !related {
        return Ok(None);
    }
    let filter = SetText::new(from.union(&to).map_err(fault::library)?.to_string());
    let leaf = |filter: &SetText| Branch { filter: filter.clone(), child: Box::new(Node::Leaf) };
    Ok(Some(Part {
        filter,
        inner: vec![Member {
            function: FunctionText::new(both.to_string()),
            coincident: false,
            code: LoopCode::Default,
        }],
        single: 0,
        whole: vec![],
        sizes: vec![],
        leaf: Node::Sequence(vec![leaf(&a.filter), leaf(&b.filter)]),
        statements: a.statements.iter().chain(&b.statements).copied().collect(),
        pad: None,
    }))
}

/// Whether what is below some loops is statements alone, so that the parallel ones may go
/// innermost.
pub(super) fn flat(leaf: &Node) -> bool {
    match leaf {
        Node::Leaf => true,
        Node::Sequence(branches) => branches.iter().all(|b| *b.child == Node::Leaf),
        _ => false,
    }
}
