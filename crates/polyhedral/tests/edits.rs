//! Edits that change what runs before what, and insertions: legal ones give the same results, others are refused.

mod common;

use polyhedral::dependence::{self, Dependence};
use polyhedral::transform::{self, distribute, fuse, group, insert, reorder, sink, split};
use polyhedral::tree::Node;
use polyhedral::{Model, Tree, check, codegen};

struct Case {
    model: Model,
    dependences: Vec<Dependence>,
    tree: Tree,
}

fn case(text: &str) -> Case {
    let model = Model::extract(&common::function(text)).unwrap();
    let dependences = dependence::memory(&model).unwrap();
    let tree = Tree::original(&model).unwrap();
    Case { model, dependences, tree }
}

impl Case {
    /// Legal by the dependences and by its code, and the same results.
    fn holds(&self, tree: &Tree) {
        check::tree(&self.model, &self.dependences, tree).unwrap();
        let generated = codegen::generate(&self.model, tree, 1_000_000).unwrap();
        check::function(&self.model.function, &generated, 1_000_000).unwrap();
        common::same_results(&self.model.function, &generated.function, &[0, 1, 2, 5, 7]);
        assert_eq!(tree.to_string().parse::<Tree>().unwrap(), *tree);
    }
}

/// Two loops of which the second reads what the first writes, at the same index.
const CHAIN: &str = "fn f[n](a: inout f64[n], b: inout f64[n]) {
  for i in 0..n { S: a[i] = a[i] * 2.0 }
  for i in 0..n { T: b[i] = b[i] + a[i] } }";

/// The second loop reads what the first writes one iteration later.
const AHEAD: &str = "fn f[n](a: inout f64[n + 1], b: inout f64[n]) {
  for i in 0..n + 1 { S: a[i] = a[i] * 2.0 }
  for i in 0..n { T: b[i] = b[i] + a[i + 1] } }";

/// Two loops that have nothing to do with each other.
const APART: &str = "fn f[n](a: inout f64[n], b: inout f64[n]) {
  for i in 0..n { S: a[i] = a[i] * 2.0 }
  for i in 0..n { T: b[i] = b[i] + 1.0 } }";

/// One loop in which the second statement feeds the next iteration of the first.
const CARRIED: &str = "fn f[n](a: inout f64[n + 1], b: inout f64[n]) {
  for i in 0..n { S: b[i] = a[i] * 2.0
    T: a[i + 1] = b[i] + 1.0 } }";

const SWEEP: &str = "fn f[n](a: inout f64[n][n]) {
  for i in 1..n { for j in 0..n { S: a[i][j] = a[i - 1][j] + 1.0 } } }";

const ANTIDIAGONAL: &str = "fn f[n](a: inout f64[n][n + 1]) {
  for i in 1..n { for j in 0..n { S: a[i][j] = a[i - 1][j + 1] + 1.0 } } }";

#[test]
fn fuse_and_distribute() {
    let c = case(CHAIN);
    let fused = fuse(&c.model, &c.dependences, &c.tree, &[0]).unwrap();
    assert!(matches!(fused.at(&[0]).unwrap(), Node::Band(_)));
    c.holds(&fused);
    let apart = distribute(&c.model, &c.dependences, &fused, &[0]).unwrap();
    assert!(matches!(apart.at(&[0]).unwrap(), Node::Sequence(_)));
    c.holds(&apart);

    let c = case(AHEAD);
    let refused = fuse(&c.model, &c.dependences, &c.tree, &[0]).unwrap_err();
    assert_eq!(refused.code.0, "P0401", "{refused}");
    // Shifted by one, the fusion is legal.
    let shifted = transform::shift(c.model.ctx(), &c.tree, &[0, 1], 0, 1).unwrap();
    c.holds(&fuse(&c.model, &c.dependences, &shifted, &[0]).unwrap());

    let c = case(CARRIED);
    let refused = distribute(&c.model, &c.dependences, &c.tree, &[0]).unwrap_err();
    assert_eq!(refused.code.0, "P0401", "{refused}");
}

#[test]
fn reorder_branches() {
    let c = case(APART);
    c.holds(&reorder(&c.model, &c.dependences, &c.tree, &[0], &[1, 0]).unwrap());
    let c = case(CHAIN);
    c.holds(&reorder(&c.model, &c.dependences, &c.tree, &[0], &[0, 1]).unwrap());
    let refused = reorder(&c.model, &c.dependences, &c.tree, &[0], &[1, 0]).unwrap_err();
    assert_eq!(refused.code.0, "P0401", "{refused}");
    assert!(refused.message.contains("S(0) and T(0)"), "{refused}");
    for order in [&[0][..], &[0, 0], &[0, 2]] {
        let refused = reorder(&c.model, &c.dependences, &c.tree, &[0], order).unwrap_err();
        assert_eq!(refused.code.0, "P0202", "{refused}");
    }
}

#[test]
fn sink_a_band() {
    let c = case(SWEEP);
    let sunk = sink(&c.model, &c.dependences, &c.tree, &[0]).unwrap();
    c.holds(&sunk);
    assert!(sunk.to_string().contains("{ S[i, j] -> [(j)] }\nband\n  { S[i, j] -> [(i)] }\nleaf"), "{sunk}");
    let innermost = sink(&c.model, &c.dependences, &c.tree, &[0, 0]).unwrap_err();
    assert_eq!(innermost.code.0, "P0202", "{innermost}");

    let c = case(ANTIDIAGONAL);
    let refused = sink(&c.model, &c.dependences, &c.tree, &[0]).unwrap_err();
    assert_eq!(refused.code.0, "P0401", "{refused}");

    // Into the branches of a sequence: split, then sink, as for the threads of a device.
    let c = case(
        "fn f[n](a: inout f64[n][n], b: inout f64[n][n]) {
  for i in 0..n { for j in 0..n { S: a[i][j] = a[i][j] * 2.0
      T: b[i][j] = b[i][j] + a[i][j] } } }",
    );
    let one = transform::combine(&c.tree, &[0], true).unwrap();
    let parts = split(&one, &[0], 1).unwrap();
    let sunk = sink(&c.model, &c.dependences, &parts, &[0, 0]).unwrap();
    assert!(matches!(sunk.at(&[0, 0]).unwrap(), Node::Sequence(_)), "{sunk}");
    c.holds(&sunk);
}

#[test]
fn group_instances() {
    let c = case(CARRIED);
    // Both statements of an iteration become one.
    let grouped = group(&c.model, &c.dependences, &c.tree, &[0, 0], "both")
        .unwrap_or_else(|d| panic!("{d} {:?}", d.notes));
    assert!(grouped.to_string().contains("expansion"), "{grouped}");
    assert!(grouped.to_string().contains("both["), "{grouped}");
    c.holds(&grouped);
    for name in ["", "S", "a b", "max"] {
        let refused = group(&c.model, &c.dependences, &c.tree, &[0, 0], name).unwrap_err();
        assert_eq!(refused.code.0, "P0202", "{refused}");
    }
    assert_eq!(group(&c.model, &c.dependences, &c.tree, &[], "both").unwrap_err().code.0, "P0202");
}

#[test]
fn insertions_must_hold() {
    let c = case(CHAIN);
    c.holds(&insert::filter(&c.model, &c.tree, &[0, 0], "[n] -> { S[i] : i >= 0 }").unwrap());
    let lost = insert::filter(&c.model, &c.tree, &[0, 0], "{ S[i] : i >= 1 }").unwrap_err();
    assert_eq!(lost.code.0, "P0203", "{lost}");
    let lost = insert::filter(&c.model, &c.tree, &[0], "{ S[i] }").unwrap_err();
    assert_eq!(lost.code.0, "P0203", "{lost}");

    c.holds(&insert::guard(&c.model, &c.tree, &[0], "[n] -> { : n >= 1 }").unwrap());
    c.holds(&insert::guard(&c.model, &c.tree, &[0, 0, 0], "[n] -> { [i] : 0 <= i < n }").unwrap());
    let loops = insert::guard(&c.model, &c.tree, &[0, 0, 0], "[n] -> { [i, j] : 0 <= i < n }").unwrap_err();
    assert_eq!(loops.code.0, "P0202", "{loops}");
    let drops = insert::guard(&c.model, &c.tree, &[0, 0, 0], "[n] -> { [i] : 1 <= i < n }").unwrap_err();
    assert_eq!(drops.code.0, "P0203", "{drops}");
    let drops = insert::guard(&c.model, &c.tree, &[0], "[n] -> { : n >= 3 }").unwrap_err();
    assert_eq!(drops.code.0, "P0203", "{drops}");

    let wrong = insert::context(&c.model, &c.tree, &[0], "[n] -> { : n >= 1 }").unwrap_err();
    assert_eq!(wrong.code.0, "P0203", "{wrong}");
    let assumed = case(&CHAIN.replace("b: inout f64[n])", "b: inout f64[n]) where n >= 4"));
    let known = insert::context(&assumed.model, &assumed.tree, &[0], "[n] -> { : n >= 1 }").unwrap();
    check::tree(&assumed.model, &assumed.dependences, &known).unwrap();
    codegen::generate(&assumed.model, &known, 1_000_000).unwrap();

    for refused in [
        insert::context(&c.model, &c.tree, &[], "{ : }"),
        insert::guard(&c.model, &c.tree, &[], "{ : }"),
        insert::filter(&c.model, &c.tree, &[], "{ S[i] }"),
    ] {
        assert_eq!(refused.unwrap_err().code.0, "P0202");
    }
}
