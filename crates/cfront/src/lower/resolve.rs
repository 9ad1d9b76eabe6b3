//! Which object each identifier of a region stands for, and how the region uses it.

use std::collections::BTreeMap;

use crate::ast::{At, Declaration, Expr, ExprKind, Init, Other, Stmt, StmtKind};
use crate::ctype::{CType, IntType, Known, QType};
use crate::scope::{Place, Scopes, Symbol};

/// An object of the region, declared before it or in it.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    /// How C computes it in 64 bits, if it is no variable but a product of such.
    pub product: Option<String>,
    pub ty: QType,
    /// Where it is declared; `None`: in the region.
    pub place: Option<Place>,
    pub fresh: bool,
    /// Each thread has its own.
    pub per_thread: bool,
    /// A member of what a pointer points to: whether that pointer is declared `restrict`, or was
    /// just allocated.
    pub through: Option<bool>,
    /// The declared name.
    pub declared: At,
    /// Initialised where it is declared (in the region).
    pub initialised: bool,
    /// Where it is assigned other than in the header of a loop over it.
    pub assigned: Vec<At>,
    /// Where it is assigned itself, and not an element of it.
    pub moved: Vec<At>,
    /// Where it is the variable of a loop.
    pub loops: Vec<At>,
    /// How often it is mentioned.
    pub mentions: usize,
}

/// What an identifier stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Object(usize),
    Constant(Known),
    /// Not declared, or not as an object.
    Unknown,
}

/// The objects of a region, and the meaning of each identifier by its token.
#[derive(Clone, Default)]
pub(crate) struct Resolution {
    pub objects: Vec<Object>,
    pub meanings: BTreeMap<u32, Meaning>,
    /// Objects declared in the region, by the token of their name.
    pub declared: BTreeMap<u32, usize>,
    /// What the reductions of pragmas name, by the token of the pragma.
    pub reductions: BTreeMap<u32, Vec<Meaning>>,
}

struct Resolver<'a> {
    outer: &'a Scopes,
    outer_objects: BTreeMap<String, usize>,
    scopes: Vec<BTreeMap<String, Meaning>>,
    /// Within the type of an outer object: only names declared before this token count, and no
    /// names of the region.
    outside: Option<u32>,
    out: Resolution,
}

/// Resolves the identifiers of a region.
pub fn resolve(body: &[Stmt], outer: &Scopes) -> Resolution {
    let mut resolver = Resolver {
        outer,
        outer_objects: BTreeMap::new(),
        scopes: vec![BTreeMap::new()],
        outside: None,
        out: Resolution::default(),
    };
    resolver.statements(body);
    resolver.out
}

impl Resolver<'_> {
    fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        f(self);
        self.scopes.pop();
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Declare(declarations) => declarations.iter().for_each(|d| self.declare(d)),
            StmtKind::Block(body) => self.scoped(|r| r.statements(body)),
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.scoped(|r| r.statement(then));
                if let Some(otherwise) = otherwise {
                    self.scoped(|r| r.statement(otherwise));
                }
            }
            StmtKind::For(f) => self.scoped(|r| {
                r.statements(&f.before);
                match f.init.as_ref().map(|s| &s.kind) {
                    Some(StmtKind::Declare(declarations)) => declarations.iter().for_each(|d| r.declare(d)),
                    Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })) => {
                        r.expr(target);
                        r.expr(value);
                    }
                    Some(StmtKind::Expr(e)) => r.expr(e),
                    _ => {}
                }
                f.others.iter().for_each(|other| r.counted_along(other, stmt.at));
                if let Some(cond) = &f.cond {
                    r.expr(cond);
                }
                // The variable is what the header counts; an assignment to anything else counts as
                // one.
                let counted = f.step.as_ref().and_then(counted);
                if let Some(step) = &f.step {
                    match &step.kind {
                        ExprKind::Step(_, target) => r.expr(target),
                        ExprKind::Assign(_, target, value) => {
                            r.expr(target);
                            r.expr(value);
                        }
                        _ => r.expr(step),
                    }
                }
                if let Some(at) = counted
                    && let Some(Meaning::Object(k)) = r.out.meanings.get(&at.first).copied()
                {
                    r.out.objects[k].loops.push(stmt.at);
                }
                if let Some(Stmt {
                    kind: StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, _), .. }),
                    ..
                }) = &f.init
                {
                    // A header that counts nothing is refused anyway.
                    let same = match (counted, r.object_of(target)) {
                        (Some(at), Some(k)) => r.out.meanings.get(&at.first) == Some(&Meaning::Object(k)),
                        (None, _) => true,
                        _ => false,
                    };
                    if !same {
                        r.assigned(target);
                    }
                }
                r.scoped(|r| r.statement(&f.body));
            }),
            StmtKind::Pragma(texts, next) => {
                for (text, at) in texts {
                    let named = super::reduction::declared(text).unwrap_or_default();
                    let meanings = named.iter().map(|(_, name)| self.named(name)).collect();
                    self.out.reductions.insert(at.first, meanings);
                }
                next.iter().for_each(|next| self.statement(next));
            }
            StmtKind::Empty | StmtKind::Jump(_) | StmtKind::Label(_) | StmtKind::Unsupported(_) => {}
        }
    }

    /// A further variable of a loop's header.
    fn counted_along(&mut self, other: &Other, at: At) {
        match &other.declaration {
            Some(declaration) => self.declare(declaration),
            None => self.expr(&other.first),
        }
        match &other.step.kind {
            ExprKind::Assign(_, target, value) => {
                self.expr(target);
                self.expr(value);
            }
            _ => self.expr(&other.variable),
        }
        if let Meaning::Object(k) = self.named_by(&other.variable) {
            self.out.objects[k].loops.push(at);
        }
    }

    fn named_by(&self, e: &Expr) -> Meaning {
        self.out.meanings.get(&ident_token(e)).copied().unwrap_or(Meaning::Unknown)
    }

    /// What a name stands for here.
    fn named(&mut self, name: &str) -> Meaning {
        match self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied() {
            Some(meaning) => meaning,
            None => self.outer_meaning(name),
        }
    }

    fn declare(&mut self, d: &Declaration) {
        if let Some(init) = &d.init {
            self.init(init);
        }
        self.type_extents(&d.ty);
        let constant = match (&d.ty, &d.init) {
            (QType { ty: CType::Int(int), constant: true, .. }, Some(Init::Expr(e))) => {
                constant_value(e).and_then(|value| Known::object(value, *int))
            }
            _ => None,
        };
        let meaning = match constant {
            Some(value) => Meaning::Constant(value),
            None => {
                self.out.objects.push(Object {
                    name: d.name.clone(),
                    ty: d.ty.clone(),
                    product: None,
                    place: None,
                    fresh: false,
                    per_thread: false,
                    through: None,
                    declared: d.at,
                    initialised: d.init.is_some(),
                    assigned: Vec::new(),
                    moved: Vec::new(),
                    loops: Vec::new(),
                    mentions: 0,
                });
                let k = self.out.objects.len() - 1;
                self.out.declared.insert(d.at.first, k);
                Meaning::Object(k)
            }
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(d.name.clone(), meaning);
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List(items) => items.iter().for_each(|i| self.init(i)),
            Init::Unsupported(_) => {}
        }
    }

    /// Names in the extents of a type declared in the region.
    fn type_extents(&mut self, ty: &QType) {
        match &ty.ty {
            CType::Array { of, extent } | CType::Pointer { to: of, extent, .. } => {
                if let Some(extent) = extent {
                    self.expr(extent);
                }
                self.type_extents(of);
            }
            _ => {}
        }
    }

    fn object_of(&self, target: &Expr) -> Option<usize> {
        match &target.kind {
            ExprKind::Ident(_) => match self.out.meanings.get(&ident_token(target)) {
                Some(Meaning::Object(k)) => Some(*k),
                _ => None,
            },
            ExprKind::Index(base, _) => self.object_of(base),
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => self.object_of(inner),
            _ => None,
        }
    }

    fn assigned(&mut self, target: &Expr) {
        if let Some(k) = self.object_of(target) {
            self.out.objects[k].assigned.push(target.at);
            if matches!(target.kind, ExprKind::Ident(_)) {
                self.out.objects[k].moved.push(target.at);
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Ident(name) => self.identifier(name, ident_token(e)),
            ExprKind::Int(..) | ExprKind::Float { .. } | ExprKind::Unsupported(_) => {}
            ExprKind::Call { args, .. } | ExprKind::Comma(args) => args.iter().for_each(|a| self.expr(a)),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.expr(a),
            ExprKind::Assign(_, target, value) => {
                self.expr(target);
                self.expr(value);
                self.assigned(target);
            }
            ExprKind::Step(_, target) => {
                self.expr(target);
                self.assigned(target);
            }
            ExprKind::Conditional(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
        }
    }

    fn identifier(&mut self, name: &str, token: u32) {
        let inner = match self.outside {
            Some(_) => None,
            None => self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied(),
        };
        let meaning = match inner {
            Some(meaning) => meaning,
            None => self.outer_meaning(name),
        };
        if let Meaning::Object(k) = meaning {
            self.out.objects[k].mentions += 1;
        }
        self.out.meanings.insert(token, meaning);
    }

    fn outer_meaning(&mut self, name: &str) -> Meaning {
        if let Some(k) = self.outer_objects.get(name) {
            let declared = self.out.objects[*k].declared.first;
            let later = self.outside.is_some_and(|limit| declared >= limit);
            return if later { Meaning::Unknown } else { Meaning::Object(*k) };
        }
        match self.outer.lookup(name) {
            Some(Symbol::Object(object)) if self.outside.is_some_and(|limit| object.at.first >= limit) => {
                Meaning::Unknown
            }
            Some(Symbol::Constant(Some(value))) => Meaning::Constant(*value),
            Some(Symbol::Object(object)) => {
                self.out.objects.push(Object {
                    name: name.to_string(),
                    ty: object.ty.clone(),
                    product: None,
                    place: Some(object.place),
                    fresh: object.fresh,
                    per_thread: object.per_thread,
                    through: object.through,
                    declared: object.at,
                    initialised: true,
                    assigned: Vec::new(),
                    moved: Vec::new(),
                    loops: Vec::new(),
                    mentions: 0,
                });
                let k = self.out.objects.len() - 1;
                self.outer_objects.insert(name.to_string(), k);
                // The names in its extents are objects of the region as well; their tokens are
                // outside of it.
                let outside = self.outside.replace(object.at.first);
                self.type_extents(&object.ty);
                self.outside = outside;
                Meaning::Object(k)
            }
            _ => Meaning::Unknown,
        }
    }
}

/// The token of an identifier: the first of its expression that is no parenthesis.
///
/// Parentheses widen an expression's range, equally on both sides.
pub(crate) fn ident_token(e: &Expr) -> u32 {
    e.at.first + (e.at.last - e.at.first) / 2
}

/// The variable that a loop's step counts.
fn counted(step: &Expr) -> Option<At> {
    let target = match &step.kind {
        ExprKind::Step(_, target) | ExprKind::Assign(_, target, _) => target,
        _ => return None,
    };
    matches!(target.kind, ExprKind::Ident(_)).then(|| {
        let token = ident_token(target);
        At { first: token, last: token }
    })
}

fn constant_value(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(value, IntType::Int | IntType::Long | IntType::LongLong) => i64::try_from(*value).ok(),
        _ => None,
    }
}
