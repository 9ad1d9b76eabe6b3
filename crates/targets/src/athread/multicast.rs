//! Multicast: boxes that all cores of a row, of a column, or all cores need. Each core brings in a
//! share while the tile before is computed, and the cores exchange the rest.
//!
//! The mapping marks such transfers. This module checks that all cores execute them equally often.
//! Loops over a core's tiles are padded to the same number of rounds for all cores. A core without
//! a tile has empty boxes, and takes part in the exchanges of the others.

use loops::visit::nodes;
use loops::{ArrayDecl, Copy, CopyKind, Diagnostic, Expr, Loop, Name, Stmt};

use super::expr::{Binding, invalid, print};
use super::modulo_buffers::Steps;
use super::rounds::{self, Round};
use super::slave::Writer;

/// The mark of a transfer that is shared along a row.
pub(super) const ROW: &str = "along_row";
/// The mark of a transfer that is the same for all tiles.
const KEPT: &str = "kept";
/// The mark of a transfer that is shared along a column.
pub(super) const COLUMN: &str = "along_column";
/// The mark of a transfer that is shared by all cores.
pub(super) const ALL: &str = "among_all";
/// The mark of a transfer that is shared by all cores, whose shares may be stationary.
const STAY: &str = "kept_among_all";
/// The mark of a transfer that is broadcast to all cores, or else shared by them.
const CAST: &str = "cast_to_all";
/// The mark of a transfer of a core's own box beside shared ones: it comes as a share of all its
/// rows.
pub(super) const ALONE: &str = "by_itself";
/// Bytes behind a shared box and behind a share of it that whole registers may overwrite.
const SLACK: i64 = 32;
/// Cores of a row of the chip.
pub(super) const CORES: i64 = 8;

/// The cores of a kernel: the variables of the loops over them, with their ends.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    loops: Vec<(Name, i64)>,
    /// Rows and columns on the chip.
    pub places: (i64, i64),
}

impl Cores {
    /// Cores that are whole rows of the chip, or one row.
    fn of(loops: &[(Name, i64)]) -> Option<Cores> {
        let places = match loops {
            [(_, n)] if *n > 1 && *n <= CORES => (1, *n),
            [(_, n)] if n % CORES == 0 => (n / CORES, CORES),
            [(_, rows), (_, columns)] if *columns == CORES || (*rows == 1 && *columns > 1) => {
                (*rows, *columns)
            }
            _ => return None,
        };
        Some(Cores { loops: loops.to_vec(), places })
    }

    /// The maximal number of rows of a box that one of the sharing cores brings in.
    fn share(&self, line: &str, rows: i64) -> i64 {
        let parts = |rows: i64, cores: i64| (rows + cores - 1) / cores;
        match line {
            ROW => parts(rows, self.places.1),
            COLUMN => parts(rows, self.places.0),
            ALONE => rows,
            _ => parts(parts(rows, self.places.1), self.places.0),
        }
    }
}

/// How the cores of this kernel share.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// The cores, where the loops allow to share.
    cores: Option<Cores>,
    /// The loops that are as long for all of them.
    rounds: Vec<Round>,
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
    pub line: &'static str,
    /// Where this core's share is.
    pub stage: String,
    /// Columns of a box, where the share is of several boxes that follow each other, and how many
    /// these are.
    pub pair: Option<(i64, i64)>,
    /// The factor by which the share is multiplied before it goes to the others: lines over the
    /// elements.
    pub scaled: Vec<String>,
    /// The position of this core, if it differs from that on the chip. The share is then
    /// stationary.
    pub place: Option<Name>,
    /// How it is prefetched, if not in the step before its use.
    pub steps: Option<Steps>,
}

/// The box in local memory that a transfer fills, declared in the same block.
pub(super) fn box_of<'b>(block: &'b [Stmt], copy: &Copy) -> Option<&'b ArrayDecl> {
    block.iter().find_map(|s| match s {
        Stmt::Local(local) if local.name == copy.to.array => Some(local),
        _ => None,
    })
}

/// A shared transfer and its line.
pub(super) fn shared(stmt: &Stmt) -> Option<(&Copy, &'static str)> {
    let Stmt::Block { mark: Some(mark), body } = stmt else { return None };
    let line = match mark.as_str() {
        CAST | STAY => ALL,
        mark => [ROW, COLUMN, ALL, ALONE].into_iter().find(|line| mark == *line)?,
    };
    match body.as_slice() {
        [Stmt::Copy(copy)] if copy.kind == CopyKind::Get && (1..=2).contains(&copy.extents.len()) => {
            Some((copy, line))
        }
        _ => None,
    }
}

/// Whether a shared transfer may be broadcast.
pub(super) fn may_be_cast(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Block { mark: Some(mark), .. } if mark.as_str() == CAST)
}

/// Whether the shares of a transfer may stay.
pub(super) fn may_stay(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Block { mark: Some(mark), .. } if mark.as_str() == STAY)
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
    stmt.nodes().any(|s| shared(s).is_some())
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

impl Writer<'_> {
    /// Analyses whether cores may share in these statements. `loops` are those over the cores, with
    /// their ends. If not, a note says why.
    pub(super) fn begin_sharing(&mut self, body: &[Stmt], loops: &[(Name, i64)]) {
        self.sharing = Sharing::default();
        if !body.iter().any(has_shared) {
            return;
        }
        match self.sharing_of(body, loops) {
            Ok(sharing) => {
                self.helpers = self.helpers.or(sharing.cores.as_ref().map(|cores| cores.places));
                self.sharing = sharing;
            }
            Err(why) => {
                let mut arrays: Vec<String> = Vec::new();
                for (copy, _) in nodes(body).filter_map(shared).filter(|(_, line)| *line != ALONE) {
                    let array = format!("`{}`", copy.from.array);
                    if !arrays.contains(&array) {
                        arrays.push(array);
                    }
                }
                self.notes.push(format!(
                    "each core brings in boxes of {} for itself, which the mapping has cores share: {why}",
                    arrays.join(", ")
                ));
            }
        }
    }

    /// How the cores share, or why they don't.
    fn sharing_of(&self, body: &[Stmt], loops: &[(Name, i64)]) -> Result<Sharing, String> {
        let cores = Cores::of(loops).ok_or("its cores are no whole rows of the chip")?;
        if self.helpers.is_some_and(|places| places != cores.places) {
            return Err("other kernels of the file share on another number of cores".to_owned());
        }
        let rounds = rounds::alike(body, loops, cores.places.0 > 1)?;
        Ok(Sharing { cores: Some(cores), rounds, ..Sharing::default() })
    }

    /// A loop over this core's tiles in which cores share, with the same number of rounds for all.
    /// The core, and the end of the loop for the first core.
    pub(super) fn round(&self, l: &Loop) -> Option<(&Name, &Expr)> {
        let cores = self.sharing.cores.as_ref()?;
        let (core, n) = cores.loops.iter().find(|(core, _)| l.lower == Expr::Var(core.clone()))?;
        if l.step != *n || !l.body.iter().any(has_shared) {
            return None;
        }
        Some((core, &rounds::of(&self.sharing.rounds, l)?.end))
    }

    /// Whether statements write back a box that is the same for several tiles. A core without a
    /// tile must not do so.
    pub(super) fn brings_out_alike(&self, body: &[Stmt]) -> bool {
        let moves = |copy: &Copy| {
            let all = copy.to.indices.iter().chain(&copy.extents);
            all.flat_map(Expr::vars).any(|var| self.sharing.rounds.iter().any(|round| round.var == var))
        };
        nodes(body).any(|s| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Put && !moves(c)))
    }

    /// Whether the cores of this kernel share.
    pub(super) fn may_share(&self) -> bool {
        self.sharing.cores.is_some()
    }

    /// Bytes for this core's shares of the shared boxes of a block.
    pub(super) fn shares_of(&self, block: &[Stmt]) -> Result<i64, Diagnostic> {
        let mut bytes = 0;
        for (copy, line) in self.not_held(block).iter().filter(|s| self.is_shared(s)).filter_map(shared) {
            for stmt in block {
                if let Stmt::Local(local) = stmt
                    && local.name == copy.to.array
                {
                    let (most, rows) = self.most(local)?;
                    bytes += self.stage_bytes(line, most, rows);
                }
            }
        }
        Ok(bytes)
    }

    /// Bytes of a core's share of a box.
    pub(super) fn stage_bytes(&self, line: &str, most: i64, rows: i64) -> i64 {
        let share = self.sharing.cores.as_ref().map_or(rows, |cores| cores.share(line, rows));
        (most / rows.max(1) * share + SLACK + 63) / 64 * 64
    }

    /// The rows of cores that may take turns in keeping shares.
    pub(super) fn takes_turns(&self) -> Option<i64> {
        let (rows, columns) = self.sharing.cores.as_ref().filter(|_| self.registers())?.places;
        (columns == CORES).then_some(rows)
    }

    /// How many boxes with short rows are brought in at once: two shared ones; of a core's own, if
    /// there are many cores, as many as make rows of 512 bytes.
    pub(super) fn at_once(&self, line: &str, bytes: i64) -> i64 {
        let many = self.sharing.cores.as_ref().is_some_and(|cores| cores.places.0 * cores.places.1 >= 64);
        if line == ALONE && many { (512 / bytes.max(1)).clamp(2, 4) } else { 2 }
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

    /// Begins the buffer for this core's share of a box. Returns the reply of its transfers, the
    /// box, and the name of the buffer.
    pub(super) fn stage<'b>(
        &mut self,
        block: &'b [Stmt],
        copy: &Copy,
    ) -> Result<(Name, &'b ArrayDecl, String), Diagnostic> {
        let Some(tag) = copy.tag.clone() else { return Err(invalid("a copy without a reply")) };
        let Some(local) = box_of(block, copy) else {
            return Err(invalid("a shared box that is not declared beside it"));
        };
        let stage = format!("share_of_{}", copy.to.array);
        self.line(&format!("char *const {stage} = lozenge_ldm + {};", self.next));
        Ok((tag, local, stage))
    }

    /// Buffers for this core's shares of the shared boxes of a block, and the transfers that fill
    /// them.
    pub(super) fn stages(&mut self, block: &[Stmt], pairs: &[Name]) -> Result<Vec<Shared>, Diagnostic> {
        let mut all = Vec::new();
        for (copy, line) in block.iter().filter_map(shared) {
            let (tag, local, stage) = self.stage(block, copy)?;
            let (most, rows) = self.most(local)?;
            let pair = pairs.contains(&tag).then(|| pair(copy)).flatten();
            let bytes = if let loops::Elem::Scalar(elem) = local.elem { elem.bytes() as i64 } else { 8 };
            let pair = pair.map(|columns| (columns, self.at_once(line, columns * bytes)));
            self.take(self.stage_bytes(line, pair.map_or(1, |(_, boxes)| boxes) * most, rows));
            if let Some((columns, boxes)) = pair {
                // Some of the lines bring in fewer boxes first, so that each step brings in the
                // same amount.
                let across = self.place(if line == ROW { COLUMN } else { ROW });
                self.line(&format!(
                    "long {stage}_at = 0, {stage}_columns = 0, {stage}_wanted = {across} % 2 ? {} : {};",
                    boxes / 2 * columns,
                    boxes * columns
                ));
            }
            let (copy, scaled) = (copy.clone(), Vec::new());
            all.push(Shared { tag, copy, line, stage, pair, scaled, place: None, steps: None });
        }
        Ok(all)
    }

    /// Rows and columns of a shared box; each element of a vector is a row.
    pub(super) fn rows_and_columns(&self, copy: &Copy) -> Result<(String, String), Diagnostic> {
        let columns = copy.extents.get(1).map_or(Ok("1".to_owned()), |e| self.scope.text(e))?;
        Ok((self.scope.text(&copy.extents[0])?, columns))
    }

    /// Starts to bring in this core's share.
    pub(super) fn bring(&mut self, shared: &Shared, copy: &Copy) -> Result<(), Diagnostic> {
        let Some(Binding::Linear { pitches, elem, .. }) = self.scope.names.get(&copy.from.array).cloned()
        else {
            return Err(invalid(format!("`{}` is not in main memory", copy.from.array)));
        };
        let memory = print(&self.scope.access(&copy.from)?);
        let (rows, columns) = self.rows_and_columns(copy)?;
        let pitch = if copy.extents.len() > 1 { pitches[0].clone() } else { columns.clone() };
        let (tag, stage) = (&shared.tag, &shared.stage);
        let place = shared.place.clone().unwrap_or_else(|| self.place(shared.line));
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
            "{tag}_sent += get_share_{}({stage}, &{memory}, {rows}, {wanted}, {}, {}, {place}, &{tag});",
            shared.line,
            pitch,
            elem.bytes()
        ));
        if let Some((columns, boxes)) = shared.pair {
            self.line(&format!("{stage}_at = 0, {stage}_wanted = {};", boxes * columns));
            self.close();
        }
        Ok(())
    }

    /// This core's place among those who share.
    fn place(&self, line: &str) -> Name {
        let loops = self.sharing.cores.as_ref().map_or(&[][..], |cores| &cores.loops);
        match (line, loops) {
            (ROW, [_, (column, _)]) => column.clone(),
            (COLUMN, [(row, _), _]) => row.clone(),
            _ => Name::new("lozenge_core"),
        }
    }

    /// A shared transfer where nothing is brought in ahead.
    pub(super) fn bring_here(&mut self, stmt: &Stmt, block: &[Stmt]) -> Result<(), Diagnostic> {
        let held = self.held_among(std::slice::from_ref(stmt));
        if !held.is_empty() {
            self.sharing.under_way.extend(held);
            return Ok(());
        }
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
        if shared.steps.is_some() {
            return self.exchange_ahead(&shared);
        }
        let (rows, columns) = self.rows_and_columns(&shared.copy)?;
        let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&shared.copy.to.array) else {
            return Err(invalid(format!("`{}` is not in local memory", shared.copy.to.array)));
        };
        let (line, stage) = (shared.line, &shared.stage);
        let place = shared.place.clone().unwrap_or_else(|| self.place(line));
        let (array, bytes) = (&shared.copy.to.array, elem.bytes());
        let all = if shared.pair.is_some() { format!("{stage}_columns") } else { columns.clone() };
        // Of two boxes with the first.
        let first = shared.pair.map(|_| format!("if ({stage}_at == 0) {{"));
        self.scaled_share(&shared, &first.unwrap_or_else(|| "{".to_owned()), [&rows, &all, place.as_str()]);
        if shared.pair.is_some() {
            self.line(&format!("share_pieces_{line}((char *){array}, {stage} + {stage}_at * {bytes}, {stage}_columns, {rows}, {columns}, {bytes}, {place});"));
            self.line(&format!("{stage}_at += {columns};"));
            return Ok(());
        }
        self.line(&format!("share_{line}((char *){array}, {stage}, {rows}, {columns}, {bytes}, {place});"));
        Ok(())
    }

    /// Multiplies this core's share of a box with what a contraction takes it times.
    pub(super) fn scaled_share(&mut self, shared: &Shared, open: &str, [rows, columns, place]: [&str; 3]) {
        if shared.scaled.is_empty() {
            return;
        }
        self.open(open);
        let line = shared.line;
        self.line(&format!("const long shared_end = shared_elements_{line}({rows}, {columns}, {place});"));
        for line in &shared.scaled {
            self.line(line);
        }
        self.close();
    }

    /// Whether a reply is one of a share that comes ahead.
    pub(super) fn comes_ahead(&self, tag: &Name) -> bool {
        self.sharing.under_way.iter().any(|share| share.tag == *tag && share.steps.is_some())
    }
}
