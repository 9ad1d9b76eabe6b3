//! What the mapped program says about its boxes: which of them a buffer may hold, where results go,
//! and how large buffers are.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::nodes;
use loops::{BinaryOp, Copy, CopyKind, Expr, Loop, LoopKind, Name, Stmt};

use super::form::Form;
use super::read::Macro;
use crate::athread::kernel::Kernel;

/// A box of main memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Area {
    pub array: String,
    /// Number of its first element.
    pub offset: Form,
    /// How many planes of rows.
    pub planes: Vec<Form>,
    pub rows: Form,
    pub columns: Form,
    /// Elements between two rows; 0 where there is one.
    pub pitch: Form,
    /// If a buffer has a core's share of it only: who shares, and the core's place.
    pub share: Option<(String, Form)>,
}

/// What all cores do between two barriers.
#[derive(Default)]
pub(super) struct Phase {
    gets: BTreeMap<String, Vec<Copy>>,
    puts: BTreeMap<String, Vec<Copy>>,
    /// Largest sizes of buffers, in bytes; of a name that is declared more than once the least of
    /// them, and how often.
    sizes: BTreeMap<String, (i64, usize)>,
    /// Bytes of an element of a buffer.
    elements: BTreeMap<String, i64>,
    /// Rows and columns of cores.
    pub cores: (i64, i64),
}

/// A kernel of the mapped program, and what the text defines for it.
pub(super) struct Mapped<'t> {
    pub phases: Vec<Phase>,
    /// Arrays in main memory, by name: their extents.
    pub arrays: BTreeMap<String, Vec<Expr>>,
    /// Those that results go to.
    pub written: BTreeSet<String>,
    /// Rows and columns of the cores that share boxes in the text.
    pub sharers: Option<(i64, i64)>,
    /// Loops around boxes, by their variables.
    loops: BTreeMap<String, Vec<Loop>>,
    /// What some sizes are at most, by the conditions around the kernel.
    pub bounds: Vec<(Name, i64)>,
    /// Rules of the text that say which place a core has in a step.
    pub rules: Vec<Macro>,
    /// Statements of the kernel, and the names that its sizes and the loops of the host around it
    /// have.
    pub body: &'t [Stmt],
    pub names: Vec<String>,
    /// The text of the slave file.
    pub text: &'t str,
}

/// Bounds and step of a loop of the mapped program.
pub(super) struct Bounds {
    pub lower: Form,
    pub upper: Form,
    pub step: i64,
}

impl<'t> Mapped<'t> {
    /// A kernel; `sharers` are the rows and columns of the cores that share boxes in the text.
    pub fn of(
        kernel: &Kernel<'t>,
        sharers: Option<(i64, i64)>,
        rules: &[Macro],
        text: &'t str,
    ) -> Mapped<'t> {
        let arrays = kernel.arrays.iter().map(|(name, _, dims)| (name.to_string(), dims.clone())).collect();
        let (phases, written, loops) = (Vec::new(), BTreeSet::new(), BTreeMap::<String, Vec<Loop>>::new());
        let (bounds, rules) = (kernel.bounds.clone(), rules.to_vec());
        let body = kernel.body;
        let names = kernel.indices.iter().map(Name::to_string).collect();
        let mut mapped = Mapped { phases, arrays, written, sharers, loops, bounds, rules, body, names, text };
        for s in nodes(kernel.body) {
            if let Stmt::Loop(l) = s {
                mapped.loops.entry(l.var.to_string()).or_default().push(l.clone());
            }
        }
        mapped.look(kernel.body);
        mapped
    }

    fn look(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Loop(l @ Loop { kind: LoopKind::Parallel, .. }) => {
                    let mut phase = Phase { cores: cores(l), ..Phase::default() };
                    for s in stmt.nodes() {
                        phase.note(s)
                    }
                    self.written.extend(phase.puts.values().flatten().map(|c| c.to.array.to_string()));
                    self.phases.push(phase);
                }
                other => other.bodies().into_iter().for_each(|body| self.look(body)),
            }
        }
    }

    /// The loops with a variable, with the values of names.
    pub fn loops(&self, var: &str, value: &dyn Fn(&str) -> Option<Form>) -> Vec<Bounds> {
        let bounds = |l: &Loop| {
            Some(Bounds { lower: form(&l.lower, value)?, upper: form(&l.upper, value)?, step: l.step })
        };
        self.loops.get(var).into_iter().flatten().filter_map(bounds).collect()
    }

    /// A copy's box in main memory, with the values of names; none where a name has no value.
    pub fn area(&self, copy: &Copy, value: &dyn Fn(&str) -> Option<Form>) -> Option<Area> {
        let memory = if copy.kind == CopyKind::Get { &copy.from } else { &copy.to };
        let dims = self.arrays.get(memory.array.as_str())?;
        let extents = copy.extents.iter().map(|e| form(e, value)).collect::<Option<Vec<Form>>>()?;
        let planes = extents.len().saturating_sub(2);
        let mut offset = Form::default();
        for (k, index) in memory.indices.iter().enumerate() {
            let mut index = form(index, value)?;
            // The first indices go over planes; extents belong to the last.
            let d = k + extents.len();
            if d >= memory.indices.len() && d - memory.indices.len() < planes {
                index = index.plus(&Form::symbol(&plane(d - memory.indices.len())));
            }
            let pitch = if k == 0 { Form::default() } else { form(dims.get(k)?, value)? };
            offset = offset.times(&pitch).plus(&index);
        }
        let one = || Form::int(1);
        let pitch = if extents.len() < 2 { Form::default() } else { form(dims.last()?, value)? };
        Some(Area {
            array: memory.array.to_string(),
            offset,
            planes: extents[..planes].to_vec(),
            rows: if extents.len() < 2 { one() } else { extents[planes].clone() },
            columns: extents.last().cloned().unwrap_or_else(one),
            pitch,
            share: None,
        })
    }
}

/// Rows and columns of the cores of a loop over them, as they are on the chip; rows have eight.
pub(super) fn cores(l: &Loop) -> (i64, i64) {
    let end = |l: &Loop| if let Expr::Int(n) = l.upper { n } else { 0 };
    match l.body.as_slice() {
        [Stmt::Loop(inner)] if inner.kind == LoopKind::Parallel => (end(l), end(inner)),
        _ if end(l) > 8 => (end(l) / 8, 8),
        _ => (1, end(l)),
    }
}

impl Area {
    /// Changes each of its numbers.
    pub fn each(&mut self, change: &mut dyn FnMut(&mut Form)) {
        for form in [&mut self.offset, &mut self.rows, &mut self.columns, &mut self.pitch]
            .into_iter()
            .chain(&mut self.planes)
        {
            change(form);
        }
    }

    /// With a form in place of a name.
    pub fn put(&self, symbol: &str, value: &Form) -> Area {
        self.map(&mut |form| form.put(symbol, value))
    }

    /// With other forms.
    pub fn map(&self, change: &mut dyn FnMut(&Form) -> Form) -> Area {
        let mut area = self.clone();
        area.each(&mut |form| *form = change(form));
        area
    }

    /// A name that its place depends on.
    pub fn symbols(&self) -> Vec<String> {
        self.offset.symbols()
    }

    pub fn mentions(&self, symbol: &str) -> bool {
        [&self.offset, &self.rows, &self.columns, &self.pitch]
            .into_iter()
            .chain(&self.planes)
            .any(|form| form.mentions(symbol))
    }
}

/// The name of the number of a plane.
pub(super) fn plane(d: usize) -> String {
    format!("plane {d}")
}

impl Phase {
    /// Two loops over cores as one.
    pub fn with(&self, other: &Phase) -> Phase {
        let mut all = Phase { cores: self.cores, ..Phase::default() };
        for one in [self, other] {
            for (copies, own) in [(&mut all.gets, &one.gets), (&mut all.puts, &one.puts)] {
                for (name, more) in own {
                    copies.entry(name.clone()).or_default().extend(more.iter().cloned());
                }
            }
            for (name, (bytes, times)) in &one.sizes {
                let entry = all.sizes.entry(name.clone()).or_insert((*bytes, 0));
                *entry = (entry.0.min(*bytes), entry.1 + times);
            }
            all.elements.extend(one.elements.iter().map(|(name, bytes)| (name.clone(), *bytes)));
        }
        all
    }

    fn note(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Copy(copy) if copy.kind == CopyKind::Get => {
                self.gets.entry(copy.to.array.to_string()).or_default().push(copy.clone());
            }
            Stmt::Copy(copy) => {
                self.puts.entry(copy.from.array.to_string()).or_default().push(copy.clone());
            }
            Stmt::Local(local) => {
                let loops::Elem::Scalar(elem) = local.elem else { return };
                let none = |_: &str| None;
                let mut bytes = elem.bytes() as i64;
                for dim in &local.dims {
                    let bound = form(dim, &|name| none(name).or_else(|| Some(Form::symbol(name))))
                        .and_then(|form| form.bound());
                    bytes = bytes.saturating_mul(bound.unwrap_or(0).max(0));
                }
                self.elements.insert(local.name.to_string(), elem.bytes() as i64);
                let entry = self.sizes.entry(local.name.to_string()).or_insert((bytes, 0));
                *entry = (entry.0.min(bytes), entry.1 + 1);
            }
            _ => {}
        }
    }

    /// Rows of a box that one of those who share it brings in at most.
    pub fn share(&self, line: &str, rows: i64) -> i64 {
        let part = |rows: i64, cores: i64| rows.saturating_add(cores - 1) / cores.max(1);
        match line {
            "along_row" => part(rows, self.cores.1),
            "along_column" => part(rows, self.cores.0),
            "by_itself" => rows,
            _ => part(part(rows, self.cores.1), self.cores.0),
        }
    }

    /// The copies that bring into a buffer.
    pub fn gets(&self, buffer: &str) -> &[Copy] {
        self.gets.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// The copies that bring out of a buffer.
    pub fn puts(&self, buffer: &str) -> &[Copy] {
        self.puts.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// Whether results go to an array.
    pub fn writes(&self, array: &str) -> bool {
        self.puts.values().flatten().any(|copy| copy.to.array.as_str() == array)
    }

    /// Bytes of a buffer.
    pub fn size(&self, buffer: &str) -> i64 {
        self.sizes.get(buffer).map_or(0, |size| size.0)
    }

    /// Bytes of an element of a buffer.
    pub fn element(&self, buffer: &str) -> i64 {
        self.elements.get(buffer).copied().unwrap_or(0)
    }

    /// Whether a buffer is declared at one place only.
    pub fn once(&self, buffer: &str) -> bool {
        self.sizes.get(buffer).is_some_and(|size| size.1 == 1)
    }
}

/// An index expression as a form; none where a name has no value or it is no index expression.
pub(super) fn form(e: &Expr, value: &dyn Fn(&str) -> Option<Form>) -> Option<Form> {
    let call =
        |name: &str, a: &Expr, b: &Expr| Some(Form::apply(name, vec![form(a, value)?, form(b, value)?]));
    let named = |name: &Name| value(name.as_str());
    match e {
        Expr::Int(n) => Some(Form::int(*n)),
        Expr::Var(name) => named(name),
        Expr::Load(access) if access.indices.is_empty() => named(&access.array),
        Expr::Binary(op, a, b) => match op {
            BinaryOp::Add => Some(form(a, value)?.plus(&form(b, value)?)),
            BinaryOp::Sub => Some(form(a, value)?.minus(&form(b, value)?)),
            BinaryOp::Mul => Some(form(a, value)?.times(&form(b, value)?)),
            BinaryOp::Min => call("LOZENGE_MIN", a, b),
            BinaryOp::Max => call("LOZENGE_MAX", a, b),
            BinaryOp::FloorDiv => call("LOZENGE_FLOOR_DIV", a, b),
            BinaryOp::Mod => call("LOZENGE_MOD", a, b),
            BinaryOp::Div => call("/", a, b),
            BinaryOp::Rem => call("%", a, b),
            _ => None,
        },
        _ => None,
    }
}
