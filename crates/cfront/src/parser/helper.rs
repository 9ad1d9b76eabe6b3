//! Calls of functions of the file as statements: the body of the function takes the place of the
//! call, behind variables for its parameters. What a function returns at its end is assigned to
//! what the call is assigned to (`y[k] = f(c, x[k]);`).
//!
//! Not here: functions that compute a value by expressions (`inline`).

use std::ops::Range;

use super::structures::object_of;
use super::{Parser, acts};
use crate::ast::{At, Binary, Declaration, Expr, ExprKind, Init, Stmt, StmtKind, mentions};
use crate::copies::last_return;
use crate::ctype::{CType, QType};
use crate::lexer::Tok;
use crate::namespaces::is_standard;
use crate::scope::{Object, Place, Symbol};

/// What waits to be assigned.
const RETURNED: &str = "returned_value";

/// The body of a function that returns nothing, or a value at its end.
#[derive(Clone, Debug)]
pub struct Helper {
    params: Vec<Declaration>,
    /// The token of its name.
    name: usize,
    /// Tokens between its braces.
    body: Range<usize>,
    /// The type of its value, and the token of its `return`.
    returned: Option<(QType, usize)>,
    /// Names in the body that are the file's.
    free: Vec<(String, Symbol)>,
}

/// Where a structure waits that a function returns.
struct Waiting {
    declared: Stmt,
    place: Expr,
    /// The assignment behind the function's statements.
    behind: Stmt,
}

impl Helper {
    /// Whether it returns something.
    pub(super) fn gives_value(&self) -> bool {
        self.returned.is_some()
    }
}

impl Parser<'_> {
    /// What calls of a function become, if its body is statements without a way out of them. The
    /// position is at the body, and does not change.
    pub fn helper(&self, name: (&str, usize), params: &[Declaration], result: &QType) -> Option<Helper> {
        let mut after = self.pos + 1;
        let mut open = 1;
        while open > 0 {
            match self.tok_at(after) {
                Tok::Punct("{") => open += 1,
                Tok::Punct("}") => open -= 1,
                Tok::End | Tok::Scop | Tok::Pragma => return None,
                _ => {}
            }
            after += 1;
        }
        let body = self.pos + 1..after - 1;
        let named = |p: &Declaration| {
            let taken = rank(&p.ty.ty).is_some() || !self.is_cpp() && self.known(&p.ty).is_some();
            taken && !p.name.is_empty() && p.at.first == p.at.last
        };
        let returned = match &result.ty {
            CType::Void => None,
            ty if rank(ty) == Some(0) || !self.is_cpp() && self.known(result).is_some() => {
                let at = last_return(self.source.text, &self.source.tokens[body.clone()])?;
                Some((QType::plain(ty.clone()), body.start + at))
            }
            _ => return None,
        };
        if !params.iter().all(named) {
            return None;
        }
        let words = || body.clone().map(|k| (k, self.word_at(k))).filter(|(_, word)| !word.is_empty());
        let last = returned.as_ref().map(|(_, at)| *at);
        let leaves = |(k, word): (usize, &str)| {
            matches!(word, "goto" | "static" | "extern" | "asm" | "__asm__")
                || (word == "return" && last != Some(k))
        };
        if words().any(|(k, word)| leaves((k, word)) || word == name.0) {
            return None;
        }
        // In C++, what a name stands for may follow from the place of the function, which its body
        // leaves.
        let chosen = |(k, word): (usize, &str)| self.is_at(k + 1, "(") && is_standard(word);
        if self.is_cpp() && (self.scopes.depth() > 1 || words().any(chosen)) {
            return None;
        }
        let member = |k: usize| matches!(self.tok_at(k - 1), Tok::Punct("." | "->"));
        let of_file = |(k, word): (usize, &str)| {
            let own = member(k) || params.iter().any(|p| p.name == word);
            let symbol = self.scopes.lookup(word).filter(|_| !own)?;
            Some((word.to_owned(), symbol.clone()))
        };
        let free = words().filter_map(of_file).collect();
        Some(Helper { params: params.to_vec(), name: name.1, body, returned, free })
    }

    /// The statements that a call stands for, if its function says so and its arguments do nothing:
    /// a call alone, or one whose value is assigned.
    pub(super) fn statements_of(&mut self, statement: &Expr) -> Option<StmtKind> {
        let (call, target) = match &statement.kind {
            ExprKind::Assign(op, target, call) if !acts(target) => (&**call, Some((*op, &**target))),
            _ => (statement, None),
        };
        let ExprKind::Call { function, args } = &call.kind else { return None };
        let Some(Symbol::Function(declared)) = self.scopes.lookup(function) else { return None };
        let helper = declared.helper.clone().filter(|h| h.params.len() == args.len())?;
        if helper.returned.is_some() != target.is_some() {
            return None;
        }
        // What an argument does happens once in a call; names of the file mean what they meant.
        let hidden = |(name, symbol): &(String, Symbol)| match (symbol, self.scopes.lookup(name)) {
            (Symbol::Object(then), Some(Symbol::Object(now))) => then.at != now.at,
            (then, Some(now)) => {
                std::mem::discriminant(then) != std::mem::discriminant(now) || !self.scopes.only_in_file(name)
            }
            (_, None) => true,
        };
        if args.iter().any(acts) || helper.free.iter().any(hidden) {
            return None;
        }
        let copy = self.source.copies.of_call(call.at.first as usize)?;
        let (pos, end, depth) = (self.pos, self.end, self.scopes.depth());
        let moved = copy.checked_sub(helper.name)?;
        let arrays = self.arrays_of(&helper, args)?;
        let around = std::mem::replace(&mut self.arrays, arrays);
        let block = self.deeper(|p| Ok(p.body_for(&helper, args, target, moved)));
        self.arrays = around;
        self.scopes.truncate(depth);
        (self.pos, self.end) = (pos, end);
        block.ok()?
    }

    /// A parameter is a variable whose initial value is the argument. Where an argument has the
    /// name of a parameter, all of them have other names first. The tokens of the function are
    /// those of its definition, moved by `moved`.
    fn body_for(
        &mut self,
        helper: &Helper,
        args: &[Expr],
        target: Option<(Option<Binary>, &Expr)>,
        moved: usize,
    ) -> Option<StmtKind> {
        let own: Vec<(&Declaration, Expr)> =
            helper.params.iter().zip(args.iter().cloned()).filter(|(p, _)| !is_array(p)).collect();
        let named = |name: &str| args.iter().any(|arg| mentions_object(arg, name));
        let twice = own.iter().any(|(p, _)| named(&p.name));
        let (params, mut values): (Vec<&Declaration>, Vec<Expr>) = own.into_iter().unzip();
        self.scopes.push();
        let of_structure = helper.returned.as_ref().is_some_and(|(ty, _)| self.known(ty).is_some());
        let waiting = match of_structure {
            true => Some(self.waiting(helper, target, self.since_one(helper.name + moved))?),
            false => None,
        };
        self.scopes.push();
        let mut outer: Vec<Stmt> = Vec::new();
        let mut inner: Vec<Stmt> = Vec::new();
        let token = |at: u32| At { first: at + moved as u32, last: at + moved as u32 };
        if twice {
            for (k, (p, value)) in params.iter().zip(&mut values).enumerate() {
                let argument = format!("argument_{k}");
                if named(&argument) {
                    return None;
                }
                // What stands before the name of the parameter: a token of its own.
                let at = token(p.at.first - 1);
                let renamed = Expr { kind: ExprKind::Ident(argument.clone()), at, height: 1 };
                let value = std::mem::replace(value, renamed);
                self.parameter(argument, p, (value, at), &mut outer)?;
            }
            self.scopes.push();
        }
        for (p, value) in params.into_iter().zip(values) {
            self.parameter(p.name.clone(), p, (value, token(p.at.first)), &mut inner)?;
        }
        let last = helper.returned.as_ref().map_or(helper.body.end, |(_, at)| *at);
        (self.pos, self.end) = (helper.body.start + moved, last + moved);
        self.scopes.push();
        let start = self.pos;
        let mut own = Vec::new();
        while self.tok() != Tok::End {
            self.statement_into(&mut own).ok()?;
        }
        let hides = |name: &str| own.iter().any(|stmt| declares(stmt, name));
        if self.arrays.iter().any(|(name, _)| hides(name)) {
            return None;
        }
        let behind = match target {
            Some(target) => self.returned(helper, target, (moved, waiting), &mut own)?,
            None => Vec::new(),
        };
        let at = self.since(start);
        inner.push(Stmt { kind: StmtKind::Block(super::guards::without_labels(own)), at });
        outer.push(Stmt { kind: StmtKind::Block(inner), at });
        if let [declared, set] = &behind[..] {
            outer.insert(0, declared.clone());
            outer.push(set.clone());
        }
        Some(StmtKind::Block(outer))
    }

    /// Assigns what a function returns, as the last of its statements. If the function has
    /// something else of a name in the target, the value waits outside of it: a declaration for
    /// before the statements, and an assignment for behind them.
    fn returned(
        &mut self,
        helper: &Helper,
        (op, target): (Option<Binary>, &Expr),
        (moved, waiting): (usize, Option<Waiting>),
        own: &mut Vec<Stmt>,
    ) -> Option<Vec<Stmt>> {
        let (ty, at) = helper.returned.as_ref()?;
        (self.pos, self.end) = (at + moved + 1, helper.body.end + moved);
        let value = self.expression().ok()?;
        if let Some(waiting) = waiting {
            let kind = self.members_of(&assignment(&waiting.place, &value))?;
            own.push(Stmt { kind, at: waiting.place.at });
            return Some(vec![waiting.declared, waiting.behind]);
        }
        let value = self.convert(ty, value)?;
        let here = self.since(at + moved);
        // What inner blocks declare is gone at the end.
        let last = |stmt: &Stmt, name: &str| match &stmt.kind {
            StmtKind::Declare(all) => all.iter().any(|d| object_of(&d.name) == name),
            _ => false,
        };
        let hidden = |name: &str| {
            let name = object_of(name);
            helper.params.iter().any(|p| p.name == name) || own.iter().any(|stmt| last(stmt, name))
        };
        if !names(target).into_iter().any(hidden) {
            let set = self.set(op, target.clone(), value, here)?;
            own.push(self.with_calls_before(set));
            return Some(Vec::new());
        }
        if names(target).contains(&RETURNED) {
            return None;
        }
        let place = |token: usize| {
            let kind = ExprKind::Ident(RETURNED.to_owned());
            Expr { kind, at: self.since_one(token + moved), height: 1 }
        };
        let waiting = self.set(op, target.clone(), place(helper.name), here)?;
        let (own_place, set_at) = (place(*at), self.since_one(helper.body.end + moved));
        let set = self.set(None, own_place, value, here)?;
        own.push(self.with_calls_before(set));
        let (is_static, is_extern, init) = (false, false, None);
        let at = set_at;
        let d = Declaration { name: RETURNED.to_owned(), ty: ty.clone(), init, is_static, is_extern, at };
        Some(vec![Stmt { kind: StmtKind::Declare(vec![d]), at: here }, waiting])
    }

    /// A variable in which the structure that a function returns waits, and its assignment to what
    /// the call is assigned to. Names in that are those around the call.
    fn waiting(
        &mut self,
        helper: &Helper,
        target: Option<(Option<Binary>, &Expr)>,
        at: At,
    ) -> Option<Waiting> {
        let (Some((None, target)), Some((ty, _))) = (target, &helper.returned) else { return None };
        self.known(ty)?;
        let named = |k: usize| if k == 0 { RETURNED.to_owned() } else { format!("{RETURNED}_{k}") };
        let used = |name: &str| helper.body.clone().any(|k| self.word_at(k) == name);
        let free = |name: &String| self.scopes.lookup(name).is_none() && !used(name);
        let name = (0..).map(named).find(free)?;
        let object = Object { place: Place::Local, ..Object::parameter(ty.clone(), at) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let (is_static, is_extern, init) = (false, false, None);
        let d = Declaration { name: name.clone(), ty: ty.clone(), init, is_static, is_extern, at };
        let [declared] = <[Stmt; 1]>::try_from(self.structures_declared(&[d], at)?).ok()?;
        let place = Expr { kind: ExprKind::Ident(name), at, height: 1 };
        let kind = self.members_of(&assignment(target, &place))?;
        Some(Waiting { declared, place, behind: Stmt { kind, at } })
    }

    /// A statement with the calls of functions with loops set before it.
    fn with_calls_before(&mut self, stmt: Stmt) -> Stmt {
        let StmtKind::Expr(e) = &stmt.kind else { return stmt };
        match self.hoisted(e) {
            Some(kind) => Stmt { kind, at: stmt.at },
            None => stmt,
        }
    }

    /// The statement `target op= value`.
    fn set(&self, op: Option<Binary>, target: Expr, value: Expr, at: At) -> Option<Stmt> {
        let height = value.height.max(target.height);
        let kind = ExprKind::Assign(op, Box::new(target), Box::new(value));
        let kind = StmtKind::Expr(self.node(kind, at, height).ok()?);
        Some(Stmt { kind, at })
    }

    /// The arrays of several dimensions that parameters stand for. `None` if an argument is no
    /// name, or if something in the function has that name as well.
    fn arrays_of(&self, helper: &Helper, args: &[Expr]) -> Option<Vec<(String, Expr)>> {
        let mut all = Vec::new();
        for (p, arg) in helper.params.iter().zip(args).filter(|(p, _)| is_array(p)) {
            let ExprKind::Ident(name) = &arg.kind else { return None };
            let word = |k: usize| (!self.is_member(k)).then(|| self.word_at(k));
            let used = |name: &str| helper.body.clone().filter(|k| word(*k) == Some(name)).count();
            let other = helper.params.iter().any(|q| q.name == *name && q.name != p.name);
            let Some(Symbol::Object(object)) = self.scopes.lookup(name) else { return None };
            let alike = self.same_rows(helper, &p.ty.ty, &object.ty.ty, true);
            if other || !alike || (p.name != *name && used(name) > 0) || self.sets(helper, &p.name) {
                return None;
            }
            all.push((p.name.clone(), arg.clone()));
        }
        Some(all)
    }

    /// Whether a parameter and the array that it is given have rows of one length. Where one is no
    /// constant, C says so.
    fn same_rows(&self, helper: &Helper, param: &CType, array: &CType, outermost: bool) -> bool {
        let varies = |e: &Expr| {
            let named = |name: &str| mentions(e, name);
            helper.params.iter().any(|p| named(&p.name)) || self.reads_object(e)
        };
        match (param, array) {
            (CType::Pointer { to: a, .. }, CType::Pointer { to: b, .. } | CType::Array { of: b, .. })
                if outermost =>
            {
                self.same_rows(helper, &a.ty, &b.ty, false)
            }
            (CType::Pointer { to: a, .. }, CType::Pointer { to: b, .. }) => {
                self.same_rows(helper, &a.ty, &b.ty, false)
            }
            (CType::Array { of: a, extent: Some(x) }, CType::Array { of: b, extent: Some(y) }) => {
                let same = match (self.constant(x), self.constant(y)) {
                    (Some(x), Some(y)) => x == y,
                    _ => varies(x) || varies(y),
                };
                same && self.same_rows(helper, &a.ty, &b.ty, false)
            }
            (CType::Int(a), CType::Int(b)) => a == b,
            (CType::Float, CType::Float) | (CType::Double, CType::Double) => true,
            _ => false,
        }
    }

    /// Whether an expression reads a variable.
    fn reads_object(&self, e: &Expr) -> bool {
        let own = match &e.kind {
            ExprKind::Ident(name) => matches!(self.scopes.lookup(name), Some(Symbol::Object(_))),
            _ => false,
        };
        own || crate::ast::parts(&e.kind).into_iter().any(|part| self.reads_object(part))
    }

    fn is_member(&self, k: usize) -> bool {
        matches!(self.tok_at(k - 1), Tok::Punct("." | "->"))
    }

    /// Whether a name is used in a function otherwise than with a subscript or as an argument: it
    /// may be set, or be that of something else.
    fn sets(&self, helper: &Helper, name: &str) -> bool {
        let plain = |k: usize| {
            let handed_on = matches!(self.tok_at(k - 1), Tok::Punct("(" | ","))
                && matches!(self.tok_at(k + 1), Tok::Punct(")" | ","));
            handed_on || self.is_at(k + 1, "[")
        };
        helper.body.clone().any(|k| self.word_at(k) == name && !self.is_member(k) && !plain(k))
    }

    /// Declares a parameter with the value of an argument.
    fn parameter(
        &mut self,
        name: String,
        of: &Declaration,
        (value, at): (Expr, At),
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let object = Object { place: Place::Local, ..Object::parameter(of.ty.clone(), at) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let declared = Declaration { name, init: Some(Init::Expr(value)), at, ..of.clone() };
        if self.known(&of.ty).is_some() {
            out.extend(self.structures_declared(&[declared], at)?);
            return Some(());
        }
        self.declared_into(Stmt { kind: StmtKind::Declare(vec![declared]), at }, out);
        Some(())
    }
}

fn assignment(target: &Expr, value: &Expr) -> Expr {
    let kind = ExprKind::Assign(None, Box::new(target.clone()), Box::new(value.clone()));
    Expr { kind, at: target.at, height: target.height.max(value.height) + 1 }
}

/// Whether an expression has a name of an object, or of a member of it.
fn mentions_object(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Ident(n) if object_of(n) == name)
        || crate::ast::parts(&e.kind).into_iter().any(|e| mentions_object(e, name))
}

/// The names in an expression.
fn names(e: &Expr) -> Vec<&str> {
    let mut all: Vec<&str> = crate::ast::parts(&e.kind).into_iter().flat_map(names).collect();
    if let ExprKind::Ident(name) = &e.kind {
        all.push(name);
    }
    all
}

/// Whether a statement declares a name.
fn declares(stmt: &Stmt, name: &str) -> bool {
    match &stmt.kind {
        StmtKind::Declare(all) => all.iter().any(|d| d.name == name),
        StmtKind::Block(body) => body.iter().any(|stmt| declares(stmt, name)),
        StmtKind::For(f) => {
            f.before.iter().chain(&f.init).chain([&f.body]).any(|stmt| declares(stmt, name))
                || f.others.iter().flat_map(|other| &other.declaration).any(|d| d.name == name)
        }
        StmtKind::If { then, otherwise, .. } => {
            declares(then, name) || otherwise.as_ref().is_some_and(|stmt| declares(stmt, name))
        }
        StmtKind::Pragma(_, Some(next)) => declares(next, name),
        _ => false,
    }
}

/// How many subscripts a parameter takes, if it is a number or points to numbers.
fn rank(ty: &CType) -> Option<usize> {
    match ty {
        CType::Int(_) | CType::Float | CType::Double => Some(0),
        CType::Pointer { to, .. } => Some(1 + rank(&to.ty)?),
        CType::Array { of, .. } => Some(1 + rank(&of.ty)?),
        _ => None,
    }
}

/// Whether a parameter is an array of several dimensions, or of pointers to rows.
fn is_array(p: &Declaration) -> bool {
    rank(&p.ty.ty).is_some_and(|rank| rank > 1)
}
