//! What a region requires of its sizes. A loop program computes with exact integers. It computes
//! what C computes only if unsigned arithmetic does not wrap around, conversions keep the value,
//! and counters reach their bounds.
//!
//! Each requirement is proved from loops, conditions and the types of sizes, or becomes a condition
//! on sizes that is tested before the region. If the test fails, the original text runs. A
//! requirement that can be neither proved nor tested is refused. Signed arithmetic that overflows
//! has no meaning in C, so nothing is required of it.

use std::collections::BTreeMap;

use loops::fits::{self, Range, Ranges};
use loops::{Expr as Hub, Name};

use super::by_data::is_unknown;
use super::counter::Deferred;
use super::index::{AtomKind, Index, Indexed, NotIndex, atom_number, not};
use super::{ActiveLoop, Class, Lowering};
use crate::ast::At;
use crate::ctype::{CType, IntType};
use crate::linear::Linear;

/// A loop's variable, its first value, and its exclusive end.
pub type Bounds = (Name, Linear, Linear);

/// A condition that is tested before the region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assumed {
    pub condition: Need,
    /// What it says, for people.
    pub says: String,
    pub at: At,
}

/// What has to hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Need {
    /// The form is at least 0.
    Natural(Linear),
    /// The form is 0.
    Zero(Linear),
    /// The product is at most so much.
    Product(Vec<Linear>, i64),
}

/// Sizes of 64 bits without a sign are at most this, which is tested where no array shows it.
const LARGEST: i64 = 1 << 61;

/// What is computed with them is at most this.
const MOST: i64 = 1 << 62;

impl IntType {
    /// Least and greatest value, as far as the index arithmetic has them.
    pub fn values(self) -> (i64, i64) {
        let bits = self.bits().min(64);
        match (self, self.is_unsigned()) {
            (IntType::Bool, _) => (0, 1),
            // Its sign is the compiler's choice.
            (IntType::Char, _) => (0, 127),
            (_, true) if bits == 64 => (0, MOST),
            (_, true) => (0, (1i64 << bits) - 1),
            (_, false) if bits == 64 => (i64::MIN, i64::MAX),
            (_, false) => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        }
    }

    /// Whether it holds every value of another type.
    pub fn holds(self, other: IntType) -> bool {
        let ((least, most), (from, to)) = (self.values(), values(other));
        self == other || (i128::from(least) <= from && to <= i128::from(most))
    }

    /// Whether arithmetic or counting in it wraps around, rather than to have no meaning.
    pub fn wraps(self) -> bool {
        self.is_unsigned() || self.bits() < 32
    }
}

impl Lowering<'_> {
    /// What the types of sizes say of them.
    pub(super) fn note_size(&mut self, name: &Name, ty: IntType) {
        let (least, most) = ty.values();
        let most = if ty.is_unsigned() && ty.bits() >= 64 { LARGEST } else { most };
        let me = Linear::name(name.clone());
        if ty.is_unsigned() {
            self.known.push(me.clone());
        } else if ty.bits() < 64 {
            self.of_types.extend(me.plus_constant(-least));
        }
        if ty.bits() < 64 || ty.is_unsigned() {
            self.of_types.extend(Linear::constant(most).minus(&me));
        }
    }

    /// The result of an operation of C: one in a type without a sign must not wrap around.
    pub(super) fn computed(&mut self, index: Index, at: At) -> Indexed {
        if index.ty.is_unsigned() {
            self.in_range(&index.form, index.ty, at)?;
        }
        Ok(index)
    }

    /// A conversion that must keep the value.
    pub(super) fn converted(&mut self, index: &Index, to: IntType, at: At) -> Result<(), NotIndex> {
        if to.holds(index.ty) { Ok(()) } else { self.in_range(&index.form, to, at) }
    }

    /// Makes sure that a form is a value of a type wherever this place is reached.
    pub(super) fn in_range(&mut self, form: &Linear, ty: IntType, at: At) -> Result<(), NotIndex> {
        let (least, most) = ty.values();
        if least > i64::MIN {
            let above =
                form.plus_constant(least.saturating_neg()).ok_or_else(|| super::index::too_large(at))?;
            if self.strict && least == 0 && !self.follows_here(&above) {
                return Err(not(format!("unsigned `{}` may wrap below zero", self.snippet(at)), at));
            }
            let below_zero = least == 0;
            self.need(&above, at, &|what| match below_zero {
                true => format!("{what} is not negative"),
                false => format!("{what} is at least {least}"),
            })?;
        }
        if most < i64::MAX {
            let below = Linear::constant(most).minus(form).ok_or_else(|| super::index::too_large(at))?;
            self.need(&below, at, &|what| format!("{what} is at most {most}"))?;
        }
        Ok(())
    }

    /// Makes sure that a form is at least 0 wherever this place is reached. `says` describes that
    /// in terms of the text.
    pub(super) fn need(
        &mut self,
        form: &Linear,
        at: At,
        says: &dyn Fn(&str) -> String,
    ) -> Result<(), NotIndex> {
        // On trial only what a loop adds counts; it is asked again.
        let on_trial = || form.variables().any(|name| name.starts_with('?'));
        if self.follows_here(form) || (self.trials > 0 && on_trial()) {
            return Ok(());
        }
        if let Some(both) = self.cases(form) {
            return both.iter().try_for_each(|case| self.need(case, at, says));
        }
        let what = format!("`{}`", self.snippet(at));
        if self.counting.as_ref().is_some_and(|var| self.mentions(form, var)) {
            self.deferred.push(Deferred { form: form.clone(), says: says(&what), at });
            return Ok(());
        }
        let loops = self.bounds_here();
        let least = self.bound(form, &loops, false, 0).filter(|least| self.is_of_sizes(least));
        let Some(least) = least else {
            let reason = format!("whether {} is known neither here nor before the region", says(&what));
            return Err(not(reason, at));
        };
        let facts = self.of_types.clone();
        if self.follows(&facts, &least) {
            return Ok(());
        }
        if least.as_constant().is_some() {
            let reason = format!("it needs that {}, which does not hold in all iterations", says(&what));
            return Err(not(reason, at));
        }
        self.assume(Need::Natural(least), says(&what), at);
        Ok(())
    }

    /// For a form that subtracts a maximum, adds a minimum, or has a choice: the two forms that are
    /// both at least 0 if the form is.
    fn cases(&self, form: &Linear) -> Option<[Linear; 2]> {
        form.terms().find_map(|(name, c)| {
            let (a, b) = match &self.atoms[atom_number(name)?].kind {
                AtomKind::Max(a, b) if c < 0 => (a, b),
                AtomKind::Min(a, b) if c > 0 => (a, b),
                AtomKind::Choice(a, b) => (a, b),
                _ => return None,
            };
            Some([form.replace(name, a)?, form.replace(name, b)?])
        })
    }

    pub(super) fn assume(&mut self, condition: Need, says: String, at: At) {
        let assumed = Assumed { condition, says, at };
        if !self.assumed.iter().any(|a| a.condition == assumed.condition) {
            self.assumed.push(assumed);
        }
    }

    /// The loops around this place. A variable whose bounds data gives has those of its type.
    pub(super) fn bounds_here(&self) -> Vec<Bounds> {
        let known = |l: &ActiveLoop| {
            let (least, most) = self.loop_types.get(&l.var).map_or((i64::MIN, i64::MAX), |ty| ty.values());
            let lower = if is_unknown(&l.lower) { Linear::constant(least) } else { l.lower.clone() };
            let upper =
                if is_unknown(&l.upper) { Linear::constant(most.saturating_add(1)) } else { l.upper.clone() };
            (l.var.clone(), lower, upper)
        };
        self.loops.iter().map(known).collect()
    }

    /// Whether a form is at least 0 here, also by what types say.
    fn follows_here(&self, form: &Linear) -> bool {
        self.holds(form) || self.follows(&[self.known.as_slice(), &self.of_types].concat(), form)
    }

    /// Whether a form has no loop variable in it.
    pub(super) fn is_of_sizes(&self, form: &Linear) -> bool {
        form.variables().all(|name| match atom_number(name) {
            Some(k) => {
                !self.loop_types.keys().any(|var| super::loop_header::expr_mentions(&self.atoms[k].expr, var))
            }
            None => !self.loop_types.contains_key(name) && !name.starts_with('?'),
        })
    }

    /// The values that sizes may have, by the types of C.
    fn size_ranges(&self) -> Ranges {
        let mut ranges = BTreeMap::new();
        for (k, name) in &self.names {
            if let Class::Size(ty) = self.class(*k) {
                ranges.insert(name.clone(), values(ty));
            }
        }
        for (k, name) in &self.entries {
            if let CType::Int(ty) = self.res.objects[*k].ty.ty {
                ranges.insert(name.clone(), values(ty));
            }
        }
        ranges
    }

    /// A condition as C, which does not overflow; none if it would need more than 128 bits.
    pub(super) fn condition_text(&self, need: &Need) -> Option<String> {
        match need {
            Need::Natural(form) | Need::Zero(form) => {
                let (left, right) = form.partition(|_, c| c > 0);
                let constant = form.constant_term();
                let left = left.plus_constant(constant.max(0))?;
                let right = right.plus_constant(constant.min(0))?.negated()?;
                let op = match need {
                    Need::Zero(_) => "==",
                    _ if left.is_constant() => "<=",
                    _ => ">=",
                };
                let (first, second) = if left.is_constant() { (right, left) } else { (left, right) };
                self.comparison_text(&self.form_expr(&first), op, &self.form_expr(&second))
            }
            Need::Product(factors, most) => {
                // Each is exact up to 2^53, and the bound is a power of two or one less.
                let factors = factors.iter().map(|f| {
                    let e = self.form_expr(f);
                    let text = match self.alone(&e) {
                        Some(name) => name,
                        None => format!("__extension__ {}", operand(self.wide_text(&e)?)),
                    };
                    Some(format!("(double){}", operand(text)))
                });
                let product: Option<Vec<String>> = factors.collect();
                Some(format!("{} <= {most}.0", product?.join(" * ")))
            }
        }
    }

    /// The name in C of a form that is a size alone, or the number that it is.
    pub(super) fn alone(&self, e: &Hub) -> Option<String> {
        match e {
            Hub::Var(_) => Some(self.c_text(e)),
            Hub::Int(value) if *value >= 0 => Some(value.to_string()),
            _ => None,
        }
    }

    /// A comparison of expressions over sizes: in 64 bits where that suffices, else in 128.
    fn comparison_text(&self, a: &Hub, op: &str, b: &Hub) -> Option<String> {
        if let (Some(a), Some(b), true) = (self.alone(a), self.alone(b), matches!(b, Hub::Int(_))) {
            return Some(format!("{a} {op} {b}"));
        }
        let ranges = self.size_ranges();
        let narrow = [a, b].iter().all(|e| matches!(fits::range(e, &ranges), Ok(Some(_))));
        if narrow {
            let text = |e| chosen(self.computed_text(e));
            return Some(format!("{} {op} {}", text(a), text(b)));
        }
        let text = |e| self.wide_text(e).map(chosen);
        Some(format!("__extension__ ({} {op} {})", text(a)?, text(b)?))
    }

    /// An expression over sizes, computed in 128 bits. `None` if its numbers are too large for
    /// that.
    pub(super) fn wide_text(&self, e: &Hub) -> Option<String> {
        let mut total = 0i64;
        for e in e.nodes() {
            if let Hub::Int(value) = e {
                total = total.saturating_add(value.saturating_abs());
            }
        }
        // Sums of products of numbers of 64 bits with small ones.
        (total < 1 << 40 || matches!(e, Hub::Int(_))).then(|| {
            self.c_text_of(e, &|object| {
                let wide = format!("(__int128){}", object.product.as_ref().unwrap_or(&object.name));
                (wide.clone(), wide)
            })
        })
    }

    /// Least and greatest value that a size can have where the region runs, and whether that has to
    /// be tested. It has to if the size has 64 bits and no array bounds it.
    pub(super) fn size_values(&self, k: usize, ty: IntType) -> (Range, bool) {
        if ty.bits() < 64 {
            return (values(ty), false);
        }
        let Some(name) = self.names.get(&k) else { return (values(ty), true) };
        // Rows of which an array has elements: no array has more than 2^63 bytes.
        let rows = self.arrays.iter().filter(|(k, _)| self.res.objects[**k].place.is_some());
        let extent = rows
            .filter(|(_, a)| a.form == crate::region::AccessForm::Subscripts && a.dims.len() > 1)
            .filter(|(_, a)| a.dims[1..].contains(&Hub::Var(name.clone())))
            .map(|(_, a)| a.elem.bytes())
            .max();
        match extent {
            Some(bytes @ 4..) => ((1, (1i128 << 63) / bytes as i128), false),
            _ => (values(ty), true),
        }
    }
}

/// A text as an operand of a product, or of a conversion.
pub(super) fn operand(text: String) -> String {
    if text.contains(' ') { format!("({text})") } else { text }
}

/// A text as an operand of a comparison.
fn chosen(text: String) -> String {
    if text.contains('?') { format!("({text})") } else { text }
}

/// All values of a type.
fn values(ty: IntType) -> Range {
    let (least, most) = ty.values();
    match ty {
        IntType::Char => (-128, 255),
        _ if ty.is_unsigned() && ty.bits() >= 64 => (0, u64::MAX.into()),
        _ => (least.into(), most.into()),
    }
}
