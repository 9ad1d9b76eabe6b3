//! The five representations: what each says of a schedule, that its text reads back, and that
//! conversions keep the order.

mod common;

use isl::{Ctx, UnionMap};
use polyhedral::representation::{Form, Representation};
use polyhedral::{Model, Tree, check, dependence};

/// The pairs of instances of which the first runs first.
fn order(ctx: &Ctx, tree: &Tree) -> UnionMap {
    let time = tree.to_isl(ctx).unwrap().map().unwrap();
    time.lex_lt(&time).unwrap()
}

/// Each form of a tree, or why there is none. What reads back and goes to a tree again must keep
/// the order.
fn forms(model: &Model, tree: &Tree) -> String {
    let mut text = String::new();
    for form in Form::ALL {
        match Representation::of_tree(tree, form) {
            Err(diagnostic) => text.push_str(&format!("{diagnostic}\n")),
            Ok(value) => {
                let printed = value.to_string();
                text.push_str(&printed);
                let back: Representation = printed.parse().unwrap();
                assert_eq!(back, value);
                let again = back.to_tree(model).unwrap();
                let (old, new) = (order(model.ctx(), tree), order(model.ctx(), &again));
                assert!(old.is_equal(&new).unwrap(), "{form} changes the order:\n{tree}\n{printed}\n{again}");
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn every_form_of_the_order_of_the_text() {
    golden::check("polyhedral/representations", "loops", "out", |case| {
        let model = Model::extract(&common::function(&case.input)).unwrap();
        let tree = Tree::original(&model).unwrap();
        check::tree(&model, &dependence::memory(&model).unwrap(), &tree).unwrap();
        forms(&model, &tree)
    });
}

const PRODUCT: &str = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]) {
  for i in 0..n { for j in 0..n { for k in 0..n { S: c[i][j] += a[i][k] * b[k][j] } } } }";

#[test]
fn tiles_have_times_but_no_2d_1() {
    let model = Model::extract(&common::function(PRODUCT)).unwrap();
    let original = Tree::original(&model).unwrap().to_string();
    let outer = "band\n  { S[i, j, k] -> [(i)] }\n";
    let tiles = "band\n  { S[i, j, k] -> [(floor((i)/4))] }\n";
    assert!(original.contains(outer), "{original}");
    let tree: Tree = original.replacen(outer, &format!("{tiles}{outer}"), 1).parse().unwrap();
    let told = forms(&model, &tree);
    assert!(told.contains("kelly [n]\nS(i, j, k) -> (floor((i)/4), i, j, k)"), "{told}");
    let refused = Representation::of_tree(&tree, Form::TwoDPlusOne).unwrap_err();
    assert_eq!(refused.code.0, "P0602");
    assert!(refused.message.contains("tiling"), "{refused}");
}

#[test]
fn parts_of_a_statement_have_times_of_their_own() {
    let text = "fn f[n](a: inout f64[n]) { for i in 0..n { S: a[i] = 1.0 } }";
    let model = Model::extract(&common::function(text)).unwrap();
    let tree: Tree = "domain [n] -> { S[i] : 0 <= i < n }
sequence
  filter { S[i] : i >= 4 }
    band
      { S[i] -> [(i)] }
    leaf
  filter { S[i] : i < 4 }
    band
      { S[i] -> [(-i)] }
    leaf
"
    .parse()
    .unwrap();
    let told = forms(&model, &tree);
    assert!(told.contains("S(i) -> (0, i) : i >= 4\nS(i) -> (1, -i) : i <= 3"), "{told}");
}

#[test]
fn texts_that_are_wrong_are_refused() {
    for text in [
        "kelly n\nS(i) -> (i)",
        "kelly\nS(i) (i)",
        "kelly\nS i -> (i)",
        "kelly\nS(i) -> i",
        "kelly\nS(i) -> (0, i",
        "kelly\nS(i) -> (0,, i)",
        "kelly\nS(1) -> (0)",
        "kelly\nS(i) -> (i) and more",
        "kelly\nS(i) -> (i) : i < 3; T[i]",
        "kelly\nS(i) -> (i)\nS(i) -> (0)",
        "2d+1\nS(i) -> (0, \"i\", 0)",
    ] {
        let diagnostic = text.parse::<Representation>().unwrap_err();
        assert_eq!(diagnostic.code.0, "P0601", "{text}: {diagnostic}");
    }
    let model = Model::extract(&common::function(PRODUCT)).unwrap();
    for text in ["kelly\nT(i) -> (i)", "kelly\nS(i) -> (i)", "kelly\n"] {
        let diagnostic = text.parse::<Representation>().unwrap().to_tree(&model).unwrap_err();
        assert_eq!(diagnostic.code.0, "P0601", "{text}: {diagnostic}");
    }
    let unread = "kelly\nS(i, j, k) -> (i + q r)".parse::<Representation>().unwrap().to_tree(&model);
    assert_eq!(unread.unwrap_err().code.0, "P0001");
}
