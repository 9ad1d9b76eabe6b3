//! Expressions of the calculator: literals, names, operators, functions.

use loops::diagnostic::{Diagnostic, Span};

use super::lexer::{Cursor, Kind, tokens};
use super::literal::{self, Literal};

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// Its form.
    pub form: Form,
    /// Where it stands.
    pub span: Span,
}

/// Forms of expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A set or map.
    Literal(Literal),
    /// A name that was defined by `:=`.
    Name(String),
    /// An integer, as the argument of a function.
    Number(i64),
    /// A binary operator.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `R^-1`.
    Inverse(Box<Expr>),
    /// `R(S)`: the image of a set.
    Image(Box<Expr>, Box<Expr>),
    /// A function of the calculator with its arguments, some of which are named (`at(e, n = 4)`).
    Call(&'static str, Vec<(Option<String>, Expr)>),
}

/// A sequence of definitions and a final expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Script {
    /// `name := expression;`
    pub definitions: Vec<(String, Expr)>,
    /// What is asked for.
    pub result: Expr,
}

/// Functions of the calculator, with what they give.
pub const FUNCTIONS: &[(&str, &str)] = &[
    (
        "card",
        "number of elements of a set as a quasi-polynomial of the parameters; of a map, number of images of each element of its domain",
    ),
    ("count", "number of elements of a set without parameters"),
    ("domain", "elements that a map relates to something"),
    ("range", "elements that a map relates something to"),
    ("inverse", "a map with its sides exchanged; also `R^-1`"),
    ("lexmin", "lexicographically least elements, or images"),
    ("lexmax", "lexicographically greatest elements, or images"),
    ("before", "pairs of elements of two sets, the first lexicographically less"),
    ("before_or_at", "pairs of elements of two sets, the first lexicographically not greater"),
    ("identity", "the map from each element of a set to itself"),
    ("deltas", "differences of images and elements of a map"),
    ("product", "pairs of elements"),
    ("coalesce", "the same in fewer pieces, where possible"),
    ("gist", "the first simplified by what the second says"),
    ("params", "values of the parameters for which there are elements"),
    ("at", "the same with parameters fixed: `at(S, n = 10)`"),
    ("project", "a set without some coordinates, exactly: `project(S, j)`"),
    (
        "eliminate",
        "a set without some coordinates, by Fourier-Motzkin elimination over the rationals: `eliminate(S, j)`",
    ),
    ("bounds", "loop bounds of a set, outermost first, by Fourier-Motzkin elimination"),
    ("empty", "whether there are no elements"),
    ("single_valued", "whether each element has at most one image"),
    ("injective", "whether no two elements share an image"),
    ("bijective", "whether a map is single-valued and injective"),
    ("isomorphic", "whether two sets or maps are of the same named spaces"),
    ("sample", "an element"),
];

/// Parses a script.
pub fn parse(text: &str) -> Result<Script, Diagnostic> {
    let mut cursor = Cursor::new(tokens(text)?);
    let mut definitions = Vec::new();
    loop {
        let mark = cursor.mark();
        if let Ok((name, _)) = cursor.name("a name")
            && cursor.eat(":=")
        {
            let value = expression(&mut cursor)?;
            cursor.expect(";", "after a definition")?;
            definitions.push((name, value));
            continue;
        }
        cursor.reset(mark);
        break;
    }
    let result = expression(&mut cursor)?;
    cursor.eat(";");
    if cursor.peek().kind != Kind::End {
        return Err(cursor.unexpected("an operator or the end"));
    }
    Ok(Script { definitions, result })
}

fn expression(cursor: &mut Cursor) -> Result<Expr, Diagnostic> {
    cursor.enter()?;
    let left = sum(cursor)?;
    let result = match ["<=", ">=", "<", ">", "==", "=", "!="].into_iter().find(|op| cursor.eat(op)) {
        Some(op) => {
            let right = sum(cursor)?;
            binary(op, left, right)
        }
        None => left,
    };
    cursor.leave();
    Ok(result)
}

fn binary(op: &'static str, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { form: Form::Binary(op, Box::new(left), Box::new(right)), span }
}

fn sum(cursor: &mut Cursor) -> Result<Expr, Diagnostic> {
    let mut left = product(cursor)?;
    while let Some(op) = ["+", "-"].into_iter().find(|op| cursor.eat(op)) {
        let right = product(cursor)?;
        left = binary(op, left, right);
    }
    Ok(left)
}

fn product(cursor: &mut Cursor) -> Result<Expr, Diagnostic> {
    let mut left = postfix(cursor)?;
    while let Some(op) = ["*", "."].into_iter().find(|op| cursor.eat(op)) {
        let right = postfix(cursor)?;
        left = binary(op, left, right);
    }
    Ok(left)
}

fn postfix(cursor: &mut Cursor) -> Result<Expr, Diagnostic> {
    let mut left = primary(cursor)?;
    loop {
        if cursor.eat("^-1") {
            let span = left.span.to(cursor.before());
            left = Expr { form: Form::Inverse(Box::new(left)), span };
        } else if cursor.at_sign("(") {
            cursor.take();
            let argument = expression(cursor)?;
            let end = cursor.expect(")", "after an argument")?;
            let span = left.span.to(end);
            left = Expr { form: Form::Image(Box::new(left), Box::new(argument)), span };
        } else {
            return Ok(left);
        }
    }
}

fn primary(cursor: &mut Cursor) -> Result<Expr, Diagnostic> {
    let span = cursor.span();
    if literal::starts(cursor) {
        let literal = literal::parse(cursor)?;
        return Ok(Expr { span: literal.span, form: Form::Literal(literal) });
    }
    if cursor.eat("(") {
        let inner = expression(cursor)?;
        let end = cursor.expect(")", "after an expression")?;
        return Ok(Expr { form: inner.form, span: span.to(end) });
    }
    if let Kind::Number(n) = cursor.peek().kind {
        cursor.take();
        return Ok(Expr { form: Form::Number(n), span });
    }
    let negative = cursor.mark();
    if cursor.eat("-") {
        if let Kind::Number(n) = cursor.peek().kind {
            let end = cursor.take().span;
            return Ok(Expr { form: Form::Number(-n), span: span.to(end) });
        }
        cursor.reset(negative);
    }
    let (name, span) = cursor.name("a set, a map, a name or a function")?;
    let function = FUNCTIONS.iter().find(|(f, _)| *f == name).map(|(f, _)| *f);
    match function {
        Some(function) if cursor.at_sign("(") => {
            cursor.take();
            let mut arguments = Vec::new();
            while !cursor.at_sign(")") {
                arguments.push(argument(cursor)?);
                if !cursor.eat(",") {
                    break;
                }
            }
            let end = cursor.expect(")", "after the arguments")?;
            Ok(Expr { form: Form::Call(function, arguments), span: span.to(end) })
        }
        _ => Ok(Expr { form: Form::Name(name), span }),
    }
}

/// An argument, `name = expression` where it is named.
fn argument(cursor: &mut Cursor) -> Result<(Option<String>, Expr), Diagnostic> {
    let mark = cursor.mark();
    if let Ok((name, _)) = cursor.name("a name")
        && cursor.eat("=")
        && matches!(cursor.peek().kind, Kind::Number(_) | Kind::Sign("-"))
    {
        return Ok((Some(name), primary(cursor)?));
    }
    cursor.reset(mark);
    Ok((None, expression(cursor)?))
}
