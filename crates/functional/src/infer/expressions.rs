//! Types of expressions.

use loops::{Code, Diagnostic, Name, Size, Span};

use super::Infer;
use super::inferred_types::{Class, Ty};
use super::node::{Bind, Local, LocalInfo, Node, NodeKind};
use crate::prim::Prim;
use crate::syntax::ast::{BinOp, Expr, ExprKind, NumberValue, Pattern, UnOp};

/// The most types that a type is made of.
const MAX_PARTS: usize = 1000;

/// What the context asks for, and why. Reported if it does not fit.
#[derive(Clone, Debug)]
pub(super) struct Why {
    /// "argument 2 of `zip`".
    pub(super) text: String,
    /// Where that was said.
    pub(super) at: Option<Span>,
}

impl Why {
    pub(super) fn new(text: impl Into<String>, at: Option<Span>) -> Why {
        Why { text: text.into(), at }
    }
}

fn node(kind: NodeKind, ty: Ty, span: Span) -> Node {
    Node { kind, ty, span }
}

pub(super) fn error_node(span: Span) -> Node {
    node(NodeKind::Error, Ty::Error, span)
}

pub(super) fn prim_node(prim: Prim, args: Vec<Node>, ty: Ty, span: Span) -> Node {
    let function = args.iter().rev().fold(ty.clone(), |result, arg| Ty::fun(arg.ty.clone(), result));
    let head = Box::new(node(NodeKind::Prim(prim, Vec::new()), function, span));
    node(NodeKind::Apply(head, args), ty, span)
}

impl Infer<'_> {
    /// The type of an expression.
    pub(super) fn infer(&mut self, expr: &Expr) -> Node {
        let node = self.infer_any(expr);
        self.of_bounded_size(node, expr.span)
    }

    /// Nested pairs double with each level (`let y = (x, x)`), and every node of the tree gets its
    /// type.
    fn of_bounded_size(&mut self, node: Node, span: Span) -> Node {
        if self.solver.parts(&node.ty, MAX_PARTS) <= MAX_PARTS {
            return node;
        }
        let message = format!("the type of this has more than {MAX_PARTS} parts");
        self.error(Diagnostic::error(Code("F0109"), message, span, "types of this size are not supported"));
        error_node(span)
    }

    fn infer_any(&mut self, expr: &Expr) -> Node {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Error => error_node(span),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Number(number) => {
                let ty = match number.suffix {
                    Some(scalar) => Ty::Scalar(scalar),
                    None => self.solver.fresh(true, span, "this number"),
                };
                match &number.value {
                    NumberValue::Int(_) => self.require(Class::Literal, &ty, span, "an integer"),
                    NumberValue::Float(_) => {
                        self.require(Class::Fraction, &ty, span, "a number with a fraction or exponent");
                    }
                }
                self.literals.push((ty.clone(), number.value.clone(), span));
                node(NodeKind::Number(number.value.clone()), ty, span)
            }
            ExprKind::Bool(value) => node(NodeKind::Bool(*value), Ty::BOOL, span),
            ExprKind::Hole => {
                self.error(Diagnostic::error(
                    Code("F0108"),
                    "`_` stands only for a size, or for a parameter that is not used",
                    span,
                    "not an expression",
                ));
                error_node(span)
            }
            ExprKind::Apply(..) | ExprKind::Pipe(..) => self.call(expr),
            ExprKind::Lambda(patterns, body) => {
                self.level += 1;
                self.distinct(patterns);
                let mut binds = Vec::new();
                let mut params = Vec::new();
                for pattern in patterns {
                    let ty = self.solver.fresh(false, pattern.span(), "this parameter");
                    binds.push(self.bind(pattern, &ty));
                    params.push(ty);
                }
                let body = self.infer(body);
                self.level -= 1;
                self.unbind(patterns);
                let ty = params.into_iter().rev().fold(body.ty.clone(), |result, p| Ty::fun(p, result));
                node(NodeKind::Lambda(binds, Box::new(body)), ty, span)
            }
            ExprKind::Let(pattern, ty, value, body) => {
                let (bind, value) = self.let_value(pattern, ty.as_ref(), value);
                let body = self.infer(body);
                self.unbind(std::slice::from_ref(pattern));
                let ty = body.ty.clone();
                node(NodeKind::Let(Box::new(bind), Box::new(value), Box::new(body)), ty, span)
            }
            ExprKind::If(c, a, b) => {
                let c = self.check(c, &Ty::BOOL, &Why::new("a condition", None));
                let a = self.infer(a);
                let ty = a.ty.clone();
                let b = self.check(b, &ty, &Why::new("the other branch", Some(a.span)));
                self.data_only(&ty, span, "a branch of `if`");
                prim_node(Prim::Select, vec![c, a, b], ty, span)
            }
            ExprKind::Binary(op, a, b) => {
                if matches!(op, BinOp::And | BinOp::Or) {
                    let why = Why::new(format!("an operand of `{}`", op.symbol()), None);
                    let (a, b) = (self.check(a, &Ty::BOOL, &why), self.check(b, &Ty::BOOL, &why));
                    return prim_node(op.prim(), vec![a, b], Ty::BOOL, span);
                }
                let a = self.infer(a);
                self.binary(*op, a, b, span)
            }
            ExprKind::Chain(first, rest) => self.chain(first, rest, span),
            ExprKind::Unary(op, a) => {
                let (prim, a) = match op {
                    UnOp::Not => (Prim::Not, self.check(a, &Ty::BOOL, &Why::new("the operand of `!`", None))),
                    UnOp::Neg => {
                        let a = self.infer(a);
                        if let NodeKind::Size(size) = a.kind {
                            return node(NodeKind::Size(-size), Ty::I64, span);
                        }
                        self.require(Class::Num, &a.ty, a.span, "`-`");
                        (Prim::Neg, a)
                    }
                };
                let ty = a.ty.clone();
                prim_node(prim, vec![a], ty, span)
            }
            ExprKind::Section(op) => self.prim(op.prim(), &[], span).0,
            ExprKind::Index(array, subscripts) => {
                let mut result = self.infer(array);
                for subscript in subscripts {
                    result = self.index(result, subscript, span);
                }
                result
            }
            ExprKind::Tuple(parts) => {
                let mut nodes: Vec<Node> = parts.iter().map(|part| self.infer(part)).collect();
                let mut result = nodes.pop().expect("a tuple has parts");
                while let Some(first) = nodes.pop() {
                    result = self.pair(first, result, span);
                }
                result
            }
            ExprKind::Field(base, field) => self.field(base, field, span),
            ExprKind::Record(fields, base) => self.record(fields, base.as_deref(), None, span),
            ExprKind::Array(elements) => {
                let first = self.infer(&elements[0]);
                let ty = first.ty.clone();
                let why = Why::new("an element of this array", Some(first.span));
                let rest = elements[1..].iter().map(|element| self.check(element, &ty, &why));
                let nodes: Vec<Node> = std::iter::once(first).chain(rest).collect();
                self.array(nodes, ty, span)
            }
            ExprKind::Power(base, exponent) => self.power(base, *exponent, span),
            ExprKind::Ascribe(inner, ty) => {
                let want = self.resolve(ty, true);
                self.check(inner, &want, &Why::new("the type that is written here", Some(ty.span)))
            }
        }
    }

    /// An expression that must have the type `want`.
    pub(super) fn check(&mut self, expr: &Expr, want: &Ty, why: &Why) -> Node {
        let span = expr.span;
        match (&expr.kind, self.solver.shallow(want)) {
            (ExprKind::Lambda(patterns, body), want) if !matches!(want, Ty::Error) => {
                self.check_lambda(patterns, body, want, span, why)
            }
            (ExprKind::Let(pattern, ty, value, body), _) => {
                let (bind, value) = self.let_value(pattern, ty.as_ref(), value);
                let body = self.check(body, want, why);
                self.unbind(std::slice::from_ref(pattern));
                let ty = body.ty.clone();
                node(NodeKind::Let(Box::new(bind), Box::new(value), Box::new(body)), ty, span)
            }
            (ExprKind::If(c, a, b), _) => {
                let c = self.check(c, &Ty::BOOL, &Why::new("a condition", None));
                let (a, b) = (self.check(a, want, why), self.check(b, want, why));
                let ty = a.ty.clone();
                self.data_only(&ty, span, "a branch of `if`");
                prim_node(Prim::Select, vec![c, a, b], ty, span)
            }
            (ExprKind::Tuple(parts), Ty::Pair(a, b)) if parts.len() == 2 => {
                let a = self.check(&parts[0], &a, why);
                let b = self.check(&parts[1], &b, why);
                self.pair(a, b, span)
            }
            (ExprKind::Record(fields, base), want) => {
                let found = self.record(fields, base.as_deref(), Some(&want), span);
                self.fit(&found, &want, why);
                found
            }
            (ExprKind::Array(elements), Ty::Array(n, t)) => {
                let nodes = elements.iter().map(|element| self.check(element, &t, why)).collect();
                let found = self.array(nodes, (*t).clone(), span);
                self.fit(&found, &Ty::Array(n, t), why);
                found
            }
            (_, want) => {
                let mut found = self.infer(expr);
                // The value of a size is an index where an index is asked for.
                if let (NodeKind::Size(size), Ty::Idx(bound)) = (&found.kind, &want) {
                    self.demand_index(size, bound, span);
                    found.ty = want;
                    return found;
                }
                self.fit(&found, &want, why);
                found
            }
        }
    }

    pub(super) fn demand_index(&mut self, size: &Size, bound: &Size, span: Span) {
        self.solver.demand_natural(size, span, "an index");
        self.solver.demand(
            size.clone() + Size::constant(1),
            bound.clone(),
            span,
            "an index must be less than the length",
        );
    }

    /// Makes the type of `found` the wanted one, or reports why it is not.
    pub(super) fn fit(&mut self, found: &Node, want: &Ty, why: &Why) {
        if let Err(mismatch) = self.solver.unify(&found.ty, want, found.span, (&why.text, why.at)) {
            self.mismatch(&mismatch, found, want, why);
        }
    }

    fn check_lambda(&mut self, patterns: &[Pattern], body: &Expr, want: Ty, span: Span, why: &Why) -> Node {
        self.level += 1;
        self.distinct(patterns);
        let mut binds = Vec::new();
        let mut params = Vec::new();
        let mut rest = want;
        let mut failed = false;
        for (k, pattern) in patterns.iter().enumerate() {
            let (param, result) = match self.solver.shallow(&rest) {
                Ty::Fun(param, result) => ((*param).clone(), (*result).clone()),
                other => {
                    let param = self.solver.fresh(false, pattern.span(), "this parameter");
                    let result = self.solver.fresh(false, span, "the result of this function");
                    let function = Ty::fun(param.clone(), result.clone());
                    let here = node(NodeKind::Error, function.clone(), span);
                    if !failed
                        && let Err(mismatch) = self.solver.unify(&function, &other, span, (&why.text, why.at))
                    {
                        failed = true;
                        if k == 0 {
                            self.mismatch(&mismatch, &here, &other, why);
                        } else {
                            self.too_many_parameters(patterns, k, why);
                        }
                    }
                    (param, result)
                }
            };
            binds.push(self.bind(pattern, &param));
            params.push(param);
            rest = result;
        }
        let body = if failed {
            self.infer(body)
        } else {
            self.check(body, &rest, &Why::new("the result of this function", why.at))
        };
        self.level -= 1;
        self.unbind(patterns);
        let ty = params.into_iter().rev().fold(body.ty.clone(), |result, p| Ty::fun(p, result));
        let ty = if failed { Ty::Error } else { ty };
        node(NodeKind::Lambda(binds, Box::new(body)), ty, span)
    }

    fn too_many_parameters(&mut self, patterns: &[Pattern], taken: usize, why: &Why) {
        let plural = |n: usize| if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") };
        let message = format!("{} takes {}, not {}", why.text, plural(taken), patterns.len());
        let diagnostic =
            Diagnostic::error(Code("F0305"), message, patterns[taken].span(), "one parameter too many");
        let diagnostic = match why.at {
            Some(at) => diagnostic.context(at, "required here"),
            None => diagnostic,
        };
        self.error(diagnostic.help("a pair is taken apart by a pattern: `\\(x, y) -> e`"));
    }

    fn array(&mut self, elements: Vec<Node>, element: Ty, span: Span) -> Node {
        self.data_only(&element, span, "an array");
        let ty = Ty::array(Size::constant(elements.len() as i64), element);
        node(NodeKind::Array(elements), ty, span)
    }

    fn power(&mut self, base: &Expr, exponent: u32, span: Span) -> Node {
        let base = self.infer(base);
        if let NodeKind::Size(size) = &base.kind
            && let Some(size) = super::name_resolution::power(size, exponent)
        {
            return node(NodeKind::Size(size), Ty::I64, span);
        }
        let ty = base.ty.clone();
        self.require(Class::Num, &ty, base.span, "`^`");
        node(NodeKind::Power(Box::new(base), exponent), ty, span)
    }

    pub(super) fn pair(&mut self, a: Node, b: Node, span: Span) -> Node {
        let ty = Ty::pair(a.ty.clone(), b.ty.clone());
        self.data_only(&ty, span, "a pair");
        prim_node(Prim::Pair, vec![a, b], ty, span)
    }

    /// Functions are no data: they can't be in pairs, arrays or branches.
    fn data_only(&mut self, ty: &Ty, span: Span, what: &str) {
        let data = self.solver.fresh(true, span, what);
        if self.solver.unify(&data, ty, span, ("", None)).is_err() {
            self.error(
                Diagnostic::error(Code("F0305"), format!("a function can't be part of {what}"), span, "here")
                    .help("functions are only arguments of primitives and definitions"),
            );
        }
    }

    fn let_value(
        &mut self,
        pattern: &Pattern,
        ty: Option<&crate::syntax::ast::Type>,
        value: &Expr,
    ) -> (Bind, Node) {
        let value = match ty {
            None => self.infer(value),
            Some(ty) => {
                let want = self.resolve(ty, true);
                self.check(value, &want, &Why::new("the type that is written here", Some(ty.span)))
            }
        };
        let ty = value.ty.clone();
        self.distinct(std::slice::from_ref(pattern));
        (self.bind(pattern, &ty), value)
    }

    /// No two variables of patterns that bind together have one name.
    fn distinct(&mut self, patterns: &[Pattern]) {
        fn names<'p>(patterns: &'p [Pattern], found: &mut Vec<&'p crate::syntax::ast::Ident>) {
            for pattern in patterns {
                match pattern {
                    Pattern::Ignore(_) => {}
                    Pattern::Name(ident) => found.push(ident),
                    Pattern::Tuple(parts, _) => names(parts, found),
                    Pattern::Record(fields, _) => {
                        for (_, part) in fields {
                            names(std::slice::from_ref(part), found);
                        }
                    }
                }
            }
        }
        let mut found = Vec::new();
        names(patterns, &mut found);
        let mut seen = std::collections::BTreeSet::new();
        for ident in found {
            if !seen.insert(&ident.name) {
                self.twice("variable", &ident.name, ident.span);
            }
        }
    }

    /// Binds the variables of a pattern.
    pub(super) fn bind(&mut self, pattern: &Pattern, ty: &Ty) -> Bind {
        match pattern {
            Pattern::Ignore(_) => Bind::Ignore,
            Pattern::Name(ident) => Bind::Local(self.declare(&ident.name, ty.clone(), ident.span)),
            Pattern::Tuple(parts, span) => {
                let (a, b) = match self.solver.shallow(ty) {
                    Ty::Pair(a, b) => ((*a).clone(), (*b).clone()),
                    other => {
                        let a = self.solver.fresh(true, *span, "this component");
                        let b = self.solver.fresh(true, *span, "this component");
                        let pair = Ty::pair(a.clone(), b.clone());
                        if self.solver.unify(&pair, &other, *span, ("", None)).is_err() {
                            self.error(Diagnostic::error(
                                Code("F0301"),
                                format!("a pair is needed here, found `{}`", self.shown(&other)),
                                *span,
                                "this pattern takes a pair apart",
                            ));
                        }
                        (a, b)
                    }
                };
                let first = self.bind(&parts[0], &a);
                let second = match &parts[1..] {
                    [last] => self.bind(last, &b),
                    rest => self.bind(&Pattern::Tuple(rest.to_vec(), *span), &b),
                };
                Bind::Pair(Box::new(first), Box::new(second))
            }
            Pattern::Record(fields, span) => self.bind_record(fields, ty, *span),
        }
    }

    pub(super) fn declare(&mut self, name: &Name, ty: Ty, span: Span) -> Local {
        let local = self.locals.len() as Local;
        let info =
            LocalInfo { name: name.clone(), ty, span, uses: 0, under_lambda: false, level: self.level };
        self.locals.push(info);
        self.scope.entry(name.clone()).or_default().push(local);
        local
    }

    pub(super) fn unbind(&mut self, patterns: &[Pattern]) {
        for pattern in patterns {
            match pattern {
                Pattern::Ignore(_) => {}
                Pattern::Name(ident) => {
                    self.scope.get_mut(&ident.name).and_then(Vec::pop);
                }
                Pattern::Tuple(parts, _) => self.unbind(parts),
                Pattern::Record(fields, _) => {
                    fields.iter().for_each(|(_, part)| self.unbind(std::slice::from_ref(part)));
                }
            }
        }
    }

    /// A long sum or product: operations on what came so far.
    fn chain(&mut self, first: &Expr, rest: &[(BinOp, Expr)], span: Span) -> Node {
        let mut so_far = self.infer(first);
        let (mut first, mut operations) = (None, Vec::new());
        for (op, b) in rest {
            let joined = self.binary(*op, so_far, b, span);
            let ty = joined.ty.clone();
            match joined.kind {
                NodeKind::Apply(_, operands) => {
                    let mut operands = operands.into_iter();
                    if let (Some(a), Some(b)) = (operands.next(), operands.next()) {
                        // Later left operands only stand for what came so far.
                        first.get_or_insert(a);
                        operations.push((op.prim(), b));
                    }
                    so_far = node(NodeKind::Error, ty, joined.span);
                }
                kind => so_far = node(kind, ty, joined.span),
            }
            if so_far.ty == Ty::Error {
                return so_far;
            }
        }
        match first {
            None => so_far,
            Some(first) => node(NodeKind::Chain(Box::new(first), operations), so_far.ty, span),
        }
    }

    fn binary(&mut self, op: BinOp, a: Node, b: &Expr, span: Span) -> Node {
        let ty = a.ty.clone();
        // Said once and at once: what is made of it would be wrong, too.
        if let Ty::Idx(_) = self.solver.shallow(&ty) {
            self.infer(b);
            self.class_error(Class::Num, &ty, a.span, &format!("`{}`", op.symbol()));
            return error_node(span);
        }
        let why = Why::new(format!("the other operand of `{}`", op.symbol()), Some(a.span));
        let b = self.check(b, &ty, &why);
        if let Some(size) = size_of_operands(op, &a, &b) {
            return node(NodeKind::Size(size), Ty::I64, span);
        }
        let compares = op.precedence() == BinOp::Eq.precedence();
        let class = match op {
            BinOp::Mod => Class::Int,
            _ if compares => Class::Plain,
            _ => Class::Num,
        };
        self.require(class, &ty, a.span, &format!("`{}`", op.symbol()));
        let result = if compares { Ty::BOOL } else { ty };
        prim_node(op.prim(), vec![a, b], result, span)
    }

    /// An application, or a pipeline: the head with all its arguments.
    fn call(&mut self, expr: &Expr) -> Node {
        let mut arguments: Vec<&Expr> = Vec::new();
        let mut head = expr;
        loop {
            match &head.kind {
                ExprKind::Apply(f, xs) => {
                    arguments.extend(xs.iter().rev());
                    head = f;
                }
                ExprKind::Pipe(x, f) => {
                    arguments.push(x);
                    head = f;
                }
                _ => break,
            }
        }
        arguments.reverse();
        let name = match &head.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        };
        let hidden = |n: &Name| self.is_bound(n) || self.env.failed.contains(n);
        let prim = name.filter(|n| !hidden(n)).and_then(|n| Prim::from_name(n));
        let defined = name.and_then(|n| self.defined(n, &arguments, head.span));
        let (function, taken) = match (defined, prim) {
            (Some(found), _) => found,
            (None, Some(prim)) => self.prim(prim, &arguments, head.span),
            (None, None) => (self.infer(head), 0),
        };
        let shown = name.map_or("this function".to_owned(), |n| format!("`{n}`"));
        let arguments = &arguments[taken..];
        if arguments.is_empty() {
            return Node { span: expr.span, ..function };
        }
        let mut wants = Vec::new();
        let mut result = function.ty.clone();
        for (k, argument) in arguments.iter().enumerate() {
            match self.solver.shallow(&result) {
                Ty::Fun(param, rest) => {
                    wants.push((*param).clone());
                    result = (*rest).clone();
                }
                unknown @ Ty::Meta(_) => {
                    let param = self.solver.fresh(false, argument.span, "this argument");
                    let rest = self.solver.fresh(false, expr.span, "the result of this call");
                    let want = Ty::fun(param.clone(), rest.clone());
                    if self.solver.unify(&unknown, &want, head.span, ("", None)).is_err() {
                        let message = format!("{shown} is applied, and is not a function");
                        self.error(Diagnostic::error(Code("F0303"), message, head.span, "not a function"));
                        return error_node(expr.span);
                    }
                    wants.push(param);
                    result = rest;
                }
                Ty::Error => {
                    for argument in &arguments[k..] {
                        self.infer(argument);
                    }
                    return error_node(expr.span);
                }
                other => {
                    let message = if k == 0 {
                        format!("{shown} is not a function")
                    } else {
                        format!("{shown} takes {k} argument{}", if k == 1 { "" } else { "s" })
                    };
                    let label = format!("applied to this, it is not a function but `{}`", self.shown(&other));
                    let mut diagnostic = Diagnostic::error(Code("F0303"), message, argument.span, label);
                    if prim.is_some() {
                        diagnostic = diagnostic.note(self.signature_note(name.expect("a primitive")));
                    }
                    self.error(diagnostic);
                    return error_node(expr.span);
                }
            }
        }
        // Functions come last: what the other arguments tell makes errors inside them clearer.
        let mut nodes: Vec<Option<Node>> = vec![None; arguments.len()];
        for lambdas in [false, true] {
            for (k, argument) in arguments.iter().enumerate() {
                if matches!(argument.kind, ExprKind::Lambda(..)) == lambdas {
                    let why = Why::new(format!("argument {} of {shown}", k + taken + 1), Some(head.span));
                    nodes[k] = Some(self.check(argument, &wants[k], &why));
                }
            }
        }
        let nodes = nodes.into_iter().map(|n| n.expect("each argument was checked")).collect();
        node(NodeKind::Apply(Box::new(function), nodes), result, expr.span)
    }
}

/// An operation on sizes and plain integers is a size itself: exact, and what types can speak of.
fn size_of_operands(op: BinOp, a: &Node, b: &Node) -> Option<Size> {
    let size = |n: &Node| match (&n.kind, &n.ty) {
        (NodeKind::Size(size), _) => Some(size.clone()),
        // A suffix makes a number of it.
        (NodeKind::Number(NumberValue::Int(v)), Ty::Meta(_)) => Some(Size::constant(i64::try_from(*v).ok()?)),
        _ => None,
    };
    if !matches!(a.kind, NodeKind::Size(_)) && !matches!(b.kind, NodeKind::Size(_)) {
        return None;
    }
    let (x, y) = (size(a)?, size(b)?);
    super::name_resolution::size_operation(op, x, y)
}
