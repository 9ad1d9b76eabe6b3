//! Items of a file: imports, type abbreviations, definitions, strategies. Not here: rules (`rule`).

use loops::{Code, Diagnostic, Span};

use super::ast::{
    Def, ExprKind, FactExpr, Ident, Import, Module, Param, StrategyText, TypeDef, TypeKind, TypeParam,
};
use super::parser::Parser;
use super::token::{Keyword, TokenKind};

impl Parser<'_> {
    /// All items up to the end of the file. An item with an error is left out, and the next one is
    /// read.
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::default();
        while self.kind() != TokenKind::End {
            let errors = self.errors;
            self.errors_before_item = errors;
            match self.kind() {
                TokenKind::Keyword(Keyword::Def) => {
                    if let Some(def) = self.def().filter(|_| self.errors == errors) {
                        module.defs.push(def);
                    }
                }
                TokenKind::Keyword(Keyword::Type) => {
                    if let Some(def) = self.type_def().filter(|_| self.errors == errors) {
                        module.types.push(def);
                    }
                }
                TokenKind::Keyword(Keyword::Import) => {
                    self.advance();
                    let span = self.span();
                    if self.kind() == TokenKind::Text {
                        self.advance();
                        let path = self.text(span).trim_matches('"').to_owned();
                        module.imports.push(Import { path, span });
                    } else {
                        self.expected("the name of a file in double quotes", None);
                    }
                }
                TokenKind::Keyword(Keyword::Strategy) => {
                    if let Some(strategy) = self.strategy() {
                        module.strategies.push(strategy);
                        continue;
                    }
                }
                TokenKind::Keyword(Keyword::Rule) => {
                    if let Some(rule) = self.rule().filter(|_| self.errors == errors) {
                        module.rules.push(rule);
                    }
                }
                _ => self.expected("`def`, `type`, `import`, `strategy` or `rule`", None),
            }
            if self.errors > errors {
                self.skip_item();
            } else if !self.at_item() {
                self.expected("an operator, or a new definition", None);
                self.skip_item();
            }
        }
        module
    }

    fn skip_item(&mut self) {
        while !self.at_item() {
            self.advance();
        }
    }

    fn strategy(&mut self) -> Option<StrategyText> {
        let start = self.advance().span;
        let name = self.ident("the name of the strategy")?;
        if !self.expect("=", Some(start)) {
            return None;
        }
        let from = self.last_span().end;
        self.skip_item();
        let span = Span { start: from, end: self.last_span().end };
        Some(StrategyText { name, text: self.text(span).to_owned(), span })
    }

    fn type_def(&mut self) -> Option<TypeDef> {
        let start = self.advance().span;
        let name = self.ident("the name of the type")?;
        let mut sizes = Vec::new();
        while self.kind() == TokenKind::Name {
            sizes.extend(self.ident("a size"));
        }
        self.expect("=", Some(start));
        let body = if self.is("{") { self.record_type()? } else { self.ty() };
        Some(TypeDef { name, sizes, body })
    }

    /// Reads `[n m]` or `{t: num}` in the head of a definition or rule; whether it was there.
    pub(super) fn sizes_or_types(
        &mut self,
        sizes: &mut Vec<Ident>,
        types: &mut Vec<TypeParam>,
    ) -> Option<bool> {
        let opened = self.span();
        if self.eat("[") {
            sizes.extend(self.idents("a size parameter")?);
            self.close("]", opened);
        } else if self.eat("{") {
            let names = self.idents("a type parameter")?;
            let class = if self.eat(":") { Some(self.ident("a constraint")?) } else { None };
            self.close("}", opened);
            types.extend(names.into_iter().map(|name| TypeParam { name, class: class.clone() }));
        } else {
            return Some(false);
        }
        Some(true)
    }

    fn def(&mut self) -> Option<Def> {
        let start = self.advance().span;
        let doc = self.doc_above(start);
        let name = self.ident("the name of the definition")?;
        let (mut sizes, mut types, mut params) = (Vec::new(), Vec::new(), Vec::new());
        let mut explicit = Vec::new();
        loop {
            let opened = self.span();
            if self.sizes_or_types(&mut sizes, &mut types)? {
                continue;
            }
            if self.eat("(") {
                let names = self.idents("a parameter")?;
                if !self.eat(":") {
                    self.expected("`:` and the type of the parameter", Some(opened));
                    return None;
                }
                let ty = self.ty();
                self.close(")", opened);
                if matches!(&ty.kind, TypeKind::Name(name, _) if name.name.as_str() == "size") {
                    if !params.is_empty() {
                        let message = "size parameters come before other parameters";
                        self.report(Diagnostic::error(Code("F0107"), message, ty.span, "too late"));
                    }
                    sizes.extend(names.iter().cloned());
                    explicit.extend(names);
                    continue;
                }
                params.extend(names.into_iter().map(|name| Param { name, ty: ty.clone() }));
            } else {
                break;
            }
        }
        if self.kind() == TokenKind::Name {
            let message = format!("the parameter `{}` has no type", self.text(self.span()));
            let span = self.span();
            let help = format!("write `({}: type)`", self.text(span));
            self.report(
                Diagnostic::error(Code("F0107"), message, span, "expected `(name: type)`").help(help),
            );
            return None;
        }
        let result = if self.eat(":") { Some(self.ty()) } else { None };
        let facts = self.facts()?;
        if !self.expect("=", Some(start)) {
            return None;
        }
        let body = self.expr();
        let span = start.to(body.span);
        Some(Def { name, sizes, explicit, types, params, result, facts, body, span, doc })
    }

    pub(super) fn idents(&mut self, what: &str) -> Option<Vec<Ident>> {
        let mut names = vec![self.ident(what)?];
        while self.kind() == TokenKind::Name {
            names.extend(self.ident(what));
        }
        Some(names)
    }

    /// The relations after `where`, if it stands here.
    pub(super) fn facts(&mut self) -> Option<Vec<FactExpr>> {
        let mut facts = Vec::new();
        if self.eat_word(Keyword::Where) {
            facts.push(self.fact()?);
            while self.eat(",") {
                facts.push(self.fact()?);
            }
        }
        Some(facts)
    }

    /// A relation between sizes.
    pub(super) fn fact(&mut self) -> Option<FactExpr> {
        let expr = self.expr();
        let span = expr.span;
        match expr.kind {
            ExprKind::Binary(relation, left, right) if relation.is_fact() => {
                Some(FactExpr { relation, left: *left, right: *right, span })
            }
            ExprKind::Error => None,
            _ => {
                let message = "after `where` a relation between sizes is needed";
                self.report(
                    Diagnostic::error(Code("F0108"), message, span, "not a relation")
                        .help("relations are `==`, `<=`, `<`, `>=` and `>`"),
                );
                None
            }
        }
    }

    /// The comment lines that end right above `place`, without what belongs to a test block.
    pub(super) fn doc_above(&self, place: Span) -> String {
        let mut next = self.comments.partition_point(|c| c.start < place.start);
        let mut below = place.start as usize;
        let mut lines = Vec::new();
        while next > 0 {
            next -= 1;
            let comment = self.comments[next];
            let between = &self.source[comment.end as usize..below];
            let alone = self.source[..comment.start as usize]
                .rsplit('\n')
                .next()
                .is_some_and(|before| before.trim().is_empty());
            if !alone || between.matches('\n').count() != 1 || !between.trim().is_empty() {
                break;
            }
            let text = self.text(comment).trim_start_matches("--");
            lines.push(text.strip_prefix(' ').unwrap_or(text).trim_end());
            below = comment.start as usize;
        }
        lines.reverse();
        // Test cases and what continues them are not documentation.
        let mut in_case = false;
        lines.retain(|line| {
            in_case = is_case(line) || in_case && line.starts_with("  ");
            !in_case
        });
        lines.join("\n")
    }
}

/// Whether a comment line is a test case or benchmark: `test NAME` or `bench NAME`, followed by
/// settings or nothing.
fn is_case(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("test" | "bench"))
        && words.next().is_some()
        && words.next().is_none_or(|word| word.contains('='))
}
