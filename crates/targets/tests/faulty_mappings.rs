//! The second look at slave files against faulty mappings: a transfer or a wait of a mapped program
//! is changed, a slave file is written for that, and held against the program as it was.
//!
//! So each fault is in the text in whatever form the target gives it, ahead of its time, shared or
//! in panels. Faults that no mapping has, such as a half that is not changed, are in `athread.rs`.

use std::collections::BTreeMap;

use loops::{Copy, CopyKind, Expr, Function, Program, Stmt};
use targets::athread::verify::{Verdict, check};
use targets::athread::{SW26010, around};

/// What becomes of a statement that can have a fault.
type Faulty = Option<Vec<Stmt>>;

/// A fault: its name, what becomes of a statement, and words of which what is said has some.
struct Fault {
    name: &'static str,
    put: fn(&Stmt) -> Faulty,
    said: &'static [&'static str],
}

/// A transfer with a change, if there is something to change.
fn copy(stmt: &Stmt, change: impl Fn(&mut Copy) -> Option<()>) -> Faulty {
    let Stmt::Copy(copy) = stmt else { return None };
    let mut changed = copy.clone();
    change(&mut changed)?;
    Some(vec![Stmt::Copy(changed)])
}

/// The subscripts of a transfer in main memory.
fn place(copy: &mut Copy) -> &mut Vec<Expr> {
    match copy.kind {
        CopyKind::Put => &mut copy.to.indices,
        _ => &mut copy.from.indices,
    }
}

fn one_more(e: &mut Expr) {
    *e = e.clone() + 1;
}

fn next_row(copy: &mut Copy) -> Option<()> {
    let [row, _, ..] = place(copy).as_mut_slice() else { return None };
    one_more(row);
    Some(())
}

fn next_tile(copy: &mut Copy) -> Option<()> {
    let variable =
        |e: &Expr| e.nodes().find_map(|e| if let Expr::Var(name) = e { Some(name.clone()) } else { None });
    let var = place(copy).iter().find_map(variable)?;
    for e in place(copy) {
        *e = e.substitute(&|name| (*name == var).then(|| Expr::Var(var.clone()) + 1));
    }
    Some(())
}

fn less(copy: &mut Copy) -> Option<()> {
    let last = copy.extents.last_mut()?;
    *last = last.clone() - 1;
    Some(())
}

fn the_other_way(copy: &mut Copy) -> Option<()> {
    std::mem::swap(&mut copy.from, &mut copy.to);
    copy.kind = if copy.kind == CopyKind::Put { CopyKind::Get } else { CopyKind::Put };
    Some(())
}

const ANOTHER: &[&str] = &[
    "which holds another box than the mapping says",
    "to another place of",
    "which does not hold the box of",
    "than the first steps need",
];

const FAULTS: [Fault; 7] = [
    Fault {
        name: "a wait is missing",
        put: |stmt| matches!(stmt, Stmt::Wait(_)).then(Vec::new),
        said: &["is on its way", "before", "which nothing was brought into"],
    },
    Fault {
        name: "a transfer is missing",
        put: |stmt| matches!(stmt, Stmt::Copy(_)).then(Vec::new),
        said: &[
            "nothing was brought into",
            "before it is brought out",
            "does not bring out",
            "which does not hold the box of",
            "to another place of",
        ],
    },
    Fault { name: "the next row", put: |stmt| copy(stmt, next_row), said: ANOTHER },
    Fault {
        name: "the next column",
        put: |stmt| copy(stmt, |copy| place(copy).last_mut().map(one_more)),
        said: ANOTHER,
    },
    Fault { name: "the next tile", put: |stmt| copy(stmt, next_tile), said: ANOTHER },
    Fault { name: "a column less", put: |stmt| copy(stmt, less), said: ANOTHER },
    Fault {
        name: "the other way",
        put: |stmt| copy(stmt, the_other_way),
        said: &["which does not hold the box of", "before it is brought out"],
    },
];

/// Puts a fault into the statement that has this number among those that can have it; what is left
/// of the number, if there are fewer.
fn put(body: &mut Vec<Stmt>, fault: &Fault, mut number: usize) -> Result<Stmt, usize> {
    for k in 0..body.len() {
        if let Some(changed) = (fault.put)(&body[k]) {
            if number == 0 {
                let stmt = body[k].clone();
                body.splice(k..=k, changed);
                return Ok(stmt);
            }
            number -= 1;
        }
        let inner: Vec<&mut Vec<Stmt>> = match &mut body[k] {
            Stmt::Loop(l) => vec![&mut l.body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Block { body, .. } => vec![body],
            _ => vec![],
        };
        for body in inner {
            match put(body, fault, number) {
                Ok(stmt) => return Ok(stmt),
                Err(left) => number = left,
            }
        }
    }
    Err(number)
}

/// What the check says of a faulty mapping; none if the target has written a text without the
/// fault, since it has its own places for waits of what it moves ahead of its time.
fn told(original: &Function, right: &str, faulty: &Function) -> Option<String> {
    let files = match around(&[faulty], "program", &SW26010) {
        Ok(files) => files,
        // Already against the faulty program: where it uses what it does not have.
        Err(wrong) => return Some(format!("{} {}", wrong.code, wrong.message)),
    };
    let waits = |text: &str| text.matches("WAIT(").count();
    match check(&[original], &files.slave) {
        Err(wrong) => Some(format!("{} {}", wrong.code, wrong.message)),
        Ok(Verdict::Followed(_)) if files.slave == right => None,
        Ok(Verdict::Followed(_)) if !has_waits(faulty, original) && waits(&files.slave) == waits(right) => {
            None
        }
        Ok(other) => Some(format!("{other:?}")),
    }
}

/// Whether a program has as many waits as another one.
fn has_waits(faulty: &Function, original: &Function) -> bool {
    let waits =
        |f: &Function| loops::visit::nodes(&f.body).filter(|stmt| matches!(stmt, Stmt::Wait(_))).count();
    waits(faulty) == waits(original)
}

#[test]
fn faults_of_mappings_are_seen() {
    let folder = golden::root().join("tests/targets/athread");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|e| e.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "loops"));
    paths.sort();
    let (mut missed, mut seen) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let Program { functions } = loops::parse(&text).expect("the program is sound");
        for original in &functions {
            let right = around(&[original], "program", &SW26010).expect("there is a slave file").slave;
            for fault in &FAULTS {
                for number in 0.. {
                    let mut faulty = original.clone();
                    let Ok(stmt) = put(&mut faulty.body, fault, number) else { break };
                    let Some(told) = told(original, &right, &faulty) else { continue };
                    if told.starts_with("T0006 ") && fault.said.iter().any(|said| told.contains(said)) {
                        *seen.entry(fault.name).or_default() += 1;
                    } else {
                        missed.push(format!(
                            "{}: {}: {}: {told}",
                            path.display(),
                            fault.name,
                            stmt.headline()
                        ));
                    }
                }
            }
        }
    }
    println!("{seen:?}");
    assert!(seen.len() == FAULTS.len() && seen.values().all(|count| *count > 100), "{seen:?}");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
