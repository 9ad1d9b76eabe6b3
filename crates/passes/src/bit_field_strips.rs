//! Loops over numbers that are taken apart at a bit which is known when they run: a loop over `j`
//! in which `j >> s` and `j & ((1 << s) - 1)` occur becomes one over the upper bits and one over
//! the lower bits, as the passes of a fast Fourier transform are written by hand.
//!
//! In the inner loop the upper bits stay as they are, and subscripts are sums again, which run
//! along memory. The iterations and their order stay. A parallel loop runs over strips of fixed
//! length, in which the bits are taken apart, so that threads still write to parts that are known
//! to be distinct. The text of the loop stays for shifts that are no place of a bit. Left out:
//! loops that do not begin at 0, loops whose loads do not depend on data, and loops around others.

use std::collections::BTreeSet;

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::is_stable;
use loops::visit::{check_depth, fresh, loads, nodes, taken};
use loops::{Access, BinaryOp, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "bit-field-strips",
        literature: "strip-mining (Allen and Kennedy 2002) by a power of two that data gives",
        about: "a loop whose variable is taken apart at a bit becomes one over the upper bits and one over the lower",
    },
    run: |function| changed(function, split(function)),
};

/// Iterations of a parallel loop that one thread takes at once.
const STRIP: i64 = 4096;
/// The first bit at which loops are taken apart: shorter segments cost more than they save.
const FIRST_BIT: i64 = 2;
/// The last bit at which loops are taken apart, so that no bound is near the end of 64 bits.
const LAST_BIT: i64 = 40;
/// The longest loop that is taken apart, for the same reason.
const LONGEST: i64 = 1 << 61;

/// The function with such loops taken apart. A function that is nested too deeply to look at comes
/// back as it is.
fn split(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut splitter = Splitter { taken: taken(function) };
    let body = splitter.block(&function.body);
    with_own_labels(function, Function { body, ..function.clone() })
}

struct Splitter {
    taken: BTreeSet<Name>,
}

impl Splitter {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let one = |stmt: &Stmt| match stmt {
            Stmt::Loop(l) if let Some(place) = place(l) => self.taken_apart(l, &place),
            other => other.map(&mut Expr::clone, &mut |inner| self.block(inner)),
        };
        stmts.iter().map(one).collect()
    }

    fn fresh(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// The loop taken apart at a bit, where there is such a bit; else as it is.
    fn taken_apart(&mut self, l: &Loop, place: &Access) -> Stmt {
        let bit = Expr::Load(place.clone());
        let new = if l.kind == LoopKind::Parallel {
            let strip = self.fresh("strip");
            let begin = Expr::Var(strip.clone()) * STRIP;
            let end = (begin.clone() + STRIP).min(l.upper.clone());
            let inner = self.segments(l, &bit, Some(begin), end);
            let strips = (l.upper.clone() + (STRIP - 1)).floor_div(STRIP);
            Loop { var: strip, upper: strips, body: vec![inner], ..l.clone() }
        } else {
            let Stmt::Loop(new) = self.segments(l, &bit, None, l.upper.clone()) else {
                return Stmt::Loop(l.clone());
            };
            new
        };
        let cond =
            bit.clone().at_least(FIRST_BIT).and(bit.at_most(LAST_BIT)).and(l.upper.clone().at_most(LONGEST));
        Stmt::If { cond, then: vec![Stmt::Loop(new)], otherwise: vec![Stmt::Loop(l.clone())] }
    }

    /// The iterations from `begin` to `end` in segments with the same upper bits.
    fn segments(&mut self, l: &Loop, bit: &Expr, begin: Option<Expr>, end: Expr) -> Stmt {
        let upper = self.fresh("upper_bits");
        let bits = Expr::Var(upper.clone()).into_data();
        let shifted = |op: BinaryOp, e: Expr| Expr::binary(op, e.into_data(), bit.clone());
        let segment = Access::scalar(self.fresh("segment"));
        let from = Expr::Load(segment.clone());
        let (first, lower) = match begin {
            Some(begin) => (shifted(BinaryOp::Shr, begin.clone()), begin.max(from.clone())),
            None => (Expr::Int(0), from.clone()),
        };
        let inner = Loop {
            lower,
            upper: end.clone().min(from.clone() + shifted(BinaryOp::Shl, Expr::Int(1))),
            kind: LoopKind::Sequential,
            body: with_bits(&l.body, &l.var, bit, &Segment { bits: &bits, from: &from }),
            ..l.clone()
        };
        let last = shifted(BinaryOp::Shr, end - 1) + 1;
        let body = vec![
            Stmt::local(segment.array.clone(), Elem::Scalar(Scalar::I64), Vec::new()),
            Stmt::assign(segment, shifted(BinaryOp::Shl, bits.clone())),
            Stmt::Loop(inner),
        ];
        Stmt::range(upper, first, last, LoopKind::Sequential, body)
    }
}

/// Iterations with the same upper bits.
struct Segment<'e> {
    /// The upper bits.
    bits: &'e Expr,
    /// The first number with them.
    from: &'e Expr,
}

/// The body with the bits of the variable as they are in a segment.
fn with_bits(body: &[Stmt], var: &Name, bit: &Expr, segment: &Segment<'_>) -> Vec<Stmt> {
    fn replaced(e: &Expr, var: &Name, bit: &Expr, segment: &Segment<'_>) -> Expr {
        match field(e, var) {
            Some(Field::Above(s)) if s == bit => segment.bits.clone(),
            Some(Field::Above(s)) if is_next(s, bit) => {
                Expr::binary(BinaryOp::Shr, segment.bits.clone(), Expr::Int(1))
            }
            Some(Field::Below(s)) if s == bit => Expr::Var(var.clone()).into_data() - segment.from.clone(),
            _ => e.map_children(&mut |child| replaced(child, var, bit, segment)),
        }
    }
    let one = |stmt: &Stmt| {
        stmt.map(&mut |e| replaced(e, var, bit, segment), &mut |inner| with_bits(inner, var, bit, segment))
    };
    body.iter().map(one).collect()
}

/// Bits of a loop variable.
enum Field<'e> {
    /// `var >> s`
    Above(&'e Expr),
    /// `var & ((1 << s) - 1)`
    Below(&'e Expr),
}

fn field<'e>(e: &'e Expr, var: &Name) -> Option<Field<'e>> {
    let is_var =
        |e: &Expr| matches!(e, Expr::Cast(Scalar::I64, v) if matches!(&**v, Expr::Var(name) if name == var));
    match e {
        Expr::Binary(BinaryOp::Shr, v, s) if is_var(v) => Some(Field::Above(s)),
        Expr::Binary(BinaryOp::BitAnd, a, b) => {
            let mask = if is_var(a) {
                b
            } else if is_var(b) {
                a
            } else {
                return None;
            };
            let Expr::Binary(BinaryOp::Sub, power, one) = &**mask else { return None };
            match (&**power, &**one) {
                (Expr::Binary(BinaryOp::Shl, base, s), Expr::Int(1)) if **base == Expr::Int(1) => {
                    Some(Field::Below(s))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether `s` is `bit + 1`.
fn is_next(s: &Expr, bit: &Expr) -> bool {
    matches!(s, Expr::Binary(BinaryOp::Add, a, one) if **a == *bit && **one == Expr::Int(1))
}

/// The variable that says at which bit the variable of a loop is taken apart, if the loop pays.
fn place(l: &Loop) -> Option<Access> {
    let plain = l.lower == Expr::Int(0) && l.step == 1 && l.reductions.is_empty() && is_stable(&l.upper);
    if !plain || !matches!(l.kind, LoopKind::Sequential | LoopKind::Parallel) {
        return None;
    }
    if nodes(&l.body).any(|stmt| matches!(stmt, Stmt::Loop(_) | Stmt::Copy(_) | Stmt::Wait(_))) {
        return None;
    }
    // Elements at places that are computed: without them, lanes take bits apart at no cost.
    if !loads(&l.body).any(|access| access.indices.iter().any(|e| e.has_loads() || e.computes_data())) {
        return None;
    }
    let mut places =
        nodes(&l.body).flat_map(Stmt::exprs).flat_map(Expr::nodes).filter_map(|e| match field(e, &l.var)? {
            Field::Above(Expr::Load(s)) | Field::Below(Expr::Load(s)) => Some(s),
            _ => None,
        });
    let still = |s: &&Access| {
        s.indices.is_empty() && !nodes(&l.body).any(|stmt| stmt.writes(&s.array) || declares(stmt, &s.array))
    };
    places.find(still).cloned()
}

fn declares(stmt: &Stmt, name: &Name) -> bool {
    matches!(stmt, Stmt::Local(local) if local.name == *name)
}
