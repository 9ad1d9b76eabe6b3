//! Extents that are numbers, as parameters: the scheduler's programs have small numbers then, and
//! its work is that of the same text with extents as parameters.
//!
//! Of `i < 200` and `i < 199` come `i < e` and `i < e - 1`. A relation with parameters has that
//! with numbers as the case `e = 200`, so a schedule that is right for all values is right for this
//! one. With numbers, LU of 200 rows was not translated within 100 s, and sweeps over 12 rows and
//! columns (`adi`) took 20 s; with parameters they take 1 s and 4 s in a debug build.

use isl::{Ctx, Dim, Set, UnionMap, UnionSet, Val};

use crate::fault::{self, Result};
use crate::tree::{Band, Branch, FunctionText, Member, Node, SetText, Tree};

/// Numbers from this one on make the scheduler's work heavy: an operation on nests of three loops
/// takes 0.1 to 0.4 ms where extents are numbers, and a twentieth of that where they are
/// parameters.
pub(super) const LARGE: i64 = 16;

/// Bounds of a loop by itself are parameters from this number on: shorter loops are windows and
/// colours.
const BOUND: i64 = 4;

/// Numbers that differ by at most this, and by at most a quarter, are one parameter.
const NEAR: i64 = 8;

/// With more different numbers they stay numbers.
const MOST: usize = 6;

/// Numbers that are parameters.
pub(super) struct Extents {
    ctx: Ctx,
    /// The value of each parameter, the greatest first.
    values: Vec<i64>,
    /// What the parameters' names begin with; no other parameter's name does.
    prefix: String,
}

impl Extents {
    /// The large numbers of a domain and of relations on it; none if there are none, or too many.
    pub fn of(domain: &UnionSet, relations: &[&UnionMap]) -> Option<Extents> {
        let mut numbers = Vec::new();
        let mut collect = |set: &Set| -> isl::Result<()> {
            for constraint in liftable(set)?.1.iter().flatten() {
                numbers.extend(extent(constraint)?.map(i64::abs));
            }
            Ok(())
        };
        let mut all = || -> isl::Result<()> {
            domain.sets()?.iter().try_for_each(&mut collect)?;
            for relation in relations {
                relation.maps()?.iter().try_for_each(|map| collect(&map.wrap()?))?;
            }
            Ok(())
        };
        // A number that does not fit in 64 bits stays as it is, with all others.
        if all().is_err() {
            return None;
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let mut values: Vec<i64> = Vec::new();
        for number in numbers {
            if values.last().is_none_or(|value| !near(*value, number)) {
                values.push(number);
            }
        }
        let ctx = domain.ctx().clone();
        let prefix = unused(&domain.space().ok()?).ok()?;
        (1..=MOST).contains(&values.len()).then_some(Extents { ctx, values, prefix })
    }

    fn name(&self, k: usize) -> String {
        format!("{}{k}", self.prefix)
    }

    /// What is known of the parameters.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn context(&self, context: &Set) -> isl::Result<Set> {
        let names: Vec<String> = (0..self.values.len()).map(|k| self.name(k)).collect();
        let least = |(name, value): (&String, &i64)| format!("{name} >= {}", (*value).min(LARGE));
        let greater = |pair: &[String]| format!("{} > {}", pair[0], pair[1]);
        let least = names.iter().zip(&self.values).map(least);
        let known: Vec<String> = least.chain(names.windows(2).map(greater)).collect();
        let known = format!("[{}] -> {{ : {} }}", names.join(", "), known.join(" and "));
        context.intersect_params(&Set::read(&self.ctx, &known)?)
    }

    /// The domain with parameters.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn domain(&self, domain: &UnionSet) -> isl::Result<UnionSet> {
        let sets = domain.sets()?.iter().map(|set| self.set(set)).collect::<isl::Result<Vec<_>>>()?;
        UnionSet::of(&self.ctx, &sets)
    }

    /// A relation with parameters.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn relation(&self, relation: &UnionMap) -> isl::Result<UnionMap> {
        let lifted = |map: &isl::Map| self.set(&map.wrap()?)?.unwrap();
        let maps = relation.maps()?.iter().map(lifted).collect::<isl::Result<Vec<_>>>()?;
        UnionMap::of(&self.ctx, &maps)
    }

    fn set(&self, set: &Set) -> isl::Result<Set> {
        let before = set.dim(Dim::Param)?;
        let mut wide = set.insert_dims(Dim::Param, before, self.values.len())?;
        for k in 0..self.values.len() {
            wide = wide.set_dim_name(Dim::Param, before + k, &self.name(k))?;
        }
        let (rest, plain) = liftable(&wide)?;
        let mut all = rest;
        for constraints in plain {
            let mut lifted = Set::universe(&wide.space()?)?;
            for constraint in constraints {
                lifted = lifted.add_constraint(&self.constraint(&constraint, before)?)?;
            }
            all = all.union(&lifted)?;
        }
        all.coalesce()
    }

    fn constraint(&self, constraint: &isl::Constraint, before: usize) -> isl::Result<isl::Constraint> {
        let Some(number) = extent(constraint)? else { return Ok(constraint.clone()) };
        let Some(k) = self.values.iter().position(|value| near(*value, number.abs())) else {
            return Ok(constraint.clone());
        };
        let (sign, value) = (number.signum(), self.values[k]);
        let left = Val::int(&self.ctx, number - sign * value)?;
        let factor = Val::int(&self.ctx, sign)?;
        constraint.with_constant(&left)?.with_coefficient(Dim::Param, before + k, &factor)
    }

    /// A schedule with numbers again; its domain is this one.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn lowered(&self, tree: Tree, domain: &UnionSet) -> Result<Tree> {
        let mut node = |node: Node| -> Result<Node> {
            let branches =
                |all: Vec<Branch>| all.into_iter().map(|one| self.branch(one)).collect::<Result<_>>();
            Ok(match node {
                Node::Domain { child, .. } => {
                    Node::Domain { domain: SetText::new(domain.to_string()), child }
                }
                Node::Filter(branch) => Node::Filter(self.branch(branch)?),
                Node::Sequence(all) => Node::Sequence(branches(all)?),
                Node::Set(all) => Node::Set(branches(all)?),
                Node::Band(band) => {
                    let members = band.members.into_iter().map(|m| self.member(m));
                    Node::Band(Band { members: members.collect::<Result<_>>()?, ..band })
                }
                Node::Leaf => Node::Leaf,
                other => return Err(fault::edit(format!("the scheduler made a {} node", other.kind()))),
            })
        };
        Ok(Tree { root: tree.root.rewrite(&mut node)? })
    }

    fn branch(&self, branch: Branch) -> Result<Branch> {
        let fixed = || -> isl::Result<UnionSet> {
            let sets = UnionSet::read(&self.ctx, branch.filter.as_str())?.sets()?;
            let sets = sets.iter().map(|set| self.fixed(set)).collect::<isl::Result<Vec<_>>>()?;
            UnionSet::of(&self.ctx, &sets)
        };
        let filter = SetText::new(fixed().map_err(fault::library)?.to_string());
        Ok(Branch { filter, ..branch })
    }

    fn member(&self, member: Member) -> Result<Member> {
        let fixed = || -> isl::Result<Option<isl::UnionPwAff>> {
            let graph = isl::UnionPwAff::read(&self.ctx, member.function.as_str())?.graph()?;
            let fixed = |map: &isl::Map| self.fixed(&map.wrap()?)?.unwrap();
            let maps = graph.maps()?.iter().map(fixed).collect::<isl::Result<Vec<_>>>()?;
            let all = UnionMap::of(&self.ctx, &maps)?.as_multi_union_pw_aff()?;
            Ok(all.members()?.into_iter().next())
        };
        let Some(function) = fixed().map_err(fault::library)? else { return Ok(member) };
        Ok(Member { function: FunctionText::new(function.to_string()), ..member })
    }

    /// A set for the values of the parameters.
    fn fixed(&self, set: &Set) -> isl::Result<Set> {
        let mut set = set.clone();
        for (k, value) in self.values.iter().enumerate() {
            if let Some(position) = set.find_dim(Dim::Param, &self.name(k))? {
                set = set.fix(Dim::Param, position, *value)?;
                set = set.project_out(Dim::Param, position, 1)?;
            }
        }
        Ok(set)
    }
}

/// Whether a number is the value of a parameter less a small number.
fn near(value: i64, number: i64) -> bool {
    (0..=NEAR.min(value / 4)).contains(&(value - number))
}

/// The number of a constraint that is to be a parameter.
fn extent(constraint: &isl::Constraint) -> isl::Result<Option<i64>> {
    let number = constraint.constant()?.to_i64()?;
    let mut variables = 0;
    for position in 0..constraint.dim(Dim::SET)? {
        variables += usize::from(constraint.coefficient(Dim::SET, position)?.to_i64()? != 0);
    }
    let least = if variables == 1 { BOUND } else { LARGE };
    Ok(number.checked_abs().is_some_and(|n| n >= least).then_some(number))
}

/// The basic sets without quotients as their constraints, and the set of all others.
fn liftable(set: &Set) -> isl::Result<(Set, Vec<Vec<isl::Constraint>>)> {
    let (mut rest, mut plain) = (Set::empty(&set.space()?)?, Vec::new());
    for basic in set.basic_sets()? {
        if basic.dim(Dim::Div)? > 0 {
            rest = rest.union(&basic.to_set()?)?;
        } else {
            plain.push(basic.constraints()?);
        }
    }
    Ok((rest, plain))
}

/// What no parameter's name begins with.
fn unused(space: &isl::Space) -> isl::Result<String> {
    let names = (0..space.dim(Dim::Param)?).map(|k| space.dim_name(Dim::Param, k));
    let names = names.collect::<isl::Result<Vec<_>>>()?;
    let mut prefix = "extent".to_owned();
    while names.iter().flatten().any(|name| name.starts_with(&prefix)) {
        prefix.push('_');
    }
    Ok(prefix)
}
