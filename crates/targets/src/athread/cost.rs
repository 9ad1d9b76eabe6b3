//! Cycles of generated slave code, for the emulator's clock. This is an upper estimate for an
//! in-order core that issues one floating-point operation and one memory operation in each cycle.
//! Only what is in the text is counted.

use loops::{Assign, BinaryOp, Expr, Name, UnaryOp};

/// Cycles from a result to its use as an addend.
pub(super) const CHAIN: f64 = 7.0;
/// Cycles of a quotient or a root.
const DIVISION: f64 = 30.0;
/// Cycles of a call.
const CALL: f64 = 100.0;
/// Cycles of a loop per iteration beside its body.
pub(super) const LOOP: f64 = 2.0;

/// What one instance of a statement takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Cost {
    /// Slots of the floating-point pipeline.
    pub arithmetic: f64,
    /// Slots of the memory pipeline.
    pub memory: f64,
    /// Floating-point operations.
    pub operations: f64,
    /// Cycles between two instances that depend on each other.
    pub chain: f64,
}

impl Cost {
    /// Both together.
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            arithmetic: self.arithmetic + other.arithmetic,
            memory: self.memory + other.memory,
            operations: self.operations + other.operations,
            chain: self.chain.max(other.chain),
        }
    }

    /// Cycles of an iteration.
    pub fn cycles(self) -> f64 {
        self.arithmetic.max(self.memory).max(self.chain)
    }
}

/// The cost of an assignment as scalar code in a loop over `var`.
pub(super) fn assignment(assign: &Assign, var: Option<&Name>) -> Cost {
    let mut cost = expression(&assign.value);
    cost.memory += 1.0;
    if assign.update.is_some() {
        cost.memory += 1.0;
        cost.operations += 1.0;
        // A product that is added is one operation.
        if !matches!(assign.value, Expr::Binary(BinaryOp::Mul, ..)) {
            cost.arithmetic += 1.0;
        }
    }
    let reads_itself = assign.update.is_some() || { assign.value.loads().any(|a| *a == assign.target) };
    if reads_itself && var.is_some_and(|var| !assign.target.indices.iter().any(|i| i.mentions(var))) {
        cost.chain = CHAIN;
    }
    cost
}

/// The cost of a value.
pub(super) fn expression(e: &Expr) -> Cost {
    let mut cost = Cost::default();
    match e {
        // A scalar argument stays in a register.
        Expr::Load(access) => {
            if !access.indices.is_empty() {
                cost.memory += 1.0;
            }
            return cost;
        }
        Expr::Binary(op, a, b) => {
            cost = expression(a).plus(expression(b));
            let product = |e: &Expr| matches!(e, Expr::Binary(BinaryOp::Mul, ..));
            match op {
                // One of the two is a multiplication and an addition at once.
                BinaryOp::Add | BinaryOp::Sub if product(a) || product(b) => {}
                BinaryOp::Div | BinaryOp::Rem => cost.arithmetic += DIVISION,
                BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => cost.arithmetic += CALL,
                BinaryOp::FloorDiv | BinaryOp::Mod => cost.arithmetic += DIVISION,
                _ => cost.arithmetic += 1.0,
            }
            cost.operations += 1.0;
        }
        Expr::Unary(op, a) => {
            cost = expression(a);
            cost.operations += 1.0;
            cost.arithmetic += match op {
                UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Bits => 1.0,
                UnaryOp::Sqrt => DIVISION,
                _ => CALL,
            };
        }
        Expr::Call { args, .. } => {
            cost = args.iter().map(expression).fold(cost, Cost::plus);
            cost.arithmetic += CALL;
            cost.operations += 1.0;
        }
        Expr::Compare(_, a, b) => {
            cost = expression(a).plus(expression(b));
            cost.arithmetic += 1.0;
        }
        Expr::Select(c, a, b) => {
            cost = expression(c).plus(expression(a)).plus(expression(b));
            cost.arithmetic += 1.0;
        }
        Expr::Cast(_, a) => {
            cost = expression(a);
            cost.arithmetic += 1.0;
        }
        Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) | Expr::Var(_) => {}
    }
    cost
}
