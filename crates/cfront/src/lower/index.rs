//! Integer expressions in loop variables and sizes: subscripts, bounds, conditions. They are
//! computed in mathematical integers (64 bits in the loop IR). They must be quasi-affine: sums,
//! products with constants, quotients and remainders by constants, minimum, maximum and choice.

use std::collections::BTreeSet;

use loops::{BinaryOp, CompareOp, Expr as Hub, Name, UnaryOp};

use super::condition::{Condition, as_extremum};
use super::{Class, Lowering, int};
use crate::ast::{At, Binary, COMMA, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType, Known};
use crate::linear::{Linear, expression, implies};
use crate::lower::resolve::Meaning;

/// An integer expression of the index arithmetic.
#[derive(Clone, PartialEq, Debug)]
pub struct Index {
    /// As an expression of the loop IR.
    pub expr: Hub,
    /// As a linear form over loop variables, sizes and atoms.
    pub form: Linear,
    /// Its type in C.
    pub ty: IntType,
    /// Whether the expression may be rebuilt from the form: a loop variable in it stands for more
    /// than itself.
    pub substituted: bool,
}

/// A part of a form that is not linear: what bounds it and how it is written.
#[derive(Clone, Debug)]
pub struct Atom {
    pub expr: Hub,
    pub kind: AtomKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AtomKind {
    /// Rounded down.
    Quotient(Linear, i64),
    Min(Linear, Linear),
    Max(Linear, Linear),
    Choice(Linear, Linear),
    /// A remainder by this form: at least 0, and less.
    Remainder(Linear),
}

/// Why an expression is no index expression.
#[derive(Clone, Debug)]
pub(crate) struct NotIndex {
    pub reason: String,
    pub at: At,
    /// A way out, if there is one to tell.
    pub help: Option<&'static str>,
}

pub(crate) type Indexed = Result<Index, NotIndex>;

pub(super) fn not(reason: impl Into<String>, at: At) -> NotIndex {
    NotIndex { reason: reason.into(), at, help: None }
}

/// The way out where data says which element is meant.
const GATHER: &str = "a subscript can be data of an integer type: convert other data to `int` or `long` in a variable of its own";

/// The way out where loop variables are multiplied.
const PRODUCT: &str = "declare the array with its dimensions (`double (*A)[n]`) and give each a subscript of its own; a packed triangle is copied to such an array before the region, and back after it";

/// The way out where a remainder is by a size.
const TURNED: &str = "a remainder by a size is understood where the bounds of the loops say that what is divided is at least 0 and less than three times that size, as in `(i + 1) % n` and `(i + n - 1) % n` for `i` from 0 to `n`";

/// How many times a size may be taken off for a remainder by it.
const MOST_TURNS: i64 = 3;

/// How many such numbers of times there may be for one remainder.
const MOST_WAYS: i64 = 3;

/// What depends on data.
fn data(reason: impl Into<String>, at: At) -> NotIndex {
    NotIndex { reason: reason.into(), at, help: Some(GATHER) }
}

pub(super) fn too_large(at: At) -> NotIndex {
    not("it has a constant beyond 64 bits", at)
}

impl Index {
    pub fn constant(value: i64) -> Index {
        let ty = if i32::try_from(value).is_ok() { IntType::Int } else { IntType::Long };
        Index { expr: int(value), form: Linear::constant(value), ty, substituted: false }
    }

    pub fn variable(name: Name, ty: IntType) -> Index {
        Index { expr: Hub::Var(name.clone()), form: Linear::name(name), ty, substituted: false }
    }
}

/// The most extremes and choices in a form whose values are looked at one by one.
const MOST_CASES: usize = 4;

impl Lowering<'_> {
    /// Translates an index expression.
    pub(super) fn index(&mut self, e: &Expr) -> Indexed {
        let (mark, strict) = (self.assumed.len(), self.strict);
        let index = self.index_of(e);
        self.strict = strict;
        if index.is_err() {
            // Nothing is needed for what is not understood like this.
            self.assumed.truncate(mark);
        }
        index
    }

    fn index_of(&mut self, e: &Expr) -> Indexed {
        match &e.kind {
            ExprKind::Ident(name) => self.index_identifier(name, e),
            ExprKind::Int(value, ty) => {
                let value = i64::try_from(*value).map_err(|_| too_large(e.at))?;
                Ok(Index { ty: *ty, ..Index::constant(value) })
            }
            ExprKind::Float { .. } => Err(not("it has a floating-point constant", e.at)),
            ExprKind::Call { function, args } => match (function.as_str(), args.as_slice()) {
                ("abs" | "labs" | "llabs", [a]) if !self.cx.defined.contains(function.as_str()) => {
                    let a = self.index(a)?;
                    let ty = if function == "abs" { IntType::Int } else { IntType::Long };
                    self.converted(&a, ty, e.at)?;
                    let a = Index { ty, ..a };
                    let negated = self.linear_sum(&Index::constant(0), -1, &a, e.at)?;
                    self.extremum(true, a, negated, e.at)
                }
                _ => Err(not(format!("it calls `{function}`"), e.at)),
            },
            ExprKind::Index(..) | ExprKind::Unary(Unary::Deref, _) => {
                Err(data(format!("it depends on data, `{}`", self.snippet(e.at)), e.at))
            }
            ExprKind::Unary(Unary::Plus, a) => self.index(a),
            ExprKind::Unary(Unary::Minus, a) => {
                let a = self.index(a)?;
                let negated = self.linear_sum(&Index { ty: a.ty, ..Index::constant(0) }, -1, &a, e.at)?;
                self.computed(negated, e.at)
            }
            ExprKind::Unary(Unary::Complement, _) => Err(not("it has a `~`", e.at)),
            ExprKind::Unary(Unary::Not, _) => Err(not("it uses a truth value as a number", e.at)),
            ExprKind::Binary(op, a, b) => self.index_binary(*op, a, b, e),
            ExprKind::Assign(..) | ExprKind::Step(..) => Err(not("it has an assignment inside", e.at)),
            ExprKind::Conditional(c, a, b) => self.index_choice(c, a, b, e.at),
            ExprKind::Cast(ty, a) => match ty.ty {
                CType::Int(int_type) => {
                    let a = self.index(a)?;
                    if int_type == IntType::Bool || int_type.bits() > 64 {
                        return Err(not(format!("it converts to `{}`", int_type.c_name()), e.at));
                    }
                    self.converted(&a, int_type, e.at)?;
                    Ok(Index { ty: int_type, ..a })
                }
                _ => Err(not(format!("it converts to `{}`", ty.ty.c_name()), e.at)),
            },
            ExprKind::Comma(_) => Err(not(format!("it has {COMMA}"), e.at)),
            ExprKind::Unsupported(what) => {
                let help = super::array::way_out(what);
                Err(NotIndex { help, ..not(format!("it has {what}"), e.at) })
            }
        }
    }

    fn index_identifier(&mut self, name: &str, e: &Expr) -> Indexed {
        let k = match self.meaning(e) {
            Meaning::Constant(Known { value, ty }) => return Ok(Index { ty, ..Index::constant(value) }),
            Meaning::Unknown => {
                let (message, help) = self.unknown(name);
                return Err(NotIndex { help, ..not(message, e.at) });
            }
            Meaning::Object(k) => k,
        };
        match self.class(k) {
            Class::Size(ty) if self.reading.units.contains(&k) => Ok(Index { ty, ..Index::constant(1) }),
            Class::Size(ty) => Ok(Index::variable(self.name_of(k), ty)),
            Class::LoopVariable(_) | Class::Fixed(_) | Class::Data if self.values.contains_key(&k) => {
                self.rely_on(k);
                Ok(self.values[&k].clone())
            }
            Class::LoopVariable(_) | Class::Fixed(_) => match self.followed.product(k) {
                Some(_) => Err(not(format!("`{name}` is a product of loop variables or sizes"), e.at)),
                None if matches!(self.class(k), Class::LoopVariable(_)) => {
                    Err(not(format!("`{name}` is read outside of its loop"), e.at))
                }
                None => Err(data(format!("`{name}` depends on data"), e.at)),
            },
            Class::Data => {
                let object = &self.res.objects[k];
                let reason = match (&object.ty.ty, object.assigned.first()) {
                    (CType::Int(_), Some(at)) => match self.cx.source.line(at.first as usize) {
                        Ok(line) => {
                            format!(
                                "`{name}` is assigned in the region (line {line}), so its value counts as data"
                            )
                        }
                        Err(_) => format!("`{name}` is assigned in the region, so its value counts as data"),
                    },
                    (CType::Int(_), None) if object.ty.volatile => format!("`{name}` is volatile"),
                    (CType::Int(_), None) => format!("`{name}` has no value"),
                    (other, _) => format!("`{name}` is not an integer but {}", an(other.c_name())),
                };
                let data = matches!(object.ty.ty, CType::Int(_)) && !object.assigned.is_empty();
                let help = match &object.ty.ty {
                    CType::Other(what) => super::array::way_out(what),
                    _ => data.then_some(GATHER),
                };
                Err(NotIndex { reason, at: e.at, help })
            }
        }
    }

    fn index_binary(&mut self, op: Binary, a: &Expr, b: &Expr, e: &Expr) -> Indexed {
        match op {
            Binary::Add | Binary::Sub => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                let sum = self.linear_sum(&a, if op == Binary::Add { 1 } else { -1 }, &b, e.at)?;
                self.computed(sum, e.at)
            }
            Binary::Mul => self.product(a, b, e),
            Binary::Div | Binary::Rem => {
                let (left, right) = (self.index(a)?, self.index(b)?);
                let ty = left.ty.common(right.ty);
                match right.form.as_constant() {
                    Some(divisor) if divisor > 0 => self.quotient(op, left, divisor, ty, e.at),
                    Some(_) => Err(not(
                        format!("`{}` divides by a number that is not positive", self.snippet(e.at)),
                        e.at,
                    )),
                    None => {
                        if op == Binary::Rem
                            && let Some(rest) = self.turned(&left, &right)
                        {
                            return Ok(rest);
                        }
                        let reason = format!(
                            "`{}` divides by `{}`, which is not constant",
                            self.snippet(e.at),
                            self.snippet(b.at)
                        );
                        let help = (op == Binary::Rem).then_some(TURNED);
                        Err(NotIndex { reason, at: e.at, help })
                    }
                }
            }
            Binary::Bits("<<") | Binary::Bits(">>") | Binary::Bits("&") => self.shift_or_mask(op, a, b, e),
            Binary::Bits(op) => Err(not(format!("it has a `{op}`"), e.at)),
            _ => Err(not("it uses a truth value as a number", e.at)),
        }
    }

    /// A product, one factor of which must be constant.
    fn product(&mut self, a: &Expr, b: &Expr, e: &Expr) -> Indexed {
        let (left, right) = (self.index(a)?, self.index(b)?);
        let ty = left.ty.common(right.ty);
        let (factor, other) = match (left.form.as_constant(), right.form.as_constant()) {
            (Some(factor), _) => (factor, right),
            (_, Some(factor)) => (factor, left),
            _ => {
                if let Some(product) = self.product_of_sizes(&left, &right) {
                    return Ok(product);
                }
                let product = self.snippet(e.at);
                let (a, b) = (self.snippet(a.at), self.snippet(b.at));
                let reason =
                    format!("`{product}` multiplies `{a}` and `{b}`, and neither of them is constant");
                return Err(NotIndex { reason, at: e.at, help: Some(PRODUCT) });
            }
        };
        let form = other.form.times(factor).ok_or_else(|| too_large(e.at))?;
        let expr = match (&other.expr, factor) {
            (Hub::Int(value), _) => int(value.checked_mul(factor).ok_or_else(|| too_large(e.at))?),
            (_, 0) => int(0),
            (_, 1) => other.expr.clone(),
            (expr, _) => Hub::binary(BinaryOp::Mul, int(factor), expr.clone()),
        };
        let product = self.tidy(Index { expr, form, ty, substituted: other.substituted });
        self.computed(product, e.at)
    }

    /// A shift by a constant, or a remainder by a power of two that is written as a mask.
    fn shift_or_mask(&mut self, op: Binary, a: &Expr, b: &Expr, e: &Expr) -> Indexed {
        let (left, right) = (self.index(a)?, self.index(b)?);
        let left = Index { ty: left.ty.promoted(), ..left };
        match (op, right.form.as_constant()) {
            (Binary::Bits("<<"), Some(k @ 0..=40)) => {
                let form = left.form.times(1 << k).ok_or_else(|| too_large(e.at))?;
                let expr = Hub::binary(BinaryOp::Mul, int(1 << k), left.expr.clone());
                let moved = self.tidy(Index { expr, form, ..left });
                self.computed(moved, e.at)
            }
            // Both are floor operations in two's complement.
            (Binary::Bits(">>"), Some(k @ 0..=31)) => Ok(self.floor(left, 1 << k, false)),
            (Binary::Bits("&"), Some(mask)) if mask > 0 && mask & (mask + 1) == 0 && mask < 1 << 40 => {
                Ok(self.floor(left, mask + 1, true))
            }
            (Binary::Bits("&"), _) => Err(not(
                format!("`{}` is not a remainder by a power of two, such as `& 7`", self.snippet(e.at)),
                e.at,
            )),
            (_, Some(_)) => Err(not(
                format!("`{}` shifts by a constant that is too large or negative", self.snippet(e.at)),
                e.at,
            )),
            _ => Err(not(
                format!("`{}` shifts by `{}`, which is not constant", self.snippet(e.at), self.snippet(b.at)),
                e.at,
            )),
        }
    }

    /// `a % n` if the loops say that `a` is at least `k * n` and less than `(k + 3) * n`, as in
    /// `(i + n - 1) % n`: one of up to three differences.
    fn turned(&mut self, a: &Index, n: &Index) -> Option<Index> {
        let less = |k: i64| a.form.plus_times(-k, &n.form);
        let within = |k: i64, turns: i64| {
            let above = less(k + turns).and_then(|form| form.negated()?.plus_constant(-1));
            less(k).zip(above).is_some_and(|(from, above)| self.holds(&from) && self.holds(&above))
        };
        let ways = (1..=MOST_WAYS).flat_map(|turns| (0..=MOST_TURNS).map(move |k| (k, turns)));
        let (k, turns) = ways.into_iter().find(|(k, turns)| within(*k, *turns))?;
        let ty = a.ty.common(n.ty);
        let substituted = a.substituted || n.substituted;
        let first = less(k)?;
        if turns == 1 {
            return Some(Index { expr: self.form_expr(&first), form: first, ty, substituted });
        }
        let mut expr = self.form_expr(&less(k + turns - 1)?);
        for k in (k..k + turns - 1).rev() {
            let cond = Hub::compare(CompareOp::Lt, self.form_expr(&less(k + 1)?), int(0));
            expr = Hub::Select(Box::new(cond), Box::new(self.form_expr(&less(k)?)), Box::new(expr));
        }
        let name = self.atom(expr.clone(), AtomKind::Remainder(n.form.clone()));
        Some(Index { expr, form: Linear::name(name), ty, substituted: false })
    }

    /// `a + sign * b`, in integers without limit.
    pub(super) fn linear_sum(&mut self, a: &Index, sign: i64, b: &Index, at: At) -> Indexed {
        let form = a.form.plus_times(sign, &b.form).ok_or_else(|| too_large(at))?;
        let ty = a.ty.common(b.ty);
        let expr = match (&a.expr, &b.expr) {
            (Hub::Int(_), Hub::Int(_)) => int(form.constant_term()),
            (_, Hub::Int(0)) => a.expr.clone(),
            (Hub::Int(0), _) if sign > 0 => b.expr.clone(),
            (Hub::Int(0), _) => Hub::unary(UnaryOp::Neg, b.expr.clone()),
            (left, Hub::Int(value)) => plus_constant(left, sign.saturating_mul(*value)),
            _ => {
                let op = if sign > 0 { BinaryOp::Add } else { BinaryOp::Sub };
                Hub::binary(op, a.expr.clone(), b.expr.clone())
            }
        };
        Ok(self.tidy(Index { expr, form, ty, substituted: a.substituted || b.substituted }))
    }

    /// Rebuilds the expression from its form where a loop variable was replaced by a longer
    /// expression.
    fn tidy(&self, index: Index) -> Index {
        if !index.substituted || index.form.variables().any(|n| n.starts_with('#')) {
            return index;
        }
        Index { expr: self.form_expr(&index.form), ..index }
    }

    /// A form as an expression.
    pub(super) fn form_expr(&self, form: &Linear) -> Hub {
        expression(form, &|name| match atom_number(name) {
            Some(k) => self.atoms[k].expr.clone(),
            None => Hub::Var(name.clone()),
        })
    }

    /// C's `/` and `%` by a positive constant. They round down if the operand is known not to be
    /// negative.
    fn quotient(&mut self, op: Binary, a: Index, divisor: i64, ty: IntType, at: At) -> Indexed {
        if let Some(value) = a.form.as_constant() {
            let value = if op == Binary::Div { value / divisor } else { value % divisor };
            return Ok(Index { ty, ..Index::constant(value) });
        }
        if self.holds(&a.form) {
            return Ok(Index { ty, ..self.floor(a, divisor, op == Binary::Rem) });
        }
        if ty.is_unsigned() {
            self.in_range(&a.form, ty, at)?;
            return Ok(Index { ty, ..self.floor(a, divisor, op == Binary::Rem) });
        }
        // Truncated: -floor(-a / d) where negative. The form knows only that it is one of both.
        let down = self.floor(a.clone(), divisor, false);
        let negated = a.form.negated().ok_or_else(|| too_large(at))?;
        let negated = Index { expr: self.form_expr(&negated), form: negated, ..a.clone() };
        let up = self.floor(negated, divisor, false);
        let up = up.form.negated().ok_or_else(|| too_large(at))?;
        let truncated = Hub::binary(BinaryOp::Div, a.expr.clone(), int(divisor));
        let name = self.atom(truncated.clone(), AtomKind::Choice(down.form, up));
        if op == Binary::Div {
            return Ok(Index { expr: truncated, form: Linear::name(name), ty, substituted: false });
        }
        let form = a.form.plus_times(-divisor, &Linear::name(name)).ok_or_else(|| too_large(at))?;
        let expr = Hub::binary(BinaryOp::Rem, a.expr, int(divisor));
        Ok(Index { expr, form, ty, substituted: false })
    }

    /// Quotient or remainder rounded down.
    pub(super) fn floor(&mut self, a: Index, divisor: i64, remainder: bool) -> Index {
        let quotient = Hub::binary(BinaryOp::FloorDiv, a.expr.clone(), int(divisor));
        let name = self.atom(quotient.clone(), AtomKind::Quotient(a.form.clone(), divisor));
        if !remainder {
            return Index { expr: quotient, form: Linear::name(name), ty: a.ty, substituted: false };
        }
        let expr = Hub::binary(BinaryOp::Mod, a.expr, int(divisor));
        match a.form.plus_times(-divisor, &Linear::name(name.clone())) {
            Some(form) => Index { expr, form, ty: a.ty, substituted: false },
            // A form that says nothing is right too.
            None => Index { expr, form: Linear::name(name), ty: a.ty, substituted: false },
        }
    }

    pub(super) fn atom(&mut self, expr: Hub, kind: AtomKind) -> Name {
        if let Some(k) = self.atoms.iter().position(|a| a.expr == expr && a.kind == kind) {
            return Name::new(format!("#{k}"));
        }
        self.atoms.push(Atom { expr, kind });
        Name::new(format!("#{}", self.atoms.len() - 1))
    }

    /// Minimum or maximum.
    pub(super) fn extremum(&mut self, largest: bool, a: Index, b: Index, at: At) -> Indexed {
        let ty = a.ty.common(b.ty);
        let difference = a.form.minus(&b.form).ok_or_else(|| too_large(at))?;
        if let Some(constant) = difference.as_constant() {
            return Ok(if (constant >= 0) == largest { Index { ty, ..a } } else { Index { ty, ..b } });
        }
        let op = if largest { BinaryOp::Max } else { BinaryOp::Min };
        let expr = Hub::binary(op, a.expr, b.expr);
        let kind = if largest { AtomKind::Max(a.form, b.form) } else { AtomKind::Min(a.form, b.form) };
        let name = self.atom(expr.clone(), kind);
        Ok(Index { expr, form: Linear::name(name), ty, substituted: false })
    }

    fn index_choice(&mut self, c: &Expr, a: &Expr, b: &Expr, at: At) -> Indexed {
        let cond = self.condition(c)?;
        let mark = self.known.len();
        self.known.extend(cond.holds.iter().cloned());
        let then = self.index(a);
        self.known.truncate(mark);
        self.known.extend(cond.fails.iter().cloned());
        let otherwise = self.index(b);
        self.known.truncate(mark);
        let (then, otherwise) = (then?, otherwise?);
        let ty = then.ty.common(otherwise.ty);
        self.converted(&then, ty, at)?;
        self.converted(&otherwise, ty, at)?;
        let seen = as_extremum(&cond.expr, &then.expr, &otherwise.expr);
        if let Some(largest) = seen.or_else(|| self.chooses_extremum(&cond, &then.form, &otherwise.form)) {
            return self.extremum(largest, then, otherwise, at);
        }
        match cond.expr {
            Hub::Bool(true) => return Ok(Index { ty, ..then }),
            Hub::Bool(false) => return Ok(Index { ty, ..otherwise }),
            _ => {}
        }
        let expr = Hub::Select(Box::new(cond.expr), Box::new(then.expr), Box::new(otherwise.expr));
        let name = self.atom(expr.clone(), AtomKind::Choice(then.form, otherwise.form));
        Ok(Index { expr, form: Linear::name(name), ty, substituted: false })
    }

    /// If a condition chooses the larger (`true`) or smaller one of two values:
    /// `i >= n ? n - 1 : i` is the smaller one.
    fn chooses_extremum(&self, cond: &Condition, then: &Linear, otherwise: &Linear) -> Option<bool> {
        let difference = then.minus(otherwise)?;
        let negated = difference.negated()?;
        let chosen = |holds: &Linear, fails: &Linear| {
            let facts = [self.known.as_slice(), &cond.holds].concat();
            let others = [self.known.as_slice(), &cond.fails].concat();
            self.follows(&facts, holds) && self.follows(&others, fails)
        };
        match () {
            () if cond.holds.is_empty() || cond.fails.is_empty() => None,
            () if chosen(&difference, &negated) => Some(true),
            () if chosen(&negated, &difference) => Some(false),
            () => None,
        }
    }

    /// Whether a form is known to be at least 0 here.
    pub(super) fn holds(&self, form: &Linear) -> bool {
        self.follows(&self.known, form)
    }

    /// Whether a form is at least 0 where `known` ones are, and by what atoms are.
    pub(super) fn follows(&self, known: &[Linear], form: &Linear) -> bool {
        self.follows_at_once(known, form) || self.follows_by_cases(known, form, MOST_CASES)
    }

    /// As [`Lowering::follows`], where it holds for either value that an atom may have.
    fn follows_by_cases(&self, known: &[Linear], form: &Linear, depth: usize) -> bool {
        let atoms =
            form.terms().filter_map(|(name, c)| Some((name, c, &self.atoms[atom_number(name)?].kind)));
        let either = |(name, c, kind): (&Name, i64, &AtomKind)| match kind {
            AtomKind::Min(a, b) if c > 0 => Some((name.clone(), c, [a.clone(), b.clone()])),
            AtomKind::Max(a, b) if c < 0 => Some((name.clone(), c, [a.clone(), b.clone()])),
            AtomKind::Choice(a, b) => Some((name.clone(), c, [a.clone(), b.clone()])),
            _ => None,
        };
        let Some((name, c, values)) = atoms.filter_map(either).next().filter(|_| depth > 0) else {
            return false;
        };
        let Some(rest) = form.plus_times(-c, &Linear::name(name)) else { return false };
        values.iter().all(|value| {
            let case = rest.plus_times(c, value);
            case.is_some_and(|case| {
                self.follows_at_once(known, &case) || self.follows_by_cases(known, &case, depth - 1)
            })
        })
    }

    fn follows_at_once(&self, known: &[Linear], form: &Linear) -> bool {
        // Only what has to do with the names of the form, directly or through others.
        let mut names: BTreeSet<Name> = form.variables().cloned().collect();
        let mut facts: Vec<Linear> = Vec::new();
        let mut used = vec![false; known.len()];
        let mut explained = BTreeSet::new();
        loop {
            let before = facts.len();
            for (k, fact) in known.iter().enumerate() {
                if !used[k] && fact.variables().any(|name| names.contains(name)) {
                    used[k] = true;
                    facts.push(fact.clone());
                }
            }
            let atoms: Vec<usize> =
                names.iter().filter_map(|n| atom_number(n)).filter(|k| !explained.contains(k)).collect();
            for k in atoms {
                explained.insert(k);
                facts.extend(self.atom_facts(k));
            }
            if facts.len() == before {
                return implies(&facts, form);
            }
            for fact in &facts[before..] {
                names.extend(fact.variables().cloned());
            }
        }
    }

    /// What bounds an atom.
    fn atom_facts(&self, k: usize) -> Vec<Linear> {
        let me = Linear::name(Name::new(format!("#{k}")));
        let facts = match &self.atoms[k].kind {
            AtomKind::Quotient(a, d) => {
                let rest = a.plus_times(-d, &me);
                let below = rest.as_ref().and_then(|r| r.negated()?.plus_constant(d - 1));
                [rest, below]
            }
            AtomKind::Min(a, b) => [a.minus(&me), b.minus(&me)],
            AtomKind::Max(a, b) => [me.minus(a), me.minus(b)],
            AtomKind::Choice(..) => [None, None],
            AtomKind::Remainder(n) => {
                [Some(me.clone()), n.minus(&me).and_then(|room| room.plus_constant(-1))]
            }
        };
        facts.into_iter().flatten().collect()
    }
}

/// The sum of an expression and a constant. A constant that is already added is combined with it.
fn plus_constant(e: &Hub, value: i64) -> Hub {
    let (base, sum) = match e {
        Hub::Binary(BinaryOp::Add, base, c) => match **c {
            Hub::Int(c) => (&**base, c.checked_add(value)),
            _ => (e, Some(value)),
        },
        Hub::Binary(BinaryOp::Sub, base, c) => match **c {
            Hub::Int(c) => (&**base, value.checked_sub(c)),
            _ => (e, Some(value)),
        },
        _ => (e, Some(value)),
    };
    match sum {
        Some(0) => base.clone(),
        Some(sum) if sum < 0 && sum != i64::MIN => Hub::binary(BinaryOp::Sub, base.clone(), int(-sum)),
        Some(sum) => Hub::binary(BinaryOp::Add, base.clone(), int(sum)),
        None => Hub::binary(BinaryOp::Add, e.clone(), int(value)),
    }
}

/// The number of an atom's name.
pub(crate) fn atom_number(name: &str) -> Option<usize> {
    name.strip_prefix('#')?.parse().ok()
}

/// `a double`, `an int`; what starts with an article keeps it.
pub fn an(name: &str) -> String {
    if name.starts_with("a ") || name.starts_with("an ") {
        return name.to_string();
    }
    let vowel = name.starts_with(['a', 'e', 'i', 'o']);
    format!("{} `{name}`", if vowel { "an" } else { "a" })
}
