//! Integers in drawn models: which operators they may be elements of, and which of them show that a
//! rule is right for real numbers only.
//!
//! Sums of integers wrap around, and quotients are truncated. So a rule that holds for real numbers
//! may be wrong for integers.

use graph::{ElementType, Tensor, operators};

use super::values::Dice;
use crate::rule::{Call, Pattern, Rule};

use ElementType::{I8, I16, I32, I64};

/// The integer types that the standard allows an operator.
pub(super) fn admitted(op: &str) -> &'static [ElementType] {
    operators::lookup("", op).map_or(&[], |entry| entry.elements.integers)
}

/// The integer types that an operator of the rule's source takes; operator variables take any.
pub(super) fn of_rule(rule: &Rule) -> Vec<ElementType> {
    let mut found = Vec::new();
    for line in &rule.source {
        calls(&line.value.pattern, &mut |call| {
            let variable = rule.operators.iter().any(|v| v.name.text == call.operator.name);
            let types = if variable { admitted("Add") } else { admitted(&call.operator.name) };
            for ty in types {
                if !found.contains(ty) {
                    found.push(*ty);
                }
            }
        });
    }
    found
}

/// The calls of a pattern.
pub(super) fn calls(pattern: &Pattern, found: &mut dyn FnMut(&Call)) {
    match pattern {
        Pattern::Call(call) => {
            found(call);
            call.arguments.iter().for_each(|a| calls(a, found));
        }
        Pattern::Item(base, _) | Pattern::Spread(base, _) => calls(base, found),
        Pattern::Tuple(of, _) | Pattern::Either(of, _) => of.iter().for_each(|p| calls(p, found)),
        _ => {}
    }
}

/// Whether the type has negative numbers.
pub(super) fn is_signed(elem: ElementType) -> bool {
    matches!(elem, I8 | I16 | I32 | I64)
}

/// Integers of a type: small ones, those around its ends, and any; half of the time without 0, by
/// which nothing is divided.
pub(super) fn random(elem: ElementType, dims: Vec<usize>, positive: bool, dice: &mut Dice) -> Option<Tensor> {
    let without_zero = dice.once_in(2);
    let kind = dice.below(4);
    let count: usize = dims.iter().product();
    let end = if is_signed(elem) { 1i128 << (elem.bits() - 1) } else { 0 };
    let numbers: Vec<i128> = (0..count)
        .map(|_| {
            let near = dice.below(5) as i128;
            let n = match if kind == 3 { dice.below(3) } else { kind } {
                0 => near - 2,
                1 if dice.once_in(2) => -end + near,
                1 => -end - 1 - near,
                _ => i128::from(dice.next()),
            };
            match (positive, without_zero && n == 0) {
                (true, _) => 1 + near,
                (_, true) => 1,
                _ => n,
            }
        })
        .collect();
    of_integers(elem, dims, &numbers)
}

/// A tensor of these integers, of which it has the low bits.
pub(super) fn of_integers(elem: ElementType, dims: Vec<usize>, numbers: &[i128]) -> Option<Tensor> {
    let width = elem.bits() / 8;
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes().into_iter().take(width)).collect();
    Tensor::raw(elem, dims, bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_kinds_come() {
        let mut dice = Dice::new(1, "integers");
        for elem in admitted("Add").iter().copied() {
            let mut all = Vec::new();
            for _ in 0..64 {
                all.extend(random(elem, vec![8], false, &mut dice).unwrap().to_integers().unwrap());
            }
            let most = (1i128 << (elem.bits() - u32::from(is_signed(elem)) as usize)) - 1;
            let least = if is_signed(elem) { -most - 1 } else { 0 };
            for wanted in [0, 1, 2, most, most - 1, least, least + 1] {
                assert!(all.contains(&wanted), "{elem}: {wanted}");
            }
            assert!(all.iter().all(|n| (least..=most).contains(n)), "{elem}");
        }
    }
}
