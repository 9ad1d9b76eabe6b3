//! Declarations: declarators, parameter lists, initialisers.

use super::cpp::{AUTO, NEW};
use super::expr::is_keyword;
use super::specifiers::{Specifiers, is_attribute};
use super::{Parsed, Parser};
use crate::ast::{Declaration, Expr, ExprKind, Init, Unary};
use crate::ctype::{CType, IntType, Known, QType, REFERENCE};
use crate::lexer::Tok;
use crate::scope::{Function, Object, Place, Symbol};

/// A declarator: the name, if it has one, its type, and the parameters if it declares a function.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub name: Option<(String, usize)>,
    pub ty: QType,
    pub params: Option<Vec<Declaration>>,
    pub pure: bool,
    /// The name of the class or namespace before the name, in C++.
    pub of: Option<String>,
}

impl Parser<'_> {
    /// The type in a cast.
    pub(crate) fn type_name(&mut self) -> Parsed<QType> {
        let specifiers = self.specifiers()?;
        let declarator = self.declarator(specifiers.ty)?;
        if declarator.name.is_some() {
            return Err(self.error("expected a type without a name"));
        }
        Ok(declarator.ty)
    }

    /// A declarator, named or not, around a base type.
    pub fn declarator(&mut self, base: QType) -> Parsed<Declarator> {
        let mut declarator = self.deeper(|p| p.declarator_inner(base))?;
        self.retype(&mut declarator.ty);
        Ok(declarator)
    }

    fn declarator_inner(&mut self, mut base: QType) -> Parsed<Declarator> {
        let mut pure = false;
        while is_attribute(self.word()) {
            pure |= self.attribute()?;
        }
        let mut stars = 0;
        while self.accept("*") {
            stars += 1;
            if stars > 16 {
                return Err(self.error("more than 16 pointers in a row"));
            }
            let mut ty = CType::Pointer { to: Box::new(base), restrict: false, extent: None };
            let (mut constant, mut volatile) = (false, false);
            loop {
                let word = self.word();
                match word {
                    "const" | "__const" | "__const__" => constant = true,
                    "volatile" | "__volatile__" | "_Atomic" => volatile = true,
                    "restrict" | "__restrict" | "__restrict__" => {
                        if let CType::Pointer { restrict, .. } = &mut ty {
                            *restrict = true;
                        }
                    }
                    _ if is_attribute(word) => {
                        self.attribute()?;
                        continue;
                    }
                    _ => break,
                }
                self.pos += 1;
            }
            base = QType { ty, constant, volatile };
        }
        if self.is_cpp() && (self.accept("&") || self.accept("&&")) {
            let plain = matches!(base.ty, CType::Int(_) | CType::Float | CType::Double | CType::Struct(_));
            base = QType::plain(match plain && !base.volatile {
                true => CType::Reference(Box::new(base)),
                false => CType::Other(REFERENCE),
            });
            while matches!(self.word(), "__restrict" | "__restrict__") {
                self.pos += 1;
            }
        }
        if self.is("(") && self.nests_declarator() {
            let inner = self.pos;
            if !self.skip_group() {
                return Err(self.error("expected `)`"));
            }
            let (ty, params, more) = self.suffixes(base)?;
            let after = self.pos;
            self.pos = inner + 1;
            let mut declarator = self.declarator(ty)?;
            self.expect(")")?;
            // `(f)(double x)`: only parentheses around the name.
            if self.pos == inner + 3 {
                declarator.params = params;
            }
            self.pos = after;
            declarator.pure |= pure | more;
            return Ok(declarator);
        }
        let (mut name, mut of) = (None, None);
        if let Some((whole, end)) = self.qualified(self.pos) {
            of = whole.rsplit_once("::").map(|(around, _)| around.to_owned());
            self.pos = end - 1;
        }
        if self.tok() == Tok::Ident && !is_keyword(self.word()) {
            name = Some((self.text().to_string(), self.pos));
            self.pos += 1;
        }
        let (ty, params, more) = self.suffixes(base)?;
        Ok(Declarator { name, ty, params, pure: pure | more, of })
    }

    /// Whether the parenthesis here is around a declarator, and not a parameter list.
    fn nests_declarator(&self) -> bool {
        let next = self.pos + 1;
        match self.tok_at(next) {
            Tok::Punct("*" | "(" | "[") => true,
            Tok::Ident => is_attribute(self.word_at(next)) || !self.starts_type(next),
            _ => false,
        }
    }

    /// Array and function suffixes, outermost first in the text.
    fn suffixes(&mut self, base: QType) -> Parsed<(QType, Option<Vec<Declaration>>, bool)> {
        if self.is("(") && !self.is_initial_value() {
            let params = self.parameters()?;
            self.function_qualifiers();
            let (mut ty, _, pure) = self.suffixes(base)?;
            ty = QType::plain(CType::Function { result: Box::new(ty) });
            return Ok((ty, Some(params), pure));
        }
        let mut extents = Vec::new();
        let mut restrict = false;
        while self.accept("[") {
            while matches!(
                self.word(),
                "static" | "const" | "restrict" | "__restrict" | "__restrict__" | "volatile"
            ) {
                restrict |= self.word().contains("restrict");
                self.pos += 1;
            }
            if extents.len() >= 16 {
                return Err(self.error("more than 16 dimensions"));
            }
            if self.is("]") || (self.is("*") && self.is_at(self.pos + 1, "]")) {
                self.accept("*");
                extents.push(None);
            } else {
                extents.push(Some(Box::new(self.assignment()?)));
            }
            self.expect("]")?;
        }
        let mut pure = false;
        while is_attribute(self.word()) {
            pure |= self.attribute()?;
        }
        let mut ty = base;
        let dims = extents.len();
        for (k, extent) in extents.into_iter().rev().enumerate() {
            let of = Box::new(ty);
            let array = CType::Array { of, extent };
            ty = QType::plain(array);
            if k + 1 == dims && restrict {
                ty = ty.adjusted(true);
            }
        }
        Ok((ty, None, pure))
    }

    /// A parameter list; the names are in scope for later ones, and left in the innermost scope.
    fn parameters(&mut self) -> Parsed<Vec<Declaration>> {
        self.expect("(")?;
        let depth = self.scopes.depth();
        self.scopes.push();
        let mut params = Vec::new();
        if self.word() == "void" && self.is_at(self.pos + 1, ")") {
            self.pos += 1;
        }
        while !self.is(")") {
            if self.accept("...") {
                break;
            }
            let first = self.pos;
            let (name, ty, at) = match self.one_parameter() {
                Ok(parameter) => parameter,
                Err(_) if self.is_cpp() => {
                    self.pos = first;
                    let (name, ty) = self.unknown_parameter();
                    (name, ty, self.since(first))
                }
                Err(error) => return Err(error),
            };
            params.push(Declaration { name, ty, init: None, is_static: false, is_extern: false, at });
            if !self.accept(",") {
                break;
            }
        }
        self.scopes.truncate(depth);
        self.expect(")")?;
        Ok(params)
    }

    /// One parameter, declared in the innermost scope.
    fn one_parameter(&mut self) -> Parsed<(String, QType, crate::ast::At)> {
        let first = self.pos;
        let specifiers = self.specifiers()?;
        let declarator = self.declarator(specifiers.ty)?;
        if self.is_cpp() {
            self.default_argument();
            if !matches!(self.tok(), Tok::Punct("," | ")")) {
                return Err(self.expected("`)`"));
            }
        }
        let ty = declarator.ty.adjusted(false);
        let (name, at) = match declarator.name {
            Some((name, pos)) => (name, self.since_one(pos)),
            None => (String::new(), self.since(first)),
        };
        self.scopes.declare(name.clone(), Symbol::Object(Object::parameter(ty.clone(), at)));
        Ok((name, ty, at))
    }

    pub(super) fn since_one(&self, pos: usize) -> crate::ast::At {
        crate::ast::At { first: pos as u32, last: pos as u32 }
    }

    /// A declaration to its `;`, declared in the innermost scope. Functions are declared too and
    /// not returned.
    pub fn declaration(&mut self, place: Place) -> Parsed<Vec<Declaration>> {
        self.retyped = None;
        let specifiers = self.specifiers()?;
        let mut out = Vec::new();
        while !self.is(";") {
            let mut declarator = self.declarator(specifiers.ty.clone())?;
            self.asm_label()?;
            self.retype(&mut declarator.ty);
            if let Some(d) = self.declare(&specifiers, declarator, place)? {
                out.push(d);
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(out)
    }

    /// An `asm("name")` and attributes after a declarator.
    pub(crate) fn asm_label(&mut self) -> Parsed<bool> {
        let mut pure = false;
        while matches!(self.word(), "asm" | "__asm__" | "__asm") || is_attribute(self.word()) {
            pure |= self.attribute()?;
        }
        Ok(pure)
    }

    /// Puts what a declarator declares into the scope, and reads its initialiser.
    fn declare(
        &mut self,
        specifiers: &Specifiers,
        declarator: Declarator,
        place: Place,
    ) -> Parsed<Option<Declaration>> {
        let Some((name, pos)) = declarator.name else { return Err(self.expected("a name")) };
        let at = self.since_one(pos);
        if specifiers.is_typedef {
            self.scopes.declare(name, Symbol::Typedef(declarator.ty));
            return Ok(None);
        }
        if let CType::Function { result } = &declarator.ty.ty {
            let params = declarator.params.unwrap_or_default().into_iter().map(|p| p.ty).collect();
            let pure = specifiers.pure || declarator.pure;
            let function = Function {
                result: (**result).clone(),
                params,
                pure,
                stays: false,
                inline: None,
                helper: None,
                kept: None,
            };
            self.scopes.declare(name, Symbol::Function(function));
            return Ok(None);
        }
        let mut ty = declarator.ty;
        let mut init = None;
        if self.accept("=") {
            init = Some(self.initial_value(Parser::initialiser)?);
        } else if self.is_cpp() && (self.is("{") || self.is("(")) {
            init = Some(self.initial_value(Parser::direct_initialiser)?);
        }
        if let (CType::Other(AUTO), Some(Init::Expr(e))) = (&ty.ty, &init)
            && let Some(deduced) = self.deduced(e)
        {
            ty.ty = deduced;
        }
        let fresh = matches!(&init, Some(Init::Expr(e)) if is_allocation(e));
        // `int w[] = {…}` and constants with a value.
        if let (CType::Array { of, extent: extent @ None }, Some(Init::List(items))) = (&mut ty.ty, &init)
            && items.iter().all(|item| one_each(item, of))
        {
            let count = ExprKind::Int(items.len() as u64, IntType::Int);
            *extent = Some(Box::new(Expr { kind: count, at, height: 1 }));
        }
        let place = if specifiers.is_static || specifiers.is_extern { Place::Global } else { place };
        let value = match (&ty, &init) {
            (QType { ty: CType::Int(int), constant: true, volatile: false }, Some(Init::Expr(e))) => {
                self.constant(e).and_then(|value| Known::object(value, *int))
            }
            _ => None,
        };
        let symbol = match value {
            Some(value) => Symbol::Constant(Some(value)),
            None => {
                // `extern` in a block names the object of the file.
                let outer = self.scopes.lookup(&name).filter(|_| specifiers.is_extern);
                let per_thread =
                    specifiers.is_per_thread || matches!(outer, Some(Symbol::Object(o)) if o.per_thread);
                let object = Object::declared(ty.clone(), place, at);
                Symbol::Object(Object { fresh, per_thread, ..object })
            }
        };
        self.scopes.declare(name.clone(), symbol);
        let (is_static, is_extern) = (specifiers.is_static, specifiers.is_extern);
        Ok(Some(Declaration { name, ty, init, is_static, is_extern, at }))
    }

    /// The type that `auto` stands for, of a value whose type is seen at once.
    fn deduced(&self, value: &Expr) -> Option<CType> {
        let own = |ty: &CType| match ty {
            CType::Int(_) | CType::Float | CType::Double => Some(ty.clone()),
            CType::Pointer { to, .. } => {
                Some(CType::Pointer { to: to.clone(), restrict: false, extent: None })
            }
            _ => None,
        };
        match &value.kind {
            // Not `true` and `'a'`, which have types of their own in C++.
            ExprKind::Int(_, int) => {
                (self.tok_at(value.at.first as usize) == Tok::Number).then_some(CType::Int(*int))
            }
            ExprKind::Float { ty, .. } => Some(ty.clone()),
            ExprKind::Cast(ty, _) => own(&ty.ty),
            ExprKind::Unary(Unary::Minus, e) => match self.deduced(e)? {
                CType::Int(int) => (int.bits() >= 32).then_some(CType::Int(int)),
                ty => Some(ty),
            },
            ExprKind::Ident(name) => match self.scopes.lookup(name)? {
                Symbol::Object(object) => own(&object.ty.ty),
                _ => None,
            },
            _ => None,
        }
    }

    /// An initialiser; outside of regions, C++ that is not understood may be one.
    fn initial_value(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Init>) -> Parsed<Init> {
        let first = self.pos;
        match read(self) {
            Err(error) if self.is_cpp() && !error.deep => {
                self.pos = first;
                self.skip_to(";");
                Ok(Init::Unsupported("an initial value that is not understood"))
            }
            other => other,
        }
    }

    /// `{value}` or `(value)` behind a name.
    fn direct_initialiser(&mut self) -> Parsed<Init> {
        if self.is("{") {
            let Init::List(mut items) = self.initialiser()? else {
                return Ok(Init::Unsupported("an initialiser of C++"));
            };
            return Ok(match (items.pop(), items.is_empty()) {
                (Some(item), true) => item,
                (None, _) => Init::Unsupported("`{}`"),
                (Some(item), false) => {
                    items.push(item);
                    Init::List(items)
                }
            });
        }
        self.expect("(")?;
        let value = self.assignment()?;
        self.expect(")")?;
        Ok(Init::Expr(value))
    }

    pub(super) fn initialiser(&mut self) -> Parsed<Init> {
        self.deeper(|p| {
            if !p.is("{") {
                return Ok(Init::Expr(p.assignment()?));
            }
            let first = p.pos;
            p.pos += 1;
            let mut items = Vec::new();
            while !p.is("}") {
                if p.is(".") || p.is("[") {
                    p.pos = first;
                    p.skip_group();
                    return Ok(Init::Unsupported("a designated initialiser"));
                }
                if items.len() >= 4096 {
                    p.pos = first;
                    p.skip_group();
                    return Ok(Init::Unsupported("an initialiser of more than 4096 values"));
                }
                items.push(p.initialiser()?);
                if !p.accept(",") {
                    break;
                }
            }
            p.expect("}")?;
            Ok(Init::List(items))
        })
    }
}

/// Whether an item of a list is one element of an array. Rows may come without their braces, and
/// characters as a string.
fn one_each(item: &Init, element: &QType) -> bool {
    match item {
        Init::List(_) => true,
        Init::Expr(e) => {
            let array = matches!(element.ty, CType::Array { .. } | CType::Other(_) | CType::Struct(_));
            !array && !matches!(e.kind, ExprKind::Unsupported(_))
        }
        Init::Unsupported(_) => true,
    }
}

/// A call that gives new memory, perhaps under a cast.
fn is_allocation(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast(_, inner) => is_allocation(inner),
        ExprKind::Unsupported(what) => *what == NEW,
        ExprKind::Call { function, .. } => matches!(
            function.as_str(),
            "malloc"
                | "calloc"
                | "aligned_alloc"
                | "_mm_malloc"
                | "xmalloc"
                | "polybench_alloc_data"
                | "numa_alloc_onnode"
        ),
        _ => false,
    }
}
