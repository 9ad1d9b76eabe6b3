//! Parses rule files. Parsing never fails as a whole: it returns what it can read, and one error
//! for each statement that it cannot read.

mod expr;
mod pattern;

use loops::{Code, Diagnostic, Span};

use crate::lex::{Comment, Spanned, Token, clip, lex};
use crate::rule::{
    Action, Binding, Clause, Count, Index, Line, Name, OperatorClass, OperatorVariable, Place, Rule,
    RuleFile, Trait,
};

/// Expressions and patterns nest no deeper than this.
pub const MAX_DEPTH: usize = 200;
/// A rule file is no longer than this, in bytes.
pub const MAX_SOURCE: usize = 4 << 20;
/// No more errors than this are told of one text.
const MAX_ERRORS: usize = 50;
/// Words that can't be names.
pub(crate) const KEYWORDS: [&str; 23] = [
    "rule", "match", "where", "keep", "replace", "let", "if", "then", "else", "for", "in", "is", "and", "or",
    "not", "case", "either", "const", "true", "false", "none", "inf", "nan",
];

/// The rules of a text, and its syntax errors (`R0101` to `R0104`). If there are errors, the
/// statements that could not be read are missing.
pub fn parse(source: &str) -> (RuleFile, Vec<Diagnostic>) {
    if source.len() > MAX_SOURCE {
        let text = format!("the rule file has {} bytes; {MAX_SOURCE} are read", source.len());
        return (RuleFile::default(), vec![Diagnostic::general(Code("R0104"), text)]);
    }
    let lexed = lex(source);
    let mut parser = Parser {
        source,
        tokens: lexed.tokens,
        at: 0,
        comments: lexed.comments,
        next_comment: 0,
        inside: 0,
        depth: 0,
        errors: lexed.errors,
    };
    let file = parser.file();
    parser.errors.sort_by_key(|d| d.labels.first().map(|l| l.span.start));
    (file, parser.errors)
}

/// What stopped the reading of a statement; it has been told.
pub(crate) struct Stop;

pub(crate) type Read<T> = Result<T, Stop>;

pub(crate) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Spanned>,
    at: usize,
    comments: Vec<Comment>,
    next_comment: usize,
    /// Open brackets inside a statement: where there are some, line ends don't count.
    pub(crate) inside: usize,
    depth: usize,
    errors: Vec<Diagnostic>,
}

impl Parser<'_> {
    // ---- tokens
    // --------------------------------------------------------------------------------------

    pub(crate) fn token(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(crate) fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].token
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span from `start` to the token before this one.
    pub(crate) fn since(&self, start: Span) -> Place {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        Place(if last.end < start.end { start } else { start.to(last) })
    }

    /// Whether the statement may go on with this token: it stands on the same line, or a bracket is
    /// open.
    pub(crate) fn goes_on(&self) -> bool {
        self.inside > 0 || !self.tokens[self.at].fresh
    }

    pub(crate) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(s) if *s == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if w == word)
    }

    pub(crate) fn eat_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, sign: &'static str, what: &str) -> Read<()> {
        if self.eat_sign(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}` {what}")) }
    }

    /// A name that is not a keyword.
    pub(crate) fn name(&mut self, what: &str) -> Read<Name> {
        match self.token() {
            Token::Word(w) if !KEYWORDS.contains(&w.as_str()) && w != "_" => {
                let name = Name { text: w.clone(), place: Place(self.span()) };
                self.advance();
                Ok(name)
            }
            Token::Word(w) if KEYWORDS.contains(&w.as_str()) => {
                let text = format!("`{w}` is a reserved word and can't be {what}");
                self.error("R0102", text, "choose another name")
            }
            _ => self.unexpected(what),
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self.token() {
            Token::Word(w) => format!("`{}`", clip(w)),
            Token::Int(_) | Token::Float(_) => format!("`{}`", clip(self.text())),
            Token::Str(_) => "a string".into(),
            Token::Sign(s) => format!("`{s}`"),
            Token::End => "the end of the file".into(),
        }
    }

    fn text(&self) -> &str {
        let span = self.span();
        &self.source[span.start as usize..span.end as usize]
    }

    pub(crate) fn unexpected<T>(&mut self, wanted: &str) -> Read<T> {
        let text = format!("expected {wanted}, found {}", self.describe());
        self.error("R0102", text, "here")
    }

    pub(crate) fn error<T>(&mut self, code: &'static str, text: String, label: &str) -> Read<T> {
        self.tell(Diagnostic::error(Code(code), text, self.span(), label));
        Err(Stop)
    }

    pub(crate) fn tell(&mut self, diagnostic: Diagnostic) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(diagnostic);
        }
    }

    /// Where reading is, to come back to.
    pub(crate) fn state(&self) -> (usize, usize, usize) {
        (self.at, self.inside, self.depth)
    }

    /// Goes back to where reading was.
    pub(crate) fn restore(&mut self, (at, inside, depth): (usize, usize, usize)) {
        (self.at, self.inside, self.depth) = (at, inside, depth);
    }

    /// Runs `read` one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.error("R0103", format!("more than {MAX_DEPTH} levels of nesting"), "too deep");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Runs `read` inside brackets, where line ends don't count.
    pub(crate) fn bracketed<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.inside += 1;
        let result = read(self);
        self.inside -= 1;
        result
    }

    /// Items with commas between them up to the sign `close`, which is read too. A comma may follow
    /// the last.
    pub(crate) fn list<T>(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.bracketed(|p| {
            let mut items = Vec::new();
            while !p.is_sign(close) {
                items.push(item(p)?);
                if !p.is_sign(close) {
                    p.expect(",", &format!("or `{close}`"))?;
                }
            }
            p.advance();
            Ok(items)
        })
    }

    // ---- comments
    // --------------------------------------------------------------------------------------

    /// The comments that stand before this token.
    fn comments_above(&mut self) -> Vec<String> {
        let here = self.span().start;
        let mut found = Vec::new();
        while let Some(comment) = self.comments.get(self.next_comment).filter(|c| c.at < here) {
            found.push(comment.text.clone());
            self.next_comment += 1;
        }
        found
    }

    /// The comment behind the statement that ends with the last token; those inside the statement
    /// are returned first.
    fn comments_behind(&mut self, above: &mut Vec<String>) -> Option<String> {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        while let Some(comment) = self.comments.get(self.next_comment).filter(|c| c.at < end) {
            above.push(comment.text.clone());
            self.next_comment += 1;
        }
        let comment = self.comments.get(self.next_comment)?;
        if !comment.trailing || comment.at >= self.span().start {
            return None;
        }
        self.next_comment += 1;
        Some(comment.text.clone())
    }

    // ---- rules
    // --------------------------------------------------------------------------------------

    fn file(&mut self) -> RuleFile {
        let mut file = RuleFile::default();
        loop {
            let comments = self.comments_above();
            if matches!(self.token(), Token::End) {
                file.comments = comments;
                return file;
            }
            self.inside = 0;
            self.depth = 0;
            if !self.is_word("rule") {
                let _: Read<()> = self.unexpected("`rule`");
                self.skip_to_rule();
                continue;
            }
            match self.rule(comments) {
                Ok(rule) => file.rules.push(rule),
                Err(Stop) => self.skip_to_rule(),
            }
        }
    }

    /// On to the next line that begins with `rule`.
    fn skip_to_rule(&mut self) {
        while !(matches!(self.token(), Token::End) || self.is_word("rule") && self.tokens[self.at].fresh) {
            self.advance();
        }
    }

    fn rule(&mut self, comments: Vec<String>) -> Read<Rule> {
        self.advance();
        let name = self.name("the name of the rule")?;
        let mut rule = Rule { comments, name: name.text, place: name.place, ..Rule::default() };
        if self.eat_sign("[") {
            rule.indices = self.list("]", Parser::index)?;
        }
        if self.eat_sign("(") {
            rule.operators = self.list(")", Parser::operator_variable)?;
        }
        if self.eat_word("for") {
            if !self.eat_word("finite") {
                return self.unexpected("`finite`: a rule may say that it is for finite values");
            }
            rule.finite = true;
        }
        self.expect("{", "and the body of the rule")?;
        if !self.is_word("match") {
            return self.unexpected("`match` and the pattern");
        }
        self.advance();
        rule.source = self.lines(Parser::binding);
        while !self.is_sign("}") {
            if self.eat_word("where") {
                rule.conditions.extend(self.lines(Parser::clause));
            } else if self.eat_word("keep") {
                rule.keep.extend(self.lines(Parser::kept).into_iter().flat_map(|l| l.value));
            } else if self.eat_word("replace") {
                rule.target.extend(self.lines(Parser::action));
            } else {
                return self.unexpected("`where`, `keep`, `replace` or `}`");
            }
        }
        self.advance();
        Ok(rule)
    }

    fn index(&mut self) -> Read<Index> {
        let name = self.name("an index symbol")?;
        self.expect(":", "and the number of branches")?;
        let low = self.expr()?;
        let count = if !self.eat_sign("..") {
            Count::Exactly(low)
        } else if self.is_sign(",") || self.is_sign("]") {
            Count::AtLeast(low)
        } else {
            Count::Between(low, self.expr()?)
        };
        Ok(Index { name, count })
    }

    fn operator_variable(&mut self) -> Read<OperatorVariable> {
        let name = self.name("an operator variable")?;
        self.expect(":", "and a class of operators")?;
        let mut class = vec![self.operator_class()?];
        while self.eat_sign("|") {
            class.push(self.operator_class()?);
        }
        Ok(OperatorVariable { name, class })
    }

    fn operator_class(&mut self) -> Read<OperatorClass> {
        let place = Place(self.span());
        if let Token::Word(word) = self.token()
            && let Some((_, t)) = Trait::ALL.iter().find(|(n, _)| n == word)
        {
            self.advance();
            return Ok(OperatorClass::Trait(*t, place));
        }
        Ok(OperatorClass::Named(self.operator_name()?))
    }

    /// Whether a section ends here.
    fn at_section_end(&self) -> bool {
        match self.token() {
            Token::End => true,
            Token::Sign(s) => *s == "}",
            Token::Word(w) => ["where", "keep", "replace", "match", "rule"].contains(&w.as_str()),
            _ => false,
        }
    }

    /// Statements up to the next section. One that cannot be read is reported and left out.
    fn lines<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Vec<Line<T>> {
        let mut lines = Vec::new();
        loop {
            while self.eat_sign(";") {}
            if self.at_section_end() {
                return lines;
            }
            let mut comments = self.comments_above();
            (self.inside, self.depth) = (0, 0);
            let result = read(self).and_then(|value| {
                if self.tokens[self.at].fresh || self.is_sign(";") || self.at_section_end() {
                    Ok(value)
                } else {
                    self.unexpected("the end of the statement")
                }
            });
            match result {
                Ok(value) => {
                    let trailing = self.comments_behind(&mut comments);
                    lines.push(Line { comments, value, trailing });
                }
                Err(Stop) => {
                    (self.inside, self.depth) = (0, 0);
                    self.skip_statement();
                }
            }
        }
    }

    /// Skips to the end of the statement: a line on which none of its brackets is open.
    fn skip_statement(&mut self) {
        let mut first = true;
        while !matches!(self.token(), Token::End | Token::Sign(";")) {
            if !first && self.tokens[self.at].fresh && (self.at_section_end() || self.starts_statement()) {
                return;
            }
            // The bracket that closes the rule stands at the start of its line or ends the section.
            if !first && self.is_sign("}") && matches!(self.ahead(1), Token::End) {
                return;
            }
            first = false;
            self.advance();
        }
    }

    /// Whether this line looks like the start of a statement rather than the rest of one.
    fn starts_statement(&self) -> bool {
        match self.token() {
            Token::Word(w) => {
                w == "let"
                    || matches!(self.ahead(1), Token::Sign("=" | "."))
                    || (matches!(self.ahead(1), Token::Sign("[")) && !KEYWORDS.contains(&w.as_str()))
                    || matches!(self.ahead(1), Token::Word(next) if next == "is")
            }
            Token::Sign(s) => *s == "(",
            _ => false,
        }
    }

    fn kept(&mut self) -> Read<Vec<Name>> {
        let mut names = vec![self.name("a call to keep")?];
        while self.eat_sign(",") {
            names.push(self.name("a call to keep")?);
        }
        Ok(names)
    }

    fn clause(&mut self) -> Read<Clause> {
        if self.eat_word("let") {
            let (name, value) = self.definition()?;
            return Ok(Clause::Let(name, value));
        }
        Ok(Clause::Require(self.expr()?))
    }

    fn action(&mut self) -> Read<Action> {
        if self.eat_word("let") {
            let (name, value) = self.definition()?;
            return Ok(Action::Let(name, value));
        }
        Ok(Action::Bind(self.binding()?))
    }

    fn definition(&mut self) -> Read<(Name, crate::rule::Expr)> {
        let name = self.name("a name")?;
        self.expect("=", "and a value")?;
        Ok((name, self.expr()?))
    }

    fn binding(&mut self) -> Read<Binding> {
        let tuple = self.eat_sign("(");
        let names = if tuple {
            self.list(")", |p| if p.eat_word("_") { Ok(None) } else { Ok(Some(p.var()?)) })?
        } else {
            vec![Some(self.var()?)]
        };
        self.expect("=", "and a pattern")?;
        let pattern = self.pattern()?;
        Ok(Binding { names, tuple, pattern })
    }
}
