//! The legality checker: holds a schedule, and above all the generated function, against the dependences of the original.
//!
//! It trusts neither the scheduler, nor the edits, nor code generation. The generated function is extracted again, from its text; the instance
//! map that came with it is a claim that is verified: each copy of a statement must be the original under the map, the copies together
//! must run every original instance exactly once, in an order that respects every dependence, and no parallel loop may carry one.
//! What is found wrong is shown by two concrete instances.
//!
//! Left out: rewritings that change the data that a statement touches (packing, privatised accumulators); they bring their own argument.

use std::collections::{BTreeMap, BTreeSet};

use isl::{Ctx, Dim, Map, Set};
use loops::{Assign, Code, Diagnostic, Expr, Function, LoopKind, Name, ReduceOp};

use crate::affine::Frame;
use crate::codegen::{Generated, instance};
use crate::dependence::{self, Dependence, before, shared_loops};
use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::tree::Tree;

/// What was checked, for the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Statements of the generated function.
    pub statements: usize,
    /// Dependences of the original that were looked at.
    pub dependences: usize,
    /// Parallel and vector loops.
    pub parallel_loops: usize,
}

/// Whether a tree respects dependences that may not be reordered.
///
/// # Errors
/// `P0401` with two instances if it does not; those of the set library.
pub fn tree(model: &Model, dependences: &[Dependence], tree: &Tree) -> Result<()> {
    let schedule = tree.to_isl(&model.ctx)?;
    let time = schedule.map().map_err(fault::library)?;
    for dependence in dependences.iter().filter(|d| d.reduction.is_none()) {
        let wrong = || -> isl::Result<Option<Map>> {
            let relation = dependence.relation.intersect_params(&model.context)?;
            let late = relation.to_union()?.intersect(&time.lex_ge(&time)?)?;
            late.maps()?.into_iter().next().map_or(Ok(None), |map| Ok((!map.is_empty()?).then_some(map)))
        };
        if let Some(pairs) = wrong().map_err(fault::library)? {
            return Err(violation(model, dependence, &pairs, None)?);
        }
    }
    Ok(())
}

/// Checks a generated function against the function it was made from.
///
/// `operations` bounds the work in the set library.
///
/// # Errors
/// `P0401` a dependence is violated; `P0402` an instance is missing, doubled or foreign; `P0403` a statement is not a copy of the original;
/// `P0404` a parallel loop carries a dependence; `P0405` the interface was changed; `P0002` the limit was reached.
pub fn function(original: &Function, generated: &Generated, operations: u64) -> Result<Checked> {
    // A context of its own: nothing that the makers of the code left behind is used.
    let ctx = Ctx::new();
    ctx.limited(operations, || check(&ctx, original, generated))
}

/// A generated statement and the original that it claims to be.
struct Copy<'a> {
    new: &'a Statement,
    /// Position of the original among the statements.
    original: usize,
    /// From original instances to instances of this copy.
    to_new: Map,
}

impl Copy<'_> {
    /// The same map with fewer constraints: the new loops as functions of the original ones, without what their bounds repeat.
    ///
    /// Only after [`once_each`]: it is single-valued then. The result is an equal map, not an approximation.
    fn simplify(&mut self, model: &Model) -> isl::Result<()> {
        let domain = model.statements[self.original].domain.intersect_params(&model.context)?;
        let part = self.to_new.domain()?;
        let part = if domain.is_subset(&part)? { domain.clone() } else { part.coalesce()? };
        let function = self.to_new.as_pw_multi_aff()?.gist(&domain)?.coalesce()?;
        self.to_new = Map::from_pw_multi_aff(&function)?.intersect_domain(&part)?;
        Ok(())
    }
}

fn check(ctx: &Ctx, original: &Function, generated: &Generated) -> Result<Checked> {
    let before_change = Model::extract_in(ctx, original)?;
    let after_change = Model::extract_in(ctx, &generated.function)?;
    same_interface(&before_change, &after_change)?;
    let mut copies = Vec::new();
    for statement in &after_change.statements {
        copies.push(copy(&before_change, &after_change, statement, generated)?);
    }
    for (k, statement) in before_change.statements.iter().enumerate() {
        let own: Vec<&Copy> = copies.iter().filter(|c| c.original == k).collect();
        once_each(&before_change, statement, &own)?;
    }
    for copy in &mut copies {
        copy.simplify(&before_change).map_err(fault::library)?;
    }
    let dependences = dependence::memory(&before_change)?;
    for dependence in &dependences {
        respected(&before_change, dependence, &copies)?;
    }
    let mut parallel = BTreeSet::new();
    for statement in &after_change.statements {
        for around in &statement.loops {
            if matches!(around.kind, LoopKind::Parallel | LoopKind::Vector) {
                parallel.insert(around.number);
            }
            only_updates(statement, &around.reductions, &around.var)?;
        }
    }
    Ok(Checked {
        statements: after_change.statements.len(),
        dependences: dependences.len(),
        parallel_loops: parallel.len(),
    })
}

fn same_interface(old: &Model, new: &Model) -> Result<()> {
    let (a, b) = (&old.function, &new.function);
    let locals = |model: &Model| -> BTreeMap<Name, loops::ArrayDecl> {
        model.locals.iter().map(|l| (l.name.clone(), l.clone())).collect()
    };
    let what = if a.sizes != b.sizes {
        "the sizes"
    } else if a.params != b.params {
        "the parameters"
    } else if a.assumptions != b.assumptions {
        "the assumptions"
    } else if locals(old) != locals(new) {
        "the local arrays"
    } else {
        return Ok(());
    };
    Err(Diagnostic::general(
        Code("P0405"),
        format!("{what} of `{}` were changed by the transformation", a.name),
    ))
}

/// Verifies that a generated statement is the original under its instance map.
fn copy<'a>(old: &Model, new_model: &Model, new: &'a Statement, generated: &Generated) -> Result<Copy<'a>> {
    let foreign = |message: String| Diagnostic::general(Code("P0403"), message);
    let claim = generated.instances.get(&new.label).ok_or_else(|| {
        foreign(format!("the generated statement `{}` comes from no original statement", new.label))
    })?;
    let position = old
        .statements
        .iter()
        .position(|s| s.label == claim.original)
        .ok_or_else(|| foreign(format!("`{}` is not a statement of the original", claim.original)))?;
    let source = &old.statements[position];
    if claim.iterators.len() != source.loops.len() {
        return Err(foreign(format!("`{}` gives `{}` a wrong number of iterators", new.label, source.label)));
    }
    // The map from new instances to original ones, read from the claim.
    let build_frame = || -> isl::Result<Frame> {
        let mut frame = Frame::new(&new_model.context.space()?, &new_model.function.sizes)?;
        for around in &new.loops {
            frame = frame.inside(&around.var)?;
        }
        Ok(frame)
    };
    let frame = build_frame().map_err(fault::library)?;
    let functions =
        claim.iterators.iter().map(|e| frame.function("the instance map", e)).collect::<Result<Vec<_>>>()?;
    let build = || -> isl::Result<Map> {
        let from = frame.space();
        let to = from.params()?.set_from_params()?.add_dims(Dim::SET, functions.len())?;
        let map = Map::from_multi_pw_aff(&isl::MultiPwAff::from_list(&from.map_to(&to)?, &functions)?)?;
        let map = map.set_tuple_name(Dim::In, &new.tuple)?.set_tuple_name(Dim::Out, &source.tuple)?;
        map.intersect_domain(&new.domain)?.intersect_params(&new_model.context)
    };
    let to_old = build().map_err(fault::library)?;
    // The statement, with the original's iterators put in, must be the generated one: same shape, same elements.
    let expected = instance(source, &claim.iterators, new.label.clone());
    if !same_shape(&expected, &new.assign) {
        let message = format!(
            "the generated statement `{}` computes something else than `{}`",
            new.label, source.label
        );
        return Err(foreign(message)
            .note(format!("generated: {} = {}", new.assign.target, new.assign.value))
            .note(format!("expected: {} = {}", expected.target, expected.value)));
    }
    let mut pairs = Vec::new();
    index_pairs(&expected, &new.assign, &mut pairs);
    for (a, b) in pairs {
        if a == b {
            continue;
        }
        let (a_function, b_function) = (frame.function("a subscript", a)?, frame.function("a subscript", b)?);
        let differ = || -> isl::Result<bool> {
            let set = a_function.ne_set(&b_function)?.set_tuple_name(&new.tuple)?;
            Ok(!set.intersect(&new.domain)?.intersect_params(&new_model.context)?.is_empty()?)
        };
        if differ().map_err(fault::library)? {
            let message = format!(
                "the generated statement `{}` has `{b}` where `{}` has `{a}`",
                new.label, source.label
            );
            return Err(foreign(message));
        }
    }
    Ok(Copy { new, original: position, to_new: to_old.reverse().map_err(fault::library)? })
}

/// Whether two assignments are equal up to index expressions.
fn same_shape(a: &Assign, b: &Assign) -> bool {
    a.update == b.update
        && a.target.array == b.target.array
        && a.target.path == b.target.path
        && a.target.indices.len() == b.target.indices.len()
        && same_value(&a.value, &b.value)
}

fn is_index(expr: &Expr) -> bool {
    match expr {
        Expr::Var(_) | Expr::Int(_) => true,
        Expr::Unary(loops::UnaryOp::Neg, a) => is_index(a),
        Expr::Binary(op, a, b) => {
            !matches!(op, loops::BinaryOp::Pow | loops::BinaryOp::And | loops::BinaryOp::Or)
                && is_index(a)
                && is_index(b)
        }
        _ => false,
    }
}

fn same_value(a: &Expr, b: &Expr) -> bool {
    if is_index(a) && is_index(b) {
        return true;
    }
    match (a, b) {
        (Expr::Load(x), Expr::Load(y)) => {
            x.array == y.array && x.path == y.path && x.indices.len() == y.indices.len()
        }
        _ => {
            let (left, right) = (a.children(), b.children());
            left.len() == right.len()
                && left.iter().zip(&right).all(|(x, y)| same_value(x, y))
                && head(a) == head(b)
        }
    }
}

/// The operation of an expression, its operands taken out.
fn head(expr: &Expr) -> Expr {
    expr.map_children(&mut |_| Expr::Int(0))
}

/// Index expressions of two assignments of one shape, in pairs.
fn index_pairs<'a>(a: &'a Assign, b: &'a Assign, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
    pairs.extend(a.target.indices.iter().zip(&b.target.indices));
    fn go<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) {
        match (a, b) {
            _ if is_index(a) && is_index(b) => pairs.push((a, b)),
            (Expr::Load(x), Expr::Load(y)) => pairs.extend(x.indices.iter().zip(&y.indices)),
            _ => a.children().into_iter().zip(b.children()).for_each(|(x, y)| go(x, y, pairs)),
        }
    }
    go(&a.value, &b.value, pairs);
}

/// Every original instance is run by exactly one instance of the copies, and no other is.
fn once_each(model: &Model, statement: &Statement, copies: &[&Copy]) -> Result<()> {
    let problem = |what: &str, set: &Set| -> Result<Diagnostic> {
        let point = describe(model, &[(&statement.label, statement.loops.len())], set)?;
        let message = format!("an instance of `{}` {what}: {point}", statement.label);
        Ok(Diagnostic::general(Code("P0402"), message))
    };
    let wrong = || -> isl::Result<Option<(&str, Set)>> {
        let all = statement.domain.intersect_params(&model.context)?;
        let mut rest = all.clone();
        for (k, copy) in copies.iter().enumerate() {
            let run = copy.to_new.domain()?;
            let foreign = run.subtract(&all)?;
            if !foreign.is_empty()? {
                return Ok(Some(("is run that the original does not have", foreign)));
            }
            if !copy.to_new.is_single_valued()? {
                let twice = copy.to_new.lexmin()?;
                return Ok(Some(("is run twice", copy.to_new.subtract(&twice)?.domain()?)));
            }
            for other in &copies[k + 1..] {
                let both = run.intersect(&other.to_new.domain()?)?;
                if !both.is_empty()? {
                    return Ok(Some(("is run twice", both)));
                }
            }
            rest = rest.subtract(&run)?;
        }
        Ok((!rest.is_empty()?).then_some(("is not run", rest)))
    };
    match wrong().map_err(fault::library)? {
        None => Ok(()),
        Some((what, set)) => Err(problem(what, &set)?),
    }
}

/// A dependence holds in the new order, and no parallel loop carries it.
fn respected(model: &Model, dependence: &Dependence, copies: &[Copy]) -> Result<()> {
    let label = |k: usize| &model.statements[k].label;
    for source in copies.iter().filter(|c| *label(c.original) == dependence.source) {
        for target in copies.iter().filter(|c| *label(c.original) == dependence.target) {
            let pairs = || -> isl::Result<Map> {
                // From new source instances to new target instances.
                let pairs = dependence.relation.intersect_params(&model.context)?;
                pairs.apply_domain(&source.to_new)?.apply_range(&target.to_new)
            };
            let pairs = pairs().map_err(fault::library)?;
            if dependence.reduction.is_none() {
                let wrong = || -> isl::Result<Option<Map>> {
                    let late = pairs.subtract(&before(source.new, target.new)?)?;
                    if late.is_empty()? {
                        return Ok(None);
                    }
                    Ok(Some(
                        late.apply_domain(&source.to_new.reverse()?)?
                            .apply_range(&target.to_new.reverse()?)?,
                    ))
                };
                if let Some(late) = wrong().map_err(fault::library)? {
                    return Err(violation(model, dependence, &late, None)?);
                }
            }
            carried(model, dependence, &pairs, source, target)?;
        }
    }
    Ok(())
}

/// What a loop privatises is only updated inside it, by that operation: anything else would see a partial result.
fn only_updates(statement: &Statement, reductions: &[(ReduceOp, Name)], var: &Name) -> Result<()> {
    for (op, array) in reductions {
        if statement.accesses.iter().any(|touch| touch.array == *array && touch.reduction != Some(*op)) {
            let message = format!(
                "the loop `{var}` privatises `{array}`, but `{}` inside does more than update it by `{}`",
                statement.label,
                op.symbol()
            );
            return Err(Diagnostic::general(Code("P0404"), message));
        }
    }
    Ok(())
}

/// No parallel loop that is around both carries one of the pairs.
fn carried(model: &Model, dependence: &Dependence, pairs: &Map, source: &Copy, target: &Copy) -> Result<()> {
    for level in 0..shared_loops(source.new, target.new) {
        let around = &source.new.loops[level];
        if !matches!(around.kind, LoopKind::Parallel | LoopKind::Vector) {
            continue;
        }
        // A privatised accumulator is combined by the loop: that is what frees a reduction.
        if let Some(op) = dependence.reduction
            && around.reductions.contains(&(op, dependence.array.clone()))
        {
            continue;
        }
        let wrong = || -> isl::Result<Option<Map>> {
            let mut here = pairs.clone();
            for outer in 0..level {
                here = here.equate((Dim::In, outer), (Dim::Out, outer))?;
            }
            let up = here.order_lt((Dim::In, level), (Dim::Out, level))?;
            let here = up.union(&here.order_gt((Dim::In, level), (Dim::Out, level))?)?;
            if here.is_empty()? {
                return Ok(None);
            }
            Ok(Some(here.apply_domain(&source.to_new.reverse()?)?.apply_range(&target.to_new.reverse()?)?))
        };
        if let Some(wrong) = wrong().map_err(fault::library)? {
            return Err(violation(model, dependence, &wrong, Some(&around.var))?);
        }
    }
    Ok(())
}

/// The diagnostic for a violated dependence: `pairs` are original instances.
fn violation(
    model: &Model,
    dependence: &Dependence,
    pairs: &Map,
    parallel: Option<&Name>,
) -> Result<Diagnostic> {
    let set = pairs.wrap().map_err(fault::library)?;
    let dims = |name: &Name| model.statements.iter().find(|s| s.label == *name).map_or(0, |s| s.loops.len());
    let ends =
        [(&dependence.source, dims(&dependence.source)), (&dependence.target, dims(&dependence.target))];
    let pair = describe(model, &ends, &set)?;
    let Dependence { kind, array, .. } = dependence;
    Ok(match parallel {
        None => Diagnostic::general(
            Code("P0401"),
            format!(
                "the order of two instances that depend on each other is lost ({kind} dependence on `{array}`): {pair}"
            ),
        ),
        Some(var) => Diagnostic::general(
            Code("P0404"),
            format!(
                "the parallel loop `{var}` carries a dependence ({kind} dependence on `{array}`): {pair}"
            ),
        ),
    })
}

/// A concrete element of a set of instances (or pairs of them), with the sizes.
fn describe(model: &Model, ends: &[(&Name, usize)], set: &Set) -> Result<String> {
    let sample = || -> isl::Result<String> {
        let sizes = &model.function.sizes;
        // Prefer small sizes, so that a person can replay it.
        let mut small = set.clone();
        for k in 0..small.dim(Dim::Param)? {
            let bounded = small.upper_bound(Dim::Param, k, 8)?.lower_bound(Dim::Param, k, -8)?;
            if !bounded.is_empty()? {
                small = bounded;
            }
        }
        let small = small.lexmin()?;
        let point = small.sample_point()?;
        let value =
            |kind: Dim, k: usize| -> isl::Result<String> { Ok(point.coordinate(kind, k)?.to_string()) };
        let mut next = 0;
        let mut parts = Vec::new();
        for (name, n) in ends {
            let coordinates =
                (next..next + n).map(|k| value(Dim::SET, k)).collect::<isl::Result<Vec<_>>>()?;
            next += n;
            parts.push(format!("{name}({})", coordinates.join(", ")));
        }
        let mut text = parts.join(" and ");
        if !sizes.is_empty() {
            let values = sizes
                .iter()
                .enumerate()
                .map(|(k, name)| Ok(format!("{name} = {}", value(Dim::Param, k)?)))
                .collect::<isl::Result<Vec<_>>>()?;
            text.push_str(&format!(" for {}", values.join(", ")));
        }
        Ok(text)
    };
    sample().map_err(fault::library)
}
