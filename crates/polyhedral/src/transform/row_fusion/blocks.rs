//! Blocks of columns for several threads, where strips of rows depend on each other.
//!
//! `x2[i] += A[j][i] * y2[j]` needs the rows of the matrix one after the other, so its strips are
//! no parallel loop; but its columns are free. Where nothing goes from column to column, each
//! thread runs through the strips of its own blocks of columns. Where a sum along rows shares the
//! pass, `x1[i] += A[i][j] * y1[j]`, that goes from block to block in the same rows: then a thread
//! works on a block of columns some rows behind the one that works on the block before it, as a
//! wavefront goes over the blocks. Each sum keeps its order.

use loops::Expr;

use super::super::exists;
use super::{Result, Role, Roles, band, inside};
use crate::codegen::reducing;
use crate::dependence::Dependence;
use crate::model::{Model, Statement};
use crate::tree::{self, Node};

/// Columns of a block. Measured with a matrix of 2000 x 2000 on two threads: blocks of 256, 512 and
/// 1024 take 0.55, 0.53 and 0.50 ms, strips on one thread 0.81. On one thread blocks take 0.90 to
/// 1.04, so they are for several threads alone.
pub(super) const COLUMNS: i64 = 512;

/// Strips of a block in a wavefront: that many rows are done between two steps of all threads.
const STRIPS: i64 = 8;

/// How blocks of columns follow each other.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// The number of columns: a size, or a number that gives several blocks.
    pub columns: Expr,
    /// Whether something goes from a block to those behind it in the same rows.
    wavefront: bool,
}

impl Blocks {
    /// The blocks for a group of statements that may share strips; nothing if they have no columns,
    /// or something goes back to earlier ones.
    pub fn of(model: &Model, dependences: &[Dependence], roles: &Roles) -> Result<Option<Blocks>> {
        let mut columns = None;
        for (k, role) in roles {
            let Some(column) = role.column else { continue };
            let upper = &model.statements[*k].loops[column].upper;
            let several = matches!(upper, Expr::Var(_)) || matches!(upper, Expr::Int(n) if *n > COLUMNS);
            if !several || *columns.get_or_insert(upper) != upper {
                return Ok(None);
            }
        }
        let Some(columns) = columns else { return Ok(None) };
        let mut wavefront = false;
        for (_, from, _, to, dependence) in inside(model, dependences, roles) {
            let [a, b] = [(from, 'a'), (to, 'b')].map(|(role, end)| column(role, end));
            if exists(model, dependence, &format!("{b} < {a}"))? {
                return Ok(None);
            }
            wavefront |= exists(model, dependence, &format!("{b} > {a}"))?;
        }
        Ok(Some(Blocks { columns: columns.clone(), wavefront }))
    }

    /// What was done, for people.
    pub fn line(&self) -> String {
        let wavefront = if self.wavefront { ", as a wavefront" } else { "" };
        format!("on several threads blocks of {COLUMNS} columns, parallel{wavefront}")
    }

    /// The loops over blocks around the strips of a group.
    pub fn around(&self, model: &Model, roles: &Roles, strip: i64, strips: Node) -> Result<Node> {
        let each = |of: &dyn Fn(&Role, &Statement, &[String]) -> String| -> Result<Vec<String>> {
            let function = |(k, role): (&usize, &Role)| {
                let statement = &model.statements[*k];
                let (tuple, dims) = tree::tuple(statement)?;
                Ok(format!("{tuple} -> [({})]", of(role, statement, &dims)))
            };
            roles.iter().map(function).collect()
        };
        let block = |role: &Role, dims: &[String]| match role.column {
            Some(column) => format!("floor({}/{COLUMNS})", dims[column]),
            None => "0".to_owned(),
        };
        let blocks = each(&|role, _, dims| block(role, dims))?;
        let node = Node::Mark { name: reducing("parallel", &[]), child: Box::new(band(&blocks, strips)) };
        if !self.wavefront {
            return Ok(node);
        }
        let rows = strip * STRIPS;
        let steps =
            each(&|role, _, dims| format!("floor({}/{rows}) + {}", dims[role.row], block(role, dims)))?;
        Ok(band(&steps, node))
    }
}

/// The column of an end of a dependence; a statement of rows alone runs with the first one.
fn column(role: Role, end: char) -> String {
    role.column.map_or_else(|| "0".to_owned(), |column| format!("{end}{column}"))
}
