//! Random well-typed programs: the translation, in both modes, computes what the evaluator says,
//! races nowhere, and every step has its types.
//!
//! `DPIA_CASES=10000` runs more than the usual number.
mod support;

use dpia::{Mode, translate, typecheck};
use functional::build::{self, Supply};
use functional::facts::SizeFacts;
use functional::term::{Arg, Binder, Definition, Lambda, Term};
use functional::{DataType, Prim};
use loops::{Scalar, Size};
use support::run::{Outcome, Random, choices, compare};

struct Gen {
    random: Random,
    supply: Supply,
    scope: Vec<Binder>,
    /// Terms left before only the simplest are made.
    budget: u32,
}

fn num() -> DataType {
    DataType::Scalar(Scalar::F32)
}

fn lanes() -> DataType {
    DataType::Vector(2.into(), Scalar::F32)
}

impl Gen {
    fn below(&mut self, n: usize) -> usize {
        self.random.next() as usize % n
    }

    fn size(&mut self) -> Size {
        match self.below(5) {
            0 => Size::constant(2),
            1 => Size::constant(3),
            2 => Size::param("m"),
            _ => Size::param("n"),
        }
    }

    fn ty(&mut self, depth: u32) -> DataType {
        if self.below(8) == 0 {
            return lanes();
        }
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 | 1 => num(),
            2 => {
                let first = self.ty(depth - 1);
                DataType::pair(first, self.ty(depth - 1))
            }
            _ => {
                let n = self.size();
                DataType::array(n, self.ty(depth - 1))
            }
        }
    }

    fn lambda(&mut self, params: &[DataType], result: &DataType) -> Lambda {
        let names = ["x", "a"];
        let binders: Vec<Binder> =
            params.iter().enumerate().map(|(k, t)| self.supply.binder(names[k], t.clone())).collect();
        let depth = self.scope.len();
        self.scope.extend(binders.iter().cloned());
        let body = self.term(result);
        self.scope.truncate(depth);
        Lambda { params: binders, body }
    }

    fn term(&mut self, ty: &DataType) -> Term {
        self.budget = self.budget.saturating_sub(1);
        let known: Vec<Binder> = self.scope.iter().filter(|b| b.ty == *ty).cloned().collect();
        if !known.is_empty() && (self.budget == 0 || self.below(4) == 0) {
            // Late variables are the interesting ones: accumulators and elements.
            let k = known.len() - 1 - self.below(known.len()).min(self.below(known.len()));
            return build::var(&known[k]);
        }
        if self.budget == 0 {
            return self.simplest(ty);
        }
        match self.below(12) {
            0 => {
                let of = self.ty(2);
                let value = self.term(&of);
                let binder = self.supply.binder("v", of);
                self.scope.push(binder.clone());
                let body = self.term(ty);
                self.scope.pop();
                build::let_in(binder, value, body).unwrap()
            }
            1 => {
                let other = self.ty(1);
                if self.below(2) == 0 {
                    build::fst(self.term(&DataType::pair(ty.clone(), other))).unwrap()
                } else {
                    build::snd(self.term(&DataType::pair(other, ty.clone()))).unwrap()
                }
            }
            2 => {
                let cond = {
                    let (a, b) = (self.term(&num()), self.term(&num()));
                    build::apply(Prim::Lt, vec![Arg::Term(a), Arg::Term(b)]).unwrap()
                };
                let (yes, no) = (self.term(ty), self.term(ty));
                build::apply(Prim::Select, vec![Arg::Term(cond), Arg::Term(yes), Arg::Term(no)]).unwrap()
            }
            3 | 4 => {
                let (n, elem) = (self.size(), self.ty(1));
                let f = self.lambda(&[elem.clone(), ty.clone()], ty);
                let init = self.term(ty);
                let xs = self.term(&DataType::array(n, elem));
                let prim = [Prim::ReduceSeq, Prim::ReduceSeq, Prim::ReduceUnroll][self.below(3)];
                build::reduce(prim, f, init, xs).unwrap()
            }
            5 => {
                let f = self.lambda(std::slice::from_ref(ty), ty);
                let init = self.term(ty);
                let k = Size::constant(self.below(4) as i64);
                build::apply(Prim::Iterate, vec![Arg::Size(k), Arg::Fun(f), Arg::Term(init)]).unwrap()
            }
            6 => {
                let n = Size::constant(2 + self.below(2) as i64);
                let xs = self.term(&DataType::array(n.clone(), ty.clone()));
                let i = build::index(Size::constant(self.below(2) as i64), n);
                build::at(xs, i).unwrap()
            }
            7 => build::to_mem(self.term(ty)).unwrap(),
            _ => self.constructed(ty),
        }
    }

    fn constructed(&mut self, ty: &DataType) -> Term {
        match ty {
            DataType::Pair(a, b) => {
                let first = self.term(a);
                build::pair(first, self.term(b)).unwrap()
            }
            DataType::Array(n, elem) => self.array(n, elem),
            DataType::Vector(k, _) if self.below(3) == 0 => {
                let x = self.term(&num());
                build::splat(k.clone(), x).unwrap()
            }
            _ => {
                let (a, b) = (self.term(ty), self.term(ty));
                let prim = [Prim::Add, Prim::Sub, Prim::Mul, Prim::Max, Prim::Min][self.below(5)];
                build::apply(prim, vec![Arg::Term(a), Arg::Term(b)]).unwrap()
            }
        }
    }

    fn array(&mut self, n: &Size, elem: &DataType) -> Term {
        let ty = DataType::array(n.clone(), elem.clone());
        match self.below(17) {
            0..=3 => {
                let from = self.ty(1);
                let f = self.lambda(std::slice::from_ref(&from), elem);
                let xs = self.term(&DataType::array(n.clone(), from));
                let prim =
                    [Prim::MapSeq, Prim::MapPar, Prim::MapPar, Prim::MapVec, Prim::MapUnroll][self.below(5)];
                build::map(prim, f, xs).unwrap()
            }
            4 => {
                let f = self.lambda(&[DataType::Idx(n.clone())], elem);
                build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).unwrap()
            }
            5 => {
                let from = self.ty(1);
                let f = self.lambda(&[from.clone(), elem.clone()], elem);
                let init = self.term(elem);
                build::reduce(Prim::ScanSeq, f, init, self.term(&DataType::array(n.clone(), from))).unwrap()
            }
            6 => {
                let prim = [Prim::Reverse, Prim::ReverseSeq, Prim::Copy, Prim::CopySeq][self.below(4)];
                build::apply(prim, vec![Arg::Term(self.term(&ty))]).unwrap()
            }
            7 => match elem {
                DataType::Array(m, t) => {
                    let turned = DataType::array(m.clone(), DataType::array(n.clone(), (**t).clone()));
                    let prim = [Prim::Transpose, Prim::TransPar][self.below(2)];
                    build::apply(prim, vec![Arg::Term(self.term(&turned))]).unwrap()
                }
                DataType::Pair(a, b) => {
                    let first = self.term(&DataType::array(n.clone(), (**a).clone()));
                    build::zip(first, self.term(&DataType::array(n.clone(), (**b).clone()))).unwrap()
                }
                _ => self.term(&ty),
            },
            8 => match elem {
                DataType::Vector(k, s) => {
                    let flat = DataType::array(k.clone() * n.clone(), (*s).into());
                    build::as_vector(k.clone(), self.term(&flat)).unwrap()
                }
                DataType::Scalar(Scalar::F32) if self.below(2) == 0 => {
                    let vectors = self.term(&DataType::array(n.clone(), lanes()));
                    let numbers = build::as_scalar(vectors).unwrap();
                    build::take(n.clone(), numbers).unwrap_or_else(|_| self.simplest(&ty))
                }
                DataType::Array(k, t) => {
                    let flat = DataType::array(k.clone() * n.clone(), (**t).clone());
                    build::split(k.clone(), self.term(&flat)).unwrap()
                }
                _ => self.term(&ty),
            },
            9 => {
                // Blocks of two or three, glued.
                let k = Size::constant(2 + self.below(2) as i64);
                let blocks = DataType::array(n.clone(), DataType::array(k.clone(), elem.clone()));
                let glued = build::join(self.term(&blocks)).unwrap();
                build::take(n.clone(), glued).unwrap_or_else(|_| self.simplest(&ty))
            }
            10 => {
                let back = Size::constant(1 + self.below(2) as i64);
                let longer = DataType::array(n.clone() + back.clone(), elem.clone());
                build::drop_first(back, self.term(&longer)).unwrap_or_else(|_| self.simplest(&ty))
            }
            11 => {
                let value = self.term(elem);
                let longer = build::pad(1.into(), 1.into(), value, self.term(&ty)).unwrap();
                let windows = build::slide(2.into(), 1.into(), longer);
                let Ok(windows) = windows else { return self.simplest(&ty) };
                let window = DataType::array(2.into(), elem.clone());
                let f = self.lambda(&[window], elem);
                let mapped = build::map(Prim::MapPar, f, windows).unwrap();
                build::take(n.clone(), mapped).unwrap_or_else(|_| self.simplest(&ty))
            }
            12 => {
                let (a, b) = (self.term(&ty), self.term(&DataType::array(2.into(), elem.clone())));
                let both =
                    if self.below(2) == 0 { build::concat(b, a) } else { build::concat(a, b) }.unwrap();
                if self.below(2) == 0 {
                    build::take(n.clone(), both).unwrap_or_else(|_| self.simplest(&ty))
                } else {
                    build::drop_first(2, both).unwrap_or_else(|_| self.simplest(&ty))
                }
            }
            13 => {
                let m = self.size();
                let i = self.supply.binder("i", DataType::Idx(n.clone()));
                let place = build::apply(Prim::ToI64, vec![Arg::Term(build::var(&i))]).unwrap();
                let place = build::apply(Prim::ToIdx, vec![Arg::Size(m.clone()), Arg::Term(place)]).unwrap();
                let f = Lambda { params: vec![i], body: place };
                let is = build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).unwrap();
                let xs = self.term(&DataType::array(m, elem.clone()));
                build::apply(Prim::Gather, vec![Arg::Term(is), Arg::Term(xs)]).unwrap()
            }
            15 => {
                // Later elements win; all of them land inside.
                let m = self.size();
                let i = self.supply.binder("i", DataType::Idx(m.clone()));
                let place = build::apply(Prim::ToI64, vec![Arg::Term(build::var(&i))]).unwrap();
                let place = build::apply(Prim::ToIdx, vec![Arg::Size(n.clone()), Arg::Term(place)]).unwrap();
                let f = Lambda { params: vec![i], body: place };
                let is = build::apply(Prim::Generate, vec![Arg::Size(m.clone()), Arg::Fun(f)]).unwrap();
                let base = self.term(&ty);
                let xs = self.term(&DataType::array(m, elem.clone()));
                build::apply(Prim::Scatter, vec![Arg::Term(is), Arg::Term(base), Arg::Term(xs)]).unwrap()
            }
            14 => {
                let half = DataType::pair(elem.clone(), num());
                let unzipped = build::unzip(self.term(&DataType::array(n.clone(), half))).unwrap();
                build::fst(unzipped).unwrap()
            }
            _ => self.simplest(&ty),
        }
    }

    fn simplest(&mut self, ty: &DataType) -> Term {
        match ty {
            DataType::Pair(a, b) => {
                let first = self.simplest(a);
                build::pair(first, self.simplest(b)).unwrap()
            }
            DataType::Array(n, elem) => {
                let i = self.supply.binder("i", DataType::Idx(n.clone()));
                let body = self.simplest(elem);
                let f = Lambda { params: vec![i], body };
                build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).unwrap()
            }
            DataType::Scalar(s) => build::number(*s, self.below(5) as i32 - 2),
            DataType::Idx(n) => build::index(Size::constant(0), n.clone()),
            DataType::Vector(n, s) => build::splat(n.clone(), build::number(*s, 1)).unwrap(),
        }
    }
}

fn program(seed: u64) -> Definition {
    let mut g = Gen { random: Random(seed), supply: Supply::new(), scope: Vec::new(), budget: 0 };
    g.random.next();
    let n = || Size::param("n");
    let types = [
        num(),
        DataType::array(n(), num()),
        DataType::array(Size::param("m"), DataType::array(n(), num())),
        DataType::array(n(), DataType::pair(num(), num())),
        DataType::array(2.into(), DataType::pair(num(), DataType::array(n(), num()))),
    ];
    let names = ["k", "xs", "rows", "pairs", "mixed"];
    let params: Vec<Binder> = names.iter().zip(types).map(|(name, ty)| g.supply.binder(name, ty)).collect();
    g.scope = params.clone();
    g.budget = 4 + (seed % 30) as u32;
    let ty = g.ty(2);
    let body = g.term(&ty);
    support::definition("random", &["m", "n"], params, body)
}

fn check(seed: u64) -> Result<u32, String> {
    let d = program(seed);
    if let Err(error) = functional::check(&d) {
        return Err(format!("the generator is wrong: {error}"));
    }
    let mut runs = 0;
    for mode in [Mode::Default, Mode::Paper] {
        if std::env::var("DPIA_SHOW").is_ok() {
            eprintln!("translate {mode:?}");
        }
        let t = match translate(&d, mode) {
            Ok(t) => t,
            Err(error) if error.code.0 == "D0105" => continue,
            Err(error) => return Err(format!("{mode:?}: {error} {:?}", error.labels)),
        };
        if std::env::var("DPIA_SHOW").is_ok() {
            eprintln!("translated {}", t.commands());
        }
        support::run::validate(&t)
            .map_err(|why| format!("{mode:?}: {why}\n{}", support::program(vec![t.function.clone()])))?;
        let facts = SizeFacts::of(&d);
        for step in &t.derivation.steps {
            for side in [&step.before, &step.after] {
                typecheck::check(side, &t.derivation.bindings, &facts)
                    .map_err(|why| format!("{mode:?}: step {}: {why}", step.rule))?;
            }
        }
        for (k, sizes) in choices(&d, seed, 2).into_iter().enumerate() {
            if sizes.values().any(|v| *v > 5) {
                continue;
            }
            match compare(&d, &t, &sizes, seed + k as u64, 0.0) {
                Outcome::Same => runs += 1,
                Outcome::Undefined => {}
                Outcome::Differs(why) => {
                    let text = support::program(vec![t.function]);
                    return Err(format!("{mode:?} at {sizes:?}: {why}\n{text}"));
                }
            }
        }
    }
    Ok(runs)
}

#[test]
fn random_programs_mean_the_same() {
    let cases = std::env::var("DPIA_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(400);
    let first = std::env::var("DPIA_SEED").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut runs = 0;
    let mut failures = Vec::new();
    for seed in first..first + cases {
        if std::env::var("DPIA_SHOW").is_ok() {
            eprintln!("{seed}");
        }
        match check(seed) {
            Ok(count) => runs += count,
            Err(why) => failures.push(format!("seed {seed}: {why}")),
        }
        if failures.len() >= 3 {
            break;
        }
    }
    failures.sort_by_key(String::len);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(u64::from(runs) > cases, "only {runs} runs had a result");
}
