//! Facts about the terms of a definition, collected in one pass: which variables are read often,
//! which terms need loops.

use std::collections::HashMap;

use functional::{Arg, Definition, Prim, Term, TermKind};

/// Facts about each term and variable of one definition. Valid as long as the definition lives.
pub struct Info {
    uses: HashMap<u32, Vec<Use>>,
    work: HashMap<usize, Work>,
}

/// One use of a variable.
#[derive(Clone)]
struct Use {
    /// The components that are taken at once: `fst (snd v)` reads `.x2.x1`.
    components: Vec<Prim>,
    /// Whether it is inside a function that does not bind the variable.
    inside: bool,
}

/// Uses that are distinguished. A variable with more counts as read often in all its components.
const USES: usize = 32;

/// What computing a term takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// A loop of its own for one value: a reduction, a scan, an iteration, a copy into memory.
    pub loops: bool,
    /// Arithmetic.
    pub arithmetic: bool,
}

impl Work {
    fn and(self, other: Work) -> Work {
        Work { loops: self.loops || other.loops, arithmetic: self.arithmetic || other.arithmetic }
    }
}

impl Info {
    /// The facts about a definition.
    pub fn of(definition: &Definition) -> Info {
        let mut info = Info { uses: HashMap::new(), work: HashMap::new() };
        let mut depth_of = HashMap::new();
        for param in &definition.params {
            depth_of.insert(param.var.id, 0);
        }
        info.visit(&definition.body, 0, &mut depth_of, &mut Vec::new());
        info
    }

    /// Whether the variable is read more than once, or inside a function that is applied more than
    /// once.
    pub fn many(&self, id: u32) -> bool {
        self.many_at(id, &[])
    }

    /// Whether a component of the variable is read more than once.
    pub(crate) fn many_at(&self, id: u32, component: &[Prim]) -> bool {
        let Some(uses) = self.uses.get(&id) else { return false };
        let touches = |u: &&Use| u.components.iter().zip(component).all(|(a, b)| a == b);
        let mut touching = uses.iter().filter(touches);
        match (touching.next(), touching.next()) {
            (None, _) => false,
            (Some(only), None) => only.inside,
            _ => true,
        }
    }

    /// What computing the term takes.
    pub fn work(&self, term: &Term) -> Work {
        self.work.get(&key(term)).copied().unwrap_or(Work { loops: true, arithmetic: true })
    }

    fn note_use(&mut self, id: u32, new: Use) {
        let uses = self.uses.entry(id).or_default();
        if uses.len() < USES {
            uses.push(new);
        } else {
            let anything = Use { components: Vec::new(), inside: true };
            uses.truncate(USES - 1);
            uses.push(anything);
        }
    }

    /// `components` are those that are taken of the term at once, the outermost first.
    fn visit(
        &mut self,
        term: &Term,
        depth: u32,
        depth_of: &mut HashMap<u32, u32>,
        components: &mut Vec<Prim>,
    ) -> Work {
        let work = match term.kind() {
            TermKind::Var(var) => {
                let inside = depth_of.get(&var.id).copied().unwrap_or(0) < depth;
                let components = components.iter().rev().copied().collect();
                self.note_use(var.id, Use { components, inside });
                Work::default()
            }
            TermKind::Literal(_) | TermKind::Size(_) => Work::default(),
            TermKind::Let(binder, value, body) => {
                let first = self.visit(value, depth, depth_of, &mut Vec::new());
                depth_of.insert(binder.var.id, depth);
                first.and(self.visit(body, depth, depth_of, &mut Vec::new()))
            }
            TermKind::Prim(prim, args) => {
                let mut work = own_work(*prim);
                if matches!(prim, Prim::Fst | Prim::Snd)
                    && let [Arg::Term(of)] = &args[..]
                {
                    components.push(*prim);
                    work = work.and(self.visit(of, depth, depth_of, components));
                    components.pop();
                    self.work.insert(key(term), work);
                    return work;
                }
                for arg in args {
                    match arg {
                        Arg::Size(_) => {}
                        Arg::Term(term) => {
                            work = work.and(self.visit(term, depth, depth_of, &mut Vec::new()))
                        }
                        Arg::Fun(lambda) => {
                            for param in &lambda.params {
                                depth_of.insert(param.var.id, depth + 1);
                            }
                            work = work.and(self.visit(&lambda.body, depth + 1, depth_of, &mut Vec::new()));
                        }
                    }
                }
                work
            }
        };
        self.work.insert(key(term), work);
        work
    }
}

fn key(term: &Term) -> usize {
    std::ptr::from_ref(term.kind()).addr()
}

/// Whether a primitive computes into memory, in loops of its own.
pub(crate) fn stores(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::ReduceSeq
            | Prim::ReduceUnroll
            | Prim::ReducePar
            | Prim::ScanSeq
            | Prim::ReduceByIndex
            | Prim::Iterate
            | Prim::TransPar
            | Prim::ReverseSeq
            | Prim::CopySeq
            | Prim::Scatter
            | Prim::ToMem
    )
}

fn own_work(prim: Prim) -> Work {
    let loops = prim == Prim::Reduce || stores(prim);
    let arithmetic =
        prim.info().group == functional::Group::Scalar && !matches!(prim, Prim::Zero | Prim::One);
    Work { loops, arithmetic }
}
