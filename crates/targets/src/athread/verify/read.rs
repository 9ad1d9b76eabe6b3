//! Reads the functions of a slave file back from their text. It understands the part of C in which
//! slave files are written.

/// An expression. Types of casts are left out.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Term {
    /// A whole number.
    Int(i64),
    /// A number with a fraction, or a string.
    Literal,
    /// A name.
    Name(String),
    /// `op a`, also `a++`.
    Unary(String, Box<Term>),
    /// `a op b`, also assignments.
    Binary(String, Box<Term>, Box<Term>),
    /// `a ? b : c`
    Ternary(Box<Term>, Box<Term>, Box<Term>),
    /// `f(…)`
    Call(String, Vec<Term>),
    /// `a[b]`
    Index(Box<Term>, Box<Term>),
    /// `a.b`
    Member(Box<Term>),
}

impl Term {
    /// Whether a name is part of it.
    pub fn mentions(&self, wanted: &str) -> bool {
        match self {
            Term::Name(name) => name == wanted,
            Term::Int(_) | Term::Literal => false,
            Term::Unary(_, a) | Term::Member(a) => a.mentions(wanted),
            Term::Binary(_, a, b) | Term::Index(a, b) => a.mentions(wanted) || b.mentions(wanted),
            Term::Ternary(a, b, c) => [a, b, c].iter().any(|t| t.mentions(wanted)),
            Term::Call(_, arguments) => arguments.iter().any(|t| t.mentions(wanted)),
        }
    }
}

/// The value of an array is this function of its length.
pub(super) const ARRAY: &str = "[]";

/// A definition of a function as text.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub name: String,
    parameters: Vec<String>,
    body: Term,
}

impl Macro {
    /// What it is of some values, if there are as many as it has names for.
    pub fn of(&self, arguments: &[Term]) -> Option<Term> {
        (arguments.len() == self.parameters.len()).then(|| self.put(&self.body, arguments))
    }

    fn put(&self, term: &Term, arguments: &[Term]) -> Term {
        let put = |t: &Term| Box::new(self.put(t, arguments));
        let all = |terms: &[Term]| terms.iter().map(|t| self.put(t, arguments)).collect();
        match term {
            Term::Name(name) => match self.parameters.iter().position(|own| own == name) {
                Some(k) => arguments[k].clone(),
                None => term.clone(),
            },
            Term::Int(_) | Term::Literal => term.clone(),
            Term::Unary(op, a) => Term::Unary(op.clone(), put(a)),
            Term::Binary(op, a, b) => Term::Binary(op.clone(), put(a), put(b)),
            Term::Ternary(a, b, c) => Term::Ternary(put(a), put(b), put(c)),
            Term::Call(function, own) => Term::Call(function.clone(), all(own)),
            Term::Index(a, b) => Term::Index(put(a), put(b)),
            Term::Member(a) => Term::Member(put(a)),
        }
    }
}

/// The definition of a name in a slave file, if it is one of a function, in a line.
pub(super) fn definition(text: &str, name: &str) -> Option<Macro> {
    let (_, rest) = text.split_once(&format!("\n#define {name}("))?;
    let (parameters, body) = rest.lines().next()?.split_once(')')?;
    let mut reader = Reader { tokens: tokens(body).ok()?, at: 0, depth: 0 };
    let body = reader.expression(0).ok()?;
    let parameters = parameters.split(',').map(|p| p.trim().to_owned()).collect();
    (reader.at == reader.tokens.len()).then(|| Macro { name: name.to_owned(), parameters, body })
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Node {
    /// `{ … }`
    Block(Vec<Node>),
    /// `if (…) … else …`
    If(Term, Box<Node>, Option<Box<Node>>),
    /// `for (…; …; …) …`
    For { init: Vec<Node>, cond: Option<Term>, step: Vec<Term>, body: Box<Node> },
    /// `while (…) …`
    While(Term, Box<Node>),
    /// A declared name, its type, and its value.
    Declare { name: String, ty: String, value: Option<Term> },
    /// An expression as a statement.
    Do(Term),
}

/// A kernel: its name and body.
pub(super) struct Kernel {
    pub name: String,
    pub body: Node,
}

/// The kernels of a slave file, or what cannot be read.
pub(super) fn kernels(text: &str) -> Result<Vec<Kernel>, String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("\nvoid ") {
        let rest = &text[at + 6..];
        let Some(open) = rest.find('(') else { continue };
        let name = rest[..open].to_owned();
        let Some(body) = rest.find("*lozenge_given)") else { continue };
        let end = rest.find("\n}\n").ok_or("a function without an end")?;
        let body = rest.get(body + "*lozenge_given)".len()..end + 2).ok_or("a function without a body")?;
        let mut reader = Reader { tokens: tokens(body)?, at: 0, depth: 0 };
        found.push(Kernel { name, body: reader.statement()? });
    }
    Ok(found)
}

/// Splits text into names, numbers, strings and operators; comments are left out.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    const OPERATORS: [&str; 17] = [
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=",
    ];
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
            continue;
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or("a comment without an end")?;
            rest = &rest[end + 2..];
            continue;
        } else if c.is_ascii_alphabetic() || c == '_' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if c.is_ascii_digit() {
            let mut before = ' ';
            rest.find(|c: char| {
                let exponent = matches!(before, 'e' | 'E') && matches!(c, '+' | '-');
                before = c;
                !(c.is_ascii_alphanumeric() || c == '.' || exponent)
            })
            .unwrap_or(rest.len())
        } else if c == '"' {
            rest[1..].find('"').ok_or("a string without an end")? + 2
        } else if OPERATORS.iter().any(|o| rest.starts_with(o)) {
            2
        } else if c.is_ascii() {
            1
        } else {
            return Err(format!("`{c}` is not expected"));
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    Ok(tokens)
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    depth: usize,
}

const TYPES: [&str; 13] = [
    "double", "float", "int", "long", "char", "void", "_Bool", "unsigned", "doublev4", "floatv4", "const",
    "volatile", "struct",
];

/// Binary operators with their strength; assignments bind least.
fn strength(op: &str) -> Option<u8> {
    Some(match op {
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=" => 1,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => 9,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        _ => return None,
    })
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn peek_at(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn eat(&mut self, token: &str) -> bool {
        let there = self.peek() == token;
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{}` stands where `{token}` should", self.peek())) }
    }

    /// Deeper nesting than any slave file has is refused.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Reader) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > 2000 {
            return Err("nested too deeply".to_owned());
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A statement; several declarations at once become a block without braces, which its block
    /// takes apart.
    fn statement(&mut self) -> Result<Node, String> {
        let mut all = Vec::new();
        self.deeper(|reader| reader.statements(&mut all))?;
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Block(all) })
    }

    /// What one statement is, into a block.
    fn statements(&mut self, out: &mut Vec<Node>) -> Result<(), String> {
        match self.peek() {
            "{" => {
                self.at += 1;
                let mut body = Vec::new();
                while !self.eat("}") {
                    if self.at >= self.tokens.len() {
                        return Err("a block without an end".to_owned());
                    }
                    self.deeper(|reader| reader.statements(&mut body))?;
                }
                out.push(Node::Block(body));
            }
            "if" => {
                self.at += 1;
                self.expect("(")?;
                let cond = self.expression(0)?;
                self.expect(")")?;
                let then = self.statement()?;
                let otherwise = if self.eat("else") { Some(Box::new(self.statement()?)) } else { None };
                out.push(Node::If(cond, Box::new(then), otherwise));
            }
            "while" => {
                self.at += 1;
                self.expect("(")?;
                let cond = self.expression(0)?;
                self.expect(")")?;
                out.push(Node::While(cond, Box::new(self.statement()?)));
            }
            "for" => {
                self.at += 1;
                self.expect("(")?;
                let mut init = Vec::new();
                self.simple(&mut init)?;
                let cond = if self.peek() == ";" { None } else { Some(self.expression(0)?) };
                self.expect(";")?;
                let mut step = Vec::new();
                while self.peek() != ")" {
                    step.push(self.expression(0)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                out.push(Node::For { init, cond, step, body: Box::new(self.statement()?) });
            }
            _ => self.simple(out)?,
        }
        Ok(())
    }

    /// A declaration or an expression, and its semicolon.
    fn simple(&mut self, out: &mut Vec<Node>) -> Result<(), String> {
        if self.eat(";") {
            return Ok(());
        }
        if !TYPES.contains(&self.peek()) {
            // The comma operator joins what is done together.
            loop {
                out.push(Node::Do(self.expression(0)?));
                if !self.eat(",") {
                    break;
                }
            }
            return self.expect(";");
        }
        let mut ty = String::new();
        while TYPES.contains(&self.peek()) {
            ty = self.next();
            if ty == "struct" {
                self.at += 1;
            }
        }
        loop {
            while self.eat("*") || self.eat("const") {}
            let name = self.next();
            let mut value = if self.eat("=") { Some(self.expression(2)?) } else { None };
            if value.is_none() && self.eat("[") {
                value = Some(Term::Call(ARRAY.to_owned(), vec![self.expression(0)?]));
                self.expect("]")?;
            }
            out.push(Node::Declare { name, ty: ty.clone(), value });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    fn expression(&mut self, least: u8) -> Result<Term, String> {
        self.deeper(|reader| reader.expression_here(least))
    }

    fn expression_here(&mut self, least: u8) -> Result<Term, String> {
        let mut left = self.prefix()?;
        loop {
            let op = self.peek().to_owned();
            if op == "?" && least <= 2 {
                self.at += 1;
                let yes = self.expression(2)?;
                self.expect(":")?;
                let no = self.expression(2)?;
                left = Term::Ternary(Box::new(left), Box::new(yes), Box::new(no));
                continue;
            }
            let Some(own) = strength(&op).filter(|own| *own >= least) else { return Ok(left) };
            self.at += 1;
            let right = self.expression(if own == 1 { own } else { own + 1 })?;
            left = Term::Binary(op, Box::new(left), Box::new(right));
        }
    }

    fn prefix(&mut self) -> Result<Term, String> {
        let op = self.peek().to_owned();
        match op.as_str() {
            "&" | "*" | "-" | "!" | "+" | "++" | "--" => {
                self.at += 1;
                let inner = self.deeper(Reader::prefix)?;
                Ok(Term::Unary(op, Box::new(inner)))
            }
            "sizeof" => {
                self.at += 1;
                self.deeper(Reader::prefix)?;
                Ok(Term::Literal)
            }
            "(" if TYPES.contains(&self.peek_at(1)) => {
                self.at += 1;
                while TYPES.contains(&self.peek()) || self.peek() == "*" {
                    self.at += 1;
                }
                self.expect(")")?;
                self.deeper(Reader::prefix)
            }
            _ => self.postfix(),
        }
    }

    fn postfix(&mut self) -> Result<Term, String> {
        let token = self.next();
        let first = token.chars().next().unwrap_or(' ');
        let mut term = if token == "(" {
            let inner = self.expression(0)?;
            self.expect(")")?;
            inner
        } else if first.is_ascii_digit() {
            token.parse().map_or(Term::Literal, Term::Int)
        } else if first == '"' {
            Term::Literal
        } else if first.is_ascii_alphabetic() || first == '_' {
            if self.eat("(") {
                let mut arguments = Vec::new();
                while self.peek() != ")" {
                    arguments.push(self.expression(2)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                Term::Call(token, arguments)
            } else {
                Term::Name(token)
            }
        } else {
            return Err(format!("`{token}` stands where a value should"));
        };
        loop {
            if self.eat("[") {
                let index = self.expression(0)?;
                self.expect("]")?;
                term = Term::Index(Box::new(term), Box::new(index));
            } else if self.eat(".") {
                self.at += 1;
                term = Term::Member(Box::new(term));
            } else if self.peek() == "++" || self.peek() == "--" {
                let op = self.next();
                term = Term::Unary(op, Box::new(term));
            } else {
                return Ok(term);
            }
        }
    }
}

/// A function before the kernels that computes a number: its parameters, values with names, and the
/// result.
pub(super) struct Pure {
    pub parameters: Vec<String>,
    pub values: Vec<(String, Term)>,
    pub result: Term,
}

/// A function before the kernels that computes a number, by its name.
pub(super) fn pure_function(text: &str, name: &str) -> Option<Pure> {
    let (_, rest) = text.split_once(&format!("\nstatic inline long {name}("))?;
    let (parameters, rest) = rest.split_once(")\n{")?;
    let (body, _) = rest.split_once("\n}\n")?;
    let parameter = |p: &str| p.trim().strip_prefix("long ").map(str::to_owned);
    let parameters = parameters.split(',').map(parameter).collect::<Option<Vec<String>>>()?;
    let mut values = Vec::new();
    let (before, result) = body.split_once("return ")?;
    let mut reader = Reader { tokens: tokens(&format!("{{{before}}}")).ok()?, at: 0, depth: 0 };
    let Node::Block(before) = reader.statement().ok()? else { return None };
    for node in before {
        let Node::Declare { name, ty, value: Some(value) } = node else { return None };
        if ty != "long" {
            return None;
        }
        values.push((name, value));
    }
    let mut reader = Reader { tokens: tokens(result).ok()?, at: 0, depth: 0 };
    let result = reader.expression(0).ok()?;
    (reader.at + 1 == reader.tokens.len()).then_some(Pure { parameters, values, result })
}
