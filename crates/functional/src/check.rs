//! The verifier of core definitions: scopes, numbers of variables, types at every node, sizes.
//!
//! It does not trust what inference or a rewrite made: it checks everything again, from the leaves
//! up. A definition that passes can be evaluated and translated. If only values decide whether an
//! index is in range, the evaluator checks that.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Code, Diagnostic, Name, Scalar, Size};

use crate::facts::SizeFacts;
use crate::term::{Arg, Binder, Definition, Lambda, Term, TermKind, Var};
use crate::types::DataType;
use crate::typing::type_of;
use crate::walk::{self, MAX_DEPTH};

/// A core term that breaks an invariant.
pub(crate) const MALFORMED: Code = Code("F0501");
/// A term that is nested too deeply.
pub(crate) const TOO_DEEP: Code = Code("F0502");

/// Checks a definition.
///
/// # Errors
/// The first broken invariant, with the term's place in the source where it has one.
pub fn check(definition: &Definition) -> Result<(), Diagnostic> {
    check_depth(&definition.body, &definition.name)?;
    walk::with_stack(&definition.body, || verify(definition))
}

fn verify(definition: &Definition) -> Result<(), Diagnostic> {
    let mut checker = Checker {
        definition: &definition.name,
        facts: SizeFacts::of(definition),
        sizes: definition.sizes.iter().cloned().collect(),
        scope: BTreeMap::new(),
        ids: BTreeSet::new(),
    };
    if checker.sizes.len() != definition.sizes.len() {
        return Err(Diagnostic::general(MALFORMED, format!("`{}` declares a size twice", definition.name)));
    }
    for fact in &definition.facts {
        checker.size(&fact.left, &definition.body)?;
        checker.size(&fact.right, &definition.body)?;
    }
    for param in &definition.params {
        checker.bind(param, &definition.body)?;
    }
    checker.term(&definition.body)
}

/// Refuses terms that recursion over them could not survive.
///
/// # Errors
/// If the term is deeper than [`MAX_DEPTH`].
pub fn check_depth(term: &Term, name: &Name) -> Result<(), Diagnostic> {
    let depth = walk::depth(term);
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let message = format!("`{name}` is nested {depth} deep; the limit is {MAX_DEPTH}");
    Err(Diagnostic::error(TOO_DEEP, message, term.span(), "this expression")
        .help("name intermediate results in definitions of their own, or use `iterate` for repetition"))
}

struct Checker<'a> {
    definition: &'a Name,
    facts: SizeFacts,
    sizes: BTreeSet<Name>,
    scope: BTreeMap<Var, DataType>,
    ids: BTreeSet<u32>,
}

impl Checker<'_> {
    fn fail<T>(&self, place: &Term, message: String) -> Result<T, Diagnostic> {
        let message = format!("core form of `{}`: {message}", self.definition);
        Err(Diagnostic::error(MALFORMED, message, place.span(), "here"))
    }

    fn term(&mut self, term: &Term) -> Result<(), Diagnostic> {
        self.ty(term.ty(), term)?;
        match term.kind() {
            TermKind::Var(var) => match self.scope.get(var) {
                None => {
                    self.fail(term, format!("variable `{}` (number {}) is not in scope", var.name, var.id))
                }
                Some(ty) if !self.facts.same_type(ty, term.ty()) => self
                    .fail(term, format!("variable `{}` has type {ty}, its use has {}", var.name, term.ty())),
                Some(_) => Ok(()),
            },
            TermKind::Literal(literal) if *term.ty() != DataType::Scalar(literal.scalar()) => {
                self.fail(term, format!("a constant of type {} has type {}", literal.scalar(), term.ty()))
            }
            TermKind::Literal(_) => Ok(()),
            TermKind::Size(size) => {
                self.size(size, term)?;
                match term.ty() {
                    DataType::Scalar(Scalar::I64) => Ok(()),
                    DataType::Idx(bound)
                        if !self.facts.refutes_at_most(&(size.clone() + 1.into()), bound) =>
                    {
                        Ok(())
                    }
                    other => self.fail(term, format!("the size {size} is no value of type {other}")),
                }
            }
            TermKind::Let(binder, value, body) => {
                self.term(value)?;
                if !self.facts.same_type(&binder.ty, value.ty()) {
                    let name = &binder.var.name;
                    return self.fail(
                        term,
                        format!("`let {name}` has type {}, its value {}", binder.ty, value.ty()),
                    );
                }
                self.bind(binder, term)?;
                self.term(body)?;
                self.scope.remove(&binder.var);
                if !self.facts.same_type(body.ty(), term.ty()) {
                    return self
                        .fail(term, format!("a `let` of type {} has a body of {}", term.ty(), body.ty()));
                }
                Ok(())
            }
            TermKind::Prim(prim, args) => {
                for arg in args {
                    match arg {
                        Arg::Size(size) => self.size(size, term)?,
                        Arg::Fun(f) => self.lambda(f, term)?,
                        Arg::Term(t) => self.term(t)?,
                    }
                }
                match type_of(*prim, args, Some(term.ty()), &self.facts) {
                    Err(error) => self.fail(term, error.to_string()),
                    Ok(ty) if !self.facts.same_type(&ty, term.ty()) => {
                        self.fail(term, format!("`{}` gives {ty}, the node has {}", prim.name(), term.ty()))
                    }
                    Ok(_) => Ok(()),
                }
            }
        }
    }

    fn lambda(&mut self, f: &Lambda, place: &Term) -> Result<(), Diagnostic> {
        for param in &f.params {
            self.bind(param, place)?;
        }
        self.term(&f.body)?;
        for param in &f.params {
            self.scope.remove(&param.var);
        }
        Ok(())
    }

    fn bind(&mut self, binder: &Binder, place: &Term) -> Result<(), Diagnostic> {
        self.ty(&binder.ty, place)?;
        if !self.ids.insert(binder.var.id) {
            return self.fail(place, format!("two variables have number {}", binder.var.id));
        }
        self.scope.insert(binder.var.clone(), binder.ty.clone());
        Ok(())
    }

    fn size(&self, size: &Size, place: &Term) -> Result<(), Diagnostic> {
        match size.params().into_iter().find(|name| !self.sizes.contains(name)) {
            Some(name) => self.fail(place, format!("size `{name}` is not in scope")),
            None => Ok(()),
        }
    }

    fn ty(&self, ty: &DataType, place: &Term) -> Result<(), Diagnostic> {
        match ty {
            DataType::Scalar(_) => Ok(()),
            DataType::Idx(n) | DataType::Vector(n, _) => self.size(n, place),
            DataType::Array(n, t) => {
                self.size(n, place)?;
                if n.as_constant().is_some_and(|c| c < 0) {
                    return self.fail(place, format!("{ty} has a negative length"));
                }
                self.ty(t, place)
            }
            DataType::Pair(a, b) => {
                self.ty(a, place)?;
                self.ty(b, place)
            }
        }
    }
}
