//! Flat arrays that are seen with several dimensions, once all of their accesses are known.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Expr as Hub, Name};

use super::access::Pending;
use super::assume::Need;
use super::polynomial::{Polynomial, divide, has_rows, sizes_of_products};
use super::{Lowering, Try};
use crate::codes;
use crate::linear::Linear;
use crate::region::AccessForm;

/// A subscript that has to be below the length of its rows: how far it goes, and what has to be at
/// least 0 so that it is not negative, if that is not known.
struct Level {
    stride: Linear,
    rest: Linear,
    end: Linear,
    least: Option<Linear>,
}

/// Sizes that may have to be tested for not being negative.
const MOST_NATURAL: usize = 6;

impl Lowering<'_> {
    /// Gives flat arrays their dimensions; the subscripts of each pending access.
    pub(super) fn settle_flat(&mut self) -> BTreeMap<i64, Vec<Hub>> {
        let mut settled = BTreeMap::new();
        let pending = std::mem::take(&mut self.pending);
        let objects: std::collections::BTreeSet<usize> = pending.iter().map(|p| p.object).collect();
        for k in objects {
            let accesses: Vec<(usize, &Pending)> =
                pending.iter().enumerate().filter(|(_, p)| p.object == k).collect();
            let first = accesses.iter().find(|(_, p)| p.expr.is_none());
            let Some((_, first)) = first else {
                for (number, p) in accesses {
                    if let Some(form) = p.polynomial.as_linear().filter(|_| !p.found) {
                        self.add_reach(k, &form, &p.loops);
                    }
                    if self.arrays[&k].open
                        && let Some(form) = p.polynomial.as_linear()
                    {
                        let _ = self.add_end(k, &form, Some(&p.loops), p.at);
                    }
                    settled.insert(number as i64, vec![p.expr.clone().unwrap_or(Hub::Int(0))]);
                }
                continue;
            };
            if self.arrays[&k].looked_up {
                match self.reading.by_data {
                    true => self.settle_by_data(k, &accesses, &mut settled),
                    false => self.not_linearised(k, first, &[]),
                }
                continue;
            }
            let known = self.known_of_rows(first, &[]);
            let Some(split) = self.split(&first.polynomial, &first.factors, &known, 0) else {
                match self.reading.by_data {
                    true => self.settle_by_data(k, &accesses, &mut settled),
                    false => self.not_linearised(k, first, &[]),
                }
                continue;
            };
            let own = |p: &Pending| {
                let known = [p.known.as_slice(), &self.of_rows].concat();
                self.split_by(&p.polynomial, &split.strides, &known).is_some()
            };
            if self.reading.by_data && !accesses.iter().all(|(_, p)| own(p)) {
                self.settle_by_data(k, &accesses, &mut settled);
                continue;
            }
            let mut dims = vec![Hub::Int(0)];
            dims.extend(split.strides.iter().map(|s| self.form_expr(s)));
            if let Some(array) = self.arrays.get_mut(&k) {
                array.dims = dims;
                array.open = true;
                array.form = AccessForm::Linear;
            }
            for (number, p) in accesses {
                let known = self.known_of_rows(p, &split.strides);
                match self.split_by(&p.polynomial, &split.strides, &known) {
                    Some(subscripts) => {
                        match p.found {
                            true => self.reaches_anywhere(k),
                            false => self.add_reach(k, &subscripts[0], &p.loops),
                        }
                        self.note_read_of_rows(k, p, &subscripts);
                        self.keeps_within(p, &subscripts[0], &split.strides);
                        let _ = self.add_end(k, &subscripts[0], Some(&p.loops), p.at);
                        settled.insert(number as i64, subscripts.iter().map(|s| self.form_expr(s)).collect());
                    }
                    None => self.not_linearised(k, p, &split.strides),
                }
            }
        }
        self.pending = pending;
        settled
    }

    /// A subscript of rows and columns that is computed in an unsigned type must not wrap around.
    pub(super) fn keeps_within(&mut self, p: &Pending, row: &Linear, strides: &[Linear]) {
        let Some(most) = p.most else { return };
        let first = self.bound(row, &p.loops, false, 0);
        let rows = self.bound(row, &p.loops, true, 0).and_then(|last| last.plus_constant(1));
        let known = first.zip(rows).filter(|(a, b)| self.is_of_sizes(a) && self.is_of_sizes(b));
        let what = self.snippet(p.at);
        let Some((first, rows)) = known else {
            let message =
                format!("whether `{what}` wraps around can be decided neither here nor before the region");
            let help = "compute it in a signed type, as in `(long)i * n + j`";
            let _: Try<()> = self.fail_with(codes::SUBSCRIPT, message, (p.at, "may wrap around"), help);
            return;
        };
        let facts = [p.known.as_slice(), &self.of_types].concat();
        if !self.follows(&facts, row) && !self.follows(&facts, &first) {
            self.assume(Need::Natural(first), format!("`{what}` is not negative"), p.at);
        }
        let factors = std::iter::once(rows).chain(strides.iter().cloned()).collect();
        self.assume(Need::Product(factors, most), format!("`{what}` is at most {most}"), p.at);
    }

    pub(super) fn not_linearised(&mut self, k: usize, p: &Pending, strides: &[Linear]) {
        self.note_strides(p);
        let name = self.res.objects[k].name.clone();
        let ty = self.res.objects[k].ty.element().c_name();
        let vars: Vec<&str> = p.loops.iter().map(|l| l.0.as_str()).collect();
        let list = if vars.is_empty() { "the sizes".to_string() } else { vars.join(", ") };
        let looked_up = self.arrays[&k].looked_up;
        let reason = match (&p.why, strides.last()) {
            _ if looked_up => {
                format!("another subscript of `{name}` depends on data, so the array cannot be read as rows")
            }
            (Some(why), None) => why.reason.clone(),
            (_, Some(stride)) => {
                let stride = self.form_text(stride);
                format!(
                    "other accesses of `{name}` have rows of `{stride}` elements, and this subscript is not known to stay within one"
                )
            }
            (None, None) => "it is not a sum of terms times sizes".to_string(),
        };
        // Dimensions only help where rows have an extent that is not a loop's.
        let help = if has_rows(&p.polynomial, &vars) {
            let extents = match strides.last() {
                Some(stride) => format!("[{}]", self.form_text(stride)),
                None => self.extents_of_rows(p, &vars),
            };
            format!("declare `{name}` with its dimensions, as in `{ty} (*restrict {name}){extents}`")
        } else {
            "leave the loops around this statement out of the region".to_string()
        };
        let message =
            format!("the subscript `{}` of `{name}` is not affine in {list}: {reason}", self.snippet(p.at));
        let diagnostic =
            loops::Diagnostic::error(codes::SUBSCRIPT, message, self.span(p.at), "not affine").help(help);
        let _: Try<()> = self.report(diagnostic);
    }

    /// What is known where a flat access stands. If rows and columns only follow from a condition
    /// on sizes, that is tested before the region, and known too.
    pub(super) fn known_of_rows(&mut self, p: &Pending, strides: &[Linear]) -> Vec<Linear> {
        let known = [p.known.as_slice(), &self.of_rows].concat();
        let p = &Pending { known: known.clone(), ..p.clone() };
        let splits = match strides {
            [] => self.split(&p.polynomial, &p.factors, &known, 0).is_some(),
            _ => self.split_by(&p.polynomial, strides, &known).is_some(),
        };
        if splits {
            return known;
        }
        if self.row_if_positive(p, strides).is_none() && self.rows_if_below(p, strides).is_empty() {
            return self.known_of_several(p, strides, known);
        }
        let (need, holds, text) = if let Some(stride) = self.row_if_positive(p, strides) {
            let Some(positive) = stride.plus_constant(-1) else { return known };
            (positive.clone(), positive, format!("{} > 0", self.form_text(&stride)))
        } else if let Some(Level { stride, rest, end, .. }) = self.row_if_below(p, strides) {
            let forms = stride.minus(&end).zip(stride.minus(&rest).and_then(|below| below.plus_constant(-1)));
            let Some((need, below)) = forms else { return known };
            (need, below, format!("{} <= {}", self.form_text(&end), self.form_text(&stride)))
        } else {
            return self.known_of_several(p, strides, known);
        };
        let says = format!("`{text}`, so that `{}` stays in its row", self.snippet(p.at));
        self.assume(Need::Natural(need.clone()), says, p.at);
        if !self.of_rows.contains(&need) {
            self.of_rows.push(need);
        }
        [known.as_slice(), &[holds]].concat()
    }

    /// As [`Lowering::known_of_rows`], where several conditions are needed.
    fn known_of_several(&mut self, p: &Pending, strides: &[Linear], known: Vec<Linear>) -> Vec<Linear> {
        let given = (!strides.is_empty()).then_some(strides);
        let Some(levels) = self.levels(p, &p.polynomial, given, &known, 0) else {
            return self.known_if_natural(p, strides, known);
        };
        let mut all = known;
        for Level { stride, rest, end, least } in levels {
            if let Some(least) = least {
                let what = self.snippet(p.at);
                let says = format!(
                    "`{}` is not negative, so that `{what}` stays in its row",
                    self.form_text(&least)
                );
                self.assume(Need::Natural(least.clone()), says, p.at);
                if !self.of_rows.contains(&least) {
                    self.of_rows.push(least);
                }
                all.push(rest.clone());
            }
            let forms = stride.minus(&end).zip(stride.minus(&rest).and_then(|below| below.plus_constant(-1)));
            let Some((need, below)) = forms else { continue };
            let text = format!("{} <= {}", self.form_text(&end), self.form_text(&stride));
            let says = format!("`{text}`, so that `{}` stays in its row", self.snippet(p.at));
            self.assume(Need::Natural(need.clone()), says, p.at);
            if !self.of_rows.contains(&need) {
                self.of_rows.push(need);
            }
            all.push(below);
        }
        all
    }

    /// As [`Lowering::known_of_rows`], where it follows if some sizes are not negative: what a
    /// border has as its width.
    fn known_if_natural(&mut self, p: &Pending, strides: &[Linear], known: Vec<Linear>) -> Vec<Linear> {
        let names: BTreeSet<&Name> = p.known.iter().flat_map(Linear::variables).collect();
        let sizes = names.into_iter().filter(|name| !name.starts_with('#')).cloned().map(Linear::name);
        let mut needed: Vec<Linear> =
            sizes.filter(|size| self.is_of_sizes(size) && !self.follows(&known, size)).collect();
        let splits = |needed: &[Linear]| {
            let known = [known.as_slice(), needed].concat();
            match strides {
                [] => self.split(&p.polynomial, &p.factors, &known, 0).is_some(),
                _ => self.split_by(&p.polynomial, strides, &known).is_some(),
            }
        };
        if needed.is_empty() || needed.len() > MOST_NATURAL || !splits(&needed) {
            return known;
        }
        for k in (0..needed.len()).rev() {
            let mut fewer = needed.clone();
            fewer.remove(k);
            if splits(&fewer) {
                needed = fewer;
            }
        }
        for need in &needed {
            let (size, what) = (self.form_text(need), self.snippet(p.at));
            let says = format!("`{size}` is not negative, so that `{what}` stays in its row");
            self.assume(Need::Natural(need.clone()), says, p.at);
            if !self.of_rows.contains(need) {
                self.of_rows.push(need.clone());
            }
        }
        [known.as_slice(), &needed].concat()
    }

    /// What must be below which strides so that a polynomial is subscripts: by these strides, or by
    /// any.
    fn levels(
        &mut self,
        p: &Pending,
        polynomial: &Polynomial,
        strides: Option<&[Linear]>,
        known: &[Linear],
        depth: usize,
    ) -> Option<Vec<Level>> {
        let candidates = match strides {
            _ if depth > 4 => return None,
            Some([]) => return polynomial.as_linear().map(|_| Vec::new()),
            None if polynomial.as_linear().is_some() => return Some(Vec::new()),
            Some([.., last]) => vec![last.clone()],
            None => self.stride_candidates(polynomial, &p.factors),
        };
        let outer = strides.map(|strides| &strides[..strides.len() - 1]);
        for stride in candidates {
            for (quotient, _) in self.divisions(polynomial, &stride, known) {
                if let Some(levels) = self.levels(p, &quotient, outer, known, depth + 1) {
                    return Some(levels);
                }
            }
            let Some((quotient, rest)) = divide(polynomial, &stride) else { continue };
            let Some(rest) = rest.as_linear() else { continue };
            let mut known = known.to_vec();
            let least = match self.follows(&known, &rest) {
                true => None,
                false => {
                    let least = self.bound(&rest, &p.loops, false, 0);
                    let Some(least) = least.filter(|least| self.is_size_form(least)) else { continue };
                    known.push(rest.clone());
                    Some(least)
                }
            };
            let end = self.bound(&rest, &p.loops, true, 0).and_then(|last| last.plus_constant(1));
            let of_sizes = |end: &Linear| end.as_constant().is_some() || self.is_size_form(end);
            let Some(end) = end.filter(|end| of_sizes(end) && *end != stride) else { continue };
            // What never holds, or only for the smallest sizes, is not tested.
            let room = stride.minus(&end);
            let may_hold = room.is_some_and(|room| room.terms().any(|(_, c)| c > 0));
            let below = stride.minus(&rest).and_then(|below| below.plus_constant(-1));
            let Some(below) = below.filter(|_| may_hold) else { continue };
            known.push(below);
            if let Some(mut levels) = self.levels(p, &quotient, outer, &known, depth + 1) {
                levels.push(Level { stride, rest, end, least });
                return Some(levels);
            }
        }
        None
    }

    /// The rows that a flat subscript would have if what is added to them were known to be below
    /// their length.
    fn row_if_below(&mut self, p: &Pending, strides: &[Linear]) -> Option<Level> {
        for (stride, rest) in self.rows_if_below(p, strides) {
            let end = self.bound(&rest, &p.loops, true, 0).and_then(|last| last.plus_constant(1));
            let of_sizes = |end: &Linear| end.as_constant().is_some() || self.is_size_form(end);
            let Some(end) = end.filter(|end| of_sizes(end) && *end != stride) else { continue };
            // What never holds, or only for the smallest sizes, is not tested.
            if stride.terms().all(|(name, c)| end.coefficient(name) < c) {
                return Some(Level { stride, rest, end, least: None });
            }
        }
        None
    }

    pub(super) fn form_text(&self, form: &Linear) -> String {
        self.c_text(&self.form_expr(form))
    }

    /// The extents of a view with rows, as the products of a subscript have them.
    pub(super) fn extents_of_rows(&self, p: &Pending, loops: &[&str]) -> String {
        let products = sizes_of_products(&p.polynomial, loops);
        let whole = |names: &[Name]| names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" * ");
        if let [names] = products.as_slice()
            && let [name] = names.as_slice()
        {
            let factor = p.factors.iter().find(|f| self.is_size_form(f) && f.coefficient(name) == 1);
            return format!("[{}]", factor.map_or(name.to_string(), |f| self.form_text(f)));
        }
        let (mut extents, mut inner) = (String::new(), Vec::new());
        for names in &products {
            let mut own = names.clone();
            for name in &inner {
                let Some(at) = own.iter().position(|n| n == name) else { return extents };
                own.remove(at);
            }
            extents = format!("[{}]{extents}", whole(&own));
            inner = names.clone();
        }
        if extents.is_empty() { "[n]".to_string() } else { extents }
    }
}
