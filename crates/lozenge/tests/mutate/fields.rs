//! Certificates with one field changed, as a mistake of the exporter would: each says something
//! that is not so.
//!
//! Not here: other loops (`mutants`). A parameter's type, say, is changed on one side only; changed
//! on both it is another program's certificate.

use dpia::certificate::Certificate;
use dpia::certificate::data::{ArrayType, Exp, Law, Op, Tables, Tm, Ty};

/// A change, and what it makes.
pub type Mutant = (&'static str, Certificate);

/// All changes of a certificate.
pub fn mutants(c: &Certificate) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut add = |what, change: &dyn Fn(&mut Certificate)| {
        let mut mutant = c.clone();
        change(&mut mutant);
        if mutant != *c {
            all.push((what, mutant));
        }
    };
    sizes(&mut add);
    arguments(c, &mut add);
    result(&mut add);
    declarations(c, &mut add);
    laws(c, &mut add);
    source(&mut add);
    all
}

type Add<'a> = dyn FnMut(&'static str, &dyn Fn(&mut Certificate)) + 'a;

fn sizes(add: &mut Add<'_>) {
    add("an assumption that never holds", &|c| c.assume.push(Tm::Int(-1)));
    add("two assumptions that exclude each other", &|c| {
        if c.sizes > 0 {
            c.assume.push(Tm::Op(Op::Isub, vec![Tm::Int(-1), Tm::Var(0)]));
        }
    });
    add("sizes of which one does not hold what is assumed", &|c| c.example.iter_mut().for_each(|n| *n = -1));
    add("an example without sizes", &|c| c.example.clear());
    add("an assumption about an array", &|c| c.assume.push(Tm::In(0, vec![], vec![])));
}

fn arguments(c: &Certificate, add: &mut Add<'_>) {
    add("no parameters", &|c| c.args.clear());
    add("a parameter twice", &|c| c.args.extend(c.args.first().cloned()));
    add("the result as a parameter", &|c| c.args.push((c.out, c.returns.clone())));
    for k in 0..c.args.len() {
        add("a parameter of another type", &|c| other_type(&mut c.args[k].1));
        add("a parameter with more elements", &|c| longer(&mut c.args[k].1, Op::Iadd));
        add("a parameter with fewer elements", &|c| longer(&mut c.args[k].1, Op::Isub));
        add("a parameter of fewer dimensions", &|c| flatter(&mut c.args[k].1));
        add("a parameter without its type", &|c| c.args[k].1.clear());
        add("a number that no array has", &|c| c.args[k].0 += 1000);
        add("a component exchanged", &|c| exchanged(&mut c.args[k].1));
        add("a larger bound of indices", &|c| bound(&mut c.args[k].1, Op::Iadd));
        add("indices as numbers", &|c| {
            for (_, ty, _) in &mut c.args[k].1 {
                if matches!(ty, Ty::Below(_)) {
                    *ty = Ty::Num("i64");
                }
            }
        });
    }
}

fn result(add: &mut Add<'_>) {
    add("no result", &|c| c.returns.clear());
    add("a result of another type", &|c| other_type(&mut c.returns));
    add("a result with fewer elements", &|c| longer(&mut c.returns, Op::Isub));
    add("a result with more elements", &|c| longer(&mut c.returns, Op::Iadd));
    add("a result of fewer dimensions", &|c| flatter(&mut c.returns));
    add("a part of the result", &|c| {
        c.returns.pop();
    });
    add("the result in a parameter", &|c| {
        if let Some((number, _)) = c.args.first() {
            c.out = *number;
        }
    });
    add("the result nowhere", &|c| c.out += 1000);
}

fn declarations(c: &Certificate, add: &mut Add<'_>) {
    add("no arrays", &|c| c.dims.clear());
    for k in 0..c.dims.len() {
        add("an array of another type", &|c| {
            for (_, ty) in &mut c.dims[k].1.components {
                *ty = if *ty == "f32" { "i32" } else { "f32" };
            }
        });
        add("an array declared twice", &|c| {
            let again = c.dims[k].clone();
            c.dims.push(again);
        });
        add("an array declared before, as another", &|c| {
            let (number, array) = c.dims[k].clone();
            let extents = array.extents.into_iter().chain([Tm::Int(7)]).collect();
            c.dims.insert(0, (number, ArrayType { extents, ..array }));
        });
        add("an array that is not declared", &|c| {
            c.dims.remove(k);
        });
        add("an array without components", &|c| c.dims[k].1.components.clear());
        add("an array of fewer dimensions", &|c| {
            c.dims[k].1.extents.pop();
        });
        if c.dims[k].0 <= c.out {
            add("an array with more elements than the definition's", &|c| {
                for n in &mut c.dims[k].1.extents {
                    *n = Tm::Op(Op::Iadd, vec![n.clone(), Tm::Int(1)]);
                }
            });
        }
    }
}

fn laws(c: &Certificate, add: &mut Add<'_>) {
    let mut claim = |law: Law| add("a law that the operation has not", &|c| c.laws.push(law.clone()));
    for name in ["sub.f32", "div.f32", "pow.f32", "add.f33", "lt.f32", "", "f32"] {
        claim(Law::Commutes(name.into()));
        claim(Law::Associates(name.into()));
    }
    claim(Law::Neutral("f32 3f800000".into(), "add.f32".into()));
    claim(Law::Neutral("f32 00000000".into(), "mul.f32".into()));
    claim(Law::Neutral("f32 00000000".into(), "max.f32".into()));
    for k in 0..c.sums.len() {
        add("threads begin with another number", &|c| c.sums[k].1 = Tm::Lit("f32 40000000".into()));
        add("another loop is summed", &|c| c.sums[k].0 += 1000);
    }
}

fn source(add: &mut Add<'_>) {
    add("another constant", &|c| {
        each(&mut c.source, &mut |e| {
            if let Exp::Lit(text) = e {
                *text = "f32 40490fdb".into();
            }
        });
    });
    add("operations of another type", &|c| {
        each(&mut c.source, &mut |e| {
            if let Exp::Op(Op::Scalar(name), _) = e {
                *name = match name.split_once('.') {
                    Some((head, "f32")) => format!("{head}.f64"),
                    Some((head, _)) => format!("{head}.f32"),
                    None => String::new(),
                };
            }
        });
    });
    add("data that do not wrap", &|c| {
        each(&mut c.source, &mut |e| match e {
            Exp::Op(op @ Op::Wadd, _) => *op = Op::Iadd,
            Exp::Op(op @ Op::Wmul, _) => *op = Op::Imul,
            Exp::Op(op @ Op::Wsub, _) => *op = Op::Isub,
            _ => {}
        });
    });
    add("parameters that are not there", &|c| {
        let numbers: Vec<u32> = c.args.iter().map(|(number, _)| *number).collect();
        each(&mut c.source, &mut |e| match e {
            Exp::Var(x) if numbers.contains(x) => *x += 1000,
            _ => {}
        });
    });
}

fn other_type(tables: &mut Tables) {
    for (_, ty, _) in tables {
        *ty = Ty::Num(if *ty == Ty::Num("f32") { "f64" } else { "f32" });
    }
}

fn longer(tables: &mut Tables, op: Op) {
    for (_, _, extents) in tables {
        for n in extents {
            *n = Tm::Op(op.clone(), vec![n.clone(), Tm::Int(1)]);
        }
    }
}

fn bound(tables: &mut Tables, op: Op) {
    for (_, ty, _) in tables {
        if let Ty::Below(n) = ty {
            *n = Tm::Op(op.clone(), vec![n.clone(), Tm::Int(1)]);
        }
    }
}

fn flatter(tables: &mut Tables) {
    for (_, _, extents) in tables {
        extents.pop();
    }
}

fn exchanged(tables: &mut Tables) {
    for (components, _, _) in tables {
        if let Some(first) = components.first_mut() {
            *first = !*first;
        }
    }
}

/// Every part of a program.
fn each(e: &mut Exp, change: &mut dyn FnMut(&mut Exp)) {
    let all = |es: &mut [Exp], change: &mut dyn FnMut(&mut Exp)| es.iter_mut().for_each(|e| each(e, change));
    match e {
        Exp::Var(_) | Exp::Size(_) | Exp::Lit(_) => {}
        Exp::Op(_, es) => all(es, change),
        Exp::Select(es) | Exp::Reduce(.., es) | Exp::Scan(.., es) | Exp::Scatter(.., es) => {
            all(&mut es[..], change)
        }
        Exp::Pair(es)
        | Exp::Let(_, es)
        | Exp::Map(_, es)
        | Exp::Iterate(.., es)
        | Exp::Pad(.., es)
        | Exp::Concat(_, es)
        | Exp::Gather(es)
        | Exp::Reorder(_, es)
        | Exp::Idx(es) => all(&mut es[..], change),
        Exp::Fst(e) | Exp::Snd(e) | Exp::Generate(_, e) | Exp::View(_, e) => each(e, change),
    }
    change(e);
}
