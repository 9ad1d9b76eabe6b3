//! Name resolution: variables, sizes, definitions, primitives, types.

use std::collections::BTreeMap;

use loops::suggest::nearest;
use loops::{Code, Diagnostic, Name, Scalar, Size, Span};

use super::Infer;
use super::expressions::error_node;
use super::inferred_types::{Class, Ty};
use super::node::{Node, NodeKind};
use super::scheme::scheme;
use crate::prim::Prim;
use crate::syntax::ast::{BinOp, Expr, ExprKind, Ident, NumberValue, Type, TypeKind, UnOp};

impl Infer<'_> {
    /// Whether the name is a variable or a size here, so that it hides a primitive.
    pub(super) fn is_bound(&self, name: &Name) -> bool {
        self.scope.get(name).is_some_and(|s| !s.is_empty()) || self.sizes.contains_key(name)
    }

    pub(super) fn name(&mut self, name: &Name, span: Span) -> Node {
        if let Some(&local) = self.scope.get(name).and_then(|s| s.last()) {
            let level = self.level;
            let info = &mut self.locals[local as usize];
            info.uses += 1;
            info.under_lambda |= level > info.level;
            return Node { kind: NodeKind::Local(local), ty: info.ty.clone(), span };
        }
        if self.sizes.contains_key(name) {
            return Node { kind: NodeKind::Size(Size::param(name.clone())), ty: Ty::I64, span };
        }
        if let Some((node, _)) = self.defined(name, &[], span) {
            return node;
        }
        if self.env.failed.contains(name) {
            return error_node(span);
        }
        if let Some(prim) = Prim::from_name(name) {
            return self.prim(prim, &[], span).0;
        }
        let mut known: Vec<&str> =
            self.scope.iter().filter(|(_, s)| !s.is_empty()).map(|(n, _)| n.as_str()).collect();
        known.extend(self.sizes.keys().map(Name::as_str));
        known.extend(self.env.defs.keys().map(Name::as_str));
        known.extend(crate::prim::TABLE.iter().map(|info| info.name));
        let mut diagnostic = Diagnostic::error(
            Code("F0201"),
            format!("there is nothing named `{name}` here"),
            span,
            "unknown name",
        );
        if let Some(near) = nearest(name, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        if self.in_rule {
            diagnostic = diagnostic.note("the variables of a rule are those of its left side");
        }
        self.error(diagnostic);
        error_node(span)
    }

    /// The definition of this name with its explicit sizes, and how many arguments these were.
    /// `None` if no definition has the name. In rules, the names of primitives are theirs.
    pub(super) fn defined(&mut self, name: &Name, arguments: &[&Expr], span: Span) -> Option<(Node, usize)> {
        if self.is_bound(name) || self.in_rule && Prim::from_name(name).is_some() {
            return None;
        }
        if let Some([first, second]) = self.env.ambiguous.get(name) {
            let message = format!("`{name}` is defined in `{first}` and in `{second}`");
            let error = Diagnostic::error(Code("F0202"), message, span, "which one is not clear");
            self.error(error.help(format!("define `{name}` in this file, which hides both, or rename one")));
            return Some((error_node(span), 0));
        }
        let signature = self.env.defs.get(name)?.clone();
        let Some(mut sizes) = self.explicit_sizes(name, &signature.explicit, arguments, span) else {
            return Some((error_node(span), arguments.len().min(signature.explicit.len())));
        };
        for s in &signature.sizes {
            if !sizes.contains_key(s) {
                let meta = self.solver.fresh_size(span, format!("the size `{s}` of `{name}`"));
                sizes.insert(s.clone(), meta);
            }
        }
        let taken = signature.explicit.len().min(arguments.len());
        Some((self.definition(&signature, sizes, span), taken))
    }

    /// The size arguments that stand in front; those that are left out or `_` are unknown.
    fn explicit_sizes(
        &mut self,
        name: &str,
        explicit: &[Name],
        arguments: &[&Expr],
        span: Span,
    ) -> Option<BTreeMap<Name, Size>> {
        let mut sizes = BTreeMap::new();
        for (k, s) in explicit.iter().enumerate() {
            let what = format!("the size `{s}` of `{name}`");
            let size = match arguments.get(k) {
                Some(argument) if !matches!(argument.kind, ExprKind::Hole) => {
                    let hidden = |n: &Name| self.scope.get(n).is_some_and(|s| !s.is_empty());
                    if matches!(&argument.kind, ExprKind::Name(n) if hidden(n)) {
                        self.no_size_argument(name, s, argument);
                        return None;
                    }
                    let size = self.size_of(argument, false)?;
                    self.solver.demand_natural(&size, argument.span, &what);
                    size
                }
                _ => self.solver.fresh_size(span, what),
            };
            sizes.insert(s.clone(), size);
        }
        Some(sizes)
    }

    fn no_size_argument(&mut self, name: &str, size: &str, argument: &Expr) {
        let message = format!("`{name}` takes the size `{size}` here");
        self.error(
            Diagnostic::error(Code("F0401"), message, argument.span, "a variable, not a size")
                .help(format!("write the size in front, or `_` to infer it: `{name} _ ...`"))
                .note("the lengths of arrays are known before anything is computed: values can't be sizes"),
        );
    }

    fn definition(&mut self, signature: &super::Signature, sizes: BTreeMap<Name, Size>, span: Span) -> Node {
        let name = &signature.name;
        let types: BTreeMap<Name, Ty> = signature
            .types
            .iter()
            .map(|(t, _)| (t.clone(), self.solver.fresh(true, span, format!("the type `{t}` of `{name}`"))))
            .collect();
        for (t, class) in &signature.types {
            if let Some(class) = class {
                self.require(*class, &types[t], span, &format!("the type `{t}` of `{name}`"));
            }
        }
        let put = |size: &Size| size.substitute(&|n| sizes.get(n).cloned());
        for fact in &signature.facts {
            let (left, right) = (put(&fact.left), put(&fact.right));
            let why = format!("`{name}` requires `{}` of its callers", show_fact(fact));
            if fact.kind == crate::FactKind::Equal {
                self.solver.demand(right.clone(), left.clone(), span, why.clone());
            }
            self.solver.demand(left, right, span, why);
        }
        let ty = signature.ty.rewrite(&mut |s| put(s), &|t| match t {
            Ty::Param(p) => types.get(p).cloned(),
            _ => None,
        });
        let sizes = signature.sizes.iter().map(|s| sizes[s].clone()).collect();
        let types = signature.types.iter().map(|(t, _)| types[t].clone()).collect();
        Node { kind: NodeKind::Def(signature.key.clone(), sizes, types), ty, span }
    }

    /// A primitive with its explicit sizes, and how many arguments these were. A function without
    /// arguments has its sizes inferred.
    pub(super) fn prim(&mut self, prim: Prim, arguments: &[&Expr], span: Span) -> (Node, usize) {
        let scheme = scheme(prim);
        let name = prim.name();
        let Some(mut sizes) = self.explicit_sizes(name, &scheme.explicit, arguments, span) else {
            return (error_node(span), arguments.len().min(scheme.explicit.len()));
        };
        let explicit = scheme.explicit.iter().map(|s| sizes[s].clone()).collect();
        for s in &scheme.sizes {
            if !sizes.contains_key(s) {
                let meta = self.solver.fresh_size(span, format!("the size `{s}` of `{name}`"));
                sizes.insert(s.clone(), meta);
            }
        }
        let types: BTreeMap<&Name, Ty> = scheme
            .types
            .iter()
            .map(|(t, _)| (t, self.solver.fresh(true, span, format!("the type of `{name}`"))))
            .collect();
        for (t, class) in &scheme.types {
            if let Some(class) = class {
                self.require(*class, &types[t], span, &format!("`{name}`"));
            }
        }
        let put = |size: &Size| size.substitute(&|n| sizes.get(n).cloned());
        for demand in &scheme.demands {
            let why = format!("`{name}` requires `{}`", show_fact(demand));
            self.solver.demand(put(&demand.left), put(&demand.right), span, why);
        }
        let ty = scheme.ty.rewrite(&mut |s| put(s), &|t| match t {
            Ty::Param(p) => types.get(p).cloned(),
            _ => None,
        });
        let taken = scheme.explicit.len().min(arguments.len());
        (Node { kind: NodeKind::Prim(prim, explicit), ty, span }, taken)
    }

    pub(super) fn signature_note(&self, name: &Name) -> String {
        match Prim::from_name(name) {
            Some(prim) => format!("`{name}` has the type `{}`", prim.info().scheme),
            None => String::new(),
        }
    }

    /// The size that an expression means. Reports an error if it means none.
    pub(super) fn size_of(&mut self, expr: &Expr, holes: bool) -> Option<Size> {
        Some(match &expr.kind {
            ExprKind::Name(name) if self.scope.get(name).is_none_or(|s| s.is_empty()) => {
                if !self.sizes.contains_key(name) {
                    if !self.undeclared.insert(name.clone()) {
                        return None;
                    }
                    let mut diagnostic = Diagnostic::error(
                        Code("F0203"),
                        format!("there is no size named `{name}` here"),
                        expr.span,
                        "unknown size",
                    );
                    let known: Vec<&str> = self.sizes.keys().map(Name::as_str).collect();
                    diagnostic = match nearest(name, known) {
                        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                        None if self.in_rule => diagnostic
                            .help(format!("a size of the left side is named by a type: `(xs: [{name}]t)`")),
                        None => diagnostic
                            .help(format!("declare it in front of the parameters: `def f [{name}] ...`")),
                    };
                    self.error(diagnostic);
                    return None;
                }
                Size::param(name.clone())
            }
            ExprKind::Number(number) if number.suffix.is_none() => match number.value {
                NumberValue::Int(value) => Size::constant(i64::try_from(value).ok()?),
                NumberValue::Float(_) => return self.no_size(expr),
            },
            ExprKind::Hole if holes => self.solver.fresh_size(expr.span, "this size"),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.size_of(a, holes)?, self.size_of(b, holes)?);
                match size_operation(*op, a, b) {
                    Some(size) => size,
                    None => return self.no_size(expr),
                }
            }
            ExprKind::Chain(first, rest) => {
                let mut size = self.size_of(first, holes)?;
                for (op, operand) in rest {
                    let operand = self.size_of(operand, holes)?;
                    match size_operation(*op, size, operand) {
                        Some(sum) => size = sum,
                        None => return self.no_size(expr),
                    }
                }
                size
            }
            ExprKind::Unary(UnOp::Neg, a) => -self.size_of(a, holes)?,
            ExprKind::Power(a, exponent) => match power(&self.size_of(a, holes)?, *exponent) {
                Some(size) => size,
                None => return self.no_size(expr),
            },
            ExprKind::Error => return None,
            _ => return self.no_size(expr),
        })
    }

    fn no_size(&mut self, expr: &Expr) -> Option<Size> {
        self.error(
            Diagnostic::error(
                Code("F0401"),
                "a size is needed here",
                expr.span,
                "not made of sizes and integers by `+ - * / %`",
            )
            .help("the lengths of arrays are known before anything is computed: values can't be sizes"),
        );
        None
    }

    /// The meaning of a type as written.
    pub(super) fn resolve(&mut self, ty: &Type, holes: bool) -> Ty {
        match &ty.kind {
            TypeKind::Error => Ty::Error,
            TypeKind::Scalar(s) => Ty::Scalar(*s),
            TypeKind::Idx(n) => match self.size_of(n, holes) {
                Some(n) => Ty::Idx(n),
                None => Ty::Error,
            },
            TypeKind::Array(n, t) => {
                let element = self.resolve(t, holes);
                if matches!(element, Ty::Fun(..)) {
                    self.error(Diagnostic::error(
                        Code("F0305"),
                        "an array can't have functions as elements",
                        t.span,
                        "a function",
                    ));
                }
                match self.size_of(n, holes) {
                    Some(size) => {
                        self.solver.demand_natural(&size, n.span, "a length");
                        Ty::array(size, element)
                    }
                    None => Ty::Error,
                }
            }
            TypeKind::Vector(n, t) => {
                let element = self.resolve(t, holes);
                self.require(Class::Plain, &element, t.span, "a vector's lane");
                match self.size_of(n, holes) {
                    Some(size) => {
                        self.solver.demand(1.into(), size.clone(), n.span, "a vector has at least one lane");
                        Ty::Vector(size, element.into())
                    }
                    None => Ty::Error,
                }
            }
            TypeKind::Record(fields) => self.record_body(fields, holes),
            TypeKind::Pair(a, b) => {
                let (first, second) = (self.resolve(a, holes), self.resolve(b, holes));
                for (part, written) in [(&first, a), (&second, b)] {
                    if matches!(part, Ty::Fun(..)) {
                        self.error(Diagnostic::error(
                            Code("F0305"),
                            "a pair can't have functions as components",
                            written.span,
                            "a function",
                        ));
                    }
                }
                Ty::pair(first, second)
            }
            TypeKind::Fun(a, b) => Ty::fun(self.resolve(a, holes), self.resolve(b, holes)),
            TypeKind::SizeFun(name, _) => {
                self.error(Diagnostic::error(
                    Code("F0204"),
                    "explicit size arguments are only for primitives",
                    name.span,
                    "not here",
                ));
                Ty::Error
            }
            TypeKind::Name(name, sizes) => self.named_type(name, sizes, ty.span, holes),
        }
    }

    fn named_type(&mut self, name: &Ident, sizes: &[Expr], span: Span, holes: bool) -> Ty {
        if self.types.contains_key(&name.name) && sizes.is_empty() {
            return Ty::Param(name.name.clone());
        }
        if let Some((params, body)) = self.env.types.get(&name.name).cloned() {
            let given: Vec<Size> = sizes.iter().filter_map(|s| self.size_of(s, holes)).collect();
            if given.len() != params.len() {
                if given.len() == sizes.len() {
                    let message =
                        format!("the type `{}` has {} sizes, not {}", name.name, params.len(), sizes.len());
                    self.error(Diagnostic::error(Code("F0204"), message, span, "here"));
                }
                return Ty::Error;
            }
            let put = |size: &Size| {
                size.substitute(&|n| params.iter().position(|p| p == n).map(|k| given[k].clone()))
            };
            let ty = body.rewrite(&mut |s| put(s), &|_| None);
            ty.sizes(&mut |size| self.solver.demand_natural(size, span, "a length"));
            return ty;
        }
        let mut known: Vec<&str> = self.types.keys().chain(self.env.types.keys()).map(Name::as_str).collect();
        known.extend(Scalar::ALL.map(Scalar::keyword));
        known.extend(["idx", "vec"]);
        let mut diagnostic = Diagnostic::error(
            Code("F0204"),
            format!("there is no type named `{}` here", name.name),
            name.span,
            "unknown type",
        );
        diagnostic = match nearest(&name.name, known) {
            _ if name.name.as_str() == "bf16" => {
                diagnostic.help("arrays may be stored in `f16`; models may also have tensors of `bf16`")
            }
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("a type parameter is declared as `{{{}: num}}`", name.name)),
        };
        self.error(diagnostic);
        Ty::Error
    }
}

/// The size that an operation on sizes gives.
pub(super) fn size_operation(op: BinOp, a: Size, b: Size) -> Option<Size> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a.div(&b),
        BinOp::Mod => a.rem(&b),
        _ => return None,
    })
}

/// Largest exponent of a size: more would have more terms than is sensible.
const MAX_SIZE_EXPONENT: u32 = 8;

/// A size to a power; none if that is too large to be a size.
pub(super) fn power(size: &Size, exponent: u32) -> Option<Size> {
    let product = |product: Size, _| product * size.clone();
    (exponent <= MAX_SIZE_EXPONENT).then(|| (0..exponent).fold(Size::constant(1), product))
}

/// A fact as it is written.
pub(crate) fn show_fact(fact: &crate::Fact) -> String {
    let relation = match fact.kind {
        crate::FactKind::AtMost => "<=",
        crate::FactKind::Equal => "==",
    };
    format!(
        "{} {relation} {}",
        super::inferred_types::show_size(&fact.left),
        super::inferred_types::show_size(&fact.right)
    )
}
