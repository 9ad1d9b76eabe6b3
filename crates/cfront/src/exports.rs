//! The functions of a C file that other files can call, as a header has to declare them.
//!
//! Not here: the text of the header, and which of the functions have regions.

use loops::Scalar;

use crate::ast::{At, Declaration, Expr, mentions};
use crate::ctype::{CType, QType};
use crate::lexer::Tok;
use crate::parser::{Parsed, Parser};
use crate::scope::Place;
use crate::source::{Language, Source};

/// A function with a body in the file itself, and external linkage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// The line that it begins on, counted from 1.
    pub line: usize,
    /// What it returns and takes, or why a header can't say that.
    pub declared: Result<Interface, String>,
}

/// What a function returns and takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Type of the result in C; typedef names are resolved.
    pub result: String,
    /// The parameters, in order.
    pub params: Vec<ExportParam>,
}

/// A parameter of an exported function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportParam {
    /// Its name; empty if it has none.
    pub name: String,
    /// Type in C of the number, or of the elements; typedef names are resolved.
    pub c_type: String,
    /// The element type, where it is one that arrays have.
    pub elem: Option<Scalar>,
    /// Whether the function does not write through it.
    pub constant: bool,
    /// Whether it is a pointer; array parameters are.
    pub pointer: bool,
    /// Whether it is a `restrict` pointer.
    pub restrict: bool,
    /// Extents in C, over the parameters before it; none for what is not written. A plain pointer
    /// has one that is none.
    pub extents: Vec<Option<String>>,
}

/// The functions that other files can call, in the order of the text. What is not understood is
/// passed over.
pub fn exports(original: &str, preprocessed: &str) -> Vec<Export> {
    let source = Source::new(original, preprocessed, Language::C);
    let mut parser = Parser::new(&source);
    let mut found = Vec::new();
    while parser.tok() != Tok::End {
        let start = parser.pos;
        match parser.tok() {
            Tok::Pragma => {
                parser.outer_pragma();
                continue;
            }
            Tok::Punct(";") | Tok::Scop | Tok::EndScop => {
                parser.pos += 1;
                continue;
            }
            _ => {}
        }
        match external(&mut parser) {
            Ok(export) => found.extend(export),
            Err(_) => {
                parser.pos = start;
                parser.scopes.truncate(1);
                parser.skip_external();
            }
        }
        parser.pos = parser.pos.max(start + 1);
    }
    found
}

/// One external declaration or function definition.
fn external(parser: &mut Parser<'_>) -> Parsed<Option<Export>> {
    if matches!(parser.word(), "_Static_assert" | "asm" | "__asm__" | "__extension__") {
        parser.pos += 1;
        if parser.is("(") {
            parser.skip_group();
            return Ok(None);
        }
    }
    let start = parser.pos;
    parser.retyped = None;
    let specifiers = parser.specifiers()?;
    if parser.accept(";") {
        return Ok(None);
    }
    let declarator = parser.declarator(specifiers.ty.clone())?;
    parser.asm_label()?;
    let (Some(params), true) = (&declarator.params, parser.is("{")) else {
        parser.pos = start;
        parser.declaration(Place::Global)?;
        return Ok(None);
    };
    let head = start..parser.pos;
    parser.skip_group();
    let Some((name, at)) = declarator.name.clone() else { return Ok(None) };
    let CType::Function { result } = &declarator.ty.ty else { return Ok(None) };
    // An inline definition is none that other files can call, unless it is declared `extern`.
    let inline = !specifiers.is_extern && head.clone().any(|k| parser.is_inline(k));
    let Ok(line) = parser.source.line(at) else { return Ok(None) };
    if specifiers.is_static || inline {
        return Ok(None);
    }
    let variadic = head.clone().any(|k| parser.tok_at(k) == Tok::Punct("..."));
    let declared = match variadic {
        true => Err("it takes a variable number of arguments".to_owned()),
        false => interface(parser, result, params),
    };
    Ok(Some(Export { name, line, declared }))
}

fn interface(parser: &Parser<'_>, result: &QType, params: &[Declaration]) -> Result<Interface, String> {
    let c_type = plain(result).map_err(|what| format!("its result is {what}"))?;
    let params = params.iter().enumerate().map(|(k, p)| {
        param(parser, p, &params[..k]).map_err(|what| match p.name.as_str() {
            "" => format!("its parameter {} is {what}", k + 1),
            name => format!("its parameter `{name}` is {what}"),
        })
    });
    Ok(Interface { result: c_type, params: params.collect::<Result<_, _>>()? })
}

fn param(parser: &Parser<'_>, declared: &Declaration, before: &[Declaration]) -> Result<ExportParam, String> {
    let mut extents = Vec::new();
    let (mut ty, mut restrict) = (&declared.ty, false);
    if let CType::Pointer { to, restrict: own, extent } = &ty.ty {
        extents.push(extent.as_deref().and_then(|e| extent_text(parser, e, before)));
        (ty, restrict) = (&**to, *own);
        while let CType::Array { of, extent } = &ty.ty {
            extents.push(extent.as_deref().and_then(|e| extent_text(parser, e, before)));
            ty = of;
        }
    }
    let pointer = !extents.is_empty();
    let elem = match &ty.ty {
        CType::Int(int) => int.scalar(),
        CType::Float => Some(Scalar::F32),
        CType::Double => Some(Scalar::F64),
        _ => None,
    };
    if !pointer && matches!(ty.ty, CType::Void) {
        return Err("void".to_owned());
    }
    let (name, constant) = (declared.name.clone(), !pointer || ty.constant);
    Ok(ExportParam { name, c_type: plain(ty)?, elem, constant, pointer, restrict, extents })
}

/// A type as a word or two before a name, without its own qualifiers; else what it is.
fn plain(ty: &QType) -> Result<String, String> {
    match &ty.ty {
        CType::Void | CType::Int(_) | CType::Float | CType::Double | CType::Other("long double") => {
            Ok(ty.ty.c_name().to_owned())
        }
        CType::Pointer { to, .. } => {
            let qualifier = if to.constant { "const " } else { "" };
            let inner = plain(to)?;
            // A qualifier of what is itself a pointer stands behind that.
            Ok(match (&to.ty, to.constant) {
                (CType::Pointer { .. }, true) => format!("{inner}const *"),
                _ => format!("{qualifier}{inner}{}*", if inner.ends_with('*') { "" } else { " " }),
            })
        }
        CType::Struct(_) => Err("a struct or union".to_owned()),
        CType::Array { .. } => Err("a pointer to an array behind a pointer".to_owned()),
        CType::Function { .. } => Err("a pointer to a function".to_owned()),
        CType::Reference(_) => Err("a reference".to_owned()),
        CType::Other(name) => Err(format!("of the type `{name}`")),
    }
}

/// An extent as a header may write it: a number, or an expression over the parameters before.
fn extent_text(parser: &Parser<'_>, extent: &Expr, before: &[Declaration]) -> Option<String> {
    if !before.iter().any(|p| mentions(extent, &p.name)) {
        return parser.constant(extent).map(|n| n.to_string());
    }
    let At { first, last } = extent.at;
    let mut text = String::new();
    let mut glued = true;
    for k in first as usize..=last as usize {
        let word = parser.text_at(k);
        match parser.tok_at(k) {
            Tok::Ident if !before.iter().any(|p| p.name == word) => return None,
            Tok::Ident | Tok::Number | Tok::Punct(_) => {}
            _ => return None,
        }
        if !glued && word != ")" {
            text.push(' ');
        }
        text.push_str(word);
        glued = word == "(";
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let tell = |export: Export| match export.declared {
            Err(why) => format!("{} {}: {why}", export.line, export.name),
            Ok(Interface { result, params }) => {
                let one = |p: &ExportParam| {
                    let extents: Vec<&str> = p.extents.iter().map(|e| e.as_deref().unwrap_or("?")).collect();
                    let kind = [(p.constant, "const "), (p.restrict, "restrict ")];
                    let kind: String = kind.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
                    format!("{kind}{} {}{extents:?}", p.c_type, p.name)
                };
                let params: Vec<String> = params.iter().map(one).collect();
                format!("{} {result} {}: {}", export.line, export.name, params.join(", "))
            }
        };
        exports(text, text).into_iter().map(tell).collect()
    }

    #[test]
    fn functions_that_others_can_call_are_found() {
        let text = "\
typedef long index_t;
enum { K = 3 };
static void own(int n) { }
inline void inlined(int n) { }
extern inline int shown(unsigned char c) { return c; }
void declared(int n);
void gemm(int n, index_t m, double A[restrict n][2 * (m + 1)], const float *b, const double (*c)[K + 1]) {
#pragma scop
#pragma endscop
}
char *name(void) { return 0; }
void rows(int n, double **a, const char *const *names, _Bool flag) { }
";
        assert_eq!(
            told(text),
            [
                "5 int shown: const unsigned char c[]",
                "7 void gemm: const int n[], const long m[], restrict double A[\"n\", \"2 * (m + 1)\"], const float b[\"?\"], const double c[\"?\", \"4\"]",
                "11 char * name: ",
                "12 void rows: const int n[], double * a[\"?\"], const const char * names[\"?\"], const _Bool flag[]",
            ]
        );
    }

    #[test]
    fn what_a_header_cannot_declare_is_told() {
        let text = "\
struct s { int a; };
int n;
void one(struct s *p) { }
int two(int k, ...) { return k; }
void three(double (*f)(double)) { }
void four(int m, double a[m][n]) { }
typedef struct s t;
t five(void) { t a; return a; }
";
        assert_eq!(
            told(text),
            [
                "3 one: its parameter `p` is a struct or union",
                "4 two: it takes a variable number of arguments",
                "5 three: its parameter `f` is a pointer to a function",
                "6 void four: const int m[], double a[\"m\", \"?\"]",
                "8 five: its result is a struct or union",
            ]
        );
    }
}
