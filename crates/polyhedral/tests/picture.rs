//! Pictures: what is drawn for some kernels, and what is refused.

mod common;

use polyhedral::picture::{Options, svg};
use polyhedral::{Model, Tree, optimize};

/// The picture of a function under a given schedule, or under the order of the text.
fn draw(text: &str, schedule: Option<&str>, options: &Options) -> polyhedral::Result<String> {
    let model = Model::extract(&common::function(text)).unwrap();
    let before = Tree::original(&model).unwrap();
    let after = schedule.map_or(before.clone(), |text| text.parse().unwrap());
    let how = polyhedral::Options { schedule: Some(after.into()), ..polyhedral::Options::default() };
    svg(&model.function, &before, &optimize(&model.function, &how).unwrap(), options)
}

/// Each tag that is opened is closed, in order.
fn well_formed(text: &str) {
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap();
        assert!(piece.contains('>'), "{piece}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn kernels_are_drawn() {
    golden::check("polyhedral/pictures", "loops", "svg", |case| {
        let default = if case.name == "product" { 3 } else { 5 };
        // Schedules of their own, so that a better scheduler leaves the pictures as they are.
        let schedule = golden::folder("polyhedral/pictures").join(format!("{}.tree", case.name));
        let schedule = std::fs::read_to_string(schedule).unwrap();
        let picture = draw(&case.input, Some(&schedule), &Options { default, ..Options::default() }).unwrap();
        well_formed(&picture);
        picture
    });
}

const CUBE: &str = "fn f[n](a: inout f64[n][n][n]) {
  for i in 0..n { for j in 0..n { for k in 0..n { S: a[i][j][k] = 1.0 } } } }";

#[test]
fn every_instance_is_drawn_twice() {
    let picture = draw(CUBE, None, &Options { default: 4, ..Options::default() }).unwrap();
    well_formed(&picture);
    assert_eq!(picture.matches("<circle").count(), 2 * 64);
    let empty = draw(CUBE, None, &Options { default: 0, ..Options::default() }).unwrap();
    well_formed(&empty);
    assert_eq!(empty.matches("<circle").count(), 0);
}

#[test]
fn quotients_by_negative_numbers_have_a_place() {
    let text = "fn f[n](a: inout i64[n]) {
  for i in 0..(n floordiv (0 - 1)) + 2 * n { S: a[i] = 1 } }";
    let picture = draw(text, None, &Options { default: 5, ..Options::default() }).unwrap();
    assert_eq!(picture.matches("<circle").count(), 2 * 5);
}

#[test]
fn too_much_is_refused() {
    for (default, instances) in [(6, 100), (1000, 600), (i64::MAX, usize::MAX)] {
        let refused = draw(CUBE, None, &Options { default, instances, ..Options::default() }).unwrap_err();
        assert_eq!(refused.code.0, "P0701", "{refused}");
    }
}
