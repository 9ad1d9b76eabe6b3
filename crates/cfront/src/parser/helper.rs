//! Calls of functions of the file that return nothing, as statements: the body of the function takes
//! the place of the call, behind variables for its parameters.
//!
//! Not here: functions that compute a value (`inline`).

use std::ops::Range;

use super::{Parser, acts};
use crate::ast::{At, Declaration, Expr, ExprKind, Init, Stmt, StmtKind, mentions};
use crate::ctype::{CType, QType};
use crate::lexer::Tok;
use crate::scope::{Object, Place, Symbol};

/// The body of a function that returns nothing.
#[derive(Clone, Debug)]
pub struct Helper {
    params: Vec<Declaration>,
    /// The token of its name.
    name: usize,
    /// Tokens between its braces.
    body: Range<usize>,
    /// Names in the body that are the file's.
    free: Vec<(String, Symbol)>,
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
        let number = |ty: &CType| matches!(ty, CType::Int(_) | CType::Float | CType::Double);
        let named = |p: &Declaration| {
            let taken = match &p.ty.ty {
                CType::Pointer { to, .. } => number(&to.ty),
                other => number(other),
            };
            taken && !p.name.is_empty() && p.at.first == p.at.last
        };
        if !matches!(result.ty, CType::Void) || !params.iter().all(named) {
            return None;
        }
        let words = || body.clone().map(|k| (k, self.word_at(k))).filter(|(_, word)| !word.is_empty());
        let leaves = |word: &str| matches!(word, "return" | "goto" | "static" | "extern" | "asm" | "__asm__");
        if words().any(|(_, word)| leaves(word) || word == name.0) {
            return None;
        }
        let member = |k: usize| matches!(self.tok_at(k - 1), Tok::Punct("." | "->"));
        let of_file = |(k, word): (usize, &str)| {
            let own = member(k) || params.iter().any(|p| p.name == word);
            let symbol = self.scopes.lookup(word).filter(|_| !own)?;
            Some((word.to_owned(), symbol.clone()))
        };
        let free = words().filter_map(of_file).collect();
        Some(Helper { params: params.to_vec(), name: name.1, body, free })
    }

    /// The statements that a call stands for, if its function says so and its arguments do nothing.
    pub(super) fn statements_of(&mut self, call: &Expr) -> Option<StmtKind> {
        let ExprKind::Call { function, args } = &call.kind else { return None };
        let Some(Symbol::Function(declared)) = self.scopes.lookup(function) else { return None };
        let helper = declared.helper.clone().filter(|h| h.params.len() == args.len())?;
        // What an argument does happens once in a call; names of the file mean what they meant.
        let hidden = |(name, symbol): &(String, Symbol)| match (symbol, self.scopes.lookup(name)) {
            (Symbol::Object(then), Some(Symbol::Object(now))) => then.at != now.at,
            (then, Some(now)) => std::mem::discriminant(then) != std::mem::discriminant(now),
            (_, None) => true,
        };
        if args.iter().any(acts) || helper.free.iter().any(hidden) {
            return None;
        }
        let copy = self.source.copies.of_call(call.at.first as usize)?;
        let (pos, end, depth) = (self.pos, self.end, self.scopes.depth());
        let moved = copy.checked_sub(helper.name)?;
        let block = self.deeper(|p| Ok(p.body_for(&helper, args, moved)));
        self.scopes.truncate(depth);
        (self.pos, self.end) = (pos, end);
        block.ok()?
    }

    /// A parameter is a variable whose initial value is the argument. Where an argument has the
    /// name of a parameter, all of them have other names first. The tokens of the function are those
    /// of its definition, moved by `moved`.
    fn body_for(&mut self, helper: &Helper, args: &[Expr], moved: usize) -> Option<StmtKind> {
        let named = |name: &str| args.iter().any(|arg| mentions(arg, name));
        let twice = helper.params.iter().any(|p| named(&p.name));
        self.scopes.push();
        let mut outer: Vec<Stmt> = Vec::new();
        let mut inner: Vec<Stmt> = Vec::new();
        let mut values = args.to_vec();
        let token = |at: u32| At { first: at + moved as u32, last: at + moved as u32 };
        if twice {
            for (k, (p, value)) in helper.params.iter().zip(&mut values).enumerate() {
                let argument = format!("argument_{k}");
                if named(&argument) {
                    return None;
                }
                // What stands before the name of the parameter: a token of its own.
                let at = token(p.at.first - 1);
                let renamed = Expr { kind: ExprKind::Ident(argument.clone()), at, height: 1 };
                outer.push(self.parameter(argument, p, std::mem::replace(value, renamed), at));
            }
            self.scopes.push();
        }
        for (p, value) in helper.params.iter().zip(values) {
            inner.push(self.parameter(p.name.clone(), p, value, token(p.at.first)));
        }
        (self.pos, self.end) = (helper.body.start + moved, helper.body.end + moved);
        self.scopes.push();
        let start = self.pos;
        let mut own = Vec::new();
        while self.tok() != Tok::End {
            own.push(self.statement().ok()?);
        }
        let at = self.since(start);
        inner.push(Stmt { kind: StmtKind::Block(super::guards::without_labels(own)), at });
        outer.push(Stmt { kind: StmtKind::Block(inner), at });
        Some(StmtKind::Block(outer))
    }

    fn parameter(&mut self, name: String, of: &Declaration, value: Expr, at: At) -> Stmt {
        let object = Object { place: Place::Local, ..Object::parameter(of.ty.clone(), at) };
        self.scopes.declare(name.clone(), Symbol::Object(object));
        let declared = Declaration { name, init: Some(Init::Expr(value)), at, ..of.clone() };
        Stmt { kind: StmtKind::Declare(vec![declared]), at }
    }
}
