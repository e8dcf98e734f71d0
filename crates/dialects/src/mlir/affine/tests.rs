//! The normal form of expressions, against plain evaluation.

use super::expr::{Atom, Expr};
use super::map::Map;

/// Plain evaluation of nested operations, beside the normal form.
#[derive(Clone, Copy)]
enum Step {
    Add(i64),
    Times(i64),
    Floor(i64),
    Ceil(i64),
    Mod(i64),
    AddDim,
}

#[test]
fn normal_forms_keep_the_value() {
    let steps = [
        Step::Add(3),
        Step::Times(-2),
        Step::Floor(4),
        Step::Ceil(3),
        Step::Mod(6),
        Step::AddDim,
        Step::Times(6),
        Step::Add(-5),
    ];
    let other = Expr::atom(Atom::Dim(1));
    for program in 0..steps.len().pow(4) {
        let chosen = |n: u32| steps[program / steps.len().pow(n) % steps.len()];
        let mut e = Expr::atom(Atom::Dim(0));
        for n in 0..4 {
            e = match chosen(n) {
                Step::Add(c) => e.plus(&Expr::number(c), 1),
                Step::Times(c) => e.times(c),
                Step::Floor(c) => e.floor_div(c),
                Step::Ceil(c) => e.ceil_div(c),
                Step::Mod(c) => e.modulo(c),
                Step::AddDim => e.plus(&other, 1),
            }
            .expect("small numbers");
        }
        for (x, y) in [(0, 0), (1, -1), (-7, 5), (13, 2), (-24, -9), (35, 11)] {
            let mut value: i64 = x;
            for n in 0..4 {
                value = match chosen(n) {
                    Step::Add(c) => value + c,
                    Step::Times(c) => value * c,
                    Step::Floor(c) => value.div_euclid(c),
                    Step::Ceil(c) => -(-value).div_euclid(c),
                    Step::Mod(c) => value.rem_euclid(c),
                    Step::AddDim => value + y,
                };
            }
            assert_eq!(e.evaluate(&[x, y], &[]), Some(value), "{e} at {x}, {y}");
        }
    }
}

#[test]
fn what_divides_leaves_a_quotient() {
    let (x, y) = (Expr::atom(Atom::Dim(0)), Expr::atom(Atom::Symbol(0)));
    let sum = x.times(4).and_then(|e| e.plus(&y, 2)).and_then(|e| e.plus(&Expr::number(5), 1));
    let quotient = sum.and_then(|e| e.floor_div(4)).expect("small numbers");
    assert_eq!(quotient.to_string(), "d0 + s0 floordiv 2 + 1");
}

#[test]
fn maps_are_read_as_they_are_written() {
    let context = tangram_ir::Context::new();
    let attr = |text: &str| context.attr(tangram_ir::AttrData::Opaque(context.str(text)));
    for text in [
        "affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 - s0 - 7, (d0 + d1) floordiv 3, 4)>",
        "affine_map<() -> ()>",
        "affine_map<(d0) -> (-d0 - (d0 mod 4) * 3)>",
        "affine_set<(d0)[s0] : (-d0 + s0 - 1 >= 0, (d0 mod 2) * 3 - 1 == 0)>",
    ] {
        let map = Map::read(&context, attr(text)).expect("an affine map");
        let again = Map::read(&context, map.write(&context));
        assert_eq!(again.as_ref(), Some(&map), "{text}");
    }
    let semi = attr("affine_map<(d0)[s0] -> (d0 * s0)>");
    assert_eq!(Map::read(&context, semi), None);
}
