//! The strategies that ship, in the language that users write.

use super::Named;

/// Name, what it does, text.
pub const LIBRARY: &[(&str, &str, &str)] = &[
    (
        "simplify",
        "Resolves names, pairs, views that cancel and constants; changes no loop.",
        "normalise (letInline <+ letDead <+ fstPair <+ sndPair <+ pairEta <+ joinSplit <+ splitJoinId <+ transposeTranspose
           <+ reverseReverse <+ copyId <+ takeAll <+ dropNone <+ unzipZip <+ zipUnzip <+ scalarVector <+ vectorScalar
           <+ mapIdentity <+ selectConstant <+ negNeg <+ mulOne <+ addZero <+ reorderIdentity)",
    ),
    (
        "fuse",
        "One pass instead of several, wherever a map feeds a map or a reduction.",
        "simplify; normalise (mapFusion <+ reduceMapFusion <+ mapGenerate <+ letInline <+ fstPair <+ sndPair <+ mapIdentity)",
    ),
    (
        "auto",
        "What `--schedule auto` applies: fuses, then chooses parallel, sequential and vector loops.",
        "fuse; choose",
    ),
];

/// The strategies as values.
pub(super) fn parsed() -> Vec<Named> {
    LIBRARY
        .iter()
        .map(|(name, _, text)| match super::parse(&(*name).into(), text, 0) {
            Ok(mut named) => {
                forget_spans(&mut named);
                named
            }
            Err(error) => panic!("the library's strategy `{name}`: {error}"),
        })
        .collect()
}

/// Spans of the library lie in no file of the user.
fn forget_spans(named: &mut Named) {
    use super::Strategy;
    fn go(s: &mut Strategy) {
        match s {
            Strategy::Call(call) => call.span = Default::default(),
            Strategy::Seq(parts) | Strategy::Choice(parts) => parts.iter_mut().for_each(go),
            Strategy::Try(s)
            | Strategy::Repeat(s)
            | Strategy::Not(s)
            | Strategy::TopDown(s)
            | Strategy::BottomUp(s)
            | Strategy::Everywhere(s)
            | Strategy::Normalise(s)
            | Strategy::All(s)
            | Strategy::One(s)
            | Strategy::Child(_, s)
            | Strategy::AtPosition(_, s)
            | Strategy::At(_, _, s)
            | Strategy::Inside(_, _, s) => go(s),
            Strategy::Id | Strategy::Fail | Strategy::Auto => {}
        }
    }
    named.span = Default::default();
    go(&mut named.body);
}
