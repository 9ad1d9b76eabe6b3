//! What the theorem of a certificate rests on besides Coq, in words. The command and the documents
//! print this one list.

use std::collections::BTreeMap;

use super::data::{Certificate, Cmd, Op, Tm};

impl Certificate {
    /// Every hypothesis under which the printed C computes what the program says.
    ///
    /// Some are hypotheses of the theorem (sizes, indices, laws). The others carry it from the
    /// loops to C. Not here: the passes between the certified loops and C, which the certificate
    /// cannot know.
    pub fn hypotheses(&self) -> Vec<String> {
        let names: BTreeMap<u32, &str> = self.names.integers.iter().map(|(n, name)| (*n, &**name)).collect();
        let arrays: BTreeMap<u32, &str> = self.names.arrays.iter().map(|(n, name)| (*n, &**name)).collect();
        let mut all = Vec::new();
        if !self.assume.is_empty() {
            let known: Vec<String> = self.assume.iter().map(|t| condition(t, &names)).collect();
            all.push(format!("sizes: {}", known.join(", ")));
        }
        for (array, below) in self.indices() {
            let (name, below) = (arrays.get(&array).unwrap_or(&"?"), term(below, &names, 0));
            all.push(format!("indices: the elements of {name} are at least 0 and below {below}"));
        }
        all.push(
            "arrays: each has the extents that the definition gives it, and none overlaps `out`".to_owned(),
        );
        all.push("subscripts, bounds of loops and sizes of arrays fit in 64 bits".to_owned());
        all.push("memory for local arrays does not run out".to_owned());
        all.push(
            "the C compiler keeps to IEEE arithmetic: it contracts nothing (-ffp-contract=off) and reorders nothing (no -ffast-math)"
                .to_owned(),
        );
        all.push(
            "each operation of the loops is that of the definition; any NaN is as good as any other"
                .to_owned(),
        );
        if parallel(&self.target) {
            all.push("OpenMP runs each iteration of a parallel loop once".to_owned());
        }
        if !self.sums.is_empty() {
            all.push(
                "OpenMP combines the numbers of a reduction by its operation, in some order and grouping, each once".to_owned(),
            );
        }
        all
    }
}

fn parallel(c: &Cmd) -> bool {
    match c {
        Cmd::For { parallel: true, .. } => true,
        Cmd::For { body, .. } | Cmd::Local(_, body) => parallel(body),
        Cmd::Seq(a, b) | Cmd::If(_, a, b) => parallel(a) || parallel(b),
        Cmd::Skip | Cmd::Assign { .. } => false,
    }
}

/// That the term is at least 0.
fn condition(t: &Tm, names: &BTreeMap<u32, &str>) -> String {
    match t {
        Tm::Op(Op::Isub, ts) if ts.len() == 2 => {
            format!("{} <= {}", term(&ts[1], names, 0), term(&ts[0], names, 0))
        }
        _ => format!("0 <= {}", term(t, names, 0)),
    }
}

/// A term over sizes. `outer`: how tightly what is around binds.
fn term(t: &Tm, names: &BTreeMap<u32, &str>, outer: u8) -> String {
    match t {
        Tm::Var(x) => names.get(x).map_or_else(|| format!("#{x}"), |name| (*name).to_owned()),
        Tm::Int(z) => z.to_string(),
        Tm::Lit(text) => text.clone(),
        Tm::In(a, ..) => format!("an element of array {a}"),
        Tm::Op(op, ts) => {
            let infix = match op {
                Op::Iadd => Some((" + ", 1)),
                Op::Isub => Some((" - ", 1)),
                Op::Imul => Some((" * ", 2)),
                Op::Idiv => Some((" / ", 2)),
                Op::Imod => Some((" mod ", 2)),
                _ => None,
            };
            match (infix, &ts[..]) {
                (Some((sign, binds)), [a, b]) => {
                    let text = format!("{}{sign}{}", term(a, names, binds), term(b, names, binds + 1));
                    if binds < outer { format!("({text})") } else { text }
                }
                _ => {
                    let parts: Vec<String> = ts.iter().map(|t| term(t, names, 0)).collect();
                    format!("{op:?}({})", parts.join(", "))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_written_with_brackets_where_they_are_needed() {
        let names = BTreeMap::from([(0, "n"), (1, "m")]);
        let sum = Tm::Op(Op::Iadd, vec![Tm::Var(0), Tm::Int(1)]);
        let product = Tm::Op(Op::Imul, vec![sum.clone(), Tm::Var(1)]);
        assert_eq!(term(&product, &names, 0), "(n + 1) * m");
        let rest = Tm::Op(Op::Isub, vec![Tm::Var(1), Tm::Op(Op::Isub, vec![sum, Tm::Int(2)])]);
        assert_eq!(condition(&rest, &names), "n + 1 - 2 <= m");
        assert_eq!(condition(&Tm::Var(0), &names), "0 <= n");
    }
}
