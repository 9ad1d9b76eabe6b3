//! What the test harness needs of the target: how a function is called, and how many elements its
//! parameters have.

use std::collections::BTreeSet;

use loops::{Diagnostic, Elem, Function, Scalar};

use crate::c::{CExpr, CStmt};
use crate::c_print::{Layout, Printer};
use crate::openmp::Options;
use crate::openmp::function::start;
use crate::openmp::scope::Binding;
use crate::openmp::types::{leaves, member};

pub use crate::openmp::function::{Done, translate};
pub use crate::openmp::helpers::{Helper, text as helper_text};
pub use crate::openmp::names::function_names;
pub use crate::openmp::types::Structs;

/// For each parameter, the body of a C function from the array `lozenge_size` to the number of
/// elements.
pub fn counts(function: &Function) -> Result<(Vec<String>, BTreeSet<Helper>), Diagnostic> {
    let options = Options::default();
    let mut lower = start(&[], &options);
    let mut sizes = Vec::new();
    for size in &function.sizes {
        let name = lower.names.take(size);
        lower.scope.push(size, Binding::Index(CExpr::name(&name)));
        sizes.push(name);
    }
    let mut out = Vec::new();
    for param in &function.params {
        let count = lower.count(&param.dims)?;
        let mut mentioned = BTreeSet::new();
        count.names(&mut |name| {
            mentioned.insert(name.to_owned());
        });
        let mut body: Vec<CStmt> = Vec::new();
        for (k, name) in sizes.iter().enumerate().filter(|(_, name)| mentioned.contains(*name)) {
            body.push(CStmt::Declare {
                ty: "const int64_t".to_owned(),
                name: name.clone(),
                dims: Vec::new(),
                init: Some(CExpr::index(
                    CExpr::name("lozenge_size"),
                    CExpr::int(i64::try_from(k).unwrap_or(i64::MAX)),
                )),
            });
        }
        body.push(CStmt::Return(Some(count)));
        let mut printer = Printer::indented(Layout::Readable, "    ");
        printer.stmts(&body);
        out.push(printer.finish());
    }
    Ok((out, lower.helpers))
}

/// Members that lead to each scalar of an element (`.x1.x2`), with the scalar.
pub(crate) fn leaf_paths(elem: &Elem) -> Vec<(String, Scalar)> {
    leaves(elem)
        .into_iter()
        .map(|(path, scalar)| (path.iter().map(|c| format!(".{}", member(*c))).collect(), scalar))
        .collect()
}
