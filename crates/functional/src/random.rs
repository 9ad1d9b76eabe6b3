//! Random well-typed programs whose evaluation cannot fail, and random values, for tests of rules.
//!
//! The same seed gives the same program on every machine.

use loops::{Data, Name, Scalar, Size, Tensor};

use crate::build::{self, Supply};
use crate::eval::Value;
use crate::prim::Prim;
use crate::term::{Arg, Definition, Lambda, Term};
use crate::types::DataType;

/// A source of random choices.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next number; any is as likely as any other.
    #[expect(clippy::should_implement_trait, reason = "choices do not end")]
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// One of some; there is at least one.
    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Which numbers values have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// Those at which rounding and signed zeros show.
    Usual,
    /// Infinities, NaN, and the ends of types too.
    Special,
    /// Small whole numbers, which are added without rounding.
    Exact,
}

/// Makes random well-typed terms whose evaluation cannot fail.
#[derive(Clone, Debug)]
pub struct Maker {
    /// What decides.
    pub dice: Dice,
    /// Fresh variables.
    pub supply: Supply,
    /// Variables in scope.
    pub scope: Vec<Term>,
    /// Size parameters and their values.
    pub sizes: Vec<(Name, i64)>,
    /// Sizes that arrays have.
    pub lengths: Vec<Size>,
    /// Numbers in values.
    pub numbers: Numbers,
    /// Nodes that may still be made.
    pub fuel: u32,
}

/// Values have at most so many numbers of a type.
const MAX_NUMBERS: usize = 1 << 16;

/// What was built by its type has that type.
const TYPED: &str = "made by its type";

const MAPS: [Prim; 6] = [Prim::Map, Prim::Map, Prim::Map, Prim::MapSeq, Prim::MapPar, Prim::MapUnroll];

impl Maker {
    /// One with two size parameters, `m` and `n`.
    pub fn new(seed: u64, fuel: u32) -> Maker {
        let mut dice = Dice::new(seed);
        let sizes = vec![("m".into(), dice.below(4) as i64), ("n".into(), dice.below(6) as i64)];
        let (m, n) = (Size::param("m"), Size::param("n"));
        let mut lengths = vec![Size::constant(2) * m.clone(), n.clone() + Size::constant(1), 4.into()];
        lengths.extend([&m, &m, &n, &n, &n].map(Clone::clone));
        lengths.push(Size::constant(dice.below(4) as i64));
        let scope = Vec::new();
        Maker { dice, supply: Supply::new(), scope, sizes, lengths, numbers: Numbers::Usual, fuel }
    }

    /// A definition with arguments of random values.
    pub fn definition(&mut self) -> (Definition, Vec<Value>) {
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for name in ["a", "b", "c"] {
            let depth = 1 + self.dice.below(2) as u32;
            let ty = self.data_type(depth, false);
            let binder = self.supply.binder(name, ty.clone());
            self.scope.push(build::var(&binder));
            params.push(binder);
            args.push(self.value(&ty).expect("a value of numbers"));
        }
        let ty = self.data_type(2, true);
        let body = self.term(&ty);
        let sizes = self.sizes.iter().map(|(name, _)| name.clone()).collect();
        let definition = Definition {
            name: "random".into(),
            sizes,
            facts: vec![],
            params,
            body,
            span: Default::default(),
        };
        (definition, args)
    }

    /// A size.
    pub fn size(&mut self) -> Size {
        self.dice.pick(&self.lengths).clone()
    }

    fn eval_size(&self, size: &Size) -> usize {
        let value_of = |name: &Name| self.sizes.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
        usize::try_from(size.eval(&value_of).unwrap_or(0)).unwrap_or(0)
    }

    /// A type of arrays of numbers, with at most so many dimensions; of pairs too, where asked for.
    pub fn data_type(&mut self, depth: u32, pairs: bool) -> DataType {
        match self.dice.below(6) {
            0..=3 if depth > 0 => {
                let n = self.size();
                DataType::array(n, self.data_type(depth - 1, pairs))
            }
            4 if pairs => DataType::pair(self.data_type(depth.min(1), false), self.data_type(0, false)),
            _ => DataType::Scalar(*self.dice.pick(&[
                Scalar::F64,
                Scalar::F64,
                Scalar::F64,
                Scalar::F32,
                Scalar::I64,
                Scalar::I32,
                Scalar::I8,
                Scalar::U8,
                Scalar::U32,
            ])),
        }
    }

    /// A value of the type; none if there would have to be an index below 0, or it would be large.
    pub fn value(&mut self, ty: &DataType) -> Option<Value> {
        self.value_in(&[], ty)
    }

    /// A value of arrays of this shape around the type.
    fn value_in(&mut self, shape: &[usize], ty: &DataType) -> Option<Value> {
        match ty {
            DataType::Array(n, t) => {
                let extent = self.eval_size(n);
                self.value_in(&[shape, &[extent]].concat(), t)
            }
            DataType::Pair(a, b) if !is_flat(ty) => {
                let first = self.value_in(shape, a)?;
                Some(Value::Pair(Box::new(first), Box::new(self.value_in(shape, b)?)))
            }
            DataType::Vector(k, s) => {
                let lanes = self.eval_size(k);
                self.value_in(&[shape, &[lanes]].concat(), &DataType::Scalar(*s))
            }
            DataType::Scalar(_) | DataType::Idx(_) | DataType::Pair(..) => {
                let count = shape.iter().try_fold(1usize, |all, n| all.checked_mul(*n))?;
                let data = self.data(count, ty)?;
                Some(Value::Tensor(Tensor { shape: shape.to_vec(), data }))
            }
        }
    }

    fn data(&mut self, count: usize, ty: &DataType) -> Option<Data> {
        if count > MAX_NUMBERS {
            return None;
        }
        Some(match ty {
            DataType::Scalar(Scalar::F64) => Data::F64((0..count).map(|_| self.float()).collect()),
            DataType::Scalar(Scalar::F32) => Data::F32((0..count).map(|_| self.float() as f32).collect()),
            DataType::Scalar(Scalar::I64) => Data::I64((0..count).map(|_| self.float() as i64).collect()),
            DataType::Scalar(Scalar::I32) => Data::I32((0..count).map(|_| self.float() as i32).collect()),
            DataType::Scalar(Scalar::I8) => Data::I8((0..count).map(|_| self.float() as i8).collect()),
            DataType::Scalar(Scalar::U8) => Data::U8((0..count).map(|_| self.float() as u8).collect()),
            DataType::Scalar(Scalar::U32) => Data::U32((0..count).map(|_| self.float() as u32).collect()),
            DataType::Scalar(Scalar::Bool) => Data::Bool((0..count).map(|_| self.float() < 0.0).collect()),
            DataType::Idx(n) => {
                let bound = self.eval_size(n) as u64;
                if bound == 0 && count > 0 {
                    return None;
                }
                Data::I64((0..count).map(|_| self.dice.below(bound) as i64).collect())
            }
            DataType::Pair(a, b) => {
                let first = self.data(count, a)?;
                Data::Pair(Box::new(first), Box::new(self.data(count, b)?))
            }
            DataType::Scalar(_) | DataType::Array(..) | DataType::Vector(..) => return None,
        })
    }

    /// A number.
    fn float(&mut self) -> f64 {
        match (self.numbers, self.dice.below(8)) {
            (Numbers::Exact, _) => self.dice.below(9) as f64 - 4.0,
            (_, 0) => -0.0,
            (_, 1) => 0.0,
            (Numbers::Special, 2) => {
                let ends = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, -1e9];
                *self.dice.pick(&ends)
            }
            (Numbers::Special, 3) => self.dice.below(5) as f64 - 2.0,
            _ => (self.dice.below(2001) as f64 - 1000.0) / 7.0,
        }
    }

    /// A random term of this type.
    pub fn term(&mut self, ty: &DataType) -> Term {
        self.fuel = self.fuel.saturating_sub(1);
        let known: Vec<Term> = self.scope.iter().filter(|t| t.ty() == ty).cloned().collect();
        if !known.is_empty() && (self.fuel == 0 || self.dice.below(3) == 0) {
            return self.dice.pick(&known).clone();
        }
        if self.fuel > 0 && self.dice.below(12) == 0 {
            return self.anything(ty);
        }
        match ty {
            DataType::Scalar(s) => self.scalar(*s),
            DataType::Idx(_) => self.leaf(ty),
            DataType::Pair(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                build::pair(a, b).expect(TYPED)
            }
            DataType::Array(n, t) => self.array(n, t),
            DataType::Vector(..) => self.leaf(ty),
        }
    }

    /// What gives any type.
    fn anything(&mut self, ty: &DataType) -> Term {
        match self.dice.below(5) {
            0 => {
                let value = {
                    let t = self.data_type(1, true);
                    self.term(&t)
                };
                let binder = self.supply.binder("v", value.ty().clone());
                self.scope.push(build::var(&binder));
                let body = self.term(ty);
                self.scope.pop();
                build::let_in(binder, value, body).expect(TYPED)
            }
            1 => {
                let (c, a, b) = (self.condition(), self.term(ty), self.term(ty));
                build::apply(Prim::Select, vec![Arg::Term(c), Arg::Term(a), Arg::Term(b)]).expect(TYPED)
            }
            2 => {
                let other = self.data_type(0, false);
                let (a, b) = (self.term(ty), self.term(&other));
                if self.dice.below(2) == 0 {
                    build::fst(build::pair(a, b).expect(TYPED)).expect(TYPED)
                } else {
                    build::snd(build::pair(b, a).expect(TYPED)).expect(TYPED)
                }
            }
            3 => self.reduction(ty),
            _ => build::to_mem(self.term(ty)).expect(TYPED),
        }
    }

    fn leaf(&mut self, ty: &DataType) -> Term {
        let made = match ty {
            DataType::Scalar(s) => return build::number(*s, self.dice.below(3) as i32),
            DataType::Idx(n) => {
                let value = build::number(Scalar::I64, self.dice.below(4) as i32);
                build::apply(Prim::ToIdx, vec![Arg::Size(n.clone()), Arg::Term(value)])
            }
            DataType::Vector(k, s) => {
                let lane = build::number(*s, self.dice.below(3) as i32);
                build::splat(k.clone(), lane)
            }
            DataType::Pair(a, b) => build::pair(self.leaf(a), self.leaf(b)),
            DataType::Array(n, t) => {
                let value = self.leaf(t);
                let f = self.supply.lambda1("i", DataType::Idx(n.clone()), |_, _| Ok(value));
                f.and_then(|f| build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]))
            }
        };
        made.expect(TYPED)
    }

    fn condition(&mut self) -> Term {
        let (a, b) = (self.term(&DataType::Scalar(Scalar::F64)), self.term(&DataType::Scalar(Scalar::F64)));
        build::apply(Prim::Lt, vec![Arg::Term(a), Arg::Term(b)]).expect(TYPED)
    }

    fn scalar(&mut self, s: Scalar) -> Term {
        let ty = DataType::Scalar(s);
        if self.fuel == 0 {
            return self.leaf(&ty);
        }
        if s == Scalar::Bool {
            return self.condition();
        }
        match self.dice.below(10) {
            0 => self.leaf(&ty),
            1 => build::apply(Prim::Neg, vec![Arg::Term(self.term(&ty))]).expect(TYPED),
            2 => self.anything(&ty),
            3 | 4 => self.reduction(&ty),
            5 => {
                let other = DataType::Scalar(*self.dice.pick(&[Scalar::F64, Scalar::I64, Scalar::F32]));
                let prim = Prim::to(s).expect("all numbers have a conversion");
                build::apply(prim, vec![Arg::Term(self.term(&other))]).expect(TYPED)
            }
            _ => {
                let prim =
                    *self.dice.pick(&[Prim::Add, Prim::Mul, Prim::Sub, Prim::Min, Prim::Max, Prim::Add]);
                let (a, b) = (self.term(&ty), self.term(&ty));
                build::apply(prim, vec![Arg::Term(a), Arg::Term(b)]).expect(TYPED)
            }
        }
    }

    fn reduction(&mut self, ty: &DataType) -> Term {
        let n = self.size();
        let elem = self.data_type(1, true);
        let xs = self.term(&DataType::array(n, elem.clone()));
        let init = self.term(ty);
        let f = self.function(&[("x", &elem), ("acc", ty)], ty);
        let prim = *self.dice.pick(&[Prim::Reduce, Prim::ReduceSeq]);
        build::reduce(prim, f, init, xs).expect(TYPED)
    }

    /// A function of these parameters.
    pub fn function(&mut self, params: &[(&str, &DataType)], result: &DataType) -> Lambda {
        let params: Vec<_> =
            params.iter().map(|(name, ty)| self.supply.binder(name, (*ty).clone())).collect();
        self.scope.extend(params.iter().map(build::var));
        let body = self.term(result);
        self.scope.truncate(self.scope.len() - params.len());
        Lambda { params, body }
    }

    fn array(&mut self, n: &Size, t: &DataType) -> Term {
        let ty = DataType::array(n.clone(), t.clone());
        if self.fuel == 0 {
            return self.leaf(&ty);
        }
        let one = Size::constant(1);
        match self.dice.below(20) {
            0..=5 => {
                let elem = self.data_type(1, true);
                let xs = self.term(&DataType::array(n.clone(), elem.clone()));
                let f = self.function(&[("x", &elem)], t);
                build::map(*self.dice.pick(&MAPS), f, xs).expect(TYPED)
            }
            6 => build::reverse(self.term(&ty)).expect(TYPED),
            7 => {
                let f = self.function(&[("i", &DataType::Idx(n.clone()))], t);
                build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).expect(TYPED)
            }
            8 => {
                let more = DataType::array(n.clone() + one, t.clone());
                build::take(n.clone(), self.term(&more)).expect(TYPED)
            }
            9 => {
                let more = DataType::array(n.clone() + one.clone(), t.clone());
                build::drop_first(one, self.term(&more)).expect(TYPED)
            }
            10 => {
                let elem = self.data_type(1, true);
                let xs = self.term(&DataType::array(n.clone(), elem.clone()));
                let init = self.term(t);
                let f = self.function(&[("x", &elem), ("acc", t)], t);
                build::reduce(Prim::ScanSeq, f, init, xs).expect(TYPED)
            }
            11 => build::apply(Prim::Copy, vec![Arg::Term(self.term(&ty))]).expect(TYPED),
            12..=15 => self.rearranged(n, t),
            16 => self.backwards(n, &ty),
            17 => {
                let base = DataType::array(n.clone(), t.clone());
                let (value, xs) = (self.term(t), self.term(&base));
                let padded = build::pad(one.clone(), 0.into(), value, xs).expect(TYPED);
                build::drop_first(one, padded).expect(TYPED)
            }
            18 => match (t, n.as_constant()) {
                (DataType::Scalar(Scalar::I64), _) => {
                    build::apply(Prim::Iota, vec![Arg::Size(n.clone())]).expect(TYPED)
                }
                (_, Some(c)) if c >= 2 => {
                    let (a, b) =
                        (DataType::array(1.into(), t.clone()), DataType::array((c - 1).into(), t.clone()));
                    let (a, b) = (self.term(&a), self.term(&b));
                    build::concat(a, b).expect(TYPED)
                }
                _ => self.anything(&ty),
            },
            _ => {
                let other = self.data_type(1, false);
                let pairs = DataType::array(n.clone(), DataType::pair(t.clone(), other));
                build::fst(build::unzip(self.term(&pairs)).expect(TYPED)).expect(TYPED)
            }
        }
    }

    /// An array of joined, turned or split rows, or of pairs.
    fn rearranged(&mut self, n: &Size, t: &DataType) -> Term {
        let ty = DataType::array(n.clone(), t.clone());
        match self.dice.below(2) {
            0 => match (t, n.as_constant()) {
                (_, Some(4)) => {
                    let rows = DataType::array(2.into(), DataType::array(2.into(), t.clone()));
                    build::join(self.term(&rows)).expect(TYPED)
                }
                (DataType::Array(m, e), _) => {
                    let turned = DataType::array(m.clone(), DataType::array(n.clone(), (**e).clone()));
                    build::transpose(self.term(&turned)).expect(TYPED)
                }
                _ => build::reverse(self.term(&ty)).expect(TYPED),
            },
            _ => match t {
                DataType::Array(m, e) if m.as_constant() != Some(0) => {
                    let flat = DataType::array(n.clone() * m.clone(), (**e).clone());
                    let args = vec![Arg::Size(m.clone()), Arg::Term(self.term(&flat))];
                    build::apply_as(Prim::Split, args, &ty).expect(TYPED)
                }
                DataType::Pair(a, b) => {
                    let (a, b) = (
                        DataType::array(n.clone(), (**a).clone()),
                        DataType::array(n.clone(), (**b).clone()),
                    );
                    let (a, b) = (self.term(&a), self.term(&b));
                    build::zip(a, b).expect(TYPED)
                }
                _ => self.anything(&ty),
            },
        }
    }

    /// An array in reverse order, by its subscripts.
    fn backwards(&mut self, n: &Size, ty: &DataType) -> Term {
        let f = {
            let last = build::apply(Prim::IdxPred, vec![Arg::Size(n.clone())]).expect(TYPED);
            self.supply
                .lambda1("i", DataType::Idx(n.clone()), |_, i| {
                    build::apply(Prim::SubIdx, vec![Arg::Term(last), Arg::Term(i)])
                })
                .expect(TYPED)
        };
        build::apply(Prim::Reorder, vec![Arg::Fun(f), Arg::Term(self.term(ty))]).expect(TYPED)
    }
}

/// Whether values of the type lie in one tensor.
fn is_flat(ty: &DataType) -> bool {
    match ty {
        DataType::Scalar(_) | DataType::Idx(_) => true,
        DataType::Pair(a, b) => is_flat(a) && is_flat(b),
        DataType::Array(..) | DataType::Vector(..) => false,
    }
}
