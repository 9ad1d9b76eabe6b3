//! The stages by themselves: dependences, the text of trees, and illegal ones.

mod common;

use isl::Ctx;
use polyhedral::{Model, Tree, check, dependence};

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

#[test]
fn an_illegal_tree_is_shown_by_two_instances() {
    let text = "fn f[n](a: inout f64[n]) { for i in 1..n { S: a[i] = a[i - 1] } }";
    let model = Model::extract(&common::function(text)).unwrap();
    let tree = Tree::original(&model).unwrap();
    let backwards: Tree = tree.to_string().replace("[(i)]", "[(-i)]").parse().unwrap();
    assert_ne!(backwards, tree);
    let dependences = dependence::memory(&model).unwrap();
    let diagnostic = check::tree(&model, &dependences, &backwards).unwrap_err();
    assert_eq!(diagnostic.code.0, "P0401");
    assert!(
        diagnostic.message.ends_with("(flow dependence on `a`): S(1) and S(2) for n = 3"),
        "{diagnostic}"
    );
}
