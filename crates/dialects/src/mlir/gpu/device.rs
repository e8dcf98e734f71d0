//! What runs on a device: modules, functions, the place of a thread, and communication.

use tangram_ir::{
    Absence, Attr, AttrData, AttrDef, AttrKind, Module, Op, OpDef, OperandDef, ResultDef, Traits,
};

use super::super::{RESULT, infer, maybe, optional, required, result, results, value, values};
use super::{verify, word};

/// The word for how values are combined.
macro_rules! functions {
    () => {
        "word($op, gpu<all_reduce_op, add, mul, minui, minsi, minnumf, maxui, maxsi, maxnumf, and, \
         or, xor, minimumf, maximumf)"
    };
}

/// Every definition of this file.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        attrs: &[
            required("sym_name", AttrKind::Str, "the name"),
            optional("targets", AttrKind::Any, "what it is compiled for"),
            optional("offloadingHandler", AttrKind::Any, "how what is compiled is embedded"),
        ],
        regions: Some(1),
        traits: Traits::ISOLATED
            .union(Traits::SYMBOL)
            .union(Traits::SYMBOL_TABLE)
            .union(Traits::NO_TERMINATOR)
            .union(Traits::SINGLE_BLOCK),
        ..OpDef::new("gpu.module", "code that runs on a device")
    }
    .text(
        "symbol($sym_name) ( `<` $offloadingHandler `>` )? ( $targets )? attr-dict-with-keyword \
         region(0)",
    ),
    OpDef {
        attrs: BINARY,
        traits: Traits::SYMBOL,
        ..OpDef::new("gpu.binary", "code for a device, compiled")
    }
    .text("symbol($sym_name) space ( `<` $offloadingHandler `>` )? attr-dict $objects"),
    OpDef {
        attrs: FUNCTION,
        regions: Some(1),
        traits: Traits::ISOLATED.union(Traits::SYMBOL),
        verify: Some(verify::check_function),
        ..OpDef::new("gpu.func", "a function that runs on a device")
    }
    .text(
        "requires($workgroup_attributions) function attributions($workgroup_attributions, \
         workgroup, $workgroup_attrib_attrs, private, $private_attrib_attrs) \
         keyword($gpu.kernel, kernel) attr-dict-with-keyword region(0, hidden-args)",
    ),
    OpDef {
        operands: &[values("operands", "the results")],
        traits: ENDS,
        verify: Some(verify::check_return),
        ..OpDef::new("gpu.return", "ends a function with its results")
    }
    .text("attr-dict ( $operands `:` type($operands) )?"),
    OpDef {
        operands: &[values("values", "the results")],
        traits: ENDS,
        ..OpDef::new("gpu.yield", "ends a region with its results")
    }
    .text("attr-dict ( $values `:` type($values) )?"),
    along("gpu.thread_id", "the number of the thread in its block"),
    along("gpu.block_id", "the number of the block in the grid"),
    along("gpu.block_dim", "how many threads a block has"),
    along("gpu.grid_dim", "how many blocks the grid has"),
    along("gpu.global_id", "the number of the thread in the grid"),
    along("gpu.cluster_id", "the number of the cluster in the grid"),
    along("gpu.cluster_dim", "how many clusters the grid has"),
    along("gpu.cluster_block_id", "the number of the block in its cluster"),
    along("gpu.cluster_dim_blocks", "how many blocks a cluster has"),
    place("gpu.lane_id", "the number of the thread in its subgroup")
        .text("( `upper_bound` int($upper_bound, index) )? attr-dict"),
    place("gpu.subgroup_id", "the number of the subgroup in its block")
        .text("( `upper_bound` int($upper_bound, index) )? attr-dict `:` type($result)"),
    place("gpu.num_subgroups", "how many subgroups a block has")
        .text("( `upper_bound` int($upper_bound, index) )? attr-dict `:` type($result)"),
    place("gpu.subgroup_size", "how many threads a subgroup has")
        .text("( `upper_bound` int($upper_bound, index) )? attr-dict `:` type($result)"),
    OpDef {
        results: &[result("resultMemref", "bytes in the memory of the block")],
        traits: Traits::PURE,
        ..OpDef::new("gpu.dynamic_shared_memory", "the memory that the launch asked for")
    }
    .text("attr-dict `:` type($resultMemref)"),
    OpDef::new("gpu.barrier", "waits for all threads of the block").text("attr-dict"),
    OpDef {
        operands: VALUE,
        results: RESULT,
        attrs: COMBINED,
        regions: Some(1),
        traits: Traits::ISOLATED.union(Traits::SAME_TYPE),
        verify: Some(verify::check_all_reduce),
        ..OpDef::new("gpu.all_reduce", "the values of all threads of the block, combined")
    }
    .text(concat!(
        "space space ( ",
        functions!(),
        " )? $value keyword($uniform, uniform) region(0) attr-dict `:` functional-type"
    )),
    OpDef {
        operands: VALUE,
        results: RESULT,
        attrs: COMBINED_IN_CLUSTERS,
        traits: Traits::SAME_TYPE,
        verify: Some(verify::check_subgroup_reduce),
        ..OpDef::new("gpu.subgroup_reduce", "the values of all threads of the subgroup, combined")
    }
    .text(concat!(
        "space space ",
        functions!(),
        " $value keyword($uniform, uniform) ( `cluster` `(` `size` `=` int($cluster_size, i32) ( `,` `stride` `=` \
         int($cluster_stride, i32) )? `)` )? attr-dict `:` functional-type"
    )),
    OpDef {
        operands: EXCHANGED,
        results: SHUFFLED,
        attrs: &[required("mode", AttrKind::Any, "how the other thread is found")],
        traits: Traits::PURE,
        result_names: &["shuffleResult", "valid"],
        ..OpDef::new("gpu.shuffle", "the value of another thread of the subgroup")
    }
    .text(
        "space space word($mode, gpu<shuffle_mode, xor, down, up, idx) $value `,` $offset `,` \
         $width attr-dict `:` type($value); $offset: i32, $width: i32, $shuffleResult: $value, \
         $valid: i1",
    ),
    OpDef {
        operands: VALUE,
        results: ROTATED,
        attrs: &[
            required("offset", AttrKind::Int, "how far away the other thread is"),
            required("width", AttrKind::Int, "how many threads exchange values"),
        ],
        traits: Traits::PURE,
        result_names: &["rotateResult", "valid"],
        verify: Some(verify::check_rotate),
        ..OpDef::new("gpu.rotate", "the value of the thread so many places on")
    }
    .text(
        "$value `,` int($offset, i32) `,` int($width, i32) attr-dict `:` type($value); \
         $rotateResult: $value, $valid: i1",
    ),
    OpDef {
        operands: &[value("src", "a value"), maybe("lane", "the number of the thread")],
        results: RESULT,
        attrs: &[required("broadcast_type", AttrKind::Any, "which thread gives the value")],
        infer: Some(infer::like_first),
        verify: Some(verify::check_broadcast),
        ..OpDef::new("gpu.subgroup_broadcast", "the value of one thread of the subgroup")
    }
    .text(
        "$src `,` space space word($broadcast_type, gpu<broadcast, first_active_lane, \
         specific_lane) ( $lane )? attr-dict `:` type($result); $src: $result, $lane: i32",
    ),
    OpDef {
        operands: &[value("laneid", "the number of the thread"), values("args", "what goes in")],
        results: &[results("results", "what comes out")],
        attrs: &[required("warp_size", AttrKind::Int, "how many threads there are")],
        regions: Some(1),
        traits: Traits::SINGLE_BLOCK.union(Traits::RECURSIVE_EFFECTS),
        ..OpDef::new("gpu.warp_execute_on_lane_0", "a region that one thread runs for all")
    }
    .text(
        "`(` $laneid `)` `` `[` int($warp_size, i64) `]` ( `args` `(` $args `:` type($args) `)` )? \
         results region(0, gpu.yield) attr-dict; $laneid: index",
    ),
    OpDef {
        operands: &[values("args", "what is printed")],
        attrs: &[required("format", AttrKind::Str, "the text, with a place for each value")],
        ..OpDef::new("gpu.printf", "prints from a device")
    }
    .text("$format attr-dict ( `,` $args `:` type($args) )?"),
];

const ENDS: Traits = Traits::TERMINATOR.union(Traits::PURE);
const VALUE: &[OperandDef] = &[value("value", "the value of this thread")];
const EXCHANGED: &[OperandDef] = &[
    VALUE[0],
    value("offset", "how far away the other thread is, or its number"),
    value("width", "how many threads exchange values"),
];
const UNIFORM: AttrDef = optional("uniform", AttrKind::Any, "present where all threads come here");
const COMBINED: &[AttrDef] =
    &[optional("op", AttrKind::Any, "how values are combined, if no region says it"), UNIFORM];
const COMBINED_IN_CLUSTERS: &[AttrDef] = &[
    required("op", AttrKind::Any, "how values are combined"),
    UNIFORM,
    optional("cluster_size", AttrKind::Int, "how many threads combine their values; all"),
    optional("cluster_stride", AttrKind::Int, "how far apart these threads are; 1")
        .absent(Absence::Means("1 : i32")),
];
const SHUFFLED: &[ResultDef] = &[
    result("shuffleResult", "the value of the other thread"),
    result("valid", "whether there is such a thread"),
];
const ROTATED: &[ResultDef] = &[
    result("rotateResult", "the value of the other thread"),
    result("valid", "whether this thread takes part"),
];
const HANDLER: AttrDef =
    optional("offloadingHandler", AttrKind::Any, "how the code is embedded; one is selected")
        .absent(Absence::Becomes("#gpu.select_object", is_selected));
const BINARY: &[AttrDef] = &[
    required("sym_name", AttrKind::Str, "the name"),
    HANDLER,
    required("objects", AttrKind::Any, "the code, for each target"),
];
const ALONG: &[AttrDef] =
    &[required("dimension", AttrKind::Any, "`#gpu<dim x>`, or along y or z"), BOUND];
const BOUND: AttrDef = optional("upper_bound", AttrKind::Int, "what it never exceeds");

/// What a function is: its name and how many buffers it has for itself stand beside these.
const FUNCTION: &[AttrDef] = &[
    required("function_type", AttrKind::Type, "the type"),
    optional("arg_attrs", AttrKind::Any, "a dictionary for each argument"),
    optional("res_attrs", AttrKind::Any, "a dictionary for each result"),
    optional("workgroup_attrib_attrs", AttrKind::Any, "one for each buffer of the block"),
    optional("private_attrib_attrs", AttrKind::Any, "one for each buffer of the thread"),
    optional("known_block_size", AttrKind::Any, "the size of each block that runs it"),
    optional("known_grid_size", AttrKind::Any, "the size of each grid that runs it"),
    optional("known_cluster_size", AttrKind::Any, "the size of each cluster that runs it"),
];

/// Returns whether one object is selected, by no rule.
fn is_selected(module: &Module, _: Op, handler: Attr) -> bool {
    match module.context().attr_data(handler) {
        AttrData::Opaque(text) => module.context().text(*text) == "gpu.select_object",
        _ => false,
    }
}

/// A place or an extent along a dimension.
const fn along(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        results: RESULT,
        attrs: ALONG,
        traits: Traits::PURE,
        names: Some(axis_name),
        ..OpDef::new(name, summary)
    }
    .text(
        "space space word($dimension, gpu<dim, x, y, z) ( `upper_bound` int($upper_bound, index) )? \
         attr-dict; $result: index",
    )
}

/// A place or an extent.
const fn place(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        results: RESULT,
        attrs: &[BOUND],
        traits: Traits::PURE,
        infer: Some(infer::index),
        ..OpDef::new(name, summary)
    }
}

/// `thread_id_x`.
fn axis_name(module: &Module, op: Op) -> Option<String> {
    let axis = word(module, op, "dimension")?;
    let (_, name) = module.name_text(op).split_once('.')?;
    Some(format!("{name}_{axis}"))
}
