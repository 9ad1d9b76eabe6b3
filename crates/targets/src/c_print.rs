//! Prints the C syntax tree. It decides layout and parentheses, and nothing else.

use crate::c::{CExpr, CFor, CFunction, CParam, CStmt};
use crate::foreign_names::comment_text;

/// Layout of the printed C.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Layout {
    /// Spaces around operators, only the parentheses that are needed (or that compilers ask for).
    #[default]
    Readable,
    /// Every operation in parentheses and no spaces inside expressions, as in the listings of the
    /// paper.
    Paper,
}

/// Longest line, if it can be broken.
const WIDTH: usize = 100;

/// Binding strength of an infix operator.
fn strength(op: &str) -> u8 {
    match op {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<" | "<=" | ">" | ">=" => 8,
        "==" | "!=" => 7,
        "&&" => 6,
        _ => 5,
    }
}

const TERNARY: u8 = 4;
const PREFIX: u8 = 11;
const POSTFIX: u8 = 12;

/// Prints trees into a string.
#[derive(Debug)]
pub struct Printer {
    out: String,
    layout: Layout,
    level: usize,
    prefix: String,
    /// What one level of nesting adds to the left.
    unit: &'static str,
}

impl Printer {
    /// A printer with nothing printed.
    pub fn new(layout: Layout) -> Printer {
        Printer { out: String::new(), layout, level: 0, prefix: String::new(), unit: "    " }
    }

    /// A printer that begins every line with `prefix`. It indents further as the prefix suggests:
    /// by tabs, or by two or four spaces.
    pub fn indented(layout: Layout, prefix: &str) -> Printer {
        let unit = if prefix.contains('\t') {
            "\t"
        } else if prefix.len() % 4 == 2 {
            "  "
        } else {
            "    "
        };
        Printer { out: String::new(), layout, level: 0, prefix: prefix.to_owned(), unit }
    }

    /// What has been printed.
    pub fn finish(self) -> String {
        self.out
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Lines as they are, without indentation.
    pub fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        if !text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Lines as they are, if there are any.
    pub(crate) fn raw_if(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// An expression alone.
    pub fn expression(&self, e: &CExpr) -> String {
        self.text(e)
    }

    fn line(&mut self, text: &str) {
        let margin = self.prefix.len() + 4 * self.level;
        let fixed = self.layout == Layout::Paper || text.starts_with(['#', '/']) || text.contains('\n');
        let width = if fixed { usize::MAX } else { WIDTH.saturating_sub(margin).max(WIDTH / 2) };
        for (k, piece) in broken(text, width).into_iter().enumerate() {
            self.out.push_str(&self.prefix);
            for _ in 0..self.level + if k > 0 { 2 } else { 0 } {
                self.out.push_str(self.unit);
            }
            self.out.push_str(piece);
            self.out.push('\n');
        }
    }

    /// A function definition.
    pub fn function(&mut self, function: &CFunction) {
        self.comment(&function.comment);
        let mut head = format!("{} {}", function.result, function.name);
        self.params(&mut head, &function.params);
        head.push_str(" {");
        self.line(&head);
        self.level += 1;
        self.stmts(&function.body);
        self.level -= 1;
        self.line("}");
    }

    /// A function declaration without its body.
    pub fn prototype(&mut self, function: &CFunction) {
        self.comment(&function.comment);
        self.declaration(function);
    }

    fn declaration(&mut self, function: &CFunction) {
        let mut head = format!("{} {}", function.result, function.name);
        self.params(&mut head, &function.params);
        head.push(';');
        self.line(&head);
    }

    fn comment(&mut self, lines: &[String]) {
        match lines {
            [] => {}
            [one] => self.line(&format!("/* {} */", comment_text(one))),
            [first, rest @ ..] => {
                self.line(&format!("/* {}", comment_text(first)));
                for (k, text) in rest.iter().enumerate() {
                    let end = if k + 1 == rest.len() { " */" } else { "" };
                    self.line(&format!("   {}{end}", comment_text(text)));
                }
            }
        }
    }

    fn params(&mut self, head: &mut String, params: &[CParam]) {
        if params.is_empty() {
            head.push_str("(void)");
            return;
        }
        let texts: Vec<String> = params.iter().map(|p| self.declarator(&p.ty, &p.name, &p.dims)).collect();
        let joined = texts.join(", ");
        if head.len() + joined.len() + 4 <= WIDTH {
            *head = format!("{head}({joined})");
        } else {
            *head = format!("{head}(\n        {})", texts.join(",\n        "));
        }
    }

    fn declarator(&self, ty: &str, name: &str, dims: &[CExpr]) -> String {
        let space = if ty.ends_with('*') { "" } else { " " };
        let mut text = format!("{ty}{space}{name}");
        for dim in dims {
            text.push('[');
            self.expr(&mut text, dim, 0, false);
            text.push(']');
        }
        text
    }

    /// Statements, one or more lines each.
    pub fn stmts(&mut self, stmts: &[CStmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    fn body(&mut self, stmts: &[CStmt]) {
        self.level += 1;
        self.stmts(stmts);
        self.level -= 1;
    }

    fn stmt(&mut self, stmt: &CStmt) {
        match stmt {
            CStmt::Declare { ty, name, dims, init } => {
                let mut text = self.declarator(ty, name, dims);
                if let Some(init) = init {
                    text.push_str(" = ");
                    self.expr(&mut text, init, 0, self.layout == Layout::Paper);
                }
                self.line(&format!("{text};"));
            }
            CStmt::Assign(target, op, value) => {
                let mut text = self.text(target);
                match self.layout {
                    Layout::Readable => text.push_str(&format!(" {op} ")),
                    Layout::Paper => text.push_str(op),
                }
                self.expr(&mut text, value, 0, self.layout == Layout::Paper);
                self.line(&format!("{text};"));
            }
            CStmt::Expr(e) => {
                let text = self.text(e);
                self.line(&format!("{text};"));
            }
            CStmt::If(..) => self.conditional(stmt),
            CStmt::For(f) => self.loop_(f),
            CStmt::Block(comment, body) => {
                match comment {
                    Some(text) => self.line(&format!("{{ /* {} */", comment_text(text))),
                    None => self.line("{"),
                }
                self.body(body);
                self.line("}");
            }
            CStmt::Pragma(text) => self.line(&format!("#pragma {text}")),
            CStmt::Return(None) => self.line("return;"),
            CStmt::Return(Some(e)) => {
                let text = self.text(e);
                self.line(&format!("return {text};"));
            }
            CStmt::Break => self.line("break;"),
            CStmt::Continue => self.line("continue;"),
        }
    }

    /// An `if` with its chain of `else if`, without recursion along the chain.
    fn conditional(&mut self, stmt: &CStmt) {
        let (mut current, mut lead) = (stmt, "");
        while let CStmt::If(cond, then, otherwise) = current {
            let cond = self.text(cond);
            self.line(&format!("{lead}if ({cond}) {{"));
            self.body(then);
            match otherwise.as_slice() {
                [] => break,
                [next @ CStmt::If(..)] => (current, lead) = (next, "} else "),
                _ => {
                    self.line("} else {");
                    self.body(otherwise);
                    break;
                }
            }
        }
        self.line("}");
    }

    fn loop_(&mut self, f: &CFor) {
        let (lower, upper) = (self.text(&f.lower), self.operand(&f.upper, strength("<") + 1));
        let step = match self.layout {
            Layout::Readable if f.step.is_one() => format!("{}++", f.var),
            _ => format!("{} += {}", f.var, self.text(&f.step)),
        };
        let CFor { ty, var, .. } = f;
        self.line(&format!("for ({ty} {var} = {lower}; {var} < {upper}; {step}) {{"));
        self.body(&f.body);
        self.line("}");
    }

    fn text(&self, e: &CExpr) -> String {
        self.operand(e, 0)
    }

    fn operand(&self, e: &CExpr, least: u8) -> String {
        let mut text = String::new();
        self.expr(&mut text, e, least, false);
        text
    }

    /// Prints `e` where an operator of strength `least` or more is expected; with `full`, every
    /// operation gets parentheses.
    fn expr(&self, out: &mut String, e: &CExpr, least: u8, full: bool) {
        let own = match e {
            CExpr::Binary(op, ..) => strength(op),
            CExpr::Ternary(..) => TERNARY,
            CExpr::Unary(..) | CExpr::Cast(..) => PREFIX,
            _ => POSTFIX,
        };
        let infix = matches!(e, CExpr::Binary(..) | CExpr::Ternary(..));
        let parens = own < least || (full && infix);
        if parens {
            out.push('(');
        }
        match e {
            CExpr::Name(text) | CExpr::Literal(text) => out.push_str(text),
            CExpr::Index(array, index) => {
                self.expr(out, array, POSTFIX, full);
                out.push('[');
                self.expr(out, index, 0, false);
                out.push(']');
            }
            CExpr::Member(value, member) if matches!(&**value, CExpr::Unary("*", _)) => {
                let CExpr::Unary(_, pointer) = &**value else { unreachable!("just matched") };
                self.expr(out, pointer, POSTFIX, full);
                out.push_str("->");
                out.push_str(member);
            }
            CExpr::Member(value, member) => {
                self.expr(out, value, POSTFIX, full);
                out.push('.');
                out.push_str(member);
            }
            CExpr::Unary(op, operand) => {
                out.push_str(op);
                // `- -x` would read as a decrement
                let twice = matches!(&**operand, CExpr::Unary(inner, _) if inner == op);
                self.expr(out, operand, if twice { POSTFIX } else { PREFIX }, full);
            }
            CExpr::Binary(op, left, right) => {
                let (l, r) = operand_strengths(op, left, right);
                self.expr(out, left, l, full);
                // without spaces, `a--1` would read as a decrement
                let tight = self.layout == Layout::Paper && !matches!(&**right, CExpr::Unary("-" | "*", _));
                if tight {
                    out.push_str(op);
                } else {
                    out.push(' ');
                    out.push_str(op);
                    out.push(' ');
                }
                self.expr(out, right, r, full);
            }
            CExpr::Ternary(cond, then, otherwise) => {
                self.expr(out, cond, TERNARY + 1, full);
                out.push_str(" ? ");
                self.expr(out, then, TERNARY + 1, full);
                out.push_str(" : ");
                self.expr(out, otherwise, TERNARY, full);
            }
            CExpr::Call(function, arguments) => {
                out.push_str(function);
                out.push('(');
                for (k, argument) in arguments.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    self.expr(out, argument, 0, full);
                }
                out.push(')');
            }
            CExpr::Cast(ty, operand) => {
                out.push('(');
                out.push_str(ty);
                out.push(')');
                self.expr(out, operand, PREFIX, full);
            }
        }
        if parens {
            out.push(')');
        }
    }
}

/// The precedence that the operands of an infix operator must have. Operators are left-associative.
/// Comparisons and mixed logical operators get the parentheses that compilers ask for.
fn operand_strengths(op: &str, left: &CExpr, right: &CExpr) -> (u8, u8) {
    let own = strength(op);
    let logical = |e: &CExpr| matches!(e, CExpr::Binary("&&" | "||", ..));
    let same = |e: &CExpr| matches!(e, CExpr::Binary(inner, ..) if *inner == op);
    match op {
        "&&" | "||" => {
            let side = |e: &CExpr| {
                if logical(e) && !same(e) { PREFIX } else { own }
            };
            (side(left), if same(right) { own + 1 } else { side(right) })
        }
        "<" | "<=" | ">" | ">=" | "==" | "!=" => (strength("+"), strength("+")),
        "&" | "|" | "^" | "<<" | ">>" => (PREFIX, PREFIX),
        _ => (own, own + 1),
    }
}

/// The text in pieces of at most `width` characters where that is possible; a continuation has 8
/// characters less.
///
/// Breaks come after `,` and `;`, before infix operators, or after `=`: as far outside of
/// parentheses, and then as far right, as possible.
fn broken(text: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut rest, mut room) = (text, width);
    while rest.len() > room {
        let Some(end) = break_point(rest, room) else { break };
        pieces.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
        room = width.saturating_sub(8);
    }
    pieces.push(rest);
    pieces
}

fn break_point(text: &str, room: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut best: Option<(usize, usize)> = None;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' => {
                let (before, after) = (&text[..at], &text[at + 1..]);
                let operator = after.split(' ').next().is_some_and(is_operator);
                let assignment = before.ends_with('=') && !before.ends_with("==");
                // between arguments rather than inside one, inside a value rather than before it
                let rank = match (operator, assignment) {
                    (false, false) => 3 * depth,
                    (true, _) => 3 * depth + 1,
                    (false, true) => 3 * depth + 2,
                };
                let breakable = operator || assignment || before.ends_with([',', ';']);
                // something has to stay on both lines
                let useful = at > 8 && after.len() > 1;
                if breakable && useful {
                    if at > room {
                        return best.map(|(_, at)| at).or(Some(at));
                    }
                    if best.is_none_or(|(r, _)| rank <= r) {
                        best = Some((rank, at));
                    }
                }
            }
            _ => {}
        }
    }
    best.map(|(_, at)| at)
}

fn is_operator(word: &str) -> bool {
    ["+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "?", ":", "<", "<=", ">", ">=", "==", "!="]
        .contains(&word)
}
