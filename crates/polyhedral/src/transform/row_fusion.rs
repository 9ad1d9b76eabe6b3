//! One pass over a matrix for all that is done with its rows: products with vectors and the like.
//!
//! Such nests are bound by the time to fetch the matrix, so all of them that may are run strip by
//! strip of its rows, and a strip is still near when the next statement reads it. In a strip a sum
//! along each row keeps its order (nothing is reassociated): the rows are the lanes of the vector,
//! and the columns are run one after the other. What adds rows to a vector, or changes the matrix,
//! runs along the row. So do sums of integers, which are exact in any order.
//!
//! A triangular solve needs the rows above a row, so its strips are run one after the other: first
//! what the rows of earlier strips give, row by row in lanes, then the small triangle in the order
//! of the text ([`triangle`]).
//!
//! Strips run in parallel where no dependence goes from one to another, or only those of reductions
//! that may be reordered: then each thread has partial results of its own. Where neither holds,
//! several threads get blocks of columns ([`blocks`]). Left out: nests of more loops (see the tiles
//! for contractions).

mod blocks;
mod triangle;

use std::collections::BTreeMap;

use loops::poly::linear;
use loops::{Access, Expr, Name, ReduceOp};

use super::window::{Windows, vectorise};
use super::{OnThreads, Request, Shaped, exists, privatised};
use crate::codegen::reducing;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::{Model, Statement};
use crate::tree::{self, Band, Branch, FunctionText, LoopCode, Member, Node, SetText, Tree};
use blocks::Blocks;
use triangle::Triangle;

/// Rows in a strip: two vectors of the widest kind, for two chains of additions at a time.
const STRIP: i64 = 16;

/// What a statement is to a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Role {
    /// The loop over rows.
    row: usize,
    /// The loop over columns, if it is in one.
    column: Option<usize>,
    /// Whether it sums along rows, in an order that has to stay.
    sums: bool,
}

/// Schedules a function whose nests run over the rows of a matrix; `None` if it is not of that
/// kind.
///
/// # Errors
/// Those of the set library.
pub fn strips(model: &Model, dependences: &[Dependence], request: Request) -> Result<Option<Shaped>> {
    let odd = |s: &Statement| {
        s.loops.len() > 2 || !s.certain() || !s.exact() || s.loops.iter().any(|l| !l.reductions.is_empty())
    };
    if model.statements.iter().any(odd) {
        return Ok(None);
    }
    let strip = request.width.unwrap_or(STRIP);
    let groups = grouped(model, dependences, strip)?;
    if !groups.iter().any(|(_, way)| way.sums()) || !request.vector {
        return Ok(None);
    }
    let mut lines = Vec::new();
    let mut parallel = Vec::new();
    let mut blocks = Vec::new();
    for (group, way) in &groups {
        let (mut privatised, mut of_columns) = (None, None);
        match way {
            Way::Strips(roles) => {
                if request.parallel {
                    privatised = independent(model, dependences, roles)?;
                }
                if request.parallel && privatised.is_none() && request.width.is_none() {
                    of_columns = Blocks::of(model, dependences, roles)?;
                }
                lines.push(format!(
                    "strips of {strip} rows of a matrix for {} statement{}{}",
                    group.len(),
                    if group.len() == 1 { "" } else { "s" },
                    match &privatised {
                        None => "",
                        Some(arrays) if arrays.is_empty() => ", parallel",
                        Some(_) => ", parallel with partial results for each thread",
                    }
                ));
            }
            Way::Triangle(_) => lines.push(format!("strips of {strip} rows of a triangle")),
            Way::Order => {}
        }
        parallel.push(privatised);
        blocks.push(of_columns);
    }
    let all = Groups { model, dependences, strip, groups: &groups, parallel: &parallel };
    let on_threads = match blocks.iter().any(Option::is_some) {
        true => Some(OnThreads {
            tree: all.tree(&blocks)?,
            sizes: blocks.iter().flatten().map(|block| (block.columns.clone(), blocks::COLUMNS)).collect(),
            line: blocks.iter().flatten().map(Blocks::line).collect::<Vec<_>>().join("; "),
        }),
        false => None,
    };
    let tree = all.tree(&vec![None; groups.len()])?;
    Ok(Some(Shaped { tree, line: lines.join("; "), as_written: false, on_threads }))
}

/// The nests in the order of the text; those that follow each other and may share their strips are
/// one group.
fn grouped(model: &Model, dependences: &[Dependence], strip: i64) -> Result<Vec<(Vec<usize>, Way)>> {
    let mut nests: Vec<Vec<usize>> = Vec::new();
    for (k, statement) in model.statements.iter().enumerate() {
        match nests.last_mut() {
            Some(nest) if model.statements[nest[0]].position[0] == statement.position[0] => nest.push(k),
            _ => nests.push(vec![k]),
        }
    }
    let mut groups: Vec<(Vec<usize>, Way)> = Vec::new();
    for nest in nests {
        let way = way(model, dependences, &nest, strip)?;
        if let (Some((group, Way::Strips(before))), Way::Strips(new)) = (groups.last_mut(), &way) {
            let mut both = before.clone();
            both.extend(new.clone());
            if together(model, dependences, &both)? {
                group.extend(nest);
                *before = both;
                continue;
            }
        }
        groups.push((nest, way));
    }
    Ok(groups)
}

/// Groups of nests, and what each thread needs a part of its own of where their strips are
/// parallel.
struct Groups<'a> {
    model: &'a Model,
    dependences: &'a [Dependence],
    strip: i64,
    groups: &'a [(Vec<usize>, Way)],
    parallel: &'a [Option<Vec<(ReduceOp, Name)>>],
}

impl Groups<'_> {
    /// The schedule of all groups, with blocks of columns around some.
    fn tree(&self, blocks: &[Option<Blocks>]) -> Result<Tree> {
        let Groups { model, dependences, strip, groups, parallel } = *self;
        let mut branches = Vec::new();
        for (((group, way), parallel), blocks) in groups.iter().zip(parallel).zip(blocks) {
            let statements: Vec<&Statement> = group.iter().map(|k| &model.statements[*k]).collect();
            let child = match (way, blocks) {
                (Way::Strips(roles), None) => group_node(model, roles, strip, parallel.clone())?,
                (Way::Strips(roles), Some(blocks)) => {
                    blocks.around(model, roles, strip, group_node(model, roles, strip, None)?)?
                }
                (Way::Triangle(triangle), _) => triangle.node(model, strip)?,
                (Way::Order, _) => {
                    vectorise(model, dependences, &Windows::default(), tree::order(&statements, 0)?)?
                }
            };
            let tuples =
                statements.iter().map(|s| Ok(tree::tuple(s)?.0)).collect::<Result<Vec<_>>>()?.join("; ");
            let filter = SetText::new(format!("{{ {tuples} }}"));
            branches.push(Branch { filter, child: Box::new(child) });
        }
        let domain = model.domain()?.intersect_params(&model.context).map_err(fault::library)?;
        let child =
            if branches.len() == 1 { branches.remove(0).child } else { Box::new(Node::Sequence(branches)) };
        Ok(Tree { root: Node::Domain { domain: SetText::new(domain.to_string()), child } })
    }
}

/// The roles of statements, by their position in the model.
type Roles = BTreeMap<usize, Role>;

/// How a group of nests is run.
enum Way {
    /// Strip by strip, in each all statements one after the other.
    Strips(Roles),
    /// Strip by strip of a triangle.
    Triangle(Triangle),
    /// In the order of the text.
    Order,
}

impl Way {
    /// Whether sums along rows get lanes.
    fn sums(&self) -> bool {
        match self {
            Way::Strips(roles) => roles.values().any(|role| role.sums),
            Way::Triangle(_) => true,
            Way::Order => false,
        }
    }
}

/// How a nest may be run.
fn way(model: &Model, dependences: &[Dependence], nest: &[usize], strip: i64) -> Result<Way> {
    let Some(roles) = roles(model, nest) else { return Ok(Way::Order) };
    if together(model, dependences, &roles)? {
        return Ok(Way::Strips(roles));
    }
    Ok(Triangle::of(model, dependences, &roles, strip)?.map_or(Way::Order, Way::Triangle))
}

/// The roles of the statements of a nest, if all have one.
fn roles(model: &Model, nest: &[usize]) -> Option<Roles> {
    let mut found = Roles::new();
    for k in nest {
        let statement = &model.statements[*k];
        let role = match statement.loops.len() {
            1 => Role { row: 0, column: None, sums: false },
            2 => role(model, statement)?,
            _ => return None,
        };
        found.insert(*k, role);
    }
    // A statement of one loop belongs to a row only where that loop is the one over rows.
    let mixed = found.values().any(|role| role.column.is_none()) && found.values().any(|role| role.row != 0);
    (found.values().any(|role| role.column.is_some()) && !mixed).then_some(found)
}

/// The role of a statement in two loops: by the matrices that it touches, which must agree.
fn role(model: &Model, statement: &Statement) -> Option<Role> {
    let iterators = statement.iterators();
    let target = &statement.assign.target;
    // The iterator that a subscript is, forward or backward.
    let one = |e: &Expr| -> Option<usize> {
        let at = iterators.iter().position(|name| e.mentions(name))?;
        let backward = || {
            let linear = linear::<i128>(e)?;
            (linear.coefficient(&iterators[at]) == -1 && linear.coefficient(&iterators[1 - at]) == 0)
                .then_some(at)
        };
        if matches!(e, Expr::Var(_)) { Some(at) } else { backward() }
    };
    let mut row = None;
    let mut look = |access: &Access| -> bool {
        match access.indices.as_slice() {
            [a, b] => match (one(a), one(b)) {
                (Some(r), Some(c)) if r != c => *row.get_or_insert(r) == r,
                _ => false,
            },
            // Vectors are along one of the two; anything else has no place here.
            [] | [Expr::Var(_)] => true,
            [a] => one(a).is_some(),
            _ => false,
        }
    };
    let mut fits = look(target);
    for access in statement.assign.value.loads() {
        fits = fits && look(access);
    }
    let row = row.filter(|_| fits)?;
    let column = 1 - row;
    let along_row = match target.indices.as_slice() {
        [a] => one(a) == Some(row),
        [_, _] => false,
        _ => return None,
    };
    // C compilers make lanes of a sum of integers along its row, where elements are side by side.
    let sums = along_row && !model.is_integer(&target.array);
    Some(Role { row, column: Some(column), sums })
}

/// Whether statements may share strips: no dependence goes back to an earlier row, and none to a
/// statement that comes earlier in a strip.
fn together(model: &Model, dependences: &[Dependence], roles: &Roles) -> Result<bool> {
    for (a, from, b, to, dependence) in inside(model, dependences, roles) {
        if a > b || exists(model, dependence, &format!("b{} < a{}", to.row, from.row))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What each thread needs a part of its own of, so that no dependence goes from one row to another;
/// none if that is not enough.
fn independent(
    model: &Model,
    dependences: &[Dependence],
    roles: &Roles,
) -> Result<Option<Vec<(ReduceOp, Name)>>> {
    let mut carried = Vec::new();
    for (_, from, _, to, dependence) in inside(model, dependences, roles) {
        if !dependence.private && exists(model, dependence, &format!("b{} != a{}", to.row, from.row))? {
            carried.push(dependence);
        }
    }
    let labels: Vec<&Name> = roles.keys().map(|k| &model.statements[*k].label).collect();
    Ok(privatised(model, &|label| labels.contains(&label), &carried))
}

/// The dependences between statements of a group, with their ends.
fn inside<'a>(
    model: &Model,
    dependences: &'a [Dependence],
    roles: &Roles,
) -> Vec<(usize, Role, usize, Role, &'a Dependence)> {
    let index: BTreeMap<&Name, usize> =
        model.statements.iter().enumerate().map(|(k, s)| (&s.label, k)).collect();
    dependences
        .iter()
        .filter_map(|d| {
            let (a, b) = (index[&d.source], index[&d.target]);
            Some((a, *roles.get(&a)?, b, *roles.get(&b)?, d))
        })
        .collect()
}

/// The strips of a group: in each the statements one after the other.
fn group_node(
    model: &Model,
    roles: &Roles,
    strip: i64,
    parallel: Option<Vec<(ReduceOp, Name)>>,
) -> Result<Node> {
    let mut strips = Vec::new();
    let mut branches = Vec::new();
    for (k, role) in roles {
        let statement = &model.statements[*k];
        let (tuple, dims) = tree::tuple(statement)?;
        strips.push(format!("{tuple} -> [(floor({}/{strip}))]", dims[role.row]));
        let of = |dim: usize, child: Node| band(&[format!("{tuple} -> [({})]", dims[dim])], child);
        let child = match role.column {
            None => vector(statement, role.row)?,
            Some(column) if role.sums => of(column, vector(statement, role.row)?),
            Some(column) => of(role.row, vector(statement, column)?),
        };
        branches.push(Branch { filter: SetText::new(format!("{{ {tuple} }}")), child: Box::new(child) });
    }
    let child = if branches.len() == 1 { *branches.remove(0).child } else { Node::Sequence(branches) };
    let node = band(&strips, child);
    Ok(match parallel {
        Some(arrays) => Node::Mark { name: reducing("parallel", &arrays), child: Box::new(node) },
        None => node,
    })
}

/// The loop of a statement at this depth, as lanes if something moves along them and what is stored
/// does not stay.
fn vector(statement: &Statement, dim: usize) -> Result<Node> {
    let (tuple, dims) = tree::tuple(statement)?;
    let node = band(&[format!("{tuple} -> [({})]", dims[dim])], Node::Leaf);
    let iterator = &statement.loops[dim].var;
    let moves = locality::subscripts(statement)[0].1.iter().any(|e| e.mentions(iterator));
    Ok(if moves { Node::Mark { name: "vector".to_owned(), child: Box::new(node) } } else { node })
}

fn band(functions: &[String], child: Node) -> Node {
    let function = FunctionText::new(format!("{{ {} }}", functions.join("; ")));
    let member = Member { function, coincident: false, code: LoopCode::Default };
    Node::Band(Band { members: vec![member], permutable: false, isolate: None, child: Box::new(child) })
}
