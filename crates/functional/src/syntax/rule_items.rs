//! Rewrite rules of a program: `rule NAME(sizes) ...: LEFT -> RIGHT where FACTS`.

use loops::{Code, Diagnostic};

use super::ast::{Param, RuleDef, TypeKind};
use super::parser::Parser;
use super::token::TokenKind;

/// The word before a rule that may change the order of additions, as before a strategy.
pub(crate) const REASSOCIATE: &str = "reassociate";

impl Parser<'_> {
    pub(super) fn rule(&mut self) -> Option<RuleDef> {
        let start = self.advance().span;
        let doc = self.doc_above(start);
        let name = self.ident("the name of the rule")?;
        let (mut params, mut sizes, mut types, mut vars) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        loop {
            let opened = self.span();
            if self.sizes_or_types(&mut sizes, &mut types)? {
                continue;
            }
            if self.eat("(") {
                let mut names = self.idents("a size or a variable")?;
                if self.eat(":") {
                    let ty = self.ty();
                    self.close(")", opened);
                    if matches!(&ty.kind, TypeKind::Name(name, _) if name.name.as_str() == "size") {
                        let message = "sizes of a rule are written without a type";
                        let diagnostic = Diagnostic::error(Code("F0107"), message, ty.span, "a size");
                        let written: Vec<&str> = names.iter().map(|n| n.name.as_str()).collect();
                        self.report(diagnostic.help(format!("write `({})`", written.join(", "))));
                    }
                    vars.extend(names.into_iter().map(|name| Param { name, ty: ty.clone() }));
                } else if names.len() > 1 {
                    self.expected("`:` and the type of the variables, or `,`", Some(opened));
                    return None;
                } else {
                    while self.eat(",") {
                        names.extend(self.ident("a size"));
                    }
                    self.close(")", opened);
                    params.extend(names);
                }
            } else {
                break;
            }
        }
        if !self.expect(":", Some(start)) {
            return None;
        }
        let reassociate = self.kind() == TokenKind::Name && self.text(self.span()) == REASSOCIATE;
        if reassociate {
            self.advance();
        }
        let left = self.expr();
        if !self.expect("->", Some(start)) {
            return None;
        }
        let right = self.expr();
        let facts = self.facts()?;
        let span = start.to(self.last_span());
        Some(RuleDef { name, params, sizes, types, vars, reassociate, left, right, facts, span, doc })
    }
}
