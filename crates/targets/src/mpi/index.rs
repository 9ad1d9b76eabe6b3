//! Index expressions and names as C.

use std::collections::BTreeMap;

use loops::{BinaryOp, Expr, Name, UnaryOp};

/// How numbers are written where an expression stands.
pub(super) type Written<'a> = &'a dyn Fn(&Name) -> String;

/// C identifiers of sizes, variables, arrays and buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Identifiers(BTreeMap<Name, String>);

impl Identifiers {
    /// Different identifiers for these names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n Name>) -> Identifiers {
        let mut free = crate::openmp::names::Names::new();
        for word in [
            "at", "grid", "rank", "ranks", "low", "high", "numbers", "all", "data", "options", "comm",
            "rows", "columns", "own", "flight", "some", "unused", "next",
        ] {
            free.take(word);
        }
        let mut found = BTreeMap::new();
        for name in names {
            if !found.contains_key(name) {
                found.insert(name.clone(), free.take(name));
            }
        }
        Identifiers(found)
    }

    /// The identifier of a name.
    pub fn of(&self, name: &Name) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| name.to_string())
    }
}

/// An index expression in C.
pub(super) fn expr(e: &Expr, written: Written) -> String {
    let of = |e: &Expr| expr(e, written);
    match e {
        Expr::Int(value) if *value < 0 => format!("(INT64_C({value}))"),
        Expr::Int(value) => value.to_string(),
        Expr::I32(value) => format!("({value})"),
        Expr::Bool(value) => i32::from(*value).to_string(),
        Expr::Var(name) => written(name),
        Expr::Unary(UnaryOp::Neg, a) => format!("(-{})", of(a)),
        Expr::Unary(UnaryOp::Not, a) => format!("(!{})", of(a)),
        Expr::Unary(UnaryOp::Abs, a) => format!("lz_max({0}, -{0})", of(a)),
        Expr::Binary(op, a, b) => binary(*op, &of(a), &of(b)),
        Expr::Compare(op, a, b) => format!("({} {} {})", of(a), op.symbol(), of(b)),
        Expr::Select(cond, yes, no) => format!("({} ? {} : {})", of(cond), of(yes), of(no)),
        Expr::Cast(_, a) => of(a),
        // Boxes and bounds of steps have nothing else.
        _ => "0".to_owned(),
    }
}

fn binary(op: BinaryOp, a: &str, b: &str) -> String {
    let infix = |op: &str| format!("({a} {op} {b})");
    let call = |name: &str| format!("{name}({a}, {b})");
    match op {
        BinaryOp::Add => infix("+"),
        BinaryOp::Sub => infix("-"),
        BinaryOp::Mul => infix("*"),
        BinaryOp::And => infix("&&"),
        BinaryOp::Or => infix("||"),
        BinaryOp::Min => call("lz_min"),
        BinaryOp::Max => call("lz_max"),
        BinaryOp::FloorDiv => call("lz_floordiv"),
        BinaryOp::Mod => call("lz_mod"),
        BinaryOp::Div => call("lz_div"),
        BinaryOp::Rem => call("lz_rem"),
        BinaryOp::BitAnd => infix("&"),
        BinaryOp::BitOr => infix("|"),
        BinaryOp::BitXor => infix("^"),
        BinaryOp::Shl => infix("<<"),
        BinaryOp::Shr => infix(">>"),
        BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => "0".to_owned(),
    }
}

/// An expression without the parentheses around it.
pub(super) fn bare(e: &Expr, written: Written) -> String {
    let text = expr(e, written);
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    // `(a) + (b)` has two pairs.
    let closed = |t: &&str| {
        let mut depth = 0i32;
        t.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    };
    inner.filter(closed).map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_are_dropped_in_pairs_only() {
        let written = |name: &Name| name.to_string();
        let sum = (Expr::var("a") + 1) * (Expr::var("b") + 2);
        assert_eq!(bare(&sum, &written), "(a + 1) * (b + 2)");
        assert_eq!(bare(&Expr::var("n").min(Expr::var("m") - 1), &written), "lz_min(n, (m - 1))");
        assert_eq!(bare(&(Expr::var("n") - 1), &written), "n - 1");
    }

    #[test]
    fn names_are_identifiers_of_their_own() {
        let names = [Name::new("n"), Name::new("n'"), Name::new("int"), Name::new("grid")];
        let found = Identifiers::new(&names);
        let texts: std::collections::BTreeSet<String> = names.iter().map(|n| found.of(n)).collect();
        assert_eq!(texts.len(), 4, "{texts:?}");
        assert!(!texts.contains("int") && !texts.contains("grid"));
    }
}
