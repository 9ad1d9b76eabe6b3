//! The types of primitives, read from the one table.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use loops::{Name, Size};

use super::inferred_types::{Class, Ty};
use crate::prim::{Prim, TABLE};
use crate::syntax::ast::{BinOp, Expr, ExprKind, NumberValue, Type, TypeKind};
use crate::syntax::{parse_relation, parse_scheme};
use crate::term::{Fact, FactKind};

/// The type of a primitive, over named types and sizes.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    /// Explicit size arguments in order.
    pub(crate) explicit: Vec<Name>,
    /// All sizes.
    pub(crate) sizes: Vec<Name>,
    /// All types, with what they are required to be.
    pub(crate) types: Vec<(Name, Option<Class>)>,
    /// The type after the explicit sizes.
    pub(crate) ty: Ty,
    /// What the sizes must satisfy.
    pub(crate) demands: Vec<Fact>,
}

/// What a primitive demands of its sizes, in the names of its scheme.
///
/// Beside these, every size argument and every length is at least 0.
pub fn demands(prim: Prim) -> &'static [&'static str] {
    match prim {
        Prim::Slide => &["1 <= s", "w <= n + s"],
        Prim::PadClamp => &["1 <= n"],
        Prim::Take | Prim::Drop => &["k <= n"],
        Prim::IdxPred | Prim::ToIdx => &["1 <= n"],
        Prim::AsVector | Prim::Splat => &["1 <= k"],
        _ => &[],
    }
}

/// The scheme of a primitive.
pub(crate) fn scheme(prim: Prim) -> &'static Scheme {
    static SCHEMES: OnceLock<Vec<Scheme>> = OnceLock::new();
    &SCHEMES.get_or_init(|| TABLE.iter().map(|info| read(info.prim, info.scheme)).collect())[prim as usize]
}

fn read(prim: Prim, text: &str) -> Scheme {
    let (constraints, mut ty) = parse_scheme(text);
    let mut explicit = Vec::new();
    while let TypeKind::SizeFun(name, rest) = ty.kind {
        explicit.push(name.name);
        ty = *rest;
    }
    let mut types = BTreeMap::new();
    let ty = convert(&ty, &mut types);
    for (class, variable) in constraints {
        let class = Class::from_name(&class);
        assert!(class.is_some(), "the constraint of `{text}`");
        // Comparing vectors gives no single truth value.
        let compares = matches!(prim, Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge);
        types.insert(variable, if compares { Some(Class::Plain) } else { class });
    }
    for (variable, class) in &mut types {
        let lane = Ty::Param(variable.clone());
        if ty.any(&|t| matches!(t, Ty::Vector(_, e) if **e == lane)) {
            *class = Some(Class::Plain);
        }
    }
    let mut sizes: Vec<Name> = explicit.clone();
    ty.sizes(&mut |size| {
        for name in size.params() {
            if !sizes.contains(&name) {
                sizes.push(name);
            }
        }
    });
    let demands = demands(prim)
        .iter()
        .map(|text| {
            let fact = parse_relation(text);
            assert!(fact.relation == BinOp::Le, "`{text}`");
            Fact { kind: FactKind::AtMost, left: size(&fact.left), right: size(&fact.right) }
        })
        .collect();
    Scheme { explicit, sizes, types: types.into_iter().collect(), ty, demands }
}

fn convert(ty: &Type, types: &mut BTreeMap<Name, Option<Class>>) -> Ty {
    match &ty.kind {
        TypeKind::Scalar(s) => Ty::Scalar(*s),
        TypeKind::Name(name, _) => {
            types.entry(name.name.clone()).or_insert(None);
            Ty::Param(name.name.clone())
        }
        TypeKind::Idx(n) => Ty::Idx(size(n)),
        TypeKind::Array(n, t) => Ty::array(size(n), convert(t, types)),
        TypeKind::Vector(n, t) => Ty::Vector(size(n), Arc::new(convert(t, types))),
        TypeKind::Pair(a, b) => Ty::pair(convert(a, types), convert(b, types)),
        TypeKind::Fun(a, b) => Ty::fun(convert(a, types), convert(b, types)),
        TypeKind::SizeFun(..) | TypeKind::Record(_) | TypeKind::Error => {
            panic!("explicit sizes come first in a scheme")
        }
    }
}

fn size(expr: &Expr) -> Size {
    match &expr.kind {
        ExprKind::Name(name) => Size::param(name.clone()),
        ExprKind::Number(n) => match n.value {
            NumberValue::Int(v) => Size::constant(i64::try_from(v).expect("a small number")),
            NumberValue::Float(_) => panic!("a size is an integer"),
        },
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (size(a), size(b));
            match op {
                BinOp::Add => a + b,
                BinOp::Sub => a - b,
                BinOp::Mul => a * b,
                BinOp::Div => a.div(&b),
                BinOp::Mod => a.rem(&b),
                _ => panic!("`{}` in a size of the table", op.symbol()),
            }
        }
        _ => panic!("a size of the table: {expr:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_of_the_table_can_be_read() {
        for info in TABLE {
            let scheme = scheme(info.prim);
            for name in scheme.demands.iter().flat_map(|d| [d.left.params(), d.right.params()]).flatten() {
                assert!(scheme.sizes.contains(&name), "`{}` demands something of `{name}`", info.name);
            }
        }
        assert_eq!(super::scheme(Prim::Slide).explicit, [Name::new("w"), Name::new("s")]);
    }
}
