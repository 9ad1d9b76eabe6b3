//! Checks that the outputs of both sides agree in type and shape. It follows what signatures say
//! through both sides. Only a certain difference is an error.

use graph::schema::ResultType;

use crate::program::{Arg, Inst, Item, OpPattern, RExpr, Target, TargetAttribute, ValueRef, What};
use crate::resolve::Resolver;
use crate::rule::ElementType;

/// The element type of a value, as far as signatures tell.
#[derive(Clone, PartialEq, Debug)]
enum Type {
    Unknown,
    Fixed(String),
    /// That of an input of the rule, whatever it is.
    Input(usize),
}

/// The shape of a value, as far as operators tell.
#[derive(Clone, PartialEq, Debug)]
enum Shape {
    Unknown,
    /// That of an input, with its dimensions in this order.
    Input(usize, Vec<i64>),
    /// That of an input as it is.
    Same(usize),
}

impl Resolver<'_> {
    pub(crate) fn agree(&mut self) {
        let mut found = Vec::new();
        for binding in &self.out.target {
            for name in binding.names.iter().flatten() {
                let Some((v, item)) = name.replaces else { continue };
                let value = ValueRef { what: What::Result(v, Item::Fixed(item)), inst: Inst::Shared };
                let (before, after) = (self.type_of(&value, 32), self.target_type(&binding.value, 32));
                if let (Type::Fixed(a), Type::Fixed(b)) = (&before, &after)
                    && a != b
                {
                    found.push(("R0209", v, format!("is {a} in the pattern and {b} in the replacement")));
                    continue;
                }
                let (before, after) = (self.shape_of(&value, 32), self.target_shape(&binding.value, 32));
                let differ = match (&before, &after) {
                    (Shape::Same(a), Shape::Input(b, order)) | (Shape::Input(b, order), Shape::Same(a)) => {
                        a == b && order.iter().enumerate().any(|(k, x)| k as i64 != *x)
                    }
                    (Shape::Input(a, p), Shape::Input(b, q)) => a == b && p != q,
                    _ => false,
                };
                if differ {
                    found.push((
                        "R0210",
                        v,
                        "has its dimensions in another order in the replacement".to_owned(),
                    ));
                }
            }
        }
        for (code, v, what) in found {
            let (name, at) = (self.out.vertices[v].name.clone(), self.places[v]);
            self.error(code, format!("the output `{name}` {what}"), at, "this output");
        }
    }

    fn type_of(&self, value: &ValueRef, depth: usize) -> Type {
        match &value.what {
            What::Input(k) => Type::Input(*k),
            What::Result(v, item) => {
                let vertex = &self.out.vertices[*v];
                let item = if let Item::Fixed(k) = item { *k } else { 0 };
                self.result_type(&vertex.op, item, |k| match vertex.args.get(k) {
                    Some(Arg::Value(v)) if depth > 0 => self.type_of(v, depth - 1),
                    Some(Arg::Instances(v, _)) if depth > 0 => self.type_of(v, depth - 1),
                    _ => Type::Unknown,
                })
            }
        }
    }

    fn result_type(&self, op: &OpPattern, item: usize, input: impl Fn(usize) -> Type) -> Type {
        let OpPattern::Named(op) = op else { return Type::Unknown };
        let Some(schema) = graph::schema::versions(&op.domain, &op.name).last() else { return Type::Unknown };
        match schema.result_type(item) {
            ResultType::Unknown => Type::Unknown,
            ResultType::Fixed(t) => Type::Fixed(t.to_string()),
            ResultType::Like(k) => input(k),
        }
    }

    fn target_type(&self, t: &Target, depth: usize) -> Type {
        if depth == 0 {
            return Type::Unknown;
        }
        match t {
            Target::Matched(v) => self.type_of(v, depth - 1),
            Target::Optional(k) => Type::Input(*k),
            Target::Local(k, _) => match self.local(*k) {
                Some((t, _)) => self.target_type(t, depth - 1),
                None => Type::Unknown,
            },
            Target::Constant(_, Some(RExpr::Type(t))) => Type::Fixed(short(*t).into()),
            Target::Constant(RExpr::Tuple(items), None)
                if items.iter().all(|e| matches!(e, RExpr::Int(_))) =>
            {
                Type::Fixed("i64".into())
            }
            Target::Item(inner, _) => self.target_type(inner, depth - 1),
            Target::Call(call) => self.result_type(&call.op, 0, |k| match call.args.get(k) {
                Some(Target::Spread(_) | Target::Locals(_)) | None => Type::Unknown,
                Some(Target::Instances(v, _)) => self.type_of(v, depth - 1),
                Some(a) => self.target_type(a, depth - 1),
            }),
            _ => Type::Unknown,
        }
    }

    fn local(&self, k: usize) -> Option<(&Target, bool)> {
        let binding = self.out.target.iter().find(|b| b.names.iter().flatten().any(|n| n.local == k))?;
        Some((&binding.value, binding.names.len() == 1))
    }

    fn shape_of(&self, value: &ValueRef, depth: usize) -> Shape {
        if depth == 0 {
            return Shape::Unknown;
        }
        match &value.what {
            What::Input(k) => Shape::Same(*k),
            What::Result(v, Item::Fixed(0)) => {
                let vertex = &self.out.vertices[*v];
                let Some(Arg::Value(first)) = vertex.args.first() else { return Shape::Unknown };
                let order = self.out.constraints.iter().find_map(|c| match &c.what {
                    crate::program::Requirement::Attribute(w, _, name, RExpr::Tuple(t))
                        if w == v && name == "perm" =>
                    {
                        ints(t)
                    }
                    _ => None,
                });
                self.through(&vertex.op, order, || self.shape_of(first, depth - 1))
            }
            What::Result(..) => Shape::Unknown,
        }
    }

    fn target_shape(&self, t: &Target, depth: usize) -> Shape {
        if depth == 0 {
            return Shape::Unknown;
        }
        match t {
            Target::Matched(v) => self.shape_of(v, depth - 1),
            Target::Local(k, _) => match self.local(*k) {
                Some((t, true)) => self.target_shape(t, depth - 1),
                _ => Shape::Unknown,
            },
            Target::Call(call) => {
                let Some(first) = call.args.first() else { return Shape::Unknown };
                let order = call.attributes.iter().find_map(|a| match a {
                    TargetAttribute::Is(name, RExpr::Tuple(t)) if name == "perm" => ints(t),
                    _ => None,
                });
                self.through(&call.op, order, || self.target_shape(first, depth - 1))
            }
            _ => Shape::Unknown,
        }
    }

    /// The shape behind an operator whose first input has a shape.
    fn through(&self, op: &OpPattern, order: Option<Vec<i64>>, first: impl Fn() -> Shape) -> Shape {
        let keeps = match op {
            OpPattern::Variable(k) => self.keeps_shape(*k),
            OpPattern::Named(op) => {
                if op.is("Transpose") {
                    return match (first(), order) {
                        (Shape::Same(k), Some(order)) => Shape::Input(k, order),
                        (Shape::Input(k, inner), Some(order)) => {
                            let item = |x: &i64| inner.get(usize::try_from(*x).ok()?).copied();
                            order
                                .iter()
                                .map(item)
                                .collect::<Option<_>>()
                                .map_or(Shape::Unknown, |o| Shape::Input(k, o))
                        }
                        _ => Shape::Unknown,
                    };
                }
                graph::schema::versions(&op.domain, &op.name).last().is_some_and(|s| s.elementwise)
            }
        };
        if keeps { first() } else { Shape::Unknown }
    }
}

fn ints(all: &[RExpr]) -> Option<Vec<i64>> {
    all.iter().map(|e| if let RExpr::Int(n) = e { Some(*n) } else { None }).collect()
}

/// The word of crate `graph` for an element type.
fn short(t: ElementType) -> &'static str {
    match t {
        ElementType::Float16 => "f16",
        ElementType::Float32 => "f32",
        ElementType::Float64 => "f64",
        ElementType::Bfloat16 => "bf16",
        ElementType::Int8 => "i8",
        ElementType::Int16 => "i16",
        ElementType::Int32 => "i32",
        ElementType::Int64 => "i64",
        ElementType::Uint8 => "u8",
        ElementType::Uint16 => "u16",
        ElementType::Uint32 => "u32",
        ElementType::Uint64 => "u64",
        ElementType::Bool => "bool",
        ElementType::String => "string",
    }
}
