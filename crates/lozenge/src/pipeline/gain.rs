//! What the result of a region gains: where it is threads alone, the text runs on one thread and
//! where there is little work.
//!
//! C compilers know best how to compile what people write: a loop of the text is vectorised,
//! versioned for strides and unrolled as one that threads share out is not.

use cfront::RegionInfo;
use loops::{Access, BinaryOp, Expr, Function, Loop, LoopKind, Name, Stmt, visit};

use super::c::names;
use crate::failure::Source;

/// Whether several threads run and have enough work. `lozenge cc` takes `_OPENMP` away where the
/// user has not asked for it, and defines the other name.
pub(crate) const PAYS: &str = "#ifndef LOZENGE_PAYS
#if defined _OPENMP || defined LOZENGE_OPENMP
int omp_get_max_threads(void);
#define LOZENGE_PAYS(work) ((work) && omp_get_max_threads() > 1)
#else
#define LOZENGE_PAYS(work) 0
#endif
#endif";

/// Whether the result is faster than the text on several threads alone: it has the loops of the
/// text, and nothing of what C compilers do not do with the text.
pub(crate) fn by_threads_alone(text: &Function, result: &Function) -> bool {
    let told = |l: &Loop| l.kind == LoopKind::Vector && !vectorised_anyway(l);
    if loops::directive::any(text) || any_loop(&result.body, told) {
        return false;
    }
    let (mut of_text, mut of_result) = (Vec::new(), Vec::new());
    shape(&text.body, &mut of_text);
    shape(&result.body, &mut of_result);
    // Calls of `fmin` are slow in the text.
    of_text == of_result && !any_expr(&result.body, is_extreme)
}

/// A loop by its variable and step, the end of one, or an element that is stored.
#[derive(PartialEq)]
enum Part<'a> {
    Loop(&'a Name, i64),
    End,
    Stored(&'a Access),
}

/// The loops of statements, with the elements that they store in this order.
fn shape<'a>(body: &'a [Stmt], parts: &mut Vec<Part<'a>>) {
    for stmt in body {
        match stmt {
            Stmt::Assign(assign) if !assign.target.indices.is_empty() => {
                parts.push(Part::Stored(&assign.target));
            }
            Stmt::Loop(l) => {
                parts.push(Part::Loop(&l.var, l.step));
                shape(&l.body, parts);
                parts.push(Part::End);
            }
            other => other.bodies().into_iter().for_each(|body| shape(body, parts)),
        }
    }
}

fn is_extreme(e: &Expr) -> bool {
    matches!(e, Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..))
}

/// A condition in C that holds if several threads run and have enough work, where that is a matter
/// of sizes; none if no loop is parallel.
pub fn threads(source: &Source, info: &RegionInfo, function: &Function) -> Option<String> {
    if !any_loop(&function.body, |l| l.kind == LoopKind::Parallel) {
        return None;
    }
    let names = names(&source.text, info);
    let text = targets::region_text(function, &names, &targets::Options::default());
    let amounts = text.ok().and_then(|text| text.amounts).filter(|all| !all.is_empty());
    Some(format!("LOZENGE_PAYS({})", amounts.map_or("1".to_owned(), |amounts| any(&amounts))))
}

fn any_expr(body: &[Stmt], holds: impl Fn(&Expr) -> bool) -> bool {
    visit::nodes(body).any(|stmt| stmt.exprs().into_iter().any(|e| e.nodes().any(&holds)))
}

fn any_loop(body: &[Stmt], holds: impl Fn(&Loop) -> bool) -> bool {
    visit::nodes(body).any(|stmt| matches!(stmt, Stmt::Loop(l) if holds(l)))
}

/// Whether C compilers make vectors of an innermost loop that is said to be one, without being told:
/// arithmetic on elements at places that no data says, and no sums.
fn vectorised_anyway(l: &Loop) -> bool {
    fn plain(e: &Expr) -> bool {
        match e {
            Expr::Load(access) => access.indices.iter().all(|index| !index.has_loads()),
            Expr::Compare(..) | Expr::Select(..) | Expr::Call { .. } => false,
            e if is_extreme(e) => false,
            other => other.children().all(plain),
        }
    }
    let taken = |stmt: &Stmt| match stmt {
        Stmt::Assign(assign) => plain(&assign.value),
        Stmt::Local(_) => true,
        _ => false,
    };
    l.reductions.is_empty() && l.body.iter().all(taken)
}

/// One of several conditions in C.
fn any(conditions: &[String]) -> String {
    match conditions {
        [one] => one.clone(),
        several => format!("({})", several.join(" || ")),
    }
}
