//! Evaluation of the calculator's expressions.

use std::collections::BTreeMap;
use std::fmt;

use arith::System;
use arith::fourier_motzkin::Nest;
use isl::{Ctx, UnionMap, UnionSet};
use loops::diagnostic::{Diagnostic, Span};

use super::measure::{bounds, card, card_of_map, count, eliminate, project};
use super::syntax::{Expr, Form, parse};
use super::{MISFIT, STOPPED, UNKNOWN};
use crate::cardinality::Count;

/// Bounds on the work of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Elementary operations of the set library.
    pub operations: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { operations: 20_000_000 }
    }
}

/// What an expression is worth.
#[derive(Clone, Debug)]
pub enum Value {
    /// A set of one or several spaces.
    Set(UnionSet),
    /// A map between one or several pairs of spaces.
    Map(UnionMap),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Number(i64),
    /// Counts, each with the tuple that it counts (or whose images it counts).
    Count(Vec<(String, Count)>),
    /// Loop bounds of each set.
    Bounds(Vec<(String, Nest<String>)>),
    /// A set by elimination, with whether it is exact over the integers.
    Eliminated(Vec<(String, System<String>, bool)>),
}

/// Evaluates a script: definitions `name := expression;` and an expression.
///
/// # Errors
/// A diagnostic whose spans point into `text`.
pub fn evaluate(text: &str, limits: Limits) -> Result<Value, Diagnostic> {
    let script = parse(text)?;
    let ctx = Ctx::new();
    let evaluation = || {
        let mut evaluator = Evaluator { ctx: ctx.clone(), names: BTreeMap::new() };
        for (name, value) in &script.definitions {
            let value = evaluator.expr(value)?;
            evaluator.names.insert(name.clone(), value);
        }
        evaluator.expr(&script.result)
    };
    crate::Limits::from(limits.operations).run(&ctx, evaluation)
}

struct Evaluator {
    ctx: Ctx,
    names: BTreeMap<String, Value>,
}

pub(super) fn stopped(span: Span) -> impl Fn(isl::Error) -> Diagnostic {
    move |error| {
        let quota = error.kind == isl::ErrorKind::Quota;
        let message = match error.kind {
            isl::ErrorKind::Quota => "the computation reached its limit of operations".to_string(),
            _ => error.message,
        };
        let diagnostic = Diagnostic::error(STOPPED, message, span, "while computing this");
        if quota {
            diagnostic.help("simplify the formula, or fix parameters with `at(..., n = 10)`")
        } else {
            diagnostic
        }
    }
}

impl Evaluator {
    fn expr(&mut self, expr: &Expr) -> Result<Value, Diagnostic> {
        let span = expr.span;
        let stop = stopped(span);
        match &expr.form {
            Form::Literal(literal) if literal.is_map => {
                Ok(Value::Map(UnionMap::read(&self.ctx, &literal.text).map_err(stop)?))
            }
            Form::Literal(literal) => Ok(Value::Set(UnionSet::read(&self.ctx, &literal.text).map_err(stop)?)),
            Form::Number(n) => Ok(Value::Number(*n)),
            Form::Name(name) => self.names.get(name).cloned().ok_or_else(|| {
                let defined: Vec<&str> = self.names.keys().map(String::as_str).collect();
                let known = if defined.is_empty() {
                    "nothing is defined yet".to_string()
                } else {
                    format!("defined: {}", defined.join(", "))
                };
                Diagnostic::error(UNKNOWN, format!("unknown name `{name}`"), span, "not defined")
                    .note(known)
                    .help(format!("define it in front: `{name} := {{ ... }};`"))
            }),
            Form::Inverse(inner) => {
                let map = self.map(inner)?;
                Ok(Value::Map(map.reverse().map_err(stop)?))
            }
            Form::Image(function, argument) => {
                let map = self.map(function)?;
                match self.expr(argument)? {
                    Value::Set(set) => Ok(Value::Set(set.apply(&map).map_err(stop)?)),
                    Value::Map(inner) => Ok(Value::Map(inner.apply_range(&map).map_err(stop)?)),
                    other => Err(misfit(argument.span, "a set or a map", &other)),
                }
            }
            Form::Binary(op, left, right) => {
                let (a, b) = (self.expr(left)?, self.expr(right)?);
                self.binary(op, a, b, span)
            }
            Form::Call(function, arguments) => self.call(function, arguments, span),
        }
    }

    fn map(&mut self, expr: &Expr) -> Result<UnionMap, Diagnostic> {
        match self.expr(expr)? {
            Value::Map(map) => Ok(map),
            other => Err(misfit(expr.span, "a map", &other)),
        }
    }

    fn binary(&mut self, op: &str, left: Value, right: Value, span: Span) -> Result<Value, Diagnostic> {
        let stop = stopped(span);
        let value = match (op, &left, &right) {
            ("+", Value::Set(a), Value::Set(b)) => Value::Set(a.union(b).map_err(stop)?),
            ("+", Value::Map(a), Value::Map(b)) => Value::Map(a.union(b).map_err(stop)?),
            ("-", Value::Set(a), Value::Set(b)) => Value::Set(a.subtract(b).map_err(stop)?),
            ("-", Value::Map(a), Value::Map(b)) => Value::Map(a.subtract(b).map_err(stop)?),
            ("*", Value::Set(a), Value::Set(b)) => Value::Set(a.intersect(b).map_err(stop)?),
            ("*", Value::Map(a), Value::Map(b)) => Value::Map(a.intersect(b).map_err(stop)?),
            ("*", Value::Map(a), Value::Set(b)) => Value::Map(a.intersect_domain(b).map_err(stop)?),
            (".", Value::Map(a), Value::Map(b)) => Value::Map(a.apply_range(b).map_err(stop)?),
            ("=" | "==", Value::Set(a), Value::Set(b)) => Value::Bool(a.is_equal(b).map_err(stop)?),
            ("=" | "==", Value::Map(a), Value::Map(b)) => Value::Bool(a.is_equal(b).map_err(stop)?),
            ("!=", Value::Set(a), Value::Set(b)) => Value::Bool(!a.is_equal(b).map_err(stop)?),
            ("!=", Value::Map(a), Value::Map(b)) => Value::Bool(!a.is_equal(b).map_err(stop)?),
            ("<=", Value::Set(a), Value::Set(b)) => Value::Bool(a.is_subset(b).map_err(stop)?),
            ("<=", Value::Map(a), Value::Map(b)) => Value::Bool(a.is_subset(b).map_err(stop)?),
            ("<", Value::Set(a), Value::Set(b)) => Value::Bool(a.is_strict_subset(b).map_err(stop)?),
            ("<", Value::Map(a), Value::Map(b)) => Value::Bool(a.is_strict_subset(b).map_err(stop)?),
            (">=" | ">", _, _) => return self.binary(if op == ">" { "<" } else { "<=" }, right, left, span),
            ("=" | "==", Value::Number(a), Value::Number(b)) => Value::Bool(a == b),
            _ => {
                return Err(Diagnostic::error(
                    MISFIT,
                    format!("`{op}` does not apply to {} and {}", left.kind(), right.kind()),
                    span,
                    "these operands do not fit",
                ));
            }
        };
        Ok(value)
    }

    fn call(
        &mut self,
        function: &'static str,
        arguments: &[(Option<String>, Expr)],
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let stop = stopped(span);
        let wanted = match function {
            "before" | "before_or_at" | "product" | "gist" | "isomorphic" => 2,
            "at" | "project" | "eliminate" => arguments.len().max(2),
            _ => 1,
        };
        if arguments.len() != wanted {
            return Err(Diagnostic::error(
                MISFIT,
                format!("`{function}` takes {wanted} argument(s), {} given", arguments.len()),
                span,
                "wrong number of arguments",
            ));
        }
        let first = match arguments.first() {
            Some((None, expr)) => self.expr(expr)?,
            _ => {
                return Err(Diagnostic::error(
                    MISFIT,
                    format!("`{function}` needs a set or a map as its first argument"),
                    span,
                    "the first argument is named",
                ));
            }
        };
        let wrong = |value: &Value| misfit(arguments[0].1.span, "a set or a map that fits", value);
        let value = match (function, &first) {
            ("domain", Value::Map(m)) => Value::Set(m.domain().map_err(stop)?),
            ("range", Value::Map(m)) => Value::Set(m.range().map_err(stop)?),
            ("inverse", Value::Map(m)) => Value::Map(m.reverse().map_err(stop)?),
            ("lexmin", Value::Set(s)) => Value::Set(s.lexmin().map_err(stop)?),
            ("lexmin", Value::Map(m)) => Value::Map(m.lexmin().map_err(stop)?),
            ("lexmax", Value::Set(s)) => Value::Set(s.lexmax().map_err(stop)?),
            ("lexmax", Value::Map(m)) => Value::Map(m.lexmax().map_err(stop)?),
            ("identity", Value::Set(s)) => Value::Map(s.identity().map_err(stop)?),
            ("deltas", Value::Map(m)) => Value::Set(m.deltas().map_err(stop)?),
            ("coalesce", Value::Set(s)) => Value::Set(s.coalesce().map_err(stop)?),
            ("coalesce", Value::Map(m)) => Value::Map(m.coalesce().map_err(stop)?),
            ("params", Value::Set(s)) => Value::Set(s.params().and_then(|p| p.to_union()).map_err(stop)?),
            ("params", Value::Map(m)) => Value::Set(m.params().and_then(|p| p.to_union()).map_err(stop)?),
            ("empty", Value::Set(s)) => Value::Bool(s.is_empty().map_err(stop)?),
            ("empty", Value::Map(m)) => Value::Bool(m.is_empty().map_err(stop)?),
            ("single_valued", Value::Map(m)) => Value::Bool(m.is_single_valued().map_err(stop)?),
            ("injective", Value::Map(m)) => Value::Bool(m.is_injective().map_err(stop)?),
            ("bijective", Value::Map(m)) => Value::Bool(m.is_bijective().map_err(stop)?),
            ("sample", Value::Set(s)) => Value::Set(sample(s, &self.ctx).map_err(stop)?),
            ("card", Value::Set(s)) => Value::Count(card(s, span)?),
            ("card", Value::Map(m)) => Value::Count(card_of_map(m, span)?),
            ("count", Value::Set(s)) => Value::Number(count(s, span)?),
            ("bounds", Value::Set(s)) => Value::Bounds(bounds(s, span)?),
            ("before" | "before_or_at" | "product" | "gist" | "isomorphic", _) => {
                let second = self.expr(&arguments[1].1)?;
                return self.pair(function, &first, &second, span);
            }
            ("at", Value::Set(s)) => {
                Value::Set(s.intersect_params(&self.fixed(arguments, span)?).map_err(stop)?)
            }
            ("at", Value::Map(m)) => {
                Value::Map(m.intersect_params(&self.fixed(arguments, span)?).map_err(stop)?)
            }
            ("project" | "eliminate", Value::Set(s)) => {
                let mut names = Vec::new();
                for (_, expr) in &arguments[1..] {
                    match &expr.form {
                        Form::Name(name) => names.push(name.as_str()),
                        _ => {
                            return Err(Diagnostic::error(
                                MISFIT,
                                "expected the name of a coordinate",
                                expr.span,
                                "not a name",
                            ));
                        }
                    }
                }
                if function == "project" {
                    Value::Set(project(s, &names, span)?)
                } else {
                    Value::Eliminated(eliminate(s, &names, span)?)
                }
            }
            _ => return Err(wrong(&first)),
        };
        Ok(value)
    }

    fn pair(&mut self, function: &str, a: &Value, b: &Value, span: Span) -> Result<Value, Diagnostic> {
        let stop = stopped(span);
        Ok(match (function, a, b) {
            ("before", Value::Set(a), Value::Set(b)) => Value::Map(a.lex_lt(b).map_err(stop)?),
            ("before_or_at", Value::Set(a), Value::Set(b)) => Value::Map(a.lex_le(b).map_err(stop)?),
            ("product", Value::Set(a), Value::Set(b)) => Value::Set(a.product(b).map_err(stop)?),
            ("product", Value::Map(a), Value::Map(b)) => Value::Map(a.product(b).map_err(stop)?),
            ("gist", Value::Set(a), Value::Set(b)) => Value::Set(a.gist(b).map_err(stop)?),
            ("gist", Value::Map(a), Value::Map(b)) => Value::Map(a.gist(b).map_err(stop)?),
            ("isomorphic", Value::Set(a), Value::Set(b)) => {
                Value::Bool(a.universe().and_then(|u| u.is_equal(&b.universe()?)).map_err(stop)?)
            }
            ("isomorphic", Value::Map(a), Value::Map(b)) => {
                Value::Bool(a.universe().and_then(|u| u.is_equal(&b.universe()?)).map_err(stop)?)
            }
            _ => {
                return Err(Diagnostic::error(
                    MISFIT,
                    format!("`{function}` does not apply to {} and {}", a.kind(), b.kind()),
                    span,
                    "these arguments do not fit",
                ));
            }
        })
    }

    /// The conditions `n = 10, m = 3` of `at`.
    fn fixed(&mut self, arguments: &[(Option<String>, Expr)], span: Span) -> Result<isl::Set, Diagnostic> {
        let mut names = Vec::new();
        let mut conditions = Vec::new();
        for (name, expr) in &arguments[1..] {
            match (name, &expr.form) {
                (Some(name), Form::Number(n)) => {
                    names.push(name.clone());
                    conditions.push(format!("{name} = {n}"));
                }
                _ => {
                    return Err(Diagnostic::error(
                        MISFIT,
                        "`at` needs values of parameters: `at(S, n = 10)`",
                        expr.span,
                        "not of the form `name = number`",
                    ));
                }
            }
        }
        let text = format!("[{}] -> {{ : {} }}", names.join(", "), conditions.join(" and "));
        isl::Set::read(&self.ctx, &text).map_err(stopped(span))
    }
}

fn misfit(span: Span, wanted: &str, found: &Value) -> Diagnostic {
    Diagnostic::error(
        MISFIT,
        format!("expected {wanted}, found {}", found.kind()),
        span,
        format!("this is {}", found.kind()),
    )
}

fn sample(set: &UnionSet, ctx: &Ctx) -> isl::Result<UnionSet> {
    for set in set.sets()? {
        if !set.is_empty()? {
            return set
                .lexmin()
                .or_else(|_| set.sample_point().and_then(|p| isl::Set::read(ctx, &p.to_string())))?
                .to_union();
        }
    }
    UnionSet::empty(ctx)
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Set(_) => "a set",
            Value::Map(_) => "a map",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Count(_) => "a count",
            Value::Bounds(_) => "loop bounds",
            Value::Eliminated(_) => "a system of inequalities",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Set(set) => write!(f, "{set}"),
            Value::Map(map) => write!(f, "{map}"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::Count(counts) if counts.is_empty() => f.write_str("0"),
            Value::Count(counts) => lines(f, counts.iter().map(|(label, count)| format!("{label}: {count}"))),
            Value::Bounds(sets) => lines(f, sets.iter().map(|(label, nest)| format!("{label}: {nest}"))),
            Value::Eliminated(sets) => lines(
                f,
                sets.iter().map(|(label, system, exact)| {
                    format!(
                        "{label} : {system}{}",
                        if *exact { "" } else { " (exact over the rationals only)" }
                    )
                }),
            ),
        }
    }
}

fn lines(f: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = String>) -> fmt::Result {
    for (k, line) in lines.enumerate() {
        if k > 0 {
            f.write_str("\n")?;
        }
        f.write_str(&line)?;
    }
    Ok(())
}
