//! Writes the slave code of a loop over panels of columns. Rows are transferred in blocks that take
//! turns, partial sums go from core to core, and the final sums go to all cores.

use loops::{Access, Copy, Diagnostic, Expr, Local, Name, Scalar, Stmt};

use super::super::columns::{Columns, Step};
use super::super::{Held, REGISTER, ROW, bytes_of};
use super::{Places, Text, Vectors};
use crate::athread::chip::Chip;
use crate::athread::expr::{Binding, Scope, invalid, print};
use crate::athread::register_sums;
use crate::athread::slave::Writer;

/// Bytes of sums that go to the next core at a time.
const UNIT: i64 = 64;

impl Places {
    /// Bytes of a block's row.
    fn row(&self) -> i64 {
        self.parts * self.piece
    }

    fn cell(&self) -> i64 {
        self.rows * self.piece
    }

    /// How many rows are requested before the one that is computed. Half of the slots hold rows
    /// that come, half those that go.
    fn ahead(&self) -> i64 {
        (self.count + 1) / 2
    }
}

impl Writer<'_> {
    /// Writes it, where the tiles are those of the cores.
    pub(super) fn by_columns(
        &mut self,
        p: &Columns,
        text: &Text,
        vectors: &Vectors,
        places: &Places,
        chip: &Chip,
    ) -> Result<(), Diagnostic> {
        let (upper, var) = (self.scope.text(&p.l.upper)?, &p.l.var);
        let (parts, last, count) = (places.parts, p.cores - 1, places.count);
        for name in ["panel_next", "panel_begin", "panel_end", "panel_skip"] {
            self.bind(&Name::new(name));
        }
        for name in ["part_first", "part_last", "unit_first", "unit_last", "panel_first", "panel_last"] {
            self.bind(&Name::new(name));
        }
        self.bind(var);
        self.line("const long panel_place = column_place(lozenge_core);");
        self.line(&format!("const long {var}_last = {upper};"));
        for way in ["in", "out"] {
            self.line(&format!("int panel_{way}_sent[{count}];"));
            self.line(&format!(
                "for (long slot = 0; slot < {count}; slot++) panel_{way}_sent[slot] = panel_{way}[slot] = 0;"
            ));
        }
        // What stays for all panels.
        for step in [&p.made, &p.sums, &p.used] {
            let scope = self.enter(step)?;
            for h in &step.down {
                self.declare(&h.local, &h.at.to_string())?;
                self.moves(h.get.as_ref())?;
            }
            self.leave(scope);
        }
        // The last core brings in the first panels of vectors along the rows.
        if !vectors.ring.is_empty() {
            self.open(&format!("if (panel_place == {last}) {{"));
            self.open(&format!(
                "for (long {var} = 0; {var} < LOZENGE_MIN({}, {var}_last); {var}++) {{",
                parts + 1
            ));
            self.ring(vectors, places, var)?;
            self.close();
            self.close();
        }
        self.open(&format!("if (0 < {var}_last) {{"));
        self.line(&format!("const long {var} = 0;"));
        if !vectors.first.is_empty() {
            self.open("if (panel_place == 0) {");
            self.bring_early(vectors)?;
            self.close();
        }
        if !vectors.last.is_empty() {
            self.open(&format!("if (panel_place == {last}) {{"));
            self.of_last(vectors)?;
            self.close();
        }
        self.close();
        self.open(&format!("for (long panel_next = 0; panel_next < {}; panel_next++) {{", places.ahead()));
        self.bring_row(p, places)?;
        self.close();
        for step in [&p.made, &p.sums, &p.used] {
            step.down.iter().for_each(|h| self.wait_for(h.tag()));
        }
        if !vectors.ring.is_empty() {
            vectors.ring.iter().for_each(|h| self.wait_for(h.tag()));
            self.open(&format!("for (long {var} = 0; {var} < LOZENGE_MIN({parts}, {var}_last); {var}++) {{"));
            self.spread(p, vectors, places)?;
            self.close();
            self.line(&chip.barrier());
        }
        self.line("long panel_row = 0;");
        self.open(&format!("for (long {var} = 0; {var} < {var}_last; {var}++) {{"));
        self.make(p, text, vectors, places)?;
        self.sum_up(p, text, vectors, places)?;
        if !vectors.ring.is_empty() {
            vectors.ring.iter().for_each(|h| self.wait_for(h.tag()));
            self.later(var, parts, None, |slave| slave.spread(p, vectors, places))?;
        }
        self.line(&chip.barrier());
        self.use_up(p, text, vectors, places)?;
        if !vectors.ring.is_empty() {
            self.later(var, parts + 1, Some(last), |slave| slave.ring(vectors, places, var))?;
        }
        self.close();
        self.wait_for(p.sums.along[p.sum].tag());
        self.line(&format!(
            "for (long slot = 0; slot < {count}; slot++) WAIT(panel_out[slot], panel_out_sent[slot]);"
        ));
        let scope = self.enter(&p.used)?;
        for h in p.used.down.iter().filter(|h| h.put.is_some()) {
            self.declare(&h.local, &h.at.to_string())?;
            self.moves(h.put.as_ref())?;
        }
        self.leave(scope);
        p.used.down.iter().for_each(|h| self.wait_for(h.tag()));
        Ok(())
    }

    /// A block in which the variables of a step are those of this core.
    fn enter(&mut self, step: &Step) -> Result<Scope, Diagnostic> {
        let scope = self.scope.clone();
        self.open("{");
        self.names(step);
        Ok(scope)
    }

    fn names(&mut self, step: &Step) {
        for name in [step.core, &step.tiles.var] {
            self.line(&format!("const long {name} = panel_place;"));
            self.bind(name);
        }
    }

    fn leave(&mut self, scope: Scope) {
        self.close();
        self.scope = scope;
    }

    /// A block in which the panel is one that comes so much later, if there is one, perhaps of one
    /// core only.
    fn later(
        &mut self,
        var: &Name,
        by: i64,
        place: Option<i64>,
        write: impl FnOnce(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let own = place.map_or(String::new(), |place| format!("panel_place == {place} && "));
        self.open(&format!("if ({own}{var} + {by} < {var}_last) {{"));
        self.line(&format!("const long panel_next = {var} + {by};"));
        self.open("{");
        self.line(&format!("const long {var} = panel_next;"));
        write(self)?;
        self.close();
        self.close();
        Ok(())
    }

    /// What a vector that all cores need has of a panel.
    fn declare_ring(&mut self, h: &Held, var: &Name, places: &Places) -> Result<(), Diagnostic> {
        let bytes = self.most(&h.local)?.0;
        self.declare(&h.local, &format!("{} + {bytes} * ({var} % {})", h.at, places.parts + 1))
    }

    /// The vectors of a step that all cores need.
    fn declare_rings(
        &mut self,
        step: &Step,
        vectors: &Vectors,
        var: &Name,
        places: &Places,
    ) -> Result<(), Diagnostic> {
        for own in &step.along {
            if let Some(h) = vectors.ring.iter().find(|h| h.array() == own.array()) {
                self.declare_ring(&Held { at: h.at, ..own.clone() }, var, places)?;
            }
        }
        Ok(())
    }

    /// The last core brings them in.
    fn ring(&mut self, vectors: &Vectors, places: &Places, var: &Name) -> Result<(), Diagnostic> {
        for h in &vectors.ring {
            self.declare_ring(h, var, places)?;
            self.moves(h.get.as_ref())?;
        }
        Ok(())
    }

    /// The last core sends them to all.
    fn spread(&mut self, p: &Columns, vectors: &Vectors, places: &Places) -> Result<(), Diagnostic> {
        for h in &vectors.ring {
            self.declare_ring(h, &p.l.var, places)?;
            self.send(p, h)?;
        }
        Ok(())
    }

    fn send(&mut self, p: &Columns, h: &Held) -> Result<(), Diagnostic> {
        let copy = h.get.as_ref().or(h.put.as_ref()).ok_or_else(|| invalid("a vector that does not move"))?;
        let (count, lanes) = (self.scope.text(&copy.extents[0])?, REGISTER / bytes_of(h)?);
        self.line(&format!(
            "spread_columns((char *){}, ({count} + {}) / {lanes}, lozenge_core, {});",
            h.local.name,
            lanes - 1,
            p.cores / ROW
        ));
        Ok(())
    }

    /// The first core brings in what it has to begin with.
    fn bring_early(&mut self, vectors: &Vectors) -> Result<(), Diagnostic> {
        for (h, before) in vectors.first.iter().filter(|(h, _)| h.get.is_some()) {
            self.declare(&h.local, &before.to_string())?;
            self.moves(h.get.as_ref())?;
        }
        Ok(())
    }

    /// The last core brings in what it needs behind the sums.
    fn of_last(&mut self, vectors: &Vectors) -> Result<(), Diagnostic> {
        for h in &vectors.last {
            self.declare(&h.local, &h.at.to_string())?;
            self.moves(h.get.as_ref())?;
        }
        Ok(())
    }

    /// Names for the block that a row is of; whether the row is there.
    fn block_of(&mut self, p: &Columns, places: &Places, row: &str) -> Result<String, Diagnostic> {
        let (parts, rows, var) = (places.parts, places.rows, &p.l.var);
        self.line(&format!(
            "const long panel_block = {row} / {rows} + 1, panel_skip = panel_block % {parts} * {rows} + {row} % {rows};"
        ));
        self.line(&format!(
            "const long panel_begin = LOZENGE_MAX(0, panel_block - {parts}), panel_end = LOZENGE_MIN(panel_block, {var}_last);"
        ));
        let get = get(&p.made)?;
        let all = self.scope.text(&get.extents[0])?;
        Ok(format!("panel_skip < {all} && panel_begin < panel_end"))
    }

    /// A row of a block comes or goes.
    fn row(&mut self, p: &Columns, places: &Places, copy: &Copy, row: &str) -> Result<(), Diagnostic> {
        let out = copy.kind == loops::CopyKind::Put;
        let memory = if out { &copy.to } else { &copy.from };
        let Some(Binding::Linear { pitches, elem, .. }) = self.scope.names.get(&memory.array).cloned() else {
            return Err(invalid("a matrix that has no place"));
        };
        let at = |panel: Expr| {
            let var = &p.l.var;
            move |e: &Expr| e.substitute(&|name| (name == var).then(|| panel.clone()))
        };
        let count = places.count;
        let memory: Access = memory.map_indices(&mut at(Expr::var("panel_begin")));
        let memory = print(&self.scope.access(&memory)?);
        let columns = self.scope.text(&at(Expr::var("panel_end") - 1)(&copy.extents[1]))?;
        let (way, verb) = if out { ("out", "put_box") } else { ("in", "get_box") };
        self.line(&format!(
            "panel_{way}_sent[{row} % {count}] += {verb}(lozenge_ldm + {} + {} * ({row} % {count}), &{memory} + panel_skip * {pitch}, 1, {} * (panel_end - 1 - panel_begin) + {columns}, {pitch}, {}, &panel_{way}[{row} % {count}]);",
            places.slots,
            places.row(),
            p.width,
            elem.bytes(),
            pitch = pitches[0],
        ));
        Ok(())
    }

    /// Starts to bring in the row with the number `panel_next`.
    fn bring_row(&mut self, p: &Columns, places: &Places) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        self.names(&p.made);
        let there = self.block_of(p, places, "panel_next")?;
        self.open(&format!("if ({there}) {{"));
        self.row(p, places, &get(&p.made)?, "panel_next")?;
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// Computes the missing blocks that a panel needs: all parts for the first panel, then one.
    fn make(
        &mut self,
        p: &Columns,
        text: &Text,
        vectors: &Vectors,
        places: &Places,
    ) -> Result<(), Diagnostic> {
        let (var, scope, count) = (&p.l.var, self.scope.clone(), places.count);
        self.open(&format!(
            "for (; panel_row < {} * ({var} + {}); panel_row++) {{",
            places.rows, places.parts
        ));
        let outside = self.scope.clone();
        self.open("{");
        self.names(&p.made);
        let there = self.block_of(p, places, "panel_row")?;
        self.line(&format!("WAIT(panel_in[panel_row % {count}], panel_in_sent[panel_row % {count}]);"));
        self.open(&format!("if ({there}) {{"));
        self.line(&format!(
            "const long part_first = {} * panel_place + panel_skip, part_last = part_first + 1;",
            p.each
        ));
        self.open(&format!("for (long {var} = panel_begin; {var} < panel_end; {var}++) {{"));
        let slot = format!(
            "{} + {} * (panel_row % {count}) + {} * ({var} - panel_begin)",
            places.slots,
            places.row(),
            places.piece
        );
        self.declare(&piece(p), &slot)?;
        for h in &p.made.down {
            self.declare(&h.local, &h.at.to_string())?;
        }
        self.declare_rings(&p.made, vectors, var, places)?;
        self.block(&text.made)?;
        self.line(&format!(
            "keep_columns(lozenge_ldm + {} + {} * column_cell({}, panel_block, {var} + 1) + {} * (panel_row % {}), (const char *){}, {});",
            places.cells,
            places.cell(),
            places.parts,
            places.piece,
            places.rows,
            p.made.matrix.local.name,
            places.piece / REGISTER
        ));
        self.close();
        let put = p.made.matrix.put.clone().ok_or_else(|| invalid("a matrix that does not go out"))?;
        self.row(p, places, &put, "panel_row")?;
        self.close();
        self.close();
        self.scope = outside;
        self.line(&format!("const long panel_next = panel_row + {};", places.ahead()));
        self.line(&format!("WAIT(panel_out[panel_next % {count}], panel_out_sent[panel_next % {count}]);"));
        self.bring_row(p, places)?;
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// What each part has of a panel, in the order of the rows.
    fn each_part(
        &mut self,
        p: &Columns,
        places: &Places,
        step: &Step,
        write: &dyn Fn(&mut Writer) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let (scope, var) = (self.scope.clone(), &p.l.var);
        let all = self.scope.text(&get(step)?.extents[0])?;
        let (first, rows) = (format!("{} * panel_place", p.each), places.rows);
        self.open(&format!("for (long part = 0; part < {}; part++) {{", places.parts));
        self.line(&format!(
            "const long panel_skip = {rows} * part, part_first = {first} + {rows} * part, part_last = {first} + LOZENGE_MIN({all}, {rows} * part + {rows});"
        ));
        let cell =
            format!("{} + {} * column_cell({}, part, {var} + 1)", places.cells, places.cell(), places.parts);
        self.declare(&Local { name: step.matrix.local.name.clone(), ..piece(p) }, &cell)?;
        write(self)?;
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// Sums of the panel's columns, through all cores.
    fn sum_up(
        &mut self,
        p: &Columns,
        text: &Text,
        vectors: &Vectors,
        places: &Places,
    ) -> Result<(), Diagnostic> {
        let (var, last) = (&p.l.var, p.cores - 1);
        let sum = &p.sums.along[p.sum];
        let (name, bytes) = (&sum.local.name, bytes_of(sum)?);
        // What the last core has sent from the buffer of the sums, and the values with which the
        // first one begins.
        self.wait_for(sum.tag());
        if vectors.first.iter().any(|(h, _)| h.get.is_some()) {
            self.open("if (panel_place == 0) {");
            for (h, before) in vectors.first.iter().filter(|(h, _)| h.get.is_some()) {
                if h.tag() != sum.tag() {
                    self.wait_for(h.tag());
                }
                self.line(&format!(
                    "keep_columns(lozenge_ldm + {}, lozenge_ldm + {before}, {});",
                    h.at,
                    self.most(&h.local)?.0 / REGISTER
                ));
            }
            self.later(var, 1, None, |slave| slave.bring_early(vectors))?;
            self.close();
        }
        let scope = self.enter(&p.sums)?;
        let columns = self.scope.text(&get(&p.made)?.extents[1])?;
        for h in &p.sums.down {
            self.declare(&h.local, &h.at.to_string())?;
        }
        self.declare_rings(&p.sums, vectors, var, places)?;
        for h in vectors.first.iter().map(|(h, _)| h).chain(&vectors.last) {
            self.declare(&h.local, &h.at.to_string())?;
        }
        self.line(&format!(
            "const long panel_first = {0} * {var}, panel_last = {0} * {var} + {columns};",
            p.width
        ));
        self.at_place(&text.before, "0")?;
        let unit = UNIT / bytes;
        self.open(&format!(
            "for (long unit_first = panel_first; unit_first < panel_last; unit_first += {unit}) {{"
        ));
        self.line(&format!("const long unit_last = LOZENGE_MIN(panel_last, unit_first + {unit});"));
        let words = UNIT / REGISTER;
        self.line(&format!(
            "take_columns((char *)&{name}[unit_first - panel_first], {words}, lozenge_core);"
        ));
        self.parts_of(p, places, &p.sums, &text.sums, name)?;
        self.line(&format!(
            "send_columns((const char *)&{name}[unit_first - panel_first], {words}, lozenge_core, {});",
            p.cores / ROW
        ));
        self.close();
        self.open(&format!("if (panel_place == {last}) {{"));
        vectors.last.iter().for_each(|h| self.wait_for(h.tag()));
        self.block(&text.after)?;
        self.moves(sum.put.as_ref())?;
        if !vectors.last.is_empty() {
            self.later(var, 1, None, |slave| slave.of_last(vectors))?;
        }
        self.close();
        self.send(p, sum)?;
        self.leave(scope);
        Ok(())
    }

    /// Rows with what their columns came to.
    fn use_up(
        &mut self,
        p: &Columns,
        text: &Text,
        vectors: &Vectors,
        places: &Places,
    ) -> Result<(), Diagnostic> {
        let scope = self.enter(&p.used)?;
        for h in &p.used.down {
            self.declare(&h.local, &h.at.to_string())?;
        }
        self.declare_rings(&p.used, vectors, &p.l.var, places)?;
        let sums = &p.sums.along[p.sum];
        let at = vectors.first.iter().find(|(h, _)| h.local.name == sums.local.name);
        let at = at.ok_or_else(|| invalid("sums that have no place"))?.0.at;
        for own in p.used.along.iter().filter(|own| own.array() == sums.array()) {
            self.declare(&own.local, &at.to_string())?;
        }
        let out = p.used.down.iter().find(|h| h.put.is_some());
        let target = out.map_or(Name::new(""), |h| h.local.name.clone());
        self.parts_of(p, places, &p.used, &text.used, &target)?;
        self.leave(scope);
        Ok(())
    }

    /// A step's computing for all parts: sums of a buffer in registers, if it is only that.
    fn parts_of(
        &mut self,
        p: &Columns,
        places: &Places,
        step: &Step,
        body: &[Stmt],
        target: &Name,
    ) -> Result<(), Diagnostic> {
        let elem = self.scope.elems.get(target).copied().unwrap_or(Scalar::Bool);
        match register_sums::find(body, target, elem) {
            // Sums of columns go on through all parts.
            Some(found) if found.follow() => {
                let around: register_sums::Around =
                    &|slave, terms| slave.each_part(p, places, step, &|slave: &mut Writer| terms(slave));
                self.sums(&found, UNIT, places.rows, around)
            }
            Some(found) => self.each_part(p, places, step, &|slave| {
                let around: register_sums::Around = &|slave, terms| terms(slave);
                slave.sums(&found, UNIT, places.rows, around)
            }),
            None => self.each_part(p, places, step, &|slave| slave.block(body)),
        }
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
}
fn get(step: &Step) -> Result<Copy, Diagnostic> {
    step.matrix.get.clone().ok_or_else(|| invalid("a matrix that does not come in"))
}

/// The buffer for what rows have of a panel.
fn piece(p: &Columns) -> Local {
    let local = &p.made.matrix.local;
    Local { dims: vec![local.dims[0].clone(), Expr::Int(p.width)], ..local.clone() }
}
