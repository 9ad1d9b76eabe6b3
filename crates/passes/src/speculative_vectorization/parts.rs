//! Records of a long loop in parts, for threads: each part begins with what the scalars were before
//! the loop, and the records of the parts are compared in the order of the parts.
//!
//! That is exact for all numbers. What a part ends with is what it began with, or the first (for
//! `>=`, the last) of the greatest of its elements above that. Among those of all parts, compared
//! in order by the same comparison, the one that stays is the one of the whole loop. NaN is above
//! nothing. Where an equal number takes the place of another one, a part says whether it has found
//! any. Left out: branches of several records, whose parts would have to be told apart.

use loops::simplify::tidy;
use loops::visit::rename_arrays;
use loops::{Access, Assign, CompareOp, Elem, Expr, Loop, LoopKind, Name, Scalar, Stmt, UnaryOp};
use std::collections::BTreeMap;

use super::{DEEPEST, Item, Own, Speculation, is_own, record, resolved};

/// Elements of a part: the records at its beginning are few beside it.
const PART: i64 = 16_384;

/// Shorter loops are done before a team of threads has begun.
const FEWEST: i64 = 131_072;

/// The records of parts.
struct Parts {
    /// A scalar, its copy in a part, the copies that parts end with, and its type.
    scalars: Vec<(Name, Name, Name, Elem)>,
    /// Whether a part has found any, where that is not seen.
    found: Option<(Name, Name)>,
    /// The loop over parts, and their number.
    var: Name,
    count: Expr,
}

impl Speculation {
    /// A loop of records in parts that threads share out, and the condition that it is long enough;
    /// none if its records cannot be compared.
    pub(super) fn parts(&mut self, l: &Loop, items: &[Item<'_>], own: &Own<'_>) -> Option<(Expr, Vec<Stmt>)> {
        let mut changes = items.iter().filter_map(|item| match item {
            Item::Change(_, branch) => Some(&**branch),
            Item::Own(_) => None,
        });
        let (Stmt::If { cond, then, otherwise }, None) = (changes.next()?, changes.next()) else {
            return None;
        };
        let assigns: Vec<&Assign> = loops::visit::assigns(then).collect();
        let written: Vec<&Name> = assigns.iter().map(|a| &a.target.array).collect();
        let reads = |e: &Expr| written.iter().any(|name| e.reads(name));
        // What is set is the same whatever was set before, and read in the comparison alone.
        let plain = |a: &&Assign| a.update.is_none() && a.target.path.is_empty() && !reads(&a.value);
        let (best, op) = assigns.iter().find_map(|a| Some((*a, record(cond, a, own, DEEPEST)?)))?;
        let sets = |item: &&Item<'_>| matches!(item, Item::Own(Stmt::Assign(a)) if reads(&a.value));
        let before = items.iter().filter(sets).count();
        let once = loads_of(cond, &written, own) == 1 && before == usize::from(is_own(cond, own));
        // What is not below is above, or NaN.
        let negates = |e: &Expr| matches!(e, Expr::Unary(UnaryOp::Not, _));
        let orders = !resolved(cond, own).nodes().any(negates);
        let length = tidy(&(l.upper.clone() - l.lower.clone()));
        let long = !matches!(length, Expr::Int(n) if n <= FEWEST);
        if !otherwise.is_empty() || !assigns.iter().all(plain) || !once || !orders || !long {
            return None;
        }
        let parts = self.named(l, &assigns, op, &length)?;
        let body = self.part(l, items, &parts);
        let mut all = Vec::new();
        for (_, _, ends, elem) in &parts.scalars {
            all.push(Stmt::local(ends.clone(), elem.clone(), vec![parts.count.clone()]));
        }
        if let Some((_, founds)) = &parts.found {
            all.push(Stmt::local(founds.clone(), Scalar::Bool, vec![parts.count.clone()]));
        }
        let loop_of = |kind, body| Stmt::Loop(Loop::upto(parts.var.clone(), parts.count.clone(), kind, body));
        all.push(loop_of(LoopKind::Parallel, body));
        all.push(loop_of(LoopKind::Sequential, vec![parts.compared(&best.target.array, op)]));
        Some((Expr::compare(CompareOp::Gt, length, Expr::Int(FEWEST)), all))
    }

    /// Names for the copies of what is replaced.
    fn named(&mut self, l: &Loop, assigns: &[&Assign], op: CompareOp, length: &Expr) -> Option<Parts> {
        let mut scalars: Vec<(Name, Name, Name, Elem)> = Vec::new();
        for a in assigns {
            let name = &a.target.array;
            let elem = self.types.array(name)?.0.clone();
            if scalars.iter().all(|(known, ..)| known != name) {
                let (own, ends) = (self.name(&format!("{name}_own")), self.name(&format!("{name}_parts")));
                scalars.push((name.clone(), own, ends, elem));
            }
        }
        let equal = matches!(op, CompareOp::Ge | CompareOp::Le);
        let found = equal.then(|| (self.name("found"), self.name("found_parts")));
        let count = tidy(&(length.clone() + Expr::Int(PART - 1))).floor_div(Expr::Int(PART));
        Some(Parts { scalars, found, var: self.name(&format!("{}_part", l.var)), count })
    }

    /// What is done in a part.
    fn part(&mut self, l: &Loop, items: &[Item<'_>], parts: &Parts) -> Vec<Stmt> {
        let at = |name: &Name| Access::element(name.clone(), vec![Expr::Var(parts.var.clone())]);
        let (mut body, mut end) = (Vec::new(), Vec::new());
        for (name, own, ends, elem) in &parts.scalars {
            body.push(Stmt::local(own.clone(), elem.clone(), Vec::new()));
            body.push(Stmt::assign(Access::scalar(own.clone()), Expr::scalar(name.clone())));
            end.push(Stmt::assign(at(ends), Expr::scalar(own.clone())));
        }
        if let Some((found, founds)) = &parts.found {
            body.push(Stmt::local(found.clone(), Scalar::Bool, Vec::new()));
            body.push(Stmt::assign(Access::scalar(found.clone()), Expr::Bool(false)));
            end.push(Stmt::assign(at(founds), Expr::scalar(found.clone())));
        }
        let from = tidy(&(l.lower.clone() + Expr::Var(parts.var.clone()) * Expr::Int(PART)));
        let to = tidy(&(from.clone() + Expr::Int(PART))).min(l.upper.clone());
        let mut strips = self.strips(&Loop { lower: from, upper: to, ..l.clone() }, items);
        if let Some((found, _)) = &parts.found {
            strips = noted(&strips, found);
        }
        let renaming: BTreeMap<Name, Name> =
            parts.scalars.iter().map(|(name, own, ..)| (name.clone(), own.clone())).collect();
        body.extend(rename_arrays(&[strips], &renaming));
        body.extend(end);
        body
    }
}

impl Parts {
    /// The comparison of a part's record with that of the parts before it.
    fn compared(&self, best: &Name, op: CompareOp) -> Stmt {
        let of = |ends: &Name| Expr::load(ends.clone(), vec![Expr::Var(self.var.clone())]);
        let mut then = Vec::new();
        let mut above = Expr::Bool(true);
        for (name, _, ends, _) in &self.scalars {
            if name == best {
                above = Expr::compare(op, of(ends), Expr::scalar(name.clone()));
            }
            then.push(Stmt::assign(Access::scalar(name.clone()), of(ends)));
        }
        let cond = match &self.found {
            Some((_, founds)) => of(founds).and(above),
            None => above,
        };
        Stmt::when(cond, then)
    }
}

/// The strips with a note in each branch that replaces something.
fn noted(strips: &Stmt, found: &Name) -> Stmt {
    strips.map(&mut Expr::clone, &mut |inner| {
        inner
            .iter()
            .map(|stmt| match stmt {
                Stmt::If { cond, then, otherwise } if then.iter().all(|s| matches!(s, Stmt::Assign(_))) => {
                    let note = Stmt::assign(Access::scalar(found.clone()), Expr::Bool(true));
                    let then = then.iter().cloned().chain([note]).collect();
                    Stmt::If { cond: cond.clone(), then, otherwise: otherwise.clone() }
                }
                other => noted(other, found),
            })
            .collect()
    })
}

/// How often names are read in a condition and in what it names.
fn loads_of(cond: &Expr, names: &[&Name], own: &Own<'_>) -> usize {
    let once = |e: &Expr| e.loads().filter(|access| names.contains(&&access.array)).count();
    once(resolved(cond, own))
}
