//! The rules PE-* of the GSL thesis on IR, each under its name, and what makes rewrites legal.

mod support;

use std::sync::Arc;

use support::{Graph, check, stays};
use tangram_gsl::rules::{CompileError, Log, Options, RuleSet};
use tangram_gsl::text::parse;

const CHAIN: &str = "x: f32[2, 3]\na = relu(x)\nb = tanh(a)\nreturn b";

#[test]
fn pe_match() {
    check(CHAIN, "rule r { let x = *; match tanh(relu(x)); rewrite x; }", "x");
    let kept = "rule r { let x = *; let a = relu(x); match tanh(a); rewrite sigmoid(a); }";
    check(CHAIN, kept, "sigmoid(relu(x))");
}

#[test]
fn pe_const() {
    let rule = |value: &str| format!("rule r {{ let x = *; match tanh(x); rewrite x * {value}; }}");
    check(CHAIN, &rule("2"), "multiply(relu(x), 2)");
    check(CHAIN, &rule("const([1.5, 2, 3])"), "multiply(relu(x), [1.5, 2.0, 3.0])");
    check(
        CHAIN,
        &rule("const(splat 0.5) { shape = [3] }").replace("shape = [3]", ""),
        "multiply(relu(x), 0.5)",
    );
    // The number takes the type of the other operand: halves, not singles.
    let mut graph = Graph::new("x: f16[3]\na = tanh(x)\nreturn a");
    assert_eq!(graph.rewrite(&rule("0.1")), 1);
    assert_eq!(graph.show(), "multiply(x, 0.0999755859375)");
}

#[test]
fn pe_call() {
    let graph = "x: f32[1, 4, 8, 8]
        w = const f32[4, 4, 3, 3] (1)
        c = conv2d(x, w) {strides = [2, 2], padding = [1, 1, 1, 1], groups = 1}
        r = relu(c)
        return r";
    let rule = "rule r { let x = *; let w = *; let c = conv2d(x, w); match relu(c);
        rewrite conv2d(relu(x), w) { strides = [c.strides[0], 2], ..c }; }";
    let mut made = Graph::new(graph);
    assert_eq!(made.rewrite(rule), 1);
    assert_eq!(made.show(), "conv2d(relu(x), const[4, 4, 3, 3])");
    let last = made.module.last_op(made.module.body()).expect("a return");
    let conv = made.module.def_op(made.module.operand(last, 0)).expect("a convolution");
    // Copied and computed attributes together are the old ones.
    let old = Graph::in_context(made.module.context_arc().clone(), graph);
    assert_eq!(made.module.attrs(conv), old.module.attrs(old.op("c")));
}

#[test]
fn pe_tuple() {
    let fields = "rule r { let x = *; match tanh(x);
        rewrite concatenate((relu(x), sigmoid(x))) { axis = 1 }; }";
    let twice = "rule r { let x = *; match concatenate(x, x) as c; rewrite concatenate((x, (x, x))) { ..c }; }";
    let graph = "x: f32[2, 3]\ny = concatenate(x, x) {axis = 1}\nreturn y";
    let mut wide = Graph::new(graph);
    assert_eq!(wide.refused(twice).code, "target-type");
    let graph = "x: f32[2, 3]\nz = tanh(x)\ny = concatenate(z, z) {axis = 1}\nreturn y";
    let pair = "rule r { let x = *; let t = tanh(x); match concatenate(t, t) as c;
        rewrite concatenate((relu(x), sigmoid(x))) { ..c }; }";
    check(graph, pair, "concatenate(relu(x), sigmoid(x))");
    assert_eq!(Graph::new(CHAIN).refused(fields).code, "target-type");
}

#[test]
fn pe_proj() {
    let rule = "rule r { let x = *; match tanh(x); rewrite (relu(x), sigmoid(x))[1]; }";
    check(CHAIN, rule, "sigmoid(relu(x))");
    let split = "rule r { let x = *; match tanh(x);
        let s = split(x) { axis = 0, indices_or_sections = 2 };
        rewrite concatenate(s[1], s[0]) { axis = 0 }; }";
    check(CHAIN, split, "concatenate(split(relu(x))[1], split(relu(x))[0])");
    let mut graph = Graph::new(CHAIN);
    let out = "rule r { let x = *; match tanh(x);
        rewrite split(x) { axis = 0, indices_or_sections = 2 }[x.shape[0]]; }";
    assert_eq!(graph.refused(out).code, "field-range");
}

/// Three branches that a variadic pattern matches as the fields of one operand list.
const BRANCHES: &str = "x, y, z: f32[2, 3]
    a = relu(x)
    b = relu(y)
    c = relu(z)
    d = concatenate(a, b, c) {axis = 1}
    return d";

#[test]
fn pe_variadic() {
    let source = "rule r { let w = *; let f = relu(w); let v = variadic f over (f, w);
        match concatenate(v) as c;";
    let all = format!(
        "{source} rewrite relu(concatenate(variadic v[w, i] for i < v.length) {{ axis = c.axis }}); }}"
    );
    check(BRANCHES, &all, "relu(concatenate(x, y, z))");
    let turned = format!(
        "{source} rewrite relu(concatenate(variadic v[w, v.length - 1 - i] for i < v.length) {{ ..c }}); }}"
    );
    check(BRANCHES, &turned, "relu(concatenate(z, y, x))");
    // None evaluates to no field: that is refused.
    let none = format!(
        "{source} rewrite concatenate(variadic v[f, i] for i < v.length - 3) {{ ..c }}; }}"
    );
    assert_eq!(Graph::new(BRANCHES).refused(&none).code, "evaluation");
}

#[test]
fn pe_inst() {
    let source = "rule r { let w = *; let f = relu(w); let v = variadic f over (f, w);
        match concatenate(v) as c;";
    let picked = format!("{source} rewrite concatenate(v[w, 2], v[f, 0], v[w, 1]) {{ ..c }}; }}");
    check(BRANCHES, &picked, "concatenate(z, relu(x), y)");
    let out = format!("{source} rewrite concatenate(v[w, 3], v[f, 0], v[w, 1]) {{ ..c }}; }}");
    assert_eq!(Graph::new(BRANCHES).refused(&out).code, "field-range");
    let before =
        format!("{source} rewrite concatenate(v[w, 0 - 1], v[w, 0], v[w, 1]) {{ ..c }}; }}");
    assert_eq!(Graph::new(BRANCHES).refused(&before).code, "evaluation");
}

#[test]
fn parallel_convolutions_are_merged() {
    let graph = "x: f32[1, 4, 8, 8]
        w1 = const f32[2, 4, 3, 3] (1)
        a = conv2d(x, w1) {strides = [1, 1], groups = 1}
        ra = relu(a)
        w2 = const f32[3, 4, 3, 3] (2)
        b = conv2d(x, w2) {strides = [1, 1], groups = 1}
        w3 = const f32[5, 4, 3, 3] (3)
        c = conv2d(x, w3) {strides = [1, 1], groups = 1}
        w4 = const f32[5, 4, 1, 1] (3)
        d = conv2d(x, w4) {strides = [1, 1], groups = 1}
        return ra, b, c, d";
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/spec/parallel.gsl"));
    let mut made = Graph::new(graph);
    assert_eq!(made.rewrite(&text.expect("the spec")), 1);
    let split = |i| {
        format!(
            "split(conv2d(x, concatenate(const[2, 4, 3, 3], const[3, 4, 3, 3], const[5, 4, 3, 3])))[{i}]"
        )
    };
    let folded = made.show().replace(
        "const[10, 4, 3, 3]",
        "concatenate(const[2, 4, 3, 3], const[3, 4, 3, 3], const[5, 4, 3, 3])",
    );
    let expected =
        format!("relu({}); {}; {}; conv2d(x, const[5, 4, 1, 1])", split(0), split(1), split(2));
    assert_eq!(folded, expected);
}

#[test]
fn interior_values_with_other_users_stay() {
    let graph = "x: f32[3]\na = relu(x)\nb = tanh(a)\nreturn b, a";
    check(
        graph,
        "rule r { let x = *; match tanh(relu(x)); rewrite sigmoid(x); }",
        "sigmoid(x); relu(x)",
    );
}

#[test]
fn types_must_agree() {
    let mut graph = Graph::new("x: f32[2, 3]\na = transpose(x) {axes = [1, 0]}\nreturn a");
    let rule = "rule drop-transpose { let x = *; match transpose(x); rewrite relu(x); }";
    let found = graph.refused(rule);
    assert_eq!(found.code, "target-type");
    assert!(found.message.contains("`drop-transpose` at `nn.transpose`"), "{}", found.message);
    assert!(found.message.contains("float32[3, 2], the target float32[2, 3]"), "{}", found.message);
    let mut symbolic = Graph::new("x: f32[N, M]\na = transpose(x) {axes = [1, 0]}\nreturn a");
    assert_eq!(symbolic.refused(rule).code, "target-type");
    let mut same = Graph::new("x: f32[N, N]\na = transpose(x) {axes = [1, 0]}\nreturn a");
    assert_eq!(same.rewrite(rule), 1);
}

#[test]
fn inference_errors_refuse() {
    let mut graph = Graph::new(CHAIN);
    let rule = "rule r { let x = *; match tanh(x);
        rewrite sigmoid(x) + const([1.0, 2.0]); }";
    assert_eq!(graph.refused(rule).code, "inference");
    let none =
        "rule r { let x = *; match tanh(x); rewrite reshape(x) { newshape = [x.shape[5]] }; }";
    assert_eq!(graph.refused(none).code, "evaluation");
}

#[test]
fn a_rewrite_never_closes_a_cycle() {
    let rule = "rule r { let x = *; let y = *; let z = *;
        match x + y as a, x * z as b; let s = concatenate(x, y, z) { axis = 0 };
        let p = split(s) { axis = 0, indices_or_sections = 3 }; rewrite p[0], p[1]; }";
    // `z` comes from the first output: the new operation would need what it makes.
    let mut cyclic =
        Graph::new("x, y: f32[2]\na = add(x, y)\nz = relu(a)\nb = multiply(x, z)\nreturn a, b");
    assert_eq!(cyclic.refused(rule).code, "cycle");
    // Here it only stands behind a user of the first output, and moves up.
    let mut late = Graph::new(
        "x, y, u: f32[2]\na = add(x, y)\nt = tanh(a)\nz = relu(u)\nb = multiply(x, z)\nreturn t, b",
    );
    assert_eq!(late.rewrite(rule), 1);
    let merged = "split(concatenate(x, y, relu(u)))";
    assert_eq!(late.show(), format!("tanh({merged}[0]); {merged}[1]"));
}

#[test]
fn targets_may_use_what_they_replace() {
    let mut graph = Graph::new("x: f32[3]\na = relu(x)\nreturn a");
    assert_eq!(graph.rewrite("rule r { let x = *; match relu(x) as a; rewrite tanh(a); }"), 1);
    assert_eq!(graph.show(), "tanh(relu(x))");
}

#[test]
fn conditions_choose_the_target() {
    let rule = "rule r { let x = *; let p = relu(x); let q = tanh(x); let a = p | q;
        match sigmoid(a) as s;
        rewrite if x.ndim == 2 then case a { p => x, q => exp(x) } else s + x; }";
    check("x: f32[2, 3]\na = relu(x)\nb = sigmoid(a)\nreturn b", rule, "x");
    check("x: f32[2, 3]\na = tanh(x)\nb = sigmoid(a)\nreturn b", rule, "exp(x)");
    check("x: f32[3]\na = tanh(x)\nb = sigmoid(a)\nreturn b", rule, "add(sigmoid(tanh(x)), x)");
}

#[test]
fn names_and_provenance() {
    let log = Arc::new(Log::default());
    let options = Options { record: Some(log.clone()), ..Options::default() };
    let mut graph = Graph::new(CHAIN);
    let rule =
        graph.rule_with("rule r { let x = *; match tanh(relu(x)); rewrite sigmoid(x); }", &options);
    let root = graph.op("b");
    assert_eq!(graph.run(&rule), 1);
    let applied = log.applications();
    assert_eq!((applied.len(), applied[0].rule.as_str(), applied[0].root), (1, "r", root));
    assert_eq!(applied[0].matched.len(), 2);
    let made = graph.module.result(applied[0].made[0], 0);
    let name = graph.module.value_name(made).map(|name| graph.module.context().text(name));
    assert_eq!(name, Some("b"));
}

#[test]
fn rules_that_cannot_be_expressed_are_disabled() {
    let rules = parse(
        "rule a { let x = *; match tanh(x); rewrite gelu(x); }
        rule b { let x = *; match tanh(x); rewrite relu(x); }
        rule c { let x = *; match tanh(x); rewrite reluu(x); }",
    )
    .expect("rules");
    let context = tangram_dialects::context();
    let set = RuleSet::new(&rules, &context, &Options::default(), &|name| name != "nn.gelu");
    assert_eq!(set.compiled().map(|rule| rule.rule().name()).collect::<Vec<_>>(), ["b"]);
    let disabled: Vec<_> = set.disabled().collect();
    let reason = CompileError::Inexpressible { rule: "a".into(), operation: "nn.gelu".into() };
    assert_eq!(disabled[0], ("a", &reason));
    assert!(
        matches!(disabled[1], ("c", CompileError::Wrong(text)) if text.contains("unknown-operator"))
    );
}

#[test]
fn rules_that_do_not_apply_leave_everything() {
    stays(CHAIN, "rule r { let x = *; match tanh(tanh(x)); rewrite x; }");
    stays(
        CHAIN,
        "rule r { let x = *; let y = relu(x); match tanh(y); where x.ndim == 3; rewrite x; }",
    );
}

/// An attribute of 32 bits is never another number than the one beside operands of 64.
#[test]
fn attributes_lose_no_digits_beside_float64() {
    let rule = "rule r { let x = *; let s = const { ndim = 0 }; match x * s; rewrite leaky_relu(x) { alpha = s.value }; }";
    let graph = |ty: &str, number: &str| {
        format!("x: {ty}[3]\ns = const {ty}[] ({number})\ny = multiply(x, s)\nreturn y")
    };
    check(&graph("f32", "0.1"), rule, "leaky_relu(x)");
    check(&graph("f64", "0.5"), rule, "leaky_relu(x)");
    let mut wide = Graph::new(&graph("f64", "0.1"));
    assert_eq!(wide.refused(rule).code, "attribute");
}
