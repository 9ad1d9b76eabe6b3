//! What the loops of a run cost, as C that counts: for simulations, in which nothing is computed.
//!
//! Operations are those that do not stay the same in the innermost loop around them; data is each
//! element of an array that is touched, once, and twice if it is written. Loops are counted by
//! their bounds. Where bounds depend on a variable around, some of its values are looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loops::{Access, Assign, Expr, Name, Stmt};

/// Iterations of a loop whose bounds are data.
const SUPPOSED: i64 = 16;

/// Prints expressions and knows arrays.
pub(super) struct Charges<'a> {
    /// An index expression in C, given how names of loops are written.
    expr: &'a dyn Fn(&Expr, &BTreeMap<Name, String>) -> String,
    /// Bytes of an element of an array that is not local.
    bytes: &'a dyn Fn(&Name) -> Option<i64>,
    /// Sizes, variables around and bounds of blocks.
    numbers: BTreeSet<Name>,
    lines: String,
    /// Loops around, and how many iterations they have in the middle of those around them.
    loops: Vec<(Name, String)>,
    /// Values of variables whose loops are there in C too.
    known: BTreeMap<Name, String>,
    /// Declarations of numbers of iterations, and of values in the middle of loops.
    middle: String,
    middles: BTreeMap<Name, String>,
    fresh: usize,
    /// For each array what its accesses touch, and whether one writes.
    touched: BTreeMap<Name, (Vec<String>, bool)>,
}

impl<'a> Charges<'a> {
    pub fn new(
        expr: &'a dyn Fn(&Expr, &BTreeMap<Name, String>) -> String,
        bytes: &'a dyn Fn(&Name) -> Option<i64>,
        numbers: BTreeSet<Name>,
    ) -> Charges<'a> {
        let (lines, loops, known) = Default::default();
        let (middle, middles, touched) = Default::default();
        Charges { expr, bytes, numbers, lines, loops, known, middle, middles, fresh: 0, touched }
    }

    /// The statements that add up `operations` and `bytes`.
    pub fn of(mut self, body: &[Stmt]) -> String {
        self.stmts(body, "1.0", 1);
        let mut text = "    double operations = 0, bytes = 0;\n".to_owned();
        text.push_str(&self.lines);
        text.push_str(&self.middle);
        for (name, (counts, writes)) in &self.touched {
            let Some(size) = (self.bytes)(name) else { continue };
            let most = counts
                .iter()
                .skip(1)
                .fold(counts[0].clone(), |most, count| format!("({most} > {count} ? {most} : {count})"));
            let size = if *writes { 2 * size } else { size };
            let _ = writeln!(text, "    bytes += {size} * {most};");
        }
        text
    }

    fn stmts(&mut self, body: &[Stmt], times: &str, depth: usize) {
        for stmt in body {
            self.stmt(stmt, times, depth);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, times: &str, depth: usize) {
        match stmt {
            Stmt::Assign(assign) => self.assign(assign, times, depth),
            Stmt::Loop(l) => self.repeated(l, times, depth),
            Stmt::If { cond, then, otherwise } => {
                let indent = "    ".repeat(depth);
                if cond.has_loads() || cond.vars().iter().any(|name| self.is_unknown(name, &self.known)) {
                    return self.stmts(then, times, depth);
                }
                let cond = (self.expr)(cond, &self.known);
                let _ = writeln!(self.lines, "{indent}if ({cond}) {{");
                self.stmts(then, times, depth + 1);
                if !otherwise.is_empty() {
                    let _ = writeln!(self.lines, "{indent}}} else {{");
                    self.stmts(otherwise, times, depth + 1);
                }
                let _ = writeln!(self.lines, "{indent}}}");
            }
            Stmt::Block { body, .. } => self.stmts(body, times, depth),
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
    }

    fn repeated(&mut self, l: &loops::Loop, times: &str, depth: usize) {
        let indent = "    ".repeat(depth);
        self.fresh += 1;
        let (trips, number) = (format!("n{}", self.fresh), self.fresh);
        let counted = |bounds: Option<(String, String)>| match bounds {
            Some((low, high)) => (low.clone(), format!("lz_trips({low}, {high}, {})", l.step)),
            None => ("0".to_owned(), SUPPOSED.to_string()),
        };
        let (low, count) = counted(self.bounds(l, &self.known));
        let _ = writeln!(self.lines, "{indent}const int64_t {trips} = {count};");
        // In the middle of the loops around.
        let (first, count) = counted(self.bounds(l, &self.middles));
        let _ = writeln!(
            self.middle,
            "    const int64_t m{number} = {count}, c{number} = {first} + m{number} / 2 * {};\n    (void)c{number};",
            l.step
        );
        let outside = self.middles.insert(l.var.clone(), format!("c{number}"));
        self.loops.push((l.var.clone(), format!("(double)m{number}")));
        let times = if times == "1.0" { format!("(double){trips}") } else { format!("{times} * {trips}") };
        if asked(&l.body, &l.var) {
            // Bounds inside change from iteration to iteration.
            let (k, value) = (format!("k{}", self.fresh), format!("v{}", self.fresh));
            let _ = writeln!(
                self.lines,
                "{indent}for (int64_t {k} = 0; {k} < lz_sampled({trips}); {k}++) {{\n{indent}    const int64_t {value} = {low} + {} * lz_sample({trips}, {k});",
                l.step
            );
            let outer = self.known.insert(l.var.clone(), value);
            self.stmts(&l.body, &format!("{times} / lz_sampled({trips})"), depth + 1);
            restore(&mut self.known, &l.var, outer);
            let _ = writeln!(self.lines, "{indent}}}");
        } else {
            let _ = writeln!(self.lines, "{indent}(void){trips};");
            self.stmts(&l.body, &times, depth);
        }
        self.loops.pop();
        restore(&mut self.middles, &l.var, outside);
    }

    fn assign(&mut self, assign: &Assign, times: &str, depth: usize) {
        let innermost = self.loops.last().map(|(name, _)| name.clone());
        let moves = |e: &Expr| innermost.as_ref().is_none_or(|name| e.mentions(name));
        let operation = |e: &&Expr| match e {
            Expr::Binary(..) | Expr::Unary(..) => moves(e),
            _ => false,
        };
        let values = values(&assign.value);
        let count = values.into_iter().filter(operation).count() + usize::from(assign.update.is_some());
        let _ = writeln!(self.lines, "{}operations += {count} * ({times});", "    ".repeat(depth));
        self.touch(&assign.target, true);
        for e in assign.value.nodes() {
            if let Expr::Load(access) = e {
                self.touch(access, false);
            }
        }
    }

    /// Notes what an access touches: as much as the loops that its subscripts go through have
    /// iterations.
    fn touch(&mut self, access: &Access, writes: bool) {
        let through = |(name, _): &&(Name, String)| access.indices.iter().any(|e| e.mentions(name));
        let trips: Vec<&str> = self.loops.iter().filter(through).map(|(_, n)| n.as_str()).collect();
        let count = if trips.is_empty() { "1.0".to_owned() } else { trips.join(" * ") };
        let entry = self.touched.entry(access.array.clone()).or_default();
        if !entry.0.contains(&count) {
            entry.0.push(count);
        }
        entry.1 |= writes;
    }

    /// Bounds of a loop as C.
    fn bounds(&self, l: &loops::Loop, known: &BTreeMap<Name, String>) -> Option<(String, String)> {
        let fixed = |e: &Expr| !e.has_loads() && !e.vars().iter().any(|name| self.is_unknown(name, known));
        let both = fixed(&l.lower) && fixed(&l.upper);
        both.then(|| ((self.expr)(&l.lower, known), (self.expr)(&l.upper, known)))
    }

    fn is_unknown(&self, name: &Name, known: &BTreeMap<Name, String>) -> bool {
        !known.contains_key(name) && !self.numbers.contains(name)
    }
}

/// What a variable was before.
fn restore(values: &mut BTreeMap<Name, String>, name: &Name, before: Option<String>) {
    match before {
        Some(before) => values.insert(name.clone(), before),
        None => values.remove(name),
    };
}

/// An expression and those in it, without subscripts.
fn values(e: &Expr) -> Vec<&Expr> {
    let mut found = vec![e];
    if !matches!(e, Expr::Load(_)) {
        e.children().for_each(|child| found.extend(values(child)));
    }
    found
}

/// Whether bounds or conditions of statements mention a variable.
fn asked(body: &[Stmt], var: &Name) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Loop(l) => l.lower.mentions(var) || l.upper.mentions(var) || asked(&l.body, var),
        Stmt::If { cond, then, otherwise } => cond.mentions(var) || asked(then, var) || asked(otherwise, var),
        Stmt::Block { body, .. } => asked(body, var),
        _ => false,
    })
}
