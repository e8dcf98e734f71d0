//! The example rules of `spec/`, run by the greedy driver, and folding in targets.

mod support;

use support::{Graph, check};
use tangram_gsl::rules::{Natives, Options, RuleSet};
use tangram_gsl::text::parse;
use tangram_rewrite::{GreedyConfig, PatternSet};

fn spec(name: &str) -> String {
    let path = format!("{}/spec/{name}.gsl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a spec")
}

fn rule(file: &str, name: &str) -> String {
    let rules = parse(&spec(file)).expect("rules");
    let rule = rules.iter().find(|rule| rule.name() == name).expect("a rule of this name");
    tangram_gsl::text::print(rule)
}

#[test]
fn neutral_elements_vanish() {
    let neutral = rule("identities", "neutral-element");
    check("x: f32[3]\nz = const f32[] (0)\ny = add(z, x)\nreturn y", &neutral, "x");
    check("x: f32[3]\no = const f32[3] (1, 1, 1)\ny = multiply(x, o)\nreturn y", &neutral, "x");
    // A constant that makes the result larger is refused by its type.
    let mut wider = Graph::new("x: f32[3]\nz = const f32[2, 3] (0)\ny = add(x, z)\nreturn y");
    assert_eq!(wider.refused(&neutral).code, "target-type");
}

#[test]
fn transposes_compose() {
    let graph = "x: f32[2, 3, 4]
        a = transpose(x) {axes = [2, 0, 1]}
        b = transpose(a) {axes = [1, 0, 2]}
        return b";
    let mut graph = Graph::new(graph);
    let before = graph.module.value_type(graph.values["b"]);
    assert_eq!(graph.rewrite(&rule("identities", "transpose-transpose")), 1);
    assert_eq!(graph.show(), "transpose(x)");
    let last = graph.module.last_op(graph.module.body()).expect("a return");
    let made = graph.module.operand(last, 0);
    assert_eq!(graph.module.value_type(made), before);
    check(
        "x: f32[2, 3]\na = transpose(x) {axes = [0, 1]}\nreturn a",
        &rule("identities", "identity-transpose"),
        "x",
    );
}

#[test]
fn gelu_is_recognised_in_any_order() {
    let graph = "x: f32[3]
        s = const f32[] (1.4142135381698608)
        one = const f32[] (1)
        half = const f32[] (0.5)
        d = divide(x, s)
        e = erf(d)
        a = add(e, one)
        m = multiply(x, a)
        y = multiply(m, half)
        return y";
    check(graph, &rule("identities", "gelu"), "gelu(x)");
}

#[test]
fn batch_norm_goes_into_the_convolution() {
    let graph = "x: f32[1, 2, 4, 4]
        w = const f32[3, 2, 1, 1] (1)
        gamma = const f32[3] (2)
        beta = const f32[3] (1)
        mean = const f32[3] (0)
        var = const f32[3] (4)
        c = conv2d(x, w) {groups = 1}
        y = batch_norm(c, gamma, beta, mean, var) {epsilon = 0.5}
        return y";
    let mut graph = Graph::new(graph);
    assert_eq!(graph.rewrite(&rule("fusion", "conv-batch-norm")), 1);
    assert!(graph.show().starts_with("bias_add(conv2d(x, "), "{}", graph.show());
}

#[test]
fn padding_goes_into_the_convolution() {
    let pad = |pads: &str| {
        format!(
            "x: f32[1, 2, 4, 4]\nw = const f32[3, 2, 3, 3] (1)
             p = pad(x) {{pad_width = {pads}, pad_value = 0.0}}
             c = conv2d(p, w) {{padding = [1, 1, 1, 1]}}\nreturn c"
        )
    };
    let rule = rule("fusion", "pad-conv");
    check(&pad("[0, 0, 1, 2, 0, 0, 3, 0]"), &rule, "conv2d(x, const[3, 2, 3, 3])");
    support::stays(&pad("[1, 0, 1, 2, 0, 0, 3, 0]"), &rule);
}

#[test]
fn a_rule_set_runs_in_the_greedy_driver() {
    let mut graph = Graph::new(
        "x: f32[2, 3]
        z = const f32[] (0)
        a = add(x, z)
        b = transpose(a) {axes = [1, 0]}
        c = transpose(b) {axes = [1, 0]}
        d = add(c, z)
        return d",
    );
    let rules = parse(&spec("identities")).expect("rules");
    let set = RuleSet::new(&rules, graph.module.context(), &Options::default(), &|_| true);
    // What calls functions that nobody registered is listed, and does not run.
    let disabled: Vec<_> = set.disabled().map(|(name, _)| name).collect();
    assert_eq!(disabled, ["activation-bias"]);
    let mut patterns = PatternSet::new();
    for rule in set.compiled() {
        patterns.add(rule.clone());
    }
    let frozen = patterns.freeze();
    let root = graph.module.root();
    tangram_rewrite::greedy::apply(&mut graph.module, root, &frozen, &GreedyConfig::default());
    graph.verify();
    assert_eq!(graph.show(), "x");
}

#[test]
fn natives_are_called() {
    let mut natives = Natives::default();
    natives.add_attribute(
        "even",
        std::sync::Arc::new(|_, args| match args {
            [
                tangram_gsl::rules::NativeArgument::Attribute(tangram_gsl::eval::AttrValue::Int(n)),
            ] => Some((n % 2 == 0).into()),
            _ => None,
        }),
    );
    let options = Options { natives: std::sync::Arc::new(natives), ..Options::default() };
    let rule = "rule r { let x = *; match relu(x); where native even(x.ndim); rewrite tanh(x); }";
    let mut even = Graph::new("x: f32[2, 3]\ny = relu(x)\nreturn y");
    let compiled = even.rule_with(rule, &options);
    assert_eq!(even.run(&compiled), 1);
    let mut odd = Graph::new("x: f32[2]\ny = relu(x)\nreturn y");
    let compiled = odd.rule_with(rule, &options);
    assert_eq!(odd.run(&compiled), 0);
}
