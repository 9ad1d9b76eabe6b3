//! What C++ has beyond C in expressions and types, as far as the code around regions and the
//! arithmetic in them have it: names with `::`, casts by name, `new`, lambdas, `std::min`.
//!
//! Not here: namespaces, classes and templates as declarations (`crate::cpp_declarations`).

use super::expr::is_keyword;
use super::specifiers::{is_qualifier, is_storage_word, is_type_word};
use super::{Parsed, Parser, acts};
use crate::ast::{At, Binary, Expr, ExprKind};
use crate::ctype::{CType, IntType, QType};
use crate::lexer::Tok;
use crate::lower::is_math;
use crate::namespaces::{Hidden, is_standard, standard_type};
use crate::scope::Symbol;

/// What `new` gives, where it is new memory.
pub const NEW: &str = "`new`";

/// The type of an object whose type follows from its initial value.
pub const AUTO: &str = "a type that `auto` stands for";

/// A type that only C++ has.
pub const CPP_TYPE: &str = "a type of C++";

impl Parser<'_> {
    /// Whether the text is C++.
    pub(crate) fn is_cpp(&self) -> bool {
        self.source.is_cpp()
    }

    /// A name with `::` in it that starts at a token, and the token behind it.
    pub(crate) fn qualified(&self, pos: usize) -> Option<(String, usize)> {
        if !self.is_cpp() {
            return None;
        }
        let (mut name, mut k) = (String::new(), pos);
        if self.is_at(k, "::") {
            name.push_str("::");
            k += 1;
        }
        loop {
            let word = self.word_at(k);
            if word.is_empty() || is_keyword(word) {
                return None;
            }
            name.push_str(word);
            k += 1;
            if !(self.is_at(k, "::") && self.tok_at(k + 1) == Tok::Ident) {
                break;
            }
            name.push_str("::");
            k += 1;
        }
        name.contains("::").then_some((name, k))
    }

    /// The type that a name with `::` in it stands for, and the token behind it.
    pub(super) fn qualified_type(&self, pos: usize) -> Option<(QType, usize)> {
        let (name, end) = self.qualified(pos)?;
        let ty = match of_standard(&name) {
            Some(last) => QType::plain(CType::Int(standard_type(last)?)),
            None => match self.scopes.lookup(&name)? {
                Symbol::Typedef(ty) => ty.clone(),
                _ => return None,
            },
        };
        (!self.is_at(end, "<")).then_some((ty, end))
    }

    /// An expression that only C++ has, if one begins here.
    pub(super) fn cpp_primary(&mut self) -> Parsed<Option<Expr>> {
        if !self.is_cpp() {
            return Ok(None);
        }
        let first = self.pos;
        let kind = match self.word() {
            word @ ("true" | "false" | "nullptr") => {
                self.pos += 1;
                ExprKind::Int(u64::from(word == "true"), IntType::Int)
            }
            "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast" => {
                return self.named_cast().map(Some);
            }
            "this" => {
                self.pos += 1;
                ExprKind::Unsupported("`this`")
            }
            "new" => self.new_memory()?,
            _ if self.is("[") => self.lambda()?,
            _ if self.starts_type(first) => return self.functional_cast().map(Some),
            _ => match self.qualified(first) {
                Some((name, end)) => {
                    self.pos = end;
                    match of_standard(&name) {
                        Some(last @ ("min" | "max" | "clamp")) if self.is("<") => {
                            return self.of_type(last).map(Some);
                        }
                        Some(last) => ExprKind::Ident(format!("std::{last}")),
                        None => ExprKind::Ident(name),
                    }
                }
                None => return Ok(None),
            },
        };
        Ok(Some(Expr { kind, at: self.since(first), height: 1 }))
    }

    /// `static_cast<T>(x)` and the like.
    fn named_cast(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        self.pos += 1;
        self.expect("<")?;
        let ty = self.type_name()?;
        self.expect(">")?;
        self.expect("(")?;
        let value = self.deeper(|p| p.expression())?;
        self.expect(")")?;
        let height = value.height;
        self.node(ExprKind::Cast(ty, Box::new(value)), self.since(first), height)
    }

    /// `T(x)` and `T{x}`.
    fn functional_cast(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        let ty = self.specifiers()?.ty;
        let close = match self.tok() {
            Tok::Punct("(") => ")",
            Tok::Punct("{") => "}",
            _ => return Err(self.expected("an expression")),
        };
        self.pos += 1;
        let value = match self.is(close) {
            true => Expr { kind: ExprKind::Int(0, IntType::Int), at: self.since(first), height: 1 },
            false => self.deeper(|p| p.expression())?,
        };
        self.expect(close)?;
        let height = value.height;
        self.node(ExprKind::Cast(ty, Box::new(value)), self.since(first), height)
    }

    fn new_memory(&mut self) -> Parsed<ExprKind> {
        self.pos += 1;
        if self.is("(") {
            return Err(self.error("`new` in memory that is there is not understood"));
        }
        self.specifiers()?;
        while self.accept("*") {}
        while matches!(self.tok(), Tok::Punct("[" | "(" | "{")) {
            self.skip_group();
        }
        Ok(ExprKind::Unsupported(NEW))
    }

    fn lambda(&mut self) -> Parsed<ExprKind> {
        self.skip_group();
        while !self.is("{") {
            match self.tok() {
                Tok::Punct("(") => _ = self.skip_group(),
                Tok::Punct(";" | "}" | ")" | "]") | Tok::End => return Err(self.expected("a lambda")),
                _ => self.pos += 1,
            }
        }
        self.skip_group();
        Ok(ExprKind::Unsupported("a lambda"))
    }

    /// `std::min<T>(a, b)`, from the `<` on.
    fn of_type(&mut self, name: &str) -> Parsed<Expr> {
        let first = self.pos;
        self.expect("<")?;
        let ty = self.type_name()?;
        self.expect(">")?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.is(")") {
            let value = self.assignment()?;
            let (at, height) = (value.at, value.height);
            args.push(self.node(ExprKind::Cast(ty.clone(), Box::new(value)), at, height)?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        let name = format!("std::{name}");
        match self.standard_call(&name, &args, self.since(first)) {
            Some(value) => value,
            None => Err(self.error(format!("a call of `{name}` that is not understood"))),
        }
    }

    /// Whether a name without `std::` is that of the library here: a using declaration or directive
    /// shows it, and the file has no other one. (What C declares, C++ has again for other types.)
    pub(super) fn chooses_standard(&self, function: &str) -> bool {
        self.is_cpp()
            && is_standard(function)
            && self.scopes.uses_standard(function)
            && self.scopes.only_in_file(function)
            && (is_math(function) || self.scopes.lookup(function).is_none())
    }

    /// What `std::min`, `std::max` and `std::clamp` stand for.
    pub(super) fn standard_call(&self, function: &str, args: &[Expr], at: At) -> Option<Parsed<Expr>> {
        let name = of_standard(function)?;
        if args.iter().any(acts) {
            return None;
        }
        let less = |a: &Expr, b: &Expr| {
            let (height, at) = (a.height.max(b.height), a.at.to(b.at));
            self.node(ExprKind::Binary(Binary::Lt, Box::new(a.clone()), Box::new(b.clone())), at, height)
        };
        let choice = |cond: Parsed<Expr>, then: &Expr, otherwise: Parsed<Expr>| {
            let (cond, otherwise) = (cond?, otherwise?);
            let height = cond.height.max(then.height).max(otherwise.height);
            let parts = (Box::new(cond), Box::new(then.clone()), Box::new(otherwise));
            self.node(ExprKind::Conditional(parts.0, parts.1, parts.2), at, height)
        };
        // As the standard says which of two equal ones, or of one that is no number, comes out.
        Some(match (name, args) {
            ("min", [a, b]) => choice(less(b, a), b, Ok(a.clone())),
            ("max", [a, b]) => choice(less(a, b), b, Ok(a.clone())),
            ("clamp", [value, low, high]) => {
                let upper = choice(less(high, value), high, Ok(value.clone()));
                choice(less(value, low), low, upper)
            }
            _ => return None,
        })
    }

    /// `using …;`, from the word on.
    pub(crate) fn using(&mut self) {
        self.pos += 1;
        if self.accept_word("namespace") {
            let plain = || (self.word().to_owned(), self.pos + 1);
            let (name, _) = self.qualified(self.pos).unwrap_or_else(plain);
            self.scopes.use_namespace(&name);
        } else if self.tok() == Tok::Ident && self.is_at(self.pos + 1, "=") {
            let name = self.word().to_owned();
            self.pos += 2;
            let symbol = match self.type_name() {
                Ok(ty) if self.is(";") => Symbol::Typedef(ty),
                _ => Symbol::Hidden(Hidden::Declared),
            };
            self.scopes.declare(name, symbol);
        } else if let Some((name, _)) = self.qualified(self.pos) {
            self.scopes.use_name(&name);
        }
        self.skip_to(";");
        self.accept(";");
    }

    /// Moves to a token outside of brackets that stands behind this place, or to the end of the
    /// block.
    pub(crate) fn skip_to(&mut self, punctuation: &str) {
        while !self.is(punctuation) && !matches!(self.tok(), Tok::End | Tok::Punct("}" | ")" | "]")) {
            match self.tok() {
                Tok::Punct("(" | "[" | "{") => _ = self.skip_group(),
                _ => self.pos += 1,
            }
        }
    }

    /// The token behind the type that begins at a token, whatever it is.
    pub(crate) fn type_end(&self, pos: usize) -> Option<usize> {
        let (mut k, mut seen) = (pos, false);
        loop {
            let word = self.word_at(k);
            if self.is_at(k, "[") && self.is_at(k + 1, "[") {
                k = self.group_end(k)?;
            } else if is_qualifier(word) || is_storage_word(word) {
                seen |= word == "auto";
                k += 1;
            } else if is_type_word(word)
                && !matches!(word, "struct" | "union" | "enum" | "class" | "typename")
            {
                seen = true;
                k += 1;
            } else if is_type_word(word) {
                k += 1;
            } else if !seen && (self.is_at(k, "::") || (!word.is_empty() && !is_statement_word(word))) {
                k = self.name_end(k)?;
                seen = true;
            } else {
                return seen.then_some(k);
            }
        }
    }

    /// The token behind a name with the arguments of templates.
    fn name_end(&self, pos: usize) -> Option<usize> {
        let mut k = pos;
        loop {
            if self.is_at(k, "::") {
                k += 1;
            }
            if self.tok_at(k) != Tok::Ident {
                return None;
            }
            k += 1;
            if self.is_at(k, "<") {
                k = self.angle_end(k)?;
            }
            if !self.is_at(k, "::") {
                return Some(k);
            }
        }
    }

    /// The token behind `<…>`, if that is what begins at a token.
    pub(crate) fn angle_end(&self, pos: usize) -> Option<usize> {
        let (mut k, mut depth) = (pos, 0usize);
        loop {
            match self.tok_at(k) {
                Tok::Punct("<") => depth += 1,
                Tok::Punct(">") => depth -= 1,
                Tok::Punct(">>") => depth = depth.saturating_sub(2),
                Tok::Punct("(" | "[" | "{") => {
                    k = self.group_end(k)?;
                    continue;
                }
                Tok::Punct(";" | ")" | "]" | "}") | Tok::End => return None,
                _ => {}
            }
            k += 1;
            if depth == 0 {
                return Some(k);
            }
        }
    }

    /// Hides the names that a statement from this place on declares, if it is a declaration: it is
    /// not understood.
    pub(crate) fn hide_declared(&mut self) {
        let Some(mut k) = self.type_end(self.pos).filter(|_| self.is_cpp()) else { return };
        loop {
            while self.is_at(k, "*")
                || self.is_at(k, "&")
                || self.is_at(k, "&&")
                || is_qualifier(self.word_at(k))
            {
                k += 1;
            }
            if self.is_at(k, "[") {
                // `auto [a, b] = …`
                let Some(end) = self.group_end(k) else { return };
                (k..end)
                    .filter(|k| self.tok_at(*k) == Tok::Ident)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|k| self.hide(k));
                return;
            }
            let ends =
                matches!(self.tok_at(k + 1), Tok::Punct("=" | ";" | "{" | "(" | "," | ":" | "[" | ")"));
            if self.tok_at(k) != Tok::Ident || !ends {
                return;
            }
            self.hide(k);
            k += 1;
            while !self.is_at(k, ",") {
                match self.tok_at(k) {
                    Tok::Punct("(" | "[" | "{") => match self.group_end(k) {
                        Some(end) => k = end,
                        None => return,
                    },
                    Tok::Punct(";" | ")" | "}") | Tok::End => return,
                    _ => k += 1,
                }
            }
            k += 1;
        }
    }

    fn hide(&mut self, pos: usize) {
        let name = self.word_at(pos).to_owned();
        self.scopes.declare(name, Symbol::Hidden(Hidden::Declared));
    }

    /// Goes past a parameter that is not understood, and hides its name. The type says no more than
    /// that it is one of C++.
    pub(super) fn unknown_parameter(&mut self) -> (String, QType) {
        let mut named = None;
        let mut depth = 0usize;
        loop {
            match self.tok() {
                Tok::Punct("," | ")") if depth == 0 => break,
                Tok::Punct(")" | "}" | "]") | Tok::End => break,
                Tok::Punct("=") if depth == 0 => {
                    self.default_argument();
                    break;
                }
                Tok::Punct("<") => depth += 1,
                Tok::Punct(">") => depth = depth.saturating_sub(1),
                Tok::Punct(">>") => depth = depth.saturating_sub(2),
                Tok::Punct("(" | "[" | "{") => {
                    self.skip_group();
                    continue;
                }
                Tok::Ident if depth == 0 => named = Some(self.text().to_owned()),
                _ => {}
            }
            self.pos += 1;
        }
        let name = named.unwrap_or_default();
        self.scopes.declare(name.clone(), Symbol::Hidden(Hidden::Declared));
        (name, QType::plain(CType::Other(CPP_TYPE)))
    }

    /// Goes past `= value` of a parameter.
    pub(super) fn default_argument(&mut self) {
        let first = self.pos;
        if self.accept("=") && self.assignment().is_err() {
            self.pos = first;
            self.skip_to(",");
        }
    }

    /// Goes past what may stand between a function's parameters and its body.
    pub(super) fn function_qualifiers(&mut self) {
        if !self.is_cpp() {
            return;
        }
        loop {
            match self.word() {
                "const" | "volatile" | "override" | "final" | "mutable" => self.pos += 1,
                "noexcept" | "throw" => {
                    self.pos += 1;
                    if self.is("(") {
                        self.skip_group();
                    }
                }
                _ if self.is("&") || self.is("&&") => self.pos += 1,
                _ if self.is("->") => match self.type_end(self.pos + 1) {
                    Some(mut end) => {
                        while self.is_at(end, "*") || self.is_at(end, "&") {
                            end += 1;
                        }
                        self.pos = end;
                    }
                    None => return,
                },
                _ => return,
            }
        }
    }

    /// Whether the parenthesis here holds an initial value, and not parameters.
    pub(super) fn is_initial_value(&self) -> bool {
        let next = self.pos + 1;
        self.is_cpp()
            && match self.tok_at(next) {
                Tok::Number | Tok::Char | Tok::Str | Tok::Punct("-" | "(" | "&") => true,
                Tok::Ident => {
                    let word = self.word_at(next);
                    let known = matches!(
                        self.scopes.lookup(word),
                        Some(Symbol::Object(_) | Symbol::Constant(_) | Symbol::Function(_))
                    );
                    known || matches!(word, "true" | "false" | "nullptr" | "new" | "static_cast")
                }
                _ => false,
            }
    }
}

/// The part behind `std::` of a name.
pub(crate) fn of_standard(name: &str) -> Option<&str> {
    name.strip_prefix("::").unwrap_or(name).strip_prefix("std::")
}

/// Words that start a statement, and no declaration.
fn is_statement_word(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "goto"
            | "case"
            | "delete"
            | "throw"
            | "new"
            | "using"
            | "namespace"
            | "template"
            | "operator"
            | "co_return"
            | "co_yield"
            | "co_await"
            | "break"
            | "continue"
            | "default"
            | "else"
            | "do"
            | "for"
            | "while"
            | "if"
            | "switch"
            | "sizeof"
            | "this"
            | "try"
            | "catch"
            | "public"
            | "private"
            | "protected"
    )
}
