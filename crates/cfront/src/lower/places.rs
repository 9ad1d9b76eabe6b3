//! Where pointers into arrays point: `x + i * n`, `&x[k]`, `A[i]`.

use super::Lowering;
use super::index::{NotIndex, not};
use super::polynomial::{Gathered, Polynomial};
use super::resolve::Meaning;
use super::track::{Place, Product, points_to_data};
use crate::ast::{At, Binary, Expr, ExprKind};
use crate::ctype::CType;

impl Lowering<'_> {
    /// The place that a pointer is set to, if that has elements of its type.
    pub(super) fn place_for(&mut self, k: usize, e: &Expr) -> Result<Place, NotIndex> {
        let place = self.place_of(e)?;
        let own = self.scalar(self.res.objects[k].ty.element());
        let name = &self.res.objects[k].name;
        if own != Some(self.arrays[&place.object].elem) {
            return Err(not(format!("`{name}` points to elements of another type"), e.at));
        }
        Ok(place)
    }

    /// How many subscripts an expression takes: none if it is no array or pointer.
    pub(super) fn rank(&self, e: &Expr) -> usize {
        fn depth(ty: &CType) -> usize {
            match ty {
                CType::Array { of, .. } | CType::Pointer { to: of, .. } => 1 + depth(&of.ty),
                _ => 0,
            }
        }
        match &e.kind {
            ExprKind::Ident(_) => match self.meaning(e) {
                Meaning::Object(k) => depth(&self.res.objects[k].ty.ty),
                _ => 0,
            },
            ExprKind::Index(a, _) | ExprKind::Unary(crate::ast::Unary::Deref, a) => {
                self.rank(a).saturating_sub(1)
            }
            ExprKind::Binary(Binary::Add, a, b) => self.rank(a).max(self.rank(b)),
            ExprKind::Binary(Binary::Sub, a, b) if self.rank(b) == 0 => self.rank(a),
            ExprKind::Cast(ty, _) => depth(&ty.ty),
            _ => 0,
        }
    }

    /// Where an expression points.
    pub(super) fn place_of(&mut self, e: &Expr) -> Result<Place, NotIndex> {
        match &e.kind {
            ExprKind::Ident(name) => {
                let Meaning::Object(k) = self.meaning(e) else {
                    return Err(not(format!("no declaration of `{name}` was found or understood"), e.at));
                };
                if self.tracked.contains(&k) && self.rank(e) > 0 {
                    return self.place_named(k, e.at);
                }
                if self.rank(e) != 1 {
                    return Err(not(format!("`{name}` does not point to numbers"), e.at));
                }
                self.use_array(k, e.at).map_err(|_| not(format!("`{name}` is not understood"), e.at))?;
                Ok(Place::first(k, vec![], self.computed_sum(None, None, Binary::Add)))
            }
            ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let (pointer, by) = if self.rank(a) == 0 && *op == Binary::Add { (b, a) } else { (a, b) };
                let place = self.place_of(pointer)?;
                let computed = self.computed_sum(Some(&place), Some(by), *op);
                let by = match self.distance(by) {
                    Ok(by) => by,
                    Err(_) if computed.is_some() => return Ok(Place { computed, by_data: true, ..place }),
                    Err(why) => return Err(why),
                };
                let sign = if *op == Binary::Sub { -1 } else { 1 };
                let offset = place.offset.plus(sign, &by).ok_or_else(|| super::index::too_large(e.at))?;
                Ok(Place { offset, computed, ..place })
            }
            ExprKind::Cast(ty, inner) if points_to_data(&ty.ty) => {
                let place = self.place_of(inner)?;
                if self.scalar(ty.element()) != Some(self.arrays[&place.object].elem) {
                    return Err(not("it is converted to a pointer to another type", e.at));
                }
                Ok(place)
            }
            ExprKind::Index(..) if self.rank(e) == 1 => self.row_of(e),
            ExprKind::Conditional(..) => Err(not("it depends on a condition", e.at)),
            _ => Err(not(format!("`{}` is no place in an array of the region", self.snippet(e.at)), e.at)),
        }
    }

    pub(super) fn place_named(&mut self, k: usize, at: At) -> Result<Place, NotIndex> {
        if let Some(place) = self.followed.places.get(&k).cloned() {
            self.rely_on(k);
            self.use_array(place.object, at).map_err(|_| not("its array is not understood", at))?;
            return Ok(place);
        }
        let name = &self.res.objects[k].name;
        let reason = match self.followed.lost.get(&k) {
            Some((why, _)) => format!("where `{name}` points is not known: {why}"),
            None => format!("`{name}` has no value"),
        };
        Err(not(reason, at))
    }

    /// A row of an array of several dimensions.
    pub(super) fn row_of(&mut self, e: &Expr) -> Result<Place, NotIndex> {
        let (mut leading, mut base) = (Vec::new(), e);
        while let ExprKind::Index(inner, index) = &base.kind {
            leading.push(self.index(index)?);
            base = inner;
        }
        leading.reverse();
        let (ExprKind::Ident(name), Meaning::Object(object)) = (&base.kind, self.meaning(base)) else {
            return Err(not(format!("`{}` is no array of the region", self.snippet(base.at)), base.at));
        };
        self.use_array(object, base.at).map_err(|_| not(format!("`{name}` is not understood"), base.at))?;
        Ok(Place::first(object, leading, None))
    }

    /// What is added to a pointer.
    pub(super) fn distance(&mut self, e: &Expr) -> Result<Product, NotIndex> {
        let why = match self.index(e) {
            Ok(index) => return Ok(Product::of(Polynomial::of_linear(&index.form))),
            Err(why) => why,
        };
        let mut gathered = Gathered::default();
        let (polynomial, _) = self.polynomial(e, &mut gathered).map_err(|_| why)?;
        Ok(Product { gathered, ..Product::of(polynomial) })
    }

    /// The pointer whose value is followed that an expression is.
    pub(super) fn followed_pointer(&self, e: &Expr) -> Option<usize> {
        let k = self.followed_target(e)?;
        matches!(self.res.objects[k].ty.ty, CType::Pointer { .. }).then_some(k)
    }
}
