//! Labels of statements that a pass has copied.

use std::collections::BTreeMap;

use loops::visit::assigns;
use loops::{Assign, Expr, Function, Name, Stmt};

/// `after` with a label of its own for each copy of a statement of `before`: `S0`, `S0_1`, and so
/// on.
pub(crate) fn with_own_labels(before: &Function, after: Function) -> Function {
    let taken = labels(&before.body);
    Function { body: relabelled(&after.body, &mut BTreeMap::new(), &taken), ..after }
}

/// The labels of statements.
fn labels(stmts: &[Stmt]) -> Vec<Name> {
    assigns(stmts).filter_map(|assign| assign.label.clone()).collect()
}

/// The statements with a label of its own for each copy: `S0`, `S0_1`, and so on.
fn relabelled(stmts: &[Stmt], copies: &mut BTreeMap<Name, usize>, taken: &[Name]) -> Vec<Stmt> {
    let rename = |stmt: &Stmt, copies: &mut BTreeMap<Name, usize>| match stmt {
        Stmt::Assign(assign) => {
            let label = assign.label.clone().map(|label| {
                let copy = copies.entry(label.clone()).or_default();
                loop {
                    let own = if *copy == 0 { label.clone() } else { Name::new(format!("{label}_{copy}")) };
                    *copy += 1;
                    if own == label || !taken.contains(&own) {
                        return own;
                    }
                }
            });
            Stmt::Assign(Assign { label, ..assign.clone() })
        }
        other => other.clone(),
    };
    stmts
        .iter()
        .map(|stmt| {
            let stmt = rename(stmt, copies);
            stmt.map(&mut Expr::clone, &mut |inner| relabelled(inner, copies, taken))
        })
        .collect()
}
