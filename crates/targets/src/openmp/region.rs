//! Statements for the middle of an existing C function.
//!
//! The text uses the names, types and arithmetic of the C around it, and nothing that needs a
//! header. It uses macros that it defines itself, and built-in functions of gcc and clang. An
//! allocation that fails ends the program, because there is no caller to tell.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Diagnostic, Elem, Expr, Function, Name};

use crate::c::{CExpr, CStmt};
use crate::c_print::{Layout, Printer};
use crate::openmp::function::{bounded, start};
use crate::openmp::helpers::{self, Helper};
use crate::openmp::lower::{Lower, invalid};
use crate::openmp::scope::{Array, Binding, Form, Member};
use crate::openmp::{Options, WHOLE_LANES};

/// How the names of a loop program are written in the C around a region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionNames {
    /// C of each size parameter, where it is not the name itself.
    pub sizes: BTreeMap<Name, String>,
    /// Sizes whose C is an `int`.
    pub int_sizes: BTreeSet<Name>,
    /// Name and form of each parameter. A parameter that is not listed is a scalar, or an array
    /// with one subscript for each dimension, and keeps its name.
    pub arrays: BTreeMap<Name, RegionArray>,
    /// Identifiers that the text may not declare: those of the C function around it, and macros.
    pub taken: BTreeSet<String>,
    /// What every line begins with.
    pub indent: String,
}

/// A parameter in the C around a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionArray {
    /// Name in C.
    pub c_name: String,
    /// `a[i * n + j]` rather than `a[i][j]`.
    pub linear: bool,
    /// The name is that of a pointer, so that a copy of it is for the same elements.
    pub pointer: bool,
    /// Members that stand behind so many of its subscripts in C.
    pub members: Vec<(usize, Member)>,
}

/// The body of a function as C statements in the place of a region.
///
/// # Errors
/// If the program is nested too deeply (`L0104`, `T0004`), is not valid or has pairs (`T0001`), or
/// has local arrays that cannot be allocated as it asks (`T0002`, `T0003`).
pub fn emit_region(
    function: &Function,
    names: &RegionNames,
    options: &Options,
) -> Result<String, Diagnostic> {
    region_text(function, names, options).map(|region| region.text)
}

/// What a function becomes in the place of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionText {
    /// The statements.
    pub text: String,
    /// What decides whether threads pay somewhere; none if that is not known.
    pub amounts: Option<Amounts>,
    /// Lines that its file needs before and behind all functions.
    pub around: Option<[&'static str; 2]>,
}

/// Conditions on sizes of which one holds if threads pay somewhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Amounts {
    /// In C, each once.
    pub conditions: Vec<String>,
    /// Lines that define the macros in them.
    pub macros: String,
}

/// As [`emit_region`], with what decides whether threads pay.
///
/// # Errors
/// As [`emit_region`].
pub fn region_text(
    function: &Function,
    names: &RegionNames,
    options: &Options,
) -> Result<RegionText, Diagnostic> {
    bounded(function)?;
    let mut lower = in_region(function, names, options);
    let c_array =
        |name: &Name| names.arrays.get(name).map_or(name.as_str(), |a| a.c_name.as_str()).to_owned();
    function.assumptions.iter().for_each(|a| lower.ranges.assume(a));
    for param in &function.params {
        if matches!(param.elem, Elem::Pair(..)) {
            return Err(invalid(format!(
                "`{}` has pairs, which C around a region does not have",
                param.name
            )));
        }
        let dims = param.dims.iter().map(|d| lower.index(d)).collect::<Result<Vec<_>, _>>()?;
        let name = c_array(&param.name);
        lower.names.take_reserved(&name);
        let linear = names.arrays.get(&param.name).is_some_and(|a| a.linear);
        let form = if linear { Form::Linear } else { Form::Nested };
        let all = names.arrays.get(&param.name).map_or(&[][..], |a| &a.members);
        let (first, members): (Vec<_>, Vec<_>) = all.iter().cloned().partition(|(after, _)| *after == 0);
        if first.is_empty() && names.arrays.get(&param.name).is_some_and(|a| a.pointer) {
            lower.pointers.insert(param.name.clone(), name.clone());
        }
        let base = first.iter().fold(CExpr::name(name), |base, (_, member)| member.of(base));
        let array = Array { base, elem: param.elem.clone(), dims, form, stack: false, members };
        lower.scope.push(&param.name, Binding::Array(array));
    }
    let stmts = lower.block(&function.body)?.stmts;
    let stmts: Vec<CStmt> = lower.vector_definitions().into_iter().chain(stmts).collect();
    let declares = stmts.iter().any(|s| matches!(s, CStmt::Declare { .. }));
    let stmts = if declares { vec![CStmt::Block(None, stmts)] } else { stmts };
    let mut printer = Printer::indented(Layout::Readable, &names.indent);
    printer.raw_if(&helpers::macros(&lower.helpers));
    printer.stmts(&stmts);
    let own = |text: String| fresh_macros(text, &lower.helpers, &names.taken);
    let known = |(_, of): &(String, BTreeSet<Name>)| of.iter().all(|name| function.sizes.contains(name));
    let tests: Option<Vec<String>> = lower
        .amounts
        .iter()
        .map(|amount| Some(amount.as_ref().filter(|one| known(one))?.0.clone()))
        .collect();
    let amounts = tests.map(|mut tests| {
        let mut seen = BTreeSet::new();
        tests.retain(|test| seen.insert(test.clone()));
        let named = |name: &str| tests.iter().any(|test| test.contains(name));
        let used = lower.helpers.iter().filter(|helper| helper.macro_name().is_some_and(named)).copied();
        let macros = own(helpers::macros(&used.collect()));
        Amounts { macros, conditions: tests.iter().cloned().map(own).collect() }
    });
    let text = own(printer.finish());
    let around = lower.helpers.contains(&Helper::Lanes).then_some(WHOLE_LANES);
    Ok(RegionText { text, amounts, around })
}

/// A condition on sizes.
#[derive(Clone, Debug)]
pub struct SizeTest {
    /// In C.
    pub condition: String,
    /// Lines that define the macros in it.
    pub macros: String,
}

/// The condition in C that the product of sums of sizes is more than a number, in the place of the
/// region of a function; none if the product is a number.
///
/// # Errors
/// If an expression is none of sizes and integers (`T0001`).
pub fn region_condition(
    function: &Function,
    names: &RegionNames,
    factors: &[Expr],
    least: i64,
) -> Result<Option<SizeTest>, Diagnostic> {
    let options = Options::default();
    let mut lower = in_region(function, names, &options);
    let test = lower.product_above(factors, least)?;
    let own = |text: String| fresh_macros(text, &lower.helpers, &names.taken);
    Ok(test.map(|test| SizeTest {
        condition: own(Printer::new(Layout::Readable).expression(&test)),
        macros: own(helpers::macros(&lower.helpers)),
    }))
}

/// What lowers statements in the place of a region, with the sizes of its function.
fn in_region<'a>(function: &'a Function, names: &RegionNames, options: &'a Options) -> Lower<'a> {
    let mut lower = start(&function.body, options);
    lower.native = true;
    lower.wrapping = false;
    // Always 64 bits, independently of the source's loops, because tiled, skewed and scaled loops
    // have larger values.
    lower.index_type = "long".to_owned();
    let c_size = |name: &Name| names.sizes.get(name).map_or(name.as_str(), String::as_str).to_owned();
    for word in &names.taken {
        lower.names.take_reserved(word);
    }
    for size in &function.sizes {
        let name = c_size(size);
        lower.names.take_reserved(&name);
        if names.int_sizes.contains(size) {
            lower.ints.insert(name.clone());
        }
        lower.scope.push(size, Binding::Index(CExpr::name(name)));
    }
    lower
}

/// The text, with other names for those of our macros whose names the surrounding C uses already.
fn fresh_macros(text: String, used: &BTreeSet<Helper>, taken: &BTreeSet<String>) -> String {
    let names = used.iter().filter_map(|helper| helper.macro_name());
    names.filter(|name| taken.contains(*name)).fold(text, |text, name| {
        let mut fresh = format!("{name}_");
        while taken.contains(&fresh) {
            fresh.push('_');
        }
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(name) {
            let (before, after) = (&rest[..at], &rest[at + name.len()..]);
            let whole = !before.ends_with(part) && !after.starts_with(part);
            out.push_str(before);
            out.push_str(if whole { &fresh } else { name });
            rest = after;
        }
        out + rest
    })
}
