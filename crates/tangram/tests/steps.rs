//! What the report tells of each change, and of what was refused.

use std::collections::BTreeSet;

use tangram::dialects::nn::patterns;
use tangram::ir::{Order, text, walk};
use tangram::onnx::Model;
use tangram::rewrite::{GreedyConfig, PatternSet, greedy};
use tangram::steps::{ERASE_DEAD, MERGE_EQUAL, Recorded, Recorder, RewriteStep};
use tangram::{Library, Options, Report, Strategy, optimise};

fn example(name: &str) -> Model {
    let path = format!("{}/../../examples/models/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
    Model::open(path, tangram::dialects::context()).expect("an example")
}

fn told(model: &mut Model, options: &Options) -> Report {
    let library = Library::shipped().expect("the shipped rules");
    optimise(model, &library, options).expect("a report")
}

fn operations(model: &Model) -> BTreeSet<u32> {
    let module = &model.module;
    walk(module, module.root(), Order::Pre).into_iter().map(|op| op.as_u32()).collect()
}

/// What the steps make of the operations that were there is what is there at the end.
#[test]
fn steps_account_for_every_operation() {
    for name in ["cnn", "transformer", "legacy", "text"] {
        for strategy in [Strategy::Greedy, Strategy::Walk] {
            let mut model = example(name);
            let mut there = operations(&model);
            let options = Options { strategy, max_steps: usize::MAX, ..Options::default() };
            let report = told(&mut model, &options);
            assert_eq!(report.steps.len() as u64, report.step_count, "{name}");
            for step in &report.steps {
                apply(step, &mut there);
            }
            assert_eq!(there, operations(&model), "{name} {strategy:?}");
            let fired: u64 = report.rules.iter().map(|rule| rule.fired).sum();
            let driver = report.driver;
            assert_eq!(report.step_count, fired + driver.folded + driver.merged + driver.dead);
        }
    }
}

fn apply(step: &RewriteStep, there: &mut BTreeSet<u32>) {
    for node in &step.matched {
        assert!(there.contains(&node.id), "{step:?} matched what was not there");
    }
    for node in &step.removed {
        assert!(there.remove(&node.id), "{step:?} removed what was not there");
    }
    for node in &step.made {
        assert!(there.insert(node.id), "{step:?} made what was there");
    }
    let changed = step.removed.len() + step.made.len() + step.modified.len();
    assert!(changed > 0, "{step:?} changed nothing");
    match step.rule.as_str() {
        MERGE_EQUAL => assert_eq!((step.matched.len(), step.removed.len()), (2, 1)),
        ERASE_DEAD => assert!(step.made.is_empty()),
        _ => assert!(step.matched.iter().any(|node| node == &step.root), "{step:?}"),
    }
}

#[test]
fn a_step_names_what_it_matched_and_made() {
    let mut model = example("cnn");
    let report = told(&mut model, &Options { max_steps: 1000, ..Options::default() });
    let step = report.steps.iter().find(|step| step.rule.contains("batch-norm"));
    let step = step.expect("a batch normalisation goes into a convolution");
    let matched: Vec<&str> = step.matched.iter().map(|node| node.operation.as_str()).collect();
    assert!(matched.contains(&"nn.conv2d") && matched.contains(&"nn.batch_norm"), "{matched:?}");
    assert!(step.made.iter().any(|node| node.operation == "nn.conv2d"), "{step:?}");
    assert!(step.matched.iter().all(|node| !node.results.is_empty()), "{step:?}");
}

#[test]
fn as_many_steps_are_told_of_as_were_asked_for() {
    let (mut all, mut some, mut none) = (example("cnn"), example("cnn"), example("cnn"));
    let with = |max_steps| Options { max_steps, ..Options::default() };
    let all = told(&mut all, &with(usize::MAX));
    let some = told(&mut some, &with(3));
    let none = told(&mut none, &with(0));
    assert_eq!(some.steps, all.steps[..3]);
    assert_eq!((none.steps.len(), none.step_count), (0, all.step_count));
}

/// What becomes of `concatenate(c, c)` where folded constants may grow by so many bytes.
fn folded(max_growth_bytes: Option<u64>) -> Recorded {
    let source = r#"
%0 = "nn.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
%1 = "nn.concatenate"(%0, %0) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
"t.use"(%1) : (tensor<4xf32>) -> ()"#;
    let context = tangram::dialects::context();
    let mut module = text::parse(source, "t.mlir", context.clone()).expect("a program");
    let options = patterns::Options { max_growth_bytes, ..patterns::Options::default() };
    let mut set = PatternSet::new();
    set.extend(patterns::all(&context, &options));
    let (root, set) = (module.root(), set.freeze());
    let mut recorder = Recorder::new(10, 10);
    greedy::apply_with_listener(&mut module, root, &set, &GreedyConfig::default(), &mut recorder);
    recorder.finish(&module)
}

#[test]
fn what_is_too_big_to_be_folded_is_refused_and_said_once() {
    let refused = folded(Some(7)).refused;
    let [refused] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((refused.rule.as_str(), refused.code), ("fold-constants", "fold-limit"));
    assert_eq!(refused.root.operation, "nn.concatenate");
    let done = folded(Some(8));
    assert!(done.refused.is_empty());
    assert!(done.steps.iter().any(|step| step.rule == "fold-constants"), "{done:?}");
}

#[test]
fn a_walk_differs_from_the_greedy_driver() {
    let walk = Options { strategy: Strategy::Walk, ..Options::default() };
    let fired = |report: &Report| report.rules.iter().map(|rule| rule.fired).sum::<u64>();
    let mut model = example("text");
    let once = fired(&told(&mut model, &walk));
    let more = fired(&told(&mut model, &Options::default()));
    assert!(once > 0 && more > 0, "{once} in the walk, {more} after it");
    let limited = Options { max_rewrites: Some(1), ..walk };
    let report = told(&mut example("transformer"), &limited);
    assert_eq!(fired(&report), 1);
    assert_eq!(report.stopped_by.as_deref(), Some("the limit of 1 rewrites"));
}
