//! What is told of a functional program whose loops the compiler chose.

use loops::{Diagnostic, Function, Name};

use super::{Front, Lowered, candidates};
use crate::request::{Kind, Request, Schedule};

impl Front {
    /// What is told of a program whose loops the compiler chose.
    pub fn chosen_loops(&self, lowered: &Lowered, request: &Request) -> Option<Diagnostic> {
        let name = &lowered.function.name;
        if !lowered.undecided {
            let instead = request.schedule == Schedule::Usual && lowered.original.is_some();
            let message =
                format!("the affine scheduler chose the loops of `{name}`, not those that it writes");
            let help = "`lozenge explain` tells what is predicted of both; `--schedule none` keeps what the program writes";
            return (self.kind() == Kind::Functional && instead).then(|| self.note(name, message).help(help));
        }
        let tiled = lowered.applied.iter().any(|one| one.pass == polyhedral::optimize::REGISTER_TILING.name);
        let how = match (lowered.original.is_some(), tiled) {
            (true, true) => "the strategy `auto` and the affine scheduler chose, with register tiles",
            (true, false) => "the strategy `auto` and the affine scheduler chose",
            (false, _) => "the strategy `auto` chose",
        };
        let message = format!("`{name}` does not say how its loops run: {how}");
        // What is left of sums that run side by side is a chain, too, but a short one.
        let jammed = lowered.applied.iter().any(|one| one.pass == passes::UNROLL_AND_JAM.name());
        let free = lowered.reassociated || tiled || jammed;
        let chains = if free { 0 } else { candidates::chains(&lowered.function) };
        let mut note = self.note(name, message);
        if chains > 0 {
            let sums = if chains == 1 {
                "a sum of floating-point numbers keeps".to_owned()
            } else {
                format!("{chains} sums of floating-point numbers keep")
            };
            note = note.note(format!(
                "{sums} the order of the additions, and each waits for the one before: some cycles for every element"
            ));
            note = note
                .help("`--reassociate` lets additions run side by side; results then differ by roundings");
        }
        if let Some((name, single)) = function_of_libm(&lowered.function) {
            note = note.note(format!("`{name}` of the C library takes one number at a time")).help(format!(
                "`{single}` of `library/mathematics.loz` is arithmetic, which runs in lanes; its last bit may differ"
            ));
        }
        Some(note.help("write `mapPar`, `mapSeq` and the like, or give `--strategy`, to choose yourself"))
    }

    /// A note on a definition.
    fn note(&self, name: &Name, message: String) -> Diagnostic {
        let code = loops::Code("D0107");
        let note = match self.first_line(name) {
            Some(span) => Diagnostic::error(code, message, span, "begins here"),
            None => Diagnostic::general(code, message),
        };
        Diagnostic { severity: loops::Severity::Note, ..note }
    }
}

/// A function of the C library that loops call on numbers of single precision, and the definition
/// of the library that is arithmetic; none if there is no such call.
fn function_of_libm(function: &Function) -> Option<(&'static str, &'static str)> {
    let single = function.params.iter().any(|param| param.elem == loops::Elem::Scalar(loops::Scalar::F32));
    let of = |e: &loops::Expr| match e {
        loops::Expr::Unary(loops::UnaryOp::Exp, _) => Some(("exp", "exp_single")),
        loops::Expr::Unary(loops::UnaryOp::Log, _) => Some(("log", "log_single")),
        loops::Expr::Unary(loops::UnaryOp::Tanh, _) => Some(("tanh", "tanh_single")),
        _ => None,
    };
    let mut all = loops::visit::nodes(&function.body).flat_map(|stmt| stmt.exprs());
    if single { all.find_map(|e| e.nodes().find_map(of)) } else { None }
}
