//! Programs for ranks that are written by hand: what they mean, what is counted, and what is
//! refused.

use std::collections::BTreeMap;

use loops::ranks::{Grid, RankProgram, check, count, parse, run};
use loops::{Data, Name, Tensor};

/// Each element plus its right neighbour, which may be another rank's.
const NEIGHBOURS: &str = "ranks f[n](x: in f64[n], y: inout f64[n]) grid 1 {
  cut b0: n along 0
  place x on (b0) halo (0 1)
  place y on (b0)
  overlap (b0 0 1) {
    fetch x(b0_lo .. b0_hi + 1) at all with (b0)
  } run all {
    for i in b0_lo..min(b0_hi, n - 1) {
      y[i] = x[i] + x[i + 1]
    }
  }
}
";

/// A sum in the order of the elements.
const CHAIN: &str = "ranks sum[n](x: in f64[n], s: inout f64) grid 1 {
  cut b0: n along 0
  place x on (b0)
  place s on ()
  run chain carrying s() {
    for i in b0_lo..b0_hi {
      s += x[i]
    }
  }
  return s() at last
}
";

/// Sums of strips of a vector that all ranks read, fetched while the strip before is added.
const AHEAD: &str = "ranks strips[n](x: inout f64[n], y: inout f64[n]) grid 1 {
  cut b0: n along 0
  place x on (b0)
  place y on (b0)
  for k in 0..n step 2 ahead {
    fetch x(k .. min(n, k + 2)) into part at all with (b0)
    run all {
      for i in b0_lo..b0_hi {
        for j in k..min(n, k + 2) {
          y[i] += part[j]
        }
      }
    }
  }
}
";

fn program(text: &str) -> RankProgram {
    let program = parse(text).unwrap_or_else(|d| panic!("{d}"));
    assert_eq!(parse(&program.to_string()).as_ref(), Ok(&program));
    check(&program).unwrap_or_else(|d| panic!("{d}"));
    program
}

fn vector(values: &[f64]) -> Tensor {
    Tensor { shape: vec![values.len()], data: Data::F64(values.to_vec()) }
}

fn size(n: i64) -> BTreeMap<Name, i64> {
    BTreeMap::from([(Name::new("n"), n)])
}

#[test]
fn halos_come_from_the_neighbour() {
    let program = program(NEIGHBOURS);
    let x: Vec<f64> = (0..7).map(f64::from).collect();
    let args = BTreeMap::from([(Name::new("x"), vector(&x)), (Name::new("y"), vector(&[0.0; 7]))]);
    for ranks in [1, 2, 3, 7, 9] {
        let ran = run(&program, &Grid(vec![ranks]), &size(7), &args, 3).expect("it runs");
        let expected: Vec<f64> = (0..6).map(|i| f64::from(2 * i + 1)).chain([0.0]).collect();
        assert_eq!(ran.outputs[&Name::new("y")], vector(&expected), "{ranks}");
        let blocks = (7 + ranks - 1) / ranks;
        let messages = (7 + blocks - 1) / blocks - 1;
        assert_eq!((ran.traffic.messages, ran.traffic.bytes), (messages, 8 * messages), "{ranks}");
        assert_eq!(count(&program, &Grid(vec![ranks]), &size(7)).expect("sizes"), ran.traffic);
    }
}

#[test]
fn chains_keep_the_order_of_sums() {
    let program = program(CHAIN);
    let x: Vec<f64> = (0..11).map(|i| 1.0 / f64::from(i + 3)).collect();
    let expected = x.iter().fold(0.5, |sum, x| sum + x);
    let scalar = |value: f64| Tensor { shape: vec![], data: Data::F64(vec![value]) };
    let args = BTreeMap::from([(Name::new("x"), vector(&x)), (Name::new("s"), scalar(0.5))]);
    for ranks in [1, 2, 4, 12] {
        let ran = run(&program, &Grid(vec![ranks]), &size(11), &args, 1).expect("it runs");
        assert_eq!(ran.outputs[&Name::new("s")], scalar(expected), "{ranks}");
    }
}

#[test]
fn what_is_not_fetched_is_not_there() {
    let text = NEIGHBOURS.replace("b0_hi + 1) at", "b0_hi) at");
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let args = BTreeMap::from([(Name::new("x"), vector(&x)), (Name::new("y"), vector(&[0.0; 6]))]);
    let ran = run(&program(&text), &Grid(vec![2]), &size(6), &args, 1).expect("it runs");
    let Data::F64(y) = &ran.outputs[&Name::new("y")].data else { panic!("numbers") };
    assert!(y[2].is_nan() && !y[1].is_nan(), "{y:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let code = |text: &str| match parse(text) {
        Err(d) => d.code.0,
        Ok(program) => check(&program).err().map_or("none", |d| d.code.0),
    };
    assert_eq!(code(NEIGHBOURS), "none");
    for (from, to, expected) in [
        ("y on (b0)", "y on (b1)", "L0403"),
        ("place y", "place z", "L0403"),
        ("along 0", "along 1", "L0404"),
        ("place y on (b0)", "place y on (b0, b0)", "L0404"),
        ("n along 0", "n along 0 by 4", "L0404"),
        ("halo (0 1)", "", "L0404"),
        ("y[i] = x", "z[i] = x", "L0404"),
        ("run all", "run last", "L0404"),
        ("grid 1", "grid 3", "L0404"),
        ("run all", "walk all", "L0101"),
    ] {
        assert_eq!(code(&NEIGHBOURS.replace(from, to)), expected, "{from} -> {to}");
    }
}

#[test]
fn strips_come_ahead_of_their_use() {
    let (x, y) = (vector(&[1.0, 2.0, 3.0, 4.0, 5.0]), vector(&[0.0, 10.0, 20.0, 30.0, 40.0]));
    let args = BTreeMap::from([(Name::new("x"), x), (Name::new("y"), y)]);
    for ranks in [1, 2, 3, 7] {
        let ahead = run(&program(AHEAD), &Grid(vec![ranks]), &size(5), &args, 1).expect("it runs");
        assert_eq!(ahead.outputs[&Name::new("y")], vector(&[15.0, 25.0, 35.0, 45.0, 55.0]), "{ranks}");
        let usual = AHEAD.replace(" ahead", "");
        let usual = run(&program(&usual), &Grid(vec![ranks]), &size(5), &args, 1).expect("it runs");
        assert_eq!(ahead, usual, "{ranks}");
    }
    // What the loop changes cannot be fetched before that.
    let changed = AHEAD.replace("y[i] += part[j]", "x[i] += part[j]");
    assert_eq!(parse(&changed).and_then(|program| check(&program)).map_err(|d| d.code.0), Err("L0404"));
}

#[test]
fn a_rank_that_writes_elsewhere_is_found() {
    let text = NEIGHBOURS.replace("b0_lo..min", "0..min");
    let x = vector(&[1.0; 6]);
    let args = BTreeMap::from([(Name::new("x"), x.clone()), (Name::new("y"), x)]);
    let error = run(&program(&text), &Grid(vec![2]), &size(6), &args, 1).expect_err("it is found");
    assert_eq!(error.code.0, "L0402");
    let text = NEIGHBOURS.replace("fetch x(b0_lo", "fetch x(k");
    let error = run(&program(&text), &Grid(vec![2]), &size(6), &args, 1).expect_err("it is found");
    assert_eq!(error.code.0, "L0401");
}
