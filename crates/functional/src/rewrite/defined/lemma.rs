//! The lemma that a rule of a program claims, for Coq, in the words of `proofs/Rewrites.v`.
//!
//! Arrays are functions from subscripts, compared below their lengths. A type parameter is any
//! type, and an operation on numbers is any function: a law of numbers that the rule needs is not
//! among the hypotheses, unless the rule says `reassociate`. Functions of the program see arrays
//! below their lengths alone, and give indices in range. Not here: running Coq.
//!
//! - `words`: terms in the words of the theory

mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loops::size::Factor;
use loops::{Code, Diagnostic, Name, Scalar, Size, Span};

use super::DefinedRule;
use crate::infer::inferred_types::Ty;
use crate::infer::node::Local;
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
  | b : bool |- _ => destruct b
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
