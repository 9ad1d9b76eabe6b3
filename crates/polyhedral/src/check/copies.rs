//! Copies of statements: each is the original under its instance map, and together they run every
//! original instance exactly once.

use isl::{Dim, Map, MultiPwAff, PwAff, Set};
use loops::{Code, Diagnostic, Expr, Name};

use super::describe;
use super::inverse::guess;
use super::shape::{index_pairs, nest_pairs, same_nest, same_shape, same_value, value_pairs};
use crate::affine::Frame;
use crate::codegen::{Generated, guards, instance, nest_instance};
use crate::fault::{self, Result};
use crate::model::{Model, Statement, nest};

/// A generated statement and the original that it claims to be.
pub(super) struct Copy<'a> {
    /// The generated statement.
    pub new: &'a Statement,
    /// Position of the original among the statements.
    pub original: usize,
    /// From instances of this copy to original ones: the claim, on the copy's domain.
    pub to_old: Map,
    /// From original instances to instances of this copy.
    pub to_new: Map,
    /// The new loops as functions of the original ones, and the instances that the copy runs, where
    /// both were found.
    pub inverse: Option<(Vec<PwAff>, Set)>,
    /// Whether the new loops are said to be the original ones, each for itself.
    pub unmoved: bool,
    /// What the new loops may be as functions of the original ones.
    guess: Option<Vec<PwAff>>,
}

impl Copy<'_> {
    /// Finds the new loops as functions of the original ones and verifies that these are the
    /// inverse of the claim; then the copy's inverse is that function, on the instances that it
    /// runs. Existence of a new instance is shown by naming it, which is much easier for the set
    /// library than to project the tile loops out. `false` if there is no such function; nothing is
    /// concluded then.
    fn invert(&mut self, all: &Set) -> isl::Result<bool> {
        // Of nothing, everything is an inverse.
        if self.new.domain.is_empty()? {
            return Ok(false);
        }
        if self.unmoved {
            let own = |k| PwAff::variable(&all.space()?, Dim::SET, k);
            let functions = (0..self.new.loops.len()).map(own).collect::<isl::Result<Vec<_>>>()?;
            // There and back again is the identity.
            return self.inverted(functions, all).map(|()| true);
        }
        if let Some(functions) = self.guess.take()
            && self.invert_by(functions, all)?
        {
            return Ok(true);
        }
        if !self.to_new.is_single_valued()? {
            return Ok(false);
        }
        let mut functions = Vec::new();
        for function in self.to_new.as_pw_multi_aff()?.pw_affs()? {
            let [(_, aff)] = &function.coalesce()?.pieces()?[..] else { return Ok(false) };
            functions.push(aff.to_pw()?);
        }
        self.invert_by(functions, all)
    }

    /// As [`Copy::invert`], with given functions.
    fn invert_by(&mut self, functions: Vec<PwAff>, all: &Set) -> isl::Result<bool> {
        let space = self.to_new.space()?;
        let inverse = MultiPwAff::from_list(&space, &functions)?;
        // From the new loops to the instance and back: each loop variable must come out again.
        let claim = match self.to_old.gist_domain(&self.new.domain)?.as_pw_multi_aff() {
            // What the domain implies can be what made it a function.
            Err(error) if error.kind == isl::ErrorKind::Invalid => self.to_old.as_pw_multi_aff(),
            claim => claim,
        };
        let claim = claim?.pw_affs()?;
        let claim = MultiPwAff::from_list(&self.to_old.space()?, &claim)?;
        for (k, function) in functions.iter().enumerate() {
            let own = PwAff::variable(&self.new.domain.space()?, Dim::SET, k)?;
            let differ = function.pullback(&claim)?.ne_set(&own)?;
            if !differ.is_disjoint(&self.new.domain)? {
                return Ok(false);
            }
        }
        let run = self.run(&inverse, all)?;
        // From an instance to the new loops and back.
        for (k, function) in claim.pw_affs()?.iter().enumerate() {
            let own = PwAff::variable(&all.space()?, Dim::SET, k)?;
            if !function.pullback(&inverse)?.ne_set(&own)?.is_disjoint(&run)? {
                return Ok(false);
            }
        }
        self.to_new = Map::from_multi_pw_aff(&inverse)?.intersect_domain(&run)?;
        self.inverse = Some((functions, run));
        Ok(true)
    }

    /// Takes functions that are known to be the inverse of the claim.
    fn inverted(&mut self, functions: Vec<PwAff>, all: &Set) -> isl::Result<()> {
        let inverse = MultiPwAff::from_list(&self.to_new.space()?, &functions)?;
        let run = self.run(&inverse, all)?;
        self.to_new = Map::from_multi_pw_aff(&inverse)?.intersect_domain(&run)?;
        self.inverse = Some((functions, run));
        Ok(())
    }

    /// The original instances that the copy runs.
    fn run(&self, inverse: &MultiPwAff, all: &Set) -> isl::Result<Set> {
        let covered = holds_everywhere(&self.new.domain, inverse, all)?;
        if covered { Ok(all.clone()) } else { self.new.domain.preimage(inverse)?.intersect(all) }
    }
}

/// Whether `function` maps all of `all` into `target`, one constraint of it at a time: many small
/// questions are easier than a large one. `false` also if that cannot be seen in this way.
fn holds_everywhere(target: &Set, function: &MultiPwAff, all: &Set) -> isl::Result<bool> {
    let parts = target.compute_divs()?.basic_sets()?;
    let [part] = parts.as_slice() else { return Ok(false) };
    for constraint in part.constraints()? {
        if constraint.is_div_constraint()? {
            continue;
        }
        let value = constraint.aff()?.to_pw()?.pullback(function)?;
        let zero = PwAff::constant(&all.space()?, 0)?;
        let wrong = if constraint.is_equality()? { value.ne_set(&zero)? } else { value.lt_set(&zero)? };
        if !wrong.is_disjoint(all)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Verifies that a generated statement is the original under its instance map.
pub(super) fn copy<'a>(
    old: &Model,
    new_model: &Model,
    new: &'a Statement,
    generated: &Generated,
) -> Result<Copy<'a>> {
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
        let map = Map::from_multi_pw_aff(&MultiPwAff::from_list(&from.map_to(&to)?, &functions)?)?;
        let map = map.set_tuple_name(Dim::In, &new.tuple)?.set_tuple_name(Dim::Out, &source.tuple)?;
        map.intersect_domain(&new.domain)?.intersect_params(&new_model.context)
    };
    let to_old = build().map_err(fault::library)?;
    // The statement, with the original's iterators put in, must be the generated one: same shape,
    // same elements.
    let expected = instance(source, &claim.iterators, new.label.clone());
    let expected_nest = source.nest.as_ref().map(|l| nest_instance(source, l, &claim.iterators));
    let same = match (&expected_nest, &new.nest) {
        (Some(a), Some(b)) => same_nest(a, b),
        (None, None) => same_shape(&expected, &new.assign),
        _ => false,
    };
    if !same {
        let message = format!(
            "the generated statement `{}` computes something else than `{}`",
            new.label, source.label
        );
        return Err(foreign(message)
            .note(format!("generated: {} = {}", new.assign.target, new.assign.value))
            .note(format!("expected: {} = {}", expected.target, expected.value)));
    }
    // It runs under the same conditions.
    let conditions = guards(source, &claim.iterators);
    let facing = || conditions.iter().zip(&new.guards);
    if conditions.len() != new.guards.len() || !facing().all(|(a, b)| same_value(a, b)) {
        let message = format!(
            "the generated statement `{}` runs under other conditions than `{}`",
            new.label, source.label
        );
        return Err(foreign(message));
    }
    let mut pairs = Vec::new();
    let mut inside = Vec::new();
    match (&expected_nest, &new.nest) {
        (Some(a), Some(b)) => nest_pairs(a, b, &mut inside),
        _ => index_pairs(&expected, &new.assign, &mut pairs),
    }
    facing().for_each(|(a, b)| value_pairs(a, b, &mut pairs));
    let equal = |frame: &Frame, more: usize, a: &Expr, b: &Expr| -> Result<()> {
        if a == b {
            return Ok(());
        }
        let (a_function, b_function) = (frame.function("a subscript", a)?, frame.function("a subscript", b)?);
        let differ = || -> isl::Result<bool> {
            let domain = new.domain.insert_dims(Dim::SET, new.loops.len(), more)?;
            let set = a_function.ne_set(&b_function)?.set_tuple_name(&new.tuple)?;
            let domain = domain.set_tuple_name(&new.tuple)?;
            Ok(!set.intersect(&domain)?.intersect_params(&new_model.context)?.is_empty()?)
        };
        if differ().map_err(fault::library)? {
            let message = format!(
                "the generated statement `{}` has `{b}` where `{}` has `{a}`",
                new.label, source.label
            );
            return Err(foreign(message));
        }
        Ok(())
    };
    for (a, b) in pairs {
        equal(&frame, 0, a, b)?;
    }
    // Inside of a nest its variables may be any numbers, the same on both sides; they hide nothing.
    let vars = new.nest.as_ref().map(nest::vars).unwrap_or_default();
    let within = vars.iter().try_fold(frame.clone(), |frame, var| frame.inside(var));
    let within = within.map_err(fault::library)?;
    for (a, b) in inside {
        equal(&within, vars.len(), a, b)?;
    }
    let to_new = to_old.reverse().map_err(fault::library)?;
    let guess = guessed(old, source, new, &claim.iterators)?;
    let unmoved = is_identity(new, &claim.iterators);
    Ok(Copy { new, original: position, to_old, to_new, inverse: None, unmoved, guess })
}

/// Whether a claim names the loops around a statement, each once and in their order.
fn is_identity(new: &Statement, claim: &[Expr]) -> bool {
    let vars = new.iterators();
    let apart = vars.iter().enumerate().all(|(k, var)| !vars[..k].contains(var));
    let same = |(e, var): (&Expr, &Name)| matches!(e, Expr::Var(name) if name == var);
    apart && claim.len() == vars.len() && claim.iter().zip(&vars).all(same)
}

/// The new loops as functions of the original ones, where they can be guessed.
fn guessed(old: &Model, source: &Statement, new: &Statement, claim: &[Expr]) -> Result<Option<Vec<PwAff>>> {
    let sizes = &old.function.sizes;
    let Some(values) = guess(&new.loops, &source.iterators(), sizes, claim) else { return Ok(None) };
    let space = source.domain.space().map_err(fault::library)?;
    let frame = Frame::of_space(&space, sizes, source.iterators());
    values.iter().map(|e| frame.function("a loop", e)).collect::<Result<Vec<_>>>().map(Some)
}

/// Every original instance is run by exactly one instance of the copies, and no other is.
pub(super) fn once_each(model: &Model, statement: &Statement, copies: &mut [&mut Copy]) -> Result<()> {
    let problem = |what: &str, set: &Set| -> Result<Diagnostic> {
        let point = describe(model, &[(&statement.label, statement.loops.len())], set)?;
        let message = format!("an instance of `{}` {what}: {point}", statement.label);
        Ok(Diagnostic::general(Code("P0402"), message))
    };
    let mut wrong = || -> isl::Result<Option<(&str, Set)>> {
        let all = statement.domain.intersect_params(&model.context)?;
        for copy in copies.iter_mut() {
            // In the space of the new loops, where nothing has to be projected out.
            let claim = copy.to_old.gist_domain(&copy.new.domain)?;
            let inside = all.apply(&claim.reverse()?)?;
            if !copy.to_old.domain()?.is_subset(&inside)? {
                return Ok(Some((
                    "is run that the original does not have",
                    copy.to_old.range()?.subtract(&all)?,
                )));
            }
            if !copy.invert(&all)? && !copy.to_new.is_single_valued()? {
                let twice = copy.to_new.lexmin()?;
                return Ok(Some(("is run twice", copy.to_new.subtract(&twice)?.domain()?)));
            }
        }
        let runs = copies.iter().map(|copy| copy.to_new.domain()).collect::<isl::Result<Vec<_>>>()?;
        let mut rest = all;
        for (k, run) in runs.iter().enumerate() {
            for other in &runs[k + 1..] {
                if !run.is_disjoint(other)? {
                    return Ok(Some(("is run twice", run.intersect(other)?)));
                }
            }
            rest = rest.subtract(run)?;
        }
        Ok((!rest.is_empty()?).then_some(("is not run", rest)))
    };
    match wrong().map_err(fault::library)? {
        None => Ok(()),
        Some((what, set)) => Err(problem(what, &set)?),
    }
}
