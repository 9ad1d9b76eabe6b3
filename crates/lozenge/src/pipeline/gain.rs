//! What the result of a region gains: where it is threads alone, the text runs on one thread and
//! where there is little work.
//!
//! C compilers know best how to compile what people write: a loop of the text is vectorised,
//! versioned for strides and unrolled as one that threads share out is not.

mod cached;

use cfront::RegionInfo;
use loops::{Access, BinaryOp, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp, Stmt, visit};
use optimize::Machine;

use super::c::names;
use crate::failure::Source;

/// Whether several threads run and have enough work. `lozenge cc` takes `_OPENMP` away where the
/// user has not asked for it, and defines the other name.
const PAYS: &str = "#ifndef LOZENGE_PAYS
#if defined _OPENMP || defined LOZENGE_OPENMP
int omp_get_max_threads(void);
#define LOZENGE_PAYS(work) ((work) && omp_get_max_threads() > 1)
#else
#define LOZENGE_PAYS(work) 0
#endif
#endif";

/// Whether there is enough work for the result; tests define it otherwise.
const ENOUGH: &str = "#ifndef LOZENGE_ENOUGH
#define LOZENGE_ENOUGH(work) (work)
#endif";

/// What has to be predicted on one thread of a result in other loops than those of the text.
const GAIN: f64 = 1.05;

/// Where less is predicted on one thread, the text runs there whatever C compilers make of it: a
/// sum of diagonal neighbours in two loops, for threads, took 9.7 ms on one thread, and 7.1 ms in
/// the one loop of its text (`tests/c/kernels/ternary.c`).
const LOSS: f64 = 0.8;

/// When the result runs, because it is the faster one; the text runs else.
pub(crate) struct Pays {
    /// In C.
    pub condition: String,
    /// The macros in it, which tests define otherwise.
    pub defined: Vec<Macro>,
}

/// Where a macro of a condition is defined.
pub(crate) enum Macro {
    /// At the top of the file, since it declares a function.
    OfFile(&'static str),
    /// Before the condition.
    Here(String),
}

/// Whether the result is faster than the text on several threads alone: it has the loops of the
/// text, or is not predicted to be faster on one thread, and has nothing of what C compilers do not
/// do with the text.
pub(crate) fn by_threads_alone(
    text: &Function,
    result: &Function,
    info: &RegionInfo,
    on_one_thread: Option<f64>,
) -> bool {
    let anyway = |l: &Loop| vectorised_anyway(l) && !tests_many_places(l, result);
    let told = |l: &Loop| l.kind == LoopKind::Vector && !anyway(l);
    if loops::directive::any(text) {
        return false;
    }
    if on_one_thread.is_some_and(|times| times < LOSS) && !chooses_floats(text) {
        return true;
    }
    if any_loop(&result.body, told) || ends_turns(text, result) {
        return false;
    }
    let (mut of_text, mut of_result) = (Vec::new(), Vec::new());
    shape(&text.body, &mut of_text);
    shape(&result.body, &mut of_result);
    // Calls of `fmin` are slow in the text.
    if of_text == of_result {
        return !chooses_floats(result);
    }
    on_one_thread.is_some_and(|times| times < GAIN)
        && keeps_nests(text, result)
        && !chooses_floats(result)
        && !any_loop(&result.body, |l| l.kind == LoopKind::Parallel && stores_by_data(&l.body, false))
        && !carried_in_rows(&text.body, info)
}

/// Whether the loops around each element that is stored are those of the text, in their order, with
/// perhaps others for tiles between them.
fn keeps_nests(text: &Function, result: &Function) -> bool {
    let (mut of_text, mut of_result) = (Vec::new(), Vec::new());
    nests(&text.body, &mut Vec::new(), &mut of_text);
    nests(&result.body, &mut Vec::new(), &mut of_result);
    of_result.iter().all(|(array, loops)| {
        of_text.iter().any(|(other, vars)| {
            let mut left = loops.iter();
            other == array && vars.iter().all(|var| left.any(|around| around == var))
        })
    })
}

/// Each array in which something is stored, with the loops around the place, outermost first.
fn nests<'a>(body: &'a [Stmt], around: &mut Vec<&'a Name>, all: &mut Vec<(&'a Name, Vec<&'a Name>)>) {
    for stmt in body {
        match stmt {
            Stmt::Assign(assign) if !assign.target.indices.is_empty() => {
                all.push((&assign.target.array, around.clone()));
            }
            Stmt::Loop(l) => {
                around.push(&l.var);
                nests(&l.body, around, all);
                around.pop();
            }
            other => other.bodies().into_iter().for_each(|body| nests(body, around, all)),
        }
    }
}

/// Whether an element of a row behind a pointer is stored and another one of that row is read:
/// C compilers do not keep it in a register, since rows may overlap.
fn carried_in_rows(body: &[Stmt], info: &RegionInfo) -> bool {
    let rows = |name: &Name| info.variable(name).is_some_and(|v| v.rows);
    let same_row = |a: &Access, b: &Access| {
        let row = |access: &Access| access.indices.split_last().map(|(_, row)| row.to_vec());
        a.array == b.array && a.indices != b.indices && row(a) == row(b)
    };
    visit::nodes(body).any(|stmt| match stmt {
        Stmt::Loop(l) => l.body.iter().any(|inner| match inner {
            Stmt::Assign(assign) if rows(&assign.target.array) => {
                let moves = |access: &Access| access.indices.last().is_some_and(|e| e.mentions(&l.var));
                let carried = |read: &Access| moves(read) && same_row(&assign.target, read);
                moves(&assign.target) && assign.value.loads().any(carried)
            }
            _ => false,
        }),
        _ => false,
    })
}

/// Whether elements of a type of floating point are the least or the greatest of others.
fn chooses_floats(function: &Function) -> bool {
    let mut floats: Vec<(&Name, &Elem)> = function.params.iter().map(|p| (&p.name, &p.elem)).collect();
    floats.extend(visit::nodes(&function.body).filter_map(|stmt| match stmt {
        Stmt::Local(local) => Some((&local.name, &local.elem)),
        _ => None,
    }));
    floats.retain(|(_, elem)| !matches!(elem, Elem::Scalar(scalar) if scalar.is_int()));
    visit::nodes(&function.body).any(|stmt| match stmt {
        Stmt::Assign(assign) => {
            let kept = assign.update.is_some_and(|u| matches!(u.op, ReduceOp::Min | ReduceOp::Max));
            floats.iter().any(|(name, _)| **name == assign.target.array) && (kept || chooses(&assign.value))
        }
        _ => false,
    })
}

/// Whether C compilers may call a function of their library for the least or the greatest of
/// numbers in the text, where nothing is assumed of it: so it pays to have it in other words.
///
/// Measured: a sum of squares with a maximum takes 30 ms through gcc, and 7 in other words
/// (`tests/c/kernels/norms.c`).
pub(crate) fn calls_extremes(region: &cfront::Region) -> bool {
    let info = &region.info;
    chooses_floats(&region.function) && info.may_alias.is_empty() && info.assumptions.is_empty()
}

/// Whether a value is made of the least or the greatest of others, subscripts aside.
fn chooses(e: &Expr) -> bool {
    match e {
        Expr::Load(_) => false,
        e => is_extreme(e) || e.children().any(chooses),
    }
}

/// Whether what is stored depends on data: C compilers keep no element of such a loop in a
/// register.
fn stores_by_data(body: &[Stmt], guarded: bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Assign(assign) => guarded && !assign.target.indices.is_empty(),
        Stmt::If { cond, then, otherwise } => {
            let guarded = guarded || cond.has_loads();
            stores_by_data(then, guarded) || stores_by_data(otherwise, guarded)
        }
        other => other.bodies().into_iter().any(|body| stores_by_data(body, guarded)),
    })
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

/// What became of a region.
#[derive(Clone, Copy)]
pub(crate) struct Outcome<'a> {
    /// The text that the region is in.
    pub source: &'a Source,
    /// The region.
    pub region: &'a cfront::Region,
    /// Its result.
    pub function: &'a Function,
    /// Whether the result packs operands.
    pub packs: bool,
    /// What it was made for.
    pub machine: &'a Machine,
}

/// The condition that several threads run and have enough work, where that is a matter of sizes;
/// none if no loop is parallel.
pub fn threads(outcome: Outcome) -> Option<Pays> {
    let Outcome { source, region, function, .. } = outcome;
    if !any_loop(&function.body, |l| l.kind == LoopKind::Parallel) {
        return None;
    }
    let names = names(&source.text, &region.info);
    let text = targets::region_text(function, &names, &targets::Options::default());
    let amounts = text.ok().and_then(|text| text.amounts).filter(|all| !all.conditions.is_empty());
    let mut defined = vec![Macro::OfFile(PAYS)];
    let work = match amounts {
        Some(amounts) => {
            defined.extend((!amounts.macros.is_empty()).then_some(Macro::Here(amounts.macros)));
            Some(any(&amounts.conditions))
        }
        None => enough(outcome, &mut defined),
    };
    let work = work.unwrap_or_else(|| "1".to_owned());
    let condition = format!("LOZENGE_PAYS({work})");
    Some(Pays { condition, defined })
}

/// The condition that there is enough work for what the result has to do before it begins, that no
/// extent is too short for it, and that tiles in time have data to keep in a cache, or threads;
/// none if the result is predicted to be faster at all sizes.
pub fn work(outcome: Outcome) -> Option<Pays> {
    let mut conditions = Vec::new();
    let mut defined = vec![Macro::Here(ENOUGH.to_owned())];
    conditions.extend(enough(outcome, &mut defined).map(|tests| format!("LOZENGE_ENOUGH({tests})")));
    if let Some((extents, held)) = cached::data(outcome)
        && let Some(test) = size_test(outcome, &extents, held, &mut defined)
    {
        conditions.push(format!("(LOZENGE_ENOUGH({test}) || LOZENGE_PAYS(1))"));
        defined.push(Macro::OfFile(PAYS));
    }
    (!conditions.is_empty()).then(|| Pays { condition: conditions.join(" && "), defined })
}

/// A test of sizes in C that holds if there is enough work; none if there always is.
fn enough(outcome: Outcome, defined: &mut Vec<Macro>) -> Option<String> {
    let Outcome { region, function, packs, machine, .. } = outcome;
    let needs = optimize::break_even(&region.function, function, packs, machine);
    let tests: Vec<String> =
        needs.into_iter().filter_map(|(factors, than)| size_test(outcome, &factors, than, defined)).collect();
    (!tests.is_empty()).then(|| tests.join(" && "))
}

/// The test in C that a product of sizes is more than a number, with the macros in it; none if the
/// product is a number.
fn size_test(outcome: Outcome, factors: &[Expr], than: i64, defined: &mut Vec<Macro>) -> Option<String> {
    let Outcome { source, region, .. } = outcome;
    let names = names(&source.text, &region.info);
    let test = targets::region_condition(&region.function, &names, factors, than).ok()??;
    defined.extend((!test.macros.is_empty()).then_some(Macro::Here(test.macros)));
    Some(test.condition)
}

fn any_loop(body: &[Stmt], holds: impl Fn(&Loop) -> bool) -> bool {
    visit::nodes(body).any(|stmt| matches!(stmt, Stmt::Loop(l) if holds(l)))
}

/// Whether C compilers make vectors of an innermost loop that is said to be one, without being
/// told: arithmetic on elements at places that no data says, and no sums.
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

/// Pairs of accesses that C compilers test before a loop, so that they make vectors of it.
const TESTED: usize = 10;

/// Whether C compilers had to test more pairs of accesses than they do before a loop: what it
/// stores and other elements of the same array, in rows of which no number says how far they are
/// apart.
fn tests_many_places(l: &Loop, function: &Function) -> bool {
    let apart = |array: &Name| {
        let param = function.params.iter().find(|param| param.name == *array);
        param.is_some_and(|param| param.dims.iter().skip(1).any(|dim| !matches!(dim, Expr::Int(_))))
    };
    let rows = |access: &Access| access.indices.split_last().map(|(_, rows)| rows.to_vec());
    let mut stored: Vec<(&Name, Vec<Expr>)> = Vec::new();
    let mut pairs = 0;
    for stmt in &l.body {
        let Stmt::Assign(assign) = stmt else { continue };
        let accesses = assign.value.loads().map(|access| (access, false)).chain([(&assign.target, true)]);
        for (access, stores) in accesses {
            let Some(own) = rows(access).filter(|_| apart(&access.array)) else { continue };
            pairs += stored.iter().filter(|(array, rows)| **array == access.array && *rows != own).count();
            let known = stored.iter().any(|(array, rows)| **array == access.array && *rows == own);
            stored.extend((stores && !known).then_some((&access.array, own)));
        }
    }
    pairs > TESTED
}

/// Whether the text has elements at places that begin again at an end of their row, as behind a
/// remainder, or that several iterations share, and the result has vectors without such: C
/// compilers make none of the text.
fn ends_turns(text: &Function, result: &Function) -> bool {
    let vector = |l: &Loop| l.kind == LoopKind::Vector;
    any_loop(&text.body, turns) && any_loop(&result.body, vector) && {
        !any_loop(&result.body, |l| vector(l) && turns(l))
    }
}

fn turns(l: &Loop) -> bool {
    let end = |e: &Expr| match e {
        Expr::Binary(op, ..) => {
            matches!(op, BinaryOp::Mod | BinaryOp::Rem | BinaryOp::Div | BinaryOp::FloorDiv)
        }
        e => matches!(e, Expr::Select(..)),
    };
    let turns = |index: &Expr| index.nodes().any(|e| end(e) && e.mentions(&l.var));
    l.body.iter().any(|stmt| match stmt {
        Stmt::Assign(assign) => {
            let mut accesses = assign.value.loads().chain([&assign.target]);
            accesses.any(|access| access.indices.iter().any(turns))
        }
        _ => false,
    })
}

/// One of several conditions in C.
fn any(conditions: &[String]) -> String {
    match conditions {
        [one] => one.clone(),
        several => format!("({})", several.join(" || ")),
    }
}
