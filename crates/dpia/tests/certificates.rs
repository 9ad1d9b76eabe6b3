//! Certificates as text: `tests/dpia/certificates/*.loz`, the files for Coq beside them. Whether
//! Coq takes them is tested with the command.
mod support;

use dpia::certificate::certify;
use dpia::{Mode, translate};

#[test]
fn certificates_read_well() {
    for (mode, extension) in [(Mode::Default, "v"), (Mode::Paper, "paper.v")] {
        golden::check("dpia/certificates", "loz", extension, |case| {
            let mut text = String::new();
            for d in support::definitions(&case.input) {
                let t = translate(&d, mode).unwrap_or_else(|e| panic!("{e}"));
                text.push_str(&match certify(&d, &t.function, &t.abi, mode, &[]) {
                    Ok(certificate) => certificate.to_coq(&d.name),
                    Err(refused) => format!("(* {}: {refused}; {:?} *)\n", d.name, refused.notes),
                });
                text.push('\n');
            }
            text
        });
    }
}
