//! The function of a kernel, which every core runs; `file` makes a slave file of them.

mod file;

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::nodes;
use loops::{Copy, CopyKind, Diagnostic, Elem, Expr, Loop, LoopKind, Name, Stmt, Storage};

use super::block;
use super::chip::Chip;
use super::contraction;
use super::cost::{self, LOOP};
use super::expr::{Binding, Scope, c_type, invalid, print};
use super::kernel::Kernel;
use super::multicast::{Shared, Sharing, kept};
use super::outer_prefetch::Outer;
use super::prefetch::{Led, bound, used_once};
use super::vector;

pub(super) use file::{SlaveFile, file};

/// The mark of the points of a tile.
pub(super) const TILE: &str = "tile";

/// Bytes that a strip of an operand may take that has to be turned.
const TURNED: i64 = 16 << 10;

/// What writes a kernel.
pub(super) struct Writer<'a> {
    chip: &'a Chip,
    out: String,
    depth: usize,
    pub(super) scope: Scope,
    /// Bytes of local memory that are taken here, and at most so far.
    pub(super) next: i64,
    used: i64,
    replies: Vec<Name>,
    /// Buffers that are declared in the block around the current tile: nothing of them is used
    /// after it.
    pub(super) fresh: Vec<Name>,
    /// What this core has in common with its line.
    pub(super) sharing: Sharing,
    /// What of the mapping is not made use of.
    pub(super) notes: Vec<String>,
    /// Rows and columns of cores, if the file needs the helpers for that.
    pub(super) helpers: Option<(i64, i64)>,
    /// Whether it needs those of panels.
    pub(super) exchanges: bool,
    /// Whether panels are being written: what is checked there for some sizes holds for all as long
    /// as nothing asks for single panels.
    in_panels: bool,
    /// The most slots of panels of columns, if it needs those.
    pub(super) slots: i64,
    /// Buffers of a contraction's factor that have been multiplied before the tile.
    pub(super) scaled: Vec<Name>,
    /// Functions of its contractions.
    contracts: Vec<block::Kind>,
    /// What the current loops over cores move, and what of main memory they write.
    pub(super) moved: Vec<(Name, CopyKind)>,
    pub(super) written: Vec<Name>,
    /// The loop around one with transfers ahead.
    pub(super) led: Option<Led>,
    pub(super) leads: bool,
    /// The loop over tiles whose boxes come and go during other tiles.
    pub(super) outer: Option<Outer>,
    /// Shares that stay in local memory.
    pub(super) held: Vec<Shared>,
    /// How many cores have one in a step, of each of them.
    pub(super) holds: BTreeSet<i64>,
    /// Rows of the largest box whose rows take turns.
    pub(super) turns: i64,
    /// Sizes, and what some of them are at most, as the host has asked before.
    pub(super) sizes: Vec<Name>,
    pub(super) bounds: Vec<(Name, i64)>,
    /// Boxes that stay in local memory, by their buffers: offsets among them.
    pub(super) kept: BTreeMap<Name, i64>,
}

/// The name of a scalar argument in the text: another one where the text has names like that for
/// vectors, sums, and what it counts with.
fn given(name: &Name) -> String {
    let name = name.as_str();
    let numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let counts = ["part", "slot", "word"].contains(&name)
        || ["panel_", "part_", "unit_", "share_", "reply_", "slave_"].iter().any(|p| name.starts_with(p))
        || ["_end", "_all", "_half", "_first", "_last", "_sent", "_from", "_rows", "_columns", "_at"]
            .iter()
            .any(|suffix| name.ends_with(suffix));
    let taken = counts || ["v", "sum"].iter().any(|prefix| numbered(prefix));
    if taken { format!("lozenge_{name}") } else { name.to_owned() }
}

impl<'a> Writer<'a> {
    fn new(chip: &'a Chip, leads: bool, helpers: Option<(i64, i64)>) -> Writer<'a> {
        Writer {
            chip,
            out: String::new(),
            depth: 1,
            scope: Scope::default(),
            next: 0,
            used: 0,
            replies: vec![],
            fresh: vec![],
            sharing: Sharing::default(),
            notes: vec![],
            helpers,
            exchanges: false,
            in_panels: false,
            slots: 0,
            scaled: vec![],
            contracts: vec![],
            moved: vec![],
            written: vec![],
            led: None,
            leads,
            outer: None,
            held: vec![],
            holds: BTreeSet::new(),
            turns: 0,
            sizes: vec![],
            bounds: vec![],
            kept: BTreeMap::new(),
        }
    }
}

impl Writer<'_> {
    pub(super) fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn kernel(&mut self, kernel: &Kernel) -> Result<(), Diagnostic> {
        self.line(&format!("struct {}_arguments lozenge_arguments;", kernel.name));
        self.line(&self.chip.arguments());
        self.line("const long lozenge_core = CORE_NUMBER;");
        for (name, scalar, dims) in &kernel.arrays {
            self.line(&format!("{} *const {name} = lozenge_arguments.{name};", c_type(*scalar)));
            let _ = dims;
        }
        for (name, scalar) in &kernel.scalars {
            let own = given(name);
            self.line(&format!("const {} {own} = lozenge_arguments.{name};", c_type(*scalar)));
            self.scope.elems.insert(name.clone(), *scalar);
            self.scope.names.insert(name.clone(), Binding::Value(own));
        }
        (self.sizes, self.bounds) = (kernel.sizes.clone(), kernel.bounds.clone());
        for name in &kernel.indices {
            self.line(&format!("const long {name} = lozenge_arguments.{name};"));
            self.scope.names.insert(name.clone(), Binding::Value(name.to_string()));
        }
        for (name, scalar, dims) in &kernel.arrays {
            let pitches = dims.iter().skip(1).map(|d| self.scope.text(d)).collect::<Result<Vec<_>, _>>()?;
            let pitches = pitches
                .into_iter()
                .map(|p| if p.chars().all(char::is_alphanumeric) { p } else { format!("({p})") })
                .collect();
            self.scope.elems.insert(name.clone(), *scalar);
            self.scope
                .names
                .insert(name.clone(), Binding::Linear { base: name.to_string(), pitches, elem: *scalar });
        }
        let mut replies = Vec::new();
        for stmt in nodes(kernel.body) {
            if let Stmt::Copy(Copy { tag: Some(tag), .. }) = stmt
                && !replies.contains(tag)
            {
                replies.push(tag.clone());
            }
        }
        for reply in &replies {
            self.line(&format!("int {reply}_sent = 0;"));
            self.line(&format!("{reply} = 0;"));
        }
        self.replies = replies;
        self.line("(void)lozenge_core;");
        self.phases(kernel.body, false)
    }

    /// Whether statements have loops over the cores.
    fn has_threads(body: &[Stmt]) -> bool {
        body.iter()
            .any(|stmt| stmt.nodes().any(|s| matches!(s, Stmt::Loop(Loop { kind: LoopKind::Parallel, .. }))))
    }

    /// What all cores run in step: loops over the cores, with barriers between them.
    fn phases(&mut self, body: &[Stmt], repeated: bool) -> Result<(), Diagnostic> {
        for (k, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Parallel => {
                    self.threads(l)?;
                    if repeated || k + 1 < body.len() {
                        self.line(&self.chip.barrier());
                    }
                }
                Stmt::Loop(l) if Self::has_threads(&l.body) => {
                    self.in_panels = true;
                    let panels = self.panels(l, self.chip)? || self.panels_of_columns(l, self.chip)?;
                    self.in_panels = false;
                    if panels {
                        self.open("else {");
                    }
                    let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
                    self.bind(&l.var);
                    self.open(&format!(
                        "for (long {0} = {lower}; {0} < {upper}; {0} += {1}) {{",
                        l.var, l.step
                    ));
                    self.phases(&l.body, true)?;
                    self.close();
                    if panels {
                        self.close();
                        self.line(&self.chip.barrier());
                    }
                }
                Stmt::If { cond, then, otherwise }
                    if Self::has_threads(then) || Self::has_threads(otherwise) =>
                {
                    let cond = self.scope.text(cond)?;
                    self.open(&format!("if ({cond}) {{"));
                    let last = !repeated && k + 1 == body.len();
                    self.phases(then, !last)?;
                    self.close();
                    if !otherwise.is_empty() {
                        self.open("else {");
                        self.phases(otherwise, !last)?;
                        self.close();
                    }
                }
                Stmt::Block { body, .. } => self.phases(body, repeated)?,
                other => {
                    return Err(invalid(format!(
                        "a kernel has a statement outside of the loops over cores: {}",
                        other.headline()
                    )));
                }
            }
        }
        Ok(())
    }

    /// A loop over cores: this core's iteration.
    fn threads(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        self.bind(&l.var);
        self.open("{");
        let next = self.next;
        self.begin_threads(&l.body)?;
        self.threads_in(l)?;
        self.next = next;
        self.close();
        Ok(())
    }

    fn threads_in(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        let Expr::Int(count) = l.upper else {
            return Err(invalid("a loop over cores without a constant end"));
        };
        if let [Stmt::Loop(inner)] = l.body.as_slice()
            && inner.kind == LoopKind::Parallel
            && let Expr::Int(columns) = inner.upper
        {
            self.bind(&inner.var);
            self.open("{");
            self.line(&format!(
                "const long {} = lozenge_core / {columns}, {} = lozenge_core % {columns};",
                l.var, inner.var
            ));
            self.line(&format!("(void){}; (void){};", l.var, inner.var));
            self.begin_sharing(&inner.body, &[(l.var.clone(), count), (inner.var.clone(), columns)]);
            self.hold_vectors(&inner.body)?;
            self.block(&inner.body)?;
            self.held.clear();
            self.close();
            return Ok(());
        }
        self.begin_sharing(&l.body, &[(l.var.clone(), count)]);
        self.open("{");
        self.line(&format!("const long {} = lozenge_core;", l.var));
        self.hold_vectors(&l.body)?;
        self.block(&l.body)?;
        self.held.clear();
        self.close();
        Ok(())
    }

    pub(super) fn bind(&mut self, var: &Name) {
        self.scope.names.insert(var.clone(), Binding::Value(var.to_string()));
    }

    pub(super) fn block(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        let (next, scope, sharing) = (self.next, self.scope.clone(), self.sharing.clone());
        for stmt in body {
            self.stmt_in(stmt, body)?;
        }
        (self.next, self.scope, self.sharing) = (next, scope, sharing);
        Ok(())
    }

    /// A statement of a block.
    pub(super) fn stmt_in(&mut self, stmt: &Stmt, block: &[Stmt]) -> Result<(), Diagnostic> {
        if self.outer_stmt(stmt)? {
            return Ok(());
        }
        match stmt {
            Stmt::Block { .. } if self.is_shared(stmt) => self.bring_here(stmt, block),
            Stmt::Block { .. } if kept(stmt).is_some_and(|c| self.kept.contains_key(&c.to.array)) => {
                self.bring_once(stmt)
            }
            Stmt::Local(local) if self.kept.contains_key(&local.name) => self.declare_kept(local),
            Stmt::Local(local) => {
                let (most, _) = self.most(local)?;
                let most = most.saturating_add(self.slack(&local.name, block));
                self.declare(local, &self.next.to_string())?;
                self.take(most);
                Ok(())
            }
            Stmt::Copy(copy) => self.copy(copy),
            Stmt::Wait(tag) if self.comes_ahead(tag) => self.exchange(tag),
            Stmt::Wait(tag) => {
                let wait = self.wait_text(tag);
                self.line(&wait);
                self.exchange(tag)
            }
            Stmt::Block { mark, body } => {
                let before = self.fresh.clone();
                if mark.is_none() {
                    self.fresh = used_once(body);
                    let kept = &self.kept;
                    self.fresh.retain(|name| !kept.contains_key(name));
                }
                let tile = mark.as_ref().is_some_and(|m| m.as_str() == TILE) && !self.sharing.here.is_empty();
                let here = self.sharing.here.join(" && ");
                self.open(&if tile { format!("if ({here}) {{") } else { "{".to_owned() });
                self.block(body)?;
                self.close();
                self.fresh = before;
                Ok(())
            }
            Stmt::If { cond, then, otherwise } => {
                let mut cond = self.scope.text(cond)?;
                if otherwise.is_empty() && self.brings_out_alike(then) {
                    // What decides is the tile, and there may be none.
                    let here = self.sharing.here.iter().map(|here| format!("{here} && "));
                    cond = here.chain([cond]).collect();
                }
                self.open(&format!("if ({cond}) {{"));
                self.block(then)?;
                self.close();
                if !otherwise.is_empty() {
                    self.open("else {");
                    self.block(otherwise)?;
                    self.close();
                }
                Ok(())
            }
            Stmt::Assign(assign) => {
                let text = self.assignment(stmt)?;
                self.line(&text);
                let cost = cost::assignment(assign, None);
                self.line(&format!("emulated_compute({}, {});", cost.cycles() + 2.0, cost.operations));
                Ok(())
            }
            Stmt::Loop(l) => self.loop_(l),
        }
    }

    /// A buffer at some place in local memory.
    pub(super) fn declare(&mut self, local: &loops::Local, place: &str) -> Result<(), Diagnostic> {
        let Elem::Scalar(elem) = local.elem else {
            return Err(invalid("pairs are not for the cores"));
        };
        let _ = Storage::Scratchpad;
        let (name, ty) = (&local.name, c_type(elem));
        self.line(&format!("{ty} *const {name} = ({ty} *)(lozenge_ldm + {place});"));
        let mut pitches = Vec::new();
        for (k, dim) in local.dims.iter().enumerate().skip(1) {
            match dim {
                Expr::Int(n) => pitches.push(n.to_string()),
                dim => {
                    let dim = self.scope.text(dim)?;
                    self.line(&format!("const long pitch{k}_{name} = {dim};"));
                    pitches.push(format!("pitch{k}_{name}"));
                }
            }
        }
        self.scope.elems.insert(name.clone(), elem);
        let binding = Binding::Linear { base: name.to_string(), pitches, elem };
        self.scope.names.insert(name.clone(), binding);
        Ok(())
    }

    /// A wait for all transfers of a tag.
    pub(super) fn wait_text(&self, tag: &Name) -> String {
        self.chip.wait(tag)
    }

    /// Whether shares with short rows come in two boxes at a time.
    pub(super) fn in_pairs(&self) -> bool {
        self.chip.pairs && !self.chip.crts
    }

    /// Whether words go from core to core through registers.
    pub(super) fn registers(&self) -> bool {
        !self.chip.crts
    }

    /// Bytes of local memory that buffers may take.
    pub(super) fn capacity(&self) -> i64 {
        self.chip.buffers()
    }

    /// Looks at what the loops over cores move.
    fn begin_threads(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        (self.moved, self.written) = (Vec::new(), Vec::new());
        for s in nodes(body) {
            if let Stmt::Copy(copy) = s {
                let array = if copy.kind == CopyKind::Get { &copy.from.array } else { &copy.to.array };
                self.moved.push((array.clone(), copy.kind));
                if copy.kind == CopyKind::Put {
                    self.written.push(array.clone());
                }
            }
        }
        self.begin_kept(body)
    }

    /// Bytes of a buffer at most, and its rows.
    pub(super) fn most(&self, local: &loops::Local) -> Result<(i64, i64), Diagnostic> {
        let Elem::Scalar(elem) = local.elem else {
            return Err(invalid("pairs are not for the cores"));
        };
        let (mut most, mut rows) = (elem.bytes() as i64, 1);
        for (k, dim) in local.dims.iter().enumerate() {
            let bound = bound(dim).ok_or_else(|| {
                invalid(format!("the extent `{dim}` of the buffer `{}` has no constant bound", local.name))
            })?;
            most = most.saturating_mul(bound.max(1));
            if k == 0 {
                rows = bound.max(1);
            }
        }
        Ok((most, rows))
    }

    /// Takes local memory.
    pub(super) fn take(&mut self, bytes: i64) {
        self.next = self.next.saturating_add((bytes.saturating_add(63) / 64).saturating_mul(64));
        self.used = self.used.max(self.next);
    }

    fn assignment(&self, stmt: &Stmt) -> Result<String, Diagnostic> {
        let Stmt::Assign(assign) = stmt else { return Err(invalid("not an assignment")) };
        let target = self.scope.access(&assign.target)?;
        let value = self.scope.expr(&assign.value)?;
        let value = match assign.update {
            None => value,
            Some(u) => {
                let ty = self.scope.elems.get(&assign.target.array).copied().unwrap_or(loops::Scalar::F64);
                crate::openmp::scalars::binary(u.op.binary(), target.clone(), value, ty)
            }
        };
        Ok(format!("{} = {};", print(&target), print(&value)))
    }

    fn loop_(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        if let Some(contraction) = contraction::find(&self.scope, l) {
            let mut scope = self.scope.clone();
            let (fresh, scaled) = (self.fresh.clone(), self.scaled.clone());
            // What is free, for an operand that has to be turned.
            let most = TURNED * contraction.turned() as i64;
            let free = (self.capacity() - self.next).clamp(0, most);
            let room = (self.next, free);
            if let Some(lines) = contraction::code(&mut scope, &contraction, &fresh, &scaled, room) {
                self.used = self.used.max(self.next + free);
                if !self.contracts.contains(&contraction.kind) {
                    self.contracts.push(contraction.kind);
                }
                self.open("{");
                for line in &lines {
                    self.line(line);
                }
                self.close();
                return Ok(());
            }
        }
        if self.outer(l)? || self.ahead(l)? || self.lead(l)? {
            return Ok(());
        }
        self.loop_plain(l)
    }

    /// A loop as it is.
    pub(super) fn loop_plain(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
        if let Some((core, end)) = self.round(l) {
            let (core, end, var) = (core.clone(), self.scope.text(end)?, &l.var);
            let (scope, sharing) = (self.scope.clone(), self.sharing.clone());
            self.bind(var);
            self.sharing.here.push(format!("{var} < {upper}"));
            self.open(&format!("for (long {var} = {core}; {var} - {core} < {end}; {var} += {}) {{", l.step));
            self.block(&l.body)?;
            self.outer_ends(l)?;
            self.close();
            (self.scope, self.sharing) = (scope, sharing);
            return Ok(());
        }
        let innermost = l.body.iter().all(|s| matches!(s, Stmt::Assign(_)));
        let scope = self.scope.clone();
        self.bind(&l.var);
        let var = &l.var;
        if !innermost {
            self.open(&format!("for (long {var} = {lower}; {var} < {upper}; {var} += {}) {{", l.step));
            self.block(&l.body)?;
            self.outer_ends(l)?;
            self.close();
            self.scope = scope;
            return Ok(());
        }
        self.open("{");
        self.line(&format!("long {var} = {lower};"));
        self.line(&format!("const long {var}_end = {upper}, {var}_all = LOZENGE_MAX(0, {var}_end - {var});"));
        let scalar = vector::scalar(l);
        let mut cycles = format!("{} * {var}_all", scalar.cycles() + LOOP);
        if l.kind == LoopKind::Vector
            && let Some((lines, vectors)) = vector::code(
                &self.scope,
                l,
                &vector::Left {
                    end: &format!("{var}_end"),
                    all: &format!("{var}_all"),
                    each: scalar.cycles() + LOOP,
                    asks: !self.in_panels,
                },
            )?
        {
            for line in &lines {
                self.line(line);
            }
            cycles = vectors;
        }
        self.open(&format!("for (; {var} < {var}_end; {var} += {}) {{", l.step));
        for stmt in &l.body {
            let text = self.assignment(stmt)?;
            self.line(&text);
        }
        self.close();
        let step = if l.step > 1 { format!(" / {}.0", l.step) } else { String::new() };
        self.line(&format!(
            "emulated_compute(({cycles}){step} + {LOOP}, {} * {var}_all{step});",
            scalar.operations
        ));
        self.close();
        self.scope = scope;
        Ok(())
    }
}
