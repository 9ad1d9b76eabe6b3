//! Changes of the functions of a band: shift, scale, reverse, skew.

use isl::{Ctx, UnionPwAff, Val};

use super::{band, map_function};
use crate::fault::{self, Result};
use crate::tree::{Member, Node, Tree};

fn edit_member(
    tree: &Tree,
    path: &[usize],
    member: usize,
    f: &dyn Fn(&[Member]) -> Result<crate::tree::FunctionText>,
) -> Result<Tree> {
    tree.edit(path, &mut |node| {
        let mut band = band(node)?;
        if member >= band.members.len() {
            return Err(fault::edit(format!("the band has no member {member}")));
        }
        band.members[member].function = f(&band.members)?;
        Ok(Node::Band(band))
    })
}

/// Adds a constant to a member.
///
/// # Errors
/// `P0202` if there is no such member.
pub fn shift(ctx: &Ctx, tree: &Tree, path: &[usize], member: usize, by: i64) -> Result<Tree> {
    edit_member(tree, path, member, &|members| {
        map_function(ctx, &members[member].function, &|f| {
            f.add(&f.domain()?.constant_function(&Val::int(ctx, by)?)?)
        })
    })
}

/// Multiplies a member by a positive constant.
///
/// # Errors
/// `P0202` if there is no such member or the factor is not positive.
pub fn scale(ctx: &Ctx, tree: &Tree, path: &[usize], member: usize, factor: i64) -> Result<Tree> {
    if factor < 1 {
        return Err(fault::edit(format!("{factor} is not a scale factor")));
    }
    edit_member(tree, path, member, &|members| {
        map_function(ctx, &members[member].function, &|f| f.scale(factor))
    })
}

/// Runs a member backwards.
///
/// # Errors
/// `P0202` if there is no such member.
pub fn reverse(ctx: &Ctx, tree: &Tree, path: &[usize], member: usize) -> Result<Tree> {
    edit_member(tree, path, member, &|members| map_function(ctx, &members[member].function, &|f| f.neg()))
}

/// Adds `factor` times another member to a member.
///
/// # Errors
/// `P0202` if there is no such member, or both are the same.
pub fn skew(
    ctx: &Ctx,
    tree: &Tree,
    path: &[usize],
    member: usize,
    other: usize,
    factor: i64,
) -> Result<Tree> {
    edit_member(tree, path, member, &|members| {
        if other >= members.len() || other == member {
            return Err(fault::edit(format!("member {member} cannot be skewed by member {other}")));
        }
        let by = UnionPwAff::read(ctx, members[other].function.as_str()).map_err(fault::library)?;
        map_function(ctx, &members[member].function, &|f| f.add(&by.scale(factor)?))
    })
}
