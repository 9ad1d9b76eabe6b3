//! Subscripts that are neither affine nor rows and columns, taken as data: products of loop
//! variables (`x[(i * stride + k) * w + j]`), quotients by sizes, and numbers that data gives
//! (`table[word[t] * n + i]`). They are computed as C computes them. How far they go is found
//! before the region in intervals: from bounds of loops, sizes, and elements of arrays of
//! subscripts.
//!
//! Addresses have 64 bits. So a subscript of 64 bits without a sign, `x[(size_t)row[k] * n + j]`,
//! is computed as one with a sign: both name the same element, and so do their sums and products.
//!
//! Only in the reading that takes them as data ([`super::readings`]), which is the last one.
//! Left out: shorter types without a sign, quotients without a sign, and floating-point numbers
//! other than a loop variable times a number.

use loops::{Expr as Hub, Name, Scalar};

use super::access::Pending;
use super::data::Type;
use super::index::not;
use super::polynomial::Polynomial;
use super::track::{Place, Product};
use super::{Class, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType};
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

/// Where an integer is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Interval {
    /// Between two forms of sizes.
    Between(Linear, Linear),
    /// Among the elements of an array of subscripts.
    Elements(usize),
    /// In the sum, the difference or the product of two, or their quotient or remainder in C.
    Of(Binary, Box<Interval>, Box<Interval>),
    /// In one of two.
    Either(Box<Interval>, Box<Interval>),
    /// In another one times a variable of floating point, as an integer.
    Scaled(Box<Interval>, usize),
}

/// A number that is computed as data, and where it is, if that is found before the region.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Computed {
    pub value: Hub,
    pub interval: Option<Interval>,
}

/// How far expressions are looked into.
const DEEPEST: usize = 24;

/// Most operations of an interval.
const MOST_PARTS: usize = 80;

impl Interval {
    fn of(op: Binary, a: Interval, b: Interval) -> Interval {
        Interval::Of(op, Box::new(a), Box::new(b))
    }

    fn parts(&self) -> usize {
        match self {
            Interval::Between(..) | Interval::Elements(_) => 1,
            Interval::Of(_, a, b) | Interval::Either(a, b) => 1 + a.parts() + b.parts(),
            Interval::Scaled(a, ..) => 1 + a.parts(),
        }
    }

    /// Whether elements of arrays are read to find it.
    pub(super) fn reads(&self) -> bool {
        match self {
            Interval::Between(..) => false,
            Interval::Elements(_) => true,
            Interval::Of(_, a, b) | Interval::Either(a, b) => a.reads() || b.reads(),
            Interval::Scaled(a, ..) => a.reads(),
        }
    }
}

impl Computed {
    fn plus(self, op: Binary, other: Computed) -> Computed {
        let interval = self.interval.zip(other.interval).map(|(a, b)| Interval::of(op, a, b));
        let interval = interval.filter(|all| all.parts() <= MOST_PARTS);
        let value = match op {
            Binary::Sub => Hub::binary(loops::BinaryOp::Sub, self.value, other.value),
            _ => self.value + other.value,
        };
        Computed { value, interval }
    }
}

impl Lowering<'_> {
    /// A subscript, or what is added to a pointer, as data. `None` where it is not taken as that.
    pub(super) fn computed_number(&mut self, e: &Expr) -> Option<Computed> {
        if !self.reading.by_data || !self.stays(e, DEEPEST) {
            return None;
        }
        let value = self.as_data(e)?;
        let interval = self.interval(e, DEEPEST).map(|(interval, _)| interval);
        Some(Computed { value, interval: interval.filter(|all| all.parts() <= MOST_PARTS) })
    }

    /// The sum of what is added to a pointer and a subscript.
    pub(super) fn computed_sum(
        &mut self,
        place: Option<&Place>,
        subscript: Option<&Expr>,
        op: Binary,
    ) -> Option<Computed> {
        let by = match subscript {
            Some(e) => self.computed_number(e)?,
            None if self.reading.by_data => {
                let zero = Linear::default();
                Computed { value: Hub::Int(0), interval: Some(Interval::Between(zero.clone(), zero)) }
            }
            None => return None,
        };
        match place {
            None => Some(by),
            Some(place) => Some(place.computed.clone()?.plus(op, by)),
        }
    }

    /// Where a subscript that data gives is, with what is added to a pointer before it.
    pub(super) fn interval_at(&mut self, offset: Option<&Product>, e: &Expr) -> Option<Interval> {
        if !self.stays(e, DEEPEST) {
            return None;
        }
        let (by, _) = self.interval(e, DEEPEST)?;
        let all = match offset {
            None => by,
            Some(offset) if offset.gathered.most.is_some() => return None,
            Some(offset) => Interval::of(Binary::Add, self.of_polynomial(&offset.polynomial)?, by),
        };
        (all.parts() <= MOST_PARTS).then_some(all)
    }

    /// An integer as data, as C computes it.
    fn as_data(&mut self, e: &Expr) -> Option<Hub> {
        let (diagnostics, blamed) = (self.diagnostics.len(), self.blamed.clone());
        let found = self.data(e).ok().filter(|(_, ty)| matches!(ty, Type::Int(int) if is_address_like(*int)));
        self.diagnostics.truncate(diagnostics);
        self.blamed = blamed;
        let (value, from) = found?;
        Some(self.convert(value, from, Type::Int(IntType::Long)))
    }

    /// Whether a number keeps its value as long as what it is made of is known: it reads no
    /// variable that is assigned later. Of arrays it is tested at the end that they are not
    /// written.
    pub(super) fn stays(&self, e: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match &e.kind {
            ExprKind::Ident(_) => match self.meaning(e) {
                Meaning::Constant(_) => true,
                Meaning::Object(k) => match self.class(k) {
                    Class::Size(_) => true,
                    Class::LoopVariable(_) => self.active.contains(&k),
                    Class::Fixed(_) => self.initial.contains_key(&k),
                    Class::Data => self.is_constant_float(k),
                },
                Meaning::Unknown => false,
            },
            ExprKind::Int(..) | ExprKind::Float { .. } => true,
            ExprKind::Binary(_, a, b) => self.stays(a, depth) && self.stays(b, depth),
            ExprKind::Unary(Unary::Plus | Unary::Minus, a) | ExprKind::Cast(_, a) => self.stays(a, depth),
            ExprKind::Conditional(c, a, b) => {
                self.stays(c, depth) && self.stays(a, depth) && self.stays(b, depth)
            }
            ExprKind::Index(array, subscript) => {
                let base = matches!(&array.kind, ExprKind::Ident(_)) || self.stays(array, depth);
                base && self.stays(subscript, depth)
            }
            _ => false,
        }
    }

    /// A floating-point variable that the region does not assign, or a local one that is declared
    /// with its value.
    fn is_constant_float(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        let float = matches!(object.ty.ty, CType::Float | CType::Double) && !object.ty.volatile;
        let taken = self.cx.uses.address_taken(&object.name);
        float && !taken && object.assigned.is_empty() && object.moved.is_empty()
    }

    /// Where an integer is, and its type.
    fn interval(&mut self, e: &Expr, depth: usize) -> Option<(Interval, IntType)> {
        let depth = depth.checked_sub(1)?;
        if let Ok(index) = self.index(e) {
            let narrow = index.ty.promoted();
            return is_address_like(narrow).then_some((self.between(&index.form)?, narrow));
        }
        if let Some(product) = self.product_named(e) {
            let known = is_address_like(product.ty) && product.gathered.most.is_none();
            return Some((self.of_polynomial(&product.polynomial)?, product.ty)).filter(|_| known);
        }
        match &e.kind {
            ExprKind::Ident(_) => {
                let Meaning::Object(k) = self.meaning(e) else { return None };
                let Class::Fixed(ty) = self.class(k) else { return None };
                let value = self.initial.get(&k)?.clone();
                let (interval, from) =
                    if self.stays(&value, depth) { self.interval(&value, depth)? } else { return None };
                (ty.bits() >= 32 && holds(ty, from)).then_some((interval, ty))
            }
            ExprKind::Index(..) => {
                let k = self.subscripts_array(e)?;
                Some((Interval::Elements(k), IntType::Int))
            }
            ExprKind::Unary(Unary::Plus, a) => self.interval(a, depth),
            ExprKind::Unary(Unary::Minus, a) => {
                let (a, ty) = self.interval(a, depth)?;
                let zero = Interval::Between(Linear::default(), Linear::default());
                Some((Interval::of(Binary::Sub, zero, a), ty))
            }
            ExprKind::Binary(
                op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem),
                a,
                b,
            ) => {
                let ((a, left), (b, right)) = (self.interval(a, depth)?, self.interval(b, depth)?);
                let ty = left.common(right);
                let quotient = matches!(op, Binary::Div | Binary::Rem);
                let known = !ty.is_unsigned() || (is_address_like(ty) && !quotient);
                known.then(|| (Interval::of(*op, a, b), ty))
            }
            ExprKind::Conditional(_, a, b) => {
                let ((a, left), (b, right)) = (self.interval(a, depth)?, self.interval(b, depth)?);
                let ty = left.common(right);
                is_address_like(ty).then(|| (Interval::Either(Box::new(a), Box::new(b)), ty))
            }
            ExprKind::Cast(ty, a) => {
                let CType::Int(int) = ty.ty else { return None };
                if !is_address_like(int) {
                    return None;
                }
                match self.interval(a, depth) {
                    Some((interval, from)) => holds(int, from).then_some((interval, int)),
                    None if int.is_unsigned() => None,
                    None => Some((self.scaled(a, depth)?, int)),
                }
            }
            _ => None,
        }
    }

    /// An integer times a number, as one of floating point. The product is rounded once, and so it
    /// moves in one direction with the integer.
    fn scaled(&mut self, e: &Expr, depth: usize) -> Option<Interval> {
        let depth = depth.checked_sub(1)?;
        match &e.kind {
            ExprKind::Ident(_) => {
                let Meaning::Object(k) = self.meaning(e) else { return None };
                let value = self.initial.get(&k)?.clone();
                let own = self.scalar(&self.res.objects[k].ty.ty)?;
                let inner = self.is_constant_float(k) && self.stays(&value, depth);
                let found = if inner { self.scaled(&value, depth)? } else { return None };
                let Interval::Scaled(_, by) = &found else { return None };
                (self.scalar(&self.res.objects[*by].ty.ty) == Some(own)).then_some(found)
            }
            ExprKind::Binary(Binary::Mul, a, b) => {
                let (number, by) = match self.interval(a, depth) {
                    Some(number) => (number, b),
                    None => (self.interval(b, depth)?, a),
                };
                let Meaning::Object(k) = self.meaning(by) else { return None };
                let object = &self.res.objects[k];
                let outside = object.place.is_some() && object.through.is_none();
                let named = matches!(by.kind, ExprKind::Ident(_));
                (named && outside && self.is_constant_float(k))
                    .then(|| Interval::Scaled(Box::new(number.0), k))
            }
            _ => None,
        }
    }

    /// The ends of a form over sizes.
    fn between(&mut self, form: &Linear) -> Option<Interval> {
        let loops = self.bounds_here();
        let (least, most) = (self.bound(form, &loops, false, 0)?, self.bound(form, &loops, true, 0)?);
        let known = self.is_of_sizes(&least) && self.is_of_sizes(&most);
        known.then_some(Interval::Between(least, most))
    }

    /// Where a sum of products is.
    fn of_polynomial(&mut self, p: &Polynomial) -> Option<Interval> {
        let terms: Vec<(Vec<Name>, i64)> =
            p.terms().map(|(product, c)| (product.expanded().cloned().collect(), c)).collect();
        let mut sum: Option<Interval> = None;
        for (names, c) in terms {
            let constant = Linear::constant(c);
            let mut term = Interval::Between(constant.clone(), constant);
            for name in names {
                term = Interval::of(Binary::Mul, term, self.between(&Linear::name(name))?);
            }
            sum = Some(match sum {
                None => term,
                Some(sum) => Interval::of(Binary::Add, sum, term),
            });
        }
        let zero = || Interval::Between(Linear::default(), Linear::default());
        Some(sum.unwrap_or_else(zero)).filter(|all| all.parts() <= MOST_PARTS)
    }

    /// Takes the subscripts of a flat array as they are, where not all are rows and columns.
    pub(super) fn settle_by_data(
        &mut self,
        k: usize,
        accesses: &[(usize, &Pending)],
        settled: &mut std::collections::BTreeMap<i64, Vec<Hub>>,
    ) {
        for (number, p) in accesses {
            let index = match (&p.expr, &p.computed, p.polynomial.as_linear()) {
                (Some(expr), _, Some(form)) => {
                    if !p.found {
                        self.add_reach(k, &form, &p.loops);
                    }
                    if self.arrays[&k].open {
                        let _ = self.add_end(k, &form, Some(&p.loops), p.at);
                    }
                    expr.clone()
                }
                (_, Some(computed), _) => {
                    self.goes_to(k, computed.interval.clone());
                    computed.value.clone()
                }
                _ => {
                    self.not_linearised(k, p, &[]);
                    continue;
                }
            };
            settled.insert(*number as i64, vec![index]);
        }
        if self.arrays[&k].open {
            self.length_of(k);
        }
        if let Some(array) = self.arrays.get_mut(&k) {
            array.read_where = None;
        }
    }

    /// A place in an array that is known as data alone cannot be used otherwise.
    pub(super) fn beyond_data<T>(&mut self, k: usize, at: At) -> Try<T> {
        let name = self.res.objects[k].name.clone();
        let why = not("the place that the pointer has in it depends on data", at);
        self.bad_subscript(&name, at, why)
    }

    /// Statements that find an interval, and its ends; `number` is that of the next variables.
    pub(super) fn interval_text(
        &self,
        interval: &Interval,
        prefix: &str,
        number: &mut usize,
        out: &mut Vec<String>,
    ) -> Option<(String, String)> {
        let (least, most) = match interval {
            Interval::Between(least, most) => {
                let ends = |form: &Linear| self.wide_text(&self.form_expr(form));
                (ends(least)?, ends(most)?)
            }
            Interval::Elements(k) => {
                out.extend(self.scanned(*k)?);
                (format!("least{k}_"), format!("most{k}_"))
            }
            Interval::Of(op, a, b) => {
                let a = self.interval_text(a, prefix, number, out)?;
                let b = self.interval_text(b, prefix, number, out)?;
                let products = format!("{prefix}all{number}_");
                operation_text(*op, &a, &b, &products, out)?
            }
            Interval::Either(a, b) => {
                let a = self.interval_text(a, prefix, number, out)?;
                let b = self.interval_text(b, prefix, number, out)?;
                (lesser(&a.0, &b.0), greater(&a.1, &b.1))
            }
            Interval::Scaled(a, by) => {
                let a = self.interval_text(a, prefix, number, out)?;
                let object = &self.res.objects[*by];
                let (by, single) = (&object.name, self.scalar(&object.ty.ty) == Some(Scalar::F32));
                let ty = if single { "float" } else { "double" };
                let (x, y) = (format!("{prefix}x{number}_"), format!("{prefix}y{number}_"));
                out.push(format!("{ty} {x} = ({ty}){} * {by}, {y} = ({ty}){} * {by};", a.0, a.1));
                let fits = |x: &str| format!("{x} > -1e9f && {x} < 1e9f");
                let both = format!("{} && {}", fits(&x), fits(&y));
                out.push(format!("if (!({both})) {{ apart_ = 0; {x} = {y} = 0; }}"));
                (lesser(&x, &y), greater(&x, &y))
            }
        };
        let (lo, hi) = (format!("{prefix}lo{number}_"), format!("{prefix}hi{number}_"));
        *number += 1;
        out.push(format!("__int128 {lo} = (__int128)({least}), {hi} = (__int128)({most});"));
        let beyond = |end: &str| format!("{end} < -(1L << 40) || {end} > 1L << 40");
        out.push(format!("if ({} || {}) {{ apart_ = 0; {lo} = {hi} = 0; }}", beyond(&lo), beyond(&hi)));
        Some((lo, hi))
    }
}

/// The ends of what an operation makes of two intervals.
fn operation_text(
    op: Binary,
    (a, b): &(String, String),
    (c, d): &(String, String),
    all: &str,
    out: &mut Vec<String>,
) -> Option<(String, String)> {
    // The ends are among those of the four pairs of ends, which are put in order as far as needed.
    let mut four = |op: &str| {
        let pairs = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| format!("{x} {op} {y}"));
        out.push(format!("__int128 {all}[4] = {{ {} }};", pairs.join(", ")));
        out.push(format!(
            "for (int k_ = 1; k_ < 4; k_++) {{ __int128 one_ = {all}[k_]; \
             if (one_ < {all}[0]) {{ {all}[k_] = {all}[0]; {all}[0] = one_; }} \
             if ({all}[k_] > {all}[1]) {{ one_ = {all}[k_]; {all}[k_] = {all}[1]; {all}[1] = one_; }} }}"
        ));
        (format!("{all}[0]"), format!("{all}[1]"))
    };
    Some(match op {
        Binary::Add => (format!("{a} + {c}"), format!("{b} + {d}")),
        Binary::Sub => (format!("{a} - {d}"), format!("{b} - {c}")),
        Binary::Mul => four("*"),
        Binary::Div | Binary::Rem => {
            let positive = format!("if ({c} < 1 || {d} < 1) {{ apart_ = 0; {c} = {d} = 1; }}");
            if matches!(op, Binary::Div) {
                four("/");
                out.insert(out.len() - 2, positive);
                return Some((format!("{all}[0]"), format!("{all}[1]")));
            }
            out.push(positive);
            // It has the sign of what is divided.
            (
                format!("({a} < 0 ? {} : 0)", greater(a, &format!("1 - {d}"))),
                format!("({b} > 0 ? {} : 0)", lesser(b, &format!("{d} - 1"))),
            )
        }
        _ => return None,
    })
}

fn lesser(a: &str, b: &str) -> String {
    format!("(({a}) < ({b}) ? ({a}) : ({b}))")
}

fn greater(a: &str, b: &str) -> String {
    format!("(({a}) > ({b}) ? ({a}) : ({b}))")
}

/// Whether addresses that are computed in a type are those of integers without limit: it has a
/// sign, or as many bits as an address.
fn is_address_like(ty: IntType) -> bool {
    ty.bits() >= 32 && (!ty.is_unsigned() || ty.bits() == 64)
}

/// Whether a type has all values of another one, or the same bits of an address.
fn holds(ty: IntType, from: IntType) -> bool {
    is_address_like(ty) && is_address_like(from) && ty.bits() >= from.bits()
}
