//! Parser of the textual form ([`super::rank_text`] has it by example).

use super::{At, Cut, Elements, Fetch, Margin, Placed, RankProgram, Repeat, Return, Run, Step};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::Token;
use crate::name::Name;
use crate::parse::{Parsed, Parser};
use crate::program::{ArrayDecl, Function, Storage};

/// The program that a text stands for.
///
/// # Errors
/// `L0101` and the like: what cannot be read; `L0403`: names that are not declared.
pub fn parse(text: &str) -> Result<RankProgram, Diagnostic> {
    let mut reader = Reader { p: Parser::new(text), cuts: Vec::new(), places: Vec::new() };
    reader.program().map_err(|error| *error)
}

struct Reader<'a> {
    p: Parser<'a>,
    cuts: Vec<Cut>,
    places: Vec<Placed>,
}

fn unknown<T>(what: &str, name: &Name) -> Parsed<T> {
    Err(Box::new(Diagnostic::general(Code("L0403"), format!("there is no {what} `{name}`"))))
}

impl Reader<'_> {
    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.p.accept_word(word) { Ok(()) } else { self.p.unexpected(&format!("`{word}`")) }
    }

    fn program(&mut self) -> Parsed<RankProgram> {
        self.word("ranks")?;
        let interface = self.p.head()?;
        self.word("grid")?;
        let axes = usize::try_from(self.p.integer()?).unwrap_or(0);
        self.p.expect("{")?;
        while self.p.accept_word("cut") {
            self.cut()?;
        }
        loop {
            if self.p.accept_word("place") {
                self.placed(&interface)?;
            } else if self.p.accept_word("own") {
                self.own()?;
            } else {
                break;
            }
        }
        for cut in &self.cuts {
            self.p.scope.declare(&cut.low(), false);
            self.p.scope.declare(&cut.high(), false);
        }
        let body = self.steps()?;
        let (cuts, places) = (std::mem::take(&mut self.cuts), std::mem::take(&mut self.places));
        Ok(RankProgram { interface, axes, cuts, places, body })
    }

    fn cut(&mut self) -> Parsed<()> {
        let name = self.p.name("the name of a cut")?;
        self.p.expect(":")?;
        let extent = self.p.expr(0)?;
        self.word("along")?;
        let axis = usize::try_from(self.p.integer()?).unwrap_or(usize::MAX);
        let width = if self.p.accept_word("by") { Some(self.p.integer()?) } else { None };
        self.cuts.push(Cut { name, extent, axis, width });
        Ok(())
    }

    fn placed(&mut self, interface: &Function) -> Parsed<()> {
        let name = self.p.name("a parameter")?;
        let Some(param) = interface.params.iter().find(|p| p.name == name) else {
            return unknown("parameter", &name);
        };
        let (elem, dims) = (param.elem.clone(), param.dims.clone());
        let array = ArrayDecl { name, elem, dims, storage: Storage::Auto };
        self.place_of(array, Some(param.mode))
    }

    fn own(&mut self) -> Parsed<()> {
        let name = self.p.name("the name of an array")?;
        self.p.expect(":")?;
        let elem = self.p.elem()?;
        let dims = self.p.brackets()?;
        self.p.scope.declare(&name, true);
        self.place_of(ArrayDecl { name, elem, dims, storage: Storage::Auto }, None)
    }

    fn place_of(&mut self, array: ArrayDecl, mode: Option<crate::program::ParamMode>) -> Parsed<()> {
        self.word("on")?;
        let mut cut = Vec::new();
        self.listed(&mut |r| {
            let name = r.p.name("a cut or `_`")?;
            cut.push(if name.as_str() == "_" { None } else { Some(r.cut_named(&name)?) });
            Ok(())
        })?;
        let mut halo = vec![(0, 0); cut.len()];
        if self.p.accept_word("halo") {
            halo.clear();
            self.listed(&mut |r| {
                halo.push((r.p.integer()?, r.p.integer()?));
                Ok(())
            })?;
        }
        self.places.push(Placed { array, mode, cut, halo });
        Ok(())
    }

    fn cut_named(&self, name: &Name) -> Parsed<usize> {
        self.cuts.iter().position(|cut| cut.name == *name).map_or_else(|| unknown("cut", name), Ok)
    }

    /// `(item, item)`
    fn listed(&mut self, item: &mut dyn FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.p.expect("(")?;
        while !self.p.accept_symbol(")") {
            item(self)?;
            if !self.p.is_symbol(")") {
                self.p.expect(",")?;
            }
        }
        Ok(())
    }

    /// Steps up to the brace that ends them.
    fn steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = Vec::new();
        while !self.p.accept_symbol("}") {
            steps.push(self.step()?);
        }
        Ok(steps)
    }

    fn step(&mut self) -> Parsed<Step> {
        if self.p.accept_keyword("for") {
            return self.repeat().map(Step::Loop);
        }
        if self.p.accept_word("fetch") {
            return self.fetch().map(Step::Fetch);
        }
        if self.p.accept_word("return") {
            let what = self.elements()?;
            let from = if self.p.accept_word("from") { Some(self.p.name("a buffer")?) } else { None };
            self.word("at")?;
            return Ok(Step::Return(Return { what, from, at: self.at()? }));
        }
        self.run().map(Step::Run)
    }

    fn repeat(&mut self) -> Parsed<Repeat> {
        let var = self.p.name("the loop variable")?;
        self.word("in")?;
        let lower = self.p.expr(0)?;
        self.p.expect("..")?;
        let upper = self.p.expr(0)?;
        let step = if self.p.accept_word("step") { self.p.integer()? } else { 1 };
        let ahead = self.p.accept_word("ahead");
        self.p.expect("{")?;
        let mark = self.p.scope.enter();
        self.p.scope.declare(&var, false);
        let body = self.p_nested()?;
        self.p.scope.leave(mark);
        Ok(Repeat { var, lower, upper, step, ahead, body })
    }

    /// The steps of a loop, one level deeper. Buffers stay declared.
    fn p_nested(&mut self) -> Parsed<Vec<Step>> {
        self.p.deeper()?;
        let steps = self.steps();
        self.p.shallower();
        steps
    }

    fn run(&mut self) -> Parsed<Run> {
        let (mut during, mut margins) = (Vec::new(), Vec::new());
        if self.p.accept_word("overlap") {
            self.listed(&mut |r| {
                let name = r.p.name("a cut")?;
                let cut = r.cut_named(&name)?;
                margins.push(Margin { cut, low: r.p.integer()?, high: r.p.integer()? });
                Ok(())
            })?;
            self.p.expect("{")?;
            while self.p.accept_word("fetch") {
                during.push(self.fetch()?);
            }
            self.p.expect("}")?;
        }
        if !self.p.accept_word("run") {
            return self.p.unexpected("a step or `}`");
        }
        let at = self.at()?;
        let mut carried = Vec::new();
        if self.p.accept_word("carrying") {
            carried.push(self.elements()?);
            while self.p.accept_symbol(",") {
                carried.push(self.elements()?);
            }
        }
        let mut reduced = Vec::new();
        if self.p.accept_word("reduce") {
            self.listed(&mut |r| {
                let Some(op) = r.p.reduce_op() else {
                    return r.p.unexpected("the operation of a reduction");
                };
                r.p.expect(":")?;
                reduced.push((op, r.p.name("an array")?));
                Ok(())
            })?;
        }
        Ok(Run { at, carried, reduced, during, margins, body: self.p.block()? })
    }

    fn at(&mut self) -> Parsed<At> {
        let all = [At::All, At::First, At::Last, At::Chain];
        match all.into_iter().find(|at| self.p.accept_word(&at.to_string())) {
            Some(at) => Ok(at),
            None => self.p.unexpected("`all`, `first`, `last` or `chain`"),
        }
    }

    fn fetch(&mut self) -> Parsed<Fetch> {
        let what = self.elements()?;
        let into = if self.p.accept_word("into") { Some(self.p.name("a buffer")?) } else { None };
        if let Some(into) = &into {
            self.p.scope.declare(into, true);
        }
        self.word("at")?;
        let at = self.at()?;
        let mut working = std::collections::BTreeSet::new();
        if self.p.accept_word("with") {
            self.listed(&mut |r| {
                let name = r.p.name("a cut")?;
                working.insert(r.cut_named(&name)?);
                Ok(())
            })?;
        }
        Ok(Fetch { what, into, at, working })
    }

    fn elements(&mut self) -> Parsed<Elements> {
        let array = match &self.p.token {
            Token::Name(_) => self.p.name("an array")?,
            _ => return self.p.unexpected("an array"),
        };
        let mut ranges = Vec::new();
        self.listed(&mut |r| {
            let low = r.p.expr(0)?;
            r.p.expect("..")?;
            ranges.push((low, r.p.expr(0)?));
            Ok(())
        })?;
        let when = if self.p.accept_keyword("if") { Some(self.p.expr(0)?) } else { None };
        Ok(Elements { array, ranges, when })
    }
}
