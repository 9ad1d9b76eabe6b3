//! What the mapped program does with panels, element by element: which statements change an
//! element, in which order, and what they read.
//!
//! A loop over panels contains three loops over cores: a matrix is computed by rows, summed up by
//! columns, used by rows. All information here comes from the mapped program.

mod numbers;

use loops::{Access, Assign, BinaryOp, CompareOp, Copy, CopyKind, Elem, Expr, Loop, LoopKind, Stmt};

use super::super::form::{Atom, Form};
use super::super::mapped::{Mapped, cores, form};
use super::super::walk::{Followed, lost};

/// Elements of an array that an access reaches, by the iterators of its statement.
pub(super) struct Reach {
    /// The buffer in local memory.
    pub buffer: String,
    /// The array in main memory that it is a box of.
    pub array: usize,
    /// A subscript for each dimension: a number, and a factor for each iterator.
    coordinates: Vec<(i64, Vec<i64>)>,
}

/// A statement.
pub(super) struct Rule<'a> {
    phase: usize,
    pub target: Reach,
    /// What it reads besides its target.
    pub reads: Vec<Reach>,
    /// Whether it reads its target.
    pub updates: bool,
    /// Loops around elements of a tile, and those around tiles.
    iterators: Vec<&'a Loop>,
    tiles: Vec<&'a Loop>,
    /// For each iterator the access that has it (0 is the target), and in which dimension.
    solved: Vec<(usize, usize)>,
    /// The iterator that the target does not have.
    along: Option<usize>,
}

/// An assignment, the loops around it, and how many of these are around its tile.
type Placed<'a> = (&'a Assign, Vec<&'a Loop>, usize);

/// A loop over cores.
struct Phase<'a> {
    body: &'a Loop,
    copies: Vec<&'a Copy>,
}

/// Three loops over cores in a loop over panels.
pub(super) struct Plan<'a> {
    /// Arrays in main memory: names and extents.
    pub arrays: Vec<(&'a str, &'a [Expr])>,
    pub rules: Vec<Rule<'a>>,
    panels: &'a Loop,
    phases: Vec<Phase<'a>>,
    pub cores: i64,
    /// Bytes of an element.
    pub element: i64,
    /// The array of sums.
    sums: usize,
}

/// Elements of an array, from the first to before the end.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Elements {
    pub array: usize,
    pub from: i64,
    pub to: i64,
}

/// Numbers of a plan for some sizes and a place in the line of cores.
pub(super) struct Numbers {
    /// Extents of arrays, and how many elements there are.
    pub extents: Vec<Vec<i64>>,
    pub totals: Vec<i64>,
    /// How many statements change an element of an array.
    pub finals: Vec<i64>,
    /// For each statement: how many are before its first, the first value of what it sums along,
    /// and for each access the number of an element, by iterators.
    pub rules: Vec<RuleNumbers>,
    /// What this core brings out.
    pub owned: Vec<Elements>,
    /// The array of sums, and where each panel of it ends.
    pub sums: usize,
    pub ends: Vec<i64>,
    /// How many are in the sums before this core, and after it.
    pub before: i64,
    pub after: i64,
}

/// Rows of elements of an array: a row begins `pitch` elements after the one before.
struct ElementBox {
    rows: i64,
    columns: i64,
    pitch: i64,
    /// The first element.
    at: i64,
}

pub(super) struct RuleNumbers {
    pub base: i64,
    pub first: i64,
    /// The target first, then what is read.
    pub elements: Vec<(i64, Vec<i64>)>,
}

/// A value of an index expression. As [`super::number`] has it, not as loop programs: the verifier
/// has its own.
pub(super) fn number(e: &Expr, value: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let two = |a: &Expr, b: &Expr| Some((number(a, value)?, number(b, value)?));
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Var(name) => value(name),
        Expr::Load(access) if access.indices.is_empty() => value(&access.array),
        Expr::Binary(op, a, b) => {
            let (a, b) = two(a, b)?;
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::Min => Some(a.min(b)),
                BinaryOp::Max => Some(a.max(b)),
                BinaryOp::FloorDiv => a.checked_div_euclid(b).filter(|_| b > 0),
                BinaryOp::Mod => a.checked_rem_euclid(b).filter(|_| b > 0),
                BinaryOp::Div => a.checked_div(b),
                BinaryOp::Rem => a.checked_rem(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Loops over cores, with the loops of the same kernel around them.
fn phases<'a>(body: &'a [Stmt], around: &mut Vec<&'a Loop>, found: &mut Vec<(Vec<&'a Loop>, &'a Loop)>) {
    for stmt in body {
        match stmt {
            Stmt::Loop(l @ Loop { kind: LoopKind::Parallel, .. }) => found.push((around.clone(), l)),
            Stmt::Loop(l) => {
                around.push(l);
                phases(&l.body, around, found);
                around.pop();
            }
            other => other.bodies().into_iter().for_each(|body| phases(body, around, found)),
        }
    }
}

impl<'a> Plan<'a> {
    /// The plan of three loops over cores that follow each other, from a number on.
    pub fn of(mapped: &'a Mapped<'a>, first: usize) -> Followed<Plan<'a>> {
        let mut found = Vec::new();
        phases(mapped.body, &mut Vec::new(), &mut found);
        let Some([a, b, c]) = found.get(first..).and_then(|rest| rest.first_chunk()) else {
            return lost("three loops over cores are not there");
        };
        let [panels] = a.0.as_slice() else { return lost("panels in further loops") };
        if [b, c].iter().any(|p| p.0.len() != 1 || !std::ptr::eq(p.0[0], *panels)) || panels.step != 1 {
            return lost("loops over cores that are not those of one loop over panels");
        }
        let arrays = mapped.arrays.iter().map(|(name, dims)| (name.as_str(), dims.as_slice())).collect();
        let (rows, columns) = cores(a.1);
        let phases = [a, b, c].map(|p| Phase { body: p.1, copies: Vec::new() }).into_iter().collect();
        let cores = rows * columns;
        let mut plan = Plan { arrays, rules: vec![], panels, phases, cores, element: 0, sums: 0 };
        for k in 0..plan.phases.len() {
            let body = plan.phases[k].body;
            let mut assigns = Vec::new();
            plan.gather(k, &body.body, &mut Vec::new(), None, &mut assigns)?;
            for (assign, loops, tile) in assigns {
                let rule = plan.rule(k, assign, &loops, tile)?;
                plan.rules.push(rule);
            }
        }
        let Some(sums) = plan.rules.iter().find(|r| r.phase == 1 && r.along.is_some()) else {
            return lost("panels without sums");
        };
        plan.sums = sums.target.array;
        plan.in_order()?;
        Ok(plan)
    }

    fn gather(
        &mut self,
        phase: usize,
        body: &'a [Stmt],
        loops: &mut Vec<&'a Loop>,
        tile: Option<usize>,
        assigns: &mut Vec<Placed<'a>>,
    ) -> Followed<()> {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => match tile {
                    Some(tile) => assigns.push((assign, loops.clone(), tile)),
                    None => return lost("a statement of panels outside of tiles"),
                },
                Stmt::Loop(l) if l.step == 1 || tile.is_none() => {
                    loops.push(l);
                    self.gather(phase, &l.body, loops, tile, assigns)?;
                    loops.pop();
                }
                Stmt::Loop(_) => return lost("steps within tiles of panels"),
                Stmt::Block { mark, body } => {
                    let own = mark.as_ref().is_some_and(|m| m.as_str() == "tile");
                    let tile = if own { Some(loops.len()) } else { tile };
                    self.gather(phase, body, loops, tile, assigns)?;
                }
                Stmt::If { cond, then, otherwise } if otherwise.is_empty() && tile.is_none() => {
                    if !taken_in_turns(cond, &self.phases[phase].body.var, self.cores) {
                        return lost("a condition around tiles of panels");
                    }
                    self.gather(phase, then, loops, tile, assigns)?;
                }
                Stmt::If { .. } => return lost("a condition in tiles of panels"),
                Stmt::Copy(copy) => self.phases[phase].copies.push(copy),
                Stmt::Local(local) => {
                    let Elem::Scalar(scalar) = local.elem else { return lost("pairs in panels") };
                    let bytes = scalar.bytes() as i64;
                    if self.element != 0 && self.element != bytes {
                        return lost("elements of two sizes in panels");
                    }
                    self.element = bytes;
                }
                Stmt::Wait(_) => {}
            }
        }
        Ok(())
    }

    fn array(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|(own, _)| *own == name)
    }

    /// What an access to local memory reaches in main memory.
    fn reach(&self, phase: usize, access: &Access, iterators: &[&'a Loop]) -> Followed<Reach> {
        let symbol = |name: &str| Some(Form::symbol(name));
        let buffer = access.array.to_string();
        for copy in &self.phases[phase].copies {
            let (local, memory) = match copy.kind {
                CopyKind::Get => (&copy.to, &copy.from),
                CopyKind::Put => (&copy.from, &copy.to),
            };
            if local.array != access.array {
                continue;
            }
            let Some(array) = self.array(&memory.array) else { continue };
            let skipped = memory.indices.len().saturating_sub(access.indices.len());
            let start = |e: &Expr| form(e, &symbol).and_then(|f| f.constant()) == Some(0);
            if memory.indices.len() < access.indices.len() || !local.indices.iter().all(start) {
                return lost(format!("a box of `{}` in another form", memory.array));
            }
            let mut coordinates = Vec::new();
            for (d, index) in memory.indices.iter().enumerate() {
                let mut index = form(index, &symbol);
                if d >= skipped {
                    let own = form(&access.indices[d - skipped], &symbol);
                    index = index.zip(own).map(|(a, b)| a.plus(&b));
                }
                let mut factors = vec![0; iterators.len()];
                let mut at = 0;
                for (product, factor) in index.iter().flat_map(Form::terms) {
                    match product {
                        [] => at = factor,
                        [Atom::Symbol(name)] => match iterators.iter().position(|l| *l.var == **name) {
                            Some(k) => factors[k] = factor,
                            None => return lost(format!("subscripts of `{buffer}` beside its box")),
                        },
                        _ => return lost(format!("subscripts of `{buffer}` in another form")),
                    }
                }
                if index.is_none() {
                    return lost(format!("subscripts of `{buffer}` in another form"));
                }
                coordinates.push((at, factors));
            }
            return Ok(Reach { buffer, array, coordinates });
        }
        lost(format!("`{buffer}` is no box of main memory"))
    }

    fn rule(&self, phase: usize, assign: &'a Assign, loops: &[&'a Loop], tile: usize) -> Followed<Rule<'a>> {
        let (tiles, iterators) = (loops[..tile].to_vec(), loops[tile..].to_vec());
        let target = self.reach(phase, &assign.target, &iterators)?;
        let mut updates = assign.update.is_some();
        let mut reads = Vec::<Reach>::new();
        let mut all = Vec::new();
        for e in assign.value.nodes() {
            if let Expr::Load(access) = e
                && !access.indices.is_empty()
            {
                all.push(access);
            }
        }
        for access in all {
            let reach = self.reach(phase, access, &iterators)?;
            let same = |other: &Reach| reach.coordinates == other.coordinates;
            if reach.buffer == target.buffer {
                if !same(&target) {
                    return lost(format!("`{}` of another element is read", reach.buffer));
                }
                updates = true;
            } else if let Some(other) = reads.iter().find(|other| other.buffer == reach.buffer) {
                if !same(other) {
                    return lost(format!("`{}` of several elements is read", reach.buffer));
                }
            } else {
                reads.push(reach);
            }
        }
        // Iterators are read off subscripts that are one of them.
        let mut solved = Vec::new();
        for (k, iterator) in iterators.iter().enumerate() {
            let alone = |(_, factors): &(i64, Vec<i64>)| {
                factors.iter().enumerate().all(|(other, factor)| *factor == i64::from(other == k))
            };
            let known = std::iter::once(&target).chain(&reads).enumerate().skip(usize::from(!updates));
            let own = known.flat_map(|(r, reach)| {
                reach.coordinates.iter().enumerate().map(move |(d, coordinate)| (r, d, coordinate))
            });
            match own.into_iter().find(|(_, _, coordinate)| alone(coordinate)) {
                Some((r, d, _)) => solved.push((r, d)),
                None => return lost(format!("`{}` is no subscript", iterator.var)),
            }
        }
        let has = |k: usize| target.coordinates.iter().any(|(_, factors)| factors[k] != 0);
        let mut absent = (0..iterators.len()).filter(|k| !has(*k));
        let along = absent.next();
        if absent.next().is_some() || (along.is_some() && !updates) {
            return lost(format!("sums in `{}` along two loops", target.buffer));
        }
        // Each loop over tiles says which elements of the statement a tile has.
        for l in &tiles {
            if !iterators.iter().any(|own| own.lower.mentions(&l.var)) {
                return lost(format!("the same elements in each tile of `{}`", l.var));
            }
        }
        if !iterators.iter().any(|own| own.lower.mentions(&self.panels.var)) {
            return lost("the same elements in each panel");
        }
        Ok(Rule { phase, target, reads, updates, iterators, tiles, solved, along })
    }

    /// What is read is done before, and sums of an element are all of one statement.
    fn in_order(&self) -> Followed<()> {
        for (k, rule) in self.rules.iter().enumerate() {
            for read in &rule.reads {
                if self
                    .rules
                    .iter()
                    .any(|other| other.target.array == read.array && other.phase >= rule.phase)
                {
                    return lost(format!("`{}` is read before it is done", read.buffer));
                }
            }
            let others = self
                .rules
                .iter()
                .enumerate()
                .filter(|(j, other)| *j != k && other.target.array == rule.target.array);
            for (_, other) in others {
                let apart = rule.iterators.first().zip(other.iterators.first());
                let apart = apart.is_some_and(|(a, b)| !std::ptr::eq(*a, *b));
                let once = rule.along.is_none() || (other.along.is_none() && apart);
                if other.phase != rule.phase || !once || (rule.phase != 1 && rule.along.is_some()) {
                    return lost(format!("statements of `{}` that take turns", rule.target.buffer));
                }
            }
        }
        Ok(())
    }

    /// The loop over the tiles of a loop over cores that core after core has: of rows.
    fn of_cores(&self, phase: usize) -> Followed<&'a Loop> {
        let rules = self.rules.iter().filter(|r| r.phase == phase);
        let mut tiles = rules.flat_map(|r| r.tiles.iter());
        let own = self.phases[phase].body;
        match tiles.next() {
            Some(l) if tiles.all(|other| std::ptr::eq(*l, *other)) => {
                let alone = phase == 1 && l.lower == Expr::Int(0) && l.step == 1;
                let shared = l.lower == Expr::Var(own.var.clone()) && l.step == self.cores;
                if alone || shared { Ok(l) } else { lost("tiles that cores have in another order") }
            }
            _ => lost("tiles that are not alike for all cores"),
        }
    }

    /// How many panels there are.
    pub fn count(&self, size: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let none = number(&self.panels.lower, size)?;
        (none == 0).then(|| number(&self.panels.upper, size))?.map(|n| n.max(0))
    }

    /// Tiles of rows that there are: as many cores have some.
    pub fn tiles(&self, size: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let l = self.of_cores(1).ok()?;
        number(&l.upper, size)
    }

    /// Names in the bounds of panels, and of tiles of rows.
    pub fn names(&self) -> Followed<[Vec<String>; 2]> {
        let all = |l: &Loop| l.upper.vars().iter().map(|v| v.to_string()).collect::<Vec<_>>();
        Ok([all(self.panels), all(self.of_cores(1)?)])
    }

    /// The elements of a box.
    fn boxed(&self, copy: &Copy, dims: &[i64], value: &dyn Fn(&str) -> Option<i64>) -> Option<ElementBox> {
        let mut at = 0;
        for (index, dim) in copy.to.indices.iter().zip(dims) {
            at = at * dim + number(index, value)?;
        }
        let extents: Option<Vec<i64>> = copy.extents.iter().map(|e| number(e, value)).collect();
        match extents?.as_slice() {
            [columns] => Some(ElementBox { rows: 1, columns: *columns, pitch: 0, at }),
            [rows, columns] => Some(ElementBox { rows: *rows, columns: *columns, pitch: *dims.last()?, at }),
            _ => None,
        }
    }

    /// The iterators of a statement, from the numbers of elements that it reaches: the target's
    /// first; none where what is read has not them.
    pub fn solve(
        &self,
        rule: usize,
        numbers: &Numbers,
        elements: &[Option<i64>],
        found: &mut Vec<i64>,
    ) -> Option<()> {
        let rule = &self.rules[rule];
        found.clear();
        for (r, d) in &rule.solved {
            let reach = if *r == 0 { &rule.target } else { &rule.reads[*r - 1] };
            let dims = &numbers.extents[reach.array];
            let mut rest = (*elements.get(*r)?)?;
            for dim in dims[d + 1..].iter().rev() {
                rest = rest.checked_div(*dim)?;
            }
            if *d > 0 {
                rest = rest.checked_rem(dims[*d])?;
            }
            found.push(rest - reach.coordinates[*d].0);
        }
        Some(())
    }

    /// What comes before an instance of a statement: so often its target has been changed.
    pub fn stage(&self, rule: usize, numbers: &Numbers, iterators: &[i64]) -> i64 {
        let own = &numbers.rules[rule];
        own.base + self.rules[rule].along.map_or(0, |k| iterators[k] - own.first)
    }
}

/// `(tid - jt) mod cores == 0`: cores take turns.
fn taken_in_turns(cond: &Expr, core: &str, cores: i64) -> bool {
    let Expr::Compare(CompareOp::Eq, a, b) = cond else { return false };
    let Expr::Binary(BinaryOp::Mod, who, many) = &**a else { return false };
    let Expr::Binary(BinaryOp::Sub, one, other) = &**who else { return false };
    **b == Expr::Int(0)
        && **many == Expr::Int(cores)
        && matches!(&**one, Expr::Var(name) if **name == *core)
        && matches!(&**other, Expr::Var(_))
}
