//! Accesses of a region: elements of arrays, by their names and by pointers into them.

use loops::{Access, BinaryOp, Expr as Hub, Name, Scalar};

use super::assume::Bounds;
use super::index::{Index, NotIndex};
use super::intervals::{Computed, Interval};
use super::polynomial::{Gathered, Polynomial, small};
use super::track::Place;
use super::{Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::codes;
use crate::ctype::IntType;
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

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
    /// It is made if its loops run.
    pub sure: bool,
    /// Where it goes is found before the region.
    pub found: bool,
    /// Its subscript as data, where it may be taken as that.
    pub computed: Option<Computed>,
}

enum Subscript<'e> {
    Expr(&'e Expr),
    /// Of `*(p + i)`, or the sum in `(p + i)[j]`.
    Made(Box<Expr>),
    /// Of `*p`.
    Zero,
}

impl Subscript<'_> {
    pub(super) fn expr(&self) -> Option<&Expr> {
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
        let indices = self.subscripts(k, name, &subscripts, e.at)?;
        Ok((Access { array: hub, indices, path: Vec::new() }, elem, k))
    }

    /// The subscripts of an array of several dimensions.
    fn subscripts(&mut self, k: usize, name: &str, subscripts: &[Subscript<'_>], at: At) -> Try<Vec<Hub>> {
        let mut indices = Vec::new();
        let mut forms = Vec::new();
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let index = match subscript.expr() {
                None => Index::constant(0),
                Some(s) => match self.index(s) {
                    Ok(index) => index,
                    Err(why) => match self.looked_up(k, s) {
                        Some(_) if dimension > 0 && self.arrays[&k].rows => {
                            let why = super::index::not(
                                "it depends on data, and the length of the row is not known",
                                s.at,
                            );
                            return self.bad_subscript(name, s.at, why);
                        }
                        Some(index) => {
                            if dimension == 0 {
                                self.reaches_anywhere(k);
                            }
                            if dimension == 0 && self.arrays[&k].open {
                                self.length_of(k);
                            }
                            indices.push(index);
                            forms.push(None);
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
                self.add_end(k, &index.form, None, at)?;
            }
            if dimension > 0 && self.arrays[&k].rows {
                self.add_row_end(k, dimension - 1, &index.form, at)?;
            }
            forms.push(Some(index.form));
            indices.push(index.expr);
        }
        self.note_cells(k, &forms);
        Ok(indices)
    }

    /// How many values a subscript can have that is an element of an array of bytes.
    fn narrow(&self, e: &Expr) -> Option<i64> {
        let (base, subscripts) = self.taken_apart(e);
        if subscripts.is_empty() || !matches!(base.kind, ExprKind::Ident(_)) {
            return None;
        }
        let Meaning::Object(k) = self.meaning(base) else { return None };
        match self.arrays.get(&k)?.elem {
            Scalar::U8 => Some(1 << 8),
            Scalar::U16 => Some(1 << 16),
            _ => None,
        }
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
            let access = self.flat_access(k, hub, subscript, Some(&place), at)?;
            return Ok((access, elem, k));
        }
        if place.by_data {
            return self.beyond_data(k, at);
        }
        let (last, form) = self.last_subscript(k, &place, subscript, at)?;
        let forms: Vec<_> =
            place.leading.iter().map(|index| Some(index.form.clone())).chain([form]).collect();
        self.note_cells(k, &forms);
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
    fn last_subscript(
        &mut self,
        k: usize,
        place: &Place,
        subscript: &Subscript<'_>,
        at: At,
    ) -> Try<(Hub, Option<Linear>)> {
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
                    Some(index) => Ok((index, None)),
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
        Ok((self.form_expr(&form), Some(form)))
    }

    /// The last subscript of an array of several dimensions must be below its extent.
    pub(super) fn stays_in_row(&mut self, k: usize, form: &Linear, at: At) -> Try<()> {
        if self.arrays[&k].rows {
            let dimension = self.arrays[&k].dims.len().saturating_sub(2);
            return self.add_row_end(k, dimension, form, at);
        }
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

    pub(super) fn bad_subscript<T>(&mut self, array: &str, at: At, why: NotIndex) -> Try<T> {
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
        place: Option<&Place>,
        at: At,
    ) -> Try<Access> {
        let c_name = self.res.objects[k].name.clone();
        if let Some(place) = place.filter(|place| place.by_data) {
            return match self.computed_sum(Some(place), subscript.expr(), Binary::Add) {
                Some(Computed { value, interval }) => Ok(self.access_by_data(k, hub, value, interval)),
                None => self.beyond_data(k, at),
            };
        }
        let offset = place.map(|place| &place.offset);
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
                            match self.narrow(s).filter(|_| offset.is_none()) {
                                Some(count) => {
                                    let all = (Linear::constant(0), Linear::constant(count));
                                    self.reaches_these(k, all);
                                }
                                None => {
                                    let by_data = match offset {
                                        None => self.inspected(s),
                                        Some(_) => None,
                                    };
                                    if by_data.is_none() {
                                        let interval = self.interval_at(offset, s);
                                        return Ok(self.access_by_data(k, hub, index, interval));
                                    }
                                    self.note_read(k, None);
                                    self.goes_by_data(k, by_data);
                                }
                            }
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
        let computed = match expr {
            Some(_) => None,
            None => self.computed_sum(place, subscript.expr(), Binary::Add),
        };
        let at = subscript.expr().filter(|_| offset.is_none()).map_or(at, |s| s.at);
        Ok(self.pend(k, hub, (polynomial, expr, why), (gathered, computed), at))
    }

    /// An access to a flat array whose subscript is data.
    fn access_by_data(&mut self, k: usize, hub: Name, index: Hub, interval: Option<Interval>) -> Access {
        if let Some(array) = self.arrays.get_mut(&k) {
            array.looked_up = true;
        }
        self.note_read(k, None);
        self.goes_to(k, interval);
        if self.arrays[&k].open {
            self.length_of(k);
        }
        Access::element(hub, vec![index])
    }

    /// An access to a flat array that is settled when all of them are known.
    pub(super) fn pend(
        &mut self,
        k: usize,
        hub: Name,
        (polynomial, expr, why): (Polynomial, Option<Hub>, Option<NotIndex>),
        (gathered, computed): (Gathered, Option<Computed>),
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
                let form = polynomial.as_linear();
                let by_data = form.as_ref().and_then(|form| self.along_data(form));
                if let Some(form) = &form {
                    self.note_read(k, Some(form));
                }
                let (sure, found) = (self.branches == 0, by_data.is_some());
                if found {
                    self.goes_by_data(k, by_data);
                }
                let pending = Pending {
                    object: k,
                    polynomial,
                    expr,
                    why,
                    factors,
                    most,
                    known,
                    loops,
                    at,
                    sure,
                    found,
                    computed,
                };
                self.pending.push(pending);
                self.pending.len() - 1
            }
        };
        // No other access has such subscripts.
        Access::element(hub, vec![Hub::Int(number as i64), Hub::Bool(false)])
    }
}
