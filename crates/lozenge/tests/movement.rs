//! No order moves less than what is said that any order moves: the text and the generated loops of
//! kernels and programs of many kinds, with caches that are small beside the data.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use lozenge::files::{self, read_source};
use lozenge::movement::{Moved, Steps, moved};
use lozenge::{Request, Schedule};
use optimize::{Cache, Machine};

const STEPS: Steps = Steps { chosen: 1 << 21, most: 1 << 24 };

fn caches() -> Vec<Cache> {
    let usual = Machine::default().caches;
    usual.into_iter().zip([512.0, 2048.0, 8192.0]).map(|(cache, bytes)| Cache { bytes, ..cache }).collect()
}

fn of(path: &str, definition: Option<&str>) -> Vec<Moved> {
    let request = Request {
        definition: definition.map(str::to_owned),
        caches: Some(Default::default()),
        registers: Some(Default::default()),
        schedule: Schedule::Auto,
        ..files::request()
    };
    let front = read_source(&golden::root().join(path)).and_then(|source| files::open(&source, &request));
    front.and_then(|front| moved(&front, &request, &BTreeMap::new(), &caches(), STEPS)).expect(path)
}

fn holds(all: Vec<Moved>) -> usize {
    let borders = all.iter().flat_map(|one| one.movement.borders.iter().map(move |b| (&one.name, b)));
    borders.clone().for_each(|(name, border)| {
        assert!(border.least > 0.0, "{name}: {border:?}");
        assert!(border.least <= border.text.min(border.generated), "{name}: {border:?}");
    });
    borders.filter(|(_, border)| border.by_accesses).count()
}

#[test]
fn kernels_move_no_less_than_any_order() {
    let kernels = ["gemm", "2mm", "syrk", "trmm", "lu-right", "cholesky", "jacobi-2d", "atax", "trisolv"];
    let by_accesses: usize =
        kernels.iter().map(|name| holds(of(&format!("tests/c/kernels/{name}.c"), None))).sum();
    // Products and factorisations, at the smaller caches.
    assert!(by_accesses >= 8, "{by_accesses}");
}

#[test]
fn a_sum_in_a_local_scalar_is_a_product_too() {
    let product = of("library/products.loz", Some("dproduct"));
    assert!(product[0].movement.borders[0].by_accesses, "{product:?}");
    holds(product);
}
