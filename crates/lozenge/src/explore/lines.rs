//! Where lines of a stage come from.
//!
//! Texts of loop programs and of schedules have the labels of statements in them. C has none:
//! there, each statement gets a number that stands nowhere else, and the lines with that number are
//! the statement's, if C comes out the same in all other respects.

use std::collections::BTreeMap;
use std::ops::Range;

use loops::{Assign, BinaryOp, Elem, Expr, Function, Name, Scalar, Stmt, Types};

/// The label that a line of a loop program begins with (`S0: A[i] = ...`).
pub fn of_loops(line: &str) -> Option<Name> {
    let (label, _) = line.trim_start().split_once(": ")?;
    let is_name = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !label.is_empty()).then(|| Name::new(label))
}

/// Those of the labels that a line of a schedule tree is about: `S0[i, j]`.
pub fn of_tree<'a>(line: &str, labels: &'a [Name]) -> Vec<&'a Name> {
    let about = |label: &Name| {
        line.match_indices(&format!("{label}["))
            .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    labels.iter().filter(|label| about(label)).collect()
}

/// The function with labels that no two statements share, and the label that each had before, if it
/// had one.
pub fn with_own_labels(function: &Function) -> (Function, BTreeMap<Name, Name>) {
    let mut originals = BTreeMap::new();
    let mut count = 0;
    let body = relabelled(&function.body, &mut count, &mut originals);
    (Function { body, ..function.clone() }, originals)
}

fn relabelled(body: &[Stmt], count: &mut usize, originals: &mut BTreeMap<Name, Name>) -> Vec<Stmt> {
    let mut statement = |stmt: &Stmt| {
        let mut stmt = stmt.clone();
        match &mut stmt {
            Stmt::Assign(assign) => {
                let label = Name::new(format!("s{count}"));
                *count += 1;
                if let Some(original) = assign.label.replace(label.clone()) {
                    originals.insert(label, original);
                }
            }
            Stmt::Loop(l) => l.body = relabelled(&l.body, count, originals),
            Stmt::If { then, otherwise, .. } => {
                *then = relabelled(then, count, originals);
                *otherwise = relabelled(otherwise, count, originals);
            }
            Stmt::Block { body, .. } => *body = relabelled(body, count, originals),
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
        stmt
    };
    body.iter().map(&mut statement).collect()
}

/// Whether two texts of loop programs differ in nothing but the labels of statements.
pub(crate) fn same_but_labels(left: &str, right: &str) -> bool {
    let without = |line: &str| match of_loops(line) {
        Some(label) => line.trim_start()[label.len() + 2..].to_owned(),
        None => line.trim_start().to_owned(),
    };
    left.lines().map(without).eq(right.lines().map(without))
}

/// Numbers from here on mark statements; all are exact in single precision.
const FIRST: i32 = 15_481_000;
/// More statements than this are not marked.
const MOST: usize = 900;

/// Lines of C that belong to statements, from two emissions of a function: as it is, and with
/// marks.
///
/// `emit` gives the C of a function. Without an answer where the two differ in more than the marks.
pub fn of_c(function: &Function, emit: impl Fn(&Function) -> Option<String>) -> Option<CLines> {
    let mut marks = Marks { labels: Vec::new(), types: Types::of(function) };
    let body = marks.block(&function.body);
    if marks.labels.is_empty() || marks.labels.len() > MOST {
        return None;
    }
    let (plain, marked) = (emit(function)?, emit(&Function { body, ..function.clone() })?);
    let (of_plain, of_marked) = (statements(&plain), statements(&marked));
    if of_plain.len() != of_marked.len() {
        return None;
    }
    let mut lines = unmarked(&plain);
    for ((place, plain), (_, marked)) in of_plain.into_iter().zip(of_marked) {
        let labels = marks.found(&marked);
        if labels.is_empty() && plain != marked || !marks.found(&plain).is_empty() {
            return None;
        }
        for (_, own) in &mut lines[place] {
            own.clone_from(&labels);
        }
    }
    Some(lines)
}

/// The statements of C, each with its lines and its text on one line: a mark may move the ends of
/// lines.
fn statements(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut own: Vec<&str> = Vec::new();
    for (k, line) in text.lines().map(str::trim).enumerate() {
        let directive = line.starts_with('#');
        own.push(line);
        if directive || line.is_empty() || line.ends_with([';', '{', '}', '/', '\\']) {
            found.push((k + 1 - own.len()..k + 1, own.join(" ")));
            own.clear();
        }
    }
    let count = text.lines().count();
    if !own.is_empty() {
        found.push((count - own.len()..count, own.join(" ")));
    }
    found
}

/// Lines without their indentation, each with the labels of its statements.
pub(crate) type CLines = Vec<(String, Vec<Name>)>;

/// The lines of a text of which no labels are known.
pub(crate) fn unmarked(text: &str) -> CLines {
    text.lines().map(|line| (line.trim().to_owned(), Vec::new())).collect()
}

/// Where `lines` stand in a text, one after the other without a gap: the number of the first line.
pub fn place(text: &[&str], lines: &CLines) -> Option<usize> {
    let same = |at: &usize| text[*at..].iter().zip(lines).all(|(have, (wanted, _))| have.trim() == wanted);
    let last = text.len().checked_sub(lines.len())?;
    (0..=last).find(same)
}

/// Statements that get marks.
struct Marks {
    /// The label of each mark: the first has the number [`FIRST`].
    labels: Vec<Name>,
    types: Types,
}

impl Marks {
    fn block(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let outside = self.types.enter();
        let marked = body.iter().map(|stmt| self.stmt(stmt)).collect();
        self.types.leave(outside);
        marked
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let mut stmt = stmt.clone();
        match &mut stmt {
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::Local(local) => self.types.declare_array(&local.name, &local.elem, local.dims.len()),
            Stmt::Loop(l) => {
                let outside = self.types.enter();
                self.types.declare_var(&l.var);
                l.body = self.block(&l.body);
                self.types.leave(outside);
            }
            Stmt::If { then, otherwise, .. } => {
                *then = self.block(then);
                *otherwise = self.block(otherwise);
            }
            Stmt::Block { body, .. } => *body = self.block(body),
            Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
        stmt
    }

    fn assign(&mut self, assign: &mut Assign) {
        let Some(label) = &assign.label else { return };
        let number = FIRST + i32::try_from(self.labels.len()).unwrap_or(0);
        let elem = self.types.access(&assign.target).ok();
        let mark = match elem.as_ref().and_then(Elem::as_scalar) {
            Some(Scalar::F32) => Expr::f32(number as f32),
            Some(Scalar::F64) => Expr::f64(f64::from(number)),
            Some(Scalar::I32) => Expr::I32(number),
            Some(Scalar::I64) => Expr::Int(i64::from(number)),
            _ => return,
        };
        self.labels.push(label.clone());
        let value = std::mem::replace(&mut assign.value, Expr::Bool(false));
        assign.value = Expr::binary(BinaryOp::Add, value, mark);
    }

    /// The labels whose marks a line has.
    fn found(&self, line: &str) -> Vec<Name> {
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 8);
        let places = numbers.filter_map(|digits| usize::try_from(digits.parse::<i32>().ok()? - FIRST).ok());
        let mut labels: Vec<Name> = places.filter_map(|k| self.labels.get(k).cloned()).collect();
        labels.sort();
        labels.dedup();
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_texts() {
        assert_eq!(of_loops("    S0_1: A[i] += 1.0f64"), Some(Name::new("S0_1")));
        assert_eq!(of_loops("  for i in 0..n {"), None);
        let labels = [Name::new("S1"), Name::new("S10")];
        assert_eq!(of_tree("filter { S10[i, j]; TS1[i] }", &labels), [&labels[1]]);
        assert_eq!(of_tree("domain [n] -> { S1[i] : 0 <= i; S10[i] }", &labels), [&labels[0], &labels[1]]);
    }

    fn program() -> Function {
        let text = "fn f[n](a: in f64[n], b: inout f64[n], s: inout f32) {
  par i in 0..n {
    S0: b[i] += a[i] * 2.0f64
    if i >= 1 {
      S1: b[i] *= a[i - 1]
    }
  }
  S2: s = 1.0f32
}
";
        loops::parse(text).expect("it is a program").functions.remove(0)
    }

    fn emit(function: &Function) -> Option<String> {
        let program = loops::Program { functions: vec![function.clone()] };
        targets::emit(&program, &targets::Options::default()).ok().map(|emitted| emitted.source)
    }

    #[test]
    fn lines_of_c_have_the_labels_of_their_statements() {
        let lines = of_c(&program(), emit).expect("only the marks differ");
        let of = |label: &str| -> Vec<&str> {
            let found = lines.iter().filter(|(_, labels)| labels.contains(&Name::new(label)));
            found.map(|(text, _)| text.as_str()).collect()
        };
        assert_eq!(of("S0"), ["b[i] += a[i] * 2.0;"]);
        assert_eq!(of("S1"), ["b[i] *= a[i - 1];"]);
        assert_eq!(of("S2"), ["*s = 1.0f;"]);
        let text = emit(&program()).expect("it can be printed");
        let text: Vec<&str> = text.lines().collect();
        assert_eq!(place(&text, &lines), Some(0));
        assert_eq!(place(&text[1..], &lines), None);
    }

    #[test]
    fn a_statement_has_all_of_its_lines() {
        let text = "for (;;) {\n  a[i] = b\n    + c\n    * d;\n#pragma omp simd\n  e = 1;\n  f";
        let found = statements(text);
        let places: Vec<(usize, usize)> = found.iter().map(|(place, _)| (place.start, place.end)).collect();
        assert_eq!(places, [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7)]);
        assert_eq!(found[1].1, "a[i] = b + c * d;");
    }

    #[test]
    fn texts_are_compared_without_labels() {
        let (function, originals) = with_own_labels(&program());
        assert_eq!(originals.get(&Name::new("s1")), Some(&Name::new("S1")));
        let text = |function: &Function| loops::Program { functions: vec![function.clone()] }.to_string();
        assert!(same_but_labels(&text(&function), &text(&program())));
        assert!(!same_but_labels(&text(&function), &text(&Function { body: Vec::new(), ..program() })));
    }

    /// Nothing is said where the marks change more than their lines.
    #[test]
    fn what_is_not_known_is_not_said() {
        let twice = |function: &Function| {
            let text = emit(function)?;
            Some(if text.contains("15481") { text.replace("for", "for ") } else { text })
        };
        assert_eq!(of_c(&program(), twice), None);
        assert_eq!(of_c(&Function { body: Vec::new(), ..program() }, emit), None);
    }
}
