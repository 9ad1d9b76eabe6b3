//! Programs of the paper, end to end.
mod support;
use dpia::{Mode, translate};

#[test]
fn show() {
    for d in [support::dot(), support::dot_split(), support::block_product(), support::swap()] {
        for mode in [Mode::Paper, Mode::Default] {
            match translate(&d, mode) {
                Ok(t) => {
                    println!("{}\n{}\n{}", t.commands(), t.derivation, support::program(vec![t.function]))
                }
                Err(e) => println!("{e} {:?}", e.labels),
            }
        }
    }
}
