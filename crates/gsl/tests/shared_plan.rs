//! The shared plan of a rule set against the tests of each rule by itself.

#[path = "brute_force/generate.rs"]
#[allow(dead_code)]
mod generate;
mod support;

use proptest::prelude::*;
use support::Graph;
use tangram_gsl::plan::SharedPlan;
use tangram_gsl::rules::{CompiledRule, Natives, Options, RuleDiscriminator, RuleSet};
use tangram_gsl::text::parse;
use tangram_rewrite::{PatternSet, RewritePattern, Silent, walk_and_apply};

/// Every file of the library, and the examples of this crate.
fn all_rules() -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut files: Vec<_> = ["../../rules", "spec"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(format!("{root}/{folder}")).expect("a folder"))
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "gsl"))
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("rules")).collect()
}

fn compile(graph: &Graph, text: &str) -> Vec<CompiledRule> {
    let rules = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let context = graph.module.context();
    let options = Options { natives: Natives::default().into(), ..Options::default() };
    rules.iter().map(|rule| CompiledRule::unchecked(rule, context, &options)).collect()
}

fn admits_the_same(graph: &Graph, rules: &[CompiledRule]) {
    let plan = SharedPlan::new(rules.iter().map(CompiledRule::plan));
    let mut admitted = Vec::new();
    for op in graph.module.ops(graph.module.body()) {
        plan.admit(&graph.module, op, &mut admitted);
        for (i, rule) in rules.iter().enumerate() {
            let starts = rule.roots().accept(&graph.module, op);
            let alone = starts && rule.plan().prefix().admits(rule.plan(), &graph.module, op);
            let shared = admitted[i / 64] >> (i % 64) & 1 == 1;
            assert_eq!(shared, alone, "{} at {op:?}\n{}", rule.rule().name(), graph.dump());
        }
    }
}

#[test]
fn the_library_is_admitted_rule_by_rule() {
    let graph = Graph::new(
        "x: f32[1, 4, 8, 8]
        w = const f32[4, 4, 3, 3] (1)
        b = const f32[4] (1)
        k = const f32[4, 1, 1] (2)
        one = const f32[] (1)
        a = pad(x) {pad_width = [0, 0, 1, 1, 0, 0, 1, 1]}
        c = conv2d(a, w) {groups = 1, strides = [1, 1], padding = [0, 0, 0, 0]}
        d = bias_add(c, b) {axis = 1}
        e = batch_norm(d, b, b, b, b) {epsilon = 0.001}
        f = multiply(e, k)
        g = add(one, f)
        h = relu(relu_in)
        i = reshape(h) {newshape = [4, 64]}
        j = reshape(i) {newshape = [64, 4]}
        l = transpose(j) {axes = [1, 0]}
        m = transpose(l) {axes = [1, 0]}
        n = clip(h) {a_min = 0.0, a_max = 6.0}
        o = concatenate(n, h) {axis = 1}
        return m, o"
            .replace("h = relu(relu_in)", "h0 = relu(g)\nh = relu(h0)")
            .as_str(),
    );
    let rules = compile(&graph, &all_rules());
    assert!(rules.len() > 90, "{}", rules.len());
    admits_the_same(&graph, &rules);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_rules_are_admitted_one_by_one(
        items in generate::items(4..=9),
        patterns in prop::collection::vec((generate::items(1..=4), any::<[u8; 4]>()), 1..=90),
    ) {
        let mut text = String::new();
        let mut palette = Vec::new();
        for (i, (pattern, output)) in patterns.iter().enumerate() {
            palette.extend(generate::palette(pattern, *output));
            if let Some(rule) = generate::rule(pattern, *output, true) {
                text += &rule.replacen("rule r ", &format!("rule r{i} "), 1);
            }
        }
        let graph = Graph::new(&generate::graph(&items, &palette));
        admits_the_same(&graph, &compile(&graph, &text));
    }
}

/// One rule for each word of relu and tanh of this length: a chain that makes negative.
fn chains(length: u32) -> String {
    let rule = |word: u32| {
        let call = |text: String, i: u32| {
            format!("{}({text})", if word >> i & 1 == 0 { "relu" } else { "tanh" })
        };
        let chain = (0..length).fold("x".to_owned(), call);
        format!("rule chain-{word} {{ let x = *; match {chain}; rewrite negative(x); }}\n")
    };
    (0..1 << length).map(rule).collect()
}

fn chain_graph(ops: usize) -> Graph {
    let mut text = "x: f32[3]\n".to_owned();
    let mut last = "x".to_owned();
    for i in 0..ops {
        let name = if i * i % 7 < 3 { "relu" } else { "tanh" };
        text += &format!("v{i} = {name}({last})\n");
        last = format!("v{i}");
    }
    Graph::new(&format!("{text}return {last}"))
}

#[test]
fn a_hundred_rules_cost_one_traversal() {
    let graph = chain_graph(60);
    let rules = compile(&graph, &chains(7));
    assert_eq!(rules.len(), 128);
    let plan = SharedPlan::new(rules.iter().map(CompiledRule::plan));
    let one = SharedPlan::new(rules[..1].iter().map(CompiledRule::plan));
    let count = |plan: &SharedPlan| -> usize {
        let ops = graph.module.ops(graph.module.body());
        ops.map(|op| plan.admit(&graph.module, op, &mut Vec::new())).sum()
    };
    // No root needs more than the seven operations of a chain, however many rules there are.
    assert!(count(&plan) <= 7 * 60, "{}", count(&plan));
    assert!(count(&one) >= 20);
    admits_the_same(&graph, &rules);
}

#[test]
fn drivers_do_the_same_with_fewer_attempts() {
    let outcome = |shared: bool| {
        let mut graph = chain_graph(60);
        let rules = parse(&chains(5)).expect("rules");
        let set = RuleSet::new(&rules, graph.module.context(), &Options::default(), &|_| true);
        let mut patterns = PatternSet::new();
        for rule in set.compiled() {
            patterns.add(rule.clone());
        }
        if shared {
            patterns.add_discriminator(RuleDiscriminator::new(set.compiled()));
        }
        let root = graph.module.root();
        let frozen = patterns.freeze();
        let report = walk_and_apply(&mut graph.module, root, &frozen, &mut Silent);
        let attempts: u64 = report.patterns.iter().map(|p| p.attempts).sum();
        let hits: u64 = report.patterns.iter().map(|p| p.hits).sum();
        (graph.show(), hits, attempts)
    };
    let (alone, shared) = (outcome(false), outcome(true));
    assert_eq!((&alone.0, alone.1), (&shared.0, shared.1));
    assert!(shared.1 > 5 && shared.2 == shared.1, "{shared:?}");
    assert!(alone.2 > 20 * shared.2, "{alone:?} {shared:?}");
}
