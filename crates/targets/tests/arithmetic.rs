//! Every scalar operation on every special value, by every stage: evaluator of the language,
//! interpreter, simplifier, and C by gcc and clang without and with optimization, on values in
//! memory and on constants. All give the bits that `loops::value` says; any NaN is as good as any
//! other.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use common::{installed, scratch, succeed};
use functional::eval::{Limits, Value as Result_, evaluate};
use loops::{
    Access, BinaryOp, CompareOp, Data, Elem, Expr, Function, LoopKind, Name, Param, ParamMode, Program,
    Scalar, Stmt, Tensor, UnaryOp, Value,
};
use targets::{Options, emit};

/// An operation on one or two operands of a type.
#[derive(Clone, Copy, Debug)]
enum Op {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Cast(Scalar),
}

/// An operation at a type, with what it gives for each pair of special values.
struct Row {
    op: Op,
    ty: Scalar,
    result: Scalar,
    operands: Vec<(Value, Value)>,
    expected: Vec<Value>,
}

/// The values at which operations are special.
fn special(ty: Scalar) -> Vec<Value> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        7.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
        2_147_483_648.0,
        -9e18,
        0.1,
        // Half precision: its largest number, what is rounded to it and to infinity, its smallest
        // numbers, and ties.
        65_504.0,
        65_519.996,
        -65_520.0,
        6.1e-5,
        5.97e-8,
        2f64.powi(-25),
        -3.0 * 2f64.powi(-25),
        1.0 + 2f64.powi(-11),
        1.0 + 3.0 * 2f64.powi(-11),
        1.0 + 2f64.powi(-11) + 2f64.powi(-40),
        1.0 + 3.0 * 2f64.powi(-11) - 2f64.powi(-40),
    ];
    match ty {
        Scalar::F32 => {
            let own = [f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX, f32::MIN];
            floats.iter().map(|v| *v as f32).chain(own).map(Value::F32).collect()
        }
        Scalar::F64 => {
            let own = [f64::MIN_POSITIVE, 5e-324, -5e-324, f64::MAX, f64::MIN, 9_223_372_036_854_775_808.0];
            floats.into_iter().chain(own).map(Value::F64).collect()
        }
        Scalar::F16 => {
            let least = [6.1e-5, -6e-8, 3.3e-5, 65_504.0].map(loops::nearest_half);
            floats.map(loops::nearest_half).into_iter().chain(least).map(Value::F16).collect()
        }
        Scalar::Bool => vec![Value::Bool(false), Value::Bool(true)],
        ty => {
            let extreme = |greatest| Value::extreme(ty, greatest).unwrap();
            let small = [0, 1, -1, 2, 7, -7, 8, 31, 32, 63, 64];
            let mut list: Vec<Value> = small.map(|v| Value::I64(v).cast(ty)).to_vec();
            for value in [extreme(false), extreme(true)] {
                let next = Value::binary(BinaryOp::Sub, value, Value::I64(1).cast(ty)).unwrap();
                list.extend([value, next]);
            }
            list
        }
    }
}

fn apply(op: Op, a: Value, b: Value) -> Option<Value> {
    match op {
        Op::Unary(op) => Value::unary(op, a).ok(),
        Op::Binary(op) => Value::binary(op, a, b).ok(),
        Op::Compare(op) => Value::compare(op, a, b).ok().map(Value::Bool),
        Op::Cast(to) => Some(a.cast(to)),
    }
}

fn expression(op: Op, a: Expr, b: Expr) -> Expr {
    match op {
        Op::Unary(op) => Expr::unary(op, a),
        Op::Binary(op) => Expr::binary(op, a, b),
        Op::Compare(op) => Expr::compare(op, a, b),
        Op::Cast(to) => Expr::Cast(to, Box::new(a)),
    }
}

/// The table: every operation at every type that it takes.
fn table() -> Vec<Row> {
    let ops = (UnaryOp::ALL.into_iter().map(Op::Unary))
        .chain(BinaryOp::ALL.into_iter().map(Op::Binary))
        .chain(CompareOp::ALL.into_iter().map(Op::Compare))
        .chain(Scalar::ALL.into_iter().map(Op::Cast));
    let mut rows = Vec::new();
    for op in ops {
        for ty in Scalar::ALL {
            let values = special(ty);
            let alone = matches!(op, Op::Unary(_) | Op::Cast(_));
            let seconds = if alone { &values[..1] } else { &values[..] };
            let operands: Vec<(Value, Value)> =
                values.iter().flat_map(|a| seconds.iter().map(|b| (*a, *b))).collect();
            let expected: Option<Vec<Value>> = operands.iter().map(|(a, b)| apply(op, *a, *b)).collect();
            if let Some(expected) = expected {
                rows.push(Row { op, ty, result: expected[0].scalar(), operands, expected });
            }
        }
    }
    rows
}

fn column(values: impl Iterator<Item = Value>, ty: Scalar) -> Data {
    let values: Vec<Value> = values.collect();
    let mut data = Data::zeros(&Elem::from(ty), values.len());
    macro_rules! fill {
        ($($variant:ident),*) => {
            match &mut data {
                $(Data::$variant(to) => for (to, from) in to.iter_mut().zip(&values) {
                    if let Value::$variant(v) = from { *to = *v }
                },)*
                Data::Pair(..) => unreachable!("scalars"),
            }
        };
    }
    fill!(F32, F64, I32, I64, Bool, I8, U8, I16, U16, U32, U64, F16);
    data
}

fn get(data: &Data, k: usize) -> Value {
    macro_rules! at {
        ($($variant:ident),*) => {
            match data { $(Data::$variant(v) => Value::$variant(v[k]),)* Data::Pair(..) => unreachable!("scalars") }
        };
    }
    at!(F32, F64, I32, I64, Bool, I8, U8, I16, U16, U32, U64, F16)
}

fn same(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (Value::F16(a), Value::F16(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    }
}

fn compare(stage: &str, row: &Row, found: &Data) {
    for (k, expected) in row.expected.iter().enumerate() {
        let (a, b) = row.operands[k];
        let found = get(found, k);
        assert!(
            same(*expected, found),
            "{stage}: {:?} of {a:?}, {b:?} is {found:?}, not {expected:?}",
            row.op
        );
    }
}

/// The operation on arrays.
fn on_arrays(row: &Row, k: usize) -> Function {
    let n = || vec![Expr::var("n")];
    let at = |name: &str| Expr::load(name, vec![Expr::var("i")]);
    let value = expression(row.op, at("a"), at("b"));
    let store = Stmt::assign(Access::element("r", vec![Expr::var("i")]), value);
    Function {
        name: format!("arrays{k}").into(),
        sizes: vec!["n".into()],
        assumptions: vec![],
        params: vec![
            Param::new("a", ParamMode::In, row.ty, n()),
            Param::new("b", ParamMode::In, row.ty, n()),
            Param::new("r", ParamMode::Out, row.result, n()),
        ],
        body: vec![Stmt::range("i", 0, Expr::var("n"), LoopKind::Parallel, vec![store])],
    }
}

/// The operation on constants.
fn on_constants(row: &Row, k: usize) -> Function {
    let n = row.operands.len() as i64;
    let store = |(j, (a, b)): (usize, &(Value, Value))| {
        let value = expression(row.op, Expr::from(*a), Expr::from(*b));
        Stmt::assign(Access::element("r", vec![Expr::Int(j as i64)]), value)
    };
    Function {
        name: format!("constants{k}").into(),
        sizes: vec![],
        assumptions: vec![],
        params: vec![Param::new("r", ParamMode::Out, row.result, vec![Expr::Int(n)])],
        body: row.operands.iter().enumerate().map(store).collect(),
    }
}

fn tensor(data: Data) -> Tensor {
    Tensor { shape: vec![data.len()], data }
}

fn interpret(function: &Function, row: &Row) -> Data {
    let sizes: BTreeMap<Name, i64> =
        function.sizes.iter().map(|n| (n.clone(), row.operands.len() as i64)).collect();
    let mut arguments = BTreeMap::new();
    if !function.sizes.is_empty() {
        arguments.insert("a".into(), tensor(column(row.operands.iter().map(|p| p.0), row.ty)));
        arguments.insert("b".into(), tensor(column(row.operands.iter().map(|p| p.1), row.ty)));
    }
    let results = loops::run(function, &sizes, arguments, &loops::Options::default());
    results.unwrap_or_else(|e| panic!("{:?} on {}: {}", row.op, row.ty, e.message))["r"].data.clone()
}

#[test]
fn interpreter_and_simplifier() {
    for (k, row) in table().iter().enumerate() {
        compare("interpreter", row, &interpret(&on_arrays(row, k), row));
        let constants = on_constants(row, k);
        compare("interpreter on constants", row, &interpret(&constants, row));
        compare("simplifier", row, &interpret(&loops::simplify::function(&constants), row));
        compare("simplifier on arrays", row, &interpret(&loops::simplify::function(&on_arrays(row, k)), row));
    }
}

/// How the language writes an operation, if it has it.
fn in_language(op: Op, ty: Scalar) -> Option<String> {
    let call = |name: &str| Some(format!("{name} a b"));
    let infix = |name: &str| Some(format!("a {name} b"));
    match op {
        Op::Unary(UnaryOp::Neg) => Some("-a".into()),
        Op::Unary(UnaryOp::Not) => Some("!a".into()),
        Op::Unary(UnaryOp::Bits) => Some(
            match ty {
                Scalar::F32 => "bits32 a",
                Scalar::F64 => "bits64 a",
                Scalar::I32 => "float32 a",
                _ => "float64 a",
            }
            .into(),
        ),
        Op::Unary(op) => Some(format!("{} a", op.symbol())),
        Op::Binary(op) => match op {
            BinaryOp::Add => infix("+"),
            BinaryOp::Sub => infix("-"),
            BinaryOp::Mul => infix("*"),
            BinaryOp::Div if ty.is_float() => infix("/"),
            BinaryOp::FloorDiv => infix("/"),
            BinaryOp::Mod => infix("%"),
            BinaryOp::Rem if ty.is_float() => call("fmod"),
            BinaryOp::Div | BinaryOp::Rem => None,
            BinaryOp::Min => call("min"),
            BinaryOp::Max => call("max"),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => call(op.symbol()),
            BinaryOp::BitAnd => call("bitAnd"),
            BinaryOp::BitOr => call("bitOr"),
            BinaryOp::BitXor => call("bitXor"),
            BinaryOp::Shl => call("shiftLeft"),
            BinaryOp::Shr => call("shiftRight"),
            BinaryOp::And => infix("&&"),
            BinaryOp::Or => infix("||"),
        },
        Op::Compare(_) if ty == Scalar::Bool => None,
        Op::Compare(op) => infix(op.symbol()),
        Op::Cast(Scalar::Bool) => None,
        Op::Cast(to) => Some(format!("{to} a")),
    }
}

#[test]
fn evaluator() {
    let (mut text, mut rows) = (String::new(), Vec::new());
    for row in table() {
        if !row.ty.is_common() || !row.result.is_common() {
            continue;
        }
        if let Some(body) = in_language(row.op, row.ty) {
            writeln!(
                text,
                "def row{} [n] (xs ys: [n]{}): [n]{} = zip xs ys |> mapPar (\\(a, b) -> {body})",
                rows.len(),
                row.ty,
                row.result
            )
            .unwrap();
            rows.push(row);
        }
    }
    assert!(rows.len() > 80, "{} operations", rows.len());
    let mut none = |_: &str, _: &str| Err("no imports".to_owned());
    let (sources, errors) = functional::load("table.loz", &text, &mut none);
    assert!(errors.is_empty(), "{:?}", errors[0].diagnostic.message);
    let checked = functional::check_sources(&sources)
        .unwrap_or_else(|e| panic!("{} in {}", e[0].diagnostic.message, text));
    for (k, row) in rows.iter().enumerate() {
        let definition = checked.elaborate(&format!("row{k}")).unwrap();
        let operands = [
            Result_::Tensor(tensor(column(row.operands.iter().map(|p| p.0), row.ty))),
            Result_::Tensor(tensor(column(row.operands.iter().map(|p| p.1), row.ty))),
        ];
        let sizes = BTreeMap::from([("n".into(), row.operands.len() as i64)]);
        match evaluate(&definition, &sizes, &operands, Limits::default()) {
            Ok(Result_::Tensor(found)) => compare("evaluator", row, &found.data),
            Ok(_) => panic!("{:?} gives a pair", row.op),
            Err(e) => panic!("{:?} on {}: {}", row.op, row.ty, e.message),
        }
    }
}

fn bytes(data: &Data) -> Vec<u8> {
    macro_rules! le {
        ($($variant:ident),*) => {
            match data {
                Data::Bool(v) => v.iter().map(|b| u8::from(*b)).collect(),
                $(Data::$variant(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),)*
                Data::Pair(..) => unreachable!("scalars"),
            }
        };
    }
    le!(F32, F64, I32, I64, I8, U8, I16, U16, U32, U64, F16)
}

fn from_bytes(bytes: &[u8], ty: Scalar) -> Data {
    macro_rules! read {
        ($($variant:ident: $rust:ty),*) => {
            match ty {
                Scalar::Bool => Data::Bool(bytes.iter().map(|b| *b != 0).collect()),
                $(Scalar::$variant => Data::$variant(
                    bytes.chunks_exact(size_of::<$rust>())
                        .map(|c| <$rust>::from_le_bytes(c.try_into().unwrap())).collect(),
                ),)*
            }
        };
    }
    read!(F32: f32, F64: f64, I32: i32, I64: i64, I8: i8, U8: u8, I16: i16, U16: u16, U32: u32, U64: u64, F16: loops::f16)
}

/// A program that reads the operands and writes what all functions give.
fn main_program(rows: &[Row]) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include \"declared.h\"\n\
         static char a[1 << 14], b[1 << 14], r[1 << 14];\n\
         static void get(void *p, size_t n) { if (fread(p, 1, n, stdin) != n) exit(1); }\n\
         static void put(const void *p, size_t n) { if (fwrite(p, 1, n, stdout) != n) exit(1); }\n\
         int main(void) {\n",
    );
    for (k, row) in rows.iter().enumerate() {
        let (n, operand, result) = (row.operands.len(), row.ty.bytes(), row.result.bytes());
        writeln!(
            text,
            "    get(a, {0}); get(b, {0});\n    if (arrays{k}({n}, (const void *)a, (const void *)b, (void *)r)) return 1;\n    put(r, {1});",
            n * operand,
            n * result
        )
        .unwrap();
        writeln!(text, "    if (constants{k}((void *)r)) return 1;\n    put(r, {});", n * result).unwrap();
    }
    text + "    return 0;\n}\n"
}

fn run_compiled(folder: &Path, compiler: &str, flag: &str, rows: &[Row], input: &[u8]) {
    let binary = format!("run-{compiler}{flag}");
    let output = Command::new(compiler)
        .current_dir(folder)
        .args([
            "-std=c99",
            "-ffp-contract=off",
            "-fopenmp-simd",
            flag,
            "code.c",
            "main.c",
            "-o",
            &binary,
            "-lm",
        ])
        .output()
        .unwrap();
    succeed(&format!("{compiler} {flag} in {}", folder.display()), &output);
    std::fs::write(folder.join("input"), input).unwrap();
    let output = Command::new(folder.join(&binary))
        .stdin(std::fs::File::open(folder.join("input")).unwrap())
        .output()
        .unwrap();
    succeed(&binary, &output);
    let mut rest = &output.stdout[..];
    for row in rows {
        for on in ["values in memory", "constants"] {
            let (own, behind) = rest.split_at(row.operands.len() * row.result.bytes());
            rest = behind;
            let found = from_bytes(own, row.result);
            let found = if on == "constants" && !is_exact(row.op) { as_expected(row, found) } else { found };
            compare(&format!("{compiler} {flag} on {on}"), row, &found);
        }
    }
}

/// Compilers fold functions of `libm` on constants with a rounding of their own.
fn is_exact(op: Op) -> bool {
    match op {
        Op::Unary(op) => !op.is_transcendental(),
        Op::Binary(op) => !op.is_transcendental(),
        _ => true,
    }
}

/// What was found, where it is a neighbour of the expected number taken for that. What the C
/// standard determines has no neighbours: NaN, zeros, infinities, 1.
fn as_expected(row: &Row, found: Data) -> Data {
    let values = row.expected.iter().enumerate().map(|(k, expected)| match (*expected, get(&found, k)) {
        (Value::F32(e), Value::F32(f)) if inexact(e.into()) && e.to_bits().abs_diff(f.to_bits()) <= 1 => {
            *expected
        }
        (Value::F64(e), Value::F64(f)) if inexact(e) && e.to_bits().abs_diff(f.to_bits()) <= 1 => *expected,
        (_, found) => found,
    });
    column(values, row.result)
}

fn inexact(value: f64) -> bool {
    value.is_finite() && value != 0.0 && value != 1.0
}

/// What Annex F of the C standard says of the functions of `libm`: the table above is the same
/// `libm`, so it could share its faults.
#[test]
fn functions_of_libm_are_those_of_the_standard() {
    use std::f64::consts::FRAC_PI_2;
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let unary = [
        (UnaryOp::Exp, 0.0, 1.0),
        (UnaryOp::Exp, -0.0, 1.0),
        (UnaryOp::Exp, -inf, 0.0),
        (UnaryOp::Exp, inf, inf),
        (UnaryOp::Log, 0.0, -inf),
        (UnaryOp::Log, -0.0, -inf),
        (UnaryOp::Log, 1.0, 0.0),
        (UnaryOp::Log, -1.5, nan),
        (UnaryOp::Log, -inf, nan),
        (UnaryOp::Log, inf, inf),
        (UnaryOp::Tanh, 0.0, 0.0),
        (UnaryOp::Tanh, -0.0, -0.0),
        (UnaryOp::Tanh, inf, 1.0),
        (UnaryOp::Tanh, -inf, -1.0),
        (UnaryOp::Sin, 0.0, 0.0),
        (UnaryOp::Sin, -0.0, -0.0),
        (UnaryOp::Sin, inf, nan),
        (UnaryOp::Cos, -0.0, 1.0),
        (UnaryOp::Cos, -inf, nan),
        (UnaryOp::Atan, -0.0, -0.0),
        (UnaryOp::Atan, inf, FRAC_PI_2),
        (UnaryOp::Atan, -inf, -FRAC_PI_2),
        (UnaryOp::Tan, -0.0, -0.0),
        (UnaryOp::Tan, inf, nan),
        (UnaryOp::Asin, -0.0, -0.0),
        (UnaryOp::Asin, 1.0, FRAC_PI_2),
        (UnaryOp::Asin, -1.5, nan),
        (UnaryOp::Acos, 1.0, 0.0),
        (UnaryOp::Acos, 1.5, nan),
        (UnaryOp::Sinh, -0.0, -0.0),
        (UnaryOp::Sinh, -inf, -inf),
        (UnaryOp::Cosh, -0.0, 1.0),
        (UnaryOp::Cosh, -inf, inf),
        (UnaryOp::Exp2, -0.0, 1.0),
        (UnaryOp::Exp2, -inf, 0.0),
        (UnaryOp::Expm1, -0.0, -0.0),
        (UnaryOp::Expm1, -inf, -1.0),
        (UnaryOp::Log2, 1.0, 0.0),
        (UnaryOp::Log2, -0.0, -inf),
        (UnaryOp::Log10, 1.0, 0.0),
        (UnaryOp::Log10, -1.5, nan),
        (UnaryOp::Log1p, -0.0, -0.0),
        (UnaryOp::Log1p, -1.0, -inf),
        (UnaryOp::Trunc, -0.5, -0.0),
        (UnaryOp::Trunc, 2.5, 2.0),
        (UnaryOp::Trunc, -inf, -inf),
    ];
    let binary = [
        (nan, 0.0, 1.0),
        (nan, -0.0, 1.0),
        (1.0, nan, 1.0),
        (0.0, -1.5, inf),
        (-0.0, -1.0, -inf),
        (-0.0, 7.0, -0.0),
        (-1.0, inf, 1.0),
        (-1.5, 0.1, nan),
        (-1.5, 7.0, -17.0859375),
        (-inf, -7.0, -0.0),
        (-inf, 7.0, -inf),
        (0.1, -inf, inf),
        (7.0, -inf, 0.0),
        (inf, -1.5, 0.0),
    ];
    let holds = |op: Op, a: f64, b: f64, expected: f64| {
        let f64s = apply(op, Value::F64(a), Value::F64(b)).unwrap();
        assert!(same(f64s, Value::F64(expected)), "{op:?} of {a}, {b} is {f64s:?}, not {expected}");
        let f32s = apply(op, Value::F32(a as f32), Value::F32(b as f32)).unwrap();
        assert!(same(f32s, Value::F32(expected as f32)), "{op:?} of {a}, {b} is {f32s:?}, not {expected}");
    };
    for (op, a, b, expected) in [
        (BinaryOp::Atan2, -0.0, 1.0, -0.0),
        (BinaryOp::Atan2, 1.0, 0.0, FRAC_PI_2),
        (BinaryOp::Atan2, 0.0, -0.0, std::f64::consts::PI),
        (BinaryOp::Atan2, inf, 7.0, FRAC_PI_2),
        (BinaryOp::Hypot, 3.0, -4.0, 5.0),
        (BinaryOp::Hypot, -inf, nan, inf),
        (BinaryOp::Hypot, nan, 1.0, nan),
    ] {
        holds(Op::Binary(op), a, b, expected);
    }
    for (op, a, expected) in unary {
        holds(Op::Unary(op), a, a, expected);
        holds(Op::Unary(op), nan, nan, nan);
    }
    for (a, b, expected) in binary {
        holds(Op::Binary(BinaryOp::Pow), a, b, expected);
    }
}

/// Compiles functions and their driver, and compares what they give.
fn compile_and_compare(name: &str, source: &str, header: &str, rows: &[Row]) {
    let folder = scratch(name);
    std::fs::write(folder.join("code.c"), source).unwrap();
    std::fs::write(folder.join("declared.h"), header).unwrap();
    std::fs::write(folder.join("main.c"), main_program(rows)).unwrap();
    let mut input = Vec::new();
    for row in rows {
        input.extend(bytes(&column(row.operands.iter().map(|p| p.0), row.ty)));
        input.extend(bytes(&column(row.operands.iter().map(|p| p.1), row.ty)));
    }
    for compiler in ["gcc", "clang-16"] {
        assert!(installed(compiler), "{compiler} is missing: ./x setup installs it");
        for flag in ["-O0", "-O3"] {
            run_compiled(&folder, compiler, flag, rows, &input);
        }
    }
}

#[test]
fn compiled_code() {
    let rows = table();
    let functions = (rows.iter().enumerate()).flat_map(|(k, row)| [on_arrays(row, k), on_constants(row, k)]);
    let program = Program { functions: functions.collect() };
    let done = emit(&program, &Options { header: Some("declared.h".into()), ..Options::default() }).unwrap();
    compile_and_compare("arithmetic", &done.source, &done.header, &rows);
}

/// The expressions of `--target athread`, which cores and host have alike, in functions of the
/// host.
#[test]
fn athread() {
    let rows: Vec<Row> = (table().into_iter()).filter(|r| r.ty.is_common() && r.result.is_common()).collect();
    let functions: Vec<Function> =
        (rows.iter().enumerate()).flat_map(|(k, row)| [on_arrays(row, k), on_constants(row, k)]).collect();
    let program = Program { functions: functions.clone() };
    let declared =
        emit(&program, &Options { header: Some("declared.h".into()), ..Options::default() }).unwrap();
    let functions: Vec<&Function> = functions.iter().collect();
    let files = targets::athread::emit(&functions, "code", 1, &targets::athread::SW26010).unwrap();
    let (arguments, _) = files.header.unwrap();
    let without_cores = files.host.replace("#include <athread.h>\n", "");
    let source = without_cores.replace(&format!("#include \"{arguments}\"\n"), "");
    compile_and_compare("arithmetic_athread", &source, &declared.header, &rows);
}

/// Operations on integers with a sign, one result a line: what other definitions of the same
/// arithmetic are compared with.
#[test]
fn integers_are_written_down() {
    let mut text = String::from("# operation type left right result\n");
    for row in table() {
        let Op::Binary(op) = row.op else { continue };
        if !matches!(row.ty, Scalar::I32 | Scalar::I64) {
            continue;
        }
        for ((a, b), result) in row.operands.iter().zip(&row.expected) {
            let number = |v: &Value| match v.cast(Scalar::I64) {
                Value::I64(v) => v,
                _ => unreachable!("integers"),
            };
            let name = format!("{op:?}").to_lowercase();
            writeln!(text, "{name} {} {} {} {}", row.ty, number(a), number(b), number(result)).unwrap();
        }
    }
    golden::compare(&golden::folder("arithmetic").join("integers.txt"), &text).unwrap();
}
