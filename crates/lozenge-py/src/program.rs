//! A source and its definitions.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use functional::Summary;
use loops::{Name, Scalar};
use lozenge::files::{self, Scratch, read_source};
use lozenge::pipeline::{Front, Lowered};
use lozenge::process::Optimise;
use lozenge::{Failure, Request, Source};

use lozenge::deep;

/// A source that was read, with what was asked for.
pub struct Program {
    front: Front,
    source: Source,
    /// Where a text is that had to become a file, and what messages call it.
    place: Option<(String, String)>,
    request: Request,
    /// How C is compiled, and whether places that are data are looked at.
    pub how: (Optimise, bool),
    /// Threads of a call; 0 for OpenMP's own choice.
    pub threads: u32,
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
    /// Reads a file.
    ///
    /// # Errors
    /// What the front ends refuse.
    pub fn open(
        path: &Path,
        request: Request,
        how: (Optimise, bool),
        threads: u32,
    ) -> Result<Program, Failure> {
        deep(|| {
            let source = read_source(path)?;
            let front = files::open(&source, &request)?;
            Ok(Program { front, source, place: None, request, how, threads, _scratch: None })
        })
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
    ) -> Result<Program, Failure> {
        let shown = format!("<text>.{kind}");
        if kind != "c" {
            let source = Source { path: shown, text: text.to_owned() };
            let front = deep(|| files::open(&source, &request))?;
            return Ok(Program { front, source, place: None, request, how, threads, _scratch: None });
        }
        // The preprocessor reads files.
        let scratch = Scratch::new()?;
        let path = scratch.path().join("text.c");
        fs::write(&path, text)
            .map_err(|e| Failure::environment("X0004", format!("can't write {}: {e}", path.display())))?;
        let place = (path.display().to_string(), shown);
        let source = Source { path: place.0.clone(), text: text.to_owned() };
        let front = deep(|| files::open(&source, &request)).map_err(|f| named(f, &place))?;
        let (place, _scratch) = (Some(place), Some(scratch));
        Ok(Program { front, source, place, request, how, threads, _scratch })
    }

    /// The definitions, in the order of the source. A region of C that is all that its function
    /// does has the function's name.
    pub fn known(&self) -> Vec<Known> {
        let names = self.front.definitions();
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
        let info = &self.front.region(definition)?.info;
        let (before, after) = (&self.source.text[..info.bytes.start], &self.source.text[info.bytes.end..]);
        crate::text::is_whole_body(before, after).then(|| info.c_function.clone())
    }

    /// Names of parameters in the order of the C function, as far as they are its parameters.
    pub fn order(&self, definition: &str) -> Vec<Name> {
        let Some(info) = self.front.region(definition).map(|region| &region.info) else {
            return Vec::new();
        };
        let before = &self.source.text[..info.bytes.start];
        let declared = crate::text::identifiers_of_parameters(before, &info.c_function);
        let place = |owner: &str| declared.iter().position(|name| name == owner);
        let mut found: Vec<(usize, Name)> =
            info.variables.iter().filter_map(|v| Some((place(v.owner())?, v.name.clone()))).collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// The comment above a definition, without its test cases.
    pub fn comment(&self, definition: &str) -> String {
        let at = self.front.first_line(&Name::new(definition)).map_or(0, |span| span.start as usize);
        crate::text::comment_above(&self.source.text[..at])
    }

    /// What is known of a definition of a functional program; of a schedule, what is known of the
    /// definition that it is for.
    pub fn summary(&self, definition: &str) -> Option<Summary> {
        let checked = self.front.functional()?;
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
        let mut request = self.request.of(definition);
        let wanted = self.summary(definition).map(|s| s.types).unwrap_or_default();
        // What was chosen for all definitions is for those that have the parameter.
        request.types.retain(|(name, _)| wanted.iter().any(|w| w.as_str() == name));
        for (name, scalar) in types {
            request.types.push((name.clone(), scalar.keyword().to_owned()));
        }
        let lowered = deep(|| self.front.lower(&request));
        match &self.place {
            Some(place) => lowered.map_err(|failure| named(failure, place)),
            None => lowered,
        }
    }
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
