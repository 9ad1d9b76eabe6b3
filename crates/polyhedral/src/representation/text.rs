//! The textual form of times: a line with the form and the sizes, then a line for each statement.
//!
//! ```text
//! kelly [M, N]
//! S1(i) -> (0, i)
//! S2(i, j) -> (1, i, 0, j)
//! S3(i) -> (1, i, 1)
//! ```

use std::collections::BTreeSet;
use std::fmt;

use super::{Component, Form, Piece, Times};
use crate::fault::{self, Result};

/// Lines and numbers of a time that are read.
const MAX: usize = 10_000;

pub(super) fn print(times: &Times, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", times.form)?;
    if !times.parameters.is_empty() {
        write!(f, " [{}]", times.parameters.join(", "))?;
    }
    writeln!(f)?;
    for piece in &times.pieces {
        let time: Vec<String> = piece.time.iter().map(ToString::to_string).collect();
        write!(f, "{}({}) -> ({})", piece.statement, piece.iterators.join(", "), time.join(", "))?;
        if let Some(condition) = &piece.condition {
            write!(f, " : {condition}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Component::Place(value) => value.fmt(f),
            Component::Loop(text) => f.write_str(text),
        }
    }
}

/// A component from its text: a place if it is a number, else a loop; parentheses around the whole
/// are dropped.
pub(super) fn component(text: &str) -> Component {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        let mut depth = 0i64;
        let closed = inner.chars().all(|c| {
            depth += i64::from(c == '(') - i64::from(c == ')');
            depth >= 0
        });
        if !closed {
            break;
        }
        text = inner.trim();
    }
    text.parse().map_or_else(|_| Component::Loop(text.to_owned()), Component::Place)
}

pub(super) fn parse(text: &str, form: Form) -> Result<Times> {
    let lines = text.lines().enumerate().map(|(k, line)| (k + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
    let Some((number, first)) = lines.next() else {
        return Err(fault::representation(1, "there is nothing"));
    };
    let rest = first.strip_prefix(form.name()).unwrap_or_default().trim();
    let parameters = match rest.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(names) => names_of(names, number)?,
        None if rest.is_empty() => Vec::new(),
        None => {
            return Err(fault::representation(
                number,
                "the sizes are expected after the form: `kelly [n, m]`",
            ));
        }
    };
    let mut pieces = Vec::new();
    for (number, line) in lines {
        if pieces.len() >= MAX {
            return Err(fault::limit("statements of a schedule"));
        }
        pieces.push(piece(line, number)?);
    }
    let mut seen = BTreeSet::new();
    for piece in &pieces {
        // Without a condition the first entry is about all instances already.
        if !seen.insert((&piece.statement, &piece.condition))
            || (piece.condition.is_some() && seen.contains(&(&piece.statement, &None)))
        {
            return Err(fault::representation(0, format!("`{}` has two times", piece.statement)));
        }
    }
    Ok(Times { form, parameters, pieces })
}

fn piece(line: &str, number: usize) -> Result<Piece> {
    let wrong = |message: &str| fault::representation(number, message);
    let (left, right) =
        line.split_once("->").ok_or_else(|| wrong("the form is `S(i, j) -> (0, i, 1, j)`"))?;
    let (statement, iterators) = left
        .trim()
        .strip_suffix(')')
        .and_then(|left| left.split_once('('))
        .ok_or_else(|| wrong("a statement with its iterators is expected before `->`: `S(i, j)`"))?;
    let statement = statement.trim().to_owned();
    if !is_name(&statement) {
        return Err(wrong("a statement has a name"));
    }
    let iterators = names_of(iterators, number)?;
    let right = right.trim();
    let end =
        closing(right).ok_or_else(|| wrong("a time in parentheses is expected after `->`: `(0, i)`"))?;
    let rest = right[end + 1..].trim();
    let condition = match rest.strip_prefix(':') {
        Some(formula) if !formula.trim().is_empty() && plain(formula) => Some(formula.trim().to_owned()),
        None if rest.is_empty() => None,
        _ => return Err(wrong("only `:` and a condition can follow the time")),
    };
    let mut time = Vec::new();
    let inner = right[1..end].trim();
    if !inner.is_empty() {
        for part in split(inner) {
            if part.trim().is_empty() || !plain(part) {
                return Err(wrong("a time consists of numbers and affine expressions"));
            }
            time.push(component(part));
        }
    }
    if time.len() > MAX {
        return Err(fault::limit("numbers of a time"));
    }
    Ok(Piece { statement, iterators, time, condition })
}

/// Only what formulas have: nothing that could end the set around it.
fn plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _+-*/%(),=<>[]:'".contains(c)) && !text.contains("->")
}

fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn names_of(text: &str, number: usize) -> Result<Vec<String>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|name| match name.trim() {
            name if is_name(name) => Ok(name.to_owned()),
            name => Err(fault::representation(number, format!("`{name}` is not a name"))),
        })
        .collect()
}

/// The place of the parenthesis that closes the one at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (k, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(k),
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// At the commas that are in no parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0i64, 0, Vec::new());
    for (k, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..k]);
                from = k + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}
