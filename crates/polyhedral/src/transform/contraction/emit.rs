//! The code of a planned contraction: blocks, packing, register tiles.

use loops::{Access, ArrayDecl, Assign, Elem, Expr, Loop, LoopKind, Name, Scalar, Stmt, Storage};

use super::Split;
use super::bound_rows::{Range, all, holds, sum, tile, value};
use super::{Claim, Operand, Plan, Role, Stager};
use crate::codegen::Instance;
use arith::fourier_motzkin::drop_implied;
use arith::{Budget, Linear, System};

/// Names of the loops that tiling adds.
struct Tiles {
    j_block: Name,
    k_block: Name,
    i_block: Name,
    j_strip: Name,
    i_strip: Name,
    row: Name,
    vector: Name,
    lane: Name,
    held: Name,
}

fn stepped(var: &Name, lower: Expr, upper: Expr, step: i64, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop(Loop { var: var.clone(), lower, upper, step, kind, reductions: Vec::new(), body })
}

fn zero(scalar: Scalar) -> Expr {
    Expr::constant(scalar, 0)
}

impl Plan<'_> {
    /// The statements of the whole contraction; none where a bound has no form.
    pub fn emit(&self, stager: &mut Stager) -> Option<Vec<Stmt>> {
        let (i, j, k) = (&self.i, &self.j, &self.k);
        let tiles = Tiles {
            j_block: stager.name(format!("{j}_block")),
            k_block: stager.name(format!("{k}_block")),
            i_block: stager.name(format!("{i}_block")),
            j_strip: stager.name(format!("{j}_strip")),
            i_strip: stager.name(format!("{i}_strip")),
            row: stager.name(format!("{i}_in")),
            vector: stager.name(format!("{j}_vec")),
            lane: stager.name(format!("{j}_lane")),
            held: stager.name(format!("{}_tile", self.assign.target.array)),
        };
        let width = self.lanes * self.shape.vectors;
        let panel = width * self.shape.strips;
        let (by_rows, by_columns) = match self.split {
            Split::Rows if self.spread.is_some() => (LoopKind::Sequential, LoopKind::Sequential),
            Split::Rows => (LoopKind::Parallel, LoopKind::Sequential),
            Split::Columns => (LoopKind::Sequential, LoopKind::Parallel),
        };
        let (by_blocks, by_strips) =
            if self.by_strips { (LoopKind::Sequential, by_rows) } else { (by_rows, LoopKind::Sequential) };
        // The loops that stay outside, with what is known inside them.
        let mut known: Vec<Linear<Name>> = Vec::new();
        let mut outer = Vec::new();
        for (at, l) in self.outer.iter().enumerate() {
            let inside: Vec<&Name> = self.outer[at + 1..].iter().map(|l| &l.var).chain([i, j, k]).collect();
            let range = Range::of(&self.domain, &l.var, &inside, &known)?;
            known.extend(range.rows.iter().cloned());
            outer.push((l.var.clone(), range.bounds()?));
        }
        // Blocks of columns, of the contraction, of rows: each with the domain cut to it.
        let columns = Range::of(&self.domain, j, &[k, i], &known)?;
        let columns_bounds = columns.bounds()?;
        let base = |name: &Name| Linear::name(name.clone());
        let cut = |system: &System<Name>, rows: [Linear<Name>; 2]| {
            System::new(system.rows.iter().cloned().chain(rows))
        };
        let in_j = cut(&self.domain, tile(j, &base(&tiles.j_block), panel)?);
        let steps = Range::of(&in_j, k, &[i, j], &known)?;
        let in_jk = cut(&in_j, tile(k, &base(&tiles.k_block), self.shape.depth)?);
        let rows = Range::of(&in_jk, i, &[j, k], &known)?;
        let in_jki = cut(&in_jk, tile(i, &base(&tiles.i_block), self.shape.block_rows)?);
        // Strips: columns inside the block, then rows inside the block and the strip of columns.
        let column = sum(&[(&tiles.j_block, 1), (&tiles.j_strip, width)], 0)?;
        let row = sum(&[(&tiles.i_block, 1), (&tiles.i_strip, self.shape.rows)], 0)?;
        let strips = Range::of(&in_jki, j, &[k, i], &known)?.steps(&base(&tiles.j_block), width)?;
        let in_strip = cut(&in_jki, tile(j, &column, width)?);
        let row_strips =
            Range::of(&in_strip, i, &[k, j], &known)?.steps(&base(&tiles.i_block), self.shape.rows)?;

        let column_panels = self.operands.iter().filter(|o| o.column);
        let row_panels = self.operands.iter().filter(|o| !o.column);
        let mut in_k = Vec::new();
        for operand in column_panels {
            let dims = self.dims(&[self.shape.strips], &[self.shape.vectors, self.lanes]);
            in_k.push(local(&operand.local, operand.scalar, dims, Storage::Heap));
            let all_strips = Range::of(&in_jk, j, &[k, i], &known)?.steps(&base(&tiles.j_block), width)?;
            let depth = Range::of(&in_jk, k, &[i, j], &known)?.bounds()?;
            let at = sum(
                &[
                    (&tiles.j_block, 1),
                    (&tiles.j_strip, width),
                    (&tiles.vector, self.lanes),
                    (&tiles.lane, 1),
                ],
                0,
            )?;
            let fill =
                self.fill(operand, &in_jk, j, i, &column, width, &at, &self.column_place(&tiles), &tiles)?;
            let body = vec![stepped(k, depth.0, depth.1, 1, LoopKind::Sequential, self.in_taps(fill))];
            in_k.push(stepped(&tiles.j_strip, all_strips.0, all_strips.1, 1, by_rows, body));
            self.claim(stager, operand, &tiles, &[(&tiles.j_block, 1)], width);
        }
        let mut in_i = Vec::new();
        for operand in row_panels {
            let blocks = self.shape.block_rows / self.shape.rows;
            let dims = self.dims(&[blocks], &[self.shape.rows]);
            in_i.push(local(&operand.local, operand.scalar, dims, Storage::Heap));
            let all_strips =
                Range::of(&in_jki, i, &[k, j], &known)?.steps(&base(&tiles.i_block), self.shape.rows)?;
            let depth = Range::of(&in_jki, k, &[i, j], &known)?.bounds()?;
            let at = sum(&[(&tiles.i_block, 1), (&tiles.i_strip, self.shape.rows), (&tiles.row, 1)], 0)?;
            let fill = self.fill(
                operand,
                &in_jki,
                i,
                j,
                &row,
                self.shape.rows,
                &at,
                &self.row_place(&tiles),
                &tiles,
            )?;
            let body = vec![stepped(k, depth.0, depth.1, 1, LoopKind::Sequential, self.in_taps(fill))];
            in_i.push(stepped(&tiles.i_strip, all_strips.0, all_strips.1, 1, LoopKind::Sequential, body));
            self.claim(stager, operand, &tiles, &[(&tiles.i_block, 1)], self.shape.rows);
        }
        let kernel = self.tile(stager, &tiles, &row, &column)?;
        let kernel =
            vec![stepped(&tiles.i_strip, row_strips.0, row_strips.1, 1, LoopKind::Sequential, kernel)];
        in_i.push(stepped(&tiles.j_strip, strips.0, strips.1, 1, by_strips, kernel));
        let (low, high) = rows.bounds()?;
        in_k.push(stepped(&tiles.i_block, low, high, self.shape.block_rows, by_blocks, in_i));
        let (low, high) = steps.bounds()?;
        let body = vec![stepped(&tiles.k_block, low, high, self.shape.depth, LoopKind::Sequential, in_k)];
        let (low, high) = columns_bounds;
        let mut body = vec![stepped(&tiles.j_block, low, high, panel, by_columns, body)];
        for (var, (low, high)) in outer.into_iter().rev() {
            let kind =
                if self.spread.as_ref() == Some(&var) { LoopKind::Parallel } else { LoopKind::Sequential };
            body = vec![stepped(&var, low, high, 1, kind, body)];
        }
        Some(body)
    }

    /// Extents of a packed operand: strips, steps, taps, and the lanes of a strip.
    fn dims(&self, strips: &[i64], lanes: &[i64]) -> Vec<Expr> {
        let taps = self.taps.iter().map(|(_, _, extent)| extent);
        strips.iter().chain([&self.shape.depth]).chain(taps).chain(lanes).map(|n| (*n).into()).collect()
    }

    /// Loops over the taps around a step.
    fn in_taps(&self, body: Vec<Stmt>) -> Vec<Stmt> {
        self.taps.iter().rev().fold(body, |body, (tap, low, extent)| {
            vec![stepped(tap, (*low).into(), (low + extent).into(), 1, LoopKind::Sequential, body)]
        })
    }

    /// Where a packed operand has what a step of a strip needs, but for the lanes.
    fn step_place(&self, tiles: &Tiles, strip: &Name) -> Vec<Expr> {
        let var = |name: &Name| Expr::Var(name.clone());
        let mut place = vec![var(strip), var(&self.k) - var(&tiles.k_block)];
        place.extend(self.taps.iter().map(|(tap, low, _)| shifted(var(tap), *low)));
        place
    }

    fn column_place(&self, tiles: &Tiles) -> Vec<Expr> {
        let mut place = self.step_place(tiles, &tiles.j_strip);
        place.extend([Expr::Var(tiles.vector.clone()), Expr::Var(tiles.lane.clone())]);
        place
    }

    fn row_place(&self, tiles: &Tiles) -> Vec<Expr> {
        let mut place = self.step_place(tiles, &tiles.i_strip);
        place.push(Expr::Var(tiles.row.clone()));
        place
    }

    fn lanes_loops(&self, tiles: &Tiles, body: Vec<Stmt>) -> Vec<Stmt> {
        let lanes = stepped(&tiles.lane, 0.into(), self.lanes.into(), 1, LoopKind::Vector, body);
        vec![stepped(
            &tiles.vector,
            0.into(),
            self.shape.vectors.into(),
            1,
            LoopKind::Unroll(None),
            vec![lanes],
        )]
    }

    /// The loop over the rows of a strip.
    fn rows_loop(&self, tiles: &Tiles, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        stepped(&tiles.row, 0.into(), self.shape.rows.into(), 1, kind, body)
    }

    /// Vectors and lanes where not all are inside: vectors that are go as a whole, the others lane
    /// by lane.
    fn ragged_loops(
        &self,
        tiles: &Tiles,
        whole: Option<Expr>,
        fast: Vec<Stmt>,
        slow: Vec<Stmt>,
    ) -> Vec<Stmt> {
        let lanes = |kind: LoopKind, body: Vec<Stmt>| {
            vec![stepped(&tiles.lane, 0.into(), self.lanes.into(), 1, kind, body)]
        };
        let slow = lanes(LoopKind::Sequential, slow);
        let body = match whole {
            Some(cond) => {
                vec![Stmt::If { cond, then: lanes(LoopKind::Vector, fast), otherwise: slow }]
            }
            None => slow,
        };
        let vectors = self.shape.vectors.into();
        vec![stepped(&tiles.vector, 0.into(), vectors, 1, LoopKind::Sequential, body)]
    }

    /// What a packed operand holds: its value with the tile's coordinates put in.
    fn claim(
        &self,
        stager: &mut Stager,
        operand: &Operand,
        tiles: &Tiles,
        base: &[(&Name, i64)],
        width: i64,
    ) {
        let formal = |what: &str| Name::new(format!("{}.{what}", operand.local));
        let taps: Vec<Name> = self.taps.iter().map(|(tap, _, _)| formal(tap.as_str())).collect();
        let [strip, step, vector, lane] = ["strip", "step", "vector", "lane"].map(formal);
        let mut formals = vec![strip.clone(), step.clone()];
        formals.extend(taps.iter().cloned());
        let mut terms: Vec<(&Name, i64)> = base.to_vec();
        terms.push((&strip, width));
        if operand.column {
            terms.extend([(&vector, self.lanes), (&lane, 1)]);
            formals.extend([vector.clone(), lane.clone()]);
        } else {
            terms.push((&lane, 1));
            formals.push(lane.clone());
        }
        let along = sum(&terms, 0).and_then(|row| value(&row)).unwrap_or(Expr::Int(0));
        let step = Expr::Var(tiles.k_block.clone()) + Expr::Var(step);
        let variable = if operand.column { &self.j } else { &self.i };
        let value = operand.value.substitute(&|name| {
            if name == variable {
                Some(along.clone())
            } else if *name == self.k {
                Some(step.clone())
            } else {
                let at = self.taps.iter().position(|(tap, _, _)| tap == name)?;
                Some(shifted(Expr::Var(taps[at].clone()), -self.taps[at].1))
            }
        });
        stager.claims.push(Claim { local: operand.local.clone(), formals, role: Role::Packed(value) });
    }

    /// Fills one step of a strip: without tests where every lane is inside the domain, else vector
    /// by vector where one is inside as a whole, else lane by lane, with zeros outside.
    // the geometry of a strip, once for rows and once for columns
    #[allow(clippy::too_many_arguments)]
    fn fill(
        &self,
        operand: &Operand,
        system: &System<Name>,
        along: &Name,
        across: &Name,
        base: &Linear<Name>,
        width: i64,
        at: &Linear<Name>,
        place: &[Expr],
        tiles: &Tiles,
    ) -> Option<Vec<Stmt>> {
        let projected = system.eliminate(across.as_str()).ok()?;
        if !projected.exact {
            return None;
        }
        // Conditions on the step alone are those of its loop, up to what the strip adds: they are
        // tested with the lanes.
        let rows: Vec<Linear<Name>> = projected
            .system
            .rows
            .into_iter()
            .filter(|r| r.coefficient(along) != 0 || r.coefficient(&self.k) != 0)
            .collect();
        let tile_rows = |rows: &[Linear<Name>]| -> Option<Vec<Expr>> {
            rows.iter().map(|r| holds(&worst(r, along, base, width)?)).collect()
        };
        let target = Access::element(operand.local.clone(), place.to_vec());
        let at_expr = value(at)?;
        let value = operand.value.substitute(&|name| (name == along).then(|| at_expr.clone()));
        let copy = Stmt::assign(target.clone(), value);
        let clear = Stmt::assign(target, zero(operand.scalar));
        let lanes = |body: Vec<Stmt>| match operand.column {
            true => self.lanes_loops(tiles, body),
            false => vec![self.rows_loop(tiles, LoopKind::Unroll(None), body)],
        };
        let Some(full) = all(tile_rows(&rows)?) else {
            return Some(lanes(vec![copy]));
        };
        let each = all(rows.iter().map(|r| holds(&r.replace(along, at)?)).collect::<Option<Vec<_>>>()?)?;
        let one = Stmt::If { cond: each, then: vec![copy.clone()], otherwise: vec![clear] };
        let slow = match operand.column {
            true => {
                let first = at.replace(&tiles.lane, &Linear::default())?;
                let vector = |r: &Linear<Name>| holds(&worst(r, along, &first, self.lanes)?);
                let whole = all(rows.iter().map(vector).collect::<Option<Vec<_>>>()?);
                self.ragged_loops(tiles, whole, vec![copy.clone()], vec![one])
            }
            false => vec![self.rows_loop(tiles, LoopKind::Sequential, vec![one])],
        };
        Some(vec![Stmt::If { cond: full, then: lanes(vec![copy]), otherwise: slow }])
    }

    /// One register tile: load, steps, store.
    fn tile(
        &self,
        stager: &mut Stager,
        tiles: &Tiles,
        row: &Linear<Name>,
        column: &Linear<Name>,
    ) -> Option<Vec<Stmt>> {
        let width = self.lanes * self.shape.vectors;
        let dims = vec![self.shape.rows.into(), self.shape.vectors.into(), self.lanes.into()];
        let var = |name: &Name| Expr::Var(name.clone());
        let place = vec![var(&tiles.row), var(&tiles.vector), var(&tiles.lane)];
        let held = Access::element(tiles.held.clone(), place);
        let i_at = row.plus(&Linear::name(tiles.row.clone()))?;
        let j_at = column.plus(&sum(&[(&tiles.vector, self.lanes), (&tiles.lane, 1)], 0)?)?;
        let (i_expr, j_expr) = (value(&i_at)?, value(&j_at)?);
        let element = self.assign.target.map_indices(&mut |e| {
            e.substitute(&|name| {
                if *name == self.i {
                    Some(i_expr.clone())
                } else if *name == self.j {
                    Some(j_expr.clone())
                } else {
                    None
                }
            })
        });
        let formals: Vec<Name> =
            ["row", "vector", "lane"].iter().map(|n| Name::new(format!("{}.{n}", tiles.held))).collect();
        let renamed = |e: &Expr| {
            e.substitute(&|name| {
                let at = [&tiles.row, &tiles.vector, &tiles.lane].into_iter().position(|n| n == name)?;
                Some(Expr::Var(formals[at].clone()))
            })
        };
        let role = Role::Held(element.map_indices(&mut |e| renamed(e)));
        stager.claims.push(Claim { local: tiles.held.clone(), formals: formals.clone(), role });

        let every = |body: Vec<Stmt>| {
            vec![self.rows_loop(tiles, LoopKind::Unroll(None), self.lanes_loops(tiles, body))]
        };
        let lane_rows: Vec<&Linear<Name>> = self
            .domain
            .rows
            .iter()
            .filter(|r| {
                r.coefficient(&self.k) == 0 && (r.coefficient(&self.i) != 0 || r.coefficient(&self.j) != 0)
            })
            .collect();
        let corner =
            |r: &Linear<Name>| worst(&worst(r, &self.i, row, self.shape.rows)?, &self.j, column, width);
        let full = all(lane_rows.iter().map(|r| holds(&corner(r)?)).collect::<Option<Vec<_>>>()?);
        let inside = all(lane_rows
            .iter()
            .map(|r| holds(&r.replace(&self.i, &i_at)?.replace(&self.j, &j_at)?))
            .collect::<Option<Vec<_>>>()?);
        let first = j_at.replace(&tiles.lane, &Linear::default())?;
        let vector =
            |r: &Linear<Name>| holds(&worst(&r.replace(&self.i, &i_at)?, &self.j, &first, self.lanes)?);
        let whole = all(lane_rows.iter().map(|r| vector(r)).collect::<Option<Vec<_>>>()?);
        let load = Stmt::assign(held.clone(), Expr::Load(element.clone()));
        let store = Stmt::assign(element, Expr::Load(held.clone()));
        let clear = Stmt::assign(held.clone(), zero(self.scalar));
        let (load, store) = match (full, inside) {
            (Some(full), Some(inside)) => {
                let guarded = |then: &Stmt, otherwise: Vec<Stmt>| {
                    let one = Stmt::If { cond: inside.clone(), then: vec![then.clone()], otherwise };
                    let lanes = self.ragged_loops(tiles, whole.clone(), vec![then.clone()], vec![one]);
                    vec![self.rows_loop(tiles, LoopKind::Sequential, lanes)]
                };
                let choose = |fast: Vec<Stmt>, slow: Vec<Stmt>| {
                    vec![Stmt::If { cond: full.clone(), then: fast, otherwise: slow }]
                };
                (
                    choose(every(vec![load.clone()]), guarded(&load, vec![clear])),
                    choose(every(vec![store.clone()]), guarded(&store, Vec::new())),
                )
            }
            _ => (every(vec![load]), every(vec![store])),
        };
        let mut body = vec![local(&tiles.held, self.scalar, dims, Storage::Stack)];
        body.extend(load);
        body.extend(self.steps(stager, tiles, row, &i_at, &held, (&i_expr, &j_expr))?);
        body.extend(store);
        Some(body)
    }

    /// The steps of the contraction in a tile: those that all rows have, between those that only
    /// some have.
    fn steps(
        &self,
        stager: &mut Stager,
        tiles: &Tiles,
        row: &Linear<Name>,
        i_at: &Linear<Name>,
        held: &Access,
        (i_expr, j_expr): (&Expr, &Expr),
    ) -> Option<Vec<Stmt>> {
        let k = &self.k;
        let bounds: Vec<&Linear<Name>> = self.domain.rows.iter().filter(|r| r.coefficient(k) != 0).collect();
        let block = tile(k, &Linear::name(tiles.k_block.clone()), self.shape.depth)?;
        // A bound on `k` with `i` at the corner where it is tightest, or loosest.
        let solved = |r: &Linear<Name>, sign: i128| -> Option<Expr> {
            let (_, rest) = r.split(k);
            value(&if sign > 0 { rest.negated()? } else { rest.plus_constant(1)? })
        };
        let side = |sign: i128, tight: bool| -> Option<Expr> {
            let corner = |r: &Linear<Name>| {
                if tight {
                    worst(r, &self.i, row, self.shape.rows)
                } else {
                    best(r, &self.i, row, self.shape.rows)
                }
            };
            let rows = bounds.iter().map(|r| corner(r)).collect::<Option<Vec<_>>>()?.into_iter();
            let rows = rows.chain(block.iter().cloned());
            let values = rows
                .filter(|r| r.coefficient(k) * sign > 0)
                .map(|r| solved(&r, sign))
                .collect::<Option<Vec<_>>>()?;
            values.into_iter().reduce(|a, b| if sign > 0 { a.max(b) } else { a.min(b) })
        };
        let ragged =
            |sign: i128| bounds.iter().any(|r| r.coefficient(k) * sign > 0 && r.coefficient(&self.i) != 0);
        let (low_ragged, high_ragged) = (ragged(1), ragged(-1));
        // Rows outside of the domain have no range of their own: what they would use may not be
        // packed. What the bounds of the loop say anyway needs no test.
        let (own, others): (Vec<&Linear<Name>>, Vec<&Linear<Name>>) =
            self.domain.rows.iter().partition(|r| r.coefficient(&self.i) != 0);
        let own = own.into_iter().filter(|r| r.coefficient(&self.j) == 0);
        let mut own: Vec<Linear<Name>> = own.map(|r| r.replace(&self.i, i_at)).collect::<Option<_>>()?;
        let of_loop = others.into_iter().filter(|r| r.coefficient(k) != 0 && r.coefficient(&self.j) == 0);
        let of_row = tile(&tiles.row, &Linear::default(), self.shape.rows)?;
        drop_implied(&mut own, &of_loop.cloned().chain(of_row).collect::<Vec<_>>(), &Budget::default());
        let guard = all(own.iter().map(holds).collect::<Option<Vec<_>>>()?);
        let mut result = Vec::new();
        let mut piece = |stager: &mut Stager, low: Expr, high: Expr, guarded: bool| -> Option<()> {
            let statement = self.statement(stager, tiles, held, i_expr, j_expr)?;
            let lanes = self.lanes_loops(tiles, vec![statement]);
            let lanes = match (&guard, guarded) {
                (Some(guard), true) => vec![Stmt::when(guard.clone(), lanes)],
                _ => lanes,
            };
            let rows = self.rows_loop(tiles, LoopKind::Unroll(None), lanes);
            result.push(stepped(k, low, high, 1, LoopKind::Sequential, self.in_taps(vec![rows])));
            Some(())
        };
        let (any_low, any_high) = (side(1, false)?, side(-1, false)?);
        let (common_low, common_high) = (side(1, true)?, side(-1, true)?);
        if low_ragged {
            piece(stager, any_low.clone(), common_low.clone().min(any_high.clone()), true)?;
        }
        piece(stager, common_low.clone(), common_high.clone(), false)?;
        if high_ragged {
            let low = if low_ragged { common_low.max(common_high) } else { any_low.max(common_high) };
            piece(stager, low, any_high, true)?;
        }
        Some(result)
    }

    /// The statement on the held element, with packed operands.
    fn statement(
        &self,
        stager: &mut Stager,
        tiles: &Tiles,
        held: &Access,
        i_expr: &Expr,
        j_expr: &Expr,
    ) -> Option<Stmt> {
        let label = self.assign.label.clone()?;
        let place = |name: &Name| {
            let operand = self.operands.iter().find(|o| o.local == *name)?;
            Some(if operand.column { self.column_place(tiles) } else { self.row_place(tiles) })
        };
        let value = self.kernel.map_loads(&mut |access| match place(&access.array) {
            Some(indices) => Expr::Load(Access::element(access.array, indices)),
            None => Expr::Load(access),
        });
        let instance = stager.instances.get(&label)?.clone();
        let iterators = instance
            .iterators
            .iter()
            .map(|e| {
                e.substitute(&|name| {
                    if *name == self.i {
                        Some(i_expr.clone())
                    } else if *name == self.j {
                        Some(j_expr.clone())
                    } else {
                        None
                    }
                })
            })
            .collect();
        // Each piece is a copy of the statement under a label of its own; the original's label is
        // given up.
        let own = stager.name(label.to_string());
        stager.instances.insert(own.clone(), Instance { original: instance.original, iterators });
        Some(Stmt::Assign(Assign {
            label: Some(own),
            target: held.clone(),
            update: self.assign.update,
            value,
        }))
    }
}

fn local(name: &Name, scalar: Scalar, dims: Vec<Expr>, storage: Storage) -> Stmt {
    Stmt::Local(ArrayDecl { name: name.clone(), elem: Elem::Scalar(scalar), dims, storage })
}

/// The row at the end of `base <= variable < base + extent` where it is least.
fn worst(row: &Linear<Name>, variable: &Name, base: &Linear<Name>, extent: i64) -> Option<Linear<Name>> {
    let end = if row.coefficient(variable) < 0 { extent - 1 } else { 0 };
    row.replace(variable, &base.plus_constant(i128::from(end))?)
}

/// The row at the end where it is greatest.
fn best(row: &Linear<Name>, variable: &Name, base: &Linear<Name>, extent: i64) -> Option<Linear<Name>> {
    let end = if row.coefficient(variable) > 0 { extent - 1 } else { 0 };
    row.replace(variable, &base.plus_constant(i128::from(end))?)
}

/// `expr - by`, without taking 0 away.
fn shifted(expr: Expr, by: i64) -> Expr {
    match by {
        0 => expr,
        ..0 => expr + -by,
        1.. => expr - by,
    }
}
