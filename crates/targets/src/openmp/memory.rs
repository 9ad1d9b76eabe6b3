//! Where local arrays are stored, and the code that allocates and frees them.
//!
//! An array of constant, small extents is on the stack. Every other array is on the heap. A heap
//! array is allocated at the start of the outermost block that one thread runs and in which its
//! extents are known. So it is never allocated once for each iteration of a sequential loop. Its
//! contents are undefined at its declaration, so one allocation serves all iterations. In a region,
//! blocks outside loops allocate their own.

use loops::{ArrayDecl, BinaryOp, Code, Diagnostic, Elem, Expr, LoopKind, Name, Stmt, Storage};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::index_arithmetic;
use crate::openmp::lower::Lower;
use crate::openmp::scope::{Array, Form};
use crate::openmp::types::elem_bytes;

/// Largest array that goes to the stack without being asked to, in bytes.
const AUTO_STACK: usize = 16 << 10;
/// All such arrays of one function together, in bytes.
const AUTO_STACK_TOTAL: usize = 128 << 10;
/// Largest array on the stack, in bytes.
const MAX_STACK: usize = 1 << 20;

/// The constant extents of a declaration.
pub(crate) fn constant_dims(decl: &ArrayDecl) -> Option<Vec<i64>> {
    decl.dims
        .iter()
        .map(|d| match d {
            Expr::Int(value) => Some((*value).max(0)),
            _ => None,
        })
        .collect()
}

fn bytes(elem: &Elem, dims: &[i64]) -> Option<usize> {
    dims.iter().try_fold(elem_bytes(elem), |product, dim| product.checked_mul(usize::try_from(*dim).ok()?))
}

/// A heap array that a block allocates at its start.
pub struct Claim<'p> {
    /// The declaration.
    pub decl: &'p ArrayDecl,
    /// The array in C.
    pub array: Array,
    /// The pointer that is to be freed.
    pub block: String,
}

/// Heap arrays that a block allocates at its start.
pub(crate) struct Claims<'p>(pub Vec<Claim<'p>>);

impl Claims<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pointers to be freed.
    pub fn blocks(&self) -> Vec<String> {
        self.0.iter().map(|c| c.block.clone()).collect()
    }
}

/// Whether an array of these extents is small enough for the stack of a thread.
pub fn small(elem: &Elem, dims: &[CExpr]) -> bool {
    let constants = dims.iter().map(index_arithmetic::value).collect::<Option<Vec<i64>>>();
    constants.and_then(|dims| bytes(elem, &dims)).is_some_and(|bytes| bytes <= AUTO_STACK)
}

/// `a == NULL || b == NULL`.
pub(crate) fn null_test(blocks: &[String]) -> Option<CExpr> {
    blocks
        .iter()
        .map(|block| CExpr::binary("==", CExpr::name(block), CExpr::name("NULL")))
        .reduce(|a, b| CExpr::binary("||", a, b))
}

impl Lower<'_> {
    /// Whether a declaration goes to the heap.
    ///
    /// # Errors
    /// If it is to be on the stack and cannot.
    pub(crate) fn on_heap(&self, decl: &ArrayDecl) -> Result<bool, Diagnostic> {
        if self.paper() || decl.dims.is_empty() {
            return Ok(false);
        }
        let size = constant_dims(decl).map(|dims| bytes(&decl.elem, &dims));
        match (decl.storage, size) {
            (Storage::Heap, _) => Ok(true),
            (Storage::Stack, Some(Some(size))) if size <= MAX_STACK => Ok(false),
            (Storage::Stack, Some(_)) => Err(Diagnostic::general(
                Code("T0003"),
                format!(
                    "the array `{}` is larger than {MAX_STACK} bytes and cannot be on the stack",
                    decl.name
                ),
            )
            .help("remove `stack`, so that it is on the heap")),
            (Storage::Stack, None) => Err(Diagnostic::general(
                Code("T0003"),
                format!("the array `{}` is on the stack but its extents are not constant", decl.name),
            )
            .help("remove `stack`, so that it is on the heap")),
            (Storage::Auto | Storage::Scratchpad, Some(Some(size))) => {
                Ok(size > AUTO_STACK || self.stack_bytes + size > AUTO_STACK_TOTAL)
            }
            (Storage::Auto | Storage::Scratchpad, _) => Ok(true),
        }
    }

    /// Whether a loop becomes code that other threads or vector lanes run, so that its arrays are
    /// not shared with its surroundings.
    fn separates(&self, kind: LoopKind) -> bool {
        match kind {
            LoopKind::Parallel => self.parallel_here(),
            LoopKind::Sequential | LoopKind::Vector | LoopKind::Unroll(_) => false,
        }
    }

    /// Allocates the heap arrays of `stmts` that can be allocated before them; `bound` are loop
    /// variables that are not known there.
    pub fn claim<'p>(
        &mut self,
        stmts: &'p [Stmt],
        bound: &[&'p Name],
    ) -> Result<(Claims<'p>, Vec<CStmt>), Diagnostic> {
        let mut found = Vec::new();
        self.find(stmts, &mut bound.to_vec(), &mut found)?;
        let (mut claims, mut code) = (Vec::new(), Vec::new());
        for decl in found {
            if decl.dims.iter().any(Expr::has_loads) {
                let message = format!("an extent of the local array `{}` is read from an array", decl.name);
                return Err(Diagnostic::general(Code("T0002"), message).help(
                    "extents consist of constants, sizes and loop variables; use an upper bound of this one",
                ));
            }
            let size = if self.native { self.native_count(&decl.dims)? } else { self.count(&decl.dims)? };
            let dims = decl.dims.iter().map(|d| self.index(d)).collect::<Result<Vec<_>, _>>()?;
            let name = self.names.take(&decl.name);
            self.structs.add(&decl.elem);
            let block = self.allocate(&name, &decl.elem, size, &mut code);
            let array = Array {
                base: CExpr::name(name),
                elem: decl.elem.clone(),
                dims,
                form: Form::Linear,
                stack: false,
                members: Vec::new(),
            };
            self.claimed.insert(decl, array.clone());
            claims.push(Claim { decl, array, block });
        }
        Ok((Claims(claims), code))
    }

    /// Declares and allocates an array of `count` elements; the pointer that is to be freed.
    pub fn allocate(&mut self, name: &str, elem: &Elem, count: CExpr, code: &mut Vec<CStmt>) -> String {
        let ty = self.elem_type(elem);
        let size = CExpr::literal(format!("sizeof({ty})"));
        let declare = |ty: String, name: &str, init: CExpr| CStmt::Declare {
            ty,
            name: name.to_owned(),
            dims: Vec::new(),
            init: Some(init),
        };
        if !self.native {
            self.helpers.insert(if self.options.workspace { Helper::WorkspaceAlloc } else { Helper::Alloc });
            let call = CExpr::call("lozenge_alloc", vec![count, size]);
            code.push(declare(format!("{ty} *restrict"), name, call));
            return name.to_owned();
        }
        // a region has no status to return and no header of its own
        self.helpers.insert(Helper::NativeAlign);
        let block = self.names.take(&format!("{name}_block"));
        let bytes = CExpr::binary("+", CExpr::binary("*", count, size), CExpr::int(64));
        code.push(declare("void *".to_owned(), &block, CExpr::call("__builtin_malloc", vec![bytes])));
        let abort = CStmt::Expr(CExpr::call("__builtin_abort", Vec::new()));
        code.push(CStmt::If(CExpr::unary("!", CExpr::name(&block)), vec![abort], Vec::new()));
        let aligned = CExpr::call("LOZENGE_ALIGN", vec![CExpr::name(&block)]);
        let aligned =
            if self.options.cpp { CExpr::Cast(format!("{ty} *"), Box::new(aligned)) } else { aligned };
        code.push(declare(format!("{ty} *__restrict"), name, aligned));
        block
    }

    /// Frees these pointers, the last one first.
    pub fn free(&self, blocks: &[String]) -> Vec<CStmt> {
        let free = match (self.native, self.options.workspace) {
            (true, _) => "__builtin_free",
            (false, true) => "lozenge_free",
            (false, false) => "free",
        };
        blocks.iter().rev().map(|b| CStmt::Expr(CExpr::call(free, vec![CExpr::name(b)]))).collect()
    }

    /// The number of elements in C's `size_t`, where nothing can be reported.
    fn native_count(&mut self, dims: &[Expr]) -> Result<CExpr, Diagnostic> {
        let dims = dims.iter().map(|d| self.index(d)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.native_product(dims))
    }

    /// The product of extents, those below 0 taken as 0.
    pub(crate) fn native_product(&mut self, dims: Vec<CExpr>) -> CExpr {
        let constants = dims.iter().map(index_arithmetic::value).collect::<Option<Vec<i64>>>();
        if let Some(product) =
            constants.and_then(|c| c.iter().try_fold(1i64, |p, d| p.checked_mul((*d).max(0))))
        {
            return CExpr::int(product);
        }
        let mut product: Option<CExpr> = None;
        for dim in dims {
            let dim = match index_arithmetic::value(&dim) {
                Some(value) => CExpr::int(value.max(0)),
                None => {
                    self.helpers.insert(Helper::NativeExtent);
                    CExpr::call("LOZENGE_EXTENT", vec![dim])
                }
            };
            product = Some(match product {
                None => dim,
                Some(left) => CExpr::binary("*", left, dim),
            });
        }
        product.unwrap_or_else(|| CExpr::int(1))
    }

    fn find<'p>(
        &self,
        stmts: &'p [Stmt],
        bound: &mut Vec<&'p Name>,
        found: &mut Vec<&'p ArrayDecl>,
    ) -> Result<(), Diagnostic> {
        for stmt in stmts {
            match stmt {
                Stmt::Local(decl)
                    if self.on_heap(decl)? && !self.claimed.contains_key(&std::ptr::from_ref(decl)) =>
                {
                    let uses = self.usage.get(decl);
                    if (uses.read || uses.written) && !decl.dims.iter().any(|d| d.mentions_any(bound)) {
                        found.push(decl);
                    }
                }
                Stmt::Loop(l) if !self.separates(l.kind) => {
                    bound.push(&l.var);
                    self.find(&l.body, bound, found)?;
                    bound.pop();
                }
                // A region allocates in its blocks, one after another: the C library gives back
                // to the system what is large at once, and zeroes it when it is asked again.
                Stmt::Block { .. } if self.native && bound.is_empty() => {}
                Stmt::Block { body, .. } => self.find(body, bound, found)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of elements of an array with these extents, saturating.
    pub fn count(&mut self, dims: &[Expr]) -> Result<CExpr, Diagnostic> {
        let mut product: Option<CExpr> = None;
        let mut factor = 1i64;
        for dim in dims {
            let dim = self.extent(dim)?;
            if let Some(value) = index_arithmetic::value(&dim) {
                factor = factor.checked_mul(value.max(0)).unwrap_or(i64::MAX);
                continue;
            }
            product = Some(match product {
                None => dim,
                Some(left) => self.extent_product(left, dim),
            });
        }
        Ok(match product {
            None => CExpr::int(factor),
            Some(product) => self.extent_product(product, CExpr::int(factor)),
        })
    }

    pub(crate) fn extent_product(&mut self, a: CExpr, b: CExpr) -> CExpr {
        match (index_arithmetic::value(&a), index_arithmetic::value(&b)) {
            (Some(x), Some(y)) => CExpr::int(x.checked_mul(y).unwrap_or(i64::MAX)),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => {
                self.helpers.insert(Helper::Extent);
                CExpr::call("lozenge_extent", vec![a, b])
            }
        }
    }

    /// An extent in arithmetic that saturates, where it has products.
    fn extent(&mut self, e: &Expr) -> Result<CExpr, Diagnostic> {
        Ok(match e {
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = (self.extent(a)?, self.extent(b)?);
                self.extent_product(a, b)
            }
            Expr::Binary(BinaryOp::Add, a, b) if has_product(e) => {
                let (a, b) = (self.extent(a)?, self.extent(b)?);
                self.helpers.insert(Helper::ExtentSum);
                CExpr::call("lozenge_extent_sum", vec![a, b])
            }
            _ => self.index(e)?,
        })
    }
}

fn has_product(e: &Expr) -> bool {
    e.nodes().any(|e| matches!(e, Expr::Binary(BinaryOp::Mul, ..)))
}
