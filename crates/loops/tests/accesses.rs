//! Lists of accesses of the programs in `tests/loops/access`.

use loops::{AccessKind, Context, accesses};
use std::fmt::Write as _;

#[test]
fn accesses_are_read_off() {
    golden::check("loops/access", "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap();
        let mut out = String::new();
        for site in program.functions.iter().flat_map(|f| accesses(&f.body)) {
            let kind = match site.kind {
                AccessKind::Read => "read".to_owned(),
                AccessKind::Write => "write".to_owned(),
                AccessKind::Update(u) => {
                    format!("update {}{}", u.op.symbol(), if u.reorder { " reorder" } else { "" })
                }
            };
            let label = site.label.map_or("-", |l| l);
            let _ = write!(out, "{} {label}: {kind} {}", site.position, site.access);
            for extent in site.extents.unwrap_or_default() {
                let _ = write!(out, " x{extent}");
            }
            for context in &site.context {
                let _ = match context {
                    Context::Loop(l) => write!(out, " | {}", l.header()),
                    Context::Condition { cond, holds } => {
                        write!(out, " | {}({cond})", if *holds { "" } else { "!" })
                    }
                    Context::Mark(mark) => write!(out, " | mark {mark}"),
                };
            }
            out.push('\n');
        }
        out
    });
}
