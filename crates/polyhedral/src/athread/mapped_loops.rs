//! From the mapped tree to loops (section 6): statements use the buffers, transfers and waits
//! become copies, marks become kernels and loops over the cores.

use std::collections::BTreeMap;

use isl::Set;
use loops::simplify::tidy;
use loops::visit::nodes;
use loops::{Access, ArrayDecl, Assign, Copy, CopyKind, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

use super::boxes;
use super::data_mapping::{self, Group};
use super::host_split::Kernel;
use super::mapped_tree::{self, KERNEL, LOCAL, Names, THREADS, TILE};
use super::multicast::KEPT;
use super::multiversioning::EARLY;
use super::panel::EXCHANGED;
use super::steps::{self, Step};
use super::tile_sizes::{Sized, mapped, places};
use super::{Grid, Options};
use crate::codegen::{self, Mapping};
use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::names::readable;
use crate::tree::Tree;

/// The function of a mapped tree.
pub(super) fn generate(model: &Model, sized: &Sized, tree: &Tree, options: &Options) -> Result<Function> {
    let names = mapped_tree::names(model, &sized.items);
    let kernels = mapped_tree::all_kernels(&sized.items);
    let mut buffers = BTreeMap::new();
    let mut kernel_of = BTreeMap::new();
    for (number, kernel) in kernels.iter().enumerate() {
        for (k, group) in kernel.groups.iter().enumerate() {
            for access in &group.accesses {
                buffers.insert((model.statements[access.0].label.clone(), access.1.clone()), (number, k));
            }
        }
        for part in &kernel.parts {
            for statement in &part.statements {
                kernel_of.insert(model.statements[*statement].label.clone(), number);
            }
        }
    }
    let mapper = Mapper { model, grid: sized.grid, names: &names, kernels, buffers };
    let mut bounds = Vec::new();
    for count in [1, 2] {
        let cores = match (count, sized.grid) {
            (2, Grid::Plane(rows, columns)) => vec![rows, columns],
            (2, Grid::Line(_)) => continue,
            (_, grid) => vec![grid.cores()],
        };
        let threads = mapped_tree::threads(model, sized.grid, count);
        bounds.extend(threads.into_iter().zip(cores));
    }
    bounds.sort();
    bounds.dedup();
    let context = || -> isl::Result<Set> {
        let text: Vec<String> = bounds.iter().map(|(name, n)| format!("0 <= {name} < {n}")).collect();
        let params: Vec<&str> = bounds.iter().map(|(name, _)| name.as_str()).collect();
        let own =
            Set::read(&model.ctx, &format!("[{}] -> {{ : {} }}", params.join(", "), text.join(" and ")))?;
        model.context.intersect(&own)
    };
    let context = context().map_err(fault::library)?;
    let generated = codegen::generate_mapped(model, tree, &context, &mapper, options.operations)?;
    let mut function = generated.function;
    let cores: Vec<Name> = bounds.iter().map(|(name, _)| Name::new(name)).collect();
    function.body = function.body.into_iter().flat_map(|stmt| inward(stmt, &cores)).collect();
    Ok(without_unused(function))
}

/// Conditions on the core that stand outside of the loops over the cores are put into them.
fn inward(stmt: Stmt, cores: &[Name]) -> Vec<Stmt> {
    let all = |body: Vec<Stmt>| body.into_iter().flat_map(|s| inward(s, cores)).collect::<Vec<_>>();
    match stmt {
        Stmt::If { cond, then, otherwise } if cond.vars().iter().any(|v| cores.contains(v)) => {
            let mut result = under(&cond, all(then), cores);
            result.extend(under(&Expr::unary(loops::UnaryOp::Not, cond), all(otherwise), cores));
            result
        }
        Stmt::If { cond, then, otherwise } => {
            vec![Stmt::If { cond, then: all(then), otherwise: all(otherwise) }]
        }
        Stmt::Block { mark, body } => vec![Stmt::Block { mark, body: all(body) }],
        Stmt::Loop(l) if l.kind != LoopKind::Parallel => {
            let body = all(l.body.clone());
            vec![Stmt::Loop(Loop { body, ..l })]
        }
        other => vec![other],
    }
}

/// Statements under a condition on the core, which goes inside the loops over the cores.
fn under(cond: &Expr, body: Vec<Stmt>, cores: &[Name]) -> Vec<Stmt> {
    let inside = |body: Vec<Stmt>| under(cond, body, cores);
    body.into_iter()
        .map(|stmt| match stmt {
            Stmt::Loop(l) if l.kind == LoopKind::Parallel && cores.contains(&l.var) => {
                let nested = matches!(l.body.as_slice(), [Stmt::Loop(i)] if i.kind == LoopKind::Parallel && cores.contains(&i.var));
                let body = l.body.clone();
                let body = match nested {
                    true => inside(body),
                    false => vec![Stmt::If { cond: cond.clone(), then: body, otherwise: vec![] }],
                };
                Stmt::Loop(Loop { body, ..l })
            }
            Stmt::Loop(l) => {
                let body = inside(l.body.clone());
                Stmt::Loop(Loop { body, ..l })
            }
            Stmt::Block { mark, body } => Stmt::Block { mark, body: inside(body) },
            Stmt::If { cond, then, otherwise } => {
                Stmt::If { cond, then: inside(then), otherwise: inside(otherwise) }
            }
            other => other,
        })
        .collect()
}

/// The function without local arrays that are only declared.
fn without_unused(mut function: Function) -> Function {
    let mut used = std::collections::BTreeSet::new();
    for s in nodes(&function.body) {
        match s {
            Stmt::Copy(copy) => used.extend([copy.from.array.clone(), copy.to.array.clone()]),
            Stmt::Assign(assign) => {
                used.insert(assign.target.array.clone());
            }
            _ => {}
        }
        s.exprs().into_iter().for_each(|e| used.extend(e.arrays()));
    }
    function.body.retain(|s| !matches!(s, Stmt::Local(local) if !used.contains(&local.name)));
    function
}

struct Mapper<'a> {
    model: &'a Model,
    grid: Grid,
    names: &'a Names,
    kernels: Vec<&'a Kernel>,
    /// The buffer (kernel and group) of each access by statement.
    buffers: BTreeMap<(Name, Access), (usize, usize)>,
}

impl Mapper<'_> {
    fn group(&self, number: usize, k: usize) -> (&Name, &Group) {
        (self.names.buffer(number, k), &self.kernels[number].groups[k])
    }

    /// Extents of a box here: cut off at the rim of the array.
    fn extents(&self, group: &Group, at: &dyn Fn(usize) -> Expr) -> Vec<Expr> {
        let dims = data_mapping::declared(self.model, &group.array).map_or(&[][..], |(_, dims)| dims);
        group
            .extents
            .iter()
            .zip(&group.corner)
            .zip(dims.iter().zip(&group.ends))
            .map(|((extent, corner), (dim, end))| {
                let end = end.as_ref().map_or_else(|| dim.clone(), |end| end.expr(at));
                let left = tidy(&(end.clone() - corner.expr(at)));
                match (&left, corner.clip) {
                    (Expr::Int(n), false) => Expr::Int((*n).min(*extent)),
                    (_, false) => Expr::Int(*extent).min(left),
                    (_, true) => {
                        // The box begins before the array.
                        let unclipped = boxes::Corner { clip: false, ..corner.clone() };
                        let far = tidy(&(unclipped.expr(at) + *extent));
                        Expr::Int(*extent).min(end.min(far) - corner.expr(at))
                    }
                }
            })
            .collect()
    }

    fn corner(&self, group: &Group, at: &dyn Fn(usize) -> Expr) -> Vec<Expr> {
        group.corner.iter().map(|corner| corner.expr(at)).collect()
    }

    fn transfer(&self, number: usize, k: usize, kind: CopyKind, at: &dyn Fn(usize) -> Expr) -> Stmt {
        let (name, group) = self.group(number, k);
        let path = group.accesses.first().map(|(_, access)| access.path.clone()).unwrap_or_default();
        let outside = Access { array: group.array.clone(), indices: self.corner(group, at), path };
        let inside = Access::element(name.clone(), vec![Expr::Int(0); group.extents.len()]);
        let (from, to) = match kind {
            CopyKind::Get => (outside, inside),
            CopyKind::Put => (inside, outside),
        };
        Stmt::Copy(Copy { kind, from, to, extents: self.extents(group, at), tag: Some(reply(name)) })
    }

    /// A transfer with the mark that says what the target may make of it, or a wait.
    fn step(&self, number: usize, step: Step, at: &dyn Fn(usize) -> Expr) -> Stmt {
        let (name, group) = self.group(number, step.buffer);
        if step.wait {
            return Stmt::Wait(reply(name));
        }
        let transfer = self.transfer(number, step.buffer, step.kind, at);
        let mark = match (step.kind, group.shared) {
            (CopyKind::Put, _) => None,
            (CopyKind::Get, Some(shared)) => Some(shared.line.mark()),
            (CopyKind::Get, None) if group.exchanged => Some(EXCHANGED),
            (CopyKind::Get, None) if places(self.kernels[number], group) > 1 => Some(EARLY),
            (CopyKind::Get, None) => group.kept.then_some(KEPT),
        };
        match mark {
            Some(mark) => Stmt::Block { mark: Some(Name::new(mark)), body: vec![transfer] },
            None => transfer,
        }
    }

    fn threads(&self, number: Option<usize>, body: Vec<Stmt>) -> Vec<Stmt> {
        let cores = match number {
            Some(number) => mapped(self.kernels[number], self.grid),
            None => vec![self.grid.cores()],
        };
        let names = mapped_tree::threads(self.model, self.grid, cores.len());
        let mut body = body;
        for (name, n) in names.iter().zip(&cores).rev() {
            body = vec![Stmt::Loop(Loop {
                var: Name::new(name),
                lower: Expr::Int(0),
                upper: Expr::Int(*n),
                step: 1,
                kind: LoopKind::Parallel,
                reductions: Vec::new(),
                body,
            })];
        }
        body
    }
}

/// The reply word of a buffer.
fn reply(buffer: &Name) -> Name {
    Name::new(format!("reply_{}", buffer.strip_prefix("slave_").unwrap_or(buffer)))
}

impl Mapping for Mapper<'_> {
    fn statement(
        &self,
        statement: &Statement,
        iterators: &[Expr],
        label: Name,
        at: &dyn Fn(usize) -> Expr,
    ) -> Result<Assign> {
        let values: BTreeMap<Name, &Expr> = statement.iterators().into_iter().zip(iterators).collect();
        let put = |e: &Expr| tidy(&e.substitute(&|name| values.get(name).map(|e| (*e).clone())));
        let plain = |access: &Access| -> Access {
            let Some((number, k)) = self.buffers.get(&(statement.label.clone(), access.clone())) else {
                return access.clone();
            };
            let (name, group) = self.group(*number, *k);
            let corner = self.corner(group, at);
            // The values of loop variables come in later, and the corner has none of these.
            let indices = access.indices.iter().zip(corner).map(|(e, c)| e.clone() - c).collect();
            Access { array: name.clone(), indices, path: vec![] }
        };
        let access = |access: &Access| -> Access {
            let Some((number, k)) = self.buffers.get(&(statement.label.clone(), access.clone())) else {
                return access.map_indices(&mut |e| put(e));
            };
            let (name, group) = self.group(*number, *k);
            let corner = self.corner(group, at);
            // What data tells is read where the data is.
            let nested = |e: &Expr| put(&e.map_loads(&mut |load| Expr::Load(plain(&load))));
            let indices = access.indices.iter().zip(corner).map(|(e, c)| tidy(&(nested(e) - c))).collect();
            Access { array: name.clone(), indices, path: vec![] }
        };
        fn value(e: &Expr, access: &dyn Fn(&Access) -> Access, put: &dyn Fn(&Expr) -> Expr) -> Expr {
            match e {
                Expr::Load(a) => Expr::Load(access(a)),
                Expr::Var(_) => put(e),
                other => other.map_children(&mut |e| value(e, access, put)),
            }
        }
        Ok(Assign {
            label: Some(label),
            target: access(&statement.assign.target),
            update: statement.assign.update,
            value: value(&statement.assign.value, &access, &put),
        })
    }

    fn added(&self, tuple: &str, at: &dyn Fn(usize) -> Expr) -> Result<Vec<Stmt>> {
        if tuple.starts_with(mapped_tree::PAD) {
            return Ok(Vec::new());
        }
        let read = steps::read(tuple).filter(|(number, steps)| {
            let groups = self.kernels.get(*number).map_or(0, |kernel| kernel.groups.len());
            steps.iter().all(|step| step.buffer < groups)
        });
        let Some((number, steps)) = read else {
            return Err(fault::generation(format!("`{tuple}` is not a statement of the function")));
        };
        Ok(steps.into_iter().map(|step| self.step(number, step, at)).collect())
    }

    fn marked(&self, name: &str, body: Vec<Stmt>, at: &dyn Fn(usize) -> Expr) -> Vec<Stmt> {
        if name == KERNEL {
            return vec![Stmt::Block { mark: Some(Name::new(KERNEL)), body }];
        }
        if let Some(number) = name.strip_prefix(THREADS) {
            return self.threads(number.trim().parse().ok(), body);
        }
        if name == TILE {
            return vec![Stmt::Block { mark: Some(Name::new(TILE)), body }];
        }
        if let Some((number, buffers)) = name.strip_prefix(LOCAL).and_then(|rest| rest.split_once(": "))
            && let Ok(number) = number.parse::<usize>()
        {
            let mut all = Vec::new();
            for buffer in buffers.split(", ") {
                let Some(k) = (0..self.kernels[number].groups.len())
                    .find(|k| self.names.buffer(number, *k).as_str() == buffer)
                else {
                    continue;
                };
                let (name, group) = self.group(number, k);
                let elem = data_mapping::declared(self.model, &group.array).map(|(elem, _)| elem.clone());
                all.push(Stmt::Local(ArrayDecl {
                    name: name.clone(),
                    elem: elem.unwrap_or(loops::Elem::Scalar(loops::Scalar::F64)),
                    dims: self.extents(group, at),
                    storage: Storage::Scratchpad,
                }));
            }
            all.extend(body);
            return vec![Stmt::Block { mark: None, body: all }];
        }
        vec![Stmt::Block { mark: Some(Name::new(readable(name))), body }]
    }
}
