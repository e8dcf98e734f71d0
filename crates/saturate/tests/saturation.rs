//! Saturation of small functions: what is found, what is kept out, what is chosen.

#[path = "../../gsl/tests/support/mod.rs"]
mod support;

use support::{Graph, tensor};
use tangram_dialects::interpret::{Datum, interpret};
use tangram_gsl::rules::CompiledRule;
use tangram_ir::Module;
use tangram_saturate::{Config, CostModel, Report, Stop, saturate};
use tangram_tensor::DType;

fn rules(graph: &Graph, texts: &[&str]) -> Vec<CompiledRule> {
    texts.iter().map(|text| graph.rule(text)).collect()
}

/// Starting an operation costs one second, arithmetic and traffic nearly nothing.
fn counting() -> Config {
    let text = r#"{"name": "count", "flops_per_second": 1e15, "scalar_flops_per_second": 1e15,
        "bytes_per_second": 1e15, "launch_seconds": 1}"#;
    let cost = CostModel::from_json(text).expect("a model");
    Config { cost, explain: true, ..Config::default() }
}

fn run(graph: &mut Graph, texts: &[&str]) -> Report {
    let rules = rules(graph, texts);
    let before = graph.module.clone();
    let root = graph.module.root();
    let report = saturate(&mut graph.module, root, &rules, &counting()).expect("one block");
    graph.verify();
    same_values(&before, &graph.module);
    report
}

/// Evaluates both on small whole numbers, on which all arithmetic here is exact.
fn same_values(before: &Module, after: &Module) {
    let context = before.context();
    let mut rng = fastrand::Rng::with_seed(7);
    let inputs: Vec<Datum> = before
        .args(before.body())
        .iter()
        .map(|value| {
            let (dims, _) = context.as_tensor(before.value_type(*value)).expect("a tensor");
            let shape: Vec<usize> =
                dims.iter().map(|d| d.as_static().expect("a number") as usize).collect();
            let count = shape.iter().product();
            let elements: Vec<f64> = (0..count).map(|_| f64::from(rng.i32(-3..4))).collect();
            Datum::Tensor(tensor(DType::F32, &shape, &elements))
        })
        .collect();
    let run = |module: &Module| interpret(module, module.root(), &inputs).expect("it evaluates");
    let numbers = |data: Vec<Datum>| -> Vec<Vec<f64>> {
        let numbers = |datum| match datum {
            Datum::Tensor(tensor) => tensor.f64s().expect("numbers"),
            other => panic!("{other:?} is no tensor"),
        };
        data.into_iter().map(numbers).collect()
    };
    assert_eq!(numbers(run(before)), numbers(run(after)));
}

const DOUBLE: &str = "rule double { let x = *; match x * 2; rewrite x + x; }";
const CANCEL: &str = "rule cancel { let x = *; match (x * 2) / 2; rewrite x; }";

#[test]
fn the_order_of_rules_does_not_matter() {
    let text = "x: f32[4]\ntwo = const f32[1] (2)\na = multiply(x, two)\nb = divide(a, two)\n\
                c = relu(b)\nreturn c";
    let cancel = CANCEL.replace("(x * 2) / 2", "divide(multiply(x, t), t)");
    let cancel = cancel.replace("let x = *;", "let x = *; let t = const(splat 2);");
    let double = DOUBLE.replace("x * 2", "multiply(x, t)");
    let double = double.replace("let x = *;", "let x = *; let t = const(splat 2);");
    let mut trapped = Graph::new(text);
    assert_eq!(trapped.rewrite(&double), 1);
    assert_eq!(trapped.rewrite(&cancel), 0, "doing one thing first hides the other");
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[&double, &cancel]);
    assert_eq!(graph.show(), "relu(x)");
    assert!((report.cost.before - 3.0).abs() < 1e-6 && (report.cost.best - 1.0).abs() < 1e-6);
    assert_eq!(report.stop, Stop::Saturated);
    let proof = report.proof.expect("it was asked for");
    assert_eq!(proof.rules().into_iter().collect::<Vec<_>>(), [("cancel", 1)]);
}

const MERGE: &str = "rule merge {
    let x = *; let w = const { ndim = 2 }; let y = multiply(x, w);
    match variadic y over (y, w) min 2 as src;
    let weights = concatenate(variadic src[w, i] for i < src.length) { axis = 1 };
    let z = multiply(x, weights);
    attr ends = [sum(src[w, k].shape[1] for k < j + 1) for j < src.length - 1];
    let parts = split(z) { axis = -1, indices_or_sections = ends };
    rewrite variadic parts[i] for i;
}";

#[test]
fn branches_merge_where_that_pays() {
    let text = "x: f32[3, 1]
        w = const f32[3, 2] (1, 2, 3, 4, 5, 6)
        v = const f32[3, 4] (1, 0, 2, 1, 0, 3, 1, 1, 2, 2, 0, 1)
        u = const f32[3, 1] (2, 0, 1)
        a = multiply(x, w)
        b = multiply(x, v)
        c = multiply(x, u)
        return b, a, c";
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[MERGE]);
    // One product and one split instead of three products; every part comes from the same split.
    assert!((report.cost.best - 2.0).abs() < 0.1, "{:?}", report.cost);
    assert!(report.cost.greedy > 2.5, "greedy extraction sees no single part pay");
    let names: Vec<&str> = {
        let module = &graph.module;
        let names = module.ops(module.body()).map(|op| module.name_text(op));
        names.filter(|name| *name != "nn.constant").collect()
    };
    assert_eq!(names, ["nn.multiply", "nn.split", "func.return"]);
    let proof = report.proof.expect("it was asked for");
    assert!(proof.rules()["merge"] >= 3, "{proof}");
    // Two branches: the merge costs as much as it saves, and nothing is touched.
    let mut two = Graph::new(&text.replace("c = multiply(x, u)", "").replace(", c", ""));
    let before = two.dump();
    assert!(!run(&mut two, &[MERGE]).changed);
    assert_eq!(two.dump(), before);
}

#[test]
fn a_pattern_meets_values_that_other_rules_made() {
    // The matcher has to go through a class: tanh(sigmoid(x)) is nowhere in the function.
    let text = "x: f32[4]\na = relu(x)\nb = tanh(a)\nreturn b";
    let first = "rule first { let x = *; match relu(x); rewrite sigmoid(relu(abs(x))); }";
    let back = "rule back { let x = *; match tanh(sigmoid(relu(abs(x)))); rewrite tanh(relu(x)); }";
    let there = "rule there { let x = *; match tanh(sigmoid(relu(abs(x)))); rewrite x; }";
    let mut graph = Graph::new(text);
    let rules = rules(&graph, &[first, back, there]);
    let root = graph.module.root();
    let report = saturate(&mut graph.module, root, &rules, &counting()).expect("one block");
    assert_eq!(graph.show(), "x");
    assert!(report.rules.iter().all(|rule| rule.matches > 0), "{:?}", report.rules);
}

#[test]
fn cycles_are_no_trouble() {
    let grow = "rule grow { let x = *; match relu(x); rewrite relu(relu(x)); }";
    let shrink = "rule shrink { let x = *; match relu(relu(x)); rewrite relu(x); }";
    let mut graph = Graph::new("x: f32[4]\na = relu(x)\nb = relu(a)\nc = relu(b)\nreturn c, a");
    let report = run(&mut graph, &[grow, shrink]);
    assert_eq!(graph.show(), "relu(x); relu(x)");
    assert_eq!(report.stop, Stop::Saturated);
    assert!(report.nodes < 8, "congruence keeps the cycle small: {}", report.nodes);
}

#[test]
fn ill_typed_terms_never_enter() {
    let swap = "rule swap { let a = *; let b = *; match matmul(a, b); rewrite matmul(b, a); }";
    let mut graph = Graph::new("x: f32[2, 3]\ny: f32[3, 2]\nz = matmul(x, y)\nreturn z");
    let rules = rules(&graph, &[swap]);
    let root = graph.module.root();
    let report = saturate(&mut graph.module, root, &rules, &counting()).expect("one block");
    assert_eq!((report.rules[0].applied, report.rules[0].refused), (0, 1));
    assert_eq!(report.nodes, 2);
    assert!(!report.changed);
}

#[test]
fn limits_stop_the_search_and_keep_what_is_best() {
    let grow = "rule grow { let x = *; match relu(x); rewrite relu(abs(x)); }";
    let drop = "rule drop { let x = *; match relu(relu(x)); rewrite relu(x); }";
    let mut graph = Graph::new("x: f32[4]\na = relu(x)\nb = relu(a)\nreturn b");
    let rules = rules(&graph, &[grow, drop]);
    let config = Config { max_nodes: 8, ..counting() };
    let root = graph.module.root();
    let report = saturate(&mut graph.module, root, &rules, &config).expect("one block");
    assert_eq!(report.stop, Stop::Nodes);
    assert_eq!(graph.show(), "relu(x)");
    let mut graph = Graph::new("x: f32[4]\na = relu(x)\nb = relu(a)\nreturn b");
    let config = Config { max_bytes: 0, ..counting() };
    let root = graph.module.root();
    let report = saturate(&mut graph.module, root, &rules, &config).expect("one block");
    assert_eq!((report.stop, report.changed), (Stop::Memory, false));
}

const CLAMP_TWICE: &str = "rule one { let x = *; match relu(relu(x)); rewrite relu(x); }";

#[test]
fn a_bias_is_part_of_the_convolution_before_it() {
    let text = "x: f32[1, 1, 4, 4]\nw = const f32[2, 1, 1, 1] (1, 2)\nb = const f32[2] (1, 2)\n\
                p = relu(x)\nq = relu(p)\nc = conv2d(q, w)\ny = bias_add(c, b) {axis = 1}\n\
                return y";
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[CLAMP_TWICE]);
    // Three kernels become two; the function as it is costs what its own choice of e-nodes does.
    assert!((report.cost.before - 3.0).abs() < 1e-6, "{:?}", report.cost);
    assert!((report.cost.best - 2.0).abs() < 1e-6, "{:?}", report.cost);
    assert!(graph.show().starts_with("bias_add(conv2d(relu(x), "), "{}", graph.show());
    let mut graph = Graph::new(text);
    let unchanged = run(&mut graph, &[]);
    assert!((unchanged.cost.local - 3.0).abs() < 1e-6 && !unchanged.changed);
}

#[test]
fn a_bias_behind_a_shared_convolution_is_a_kernel() {
    let text = "x: f32[1, 1, 4, 4]\nw = const f32[2, 1, 1, 1] (1, 2)\nb = const f32[2] (1, 2)\n\
                c = conv2d(x, w)\ny = bias_add(c, b) {axis = 1}\nreturn y, c";
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[]);
    assert!((report.cost.before - 2.0).abs() < 1e-6, "{:?}", report.cost);
    assert!((report.cost.local - 2.0).abs() < 1e-6, "{:?}", report.cost);
}

#[test]
fn a_function_is_part_of_the_convolution_before_it() {
    let text = "x: f32[1, 1, 4, 4]\nw = const f32[2, 1, 1, 1] (1, 2)\nb = const f32[2] (1, 2)\n\
                c = conv2d(x, w)\nd = bias_add(c, b) {axis = 1}\ny = relu(d)\nz = relu(y)\n\
                return z";
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[CLAMP_TWICE]);
    // The convolution with its bias and one function; another function behind that.
    assert!((report.cost.before - 2.0).abs() < 1e-6, "{:?}", report.cost);
    assert!((report.cost.best - 1.0).abs() < 1e-6, "{:?}", report.cost);
    assert!(graph.show().starts_with("relu(bias_add(conv2d(x, "), "{}", graph.show());
    assert!(report.proof.is_some());
    let mut graph = Graph::new(text);
    let unchanged = run(&mut graph, &[]);
    assert!((unchanged.cost.local - 2.0).abs() < 1e-6 && !unchanged.changed);
}

const SCALED: &str = "rule scaled { let x = *; let w = const; let s = const; \
                      match matmul(x, w) * s; rewrite matmul(x, w * s); }";

#[test]
fn constants_take_no_more_room_than_they_may() {
    let text = |t: &str| {
        format!(
            "x: f32[2, 2]\ny: f32[2, 2]\nw = const f32[2, 2] (1, 2, 3, 4)\n\
             s = const f32[1, 1] (2)\nt = const f32[1, 1] (3)\n\
             a = matmul(x, w)\nb = matmul(y, w)\np = multiply(a, s)\nq = multiply(b, {t})\n\
             return p, q"
        )
    };
    let cost = |text: &str, max_constant_bytes| {
        let mut graph = Graph::new(text);
        let (rules, root) = (rules(&graph, &[SCALED]), graph.module.root());
        let config = Config { max_constant_bytes, ..counting() };
        saturate(&mut graph.module, root, &rules, &config).expect("one block").cost.best.round()
    };
    // Two products of `w` are stored in its place, or one that both uses share.
    assert_eq!([None, Some(0)].map(|most| cost(&text("t"), most)), [2.0, 4.0]);
    assert_eq!([None, Some(0)].map(|most| cost(&text("s"), most)), [2.0, 2.0]);
}

#[test]
fn the_search_of_a_rule_ends_after_its_steps() {
    let matches = |max_steps| {
        let mut graph = Graph::new("x: f32[4]\na = relu(x)\nb = relu(a)\nreturn b");
        let (rules, root) = (rules(&graph, &[CLAMP_TWICE]), graph.module.root());
        let config = Config { max_steps, ..counting() };
        let report = saturate(&mut graph.module, root, &rules, &config).expect("one block");
        (report.rules[0].matches, report.stop)
    };
    assert_eq!([1, 100].map(matches), [(0, Stop::Saturated), (1, Stop::Saturated)]);
}

#[test]
fn each_output_has_its_own_proof() {
    let one = "rule one { let x = *; match relu(relu(x)); rewrite relu(x); }";
    let two = "rule two { let x = *; match negative(negative(x)); rewrite x; }";
    let text = "x: f32[4]\na = relu(x)\nb = relu(a)\nc = negative(x)\nd = negative(c)\n\
                e = tanh(d)\nreturn b, e, x";
    let mut graph = Graph::new(text);
    let report = run(&mut graph, &[one, two]);
    let proof = report.proof.expect("it was asked for");
    let rules: Vec<Vec<&str>> = proof
        .outputs
        .iter()
        .map(|output| output.steps.iter().map(|step| step.rule.as_str()).collect())
        .collect();
    assert_eq!(rules, [vec!["one"], vec!["two"], vec![]]);
    assert_eq!(proof.rules().into_iter().collect::<Vec<_>>(), [("one", 1), ("two", 1)]);
}

#[test]
fn the_same_input_gives_the_same_program() {
    let text = "x: f32[2, 2]\ny: f32[2, 2]\na = add(x, y)\nb = multiply(a, a)\nc = add(y, x)\n\
                d = multiply(c, b)\nreturn d";
    let commute = "rule commute { let a = *; let b = *; match add(a, b); rewrite add(b, a); }";
    let shuffle = "rule shuffle { let a = *; let b = *; let c = *;
        match multiply(a, multiply(b, c)); rewrite multiply(multiply(a, b), c); }";
    let mut first = Graph::new(text);
    let report = run(&mut first, &[commute, shuffle]);
    let again = (0..3).map(|_| {
        let mut graph = Graph::new(text);
        run(&mut graph, &[commute, shuffle]);
        graph.dump()
    });
    assert!(again.into_iter().all(|dump| dump == first.dump()));
    assert!(report.changed, "the two sums are one");
}
