//! Members of structures. `p[i].x` is an element of an array `p[].x` of its own, which has the
//! subscripts of `p` and the type of the member. Two members never overlap, so nothing after the
//! parser knows of structures. `s.x` and `g->x`, where no subscript says which structure, are
//! objects of these names.
//!
//! Left out: unions, bit-fields, and members of anything but an object with a visible declaration.
//! Structures as values are assignments of their members (`structures`).

use super::{Parsed, Parser};
use crate::ast::{At, Expr, ExprKind, MEMBER, MIXED, Unary};
use crate::ctype::{CType, IntType, QType, Structure};
use crate::lexer::Tok;
use crate::parser::specifiers::is_attribute;
use crate::scope::{Object, Symbol};

impl Parser<'_> {
    /// What follows `struct`.
    pub(super) fn structure(&mut self) -> Parsed<CType> {
        while is_attribute(self.word()) {
            self.attribute()?;
        }
        let mut tag = None;
        if self.tok() == Tok::Ident {
            tag = Some(tag_name(self.text()));
            self.pos += 1;
        }
        if self.is_cpp() {
            // `final`, and classes that it is derived from.
            let derived = self.word() == "final" || self.is(":");
            while derived && !self.is("{") && !matches!(self.tok(), Tok::Punct(";" | ")" | "(") | Tok::End) {
                self.pos += 1;
            }
            if derived && self.is("{") {
                self.skip_group();
                return Ok(self.named_structure(Structure { tag, members: Some([].into()) }));
            }
        }
        if !self.is("{") {
            return Ok(match self.is_cpp() && self.is(";") {
                true => self.named_structure(Structure { tag, members: None }),
                false => CType::Struct(Structure { tag, members: None }),
            });
        }
        let first = self.pos;
        let members = self.deeper(|p| p.members());
        if members.is_err() {
            self.pos = first;
            self.skip_group();
        }
        Ok(self.named_structure(Structure { tag, members: Some(members.unwrap_or_default().into()) }))
    }

    /// A structure under its tag; in C++ the tag is a type by itself.
    fn named_structure(&mut self, structure: Structure) -> CType {
        let tag = structure.tag.clone();
        let ty = CType::Struct(structure);
        if let Some(tag) = tag {
            let symbol = Symbol::Typedef(QType::plain(ty.clone()));
            if let Some(name) = tag.strip_prefix(TAG).filter(|_| self.is_cpp()) {
                self.scopes.declare(name.to_owned(), symbol.clone());
            }
            self.scopes.declare(tag, symbol);
        }
        ty
    }

    fn members(&mut self) -> Parsed<Vec<(String, QType)>> {
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.accept("}") {
            if self.accept(";") {
                continue;
            }
            let specifiers = self.specifiers()?;
            if self.is(";") {
                // Its own members are members of this one.
                members.push((String::new(), QType::plain(CType::Other("a member without a name"))));
            }
            while !self.is(";") {
                let declarator = self.declarator(specifiers.ty.clone())?;
                let bits = self.accept(":");
                if bits {
                    self.conditional()?;
                }
                self.asm_label()?;
                let mut ty = declarator.ty;
                self.retype(&mut ty);
                if let Some((name, _)) = declarator.name {
                    members.push((name, if bits { QType::plain(CType::Other("a bit-field")) } else { ty }));
                }
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(members)
    }

    /// A member of what is before `.` or, as an `arrow`, `->`: an element of an array of its own,
    /// or an object.
    pub(super) fn member(&mut self, base: Expr, arrow: bool, name: &str, at: At) -> Expr {
        let height = base.height;
        let what = match self.of_member(base, arrow, name, at) {
            Ok(kind) => kind,
            Err(what) => ExprKind::Unsupported(what),
        };
        Expr { kind: what, at, height }
    }

    fn of_member(&mut self, base: Expr, arrow: bool, name: &str, at: At) -> Result<ExprKind, &'static str> {
        let mut subscripts = Vec::new();
        if arrow {
            subscripts.push(None);
        }
        let mut inner = base;
        let root = loop {
            inner = match inner.kind {
                ExprKind::Index(array, index) => {
                    subscripts.push(Some(index));
                    *array
                }
                ExprKind::Unary(Unary::Deref, pointer) => {
                    subscripts.push(None);
                    *pointer
                }
                ExprKind::Ident(ref root) => break root.clone(),
                _ => return Err(MEMBER),
            }
        };
        subscripts.reverse();
        let Some(Symbol::Object(object)) = self.scopes.lookup(&root) else { return Err(MEMBER) };
        let object = object.clone();
        let mut ty = &object.ty;
        for _ in &subscripts {
            let (CType::Array { of: element, .. } | CType::Pointer { to: element, .. }) = &ty.ty else {
                return Err(MEMBER);
            };
            ty = element;
        }
        let (CType::Struct(structure), false) = (&ty.ty, ty.volatile) else { return Err(MEMBER) };
        let member = self.member_type(structure, name).ok_or(MEMBER)?;
        let single = subscripts.iter().all(Option::is_none) && subscripts.len() <= 1;
        // Places for subscripts that the name has already: of an array within a structure.
        let named = root.matches(PLACE).count();
        let begin = root.split(PLACE).next().unwrap_or(&root).to_owned();
        let other = match (named, single) {
            (0, true) => Some(format!("{begin}{PLACE}.")),
            (0, false) => Some(format!("{begin}->")),
            _ => None,
        };
        // One element of an array by two names.
        if other.is_some_and(|other| self.scopes.declared_beside(&root, &other)) {
            return Err(MIXED);
        }
        let (full, declared) = if single {
            let through = match (&object.ty.ty, subscripts.is_empty()) {
                (CType::Pointer { restrict, .. }, false) => Some(*restrict || object.fresh),
                _ => object.through,
            };
            let link = if subscripts.is_empty() { "." } else { "->" };
            let declared = Object { ty: member, fresh: false, through, ..object };
            (format!("{root}{link}{name}"), declared)
        } else {
            let places = PLACE.repeat(subscripts.len() - named);
            let ty = object.ty.clone().with_element(member);
            (format!("{root}{places}.{name}"), Object { ty, ..object })
        };
        self.scopes.declare_beside(&root, full.clone(), Symbol::Object(declared));
        if single {
            return Ok(ExprKind::Ident(full));
        }
        let mut value = Expr { kind: ExprKind::Ident(full), at: inner.at, height: 1 };
        for subscript in subscripts {
            let index = match subscript {
                Some(index) => index,
                None => Box::new(Expr { kind: ExprKind::Int(0, IntType::Int), at, height: 1 }),
            };
            let height = value.height.max(index.height) + 1;
            value = Expr { kind: ExprKind::Index(Box::new(value), index), at, height };
        }
        Ok(value.kind)
    }

    /// The type of a member; none of a structure that is not known here, or has no such member.
    fn member_type(&self, structure: &Structure, name: &str) -> Option<QType> {
        let known = match (&structure.members, &structure.tag) {
            (Some(members), _) => members,
            (None, Some(tag)) => match self.scopes.lookup(tag) {
                Some(Symbol::Typedef(QType { ty: CType::Struct(known), .. })) => known.members.as_ref()?,
                _ => return None,
            },
            (None, None) => return None,
        };
        known.iter().find(|(n, _)| n == name).map(|(_, ty)| ty.clone())
    }
}

/// Where subscripts stand in the name of an array of members.
pub const PLACE: &str = "[]";

/// The name of a tag among the names of a scope: those of types have no space in them.
pub(crate) fn tag_name(tag: &str) -> String {
    format!("{TAG}{tag}")
}

/// What stands before a tag.
const TAG: &str = "struct ";
