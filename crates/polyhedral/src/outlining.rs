//! Functions of which the model can hold some nests and not others (a subscript that is data):
//! those that it can hold are optimised as functions of their own, the others stay as they are,
//! between them.
//!
//! The order of the parts is that of the text, so nothing between them is asked. A loop that may
//! end early, and branches on data in it, are control: they stay, and what is in them is taken
//! apart likewise, with the loop variable as one more size. As instances of statements they would
//! all run, under conditions. Left out: other nests of which an inner loop alone cannot be held.

use loops::facts::is_stable;
use loops::visit::nodes;
use loops::{ArrayDecl, Expr, Function, Loop, Name, Param, ParamMode, Stmt};

use crate::Result;
use crate::model::{self, Model};
use crate::optimize::{Optimized, Options, optimize};

/// A function, part by part.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The function.
    pub function: Function,
    /// What was done, and what stayed as it is, one line each.
    pub notes: Vec<String>,
}

/// The function with those of its nests optimised that the model can hold; none if that is all of
/// it.
///
/// # Errors
/// `P0103` for labels that two statements have.
pub fn apart(function: &Function, options: &Options) -> Result<Option<Apart>> {
    let function = model::label_all(function)?;
    let mut parts = Parts { function: function.clone(), options, notes: Vec::new(), left: 0 };
    let params = function.params.clone();
    let body = parts.block(&function.body, params);
    let Parts { notes, left, .. } = parts;
    Ok((left > 0).then(|| Apart { function: Function { body, ..function.clone() }, notes }))
}

struct Parts<'a> {
    /// The function, with the variables of the loops around as sizes.
    function: Function,
    options: &'a Options,
    notes: Vec<String>,
    left: usize,
}

impl Parts<'_> {
    /// Statements outside of loops; `arrays` are there.
    fn block(&mut self, body: &[Stmt], mut arrays: Vec<Param>) -> Vec<Stmt> {
        let (mut result, mut together) = (Vec::new(), Vec::new());
        for stmt in body {
            if let Some(control) = self.control(stmt, &arrays) {
                self.optimised(std::mem::take(&mut together), &arrays, &mut result);
                result.push(control);
                continue;
            }
            let refused = match stmt {
                Stmt::Local(_) => None,
                other => match Model::extract(&self.alone(vec![other.clone()], &arrays)) {
                    Ok(_) => {
                        together.push(other.clone());
                        continue;
                    }
                    Err(refused) => Some(refused),
                },
            };
            self.optimised(std::mem::take(&mut together), &arrays, &mut result);
            match (stmt, refused) {
                (Stmt::Local(local), _) => {
                    arrays.push(as_param(local));
                    result.push(stmt.clone());
                }
                (Stmt::Block { mark: None, body }, _) => {
                    let body = self.block(body, arrays.clone());
                    result.push(Stmt::Block { mark: None, body });
                }
                (_, refused) => {
                    self.left += 1;
                    let why = refused.map_or_else(String::new, |d| format!(": {}", d.message));
                    self.notes.push(format!("a nest is left as it is{why}"));
                    result.push(stmt.clone());
                }
            }
        }
        self.optimised(together, &arrays, &mut result);
        result
    }

    /// A loop that may end early, or a branch on data around loops, with what is in it taken apart.
    fn control(&mut self, stmt: &Stmt, arrays: &[Param]) -> Option<Stmt> {
        match stmt {
            Stmt::Loop(l) if l.ends_early() => {
                self.left += 1;
                let outside = self.function.clone();
                let var = Expr::Var(l.var.clone());
                self.function.sizes.push(l.var.clone());
                if is_stable(&l.lower) && is_stable(&l.upper) {
                    let range = [l.lower.clone().at_most(var.clone()), var.less(l.upper.clone())];
                    self.function.assumptions.extend(range);
                }
                let body = self.block(&l.body, arrays.to_vec());
                self.function = outside;
                Some(Stmt::Loop(Loop { body, ..l.clone() }))
            }
            Stmt::If { cond, then, otherwise } if cond.has_loads() && has_loops(stmt) => {
                self.left += 1;
                let mut branch = |stmts: &[Stmt]| self.block(stmts, arrays.to_vec());
                let (then, otherwise) = (branch(then), branch(otherwise));
                Some(Stmt::If { cond: cond.clone(), then, otherwise })
            }
            _ => None,
        }
    }

    /// Adds statements, optimised if that succeeds.
    fn optimised(&mut self, together: Vec<Stmt>, arrays: &[Param], result: &mut Vec<Stmt>) {
        if together.is_empty() {
            return;
        }
        match optimize(&self.alone(together.clone(), arrays), self.options) {
            Ok(Optimized { function, report, .. }) => {
                self.notes.extend(report.bands.into_iter().chain(report.notes));
                self.notes.extend(report.left.map(|why| format!("not optimized: {why}")));
                // What it declares ends with it.
                result.push(Stmt::Block { mark: None, body: function.body });
            }
            Err(refused) => {
                self.left += 1;
                self.notes.push(format!("a nest is left as it is: {}", refused.message));
                result.extend(together);
            }
        }
    }

    /// Statements as a function of the arrays that they touch.
    fn alone(&self, body: Vec<Stmt>, arrays: &[Param]) -> Function {
        let (mut touched, mut written) = (Vec::<Name>::new(), Vec::new());
        for stmt in nodes(&body) {
            if let Stmt::Assign(assign) = stmt {
                written.push(assign.target.array.clone());
            }
            touched.extend(stmt.exprs().into_iter().flat_map(|e| e.arrays()));
        }
        let of = |param: &Param| {
            let mode = match param.mode {
                _ if !written.contains(&param.name) => ParamMode::In,
                _ => ParamMode::InOut,
            };
            Param { mode, ..param.clone() }
        };
        let used = |param: &&Param| touched.contains(&param.name) || written.contains(&param.name);
        let params = arrays.iter().filter(used).map(of).collect();
        Function { params, body, ..self.function.clone() }
    }
}

fn has_loops(stmt: &Stmt) -> bool {
    stmt.nodes().any(|stmt| matches!(stmt, Stmt::Loop(_)))
}

fn as_param(local: &ArrayDecl) -> Param {
    let ArrayDecl { name, elem, dims, .. } = local.clone();
    Param { name, elem, dims, mode: ParamMode::InOut }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use loops::{Data, Tensor};

    use super::*;

    /// Products of a matrix by itself until a count is 0.
    const POWER: &str = "fn power[n](a: in i64[n][n], out: inout i64[n][n]) where n >= 0 {
        local rest: i64 stack
        local next: i64[n][n] heap
        rest = 5
        for t in 0..60 {
            if !(rest == 0) {
                if rest mod 2 == 1 {
                    par i in 0..n { for j in 0..n {
                        local sum: i64 stack
                        sum = 0
                        for k in 0..n { sum += out[i][k] * a[k][j] }
                        next[i][j] = sum
                    } }
                } else {
                    par i in 0..n { for j in 0..n { next[i][j] = out[i][j] + t } }
                }
                par i in 0..n { for j in 0..n { out[i][j] = next[i][j] } }
                rest = rest floordiv 2
            }
        }
    }";

    fn run(function: &Function, n: i64) -> BTreeMap<Name, Tensor> {
        let count = (n * n) as usize;
        let data = |seed: i64| Data::I64((0..count as i64).map(|k| (k * seed) % 7 - 3).collect());
        let tensor = |seed| Tensor { shape: vec![n as usize; 2], data: data(seed) };
        let inputs = [(Name::new("a"), tensor(5)), (Name::new("out"), tensor(3))].into();
        let sizes = [(Name::new("n"), n)].into();
        loops::run(function, &sizes, inputs, &loops::Options::default()).unwrap()
    }

    #[test]
    fn control_stays_around_nests_that_are_optimised() {
        let function = loops::parse(POWER).unwrap().functions.remove(0);
        let Apart { function: new, .. } = apart(&function, &Options::default()).unwrap().unwrap();
        let early = nodes(&new.body).any(|stmt| matches!(stmt, Stmt::Loop(l) if l.ends_early()));
        assert!(early, "{new}");
        assert!(new.to_string().contains("contraction"), "{new}");
        assert!(loops::validate(&new).is_proved(), "{new}");
        for n in [0, 1, 2, 9] {
            assert_eq!(run(&function, n), run(&new, n), "{n}");
        }
    }
}
