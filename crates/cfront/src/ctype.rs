//! Types of C as far as kernels need them, and which of them can be data.

use std::rc::Rc;

use loops::Scalar;

use crate::ast::Expr;

/// An integer type of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntType {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Int128,
}

/// The value of an integer constant, with the type that C computes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    pub value: i64,
    pub ty: IntType,
}

impl Known {
    /// A constant object, with the value that it is initialised with. `None` if its type cannot
    /// hold that value.
    pub fn object(value: i64, declared: IntType) -> Option<Known> {
        let held = match (declared, declared.bits()) {
            (IntType::Bool, _) => value == 0 || value == 1,
            (ty, 64..) => value >= 0 || !ty.is_unsigned(),
            (ty, bits) if ty.is_unsigned() => (0..1 << bits).contains(&value),
            (_, bits) => (-(1 << (bits - 1))..1 << (bits - 1)).contains(&value),
        };
        held.then(|| Known { value, ty: declared.promoted() })
    }

    /// An enumeration constant.
    pub fn enumerator(value: i64) -> Known {
        Known { value, ty: if i32::try_from(value).is_ok() { IntType::Int } else { IntType::Long } }
    }
}

impl IntType {
    /// Whether values are never negative.
    pub fn is_unsigned(self) -> bool {
        use IntType::*;
        matches!(self, Bool | UnsignedChar | UnsignedShort | Unsigned | UnsignedLong | UnsignedLongLong)
    }

    /// Width in bits on the 64-bit targets.
    pub fn bits(self) -> u32 {
        use IntType::*;
        match self {
            Bool | Char | SignedChar | UnsignedChar => 8,
            Short | UnsignedShort => 16,
            Int | Unsigned => 32,
            Long | UnsignedLong | LongLong | UnsignedLongLong => 64,
            Int128 => 128,
        }
    }

    fn rank(self) -> u32 {
        use IntType::*;
        match self {
            Bool => 0,
            Char | SignedChar | UnsignedChar => 1,
            Short | UnsignedShort => 2,
            Int | Unsigned => 3,
            Long | UnsignedLong => 4,
            LongLong | UnsignedLongLong => 5,
            Int128 => 6,
        }
    }

    /// The integer promotion.
    pub fn promoted(self) -> IntType {
        if self.rank() < 3 { IntType::Int } else { self }
    }

    /// The usual arithmetic conversion of two integer types.
    pub fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        if a.is_unsigned() == b.is_unsigned() {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (unsigned, signed) = if a.is_unsigned() { (a, b) } else { (b, a) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.bits() > unsigned.bits() {
            signed
        } else {
            match signed {
                IntType::LongLong => IntType::UnsignedLongLong,
                _ => IntType::UnsignedLong,
            }
        }
    }

    /// The name in C.
    pub fn c_name(self) -> &'static str {
        use IntType::*;
        match self {
            Bool => "_Bool",
            Char => "char",
            SignedChar => "signed char",
            UnsignedChar => "unsigned char",
            Short => "short",
            UnsignedShort => "unsigned short",
            Int => "int",
            Unsigned => "unsigned int",
            Long => "long",
            UnsignedLong => "unsigned long",
            LongLong => "long long",
            UnsignedLongLong => "unsigned long long",
            Int128 => "__int128",
        }
    }

    /// The type of the loop IR for data of this type, if it has one. The compiler decides whether
    /// plain `char` is signed.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            IntType::Bool => Some(Scalar::Bool),
            IntType::SignedChar => Some(Scalar::I8),
            IntType::UnsignedChar => Some(Scalar::U8),
            IntType::Short => Some(Scalar::I16),
            IntType::UnsignedShort => Some(Scalar::U16),
            IntType::Int => Some(Scalar::I32),
            IntType::Unsigned => Some(Scalar::U32),
            IntType::Long | IntType::LongLong => Some(Scalar::I64),
            IntType::UnsignedLong | IntType::UnsignedLongLong => Some(Scalar::U64),
            IntType::Char | IntType::Int128 => None,
        }
    }
}

/// A type without its qualifiers.
#[derive(Clone, Debug)]
pub(crate) enum CType {
    Void,
    Int(IntType),
    Float,
    Double,
    /// A type that is understood and never data: its name in C.
    Other(&'static str),
    Struct(Structure),
    /// A pointer; for an array parameter with the extent that was written.
    Pointer {
        to: Box<QType>,
        restrict: bool,
        extent: Option<Box<Expr>>,
    },
    Array {
        of: Box<QType>,
        extent: Option<Box<Expr>>,
    },
    Function {
        result: Box<QType>,
    },
    /// A reference of C++ to a number or a structure.
    Reference(Box<QType>),
}

/// What a reference is called, and the type of one that regions do not have.
pub const REFERENCE: &str = "a reference";

/// A structure. Where only its tag is known, its members may be declared later.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The name of its tag in scopes.
    pub tag: Option<String>,
    /// Its members, as far as they are understood: none of what has no name.
    pub members: Option<Rc<[(String, QType)]>>,
}

/// A type with its qualifiers.
#[derive(Clone, Debug)]
pub(crate) struct QType {
    pub ty: CType,
    pub constant: bool,
    pub volatile: bool,
}

impl QType {
    /// The type without qualifiers.
    pub fn plain(ty: CType) -> QType {
        QType { ty, constant: false, volatile: false }
    }

    /// The type as an array parameter is adjusted: a pointer.
    pub fn adjusted(self, restrict: bool) -> QType {
        match self.ty {
            CType::Array { of, extent } => QType {
                ty: CType::Pointer { to: of, restrict, extent },
                constant: self.constant,
                volatile: self.volatile,
            },
            CType::Function { .. } => {
                QType::plain(CType::Pointer { to: Box::new(self), restrict: false, extent: None })
            }
            _ => self,
        }
    }

    /// What it is an array of or points to, at the end.
    pub fn element(&self) -> &CType {
        match &self.ty {
            CType::Pointer { to: of, .. } | CType::Array { of, .. } => of.element(),
            ty => ty,
        }
    }

    /// The type with its innermost type replaced: what it finally is an array of, points to or
    /// returns.
    pub(crate) fn remade(self, inner: CType) -> QType {
        let again = |of: Box<QType>, inner| Box::new(of.remade(inner));
        let ty = match self.ty {
            CType::Pointer { to, restrict, extent } => {
                CType::Pointer { to: again(to, inner), restrict, extent }
            }
            CType::Array { of, extent } => CType::Array { of: again(of, inner), extent },
            CType::Function { result } => CType::Function { result: again(result, inner) },
            _ => inner,
        };
        QType { ty, ..self }
    }

    /// The type with its innermost type, a structure, replaced by the type of a member.
    pub(crate) fn with_element(self, member: QType) -> QType {
        let again = |of: Box<QType>, member| Box::new(of.with_element(member));
        let ty = match self.ty {
            CType::Pointer { to, restrict, extent } => {
                CType::Pointer { to: again(to, member), restrict, extent }
            }
            CType::Array { of, extent } => CType::Array { of: again(of, member), extent },
            _ => return member,
        };
        QType { ty, ..self }
    }

    /// Whether it, or what it is an array of, is constant: nothing may write such an object.
    pub(crate) fn is_constant(&self) -> bool {
        match &self.ty {
            CType::Array { of, .. } => self.constant || of.is_constant(),
            _ => self.constant,
        }
    }

    /// Whether it, or what it is an array of or points to, is volatile.
    pub(crate) fn is_volatile(&self) -> bool {
        let mut ty = self;
        loop {
            if ty.volatile {
                return true;
            }
            match &ty.ty {
                CType::Pointer { to, .. } => ty = to,
                CType::Array { of, .. } => ty = of,
                _ => return false,
            }
        }
    }
}

impl CType {
    /// The name in C of a type that is no array, pointer or function.
    pub fn c_name(&self) -> &'static str {
        match self {
            CType::Void => "void",
            CType::Int(int) => int.c_name(),
            CType::Float => "float",
            CType::Double => "double",
            CType::Other(name) => name,
            CType::Struct(_) => "a struct",
            CType::Pointer { .. } => "a pointer",
            CType::Array { .. } => "an array",
            CType::Function { .. } => "a function",
            CType::Reference(_) => REFERENCE,
        }
    }
}
