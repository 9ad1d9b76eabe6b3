//! Applying strategies.

mod traverse;

use loops::suggest::nearest;
use loops::{Diagnostic, Name, Registers, Scalar, Size, Span};

use self::traverse::{Done, replace_child};
use super::trace::{Step, Trace};
use super::{BAD_CALL, Call, ENDLESS, NOT_APPLICABLE, Strategies, Strategy, UNKNOWN};
use crate::build::Supply;
use crate::facts::SizeFacts;
use crate::rewrite::{self, AnyRule, Context};
use crate::term::{Definition, Term};
use crate::types::DataType;
use crate::walk::{self, Position};

/// How a strategy is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether rules that change the order of floating-point operations may be used.
    pub reassociate: bool,
    /// Most rules tried. A hundredth of it may be applied.
    pub limit: u64,
    /// The vector registers of the processor, which `tileRows` and `tileColumns` of strategies
    /// depend on.
    pub registers: Registers,
}

impl Default for Options {
    fn default() -> Options {
        Options { reassociate: false, limit: 2_000_000, registers: Registers::default() }
    }
}

/// A rewritten definition and how it came about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The new definition; the verifier has accepted it.
    pub definition: Definition,
    /// Every rule that was applied.
    pub trace: Trace,
}

/// Why a strategy stopped at a place.
enum Stop {
    /// It does not apply; another may.
    Refused(Box<Refused>),
    /// Nothing can go on.
    Broken(Box<Diagnostic>),
}

struct Refused {
    /// The rule with its sizes, or the combinator.
    what: String,
    position: Position,
    place: Span,
    reason: String,
    /// Where the rule is written.
    call: Span,
}

type Ran = Result<Term, Stop>;

pub(super) struct Runner<'a> {
    strategies: &'a Strategies,
    facts: SizeFacts,
    sizes: Vec<Name>,
    supply: Supply,
    pub(super) reassociate: bool,
    left: u64,
    limit: u64,
    deepest: usize,
    registers: Registers,
    pub(super) trace: Trace,
    /// Names and sizes of the strategies that are being applied.
    frames: Vec<(Name, Vec<(Name, Size)>)>,
}

/// Sizes of the machine.
const OF_MACHINE: [&str; 2] = ["tileRows", "tileColumns"];

/// Strategies call each other this deep at most.
const MAX_CALLS: usize = 60;

/// So many attempts are allowed for each application: what is applied is kept for the trace.
const ATTEMPTS_OF_ONE: u64 = 100;

/// Terms may become nested by so much more than twice as deep as they were.
const DEEPER: usize = 2000;

/// A position for readers, who do not count thousands of steps.
fn told(position: &Position) -> String {
    match position.0.len() {
        0..=32 => format!("position {position}"),
        down => format!("a position {down} levels down"),
    }
}

/// Applies a strategy to the body of a definition.
pub(super) fn run(
    strategies: &Strategies,
    strategy: &Strategy,
    definition: &Definition,
    options: Options,
) -> Result<Outcome, Diagnostic> {
    crate::check::check_depth(&definition.body, &definition.name)?;
    walk::with_stack(&definition.body, || {
        let mut runner = Runner {
            strategies,
            facts: SizeFacts::of(definition),
            sizes: definition.sizes.clone(),
            supply: Supply::above(definition),
            reassociate: options.reassociate,
            left: options.limit,
            limit: options.limit,
            deepest: 2 * walk::depth(&definition.body) + DEEPER,
            registers: options.registers,
            trace: Trace {
                definition: definition.name.clone(),
                reassociate: options.reassociate,
                steps: Vec::new(),
            },
            frames: Vec::new(),
        };
        let body = match runner.apply(strategy, &definition.body, &Position::root()) {
            Ok(body) => body,
            Err(Stop::Broken(diagnostic)) => return Err(*diagnostic),
            Err(Stop::Refused(why)) => return Err(why.diagnostic(definition)),
        };
        let new = Definition { body, ..definition.clone() };
        crate::check::check(&new)?;
        Ok(Outcome { definition: new, trace: runner.trace })
    })
}

impl Refused {
    fn diagnostic(self, definition: &Definition) -> Diagnostic {
        let Refused { what, position, place, reason, call } = self;
        let message = format!("`{what}` does not apply to `{}`: {reason}", definition.name);
        let mut diagnostic = if call == Span::default() {
            Diagnostic::general(NOT_APPLICABLE, message)
        } else {
            Diagnostic::error(NOT_APPLICABLE, message, call, "this rule")
        };
        diagnostic = diagnostic.note(format!("it was tried last at position {position}"));
        if place != Span::default() {
            diagnostic = diagnostic.context(place, "the term at that position comes from here");
        }
        if reason == crate::rewrite::REORDERS {
            diagnostic = diagnostic.help(
                "allow another order with `--reassociate`, or with the word `reassociate` before the strategy in its file",
            );
        }
        diagnostic.help("`try s` goes on where `s` does not apply; `a <+ b` tries `b` where `a` does not")
    }
}

impl Runner<'_> {
    fn refuse(&self, what: impl Into<String>, term: &Term, position: &Position, reason: &str) -> Stop {
        Stop::Refused(Box::new(Refused {
            what: what.into(),
            position: position.clone(),
            place: term.span(),
            reason: reason.to_string(),
            call: Span::default(),
        }))
    }

    /// What can be undone: how much of the trace there is, and the next variable.
    fn mark(&self) -> (usize, Supply) {
        (self.trace.steps.len(), self.supply.clone())
    }

    fn undo(&mut self, mark: (usize, Supply)) {
        self.trace.steps.truncate(mark.0);
        self.supply = mark.1;
    }

    /// Applies a strategy; if it is refused, nothing has happened.
    fn attempt(&mut self, strategy: &Strategy, term: &Term, position: &Position) -> Ran {
        let mark = self.mark();
        let result = self.apply(strategy, term, position);
        if result.is_err() {
            self.undo(mark);
        }
        result
    }

    /// [`Runner::attempt`], with `None` where the strategy is refused.
    fn attempt_option(
        &mut self,
        strategy: &Strategy,
        term: &Term,
        position: &Position,
    ) -> Result<Option<Term>, Stop> {
        match self.attempt(strategy, term, position) {
            Ok(term) => Ok(Some(term)),
            Err(Stop::Refused(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    fn apply(&mut self, strategy: &Strategy, term: &Term, position: &Position) -> Ran {
        match strategy {
            Strategy::Id => Ok(term.clone()),
            Strategy::Fail => Err(self.refuse("fail", term, position, "it never does")),
            Strategy::Call(call) => self.call(call, term, position),
            Strategy::Seq(parts) => {
                let mut term = term.clone();
                for part in parts {
                    term = self.apply(part, &term, position)?;
                }
                Ok(term)
            }
            Strategy::Choice(parts) => self.choice(parts, term, position),
            Strategy::Try(s) => Ok(self.attempt_option(s, term, position)?.unwrap_or_else(|| term.clone())),
            Strategy::Repeat(s) => {
                let mut term = term.clone();
                loop {
                    let steps = self.trace.steps.len();
                    self.spend(position)?;
                    match self.attempt_option(s, &term, position)? {
                        Some(next) => term = next,
                        None => return Ok(term),
                    }
                    if self.trace.steps.len() == steps {
                        return Ok(term);
                    }
                }
            }
            Strategy::Not(s) => {
                let mark = self.mark();
                let result = self.attempt_option(s, term, position)?;
                self.undo(mark);
                match result {
                    None => Ok(term.clone()),
                    Some(_) => Err(self.refuse(format!("not {s}"), term, position, "the strategy applies")),
                }
            }
            Strategy::TopDown(s) => self.first(s, term, position, true),
            Strategy::BottomUp(s) => self.first(s, term, position, false),
            Strategy::Everywhere(s) => self.everywhere(s, term, position),
            Strategy::Normalise(s) => self.normalise(s, term, position, &mut Done::default()),
            Strategy::All(s) => {
                walk::try_map_children(term, |k, child| self.apply(s, child, &position.child(k)))
            }
            Strategy::One(s) => self.one(s, term, position),
            Strategy::Child(k, s) => {
                let Some((_, child)) = walk::children(term).into_iter().find(|(step, _)| step == k) else {
                    let reason = format!("there is no subterm {k}");
                    return Err(self.refuse(format!("child {k}"), term, position, &reason));
                };
                let new = self.apply(s, child, &position.child(*k))?;
                Ok(replace_child(term, *k, new))
            }
            Strategy::AtPosition(below, s) => self.at(s, term, position, below),
            Strategy::At(pattern, n, s) => {
                let below = self.find(pattern, *n, term, position)?;
                self.at(s, term, position, &below)
            }
            Strategy::Inside(pattern, n, s) => {
                let below = self.find_function(pattern, *n, term, position)?;
                self.at(s, term, position, &below)
            }
            Strategy::Auto => {
                super::auto::choose(self, term, position).map_err(|d| Stop::Broken(Box::new(d)))
            }
        }
    }

    /// The first of some strategies that applies.
    fn choice(&mut self, parts: &[Strategy], term: &Term, position: &Position) -> Ran {
        let mut nearest = None;
        for part in parts {
            match self.attempt(part, term, position) {
                Err(Stop::Refused(why)) => nearest = Some(nearer(nearest, why)),
                other => return other,
            }
        }
        Err(match nearest {
            Some(why) => Stop::Refused(why),
            None => self.refuse("<+", term, position, "there is no choice"),
        })
    }

    fn spend(&mut self, position: &Position) -> Result<(), Stop> {
        let applied = self.trace.steps.len() as u64;
        let most = self.limit / ATTEMPTS_OF_ONE;
        let too_deep = position.0.len() > self.deepest;
        match self.left.checked_sub(1).filter(|_| applied <= most && !too_deep) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let what = match (too_deep, applied > most) {
                    (true, _) => format!("{} levels of nesting", self.deepest),
                    (_, true) => format!("{most} applications of rules"),
                    (_, false) => format!("{} attempts to apply a rule", self.limit),
                };
                let message =
                    format!("the strategy for `{}` did not end within {what}", self.trace.definition);
                let mut diagnostic = Diagnostic::general(ENDLESS, message)
                    .note(format!("the last attempt was at {}", told(position)))
                    .help("`repeat s` and `normalise s` end only if `s` stops applying: do two rules undo each other?");
                if let Some(step) = self.trace.steps.last() {
                    diagnostic = diagnostic.note(format!(
                        "the last step was {} at {}",
                        step.call(),
                        told(&step.position)
                    ));
                }
                Err(Stop::Broken(Box::new(diagnostic)))
            }
        }
    }

    /// A size that every strategy may use: rows or columns of the register tile for numbers of the
    /// term's type.
    fn of_machine(&self, name: &Name, term: &Term) -> Option<Size> {
        let extent = match name.as_str() {
            _ if self.sizes.contains(name) => return None,
            "tileRows" => self.registers.rows(),
            "tileColumns" => self.registers.vectors() * self.registers.lanes(scalar_of(term)),
            _ => return None,
        };
        Some(Size::constant(extent))
    }

    /// Applies a rule by name; for the strategies written in Rust.
    pub(super) fn rule(&mut self, name: &'static str, term: &Term, position: &Position) -> Option<Term> {
        self.spend(position).ok()?;
        let call = Call { name: name.into(), args: Vec::new(), span: Span::default() };
        let rule = AnyRule::BuiltIn(rewrite::rule(name)?);
        self.applied(rule, Vec::new(), &call, term, position).ok()
    }

    fn applied(
        &mut self,
        rule: AnyRule,
        args: Vec<Size>,
        call: &Call,
        term: &Term,
        position: &Position,
    ) -> Ran {
        let mut cx = Context { supply: &mut self.supply, facts: &self.facts, reassociate: self.reassociate };
        match rule.apply(&mut cx, &args, term) {
            Ok(after) => {
                let (position, before) = (position.clone(), term.clone());
                self.trace.steps.push(Step { rule, args, position, before, after: after.clone() });
                Ok(after)
            }
            Err(why) => Err(Stop::Refused(Box::new(Refused {
                what: Call { args, ..call.clone() }.to_string(),
                position: position.clone(),
                place: term.span(),
                reason: why.reason,
                call: call.span,
            }))),
        }
    }

    fn call(&mut self, call: &Call, term: &Term, position: &Position) -> Ran {
        self.spend(position)?;
        let broken = |message: String| {
            let diagnostic = if call.span == Span::default() {
                Diagnostic::general(BAD_CALL, message)
            } else {
                Diagnostic::error(BAD_CALL, message, call.span, "here")
            };
            Stop::Broken(Box::new(diagnostic))
        };
        let mut args = Vec::with_capacity(call.args.len());
        for (k, arg) in call.args.iter().enumerate() {
            let arg = match self.frames.last() {
                Some((_, bound)) => {
                    arg.substitute(&|name| bound.iter().find(|(n, _)| n == name).map(|(_, s)| s.clone()))
                }
                None => arg.clone(),
            };
            let arg = arg.substitute(&|name| self.of_machine(name, term));
            let unknown = arg.params().into_iter().find(|name| !self.sizes.contains(name));
            if let Some(unknown) = unknown.filter(|_| !self.names_a_place(&call.name, k, &arg)) {
                let definition = &self.trace.definition;
                let message = format!(
                    "`{unknown}` is neither a size of `{definition}` nor a parameter of the strategy"
                );
                let params =
                    self.frames.last().into_iter().flat_map(|(_, bound)| bound.iter().map(|(n, _)| n));
                let known = self.sizes.iter().chain(params).map(Name::as_str).chain(OF_MACHINE);
                return Err(match (broken(message), nearest(&unknown, known)) {
                    (Stop::Broken(diagnostic), Some(near)) => {
                        Stop::Broken(Box::new(diagnostic.help(format!("did you mean `{near}`?"))))
                    }
                    (stop, _) => stop,
                });
            }
            args.push(arg);
        }
        if let Some(rule) = self.strategies.rule(&call.name) {
            if args.len() != rule.arity() {
                let (wanted, given) = (rule.arity(), args.len());
                return Err(broken(format!("the rule `{}` takes {wanted} sizes, not {given}", call.name)));
            }
            rule.admitted().map_err(|diagnostic| Stop::Broken(Box::new(diagnostic)))?;
            return self.applied(rule, args, call, term, position);
        }
        let Some(named) = self.strategies.get(&call.name) else {
            let mut diagnostic = Diagnostic::error(
                UNKNOWN,
                format!("`{}` is neither a rule nor a strategy", call.name),
                call.span,
                "unknown name",
            );
            if let Some(near) = nearest(&call.name, self.strategies.known()) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            return Err(Stop::Broken(Box::new(diagnostic)));
        };
        if named.params.len() != args.len() {
            let (wanted, given) = (named.params.len(), args.len());
            return Err(broken(format!("the strategy `{}` takes {wanted} sizes, not {given}", named.name)));
        }
        if self.frames.len() >= MAX_CALLS || self.frames.iter().any(|(name, _)| *name == named.name) {
            return Err(broken(format!("the strategy `{}` calls itself", named.name)));
        }
        let bound = named.params.iter().cloned().zip(args).collect();
        self.frames.push((named.name.clone(), bound));
        let strategies = self.strategies;
        let result = match strategies.get(&call.name) {
            Some(named) => self.apply(&named.body, term, position),
            None => Ok(term.clone()),
        };
        self.frames.pop();
        // A refusal inside the library is reported at the place where the library was called.
        result.map_err(|stop| match stop {
            Stop::Refused(mut why) if why.call == Span::default() => {
                why.call = call.span;
                Stop::Refused(why)
            }
            other => other,
        })
    }
}

/// The refusal that says more: one whose rule fits the form of the term, or else the later one.
fn nearer(old: Option<Box<Refused>>, new: Box<Refused>) -> Box<Refused> {
    let vague = |why: &Refused| why.reason.starts_with("it is n");
    match old {
        Some(old) if vague(&new) && !vague(&old) => old,
        Some(old) if vague(&new) && vague(&old) => old,
        _ => new,
    }
}

/// The smallest of the numbers that a term consists of: the most lanes; `f64` where there is none.
fn scalar_of(term: &Term) -> Scalar {
    fn go(ty: &DataType, found: &mut Vec<Scalar>) {
        match ty {
            DataType::Scalar(scalar) | DataType::Vector(_, scalar) => found.push(*scalar),
            DataType::Array(_, of) => go(of, found),
            DataType::Pair(a, b) => {
                go(a, found);
                go(b, found);
            }
            DataType::Idx(_) => {}
        }
    }
    let mut found = Vec::new();
    go(term.ty(), &mut found);
    found.into_iter().filter(|s| *s != Scalar::Bool).min_by_key(|s| s.bytes()).unwrap_or(Scalar::F64)
}
