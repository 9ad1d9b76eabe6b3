//! Windows of an operation that is associative, for C: along rows first, then across them. A window
//! of `k` by `k` elements takes `2 k` steps instead of `k * k`. The operation meets the elements in
//! the same order, so that results have the same bits.

use functional::Prim;
use loops::Size;

use super::build::Cx;
use super::convolution::Window;
use super::image_windows::{Layout, plane_image};
use super::tiles::concatenated;
use super::value::{Val, int};
use super::{Input, Op};

/// Windows with more elements along a dimension, and lines with more windows at the edges, are left
/// to loops.
const MOST_TAPS: i64 = 16;
const MOST_EDGES: i64 = 8;

/// Combines the next element of a window with what those before it gave.
pub(super) type Combine<'f> = &'f dyn Fn(&mut Cx, Val, Val) -> Val;

/// The windows of every channel of images with constant extents, if this way is worth it: windows
/// overlap, and each has an element in the image. `fill` is what paddings are.
pub(super) fn separable(
    op: &mut Op,
    x: &Input,
    win: &Window,
    fill: &Val,
    combine: Combine<'_>,
) -> Option<Val> {
    let lanes = op.fast.map_or(1, |registers| registers.lanes(x.scalar()));
    let extents: Option<Vec<i64>> = x.shape[1..].iter().map(Size::as_constant).collect();
    let &[channels, height, width] = extents?.as_slice() else { return None };
    let (down, along) = (Line::of(win, 0, height)?, Line::of(win, 1, width)?);
    if !down.is_worth_it() || !along.is_worth_it() {
        return None;
    }
    let short = along.places < 2 * lanes && along.places % lanes != 0;
    let flat = short && win.strides.iter().all(|stride| *stride == 1);
    if along.places < lanes / 2 && !flat {
        return None;
    }
    let after = op.stages();
    let windows = Windows { win, down, along, fill, combine };
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        cx.generate(&Size::constant(channels), |cx, c| {
            let plane = x.at(&[n.clone(), c.clone()]);
            let done = |cx: &mut Cx, value: Val, i: &Val, j: &Val| {
                after.apply(cx, value, &[n.clone(), c.clone(), i.clone(), j.clone()], &[1; 4])
            };
            if flat {
                windows.flat(cx, plane, &Layout::of(x, win), &done)
            } else {
                windows.by_rows(cx, &plane, &done)
            }
        })
    }))
}

/// What becomes of the result of a window at a place.
type Last<'f> = &'f dyn Fn(&mut Cx, Val, &Val, &Val) -> Val;

struct Windows<'f> {
    win: &'f Window,
    down: Line,
    along: Line,
    fill: &'f Val,
    combine: Combine<'f>,
}

impl Windows<'_> {
    /// Each row by itself, from the image as it is.
    fn by_rows(&self, cx: &mut Cx, plane: &Val, last: Last<'_>) -> Val {
        let rows = cx.each(Prim::MapSeq, self.down.extent, |cx, i| {
            self.along.windows(cx, Prim::MapVec, &|cx, taps, _| {
                let elements = taps.iter().map(|j| plane.at(&[i.clone(), j.clone()]));
                folded(cx, elements, self.combine)
            })
        });
        cx.bind("rows", rows.stored(), |cx, rows| {
            self.down.windows(cx, Prim::MapSeq, &|cx, taps, i| {
                cx.each(Prim::MapVec, self.along.places, |cx, j| {
                    let elements = taps.iter().map(|i| rows.at(&[i.clone(), j.clone()]));
                    let value = folded(cx, elements, self.combine);
                    last(cx, value, i, &j)
                })
            })
        })
    }

    /// Rows that are too short for vectors: those of the padded image, one behind the other, are
    /// one row. Windows between two rows are dropped.
    fn flat(&self, cx: &mut Cx, plane: Val, layout: &Layout, last: Last<'_>) -> Val {
        let Windows { win, down, along, .. } = self;
        plane_image(cx, plane, layout, win, self.fill, |cx, image| {
            let pitch = image.pitches()[0];
            let columns = (down.places - 1) * pitch + along.places;
            let all = columns + win.reach(0) * pitch;
            let rows = cx.each(Prim::MapVec, all, |cx, l| {
                let taps = (0..along.taps).map(|k| image.flat(cx, win, int(0), &[int(0), int(k)], &l.int()));
                let elements: Vec<Val> = taps.collect();
                folded(cx, elements.into_iter(), self.combine)
            });
            cx.bind("rows", rows.stored(), |cx, rows| {
                let flat = cx.each(Prim::MapVec, columns, |cx, l| {
                    let at = |k: i64| rows.at(&[l.int() + int(k * down.dilation * pitch)]);
                    folded(cx, (0..down.taps).map(at), self.combine)
                });
                cx.bind("flat", flat.stored(), |cx, flat| {
                    cx.each(Prim::MapSeq, down.places, |cx, i| {
                        cx.each(Prim::MapVec, along.places, |cx, j| {
                            let value = flat.at(&[i.int() * int(pitch) + j.int()]);
                            last(cx, value, &i, &j)
                        })
                    })
                })
            })
        })
    }
}

/// The elements, combined from the first one on.
fn folded(cx: &mut Cx, mut elements: impl Iterator<Item = Val>, combine: Combine<'_>) -> Val {
    let first = elements.next().unwrap_or_else(|| int(0));
    elements.fold(first, |acc, value| combine(cx, value, acc))
}

/// Windows along one dimension.
struct Line {
    extent: i64,
    places: i64,
    taps: i64,
    stride: i64,
    dilation: i64,
    before: i64,
}

impl Line {
    fn of(win: &Window, d: usize, extent: i64) -> Option<Line> {
        Some(Line {
            extent,
            places: win.places[d].as_constant()?,
            taps: win.kernel[d],
            stride: win.strides[d],
            dilation: win.dilations[d],
            before: win.before[d],
        })
    }

    /// Where the elements of the window at a place are that the image has.
    fn inside(&self, place: i64) -> Vec<i64> {
        let at = |tap| place * self.stride + tap * self.dilation - self.before;
        (0..self.taps).map(at).filter(|i| (0..self.extent).contains(i)).collect()
    }

    /// Whether windows overlap, each has an element in the image, and few are at its edges.
    fn is_worth_it(&self) -> bool {
        let (first, end) = self.interior();
        let edges = (0..first).chain(end..self.places);
        self.taps > self.stride
            && first < end
            && self.taps <= MOST_TAPS
            && first + self.places - end <= MOST_EDGES
            && edges.into_iter().all(|place| !self.inside(place).is_empty())
    }

    /// The first window that lies in the image, and the one behind the last such.
    fn interior(&self) -> (i64, i64) {
        let first = (self.before + self.stride - 1).div_euclid(self.stride).min(self.places);
        let last = self.extent - 1 - (self.taps - 1) * self.dilation + self.before;
        (first, (last.div_euclid(self.stride) + 1).clamp(first, self.places))
    }

    /// All windows: those in the image by `kind`, those at its edges one by one. `f` has the places
    /// of a window's elements and the place of the window.
    fn windows(&self, cx: &mut Cx, kind: Prim, f: &dyn Fn(&mut Cx, &[Val], &Val) -> Val) -> Val {
        let (first, end) = self.interior();
        let edge = |cx: &mut Cx, place: i64| {
            let taps: Vec<Val> = self.inside(place).into_iter().map(int).collect();
            let value = f(cx, &taps, &int(place));
            cx.single(value)
        };
        let mut parts: Vec<Val> = (0..first).map(|place| edge(cx, place)).collect();
        parts.push(cx.each(kind, end - first, |cx, i| {
            let place = i.int() + int(first);
            let at = |tap: i64| {
                i.int() * int(self.stride) + int(first * self.stride + tap * self.dilation - self.before)
            };
            f(cx, &(0..self.taps).map(at).collect::<Vec<_>>(), &place)
        }));
        parts.extend((end..self.places).map(|place| edge(cx, place)));
        concatenated(parts.into_iter())
    }
}
