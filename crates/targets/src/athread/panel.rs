//! Panels: a matrix that the cores hold by rows and need by columns is transferred to and from main
//! memory only once.
//!
//! The mapping has a loop over panels that contains two loops over cores. The first brings in rows
//! of the panel. The second brings in columns of it, with the mark `exchanged`. In the generated
//! code,
//!
//! - the next panel's rows are prefetched while one panel is computed;
//! - columns come from the other cores through registers;
//! - vectors along the rows, and a core's strips of vectors along the columns, stay in local memory
//!   for all panels;
//! - each core's part of a vector along the columns of a panel is gathered.
//!
//! Nothing waits for main memory in between, so there are no barriers either. The generated code
//! tests at run time whether boxes are large enough for this. If they are not, the loops run as
//! they are.

mod blocks;
mod columns;
mod write_panels;

use loops::visit::nodes;
use loops::{Copy, CopyKind, Diagnostic, Expr, Local, Loop, LoopKind, Name, Stmt};

use super::expr::invalid;
use super::prefetch::{bound, factor};

/// The mark of a transfer of what the cores have already.
const EXCHANGED: &str = "exchanged";
/// Cores of a row; those that exchange are whole rows.
const ROW: i64 = 8;
/// Bytes of the exchanged registers, and the maximal number of registers of a row that a core gets
/// at a time.
const REGISTER: i64 = 32;
const REGISTERS: i64 = 16;
/// Pieces of a row, at most.
const PIECES: i64 = 8;
/// Bytes for a core's share of a vector that is gathered: whole registers.
const SHARE: i64 = 64;

/// A box and how it comes and goes.
#[derive(Clone)]
struct Held {
    local: Local,
    get: Option<Copy>,
    put: Option<Copy>,
    /// Offset in local memory.
    at: i64,
}

/// A loop over panels.
struct Panels<'a> {
    l: &'a Loop,
    rows: &'a Loop,
    columns: &'a Loop,
    /// The loop along the rows, which has one iteration, and the one over a core's strips.
    along_rows: &'a Loop,
    strips_loop: &'a Loop,
    /// The matrix by rows, and by columns.
    matrix: Held,
    strip: Held,
    /// Elements of the panel's rows of this core, along a row, of its strips.
    own: Vec<Held>,
    along: Vec<Held>,
    strips: Vec<Held>,
    /// Elements of all rows of the panel; the buffer that this core's are in, if the rows' loop
    /// makes them.
    gathered: Vec<(Held, Option<usize>)>,
    /// Cores, rows of a core, elements along a row, columns of a strip, bytes of an element.
    cores: i64,
    each: i64,
    width: i64,
    piece: i64,
    bytes: i64,
    /// Pieces of a row, of `width` elements each, that fit into local memory. They are transferred
    /// one after the other.
    pieces: i64,
}

/// The boxes of a loop over cores.
fn held(body: &[Stmt]) -> Option<Vec<Held>> {
    let (mut all, mut copies): (Vec<Held>, Vec<Copy>) = (Vec::new(), Vec::new());
    for s in nodes(body) {
        match s {
            Stmt::Local(local) => all.push(Held { local: local.clone(), get: None, put: None, at: 0 }),
            Stmt::Copy(copy) => copies.push(copy.clone()),
            _ => {}
        }
    }
    for copy in copies {
        let name = if copy.kind == CopyKind::Get { &copy.to.array } else { &copy.from.array };
        let own = all.iter_mut().find(|h| h.local.name == *name)?;
        let place = if copy.kind == CopyKind::Get { &mut own.get } else { &mut own.put };
        if place.replace(copy).is_some() {
            return None;
        }
    }
    // What goes out is the box that came in.
    let same = |h: &Held| match (&h.get, &h.put) {
        (Some(get), Some(put)) => get.from == put.to && get.extents == put.extents,
        (None, None) => false,
        _ => true,
    };
    all.iter().all(same).then_some(all)
}

impl Held {
    fn outside(&self) -> Option<&loops::Access> {
        self.get.as_ref().map(|c| &c.from).or(self.put.as_ref().map(|c| &c.to))
    }

    /// Whether this is the box of a vector along one dimension of a matrix's box.
    fn follows(&self, matrix: &Copy, dim: usize) -> bool {
        let extents = self.get.as_ref().or(self.put.as_ref()).map(|c| c.extents.as_slice());
        self.outside().is_some_and(|a| a.indices == matrix.from.indices[dim..=dim])
            && extents == Some(&matrix.extents[dim..=dim])
    }

    fn tag(&self) -> Option<&Name> {
        self.get.as_ref().or(self.put.as_ref()).and_then(|c| c.tag.as_ref())
    }

    fn array(&self) -> Option<&Name> {
        self.outside().map(|a| &a.array)
    }
}

/// The body of a loop without what is around it.
fn plain(body: &[Stmt]) -> Vec<&Stmt> {
    body.iter()
        .flat_map(|s| match s {
            Stmt::Block { mark: None, body } => plain(body),
            other => vec![other],
        })
        .collect()
}

/// The loop around a transfer into a buffer.
fn around<'a>(body: &'a [Stmt], buffer: &Name) -> Option<&'a Loop> {
    let mut found = None;
    for s in nodes(body) {
        if let Stmt::Loop(l) = s
            && l.body.iter().any(|s| {
                s.nodes()
                    .any(|s| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Get && c.to.array == *buffer))
            })
        {
            found = Some(l);
        }
    }
    found
}

fn exchanged(body: &[Stmt]) -> Option<Name> {
    let mut found = None;
    for s in nodes(body) {
        if let Stmt::Block { mark: Some(mark), body } = s
            && mark.as_str() == EXCHANGED
            && let [Stmt::Copy(copy)] = body.as_slice()
        {
            found = Some(copy.to.array.clone());
        }
    }
    found
}

impl<'a> Panels<'a> {
    fn of(l: &'a Loop) -> Option<Panels<'a>> {
        let inside = plain(&l.body);
        let [Stmt::Loop(rows), Stmt::Loop(columns)] = inside.as_slice() else { return None };
        let Expr::Int(cores) = rows.upper else { return None };
        let spread = |l: &Loop| {
            l.kind == LoopKind::Parallel
                && l.upper == rows.upper
                && !l.body.iter().any(|s| matches!(s, Stmt::Loop(l) if l.kind == LoopKind::Parallel))
        };
        if !(1..=ROW).contains(&(cores / ROW)) || cores % ROW != 0 {
            return None;
        }
        if l.step != 1 || !spread(rows) || !spread(columns) {
            return None;
        }
        let buffer = exchanged(&columns.body)?;
        let strips_loop = around(&columns.body, &buffer)?;
        let (left, mut right) = (held(&rows.body)?, held(&columns.body)?);
        let strip = right.remove(right.iter().position(|h| h.local.name == buffer)?);
        let theirs = strip.get.clone()?;
        let array = &theirs.from.array;
        let mut left: Vec<Held> = left;
        let of_matrix = |h: &Held| h.array() == Some(array);
        let matrix = left.remove(left.iter().position(of_matrix)?);
        let ours = matrix.get.clone()?;
        if matrix.put.is_some() || strip.put.is_some() || ours.extents.len() != 2 || theirs.extents.len() != 2
        {
            return None;
        }
        let along_rows = around(&rows.body, &matrix.local.name)?;
        let (each, width) = (bound(&ours.extents[0])?, bound(&ours.extents[1])?);
        let (panel, piece) = (bound(&theirs.extents[0])?, bound(&theirs.extents[1])?);
        // Core k has rows from `each * k` of the panel on, and strip k of as many as there are
        // cores.
        let of = |e: &Expr, terms: &[(&Name, i64)]| {
            e.vars().iter().all(|v| terms.iter().any(|(name, _)| *name == v))
                && terms.iter().all(|(name, by)| factor(e, name) == Some(*by))
                && constant(e) == Some(0)
        };
        let right_place = panel == each * cores
            && of(&ours.from.indices[0], &[(&rows.var, each), (&l.var, panel)])
            && of(&ours.from.indices[1], &[(&along_rows.var, width)])
            && of(&theirs.from.indices[0], &[(&l.var, panel)])
            && of(&theirs.from.indices[1], &[(&strips_loop.var, piece)])
            && along_rows.lower == Expr::Int(0)
            && along_rows.step == 1
            && strips_loop.lower == Expr::Var(columns.var.clone())
            && strips_loop.step == cores
            && !strips_loop.upper.mentions(&columns.var)
            && !strips_loop.upper.mentions(&l.var);
        if !right_place {
            return None;
        }
        let bytes = match matrix.local.elem {
            loops::Elem::Scalar(elem) => elem.bytes() as i64,
            loops::Elem::Pair(..) => return None,
        };
        if piece * bytes % REGISTER != 0 || piece * bytes > REGISTERS * REGISTER || each * bytes > SHARE {
            return None;
        }
        let (mut own, mut along) = (Vec::new(), Vec::new());
        for h in left {
            if h.follows(&ours, 0) {
                own.push(h);
            } else if h.follows(&ours, 1) && h.put.is_none() {
                along.push(h);
            } else {
                return None;
            }
        }
        let (mut strips, mut gathered) = (Vec::new(), Vec::new());
        for h in right {
            if h.follows(&theirs, 1) {
                strips.push(h);
            } else if h.follows(&theirs, 0) && h.put.is_none() {
                let made = own.iter().position(|o: &Held| o.put.is_some() && o.array() == h.array());
                gathered.push((h, made));
            } else {
                return None;
            }
        }
        let count = |name: Option<&Name>| {
            let all = own.iter().chain(&along).chain(&strips).chain(gathered.iter().map(|(h, _)| h));
            all.filter(|h| h.array() == name).count()
        };
        let written =
            |name: Option<&Name>| own.iter().chain(&strips).any(|h| h.put.is_some() && h.array() == name);
        // An array that is written has one box, except for what the rows compute and all columns
        // need.
        let apart = own.iter().all(|h| {
            !written(h.array()) || {
                count(h.array()) == 1 + gathered.iter().filter(|(g, _)| g.array() == h.array()).count()
            }
        }) && strips.iter().all(|h| !written(h.array()) || count(h.array()) == 1)
            && along.iter().all(|h| !written(h.array()))
            && gathered.iter().all(|(h, made)| made.is_some() || !written(h.array()))
            && !written(Some(array));
        let panels = Panels {
            l,
            rows,
            columns,
            along_rows,
            strips_loop,
            matrix,
            strip,
            own,
            along,
            strips,
            gathered,
            cores,
            each,
            width,
            piece,
            bytes,
            pieces: 1,
        };
        apart.then_some(panels)
    }

    /// Rounds of strips of a piece of the rows.
    fn rounds(&self) -> i64 {
        (self.width + self.cores * self.piece - 1) / (self.cores * self.piece)
    }

    /// Whether rows may be transferred in pieces: each step of an exchange is within one piece, and
    /// what columns need is complete before the rows are.
    fn by_pieces(&self) -> bool {
        self.width % (self.cores * self.piece) == 0 && self.gathered.iter().all(|(_, made)| made.is_none())
    }

    /// How many pieces there are.
    fn count(&self) -> Name {
        Name::new(format!("{}_all", self.along_rows.var))
    }

    /// Bytes of a panel's columns of a core.
    fn columns_bytes(&self) -> i64 {
        self.each * self.cores * self.piece * self.bytes
    }
}

/// The constant of a sum of products.
fn constant(e: &Expr) -> Option<i64> {
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Var(_) => Some(0),
        Expr::Binary(loops::BinaryOp::Add, a, b) => constant(a)?.checked_add(constant(b)?),
        Expr::Binary(loops::BinaryOp::Mul, a, b) => constant(a)?.checked_mul(constant(b)?),
        _ => None,
    }
}

fn bytes_of(h: &Held) -> Result<i64, Diagnostic> {
    match h.local.elem {
        loops::Elem::Scalar(elem) => Ok(elem.bytes() as i64),
        loops::Elem::Pair(..) => Err(invalid("pairs are not for the cores")),
    }
}
