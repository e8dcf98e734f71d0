//! The rules PM-* of the GSL thesis on IR, each under its name, and what goes beyond them.

mod support;

use support::{Graph, check, stays};

fn matches(graph: &str, pattern: &str) -> usize {
    let rule = format!("rule r {{ let x = *; {pattern} rewrite x; }}");
    Graph::new(graph).count(&rule)
}

#[test]
fn pm_wildcard() {
    let graph = "x: f32[3]\nc = const f32[] (1)\ny = relu(x)\nz = relu(c)\nreturn y, z";
    assert_eq!(matches(graph, "match relu(x);"), 2);
}

#[test]
fn pm_const() {
    let graph = "x: f32[2]
        a = const f32[] (0.1)
        b = const f16[2] (0.1, 0.1)
        c = const f32[2] (1, 2)
        i = const i64[2] (1, 2)
        ya = relu(a)
        yb = relu(b)
        yc = relu(c)
        yi = relu(i)
        yx = relu(x)
        return ya, yb, yc, yi, yx";
    let count = |value: &str| {
        Graph::new(graph).count(&format!("rule r {{ let c = {value}; match relu(c); rewrite c; }}"))
    };
    assert_eq!(count("const"), 4);
    // A number matches what it rounds to, in any shape.
    assert_eq!(count("0.1"), 2);
    assert_eq!(count("0.1000001"), 1);
    assert_eq!(count("const(0.1)"), 1);
    assert_eq!(count("const([1, 2])"), 2);
    assert_eq!(count("const([1, _])"), 2);
    assert_eq!(count("const([1, 2]) { dtype = \"int64\" }"), 1);
    assert_eq!(count("const([i + 1 for i < 2])"), 2);
    assert_eq!(count("const { ndim = 0 }"), 1);
}

#[test]
fn pm_variable() {
    let graph = "x: f32[N, 3]
        w = const f32[3] (1)
        y = relu(x)
        z = relu(y)
        u = relu(w)
        return z, u";
    let count = |fields: &str| {
        Graph::new(graph)
            .count(&format!("rule r {{ let v = variable{fields}; match relu(v); rewrite v; }}"))
    };
    // Inputs and parameters, but not the result of an operation.
    assert_eq!(count(""), 2);
    assert_eq!(count(" { shape = [_, 3] }"), 1);
    assert_eq!(count(" { shape = [3] }"), 1);
    assert_eq!(count(" { shape = [4, 3] }"), 0);
    assert_eq!(count(" { dtype = \"float32\", ndim = 2 }"), 1);
}

#[test]
fn pm_call() {
    let graph = "x: f32[1, 4, 8, 8]
        w = const f32[4, 4, 3, 3] (1)
        a = conv2d(x, w) {strides = [1, 1], padding = [1, 1, 1, 1], groups = 1}
        b = conv2d(a, w) {strides = [2, 2], groups = 1}
        return b";
    assert_eq!(matches(graph, "match conv2d(x, *);"), 2);
    assert_eq!(matches(graph, "match conv2d(x, *) { groups = 1 };"), 2);
    assert_eq!(matches(graph, "match conv2d(x, *) { strides = [2, _] };"), 1);
    assert_eq!(matches(graph, "match conv2d(x, *) { padding = [1, 1, 1, 1] };"), 1);
    assert_eq!(matches(graph, "let c = conv2d(x, *); match conv2d(c, *) { c.{groups} };"), 0);
    assert_eq!(matches(graph, "match conv2d(conv2d(x, *), alias *) as c; where c.groups == 1;"), 1);
    let shared = "let w = *; match conv2d(conv2d(x, w), w);";
    assert_eq!(matches(graph, shared), 1);
    assert_eq!(matches(graph, "let w = *; let v = *; match conv2d(conv2d(x, w), v);"), 0);
}

#[test]
fn pm_call_absent_operands() {
    let graph = "x: f32[3]
        n = none()
        a = clip(x, n, n)
        b = clip(a) {a_min = 0.0}
        return b";
    assert_eq!(matches(graph, "match clip(x);"), 2);
    assert_eq!(matches(graph, "match clip(x, *);"), 0);
}

#[test]
fn pm_tuple() {
    let graph = "x, y, z: f32[2]
        a = concatenate(x, y) {axis = 0}
        b = concatenate(x, y, z) {axis = 0}
        return a, b";
    assert_eq!(matches(graph, "match concatenate((x, *));"), 1);
    assert_eq!(matches(graph, "match concatenate((x, *, *));"), 1);
    assert_eq!(matches(graph, "match concatenate(x);"), 0);
}

#[test]
fn pm_proj() {
    let graph = "x: f32[2, 6]
        a, b, c = split(x) {axis = 1, indices_or_sections = 3}
        y = relu(a)
        z = relu(c)
        return y, z";
    assert_eq!(matches(graph, "match relu(split(x)[0]);"), 1);
    assert_eq!(matches(graph, "match relu(split(x)[1]);"), 0);
    assert_eq!(matches(graph, "match relu(split(x)[_]);"), 2);
    let three = "let s = split(x); match relu(s[2]); where s.indices_or_sections == 3;";
    assert_eq!(matches(graph, three), 1);
}

#[test]
fn pm_variadic() {
    let graph = "x: f32[2, 6]
        a = relu(x)
        b = sigmoid(x)
        c = relu(b)
        y = concatenate(a, c) {axis = 1}
        z = concatenate(a, b) {axis = 1}
        return y, z";
    let field = "let w = *; let r = relu(w);";
    let count = |rest: &str| {
        Graph::new(graph).count(&format!("rule r {{ {field} {rest} rewrite concatenate(variadic v[w, i] for i) {{ axis = 0 }}; }}"))
    };
    assert_eq!(count("let v = variadic r over (r, w); match concatenate(v);"), 1);
    assert_eq!(count("let v = variadic r over (r, w) length 2; match concatenate(v);"), 1);
    assert_eq!(count("let v = variadic r over (r, w) length 3; match concatenate(v);"), 0);
    assert_eq!(count("let v = variadic r over (r, w) min 3; match concatenate(v);"), 0);
    assert_eq!(
        count("let v = variadic r over (r, w); match concatenate(v); where v.length == 2;"),
        1
    );
}

#[test]
fn pm_variadic_index() {
    let put_together = "rule r alias { index i; let x = *; let s = split(x); let part = s[i];
        match concatenate(variadic part for i < s.length) { axis = s.axis }; rewrite x; }";
    let graph = |order: &str| {
        format!(
            "x: f32[2, 6]\na, b, c = split(x) {{axis = 1, indices_or_sections = 3}}
             y = concatenate({order}) {{axis = 1}}\nreturn y"
        )
    };
    check(&graph("a, b, c"), put_together, "x");
    stays(&graph("a, c, b"), put_together);
}

#[test]
fn pm_inst() {
    // Instance 1 of the field is read once more.
    let graph = "x, y, z: f32[2]
        a = add_n(x, y, z)
        b = add(a, x)
        b2 = add(a, y)
        return b, b2";
    let rule = |i: usize| {
        format!(
            "rule r {{ let f = *; let v = variadic f over (f); let c = add_n(v);
             match add(c, v[f, {i}]); rewrite c; }}"
        )
    };
    assert_eq!(Graph::new(graph).count(&rule(0)), 1);
    assert_eq!(Graph::new(graph).count(&rule(1)), 1);
    assert_eq!(Graph::new(graph).count(&rule(2)), 0);
    assert_eq!(Graph::new(graph).count(&rule(3)), 0);
}

#[test]
fn traits_and_alternatives_of_operators() {
    let graph = "x: f32[3]\na = relu(x)\nb = sigmoid(a)\nc = softmax(b) {axis = 0}\nreturn c";
    assert_eq!(matches(graph, "op f = relu | sigmoid; match f(x);"), 2);
    assert_eq!(matches(graph, "op f = trait element_wise; match f(x);"), 2);
    assert_eq!(matches(graph, "op f = relu | sigmoid; match f(f(x));"), 0);
    assert_eq!(matches(graph, "op f = relu | sigmoid; op g = sigmoid | tanh; match g(f(x));"), 1);
}

#[test]
fn alternatives_and_negation() {
    let graph = "x: f32[3]\na = relu(x)\nb = tanh(a)\nc = tanh(x)\nd = tanh(b)\nreturn c, d";
    assert_eq!(matches(graph, "let y = relu(x) | tanh(x); match tanh(y);"), 2);
    let rule = "rule r { let y = not relu(*); match tanh(y); rewrite y; }";
    assert_eq!(Graph::new(graph).count(rule), 2);
}

#[test]
fn commutative_and_associative() {
    let graph = "x, y: f32[3]
        h = const f32[] (0.5)
        r = relu(x)
        a = multiply(y, r)
        b = multiply(h, a)
        s = subtract(y, r)
        return b, s";
    assert_eq!(matches(graph, "match relu(x) * *;"), 0);
    assert_eq!(matches(graph, "match commutative relu(x) * *;"), 1);
    // An operator that is not commutative keeps its order whatever the rule asks for.
    assert_eq!(matches(graph, "match commutative relu(x) - *;"), 0);
    assert_eq!(matches(graph, "match commutative associative relu(x) * 0.5 * *;"), 1);
    assert_eq!(matches(graph, "match commutative relu(x) * 0.5 * *;"), 0);
}

#[test]
fn aliasing_is_declared() {
    let graph = "x: f32[3]\ny = add(x, x)\nreturn y";
    assert_eq!(matches(graph, "match x + *;"), 0);
    assert_eq!(matches(graph, "match x + (alias *);"), 1);
    assert_eq!(matches(graph, "match x + x;"), 1);
}

/// `alias` on a rule lets inputs coincide, not outputs: each of those asks for it by itself.
#[test]
fn outputs_are_values_of_their_own() {
    let pair = |output: &str| {
        format!(
            "rule r alias {{ let x = *; let y = *; let z = *;
             match {output} matmul(x, z), {output} matmul(y, z);
             rewrite matmul(x, z), matmul(y, z); }}"
        )
    };
    let one = "a: f32[2, 3]\nc: f32[3, 4]\np = matmul(a, c)\nreturn p";
    let two = "a: f32[2, 3]\nc: f32[3, 4]\np = matmul(a, c)\nq = matmul(a, c)\nreturn p, q";
    assert_eq!(Graph::new(one).count(&pair("")), 0);
    assert_eq!(Graph::new(two).count(&pair("")), 2);
    assert_eq!(Graph::new(one).count(&pair("alias")), 1);
}

#[test]
fn only_means_no_user_outside() {
    let rule = "rule r { let x = *; let r = only relu(x); match tanh(r); rewrite x; }";
    check("x: f32[3]\nr = relu(x)\nt = tanh(r)\nreturn t", rule, "x");
    stays("x: f32[3]\nr = relu(x)\nt = tanh(r)\nreturn t, r", rule);
}

#[test]
fn symbolic_extents_hold_for_all_values() {
    let square = |shape: &str, condition: &str| {
        let graph = format!("x: f32[{shape}]\ny = relu(x)\nreturn y");
        matches(&graph, &format!("match relu(x); where {condition};"))
    };
    assert_eq!(square("N, 2*N", "x.shape[1] == x.shape[0] * 2"), 1);
    assert_eq!(square("N, M", "x.shape[1] == x.shape[0]"), 0);
    assert_eq!(square("N, M", "x.shape[1] != x.shape[0]"), 0);
    assert_eq!(square("N, 3", "x.shape[0] + 1 > 0"), 1);
    assert_eq!(square("?, 3", "x.shape[0] == x.shape[0]"), 0);
    assert_eq!(square("?, 3", "x.shape[1] == 3"), 1);
    assert_eq!(square("N + 1, N", "x.shape[0] - x.shape[1] == 1"), 1);
    assert_eq!(square("*", "x.ndim == 2"), 0);
}

#[test]
fn multi_output_backtracks_over_users() {
    // The first user of `x` is no tanh, the second leads nowhere, the third is right.
    let graph = "x, y: f32[3]
        a = relu(x)
        u = sigmoid(x)
        t = tanh(x)
        v = add(t, y)
        t2 = tanh(x)
        w = subtract(t2, a)
        return a, u, v, w";
    let rule = "rule r { let x = *; let a = relu(x); let t = tanh(x);
        match a, t - a; rewrite x, t; }";
    assert_eq!(Graph::new(graph).count(rule), 1);
    let two = "rule r { let x = *; match relu(x), tanh(x); rewrite x, x; }";
    assert_eq!(Graph::new(graph).count(two), 2);
}

#[test]
fn variadic_outputs_take_all_branches() {
    let graph = "x, y: f32[3]
        a = relu(x)
        b = relu(y)
        c = relu(x)
        d = tanh(x)
        e = relu(x)
        return a, b, c, d, e";
    let rule = "rule r { op f = trait element_wise; let x = *; let y = f(x);
        match variadic y over (y) min 2 as v; let once = f(x); rewrite variadic once over () for i; }";
    let graph_ = Graph::new(graph);
    let compiled = graph_.rule(rule);
    let found = compiled.find(&graph_.module, graph_.op("a")).expect("a match");
    assert_eq!(found.outputs().len(), 3);
    assert!(compiled.find(&graph_.module, graph_.op("b")).is_none());
    let mut graph = graph_;
    assert_eq!(graph.run(&compiled), 1);
    assert_eq!(graph.show(), "relu(x); relu(y); relu(x); tanh(x); relu(x)");
    assert_eq!(graph.module.ops(graph.module.body()).count(), 4);
}

#[test]
fn branches_that_share_a_template_value_are_left_out() {
    // `w` is read twice: two branches cannot both have it, so two of three are merged.
    let graph = "x: f32[2, 3]
        w = const f32[3, 4] (1)
        v = const f32[3, 4] (2)
        a = matmul(x, w)
        b = matmul(x, w)
        c = matmul(x, v)
        return a, b, c";
    let rule = "rule r { let x = *; let w = *; let m = matmul(x, w);
        match variadic m over (m, w) min 2 as src;
        rewrite variadic matmul(x, src[w, i]) for i; }";
    let graph = Graph::new(graph);
    let compiled = graph.rule(rule);
    for root in ["a", "b", "c"] {
        let found = compiled.find(&graph.module, graph.op(root)).expect("a match");
        assert_eq!(found.outputs().len(), 2, "{root}");
    }
}

#[test]
fn the_nearest_miss_is_explained() {
    let graph = Graph::new(
        "x: f32[1, 4, 8, 8]\nw = const f32[4, 2, 3, 3] (1)\nc = conv2d(x, w) {groups = 2}
         r = relu(c)\nreturn r",
    );
    let rule = graph.rule(
        "rule r { let x = *; let c = conv2d(x, *) { groups = 1 }; match relu(c); rewrite x; }",
    );
    let reason = rule.explain(&graph.module, graph.op("r")).expect("a reason");
    assert!(reason.starts_with("`c` at nn.conv2d"), "{reason}");
    assert!(reason.ends_with("expected groups = 1, found 2"), "{reason}");
}

/// Of branches that read what others make as many are merged as are independent of each other.
#[test]
fn branches_that_read_each_other_are_left_out() {
    let rule = "rule r { let x = *; let w = *; let c = matmul(x, w); let src = variadic c over (c, w) min 2;
        match src; let y = matmul(x, concatenate(variadic src[w, i] for i < src.length) { axis = 1 });
        attr ends = [sum(src[w, k].shape[1] for k < j + 1) for j < src.length - 1];
        let p = split(y) { axis = 1, indices_or_sections = ends }; rewrite variadic p[i] for i; }";
    // The third reads the first, the fourth the third; the second and the last read nobody.
    let graph = "x, u, v, w: f32[3, 3]
        a = matmul(x, u)
        b = matmul(x, v)
        n = relu(a)
        c = matmul(x, n)
        m = tanh(c)
        d = matmul(x, m)
        e = matmul(x, w)
        return a, b, c, d, e";
    let graph = Graph::new(graph);
    let compiled = graph.rule(rule);
    let outputs = |root: &str| {
        let found = compiled.find(&graph.module, graph.op(root)).expect("a match");
        let name = |value| graph.values.iter().find(|(_, known)| **known == value);
        found.outputs().iter().filter_map(|v| Some(name(*v)?.0.clone())).collect::<Vec<String>>()
    };
    for (root, expected) in [("a", ["a", "b", "e"]), ("b", ["b", "a", "e"]), ("c", ["c", "b", "e"])]
    {
        assert_eq!(outputs(root), expected);
    }
    let mut graph = graph;
    assert_eq!(graph.run(&compiled), 1);
    graph.verify();
}

/// Outputs that share nothing are found among all operations of the block.
#[test]
fn outputs_may_share_nothing() {
    let rule =
        "rule r alias { let x = *; let y = *; match relu(x), tanh(y); rewrite relu(y), tanh(x); }";
    let graph = "x, y: f32[3]\na = relu(x)\nb = tanh(y)\nreturn a, b";
    let mut graph = Graph::new(graph);
    assert_eq!(graph.count(rule), 1);
    assert_eq!(graph.rewrite(rule), 1);
    assert_eq!(graph.show(), "relu(y); tanh(x)");
}

/// A rule of three outputs that never matches takes time in proportion to the square of the products
/// at most, not to their cube: candidates that differ in nothing that it reads are tried once.
#[test]
fn what_is_alike_is_tried_once() {
    let rule = "rule r { let x = *; let u = const; let v = const; let w = const;
        match matmul(x, u), matmul(x, v), matmul(x, w);
        where u.shape[1] == v.shape[1] + w.shape[1]; rewrite matmul(x, v), matmul(x, u), matmul(x, w); }";
    let graph = |count: usize, last: usize| {
        let mut text = "x: f32[4, 4]\n".to_owned();
        for i in 0..count {
            let columns = if i + 1 == count { last } else { 1 };
            text += &format!("w{i} = const f32[4, {columns}] ({i})\nm{i} = matmul(x, w{i})\n");
        }
        let names: Vec<String> = (0..count).map(|i| format!("m{i}")).collect();
        Graph::new(&format!("{text}return {}", names.join(", ")))
    };
    let never = graph(600, 1);
    let compiled = never.rule(rule);
    for i in 0..600 {
        let mut search = compiled.matches(&never.module, never.op(&format!("m{i}")));
        assert!(search.next_match().is_none() && !search.is_exhausted());
        assert!(search.steps() < 100, "{} steps", search.steps());
    }
    // One of two columns is the sum of any two others: all of these are found.
    let some = graph(8, 2);
    let found: Vec<usize> = (0..8)
        .map(|i| {
            let mut search = compiled.matches(&some.module, some.op(&format!("m{i}")));
            std::iter::from_fn(|| search.next_match()).count()
        })
        .collect();
    assert_eq!(found, [0, 0, 0, 0, 0, 0, 0, 7 * 6]);
}
