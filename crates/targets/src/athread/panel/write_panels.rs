//! Writes the text of a loop over panels.

use loops::{Copy, CopyKind, Diagnostic, Expr, Local, Loop, Name, Stmt};

use super::{EXCHANGED, Held, PIECES, Panels, ROW, SHARE, bytes_of};
use crate::athread::chip::Chip;
use crate::athread::expr::{Binding, invalid};
use crate::athread::slave::Writer;

/// Statements without declarations, waits and what is brought in, and without a loop that has one
/// iteration; `outward`: what goes out stays.
pub(super) fn computing(body: &[Stmt], once: Option<&Name>, outward: bool) -> Vec<Stmt> {
    let mut all = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Local(_) | Stmt::Wait(_) => {}
            Stmt::Copy(copy) if copy.kind == CopyKind::Get || !outward => {}
            Stmt::Loop(l) if once == Some(&l.var) => all.extend(computing(&l.body, once, outward)),
            Stmt::Block { mark: None, body } => all.extend(computing(body, once, outward)),
            Stmt::Block { mark: Some(mark), body }
                if mark.as_str() == EXCHANGED || matches!(body.as_slice(), [Stmt::Copy(_)]) => {}
            other => all.push(other.map(&mut Expr::clone, &mut |inner| computing(inner, once, outward))),
        }
    }
    all
}

/// Statements with a loop over pieces of the rows in them, for one piece: what is before the loop
/// is for the first, what is after it for the last.
fn piecewise(body: &[Stmt], along: &Loop, count: &Name) -> Vec<Stmt> {
    let here = |s: &Stmt| s.nodes().any(|s| matches!(s, Stmt::Loop(l) if l.var == along.var));
    let Some(at) = body.iter().position(here) else { return body.to_vec() };
    let only = |piece: Expr, then: &[Stmt]| {
        let cond = Expr::compare(loops::CompareOp::Eq, Expr::Var(along.var.clone()), piece);
        (!then.is_empty()).then(|| Stmt::If { cond, then: then.to_vec(), otherwise: vec![] })
    };
    let mut all: Vec<Stmt> = only(Expr::Int(0), &body[..at]).into_iter().collect();
    match &body[at] {
        Stmt::Loop(l) if l.var == along.var => all.extend(l.body.clone()),
        other => all.push(other.map(&mut Expr::clone, &mut |inner| piecewise(inner, along, count))),
    }
    all.extend(only(Expr::Var(count.clone()) - 1, &body[at + 1..]));
    all
}

pub(super) fn whole(bytes: i64) -> i64 {
    (bytes + 63) / 64 * 64
}

impl Writer<'_> {
    /// Code that is correct only if a condition holds at run time. The code after it is correct in
    /// any case, and does not depend on it.
    pub(super) fn where_it_holds(
        &mut self,
        condition: &str,
        write: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let (scope, moved, written) =
            (self.scope.clone(), std::mem::take(&mut self.moved), std::mem::take(&mut self.written));
        self.kept.clear();
        self.open(&format!("if ({condition}) {{"));
        write(self)?;
        self.close();
        (self.scope, self.moved, self.written) = (scope, moved, written);
        Ok(())
    }

    /// Writes a loop over panels; `false` if it is not one, or does not fit.
    pub(in crate::athread) fn panels(&mut self, l: &Loop, chip: &Chip) -> Result<bool, Diagnostic> {
        let Some(mut p) = Panels::of(l) else { return Ok(false) };
        if chip.crts || p.cores > chip.grid.0 * chip.grid.1 {
            return Ok(false);
        }
        let matrix = p.matrix.get.clone().map(|c| c.from.array).unwrap_or_else(|| Name::new(""));
        let Some(Binding::Linear { pitches, .. }) = self.scope.names.get(&matrix).cloned() else {
            return Ok(false);
        };
        for h in p.own.iter().chain(p.gathered.iter().map(|(h, _)| h)) {
            if p.each * bytes_of(h)? > SHARE {
                return Ok(false);
            }
        }
        // Places: the rows twice first, since an exchange may read on behind them.
        let start = self.next;
        let mut next = start;
        let mut place = |bytes: i64| {
            let at = next;
            next += whole(bytes);
            at
        };
        let rows_bytes = whole(self.most(&p.matrix.local)?.0);
        p.matrix.at = place(2 * rows_bytes);
        p.strip.at = place(p.columns_bytes());
        let half_way = place(p.columns_bytes());
        for h in &mut p.own {
            h.at = place(2 * SHARE);
        }
        let mut shares = Vec::new();
        for (h, made) in &mut p.gathered {
            h.at = place(self.most(&h.local)?.0);
            shares.push(if made.is_some() { 0 } else { place(2 * SHARE) });
        }
        let rounds = p.rounds();
        let mut a_piece = 0;
        for h in &p.along {
            a_piece += whole(self.most(&h.local)?.0);
        }
        for h in &p.strips {
            a_piece += rounds * whole(self.most(&h.local)?.0);
        }
        if p.by_pieces() {
            p.pieces = ((self.capacity() - next) / a_piece.max(1)).clamp(1, PIECES);
        }
        let mut place = |bytes: i64| {
            let at = next;
            next += whole(bytes);
            at
        };
        for h in &mut p.along {
            h.at = place(p.pieces * whole(self.most(&h.local)?.0));
        }
        for h in &mut p.strips {
            h.at = place(p.pieces * rounds * whole(self.most(&h.local)?.0));
        }
        if next > self.capacity() {
            return Ok(false);
        }
        self.next = start;
        self.take(next - start);
        self.exchanges = true;
        let short = format!("{} <= {}", pitches[0], p.width * p.pieces);
        self.where_it_holds(&short, |slave| slave.by_panels(&p, &shares, half_way, rows_bytes, &pitches[0]))?;
        self.next = start;
        Ok(true)
    }

    fn by_panels(
        &mut self,
        p: &Panels,
        shares: &[i64],
        half_way: i64,
        rows_bytes: i64,
        width: &str,
    ) -> Result<(), Diagnostic> {
        let (lower, upper) = (self.scope.text(&p.l.lower)?, self.scope.text(&p.l.upper)?);
        let (var, strip_var, along) = (&p.l.var, &p.strips_loop.var, &p.along_rows.var);
        let strips_end = self.scope.text(&p.strips_loop.upper)?;
        let mut cores = vec![&p.rows.var, &p.columns.var];
        cores.dedup();
        for core in cores {
            self.line(&format!("const long {core} = lozenge_core;"));
            self.bind(core);
        }
        let count = p.count();
        if p.pieces == 1 {
            self.line(&format!("const long {along} = 0;"));
        } else {
            let pieces = self.scope.text(&p.along_rows.upper)?;
            self.line(&format!("const long {count} = LOZENGE_MAX(1, {pieces});"));
            self.bind(&count);
        }
        self.bind(along);
        self.line(&format!("const long {var}_first = {lower}, {var}_last = {upper};"));
        self.line(&format!("const long panel_rounds = ({strips_end} + {}) / {};", p.cores - 1, p.cores));
        self.line("long panel_half = 0;");
        if p.pieces > 1 {
            self.line("long piece_half = 0;");
        }
        let piece = p
            .strips
            .iter()
            .map(|h| Ok(whole(self.most(&h.local)?.0)))
            .collect::<Result<Vec<_>, Diagnostic>>()?;
        // What stays for all panels.
        for h in &p.along {
            self.open(&match p.pieces {
                1 => "{".to_owned(),
                _ => format!("for (long {along} = 0; {along} < {count}; {along}++) {{"),
            });
            let scope = self.scope.clone();
            self.declare_along(p, h)?;
            self.moves(h.get.as_ref())?;
            self.scope = scope;
            self.close();
        }
        self.all_strips(p, &piece, strip_var, &strips_end, |h| h.get.as_ref())?;
        self.bind(var);
        self.open(&format!("if ({var}_first < {var}_last) {{"));
        self.line(&format!("const long {var} = {var}_first;"));
        if p.pieces > 1 {
            self.line(&format!("const long {along} = 0;"));
        }
        self.bring_rows(p, rows_bytes, "0")?;
        self.bring_own(p, shares, "0")?;
        self.close();
        for h in p.along.iter().chain(&p.strips) {
            self.wait_for(h.tag());
        }
        self.open(&format!("for (long {var} = {var}_first; {var} < {var}_last; {var}++) {{"));
        let matrix = p.matrix.tag();
        let brought = p.own.iter().chain(p.gathered.iter().map(|(h, _)| h));
        let mut tags: Vec<&Name> = Vec::new();
        for tag in brought.filter_map(Held::tag) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        if p.pieces == 1 {
            self.wait_for(matrix);
            tags.iter().for_each(|tag| self.wait_for(Some(tag)));
            self.open(&format!("if ({var} + 1 < {var}_last) {{"));
            self.line(&format!("const long panel_next = {var} + 1;"));
            self.open("{");
            self.line(&format!("const long {var} = panel_next;"));
            self.bring_rows(p, rows_bytes, "(1 - panel_half)")?;
            self.bring_own(p, shares, "(1 - panel_half)")?;
            self.close();
            self.close();
            self.rows_of_panel(p, rows_bytes)?;
            self.gather(p, shares, half_way)?;
            self.columns_of_panel(p, &piece, half_way, rows_bytes, width, &strips_end)?;
        } else {
            tags.iter().for_each(|tag| self.wait_for(Some(tag)));
            self.open(&format!("for (long {along} = 0; {along} < {count}; {along}++) {{"));
            self.wait_for(matrix);
            self.line(&format!("const long piece_next = {along} + 1 < {count} ? {along} + 1 : 0;"));
            self.line(&format!("const long panel_next = piece_next == 0 ? {var} + 1 : {var};"));
            self.open(&format!("if (panel_next < {var}_last) {{"));
            self.line(&format!("const long {var} = panel_next, {along} = piece_next;"));
            self.bring_rows(p, rows_bytes, "(1 - piece_half)")?;
            self.open(&format!("if ({along} == 0) {{"));
            self.bring_own(p, shares, "(1 - panel_half)")?;
            self.close();
            self.close();
            self.rows_of_panel(p, rows_bytes)?;
            self.open(&format!("if ({along} == 0) {{"));
            self.gather(p, shares, half_way)?;
            self.close();
            self.columns_of_panel(p, &piece, half_way, rows_bytes, width, &strips_end)?;
            self.line("piece_half = 1 - piece_half;");
            self.close();
        }
        self.line("panel_half = 1 - panel_half;");
        self.close();
        self.wait_for(matrix);
        tags.iter().for_each(|tag| self.wait_for(Some(tag)));
        self.all_strips(p, &piece, strip_var, &strips_end, |h| h.put.as_ref())?;
        for h in &p.strips {
            self.wait_for(h.tag());
        }
        Ok(())
    }

    /// What each core has of a vector along the columns of a panel.
    fn gather(&mut self, p: &Panels, shares: &[i64], half_way: i64) -> Result<(), Diagnostic> {
        for ((h, made), share) in p.gathered.iter().zip(shares) {
            let own = match made {
                Some(k) => p.own[*k].at,
                None => *share,
            };
            self.line(&format!(
                "gather_panel(lozenge_ldm + {}, lozenge_ldm + {half_way}, lozenge_ldm + {own} + {SHARE} * panel_half, {}, lozenge_core, {});",
                h.at,
                p.each * bytes_of(h)?,
                p.cores / ROW
            ));
        }
        Ok(())
    }

    /// A vector along the rows, or the part of it for this piece of them.
    fn declare_along(&mut self, p: &Panels, h: &Held) -> Result<(), Diagnostic> {
        let place = match p.pieces {
            1 => h.at.to_string(),
            _ => format!("{} + {} * {}", h.at, whole(self.most(&h.local)?.0), p.along_rows.var),
        };
        self.declare(&h.local, &place)
    }

    pub(super) fn wait_for(&mut self, tag: Option<&Name>) {
        if let Some(tag) = tag {
            let wait = self.wait_text(tag);
            self.line(&wait);
        }
    }

    pub(super) fn moves(&mut self, copy: Option<&Copy>) -> Result<(), Diagnostic> {
        copy.map_or(Ok(()), |copy| self.copy(copy))
    }

    /// Transfers of all strips of this core.
    fn all_strips(
        &mut self,
        p: &Panels,
        piece: &[i64],
        var: &Name,
        end: &str,
        copy: fn(&Held) -> Option<&Copy>,
    ) -> Result<(), Diagnostic> {
        if p.strips.iter().all(|h| copy(h).is_none()) {
            return Ok(());
        }
        let scope = self.scope.clone();
        self.open(&format!("for (long {var} = lozenge_core; {var} < {end}; {var} += {}) {{", p.cores));
        self.bind(var);
        for (h, bytes) in p.strips.iter().zip(piece) {
            self.declare(&h.local, &format!("{} + {bytes} * ({var} / {})", h.at, p.cores))?;
            self.moves(copy(h))?;
        }
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// Starts to bring in this core's rows of a panel, or a piece of them.
    fn bring_rows(&mut self, p: &Panels, rows_bytes: i64, half: &str) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        self.declare(&p.matrix.local, &format!("{} + {rows_bytes} * {half}", p.matrix.at))?;
        self.moves(p.matrix.get.as_ref())?;
        self.scope = scope;
        Ok(())
    }

    /// Starts to bring in what this core has of vectors along the columns of a panel.
    fn bring_own(&mut self, p: &Panels, shares: &[i64], half: &str) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        for h in p.own.iter().filter(|h| h.get.is_some()) {
            self.declare(&h.local, &format!("{} + {SHARE} * {half}", h.at))?;
            self.moves(h.get.as_ref())?;
        }
        let rows = p.matrix.get.as_ref().ok_or_else(|| invalid("rows that do not come in"))?;
        for ((h, _), at) in p.gathered.iter().zip(shares).filter(|((_, made), _)| made.is_none()) {
            let Some(get) = &h.get else { continue };
            let dims = vec![Expr::Int(p.each)];
            self.declare(&Local { dims, ..h.local.clone() }, &format!("{at} + {SHARE} * {half}"))?;
            let mut copy = get.clone();
            copy.from.indices = rows.from.indices[..1].to_vec();
            copy.extents = rows.extents[..1].to_vec();
            self.copy(&copy)?;
        }
        self.scope = scope;
        Ok(())
    }

    /// What the first loop over cores computes.
    fn rows_of_panel(&mut self, p: &Panels, rows_bytes: i64) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        self.open("{");
        let half = if p.pieces == 1 { "panel_half" } else { "piece_half" };
        self.declare(&p.matrix.local, &format!("{} + {rows_bytes} * {half}", p.matrix.at))?;
        for h in &p.own {
            self.declare(&h.local, &format!("{} + {SHARE} * panel_half", h.at))?;
        }
        for h in &p.along {
            self.declare_along(p, h)?;
        }
        let body = match p.pieces {
            1 => computing(&p.rows.body, Some(&p.along_rows.var), true),
            _ => piecewise(&computing(&p.rows.body, None, true), p.along_rows, &p.count()),
        };
        self.block(&body)?;
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// What the second loop over cores computes: a strip of columns for each core, then the next.
    fn columns_of_panel(
        &mut self,
        p: &Panels,
        piece: &[i64],
        half_way: i64,
        rows_bytes: i64,
        width: &str,
        end: &str,
    ) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        let (var, bytes, along) = (&p.strips_loop.var, p.piece * p.bytes, &p.along_rows.var);
        let (half, round, pitch) = match p.pieces {
            1 => {
                self.open("for (long panel_round = 0; panel_round < panel_rounds; panel_round++) {");
                ("panel_half", "panel_round".to_owned(), width.to_owned())
            }
            _ => {
                let rounds = p.rounds();
                self.line(&format!("const long piece_first = {rounds} * {along}, piece_last = LOZENGE_MIN(panel_rounds, {rounds} * {along} + {rounds});"));
                self.open("for (long panel_round = piece_first; panel_round < piece_last; panel_round++) {");
                let left = format!("LOZENGE_MIN({0}, {width} - {0} * {along})", p.width);
                ("piece_half", "(panel_round - piece_first)".to_owned(), left)
            }
        };
        self.line(&format!(
            "exchange_panel(lozenge_ldm + {}, lozenge_ldm + {half_way}, lozenge_ldm + {} + {rows_bytes} * {half} + {} * {round}, {pitch} * {}, {}, {bytes}, lozenge_core, {});",
            p.strip.at,
            p.matrix.at,
            p.cores * bytes,
            p.bytes,
            p.each,
            p.cores / ROW
        ));
        self.line(&format!("const long {var} = {} * panel_round + lozenge_core;", p.cores));
        self.bind(var);
        self.open(&format!("if ({var} < {end}) {{"));
        let dims = vec![Expr::Int(p.each * p.cores), Expr::Int(p.piece)];
        self.declare(&Local { dims, ..p.strip.local.clone() }, &p.strip.at.to_string())?;
        for (h, _) in &p.gathered {
            self.declare(&h.local, &h.at.to_string())?;
        }
        for (h, bytes) in p.strips.iter().zip(piece) {
            self.declare(&h.local, &format!("{} + {bytes} * panel_round", h.at))?;
        }
        let mut body = Vec::new();
        for stmt in &p.columns.body {
            body.extend(computing(std::slice::from_ref(stmt), Some(var), false));
        }
        self.block(&body)?;
        self.close();
        self.close();
        self.scope = scope;
        Ok(())
    }
}
