//! Named strategies: those of the library and those of a program.

use std::collections::BTreeMap;

use loops::suggest::nearest;
use loops::{Diagnostic, Name, Span};

use super::run::{self, Options, Outcome};
use super::{NOT_APPLICABLE, Named, Strategy, library, parse};
use crate::rewrite::{self, AnyRule, DefinedRule};
use crate::term::Definition;

/// Strategies by name, and the rules that a program defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strategies {
    named: BTreeMap<Name, Named>,
    rules: BTreeMap<Name, DefinedRule>,
}

impl Default for Strategies {
    fn default() -> Strategies {
        Strategies::library()
    }
}

impl Strategies {
    /// Those of the library.
    pub fn library() -> Strategies {
        let named = library::parsed().into_iter().map(|named| (named.name.clone(), named)).collect();
        Strategies { named, rules: BTreeMap::new() }
    }

    /// The same with these rules, which come before those of the compiler.
    pub(crate) fn with_rules(mut self, rules: impl IntoIterator<Item = DefinedRule>) -> Strategies {
        self.rules.extend(rules.into_iter().map(|rule| (rule.name().clone(), rule)));
        self
    }

    /// The rules that the program defines, by name.
    pub fn defined_rules(&self) -> impl Iterator<Item = &DefinedRule> {
        self.rules.values()
    }

    /// The rule of this name: one of the program, or else of the compiler.
    pub fn rule(&self, name: &str) -> Option<AnyRule> {
        match self.rules.get(name) {
            Some(rule) => Some(AnyRule::Defined(rule.clone())),
            None => rewrite::rule(name).map(AnyRule::BuiltIn),
        }
    }

    /// The names of all rules and strategies.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        let rules = self.rules.keys().map(Name::as_str).chain(rewrite::rules().map(|rule| rule.name));
        self.names().chain(rules)
    }

    /// The strategies of the library and of a program. The program may replace some of the library.
    /// `texts` gives names, texts, and where the texts stand in the file that diagnostics are
    /// about, if they stand there.
    ///
    /// # Errors
    /// What is wrong with each text.
    pub fn with<'t>(
        texts: impl IntoIterator<Item = (&'t Name, &'t str, Option<Span>)>,
    ) -> Result<Strategies, Vec<Diagnostic>> {
        let mut strategies = Strategies::library();
        let mut errors = Vec::new();
        for (name, text, span) in texts {
            match parse(name, text, span.map_or(0, |span| span.start as usize)) {
                Ok(mut named) => {
                    if span.is_none() {
                        library::forget_spans(&mut named);
                    }
                    strategies.named.insert(name.clone(), named);
                }
                Err(error) => errors.push(if span.is_none() { without_place(error) } else { error }),
            }
        }
        if errors.is_empty() { Ok(strategies) } else { Err(errors) }
    }

    /// The strategy of this name.
    pub fn get(&self, name: &str) -> Option<&Named> {
        self.named.get(name)
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(Name::as_str)
    }

    /// The schedules: name, and the definition that it is for.
    pub fn schedules(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.named.values().filter_map(|named| Some((&named.name, named.target.as_ref()?)))
    }

    /// Applies a strategy by name, one that is written out (`"topDown splitJoin(8); auto"`), or a
    /// trace as [`Trace::to_text`](super::Trace::to_text) prints it.
    ///
    /// # Errors
    /// If there is no such strategy, its text is wrong, it has parameters, or it does not apply.
    pub fn apply(
        &self,
        strategy: &str,
        definition: &Definition,
        options: Options,
    ) -> Result<Outcome, Diagnostic> {
        if super::trace::is_trace(strategy) {
            return super::trace::replay(strategy, definition, self);
        }
        let mut options = options;
        if let Some(named) = self.get(strategy) {
            options.reassociate |= named.reassociate;
            if !named.params.is_empty() {
                let message = format!("the strategy `{strategy}` takes {} sizes", named.params.len());
                let example: Vec<&str> = named.params.iter().map(Name::as_str).collect();
                return Err(Diagnostic::general(super::BAD_CALL, message)
                    .help(format!("give them: `{strategy}({})`", example.join(", "))));
            }
            return run::run(self, &named.body, definition, options);
        }
        let word = strategy.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if word && self.rule(strategy).is_none() && !["id", "fail", "choose"].contains(&strategy) {
            let mut diagnostic =
                Diagnostic::general(super::UNKNOWN, format!("`{strategy}` is neither a rule nor a strategy"));
            if let Some(near) = nearest(strategy, self.known()) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            return Err(diagnostic);
        }
        let named = parse(&"given".into(), strategy, 0).map_err(without_place)?;
        options.reassociate |= named.reassociate;
        run::run(self, &named.body, definition, options).map_err(without_place)
    }

    /// Applies a strategy.
    ///
    /// # Errors
    /// If it does not apply.
    pub fn run(
        &self,
        strategy: &Strategy,
        definition: &Definition,
        options: Options,
    ) -> Result<Outcome, Diagnostic> {
        run::run(self, strategy, definition, options)
    }

    /// The definition that a schedule makes: the definition that it is for, rewritten, under the
    /// schedule's name.
    ///
    /// # Errors
    /// If the strategy is no schedule or does not apply.
    pub fn schedule(
        &self,
        name: &str,
        definition: &Definition,
        options: Options,
    ) -> Result<Outcome, Diagnostic> {
        let Some(named) = self.get(name).filter(|named| named.target.is_some()) else {
            return Err(Diagnostic::general(NOT_APPLICABLE, format!("`{name}` is not a schedule")));
        };
        let mut outcome = self.apply(name, definition, options)?;
        outcome.definition.name = named.name.clone();
        Ok(outcome)
    }
}

/// Positions in a text that is not the program's would be misleading. The text is short, and is
/// part of the message.
pub(super) fn without_place(mut diagnostic: Diagnostic) -> Diagnostic {
    for label in diagnostic.labels.drain(..).filter(|label| label.primary) {
        diagnostic.notes.push(format!(
            "in the strategy that was given, bytes {} to {}",
            label.span.start, label.span.end
        ));
    }
    diagnostic
}
