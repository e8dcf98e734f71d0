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
