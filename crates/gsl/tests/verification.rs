//! What verification finds: symbolic extents, and the condition that is missing.

use std::sync::Arc;

use tangram_gsl::eval::AttrValue;
use tangram_gsl::rules::{NativeArgument, Natives};
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Effort, Verdict, verify};
use tangram_ir::{DimKind, TypeData};

fn verdict(text: &str, natives: Natives) -> Verdict {
    let rule = parse(text).unwrap_or_else(|e| panic!("{e}")).remove(0);
    let context = tangram_dialects::context();
    verify(&rule, &context, &Arc::new(natives), &Effort::default()).expect("a rule that compiles")
}

/// Whether the first extent of a value is 1; `careless` takes a symbol for 1 too.
fn single(careless: bool) -> Natives {
    let mut natives = Natives::default();
    let is_one = move |module: &tangram_ir::Module, args: &[NativeArgument]| {
        let [NativeArgument::Value(value)] = args else { return None };
        let TypeData::Tensor(tensor) = module.context().type_data(module.value_type(*value)) else {
            return None;
        };
        let one = match tensor.dims.first()?.kind() {
            DimKind::Static(n) => n == 1,
            _ => careless,
        };
        Some(AttrValue::Bool(one))
    };
    natives.add_attribute("single", Arc::new(is_one));
    natives
}

#[test]
fn symbolic_extents_take_part() {
    let square = "rule r { let x = *; match relu(relu(x)) as y; where x.shape[0] == x.shape[1];
        rewrite relu(x); }";
    let found = verdict(square, Natives::default());
    let Verdict::Holds(evidence) = &found else { panic!("{found}") };
    assert!(evidence.symbolic > 0, "{found}");
    assert!(found.to_string().contains("with symbolic extents"), "{found}");
}

/// Along an extent of 1 a running sum is what it sums up.
#[test]
fn what_takes_a_symbol_for_a_number_is_wrong() {
    let text = "rule r { let x = *; match cumsum(x) { axis = 0, exclusive = false } as c; where native single(x);
        rewrite x; }";
    let right = verdict(text, single(false));
    assert!(right.holds(), "{right}");
    let wrong = verdict(text, single(true));
    assert!(matches!(wrong, Verdict::Wrong { .. }), "{wrong}");
    let counterexample = wrong.counterexample().expect("one").source.join("\n");
    assert!(counterexample.contains('N'), "{counterexample}");
}

/// The condition that is proposed for a rule, which is right with it.
#[test]
fn a_missing_condition_is_proposed() {
    let cases = [
        (
            "let x = *; let v = const; let w = const;
             let a = conv2d(x, v) { groups = 1 };
             match add(a, conv2d(x, w) { ..a });
             rewrite conv2d(x, add(v, w)) { ..a };",
            "v.shape[1:] == w.shape[1:]",
        ),
        (
            "let x = *; let a = transpose(x); match transpose(a) as b; rewrite x;",
            "",
        ),
        (
            "let x = *; let k = const { ndim = 1 };
             match softmax(x) { flatten = false } as s; where x.ndim == 2, s.axis == 0 || s.axis == 1;
             rewrite transpose(softmax(transpose(x) { axes = [1, 0] }) { axis = 1, flatten = false }) { axes = [1, 0] };",
            "s.axis == 0",
        ),
    ];
    for (body, expected) in cases {
        let found = verdict(&format!("rule r {{ {body} }}"), Natives::default());
        assert!(found.is_wrong(), "{body}: {found}");
        let Verdict::HoldsIf { condition, .. } = &found else {
            assert!(expected.is_empty(), "{body}: {found}");
            continue;
        };
        if !expected.is_empty() {
            assert!(condition.contains(expected), "{body}: {condition}");
            let with = body.replace("rewrite", &format!("where {condition}; rewrite"));
            let fixed = verdict(&format!("rule r {{ {with} }}"), Natives::default());
            assert!(fixed.holds(), "{with}: {fixed}");
        }
    }
}

/// The verdict on `x`, `y`, `z` as inputs of a rule that says `body`.
fn on(body: &str) -> Verdict {
    let inputs: String = ["x", "y", "z"]
        .into_iter()
        .filter(|name| body.contains(&format!("({name}")) || body.contains(&format!(", {name}")))
        .map(|name| format!("let {name} = *; "))
        .collect();
    verdict(&format!("rule r alias range {{ {inputs} {body} }}"), Natives::default())
}

/// What has no elements is the same on both sides, whatever both sides are.
#[test]
fn results_without_elements_are_no_evidence() {
    let found = on("match tanh(x); where x.ndim == 1, x.shape[0] == 0; rewrite sigmoid(x);");
    assert!(!found.holds() && !found.is_wrong(), "{found}");
    let swapped =
        on("match rotary_embedding(x, y, z) as r; rewrite rotary_embedding(x, z, y) { ..r };");
    assert!(!swapped.holds(), "{swapped}");
}

/// A number that no `uint8` is becomes another one on each machine.
#[test]
fn a_target_may_leave_open_only_what_the_source_does() {
    for body in [
        "match cast(x) { dtype = \"int8\" }; where x.dtype == \"float32\";
         rewrite cast(cast(x) { dtype = \"uint8\" }) { dtype = \"int8\" };",
        "match left_shift(left_shift(x, y), z);
         where x.dtype == \"uint8\", y.dtype == \"uint8\", z.dtype == \"uint8\";
         rewrite left_shift(x, y + z);",
    ] {
        let found = on(body);
        assert!(found.is_wrong(), "{body}: {found}");
    }
}

/// Where softmax vanishes, its logarithm is minus infinity, and the fused function a number: outside
/// of the range in which the rule promises anything. The other way a number becomes infinite.
#[test]
fn a_vanishing_number_is_outside_of_the_range() {
    let fused = "match log(softmax(x) { axis = -1, flatten = false });
        rewrite log_softmax(x) { axis = -1, flatten = false };";
    assert!(on(fused).holds(), "{}", on(fused));
    let plain = verdict(&format!("rule r alias {{ let x = *; {fused} }}"), Natives::default());
    assert!(matches!(plain, Verdict::HoldsAs { .. }), "{plain}");
    let apart = on("match log_softmax(x) { axis = -1, flatten = false };
        rewrite log(softmax(x) { axis = -1, flatten = false });");
    assert!(apart.is_wrong(), "{apart}");
}

/// Three element types have to meet: one that the second cannot hold, read back as the first.
#[test]
fn casts_go_through_every_triple_of_types() {
    let found = verdict(
        "rule r alias exact { let x = *; let inner = cast(x); match cast(inner) as outer;
         where x.dtype in [\"int64\", \"int32\", \"int8\"], inner.dtype in [\"float64\", \"int32\"];
         rewrite cast(x) { ..outer }; }",
        Natives::default(),
    );
    assert!(found.is_wrong(), "{found}");
}

/// Extents that are operands are any numbers: what they ask for is not made.
#[test]
fn extents_that_are_read_have_a_budget() {
    let found = on("let b = broadcast_to(x, y); match identity(b); rewrite b;");
    assert!(!found.is_wrong(), "{found}");
    let tiled = on("let a = tile(x); match tile(a) as b;
        rewrite tile(x) { reps = [n[0] * n[1] for n in zip(a.reps, b.reps)] };");
    assert!(tiled.holds(), "{tiled}");
}

/// A rule may be meant for narrow types only; the numbers are still judged by wide ones.
#[test]
fn rules_of_narrow_types_are_judged_in_wide_ones() {
    let narrow =
        "match x / y / z; where x.dtype in [\"float16\", \"bfloat16\"], y.dtype == x.dtype,
        z.dtype == x.dtype; rewrite x / (y * z);";
    let body = format!("let x = *; let y = *; let z = *; {narrow}");
    let found = verdict(&format!("rule r alias range {{ {body} }}"), Natives::default());
    assert!(found.holds(), "{found}");
}

/// What a tensor is filled with is one of its attributes.
#[test]
fn fills_have_many_values() {
    let found = on("let c = full(); match add(x, c) as y; where y.shape == x.shape;
        rewrite add(x, full() { shape = [] });");
    assert!(!found.holds(), "{found}");
}

/// Windows of several sizes in branches, each with a padding that follows from its own window.
#[test]
fn branches_have_the_attributes_that_their_operands_say() {
    let rules = include_str!("../../../rules/parallel.gsl");
    let from = rules.find("rule parallel-conv2d-grown").expect("a rule of the library");
    let rule = &rules[from..from + rules[from..].find("\n}\n").expect("its end") + 3];
    let found = verdict(rule, Natives::default());
    assert!(found.holds(), "{found}");
    let filled = rule.replace("pad_value = 0.0", "pad_value = 0.5");
    let shifted = rule
        .replace("high - src[w, i].shape[2]) floordiv 2", "high - src[w, i].shape[2]) floordiv 3");
    for wrong in [filled, shifted] {
        assert_ne!(wrong, rule);
        let found = verdict(&wrong, Natives::default());
        assert!(!found.holds(), "{found}");
    }
}

/// Windows of padding alone, attention without heads, groups without channels: the definitions of the
/// operations forbid these, so that they are no counterexamples.
#[test]
fn what_a_definition_forbids_is_no_counterexample() {
    let right = [
        "alias exact { let x = *; match max_pool2d(relu(x)) as c; rewrite relu(max_pool2d(x) { ..c }); }",
        "alias { let x = *; let g = *; let b = *; match instance_norm(x, g, b) as n; where x.ndim == 4;
           rewrite group_norm(x, g, b) { num_groups = x.shape[1], epsilon = n.epsilon }; }",
        "alias range { let q = *; let k = *; let v = *; let sc = const { ndim = 0 };
           let s = matmul(q, transpose(k) { axes = [0, 1, 3, 2] }); let m = commutative s * sc;
           match matmul(softmax(m) { axis = -1 }, v);
           where q.ndim == 4, k.ndim == 4, v.ndim == 4, q.shape[0] == k.shape[0],
             q.shape[1] == k.shape[1], k.shape[0:3] == v.shape[0:3];
           rewrite attention(q, k, v) { scale = sc.value }; }",
        "alias exact { let x = *; let r = resize(x) { mode = \"nearest\", scales = [1.0, 1.0, 2.0, 2.0] };
           match relu(r); rewrite resize(relu(x)) { ..r }; }",
    ];
    for body in right {
        let found = verdict(&format!("rule r {body}"), Natives::default());
        assert!(found.holds(), "{body}: {found}");
    }
}

/// What holds for finite numbers is not wrong, and does not hold as it stands.
#[test]
fn a_rule_may_be_right_up_to_infinities() {
    let body = "{ let x = *; let c = const { ndim = 0 }; match softmax(x + c) as s; rewrite softmax(x) { ..s }; }";
    let found = verdict(&format!("rule r alias {body}"), Natives::default());
    assert!(!found.is_wrong() && !found.holds(), "{found}");
    assert!(found.to_string().starts_with("right up to infinities"), "{found}");
    let found = verdict(&format!("rule r alias range {body}"), Natives::default());
    assert!(found.holds(), "{found}");
    // An overflow of finite numbers is another matter.
    let body = "rule r exact { let x = *; match (x * 1e30) * 1e-30; where x.dtype == \"float32\"; rewrite x; }";
    assert!(verdict(body, Natives::default()).is_wrong());
}
