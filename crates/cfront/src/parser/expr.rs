//! Expressions: precedence climbing, and constants with the types that C gives them.

use arith::number::{trunc_div, trunc_rem};

use super::{MAX_HEIGHT, ParseError, Parsed, Parser};
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType, QType};
use crate::lexer::Tok;
use crate::namespaces::BY_USING;
use crate::scope::Symbol;

/// What `(struct v){x, y}` is called where it has no place.
pub(super) const LITERAL: &str = "a compound literal";

/// What `assert` of the C library stands for.
pub(crate) const ASSERTION: &str = "an `assert`";

const LONG_DOUBLE: &str = "a constant of type `long double`";

impl Parser<'_> {
    /// An expression with commas.
    pub fn expression(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        let left = self.assignment()?;
        if !self.is(",") {
            return Ok(left);
        }
        let mut list = vec![left];
        while self.accept(",") {
            list.push(self.assignment()?);
        }
        let height = list.iter().map(|e| e.height).max().unwrap_or(0);
        self.node(ExprKind::Comma(list), self.since(first), height)
    }

    /// An expression without commas outside of parentheses.
    pub fn assignment(&mut self) -> Parsed<Expr> {
        self.deeper(|p| p.assignment_inner())
    }

    fn assignment_inner(&mut self) -> Parsed<Expr> {
        let left = self.conditional()?;
        let Tok::Punct(text) = self.tok() else { return Ok(left) };
        let op = match text {
            "=" => None,
            "+=" => Some(Binary::Add),
            "-=" => Some(Binary::Sub),
            "*=" => Some(Binary::Mul),
            "/=" => Some(Binary::Div),
            "%=" => Some(Binary::Rem),
            "&=" => Some(Binary::Bits("&")),
            "|=" => Some(Binary::Bits("|")),
            "^=" => Some(Binary::Bits("^")),
            "<<=" => Some(Binary::Bits("<<")),
            ">>=" => Some(Binary::Bits(">>")),
            _ => return Ok(left),
        };
        self.pos += 1;
        let right = self.assignment()?;
        let at = left.at.to(right.at);
        let height = left.height.max(right.height);
        self.node(ExprKind::Assign(op, Box::new(left), Box::new(right)), at, height)
    }

    /// A conditional expression: what an extent or an enumerator can be.
    pub fn conditional(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let then = self.deeper(|p| p.expression())?;
        self.expect(":")?;
        let otherwise = self.deeper(|p| p.conditional())?;
        let at = condition.at.to(otherwise.at);
        let height = condition.height.max(then.height).max(otherwise.height);
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        self.node(kind, at, height)
    }

    pub(super) fn node(&self, kind: ExprKind, at: At, below: u32) -> Parsed<Expr> {
        if below >= MAX_HEIGHT {
            return Err(ParseError {
                message: format!("an expression of more than {MAX_HEIGHT} operations in a row"),
                at,
                deep: true,
            });
        }
        Ok(Expr { kind, at, height: below + 1 })
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Tok::Punct(text) = self.tok() {
            let Some((level, op)) = binary_operator(text) else { break };
            if level < least {
                break;
            }
            self.pos += 1;
            let right = self.deeper(|p| p.binary(level + 1))?;
            let at = left.at.to(right.at);
            let height = left.height.max(right.height);
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), at, height)?;
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        self.deeper(|p| p.unary_inner())
    }

    fn unary_inner(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        if let Tok::Punct(text) = self.tok() {
            let op = match text {
                "+" => Some(Unary::Plus),
                "-" => Some(Unary::Minus),
                "!" => Some(Unary::Not),
                "~" => Some(Unary::Complement),
                "*" => Some(Unary::Deref),
                _ => None,
            };
            if let Some(op) = op {
                self.pos += 1;
                let operand = self.unary()?;
                let (at, height) = (self.since(first), operand.height);
                return self.node(ExprKind::Unary(op, Box::new(operand)), at, height);
            }
            match text {
                "++" | "--" => {
                    self.pos += 1;
                    let operand = self.unary()?;
                    let (at, height) = (self.since(first), operand.height);
                    let step = if text == "++" { 1 } else { -1 };
                    return self.node(ExprKind::Step(step, Box::new(operand)), at, height);
                }
                "&" | "&&" => {
                    self.pos += 1;
                    let operand = self.unary()?;
                    let at = self.since(first);
                    return Ok(match operand.kind {
                        // The place of an element is a sum.
                        ExprKind::Index(array, index) if text == "&" => {
                            let height = array.height.max(index.height) + 1;
                            Expr { kind: ExprKind::Binary(Binary::Add, array, index), at, height }
                        }
                        _ => unsupported("the address of an object (`&`)", at),
                    });
                }
                "(" if self.starts_type(self.pos + 1) => {
                    self.pos += 1;
                    let ty = self.type_name()?;
                    self.expect(")")?;
                    if self.is("{") {
                        self.skip_group();
                        return Ok(unsupported(LITERAL, self.since(first)));
                    }
                    let operand = self.unary()?;
                    let (at, height) = (self.since(first), operand.height);
                    if let (CType::Double, Some(value)) = (&ty.ty, self.long_double(&operand)) {
                        let kind = ExprKind::Float { value, single: value as f32, ty: CType::Double };
                        return self.node(kind, at, height);
                    }
                    return self.node(ExprKind::Cast(ty, Box::new(operand)), at, height);
                }
                _ => {}
            }
        }
        match self.word() {
            "sizeof" => return self.size_of(),
            "_Alignof" | "__alignof__" => {
                self.pos += 1;
                if self.is("(") {
                    self.skip_group();
                } else {
                    self.unary()?;
                }
                return Ok(unsupported("`_Alignof`", self.since(first)));
            }
            "__extension__" => {
                self.pos += 1;
                return self.unary();
            }
            "__real__" | "__imag__" => {
                self.pos += 1;
                self.unary()?;
                return Ok(unsupported("complex arithmetic", self.since(first)));
            }
            _ => {}
        }
        let primary = self.primary()?;
        self.postfix(first, primary)
    }

    fn postfix(&mut self, first: usize, mut value: Expr) -> Parsed<Expr> {
        loop {
            let Tok::Punct(text) = self.tok() else { return Ok(value) };
            match text {
                "[" => {
                    self.pos += 1;
                    let index = self.deeper(|p| p.expression())?;
                    self.expect("]")?;
                    let height = value.height.max(index.height);
                    let at = self.since(first);
                    // `i[a]` is `a[i]`.
                    let turned = self.is_integer(&value) && !self.is_integer(&index);
                    let (base, index) = if turned { (index, value) } else { (value, index) };
                    value = self.node(ExprKind::Index(Box::new(base), Box::new(index)), at, height)?;
                }
                "(" => {
                    self.pos += 1;
                    let mut args = Vec::new();
                    let mut height = 0;
                    while !self.is(")") {
                        let arg = self.assignment()?;
                        height = height.max(arg.height);
                        args.push(arg);
                        if !self.accept(",") {
                            break;
                        }
                    }
                    self.expect(")")?;
                    let at = self.since(first);
                    value = match value.kind {
                        ExprKind::Ident(function) if self.chooses_standard(&function) => {
                            let function = format!("{BY_USING}{function}");
                            match self.standard_call(&function, &args, at) {
                                Some(value) => value?,
                                None => self.node(ExprKind::Call { function, args }, at, height)?,
                            }
                        }
                        ExprKind::Ident(function) => match self.expanded(&function, &args, at) {
                            Some(value) => value,
                            None => match self.standard_call(&function, &args, at) {
                                Some(value) => value?,
                                None => self.node(ExprKind::Call { function, args }, at, height)?,
                            },
                        },
                        _ => unsupported("a call through a pointer", at),
                    };
                }
                "." | "->" => {
                    self.pos += 1;
                    let name = self.text();
                    self.pos += 1;
                    value = self.member(value, text == "->", name, self.since(first));
                }
                "++" | "--" => {
                    self.pos += 1;
                    let step = if text == "++" { 1 } else { -1 };
                    let (at, height) = (self.since(first), value.height);
                    value = self.node(ExprKind::Step(step, Box::new(value)), at, height)?;
                }
                _ => return Ok(value),
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let first = self.pos;
        if let Some(value) = self.cpp_primary()? {
            return Ok(value);
        }
        match self.tok() {
            Tok::Ident => {
                let name = self.text();
                if let Some(kind) = self.generic_word(name) {
                    return Ok(unsupported(kind, self.since(first)));
                }
                if is_keyword(name) || self.scopes.is_typedef(name) {
                    return Err(self.expected("an expression"));
                }
                self.pos += 1;
                if let Some((_, array)) = self.arrays.iter().find(|(own, _)| own == name) {
                    return Ok(array.clone());
                }
                Ok(Expr { kind: ExprKind::Ident(name.to_string()), at: self.since(first), height: 1 })
            }
            Tok::Number => {
                let kind =
                    number(self.text()).ok_or_else(|| self.error("this constant is not understood"))?;
                self.pos += 1;
                Ok(Expr { kind, at: self.since(first), height: 1 })
            }
            Tok::Char => {
                let value = char_value(self.text());
                self.pos += 1;
                let kind = match value {
                    Some(value) => ExprKind::Int(value, IntType::Int),
                    None => ExprKind::Unsupported("a character constant with an escape"),
                };
                Ok(Expr { kind, at: self.since(first), height: 1 })
            }
            Tok::Str => {
                while self.tok() == Tok::Str {
                    self.pos += 1;
                }
                Ok(unsupported("a string", self.since(first)))
            }
            Tok::Punct("(") => {
                self.pos += 1;
                if self.is("{") {
                    self.pos -= 1;
                    self.skip_group();
                    let asserts = (first..self.pos).any(|k| self.word_at(k).starts_with("__assert"));
                    let what = if asserts { ASSERTION } else { "a statement expression (`({ … })`)" };
                    return Ok(unsupported(what, self.since(first)));
                }
                let mut inner = self.deeper(|p| p.expression())?;
                self.expect(")")?;
                inner.at = self.since(first);
                Ok(inner)
            }
            _ => Err(self.expected("an expression")),
        }
    }

    /// Operators that look like calls and are not: their name, with the parser past them.
    fn generic_word(&mut self, name: &str) -> Option<&'static str> {
        let kind = match name {
            "_Generic" => "`_Generic`",
            "__builtin_va_arg" => "`va_arg`",
            "__builtin_offsetof" => "`offsetof`",
            "__builtin_types_compatible_p" => "`__builtin_types_compatible_p`",
            "__builtin_choose_expr" => "`__builtin_choose_expr`",
            _ => return None,
        };
        self.pos += 1;
        if self.is("(") {
            self.skip_group();
        }
        Some(kind)
    }

    /// The value of an integer constant expression, where it is understood.
    pub fn constant(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Int(value, _) => i64::try_from(*value).ok(),
            ExprKind::Ident(name) => match self.scopes.lookup(name)? {
                Symbol::Constant(known) => known.map(|known| known.value),
                _ => None,
            },
            ExprKind::Unary(Unary::Minus, e) => self.constant(e)?.checked_neg(),
            ExprKind::Unary(Unary::Plus, e) => self.constant(e),
            ExprKind::Unary(Unary::Complement, e) => Some(!self.constant(e)?),
            ExprKind::Unary(Unary::Not, e) => Some(i64::from(self.constant(e)? == 0)),
            ExprKind::Cast(QType { ty: CType::Int(int), .. }, e) => {
                let value = self.constant(e)?;
                // A cast that would change the value is left alone.
                (int.bits() >= 64 || (0..1 << (int.bits() - 1)).contains(&value)).then_some(value)
            }
            ExprKind::Conditional(c, a, b) => {
                if self.constant(c)? != 0 {
                    self.constant(a)
                } else {
                    self.constant(b)
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    Binary::Div => trunc_div(a, b),
                    // C has no remainder where the quotient does not fit.
                    Binary::Rem => trunc_div(a, b).and(trunc_rem(a, b)),
                    Binary::Lt => Some(i64::from(a < b)),
                    Binary::Le => Some(i64::from(a <= b)),
                    Binary::Gt => Some(i64::from(a > b)),
                    Binary::Ge => Some(i64::from(a >= b)),
                    Binary::Eq => Some(i64::from(a == b)),
                    Binary::Ne => Some(i64::from(a != b)),
                    Binary::And => Some(i64::from(a != 0 && b != 0)),
                    Binary::Or => Some(i64::from(a != 0 || b != 0)),
                    Binary::Bits("<<") if (0..63).contains(&b) => a.checked_mul(1 << b),
                    Binary::Bits(">>") if (0..64).contains(&b) && a >= 0 => Some(a >> b),
                    Binary::Bits("&") => Some(a & b),
                    Binary::Bits("|") => Some(a | b),
                    Binary::Bits(_) => None,
                }
            }
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// The double that a constant of type `long double` becomes, as in `DBL_MAX` of gcc, which is
    /// `((double)1.797…e+308L)`. `None` where it lies so near the middle between two doubles that
    /// the extended format decides.
    fn long_double(&self, e: &Expr) -> Option<f64> {
        let ExprKind::Unsupported(LONG_DOUBLE) = e.kind else { return None };
        // The constant is in the middle of what may be parentheses around it.
        let text = self.text_at(e.at.first.midpoint(e.at.last) as usize);
        let digits = text.strip_suffix(['l', 'L'])?;
        let value = digits.parse::<f64>().ok().filter(|value| value.is_normal())?;
        let (own, exponent) = leading_digits(digits)?;
        let (exact, power) = leading_digits(&format!("{value:.24e}"))?;
        // Below half of the distance to the next double, by more than the extended format rounds.
        let apart = (value.next_up() - value).min(value - value.next_down());
        let half = exact as f64 * (apart / value) * 0.5;
        (exponent == power && (own.abs_diff(exact) as f64) < half * 0.99).then_some(value)
    }
}

/// The first 25 digits of a decimal number that is not 0, and the power of ten of the first one.
fn leading_digits(text: &str) -> Option<(u128, i64)> {
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let power = exponent.parse::<i64>().ok()?.checked_add(whole.len() as i64 - 1 - zeros as i64)?;
    let leading = digits[zeros..].chars().chain(std::iter::repeat('0')).take(25).collect::<String>();
    Some((leading.parse().ok()?, power))
}

fn unsupported(what: &'static str, at: At) -> Expr {
    Expr { kind: ExprKind::Unsupported(what), at, height: 1 }
}

fn binary_operator(text: &'static str) -> Option<(u8, Binary)> {
    Some(match text {
        "||" => (0, Binary::Or),
        "&&" => (1, Binary::And),
        "|" => (2, Binary::Bits("|")),
        "^" => (3, Binary::Bits("^")),
        "&" => (4, Binary::Bits("&")),
        "==" => (5, Binary::Eq),
        "!=" => (5, Binary::Ne),
        "<" => (6, Binary::Lt),
        ">" => (6, Binary::Gt),
        "<=" => (6, Binary::Le),
        ">=" => (6, Binary::Ge),
        "<<" => (7, Binary::Bits("<<")),
        ">>" => (7, Binary::Bits(">>")),
        "+" => (8, Binary::Add),
        "-" => (8, Binary::Sub),
        "*" => (9, Binary::Mul),
        "/" => (9, Binary::Div),
        "%" => (9, Binary::Rem),
        _ => return None,
    })
}

/// Words that are never the name of an object.
pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "auto"
            | "break"
            | "case"
            | "char"
            | "const"
            | "continue"
            | "default"
            | "do"
            | "double"
            | "else"
            | "enum"
            | "extern"
            | "float"
            | "for"
            | "goto"
            | "if"
            | "inline"
            | "int"
            | "long"
            | "register"
            | "restrict"
            | "return"
            | "short"
            | "signed"
            | "sizeof"
            | "static"
            | "struct"
            | "switch"
            | "typedef"
            | "union"
            | "unsigned"
            | "void"
            | "volatile"
            | "while"
            | "_Bool"
            | "_Complex"
            | "_Alignas"
            | "_Atomic"
            | "_Static_assert"
            | "_Noreturn"
            | "_Thread_local"
            | "asm"
            | "__asm__"
            | "__attribute__"
    )
}

/// The value and type of a constant, by the rules of C.
fn number(text: &str) -> Option<ExprKind> {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    let hex = lower.starts_with("0x");
    let is_float = lower.contains('.') || lower.contains('p') || (!hex && lower.contains('e'));
    if is_float {
        let (digits, ty) = match lower.as_bytes().last()? {
            b'f' => (&lower[..lower.len() - 1], CType::Float),
            b'l' => return Some(ExprKind::Unsupported(LONG_DOUBLE)),
            b'i' | b'j' => return Some(ExprKind::Unsupported("complex arithmetic")),
            _ => (lower.as_str(), CType::Double),
        };
        let value = if hex { hex_float(digits)? } else { digits.parse::<f64>().ok()? };
        // Rounded directly: twice rounding could differ. (Hexadecimal constants of kernels are
        // short.)
        let single = if hex { value as f32 } else { digits.parse::<f32>().ok()? };
        return Some(ExprKind::Float { value, single, ty });
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let (value, decimal) = if hex {
        (u64::from_str_radix(&digits[2..], 16).ok()?, false)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        (u64::from_str_radix(binary, 2).ok()?, false)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (u64::from_str_radix(digits, 8).ok()?, false)
    } else {
        (digits.parse().ok()?, true)
    };
    let unsigned = suffix.contains('u');
    let longs = suffix.matches('l').count();
    if longs > 2 || suffix.matches('u').count() > 1 {
        return None;
    }
    let candidates = [IntType::Int, IntType::Unsigned, IntType::Long, IntType::UnsignedLong];
    let fits = |ty: &IntType| {
        let limit = match ty {
            IntType::Int => i32::MAX as u64,
            IntType::Unsigned => u64::from(u32::MAX),
            IntType::Long => i64::MAX as u64,
            _ => u64::MAX,
        };
        value <= limit
            && (longs == 0 || ty.bits() == 64)
            && (!unsigned || ty.is_unsigned())
            && (unsigned || !decimal || !ty.is_unsigned())
    };
    let ty = candidates.into_iter().find(fits)?;
    let ty = match (longs, ty) {
        (2, IntType::Long) => IntType::LongLong,
        (2, IntType::UnsignedLong) => IntType::UnsignedLongLong,
        (_, ty) => ty,
    };
    Some(ExprKind::Int(value, ty))
}

/// A hexadecimal floating constant of at most 53 significant bits.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let value = u64::from_str_radix(&digits, 16).ok().filter(|v| *v < 1 << 53)?;
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(4 * fraction.len() as i32)?;
    (-1000..=1000).contains(&exponent).then(|| value as f64 * 2f64.powi(exponent))
}

fn char_value(text: &str) -> Option<u64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    match inner.as_bytes() {
        [byte] if byte.is_ascii() && *byte != b'\\' => Some(u64::from(*byte)),
        b"\\n" => Some(10),
        b"\\t" => Some(9),
        b"\\0" => Some(0),
        _ => None,
    }
}
