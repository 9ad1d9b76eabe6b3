//! Operands of contractions in the form that their functions need: transposed if they are strided,
//! and multiplied in advance by what does not depend on the loop.

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, Scalar, Stmt};

use super::contraction::{Contraction, STRIP, at, has_elements};
use super::cost;
use super::expr::{Binding, Scope, print};
use super::vector::{self, Stride, stride};

/// Lays some columns of a right factor along a strip.
pub(super) fn turn(
    scope: &Scope,
    c: &Contraction,
    strip: &str,
    right: (&Access, &Expr),
) -> Option<Vec<String>> {
    let (k, j) = (&c.sum.var, &c.columns.var);
    let ty = super::expr::c_type(c.kind.elem);
    let (vector, set) = match c.kind.elem {
        Scalar::F32 => ("floatv4", "simd_set_floatv4"),
        _ => ("doublev4", "simd_set_doublev4"),
    };
    // A factor that stays is multiplied with all four at once.
    let (value, by) = match right.1 {
        Expr::Binary(BinaryOp::Mul, a, b) if matches!(**a, Expr::Load(_)) && !has_elements(b) => {
            (&**a, Some(b))
        }
        Expr::Binary(BinaryOp::Mul, a, b) if matches!(**b, Expr::Load(_)) && !has_elements(a) => {
            (&**b, Some(a))
        }
        value => (value, None),
    };
    let short = if c.kind.elem == Scalar::F32 { "s" } else { "d" };
    let mut lines = Vec::new();
    if let Some(by) = by {
        let by = scope.text(by).ok()?;
        lines.push(format!("const {ty} {strip}_by = {by};"));
        lines.push(format!(
            "{vector} {strip}_by_four = {set}({});",
            vec![format!("{strip}_by"); 4].join(", ")
        ));
    }
    let two = |lines: &mut Vec<String>, step: &str, row: &str| -> Option<()> {
        for first in (0..STRIP).step_by(4) {
            let element = |q: i64| {
                let mut scope = scope.clone();
                scope.names.insert(k.clone(), Binding::Value(step.to_owned()));
                at(&scope, value, j, &format!("({j}_from + {})", first + q))
            };
            let four = (0..4).map(element).collect::<Option<Vec<_>>>()?.join(", ");
            let four = format!("{set}({four})");
            let four = if by.is_some() { format!("simd_vmul{short}({strip}_by_four, {four})") } else { four };
            lines.push(format!("    v = {four};"));
            lines.push(format!("    simd_store(v, &{strip}[({row} - {k}_begin) * {STRIP} + {first}]);"));
        }
        Some(())
    };
    lines.push(format!("if ({j}_to - {j}_from == {STRIP}) {{"));
    lines.push(format!("  {vector} v;"));
    lines.push(format!("  long {k} = {k}_begin;"));
    lines.push(format!("  for (; {k} + 1 < {k}_end; {k} += 2) {{"));
    two(&mut lines, k.as_str(), k.as_str())?;
    two(&mut lines, &format!("({k} + 1)"), &format!("{k} + 1"))?;
    lines.push("  }".to_owned());
    lines.push(format!("  if ({k} < {k}_end) {{"));
    two(&mut lines, k.as_str(), k.as_str())?;
    lines.push("  }".to_owned());
    lines.push("}".to_owned());
    lines.push("else".to_owned());
    lines.push(format!("  for (long {j} = {j}_from; {j} < {j}_to; {j}++)"));
    lines.push(format!("    for (long {k} = {k}_begin; {k} < {k}_end; {k}++)"));
    let element = scope.text(right.1).ok()?;
    lines.push(format!("      {strip}[({k} - {k}_begin) * {STRIP} + ({j} - {j}_from)] = {element};"));
    // Four elements are loaded and made a vector, which is multiplied and stored.
    let (cost, each) = (cost::expression(right.1), cost::expression(value));
    let fours = STRIP as f64 / 4.0;
    let arithmetic = 3.0 + 4.0 * each.arithmetic + f64::from(u8::from(by.is_some()));
    let whole = fours * arithmetic.max(5.0) + cost::LOOP / 2.0;
    let single = (cost.memory + 1.0).max(cost.arithmetic) + cost::LOOP;
    lines.push(format!("const long {strip}_all = LOZENGE_MAX(0, {k}_end - {k}_begin);"));
    lines.push(format!(
        "emulated_compute({j}_to - {j}_from == {STRIP} ? {whole} * {strip}_all + 4 : ({single} * {strip}_all + {0}) * ({j}_to - {j}_from), {1} * {strip}_all * ({j}_to - {j}_from));",
        cost::LOOP,
        cost.operations
    ));
    Some(lines)
}

/// The left factor once for each of its elements, in their place.
pub(super) fn scaled(scope: &Scope, place: &Access, value: &Expr, vars: [&Name; 2]) -> Option<Vec<String>> {
    let inner = vars.into_iter().find(|var| stride(place, var) == Stride::Follows)?;
    let outer = if inner == vars[0] { vars[1] } else { vars[0] };
    let assign = Assign { label: None, target: place.clone(), update: None, value: value.clone() };
    let single = Loop {
        var: inner.clone(),
        lower: Expr::Int(0),
        upper: Expr::Int(0),
        step: 1,
        kind: LoopKind::Vector,
        reductions: Vec::new(),
        body: vec![Stmt::Assign(assign)],
    };
    let scalar = vector::scalar(&single);
    let (element, result) = (print(&scope.access(place).ok()?), scope.text(value).ok()?);
    let mut lines = vec![format!("for (long {outer} = {outer}_begin; {outer} < {outer}_end; {outer}++) {{")];
    lines.push(format!("  long {inner} = {inner}_begin;"));
    let count = format!("LOZENGE_MAX(0, {inner}_end - {inner}_begin)");
    let mut cycles = format!("{} * {count}", scalar.cycles() + cost::LOOP);
    let each = scalar.cycles() + cost::LOOP;
    let (end, all) = (format!("{inner}_end"), format!("({count})"));
    let left = vector::Left { end: &end, all: &all, each, asks: true };
    if let Ok(Some((vectors, taken))) = vector::code(scope, &single, &left) {
        lines.extend(vectors.into_iter().map(|line| format!("  {line}")));
        cycles = taken;
    }
    lines.push(format!("  for (; {inner} < {inner}_end; {inner}++)"));
    lines.push(format!("    {element} = {result};"));
    lines.push(format!("  emulated_compute({cycles} + {}, {} * {count});", cost::LOOP, scalar.operations));
    lines.push("}".to_owned());
    Some(lines)
}
