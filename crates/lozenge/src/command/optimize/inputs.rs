//! Random inputs of models, for comparisons before and after.
//!
//! Integers are what rules go wrong on, so they come from the whole range of their type, where
//! nothing but arithmetic is done with them. Those that are places in a tensor are inside of it; of
//! those that say a shape or an axis, little is tried.

use std::collections::{BTreeMap, HashMap, HashSet};

use graph::evaluate::Datum;
use graph::{Dim, ElementType, Model, Node, Slot, Tensor, ValueId, operators, plan};
use loops::{Data, Name, Scalar};

use crate::failure::Failure;
use crate::random::Random;

/// The first attempts draw integers by what they are used for.
const BY_USE: u64 = 2;
/// Integers that become floating-point numbers are not greater, so that these stay finite.
const COUNTED: u64 = 100;

/// What integers of an input are used for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Integers {
    /// Arithmetic, comparisons, moves.
    Free,
    /// They become floating-point numbers.
    Counted,
    /// Places along axes of these extents.
    Places(Vec<Dim>),
    /// A shape, axes, a number of times; or something that is not seen through.
    Structure,
}

/// What the integers of each input are used for. Types must have been inferred.
pub(super) fn uses(model: &Model) -> HashMap<Name, Integers> {
    let graph = &model.graph;
    let whole = graph.inputs().iter().filter(|id| is_integer(model, **id));
    whole.map(|id| (graph.value(*id).name().clone(), of_input(model, *id))).collect()
}

fn is_integer(model: &Model, id: ValueId) -> bool {
    model.graph.value(id).tensor_type().is_some_and(|ty| ty.elem.is_int())
}

fn of_input(model: &Model, input: ValueId) -> Integers {
    let graph = &model.graph;
    // Values that depend on the input, and whether their elements are still the input's.
    let mut left = vec![(input, true)];
    let mut seen = HashSet::from([input]);
    let mut places: Option<Vec<Dim>> = None;
    let mut counted = false;
    while let Some((id, moved)) = left.pop() {
        for used in graph.value(id).uses() {
            let node = graph.node(used.node);
            let Slot::Input(slot) = used.slot else { return Integers::Structure };
            match role(model, node, slot as usize) {
                Role::Structure => return Integers::Structure,
                Role::Places(extents) if moved => places.get_or_insert_default().extend(extents),
                Role::Places(_) => return Integers::Structure,
                Role::Nothing => {}
                Role::Data => {
                    let stays = moved && entry(node).is_some_and(|entry| entry.moves);
                    for output in node.outputs().iter().flatten() {
                        let elem = graph.value(*output).tensor_type().map(|ty| ty.elem);
                        match elem {
                            None => return Integers::Structure,
                            Some(elem) if elem.is_float() => counted = true,
                            Some(elem) if elem.is_int() && seen.insert(*output) => {
                                left.push((*output, stays));
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    match (places, counted) {
        (Some(extents), _) => Integers::Places(extents),
        (None, true) => Integers::Counted,
        (None, false) => Integers::Free,
    }
}

/// What a node does with an input.
enum Role {
    /// The result is computed of its elements.
    Data,
    /// Its elements are places along axes of these extents.
    Places(Vec<Dim>),
    /// Its elements say what the result looks like.
    Structure,
    /// Its elements are not looked at.
    Nothing,
}

fn entry(node: &Node) -> Option<&'static operators::Entry> {
    operators::lookup("", &node.op().name).filter(|_| node.op().is_standard())
}

fn role(model: &Model, node: &Node, slot: usize) -> Role {
    let Some(entry) = entry(node).filter(|_| !node.has_subgraphs()) else { return Role::Structure };
    match entry.role(slot) {
        operators::Role::Data | operators::Role::Weights | operators::Role::Channel => Role::Data,
        operators::Role::Places => extents(model, node).map_or(Role::Structure, Role::Places),
        operators::Role::Nothing => Role::Nothing,
        operators::Role::Axes
        | operators::Role::Shape
        | operators::Role::Amount
        | operators::Role::Opaque => Role::Structure,
    }
}

/// The extents of the axes that the places of a node count along.
fn extents(model: &Model, node: &Node) -> Option<Vec<Dim>> {
    let of = |slot: usize| {
        let value = node.inputs().get(slot).copied().flatten()?;
        model.graph.value(value).tensor_type()?.shape.clone()
    };
    let (data, places) = (of(0)?, of(1)?);
    let int = |name: &str| node.attribute(name).and_then(|a| a.int()).unwrap_or(0);
    let last = || usize::try_from(places.last()?.known()?).ok();
    let axes = match &*node.op().name {
        "GatherND" => {
            let batch = usize::try_from(int("batch_dims")).ok()?;
            batch..batch.checked_add(last()?)?
        }
        "ScatterND" => 0..last()?,
        _ => {
            let axis = int("axis");
            let axis = usize::try_from(if axis < 0 { axis + data.len() as i64 } else { axis }).ok()?;
            axis..axis.checked_add(1)?
        }
    };
    data.get(axes).map(<[Dim]>::to_vec)
}

/// Numbers for the named extents of the inputs, and for those that have no name: the first, or
/// others if the model has no value on these.
pub(super) fn sizes(model: &Model, seed: u64, attempt: u64) -> BTreeMap<Name, i64> {
    let mut sizes = BTreeMap::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        let shape =
            value.tensor_type().and_then(|ty| ty.shape.as_ref()).filter(|_| value.initializer().is_none());
        for (axis, dim) in shape.into_iter().flatten().enumerate() {
            match dim.size() {
                None => {
                    sizes.insert(plan::extent_name(value.name(), axis), 2);
                }
                Some(size) => {
                    for p in size.params() {
                        let n = 1 + Random::named(seed, &p).below(4) as i64;
                        sizes.insert(p, n);
                    }
                }
            }
        }
    }
    let alone = sizes.len() == 1;
    for (name, n) in sizes.iter_mut().filter(|_| attempt > 0) {
        *n = match alone {
            true => attempt as i64,
            false => 1 + Random::named(seed.wrapping_add(attempt << 40), name).below(8) as i64,
        };
    }
    sizes
}

/// What integers are drawn from if nothing else helps: 0 and 1 are places in most things, but
/// nothing is divided by 0, and one place is below an extent of 1.
#[derive(Clone, Copy)]
enum Few {
    Bits,
    Ones,
    Zeros,
}

impl Few {
    /// First the same for all inputs, then one for each.
    fn of(attempt: u64, seed: u64, name: &str) -> Few {
        match attempt {
            0 => Few::Bits,
            1 => Few::Ones,
            2 => Few::Zeros,
            _ if Random::named(seed.wrapping_add(attempt << 32), name).below(2) == 0 => Few::Ones,
            _ => Few::Zeros,
        }
    }

    fn from(self, x: f64) -> i64 {
        match self {
            Few::Bits => i64::from(x > 0.0),
            Few::Ones => 1,
            Few::Zeros => 0,
        }
    }
}

/// Whether an attempt draws integers by what they are used for; others are of few numbers.
pub(super) fn by_use(attempt: u64) -> bool {
    attempt < BY_USE
}

/// Values that floating-point inputs have beside numbers between -1 and 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    /// One element of each input is this number, NaN or an infinity.
    One(u64),
    /// Half of the elements are zeros of both signs.
    Zeros,
}

impl Special {
    /// All of them.
    pub(super) const ALL: [Special; 4] = [
        Special::One(f64::NAN.to_bits()),
        Special::One(f64::INFINITY.to_bits()),
        Special::One(f64::NEG_INFINITY.to_bits()),
        Special::Zeros,
    ];

    /// In words.
    pub(super) fn text(self) -> &'static str {
        match self {
            Special::Zeros => "zeros of both signs",
            Special::One(bits) if f64::from_bits(bits).is_nan() => "a NaN",
            Special::One(_) => "an infinity",
        }
    }

    fn put(self, units: &mut [f64], random: &mut Random) {
        match self {
            Special::One(bits) => {
                let at = random.below(units.len().max(1) as u64) as usize;
                units.iter_mut().skip(at).take(1).for_each(|x| *x = f64::from_bits(bits));
            }
            Special::Zeros => {
                let zeros = units.iter_mut().filter(|x| x.abs() < 0.5);
                zeros.for_each(|x| *x *= 0.0);
            }
        }
    }
}

/// Random inputs of a model.
///
/// # Errors
/// `X0904` if there are none of its types.
pub(super) fn random(
    model: &Model,
    uses: &HashMap<Name, Integers>,
    sizes: &BTreeMap<Name, i64>,
    seed: u64,
    attempt: u64,
    special: Option<Special>,
) -> Result<HashMap<Name, Datum>, Failure> {
    let mut inputs = HashMap::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        if value.initializer().is_some() {
            continue;
        }
        let name = value.name().clone();
        let cannot = |reason: &str| {
            Failure::refused("X0904", format!("no random data for input `{name}`: {reason}"))
                .help("leave --check away, or give the model inputs of known types")
        };
        let ty = value.tensor_type().ok_or_else(|| cannot("it is not a tensor of known type"))?;
        let shape = ty.shape.as_ref().ok_or_else(|| cannot("its rank is not known"))?;
        let mut dims = Vec::new();
        for (axis, dim) in shape.iter().enumerate() {
            let n = match dim.size() {
                None => sizes.get(&plan::extent_name(&name, axis)).copied().unwrap_or(2),
                Some(size) => {
                    size.eval(&|p| sizes.get(p).copied()).map_err(|_| cannot("an extent has no value"))?
                }
            };
            dims.push(usize::try_from(n).map_err(|_| cannot("an extent is negative"))?);
        }
        let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(|n| *n <= 1 << 28);
        let count = count.ok_or_else(|| cannot("it is too large"))?;
        let mut random = Random::named(seed, &name);
        let tensor = match uses.get(&name).filter(|u| by_use(attempt) && **u != Integers::Structure) {
            Some(used) => {
                let extent = extent(used, sizes);
                let mut random = Random::named(seed.wrapping_add(attempt << 32), &name);
                let numbers = (0..count).map(|k| integer(used, extent, ty.elem, attempt, k, &mut random));
                of_integers(ty.elem, dims, numbers)
            }
            None => {
                let few = Few::of(attempt.saturating_sub(BY_USE), seed, &name);
                let mut units: Vec<f64> = (0..count).map(|_| random.unit()).collect();
                if let Some(special) = special.filter(|_| ty.elem.is_float()) {
                    special.put(&mut units, &mut random);
                }
                of_units(ty.elem, dims, units, few)
            }
        };
        let tensor = tensor.ok_or_else(|| cannot(&format!("its element type is {}", ty.elem)))?;
        inputs.insert(value.name().clone(), Datum::from(tensor));
    }
    Ok(inputs)
}

/// The least extent that places count along.
fn extent(used: &Integers, sizes: &BTreeMap<Name, i64>) -> Option<i64> {
    let Integers::Places(extents) = used else { return None };
    let one = |dim: &Dim| dim.size()?.eval(&|p| sizes.get(p).copied()).ok();
    extents.iter().map(one).collect::<Option<Vec<i64>>>()?.into_iter().min()
}

fn integer(
    used: &Integers,
    extent: Option<i64>,
    elem: ElementType,
    attempt: u64,
    k: usize,
    random: &mut Random,
) -> i64 {
    let signed = !matches!(elem, ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64);
    let n = match used {
        Integers::Places(_) => match extent.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0) {
            Some(n) => return random.below(2 * n) as i64 - n as i64,
            None => return random.below(2) as i64,
        },
        Integers::Counted => random.below(2 * COUNTED + 1) as i64 - COUNTED as i64,
        _ => {
            let near = random.below(5) as i64;
            let end = if elem.bits() >= 64 { i64::MIN } else { -1i64 << (elem.bits().max(1) - 1) };
            // In turns, so that a few elements have some of each.
            match k % 3 {
                0 if signed && random.below(2) == 0 => end.wrapping_add(near),
                0 if signed => !end - near,
                0 => -1 - near,
                1 => random.next() as i64,
                _ => near - 2,
            }
        }
    };
    if attempt > 0 && (n == 0 || elem.bits() < 64 && n % (1 << elem.bits()) == 0) { 1 } else { n }
}

/// A tensor of integers, which are cut to the bits of the type.
fn of_integers(elem: ElementType, dims: Vec<usize>, numbers: impl Iterator<Item = i64>) -> Option<Tensor> {
    let bits = elem.bits();
    if bits < 8 {
        let data = Data::I32(numbers.map(|n| (n & ((1 << bits) - 1)) as i32).collect());
        return operators::encode(elem, &loops::Tensor { shape: dims, data });
    }
    let bytes: Vec<u8> = numbers.flat_map(|n| n.to_le_bytes().into_iter().take(bits / 8)).collect();
    Tensor::raw(elem, dims, bytes.into())
}

/// A tensor of numbers between -1 and 1; integers and truth values are made of them.
fn of_units(elem: ElementType, dims: Vec<usize>, units: Vec<f64>, few: Few) -> Option<Tensor> {
    let integer = |x: &f64| few.from(*x);
    Some(match elem {
        ElementType::F32 => Tensor::from_f32s(dims, &units.iter().map(|x| *x as f32).collect::<Vec<_>>()),
        ElementType::F64 => Tensor::from_f64s(dims, &units),
        ElementType::I64 => Tensor::from_i64s(dims, &units.iter().map(integer).collect::<Vec<_>>()),
        ElementType::Bool => Tensor::from_bools(dims, &units.iter().map(|x| *x > 0.0).collect::<Vec<_>>()),
        other => {
            let data = match operators::carrier(other)? {
                Scalar::I32 => Data::I32(units.iter().map(|x| integer(x) as i32).collect()),
                Scalar::I64 => Data::I64(units.iter().map(integer).collect()),
                _ => Data::F32(units.iter().map(|x| *x as f32).collect()),
            };
            return operators::encode(other, &loops::Tensor { shape: dims, data });
        }
    })
}
