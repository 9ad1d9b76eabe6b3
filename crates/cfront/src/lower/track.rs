//! Values of variables that a region assigns, as far as they follow from loop variables and sizes:
//! `ix = f * n + i`, a counter `k += 2`, `i = 1` between loops, and pointers into arrays
//! (`row = x + i * n`). Such variables are index expressions where they are read.
//!
//! Assignments of followed integers are translated too. They are taken out again at the end if
//! nothing reads the variable as data ([`super::changes`]). What a loop adds to a variable is found
//! in [`super::carry`], and where pointers point in [`super::places`]. Left out: integers shorter
//! than `int`, objects whose address is taken, and those of the file.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Expr as Hub, Name, Stmt as HubStmt};

use super::assume::Assumed;
use super::index::{Index, not};
use super::intervals::Computed;
use super::polynomial::{Gathered, Polynomial, expression, small};
use super::resolve::Meaning;
use super::{Class, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind};
use crate::codes;
use crate::ctype::{CType, IntType, QType};
use crate::linear::Linear;
use crate::scope::Place as Declared;

/// A value that has products of names in it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Product {
    pub polynomial: Polynomial,
    pub ty: IntType,
    pub gathered: Gathered,
    /// What has to be at least 0 so that it is a sum of products of what is not negative. `None` if
    /// it is no such sum.
    pub natural: Option<Vec<Linear>>,
}

/// Where a pointer points.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place {
    /// The array, by its object.
    pub object: usize,
    /// All subscripts but the last.
    pub leading: Vec<Index>,
    /// The last subscript.
    pub offset: Product,
    /// The last subscript as data, where that is taken as such.
    pub computed: Option<Computed>,
    /// Whether it is `offset`, or known as data alone.
    pub by_data: bool,
}

impl Place {
    /// The first element of what the leading subscripts say.
    pub(super) fn first(object: usize, leading: Vec<Index>, computed: Option<Computed>) -> Place {
        Place { object, leading, offset: Product::of(Polynomial::default()), computed, by_data: false }
    }
}

/// What is known of variables that the region assigns, beside integers with affine values.
#[derive(Clone, Default)]
pub(super) struct Followed {
    pub(super) products: BTreeMap<usize, Product>,
    pub(super) places: BTreeMap<usize, Place>,
    /// What has to be tested where the value of a variable is used.
    conditions: BTreeMap<usize, Vec<Assumed>>,
    /// Why the value of a pointer is not known, and where that was found.
    pub(super) lost: BTreeMap<usize, (String, At)>,
}

/// All that is known of variables at a place.
pub(super) type State = (BTreeMap<usize, Index>, Followed);

/// A value of a variable.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Number(Index),
    Product(Product),
    Place(Place),
}

impl Followed {
    pub(super) fn product(&self, k: usize) -> Option<&Product> {
        self.products.get(&k)
    }
}

impl Product {
    pub(super) fn of(polynomial: Polynomial) -> Product {
        Product { polynomial, ty: IntType::Long, gathered: Gathered::default(), natural: None }
    }

    /// The sum of two offsets of pointers, which are computed without limit.
    pub(super) fn plus(&self, sign: i64, other: &Product) -> Option<Product> {
        let polynomial = small(self.polynomial.plus(&other.polynomial.scaled(sign)?))?;
        let mut gathered = self.gathered.clone();
        gathered.join(&other.gathered);
        Some(Product { polynomial, ty: IntType::Long, gathered, natural: None })
    }
}

/// Whether an object is a pointer to data.
pub(super) fn points_to_data(ty: &CType) -> bool {
    let CType::Pointer { to, .. } = ty else { return false };
    matches!(to.ty, CType::Int(_) | CType::Float | CType::Double) && !to.volatile
}

impl Lowering<'_> {
    /// Whether the values of an object can be followed, and have to be.
    pub(super) fn is_followed(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        // Uses are those of the text, by name, and not of functions in the place of calls.
        let copied = object.declared.first as usize > self.cx.source.end;
        let own = matches!(object.place, None | Some(Declared::Local | Declared::Parameter))
            && object.through.is_none()
            && !object.name.contains(['.', '-', '['])
            && !object.per_thread
            && !object.ty.volatile
            && (copied || !self.cx.uses.address_taken(&object.name));
        own && match &object.ty.ty {
            CType::Int(int) => {
                let counted = matches!(self.class(k), Class::LoopVariable(_));
                let moved = !object.moved.is_empty();
                (32..=64).contains(&int.bits()) && (moved || counted)
            }
            ty => {
                let moves = !object.moved.is_empty() || !object.loops.is_empty();
                points_to_data(ty) && (object.place.is_none() || moves)
            }
        }
    }

    /// The values that followed variables have before the region.
    pub(super) fn enter(&mut self) {
        for k in self.tracked.clone().iter().copied() {
            let object = &self.res.objects[k];
            if object.place.is_none() {
                continue;
            }
            match (object.ty.ty.clone(), self.class(k)) {
                (CType::Int(ty), Class::Data | Class::LoopVariable(_)) => {
                    if let Some(value) = self.constant_before(k, ty) {
                        self.values.insert(k, Index { ty, ..Index::constant(value) });
                        continue;
                    }
                    let name = self.fresh(&format!("{}_before", self.res.objects[k].name));
                    self.taken.insert(name.clone(), None);
                    self.note_size(&name, ty);
                    self.entries.insert(k, name.clone());
                    self.values.insert(k, Index::variable(name, ty));
                }
                (CType::Pointer { .. }, _) => {
                    let place = Place::first(k, vec![], self.computed_sum(None, None, Binary::Add));
                    self.followed.places.insert(k, place);
                }
                _ => {}
            }
        }
    }

    /// The number that a variable of the function holds before the region, where the text says so.
    fn constant_before(&self, k: usize, ty: IntType) -> Option<i64> {
        let (object, cx) = (&self.res.objects[k], self.cx);
        let declared = object.declared.first as usize;
        if cx.in_loop || object.place != Some(Declared::Local) || declared < cx.body.start {
            return None;
        }
        let value = cx.uses.constant_at_end(&object.name, declared..cx.region.start)?;
        let (least, most) = ty.values();
        (least..=most).contains(&value).then_some(value)
    }

    /// Whether the value of a variable is a form over loop variables and sizes.
    pub(super) fn is_known(&self, k: usize) -> bool {
        self.values.contains_key(&k)
    }

    /// What is known of variables here.
    pub(super) fn state(&self) -> State {
        (self.values.clone(), self.followed.clone())
    }

    /// Puts back what was known of variables; what was known until now.
    pub(super) fn restore(&mut self, (values, followed): State) -> State {
        (std::mem::replace(&mut self.values, values), std::mem::replace(&mut self.followed, followed))
    }

    /// Goes back to what is known before the region; what is known here.
    pub(super) fn before_region(&mut self) -> State {
        let here = (std::mem::take(&mut self.values), std::mem::take(&mut self.followed));
        let entries = self.entries.iter().map(|(k, name)| (*k, name.clone())).collect::<Vec<_>>();
        for (k, name) in entries {
            if let CType::Int(ty) = self.res.objects[k].ty.ty {
                self.values.insert(k, Index::variable(name, ty));
            }
        }
        here
    }

    /// What is known where two ways meet: what both say.
    pub(super) fn meet(&mut self, other: &State, at: At) {
        for k in self.tracked.clone().iter().copied() {
            let there = Value::of(k, other);
            let here = self.value_of(k);
            if here != there {
                self.forget(k, "it depends on a condition", at);
            } else if let Some(more) = other.1.conditions.get(&k) {
                self.followed.conditions.entry(k).or_default().extend(more.iter().cloned());
            }
        }
    }

    /// Takes what was known of a variable at another place.
    pub(super) fn take_value(&mut self, k: usize, (values, followed): &State) {
        if let Some(value) = Value::of_maps(k, values, followed) {
            self.set_value(k, value, followed.conditions.get(&k).cloned().unwrap_or_default());
        }
    }

    pub(super) fn value_of(&self, k: usize) -> Option<Value> {
        Value::of_maps(k, &self.values, &self.followed)
    }

    pub(super) fn forget(&mut self, k: usize, why: &str, at: At) {
        self.values.remove(&k);
        self.followed.products.remove(&k);
        self.followed.conditions.remove(&k);
        if self.followed.places.remove(&k).is_some() {
            self.followed.lost.insert(k, (why.to_owned(), at));
        }
    }

    pub(super) fn forget_all(&mut self, changed: &BTreeSet<usize>, at: At) {
        changed.iter().for_each(|k| self.forget(*k, "it depends on a condition", at));
    }

    /// Whether assignments to a variable are statements of the loop program.
    pub(super) fn is_data(&self, k: usize) -> bool {
        matches!((self.class(k), &self.res.objects[k].ty.ty), (Class::Data, CType::Int(_)))
    }

    /// Sets the value of a variable, which holds under some conditions.
    pub(super) fn set_value(&mut self, k: usize, value: Value, conditions: Vec<Assumed>) {
        self.values.remove(&k);
        self.followed.products.remove(&k);
        self.followed.places.remove(&k);
        match value {
            Value::Number(index) => _ = self.values.insert(k, index),
            Value::Product(product) => _ = self.followed.products.insert(k, product),
            Value::Place(place) => _ = self.followed.places.insert(k, place),
        }
        if conditions.is_empty() {
            self.followed.conditions.remove(&k);
        } else {
            self.followed.conditions.insert(k, conditions);
        }
    }

    pub(super) fn conditions_of(&self, k: usize) -> Vec<Assumed> {
        self.followed.conditions.get(&k).cloned().unwrap_or_default()
    }

    pub(super) fn add_conditions(&mut self, k: usize, conditions: Vec<Assumed>) {
        if !conditions.is_empty() {
            self.followed.conditions.entry(k).or_default().extend(conditions);
        }
    }

    /// Notes that the value of a variable is used.
    pub(super) fn rely_on(&mut self, k: usize) {
        for assumed in self.conditions_of(k) {
            if !self.assumed.iter().any(|a| a.condition == assumed.condition) {
                self.assumed.push(assumed);
            }
        }
        if self.entries.is_empty() || !self.tracked.contains(&k) {
            return;
        }
        let Some(value) = self.value_of(k) else { return };
        let names = value.names();
        let entered = self.entries.iter().filter(|(_, name)| {
            names.iter().any(|n| match super::index::atom_number(n) {
                Some(k) => super::loop_header::expr_mentions(&self.atoms[k].expr, name),
                None => n == *name,
            })
        });
        let entered: Vec<usize> = entered.map(|(k, _)| *k).collect();
        self.entered.extend(entered);
    }

    /// The product that a name stands for.
    pub(super) fn product_named(&mut self, e: &Expr) -> Option<Product> {
        let ExprKind::Ident(_) = e.kind else { return None };
        let Meaning::Object(k) = self.meaning(e) else { return None };
        let product = self.followed.products.get(&k).cloned()?;
        self.rely_on(k);
        Some(product)
    }

    /// The followed variable that an assignment sets.
    pub(super) fn followed_target(&self, target: &Expr) -> Option<usize> {
        let ExprKind::Ident(_) = target.kind else { return None };
        match self.meaning(target) {
            Meaning::Object(k) if self.tracked.contains(&k) => Some(k),
            _ => None,
        }
    }

    /// An assignment to a followed variable.
    pub(super) fn assign_followed(
        &mut self,
        k: usize,
        op: Option<Binary>,
        target: &Expr,
        value: &Expr,
        at: At,
    ) -> Try<Vec<HubStmt>> {
        let combined = op.map(|op| {
            let (a, b) = (Box::new(target.clone()), Box::new(value.clone()));
            Expr { kind: ExprKind::Binary(op, a, b), at, height: value.height + 1 }
        });
        let whole = combined.as_ref().unwrap_or(value);
        match self.class(k) {
            Class::LoopVariable(_) if self.active.contains(&k) => {
                let name = self.res.objects[k].name.clone();
                self.blamed.insert(k);
                let message = format!("the loop variable `{name}` is assigned in its loop");
                let help =
                    "count it in the header alone; what skips iterations can be an `if` around the body";
                self.fail_with(codes::LOOP_VARIABLE, message, (target.at, "assigned here"), help)
            }
            Class::LoopVariable(_) => {
                self.follow(k, whole);
                if self.value_of(k).is_none() && self.trials == 0 {
                    let name = self.res.objects[k].name.clone();
                    self.blamed.insert(k);
                    let message = format!(
                        "the loop variable `{name}` is assigned `{}`, which is not affine in {}",
                        self.snippet(value.at),
                        self.loop_list()
                    );
                    let help = "use another variable for what is no counter of loops";
                    return self.fail_with(codes::LOOP_VARIABLE, message, (target.at, "assigned here"), help);
                }
                Ok(Vec::new())
            }
            _ if matches!(self.res.objects[k].ty.ty, CType::Pointer { .. }) => {
                self.follow(k, whole);
                Ok(Vec::new())
            }
            _ => {
                self.own = Some(k);
                let stmt = self.assignment(op, target, value, at);
                self.own = None;
                let stmt = stmt?;
                self.follow(k, whole);
                Ok(vec![stmt])
            }
        }
    }

    /// Notes the value that a variable is set to.
    pub(super) fn follow(&mut self, k: usize, e: &Expr) {
        // Also what is tested for something else already: that may be given up.
        let around = std::mem::take(&mut self.assumed);
        let ty = self.res.objects[k].ty.clone();
        let value = match &ty.ty {
            CType::Int(int) => self.number(e, *int, &ty).ok_or_else(|| not("", e.at)),
            _ => self.place_for(k, e).map(Value::Place),
        };
        let conditions = std::mem::replace(&mut self.assumed, around);
        match value {
            Ok(value) => self.set_value(k, value, conditions),
            Err(why) => {
                self.forget(k, "", e.at);
                if points_to_data(&ty.ty) {
                    self.followed.lost.insert(k, (why.reason, why.at));
                }
            }
        }
    }

    /// The value of an expression that is converted to an integer type.
    pub(super) fn number(&mut self, e: &Expr, int: IntType, ty: &QType) -> Option<Value> {
        let mark = self.assumed.len();
        if let Ok(index) = self.index(e) {
            if self.converted(&index, int, e.at).is_ok() {
                return Some(Value::Number(Index { ty: int, ..index }));
            }
            self.assumed.truncate(mark);
            return None;
        }
        self.product_of(e, int, ty).map(Value::Product)
    }

    /// The value of an expression with products that is converted to an integer type.
    pub(super) fn product_of(&mut self, e: &Expr, int: IntType, ty: &QType) -> Option<Product> {
        let mut gathered = Gathered::default();
        let kind = ExprKind::Cast(ty.clone(), Box::new(e.clone()));
        let cast = Expr { kind, at: e.at, height: e.height + 1 };
        let (polynomial, _) = self.polynomial(&cast, &mut gathered).ok()?;
        let natural = self.natural_parts(e);
        Some(Product { polynomial, ty: int, gathered, natural })
    }

    /// Notes the product that a variable stands for that is set where it is declared.
    pub(super) fn set_product(&mut self, k: usize, e: &Expr, ty: &QType, int: IntType) {
        let around = std::mem::take(&mut self.assumed);
        let product = self.product_of(e, int, ty);
        let conditions = std::mem::replace(&mut self.assumed, around);
        if let Some(product) = product {
            self.set_value(k, Value::Product(product), conditions);
        }
    }

    pub(super) fn polynomial_expr(&self, p: &Polynomial) -> Hub {
        match p.as_linear() {
            Some(form) => self.form_expr(&form),
            None => expression(p, &|name| match super::index::atom_number(name) {
                Some(k) => self.atoms[k].expr.clone(),
                None => Hub::Var(name.clone()),
            }),
        }
    }
}

impl Value {
    pub(super) fn of(k: usize, (values, followed): &State) -> Option<Value> {
        Value::of_maps(k, values, followed)
    }

    pub(super) fn of_maps(k: usize, values: &BTreeMap<usize, Index>, followed: &Followed) -> Option<Value> {
        let number = values.get(&k).cloned().map(Value::Number);
        let product = || followed.products.get(&k).cloned().map(Value::Product);
        let place = || followed.places.get(&k).cloned().map(Value::Place);
        number.or_else(product).or_else(place)
    }

    /// The value as a polynomial: of a pointer, that of its last subscript.
    pub(super) fn polynomial(&self) -> Polynomial {
        match self {
            Value::Number(index) => Polynomial::of_linear(&index.form),
            Value::Product(product) => product.polynomial.clone(),
            Value::Place(place) => place.offset.polynomial.clone(),
        }
    }

    /// The names in it.
    pub(super) fn names(&self) -> BTreeSet<Name> {
        let polynomial = self.polynomial();
        let mut names: BTreeSet<Name> = polynomial
            .terms()
            .flat_map(|(product, _)| product.expanded().cloned().collect::<Vec<_>>())
            .collect();
        if let Value::Place(place) = self {
            names.extend(place.leading.iter().flat_map(|index| index.form.variables().cloned()));
        }
        names
    }
}
