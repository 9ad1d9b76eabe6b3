//! Large images in strips: the rows that some rows of windows need, padded where they are used. A
//! strip stays in a core's cache, where a padded copy of the whole image would go through memory.

use loops::Size;

use super::Input;
use super::build::Cx;
use super::convolution::Window;
use super::image_windows::Layout;
use super::value::{Val, int, size};

/// Bytes of a strip, at most.
const MOST_BYTES: i64 = 1 << 20;

/// An image of fewer strips stays in the cache as a whole, and threads share its tiles.
const LEAST_COUNT: i64 = 8;

/// How an image is cut.
pub(super) struct Strips {
    /// How many strips there are.
    pub(super) count: i64,
    /// Rows of windows of each.
    pub(super) rows: i64,
    /// The windows of one.
    pub(super) win: Window,
    /// Rows of the image of one.
    tall: i64,
    /// Rows of the image from one strip to the next.
    pitch: i64,
    /// Rows of padding before the image.
    before: i64,
}

impl Strips {
    /// The strips of an image that is copied for its windows, which stand at every row; none if it
    /// is small, or no number of rows divides it well.
    pub(super) fn of(x: &Input, win: &Window) -> Option<Strips> {
        let (layout, dense) = (Layout::of(x, &win.dense()), win.dense());
        let (rows, stride, reach) = (win.places[0].as_constant()?, win.strides[0], dense.reach(0));
        let row = layout.row_elements().checked_mul(x.shape[1].as_constant()?)?;
        let row = row.checked_mul(x.scalar().bytes() as i64)?.max(1);
        let tall = |rows: i64| (rows - 1) * stride + reach + 1;
        // What two strips share is copied twice: half of one, at most.
        let fits = |n: &i64| rows % n == 0 && tall(*n) <= MOST_BYTES / row && n * stride >= 2 * reach;
        let most = (rows / LEAST_COUNT).min(MOST_BYTES / row / stride + 1);
        let chosen = (1..=most).rev().find(fits)?;
        if !layout.is_copied() || tall(rows) * row < 2 * MOST_BYTES || win.places.len() < 2 {
            return None;
        }
        let mut part = win.clone();
        (part.before[0], part.after[0]) = (0, 0);
        part.places[0] = Size::constant(chosen);
        Some(Strips {
            count: rows / chosen,
            rows: chosen,
            win: part,
            tall: tall(chosen),
            pitch: chosen * stride,
            before: win.before[0],
        })
    }

    /// The rows of the image that strip `t` of sample `n` needs, as an image of their own.
    pub(super) fn input(&self, cx: &mut Cx, x: &Input, [n, t]: [&Val; 2], fill: &Val) -> Input {
        let mut shape = x.shape.clone();
        (shape[0], shape[2]) = (Size::constant(1), Size::constant(self.tall));
        let val = cx.tensor(&shape, &mut |_, at| {
            let row = t.int() * int(self.pitch) + at[2].int() - int(self.before);
            let inside = int(0).le(&row).and(&row.lt(&size(&x.shape[2])));
            let place = [&[n.clone(), at[1].clone(), row], &at[3..]].concat();
            x.at(&place).when(&inside, fill)
        });
        Input { val, elem: x.elem, shape }
    }
}
