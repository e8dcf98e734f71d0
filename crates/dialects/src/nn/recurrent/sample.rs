//! What is tried for recurrent layers: weights of as many gates as there are.

use fastrand::Rng;
use tangram_ir::AttrDef;

use crate::nn::sample::{Call, Extents, Role, Tried, Value, Wanted, any_of, free};

/// The fifth operand says how long each sequence of the batch is.
pub(super) const ROLES: &[Role] = &[Role::Data, Role::Data, Role::Data, Role::Data, Role::Lengths];

/// Functions of cells.
pub(in crate::nn) const ACTIVATIONS: [&str; 5] =
    ["Tanh", "Sigmoid", "Relu", "LeakyRelu", "HardSigmoid"];

/// Steps, batch and features; then weights of the gates: directions, rows, columns.
pub(super) fn extents<const GATES: usize>(wanted: &Wanted<'_>, rng: &mut Rng) -> Option<Extents> {
    let of = |i: usize| wanted.of(i).filter(|shape| shape.len() == 3);
    let weights = || of(1).map_or((1, GATES), |w| (w[0], w[1]));
    Some(match wanted.index {
        0 => free(rng, wanted.cap.min(3), Some(3)),
        1 => {
            let columns = of(0).map_or(1, |x| x[2]);
            let directions = if rng.u8(0..4) == 0 { 2 } else { 1 };
            vec![directions, GATES * rng.usize(1..=3), columns]
        }
        2 => {
            let (directions, rows) = weights();
            vec![directions, rows, rows / GATES]
        }
        3 => {
            let (directions, rows) = weights();
            vec![directions, 2 * rows]
        }
        4 => vec![of(0).map_or(1, |x| x[1])],
        _ => {
            let (directions, hidden) = of(2).map_or((1, 1), |r| (r[0], r[2]));
            vec![directions, of(0).map_or(1, |x| x[1]), hidden]
        }
    })
}

/// Attributes of a layer with so many functions in each direction.
pub(in crate::nn) fn tried<const FUNCTIONS: usize>(
    call: &Call<'_>,
    attr: &AttrDef,
    rng: &mut Rng,
) -> Tried {
    // In as many directions as its weights have.
    let directions = call.shapes.get(1).and_then(|w| w.first().copied()).unwrap_or(1);
    match attr.name {
        "direction" if directions == 2 => Value::from("bidirectional").into(),
        "direction" => any_of(&["forward", "reverse"], rng),
        "activations" => {
            let one = |_| rng.choice(&ACTIVATIONS).map(|name| Value::from(*name));
            Value::List((0..FUNCTIONS * directions).filter_map(one).collect()).into()
        }
        "layout" => Value::Int(rng.i64(0..=1)).into(),
        _ => Tried::Usual,
    }
}
