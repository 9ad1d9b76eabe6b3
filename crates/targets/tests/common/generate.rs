//! Random loop programs that are valid and have no races: text in the form of the hub.
//!
//! Subscripts are taken modulo the extent; iterations of parallel and vector loops write elements
//! of their own, and locals that are declared inside. Local arrays of all sorts of extents are
//! filled as soon as they are declared.

use super::differential::Random;

struct Generator {
    random: Random,
    text: String,
    level: usize,
    /// Loop variables in scope.
    vars: Vec<String>,
    /// Local arrays in scope that may be written: name, extent, whether of integers.
    locals: Vec<(String, String, bool)>,
    /// Variable of the innermost parallel or vector loop and the array that it owns elements of.
    owner: Option<String>,
    count: usize,
    /// Whether there is an array of pairs.
    pairs: bool,
}

/// One function, named by its seed; with an array of pairs or without.
pub fn function(seed: u64, pairs: bool) -> String {
    let pair = if pairs { "w: inout (f32, i32)[n], " } else { "" };
    let mut g = Generator {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        text: format!(
            "fn random{seed}[n, m](a: in f64[n][m], k: in i32[m], y: inout f64[n], z: inout i64[n], {pair}total: inout i64) \
             where n >= 1, m >= 1 {{\n"
        ),
        level: 1,
        vars: Vec::new(),
        locals: Vec::new(),
        owner: None,
        count: 0,
        pairs,
    };
    for _ in 0..10 {
        g.random.next();
    }
    g.body(4);
    g.text.push_str("}\n");
    g.text
}

impl Generator {
    fn below(&mut self, bound: u64) -> u64 {
        (self.random.next() >> 7) % bound
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.level));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.count += 1;
        // some names repeat in places of their own
        if self.below(4) == 0 {
            format!("{prefix}_{}", self.count)
        } else {
            format!("{prefix}{}", self.level)
        }
    }

    fn body(&mut self, statements: u64) {
        let (vars, locals) = (self.vars.len(), self.locals.len());
        for _ in 0..1 + self.below(statements) {
            self.statement();
        }
        self.vars.truncate(vars);
        self.locals.truncate(locals);
    }

    fn nested(&mut self) {
        self.level += 1;
        self.body(3);
        self.level -= 1;
    }

    fn statement(&mut self) {
        let deep = self.level > 4;
        match self.below(if deep { 4 } else { 9 }) {
            0..3 => self.assign(),
            3 => self.local(),
            4 => {
                let cond = self.cond();
                self.line(&format!("if {cond} {{"));
                self.nested();
                if self.below(2) == 0 {
                    self.line("} else {");
                    self.nested();
                }
                self.line("}");
            }
            5 => {
                self.line("{");
                self.nested();
                self.line("}");
            }
            6 if self.owner.is_none() => self.owning_loop(),
            7 if self.owner.is_none() => self.reduction(),
            _ => self.plain_loop(),
        }
    }

    fn plain_loop(&mut self) {
        let var = self.fresh("i");
        let low = if self.below(3) == 0 { self.index(1) } else { "0".to_owned() };
        let high = match self.below(5) {
            0 => "3".to_owned(),
            1 => "m".to_owned(),
            2 => format!("min(4, {})", self.index(1)),
            _ => format!("({}) mod 5", self.index(1)),
        };
        let kind = ["for", "for", "unroll(2)", "unroll"][self.below(4) as usize];
        let step = ["", "", " step 2", " step 3"][self.below(4) as usize];
        // a low start and a small end: few iterations
        self.line(&format!("{kind} {var} in max(-3, min(2, {low}))..{high}{step} {{"));
        self.vars.push(var);
        self.nested();
        self.vars.pop();
        self.line("}");
    }

    /// A parallel or vector loop over the elements of `y`, `z` and `w`.
    fn owning_loop(&mut self) {
        let var = self.fresh("p");
        let kind = ["par", "par", "vec"][self.below(3) as usize];
        let step = ["", "", " step 2"][self.below(3) as usize];
        self.line(&format!("{kind} {var} in 0..n{step} {{"));
        self.vars.push(var.clone());
        // what is outside is not to be written inside
        let outside = std::mem::take(&mut self.locals);
        self.owner = Some(var);
        self.nested();
        self.owner = None;
        self.locals = outside;
        self.vars.pop();
        self.line("}");
    }

    fn reduction(&mut self) {
        let (sum, var) = (self.fresh("sum"), self.fresh("r"));
        let (a, b) = (self.index(1), self.index(1));
        let op = ["+", "max", "min"][self.below(3) as usize];
        let sign = if op == "+" { "+=".to_owned() } else { format!("{op}=") };
        let kind = ["par", "par", "vec"][self.below(3) as usize];
        self.line(&format!("local {sum}: i64[3]"));
        self.line(&format!("for {var} in 0..3 {{ {sum}[{var}] = {var} }}"));
        self.line(&format!("{kind} {var} in 0..n reduce({op}: total, {op}: {sum}) {{"));
        self.line(&format!("  total reduce {sign} ({a} + {var}) mod 100"));
        self.line(&format!("  {sum}[({var}) mod 3] reduce {sign} ({b}) mod 50 + {var}"));
        self.line("}");
        self.line(&format!("z[{sum}[0] mod n] = {sum}[1]"));
    }

    fn local(&mut self) {
        let name = self.fresh("t");
        let extent = match self.below(6) {
            0 => "5".to_owned(),
            1 => "n * m + 1".to_owned(),
            2 => format!("({}) mod 7 + 1", self.index(1)),
            3 => "4000".to_owned(),
            _ => "m + 2".to_owned(),
        };
        let int = self.below(2) == 0;
        let storage = ["", " heap"][self.below(2) as usize];
        self.line(&format!("local {name}: {}[{extent}]{storage}", if int { "i64" } else { "f64" }));
        let value = if int { self.int(1) } else { self.float(1) };
        let var = self.fresh("f");
        self.line(&format!("for {var} in 0..{extent} {{ {name}[{var}] = {value} }}"));
        self.locals.retain(|(old, ..)| *old != name);
        self.locals.push((name, extent, int));
    }

    fn assign(&mut self) {
        let op = ["=", "=", "+=", "*=", "min=", "max="][self.below(6) as usize];
        let place = match &self.owner {
            Some(var) => var.clone(),
            None => format!("({}) mod n", self.index(1)),
        };
        let pick = self.below(5);
        if pick == 4 && !self.locals.is_empty() {
            let k = self.below(self.locals.len() as u64) as usize;
            let (name, extent, int) = self.locals[k].clone();
            let at = self.index(1);
            let value = if int { format!("({}) mod 1000", self.int(2)) } else { self.float(2) };
            let op = if op == "*=" { "=" } else { op };
            self.line(&format!("{name}[({at}) mod ({extent})] {op} {value}"));
            return;
        }
        match pick {
            0 | 4 => {
                let value = self.float(3);
                self.line(&format!("y[{place}] {op} {value}"));
            }
            1 => {
                let value = self.int(3);
                let op = if op == "*=" { "+=" } else { op };
                self.line(&format!("z[{place}] {op} ({value}) mod 1000"));
            }
            2 if self.pairs => {
                let value = self.float(2);
                self.line(&format!("w[{place}].x1 {op} f32({value})"));
            }
            _ if !self.pairs => {
                let value = self.float(2);
                self.line(&format!("y[{place}] {op} f64(f32({value}))"));
            }
            _ => {
                let value = self.int(2);
                self.line(&format!("w[{place}].x2 {op} i32(({value}) mod 2000) * k[({place}) mod m]"));
            }
        }
    }

    /// An index expression without reads.
    fn index(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            let choices = 3 + self.vars.len() as u64;
            return match self.below(choices) {
                0 => "n".to_owned(),
                1 => "m".to_owned(),
                2 => (self.below(9) as i64 - 4).to_string(),
                k => self.vars[k as usize - 3].clone(),
            };
        }
        let (a, b) = (self.index(depth - 1), self.index(depth - 1));
        match self.below(8) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - ({b}))"),
            3 => format!("({a}) floordiv {}", [3, -2, 8][self.below(3) as usize]),
            4 => format!("({a}) mod {}", [3, 5, 8][self.below(3) as usize]),
            5 => format!("({a}) % 4 + ({b}) / 3"),
            6 => format!("min({a}, {b})"),
            _ => format!("max({a}, abs({b}))"),
        }
    }

    fn int(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            let owner = self.owner.clone();
            return match (&owner, self.below(3)) {
                (None, 0) => format!("z[({}) mod n]", self.index(1)),
                (Some(var), 0) => format!("z[{var}]"),
                (None, 1) if self.pairs => format!("i64(w[({}) mod n].x2) mod 99", self.index(1)),
                _ => self.index(2),
            };
        }
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        match self.below(5) {
            0 => format!("({a} + {b})"),
            1 => format!("select({}, {a}, {b})", self.cond()),
            2 => format!("({a}) mod 7 * ({b})"),
            3 => format!("i64(k[({}) mod m]) mod 17", self.index(1)),
            _ => format!("({a} - ({b}))"),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            let (i, j) = (self.index(1), self.index(1));
            let owner = self.owner.clone();
            return match (&owner, self.below(4)) {
                (None, 0) => format!("y[({i}) mod n]"),
                (Some(var), 0) => format!("y[{var}]"),
                (None, 1) if self.pairs => format!("f64(w[({i}) mod n].x1)"),
                (_, 2) => format!("f64({i})"),
                _ => format!("a[({i}) mod n][({j}) mod m]"),
            };
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.below(9) {
            0 => format!("({a} - ({b}))"),
            1 => format!("({a}) * ({b})"),
            2 => format!("select({}, {a}, {b})", self.cond()),
            3 => format!("min({a}, {b})"),
            4 => format!("max({a}, -({b}))"),
            5 => format!("abs({a}) / 3.0"),
            6 => format!("f64({})", self.int(1)),
            _ => format!("({a} + {b})"),
        }
    }

    fn cond(&mut self) -> String {
        let (a, b) = (self.index(2), self.index(1));
        let op = ["<", "<=", "==", "!=", ">", ">="][self.below(6) as usize];
        match self.below(4) {
            0 => format!("({a}) {op} {b} && !({b} == 2)"),
            1 => format!("(({a}) mod 3 {op} 1 || {b} > 1)"),
            _ => format!("({a}) {op} {b}"),
        }
    }
}
