//! MLIR's `vector` dialect: vectors of fixed or scalable extents, made, taken apart, reduced, and
//! moved from and to memory.

mod canonicalize;
mod constants;
mod elements;
mod extracts;
mod infer;
mod masked;
mod masks;
mod reductions;
mod shape;
mod slices;
mod transfers;
mod verify;

use tangram_ir::{
    Absence, Attr, AttrData, AttrDef, AttrKind, Module, Op, OpDef, OperandDef, ResultDef, Traits,
    Value,
};

use super::fold::Rewrite;
use super::{FASTMATH, INDICES, RESULT, maybe, optional, required, result, results, value, values};

/// The canonicalisation patterns.
pub(super) const REWRITES: [&[Rewrite]; 9] = [
    canonicalize::REWRITES,
    constants::REWRITES,
    elements::REWRITES,
    masks::REWRITES,
    extracts::REWRITES,
    slices::REWRITES,
    reductions::REWRITES,
    transfers::REWRITES,
    masked::REWRITES,
];

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: CONTRACTED,
        results: RESULT,
        attrs: &[
            required("indexing_maps", AttrKind::Any, "from the point to a place, for each operand"),
            required("iterator_types", AttrKind::Any, "parallel or reduction, for each dimension"),
            KIND,
        ],
        traits: Traits::PURE,
        assembly: Some("generic-attributes(vector, indexing_maps, iterator_types, kind) $lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `into` type($acc); $result: $acc"),
        ..OpDef::new("vector.contract", "the sum over products that maps describe, and an operand")
    },
    OpDef {
        operands: &[value("vector", "what is reduced"), maybe("acc", "combined with the elements")],
        results: DEST,
        attrs: &[NEEDED_KIND, FASTMATH[0]],
        traits: Traits::PURE,
        assembly: Some("angled($kind, vector.kind) `,` $vector ( `,` $acc )? flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($vector) `into` type($dest); $acc: $dest"),
        ..OpDef::new("vector.reduction", "all elements combined into one")
    },
    OpDef {
        operands: &[value("source", "what is reduced"), value("acc", "combined with the elements")],
        results: DEST,
        attrs: &[NEEDED_KIND, required("reduction_dims", AttrKind::Ints, "the dimensions that go")],
        traits: Traits::PURE,
        assembly: Some("angled($kind, vector.kind) `,` $source `,` $acc attr-dict ints($reduction_dims) `:` type($source) `to` type($dest); $acc: $dest"),
        ..OpDef::new("vector.multi_reduction", "the elements combined along dimensions")
    },
    OpDef {
        operands: &[value("source", "what is scanned"), value("initial_value", "where it begins")],
        results: &[result("dest", "the partial results"), result("accumulated_value", "the last ones")],
        attrs: &[
            NEEDED_KIND,
            required("reduction_dim", AttrKind::Int, "the dimension that is scanned"),
            required("inclusive", AttrKind::Bool, "whether an element counts in its own place"),
        ],
        traits: Traits::PURE,
        result_names: &["dest", "accumulated_value"],
        assembly: Some("angled($kind, vector.kind) `,` $source `,` $initial_value attr-dict `:` type($source) `,` type($initial_value); $dest: $source, $accumulated_value: $initial_value"),
        ..OpDef::new("vector.scan", "the elements combined up to each place along a dimension")
    },
    OpDef {
        operands: &[
            value("lhs", "the vector whose elements give rows"),
            value("rhs", "a vector, or a scalar"),
            maybe("acc", "combined with the product"),
        ],
        results: RESULT,
        attrs: &[KIND],
        traits: Traits::PURE,
        assembly: Some("$lhs `,` $rhs ( `,` $acc )? attr-dict `:` type($lhs) `,` type($rhs) outer-types"),
        ..OpDef::new("vector.outerproduct", "the products of all pairs")
    },
    OpDef {
        operands: &[value("lhs", "a factor"), value("rhs", "a factor"), value("acc", "what is added")],
        results: RESULT,
        traits: Traits::PURE.union(Traits::SAME_TYPE).union(Traits::ELEMENTWISE),
        infer: Some(super::infer::like_first),
        assembly: Some("$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"),
        ..OpDef::new("vector.fma", "products and sums, rounded once")
    },
    moved("vector.broadcast", "a scalar or vector repeated", SOURCE)
        .text("$source attr-dict `:` type($source) `to` type($result)"),
    moved("vector.shape_cast", "the same elements in another shape", SOURCE)
        .text("$source attr-dict `:` type($source) `to` type($result)"),
    moved("vector.bitcast", "the same bits as elements of another type", SOURCE)
        .text("$source attr-dict `:` type($source) `to` type($result)"),
    pure("vector.type_cast", "a buffer of scalars as a buffer of vectors", BUFFER)
        .text("$memref attr-dict `:` type($memref) `to` type($result)"),
    OpDef {
        attrs: &[required("permutation", AttrKind::Ints, "for each result dimension, that of the operand")],
        assembly: Some("$vector `,` ints($permutation) attr-dict `:` type($vector) `to` type($result)"),
        ..moved("vector.transpose", "the dimensions in another order", VECTOR)
    },
    OpDef {
        attrs: &[required("mask", AttrKind::Ints, "places in both vectors, one after the other; -1 for any element")],
        infer: Some(infer::shuffled),
        assembly: Some("$v1 `,` $v2 ints($mask) attr-dict `:` type($v1) `,` type($v2)"),
        ..pure("vector.shuffle", "elements of two vectors, in any order", PAIR)
    },
    pure("vector.interleave", "the elements of two vectors in turns", super::LHS_RHS)
        .text("$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result); $rhs: $lhs"),
    OpDef {
        operands: SOURCE,
        results: &[result("res1", "those at even places"), result("res2", "those at odd places")],
        traits: Traits::PURE,
        result_names: &["res1", "res2"],
        assembly: Some("$source attr-dict `:` type($source) `->` type($res1); $res2: $res1"),
        ..OpDef::new("vector.deinterleave", "the elements at even places, and those at odd ones")
    },
    OpDef {
        operands: &[value("source", "the vector"), POSITION],
        attrs: STATIC_POSITION,
        assembly: Some("$source `` mixed($dynamic_position, static_position) attr-dict `:` type($result) `from` type($source); $dynamic_position: index"),
        ..moved("vector.extract", "an element or a part of a vector", &[])
    },
    OpDef {
        operands: &[value("valueToStore", "what is inserted"), value("dest", "the vector"), POSITION],
        attrs: STATIC_POSITION,
        infer: Some(super::infer::like_second),
        assembly: Some("$valueToStore `,` $dest mixed($dynamic_position, static_position) attr-dict `:` type($valueToStore) `into` type($dest); $dynamic_position: index, $result: $dest"),
        ..pure("vector.insert", "the vector with an element or a part replaced", &[])
    },
    OpDef {
        attrs: &[required("pos", AttrKind::Int, "where the part begins, in units of the scale")],
        assembly: Some("$source `[` int($pos, i64) `]` attr-dict `:` type($result) `from` type($source)"),
        ..pure("vector.scalable.extract", "a part of a scalable vector", SOURCE)
    },
    OpDef {
        attrs: &[required("pos", AttrKind::Int, "where the part begins, in units of the scale")],
        infer: Some(super::infer::like_second),
        assembly: Some("$valueToStore `,` $dest `[` int($pos, i64) `]` attr-dict `:` type($valueToStore) `into` type($dest); $result: $dest"),
        ..pure("vector.scalable.insert", "a scalable vector with a part replaced", INSERTED)
    },
    OpDef {
        attrs: &[
            required("offsets", AttrKind::Any, "where the part begins"),
            required("sizes", AttrKind::Any, "its extents"),
            required("strides", AttrKind::Any, "its steps"),
        ],
        assembly: Some("$source attr-dict `:` type($source) `to` type($result)"),
        verify: Some(verify::check_extracted_slice),
        ..moved("vector.extract_strided_slice", "a part of a vector, of its rank", SOURCE)
    },
    OpDef {
        attrs: &[
            required("offsets", AttrKind::Any, "where the part begins"),
            required("strides", AttrKind::Any, "its steps"),
        ],
        infer: Some(super::infer::like_second),
        assembly: Some("$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest); $result: $dest"),
        verify: Some(verify::check_inserted_slice),
        ..pure("vector.insert_strided_slice", "the vector with a part replaced", INSERTED)
    },
    OpDef {
        operands: SOURCE,
        results: &[results("elements", "the elements, the last index fastest")],
        traits: Traits::PURE,
        infer: Some(infer::elements),
        assembly: Some("$source attr-dict `:` type($source)"),
        ..OpDef::new("vector.to_elements", "all elements of a vector")
    },
    OpDef {
        operands: &[values("elements", "the elements, the last index fastest")],
        results: DEST,
        traits: Traits::PURE,
        assembly: Some("$elements attr-dict `:` type($dest); $elements: element($dest)"),
        ..OpDef::new("vector.from_elements", "the vector with these elements")
    },
    OpDef {
        operands: &[values("operands", "how many are set in each dimension")],
        assembly: Some("$operands attr-dict `:` type($result); $operands: index"),
        ..pure("vector.create_mask", "a mask of a box at the origin", &[])
    },
    OpDef {
        attrs: &[required("mask_dim_sizes", AttrKind::Ints, "how many are set in each dimension")],
        assembly: Some("ints($mask_dim_sizes) attr-dict `:` type($result)"),
        ..pure("vector.constant_mask", "a mask of a box at the origin, of constant extents", &[])
    },
    pure("vector.step", "0, 1, 2 and so on", &[]).text("attr-dict `:` type($result)"),
    OpDef {
        results: &[result("res", "the scale")],
        traits: Traits::PURE,
        infer: Some(super::infer::index),
        result_names: &["vscale"],
        assembly: Some("attr-dict"),
        ..OpDef::new("vector.vscale", "how often the unit of scalable vectors fits")
    },
    OpDef {
        operands: &[
            value("base", "a tensor or buffer"),
            INDICES,
            value("padding", "what stands outside of it"),
            maybe("mask", "which elements are read"),
        ],
        results: &[result("vector", "what is read")],
        attrs: TRANSFERRED,
        traits: ON_BUFFERS,
        assembly: Some("$base `[` $indices `]` `,` $padding ( `,` $mask )? attr-dict `:` type($base) `,` type($vector) transfer-types; $indices: index, $padding: element($base)"),
        ..OpDef::new("vector.transfer_read", "reads a part of a tensor or buffer, past its end too")
    },
    OpDef {
        operands: &[
            value("valueToStore", "what is written"),
            value("base", "a tensor or buffer"),
            INDICES,
            maybe("mask", "which elements are written"),
        ],
        results: &[results("result", "the tensor, if it is one")],
        attrs: TRANSFERRED,
        traits: ON_BUFFERS,
        infer: Some(super::infer::second_if_tensor),
        assembly: Some("$valueToStore `,` $base `[` $indices `]` ( `,` $mask )? attr-dict `:` type($valueToStore) `,` type($base) transfer-types; $indices: index"),
        ..OpDef::new("vector.transfer_write", "writes a part of a tensor or buffer")
    },
    OpDef {
        operands: &[value("base", "the buffer"), INDICES],
        results: RESULT,
        attrs: ACCESS,
        assembly: Some("$base `[` $indices `]` attr-dict `:` type($base) `,` type($result); $indices: index"),
        ..OpDef::new("vector.load", "reads neighbouring elements of a buffer")
    },
    OpDef {
        operands: &[value("valueToStore", "what is written"), value("base", "the buffer"), INDICES],
        attrs: ACCESS,
        assembly: Some("$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore); $indices: index"),
        ..OpDef::new("vector.store", "writes neighbouring elements of a buffer")
    },
    OpDef {
        assembly: Some("$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result); $indices: index"),
        ..masked("vector.maskedload", "reads those neighbouring elements that a mask says", LOADED, RESULT)
    },
    masked("vector.maskedstore", "writes those neighbouring elements that a mask says", STORED, &[])
        .text("$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore); $indices: index"),
    OpDef {
        assembly: Some("$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result); $indices: index"),
        ..masked("vector.expandload", "reads as many elements as a mask has, to its places", LOADED, RESULT)
    },
    masked("vector.compressstore", "writes the elements that a mask says beside each other", STORED, &[])
        .text("$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` type($valueToStore); $indices: index"),
    OpDef {
        traits: ON_BUFFERS,
        assembly: Some("$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($indices) `,` type($mask) `,` type($pass_thru) `into` type($result); $offsets: index"),
        ..masked("vector.gather", "reads elements at the places that a vector holds", GATHERED, RESULT)
    },
    OpDef {
        traits: ON_BUFFERS,
        assembly: Some("$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($indices) `,` type($mask) `,` type($valueToStore) ( `->` type($result) )?; $offsets: index"),
        ..masked("vector.scatter", "writes elements to the places that a vector holds", SCATTERED, WRITTEN)
    },
    OpDef {
        operands: &[value("mask", "where the operation acts"), maybe("passthru", "the elements elsewhere")],
        results: &[results("results", "the results of the operation")],
        regions: Some(1),
        traits: Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS),
        assembly: Some("$mask ( `,` $passthru )? region(0, vector.yield, always, inline) attr-dict `:` type($mask) ( `->` type($results) )?; $passthru: $results"),
        ..OpDef::new("vector.mask", "an operation for some elements only")
    },
    OpDef {
        operands: &[values("operands", "the results")],
        traits: Traits::TERMINATOR.union(Traits::PURE),
        assembly: Some("attr-dict ( $operands `:` type($operands) )?"),
        ..OpDef::new("vector.yield", "ends a region with its results")
    },
    OpDef {
        operands: &[maybe("source", "what is printed")],
        attrs: &[
            optional("punctuation", AttrKind::Any, "what is printed behind; a line end where absent")
                .absent(Absence::Means("#vector.punctuation<newline>")),
            optional("stringLiteral", AttrKind::Str, "a text to print"),
        ],
        assembly: Some("( $source `:` type($source) )? ( `str` $stringLiteral )? ( `punctuation` angled($punctuation, vector.punctuation) )? attr-dict"),
        ..OpDef::new("vector.print", "prints a vector, a scalar or a text")
    },
];

/// On tensors there is no effect.
const ON_BUFFERS: Traits = Traits::RECURSIVE_EFFECTS.union(Traits::WRITES_BUFFERS);
const SOURCE: &[OperandDef] = &[value("source", "the operand")];
const VECTOR: &[OperandDef] = &[value("vector", "the operand")];
const BUFFER: &[OperandDef] = &[value("memref", "the buffer")];
const PAIR: &[OperandDef] = &[value("v1", "the first vector"), value("v2", "the second vector")];
const CONTRACTED: &[OperandDef] =
    &[value("lhs", "a factor"), value("rhs", "a factor"), value("acc", "what is added")];
const INSERTED: &[OperandDef] =
    &[value("valueToStore", "what is inserted"), value("dest", "the vector")];
const BASE: OperandDef = value("base", "the buffer");
const MASK: OperandDef = value("mask", "where it acts");
const PASSED: OperandDef = value("pass_thru", "the elements elsewhere");
const WRITER: OperandDef = value("valueToStore", "what is written");
const LOADED: &[OperandDef] = &[BASE, INDICES, MASK, PASSED];
const STORED: &[OperandDef] = &[BASE, INDICES, MASK, WRITER];
const OFFSETS: OperandDef = values("offsets", "where places are counted from");
const PLACES: OperandDef = value("indices", "the places");
const GATHERED: &[OperandDef] = &[BASE, OFFSETS, PLACES, MASK, PASSED];
const SCATTERED: &[OperandDef] = &[BASE, OFFSETS, PLACES, MASK, WRITER];
const WRITTEN: &[ResultDef] = &[results("result", "the tensor, if it is one")];
const DEST: &[ResultDef] = &[result("dest", "the result")];
const POSITION: OperandDef = values("dynamic_position", "the indices that are not constant");
const STATIC_POSITION: &[AttrDef] =
    &[required("static_position", AttrKind::Ints, "the indices; the least `i64` if dynamic")];
const KIND: AttrDef =
    optional("kind", AttrKind::Any, "how elements are combined; added where absent")
        .absent(Absence::Becomes("#vector.kind<add>", combines_nothing));
const NEEDED_KIND: AttrDef = required("kind", AttrKind::Any, "how elements are combined");
const ALIGNMENT: AttrDef = optional("alignment", AttrKind::Int, "in bytes, a power of two");
const ACCESS: &[AttrDef] = &[
    optional("nontemporal", AttrKind::Bool, "whether caches are passed by; no where absent")
        .absent(Absence::Hides("false")),
    ALIGNMENT,
];
/// How elements are combined says nothing where there is nothing to combine them with.
fn combines_nothing(module: &Module, op: Op, _: Attr) -> bool {
    module.name_text(op) == "vector.outerproduct" && module.operand_count(op) < 3
}

/// A map to the last dimensions in their order.
fn is_minor_identity(module: &Module, _: Op, map: Attr) -> bool {
    module.context().as_affine_map(map).is_some_and(|map| map.is_minor_identity())
}

fn is_all_false(module: &Module, _: Op, list: Attr) -> bool {
    match module.context().attr_data(list) {
        AttrData::Array(items) => items.iter().all(|&item| item == Attr::FALSE),
        _ => false,
    }
}

/// `c4_vscale`: a number times the scale of vectors.
pub(super) fn scaled_name(module: &Module, op: Op) -> Option<String> {
    let scale =
        |value| module.def_op(value).is_some_and(|def| module.name_text(def) == "vector.vscale");
    let operands: Vec<Value> = module.operands(op).collect();
    let &[a, b] = &operands[..] else { return None };
    let number = if scale(a) { b } else { scale(b).then_some(a)? };
    let number = module.context().as_i64(module.constant_value(number)?)?;
    Some(format!("c{number}_vscale"))
}

const TRANSFERRED: &[AttrDef] = &[
    required("permutation_map", AttrKind::Any, "from a place in memory to one in the vector")
        .absent(Absence::HidesIf(is_minor_identity)),
    required("in_bounds", AttrKind::Any, "for each vector dimension, whether it stays inside")
        .absent(Absence::HidesIf(is_all_false)),
];

const fn pure(name: &'static str, summary: &'static str, operands: &'static [OperandDef]) -> OpDef {
    OpDef { operands, results: RESULT, traits: Traits::PURE, ..OpDef::new(name, summary) }
}

/// The elements of one vector, in another shape or order, or some of them.
const fn moved(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
) -> OpDef {
    let traits = Traits::PURE.union(Traits::PROPAGATES_POISON);
    OpDef { traits, ..pure(name, summary, operands) }
}

const fn masked(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    results: &'static [ResultDef],
) -> OpDef {
    OpDef { operands, results, attrs: &[ALIGNMENT], ..OpDef::new(name, summary) }
}
