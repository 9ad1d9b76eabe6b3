//! The strategies of the library, written in the language that users write.

use super::Named;

/// Name, what it does, text.
pub const LIBRARY: &[(&str, &str, &str)] = &[
    (
        "tile",
        "Tiles of `a x b` iterations of the nested maps whose functions bind `i` and `j`: `tile(row, col, 8, 8)`. Arrays are padded where their lengths are not known to be multiples. The loops in a tile still bind `i` and `j`.",
        "\\i j a b ->
         at i (splitJoin(a) <+ (padMap(a); at i (splitJoin(a))));
         at j (splitJoin(b) <+ (padMap(b); at j (splitJoin(b))));
         repeat (at i mapFission);
         at i interchange",
    ),
    (
        "unrollAndJam",
        "The map whose function binds `i` goes over `k` elements at once: the loop inside of it, a map or a reduction, does the work of `k` iterations in each of its own.",
        "\\i k ->
         at i (splitJoin(k) <+ (padMap(k); at i (splitJoin(k))));
         at i ((interchange; at i useMapUnroll) <+ (liftReduce; operands; everywhere useMapUnroll))",
    ),
    (
        "computeAt",
        "The array that `let v = ...` binds is computed inside of the map whose function binds `i`, as far as an iteration needs it, and kept in a temporary there. `v` is used once, in the array of that map.",
        "\\v i ->
         at v (try (child 0 dropToMem); letInline);
         at i (child 1 (normalise (slideMap <+ splitMap <+ takeMap <+ dropMap)); mapFusion);
         try (at i (child 0 toMem))",
    ),
    (
        "simplify",
        "Simplifies names, pairs, constants and views that cancel. Changes no loop.",
        "normalise (letInline <+ letDead <+ fstPair <+ sndPair <+ pairEta <+ joinSplit <+ splitJoinId <+ transposeTranspose
           <+ reverseReverse <+ copyId <+ takeAll <+ dropNone <+ unzipZip <+ zipUnzip <+ scalarVector <+ vectorScalar
           <+ mapIdentity <+ selectConstant <+ negNeg <+ mulOne <+ addZero <+ reorderIdentity)",
    ),
    (
        "tidy",
        "Computes once what occurs twice, and nothing that is not used. Applied to programs without `--strategy`.",
        "try dropUnused; repeat share",
    ),
    (
        "fuse",
        "One pass instead of several, wherever a map or a reduction reads a map.",
        "simplify; normalise (mapFusion <+ reduceMapFusion <+ mapGenerate <+ letInline <+ fstPair <+ sndPair <+ mapIdentity)",
    ),
    (
        "auto",
        "The strategy of programs that leave their loops open, and of `--schedule auto`. It fuses, then chooses parallel, sequential and vector loops.",
        "tidy; fuse; choose",
    ),
    (
        "cancelViews",
        "Removes splits, joins and transpositions that cancel, and fuses maps over them.",
        "normalise (joinSplit <+ splitJoinId <+ mapFusion <+ transposeTranspose)",
    ),
    (
        "operands",
        "Separates the operands of lifted reductions and puts them where they are used.",
        "normalise (transposeMapZip <+ transposeTranspose <+ letInline <+ fstPair <+ sndPair <+ mapIdentity <+ reduceMapFusion
           <+ zipMap <+ mapFusion <+ takeZip <+ dropZip <+ splitZip)",
    ),
    (
        "packTiles",
        "For `map (\\x -> map (\\y -> e) ys) xs`. Both arrays are padded to multiples of `mr` and `nr`, and packed in memory in the order of tiles. The loops become `mr x nr` tiles.",
        "\\mr nr ->
         at map (padMap(mr));
         at padClamp (pack(mr));
         at map (splitJoin(mr));
         cancelViews;
         inside map (inside map (at map (padMap(nr)); at padClamp (pack(nr)); at map (splitJoin(nr))));
         cancelViews;
         repeat hoist;
         inside let 2 (
           inside map (mapFission; child 1 mapFission; child 1 (child 1 interchange));
           at map (mapFission; child 1 mapFission; child 1 (child 1 (mapFission; child 1 interchange))))",
    ),
    (
        "liftTile",
        "A tile of reductions becomes one reduction over a tile of accumulators.",
        "topDown liftReduce; operands; topDown liftReduce; operands",
    ),
    (
        "blockReduction",
        "For two nested maps around a reduction in blocks with a remainder. The blocks become the outermost loop.",
        "inside map (at map (separate; child 1 (child 1 liftReduce)); operands);
         at map (separate; child 1 (child 1 liftReduce));
         operands",
    ),
    (
        "tileProduct",
        "Turns a plain matrix product into one with `mr x nr` tiles over packed operands. (The plain product is a map over rows of a map over columns of a sum of products.) The summation is in blocks of `kc`. The order of additions stays.",
        "\\mr nr kc ->
         fuse;
         packTiles(mr, nr);
         inside let 2 (at transpose 2 (
           inside map (inside map (liftTile; topDown (reduceSplitRest(kc)); operands));
           blockReduction))",
    ),
    (
        "sumLanes",
        "For a sum `reduce (\\x a -> x + a)` of any length. `k` sums are computed side by side in the lanes of a vector, and added up at the end. Regroups additions.",
        "reassociate \\k -> topDown (reduceCut(k); child 1 (reduceLanes(k)))",
    ),
    (
        "vectorTile",
        "Innermost maps over numbers are vectorised. Other short maps are unrolled.",
        "everywhere (useMapVec <+ useMapUnroll)",
    ),
    (
        "fastProduct",
        "Makes a matrix product fast. It uses tiles that fit the processor's vector registers, and blocks of 256 of the summation.",
        "tileProduct(tileRows, tileColumns, 256); vectorTile; choose",
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
pub(super) fn forget_spans(named: &mut Named) {
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
