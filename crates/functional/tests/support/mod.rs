//! What the tests of the front half share.
#![allow(dead_code)]

pub mod render;

use functional::{Definition, check, check_module, parse_module, print, walk};

/// Runs on a stack that is as large as the command's, as deep trees need it.
pub fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 30).spawn_scoped(scope, run);
        thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// All that is wrong with a text: its syntax, else its types, else its core forms.
pub fn diagnostics(source: &str) -> Vec<loops::Diagnostic> {
    let (module, errors) = parse_module(source);
    if !errors.is_empty() {
        return errors;
    }
    let checked = match check_module(&module) {
        Ok(checked) => checked,
        Err(errors) => return errors,
    };
    let mut all = Vec::new();
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        match checked.elaborate(&summary.name) {
            Ok(definition) => all.extend(check(&definition).err()),
            Err(errors) => all.extend(errors),
        }
    }
    all
}

/// The core forms of all definitions that can stand alone, verified.
pub fn core(source: &str) -> Vec<Definition> {
    let (module, errors) = parse_module(source);
    assert!(errors.is_empty(), "{}", render::all(source, &errors));
    let checked = check_module(&module).unwrap_or_else(|e| panic!("{}", render::all(source, &e)));
    let mut definitions = Vec::new();
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        let definition =
            checked.elaborate(&summary.name).unwrap_or_else(|e| panic!("{}", render::all(source, &e)));
        if let Err(error) = check(&definition) {
            panic!("{}\n{}", render::all(source, &[error]), print::definition(&definition));
        }
        definitions.push(definition);
    }
    definitions
}

/// The print of a definition means the same definition.
pub fn assert_reads_back(definition: &Definition) {
    let text = print::definition(definition);
    let again = core(&text);
    let [again] = again.as_slice() else { panic!("{text}") };
    let same = again.name == definition.name
        && again.sizes == definition.sizes
        && again.facts == definition.facts
        && again.params.iter().map(|p| &p.ty).eq(definition.params.iter().map(|p| &p.ty))
        && walk::alpha_equal_lambdas(
            &functional::Lambda { params: again.params.clone(), body: again.body.clone() },
            &functional::Lambda { params: definition.params.clone(), body: definition.body.clone() },
        );
    assert!(same, "the print of this means something else:\n{text}\nnamely:\n{}", print::definition(again));
}

/// The tree without places.
pub fn shape(source: &str) -> String {
    let (module, errors) = parse_module(source);
    assert!(errors.is_empty(), "{}", render::all(source, &errors));
    let mut text = format!("{module:?}");
    while let Some(start) = text.find("Span {") {
        let end = start + text[start..].find('}').expect("a span ends") + 1;
        text.replace_range(start..end, "");
    }
    text
}

/// Formats, and checks that the tree stays and that a second run changes nothing.
pub fn formatted(source: &str) -> String {
    let text = functional::fmt::format(source).unwrap_or_else(|e| panic!("{}", render::all(source, &e)));
    assert_eq!(shape(source), shape(&text), "the formatted text means something else:\n{text}");
    assert_eq!(
        functional::fmt::format(&text).unwrap(),
        text,
        "formatting twice differs from formatting once"
    );
    text
}

/// A value of this type, all zeros; none if there would have to be an index below 0.
pub fn zeros(
    ty: &functional::DataType,
    mut shape: Vec<usize>,
    sizes: &dyn Fn(&loops::Name) -> Option<i64>,
) -> Option<functional::eval::Value> {
    use functional::DataType;
    use functional::eval::Value;
    use loops::{Elem, Scalar, Tensor};
    fn elem(ty: &DataType) -> Option<Elem> {
        match ty {
            DataType::Scalar(s) => Some(Elem::Scalar(*s)),
            DataType::Idx(_) => Some(Elem::Scalar(Scalar::I64)),
            DataType::Pair(a, b) => Some(Elem::pair(elem(a)?, elem(b)?)),
            DataType::Array(..) | DataType::Vector(..) => None,
        }
    }
    fn has_index_below_zero(ty: &DataType, sizes: &dyn Fn(&loops::Name) -> Option<i64>) -> bool {
        match ty {
            DataType::Idx(n) => n.eval(sizes) == Ok(0),
            DataType::Pair(a, b) => has_index_below_zero(a, sizes) || has_index_below_zero(b, sizes),
            _ => false,
        }
    }
    let extent = |n: &loops::Size| usize::try_from(n.eval(sizes).expect("a size")).expect("a natural number");
    match ty {
        DataType::Array(n, t) => {
            shape.push(extent(n));
            zeros(t, shape, sizes)
        }
        DataType::Vector(k, s) => {
            shape.push(extent(k));
            zeros(&DataType::Scalar(*s), shape, sizes)
        }
        DataType::Pair(a, b) if elem(ty).is_none() => {
            Some(Value::Pair(Box::new(zeros(a, shape.clone(), sizes)?), Box::new(zeros(b, shape, sizes)?)))
        }
        _ if has_index_below_zero(ty, sizes) && shape.iter().all(|n| *n > 0) => None,
        _ => Some(Value::Tensor(Tensor::zeros(&elem(ty)?, shape))),
    }
}

/// Whether an operation whose fault only values decide occurs.
pub fn may_fault(term: &functional::Term) -> bool {
    use functional::{Prim, TermKind};
    let here = match term.kind() {
        TermKind::Prim(prim, _) => {
            matches!(prim, Prim::AddIdx | Prim::SubIdx | Prim::MulIdx | Prim::DivIdx | Prim::Div | Prim::Mod)
        }
        _ => false,
    };
    here || walk::children(term).into_iter().any(|(_, child)| may_fault(child))
}
