//! The formatter: normalises spaces between tokens and indentation. Line breaks and comments stay
//! where the author put them.
//!
//! Formatting twice is formatting once, and the formatted text has the same tree. Strategies are
//! kept as written.

use loops::Diagnostic;

use crate::syntax::ast::BinOp;
use crate::syntax::token::{Keyword, Token, TokenKind, lex};
use crate::syntax::{REASSOCIATE, parse_module};

/// The formatted text.
///
/// # Errors
/// If the text has syntax errors: what can't be read is not touched.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, errors) = parse_module(source);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut formatter = Formatter { source, out: String::new(), ..Formatter::default() };
    formatter.run();
    Ok(formatter.out)
}

/// What stands between brackets, or the part of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Names and parameters of a definition.
    Header,
    /// A type.
    Type,
    /// An expression.
    Expr,
}

/// Indentation does not grow beyond this.
const MAX_INDENT: usize = 60;

#[derive(Clone, Copy)]
enum Piece {
    Token(Token),
    Comment(usize, usize),
}

#[derive(Default)]
struct Formatter<'a> {
    source: &'a str,
    out: String,
    /// Open brackets, and values of `let` up to `in`, innermost last: the mode outside, and the
    /// indentation of their line.
    open: Vec<(Mode, usize)>,
    /// Indentation of this line.
    here: usize,
    mode: Option<Mode>,
    /// The token before, and whether it is a sign in front of its operand.
    last: Option<(TokenKind, bool)>,
    /// Where that token ends in the source.
    end: usize,
    /// Open braces.
    braces: usize,
    /// Whether a `:` belongs to a `let` pattern.
    in_let: bool,
    /// Whether the item is a type abbreviation.
    in_type: bool,
    /// Whether the next `:` outside of brackets ends the head of a rule.
    in_rule: bool,
    /// Whether the item is a rule, whose right side is no part of its left one.
    of_rule: bool,
}

/// Whether an operand has just ended, so that a `-` subtracts.
fn ends_operand(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Name | TokenKind::Number | TokenKind::Text => true,
        TokenKind::Keyword(k) => {
            matches!(k, Keyword::True | Keyword::False | Keyword::Inf | Keyword::Nan)
        }
        TokenKind::Symbol(s) => matches!(s, ")" | "]" | "}" | "_"),
        TokenKind::End => false,
    }
}

impl Formatter<'_> {
    fn run(&mut self) {
        let lexed = lex(self.source);
        let mut pieces: Vec<Piece> = lexed.tokens.iter().copied().map(Piece::Token).collect();
        pieces.extend(lexed.comments.iter().map(|c| Piece::Comment(c.start as usize, c.end as usize)));
        let place = |piece: &Piece| match piece {
            Piece::Token(token) => token.span.start as usize,
            Piece::Comment(start, _) => *start,
        };
        pieces.sort_by_key(place);
        let mut end = 0;
        let mut at = 0;
        while at < pieces.len() {
            let start = place(&pieces[at]);
            let breaks = self.source[end..start].matches('\n').count();
            match pieces[at] {
                Piece::Comment(start, stop) => {
                    self.comment(self.source[start..stop].trim_end().to_owned(), breaks, &pieces[at + 1..]);
                    end = stop;
                }
                Piece::Token(Token { kind: TokenKind::End, .. }) => break,
                Piece::Token(token) if token.kind == TokenKind::Keyword(Keyword::Strategy) => {
                    end = self.strategy(&lexed.tokens, token, breaks);
                    at = pieces.partition_point(|p| place(p) < end);
                    continue;
                }
                Piece::Token(token) => {
                    self.token(token, breaks);
                    end = token.span.end as usize;
                }
            }
            at += 1;
        }
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// A strategy up to the next item, unchanged except for spaces at its end. Comments behind its
    /// last token belong to what follows.
    fn strategy(&mut self, tokens: &[Token], token: Token, breaks: usize) -> usize {
        self.line(breaks, 0);
        let first = tokens.partition_point(|t| t.span.start <= token.span.start);
        let last = tokens[first..]
            .iter()
            .take_while(|t| !matches!(t.kind, TokenKind::End) && !starts_item(t.kind))
            .last()
            .unwrap_or(&token);
        let (start, end) = (token.span.start as usize, last.span.end as usize);
        let lines: Vec<&str> = self.source[start..end].lines().map(str::trim_end).collect();
        self.out.push_str(&lines.join("\n"));
        self.open.clear();
        self.mode = None;
        self.last = Some((TokenKind::Name, false));
        end
    }

    /// Ends the line, if there is one, and indents the next; at most one blank line stays.
    fn line(&mut self, breaks: usize, indent: usize) {
        if !self.out.is_empty() {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.out.push('\n');
            if breaks > 1 {
                self.out.push('\n');
            }
        }
        self.here = indent;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn comment(&mut self, text: String, breaks: usize, next: &[Piece]) {
        if breaks == 0 && !self.out.is_empty() {
            self.out.push(' ');
        } else {
            let next = next.iter().find_map(|p| match p {
                Piece::Token(token) => Some(token.kind),
                Piece::Comment(..) => None,
            });
            let indent = match next {
                Some(kind) if !starts_item(kind) && kind != TokenKind::End => self.indent(kind),
                _ => 0,
            };
            self.line(breaks, indent);
        }
        self.out.push_str(&text);
    }

    /// Indentation of a line that begins with this token.
    fn indent(&self, kind: TokenKind) -> usize {
        let outside = self.open.last().map(|(_, outside)| *outside);
        if let Some(outside) = outside
            && matches!(kind, TokenKind::Symbol(")" | "]" | "}") | TokenKind::Keyword(Keyword::In))
        {
            return outside;
        }
        let base = outside.map_or(2, |outside| outside + 2);
        let last = self.last.map(|(kind, _)| kind);
        let header = self.open.is_empty() && self.mode.is_some_and(|m| m != Mode::Expr);
        // An argument of the application that the line before began.
        let argument = starts_atom(kind) && last.is_some_and(ends_operand);
        let right = self.of_rule && self.open.is_empty() && kind == TokenKind::Symbol("->");
        let indent = if right {
            base
        } else if last == Some(TokenKind::Symbol("->")) {
            base.max(self.here + 2)
        } else if header || argument || continues(kind) {
            base + 2
        } else {
            base
        };
        indent.min(MAX_INDENT)
    }

    fn token(&mut self, token: Token, breaks: usize) {
        let kind = token.kind;
        let item = starts_item(kind);
        if item {
            self.open.clear();
            self.braces = 0;
            self.mode = Some(Mode::Header);
            self.in_let = false;
            self.in_type = kind == TokenKind::Keyword(Keyword::Type);
            self.in_rule = kind == TokenKind::Keyword(Keyword::Rule);
            self.of_rule = self.in_rule;
            self.line(breaks.max(1), 0);
        } else if breaks > 0 || self.after_comment() {
            let indent = self.indent(kind);
            self.line(breaks.max(1), indent);
        } else if self.space_before(kind, self.end < token.span.start as usize) {
            self.out.push(' ');
        }
        let sign = matches!(kind, TokenKind::Symbol("-" | "!"))
            && self.last.is_none_or(|(last, _)| !ends_operand(last));
        let text = &self.source[token.span.start as usize..token.span.end as usize];
        self.out.push_str(text);
        self.enter(kind);
        // The left side of a rule is no argument of the word in front of it.
        let behind_head = self.last == Some((TokenKind::Symbol(":"), false)) && self.open.is_empty();
        if !(self.of_rule && behind_head && text == REASSOCIATE) {
            self.last = Some((kind, sign));
        }
        self.end = token.span.end as usize;
    }

    /// Whether the text ends with a comment, which the rest of the line would become part of.
    fn after_comment(&self) -> bool {
        let line = self.out.rsplit('\n').next().unwrap_or("");
        line.contains("--")
    }

    /// Follows brackets and modes.
    fn enter(&mut self, kind: TokenKind) {
        let mode = self.mode.unwrap_or(Mode::Header);
        match kind {
            TokenKind::Symbol("{") => self.braces += 1,
            TokenKind::Symbol("}") => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        match kind {
            TokenKind::Symbol("(" | "{") => self.open.push((mode, self.here)),
            TokenKind::Symbol("[") => {
                self.open.push((mode, self.here));
                self.mode = Some(Mode::Expr);
            }
            TokenKind::Symbol(")" | "]" | "}") => {
                if let Some((outer, _)) = self.open.pop() {
                    self.mode = Some(outer);
                }
            }
            TokenKind::Symbol(":") if self.in_rule && self.open.is_empty() => {
                self.in_rule = false;
                self.mode = Some(Mode::Expr);
            }
            TokenKind::Symbol(":") => self.mode = Some(Mode::Type),
            TokenKind::Symbol("=") if self.braces > 0 => self.mode = Some(Mode::Expr),
            TokenKind::Symbol("=") => {
                self.mode = Some(if self.in_type { Mode::Type } else { Mode::Expr });
                if std::mem::take(&mut self.in_let) {
                    self.open.push((Mode::Expr, self.here));
                }
            }
            TokenKind::Keyword(Keyword::Where) => self.mode = Some(Mode::Expr),
            TokenKind::Keyword(Keyword::Let) => self.in_let = true,
            TokenKind::Keyword(Keyword::In) => {
                self.open.pop();
                self.mode = Some(Mode::Expr);
            }
            TokenKind::Keyword(Keyword::Type) => self.mode = Some(Mode::Type),
            _ => {}
        }
    }

    /// Whether a space stands before a token; `gap`: whether one does in the source.
    fn space_before(&self, kind: TokenKind, gap: bool) -> bool {
        let Some((last, sign)) = self.last else { return false };
        let mode = self.mode.unwrap_or(Mode::Header);
        let TokenKind::Symbol(symbol) = kind else {
            return match last {
                TokenKind::Symbol("(" | "[" | "{" | "\\" | "." | "..") => false,
                TokenKind::Symbol("]") => mode == Mode::Expr,
                TokenKind::Symbol("-" | "!") if sign => false,
                _ => true,
            };
        };
        match symbol {
            ")" | "]" | "}" | "," | ";" | "." => false,
            ":" => mode == Mode::Expr && !self.in_let,
            "[" => match last {
                TokenKind::Symbol("(" | "[" | "{") => false,
                // A subscript stands directly behind its array; an array as an argument does not.
                last if mode == Mode::Expr && ends_operand(last) => gap,
                TokenKind::Symbol("]") => mode == Mode::Header,
                _ => true,
            },
            // The sizes of a rule stand behind its name as in a call.
            "(" if self.in_rule && self.open.is_empty() && last == TokenKind::Name => gap,
            "(" | "_" | "{" | "\\" => match last {
                TokenKind::Symbol("(" | "[" | "{" | "\\") => false,
                TokenKind::Symbol("]") => mode != Mode::Type,
                TokenKind::Symbol("-" | "!") if sign => false,
                _ => true,
            },
            "-" | "!" => match last {
                TokenKind::Symbol("(" | "[" | "{") => false,
                // Two signs in a row would be a comment.
                TokenKind::Symbol("!") if sign => false,
                _ => true,
            },
            // An operator in parentheses is a section.
            _ => last != TokenKind::Symbol("("),
        }
    }
}

fn starts_item(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Keyword(k) if k.starts_item())
}

/// Whether a line that begins so goes on with the expression of the line before.
fn continues(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Symbol(s) => s == "|>" || s == "->" || s == "^" || BinOp::from_symbol(s).is_some(),
        TokenKind::Keyword(k) => matches!(k, Keyword::Then | Keyword::Else),
        _ => false,
    }
}

fn starts_atom(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Symbol("(" | "[" | "{"))
        || ends_operand(kind) && !matches!(kind, TokenKind::Symbol(")" | "]" | "}"))
}
