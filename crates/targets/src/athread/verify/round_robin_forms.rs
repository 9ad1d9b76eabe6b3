//! The forms in which shares that are prefetched several steps ahead are written.

use super::read::{Node, Term};
use super::stationary_check;
use super::transfer::{Transfer, name};
use super::walk::CORE;

/// Two transfers of which one is done: in the same loop, or for the next iteration of the loop
/// around it.
pub(super) struct Next<'a> {
    pub here: (&'a Term, &'a Term),
    pub beyond: (&'a Term, &'a Term),
}

fn only(node: &Node) -> Option<&Node> {
    match node {
        Node::Block(body) => match body.as_slice() {
            [one] => Some(one),
            _ => None,
        },
        other => Some(other),
    }
}

impl<'a> Next<'a> {
    pub fn of(node: &'a Node) -> Option<Next<'a>> {
        let one = |node: &'a Node| match only(node)? {
            Node::Do(term) => Some(term),
            _ => None,
        };
        let Node::If(cond, then, Some(otherwise)) = node else { return None };
        let Node::If(more, last, None) = only(otherwise)? else { return None };
        Some(Next { here: (cond, one(then)?), beyond: (more, one(last)?) })
    }
}

/// The rule in a place among cores, and the step.
pub(super) fn rule(place: &Term) -> Option<(&str, &Term)> {
    match place {
        Term::Call(rule, arguments) if rule.starts_with("HELD_CORE_") => match arguments.as_slice() {
            [Term::Name(core), step] if core == CORE => Some((rule, step)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn transfer(term: &Term) -> Option<Transfer<'_>> {
    let Term::Binary(op, sent, call) = term else { return None };
    let Term::Call(function, arguments) = &**call else { return None };
    let transfer = Transfer::of(function, arguments, Vec::new())?;
    (op == "+=" && name(sent)? == format!("{}_sent", transfer.tag)).then_some(transfer)
}

/// The reply that a statement waits for.
pub(super) fn waits(node: &Node) -> Option<&str> {
    let Node::Do(Term::Call(function, arguments)) = only(node)? else { return None };
    match arguments.as_slice() {
        [tag, count] if function == "WAIT" && name(count)? == format!("{}_sent", name(tag)?) => name(tag),
        _ => None,
    }
}

/// What a place in local memory begins with.
pub(super) fn root(term: &Term) -> Option<&str> {
    match term {
        Term::Binary(op, a, _) if op == "+" => root(a),
        other => name(other),
    }
}

/// The loop that brings in what the first steps need.
pub(super) struct First<'a> {
    pub var: &'a str,
    pub steps: (&'a Term, i64),
    pub transfer: &'a Term,
}

/// A loop over the first steps.
pub(super) fn first(node: &Node) -> Option<First<'_>> {
    let Node::For { init, cond: Some(Term::Binary(less, count, end)), step, body } = node else {
        return None;
    };
    let ([Node::Declare { name: var, value: Some(Term::Int(0)), .. }], [Term::Unary(op, _)]) =
        (init.as_slice(), step.as_slice())
    else {
        return None;
    };
    let (Node::Do(one), Term::Call(least, of)) = (only(body)?, &**end) else { return None };
    let (None, Some((_, place))) = (stationary_check::inside(transfer(one)?.local), transfer(one)?.share)
    else {
        return None;
    };
    rule(place)?;
    let [Term::Int(turns), all] = of.as_slice() else { return None };
    let counted = less == "<" && op == "++" && least == "LOZENGE_MIN" && name(count)? == var;
    counted.then_some(First { var, steps: (all, *turns), transfer: one })
}

/// What is done in a step with shares that come ahead, if it is no exchange.
pub(super) enum Part<'a> {
    /// Of cores that take turns, some wait.
    Wait { place: &'a Term, below: i64, tag: &'a str },
    /// They bring in what they need next.
    Next { stage: &'a str, next: Next<'a> },
    /// Of several boxes the first is used.
    Boxes { stage: &'a str, cond: &'a Term, body: &'a [Node] },
}

/// Whether a condition is about shares that come ahead.
pub(super) fn part(node: &Node) -> Option<Part<'_>> {
    let Node::If(cond, then, otherwise) = node else { return None };
    if let (Term::Binary(op, place, below), None) = (cond, otherwise)
        && let (Some(_), Term::Int(below), "<") = (rule(place), &**below, op.as_str())
    {
        return Some(Part::Wait { place, below: *below, tag: waits(then)? });
    }
    if let Some(next) = Next::of(node) {
        let own = transfer(next.here.1)?;
        rule(own.share?.1)?;
        return Some(Part::Next { stage: name(own.local)?, next });
    }
    let Node::Block(body) = &**then else { return None };
    let [Node::Do(Term::Binary(op, half, value)), ..] = body.as_slice() else { return None };
    let half = name(half)?;
    let turned = matches!(&**value, Term::Binary(op, one, own) if op == "-" && **one == Term::Int(1) && name(own) == Some(half));
    let stage = half.strip_suffix("_half")?;
    (op == "=" && turned && otherwise.is_none() && stage.starts_with("share_of_")).then_some(Part::Boxes {
        stage,
        cond,
        body,
    })
}

/// Arrays with a subscript that are no names.
pub(super) fn indexed<'n>(node: &'n Node, found: &mut Vec<&'n Term>) {
    match node {
        Node::Block(body) => body.iter().for_each(|n| indexed(n, found)),
        Node::If(cond, then, otherwise) => {
            places(cond, found);
            indexed(then, found);
            otherwise.iter().for_each(|n| indexed(n, found));
        }
        Node::While(cond, body) => {
            places(cond, found);
            indexed(body, found);
        }
        Node::For { init, cond, step, body } => {
            init.iter().for_each(|n| indexed(n, found));
            cond.iter().chain(step).for_each(|t| places(t, found));
            indexed(body, found);
        }
        Node::Declare { value, .. } => value.iter().for_each(|t| places(t, found)),
        Node::Do(term) => places(term, found),
    }
}

fn places<'n>(term: &'n Term, found: &mut Vec<&'n Term>) {
    match term {
        Term::Int(_) | Term::Literal | Term::Name(_) => {}
        Term::Unary(_, a) | Term::Member(a) => places(a, found),
        Term::Binary(_, a, b) => [a, b].into_iter().for_each(|t| places(t, found)),
        Term::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|t| places(t, found)),
        Term::Call(_, arguments) => arguments.iter().for_each(|t| places(t, found)),
        Term::Index(array, index) => {
            if name(array).is_none() {
                found.push(array);
            }
            places(index, found);
        }
    }
}
