//! Which rows of a buffer a statement works on: what its subscripts come to in the loops around them.

use super::form::Form;
use super::read::{Node, Term};
use super::state::{State, Value};

/// First index, and what is behind the last.
pub(super) type Rows = (Form, Form);

/// The rows of a buffer that a statement works on, or the elements where it has one dimension; none where a subscript is not understood.
pub(super) fn rows(state: &State, node: &Node, buffer: &str) -> Option<Vec<Rows>> {
    let mut look = Look { state: state.clone(), loops: Vec::new(), buffer, found: Vec::new() };
    look.state.open();
    look.node(node)?;
    Some(look.found)
}

struct Look<'n> {
    state: State,
    /// Symbols of loops with their first and last values.
    loops: Vec<(String, Rows)>,
    buffer: &'n str,
    found: Vec<Rows>,
}

impl<'n> Look<'n> {
    fn node(&mut self, node: &'n Node) -> Option<()> {
        match node {
            Node::Block(body) => {
                self.state.open();
                let result = body.iter().try_for_each(|n| self.node(n));
                self.state.close();
                result
            }
            Node::If(cond, then, otherwise) => {
                self.term(cond)?;
                self.node(then)?;
                otherwise.iter().try_for_each(|n| self.node(n))
            }
            Node::While(..) => None,
            Node::For { init, cond: Some(cond), step, body } => {
                self.state.open();
                let result = self.repeat(init, cond, step, body);
                self.state.close();
                result
            }
            Node::For { .. } => None,
            Node::Declare { name, value, .. } => {
                let Some(value) = value else { return Some(()) };
                self.term(value)?;
                let form = self.state.form(value);
                self.state.declare(name, Value::Number(form));
                Some(())
            }
            Node::Do(term) => self.term(term),
        }
    }

    /// A loop that counts up from a declared value, or goes on with a variable from where it is: then from its declared value, which is not above that.
    fn repeat(&mut self, init: &'n [Node], cond: &Term, step: &'n [Term], body: &'n Node) -> Option<()> {
        let Term::Binary(op, left, end) = cond else { return None };
        let (var, ahead) = match &**left {
            Term::Name(var) => (var, 0),
            Term::Binary(op, var, ahead) if op == "+" => match (&**var, &**ahead) {
                (Term::Name(var), Term::Int(ahead)) => (var, *ahead),
                _ => return None,
            },
            _ => return None,
        };
        let by = match step {
            [Term::Unary(op, target)] if op == "++" && **target == Term::Name(var.clone()) => 1,
            [Term::Binary(op, target, by)] if op == "+=" && **target == Term::Name(var.clone()) => match **by
            {
                Term::Int(by) => by,
                _ => return None,
            },
            _ => return None,
        };
        if op != "<" || by != ahead + 1 {
            return None;
        }
        let first = match init {
            [] => self.state.number(var)?,
            [Node::Declare { name, value: Some(value), .. }] if name == var => {
                self.term(value)?;
                self.state.form(value)
            }
            _ => return None,
        };
        let end = self.state.form(end);
        let symbol = format!("{var} {} around", self.loops.len());
        self.state.open();
        self.state.declare(var, Value::Number(Form::symbol(&symbol)));
        self.loops.push((symbol, (first, end)));
        let result = self.node(body);
        self.loops.pop();
        self.state.close();
        result
    }

    fn term(&mut self, term: &Term) -> Option<()> {
        match term {
            Term::Int(_) | Term::Literal | Term::Name(_) => Some(()),
            Term::Unary(_, a) | Term::Member(a) => self.term(a),
            Term::Binary(op, a, b) => {
                // A variable that is set has no known values.
                if super::compute::assigns(op)
                    && let Term::Name(name) = &**a
                    && self.state.number(name).is_some()
                {
                    return None;
                }
                self.term(a)?;
                self.term(b)
            }
            Term::Ternary(a, b, c) => [a, b, c].into_iter().try_for_each(|t| self.term(t)),
            Term::Call(_, arguments) => {
                if arguments.iter().any(|a| matches!(a, Term::Name(name) if name == self.buffer)) {
                    return None;
                }
                arguments.iter().try_for_each(|a| self.term(a))
            }
            Term::Index(array, index) => {
                self.term(index)?;
                match &**array {
                    Term::Name(name) if name == self.buffer => self.access(index),
                    Term::Name(_) => Some(()),
                    other => self.term(other),
                }
            }
        }
    }

    fn access(&mut self, index: &Term) -> Option<()> {
        let row = match index {
            Term::Binary(op, row, _) if op == "+" => match &**row {
                Term::Binary(op, row, _) if op == "*" => row,
                _ => index,
            },
            index => index,
        };
        let row = self.state.form(row);
        let mut own = self.loops.iter().filter(|(symbol, _)| row.mentions(symbol));
        let found = match (own.next(), own.next()) {
            (None, _) => (row.clone(), row.plus(&Form::int(1))),
            (Some((symbol, (first, end))), None) if row.by(symbol) == Form::int(1) => {
                (row.put(symbol, first), row.put(symbol, end))
            }
            _ => return None,
        };
        if !self.found.contains(&found) {
            self.found.push(found);
        }
        Some(())
    }
}
