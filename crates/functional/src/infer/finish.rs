//! Finishes a definition: solves open equations, gives literals their types, proves what is left,
//! and replaces all unknowns in types.

use std::collections::BTreeSet;

use loops::{Code, Diagnostic, Name, Scalar, Size, Span};

use super::Infer;
use super::inferred_types::{Class, HALF, Ty};
use super::node::{Node, NodeKind};
use super::solve::meta_of;
use crate::syntax::ast::{INEXACT, NumberValue};

impl Infer<'_> {
    /// Solves what is left and reports what cannot be solved.
    pub(super) fn finish(&mut self) {
        self.settle();
        self.default_literals();
        self.settle();
        self.check_classes();
        self.check_literals();
        // What remains open after an error is often its echo.
        self.quiet = !self.diagnostics.is_empty();
        for equation in std::mem::take(&mut self.solver.equations) {
            self.open_equation(&equation);
        }
        for obligation in std::mem::take(&mut self.solver.obligations) {
            if !self.solver.holds(&obligation) {
                self.open_obligation(&obligation);
            }
        }
    }

    pub(super) fn settle(&mut self) {
        for equation in self.solver.settle() {
            self.wrong_equation(&equation);
        }
    }

    /// Literals whose type nothing decides: `f32` where floating point is needed, else `i64`.
    fn default_literals(&mut self) {
        let open: BTreeSet<u32> = self
            .literals
            .iter()
            .filter_map(|(ty, _, _)| match self.solver.shallow(ty) {
                Ty::Meta(k) => Some(k),
                _ => None,
            })
            .collect();
        for (class, scalar) in [
            (Class::Float, Scalar::F32),
            (Class::Fraction, Scalar::F32),
            (Class::Int, Scalar::I64),
            (Class::Literal, Scalar::I64),
        ] {
            for k in 0..self.constraints.len() {
                let (found, ty, span, _) = &self.constraints[k];
                if *found == class
                    && let Ty::Meta(meta) = self.solver.shallow(ty)
                    && open.contains(&meta)
                {
                    let span = *span;
                    let _ = self.solver.unify(&Ty::Meta(meta), &Ty::Scalar(scalar), span, ("", None));
                }
            }
        }
    }

    fn check_classes(&mut self) {
        let types = self.types.clone();
        for (class, ty, span, what) in std::mem::take(&mut self.constraints) {
            let class_of = |name: &Name| types.get(name).copied().flatten();
            if self.solver.is_of(class, &ty, &class_of) != Some(false) {
                continue;
            }
            let literal = what == "an integer" || what.starts_with("a number with");
            if !literal || self.diagnostics.is_empty() {
                self.class_error(class, &ty, span, &what);
            }
        }
    }

    /// A type that is not of the class that something needs.
    pub(super) fn class_error(&mut self, class: Class, ty: &Ty, span: Span, what: &str) {
        let found = self.shown(ty);
        let literal = what == "an integer" || what.starts_with("a number with");
        let message = if literal {
            format!("{what} can't be `{found}`")
        } else {
            format!("{what} needs {}, found `{found}`", class.describe())
        };
        let mut diagnostic = Diagnostic::error(Code("F0302"), message, span, format!("this is `{found}`"));
        diagnostic = match self.solver.shallow(ty) {
            Ty::Array(..) => {
                diagnostic.help("`mapPar f xs` applies `f` to each element, `zip xs ys` pairs elements")
            }
            Ty::Scalar(Scalar::F16) => diagnostic.help(HALF),
            Ty::Idx(_) => diagnostic.help(
                "`i64 i` is the value of an index; a subscript such as `xs[i + 1]` needs no conversion where it is in range",
            ),
            Ty::Param(name) => diagnostic.help(format!(
                "constrain the type parameter: `{{{name}: {}}}`",
                match class {
                    Class::Int => "int",
                    Class::Float => "float",
                    _ => "num",
                }
            )),
            _ => diagnostic,
        };
        self.error(diagnostic);
    }

    fn check_literals(&mut self) {
        for (ty, value, span) in std::mem::take(&mut self.literals) {
            let ty = match self.solver.shallow(&ty) {
                Ty::Vector(_, lane) => self.solver.shallow(&lane),
                ty => ty,
            };
            match (ty, value) {
                (Ty::Scalar(scalar), value) => self.check_literal(&value, scalar, span),
                (Ty::Idx(bound), NumberValue::Int(value)) => {
                    let size = Size::constant(i64::try_from(value).unwrap_or(i64::MAX));
                    self.demand_index(&size, &bound, span);
                }
                _ => {}
            }
        }
    }

    fn check_literal(&mut self, value: &NumberValue, scalar: Scalar, span: Span) {
        if let Some(why) = value.misfit(scalar) {
            self.error(misfit(value, scalar, span, why));
        }
    }

    /// Puts what is known into the tree, and reports what is not known.
    pub(super) fn complete(&mut self, node: &mut Node) {
        node.ty = self.known_type(&node.ty, node.span);
        match &mut node.kind {
            NodeKind::Size(size) => *size = self.known_size(size, node.span),
            NodeKind::Prim(_, sizes) => {
                for size in sizes {
                    *size = self.known_size(size, node.span);
                }
            }
            NodeKind::Def(_, sizes, types) => {
                for size in sizes {
                    *size = self.known_size(size, node.span);
                }
                for ty in types {
                    *ty = self.known_type(ty, node.span);
                }
            }
            NodeKind::Apply(f, xs) => {
                self.complete(f);
                for x in xs {
                    self.complete(x);
                }
            }
            NodeKind::Lambda(_, body) | NodeKind::Power(body, _) => self.complete(body),
            NodeKind::Chain(first, rest) => {
                self.complete(first);
                rest.iter_mut().for_each(|(_, operand)| self.complete(operand));
            }
            NodeKind::Array(elements) => elements.iter_mut().for_each(|element| self.complete(element)),
            NodeKind::Let(_, value, body) => {
                self.complete(value);
                self.complete(body);
            }
            NodeKind::Local(_) | NodeKind::Number(_) | NodeKind::Bool(_) | NodeKind::Error => {}
        }
    }

    /// The type without unknowns. An unknown is reported once.
    pub(super) fn known_type(&mut self, ty: &Ty, span: Span) -> Ty {
        let ty = self.solver.zonk(ty);
        let metas = std::cell::RefCell::new(BTreeSet::new());
        let _ = ty.any(&|t| {
            if let Ty::Meta(k) = t {
                metas.borrow_mut().insert(*k);
            }
            false
        });
        for k in metas.into_inner() {
            let meta = self.solver.types[k as usize].clone();
            if !self.quiet && self.told_types.insert(k) {
                self.error(
                    Diagnostic::error(
                        Code("F0304"),
                        format!("the type of {} can't be inferred", meta.what.replace("the type of ", "")),
                        meta.origin,
                        "nothing decides this type",
                    )
                    .help("write it: `(e : f32)`, or a suffix as in `0f32`"),
                );
            }
        }
        let mut sizes = Vec::new();
        ty.sizes(&mut |size| sizes.push(size.clone()));
        for size in sizes {
            self.known_size(&size, span);
        }
        ty
    }

    fn known_size(&mut self, size: &Size, span: Span) -> Size {
        let size = self.solver.size(size);
        for name in size.params() {
            if let Some(k) = meta_of(&name)
                && !self.quiet
                && self.told.insert(k)
            {
                let meta = self.solver.sizes[k].clone();
                let at = if meta.origin == Span::default() { span } else { meta.origin };
                self.error(
                    Diagnostic::error(
                        Code("F0403"),
                        format!("{} can't be inferred", meta.what),
                        at,
                        "nothing decides this size",
                    )
                    .help("write it out, as in `split 4 xs`, or give a type: `(e : [n]f32)`"),
                );
            }
        }
        size
    }
}

/// A number that its type can't have.
pub(crate) fn misfit(value: &NumberValue, scalar: Scalar, span: Span, why: &'static str) -> Diagnostic {
    let message = format!("`{value}` does not fit in `{scalar}`");
    let diagnostic = Diagnostic::error(Code("F0105"), message, span, why);
    match why {
        "too large" if scalar.is_float() => diagnostic.help("infinity is written `inf`"),
        "too small" => diagnostic.help("zero is written `0`"),
        INEXACT => diagnostic.help(format!("if the nearest `{scalar}` will do, write `{value}.0`")),
        _ => diagnostic,
    }
}
