//! `sizeof`: a number if the types determine it, otherwise the reason why not.

use super::{PLACE, Parsed, Parser};
use crate::ast::{At, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType, QType};
use crate::scope::Symbol;

/// An object whose size was taken as a number: the result holds for this size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// As C says it, as in `A[0]`.
    pub object: String,
    pub bytes: u64,
    /// Where it is declared.
    pub declared: At,
}

impl Parser<'_> {
    /// `sizeof` and its operand.
    pub(super) fn size_of(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        self.pos += 1;
        let operand = self.pos;
        let size = if self.is("(") && self.starts_type(self.pos + 1) {
            self.pos += 1;
            let ty = self.type_name();
            match ty {
                Ok(ty) if self.is(")") => {
                    self.pos += 1;
                    self.bytes(&ty)
                }
                _ => {
                    self.pos = operand;
                    self.skip_group();
                    Err("`sizeof` of a type that is not understood")
                }
            }
        } else {
            let value = self.unary()?;
            self.measured_type(&value).and_then(|(ty, object, declared)| {
                let bytes = self.bytes(&ty)?;
                self.measured.push(Measured { object, bytes, declared });
                Ok(bytes)
            })
        };
        let kind = match size {
            Ok(bytes) => ExprKind::Int(bytes, IntType::UnsignedLong),
            Err(why) => ExprKind::Unsupported(why),
        };
        Ok(Expr { kind, at: self.since(first), height: 1 })
    }

    /// The type of an object or an element, its text in C without variables, and where the object
    /// is declared.
    fn measured_type(&self, e: &Expr) -> Result<(QType, String, At), &'static str> {
        match &e.kind {
            ExprKind::Ident(name) if name.contains(PLACE) => {
                Err("`sizeof` of a member of an array of structures")
            }
            ExprKind::Ident(name) => match self.scopes.lookup(name) {
                Some(Symbol::Object(object)) => Ok((object.ty.clone(), name.clone(), object.at)),
                _ => Err("`sizeof` of something else than an object with a declaration in sight"),
            },
            ExprKind::Index(base, _) | ExprKind::Unary(Unary::Deref, base) => {
                let (ty, object, declared) = self.measured_type(base)?;
                match ty.ty {
                    CType::Array { of: element, .. } | CType::Pointer { to: element, .. } => {
                        Ok((*element, format!("{object}[0]"), declared))
                    }
                    _ => Err("`sizeof` of an element of something else than an array"),
                }
            }
            _ => Err("`sizeof` of an expression that is neither an object nor an element of one"),
        }
    }

    /// The size of a type on the 64-bit targets.
    fn bytes(&self, ty: &QType) -> Result<u64, &'static str> {
        match &ty.ty {
            CType::Int(int) => Ok(u64::from(int.bits() / 8)),
            CType::Float => Ok(4),
            CType::Double => Ok(8),
            // C gives the size of the pointer, which is hardly what is meant.
            CType::Pointer { extent: Some(_), .. } => {
                Err("`sizeof` of an array parameter (a pointer in C: its size says nothing of the array)")
            }
            CType::Pointer { .. } => {
                Err("`sizeof` of a pointer (its size says nothing of what it points to)")
            }
            CType::Array { of, extent } => {
                let Some(extent) = extent else { return Err("`sizeof` of an array without an extent") };
                let extent = self.constant(extent).filter(|_| self.names_once(extent));
                let extent = extent.and_then(|n| u64::try_from(n).ok());
                let Some(extent) = extent else {
                    return Err("`sizeof` of an array whose extents are no constants in sight");
                };
                self.bytes(of)?.checked_mul(extent).ok_or("`sizeof` of an array beyond 64 bits")
            }
            CType::Void
            | CType::Other(_)
            | CType::Struct(_)
            | CType::Function { .. }
            | CType::Reference(_) => Err("`sizeof` of a type that is no number, nor an array of numbers"),
        }
    }

    /// Whether each name in an extent is declared in one scope only. It then means here what it
    /// meant in the declaration.
    fn names_once(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Ident(name) => self.scopes.declarations(name) == 1,
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.names_once(a),
            ExprKind::Binary(_, a, b) => self.names_once(a) && self.names_once(b),
            ExprKind::Conditional(c, a, b) => self.names_once(c) && self.names_once(a) && self.names_once(b),
            _ => true,
        }
    }
}
