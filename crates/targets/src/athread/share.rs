//! Boxes that all cores of a row or a column need alike: each brings in a share while the tile before is computed, and they exchange the rest.
//!
//! The mapping marks such transfers; here it is seen whether all cores come by equally often. Loops over a core's tiles are padded to the same number of rounds
//! for all: a core without a tile has empty boxes, and takes part in what others need.

use loops::{Copy, CopyKind, Diagnostic, Expr, Loop, LoopKind, Name, Stmt};

use super::expr::{Binding, invalid, print};
use super::slave::Writer;

/// The mark of a transfer that is shared along a row.
const ROW: &str = "along_row";
/// The mark of a transfer that is the same for all tiles.
const KEPT: &str = "kept";
/// The mark of a transfer that is shared along a column.
const COLUMN: &str = "along_column";
/// Bytes behind a shared box and behind a share of it that whole registers may overwrite.
const SLACK: i64 = 32;
/// Cores of a line.
const CORES: i64 = 8;

/// The cores of this kernel, and how they share.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// Variables of rows and columns of cores, where the loops allow to share.
    cores: Option<[Name; 2]>,
    /// Conditions under which this core has a tile.
    pub here: Vec<String>,
    /// Shares that are under way, by reply.
    pub under_way: Vec<Shared>,
}

/// A shared transfer, brought in.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// The reply.
    pub tag: Name,
    /// The whole box.
    pub copy: Copy,
    line: &'static str,
    /// Where this core's share is.
    pub stage: String,
    /// Columns of a box, where the share is of two boxes that follow each other.
    pub pair: Option<i64>,
    /// What the share is multiplied with before it goes to the others: lines over the elements.
    pub scaled: Vec<String>,
}

/// A shared transfer and its line.
pub(super) fn shared(stmt: &Stmt) -> Option<(&Copy, &'static str)> {
    let Stmt::Block { mark: Some(mark), body } = stmt else { return None };
    let line = if mark.as_str() == ROW {
        ROW
    } else if mark.as_str() == COLUMN {
        COLUMN
    } else {
        return None;
    };
    match body.as_slice() {
        [Stmt::Copy(copy)] if copy.kind == CopyKind::Get && copy.extents.len() == 2 => Some((copy, line)),
        _ => None,
    }
}

/// A transfer whose box stays in local memory.
pub(super) fn kept(stmt: &Stmt) -> Option<&Copy> {
    let Stmt::Block { mark: Some(mark), body } = stmt else { return None };
    match body.as_slice() {
        [Stmt::Copy(copy)] if mark.as_str() == KEPT && copy.kind == CopyKind::Get => Some(copy),
        _ => None,
    }
}

pub(super) fn has_shared(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |s| found |= shared(s).is_some());
    found
}

/// Bytes of a core's share of a box.
pub(super) fn stage_bytes(most: i64, rows: i64) -> i64 {
    let share = most / rows.max(1) * ((rows + CORES - 1) / CORES);
    (share + SLACK + 63) / 64 * 64
}

/// Columns of a shared box whose extent is a constant, or what is left of the array.
pub(super) fn pair(copy: &Copy) -> Option<i64> {
    match copy.extents.get(1) {
        Some(Expr::Binary(loops::BinaryOp::Min, a, b)) => match (&**a, &**b) {
            (Expr::Int(n), _) | (_, Expr::Int(n)) => Some(*n),
            _ => None,
        },
        _ => None,
    }
}

/// Whether all cores come by the shared transfers of some statements equally often, with boxes that are the same along their lines.
fn alike(body: &[Stmt], cores: &[Name; 2], rows: &[Name], columns: &[Name]) -> bool {
    let moved = |e: &Expr, by: &[Name]| e.vars().iter().any(|v| by.contains(v));
    let either = |e: &Expr| moved(e, rows) || moved(e, columns);
    body.iter().filter(|s| has_shared(s)).all(|stmt| {
        if let Some((copy, line)) = shared(stmt) {
            let by = if line == ROW { columns } else { rows };
            return copy.from.indices.iter().chain(&copy.extents).all(|e| !moved(e, by));
        }
        match stmt {
            Stmt::Loop(l) if l.kind != LoopKind::Parallel && !either(&l.upper) => {
                let (mut rows, mut columns) = (rows.to_vec(), columns.to_vec());
                if l.lower == Expr::Var(cores[0].clone()) && l.step == CORES {
                    rows.push(l.var.clone());
                } else if l.lower == Expr::Var(cores[1].clone()) && l.step == CORES {
                    columns.push(l.var.clone());
                } else if either(&l.lower) {
                    return false;
                }
                alike(&l.body, cores, &rows, &columns)
            }
            Stmt::Block { body, .. } => alike(body, cores, rows, columns),
            _ => false,
        }
    })
}

impl Writer<'_> {
    /// Looks at the statements of all cores: may they share?
    pub(super) fn begin_sharing(&mut self, body: &[Stmt], rows: &Name, columns: &Name) {
        let cores = [rows.clone(), columns.clone()];
        let may = body.iter().any(has_shared)
            && alike(body, &cores, std::slice::from_ref(rows), std::slice::from_ref(columns));
        self.sharing = Sharing { cores: may.then_some(cores), ..Sharing::default() };
        self.helpers |= may;
    }

    /// A loop over this core's tiles that others share in: as many rounds for all. Its head, and the condition for a tile of this core.
    pub(super) fn rounds(&self, l: &Loop, upper: &str) -> Option<(String, String)> {
        let cores = self.sharing.cores.as_ref()?;
        let core = cores.iter().find(|core| l.lower == Expr::Var((*core).clone()))?;
        if l.step != CORES || !l.body.iter().any(has_shared) {
            return None;
        }
        let var = &l.var;
        Some((
            format!("for (long {var} = {core}; {var} - {core} < {upper}; {var} += {CORES}) {{"),
            format!("{var} < {upper}"),
        ))
    }

    /// Whether the cores of this kernel share.
    pub(super) fn may_share(&self) -> bool {
        self.sharing.cores.is_some()
    }

    /// Bytes for this core's shares of the shared boxes of a block.
    pub(super) fn shares_of(&self, block: &[Stmt]) -> Result<i64, Diagnostic> {
        let mut bytes = 0;
        for (copy, _) in block.iter().filter(|s| self.is_shared(s)).filter_map(shared) {
            for stmt in block {
                if let Stmt::Local(local) = stmt
                    && local.name == copy.to.array
                {
                    let (most, rows) = self.most(local)?;
                    bytes += stage_bytes(most, rows);
                }
            }
        }
        Ok(bytes)
    }

    /// Whether a statement is a shared transfer that is to be shared.
    pub(super) fn is_shared(&self, stmt: &Stmt) -> bool {
        self.sharing.cores.is_some() && shared(stmt).is_some()
    }

    /// Bytes that a local array takes beside its elements, if it is shared.
    pub(super) fn slack(&self, local: &Name, block: &[Stmt]) -> i64 {
        let used =
            block.iter().any(|s| self.is_shared(s) && shared(s).is_some_and(|(c, _)| c.to.array == *local));
        if used { SLACK } else { 0 }
    }

    /// Places for this core's shares of the shared boxes of a block, and the transfers that they come by.
    pub(super) fn stages(&mut self, block: &[Stmt], pairs: &[Name]) -> Result<Vec<Shared>, Diagnostic> {
        let mut all = Vec::new();
        for (copy, line) in block.iter().filter_map(shared) {
            let Some(tag) = copy.tag.clone() else { return Err(invalid("a copy without a reply")) };
            let declared = block.iter().find_map(|s| match s {
                Stmt::Local(local) if local.name == copy.to.array => Some(local),
                _ => None,
            });
            let Some(local) = declared else {
                return Err(invalid("a shared box that is not declared beside it"));
            };
            let (most, rows) = self.most(local)?;
            let stage = format!("share_of_{}", copy.to.array);
            self.line(&format!("char *const {stage} = lozenge_ldm + {};", self.next));
            let pair = pairs.contains(&tag).then(|| pair(copy)).flatten();
            self.take(stage_bytes(if pair.is_some() { 2 * most } else { most }, rows));
            if let Some(columns) = pair {
                // Half of the lines bring in one box first: then each step has as much to bring in.
                let across = self.place(if line == ROW { COLUMN } else { ROW });
                self.line(&format!(
                    "long {stage}_at = 0, {stage}_columns = 0, {stage}_wanted = {across} % 2 ? {columns} : {};",
                    2 * columns
                ));
            }
            all.push(Shared { tag, copy: copy.clone(), line, stage, pair, scaled: Vec::new() });
        }
        Ok(all)
    }

    /// Starts to bring in this core's share.
    pub(super) fn bring(&mut self, shared: &Shared, copy: &Copy) -> Result<(), Diagnostic> {
        let Some(Binding::Linear { pitches, elem, .. }) = self.scope.names.get(&copy.from.array).cloned()
        else {
            return Err(invalid(format!("`{}` is not in main memory", copy.from.array)));
        };
        let memory = print(&self.scope.access(&copy.from)?);
        let (rows, columns) = (self.scope.text(&copy.extents[0])?, self.scope.text(&copy.extents[1])?);
        let (tag, stage) = (&shared.tag, &shared.stage);
        let place = self.place(shared.line);
        let mut wanted = columns;
        if shared.pair.is_some() {
            let (Expr::Binary(_, a, b), true) = (&copy.extents[1], pair(copy).is_some()) else {
                return Err(invalid("a pair of boxes without an end"));
            };
            let rest = self.scope.text(if matches!(**a, Expr::Int(_)) { b } else { a })?;
            self.open(&format!("if ({stage}_at >= {stage}_columns) {{"));
            self.line(&format!("{stage}_columns = LOZENGE_MIN({stage}_wanted, {rest});"));
            wanted = format!("{stage}_columns");
        }
        self.line(&format!(
            "{tag}_sent += get_share({stage}, &{memory}, {rows}, {wanted}, {}, {}, {place}, &{tag});",
            pitches[0],
            elem.bytes()
        ));
        if let Some(columns) = shared.pair {
            self.line(&format!("{stage}_at = 0, {stage}_wanted = {};", 2 * columns));
            self.close();
        }
        Ok(())
    }

    /// This core's place in a line.
    fn place(&self, line: &str) -> Name {
        let cores = self.sharing.cores.clone().unwrap_or_else(|| [Name::new("rid"), Name::new("cid")]);
        let [row, column] = cores;
        if line == ROW { column } else { row }
    }

    /// A shared transfer where nothing is brought in ahead.
    pub(super) fn bring_here(&mut self, stmt: &Stmt, block: &[Stmt]) -> Result<(), Diagnostic> {
        let only = |s: &Stmt| s == stmt || matches!(s, Stmt::Local(_));
        let own: Vec<Stmt> = block.iter().filter(|s| only(s)).cloned().collect();
        for shared in self.stages(&own, &[])? {
            let copy = shared.copy.clone();
            self.bring(&shared, &copy)?;
            self.sharing.under_way.push(shared);
        }
        Ok(())
    }

    /// The exchange behind a wait for a shared transfer.
    pub(super) fn exchange(&mut self, tag: &Name) -> Result<(), Diagnostic> {
        let Some(at) = self.sharing.under_way.iter().position(|s| s.tag == *tag) else { return Ok(()) };
        let shared = self.sharing.under_way[at].clone();
        let (rows, columns) =
            (self.scope.text(&shared.copy.extents[0])?, self.scope.text(&shared.copy.extents[1])?);
        let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&shared.copy.to.array) else {
            return Err(invalid(format!("`{}` is not in local memory", shared.copy.to.array)));
        };
        let (line, stage, place) = (shared.line, &shared.stage, self.place(shared.line));
        let (array, bytes) = (&shared.copy.to.array, elem.bytes());
        if !shared.scaled.is_empty() {
            let all = match shared.pair {
                None => columns.clone(),
                Some(_) => format!("{stage}_columns"),
            };
            // Of two boxes with the first.
            self.open(&if shared.pair.is_some() {
                format!("if ({stage}_at == 0) {{")
            } else {
                "{".to_owned()
            });
            self.line(&format!("const long shared_end = shared_elements({rows}, {all}, {place});"));
            for line in &shared.scaled {
                self.line(line);
            }
            self.close();
        }
        if shared.pair.is_some() {
            self.line(&format!("share_pieces_{line}((char *){array}, {stage} + {stage}_at * {bytes}, {stage}_columns, {rows}, {columns}, {bytes}, {place});"));
            self.line(&format!("{stage}_at += {columns};"));
            return Ok(());
        }
        self.line(&format!("share_{line}((char *){array}, {stage}, {rows}, {columns}, {bytes}, {place});"));
        Ok(())
    }
}
