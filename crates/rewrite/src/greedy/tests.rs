//! The driver on chains and nests of a small test dialect.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tangram_ir::{
    Attr, Block, Context, Loc, Module, Name, Op, OpDef, OpState, Point, Traits, Value,
};

use super::{Breach, GreedyConfig, Report, Seeding, Stop, apply};
use crate::{FrozenPatternSet, NoMatch, PatternSet, RewritePattern, Rewriter, Roots, create};

static LEAF: OpDef = OpDef { traits: Traits::PURE, ..OpDef::new("t.leaf", "a value") };
static NEG: OpDef = OpDef { traits: Traits::PURE, ..OpDef::new("t.neg", "-x") };
static ADD: OpDef = OpDef { traits: Traits::PURE, ..OpDef::new("t.add", "x + y") };
static RANDOM: OpDef = OpDef {
    traits: Traits::PURE.union(Traits::RANDOM),
    ..OpDef::new("t.random", "another value each time")
};
static IF: OpDef =
    OpDef { traits: Traits::RECURSIVE_EFFECTS, regions: None, ..OpDef::new("t.if", "regions") };
static CELL: OpDef =
    OpDef { traits: Traits::ISOLATED, regions: None, ..OpDef::new("t.cell", "a walled region") };

struct Bench {
    module: Module,
    block: Block,
}

impl Bench {
    fn new() -> Bench {
        let context = Context::new();
        context.register([&LEAF, &NEG, &ADD, &RANDOM, &IF, &CELL]);
        let module = Module::new(context);
        let block = module.body();
        Bench { module, block }
    }

    fn op(&mut self, name: &str, operands: &[Value], results: usize) -> Op {
        self.op_in(self.block, name, operands, results, 0)
    }

    fn op_in(
        &mut self,
        block: Block,
        name: &str,
        operands: &[Value],
        results: usize,
        regions: u32,
    ) -> Op {
        let ty = self.module.context().int_type(32);
        let mut state = OpState::new(self.module.context().name(name), Loc::UNKNOWN);
        state.operands.extend(operands.iter().copied());
        state.results.extend(std::iter::repeat_n(ty, results));
        state.regions = regions;
        self.module.create_at(Point::End(block), state)
    }

    fn value(&mut self, name: &str, operands: &[Value]) -> Value {
        let op = self.op(name, operands, 1);
        self.module.result(op, 0)
    }

    /// An operation without a definition, which is never dead, uses the values.
    fn keep(&mut self, values: &[Value]) -> Op {
        self.op("t.keep", values, 0)
    }

    fn names(&self) -> Vec<&str> {
        self.module.ops(self.block).map(|op| self.module.name_text(op)).collect()
    }

    fn apply(&mut self, patterns: Vec<Box<dyn RewritePattern>>, config: &GreedyConfig) -> Report {
        let root = self.module.root();
        apply(&mut self.module, root, &frozen(patterns), config)
    }
}

fn frozen(patterns: Vec<Box<dyn RewritePattern>>) -> FrozenPatternSet {
    let mut set = PatternSet::new();
    set.extend(patterns);
    set.freeze()
}

type Action = fn(&mut Rewriter<'_>, Op) -> Result<(), NoMatch>;

/// A pattern made of a function.
struct Rule {
    name: &'static str,
    labels: Vec<String>,
    root: Option<Name>,
    benefit: u16,
    depth: u32,
    action: Action,
}

impl RewritePattern for Rule {
    fn name(&self) -> &str {
        self.name
    }
    fn labels(&self) -> &[String] {
        &self.labels
    }
    fn roots(&self) -> Roots {
        self.root.map_or(Roots::Any, |name| Roots::Names(vec![name]))
    }
    fn benefit(&self) -> u16 {
        self.benefit
    }
    fn depth(&self) -> u32 {
        self.depth
    }
    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        (self.action)(rewriter, op)
    }
}

fn rule(bench: &Bench, name: &'static str, root: &str, action: Action) -> Rule {
    let root = Some(bench.module.context().name(root));
    Rule { name, labels: Vec::new(), root, benefit: 1, depth: 1, action }
}

/// `neg(neg(x))` becomes `x`.
fn double_negation(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let inner = module.def_op(module.operand(op, 0)).ok_or(NoMatch::SILENT)?;
    if module.name(inner) != module.name(op) {
        return Err(NoMatch::because("the operand is no negation"));
    }
    let x = module.operand(inner, 0);
    rewriter.replace(op, &[x]).map_err(|_| NoMatch::SILENT)
}

fn rename(rewriter: &mut Rewriter<'_>, op: Op, to: &str) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let mut state = OpState::new(module.context().name(to), module.loc(op));
    state.operands.extend(module.operands(op));
    state.results.extend(module.results(op).map(|v| module.value_type(v)));
    let new = rewriter.create(Point::Before(op), state);
    let value = rewriter.module().result(new, 0);
    rewriter.replace(op, &[value]).map_err(|_| NoMatch::SILENT)
}

#[test]
fn a_chain_of_pairs_collapses() {
    for seeding in [Seeding::TopDown, Seeding::BottomUp] {
        let mut bench = Bench::new();
        let leaf = bench.value("t.leaf", &[]);
        let mut at = leaf;
        for _ in 0..1001 {
            at = bench.value("t.neg", &[at]);
        }
        let keep = bench.keep(&[at]);
        let pattern = rule(&bench, "double-negation", "t.neg", double_negation);
        let config = GreedyConfig { seeding, reasons: true, ..GreedyConfig::default() };
        let report = bench.apply(vec![Box::new(pattern)], &config);
        assert_eq!(bench.names(), ["t.leaf", "t.neg", "t.keep"]);
        assert_eq!(
            bench.module.operand(keep, 0),
            bench.module.result(bench.module.ops(bench.block).nth(1).unwrap(), 0)
        );
        assert_eq!(report.stopped_by, None);
        let stats = &report.patterns[0];
        assert_eq!(stats.removed + report.dead, 1000);
        assert_eq!(stats.last_failure.as_deref(), Some("the operand is no negation"));
    }
}

#[test]
fn a_long_chain_takes_time_that_grows_with_its_length_only() {
    let mut bench = Bench::new();
    let mut at = bench.value("t.leaf", &[]);
    for _ in 0..100_000 {
        at = bench.value("t.neg", &[at]);
    }
    bench.keep(&[at]);
    let pattern = rule(&bench, "double-negation", "t.neg", double_negation);
    let report = bench.apply(vec![Box::new(pattern)], &GreedyConfig::default());
    assert_eq!(bench.names(), ["t.leaf", "t.keep"]);
    // Each operation is seen a bounded number of times.
    assert!(report.visits < 1_000_000, "{} visits", report.visits);
}

#[test]
fn unused_operations_go_and_others_stay() {
    let mut bench = Bench::new();
    let leaf = bench.value("t.leaf", &[]);
    let neg = bench.value("t.neg", &[leaf]);
    bench.value("t.neg", &[neg]);
    let unknown = bench.op("t.unknown", &[neg], 1);
    let report = bench.apply(vec![], &GreedyConfig::default());
    assert_eq!(bench.names(), ["t.leaf", "t.neg", "t.unknown"]);
    assert_eq!(report.dead, 1);
    let erasable = vec![bench.module.name(unknown)];
    let report = bench.apply(vec![], &GreedyConfig { erasable, ..GreedyConfig::default() });
    assert_eq!((bench.names().len(), report.dead), (0, 3));
}

#[test]
fn equal_operations_merge_and_the_earlier_stays() {
    for seeding in [Seeding::TopDown, Seeding::BottomUp] {
        let mut bench = Bench::new();
        let leaf = bench.value("t.leaf", &[]);
        let a = bench.value("t.neg", &[leaf]);
        let b = bench.value("t.neg", &[leaf]);
        let [r, s] = [bench.value("t.random", &[]), bench.value("t.random", &[])];
        let keep = bench.keep(&[b, a, r, s]);
        let config = GreedyConfig { seeding, ..GreedyConfig::default() };
        let report = bench.apply(vec![], &config);
        assert_eq!(bench.module.operands(keep).collect::<Vec<_>>(), [a, a, r, s]);
        assert_eq!(report.merged, 1);
    }
}

#[test]
fn regions_see_what_stands_around_unless_walled() {
    for (name, merged) in [("t.if", 1), ("t.cell", 0)] {
        let mut bench = Bench::new();
        let outer = bench.value("t.leaf", &[]);
        let nest = bench.op_in(bench.block, name, &[], 0, 2);
        for i in 0..2 {
            let region = bench.module.region(nest, i);
            let block = bench.module.add_block(region);
            let leaf = bench.op_in(block, "t.leaf", &[], usize::from(i == 0), 0);
            let values: Vec<Value> = bench.module.results(leaf).collect();
            bench.op_in(block, "t.keep", &values, 0, 0);
        }
        bench.keep(&[outer]);
        let report = bench.apply(vec![], &GreedyConfig::default());
        assert_eq!(report.merged, merged, "{name}");
    }
}

#[test]
fn equal_operations_in_two_branches_stay_apart() {
    let mut bench = Bench::new();
    let nest = bench.op_in(bench.block, "t.if", &[], 0, 2);
    for i in 0..2 {
        let region = bench.module.region(nest, i);
        let block = bench.module.add_block(region);
        let leaf = bench.op_in(block, "t.leaf", &[], 1, 0);
        let values: Vec<Value> = bench.module.results(leaf).collect();
        bench.op_in(block, "t.keep", &values, 0, 0);
    }
    assert_eq!(bench.apply(vec![], &GreedyConfig::default()).merged, 0);
}

#[test]
fn the_limit_names_the_cycle() {
    let mut bench = Bench::new();
    let leaf = bench.value("t.leaf", &[]);
    let neg = bench.value("t.neg", &[leaf]);
    bench.keep(&[neg]);
    let there = rule(&bench, "there", "t.neg", |r, op| rename(r, op, "t.add"));
    let back = rule(&bench, "back", "t.add", |r, op| rename(r, op, "t.neg"));
    let config = GreedyConfig { max_rewrites: Some(100), ..GreedyConfig::default() };
    let report = bench.apply(vec![Box::new(there), Box::new(back)], &config);
    assert_eq!(report.stopped_by, Some(Stop::Rewrites(100)));
    let cycle = report.cycle.expect("a cycle");
    assert_eq!((cycle.steps.len(), cycle.rounds), (2, 50));
    assert_eq!(cycle.to_string(), "`there` on `t.neg` -> `back` on `t.add` -> again");
}

#[test]
fn patterns_that_undo_each_other_end_without_a_set_limit() {
    let mut bench = Bench::new();
    let leaf = bench.value("t.leaf", &[]);
    bench.keep(&[leaf]);
    let again = rule(&bench, "again", "t.leaf", |r, op| rename(r, op, "t.leaf"));
    let report = bench.apply(vec![Box::new(again)], &GreedyConfig::default());
    assert!(matches!(report.stopped_by, Some(Stop::Rewrites(n)) if n < 20_000));
    assert_eq!(report.cycle.expect("a cycle").steps.len(), 1);
}

#[test]
fn time_and_cancellation_end_the_work_and_are_named() {
    let started = |config: GreedyConfig| {
        let mut bench = Bench::new();
        let leaf = bench.value("t.leaf", &[]);
        bench.keep(&[leaf]);
        bench.apply(vec![], &config).stopped_by
    };
    let late = GreedyConfig { deadline: Some(Instant::now()), ..GreedyConfig::default() };
    assert_eq!(started(late), Some(Stop::Deadline));
    let flag = Arc::new(AtomicBool::new(true));
    let cancelled = GreedyConfig { cancel: Some(flag), ..GreedyConfig::default() };
    assert_eq!(started(cancelled), Some(Stop::Cancelled));
}

#[test]
fn greater_benefit_goes_first_and_labels_switch_patterns_off() {
    let set = |disable: &[&str], only: &[&str]| {
        let bench = Bench::new();
        let mut first = rule(&bench, "first", "t.neg", double_negation);
        first.labels = vec!["cleanup".to_owned()];
        let mut second = rule(&bench, "second", "t.neg", double_negation);
        second.benefit = 9;
        let mut any = rule(&bench, "any", "t.neg", double_negation);
        (any.root, any.labels) = (None, vec!["cleanup".to_owned()]);
        let mut set = PatternSet::new();
        set.add(first);
        set.add(second);
        set.add(any);
        assert!(set.names("cleanup") && set.names("any") && !set.names("tidy"));
        let frozen = set.freeze_filtered(disable, only);
        let name = bench.module.context().name("t.neg");
        let other = bench.module.context().name("t.add");
        assert!(frozen.candidates(other).len() <= 1);
        let of = |&i: &u32| frozen.pattern(i).name().to_owned();
        frozen.candidates(name).iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(set(&[], &[]), ["second", "first", "any"]);
    assert_eq!(set(&["cleanup"], &[]), ["second"]);
    assert_eq!(set(&["any"], &["cleanup"]), ["first"]);
    assert_eq!(set(&["second"], &["second"]), Vec::<String>::new());
}

/// A pattern whose benefit is known only once it is complete.
struct Late(u16);

impl RewritePattern for Late {
    fn name(&self) -> &'static str {
        "late"
    }

    fn roots(&self) -> Roots {
        Roots::Any
    }

    fn benefit(&self) -> u16 {
        self.0
    }

    fn initialize(&mut self) {
        self.0 = 7;
    }

    fn match_and_rewrite(&self, _: &mut Rewriter<'_>, _: Op) -> Result<(), NoMatch> {
        Err(NoMatch::SILENT)
    }
}

#[test]
fn patterns_are_completed_when_they_are_added() {
    let mut set = PatternSet::new();
    set.add(Late(1));
    set.add_with_label("slow", Late(1));
    set.extend([create(Late(1))]);
    assert!(set.names("slow"));
    let benefits: Vec<u16> = set.freeze().iter().map(|pattern| pattern.benefit()).collect();
    assert_eq!(benefits, [7, 7, 7]);
}

#[test]
fn broken_contracts_are_reported_and_do_not_loop() {
    let mut bench = Bench::new();
    let leaf = bench.value("t.leaf", &[]);
    let neg = bench.value("t.neg", &[leaf]);
    bench.keep(&[neg]);
    let idle = rule(&bench, "idle", "t.neg", |_, _| Ok(()));
    let sly = rule(&bench, "sly", "t.leaf", |rewriter, op| {
        let name = rewriter.module().context().str("seen");
        if rewriter.module().attr_by(op, name).is_none() {
            rewriter.set_attr(op, name, Some(Attr::UNIT));
        }
        Err(NoMatch::SILENT)
    });
    let report = bench.apply(vec![Box::new(idle), Box::new(sly)], &GreedyConfig::default());
    assert_eq!(report.stopped_by, None);
    assert!(report.breaches.contains(&Breach::SuccessWithoutChange("idle".to_owned())));
    assert!(report.breaches.contains(&Breach::ChangeWithoutSuccess("sly".to_owned())));
}

/// Matches `keep(add(x, neg(leaf)))`, three levels deep, and marks the root; `leaf` is made from
/// an unknown operation only later.
#[test]
fn a_change_far_below_the_root_is_seen() {
    for depth in [1, 4] {
        let mut bench = Bench::new();
        let raw = bench.value("t.raw", &[]);
        let neg = bench.value("t.neg", &[raw]);
        let add = bench.value("t.add", &[neg, neg]);
        let keep = bench.keep(&[add]);
        let mut deep = rule(&bench, "deep", "t.keep", |rewriter, op| {
            let module = rewriter.module();
            let mut at = op;
            for _ in 0..3 {
                at = module.def_op(module.operand(at, 0)).ok_or(NoMatch::SILENT)?;
            }
            let mark = module.context().str("deep");
            if module.name_text(at) != "t.leaf" || module.attr_by(op, mark).is_some() {
                return Err(NoMatch::SILENT);
            }
            rewriter.set_attr(op, mark, Some(Attr::UNIT));
            Ok(())
        });
        deep.depth = depth;
        let late = rule(&bench, "late", "t.raw", |r, op| rename(r, op, "t.leaf"));
        let config = GreedyConfig { seeding: Seeding::BottomUp, ..GreedyConfig::default() };
        let report = bench.apply(vec![Box::new(deep), Box::new(late)], &config);
        assert!(bench.module.attr(keep, "deep").is_some());
        // Known depth: the first round finds it. Wrongly stated: the sweep does.
        assert_eq!(report.sweeps, if depth == 4 { 2 } else { 3 });
    }
}

/// A pattern that goes to other users of its operands.
struct Sideways(Rule);

impl RewritePattern for Sideways {
    fn name(&self) -> &str {
        self.0.name
    }
    fn roots(&self) -> Roots {
        self.0.roots()
    }
    fn looks_sideways(&self) -> bool {
        true
    }
    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        self.0.match_and_rewrite(rewriter, op)
    }
}

/// One operation with thousands of operands, each of which changes once, is no reason to look at
/// all that is beside it each time.
#[test]
fn many_operands_of_one_operation_cost_little_each() {
    let pushes = |count: usize| {
        let mut bench = Bench::new();
        let mut outputs = Vec::new();
        for _ in 0..count {
            let leaf = bench.value("t.leaf", &[]);
            let inner = bench.value("t.neg", &[leaf]);
            let outer = bench.value("t.neg", &[inner]);
            let beside = bench.value("t.add", &[outer, outer]);
            outputs.extend([outer, beside]);
        }
        bench.keep(&outputs);
        let pattern = Sideways(rule(&bench, "double-negation", "t.neg", double_negation));
        let never = rule(&bench, "never", "t.add", |_, _| Err(NoMatch::SILENT));
        let patterns: Vec<Box<dyn RewritePattern>> = vec![Box::new(pattern), Box::new(never)];
        let before = super::tracker::PUSHES.get();
        bench.apply(patterns, &GreedyConfig::default());
        assert!(!bench.names().contains(&"t.neg"));
        super::tracker::PUSHES.get() - before
    };
    let (few, many) = (pushes(200), pushes(2000));
    assert!(many < 12 * few, "{few} for 200 values, {many} for 2000");
}
