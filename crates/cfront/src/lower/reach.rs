//! How far accesses of arrays go: bounds of subscripts over sizes, and first extents that follow
//! from them.

use arith::number::floor_div;
use loops::{BinaryOp, Expr as Hub, Name};

use super::assume::Bounds;
use super::by_data::is_unknown;
use super::index::{AtomKind, atom_number};
use super::loop_header::expr_mentions;
use super::{ActiveLoop, Lowering, Try};
use crate::ast::At;
use crate::codes;
use crate::linear::Linear;

impl Lowering<'_> {
    /// Notes which of an array's first subscripts an access has.
    pub(super) fn add_reach(&mut self, k: usize, form: &Linear, loops: &[Bounds]) {
        let first = self.bound(form, loops, false, 0);
        let end = self.bound(form, loops, true, 0).and_then(|last| last.plus_constant(1));
        let of_sizes = |form: &Linear| self.is_of_sizes(form);
        let reach = first.zip(end).filter(|(first, end)| of_sizes(first) && of_sizes(end));
        match reach {
            Some(reach) => self.reaches_these(k, reach),
            None => self.reaches_anywhere(k),
        }
    }

    /// Notes first and exclusive last of an array's first subscripts.
    pub(super) fn reaches_these(&mut self, k: usize, reach: (Linear, Linear)) {
        let Some(array) = self.arrays.get_mut(&k) else { return };
        match (Some(reach), &mut array.reach) {
            (Some(reach), Some(all)) => {
                if !all.contains(&reach) {
                    all.push(reach);
                }
            }
            (_, all) => *all = None,
        }
    }

    pub(super) fn reaches_anywhere(&mut self, k: usize) {
        if let Some(array) = self.arrays.get_mut(&k) {
            array.reach = None;
        }
    }

    pub(super) fn add_end(&mut self, k: usize, form: &Linear, loops: Option<&[Bounds]>, at: At) -> Try<()> {
        let own: Vec<Bounds>;
        let loops = match loops {
            Some(loops) => loops,
            None => {
                let triple = |l: &ActiveLoop| (l.var.clone(), l.lower.clone(), l.upper.clone());
                own = self.loops.iter().map(triple).collect();
                &own
            }
        };
        if loops.iter().any(|(var, _, upper)| is_unknown(upper) && self.mentions(form, var)) {
            self.length_of(k);
            return Ok(());
        }
        let end = self.bound(form, loops, true, 0).and_then(|l| l.plus_constant(1));
        let Some(end) = end else {
            let name = self.res.objects[k].name.clone();
            let message = format!("the extent of the first dimension of `{name}` is not known");
            return self.fail(codes::SHAPE, message, at, "declare the array with its extent");
        };
        if let Some(array) = self.arrays.get_mut(&k)
            && !array.ends.contains(&end)
        {
            array.ends.push(end);
        }
        Ok(())
    }

    /// Notes how far a further subscript of an array of pointers to rows goes.
    pub(super) fn add_row_end(&mut self, k: usize, dimension: usize, form: &Linear, at: At) -> Try<()> {
        let loops = self.bounds_here();
        let end = self.bound(form, &loops, true, 0).and_then(|last| last.plus_constant(1));
        let Some(end) = end.filter(|end| self.is_of_sizes(end)) else {
            let name = self.res.objects[k].name.clone();
            let message = format!("the length of the rows of `{name}` is not known");
            let help = "its rows are pointers: their subscripts must have bounds over sizes";
            return self.fail_with(codes::SHAPE, message, (at, "not known"), help);
        };
        if let Some(ends) = self.arrays.get_mut(&k).and_then(|array| array.row_ends.get_mut(dimension))
            && !ends.contains(&end)
        {
            ends.push(end);
        }
        Ok(())
    }

    /// A bound of a form over sizes only, above (`up`) or below.
    pub(super) fn bound(
        &mut self,
        form: &Linear,
        loops: &[Bounds],
        up: bool,
        depth: usize,
    ) -> Option<Linear> {
        if depth > 8 {
            return None;
        }
        let mut form = form.clone();
        for _ in 0..64 {
            let inner = |name: &Name| match atom_number(name) {
                Some(k) => loops.iter().any(|(var, ..)| expr_mentions(&self.atoms[k].expr, var)),
                None => false,
            };
            let atom = form.variables().find(|name| inner(name)).cloned();
            if let Some(name) = atom {
                let simpler = form.variables().find_map(|name| self.without_remainder(&form, name, up));
                if let Some(simpler) = simpler {
                    form = simpler;
                    continue;
                }
                let side = up == (form.coefficient(&name) > 0);
                let by = self.bound_atom(&name, loops, side, depth)?;
                form = form.replace(&name, &by)?;
                continue;
            }
            let found = loops.iter().rev().find(|(var, ..)| form.mentions(var));
            let Some((var, lower, upper)) = found else { return Some(form) };
            let side = up == (form.coefficient(var) > 0);
            form = form.replace(var, &if side { upper.plus_constant(-1)? } else { lower.clone() })?;
        }
        None
    }

    /// A bound of a form in which a remainder `a - d * (a / d)` is all that there is of `a`.
    fn without_remainder(&self, form: &Linear, name: &Name, up: bool) -> Option<Linear> {
        let AtomKind::Quotient(a, d) = &self.atoms[atom_number(name)?].kind else { return None };
        let c = form.coefficient(name);
        let times = c.checked_div(*d)?.checked_neg().filter(|_| c % d == 0)?;
        let rest = form.plus_times(c.checked_neg()?, &Linear::name(name.clone()))?;
        let rest = rest.plus_times(times.checked_neg()?, a)?;
        if a.variables().any(|v| rest.mentions(v)) {
            return None;
        }
        let most = times.checked_mul(d - 1)?;
        rest.plus_constant(if (times > 0) == up { most } else { 0 })
    }

    pub(super) fn bound_atom(
        &mut self,
        name: &Name,
        loops: &[Bounds],
        up: bool,
        depth: usize,
    ) -> Option<Linear> {
        let kind = self.atoms[atom_number(name)?].kind.clone();
        match kind {
            AtomKind::Quotient(a, d) => {
                let a = self.bound(&a, loops, up, depth + 1)?;
                if let Some(c) = a.as_constant() {
                    return floor_div(c, d).map(Linear::constant);
                }
                let expr = Hub::binary(BinaryOp::FloorDiv, self.form_expr(&a), Hub::Int(d));
                Some(Linear::name(self.atom(expr, AtomKind::Quotient(a, d))))
            }
            AtomKind::Remainder(n) if up => self.bound(&n.plus_constant(-1)?, loops, up, depth + 1),
            AtomKind::Remainder(_) => Some(Linear::default()),
            AtomKind::Min(a, _) if up => self.bound(&a, loops, up, depth + 1),
            AtomKind::Max(a, _) if !up => self.bound(&a, loops, up, depth + 1),
            AtomKind::Min(a, b) | AtomKind::Max(a, b) | AtomKind::Choice(a, b) => {
                let a = self.bound(&a, loops, up, depth + 1)?;
                let b = self.bound(&b, loops, up, depth + 1)?;
                Some(self.farthest(vec![a, b], up))
            }
        }
    }

    /// The largest (`up`) or smallest of some forms.
    pub(super) fn farthest(&mut self, forms: Vec<Linear>, up: bool) -> Linear {
        let mut kept: Vec<Linear> = Vec::new();
        for form in forms {
            let sign = if up { 1 } else { -1 };
            let difference =
                |other: &Linear| form.minus(other).and_then(|d| d.as_constant()).map(|c| c * sign);
            match kept.iter().position(|other| difference(other).is_some()) {
                Some(k) => {
                    if difference(&kept[k]).is_some_and(|d| d > 0) {
                        kept[k] = form;
                    }
                }
                None => kept.push(form),
            }
        }
        let mut kept = kept.into_iter();
        let mut all = kept.next().unwrap_or_default();
        for form in kept {
            let op = if up { BinaryOp::Max } else { BinaryOp::Min };
            let expr = Hub::binary(op, self.form_expr(&all), self.form_expr(&form));
            let kind = if up { AtomKind::Max(all, form) } else { AtomKind::Min(all, form) };
            all = Linear::name(self.atom(expr, kind));
        }
        all
    }

    /// First extents that follow from the subscripts.
    pub(super) fn settle_open(&mut self) {
        for k in self.arrays.keys().copied().collect::<Vec<_>>() {
            let Some(reach) = self.arrays[&k].reach.clone().filter(|reach| !reach.is_empty()) else {
                continue;
            };
            let (first, end): (Vec<_>, Vec<_>) = reach.into_iter().unzip();
            let span = (self.farthest(first, false), self.farthest(end, true));
            if let Some(array) = self.arrays.get_mut(&k) {
                array.span = Some(span);
            }
        }
        for k in self.arrays.keys().copied().filter(|k| self.arrays[k].rows).collect::<Vec<_>>() {
            let reached = self.settle_cells(k);
            if let Some(array) = self.arrays.get_mut(&k) {
                array.reached = reached;
            }
            for (dimension, ends) in self.arrays[&k].row_ends.clone().into_iter().enumerate() {
                let end = self.farthest(ends, true);
                let expr = self.form_expr(&end).max(Hub::Int(0));
                if let Some(array) = self.arrays.get_mut(&k) {
                    array.dims[dimension + 1] = expr;
                }
            }
        }
        let open: Vec<usize> = self.arrays.iter().filter(|(_, a)| a.open).map(|(k, _)| *k).collect();
        for k in open {
            let ends = self.arrays[&k].ends.clone();
            let end = self.farthest(ends, true);
            let least = end.terms().all(|(_, c)| c >= 0) && end.constant_term() >= 0;
            let expr = self.form_expr(&end);
            // Where nothing is touched at small sizes, `n - 1` rows are none.
            let expr = if least { expr } else { expr.max(Hub::Int(0)) };
            if let Some(array) = self.arrays.get_mut(&k) {
                array.dims[0] = array.length.clone().map_or(expr, Hub::Var);
            }
        }
    }
}
