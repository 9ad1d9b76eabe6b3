//! Set and map literals: `[n] -> { S[i] -> A[2i, j] : 0 <= i < n and j = i mod 3 }`.
//!
//! The parser checks names and that formulas are affine, and gives the text that isl reads.

use std::fmt::{self, Write};

use arith::Linear;
use loops::diagnostic::{Diagnostic, Span};

use super::lexer::{Cursor, Kind};
use super::{NOT_AFFINE, UNKNOWN};

/// A literal, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    /// In isl's notation.
    pub text: String,
    /// Whether it is a map.
    pub is_map: bool,
    /// Where it stands.
    pub span: Span,
}

/// An affine expression: variables and quotients with coefficients, and a constant.
struct Affine {
    form: Linear<String, i64>,
    span: Span,
}

impl Affine {
    fn constant(constant: i64, span: Span) -> Affine {
        Affine { form: Linear::constant(constant), span }
    }

    fn atom(text: String, span: Span) -> Affine {
        Affine { form: Linear::name(text), span }
    }

    /// The value, if it is constant.
    fn value(&self) -> Option<i64> {
        self.form.as_constant()
    }

    fn scaled(&self, factor: i64, span: Span) -> Result<Affine, Diagnostic> {
        Ok(Affine { form: checked(self.form.times(factor), span)?, span })
    }

    fn plus(&self, other: &Affine, span: Span) -> Result<Affine, Diagnostic> {
        Ok(Affine { form: checked(self.form.plus(&other.form), span)?, span })
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (atom, c) in self.form.terms() {
            match (first, c) {
                (true, 1) => write!(f, "{atom}")?,
                (true, c) => write!(f, "{c}*{atom}")?,
                (false, 1) => write!(f, " + {atom}")?,
                (false, c) if c < 0 => write!(f, " - {}*{atom}", c.unsigned_abs())?,
                (false, c) => write!(f, " + {c}*{atom}")?,
            }
            first = false;
        }
        match (first, self.form.constant_term()) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) if c < 0 => write!(f, " - {}", c.unsigned_abs()),
            (false, c) => write!(f, " + {c}"),
        }
    }
}

struct Parser<'a> {
    cursor: &'a mut Cursor,
    params: Vec<String>,
    locals: Vec<String>,
}

/// Whether a literal starts here: `{`, or `[params] -> {`.
pub fn starts(cursor: &Cursor) -> bool {
    cursor.at_sign("{") || cursor.at_sign("[")
}

/// Parses a literal.
pub fn parse(cursor: &mut Cursor) -> Result<Literal, Diagnostic> {
    let start = cursor.span();
    let mut params = Vec::new();
    if cursor.eat("[") {
        while !cursor.at_sign("]") {
            params.push(cursor.name("the name of a parameter")?.0);
            if !cursor.eat(",") {
                break;
            }
        }
        cursor.expect("]", "after the parameters")?;
        cursor.expect("->", "between the parameters and the set")?;
    }
    cursor.expect("{", "before the elements")?;
    let mut text = format!("[{}] -> {{ ", params.join(", "));
    let mut is_map = None;
    let mut parser = Parser { cursor, params, locals: Vec::new() };
    while !parser.cursor.at_sign("}") {
        if is_map.is_some() {
            text.push_str("; ");
        }
        let place = parser.cursor.span();
        let map = parser.piece(&mut text)?;
        if is_map.is_some_and(|m| m != map) {
            return Err(Diagnostic::error(
                super::MISFIT,
                "a literal mixes sets and maps",
                place,
                "not of the kind of the pieces before it",
            ));
        }
        is_map = Some(map);
        if !parser.cursor.eat(";") {
            break;
        }
    }
    let end = parser.cursor.expect("}", "after the elements")?;
    text.push_str(" }");
    Ok(Literal { text, is_map: is_map.unwrap_or(false), span: start.to(end) })
}

impl Parser<'_> {
    /// `S[i, j] -> A[i] : formula`, `S[i]`, `: formula` (no dimensions).
    fn piece(&mut self, text: &mut String) -> Result<bool, Diagnostic> {
        self.locals.clear();
        let mut map = false;
        if !self.cursor.at_sign(":") {
            self.tuple(text)?;
            if self.cursor.eat("->") {
                text.push_str(" -> ");
                self.tuple(text)?;
                map = true;
            }
        }
        if self.cursor.eat(":") {
            text.push_str(" : ");
            self.formula(text)?;
        }
        Ok(map)
    }

    fn tuple(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        if let Kind::Name(name) = self.cursor.peek().kind.clone() {
            self.cursor.take();
            text.push_str(&name);
        }
        self.cursor.expect("[", "before the coordinates of a tuple")?;
        text.push('[');
        let mut first = true;
        while !self.cursor.at_sign("]") {
            if !first {
                text.push_str(", ");
            }
            first = false;
            if self.cursor.at_sign("[") {
                return Err(Diagnostic::error(
                    super::SYNTAX,
                    "nested tuples are not supported",
                    self.cursor.span(),
                    "a tuple inside a tuple",
                ));
            }
            // A name that is not known yet is a coordinate; anything else is an expression of those
            // before it.
            let fresh = match &self.cursor.peek().kind {
                Kind::Name(name)
                    if !self.params.contains(name) && !self.locals.contains(name) && !is_word(name) =>
                {
                    Some(name.clone())
                }
                _ => None,
            };
            match fresh {
                Some(name) => {
                    self.cursor.take();
                    text.push_str(&name);
                    self.locals.push(name);
                    if !self.cursor.at_sign(",") && !self.cursor.at_sign("]") {
                        return Err(self.cursor.unexpected("`,` or `]` after a coordinate"));
                    }
                }
                None => text.push_str(&self.affine()?.to_string()),
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("]", "after the coordinates of a tuple")?;
        text.push(']');
        Ok(())
    }

    fn formula(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        let mut formula = String::new();
        self.disjunction(&mut formula)?;
        while self.cursor.eat("=>") {
            let mut conclusion = String::new();
            self.disjunction(&mut conclusion)?;
            formula = format!("(not ({formula})) or ({conclusion})");
        }
        text.push_str(&formula);
        Ok(())
    }

    fn disjunction(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        self.conjunction(text)?;
        while self.cursor.eat_word("or") {
            text.push_str(" or ");
            self.conjunction(text)?;
        }
        Ok(())
    }

    fn conjunction(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        self.atom(text)?;
        while self.cursor.eat_word("and") {
            text.push_str(" and ");
            self.atom(text)?;
        }
        Ok(())
    }

    fn atom(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        if self.cursor.eat_word("not") || self.cursor.eat("!") {
            text.push_str("not (");
            self.cursor.enter()?;
            self.atom(text)?;
            self.cursor.leave();
            text.push(')');
            return Ok(());
        }
        for word in ["true", "false"] {
            if self.cursor.eat_word(word) {
                text.push_str(word);
                return Ok(());
            }
        }
        if self.cursor.eat_word("exists") {
            return self.exists(text);
        }
        if self.cursor.at_sign("(") {
            // A parenthesis starts a formula or an expression: try the formula first.
            let mark = self.cursor.mark();
            self.cursor.take();
            self.cursor.enter()?;
            let mut inner = String::from("(");
            let formula = self.formula_in_parentheses(&mut inner);
            self.cursor.leave();
            if formula.is_ok() && !self.at_operator() {
                text.push_str(&inner);
                text.push(')');
                return Ok(());
            }
            self.cursor.reset(mark);
            // Of two failures, the one that got further is what the user meant.
            return self.comparison(text).map_err(|error| match formula {
                Err(other) if start(&other) > start(&error) => other,
                _ => error,
            });
        }
        self.comparison(text)
    }

    fn formula_in_parentheses(&mut self, inner: &mut String) -> Result<(), Diagnostic> {
        self.formula(inner)?;
        self.cursor.expect(")", "after a formula").map(|_| ())
    }

    fn at_operator(&self) -> bool {
        ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "==", "!=", ","]
            .iter()
            .any(|s| self.cursor.at_sign(s))
            || self.cursor.at_word("mod")
    }

    fn exists(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        let parenthesis = self.cursor.eat("(");
        let before = self.locals.len();
        let mut names = Vec::new();
        loop {
            let (name, _) = self.cursor.name("a variable after `exists`")?;
            names.push(name.clone());
            self.locals.push(name);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(":", "after the variables of `exists`")?;
        let _ = write!(text, "exists {} : (", names.join(", "));
        self.cursor.enter()?;
        self.disjunction(text)?;
        self.cursor.leave();
        text.push(')');
        self.locals.truncate(before);
        if parenthesis {
            self.cursor.expect(")", "after the formula of `exists`")?;
        }
        Ok(())
    }

    /// `a, b <= c < d`, `[i, j] << [k, l]`.
    fn comparison(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        if self.cursor.at_sign("[") {
            return self.lexicographic(text);
        }
        let mut left = self.list()?;
        let mut chains = 0;
        text.push('(');
        while let Some(op) = self.operator() {
            let right = self.list()?;
            for a in &left {
                for b in &right {
                    if chains > 0 {
                        text.push_str(" and ");
                    }
                    chains += 1;
                    let _ = write!(text, "{a} {op} {b}");
                }
            }
            left = right;
        }
        self.no_quotient()?;
        if chains == 0 {
            return Err(self.cursor.unexpected("a comparison (`<= < >= > = !=`)"));
        }
        text.push(')');
        Ok(())
    }

    fn operator(&mut self) -> Option<&'static str> {
        for (sign, isl) in
            [("<=", "<="), (">=", ">="), ("<", "<"), (">", ">"), ("==", "="), ("=", "="), ("!=", "!=")]
        {
            if self.cursor.eat(sign) {
                return Some(isl);
            }
        }
        None
    }

    fn list(&mut self) -> Result<Vec<Affine>, Diagnostic> {
        let mut list = vec![self.affine()?];
        while self.cursor.eat(",") {
            list.push(self.affine()?);
        }
        Ok(list)
    }

    /// `[i, j] << [k, l] <<= [m, n]`.
    fn lexicographic(&mut self, text: &mut String) -> Result<(), Diagnostic> {
        let signs = [("<<=", true, true), (">>=", false, true), ("<<", true, false), (">>", false, false)];
        let mut left = self.vector()?;
        let mut chains = Vec::new();
        while let Some((_, less, equal)) = signs.into_iter().find(|(sign, ..)| self.cursor.eat(sign)) {
            let right = self.vector()?;
            if left.0.len() != right.0.len() {
                return Err(Diagnostic::error(
                    super::MISFIT,
                    format!(
                        "lexicographic order of tuples of {} and {} coordinates",
                        left.0.len(),
                        right.0.len()
                    ),
                    left.1.to(right.1),
                    "the lengths differ",
                ));
            }
            let (low, high) = if less { (&left.0, &right.0) } else { (&right.0, &left.0) };
            chains.push(before(low, high, equal));
            left = right;
        }
        if chains.is_empty() {
            return Err(self.cursor.unexpected("a lexicographic comparison (`<< <<= >> >>=`)"));
        }
        text.push_str(&chains.join(" and "));
        Ok(())
    }

    fn vector(&mut self) -> Result<(Vec<String>, Span), Diagnostic> {
        let start = self.cursor.expect("[", "before a tuple")?;
        let mut items = Vec::new();
        while !self.cursor.at_sign("]") {
            items.push(self.affine()?.to_string());
            if !self.cursor.eat(",") {
                break;
            }
        }
        let end = self.cursor.expect("]", "after a tuple")?;
        Ok((items, start.to(end)))
    }

    fn affine(&mut self) -> Result<Affine, Diagnostic> {
        let mut sum = self.product()?;
        loop {
            let plus = self.cursor.at_sign("+");
            if !plus && !self.cursor.at_sign("-") {
                return Ok(sum);
            }
            self.cursor.take();
            let right = self.product()?;
            let span = sum.span.to(right.span);
            let right = if plus { right } else { right.scaled(-1, span)? };
            sum = sum.plus(&right, span)?;
        }
    }

    fn product(&mut self) -> Result<Affine, Diagnostic> {
        let mut left = self.factor()?;
        loop {
            let juxtaposed = left.value().is_some()
                && matches!(&self.cursor.peek().kind, Kind::Name(n) if !is_connective(n));
            if juxtaposed || self.cursor.eat("*") {
                let right = self.factor()?;
                let span = left.span.to(right.span);
                left = match (left.value(), right.value()) {
                    (Some(c), _) => right.scaled(c, span)?,
                    (None, Some(c)) => left.scaled(c, span)?,
                    (None, None) => {
                        return Err(Diagnostic::error(NOT_AFFINE, "a product of two variables is not affine", span, "neither factor is a constant")
                            .help("sets and maps are described by affine formulas: multiply by integer constants only"));
                    }
                };
            } else if self.cursor.at_sign("%") || self.cursor.at_word("mod") {
                self.cursor.take();
                let (divisor, span) = self.divisor(left.span)?;
                left = Affine::atom(format!("(({left}) mod {divisor})"), span);
            } else {
                return Ok(left);
            }
        }
    }

    fn divisor(&mut self, left: Span) -> Result<(i64, Span), Diagnostic> {
        let right = self.factor()?;
        match right.value() {
            Some(d) if d > 0 => Ok((d, left.to(right.span))),
            Some(_) => {
                Err(Diagnostic::error(NOT_AFFINE, "a divisor must be positive", right.span, "not positive"))
            }
            None => Err(Diagnostic::error(
                NOT_AFFINE,
                "a divisor must be a constant",
                right.span,
                "not a constant",
            )),
        }
    }

    fn factor(&mut self) -> Result<Affine, Diagnostic> {
        let span = self.cursor.span();
        if self.cursor.eat("-") {
            self.cursor.enter()?;
            let inner = self.factor()?;
            self.cursor.leave();
            return inner.scaled(-1, span.to(inner.span));
        }
        if self.cursor.eat("(") {
            self.cursor.enter()?;
            let inner = self.affine()?;
            self.cursor.leave();
            self.no_quotient()?;
            let end = self.cursor.expect(")", "after an expression")?;
            return Ok(Affine { span: span.to(end), ..inner });
        }
        let token = self.cursor.peek().clone();
        match token.kind {
            Kind::Number(n) => {
                self.cursor.take();
                Ok(Affine::constant(n, span))
            }
            Kind::Name(name) if name == "floor" || name == "ceil" => {
                self.cursor.take();
                self.cursor.expect("(", &format!("after `{name}`"))?;
                self.cursor.enter()?;
                let inner = self.affine()?;
                self.cursor.leave();
                self.cursor.expect("/", "between dividend and divisor")?;
                let (divisor, _) = self.divisor(inner.span)?;
                let end = self.cursor.expect(")", "after a quotient")?;
                Ok(Affine::atom(format!("{name}(({inner}) / {divisor})"), span.to(end)))
            }
            Kind::Name(name) if !is_word(&name) => {
                self.cursor.take();
                if !self.params.contains(&name) && !self.locals.contains(&name) {
                    return Err(Diagnostic::error(
                        UNKNOWN,
                        format!("unknown variable `{name}`"),
                        span,
                        "neither a parameter nor a coordinate",
                    )
                    .help(format!("declare a parameter in front: `[{name}] -> {{ ... }}`")));
                }
                Ok(Affine::atom(name, span))
            }
            _ => Err(self.cursor.unexpected("a number, a variable or `(`")),
        }
    }

    fn no_quotient(&self) -> Result<(), Diagnostic> {
        if self.cursor.at_sign("/") {
            return Err(Diagnostic::error(
                NOT_AFFINE,
                "a quotient needs a direction of rounding",
                self.cursor.span(),
                "write `floor(a / d)`",
            ));
        }
        Ok(())
    }
}

/// `low` is lexicographically less than `high`, or equal if `equal`: the disjunction over the first
/// coordinate that differs.
fn before(low: &[String], high: &[String], equal: bool) -> String {
    let mut cases = Vec::new();
    for k in 0..low.len() {
        let mut case: Vec<String> = (0..k).map(|j| format!("{} = {}", low[j], high[j])).collect();
        case.push(format!("{} < {}", low[k], high[k]));
        cases.push(format!("({})", case.join(" and ")));
    }
    if equal {
        let same: Vec<String> = low.iter().zip(high).map(|(a, b)| format!("{a} = {b}")).collect();
        cases.push(if same.is_empty() { "true".to_string() } else { format!("({})", same.join(" and ")) });
    }
    format!("({})", if cases.is_empty() { "false".to_string() } else { cases.join(" or ") })
}

fn start(diagnostic: &Diagnostic) -> u32 {
    diagnostic.labels.first().map_or(0, |label| label.span.start)
}

fn checked<T>(value: Option<T>, span: Span) -> Result<T, Diagnostic> {
    value.ok_or_else(|| Diagnostic::error(NOT_AFFINE, "a constant is beyond 64 bits", span, "overflows"))
}

fn is_connective(name: &str) -> bool {
    ["and", "or", "mod"].contains(&name)
}

fn is_word(name: &str) -> bool {
    ["and", "or", "not", "exists", "mod", "true", "false", "floor", "ceil"].contains(&name)
}
