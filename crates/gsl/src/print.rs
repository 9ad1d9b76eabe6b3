//! Prints rules in their one layout: `parse(print(x)) == x`, and formatting twice is the same as
//! formatting once.
//!
//! Lines break only inside brackets and after binary operators, where a statement may continue.
//! Comments inside a statement move above it.

use std::fmt;

use loops::Diagnostic;

use crate::rule::{
    Action, AttributeItem, Binding, Call, Clause, Count, Each, Expr, ExprKind, Line, OperatorClass,
    OperatorName, Pattern, Rule, RuleFile, UnaryOp, Var,
};

/// Longer lines are broken.
const WIDTH: usize = 100;

/// The text of a rule file in its normal layout.
///
/// # Errors
/// If the text has syntax errors. Text that cannot be read is not formatted.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let (file, errors) = crate::parse::parse(source);
    if errors.is_empty() { Ok(file.to_string()) } else { Err(errors) }
}

impl fmt::Display for RuleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, rule) in self.rules.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            write!(f, "{rule}")?;
        }
        if !self.rules.is_empty() && !self.comments.is_empty() {
            writeln!(f)?;
        }
        comments(f, "", &self.comments)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        comments(f, "", &self.comments)?;
        write!(f, "rule {}", self.name)?;
        if !self.indices.is_empty() {
            let all: Vec<String> =
                self.indices.iter().map(|i| format!("{}: {}", i.name.text, count(&i.count))).collect();
            write!(f, "[{}]", all.join(", "))?;
        }
        if !self.operators.is_empty() {
            let class = |c: &OperatorClass| match c {
                OperatorClass::Trait(t, _) => t.name().to_owned(),
                OperatorClass::Named(o) => operator(o),
            };
            let all: Vec<String> = self
                .operators
                .iter()
                .map(|o| {
                    format!("{}: {}", o.name.text, o.class.iter().map(class).collect::<Vec<_>>().join(" | "))
                })
                .collect();
            write!(f, "({})", all.join(", "))?;
        }
        writeln!(f, "{} {{", if self.finite { " for finite" } else { "" })?;
        writeln!(f, "  match")?;
        lines(f, &self.source, binding)?;
        if !self.conditions.is_empty() {
            writeln!(f, "  where")?;
            lines(f, &self.conditions, |c| match c {
                Clause::Require(e) => expr(e, 0),
                Clause::Let(name, e) => definition(&name.text, e),
            })?;
        }
        if !self.keep.is_empty() {
            let names: Vec<&str> = self.keep.iter().map(|n| n.text.as_str()).collect();
            writeln!(f, "  keep {}", names.join(", "))?;
        }
        if !self.target.is_empty() {
            writeln!(f, "  replace")?;
            lines(f, &self.target, |a| match a {
                Action::Bind(b) => binding(b),
                Action::Let(name, e) => definition(&name.text, e),
            })?;
        }
        writeln!(f, "}}")
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&pattern(self).flat())
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&expr(self, 0).flat())
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&operator(self))
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&var(self).flat())
    }
}

fn comments(f: &mut fmt::Formatter<'_>, indent: &str, all: &[String]) -> fmt::Result {
    all.iter()
        .try_for_each(|c| if c.is_empty() { writeln!(f, "{indent}#") } else { writeln!(f, "{indent}# {c}") })
}

fn lines<T>(f: &mut fmt::Formatter<'_>, all: &[Line<T>], doc: impl Fn(&T) -> Doc) -> fmt::Result {
    for line in all {
        comments(f, "    ", &line.comments)?;
        let mut text = String::from("    ");
        doc(&line.value).render(4, &mut text);
        f.write_str(&text)?;
        match &line.trailing {
            Some(c) if c.is_empty() => writeln!(f, "  #")?,
            Some(c) => writeln!(f, "  # {c}")?,
            None => writeln!(f)?,
        }
    }
    Ok(())
}

fn count(count: &Count) -> String {
    match count {
        Count::AtLeast(low) => format!("{low}.."),
        Count::Between(low, high) => format!("{low}..{high}"),
        Count::Exactly(n) => n.to_string(),
    }
}

fn operator(o: &OperatorName) -> String {
    if o.domain.is_empty() { o.name.clone() } else { format!("{}.{}", o.domain, o.name) }
}

// ---- a small layout engine
// --------------------------------------------------------------------------------------

/// Text that is printed in one line if it fits. Otherwise it is broken at its own level first.
enum Doc {
    Text(String),
    Seq(Vec<Doc>),
    /// Brackets around items with commas between them: in one line, or each item in its own line.
    Brackets(&'static str, Vec<Doc>, &'static str),
    /// Operands with operators behind them; breaks behind operators.
    Chain(Vec<(Doc, String)>),
}

impl Doc {
    fn flat(&self) -> String {
        let mut out = String::new();
        self.write_flat(&mut out);
        out
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Doc::Text(t) => out.push_str(t),
            Doc::Seq(parts) => parts.iter().for_each(|p| p.write_flat(out)),
            Doc::Brackets(open, items, close) => {
                let space = if *open == "{" && !items.is_empty() { " " } else { "" };
                out.push_str(open);
                out.push_str(space);
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    item.write_flat(out);
                }
                out.push_str(space);
                out.push_str(close);
            }
            Doc::Chain(parts) => {
                for (operand, op) in parts {
                    operand.write_flat(out);
                    out.push_str(op);
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.flat().chars().count()
    }

    /// Appends the text, broken where it does not fit; `indent` is that of the line.
    fn render(&self, indent: usize, out: &mut String) {
        let column = out.chars().rev().take_while(|c| *c != '\n').count();
        if column + self.len() <= WIDTH {
            return self.write_flat(out);
        }
        match self {
            Doc::Text(t) => out.push_str(t),
            Doc::Seq(parts) => parts.iter().for_each(|p| p.render(indent, out)),
            Doc::Brackets(open, items, close) => {
                out.push_str(open);
                for item in items {
                    newline(indent + 2, out);
                    item.render(indent + 2, out);
                    out.push(',');
                }
                if !items.is_empty() {
                    newline(indent, out);
                }
                out.push_str(close);
            }
            Doc::Chain(parts) => {
                for (k, (operand, op)) in parts.iter().enumerate() {
                    let column = out.chars().rev().take_while(|c| *c != '\n').count();
                    if k > 0 && column + operand.len() + op.len() > WIDTH {
                        while out.ends_with(' ') {
                            out.pop();
                        }
                        newline(indent + 2, out);
                    }
                    operand.render(indent + 2, out);
                    out.push_str(op);
                }
            }
        }
    }
}

/// An expression on one line.
pub(crate) fn expression(e: &Expr) -> String {
    expr(e, 0).flat()
}

fn newline(indent: usize, out: &mut String) {
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('\n');
    // Deep nesting must not make lines of spaces alone.
    out.extend(std::iter::repeat_n(' ', indent.min(60)));
}

fn text(t: impl Into<String>) -> Doc {
    Doc::Text(t.into())
}

// ---- statements
// -------------------------------------------------------------------------------------------------

fn definition(name: &str, value: &Expr) -> Doc {
    Doc::Seq(vec![text(format!("let {name} = ")), expr(value, 0)])
}

fn binding(b: &Binding) -> Doc {
    let names = b.names.iter().map(|n| n.as_ref().map_or(text("_"), var)).collect::<Vec<_>>();
    let left = if b.tuple { Doc::Brackets("(", names, ")") } else { Doc::Seq(names) };
    Doc::Seq(vec![left, text(" = "), pattern(&b.pattern)])
}

fn var(v: &Var) -> Doc {
    match &v.index {
        None => text(&v.name.text),
        Some(index) => text(format!("{}[{}]", v.name.text, expr(index, 0).flat())),
    }
}

fn pattern(p: &Pattern) -> Doc {
    match p {
        Pattern::Wildcard(_) => text("_"),
        Pattern::Ref(v) => var(v),
        Pattern::Optional(name) => text(format!("{}?", name.text)),
        Pattern::Constant { value, long: false, .. } => expr(value, 0),
        Pattern::Constant { value, ty, .. } => {
            let parts = std::iter::once(value).chain(ty).map(|e| expr(e, 0)).collect();
            Doc::Seq(vec![text("const"), Doc::Brackets("(", parts, ")")])
        }
        Pattern::Call(c) => call(c),
        Pattern::Tuple(parts, _) => Doc::Brackets("(", parts.iter().map(pattern).collect(), ")"),
        Pattern::Item(inner, index) => Doc::Seq(vec![operand(inner), text("["), expr(index, 0), text("]")]),
        Pattern::Spread(inner, _) => Doc::Seq(vec![operand(inner), text("[*]")]),
        Pattern::Either(all, _) => alternatives(all),
        Pattern::If(condition, yes, no, _) => Doc::Seq(vec![
            text("if "),
            expr(condition, 0),
            text(" then "),
            pattern(yes),
            text(" else "),
            pattern(no),
        ]),
        Pattern::Case(subject, clauses, _) => {
            Doc::Seq(vec![text("case "), var(subject), text(" { "), alternatives(clauses), text(" }")])
        }
    }
}

/// What may stand before `[` or beside `|`.
fn operand(p: &Pattern) -> Doc {
    match p {
        Pattern::Either(..) | Pattern::If(..) => Doc::Brackets("(", vec![pattern(p)], ")"),
        _ => pattern(p),
    }
}

fn alternatives(all: &[Pattern]) -> Doc {
    let last = all.len().saturating_sub(1);
    Doc::Chain(
        all.iter().enumerate().map(|(k, p)| (operand(p), if k < last { " | " } else { "" }.into())).collect(),
    )
}

fn call(c: &Call) -> Doc {
    let mut parts = vec![
        text(format!("{}{}", if c.either { "either " } else { "" }, operator(&c.operator))),
        Doc::Brackets("(", c.arguments.iter().map(pattern).collect(), ")"),
    ];
    if !c.attributes.is_empty() {
        let item = |a: &AttributeItem| match a {
            AttributeItem::Is(name, value) => {
                Doc::Seq(vec![text(format!("{}: ", name.text)), expr(value, 0)])
            }
            AttributeItem::Like(v) => Doc::Seq(vec![text(".."), var(v)]),
        };
        parts.push(text(" "));
        parts.push(Doc::Brackets("{", c.attributes.iter().map(item).collect(), "}"));
    }
    Doc::Seq(parts)
}

// ---- expressions
// ------------------------------------------------------------------------------------------------

/// The precedence of `not`, and of what binds tighter than every binary operator.
const NOT: u8 = 3;
const UNARY: u8 = 8;
const POSTFIX: u8 = 9;

fn bracketed(doc: Doc, needed: bool) -> Doc {
    if needed { Doc::Brackets("(", vec![doc], ")") } else { doc }
}

/// `least`: brackets stand around what binds less tightly.
fn expr(e: &Expr, least: u8) -> Doc {
    match &e.kind {
        ExprKind::Int(n) => text(n.to_string()),
        ExprKind::Float(x) => text(float(*x)),
        ExprKind::Str(s) => text(quoted(s)),
        ExprKind::Bool(b) => text(b.to_string()),
        ExprKind::None => text("none"),
        ExprKind::Type(t) => text(t.text()),
        ExprKind::Name(n) => text(n),
        ExprKind::Field(inner, name) => Doc::Seq(vec![selected(inner), text(format!(".{}", name.text))]),
        ExprKind::Item(inner, index) => Doc::Seq(vec![selected(inner), text("["), expr(index, 0), text("]")]),
        ExprKind::Slice(inner, low, high) => {
            let side = |e: &Option<Box<Expr>>| e.as_ref().map_or(text(""), |e| expr(e, 0));
            Doc::Seq(vec![selected(inner), text("["), side(low), text(".."), side(high), text("]")])
        }
        ExprKind::Tuple(items) => Doc::Brackets("[", items.iter().map(|e| expr(e, 0)).collect(), "]"),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            // A number behind the sign would be read as one negative number.
            let number = matches!(inner.kind, ExprKind::Int(_) | ExprKind::Float(_)) || leading_number(inner);
            let inner = bracketed(expr(inner, if number { 0 } else { UNARY }), number);
            bracketed(Doc::Seq(vec![text("-"), inner]), least > UNARY)
        }
        ExprKind::Unary(UnaryOp::Not, inner) => {
            bracketed(Doc::Seq(vec![text("not "), expr(inner, NOT)]), least > NOT)
        }
        ExprKind::Binary(..) => binary(e, least),
        ExprKind::If(condition, yes, no) => {
            let doc = Doc::Seq(vec![
                text("if "),
                expr(condition, 0),
                text(" then "),
                expr(yes, 0),
                text(" else "),
                expr(no, 0),
            ]);
            bracketed(doc, least > 0)
        }
        ExprKind::Call(function, arguments) => {
            let arguments = arguments.iter().map(|e| expr(e, 0)).collect();
            Doc::Seq(vec![text(function.text()), Doc::Brackets("(", arguments, ")")])
        }
        ExprKind::Map(each) => Doc::Brackets("[", vec![each_doc(each)], "]"),
        ExprKind::Fold(fold, each) => {
            Doc::Seq(vec![text(fold.text()), Doc::Brackets("(", vec![each_doc(each)], ")")])
        }
        ExprKind::Is(inner, kind) => {
            let level = 4;
            bracketed(
                Doc::Seq(vec![expr(inner, level + 1), text(format!(" is {}", kind.text()))]),
                least > level,
            )
        }
    }
}

/// Whether the text begins with a digit: `-1.shape` can't arise, `-(1[0])` can.
fn leading_number(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Field(inner, _) | ExprKind::Item(inner, _) | ExprKind::Slice(inner, ..) => {
            leading_number(inner)
        }
        _ => false,
    }
}

fn binary(e: &Expr, least: u8) -> Doc {
    let ExprKind::Binary(op, left, right) = &e.kind else { return expr(e, least) };
    let level = op.precedence();
    // Comparisons don't chain, so a comparison on their left needs brackets too.
    let left_level = if level == 4 { level + 1 } else { level };
    let mut parts = Vec::new();
    match &left.kind {
        ExprKind::Binary(inner, ..) if inner.precedence() == level && level != 4 => {
            let Doc::Chain(inner) = binary(left, level) else { return text("") };
            parts = inner;
        }
        _ => parts.push((expr(left, left_level), String::new())),
    }
    if let Some(last) = parts.last_mut() {
        last.1 = format!(" {} ", op.text());
    }
    parts.push((expr(right, level + 1), String::new()));
    bracketed(Doc::Chain(parts), level < least)
}

/// What may stand before `.` or `[`.
fn selected(e: &Expr) -> Doc {
    let negative = match e.kind {
        ExprKind::Int(n) => n < 0,
        ExprKind::Float(x) => x.is_sign_negative(),
        _ => false,
    };
    // `1.shape` would be read as a number.
    bracketed(expr(e, POSTFIX), negative || matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_)))
}

fn each_doc(each: &Each) -> Doc {
    let mut parts = vec![expr(&each.body, 0), text(format!(" for {}", each.symbol.text))];
    if let Some(over) = &each.over {
        parts.push(text(" in "));
        parts.push(expr(over, 0));
    }
    if let Some(filter) = &each.filter {
        parts.push(text(" if "));
        parts.push(expr(filter, 0));
    }
    Doc::Seq(parts)
}

fn float(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else if x.is_infinite() {
        if x > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        format!("{x:?}")
    }
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
