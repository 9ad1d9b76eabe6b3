//! Resolves statements: loops, declarations, transfers, and calls of the functions before the
//! kernels.

use std::collections::BTreeMap;

use super::super::compute::assigns;
use super::super::read::{ARRAY, Node, Term};
use super::super::transfer::name;
use super::super::walk::{Followed, lost, wrong};
use super::block_text::{Reply, Spot, Step, Target, Tiny, Transfer};
use super::number::{Number, Operation};
use super::reader::{Kind, LANES, Leaf, Reader, element};

impl Reader<'_, '_> {
    pub fn node(&mut self, node: &Node, out: &mut Vec<Step>) -> Followed<()> {
        match node {
            Node::Block(body) => {
                self.scopes.push(BTreeMap::new());
                body.iter().try_for_each(|n| self.node(n, out))?;
                self.scopes.pop();
                Ok(())
            }
            Node::If(cond, then, otherwise) => {
                let cond = self.number(cond)?;
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.inside(then, &mut yes)?;
                if let Some(otherwise) = otherwise {
                    self.inside(otherwise, &mut no)?;
                }
                out.push(Step::If(cond, yes, no));
                Ok(())
            }
            Node::For { init, cond: Some(cond), step, body } => {
                self.scopes.push(BTreeMap::new());
                init.iter().try_for_each(|n| self.node(n, out))?;
                let (mut inner, mut steps) = (Vec::new(), Vec::new());
                self.inside(body, &mut inner)?;
                for term in step {
                    self.act(term, &mut steps)?;
                }
                let run = self.run(cond, &steps, &inner)?;
                out.push(match run {
                    Some(run) => run,
                    None => Step::Loop { cond: self.number(cond)?, body: inner, step: steps },
                });
                self.scopes.pop();
                Ok(())
            }
            Node::For { .. } | Node::While(..) => lost("a loop that is not counted"),
            Node::Declare { name, ty, value } => self.declaration(name, ty, value.as_ref(), out),
            Node::Do(term) => self.act(term, out),
        }
    }

    fn inside(&mut self, node: &Node, out: &mut Vec<Step>) -> Followed<()> {
        self.scopes.push(BTreeMap::new());
        self.node(node, out)?;
        self.scopes.pop();
        Ok(())
    }

    /// A loop that only computes, if it is one.
    fn run(&mut self, cond: &Term, step: &[Step], body: &[Step]) -> Followed<Option<Step>> {
        let Term::Binary(op, left, end) = cond else { return Ok(None) };
        let tiny = |s: &Step| match s {
            Step::One(tiny) => Some(tiny.clone()),
            _ => None,
        };
        let Some(body) = body.iter().map(tiny).collect::<Option<Vec<Tiny>>>() else { return Ok(None) };
        let [Step::Set(counter, next)] = step else { return Ok(None) };
        let by = match next {
            Number::Two(Operation::Add, both) => match &**both {
                [Number::At(own), Number::Int(by)] if own == counter && *by > 0 => *by,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let ahead = match self.number(left)? {
            Number::At(own) if own == *counter => 0,
            Number::Two(Operation::Add, both) => match &*both {
                [Number::At(own), Number::Int(ahead)] if own == counter => *ahead,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let end = self.number(end)?;
        if op != "<" || end.has(*counter) || body.is_empty() {
            return Ok(None);
        }
        Ok(Some(Step::Run { counter: *counter, ahead, end, by, body }))
    }

    fn declaration(
        &mut self,
        name: &str,
        ty: &str,
        value: Option<&Term>,
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        if let Some(Term::Call(function, length)) = value
            && function == ARRAY
        {
            let [Term::Int(many @ 1..=1000)] = length.as_slice() else {
                return lost(format!("how many `{name}` has is not known"));
            };
            let first = self.places;
            self.places += *many as usize;
            self.declare(name, Kind::Numbers(first, *many));
            return Ok(());
        }
        match ty {
            "long" | "int" => {
                let value = value.map(|v| self.number(v)).transpose()?;
                if let Some(value @ (Number::Int(_) | Number::At(_))) = &value
                    && self.stays(name, value)
                {
                    self.declare(name, Kind::Number(value.clone()));
                    return Ok(());
                }
                let place = self.place();
                if !self.changed.contains(name) {
                    self.fixed.insert(place);
                }
                self.declare(name, Kind::Number(Number::At(place)));
                out.push(match value {
                    Some(value) => Step::Set(place, value),
                    None => Step::Open(place),
                });
                Ok(())
            }
            "doublev4" | "floatv4" | "double" | "float" => {
                if let Some(value) = value
                    && let Some((at, ..)) = self.local(value)?
                {
                    let bytes = match ty {
                        "double" => 8,
                        "float" => 4,
                        _ => return lost("a buffer of vectors"),
                    };
                    if matches!(at, Number::Int(_)) && self.stays(name, &at) {
                        self.declare(name, Kind::Buffer(at, bytes));
                        return Ok(());
                    }
                    let place = self.place();
                    self.declare(name, Kind::Buffer(Number::At(place), bytes));
                    out.push(Step::Set(place, at));
                    return Ok(());
                }
                let lanes = if ty.ends_with("v4") { LANES } else { 1 };
                let register = self.register(name, lanes);
                value.map_or(Ok(()), |value| self.set(register, value, out))
            }
            _ => lost(format!("`{name}` is of another kind")),
        }
    }

    fn reply(&mut self, term: &Term) -> Followed<Reply> {
        let inner = match term {
            Term::Unary(op, inner) if op == "&" => inner,
            other => other,
        };
        match (element(inner), inner) {
            (Some((own, index)), _) => {
                let index = self.number(index)?;
                Ok(Reply { name: self.name(own), index })
            }
            (None, inner) => match name(inner) {
                Some(own) => Ok(Reply { name: self.name(own), index: Number::Int(0) }),
                None => lost("a reply without a name"),
            },
        }
    }

    fn target(&mut self, term: &Term) -> Followed<Option<Target>> {
        if let Term::Name(name) = term
            && let Some(Kind::Number(Number::At(place))) = self.kind(name)
        {
            return Ok(Some(Target { first: *place, index: Number::Int(0), many: 1 }));
        }
        if let Some((name, index)) = element(term)
            && let Some(Kind::Numbers(first, many)) = self.kind(name).cloned()
        {
            return Ok(Some(Target { first, index: self.number(index)?, many }));
        }
        Ok(None)
    }

    /// A statement.
    fn act(&mut self, term: &Term, out: &mut Vec<Step>) -> Followed<()> {
        match term {
            Term::Name(_) | Term::Int(_) => Ok(()),
            Term::Unary(op, a) if op == "++" || op == "--" => {
                let by = Number::Int(if op == "++" { 1 } else { -1 });
                let Some(Target { first, index: Number::Int(0), many: 1 }) = self.target(a)? else {
                    return lost("a count of something else");
                };
                out.push(Step::Set(first, Number::two(Operation::Add, Number::At(first), by)));
                Ok(())
            }
            Term::Binary(op, target, value) if assigns(op) => self.assign(op, target, value, out),
            Term::Call(function, arguments) => self.call(function, arguments, out),
            _ => lost("a statement in another form"),
        }
    }

    fn assign(&mut self, op: &str, target: &Term, value: &Term, out: &mut Vec<Step>) -> Followed<()> {
        if let (Term::Call(function, arguments), "+=") = (value, op)
            && matches!(function.as_str(), "get_box" | "put_box")
        {
            let Some(sent) = self.target(target)? else { return lost("transfers that are not counted") };
            return self.transfer(function == "get_box", sent, target, arguments, out);
        }
        if let Some(to) = self.target(target)? {
            // `sent = reply = 0`
            if let Term::Binary(also, reply, zero) = value
                && assigns(also)
            {
                if op != "=" || also != "=" || **zero != Term::Int(0) {
                    return lost("replies that are not set to 0");
                }
                let reply = self.reply(reply)?;
                out.push(Step::Zero(reply));
                out.push(Step::SetOf(to, Number::Int(0)));
                return Ok(());
            }
            let value = self.number(value)?;
            let before = || Number::Of(to.first, Box::new(to.index.clone()), to.many);
            let value = match op {
                "=" => value,
                "+=" => Number::two(Operation::Add, before(), value),
                "-=" => Number::two(Operation::Sub, before(), value),
                _ => return lost("a number that is changed in another way"),
            };
            if to.many == 1 {
                let value = match value {
                    Number::Two(op, mut both) if matches!(both[0], Number::Of(..)) => {
                        both[0] = Number::At(to.first);
                        Number::Two(op, both)
                    }
                    other => other,
                };
                out.push(Step::Set(to.first, value));
            } else {
                out.push(Step::SetOf(to, value));
            }
            return Ok(());
        }
        if let Term::Name(name) = target
            && let Some(Kind::Register(register)) = self.kind(name)
        {
            let register = *register;
            if op == "=" {
                return self.set(register, value, out);
            }
            let whole = Term::Binary(op[..1].to_owned(), Box::new(target.clone()), Box::new(value.clone()));
            return self.set(register, &whole, out);
        }
        if let Some((name, index)) = element(target) {
            if let Some(Kind::Array(_)) = self.kind(name) {
                return wrong(format!("reaches `{name}` in main memory without a transfer"));
            }
            if let Some((to, _, buffer)) = self.at(name, index)? {
                let mut leaves = Vec::new();
                if op != "=" {
                    self.leaves(target, &mut leaves)?;
                }
                self.leaves(value, &mut leaves)?;
                let plain = matches!(value, Term::Name(_));
                return self.store(to, buffer, 1, leaves, plain && op == "=", out);
            }
            // `reply[k] = 0`
            if op == "=" && *value == Term::Int(0) {
                let reply = self.reply(target)?;
                out.push(Step::Zero(reply));
                return Ok(());
            }
        }
        if let (Term::Name(_), "=", Term::Int(0)) = (target, op, value) {
            let reply = self.reply(target)?;
            out.push(Step::Zero(reply));
            return Ok(());
        }
        lost("an assignment in another form")
    }

    fn store(
        &mut self,
        to: Number,
        buffer: usize,
        lanes: usize,
        leaves: Vec<Leaf>,
        plain: bool,
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        if let ([Leaf { spot: Spot::Register(register), .. }], true) = (leaves.as_slice(), plain) {
            let register = *register;
            if self.lanes[register] != lanes {
                return lost("a register that is stored as another");
            }
            out.push(Step::One(Tiny::Store { to, buffer, register, lanes }));
            return Ok(());
        }
        let update = self.update(Spot::Memory(to, buffer), buffer, lanes, leaves)?;
        out.push(Step::One(update));
        Ok(())
    }

    fn transfer(
        &mut self,
        get: bool,
        sent: Target,
        counted: &Term,
        arguments: &[Term],
        out: &mut Vec<Step>,
    ) -> Followed<()> {
        let [local, memory, rows, columns, pitch, bytes, reply] = arguments else {
            return lost("a transfer in another form");
        };
        let own = match element(counted) {
            Some((name, _)) => Some(name),
            None => name(counted),
        };
        let tag = match reply {
            Term::Unary(_, inner) => element(inner).map(|e| e.0).or(name(inner)),
            _ => None,
        };
        let (Some(own), Some(tag)) = (own, tag) else { return lost("a transfer without a reply") };
        if own != format!("{tag}_sent") {
            return wrong(format!("counts a transfer of `{tag}` in `{own}`"));
        }
        let Some((local, _, mut buffer)) = self.local(local)? else {
            return lost("a transfer of no buffer");
        };
        let (array, memory) = self.memory(memory)?;
        if self.names[buffer] == "lozenge_ldm" {
            buffer = self.name(self.plan.arrays[array].0);
        }
        let mut shape = Vec::new();
        for term in [rows, columns, pitch, bytes] {
            shape.push(self.number(term)?);
        }
        let Ok(shape) = <[Number; 4]>::try_from(shape) else { return lost("a transfer in another form") };
        let reply = self.reply(reply)?;
        let shape = Box::new(shape);
        out.push(Step::Move(Box::new(Transfer { get, sent, buffer, local, array, memory, shape, reply })));
        Ok(())
    }

    fn call(&mut self, function: &str, arguments: &[Term], out: &mut Vec<Step>) -> Followed<()> {
        match (function, arguments) {
            ("emulated_compute", _) => Ok(()),
            ("WAIT", [reply, count]) => {
                let reply = self.reply(reply)?;
                let count = self.number(count)?;
                out.push(Step::Wait(reply, count));
                Ok(())
            }
            ("BARRIER", []) => {
                out.push(Step::Barrier);
                Ok(())
            }
            ("keep_columns", [to, from, words]) => {
                let (to, _) = self.here(to)?;
                let (from, _) = self.here(from)?;
                let words = self.number(words)?;
                out.push(Step::Keep(to, from, words));
                Ok(())
            }
            ("take_columns", [to, words, core]) => {
                let (to, name) = self.here(to)?;
                let (words, core) = (self.number(words)?, self.number(core)?);
                out.push(Step::Take(to, name, words, core));
                Ok(())
            }
            ("send_columns" | "spread_columns", [what, words, core, lines]) => {
                let (what, name) = self.here(what)?;
                let rest = [self.number(words)?, self.number(core)?, self.number(lines)?];
                out.push(match function {
                    "send_columns" => Step::Send(what, name, rest),
                    _ => Step::Spread(what, name, rest),
                });
                Ok(())
            }
            ("simd_load" | "simd_loadu" | "simd_loade", [register, from]) => {
                let Some(Kind::Register(own)) = name(register).and_then(|name| self.kind(name)) else {
                    return lost("a load to no register");
                };
                let own = *own;
                let (from, buffer) = self.here(from)?;
                self.loaded[own] = Some(buffer);
                self.made[own] = None;
                let lanes = self.lanes[own];
                out.push(Step::One(Tiny::Load {
                    register: own,
                    from,
                    lanes,
                    same: function == "simd_loade",
                }));
                Ok(())
            }
            ("simd_store" | "simd_storeu", [value, to]) => {
                let (to, buffer) = self.here(to)?;
                let mut leaves = Vec::new();
                self.leaves(value, &mut leaves)?;
                let plain = match value {
                    Term::Name(name) => match self.kind(name) {
                        Some(Kind::Register(register)) => self.made[*register].is_none(),
                        _ => false,
                    },
                    _ => false,
                };
                self.store(to, buffer, LANES, leaves, plain, out)
            }
            _ => lost(format!("`{function}` in panels of columns")),
        }
    }
}
