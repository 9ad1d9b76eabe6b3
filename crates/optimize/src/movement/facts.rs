//! What the text of a computation says about the data that any order moves.

use std::collections::BTreeSet;

use loops::interp::{Live, Observer};
use loops::poly::linear;
use loops::visit::{assigns, with_distinct_locals};
use loops::{Access, Assign, Elem, Expr, Function, Local, Name, Stmt};

use super::bound::{Statement, Touch, least};
use super::space::Space;

/// What has happened to a scalar of an array.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Scalar {
    touched: bool,
    written: bool,
}

/// A column of a parameter.
#[derive(Clone, Default)]
struct Column {
    bytes: f64,
    scalars: Vec<Scalar>,
    /// Scalars whose first access is a read, and those that are written at all.
    given: u64,
    results: u64,
    /// Scalars that come to be without being read.
    created: u64,
    /// Whether a value is overwritten that was there before, without being read by the same
    /// instance. Then elements say nothing of the values that they hold in turn.
    overwritten: bool,
}

/// A local scalar that is set once for each iteration of the loops around its declaration, then
/// only updated, and gives an element of a parameter its value. So as many of its values as there
/// are such iterations take part, and those that come to be stay or leave as that element.
struct Sum {
    name: Name,
    bytes: f64,
    /// Loops around the declaration.
    depth: usize,
    /// The assignment that sets it.
    set: usize,
    /// The parameter.
    result: usize,
}

/// Statements and data of a function, and what a run of it tells.
pub(super) struct Facts {
    statements: Vec<Affine>,
    counts: Vec<u64>,
    /// Columns of the parameters; of other local arrays than sums nothing is claimed.
    params: Vec<Vec<Column>>,
    /// They count as arrays behind the parameters.
    sums: Vec<Sum>,
    /// The scalars that the instance at hand has read.
    read: Vec<(usize, usize, usize)>,
}

/// The accesses of a statement to parameters, as far as they are affine.
struct Affine {
    depth: usize,
    touches: Vec<Touch>,
}

impl Facts {
    pub fn of(function: &Function) -> Facts {
        // So a name means one array.
        let function = &with_distinct_locals(function);
        let arrays: Vec<Name> = function.params.iter().map(|param| param.name.clone()).collect();
        let mut reader = Reader { arrays, sums: Vec::new(), around: Vec::new(), statements: Vec::new() };
        reader.block(&function.body);
        let Reader { arrays, sums, statements, .. } = reader;
        let counts = vec![0; statements.len()];
        Facts { statements, counts, params: vec![Vec::new(); arrays.len()], sums, read: Vec::new() }
    }

    /// Assignments that have run.
    pub fn instances(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Bytes of what is given and read, and of the results.
    pub fn data(&self) -> f64 {
        let columns = self.params.iter().flatten();
        columns.map(|column| (column.given + column.results) as f64 * column.bytes).sum()
    }

    /// Bytes that cross the border of a cache of so many bytes, by the accesses of the statement
    /// that needs most.
    pub fn by_accesses(&self, capacity: f64) -> f64 {
        let each = self.statements.iter().zip(&self.counts).map(|(statement, instances)| {
            let usable = |touch: &&Touch| self.data_of(touch.array).is_some();
            let touches: Vec<Touch> = statement.touches.iter().filter(usable).cloned().collect();
            let arrays: BTreeSet<usize> = touches.iter().map(|touch| touch.array).collect();
            let data: Vec<Data> = arrays.into_iter().filter_map(|array| self.data_of(array)).collect();
            // An element counts by the smallest scalar, so that the cache holds no more of them.
            let bytes = data.iter().map(|data| data.bytes).fold(f64::INFINITY, f64::min);
            if !bytes.is_finite() {
                return 0.0;
            }
            let created = data.iter().map(|data| data.created).sum();
            let (depth, instances) = (statement.depth, *instances as f64);
            least(&Statement { depth, instances, touches, created }, capacity / bytes) * bytes
        });
        each.fold(0.0, f64::max)
    }

    /// Of a parameter or sum, if its elements stand for its values.
    fn data_of(&self, array: usize) -> Option<Data> {
        if let Some(columns) = self.params.get(array) {
            let bytes = columns.iter().map(|column| column.bytes).fold(f64::INFINITY, f64::min);
            let created = columns.iter().map(|column| column.created as f64).sum();
            return columns.iter().all(|column| !column.overwritten).then_some(Data { bytes, created });
        }
        let sum = self.sums.get(array - self.params.len())?;
        self.data_of(sum.result)?;
        Some(Data { bytes: sum.bytes, created: self.counts[sum.set] as f64 })
    }
}

/// Of an array: the bytes of its smallest scalar, and how many elements come to be without being
/// read.
struct Data {
    bytes: f64,
    created: f64,
}

impl Observer for Facts {
    fn array(&mut self, live: Live<'_>) {
        let Some(columns) = self.params.get_mut(live.array) else { return };
        *columns = live
            .columns
            .iter()
            .map(|scalar| Column {
                bytes: scalar.bytes() as f64,
                scalars: vec![Scalar::default(); live.elements],
                ..Column::default()
            })
            .collect();
    }

    fn assignment(&mut self, number: usize) {
        self.counts[number] += 1;
        self.read.clear();
    }

    fn access(&mut self, array: usize, column: usize, element: usize, write: bool) {
        let Some(own) = self.params.get_mut(array).and_then(|columns| columns.get_mut(column)) else {
            return;
        };
        let scalar = &mut own.scalars[element];
        let before = std::mem::replace(scalar, Scalar { touched: true, written: scalar.written || write });
        if !write {
            own.given += u64::from(!before.touched);
            self.read.push((array, column, element));
            return;
        }
        own.results += u64::from(!before.written);
        if !self.read.contains(&(array, column, element)) {
            own.created += u64::from(!before.touched);
            own.overwritten |= before.touched;
        }
    }
}

/// Reads the statements in order, each with its accesses.
struct Reader {
    /// The parameters.
    arrays: Vec<Name>,
    sums: Vec<Sum>,
    /// The variables of the loops around.
    around: Vec<Name>,
    statements: Vec<Affine>,
}

impl Reader {
    fn block(&mut self, body: &[Stmt]) {
        for (k, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Assign(assign) => {
                    let mut accesses = vec![&assign.target];
                    always(&assign.value, &mut accesses);
                    let touches = accesses.into_iter().filter_map(|access| self.touch(access)).collect();
                    self.statements.push(Affine { depth: self.around.len(), touches });
                }
                Stmt::Loop(l) => {
                    self.around.push(l.var.clone());
                    self.block(&l.body);
                    self.around.pop();
                }
                Stmt::If { .. } | Stmt::Block { .. } => {
                    stmt.bodies().into_iter().for_each(|inner| self.block(inner));
                }
                Stmt::Local(local) => self.sums.extend(self.sum(local, &body[k + 1..])),
                Stmt::Copy(_) | Stmt::Wait(_) => {}
            }
        }
    }

    /// The local scalar as a sum, by the statements behind its declaration.
    fn sum(&self, local: &Local, rest: &[Stmt]) -> Option<Sum> {
        let Elem::Scalar(scalar) = &local.elem else { return None };
        let reads = |assign: &Assign| assign.value.loads().any(|access| access.array == local.name);
        let sets =
            |assign: &Assign| assign.target.array == local.name && assign.update.is_none() && !reads(assign);
        let own = || rest.iter().filter_map(|s| if let Stmt::Assign(a) = s { Some(a) } else { None });
        if !local.dims.is_empty() || assigns(rest).filter(|a| sets(a)).count() != 1 {
            return None;
        }
        let place = rest.iter().position(|s| matches!(s, Stmt::Assign(assign) if sets(assign)))?;
        let set = self.statements.len() + assigns(&rest[..place]).count();
        // One element for each iteration.
        let result = own()
            .filter(|assign| assign.update.is_none() && reads(assign))
            .find_map(|assign| self.touch(&assign.target).filter(|touch| touch.kernel.dimension() == 0))?;
        Some(Sum {
            name: local.name.clone(),
            bytes: scalar.bytes() as f64,
            depth: self.around.len(),
            set,
            result: (result.array < self.arrays.len()).then_some(result.array)?,
        })
    }

    /// An access to a parameter whose subscripts are affine in the loops around it, or to a sum.
    fn touch(&self, access: &Access) -> Option<Touch> {
        let around = &self.around;
        if (1..around.len()).any(|k| around[..k].contains(&around[k])) {
            return None;
        }
        let depth = around.len();
        if let Some(sum) = self.sums.iter().position(|sum| sum.name == access.array) {
            let own = self.sums[sum].depth;
            let inner = (own..depth).map(|d| (0..depth).map(|e| i128::from(d == e)).collect());
            return Some(Touch { array: self.arrays.len() + sum, kernel: Space::spanned(depth, inner)? });
        }
        let array = self.arrays.iter().position(|name| *name == access.array)?;
        let rows = access.indices.iter().map(|index| {
            let form = linear::<i128>(index)?;
            Some(around.iter().map(|var| form.coefficient(var)).collect())
        });
        let rows = rows.collect::<Option<Vec<Vec<i128>>>>()?;
        Some(Touch { array, kernel: Space::spanned(depth, rows)?.orthogonal()? })
    }
}

/// What the expression reads whatever its conditions say.
fn always<'a>(expr: &'a Expr, into: &mut Vec<&'a Access>) {
    if let Expr::Load(access) = expr {
        into.push(access);
    }
    match expr {
        Expr::Select(condition, ..) => always(condition, into),
        _ => expr.children().for_each(|child| always(child, into)),
    }
}
