//! Ways to read a region of which each makes more of it affine: as it stands, with products of
//! sizes as sizes (`i < h * w`), and with strides that are 1 (`x * stride + s`), which is tested
//! before the region. The first that works out is taken, so what is affine anyway is read as it
//! stands. Where none does, subscripts that are neither affine nor rows and columns are data.

use std::collections::BTreeSet;
use std::rc::Rc;

use loops::{Diagnostic, Expr as Hub, Name};

use super::access::Pending;
use super::assume::{Need, operand};
use super::finish::Lowered;
use super::index::Index;
use super::resolve::{Object, Resolution};
use super::{Class, Context, Lowering, Refused, lower_as, resolve};
use crate::ast::{At, Stmt};
use crate::ctype::{CType, IntType, QType};
use crate::linear::Linear;
use crate::scope::Place;

/// What is assumed so that more is affine.
#[derive(Clone, Default)]
pub(super) struct Reading {
    /// Products of sizes are sizes.
    pub products: bool,
    /// Sizes that are 1.
    pub units: BTreeSet<usize>,
    /// Subscripts that are neither affine nor rows and columns are data.
    pub by_data: bool,
}

/// How a product of sizes begins in C.
const PRODUCT_BEGINS: &str = "(long)((unsigned long)";

/// How many sizes are assumed to be 1.
const MOST_UNITS: usize = 2;

/// How many sizes are tried for that.
const MOST_STRIDES: usize = 6;

/// Translates a region.
///
/// # Errors
/// All that is not understood of it, read as it stands.
pub fn lower(cx: &Context<'_>, body: &[Stmt]) -> Result<Lowered, Vec<Diagnostic>> {
    let res = Rc::new(resolve::resolve(body, cx.scopes));
    let plain = Reading::default();
    let refused = match lower_as(cx, body, &res, &plain) {
        Ok(lowered) => return Ok(lowered),
        Err(refused) => refused,
    };
    with_units(cx, body, &res, plain, &refused)
        .or_else(|| {
            let products = Reading { products: true, ..Reading::default() };
            match lower_as(cx, body, &res, &products) {
                Ok(lowered) => Some(lowered),
                Err(refused) => with_units(cx, body, &res, products, &refused),
            }
        })
        .or_else(|| {
            let by_data = |products| Reading { by_data: true, products, ..Reading::default() };
            let read = |products| lower_as(cx, body, &res, &by_data(products)).ok();
            read(false).or_else(|| read(true))
        })
        .ok_or(refused.diagnostics)
}

/// Translates a region with strides that are 1: those that leave least of what was refused.
fn with_units(
    cx: &Context<'_>,
    body: &[Stmt],
    res: &Rc<Resolution>,
    mut reading: Reading,
    refused: &Refused,
) -> Option<Lowered> {
    let (mut strides, mut least) = (refused.strides.clone(), refused.diagnostics.len());
    while reading.units.len() < MOST_UNITS {
        let mut better = None;
        for k in strides.iter().filter(|k| !reading.units.contains(k)).take(MOST_STRIDES) {
            let mut units = reading.units.clone();
            units.insert(*k);
            match lower_as(cx, body, res, &Reading { units: units.clone(), ..reading }) {
                Ok(lowered) => return Some(lowered),
                Err(refused) if refused.diagnostics.len() < least => {
                    least = refused.diagnostics.len();
                    better = Some((units, refused.strides));
                }
                Err(_) => {}
            }
        }
        (reading.units, strides) = better?;
    }
    None
}

impl Lowering<'_> {
    /// Notes the sizes that loop variables are multiplied with in a subscript that is not affine.
    /// A size that bounds a loop there is no stride.
    pub(super) fn note_strides(&mut self, p: &Pending) {
        let bounds = p.loops.iter().flat_map(|(_, lower, upper)| lower.variables().chain(upper.variables()));
        let bounds: BTreeSet<&Name> = bounds.collect();
        let counted = |name: &Name| p.loops.iter().any(|(var, ..)| var == name);
        let products =
            p.polynomial.terms().map(|(product, _)| product).filter(|product| product.degree() > 1);
        let products = products.filter(|product| product.expanded().any(counted));
        let names: BTreeSet<&Name> = products.flat_map(|product| product.expanded()).collect();
        let stride = |k: &usize| match (self.class(*k), self.names.get(k)) {
            (Class::Size(ty), Some(name)) => {
                !ty.is_unsigned() && names.contains(name) && !bounds.contains(name)
            }
            _ => false,
        };
        let strides: Vec<usize> = self.names.keys().copied().filter(stride).collect();
        self.strides.extend(strides);
    }

    /// What is read as 1 has to be 1.
    pub(super) fn assume_units(&mut self) {
        let at = At { first: self.cx.region.start as u32, last: self.cx.region.start as u32 };
        for k in self.reading.units.clone() {
            if let Some(more) = Linear::name(self.name_of(k)).plus_constant(-1) {
                self.assume(Need::Zero(more), format!("`{}` is 1", self.res.objects[k].name), at);
            }
        }
    }

    /// A product of two forms of sizes as a size of its own, computed in 64 bits. Where that wraps
    /// around, the product in C has no meaning, or no statement needs it.
    pub(super) fn product_of_sizes(&mut self, a: &Index, b: &Index) -> Option<Index> {
        let ty = a.ty.common(b.ty);
        if !self.reading.products || ty.is_unsigned() || ![a, b].iter().all(|e| self.is_plain(&e.form)) {
            return None;
        }
        let (mut factors, text) = ([a.form.clone(), b.form.clone()], self.product_texts([&a.form, &b.form]));
        factors.sort();
        let k = match self.products.get(&factors) {
            Some(k) => *k,
            None => self.add_product(factors, text),
        };
        Some(Index::variable(self.name_of(k), ty))
    }

    /// Whether a form is of sizes with a sign and no more than 32 bits, and of products of such.
    fn is_plain(&self, form: &Linear) -> bool {
        let narrow = |name: &Name| {
            self.names.iter().any(|(k, own)| {
                let size = match self.class(*k) {
                    Class::Size(ty) => ty.bits() <= 32 && !ty.promoted().is_unsigned(),
                    _ => false,
                };
                own == name && (size || self.res.objects[*k].product.is_some())
            })
        };
        !form.is_constant() && form.variables().all(narrow)
    }

    /// A product for people, and as C computes it.
    fn product_texts(&self, factors: [&Linear; 2]) -> (String, String) {
        let [a, b] = factors.map(|form| operand(self.c_text(&self.form_expr(form))));
        let computed = factors.map(|form| match self.form_expr(form) {
            // What follows the first factor is converted to its type.
            Hub::Var(name) => {
                let k = self.names.iter().find(|(_, own)| **own == name).map(|(k, _)| *k);
                match k.and_then(|k| self.res.objects[k].product.as_ref()) {
                    None => self.c_text(&Hub::Var(name)),
                    Some(computed) => {
                        let inner = computed.strip_prefix(PRODUCT_BEGINS);
                        let inner = inner.and_then(|rest| rest.strip_suffix(')'));
                        inner.map_or_else(|| operand(computed.clone()), str::to_owned)
                    }
                }
            }
            sum => operand(self.computed_text(&sum)),
        });
        (format!("{a} * {b}"), format!("{PRODUCT_BEGINS}{} * {})", computed[0], computed[1]))
    }

    fn add_product(&mut self, factors: [Linear; 2], (name, product): (String, String)) -> usize {
        let k = self.computed_size(name, product);
        self.products.insert(factors, k);
        k
    }

    /// A size that is no variable: what it is for people, and how C computes it in 64 bits.
    pub(super) fn computed_size(&mut self, name: String, text: String) -> usize {
        let same = |object: &Object| object.product.as_ref() == Some(&text);
        if let Some(k) = self.res.objects.iter().position(same) {
            return k;
        }
        let at = At { first: self.cx.body.start as u32, last: self.cx.body.start as u32 };
        let object = Object {
            name: name.clone(),
            product: Some(text),
            ty: QType::plain(CType::Int(IntType::Long)),
            place: Some(Place::Local),
            fresh: false,
            per_thread: false,
            through: None,
            declared: at,
            initialised: false,
            assigned: Vec::new(),
            moved: Vec::new(),
            loops: Vec::new(),
            mentions: 0,
        };
        let resolution: &mut Resolution = Rc::make_mut(&mut self.res);
        let k = resolution.objects.len();
        resolution.objects.push(object);
        let words: Vec<&str> = name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
        let name =
            self.fresh(&words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_"));
        self.taken.insert(name.clone(), None);
        self.names.insert(k, name);
        k
    }
}
