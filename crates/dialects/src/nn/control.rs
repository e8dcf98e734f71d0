//! Control flow: operations whose regions see the values around them.
//!
//! A region ends with `nn.yield`. The types of the results are those that the regions yield;
//! whoever makes the operation states them.

use tangram_ir::{AttrDef, AttrKind, FlowFn, OpDef, OperandDef, ResultDef, Traits};

use super::region_types::{if_flow, loop_flow, scan_flow};
use super::{NnOp, maybe, needed, operand, optional, variadic, variadic_result};

/// An operation with `regions` regions.
const fn with_regions(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    results: &'static [ResultDef],
    attrs: &'static [AttrDef],
    (regions, flow): (u32, Option<FlowFn>),
) -> NnOp {
    let def = OpDef {
        operands,
        results,
        attrs,
        regions: Some(regions),
        flow,
        traits: Traits::RECURSIVE_EFFECTS.union(Traits::SINGLE_BLOCK),
        ..OpDef::new(name, summary)
    };
    NnOp::new(def)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    with_regions(
        "nn.if",
        "what the first region yields where `cond` is true, else what the second one yields",
        &[operand("cond", "one boolean")],
        &[variadic_result("outputs", "what a region yields")],
        &[],
        (2, Some(if_flow)),
    ),
    with_regions(
        "nn.loop",
        "its region again and again; block arguments: step, condition, carried values; yields: \
         condition, carried values, one element of each collected result",
        &[
            optional("trip_count", "a scalar: the most steps; unbounded if absent"),
            optional("cond", "one boolean: whether to run the first step; true if absent"),
            variadic("initial", "the carried values"),
        ],
        &[variadic_result("outputs", "carried values, then collected results stacked along 0")],
        &[],
        (1, Some(loop_flow)),
    ),
    with_regions(
        "nn.scan",
        "its region for each slice; block arguments: states, slices; yields: states, slices",
        &[variadic("inputs", "initial states, then the tensors to go through")],
        &[variadic_result("outputs", "final states, then the collected slices")],
        &[
            needed("num_scan_inputs", AttrKind::Int, "how many operands are gone through"),
            maybe("scan_input_axes", AttrKind::Ints, "along which dimensions; 0 if absent"),
            maybe("scan_input_directions", AttrKind::Ints, "1: backwards; 0 if absent"),
            maybe("scan_output_axes", AttrKind::Ints, "where slices are stacked; 0 if absent"),
            maybe("scan_output_directions", AttrKind::Ints, "1: prepend; 0 if absent"),
        ],
        (1, Some(scan_flow)),
    ),
    with_regions(
        "nn.sequence_map",
        "its region for each element of a sequence; block arguments: elements, other inputs",
        &[
            operand("sequence", "the sequence to go through"),
            variadic("inputs", "sequences of the same length, or tensors"),
        ],
        &[variadic_result("outputs", "a sequence for each value that the region yields")],
        &[],
        (1, None),
    ),
    NnOp::new(OpDef {
        operands: &[variadic("values", "the results")],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        ..OpDef::new("nn.yield", "ends a region with its results")
    }),
];
