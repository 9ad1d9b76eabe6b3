//! Definitions put together and evaluated in a line or two.

#![allow(dead_code)] // each test file uses its part

use std::collections::BTreeMap;

use functional::build::{self, Supply};
use functional::eval::{Limits, Value, evaluate};
use functional::{Binder, DataType, Definition, Term, check};
use loops::{Data, Diagnostic, Name, Scalar, Size, Tensor};

pub mod programs;

/// A definition in the making, with the values of its sizes and parameters.
#[derive(Default)]
pub struct Bench {
    pub supply: Supply,
    pub sizes: BTreeMap<Name, i64>,
    pub params: Vec<Binder>,
    pub args: Vec<Value>,
}

impl Bench {
    pub fn size(&mut self, name: &str, value: i64) -> Size {
        self.sizes.insert(name.into(), value);
        Size::param(name)
    }

    pub fn param(&mut self, name: &str, ty: DataType, value: Value) -> Term {
        let binder = self.supply.binder(name, ty);
        let term = build::var(&binder);
        self.params.push(binder);
        self.args.push(value);
        term
    }

    /// A parameter of constant length.
    pub fn f64s(&mut self, values: &[f64]) -> Term {
        self.param("xs", array(values.len() as i64, F64), Value::f64s(values))
    }

    /// A parameter of type `[rows][columns]f64`.
    pub fn matrix(&mut self, rows: usize, columns: usize, values: &[f64]) -> Term {
        let ty = array(rows as i64, array(columns as i64, F64));
        self.param("a", ty, f64_tensor(&[rows, columns], values))
    }

    pub fn definition(&self, body: &Term) -> Definition {
        Definition {
            name: "d".into(),
            sizes: self.sizes.keys().cloned().collect(),
            facts: Vec::new(),
            params: self.params.clone(),
            body: body.clone(),
            span: Default::default(),
        }
    }

    /// The value; the verifier must accept the definition.
    pub fn eval(&self, body: &Term) -> Result<Value, Diagnostic> {
        let definition = self.definition(body);
        if let Err(error) = check(&definition) {
            panic!("{error}");
        }
        evaluate(&definition, &self.sizes, &self.args, Limits::default())
    }
}

pub const F64: DataType = DataType::Scalar(Scalar::F64);
pub const F32: DataType = DataType::Scalar(Scalar::F32);
pub const I64: DataType = DataType::Scalar(Scalar::I64);
pub const I32: DataType = DataType::Scalar(Scalar::I32);
pub const BOOL: DataType = DataType::Scalar(Scalar::Bool);

pub fn array(n: impl Into<Size>, elem: DataType) -> DataType {
    DataType::array(n.into(), elem)
}

pub fn f64_tensor(shape: &[usize], values: &[f64]) -> Value {
    Value::Tensor(Tensor { shape: shape.to_vec(), data: Data::F64(values.to_vec()) })
}

pub fn i64_tensor(shape: &[usize], values: &[i64]) -> Value {
    Value::Tensor(Tensor { shape: shape.to_vec(), data: Data::I64(values.to_vec()) })
}

pub fn bool_value(value: bool) -> Value {
    Value::Tensor(Tensor { shape: vec![], data: Data::Bool(vec![value]) })
}

/// Whether two values are the same bit for bit (every NaN counts as one).
pub fn same_bits(a: &Value, b: &Value) -> bool {
    fn data(a: &Data, b: &Data) -> bool {
        match (a, b) {
            (Data::F64(a), Data::F64(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
            }
            (Data::F32(a), Data::F32(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
            }
            (Data::Pair(a, b), Data::Pair(c, d)) => data(a, c) && data(b, d),
            _ => a == b,
        }
    }
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a.shape == b.shape && data(&a.data, &b.data),
        (Value::Pair(a, b), Value::Pair(c, d)) => same_bits(a, c) && same_bits(b, d),
        _ => false,
    }
}
