//! C types of the loop IR's element types, and the names of the structs that pairs become.

use std::collections::BTreeMap;

use loops::{Component, Elem, Scalar};

/// The C type of a scalar.
pub(crate) fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::Bool => "bool",
        Scalar::I8 => "int8_t",
        Scalar::U8 => "uint8_t",
        Scalar::I16 => "int16_t",
        // The bits: not every compiler has a type for the number.
        Scalar::U16 | Scalar::F16 => "uint16_t",
        Scalar::U32 => "uint32_t",
        Scalar::U64 => "uint64_t",
    }
}

/// The C type of an element: a scalar type or the name of a struct.
pub(crate) fn elem_type(elem: &Elem) -> String {
    match elem {
        Elem::Scalar(scalar) => scalar_type(*scalar).to_owned(),
        Elem::Pair(..) => pair_name(elem),
    }
}

/// The struct's name: the type in prefix notation, which two different types never share
/// (`pair_f32_i64`, `pair_pair_f32_i64_f64`).
fn pair_name(elem: &Elem) -> String {
    let mut words = Vec::new();
    let mut todo = vec![elem];
    while let Some(elem) = todo.pop() {
        match elem {
            Elem::Scalar(scalar) => words.push(scalar.keyword()),
            Elem::Pair(first, second) => {
                words.push("pair");
                todo.extend([&**second, &**first]);
            }
        }
    }
    words.join("_")
}

/// Structs in an order in which each is defined before it is used: the text of the definition by
/// nesting depth and name.
#[derive(Clone, Debug, Default)]
pub struct Structs(BTreeMap<(usize, String), String>);

impl Structs {
    /// Adds what the element type needs.
    pub fn add(&mut self, elem: &Elem) {
        if let Elem::Pair(first, second) = elem {
            self.add(first);
            self.add(second);
            let name = pair_name(elem);
            let guard = format!("LOZENGE_{}", name.to_uppercase());
            let text = format!(
                "#ifndef {guard}\n#define {guard}\ntypedef struct {{\n    {} x1;\n    {} x2;\n}} {name};\n#endif\n",
                elem_type(first),
                elem_type(second)
            );
            self.0.insert((nesting(elem), name), text);
        }
    }

    /// Adds all of another collection.
    pub fn extend(&mut self, other: Structs) {
        self.0.extend(other.0);
    }

    /// The definitions.
    pub fn definitions(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}

/// Pairs inside pairs.
pub fn nesting(elem: &Elem) -> usize {
    match elem {
        Elem::Scalar(_) => 0,
        Elem::Pair(a, b) => 1 + nesting(a).max(nesting(b)),
    }
}

/// The type at the end of a path; `None` if the path does not fit the type.
pub(crate) fn at_path(elem: &Elem, path: &[Component]) -> Option<Elem> {
    let mut current = elem;
    for component in path {
        match (current, component) {
            (Elem::Pair(first, _), Component::First) => current = first,
            (Elem::Pair(_, second), Component::Second) => current = second,
            (Elem::Scalar(_), _) => return None,
        }
    }
    Some(current.clone())
}

/// Size in bytes as C lays it out (natural alignment).
pub fn elem_bytes(elem: &Elem) -> usize {
    layout(elem).0
}

fn layout(elem: &Elem) -> (usize, usize) {
    match elem {
        Elem::Scalar(scalar) => (scalar.bytes(), scalar.bytes()),
        Elem::Pair(a, b) => {
            let ((a_size, a_align), (b_size, b_align)) = (layout(a), layout(b));
            let align = a_align.max(b_align);
            let offset = a_size.next_multiple_of(b_align);
            ((offset + b_size).next_multiple_of(align), align)
        }
    }
}

/// The member that holds a component.
pub fn member(component: Component) -> &'static str {
    match component {
        Component::First => "x1",
        Component::Second => "x2",
    }
}

/// Every path to a scalar of the element type, with the scalar.
pub fn leaves(elem: &Elem) -> Vec<(Vec<Component>, Scalar)> {
    match elem {
        Elem::Scalar(scalar) => vec![(Vec::new(), *scalar)],
        Elem::Pair(a, b) => {
            let under = |component: Component, elem: &Elem| {
                leaves(elem).into_iter().map(move |(mut path, scalar)| {
                    path.insert(0, component);
                    (path, scalar)
                })
            };
            under(Component::First, a).chain(under(Component::Second, b)).collect()
        }
    }
}

/// Whether the type has truth values, which need a header.
pub(crate) fn has_bool(elem: &Elem) -> bool {
    match elem {
        Elem::Scalar(scalar) => *scalar == Scalar::Bool,
        Elem::Pair(a, b) => has_bool(a) || has_bool(b),
    }
}
