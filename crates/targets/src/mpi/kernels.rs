//! The loops of each run as a function of its own, over what one rank stores.
//!
//! Subscripts of the whole array become those of the part that is stored: an array or a buffer
//! begins at an *origin*, which is a size of the function, as its extents are.

use std::collections::BTreeMap;

use loops::ranks::{Placed, RankProgram, Run, Step};
use loops::{Access, AccessKind, Expr, Function, Name, Param, ParamMode, Stmt};

/// What a size of a kernel is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Size {
    /// A size of the program, a variable around, or a bound of a block.
    Number(Name),
    /// The first subscript that is stored of a dimension of an array or buffer.
    Origin(Name, usize),
    /// How many subscripts are stored of it.
    Extent(Name, usize),
}

/// The function of a run, and what its sizes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The function.
    pub function: Function,
    /// For each size of the function what it is.
    pub sizes: Vec<Size>,
}

/// The kernels of all runs, in the order of the program.
pub fn kernels(program: &RankProgram) -> Vec<Kernel> {
    let mut found = Vec::new();
    steps(program, &program.body, &mut Vec::new(), &mut found);
    found
}

fn steps(program: &RankProgram, body: &[Step], around: &mut Vec<Name>, found: &mut Vec<Kernel>) {
    for step in body {
        match step {
            Step::Loop(repeat) => {
                around.push(repeat.var.clone());
                steps(program, &repeat.body, around, found);
                around.pop();
            }
            Step::Run(run) => {
                let kernel = kernel(program, run, around, found.len());
                found.push(kernel);
            }
            Step::Fetch(_) | Step::Return(_) => {}
        }
    }
}

/// What a name stands for in a run: an array that is placed, or the array that a buffer has a part
/// of.
fn of<'a>(
    program: &'a RankProgram,
    name: &Name,
    buffers: &[(Name, &'a Placed)],
) -> Option<(&'a Placed, bool)> {
    if let Some(placed) = program.place(name) {
        return Some((placed, false));
    }
    buffers.iter().find(|(buffer, _)| buffer == name).map(|(_, placed)| (*placed, true))
}

fn kernel(program: &RankProgram, run: &Run, around: &[Name], number: usize) -> Kernel {
    let buffers = program.buffers();
    let sites = loops::accesses(&run.body);
    let arrays = loops::ranks::arrays_of(&run.body);
    let mut used: Vec<(Name, bool)> = Vec::new();
    for site in &sites {
        let name = &site.access.array;
        if !arrays.contains(name) || of(program, name, &buffers).is_none() {
            continue;
        }
        let writes = site.kind != AccessKind::Read;
        match used.iter_mut().find(|(known, _)| known == name) {
            Some((_, written)) => *written |= writes,
            None => used.push((name.clone(), writes)),
        }
    }
    let mut taken = loops::visit::names(&run.body);
    taken.extend(program.interface.sizes.iter().cloned().chain(around.iter().cloned()));
    let mut sizes: Vec<(Name, Size)> = Vec::new();
    let bounds = program.cuts.iter().flat_map(|cut| [cut.low(), cut.high()]);
    let named = loops::visit::names(&run.body);
    let numbers = program.interface.sizes.iter().cloned().chain(around.iter().cloned());
    for name in numbers.chain(bounds.filter(|name| named.contains(name))) {
        sizes.push((name.clone(), Size::Number(name)));
    }
    let mut params = Vec::new();
    let mut origins: BTreeMap<(Name, usize), Name> = BTreeMap::new();
    for (name, written) in used {
        let Some((placed, is_buffer)) = of(program, &name, &buffers) else { continue };
        let mut dims = Vec::new();
        for (d, extent) in placed.array.dims.iter().enumerate() {
            if !is_buffer && placed.cut[d].is_none() {
                dims.push(extent.clone());
                continue;
            }
            let mut size = |what: &str, is: Size| {
                let fresh = loops::visit::fresh(&Name::new(format!("{name}_{what}{d}")), &taken);
                taken.insert(fresh.clone());
                sizes.push((fresh.clone(), is));
                fresh
            };
            let origin = size("from", Size::Origin(name.clone(), d));
            dims.push(Expr::Var(size("held", Size::Extent(name.clone(), d))));
            origins.insert((name.clone(), d), origin);
        }
        let mode = if written { ParamMode::InOut } else { ParamMode::In };
        params.push(Param::new(name, mode, placed.array.elem.clone(), dims));
    }
    let body = run.body.iter().map(|stmt| shifted(stmt, &origins)).collect();
    let name = Name::new(format!("{}_part{number}", program.interface.name));
    let (names, sizes) = sizes.into_iter().unzip();
    let mut assumptions = Vec::new();
    // What the blocks of a program are.
    for cut in &program.cuts {
        let (low, high) = (cut.low(), cut.high());
        if named.contains(&low) && named.contains(&high) {
            assumptions.push(Expr::Var(low.clone()).at_least(0));
            assumptions.push(Expr::Var(low).at_most(Expr::Var(high)));
        }
    }
    let function = Function { name, sizes: names, assumptions, params, body };
    Kernel { function: loops::simplify::function(&function), sizes }
}

fn shifted_access(access: &Access, origins: &BTreeMap<(Name, usize), Name>) -> Access {
    let indices = access.indices.iter().enumerate().map(|(d, e)| {
        let e = shifted_expr(e, origins);
        match origins.get(&(access.array.clone(), d)) {
            Some(origin) => e - Expr::Var(origin.clone()),
            None => e,
        }
    });
    Access { indices: indices.collect(), ..access.clone() }
}

fn shifted_expr(e: &Expr, origins: &BTreeMap<(Name, usize), Name>) -> Expr {
    match e {
        Expr::Load(access) => Expr::Load(shifted_access(access, origins)),
        _ => e.map_children(&mut |child| shifted_expr(child, origins)),
    }
}

fn shifted(stmt: &Stmt, origins: &BTreeMap<(Name, usize), Name>) -> Stmt {
    let mut new = stmt.map(&mut |e| shifted_expr(e, origins), &mut |body| {
        body.iter().map(|stmt| shifted(stmt, origins)).collect()
    });
    if let (Stmt::Assign(new), Stmt::Assign(old)) = (&mut new, stmt) {
        new.target = shifted_access(&old.target, origins);
        new.label = None;
    }
    new
}
