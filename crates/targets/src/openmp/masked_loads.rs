//! Choices between values of which one is read from memory only if it is chosen, in short loops
//! that a compiler vectorises.
//!
//! gcc unrolls short loops completely (12.2 was tried, `-O3` with AVX2 or AVX-512). It then
//! vectorises the stores that lie side by side, and turns the conditional loads into masked ones.
//! All of them get the mask of the first vector, so numbers are wrong (as in its bug 114375). So
//! such a loop is kept as a loop, and a body that was unrolled by hand is not vectorised. A short
//! loop with `omp simd` is not unrolled, and its result is right.

use std::collections::BTreeMap;

use loops::{Access, BinaryOp, Expr, Loop, Stmt};

use crate::openmp::loop_form::trips;

/// The most iterations of a loop that gcc unrolls as a whole.
const WHOLE: i64 = 16;

/// What is done about a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Care {
    /// Nothing.
    None,
    /// It is not unrolled.
    Rolled,
    /// It is not made of vectors.
    Scalar,
}

impl Care {
    /// This, if it is `care`.
    pub fn only(self, care: Care) -> Care {
        if self == care { self } else { Care::None }
    }
}

/// How a plain loop is treated. `unknown` says that extents which are names here may be constants
/// to the compiler.
pub fn care(l: &Loop, unknown: bool) -> Care {
    let mut found = Found::default();
    l.body.iter().for_each(|stmt| found.statement(stmt));
    if found.loops || found.choices == 0 {
        return Care::None;
    }
    if found.choices > 1 && found.stores.values().any(|stores| *stores > 1) {
        return Care::Scalar;
    }
    match trips(l) {
        Some(count) if (2..=WHOLE).contains(&count) => Care::Rolled,
        None if unknown => Care::Rolled,
        _ => Care::None,
    }
}

/// What is in a body.
#[derive(Default)]
struct Found<'a> {
    /// Whether there are loops inside.
    loops: bool,
    /// Statements with such choices.
    choices: usize,
    /// Stores to each array.
    stores: BTreeMap<&'a str, usize>,
}

impl<'a> Found<'a> {
    fn statement(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                if !assign.target.indices.is_empty() {
                    *self.stores.entry(assign.target.array.as_str()).or_default() += 1;
                }
                let mut chooses = false;
                for e in assign.value.nodes() {
                    if let Expr::Select(cond, a, b) = e {
                        chooses |= reads(cond, None) && [a, b].into_iter().any(|arm| reads(arm, Some(cond)));
                    }
                }
                self.choices += usize::from(chooses);
            }
            // A store on one side only stays a branch, or a masked store.
            Stmt::If { cond, then, otherwise } => {
                for stmt in then.iter().chain(otherwise) {
                    match stmt {
                        Stmt::Assign(assign) if assign.target.indices.is_empty() => {
                            self.choices +=
                                usize::from(reads(cond, None) && reads(&assign.value, Some(cond)));
                        }
                        _ => {}
                    }
                    self.statement(stmt);
                }
            }
            Stmt::Block { body, .. } => body.iter().for_each(|stmt| self.statement(stmt)),
            // A loop of one iteration is as good as none.
            Stmt::Loop(l) if matches!(trips(l), Some(0 | 1)) => {
                l.body.iter().for_each(|stmt| self.statement(stmt))
            }
            Stmt::Loop(_) => self.loops = true,
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
    }
}

/// Whether an expression depends on data. With a condition: whether it reads an element that the
/// condition does not read. One of several conditions (`x < a[i] || x != x`) may read nothing,
/// because the compiler first tests what does not change in the loop.
fn reads(e: &Expr, but: Option<&Expr>) -> bool {
    let mut known: Vec<&Access> = Vec::new();
    if let Some(cond) = but.filter(|cond| !has_connective(cond)) {
        known.extend(cond.loads());
    }
    e.loads().any(|access| but.is_none() || (!access.indices.is_empty() && !known.contains(&access)))
}

fn has_connective(cond: &Expr) -> bool {
    cond.nodes().any(|e| matches!(e, Expr::Binary(BinaryOp::And | BinaryOp::Or, _, _)))
}
