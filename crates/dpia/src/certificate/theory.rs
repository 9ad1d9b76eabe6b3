//! Prints a definition, at given sizes, as a program of the theory of the translation
//! (`proofs/Phrases.v`), next to the loops made of it. `proofs/Compare.v` compares the two.
//!
//! Not here: whether the two are the same, and at which sizes this is asked.

use std::collections::HashMap;
use std::fmt::Write as _;

use functional::{Arg, DataType, Definition, Lambda, Literal, Prim, Term, TermKind};
use loops::{Code, Diagnostic, Function, Name, Scalar, Size};

use super::data::{Law, Op};
use super::ops::{self, Build, Kind};
use super::{Result, certify};
use crate::info::{Info, stores};
use crate::phrase::{element, length, scalar_of};
use crate::{Abi, Mode};

/// Arrays with more elements than this at the chosen sizes are refused: each element is followed by
/// itself.
const MOST_ELEMENTS: i64 = 4096;

/// Terms that are written out where they are read can multiply.
const MOST_NODES: usize = 20_000;

/// A program of numbers, before its operations have places.
enum Number {
    Text(String),
    /// An integer that is written out.
    Whole(i64),
    Op(Op, Vec<Number>),
}

impl Build for Number {
    fn int(value: i64) -> Number {
        Number::Whole(value)
    }
    fn op(op: Op, operands: Vec<Number>) -> Number {
        Number::Op(op, operands)
    }
    fn lit(text: String) -> Number {
        Number::Text(format!("(constant (Const \"{text}\"))"))
    }
    fn whole(&self) -> Option<i64> {
        if let Number::Whole(value) = self { Some(*value) } else { None }
    }
}

/// Both as Coq sentences, in a module of this name. `verdict` is what `Compare.v` says of them.
///
/// The function must be the one that `translate` makes in this mode. `value_of` gives the sizes
/// their values.
///
/// # Errors
/// `D0201` with the name of the construct, if a program has one that the theory or certificates do
/// not cover.
pub fn comparison(
    definition: &Definition,
    function: &Function,
    abi: &Abi,
    mode: Mode,
    value_of: &dyn Fn(&Name) -> Option<i64>,
    name: &str,
) -> Result<String> {
    let certificate = certify(definition, function, abi, mode, &[])?;
    if certificate.args.len() != definition.params.len() {
        return Err(Diagnostic::general(
            Code("D0201"),
            "a pair of arrays of different shapes is not compared with the theory",
        ));
    }
    let info = Info::of(definition);
    let (ops, scope, inlined) = (Vec::new(), Vec::new(), HashMap::new());
    let mut printer = Printer { value_of, mode, ops, scope, info, inlined, nodes: 0 };
    let mut types = Vec::new();
    let mut indices = Vec::new();
    for (k, param) in definition.params.iter().enumerate() {
        types.push(printer.data(&param.ty)?);
        printer.indices(&param.ty, k + 1, &mut Vec::new(), &mut indices)?;
    }
    // The first parameter is the innermost variable.
    printer.scope.extend(definition.params.iter().rev().map(|p| p.var.id));
    let program = printer.exp(&definition.body)?;
    let result = printer.data(definition.body.ty())?;
    let ops: Vec<String> = printer.ops.iter().map(op).collect();
    let commute = certificate.laws.iter().filter_map(|law| match law {
        Law::Commutes(o) => Some(format!("{o:?}")),
        _ => None,
    });
    let commute: Vec<String> = commute.collect();
    let sizes: Vec<String> =
        function.sizes.iter().map(|n| Ok(format!("({})%Z", printer.name(n)?))).collect::<Result<_>>()?;
    let mut inputs = "nilE".to_owned();
    for (k, ty) in types.iter().enumerate().rev() {
        inputs = format!("(bindE (s := {ty}) (IVar {}) {inputs})", k + 1);
    }
    let numbers = certificate.args.iter().enumerate().map(|(k, (w, _))| format!("({w}, ({}, []))", k + 1));
    let numbers: Vec<String> = numbers.chain([format!("({}, (0, []))", certificate.out)]).collect();
    let mut after = String::new();
    let _ = write!(
        after,
        "Module theory.\nImport Paths Phrases Translation Compare.\n\
         Definition ops : list Syntax.op := [{}].\nSection At.\nVariables (keep : bool) (seed : Z).\n#[local] Instance K : Scalars := trees seed ops.\n#[local] Instance P : Policy := {{| local _ := keep; turns _ := negb keep |}}.\n\
         Definition constant {{G}} (t : tree) : @exp K G num := @Phrases.Lit K G t.\n\
         Definition program : @exp K [{}] {result} :=\n  {program}.\n\
         Definition inputs : renv [{}] := {inputs}.\n\
         Definition commands : comm := fst (tr {} program) inputs {} (AVar 0).\nEnd At.\n\
         Definition verdict : string := compare ops [{}] [{}] commands c.(target) [{}] [{}].\nEnd theory.\n",
        ops.join("; "),
        types.join("; "),
        types.join("; "),
        mode == Mode::Default,
        definition.params.len() + 1,
        commute.join("; "),
        indices.join("; "),
        sizes.join("; "),
        numbers.join("; "),
    );
    Ok(certificate.to_module(name, &after))
}

/// What stands in front of comparisons.
pub const COMPARISON_HEAD: &str = "\
From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax.
From Lozenge Require Paths Phrases Translation Compare.
Import ListNotations.
Open Scope string_scope.
Notation \"a ;; b\" := (Seq a b) (at level 100, right associativity).
";

fn op(op: &Op) -> String {
    match op {
        Op::Scalar(name) => format!("Syntax.Scalar {name:?}"),
        other => format!("Syntax.{other:?}"),
    }
}

struct Printer<'a> {
    value_of: &'a dyn Fn(&Name) -> Option<i64>,
    mode: Mode,
    ops: Vec<Op>,
    /// Variables, the innermost last.
    scope: Vec<u32>,
    /// What is read how often.
    info: Info,
    /// Variables that are read once stand for these terms.
    inlined: HashMap<u32, Term>,
    nodes: usize,
}

impl Printer<'_> {
    fn name(&self, name: &Name) -> Result<i64> {
        (self.value_of)(name).ok_or_else(|| no(format!("the size `{name}`, which has no value,")))
    }

    fn size(&self, size: &Size) -> Result<i64> {
        let value =
            size.eval(self.value_of).map_err(|_| no(format!("the size `{size}`, which has no value,")))?;
        if (0..=MOST_ELEMENTS).contains(&value) {
            Ok(value)
        } else {
            Err(no("a size beyond what can be followed"))
        }
    }

    fn data(&self, ty: &DataType) -> Result<String> {
        Ok(match ty {
            DataType::Scalar(_) => "num".to_owned(),
            DataType::Idx(n) => format!("(idx {})", self.size(n)?),
            DataType::Array(n, t) => format!("(ary {} {})", self.size(n)?, self.data(t)?),
            DataType::Pair(a, b) => format!("(prd {} {})", self.data(a)?, self.data(b)?),
            DataType::Vector(n, _) => format!("(ary {} num)", self.size(n)?),
        })
    }

    /// The arrays of indices in a parameter.
    fn indices(
        &self,
        ty: &DataType,
        level: usize,
        components: &mut Vec<&'static str>,
        found: &mut Vec<String>,
    ) -> Result<()> {
        match ty {
            DataType::Idx(n) => {
                found.push(format!("({level}, [{}], {})", components.join("; "), self.size(n)?))
            }
            DataType::Array(_, t) => self.indices(t, level, components, found)?,
            DataType::Pair(a, b) => {
                for (component, half) in [("false", a), ("true", b)] {
                    components.push(component);
                    self.indices(half, level, components, found)?;
                    components.pop();
                }
            }
            DataType::Scalar(_) | DataType::Vector(..) => {}
        }
        Ok(())
    }

    fn place(&mut self, op: Op) -> usize {
        self.ops.iter().position(|o| *o == op).unwrap_or_else(|| {
            self.ops.push(op);
            self.ops.len() - 1
        })
    }

    /// A program of one number.
    fn number(&mut self, term: &Term) -> Result<Number> {
        let text = self.exp(term)?;
        Ok(Number::Text(match term.ty() {
            DataType::Idx(_) => format!("(Value {text})"),
            DataType::Scalar(_) => text,
            _ => return Err(no("an operation on vectors")),
        }))
    }

    fn built(&mut self, number: Number) -> Result<String> {
        Ok(match number {
            Number::Text(text) => text,
            Number::Whole(value) => format!("(constant (Whole ({value})%Z))"),
            Number::Op(op, operands) => {
                let texts = operands.into_iter().map(|e| self.built(e)).collect::<Result<Vec<_>>>()?;
                let place = self.place(op);
                match &texts[..] {
                    [a] => format!("(Op1 {place} {a})"),
                    [a, b] => format!("(Op2 {place} {a} {b})"),
                    _ => return Err(no("an operation of three numbers")),
                }
            }
        })
    }

    fn under(&mut self, f: &Lambda) -> Result<String> {
        let depth = self.scope.len();
        self.scope.extend(f.params.iter().map(|p| p.var.id));
        let body = self.exp(&f.body);
        self.scope.truncate(depth);
        body
    }

    fn exp(&mut self, term: &Term) -> Result<String> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(no("a program of this size"));
        }
        match term.kind() {
            TermKind::Var(var) => {
                if let Some(value) = self.inlined.get(&var.id).cloned() {
                    return self.exp(&value);
                }
                let at = self
                    .scope
                    .iter()
                    .rev()
                    .position(|v| *v == var.id)
                    .ok_or_else(|| no("a variable that nothing binds"))?;
                Ok(format!("(Phrases.Var {}VZ{})", "(VS ".repeat(at), ")".repeat(at)))
            }
            TermKind::Literal(literal) => {
                let number: Number = match *literal {
                    Literal::F32(bits) => ops::single(f32::from_bits(bits).into()),
                    Literal::F64(bits) => ops::double(f64::from_bits(bits).into()),
                    Literal::I32(value) => ops::word(value),
                    Literal::I64(value) => Number::int(value),
                    Literal::Integer(to, value) => ops::integer(to, value),
                    Literal::Bool(value) => ops::truth(value),
                };
                self.built(number)
            }
            TermKind::Size(size) => match term.ty() {
                DataType::Idx(n) => self.index(size, n),
                _ => self.built(Number::int(self.size(size)?)),
            },
            // As `c.let` and `share` have it: what is read once stands for itself, what costs
            // something is stored.
            TermKind::Let(binder, value, body) => {
                if !self.info.many(binder.var.id) {
                    self.inlined.insert(binder.var.id, value.clone());
                    return self.exp(body);
                }
                let stored = self.costly(value);
                let value = self.exp(value)?;
                self.scope.push(binder.var.id);
                let body = self.exp(body);
                self.scope.pop();
                let store = if stored { "Store " } else { "" };
                Ok(format!("(Let ({store}{value}) {})", body?))
            }
            TermKind::Prim(prim, args) => self.prim(term, *prim, args),
        }
    }

    /// Whether computing the rest of a value, after its loops have run, is more than reading it.
    fn costly(&self, value: &Term) -> bool {
        match value.kind() {
            TermKind::Var(var) => self.inlined.get(&var.id).is_some_and(|value| self.costly(value)),
            TermKind::Literal(_) | TermKind::Size(_) => false,
            TermKind::Let(_, _, body) => self.costly(body),
            TermKind::Prim(prim, args) => match prim {
                Prim::Zero | Prim::One | Prim::Pair | Prim::Zip | Prim::Fst | Prim::Snd | Prim::Index => {
                    args.iter().any(|arg| matches!(arg, Arg::Term(t) if self.costly(t)))
                }
                _ => value.ty().is_scalar() && !stores(*prim),
            },
        }
    }

    /// An index that is known.
    fn index(&self, value: &Size, below: &Size) -> Result<String> {
        Ok(format!("(known {} {} eq_refl)", self.size(below)?, self.size(value)?))
    }

    fn prim(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<String> {
        use Arg::Term as T;
        if let (Some(op), [T(a)]) = (prim.unary_operator(), args) {
            let ty = kind(a)?;
            let number = ops::unary(op, ty, self.number(a)?);
            return self.built(number);
        }
        if let (Some(op), [T(a), T(b)]) = (prim.comparison(), args) {
            let (ty, a) = (scalar(a)?, self.number(a)?);
            let number = ops::compare(op, ty, a, self.number(b)?);
            return self.built(number);
        }
        match (prim, args) {
            (Prim::AddIdx | Prim::SubIdx | Prim::MulIdx | Prim::DivIdx, [T(a), T(b)]) => {
                self.moved(term, prim, a, b)
            }
            (_, [T(a), T(b)])
                if matches!(term.ty(), DataType::Scalar(_))
                    && prim.binary_operator(Scalar::I64).is_some() =>
            {
                let ty = kind(a)?;
                let op = prim.binary_operator(ty.scalar()).ok_or_else(|| uncovered(prim))?;
                let a = self.number(a)?;
                let number = ops::binary(op, ty, a, self.number(b)?);
                self.built(number)
            }
            (Prim::Zero | Prim::One, _) => {
                let number = ops::constant(scalar(term)?, i32::from(prim == Prim::One));
                self.built(number)
            }
            (prim, [T(a)]) if prim.conversion().is_some() => {
                let number = ops::cast(scalar(term)?, kind(a)?, self.number(a)?);
                self.built(number)
            }
            _ => self.structure(term, prim, args),
        }
    }

    /// An index computed from one other.
    fn moved(&mut self, term: &Term, prim: Prim, a: &Term, b: &Term) -> Result<String> {
        let DataType::Idx(n) = term.ty() else { return Err(uncovered(prim)) };
        let n = self.size(n)?;
        let constant = |t: &Term| match t.kind() {
            TermKind::Size(size) => self.size(size).ok(),
            _ => None,
        };
        let (f, i) = match (prim, constant(a), constant(b)) {
            (Prim::AddIdx, None, Some(c)) => (format!("fun i => i + {c}"), a),
            (Prim::AddIdx, Some(c), None) => (format!("fun i => {c} + i"), b),
            (Prim::SubIdx, None, Some(c)) => (format!("fun i => i - {c}"), a),
            (Prim::SubIdx, Some(c), None) => (format!("fun i => {c} - i"), b),
            (Prim::MulIdx, None, Some(c)) => (format!("fun i => i * {c}"), a),
            (Prim::MulIdx, Some(c), None) => (format!("fun i => {c} * i"), b),
            (Prim::DivIdx, None, Some(c)) => (format!("fun i => Nat.div i {c}"), a),
            _ => return Err(no("an index computed from two")),
        };
        let i = self.exp(i)?;
        // What the language trusts the user with, that the index stays below, is computed here.
        Ok(format!("(moved {n} ({f}) eq_refl {i})"))
    }

    fn structure(&mut self, term: &Term, prim: Prim, args: &[Arg]) -> Result<String> {
        use Arg::{Fun, Size as Of, Term as T};
        Ok(match (prim, args) {
            (Prim::Select, [T(c), T(a), T(b)]) => {
                let c = self.number(c)?;
                format!("(Phrases.Select {} {} {})", self.built(c)?, self.exp(a)?, self.exp(b)?)
            }
            (Prim::Pair, [T(a), T(b)]) => {
                let form = format!("(BPair {} {})", self.data(a.ty())?, self.data(b.ty())?);
                format!("(Both {form} {} {})", self.exp(a)?, self.exp(b)?)
            }
            (Prim::Zip, [T(a), T(b)]) => {
                let form = format!("(BZip {} {} {})", self.len(a)?, self.elem(a)?, self.elem(b)?);
                format!("(Both {form} {} {})", self.exp(a)?, self.exp(b)?)
            }
            (Prim::Concat, [T(a), T(b)]) => {
                let form = format!("(BConcat {} {} {})", self.len(a)?, self.len(b)?, self.elem(a)?);
                format!("(Both {form} {} {})", self.exp(a)?, self.exp(b)?)
            }
            (Prim::Pad, [Of(l), Of(r), T(v), T(e)]) => {
                let (l, r, n, t) = (self.size(l)?, self.size(r)?, self.len(e)?, self.elem(e)?);
                let (v, e) = (self.exp(v)?, self.exp(e)?);
                format!(
                    "(Both (BConcat {l} {} {t}) (View (VSplat {l} {t}) {v}) (Both (BConcat {n} {r} {t}) {e} (View (VSplat {r} {t}) {v})))",
                    n + r
                )
            }
            (Prim::Fst | Prim::Snd, [T(e)]) => {
                let DataType::Pair(a, b) = e.ty() else { return Err(uncovered(prim)) };
                let form = if prim == Prim::Fst { "VFst" } else { "VSnd" };
                format!("(View ({form} {} {}) {})", self.data(a)?, self.data(b)?, self.exp(e)?)
            }
            (Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll, [Fun(f), T(e)]) => {
                let parallel = matches!(prim, Prim::MapPar | Prim::MapVec);
                format!("(Map {parallel} {} {})", self.under(f)?, self.exp(e)?)
            }
            (Prim::ReduceSeq | Prim::ReduceUnroll, [Fun(f), T(i), T(e)]) => {
                format!("(Red {} {} {})", self.under(f)?, self.exp(i)?, self.exp(e)?)
            }
            (Prim::ScanSeq, [Fun(f), T(i), T(e)]) => {
                format!("(Scan {} {} {})", self.under(f)?, self.exp(i)?, self.exp(e)?)
            }
            (Prim::Iterate, [Of(k), Fun(f), T(i)]) => {
                format!("(Iter {} {} {})", self.size(k)?, self.under(f)?, self.exp(i)?)
            }
            (Prim::Generate, [Of(n), Fun(f)]) => {
                format!("(Gen {} {} {})", self.size(n)?, self.mode == Mode::Paper, self.under(f)?)
            }
            (Prim::Iota, [Of(n)]) => match element(term.ty()) {
                Some(DataType::Idx(_)) => format!("(Iota {})", self.size(n)?),
                _ => format!("(Gen {} false (Value (Phrases.Var VZ)))", self.size(n)?),
            },
            (Prim::Copy, [T(e)]) => self.exp(e)?,
            (Prim::ToMem, [T(e)]) => format!("(Store {})", self.exp(e)?),
            (Prim::CopySeq, [T(e)]) => format!("(Copy false (VId {}) {})", self.data(e.ty())?, self.exp(e)?),
            (Prim::ReverseSeq, [T(e)]) => format!("(Copy false {} {})", self.reverse(e)?, self.exp(e)?),
            (Prim::TransPar, [T(e)]) => format!("(Copy true {} {})", self.transpose(e)?, self.exp(e)?),
            (Prim::Gather, [T(is), T(e)]) => format!("(Gather {} {})", self.exp(is)?, self.exp(e)?),
            (Prim::Reorder, [Fun(f), T(e)]) => {
                format!("(Gather (Gen {} false {}) {})", self.len(term)?, self.under(f)?, self.exp(e)?)
            }
            (Prim::Scatter, [T(is), T(b), T(e)]) => {
                format!("(Scatter {} {} {})", self.exp(is)?, self.exp(b)?, self.exp(e)?)
            }
            (Prim::Index, [T(e), T(i)]) => format!("(At {} {})", self.exp(e)?, self.exp(i)?),
            (Prim::IdxPred, [Of(n)]) => self.index(&(n.clone() - Size::constant(1)), n)?,
            (_, [.., T(e)]) => {
                let view = self.view(term, prim, args, e)?;
                format!("(View {view} {})", self.exp(e)?)
            }
            _ => return Err(uncovered(prim)),
        })
    }

    fn view(&mut self, term: &Term, prim: Prim, args: &[Arg], e: &Term) -> Result<String> {
        use Arg::Size as Of;
        Ok(match (prim, args) {
            (Prim::Split | Prim::AsVector, [Of(k), _]) => {
                format!("(VSplit {} {} {})", self.size(k)?, self.len(term)?, self.elem(e)?)
            }
            (Prim::Join | Prim::AsScalar, [_]) => {
                let row = element(e.ty()).ok_or_else(|| uncovered(prim))?;
                let n = length(&row).ok_or_else(|| uncovered(prim))?;
                format!("(VJoin {} {} {})", self.size(n)?, self.len(e)?, self.elem(term)?)
            }
            (Prim::Transpose, [_]) => self.transpose(e)?,
            (Prim::Reverse, [_]) => self.reverse(e)?,
            (Prim::Unzip, [_]) => {
                let Some(DataType::Pair(a, b)) = element(e.ty()) else { return Err(uncovered(prim)) };
                format!("(VUnzip {} {} {})", self.len(e)?, self.data(&a)?, self.data(&b)?)
            }
            (Prim::Take, [Of(_), _]) => self.pick(term, e, "fun i => i")?,
            (Prim::Drop, [Of(k), _]) => {
                let k = self.size(k)?;
                self.pick(term, e, &format!("fun i => i + {k}"))?
            }
            (Prim::PadClamp, [Of(l), Of(_), _]) => {
                let (l, n) = (self.size(l)?, self.len(e)?);
                self.pick(term, e, &format!("fun i => Nat.min (i - {l}) ({n} - 1)"))?
            }
            (Prim::Slide, [Of(w), Of(s), _]) => {
                let (w, s, n, m, t) =
                    (self.size(w)?, self.size(s)?, self.len(e)?, self.len(term)?, self.elem(e)?);
                format!("(window {n} {m} {w} {t} (fun i j => i * {s} + j) eq_refl)")
            }
            (Prim::Splat, [Of(_), _]) => format!("(VSplat {} {})", self.len(term)?, self.data(e.ty())?),
            _ => return Err(uncovered(prim)),
        })
    }

    fn pick(&self, term: &Term, e: &Term, f: &str) -> Result<String> {
        Ok(format!("(pick {} {} {} ({f}) eq_refl)", self.len(e)?, self.len(term)?, self.elem(e)?))
    }

    fn reverse(&self, e: &Term) -> Result<String> {
        Ok(format!("(mirrored {} {})", self.len(e)?, self.elem(e)?))
    }

    fn transpose(&self, e: &Term) -> Result<String> {
        let row = element(e.ty()).ok_or_else(|| uncovered(Prim::Transpose))?;
        let m = length(&row).ok_or_else(|| uncovered(Prim::Transpose))?;
        let elem = element(&row).ok_or_else(|| uncovered(Prim::Transpose))?;
        Ok(format!("(VTrans {} {} {})", self.len(e)?, self.size(m)?, self.data(&elem)?))
    }

    fn len(&self, e: &Term) -> Result<i64> {
        self.size(length(e.ty()).ok_or_else(|| no("a term that should be an array"))?)
    }

    fn elem(&self, e: &Term) -> Result<String> {
        self.data(&element(e.ty()).ok_or_else(|| no("a term that should be an array"))?)
    }
}

fn kind(term: &Term) -> Result<Kind> {
    Kind::of(term.ty()).ok_or_else(|| no("an operation on vectors"))
}

fn scalar(term: &Term) -> Result<Scalar> {
    scalar_of(term.ty()).ok_or_else(|| no("an operation on vectors"))
}

fn uncovered(prim: Prim) -> Diagnostic {
    no(format!("`{}`", prim.name()))
}

fn no(what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::general(Code("D0201"), format!("{what} is not compared with the theory"))
}
