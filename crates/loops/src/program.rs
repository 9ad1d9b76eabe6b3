//! The loop IR on one page: functions, statements, loops, arrays.

use crate::expr::Expr;
use crate::name::Name;
use crate::types::Elem;

/// A loop program: functions, each of which stands alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The functions, in the order of the source.
    pub functions: Vec<Function>,
}

/// A function: size parameters, array parameters, a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name in every target.
    pub name: Name,
    /// Integer parameters (`i64`): extents and other symbolic constants.
    pub sizes: Vec<Name>,
    /// Assumptions about the size parameters: expressions of type `bool` over them. `n >= 0` is not
    /// implied.
    pub assumptions: Vec<Expr>,
    /// Arrays and scalars (arrays of no dimensions) that come in and go out. No two of them alias.
    pub params: Vec<Param>,
    /// The statements.
    pub body: Vec<Stmt>,
}

/// A parameter: an array that the caller owns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name.
    pub name: Name,
    /// Type of its elements.
    pub elem: Elem,
    /// Extents over the size parameters; empty for a scalar.
    pub dims: Vec<Expr>,
    /// Direction.
    pub mode: ParamMode,
}

/// Direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamMode {
    /// Only read.
    In,
    /// Written before it is read; its old contents do not matter.
    Out,
    /// Read and written.
    InOut,
}

/// Name, element type and extents of an array, with where it lives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayDecl {
    /// Name.
    pub name: Name,
    /// Type of its elements.
    pub elem: Elem,
    /// Extents; empty for a scalar variable.
    pub dims: Vec<Expr>,
    /// Where it lives.
    pub storage: Storage,
}

/// Where a local array lives. Semantics do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// The target chooses by size (constant and small: stack; else heap).
    Auto,
    /// On the stack; extents are constants.
    Stack,
    /// Allocated on the heap, aligned for vectors; failure is handled.
    Heap,
    /// Local memory of a computing core.
    Scratchpad,
}

/// A local array with uninitialised contents; its scope goes to the end of the enclosing block.
pub type Local = ArrayDecl;

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// An assignment.
    Assign(Assign),
    /// A loop.
    Loop(Loop),
    /// A conditional.
    If {
        /// Condition, a truth value.
        cond: Expr,
        /// Statements where it holds.
        then: Vec<Stmt>,
        /// Statements where it does not.
        otherwise: Vec<Stmt>,
    },
    /// Declares a local array for the rest of the enclosing block.
    Local(Local),
    /// A nested block. `mark` names it for later stages (`kernel`, a tile level), or is a remark
    /// for readers.
    Block {
        /// What the block is, if that is worth a name.
        mark: Option<Name>,
        /// Its statements.
        body: Vec<Stmt>,
    },
    /// A copy of a box of one array into a box of another; asynchronous if it has a tag.
    Copy(Copy),
    /// Waits until every copy with this tag, issued so far, is finished.
    Wait(Name),
}

/// `target = value` or `target = target op value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assign {
    /// Statement name (`S0`) that dependences and schedules refer to. Unique in its function if
    /// given.
    pub label: Option<Name>,
    /// What is written: an element, or a component of it, of scalar type.
    pub target: Access,
    /// An update of the target by an operation, or none for a plain assignment.
    pub update: Option<Update>,
    /// The value.
    pub value: Expr,
}

/// The operation of an update.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Update {
    /// The operation.
    pub op: ReduceOp,
    /// Whether instances may be reordered and partial results combined: a *reduction*, declared or
    /// allowed by the user.
    pub reorder: bool,
}

/// Associative and commutative operations of reductions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // the names are the documentation
pub enum ReduceOp {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
}

/// An element of an array: its subscripts, then the components inside a pair.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Access {
    /// The array, or scalar variable.
    pub array: Name,
    /// One subscript per dimension.
    pub indices: Vec<Expr>,
    /// The way into a pair, outermost first; empty for scalars.
    pub path: Vec<Component>,
}

/// One half of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Component {
    /// `.x1`
    First,
    /// `.x2`
    Second,
}

/// `for (var = lower; var < upper; var += step)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The loop variable, `i64`, not assignable.
    pub var: Name,
    /// First value.
    pub lower: Expr,
    /// Exclusive end.
    pub upper: Expr,
    /// Stride, at least 1.
    pub step: i64,
    /// How its iterations may run.
    pub kind: LoopKind,
    /// Accumulators that a parallel or vector loop privatises and combines: scalars, or whole
    /// arrays.
    pub reductions: Vec<(ReduceOp, Name)>,
    /// The body.
    pub body: Vec<Stmt>,
}

/// How the iterations of a loop may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// One after another.
    Sequential,
    /// Iterations run in any order or at the same time. No iteration reads or writes what another
    /// writes, reductions excepted.
    Parallel,
    /// As lanes of a vector: as `Parallel`, on one thread.
    Vector,
    /// Iterations run in order, and the target should unroll all of them (`None`) or this many at a
    /// time.
    Unroll(Option<u32>),
}

/// Direction of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CopyKind {
    /// Into local memory.
    Get,
    /// Out of local memory.
    Put,
}

/// A copy of a box: `extents[d]` elements from `from` to `to` in each dimension that has an extent
/// other than 1.
///
/// Both sides have their own array rank; `extents` is aligned to the *last* dimensions of both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// Direction.
    pub kind: CopyKind,
    /// First element of the source box.
    pub from: Access,
    /// First element of the destination box.
    pub to: Access,
    /// Extents of the box, innermost last; an extent of 0 or less copies nothing.
    pub extents: Vec<Expr>,
    /// Asynchronous: the copy is finished only after a [`Stmt::Wait`] of this tag.
    pub tag: Option<Name>,
}

impl Access {
    /// The scalar variable `name`.
    pub fn scalar(name: impl Into<Name>) -> Access {
        Access { array: name.into(), indices: Vec::new(), path: Vec::new() }
    }

    /// An array element.
    pub fn element(name: impl Into<Name>, indices: Vec<Expr>) -> Access {
        Access { array: name.into(), indices, path: Vec::new() }
    }
}

impl Access {
    /// Whether neighbouring values of `var` are elements side by side: the last subscript is the
    /// variable, plus or minus what does not depend on it, and the others do not depend on it.
    pub fn is_adjacent_along(&self, var: &Name) -> bool {
        let Some((last, before)) = self.indices.split_last() else { return false };
        self.path.is_empty() && before.iter().all(|e| !e.mentions(var)) && last.advances_with(var)
    }
}

impl Loop {
    /// `for var in 0..upper` of the given kind.
    pub fn upto(var: impl Into<Name>, upper: Expr, kind: LoopKind, body: Vec<Stmt>) -> Loop {
        Loop { var: var.into(), lower: Expr::Int(0), upper, step: 1, kind, reductions: Vec::new(), body }
    }

    /// Whether the loop may end early: its body is one `if` without an `else`, on data alone. Where
    /// that does not hold once, nothing changes in the iteration, so it holds in no later one.
    pub fn ends_early(&self) -> bool {
        let cond = match self.body.as_slice() {
            [Stmt::If { cond, otherwise, .. }] if otherwise.is_empty() => cond,
            // A condition whose branch changes what it reads is decided first.
            [
                Stmt::Local(decl),
                Stmt::Assign(decided),
                Stmt::If { cond: Expr::Load(holds), otherwise, .. },
            ] if otherwise.is_empty()
                && decl.name == holds.array
                && decided.target == *holds
                && decided.update.is_none()
                && holds.indices.is_empty() =>
            {
                &decided.value
            }
            _ => return false,
        };
        self.kind == LoopKind::Sequential && cond.has_loads() && !cond.mentions(&self.var)
    }
}
