//! Where the names of a function's body occur, and what happens to them there, as far as tokens
//! tell. This can show that a value is *not* used or changed, never that it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::lexer::Tok;
use crate::region::owner;
use crate::source::Source;

/// The functions that a text defines, nested ones as well: names before a parenthesis that a body
/// follows.
pub fn defined<'s>(source: &Source<'s>) -> BTreeSet<&'s str> {
    let tokens = &source.tokens;
    let is = |k: usize, p: &str| matches!(tokens.get(k).map(|t| t.tok), Some(Tok::Punct(q)) if q == p);
    let is_name = |k: usize| tokens.get(k).is_some_and(|t| t.tok == Tok::Ident);
    let mut found = BTreeSet::new();
    // The name before each open parenthesis, as in `f(` or `(f)(`.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut braces = 0usize;
    for k in crate::cpp_declarations::own_tokens(source) {
        match tokens[k].tok {
            Tok::Punct("{") => braces += 1,
            Tok::Punct("}") => braces = braces.saturating_sub(1),
            Tok::Punct("(") => open.push(match k {
                1.. if is_name(k - 1) => Some(k - 1),
                3.. if is(k - 1, ")") && is_name(k - 2) && is(k - 3, "(") => Some(k - 2),
                _ => None,
            }),
            Tok::Punct(")") => {
                let Some(Some(name)) = open.pop() else { continue };
                // `double f(x) double x; { … }` is a definition, too.
                let old = braces == 0
                    && is_name(k + 1)
                    && matches!(
                        source.token_text(k + 1),
                        "register"
                            | "const"
                            | "double"
                            | "float"
                            | "int"
                            | "long"
                            | "unsigned"
                            | "short"
                            | "char"
                    );
                if is(k + 1, "{") || old {
                    found.insert(source.token_text(name));
                }
            }
            _ => {}
        }
    }
    found
}

/// The identifiers of a function's body.
pub struct Uses<'s> {
    source: &'s Source<'s>,
    /// Tokens of each identifier (and keyword), in order.
    tokens: BTreeMap<&'s str, Vec<usize>>,
    /// Whether a lambda captures by reference whatever it uses.
    captured: bool,
}

impl<'s> Uses<'s> {
    /// The identifiers of a range of tokens.
    pub fn of(source: &'s Source<'s>, body: Range<usize>) -> Uses<'s> {
        let mut tokens: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let is = |k: usize, p: &str| matches!(source.tokens[k].tok, Tok::Punct(q) if q == p);
        let captures = |k: usize| is(k, "[") && is(k + 1, "&") && (is(k + 2, "]") || is(k + 2, ","));
        let captured = source.is_cpp() && body.clone().any(captures);
        for k in body.filter(|k| source.tokens[*k].tok == Tok::Ident) {
            tokens.entry(source.token_text(k)).or_default().push(k);
        }
        Uses { source, tokens, captured }
    }

    /// All identifiers and keywords.
    pub fn names(&self) -> impl Iterator<Item = &'s str> + '_ {
        self.tokens.keys().copied()
    }

    fn is_punct(&self, token: usize, any: &[&str]) -> bool {
        matches!(self.source.tokens.get(token).map(|t| t.tok), Some(Tok::Punct(p)) if any.contains(&p))
    }

    /// Tokens in a range that name an object (and no member). For a member `p[].x`, the tokens that
    /// name the object `p`.
    fn named(&self, name: &str, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let name = owner(name);
        let all = self.tokens.get(name).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|k| *k < range.start);
        let last = all.partition_point(|k| *k < range.end);
        let some = all.get(first..last).unwrap_or(&[]);
        some.iter().copied().filter(|k| !(*k > 0 && self.is_punct(k - 1, &[".", "->"])))
    }

    /// Where an object is assigned, counted or has its address taken, its declaration left out.
    pub(crate) fn assigned_in(&self, name: &str, range: Range<usize>, declared: usize) -> Option<usize> {
        const ASSIGN: [&str; 13] =
            ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
        // Of several in one declaration, `double *x = …, *y = …;`, only the first one is seen to be
        // a declarator by what is before it.
        self.named(name, range).filter(|k| *k != declared).find(|k| {
            let (first, mut last) = self.in_parentheses(*k);
            if owner(name) != name {
                // Handed on as a whole, it may be changed there.
                if !self.is_punct(last + 1, &[".", "->", "["]) && !self.is_declarator(*k) {
                    return true;
                }
                last = self.path_end(last);
            }
            (self.is_punct(last + 1, &ASSIGN) && !self.is_declarator(*k))
                || (first > 0 && self.is_punct(first - 1, &["++", "--"]))
                || self.is_address(*k)
        })
    }

    /// The number that a variable surely holds where a range ends, in the block where it was set or
    /// in one inside: the last thing that happens to it there is that it is set to that number.
    ///
    /// The range must not be in a loop that does not hold all of it.
    pub(crate) fn constant_at_end(&self, name: &str, range: Range<usize>) -> Option<i64> {
        let jumps = |k: usize| {
            self.source.tokens[k].tok == Tok::Ident
                && matches!(self.source.token_text(k), "goto" | "switch" | "case" | "default")
        };
        let last = self.named(name, range.clone()).last()?;
        let begins = self.is_declarator(last) || self.is_punct(last - 1, &[";", "{", "}", ","]);
        if !begins || !self.is_punct(last + 1, &["="]) || range.clone().any(jumps) {
            return None;
        }
        // `int i, j = 0;`: a declaration goes back to a word of a type.
        if self.is_punct(last - 1, &[","]) {
            let first = (0..last).rev().find(|k| self.is_punct(*k, &[";", "{", "}", "(", ")"]))?;
            if self.is_punct(first, &["(", ")"]) || self.source.tokens[first + 2].tok != Tok::Ident {
                return None;
            }
        }
        let negative = self.is_punct(last + 2, &["-"]);
        let number = last + 2 + usize::from(negative);
        if self.source.tokens.get(number)?.tok != Tok::Number || !self.is_punct(number + 1, &[";", ","]) {
            return None;
        }
        let value: i64 = self.source.token_text(number).parse().ok()?;
        let mut depth = 0isize;
        for k in last..range.end {
            match self.source.tokens[k].tok {
                Tok::Punct("{") => depth += 1,
                Tok::Punct("}") => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return None;
            }
        }
        // The body of a statement without braces may not run.
        let before = self.source.tokens[last - 1].tok;
        let plain = self.is_declarator(last) || matches!(before, Tok::Punct(";" | "{" | ","));
        plain.then_some(if negative { -value } else { value })
    }

    /// The last token of the subscripts and members after a name.
    fn path_end(&self, token: usize) -> usize {
        let (mut last, mut depth) = (token, 0usize);
        loop {
            match self.source.tokens.get(last + 1).map(|t| t.tok) {
                Some(Tok::Punct("[")) => depth += 1,
                Some(Tok::Punct("]")) if depth > 0 => depth -= 1,
                Some(Tok::Punct("." | "->")) if depth == 0 => last += 1,
                Some(_) if depth > 0 => {}
                _ => return last,
            }
            last += 1;
        }
    }

    /// The parentheses around a name alone, as macros put them.
    fn in_parentheses(&self, token: usize) -> (usize, usize) {
        let (mut first, mut last) = (token, token);
        while first > 0 && self.is_punct(first - 1, &["("]) && self.is_punct(last + 1, &[")"]) {
            (first, last) = (first - 1, last + 1);
        }
        (first, last)
    }

    /// Whether a name stands where it is declared: after a word that starts no statement, or after
    /// a `*` that follows such a word.
    fn is_declarator(&self, token: usize) -> bool {
        let mut k = token;
        while k > 0 && self.is_punct(k - 1, &["*"]) {
            k -= 1;
        }
        k > 0
            && self.source.tokens[k - 1].tok == Tok::Ident
            && !matches!(self.source.token_text(k - 1), "return" | "else" | "do" | "case" | "sizeof")
    }

    fn is_address(&self, token: usize) -> bool {
        let operand = |k: usize| {
            // `(double *)&x` is a cast.
            let cast = self.is_punct(k, &[")"]) && self.is_punct(k - 1, &["*"]);
            matches!(self.source.tokens[k].tok, Tok::Ident | Tok::Number | Tok::Char)
                && !matches!(self.source.token_text(k), "return" | "sizeof" | "else" | "case")
                || (self.is_punct(k, &[")", "]"]) && !cast)
        };
        if self.source.is_cpp() && self.may_bind(token) {
            return true;
        }
        let (first, _) = self.in_parentheses(token);
        first > 0 && self.is_punct(first - 1, &["&"]) && !(first > 1 && operand(first - 2))
    }

    /// Whether a reference may be bound to a name: it is an argument, an initial value, what `>>`
    /// reads into, or a lambda may capture it.
    fn may_bind(&self, token: usize) -> bool {
        let (first, _) = self.in_parentheses(token);
        let argument = match first == token {
            true => self.is_punct(token - 1, &["(", ",", "{"]) && self.is_punct(token + 1, &[",", ")", "}"]),
            false => self.is_called(first - 1) || self.is_punct(first - 1, &[">"]),
        };
        // `T &r = name;`
        let initial = self.is_punct(first - 1, &["="]) && self.is_punct(first - 3, &["&", "&&"]);
        argument || initial || self.is_punct(first - 1, &[">>"]) || self.captured
    }

    /// Whether a token is the name of what is called by a parenthesis behind it.
    fn is_called(&self, token: usize) -> bool {
        let headers = ["if", "while", "switch", "return", "sizeof", "for", "else", "case"];
        self.source.tokens[token].tok == Tok::Ident && !headers.contains(&self.source.token_text(token))
    }

    /// Where a pointer to the data of an object of `dims` dimensions may be taken: any use other
    /// than an element with all its subscripts.
    pub(crate) fn pointed_into(
        &self,
        name: &str,
        dims: usize,
        mut ranges: impl Iterator<Item = Range<usize>>,
    ) -> bool {
        ranges.any(|range| {
            self.named(name, range.clone())
                .any(|k| self.is_address(k) || self.subscripts(k, range.end) < dims)
        })
    }

    /// How many subscripts follow a name.
    fn subscripts(&self, token: usize, end: usize) -> usize {
        let (mut depth, mut found) = (0usize, 0);
        for k in token + 1..end {
            match self.source.tokens[k].tok {
                Tok::Punct("[") => depth += 1,
                Tok::Punct("]") if depth > 0 => {
                    depth -= 1;
                    found += usize::from(depth == 0);
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        found
    }

    /// Whether the address of an object is taken anywhere.
    pub(crate) fn address_taken(&self, name: &str) -> bool {
        self.named(name, 0..usize::MAX).any(|k| self.is_address(k))
    }

    /// Where an object's value may be used, its declaration left out. With `counted`, loops that
    /// set it first do not count.
    pub(crate) fn used_in(
        &self,
        name: &str,
        range: Range<usize>,
        declared: usize,
        counted: bool,
    ) -> Option<usize> {
        let mut uses = self.named(name, range.clone()).filter(|k| *k != declared);
        if !counted {
            return uses.next();
        }
        // Loops over the name: from `for ( … name =` to the end of the loop.
        let mut covered: Option<Range<usize>> = None;
        uses.find(|k| {
            if covered.as_ref().is_some_and(|c| c.contains(k)) {
                return false;
            }
            match self.loop_over(*k, &range) {
                Some(whole) => {
                    covered = Some(whole);
                    false
                }
                None => true,
            }
        })
    }

    /// Whether the first use of an object in a range sets it, and surely happens.
    pub(crate) fn is_set_first(&self, name: &str, range: Range<usize>) -> bool {
        self.named(name, range.clone()).next().is_some_and(|first| self.set_before(first, &range))
    }

    /// Whether a statement of its own, `name = …;` without the name on the right, sets the name at
    /// a token, and surely runs after the start of the range: it is in the same block, and nothing
    /// between jumps.
    fn set_before(&self, token: usize, range: &Range<usize>) -> bool {
        let mut depth = 0isize;
        for k in range.start..token {
            match self.source.tokens[k].tok {
                Tok::Punct("(" | "[" | "{") => depth += 1,
                Tok::Punct(")" | "]" | "}") => depth -= 1,
                Tok::Ident
                    if matches!(
                        self.source.token_text(k),
                        "goto" | "break" | "continue" | "case" | "default"
                    ) =>
                {
                    return false;
                }
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        let name = self.source.token_text(token);
        let begins = token == range.start || self.is_punct(token - 1, &[";", "}"]);
        let value: Vec<usize> = (token + 2..range.end).take_while(|k| !self.is_punct(*k, &[";"])).collect();
        let plain = value.iter().all(|k| self.source.token_text(*k) != name && !self.is_punct(*k, &[","]));
        depth == 0 && begins && plain && self.is_punct(token + 1, &["="])
    }

    /// The loop whose header starts by setting the variable at a token.
    fn loop_over(&self, token: usize, range: &Range<usize>) -> Option<Range<usize>> {
        if !self.is_punct(token + 1, &["="]) {
            return None;
        }
        // `for (`, perhaps with the words of a type between.
        let mut k = token;
        while k > range.start && token - k < 6 && self.source.tokens[k - 1].tok == Tok::Ident {
            k -= 1;
        }
        let opens = k >= range.start + 2 && self.is_punct(k - 1, &["("]);
        let is_for = opens && self.source.token_text(k - 2) == "for";
        // `for (i = i + 1; …` reads before it sets.
        let name = self.source.token_text(token);
        let first = (token + 2..range.end).take_while(|k| !self.is_punct(*k, &[";"]));
        let reads = first.into_iter().any(|k| self.source.token_text(k) == name);
        (is_for && !reads).then(|| k - 2..self.statement_end(k - 2, range.end))
    }

    /// The token behind a loop; that of `do` ends with its condition.
    pub(crate) fn loop_end(&self, first: usize, end: usize) -> usize {
        let behind = self.statement_end(first, end);
        let tested = self.source.token_text(first) == "do" && behind < end;
        match tested && self.source.token_text(behind) == "while" {
            true => self.statement_end(behind, end),
            false => behind,
        }
    }

    /// The end of the statement that starts with a loop's header: a block, or up to a `;`.
    pub(crate) fn statement_end(&self, mut k: usize, end: usize) -> usize {
        let mut depth = 0usize;
        while k < end {
            match self.source.tokens[k].tok {
                Tok::Punct("(" | "[" | "{") => depth += 1,
                Tok::Punct(")" | "]") => depth = depth.saturating_sub(1),
                Tok::Punct("}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return k + 1;
                    }
                }
                Tok::Punct(";") if depth == 0 => return k + 1,
                _ => {}
            }
            k += 1;
        }
        end
    }
}
