//! What a rule requires of the models that are drawn for it: floating-point element types, and an
//! operator set that has its operators.

use graph::ElementType;
use graph::{operators, schema};

use super::integers::calls;
use super::literals::parts::children;
use super::values::Dice;
use crate::rule::{Action, Clause, ElementType as Named, Expr, ExprKind, Pattern, Rule};

/// Element types of instances, where the rule does not ask for others.
const FLOATS: [ElementType; 3] = [ElementType::F64, ElementType::F64, ElementType::F32];
/// Operator sets that models are drawn for, if they have the operators of the rule.
const OPSETS: [i64; 4] = [14, 17, 20, 23];
/// Whether the standard allows none of the floating-point types that are drawn here for an
/// operator.
pub(super) fn takes_integers_only(op: &str) -> bool {
    operators::lookup("", op).is_some_and(|entry| !entry.elements.others)
}

/// The types of floating point that instances have: those of half precision if the conditions name
/// them and no wider one.
pub(super) fn floats(rule: &Rule) -> Vec<ElementType> {
    let mut named = Vec::new();
    for line in &rule.conditions {
        let (Clause::Require(e) | Clause::Let(_, e)) = &line.value;
        types(e, &mut named);
    }
    if named.iter().any(|t| matches!(t, Named::Float32 | Named::Float64)) {
        return FLOATS.to_vec();
    }
    let half = named.iter().filter_map(|t| match t {
        Named::Float16 => Some(ElementType::F16),
        Named::Bfloat16 => Some(ElementType::Bf16),
        _ => None,
    });
    let half: Vec<ElementType> = half.collect();
    if half.is_empty() { FLOATS.to_vec() } else { half }
}

fn types(e: &Expr, out: &mut Vec<Named>) {
    if let ExprKind::Type(t) = e.kind {
        out.push(t);
    }
    children(e, &mut |e| types(e, out));
}

/// An operator set to draw a model for: the newest one where the rule has operators that are newer
/// than the others.
pub(super) fn opset(rule: &Rule, dice: &mut Dice) -> i64 {
    let drawn = dice.pick(&OPSETS);
    let newest = OPSETS[OPSETS.len() - 1];
    let mut late = false;
    let mut look = |pattern: &Pattern| {
        calls(pattern, &mut |call| {
            let (domain, name) = (&call.operator.domain, &call.operator.name);
            let there = |version| schema::lookup("", name, version).is_some();
            late |= domain.is_empty() && !there(newest) && there(graph::model::NEWEST_OPSET);
        });
    };
    rule.source.iter().for_each(|line| look(&line.value.pattern));
    for line in &rule.target {
        if let Action::Bind(binding) = &line.value {
            look(&binding.pattern);
        }
    }
    if late { graph::model::NEWEST_OPSET } else { drawn }
}

/// Whether the rule's source tests for NaN or infinities, so that some must be drawn.
pub(super) fn asks_for_specials(rule: &Rule) -> bool {
    calls_any(rule, &["IsNaN", "IsInf"])
}

/// Whether the rule's source goes to other types, which may have fewer digits.
pub(super) fn rounds(rule: &Rule) -> bool {
    calls_any(rule, &["Cast", "CastLike"])
}

fn calls_any(rule: &Rule, names: &[&str]) -> bool {
    let mut found = false;
    for line in &rule.source {
        calls(&line.value.pattern, &mut |call| found |= names.contains(&&*call.operator.name));
    }
    found
}
