//! Errors as values, limits, callbacks, lifetimes; and all of it again under valgrind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use isl::{
    AstBuild, AstExprKind, AstNodeKind, AstOp, Ctx, Dim, ErrorKind, Flag, Map, NodeKind, PwAff, Schedule,
    ScheduleConstraints, Set, UnionAccessInfo, UnionMap, UnionSet, Val,
};

#[test]
fn sets_and_maps_answer() {
    let ctx = Ctx::new();
    let square = Set::read(&ctx, "[n] -> { S[i, j] : 0 <= i, j < n }").unwrap();
    let triangle = Set::read(&ctx, "[n] -> { S[i, j] : 0 <= j <= i < n }").unwrap();
    assert!(triangle.is_subset(&square).unwrap());
    assert!(!square.is_subset(&triangle).unwrap());
    let rest = square.subtract(&triangle).unwrap();
    assert!(rest.is_disjoint(&triangle).unwrap());
    assert!(rest.union(&triangle).unwrap().is_equal(&square).unwrap());
    let transpose = Map::read(&ctx, "{ S[i, j] -> S[j, i] }").unwrap();
    assert!(square.apply(&transpose).unwrap().is_equal(&square).unwrap());
    assert!(transpose.is_bijective().unwrap());
    let ten = triangle.fix(Dim::Param, 0, 10).unwrap().params().unwrap();
    let ten = triangle.intersect_params(&ten).unwrap().project_out(Dim::Param, 0, 1).unwrap();
    assert_eq!(ten.count().unwrap().to_i64().unwrap(), 55);
}

#[test]
fn pieces_of_a_function() {
    let ctx = Ctx::new();
    let space = Set::read(&ctx, "{ [i] }").unwrap().space().unwrap();
    let i = PwAff::variable(&space, Dim::SET, 0).unwrap();
    let five = PwAff::constant(&space, 5).unwrap();
    let least = i.min(&five).unwrap();
    assert_eq!(least.pieces().unwrap().len(), 2);
    let at_most = least.lt_set(&five).unwrap();
    assert!(at_most.is_equal(&Set::read(&ctx, "{ [i] : i <= 4 }").unwrap()).unwrap());
}

#[test]
fn an_error_is_reported_once() {
    let ctx = Ctx::new();
    let set = Set::read(&ctx, "{ A[i] : i > 0 }").unwrap();
    let other = Set::read(&ctx, "{ B[i, j] }").unwrap();
    let error = set.union(&other).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    assert!(error.place.is_some());
    // The context works on, and the next error is its own.
    assert!(set.union(&set).is_ok());
    let big = Set::read(&ctx, "{ [170141183460469231731687303715884105727] }").unwrap();
    let big = big.sample_point().unwrap().coordinate(Dim::SET, 0).unwrap();
    let error = big.to_i64().unwrap_err();
    assert_ne!(error.kind, ErrorKind::Quota);
    assert_eq!(Val::int(&ctx, i64::MIN).unwrap().to_i64().unwrap(), i64::MIN);
    assert!(set.dim_min(7).is_err());
    assert!(set.dim_name(Dim::SET, 9).is_err());
    assert!(Set::read(&ctx, "{ nul\0byte[] }").is_err());
    assert!(set.is_subset(&set).unwrap());
}

#[test]
fn contexts_do_not_mix() {
    let (one, two) = (Ctx::new(), Ctx::new());
    let a = Set::read(&one, "{ [i] }").unwrap();
    let b = Set::read(&two, "{ [i] }").unwrap();
    assert_eq!(a.union(&b).unwrap_err().kind, ErrorKind::Argument);
    assert_eq!(Map::from_domain_and_range(&a, &b).unwrap_err().kind, ErrorKind::Argument);
}

/// A set whose complement needs many disjuncts.
fn hard(ctx: &Ctx) -> isl::Result<Set> {
    let mut set = Set::read(ctx, "[n] -> { [a, b, c, d] : 0 <= a, b, c, d < n }")?;
    for k in 2..9 {
        let hole = format!(
            "[n] -> {{ [a, b, c, d] : (exists (e : a + {k}*b - c + 3*d = 7*e + {k})) and {k}*a > b + c }}"
        );
        set = set.subtract(&Set::read(ctx, &hole)?)?.coalesce()?;
    }
    set.lexmin()
}

#[test]
fn the_fuse_stops_work_and_is_taken_out_again() {
    let ctx = Ctx::new();
    let error = ctx.limited(2_000, || hard(&ctx)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Quota, "{error}");
    // Afterwards all is as before.
    assert!(Set::read(&ctx, "{ [i] : 0 <= i < 10 }").unwrap().lexmin().is_ok());
    // Nested limits: the inner one ends, the outer one still holds.
    let outer = ctx.limited(1_000_000_000, || {
        assert_eq!(ctx.limited(100, || hard(&ctx)).unwrap_err().kind, ErrorKind::Quota);
        Set::read(&ctx, "{ [i] : 0 <= i < 10 }").unwrap().lexmax()
    });
    assert!(outer.is_ok());
    // A panic inside takes the limit away too.
    let panicked = catch_unwind(AssertUnwindSafe(|| ctx.limited(1, || panic!("inside"))));
    assert!(panicked.is_err());
    assert!(Set::read(&ctx, "{ [i] : 0 <= i < 10 }").unwrap().lexmin().is_ok());
}

#[test]
fn operations_are_counted() {
    let count = |limit: u64, work: &dyn Fn(&Ctx)| {
        let (ctx, before) = (Ctx::new(), isl::spent());
        ctx.limited(limit, || work(&ctx));
        isl::spent() - before
    };
    let read = |ctx: &Ctx| drop(Set::read(ctx, "{ [i] : 0 <= i < 10 }").unwrap());
    let one = count(1_000_000, &read);
    assert!(one > 10, "{one}");
    // The same work takes as many, whatever the limit, and twice as many if it is done twice, the
    // outer and the inner limit's together.
    assert_eq!(count(one + 1, &read), one);
    let twice = count(1_000_000, &|ctx| {
        read(ctx);
        ctx.limited(1_000_000, || read(ctx));
    });
    assert!((2 * one - one / 4..=2 * one).contains(&twice), "{twice}, once {one}");
    // What reaches its limit has used it up.
    assert_eq!(count(2_000, &|ctx| drop(hard(ctx))), 2_000);
}

fn product(ctx: &Ctx) -> Schedule {
    let domain = "[n] -> { S[i, j] : 0 <= i, j < n; T[i, j, k] : 0 <= i, j, k < n }";
    let domain = UnionSet::read(ctx, domain).unwrap();
    let flow = "[n] -> { S[i, j] -> T[i, j, 0]; T[i, j, k] -> T[i, j, k + 1] }";
    let flow = UnionMap::read(ctx, flow)
        .unwrap()
        .intersect_domain(&domain)
        .unwrap()
        .intersect_range(&domain)
        .unwrap();
    ctx.set(Flag::ScheduleSerializeSccs, 0).unwrap();
    ScheduleConstraints::on_domain(&domain)
        .unwrap()
        .validity(&flow)
        .unwrap()
        .coincidence(&flow)
        .unwrap()
        .proximity(&flow)
        .unwrap()
        .compute()
        .unwrap()
}

#[test]
fn a_product_is_scheduled_in_one_band() {
    let ctx = Ctx::new();
    let schedule = product(&ctx);
    let band = schedule.root().unwrap().child(0).unwrap();
    assert_eq!(band.kind().unwrap(), NodeKind::Band);
    assert!(band.permutable().unwrap());
    let coincident: Vec<bool> = (0..3).map(|k| band.coincident(k).unwrap()).collect();
    assert_eq!(coincident, [true, true, false]);
    assert_eq!(band.partial_schedule().unwrap().members().unwrap().len(), 3);
    let text = schedule.to_string();
    assert!(Schedule::read(&ctx, &text).unwrap().map().unwrap().is_equal(&schedule.map().unwrap()).unwrap());
}

#[test]
fn a_syntax_tree_is_read() {
    let ctx = Ctx::new();
    let schedule = product(&ctx);
    let marked = schedule.to_string().replacen("child: {", "child: { mark: \"outer\", child: {", 1) + " }";
    let marked = Schedule::read(&ctx, &marked).unwrap();
    let context = Set::read(&ctx, "[n] -> { : n >= 1 }").unwrap();
    let build = AstBuild::new(&context).unwrap().iterators(&["i", "j", "k"]).unwrap();
    let tree = build.node(&marked).unwrap();
    let AstNodeKind::Mark(name, inner) = tree.kind().unwrap() else { panic!("{tree}") };
    assert_eq!(name, "outer");
    let AstNodeKind::For { iterator, init, cond, inc, .. } = inner.kind().unwrap() else { panic!("{tree}") };
    assert_eq!(iterator, "i");
    assert!(matches!(init.kind().unwrap(), AstExprKind::Int(0)));
    assert!(matches!(inc.unwrap().kind().unwrap(), AstExprKind::Int(1)));
    let AstExprKind::Op(AstOp::Lt, sides) = cond.unwrap().kind().unwrap() else { panic!("{tree}") };
    assert!(matches!(sides[1].kind().unwrap(), AstExprKind::Id(n) if n == "n"));
}

#[test]
fn dataflow_finds_the_last_write() {
    let ctx = Ctx::new();
    let writes = UnionMap::read(&ctx, "{ W[i] -> A[i] : 0 <= i < 10; V[i] -> A[2i] : 0 <= i < 5 }").unwrap();
    let reads = UnionMap::read(&ctx, "{ R[i] -> A[i] : 0 <= i < 12 }").unwrap();
    let order = UnionMap::read(&ctx, "{ W[i] -> [0, i]; V[i] -> [1, i]; R[i] -> [2, i] }").unwrap();
    let flow = UnionAccessInfo::from_sink(&reads)
        .unwrap()
        .must_source(&writes)
        .unwrap()
        .schedule_map(&order)
        .unwrap()
        .compute()
        .unwrap();
    let expected = "{ V[i] -> R[2i] : 0 <= i < 5; W[i] -> R[i] : 0 <= i < 10 and i mod 2 = 1 }";
    assert!(flow.may().unwrap().is_equal(&UnionMap::read(&ctx, expected).unwrap()).unwrap());
}

#[test]
fn objects_outlive_the_handle_of_their_context_in_any_order() {
    let (set, clone, list, function) = {
        let ctx = Ctx::new();
        let set = Set::read(&ctx, "{ A[i] : 0 <= i < 9 or 20 <= i < 29 }").unwrap();
        let clone = set.clone();
        let list = set.basic_sets().unwrap();
        let band = product(&ctx).root().unwrap().child(0).unwrap();
        let function = band.partial_schedule().unwrap();
        drop(ctx);
        (set, clone, list, function)
    };
    drop(set);
    assert_eq!(list.len(), 2);
    let constraints = list[0].constraints().unwrap();
    drop(list);
    assert!(!constraints[0].is_equality().unwrap());
    let members = function.members().unwrap();
    drop(function);
    assert!(members[1].to_string().contains("S[i, j] -> [(j)]"), "{}", members[1]);
    drop(constraints);
    assert_eq!(clone.count().unwrap().to_i64().unwrap(), 18);
}

/// Runs the other tests of this binary under valgrind: no leak, no invalid access.
#[test]
fn nothing_leaks_under_valgrind() {
    let installed = Command::new("valgrind").arg("--version").output().is_ok();
    assert!(installed, "valgrind is missing: ./x setup installs it");
    let binary = std::env::current_exe().unwrap();
    let output = Command::new("valgrind")
        .args([
            "--quiet",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect",
            "--error-exitcode=97",
        ])
        .arg(binary)
        .args(["--test-threads=1", "--skip", "nothing_leaks_under_valgrind"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stdout));
}
