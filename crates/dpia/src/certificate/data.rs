//! The data of a certificate: one to one what `proofs/Syntax.v` declares, where each constructor is explained.

/// An operation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // `Syntax.v` explains them, and the names are those of the operations
pub enum Op {
    Iadd,
    Isub,
    Imul,
    Idiv,
    Imod,
    Imin,
    Imax,
    Ieq,
    Ine,
    Ilt,
    Ile,
    And,
    Or,
    Not,
    Select,
    /// An operation of which nothing is assumed, by name and type: `add.f32`, `f32.of.i64`.
    Scalar(String),
}

/// An expression of the loops, a size or a subscript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tm {
    /// The size or loop variable of this number.
    Var(u32),
    /// An integer.
    Int(i64),
    /// A constant that is no integer: its type and its bits.
    Lit(String),
    /// An operation.
    Op(Op, Vec<Tm>),
    /// A number of an array: components (`true` for the second of a pair) and subscripts.
    In(u32, Vec<bool>, Vec<Tm>),
}

/// The loops.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum Cmd {
    Skip,
    Seq(Box<Cmd>, Box<Cmd>),
    Assign { array: u32, components: Vec<bool>, subscripts: Vec<Tm>, value: Tm },
    Local(u32, Box<Cmd>),
    For { parallel: bool, var: u32, count: Tm, body: Box<Cmd> },
    If(Tm, Box<Cmd>, Box<Cmd>),
}

/// A view.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum View {
    Split(Tm),
    Join(Tm),
    Transpose,
    Reverse(Tm),
    Slide(Tm),
    Drop(Tm),
    PadClamp(Tm, Tm),
    Splat,
}

/// The tables of a value: components and extents of each.
pub type Shape = Vec<(Vec<bool>, Vec<Tm>)>;

/// A functional program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum Exp {
    Var(u32),
    Size(Tm),
    Lit(String),
    Op(Op, Vec<Exp>),
    Select(Box<[Exp; 3]>),
    Pair(Box<[Exp; 2]>),
    Fst(Box<Exp>),
    Snd(Box<Exp>),
    Let(u32, Box<[Exp; 2]>),
    Map(u32, Box<[Exp; 2]>),
    /// Length, tables of the accumulator, blocks, element, accumulator; function, initial value, array.
    Reduce(Tm, Shape, Option<(Tm, Tm)>, [u32; 2], Box<[Exp; 3]>),
    Scan(Tm, Shape, [u32; 2], Box<[Exp; 3]>),
    Iterate(Tm, Shape, u32, Box<[Exp; 2]>),
    Generate(u32, Box<Exp>),
    View(View, Box<Exp>),
    Pad(Tm, Tm, Box<[Exp; 2]>),
    Concat(Tm, Box<[Exp; 2]>),
    Gather(Box<[Exp; 2]>),
    Reorder(u32, Box<[Exp; 2]>),
    Idx(Box<[Exp; 2]>),
}

/// A functional program, the loops made of it, and how the two are tied together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The number of size parameters: they are the integers below.
    pub sizes: u32,
    /// Terms over the sizes that are at least 0.
    pub assume: Vec<Tm>,
    /// Arrays of indices, and what their elements are below.
    pub indices: Vec<(u32, Tm)>,
    /// Extents of all arrays, locals included.
    pub dims: Vec<(u32, Vec<Tm>)>,
    /// Arrays that come in.
    pub params: Vec<u32>,
    /// The program.
    pub source: Exp,
    /// The array that gets the result.
    pub out: u32,
    /// The tables of the result.
    pub result: Shape,
    /// Operations of two numbers that the certificate needs to commute.
    pub commutative: Vec<String>,
    /// The loops.
    pub target: Cmd,
    /// For readers: numbers and names of arrays, and of sizes and loop variables.
    pub names: Names,
}

/// What the numbers of a certificate stand for in the programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Arrays.
    pub arrays: Vec<(u32, String)>,
    /// Sizes and loop variables.
    pub integers: Vec<(u32, String)>,
    /// Variables of the functional program.
    pub variables: Vec<(u32, String)>,
}

impl Op {
    /// An uninterpreted operation on a type.
    pub(super) fn named(name: &str, ty: &str) -> Op {
        Op::Scalar(format!("{name}.{ty}"))
    }
}
