//! Named extents as arguments of a model's C function: what follows from them, and the tests on
//! entry.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loops::size::Factor;
use loops::{Name, Size};

use super::{Model, Port, Rounds, SIZES, Step, WORKSPACE};

/// What a name, and the bytes of one tensor, may be at most.
const MOST: i64 = 1 << 40;

/// Extents by name, and their names in C.
pub(super) struct Extents {
    /// The function that places rooms.
    rooms: String,
    order: Vec<String>,
    names: BTreeMap<Name, String>,
}

impl Extents {
    pub(super) fn new(extents: &[Name], rooms: String, fresh: impl FnMut(&Name) -> String) -> Extents {
        let order: Vec<String> = extents.iter().map(fresh).collect();
        Extents { rooms, names: extents.iter().cloned().zip(order.iter().cloned()).collect(), order }
    }

    /// The parameters of the function, with a comma behind each.
    pub(super) fn parameters(&self) -> String {
        self.order.iter().map(|name| format!("int64_t {name}, ")).collect()
    }

    /// A size as an integer of C.
    pub(super) fn text(&self, size: &Size) -> String {
        self.printed(size, "")
    }

    /// A size as a factor of a product.
    pub(super) fn factor(&self, size: &Size) -> String {
        let text = self.text(size);
        if size.as_constant().is_some() { text } else { format!("({text})") }
    }

    /// A size as an argument of a function that takes bytes.
    pub(super) fn bytes(&self, size: &Size) -> String {
        let text = self.text(size);
        if size.as_constant().is_some() { text } else { format!("(size_t)({text})") }
    }

    /// A size as a sum of products, the first factor of each converted by `cast`.
    fn printed(&self, size: &Size, cast: &str) -> String {
        let mut text = String::new();
        let mut terms: Vec<_> = size.terms().collect();
        // Sums before differences.
        terms.sort_by_key(|(coefficient, _)| *coefficient < 0);
        for (coefficient, factors) in terms {
            let (sign, number) = match (text.is_empty(), coefficient < 0) {
                (true, true) => ("-", coefficient.unsigned_abs()),
                (true, false) => ("", coefficient.unsigned_abs()),
                (false, true) => (" - ", coefficient.unsigned_abs()),
                (false, false) => (" + ", coefficient.unsigned_abs()),
            };
            let mut parts = Vec::new();
            for (factor, exponent) in &factors {
                let one = self.atom(factor);
                parts.extend((0..*exponent).map(|_| one.clone()));
            }
            if number != 1 || parts.is_empty() {
                parts.push(number.to_string());
            }
            let _ = write!(text, "{sign}{cast}{}", parts.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    fn atom(&self, factor: &Factor<'_>) -> String {
        match factor {
            Factor::Param(name) => self.names.get(*name).cloned().unwrap_or_else(|| name.to_string()),
            // What is divided is not below 0, and by a number above 0.
            Factor::Quotient(a, b) => format!("({} / {})", self.operand(a), self.operand(b)),
            Factor::Remainder(a, b) => format!("({} % {})", self.operand(a), self.operand(b)),
            Factor::Sum(a, b) => format!("({} + {})", self.operand(a), self.operand(b)),
            Factor::Product(a, b) => format!("({} * {})", self.operand(a), self.operand(b)),
        }
    }

    fn operand(&self, size: &Size) -> String {
        let text = self.text(size);
        let word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let one = size.terms().count() == 1 && text.starts_with('(') && !text.contains(" * ");
        if word || one { text } else { format!("({text})") }
    }

    /// What the function of the model begins with.
    pub(super) fn entry(&self, model: &Model, in_arena: bool) -> String {
        let (name, list) = (&self.rooms, self.order.join(", "));
        let rooms = model.rooms.len().max(1);
        let mut text = format!(
            "    int64_t at[{rooms}];\n    const int64_t bytes = {name}({list}, at);\n    int status = 0;\n    if (bytes < 0) return {SIZES};\n"
        );
        if in_arena {
            text.push_str(
                "    char *a;\n    void *arena = lozenge_arena((size_t)(bytes > 0 ? bytes : 64));\n    if (!arena) return 1;\n    a = arena;\n",
            );
            if model.workspace_bytes > 0 {
                let _ = writeln!(
                    text,
                    "    {WORKSPACE}.from = {WORKSPACE}.at = a + (bytes - {});\n    {WORKSPACE}.to = a + bytes;",
                    model.workspace_bytes
                );
            }
        }
        text.push_str("    (void)at;\n");
        text
    }

    /// The function that places the rooms of the arena, and the one that tells its bytes.
    pub(super) fn functions(&self, model: &Model, memory: &str) -> String {
        let name = &self.rooms;
        let typed: Vec<String> = self.order.iter().map(|name| format!("int64_t {name}")).collect();
        let (typed, list) = (typed.join(", "), self.order.join(", "));
        let mut text = format!(
            "/* Where the rooms of the arena begin. The result are its bytes, or -1 if the extents are not admissible. */\nstatic int64_t {name}({typed}, int64_t *at)\n{{\n"
        );
        for test in self.tests(model) {
            let _ = writeln!(text, "    if ({test}) return -1;");
        }
        let most = if model.rooms.is_empty() { "" } else { ", most" };
        let _ = writeln!(text, "    int64_t end = {}{most};", model.arena_bytes);
        for (k, room) in model.rooms.iter().enumerate() {
            let _ = writeln!(text, "    at[{k}] = end;");
            for (n, bytes) in room.iter().enumerate() {
                let bytes = self.text(bytes);
                let _ = match n {
                    0 => writeln!(text, "    most = {bytes};"),
                    _ => writeln!(text, "    if ({bytes} > most) most = {bytes};"),
                };
            }
            let _ = writeln!(text, "    end += (most + 63) / 64 * 64;");
        }
        if model.rooms.is_empty() {
            text.push_str("    (void)at;\n");
        }
        let _ = writeln!(text, "    return end + {};\n}}", model.workspace_bytes);
        let _ = write!(
            text,
            "/* The bytes that a run with these extents takes, or -1 if they are not admissible. */\nint64_t {memory}({typed})\n{{\n    int64_t at[{}];\n    return {name}({list}, at);\n}}\n",
            model.rooms.len().max(1)
        );
        text
    }

    /// Conditions of C under which extents are not admissible: a number is negative or too large.
    fn tests(&self, model: &Model) -> Vec<String> {
        let mut tests: Vec<String> =
            self.order.iter().map(|name| format!("{name} < 0 || {name} > {MOST}")).collect();
        let ports = || model.inputs.iter().chain(&model.outputs);
        let of_port = |port: &Port| {
            port.dims.iter().fold(Size::constant(port.elem.bytes() as i64), |n, d| n * d.clone())
        };
        let mut large: Vec<Size> = Vec::new();
        let all = ports().map(of_port).chain(model.rooms.iter().flatten().cloned());
        for bytes in all.filter(|bytes| bytes.as_constant().is_none()) {
            if !large.contains(&bytes) {
                large.push(bytes);
            }
        }
        let mut signed: BTreeSet<Size> = BTreeSet::new();
        let natural = |sizes: &mut dyn Iterator<Item = &Size>, signed: &mut BTreeSet<Size>| {
            signed.extend(sizes.filter(|size| size.as_constant().is_none() && !size.is_natural()).cloned());
        };
        natural(&mut ports().flat_map(|port| &port.dims), &mut signed);
        natural(&mut model.rooms.iter().flatten(), &mut signed);
        visit(&model.steps, &mut |sizes| {
            let sizes: Vec<&Size> = sizes.collect();
            natural(&mut sizes.iter().copied(), &mut signed);
            for size in sizes {
                let plain = size.as_constant().is_some() || size.as_param().is_some();
                if !plain && !large.contains(size) {
                    large.push(size.clone());
                }
            }
        });
        // As floating-point numbers, since products may not fit an integer.
        let most = format!("{MOST}.0");
        tests.extend(large.iter().map(|bytes| format!("{} > {most}", self.printed(bytes, "(double)"))));
        tests.extend(signed.iter().map(|size| format!("{} < 0", self.text(size))));
        tests
    }
}

/// The sizes that steps use.
fn visit(steps: &[Step], f: &mut dyn FnMut(&mut dyn Iterator<Item = &Size>)) {
    for step in steps {
        match step {
            Step::Call(call) => {
                f(&mut call.sizes.iter());
                call.checks.iter().for_each(|check| f(&mut check.extents.iter()));
            }
            Step::Copy { bytes, .. } => f(&mut std::iter::once(bytes)),
            Step::Fail(_) => {}
            Step::Branch { then, otherwise, .. } => {
                visit(then, f);
                visit(otherwise, f);
            }
            Step::Repeat { rounds, body, .. } => {
                if let Rounds::Known(rounds) = rounds {
                    f(&mut std::iter::once(rounds));
                }
                visit(body, f);
            }
        }
    }
}
