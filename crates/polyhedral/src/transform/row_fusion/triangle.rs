//! Strips of rows of a triangle: forward and backward substitution with one right-hand side.
//!
//! `x[i] -= L[i][j] * x[j]` for `j < i` needs the rows above. Of a strip of rows, what comes from
//! columns before the strip's first row is known when the strip begins: it is a product of a matrix
//! and a vector, with the rows of the strip as lanes. The rest of the strip is a small triangle,
//! which stays in the order of the text. Each sum keeps its order.

use crate::dependence::Dependence;
use crate::fault::Result;
use crate::model::{Model, Statement};
use crate::transform::exists;
use crate::tree::{self, Branch, Node, SetText};

use super::{Role, Roles, band, vector};

/// The parts of a nest over the rows of a triangle, by their position in the model.
pub(super) struct Triangle {
    /// What begins a row.
    heads: Vec<usize>,
    /// The sum along a row, in the loops over rows and columns.
    sum: usize,
    /// What ends a row.
    tails: Vec<usize>,
}

impl Triangle {
    /// The triangle that the nest runs over; none if it is not of that kind, or if strips would run
    /// something too early.
    pub(super) fn of(
        model: &Model,
        dependences: &[Dependence],
        roles: &Roles,
        strip: i64,
    ) -> Result<Option<Triangle>> {
        let by_rows = |role: &Role| role.row == 0;
        let mut sums = roles.iter().filter(|(_, role)| role.column.is_some());
        let (Some((sum, role)), None) = (sums.next(), sums.next()) else { return Ok(None) };
        if !role.sums || !roles.values().all(by_rows) {
            return Ok(None);
        }
        let (heads, tails): (Vec<usize>, Vec<usize>) =
            roles.keys().copied().filter(|k| k != sum).partition(|k| k < sum);
        let triangle = Triangle { heads, sum: *sum, tails };
        Ok(triangle.allowed(model, dependences, strip)?.then_some(triangle))
    }

    /// Whether no row of a strip needs what a row above it in the same strip does later than
    /// before.
    fn allowed(&self, model: &Model, dependences: &[Dependence], strip: i64) -> Result<bool> {
        let label = |k: usize| &model.statements[k].label;
        let heads = || self.heads.iter().map(|k| label(*k));
        let tails = || self.tails.iter().map(|k| label(*k));
        let (sum, apart) = (label(self.sum), format!("floor(a0/{strip}) = floor(b0/{strip}) and a0 < b0"));
        let early = |p: &str| format!("{p}1 < {strip}*floor({p}0/{strip})");
        let late = |p: &str| format!("{p}1 >= {strip}*floor({p}0/{strip})");
        for dependence in dependences {
            let (a, b) = (&dependence.source, &dependence.target);
            let to_head = heads().any(|k| k == b);
            let from_head = heads().any(|k| k == a);
            let from_tail = tails().any(|k| k == a);
            let mut wrong = Vec::new();
            if to_head && (a == sum || from_tail || (from_head && a != b)) {
                wrong.push(apart.clone());
            }
            if b == sum && from_tail {
                wrong.push(format!("{apart} and {}", early("b")));
            }
            if a == sum && b == sum {
                wrong.push(format!("{apart} and {} and {}", late("a"), early("b")));
                wrong.push(format!("{apart} and {} and {} and a1 > b1", early("a"), early("b")));
            }
            for condition in wrong {
                if exists(model, dependence, &condition)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The schedule of the nest.
    pub(super) fn node(&self, model: &Model, strip: i64) -> Result<Node> {
        let statement = |k: &usize| &model.statements[*k];
        let mut branches = Vec::new();
        for head in &self.heads {
            let filter = SetText::new(format!("{{ {} }}", tree::tuple(statement(head))?.0));
            branches.push(Branch { filter, child: Box::new(vector(statement(head), 0)?) });
        }
        let sum = statement(&self.sum);
        let (tuple, dims) = tree::tuple(sum)?;
        let first = format!("{strip}*floor({}/{strip})", dims[0]);
        let columns = band(&[format!("{tuple} -> [({})]", dims[1])], vector(sum, 0)?);
        let filter = SetText::new(format!("{{ {tuple} : {} < {first} }}", dims[1]));
        branches.push(Branch { filter, child: Box::new(columns) });
        let rest: Vec<&Statement> = [&self.sum].into_iter().chain(&self.tails).map(statement).collect();
        let mut sets = vec![format!("{tuple} : {} >= {first}", dims[1])];
        let mut strips = vec![format!("{tuple} -> [(floor({}/{strip}))]", dims[0])];
        for k in self.heads.iter().chain(&self.tails) {
            let (tuple, dims) = tree::tuple(statement(k))?;
            strips.push(format!("{tuple} -> [(floor({}/{strip}))]", dims[0]));
            if self.tails.contains(k) {
                sets.push(tuple);
            }
        }
        let filter = SetText::new(format!("{{ {} }}", sets.join("; ")));
        branches.push(Branch { filter, child: Box::new(tree::order(&rest, 0)?) });
        Ok(band(&strips, Node::Sequence(branches)))
    }
}
