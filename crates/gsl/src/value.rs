//! Values of attribute expressions, and their arithmetic.
//!
//! An unknown part (an extent of unknown size, a missing attribute) makes an expression undefined.
//! An undefined condition does not hold. So no rule is applied because of something unknown.

use std::rc::Rc;

use arith::number::{floor_div, floor_rem};
use graph::{AttributeValue, Dim};
use loops::Size;

use crate::rule::{BinaryOp, ElementType, Fold, Function};

/// Tuples that expressions make are no longer than this.
pub(crate) const MAX_ITEMS: usize = 1 << 16;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i64),
    /// A number as rules, attributes and tensors of single or half precision have it.
    Float(f64),
    /// A number of a tensor of double precision, or computed of one: no other number rounds to it.
    Double(f64),
    Bool(bool),
    Str(Rc<str>),
    None,
    /// An element type, by its number in the format.
    Type(i32),
    /// An extent with names in it.
    Size(Rc<Size>),
    /// An extent of which nothing is known.
    Unknown,
    Tuple(Rc<[Value]>),
    /// A tensor, a graph …: can be compared and passed on.
    Opaque(Rc<AttributeValue>),
}

/// The value is not defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Undefined;

pub(crate) type Eval<T> = Result<T, Undefined>;

impl Value {
    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(items.into())
    }

    pub fn ints(items: &[i64]) -> Value {
        Value::Tuple(items.iter().map(|n| Value::Int(*n)).collect())
    }

    pub fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    pub(crate) fn from_dim(dim: &Dim) -> Value {
        match dim {
            Dim::Known(n) => Value::Int(*n),
            Dim::Symbolic(size) => Value::Size(Rc::new((**size).clone())),
            Dim::Unknown => Value::Unknown,
        }
    }

    pub(crate) fn from_attribute(value: &AttributeValue) -> Value {
        match value {
            AttributeValue::Int(n) => Value::Int(*n),
            AttributeValue::Float(x) => Value::Float(f64::from(*x)),
            AttributeValue::String(_) => {
                value.string().map_or_else(|| Value::Opaque(Rc::new(value.clone())), Value::text)
            }
            AttributeValue::Ints(v) => Value::ints(v),
            AttributeValue::Floats(v) => {
                Value::Tuple(v.iter().map(|x| Value::Float(f64::from(*x))).collect())
            }
            AttributeValue::Strings(v) => {
                let texts: Option<Vec<Value>> =
                    v.iter().map(|s| std::str::from_utf8(s).ok().map(Value::text)).collect();
                texts.map_or_else(|| Value::Opaque(Rc::new(value.clone())), Value::tuple)
            }
            other => Value::Opaque(Rc::new(other.clone())),
        }
    }

    /// The value as an attribute of a node.
    pub(crate) fn to_attribute(&self, kind: &str) -> Option<AttributeValue> {
        // A list where the operator has a number would be taken for not there.
        self.as_attribute(kind).filter(|made| kind.is_empty() || made.kind() == kind)
    }

    fn as_attribute(&self, kind: &str) -> Option<AttributeValue> {
        Some(match (self, kind) {
            (Value::Int(n), "float") => AttributeValue::Float(*n as f32),
            (Value::Float(x) | Value::Double(x), "" | "float") => AttributeValue::Float(*x as f32),
            (Value::Int(n), "" | "int") => AttributeValue::Int(*n),
            (Value::Bool(b), "" | "int") => AttributeValue::Int(i64::from(*b)),
            (Value::Type(t), "" | "int") => AttributeValue::Int(i64::from(*t)),
            (Value::Str(s), "" | "string") => AttributeValue::from(&**s),
            (Value::Opaque(a), _) => (**a).clone(),
            (Value::Tuple(items), _) => {
                let ints: Option<Vec<i64>> = items.iter().map(Value::int).collect();
                match ints {
                    Some(ints) if kind != "floats" && kind != "strings" => AttributeValue::Ints(ints),
                    _ if items.iter().all(|i| matches!(i, Value::Str(_))) && kind != "floats" => {
                        let texts: Vec<&str> = items
                            .iter()
                            .filter_map(|i| if let Value::Str(s) = i { Some(&**s) } else { None })
                            .collect();
                        AttributeValue::from(texts)
                    }
                    _ => AttributeValue::Floats(
                        items.iter().map(|i| i.number().map(|x| x as f32)).collect::<Option<_>>()?,
                    ),
                }
            }
            _ => return None,
        })
    }

    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Bool(b) => Some(i64::from(*b)),
            Value::Type(t) => Some(i64::from(*t)),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Float(x) | Value::Double(x) => Some(*x),
            other => other.int().map(|n| n as f64),
        }
    }

    pub fn truth(&self) -> Eval<bool> {
        match self {
            Value::Bool(b) => Ok(*b),
            Value::Int(n) => Ok(*n != 0),
            _ => Err(Undefined),
        }
    }

    pub fn items(&self) -> Eval<&[Value]> {
        match self {
            Value::Tuple(items) => Ok(items),
            _ => Err(Undefined),
        }
    }

    fn size(&self) -> Option<Size> {
        match self {
            Value::Int(n) => Some(Size::constant(*n)),
            Value::Size(s) => Some((**s).clone()),
            _ => None,
        }
    }
}

/// Whether two values are equal. Numbers with a point are compared in single precision, that of
/// attributes.
pub(crate) fn equal(a: &Value, b: &Value) -> Eval<bool> {
    Ok(match (a, b) {
        (Value::Unknown, _) | (_, Value::Unknown) => return Err(Undefined),
        (Value::None, Value::None) => true,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Opaque(a), Value::Opaque(b)) => a == b,
        (Value::Size(_), Value::Size(_) | Value::Int(_)) | (Value::Int(_), Value::Size(_)) => {
            let (Some(a), Some(b)) = (a.size(), b.size()) else { return Err(Undefined) };
            if a == b {
                return Ok(true);
            }
            match difference(&a, &b).and_then(|d| d.as_constant()) {
                Some(d) => d == 0,
                None => return Err(Undefined),
            }
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            let mut unknown = false;
            for (a, b) in a.iter().zip(b.iter()) {
                match equal(a, b) {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(Undefined) => unknown = true,
                }
            }
            if unknown {
                return Err(Undefined);
            }
            true
        }
        (Value::Double(_), _) | (_, Value::Double(_)) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
        (Value::Float(_), _) | (_, Value::Float(_)) => match (a.number(), b.number()) {
            // Written numbers are rounded as tensors have them; but none that is not 0 becomes 0,
            // or infinite.
            (Some(a), Some(b)) if a == b => true,
            (Some(a), Some(b)) => a != 0.0 && b != 0.0 && (a as f32).is_normal() && a as f32 == b as f32,
            _ => false,
        },
        _ => match (a.int(), b.int()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
    })
}

fn difference(a: &Size, b: &Size) -> Option<Size> {
    Some(a.clone() - b.clone())
}

/// `a op b`, without the short-circuit of `and` and `or`.
pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Eval<Value> {
    use BinaryOp::*;
    match op {
        Eq => return equal(a, b).map(Value::Bool),
        Ne => return equal(a, b).map(|e| Value::Bool(!e)),
        And => return Ok(Value::Bool(a.truth()? && b.truth()?)),
        Or => return Ok(Value::Bool(a.truth()? || b.truth()?)),
        In => {
            let mut unknown = false;
            for item in b.items()? {
                match equal(a, item) {
                    Ok(true) => return Ok(Value::Bool(true)),
                    Ok(false) => {}
                    Err(Undefined) => unknown = true,
                }
            }
            return if unknown { Err(Undefined) } else { Ok(Value::Bool(false)) };
        }
        Join => {
            let (a, b) = (a.items()?, b.items()?);
            return limited(a.iter().chain(b).cloned());
        }
        _ => {}
    }
    if let (Value::Tuple(x), Value::Tuple(y)) = (a, b) {
        if matches!(op, Add | Sub | Mul | Div | FloorDiv | Mod) && x.len() == y.len() {
            return x
                .iter()
                .zip(y.iter())
                .map(|(a, b)| binary(op, a, b))
                .collect::<Eval<Vec<_>>>()
                .map(Value::tuple);
        }
        return Err(Undefined);
    }
    if let (Some(x), Some(y)) = (a.int(), b.int()) {
        let n = match op {
            Add => x.checked_add(y),
            Sub => x.checked_sub(y),
            Mul => x.checked_mul(y),
            FloorDiv => floor_div(x, y),
            Mod if y > 0 => floor_rem(x, y),
            Div if y != 0 => return Ok(Value::Float(x as f64 / y as f64)),
            Lt => return Ok(Value::Bool(x < y)),
            Le => return Ok(Value::Bool(x <= y)),
            Gt => return Ok(Value::Bool(x > y)),
            Ge => return Ok(Value::Bool(x >= y)),
            _ => None,
        };
        return n.map(Value::Int).ok_or(Undefined);
    }
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        let double = matches!(a, Value::Double(_)) || matches!(b, Value::Double(_));
        let float = if double { Value::Double } else { Value::Float };
        return Ok(match op {
            Add => float(x + y),
            Sub => float(x - y),
            Mul => float(x * y),
            Div => float(x / y),
            Lt => Value::Bool(x < y),
            Le => Value::Bool(x <= y),
            Gt => Value::Bool(x > y),
            Ge => Value::Bool(x >= y),
            _ => return Err(Undefined),
        });
    }
    if let (Some(x), Some(y)) = (a.size(), b.size()) {
        let size = match op {
            Add => x + y,
            Sub => x - y,
            Mul => x * y,
            // Only the sign of a constant difference is known.
            Lt | Le | Gt | Ge => {
                let d = difference(&x, &y).and_then(|d| d.as_constant()).ok_or(Undefined)?;
                return Ok(Value::Bool(match op {
                    Lt => d < 0,
                    Le => d <= 0,
                    Gt => d > 0,
                    _ => d >= 0,
                }));
            }
            _ => return Err(Undefined),
        };
        return Ok(size.as_constant().map_or_else(|| Value::Size(Rc::new(size)), Value::Int));
    }
    Err(Undefined)
}

fn limited(items: impl Iterator<Item = Value>) -> Eval<Value> {
    let items: Vec<Value> = items.take(MAX_ITEMS + 1).collect();
    if items.len() > MAX_ITEMS { Err(Undefined) } else { Ok(Value::tuple(items)) }
}

/// `-v`.
pub(crate) fn negate(v: &Value) -> Eval<Value> {
    match v {
        Value::Int(n) => n.checked_neg().map(Value::Int).ok_or(Undefined),
        Value::Float(x) => Ok(Value::Float(-x)),
        Value::Double(x) => Ok(Value::Double(-x)),
        other => binary(BinaryOp::Sub, &Value::Int(0), other),
    }
}

/// A tuple folded.
pub(crate) fn fold(fold: Fold, items: &[Value]) -> Eval<Value> {
    let reduce = |op: BinaryOp, first: i64| {
        items.iter().try_fold(Value::Int(first), |a, b| {
            if a.int() == Some(first) && first == 0 { Ok(b.clone()) } else { binary(op, &a, b) }
        })
    };
    match fold {
        Fold::Sum => reduce(BinaryOp::Add, 0),
        Fold::Product => items.iter().try_fold(Value::Int(1), |a, b| binary(BinaryOp::Mul, &a, b)),
        Fold::All => {
            let mut unknown = false;
            for item in items {
                match item.truth() {
                    Ok(false) => return Ok(Value::Bool(false)),
                    Ok(true) => {}
                    Err(Undefined) => unknown = true,
                }
            }
            if unknown { Err(Undefined) } else { Ok(Value::Bool(true)) }
        }
        Fold::Any => {
            let mut unknown = false;
            for item in items {
                match item.truth() {
                    Ok(true) => return Ok(Value::Bool(true)),
                    Ok(false) => {}
                    Err(Undefined) => unknown = true,
                }
            }
            if unknown { Err(Undefined) } else { Ok(Value::Bool(false)) }
        }
        Fold::Min | Fold::Max => {
            let keep = if fold == Fold::Min { BinaryOp::Lt } else { BinaryOp::Gt };
            let (first, rest) = items.split_first().ok_or(Undefined)?;
            rest.iter()
                .try_fold(first.clone(), |a, b| Ok(if binary(keep, b, &a)?.truth()? { b.clone() } else { a }))
        }
        Fold::Join => {
            let mut all = Vec::new();
            for item in items {
                all.extend(item.items()?.iter().cloned());
                if all.len() > MAX_ITEMS {
                    return Err(Undefined);
                }
            }
            Ok(Value::tuple(all))
        }
    }
}

/// A function applied.
pub(crate) fn apply(function: Function, args: &[Value]) -> Eval<Value> {
    let over = |f: Fold| match args {
        [Value::Tuple(items)] => fold(f, items),
        many => fold(f, many),
    };
    match function {
        Function::Len => Ok(Value::Int(args[0].items()?.len() as i64)),
        Function::Range => {
            let (low, high) = match args {
                [high] => (0, high.int().ok_or(Undefined)?),
                [low, high] => (low.int().ok_or(Undefined)?, high.int().ok_or(Undefined)?),
                _ => return Err(Undefined),
            };
            limited((low..high).map(Value::Int))
        }
        Function::Reverse => Ok(Value::tuple(args[0].items()?.iter().rev().cloned().collect())),
        Function::Zip => {
            let parts: Vec<&[Value]> = args.iter().map(Value::items).collect::<Eval<_>>()?;
            let length = parts.iter().map(|p| p.len()).min().unwrap_or(0);
            if parts.iter().any(|p| p.len() != length) {
                return Err(Undefined);
            }
            Ok(Value::tuple(
                (0..length).map(|k| Value::tuple(parts.iter().map(|p| p[k].clone()).collect())).collect(),
            ))
        }
        Function::Min => over(Fold::Min),
        Function::Max => over(Fold::Max),
        Function::Sum => over(Fold::Sum),
        Function::Product => over(Fold::Product),
        Function::All => over(Fold::All),
        Function::Any => over(Fold::Any),
        Function::Abs => {
            if binary(BinaryOp::Lt, &args[0], &Value::Int(0))?.truth()? {
                negate(&args[0])
            } else {
                Ok(args[0].clone())
            }
        }
        Function::Sort => {
            let mut numbers: Vec<i64> =
                args[0].items()?.iter().map(Value::int).collect::<Option<_>>().ok_or(Undefined)?;
            numbers.sort_unstable();
            Ok(Value::ints(&numbers))
        }
        Function::Sqrt => {
            let x = args[0].number().filter(|x| *x >= 0.0).ok_or(Undefined)?;
            let double = matches!(args[0], Value::Double(_));
            Ok(if double { Value::Double(x.sqrt()) } else { Value::Float(x.sqrt()) })
        }
        Function::Remap => {
            let (Value::Str(from), Value::Str(to)) = (&args[0], &args[1]) else { return Err(Undefined) };
            let axes: Option<Vec<i64>> =
                to.chars().map(|c| from.chars().position(|d| c == d).map(|k| k as i64)).collect();
            let axes = axes.filter(|a| a.len() == from.chars().count()).ok_or(Undefined)?;
            Ok(Value::ints(&axes))
        }
        Function::Float if matches!(args[0], Value::Double(_)) => Ok(args[0].clone()),
        Function::Float => args[0].number().map(Value::Float).ok_or(Undefined),
        Function::Int => match &args[0] {
            Value::Float(x) | Value::Double(x) if x.abs() < 9e18 => Ok(Value::Int(*x as i64)),
            other => other.int().map(Value::Int).ok_or(Undefined),
        },
    }
}

/// `v[k]`, from the end if negative.
pub(crate) fn item(v: &Value, k: &Value) -> Eval<Value> {
    let (items, k) = (v.items()?, k.int().ok_or(Undefined)?);
    let k = if k < 0 { k + items.len() as i64 } else { k };
    usize::try_from(k).ok().and_then(|k| items.get(k)).cloned().ok_or(Undefined)
}

/// `v[a..b]`, bounds from the end if negative, cut to the tuple.
pub(crate) fn slice(v: &Value, low: Option<&Value>, high: Option<&Value>) -> Eval<Value> {
    let items = v.items()?;
    let length = items.len() as i64;
    let bound = |b: Option<&Value>, default: i64| -> Eval<usize> {
        let Some(b) = b else { return Ok(default as usize) };
        let k = b.int().ok_or(Undefined)?;
        Ok((if k < 0 { k.saturating_add(length) } else { k }).clamp(0, length) as usize)
    };
    let (low, high) = (bound(low, 0)?, bound(high, length)?);
    Ok(Value::tuple(items[low..high.max(low)].to_vec()))
}

/// The number of the format for an element type of rules.
pub(crate) fn type_code(t: ElementType) -> i32 {
    use graph::ElementType as G;
    let t = match t {
        ElementType::Float16 => G::F16,
        ElementType::Float32 => G::F32,
        ElementType::Float64 => G::F64,
        ElementType::Bfloat16 => G::Bf16,
        ElementType::Int8 => G::I8,
        ElementType::Int16 => G::I16,
        ElementType::Int32 => G::I32,
        ElementType::Int64 => G::I64,
        ElementType::Uint8 => G::U8,
        ElementType::Uint16 => G::U16,
        ElementType::Uint32 => G::U32,
        ElementType::Uint64 => G::U64,
        ElementType::Bool => G::Bool,
        ElementType::String => G::String,
    };
    t.code()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
        binary(op, &Value::Int(a), &Value::Int(b)).ok().and_then(|v| v.int())
    }

    /// A written number is one of single precision that it rounds to; of double precision only
    /// itself.
    #[test]
    fn numbers_are_compared_in_the_type_of_the_tensor() {
        let same = |tensor: &graph::Tensor, written: f64| {
            let found = crate::eval::tensor_value(tensor).unwrap();
            equal(&found, &Value::Float(written)).unwrap()
        };
        let single = |x: f32| graph::Tensor::from_f32s(vec![], &[x]);
        let double = |x: f64| graph::Tensor::from_f64s(vec![], &[x]);
        assert!(same(&single(0.1), 0.1));
        assert!(!same(&single(0.1), 0.2));
        assert!(same(&double(0.1), 0.1));
        assert!(!same(&double(0.1 + 1e-12), 0.1));
        assert!(!same(&double(f64::from(0.1f32)), 0.1));
        let half = binary(BinaryOp::Div, &Value::Double(0.2 + 2e-12), &Value::Int(2)).unwrap();
        assert!(!equal(&half, &Value::Float(0.1)).unwrap());
    }

    #[test]
    fn division_rounds_down() {
        for (a, b, q) in [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (6, -2, -3), (0, 5, 0)] {
            assert_eq!(int(BinaryOp::FloorDiv, a, b), Some(q), "{a} // {b}");
        }
        assert_eq!(int(BinaryOp::Mod, -7, 2), Some(1));
        assert_eq!(int(BinaryOp::FloorDiv, 1, 0), None);
        assert_eq!(int(BinaryOp::FloorDiv, i64::MIN, -1), None);
        assert_eq!(int(BinaryOp::Add, i64::MAX, 1), None);
    }

    #[test]
    fn what_is_not_known_is_not_decided() {
        let n = Value::Size(Rc::new(Size::param("n")));
        let next = binary(BinaryOp::Add, &n, &Value::Int(1)).unwrap();
        assert_eq!(equal(&n, &n), Ok(true));
        assert_eq!(equal(&n, &next), Ok(false));
        assert_eq!(equal(&n, &Value::Int(3)), Err(Undefined));
        assert_eq!(equal(&Value::Unknown, &Value::Unknown), Err(Undefined));
        let tuple = |v: &Value| Value::tuple(vec![v.clone(), Value::Int(1)]);
        assert_eq!(equal(&tuple(&n), &Value::ints(&[3, 2])), Ok(false));
        assert_eq!(equal(&tuple(&n), &Value::ints(&[3, 1])), Err(Undefined));
    }

    #[test]
    fn layouts_are_permutations() {
        let remap = |a: &str, b: &str| apply(Function::Remap, &[Value::text(a), Value::text(b)]);
        assert!(equal(&remap("NCHW", "NHWC").unwrap(), &Value::ints(&[0, 2, 3, 1])).unwrap());
        assert_eq!(remap("NCHW", "NHW").err(), Some(Undefined));
        assert_eq!(remap("NCHW", "NHWX").err(), Some(Undefined));
    }
}
