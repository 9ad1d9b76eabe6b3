//! Accesses of a region, and flat arrays that are seen with several dimensions.

use std::collections::BTreeMap;

use arith::number::floor_div;
use loops::{Access, BinaryOp, Expr as Hub, Name, Scalar};

use super::assume::{Bounds, Need};
use super::by_data::is_unknown;
use super::index::{AtomKind, Index, NotIndex, atom_number};
use super::polynomial::{Gathered, Polynomial, has_rows, sizes_of_products, small};
use super::track::{Place, Product};
use super::{ActiveLoop, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::codes;
use crate::ctype::IntType;
use crate::linear::Linear;
use crate::lower::header::expr_mentions;
use crate::lower::resolve::Meaning;
use crate::region::AccessForm;

/// An access to a flat array. In the program it stands as `A[number][false]` until all of them are
/// known.
#[derive(Clone)]
pub struct Pending {
    pub object: usize,
    pub polynomial: Polynomial,
    /// The expression, if it is affine.
    pub expr: Option<Hub>,
    /// Why it is not affine.
    pub why: Option<NotIndex>,
    pub factors: Vec<Linear>,
    /// What its subscript must not be beyond, so that it does not wrap around.
    pub most: Option<i64>,
    /// What is known where it stands.
    pub known: Vec<Linear>,
    pub loops: Vec<Bounds>,
    pub at: At,
}

enum Subscript<'e> {
    Expr(&'e Expr),
    /// Of `*(p + i)`, or the sum in `(p + i)[j]`.
    Made(Box<Expr>),
    /// Of `*p`.
    Zero,
}

impl Subscript<'_> {
    fn expr(&self) -> Option<&Expr> {
        match self {
            Subscript::Expr(e) => Some(e),
            Subscript::Made(e) => Some(e),
            Subscript::Zero => None,
        }
    }
}

/// A subscript with what is added to the pointer before it.
fn moved<'e>(op: Binary, by: &'e Expr, last: &Subscript<'e>) -> Subscript<'e> {
    match (op, last.expr()) {
        (Binary::Add, None) => Subscript::Expr(by),
        (op, last) => {
            let zero = Expr { kind: ExprKind::Int(0, IntType::Int), at: by.at, height: 1 };
            let last = last.cloned().unwrap_or(zero);
            let (at, height) = (by.at.to(last.at), by.height.max(last.height) + 1);
            let kind = ExprKind::Binary(op, Box::new(last), Box::new(by.clone()));
            Subscript::Made(Box::new(Expr { kind, at, height }))
        }
    }
}

/// An extent as a form, where it is a sum of sizes.
pub(super) fn linear_of(e: &Hub) -> Option<Linear> {
    match e {
        Hub::Int(value) => Some(Linear::constant(*value)),
        Hub::Var(name) => Some(Linear::name(name.clone())),
        Hub::Binary(BinaryOp::Add, a, b) => linear_of(a)?.plus(&linear_of(b)?),
        Hub::Binary(BinaryOp::Sub, a, b) => linear_of(a)?.minus(&linear_of(b)?),
        Hub::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (linear_of(a)?, linear_of(b)?);
            match (a.as_constant(), b.as_constant()) {
                (Some(c), _) => b.times(c),
                (_, Some(c)) => a.times(c),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Lowering<'_> {
    /// An access, its element type, and its object.
    pub(super) fn access(&mut self, e: &Expr) -> Try<(Access, Scalar, usize)> {
        let (base, subscripts) = self.taken_apart(e);
        if let Some(k) = self.followed_pointer(base) {
            return self.access_through(k, base.at, &subscripts, e.at);
        }
        let ExprKind::Ident(name) = &base.kind else {
            let message = match &base.kind {
                ExprKind::Unsupported(what) => {
                    let (message, label) =
                        (format!("{what} in a region"), (base.at, "not possible in a region"));
                    return match super::array::way_out(what) {
                        Some(help) => self.fail_with(codes::EXPRESSION, message, label, help),
                        None => self.fail(codes::EXPRESSION, message, label.0, label.1),
                    };
                }
                ExprKind::Binary(..) | ExprKind::Step(..) => "pointer arithmetic in a region".to_string(),
                _ => format!("`{}` is no array or variable", self.snippet(base.at)),
            };
            return self.fail(codes::EXPRESSION, message, base.at, "not possible in a region");
        };
        let k = match self.meaning(base) {
            Meaning::Object(k) => k,
            Meaning::Constant(_) => {
                return self.fail(
                    codes::EXPRESSION,
                    format!("`{name}` is a constant"),
                    base.at,
                    "no array or variable",
                );
            }
            Meaning::Unknown => return self.unknown_name(name, base.at),
        };
        self.use_array(k, base.at)?;
        let array = &self.arrays[&k];
        let (elem, flat, rank) = (array.elem, array.flat, array.dims.len());
        if subscripts.len() != rank {
            let message = match (rank, subscripts.len()) {
                (0, _) => format!("`{name}` is a scalar with subscripts"),
                (_, 0) => format!("the array `{name}` is used without subscripts"),
                (_, given) => format!("`{name}` has {rank} dimensions and {given} subscripts here"),
            };
            return self.fail(codes::SHAPE, message, e.at, "expected a single element");
        }
        let hub = self.name_of(k);
        if flat {
            return Ok((self.flat_access(k, hub, &subscripts[0], None, e.at)?, elem, k));
        }
        let mut indices = Vec::new();
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let index = match subscript.expr() {
                None => Index::constant(0),
                Some(s) => match self.index(s) {
                    Ok(index) => index,
                    Err(why) => match self.looked_up(k, s) {
                        Some(index) => {
                            if dimension == 0 {
                                self.reaches_anywhere(k);
                            }
                            if dimension == 0 && self.arrays[&k].open {
                                self.length_of(k);
                            }
                            indices.push(index);
                            continue;
                        }
                        None => return self.bad_subscript(name, s.at, why),
                    },
                },
            };
            if dimension == 0 {
                let loops = self.bounds_here();
                self.add_reach(k, &index.form, &loops);
            }
            if dimension == 0 && self.arrays[&k].open {
                self.add_end(k, &index.form, None, e.at)?;
            }
            indices.push(index.expr);
        }
        Ok((Access { array: hub, indices, path: Vec::new() }, elem, k))
    }

    /// The array and the subscripts of an access, the outermost first: `*(a + i)` is `a[i]`.
    fn taken_apart<'e>(&self, e: &'e Expr) -> (&'e Expr, Vec<Subscript<'e>>) {
        let mut subscripts: Vec<Subscript<'e>> = Vec::new();
        let mut base = e;
        loop {
            match &base.kind {
                ExprKind::Index(inner, index) => {
                    subscripts.push(Subscript::Expr(index));
                    base = inner;
                }
                ExprKind::Unary(Unary::Deref, inner) => {
                    subscripts.push(Subscript::Zero);
                    base = inner;
                }
                // What is added to a pointer is added to the subscript that follows it.
                ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) if !subscripts.is_empty() => {
                    let turned = *op == Binary::Add && self.rank(a) == 0;
                    let (pointer, by) = if turned { (b, a) } else { (a, b) };
                    if self.rank(pointer) == 0 || self.rank(by) != 0 {
                        break;
                    }
                    let Some(last) = subscripts.pop() else { break };
                    subscripts.push(moved(*op, by, &last));
                    base = pointer;
                }
                _ => break,
            }
        }
        subscripts.reverse();
        (base, subscripts)
    }

    /// An access by a pointer whose value is followed.
    fn access_through(
        &mut self,
        pointer: usize,
        named: At,
        subscripts: &[Subscript<'_>],
        at: At,
    ) -> Try<(Access, Scalar, usize)> {
        let name = self.res.objects[pointer].name.clone();
        let [subscript] = subscripts else {
            let message = format!("the pointer `{name}` is used as a value");
            return self.fail(
                codes::EXPRESSION,
                message,
                named,
                "only what it points to can be read or written",
            );
        };
        let whole = Expr { kind: ExprKind::Ident(name.clone()), at: named, height: 1 };
        let place = match self.place_of(&whole) {
            Ok(place) => place,
            Err(why) => {
                let help = "point it to an array, or to a place in one that follows from loop variables and sizes, before it is used: `row = x + i * n`";
                let message = why.reason;
                return self.fail_with(codes::EXPRESSION, message, (at, "used here"), help);
            }
        };
        let k = place.object;
        let hub = self.name_of(k);
        let (elem, flat) = (self.arrays[&k].elem, self.arrays[&k].flat);
        if flat {
            let access = self.flat_access(k, hub, subscript, Some(&place.offset), at)?;
            return Ok((access, elem, k));
        }
        let last = self.last_subscript(k, &place, subscript, at)?;
        let Some(first) = place.leading.first() else {
            return self.fail(codes::SHAPE, format!("`{name}` points to rows"), at, "expected an element");
        };
        let loops = self.bounds_here();
        self.add_reach(k, &first.form, &loops);
        if self.arrays[&k].open {
            self.add_end(k, &first.form, None, at)?;
        }
        let indices = place.leading.iter().map(|index| index.expr.clone()).chain([last]).collect();
        Ok((Access { array: hub, indices, path: Vec::new() }, elem, k))
    }

    /// The last subscript of an access by a pointer to an element of a row, which must stay in that
    /// row.
    fn last_subscript(&mut self, k: usize, place: &Place, subscript: &Subscript<'_>, at: At) -> Try<Hub> {
        let name = self.res.objects[k].name.clone();
        let by = match subscript.expr() {
            None => Ok(Index::constant(0)),
            Some(s) => self.index(s),
        };
        let by = match by {
            Ok(by) => by,
            Err(why) => {
                let looked_up = subscript
                    .expr()
                    .filter(|_| place.offset.polynomial.is_empty())
                    .and_then(|s| self.looked_up(k, s));
                return match looked_up {
                    Some(index) => Ok(index),
                    None => self.bad_subscript(&name, at, why),
                };
            }
        };
        let offset = place.offset.polynomial.as_linear().and_then(|offset| offset.plus(&by.form));
        let Some(form) = offset else {
            let why = super::index::not("the row that it points to has products in it", at);
            return self.bad_subscript(&name, at, why);
        };
        self.stays_in_row(k, &form, at)?;
        Ok(self.form_expr(&form))
    }

    /// The last subscript of an array of several dimensions must be below its extent.
    pub(super) fn stays_in_row(&mut self, k: usize, form: &Linear, at: At) -> Try<()> {
        let name = self.res.objects[k].name.clone();
        let extent = self.arrays[&k].dims.last().and_then(linear_of);
        let below = extent.and_then(|extent| extent.minus(form)?.plus_constant(-1));
        let Some(below) = below else {
            let why = super::index::not("the length of its row is no sum of sizes", at);
            return self.bad_subscript(&name, at, why);
        };
        let says = |what: &str| format!("{what} stays in its row of `{name}`");
        for need in [form, &below] {
            if let Err(why) = self.need(need, at, &says) {
                return self.bad_subscript(&name, at, why);
            }
        }
        Ok(())
    }

    fn bad_subscript<T>(&mut self, array: &str, at: At, why: NotIndex) -> Try<T> {
        let message = format!(
            "the subscript `{}` of `{array}` is not affine in {}: {}",
            self.snippet(at),
            self.loop_list(),
            why.reason
        );
        let diagnostic = loops::Diagnostic::error(codes::SUBSCRIPT, message, self.span(why.at), "not affine");
        self.report(match why.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        })
    }

    fn flat_access(
        &mut self,
        k: usize,
        hub: Name,
        subscript: &Subscript<'_>,
        offset: Option<&Product>,
        at: At,
    ) -> Try<Access> {
        let c_name = self.res.objects[k].name.clone();
        let mut gathered = Gathered::default();
        let (polynomial, expr, why) = match subscript.expr() {
            None => (Polynomial::default(), Some(Hub::Int(0)), None),
            Some(s) => match self.index(s) {
                Ok(index) => (Polynomial::of_linear(&index.form), Some(index.expr), None),
                Err(why) => match self.polynomial(s, &mut gathered) {
                    Ok((p, _)) => (p, None, Some(why)),
                    Err(_) => match self.looked_up(k, s) {
                        Some(mut index) => {
                            if let Some(offset) = offset.filter(|o| !o.polynomial.is_empty()) {
                                index = self.polynomial_expr(&offset.polynomial) + index;
                            }
                            self.reaches_anywhere(k);
                            if self.arrays[&k].open {
                                self.length_of(k);
                            }
                            return Ok(Access::element(hub, vec![index]));
                        }
                        None => return self.bad_subscript(&c_name, s.at, why),
                    },
                },
            },
        };
        let (polynomial, expr, why) = match offset.filter(|offset| !offset.polynomial.is_empty()) {
            None => (polynomial, expr, why),
            Some(offset) => {
                gathered.join(&offset.gathered);
                let Some(sum) = small(polynomial.plus(&offset.polynomial)) else {
                    return self.bad_subscript(&c_name, at, super::index::too_large(at));
                };
                let expr = sum.as_linear().map(|form| self.form_expr(&form));
                let reason = "the place that the pointer has in it is a product of loop variables or sizes";
                let why = expr.is_none().then(|| why.unwrap_or(super::index::not(reason, at)));
                (sum, expr, why)
            }
        };
        let at = subscript.expr().filter(|_| offset.is_none()).map_or(at, |s| s.at);
        Ok(self.pend(k, hub, (polynomial, expr, why), gathered, at))
    }

    /// An access to a flat array that is settled when all of them are known.
    pub(super) fn pend(
        &mut self,
        k: usize,
        hub: Name,
        (polynomial, expr, why): (Polynomial, Option<Hub>, Option<NotIndex>),
        gathered: Gathered,
        at: At,
    ) -> Access {
        let same = self.pending[self.statement_pending..]
            .iter()
            .position(|p| p.object == k && p.polynomial == polynomial && p.expr == expr);
        let number = match same {
            Some(offset) => self.statement_pending + offset,
            None => {
                let known = self.known.clone();
                let loops =
                    self.loops.iter().map(|l| (l.var.clone(), l.lower.clone(), l.upper.clone())).collect();
                let Gathered { factors, most } = gathered;
                let pending = Pending { object: k, polynomial, expr, why, factors, most, known, loops, at };
                self.pending.push(pending);
                self.pending.len() - 1
            }
        };
        // No other access has such subscripts.
        Access::element(hub, vec![Hub::Int(number as i64), Hub::Bool(false)])
    }

    /// Notes which of an array's first subscripts an access has.
    pub(super) fn add_reach(&mut self, k: usize, form: &Linear, loops: &[Bounds]) {
        let first = self.bound(form, loops, false, 0);
        let end = self.bound(form, loops, true, 0).and_then(|last| last.plus_constant(1));
        let of_sizes = |form: &Linear| self.is_of_sizes(form);
        let reach = first.zip(end).filter(|(first, end)| of_sizes(first) && of_sizes(end));
        let Some(array) = self.arrays.get_mut(&k) else { return };
        match (reach, &mut array.reach) {
            (Some(reach), Some(all)) => {
                if !all.contains(&reach) {
                    all.push(reach);
                }
            }
            (_, all) => *all = None,
        }
    }

    fn reaches_anywhere(&mut self, k: usize) {
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

    fn bound_atom(&mut self, name: &Name, loops: &[Bounds], up: bool, depth: usize) -> Option<Linear> {
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
    fn farthest(&mut self, forms: Vec<Linear>, up: bool) -> Linear {
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
                    if let Some(form) = p.polynomial.as_linear() {
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
                self.not_linearised(k, first, &[]);
                continue;
            }
            let known = self.known_of_rows(first, &[]);
            let Some(split) = self.split(&first.polynomial, &first.factors, &known, 0) else {
                self.not_linearised(k, first, &[]);
                continue;
            };
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
                        self.add_reach(k, &subscripts[0], &p.loops);
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
    fn keeps_within(&mut self, p: &Pending, row: &Linear, strides: &[Linear]) {
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

    fn not_linearised(&mut self, k: usize, p: &Pending, strides: &[Linear]) {
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

    /// What is known where a flat access stands. If rows and columns only follow from a condition on sizes, that is tested before the region, and known too.
    fn known_of_rows(&mut self, p: &Pending, strides: &[Linear]) -> Vec<Linear> {
        let known = [p.known.as_slice(), &self.of_rows].concat();
        let p = &Pending { known: known.clone(), ..p.clone() };
        let splits = match strides {
            [] => self.split(&p.polynomial, &p.factors, &known, 0).is_some(),
            _ => self.split_by(&p.polynomial, strides, &known).is_some(),
        };
        if splits {
            return known;
        }
        let (need, holds, text) = if let Some(stride) = self.row_if_positive(p, strides) {
            let Some(positive) = stride.plus_constant(-1) else { return known };
            (positive.clone(), positive, format!("{} > 0", self.form_text(&stride)))
        } else if let Some((stride, rest, end)) = self.row_if_below(p, strides) {
            let forms = stride.minus(&end).zip(stride.minus(&rest).and_then(|below| below.plus_constant(-1)));
            let Some((need, below)) = forms else { return known };
            (need, below, format!("{} <= {}", self.form_text(&end), self.form_text(&stride)))
        } else {
            return known;
        };
        let says = format!("`{text}`, so that `{}` is a row and a column", self.snippet(p.at));
        self.assume(Need::Natural(need.clone()), says, p.at);
        if !self.of_rows.contains(&need) {
            self.of_rows.push(need);
        }
        [known.as_slice(), &[holds]].concat()
    }

    /// The length of rows that a flat subscript would have if what is added to them were known to be below it, that, and how far it goes.
    fn row_if_below(&mut self, p: &Pending, strides: &[Linear]) -> Option<(Linear, Linear, Linear)> {
        for (stride, rest) in self.rows_if_below(p, strides) {
            let end = self.bound(&rest, &p.loops, true, 0).and_then(|last| last.plus_constant(1));
            let of_sizes = |end: &Linear| end.as_constant().is_some() || self.is_size_form(end);
            let Some(end) = end.filter(|end| of_sizes(end) && *end != stride) else { continue };
            // What never holds, or only for the smallest sizes, is not tested.
            if stride.terms().all(|(name, c)| end.coefficient(name) < c) {
                return Some((stride, rest, end));
            }
        }
        None
    }

    fn form_text(&self, form: &Linear) -> String {
        self.c_text(&self.form_expr(form))
    }

    /// The extents of a view with rows, as the products of a subscript have them.
    fn extents_of_rows(&self, p: &Pending, loops: &[&str]) -> String {
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
