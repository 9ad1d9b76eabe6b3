//! Translates a whole file: pairs the pragmas, walks the declarations, and translates each region.

use std::collections::BTreeSet;

use loops::Diagnostic;

use crate::ast::At;
use crate::codes;
use crate::cpp_declarations::Frame;
use crate::ctype::{CType, QType};
use crate::lexer::Tok;
use crate::lower::{self, Context};
use crate::namespaces::Hidden;
use crate::parser::{CPP_TYPE, ParseError, Parsed, Parser, Specifiers};
use crate::place;
use crate::pragmas::pragma_pairs;
use crate::region::{CFile, Region, RegionInfo, VariableKind, owner};
use crate::scope::{Function, Object, Place, Symbol};
use crate::source::{Language, Source};
use crate::uses::{Uses, defined};

/// What may be assumed beyond the C text.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The language of the file.
    pub language: Language,
    /// Functions that read nothing but their arguments and write nothing.
    pub pure_functions: Vec<String>,
    /// Without pragmas: every outermost loop nest that can be taken is a region.
    pub auto: bool,
    /// In regions that cannot be taken, loop nests that can be are regions.
    pub inner: bool,
    /// Regions that cannot be taken as a whole, by the bytes that they begin at, and why.
    pub apart: Vec<(usize, Diagnostic)>,
}

/// Largest preprocessed text.
const MAX_TEXT: usize = 256 << 20;

/// The regions of a C file as loop programs.
///
/// `original` is the file as it is. `preprocessed` is what the preprocessor made of it, with line
/// markers. Places in diagnostics are byte offsets in `original`. All regions are tried. Those that
/// fail are told beside the others. If none can be taken, the result is all errors.
pub fn parse(original: &str, preprocessed: &str, file_name: &str) -> Result<CFile, Vec<Diagnostic>> {
    parse_with(original, preprocessed, file_name, &Options::default())
}

/// As [`parse`], with options.
pub fn parse_with(
    original: &str,
    preprocessed: &str,
    file_name: &str,
    options: &Options,
) -> Result<CFile, Vec<Diagnostic>> {
    if preprocessed.len() > MAX_TEXT || original.len() > MAX_TEXT {
        let message = format!("the text of `{file_name}` is larger than {} MiB", MAX_TEXT >> 20);
        return Err(vec![Diagnostic::general(codes::TOO_LARGE, message)]);
    }
    let source = Source::new(original, preprocessed, options.language);
    let pairs = pragma_pairs(&source)?;
    let auto = options.auto && pairs.is_empty();
    let mut reader = Reader {
        source: &source,
        options,
        defined: defined(&source),
        char_signed: char_signed(preprocessed),
        pairs,
        next: 0,
        auto,
        inner_end: 0,
        nests: 0,
        frames: Vec::new(),
        members: None,
        regions: Vec::new(),
        diagnostics: Vec::new(),
    };
    reader.file();
    let Reader { regions, diagnostics, .. } = reader;
    if regions.is_empty() && !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    Ok(CFile { name: file_name.to_string(), language: options.language, regions, refused: diagnostics })
}

/// Whether plain `char` is signed, if the preprocessor listed its own macros. One of them says that
/// it is unsigned.
fn char_signed(preprocessed: &str) -> Option<bool> {
    let defined = |name: &str| {
        preprocessed
            .lines()
            .filter_map(|line| line.strip_prefix("#define "))
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
    };
    defined("__STDC__").then(|| !defined("__CHAR_UNSIGNED__"))
}

/// The place of one token.
pub(crate) fn one(token: usize) -> At {
    At { first: token as u32, last: token as u32 }
}

pub(crate) struct Reader<'s> {
    pub(crate) source: &'s Source<'s>,
    options: &'s Options,
    /// Functions with a body in the text.
    defined: BTreeSet<&'s str>,
    char_signed: Option<bool>,
    pub(crate) pairs: Vec<(usize, usize)>,
    /// First region that was not met yet.
    pub(crate) next: usize,
    /// Loop nests are regions.
    pub(crate) auto: bool,
    /// What the declarations here are in, the innermost last; of C++ alone.
    pub(crate) frames: Vec<Frame>,
    /// The names that classes declare, once they were looked for.
    pub(crate) members: Option<BTreeSet<&'s str>>,
    /// Up to this token loop nests are regions: it is the end of a region that cannot be taken.
    inner_end: usize,
    /// How many loop nests are regions.
    nests: usize,
    regions: Vec<Region>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    fn file(&mut self) {
        let mut parser = Parser::new(self.source);
        while parser.tok() != Tok::End && (self.auto || self.next < self.pairs.len()) {
            let start = parser.pos;
            let depth = parser.scopes.depth();
            match parser.tok() {
                Tok::Punct(";") => {
                    parser.pos += 1;
                    continue;
                }
                Tok::Pragma => {
                    parser.outer_pragma();
                    continue;
                }
                Tok::Scop => {
                    let span = self.source.span(one(start));
                    let message = "a region outside of a function";
                    self.diagnostics.push(Diagnostic::error(
                        codes::PRAGMAS,
                        message,
                        span,
                        "not in a function",
                    ));
                    self.next += 1;
                    parser.pos += 1;
                    continue;
                }
                Tok::EndScop => {
                    parser.pos += 1;
                    continue;
                }
                _ => {}
            }
            let error = match self.external(&mut parser) {
                Ok(()) => None,
                Err(error) => {
                    parser.pos = start;
                    parser.scopes.truncate(depth);
                    parser.skip_external();
                    Some(error)
                }
            };
            parser.pos = parser.pos.max(start + 1);
            self.missed(parser.pos, error);
        }
    }

    /// Regions before a token that nothing was made of.
    fn missed(&mut self, pos: usize, error: Option<ParseError>) {
        while let Some((first, _)) = self.pairs.get(self.next).copied().filter(|(first, _)| *first < pos) {
            let span = self.source.span(one(first));
            let message = "the code around this region cannot be parsed";
            let mut diagnostic = Diagnostic::error(codes::CONTEXT, message, span, "the region");
            if let Some(error) = &error {
                diagnostic = diagnostic.context(self.source.span(error.at), error.message.clone());
            }
            if self.source.is_cpp() {
                diagnostic = diagnostic.help(
                    "regions of C++ are in functions; move the loops out of a template, a lambda, a constructor or an operator into a function that takes pointers and numbers",
                );
            }
            self.diagnostics.push(diagnostic);
            self.next += 1;
        }
    }

    /// One external declaration or function definition.
    fn external(&mut self, parser: &mut Parser<'s>) -> Result<(), ParseError> {
        if self.of_cpp(parser)? {
            return Ok(());
        }
        if matches!(parser.word(), "_Static_assert" | "asm" | "__asm__" | "__extension__") {
            parser.pos += 1;
            if parser.is("(") {
                parser.skip_group();
                return Ok(());
            }
        }
        let start = parser.pos;
        parser.retyped = None;
        // `main() {` of old C returns an `int`.
        let implicit = parser.is_implicit_int();
        let specifiers = if implicit { Specifiers::int() } else { specifiers(parser)? };
        if parser.accept(";") {
            return Ok(());
        }
        let declarator = parser.declarator(specifiers.ty.clone())?;
        let pure = parser.asm_label()?;
        let (Some(params), true) = (&declarator.params, parser.is("{")) else {
            parser.pos = start;
            parser.declaration(Place::Global)?;
            return Ok(());
        };
        let Some((name, named_at)) = declarator.name.clone() else { return Err(parser.expected("a name")) };
        let CType::Function { result } = declarator.ty.ty.clone() else {
            return Err(parser.error("a body for what is no function"));
        };
        let member = self.in_class() || declarator.of.is_some();
        let pure = pure || specifiers.pure || declarator.pure;
        let types = params.iter().map(|p| p.ty.clone()).collect();
        // Compilers warn of such a function when no call of it is left.
        let stays = specifiers.is_static && !(start..parser.pos).any(|k| parser.is_inline(k));
        let function =
            Function { result: *result, params: types, pure, stays, inline: None, helper: None, kept: None };
        if !member {
            parser.scopes.declare(name.clone(), Symbol::Function(function.clone()));
        }
        if !pure && !member {
            let named = params.iter().map(|p| (p.name.clone(), p.ty.clone(), p.at)).collect();
            let inline = parser.inline(named, &function.result).map(Box::new);
            let helper = parser.helper((&name, named_at), params, &function.result).map(Box::new);
            let known = Function { inline, helper, ..function.clone() };
            parser.scopes.declare(name.clone(), Symbol::Function(known));
        }
        let open = parser.pos;
        parser.skip_group();
        let body = open..parser.pos;
        if !member {
            let kept = parser.kept(&name, params, body.clone());
            parser.scopes.declare(name.clone(), Symbol::Function(Function { kept, ..function }));
        }
        let has_region = self.pairs.get(self.next).is_some_and(|(first, _)| body.contains(first));
        if has_region || self.auto {
            let depth = parser.scopes.depth();
            if member {
                parser.scopes.push();
                self.hide_members(parser, body.clone());
            }
            parser.scopes.push();
            for p in params {
                let object = Object::parameter(p.ty.clone(), p.at);
                let unknown = matches!(p.ty.ty, CType::Other(CPP_TYPE));
                let symbol = if unknown { Symbol::Hidden(Hidden::Declared) } else { Symbol::Object(object) };
                parser.scopes.declare(p.name.clone(), symbol);
            }
            let uses = Uses::of(self.source, body.clone());
            self.function_body(parser, &name, &body, &uses);
            parser.scopes.truncate(depth);
            parser.pos = body.end;
        }
        Ok(())
    }

    /// Walks a function's body: declarations are read, regions translated, all else passed.
    fn function_body(
        &mut self,
        parser: &mut Parser<'s>,
        name: &str,
        body: &std::ops::Range<usize>,
        uses: &Uses<'s>,
    ) {
        let base = parser.scopes.depth();
        // For each open brace, whether a loop repeats it.
        let mut braces: Vec<bool> = Vec::new();
        let mut loop_ahead = false;
        let has_goto = uses.names().any(|name| name == "goto");
        parser.pos = body.start;
        while parser.pos < body.end {
            let here = parser.pos;
            match parser.tok() {
                Tok::Scop => {
                    let in_loop = has_goto || loop_ahead || braces.contains(&true);
                    self.region(parser, name, body, uses, in_loop);
                    continue;
                }
                // What follows it is read as if it were not there: a declaration, or a loop around
                // the region.
                Tok::Pragma => {
                    parser.outer_pragma();
                    continue;
                }
                Tok::Punct("{") => {
                    braces.push(loop_ahead);
                    loop_ahead = false;
                    parser.scopes.push();
                    parser.pos += 1;
                    continue;
                }
                Tok::Punct("}") => {
                    braces.pop();
                    if parser.scopes.depth() > base {
                        parser.scopes.pop();
                    }
                    parser.pos += 1;
                    continue;
                }
                _ => {}
            }
            match parser.word() {
                word @ ("for" | "while" | "do")
                    if (self.auto || here < self.inner_end)
                        && (word == "for" || parser.counts_in_while(uses.loop_end(here, body.end))) =>
                {
                    let in_loop = has_goto || loop_ahead || braces.contains(&true);
                    if self.nest(parser, name, body, uses, in_loop) {
                        loop_ahead = false;
                        continue;
                    }
                    loop_ahead = true;
                    pass_header(parser);
                    continue;
                }
                "using" if parser.is_cpp() => {
                    parser.using();
                    continue;
                }
                "for" | "while" | "do" => {
                    loop_ahead = true;
                    pass_header(parser);
                    continue;
                }
                "if" | "switch" | "else" => {
                    pass_header(parser);
                    continue;
                }
                "catch" if parser.is_cpp() => {
                    pass_header(parser);
                    continue;
                }
                _ => {}
            }
            if parser.starts_type(here) && parser.declaration(Place::Local).is_ok() && parser.pos <= body.end
            {
                continue;
            }
            // Another statement: to its `;`, a brace or a pragma.
            parser.pos = here;
            parser.hide_declared();
            while parser.pos < body.end {
                match parser.tok() {
                    Tok::Punct(";") => {
                        parser.pos += 1;
                        loop_ahead = false;
                        break;
                    }
                    Tok::Punct("{" | "}") | Tok::Scop | Tok::EndScop => break,
                    Tok::Punct("(" | "[") => {
                        parser.skip_group();
                    }
                    _ => parser.pos += 1,
                }
            }
            if parser.pos == here {
                parser.pos += 1;
            }
        }
    }

    fn region(
        &mut self,
        parser: &mut Parser<'s>,
        function: &str,
        body: &std::ops::Range<usize>,
        uses: &Uses<'s>,
        in_loop: bool,
    ) {
        // Those in what was passed over, as lambdas are.
        self.missed(parser.pos, None);
        let Some((first, last)) = self.pairs.get(self.next).copied() else {
            parser.pos += 1;
            return;
        };
        let number = self.next;
        self.next += 1;
        parser.pos = last + 1;
        if last >= body.end {
            let span = self.source.span(one(first));
            let message = format!("the region starts in `{function}` and ends outside of it");
            let diagnostic = Diagnostic::error(codes::PRAGMAS, message, span, "starts here")
                .context(self.source.span(one(last)), "ends here");
            self.diagnostics.push(diagnostic);
            return;
        }
        if let Some(reason) = place::cut(self.source, first, last) {
            let span = self.source.span(one(first));
            let message = format!("the region is {reason}, so it cannot be replaced by several statements");
            let diagnostic = Diagnostic::error(codes::PRAGMAS, message, span, "the region");
            self.diagnostics.push(diagnostic.help("put braces around it, outside of the pragmas"));
            return;
        }
        let place = match place::of(self.source, first, last) {
            Ok(place) => place,
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                return;
            }
        };
        let tokens = first + 1..last;
        let refused = self.options.apart.iter().find(|(start, _)| *start == place.bytes.start);
        let taken = refused.is_none()
            && self.translate(parser, Marked { number, place, tokens }, function, (body, uses), in_loop);
        self.diagnostics.extend(refused.map(|(_, why)| why.clone()));
        parser.pos = last + 1;
        if !taken && self.options.inner {
            // Its loops are looked at one by one.
            parser.pos = first + 1;
            self.inner_end = last;
        }
    }

    /// A loop nest without pragmas that begins here: whether it is a region now. If so, the parser
    /// is past it.
    fn nest(
        &mut self,
        parser: &mut Parser<'s>,
        function: &str,
        body: &std::ops::Range<usize>,
        uses: &Uses<'s>,
        in_loop: bool,
    ) -> bool {
        let first = parser.pos;
        let end = uses.loop_end(first, body.end);
        let told = self.diagnostics.len();
        let place = match place::of_nest(self.source, first, end) {
            Ok(place) => place,
            Err(why) => {
                let span = self.source.span(one(first));
                let message = format!("the loop nest is not taken: {why}");
                if self.auto {
                    self.diagnostics.push(Diagnostic::error(codes::PRAGMA_LINE, message, span, "this loop"));
                }
                return false;
            }
        };
        // Beside those with pragmas.
        let number = self.pairs.len() + self.nests;
        let marked = Marked { number, place, tokens: first..end };
        let taken = self.translate(parser, marked, function, (body, uses), in_loop);
        if !self.auto {
            self.diagnostics.truncate(told);
        }
        self.nests += usize::from(taken);
        parser.pos = if taken { end } else { first };
        taken
    }

    /// Parses and translates the tokens of a region; whether it could be taken.
    fn translate(
        &mut self,
        parser: &mut Parser<'s>,
        Marked { number, place, tokens }: Marked,
        function: &str,
        (body, uses): (&std::ops::Range<usize>, &Uses<'s>),
        in_loop: bool,
    ) -> bool {
        let depth = parser.scopes.depth();
        let end = std::mem::replace(&mut parser.end, tokens.end);
        parser.pos = tokens.start;
        // Names declared in the region go into a scope of their own.
        parser.scopes.push();
        parser.measured.clear();
        let statements = parser.statements_to_end();
        let measured = std::mem::take(&mut parser.measured);
        parser.scopes.truncate(depth);
        parser.end = end;
        let statements = match statements {
            Ok(statements) => statements,
            Err(error) => {
                let code = if error.deep { codes::TOO_LARGE } else { codes::SYNTAX };
                let span = self.source.span(error.at);
                self.diagnostics.push(Diagnostic::error(code, error.message, span, "not understood here"));
                return false;
            }
        };
        let context = Context {
            source: self.source,
            scopes: &parser.scopes,
            function,
            number,
            body: body.clone(),
            region: tokens.clone(),
            uses,
            in_loop,
            defined: &self.defined,
            pure_functions: &self.options.pure_functions,
            char_signed: self.char_signed,
        };
        let lowered = match lower::lower(&context, &statements) {
            Ok(lowered) => lowered,
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                return false;
            }
        };
        let inside = |at: At| tokens.contains(&(at.first as usize));
        let mut object_sizes: Vec<(String, u64)> =
            measured.into_iter().filter(|m| !inside(m.declared)).map(|m| (m.object, m.bytes)).collect();
        object_sizes.sort();
        object_sizes.dedup();
        let called: BTreeSet<String> = place::called(self.source, tokens).collect();
        let mut lowered = lowered;
        lowered.epilogue.extend(
            called.iter().filter(|name| parser.scopes.loses_call(name)).map(|n| format!("(void){n};")),
        );
        self.regions.push(region_of(function, place, lowered, object_sizes, called));
        true
    }
}

/// The tokens of a region, and where they are.
struct Marked {
    number: usize,
    place: place::RegionPlace,
    tokens: std::ops::Range<usize>,
}

fn region_of(
    function: &str,
    place: place::RegionPlace,
    lowered: lower::Lowered,
    object_sizes: Vec<(String, u64)>,
    called: BTreeSet<String>,
) -> Region {
    let macros = place.macros;
    let outside = lowered.variables.iter().filter(|v| v.kind != VariableKind::RegionLocal);
    let mut identifiers: BTreeSet<String> = outside.map(|v| v.owner().to_owned()).collect();
    // The name of a product of sizes has those of its factors in it.
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    identifiers.extend(lowered.sizes.iter().flat_map(|s| words(owner(&s.c_name))));
    identifiers.extend(macros.iter().cloned());
    identifiers.extend(called);
    let mut warnings = lowered.warnings;
    warnings.extend(place.warnings);
    Region {
        function: lowered.function,
        info: RegionInfo {
            bytes: place.bytes,
            marked: place.marked,
            braces: place.braces,
            lines: place.lines,
            indent: place.indent,
            c_function: function.to_string(),
            variables: lowered.variables,
            sizes: lowered.sizes,
            may_alias: lowered.may_alias,
            assumptions: lowered.assumptions,
            inside: place.inside,
            epilogue: lowered.epilogue,
            macros,
            macro_values: place.macro_values,
            object_sizes,
            identifiers,
            index_notes: lowered.index_notes,
            statement_spans: lowered.statement_spans,
        },
        warnings,
    }
}

/// The words before a declarator; of a function in C++, whatever they are.
fn specifiers(parser: &mut Parser) -> Parsed<Specifiers> {
    let start = parser.pos;
    match parser.specifiers() {
        Err(error) if parser.is_cpp() => {
            parser.pos = parser.type_end(start).ok_or(error)?;
            let ty = QType::plain(CType::Other(CPP_TYPE));
            Ok(Specifiers { ty, ..Specifiers::int() })
        }
        other => other,
    }
}

/// Passes the word of a control statement and what stands in parentheses behind it; the first part
/// of the header of `for` may declare something.
fn pass_header(parser: &mut Parser) {
    let word = parser.word();
    parser.pos += 1;
    if word == "else" {
        return;
    }
    let header = parser.pos;
    if word == "for" && parser.is("(") && parser.starts_type(header + 1) {
        parser.pos += 1;
        if parser.declaration(Place::Local).is_err() {
            parser.pos = header + 1;
            parser.hide_declared();
        }
    } else if parser.is_cpp() && parser.is("(") {
        parser.pos += 1;
        parser.hide_declared();
    }
    parser.pos = header;
    if parser.is("(") {
        parser.skip_group();
    }
}
