//! The arrays and scalars of a region: their element types and extents, from their declarations.

use loops::{Expr as Hub, Name, Scalar};

use super::assume::Need;
use super::index::atom_number;
use super::inspection::{ByData, Read};
use super::polynomial::{Gathered, Polynomial, expression, factors};
use super::row_test::{Cells, Reached};
use super::{Class, Lowering, Try};
use crate::ast::{At, Expr, ExprKind, MEMBER, MIXED};
use crate::codes;
use crate::ctype::{CType, IntType, QType, REFERENCE};
use crate::linear::Linear;
use crate::lower::resolve::Meaning;
use crate::namespaces::Hidden;
use crate::parser::ASSERTION;
use crate::parser::PLACE;
use crate::region::AccessForm;

/// How a region uses an array or scalar.
#[derive(Clone, Debug)]
pub(crate) struct ArrayUse {
    pub elem: Scalar,
    /// Extents; the first one is a placeholder while `open`.
    pub dims: Vec<Hub>,
    /// The first extent is not declared: it follows from the subscripts.
    pub open: bool,
    /// One dimension in C, perhaps more in the loop program: accesses are kept in `pending`.
    pub flat: bool,
    /// Exclusive ends of the first subscript.
    pub ends: Vec<Linear>,
    /// Some subscript is data, so it has one subscript a dimension of C.
    pub looked_up: bool,
    /// Stands for the first extent if that is not declared and does not follow from the subscripts:
    /// no C has it.
    pub length: Option<Name>,
    /// Its rows are where pointers in memory point: their extents follow from the subscripts.
    pub rows: bool,
    /// Exclusive ends of the further subscripts of such rows.
    pub row_ends: Vec<Vec<Linear>>,
    /// Which of their elements are accessed, access by access, and all together.
    pub cells: Vec<Cells>,
    pub reached: Option<Reached>,
    /// First and exclusive last of its first subscripts, access by access. `None` if a subscript is
    /// data.
    pub reach: Option<Vec<(Linear, Linear)>>,
    /// All of them together, over sizes.
    pub span: Option<(Linear, Linear)>,
    /// How its subscripts that are data go, where that is found before the region.
    pub by_data: Vec<ByData>,
    /// What is read of it, access by access, where its elements may be subscripts. `None` if that
    /// is not known, or not read in any case.
    pub read_where: Option<Vec<Read>>,
    pub form: AccessForm,
    pub read: bool,
    pub written: bool,
}

/// The ways out where a structure's member is not understood, and where one element has two names.
pub(super) const WAYS_OUT: [&str; 3] = [
    "copy the members that the region needs to variables or arrays of their own before it, and back after it",
    "write `p[0].x` where it is `p->x`: the pointer is that of an array elsewhere",
    "copy its value to a local variable before the region, and back after it if the region changes it",
];

/// The way out where something that is C has no place in a region, if there is one.
pub(super) fn way_out(what: &str) -> Option<&'static str> {
    match what {
        MEMBER => Some(WAYS_OUT[0]),
        MIXED => Some(WAYS_OUT[1]),
        REFERENCE => Some(WAYS_OUT[2]),
        ASSERTION => Some("give -DNDEBUG, which takes assertions out, or assert before the region"),
        _ => None,
    }
}

/// The way out where a structure is used as a value.
const BY_MEMBERS: &str = "say what happens to each of its members: structures are only assigned as a whole, and no unions or pointers in them";

/// The way out where elements are of a type that is no data.
const CONVERT: &str = "convert it to an array of one of these before the region, and back after it; subscripts, bounds and sizes can have any integer type";

/// A type in a message: by its name, or by what it is where it has none of its own.
pub(super) fn described(ty: &CType) -> String {
    match (ty, ty.c_name()) {
        (CType::Struct(_), name) => name.to_string(),
        (CType::Other(what), _) if what.starts_with("a ") || what.starts_with("an ") => (*what).to_string(),
        (_, name) => format!("type `{name}`"),
    }
}

impl Lowering<'_> {
    /// Makes sure that an object declared before the region is known as an array or scalar.
    pub(super) fn use_array(&mut self, k: usize, at: At) -> Try<()> {
        if self.arrays.contains_key(&k) {
            return Ok(());
        }
        if self.res.objects[k].place.is_none() {
            if self.blamed.contains(&k) {
                return Err(super::Failed);
            }
            let object = &self.res.objects[k];
            let (name, ty) = (object.name.clone(), super::index::an(object.ty.ty.c_name()));
            if let Class::LoopVariable(_) | Class::Fixed(_) = self.class(k) {
                let message = format!("`{name}` is {ty}, and no array");
                return self.fail(codes::SHAPE, message, at, "only arrays have subscripts");
            }
            // The diagnostic of its declaration stands; it is said only if there is none.
            let message = format!("the declaration of `{name}` in the region is not understood");
            return self.fail(codes::DECLARATION, message, at, "used here");
        }
        let ty = self.res.objects[k].ty.clone();
        if !self.blamed.contains(&k) {
            self.declare_array(k, &ty, at).map(|_| ()).inspect_err(|_| {
                self.blamed.insert(k);
            })
        } else {
            Err(super::Failed)
        }
    }

    /// Reads the shape of an array or scalar from its type.
    pub(super) fn declare_array(&mut self, k: usize, ty: &QType, at: At) -> Try<Scalar> {
        let name = self.res.objects[k].name.clone();
        if ty.is_volatile() {
            return self.fail(
                codes::TYPE,
                format!("`{name}` is volatile or atomic"),
                at,
                "cannot be reordered",
            );
        }
        let mut extents: Vec<Option<&Expr>> = Vec::new();
        let mut rows = false;
        let mut element = ty;
        loop {
            match &element.ty {
                CType::Array { of, extent } if !rows => {
                    extents.push(extent.as_deref());
                    element = of;
                }
                CType::Pointer { to, extent, .. } => {
                    if !extents.is_empty() {
                        if name.contains(PLACE) {
                            let message =
                                format!("`{name}` is an array of pointers, so its rows may overlap");
                            let help = WAYS_OUT[0];
                            let label = (at, "expected an array of numbers");
                            return self.fail_with(codes::SHAPE, message, label, help);
                        }
                        if rows != (extents.len() > 1) || extents.len() > 3 {
                            let message = format!("`{name}` is an array of arrays of pointers");
                            let help = "copy it to an array of numbers before the region, and back after it";
                            return self.fail_with(codes::SHAPE, message, (at, "not understood"), help);
                        }
                        rows = true;
                    }
                    extents.push(extent.as_deref());
                    element = to;
                }
                _ => break,
            }
        }
        let Some(elem) = self.scalar(&element.ty) else {
            let ty = described(&element.ty);
            let message = match element.ty {
                CType::Int(IntType::Char) => {
                    format!("`{name}` has elements of type `char`, and whether that has a sign is not known")
                }
                _ => format!(
                    "`{name}` has elements of {ty}; data can be float, double, _Bool or integers of 8 to 64 bits"
                ),
            };
            let help = match element.ty {
                CType::Struct(_) | CType::Other(_) | CType::Reference(_) if self.cx.source.is_cpp() => {
                    match element.ty {
                        CType::Other(REFERENCE) | CType::Reference(_) => WAYS_OUT[2],
                        _ => Hidden::Declared.help(),
                    }
                }
                CType::Struct(_) => BY_MEMBERS,
                _ => CONVERT,
            };
            return self.fail_with(codes::TYPE, message, (at, "not a type of data"), help);
        };
        let flat = extents.len() == 1;
        let mut dims = Vec::new();
        let mut open = false;
        for (dimension, extent) in extents.iter().enumerate() {
            let value = match extent {
                None => None,
                Some(e) => self.extent(k, e, flat)?,
            };
            match value {
                Some(value) => dims.push(value),
                None if dimension == 0 => {
                    open = true;
                    dims.push(Hub::Int(0));
                }
                None if rows => dims.push(Hub::Int(0)),
                None => {
                    let message = format!("extent {} of `{name}` is not known here", dimension + 1);
                    return self.fail(codes::SHAPE, message, at, "its shape is needed");
                }
            }
        }
        let form = if dims.is_empty() { AccessForm::Scalar } else { AccessForm::Subscripts };
        self.arrays.insert(
            k,
            ArrayUse {
                elem,
                dims,
                open,
                flat,
                ends: Vec::new(),
                looked_up: false,
                length: None,
                rows,
                row_ends: vec![Vec::new(); extents.len().saturating_sub(1)],
                cells: Vec::new(),
                reached: None,
                reach: Some(Vec::new()),
                span: None,
                by_data: Vec::new(),
                read_where: Some(Vec::new()),
                form,
                read: false,
                written: false,
            },
        );
        Ok(elem)
    }

    /// An extent as an expression over sizes; none if it is unknown and may be.
    fn extent(&mut self, k: usize, e: &Expr, flat: bool) -> Try<Option<Hub>> {
        // What is declared before the region has the extents that sizes had there.
        let here = self.res.objects[k].place.is_some().then(|| self.before_region());
        let extent = self.extent_of(k, e, flat);
        if let Some(here) = here {
            self.restore(here);
        }
        extent
    }

    fn extent_of(&mut self, k: usize, e: &Expr, flat: bool) -> Try<Option<Hub>> {
        let name = self.res.objects[k].name.clone();
        self.check_stable(k, e)?;
        match self.index(e) {
            Ok(index) => Ok(Some(index.expr)),
            // A flat array is bounded by its subscripts, which may make it one of several
            // dimensions.
            Err(_) if flat => Ok(None),
            Err(why) => {
                let mut gathered = Gathered::default();
                let Ok((p, _)) = self.polynomial(e, &mut gathered) else {
                    let message =
                        format!("an extent of `{name}` is no expression over sizes: {}", why.reason);
                    return self.fail(codes::SHAPE, message, e.at, "its shape is needed");
                };
                if let Some(most) = gathered.most {
                    self.product_fits(&name, &p, most, e.at)?;
                }
                Ok(Some(expression(&p, &|name| match atom_number(name) {
                    Some(k) => self.atoms[k].expr.clone(),
                    None => Hub::Var(name.clone()),
                })))
            }
        }
    }

    /// An extent that is computed in a type without a sign must not wrap around.
    fn product_fits(&mut self, name: &str, extent: &Polynomial, most: i64, at: At) -> Try<()> {
        let what = self.snippet(at);
        let Some(factors) = factors(extent) else {
            let message = format!("whether the extent `{what}` of `{name}` wraps around cannot be tested");
            let help = "compute it in a signed type, as in `(long)n * m + k`";
            return self.fail_with(codes::SHAPE, message, (at, "may wrap around"), help);
        };
        let facts = [self.known.as_slice(), &self.of_types].concat();
        for factor in &factors {
            if !self.follows(&facts, factor) {
                self.assume(Need::Natural(factor.clone()), format!("`{what}` has no negative factor"), at);
            }
        }
        self.assume(Need::Product(factors, most), format!("`{what}` is at most {most}"), at);
        Ok(())
    }

    /// The variables of an extent must keep their values from the declaration of the array to the
    /// region.
    pub(super) fn check_stable(&mut self, k: usize, e: &Expr) -> Try<()> {
        match &e.kind {
            ExprKind::Ident(name) => {
                let Meaning::Object(size) = self.meaning(e) else { return Ok(()) };
                let array = &self.res.objects[k];
                let sized = matches!(self.class(size), Class::Size(_)) || self.tracked.contains(&size);
                if array.place.is_none() || !sized {
                    return Ok(());
                }
                let from = (array.declared.first as usize).max(self.cx.body.start);
                let changed = self.cx.uses.assigned_in(name, from + 1..self.cx.region.start, from);
                if let Some(token) = changed {
                    let message =
                        format!("`{name}` is changed after it was used as an extent of `{}`", array.name);
                    let at = At { first: token as u32, last: token as u32 };
                    return self.fail(codes::SHAPE, message, at, "changed here");
                }
                Ok(())
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.check_stable(k, a),
            ExprKind::Binary(_, a, b) => {
                self.check_stable(k, a)?;
                self.check_stable(k, b)
            }
            _ => Ok(()),
        }
    }
}
