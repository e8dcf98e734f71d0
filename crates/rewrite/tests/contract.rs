//! What a pattern owes its driver, told alike by all drivers; and patterns in two steps.

mod common;

use common::{context, find, frozen, names, parse, rule, show};
use tangram_ir::{Attr, Context, Module, Op, OpState};
use tangram_rewrite::conversion::{ConversionConfig, ConversionTarget, convert};
use tangram_rewrite::greedy::{self, Breach, Stop};
use tangram_rewrite::{
    FnPattern, GreedyConfig, MatchThenRewrite, NoMatch, PatternSet, RewritePattern, Rewriter,
    Roots, Silent, Split, WalkLimits, create, walk_and_apply, walk_within,
};

const TWO: &str = "\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()";

fn mark(rewriter: &Rewriter<'_>) -> (tangram_ir::Str, Option<Attr>) {
    (rewriter.module().context().str("mark"), Some(Attr::UNIT))
}

fn is_marked(module: &Module, op: Op) -> bool {
    module.attr(op, "mark").is_some()
}

/// Marks `t.a` once, and says that it did not.
fn sly(context: &Context) -> FnPattern {
    rule(context, "sly", "t.a", |rewriter, op| {
        if !is_marked(rewriter.module(), op) {
            let (key, unit) = mark(rewriter);
            rewriter.set_attr(op, key, unit);
        }
        Err(NoMatch::SILENT)
    })
}

/// Marks `t.a` once, by a modification that it does not finalize.
fn unfinished(context: &Context) -> FnPattern {
    rule(context, "unfinished", "t.a", |rewriter, op| {
        if is_marked(rewriter.module(), op) {
            return Err(NoMatch::SILENT);
        }
        let (key, unit) = mark(rewriter);
        let modification = rewriter.start_modification(op);
        rewriter.edit(&modification).set_attr(key, unit);
        drop(modification);
        Ok(())
    })
}

/// The breaches that the walk, the greedy driver and the checking greedy driver report.
fn breaches(make: fn(&Context) -> FnPattern) -> [Vec<Breach>; 3] {
    let context = context();
    let set = || frozen([make(&context)]);
    let module = || parse(&context, TWO);
    let mut walked = module();
    let root = walked.root();
    let walk = walk_and_apply(&mut walked, root, &set(), &mut Silent);
    assert!(is_marked(&walked, find(&walked, "t.a")));
    assert_eq!(walk.rewrites, 1);
    let greedy = |check: bool| {
        let config = GreedyConfig { check, ..GreedyConfig::default() };
        greedy::apply(&mut module(), root, &set(), &config).breaches
    };
    [walk.breaches, greedy(false), greedy(true)]
}

#[test]
fn every_driver_names_a_pattern_that_changes_and_says_that_it_did_not_match() {
    let wanted = vec![Breach::ChangeWithoutSuccess("sly".to_owned())];
    assert_eq!(breaches(sly), [wanted.clone(), wanted.clone(), wanted]);
}

#[test]
fn every_driver_names_a_pattern_that_leaves_a_modification_open_and_hears_of_it() {
    let wanted = vec![Breach::UnfinishedModification("unfinished".to_owned())];
    assert_eq!(breaches(unfinished), [wanted.clone(), wanted.clone(), wanted]);
}

#[test]
fn a_refused_rewrite_that_takes_back_what_it_made_is_no_change() {
    let context = context();
    let mut module = parse(&context, TWO);
    let set = frozen([rule(&context, "shy", "t.a", |rewriter, op| {
        let state = OpState::new(rewriter.module().context().name("t.c"), tangram_ir::Loc::UNKNOWN);
        let made = rewriter.create(tangram_ir::Point::Before(op), state);
        rewriter.erase(made);
        Err(NoMatch::SILENT)
    })]);
    let root = module.root();
    let report = walk_and_apply(&mut module, root, &set, &mut Silent);
    assert_eq!((report.rewrites, report.breaches), (0, vec![]));
}

#[test]
fn no_other_pattern_is_tried_after_one_that_changed_something() {
    let context = context();
    let mut module = parse(&context, TWO);
    let eraser = rule(&context, "eraser", "t.a", |rewriter, op| {
        rewriter.erase(op);
        Err(NoMatch::because("it says"))
    });
    let set = frozen([eraser.with_benefit(2), sly(&context)]);
    let root = module.root();
    let report = walk_and_apply(&mut module, root, &set, &mut Silent);
    assert_eq!(names(&module), ["t.b"]);
    assert_eq!(report.breaches, [Breach::ChangeWithoutSuccess("eraser".to_owned())]);
}

#[test]
fn a_conversion_takes_back_what_a_broken_pattern_does_and_says_so() {
    let context = context();
    let mut module = parse(&context, TWO);
    let before = show(&module);
    let idle = rule(&context, "idle", "t.a", |_, _| Ok(()));
    let set = frozen([sly(&context), idle]);
    let mut target = ConversionTarget::new();
    target.illegal(context.name("t.a"));
    let root = module.root();
    let config = ConversionConfig::default();
    let errors = convert(&mut module, root, &target, &set, &config, &mut Silent)
        .expect_err("nothing makes it legal");
    assert_eq!(show(&module), before);
    let notes = errors[0].notes.join("\n");
    assert!(notes.contains("`idle` did not match: it reported a rewrite but"), "{notes}");
    target.unknown(|_, _| None).legal(context.name("t.a"));
    let report = convert(&mut module, root, &target, &set, &config, &mut Silent).expect("legal");
    assert_eq!(report.breaches, []);
}

#[test]
fn a_pattern_of_hopeless_results_is_named_where_it_is_missed() {
    let context = context();
    let mut module = parse(&context, TWO);
    let hopeless = rule(&context, "hopeless", "t.a", |_, _| Err(NoMatch::SILENT))
        .with_generated([context.name("t.gone")]);
    let mut target = ConversionTarget::new();
    target.illegal(context.name("t.a"));
    let root = module.root();
    let (set, config) = (frozen([hopeless]), ConversionConfig::default());
    let errors = convert(&mut module, root, &target, &set, &config, &mut Silent).expect_err("none");
    assert_eq!(
        errors[0].notes,
        ["pattern `hopeless` is not tried: it makes `t.gone`, which is not legal and which no \
          pattern makes legal"]
    );
}

#[test]
fn a_limit_is_reported_only_if_something_is_left() {
    let context = context();
    let erase = || {
        frozen([rule(&context, "erase", "t.a", |rewriter, op| {
            rewriter.erase(op);
            Ok(())
        })])
    };
    let source =
        "\"t.a\"() : () -> ()\n\"t.b\"() : () -> ()\n\"t.a\"() : () -> ()\n\"t.c\"() : () -> ()";
    for (most, walked, greedily) in [(2, None, None), (1, Some(1), Some(1)), (0, Some(0), Some(0))]
    {
        let stop = |most: Option<u64>| most.map(Stop::Rewrites);
        let mut module = parse(&context, source);
        let root = module.root();
        let limits = WalkLimits { max_rewrites: Some(most), ..WalkLimits::default() };
        let report = walk_within(&mut module, root, &erase(), &limits, &mut Silent);
        assert_eq!((report.stopped_by, report.rewrites), (stop(walked), most));
        assert_eq!(names(&module).len() as u64, 4 - most);
        let mut module = parse(&context, source);
        let config = GreedyConfig { max_rewrites: Some(most), ..GreedyConfig::default() };
        let report = greedy::apply(&mut module, root, &erase(), &config);
        assert_eq!((report.stopped_by, report.rewrites), (stop(greedily), most));
        assert_eq!(names(&module).len() as u64, 4 - most);
    }
}

/// Erases `t.a`, in two steps, with all that a pattern may say of itself.
struct Erase {
    labels: Vec<String>,
}

impl MatchThenRewrite for Erase {
    type Found = ();

    fn name(&self) -> &'static str {
        "erase"
    }
    fn labels(&self) -> &[String] {
        &self.labels
    }
    fn roots(&self) -> Roots {
        Roots::Any
    }
    fn looks_sideways(&self) -> bool {
        true
    }
    fn has_bounded_recursion(&self) -> bool {
        true
    }
    fn initialize(&mut self) {
        self.labels.push("completed".to_owned());
    }
    fn matches(&self, module: &Module, op: Op) -> Result<(), NoMatch> {
        (module.name_text(op) == "t.a").then_some(()).ok_or(NoMatch::SILENT)
    }
    fn reason(&self, module: &Module, op: Op) -> Option<String> {
        Some(format!("`{}` is no `t.a`", module.name_text(op)))
    }
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op, (): ()) {
        rewriter.erase(op);
    }
}

#[test]
fn two_steps_say_of_themselves_what_one_step_says() {
    let context = context();
    let mut set = PatternSet::new();
    set.extend_with_labels(&["cleanup", "slow"], [create(Split(Erase { labels: Vec::new() }))]);
    for label in ["completed", "cleanup", "slow", "erase"] {
        assert!(set.names(label), "{label}");
    }
    let set = set.freeze();
    assert!(set.pattern(0).has_bounded_recursion() && set.looks_sideways());
    let mut module = parse(&context, TWO);
    let root = module.root();
    let config = GreedyConfig { reasons: true, ..GreedyConfig::default() };
    let report = greedy::apply(&mut module, root, &set, &config);
    assert_eq!(names(&module), ["t.b"]);
    assert_eq!(report.patterns[0].last_failure.as_deref(), Some("`t.b` is no `t.a`"));
}

#[test]
fn several_boxed_patterns_have_a_label_in_common() {
    let context = context();
    let boxed = |name: &str| -> Box<dyn RewritePattern> {
        create(rule(&context, name, "t.a", |_, _| Err(NoMatch::SILENT)))
    };
    let mut set = PatternSet::new();
    set.add_with_label("one", rule(&context, "z", "t.a", |_, _| Err(NoMatch::SILENT)));
    set.extend_with_labels(&["many"], [boxed("x"), boxed("y")]);
    let left = set.freeze_filtered(&["many"], &[]);
    assert_eq!(left.iter().map(RewritePattern::name).collect::<Vec<_>>(), ["z"]);
}
