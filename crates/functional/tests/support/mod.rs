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
