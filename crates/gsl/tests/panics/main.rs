//! No rule makes verification fail: rules by grammar, with every operation and attribute.
//!
//! A rule calls one operation on values of any ranks with attributes of any value that their kind
//! allows, or with a few of these fixed, and rewrites it to itself, to a part of its operands or to
//! another operation. What matters is not the verdict but that there is one.

mod grammar;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fastrand::Rng;
use tangram_dialects::nn;
use tangram_gsl::rules::Natives;
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Doubt, Effort, Verdict, verify};

use grammar::rule;

/// Rules whose verification fails, of `each` rules for every `step`th operation.
fn failing(first: usize, step: usize, each: u64) -> String {
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::standard()));
    let effort = Effort { instances: 12, attempts: 60, covering: 0, ..Effort::default() };
    let (mut out, mut judged) = (String::new(), 0);
    for op in nn::ops().skip(first).step_by(step) {
        for seed in 0..each {
            let mut random = Rng::with_seed(seed);
            let text = rule(&op.def, &mut |end| random.usize(..end));
            let verdict = catch_unwind(AssertUnwindSafe(|| {
                let rule = parse(&text).ok()?.pop()?;
                verify(&rule, &context, &natives, &effort).ok()
            }));
            judged += usize::from(matches!(verdict, Ok(Some(_))));
            match verdict {
                Ok(Some(Verdict::Unknown { doubt: Doubt::Defect, why })) => {
                    out += &format!("{text}\n    {why}\n");
                }
                Err(_) => out += &format!("{text}\n    before it was verified\n"),
                Ok(_) => {}
            }
        }
    }
    assert!(judged > 0);
    println!("{judged} rules have a verdict");
    out
}

#[test]
fn no_sample_of_rules_makes_verification_fail() {
    let found = failing(3, 6, 3);
    assert!(found.is_empty(), "{found}");
}

#[test]
#[ignore = "every operation many times, some minutes"]
fn no_rule_makes_verification_fail() {
    let found = failing(0, 1, 40);
    assert!(found.is_empty(), "{found}");
}

/// An attribute that is an extent asks for more than there is.
#[test]
fn a_constant_as_large_as_an_attribute_says_is_no_defect() {
    let text = "rule r alias { let x = *; let w = const; let z = const { ndim = 2 };
        match conv_integer(x, w, z) { groups = 9223372036854775807 } as e; where x.ndim == 5;
        rewrite conv_integer(x, w, z) { ..e }; }";
    let rule = parse(text).expect("a rule").remove(0);
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::standard()));
    let found = verify(&rule, &context, &natives, &Effort::default()).expect("a verdict");
    assert!(!matches!(found, Verdict::Unknown { doubt: Doubt::Defect, .. }), "{found}");
}

/// A rank of 0 has no axis 1.
#[test]
fn an_axis_that_is_not_there_is_no_defect() {
    let text = "rule r { let x = *; let g = *; match rms_norm(x, g) { axis = 1 } as r;
        where x.ndim <= 3; rewrite rms_norm(x, g) { axis = -1, ..r }; }";
    let rule = parse(text).expect("a rule").remove(0);
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::standard()));
    let found = verify(&rule, &context, &natives, &Effort::default()).expect("a verdict");
    assert!(found.is_wrong(), "{found}");
}
