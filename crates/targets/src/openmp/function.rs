//! Prints a function of the loop IR as a C function.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use loops::{Code, Diagnostic, Expr, Function, ParamMode, Stmt};

use crate::c::{CExpr, CFunction, CParam, CStmt};
use crate::c_print::{Layout, Printer};
use crate::openmp::helpers::Helper;
use crate::openmp::lower::Lower;
use crate::openmp::memory::null_test;
use crate::openmp::names::Names;
use crate::openmp::ranges::Ranges;
use crate::openmp::scope::{Array, Binding, Form, Scope};
use crate::openmp::tile_sums::counted_arrays;
use crate::openmp::types::Structs;
use crate::openmp::usage::Usage;
use crate::openmp::{Options, Signature, SignatureParam, Style};

/// A translated function with what it needs around it.
pub struct Done {
    /// The function.
    pub code: CFunction,
    /// Its caller's view.
    pub signature: Signature,
    /// Helpers that it uses.
    pub helpers: BTreeSet<Helper>,
    /// Structs that it uses.
    pub structs: Structs,
}

/// The state before anything is translated.
pub fn start<'a>(body: &[Stmt], options: &'a Options) -> Lower<'a> {
    let paper = options.style == Style::Paper;
    let mut names = Names::new();
    let status = names.take_reserved("status");
    Lower {
        options,
        scope: Scope::default(),
        names,
        ranges: Ranges::default(),
        usage: Usage::of(body),
        counted: counted_arrays(body),
        helpers: BTreeSet::new(),
        structs: Structs::default(),
        claimed: HashMap::new(),
        index_type: if paper { "int" } else { "int64_t" }.to_owned(),
        native: false,
        wrapping: !paper,
        ints: BTreeSet::new(),
        regions: 0,
        pointers: BTreeMap::new(),
        amounts: Vec::new(),
        in_simd: false,
        in_vectors: None,
        vector_types: BTreeMap::new(),
        status,
        stack_bytes: 0,
    }
}

/// Translates a function.
pub fn translate(function: &Function, c_name: &str, options: &Options) -> Result<Done, Diagnostic> {
    bounded(function)?;
    let mut lower = start(&function.body, options);
    let paper = lower.paper();
    let mut params = Vec::new();
    for size in &function.sizes {
        let name = lower.names.take(size);
        lower.scope.push(size, Binding::Index(CExpr::name(&name)));
        params.push(CParam { ty: lower.index_type.clone(), name, dims: Vec::new() });
    }
    function.assumptions.iter().for_each(|a| lower.ranges.assume(a));
    let mut signature = Signature {
        name: function.name.clone(),
        c_name: c_name.to_owned(),
        sizes: function.sizes.clone(),
        params: Vec::new(),
    };
    for param in &function.params {
        let dims = param.dims.iter().map(|d| lower.index(d)).collect::<Result<Vec<_>, _>>()?;
        let name = lower.names.take(&param.name);
        lower.structs.add(&param.elem);
        lower.note_type(&param.elem);
        let c_type = lower.elem_type(&param.elem);
        let scalar = dims.is_empty();
        let pointer = !scalar || param.mode != ParamMode::In;
        let constant = if param.mode == ParamMode::In && !scalar { "const " } else { "" };
        let ty = match (pointer, paper) {
            (false, _) => c_type.clone(),
            (true, true) if !scalar => c_type.clone(),
            (true, true) => format!("{c_type} *"),
            (true, false) => format!("{constant}{c_type} *restrict"),
        };
        let array_dims = if paper { dims.clone() } else { Vec::new() };
        params.push(CParam { ty, name: name.clone(), dims: array_dims });
        let base = if scalar && pointer { CExpr::unary("*", CExpr::name(&name)) } else { CExpr::name(&name) };
        signature.params.push(SignatureParam {
            name: param.name.clone(),
            elem: param.elem.clone(),
            c_type,
            dims: dims.iter().map(expr_text).collect(),
            mode: param.mode,
            pointer,
        });
        let form = if paper { Form::Nested } else { Form::Linear };
        lower.scope.push(
            &param.name,
            Binding::Array(Array {
                base,
                elem: param.elem.clone(),
                dims,
                form,
                stack: false,
                members: Vec::new(),
            }),
        );
    }
    let body = if paper {
        lower.sequence(&function.body)?.stmts
    } else {
        checked_body(&mut lower, function, &params)?
    };
    let comment = if paper { Vec::new() } else { describe(function, &signature) };
    let result = match (paper, options.local) {
        (true, _) => "void",
        (false, true) => "static __attribute__((noinline)) int",
        (false, false) => "int",
    };
    let result = result.to_owned();
    let code = CFunction { comment, result, name: c_name.to_owned(), params, body };
    Ok(Done { code, signature, helpers: lower.helpers, structs: lower.structs })
}

/// The body with its checks: assumptions, allocation, the status that is returned.
fn checked_body(
    lower: &mut Lower<'_>,
    function: &Function,
    params: &[CParam],
) -> Result<Vec<CStmt>, Diagnostic> {
    let mut head = Vec::new();
    let mut violated: Option<CExpr> = None;
    for assumption in &function.assumptions {
        let not = violation(lower, assumption)?;
        violated = Some(match violated {
            None => not,
            Some(before) => CExpr::binary("||", before, not),
        });
    }
    if let Some(beyond) = lower.beyond(function)? {
        violated = Some(match violated {
            None => beyond,
            Some(before) => CExpr::binary("||", before, beyond),
        });
    }
    if let Some(violated) = violated {
        lower.helpers.insert(Helper::Status);
        head.push(CStmt::If(violated, vec![CStmt::Return(Some(CExpr::name("BAD_SIZES")))], Vec::new()));
    }
    let (claims, allocations) = lower.claim(&function.body, &[])?;
    head.extend(allocations);
    let blocks = claims.blocks();
    if let Some(failed) = null_test(&blocks) {
        lower.helpers.insert(Helper::Status);
        // with one array there is nothing to free when it is missing
        let mut fail = if claims.0.len() == 1 { Vec::new() } else { lower.free(&blocks) };
        fail.push(CStmt::Return(Some(CExpr::name("OUT_OF_MEMORY"))));
        head.push(CStmt::If(failed, fail, Vec::new()));
    }
    let mut leave = lower.free(&blocks);
    leave.push(CStmt::Return(Some(CExpr::name(&lower.status))));
    let body = lower.sequence_or(&function.body, &leave)?;
    if body.may_fail {
        lower.helpers.insert(Helper::Status);
        head.push(CStmt::Declare {
            ty: "int".to_owned(),
            name: lower.status.clone(),
            dims: Vec::new(),
            init: Some(CExpr::name("OK")),
        });
    }
    head.extend(body.stmts);
    head.extend(lower.free(&blocks));
    lower.unclaim(&claims);
    let result = if body.may_fail { CExpr::name(&lower.status) } else { CExpr::int(0) };
    head.push(CStmt::Return(Some(result)));

    let mut mentioned: HashSet<String> = HashSet::new();
    head.iter().for_each(|s| {
        s.names(&mut |name| {
            mentioned.insert(name.to_owned());
        });
    });
    let unused = |p: &&CParam| !mentioned.contains(&p.name);
    let mut out: Vec<CStmt> = params
        .iter()
        .filter(unused)
        .map(|p| CStmt::Expr(CExpr::Cast("void".to_owned(), Box::new(CExpr::name(&p.name)))))
        .collect();
    out.extend(head);
    Ok(lower.vector_definitions().into_iter().chain(out).collect())
}

/// The negation of an assumption.
fn violation(lower: &mut Lower<'_>, assumption: &Expr) -> Result<CExpr, Diagnostic> {
    Ok(match assumption {
        Expr::Compare(op, a, b) => CExpr::binary(op.negated().symbol(), lower.assumed(a)?, lower.assumed(b)?),
        _ => CExpr::unary("!", lower.assumed(assumption)?),
    })
}

/// The comment above a function: parameters with their shapes.
fn describe(function: &Function, signature: &Signature) -> Vec<String> {
    let mut lines = vec![format!("{}:", function.name)];
    for param in &signature.params {
        let direction = match param.mode {
            ParamMode::In => "in",
            ParamMode::Out => "out",
            ParamMode::InOut => "in and out",
        };
        let shape: String = param.dims.iter().map(|d| format!("[{d}]")).collect();
        lines.push(format!("  {} {}{shape}, {direction}", param.name, param.c_type));
    }
    lines.push(
        "Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap."
            .to_owned(),
    );
    lines
}

/// An expression alone.
fn expr_text(e: &CExpr) -> String {
    Printer::new(Layout::Readable).expression(e)
}

/// Deepest nesting of statements: C compilers have to accept 127 levels of blocks, and some accept
/// few more.
const MAX_BLOCKS: usize = 127;

/// Refuses what is nested too deeply for C or for the recursive passes.
///
/// # Errors
/// `L0104` for the limit of the loop IR, `T0004` for the nesting of statements.
pub fn bounded(function: &Function) -> Result<(), Diagnostic> {
    loops::visit::check_depth(function)?;
    let mut todo: Vec<(&Stmt, usize)> = function.body.iter().map(|s| (s, 1)).collect();
    while let Some((stmt, depth)) = todo.pop() {
        if depth > MAX_BLOCKS {
            let message =
                format!("statements of `{}` are nested more than {MAX_BLOCKS} levels deep", function.name);
            return Err(Diagnostic::general(Code("T0004"), message)
                .help("join loops into one, or conditions with `&&`"));
        }
        todo.extend(stmt.bodies().into_iter().flatten().map(|s| (s, depth + 1)));
    }
    Ok(())
}
