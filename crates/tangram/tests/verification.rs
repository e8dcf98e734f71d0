//! Every shipped rule is verified; rules whose conditions are too weak are found out.

use tangram::gsl::verify::Effort;
use tangram::{Library, ON_REQUEST, SHIPPED};

#[test]
fn shipped_rules_hold() {
    holds(&Effort { covering: 60, ..Effort::default() });
}

#[test]
#[ignore = "as thoroughly as rules are verified, minutes"]
fn shipped_rules_hold_as_verified() {
    holds(&Effort::default());
}

fn holds(effort: &Effort) {
    let library = Library::shipped().expect("the shipped rules");
    assert!(!SHIPPED.is_empty());
    // No start checks them again.
    assert_eq!(library.check(), "");
    let mut failed = String::new();
    for (name, verdict) in library.verify(effort) {
        println!("{name}: {verdict}");
        if !verdict.holds() {
            failed += &format!("{name}: {verdict}\n");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Rules of the library with a condition left out or an expression changed: rule, what is there,
/// what is put in its place.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "transpose-transpose",
        "inner.axes[a] for a in outer.axes",
        "outer.axes[a] for a in inner.axes",
    ),
    ("cast-cast", r#"x.dtype == "bool""#, "x.ndim >= 0"),
    ("clip-clip", "max(inner.a_min, outer.a_min)", "outer.a_min"),
    ("relu-clip", "a_min = 0.0", "a_min = outer.a_min"),
    ("relu-relu", "rewrite inner;", "rewrite x;"),
    ("slice-slice", "&& !(a in inner.axes)", ""),
    ("add-add-constants", "x + (a + b)", "x + (a - b)"),
    ("conv-batch-norm", "beta - mean * scale", "beta - mean"),
    ("conv-batch-norm", "variance + const(bn.epsilon)", "variance"),
    ("conv-bias-batch-norm", "bias - mean", "bias + mean"),
    ("conv-bias-multiply", "bias * reshape(k)", "bias + reshape(k)"),
    ("conv-scale", "w * reshape(k)", "w + reshape(k)"),
    ("bias-bias", "inner.axis == outer.axis", "inner.axis >= -9"),
    ("dense-batch-norm", "beta - mean * scale", "beta"),
    ("pad-conv2d", ", pad_value = 0.0", ""),
    ("pad-conv2d", r#"pad_mode = "constant", "#, ""),
    ("pad-conv2d", "p.pad_width[2:4] + p.pad_width[6:8]", "p.pad_width[6:8] + p.pad_width[2:4]"),
    ("gelu", "1.4142135623730951", "1.5"),
    ("layer-norm", "epsilon = eps.value", "epsilon = 2.0"),
    ("hard-sigmoid", r#"x.dtype in ["float16", "bfloat16", "float32"]"#, "true"),
    ("hard-swish", "h.beta == 0.5", "h.beta >= 0.0"),
    (
        "slice-of-product",
        "all(a == last || a == last - 1 || a < last && w.ndim == 2 for a in axes)",
        "last > 0",
    ),
    ("take-of-softmax", "!(at == y.axis)", "at >= 0"),
    (
        "mean-of-convolution",
        r#"native absent(c, "strides") || all(n == 1 for n in c.strides)"#,
        "w.ndim > 0",
    ),
    ("sum-of-convolutions", "c.groups == d.groups", "c.groups > 0"),
    ("sum-of-joined", "{ groups = 1 }", ""),
    ("softmax-of-shifted", "y.axis in b.axis", "x.ndim > 0"),
    ("product-of-equal-blocks", "w.value[0:n] == w.value[n:2 * n]", "n > 0"),
    ("convolution-of-convolution", "g == c.groups", "g > 0"),
    ("product-of-taken", "t.axis == 0", "t.axis >= -9"),
    ("parallel-matmul", "parts[i]", "parts[src.length - 1 - i]"),
    ("parallel-conv2d", "{ groups = 1 }", ""),
    ("parallel-conv2d", "let c = conv2d(x, w) { ..c1 }", "let c = conv2d(x, w) { groups = 1 }"),
    ("parallel-two-conv2d", "{ groups = 1 }", ""),
    ("parallel-conv2d-bias", "{ groups = 1 }", ""),
    (
        "parallel-group-conv2d",
        "for i < src.length) { axis = 1 }",
        "for i < src.length) { axis = 0 }",
    ),
    ("parallel-two-dense", "parts[0], parts[1]", "parts[1], parts[0]"),
    ("add-of-biased", "y1.axis == y2.axis", "y1.axis >= -9"),
    ("conv-add-filters", "let c2 = only conv2d(x, w2) { ..c1 }", "let c2 = only conv2d(x, w2)"),
    ("conv-add-joined", "{ groups = 1 }", ""),
    ("conv-shortcut-add", "c.padding == [py, px, py, px]", "py >= 0"),
    ("merge-element-wise", "let y = f(x) { ..y1 }", "let y = f(x)"),
    ("zero-bias", "const(splat 0.0)", "const"),
    ("neutral-element", "x - 0", "0 - x"),
    ("pad-conv1d", ", pad_value = 0.0", ""),
    ("pad-conv3d", ", pad_value = 0.0", ""),
    ("add-commute", "match x + y", "match x - y"),
    ("factor-out", "(x + y) * z", "x + y * z"),
    ("lower-batch-norm", "sqrt(variance + const(bn.epsilon))", "(variance + const(bn.epsilon))"),
    ("lower-layer-norm", "{ axis = -1 } as ln", "as ln"),
    ("lower-instance-norm", "i + 2 for i < x.ndim - 2", "i + 1 for i < x.ndim - 1"),
    ("lower-l2-norm", "{ p = 2 }", ""),
];

/// The text of a rule of the library.
fn text_of(name: &str) -> &'static str {
    let head = format!("rule {name} ");
    let found = SHIPPED.iter().find_map(|(_, text)| text.find(&head).map(|at| &text[at..]));
    let text = found.unwrap_or_else(|| panic!("no rule {name}"));
    &text[..text.find("\n}").expect("its end") + 2]
}

#[test]
fn rules_that_are_too_weak_are_found_out() {
    assert!(WRONG.len() >= 30);
    let mut passed = Vec::new();
    for (name, from, to) in WRONG {
        let text = text_of(name);
        assert!(text.contains(from), "{name} has no `{from}`:\n{text}");
        let mut library = Library::default();
        library.add_text(name, &text.replacen(from, to, 1), None).expect("a rule");
        let (_, verdict) = library.verify(&Effort::default()).remove(0);
        match verdict.counterexample() {
            Some(found) => assert!(!found.difference.is_empty() && !found.source.is_empty()),
            None => passed.push(format!("{name} with `{to}` for `{from}`: {verdict}")),
        }
    }
    assert!(passed.is_empty(), "not found out:\n{}", passed.join("\n"));
}

#[test]
fn shipped_rules_do_not_get_in_each_others_way() {
    let mut library = Library::shipped().expect("the shipped rules");
    let on_request = |label: &String| label == ON_REQUEST;
    library.rules.retain(|rule| !rule.rule.labels().iter().any(on_request));
    let findings = library.analyse().expect("rules that can be compiled");
    assert!(!findings.is_empty(), "some rules overlap");
    let defects: Vec<String> =
        findings.iter().filter(|f| f.is_defect()).map(ToString::to_string).collect();
    assert!(defects.is_empty(), "{}", defects.join("\n"));
}
