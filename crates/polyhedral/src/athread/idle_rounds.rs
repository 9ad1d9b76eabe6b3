//! Rounds without a tile: what cores that share boxes move where their loops have ended.
//!
//! Cores that share come by equally often, so a core without a tile goes through one more round of
//! a loop `for it in rid..end step rows` (the writer of slave files makes it so), with `it >= end`.
//! Its boxes are empty there where arrays end with the loops. Where arrays go on, or subscripts run
//! downward, they are not: then the box gets a further bound, which is no other than its own where
//! there is a tile. What is read may stay where it is inside the array and nothing writes there.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::nodes;
use loops::{Access, BinaryOp, CompareOp, Copy, CopyKind, Expr, Facts, Function, Loop, LoopKind, Name, Stmt};

use super::multicast::Line;

/// A loop over a core's tiles.
#[derive(Clone)]
struct Round {
    var: Name,
    upper: Expr,
    /// Which of the loops over cores it belongs to.
    core: usize,
}

/// Loops around a statement, outermost first; those over tiles that cores share in are rounds.
#[derive(Clone)]
enum Around {
    Loop(Loop),
    Round(Round),
}

/// Rewrites the copies of a mapped function.
pub(super) fn ended(mut function: Function) -> Function {
    let dims = function.params.iter().map(|p| (p.name.clone(), p.dims.clone())).collect();
    let mut pass = Pass { dims, cores: Vec::new(), written: BTreeSet::new() };
    let body = std::mem::take(&mut function.body);
    function.body = pass.statements(body, &[]);
    function
}

struct Pass {
    /// Extents of arrays in main memory.
    dims: BTreeMap<Name, Vec<Expr>>,
    /// Loops over cores around, with their ends.
    cores: Vec<(Name, i64)>,
    /// Arrays that something between the same two barriers is put into.
    written: BTreeSet<Name>,
}

/// The line that a mark of a copy means.
fn line_of(mark: Option<&Name>) -> Option<Line> {
    [Line::Row, Line::Column, Line::All, Line::Stay, Line::Cast, Line::Alone]
        .into_iter()
        .find(|line| mark.is_some_and(|m| m.as_str() == line.mark()))
}

fn is_shared(stmt: &Stmt) -> bool {
    stmt.nodes().any(|s| matches!(s, Stmt::Block { mark, .. } if line_of(mark.as_ref()).is_some()))
}

/// The operands of a minimum.
fn arms(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Binary(BinaryOp::Min, a, b) => [arms(a), arms(b)].concat(),
        other => vec![other],
    }
}

/// `e` as a quotient and a number: `x floordiv divisor + more`.
fn quotient(e: &Expr) -> Option<(&Expr, i64, i64)> {
    match e {
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => {
                let (x, divisor, more) = quotient(e)?;
                Some((x, divisor, more.checked_add(*n)?))
            }
            _ => None,
        },
        Expr::Binary(BinaryOp::FloorDiv, x, divisor) => match &**divisor {
            Expr::Int(divisor) if *divisor > 0 => Some((x, *divisor, 0)),
            _ => None,
        },
        _ => None,
    }
}

/// What is known around a statement where one of the loops has ended, at one of the operands of its
/// end.
fn facts(around: &[Around], var: &Name, end: &Expr) -> Facts {
    let mut facts = Facts::default();
    let at_least = |facts: &mut Facts, a: Expr, b: Expr| {
        facts.assume(&Expr::Compare(CompareOp::Ge, Box::new(a), Box::new(b)), true)
    };
    for loop_ in around {
        match loop_ {
            Around::Loop(l) => facts.enter(l),
            Around::Round(round) => {
                let own = || Expr::Var(round.var.clone());
                at_least(&mut facts, own(), Expr::Int(0));
                if round.var != *var {
                    continue;
                }
                at_least(&mut facts, own(), end.clone());
                if let Some((x, divisor, more)) = quotient(end) {
                    let least = more.saturating_mul(divisor).saturating_sub(divisor - 1);
                    at_least(&mut facts, own() * divisor, x.clone() + least);
                }
            }
        }
    }
    facts
}

impl Pass {
    fn statements(&mut self, body: Vec<Stmt>, around: &[Around]) -> Vec<Stmt> {
        body.into_iter().map(|stmt| self.statement(stmt, around)).collect()
    }

    fn statement(&mut self, stmt: Stmt, around: &[Around]) -> Stmt {
        match stmt {
            Stmt::Loop(l) => self.loop_(l, around),
            Stmt::Block { mark, body } => match (line_of(mark.as_ref()), body.as_slice()) {
                (Some(line), [Stmt::Copy(copy)]) => {
                    let body = vec![Stmt::Copy(self.bounded(copy.clone(), Some(line), around))];
                    Stmt::Block { mark, body }
                }
                // What stays in local memory is the same for all tiles.
                _ if mark.as_ref().is_some_and(|m| m.as_str() == super::multicast::KEPT) => {
                    Stmt::Block { mark, body }
                }
                _ => Stmt::Block { mark, body: self.statements(body, around) },
            },
            Stmt::If { cond, then, otherwise } => Stmt::If {
                cond,
                then: self.statements(then, around),
                otherwise: self.statements(otherwise, around),
            },
            Stmt::Copy(copy) if copy.extents.is_empty() => {
                let cond = self.goes_on(&copy, None, around).into_iter().map(|round| {
                    Expr::Compare(CompareOp::Lt, Box::new(Expr::Var(round.var)), Box::new(round.upper))
                });
                match cond.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)) {
                    Some(cond) => Stmt::If { cond, then: vec![Stmt::Copy(copy)], otherwise: Vec::new() },
                    None => Stmt::Copy(copy),
                }
            }
            Stmt::Copy(copy) => Stmt::Copy(self.bounded(copy, None, around)),
            other => other,
        }
    }

    fn loop_(&mut self, mut l: Loop, around: &[Around]) -> Stmt {
        let mut inside = around.to_vec();
        if l.kind == LoopKind::Parallel
            && let Expr::Int(count) = l.upper
        {
            let outermost = self.cores.is_empty();
            if outermost {
                let written = &mut self.written;
                for s in nodes(&l.body) {
                    if let Stmt::Copy(copy) = s
                        && copy.kind == CopyKind::Put
                    {
                        written.insert(copy.to.array.clone());
                    }
                }
            }
            self.cores.push((l.var.clone(), count));
            inside.push(Around::Loop(Loop { body: Vec::new(), ..l.clone() }));
            l.body = self.statements(l.body, &inside);
            self.cores.pop();
            if outermost {
                self.written.clear();
            }
            return Stmt::Loop(l);
        }
        let core = self.cores.iter().position(|(core, n)| l.lower == Expr::Var(core.clone()) && l.step == *n);
        inside.push(match core {
            Some(core) if l.body.iter().any(is_shared) => {
                Around::Round(Round { var: l.var.clone(), upper: l.upper.clone(), core })
            }
            _ => Around::Loop(Loop { body: Vec::new(), ..l.clone() }),
        });
        l.body = self.statements(l.body, &inside);
        Stmt::Loop(l)
    }

    /// A copy that moves nothing in rounds without a tile, or reads what nobody writes.
    fn bounded(&self, mut copy: Copy, line: Option<Line>, around: &[Around]) -> Copy {
        for round in self.goes_on(&copy, line, around) {
            let Some(first) = copy.extents.first_mut() else { break };
            let most = arms(first).into_iter().filter_map(|arm| match arm {
                Expr::Int(n) => Some(*n),
                _ => None,
            });
            // As many as there can be, in each round that has a tile.
            let rounds = round.upper - Expr::Var(round.var);
            let rest = match most.min() {
                Some(1) => rounds,
                Some(most) => rounds * most,
                None => continue,
            };
            *first = first.clone().min(rest);
        }
        copy
    }

    /// The rounds around a copy in which it moves something that it must not where there is no
    /// tile.
    fn goes_on(&self, copy: &Copy, line: Option<Line>, around: &[Around]) -> Vec<Round> {
        let rounds = around.iter().filter_map(|a| match a {
            Around::Round(round) => Some(round),
            Around::Loop(_) => None,
        });
        // In a round the first core of a line has a tile, so a box that all of them need is that of
        // a tile.
        let moves = |round: &&Round| match (line, self.cores.len()) {
            (Some(Line::All | Line::Stay | Line::Cast), _) => false,
            (Some(Line::Row), 2) => round.core == 0,
            (Some(Line::Column), 2) => round.core == 1,
            _ => true,
        };
        let fine = |round: &Round| {
            arms(&round.upper).into_iter().all(|end| {
                let facts = facts(around, &round.var, end);
                copy.extents.iter().any(|e| is_empty(e, &facts)) || self.reads_inside(copy, &facts)
            })
        };
        rounds.filter(moves).filter(|round| !fine(round)).cloned().collect()
    }

    /// Whether a copy reads of its array alone, and nothing is written to that meanwhile.
    fn reads_inside(&self, copy: &Copy, facts: &Facts) -> bool {
        let Access { array, indices, .. } = &copy.from;
        if copy.kind != CopyKind::Get || self.written.contains(array) || indices.len() != copy.extents.len() {
            return false;
        }
        let Some(dims) = self.dims.get(array).filter(|dims| dims.len() == indices.len()) else {
            return false;
        };
        indices.iter().zip(&copy.extents).zip(dims).all(|((index, extent), dim)| {
            let ends = |arm: &Expr| at_most(index.clone() + arm.clone(), dim.clone(), facts);
            at_most(Expr::Int(0), index.clone(), facts) && arms(extent).into_iter().any(ends)
        })
    }
}

fn at_most(a: Expr, b: Expr, facts: &Facts) -> bool {
    facts.proves(&Expr::Compare(CompareOp::Le, Box::new(a), Box::new(b)))
}

/// Whether an extent is 0 or below.
fn is_empty(extent: &Expr, facts: &Facts) -> bool {
    arms(extent).into_iter().any(|arm| at_most(arm.clone(), Expr::Int(0), facts))
}
