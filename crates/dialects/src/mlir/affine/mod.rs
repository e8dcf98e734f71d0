//! MLIR's `affine` dialect: loops, conditions and accesses whose bounds and indices are affine in
//! the counters around them and in symbols.
//!
//! Maps and sets are attributes; the operands of an operation are first the dimensions and then
//! the symbols of its map.

mod canonicalize;
mod compose;
mod extremes;
mod indices;
mod rejoin;
mod verify;

use tangram_ir::{AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

use super::fold::Rewrite;
use super::{INDICES, RESULT, infer, required, result, results, value, values};

pub(super) use indices::is_disjoint;

/// The canonicalisation patterns.
pub(super) const REWRITES: [&[Rewrite]; 3] =
    [extremes::REWRITES, canonicalize::REWRITES, indices::REWRITES];

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: MAP_OPERANDS,
        results: RESULT,
        attrs: MAP,
        traits: Traits::PURE,
        infer: Some(infer::index),
        fold: Some(canonicalize::fold_apply),
        verify: Some(verify::check_apply),
        assembly: Some("map($map, $mapOperands) attr-dict"),
        ..OpDef::new("affine.apply", "the value of a map with one result")
    },
    OpDef {
        operands: OPERANDS,
        results: RESULT,
        attrs: MAP,
        traits: Traits::PURE,
        infer: Some(infer::index),
        fold: Some(canonicalize::fold_min),
        verify: Some(verify::check_extreme),
        assembly: Some("map($map, $operands) attr-dict"),
        ..OpDef::new("affine.min", "the least of the results of a map")
    },
    OpDef {
        operands: OPERANDS,
        results: RESULT,
        attrs: MAP,
        traits: Traits::PURE,
        infer: Some(infer::index),
        fold: Some(canonicalize::fold_max),
        verify: Some(verify::check_extreme),
        assembly: Some("map($map, $operands) attr-dict"),
        ..OpDef::new("affine.max", "the greatest of the results of a map")
    },
    OpDef {
        operands: &[
            values("lowerBoundOperands", "the operands of the map of lower bounds"),
            values("upperBoundOperands", "the operands of the map of upper bounds"),
            values("inits", "what the first iteration is given"),
        ],
        results: RESULTS,
        attrs: &[
            required("lowerBoundMap", AttrKind::Any, "the counter starts at the greatest result"),
            required("upperBoundMap", AttrKind::Any, "the counter stays below the least result"),
            required("step", AttrKind::Int, "what is added to the counter, above 0"),
        ],
        regions: Some(1),
        traits: REGION,
        verify: Some(verify::check_for),
        assembly: Some("affine-loop region(0, hidden-args, affine.yield) attr-dict"),
        ..OpDef::new("affine.for", "a counted loop with affine bounds that carries values")
    },
    OpDef {
        operands: &[values("mapOperands", "the operands of the maps of bounds")],
        results: RESULTS,
        attrs: &[
            required("reductions", AttrKind::Any, "how each result is combined"),
            required("lowerBoundsMap", AttrKind::Any, "all lower bounds, in groups"),
            required("lowerBoundsGroups", AttrKind::Any, "how many of them each counter has"),
            required("upperBoundsMap", AttrKind::Any, "all upper bounds, in groups"),
            required("upperBoundsGroups", AttrKind::Any, "how many of them each counter has"),
            required("steps", AttrKind::Ints, "what is added to each counter"),
        ],
        regions: Some(1),
        traits: REGION,
        verify: Some(verify::check_parallel),
        assembly: Some("affine-nest region(0, hidden-args, affine.yield) attr-dict"),
        ..OpDef::new("affine.parallel", "a nest of affine loops whose iterations run in any order")
    },
    OpDef {
        operands: &[values("operands", "the operands of the set")],
        results: RESULTS,
        attrs: &[required("condition", AttrKind::Any, "the set")],
        regions: Some(2),
        traits: REGION,
        verify: Some(verify::check_if),
        assembly: Some(
            "map($condition, $operands) one-result region(0, affine.yield) ( `else` region(1, affine.yield) )? attr-dict",
        ),
        ..OpDef::new("affine.if", "runs its first region if a point lies in a set, else its second")
    },
    OpDef {
        operands: &[value("memref", "the buffer"), MAPPED],
        results: RESULT,
        attrs: MAP,
        infer: Some(infer::element_of_first),
        verify: Some(verify::check_load),
        assembly: Some("$memref access($map, $indices) attr-dict `:` type($memref)"),
        ..OpDef::new("affine.load", "the element of a buffer at a mapped index")
    },
    OpDef {
        operands: &[value("value", "the element"), value("memref", "the buffer"), MAPPED],
        attrs: MAP,
        verify: Some(verify::check_store),
        assembly: Some(
            "$value `,` $memref access($map, $indices) attr-dict `:` type($memref); $value: element($memref)",
        ),
        ..OpDef::new("affine.store", "writes an element of a buffer at a mapped index")
    },
    OpDef {
        operands: &[value("memref", "the buffer"), MAPPED],
        results: RESULT,
        attrs: MAP,
        verify: Some(verify::check_load),
        assembly: Some(
            "$memref access($map, $indices) attr-dict `:` type($memref) `,` type($result)",
        ),
        ..OpDef::new("affine.vector_load", "a vector of elements from a mapped index on")
    },
    OpDef {
        operands: &[value("value", "the vector"), value("memref", "the buffer"), MAPPED],
        attrs: MAP,
        verify: Some(verify::check_vector_store),
        assembly: Some(
            "$value `,` $memref access($map, $indices) attr-dict `:` type($memref) `,` type($value)",
        ),
        ..OpDef::new("affine.vector_store", "writes a vector from a mapped index on")
    },
    OpDef {
        operands: &[value("memref", "the buffer"), INDICES],
        attrs: &[
            required("isWrite", AttrKind::Bool, "whether a write follows"),
            required("localityHint", AttrKind::Int, "0 for used once, up to 3 for used often"),
            required("isDataCache", AttrKind::Bool, "whether it holds data, not instructions"),
            MAP[0],
        ],
        verify: Some(verify::check_load),
        assembly: Some(
            "$memref access($map, $indices) `,` choice($isWrite, read, write) `,` `locality` `<` int($localityHint, i32) `>` `,` choice($isDataCache, instr, data) attr-dict `:` type($memref)",
        ),
        ..OpDef::new("affine.prefetch", "announces an access to a buffer")
    },
    OpDef {
        operands: &[
            value("linear_index", "the index to split"),
            values("dynamic_basis", "factors that are not constant"),
        ],
        results: &[results("multi_index", "one index for each factor")],
        attrs: BASIS,
        traits: Traits::PURE,
        assembly: Some(
            "$linear_index `into` mixed($dynamic_basis, static_basis, round) attr-dict `:` type($multi_index); $linear_index: index",
        ),
        ..OpDef::new("affine.delinearize_index", "splits an index by a list of factors")
    },
    OpDef {
        operands: &[
            values("multi_index", "one index for each factor"),
            values("dynamic_basis", "factors that are not constant"),
        ],
        results: &[result("linear_index", "the index")],
        attrs: &[
            BASIS[0],
            super::optional("disjoint", AttrKind::Any, "present where no index reaches its factor")
                .absent(tangram_ir::Absence::Means("false")),
        ],
        traits: Traits::PURE,
        infer: Some(infer::index),
        assembly: Some(
            "keyword($disjoint, disjoint) space `[` $multi_index `]` `by` mixed($dynamic_basis, static_basis, round) attr-dict `:` type($linear_index); $multi_index: index",
        ),
        ..OpDef::new("affine.linearize_index", "joins indices by a list of factors")
    },
    OpDef {
        operands: &[values("operands", "the results")],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        verify: Some(verify::check_yield),
        assembly: Some("attr-dict ( $operands `:` type($operands) )?"),
        ..OpDef::new("affine.yield", "ends a region with its results")
    },
    OpDef {
        operands: &[values("operands", "source, target and tag with their indices, and sizes")],
        // Its maps are no attributes of its own in MLIR.
        assembly: Some("affine-dma($src_map, $dst_map, $tag_map) attr-dict"),
        ..OpDef::new("affine.dma_start", "starts to copy between memory spaces")
    },
    OpDef {
        operands: &[values("operands", "the tag with its indices, and the size")],
        assembly: Some("affine-dma($tag_map) attr-dict"),
        ..OpDef::new("affine.dma_wait", "waits for a copy between memory spaces")
    },
];

const REGION: Traits = Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS);
const MAP_OPERANDS: &[OperandDef] = &[values("mapOperands", "dimensions, then symbols")];
const OPERANDS: &[OperandDef] = &[values("operands", "dimensions, then symbols")];
const MAPPED: OperandDef = values("indices", "the operands of the map");
const MAP: &[AttrDef] = &[required("map", AttrKind::Any, "the affine map")];
const RESULTS: &[ResultDef] = &[results("results", "what the last region run ends with")];
const BASIS: &[AttrDef] =
    &[required("static_basis", AttrKind::Ints, "the factors; the least `i64` if dynamic")];
