//! The lemma that a rule of a program claims, for Coq, in the words of `proofs/Rewrites.v`.
//!
//! Arrays are functions from subscripts, compared below their lengths. A type parameter is any
//! type, and an operation on numbers is any function: a law of numbers that the rule needs is not
//! among the hypotheses, unless the rule says `reassociate`. Functions of the program see arrays
//! below their lengths alone, and give indices in range. Not here: running Coq.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loops::size::Factor;
use loops::{Code, Diagnostic, Name, Scalar, Size, Span};

use super::DefinedRule;
use crate::infer::TypedDef;
use crate::infer::inferred_types::Ty;
use crate::infer::node::{Bind, Local, Node, NodeKind};
use crate::prim::{Group, Prim};
use crate::term::{Fact, FactKind};

/// A rule that has no lemma.
const NO_LEMMA: Code = Code("S0204");

/// What a file of lemmas begins with.
pub const HEAD: &str = "From Coq Require Import Arith List Lia PeanoNat ZArith.\n\
                        From Lozenge Require Import Rewrites.\n";

/// A lemma.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// Its name in Coq.
    pub name: String,
    /// Types and operations that it is about: a line of declarations each.
    context: Vec<String>,
    /// Sizes, variables and hypotheses, and what is claimed.
    statement: String,
}

/// What stands behind a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Whether [`TACTICS`] prove it is printed; nothing is proved.
    Asks,
    /// The tactics.
    Proved,
    /// A proof that is left out.
    Open,
}

/// What is tried: reflexivity, the lemmas on the rules of the compiler, and arithmetic of sizes.
pub const TACTICS: &str = "\
Ltac whole_blocks := repeat match goal with
  | H : ?a mod ?k = 0 |- _ =>
    let q := fresh \"q\" in let E := fresh \"E\" in let D := fresh \"D\" in
    remember (a / k) as q eqn:D;
    assert (E : a = q * k) by (rewrite D; destruct k; [cbn in H; lia|];
      pose proof (Nat.div_mod a (S k) ltac:(lia)); lia);
    clear D H; first [is_var a; subst a | rewrite E in *; clear E]
  end.
Ltac cases := repeat match goal with
  | p : (_ * _)%type |- _ => destruct p
  | |- context [match ?c with true => _ | false => _ end] =>
    match c with ?a <? ?b => destruct (Nat.ltb_spec a b) | _ => destruct c end
  | |- context [let (_, _) := ?p in _] => destruct p
  end.
Ltac in_range := first [eassumption | rewrite Nat.mul_comm; eassumption | lia].
Ltac of_compiler := first
  [ eapply joinSplit | eapply splitJoinId | eapply splitJoin | eapply reverseReverse | eapply mapConcat
  | eapply zipUnzip | eapply reduceSplit | eapply reduceCut | eapply reduceSplitRest | eapply splitJoinRest
  | eapply padMap | eapply slideTiling | eapply splitSplit | eapply interchange | eapply liftReduce
  | eapply dropNone | eapply mapPairIdentity | symmetry; eapply joinSplit | symmetry; eapply splitJoin
  | symmetry; eapply reduceSplit | eapply reduceTree; auto | eapply reduceJoin; auto
  | eapply reduceLanes; auto ]; in_range.
Ltac by_unfolding := unfold map, zip, unzip, split, join, transpose, reverse, take, drop, concat,
  slide, padClamp, generate, reorder, copy, stored;
  cbn [fst snd]; cases; cbn [fst snd]; first [reflexivity | congruence | repeat f_equal; lia | auto].
Ltac of_rule :=
  intros; whole_blocks; repeat split; intros; first [reflexivity | of_compiler | by_unfolding].
";

impl Lemma {
    /// The lemma with its proof.
    pub fn text(&self, ending: Ending) -> String {
        let proof = match ending {
            Ending::Asks => format!(
                "Proof. tryif solve [of_rule] then idtac \"proved {0}.\" else idtac \"open {0}.\".\nAbort.",
                self.name
            ),
            Ending::Proved => "Proof. of_rule. Qed.".to_owned(),
            Ending::Open => "Proof.\n  (* not proved *)\nAbort.".to_owned(),
        };
        let context: String = self.context.iter().map(|line| format!("{line}\n")).collect();
        format!("Section Rule.\n{context}{}\n{proof}\nEnd Rule.\n", self.statement)
    }
}

/// The lemma of a rule.
///
/// # Errors
/// `S0204` if a side has an operation that the theory has no word for.
pub fn lemma(rule: &DefinedRule) -> Result<Lemma, Diagnostic> {
    let typed = &rule.prepared.typed;
    let signature = &typed.left.signature;
    let mut printer = Printer {
        rule,
        taken: RESERVED.iter().map(|word| (*word).to_owned()).collect(),
        sizes: BTreeMap::new(),
        types: BTreeMap::new(),
        operations: BTreeMap::new(),
        scalars: BTreeSet::new(),
    };
    let name = printer.fresh(signature.name.as_str());
    for size in &signature.sizes {
        let text = printer.fresh(size.as_str());
        printer.sizes.insert(size.clone(), text);
    }
    for (ty, _) in &signature.types {
        let text = printer.fresh(&ty.to_uppercase());
        printer.types.insert(ty.clone(), text);
    }
    let mut parameters = String::new();
    if !printer.sizes.is_empty() {
        let names: Vec<&str> = signature.sizes.iter().map(|size| printer.sizes[size].as_str()).collect();
        let _ = write!(parameters, " ({} : nat)", names.join(" "));
    }
    let mut frame = Frame::default();
    let mut hypotheses: Vec<String> = signature.facts.iter().map(|fact| printer.fact(fact)).collect();
    for local in &typed.left.params {
        let info = &typed.left.locals[*local as usize];
        let text = printer.fresh(info.name.as_str());
        let _ = write!(parameters, " ({text} : {})", printer.ty(&info.ty, &frame)?);
        hypotheses.extend(printer.of_variable(&text, &info.ty, &frame)?);
        frame.locals.insert(*local, text);
    }
    let left = printer.side(&typed.left, &frame)?;
    let right = printer.side(&typed.right, &frame)?;
    let claim = printer.same(&typed.left.body.ty, &left, &right, &frame, 0)?;
    if typed.reassociate {
        hypotheses.extend(printer.laws());
    }
    let hypotheses: String = hypotheses.iter().map(|h| format!("  ({h}) ->\n")).collect();
    let statement = format!("Lemma {name}{parameters} :\n{hypotheses}  {claim}.");
    Ok(Lemma { name, context: printer.context(), statement })
}

/// Words of Coq, and of the theory.
const RESERVED: [&str; 62] = [
    "as",
    "at",
    "cofix",
    "else",
    "end",
    "exists",
    "exists2",
    "fix",
    "for",
    "forall",
    "fun",
    "if",
    "in",
    "let",
    "match",
    "mod",
    "return",
    "then",
    "using",
    "where",
    "with",
    "Prop",
    "Set",
    "Type",
    "SProp",
    "nat",
    "bool",
    "true",
    "false",
    "fst",
    "snd",
    "pair",
    "arr",
    "map",
    "zip",
    "unzip",
    "split",
    "join",
    "transpose",
    "reverse",
    "take",
    "drop",
    "concat",
    "slide",
    "padClamp",
    "generate",
    "reorder",
    "reduce",
    "scan",
    "copy",
    "stored",
    "andb",
    "orb",
    "negb",
    "Nat",
    "iter",
    "S",
    "O",
    "K",
    "steps",
    "_",
    "of_rule",
];

/// What names stand for in one definition.
#[derive(Clone, Default)]
struct Frame {
    locals: BTreeMap<Local, String>,
    /// In a call of a definition: its sizes and types.
    sizes: BTreeMap<Name, Size>,
    types: BTreeMap<Name, Ty>,
}

impl Frame {
    fn size(&self, size: &Size) -> Size {
        size.substitute(&|name| self.sizes.get(name).cloned())
    }

    fn ty(&self, ty: &Ty) -> Ty {
        ty.rewrite(&mut |size| self.size(size), &|leaf| match leaf {
            Ty::Param(name) => self.types.get(name).cloned(),
            _ => None,
        })
    }
}

struct Printer<'r> {
    rule: &'r DefinedRule,
    taken: BTreeSet<String>,
    sizes: BTreeMap<Name, String>,
    types: BTreeMap<Name, String>,
    /// Operations on numbers by their names, with their types.
    operations: BTreeMap<String, String>,
    /// Types of numbers.
    scalars: BTreeSet<&'static str>,
}

type Outcome<T> = Result<T, Diagnostic>;

impl Printer<'_> {
    fn refuse<T>(&self, what: &str, span: Span) -> Outcome<T> {
        let message =
            format!("the rule `{}` has no lemma: the theory has no word for {what}", self.rule.name());
        Err(if self.rule.own {
            Diagnostic::error(NO_LEMMA, message, span, "here")
        } else {
            Diagnostic::general(NO_LEMMA, message)
        })
    }

    /// A name that nothing else has.
    fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut count = 0;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}{count}");
        }
        name
    }

    /// Gives names back whose scope has ended.
    fn leave(&mut self, names: &[String]) {
        for name in names.iter().filter(|name| *name != "_") {
            self.taken.remove(name);
        }
    }

    fn context(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let types: Vec<&str> =
            self.types.values().map(String::as_str).chain(self.scalars.iter().copied()).collect();
        if !types.is_empty() {
            lines.push(format!("Context {{{} : Type}}.", types.join(" ")));
        }
        lines.extend(self.operations.iter().map(|(name, ty)| format!("Context ({name} : {ty}).")));
        lines
    }

    fn ty(&mut self, ty: &Ty, frame: &Frame) -> Outcome<String> {
        Ok(match &frame.ty(ty) {
            Ty::Param(name) => self.types.get(name).cloned().unwrap_or_default(),
            Ty::Scalar(Scalar::Bool) => "bool".to_owned(),
            Ty::Scalar(s) => {
                self.scalars.insert(s.keyword());
                s.keyword().to_owned()
            }
            Ty::Idx(_) => "nat".to_owned(),
            Ty::Array(_, t) | Ty::Vector(_, t) => {
                let element = self.ty(t, frame)?;
                format!("arr {}", atom(&element))
            }
            Ty::Pair(a, b) => {
                let (a, b) = (self.ty(a, frame)?, self.ty(b, frame)?);
                format!("{} * {}", atom(&a), atom(&b))
            }
            Ty::Fun(a, b) => {
                let (a, b) = (self.ty(a, frame)?, self.ty(b, frame)?);
                format!("{} -> {b}", atom(&a))
            }
            Ty::Meta(_) | Ty::Error => return self.refuse("an unknown type", Span::default()),
        })
    }

    fn size(&self, size: &Size) -> String {
        let (mut more, mut less) = (Vec::new(), Vec::new());
        for (coefficient, factors) in size.terms() {
            let mut parts: Vec<String> = Vec::new();
            if coefficient.abs() != 1 || factors.is_empty() {
                parts.push(coefficient.unsigned_abs().to_string());
            }
            for (factor, exponent) in factors {
                let text = self.factor(factor);
                parts.extend(std::iter::repeat_n(text, exponent as usize));
            }
            if coefficient < 0 { &mut less } else { &mut more }.push(parts.join(" * "));
        }
        let more = if more.is_empty() { "0".to_owned() } else { more.join(" + ") };
        let text = less.iter().fold(more, |text, part| format!("{text} - {part}"));
        atom(&text)
    }

    fn factor(&self, factor: Factor<'_>) -> String {
        match factor {
            Factor::Param(name) => self.sizes.get(name).cloned().unwrap_or_default(),
            Factor::Quotient(a, b) => format!("({} / {})", self.size(a), self.size(b)),
            Factor::Remainder(a, b) => format!("({} mod {})", self.size(a), self.size(b)),
            Factor::Sum(a, b) => format!("({} + {})", self.size(a), self.size(b)),
            Factor::Product(a, b) => format!("({} * {})", self.size(a), self.size(b)),
        }
    }

    fn fact(&self, fact: &Fact) -> String {
        let relation = if fact.kind == FactKind::Equal { "=" } else { "<=" };
        let (left, right) = (self.size(&fact.left), self.size(&fact.right));
        format!("{} {relation} {}", bare(&left), bare(&right))
    }

    /// That two values of a type are the same: arrays below their lengths.
    fn same(&mut self, ty: &Ty, left: &str, right: &str, frame: &Frame, depth: usize) -> Outcome<String> {
        let ty = frame.ty(ty);
        Ok(match &ty {
            Ty::Array(n, t) | Ty::Vector(n, t) if rows(t).is_some() => {
                let m = rows(t).map(|m| self.size(m)).unwrap_or_default();
                format!("{} =[{}, {m}] {}", atom(left), self.size(n), atom(right))
            }
            Ty::Array(n, t) | Ty::Vector(n, t) if has_array(t) => {
                let i = format!("i{depth}");
                let (x, y) = (format!("{} {i}", atom(left)), format!("{} {i}", atom(right)));
                let inner = self.same(t, &x, &y, frame, depth + 1)?;
                format!("(forall {i}, {i} < {} -> {inner})", self.size(n))
            }
            Ty::Array(n, _) | Ty::Vector(n, _) => {
                format!("{} =[{}] {}", atom(left), self.size(n), atom(right))
            }
            Ty::Pair(a, b) if has_array(&ty) => {
                let half = |word: &str, whole: &str| format!("{word} {}", atom(whole));
                let first = self.same(a, &half("fst", left), &half("fst", right), frame, depth)?;
                let second = self.same(b, &half("snd", left), &half("snd", right), frame, depth)?;
                format!("({first} /\\ {second})")
            }
            _ => format!("{left} = {right}"),
        })
    }

    /// What is known of a variable by its type.
    fn of_variable(&mut self, name: &str, ty: &Ty, frame: &Frame) -> Outcome<Vec<String>> {
        let (mut params, mut result) = (Vec::new(), ty);
        while let Ty::Fun(param, rest) = result {
            params.push(&**param);
            result = rest;
        }
        let mut known = Vec::new();
        let args: Vec<String> = (0..params.len()).map(|k| format!("x{k}")).collect();
        let call = std::iter::once(name.to_owned()).chain(args.clone()).collect::<Vec<_>>().join(" ");
        let all = if args.is_empty() { String::new() } else { format!("forall {}, ", args.join(" ")) };
        if let Some(bound) = self.in_range(result, &call, 0) {
            known.push(format!("{all}{bound}"));
        }
        if params.iter().any(|param| has_array(param)) {
            let others: Vec<String> = (0..params.len()).map(|k| format!("y{k}")).collect();
            let mut text = format!("forall {} {}, ", args.join(" "), others.join(" "));
            for ((param, x), y) in params.iter().zip(&args).zip(&others) {
                let _ = write!(text, "({}) -> ", self.same(param, x, y, frame, 0)?);
            }
            let other = std::iter::once(name.to_owned()).chain(others).collect::<Vec<_>>().join(" ");
            text += &self.same(result, &call, &other, frame, 0)?;
            known.push(text);
        }
        Ok(known)
    }

    /// That the indices in a value are in range, if it has some.
    fn in_range(&self, ty: &Ty, value: &str, depth: usize) -> Option<String> {
        match ty {
            Ty::Idx(n) => Some(format!("{value} < {}", self.size(n))),
            Ty::Array(n, t) => {
                let i = format!("i{depth}");
                let inner = self.in_range(t, &format!("{} {i}", atom(value)), depth + 1)?;
                Some(format!("(forall {i}, {i} < {} -> {inner})", self.size(n)))
            }
            Ty::Pair(a, b) => {
                let first = self.in_range(a, &format!("fst {}", atom(value)), depth);
                let second = self.in_range(b, &format!("snd {}", atom(value)), depth);
                match (first, second) {
                    (Some(a), Some(b)) => Some(format!("({a} /\\ {b})")),
                    (a, b) => a.or(b),
                }
            }
            _ => None,
        }
    }

    /// The laws of the additions that a rule with `reassociate` uses.
    fn laws(&self) -> Vec<String> {
        let mut laws = Vec::new();
        for name in self.operations.keys() {
            let Some(ty) = name.strip_prefix("add'") else { continue };
            laws.push(format!("forall a b c, {name} a ({name} b c) = {name} ({name} a b) c"));
            laws.push(format!("forall a b, {name} a b = {name} b a"));
            let zero = format!("n0'{ty}");
            if self.operations.contains_key(&zero) {
                laws.push(format!("forall a, {name} {zero} a = a"));
            }
        }
        laws
    }

    fn side(&mut self, side: &TypedDef, frame: &Frame) -> Outcome<String> {
        self.term(side, &side.body, frame)
    }

    /// An operation on numbers, which is any function of its type.
    fn operation(&mut self, name: &str, of: &Ty, ty: &Ty, frame: &Frame) -> Outcome<String> {
        let of = self.ty(of, frame)?;
        let of: String = of.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        // No name of a program has such a mark.
        let name = format!("{name}'{of}");
        let ty = self.ty(ty, frame)?;
        self.operations.insert(name.clone(), ty);
        Ok(name)
    }

    /// A term of Coq; it binds tightly enough to be an argument.
    fn argument(&mut self, def: &TypedDef, node: &Node, frame: &Frame) -> Outcome<String> {
        Ok(atom(&self.term(def, node, frame)?))
    }

    fn term(&mut self, def: &TypedDef, node: &Node, frame: &Frame) -> Outcome<String> {
        Ok(match &node.kind {
            NodeKind::Local(local) => frame.locals.get(local).cloned().unwrap_or_default(),
            NodeKind::Number(value) => match frame.ty(&node.ty) {
                Ty::Idx(_) => value.to_string(),
                ty => {
                    let digits: String = (value.to_string().chars())
                        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                        .collect();
                    self.operation(&format!("n{digits}"), &ty, &ty, frame)?
                }
            },
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Size(size) => {
                let text = self.size(&frame.size(size));
                match frame.ty(&node.ty) {
                    Ty::Idx(_) => text,
                    ty => {
                        let of_nat =
                            self.operation("of_nat", &ty, &Ty::fun(Ty::Idx(0.into()), ty.clone()), frame)?;
                        format!("{of_nat} {text}")
                    }
                }
            }
            NodeKind::Prim(prim, sizes) => self.prim(*prim, sizes, &node.ty, node.span, frame)?,
            NodeKind::Apply(f, args) => self.apply(def, f, args, frame)?,
            NodeKind::Lambda(binds, body) => {
                let mut inner = frame.clone();
                let names: Vec<String> = binds.iter().map(|bind| self.bind(def, bind, &mut inner)).collect();
                let body = self.term(def, body, &inner)?;
                self.leave(&names);
                format!("fun {} => {body}", names.join(" "))
            }
            NodeKind::Let(bind, value, body) => {
                let value = self.term(def, value, frame)?;
                let mut inner = frame.clone();
                let name = self.bind(def, bind, &mut inner);
                let body = self.term(def, body, &inner)?;
                self.leave(std::slice::from_ref(&name));
                format!("let {name} := {value} in {body}")
            }
            NodeKind::Chain(first, rest) => {
                let mut text = self.argument(def, first, frame)?;
                for (prim, operand) in rest {
                    let ty = Ty::fun(node.ty.clone(), Ty::fun(node.ty.clone(), node.ty.clone()));
                    let operation = self.prim(*prim, &[], &ty, node.span, frame)?;
                    text = format!("({operation} {text} {})", self.argument(def, operand, frame)?);
                }
                text
            }
            NodeKind::Def(name, sizes, types) => self.call(name, sizes, types, node.span, frame)?,
            NodeKind::Array(_) => return self.refuse("an array of its elements", node.span),
            NodeKind::Power(..) => return self.refuse("a power", node.span),
            NodeKind::Error => return self.refuse("this", node.span),
        })
    }

    /// A definition, written out at its sizes and types.
    fn call(
        &mut self,
        name: &Name,
        sizes: &[Size],
        types: &[Ty],
        span: Span,
        frame: &Frame,
    ) -> Outcome<String> {
        let Some(entry) = self.rule.defs.get(name) else { return self.refuse("this definition", span) };
        let def = entry.def.clone();
        let signature = &def.signature;
        let mut inner = Frame {
            locals: BTreeMap::new(),
            sizes: (signature.sizes.iter().cloned()).zip(sizes.iter().map(|s| frame.size(s))).collect(),
            types: (signature.types.iter().map(|(t, _)| t.clone()))
                .zip(types.iter().map(|t| frame.ty(t)))
                .collect(),
        };
        let mut names = Vec::new();
        for local in &def.params {
            let text = self.fresh(def.locals[*local as usize].name.as_str());
            inner.locals.insert(*local, text.clone());
            names.push(text);
        }
        let body = self.term(&def, &def.body, &inner)?;
        self.leave(&names);
        Ok(if names.is_empty() { body } else { format!("fun {} => {body}", names.join(" ")) })
    }

    /// Names for what a pattern binds; components are `fst` and `snd` of it.
    fn bind(&mut self, def: &TypedDef, bind: &Bind, frame: &mut Frame) -> String {
        fn parts(bind: &Bind, value: &str, frame: &mut Frame) {
            match bind {
                Bind::Ignore => {}
                Bind::Local(local) => {
                    frame.locals.insert(*local, value.to_owned());
                }
                Bind::Pair(a, b) => {
                    parts(a, &format!("(fst {value})"), frame);
                    parts(b, &format!("(snd {value})"), frame);
                }
            }
        }
        match bind {
            Bind::Ignore => "_".to_owned(),
            Bind::Local(local) => {
                let name = self.fresh(def.locals[*local as usize].name.as_str());
                frame.locals.insert(*local, name.clone());
                name
            }
            Bind::Pair(..) => {
                let name = self.fresh("p");
                parts(bind, &name, frame);
                name
            }
        }
    }

    fn apply(&mut self, def: &TypedDef, f: &Node, args: &[Node], frame: &Frame) -> Outcome<String> {
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.argument(def, arg, frame)?);
        }
        if let NodeKind::Prim(prim, _) = &f.kind {
            match (prim, &texts[..]) {
                (Prim::Pair, [a, b]) => return Ok(format!("({}, {})", bare(a), bare(b))),
                (Prim::Select, [c, a, b]) => return Ok(format!("if {c} then {a} else {b}")),
                (Prim::Index, [xs, i]) => return Ok(format!("{xs} {i}")),
                (Prim::Gather, [is, xs]) => return Ok(format!("fun i => {xs} ({is} i)")),
                _ => {}
            }
        }
        let head = self.term(def, f, frame)?;
        let binds = ["fun ", "if ", "let "].iter().any(|word| head.starts_with(word));
        let head = if binds { format!("({head})") } else { head };
        Ok(std::iter::once(head).chain(texts).collect::<Vec<_>>().join(" "))
    }

    /// A primitive as a function of its arguments, its sizes given.
    fn prim(&mut self, prim: Prim, sizes: &[Size], ty: &Ty, span: Span, frame: &Frame) -> Outcome<String> {
        let ty = frame.ty(ty);
        let sizes: Vec<String> = sizes.iter().map(|size| self.size(&frame.size(size))).collect();
        let params = params_of(&ty);
        let length = |k: usize| match params.get(k) {
            Some(Ty::Array(n, _)) => Some(n.clone()),
            _ => None,
        };
        let of = |printer: &Self, k: usize| length(k).map(|n| printer.size(&n)).unwrap_or_default();
        Ok(match prim {
            Prim::Pair => "pair".to_owned(),
            Prim::Fst | Prim::Snd | Prim::Zip | Prim::Unzip | Prim::Transpose | Prim::Generate => {
                prim.name().to_owned()
            }
            Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll => "map".to_owned(),
            Prim::TransPar => "transpose".to_owned(),
            Prim::Copy | Prim::CopySeq => "copy".to_owned(),
            Prim::Reorder => "reorder".to_owned(),
            Prim::ToMem => "stored".to_owned(),
            Prim::Take => "take".to_owned(),
            Prim::ScanSeq => "scan".to_owned(),
            Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar => {
                format!("reduce {}", of(self, 2))
            }
            Prim::Reverse | Prim::ReverseSeq => format!("reverse {}", of(self, 0)),
            Prim::Concat => format!("concat {}", of(self, 0)),
            Prim::Split | Prim::AsVector | Prim::Drop => {
                let word = if prim == Prim::Drop { "drop" } else { "split" };
                format!("{word} {}", sizes.concat())
            }
            Prim::Join | Prim::AsScalar => match params.first() {
                Some(Ty::Array(_, row)) => match &**row {
                    Ty::Array(k, _) | Ty::Vector(k, _) => format!("join {}", self.size(k)),
                    _ => return self.refuse("this", span),
                },
                _ => return self.refuse("this", span),
            },
            Prim::Slide => format!("slide {}", sizes.get(1).cloned().unwrap_or_default()),
            Prim::PadClamp => {
                format!("padClamp {} {}", sizes.first().cloned().unwrap_or_default(), of(self, 0))
            }
            Prim::Pad => {
                let (l, n) = (sizes.first().cloned().unwrap_or_default(), of(self, 1));
                format!("fun v x i => if i <? {l} then v else if i <? {l} + {n} then x (i - {l}) else v")
            }
            Prim::Splat => "fun x _ => x".to_owned(),
            Prim::Iterate => format!("Nat.iter {}", sizes.concat()),
            Prim::Index => "fun x i => x i".to_owned(),
            Prim::Gather => "fun is x i => x (is i)".to_owned(),
            Prim::Select => "fun c a b => if c then a else b".to_owned(),
            Prim::AddIdx => "Nat.add".to_owned(),
            Prim::SubIdx => "Nat.sub".to_owned(),
            Prim::MulIdx => "Nat.mul".to_owned(),
            Prim::DivIdx => "Nat.div".to_owned(),
            Prim::IdxPred => format!("{} - 1", sizes.concat()),
            Prim::And => "andb".to_owned(),
            Prim::Or => "orb".to_owned(),
            Prim::Not => "negb".to_owned(),
            Prim::Zero | Prim::One => {
                let number = if prim == Prim::Zero { "n0" } else { "n1" };
                self.operation(number, &ty, &ty, frame)?
            }
            Prim::Iota
            | Prim::ToIdx
            | Prim::Scatter
            | Prim::ReduceByIndex
            | Prim::ReduceByIndexPar
            | Prim::ScanPar => {
                return self.refuse(&format!("`{}`", prim.name()), span);
            }
            _ if prim.info().group == Group::Scalar => {
                let of = params.first().cloned().unwrap_or_else(|| ty.clone());
                self.operation(prim.name(), &of, &ty, frame)?
            }
            _ => return self.refuse(&format!("`{}`", prim.name()), span),
        })
    }
}

fn params_of(ty: &Ty) -> Vec<Ty> {
    let (mut params, mut rest) = (Vec::new(), ty.clone());
    while let Ty::Fun(param, result) = rest {
        params.push((*param).clone());
        rest = (*result).clone();
    }
    params
}

/// The length of an array of what has no arrays.
fn rows(ty: &Ty) -> Option<&Size> {
    match ty {
        Ty::Array(n, t) | Ty::Vector(n, t) if !has_array(t) => Some(n),
        _ => None,
    }
}

fn has_array(ty: &Ty) -> bool {
    ty.any(&|t| matches!(t, Ty::Array(..) | Ty::Vector(..)))
}

/// The text in parentheses, unless it is a word or has some.
fn atom(text: &str) -> String {
    let word = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\''));
    if word || enclosed(text) { text.to_owned() } else { format!("({text})") }
}

/// The text without parentheses around all of it.
fn bare(text: &str) -> &str {
    if enclosed(text) { &text[1..text.len() - 1] } else { text }
}

/// Whether one pair of parentheses is around the whole text.
fn enclosed(text: &str) -> bool {
    let mut depth = 0usize;
    text.starts_with('(')
        && text.char_indices().all(|(k, c)| {
            depth = match c {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            depth > 0 || k + 1 == text.len()
        })
}
