//! What a programmer asks of a loop: words such as `tile(8, 8) parallel`, kept in the mark of a
//! block around the loop until the loops are scheduled.
//!
//! Not here: whether it is legal, and how it is done (crate `polyhedral`).

use std::fmt;

use crate::name::Name;
use crate::program::{Function, Stmt};
use crate::visit::nodes;

/// One thing that is asked of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Tiles of these sizes: this loop and the ones directly inside it.
    Tile(Vec<i64>),
    /// This many iterations are written out; all of them if there is no number.
    Unroll(Option<i64>),
    /// Its iterations run on several threads.
    Parallel,
    /// Its iterations run in vector lanes.
    Vectorize,
    /// It changes places with the loop directly inside it.
    Interchange,
    /// No other loop is fused with those of the region.
    NoFuse,
}

/// The words that are known, for messages.
pub const KNOWN: &str =
    "tile(N, ...), unroll, unroll(N), parallel, vectorize, interchange, nofuse, reduction(OP: NAMES)";

/// Largest number in a directive.
const MOST: i64 = 1 << 20;

/// Reads what is asked of a loop; clauses `reduction(...)` are passed over.
///
/// # Errors
/// The word that is not understood, and why.
pub fn read(text: &str) -> Result<Vec<Wish>, String> {
    let mut wishes = Vec::new();
    let mut rest = text.trim_start_matches([' ', ',', '\t']);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let (inside, behind) = match behind.trim_start().strip_prefix('(') {
            Some(inside) => {
                let (inside, behind) =
                    inside.split_once(')').ok_or_else(|| format!("`{word}(` has no `)`"))?;
                (Some(inside), behind)
            }
            None => (None, behind),
        };
        let numbers = || -> Result<Vec<i64>, String> {
            let number = |part: &str| part.trim().parse().ok().filter(|n| (1..=MOST).contains(n));
            let all: Option<Vec<i64>> = inside.unwrap_or_default().split(',').map(number).collect();
            all.ok_or_else(|| format!("`{word}` takes numbers from 1 to {MOST}"))
        };
        match (word, inside) {
            ("tile", Some(_)) => wishes.push(Wish::Tile(numbers()?)),
            ("unroll", Some(_)) => match numbers()?.as_slice() {
                [count] => wishes.push(Wish::Unroll(Some(*count))),
                _ => return Err("`unroll` takes one number".to_owned()),
            },
            ("unroll", None) => wishes.push(Wish::Unroll(None)),
            ("parallel", None) => wishes.push(Wish::Parallel),
            ("vectorize", None) => wishes.push(Wish::Vectorize),
            ("interchange", None) => wishes.push(Wish::Interchange),
            ("nofuse", None) => wishes.push(Wish::NoFuse),
            ("reduction", Some(_)) => {}
            ("", _) => return Err(format!("`{}` is no directive", rest.trim())),
            ("tile", None) => return Err("`tile` takes sizes, as in `tile(8, 8)`".to_owned()),
            ("reduction", None) => return Err("`reduction` takes an operation and names".to_owned()),
            ("parallel" | "vectorize" | "interchange" | "nofuse", Some(_)) => {
                return Err(format!("`{word}` takes nothing in parentheses"));
            }
            _ => return Err(format!("`{word}` is no directive")),
        }
        rest = behind.trim_start_matches([' ', ',', '\t', '\\', '\n', '\r']);
    }
    Ok(wishes)
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wish::Tile(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
                write!(f, "tile({})", sizes.join(", "))
            }
            Wish::Unroll(Some(count)) => write!(f, "unroll({count})"),
            Wish::Unroll(None) => f.write_str("unroll"),
            Wish::Parallel => f.write_str("parallel"),
            Wish::Vectorize => f.write_str("vectorize"),
            Wish::Interchange => f.write_str("interchange"),
            Wish::NoFuse => f.write_str("nofuse"),
        }
    }
}

/// What the mark of a block with directives begins with.
const MARK: &str = "asked: ";

/// A loop with what is asked of it.
pub fn asked(wishes: &[Wish], body: Vec<Stmt>) -> Stmt {
    let words: Vec<String> = wishes.iter().map(Wish::to_string).collect();
    Stmt::Block { mark: Some(Name::new(format!("{MARK}{}", words.join(" ")))), body }
}

/// What is asked of the loop in a block, and the block's statements; none of other statements.
pub fn of(stmt: &Stmt) -> Option<(Vec<Wish>, &[Stmt])> {
    let Stmt::Block { mark: Some(mark), body } = stmt else { return None };
    let wishes = read(mark.as_str().strip_prefix(MARK)?).ok()?;
    Some((wishes, body))
}

/// Whether something is asked of a loop of a function.
pub fn any(function: &Function) -> bool {
    nodes(&function.body).any(|stmt| of(stmt).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_read_back() {
        let text = "tile(8, 16) unroll(4) parallel vectorize interchange nofuse unroll";
        let wishes = read(text).unwrap();
        assert_eq!(wishes.iter().map(Wish::to_string).collect::<Vec<_>>().join(" "), text);
        assert_eq!(read("parallel, reduction(+: s)"), Ok(vec![Wish::Parallel]));
        let block = asked(&wishes, Vec::new());
        assert_eq!(of(&block).map(|(wishes, _)| wishes), Some(wishes));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, said) in [
            ("titel(8)", "`titel` is no directive"),
            ("tile", "`tile` takes sizes"),
            ("tile(0)", "takes numbers"),
            ("tile(8", "has no `)`"),
            ("unroll(2, 3)", "one number"),
            ("parallel(4)", "nothing in parentheses"),
            ("=", "`=` is no directive"),
        ] {
            assert!(read(text).unwrap_err().contains(said), "{text}");
        }
    }
}
