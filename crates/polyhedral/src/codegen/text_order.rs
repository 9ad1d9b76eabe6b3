//! Code for a tree that has the order of the text: the text itself, with its loops run as the marks
//! say. Bounds, conditions and declarations stay as they were written, which no scan of the sets
//! would improve.

use std::collections::BTreeMap;

use loops::{Function, Loop, LoopKind, Name, ReduceOp, Stmt};

use super::{Generated, Instance, loop_mark};
use crate::fault::Result;
use crate::locality;
use crate::model::Model;
use crate::tree::{Node, Tree};

/// How the loops of the text are to run, by their number.
type Kinds = BTreeMap<usize, (LoopKind, Vec<(ReduceOp, Name)>)>;

/// The function of the model with its loops run as the marks of `tree`, which has the order of the
/// text.
///
/// # Errors
/// Those of the set library.
pub(crate) fn as_written(model: &Model, tree: &Tree) -> Result<Generated> {
    let mut kinds = Kinds::new();
    marks(model, &tree.root, 0, &mut kinds)?;
    let body = block(&model.function.body, &kinds, &mut 0);
    let instances = model.statements.iter().map(|statement| {
        let iterators = statement.iterators().into_iter().map(loops::Expr::Var).collect();
        (statement.label.clone(), Instance { original: statement.label.clone(), iterators })
    });
    let instances = instances.collect();
    Ok(Generated { function: Function { body, ..model.function.clone() }, instances })
}

/// Finds the marked bands; each is one loop of the text.
fn marks(model: &Model, node: &Node, depth: usize, kinds: &mut Kinds) -> Result<()> {
    if let Node::Mark { name, child } = node
        && let Some(kind) = loop_mark(name)
        && let Node::Band(band) = &**child
        && let Some(member) = band.members.first()
    {
        for tuple in locality::tuples(model, member)? {
            if let Some(around) = model.by_tuple(&tuple).and_then(|s| s.loops.get(depth)) {
                kinds.insert(around.number, kind.clone());
            }
        }
    }
    let below = depth + if let Node::Band(band) = node { band.members.len() } else { 0 };
    node.children().into_iter().try_for_each(|child| marks(model, child, below, kinds))
}

/// `next` is the number of the next loop, in the order of the text.
fn block(body: &[Stmt], kinds: &Kinds, next: &mut usize) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| {
            let number = *next;
            if matches!(stmt, Stmt::Loop(_)) {
                *next += 1;
            }
            match stmt.map(&mut loops::Expr::clone, &mut |inner| block(inner, kinds, next)) {
                Stmt::Loop(l) => match kinds.get(&number).cloned() {
                    Some((kind, reductions)) => Stmt::Loop(Loop { kind, reductions, ..l }),
                    None => Stmt::Loop(l),
                },
                other => other,
            }
        })
        .collect()
}
