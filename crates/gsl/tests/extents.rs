//! Where extents are unknown, a rewrite is made only if it is right whatever they are.

mod support;

use support::{Graph, check};
use tangram_gsl::rules::{Options, UnknownExtents};

const SUM: &str = "x: f32[?]\ny: f32[?]\na = add(x, y)\nr = relu(a)\nreturn r";

/// Applies a rule that is not verified; returns what becomes of a graph, or why nothing does.
fn unverified(graph: &str, rule: &str) -> Result<String, String> {
    let unknown_extents = UnknownExtents::Refuse;
    let options = Options { unknown_extents, ..Options::default() };
    let mut graph = Graph::new(graph);
    let rule = graph.rule_with(rule, &options);
    match graph.run(&rule) {
        0 => Err(graph.refusal(&rule)),
        _ => Ok(graph.show()),
    }
}

#[test]
fn a_wrong_rule_is_refused_with_both_types() {
    // `x` may have one element where `y` has more.
    let wrong = "rule drop-term { let x = *; let y = *; match relu(x + y); rewrite relu(x); }";
    let found = Graph::new(SUM).refused(wrong);
    assert_eq!(found.code, "unknown-extents");
    for part in ["rule `drop-term` at `nn.relu`", "the source has type [?]", "the target [?]"] {
        let types = found.message.replace("tensor<?xf32>", "[?]").replace("float32[?]", "[?]");
        assert!(types.contains(part), "no `{part}` in {}", found.message);
    }
    // Known on one side is not known on both.
    let half = SUM.replace("y: f32[?]", "y: f32[4]");
    assert_eq!(Graph::new(&half).refused(wrong).code, "unknown-extents");
    // Rank 0 broadcasts to anything.
    let scalar = SUM.replace("y: f32[?]", "y: f32[]");
    check(&scalar, wrong, "relu(x)");
}

#[test]
fn the_same_derivation_is_the_same_extent() {
    let turned = "rule r { let x = *; let y = *; match relu(x + y); rewrite tanh(y + x); }";
    assert_eq!(unverified(SUM, turned).as_deref(), Ok("tanh(add(y, x))"));
    let graph = "x: f32[?, 3]\ny: f32[?, 3]\nz: f32[?, 1]\na = add(x, y)\nb = add(a, z)\nreturn b";
    let regrouped =
        "rule r { let x = *; let y = *; let z = *; match x + y + z; rewrite x * (y * z); }";
    assert_eq!(unverified(graph, regrouped).as_deref(), Ok("multiply(x, multiply(y, z))"));
    // What an operation makes of an unknown extent is the same in both.
    let pooled = "x: f32[1, 3, ?, ?]\na = relu(x)\n\
        p = max_pool2d(a) {pool_size = [3, 3], strides = [2, 2]}\nreturn p";
    let rule = "rule r { let x = *; let a = relu(x); match max_pool2d(a) as p;
        rewrite tanh(max_pool2d(x) { ..p }); }";
    assert_eq!(unverified(pooled, rule).as_deref(), Ok("tanh(max_pool2d(x))"));
}

#[test]
fn a_target_assumes_no_more_than_its_source() {
    // (x + y) w = x w + y w, unless `x` or `y` has one column that is repeated.
    let graph = "x: f32[2, ?]\ny: f32[2, ?]\nw: f32[?, 5]\na = add(x, y)\n\
        m = matmul(a, w)\nreturn m";
    let rule = "rule r { let x = *; let y = *; let w = *; match matmul(x + y, w);
        rewrite matmul(x, w) + matmul(y, w); }";
    let found = Graph::new(graph).refused(rule);
    assert_eq!(found.code, "unknown-extents");
    assert!(found.message.contains("defined only where"), "{}", found.message);
    // Where both are multiplied by it, both have its rows.
    let graph = "x: f32[2, ?]\ny: f32[2, ?]\nw: f32[?, 5]\nm = matmul(x, w)\nn = matmul(y, w)\n\
        a = add(m, n)\nreturn a";
    let back = "rule r { let x = *; let y = *; let w = *; match matmul(x, w) + matmul(y, w);
        rewrite matmul(x + y, w); }";
    assert_eq!(unverified(graph, back).as_deref(), Ok("matmul(add(x, y), w)"));
}

#[test]
fn what_does_not_follow_is_verified() {
    // How many elements are picked depends on `c` alone, which inference does not know.
    let graph = "x: f32[?]\nc: i1[?]\na = compress(x, c) {axis = 0}\nr = relu(a)\nreturn r";
    let right = "rule r { let x = *; let c = *; let a = compress(x, c); match relu(a);
        rewrite compress(relu(x), c) { ..a }; }";
    assert!(unverified(graph, right).is_err());
    check(graph, right, "compress(relu(x), c)");
    let wrong = right.replace("relu(x), c", "tanh(x), c");
    assert_eq!(Graph::new(graph).refused(&wrong).code, "unknown-extents");
}

#[test]
fn a_target_that_may_be_defined_nowhere_is_refused() {
    // Two elements do not fit into one, of which the type says that nothing is known.
    let graph = "x: f32[1, 1, 1]\ny: f32[1, 1, 4]\nw: f32[1, 1, 2]\nm = multiply(x, y)\n\
        c = conv1d(m, w) {strides = [3], padding = [0, 0]}\nreturn c";
    let rule = "rule r { let x = *; let y = *; let w = *; match conv1d(x * y, w) as c;
        rewrite conv1d(x, w) { ..c }; }";
    let unknown_extents = UnknownExtents::Accept;
    let mut graph = Graph::new(graph);
    let rule = graph.rule_with(rule, &Options { unknown_extents, ..Options::default() });
    assert_eq!(graph.run(&rule), 0);
    let refusal = graph.refusal(&rule);
    assert!(refusal.contains("may be defined nowhere"), "{refusal}");
}
