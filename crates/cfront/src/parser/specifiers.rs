//! The words before declarators: types, structs and enumerations, storage, qualifiers, attributes.

use super::cpp::AUTO;
use super::expr::is_keyword;
use super::{Parsed, Parser};
use crate::ctype::{CType, IntType, Known, QType};
use crate::lexer::Tok;
use crate::scope::Symbol;

/// What the words before a declarator say.
#[derive(Clone, Debug)]
pub struct Specifiers {
    pub ty: QType,
    pub is_typedef: bool,
    pub is_static: bool,
    pub is_extern: bool,
    /// `_Thread_local`.
    pub is_per_thread: bool,
    pub pure: bool,
}

impl Specifiers {
    /// Those of an `int`.
    pub fn int() -> Specifiers {
        let ty = QType::plain(CType::Int(IntType::Int));
        let (is_typedef, is_static, is_extern) = (false, false, false);
        Specifiers { ty, is_typedef, is_static, is_extern, is_per_thread: false, pure: false }
    }
}

#[derive(Default)]
struct Words {
    long: u32,
    short: bool,
    signed: bool,
    unsigned: bool,
    complex: bool,
    base: Option<CType>,
    seen: bool,
}

impl Parser<'_> {
    /// Whether a type, or another declaration specifier, starts at a token.
    pub(crate) fn starts_type(&self, pos: usize) -> bool {
        let word = self.word_at(pos);
        if self.is_cpp() && (self.is_attribute_of_cpp(pos) || self.qualified(pos).is_some()) {
            return self.is_attribute_of_cpp(pos) || self.qualified_type(pos).is_some();
        }
        !word.is_empty() && (self.is_specifier(word) || self.scopes.is_typedef(word))
    }

    /// Whether `[[…]]` begins at a token.
    fn is_attribute_of_cpp(&self, pos: usize) -> bool {
        self.is_cpp() && self.is_at(pos, "[") && self.is_at(pos + 1, "[")
    }

    fn is_specifier(&self, word: &str) -> bool {
        let of_cpp = || is_type_of_cpp(word) || is_storage_of_cpp(word);
        is_type_word(word)
            || is_storage_word(word)
            || is_qualifier(word)
            || is_attribute(word)
            || (self.is_cpp() && of_cpp())
    }

    /// Declaration specifiers.
    pub fn specifiers(&mut self) -> Parsed<Specifiers> {
        let mut words = Words::default();
        let mut result = Specifiers {
            ty: QType::plain(CType::Void),
            is_typedef: false,
            is_static: false,
            is_extern: false,
            is_per_thread: false,
            pure: false,
        };
        let (mut constant, mut volatile) = (false, false);
        // What is around, as the declarator of a function around a parameter, has attributes of its
        // own.
        let around = self.retyped.take();
        loop {
            if self.is_attribute_of_cpp(self.pos) {
                self.skip_group();
                continue;
            }
            let word = self.word();
            match word {
                "constexpr" if self.is_cpp() => constant = true,
                "alignas" if self.is_cpp() && self.is_at(self.pos + 1, "(") => {
                    self.pos += 1;
                    self.skip_group();
                    continue;
                }
                "auto" if self.is_cpp() => {
                    words.base = Some(CType::Other(AUTO));
                    words.seen = true;
                }
                _ if self.is_cpp() && is_storage_of_cpp(word) => {}
                _ if self.is_cpp() && is_type_of_cpp(word) => {
                    self.type_word(&mut words)?;
                    continue;
                }
                "typedef" => result.is_typedef = true,
                "static" => result.is_static = true,
                "extern" => result.is_extern = true,
                "_Thread_local" | "__thread" | "thread_local" => result.is_per_thread = true,
                "const" | "__const" | "__const__" => constant = true,
                "volatile" | "__volatile__" | "__volatile" => volatile = true,
                _ if is_attribute(word) => {
                    result.pure |= self.attribute()?;
                    continue;
                }
                "_Atomic" => {
                    volatile = true;
                    if self.is_at(self.pos + 1, "(") {
                        self.pos += 1;
                        self.skip_group();
                        self.pos -= 1;
                        words.base = Some(CType::Other("an atomic type"));
                        words.seen = true;
                    }
                }
                _ if is_storage_word(word) || is_qualifier(word) => {}
                _ if is_type_word(word) => {
                    self.type_word(&mut words)?;
                    continue;
                }
                _ if !words.seen && self.qualified(self.pos).is_some() => {
                    let Some((ty, end)) = self.qualified_type(self.pos) else { break };
                    constant |= ty.constant;
                    volatile |= ty.volatile;
                    words.base = Some(ty.ty);
                    words.seen = true;
                    self.pos = end;
                    continue;
                }
                _ if !words.seen && self.scopes.is_typedef(word) => {
                    if let Some(Symbol::Typedef(ty)) = self.scopes.lookup(word) {
                        constant |= ty.constant;
                        volatile |= ty.volatile;
                        words.base = Some(ty.ty.clone());
                        words.seen = true;
                    }
                }
                _ => break,
            }
            self.pos += 1;
        }
        if !words.seen {
            return Err(self.expected("a type"));
        }
        result.ty = QType { ty: base_type(words), constant, volatile };
        self.retype(&mut result.ty);
        self.retyped = around;
        Ok(result)
    }

    /// One word of a type; structs and enums with their bodies.
    fn type_word(&mut self, words: &mut Words) -> Parsed<()> {
        words.seen = true;
        let word = self.word();
        self.pos += 1;
        match word {
            "long" => words.long += 1,
            "short" => words.short = true,
            "signed" | "__signed__" | "__signed" => words.signed = true,
            "unsigned" => words.unsigned = true,
            "_Complex" | "__complex__" | "_Imaginary" => words.complex = true,
            "void" => words.base = Some(CType::Void),
            "char" => words.base = Some(CType::Int(IntType::Char)),
            "int" => words.base = Some(CType::Int(IntType::Int)),
            "float" => words.base = Some(CType::Float),
            "double" => words.base = Some(CType::Double),
            "_Bool" | "bool" => words.base = Some(CType::Int(IntType::Bool)),
            "__int128" => words.base = Some(CType::Int(IntType::Int128)),
            "struct" | "class" => words.base = Some(self.structure()?),
            "decltype" => {
                if self.is("(") {
                    self.skip_group();
                }
                words.base = Some(CType::Other("a `decltype`"));
            }
            "union" => {
                while is_attribute(self.word()) {
                    self.attribute()?;
                }
                if self.tok() == Tok::Ident {
                    self.pos += 1;
                }
                if self.is("{") {
                    self.skip_group();
                }
                words.base = Some(CType::Other("a union"));
            }
            "enum" => {
                words.base = Some(self.enumeration()?);
            }
            "typeof" | "__typeof__" | "__typeof" => {
                if self.is("(") {
                    self.skip_group();
                }
                words.base = Some(CType::Other("a `typeof`"));
            }
            "__builtin_va_list" => words.base = Some(CType::Other("a `va_list`")),
            "_Float128" | "__float128" => words.base = Some(CType::Other("_Float128")),
            "_Float32" => words.base = Some(CType::Float),
            "_Float64" | "_Float32x" => words.base = Some(CType::Double),
            "_Float64x" => words.base = Some(CType::Other("_Float64x")),
            "_Float16" | "__fp16" => words.base = Some(CType::Other("_Float16")),
            "__bf16" => words.base = Some(CType::Other("__bf16")),
            "_Decimal32" | "_Decimal64" | "_Decimal128" => {
                words.base = Some(CType::Other("a decimal type"));
            }
            _ => words.base = Some(CType::Other("an unknown type")),
        }
        Ok(())
    }

    /// The type of an enumeration, which follows from its values: gcc and clang take an unsigned
    /// one if no value is negative.
    fn enumeration(&mut self) -> Parsed<CType> {
        while is_attribute(self.word()) {
            self.attribute()?;
        }
        if self.is_cpp() && matches!(self.word(), "class" | "struct") {
            return Ok(self.scoped_enumeration());
        }
        // Names of types have no space in them, so that tags are in the same scopes.
        let mut tag = None;
        if self.tok() == Tok::Ident && !is_keyword(self.word()) {
            tag = Some(format!("enum {}", self.text()));
            self.pos += 1;
        }
        let fixed = if self.accept(":") { Some(self.specifiers()?.ty.ty) } else { None };
        if !self.is("{") {
            let known = tag.and_then(|tag| self.scopes.lookup(&tag));
            return Ok(match (fixed, known) {
                (Some(ty), _) => ty,
                (None, Some(Symbol::Typedef(ty))) => ty.ty.clone(),
                _ => CType::Other("an enumeration without its values"),
            });
        }
        let mut ty = self.enumerators()?;
        let first = self.pos;
        while is_attribute(self.word()) {
            self.attribute()?;
        }
        if (first..self.pos).any(|k| matches!(self.word_at(k), "packed" | "__packed__")) {
            ty = CType::Other("a packed enumeration");
        }
        let ty = fixed.unwrap_or(ty);
        if let Some(tag) = tag {
            let symbol = Symbol::Typedef(QType::plain(ty.clone()));
            if let Some(name) = tag.strip_prefix("enum ").filter(|_| self.is_cpp()) {
                self.scopes.declare(name.to_owned(), symbol.clone());
            }
            self.scopes.declare(tag, symbol);
        }
        Ok(ty)
    }

    /// `enum class E { … }`, whose values convert to no number and have names of their own.
    fn scoped_enumeration(&mut self) -> CType {
        self.pos += 1;
        let ty = CType::Other("a scoped enumeration");
        if self.tok() == Tok::Ident {
            let symbol = Symbol::Typedef(QType::plain(ty.clone()));
            self.scopes.declare(self.text().to_owned(), symbol);
        }
        while !self.is("{") && !matches!(self.tok(), Tok::Punct(";" | ")" | ",") | Tok::End) {
            self.pos += 1;
        }
        if self.is("{") {
            self.skip_group();
        }
        ty
    }

    fn enumerators(&mut self) -> Parsed<CType> {
        self.expect("{")?;
        let mut next = Some(0i64);
        let mut values = Some((0, 0));
        while self.tok() == Tok::Ident {
            let name = self.text().to_string();
            self.pos += 1;
            while is_attribute(self.word()) {
                self.attribute()?;
            }
            if self.accept("=") {
                let value = self.conditional()?;
                next = self.constant(&value);
            }
            self.scopes.declare(name, Symbol::Constant(next.map(Known::enumerator)));
            values =
                values.zip(next).map(|((least, most), v): ((i64, i64), i64)| (least.min(v), most.max(v)));
            next = next.and_then(|n| n.checked_add(1));
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(match values {
            Some((0, most)) if u32::try_from(most).is_ok() => CType::Int(IntType::Unsigned),
            Some((least, most)) if i32::try_from(least).is_ok() && i32::try_from(most).is_ok() => {
                CType::Int(IntType::Int)
            }
            Some(_) => CType::Other("an enumeration of 64 bits"),
            None => CType::Other("an enumeration whose values are not known"),
        })
    }

    /// An attribute or something similar. Returns whether it says that a function's result depends
    /// only on its arguments (`pure` of gcc lets it read memory).
    pub(super) fn attribute(&mut self) -> Parsed<bool> {
        let first = self.pos;
        self.pos += 1;
        if self.is("(") && !self.skip_group() {
            return Err(self.error("an attribute without an end"));
        }
        let words = (first..self.pos).map(|k| self.word_at(k).trim_matches('_'));
        self.retyped = words.into_iter().find_map(retyping).or(self.retyped);
        let pure = (first..self.pos).any(|k| matches!(self.word_at(k), "const" | "__const" | "__const__"));
        Ok(pure && self.word_at(first).starts_with("__attribute"))
    }

    /// Makes of a type what attributes say that have been read.
    pub fn retype(&mut self, ty: &mut QType) {
        if let Some(what) = self.retyped.take() {
            *ty = ty.clone().remade(CType::Other(what));
        }
    }
}

fn base_type(words: Words) -> CType {
    if words.complex {
        return CType::Other("a complex type");
    }
    let integer = |ty| CType::Int(ty);
    match (words.base, words.unsigned, words.short, words.long) {
        (Some(CType::Double), _, _, 1) => CType::Other("long double"),
        (Some(CType::Int(IntType::Char)), true, ..) => integer(IntType::UnsignedChar),
        (Some(CType::Int(IntType::Char)), false, ..) => {
            integer(if words.signed { IntType::SignedChar } else { IntType::Char })
        }
        (Some(CType::Int(IntType::Int)) | None, true, true, _) => integer(IntType::UnsignedShort),
        (Some(CType::Int(IntType::Int)) | None, false, true, _) => integer(IntType::Short),
        (Some(CType::Int(IntType::Int)) | None, true, false, 0) => integer(IntType::Unsigned),
        (Some(CType::Int(IntType::Int)) | None, true, false, 1) => integer(IntType::UnsignedLong),
        (Some(CType::Int(IntType::Int)) | None, true, false, _) => integer(IntType::UnsignedLongLong),
        (Some(CType::Int(IntType::Int)) | None, false, false, 0) => integer(IntType::Int),
        (Some(CType::Int(IntType::Int)) | None, false, false, 1) => integer(IntType::Long),
        (Some(CType::Int(IntType::Int)) | None, false, false, _) => integer(IntType::LongLong),
        (Some(other), ..) => other,
    }
}

/// What a type is that an attribute changes: its size, its meaning, or what it may overlap with.
fn retyping(attribute: &str) -> Option<&'static str> {
    Some(match attribute {
        "mode" => "a type with a `mode` attribute",
        "vector_size" | "ext_vector_type" | "neon_vector_type" => "a vector type",
        "may_alias" => "a type that may overlap with all others (`may_alias`)",
        "cleanup" => "a type with a `cleanup` attribute",
        _ => return None,
    })
}

pub(super) fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "unsigned"
            | "_Bool"
            | "_Complex"
            | "__complex__"
            | "_Imaginary"
            | "struct"
            | "union"
            | "enum"
            | "typeof"
            | "__typeof__"
            | "__typeof"
            | "__signed__"
            | "__signed"
            | "__int128"
            | "__builtin_va_list"
            | "_Float128"
            | "__float128"
            | "_Float32"
            | "_Float64"
            | "_Float32x"
            | "_Float64x"
            | "_Float16"
            | "__fp16"
            | "__bf16"
            | "_Decimal32"
            | "_Decimal64"
            | "_Decimal128"
    )
}

pub(super) fn is_storage_word(word: &str) -> bool {
    matches!(
        word,
        "typedef"
            | "extern"
            | "static"
            | "inline"
            | "__inline"
            | "__inline__"
            | "register"
            | "auto"
            | "_Noreturn"
            | "_Thread_local"
            | "__thread"
            | "thread_local"
            | "__extension__"
    )
}

pub(super) fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "__const"
            | "__const__"
            | "volatile"
            | "__volatile__"
            | "__volatile"
            | "restrict"
            | "__restrict"
            | "__restrict__"
            | "_Atomic"
    )
}

fn is_type_of_cpp(word: &str) -> bool {
    matches!(word, "bool" | "class" | "decltype" | "wchar_t" | "char8_t" | "char16_t" | "char32_t")
}

fn is_storage_of_cpp(word: &str) -> bool {
    let storage = matches!(word, "constexpr" | "mutable" | "explicit" | "virtual" | "friend" | "typename");
    storage || matches!(word, "consteval" | "constinit" | "alignas")
}

/// Whether an attribute, or what is passed over like one, starts with a word.
pub(super) fn is_attribute(word: &str) -> bool {
    matches!(word, "__attribute__" | "__attribute" | "_Alignas" | "__declspec")
}
