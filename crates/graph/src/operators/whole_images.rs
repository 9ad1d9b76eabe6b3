//! Convolutions whose window covers the whole image, as those of squeezed channels: there is one
//! place, so all samples together are one matrix, and the filters are the columns of the other.

use loops::{Registers, Size};

use super::build::{Cx, product, reshape, split_rows};
use super::convolution::Window;
use super::tiles::{self, Cut, Element, Product, Side, WORTH_TILES};
use super::value::{Val, int};
use super::{Input, Op};

/// The convolution of all samples, if it is of this kind, has constant filters and is worth tiles.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    registers: Registers,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let whole = x.shape[1..] == w.shape[1..] && product(&win.places).as_constant() == Some(1);
    if !whole || !win.before.iter().chain(&win.after).all(|n| *n == 0) {
        return None;
    }
    let extents = [x.shape[0].clone(), product(&x.shape[1..]), w.shape[0].clone()];
    let [samples, sum, filters] = tiles::extents(&extents[0], &extents[1], &extents[2])?;
    if samples.saturating_mul(sum).saturating_mul(filters) < WORTH_TILES {
        return None;
    }
    let scalar = x.scalar();
    let packing = tiles::packing(registers, scalar, [samples, sum, filters], false, 1, [0, sum, 1]);
    let panels = op.packed(1, packing)?.matrix(&int(0));
    let after = op.stages();
    let rank = win.kernel.len();
    let samples = reshape(&mut op.cx, &x.val, &x.shape, &extents[..2]);
    let left = |_: &mut Cx, n: &Val, k: &Val| samples.at(&[n.clone(), k.clone()]);
    let last = |cx: &mut Cx, sum: Val, n: &Val, m: &Val| {
        let value = last(cx, sum, m);
        after.apply(cx, value, &[n.clone(), m.clone(), int(0)], &[1, 1, rank])
    };
    let product = Product {
        extents: extents.clone(),
        cut: Cut::default(),
        registers,
        scalar,
        element: Element::Number,
        left: Side::Elements(&left),
        right: Side::Panels(panels),
        last: &last,
    };
    let flat = tiles::joined(product.build(&mut op.cx));
    let shape: Vec<Size> = [&[extents[0].clone(), extents[2].clone()], &win.places[..]].concat();
    Some(split_rows(flat, &shape))
}
