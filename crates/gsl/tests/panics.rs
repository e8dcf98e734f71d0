//! No rule makes verification fail: rules by grammar, with every operation and attribute.
//!
//! A rule calls one operation on values of any ranks with attributes of any value that their kind
//! allows, or with a few of these fixed, and rewrites it to itself, to a part of its operands or to
//! another operation. What matters is not the verdict but that there is one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fastrand::Rng;
use tangram_dialects::nn;
use tangram_gsl::rules::Natives;
use tangram_gsl::text::parse;
use tangram_gsl::verify::{Doubt, Effort, Verdict, verify};
use tangram_ir::{Arity, AttrDef, AttrKind, OpDef};

/// A value of a kind, as it is written.
fn value(kind: AttrKind, rng: &mut Rng) -> Option<String> {
    const INTEGERS: [i64; 10] = [0, 1, 2, 3, -1, -2, 7, 64, i64::MAX, i64::MIN + 1];
    let mut integer = || rng.choice(&INTEGERS).copied().unwrap_or(0).to_string();
    Some(match kind {
        AttrKind::Int | AttrKind::Any => integer(),
        AttrKind::Ints => {
            let list: Vec<String> = (0..4).map(|_| integer()).collect();
            format!("[{}]", list[..rng.usize(0..=4)].join(", "))
        }
        AttrKind::Float => (*rng.choice(&["0.0", "-1.5", "1e-5", "3.0e38", "inf", "nan"])?).into(),
        AttrKind::Floats => (*rng.choice(&["[]", "[0.5]", "[inf, -2.0, 0.0]"])?).into(),
        AttrKind::Bool => rng.bool().to_string(),
        AttrKind::Enum(names) | AttrKind::IntsOr(names) => format!("\"{}\"", rng.choice(names)?),
        AttrKind::Str => (*rng.choice(&["\"\"", "\"ij,jk->ik\"", "\"->\"", "\"...,i\""])?).into(),
        AttrKind::DType => format!("\"{}\"", rng.choice(&["int8", "float16", "uint64", "bool"])?),
        _ => return None,
    })
}

fn attributes(def: &OpDef, rng: &mut Rng) -> String {
    let mut given = |attr: &AttrDef| {
        let chosen = rng.u8(0..3) == 0;
        let value = value(attr.kind, rng).filter(|_| chosen)?;
        Some(format!("{} = {value}", attr.name))
    };
    def.attrs.iter().filter_map(&mut given).collect::<Vec<_>>().join(", ")
}

fn rule(def: &OpDef, rng: &mut Rng) -> String {
    let operands = def.operands.iter().filter(|o| o.arity != Arity::Optional || rng.bool());
    let count: usize = operands.map(|o| if o.arity == Arity::Variadic { 2 } else { 1 }).sum();
    let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
    let leaf = |rng: &mut Rng| match rng.u8(0..6) {
        0 => format!("const {{ ndim = {} }}", rng.u8(0..4)),
        1 => "const".to_owned(),
        2 => "variable".to_owned(),
        _ => "*".to_owned(),
    };
    let lets: String = names.iter().map(|name| format!("let {name} = {}; ", leaf(rng))).collect();
    let conditions: Vec<String> = names
        .iter()
        .filter_map(|name| match rng.u8(0..6) {
            0 => Some(format!("{name}.ndim == {}", rng.u8(0..6))),
            1 => Some(format!("{name}.ndim <= {}", rng.u8(0..4))),
            2 => Some(format!("{name}.shape == []")),
            3 => Some(format!("{name}.dtype == \"{}\"", rng.choice(&["uint64", "bool", "int8"])?)),
            _ => None,
        })
        .collect();
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!("where {};", conditions.join(", ")),
    };
    let (op, args) = (def.name, names.join(", "));
    let result = if def.results.len() == 1 { "" } else { "[0]" };
    let attrs = attributes(def, rng);
    let target = match rng.u8(0..3) {
        0 => names.first().cloned().unwrap_or_else(|| "const(1.0)".to_owned()),
        1 => format!("{op}({args}) {{ ..e }}{result}"),
        _ => format!("identity({op}({args}) {{ {}{}..e }}{result})", attributes(def, rng), ", "),
    };
    let target = target.replace("{ , ..e", "{ ..e");
    format!(
        "rule r alias {{ {lets} let e = {op}({args}) {{ {attrs} }}; match e{result}; {conditions} \
         rewrite {target}; }}"
    )
}

/// Rules whose verification fails, of `each` rules for every `step`th operation.
fn failing(first: usize, step: usize, each: u64) -> String {
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::standard()));
    let effort = Effort { instances: 12, attempts: 60, covering: 0, ..Effort::default() };
    let (mut out, mut judged) = (String::new(), 0);
    for op in nn::ops().skip(first).step_by(step) {
        for seed in 0..each {
            let text = rule(&op.def, &mut Rng::with_seed(seed));
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
