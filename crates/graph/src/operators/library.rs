//! The source files of `library/onnx/`, checked once, and their definitions at given types.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use functional::{Checked, DataType, Definition};
use loops::Scalar;

use super::Refusal;

/// The files: name and text.
const FILES: &[(&str, &str)] = &[
    ("products.loz", include_str!("../../../../library/products.loz")),
    ("mathematics.loz", include_str!("../../../../library/mathematics.loz")),
    ("scalars.loz", include_str!("../../../../library/onnx/scalars.loz")),
    ("rounding.loz", include_str!("../../../../library/onnx/rounding.loz")),
    ("rows.loz", include_str!("../../../../library/onnx/rows.loz")),
];

/// All files as one module that imports them.
fn checked() -> &'static Result<Checked, String> {
    static CHECKED: OnceLock<Result<Checked, String>> = OnceLock::new();
    CHECKED.get_or_init(|| {
        let root: String = FILES.iter().map(|(name, _)| format!("import \"{name}\"\n")).collect();
        let mut loader = |_: &str, path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            match FILES.iter().find(|(n, _)| *n == name) {
                Some((name, text)) => Ok(((*name).to_owned(), (*text).to_owned())),
                None => Err("it is not part of the library".to_owned()),
            }
        };
        let (sources, found) = functional::load("operators.loz", &root, &mut loader);
        let complain = |found: Vec<functional::FileDiagnostic>| {
            let all: Vec<String> = found.iter().map(|d| d.diagnostic.to_string()).collect();
            all.join("\n")
        };
        if !found.is_empty() {
            return Err(complain(found));
        }
        functional::check_sources(&sources).map_err(complain)
    })
}

type Cache = Mutex<HashMap<(String, Option<Scalar>), Arc<Definition>>>;

/// The scalar inside a type.
fn scalar_of(ty: &DataType) -> Option<Scalar> {
    match ty {
        DataType::Scalar(s) => Some(*s),
        DataType::Array(_, t) => scalar_of(t),
        DataType::Pair(a, _) => scalar_of(a),
        DataType::Idx(_) | DataType::Vector(..) => None,
    }
}

/// The definition of this name, where its type parameter `t` is the scalar type of the last
/// argument.
///
/// # Errors
/// If the library has no such definition at that type.
pub(super) fn definition(name: &str, args: &[DataType]) -> Result<Arc<Definition>, Refusal> {
    static CACHE: OnceLock<Cache> = OnceLock::new();
    let checked = checked().as_ref().map_err(|why| Refusal::internal(format!("the library: {why}")))?;
    let scalar = args.last().and_then(scalar_of);
    let key = (name.to_owned(), scalar);
    let cache = CACHE.get_or_init(Cache::default);
    let mut cache = cache.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(found) = cache.get(&key) {
        return Ok(Arc::clone(found));
    }
    let summary = checked.definitions().into_iter().find(|d| d.name.as_str() == name);
    if summary.is_none() && checked.schedule_target(name).is_none() {
        return Err(Refusal::internal(format!("the library has no `{name}`")));
    }
    let mut types = BTreeMap::new();
    if let (Some(t), Some(scalar)) = (summary.as_ref().and_then(|s| s.types.first()), scalar) {
        types.insert(t.clone(), DataType::Scalar(scalar));
    }
    let found = checked.elaborate_at(name, &types).map_err(|all| {
        let all: Vec<String> = all.iter().map(|d| d.to_string()).collect();
        Refusal::types(format!("`{name}`: {}", all.join("; ")))
    })?;
    let found = Arc::new(found);
    cache.insert(key, Arc::clone(&found));
    Ok(found)
}
