//! A source and its definitions.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use functional::Summary;
use loops::{Name, ParamMode, Scalar};
use lozenge::files::{self, Scratch, read_source};
use lozenge::kernel::has_region;
use lozenge::pipeline::{Front, Lowered};
use lozenge::process::Optimise;
use lozenge::{Failure, Request, Source};

use lozenge::deep;

use crate::whole::Whole;

/// A source that was read, with what was asked for.
pub struct Program {
    /// What the front ends make of it; of a function without marks, when that is first asked for.
    front: OnceLock<Result<Front, Failure>>,
    source: Source,
    /// The function that it is about, of C without a marked region.
    whole: Option<Whole>,
    /// Where a text is that had to become a file, and what messages call it.
    place: Option<(String, String)>,
    request: Request,
    /// How C is compiled, and whether places that are data are looked at.
    pub how: (Optimise, bool),
    /// Threads of a call; 0 for OpenMP's own choice.
    pub threads: u32,
    /// Where texts are that had to become files.
    _scratch: Option<Scratch>,
}

/// A definition, and by what name it is known.
pub struct Known {
    /// The name for users.
    pub name: String,
    /// The name of the definition, or of the region of C.
    pub definition: String,
}

impl Program {
    /// Reads a file: one program, or of C without a marked region one for each function.
    ///
    /// # Errors
    /// What the front ends refuse.
    pub fn open(
        path: &Path,
        request: Request,
        how: (Optimise, bool),
        threads: u32,
    ) -> Result<Vec<Program>, Failure> {
        let source = deep(|| read_source(path))?;
        let plain_c = path.extension().is_some_and(|extension| extension == "c") && !has_region(&source.text);
        let wholes = if plain_c { Whole::all(&source.text) } else { Vec::new() };
        if !wholes.is_empty() {
            return Ok(Program::of_wholes(wholes, &source, &request, how, threads));
        }
        let front = OnceLock::from(Ok(deep(|| files::open(&source, &request))?));
        let (place, _scratch, whole) = (None, None, None);
        Ok(vec![Program { front, source, whole, place, request, how, threads, _scratch }])
    }

    /// A program for each function of a source.
    fn of_wholes(
        wholes: Vec<Whole>,
        source: &Source,
        request: &Request,
        how: (Optimise, bool),
        threads: u32,
    ) -> Vec<Program> {
        let program = |whole: Whole| Program {
            front: OnceLock::new(),
            source: source.clone(),
            whole: Some(whole),
            place: None,
            request: request.clone(),
            how,
            threads,
            _scratch: None,
        };
        wholes.into_iter().map(program).collect()
    }

    /// Reads a text; `kind` is the extension that a file of it would have.
    ///
    /// # Errors
    /// What the front ends refuse.
    pub fn read(
        text: &str,
        kind: &str,
        request: Request,
        how: (Optimise, bool),
        threads: u32,
    ) -> Result<Vec<Program>, Failure> {
        let shown = format!("<text>.{kind}");
        if kind != "c" {
            let source = Source { path: shown, text: text.to_owned() };
            let front = OnceLock::from(Ok(deep(|| files::open(&source, &request))?));
            let (place, _scratch, whole) = (None, None, None);
            return Ok(vec![Program { front, source, whole, place, request, how, threads, _scratch }]);
        }
        let wholes = if has_region(text) { Vec::new() } else { Whole::all(text) };
        if !wholes.is_empty() {
            let source = Source { path: shown, text: text.to_owned() };
            return Ok(Program::of_wholes(wholes, &source, &request, how, threads));
        }
        let (source, place, scratch) = as_file(text, shown)?;
        let front = deep(|| files::open(&source, &request)).map_err(|f| named(f, &place))?;
        let (front, place, _scratch) = (OnceLock::from(Ok(front)), Some(place), Some(scratch));
        Ok(vec![Program { front, source, whole: None, place, request, how, threads, _scratch }])
    }

    /// What the front ends make of it.
    fn front(&self) -> Result<&Front, Failure> {
        self.front.get_or_init(|| self.opened()).as_ref().map_err(Clone::clone)
    }

    /// The function that this is about, with marks, as the front ends see it.
    fn opened(&self) -> Result<Front, Failure> {
        let Some(whole) = &self.whole else {
            return Err(Failure::refused("X0601", "the compiler failed: nothing was read"));
        };
        let marked = whole.marked(&self.source.text);
        let (source, place, _scratch) = as_file(&marked.text, self.source.path.clone())?;
        let mut request = self.request.clone();
        let folder = Path::new(&self.source.path).parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        request.preprocessor.insert(0, format!("-I{}", folder.display()));
        let front = deep(|| files::open(&source, &request));
        front.map_err(|failure| self.of_whole(whole, failure, &place))
    }

    /// The value of a function of C is a result, and nothing that comes in.
    fn with_value(&self, mut lowered: Lowered) -> Lowered {
        let Some(value) = self.whole.as_ref().map(Whole::value) else { return lowered };
        let functions = [Some(&mut lowered.function), lowered.original.as_mut()];
        for param in functions.into_iter().flatten().flat_map(|function| &mut function.params) {
            if param.name.as_str() == value {
                param.mode = ParamMode::Out;
            }
        }
        lowered
    }

    /// What is said of a function with marks, said of the source.
    fn of_whole(&self, whole: &Whole, failure: Failure, place: &(String, String)) -> Failure {
        named(whole.marked(&self.source.text).placed(failure, &self.source.text), place)
    }

    /// The definitions, in the order of the source. A region of C that is all that its function
    /// does has the function's name.
    pub fn known(&self) -> Vec<Known> {
        if let Some(Whole { name, .. }) = &self.whole {
            return vec![Known { name: name.clone(), definition: name.clone() }];
        }
        let names = self.front().map(Front::definitions).unwrap_or_default();
        let functions: Vec<Option<String>> = names.iter().map(|name| self.whole_function(name)).collect();
        let name = |(definition, function): (String, &Option<String>)| {
            let only = |function: &&String| {
                functions.iter().flatten().filter(|other| other == function).count() == 1
            };
            let name = function.as_ref().filter(only).unwrap_or(&definition).clone();
            Known { name, definition }
        };
        names.into_iter().zip(&functions).map(name).collect()
    }

    fn whole_function(&self, definition: &str) -> Option<String> {
        let info = &self.front().ok()?.region(definition)?.info;
        let (before, after) = (&self.source.text[..info.bytes.start], &self.source.text[info.bytes.end..]);
        crate::text::is_whole_body(before, after).then(|| info.c_function.clone())
    }

    /// Names of parameters in the order of the C function, as far as they are its parameters.
    pub fn order(&self, definition: &str) -> Vec<Name> {
        let region = self.front().ok().and_then(|front| front.region(&self.of_front(front, definition)));
        let Some(info) = region.map(|region| &region.info) else { return Vec::new() };
        let declared = match &self.whole {
            Some(whole) => whole.parameters.clone(),
            None => {
                let before = &self.source.text[..info.bytes.start];
                crate::text::identifiers_of_parameters(before, &info.c_function)
            }
        };
        let place = |owner: &str| declared.iter().position(|name| name == owner);
        let mut found: Vec<(usize, Name)> =
            info.variables.iter().filter_map(|v| Some((place(v.owner())?, v.name.clone()))).collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// The name of a definition for the front ends: a function of C is its region there.
    fn of_front(&self, front: &Front, definition: &str) -> String {
        let region = self.whole.as_ref().and_then(|_| front.definitions().into_iter().next());
        region.unwrap_or_else(|| definition.to_owned())
    }

    /// The parameters of a function of C as it declares them, sizes included.
    pub fn declared(&self) -> &[String] {
        self.whole.as_ref().map_or(&[], |whole| &whole.parameters)
    }

    /// The comment above a definition, without its test cases.
    pub fn comment(&self, definition: &str) -> String {
        let front = self.front().ok().filter(|_| self.whole.is_none());
        let line = front.and_then(|front| front.first_line(&Name::new(definition)));
        let at = line.map_or(0, |span| span.start as usize);
        crate::text::comment_above(&self.source.text[..at])
    }

    /// What is known of a definition of a functional program; of a schedule, what is known of the
    /// definition that it is for.
    pub fn summary(&self, definition: &str) -> Option<Summary> {
        let checked = self.front().ok()?.functional()?;
        let target = checked.schedule_target(definition);
        let name = target.as_ref().map_or(definition, Name::as_str);
        checked.definitions().into_iter().find(|summary| summary.name.as_str() == name)
    }

    /// Types that were chosen when the source was loaded.
    pub fn chosen_types(&self) -> &[(String, String)] {
        &self.request.types
    }

    /// The loops of a definition with these types for its type parameters.
    ///
    /// # Errors
    /// What the stages refuse.
    pub fn lower(&self, definition: &str, types: &[(String, Scalar)]) -> Result<Lowered, Failure> {
        let front = self.front()?;
        let mut request = self.request.of(&self.of_front(front, definition));
        let wanted = self.summary(definition).map(|s| s.types).unwrap_or_default();
        // What was chosen for all definitions is for those that have the parameter.
        request.types.retain(|(name, _)| wanted.iter().any(|w| w.as_str() == name));
        for (name, scalar) in types {
            request.types.push((name.clone(), scalar.keyword().to_owned()));
        }
        let lowered = deep(|| front.lower(&request));
        let lowered = lowered.map(|lowered| self.with_value(lowered));
        lowered.map_err(|failure| match (&self.place, &self.whole, &failure.source) {
            (Some(place), ..) => named(failure, place),
            (None, Some(whole), Some(source)) => {
                let place = (source.path.clone(), self.source.path.clone());
                self.of_whole(whole, failure, &place)
            }
            _ => failure,
        })
    }
}

/// A text as a file, which the preprocessor reads, with the name that it has for its author.
fn as_file(text: &str, shown: String) -> Result<(Source, (String, String), Scratch), Failure> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("text.c");
    fs::write(&path, text)
        .map_err(|e| Failure::environment("X0004", format!("can't write {}: {e}", path.display())))?;
    let path = path.display().to_string();
    let source = Source { path: path.clone(), text: text.to_owned() };
    Ok((source, (path, shown), scratch))
}

/// A failure in a text by the name that it has for its author.
pub fn named(mut failure: Failure, (file, shown): &(String, String)) -> Failure {
    if let Some(source) = &mut failure.source {
        source.path = source.path.replace(file, shown);
    }
    for diagnostic in &mut failure.diagnostics {
        diagnostic.message = diagnostic.message.replace(file, shown);
        for note in &mut diagnostic.notes {
            *note = note.replace(file, shown);
        }
    }
    failure
}

/// What is shared by the functions of a source.
pub type Shared = Arc<Program>;
