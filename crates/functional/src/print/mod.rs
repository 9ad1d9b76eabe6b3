//! Prints core terms as source text. Reading the text back gives an alpha-equal definition.

mod doc;
mod names;

use loops::{Scalar, Size};

use crate::prim::Prim;
use crate::syntax::ast::BinOp;
use crate::term::{Arg, Definition, FactKind, Lambda, Literal, Term, TermKind};
use crate::types::DataType;
use doc::Doc;
use names::Scope;

/// The definition in the syntax of the language.
pub fn definition(definition: &Definition) -> String {
    let mut scope = Scope::new(&definition.sizes);
    let mut head = vec![Doc::text(format!("def {}", definition.name))];
    if !definition.sizes.is_empty() {
        let sizes: Vec<&str> = definition.sizes.iter().map(|s| s.as_str()).collect();
        head.push(Doc::text(format!(" [{}]", sizes.join(" "))));
    }
    let mut groups: Vec<(Vec<String>, &DataType)> = Vec::new();
    for param in &definition.params {
        let name = scope.bind(param);
        match groups.last_mut() {
            Some((names, ty)) if *ty == &param.ty => names.push(name),
            _ => groups.push((vec![name], &param.ty)),
        }
    }
    for (names, ty) in groups {
        head.push(Doc::Line);
        head.push(Doc::text(format!("({}: {})", names.join(" "), data_type(ty))));
    }
    head.push(Doc::text(format!(": {}", data_type(definition.body.ty()))));
    for (k, fact) in definition.facts.iter().enumerate() {
        let relation = match fact.kind {
            FactKind::AtMost => "<=",
            FactKind::Equal => "==",
        };
        if k == 0 {
            head.push(Doc::Line);
        }
        let word = if k == 0 { "where " } else { ", " };
        head.push(Doc::text(format!("{word}{} {relation} {}", fact.left, fact.right)));
    }
    head.push(Doc::text(" ="));
    let body = Printer { scope }.term(&definition.body, 0);
    let body = Doc::concat(vec![Doc::Hard, body]).nest();
    let mut text = Doc::concat(vec![Doc::concat(head).nest().group(), body]).render();
    text.push('\n');
    text
}

/// A term in the syntax of the language; free variables keep their names.
pub fn term(term: &Term) -> String {
    let mut scope = Scope::new(&[]);
    for var in crate::walk::free_vars(term) {
        scope.bind_var(&var);
    }
    Printer { scope }.term(term, 0).render()
}

/// A data type in the syntax of the language.
pub fn data_type(ty: &DataType) -> String {
    match ty {
        DataType::Scalar(s) => s.to_string(),
        DataType::Idx(n) => format!("idx {}", size_atom(n)),
        DataType::Array(n, t) => match &**t {
            DataType::Idx(_) | DataType::Vector(..) => format!("[{n}]({})", data_type(t)),
            _ => format!("[{n}]{}", data_type(t)),
        },
        DataType::Pair(a, b) => format!("({}, {})", data_type(a), data_type(b)),
        DataType::Vector(k, s) => format!("vec {} {s}", size_atom(k)),
    }
}

/// A size as an argument.
fn size_atom(size: &Size) -> String {
    if size.as_param().is_some() || size.as_constant().is_some_and(|c| c >= 0) {
        size.to_string()
    } else {
        format!("({size})")
    }
}

/// How tightly an argument of an application binds, and what is indexed.
const ATOM: u8 = 9;
const APPLICATION: u8 = 8;
const PREFIX: u8 = 7;

struct Printer {
    scope: Scope,
}

fn parens_if(condition: bool, doc: Doc) -> Doc {
    if condition { Doc::concat(vec![Doc::text("("), doc, Doc::text(")")]) } else { doc }
}

fn ascribed(doc: Doc, ty: &DataType) -> Doc {
    Doc::concat(vec![Doc::text("("), doc, Doc::text(format!(" : {})", data_type(ty)))])
}

impl Printer {
    /// A term where operators must bind at least as tightly as `least`; 0 is anything.
    fn term(&mut self, term: &Term, least: u8) -> Doc {
        match term.kind() {
            TermKind::Var(var) => Doc::text(self.scope.name(var)),
            TermKind::Literal(literal) => {
                let text = literal_text(*literal);
                parens_if(least > 0 && text.starts_with('-'), Doc::text(text))
            }
            TermKind::Size(size) => match (size.as_constant(), term.ty()) {
                (_, DataType::Idx(_)) => ascribed(Doc::text(size.to_string()), term.ty()),
                (Some(c), _) => parens_if(least > 0 && c < 0, Doc::text(format!("{c}i64"))),
                (None, _) => Doc::text(if least == 0 { size.to_string() } else { size_atom(size) }),
            },
            TermKind::Let(binder, value, body) => {
                let value = self.term(value, 0);
                let name = self.scope.bind(binder);
                let body = self.term(body, 0);
                self.scope.unbind(binder);
                let value = Doc::concat(vec![
                    Doc::text(format!("let {name} =")),
                    Doc::concat(vec![Doc::Line, value]).nest(),
                    Doc::text(" in"),
                ]);
                let doc = Doc::concat(vec![value.group(), Doc::Hard, body]);
                parens_if(least > 0, doc)
            }
            TermKind::Prim(prim, args) => self.prim(term, *prim, args, least),
        }
    }

    fn prim(&mut self, term: &Term, prim: Prim, args: &[Arg], least: u8) -> Doc {
        if let Some(doc) = self.operator(prim, args, least) {
            return doc;
        }
        match (prim, args) {
            (Prim::Zero | Prim::One, []) => ascribed(Doc::text(prim.name()), term.ty()),
            (Prim::Pair, [Arg::Term(a), Arg::Term(b)]) => {
                let (a, b) = (self.term(a, 0), self.term(b, 0));
                let inside = Doc::concat(vec![a, Doc::text(","), Doc::Line, b]);
                Doc::concat(vec![Doc::text("("), inside.nest(), Doc::text(")")]).group()
            }
            (Prim::Select, [Arg::Term(c), Arg::Term(a), Arg::Term(b)]) => {
                let (c, a, b) = (self.term(c, 0), self.term(a, 0), self.term(b, 0));
                let doc = Doc::concat(vec![
                    Doc::text("if "),
                    c,
                    Doc::concat(vec![Doc::Line, Doc::text("then "), a, Doc::Line, Doc::text("else "), b])
                        .nest(),
                ]);
                parens_if(least > 0, doc.group())
            }
            (Prim::Index, [Arg::Term(xs), Arg::Term(i)]) => {
                let (xs, i) = (self.term(xs, ATOM), self.subscript(i, xs.ty()));
                Doc::concat(vec![xs, Doc::text("["), i, Doc::text("]")])
            }
            (Prim::Split | Prim::AsVector, _) => {
                let doc = self.call(prim, args);
                if blocks_are_plain(term, args) {
                    parens_if(least > APPLICATION, doc)
                } else {
                    ascribed(doc, term.ty())
                }
            }
            (_, []) => Doc::text(prim.name()),
            _ => {
                let doc = self.call(prim, args);
                parens_if(least > APPLICATION, doc)
            }
        }
    }

    /// What stands in brackets: sizes need no type there.
    fn subscript(&mut self, index: &Term, array: &DataType) -> Doc {
        match (index.kind(), index.ty(), array) {
            (TermKind::Size(size), DataType::Idx(n), DataType::Array(m, _)) if n == m => {
                Doc::text(size.to_string())
            }
            _ => self.term(index, 0),
        }
    }

    fn operator(&mut self, prim: Prim, args: &[Arg], least: u8) -> Option<Doc> {
        match args {
            [Arg::Term(a)] => {
                let sign = match prim {
                    Prim::Neg => "-",
                    Prim::Not => "!",
                    _ => return None,
                };
                // A sign in front of a constant would be part of it.
                if matches!(a.kind(), TermKind::Literal(_) | TermKind::Size(_)) {
                    return None;
                }
                let doc = Doc::concat(vec![Doc::text(sign), self.term(a, APPLICATION)]);
                Some(parens_if(least > PREFIX, doc))
            }
            [Arg::Term(a), Arg::Term(b)] => {
                let op = BinOp::ALL.into_iter().find(|op| op.prim() == prim)?;
                // An operation on two sizes would be read as one size.
                if matches!((a.kind(), b.kind()), (TermKind::Size(_), TermKind::Size(_))) {
                    return None;
                }
                let precedence = op.precedence();
                let left = if precedence == BinOp::Eq.precedence() { precedence + 1 } else { precedence };
                let (a, b) = (self.term(a, left), self.term(b, precedence + 1));
                let right = Doc::concat(vec![Doc::Line, Doc::text(format!("{} ", op.symbol())), b]);
                Some(parens_if(least > precedence, Doc::concat(vec![a, right.nest()]).group()))
            }
            _ => None,
        }
    }

    fn call(&mut self, prim: Prim, args: &[Arg]) -> Doc {
        let mut parts = vec![Doc::text(prim.name())];
        for arg in args {
            let arg = match arg {
                Arg::Size(size) => Doc::text(size_atom(size)),
                Arg::Term(term) => self.term(term, ATOM),
                Arg::Fun(lambda) => self.lambda(lambda),
            };
            parts.push(Doc::concat(vec![Doc::Line, arg]).nest());
        }
        Doc::concat(parts).group()
    }

    fn lambda(&mut self, lambda: &Lambda) -> Doc {
        let names: Vec<String> = lambda.params.iter().map(|p| self.scope.bind(p)).collect();
        let body = self.term(&lambda.body, 0);
        for param in lambda.params.iter().rev() {
            self.scope.unbind(param);
        }
        let body = Doc::concat(vec![Doc::Line, body]).nest();
        Doc::concat(vec![Doc::text(format!("(\\{} ->", names.join(" "))), body, Doc::text(")")]).group()
    }
}

/// Whether the number of blocks follows from the length and the block's size by division of the
/// forms.
fn blocks_are_plain(term: &Term, args: &[Arg]) -> bool {
    match (args, term.ty()) {
        ([Arg::Size(k), Arg::Term(xs)], DataType::Array(m, _)) => match xs.ty() {
            DataType::Array(n, _) => n.exact_div(k).as_ref() == Some(m),
            _ => false,
        },
        _ => false,
    }
}

fn literal_text(literal: Literal) -> String {
    let float = |text: String, suffix: Scalar, finite: bool| {
        if finite {
            format!("{text}{suffix}")
        } else {
            format!("({} : {suffix})", text.replace("NaN", "nan"))
        }
    };
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::I32(value) => format!("{value}i32"),
        Literal::I64(value) => format!("{value}i64"),
        Literal::Integer(Scalar::U64, value) => format!("{}u64", value as u64),
        Literal::Integer(scalar, value) => format!("{value}{scalar}"),
        Literal::F32(bits) => {
            let value = f32::from_bits(bits);
            float(format!("{value:?}"), Scalar::F32, value.is_finite())
        }
        Literal::F64(bits) => {
            let value = f64::from_bits(bits);
            float(format!("{value:?}"), Scalar::F64, value.is_finite())
        }
    }
}
