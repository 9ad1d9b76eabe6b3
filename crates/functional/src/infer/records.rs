//! Records: fields with names over nested pairs.
//!
//! `type point = {x y: f64}` names the pair `(f64, f64)`. Which record an expression is of follows
//! from the names of its fields; if several have them, from what is known of the type, or from the
//! type that is written: `(e : point).x`.

use loops::suggest::nearest;
use loops::{Code, Diagnostic, Name, Size, Span};

use super::Infer;
use super::expressions::{Why, error_node, prim_node};
use super::inferred_types::Ty;
use super::node::{Bind, Node, NodeKind};
use crate::prim::Prim;
use crate::syntax::ast::{Expr, ExprKind, Ident, Pattern, Type, TypeKind};

/// The record that an expression is of.
struct Found {
    name: Name,
    /// Whether it is the only one; others place the fields alike, with other types.
    alone: bool,
}

/// A record that no type has, or several.
const RECORD: Code = Code("F0207");

impl Infer<'_> {
    /// The pairs that a record stands for.
    pub(super) fn record_body(&mut self, fields: &[(Ident, Type)], holes: bool) -> Ty {
        self.distinct_fields(fields.iter().map(|(field, _)| field));
        let mut types: Vec<Ty> = fields.iter().map(|(_, ty)| self.resolve(ty, holes)).collect();
        let functions = types.iter().zip(fields).filter(|(ty, _)| matches!(ty, Ty::Fun(..)));
        for span in functions.map(|(_, (_, written))| written.span).collect::<Vec<_>>() {
            let message = "a record can't have functions as fields";
            self.error(Diagnostic::error(Code("F0305"), message, span, "a function"));
        }
        let Some(last) = types.pop() else { return Ty::Error };
        types.into_iter().rev().fold(last, |rest, first| Ty::pair(first, rest))
    }

    fn distinct_fields<'f>(&mut self, fields: impl Iterator<Item = &'f Ident>) {
        let mut seen = std::collections::BTreeSet::new();
        for field in fields {
            if !seen.insert(&field.name) {
                self.twice("field", &field.name, field.span);
            }
        }
    }

    /// The record that has these fields, and no other if `whole`. `known` is what is known of its
    /// type. Reports if there is none, or several that place the fields differently.
    fn record_of(&mut self, fields: &[&Ident], whole: bool, known: Option<&Ty>, span: Span) -> Option<Found> {
        let has = |own: &Vec<Name>| {
            fields.iter().all(|field| own.contains(&field.name)) && (!whole || own.len() == fields.len())
        };
        let records = &self.env.records;
        let mut found: Vec<&Name> = records.iter().filter(|(_, own)| has(own)).map(|(n, _)| n).collect();
        if let (Some(known), true) = (known, found.len() > 1) {
            let known = self.solver.zonk(known);
            found.retain(|name| alike(&known, &self.env.types[*name].1));
            if found.is_empty() {
                let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                let message = format!("`{}` is no record with {}", self.shown(&known), names.join(", "));
                self.error(Diagnostic::error(RECORD, message, span, "not a field of this type"));
                return None;
            }
        }
        let places = |name: &Name| -> Vec<(Option<usize>, usize)> {
            let own = &records[name];
            fields.iter().map(|f| (own.iter().position(|o| *o == f.name), own.len())).collect()
        };
        match &found[..] {
            [first, rest @ ..] if rest.iter().all(|other| places(other) == places(first)) => {
                return Some(Found { name: (*first).clone(), alone: rest.is_empty() });
            }
            [] => {}
            several => {
                let names: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
                let message = format!("several records have these fields: {}", names.join(", "));
                let help = format!("write the type: `(... : {})`", several[0]);
                self.error(Diagnostic::error(RECORD, message, span, "which one is not known").help(help));
                return None;
            }
        }
        self.no_record(fields, whole, span);
        None
    }

    fn no_record(&mut self, fields: &[&Ident], whole: bool, span: Span) {
        let records = &self.env.records;
        let unknown = fields.iter().find(|f| !records.values().any(|own| own.contains(&f.name)));
        let diagnostic = match unknown {
            Some(field) => {
                let message = format!("no record has a field `{}`", field.name);
                let diagnostic = Diagnostic::error(RECORD, message, field.span, "unknown field");
                match nearest(&field.name, records.values().flatten().map(Name::as_str)) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic
                        .help(format!("fields are declared by a type: `type t = {{{}: f64}}`", field.name)),
                }
            }
            None => {
                let shown = |own: &[Name]| own.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
                let of_first = |own: &&Vec<Name>| own.contains(&fields[0].name);
                let near = records.iter().find(|(_, own)| of_first(own));
                let message = match whole {
                    true => "no record has exactly these fields",
                    false => "no record has all of these fields",
                };
                let diagnostic = Diagnostic::error(RECORD, message, span, "here");
                match near {
                    Some((name, own)) => diagnostic.help(format!("`{name}` has {}", shown(own))),
                    None => diagnostic,
                }
            }
        };
        self.error(diagnostic);
    }

    /// The pairs that a record is, with sizes to be found, and the types of its fields.
    fn parts_of(&mut self, found: &Found, span: Span) -> (Ty, Vec<Ty>) {
        let name = &found.name;
        if !found.alone {
            let fields = self.env.records[name].clone();
            let mut field = |name: &Name| self.solver.fresh(true, span, format!("the field `{name}`"));
            let parts: Vec<Ty> = fields.iter().map(&mut field).collect();
            return (nested(&parts), parts);
        }
        let (params, body) = self.env.types[name].clone();
        let what = format!("a size of `{name}`");
        let sizes: Vec<Size> = params.iter().map(|_| self.solver.fresh_size(span, what.clone())).collect();
        let put = |n: &Name| params.iter().position(|p| p == n).map(|k| sizes[k].clone());
        let whole = body.rewrite(&mut |size| size.substitute(&put), &|_| None);
        let count = self.env.records[name].len();
        let (mut parts, mut rest) = (Vec::new(), whole.clone());
        while parts.len() + 1 < count {
            let Ty::Pair(first, second) = &rest else { break };
            parts.push((**first).clone());
            rest = (**second).clone();
        }
        parts.push(rest);
        (whole, parts)
    }

    /// `base.field`.
    pub(super) fn field(&mut self, base: &Expr, field: &Ident, span: Span) -> Node {
        let written = match &base.kind {
            ExprKind::Ascribe(_, Type { kind: TypeKind::Name(name, _), .. }) => Some(&name.name),
            _ => None,
        };
        let written = written.filter(|name| self.env.records.contains_key(*name)).cloned();
        let node = self.infer(base);
        if node.ty == Ty::Error {
            return error_node(span);
        }
        let known = node.ty.clone();
        let found = match written {
            Some(name) => Some(Found { name, alone: true }),
            None => self.record_of(&[field], false, Some(&known), field.span),
        };
        let Some(found) = found else { return error_node(span) };
        let name = &found.name;
        if !self.env.records[name].contains(&field.name) {
            self.no_field(name, field);
            return error_node(span);
        }
        let (whole, parts) = self.parts_of(&found, span);
        self.fit(&node, &whole, &Why::new(format!("a record `{name}`"), Some(field.span)));
        self.part(node, name, &field.name, &parts, span)
    }

    fn no_field(&mut self, name: &Name, field: &Ident) {
        let message = format!("the record `{name}` has no field `{}`", field.name);
        let own: Vec<&str> = self.env.records[name].iter().map(Name::as_str).collect();
        let help = format!("it has {}", own.join(", "));
        self.error(Diagnostic::error(RECORD, message, field.span, "unknown field").help(help));
    }

    /// The component that is this field.
    fn part(&self, record: Node, name: &Name, field: &Name, parts: &[Ty], span: Span) -> Node {
        let at = self.env.records[name].iter().position(|own| own == field).unwrap_or(0);
        let mut node = record;
        for k in 0..at {
            node = prim_node(Prim::Snd, vec![node], nested(&parts[k + 1..]), span);
        }
        match at + 1 < parts.len() {
            true => prim_node(Prim::Fst, vec![node], parts[at].clone(), span),
            false => node,
        }
    }

    /// `{x = a, y = b}`, or `{x = a, ..base}`.
    pub(super) fn record(
        &mut self,
        fields: &[(Ident, Expr)],
        base: Option<&Expr>,
        want: Option<&Ty>,
        span: Span,
    ) -> Node {
        self.distinct_fields(fields.iter().map(|(field, _)| field));
        let base = base.map(|base| self.infer(base));
        let known = base.as_ref().map(|node| node.ty.clone()).or_else(|| want.cloned());
        let named: Vec<&Ident> = fields.iter().map(|(field, _)| field).collect();
        let found = self.record_of(&named, base.is_none(), known.as_ref(), span);
        let Some(found) = found else {
            fields.iter().for_each(|(_, value)| {
                self.infer(value);
            });
            return error_node(span);
        };
        let name = found.name.clone();
        let (whole, parts) = self.parts_of(&found, span);
        // What the context knows of sizes helps the fields; that it fits is asked afterwards.
        if let Some(want) = want {
            let _ = self.solver.unify(want, &whole, span, ("", None));
        }
        let local = base.map(|node| {
            self.fit(&node, &whole, &Why::new(format!("a record `{name}`"), Some(span)));
            let local = self.declare(&Name::new("record"), node.ty.clone(), span);
            (local, node)
        });
        let own = self.env.records[&name].clone();
        let mut nodes = Vec::new();
        for (k, field) in own.iter().enumerate() {
            let given = fields.iter().find(|(name, _)| name.name == *field);
            nodes.push(match (given, &local) {
                (Some((at, value)), _) => {
                    let why = Why::new(format!("the field `{field}` of `{name}`"), Some(at.span));
                    // A field that does not fit was reported.
                    Node { ty: parts[k].clone(), ..self.check(value, &parts[k], &why) }
                }
                (None, Some((local, _))) => {
                    self.locals[*local as usize].uses += 1;
                    let record = Node { kind: NodeKind::Local(*local), ty: whole.clone(), span };
                    self.part(record, &name, field, &parts, span)
                }
                (None, None) => error_node(span),
            });
        }
        let last = nodes.pop().unwrap_or_else(|| error_node(span));
        let made = nodes.into_iter().rev().fold(last, |rest, first| self.pair(first, rest, span));
        let Some((local, value)) = local else { return made };
        self.scope.get_mut("record").and_then(Vec::pop);
        let ty = made.ty.clone();
        let kind = NodeKind::Let(Box::new(Bind::Local(local)), Box::new(value), Box::new(made));
        Node { kind, ty, span }
    }

    /// Binds the fields that a pattern names; the others are ignored.
    pub(super) fn bind_record(&mut self, fields: &[(Ident, Pattern)], ty: &Ty, span: Span) -> Bind {
        self.distinct_fields(fields.iter().map(|(field, _)| field));
        let named: Vec<&Ident> = fields.iter().map(|(field, _)| field).collect();
        let Some(record) = self.record_of(&named, false, Some(ty), span) else {
            for (_, part) in fields {
                self.bind(part, &Ty::Error);
            }
            return Bind::Ignore;
        };
        let (whole, _) = self.parts_of(&record, span);
        let found = Node { kind: NodeKind::Error, ty: whole, span };
        self.fit(&found, ty, &Why::new("what the pattern takes apart", None));
        let own = self.env.records[&record.name].clone();
        let part = |field: &Name| {
            let given = fields.iter().find(|(name, _)| name.name == *field);
            given.map_or(Pattern::Ignore(span), |(_, pattern)| pattern.clone())
        };
        let mut parts: Vec<Pattern> = own.iter().map(part).collect();
        match parts.len() {
            1 => self.bind(&parts.remove(0), ty),
            _ => self.bind(&Pattern::Tuple(parts, span), ty),
        }
    }
}

/// The pairs of these parts.
fn nested(parts: &[Ty]) -> Ty {
    let (last, front) = parts.split_last().expect("a record has fields");
    front.iter().rev().fold(last.clone(), |rest, first| Ty::pair(first.clone(), rest))
}

/// Whether a type of which something is known could be another, whatever the sizes.
fn alike(known: &Ty, other: &Ty) -> bool {
    match (known, other) {
        (Ty::Meta(_) | Ty::Error, _) | (_, Ty::Meta(_) | Ty::Error) => true,
        (Ty::Scalar(a), Ty::Scalar(b)) => a == b,
        (Ty::Param(a), Ty::Param(b)) => a == b,
        (Ty::Idx(_), Ty::Idx(_)) => true,
        (Ty::Array(_, a), Ty::Array(_, b)) | (Ty::Vector(_, a), Ty::Vector(_, b)) => alike(a, b),
        (Ty::Pair(a, b), Ty::Pair(c, d)) | (Ty::Fun(a, b), Ty::Fun(c, d)) => alike(a, c) && alike(b, d),
        _ => false,
    }
}
