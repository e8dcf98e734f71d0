//! What the host does: launches of kernels, memory of a device, and waiting.

use tangram_ir::{AttrKind, OpDef, OperandDef, Traits};

use super::super::{maybe, optional, required, result, value, values};
use super::{DEPENDENCIES, TOKEN, verify};

/// Every definition of this file.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        operands: LAUNCHED,
        results: &[TOKEN],
        attrs: &[
            optional("module", AttrKind::Any, "the module that the kernel is to be in"),
            optional("function", AttrKind::Any, "what the kernel is to be called"),
        ],
        regions: Some(1),
        traits: Traits::RECURSIVE_EFFECTS,
        verify: Some(verify::check_launch),
        ..OpDef::new("gpu.launch", "runs a region on each thread of a grid")
    }
    .text(
        "requires($workgroup_attributions) \
         tokens($asyncDependencies, async, gpu.async.token, tight) \
         grid(blocks, $gridSizeX, threads, $blockSizeX, clusters, $clusterSizeX) \
         ( `dynamic_shared_memory_size` $dynamicSharedMemorySize )? \
         ( `module` `(` $module `)` )? ( `function` `(` $function `)` )? \
         attributions($workgroup_attributions, workgroup, $workgroup_attrib_attrs, private, \
         $private_attrib_attrs) region(0, hidden-args) attr-dict; $dynamicSharedMemorySize: i32",
    ),
    OpDef {
        traits: Traits::TERMINATOR.union(Traits::PURE),
        verify: Some(verify::check_terminator),
        ..OpDef::new("gpu.terminator", "ends the region of `gpu.launch`")
    }
    .text("attr-dict"),
    OpDef {
        operands: CALLED,
        results: &[TOKEN],
        attrs: &[required("kernel", AttrKind::Any, "the symbol of the kernel")],
        verify: Some(verify::check_launch_func),
        ..OpDef::new("gpu.launch_func", "runs a kernel on each thread of a grid")
    }
    .text(concat!(
        tokens!(),
        "( `<` $asyncObject `:` type($asyncObject) `>` )? $kernel \
         ( `clusters` `in` space `(` $clusterSizeX `,` $clusterSizeY `,` $clusterSizeZ `)` )? \
         `blocks` `in` space `(` $gridSizeX `,` $gridSizeY `,` $gridSizeZ `)` \
         `threads` `in` space `(` $blockSizeX `,` $blockSizeY `,` $blockSizeZ `)` \
         width($gridSizeX) ( `dynamic_shared_memory_size` $dynamicSharedMemorySize )? \
         passed(args, $kernelOperands) attr-dict; $gridSizeY: $gridSizeX, $gridSizeZ: $gridSizeX, \
         $blockSizeX: $gridSizeX, $blockSizeY: $gridSizeX, $blockSizeZ: $gridSizeX, \
         $clusterSizeX: $gridSizeX, $clusterSizeY: $gridSizeX, $clusterSizeZ: $gridSizeX, \
         $dynamicSharedMemorySize: i32"
    )),
    OpDef {
        operands: &[DEPENDENCIES],
        results: &[TOKEN],
        ..OpDef::new("gpu.wait", "waits, or gives a token of what is to be waited for")
    }
    .text(concat!(tokens!(), "attr-dict")),
    OpDef {
        operands: &[
            DEPENDENCIES,
            values("dynamicSizes", "extents that the type does not say"),
            values("symbolOperands", "symbols of the layout"),
        ],
        results: &[result("memref", "the buffer"), TOKEN],
        attrs: &[optional("hostShared", AttrKind::Any, "present where the host sees it too")],
        result_names: &["memref", "asyncToken"],
        verify: Some(verify::check_alloc),
        ..OpDef::new("gpu.alloc", "a new buffer of a device")
    }
    .text(concat!(
        tokens!(),
        "keyword($hostShared, host_shared) \
         space `(` $dynamicSizes `)` ( `` `[` $symbolOperands `]` )? attr-dict `:` type($memref); \
         $dynamicSizes: index, $symbolOperands: index"
    )),
    OpDef {
        operands: &[DEPENDENCIES, value("memref", "the buffer")],
        results: &[TOKEN],
        ..OpDef::new("gpu.dealloc", "frees a buffer of a device")
    }
    .text(concat!(tokens!(), "$memref attr-dict `:` type($memref)")),
    OpDef {
        operands: &[DEPENDENCIES, value("dst", "what is written"), value("src", "what is read")],
        results: &[TOKEN],
        verify: Some(verify::check_memcpy),
        ..OpDef::new("gpu.memcpy", "copies all elements of a buffer")
    }
    .text(concat!(
        tokens!(),
        "$dst `,` $src `:` type($dst) `,` \
         type($src) attr-dict"
    )),
    OpDef {
        operands: &[DEPENDENCIES, value("dst", "what is written"), value("value", "every element")],
        results: &[TOKEN],
        verify: Some(verify::check_memset),
        ..OpDef::new("gpu.memset", "writes one value to all elements of a buffer")
    }
    .text(concat!(
        tokens!(),
        "$dst `,` $value `:` type($dst) `,` \
         type($value) attr-dict"
    )),
    OpDef {
        operands: &[value("devIndex", "its number")],
        ..OpDef::new("gpu.set_default_device", "chooses the device that what follows runs on")
    }
    .text("attr-dict $devIndex; $devIndex: i32"),
    OpDef {
        operands: BUFFER,
        ..OpDef::new("gpu.host_register", "lets devices see a buffer of the host")
    }
    .text("$value attr-dict `:` type($value)"),
    OpDef {
        operands: BUFFER,
        ..OpDef::new("gpu.host_unregister", "hides a buffer of the host from devices")
    }
    .text("$value attr-dict `:` type($value)"),
];

const BUFFER: &[OperandDef] = &[value("value", "the buffer")];
const SHARED: OperandDef = maybe("dynamicSharedMemorySize", "bytes for each block");
const LAUNCHED: &[OperandDef] = &[
    DEPENDENCIES,
    value("gridSizeX", "blocks along x"),
    value("gridSizeY", "blocks along y"),
    value("gridSizeZ", "blocks along z"),
    value("blockSizeX", "threads along x"),
    value("blockSizeY", "threads along y"),
    value("blockSizeZ", "threads along z"),
    maybe("clusterSizeX", "blocks of a cluster along x"),
    maybe("clusterSizeY", "blocks of a cluster along y"),
    maybe("clusterSizeZ", "blocks of a cluster along z"),
    SHARED,
];
const CALLED: &[OperandDef] = &[
    LAUNCHED[0],
    LAUNCHED[1],
    LAUNCHED[2],
    LAUNCHED[3],
    LAUNCHED[4],
    LAUNCHED[5],
    LAUNCHED[6],
    LAUNCHED[7],
    LAUNCHED[8],
    LAUNCHED[9],
    SHARED,
    values("kernelOperands", "what the kernel is given"),
    maybe("asyncObject", "the queue of the device"),
];
