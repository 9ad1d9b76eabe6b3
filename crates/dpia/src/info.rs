//! Facts about the terms of a definition, gathered in one pass: which variables are read often, which terms need loops.

use std::collections::HashMap;

use functional::{Arg, Definition, Prim, Term, TermKind};

/// What is known of each term and variable of one definition. Valid as long as the definition lives.
pub struct Info {
    uses: HashMap<u32, Uses>,
    work: HashMap<usize, Work>,
}

#[derive(Clone, Copy, Default)]
struct Uses {
    count: u32,
    inside: bool,
}

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
        info.visit(&definition.body, 0, &mut depth_of);
        info
    }

    /// Whether the variable is read more than once, or inside a function that is applied more than once.
    pub fn many(&self, id: u32) -> bool {
        self.uses.get(&id).is_some_and(|uses| uses.count > 1 || uses.inside)
    }

    /// What computing the term takes.
    pub fn work(&self, term: &Term) -> Work {
        self.work.get(&key(term)).copied().unwrap_or(Work { loops: true, arithmetic: true })
    }

    fn visit(&mut self, term: &Term, depth: u32, depth_of: &mut HashMap<u32, u32>) -> Work {
        let work = match term.kind() {
            TermKind::Var(var) => {
                let uses = self.uses.entry(var.id).or_default();
                uses.count = uses.count.saturating_add(1);
                uses.inside |= depth_of.get(&var.id).copied().unwrap_or(0) < depth;
                Work::default()
            }
            TermKind::Literal(_) | TermKind::Size(_) => Work::default(),
            TermKind::Let(binder, value, body) => {
                let first = self.visit(value, depth, depth_of);
                depth_of.insert(binder.var.id, depth);
                first.and(self.visit(body, depth, depth_of))
            }
            TermKind::Prim(prim, args) => {
                let mut work = own_work(*prim);
                for arg in args {
                    match arg {
                        Arg::Size(_) => {}
                        Arg::Term(term) => work = work.and(self.visit(term, depth, depth_of)),
                        Arg::Fun(lambda) => {
                            for param in &lambda.params {
                                depth_of.insert(param.var.id, depth + 1);
                            }
                            work = work.and(self.visit(&lambda.body, depth + 1, depth_of));
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

fn own_work(prim: Prim) -> Work {
    let loops = matches!(
        prim,
        Prim::Reduce
            | Prim::ReduceSeq
            | Prim::ReduceUnroll
            | Prim::ReducePar
            | Prim::ScanSeq
            | Prim::Iterate
            | Prim::TransPar
            | Prim::ReverseSeq
            | Prim::CopySeq
            | Prim::Scatter
            | Prim::ToMem
    );
    let arithmetic =
        prim.info().group == functional::Group::Scalar && !matches!(prim, Prim::Zero | Prim::One);
    Work { loops, arithmetic }
}
