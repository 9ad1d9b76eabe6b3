//! Outputs of a model before and after, on random inputs.

use std::collections::{BTreeMap, HashMap, HashSet};

use graph::evaluate::{Datum, evaluate_within};
use graph::{Budget, ElementType, Model, Tensor, ValueId, operators};
use loops::{Diagnostic, Name};
use serde_json::{Value, json};

use super::inputs::{self, Integers, Special};
use crate::cli::Optimize;
use crate::failure::Failure;

/// So many inputs are drawn for one comparison.
const ATTEMPTS: u64 = 64;
/// So many numbers are tried for named extents.
const SHAPES: u64 = 12;

/// What a comparison found: outputs that differ by no more than is allowed.
pub(super) struct Checked {
    runs: u32,
    /// The greatest relative difference.
    worst: f64,
    /// What is allowed, for the outputs that have one element type on the way: the least precise
    /// one.
    allowed: Vec<(Option<ElementType>, f64)>,
    /// Numbers of named extents that were found only by trying.
    sizes: BTreeMap<Name, i64>,
}

impl Checked {
    /// In words.
    pub(super) fn text(&self) -> String {
        let at = match self.sizes.is_empty() {
            true => String::new(),
            false => format!(" (with {}: others have no value)", list(&self.sizes)),
        };
        let allowed = self.allowed.iter().map(|(ty, tolerance)| match ty {
            None if *tolerance == 0.0 => "none for integers".to_owned(),
            None => format!("{tolerance:.0e}"),
            Some(ty) => format!("{tolerance:.0e} ({ty})"),
        });
        let allowed: Vec<String> = allowed.collect();
        format!(
            "check: {} random inputs{at}, greatest relative difference {:.1e}, allowed {}\n",
            self.runs,
            self.worst,
            allowed.join(", ")
        )
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let allowed: Vec<Value> = self
            .allowed
            .iter()
            .map(|(ty, tolerance)| json!({ "type": ty.map(|ty| ty.to_string()), "tolerance": tolerance }))
            .collect();
        let sizes: BTreeMap<&str, i64> = self.sizes.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        json!({ "runs": self.runs, "greatest_relative_difference": self.worst, "allowed": allowed, "sizes": sizes })
    }
}

fn list(sizes: &BTreeMap<Name, i64>) -> String {
    sizes.iter().map(|(name, n)| format!("{name} = {n}")).collect::<Vec<_>>().join(", ")
}

/// How a comparison is made.
pub(super) struct Asked {
    runs: u32,
    seed: u64,
    /// What is allowed of all outputs, if it is given.
    tolerance: Option<f64>,
    budget: Budget,
    /// What to try where outputs differ.
    help: &'static str,
}

/// Where rules have changed the model.
const BY_RULES: &str = "find the rule with --rule NAME, or by the lines of --trace FILE with --limit N";
/// Where numbers have become shorter, too.
const BY_HALVES: &str = "numbers beyond 65504 become infinities in 16 bits; without --fp16, --check tells whether rules are the cause";

impl Asked {
    /// As the command line says.
    pub(super) fn of(arguments: &Optimize) -> Asked {
        Asked {
            runs: arguments.check,
            seed: arguments.seed,
            tolerance: arguments.tolerance,
            budget: Budget::of_memory(arguments.memory.bytes()),
            help: if arguments.fp16 { BY_HALVES } else { BY_RULES },
        }
    }
}

/// Runs both models on random inputs.
///
/// # Errors
/// `X0903` if an output differs by more than is allowed, `X0904` if there are no inputs, and what
/// evaluation finds.
pub(super) fn compare(before: &Model, after: &Model, asked: &Asked) -> Result<Checked, Failure> {
    let Asked { runs, seed, tolerance, budget, help } = *asked;
    let mut typed = before.clone();
    // A model that contradicts itself was refused before.
    let _ = graph::infer(&mut typed);
    let uses = inputs::uses(&typed);
    let types: Vec<Option<ElementType>> = (0..before.graph.outputs().len())
        .map(|k| [&typed, after].into_iter().filter_map(|m| least_precise(m, k)).min_by_key(|ty| digits(*ty)))
        .collect();
    let mut checked = Checked { runs, worst: 0.0, allowed: Vec::new(), sizes: BTreeMap::new() };
    for ty in &types {
        let entry = match tolerance {
            Some(tolerance) => (None, tolerance),
            None => (*ty, allowed(*ty)),
        };
        if !checked.allowed.contains(&entry) {
            checked.allowed.push(entry);
        }
    }
    for run in 0..runs {
        let drawn = meaningful(before, &uses, seed.wrapping_add(u64::from(run)), budget)?;
        if run == 0 {
            specials(before, after, &uses, &drawn.sizes, asked)?;
        }
        let b = match evaluate_within(after, drawn.inputs, budget) {
            Ok(b) => b,
            // What the library does not know says nothing about the rules.
            Err(d) if is_limit(&d) || [operators::UNKNOWN_OPERATOR, operators::TYPES].contains(&d.code) => {
                return Err(refuse(d, &BTreeMap::new()));
            }
            Err(d) => {
                return Err(Failure::check(
                    "X0903",
                    format!(
                        "on input {run} the original model has a result, and the rewritten one fails: {}; nothing is written",
                        d.message
                    ),
                ));
            }
        };
        if drawn.searched && checked.sizes.is_empty() {
            checked.sizes = drawn.sizes;
        }
        for (k, (a, b)) in drawn.outputs.iter().zip(&b).enumerate() {
            let output = before.graph.outputs().get(k);
            let name = output.map_or_else(String::new, |v| before.graph.value(*v).name().to_string());
            let difference = difference(a, b).ok_or_else(|| {
                Failure::check("X0903", format!("output `{name}` has another type or shape than before"))
            })?;
            let ty = types.get(k).copied().flatten();
            let most = tolerance.unwrap_or_else(|| allowed(ty));
            if difference > most || difference.is_nan() {
                let why = match (tolerance, ty) {
                    (Some(_), _) => format!("--tolerance allows {most:e}"),
                    (None, None) => "integers may not differ".to_owned(),
                    (None, Some(ty)) => {
                        format!("{most:e} is allowed: the least precise type that it depends on is {ty}")
                    }
                };
                return Err(Failure::check(
                    "X0903",
                    format!("output `{name}` differs by {difference:.3e} (relative) on input {run}; nothing is written"),
                )
                .note(why)
                .help(help));
            }
            checked.worst = checked.worst.max(difference);
        }
    }
    Ok(checked)
}

/// Runs both models on inputs with NaN, infinities, and zeros of both signs, where the first has a
/// value on them.
///
/// # Errors
/// `X0903` if an element of an output is NaN or infinite after and was not before, or the other way
/// round.
fn specials(
    before: &Model,
    after: &Model,
    uses: &HashMap<Name, Integers>,
    sizes: &BTreeMap<Name, i64>,
    asked: &Asked,
) -> Result<(), Failure> {
    let any = before.graph.inputs().iter().any(|id| {
        let value = before.graph.value(*id);
        value.initializer().is_none() && value.tensor_type().is_some_and(|ty| ty.elem.is_float())
    });
    for special in Special::ALL.into_iter().filter(|_| any) {
        let inputs = inputs::random(before, uses, sizes, asked.seed, 0, Some(special))?;
        let Ok(first) = evaluate_within(before, inputs.clone(), asked.budget) else { continue };
        let what = special.text();
        let second = evaluate_within(after, inputs, asked.budget).map_err(|d| {
            let message = format!(
                "on an input with {what} the model has a value, and what it became has none: {}; nothing is written",
                d.message
            );
            Failure::check("X0903", message)
        })?;
        for (k, (a, b)) in first.iter().zip(&second).enumerate() {
            let Some((place, a, b)) = other_kind(a, b) else { continue };
            let output = before.graph.outputs().get(k);
            let name = output.map_or_else(String::new, |v| before.graph.value(*v).name().to_string());
            let message = format!(
                "on an input with {what}, element {place} of output `{name}` was {a} and became {b}; nothing is written"
            );
            return Err(Failure::check("X0903", message).help(asked.help));
        }
    }
    Ok(())
}

/// The first element that is NaN or infinite on one side, and something else on the other.
fn other_kind(a: &Datum, b: &Datum) -> Option<(usize, f64, f64)> {
    let (a, b) = (numbers(a.tensor()?)?, numbers(b.tensor()?)?);
    let same = |a: f64, b: f64| (a.is_finite() && b.is_finite()) || a == b || (a.is_nan() && b.is_nan());
    a.into_iter().zip(b).enumerate().find(|(_, (a, b))| !same(*a, *b)).map(|(k, (a, b))| (k, a, b))
}

/// Binary digits of a floating-point type.
fn digits(ty: ElementType) -> u32 {
    use ElementType::*;
    match ty {
        F64 => 53,
        F32 => 24,
        F16 => 11,
        Bf16 => 8,
        F8E4M3Fn | F8E4M3FnUz => 4,
        F8E5M2 | F8E5M2FnUz => 3,
        _ => 2,
    }
}

/// How much an output may differ, relative to its largest magnitude, if this is the least precise
/// type on its way: rounding in another order explains some units in the last place.
fn allowed(ty: Option<ElementType>) -> f64 {
    match ty.map(digits) {
        None => 0.0,
        Some(24..) => 1e-5,
        Some(11..) => 1e-2,
        Some(8..) => 8e-2,
        Some(_) => 0.5,
    }
}

/// The least precise floating-point type that is computed with on the way to an output; none if
/// only integers are.
fn least_precise(model: &Model, output: usize) -> Option<ElementType> {
    let graph = &model.graph;
    let float = |id: ValueId| graph.value(id).tensor_type().map(|ty| ty.elem).filter(|elem| elem.is_float());
    let output = *graph.outputs().get(output)?;
    let mut least = float(output);
    let mut left = vec![output];
    let mut seen = HashSet::from([output]);
    while let Some(id) = left.pop() {
        // What is given is exact: rounding is of results.
        let Some((node, _)) = graph.producer(id) else { continue };
        let node = graph.node(node);
        if node.has_subgraphs() {
            // What goes on inside may be of any type that the model has.
            let all = graph.values().filter_map(|(id, _)| float(id));
            return all.chain(least).min_by_key(|ty| digits(*ty)).or(Some(ElementType::F32));
        }
        if !node.op().is("Constant") {
            least = float(id).into_iter().chain(least).min_by_key(|ty| digits(*ty));
        }
        left.extend(node.inputs().iter().flatten().filter(|id| seen.insert(**id)));
    }
    least
}

/// Whether the inputs are at fault: an integer is divided by zero, an index is outside.
fn has_no_value(d: &Diagnostic) -> bool {
    [functional::eval::FAULT, operators::OUTSIDE].contains(&d.code)
}

/// Whether the evaluation was given up.
fn is_limit(d: &Diagnostic) -> bool {
    [functional::eval::LIMIT, graph::evaluate::LIMIT].contains(&d.code)
}

fn refuse(d: Diagnostic, sizes: &BTreeMap<Name, i64>) -> Failure {
    let failure = Failure::from(d).note("while outputs before and after were compared");
    let Some((name, _)) = sizes.first_key_value() else { return failure };
    let drawn = list(sizes);
    failure
        .note(format!("the named extents were random: first {drawn}, then others, which did not fit either"))
        .help(format!("if the model is made for one extent, give it: --size {name}=NUMBER"))
}

/// Inputs on which a model has a value.
struct Drawn {
    inputs: HashMap<Name, Datum>,
    outputs: Vec<Datum>,
    sizes: BTreeMap<Name, i64>,
    /// The first numbers of the named extents did not fit.
    searched: bool,
}

/// Random inputs on which the model has a value, and that value: where it has none, nothing is to
/// be kept.
fn meaningful(
    model: &Model,
    uses: &HashMap<Name, Integers>,
    seed: u64,
    budget: Budget,
) -> Result<Drawn, Failure> {
    let mut refused = None;
    for shape in 0..SHAPES {
        let sizes = inputs::sizes(model, seed, shape);
        if shape > 0 && sizes.is_empty() {
            break;
        }
        let mut said = None;
        let mut fits = true;
        for attempt in 0..ATTEMPTS {
            let inputs = inputs::random(model, uses, &sizes, seed, attempt, None)?;
            match evaluate_within(model, inputs.clone(), budget) {
                // Other inputs would only take as long again.
                Err(d) if is_limit(&d) => return Err(refuse(d, &sizes)),
                Ok(outputs) => return Ok(Drawn { inputs, outputs, sizes, searched: shape > 0 }),
                Err(d) if has_no_value(&d) => said = Some(d),
                // Large integers may mean something that was not seen.
                Err(_) if inputs::by_use(attempt) && !uses.is_empty() => {}
                Err(d) => {
                    refused.get_or_insert_with(|| refuse(d, &sizes));
                    fits = false;
                    break;
                }
            }
        }
        if fits && shape == 0 {
            let why = said.map_or_else(String::new, |d| format!(": {}", d.message));
            return Err(Failure::refused(
                "X0904",
                format!("the model fails on all of {ATTEMPTS} random inputs{why}"),
            )
            .help("leave --check away, and compare on meaningful inputs"));
        }
    }
    Err(refused.unwrap_or_else(|| Failure::refused("X0904", "the model fails on random inputs")))
}

/// The elements as numbers, if they are floating-point ones or truth values.
fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    tensor.to_numbers().or_else(|| match operators::decode(tensor)?.data {
        loops::Data::F32(v) => Some(v.into_iter().map(f64::from).collect()),
        _ => None,
    })
}

/// The greatest difference relative to the greatest magnitude; `None` if types or shapes differ.
fn difference(a: &Datum, b: &Datum) -> Option<f64> {
    let (Some(a), Some(b)) = (a.tensor(), b.tensor()) else { return (a == b).then_some(0.0) };
    if a.elem != b.elem || a.dims != b.dims {
        return None;
    }
    if let (Some(x), Some(y)) = (a.to_integers(), b.to_integers()) {
        let scale = x.iter().fold(1u128, |m, v| m.max(v.unsigned_abs())) as f64;
        return Some(x.iter().zip(&y).map(|(a, b)| a.abs_diff(*b) as f64 / scale).fold(0.0, f64::max));
    }
    let (Some(x), Some(y)) = (numbers(a), numbers(b)) else {
        return Some(if a.storage == b.storage { 0.0 } else { f64::INFINITY });
    };
    let scale = x.iter().filter(|v| v.is_finite()).fold(1e-30f64, |m, v| m.max(v.abs()));
    let one =
        |(a, b): (&f64, &f64)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() / scale };
    Some(x.iter().zip(&y).map(one).fold(0.0, |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(nodes: &str) -> Model {
        let text = format!(
            "model ir 10\nopset \"\" 21\ngraph g {{\n  input x: f32[4]\n{nodes}  output y: f32[4]\n}}\n"
        );
        graph::text::parse_model(&text).expect("a model")
    }

    #[test]
    fn inputs_have_nan_infinities_and_zeros() {
        let asked =
            Asked { runs: 2, seed: 1, tolerance: None, budget: Budget::of_memory(1 << 30), help: BY_RULES };
        let before = model("  y = Identity(x)\n");
        assert!(compare(&before, &before, &asked).is_ok());
        // The same on all numbers, and 1 for NaN.
        let scrubbed = model("  i = IsNaN(x)\n  f = Cast(i) { to: 1 }\n  y = Where(i, f, x)\n");
        let failure = compare(&before, &scrubbed, &asked).err().expect("they differ");
        let message = &failure.diagnostics[0].message;
        assert_eq!(failure.diagnostics[0].code.0, "X0903");
        assert!(
            message.contains("on an input with a NaN") && message.contains("was NaN and became 1"),
            "{message}"
        );
    }
}
