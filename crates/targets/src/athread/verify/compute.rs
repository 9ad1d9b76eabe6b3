//! Code without transfers: which buffers it reads and writes, in the order of the text.

use super::read::{Node, Term};

/// A use of a name with a subscript.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Use {
    Read(String),
    Write(String),
    /// A name that is given to a function: of a buffer, if it is one.
    Given(String),
    /// A buffer that is declared here, with the expression of its place.
    Declare(String, Term),
}

/// Names of functions that move data or wait.
const CONTROL: [&str; 28] = [
    "get_box",
    "put_box",
    "get_share_along_row",
    "get_share_along_column",
    "get_share_among_all",
    "get_share_by_itself",
    "share_along_row",
    "share_along_column",
    "share_among_all",
    "share_by_itself",
    "share_pieces_along_row",
    "share_pieces_along_column",
    "share_pieces_among_all",
    "share_pieces_by_itself",
    "exchange_panel",
    "gather_panel",
    "take_columns",
    "send_columns",
    "spread_columns",
    "keep_columns",
    "first_rows",
    "turn_rows",
    "cast_box",
    "WAIT",
    "MEET",
    "BARRIER",
    "dma_wait",
    "athread_syn",
];

/// Whether a statement only computes: no transfers, and no change of a name that is declared
/// outside.
pub(super) fn only(node: &Node) -> bool {
    pure(node, &mut Vec::new())
}

fn pure<'n>(node: &'n Node, own: &mut Vec<&'n str>) -> bool {
    let before = own.len();
    let result = match node {
        Node::Block(body) => body.iter().all(|n| pure(n, own)),
        Node::If(cond, then, otherwise) => {
            calm(cond, own) && pure(then, own) && otherwise.as_ref().is_none_or(|n| pure(n, own))
        }
        Node::While(cond, body) => calm(cond, own) && pure(body, own),
        Node::For { init, cond, step, body } => {
            init.iter().all(|n| pure(n, own))
                && cond.iter().chain(step).all(|t| calm(t, own))
                && pure(body, own)
        }
        Node::Declare { name, value, .. } => {
            own.push(name);
            return value.as_ref().is_none_or(|v| calm(v, own));
        }
        Node::Do(term) => calm(term, own),
    };
    own.truncate(before);
    result
}

fn calm(term: &Term, own: &[&str]) -> bool {
    let kept = |t: &Term| !matches!(t, Term::Name(name) if !own.contains(&name.as_str()));
    match term {
        Term::Int(_) | Term::Literal | Term::Name(_) => true,
        Term::Unary(op, a) => (!matches!(op.as_str(), "++" | "--") || kept(a)) && calm(a, own),
        Term::Binary(op, a, b) => (!assigns(op) || kept(a)) && calm(a, own) && calm(b, own),
        Term::Ternary(c, a, b) => calm(c, own) && calm(a, own) && calm(b, own),
        Term::Call(name, arguments) => {
            !CONTROL.contains(&name.as_str()) && arguments.iter().all(|a| calm(a, own))
        }
        Term::Index(a, b) => calm(a, own) && calm(b, own),
        Term::Member(a) => calm(a, own),
    }
}

pub(super) fn assigns(op: &str) -> bool {
    matches!(op, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=")
}

/// The uses of buffers in a statement, in their order; what changes nothing any more is left out.
pub(super) fn uses(node: &Node) -> Vec<Use> {
    let (mut all, mut found) = (Vec::new(), Vec::<Use>::new());
    visit(node, &mut all);
    for one in all {
        // A second use after the first tells nothing new, unless the name is another buffer since.
        let since = match &one {
            Use::Declare(..) => None,
            Use::Read(name) | Use::Write(name) | Use::Given(name) => {
                found.iter().rposition(|f| matches!(f, Use::Declare(declared, _) if declared == name))
            }
        };
        if !found[since.unwrap_or(0)..].contains(&one) {
            found.push(one);
        }
    }
    found
}

fn visit(node: &Node, found: &mut Vec<Use>) {
    match node {
        Node::Block(body) => body.iter().for_each(|n| visit(n, found)),
        Node::If(cond, then, otherwise) => {
            read(cond, found);
            visit(then, found);
            otherwise.iter().for_each(|n| visit(n, found));
        }
        Node::While(cond, body) => {
            read(cond, found);
            visit(body, found);
        }
        Node::For { init, cond, step, body } => {
            init.iter().for_each(|n| visit(n, found));
            cond.iter().for_each(|t| read(t, found));
            visit(body, found);
            step.iter().for_each(|t| read(t, found));
        }
        Node::Declare { name, value: Some(value), .. } if place(value).is_some() => {
            found.push(Use::Declare(name.clone(), value.clone()));
        }
        Node::Declare { value, .. } => value.iter().for_each(|v| read(v, found)),
        Node::Do(term) => read(term, found),
    }
}

/// The offset in local memory, if an expression is one: `lozenge_ldm + offset`.
pub(super) fn place(term: &Term) -> Option<Term> {
    match term {
        Term::Name(name) if name == "lozenge_ldm" => Some(Term::Int(0)),
        Term::Binary(op, a, b) if op == "+" => {
            let before = place(a)?;
            Some(Term::Binary("+".to_owned(), Box::new(before), b.clone()))
        }
        _ => None,
    }
}

/// The name that has a subscript, or whose element is meant.
fn element(term: &Term) -> Option<(&str, &Term)> {
    match term {
        Term::Index(array, index) => match &**array {
            Term::Name(name) => Some((name, index)),
            _ => None,
        },
        Term::Unary(op, inner) if op == "&" => element(inner),
        _ => None,
    }
}

fn read(term: &Term, found: &mut Vec<Use>) {
    match term {
        Term::Int(_) | Term::Literal | Term::Name(_) => {}
        // An address alone is no access.
        Term::Unary(op, a) if op == "&" => {
            if let Some((_, index)) = element(a) {
                read(index, found);
            }
        }
        Term::Unary(_, a) | Term::Member(a) => read(a, found),
        Term::Binary(op, a, b) if assigns(op) => {
            read(b, found);
            match element(a) {
                Some((name, index)) => {
                    read(index, found);
                    if op != "=" {
                        found.push(Use::Read(name.to_owned()));
                    }
                    found.push(Use::Write(name.to_owned()));
                }
                None => read(a, found),
            }
        }
        Term::Binary(_, a, b) => {
            read(a, found);
            read(b, found);
        }
        Term::Ternary(c, a, b) => [c, a, b].into_iter().for_each(|t| read(t, found)),
        Term::Index(array, index) => {
            read(index, found);
            match &**array {
                Term::Name(name) => found.push(Use::Read(name.clone())),
                other => read(other, found),
            }
        }
        Term::Call(function, arguments) => {
            arguments.iter().for_each(|a| read(a, found));
            // Those that get an address use what is there.
            let stores = function.starts_with("simd_store");
            for (k, argument) in arguments.iter().enumerate() {
                let Term::Unary(op, inner) = argument else { continue };
                let Some((name, _)) = element(inner).filter(|_| op == "&") else { continue };
                if !stores {
                    found.push(Use::Read(name.to_owned()));
                }
                if stores || (k == 0 && function.starts_with("contract_")) {
                    found.push(Use::Write(name.to_owned()));
                }
            }
            // A strip that was turned is given by its name.
            for argument in arguments {
                if let Term::Name(name) = argument {
                    found.push(Use::Given(name.clone()));
                }
            }
        }
    }
}
