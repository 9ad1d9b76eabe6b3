//! Types as written, and the type schemes of the table of primitives.

use loops::{Name, Scalar};

use super::ast::{BinOp, Type, TypeKind};
use super::parser::Parser;
use super::token::TokenKind;

impl Parser<'_> {
    /// A type: `s -> t`, or one without an arrow.
    pub(super) fn ty(&mut self) -> Type {
        self.deeper(Self::ty_here).unwrap_or_else(|| Type::new(TypeKind::Error, self.span()))
    }

    fn ty_here(&mut self) -> Type {
        let start = self.span();
        if self.is("{") && self.peek(1) == TokenKind::Name && self.peek(2) == TokenKind::Symbol("}") {
            self.advance();
            let name = self.ident("a size");
            self.advance();
            self.expect("->", Some(start));
            let result = self.ty();
            let span = start.to(result.span);
            return match name {
                Some(name) => self.type_node(TypeKind::SizeFun(name, Box::new(result)), span),
                None => Type::new(TypeKind::Error, span),
            };
        }
        let left = self.ty_prefix();
        if !self.eat("->") {
            return left;
        }
        let right = self.ty();
        let span = start.to(right.span);
        self.type_node(TypeKind::Fun(Box::new(left), Box::new(right)), span)
    }

    fn ty_prefix(&mut self) -> Type {
        self.deeper(Self::ty_prefix_here).unwrap_or_else(|| Type::new(TypeKind::Error, self.span()))
    }

    fn ty_prefix_here(&mut self) -> Type {
        let start = self.span();
        if self.is("[") {
            let opened = self.advance().span;
            let size = self.expr();
            self.close("]", opened);
            let element = self.ty_prefix();
            let span = start.to(element.span);
            return self.type_node(TypeKind::Array(Box::new(size), Box::new(element)), span);
        }
        if self.is("(") {
            return self.ty_parenthesis();
        }
        if self.kind() != TokenKind::Name {
            self.expected("a type", None);
            if !self.at_item() && !matches!(self.kind(), TokenKind::Symbol(")" | "]" | "}" | "=" | ",")) {
                self.advance();
            }
            return Type::new(TypeKind::Error, start);
        }
        let ident = self.ident("a type").expect("it is a name");
        if let Some(scalar) = Scalar::ALL.into_iter().find(|s| s.keyword() == ident.name.as_str()) {
            return self.type_node(TypeKind::Scalar(scalar), start);
        }
        match ident.name.as_str() {
            "idx" => {
                let size = self.size_atom();
                let span = start.to(self.last_span());
                self.type_node(TypeKind::Idx(Box::new(size)), span)
            }
            "vec" => {
                let size = self.size_atom();
                let element = self.ty_prefix();
                let span = start.to(element.span);
                self.type_node(TypeKind::Vector(Box::new(size), Box::new(element)), span)
            }
            _ => {
                let mut sizes = Vec::new();
                while self.at_size_atom() {
                    sizes.push(self.size_atom());
                }
                let span = start.to(self.last_span());
                self.type_node(TypeKind::Name(ident, sizes), span)
            }
        }
    }

    /// `{x y: t, z: s}`: the fields of a record.
    pub(super) fn record_type(&mut self) -> Option<Type> {
        let opened = self.advance().span;
        let mut fields = Vec::new();
        loop {
            let names = self.idents("a field")?;
            if !self.expect(":", Some(opened)) {
                return None;
            }
            let ty = self.ty();
            fields.extend(names.into_iter().map(|name| (name, ty.clone())));
            if !self.eat(",") {
                break;
            }
        }
        let span = opened.to(self.close("}", opened));
        Some(self.type_node(TypeKind::Record(fields), span))
    }

    /// `(t)` or `(s, t, ...)`, which nests to the right.
    fn ty_parenthesis(&mut self) -> Type {
        let opened = self.advance().span;
        let mut parts = vec![self.ty()];
        while self.eat(",") {
            parts.push(self.ty());
        }
        let span = opened.to(self.close(")", opened));
        let mut ty = parts.pop().expect("at least one part");
        while let Some(first) = parts.pop() {
            ty = self.type_node(TypeKind::Pair(Box::new(first), Box::new(ty)), span);
        }
        ty.span = span;
        ty
    }
}

/// The parts of a scheme of the table: constraints (class and variable) and type.
///
/// # Panics
/// If the table holds a scheme that can't be read; a test reads them all.
pub(crate) fn parse_scheme(scheme: &str) -> (Vec<(Name, Name)>, Type) {
    let (constraints, ty) = scheme.split_once("=>").unwrap_or(("", scheme));
    let constraints = constraints
        .split(',')
        .filter_map(|c| c.trim().split_once(' '))
        .map(|(class, variable)| (Name::new(class), Name::new(variable.trim())))
        .collect();
    let mut parser = Parser::new(ty);
    let ty = parser.ty();
    assert!(
        parser.diagnostics.is_empty() && parser.kind() == TokenKind::End,
        "scheme `{scheme}`: {:?}",
        parser.diagnostics
    );
    (constraints, ty)
}

/// A relation between sizes such as `k <= n`, of the table of what primitives demand.
///
/// # Panics
/// If the text is not a relation.
pub(crate) fn parse_relation(text: &str) -> super::ast::FactExpr {
    let mut parser = Parser::new(text);
    let fact = parser.fact();
    assert!(parser.diagnostics.is_empty(), "`{text}`: {:?}", parser.diagnostics);
    fact.unwrap_or_else(|| panic!("`{text}` is not a relation"))
}

impl BinOp {
    /// Whether the operator is one of the relations of `where`.
    pub(crate) fn is_fact(self) -> bool {
        matches!(self, BinOp::Eq | BinOp::Le | BinOp::Lt | BinOp::Ge | BinOp::Gt)
    }
}
