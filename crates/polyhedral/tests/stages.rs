//! The stages by themselves: dependences, the text of trees, and edits.

mod common;

use isl::Ctx;
use polyhedral::transform::{
    combine, interchange, mark, mark_loops, reverse, scale, shift, skew, split, strip_mine, tile,
};
use polyhedral::tree::Node;
use polyhedral::{Model, Tree, check, codegen, dependence};

#[test]
fn dependences_are_exact() {
    golden::check("polyhedral/dependences", "loops", "out", |case| {
        let model = Model::extract(&common::function(&case.input)).unwrap();
        let mut text = String::from("every pair:\n");
        for dependence in dependence::memory(&model).unwrap() {
            text.push_str(&format!("  {dependence}\n"));
        }
        text.push_str("dataflow:\n");
        for dependence in dependence::dataflow(&model).unwrap() {
            text.push_str(&format!("  {dependence}\n"));
        }
        text
    });
}

#[test]
fn trees_read_back_and_errors_have_a_line() {
    golden::check("polyhedral/trees", "tree", "out", |case| {
        let tree = match case.input.parse::<Tree>() {
            Ok(tree) => tree,
            Err(diagnostic) => return format!("{diagnostic}\n"),
        };
        assert_eq!(tree.to_string(), case.input, "what is printed is what was read");
        match tree.to_isl(&Ctx::new()) {
            Err(diagnostic) => format!("{diagnostic}\n"),
            Ok(schedule) => {
                let back = Tree::from_isl(&schedule).unwrap();
                let again = Tree::from_isl(&back.to_isl(schedule.ctx()).unwrap()).unwrap();
                assert_eq!(again, back);
                back.to_string()
            }
        }
    });
}

const PRODUCT: &str = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]) {
  for i in 0..n { for j in 0..n { for k in 0..n { S: c[i][j] += a[i][k] * b[k][j] } } } }";

/// The product's tree with its three loops in one permutable band, and its model.
fn product() -> (Model, Tree) {
    let model = Model::extract(&common::function(PRODUCT)).unwrap();
    let tree = Tree::original(&model).unwrap();
    let tree = combine(&tree, &[0, 0], true).unwrap();
    (model, combine(&tree, &[0], true).unwrap())
}

/// Legal by the dependences, and the same results.
fn holds(model: &Model, tree: &Tree) {
    check::tree(model, &dependence::memory(model).unwrap(), tree).unwrap();
    let generated = codegen::generate(model, tree, 1_000_000).unwrap();
    check::function(&model.function, &generated, 1_000_000).unwrap();
    common::same_results(&model.function, &generated.function, &[0, 1, 2, 5, 7]);
    assert_eq!(tree.to_string().parse::<Tree>().unwrap(), *tree);
}

#[test]
fn edits_give_legal_code() {
    let (model, tree) = product();
    let ctx = model.ctx();
    holds(&model, &tree);
    holds(&model, &tile(ctx, &tree, &[0], &[2, 3, 4]).unwrap());
    holds(&model, &interchange(&tree, &[0], &[2, 0, 1]).unwrap());
    holds(&model, &strip_mine(ctx, &tree, &[0], 2, 3).unwrap());
    holds(&model, &skew(ctx, &tree, &[0], 2, 0, 2).unwrap());
    holds(&model, &shift(ctx, &tree, &[0], 1, -7).unwrap());
    holds(&model, &scale(ctx, &tree, &[0], 1, 3).unwrap());
    holds(&model, &reverse(ctx, &tree, &[0], 0).unwrap());
    let parts = split(&tree, &[0], 1).unwrap();
    holds(&model, &parts);
    assert_eq!(combine(&parts, &[0], true).unwrap(), tree);
    let marked = mark_loops(&tree, &[0], &[Some("parallel"), None, Some("unroll 4")]).unwrap();
    holds(&model, &marked);
    holds(&model, &mark(&marked, &[0], "kernel").unwrap());
    let twice = tile(ctx, &tile(ctx, &tree, &[0], &[4, 4, 4]).unwrap(), &[0, 0], &[2, 2, 2]).unwrap();
    holds(&model, &twice);
}

#[test]
fn edits_that_do_not_fit_are_refused() {
    let (model, tree) = product();
    let ctx = model.ctx();
    let codes = [
        tile(ctx, &tree, &[0], &[2, 3]).unwrap_err(),
        tile(ctx, &tree, &[0], &[2, 0, 3]).unwrap_err(),
        tile(ctx, &tree, &[], &[2]).unwrap_err(),
        tile(ctx, &tree, &[0, 0, 0], &[2]).unwrap_err(),
        interchange(&tree, &[0], &[0, 0, 1]).unwrap_err(),
        split(&tree, &[0], 3).unwrap_err(),
        combine(&tree, &[0], true).unwrap_err(),
        skew(ctx, &tree, &[0], 1, 1, 1).unwrap_err(),
        scale(ctx, &tree, &[0], 1, 0).unwrap_err(),
        strip_mine(ctx, &tree, &[0], 5, 4).unwrap_err(),
        mark(&tree, &[], "kernel").unwrap_err(),
        mark(&tree, &[0], "a\"b").unwrap_err(),
        mark_loops(&tree, &[0], &[None]).unwrap_err(),
    ];
    for diagnostic in codes {
        assert_eq!(diagnostic.code.0, "P0202", "{diagnostic}");
    }
}

#[test]
fn an_illegal_tree_is_shown_by_two_instances() {
    let text = "fn f[n](a: inout f64[n]) { for i in 1..n { S: a[i] = a[i - 1] } }";
    let model = Model::extract(&common::function(text)).unwrap();
    let tree = Tree::original(&model).unwrap();
    let backwards = reverse(model.ctx(), &tree, &[0], 0).unwrap();
    let dependences = dependence::memory(&model).unwrap();
    let diagnostic = check::tree(&model, &dependences, &backwards).unwrap_err();
    assert_eq!(diagnostic.code.0, "P0401");
    assert!(
        diagnostic.message.ends_with("(flow dependence on `a`): S(1) and S(2) for n = 3"),
        "{diagnostic}"
    );
    assert!(matches!(tree.at(&[0]).unwrap(), Node::Band(_)));
}
