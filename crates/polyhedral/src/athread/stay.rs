//! Shares that stay: of a vector that all cores need again for each tile, each core keeps its share for as long as the loops over cores run, so that the vector is
//! read once. How many shares there are depends on the sizes, so the host asks whether they are such that all have a place.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Expr, Name, Stmt};

use super::build::KERNEL;
use super::search::MULTIPLE;
use super::share::Line;
use super::tile::ceil;
use super::{Mapped, Options, whole};

/// A mapped program in which each kernel with shares that stay is there twice: for sizes for which they have places, and for all.
pub(super) fn bounded(mut mapped: Mapped, options: &Options) -> Mapped {
    let sizes = mapped.function.sizes.clone();
    let bounds: BTreeMap<Name, i64> = options
        .hints
        .iter()
        .filter(|(name, _)| sizes.contains(name))
        .map(|(name, n)| (name.clone(), ceil((*n).max(1), MULTIPLE) * MULTIPLE))
        .collect();
    let body = std::mem::take(&mut mapped.function.body);
    mapped.function.body = either(&body, &sizes, &bounds);
    let (mut arrays, mut asked) = (BTreeSet::new(), BTreeSet::new());
    for stmt in &mapped.function.body {
        asked.extend(self::asked(stmt, &sizes));
        stmt.walk(&mut |s| arrays.extend(array(s).map(|name| format!("`{name}`"))));
    }
    if !arrays.is_empty() {
        let told = asked.iter().filter_map(|name| Some(format!("{name} <= {}", bounds.get(name)?)));
        mapped.notes.push(format!(
            "what each core brings in of {} for all of them stays for {}",
            arrays.into_iter().collect::<Vec<_>>().join(", "),
            told.collect::<Vec<_>>().join(", ")
        ));
    }
    mapped
}

/// The array that is brought in by shares that stay.
fn array(stmt: &Stmt) -> Option<&Name> {
    match stmt {
        Stmt::Block { body, .. } if stays(stmt) => match body.as_slice() {
            [Stmt::Copy(copy)] => Some(&copy.from.array),
            _ => None,
        },
        _ => None,
    }
}

fn either(body: &[Stmt], sizes: &[Name], bounds: &BTreeMap<Name, i64>) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Block { mark: Some(mark), .. } if mark.as_str() == KERNEL => {
                let asked = asked(stmt, sizes);
                if asked.is_empty() {
                    return stmt.clone();
                }
                let otherwise = without(std::slice::from_ref(stmt));
                let bound = |name: &Name| Some(Expr::Var(name.clone()).at_most(*bounds.get(name)?));
                let each: Option<Vec<Expr>> = asked.iter().map(bound).collect();
                match each.and_then(|each| each.into_iter().reduce(Expr::and)) {
                    Some(cond) => {
                        let then = whole::relabelled(vec![stmt.clone()], "stay");
                        Stmt::If { cond, then, otherwise }
                    }
                    None => Stmt::Block { mark: None, body: otherwise },
                }
            }
            Stmt::Block { .. } | Stmt::Loop(_) | Stmt::If { .. } => {
                stmt.map(&mut Expr::clone, &mut |body| either(body, sizes, bounds))
            }
            other => other.clone(),
        })
        .collect()
}

/// The sizes that say how many shares a kernel has of what stays: those in the bounds of the loops around.
fn asked(stmt: &Stmt, sizes: &[Name]) -> Vec<Name> {
    let mut asked = Vec::new();
    stmt.walk(&mut |s| {
        let Stmt::Loop(l) = s else { return };
        let [Stmt::Block { mark: None, body }] = l.body.as_slice() else { return };
        if body.iter().any(stays) {
            let own = l.upper.vars().into_iter().filter(|name| sizes.contains(name));
            for name in own {
                if !asked.contains(&name) {
                    asked.push(name);
                }
            }
        }
    });
    asked
}

fn stays(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Block { mark: Some(mark), .. } if mark.as_str() == Line::Stay.mark())
}

/// Statements whose shares come again for each tile.
fn without(body: &[Stmt]) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Block { body, .. } if stays(stmt) => {
                Stmt::Block { mark: Some(Name::new(Line::All.mark())), body: body.clone() }
            }
            other => other.map(&mut Expr::clone, &mut without),
        })
        .collect()
}
