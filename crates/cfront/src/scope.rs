//! Names that C declares, by scope.

use std::collections::BTreeMap;

use crate::ast::At;
use crate::ctype::{CType, Known, QType};
use crate::namespaces::{Hidden, Namespaces};
use crate::parser::{Helper, Inline};

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Symbol {
    Typedef(QType),
    Object(Object),
    /// An enumeration constant, or a constant integer object with a known value. `None` if it is
    /// not understood.
    Constant(Option<Known>),
    Function(Function),
    /// A name of C++ that says nothing to a region.
    Hidden(Hidden),
}

/// A declared object.
#[derive(Clone, Debug)]
pub struct Object {
    pub ty: QType,
    pub place: Place,
    /// Initialised by the result of an allocation: a pointer to an object that nothing else points
    /// to.
    pub fresh: bool,
    /// Each thread has its own.
    pub per_thread: bool,
    /// A member of what a pointer points to: whether that pointer is declared `restrict`, or was
    /// just allocated.
    pub through: Option<bool>,
    /// Where it is declared.
    pub at: At,
}

impl Object {
    /// What is declared with a type: of a reference, what it refers to, which may be anywhere and
    /// change by other names.
    pub fn declared(ty: QType, place: Place, at: At) -> Object {
        let (ty, through) = match ty.ty {
            CType::Reference(to) => (QType { constant: false, ..*to }, Some(false)),
            _ => (ty, None),
        };
        Object { ty, place, fresh: false, per_thread: false, through, at }
    }

    /// A parameter of a function.
    pub fn parameter(ty: QType, at: At) -> Object {
        Object::declared(ty, Place::Parameter, at)
    }
}

/// Where an object lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Global,
    Parameter,
    Local,
}

/// A declared function.
#[derive(Clone, Debug)]
pub struct Function {
    pub result: QType,
    /// Types of the parameters, if it has a prototype.
    pub params: Vec<QType>,
    /// Declared with the attribute `const`: it changes nothing, and its result depends only on its
    /// arguments.
    pub pure: bool,
    /// It is `static` without `inline`: compilers warn of it when no call of it is left.
    pub stays: bool,
    /// What its calls stand for, where that is expressions.
    pub inline: Option<Box<Inline>>,
    /// What its calls stand for as statements, where it returns nothing.
    pub helper: Option<Box<Helper>>,
    /// Why its calls stand for nothing else, if it has a body and that is seen at once.
    pub kept: Option<Kept>,
}

/// Why no expression takes the place of a function's calls.
#[derive(Clone, Debug)]
pub enum Kept {
    /// It calls itself.
    Itself,
    /// It has a loop.
    Loop,
    /// It uses this variable of the file.
    Reads(String),
}

/// The names of one scope.
pub type Scope = BTreeMap<String, Symbol>;

/// Scopes, innermost last; the first one is the file's.
#[derive(Default)]
pub struct Scopes {
    pub(crate) scopes: Vec<Scope>,
    /// Those of C++.
    pub(crate) namespaces: Namespaces,
    /// Whether functions may have the same name.
    pub(crate) overloads: bool,
}

impl Scopes {
    pub fn new(overloads: bool) -> Scopes {
        Scopes { scopes: vec![Scope::new()], namespaces: Namespaces::default(), overloads }
    }

    pub fn push(&mut self) {
        self.scopes.push(Scope::new());
    }

    /// Leaves the innermost scope; the file's stays.
    pub fn pop(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    pub fn truncate(&mut self, depth: usize) {
        self.scopes.truncate(depth.max(1));
    }

    pub fn declare(&mut self, name: String, symbol: Symbol) {
        if let Some(scope) = self.scopes.last_mut() {
            if self.overloads
                && let (Symbol::Function(new), Some(old)) = (&symbol, scope.get(&name))
            {
                let other = match old {
                    Symbol::Function(old) => !same_types(&new.params, &old.params),
                    Symbol::Hidden(_) => true,
                    _ => false,
                };
                if other {
                    scope.insert(name, Symbol::Hidden(Hidden::Overloaded));
                    return;
                }
            }
            // A later declaration of a function without the attribute does not take it away.
            if let (Symbol::Function(new), Some(Symbol::Function(old))) = (&symbol, scope.get(&name)) {
                let pure = new.pure || old.pure;
                let stays = new.stays || old.stays;
                let inline = new.inline.clone().or(old.inline.clone());
                let helper = new.helper.clone().or(old.helper.clone());
                let kept = new.kept.clone().or(old.kept.clone());
                let merged = Symbol::Function(Function { pure, stays, inline, helper, kept, ..new.clone() });
                scope.insert(name, merged);
                return;
            }
            // Nor does one of an object take away that each thread has its own.
            if let (Symbol::Object(new), Some(Symbol::Object(old))) = (&symbol, scope.get(&name)) {
                let per_thread = new.per_thread || old.per_thread;
                scope.insert(name, Symbol::Object(Object { per_thread, ..new.clone() }));
                return;
            }
            scope.insert(name, symbol);
        }
    }

    /// Notes that each thread has its own of an object.
    pub(crate) fn declare_per_thread(&mut self, name: &str) {
        let found = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name));
        if let Some(Symbol::Object(object)) = found {
            object.per_thread = true;
        }
    }

    /// Declares a name in the scope of another one.
    pub(crate) fn declare_beside(&mut self, other: &str, name: String, symbol: Symbol) {
        if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(other)) {
            scope.insert(name, symbol);
        }
    }

    /// Whether a name that starts like this is declared in the scope of another one.
    pub(crate) fn declared_beside(&self, other: &str, start: &str) -> bool {
        let scope = self.scopes.iter().rev().find(|scope| scope.contains_key(other));
        scope.is_some_and(|scope| {
            scope.range(start.to_owned()..).next().is_some_and(|(n, _)| n.starts_with(start))
        })
    }

    pub fn lookup(&self, name: &str) -> Option<&Symbol> {
        if name.contains("::") {
            return self.lookup_qualified(name);
        }
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// In how many of the open scopes the name is declared.
    pub fn declarations(&self, name: &str) -> usize {
        self.scopes.iter().filter(|scope| scope.contains_key(name)).count()
    }

    /// Whether calls of a function that should stay in use are replaced by its body.
    pub(crate) fn loses_call(&self, name: &str) -> bool {
        let function = self.lookup(name);
        matches!(function, Some(Symbol::Function(f)) if f.stays && (f.inline.is_some() || f.helper.is_some()))
    }

    pub(crate) fn is_typedef(&self, name: &str) -> bool {
        matches!(self.lookup(name), Some(Symbol::Typedef(_)))
    }
}

/// Whether parameters have the same types, as far as regions know them.
fn same_types(a: &[QType], b: &[QType]) -> bool {
    let known = |ty: &CType| !matches!(ty, CType::Other(_) | CType::Struct(_));
    let same = |a: &QType, b: &QType| match (&a.ty, &b.ty) {
        (CType::Pointer { to: a, .. }, CType::Pointer { to: b, .. }) => {
            a.constant == b.constant && same_types(std::slice::from_ref(a), std::slice::from_ref(b))
        }
        (a, b) => {
            known(a) && std::mem::discriminant(a) == std::mem::discriminant(b) && a.c_name() == b.c_name()
        }
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}
