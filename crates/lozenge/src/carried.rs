//! Texts that the command carries with it, deflated: together they are 1.2 MB of text, and a fifth
//! of that in the program. Each collection is unpacked when it is first asked for.

use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

/// Names and texts of files, in order of the names within a folder.
pub(crate) type Texts = Vec<(String, String)>;

macro_rules! carried {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        $($(#[$doc])*
        pub(crate) static $name: LazyLock<Texts> =
            LazyLock::new(|| unpack(include_bytes!(concat!(env!("OUT_DIR"), "/", $file))));)*
    };
}

carried! {
    /// The pages of `docs/errors`.
    PAGES = "pages";
    /// The Coq files of `proofs`.
    THEORY = "theory";
    /// The headers and sources of `runtime/athread`.
    EMULATOR = "emulator";
}

/// Reads what the build script has packed: names and texts, each ended by a zero byte.
fn unpack(packed: &[u8]) -> Texts {
    let mut all = String::new();
    DeflateDecoder::new(packed).read_to_string(&mut all).expect("packed by the build script");
    let mut parts = all.split_terminator('\0').map(str::to_owned);
    std::iter::from_fn(|| parts.next().zip(parts.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_what_the_repository_has() {
        for (folder, texts) in [("docs/errors", &PAGES), ("proofs", &THEORY), ("runtime/athread", &EMULATOR)]
        {
            assert!(texts.len() > 10, "{folder}");
            for (name, text) in texts.iter() {
                let path = golden::root().join(folder).join(name);
                assert!(std::fs::read_to_string(&path).is_ok_and(|t| t == *text), "{}", path.display());
            }
        }
    }
}
