//! The front half: source text to checked core definitions.

use functional::{check, check_module, parse_module};

fn elaborate(source: &str, name: &str) -> functional::Definition {
    let (module, errors) = parse_module(source);
    assert!(errors.is_empty(), "{errors:#?}");
    let checked = check_module(&module).unwrap_or_else(|e| panic!("{e:#?}"));
    let definition = checked.elaborate(name).unwrap_or_else(|e| panic!("{e:#?}"));
    check(&definition).unwrap_or_else(|e| panic!("{e:#?}\n{:#?}", definition.body));
    definition
}

#[test]
fn dot_product_and_matrix_product() {
    let source = "
-- inner product, strategy in the names of the combinators
def dot [n] (xs ys: [n]f32): f32 =
  reduceSeq (\\x a -> x + a) 0 (mapPar (\\p -> fst p * snd p) (zip xs ys))

def gemv [m n] (a: [m][n]f32) (x: [n]f32): [m]f32 = mapPar (dot x) a

def matmul [m n p] (a: [m][n]f32) (b: [n][p]f32): [m][p]f32 =
  mapPar (gemv (transpose b)) a

def split_dot [n k] (xs ys: [k * n]f32): f32 =
  zip xs ys |> split k |> mapPar (\\c -> reduceSeq (\\(x, y) a -> x * y + a) 0 c) |> reduceSeq (+) 0

def third [n] (xs: [n]f32): f32 where n >= 3 = xs[2] + xs[n - 1]
";
    let dot = elaborate(source, "dot");
    assert_eq!(dot.params.len(), 2);
    assert_eq!(dot.body.ty().to_string(), "f32");
    let matmul = elaborate(source, "matmul");
    assert_eq!(matmul.body.ty().to_string(), "[m][p]f32");
    elaborate(source, "split_dot");
    elaborate(source, "third");
}
