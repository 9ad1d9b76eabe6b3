//! How data is laid out in arrays of the loop IR.
//!
//! Nested arrays are one array of several dimensions. A vector is its innermost dimension. Pairs of
//! numbers stay together as elements of pairs. A pair that holds an array becomes two arrays
//! (suffixes `_1` and `_2`), which share the dimensions around the pair.

use functional::DataType;
use loops::{Component, Elem, Expr, Name, Scalar, Size};

use crate::phrase::{Exp, Step};
use crate::translate::is_flat;

/// Arrays that hold one value of a data type.
#[derive(Clone, PartialEq, Debug)]
pub enum Layout {
    /// One array.
    Array {
        /// Its name.
        name: Name,
        /// Its elements.
        elem: Elem,
        /// Its extents, outermost first; none for a scalar variable.
        dims: Vec<Size>,
    },
    /// A pair whose halves are apart.
    Pair(Box<Layout>, Box<Layout>),
}

impl Layout {
    /// The layout of a type; `free` turns wished names into names that nothing else has.
    pub fn of(name: &str, ty: &DataType, free: &mut dyn FnMut(&str) -> Name) -> Layout {
        Layout::build(name, Vec::new(), ty, free)
    }

    fn build(name: &str, mut dims: Vec<Size>, ty: &DataType, free: &mut dyn FnMut(&str) -> Name) -> Layout {
        match ty {
            DataType::Array(n, elem) => {
                dims.push(n.clone());
                Layout::build(name, dims, elem, free)
            }
            DataType::Vector(n, scalar) => {
                dims.push(n.clone());
                Layout::Array { name: free(name), elem: (*scalar).into(), dims }
            }
            DataType::Pair(a, b) if !is_flat(ty) => {
                let first = Layout::build(&format!("{name}_1"), dims.clone(), a, free);
                let second = Layout::build(&format!("{name}_2"), dims, b, free);
                Layout::Pair(Box::new(first), Box::new(second))
            }
            _ => Layout::Array { name: free(name), elem: elem_of(ty), dims },
        }
    }

    /// The arrays, in order: name, elements, extents.
    pub fn arrays(&self) -> Vec<(&Name, &Elem, &[Size])> {
        let mut list = Vec::new();
        self.collect(&mut list);
        list
    }

    fn collect<'a>(&'a self, list: &mut Vec<(&'a Name, &'a Elem, &'a [Size])>) {
        match self {
            Layout::Array { name, elem, dims } => list.push((name, elem, dims)),
            Layout::Pair(a, b) => {
                a.collect(list);
                b.collect(list);
            }
        }
    }

    /// Array, subscripts and components at a path. `index` turns the path's indices into
    /// subscripts. The last step of the path comes first.
    pub fn place<E>(
        &self,
        path: &[Step],
        mut index: impl FnMut(&Exp) -> Result<Expr, E>,
    ) -> Result<(Name, Vec<Expr>, Vec<Component>), E> {
        let mut layout = self;
        let (mut indices, mut components) = (Vec::new(), Vec::new());
        for step in path.iter().rev() {
            match (step, layout) {
                (Step::At(i), _) => indices.push(index(i)?),
                (Step::First, Layout::Pair(a, _)) => layout = a,
                (Step::Second, Layout::Pair(_, b)) => layout = b,
                (Step::First, Layout::Array { .. }) => components.push(Component::First),
                (Step::Second, Layout::Array { .. }) => components.push(Component::Second),
            }
        }
        loop {
            match layout {
                Layout::Pair(a, _) => layout = a,
                Layout::Array { name, .. } => return Ok((name.clone(), indices, components)),
            }
        }
    }

    /// The same layout under other names.
    pub fn renamed(&self, rename: &mut dyn FnMut(&Name) -> Name) -> Layout {
        match self {
            Layout::Array { name, elem, dims } => {
                Layout::Array { name: rename(name), elem: elem.clone(), dims: dims.clone() }
            }
            Layout::Pair(a, b) => {
                let first = a.renamed(rename);
                Layout::Pair(Box::new(first), Box::new(b.renamed(rename)))
            }
        }
    }
}

/// The element that holds data without arrays.
fn elem_of(ty: &DataType) -> Elem {
    match ty {
        DataType::Scalar(s) => (*s).into(),
        DataType::Pair(a, b) => Elem::pair(elem_of(a), elem_of(b)),
        // Indices are `i64`; arrays and vectors do not get here.
        DataType::Idx(_) | DataType::Array(..) | DataType::Vector(..) => Scalar::I64.into(),
    }
}
