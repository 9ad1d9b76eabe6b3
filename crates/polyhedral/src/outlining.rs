//! Functions of which the model can hold some nests and not others (a subscript that is data):
//! those that it can hold are optimised as functions of their own, the others stay as they are,
//! between them.
//!
//! The order of the parts is that of the text, so nothing between them is asked. Left out: nests of
//! which an inner loop alone cannot be held.

use loops::visit::nodes;
use loops::{ArrayDecl, Function, Name, Param, ParamMode, Stmt};

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
    let mut parts = Parts { function: &function, options, notes: Vec::new(), left: 0 };
    let params = function.params.clone();
    let body = parts.block(&function.body, params);
    let Parts { notes, left, .. } = parts;
    Ok((left > 0).then(|| Apart { function: Function { body, ..function.clone() }, notes }))
}

struct Parts<'a> {
    function: &'a Function,
    options: &'a Options,
    notes: Vec<String>,
    left: usize,
}

impl Parts<'_> {
    /// Statements outside of loops; `arrays` are there.
    fn block(&mut self, body: &[Stmt], mut arrays: Vec<Param>) -> Vec<Stmt> {
        let (mut result, mut together) = (Vec::new(), Vec::new());
        for stmt in body {
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

fn as_param(local: &ArrayDecl) -> Param {
    let ArrayDecl { name, elem, dims, .. } = local.clone();
    Param { name, elem, dims, mode: ParamMode::InOut }
}
