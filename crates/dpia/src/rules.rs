//! The table of rules: names and statements. `docs/rules.md` is made from it.
//!
//! The code of a rule is where its name is returned: `translate` for `a`, `c`, `v` and the macros,
//! `codegen` for `cgc`, `cga`, `cge`. The translation reads nothing from this table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use functional::prim::TABLE;
use functional::{Group, Prim};

/// A rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name, as steps of derivations carry it.
    pub name: &'static str,
    /// What it says.
    pub statement: String,
}

/// A section of the table: title, introduction, names and statements of its rules.
type Section = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The sections.
const SECTIONS: &[Section] = &[
    (
        "Acceptor-passing",
        "`A(e)(a)` computes `e` into the acceptor `a`.",
        &[
            ("a.1", "`A(e)(a) = a := e` for a number"),
            (
                "a.2",
                "`A(e)(a) = mapParI (λx o. o := x) e a` for an array; in default mode by a loop of the kind that its reader has",
            ),
            ("a.3", "`A(e)(a) = pairAcc1 a := fst e; pairAcc2 a := snd e` for a pair"),
            ("a.4", "`A(neg e)(a) = C(e)(λx. a := neg x)`"),
            ("a.5", "`A(e1 + e2)(a) = C(e1)(λx. C(e2)(λy. a := x + y))`"),
            ("a.6", "`A(e1 * e2)(a) = C(e1)(λx. C(e2)(λy. a := x * y))`"),
            ("a.7", "`A(mapSeq f e)(a) = C(e)(λx. mapSeqI (λy o. A(f y)(o)) x a)`"),
            ("a.8", "`A(mapPar f e)(a) = C(e)(λx. mapParI (λy o. A(f y)(o)) x a)`"),
            ("a.mapVec", "as a.8, by `mapVecI`"),
            ("a.mapUnroll", "as a.7, by `mapUnrollI`"),
            (
                "a.mapLayout",
                "`A(map f e)(a) = A(e)(mapAcc v … a)` where `f` only rearranges: a chain of `join split transpose reverse`, alone or mapped (default mode)",
            ),
            (
                "a.9",
                "`A(reduceSeq f i e)(a) = C(e)(λx. C(i)(λy. reduceSeqI (λx y o. A(f x y)(o)) y x (λr. A(r)(a))))`; in default mode `A(i)` fills the accumulator, which may be `a` itself",
            ),
            ("a.reduceUnroll", "as a.9, by `reduceUnrollI`"),
            (
                "a.reducePar",
                "`A(reducePar (λx a. g x (+) a) i e)(a) = C(e)(λx. reduceParI (+) g i x (λr. A(r)(a)))`",
            ),
            ("a.scanSeq", "`A(scanSeq f i e)(a) = C(e)(λx. scanSeqI (λx y o. A(f x y)(o)) i x a)`"),
            (
                "a.reduceByIndex",
                "`A(reduceByIndex f b is e)(a) = A(b)(a); C(is)(λi. C(e)(λx. reduceByIndexI (λx y o. A(f x y)(o)) i x a))`",
            ),
            (
                "a.blocks",
                "`reducePar` (where it is not the rule above), `scanPar` and `reduceByIndexPar` are written out over blocks, before all other rules",
            ),
            ("a.iterate", "`A(iterate k f e)(a)` is a.9 over `0, …, k - 1`, whose elements `f` ignores"),
            (
                "a.10",
                "`A(zip e1 e2)(a) = A(e1)(zipAcc1 a); A(e2)(zipAcc2 a)`; in default mode only where an operand has loops of its own, else by one loop",
            ),
            ("a.unzip", "`A(unzip e)(a) = A(e)(unzipAcc a)`"),
            ("a.11", "`A(split k e)(a) = A(e)(splitAcc a)`"),
            ("a.12", "`A(join e)(a) = A(e)(joinAcc a)`"),
            ("a.13", "`A((e1, e2))(a) = A(e1)(pairAcc1 a); A(e2)(pairAcc2 a)`"),
            ("a.14", "`A(fst e)(a) = C(e)(λx. a := fst x)`"),
            ("a.15", "`A(snd e)(a) = C(e)(λx. a := snd x)`"),
            ("a.transpose", "`A(transpose e)(a) = A(e)(transposeAcc a)`"),
            ("a.reverse", "`A(reverse e)(a) = A(e)(reverseAcc a)`"),
            ("a.copy", "`A(copy e)(a) = A(e)(a)`"),
            ("a.toMem", "`A(toMem e)(a) = A(e)(a)`"),
            ("a.reverseSeq", "`A(reverseSeq e)(a) = C(e)(λx. reverseSeqI x a)`"),
            ("a.copySeq", "`A(copySeq e)(a) = C(e)(λx. copySeqI x a)`"),
            ("a.transPar", "`A(transPar e)(a) = C(e)(λx. transParI x a)`"),
            ("a.scatter", "`A(scatter is b e)(a) = A(b)(a); C(is)(λi. C(e)(λx. scatterI i x a))`"),
            ("a.concat", "`A(concat e1 e2)(a) = A(e1)(takeAcc a); A(e2)(dropAcc a)`"),
            (
                "a.pad",
                "`A(pad l r v e)(a) = C(v)(λx. …)`: `x` into the first `l` and the last `r` elements, `A(e)` into those between",
            ),
            ("a.asVector", "`A(asVector k e)(a) = A(e)(asVectorAcc a)`"),
            ("a.asScalar", "`A(asScalar e)(a) = A(e)(asScalarAcc a)`"),
            ("a.generate", "`A(generate n f)(a) = mapI (λi o. A(f i)(o)) (iota n) a`"),
            (
                "a.select",
                "`A(select c e1 e2)(a) = C(c)(λx. if x A(e1)(a) A(e2)(a))`, or `a := select x v1 v2` where the operands need no commands",
            ),
            (
                "a.let",
                "`A(let x = e1 in e2)(a) = C(e1)(λx. A(e2)(a))`; a variable that is read once stands for the term itself",
            ),
        ],
    ),
    (
        "Continuation-passing",
        "`C(e)(λx. c)` computes `e` and continues with `c`, in which `x` stands for it.",
        &[
            ("c.1", "`C(e)(λx. c) = c[x := e]` for an expression that needs no commands"),
            ("c.2", "`C(neg e)(c) = C(e)(λx. c (neg x))`"),
            ("c.3", "`C(e1 + e2)(c) = C(e1)(λx. C(e2)(λy. c (x + y)))`"),
            ("c.4", "`C(e1 * e2)(c) = C(e1)(λx. C(e2)(λy. c (x * y)))`"),
            (
                "c.5",
                "`C(mapPar f e)(c) = new (λtmp. A(mapPar f e)(tmp.1); c tmp.2)`; in default mode only where the reader is sequential or reads at random and `f` has loops",
            ),
            (
                "c.6",
                "`C(mapSeq f e)(c) = new (λtmp. A(mapSeq f e)(tmp.1); c tmp.2)`; in default mode only where the reader reads at random and `f` has loops",
            ),
            ("c.mapVec", "as c.5"),
            ("c.mapUnroll", "as c.6"),
            (
                "c.mapV",
                "`C(map f e)(c) = C(e)(λx. c (map f x))`: the result is a view, computed when it is read (default mode)",
            ),
            ("c.7", "`C(reduceSeq f i e)(c) = C(e)(λx. C(i)(λy. reduceSeqI (λx y o. A(f x y)(o)) y x c))`"),
            ("c.reduceUnroll", "as c.7, by `reduceUnrollI`"),
            ("c.reducePar", "as a.reducePar, with `c` for `λr. A(r)(a)`"),
            ("c.iterate", "as a.iterate, with `c`"),
            ("c.8", "`C(zip e1 e2)(c) = C(e1)(λx. C(e2)(λy. c (zip x y)))`"),
            ("c.9", "`C(split k e)(c) = C(e)(λx. c (split k x))`"),
            ("c.10", "`C(join e)(c) = C(e)(λx. c (join x))`"),
            ("c.11", "`C((e1, e2))(c) = C(e1)(λx. C(e2)(λy. c (x, y)))`"),
            ("c.12", "`C(fst e)(c) = C(e)(λx. c (fst x))`"),
            ("c.13", "`C(snd e)(c) = C(e)(λx. c (snd x))`"),
            (
                "c.select",
                "`C(select c e1 e2)(k) = C(c)(λx. k (select x v1 v2))` where the operands need no commands, else `new (λtmp. if x A(e1)(tmp.1) A(e2)(tmp.1); k tmp.2)`",
            ),
            (
                "c.let",
                "`C(let x = e1 in e2)(c) = C(e1)(λx. C(e2)(c))`; a variable that is read once stands for the term itself",
            ),
            ("c.scanSeq", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.reduceByIndex", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.reverseSeq", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.copySeq", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.transPar", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.scatter", "`C(e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            ("c.toMem", "`C(toMem e)(c) = new (λtmp. A(e)(tmp.1); c tmp.2)`"),
            (
                "share",
                "`c[x := e] = new (λtmp. A(e)(tmp.1); c[x := tmp.2])` where `x` is read more than once and `e` takes arithmetic",
            ),
        ],
    ),
    (
        "Delayed arrays (default mode)",
        "An element of a view is read by moving the index down to the `map` below. The rules `cge` for\n\
         views apply here too.",
        &[
            ("v.map", "`C((map f e)[i])(c) = C(e[i])(λx. C(f x)(c))`"),
            ("v.generate", "`C((generate n f)[i])(c) = C(f i)(c)`"),
            ("v.reorder", "`C((reorder f e)[i])(c) = C(f i)(λj. C(e[j])(c))`"),
        ],
    ),
    (
        "Macros",
        "The macros between the two halves, defined by loops. In default mode an element is read by\n\
         `C(xs[i])`, so that delayed arrays are computed there.",
        &[
            ("mapParI", "`mapParI f xs out = parfor n out (λi o. f xs[i] o)`"),
            ("mapSeqI", "`mapSeqI f xs out = seqfor n (λi. f xs[i] out{i})`"),
            ("mapVecI", "`mapVecI f xs out = vecfor n out (λi o. f xs[i] o)`"),
            ("mapUnrollI", "`mapUnrollI f xs out = unrollfor n (λi. f xs[i] out{i})`"),
            ("mapI.join", "`mapI f (join xs) out = mapI (λr o. mapI f r o) xs (joinAcc out)` (default mode)"),
            (
                "reduceSeqI",
                "`reduceSeqI f init xs c = new (λv. v.1 := init; seqfor n (λi. update v (λo. f xs[i] v.2 o)); c v.2)`",
            ),
            ("reduceUnrollI", "as reduceSeqI, by `unrollfor`"),
            (
                "reduceParI",
                "`reduceParI (+) g init xs c = new (λv. v.1 := init; reducefor (+) v n (λi. v.1 (+):= g xs[i]); c v.2)`",
            ),
            (
                "scanSeqI",
                "`scanSeqI f init xs out = new (λv. v.1 := init; seqfor n (λi. update v (λo. f xs[i] v.2 o); out{i} := v.2))`",
            ),
            (
                "reduceByIndexI",
                "`reduceByIndexI f is xs out = seqfor n (λi. if (0 <= is[i] && is[i] < m) (alias out{is[i]} (λv. update v (λo. f xs[i] v.2 o))))`; no condition where `is` is `map i64` of indices below `m`",
            ),
            ("reverseSeqI", "`reverseSeqI xs out = seqfor n (λi. out{i} := xs[n - 1 - i])`"),
            ("copySeqI", "`copySeqI xs out = seqfor n (λi. out{i} := xs[i])`"),
            ("transParI", "`transParI xs out = parfor n out (λi o. seqfor m (λj. o{j} := xs[j][i]))`"),
            ("scatterI", "`scatterI is xs out = seqfor n (λi. out{is[i]} := xs[i])`"),
        ],
    ),
    (
        "Code generation: commands",
        "`CodeGen_comm(c)` is a list of statements of a loop program.",
        &[
            ("cgc.1", "`skip` is nothing"),
            ("cgc.2", "`c1; c2` is one after the other"),
            ("cgc.3", "`a := e` is an assignment of `CodeGen_exp(e, [])` to `CodeGen_acc(a, [])`"),
            (
                "cgc.3.array",
                "`a := e` for arrays is `seqfor n (λi. a{i} := e[i])`; for vectors by a vector loop",
            ),
            ("cgc.3.pair", "`a := e` for pairs is `pairAcc1 a := fst e; pairAcc2 a := snd e`"),
            ("cgc.4", "`new t (λv. c)` is a declaration, then `c`"),
            ("cgc.5", "`seqfor n (λi. c)` is a sequential loop"),
            ("cgc.6", "`parfor n a (λi o. c)` is a parallel loop over `c[o := a{i}]`"),
            ("cgc.if", "`if e c1 c2` is a conditional"),
            ("cgc.alias", "`alias a (λv. c)` is `c`, where `v` is where `a` writes"),
            ("cgc.reduce", "`reducefor (+) v n (λi. c)` is a parallel loop that privatises `v`"),
            (
                "cgc.inplace",
                "`update v (λo. c) = c[o := v]` where every element of `v` is read before it is written, by the subscripts of the generated statements",
            ),
            (
                "cgc.staged",
                "`update v (λo. c) = new (λw. c[o := w]; v := w)` otherwise; `w` is declared beside `v`",
            ),
            (
                "cgc.turns",
                "two iterations of a loop over a staged update are one, the second with `v` and `w` exchanged, instead of `v := w` (default mode)",
            ),
        ],
    ),
    (
        "Code generation: acceptors",
        "`CodeGen_acc(a, path)` is an element of an array. (The step that enters a path comes first.)",
        &[
            ("cga.1", "`(x, p)` is the element of `x` at `p`"),
            ("cga.2", "`(zipAcc1 a, i :: p) = (a, i :: .x1 :: p)`"),
            ("cga.3", "`(zipAcc2 a, i :: p) = (a, i :: .x2 :: p)`"),
            ("cga.4", "`(splitAcc a, i :: p) = (a, i / k :: i % k :: p)`"),
            ("cga.5", "`(joinAcc a, i :: j :: p) = (a, i * n + j :: p)`"),
            ("cga.6", "`(a{i}, p) = (a, i :: p)`"),
            ("cga.7", "`(pairAcc1 a, p) = (a, .x1 :: p)`"),
            ("cga.8", "`(pairAcc2 a, p) = (a, .x2 :: p)`"),
            ("cga.transpose", "`(transposeAcc a, i :: j :: p) = (a, j :: i :: p)`"),
            ("cga.reverse", "`(reverseAcc a, i :: p) = (a, n - 1 - i :: p)`"),
            ("cga.take", "`(takeAcc a, p) = (a, p)`"),
            ("cga.drop", "`(dropAcc k a, i :: p) = (a, i + k :: p)`"),
            ("cga.map", "`(mapAcc v a, i :: p) = (a, i :: q)` where `(v b, p) = (b, q)`"),
            ("cga.unzip", "`(unzipAcc a, i :: s :: p) = (a, s :: i :: p)` for a component `s`"),
            ("cga.asVector", "`(asVectorAcc a, i :: p) = (a, i / k :: i % k :: p)`"),
            ("cga.asScalar", "`(asScalarAcc a, i :: l :: p) = (a, i * k + l :: p)`"),
        ],
    ),
    (
        "Code generation: expressions",
        "`CodeGen_exp(e, path)` is a scalar expression.",
        &[
            ("cge.1", "`(x, p)` is the value of `x` at `p`"),
            ("cge.2", "`(neg e, []) = -(e, [])`"),
            (
                "cge.3",
                "`(e1 + e2, []) = (e1, []) + (e2, [])`; for vectors `(e1 + e2, l) = (e1[l] + e2[l], [])`, and so for every operator",
            ),
            ("cge.4", "`(e1 * e2, []) = (e1, []) * (e2, [])`"),
            ("cge.5", "`(zip e1 e2, i :: .x1 :: p) = (e1, i :: p)`"),
            ("cge.6", "`(zip e1 e2, i :: .x2 :: p) = (e2, i :: p)`"),
            ("cge.7", "`(e[i], p) = (e, i :: p)`"),
            ("cge.8", "`(split k e, i :: j :: p) = (e, i * k + j :: p)`"),
            ("cge.9", "`(join e, i :: p) = (e, i / n :: i % n :: p)`"),
            ("cge.10", "`((e1, e2), .x1 :: p) = (e1, p)`"),
            ("cge.11", "`((e1, e2), .x2 :: p) = (e2, p)`"),
            ("cge.12", "`(fst e, p) = (e, .x1 :: p)`"),
            ("cge.13", "`(snd e, p) = (e, .x2 :: p)`"),
            ("cge.mapV", "`(map f e, i :: p) = (f e[i], p)`"),
            ("cge.generate", "`(generate n f, i :: p) = (f i, p)`"),
            ("cge.iota", "`(iota n, i) = i`"),
            ("cge.unzip", "`(unzip e, s :: i :: p) = (e, i :: s :: p)` for a component `s`"),
            ("cge.transpose", "`(transpose e, i :: j :: p) = (e, j :: i :: p)`"),
            ("cge.reverse", "`(reverse e, i :: p) = (e, n - 1 - i :: p)`"),
            ("cge.copy", "`(copy e, p) = (e, p)`"),
            ("cge.slide", "`(slide w s e, i :: j :: p) = (e, i * s + j :: p)`"),
            ("cge.pad", "`(pad l r v e, i :: p) = select (l <= i && i < l + n) (e, i - l :: p) (v, p)`"),
            ("cge.padClamp", "`(padClamp l r e, i :: p) = (e, min (max (i - l) 0) (n - 1) :: p)`"),
            ("cge.concat", "`(concat e1 e2, i :: p) = select (i < n) (e1, i :: p) (e2, i - n :: p)`"),
            ("cge.take", "`(take k e, p) = (e, p)`"),
            ("cge.drop", "`(drop k e, i :: p) = (e, i + k :: p)`"),
            ("cge.gather", "`(gather is e, i :: p) = (e, is[i] :: p)`"),
            ("cge.reorder", "`(reorder f e, i :: p) = (e, f i :: p)`"),
            ("cge.asVector", "`(asVector k e, i :: l) = (e, i * k + l)`"),
            ("cge.asScalar", "`(asScalar e, i) = (e, i / k :: i % k)`"),
            ("cge.splat", "`(splat k e, l) = (e, [])`"),
            ("cge.select", "`(select c e1 e2, p) = select (c, []) (e1, p) (e2, p)`"),
            ("cge.idxpred", "`(idxpred n, []) = n - 1`"),
            ("cge.dividx", "`(dividx e1 e2, [])` is the quotient, and 0 where the divisor is 0"),
            ("cge.toIdx", "`(toIdx n e, []) = min (max (e, []) 0) (n - 1)`"),
        ],
    ),
];

/// Lemmas of single rules in `proofs/`: the rules, the file, the lemma, what it says.
pub const LEMMAS: &[(&[&str], &str, &str, &str)] = &[
    (&["a.iota", "c.iota", "cge.iota"], "Patterns.v", "iota_translated", "element `j` of the output is `j`"),
    (
        &["a.scatter", "c.scatter"],
        "Patterns.v",
        "scatter_translated",
        "element `j` of the output is the last element whose index is `j`, else that of `b`",
    ),
    (&["scatterI"], "Macros.v", "scatterI_ok", "the same of the loop, for any acceptor"),
    (
        &["a.reduceByIndex", "c.reduceByIndex"],
        "Patterns.v",
        "reduceByIndex_translated",
        "element `j` of the output is the reduction, from that of `b`, of the elements whose index is `j`; for `reduceByIndex` as a reduction to an array",
    ),
    (
        &["reduceByIndexI"],
        "Patterns.v",
        "reduceByIndexI_ok",
        "the same of the loop with `cgc.staged`, for indices below `m` and any acceptor",
    ),
    (
        &["a.blocks"],
        "Patterns.v",
        "scanPar_translated",
        "the output of `scanPar` over blocks is that of `scanSeq`, if the function associates",
    ),
    (&["a.blocks"], "Blocks.v", "reducePar_in_blocks", "the same of `reducePar`"),
    (&["a.blocks"], "Blocks.v", "reduceByIndexPar_in_blocks", "the same of `reduceByIndexPar`"),
    (
        &["a.reducePar", "c.reducePar"],
        "TranslationFacts.v",
        "reducePar_means",
        "a sum in parallel is the one in sequence",
    ),
    (&["cgc.inplace"], "InPlace.v", "look_sound", "the test of subscripts is right"),
    (&["v.map"], "Fusion.v", "fused_correct", "reading an element runs the loops that compute it"),
];

/// All rules, in the order of `docs/rules.md`.
pub fn rules() -> Vec<Rule> {
    let mut list = Vec::new();
    for (_, _, rules) in SECTIONS {
        list.extend(rules.iter().map(|(name, text)| Rule { name, statement: (*text).to_owned() }));
        let stage = rules.first().map_or("", |(name, _)| name.split('.').next().unwrap_or(""));
        list.extend(of_primitives(stage, &list));
    }
    list
}

/// Rules of primitives that all have one form: the primitives of the table that are not written out
/// here.
fn of_primitives(stage: &str, known: &[Rule]) -> Vec<Rule> {
    let column = match stage {
        "a" => 0,
        "c" => 1,
        "cge" => 2,
        _ => return Vec::new(),
    };
    let mut names: BTreeSet<&str> = known.iter().map(|rule| rule.name).collect();
    let mut list = Vec::new();
    for info in TABLE {
        let name = info.rules[column];
        if name.is_empty() || !names.insert(name) {
            continue;
        }
        let which: Vec<&str> = TABLE.iter().filter(|i| i.rules[column] == name).map(|i| i.name).collect();
        let p = if which.len() == 1 { which[0].to_owned() } else { "p".to_owned() };
        let among =
            if which.len() == 1 { String::new() } else { format!(" for `p` among `{}`", which.join(" ")) };
        let scalar = info.group == Group::Scalar || (info.group == Group::Index && info.prim != Prim::Index);
        let statement = match column {
            0 if scalar => format!("`A({p} e …)(a) = C(e)(λx. … a := {p} x …)`{among}"),
            0 => format!("`A({p} e …)(a) = C(e)(λx. … A({p} x …)(a))`{among}"),
            1 if info.prim == Prim::Index => {
                "`C(e[i])(c) = C(e)(λx. C(i)(λj. c x[j]))`; in default mode `C(x[j])(c)`".to_owned()
            }
            1 => format!("`C({p} e …)(c) = C(e)(λx. … c ({p} x …))`{among}"),
            _ => format!("`({p} e …, [])` is the operation on `(e, []) …`{among}"),
        };
        list.push(Rule { name, statement });
    }
    list
}

/// The page `docs/rules.md`.
pub fn page() -> String {
    let mut text = String::from(
        "# Rules of the translation\n\nThis page lists every rule by which a definition becomes loops. It is for people who read a\n\
         derivation. [From functional programs to loops](translation.md) explains the two halves of the\n\
         translation. `lozenge explain FILE --def NAME` shows each application of a rule.\n\n\
         Numbered rules are those of the [paper](sources.md#matrix-programs), with misprints corrected. Named\n\
         rules are extensions. The page is made from `crates/dpia/src/rules.rs` and the table of primitives.\n\
         A test keeps it equal to them.\n",
    );
    let mut list = rules().into_iter().peekable();
    for (k, (title, intro, _)) in SECTIONS.iter().enumerate() {
        let _ = write!(text, "\n## {title}\n\n{intro}\n\n| rule | statement |\n| --- | --- |\n");
        let next = SECTIONS.get(k + 1).and_then(|(_, _, rules)| rules.first()).map(|(name, _)| *name);
        while let Some(rule) = list.peek() {
            if Some(rule.name) == next {
                break;
            }
            let _ = writeln!(text, "| `{}` | {} |", rule.name, rule.statement.replace('|', "\\|"));
            list.next();
        }
    }
    text.push_str(
        "\n## Lemmas\n\n[What is proved](verification.md#the-translation-for-all-programs) has the theorem about all rules\n\
         together (`tr_correct`): each constructor of the theory is a case of it. These rules have lemmas of\n\
         their own.\n\n\
         | rules | lemma | it says |\n| --- | --- | --- |\n",
    );
    for (rules, file, lemma, says) in LEMMAS {
        let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
        let _ = writeln!(text, "| {} | `{lemma}` ([{file}](../proofs/{file})) | {says} |", rules.join(" "));
    }
    text
}
