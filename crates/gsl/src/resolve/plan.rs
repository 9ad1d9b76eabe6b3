//! Plans the order of matching: at which output a match begins, and how the other outputs are found
//! from there (theorem 1).

use std::collections::{BTreeSet, VecDeque};

use crate::program::{Arg, Branch, Inst, Item, Need, Plan, RExpr, Stage, Test, ValueRef, What};
use crate::resolve::Resolver;

/// The discrimination tree looks at no more vertices of a pattern than this.
const MAX_TESTS: usize = 12;

/// What is matched when planning has come so far.
#[derive(Clone, Default)]
struct Reached {
    vertices: BTreeSet<usize>,
    inputs: BTreeSet<usize>,
}

impl Resolver<'_> {
    pub(crate) fn plan(&mut self) {
        let roots = self.roots();
        for s in self.spread_symbols() {
            self.out.symbols[s].spread = true;
        }
        for anchor in &roots {
            // Every branch of a template is as good a beginning as the first.
            let Some(plan) = self.plan_from(*anchor, &roots) else { return };
            self.out.plans.push(plan);
        }
        if self.out.plans.is_empty() {
            let text = format!("rule `{}` has no output", self.rule.name);
            self.error("R0208", text, self.rule.place.0, "in this rule");
        }
    }

    /// Vertices that no other vertex of the source uses.
    fn roots(&self) -> Vec<usize> {
        let mut used = BTreeSet::new();
        for vertex in &self.out.vertices {
            for arg in &vertex.args {
                used.extend(arg_vertex(arg));
            }
        }
        (0..self.out.vertices.len()).filter(|v| !used.contains(v)).collect()
    }

    fn plan_from(&mut self, anchor: usize, roots: &[usize]) -> Option<Plan> {
        let mut reached = Reached::default();
        self.reach(anchor, &mut reached);
        let mut plan = Plan { anchor, tests: self.tests(anchor), ..Plan::default() };
        let mut rest: Vec<usize> =
            roots.iter().copied().filter(|r| *r != anchor && !reached.vertices.contains(r)).collect();
        while !rest.is_empty() {
            let found = rest.iter().enumerate().find_map(|(k, r)| self.stage(*r, &reached).map(|s| (k, s)));
            let Some((k, stage)) = found else {
                let (a, b) =
                    (self.out.vertices[anchor].name.clone(), self.out.vertices[rest[0]].name.clone());
                let (at, other) = (self.places[rest[0]], self.places[anchor]);
                let text = format!("the pattern is not connected: `{b}` shares nothing with `{a}`");
                self.error("R0206", text, at, "this call").labels.push(loops::Label {
                    span: other,
                    text: "and this one".into(),
                    primary: false,
                });
                return None;
            };
            self.reach(rest.remove(k), &mut reached);
            plan.stages.push(stage);
        }
        plan.branch = self.branch(roots, &reached)?;
        plan.needs = self.needs(&plan);
        Some(plan)
    }

    /// Necessary conditions on the anchor's inputs. Vertices are matched one to one, so a value
    /// that two of them read has two uses.
    fn needs(&self, plan: &Plan) -> Vec<Need> {
        let several = |symbol: usize| matches!(self.out.symbols[symbol].least, RExpr::Int(n) if n >= 2);
        let branch = plan.branch.iter().filter(|b| several(b.symbol)).flat_map(|b| &b.stages);
        let starts: Vec<&ValueRef> = (plan.stages.iter().chain(branch))
            .filter(|stage| stage.path.len() == 1 && stage.start.inst == Inst::Shared)
            .map(|stage| &stage.start)
            .collect();
        // Branches may read different results of one vertex: `s[i]` is another value for each `i`.
        let one = |value: &ValueRef| !matches!(value.what, What::Result(_, Item::Computed(_)));
        let mut needs = Vec::new();
        for (slot, arg) in self.out.vertices[plan.anchor].args.iter().enumerate() {
            match arg {
                Arg::Constant(_) => needs.push(Need::Constant(slot)),
                Arg::Value(value) if one(value) && starts.contains(&value) => needs.push(Need::Shared(slot)),
                // Behind a spread the places of inputs are not known.
                Arg::Instances(..) | Arg::Results(..) => break,
                _ => {}
            }
        }
        needs
    }

    /// How one more branch is found when there is one already: its vertices begin unmatched, all
    /// shared ones are matched.
    fn branch(&mut self, roots: &[usize], all: &Reached) -> Option<Option<Branch>> {
        let driven = self.spread_symbols();
        let own: Vec<usize> = roots
            .iter()
            .copied()
            .filter(|r| self.out.vertices[*r].symbol.is_some_and(|s| !driven.contains(&s)))
            .collect();
        let Some(first) = own.first() else { return Some(None) };
        let symbol = self.out.vertices[*first].symbol?;
        if let Some(other) = own.iter().find(|r| self.out.vertices[**r].symbol != Some(symbol)) {
            let at = self.places[*other];
            self.error("R0212", "outputs of one rule have one index".into(), at, "another index than before");
            return None;
        }
        let mut reached = Reached {
            vertices: all
                .vertices
                .iter()
                .copied()
                .filter(|v| self.out.vertices[*v].symbol != Some(symbol))
                .collect(),
            inputs: all
                .inputs
                .iter()
                .copied()
                .filter(|k| self.out.inputs[*k].symbol != Some(symbol))
                .collect(),
        };
        let mut stages = Vec::new();
        let mut rest = own;
        while !rest.is_empty() {
            let found = rest.iter().enumerate().find_map(|(k, r)| self.stage(*r, &reached).map(|s| (k, s)));
            let Some((k, stage)) = found else {
                let name = self.out.vertices[rest[0]].name.clone();
                let at = self.places[rest[0]];
                let text = format!("the pattern is not connected: the branches of `{name}` share nothing");
                self.error("R0206", text, at, "one branch")
                    .help
                    .push("what all branches share is written without the index".into());
                return None;
            };
            self.reach(rest.remove(k), &mut reached);
            stages.push(stage);
        }
        Some(Some(Branch { symbol, stages }))
    }

    /// Index symbols whose instances are the inputs of one call.
    fn spread_symbols(&self) -> BTreeSet<usize> {
        let args = self.out.vertices.iter().flat_map(|v| &v.args);
        args.filter_map(|a| if let Arg::Instances(_, s) = a { Some(*s) } else { None }).collect()
    }

    fn reach(&self, v: usize, reached: &mut Reached) {
        if !reached.vertices.insert(v) {
            return;
        }
        for arg in &self.out.vertices[v].args {
            reached.inputs.extend(arg_input(arg));
            if let Some(w) = arg_vertex(arg) {
                self.reach(w, reached);
            }
        }
    }

    /// A path from something matched forward to a vertex. Shorter paths come first, and paths from
    /// results before paths from inputs, because inputs may have many uses.
    fn stage(&self, target: usize, reached: &Reached) -> Option<Stage> {
        let mut queue = VecDeque::from([vec![target]]);
        let mut seen = BTreeSet::from([target]);
        let mut by_input: Option<Stage> = None;
        while let Some(way) = queue.pop_front() {
            let here = way[way.len() - 1];
            let path = || way.iter().rev().copied().collect::<Vec<_>>();
            for arg in &self.out.vertices[here].args {
                if let Some(w) = arg_vertex(arg) {
                    if reached.vertices.contains(&w) {
                        let start = match arg {
                            Arg::Value(v) => v.clone(),
                            _ => ValueRef { what: What::Result(w, Item::Fixed(0)), inst: Inst::Shared },
                        };
                        return Some(Stage { vertex: target, start, path: path() });
                    }
                    if seen.insert(w) {
                        let mut longer = way.clone();
                        longer.push(w);
                        queue.push_back(longer);
                    }
                }
                if let (Some(k), None) = (arg_input(arg), &by_input)
                    && reached.inputs.contains(&k)
                {
                    let inst = self.out.inputs[k].symbol.map_or(Inst::Shared, Inst::Slot);
                    let start = ValueRef { what: What::Input(k), inst };
                    by_input = Some(Stage { vertex: target, start, path: path() });
                }
            }
        }
        by_input
    }

    /// The operators from the anchor backward.
    fn tests(&self, anchor: usize) -> Vec<Test> {
        let mut tests = vec![Test { parent: 0, slot: 0, op: self.out.vertices[anchor].op.clone() }];
        let mut queue = VecDeque::from([(anchor, 0)]);
        while let Some((v, number)) = queue.pop_front() {
            for (slot, arg) in self.out.vertices[v].args.iter().enumerate() {
                let child = match arg {
                    Arg::Value(ValueRef { what: What::Result(w, _), .. }) => *w,
                    // Behind a spread the places of inputs are not known.
                    Arg::Instances(..) | Arg::Results(..) => break,
                    _ => continue,
                };
                if tests.len() < MAX_TESTS {
                    queue.push_back((child, tests.len()));
                    tests.push(Test { parent: number, slot, op: self.out.vertices[child].op.clone() });
                }
            }
        }
        tests
    }
}

fn arg_vertex(arg: &Arg) -> Option<usize> {
    match arg {
        Arg::Value(ValueRef { what: What::Result(v, _), .. })
        | Arg::Instances(ValueRef { what: What::Result(v, _), .. }, _)
        | Arg::Results(v, _) => Some(*v),
        _ => None,
    }
}

fn arg_input(arg: &Arg) -> Option<usize> {
    match arg {
        Arg::Optional(k)
        | Arg::Value(ValueRef { what: What::Input(k), .. })
        | Arg::Instances(ValueRef { what: What::Input(k), .. }, _) => Some(*k),
        _ => None,
    }
}
