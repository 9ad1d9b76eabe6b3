//! What a program of kernels leaves to the host, and how many of its loops are parallel.

use super::{Item, has, read};
use crate::fault::Result;
use crate::model::Model;
use crate::names::readable;
use crate::tree::Node;

/// Whether there is a kernel.
pub(in crate::athread) fn has_kernel(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Kernel(_) => true,
        Item::Host(_) => false,
        Item::Loop { items, .. } => has_kernel(items),
    })
}

/// Nests of loops that the host runs.
pub(in crate::athread) fn on_host(items: &[Item]) -> usize {
    let of = |item: &Item| match item {
        Item::Kernel(_) => 0,
        Item::Host(branch) => usize::from(*branch.child != Node::Leaf),
        Item::Loop { items, .. } => on_host(items),
    };
    items.iter().map(of).sum()
}

/// Whether everything but single statements is in kernels that are not inside loops.
pub(in crate::athread) fn everything_parallel(items: &[Item]) -> bool {
    items.iter().all(|item| match item {
        Item::Kernel(_) => true,
        Item::Host(branch) => *branch.child == Node::Leaf,
        Item::Loop { .. } => false,
    })
}

/// How many parallel loops each nest has, in loops or not.
fn parallel(items: &[Item]) -> Vec<usize> {
    let of = |item: &Item| match item {
        Item::Kernel(kernel) => vec![kernel.parallel.len()],
        Item::Host(_) => vec![0],
        Item::Loop { items, .. } => parallel(items),
    };
    items.iter().flat_map(of).collect()
}

/// Parallel loops of the nest that has the fewest.
pub(in crate::athread) fn least_parallel(items: &[Item]) -> usize {
    parallel(items).into_iter().min().unwrap_or(0)
}

/// Parallel loops of the nest that has the most.
pub(in crate::athread) fn most_parallel(items: &[Item]) -> usize {
    parallel(items).into_iter().max().unwrap_or(0)
}

/// How much stays sequential: loops on the host count most.
pub(in crate::athread) fn weight(items: &[Item]) -> usize {
    let one = |item: &Item| match item {
        Item::Kernel(_) => 1,
        Item::Host(branch) if *branch.child == Node::Leaf => 2,
        Item::Host(_) => 1000,
        Item::Loop { items, .. } => 50 + weight(items),
    };
    items.iter().map(one).sum()
}

/// What loops make that stay on the host because nothing in them is parallel.
pub(in crate::athread) fn sequential(model: &Model, items: &[Item]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            Item::Host(branch) if *branch.child != Node::Leaf => {
                let filter = read(model, &branch.filter)?;
                let mut names: Vec<String> = Vec::new();
                for statement in &model.statements {
                    let name = format!("`{}`", readable(&statement.assign.target.array));
                    if has(&filter, statement)? && !names.contains(&name) {
                        names.push(name);
                    }
                }
                all.push(names.join(", "));
            }
            Item::Loop { items, .. } => all.extend(sequential(model, items)?),
            _ => {}
        }
    }
    Ok(all)
}
