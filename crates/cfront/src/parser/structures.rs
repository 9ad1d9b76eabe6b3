//! Structures as values: `p[i] = q[i]`, `struct v a = q[i]` and `c ? p[i] : q[i]` become
//! assignments of their members. A structure that a region declares becomes variables for its
//! members. So nothing after the parser knows of structures (`member`).
//!
//! Left out: subscripts that read the same structures, since members are set one by one; unions,
//! members that are pointers or of a type that is not known, and long arrays; and C++, where a
//! class may say what its copies are.

use super::{Parser, acts};
use crate::ast::{At, Declaration, Expr, ExprKind, Init, Stmt, StmtKind, Unary, parts};
use crate::ctype::{CType, IntType, QType, Structure};
use crate::parser::member::PLACE;
use crate::scope::{Object, Place, Symbol};

/// Elements of an array in a structure that are copied one by one.
const MOST_ELEMENTS: i64 = 16;

/// What a literal is called that is assigned.
const LITERAL_VALUE: &str = "literal_value";

/// Numbers of a structure.
const MOST_NUMBERS: usize = 64;

impl Parser<'_> {
    /// The assignments of members that the assignment of a structure stands for; none if it is not
    /// one, or of one that stays.
    pub(super) fn members_of(&mut self, statement: &Expr) -> Option<StmtKind> {
        let ExprKind::Assign(None, target, value) = &statement.kind else { return None };
        let structure = self.structure_at(target).filter(|_| !self.is_cpp())?;
        let mut out = Vec::new();
        self.set_members(target, value, &structure, &mut out)?;
        Some(StmtKind::Block(out))
    }

    /// The statements for a declaration that has structures; none if it has none, or one of them
    /// stays.
    pub(super) fn structures_declared(&mut self, declared: &[Declaration], at: At) -> Option<Vec<Stmt>> {
        let has_structure = |d: &Declaration| !d.is_static && !d.is_extern && self.element(&d.ty).is_some();
        if self.is_cpp() || !declared.iter().any(has_structure) {
            return None;
        }
        let mut out = Vec::new();
        for d in declared {
            let Some(structure) = self.element(&d.ty) else {
                out.push(Stmt { kind: StmtKind::Declare(vec![d.clone()]), at });
                continue;
            };
            let array = matches!(d.ty.ty, CType::Array { .. });
            let mut leaves = Vec::new();
            self.leaves(&d.ty, &structure, (d.name.clone(), ranks(&d.ty)), d.at, &mut leaves)?;
            let set = match &d.init {
                None => Vec::new(),
                Some(_) if array => return None,
                Some(Init::Expr(value)) => {
                    let target = Expr { kind: ExprKind::Ident(d.name.clone()), at: d.at, height: 1 };
                    let mut set = Vec::new();
                    self.set_members(&target, value, &structure, &mut set)?;
                    set
                }
                Some(Init::List(items)) => {
                    let target = Expr { kind: ExprKind::Ident(d.name.clone()), at: d.at, height: 1 };
                    let mut set = Vec::new();
                    self.set_from_list(&target, items, &structure, &mut set)?;
                    set
                }
                Some(Init::Unsupported(_)) => return None,
            };
            out.push(Stmt { kind: StmtKind::Declare(leaves), at });
            out.extend(set);
        }
        Some(out)
    }

    /// The structure that a place holds.
    fn structure_at(&self, place: &Expr) -> Option<Structure> {
        self.known(&self.type_at(place)?)
    }

    /// The type of a place.
    fn type_at(&self, place: &Expr) -> Option<QType> {
        match &place.kind {
            ExprKind::Ident(name) => match self.scopes.lookup(name)? {
                Symbol::Object(object) => Some(object.ty.clone()),
                _ => None,
            },
            ExprKind::Index(base, _) | ExprKind::Unary(Unary::Deref, base) => match self.type_at(base)?.ty {
                CType::Pointer { to, .. } => Some(*to),
                CType::Array { of, .. } => Some(*of),
                _ => None,
            },
            _ => None,
        }
    }

    /// The structure of a type whose members are known.
    pub(super) fn known(&self, ty: &QType) -> Option<Structure> {
        let (CType::Struct(structure), false) = (&ty.ty, ty.volatile) else { return None };
        match (&structure.members, &structure.tag) {
            (Some(members), _) if !members.is_empty() => Some(structure.clone()),
            (None, Some(tag)) => match self.scopes.lookup(tag) {
                Some(Symbol::Typedef(QType { ty: CType::Struct(known), .. })) => {
                    known.members.is_some().then(|| known.clone())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The structure of a type, or of the elements of an array.
    fn element(&self, ty: &QType) -> Option<Structure> {
        match &ty.ty {
            CType::Array { of, extent: Some(_) } => self.element(of),
            _ => self.known(ty),
        }
    }

    /// Declarations of the members of a variable, or of the elements of an array of them, by the
    /// name that `member` gives them.
    fn leaves(
        &mut self,
        whole: &QType,
        structure: &Structure,
        (name, places): (String, usize),
        at: At,
        out: &mut Vec<Declaration>,
    ) -> Option<()> {
        let members = structure.members.clone()?;
        let begin = format!("{name}{}", PLACE.repeat(places));
        for (member, ty) in members.iter() {
            let name = format!("{begin}.{member}");
            let whole = QType { constant: false, ..whole.clone().with_element(ty.clone()) };
            if let Some(inner) = self.element(ty) {
                let more = ranks(ty);
                self.leaves(&whole, &inner, (name, more), at, out)?;
                continue;
            }
            is_number(ty).then_some(())?;
            let at = self.spare(at);
            let (is_static, is_extern, init) = (false, false, None);
            out.push(Declaration { name, ty: whole, init, is_static, is_extern, at });
        }
        (out.len() <= MOST_NUMBERS).then_some(())
    }

    /// Assignments of the members of `value` to those of `target`.
    fn set_members(
        &mut self,
        target: &Expr,
        value: &Expr,
        structure: &Structure,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        if acts(target) || out.len() > MOST_NUMBERS {
            return None;
        }
        if let ExprKind::Unsupported(super::expr::LITERAL) = value.kind {
            out.push(self.set_to_literal(target, value.at, structure)?);
            return Some(());
        }
        if let ExprKind::Call { .. } = value.kind {
            let height = target.height.max(value.height) + 1;
            let kind = ExprKind::Assign(None, Box::new(target.clone()), Box::new(value.clone()));
            let kind = self.statements_of(&Expr { kind, at: value.at, height })?;
            out.push(Stmt { kind, at: value.at });
            return Some(());
        }
        if acts(value) {
            return None;
        }
        if let ExprKind::Conditional(cond, then, otherwise) = &value.kind {
            let [then, otherwise] = [then, otherwise].map(|value| {
                let mut set = Vec::new();
                self.set_members(target, value, structure, &mut set)?;
                Some(Box::new(Stmt { kind: StmtKind::Block(set), at: value.at }))
            });
            let kind = StmtKind::If { cond: (**cond).clone(), then: then?, otherwise: Some(otherwise?) };
            out.push(Stmt { kind, at: value.at });
            return Some(());
        }
        let from = self.structure_at(value)?;
        let same = alike(&from, structure);
        let own = root(target)?;
        if !same || [target, value].into_iter().any(|place| subscripts_read(place, own)) {
            return None;
        }
        for (name, ty) in structure.members.clone()?.iter() {
            let both = |p: &mut Self| Some((p.member_at(target, name)?, p.member_at(value, name)?));
            match (&ty.ty, self.known(ty)) {
                (_, Some(inner)) => {
                    let (target, value) = both(self)?;
                    self.set_members(&target, &value, &inner, out)?;
                }
                (CType::Array { of, extent: Some(extent) }, _) => {
                    let count = self.constant(extent).filter(|count| (0..=MOST_ELEMENTS).contains(count))?;
                    for k in 0..count {
                        let (target, value) = both(self)?;
                        let (target, value) = (element(target, k), element(value, k));
                        match self.known(of) {
                            Some(inner) => self.set_members(&target, &value, &inner, out)?,
                            None => out.push(assignment(is_number(of).then_some(target)?, value)),
                        }
                    }
                }
                _ => {
                    is_number(ty).then_some(())?;
                    let (target, value) = both(self)?;
                    out.push(assignment(target, value));
                }
            }
        }
        Some(())
    }

    /// Sets a place to a literal, `(struct v){x, y}`, by way of a variable: it may read
    /// the place.
    fn set_to_literal(&mut self, target: &Expr, at: At, structure: &Structure) -> Option<Stmt> {
        let pos = std::mem::replace(&mut self.pos, at.first as usize);
        while self.is("(") && !self.starts_type(self.pos + 1) {
            self.pos += 1;
        }
        let mut read = || {
            self.expect("(")?;
            let ty = self.type_name()?;
            self.expect(")")?;
            Ok((ty, self.initialiser()?))
        };
        let literal: super::Parsed<(QType, Init)> = read();
        self.pos = pos;
        let (ty, Init::List(items)) = literal.ok()? else { return None };
        self.known(&ty).filter(|known| alike(known, structure))?;
        let named = |k: usize| if k == 0 { LITERAL_VALUE.to_owned() } else { format!("{LITERAL_VALUE}_{k}") };
        let name = (0..).map(named).find(|name| self.scopes.lookup(name).is_none())?;
        let depth = self.scopes.depth();
        self.scopes.push();
        let object = Object { place: Place::Local, ..Object::parameter(ty.clone(), at) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let (is_static, is_extern, init) = (false, false, Some(Init::List(items)));
        let d = Declaration { name: name.clone(), ty, init, is_static, is_extern, at };
        let set = self.structures_declared(&[d], at).and_then(|mut all| {
            let value = Expr { kind: ExprKind::Ident(name), at, height: 1 };
            self.set_members(target, &value, structure, &mut all)?;
            Some(Stmt { kind: StmtKind::Block(all), at })
        });
        self.scopes.truncate(depth);
        set
    }

    /// Assignments of what a list in braces has to the members of `target`; 0 to what it has not.
    fn set_from_list(
        &mut self,
        target: &Expr,
        items: &[Init],
        structure: &Structure,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let members = structure.members.clone()?;
        (items.len() <= members.len() && out.len() <= MOST_NUMBERS).then_some(())?;
        for (k, (name, ty)) in members.iter().enumerate() {
            let place = self.member_at(target, name)?;
            match (items.get(k), self.known(ty)) {
                (Some(Init::List(items)), Some(inner)) => self.set_from_list(&place, items, &inner, out)?,
                (Some(Init::Expr(value)), Some(inner)) => self.set_members(&place, value, &inner, out)?,
                (None, Some(inner)) => self.set_from_list(&place, &[], &inner, out)?,
                (item, None) => self.set_numbers(place, item, ty, out)?,
                (Some(Init::Unsupported(_)), _) => return None,
            }
        }
        Some(())
    }

    /// Sets a number, or an array of numbers, to what a list in braces has for it.
    fn set_numbers(&self, place: Expr, item: Option<&Init>, ty: &QType, out: &mut Vec<Stmt>) -> Option<()> {
        is_number(ty).then_some(())?;
        if let CType::Array { of, extent: Some(extent) } = &ty.ty {
            let count = self.constant(extent).filter(|count| (0..=MOST_ELEMENTS).contains(count))?;
            let items = match item {
                None => &[][..],
                Some(Init::List(items)) if items.len() as i64 <= count => items,
                Some(_) => return None,
            };
            let mut each = (0..count).map(|k| (k, items.get(k as usize)));
            return each.try_for_each(|(k, item)| self.set_numbers(element(place.clone(), k), item, of, out));
        }
        let value = match item {
            Some(Init::Expr(value)) if !acts(value) => value.clone(),
            Some(_) => return None,
            None => Expr { kind: ExprKind::Int(0, IntType::Int), at: place.at, height: 1 },
        };
        out.push(assignment(place, value));
        Some(())
    }

    /// A member of a place, by a name with a token of its own.
    fn member_at(&mut self, place: &Expr, name: &str) -> Option<Expr> {
        let mut place = place.clone();
        let at = self.spare(place.at);
        let mut inner = &mut place;
        loop {
            match &mut inner.kind {
                ExprKind::Index(base, _) | ExprKind::Unary(Unary::Deref, base) => inner = base,
                ExprKind::Ident(_) => break,
                _ => return None,
            }
        }
        inner.at = at;
        let member = self.member(place, false, name, at);
        (!matches!(member.kind, ExprKind::Unsupported(_))).then_some(member)
    }

    /// A token at the place of one, for a name that the text does not have.
    fn spare(&self, at: At) -> At {
        self.since_one(self.source.spare(at.first as usize))
    }
}

/// Whether two structures are of one type.
fn alike(a: &Structure, b: &Structure) -> bool {
    match (&a.tag, &b.tag, &a.members, &b.members) {
        (Some(a), Some(b), ..) => a == b,
        (None, None, Some(a), Some(b)) => std::rc::Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// How many subscripts the elements of an array have.
fn ranks(ty: &QType) -> usize {
    match &ty.ty {
        CType::Array { of, .. } => 1 + ranks(of),
        _ => 0,
    }
}

fn is_number(ty: &QType) -> bool {
    let scalar = |ty: &QType| matches!(ty.ty, CType::Int(_) | CType::Float | CType::Double) && !ty.volatile;
    match &ty.ty {
        CType::Array { of, extent: Some(_) } => is_number(of),
        _ => scalar(ty),
    }
}

fn assignment(target: Expr, value: Expr) -> Stmt {
    let (at, height) = (value.at, target.height.max(value.height) + 1);
    let kind = ExprKind::Assign(None, Box::new(target), Box::new(value));
    Stmt { kind: StmtKind::Expr(Expr { kind, at, height }), at }
}

fn element(array: Expr, k: i64) -> Expr {
    let (at, height) = (array.at, array.height + 1);
    let index = Expr { kind: ExprKind::Int(k as u64, IntType::Int), at, height: 1 };
    Expr { kind: ExprKind::Index(Box::new(array), Box::new(index)), at, height }
}

/// The name that a place begins with.
fn root(place: &Expr) -> Option<&str> {
    match &place.kind {
        ExprKind::Ident(name) => Some(object_of(name)),
        ExprKind::Index(base, _) | ExprKind::Unary(Unary::Deref, base) => root(base),
        _ => None,
    }
}

/// The object of which a name is a member.
pub(super) fn object_of(name: &str) -> &str {
    let end = [PLACE, ".", "->"].into_iter().filter_map(|mark| name.find(mark)).min();
    &name[..end.unwrap_or(name.len())]
}

/// Whether a subscript of a place reads something of an object.
fn subscripts_read(place: &Expr, own: &str) -> bool {
    fn reads(e: &Expr, own: &str) -> bool {
        matches!(&e.kind, ExprKind::Ident(name) if object_of(name) == own)
            || parts(&e.kind).into_iter().any(|part| reads(part, own))
    }
    match &place.kind {
        ExprKind::Index(base, index) => reads(index, own) || subscripts_read(base, own),
        ExprKind::Unary(_, base) => subscripts_read(base, own),
        _ => false,
    }
}
