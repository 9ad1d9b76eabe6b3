//! Race freedom of parallel loops, checked on the commands: iteration `i` of `parfor n a` writes
//! only `a{i}` and memory of its own.
//!
//! The rules make such commands, but this check does not trust them. Reads need no check of their
//! own. An iteration writes its element of `a`, which nothing can read inside the loop, or memory
//! that is declared inside. (Accumulators in an outer acceptor are read. Updates of them are
//! checked here, and by subscripts in code generation.)

use std::collections::HashMap;

use crate::derivation::Bindings;
use crate::phrase::{Acc, AccKind, Comm, CommKind, PVar};

/// Checks commands without pending nodes that write into `out`.
///
/// # Errors
/// What is written where it must not be.
pub fn check(comm: &Comm, out: &PVar, bindings: &Bindings) -> Result<(), String> {
    let mut checker = Checker { bindings, level: 0, levels: HashMap::from([(out.id, 0)]) };
    checker.comm(comm)
}

struct Checker<'b> {
    bindings: &'b Bindings,
    /// Parallel loops around.
    level: u32,
    /// For each variable that may be written: the number of parallel loops around its declaration.
    levels: HashMap<u32, u32>,
}

impl Checker<'_> {
    fn comm(&mut self, comm: &Comm) -> Result<(), String> {
        match comm.kind() {
            CommKind::Skip => Ok(()),
            CommKind::Seq(a, b) | CommKind::If(_, a, b) => {
                self.comm(a)?;
                self.comm(b)
            }
            CommKind::Assign(a, _) => self.write(a),
            CommKind::Accumulate(_, a, _) => self.write(a),
            CommKind::New(v, _, c) => {
                self.levels.insert(v.id, self.level);
                self.comm(c)
            }
            CommKind::Alias(v, a, c) => {
                self.write(a)?;
                self.levels.insert(v.id, self.level);
                self.comm(c)
            }
            CommKind::Update(v, _, o, c) => {
                self.variable(v)?;
                self.levels.insert(o.id, self.level);
                self.comm(c)
            }
            CommKind::SeqFor(_, _, _, c) => self.comm(c),
            CommKind::ParFor { out, o, body, .. } => {
                self.write(out)?;
                self.level += 1;
                self.levels.insert(o.id, self.level);
                let result = self.comm(body);
                self.level -= 1;
                result
            }
            CommKind::ReduceFor(_, v, _, _, c) => {
                self.variable(v)?;
                self.level += 1;
                // Inside, the accumulator is private to the iteration.
                self.levels.insert(v.id, self.level);
                let result = self.comm(c);
                self.level -= 1;
                self.levels.insert(v.id, self.level);
                result
            }
            CommKind::Branch(..)
            | CommKind::A(..)
            | CommKind::C(..)
            | CommKind::Bind(..)
            | CommKind::Share(..)
            | CommKind::Macro(_)
            | CommKind::Yield(_) => Err("a command is still pending".to_owned()),
        }
    }

    fn write(&self, acc: &Acc) -> Result<(), String> {
        match acc.kind() {
            AccKind::Var(v) => match self.bindings.get_acc(v) {
                Some(acc) => self.write(acc),
                None => self.variable(v),
            },
            AccKind::At(inner, _) | AccKind::View(_, inner) => self.write(inner),
        }
    }

    fn variable(&self, v: &PVar) -> Result<(), String> {
        match self.levels.get(&v.id) {
            Some(level) if *level == self.level => Ok(()),
            Some(_) => {
                Err(format!("`{}` belongs to all iterations of a parallel loop, and one writes it", v.name))
            }
            None => Err(format!("`{}` is written where it is not in scope", v.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase::{Exp, Role};
    use functional::{DataType, Literal};
    use loops::{LoopKind, Scalar, Size};

    fn var(id: u32, role: Role) -> PVar {
        PVar { id, name: format!("x{id}").into(), hint: None, role }
    }

    #[test]
    fn an_iteration_may_write_its_own_element_only() {
        let num = DataType::Scalar(Scalar::F32);
        let n = Size::param("n");
        let (out, index, o) = (var(0, Role::Parameter), var(1, Role::Index), var(2, Role::Acceptor));
        let whole = Acc::var(&out, DataType::array(n.clone(), num.clone()));
        let zero = Exp::literal(Literal::F32(0));
        let first = whole.at(Exp::size(Size::constant(0), DataType::Idx(n.clone()))).unwrap();
        let par = |body: CommKind| -> Comm {
            CommKind::ParFor {
                kind: LoopKind::Parallel,
                n: n.clone(),
                out: whole.clone(),
                index: index.clone(),
                o: o.clone(),
                body: body.into(),
            }
            .into()
        };
        let bindings = Bindings::default();
        let good = par(CommKind::Assign(Acc::var(&o, num.clone()), zero.clone()));
        assert_eq!(check(&good, &out, &bindings), Ok(()));
        let bad = par(CommKind::Assign(first, zero));
        assert!(check(&bad, &out, &bindings).is_err());
    }
}
