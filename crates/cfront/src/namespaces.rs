//! Names of C++ beyond those of C: namespaces, what of the library `std` regions use, and names
//! that are declared in a way that says nothing to a region.

use std::collections::BTreeMap;

use crate::ctype::{CType, IntType, QType};
use crate::lower::is_math;
use crate::scope::{Scope, Scopes, Symbol};

/// Between the parts of a name.
const LINK: &str = "::";

/// Why a declared name has no meaning in regions. Only C++ has such names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hidden {
    /// In a function of a class: it may be a member.
    Member,
    /// Declared by a statement that is not understood, as one with a class of the library.
    Declared,
    /// Of two functions with this name, the arguments choose one.
    Overloaded,
    /// The name of a template.
    Template,
    /// What a using directive or declaration leaves behind; no name of the text.
    Using,
}

impl Hidden {
    /// What it is, behind `NAME is`.
    pub fn what(self) -> &'static str {
        match self {
            Hidden::Member => "a member of a class, or may be one",
            Hidden::Declared => "declared in a way that is not understood",
            Hidden::Overloaded => "the name of several functions",
            Hidden::Template => "a template",
            Hidden::Using => "the name of a namespace",
        }
    }

    /// The way out.
    pub fn help(self) -> &'static str {
        match self {
            Hidden::Member => {
                "copy it to a local variable before the region: a pointer to its data, or its value"
            }
            Hidden::Declared => {
                "declare a variable of a type of C before the region, as in `double *a = v.data();` or `const int n = v.size();`, and use that"
            }
            Hidden::Overloaded => "give the function that is meant a name of its own",
            Hidden::Template => "write a function for the type that is meant",
            Hidden::Using => "write the whole name",
        }
    }
}

/// The namespaces of a text.
#[derive(Default)]
pub struct Namespaces {
    /// Those that were left, by their whole names.
    left: BTreeMap<String, Scope>,
    /// Those around this place, the innermost last: the whole name, and which scope it is.
    open: Vec<(String, usize)>,
}

impl Scopes {
    /// Enters a namespace, or goes on in it.
    pub(crate) fn enter_namespace(&mut self, name: &str) {
        let whole = match self.namespaces.open.last() {
            Some((around, _)) => format!("{around}{LINK}{name}"),
            None => name.to_owned(),
        };
        let scope = self.namespaces.left.remove(&whole).unwrap_or_default();
        self.namespaces.open.push((whole, self.depth()));
        self.scopes.push(scope);
    }

    /// Leaves the innermost namespace.
    pub(crate) fn leave_namespace(&mut self) {
        let Some((whole, depth)) = self.namespaces.open.pop() else { return };
        self.truncate(depth + 1);
        let scope = self.scopes.pop().unwrap_or_default();
        self.namespaces.left.insert(whole, scope);
    }

    /// Whether a name is that of a namespace.
    pub(crate) fn namespace(&self, name: &str) -> Option<&Scope> {
        let (global, name) = match name.strip_prefix(LINK) {
            Some(name) => (true, name),
            None => (false, name),
        };
        let around = self.namespaces.open.iter().rev().map(|(around, _)| format!("{around}{LINK}{name}"));
        let mut wholes: Vec<String> = if global { Vec::new() } else { around.collect() };
        wholes.push(name.to_owned());
        wholes.iter().find_map(|whole| {
            let open = self.namespaces.open.iter().find(|(open, _)| open == whole);
            open.map(|(_, k)| &self.scopes[*k]).or_else(|| self.namespaces.left.get(whole))
        })
    }

    /// What a name with `::` in it stands for. Objects of namespaces are not found.
    pub(crate) fn lookup_qualified(&self, name: &str) -> Option<&Symbol> {
        let (around, last) = name.rsplit_once(LINK)?;
        let scope = if around.is_empty() { self.scopes.first()? } else { self.namespace(around)? };
        scope.get(last).filter(|symbol| !matches!(symbol, Symbol::Object(_)))
    }

    /// Notes `using namespace NAME`.
    pub(crate) fn use_namespace(&mut self, name: &str) {
        if name == "std" {
            self.declare(used("*"), Symbol::Hidden(Hidden::Using));
        } else if let Some(scope) = self.namespace(name).cloned() {
            for (name, symbol) in scope {
                if !matches!(symbol, Symbol::Object(_)) && self.lookup(&name).is_none() {
                    self.declare(name, symbol);
                }
            }
        }
    }

    /// Notes `using NAMESPACE::NAME`.
    pub(crate) fn use_name(&mut self, name: &str) {
        let Some((around, last)) = name.rsplit_once(LINK) else { return };
        if around == "std" || around == "::std" {
            self.declare(used(last), Symbol::Hidden(Hidden::Using));
            if let Some(ty) = standard_type(last) {
                self.declare(last.to_owned(), Symbol::Typedef(QType::plain(CType::Int(ty))));
            }
            return;
        }
        let symbol = self.lookup_qualified(name).cloned();
        self.declare(last.to_owned(), symbol.unwrap_or(Symbol::Hidden(Hidden::Declared)));
    }

    /// Whether a name without `std::` may be that of the library.
    pub(crate) fn uses_standard(&self, name: &str) -> bool {
        self.lookup(&used("*")).is_some() || self.lookup(&used(name)).is_some()
    }

    /// Whether a name is declared in the file and nowhere further inside.
    pub(crate) fn only_in_file(&self, name: &str) -> bool {
        self.scopes.iter().skip(1).all(|scope| !scope.contains_key(name))
    }
}

/// What stands before the name of a function of the library that a `using` shows. Written out in a
/// text, the name begins with `std::`.
pub(crate) const BY_USING: &str = "::std::";

/// Whether a name is that of a function of the library of C++ that regions know.
pub(crate) fn is_standard(name: &str) -> bool {
    let others = ["min", "max", "clamp", "isnan", "isinf", "isfinite", "ldexp", "scalbn"];
    others.contains(&name) || is_math(name)
}

/// The key of what `using` says of a name of `std`: no name has a space in it.
fn used(name: &str) -> String {
    format!("using std {name}")
}

/// The types of `std` that are integers, on 64-bit systems.
pub(crate) fn standard_type(name: &str) -> Option<IntType> {
    let name = name.strip_suffix("_t")?;
    Some(match name {
        "size" | "uintptr" | "uintmax" | "uint64" | "uint_least64" | "uint_fast64" | "uint_fast32"
        | "uint_fast16" => IntType::UnsignedLong,
        "ptrdiff" | "intptr" | "intmax" | "int64" | "int_least64" | "int_fast64" | "int_fast32"
        | "int_fast16" => IntType::Long,
        "int32" | "int_least32" => IntType::Int,
        "uint32" | "uint_least32" => IntType::Unsigned,
        "int16" | "int_least16" => IntType::Short,
        "uint16" | "uint_least16" => IntType::UnsignedShort,
        "int8" | "int_least8" | "int_fast8" => IntType::SignedChar,
        "uint8" | "uint_least8" | "uint_fast8" => IntType::UnsignedChar,
        _ => return None,
    })
}
