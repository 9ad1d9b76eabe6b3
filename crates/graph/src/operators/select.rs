//! Operators that compare elements: the largest elements, distinct elements, and boxes that do not
//! overlap.

use loops::{Scalar, Size};

use super::build::{Cx, reshape, scatter};
use super::reduce::along;
use super::value::{Val, int, number, size, truth};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

/// Rows from this length on are searched block by block.
const WORTH_BLOCKS: i64 = 64;

/// The order of a row; equal elements stay in order.
struct Order<'a> {
    row: &'a Val,
    length: &'a Size,
    descending: bool,
}

impl Order<'_> {
    fn before(&self, a: &Val, b: &Val) -> Val {
        if self.descending { a.gt(b) } else { a.lt(b) }
    }

    /// No element: its place is -1.
    fn none(&self) -> Val {
        self.row.at(&[int(0)]).pair(&int(-1))
    }

    /// The first one in order of `count` elements from place `start` on that come after `last`,
    /// with its place.
    fn next(&self, cx: &mut Cx, start: &Val, count: &Size, whole: bool, last: &Val) -> Val {
        cx.fold(count, self.none(), |cx, k, best| {
            cx.bind("i", start + k.int(), |cx, i| {
                cx.bind("v", self.row.at(std::slice::from_ref(&i)), |cx, v| {
                    cx.bind("best", best, |_, best| {
                        let (value, place) = (last.first(), last.second());
                        let later = value.eq(&v).and(&place.lt(&i)).or(&self.before(&value, &v));
                        let left = place.lt(&int(0)).or(&later);
                        let left = if whole { left } else { i.lt(&size(self.length)).and(&left) };
                        let better = best.second().lt(&int(0)).or(&self.before(&v, &best.first()));
                        let taken = left.and(&better);
                        v.when(&taken, &best.first()).pair(&i.when(&taken, &best.second()))
                    })
                })
            })
        })
    }

    /// Places of the first `count` elements. Each is the first of those that come after the one
    /// before it.
    fn places(&self, cx: &mut Cx, count: &Size) -> Val {
        let (n, k) = (self.length.as_constant(), count.as_constant());
        if n == Some(0) || k == Some(0) {
            return cx.generate(count, |_, _| int(0));
        }
        let found = match (n, k) {
            (Some(n), Some(k)) if n >= WORTH_BLOCKS && k > 1 => self.by_blocks(cx, n, count),
            _ => {
                let all = cx.scan(count, self.none(), |cx, _, last| {
                    cx.bind("last", last, |cx, last| self.next(cx, &int(0), self.length, true, &last))
                });
                cx.bind("all", all.stored(), |cx, all| cx.generate(count, |_, r| all.at(&[r]).second()))
            }
        };
        // Places are in the row: there are at least `count` elements, and all are in order.
        cx.bind("found", found.stored(), |cx, found| cx.generate(count, |_, r| found.at(&[r]).max(&int(0))))
    }

    /// The same, with the first remaining element of each block at hand. When an element is taken
    /// from a block, its next one is searched.
    fn by_blocks(&self, cx: &mut Cx, n: i64, count: &Size) -> Val {
        let length = (0..31).map(|bits| 1i64 << bits).find(|l| l * l >= n).unwrap_or(n);
        let (blocks, whole) = (Size::constant((n + length - 1) / length), n % length == 0);
        let within = Size::constant(length);
        let firsts = cx.generate(&blocks, |cx, b| {
            let none = self.none();
            self.next(cx, &(b.int() * int(length)), &within, whole, &none)
        });
        let places = cx.generate(count, |_, _| int(0));
        let state = cx.fold(count, firsts.pair(&places), |cx, r, state| {
            cx.bind("state", state, |cx, state| {
                let chosen = cx.fold(&blocks, self.none(), |cx, b, best| {
                    cx.bind("first", state.first().at(&[b]), |cx, first| {
                        cx.bind("best", best, |_, best| {
                            let better =
                                best.second().lt(&int(0)).or(&self.before(&first.first(), &best.first()));
                            let taken = int(0).le(&first.second()).and(&better);
                            first
                                .first()
                                .when(&taken, &best.first())
                                .pair(&first.second().when(&taken, &best.second()))
                        })
                    })
                });
                cx.bind("chosen", chosen, |cx, chosen| {
                    cx.bind("block", (chosen.second() / int(length)).below(&blocks), |cx, block| {
                        let next = self.next(cx, &(block.int() * int(length)), &within, whole, &chosen);
                        cx.bind("next", next, |cx, next| {
                            let (at, to) = (cx.single(block), cx.single(next));
                            let firsts = scatter(at, state.first(), to);
                            let (at, to) = (cx.single(r), cx.single(chosen.second()));
                            firsts.pair(&scatter(at, state.second(), to))
                        })
                    })
                })
            })
        });
        state.second()
    }
}

pub(super) fn top_k(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let axis = op.axis(op.int("axis", -1), x.rank())?;
    let k = match op.constant_ints(1)?.as_deref() {
        Some([k]) => *k,
        None => op.int("k", 1),
        _ => return Err(Refusal::inputs("input 1 must be one number")),
    };
    if x.elem == ElementType::Bool {
        return Err(Refusal::types(format!("the order of {} is not supported", x.elem)));
    }
    let largest = op.int("largest", 1) != 0;
    let n = x.shape[axis].clone();
    if n.as_constant().is_some_and(|n| k > n) {
        return Err(Refusal::inputs(format!("there are {n} elements, not {k}")));
    }
    let count = Size::constant(k);
    let mut shape = x.shape.clone();
    shape[axis] = count.clone();
    let unsigned = x.elem == ElementType::U64;
    let places = along(&mut op.cx, &x, axis, &count, &mut |cx, row| {
        let row = match (unsigned, x.scalar()) {
            // unsigned numbers of 64 bits are ordered as signed ones with the top bit turned
            (true, _) => cx.generate(&n, |_, i| row.at(&[i]).bit_xor(&int(i64::MIN))),
            // floating-point numbers as integers that have their order, so that undefined ones have
            // a place too
            (_, Scalar::F32) => cx.generate(&n, |cx, i| cx.call("order_single", &[row.at(&[i])])).stored(),
            (_, Scalar::F64) => cx.generate(&n, |cx, i| cx.call("order_double", &[row.at(&[i])])).stored(),
            _ => row,
        };
        cx.bind("row", row, |cx, row| Order { row: &row, length: &n, descending: largest }.places(cx, &count))
    });
    let all = op.cx.bind("places", places.stored(), |cx, places| {
        let values = cx.tensor(&shape, &mut |_, at| {
            let mut from = at.to_vec();
            from[axis] = places.at(at);
            x.at(&from)
        });
        values.pair(&places)
    });
    op.results_of(all, vec![(x.elem, shape.clone()), (ElementType::I64, shape)]);
    Ok(())
}

/// A tensor as a matrix whose rows are compared: its elements, or the slices along an axis.
struct Slices {
    axis: Option<usize>,
    dims: Vec<i64>,
    rows: i64,
    columns: i64,
}

impl Slices {
    fn of(dims: Vec<i64>, axis: Option<usize>) -> Slices {
        let (rows, columns) = match axis {
            None => (dims.iter().product::<i64>(), 1),
            Some(axis) => (dims[axis], dims.iter().product::<i64>() / dims[axis].max(1)),
        };
        Slices { axis, dims, rows, columns }
    }

    /// Where an element of the matrix is in the tensor's data.
    fn offset(&self, r: i64, c: i64) -> usize {
        let Some(axis) = self.axis else { return r as usize };
        let inner: i64 = self.dims[axis + 1..].iter().product();
        ((c / inner * self.dims[axis] + r) * inner + c % inner) as usize
    }

    /// How many rows differ from all before them.
    fn distinct(&self, numbers: &[f64]) -> usize {
        let mut distinct: Vec<Vec<u64>> = Vec::new();
        for r in 0..self.rows {
            let row: Vec<u64> = (0..self.columns).map(|c| numbers[self.offset(r, c)].to_bits()).collect();
            if !distinct.contains(&row) {
                distinct.push(row);
            }
        }
        distinct.len()
    }

    fn matrix(&self, cx: &mut Cx, x: &Input) -> Val {
        let (n, m) = (Size::constant(self.rows), Size::constant(self.columns));
        let Some(axis) = self.axis else {
            let flat = reshape(cx, &x.val, &x.shape, std::slice::from_ref(&n));
            return cx.tensor(&[n, m], &mut |_, at| flat.at(&at[..1]));
        };
        let mut others = x.shape.clone();
        others.remove(axis);
        cx.tensor(&[n, m], &mut |_, at| {
            let mut rest = at[1].int();
            let mut place = Vec::new();
            for n in others.iter().rev() {
                place.push(&rest % size(n));
                rest = rest / size(n);
            }
            place.reverse();
            place.insert(axis, at[0].clone());
            x.at(&place)
        })
    }
}

/// The search for distinct rows of a matrix.
struct Distinct<'a> {
    matrix: &'a Val,
    rows: &'a Size,
    columns: &'a Size,
    /// How many distinct rows there are.
    count: &'a Size,
    /// Whether the distinct rows are to be in order; else they are as they come.
    sorted: bool,
}

impl Distinct<'_> {
    /// For each row, the first one that is equal to it.
    fn firsts(&self, cx: &mut Cx) -> Val {
        let (a, n) = (self.matrix, self.rows);
        let same = |cx: &mut Cx, i: &Val, j: &Val| {
            cx.fold(self.columns, truth(true), |_, c, acc| {
                acc.and(&a.at(&[i.clone(), c.clone()]).eq(&a.at(&[j.clone(), c])))
            })
        };
        cx.generate(n, |cx, i| {
            cx.fold(n, int(-1), |cx, j, acc| {
                let equal = same(cx, &i, &j);
                j.int().when(&acc.lt(&int(0)).and(&equal), &acc)
            })
        })
    }

    /// Whether row `i` comes before row `j`.
    fn before(&self, cx: &mut Cx, i: &Val, j: &Val) -> Val {
        if !self.sorted {
            return i.int().lt(&j.int());
        }
        let a = self.matrix;
        let order = cx.fold(self.columns, int(0), |_, c, acc| {
            let (x, y) = (a.at(&[i.clone(), c.clone()]), a.at(&[j.clone(), c]));
            let here = int(-1).when(&x.lt(&y), &int(1).when(&x.gt(&y), &int(0)));
            acc.when(&acc.ne(&int(0)), &here)
        });
        order.lt(&int(0))
    }

    /// For each row, how many distinct ones come before it.
    fn ranks(&self, cx: &mut Cx, firsts: &Val) -> Val {
        let n = self.rows;
        cx.generate(n, |cx, i| {
            let first = firsts.at(std::slice::from_ref(&i)).below(n);
            cx.fold(n, int(0), |cx, j, acc| {
                let less = self.before(cx, &j, &first);
                (&acc + int(1)).when(&is_first(firsts, &j).and(&less), &acc)
            })
        })
    }

    /// The place of each distinct row, in their order.
    fn order(&self, cx: &mut Cx, firsts: &Val, ranks: &Val) -> Val {
        cx.generate(self.count, |cx, r| {
            let r = r.int();
            cx.fold(self.rows, int(0), |_, i, acc| {
                let found = is_first(firsts, &i).and(&ranks.at(std::slice::from_ref(&i)).eq(&r));
                i.int().when(&found, &acc)
            })
        })
    }

    /// How often each distinct row is there.
    fn counts(&self, cx: &mut Cx, ranks: &Val) -> Val {
        cx.generate(self.count, |cx, r| {
            let r = r.int();
            cx.fold(self.rows, int(0), |_, i, acc| (&acc + int(1)).when(&ranks.at(&[i]).eq(&r), &acc))
        })
    }
}

fn is_first(firsts: &Val, i: &Val) -> Val {
    firsts.at(std::slice::from_ref(i)).eq(&i.int())
}

/// Distinct elements (or slices). How many there are is read from the value; the program finds
/// them.
pub(super) fn unique(op: &mut Op) -> Done {
    let x = op.input(0)?;
    let sorted = op.int("sorted", 1) != 0;
    let Some(tensor) = op.operand(0).and_then(|o| o.constant) else {
        return Err(Refusal::not_constant("the length of the result depends on the data"));
    };
    let numbers =
        super::storage_type::numbers(tensor).ok_or_else(|| Refusal::types("elements that are no numbers"))?;
    let axis = match op.attribute("axis").and_then(|a| a.int()) {
        Some(axis) => Some(op.axis(axis, x.rank())?),
        None => None,
    };
    let slices = Slices::of(super::convolution::numbers(&x.shape)?, axis);
    let count = Size::constant(slices.distinct(&numbers) as i64);
    let (n, m) = (Size::constant(slices.rows), Size::constant(slices.columns));
    let mut shape = x.shape.clone();
    match axis {
        Some(axis) => shape[axis] = count.clone(),
        None => shape = vec![count.clone()],
    }
    let cx = &mut op.cx;
    let matrix = slices.matrix(cx, &x);
    let all = cx.bind("matrix", matrix.stored(), |cx, a| {
        let distinct = Distinct { matrix: &a, rows: &n, columns: &m, count: &count, sorted };
        let firsts = distinct.firsts(cx);
        cx.bind("firsts", firsts.stored(), |cx, firsts| {
            let ranks = distinct.ranks(cx, &firsts);
            cx.bind("ranks", ranks.stored(), |cx, ranks| {
                let order = distinct.order(cx, &firsts, &ranks);
                cx.bind("order", order.stored(), |cx, order| {
                    let values = cx.tensor(&shape, &mut |_, at| match axis {
                        None => a.at(&[order.at(at), int(0)]),
                        Some(axis) => {
                            let mut from = at.to_vec();
                            from[axis] = order.at(&at[axis..=axis]);
                            x.at(&from)
                        }
                    });
                    let counts = distinct.counts(cx, &ranks);
                    values.pair(&order.pair(&ranks.pair(&counts)))
                })
            })
        })
    });
    let places = |n: Size| (ElementType::I64, vec![n]);
    let types = vec![(x.elem, shape), places(count.clone()), places(n), places(count)];
    op.results_of(all, types);
    Ok(())
}

/// Corners of a box, lowest first.
fn corners(
    cx: &mut Cx,
    boxes: &Input,
    batch: &Val,
    i: &Val,
    centre: bool,
    f: impl FnOnce(&mut Cx, [Val; 4]) -> Val,
) -> Val {
    let at = |k: i64| boxes.at(&[batch.clone(), i.clone(), int(k)]);
    let half = |v: Val| v / number(loops::Scalar::F32, 2.0);
    let c = if centre {
        [at(1) - half(at(3)), at(0) - half(at(2)), at(1) + half(at(3)), at(0) + half(at(2))]
    } else {
        [at(0).min(&at(2)), at(1).min(&at(3)), at(0).max(&at(2)), at(1).max(&at(3))]
    };
    let [y0, x0, y1, x1] = c;
    cx.bind("y0", y0, |cx, y0| {
        cx.bind("x0", x0, |cx, x0| {
            cx.bind("y1", y1, |cx, y1| cx.bind("x1", x1, |cx, x1| f(cx, [y0, x0, y1, x1])))
        })
    })
}

/// How much two boxes overlap: common area by area of both.
fn overlap(cx: &mut Cx, boxes: &Input, batch: &Val, i: &Val, j: &Val, centre: bool) -> Val {
    corners(cx, boxes, batch, i, centre, |cx, a| {
        corners(cx, boxes, batch, j, centre, |_, b| {
            let zero = number(loops::Scalar::F32, 0.0);
            let area = |c: &[Val; 4]| (&c[2] - &c[0]) * (&c[3] - &c[1]);
            let height = (a[2].min(&b[2]) - a[0].max(&b[0])).max(&zero);
            let width = (a[3].min(&b[3]) - a[1].max(&b[1])).max(&zero);
            let common = height * width;
            let union = area(&a) + area(&b) - &common;
            (&common / &union).when(&union.gt(&zero), &zero)
        })
    })
}

/// The best boxes of each class that do not overlap better ones. Their number is found by
/// evaluating the same program on the values.
pub(super) fn non_max_suppression(op: &mut Op) -> Done {
    let (boxes, scores) = (op.input(0)?, op.input(1)?);
    let most = op.constant_ints(2)?.and_then(|v| v.first().copied()).unwrap_or(0);
    let threshold = op.constant_numbers(3)?.and_then(|v| v.first().copied()).unwrap_or(0.0);
    let least = op.constant_numbers(4)?.and_then(|v| v.first().copied());
    let centre = op.int("center_point_box", 0) != 0;
    let dims = super::convolution::numbers(&scores.shape)?;
    let [batches, classes, n] = dims[..] else { return Err(Refusal::inputs("scores have 3 dimensions")) };
    let most = most.clamp(0, n);
    let four = |d: usize, n: i64| boxes.shape.get(d).and_then(Size::as_constant) == Some(n);
    if boxes.rank() != 3 || !four(0, batches) || !four(1, n) || !four(2, 4) {
        return Err(Refusal::inputs(format!("boxes must be [{batches}, {n}, 4]")));
    }
    let (Some(boxes_known), Some(scores_known)) =
        (op.operand(0).and_then(|o| o.constant), op.operand(1).and_then(|o| o.constant))
    else {
        return Err(Refusal::not_constant("the length of the result depends on the data"));
    };
    let (Some(b), Some(s)) =
        (super::storage_type::numbers(boxes_known), super::storage_type::numbers(scores_known))
    else {
        return Err(Refusal::types("elements that are no numbers"));
    };
    // the sizes: how many are chosen of each class
    let counts = suppressed_counts(&b, &s, [batches, classes, n], most, threshold, least, centre);
    let total: i64 = counts.iter().sum();
    let extent = Size::constant(n);
    let groups = Size::constant(batches * classes);
    let steps = Size::constant(most);
    let cx = &mut op.cx;
    let low = number(loops::Scalar::F32, f64::NEG_INFINITY);
    let start = least.map_or_else(|| low.clone(), |l| number(loops::Scalar::F32, l));
    // chosen boxes of each group in order; -1 where there is none
    let chosen = cx.generate(&groups, |cx, g| {
        let (batch, class) = (g.int() / int(classes.max(1)), g.int() % int(classes.max(1)));
        let open = cx.generate(&extent, |_, i| {
            let score = scores.at(&[batch.clone(), class.clone(), i]);
            match least {
                Some(_) => score.gt(&start),
                None => truth(true),
            }
        });
        let none = cx.generate(&steps, |_, _| int(-1));
        let state = cx.fold(&steps, open.pair(&none), |cx, step, state| {
            cx.bind("open", state.first(), |cx, open| {
                cx.bind("picked", state.second(), |cx, picked| {
                    let best = cx.fold(&extent, int(-1), |_, i, acc| {
                        let here = scores.at(&[batch.clone(), class.clone(), i.clone()]);
                        let there = scores.at(&[batch.clone(), class.clone(), acc.max(&int(0))]);
                        let better = acc.lt(&int(0)).or(&here.gt(&there));
                        i.int().when(&open.at(std::slice::from_ref(&i)).and(&better), &acc)
                    });
                    cx.bind("best", best, |cx, best| {
                        let still = cx.generate(&extent, |cx, i| {
                            let o = overlap(cx, &boxes, &batch, &i, &best.max(&int(0)), centre);
                            let far = o.le(&number(loops::Scalar::F32, threshold));
                            open.at(std::slice::from_ref(&i))
                                .and(&far)
                                .and(&i.int().ne(&best))
                                .and(&best.ge(&int(0)))
                        });
                        let picks = cx.generate(&steps, |_, k| {
                            best.when(&k.int().eq(&step.int()), &picked.at(std::slice::from_ref(&k)))
                        });
                        still.pair(&picks)
                    })
                })
            })
        });
        state.second()
    });
    // where each row of the result comes from: group and step, known with the sizes
    let mut table = Vec::new();
    for (g, count) in counts.iter().enumerate() {
        table.extend((0..*count).map(|k| (g as i64, k)));
    }
    let shape = vec![Size::constant(total), Size::constant(3)];
    let val = cx.bind("chosen", chosen.stored(), |cx, chosen| {
        cx.tensor(&shape, &mut |_, at| {
            let r = at[0].int();
            let pick = |f: &dyn Fn(&(i64, i64)) -> i64| {
                table
                    .iter()
                    .enumerate()
                    .rev()
                    .fold(int(0), |rest, (k, entry)| int(f(entry)).when(&r.eq(&int(k as i64)), &rest))
            };
            let (g, k) = (pick(&|e| e.0), pick(&|e| e.1));
            let c = at[1].int();
            let index = chosen.at(&[g.clone(), k]);
            (&g / int(classes.max(1)))
                .when(&c.eq(&int(0)), &(&g % int(classes.max(1))).when(&c.eq(&int(1)), &index))
        })
    });
    op.result(val, ElementType::I64, shape);
    Ok(())
}

/// How many boxes are chosen of each class of each sample.
fn suppressed_counts(
    boxes: &[f64],
    scores: &[f64],
    [batches, classes, n]: [i64; 3],
    most: i64,
    threshold: f64,
    least: Option<f64>,
    centre: bool,
) -> Vec<i64> {
    let corner = |b: i64, i: usize| -> [f32; 4] {
        let at = |k: usize| boxes[(b as usize * n as usize + i) * 4 + k] as f32;
        if centre {
            [at(1) - at(3) / 2.0, at(0) - at(2) / 2.0, at(1) + at(3) / 2.0, at(0) + at(2) / 2.0]
        } else {
            [at(0).min(at(2)), at(1).min(at(3)), at(0).max(at(2)), at(1).max(at(3))]
        }
    };
    let area = |c: &[f32; 4]| (c[2] - c[0]) * (c[3] - c[1]);
    let mut counts = Vec::new();
    for b in 0..batches {
        for c in 0..classes {
            let score = |i: usize| scores[((b * classes + c) * n) as usize + i] as f32;
            let mut open: Vec<bool> =
                (0..n as usize).map(|i| least.is_none_or(|l| score(i) > l as f32)).collect();
            let mut count = 0;
            while count < most {
                let mut best: Option<usize> = None;
                for (i, open) in open.iter().enumerate() {
                    if *open && best.is_none_or(|k| score(i) > score(k)) {
                        best = Some(i);
                    }
                }
                let Some(k) = best else { break };
                count += 1;
                let p = corner(b, k);
                for (i, open) in open.iter_mut().enumerate() {
                    let q = corner(b, i);
                    let height = (p[2].min(q[2]) - p[0].max(q[0])).max(0.0);
                    let width = (p[3].min(q[3]) - p[1].max(q[1])).max(0.0);
                    let union = area(&q) + area(&p) - height * width;
                    let overlap = if union > 0.0 { height * width / union } else { 0.0 };
                    *open &= overlap <= threshold as f32 && i != k;
                }
            }
            counts.push(count);
        }
    }
    counts
}
