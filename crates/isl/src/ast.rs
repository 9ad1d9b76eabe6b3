//! Syntax trees from schedules.

use std::ffi::c_int;

use crate::ctx::{Ctx, Error, Result};
use crate::object::{FromC, Object};
use crate::schedule::{Schedule, unknown};
use crate::set::Set;
use crate::space::{Id, IdList, Val};

object!(
    /// An expression.
    AstExpr: isl_ast_expr, isl_ast_expr_copy, isl_ast_expr_free, isl_ast_expr_to_C_str
);

methods! { AstExpr;
    kind_c(keep self) -> KindCode = isl_ast_expr_get_type;
    op_c(keep self) -> AstOp = isl_ast_expr_op_get_type;
    n_args_c(keep self) -> usize = isl_ast_expr_op_get_n_arg;
    arg_c(keep self, position: raw c_int) -> AstExpr = isl_ast_expr_op_get_arg;
    id_c(keep self) -> Id = isl_ast_expr_id_get_id;
    val_c(keep self) -> Val = isl_ast_expr_int_get_val;
}

struct KindCode(c_int);

impl FromC for KindCode {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<KindCode> {
        if c < 0 { Err(ctx.take_error()) } else { Ok(KindCode(c)) }
    }
}

/// Operations of expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AstOp {
    /// Conjunction.
    And,
    /// Conjunction; the right side only if the left one holds.
    AndThen,
    /// Disjunction.
    Or,
    /// Disjunction; the right side only if the left one does not hold.
    OrElse,
    /// Largest of two or more.
    Max,
    /// Smallest of two or more.
    Min,
    /// Negation.
    Minus,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Exact quotient.
    Div,
    /// Quotient rounded toward negative infinity.
    FloorDiv,
    /// Quotient of a non-negative dividend.
    PosDiv,
    /// Remainder of a non-negative dividend.
    PosRem,
    /// Remainder that is only compared with zero.
    ZeroRem,
    /// Condition; only the chosen side is evaluated.
    Cond,
    /// Condition; both sides may be evaluated.
    Select,
    /// Equality.
    Eq,
    /// At most.
    Le,
    /// Less.
    Lt,
    /// At least.
    Ge,
    /// Greater.
    Gt,
    /// A call: the function, then the arguments.
    Call,
    /// An array element: the array, then the subscripts.
    Access,
    /// A member of a structure.
    Member,
    /// An address.
    AddressOf,
}

impl FromC for AstOp {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, c: c_int) -> Result<AstOp> {
        use AstOp::*;
        const ALL: [AstOp; 26] = [
            And, AndThen, Or, OrElse, Max, Min, Minus, Add, Sub, Mul, Div, FloorDiv, PosDiv, PosRem, ZeroRem,
            Cond, Select, Eq, Le, Lt, Ge, Gt, Call, Access, Member, AddressOf,
        ];
        if c < 0 {
            return Err(ctx.take_error());
        }
        ALL.get(c as usize).copied().ok_or_else(|| unknown("operation", c))
    }
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum AstExprKind {
    /// An operation and its operands.
    Op(AstOp, Vec<AstExpr>),
    /// An iterator, parameter, statement or array.
    Id(String),
    /// An integer.
    Int(i64),
}

impl AstExpr {
    /// What it is.
    ///
    /// # Errors
    /// Those of isl; also for integers beyond 64 bits.
    pub fn kind(&self) -> Result<AstExprKind> {
        match self.kind_c()?.0 {
            0 => {
                let args = (0..self.n_args_c()?)
                    .map(|position| self.arg_c(position as c_int))
                    .collect::<Result<Vec<_>>>()?;
                Ok(AstExprKind::Op(self.op_c()?, args))
            }
            1 => Ok(AstExprKind::Id(self.id_c()?.name())),
            2 => Ok(AstExprKind::Int(self.val_c()?.to_i64()?)),
            code => Err(unknown("expression", code)),
        }
    }
}

object!(
    /// A node of a syntax tree.
    AstNode: isl_ast_node, isl_ast_node_copy, isl_ast_node_free, isl_ast_node_to_C_str
);

list!(AstNodeList of AstNode: isl_ast_node_list, isl_ast_node_list_copy, isl_ast_node_list_free, isl_ast_node_list_alloc, isl_ast_node_list_add, isl_ast_node_list_size, isl_ast_node_list_get_at);

methods! { AstNode;
    kind_c(keep self) -> KindCode = isl_ast_node_get_type;
    iterator_c(keep self) -> AstExpr = isl_ast_node_for_get_iterator;
    init_c(keep self) -> AstExpr = isl_ast_node_for_get_init;
    cond_c(keep self) -> AstExpr = isl_ast_node_for_get_cond;
    inc_c(keep self) -> AstExpr = isl_ast_node_for_get_inc;
    body_c(keep self) -> AstNode = isl_ast_node_for_get_body;
    degenerate_c(keep self) -> bool = isl_ast_node_for_is_degenerate;
    if_cond_c(keep self) -> AstExpr = isl_ast_node_if_get_cond;
    then_c(keep self) -> AstNode = isl_ast_node_if_get_then_node;
    has_else_c(keep self) -> bool = isl_ast_node_if_has_else_node;
    else_c(keep self) -> AstNode = isl_ast_node_if_get_else_node;
    children_c(keep self) -> Vec<AstNode> = isl_ast_node_block_get_children;
    mark_id_c(keep self) -> Id = isl_ast_node_mark_get_id;
    mark_node_c(keep self) -> AstNode = isl_ast_node_mark_get_node;
    user_c(keep self) -> AstExpr = isl_ast_node_user_get_expr;
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum AstNodeKind {
    /// A loop.
    For {
        /// Its variable.
        iterator: String,
        /// First value.
        init: AstExpr,
        /// Condition to go on; absent if there is exactly one iteration.
        cond: Option<AstExpr>,
        /// Increment; absent if there is exactly one iteration.
        inc: Option<AstExpr>,
        /// Body.
        body: AstNode,
    },
    /// A conditional.
    If {
        /// Condition.
        cond: AstExpr,
        /// Where it holds.
        then: AstNode,
        /// Where it does not.
        otherwise: Option<AstNode>,
    },
    /// A sequence.
    Block(Vec<AstNode>),
    /// A mark of the schedule tree, and what it marks.
    Mark(String, AstNode),
    /// A statement: a call of it with the instance's coordinates.
    User(AstExpr),
}

impl AstNode {
    /// What it is.
    ///
    /// # Errors
    /// Those of isl.
    pub fn kind(&self) -> Result<AstNodeKind> {
        Ok(match self.kind_c()?.0 {
            1 => {
                let AstExprKind::Id(iterator) = self.iterator_c()?.kind()? else {
                    return Err(Error::argument("an iterator that is not an identifier"));
                };
                let degenerate = self.degenerate_c()?;
                AstNodeKind::For {
                    iterator,
                    init: self.init_c()?,
                    cond: if degenerate { None } else { Some(self.cond_c()?) },
                    inc: if degenerate { None } else { Some(self.inc_c()?) },
                    body: self.body_c()?,
                }
            }
            2 => AstNodeKind::If {
                cond: self.if_cond_c()?,
                then: self.then_c()?,
                otherwise: if self.has_else_c()? { Some(self.else_c()?) } else { None },
            },
            3 => AstNodeKind::Block(self.children_c()?),
            4 => AstNodeKind::Mark(self.mark_id_c()?.name(), self.mark_node_c()?),
            5 => AstNodeKind::User(self.user_c()?),
            code => return Err(unknown("syntax tree node", code)),
        })
    }
}

object!(
    /// The generator of syntax trees, and in callbacks its state at a place.
    AstBuild: isl_ast_build, isl_ast_build_copy, isl_ast_build_free
);

methods! { AstBuild;
    iterators_c(take self, names: take IdList) -> AstBuild = isl_ast_build_set_iterators;
    node_c(keep self, schedule: take Schedule) -> AstNode = isl_ast_build_node_from_schedule;
}

impl AstBuild {
    /// A generator for parameters of which `context` holds.
    ///
    /// # Errors
    /// Those of isl.
    pub fn new(context: &Set) -> Result<AstBuild> {
        unsafe extern "C" {
            fn isl_ast_build_from_context(context: *mut <Set as Object>::Raw) -> *mut isl_ast_build;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe { AstBuild::from_c(context.ctx(), isl_ast_build_from_context(context.give())) }
    }

    /// Names for the loops by depth.
    ///
    /// # Errors
    /// Those of isl.
    pub fn iterators(&self, names: &[&str]) -> Result<AstBuild> {
        let ids = names.iter().map(|name| Id::new(self.ctx(), name)).collect::<Result<Vec<_>>>()?;
        self.iterators_c(&IdList::new(self.ctx(), &ids)?)
    }

    /// The syntax tree of a schedule.
    ///
    /// # Errors
    /// Those of isl.
    pub fn node(&self, schedule: &Schedule) -> Result<AstNode> {
        self.node_c(schedule)
    }
}
