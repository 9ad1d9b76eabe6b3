//! Copies that cores make together: blocks `along_row`, `along_column`, `among_all`,
//! `kept_among_all` and `cast_to_all` around a get say that all cores of a line, or all cores,
//! bring in one box, and may do so together.
//!
//! That is so if the box does not depend on the place among these cores, but for the round that all
//! are in, and if nothing in the loops over the cores writes the array. Whether all these cores
//! come by equally often is the target's question: it lets each bring in its own where they do not.
//! A block `kept` says that a box is the same for all tiles, which is asked again at run time; here
//! only that nothing writes the array. So it is with a block `exchanged`, of what other cores have
//! in local memory, and with `by_itself`, of what a core brings in early for itself.

use loops::simplify::tidy;
use loops::visit::nodes;
use loops::{Code, Copy, CopyKind, Diagnostic, Expr, Function, Loop, LoopKind, Name, Stmt};

use crate::fault::Result;

/// Variables that tell the place of a core in a column, and in a row.
#[derive(Clone)]
struct Moved {
    rows: Vec<Name>,
    columns: Vec<Name>,
    /// Loops that begin at a core's place: their variable is that, and what all cores of the line
    /// have alike.
    rounds: Vec<(Name, Name)>,
}

impl Moved {
    /// Whether an expression tells cores apart that are in the same round.
    fn tells(&self, e: &Expr, places: &[Name]) -> bool {
        let round = |name: &Name| {
            let (_, core) = self.rounds.iter().find(|(var, _)| var == name)?;
            Some(Expr::Var(core.clone()) + Expr::Var(Name::new(format!("round of {name}"))))
        };
        tidy(&e.substitute(&round)).vars().iter().any(|v| places.contains(v))
    }
}

/// Checks all such blocks of a mapped function.
///
/// # Errors
/// `P0717`
pub(crate) fn check(function: &Function) -> Result<()> {
    function.body.iter().try_for_each(outside)
}

fn outside(stmt: &Stmt) -> Result<()> {
    match stmt {
        Stmt::Loop(l) if l.kind == LoopKind::Parallel => cores(l),
        Stmt::Loop(l) => l.body.iter().try_for_each(outside),
        Stmt::Block { body, .. } => body.iter().try_for_each(outside),
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).try_for_each(outside),
        _ => Ok(()),
    }
}

/// The loops over the cores.
fn cores(l: &Loop) -> Result<()> {
    let mut moved = Moved { rows: vec![l.var.clone()], columns: Vec::new(), rounds: Vec::new() };
    let mut body = l.body.as_slice();
    if let [Stmt::Loop(inner)] = body
        && inner.kind == LoopKind::Parallel
    {
        moved.columns.push(inner.var.clone());
        body = &inner.body;
    }
    let mut written = Vec::new();
    for s in nodes(body) {
        if let Stmt::Copy(copy) = s
            && copy.kind == CopyKind::Put
        {
            written.push(copy.to.array.clone());
        }
    }
    inside(body, &moved, &written)
}

fn wrong(copy: &Copy, reason: String) -> Diagnostic {
    let message = format!("the copy from `{}` to `{}` {reason}", copy.from, copy.to);
    Diagnostic::general(Code("P0717"), message)
}

/// Statements of a core.
fn inside(body: &[Stmt], moved: &Moved, written: &[Name]) -> Result<()> {
    for stmt in body {
        match stmt {
            Stmt::Block { mark: Some(mark), body }
                if [
                    "along_row",
                    "along_column",
                    "among_all",
                    "kept_among_all",
                    "cast_to_all",
                    "by_itself",
                    "kept",
                    "exchanged",
                ]
                .contains(&mark.as_str()) =>
            {
                let [Stmt::Copy(copy)] = body.as_slice() else { continue };
                together(mark.as_str(), copy, moved, written)?;
            }
            Stmt::Block { body, .. } => inside(body, moved, written)?,
            Stmt::If { then, otherwise, .. } => {
                inside(then, moved, written)?;
                inside(otherwise, moved, written)?;
            }
            Stmt::Loop(l) => {
                let mut below = moved.clone();
                match &l.lower {
                    Expr::Var(core) if moved.rows.contains(core) || moved.columns.contains(core) => {
                        below.rounds.push((l.var.clone(), core.clone()));
                    }
                    lower => {
                        let differs =
                            |places: &[Name]| moved.tells(lower, places) || moved.tells(&l.upper, places);
                        if differs(&moved.rows) {
                            below.rows.push(l.var.clone());
                        }
                        if differs(&moved.columns) {
                            below.columns.push(l.var.clone());
                        }
                    }
                }
                inside(&l.body, &below, written)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn together(mark: &str, copy: &Copy, moved: &Moved, written: &[Name]) -> Result<()> {
    if copy.kind != CopyKind::Get {
        return Err(wrong(copy, format!("is in a block `{mark}` and brings nothing in")));
    }
    if written.contains(&copy.from.array) {
        return Err(wrong(
            copy,
            format!("is in a block `{mark}`, and cores write `{}` meanwhile", copy.from.array),
        ));
    }
    if ["kept", "exchanged", "by_itself"].contains(&mark) {
        return Ok(());
    }
    let (line, places) = match mark {
        "along_row" => ("cores of a row", vec![&moved.columns]),
        "along_column" => ("cores of a column", vec![&moved.rows]),
        _ => ("cores", vec![&moved.rows, &moved.columns]),
    };
    let depends = copy
        .from
        .indices
        .iter()
        .chain(&copy.extents)
        .any(|e| places.iter().any(|places| moved.tells(e, places)));
    if depends {
        return Err(wrong(copy, format!("is not the same for all {line}")));
    }
    Ok(())
}
