//! Index expressions as C text: for messages, for the statements after a region, and for the
//! conditions that are tested before it.

use std::collections::BTreeMap;

use loops::{BinaryOp, Expr as Hub, Name};

use super::Lowering;
use super::resolve::Object;
use crate::ctype::CType;

impl Lowering<'_> {
    /// An index expression with the names of C, for a message.
    pub(super) fn c_text(&self, e: &Hub) -> String {
        self.c_text_of(e, &|object| (object.name.clone(), object.name.clone()))
    }

    /// The same to be computed: in 64 bits with a sign.
    pub(super) fn computed_text(&self, e: &Hub) -> String {
        self.c_text_of(e, &|object| {
            if let Some(product) = &object.product {
                return (product.clone(), product.clone());
            }
            let long = format!("(long){}", object.name);
            match object.ty.ty {
                CType::Int(ty) if ty.promoted().is_unsigned() => (long.clone(), long),
                CType::Int(ty) if ty.bits() < 64 => (object.name.clone(), long),
                _ => (object.name.clone(), object.name.clone()),
            }
        })
    }

    /// The text of an expression. Each object is written in two ways: alone, and as an operand of
    /// arithmetic.
    pub(super) fn c_text_of(&self, e: &Hub, text: &dyn Fn(&Object) -> (String, String)) -> String {
        let objects = self.names.iter().chain(&self.entries);
        let names = objects.map(|(k, name)| (name, text(&self.res.objects[*k]))).collect();
        let mut renamed = e.clone();
        rename(&mut renamed, &names, false);
        let text = expr_text(&renamed);
        match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
            Some(inner) if balanced(inner) => inner.to_string(),
            _ => text,
        }
    }
}

/// Replaces the names of the loop IR by those of C. An operand of arithmetic gets the second name.
fn rename(e: &mut Hub, names: &BTreeMap<&Name, (String, String)>, computed: bool) {
    match e {
        Hub::Var(name) => {
            if let Some((alone, operand)) = names.get(name) {
                *name = Name::new(if computed { operand } else { alone });
            }
        }
        Hub::Unary(_, a) | Hub::Cast(_, a) => rename(a, names, true),
        Hub::Binary(op, a, b) => {
            let computed = computed || !matches!(op, BinaryOp::Min | BinaryOp::Max);
            rename(a, names, computed);
            rename(b, names, computed);
        }
        Hub::Compare(_, a, b) => {
            rename(a, names, false);
            rename(b, names, false);
        }
        Hub::Select(a, b, c) => {
            rename(a, names, false);
            rename(b, names, computed);
            rename(c, names, computed);
        }
        _ => {}
    }
}

/// An index expression in C, for messages and for the statements after a region.
fn expr_text(e: &Hub) -> String {
    let binary = |op: &str, a: &Hub, b: &Hub| format!("({} {op} {})", expr_text(a), expr_text(b));
    match e {
        Hub::Int(value) => value.to_string(),
        Hub::Var(name) => name.to_string(),
        Hub::Unary(_, a) => format!("-{}", expr_text(a)),
        Hub::Binary(op, a, b) => match op {
            BinaryOp::Add => binary("+", a, b),
            BinaryOp::Sub => binary("-", a, b),
            BinaryOp::Mul => binary("*", a, b),
            BinaryOp::Div => binary("/", a, b),
            BinaryOp::Rem => binary("%", a, b),
            BinaryOp::FloorDiv => {
                let (x, y) = (expr_text(a), expr_text(b));
                format!("({x} / {y} - ({x} % {y} < 0))")
            }
            BinaryOp::Mod => {
                let (x, y) = (expr_text(a), expr_text(b));
                format!("(({x} % {y} + {y}) % {y})")
            }
            BinaryOp::Min | BinaryOp::Max => {
                let (x, y) = (expr_text(a), expr_text(b));
                format!("({x} {} {y} ? {x} : {y})", if *op == BinaryOp::Min { "<" } else { ">" })
            }
            BinaryOp::And => binary("&&", a, b),
            BinaryOp::Or => binary("||", a, b),
            BinaryOp::BitAnd => binary("&", a, b),
            BinaryOp::BitOr => binary("|", a, b),
            BinaryOp::BitXor => binary("^", a, b),
            BinaryOp::Shl => binary("<<", a, b),
            BinaryOp::Shr => binary(">>", a, b),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => {
                format!("{}({}, {})", op.symbol(), expr_text(a), expr_text(b))
            }
        },
        Hub::Compare(op, a, b) => binary(op.symbol(), a, b),
        Hub::Select(c, a, b) => format!("({} ? {} : {})", expr_text(c), expr_text(a), expr_text(b)),
        Hub::Bool(value) => i32::from(*value).to_string(),
        _ => "?".to_string(),
    }
}

fn balanced(text: &str) -> bool {
    let mut depth = 0i64;
    for c in text.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
