//! Copies of the tokens of functions, one for each call in a region that is a statement, or of a
//! function that gives a value by loops, or has to do with structures. The call then stands for the
//! statements of its copy: what is known of a name is known by its token, and each copy has tokens
//! of its own.
//!
//! Not here: whether a function's body may take the place of its calls (`parser::helper`).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::lexer::{Tok, Token};

/// Tokens of a function that is copied.
const MAX_TOKENS: usize = 1000;

/// Tokens of all copies. Functions that call each other have copies up to here.
const MAX_COPIED: usize = 100_000;

/// The copies of a text, by the token of the call.
#[derive(Default)]
pub struct Copies {
    by_call: BTreeMap<usize, usize>,
}

impl Copies {
    /// Copies the functions of a text behind its tokens.
    pub fn of(text: &str, tokens: &mut Vec<Token>) -> Copies {
        let functions = functions(text, tokens);
        let mut copies = Copies::default();
        if functions.is_empty() {
            return copies;
        }
        let mut places: VecDeque<Range<usize>> = regions(tokens).into();
        let mut copied = 0;
        while let Some(place) = places.pop_front() {
            for call in place {
                let Some(function) = called(text, tokens, call, &functions) else { continue };
                copied += function.len();
                if copied > MAX_COPIED {
                    return copies;
                }
                copies.by_call.insert(call, tokens.len());
                places.push_back(tokens.len()..tokens.len() + function.len());
                tokens.extend_from_within(function);
            }
        }
        copies
    }

    /// Where the copy of a function begins, with its name, for the call at this token.
    pub(crate) fn of_call(&self, call: usize) -> Option<usize> {
        self.by_call.get(&call).copied()
    }
}

/// A function whose calls get copies.
struct Function {
    /// From its name to the last brace; none of a name that several functions have.
    tokens: Range<usize>,
    gives_value: bool,
}

type Functions<'t> = BTreeMap<&'t str, Function>;

fn word<'t>(text: &'t str, token: &Token) -> &'t str {
    &text[token.start as usize..token.end as usize]
}

/// Where calls are looked for: in regions, or everywhere if there are none.
fn regions(tokens: &[Token]) -> Vec<Range<usize>> {
    let places = |tok: Tok| (0..tokens.len()).filter(move |k| tokens[*k].tok == tok);
    let ends: Vec<usize> = places(Tok::EndScop).collect();
    let mut pairs: Vec<_> = places(Tok::Scop).zip(ends).map(|(first, last)| first..last).collect();
    if pairs.is_empty() {
        pairs.push(0..tokens.len());
    }
    pairs
}

/// The functions `void name(...) {...}` of a text, and those with loops and one `return` at the
/// end, from the name to the last brace.
fn functions<'t>(text: &'t str, tokens: &[Token]) -> Functions<'t> {
    let mut found = BTreeMap::new();
    let (mut k, mut returns_nothing) = (0, false);
    while k < tokens.len() {
        match tokens[k].tok {
            Tok::Punct(";" | "}") => returns_nothing = false,
            Tok::Punct("{") => match group(tokens, k) {
                Some(end) => {
                    k = end;
                    returns_nothing = false;
                }
                None => return found,
            },
            Tok::Ident if word(text, &tokens[k]) == "void" => returns_nothing = true,
            Tok::Ident if is(tokens, k + 1, "(") => {
                let Some(close) = group(tokens, k + 1) else { return found };
                if is(tokens, close, "{") {
                    let Some(end) = group(tokens, close) else { return found };
                    let body = &tokens[close + 1..end - 1];
                    let of_structures =
                        names_type(text, &tokens[..k]) || names_types(text, &tokens[k + 2..close]);
                    let taken = returns_nothing
                        || ends_with_value(text, body, &found)
                        || of_structures && last_return(text, body).is_some_and(|_| returns(text, body) == 1);
                    let function = if taken { k..end } else { 0..0 };
                    let gives_value = !returns_nothing;
                    let plain = !tokens[function.clone()]
                        .iter()
                        .any(|t| matches!(t.tok, Tok::Scop | Tok::EndScop | Tok::Pragma));
                    let name = word(text, &tokens[k]);
                    if found.contains_key(name) {
                        // C++ has several functions of one name.
                        found.insert(name, Function { tokens: 0..0, gives_value });
                    } else if taken && plain && function.len() <= MAX_TOKENS {
                        found.insert(name, Function { tokens: function, gives_value });
                    }
                }
                // The braces are a group of their own.
                k = close - 1;
            }
            _ => {}
        }
        k += 1;
    }
    found
}

/// Words of declarations that are no names of types.
const OF_LANGUAGE: [&str; 20] = [
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "register",
    "static",
    "inline",
    "extern",
    "__inline",
    "__inline__",
    "signed",
    "unsigned",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "return",
];

/// Whether tokens end with the name of a type: a structure's, perhaps.
fn names_type(text: &str, tokens: &[Token]) -> bool {
    tokens.last().is_some_and(|t| t.tok == Tok::Ident && !OF_LANGUAGE.contains(&word(text, t)))
}

/// Whether a parameter has a type with a name.
fn names_types(text: &str, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| pair[1].tok == Tok::Ident && names_type(text, &pair[..1]))
}

fn returns(text: &str, body: &[Token]) -> usize {
    body.iter().filter(|t| t.tok == Tok::Ident && word(text, t) == "return").count()
}

/// Whether statements have loops, or calls of such functions, and one `return`, which is the last
/// of them. Others compute a value by expressions, or are not taken.
fn ends_with_value(text: &str, body: &[Token], known: &Functions<'_>) -> bool {
    let words = |k: usize| if body[k].tok == Tok::Ident { word(text, &body[k]) } else { "" };
    let count = |named: &[&str]| (0..body.len()).filter(|k| named.contains(&words(*k))).count();
    let calls = |k: usize| known.get(words(k)).is_some_and(|f| f.gives_value && !f.tokens.is_empty());
    let loops = || count(&["for", "while", "do"]) > 0 || (0..body.len()).any(calls);
    count(&["return"]) == 1 && last_return(text, body).is_some() && loops()
}

/// The `return` that statements end with.
pub(crate) fn last_return(text: &str, body: &[Token]) -> Option<usize> {
    let is_return = |t: &Token| t.tok == Tok::Ident && word(text, t) == "return";
    let at = body.iter().rposition(is_return)?;
    let begins = at == 0 || matches!(body[at - 1].tok, Tok::Punct(";" | "}"));
    let semicolon = body[at..].iter().position(|t| t.tok == Tok::Punct(";"))?;
    (begins && at + semicolon + 1 == body.len()).then_some(at)
}

/// The function that is called at this token: by a statement, or anywhere if it gives a value.
fn called(text: &str, tokens: &[Token], at: usize, functions: &Functions<'_>) -> Option<Range<usize>> {
    (tokens[at].tok == Tok::Ident && is(tokens, at + 1, "(")).then_some(())?;
    let function = functions.get(word(text, &tokens[at])).filter(|function| !function.tokens.is_empty())?;
    let close = group(tokens, at + 1)?;
    let stands = is(tokens, close, ";") || (function.gives_value && !is(tokens, close, "{"));
    stands.then(|| function.tokens.clone())
}

fn is(tokens: &[Token], k: usize, punct: &str) -> bool {
    matches!(tokens.get(k).map(|t| t.tok), Some(Tok::Punct(p)) if p == punct)
}

/// One past the group that opens at a token.
fn group(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (k, token) in tokens.iter().enumerate().skip(open) {
        match token.tok {
            Tok::Punct("(" | "{" | "[") => depth += 1,
            Tok::Punct(")" | "}" | "]") => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(k + 1);
        }
    }
    None
}
