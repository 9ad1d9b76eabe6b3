//! Inlines small functions of the file whose body is expressions, so that a region sees what they
//! compute.
//!
//! A body may have variables and assignments to them and to parameters, `if`s around these, and
//! returns. A variable that an `if` sets is a conditional expression behind it. Calls of other
//! functions stay. Conversions to the types of parameters and of the result stay.
//! Functions that are `static` without `inline` may be unused afterwards, and compilers warn of
//! that. So the result names them (`(void)f;`).

use super::{MAX_HEIGHT, Parser};
use std::ops::Range;
use std::rc::Rc;

use crate::ast::{At, Binary, Declaration, Expr, ExprKind, Init, Unary, parts};
use crate::ctype::{CType, IntType, QType};
use crate::lexer::Tok;
use crate::scope::{Kept, Object, Place, Symbol};

/// Operations of an expanded call.
const MAX_NODES: usize = 2000;

/// Tokens of a body that is looked at for why its calls stay.
const MAX_TOKENS: usize = 4000;

/// What a function computes.
#[derive(Clone, Debug)]
pub struct Inline {
    params: Vec<(String, QType)>,
    /// Names in it are those of parameters.
    value: Expr,
}

/// Variables of a body and what they stand for, the innermost last. `None` where they have no value
/// yet, or not on every way.
type Bound = Vec<(String, Option<Rc<Expr>>)>;

/// A statement of such a body.
enum Step {
    Return(Expr),
    If(Expr, Vec<Step>, Vec<Step>),
}

/// What follows some steps: further steps, and what follows these.
struct Rest<'a> {
    steps: &'a [Step],
    behind: Option<&'a Rest<'a>>,
}

/// What is returned.
fn value(steps: &[Step], behind: Option<&Rest<'_>>) -> Option<Expr> {
    match steps.split_first() {
        None => value(behind?.steps, behind?.behind),
        Some((Step::Return(e), _)) => Some(e.clone()),
        Some((Step::If(cond, then, otherwise), steps)) => {
            // What follows is put in one place only.
            (!(falls(then) && falls(otherwise))).then_some(())?;
            let rest = Rest { steps, behind };
            let (then, otherwise) = (value(then, Some(&rest))?, value(otherwise, Some(&rest))?);
            let height = cond.height.max(then.height).max(otherwise.height);
            let (at, cond) = (cond.at, Box::new(cond.clone()));
            node(ExprKind::Conditional(cond, Box::new(then), Box::new(otherwise)), at, height).filter(small)
        }
    }
}

/// Whether what follows some steps may be reached.
fn falls(steps: &[Step]) -> bool {
    !steps.iter().any(|step| match step {
        Step::Return(_) => true,
        Step::If(_, then, otherwise) => !falls(then) && !falls(otherwise),
    })
}

impl Parser<'_> {
    /// What the function whose body begins here computes, if that is expressions. The position in
    /// the text does not change.
    pub fn inline(&mut self, params: Vec<(String, QType, At)>, result: &QType) -> Option<Inline> {
        scalar(&result.ty)?;
        let (pos, depth, measured) = (self.pos, self.scopes.depth(), self.measured.len());
        self.scopes.push();
        let mut bound = Bound::new();
        for (name, ty, at) in &params {
            let object = Object::parameter(ty.clone(), *at);
            self.scopes.declare(name.clone(), Symbol::Object(object));
            let itself = Expr { kind: ExprKind::Ident(name.clone()), at: *at, height: 1 };
            bound.push((name.clone(), Some(Rc::new(itself))));
        }
        self.pos += 1;
        let value = self.steps(&mut bound, result).and_then(|steps| value(&steps, None));
        let value = value.filter(|value| self.calls_of_file(value) && !self.calls_loops(value));
        self.scopes.truncate(depth);
        self.measured.truncate(measured);
        self.pos = pos;
        let params = params.into_iter().map(|(name, ty, _)| (name, ty)).collect();
        Some(Inline { params, value: value? })
    }

    /// Whether a value has a call of a function with loops, whose body takes the place of a
    /// statement.
    fn calls_loops(&self, value: &Expr) -> bool {
        let has_loops = |function: &str| match self.scopes.lookup(function) {
            Some(Symbol::Function(declared)) => {
                declared.inline.is_none() && declared.helper.as_ref().is_some_and(|h| h.gives_value())
            }
            _ => false,
        };
        matches!(&value.kind, ExprKind::Call { function, .. } if has_loops(function))
            || parts(&value.kind).into_iter().any(|part| self.calls_loops(part))
    }

    /// Why the calls of a function with this body stay, where that is seen at once.
    pub fn kept(&self, name: &str, params: &[Declaration], body: Range<usize>) -> Option<Kept> {
        // This only gives a message its reason, so large bodies are not searched.
        if body.len() > MAX_TOKENS {
            return None;
        }
        let words = || body.clone().map(|k| (k, self.word_at(k))).filter(|(_, word)| !word.is_empty());
        if words().any(|(_, word)| word == name) {
            return Some(Kept::Itself);
        }
        if words().any(|(_, word)| matches!(word, "for" | "while" | "do" | "goto")) {
            return Some(Kept::Loop);
        }
        // A name of the file, unless it is declared in the body as well.
        let of_file = |k: usize, word: &str| {
            let object = matches!(self.scopes.lookup(word), Some(Symbol::Object(_)));
            object
                && !params.iter().any(|p| p.name == word)
                && !matches!(self.tok_at(k - 1), Tok::Punct("." | "->"))
                && !words().any(|(k, other)| other == word && self.starts_type(k - 1))
        };
        let (_, read) = words().find(|(k, word)| of_file(*k, word))?;
        Some(Kept::Reads(read.to_string()))
    }

    /// Whether a token says that a function is `inline`.
    pub(crate) fn is_inline(&self, pos: usize) -> bool {
        matches!(self.word_at(pos), "inline" | "__inline" | "__inline__")
    }

    /// Statements up to a brace.
    fn steps(&mut self, bound: &mut Bound, result: &QType) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        while !self.is("}") {
            if !self.starts_type(self.pos) {
                self.step(bound, result, &mut steps)?;
                continue;
            }
            for declared in self.declaration(Place::Local).ok()? {
                scalar(&declared.ty.ty).filter(|_| !declared.is_static && !declared.is_extern)?;
                let value = match &declared.init {
                    None => None,
                    Some(Init::Expr(value)) => {
                        let value = substitute(value, bound, None)?;
                        Some(Rc::new(self.convert(&declared.ty, value).filter(small)?))
                    }
                    Some(_) => return None,
                };
                bound.push((declared.name, value));
            }
        }
        Some(steps)
    }

    /// A `return`, an `if`, a block or an assignment.
    fn step(&mut self, bound: &mut Bound, result: &QType, steps: &mut Vec<Step>) -> Option<()> {
        if self.accept_word("return") {
            let value = self.expression().ok().filter(|_| self.accept(";"))?;
            let value = self.convert(result, substitute(&value, bound, None)?).filter(small)?;
            steps.push(Step::Return(value));
            return Some(());
        }
        if self.is("{") {
            let (inner, after) = self.branch(bound, result)?;
            *bound = after;
            steps.extend(inner);
            return Some(());
        }
        if self.accept(";") {
            return Some(());
        }
        if !self.accept_word("if") {
            let e = self.expression().ok().filter(|_| self.accept(";"))?;
            return self.assigned(&e, bound);
        }
        self.expect("(").ok()?;
        let cond = self.expression().ok().filter(|_| self.accept(")"))?;
        let cond = substitute(&cond, bound, None)?;
        let (then, after) = self.branch(bound, result)?;
        let (otherwise, or_after) = match self.accept_word("else") {
            true => self.branch(bound, result)?,
            false => (Vec::new(), bound.clone()),
        };
        *bound = match (falls(&then), falls(&otherwise)) {
            (true, true) => self.merged(&cond, after, or_after)?,
            (true, false) => after,
            (false, _) => or_after,
        };
        if !then.is_empty() || !otherwise.is_empty() {
            steps.push(Step::If(cond, then, otherwise));
        }
        Some(())
    }

    /// What variables hold where two ways meet.
    fn merged(&self, cond: &Expr, then: Bound, otherwise: Bound) -> Option<Bound> {
        let both = then.into_iter().zip(otherwise);
        both.map(|((name, a), (_, b))| {
            let (Some(a), Some(b)) = (a, b) else { return Some((name, None)) };
            if Rc::ptr_eq(&a, &b) {
                return Some((name, Some(a)));
            }
            let height = cond.height.max(a.height).max(b.height);
            let parts = [cond, &a, &b].map(|e| Box::new(e.clone()));
            let [c, a, b] = parts;
            let value = node(ExprKind::Conditional(c, a, b), cond.at, height)?;
            let value = self.convert(&QType::plain(self.type_of_name(&name)?), value).filter(small)?;
            Some((name, Some(Rc::new(value))))
        })
        .collect()
    }

    /// An assignment to variables of the body, or several with commas.
    fn assigned(&self, e: &Expr, bound: &mut Bound) -> Option<()> {
        let (op, target, value) = match &e.kind {
            ExprKind::Comma(list) => return list.iter().try_for_each(|e| self.assigned(e, bound)),
            ExprKind::Cast(ty, value) if matches!(ty.ty, CType::Void) && !acts(value) => return Some(()),
            ExprKind::Assign(op, target, value) => (*op, target, (**value).clone()),
            ExprKind::Step(by, target) => {
                let one = Expr { kind: ExprKind::Int(by.unsigned_abs(), IntType::Int), at: e.at, height: 1 };
                (Some(if *by < 0 { Binary::Sub } else { Binary::Add }), target, one)
            }
            _ => return None,
        };
        let ExprKind::Ident(name) = &target.kind else { return None };
        let ty = self.type_of_name(name).filter(|ty| scalar(ty).is_some())?;
        let whole = match op {
            None => value,
            Some(op) => {
                let height = value.height.max(target.height);
                node(ExprKind::Binary(op, target.clone(), Box::new(value)), e.at, height)?
            }
        };
        let value = self.convert(&QType::plain(ty), substitute(&whole, bound, None)?).filter(small)?;
        bound.iter_mut().rev().find(|(own, _)| own == name)?.1 = Some(Rc::new(value));
        Some(())
    }

    /// A statement, or a block, and what the variables around it hold after it.
    fn branch(&mut self, bound: &Bound, result: &QType) -> Option<(Vec<Step>, Bound)> {
        self.deeper(|p| {
            let (mut after, mut steps) = (bound.clone(), Vec::new());
            if !p.accept("{") {
                let done = p.step(&mut after, result, &mut steps);
                return Ok(done.map(|()| (steps, after)));
            }
            let depth = p.scopes.depth();
            p.scopes.push();
            let steps = p.steps(&mut after, result);
            p.scopes.truncate(depth);
            after.truncate(bound.len());
            Ok(steps.filter(|_| p.accept("}")).map(|steps| (steps, after)))
        })
        .ok()?
    }

    /// An expression with a type, by a cast unless it has it already.
    pub(super) fn convert(&self, ty: &QType, value: Expr) -> Option<Expr> {
        if same(&self.type_of(&value), &ty.ty) {
            return Some(value);
        }
        let (at, height) = (value.at, value.height);
        node(ExprKind::Cast(QType::plain(ty.ty.clone()), Box::new(value)), at, height)
    }

    /// What a call computes, if its function says so.
    pub(super) fn expanded(&self, function: &str, args: &[Expr], at: At) -> Option<Expr> {
        let Some(Symbol::Function(declared)) = self.scopes.lookup(function) else { return None };
        let inline = declared.inline.as_ref().filter(|i| i.params.len() == args.len())?;
        let mut bound = Bound::new();
        for ((name, ty), arg) in inline.params.iter().zip(args) {
            let arg = match ty.ty {
                CType::Pointer { .. } => matches!(arg.kind, ExprKind::Ident(_)).then(|| arg.clone())?,
                _ => {
                    scalar(&ty.ty)?;
                    self.convert(ty, arg.clone())?
                }
            };
            // What an argument does happens once in a call.
            (!acts(&arg)).then_some(())?;
            bound.push((name.clone(), Some(Rc::new(arg))));
        }
        self.calls_of_file(&inline.value).then_some(())?;
        let value = substitute(&inline.value, &bound, Some(at))?;
        Some(value).filter(small)
    }

    /// Whether the functions that a value calls are the same ones everywhere: in C++, a namespace
    /// may have its own.
    fn calls_of_file(&self, value: &Expr) -> bool {
        let same = match &value.kind {
            ExprKind::Call { function, .. } => {
                function.contains("std::") || self.scopes.only_in_file(function)
            }
            _ => true,
        };
        !self.is_cpp() || (same && parts(&value.kind).into_iter().all(|part| self.calls_of_file(part)))
    }

    /// The type of an expression of numbers, where that is seen at once.
    pub(super) fn type_of(&self, e: &Expr) -> Option<CType> {
        let int = || Some(CType::Int(IntType::Int));
        match &e.kind {
            ExprKind::Int(_, ty) => Some(CType::Int(*ty)),
            ExprKind::Float { ty, .. } => Some(ty.clone()),
            ExprKind::Cast(ty, _) => Some(ty.ty.clone()),
            ExprKind::Ident(name) => match self.scopes.lookup(name)? {
                Symbol::Object(object) => Some(object.ty.ty.clone()),
                Symbol::Constant(known) => known.map(|known| CType::Int(known.ty)),
                _ => None,
            },
            ExprKind::Index(a, _) => match self.type_of(a)? {
                CType::Pointer { to, .. } => Some(to.ty),
                CType::Array { of, .. } => Some(of.ty),
                _ => None,
            },
            ExprKind::Unary(Unary::Not, _) => int(),
            ExprKind::Unary(Unary::Deref, _) => None,
            ExprKind::Unary(_, a) => self.common(a, a),
            ExprKind::Binary(op, a, b) => match op {
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem => self.common(a, b),
                Binary::Bits(_) => None,
                _ => int(),
            },
            ExprKind::Conditional(_, a, b) => self.common(a, b),
            _ => None,
        }
    }

    /// The type of a variable.
    pub(super) fn type_of_name(&self, name: &str) -> Option<CType> {
        match self.scopes.lookup(name)? {
            Symbol::Object(object) => Some(object.ty.ty.clone()),
            _ => None,
        }
    }

    /// Whether an expression is seen at once to be an integer.
    pub(super) fn is_integer(&self, e: &Expr) -> bool {
        matches!(self.type_of(e), Some(CType::Int(_)))
    }

    /// Whether an expression is seen at once to be of a type with a sign that is not promoted.
    pub(super) fn counts_below_zero(&self, e: &Expr) -> bool {
        matches!(self.type_of(e), Some(CType::Int(int)) if !int.is_unsigned() && (32..=64).contains(&int.bits()))
    }

    fn common(&self, a: &Expr, b: &Expr) -> Option<CType> {
        common(&self.type_of(a)?, &self.type_of(b)?)
    }
}

/// The type of the sum of two numbers.
pub(super) fn common(a: &CType, b: &CType) -> Option<CType> {
    Some(match (a, b) {
        (CType::Int(a), CType::Int(b)) => CType::Int(a.common(*b)),
        (CType::Double, CType::Double | CType::Float | CType::Int(_))
        | (CType::Float | CType::Int(_), CType::Double) => CType::Double,
        (CType::Float, CType::Float | CType::Int(_)) | (CType::Int(_), CType::Float) => CType::Float,
        _ => return None,
    })
}

/// A type of numbers.
fn scalar(ty: &CType) -> Option<()> {
    matches!(ty, CType::Int(_) | CType::Float | CType::Double).then_some(())
}

fn same(a: &Option<CType>, b: &CType) -> bool {
    match (a, b) {
        (Some(CType::Int(a)), CType::Int(b)) => a == b,
        (Some(CType::Float), CType::Float) | (Some(CType::Double), CType::Double) => true,
        _ => false,
    }
}

fn node(kind: ExprKind, at: At, below: u32) -> Option<Expr> {
    (below < MAX_HEIGHT).then_some(Expr { kind, at, height: below + 1 })
}

/// An expression with names replaced. `None` if it has other names, or does more than compute. Its
/// parts get a place, except for those that come from outside.
fn substitute(e: &Expr, bound: &Bound, place: Option<At>) -> Option<Expr> {
    let at = place.unwrap_or(e.at);
    let go = |e: &Expr| substitute(e, bound, place);
    let boxed = |e: &Expr| go(e).map(Box::new);
    let kind = match &e.kind {
        ExprKind::Ident(name) => {
            let (_, value) = bound.iter().rev().find(|(n, _)| n == name)?;
            return value.as_deref().cloned();
        }
        ExprKind::Int(..) | ExprKind::Float { .. } => e.kind.clone(),
        ExprKind::Call { function, args } => {
            let args = args.iter().map(go).collect::<Option<Vec<_>>>()?;
            ExprKind::Call { function: function.clone(), args }
        }
        ExprKind::Index(a, b) => ExprKind::Index(boxed(a)?, boxed(b)?),
        ExprKind::Unary(Unary::Deref, _) => return None,
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, boxed(a)?),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a)?, boxed(b)?),
        ExprKind::Conditional(c, a, b) => ExprKind::Conditional(boxed(c)?, boxed(a)?, boxed(b)?),
        ExprKind::Cast(ty, a) => ExprKind::Cast(ty.clone(), boxed(a)?),
        ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(_) | ExprKind::Unsupported(_) => {
            return None;
        }
    };
    let height = parts(&kind).into_iter().map(|part| part.height).max().unwrap_or(0);
    node(kind, at, height)
}

/// Whether an expression does something, or may.
pub fn acts(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(_) | ExprKind::Unsupported(_)
    ) || parts(&e.kind).into_iter().any(acts)
}

fn small(e: &Expr) -> bool {
    nodes(e) <= MAX_NODES
}

fn nodes(e: &Expr) -> usize {
    1 + parts(&e.kind).into_iter().map(nodes).sum::<usize>()
}
