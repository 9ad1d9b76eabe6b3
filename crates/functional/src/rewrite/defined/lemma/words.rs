//! Terms of both sides in the words of the theory.

use std::collections::BTreeMap;

use loops::{Name, Size, Span};

use super::{Frame, Outcome, Printer, atom, bare};
use crate::infer::TypedDef;
use crate::infer::inferred_types::Ty;
use crate::infer::node::{Bind, Node, NodeKind};
use crate::prim::{Group, Prim};

impl Printer<'_> {
    pub(super) fn side(&mut self, side: &TypedDef, frame: &Frame) -> Outcome<String> {
        self.term(side, &side.body, frame)
    }

    /// An operation on numbers, which is any function of its type.
    fn operation(&mut self, name: &str, of: &Ty, ty: &Ty, frame: &Frame) -> Outcome<String> {
        let of = self.ty(of, frame)?;
        let of: String = of.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        // No name of a program has such a mark.
        let name = format!("{name}'{of}");
        let ty = self.ty(ty, frame)?;
        self.operations.insert(name.clone(), ty);
        Ok(name)
    }

    /// A term of Coq; it binds tightly enough to be an argument.
    fn argument(&mut self, def: &TypedDef, node: &Node, frame: &Frame) -> Outcome<String> {
        Ok(atom(&self.term(def, node, frame)?))
    }

    fn term(&mut self, def: &TypedDef, node: &Node, frame: &Frame) -> Outcome<String> {
        Ok(match &node.kind {
            NodeKind::Local(local) => frame.locals.get(local).cloned().unwrap_or_default(),
            NodeKind::Number(value) => match frame.ty(&node.ty) {
                Ty::Idx(_) => value.to_string(),
                ty => {
                    let digits: String = (value.to_string().chars())
                        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                        .collect();
                    self.operation(&format!("n{digits}"), &ty, &ty, frame)?
                }
            },
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Size(size) => {
                let text = self.size(&frame.size(size));
                match frame.ty(&node.ty) {
                    Ty::Idx(_) => text,
                    ty => {
                        let of_nat =
                            self.operation("of_nat", &ty, &Ty::fun(Ty::Idx(0.into()), ty.clone()), frame)?;
                        format!("{of_nat} {text}")
                    }
                }
            }
            NodeKind::Prim(prim, sizes) => self.prim(*prim, sizes, &node.ty, node.span, frame)?,
            NodeKind::Apply(f, args) => self.apply(def, f, args, frame)?,
            NodeKind::Lambda(binds, body) => {
                let mut inner = frame.clone();
                let names: Vec<String> = binds.iter().map(|bind| self.bind(def, bind, &mut inner)).collect();
                let body = self.term(def, body, &inner)?;
                self.leave(&names);
                format!("fun {} => {body}", names.join(" "))
            }
            NodeKind::Let(bind, value, body) => {
                let value = self.term(def, value, frame)?;
                let mut inner = frame.clone();
                let name = self.bind(def, bind, &mut inner);
                let body = self.term(def, body, &inner)?;
                self.leave(std::slice::from_ref(&name));
                format!("let {name} := {value} in {body}")
            }
            NodeKind::Chain(first, rest) => {
                let mut text = self.argument(def, first, frame)?;
                for (prim, operand) in rest {
                    let ty = Ty::fun(node.ty.clone(), Ty::fun(node.ty.clone(), node.ty.clone()));
                    let operation = self.prim(*prim, &[], &ty, node.span, frame)?;
                    text = format!("({operation} {text} {})", self.argument(def, operand, frame)?);
                }
                text
            }
            NodeKind::Def(name, sizes, types) => self.call(name, sizes, types, node.span, frame)?,
            NodeKind::Array(_) => return self.refuse("an array of its elements", node.span),
            NodeKind::Power(..) => return self.refuse("a power", node.span),
            NodeKind::Error => return self.refuse("this", node.span),
        })
    }

    /// A definition, written out at its sizes and types.
    fn call(
        &mut self,
        name: &Name,
        sizes: &[Size],
        types: &[Ty],
        span: Span,
        frame: &Frame,
    ) -> Outcome<String> {
        let Some(entry) = self.rule.defs.get(name) else { return self.refuse("this definition", span) };
        let def = entry.def.clone();
        let signature = &def.signature;
        let mut inner = Frame {
            locals: BTreeMap::new(),
            sizes: (signature.sizes.iter().cloned()).zip(sizes.iter().map(|s| frame.size(s))).collect(),
            types: (signature.types.iter().map(|(t, _)| t.clone()))
                .zip(types.iter().map(|t| frame.ty(t)))
                .collect(),
        };
        let mut names = Vec::new();
        for local in &def.params {
            let text = self.fresh(def.locals[*local as usize].name.as_str());
            inner.locals.insert(*local, text.clone());
            names.push(text);
        }
        let body = self.term(&def, &def.body, &inner)?;
        self.leave(&names);
        Ok(if names.is_empty() { body } else { format!("fun {} => {body}", names.join(" ")) })
    }

    /// Names for what a pattern binds; components are `fst` and `snd` of it.
    fn bind(&mut self, def: &TypedDef, bind: &Bind, frame: &mut Frame) -> String {
        fn parts(bind: &Bind, value: &str, frame: &mut Frame) {
            match bind {
                Bind::Ignore => {}
                Bind::Local(local) => {
                    frame.locals.insert(*local, value.to_owned());
                }
                Bind::Pair(a, b) => {
                    parts(a, &format!("(fst {value})"), frame);
                    parts(b, &format!("(snd {value})"), frame);
                }
            }
        }
        match bind {
            Bind::Ignore => "_".to_owned(),
            Bind::Local(local) => {
                let name = self.fresh(def.locals[*local as usize].name.as_str());
                frame.locals.insert(*local, name.clone());
                name
            }
            Bind::Pair(..) => {
                let name = self.fresh("p");
                parts(bind, &name, frame);
                name
            }
        }
    }

    fn apply(&mut self, def: &TypedDef, f: &Node, args: &[Node], frame: &Frame) -> Outcome<String> {
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.argument(def, arg, frame)?);
        }
        if let NodeKind::Prim(prim, _) = &f.kind {
            match (prim, &texts[..]) {
                (Prim::Pair, [a, b]) => return Ok(format!("({}, {})", bare(a), bare(b))),
                (Prim::Select, [c, a, b]) => return Ok(format!("if {c} then {a} else {b}")),
                (Prim::Index, [xs, i]) => return Ok(format!("{xs} {i}")),
                (Prim::Gather, [is, xs]) => return Ok(format!("fun i => {xs} ({is} i)")),
                _ => {}
            }
        }
        let head = self.term(def, f, frame)?;
        let binds = ["fun ", "if ", "let "].iter().any(|word| head.starts_with(word));
        let head = if binds { format!("({head})") } else { head };
        Ok(std::iter::once(head).chain(texts).collect::<Vec<_>>().join(" "))
    }

    /// A primitive as a function of its arguments, its sizes given.
    fn prim(&mut self, prim: Prim, sizes: &[Size], ty: &Ty, span: Span, frame: &Frame) -> Outcome<String> {
        let ty = frame.ty(ty);
        let sizes: Vec<String> = sizes.iter().map(|size| self.size(&frame.size(size))).collect();
        let params = params_of(&ty);
        let length = |k: usize| match params.get(k) {
            Some(Ty::Array(n, _)) => Some(n.clone()),
            _ => None,
        };
        let of = |printer: &Self, k: usize| length(k).map(|n| printer.size(&n)).unwrap_or_default();
        Ok(match prim {
            Prim::Pair => "pair".to_owned(),
            Prim::Fst | Prim::Snd | Prim::Zip | Prim::Unzip | Prim::Transpose | Prim::Generate => {
                prim.name().to_owned()
            }
            Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll => "map".to_owned(),
            Prim::TransPar => "transpose".to_owned(),
            Prim::Copy | Prim::CopySeq => "copy".to_owned(),
            Prim::Reorder => "reorder".to_owned(),
            Prim::ToMem => "stored".to_owned(),
            Prim::Take => "take".to_owned(),
            Prim::ScanSeq => "scan".to_owned(),
            Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar => {
                format!("reduce {}", of(self, 2))
            }
            Prim::Reverse | Prim::ReverseSeq => format!("reverse {}", of(self, 0)),
            Prim::Concat => format!("concat {}", of(self, 0)),
            Prim::Split | Prim::AsVector | Prim::Drop => {
                let word = if prim == Prim::Drop { "drop" } else { "split" };
                format!("{word} {}", sizes.concat())
            }
            Prim::Join | Prim::AsScalar => match params.first() {
                Some(Ty::Array(_, row)) => match &**row {
                    Ty::Array(k, _) | Ty::Vector(k, _) => format!("join {}", self.size(k)),
                    _ => return self.refuse("this", span),
                },
                _ => return self.refuse("this", span),
            },
            Prim::Slide => format!("slide {}", sizes.get(1).cloned().unwrap_or_default()),
            Prim::PadClamp => {
                format!("padClamp {} {}", sizes.first().cloned().unwrap_or_default(), of(self, 0))
            }
            Prim::Pad => {
                let (l, n) = (sizes.first().cloned().unwrap_or_default(), of(self, 1));
                format!("fun v x i => if i <? {l} then v else if i <? {l} + {n} then x (i - {l}) else v")
            }
            Prim::Splat => "fun x _ => x".to_owned(),
            Prim::Iterate => format!("Nat.iter {}", sizes.concat()),
            Prim::Index => "fun x i => x i".to_owned(),
            Prim::Gather => "fun is x i => x (is i)".to_owned(),
            Prim::Select => "fun c a b => if c then a else b".to_owned(),
            Prim::AddIdx => "Nat.add".to_owned(),
            Prim::SubIdx => "Nat.sub".to_owned(),
            Prim::MulIdx => "Nat.mul".to_owned(),
            Prim::DivIdx => "Nat.div".to_owned(),
            Prim::IdxPred => format!("{} - 1", sizes.concat()),
            Prim::And => "andb".to_owned(),
            Prim::Or => "orb".to_owned(),
            Prim::Not => "negb".to_owned(),
            Prim::Zero | Prim::One => {
                let number = if prim == Prim::Zero { "n0" } else { "n1" };
                self.operation(number, &ty, &ty, frame)?
            }
            Prim::Iota
            | Prim::ToIdx
            | Prim::Scatter
            | Prim::ReduceByIndex
            | Prim::ReduceByIndexPar
            | Prim::ScanPar => {
                return self.refuse(&format!("`{}`", prim.name()), span);
            }
            _ if prim.info().group == Group::Scalar => {
                let of = params.first().cloned().unwrap_or_else(|| ty.clone());
                self.operation(prim.name(), &of, &ty, frame)?
            }
            _ => return self.refuse(&format!("`{}`", prim.name()), span),
        })
    }
}

fn params_of(ty: &Ty) -> Vec<Ty> {
    let (mut params, mut rest) = (Vec::new(), ty.clone());
    while let Ty::Fun(param, result) = rest {
        params.push((*param).clone());
        rest = (*result).clone();
    }
    params
}
