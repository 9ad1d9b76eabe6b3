//! The page of `lozenge explore`: what is on it, and its HTML.
//!
//! One file that loads nothing: the script and the style are named by their hashes in a security
//! policy, so a browser runs nothing else even if a text from outside were to get into the markup.
//! Not here: where the texts come from (`program`, `model`, `times`).

mod assembly;
mod colour;
mod html;
pub mod lines;
pub mod model;
pub mod program;
mod roofline;
pub mod times;

/// A page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// The file that it is about.
    pub file: String,
    /// What the file is, in a few words.
    pub kind: String,
    /// The command that makes the page again.
    pub command: String,
    /// What lines can come from.
    pub origins: Vec<Origin>,
    /// The stages, in the order of the translation.
    pub stages: Vec<Stage>,
    /// What stands below the stages.
    pub sections: Vec<Section>,
}

/// What lines can come from: a statement, a definition, a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its name.
    pub name: String,
    /// The number of what it is a part of: lines of that are its lines, too.
    pub part_of: Option<usize>,
}

/// The text of a stage.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Its name in the page's links.
    pub id: &'static str,
    /// Its name.
    pub title: String,
    /// What it shows.
    pub about: String,
    /// How it is coloured.
    pub language: Language,
    /// Its first lines: at most [`KEPT`] bytes.
    pub lines: Vec<Line>,
    /// Bytes of these.
    bytes: usize,
    /// Lines behind them, which are not kept.
    left: usize,
}

/// Bytes of a stage that are kept: a page shows no more.
const KEPT: usize = 200_000;

/// A line, with the numbers of its origins among [`Page::origins`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// Where it comes from, where that is known.
    pub origins: Vec<usize>,
}

/// Languages of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// The functional language.
    Functional,
    /// Loop programs.
    Loops,
    /// Assembly of any processor.
    Assembly,
    /// Anything else.
    #[default]
    Plain,
}

/// A part of the page below the stages.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its name in the page's links.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What is in it.
    pub parts: Vec<Part>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Part {
    /// A heading of lower rank.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Text as it is, such as a diagnostic.
    Verbatim(String),
    /// What was done or given up: a word, and what is said.
    List(Vec<(String, String)>),
    /// A table.
    Table {
        /// What it shows.
        caption: String,
        /// The heads of its columns.
        head: Vec<String>,
        /// Its rows.
        rows: Vec<Vec<String>>,
    },
    /// A picture.
    Picture {
        /// Its name.
        title: String,
        /// SVG.
        svg: String,
        /// What is seen, for those who can't see it.
        alt: String,
    },
}

impl Page {
    /// The number of an origin.
    pub fn origin(&mut self, name: &str, part_of: Option<usize>) -> usize {
        let origin = Origin { name: name.to_owned(), part_of };
        self.origins.iter().position(|known| *known == origin).unwrap_or_else(|| {
            self.origins.push(origin);
            self.origins.len() - 1
        })
    }

    /// Adds a stage if it has text.
    pub fn stage(&mut self, stage: Stage) {
        if !stage.lines.is_empty() {
            self.stages.push(stage);
        }
    }

    /// Adds a section if there is something in it.
    pub fn section(&mut self, section: Section) {
        if !section.parts.is_empty() {
            self.sections.push(section);
        }
    }
}

impl Stage {
    /// A stage without lines.
    pub fn new(id: &'static str, title: &str, language: Language, about: impl Into<String>) -> Stage {
        Stage { id, title: title.to_owned(), about: about.into(), language, ..Stage::default() }
    }

    /// Adds the lines of a text; `origins` gives those of each line by its number, from 0.
    pub fn add(&mut self, text: &str, origins: impl Fn(usize, &str) -> Vec<usize>) {
        for (k, line) in text.lines().enumerate() {
            if self.bytes > KEPT {
                self.left += 1;
                continue;
            }
            self.bytes += line.len() + 1;
            self.lines.push(Line { text: line.to_owned(), origins: origins(k, line) });
        }
    }
}

impl Section {
    /// An empty section.
    pub fn new(id: &'static str, title: &str) -> Section {
        Section { id, title: title.to_owned(), parts: Vec::new() }
    }
}
