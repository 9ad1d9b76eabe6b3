//! The intermediate macros: loops for maps, reductions, scans and copies (the paper, sections 2.1
//! and 2.3).

use functional::{DataType, Prim, Term, TermKind};
use loops::{LoopKind, ReduceOp, Scalar, Size};

use super::continuation::bind;
use super::{Applied, LOCAL_ACCUMULATOR, Translator, constant_bytes, is_flat};
use crate::index;
use crate::phrase::{
    Acc, AccView, Comm, CommKind, Demand, Exp, ExpArg, ExpKind, Folding, Fun, Macro, PVar, Role, Then,
    element, length,
};

impl Translator<'_> {
    /// One macro by its definition.
    pub(super) fn expand(&mut self, m: &Macro) -> Applied {
        Ok(match m {
            Macro::Map { kind, y, o, body, xs, out } => {
                let xs = self.resolve(xs);
                self.expand_map(*kind, y, o, body, &xs, out)
            }
            Macro::Reduce { kind, f, init, xs, then } => {
                let xs = self.resolve(xs);
                let name = match kind {
                    LoopKind::Unroll(_) => "reduceUnrollI",
                    _ => "reduceSeqI",
                };
                (name, self.expand_reduce(*kind, f, init, &xs, then))
            }
            Macro::ReducePar { op, x, value, init, xs, then } => {
                let xs = self.resolve(xs);
                ("reduceParI", self.expand_reduce_par(*op, x, value, init, &xs, then))
            }
            Macro::Scan { f, init, xs, out } => {
                let xs = self.resolve(xs);
                ("scanSeqI", self.expand_scan(f, init, &xs, out))
            }
            Macro::ReduceByIndex { f, is, xs, out } => {
                let (is, xs) = (self.resolve(is), self.resolve(xs));
                ("reduceByIndexI", self.expand_reduce_by_index(f, &is, &xs, out))
            }
            Macro::ReverseSeq(xs, out) => {
                let xs = self.resolve(xs);
                let n = size_of(&xs);
                let last = n.clone() - Size::constant(1);
                let ty = DataType::Idx(n);
                ("reverseSeqI", self.expand_copy(&xs, out, |i| index::size_minus(&last, i, &ty)))
            }
            Macro::CopySeq(xs, out) => {
                let xs = self.resolve(xs);
                ("copySeqI", self.expand_copy(&xs, out, |i| i))
            }
            Macro::TransPar(xs, out) => {
                let xs = self.resolve(xs);
                ("transParI", self.expand_transpose(&xs, out))
            }
            Macro::Scatter(is, xs, out) => {
                let (is, xs) = (self.resolve(is), self.resolve(xs));
                ("scatterI", self.expand_scatter(&is, &xs, out))
            }
        })
    }

    /// `λi. … xs[i] …` with `x` standing for the element.
    fn read(&mut self, xs: &Exp, i: &PVar, x: &PVar, kind: LoopKind, body: Comm) -> Comm {
        let n = size_of(xs);
        self.read_at(xs, Exp::var(i, DataType::Idx(n)), x, kind, body)
    }

    /// `… xs[i] …` with `x` standing for the element.
    fn read_at(&mut self, xs: &Exp, i: Exp, x: &PVar, kind: LoopKind, body: Comm) -> Comm {
        let Some(e) = xs.at(i) else { return body };
        if self.paper() {
            return bind(x, &e, &body);
        }
        let x = x.clone();
        self.chain(vec![(e, Demand::Once(kind))], |_, mut vs| CommKind::Share(x, vs.remove(0), body).into())
    }

    /// `seqfor n (λi. … xs[i] …)`, with `x` standing for the element; over blocks in two loops.
    fn each(&mut self, kind: LoopKind, xs: &Exp, x: &PVar, body: Comm) -> Comm {
        let i = self.loop_index();
        if self.turns.contains(&x.id) {
            self.turns.insert(i.id);
        }
        if let Some((rows, _)) = self.blocks(xs)
            && let Some(row) = element(rows.ty())
        {
            let (n, j) = (length(&row).cloned().unwrap_or_default(), self.loop_index());
            let r = self.value();
            let inner = self.read(&Exp::var(&r, row), &j, x, kind, body);
            let line = CommKind::SeqFor(kind, n, j, inner).into();
            let outer = self.read(&rows, &i, &r, kind, line);
            return CommKind::SeqFor(kind, size_of(&rows), i, outer).into();
        }
        let dims = self.dims(xs);
        if dims.len() > 1 {
            let indices: Vec<PVar> = dims.iter().map(|_| self.loop_index()).collect();
            let body = self.read_at(xs, self.flat(xs, &dims, &indices), x, kind, body);
            return dims
                .into_iter()
                .zip(indices)
                .rev()
                .fold(body, |body, (n, i)| CommKind::SeqFor(kind, n, i, body).into());
        }
        let body = self.read(xs, &i, x, kind, body);
        CommKind::SeqFor(kind, size_of(xs), i, body).into()
    }

    /// The blocks, and their length, of what joins them (default mode).
    fn blocks(&self, xs: &Exp) -> Option<(Exp, Size)> {
        let ExpKind::Prim(Prim::Join, args) = xs.kind() else { return None };
        let [ExpArg::Exp(rows)] = &args[..] else { return None };
        let n = length(&element(rows.ty())?)?.clone();
        (!self.paper()).then(|| (rows.clone(), n))
    }

    /// `a := e` in paper mode, where `e` is translated already; `A(e)(a)` in default mode.
    fn store(&self, e: Exp, a: Acc) -> Comm {
        if self.paper() { CommKind::Assign(a, e).into() } else { CommKind::A(e, a).into() }
    }

    fn expand_map(
        &mut self,
        kind: LoopKind,
        y: &PVar,
        o: &PVar,
        body: &Comm,
        xs: &Exp,
        out: &Acc,
    ) -> (&'static str, Comm) {
        if let Some((rows, n)) = self.blocks(xs)
            && let Some(row) = element(rows.ty())
        {
            // One loop over the blocks and one inside, rather than quotients and remainders.
            let (outer, inner) = match kind {
                LoopKind::Parallel => (LoopKind::Parallel, LoopKind::Sequential),
                LoopKind::Vector => (LoopKind::Sequential, LoopKind::Vector),
                other => (other, other),
            };
            let (r, ro) = (self.value(), self.acceptor_variable());
            let block =
                element(out.ty()).map(|t| DataType::array(n.clone(), t)).unwrap_or_else(|| row.clone());
            let to = out.view(AccView::Join(n), DataType::array(size_of(&rows), block.clone()));
            let line = Macro::Map {
                kind: inner,
                y: y.clone(),
                o: o.clone(),
                body: body.clone(),
                xs: Exp::var(&r, row),
                out: Acc::var(&ro, block),
            };
            let body = CommKind::Macro(line).into();
            let all = Macro::Map { kind: outer, y: r, o: ro, body, xs: rows, out: to };
            return ("mapI.join", CommKind::Macro(all).into());
        }
        let dims = self.dims(xs);
        if dims.len() > 1 {
            return ("mapI.join", self.map_blocks(kind, y, o, body, xs, out, &dims));
        }
        let n = size_of(xs);
        let i = self.loop_index();
        let body = self.read(xs, &i, y, kind, body.clone());
        let name = match kind {
            LoopKind::Parallel => "mapParI",
            LoopKind::Vector => "mapVecI",
            LoopKind::Sequential => "mapSeqI",
            LoopKind::Unroll(_) => "mapUnrollI",
        };
        (name, self.loop_into(kind, n, i, out, o, body))
    }

    /// The loop whose iteration `i` writes `out{i}`, which `o` stands for.
    fn loop_into(&mut self, kind: LoopKind, n: Size, i: PVar, out: &Acc, o: &PVar, body: Comm) -> Comm {
        match kind {
            LoopKind::Parallel | LoopKind::Vector => {
                CommKind::ParFor { kind, n, out: out.clone(), index: i, o: o.clone(), body }.into()
            }
            LoopKind::Sequential | LoopKind::Unroll(_) => {
                if let Some(element) = out.at(Exp::var(&i, DataType::Idx(n.clone()))) {
                    self.bindings.set_acc(o, element);
                }
                CommKind::SeqFor(kind, n, i, body).into()
            }
        }
    }

    /// A map over an array in which blocks are joined, by a loop for each dimension.
    #[allow(clippy::too_many_arguments)]
    fn map_blocks(
        &mut self,
        kind: LoopKind,
        y: &PVar,
        o: &PVar,
        body: &Comm,
        xs: &Exp,
        out: &Acc,
        dims: &[Size],
    ) -> Comm {
        let (mut acc, mut total) = (out.clone(), size_of(xs));
        for n in dims.iter().skip(1).rev() {
            let Some(elem) = element(acc.ty()) else { break };
            total = total.exact_div(n).unwrap_or_else(|| total.div(n));
            let rows = DataType::array(total.clone(), DataType::array(n.clone(), elem));
            acc = acc.view(AccView::Join(n.clone()), rows);
        }
        let indices: Vec<PVar> = dims.iter().map(|_| self.loop_index()).collect();
        let mut outs = vec![(acc.clone(), self.acceptor_variable())];
        for _ in dims.iter().skip(1) {
            let (above, o) = &outs[outs.len() - 1];
            let ty = element(above.ty()).unwrap_or_else(|| above.ty().clone());
            let next = Acc::var(o, ty);
            outs.push((next, self.acceptor_variable()));
        }
        let last = dims.len() - 1;
        outs[last].1 = o.clone();
        let mut comm = self.read_at(xs, self.flat(xs, dims, &indices), y, kind, body.clone());
        for (level, index) in indices.into_iter().enumerate().rev() {
            let kind = match kind {
                LoopKind::Parallel if level > 0 => LoopKind::Sequential,
                LoopKind::Vector if level < last => LoopKind::Sequential,
                other => other,
            };
            let (out, o) = outs[level].clone();
            comm = self.loop_into(kind, dims[level].clone(), index, &out, &o, comm);
        }
        comm
    }

    /// The index of an element of joined blocks.
    fn flat(&self, xs: &Exp, dims: &[Size], indices: &[PVar]) -> Exp {
        let ty = DataType::Idx(size_of(xs));
        let mut flat: Option<Exp> = None;
        for (n, i) in dims.iter().zip(indices) {
            let i = Exp::var(i, DataType::Idx(n.clone()));
            flat = Some(match flat {
                None => i,
                Some(before) => index::add(index::mul_size(before, n, &ty), i, &ty),
            });
        }
        flat.unwrap_or_else(|| Exp::size(Size::constant(0), ty))
    }

    /// The dimensions in which an array is best read: more than one where blocks are joined in it.
    fn dims(&self, xs: &Exp) -> Vec<Size> {
        if !self.paper()
            && let ExpKind::Prim(prim, args) = xs.kind()
        {
            let inner = match (prim, &args[..]) {
                (Prim::Join, [ExpArg::Exp(rows)]) => {
                    let mut dims = self.dims(rows);
                    dims.extend(element(rows.ty()).and_then(|row| length(&row).cloned()));
                    return dims;
                }
                (Prim::Zip, [ExpArg::Exp(a), ExpArg::Exp(b)]) => {
                    let dims = self.dims(a);
                    if dims.len() > 1 { dims } else { self.dims(b) }
                }
                (Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll, [_, ExpArg::Exp(e)])
                | (Prim::Copy, [ExpArg::Exp(e)]) => self.dims(e),
                _ => Vec::new(),
            };
            if inner.len() > 1 {
                return inner;
            }
        }
        vec![size_of(xs)]
    }

    /// `new (λv. v := init; seqfor n (λi. f xs[i] v.2 v.1); then v.2)`
    fn expand_reduce(&mut self, kind: LoopKind, f: &Folding, init: &Exp, xs: &Exp, then: &Then) -> Comm {
        let ty = init.ty().clone();
        let wish = match then {
            Then::Continue(r, _) => r.hint.clone(),
            Then::Into(_) => None,
        };
        let v = self.memory("acc", wish.as_ref());
        let (read, write) = (Exp::var(&v, ty.clone()), Acc::var(&v, ty.clone()));
        let first = self.store(init.clone(), write);
        let update = self.update(&v, &ty, &f.o, bind(&f.y, &read, &f.body));
        let run = first.then(self.each(kind, xs, &f.x, update));
        match then {
            Then::Continue(r, c) => {
                let rest = bind(r, &read, c);
                CommKind::New(v, ty, run.then(rest)).into()
            }
            Then::Into(a) => {
                let small = constant_bytes(&ty).is_some_and(|bytes| bytes <= LOCAL_ACCUMULATOR);
                if is_flat(&ty) || small {
                    let rest = CommKind::A(read, a.clone()).into();
                    CommKind::New(v, ty, run.then(rest)).into()
                } else {
                    CommKind::Alias(v, a.clone(), run).into()
                }
            }
        }
    }

    /// The next value of `v`, which the body stores into `o`. A number is stored last, after all
    /// reads of the old one.
    fn update(&mut self, v: &PVar, ty: &DataType, o: &PVar, body: Comm) -> Comm {
        if ty.is_scalar() {
            self.bindings.set_acc(o, Acc::var(v, ty.clone()));
            return body;
        }
        CommKind::Update(v.clone(), ty.clone(), o.clone(), body).into()
    }

    /// `new (λv. v := init; parallel over i: v op= g xs[i]; then v.2)`
    fn expand_reduce_par(
        &mut self,
        op: ReduceOp,
        x: &PVar,
        value: &Exp,
        init: &Exp,
        xs: &Exp,
        then: &(PVar, Comm),
    ) -> Comm {
        let ty = init.ty().clone();
        let (n, i) = (size_of(xs), self.loop_index());
        let v = self.memory("acc", then.0.hint.as_ref());
        let write = Acc::var(&v, ty.clone());
        let first: Comm = CommKind::A(init.clone(), write.clone()).into();
        let step = self.chain(vec![(value.clone(), Demand::Any)], |_, mut vs| {
            CommKind::Accumulate(op, write, vs.remove(0)).into()
        });
        let body = self.read(xs, &i, x, LoopKind::Parallel, step);
        let run = first.then(CommKind::ReduceFor(op, v.clone(), n, i, body).into());
        let rest = bind(&then.0, &Exp::var(&v, ty.clone()), &then.1);
        CommKind::New(v, ty, run.then(rest)).into()
    }

    /// `new (λv. v := init; seqfor n (λi. f xs[i] v.2 v.1; out{i} := v.2))`
    fn expand_scan(&mut self, f: &Folding, init: &Exp, xs: &Exp, out: &Acc) -> Comm {
        let ty = init.ty().clone();
        let (n, i) = (size_of(xs), self.loop_index());
        let v = self.memory("acc", None);
        let (read, write) = (Exp::var(&v, ty.clone()), Acc::var(&v, ty.clone()));
        let first: Comm = CommKind::A(init.clone(), write).into();
        let body = self.read(xs, &i, &f.x, LoopKind::Sequential, f.body.clone());
        let body = bind(&f.y, &read, &body);
        let update = self.update(&v, &ty, &f.o, body);
        let at = Exp::var(&i, DataType::Idx(n.clone()));
        let copy = match out.at(at) {
            Some(a) => CommKind::A(read, a).into(),
            None => CommKind::Skip.into(),
        };
        let run = CommKind::SeqFor(LoopKind::Sequential, n, i, update.then(copy)).into();
        CommKind::New(v, ty, first.then(run)).into()
    }

    /// `seqfor n (λi. if (0 <= is[i] && is[i] < m) (update out{is[i]} (λo. f xs[i] out[is[i]]
    /// o)))`, without the condition where the types of the numbers say that it holds.
    fn expand_reduce_by_index(&mut self, f: &Folding, is: &Exp, xs: &Exp, out: &Acc) -> Comm {
        let (n, i, m) = (size_of(is), self.loop_index(), length(out.ty()).cloned().unwrap_or_default());
        let index = DataType::Scalar(Scalar::I64);
        let j = self.fresh("j", None, Role::Expression { many: true });
        let place = Exp::var(&j, index.clone());
        let Some(to) = out.at(place.clone()) else { return CommKind::Skip.into() };
        let (w, ty) = (self.memory("acc", None), to.ty().clone());
        let read = Exp::var(&w, ty.clone());
        let update = self.update(&w, &ty, &f.o, bind(&f.y, &read, &f.body));
        let one: Comm = CommKind::Alias(w, to, update).into();
        let inside = |prim, a: Exp, b: Exp| {
            Exp::prim(prim, vec![ExpArg::Exp(a), ExpArg::Exp(b)], DataType::Scalar(Scalar::Bool))
        };
        let low = inside(Prim::Ge, place.clone(), Exp::size(Size::constant(0), index));
        // The bound is a size and no data, so that it need not fit in 64 bits.
        let high = inside(Prim::Lt, place, Exp::size(m.clone(), DataType::Idx(m.clone())));
        let body = self.read(xs, &i, &f.x, LoopKind::Sequential, one);
        let body = match are_indices(is, &m) {
            true => body,
            false => CommKind::If(inside(Prim::And, low, high), body, CommKind::Skip.into()).into(),
        };
        let body = self.read(is, &i, &j, LoopKind::Sequential, body);
        CommKind::SeqFor(LoopKind::Sequential, n, i, body).into()
    }

    /// `seqfor n (λi. out{i} := xs[place i])`
    fn expand_copy(&mut self, xs: &Exp, out: &Acc, place: impl FnOnce(Exp) -> Exp) -> Comm {
        let (n, i) = (size_of(xs), self.loop_index());
        let at = Exp::var(&i, DataType::Idx(n.clone()));
        let (Some(from), Some(to)) = (xs.at(place(at.clone())), out.at(at)) else {
            return CommKind::Skip.into();
        };
        CommKind::SeqFor(LoopKind::Sequential, n, i, self.store(from, to)).into()
    }

    /// `parfor n out (λi o. seqfor m (λj. o{j} := xs[j][i]))`
    fn expand_transpose(&mut self, xs: &Exp, out: &Acc) -> Comm {
        let rows = size_of(xs);
        let columns = element(xs.ty()).and_then(|row| length(&row).cloned()).unwrap_or_default();
        let (i, j) = (self.loop_index(), self.loop_index());
        let o = self.acceptor_variable();
        let ati = Exp::var(&i, DataType::Idx(columns.clone()));
        let atj = Exp::var(&j, DataType::Idx(rows.clone()));
        let row = element(out.ty()).unwrap_or_else(|| out.ty().clone());
        let from = xs.at(atj.clone()).and_then(|row| row.at(ati));
        let to = Acc::var(&o, row).at(atj);
        let (Some(from), Some(to)) = (from, to) else { return CommKind::Skip.into() };
        let inner = CommKind::SeqFor(LoopKind::Sequential, rows, j, self.store(from, to)).into();
        CommKind::ParFor { kind: LoopKind::Parallel, n: columns, out: out.clone(), index: i, o, body: inner }
            .into()
    }

    /// `seqfor n (λi. out{is[i]} := xs[i])`
    fn expand_scatter(&mut self, is: &Exp, xs: &Exp, out: &Acc) -> Comm {
        let (n, i) = (size_of(is), self.loop_index());
        let at = Exp::var(&i, DataType::Idx(n.clone()));
        let (Some(place), Some(from)) = (is.at(at.clone()), xs.at(at)) else { return CommKind::Skip.into() };
        let reader = Demand::Once(LoopKind::Sequential);
        let body = self.chain(vec![(place, reader), (from, reader)], |_, mut vs| {
            let from = vs.remove(1);
            match out.at(vs.remove(0)) {
                Some(to) => CommKind::A(from, to).into(),
                None => CommKind::Skip.into(),
            }
        });
        CommKind::SeqFor(LoopKind::Sequential, n, i, body).into()
    }
}

fn size_of(xs: &Exp) -> Size {
    length(xs.ty()).cloned().unwrap_or_default()
}

/// Whether numbers are the values of indices below `m`: `map i64` of such.
fn are_indices(is: &Exp, m: &Size) -> bool {
    let ExpKind::Prim(prim, args) = is.kind() else { return false };
    let [ExpArg::Fun(fun), _] = &args[..] else { return false };
    let maps = matches!(prim, Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll);
    let value = |e: &Term| match e.kind() {
        TermKind::Prim(Prim::ToI64, args) => match &args[..] {
            [functional::Arg::Term(index)] => matches!(index.ty(), DataType::Idx(k) if k == m),
            _ => false,
        },
        _ => false,
    };
    maps && value(&fun.body)
}

/// `((+), g x)` if the function is `\x a -> g x (+) a` with an operation whose order does not
/// matter.
pub(super) fn privatisable(f: &Fun) -> Option<(ReduceOp, Term)> {
    let [_, accumulator] = &f.params[..] else { return None };
    let TermKind::Prim(prim, args) = f.body.kind() else { return None };
    let op = match prim {
        Prim::Add => ReduceOp::Add,
        Prim::Mul => ReduceOp::Mul,
        Prim::Min => ReduceOp::Min,
        Prim::Max => ReduceOp::Max,
        Prim::And => ReduceOp::And,
        Prim::Or => ReduceOp::Or,
        _ => return None,
    };
    let [functional::Arg::Term(left), functional::Arg::Term(right)] = &args[..] else { return None };
    let is_accumulator = |t: &Term| matches!(t.kind(), TermKind::Var(v) if *v == accumulator.var);
    let g = match (is_accumulator(left), is_accumulator(right)) {
        (false, true) => left,
        (true, false) => right,
        _ => return None,
    };
    (!functional::walk::mentions(g, &accumulator.var)).then(|| (op, g.clone()))
}
