//! MLIR's `bufferization` dialect: what stands between tensors and buffers while one becomes the
//! other.

mod clones;

use tangram_ir::{
    AttrDef, AttrKind, InferCx, InferError, Inferred, OpDef, OperandDef, ResultDef, Traits,
};

pub(super) use clones::REWRITES;

use super::{RESULT, maybe, optional, result, results, value, values};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: &[
            values("dynamic_sizes", "extents that the type does not say"),
            maybe("copy", "a tensor with the elements"),
            maybe("size_hint", "how many elements to expect"),
        ],
        results: RESULT,
        attrs: &[optional("memory_space", AttrKind::Any, "where the buffer is to be")],
        ..OpDef::new("bufferization.alloc_tensor", "a tensor that becomes a buffer of its own")
    }
    .text(
        "`(` $dynamic_sizes `)` ( `copy` `(` $copy `)` )? ( `size_hint` `` `=` `` $size_hint )? \
         attr-dict `:` type($result); $dynamic_sizes: index, $copy: $result, $size_hint: index",
    ),
    OpDef {
        operands: &[value("input", "a buffer")],
        results: OUTPUT,
        ..OpDef::new("bufferization.clone", "a buffer with the same elements")
    }
    .text("$input attr-dict `:` type($input) `to` type($output)"),
    OpDef {
        operands: &[value("source", "the tensor"), value("dest", "where its elements go")],
        results: &[results("result", "the tensor, if `dest` is one")],
        attrs: ACCESS,
        ..OpDef::new("bufferization.materialize_in_destination", "puts a tensor in a given place")
    }
    .text(
        "$source `in` keyword($restrict, restrict) keyword($writable, writable) $dest attr-dict \
         `:` functional-type",
    ),
    OpDef {
        operands: TENSOR,
        ..OpDef::new("bufferization.dealloc_tensor", "frees the buffer that a tensor becomes")
    }
    .text("$tensor attr-dict `:` type($tensor)"),
    OpDef {
        operands: BUFFER,
        results: RESULT,
        attrs: ACCESS,
        ..OpDef::new("bufferization.to_tensor", "the elements of a buffer as a tensor")
    }
    .text(
        "$buffer keyword($restrict, restrict) keyword($writable, writable) attr-dict `:` \
         type($buffer) `to` type($result)",
    ),
    OpDef {
        operands: TENSOR,
        results: &[result("buffer", "the buffer")],
        attrs: &[optional("read_only", AttrKind::Any, "present where nothing writes to it")],
        traits: Traits::PURE,
        ..OpDef::new("bufferization.to_buffer", "the buffer that a tensor becomes")
    }
    .text("$tensor keyword($read_only, read_only) attr-dict `:` type($tensor) `to` type($buffer)"),
    OpDef {
        operands: &[
            values("memrefs", "buffers that may be freed"),
            values("conditions", "whether each is to be freed"),
            values("retained", "buffers that stay"),
        ],
        results: &[results("updatedConditions", "who owns each buffer that stays")],
        infer: Some(owners),
        ..OpDef::new("bufferization.dealloc", "frees buffers that nobody else holds")
    }
    .text(
        "( space `` `(` $memrefs `:` type($memrefs) `)` `if` space `(` $conditions `)` )? \
         ( `retain` space `(` $retained `:` type($retained) `)` )? attr-dict; $conditions: i1",
    ),
];

/// A truth value for each buffer that stays.
fn owners(cx: &InferCx<'_>) -> Result<Inferred, InferError> {
    let sizes = cx.attr("operandSegmentSizes").and_then(|attr| cx.module.int_list(attr));
    let retained = sizes.and_then(|sizes| sizes.get(2).copied());
    let retained = retained.and_then(|size| usize::try_from(size).ok());
    let Some(retained) = retained.filter(|&size| size <= cx.operands.len()) else {
        return Err(InferError::mismatch("expected attribute `operandSegmentSizes`, found none"));
    };
    let types = vec![cx.context().int_type(1); retained];
    Ok(Inferred { types: types.into(), ..Inferred::default() })
}

const TENSOR: &[OperandDef] = &[value("tensor", "the tensor")];
const BUFFER: &[OperandDef] = &[value("buffer", "the buffer")];
const OUTPUT: &[ResultDef] = &[result("output", "the copy")];
const ACCESS: &[AttrDef] = &[
    optional("restrict", AttrKind::Any, "present where no other tensor has this memory"),
    optional("writable", AttrKind::Any, "present where the memory may be written"),
];
