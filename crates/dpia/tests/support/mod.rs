//! Programs of the paper, built in Rust, for the tests of this crate.
#![allow(dead_code)]

use functional::build::{self, Built, Supply};
use functional::term::{Arg, Binder, Definition, Lambda, Term};
use functional::{DataType, Prim};
use loops::diagnostic::Span;
use loops::{Scalar, Size};

pub fn num() -> DataType {
    DataType::Scalar(Scalar::F32)
}

pub fn array(n: &str, t: DataType) -> DataType {
    DataType::array(Size::param(n), t)
}

pub fn definition(name: &str, sizes: &[&str], params: Vec<Binder>, body: Term) -> Definition {
    Definition {
        name: name.into(),
        sizes: sizes.iter().map(|s| (*s).into()).collect(),
        facts: vec![],
        params,
        body,
        span: Span::default(),
    }
}

/// `\p -> fst p (op) snd p`
pub fn uncurried(s: &mut Supply, op: fn(Term, Term) -> Built) -> Lambda {
    s.lambda1("p", DataType::pair(num(), num()), |_, p| op(build::fst(p.clone())?, build::snd(p)?)).unwrap()
}

/// `\x a -> x + a`
pub fn plus(s: &mut Supply) -> Lambda {
    s.lambda2(("x", num()), ("a", num()), |_, x, a| build::add(x, a)).unwrap()
}

/// `reduceSeq (+) 0 (MAP (*) (zip xs ys))`
pub fn product(s: &mut Supply, map: Prim, xs: Term, ys: Term) -> Term {
    let f = uncurried(s, build::mul);
    let products = build::map(map, f, build::zip(xs, ys).unwrap()).unwrap();
    let add = plus(s);
    build::reduce(Prim::ReduceSeq, add, build::number(Scalar::F32, 0), products).unwrap()
}

pub fn dot() -> Definition {
    let mut s = Supply::new();
    let (xs, ys) = (s.binder("xs", array("n", num())), s.binder("ys", array("n", num())));
    let body = product(&mut s, Prim::MapPar, build::var(&xs), build::var(&ys));
    definition("dot", &["n"], vec![xs, ys], body)
}

pub fn dot_split() -> Definition {
    let mut s = Supply::new();
    let long = Size::param("m") * Size::param("n");
    let ty = DataType::array(long, num());
    let (xs, ys) = (s.binder("xs", ty.clone()), s.binder("ys", ty));
    let zipped = build::zip(build::var(&xs), build::var(&ys)).unwrap();
    let blocks = build::split(Size::param("m"), zipped).unwrap();
    let block = array("m", DataType::pair(num(), num()));
    let inner = s
        .lambda1("y", block, |s, y| {
            let f = s.lambda2(("x", DataType::pair(num(), num())), ("a", num()), |_, x, a| {
                build::add(build::mul(build::fst(x.clone())?, build::snd(x)?)?, a)
            })?;
            build::reduce(Prim::ReduceSeq, f, build::number(Scalar::F32, 0), y)
        })
        .unwrap();
    let partial = build::map(Prim::MapPar, inner, blocks).unwrap();
    let add = plus(&mut s);
    let body = build::reduce(Prim::ReduceSeq, add, build::number(Scalar::F32, 0), partial).unwrap();
    definition("dot_split", &["n", "m"], vec![xs, ys], body)
}

/// `MAP (\p -> MAP2 (+) (zip (fst p) (snd p))) (zip a b)` on matrices of blocks.
fn mat_add(s: &mut Supply, outer: Prim, inner: Prim, a: Term, b: Term) -> Built {
    let row = |t: &Term| match t.ty() {
        DataType::Array(_, row) => (**row).clone(),
        other => other.clone(),
    };
    let pair = DataType::pair(row(&a), row(&b));
    let f = s.lambda1("p", pair, |s, p| {
        let add = uncurried(s, build::add);
        build::map(inner, add, build::zip(build::fst(p.clone())?, build::snd(p)?)?)
    })?;
    build::map(outer, f, build::zip(a, b)?)
}

/// The block matrix product of the paper, section 2.3.
pub fn block_product() -> Definition {
    let mut s = Supply::new();
    let block = |rows: &str| array(rows, array("n", num()));
    let xs = s.binder("xs", array("m1", array("n1", block("m"))));
    let ys = s.binder("ys", array("p1", array("n1", block("p"))));
    let mzero = s.binder("mzero", array("m", array("p", num())));
    let (row_x, row_y) = (array("n1", block("m")), array("n1", block("p")));
    let zero = build::var(&mzero);
    let outer = s
        .lambda1("l", row_x, |s, l| {
            let inner = s.lambda1("d", row_y, |s, d| {
                // mapSeq (curry dl_mul_dl) (zip l d)
                let pair = DataType::pair(block("m"), block("p"));
                let f = s.lambda1("b", pair, |s, b| {
                    let line = array("n", num());
                    let g = s.lambda1("r", line.clone(), |s, r| {
                        let h = s.lambda1("c", line, |s, c| Ok(product(s, Prim::MapSeq, r, c)))?;
                        build::map(Prim::MapSeq, h, build::snd(b.clone())?)
                    })?;
                    build::map(Prim::MapSeq, g, build::fst(b)?)
                })?;
                let products = build::map(Prim::MapSeq, f, build::zip(l, d)?)?;
                let tile = array("m", array("p", num()));
                let add = s.lambda2(("x", tile.clone()), ("a", tile), |s, x, a| {
                    mat_add(s, Prim::MapPar, Prim::MapSeq, x, a)
                })?;
                build::reduce(Prim::ReduceSeq, add, zero.clone(), products)
            })?;
            build::map(Prim::MapPar, inner, build::var(&ys))
        })
        .unwrap();
    let body = build::map(Prim::MapPar, outer, build::var(&xs)).unwrap();
    definition("block_product", &["m1", "p1", "n1", "m", "p", "n"], vec![xs, ys, mzero], body)
}

/// `reduceSeq (\x p -> pair (snd p) (fst p)) (pair 1 2) xs`
pub fn swap() -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", array("n", num()));
    let pair = DataType::pair(num(), num());
    let f = s
        .lambda2(("x", num()), ("p", pair), |_, _, p| build::pair(build::snd(p.clone())?, build::fst(p)?))
        .unwrap();
    let init = build::pair(build::number(Scalar::F32, 1), build::number(Scalar::F32, 2)).unwrap();
    let body = build::reduce(Prim::ReduceSeq, f, init, build::var(&xs)).unwrap();
    definition("swap", &["n"], vec![xs], body)
}

pub fn program(functions: Vec<loops::Function>) -> String {
    loops::Program { functions }.to_string()
}

/// All the arguments that are terms.
pub fn terms(args: &[Arg]) -> usize {
    args.iter().filter(|arg| matches!(arg, Arg::Term(_))).count()
}

pub mod run;

/// The definitions of a program; its errors as a panic.
pub fn definitions(text: &str) -> Vec<Definition> {
    let (module, errors) = functional::parse_module(text);
    let place = |d: &loops::Diagnostic| {
        let at = d
            .labels
            .first()
            .map_or("", |l| text.get(l.span.start as usize..l.span.end as usize).unwrap_or(""));
        format!("{d} at `{at}` {:?} {:?}", d.notes, d.help)
    };
    assert!(errors.is_empty(), "{errors:?}");
    let checked = functional::check_module(&module)
        .unwrap_or_else(|e| panic!("{:#?}", e.iter().map(place).collect::<Vec<_>>()));
    let mut list = Vec::new();
    for summary in checked.own_definitions() {
        if let Ok(definition) = checked.elaborate(&summary.name) {
            list.push(definition);
        }
    }
    list
}

/// The definitions of a file of the library with what it imports; those whose types are open are
/// left out.
pub fn library(name: &str, text: &str) -> Vec<Definition> {
    let mut loader = |_: &str, path: &str| -> Result<(String, String), String> {
        let found = golden::root().join("library").join(path);
        let text = std::fs::read_to_string(&found).map_err(|e| e.to_string())?;
        Ok((path.to_owned(), text))
    };
    let (sources, errors) = functional::load(&format!("{name}.loz"), text, &mut loader);
    assert!(errors.is_empty(), "{name}: {} errors", errors.len());
    let checked = match functional::check_sources(&sources) {
        Ok(checked) => checked,
        Err(errors) => {
            panic!("{name}: {:?}", errors.iter().map(|e| e.diagnostic.to_string()).collect::<Vec<_>>())
        }
    };
    checked.own_definitions().iter().filter_map(|summary| checked.elaborate(&summary.name).ok()).collect()
}
