//! The steps of a program for ranks as C.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loops::ranks::{At, Cut, Elements, Fetch, Margin, Placed, RankProgram, Repeat, Run, Step};
use loops::{Elem, Expr, Name, ReduceOp, Scalar};

use super::charge::Charges;
use super::index::{self, Identifiers};
use super::kernels::{Kernel, Size};
use crate::openmp::Signature;
use crate::openmp::types::elem_type;

/// Writes the C of one program.
pub(super) struct Writer<'a> {
    pub program: &'a RankProgram,
    pub kernels: &'a [Kernel],
    /// What the kernels are in C.
    pub signatures: &'a [Signature],
    /// What names of functions begin with.
    pub prefix: &'a str,
    pub names: Identifiers,
    /// Whether runs only say what they cost.
    simulated: bool,
    /// Functions for boxes and runs.
    pub(super) functions: String,
    pub(super) boxes: usize,
    runs: usize,
}

impl<'a> Writer<'a> {
    pub fn new(
        program: &'a RankProgram,
        kernels: &'a [Kernel],
        signatures: &'a [Signature],
        prefix: &'a str,
        simulated: bool,
    ) -> Writer<'a> {
        let mut all: Vec<Name> = program.interface.sizes.clone();
        loops::ranks::walk(&program.body, &mut |step| {
            if let Step::Loop(repeat) = step {
                all.push(repeat.var.clone());
            }
        });
        all.extend(program.places.iter().map(|p| p.array.name.clone()));
        all.extend(program.buffers().into_iter().map(|(name, _)| name));
        all.extend(program.cuts.iter().flat_map(|cut| [cut.name.clone(), cut.low(), cut.high()]));
        let names = Identifiers::new(&all);
        let functions = String::new();
        Writer { program, kernels, signatures, prefix, names, simulated, functions, boxes: 0, runs: 0 }
    }

    /// Structures, boxes, runs and the steps.
    pub fn text(mut self) -> String {
        let mut steps = String::new();
        let body = &self.program.body;
        self.steps(body, 1, &mut steps);
        let prefix = self.prefix;
        let mut text = self.structures();
        text.push_str(&self.placing());
        text.push_str(&self.functions);
        let _ = write!(
            text,
            "/* All ranks take these steps. */\nstatic void {prefix}_steps(struct lz_grid *grid, struct {prefix}_numbers *at, struct {prefix}_data *all)\n{{\n    (void)grid;\n    (void)at;\n    (void)all;\n{steps}}}\n\n"
        );
        text
    }

    /// Sizes and variables of the program, without those of blocks.
    fn numbers(&self) -> Vec<Name> {
        let mut found = self.program.interface.sizes.clone();
        loops::ranks::walk(&self.program.body, &mut |step| {
            if let Step::Loop(repeat) = step
                && !found.contains(&repeat.var)
            {
                found.push(repeat.var.clone());
            }
        });
        found
    }

    fn structures(&self) -> String {
        let prefix = self.prefix;
        let mut text =
            format!("/* Sizes, and variables of loops that all ranks run. */\nstruct {prefix}_numbers {{\n");
        for name in self.numbers() {
            let _ = writeln!(text, "    int64_t {};", self.names.of(&name));
        }
        let _ = write!(
            text,
            "    int64_t unused;\n}};\n\n/* Arrays, and boxes of them that were fetched. */\nstruct {prefix}_data {{\n"
        );
        for placed in &self.program.places {
            let _ = writeln!(text, "    struct lz_array {};", self.names.of(&placed.array.name));
        }
        for (buffer, _) in self.program.buffers() {
            let _ = writeln!(text, "    struct lz_buffer {};", self.names.of(&buffer));
        }
        text.push_str("    int unused;\n};\n\n");
        text
    }

    /// A number where it stands: of the program in the structure `at`, of a block in a variable.
    fn number(&self, name: &Name) -> String {
        let of_block = self.program.cuts.iter().any(|cut| cut.low() == *name || cut.high() == *name);
        if of_block { self.names.of(name) } else { format!("at->{}", self.names.of(name)) }
    }

    pub(super) fn expr(&self, e: &Expr) -> String {
        index::bare(e, &|name| self.number(name))
    }

    pub fn inner(&self, e: &Expr) -> String {
        index::expr(e, &|name| self.number(name))
    }

    /// The arguments of the functions on blocks: axis, extent, width.
    pub(super) fn cut(&self, cut: &Cut) -> String {
        let extent = self.expr(&cut.extent);
        let width = match cut.width {
            Some(width) => width.to_string(),
            None => format!("lz_width(grid, {}, {extent})", cut.axis),
        };
        format!("grid, {}, {extent}, {width}", cut.axis)
    }

    /// The function that says where each array is.
    fn placing(&self) -> String {
        let prefix = self.prefix;
        let mut text = format!(
            "/* Where each array is. */\nstatic void {prefix}_place(const struct lz_grid *grid, const struct {prefix}_numbers *at, struct {prefix}_data *all)\n{{\n    (void)at;\n    memset(all, 0, sizeof *all);\n"
        );
        for placed in &self.program.places {
            let name = self.names.of(&placed.array.name);
            let quoted = placed.array.name.escape_default().to_string();
            let _ = writeln!(
                text,
                "    all->{name} = (struct lz_array){{ .name = \"{quoted}\", .size = sizeof({}), .dims = {} }};",
                elem_type(&placed.array.elem),
                placed.array.dims.len()
            );
            for (d, dim) in placed.array.dims.iter().enumerate() {
                let extent = self.expr(dim);
                let (low, high) = placed.halo[d];
                let rest = match placed.cut[d].map(|cut| &self.program.cuts[cut]) {
                    None => ".axis = -1".to_owned(),
                    Some(cut) => {
                        let width = match cut.width {
                            Some(width) => width.to_string(),
                            None => format!("lz_width(grid, {}, {extent})", cut.axis),
                        };
                        let one = i32::from(cut.width.is_none());
                        format!(
                            ".axis = {}, .width = {width}, .one_block = {one}, .low = {low}, .high = {high}",
                            cut.axis
                        )
                    }
                };
                let _ = writeln!(
                    text,
                    "    all->{name}.dim[{d}] = (struct lz_dim){{ .extent = {extent}, {rest} }};"
                );
            }
            let _ = writeln!(text, "    lz_place(grid, &all->{name});");
        }
        text.push_str("    (void)grid;\n}\n\n");
        text
    }

    fn steps(&mut self, steps: &'a [Step], depth: usize, out: &mut String) {
        for step in steps {
            match step {
                Step::Loop(repeat) => self.repeat(repeat, depth, out),
                Step::Fetch(fetch) => self.fetch(fetch, depth, out),
                Step::Return(back) => self.give_back(back, depth, out),
                Step::Run(run) => self.run(run, depth, out),
            }
        }
    }

    fn repeat(&mut self, repeat: &'a Repeat, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let var = self.number(&repeat.var);
        let (lower, upper) = (self.expr(&repeat.lower), self.expr(&repeat.upper));
        let step = if repeat.step == 1 { format!("{var}++") } else { format!("{var} += {}", repeat.step) };
        let (first, rest) = repeat.first_fetches();
        if repeat.ahead && !first.is_empty() {
            return self.ahead(repeat, (&first, rest), (&lower, &upper), depth, out);
        }
        let _ = writeln!(out, "{indent}for ({var} = {lower}; {var} < {upper}; {step}) {{");
        self.steps(&repeat.body, depth + 1, out);
        let _ = writeln!(out, "{indent}}}");
    }

    /// A loop in which messages for the next iteration are on their way while one runs.
    fn ahead(
        &mut self,
        repeat: &'a Repeat,
        (first, rest): (&[&Fetch], &'a [Step]),
        (lower, upper): (&str, &str),
        depth: usize,
        out: &mut String,
    ) {
        let (i, var, name) = ("    ".repeat(depth), self.number(&repeat.var), self.names.of(&repeat.var));
        let (flight, step, prefix) = (format!("ahead{}", self.boxes), repeat.step, self.prefix);
        let fetched: Vec<String> = first.iter().map(|fetch| self.fetched(fetch)).collect();
        let begin = |turn: &str, numbers: &str, indent: &str| -> String {
            let one = |(k, arguments): (usize, &String)| {
                format!("{indent}lz_begin(grid, &{flight}[{turn}][{k}], {arguments}, {numbers});\n")
            };
            fetched.iter().enumerate().map(one).collect()
        };
        let each = |call: &dyn Fn(usize) -> String| -> String {
            (0..first.len()).map(|k| format!("{i}    {};\n", call(k))).collect()
        };
        let arrive = each(&|k| format!("lz_arrive(grid, &{flight}[{flight}_turn][{k}], 0)"));
        let depart = each(&|k| format!("lz_depart(&{flight}[{flight}_turn][{k}])"));
        // What is passed on is on its way while the loops run, too: the messages of two iterations.
        let _ = write!(
            out,
            "{i}struct lz_flight {flight}[2][{}];\n{i}int {flight}_turn = 0;\n{i}memset({flight}, 0, sizeof {flight});\n{i}{var} = {lower};\n{i}if ({var} < {upper}) {{\n{}{i}}}\n{i}for (; {var} < {upper}; {var} += {step}) {{\n{arrive}{i}    {flight}_turn = !{flight}_turn;\n{depart}",
            first.len(),
            begin("0", "at", &format!("{i}    "))
        );
        let _ = write!(
            out,
            "{i}    struct {prefix}_numbers next = *at;\n{i}    next.{name} += {step};\n{i}    if (next.{name} < {upper}) {{\n{}{i}    }}\n",
            begin(&format!("{flight}_turn"), "&next", &format!("{i}        "))
        );
        self.steps(rest, depth + 1, out);
        let _ = write!(
            out,
            "{i}}}\n{i}for ({flight}_turn = 0; {flight}_turn < 2; {flight}_turn++) {{\n{depart}{i}}}\n"
        );
    }

    /// The call of a run for the blocks in these variables.
    fn run(&mut self, run: &'a Run, depth: usize, out: &mut String) {
        let number = self.runs;
        self.runs += 1;
        let cuts: Vec<usize> = self.program.cuts_of(&run.body).into_iter().collect();
        self.kernel_call(run, number, &cuts);
        let mut indent = "    ".repeat(depth);
        match run.at {
            At::First => {
                let _ = writeln!(out, "{indent}if (grid->rank == 0) {{");
            }
            _ => {
                let _ = writeln!(out, "{indent}{{");
            }
        }
        indent.push_str("    ");
        let closing = indent.clone();
        if run.margins.is_empty() {
            for fetch in &run.during {
                self.fetch(fetch, depth + 1, out);
            }
            self.carry(run, true, &indent, out);
            self.reduce(run, true, &indent, out);
            self.blocks(&cuts, &mut indent, out);
            let _ = writeln!(out, "{indent}{};", self.call(number, &cuts));
            for _ in &cuts {
                indent.truncate(indent.len() - 4);
                let _ = writeln!(out, "{indent}}}");
            }
            self.carry(run, false, &closing, out);
            self.reduce(run, false, &closing, out);
        } else {
            self.overlapped(run, number, &cuts, &indent, out);
        }
        let _ = writeln!(out, "{}}}", "    ".repeat(depth));
    }

    /// Loops over the blocks of a rank.
    fn blocks(&self, cuts: &[usize], indent: &mut String, out: &mut String) {
        for cut in cuts.iter().map(|cut| &self.program.cuts[*cut]) {
            let (block, args) = (self.names.of(&cut.name), self.cut(cut));
            let (lo, hi) = (self.names.of(&cut.low()), self.names.of(&cut.high()));
            let _ = writeln!(
                out,
                "{indent}for (int64_t {block} = 0; {block} < lz_blocks({args}, grid->rank); {block}++) {{"
            );
            indent.push_str("    ");
            let _ = writeln!(out, "{indent}const int64_t {lo} = lz_block_low({args}, grid->rank, {block});");
            let _ = writeln!(out, "{indent}const int64_t {hi} = lz_block_high({args}, grid->rank, {block});");
        }
    }

    fn call(&self, number: usize, cuts: &[usize]) -> String {
        let mut text = format!("{}_run{number}(grid, at, all", self.prefix);
        for cut in cuts.iter().map(|cut| &self.program.cuts[*cut]) {
            let _ = write!(text, ", {}, {}", self.names.of(&cut.low()), self.names.of(&cut.high()));
        }
        text + ")"
    }

    /// What a chain hands on.
    fn carry(&mut self, run: &Run, receive: bool, indent: &str, out: &mut String) {
        for what in &run.carried {
            let name = self.names.of(&what.array);
            let call = if receive { "lz_from_before" } else { "lz_to_behind" };
            if self.program.place(&what.array).is_some() {
                let array = format!("&all->{name}");
                let _ = writeln!(
                    out,
                    "{indent}{call}(grid, all->{name}.data, (int64_t)(lz_stored(grid, {array}) * all->{name}.size));"
                );
                continue;
            }
            let Some((_, placed)) = self.program.buffers().into_iter().find(|(b, _)| *b == what.array) else {
                continue;
            };
            let array = self.names.of(&placed.array.name);
            let of = Elements { array: placed.array.name.clone(), ..what.clone() };
            if receive {
                let function = self.box_of(&of, &BTreeSet::new());
                let _ = writeln!(
                    out,
                    "{indent}if (grid->rank > 0)\n{indent}    lz_room_for(grid, &all->{array}, &all->{name}, {function}, at);"
                );
            }
            let _ = writeln!(
                out,
                "{indent}{call}(grid, all->{name}.data, lz_bytes(grid, &all->{array}, &all->{name}));"
            );
        }
    }

    /// What ranks compute in parts: neutral elements before, and the combination behind.
    fn reduce(&self, run: &Run, before: bool, indent: &str, out: &mut String) {
        for (op, name) in &run.reduced {
            let Some(placed) = self.program.place(name) else { continue };
            let Elem::Scalar(scalar) = placed.array.elem else { continue };
            let (c, c_type) = (self.names.of(name), elem_type(&placed.array.elem));
            let (mpi_type, mpi_op) = (message_type(scalar), operation(*op));
            let neutral = match op {
                ReduceOp::Add => "0",
                ReduceOp::Mul => "1",
                _ => "",
            };
            if !before {
                let _ = writeln!(out, "{indent}lz_combine(grid, &all->{c}, {mpi_type}, {mpi_op});");
            } else if !neutral.is_empty() && !self.simulated {
                let _ = writeln!(
                    out,
                    "{indent}for (size_t k = 0; grid->rank > 0 && k < lz_stored(grid, &all->{c}); k++)\n{indent}    (({c_type} *)all->{c}.data)[k] = {neutral};"
                );
            }
        }
    }

    /// The inner part while messages are on their way, and the borders behind them.
    fn overlapped(&mut self, run: &'a Run, number: usize, cuts: &[usize], indent: &str, out: &mut String) {
        let mut inner = indent.to_owned();
        let _ = writeln!(out, "{indent}struct lz_flight flight[{}];", run.during.len());
        for (k, fetch) in run.during.iter().enumerate() {
            let arguments = self.fetched(fetch);
            let _ = writeln!(out, "{indent}lz_begin(grid, &flight[{k}], {arguments}, at);");
        }
        self.blocks(cuts, &mut inner, out);
        let margin = |cut: usize| run.margins.iter().find(|m| m.cut == cut);
        let mut parts = vec![Vec::new()];
        for Margin { cut, low, high } in &run.margins {
            let of = &self.program.cuts[*cut];
            let (lo, hi) = (self.names.of(&of.low()), self.names.of(&of.high()));
            let _ = writeln!(out, "{inner}const int64_t {lo}_in = lz_min({lo} + {low}, {hi});");
            let _ = writeln!(out, "{inner}const int64_t {hi}_in = lz_max({hi} - {high}, {lo}_in);");
            let _ = low;
            let before: Vec<(usize, String, String)> = parts[0].clone();
            for (from, to) in [(lo.clone(), format!("{lo}_in")), (format!("{hi}_in"), hi.clone())] {
                let mut border = before.clone();
                border.push((*cut, from, to));
                parts.push(border);
            }
            parts[0].push((*cut, format!("{lo}_in"), format!("{hi}_in")));
        }
        debug_assert!(cuts.iter().all(|cut| margin(*cut).is_some() || !run.margins.is_empty()));
        for (k, part) in parts.iter().enumerate() {
            let mut text = format!("{}_run{number}(grid, at, all", self.prefix);
            let mut some = Vec::new();
            for cut in cuts {
                let of = &self.program.cuts[*cut];
                let own = (*cut, self.names.of(&of.low()), self.names.of(&of.high()));
                let (_, from, to) = part.iter().find(|(c, ..)| c == cut).unwrap_or(&own);
                let _ = write!(text, ", {from}, {to}");
                if part.iter().any(|(c, ..)| c == cut) {
                    some.push(format!("{from} < {to}"));
                }
            }
            let _ = writeln!(out, "{inner}if ({})\n{inner}    {text});", some.join(" && "));
            if k == 0 {
                for k in 0..run.during.len() {
                    let _ = writeln!(out, "{inner}lz_finish(grid, &flight[{k}], 0);");
                }
            }
        }
        for _ in cuts {
            inner.truncate(inner.len() - 4);
            let _ = writeln!(out, "{inner}}}");
        }
    }

    /// The function that calls the kernel of a run.
    fn kernel_call(&mut self, run: &Run, number: usize, cuts: &[usize]) {
        let prefix = self.prefix;
        let mut head = format!(
            "static void {prefix}_run{number}(struct lz_grid *grid, const struct {prefix}_numbers *at, struct {prefix}_data *all"
        );
        for cut in cuts.iter().map(|cut| &self.program.cuts[*cut]) {
            let _ = write!(
                head,
                ", int64_t {}, int64_t {}",
                self.names.of(&cut.low()),
                self.names.of(&cut.high())
            );
        }
        if self.simulated {
            let charges = self.charges(run);
            let _ = write!(
                self.functions,
                "{head})\n{{\n    (void)at;\n    (void)all;\n{charges}    lz_charge(grid, operations, bytes);\n}}\n\n"
            );
            return;
        }
        let (kernel, signature) = (&self.kernels[number], &self.signatures[number]);
        let mut arguments: Vec<String> = kernel.sizes.iter().map(|size| self.size(size)).collect();
        for param in &signature.params {
            arguments.push(self.data(&param.name, &param.c_type, param.pointer));
        }
        let _ = write!(
            self.functions,
            "{head})\n{{\n    (void)at;\n    (void)all;\n    if ({}({}))\n        lz_fail(grid, \"no memory for the loops of `{prefix}`\");\n}}\n\n",
            signature.c_name,
            arguments.join(", ")
        );
    }

    /// What a run costs, for simulations.
    fn charges(&self, run: &Run) -> String {
        let expr = |e: &Expr, known: &BTreeMap<Name, String>| {
            index::expr(e, &|name| known.get(name).cloned().unwrap_or_else(|| self.number(name)))
        };
        let bytes = |name: &Name| {
            let declared = self.program.declaration(name)?;
            i64::try_from(declared.elem.bytes()).ok()
        };
        let mut numbers: BTreeSet<Name> = self.numbers().into_iter().collect();
        numbers.extend(self.program.cuts.iter().flat_map(|cut| [cut.low(), cut.high()]));
        Charges::new(&expr, &bytes, numbers).of(&run.body)
    }

    fn size(&self, size: &Size) -> String {
        let (name, d, of_origin) = match size {
            Size::Number(name) => return self.number(name),
            Size::Origin(name, d) => (name, *d, true),
            Size::Extent(name, d) => (name, *d, false),
        };
        let c = self.names.of(name);
        match self.program.place(name) {
            None if of_origin => format!("all->{c}.origin[{d}]"),
            None => format!("all->{c}.held[{d}]"),
            Some(_) if !of_origin => format!("all->{c}.dim[{d}].held"),
            Some(placed) => match self.dealt(placed, d) {
                // The pointer is that of the block.
                Some(cut) => self.names.of(&cut.low()),
                None => format!("all->{c}.dim[{d}].origin"),
            },
        }
    }

    /// The cut of a dimension, if ranks have several blocks of it.
    fn dealt(&self, placed: &Placed, d: usize) -> Option<&Cut> {
        placed.cut[d].map(|cut| &self.program.cuts[cut]).filter(|cut| cut.width.is_some())
    }

    fn data(&self, name: &Name, c_type: &str, pointer: bool) -> String {
        let c = self.names.of(name);
        let mut text = format!("({c_type} *)all->{c}.data");
        if let Some(placed) = self.program.place(name) {
            for d in 0..placed.array.dims.len() {
                if let Some(cut) = self.dealt(placed, d) {
                    let _ = write!(text, " + lz_shift(grid, &all->{c}, {d}, {})", self.names.of(&cut.low()));
                }
            }
        }
        if pointer { text } else { format!("*{text}") }
    }
}

/// The MPI type of a scalar.
fn message_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "MPI_FLOAT",
        Scalar::F64 => "MPI_DOUBLE",
        Scalar::I8 => "MPI_INT8_T",
        Scalar::I16 => "MPI_INT16_T",
        Scalar::I32 => "MPI_INT32_T",
        Scalar::I64 => "MPI_INT64_T",
        Scalar::U8 => "MPI_UINT8_T",
        Scalar::U16 | Scalar::F16 => "MPI_UINT16_T",
        Scalar::U32 => "MPI_UINT32_T",
        Scalar::U64 => "MPI_UINT64_T",
        Scalar::Bool => "MPI_C_BOOL",
    }
}

/// The MPI name of an operation.
fn operation(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "MPI_SUM",
        ReduceOp::Mul => "MPI_PROD",
        ReduceOp::Min => "MPI_MIN",
        ReduceOp::Max => "MPI_MAX",
        ReduceOp::And => "MPI_LAND",
        ReduceOp::Or => "MPI_LOR",
    }
}

/// Whether an element type has a C type that goes in messages and files.
pub(super) fn is_plain(elem: &Elem) -> bool {
    matches!(elem, Elem::Scalar(_))
}
