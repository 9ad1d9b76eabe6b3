//! Attention and other parts of transformers: rotary embeddings, gated units.

use loops::{Scalar, Size};

use super::build::{Cx, Extents};
use super::number_functions::exp_of;
use super::storage_type::{carrier, cast, fit};
use super::value::{Val, int, number, size, truth};
use super::{Done, Input, Op, Refusal};
use crate::types::ElementType;

// Of the same family in the table of operators.
pub(super) use super::linear_attention::{causal_conv, linear_attention};

/// Queries, keys or values with their heads as a dimension of their own:
/// `(batch, heads, sequence, size)`.
fn heads(cx: &mut Cx, x: Input, heads: Option<i64>) -> Result<Input, Refusal> {
    match (x.rank(), heads) {
        (4, _) => Ok(x),
        (3, Some(n)) if n > 0 => {
            let width = x.shape[2]
                .exact_div(&Size::constant(n))
                .ok_or_else(|| Refusal::inputs(format!("{} is no multiple of {n} heads", x.shape[2])))?;
            let shape = vec![x.shape[0].clone(), Size::constant(n), x.shape[1].clone(), width.clone()];
            let val = cx.tensor(&shape, &mut |_, at| {
                let k = at[1].int() * size(&width) + at[3].int();
                x.at(&[at[0].clone(), at[2].clone(), k])
            });
            Ok(Input { val, elem: x.elem, shape })
        }
        _ => Err(Refusal::inputs("queries, keys and values have 4 dimensions, or 3 and a number of heads")),
    }
}

/// What is added to the scores, and who sees whom.
struct Bias {
    mask: Option<Input>,
    causal: bool,
    left: i64,
    right: i64,
    /// Positions before the first query: of a cache inside, or of one outside (a number a sample).
    offset: Val,
    lengths: Option<Input>,
    keys: Size,
    elem: ElementType,
    queries: Size,
}

impl Bias {
    fn is_empty(&self) -> bool {
        self.mask.is_none() && !self.causal && self.left < 0 && self.right < 0 && self.lengths.is_none()
    }

    /// The bias at batch, head, query and key.
    fn at(&self, cx: &mut Cx, at: &[Val]) -> Val {
        let scalar = carrier(self.elem).unwrap_or(Scalar::F32);
        let (zero, never) = (number(scalar, 0.0), number(scalar, f64::NEG_INFINITY));
        let (i, j) = (at[2].int(), at[3].int());
        let mut value = zero.clone();
        if let Some(mask) = &self.mask {
            let here = mask_at(mask, at);
            let here = match mask.elem {
                ElementType::Bool => zero.when(&here, &never),
                from => cast(cx, from, self.elem, true, here),
            };
            let known = mask.shape.last().cloned().unwrap_or_else(|| Size::constant(1));
            value = match known == self.keys {
                true => here,
                false => here.when(&j.lt(&size(&known)), &never),
            };
        }
        let position = &i + self.position(&at[0]);
        let mut test = |allowed: Val| value = (&value + zero.clone()).when(&allowed, &never);
        if self.causal {
            test(j.le(&position));
        }
        if self.left >= 0 {
            test((&position - &j).le(&int(self.left)));
        }
        if self.right >= 0 {
            test((&j - &position).le(&int(self.right)));
        }
        if let Some(lengths) = &self.lengths {
            test(j.lt(&lengths.at(&at[..1]).int()));
        }
        value
    }

    fn position(&self, batch: &Val) -> Val {
        match &self.lengths {
            Some(lengths) => lengths.at(std::slice::from_ref(batch)).int() - size(&self.queries),
            None => self.offset.clone(),
        }
    }
}

/// The element of a mask that is aligned at the last dimension.
fn mask_at(mask: &Input, at: &[Val]) -> Val {
    let skip = at.len() - mask.rank();
    let place: Vec<Val> = mask
        .shape
        .iter()
        .zip(&at[skip..])
        .enumerate()
        .map(|(k, (n, i))| match n.as_constant() {
            Some(1) if k + 1 < mask.rank() => super::value::index(0, n),
            _ => i.clone(),
        })
        .collect();
    mask.at(&place)
}

/// An attention: what it works on, with the heads as a dimension of their own, and how.
struct Attention {
    q: Input,
    k: Input,
    v: Input,
    bias: Bias,
    /// Samples, heads of queries, queries.
    rows: [Size; 3],
    keys: Size,
    /// The extent of a query and a key.
    width: Size,
    /// How many heads of queries there are, and how many of keys they share.
    heads: (i64, i64),
    /// Whether the operator's queries have no dimension for the heads.
    flat: bool,
    softcap: f64,
    elem: ElementType,
    scalar: Scalar,
    /// The type in which probabilities are computed.
    precision: ElementType,
    wide: Scalar,
}

/// Keys or values behind those of earlier positions, if there are some.
fn grown(cx: &mut Cx, past: Option<Input>, new: Input, name: &str) -> Input {
    let Some(past) = past else { return new };
    let mut shape = new.shape.clone();
    shape[2] = past.shape[2].clone() + new.shape[2].clone();
    let elem = new.elem;
    let val = super::movement::joined(cx, &[past, new], 2, &mut Vec::new());
    Input { val: cx.hold(name, val.stored()), elem, shape }
}

impl Attention {
    fn read(op: &mut Op) -> Result<Attention, Refusal> {
        let (q, k, v) = (op.input(0)?, op.input(1)?, op.input(2)?);
        let (mask, past_key, past_value) = (op.optional(3)?, op.optional(4)?, op.optional(5)?);
        let lengths = op.optional(6)?;
        let flat = q.rank() == 3;
        let count = |name: &str| op.attribute(name).and_then(|a| a.int());
        let (q_heads, kv_heads) = (count("q_num_heads"), count("kv_num_heads"));
        let causal = op.int("is_causal", 0) != 0;
        let (left, right) = (op.int("left_window_size", -1), op.int("right_window_size", -1));
        let softcap = op.float("softcap", 0.0);
        let elem = q.elem;
        let precision = match op.int("softmax_precision", 0) {
            0 => elem,
            code => ElementType::from_code(code as i32),
        };
        let (Some(scalar), Some(wide)) = (carrier(elem), carrier(precision)) else {
            return Err(Refusal::types(format!("{elem} and {precision}")));
        };
        let cx = &mut op.cx;
        let q = heads(cx, q, q_heads)?;
        let k = heads(cx, k, kv_heads)?;
        let v = heads(cx, v, kv_heads)?;
        if [&past_key, &past_value].into_iter().flatten().any(|past| past.rank() != 4) {
            return Err(Refusal::inputs("past keys and values must have 4 dimensions"));
        }
        let offset = past_key.as_ref().map_or_else(|| int(0), |p| size(&p.shape[2]));
        let k = grown(cx, past_key, k, "present_key");
        let v = grown(cx, past_value, v, "present_value");
        let [batch, nq, queries, width] =
            q.shape.clone().try_into().unwrap_or_else(|_| unreachable!("4 dimensions"));
        let keys = k.shape[2].clone();
        let (Some(n), Some(m)) = (nq.as_constant(), k.shape[1].as_constant()) else {
            return Err(Refusal::not_constant("the number of heads must be known"));
        };
        if n != m && (m == 0 || n % m != 0) {
            return Err(Refusal::inputs(format!("{n} heads of queries do not share {m} heads of keys")));
        }
        let bias = Bias {
            mask,
            causal,
            left,
            right,
            offset,
            lengths,
            keys: keys.clone(),
            elem,
            queries: queries.clone(),
        };
        let (rows, heads) = ([batch, nq, queries], (n, m));
        Ok(Attention {
            q,
            k,
            v,
            bias,
            rows,
            keys,
            width,
            heads,
            flat,
            softcap,
            elem,
            scalar,
            precision,
            wide,
        })
    }

    /// The head of keys that a head of queries goes with.
    fn shared(&self, head: &Val) -> Val {
        let (n, m) = self.heads;
        if n == m { head.clone() } else { head.int() / int(n / m) }
    }

    /// What queries and keys are multiplied with each: the square root of the scale.
    fn scale(&self, op: &mut Op) -> Val {
        let scalar = self.scalar;
        let given = op.call.attributes.iter().find(|a| &*a.name == "scale").and_then(|a| a.value.float());
        let scale = match given {
            Some(scale) => number(scalar, f64::from(scale).sqrt()),
            None => match self.width.as_constant() {
                Some(d) => number(scalar, (1.0 / (d as f64).sqrt()).sqrt()),
                None => (number(scalar, 1.0) / size(&self.width).to(scalar).sqrt()).sqrt(),
            },
        };
        fit(&mut op.cx, self.elem, scale)
    }

    /// The extents of the scores: one for each sample, head, query and key.
    fn square(&self) -> Extents {
        self.rows.iter().chain([&self.keys]).cloned().collect()
    }

    /// Products of queries and keys, within the soft cap.
    fn scores(&self, cx: &mut Cx, scale: &Val) -> Val {
        let (elem, scalar) = (self.elem, self.scalar);
        cx.tensor(&self.square(), &mut |cx, at| {
            let kv = self.shared(&at[1]);
            let sum = cx.fold(&self.width, number(scalar, 0.0), |cx, d, acc| {
                let query = self.q.at(&[at[0].clone(), at[1].clone(), at[2].clone(), d.clone()]);
                let x = fit(cx, elem, query * scale);
                let y = fit(cx, elem, self.k.at(&[at[0].clone(), kv, at[3].clone(), d]) * scale);
                acc + x * y
            });
            let sum = fit(cx, elem, sum);
            if self.softcap > 0.0 {
                let cap = number(scalar, self.softcap);
                let inner = fit(cx, elem, sum / &cap);
                let inner = super::number_functions::tanh_of(cx, &inner);
                let inner = fit(cx, elem, inner);
                return fit(cx, elem, inner * cap);
            }
            sum
        })
    }

    /// A score with what is added to it.
    fn biased(&self, cx: &mut Cx, scores: &Val, at: &[Val]) -> Val {
        if self.bias.is_empty() {
            return scores.at(at);
        }
        let add = self.bias.at(cx, at);
        fit(cx, self.elem, scores.at(at) + add)
    }

    /// For each query, how much of each key's value it gets.
    fn probabilities(&self, cx: &mut Cx, scores: &Val) -> Val {
        cx.tensor(&self.rows, &mut |cx, row| {
            let logits = cx.generate(&self.keys, |cx, j| {
                let value = self.biased(cx, scores, &[row, &[j]].concat());
                cast(cx, self.elem, self.precision, true, value)
            });
            let never = number(self.scalar, f64::NEG_INFINITY);
            let closed = match self.bias.is_empty() {
                true => truth(false),
                false => cx
                    .fold(&self.keys, never.clone(), |cx, j, acc| {
                        self.bias.at(cx, &[row, &[j]].concat()).max(&acc)
                    })
                    .eq(&never),
            };
            cx.bind("logits", logits.stored(), |cx, logits| self.softmax(cx, &logits, closed))
        })
    }

    /// The softmax of a row; zeros if it is `closed`: no key may be seen.
    fn softmax(&self, cx: &mut Cx, logits: &Val, closed: Val) -> Val {
        let (keys, wide, precision) = (&self.keys, self.wide, self.precision);
        let none = number(wide, f64::NEG_INFINITY);
        let largest = cx.fold(keys, none.clone(), |_, j, acc| logits.at(&[j]).max(&acc));
        cx.bind("largest", largest, |cx, largest| {
            cx.bind("base", number(wide, 0.0).when(&largest.eq(&none), &largest), |cx, base| {
                let exps = cx.generate(keys, |cx, j| {
                    let shifted = fit(cx, precision, logits.at(&[j]) - &base);
                    let e = exp_of(cx, &shifted);
                    fit(cx, precision, e)
                });
                cx.bind("exps", exps.stored(), |cx, exps| self.normalised(cx, &exps, closed))
            })
        })
    }

    /// The numbers of a row divided by their sum.
    fn normalised(&self, cx: &mut Cx, exps: &Val, closed: Val) -> Val {
        let (keys, wide, precision) = (&self.keys, self.wide, self.precision);
        let each = precision == ElementType::Bf16;
        let total = cx.fold(keys, number(wide, 0.0), |cx, j, acc| {
            let sum = acc + exps.at(&[j]);
            if each { fit(cx, precision, sum) } else { sum }
        });
        let total = fit(cx, precision, total);
        cx.bind("total", total, |cx, total| {
            let safe = number(wide, 1.0).when(&total.eq(&number(wide, 0.0)), &total);
            cx.bind("safe", safe, |cx, safe| {
                cx.bind("closed", closed, |cx, closed| {
                    cx.generate(keys, |cx, j| {
                        let p = fit(cx, precision, exps.at(&[j]) / &safe);
                        let p = number(wide, 0.0).when(&closed, &p);
                        cast(cx, precision, self.elem, true, p)
                    })
                })
            })
        })
    }

    /// The values that each query gets, with the extents of the operator's first result.
    fn result(&self, cx: &mut Cx, probabilities: &Val) -> (Val, Extents) {
        let (scalar, [batch, nq, queries]) = (self.scalar, &self.rows);
        let wide_v = self.v.shape[3].clone();
        let element = |cx: &mut Cx, b: &Val, h: &Val, i: &Val, d: &Val| {
            let kv = self.shared(h);
            let sum = cx.fold(&self.keys, number(scalar, 0.0), |_, j, acc| {
                let p = probabilities.at(&[b.clone(), h.clone(), i.clone(), j.clone()]);
                acc + p * self.v.at(&[b.clone(), kv, j, d.clone()])
            });
            fit(cx, self.elem, sum)
        };
        if self.flat {
            let shape = vec![batch.clone(), queries.clone(), nq.clone() * wide_v.clone()];
            let y = cx.tensor(&shape, &mut |cx, at| {
                let (h, d) = (at[2].int() / size(&wide_v), at[2].int() % size(&wide_v));
                element(cx, &at[0], &h, &at[1], &d)
            });
            return (y, shape);
        }
        let shape = vec![batch.clone(), nq.clone(), queries.clone(), wide_v];
        (cx.tensor(&shape, &mut |cx, at| element(cx, &at[0], &at[1], &at[2], &at[3])), shape)
    }
}

pub(super) fn attention(op: &mut Op) -> Done {
    let mode = op.int("qk_matmul_output_mode", 0);
    let attention = Attention::read(op)?;
    let elem = attention.elem;
    let scale = attention.scale(op);
    let cx = &mut op.cx;
    let scores = attention.scores(cx, &scale);
    let scores = cx.hold("scores", scores.stored());
    let probabilities = attention.probabilities(cx, &scores);
    let probabilities = cx.hold("probabilities", probabilities.stored());
    let (y, y_shape) = attention.result(cx, &probabilities);
    let outputs = op.call.outputs;
    let mut all = vec![(y, elem, y_shape)];
    if outputs > 1 {
        let (k, v) = (&attention.k, &attention.v);
        all.push((k.val.clone(), k.elem, k.shape.clone()));
        all.push((v.val.clone(), v.elem, v.shape.clone()));
        let square = attention.square();
        let shown = match mode {
            2 => op.cx.tensor(&square, &mut |cx, at| attention.biased(cx, &scores, at)),
            3 => probabilities.clone(),
            _ => scores.clone(),
        };
        all.push((shown, elem, square));
    }
    all.truncate(outputs.max(1));
    finish(op, all)
}

/// Several results behind the values that are held.
pub(super) fn finish(op: &mut Op, all: Vec<(Val, ElementType, Extents)>) -> Done {
    let types = all.iter().map(|(_, elem, shape)| (*elem, shape.clone())).collect();
    let mut vals = all.into_iter().map(|(val, _, _)| val).rev();
    let Some(last) = vals.next() else { return Err(Refusal::internal("no result")) };
    let pairs = vals.fold(last, |rest, first| first.pair(&rest));
    let body = op.cx.release(pairs);
    op.results_of(body, types);
    Ok(())
}

pub(super) fn rotary_embedding(op: &mut Op) -> Done {
    let (x, cosines, sines, ids) = (op.input(0)?, op.input(1)?, op.input(2)?, op.optional(3)?);
    let interleaved = op.int("interleaved", 0) != 0;
    let heads_given = op.int("num_heads", 0);
    let head = match (x.rank(), heads_given) {
        (4, _) => x.shape[3].clone(),
        (3, n) if n > 0 => x.shape[2]
            .exact_div(&Size::constant(n))
            .ok_or_else(|| Refusal::inputs("the heads do not divide the width"))?,
        _ => return Err(Refusal::inputs("4 dimensions, or 3 and a number of heads, are needed")),
    };
    let Some(head) = head.as_constant() else {
        return Err(Refusal::not_constant("the size of a head must be known"));
    };
    let rotated = match op.int("rotary_embedding_dim", 0) {
        0 => head,
        n => n,
    };
    let half = rotated / 2;
    let flat = x.rank() == 3;
    let elem = x.elem;
    op.tensor(elem, &x.shape, &mut |cx, at| {
        let (position, wide) = if flat { (at[1].clone(), at[2].int()) } else { (at[2].clone(), at[3].int()) };
        let d = if flat { &wide % int(head) } else { wide.clone() };
        let base = &wide - &d;
        let at_d = |k: Val| {
            let mut place = at.to_vec();
            let last = place.len() - 1;
            place[last] = &base + k;
            x.at(&place)
        };
        let (pair, imaginary) = if interleaved {
            (&d / int(2), (&d % int(2)).eq(&int(1)))
        } else {
            (&d % int(half.max(1)), d.ge(&int(half)))
        };
        let (one, two) = if interleaved {
            (&pair * int(2), &pair * int(2) + int(1))
        } else {
            (pair.clone(), &pair + int(half))
        };
        let cache = |table: &Input| match &ids {
            Some(ids) => table.at(&[ids.at(&[at[0].clone(), position.clone()]), pair.clone()]),
            None => table.at(&[at[0].clone(), position.clone(), pair.clone()]),
        };
        let (c, s) = (cache(&cosines), cache(&sines));
        let (x1, x2) = (at_d(one), at_d(two));
        let part = |cx: &mut Cx, a: Val, b: Val| fit(cx, elem, a * b);
        let real = part(cx, c.clone(), x1.clone()) - part(cx, s.clone(), x2.clone());
        let turned = part(cx, s, x1) + part(cx, c, x2);
        turned.when(&imaginary, &real).when(&d.lt(&int(rotated)), &x.at(at))
    });
    Ok(())
}

pub(super) fn swiglu(op: &mut Op) -> Done {
    let (a, b) = (op.input(0)?, op.input(1)?);
    let alpha = op.float("alpha", 1.0);
    let elem = a.elem;
    op.tensor(elem, &a.shape, &mut |cx, at| {
        cx.bind("a", a.at(at), |cx, v| {
            let gate = super::elementwise::sigmoid_of(cx, &(number(v.scalar(), alpha) * &v));
            let gate = fit(cx, elem, gate);
            let gated = fit(cx, elem, v * gate);
            gated * b.at(at)
        })
    });
    Ok(())
}
