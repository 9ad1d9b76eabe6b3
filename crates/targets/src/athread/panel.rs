//! Panels: a matrix that the cores have by rows and need by columns goes through main memory once.
//!
//! The mapping has a loop over panels with two loops over cores in it: the first brings in rows of the panel, the second columns of it, with the mark
//! `exchanged`. Here the next panel's rows are on their way while one is worked on, columns come from the other cores through registers, vectors along the rows
//! and a core's strips of vectors along the columns stay in local memory for all panels, and what each core has of a vector along the columns of a panel is
//! gathered. Nothing waits for main memory in between, so there are no barriers either. Whether boxes are as large as that needs is asked at run time; where
//! not, the loops run as they are.

use loops::{Copy, CopyKind, Diagnostic, Expr, Local, Loop, LoopKind, Name, Stmt};

use super::ahead::{bound, factor};
use super::chip::Chip;
use super::expr::{Binding, invalid};
use super::slave::Writer;

/// The mark of a transfer of what the cores have already.
const EXCHANGED: &str = "exchanged";
/// Cores that exchange.
const CORES: i64 = 64;
/// Bytes of the registers that travel.
const REGISTER: i64 = 32;
/// Bytes for a core's share of a vector that is gathered: whole registers.
const SHARE: i64 = 64;

/// A box and how it comes and goes.
#[derive(Clone)]
struct Held {
    local: Local,
    get: Option<Copy>,
    put: Option<Copy>,
    /// Offset in local memory.
    at: i64,
}

/// A loop over panels.
struct Panels<'a> {
    l: &'a Loop,
    rows: &'a Loop,
    columns: &'a Loop,
    /// The loop along the rows, which has one iteration, and the one over a core's strips.
    along_rows: &'a Loop,
    strips_loop: &'a Loop,
    /// The matrix by rows, and by columns.
    matrix: Held,
    strip: Held,
    /// Elements of the panel's rows of this core, along a row, of its strips.
    own: Vec<Held>,
    along: Vec<Held>,
    strips: Vec<Held>,
    /// Elements of all rows of the panel; the buffer that this core's are in, if the rows' loop makes them.
    gathered: Vec<(Held, Option<usize>)>,
    /// Rows of a core, elements along a row, columns of a strip, bytes of an element.
    each: i64,
    width: i64,
    piece: i64,
    bytes: i64,
}

/// The boxes of a loop over cores.
fn held(body: &[Stmt]) -> Option<Vec<Held>> {
    let (mut all, mut copies): (Vec<Held>, Vec<Copy>) = (Vec::new(), Vec::new());
    for stmt in body {
        stmt.walk(&mut |s| match s {
            Stmt::Local(local) => all.push(Held { local: local.clone(), get: None, put: None, at: 0 }),
            Stmt::Copy(copy) => copies.push(copy.clone()),
            _ => {}
        });
    }
    for copy in copies {
        let name = if copy.kind == CopyKind::Get { &copy.to.array } else { &copy.from.array };
        let own = all.iter_mut().find(|h| h.local.name == *name)?;
        let place = if copy.kind == CopyKind::Get { &mut own.get } else { &mut own.put };
        if place.replace(copy).is_some() {
            return None;
        }
    }
    // What goes out is the box that came in.
    let same = |h: &Held| match (&h.get, &h.put) {
        (Some(get), Some(put)) => get.from == put.to && get.extents == put.extents,
        (None, None) => false,
        _ => true,
    };
    all.iter().all(same).then_some(all)
}

impl Held {
    fn outside(&self) -> Option<&loops::Access> {
        self.get.as_ref().map(|c| &c.from).or(self.put.as_ref().map(|c| &c.to))
    }

    /// Whether this is the box of a vector along one dimension of a matrix's box.
    fn follows(&self, matrix: &Copy, dim: usize) -> bool {
        let extents = self.get.as_ref().or(self.put.as_ref()).map(|c| c.extents.as_slice());
        self.outside().is_some_and(|a| a.indices == matrix.from.indices[dim..=dim])
            && extents == Some(&matrix.extents[dim..=dim])
    }

    fn tag(&self) -> Option<&Name> {
        self.get.as_ref().or(self.put.as_ref()).and_then(|c| c.tag.as_ref())
    }

    fn array(&self) -> Option<&Name> {
        self.outside().map(|a| &a.array)
    }
}

/// The body of a loop without what is around it.
fn plain(body: &[Stmt]) -> Vec<&Stmt> {
    body.iter()
        .flat_map(|s| match s {
            Stmt::Block { mark: None, body } => plain(body),
            other => vec![other],
        })
        .collect()
}

/// The loop around a transfer into a buffer.
fn around<'a>(body: &'a [Stmt], buffer: &Name) -> Option<&'a Loop> {
    let mut found = None;
    for stmt in body {
        stmt.walk(&mut |s| {
            if let Stmt::Loop(l) = s
                && l.body.iter().any(|s| {
                    let mut inside = false;
                    s.walk(&mut |s| {
                        inside |=
                            matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Get && c.to.array == *buffer);
                    });
                    inside
                })
            {
                found = Some(l);
            }
        });
    }
    found
}

fn exchanged(body: &[Stmt]) -> Option<Name> {
    let mut found = None;
    for stmt in body {
        stmt.walk(&mut |s| {
            if let Stmt::Block { mark: Some(mark), body } = s
                && mark.as_str() == EXCHANGED
                && let [Stmt::Copy(copy)] = body.as_slice()
            {
                found = Some(copy.to.array.clone());
            }
        });
    }
    found
}

impl<'a> Panels<'a> {
    fn of(l: &'a Loop) -> Option<Panels<'a>> {
        let inside = plain(&l.body);
        let [Stmt::Loop(rows), Stmt::Loop(columns)] = inside.as_slice() else { return None };
        let cores = |l: &Loop| {
            l.kind == LoopKind::Parallel
                && l.upper == Expr::Int(CORES)
                && !l.body.iter().any(|s| matches!(s, Stmt::Loop(l) if l.kind == LoopKind::Parallel))
        };
        if l.step != 1 || !cores(rows) || !cores(columns) {
            return None;
        }
        let buffer = exchanged(&columns.body)?;
        let strips_loop = around(&columns.body, &buffer)?;
        let (left, mut right) = (held(&rows.body)?, held(&columns.body)?);
        let strip = right.remove(right.iter().position(|h| h.local.name == buffer)?);
        let theirs = strip.get.clone()?;
        let array = &theirs.from.array;
        let mut left: Vec<Held> = left;
        let of_matrix = |h: &Held| h.array() == Some(array);
        let matrix = left.remove(left.iter().position(of_matrix)?);
        let ours = matrix.get.clone()?;
        if matrix.put.is_some() || strip.put.is_some() || ours.extents.len() != 2 || theirs.extents.len() != 2
        {
            return None;
        }
        let along_rows = around(&rows.body, &matrix.local.name)?;
        let (each, width) = (bound(&ours.extents[0])?, bound(&ours.extents[1])?);
        let (panel, piece) = (bound(&theirs.extents[0])?, bound(&theirs.extents[1])?);
        // Core k has rows from `each * k` of the panel on, and strip k of 64.
        let of = |e: &Expr, terms: &[(&Name, i64)]| {
            e.vars().iter().all(|v| terms.iter().any(|(name, _)| *name == v))
                && terms.iter().all(|(name, by)| factor(e, name) == Some(*by))
                && constant(e) == Some(0)
        };
        let right_place = panel == each * CORES
            && of(&ours.from.indices[0], &[(&rows.var, each), (&l.var, panel)])
            && of(&ours.from.indices[1], &[(&along_rows.var, width)])
            && of(&theirs.from.indices[0], &[(&l.var, panel)])
            && of(&theirs.from.indices[1], &[(&strips_loop.var, piece)])
            && along_rows.lower == Expr::Int(0)
            && along_rows.step == 1
            && strips_loop.lower == Expr::Var(columns.var.clone())
            && strips_loop.step == CORES
            && !strips_loop.upper.vars().contains(&columns.var)
            && !strips_loop.upper.vars().contains(&l.var);
        if !right_place {
            return None;
        }
        let bytes = match matrix.local.elem {
            loops::Elem::Scalar(elem) => elem.bytes() as i64,
            loops::Elem::Pair(..) => return None,
        };
        if piece * bytes % REGISTER != 0 || piece * bytes > 4 * REGISTER || each * bytes > SHARE {
            return None;
        }
        let (mut own, mut along) = (Vec::new(), Vec::new());
        for h in left {
            if h.follows(&ours, 0) {
                own.push(h);
            } else if h.follows(&ours, 1) && h.put.is_none() {
                along.push(h);
            } else {
                return None;
            }
        }
        let (mut strips, mut gathered) = (Vec::new(), Vec::new());
        for h in right {
            if h.follows(&theirs, 1) {
                strips.push(h);
            } else if h.follows(&theirs, 0) && h.put.is_none() {
                let made = own.iter().position(|o: &Held| o.put.is_some() && o.array() == h.array());
                gathered.push((h, made));
            } else {
                return None;
            }
        }
        let count = |name: Option<&Name>| {
            let all = own.iter().chain(&along).chain(&strips).chain(gathered.iter().map(|(h, _)| h));
            all.filter(|h| h.array() == name).count()
        };
        let written =
            |name: Option<&Name>| own.iter().chain(&strips).any(|h| h.put.is_some() && h.array() == name);
        // What is written has one box, but for what the rows make and all columns need.
        let apart = own.iter().all(|h| {
            !written(h.array()) || {
                count(h.array()) == 1 + gathered.iter().filter(|(g, _)| g.array() == h.array()).count()
            }
        }) && strips.iter().all(|h| !written(h.array()) || count(h.array()) == 1)
            && along.iter().all(|h| !written(h.array()))
            && gathered.iter().all(|(h, made)| made.is_some() || !written(h.array()))
            && !written(Some(array));
        let panels = Panels {
            l,
            rows,
            columns,
            along_rows,
            strips_loop,
            matrix,
            strip,
            own,
            along,
            strips,
            gathered,
            each,
            width,
            piece,
            bytes,
        };
        apart.then_some(panels)
    }

    /// Rounds of strips.
    fn rounds(&self) -> i64 {
        (self.width + CORES * self.piece - 1) / (CORES * self.piece)
    }

    /// Bytes of a panel's columns of a core.
    fn columns_bytes(&self) -> i64 {
        self.each * CORES * self.piece * self.bytes
    }
}

/// The constant of a sum of products.
fn constant(e: &Expr) -> Option<i64> {
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Var(_) => Some(0),
        Expr::Binary(loops::BinaryOp::Add, a, b) => constant(a)?.checked_add(constant(b)?),
        Expr::Binary(loops::BinaryOp::Mul, a, b) => constant(a)?.checked_mul(constant(b)?),
        _ => None,
    }
}

/// Statements without declarations, waits and what is brought in, and without a loop that has one iteration; `outward`: what goes out stays.
fn computing(body: &[Stmt], once: &Name, outward: bool) -> Vec<Stmt> {
    let mut all = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Local(_) | Stmt::Wait(_) => {}
            Stmt::Copy(copy) if copy.kind == CopyKind::Get || !outward => {}
            Stmt::Loop(l) if l.var == *once => all.extend(computing(&l.body, once, outward)),
            Stmt::Block { mark: None, body } => all.extend(computing(body, once, outward)),
            Stmt::Block { mark: Some(mark), body }
                if mark.as_str() == EXCHANGED || matches!(body.as_slice(), [Stmt::Copy(_)]) => {}
            other => all.push(other.map(&mut Expr::clone, &mut |inner| computing(inner, once, outward))),
        }
    }
    all
}

fn whole(bytes: i64) -> i64 {
    (bytes + 63) / 64 * 64
}

impl Writer<'_> {
    /// Writes a loop over panels; `false` if it is not one, or does not fit.
    pub(super) fn panels(&mut self, l: &Loop, chip: &Chip) -> Result<bool, Diagnostic> {
        let Some(mut p) = Panels::of(l) else { return Ok(false) };
        if chip.crts || chip.grid.0 * chip.grid.1 != CORES {
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
        for h in &mut p.along {
            h.at = place(self.most(&h.local)?.0);
        }
        for h in &mut p.own {
            h.at = place(2 * SHARE);
        }
        let rounds = p.rounds();
        for h in &mut p.strips {
            h.at = place(rounds * whole(self.most(&h.local)?.0));
        }
        let mut shares = Vec::new();
        for (h, made) in &mut p.gathered {
            h.at = place(self.most(&h.local)?.0);
            shares.push(if made.is_some() { 0 } else { place(2 * SHARE) });
        }
        if next > self.capacity() {
            return Ok(false);
        }
        self.next = start;
        self.take(next - start);
        self.exchanges = true;
        let (scope, moved, written) =
            (self.scope.clone(), std::mem::take(&mut self.moved), std::mem::take(&mut self.written));
        self.kept.clear();
        self.open(&format!("if ({} <= {}) {{", pitches[0], p.width));
        self.by_panels(&p, &shares, half_way, rows_bytes, &pitches[0])?;
        self.close();
        (self.scope, self.moved, self.written) = (scope, moved, written);
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
        self.line(&format!("const long {along} = 0;"));
        self.bind(along);
        self.line(&format!("const long {var}_first = {lower}, {var}_last = {upper};"));
        self.line(&format!("const long panel_rounds = ({strips_end} + {}) / {CORES};", CORES - 1));
        self.line("long panel_half = 0;");
        let piece = p
            .strips
            .iter()
            .map(|h| Ok(whole(self.most(&h.local)?.0)))
            .collect::<Result<Vec<_>, Diagnostic>>()?;
        // What stays for all panels.
        for h in &p.along {
            self.open("{");
            let scope = self.scope.clone();
            self.declare(&h.local, &h.at.to_string())?;
            self.moves(h.get.as_ref())?;
            self.scope = scope;
            self.close();
        }
        self.all_strips(p, &piece, strip_var, &strips_end, |h| h.get.as_ref())?;
        self.bind(var);
        self.open(&format!("if ({var}_first < {var}_last) {{"));
        self.line(&format!("const long {var} = {var}_first;"));
        self.bring_panel(p, shares, rows_bytes, "0")?;
        self.close();
        for h in p.along.iter().chain(&p.strips) {
            self.wait_for(h.tag());
        }
        self.open(&format!("for (long {var} = {var}_first; {var} < {var}_last; {var}++) {{"));
        let brought = [&p.matrix].into_iter().chain(&p.own).chain(p.gathered.iter().map(|(h, _)| h));
        let mut tags: Vec<&Name> = Vec::new();
        for tag in brought.filter_map(Held::tag) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags.iter().for_each(|tag| self.wait_for(Some(tag)));
        self.open(&format!("if ({var} + 1 < {var}_last) {{"));
        self.line(&format!("const long panel_next = {var} + 1;"));
        self.open("{");
        self.line(&format!("const long {var} = panel_next;"));
        self.bring_panel(p, shares, rows_bytes, "(1 - panel_half)")?;
        self.close();
        self.close();
        self.rows_of_panel(p, rows_bytes)?;
        for ((h, made), share) in p.gathered.iter().zip(shares) {
            let own = match made {
                Some(k) => p.own[*k].at,
                None => *share,
            };
            self.line(&format!(
                "gather_panel(lozenge_ldm + {}, lozenge_ldm + {half_way}, lozenge_ldm + {own} + {SHARE} * panel_half, {}, lozenge_core);",
                h.at,
                p.each * bytes_of(h)?
            ));
        }
        self.columns_of_panel(p, &piece, half_way, rows_bytes, width, &strips_end)?;
        self.line("panel_half = 1 - panel_half;");
        self.close();
        tags.iter().for_each(|tag| self.wait_for(Some(tag)));
        self.all_strips(p, &piece, strip_var, &strips_end, |h| h.put.as_ref())?;
        for h in &p.strips {
            self.wait_for(h.tag());
        }
        Ok(())
    }

    fn wait_for(&mut self, tag: Option<&Name>) {
        if let Some(tag) = tag {
            let wait = self.wait_text(tag);
            self.line(&wait);
        }
    }

    fn moves(&mut self, copy: Option<&Copy>) -> Result<(), Diagnostic> {
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
        self.open(&format!("for (long {var} = lozenge_core; {var} < {end}; {var} += {CORES}) {{"));
        self.bind(var);
        for (h, bytes) in p.strips.iter().zip(piece) {
            self.declare(&h.local, &format!("{} + {bytes} * ({var} / {CORES})", h.at))?;
            self.moves(copy(h))?;
        }
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// Starts to bring in this core's rows of a panel, and what it has of vectors along its columns.
    fn bring_panel(
        &mut self,
        p: &Panels,
        shares: &[i64],
        rows_bytes: i64,
        half: &str,
    ) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        self.declare(&p.matrix.local, &format!("{} + {rows_bytes} * {half}", p.matrix.at))?;
        self.moves(p.matrix.get.as_ref())?;
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
        self.declare(&p.matrix.local, &format!("{} + {rows_bytes} * panel_half", p.matrix.at))?;
        for h in &p.own {
            self.declare(&h.local, &format!("{} + {SHARE} * panel_half", h.at))?;
        }
        for h in &p.along {
            self.declare(&h.local, &h.at.to_string())?;
        }
        self.block(&computing(&p.rows.body, &p.along_rows.var, true))?;
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
        let (var, bytes) = (&p.strips_loop.var, p.piece * p.bytes);
        self.open("for (long panel_round = 0; panel_round < panel_rounds; panel_round++) {");
        self.line(&format!(
            "exchange_panel(lozenge_ldm + {}, lozenge_ldm + {half_way}, lozenge_ldm + {} + {rows_bytes} * panel_half + {} * panel_round, {width} * {}, {}, {bytes}, lozenge_core);",
            p.strip.at,
            p.matrix.at,
            CORES * bytes,
            p.bytes,
            p.each
        ));
        self.line(&format!("const long {var} = {CORES} * panel_round + lozenge_core;"));
        self.bind(var);
        self.open(&format!("if ({var} < {end}) {{"));
        let dims = vec![Expr::Int(p.each * CORES), Expr::Int(p.piece)];
        self.declare(&Local { dims, ..p.strip.local.clone() }, &p.strip.at.to_string())?;
        for (h, _) in &p.gathered {
            self.declare(&h.local, &h.at.to_string())?;
        }
        for (h, bytes) in p.strips.iter().zip(piece) {
            self.declare(&h.local, &format!("{} + {bytes} * panel_round", h.at))?;
        }
        let mut body = Vec::new();
        for stmt in &p.columns.body {
            body.extend(computing(std::slice::from_ref(stmt), var, false));
        }
        self.block(&body)?;
        self.close();
        self.close();
        self.scope = scope;
        Ok(())
    }
}

fn bytes_of(h: &Held) -> Result<i64, Diagnostic> {
    match h.local.elem {
        loops::Elem::Scalar(elem) => Ok(elem.bytes() as i64),
        loops::Elem::Pair(..) => Err(invalid("pairs are not for the cores")),
    }
}
