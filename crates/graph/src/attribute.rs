//! Attributes of nodes: constants of every kind that the format has.

use std::sync::Arc;

use bytes::Bytes;
use loops::Name;

use crate::graph::Graph;
use crate::tensor::Tensor;
use crate::types::ValueType;

/// A named constant of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub value: AttributeValue,
    /// Fields of the file that are not interpreted here (documentation, unknown fields), unchanged.
    pub extra: Bytes,
}

/// The value of an attribute. Floating-point values are compared by their bits.
#[derive(Clone, Debug)]
pub enum AttributeValue {
    /// A single-precision number.
    Float(f32),
    /// An integer.
    Int(i64),
    /// A text, which need not be UTF-8.
    String(Bytes),
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// A graph: a branch, the body of a loop.
    Graph(Arc<Graph>),
    /// Numbers.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// Texts.
    Strings(Vec<Bytes>),
    /// Tensors.
    Tensors(Vec<Arc<Tensor>>),
    /// Graphs.
    Graphs(Vec<Arc<Graph>>),
    /// A type.
    Type(ValueType),
    /// Types.
    Types(Vec<ValueType>),
    /// In the body of a function: the attribute of the call with this name.
    Reference(Name),
    /// A kind that is not interpreted here (sparse tensors, kinds of later versions): the fields of
    /// the file, unchanged.
    Opaque(Bytes),
}

impl PartialEq for AttributeValue {
    fn eq(&self, other: &AttributeValue) -> bool {
        use AttributeValue::*;
        match (self, other) {
            (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
            (Int(a), Int(b)) => a == b,
            (String(a), String(b)) | (Opaque(a), Opaque(b)) => a == b,
            (Tensor(a), Tensor(b)) => a == b,
            (Graph(a), Graph(b)) => a == b,
            (Floats(a), Floats(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Ints(a), Ints(b)) => a == b,
            (Strings(a), Strings(b)) => a == b,
            (Tensors(a), Tensors(b)) => a == b,
            (Graphs(a), Graphs(b)) => a == b,
            (Type(a), Type(b)) => a == b,
            (Types(a), Types(b)) => a == b,
            (Reference(a), Reference(b)) => a == b,
            _ => false,
        }
    }
}

impl Attribute {
    /// An attribute with nothing but a name and a value.
    pub fn new(name: impl Into<Name>, value: impl Into<AttributeValue>) -> Attribute {
        Attribute { name: name.into(), value: value.into(), extra: Bytes::new() }
    }
}

impl AttributeValue {
    /// The integer, if it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            AttributeValue::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn float(&self) -> Option<f32> {
        match self {
            AttributeValue::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// The integers, if it is a list of them. (An empty list in a file may come without its kind;
    /// it counts.)
    pub fn ints(&self) -> Option<&[i64]> {
        match self {
            AttributeValue::Ints(list) => Some(list),
            AttributeValue::Floats(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }

    /// The numbers, if it is a list of them.
    pub fn floats(&self) -> Option<&[f32]> {
        match self {
            AttributeValue::Floats(list) => Some(list),
            AttributeValue::Ints(list) if list.is_empty() => Some(&[]),
            _ => None,
        }
    }

    /// The text, if it is one in UTF-8.
    pub fn string(&self) -> Option<&str> {
        match self {
            AttributeValue::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Arc<Tensor>> {
        match self {
            AttributeValue::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The graphs in it.
    pub fn graphs(&self) -> &[Arc<Graph>] {
        match self {
            AttributeValue::Graph(graph) => std::slice::from_ref(graph),
            AttributeValue::Graphs(graphs) => graphs,
            _ => &[],
        }
    }

    /// What kind it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            AttributeValue::Float(_) => "float",
            AttributeValue::Int(_) => "int",
            AttributeValue::String(_) => "string",
            AttributeValue::Tensor(_) => "tensor",
            AttributeValue::Graph(_) => "graph",
            AttributeValue::Floats(_) => "floats",
            AttributeValue::Ints(_) => "ints",
            AttributeValue::Strings(_) => "strings",
            AttributeValue::Tensors(_) => "tensors",
            AttributeValue::Graphs(_) => "graphs",
            AttributeValue::Type(_) => "type",
            AttributeValue::Types(_) => "types",
            AttributeValue::Reference(_) => "reference",
            AttributeValue::Opaque(_) => "opaque",
        }
    }
}

macro_rules! from {
    ($($ty:ty => $x:ident $value:expr;)*) => {
        $(impl From<$ty> for AttributeValue {
            fn from($x: $ty) -> AttributeValue {
                $value
            }
        })*
    };
}

from! {
    f32 => x AttributeValue::Float(x);
    i64 => x AttributeValue::Int(x);
    &str => x AttributeValue::String(Bytes::copy_from_slice(x.as_bytes()));
    Vec<i64> => x AttributeValue::Ints(x);
    &[i64] => x AttributeValue::Ints(x.to_vec());
    Vec<f32> => x AttributeValue::Floats(x);
    Vec<&str> => x AttributeValue::Strings(x.into_iter().map(|s| Bytes::copy_from_slice(s.as_bytes())).collect());
    Tensor => x AttributeValue::Tensor(Arc::new(x));
    Graph => x AttributeValue::Graph(Arc::new(x));
    ValueType => x AttributeValue::Type(x);
}

impl<const N: usize> From<[i64; N]> for AttributeValue {
    fn from(list: [i64; N]) -> AttributeValue {
        AttributeValue::Ints(list.to_vec())
    }
}
