//! Exports the functional program as data of a certificate. Every primitive has a case: it is
//! exported, or refused by name.

use std::collections::{BTreeSet, HashMap};

use functional::{Arg, Binder, DataType, Definition, Lambda, Literal, Prim, Term, TermKind};
use loops::{Code, CompareOp, Diagnostic, Scalar, Size};

use super::data::{Exp, Law, Names, Op, Order, Shape, Tm, View};
use super::hints::{Hints, laws};
use super::ops::Kind;
use super::target::Target;
use super::{Result, ops, shape};
use crate::Mode;
use crate::phrase::{element, length, scalar_of};

/// Nodes of a program. Shared terms are written out where they are used, which can multiply them.
const NODE_LIMIT: usize = 200_000;

/// Exports one definition.
pub(super) struct Source<'a> {
    hints: Hints,
    sizes: &'a Target,
    next: u32,
    numbers: HashMap<u32, u32>,
    params: HashMap<u32, Exp>,
    /// What `let` variables stand for, to see through them where a hint about the loops is wanted.
    values: HashMap<u32, Term>,
    nodes: usize,
    pub names: Names,
    /// Whether an index becomes data.
    pub wraps: bool,
    /// What the orders of reductions need of operations.
    pub laws: BTreeSet<Law>,
    /// The next reduction is that of the rows of a joined one, which has no order of its own.
    row: bool,
}

impl<'a> Source<'a> {
    /// `params` are the parameters, as their arrays' numbers; variables get numbers from `next` up.
    pub fn new(
        definition: &Definition,
        hints: Hints,
        sizes: &'a Target,
        params: Vec<Exp>,
        next: u32,
    ) -> Source<'a> {
        let ids = definition.params.iter().map(|p| p.var.id);
        let params = ids.zip(params).collect();
        Source {
            hints,
            sizes,
            next,
            numbers: HashMap::new(),
            params,
            values: HashMap::new(),
            nodes: 0,
            names: Names::default(),
            wraps: false,
            laws: BTreeSet::new(),
            row: false,
        }
    }

    /// A term.
    pub fn exp(&mut self, term: &Term) -> Result<Exp> {
        self.nodes += 1;
        if self.nodes > NODE_LIMIT {
            return Err(refused(term, "a program of this size, with every shared part written out,"));
        }
        match term.kind() {
            TermKind::Var(var) => match (self.numbers.get(&var.id), self.params.get(&var.id)) {
                (Some(number), _) => Ok(Exp::Var(*number)),
                (None, Some(param)) => Ok(param.clone()),
                (None, None) => {
                    Err(refused(term, &format!("the variable `{}`, which nothing binds,", var.name)))
                }
            },
            TermKind::Literal(literal) => Ok(match *literal {
                Literal::F32(bits) => ops::single(f32::from_bits(bits).into()),
                Literal::F64(bits) => ops::double(f64::from_bits(bits).into()),
                Literal::I32(value) => ops::word(value),
                Literal::I64(value) => Exp::Size(Tm::Int(value)),
                Literal::Integer(to, value) => ops::integer(to, value),
                Literal::Bool(value) => ops::truth(value),
            }),
            TermKind::Size(size) => {
                let size = self.size(size)?;
                let data = matches!(term.ty(), DataType::Scalar(_)) && !matches!(size, Tm::Int(_));
                Ok(if data { self.data(Exp::Size(size)) } else { Exp::Size(size) })
            }
            TermKind::Let(binder, value, body) => {
                let exported = self.exp(value)?;
                self.values.insert(binder.var.id, value.clone());
                let (x, body) = self.bound(binder, |s| s.exp(body))?;
                Ok(Exp::Let(x, Box::new([exported, body])))
            }
            TermKind::Prim(prim, args) => self.prim(term, *prim, args),
        }
    }

    /// The value of an index as data.
    fn data(&mut self, index: Exp) -> Exp {
        self.wraps = true;
        ops::cast(Scalar::I64, Kind::Index, index)
    }

    fn size(&self, size: &Size) -> Result<Tm> {
        self.sizes.size(size)
    }

    /// A number for a variable, and what is made of its scope.
    fn bound<T>(&mut self, binder: &Binder, scope: impl FnOnce(&mut Self) -> Result<T>) -> Result<(u32, T)> {
        let number = self.next;
        self.next += 1;
        self.names.variables.push((number, binder.var.name.to_string()));
        let before = self.numbers.insert(binder.var.id, number);
        let result = scope(self)?;
        if let Some(before) = before {
            self.numbers.insert(binder.var.id, before);
        }
        Ok((number, result))
    }

    fn function(&mut self, at: &Term, f: &Lambda) -> Result<(u32, Exp)> {
        match &f.params[..] {
            [x] => self.bound(x, |s| s.exp(&f.body)),
            _ => Err(malformed(at)),
        }
    }

    /// Element, accumulator, and the function.
    fn folding(&mut self, at: &Term, f: &Lambda) -> Result<([u32; 2], Exp)> {
        let [x, a] = &f.params[..] else { return Err(malformed(at)) };
        let (x, (a, body)) = self.bound(x, |s| s.bound(a, |s| s.exp(&f.body)))?;
        Ok(([x, a], body))
    }

    fn two(&mut self, a: &Term, b: &Term) -> Result<Box<[Exp; 2]>> {
        let a = self.exp(a)?;
        Ok(Box::new([a, self.exp(b)?]))
    }

    fn view(&mut self, view: View, e: &Term) -> Result<Exp> {
        Ok(Exp::View(view, Box::new(self.exp(e)?)))
    }

    fn shape(&self, of: &Term) -> Result<Shape> {
        shape(self.sizes, of.ty())
    }

    /// The length of an array.
    fn length(&self, of: &Term) -> Result<Tm> {
        match length(of.ty()) {
            Some(n) => self.size(n),
            None => Err(malformed(of)),
        }
    }

    fn prim(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        match prim {
            Prim::Neg
            | Prim::Abs
            | Prim::Sqrt
            | Prim::Exp
            | Prim::Log
            | Prim::Tanh
            | Prim::Sin
            | Prim::Cos
            | Prim::Atan
            | Prim::Tan
            | Prim::Asin
            | Prim::Acos
            | Prim::Sinh
            | Prim::Cosh
            | Prim::Exp2
            | Prim::Expm1
            | Prim::Log2
            | Prim::Log10
            | Prim::Log1p
            | Prim::Trunc
            | Prim::Floor
            | Prim::Ceil
            | Prim::Round
            | Prim::Bits32
            | Prim::Bits64
            | Prim::Float32
            | Prim::Float64
            | Prim::Not => self.unary(term, prim, args),
            Prim::Add
            | Prim::Sub
            | Prim::Mul
            | Prim::Div
            | Prim::Mod
            | Prim::Min
            | Prim::Max
            | Prim::Pow
            | Prim::Atan2
            | Prim::Hypot
            | Prim::Fmod
            | Prim::BitAnd
            | Prim::BitOr
            | Prim::BitXor
            | Prim::ShiftLeft
            | Prim::ShiftRight
            | Prim::And
            | Prim::Or
            | Prim::AddIdx
            | Prim::SubIdx
            | Prim::MulIdx => self.binary(term, prim, args),
            Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => {
                self.comparison(term, prim, args)
            }
            Prim::Select => {
                let [Arg::Term(c), Arg::Term(a), Arg::Term(b)] = args else { return Err(malformed(term)) };
                let (c, a) = (self.exp(c)?, self.exp(a)?);
                Ok(Exp::Select(Box::new([c, a, self.exp(b)?])))
            }
            Prim::Zero | Prim::One => {
                let value = i32::from(prim == Prim::One);
                Ok(ops::constant(numbers_of(term)?, value))
            }
            Prim::ToF32
            | Prim::ToF64
            | Prim::ToI32
            | Prim::ToI64
            | Prim::ToI8
            | Prim::ToU8
            | Prim::ToI16
            | Prim::ToU16
            | Prim::ToF16
            | Prim::ToU32
            | Prim::ToU64 => {
                let [Arg::Term(a)] = args else { return Err(malformed(term)) };
                let (to, from) = (numbers_of(term)?, kind_of(a)?);
                self.wraps |= from == Kind::Index;
                Ok(ops::cast(to, from, self.exp(a)?))
            }
            // No `_` here, so that a new primitive does not compile until it says how it is
            // exported.
            Prim::Pair
            | Prim::Zip
            | Prim::Fst
            | Prim::Snd
            | Prim::Map
            | Prim::MapSeq
            | Prim::MapPar
            | Prim::MapVec
            | Prim::MapUnroll
            | Prim::Reduce
            | Prim::ReduceSeq
            | Prim::ReduceUnroll
            | Prim::ScanSeq
            | Prim::ReduceByIndex
            | Prim::ScanPar
            | Prim::ReduceByIndexPar
            | Prim::Iterate
            | Prim::Generate
            | Prim::Iota
            | Prim::Unzip
            | Prim::Copy
            | Prim::CopySeq
            | Prim::ToMem
            | Prim::Take
            | Prim::Split
            | Prim::AsVector
            | Prim::Join
            | Prim::AsScalar
            | Prim::Transpose
            | Prim::TransPar
            | Prim::Reverse
            | Prim::ReverseSeq
            | Prim::Slide
            | Prim::Drop
            | Prim::PadClamp
            | Prim::Splat
            | Prim::Pad
            | Prim::Concat
            | Prim::Gather
            | Prim::Reorder
            | Prim::Index
            | Prim::IdxPred
            | Prim::DivIdx
            | Prim::ToIdx
            | Prim::ReducePar
            | Prim::Scatter => self.structure(term, prim, args),
        }
    }

    fn unary(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        let ([Arg::Term(a)], Some(op)) = (args, prim.unary_operator()) else {
            return Err(malformed(term));
        };
        let kind = kind_of(a)?;
        Ok(ops::unary(op, kind, self.exp(a)?))
    }

    fn binary(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        let [Arg::Term(a), Arg::Term(b)] = args else { return Err(malformed(term)) };
        let kind = kind_of(a)?;
        let op = prim.binary_operator(kind.scalar()).ok_or_else(|| malformed(term))?;
        let a = self.exp(a)?;
        Ok(ops::binary(op, kind, a, self.exp(b)?))
    }

    fn comparison(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        let [Arg::Term(a), Arg::Term(b)] = args else { return Err(malformed(term)) };
        let op = prim.comparison().ok_or_else(|| malformed(term))?;
        let ty = numbers_of(a)?;
        let a = self.exp(a)?;
        Ok(ops::compare(op, ty, a, self.exp(b)?))
    }

    /// Pairs, patterns, indices, and what [`Self::layout`] has.
    fn structure(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        use Arg::{Fun, Size as Of, Term as T};
        match (prim, args) {
            (Prim::Pair | Prim::Zip, [T(a), T(b)]) => Ok(Exp::Pair(self.two(a, b)?)),
            (Prim::Fst, [T(a)]) => Ok(Exp::Fst(Box::new(self.exp(a)?))),
            (Prim::Snd, [T(a)]) => Ok(Exp::Snd(Box::new(self.exp(a)?))),
            (Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll, [Fun(f), T(e)]) => {
                let (x, f) = self.function(term, f)?;
                Ok(Exp::Map(x, Box::new([f, self.exp(e)?])))
            }
            (Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar, [Fun(f), T(i), T(e)]) => {
                let (n, shape) = (self.length(e)?, self.shape(i)?);
                let order = self.order(&n, &shape, f, e)?;
                let (vars, f) = self.folding(term, f)?;
                let i = self.exp(i)?;
                Ok(Exp::Reduce(n, shape, order, vars, Box::new([f, i, self.exp(e)?])))
            }
            (Prim::Scatter, [T(is), T(b), T(e)]) => {
                let (n, shape) = (self.length(e)?, self.shape(b)?);
                let (is, b) = (self.exp(is)?, self.exp(b)?);
                Ok(Exp::Scatter(n, shape, Box::new([is, b, self.exp(e)?])))
            }
            (Prim::ScanSeq, [Fun(f), T(i), T(e)]) => {
                let (n, shape) = (self.length(e)?, self.shape(i)?);
                let (vars, f) = self.folding(term, f)?;
                let i = self.exp(i)?;
                Ok(Exp::Scan(n, shape, vars, Box::new([f, i, self.exp(e)?])))
            }
            (Prim::ReduceByIndex, [Fun(f), T(b), T(is), T(e)]) => self.reduce_by_index(term, f, b, is, e),
            (Prim::Iterate, [Of(k), Fun(f), T(i)]) => {
                let (k, shape) = (self.size(k)?, self.shape(i)?);
                let twice = self.hints.twice(&k);
                let (a, f) = self.function(term, f)?;
                Ok(Exp::Iterate(k, shape, twice, a, Box::new([f, self.exp(i)?])))
            }
            (Prim::Generate, [Of(_), Fun(f)]) => {
                let (x, f) = self.function(term, f)?;
                Ok(Exp::Generate(x, Box::new(f)))
            }
            (Prim::Iota, [Of(_)]) => {
                let x = self.anonymous("i");
                let index = matches!(element(term.ty()), Some(DataType::Idx(_)));
                let value = if index { Exp::Var(x) } else { self.data(Exp::Var(x)) };
                Ok(Exp::Generate(x, Box::new(value)))
            }
            (Prim::Gather, [T(is), T(e)]) => Ok(Exp::Gather(self.two(is, e)?)),
            (Prim::Reorder, [Fun(f), T(e)]) => {
                let (x, f) = self.function(term, f)?;
                Ok(Exp::Reorder(x, Box::new([f, self.exp(e)?])))
            }
            (Prim::Index, [T(e), T(i)]) => Ok(Exp::Idx(self.two(e, i)?)),
            (Prim::IdxPred, [Of(n)]) => Ok(Exp::Size(self.last(n)?)),
            (Prim::DivIdx, [T(a), T(b)]) => {
                let constant =
                    matches!(b.kind(), TermKind::Size(k) if k.as_constant().is_some_and(|k| k != 0));
                let (a, b) = (self.exp(a)?, self.exp(b)?);
                let quotient = Exp::Op(Op::Idiv, vec![a, b.clone()]);
                if constant {
                    return Ok(quotient);
                }
                let by_zero = Exp::Op(Op::Ieq, vec![b, Exp::Size(Tm::Int(0))]);
                Ok(Exp::Select(Box::new([by_zero, Exp::Size(Tm::Int(0)), quotient])))
            }
            (Prim::ToIdx, [Of(n), T(e)]) => {
                // Written as a difference, it is an index and no literal: so is what comes out.
                let last = Exp::Size(Tm::Op(Op::Isub, vec![self.size(n)?, Tm::Int(1)]));
                let low = Exp::Op(Op::Imax, vec![self.exp(e)?, Exp::Size(Tm::Int(0))]);
                Ok(Exp::Op(Op::Imin, vec![low, last]))
            }
            _ => self.layout(term, prim, args),
        }
    }

    /// `reduceByIndex f b is e` as what it says, by a reduction to an array: of a pair of an index
    /// and an element, and the array `d`, the array whose element `j` is `f` of `d[j]` where `j` is
    /// that index, and otherwise `d[j]`; `d` itself where it is no index. (`d[i]` is written with
    /// `i` brought in range, where it is.)
    fn reduce_by_index(&mut self, term: &Term, f: &Lambda, b: &Term, is: &Term, e: &Term) -> Result<Exp> {
        let (n, m, shape) =
            (self.length(is)?, length(b.ty()).ok_or_else(|| malformed(term))?, self.shape(b)?);
        let bound = self.size(m)?;
        let [p, d, j] = ["p", "d", "j"].map(|name| self.anonymous(name));
        let ([x, a], f) = self.folding(term, f)?;
        let index = || Exp::Fst(Box::new(Exp::Var(p)));
        let zero = || Exp::Size(Tm::Int(0));
        let last = Exp::Size(Tm::Op(Op::Isub, vec![bound.clone(), Tm::Int(1)]));
        let nearest = Exp::Op(Op::Imin, vec![Exp::Op(Op::Imax, vec![index(), zero()]), last]);
        let old = Exp::Idx(Box::new([Exp::Var(d), nearest]));
        let next = Exp::Let(a, Box::new([old, f]));
        let next = Exp::Let(x, Box::new([Exp::Snd(Box::new(Exp::Var(p))), next]));
        let here = Exp::Op(Op::Ieq, vec![Exp::Var(j), index()]);
        let kept = Exp::Idx(Box::new([Exp::Var(d), Exp::Var(j)]));
        let one = Exp::Generate(j, Box::new(Exp::Select(Box::new([here, next, kept]))));
        let low = ops::compare(CompareOp::Ge, Scalar::I64, index(), zero());
        let high = ops::compare(CompareOp::Lt, Scalar::I64, index(), Exp::Size(bound));
        let inside = Exp::Op(Op::And, vec![low, high]);
        let step = Exp::Select(Box::new([inside, one, Exp::Var(d)]));
        let b = self.exp(b)?;
        let pairs = Exp::Pair(self.two(is, e)?);
        Ok(Exp::Reduce(n, shape, Order::InOrder, [p, d], Box::new([step, b, pairs])))
    }

    /// A number for a variable that the source does not have.
    fn anonymous(&mut self, name: &str) -> u32 {
        let number = self.next;
        self.next += 1;
        self.names.variables.push((number, name.to_owned()));
        number
    }

    /// Views and copies of arrays.
    fn layout(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<Exp> {
        use Arg::{Size as Of, Term as T};
        match (prim, args) {
            (Prim::Unzip | Prim::Copy | Prim::CopySeq | Prim::ToMem, [T(e)]) => self.exp(e),
            (Prim::Take, [Of(_), T(e)]) => self.exp(e),
            (Prim::Split | Prim::AsVector, [Of(k), T(e)]) => {
                let k = self.size(k)?;
                self.view(View::Split(k), e)
            }
            (Prim::Join | Prim::AsScalar, [T(e)]) => {
                let row = element(e.ty()).ok_or_else(|| malformed(term))?;
                let n = self.size(length(&row).ok_or_else(|| malformed(term))?)?;
                self.view(View::Join(n), e)
            }
            (Prim::Transpose | Prim::TransPar, [T(e)]) => self.view(View::Transpose, e),
            (Prim::Reverse | Prim::ReverseSeq, [T(e)]) => {
                let n = self.length(e)?;
                self.view(View::Reverse(n), e)
            }
            (Prim::Slide, [Of(_), Of(s), T(e)]) => {
                let s = self.size(s)?;
                self.view(View::Slide(s), e)
            }
            (Prim::Drop, [Of(k), T(e)]) => {
                let k = self.size(k)?;
                self.view(View::Drop(k), e)
            }
            (Prim::PadClamp, [Of(l), Of(_), T(e)]) => {
                let (l, n) = (self.size(l)?, self.length(e)?);
                self.view(View::PadClamp(l, n), e)
            }
            (Prim::Splat, [Of(_), T(e)]) => self.view(View::Splat, e),
            (Prim::Pad, [Of(l), Of(_), T(v), T(e)]) => {
                let (l, n) = (self.size(l)?, self.length(e)?);
                Ok(Exp::Pad(l, n, self.two(v, e)?))
            }
            (Prim::Concat, [T(a), T(b)]) => {
                let n = self.length(a)?;
                Ok(Exp::Concat(n, self.two(a, b)?))
            }
            _ => Err(malformed(term)),
        }
    }

    /// `n - 1`
    fn last(&self, n: &Size) -> Result<Tm> {
        self.size(&(n.clone() - Size::constant(1)))
    }

    /// How the loops go through an array of `n` elements. Blocks that are joined in it are loops of
    /// their own. Otherwise hints decide.
    fn order(&mut self, n: &Tm, shape: &Shape, f: &Lambda, e: &Term) -> Result<Order> {
        let sum = matches!(f.body.kind(), TermKind::Prim(Prim::Add, _));
        if std::mem::take(&mut self.row) {
            return Ok(Order::InOrder);
        }
        if sum
            && self.hints.joins
            && let Some(m) = sums_of_rows(e)
        {
            let (m, ty) = (self.size(m)?, numbers_of(&f.body)?);
            let all = Tm::Op(Op::Imul, vec![n.clone(), m.clone()]);
            self.laws.extend(laws(ty));
            self.row = true;
            let order = match self.hints.sum(self.sizes, &all, ty)? {
                Some(order) => order,
                None if self.hints.mode == Mode::Paper => Order::InOrder,
                None => Order::Blocks(n.clone(), m),
            };
            return Ok(Order::Joined(Box::new(order)));
        }
        if self.hints.mode == Mode::Paper {
            return Ok(Order::InOrder);
        }
        if let Some((rows, m)) = self.joined(e, NODE_LIMIT) {
            return Ok(Order::Blocks(self.size(&rows)?, self.size(&m)?));
        }
        if sum {
            let ty = numbers_of(&f.body)?;
            if let Some(order) = self.hints.sum(self.sizes, n, ty)? {
                self.laws.extend(laws(ty));
                return Ok(order);
            }
        }
        Ok(self.hints.order(n, shape))
    }

    fn joined(&self, e: &Term, fuel: usize) -> Option<(Size, Size)> {
        let fuel = fuel.checked_sub(1)?;
        match e.kind() {
            TermKind::Var(var) => self.joined(self.values.get(&var.id)?, fuel),
            TermKind::Let(_, _, body) => self.joined(body, fuel),
            TermKind::Prim(prim, args) => match (prim, &args[..]) {
                (Prim::Join, [Arg::Term(rows)]) => {
                    let row = element(rows.ty())?;
                    Some((length(rows.ty())?.clone(), length(&row)?.clone()))
                }
                (Prim::Zip, [Arg::Term(a), Arg::Term(b)]) => {
                    self.joined(a, fuel).or_else(|| self.joined(b, fuel))
                }
                (
                    Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
                    [_, Arg::Term(e)],
                )
                | (Prim::Copy, [Arg::Term(e)]) => self.joined(e, fuel),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The length of rows, where the elements are their sums.
fn sums_of_rows(e: &Term) -> Option<&Size> {
    let TermKind::Prim(Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll, args) =
        e.kind()
    else {
        return None;
    };
    let [Arg::Fun(f), _] = &args[..] else { return None };
    match f.body.kind() {
        TermKind::Prim(Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll, args) => match &args[..] {
            [_, _, Arg::Term(row)] => length(row.ty()),
            _ => None,
        },
        _ => None,
    }
}

/// The kind of a number, or of a vector's lanes.
fn kind_of(term: &Term) -> Result<Kind> {
    Kind::of(term.ty()).map_or_else(|| numbers_of(term).map(Kind::Data), Ok)
}

/// The type of a number, or of a vector's lanes.
fn numbers_of(term: &Term) -> Result<Scalar> {
    let lane = element(term.ty());
    scalar_of(term.ty()).or_else(|| scalar_of(&lane?)).ok_or_else(|| malformed(term))
}

fn refused(at: &Term, what: &str) -> Diagnostic {
    let message = format!("{what} has no certificate");
    Diagnostic::error(Code("D0201"), message, at.span(), "outside what is proved")
}

fn malformed(at: &Term) -> Diagnostic {
    refused(at, "a term that the checker of the language would not accept")
}
