//! The greedy driver beside a slow reference that tries every operation: on random nests, scopes,
//! strictness levels and pattern sets, on regions and on listed operations.

#[path = "../common/mod.rs"]
mod common;
mod model;
mod nests;
mod patterns;

use model::{Reached, initial, inside, scope, would_change};
use nests::Case;
use tangram_ir::{Module, Op, Order, text, walk};
use tangram_rewrite::greedy::{Stop, Strictness, apply_to_ops, apply_with_listener};
use tangram_rewrite::{FrozenPatternSet, GreedyConfig, Listener, PatternSet, Report};

fn drive(
    case: &Case,
    set: &FrozenPatternSet,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
) -> (Module, Report) {
    let mut module = case.module.clone();
    let report = match &case.ops {
        Some(ops) => apply_to_ops(&mut module, ops, set, config, listener),
        None => apply_with_listener(&mut module, case.root, set, config, listener),
    };
    (module, report)
}

/// What stands outside of the scope: each operation's name, operands and place, and its attributes
/// but for the one that a pattern sets from inside.
fn outside(module: &Module, scope: Op) -> Vec<String> {
    let all = walk(module, module.root(), Order::Pre);
    let outer = all.into_iter().filter(|&op| !inside(module, op, scope));
    outer
        .map(|op| {
            let context = module.context();
            let poked = context.str("poked");
            let attrs = context.with_entry(module.attrs(op), poked, None);
            let operands: Vec<_> = module.operands(op).collect();
            let before = module.prev(op).map(|op| op.as_u32());
            format!("{op:?} {} {attrs:?} {operands:?} {before:?}", module.name_text(op))
        })
        .collect()
}

/// Puts one random case to both drivers; returns how many rewrites there were.
fn check(seed: u64) -> u64 {
    let mut rng = fastrand::Rng::with_seed(seed);
    let case = nests::case(&mut rng);
    let mut names: Vec<&str> = patterns::NAMES.to_vec();
    rng.shuffle(&mut names);
    names.truncate(rng.usize(1..=names.len()));
    let context = case.module.context_arc().clone();
    let mut set = PatternSet::new();
    names.iter().for_each(|name| set.add(patterns::pattern(&context, name)));
    let set = set.freeze();
    let about = |module: &Module| {
        format!(
            "seed {seed}, {names:?}, root {:?}, ops {:?}, {:?}\n{}\nbecomes\n{}",
            case.root,
            case.ops,
            case.config,
            text::print(&case.module),
            text::print(module)
        )
    };

    let mut heard = Reached::default();
    let (found, report) = drive(&case, &set, &case.config, &mut heard);
    assert_eq!(report.stopped_by, None, "{}", about(&found));
    assert_eq!(report.breaches, [], "{}", about(&found));
    let around = scope(&case);
    let (before, after) = (outside(&case.module, around), outside(&found, around));
    assert_eq!(before, after, "outside of the scope: {}", about(&found));

    let strict = case.config.strictness;
    let start = initial(&case);
    let new = |op: &Op| heard.new.contains(op) && strict != Strictness::ExistingOps;
    let woken = |op: &Op| heard.reached.contains(op) && strict == Strictness::AnyOp;
    let all = walk(&found, found.root(), Order::Pre).into_iter();
    let listed = all.filter(|op| start.contains(op) || new(op) || woken(op));
    let listed = listed.filter(|&op| inside(&found, op, around));
    let left = would_change(&found, listed, &set, &case.config);
    assert_eq!(left, None, "still matches: {}", about(&found));
    let freed =
        heard.released.iter().filter(|op| start.contains(op) || strict == Strictness::AnyOp);
    let mut freed = freed.filter(|&&op| inside(&found, op, around));
    let dead = freed.find(|&&op| case.config.erase_dead && model::is_dead(&found, op));
    assert_eq!(dead, None, "dead: {}", about(&found));

    // Which operations a change reaches depends on the order, where any of them may be rewritten.
    let fixed = strict != Strictness::AnyOp
        || case.ops.is_none() && (around == case.root || !inside(&case.module, case.root, around));
    if fixed && patterns::is_confluent(&names) {
        let expected = model::run(&case, &set);
        assert_eq!(text::print(&found), text::print(&expected), "{}", about(&found));
    }
    check_limits(&mut rng, &case, &set, (&found, &report));
    report.rewrites
}

/// Limits are reported only where they stand in the way.
fn check_limits(
    rng: &mut fastrand::Rng,
    case: &Case,
    set: &FrozenPatternSet,
    (found, report): (&Module, &Report),
) {
    let stopped = |config: GreedyConfig| {
        let (module, report) = drive(case, set, &config, &mut tangram_rewrite::Silent);
        (text::print(&module), report.stopped_by)
    };
    let whole = text::print(found);
    let exact = GreedyConfig { max_rewrites: Some(report.rewrites), ..case.config.clone() };
    assert_eq!(stopped(exact), (whole.clone(), None), "as many rewrites as it takes");
    if report.rewrites > 0 {
        let less = rng.u64(..report.rewrites);
        let config = GreedyConfig { max_rewrites: Some(less), ..case.config.clone() };
        assert_eq!(stopped(config).1, Some(Stop::Rewrites(less)));
    }
    let most = rng.u32(1..=2);
    let config = GreedyConfig { max_iterations: Some(most), ..case.config.clone() };
    match stopped(config) {
        (text, None) => assert_eq!(text, whole, "{most} rounds"),
        (text, stop) => assert!(text != whole && stop == Some(Stop::Iterations(most))),
    }
}

#[test]
fn the_greedy_driver_does_what_trying_everything_does() {
    let rewrites: u64 = (0..1000).map(check).sum();
    assert!(rewrites > 1500, "only {rewrites} rewrites");
}

#[test]
#[ignore = "ten thousand random nests"]
fn the_greedy_driver_does_what_trying_everything_does_on_many_nests() {
    let rewrites: u64 = (0..10_000).map(check).sum();
    println!("{rewrites} rewrites");
}
