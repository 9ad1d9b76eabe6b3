//! Random well-typed programs.

use functional::build::{self, Supply};
use functional::eval::Value;
use functional::{Arg, DataType, Definition, Lambda, Prim, Term};
use loops::{Data, Name, Scalar, Size, Tensor};

/// The product of two matrices of `f64`, plainly: rows by columns.
pub fn product(s: &mut Supply, a: Term, b: Term) -> Term {
    let f64 = DataType::Scalar(Scalar::F64);
    let DataType::Array(_, row) = a.ty().clone() else { panic!("a matrix") };
    let columns = build::transpose(b).unwrap();
    let DataType::Array(_, column) = columns.ty().clone() else { panic!("a matrix") };
    let rows = s
        .lambda1("row", *row, |s, row| {
            let dots = s.lambda1("column", *column, |s, column| {
                let pair = DataType::pair(f64.clone(), f64.clone());
                let times =
                    s.lambda1("p", pair, |_, p| build::mul(build::fst(p.clone())?, build::snd(p)?))?;
                let plus = s.lambda2(("x", f64.clone()), ("a", f64.clone()), |_, x, a| build::add(x, a))?;
                let products = build::map(Prim::Map, times, build::zip(row.clone(), column)?)?;
                build::reduce(Prim::Reduce, plus, build::number(Scalar::F64, 0), products)
            })?;
            build::map(Prim::Map, dots, columns.clone())
        })
        .unwrap();
    build::map(Prim::Map, rows, a).unwrap()
}

/// A source of random choices.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Makes random well-typed terms whose evaluation cannot fail.
pub struct Maker {
    pub dice: Dice,
    pub supply: Supply,
    /// Variables in scope.
    pub scope: Vec<Term>,
    /// Size parameters and their values.
    pub sizes: Vec<(Name, i64)>,
    /// Nodes that may still be made.
    pub fuel: u32,
}

const MAPS: [Prim; 6] = [Prim::Map, Prim::Map, Prim::Map, Prim::MapSeq, Prim::MapPar, Prim::MapUnroll];

impl Maker {
    pub fn new(seed: u64, fuel: u32) -> Maker {
        let mut dice = Dice::new(seed);
        let sizes = vec![("m".into(), dice.below(4) as i64), ("n".into(), dice.below(6) as i64)];
        Maker { dice, supply: Supply::new(), scope: Vec::new(), sizes, fuel }
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
            args.push(self.value(&ty));
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

    pub fn size(&mut self) -> Size {
        let (m, n) = (Size::param("m"), Size::param("n"));
        match self.dice.below(9) {
            0 | 1 => m,
            2..=4 => n,
            5 => Size::constant(2) * m,
            6 => n + Size::constant(1),
            7 => Size::constant(4),
            _ => Size::constant(self.dice.below(4) as i64),
        }
    }

    fn eval_size(&self, size: &Size) -> usize {
        let value_of = |name: &Name| self.sizes.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
        usize::try_from(size.eval(&value_of).unwrap()).unwrap()
    }

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
            ])),
        }
    }

    /// A value of the type; the numbers are such that rounding and signed zeros show.
    pub fn value(&mut self, ty: &DataType) -> Value {
        let (mut shape, mut inner) = (Vec::new(), ty);
        while let DataType::Array(n, t) = inner {
            shape.push(self.eval_size(n));
            inner = t;
        }
        let count = shape.iter().product();
        let DataType::Scalar(scalar) = inner else { panic!("arguments are arrays of numbers, not {inner}") };
        let mut float = || match self.dice.below(8) {
            0 => -0.0,
            1 => 0.0,
            _ => (self.dice.below(2001) as f64 - 1000.0) / 7.0,
        };
        let data = match scalar {
            Scalar::F64 => Data::F64((0..count).map(|_| float()).collect()),
            Scalar::F32 => Data::F32((0..count).map(|_| float() as f32).collect()),
            Scalar::I64 => Data::I64((0..count).map(|_| float() as i64).collect()),
            Scalar::I32 => Data::I32((0..count).map(|_| float() as i32).collect()),
            Scalar::Bool => Data::Bool((0..count).map(|_| float() < 0.0).collect()),
            other => panic!("functional programs have no numbers of type {other}"),
        };
        Value::Tensor(Tensor { shape, data })
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
                build::pair(a, b).unwrap()
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
                build::let_in(binder, value, body).unwrap()
            }
            1 => {
                let (c, a, b) = (self.condition(), self.term(ty), self.term(ty));
                build::apply(Prim::Select, vec![Arg::Term(c), Arg::Term(a), Arg::Term(b)]).unwrap()
            }
            2 => {
                let other = self.data_type(0, false);
                let (a, b) = (self.term(ty), self.term(&other));
                if self.dice.below(2) == 0 {
                    build::fst(build::pair(a, b).unwrap()).unwrap()
                } else {
                    build::snd(build::pair(b, a).unwrap()).unwrap()
                }
            }
            3 => self.reduction(ty),
            _ => build::to_mem(self.term(ty)).unwrap(),
        }
    }

    fn leaf(&mut self, ty: &DataType) -> Term {
        match ty {
            DataType::Scalar(s) => build::number(*s, self.dice.below(3) as i32),
            DataType::Idx(_) | DataType::Vector(..) => panic!("no leaf of type {ty}"),
            DataType::Pair(a, b) => build::pair(self.leaf(a), self.leaf(b)).unwrap(),
            DataType::Array(n, t) => {
                let value = self.leaf(t);
                let f = self.supply.lambda1("i", DataType::Idx(n.clone()), |_, _| Ok(value)).unwrap();
                build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).unwrap()
            }
        }
    }

    fn condition(&mut self) -> Term {
        let (a, b) = (self.term(&DataType::Scalar(Scalar::F64)), self.term(&DataType::Scalar(Scalar::F64)));
        build::apply(Prim::Lt, vec![Arg::Term(a), Arg::Term(b)]).unwrap()
    }

    fn scalar(&mut self, s: Scalar) -> Term {
        let ty = DataType::Scalar(s);
        if self.fuel == 0 {
            return self.leaf(&ty);
        }
        match self.dice.below(10) {
            0 => self.leaf(&ty),
            1 => build::apply(Prim::Neg, vec![Arg::Term(self.term(&ty))]).unwrap(),
            2 => self.anything(&ty),
            3 | 4 => self.reduction(&ty),
            5 => {
                let other = DataType::Scalar(*self.dice.pick(&[Scalar::F64, Scalar::I64, Scalar::F32]));
                let prim = match s {
                    Scalar::F64 => Prim::ToF64,
                    Scalar::F32 => Prim::ToF32,
                    Scalar::I64 => Prim::ToI64,
                    _ => Prim::ToI32,
                };
                build::apply(prim, vec![Arg::Term(self.term(&other))]).unwrap()
            }
            _ => {
                let prim =
                    *self.dice.pick(&[Prim::Add, Prim::Mul, Prim::Sub, Prim::Min, Prim::Max, Prim::Add]);
                let (a, b) = (self.term(&ty), self.term(&ty));
                build::apply(prim, vec![Arg::Term(a), Arg::Term(b)]).unwrap()
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
        build::reduce(prim, f, init, xs).unwrap()
    }

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
                build::map(*self.dice.pick(&MAPS), f, xs).unwrap()
            }
            6 => build::reverse(self.term(&ty)).unwrap(),
            7 => {
                let f = self.function(&[("i", &DataType::Idx(n.clone()))], t);
                build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).unwrap()
            }
            8 => {
                let more = DataType::array(n.clone() + one, t.clone());
                build::take(n.clone(), self.term(&more)).unwrap()
            }
            9 => {
                let more = DataType::array(n.clone() + one.clone(), t.clone());
                build::drop_first(one, self.term(&more)).unwrap()
            }
            10 => {
                let elem = self.data_type(1, true);
                let xs = self.term(&DataType::array(n.clone(), elem.clone()));
                let init = self.term(t);
                let f = self.function(&[("x", &elem), ("acc", t)], t);
                build::reduce(Prim::ScanSeq, f, init, xs).unwrap()
            }
            11 => build::apply(Prim::Copy, vec![Arg::Term(self.term(&ty))]).unwrap(),
            12 | 13 => match (t, n.as_constant()) {
                (_, Some(4)) => {
                    let rows = DataType::array(2.into(), DataType::array(2.into(), t.clone()));
                    build::join(self.term(&rows)).unwrap()
                }
                (DataType::Array(m, e), _) => {
                    let turned = DataType::array(m.clone(), DataType::array(n.clone(), (**e).clone()));
                    build::transpose(self.term(&turned)).unwrap()
                }
                _ => build::reverse(self.term(&ty)).unwrap(),
            },
            14 | 15 => match t {
                DataType::Array(m, e) if m.as_constant() != Some(0) => {
                    let flat = DataType::array(n.clone() * m.clone(), (**e).clone());
                    let args = vec![Arg::Size(m.clone()), Arg::Term(self.term(&flat))];
                    build::apply_as(Prim::Split, args, &ty).unwrap()
                }
                DataType::Pair(a, b) => {
                    let (a, b) = (
                        DataType::array(n.clone(), (**a).clone()),
                        DataType::array(n.clone(), (**b).clone()),
                    );
                    let (a, b) = (self.term(&a), self.term(&b));
                    build::zip(a, b).unwrap()
                }
                _ => self.anything(&ty),
            },
            16 => {
                let rest = DataType::array(n.clone(), t.clone());
                let f = {
                    let last = build::apply(Prim::IdxPred, vec![Arg::Size(n.clone())]).unwrap();
                    self.supply
                        .lambda1("i", DataType::Idx(n.clone()), |_, i| {
                            build::apply(Prim::SubIdx, vec![Arg::Term(last), Arg::Term(i)])
                        })
                        .unwrap()
                };
                build::apply(Prim::Reorder, vec![Arg::Fun(f), Arg::Term(self.term(&rest))]).unwrap()
            }
            17 => {
                let base = DataType::array(n.clone(), t.clone());
                let (value, xs) = (self.term(t), self.term(&base));
                let padded = build::pad(one.clone(), 0.into(), value, xs).unwrap();
                build::drop_first(one, padded).unwrap()
            }
            18 => match (t, n.as_constant()) {
                (DataType::Scalar(Scalar::I64), _) => {
                    build::apply(Prim::Iota, vec![Arg::Size(n.clone())]).unwrap()
                }
                (_, Some(c)) if c >= 2 => {
                    let (a, b) =
                        (DataType::array(1.into(), t.clone()), DataType::array((c - 1).into(), t.clone()));
                    let (a, b) = (self.term(&a), self.term(&b));
                    build::concat(a, b).unwrap()
                }
                _ => self.anything(&ty),
            },
            _ => {
                let other = self.data_type(1, false);
                let pairs = DataType::array(n.clone(), DataType::pair(t.clone(), other));
                build::fst(build::unzip(self.term(&pairs)).unwrap()).unwrap()
            }
        }
    }
}
