//! Resolves attribute expressions: names become vertices, inputs, symbols and lets.

use loops::Span;

use crate::program::{
    Constraint, Deps, Inst, Item, Over, Property, REach, RExpr, Requirement, ValueRef, What,
};
use crate::resolve::{Meaning, Resolver};
use crate::rule::{BinaryOp, Each, Expr, ExprKind, Function, Name, UnaryOp};
use loops::suggest::nearest;

/// What a path such as `y`, `y[i]`, `s[1]`, `y[i][0]` stands for.
pub(crate) struct Path {
    pub value: ValueRef,
    /// Whether the path names a whole call.
    pub call: bool,
}

impl Path {
    pub(crate) fn vertex(&self) -> Option<(usize, Inst)> {
        match &self.value.what {
            What::Result(v, _) => Some((*v, self.value.inst.clone())),
            What::Input(_) => None,
        }
    }
}

/// The integer that an expression of integers alone is.
fn integer(e: &Expr, depth: usize) -> Option<i64> {
    if depth > 64 {
        return None;
    }
    let go = |e: &Expr| integer(e, depth + 1);
    match &e.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Unary(UnaryOp::Neg, a) => go(a)?.checked_neg(),
        ExprKind::Binary(BinaryOp::Add, a, b) => go(a)?.checked_add(go(b)?),
        ExprKind::Binary(BinaryOp::Sub, a, b) => go(a)?.checked_sub(go(b)?),
        ExprKind::Binary(BinaryOp::Mul, a, b) => go(a)?.checked_mul(go(b)?),
        _ => None,
    }
}

impl Resolver<'_> {
    /// A condition with what it needs.
    pub(crate) fn condition(&mut self, e: &Expr) {
        self.deps = Deps::default();
        if let Some(value) = self.expr(e) {
            let deps = std::mem::take(&mut self.deps);
            let text = crate::print::expression(e);
            self.out.constraints.push(Constraint { what: Requirement::Holds(value), deps, text });
        }
    }

    pub(crate) fn expr(&mut self, e: &Expr) -> Option<RExpr> {
        let boxed = |r: RExpr| Box::new(r);
        Some(match &e.kind {
            ExprKind::Int(n) => RExpr::Int(*n),
            ExprKind::Float(x) => RExpr::Float(*x),
            ExprKind::Str(s) => RExpr::Str(s.clone()),
            ExprKind::Bool(b) => RExpr::Bool(*b),
            ExprKind::None => RExpr::None,
            ExprKind::Type(t) => RExpr::Type(*t),
            ExprKind::Name(name) => return self.plain(name, e.place.0),
            ExprKind::Field(base, field) => return self.field(base, field),
            ExprKind::Is(base, kind) => {
                let path = self.path(base)?;
                self.need(&path);
                RExpr::Is(Box::new(path.value), *kind)
            }
            ExprKind::Item(base, index) => RExpr::Item(boxed(self.expr(base)?), boxed(self.expr(index)?)),
            ExprKind::Slice(base, low, high) => RExpr::Slice(
                boxed(self.expr(base)?),
                low.as_ref().map(|e| self.expr(e).map(Box::new)).transpose_none()?,
                high.as_ref().map(|e| self.expr(e).map(Box::new)).transpose_none()?,
            ),
            ExprKind::Tuple(all) => RExpr::Tuple(self.all(all)?),
            ExprKind::Unary(op, inner) => RExpr::Unary(*op, boxed(self.expr(inner)?)),
            ExprKind::Binary(op, a, b) => {
                self.divisor(*op, b);
                RExpr::Binary(*op, boxed(self.expr(a)?), boxed(self.expr(b)?))
            }
            ExprKind::If(c, a, b) => {
                RExpr::If(boxed(self.expr(c)?), boxed(self.expr(a)?), boxed(self.expr(b)?))
            }
            ExprKind::Call(Function::Len, arguments) => return self.length(&arguments[0]),
            ExprKind::Call(function, arguments) => RExpr::Call(*function, self.all(arguments)?),
            ExprKind::Map(each) => RExpr::Map(self.each(each)?),
            ExprKind::Fold(fold, each) => RExpr::Fold(*fold, self.each(each)?),
        })
    }

    /// Refuses a divisor that is the integer 0 whatever the model is: what it divides has no value,
    /// so that a condition never holds. (An infinity is written `1.0 / 0.0`.)
    fn divisor(&mut self, op: BinaryOp, e: &Expr) {
        if matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod) && integer(e, 0) == Some(0) {
            let text = format!("`{}` by a number that is always 0", op.text());
            self.error("R0216", text, e.place.0, "this is 0").notes.push(
                "an integer divided by 0 has no value, so a condition that needs it never holds".into(),
            );
        }
    }

    fn all(&mut self, all: &[Expr]) -> Option<Vec<RExpr>> {
        all.iter().map(|e| self.expr(e)).collect()
    }

    fn plain(&mut self, name: &str, at: Span) -> Option<RExpr> {
        if let Some((_, slot)) = self.bound.iter().rev().find(|(n, _)| n == name) {
            return Some(RExpr::Slot(*slot));
        }
        if let Some(k) = self.lets.get(name) {
            let deps = self.out.lets[*k].deps.clone();
            self.deps.vertices.extend(deps.vertices);
            self.deps.inputs.extend(deps.inputs);
            self.deps.symbol = self.deps.symbol.or(deps.symbol);
            self.deps.late |= deps.late;
            return Some(RExpr::Let(*k));
        }
        if let Some(s) = self.symbol(name) {
            self.deps.symbol = Some(s);
            return Some(RExpr::Slot(s));
        }
        if self.names.contains_key(name) {
            let text = format!("`{name}` is a tensor, not a value");
            self.error("R0204", text, at, "here").help.push(format!(
                "ask for one of its properties: `{name}.shape`, `{name}.rank`, `{name}.type`, `{name}.value`"
            ));
            return None;
        }
        self.unbound(name, at);
        None
    }

    pub(crate) fn unbound(&mut self, name: &str, at: Span) {
        let known: Vec<String> = self
            .names
            .keys()
            .chain(self.lets.keys())
            .cloned()
            .chain(self.rule.indices.iter().map(|i| i.name.text.clone()))
            .chain(self.bound.iter().map(|(n, _)| n.clone()))
            .collect();
        let near = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        let missing = self.missing.contains(name);
        let error = self.error("R0204", format!("`{name}` is not bound"), at, "unknown here");
        if missing {
            error.notes.push("it exists only in one alternative".into());
        } else if let Some(near) = near {
            error.help.push(format!("did you mean `{near}`?"));
        }
    }

    /// A vertex or an input with its instance and item.
    pub(crate) fn path(&mut self, e: &Expr) -> Option<Path> {
        let mut indices: Vec<&Expr> = Vec::new();
        let mut at = e;
        while let ExprKind::Item(base, index) = &at.kind {
            indices.push(index);
            at = base;
        }
        let ExprKind::Name(name) = &at.kind else {
            self.error("R0204", "only calls and inputs have attributes".into(), e.place.0, "this is a value");
            return None;
        };
        indices.reverse();
        self.path_of(name, at.place.0, &indices)
    }

    pub(crate) fn path_of(&mut self, name: &str, at: Span, indices: &[&Expr]) -> Option<Path> {
        let Some(meaning) = self.names.get(name).copied() else {
            if self.lets.contains_key(name)
                || self.symbol(name).is_some()
                || self.bound.iter().any(|(n, _)| n == name)
            {
                self.error("R0204", format!("`{name}` is a value, not a tensor"), at, "here");
            } else {
                self.unbound(name, at);
            }
            return None;
        };
        let symbol = match meaning {
            Meaning::Result(v, ..) => self.out.vertices[v].symbol,
            Meaning::Input(k) => self.out.inputs[k].symbol,
        };
        let mut indices = indices.iter();
        let inst = match symbol {
            None => Inst::Shared,
            Some(s) => {
                let Some(index) = indices.next() else {
                    let index = self.rule.indices[s].name.text.clone();
                    let text = format!("`{name}` has an instance for each `{index}`");
                    self.error("R0212", text, at, "which one is meant?").help.push(format!(
                        "write `{name}[{index}]` for that of the same branch, `{name}[0]` for the first"
                    ));
                    return None;
                };
                self.counted(name, index, "branches", &format!("`{name}[len({name}) - 1]`"))?;
                self.instance(index, s)?
            }
        };
        let (what, call) = match meaning {
            Meaning::Input(k) => (What::Input(k), false),
            Meaning::Result(v, item, call) => {
                let item = match indices.next() {
                    None => Item::Fixed(item),
                    Some(index) if call && integer(index, 0).is_some_and(|k| k < 0) => {
                        self.counted(name, index, "results", &format!("`{name}[len({name}) - 1]`"))?;
                        return None;
                    }
                    Some(index) if call => match self.expr(index)? {
                        RExpr::Int(k) if k >= 0 => Item::Fixed(k as usize),
                        e => Item::Computed(Box::new(e)),
                    },
                    Some(index) => {
                        let text = format!("`{name}` is one result and has no items");
                        self.error("R0212", text, index.place.0, "this index is too much");
                        return None;
                    }
                };
                (What::Result(v, item), call)
            }
        };
        if let Some(extra) = indices.next() {
            let text = format!("`{name}` has no items");
            self.error("R0212", text, extra.place.0, "this index is too much");
            return None;
        }
        Some(Path { value: ValueRef { what, inst }, call })
    }

    /// Refuses a number below 0: branches and results are counted from the first one only.
    fn counted(&mut self, name: &str, index: &Expr, what: &str, last: &str) -> Option<()> {
        let Some(k) = integer(index, 0).filter(|k| *k < 0) else { return Some(()) };
        let text = format!("`{name}[{k}]` is never there: {what} are counted from 0");
        self.error("R0212", text, index.place.0, "below 0").help.push(format!("the last one is {last}"));
        None
    }

    fn instance(&mut self, index: &Expr, symbol: usize) -> Option<Inst> {
        Some(match self.expr(index)? {
            RExpr::Slot(s) if s == symbol => Inst::Slot(s),
            RExpr::Slot(s) if s < self.rule.indices.len() => {
                let (have, want) = (&self.rule.indices[s].name.text, &self.rule.indices[symbol].name.text);
                let text = format!("the instances are numbered by `{want}`, not by `{have}`");
                self.error("R0212", text, index.place.0, "here");
                return None;
            }
            // Instances of this very symbol inside `… for i`.
            RExpr::Slot(s) => Inst::Slot(s),
            e => Inst::At(Box::new(e)),
        })
    }

    /// Notes that an expression looks at this.
    pub(crate) fn need(&mut self, path: &Path) {
        let inst = path.value.inst.clone();
        match &inst {
            Inst::Slot(s) if *s < self.rule.indices.len() => self.deps.symbol = Some(*s),
            Inst::Slot(_) => self.deps.late = true,
            Inst::At(e) if !matches!(**e, RExpr::Int(0)) => self.deps.late = true,
            _ => {}
        }
        match &path.value.what {
            What::Input(k) => self.deps.inputs.push((*k, inst)),
            What::Result(v, _) => self.deps.vertices.push((*v, inst)),
        }
    }

    fn field(&mut self, base: &Expr, field: &Name) -> Option<RExpr> {
        // `c.attributes.value`: the attribute, where `c.value` is the tensor's.
        let (base, attribute) = match &base.kind {
            ExprKind::Field(inner, name) if name.text == "attributes" => (&**inner, true),
            _ => (base, false),
        };
        let path = self.path(base)?;
        self.need(&path);
        if let (Some(reached), Some((v, _))) = (&self.reached, path.vertex())
            && !reached.contains(&v)
        {
            let name = self.out.vertices[v].name.clone();
            let text = format!("an attribute of `{name}` is used before `{name}` is matched");
            self.error("R0205", text, base.place.0, "matched later").help.push(format!(
                "write the condition at `{name}`, or after `where`, where everything is matched"
            ));
            return None;
        }
        let property = match field.text.as_str() {
            "shape" => Some(Property::Shape),
            "rank" => Some(Property::Rank),
            "type" => Some(Property::Type),
            "value" => Some(Property::Value),
            "size" => Some(Property::Size),
            _ => None,
        };
        if let Some(property) = property.filter(|_| !attribute) {
            return Some(RExpr::Property(Box::new(path.value), property));
        }
        let Some((v, inst)) = path.vertex() else {
            let text = format!("an input has no attribute `{}`", field.text);
            self.error("R0203", text, field.place.0, "unknown here")
                .help
                .push("inputs have `shape`, `rank`, `type`, `value` and `size`".into());
            return None;
        };
        if field.text == "op" && !attribute {
            return Some(RExpr::Operator(v, inst));
        }
        self.check_attribute(v, field)?;
        Some(RExpr::Attribute(v, inst, field.text.clone()))
    }

    fn length(&mut self, e: &Expr) -> Option<RExpr> {
        let mut at = e;
        let mut indices = 0;
        while let ExprKind::Item(base, _) = &at.kind {
            indices += 1;
            at = base;
        }
        if let ExprKind::Name(name) = &at.kind {
            if let Some(meaning) = self.names.get(name).copied() {
                let symbol = match meaning {
                    Meaning::Result(v, ..) => self.out.vertices[v].symbol,
                    Meaning::Input(k) => self.out.inputs[k].symbol,
                };
                if let (Some(s), 0) = (symbol, indices) {
                    self.deps.late = true;
                    return Some(RExpr::Instances(s));
                }
                let path = self.path(e)?;
                self.need(&path);
                if let Some((v, inst)) = path.vertex().filter(|_| path.call) {
                    return Some(RExpr::Results(v, inst));
                }
                let text = format!("`{name}` is a tensor and has no length");
                self.error("R0204", text, e.place.0, "here")
                    .help
                    .push(format!("`{name}.rank`, `{name}.shape[0]`"));
                return None;
            }
            if let Some(s) = self.symbol(name).filter(|_| indices == 0) {
                self.deps.late = true;
                return Some(RExpr::Instances(s));
            }
        }
        let inner = self.expr(e)?;
        Some(RExpr::Call(Function::Len, vec![inner]))
    }

    fn each(&mut self, each: &Each) -> Option<Box<REach>> {
        let over = match &each.over {
            Some(e) => Over::Tuple(self.expr(e)?),
            None => match self.symbol(&each.symbol.text) {
                Some(s) => {
                    self.deps.late = true;
                    Over::Symbol(s)
                }
                None => {
                    let text = format!("`{}` is not an index of the rule", each.symbol.text);
                    self.error("R0204", text, each.symbol.place.0, "unknown here")
                        .help
                        .push("write `for v in t`, or declare the index: `rule name[i: 2..]`".into());
                    return None;
                }
            },
        };
        let slot = self.out.slots;
        self.out.slots += 1;
        self.bound.push((each.symbol.text.clone(), slot));
        let symbol = self.deps.symbol;
        let body = self.expr(&each.body);
        let filter = each.filter.as_ref().map(|e| self.expr(e)).transpose_none();
        self.bound.pop();
        if matches!(over, Over::Symbol(_)) {
            self.deps.symbol = symbol;
        }
        Some(Box::new(REach { body: body?, slot, over, filter: filter? }))
    }
}

/// `Option<Option<T>>` with the inner `None` as failure.
trait TransposeNone<T> {
    fn transpose_none(self) -> Option<Option<T>>;
}

impl<T> TransposeNone<T> for Option<Option<T>> {
    fn transpose_none(self) -> Option<Option<T>> {
        match self {
            None => Some(None),
            Some(None) => None,
            Some(inner) => Some(inner),
        }
    }
}
