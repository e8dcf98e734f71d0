//! Kinds of operations: those of one kind take their time for the same reasons.
//!
//! The kind of an operation is read off its structured definition. What has none counts as a copy,
//! or as a function of each element where its traits say so.

use serde::{Deserialize, Serialize};
use tangram_affine::{AffineMap, Node};
use tangram_dialects::structured::{Binary, Body, Generic, Scalar, ScalarId, Structured, TensorId};
use tangram_ir::{Module, Op, Traits};

/// What decides how long an operation takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Convolutions; their parts are batches times groups.
    Convolution,
    /// Products of matrices; their parts are batches.
    Product,
    /// Functions of each element by themselves that take an instruction or two.
    ElementWise,
    /// Functions of each element by themselves that take many instructions.
    Transcendental,
    /// Sums and norms over axes.
    Reduction,
    /// Pooling.
    Window,
    /// A value in parts.
    Split,
    /// Parts in one value.
    Concatenate,
    /// Axes in another order.
    Transpose,
    /// Other ways of copying.
    Copy,
    /// Says only how memory is read.
    View,
}

impl Kind {
    /// The kind of an operation without a definition.
    pub(super) fn without_definition(module: &Module, op: Op) -> Kind {
        match module.has_traits(op, Traits::ELEMENTWISE) {
            true => Kind::ElementWise,
            false => Kind::Copy,
        }
    }

    /// The kind of the operation with this definition; `functions` says whether it computes such
    /// that take many instructions.
    pub(super) fn of(definition: &Structured, functions: bool) -> Kind {
        let Structured::Loops { stages, .. } = definition else { return Kind::View };
        if let Some(contraction) = stages.iter().find(|nest| is_contraction(nest)) {
            let slides = contraction.inputs.iter().any(|input| slides(contraction, &input.map));
            return if slides { Kind::Convolution } else { Kind::Product };
        }
        let reductions = || stages.iter().filter(|nest| nest.reduction.is_some());
        if let Some(reduction) = reductions().next() {
            let slides = reduction.inputs.iter().any(|input| slides(reduction, &input.map));
            return if slides { Kind::Window } else { Kind::Reduction };
        }
        match stages.iter().all(is_copy) {
            true => copy(stages),
            false if functions => Kind::Transcendental,
            false => Kind::ElementWise,
        }
    }
}

/// Whether a nest sums products of two of its inputs.
pub(super) fn is_contraction(nest: &Generic) -> bool {
    let sums = nest.reduction.is_some_and(|reduction| reduction.combine == Binary::Add);
    sums && nest.body.value().is_some_and(|value| multiplies(nest, value))
}

/// Whether a scalar is a product of two inputs that name different elements.
fn multiplies(nest: &Generic, value: ScalarId) -> bool {
    match scalar(&nest.body, value) {
        Some(Scalar::Binary(Binary::Mul, a, b)) => match (input(nest, *a), input(nest, *b)) {
            (Some(a), Some(b)) => nest.inputs[a] != nest.inputs[b],
            _ => false,
        },
        Some(Scalar::Cast(_, inner)) => multiplies_once(nest, *inner),
        _ => false,
    }
}

/// As [`multiplies`], behind one conversion.
fn multiplies_once(nest: &Generic, value: ScalarId) -> bool {
    matches!(scalar(&nest.body, value), Some(Scalar::Binary(..))) && multiplies(nest, value)
}

/// The input that a scalar is, converted or moved by a constant: a zero point, a condition.
fn input(nest: &Generic, mut value: ScalarId) -> Option<usize> {
    loop {
        value = match scalar(&nest.body, value)? {
            Scalar::Input(input) => return Some(*input),
            Scalar::Cast(_, inner) => *inner,
            Scalar::Binary(Binary::Sub, inner, _) | Scalar::Select(_, inner, _) => *inner,
            _ => return None,
        }
    }
}

fn scalar(body: &Body, id: ScalarId) -> Option<&Scalar> {
    body.scalars().get(id.0 as usize)
}

/// Whether an index of a map is made of several loops, of which one is reduced.
fn slides(nest: &Generic, map: &AffineMap) -> bool {
    let reduced: Vec<usize> = nest.reduced().collect();
    let mut reads: Vec<(bool, bool)> = Vec::with_capacity(map.nodes().len());
    for node in map.nodes() {
        reads.push(match *node {
            Node::Dim(i) if reduced.contains(&(i as usize)) => (true, false),
            Node::Dim(_) => (false, true),
            Node::Symbol(_) | Node::Constant(_) => (false, false),
            Node::Binary(_, a, b) => {
                let (a, b) = (reads[a.index()], reads[b.index()]);
                (a.0 || b.0, a.1 || b.1)
            }
        });
    }
    map.results().iter().any(|result| reads[result.index()] == (true, true))
}

/// Whether a nest writes what it reads, as it is.
fn is_copy(nest: &Generic) -> bool {
    let value = nest.body.value().and_then(|value| scalar(&nest.body, value));
    matches!(value, Some(Scalar::Input(_) | Scalar::Lookup(..) | Scalar::Constant(_)))
}

fn copy(stages: &[Generic]) -> Kind {
    let results: Vec<TensorId> = stages.iter().map(|nest| nest.output.place).collect();
    if results.iter().any(|place| *place != results[0]) {
        return Kind::Split;
    }
    if stages.len() > 1 {
        return Kind::Concatenate;
    }
    let moved = stages.first().and_then(|nest| Some((nest.inputs.first()?, &nest.output)));
    match moved {
        Some((from, to)) if is_order(&from.map) && is_order(&to.map) => Kind::Transpose,
        _ => Kind::Copy,
    }
}

/// Whether a map gives each loop once.
fn is_order(map: &AffineMap) -> bool {
    let mut seen = vec![false; map.dims()];
    let mut each = map.results().iter().map(|result| match map.node(*result) {
        Node::Dim(i) => seen.get_mut(i as usize).is_some_and(|seen| !std::mem::replace(seen, true)),
        _ => false,
    });
    map.results().len() == map.dims() && each.all(|own| own)
}

/// Operations that are no work.
pub(super) fn is_silent(name: &str) -> bool {
    let silent = matches!(name, "nn.constant" | "nn.none" | "nn.yield");
    silent || name.starts_with("func.") || name.starts_with("builtin.")
}
