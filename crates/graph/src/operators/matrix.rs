//! Matrix products in all forms: MatMul, Gemm, Einsum, of integers; and determinants.

use loops::{Registers, Size};

use super::build::{Cx, Extents, broadcast};
use super::epilogue::Stages;
use super::fours::{self, Fours, ToColumn};
use super::packing::Panels;
use super::pairs::{self, Bytes, Pairs};
use super::tiles::{self, Side};
use super::value::{Val, int, number};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// Extents of the product, its batch dimensions, and whether a row or a column was added.
struct Shapes {
    batch: Extents,
    row: bool,
    column: bool,
}

fn product_shapes(a: &mut Input, b: &mut Input) -> Result<Shapes, Refusal> {
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let one = Size::constant(1);
    if row {
        a.shape.insert(0, one.clone());
    }
    if column {
        b.shape.push(one);
    }
    if a.rank() < 2 || b.rank() < 2 {
        return Err(Refusal::inputs("a scalar is no matrix"));
    }
    if a.shape[a.rank() - 1] != b.shape[b.rank() - 2] {
        let (k, l) = (&a.shape[a.rank() - 1], &b.shape[b.rank() - 2]);
        return Err(Refusal::inputs(format!("rows of {k} elements meet columns of {l}")));
    }
    let batch = broadcast(&[&a.shape[..a.rank() - 2], &b.shape[..b.rank() - 2]])?;
    Ok(Shapes { batch, row, column })
}

/// A product of stacks of matrices, element by element through `left` and `right`. The right matrix
/// is the input with a number; `left` and `right` subtract the zero points.
fn product(
    op: &mut Op,
    mut a: Input,
    mut b: Input,
    (elem, of_right, zeros): (ElementType, usize, [&Option<Input>; 2]),
    left: &dyn Fn(&mut Cx, Val, &[Val]) -> Val,
    right: &dyn Fn(&mut Cx, Val, &[Val]) -> Val,
    last: &dyn Fn(&mut Cx, Val, &[Val]) -> Val,
) -> Done {
    let (ra, rb) = (a.rank(), b.rank());
    let shapes = product_shapes(&mut a, &mut b)?;
    let k = a.shape[a.rank() - 1].clone();
    let mut shape = shapes.batch.clone();
    if !shapes.row {
        shape.push(a.shape[a.rank() - 2].clone());
    }
    if !shapes.column {
        shape.push(b.shape[b.rank() - 1].clone());
    }
    let nb = shapes.batch.len();
    if let Some(registers) = tiled_integers(op, &shapes, &a, &b) {
        let extents = [a.shape[a.rank() - 2].clone(), k, b.shape[b.rank() - 1].clone()];
        let fours = byte_panels(op, registers, &a, (of_right, &b), &extents);
        // Behind a matrix come its scale or the other zero point, then its own zero point.
        let known = if zeros[1].is_none() { Some(0) } else { op.known_zero_point(of_right + 2) };
        let pairs = pairs_of(&a, &b, &zeros, &extents);
        let after = op.stages();
        let dims = vec![1; shape.len()];
        let val = op.cx.tensor(&shapes.batch, &mut |cx, batch| {
            let outer_a = super::build::aligned(&a.shape[..a.rank() - 2], batch);
            let outer_b = super::build::aligned(&b.shape[..b.rank() - 2], batch);
            let placed = |outer: &[Val], i: &Val, j: &Val| [outer, &[i.clone(), j.clone()]].concat();
            let lefts = |cx: &mut Cx, i: &Val, k: &Val| {
                let at = placed(&outer_a, i, k);
                left(cx, a.val.at(&at), &at)
            };
            let rights = |cx: &mut Cx, k: &Val, j: &Val| {
                let at = placed(&outer_b, k, j);
                right(cx, b.val.at(&at), &at)
            };
            let sums = |cx: &mut Cx, sum: Val, i: &Val, j: &Val| {
                let at = placed(batch, i, j);
                let value = last(cx, sum, &at);
                let value = super::storage_type::fit(cx, elem, value);
                after.apply(cx, value, &at, &dims)
            };
            if let Some((fours, panels, extents)) = &fours {
                let zero = || number(loops::Scalar::I32, 0.0);
                let to_column = |cx: &mut Cx, j: &Val| right(cx, zero(), &placed(&outer_b, &int(0), j));
                let product = fours::Bytes {
                    extents: *extents,
                    fours: *fours,
                    registers,
                    left: &|_, i, k| a.val.at(&placed(&outer_a, i, k)),
                    to_row: &|cx, i| left(cx, zero(), &placed(&outer_a, i, &int(0))),
                    to_column: known.map_or(ToColumn::Computed(&to_column), |zero| ToColumn::Known(-zero)),
                    panels: panels.clone(),
                    last: &sums,
                };
                return product.build(cx);
            }
            let whole = || Refusal::internal("a product of unknown extents");
            let Some((pairs, extents)) = pairs else {
                let way = (registers, loops::Scalar::I32);
                let product = tiles::elements(cx, way, &extents, &lefts, Side::Elements(&rights), &sums);
                return product.unwrap_or_else(|| whole().into());
            };
            let left = |cx: &mut Cx, i: &Val, k: &Val| pairs.word(cx, k, |cx, k, _| lefts(cx, i, k));
            let right = |cx: &mut Cx, k: &Val, j: &Val| pairs.word(cx, k, |cx, k, _| rights(cx, k, j));
            Bytes { extents, pairs, registers, left: &left, right: &right, last: &sums }.build(cx)
        });
        op.result(val, elem, shape);
        return Ok(());
    }
    op.tensor(elem, &shape, &mut |cx, at| {
        let batch = &at[..nb];
        let mut rest = at[nb..].iter();
        let row = if shapes.row { None } else { rest.next().cloned() };
        let column = if shapes.column { None } else { rest.next().cloned() };
        let outer_a = super::build::aligned(&a.shape[..a.rank() - 2], batch);
        let outer_b = super::build::aligned(&b.shape[..b.rank() - 2], batch);
        let zero = left(cx, a.val.at(&vec![int(0); ra]), at);
        let zero = number(zero.scalar(), 0.0);
        let sum = cx.fold(&k, zero, |cx, k, acc| {
            let from_a: Vec<Val> =
                outer_a.iter().chain(row.as_ref()).chain(std::iter::once(&k)).cloned().collect();
            let from_b: Vec<Val> =
                outer_b.iter().chain(std::iter::once(&k)).chain(column.as_ref()).cloned().collect();
            debug_assert!(from_a.len() == ra && from_b.len() == rb);
            let (x, y) = (left(cx, a.val.at(&from_a), &from_a), right(cx, b.val.at(&from_b), &from_b));
            acc + x * y
        });
        last(cx, sum, at)
    });
    Ok(())
}

/// The registers for a product of matrices of integers that are stored in 32 bits, if it is
/// computed in tiles.
fn tiled_integers(op: &Op, shapes: &Shapes, a: &Input, b: &Input) -> Option<Registers> {
    let whole = [a, b].iter().all(|x| x.scalar() == loops::Scalar::I32) && !shapes.row && !shapes.column;
    let (m, k, n) = (&a.shape[a.rank() - 2], &a.shape[a.rank() - 1], &b.shape[b.rank() - 1]);
    let [m, k, n] = tiles::extents(m, k, n)?;
    let work = m.saturating_mul(k).saturating_mul(n);
    op.fast.filter(|_| whole && work >= tiles::WORTH_TILES)
}

/// How the places of the sum of a product of bytes are paired, and its rows and columns.
fn pairs_of(
    a: &Input,
    b: &Input,
    zeros: &[&Option<Input>],
    extents: &[Size; 3],
) -> Option<(Pairs, [i64; 2])> {
    let [m, k, n] = tiles::extents(&extents[0], &extents[1], &extents[2])?;
    let pairs = pairs::of_bytes(a.elem, b.elem, k, 1)?;
    (n > 1 && pairs::are_bytes(zeros)).then_some((pairs, [m, n]))
}

/// The panels of the right matrix of a product of bytes, which is the input with this number, if it
/// is one constant matrix; and the rows and columns.
fn byte_panels(
    op: &mut Op,
    registers: Registers,
    a: &Input,
    (number, b): (usize, &Input),
    extents: &[Size; 3],
) -> Option<(Fours, Panels, [i64; 2])> {
    let [m, k, n] = tiles::extents(&extents[0], &extents[1], &extents[2])?;
    let fours = fours::of_bytes(a.elem, b.elem, k, 1).filter(|_| n > 1 && b.rank() == 2)?;
    let packing = fours.panels(registers, [m, n], 1, [0, 1, n]);
    Some((fours, op.packed(number, packing)?.matrix(&int(0)), [m, n]))
}

/// The registers for the product of an `m x k` and a `k x n` matrix, if it is computed in tiles.
fn tiled(op: &Op, elem: ElementType, m: &Size, k: &Size, n: &Size) -> Option<Registers> {
    let known = |n: &Size| n.as_constant().unwrap_or(64);
    let work = known(m).saturating_mul(known(k)).saturating_mul(known(n));
    let all_known = tiles::fits(&op.cut, [m, k, n]);
    let worth = work >= tiles::WORTH_TILES && (all_known || known(m) >= 4);
    let whole = matches!(elem, ElementType::F32 | ElementType::F64);
    // Sums of narrow types are rounded once, when they are written. Only tiles do this.
    let narrow = matches!(elem, ElementType::F16 | ElementType::Bf16) && all_known;
    op.fast.filter(|_| (whole || narrow) && worth)
}

/// A product in tiles. If an extent is a name that is not cut, it is computed by the library's
/// program.
fn by_tiles(
    cx: &mut Cx,
    registers: (Registers, &tiles::Cut),
    a: Val,
    b: Val,
    panels: Option<Panels>,
    last: tiles::Last,
) -> Val {
    tiles::product(cx, registers, &a, &b, panels, last)
        .or_else(|| super::build::fast_product(cx, a, b))
        .unwrap_or_else(|| Refusal::internal("a product of these types").into())
}

/// The panels of input `k`, the right matrix of an `m x k` by `k x n` product, if it is a constant.
/// `turned` says that it is transposed.
fn panels(
    op: &mut Op,
    registers: Registers,
    scalar: loops::Scalar,
    k: usize,
    [m, sum, n]: [&Size; 3],
    turned: bool,
) -> Option<Panels> {
    let (sum, n) = (sum.as_constant().filter(|k| *k >= 1)?, n.as_constant().filter(|n| *n >= 1)?);
    let m = m
        .as_constant()
        .or_else(|| tiles::fits(&op.cut, [m, &sum.into(), &n.into()]).then_some(tiles::TYPICAL));
    let pitches = if turned { [0, sum, 1] } else { [0, 1, n] };
    let packing = tiles::packing(registers, scalar, [m.filter(|m| *m >= 1)?, sum, n], false, 1, pitches);
    Some(op.packed(k, packing)?.matrix(&int(0)))
}

/// The product of stacks of matrices in tiles: one product for each index of the batch.
fn tiled_mat_mul(op: &mut Op, registers: Registers, a: &Input, b: &Input) -> Done {
    let (ra, rb) = (a.rank(), b.rank());
    let batch = broadcast(&[&a.shape[..ra - 2], &b.shape[..rb - 2]])?;
    let shape: Extents = [&batch[..], &[a.shape[ra - 2].clone(), b.shape[rb - 1].clone()]].concat();
    let rows = match rb {
        2 => super::build::product(&a.shape[..ra - 1]),
        _ => a.shape[ra - 2].clone(),
    };
    let cut = op.cut.clone();
    // If an extent is a name that is not cut, the library's product is called, and nothing can be
    // fused with it.
    let known = batch.iter().all(|n| n.as_constant() != Some(0));
    let known = known && tiles::fits(&cut, [&rows, &a.shape[ra - 1], &b.shape[rb - 1]]);
    let after = if known { op.stages() } else { Stages::default() };
    // One matrix on the right for the whole batch: the rows of all matrices on the left form one
    // matrix.
    if rb == 2 {
        let flat = [rows.clone(), a.shape[ra - 1].clone()];
        let left = super::build::reshape(&mut op.cx, &a.val, &a.shape, &flat);
        let panels = panels(op, registers, a.scalar(), 1, [&rows, &b.shape[0], &b.shape[1]], false);
        let dims = [ra - 1, 1];
        let last = |cx: &mut Cx, sum: Val, i: &Val, j: &Val| {
            let sum = super::storage_type::fit(cx, a.elem, sum);
            after.apply(cx, sum, &[i.clone(), j.clone()], &dims)
        };
        let product = by_tiles(&mut op.cx, (registers, &cut), left, b.val.clone(), panels, &last);
        let val = super::build::split_rows(product, &shape[..ra - 1]);
        op.result(val, a.elem, shape);
        return Ok(());
    }
    let dims = vec![1; shape.len()];
    let val = op.cx.tensor(&batch, &mut |cx, at| {
        let x = a.val.at(&super::build::aligned(&a.shape[..ra - 2], at));
        let y = b.val.at(&super::build::aligned(&b.shape[..rb - 2], at));
        let last = |cx: &mut Cx, sum: Val, i: &Val, j: &Val| {
            let sum = super::storage_type::fit(cx, a.elem, sum);
            after.apply(cx, sum, &[at, &[i.clone(), j.clone()]].concat(), &dims)
        };
        by_tiles(cx, (registers, &cut), x, y, None, &last)
    });
    op.result(val, a.elem, shape);
    Ok(())
}

pub(super) fn mat_mul(op: &mut Op) -> Done {
    let (a, b) = (op.input(0)?, op.input(1)?);
    let elem = a.elem;
    if a.rank() >= 2 && b.rank() >= 2 {
        let (m, k, n) = (&a.shape[a.rank() - 2], &a.shape[a.rank() - 1], &b.shape[b.rank() - 1]);
        let rows = if b.rank() == 2 { super::build::product(&a.shape[..a.rank() - 1]) } else { m.clone() };
        let tiled = tiled(op, elem, &rows, k, n);
        if let Some(registers) = tiled.filter(|_| b.shape[b.rank() - 2] == *k && b.elem == elem) {
            return tiled_mat_mul(op, registers, &a, &b);
        }
    }
    product(op, a, b, (elem, 1, [&None, &None]), &|_, x, _| x, &|_, x, _| x, &|_, sum, _| sum)
}

/// The scale or zero point of an operand at a place: one number, or one a row or column.
fn parameter(p: &Option<Input>, at: &[Val], rank: usize, row: bool) -> Option<Val> {
    let p = p.as_ref()?;
    Some(match p.rank() {
        0 => p.val.clone(),
        1 if p.shape[0].as_constant() == Some(1) => p.at(&[int(0)]),
        1 => p.at(&[at[if row { rank - 2 } else { rank - 1 }].clone()]),
        _ => p.spread(at),
    })
}

/// Refuses scales and zero points that have no place at vectors: there, one number is for all.
fn parameters_fit(a: &Input, b: &Input, parameters: &[&Option<Input>]) -> Done {
    let least = a.rank().min(b.rank());
    for p in parameters.iter().copied().flatten() {
        let one = p.rank() == 0 || p.rank() == 1 && p.shape[0].as_constant() == Some(1);
        if !one && (least < 2 || p.rank() > least) {
            return Err(Refusal::inputs("a scale or zero point has more dimensions than an operand"));
        }
    }
    Ok(())
}

pub(super) fn mat_mul_integer(op: &mut Op) -> Done {
    let (a, b) = (op.ranked(0, 1..)?, op.ranked(1, 1..)?);
    let (za, zb) = (op.optional(2)?, op.zero_point(3)?);
    parameters_fit(&a, &b, &[&za, &zb])?;
    let (ra, rb) = (a.rank(), b.rank());
    product(
        op,
        a,
        b,
        (ElementType::I32, 1, [&za, &zb]),
        &|_, x, at| match parameter(&za, at, ra, true) {
            Some(zero) => x - zero,
            None => x,
        },
        &|_, x, at| match parameter(&zb, at, rb, false) {
            Some(zero) => x - zero,
            None => x,
        },
        &|_, sum, _| sum,
    )
}

pub(super) fn qlinear_mat_mul(op: &mut Op) -> Done {
    let (a, b) = (op.ranked(0, 1..)?, op.ranked(3, 1..)?);
    let (sa, za) = (op.optional(1)?, op.optional(2)?);
    let (sb, zb) = (op.optional(4)?, op.zero_point(5)?);
    let (sy, zy) = (op.input(6)?, op.input(7)?);
    let (ra, rb) = (a.rank(), b.rank());
    let elem = zy.elem;
    let one = |p: &Option<Input>, at: &[Val], rank: usize, row: bool| {
        parameter(p, at, rank, row).unwrap_or_else(|| number(loops::Scalar::F32, 1.0))
    };
    let (sy, zy) = (Some(sy), Some(zy));
    parameters_fit(&a, &b, &[&sa, &za, &sb, &zb, &sy, &zy])?;
    product(
        op,
        a,
        b,
        (elem, 3, [&za, &zb]),
        &|_, x, at| match parameter(&za, at, ra, true) {
            Some(zero) => x - zero,
            None => x,
        },
        &|_, x, at| match parameter(&zb, at, rb, false) {
            Some(zero) => x - zero,
            None => x,
        },
        &|cx, sum, at| {
            let rank = at.len();
            let scale = one(&sa, at, rank.max(2), true) * one(&sb, at, rank.max(2), false)
                / one(&sy, at, rank.max(2), false);
            let value = (sum.to(loops::Scalar::F32) * scale).round();
            let shift = parameter(&zy, at, rank, false).unwrap_or_else(|| number(loops::Scalar::I32, 0.0));
            super::quantise::saturated(cx, elem, value, &shift)
        },
    )
}

pub(super) fn gemm(op: &mut Op) -> Done {
    let (a, b, c) = (op.input(0)?, op.input(1)?, op.optional(2)?);
    let (ta, tb) = (op.int("transA", 0) != 0, op.int("transB", 0) != 0);
    let (alpha, beta) = (op.float("alpha", 1.0), op.float("beta", 1.0));
    let ([a0, a1], [b0, b1]) = (&a.shape[..], &b.shape[..]) else {
        return Err(Refusal::inputs("matrices are needed"));
    };
    let (m, k) = if ta { (a1, a0) } else { (a0, a1) };
    let (l, n) = if tb { (b1, b0) } else { (b0, b1) };
    if k != l {
        return Err(Refusal::inputs(format!("rows of {k} elements meet columns of {l}")));
    }
    let scalar = a.scalar();
    let scaled = |v: Val, factor: f64| if factor == 1.0 { v } else { number(scalar, factor) * v };
    let shape = vec![m.clone(), n.clone()];
    if let Some(registers) = tiled(op, a.elem, m, k, n) {
        let flip = |v: &Val, t: bool| match (t, v.clone().term()) {
            (true, Ok(term)) => functional::build::transpose(term).into(),
            _ => v.clone(),
        };
        let cut = op.cut.clone();
        let known = tiles::fits(&cut, [m, k, n]);
        let after = if known { op.stages() } else { Stages::default() };
        let last = |cx: &mut Cx, sum: Val, at: &[Val]| {
            let sum = scaled(sum, alpha);
            let sum = match &c {
                Some(c) => sum + scaled(c.spread(at), beta),
                None => sum,
            };
            let sum = super::storage_type::fit(cx, a.elem, sum);
            after.apply(cx, sum, at, &[1, 1])
        };
        let (left, right) = (flip(&a.val, ta), flip(&b.val, tb));
        let panels = panels(op, registers, scalar, 1, [m, k, n], tb);
        // A single row times a matrix is computed as a column, so that the matrix is read along its
        // rows.
        let turned = tb && m.as_constant() == Some(1) && panels.is_none();
        let product = if turned {
            let (left, right) = (flip(&left, true), flip(&right, true));
            let last = |cx: &mut Cx, sum: Val, i: &Val, j: &Val| last(cx, sum, &[j.clone(), i.clone()]);
            tiles::product(&mut op.cx, (registers, &cut), &right, &left, None, &last)
                .map(|val| flip(&val, true))
        } else {
            let last = |cx: &mut Cx, sum: Val, i: &Val, j: &Val| last(cx, sum, &[i.clone(), j.clone()]);
            tiles::product(&mut op.cx, (registers, &cut), &left, &right, panels, &last)
        };
        if let Some(product) = product {
            op.result(product, a.elem, shape);
            return Ok(());
        }
        let product = super::build::fast_product(&mut op.cx, left, right)
            .ok_or_else(|| Refusal::internal("a product of these types"))?;
        if alpha == 1.0 && c.is_none() {
            op.result(product, a.elem, shape);
            return Ok(());
        }
        let val = op.cx.bind("product", product.stored(), |cx, product| {
            cx.tensor(&shape, &mut |cx, at| last(cx, product.at(at), at))
        });
        op.result(val, a.elem, shape);
        return Ok(());
    }
    op.tensor(a.elem, &shape, &mut |cx, at| {
        let sum = cx.fold(k, number(scalar, 0.0), |_, k, acc| {
            let x = if ta { a.at(&[k.clone(), at[0].clone()]) } else { a.at(&[at[0].clone(), k.clone()]) };
            let y = if tb { b.at(&[at[1].clone(), k]) } else { b.at(&[k, at[1].clone()]) };
            acc + x * y
        });
        let sum = scaled(sum, alpha);
        match &c {
            Some(c) => sum + scaled(c.spread(at), beta),
            None => sum,
        }
    });
    Ok(())
}

/// The labels of a term of an equation, with `rank` known: an ellipsis stands for as many as are
/// needed, named by capital numbers.
fn labels(term: &str, rank: usize, most: &mut usize) -> Result<Vec<String>, Refusal> {
    let letters: Vec<char> = term.replace("...", ".").chars().filter(|c| !c.is_whitespace()).collect();
    let named = letters.iter().filter(|c| **c != '.').count();
    let dots = rank.checked_sub(named).ok_or_else(|| Refusal::inputs("more labels than dimensions"))?;
    let mut out = Vec::new();
    for c in letters {
        if c == '.' {
            *most = (*most).max(dots);
            // aligned at the last one
            out.extend((0..dots).map(|k| format!("#{}", dots - k)));
        } else {
            out.push(c.to_string());
        }
    }
    if out.len() != rank {
        return Err(Refusal::inputs("labels and dimensions differ in number"));
    }
    Ok(out)
}

pub(super) fn einsum(op: &mut Op) -> Done {
    let inputs = op.inputs()?;
    let equation: String = op.string("equation", "").chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != inputs.len() {
        return Err(Refusal::inputs("the equation has another number of operands"));
    }
    let mut most = 0;
    let mut names: Vec<Vec<String>> = Vec::new();
    for (term, x) in terms.iter().zip(&inputs) {
        names.push(labels(term, x.rank(), &mut most)?);
    }
    let dots: Vec<String> = (0..most).map(|k| format!("#{}", most - k)).collect();
    let out: Vec<String> = match &right {
        Some(right) => {
            let named = right.replace("...", "").chars().count();
            labels(right, if right.contains("...") { named + most } else { named }, &mut most)?
        }
        None => {
            let all: Vec<&String> = names.iter().flatten().collect();
            let mut once: Vec<String> = all
                .iter()
                .filter(|n| !n.starts_with('#') && all.iter().filter(|m| m == n).count() == 1)
                .map(|n| (*n).clone())
                .collect();
            once.sort();
            dots.iter().cloned().chain(once).collect()
        }
    };
    let mut extents: Vec<(String, Size)> = Vec::new();
    for (term, x) in names.iter().zip(&inputs) {
        for (name, n) in term.iter().zip(&x.shape) {
            match extents.iter_mut().find(|(m, _)| m == name) {
                None => extents.push((name.clone(), n.clone())),
                Some((_, m)) if m.as_constant() == Some(1) => *m = n.clone(),
                Some((_, m)) if m == n || n.as_constant() == Some(1) => {}
                Some((_, m)) => return Err(Refusal::inputs(format!("`{name}` is {m} and {n}"))),
            }
        }
    }
    let extent = |name: &String| extents.iter().find(|(m, _)| m == name).map(|(_, n)| n.clone());
    let shape: Option<Extents> = out.iter().map(extent).collect();
    let shape = shape.ok_or_else(|| Refusal::inputs("the result has a label that no operand has"))?;
    let summed: Vec<String> =
        extents.iter().map(|(name, _)| name).filter(|name| !out.contains(name)).cloned().collect();
    let inner: Extents = summed.iter().filter_map(extent).collect();
    let Some(first) = inputs.first() else { return Err(Refusal::inputs("there are no operands")) };
    let scalar = first.scalar();
    op.tensor(first.elem, &shape, &mut |cx, at| {
        cx.fold_all(&inner, number(scalar, 0.0), &mut |_, k, acc| {
            let mut value: Option<Val> = None;
            for (term, x) in names.iter().zip(&inputs) {
                let place: Vec<Val> = term
                    .iter()
                    .zip(&x.shape)
                    .map(|(name, n)| {
                        let of = |list: &[String], vals: &[Val]| {
                            list.iter().position(|m| m == name).map(|p| vals[p].clone())
                        };
                        match n.as_constant() {
                            Some(1) => super::value::index(0, n),
                            _ => of(&out, at).or_else(|| of(&summed, k)).unwrap_or_else(|| int(0)),
                        }
                    })
                    .collect();
                let v = x.at(&place);
                value = Some(match value {
                    None => v,
                    Some(product) => product * v,
                });
            }
            acc + value.unwrap_or_else(|| number(scalar, 1.0))
        })
    });
    Ok(())
}

/// Determinants by elimination without division by small pivots: rows are exchanged for the one
/// with the largest element.
pub(super) fn det(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let rank = x.rank();
    if rank < 2 {
        return Err(Refusal::inputs("a matrix is needed"));
    }
    let n = x.shape[rank - 1].clone();
    let square = vec![n.clone(), n.clone()];
    let shape = x.shape[..rank - 2].to_vec();
    let scalar = x.scalar();
    op.tensor(x.elem, &shape, &mut |cx, at| {
        let matrix = cx.tensor(&square, &mut |_, ij| x.at(&[at, ij].concat()));
        let start = number(scalar, 1.0).pair(&matrix);
        let state = cx.fold(&n, start, |cx, k, state| {
            cx.bind("det", state.first(), |cx, det| {
                cx.bind("a", state.second(), |cx, a| {
                    let column = cx.generate(&n, |_, i| {
                        a.at(&[i.clone(), k.clone()]).abs().when(&i.int().ge(&k.int()), &number(scalar, -1.0))
                    });
                    let pivot = cx.call("first_largest", &[column]);
                    cx.bind("pivot", pivot, |cx, p| {
                        let source = |i: &Val| {
                            let other = p.when(&i.int().eq(&k.int()), &i.int());
                            k.int().when(&i.int().eq(&p), &other)
                        };
                        let value = a.at(&[p.clone(), k.clone()]);
                        let sign = number(scalar, 1.0).when(&p.eq(&k.int()), &number(scalar, -1.0));
                        let next = det * &value * sign;
                        let usable = value.ne(&number(scalar, 0.0));
                        let rest = cx.tensor(&square, &mut |_, ij| {
                            let here = a.at(&[source(&ij[0]), ij[1].clone()]);
                            let factor = a.at(&[source(&ij[0]), k.clone()]) / &value;
                            let less = &here - factor * a.at(&[p.clone(), ij[1].clone()]);
                            less.when(&ij[0].int().gt(&k.int()).and(&usable), &here)
                        });
                        next.pair(&rest)
                    })
                })
            })
        });
        state.first()
    });
    Ok(())
}
