//! Windows that slide over rows of an image, for C: pooling, and convolutions of narrow groups. All
//! elements of a row are made at a time, one element of the window after the other.

use functional::Prim;
use loops::Size;

use super::build::Cx;
use super::convolution::Window;
use super::epilogue::Stages;
use super::image_windows::{Image, Layout, image, plane_image};
use super::value::{Val, int};
use super::{Input, Op};

/// Windows of more elements are not written out, but for the last dimension.
pub(super) const MOST_TAPS: i64 = 64;

/// What becomes of the elements of a window: `step` for one after the other, with the accumulator,
/// the element, the channel of the result, and the channel within the group and the place in the
/// window.
type Step<'f> = &'f dyn Fn(&mut Cx, Val, Val, &Val, &[Val]) -> Val;

/// Results that are made row by row, all elements of a row at a time.
pub(super) struct Rows<'f> {
    /// Channels of the result.
    pub(super) channels: i64,
    /// Channels of the image that one of them needs.
    pub(super) per: i64,
    /// The channel of the image with this number among them.
    pub(super) channel: &'f dyn Fn(&Val, &Val) -> Val,
    /// Whether no two of them need the same channel.
    pub(super) alone: bool,
    /// What a row begins with.
    pub(super) start: Val,
    /// What each element of a window does.
    pub(super) step: Step<'f>,
    /// What becomes of the last accumulator, with the channel of the result.
    pub(super) last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

/// The results of windows over all samples, row by row, if that is worth it; `fill` is what
/// paddings are.
pub(super) fn sliding(op: &mut Op, x: &Input, win: &Window, fill: &Val, rows: &Rows) -> Option<Val> {
    let taps = win.kernel.iter().fold(rows.per, |n, k| n.saturating_mul(*k));
    let row = win.places.last()?.as_constant().filter(|row| *row >= 7)?;
    let known = x.shape[1..].iter().chain(&win.places).all(|n| n.as_constant().is_some());
    if !known || *win.kernel.last()? > MOST_TAPS {
        return None;
    }
    let after = op.stages();
    let lanes = op.fast.map_or(1, |registers| registers.lanes(x.scalar()));
    let sliding = Sliding { win, rows, after: &after, row, taps, lanes };
    Some(op.cx.generate(&x.shape[0], |cx, n| {
        if rows.per == 1 && rows.alone {
            let sample = x.at(std::slice::from_ref(&n));
            return cx.generate(&Size::constant(rows.channels), |cx, m| {
                let plane = sample.at(&[(rows.channel)(&m, &int(0))]);
                plane_image(cx, plane, &Layout::of(x, win), win, fill, |cx, image| {
                    sliding.channel(cx, &image, &n, &m)
                })
            });
        }
        image(cx, x, win, &n, fill, |cx, image| {
            cx.generate(&Size::constant(rows.channels), |cx, m| sliding.by_rows(cx, &image, &n, &m))
        })
    }))
}

/// What is made of an image row by row, or of one channel at a time.
struct Sliding<'s, 'f> {
    win: &'s Window,
    rows: &'s Rows<'f>,
    after: &'s Stages,
    /// Places of a row.
    row: i64,
    taps: i64,
    /// Elements of a vector.
    lanes: i64,
}

impl Sliding<'_, '_> {
    /// A channel of the result that depends on one channel of the image only. If rows are too short
    /// for vectors, all positions of the flat image are computed as one row. Those between two rows
    /// of windows are dropped.
    fn channel(&self, cx: &mut Cx, image: &Image, n: &Val, m: &Val) -> Val {
        let rank = self.win.kernel.len();
        if self.row % self.lanes == 0 || self.row >= 4 * self.lanes || image.is_strided(self.win) {
            return self.by_rows(cx, image, n, m);
        }
        let places: Vec<i64> = self.win.places.iter().map(|n| n.as_constant().unwrap_or(1)).collect();
        let pitches = image.pitches();
        let columns = 1 + (0..rank).map(|d| (places[d] - 1) * pitches[d]).sum::<i64>();
        let everywhere = self.after.is_the_same_at_places(rank);
        let done = |cx: &mut Cx, value: Val, at: &[Val]| {
            let value = (self.rows.last)(cx, value, m);
            self.after.apply(cx, value, &[&[n.clone(), m.clone()], at].concat(), &vec![1; 2 + rank])
        };
        let element = |cx: &mut Cx, tap: &[Val], l: &Val| image.flat(cx, self.win, int(0), &tap[1..], l);
        let flat = self.line(cx, columns, m, &element, &|cx, value, _| {
            if everywhere { done(cx, value, &vec![int(0); rank]) } else { value }
        });
        cx.bind("flat", flat.stored(), |cx, flat| {
            cx.tensor(&self.win.places[..rank - 1], &mut |cx, at| {
                let from = (0..rank - 1).fold(int(0), |sum, d| sum + at[d].int() * int(pitches[d]));
                cx.each(Prim::MapVec, self.row, |cx, l| {
                    let value = flat.at(&[from + l.int()]);
                    if everywhere { value } else { done(cx, value, &[at, &[l]].concat()) }
                })
            })
        })
    }

    /// A channel of the result, row by row.
    fn by_rows(&self, cx: &mut Cx, image: &Image, n: &Val, m: &Val) -> Val {
        let rank = self.win.kernel.len();
        cx.tensor(&self.win.places[..rank - 1], &mut |cx, at| {
            let element = |cx: &mut Cx, tap: &[Val], l: &Val| {
                let place: Vec<Val> = at.iter().map(Val::int).chain([l.int()]).collect();
                image.element(cx, self.win, (self.rows.channel)(m, &tap[0]), &tap[1..], &place)
            };
            self.line(cx, self.row, m, &element, &|cx, value, l| {
                let value = (self.rows.last)(cx, value, m);
                let place = [&[n.clone(), m.clone()], at, std::slice::from_ref(l)].concat();
                self.after.apply(cx, value, &place, &vec![1; 2 + rank])
            })
        })
    }

    /// So many windows beside each other, given what they have at a tap, whose channel is first,
    /// and what becomes of the last accumulator.
    fn line(
        &self,
        cx: &mut Cx,
        n: i64,
        m: &Val,
        element: &dyn Fn(&mut Cx, &[Val], &Val) -> Val,
        done: &dyn Fn(&mut Cx, Val, &Val) -> Val,
    ) -> Val {
        let kernel = &self.win.kernel;
        let last = kernel.last().copied().unwrap_or(1);
        let step = |cx: &mut Cx, acc: Val, tap: &[Val], l: &Val| {
            let value = element(cx, tap, &l.int());
            (self.rows.step)(cx, acc, value, m, tap)
        };
        if self.taps <= MOST_TAPS {
            return cx.each(Prim::MapVec, n, |cx, l| {
                let acc = (0..self.taps)
                    .fold(self.rows.start.clone(), |acc, k| step(cx, acc, &tap(int(k), kernel), &l));
                done(cx, acc, &l)
            });
        }
        // The elements of the last dimension are written out, and what they give is kept for all.
        let start = cx.each(Prim::MapVec, n, |_, _| self.rows.start.clone());
        let all = cx.fold(&Size::constant(self.taps / last), start, |cx, k, acc| {
            cx.each(Prim::MapVec, n, |cx, l| {
                (0..last).fold(acc.at(std::slice::from_ref(&l)), |acc, i| {
                    step(cx, acc, &tap(k.int() * int(last) + int(i), kernel), &l)
                })
            })
        });
        cx.bind("all", all, |cx, all| {
            cx.each(Prim::MapVec, n, |cx, l| {
                let value = all.at(std::slice::from_ref(&l));
                done(cx, value, &l)
            })
        })
    }
}

/// The place in a window with this number, whose channel is first.
fn tap(number: Val, kernel: &[i64]) -> Vec<Val> {
    let (mut rest, mut place) = (number, Vec::new());
    for n in kernel.iter().rev() {
        place.push(&rest % int(*n));
        rest = rest / int(*n);
    }
    place.push(rest);
    place.reverse();
    place
}
