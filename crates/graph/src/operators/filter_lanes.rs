//! Convolutions with their filters in the lanes of vectors. A tile is some positions of a row of
//! windows and some filters, whose weights are packed in panels.
//!
//! What a window reads is one number for all lanes, so it may be anywhere in memory. Nothing is
//! copied, strides cost nothing, and no position between two rows of windows is computed. A tile is
//! written with a stride, so the sums have to be long for this to pay. Sums keep their order.

use functional::Prim;
use loops::{Registers, Scalar, Size};

use super::build::{Cx, folded, product};
use super::convolution::Window;
use super::epilogue::Stages;
use super::image_windows::{Image, image};
use super::packing::{Packed, Packing, Panels, Stored};
use super::strips::Strips;
use super::tiles::{concatenated, joined, transposed};
use super::value::{Val, index, int, number, size};
use super::{Input, Op};

/// Sums of fewer products do not pay for tiles that are written with a stride.
const LONG_SUM: i64 = 96;

/// The same if as much is read, with a stride, as is written (a residual).
const LONG_SUM_BESIDE: i64 = 64;

/// Windows of one element at so many places are products whose columns are packed and shared by
/// many filters, and which are written without a stride.
const MANY_PLACES: i64 = 512;

/// Where registers are few, this way has to compute so many parts of what the other one does, at
/// most.
const FEWER: (i64, i64) = (7, 8);

/// The filters of a convolution in tiles: `full` of `wide` lanes, then such of `narrow` ones.
#[derive(Clone, Copy)]
struct Tiles {
    filters: i64,
    wide: i64,
    full: i64,
    narrow: i64,
}

/// Filters that are computed in the same way: `count` tiles from `first` on, `lanes` wide, of which
/// `used` are filters.
#[derive(Clone, Copy)]
struct Set {
    first: i64,
    count: i64,
    lanes: i64,
    used: i64,
}

impl Tiles {
    fn of(registers: Registers, scalar: Scalar, filters: i64) -> Tiles {
        let (lanes, most) = (registers.lanes(scalar), registers.vectors());
        let vectors = (filters + lanes - 1) / lanes;
        // A tile of one vector has few products for what it loads. It is combined with a full tile,
        // if that gives two smaller tiles.
        let shared = most > 2 && vectors > most && vectors % most == 1;
        let full = vectors / most - i64::from(shared);
        let left = vectors - full * most;
        let narrow = if left > most { left / 2 } else { left };
        Tiles { filters, wide: most * lanes, full, narrow: narrow * lanes }
    }

    /// Lanes of all tiles.
    fn lanes(self) -> i64 {
        self.sets().iter().map(|set| set.count * set.lanes).sum()
    }

    fn sets(self) -> Vec<Set> {
        let Tiles { filters, wide, full, narrow } = self;
        let whole = full.min(filters / wide);
        let cut = filters - whole * wide;
        let behind = (filters - full * wide).max(0);
        let (count, rest) = if behind > 0 { (behind / narrow, behind % narrow) } else { (0, 0) };
        let sets = [
            Set { first: 0, count: whole, lanes: wide, used: wide },
            Set { first: whole * wide, count: full - whole, lanes: wide, used: cut },
            Set { first: full * wide, count, lanes: narrow, used: narrow },
            Set { first: filters - rest, count: i64::from(rest > 0), lanes: narrow, used: rest },
        ];
        sets.into_iter().filter(|set| set.count > 0).collect()
    }
}

/// Positions of a row that are computed in the same way: `count` blocks of `places` from `first`
/// on.
#[derive(Clone, Copy)]
struct Blocks {
    first: i64,
    count: i64,
    places: i64,
}

/// The maximal number of positions in a tile of one vector. With so many, no sum waits for another.
const MOST_PLACES: i64 = 12;

/// Blocks of so many parts of the places that there could be cost nothing that would be worth a
/// second kind of blocks.
const ENOUGH: (i64, i64) = (7, 8);

/// Positions that are written together. Strided elements are collected number by number, which
/// takes longer the wider vectors are.
const PIECE: i64 = 4;

/// In a row of this many blocks, the last one may have any width.
const LONG_ROW: i64 = 8;

/// A row of places in as few blocks as registers allow, all the same or as even as can be, for
/// tiles of so many vectors.
fn blocks(registers: Registers, vectors: i64, row: i64) -> Vec<Blocks> {
    let most = (registers.sums() / vectors).clamp(1, MOST_PLACES);
    let count = (row + most - 1) / most;
    let enough = |n: &i64| n * ENOUGH.1 >= most * ENOUGH.0;
    let alike = (1..=most).rev().take_while(enough).find(|n| row % n == 0);
    let (places, more, less) = match alike {
        _ if row >= LONG_ROW * most => (most, row / most, row % most),
        Some(places) => (places, row / places, 0),
        None => (row / count + 1, row % count, row / count),
    };
    let blocks = [
        Blocks { first: 0, count: more, places },
        Blocks {
            first: more * places,
            count: if less > 0 { (row - more * places) / less } else { 0 },
            places: less,
        },
    ];
    blocks.into_iter().filter(|blocks| blocks.count > 0).collect()
}

/// A convolution of one group whose filters go along the lanes.
struct Filters<'f> {
    w: &'f Input,
    win: &'f Window,
    /// The row of the whole image that the first one of windows is.
    from: Val,
    registers: Registers,
    scalar: Scalar,
    tiles: Tiles,
    /// What is done behind the convolution in the lanes.
    after: &'f Stages,
    /// What is done behind that, where a tile is written.
    beside: &'f Stages,
    last: &'f dyn Fn(&mut Cx, Val, &Val) -> Val,
}

/// The convolution of all samples, if this way is worth it; `others` are the products that the
/// other way computes for a filter and a place of the sum.
pub(super) fn convolution(
    op: &mut Op,
    x: &Input,
    w: &Input,
    win: &Window,
    registers: Registers,
    others: i64,
    last: &dyn Fn(&mut Cx, Val, &Val) -> Val,
) -> Option<Val> {
    let filters = w.shape[0].as_constant()?;
    let sum = product(&w.shape[1..]).as_constant()?;
    let places = product(&win.places).as_constant()?;
    let tiles = Tiles::of(registers, x.scalar(), filters);
    let row = if win.is_a_point() { places } else { win.places.last()?.as_constant()? };
    let beside = !op.after.is_the_same_at_places(win.kernel.len());
    let long = if beside { LONG_SUM_BESIDE } else { LONG_SUM };
    let fits = filters >= 2 * registers.lanes(x.scalar()) && (2 * row >= registers.rows() || places == 1);
    let points = win.kernel.iter().all(|k| *k == 1) && places >= MANY_PLACES;
    // With few registers tiles are small. Writing them then costs more than the superfluous
    // positions of the other way.
    let (gain, of) = if registers.vectors() < 3 { FEWER } else { (1, 1) };
    let more = places > 1 && tiles.lanes() * places * of > filters * others * gain;
    if sum < long || !fits || points || more {
        return None;
    }
    let packing = Packing {
        matrices: 1,
        lines: filters,
        sum,
        pitches: [filters * sum, sum, 1],
        wide: tiles.wide,
        full: tiles.full,
        narrow: tiles.narrow,
        stored: Stored::Elements,
    };
    let packed = op.packed(1, Some(packing))?;
    let (after, beside) = op.stages().split(win.kernel.len());
    let scalar = x.scalar();
    let (after, beside, from, zero) = (&after, &beside, int(0), number(scalar, 0.0));
    let all = Filters { w, win, from, registers, scalar, tiles, after, beside, last };
    let strips = Strips::of(x, win);
    Some(op.cx.generate(&x.shape[0], |cx, n| match &strips {
        Some(strips) => all.by_strips(cx, x, strips, &n, &packed),
        None => image(cx, x, &win.dense(), &n, &zero, |cx, image| all.sample(cx, &image, &n, &packed)),
    }))
}

impl Filters<'_> {
    /// All filters of one sample, strip by strip. Threads share the strips.
    fn by_strips(&self, cx: &mut Cx, x: &Input, strips: &Strips, n: &Val, packed: &Packed) -> Val {
        let zero = number(self.scalar, 0.0);
        let parts = cx.each(Prim::MapPar, strips.count, |cx, t| {
            let part = strips.input(cx, x, [n, &t], &zero);
            let from = t.int() * int(strips.rows);
            let all = Filters { win: &strips.win, from, ..*self };
            let first = index(0, &Size::constant(1));
            image(cx, &part, &strips.win.dense(), &first, &zero, |cx, image| {
                all.sample(cx, &image, n, packed)
            })
        });
        folded(joined(transposed(parts)), &self.win.places[..1])
    }

    /// All filters of one sample. Threads share the tiles of filters and, for each of them, the
    /// rows of places, or the blocks if all are one row.
    fn sample(&self, cx: &mut Cx, image: &Image, number: &Val, packed: &Packed) -> Val {
        let (win, panels) = (self.win, packed.matrix(&int(0)));
        let places: Vec<i64> = win.places.iter().map(|n| n.as_constant().unwrap_or(0)).collect();
        let (outer, row) = match &places[..] {
            [outer @ .., row] if !win.is_a_point() => (outer, *row),
            all => (&[][..], all.iter().product()),
        };
        let sets = self.tiles.sets().into_iter().map(|set| {
            let blocks = blocks(self.registers, set.lanes / self.registers.lanes(self.scalar), row);
            let mut tiles = |count: i64, share: &dyn Fn(&mut Cx, &Tile, Val) -> Val| {
                joined(cx.each(Prim::MapPar, set.count, |cx, t| {
                    let first = t.int() * int(set.lanes) + int(set.first);
                    let tile = Tile { all: self, image, number, panels: &panels, first, set };
                    transposed(joined(cx.each(Prim::MapPar, count, |cx, i| share(cx, &tile, i))))
                }))
            };
            if outer.is_empty() {
                let parts: Vec<Val> = blocks
                    .iter()
                    .map(|b| {
                        tiles(b.count, &|cx, tile, i| {
                            tile.block(cx, &[i.int() * int(b.places) + int(b.first)], b.places)
                        })
                    })
                    .collect();
                return transposed(concatenated(parts.into_iter().map(transposed)));
            }
            tiles(outer.iter().product(), &|cx, tile, i| tile.row(cx, outer, &i, &blocks))
        });
        let sets: Vec<Val> = sets.collect();
        folded(concatenated(sets.into_iter()), &win.places)
    }
}

/// A tile of filters.
struct Tile<'t> {
    all: &'t Filters<'t>,
    image: &'t Image,
    /// The sample.
    number: &'t Val,
    panels: &'t Panels,
    /// Its first filter.
    first: Val,
    set: Set,
}

impl Tile<'_> {
    /// The results at the places of a row, place by place; `number` counts the rows, over the
    /// extents of the outer dimensions.
    fn row(&self, cx: &mut Cx, outer: &[i64], number: &Val, blocks: &[Blocks]) -> Val {
        let (mut rest, mut at) = (number.int(), Vec::new());
        for (d, n) in outer.iter().enumerate().rev() {
            at.push(if d == 0 { rest.clone() } else { &rest % int(*n) });
            rest = rest / int(*n);
        }
        at.reverse();
        let parts = blocks.iter().map(|b| {
            joined(cx.each(Prim::MapSeq, b.count, |cx, i| {
                let from = [&at[..], &[i.int() * int(b.places) + int(b.first)]].concat();
                self.block(cx, &from, b.places)
            }))
        });
        concatenated(parts.collect::<Vec<_>>().into_iter())
    }

    /// The results at some places from one on.
    fn block(&self, cx: &mut Cx, from: &[Val], places: i64) -> Val {
        let Filters { w, scalar, win, .. } = *self.all;
        let Set { lanes, used, .. } = self.set;
        let zeros = cx
            .each(Prim::MapUnroll, places, |cx, _| cx.each(Prim::MapVec, lanes, |_, _| number(scalar, 0.0)));
        let sums = cx.fold(&product(&w.shape[1..]), zeros, |cx, k, acc| {
            cx.each(Prim::MapUnroll, places, |cx, r| {
                let value = self.element(cx, from, &r, &k);
                cx.each(Prim::MapVec, lanes, |_, l| {
                    let product = &value * self.panels.at(&self.first, lanes, &k, &l);
                    acc.at(&[r.clone(), l]) + product
                })
            })
        });
        // Sums stay in registers if all their subscripts are numbers. A tile that is written with a
        // stride is first stored in a local array, after everything that is the same at all
        // positions has been applied in the lanes.
        cx.bind("sums", sums, |cx, sums| {
            let tile = cx.each(Prim::MapUnroll, places, |cx, r| {
                cx.each(Prim::MapVec, lanes, |cx, l| {
                    // Lanes that are no filters have what the last one has.
                    let m = (&self.first + l.int()).min(&int(self.all.tiles.filters - 1));
                    let value = (self.all.last)(cx, sums.at(&[r.clone(), l]), &m);
                    let place = [self.number.clone(), m, int(0)];
                    self.all.after.apply(cx, value, &place, &[1, 1, win.kernel.len()])
                })
            });
            cx.bind("tile", tile.stored(), |cx, tile| self.written(cx, from, &tile, (places, used)))
        })
    }

    /// The numbers of a tile where they belong: blocks of four places by four filters, which
    /// processors turn in registers, and what is left of both.
    fn written(&self, cx: &mut Cx, from: &[Val], tile: &Val, (places, used): (i64, i64)) -> Val {
        let (pieces, rest) = (places / PIECE, places % PIECE);
        let (fours, left) = (used / PIECE, used % PIECE);
        let strip = |cx: &mut Cx, (filter, filters): (i64, i64), first: &Val, count: i64| {
            transposed(cx.each(Prim::MapSeq, filters, |cx, i| {
                let l = i.int() + int(filter);
                cx.each(Prim::MapVec, count, |cx, r| {
                    let r = first + r.int();
                    self.beside(cx, from, tile.at(&[r.clone(), l.clone()]), [&r, &l])
                })
            }))
        };
        let whole = (pieces > 0).then(|| {
            joined(cx.each(Prim::MapUnroll, pieces, |cx, h| {
                let first = h.int() * int(PIECE);
                let blocks = (fours > 0).then(|| {
                    let all = cx.each(Prim::MapSeq, fours, |cx, c| {
                        self.turned(cx, from, tile, [&first, &(c.int() * int(PIECE))])
                    });
                    joined(all)
                });
                let behind = (left > 0).then(|| transposed(strip(cx, (used - left, left), &first, PIECE)));
                transposed(concatenated(blocks.into_iter().chain(behind)))
            }))
        });
        let last = (rest > 0).then(|| strip(cx, (0, used), &int(places - rest), rest));
        concatenated(whole.into_iter().chain(last))
    }

    /// A block of a tile from a place and a filter on, filter by filter.
    fn turned(&self, cx: &mut Cx, from: &[Val], tile: &Val, [place, filter]: [&Val; 2]) -> Val {
        let turned = cx.each(Prim::MapUnroll, PIECE, |cx, i| {
            cx.each(Prim::MapVec, PIECE, |_, r| tile.at(&[place + r.int(), filter + i.int()]))
        });
        if self.all.beside.stages.is_empty() {
            return turned;
        }
        cx.bind("turned", turned.stored(), |cx, turned| {
            cx.each(Prim::MapUnroll, PIECE, |cx, i| {
                cx.each(Prim::MapVec, PIECE, |cx, r| {
                    let value = turned.at(&[i.clone(), r.clone()]);
                    self.beside(cx, from, value, [&(place + r.int()), &(filter + i.int())])
                })
            })
        })
    }

    /// What is done with a number at a place where a tile is written.
    fn beside(&self, cx: &mut Cx, from: &[Val], value: Val, [r, l]: [&Val; 2]) -> Val {
        let place = [self.number.clone(), &self.first + l.int(), self.place(from, r)];
        self.all.beside.apply(cx, value, &place, &[1, 1, self.all.win.kernel.len()])
    }

    /// The number of a place among all of them.
    fn place(&self, from: &[Val], r: &Val) -> Val {
        let first = from.iter().zip(&self.all.win.places[self.all.win.places.len() - from.len()..]);
        let before = &self.all.from;
        let first = first.enumerate().map(|(d, (i, n))| (if d == 0 { before + i } else { i.clone() }, n));
        first.fold(int(0), |place, (i, n)| place * size(n) + i) + r.int()
    }

    /// What the window at a place has at the place `k` of its sum.
    fn element(&self, cx: &mut Cx, from: &[Val], r: &Val, k: &Val) -> Val {
        let (w, win, image) = (self.all.w, self.all.win, self.image);
        let (mut channel, mut tap) = (k.int(), Vec::new());
        for n in w.shape[2..].iter().rev() {
            tap.push(&channel % size(n));
            channel = channel / size(n);
        }
        tap.reverse();
        let last = from.len() - 1;
        let mut place = int(0);
        for (d, pitch) in image.pitches().into_iter().enumerate().skip(tap.len() - from.len()) {
            let i = d + from.len() - tap.len();
            let at = if i == last { &from[i] + r.int() } else { from[i].clone() };
            place = place + (at * int(win.strides[d]) + &tap[d] * int(win.dilations[d])) * int(pitch);
        }
        image.flat_element(cx, channel, place)
    }
}
