//! `memset(x, 0, n * sizeof *x)` and `memcpy(x, y, n * sizeof *x)` as loops over elements.
//!
//! The number of bytes must be a product of the size of an element and of affine numbers. A number
//! of bytes that is negative is beyond every object, so C gives it no meaning. Left out: other
//! bytes than 0 in elements of several bytes, and objects of different types.

use loops::{Access, Expr as Hub, Loop, LoopKind, Name, Scalar, Stmt as HubStmt};

use super::polynomial::{Gathered, Polynomial, small};
use super::resolve::Meaning;
use super::track::Place;
use super::{ActiveLoop, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind};
use crate::codes;
use crate::ctype::{CType, IntType};
use crate::linear::Linear;

/// Most loops that one call becomes.
const MOST_LOOPS: usize = 4;

/// What a call fills or reads.
enum Spot {
    /// All elements of an array of several dimensions, by its object.
    Whole(usize),
    /// Elements from a place on.
    From(Box<Place>),
}

impl Spot {
    fn object(&self) -> usize {
        match self {
            Spot::Whole(k) => *k,
            Spot::From(place) => place.object,
        }
    }
}

/// Whether a function is one of these, by the name without the prefix of compilers.
pub(super) fn fills(function: &str) -> bool {
    matches!(function, "memset" | "memcpy")
}

impl Lowering<'_> {
    /// A call of `memset` or `memcpy` as a statement.
    pub(super) fn fill(&mut self, function: &str, args: &[Expr], at: At) -> Try<Vec<HubStmt>> {
        let [to, what, bytes] = args else {
            return self.fail(codes::CALL, format!("`{function}` takes 3 arguments"), at, "this call");
        };
        let to = self.spot(to)?;
        let from = if function == "memcpy" { Some(self.spot(what)?) } else { None };
        let elem = self.arrays[&to.object()].elem;
        let zero = match (&from, &what.kind) {
            (None, ExprKind::Int(0, _)) => Some(Hub::constant(elem, 0)),
            (None, ExprKind::Int(value, _)) if elem.bytes() == 1 && *value < 128 => {
                Some(Hub::constant(elem, *value as i32))
            }
            _ => None,
        };
        if from.as_ref().is_some_and(|from| self.arrays[&from.object()].elem != elem) {
            return self.fail(codes::CALL, "`memcpy` between elements of two types", at, "this call");
        }
        if from.is_none() && zero.is_none() {
            let message = format!("`memset` to another byte than 0: `{}`", self.snippet(what.at));
            let help = "write a loop that assigns the value";
            return self.fail_with(codes::CALL, message, (what.at, "not 0"), help);
        }
        let counts = match self.elements_of(bytes, elem) {
            Some(counts) if counts.len() <= MOST_LOOPS => counts,
            _ => {
                let message = format!(
                    "the number of bytes `{}` is no affine number of elements",
                    self.snippet(bytes.at)
                );
                let help = "write it as `n * sizeof(double)`, or write a loop";
                return self.fail_with(codes::CALL, message, (bytes.at, "not understood"), help);
            }
        };
        let extents = match (&to, &from) {
            (Spot::Whole(k), _) => self.whole(*k, &counts),
            (_, Some(Spot::Whole(k))) => self.whole(*k, &counts),
            _ => Some(counts.clone()),
        };
        let fits = |spot: &Spot, this: &Self| match spot {
            Spot::Whole(k) => this.whole(*k, &counts).as_ref() == extents.as_ref(),
            Spot::From(_) => true,
        };
        let Some(extents) = extents.clone().filter(|_| fits(&to, self) && from.iter().all(|f| fits(f, self)))
        else {
            let message = "the number of bytes is not that of the whole array";
            let help = "write loops over its elements";
            return self.fail_with(codes::CALL, message, (bytes.at, "not all of it"), help);
        };
        let mark = (self.loops.len(), self.known.len());
        let hubs = self.open_loops(&extents);
        let target = self.elements(&to, &hubs, &extents, at);
        let value = match (&from, zero) {
            (Some(from), _) => self.elements(from, &hubs, &extents, at).map(Hub::Load),
            (None, Some(zero)) => Ok(zero),
            (None, None) => Err(super::Failed),
        };
        self.loops.truncate(mark.0);
        self.known.truncate(mark.1);
        let (target, value) = (target?, value?);
        for (spot, written) in from.iter().map(|f| (f, false)).chain([(&to, true)]) {
            if let Some(array) = self.arrays.get_mut(&spot.object()) {
                array.read |= !written;
                array.written |= written;
            }
        }
        let mut body = vec![self.assign(target, None, value)];
        for (var, extent) in hubs.into_iter().zip(&extents).rev() {
            let (lower, upper) = (Hub::Int(0), self.form_expr(extent));
            let kind = LoopKind::Sequential;
            body =
                vec![HubStmt::Loop(Loop { var, lower, upper, step: 1, kind, reductions: Vec::new(), body })];
        }
        Ok(body)
    }

    /// The array that a pointer of `void` comes from.
    fn spot(&mut self, e: &Expr) -> Try<Spot> {
        let mut inner = e;
        while let ExprKind::Cast(ty, value) = &inner.kind
            && matches!(ty.ty, CType::Pointer { .. })
        {
            inner = value;
        }
        if let (ExprKind::Ident(_), Meaning::Object(k)) = (&inner.kind, self.meaning(inner))
            && self.rank(inner) > 1
        {
            self.use_array(k, inner.at)?;
            return Ok(Spot::Whole(k));
        }
        match self.place_of(inner) {
            Ok(place) if place.by_data => self.beyond_data(place.object, inner.at),
            Ok(place) => Ok(Spot::From(Box::new(place))),
            Err(why) => self.fail(codes::CALL, why.reason, why.at, "no place in an array of the region"),
        }
    }

    /// The numbers whose product is how many elements so many bytes are.
    fn elements_of(&mut self, bytes: &Expr, elem: Scalar) -> Option<Vec<Linear>> {
        let mut factors = Vec::new();
        flatten(bytes, &mut factors);
        let (mut constant, mut counts) = (1i64, Vec::new());
        for factor in factors {
            let form = self.index(factor).ok()?.form;
            match form.as_constant() {
                Some(value) => constant = constant.checked_mul(value)?,
                None => counts.push(form),
            }
        }
        let rest = constant.checked_div(elem.bytes() as i64)?;
        if rest < 0 || constant % elem.bytes() as i64 != 0 {
            return None;
        }
        match counts.first_mut() {
            None => counts.push(Linear::constant(rest)),
            Some(first) => *first = first.times(rest)?,
        }
        Some(counts)
    }

    /// The extents of an array, if it has as many elements.
    fn whole(&self, k: usize, counts: &[Linear]) -> Option<Vec<Linear>> {
        let array = &self.arrays[&k];
        let product = |factors: &[Linear]| {
            factors.iter().try_fold(Polynomial::constant(1), |p, f| small(p.times(&Polynomial::of_linear(f))))
        };
        let dims: Vec<Linear> = array.dims.iter().map(super::access::linear_of).collect::<Option<_>>()?;
        (!array.open && product(&dims)? == product(counts)?).then_some(dims)
    }

    /// Begins loops from 0 to some extents.
    fn open_loops(&mut self, extents: &[Linear]) -> Vec<Name> {
        let mut hubs = Vec::new();
        for extent in extents {
            let hub = self.fresh("at");
            self.taken.insert(hub.clone(), None);
            self.loop_types.insert(hub.clone(), IntType::Long);
            let var = Linear::name(hub.clone());
            self.known.push(var.clone());
            self.known.extend(extent.minus(&var).and_then(|below| below.plus_constant(-1)));
            let lower = Linear::default();
            self.loops.push(ActiveLoop { var: hub.clone(), lower, upper: extent.clone() });
            hubs.push(hub);
        }
        hubs
    }

    /// The element of a spot in an iteration of such loops.
    fn elements(&mut self, spot: &Spot, hubs: &[Name], extents: &[Linear], at: At) -> Try<Access> {
        let k = spot.object();
        let hub = self.name_of(k);
        let loops = self.bounds_here();
        let Spot::From(place) = spot else {
            let first = Linear::name(hubs[0].clone());
            self.add_reach(k, &first, &loops);
            return Ok(Access::element(hub, hubs.iter().cloned().map(Hub::Var).collect()));
        };
        let mut moved = Polynomial::default();
        for (var, extent) in hubs.iter().zip(extents) {
            let row = small(moved.times(&Polynomial::of_linear(extent)));
            let sum = row.and_then(|row| row.plus(&Polynomial::of_linear(&Linear::name(var.clone()))));
            let Some(sum) = sum else {
                return self.fail(codes::CALL, "too many factors in a number of bytes", at, "this call");
            };
            moved = sum;
        }
        let Some(polynomial) = small(moved.plus(&place.offset.polynomial)) else {
            return self.fail(codes::CALL, "a constant beyond 64 bits", at, "this call");
        };
        let mut gathered = place.offset.gathered.clone();
        gathered.join(&Gathered { factors: extents.to_vec(), most: None });
        if let Some(first) = place.leading.first() {
            let Some(form) = polynomial.as_linear() else {
                return self.fail(codes::CALL, "a part of a row that is no sum", at, "this call");
            };
            self.stays_in_row(k, &form, at)?;
            self.add_reach(k, &first.form, &loops);
            if self.arrays[&k].open {
                self.add_end(k, &first.form, None, at)?;
            }
            let last = self.form_expr(&form);
            let indices = place.leading.iter().map(|index| index.expr.clone()).chain([last]).collect();
            return Ok(Access::element(hub, indices));
        }
        let expr = polynomial.as_linear().map(|form| self.form_expr(&form));
        let why = expr.is_none().then(|| super::index::not("it is a product", at));
        Ok(self.pend(k, hub, (polynomial, expr, why), (gathered, None), at))
    }
}

/// The factors of a product, conversions to 64 bits left out.
fn flatten<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Binary(Binary::Mul, a, b) => {
            flatten(a, out);
            flatten(b, out);
        }
        ExprKind::Cast(ty, a) if matches!(ty.ty, CType::Int(int) if int.bits() == 64) => flatten(a, out),
        _ => out.push(e),
    }
}
