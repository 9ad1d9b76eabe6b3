//! Loops that are cut into strips, so that no rank holds all that it reads of others at one time.

use loops::{AccessKind, Expr, Loop, LoopKind, Name, Stmt};

use super::phase::Piece;
use crate::dependence;

/// The loop inside a piece that goes through arrays which it only reads, and that all its
/// statements are in.
pub(super) fn candidate(piece: &Piece, width: i64) -> Option<usize> {
    let inner: Vec<&Name> = piece.loops.iter().map(|l| &l.var).collect();
    (1..piece.loops.len()).find(|at| {
        let l = piece.loops[*at];
        let bounds = [&l.lower, &l.upper];
        let fixed = bounds.iter().all(|e| !e.has_loads() && e.vars().iter().all(|v| !inner.contains(&v)));
        let plain = l.step == 1 && l.kind == LoopKind::Sequential && l.reductions.is_empty() && width > 0;
        let writes = piece.sites.iter().filter(|s| s.kind != AccessKind::Read);
        let mut ends = writes.map(|s| (piece.around(s).contains(at), &s.access.indices));
        let varies = |e: &Expr| e.mentions(&l.var);
        let sums = ends.all(|(inside, indices)| inside && !indices.iter().any(varies));
        let reads =
            piece.sites.iter().any(|s| s.kind == AccessKind::Read && s.access.indices.iter().any(varies));
        fixed && plain && sums && reads
    })
}

/// Whether a loop of the piece may be the outermost one: no dependence goes back along it.
pub(super) fn may_be_outermost(piece: &Piece, var: &Name) -> Option<bool> {
    let model = piece.model().ok()?;
    for d in dependence::memory(&model).ok()? {
        let at = |label: &Name| {
            let statement = model.statements.iter().find(|s| s.label == *label)?;
            statement.loops.iter().position(|around| around.var == *var)
        };
        let (from, to) = (at(&d.source)?, at(&d.target)?);
        let back = d.relation.order_gt((isl::Dim::In, from), (isl::Dim::Out, to)).ok()?;
        if !back.is_empty().ok()? {
            return Some(false);
        }
    }
    Some(true)
}

/// The piece with only the iterations of one strip, which begins at the value of `start`.
pub(super) fn within(stmt: &Stmt, own: &Loop, start: &Name, width: i64) -> Stmt {
    match stmt {
        Stmt::Loop(l) if l.var == own.var && l.lower == own.lower && l.upper == own.upper => {
            let start = Expr::Var(start.clone());
            let upper = l.upper.clone().min(start.clone() + width);
            Stmt::Loop(Loop { lower: start, upper, ..l.clone() })
        }
        other => other.map(&mut Expr::clone, &mut |body| {
            body.iter().map(|stmt| within(stmt, own, start, width)).collect()
        }),
    }
}
