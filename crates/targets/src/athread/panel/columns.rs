//! Panels of columns: a matrix that is made, summed up by columns, and used by rows with what its columns came to goes in and out once.
//!
//! The mapping has a loop over panels with three loops over cores in it: each core makes its rows of the panel; the columns of the panel are summed up; rows are
//! used with these sums. Here a core keeps its rows from the first to the last of them, and sums go through all cores in the order of the rows, some
//! columns at a time: each core adds its rows to what the one before has sent. What they come to goes to all cores. Parts of the next panel come in
//! where parts of this one have gone out, so that the memory always has something to do.

use loops::{Copy, Diagnostic, Expr, Local, Loop, LoopKind, Name, Stmt};

use super::write::{computing, whole};
use super::{Held, REGISTER, ROW, around, bytes_of, constant, exchanged, held, plain};
use crate::athread::ahead::{bound, factor};
use crate::athread::chip::Chip;
use crate::athread::expr::{Binding, Scope, invalid, print};
use crate::athread::slave::Writer;

/// Parts of a core's rows that come and go by themselves.
pub(in crate::athread) const PARTS: i64 = 8;
/// Bytes of sums that go to the next core at a time.
const UNIT: i64 = 64;

/// A loop over cores: its boxes, and the loop over its rows' tiles.
struct Step<'a> {
    body: &'a [Stmt],
    core: &'a Name,
    tiles: &'a Loop,
    matrix: Held,
    /// Vectors along the columns and along the rows of the matrix.
    down: Vec<Held>,
    along: Vec<Held>,
}

/// A loop over panels of columns.
struct Columns<'a> {
    l: &'a Loop,
    made: Step<'a>,
    sums: Step<'a>,
    used: Step<'a>,
    /// The sums among the vectors along the rows of the second step.
    sum: usize,
    cores: i64,
    each: i64,
    width: i64,
}

impl<'a> Step<'a> {
    /// `spread`: whether its tiles of rows are spread over the cores.
    fn of(l: &'a Loop, panels: &Name, spread: bool, exchange: bool) -> Option<Step<'a>> {
        let mut all = held(&l.body)?;
        let at = match exchange {
            true => {
                let name = exchanged(&l.body)?;
                all.iter().position(|h| h.local.name == name)?
            }
            false => all.iter().position(|h| h.local.dims.len() == 2)?,
        };
        let matrix = all.remove(at);
        let get = matrix.get.clone()?;
        let tiles = around(&l.body, &matrix.local.name)?;
        let (each, width) = (bound(&get.extents[0])?, bound(get.extents.get(1)?)?);
        let of = |e: &Expr, name: &Name, by: i64| {
            e.vars().iter().all(|v| v == name) && factor(e, name) == Some(by) && constant(e) == Some(0)
        };
        let right = of(&get.from.indices[0], &tiles.var, each)
            && of(&get.from.indices[1], panels, width)
            && (tiles.lower == if spread { Expr::Var(l.var.clone()) } else { Expr::Int(0) })
            && !tiles.upper.vars().contains(&l.var)
            && !tiles.upper.vars().contains(panels);
        let (mut down, mut along) = (Vec::new(), Vec::new());
        for h in all {
            if h.follows(&get, 0) {
                down.push(h);
            } else if h.follows(&get, 1) {
                along.push(h);
            } else {
                return None;
            }
        }
        right.then_some(Step { body: &l.body, core: &l.var, tiles, matrix, down, along })
    }

    fn vectors(&self) -> impl Iterator<Item = &Held> {
        self.down.iter().chain(&self.along)
    }

    /// What it computes in a tile, with the statements before and after the loop over tiles.
    fn computing(&self) -> [Vec<Stmt>; 3] {
        let all = unguarded(&computing(self.body, None, false), self.core);
        match all.iter().position(|s| matches!(s, Stmt::Loop(l) if l.var == self.tiles.var)) {
            Some(at) => match &all[at] {
                Stmt::Loop(l) => [all[..at].to_vec(), l.body.clone(), all[at + 1..].to_vec()],
                _ => [all.clone(), vec![], vec![]],
            },
            None => [all, vec![], vec![]],
        }
    }
}

/// Statements without conditions on the core.
fn unguarded(body: &[Stmt], core: &Name) -> Vec<Stmt> {
    body.iter()
        .flat_map(|s| match s {
            Stmt::If { cond, then, otherwise } if otherwise.is_empty() && cond.vars().contains(core) => {
                unguarded(then, core)
            }
            Stmt::Block { body, .. } => unguarded(body, core),
            other => vec![other.clone()],
        })
        .collect()
}

/// Assignments and the loops around each.
fn assigned<'b>(body: &'b [Stmt], loops: &mut Vec<&'b Name>, found: &mut Vec<(loops::Access, Vec<Name>)>) {
    for stmt in body {
        match stmt {
            Stmt::Assign(a) => found.push((a.target.clone(), loops.iter().map(|n| (*n).clone()).collect())),
            Stmt::Loop(l) => {
                loops.push(&l.var);
                assigned(&l.body, loops, found);
                loops.pop();
            }
            Stmt::Block { body, .. } => assigned(body, loops, found),
            Stmt::If { then, otherwise, .. } => {
                assigned(then, loops, found);
                assigned(otherwise, loops, found);
            }
            _ => {}
        }
    }
}

/// The loops that give a dimension of what is assigned, if only a certain buffer is.
fn loops_over(body: &[Stmt], buffer: &Name, dim: usize) -> Option<Vec<Name>> {
    let mut found = Vec::new();
    assigned(body, &mut Vec::new(), &mut found);
    let mut all = Vec::new();
    for (target, loops) in found {
        let index = target.indices.get(dim).filter(|_| target.array == *buffer)?;
        let mut own = loops.into_iter().filter(|l| index.vars().contains(l));
        all.push(own.next()?);
        if own.next().is_some() {
            return None;
        }
    }
    Some(all)
}

/// Statements with other bounds of some loops.
fn within(body: &[Stmt], vars: &[Name], first: &Name, last: &Name) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| {
            let stmt = stmt.map(&mut Expr::clone, &mut |inner| within(inner, vars, first, last));
            match stmt {
                Stmt::Loop(l) if vars.contains(&l.var) => {
                    Stmt::Loop(Loop { lower: Expr::Var(first.clone()), upper: Expr::Var(last.clone()), ..l })
                }
                other => other,
            }
        })
        .collect()
}

fn reads(body: &[Stmt], buffer: &Name) -> bool {
    let mut found = false;
    for stmt in body {
        stmt.walk(&mut |s| {
            found |= s.exprs().into_iter().any(|e| e.arrays().contains(buffer))
                || matches!(s, Stmt::Assign(a) if a.target.array == *buffer);
        });
    }
    found
}

impl<'a> Columns<'a> {
    fn of(l: &'a Loop) -> Option<Columns<'a>> {
        let inside = plain(&l.body);
        let [Stmt::Loop(made), Stmt::Loop(sums), Stmt::Loop(used)] = inside.as_slice() else { return None };
        let Expr::Int(cores) = made.upper else { return None };
        let spread = |l: &&Loop| {
            l.kind == LoopKind::Parallel
                && l.upper == Expr::Int(cores)
                && !l.body.iter().any(|s| matches!(s, Stmt::Loop(l) if l.kind == LoopKind::Parallel))
        };
        if ![made, sums, used].iter().all(spread) || l.step != 1 || cores % ROW != 0 {
            return None;
        }
        let made = Step::of(made, &l.var, true, false)?;
        let sums = Step::of(sums, &l.var, false, true)?;
        let used = Step::of(used, &l.var, true, false)?;
        let (put, get) = (made.matrix.put.as_ref()?, made.matrix.get.as_ref()?);
        let array = &put.to.array;
        let alike = |step: &Step| {
            step.matrix.put.is_none()
                && step.matrix.array() == Some(array)
                && step.matrix.get.as_ref().map(|g| &g.extents[1]) == Some(&get.extents[1])
                && step.matrix.get.as_ref().and_then(|g| bound(&g.extents[0])) == bound(&get.extents[0])
                && step.tiles.upper == made.tiles.upper
        };
        let (each, width) = (bound(&get.extents[0])?, bound(&get.extents[1])?);
        let sum = sums.along.iter().position(|h| h.put.is_some())?;
        let result = sums.along[sum].array();
        // What is written: the matrix by the first step, sums by the second, vectors along the columns by the third.
        let out = |held: &[Held]| held.iter().filter(|h| h.put.is_some()).count();
        let only = out(&made.down) + out(&made.along) + out(&sums.down) + out(&used.along) == 0
            && out(&sums.along) == 1
            && made.vectors().all(|h| h.array() != result && h.array() != Some(array))
            && sums.vectors().filter(|h| h.array() == result).count() == 1
            && used.along.iter().filter(|h| h.array() == result).count() == 1
            && used.down.iter().all(|h| h.array() != result);
        let written: Vec<_> = used.down.iter().filter(|h| h.put.is_some()).filter_map(Held::array).collect();
        let apart = written.iter().all(|name| {
            let count = |step: &Step| step.vectors().filter(|h| h.array() == Some(*name)).count();
            count(&made) + count(&sums) == 0 && count(&used) == 1
        });
        let all = alike(&sums) && alike(&used) && only && apart;
        all.then_some(Columns { l, made, sums, used, sum, cores, each, width })
    }
}

impl Writer<'_> {
    /// Writes a loop over panels of columns; `false` if it is not one, or does not fit.
    pub(in crate::athread) fn panels_of_columns(
        &mut self,
        l: &Loop,
        chip: &Chip,
    ) -> Result<bool, Diagnostic> {
        let Some(mut p) = Columns::of(l) else { return Ok(false) };
        if chip.crts || p.cores > chip.grid.0 * chip.grid.1 {
            return Ok(false);
        }
        let [_, made, rest] = p.made.computing();
        let [before, sums, after] = p.sums.computing();
        let [first, used, last] = p.used.computing();
        let sum = p.sums.along[p.sum].local.name.clone();
        let (Some(rows), Some(own), Some(all_before), Some(all_after)) = (
            loops_over(&made, &p.made.matrix.local.name, 0),
            loops_over(&sums, &sum, 0),
            loops_over(&before, &sum, 0),
            loops_over(&after, &sum, 0),
        ) else {
            return Ok(false);
        };
        if !rest.is_empty() || !first.is_empty() || !last.is_empty() || rows.is_empty() || own.is_empty() {
            return Ok(false);
        }
        // Places.
        let start = self.next;
        let mut next = start;
        let mut place = |bytes: i64| {
            let at = next;
            next += whole(bytes);
            at
        };
        let matrix = place(self.most(&p.made.matrix.local)?.0);
        // Sums go in whole registers.
        let sum_bytes = whole(self.most(&p.sums.along[p.sum].local)?.0);
        let sum_at = place(sum_bytes);
        let result = p.sums.along[p.sum].array().cloned();
        for step in [&mut p.made, &mut p.sums, &mut p.used] {
            step.matrix.at = matrix;
            for h in step.down.iter_mut().chain(&mut step.along) {
                h.at = match h.array() == result.as_ref() {
                    true => sum_at,
                    false => place(self.most(&h.local)?.0),
                };
            }
        }
        if next > self.capacity() {
            return Ok(false);
        }
        self.next = start;
        self.take(next - start);
        self.columns = true;
        let tiles = self.scope.text(&p.made.tiles.upper)?;
        let made = within(&made, &rows, &Name::new("part_first"), &Name::new("part_last"));
        let sums = within(&sums, &own, &Name::new("unit_first"), &Name::new("unit_last"));
        let ends = [Name::new("panel_first"), Name::new("panel_last")];
        let before = within(&before, &all_before, &ends[0], &ends[1]);
        let after = within(&after, &all_after, &ends[0], &ends[1]);
        self.where_it_holds(&format!("{tiles} <= {}", p.cores), |slave| {
            slave.by_columns(&p, [&made, &before, &sums, &after, &used], chip)
        })?;
        self.next = start;
        Ok(true)
    }

    fn by_columns(&mut self, p: &Columns, text: [&[Stmt]; 5], chip: &Chip) -> Result<(), Diagnostic> {
        let [made, before, sums, after, used] = text;
        let (lower, upper) = (self.scope.text(&p.l.lower)?, self.scope.text(&p.l.upper)?);
        let var = &p.l.var;
        let lines = p.cores / ROW;
        let put = p.made.matrix.put.clone().ok_or_else(|| invalid("a matrix that does not go out"))?;
        let sum = &p.sums.along[p.sum];
        for name in ["part_first", "part_last", "unit_first", "unit_last", "panel_first", "panel_last"] {
            self.bind(&Name::new(name));
        }
        self.line("const long panel_place = column_place(lozenge_core);");
        self.line(&format!("const long {var}_first = {lower}, {var}_last = {upper};"));
        self.line(&format!("int panel_sent[{PARTS}];"));
        self.line(&format!(
            "for (long part = 0; part < {PARTS}; part++) panel_sent[part] = panel_parts[part] = 0;"
        ));
        // What stays for all panels.
        for step in [&p.made, &p.sums, &p.used] {
            let scope = self.enter(step)?;
            for h in &step.down {
                self.declare(&h.local, &h.at.to_string())?;
                self.moves(h.get.as_ref())?;
            }
            self.leave(scope);
        }
        self.bind(var);
        self.open(&format!("if ({var}_first < {var}_last) {{"));
        self.line(&format!("const long {var} = {var}_first;"));
        self.bring_columns(p, before, sums, after)?;
        self.close();
        for step in [&p.made, &p.sums, &p.used] {
            step.down.iter().for_each(|h| self.wait_for(h.tag()));
        }
        self.open(&format!("for (long {var} = {var}_first; {var} < {var}_last; {var}++) {{"));
        for h in p.made.along.iter().chain(&p.sums.along) {
            self.wait_for(h.tag());
        }
        let scope = self.enter(&p.made)?;
        self.declared(&p.made, &p.made.matrix.local)?;
        self.each_part(p, &put)?;
        self.line("WAIT(panel_parts[part], panel_sent[part]);");
        self.block(made)?;
        self.part(p, &put)?;
        self.close();
        self.leave(scope);
        let scope = self.enter(&p.sums)?;
        // The columns are where the rows are.
        let own = Local { name: p.sums.matrix.local.name.clone(), ..p.made.matrix.local.clone() };
        let tile = &p.made.tiles.var;
        if *tile != p.sums.tiles.var {
            self.line(&format!("const long {tile} = panel_place;"));
            self.bind(tile);
        }
        self.declared(&p.sums, &own)?;
        let columns = self.scope.text(&put.extents[1])?;
        self.line(&format!(
            "const long panel_first = {0} * {var}, panel_last = {0} * {var} + {columns};",
            p.width
        ));
        self.at_place(before, "0")?;
        let (name, bytes) = (&sum.local.name, bytes_of(sum)?);
        let unit = UNIT / bytes;
        self.open(&format!(
            "for (long unit_first = panel_first; unit_first < panel_last; unit_first += {unit}) {{"
        ));
        self.line(&format!("const long unit_last = LOZENGE_MIN(panel_last, unit_first + {unit});"));
        let words = UNIT / REGISTER;
        self.line(&format!(
            "take_columns((char *)&{name}[unit_first - panel_first], {words}, lozenge_core);"
        ));
        self.block(sums)?;
        self.line(&format!(
            "send_columns((const char *)&{name}[unit_first - panel_first], {words}, lozenge_core, {lines});"
        ));
        self.close();
        self.at_place(after, &(p.cores - 1).to_string())?;
        if let Some(out) = &sum.put {
            self.open(&format!("if (panel_place == {}) {{", p.cores - 1));
            self.copy(out)?;
            self.close();
        }
        self.line(&format!(
            "spread_columns((char *){name}, (panel_last - panel_first + {}) / {}, lozenge_core, {lines});",
            REGISTER / bytes - 1,
            REGISTER / bytes
        ));
        self.line(&chip.barrier());
        self.leave(scope);
        let scope = self.enter(&p.used)?;
        self.declared(&p.used, &p.used.matrix.local)?;
        self.block(used)?;
        self.leave(scope);
        self.wait_for(sum.tag());
        self.open(&format!("if ({var} + 1 < {var}_last) {{"));
        self.line(&format!("const long panel_next = {var} + 1;"));
        self.open("{");
        self.line(&format!("const long {var} = panel_next;"));
        self.bring_columns(p, before, sums, after)?;
        self.close();
        self.close();
        self.close();
        self.open(&format!("for (long part = 0; part < {PARTS}; part++) {{"));
        self.line("WAIT(panel_parts[part], panel_sent[part]);");
        self.close();
        let scope = self.enter(&p.used)?;
        for h in p.used.down.iter().filter(|h| h.put.is_some()) {
            self.declare(&h.local, &h.at.to_string())?;
            if let Some(out) = &h.put {
                self.copy(out)?;
            }
        }
        self.leave(scope);
        p.used.down.iter().for_each(|h| self.wait_for(h.tag()));
        Ok(())
    }

    /// A block in which the variables of a step are those of this core.
    fn enter(&mut self, step: &Step) -> Result<Scope, Diagnostic> {
        let scope = self.scope.clone();
        self.open("{");
        for name in [step.core, &step.tiles.var] {
            self.line(&format!("const long {name} = panel_place;"));
            self.bind(name);
        }
        Ok(scope)
    }

    fn leave(&mut self, scope: Scope) {
        self.close();
        self.scope = scope;
    }

    /// The buffers of a step, with this one for the matrix.
    fn declared(&mut self, step: &Step, matrix: &Local) -> Result<(), Diagnostic> {
        self.declare(matrix, &step.matrix.at.to_string())?;
        for h in step.vectors() {
            self.declare(&h.local, &h.at.to_string())?;
        }
        Ok(())
    }

    /// Statements for the core at a place of the line.
    fn at_place(&mut self, body: &[Stmt], place: &str) -> Result<(), Diagnostic> {
        if body.is_empty() {
            return Ok(());
        }
        self.open(&format!("if (panel_place == {place}) {{"));
        self.block(body)?;
        self.close();
        Ok(())
    }

    /// The loop over parts of a core's rows.
    fn each_part(&mut self, p: &Columns, copy: &Copy) -> Result<(), Diagnostic> {
        let rows = self.scope.text(&copy.extents[0])?;
        let step = (p.each + PARTS - 1) / PARTS;
        let first = format!("{} * panel_place", p.each);
        self.open(&format!("for (long part = 0; part < {PARTS}; part++) {{"));
        self.line(&format!(
            "const long part_first = {first} + {step} * part, part_last = {first} + LOZENGE_MIN({rows}, {step} * part + {step});"
        ));
        Ok(())
    }

    /// A transfer of a part of a core's rows.
    fn part(&mut self, p: &Columns, copy: &Copy) -> Result<(), Diagnostic> {
        let out = copy.kind == loops::CopyKind::Put;
        let (local, memory) = if out { (&copy.from, &copy.to) } else { (&copy.to, &copy.from) };
        let (Some(Binding::Linear { pitches, elem, .. }), Some(Binding::Linear { pitches: own, .. })) =
            (self.scope.names.get(&memory.array).cloned(), self.scope.names.get(&local.array).cloned())
        else {
            return Err(invalid("a matrix that has no place"));
        };
        let memory = print(&self.scope.access(memory)?);
        let columns = self.scope.text(&copy.extents[1])?;
        let first = format!("(part_first - {} * panel_place)", p.each);
        let verb = if out { "put_box" } else { "get_box" };
        self.line(&format!(
            "panel_sent[part] += {verb}({} + {first} * {}, &{memory} + {first} * {}, part_last - part_first, {columns}, {}, {}, &panel_parts[part]);",
            local.array, own[0], pitches[0], pitches[0], elem.bytes()
        ));
        Ok(())
    }

    /// Starts to bring in a panel, each part where that of the panel before has gone out.
    fn bring_columns(
        &mut self,
        p: &Columns,
        before: &[Stmt],
        sums: &[Stmt],
        after: &[Stmt],
    ) -> Result<(), Diagnostic> {
        let scope = self.enter(&p.made)?;
        for h in &p.made.along {
            self.declare(&h.local, &h.at.to_string())?;
            self.moves(h.get.as_ref())?;
        }
        self.leave(scope);
        let scope = self.enter(&p.sums)?;
        for (k, h) in p.sums.along.iter().enumerate().filter(|(_, h)| h.get.is_some()) {
            self.declare(&h.local, &h.at.to_string())?;
            // Sums begin at the first core; what only one core needs is for that one.
            let name = &h.local.name;
            let users = [reads(before, name), reads(sums, name), reads(after, name)];
            let place = match users {
                _ if k == p.sum => Some(0),
                [true, false, false] => Some(0),
                [false, false, true] => Some(p.cores - 1),
                _ => None,
            };
            if let Some(place) = place {
                self.open(&format!("if (panel_place == {place}) {{"));
            }
            self.moves(h.get.as_ref())?;
            if place.is_some() {
                self.close();
            }
        }
        self.leave(scope);
        let scope = self.enter(&p.made)?;
        let get = p.made.matrix.get.clone().ok_or_else(|| invalid("a matrix that does not come in"))?;
        self.declare(&p.made.matrix.local, &p.made.matrix.at.to_string())?;
        self.each_part(p, &get)?;
        self.line("WAIT(panel_parts[part], panel_sent[part]);");
        self.part(p, &get)?;
        self.close();
        self.leave(scope);
        Ok(())
    }
}
