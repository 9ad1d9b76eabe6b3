//! Evaluation of the calculator's expressions.

use std::collections::BTreeMap;
use std::fmt;

use isl::{Ctx, Dim, UnionMap, UnionSet};
use loops::diagnostic::{Diagnostic, Span};

use super::syntax::{Expr, Form, parse};
use super::{MISFIT, NO_POLYNOMIAL, STOPPED, UNKNOWN};
use crate::cardinality::{self, Count};
use crate::fourier_motzkin::{Inequality, Nest, System};

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
    Bounds(Vec<(String, Nest)>),
    /// A set by elimination, with whether it is exact over the integers.
    Eliminated(Vec<(String, System, bool)>),
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
    ctx.limited(limits.operations, evaluation)
}

struct Evaluator {
    ctx: Ctx,
    names: BTreeMap<String, Value>,
}

fn stopped(span: Span) -> impl Fn(isl::Error) -> Diagnostic {
    move |error| {
        let quota = error.kind == isl::ErrorKind::Quota;
        let message =
            if quota { "the computation reached its limit of operations".to_string() } else { error.message };
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
                    format!("`{function}` wants a set or a map first"),
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
                        "`at` wants values of parameters: `at(S, n = 10)`",
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

/// The disjoint basic sets of a set, with local variables as quotients.
fn pieces(set: &isl::Set) -> isl::Result<Vec<isl::BasicSet>> {
    set.coalesce()?.compute_divs()?.make_disjoint()?.basic_sets()
}

/// The inequalities of a basic set over its coordinates, parameters and local variables, the latter named `e0`, `e1`, ...
fn system(piece: &isl::BasicSet, names: &[String], params: &[String]) -> isl::Result<(System, Vec<String>)> {
    let mut rows = Vec::new();
    let locals = piece.dim(Dim::Div)?;
    let local_names: Vec<String> = (0..locals).map(|k| format!("e{k}'")).collect();
    let divs = piece.constraints()?;
    for constraint in &divs {
        let mut row = Inequality::constant(i128::from(constraint.constant()?.to_i64()?));
        for (kind, names) in [(Dim::Out, names), (Dim::Param, params), (Dim::Div, local_names.as_slice())] {
            for (k, name) in names.iter().enumerate() {
                let c = constraint.coefficient(kind, k)?.to_i64()?;
                if c != 0 {
                    row.coefficients.insert(name.clone(), i128::from(c));
                }
            }
        }
        if constraint.is_equality()? {
            let mut negated = row.clone();
            negated.coefficients.values_mut().for_each(|c| *c = -*c);
            negated.constant = -negated.constant;
            rows.push(negated);
        }
        rows.push(row);
    }
    Ok((System::new(rows), local_names))
}

/// Names of the coordinates of a set (`c0`, `c1`, ... where it has none) and of its parameters.
fn names(set: &isl::Set) -> isl::Result<(Vec<String>, Vec<String>)> {
    let mut params = Vec::new();
    for k in 0..set.dim(Dim::Param)? {
        params.push(set.dim_name(Dim::Param, k)?.unwrap_or_else(|| format!("p{k}")));
    }
    let mut coordinates = Vec::new();
    for k in 0..set.dim(Dim::Out)? {
        let name = set.dim_name(Dim::Out, k)?.filter(|n| !params.contains(n) && !coordinates.contains(n));
        coordinates.push(name.unwrap_or_else(|| format!("c{k}")));
    }
    Ok((coordinates, params))
}

fn tuple(set: &isl::Set, coordinates: &[String]) -> isl::Result<String> {
    Ok(format!("{}[{}]", set.tuple_name()?.unwrap_or_default(), coordinates.join(", ")))
}

fn card(sets: &UnionSet, span: Span) -> Result<Vec<(String, Count)>, Diagnostic> {
    let stop = stopped(span);
    let mut counts = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        let label = tuple(&set, &coordinates).map_err(&stop)?;
        counts.push((label, card_of_set(&set, &coordinates, &params, &coordinates, span)?));
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(counts)
}

/// The count of `set` over `summed`; the other coordinates are treated as parameters.
fn card_of_set(
    set: &isl::Set,
    coordinates: &[String],
    params: &[String],
    summed: &[String],
    span: Span,
) -> Result<Count, Diagnostic> {
    let stop = stopped(span);
    let mut total = Count::default();
    for piece in pieces(set).map_err(&stop)? {
        let (system, locals) = system(&piece, coordinates, params).map_err(&stop)?;
        // A local variable is a quotient, so it is determined by the coordinates: points with and without it are the same in number.
        let variables: Vec<String> = summed.iter().cloned().chain(locals).collect();
        let count = cardinality::count(&system, &variables).map_err(|reason| {
            Diagnostic::error(
                NO_POLYNOMIAL,
                format!("cannot count: {reason}"),
                span,
                "the number of elements of this",
            )
            .help("fix the parameters and use `count`: `count(at(S, n = 10))`")
        })?;
        total.pieces.extend(count.pieces);
    }
    Ok(total)
}

fn card_of_map(maps: &UnionMap, span: Span) -> Result<Vec<(String, Count)>, Diagnostic> {
    let stop = stopped(span);
    let mut counts = Vec::new();
    for map in maps.maps().map_err(&stop)? {
        let inputs = map.dim(Dim::In).map_err(&stop)?;
        let domain = map.domain().map_err(&stop)?;
        let (domain_names, params) = names(&domain).map_err(&stop)?;
        let set = map.flatten().and_then(|m| m.wrap()).map_err(&stop)?;
        let outputs = set.dim(Dim::Out).map_err(&stop)? - inputs;
        let summed: Vec<String> = (0..outputs).map(|k| format!("o{k}'")).collect();
        let coordinates: Vec<String> = domain_names.iter().cloned().chain(summed.iter().cloned()).collect();
        let range = map.range().and_then(|r| r.tuple_name()).map_err(&stop)?.unwrap_or_default();
        let label = format!("{} -> #{range}", tuple(&domain, &domain_names).map_err(&stop)?);
        counts.push((label, card_of_set(&set, &coordinates, &params, &summed, span)?));
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(counts)
}

fn count(sets: &UnionSet, span: Span) -> Result<i64, Diagnostic> {
    let stop = stopped(span);
    let mut total = 0i64;
    for set in sets.sets().map_err(&stop)? {
        if !parameters_are_fixed(&set).map_err(&stop)? {
            return Err(Diagnostic::error(
                MISFIT,
                "`count` wants a set without parameters",
                span,
                "this depends on parameters",
            )
            .help("fix them: `count(at(S, n = 10))`, or use `card` for a polynomial"));
        }
        if !set.is_bounded().map_err(&stop)? {
            return Err(Diagnostic::error(
                MISFIT,
                "the set has infinitely many elements",
                span,
                "not bounded",
            ));
        }
        let parameters = set.dim(Dim::Param).map_err(&stop)?;
        let set = set.project_out(Dim::Param, 0, parameters).map_err(&stop)?;
        let one = set.count().and_then(|v| v.to_i64()).map_err(&stop)?;
        total = total.checked_add(one).ok_or_else(|| {
            Diagnostic::error(STOPPED, "the count is beyond 64 bits", span, "too many elements")
        })?;
    }
    Ok(total)
}

/// Whether there are elements for at most one value of the parameters.
fn parameters_are_fixed(set: &isl::Set) -> isl::Result<bool> {
    let params = set.params()?;
    if params.is_empty()? {
        return Ok(true);
    }
    let point = params.sample_point()?;
    let mut only = params.clone();
    for k in 0..set.dim(Dim::Param)? {
        only = only.fix(Dim::Param, k, point.coordinate(Dim::Param, k)?.to_i64()?)?;
    }
    params.is_subset(&only)
}

fn bounds(sets: &UnionSet, span: Span) -> Result<Vec<(String, Nest)>, Diagnostic> {
    let stop = stopped(span);
    let mut all = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        let label = tuple(&set, &coordinates).map_err(&stop)?;
        for piece in pieces(&set).map_err(&stop)? {
            let (system, locals) = system(&piece, &coordinates, &params).map_err(&stop)?;
            let order: Vec<&str> = coordinates.iter().chain(&locals).map(String::as_str).collect();
            let mut found = system.loop_bounds(&order).map_err(|e| too_large(e, span))?;
            found.loops.truncate(coordinates.len());
            all.push((label.clone(), found));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

fn too_large(error: crate::fourier_motzkin::TooLarge, span: Span) -> Diagnostic {
    Diagnostic::error(STOPPED, error.to_string(), span, "while eliminating from this")
}

/// Positions of the named coordinates in each set that has them all.
fn positions(coordinates: &[String], wanted: &[&str], span: Span) -> Result<Vec<usize>, Diagnostic> {
    wanted
        .iter()
        .map(|name| {
            coordinates.iter().position(|c| c == name).ok_or_else(|| {
                Diagnostic::error(
                    UNKNOWN,
                    format!("no coordinate `{name}`"),
                    span,
                    format!("the coordinates are {}", coordinates.join(", ")),
                )
            })
        })
        .collect()
}

fn project(sets: &UnionSet, wanted: &[&str], span: Span) -> Result<UnionSet, Diagnostic> {
    let stop = stopped(span);
    let mut all = UnionSet::empty(sets.ctx()).map_err(&stop)?;
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, _) = names(&set).map_err(&stop)?;
        let name = set.tuple_name().map_err(&stop)?;
        let mut places = positions(&coordinates, wanted, span)?;
        places.sort_unstable();
        let mut projected = set;
        for place in places.into_iter().rev() {
            projected = projected.project_out(Dim::Out, place, 1).map_err(&stop)?;
        }
        if let Some(name) = name {
            projected = projected.set_tuple_name(&name).map_err(&stop)?;
        }
        all = all.union(&projected.to_union().map_err(&stop)?).map_err(&stop)?;
    }
    Ok(all)
}

fn eliminate(
    sets: &UnionSet,
    wanted: &[&str],
    span: Span,
) -> Result<Vec<(String, System, bool)>, Diagnostic> {
    let stop = stopped(span);
    let mut all = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        positions(&coordinates, wanted, span)?;
        let left: Vec<String> =
            coordinates.iter().filter(|c| !wanted.contains(&c.as_str())).cloned().collect();
        let label = tuple(&set, &left).map_err(&stop)?;
        for piece in pieces(&set).map_err(&stop)? {
            let (system, locals) = system(&piece, &coordinates, &params).map_err(&stop)?;
            let order = locals.iter().map(String::as_str).chain(wanted.iter().copied());
            let done = system.eliminate_all(order).map_err(|e| too_large(e, span))?;
            all.push((label.clone(), done.system, done.exact));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
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
