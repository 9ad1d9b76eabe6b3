//! Certificates: a functional program and the loops made of it, as data that a checker verified in
//! Coq decides about.
//!
//! [`certify`] ties the two together: parameters and sizes get the same numbers on both sides.
//! [`Certificate::to_coq`] prints the text that Coq reads; what it means is in
//! `proofs/Semantics.v`. The program is the one *before* strategies, the loops are those that
//! become C, so nothing between the two is trusted.
//!
//! - `data`: the data, one to one those of `proofs/Syntax.v`
//! - `ops`: operations of numbers, by the same names on both sides
//! - `source`, `target`: the two programs
//! - `hints`: how the loops go through the reductions of the program, for the checker to begin with
//! - `example`: sizes that a definition allows
//! - `print`: the text
//! - `hypotheses`: what the theorem rests on, in words
//! - `theory`: the same definition as a program of the theory of the translation, to be compared
//!
//! Not here: running Coq, and whether the checker accepts.

pub mod data;
mod example;
mod hints;
mod hypotheses;
mod ops;
mod print;
mod source;
mod target;
mod theory;

use functional::{DataType, Definition, FactKind, strategy::Step};
use loops::{Code, Diagnostic, Expr, Function, Size, Stmt, visit};

use crate::translate::is_flat;
use crate::{Abi, Mode};
use data::{ArrayType, Exp, Op, Shape, Tables, Tm, Ty};
pub use data::{Certificate, Law};
use hints::Hints;
pub use print::{HEAD, module_name};
use source::Source;
use target::{Array, Target};
pub use theory::{COMPARISON_HEAD, comparison};

type Result<T> = std::result::Result<T, Diagnostic>;

/// The certificate that `function` computes what `definition` says. `abi` says which parameters of
/// the one are which of the other. The steps of a strategy that regroup additions are hints for the
/// checker.
///
/// Recursion is as deep as the programs are nested. For deep input run it on a thread with a large
/// stack.
///
/// # Errors
/// `D0201` with the name of the construct, if a program has one that certificates do not cover.
pub fn certify(
    definition: &Definition,
    function: &Function,
    abi: &Abi,
    mode: Mode,
    steps: &[Step],
) -> Result<Certificate> {
    let mut target = Target::default();
    for size in &function.sizes {
        target.size_parameter(size);
    }
    if asks_for_threads(function) {
        target.number_of_threads(&visit::taken(function));
    }
    let sizes = target.sizes();
    let (mut values, mut args) = (Vec::new(), Vec::new());
    for (binder, (_, names)) in definition.params.iter().zip(&abi.params) {
        let mut parts = Vec::new();
        let mut names = names.iter();
        values.push(parameter(&mut target, &binder.var.name, &binder.ty, &mut names, function, &mut parts)?);
        for (number, ty) in parts {
            args.push((number, tables(&target, &ty)?));
        }
    }
    let ty = definition.body.ty();
    let out = single(&mut target, "out", ty, &mut abi.result.iter(), function)?;
    let returns = tables(&target, ty)?;
    let mut assume: Vec<Tm> = (0..sizes).map(Tm::Var).collect();
    for fact in &definition.facts {
        let (left, right) = (target.size(&fact.left)?, target.size(&fact.right)?);
        assume.push(Tm::Op(Op::Isub, vec![right.clone(), left.clone()]));
        if fact.kind == FactKind::Equal {
            assume.push(Tm::Op(Op::Isub, vec![left, right]));
        }
    }
    // The program first: what it is refused for has a place in the source.
    let hints = Hints::new(&target, function, mode, steps);
    let mut source =
        Source::new(definition, hints, &target, values, target.arrays_so_far() + locals(function));
    let written_out = functional::blocks::written_out(definition);
    let exp = source.exp(written_out.as_ref().map_or(&definition.body, |d| &d.body))?;
    let (variables, regrouped, wraps) = (source.names.variables, source.laws, source.wraps);
    if wraps {
        assume.extend(fitting(sizes, &args));
    }
    let loops = target.body(&function.body)?;
    let example = example::sizes(sizes, &assume)
        .ok_or_else(|| refused("a definition for which no sizes are found that it allows"))?;
    let Target { mut names, dims, mut laws, sums, .. } = target;
    names.variables = variables;
    laws.extend(regrouped);
    Ok(Certificate {
        sizes,
        assume,
        example,
        args,
        returns,
        source: exp,
        dims,
        out,
        laws: laws.into_iter().collect(),
        sums,
        target: loops,
        names,
    })
}

/// That sizes, and the numbers of elements of parameters, fit in 64 bits. Needed where indices
/// become data.
fn fitting(sizes: u32, args: &[(u32, Tables)]) -> Vec<Tm> {
    let counts = args.iter().flat_map(|(_, tables)| tables.iter().map(|(_, _, extents)| extents));
    // A size alone is in the list anyway.
    let products = counts.filter(|extents| !matches!(extents[..], [Tm::Var(_)])).filter_map(|extents| {
        let product = |a: Tm, b: Tm| Tm::Op(Op::Imul, vec![a, b]);
        extents.iter().cloned().reduce(product)
    });
    let mut all: Vec<Tm> = Vec::new();
    for count in (0..sizes).map(Tm::Var).chain(products) {
        let fits = Tm::Op(Op::Isub, vec![Tm::Int(i64::MAX), count]);
        if !all.contains(&fits) {
            all.push(fits);
        }
    }
    all
}

/// The number of local arrays.
fn locals(function: &Function) -> u32 {
    visit::locals(&function.body).fold(0, |count, _| count + 1)
}

/// Whether loops ask if there is one thread. The certificate is then about any number of threads,
/// as if it were a size.
fn asks_for_threads(function: &Function) -> bool {
    let mut conditions = visit::nodes(&function.body).flat_map(Stmt::exprs);
    conditions.any(|e| e.nodes().any(Expr::is_one_thread))
}

/// A parameter: a number, or a pair of numbers if its parts are arrays of different shapes. `names`
/// are the arrays that hold it. `parts` gets the numbers with their types.
fn parameter(
    target: &mut Target,
    name: &str,
    ty: &DataType,
    names: &mut std::slice::Iter<'_, loops::Name>,
    function: &Function,
    parts: &mut Vec<(u32, DataType)>,
) -> Result<Exp> {
    let tables = shape(target, ty)?;
    let differ = tables.iter().any(|(_, dims)| *dims != tables[0].1);
    if let Some((first, second)) = halves(ty)
        && differ
    {
        let first = parameter(target, name, &first, names, function, parts)?;
        let second = parameter(target, name, &second, names, function, parts)?;
        return Ok(Exp::Pair(Box::new([first, second])));
    }
    let number = single(target, name, ty, names, function)?;
    parts.push((number, ty.clone()));
    Ok(Exp::Var(number))
}

/// A number for a value whose parts have one shape, and for all arrays that hold it.
fn single(
    target: &mut Target,
    name: &str,
    ty: &DataType,
    names: &mut std::slice::Iter<'_, loops::Name>,
    function: &Function,
) -> Result<u32> {
    let number = target.number(name);
    let (mut places, mut types, mut extents) = (Vec::new(), Vec::new(), None::<Vec<Tm>>);
    arrays_of(ty, &mut Vec::new(), names, &mut places);
    for (name, components) in places {
        let unknown = || refused(format!("the parameter `{name}`, which the loops do not have"));
        let param = function.params.iter().find(|p| p.name == name).ok_or_else(unknown)?;
        // What the loops declare; that it is what the definition has is for the checker to see.
        let dims: Vec<Tm> = param.dims.iter().map(|d| target.exact(d)).collect::<Result<_>>()?;
        if extents.get_or_insert_with(|| dims.clone()) != &dims {
            return Err(refused(format!("`{name}`, a pair of arrays of different shapes,")));
        }
        target::leaves(&param.elem, &components, &mut types);
        let index = index_below(ty).is_some();
        target.declare(&name, Array { number, components, elem: param.elem.clone(), index });
    }
    let tables = shape(target, ty)?;
    let [(_, dims), rest @ ..] = &tables[..] else { return Err(refused("a parameter of no numbers")) };
    if rest.iter().any(|(_, other)| other != dims) {
        return Err(refused(format!("`{name}`, a pair of arrays of different shapes,")));
    }
    let extents = extents.unwrap_or_default();
    target.dims.push((number, ArrayType { components: types, extents }));
    Ok(number)
}

/// An array of pairs, or a pair, as two values.
fn halves(ty: &DataType) -> Option<(DataType, DataType)> {
    match ty {
        DataType::Pair(a, b) => Some(((**a).clone(), (**b).clone())),
        DataType::Array(n, elem) => {
            let (a, b) = halves(elem)?;
            Some((DataType::Array(n.clone(), Box::new(a)), DataType::Array(n.clone(), Box::new(b))))
        }
        _ => None,
    }
}

/// The arrays that hold a value, as `codegen::layout` splits it. Each comes with the components of
/// the value that it holds.
fn arrays_of(
    ty: &DataType,
    components: &mut Vec<bool>,
    names: &mut std::slice::Iter<'_, loops::Name>,
    places: &mut Vec<(loops::Name, Vec<bool>)>,
) {
    match ty {
        DataType::Array(_, elem) => arrays_of(elem, components, names, places),
        DataType::Pair(a, b) if !is_flat(ty) => {
            for (second, half) in [(false, a), (true, b)] {
                components.push(second);
                arrays_of(half, components, names, places);
                components.pop();
            }
        }
        _ => places.extend(names.next().map(|name| (name.clone(), components.clone()))),
    }
}

/// The tables of a value of the type, without types.
fn shape(sizes: &Target, ty: &DataType) -> Result<Shape> {
    Ok(tables(sizes, ty)?.into_iter().map(|(components, _, extents)| (components, extents)).collect())
}

/// The tables of a value of the type.
fn tables(sizes: &Target, ty: &DataType) -> Result<Tables> {
    fn collect(
        sizes: &Target,
        ty: &DataType,
        at: &mut (Vec<bool>, Vec<Tm>),
        shape: &mut Tables,
    ) -> Result<()> {
        match ty {
            DataType::Scalar(s) => shape.push((at.0.clone(), Ty::Num(s.keyword()), at.1.clone())),
            DataType::Idx(n) => shape.push((at.0.clone(), Ty::Below(sizes.size(n)?), at.1.clone())),
            DataType::Vector(n, s) => {
                let (components, mut dims) = at.clone();
                dims.push(sizes.size(n)?);
                shape.push((components, Ty::Num(s.keyword()), dims));
            }
            DataType::Array(n, elem) => {
                at.1.push(sizes.size(n)?);
                collect(sizes, elem, at, shape)?;
                at.1.pop();
            }
            DataType::Pair(a, b) => {
                for (second, half) in [(false, a), (true, b)] {
                    at.0.push(second);
                    collect(sizes, half, at, shape)?;
                    at.0.pop();
                }
            }
        }
        Ok(())
    }
    let mut shape = Vec::new();
    collect(sizes, ty, &mut (Vec::new(), Vec::new()), &mut shape)?;
    Ok(shape)
}

/// What the elements of an array of indices are below.
fn index_below(ty: &DataType) -> Option<&Size> {
    match ty {
        DataType::Idx(n) => Some(n),
        DataType::Array(_, elem) => index_below(elem),
        DataType::Scalar(_) | DataType::Pair(..) | DataType::Vector(..) => None,
    }
}

fn refused(what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::general(Code("D0201"), format!("{what} has no certificate"))
}
