//! What a right side computes where the left side might not.
//!
//! A term below a lambda is computed only if the loop has an iteration, and a branch only if it is
//! taken. A variable that has more of these around it on the left side than on the right must stand
//! for what always has a value.

use crate::infer::TypedDef;
use crate::infer::inferred_types::Ty;
use crate::infer::node::{Local, Node, NodeKind};
use crate::prim::Prim;

/// The variables, by their numbers, that have fewer guards on the right side.
pub(super) fn hurried(left: &TypedDef, right: &TypedDef) -> Vec<usize> {
    let fewer = |local: &Local| {
        let info = &right.locals[*local as usize];
        let function = matches!(info.ty, Ty::Fun(..));
        // What is used more than once is computed in front of the right side.
        let shared = !function && (info.uses > 1 || info.under_lambda);
        match (least(&left.body, *local, 0), least(&right.body, *local, 0)) {
            (Some(before), Some(after)) => before > if shared { 0 } else { after },
            _ => false,
        }
    };
    (0..).zip(&left.params).filter(|(_, local)| fewer(local)).map(|(k, _)| k).collect()
}

/// The least number of guards around a use of a variable.
fn least(node: &Node, local: Local, guards: u32) -> Option<u32> {
    let all = |nodes: &mut dyn Iterator<Item = (&Node, u32)>| {
        nodes.filter_map(|(node, guards)| least(node, local, guards)).min()
    };
    match &node.kind {
        // A function as an argument is called below a parameter.
        NodeKind::Local(found) => {
            (*found == local).then_some(guards + u32::from(matches!(node.ty, Ty::Fun(..))))
        }
        NodeKind::Number(_)
        | NodeKind::Bool(_)
        | NodeKind::Size(_)
        | NodeKind::Prim(..)
        | NodeKind::Def(..)
        | NodeKind::Error => None,
        NodeKind::Apply(f, args) => match &f.kind {
            // Called here, with all its arguments or some.
            NodeKind::Local(found) if *found == local => {
                let waits = u32::from(matches!(node.ty, Ty::Fun(..)));
                all(&mut args.iter().map(|arg| (arg, guards))).into_iter().chain([guards + waits]).min()
            }
            NodeKind::Prim(Prim::Select, _) if args.len() == 3 => {
                all(&mut args.iter().zip([guards, guards + 1, guards + 1]))
            }
            // What a definition does with a function is not looked into.
            NodeKind::Def(..) => all(&mut args.iter().map(|arg| match &arg.kind {
                NodeKind::Lambda(_, body) => (&**body, guards),
                _ => (arg, guards.saturating_sub(u32::from(matches!(arg.ty, Ty::Fun(..))))),
            })),
            _ => all(&mut std::iter::once((&**f, guards)).chain(args.iter().map(|arg| (arg, guards)))),
        },
        NodeKind::Lambda(_, body) => least(body, local, guards + 1),
        NodeKind::Let(_, value, body) => all(&mut [(&**value, guards), (&**body, guards)].into_iter()),
        NodeKind::Chain(first, rest) => {
            all(&mut std::iter::once((&**first, guards)).chain(rest.iter().map(|(_, x)| (x, guards))))
        }
        NodeKind::Array(elements) => all(&mut elements.iter().map(|x| (x, guards))),
        NodeKind::Power(base, _) => least(base, local, guards),
    }
}
