//! The textual form of programs for several ranks.
//!
//! ```text
//! ranks jacobi[t, n](A: inout f64[n][n], B: inout f64[n][n]) grid 1 {
//!   cut b0: n along 0
//!   place A on (b0, _) halo (1 1, 0 0)
//!   place B on (b0, _)
//!   for s in 0..t {
//!     overlap (b0 1 1) { fetch A(b0_lo - 1 .. b0_hi + 1, 0 .. n) with (b0) }
//!     run all { .. }
//!   }
//! }
//! ```

use std::fmt::{self, Display, Formatter, Write};

use super::{At, Cut, Elements, Fetch, Placed, RankProgram, Step};
use crate::print::{Ident, Printer, Scope};

impl Display for RankProgram {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { out: f, scope: Some(Scope::default()), indent: 0 };
        Text { p: &mut printer, program: self }.program()
    }
}

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            At::All => "all",
            At::First => "first",
            At::Last => "last",
            At::Chain => "chain",
        })
    }
}

struct Text<'p, 'a, 'b> {
    p: &'p mut Printer<'a, 'b>,
    program: &'p RankProgram,
}

impl Text<'_, '_, '_> {
    fn program(&mut self) -> fmt::Result {
        let program = self.program;
        self.p.out.write_str("ranks ")?;
        self.p.head(&program.interface)?;
        write!(self.p.out, "grid {} {{", program.axes)?;
        self.p.indent += 1;
        for cut in &program.cuts {
            self.p.line()?;
            self.cut(cut)?;
        }
        for placed in &program.places {
            self.p.line()?;
            self.placed(placed)?;
        }
        for cut in &program.cuts {
            self.p.declare(&cut.low(), false);
            self.p.declare(&cut.high(), false);
        }
        for (buffer, _) in program.buffers() {
            self.p.declare(&buffer, true);
        }
        self.steps(&program.body)?;
        self.p.indent -= 1;
        self.p.line()?;
        self.p.out.write_str("}\n")
    }

    fn cut(&mut self, cut: &Cut) -> fmt::Result {
        write!(self.p.out, "cut {}: ", Ident(&cut.name))?;
        self.p.expr(&cut.extent, 0)?;
        write!(self.p.out, " along {}", cut.axis)?;
        match cut.width {
            Some(width) => write!(self.p.out, " by {width}"),
            None => Ok(()),
        }
    }

    fn placed(&mut self, placed: &Placed) -> fmt::Result {
        let array = &placed.array;
        match placed.mode {
            Some(_) => write!(self.p.out, "place {}", Ident(&array.name))?,
            None => {
                write!(self.p.out, "own {}: {}", Ident(&array.name), array.elem)?;
                self.p.brackets(&array.dims)?;
                self.p.declare(&array.name, true);
            }
        }
        let cuts = &self.program.cuts;
        self.p.out.write_str(" on (")?;
        self.p.list(&placed.cut, |p, cut| match cut {
            Some(cut) => write!(p.out, "{}", Ident(&cuts[*cut].name)),
            None => p.out.write_str("_"),
        })?;
        self.p.out.write_char(')')?;
        if placed.has_halo() {
            self.p.out.write_str(" halo (")?;
            self.p.list(&placed.halo, |p, (low, high)| write!(p.out, "{low} {high}"))?;
            self.p.out.write_char(')')?;
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> fmt::Result {
        for step in steps {
            self.p.line()?;
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> fmt::Result {
        match step {
            Step::Loop(repeat) => {
                write!(self.p.out, "for {} in ", Ident(&repeat.var))?;
                self.p.expr(&repeat.lower, 0)?;
                self.p.out.write_str("..")?;
                self.p.expr(&repeat.upper, 0)?;
                if repeat.step != 1 {
                    write!(self.p.out, " step {}", repeat.step)?;
                }
                if repeat.ahead {
                    self.p.out.write_str(" ahead")?;
                }
                self.p.out.write_str(" {")?;
                let mark = self.p.enter();
                self.p.declare(&repeat.var, false);
                self.p.indent += 1;
                self.steps(&repeat.body)?;
                self.p.indent -= 1;
                self.p.leave(mark);
                self.p.line()?;
                self.p.out.write_char('}')
            }
            Step::Fetch(fetch) => self.fetch(fetch),
            Step::Return(back) => {
                self.p.out.write_str("return ")?;
                self.elements(&back.what)?;
                if let Some(from) = &back.from {
                    write!(self.p.out, " from {}", Ident(from))?;
                }
                write!(self.p.out, " at {}", back.at)
            }
            Step::Run(run) => {
                if !run.during.is_empty() || !run.margins.is_empty() {
                    self.p.out.write_str("overlap (")?;
                    let cuts = &self.program.cuts;
                    self.p.list(&run.margins, |p, m| {
                        write!(p.out, "{} {} {}", Ident(&cuts[m.cut].name), m.low, m.high)
                    })?;
                    self.p.out.write_str(") {")?;
                    self.p.indent += 1;
                    for fetch in &run.during {
                        self.p.line()?;
                        self.fetch(fetch)?;
                    }
                    self.p.indent -= 1;
                    self.p.line()?;
                    self.p.out.write_str("} ")?;
                }
                write!(self.p.out, "run {} ", run.at)?;
                if !run.carried.is_empty() {
                    self.p.out.write_str("carrying ")?;
                    for (k, what) in run.carried.iter().enumerate() {
                        self.p.out.write_str(if k > 0 { ", " } else { "" })?;
                        self.elements(what)?;
                    }
                    self.p.out.write_char(' ')?;
                }
                if !run.reduced.is_empty() {
                    self.p.out.write_str("reduce(")?;
                    self.p.list(&run.reduced, |p, (op, name)| {
                        write!(p.out, "{}: {}", op.symbol(), Ident(name))
                    })?;
                    self.p.out.write_str(") ")?;
                }
                self.p.block(&run.body)
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch) -> fmt::Result {
        self.p.out.write_str("fetch ")?;
        self.elements(&fetch.what)?;
        if let Some(into) = &fetch.into {
            write!(self.p.out, " into {}", Ident(into))?;
        }
        write!(self.p.out, " at {}", fetch.at)?;
        if !fetch.working.is_empty() {
            let names: Vec<String> =
                fetch.working.iter().map(|k| Ident(&self.program.cuts[*k].name).to_string()).collect();
            write!(self.p.out, " with ({})", names.join(", "))?;
        }
        Ok(())
    }

    fn elements(&mut self, what: &Elements) -> fmt::Result {
        write!(self.p.out, "{}(", Ident(&what.array))?;
        self.p.list(&what.ranges, |p, (low, high)| {
            p.expr(low, 0)?;
            p.out.write_str(" .. ")?;
            p.expr(high, 0)
        })?;
        self.p.out.write_char(')')?;
        if let Some(when) = &what.when {
            self.p.out.write_str(" if ")?;
            self.p.expr(when, 0)?;
        }
        Ok(())
    }
}
