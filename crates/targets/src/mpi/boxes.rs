//! Fetches and returns as C, and the functions of their boxes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use loops::ranks::{At, Cut, Elements, Fetch, Return};
use loops::{Expr, Name};

use super::write::Writer;

impl Writer<'_> {
    /// The function of a box; its name.
    pub(super) fn box_of(&mut self, what: &Elements, working: &BTreeSet<usize>) -> String {
        let name = format!("{}_box{}", self.prefix, self.boxes);
        self.boxes += 1;
        let declared = self.program.declaration(&what.array);
        let dims = declared.map_or_else(Vec::new, |array| array.dims);
        let bounds = what.ranges.iter().flat_map(|(low, high)| [low, high]).chain(&what.when);
        let named: BTreeSet<Name> = bounds.flat_map(Expr::vars).collect();
        let uses = |k: usize, cut: &Cut| {
            working.contains(&k) || named.contains(&cut.low()) || named.contains(&cut.high())
        };
        let cuts: Vec<(usize, &Cut)> =
            self.program.cuts.iter().enumerate().filter(|(k, cut)| uses(*k, cut)).collect();
        let mut text = format!(
            "static void {name}(const struct lz_grid *grid, const void *numbers, int rank, int64_t *low, int64_t *high)\n{{\n    const struct {}_numbers *at = numbers;\n    int some = 0;\n    (void)grid;\n    (void)at;\n    (void)rank;\n",
            self.prefix
        );
        let mut indent = "    ".to_owned();
        for (k, cut) in &cuts {
            let (block, args) = (self.names.of(&cut.name), self.cut(cut));
            let (lo, hi) = (self.names.of(&cut.low()), self.names.of(&cut.high()));
            let _ = writeln!(
                text,
                "{indent}for (int64_t {block} = 0; {block} < lz_blocks({args}, rank); {block}++) {{"
            );
            indent.push_str("    ");
            let _ = writeln!(text, "{indent}const int64_t {lo} = lz_block_low({args}, rank, {block});");
            let _ = writeln!(text, "{indent}const int64_t {hi} = lz_block_high({args}, rank, {block});");
            match working.contains(k) {
                true => {
                    let _ = writeln!(text, "{indent}if ({lo} >= {hi})\n{indent}    continue;");
                }
                false => {
                    let _ = writeln!(text, "{indent}(void){lo};\n{indent}(void){hi};");
                }
            }
        }
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for ((low, high), extent) in what.ranges.iter().zip(&dims) {
            lows.push(format!("lz_max({}, 0)", self.expr(low)));
            highs.push(format!("lz_min({}, {})", self.expr(high), self.expr(extent)));
        }
        let when = what.when.as_ref().map_or("1".to_owned(), |when| self.inner(when));
        let count = lows.len();
        if count == 0 {
            lows.push("0".to_owned());
            highs.push("0".to_owned());
        }
        let _ = writeln!(
            text,
            "{indent}lz_hull({count}, {when}, &some, low, high, (const int64_t[]){{ {} }}, (const int64_t[]){{ {} }});",
            lows.join(", "),
            highs.join(", ")
        );
        for _ in &cuts {
            indent.truncate(indent.len() - 4);
            let _ = writeln!(text, "{indent}}}");
        }
        let _ = writeln!(
            text,
            "    if (!some)\n        lz_hull({count}, 1, &some, low, high, (const int64_t[LZ_DIMS]){{ 0 }}, (const int64_t[LZ_DIMS]){{ 0 }});\n}}\n"
        );
        self.functions.push_str(&text);
        name
    }

    /// The arguments of a fetch, without the numbers: array, buffer, who, box, axes.
    pub(super) fn fetched(&mut self, fetch: &Fetch) -> String {
        let name = self.box_of(&fetch.what, &fetch.working);
        let array = self.names.of(&fetch.what.array);
        let into =
            fetch.into.as_ref().map_or("NULL".to_owned(), |into| format!("&all->{}", self.names.of(into)));
        let at = match fetch.at {
            At::All | At::Chain => "LZ_ALL",
            At::First => "LZ_FIRST",
            At::Last => "LZ_LAST",
        };
        let along = self.along(&fetch.what);
        format!("&all->{array}, {into}, {at}, {name}, {along}")
    }

    /// The axes of the grid on which a box does not depend, as bits.
    fn along(&self, what: &Elements) -> u32 {
        let bounds = what.ranges.iter().flat_map(|(low, high)| [low, high]).chain(&what.when);
        let named: BTreeSet<Name> = bounds.flat_map(Expr::vars).collect();
        let depends = |axis: usize| {
            let mut cuts = self.program.cuts.iter().filter(|cut| cut.axis == axis);
            cuts.any(|cut| named.contains(&cut.low()) || named.contains(&cut.high()))
        };
        (0..self.program.axes).filter(|axis| !depends(*axis)).map(|axis| 1 << axis).sum()
    }

    pub(super) fn fetch(&mut self, fetch: &Fetch, depth: usize, out: &mut String) {
        let arguments = self.fetched(fetch);
        let _ = writeln!(out, "{}lz_fetch(grid, {arguments}, at);", "    ".repeat(depth));
    }

    pub(super) fn give_back(&mut self, back: &Return, depth: usize, out: &mut String) {
        let name = self.box_of(&back.what, &BTreeSet::new());
        let array = self.names.of(&back.what.array);
        let from =
            back.from.as_ref().map_or("NULL".to_owned(), |from| format!("&all->{}", self.names.of(from)));
        let at = if back.at == At::Last { "LZ_LAST" } else { "LZ_FIRST" };
        let _ = writeln!(
            out,
            "{}lz_return(grid, &all->{array}, {from}, {at}, {name}, at);",
            "    ".repeat(depth)
        );
    }
}
