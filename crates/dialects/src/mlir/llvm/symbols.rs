//! Functions and calls.

use tangram_ir::{Absence, AttrDef, AttrKind, OpDef, Traits};

use super::super::{optional, required, results, values};
use super::METADATA;

/// The word for the calling convention, where it is not that of C.
macro_rules! conventions {
    () => {
        "( word($CConv, llvm.cconv<, ccc, fastcc, coldcc, cc_10, cc_11, anyregcc, \
         preserve_mostcc, preserve_allcc, swiftcc, cxx_fast_tlscc, tailcc, swifttailcc, \
         x86_stdcallcc, x86_fastcallcc, arm_apcscc, arm_aapcscc, arm_aapcs_vfpcc, \
         msp430_intrcc, x86_thiscallcc, ptx_kernelcc, ptx_devicecc, spir_funccc, \
         spir_kernelcc, intel_ocl_bicc, x86_64_sysvcc, win64cc, hhvmcc, x86_intrcc, \
         amdgpu_kernelcc, x86_regcallcc) )?"
    };
}

/// Functions and calls.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        attrs: FUNCTION,
        regions: Some(1),
        traits: Traits::ISOLATED.union(Traits::SYMBOL),
        ..OpDef::new("llvm.func", "a function")
    }
    .text(concat!(
        "( word($linkage, llvm.linkage<, private, internal, available_externally, linkonce, weak, \
         common, appending, extern_weak, linkonce_odr, weak_odr, external) )? \
         enum($visibility_, i64?, -, hidden, protected) \
         enum($unnamed_addr, i64!, -, local_unnamed_addr, unnamed_addr) ",
        conventions!(),
        " text-function(llvm.func, llvm, void, ptr, struct, array, func, metadata, label, token, \
         x86_amx, ppc_fp128, target, byte) ( `comdat` `(` $comdat `)` )? attr-dict-with-keyword \
         ( region(0, hidden-args) )?",
    )),
    OpDef {
        operands: &[
            values("callee_operands", "the arguments; the function first where no symbol names it"),
            values("op_bundle_operands", "what bundles are given"),
        ],
        results: &[results("result", "the result, if there is one")],
        attrs: CALL,
        ..OpDef::new("llvm.call", "calls a function")
    }
    .text(concat!(
        "requires($callee) without($op_bundle_operands, $op_bundle_tags, $arg_attrs, $res_attrs) ",
        conventions!(),
        " ( word($TailCallKind, llvm.tailcallkind<, tail, musttail, notail) )? \
         $callee `(` $callee_operands `)` ( `vararg` `(` $var_callee_type `)` )? \
         hidden($op_bundle_sizes) attr-dict `:` functional-type",
    )),
];

/// What is known of a function: the text shows most of it among other attributes.
const FUNCTION: &[AttrDef] = &[
    required("sym_name", AttrKind::Str, "the name"),
    required("function_type", AttrKind::Type, "the type"),
    ARGUMENTS,
    RESULTS,
    LINKAGE,
    VISIBILITY,
    UNNAMED,
    CONVENTION,
    optional("comdat", AttrKind::Any, "the group that the linker keeps one of"),
    optional("passthrough", AttrKind::Any, "attributes of LLVM's own"),
    optional("dso_local", AttrKind::Any, "present where it is in the same object"),
    optional("personality", AttrKind::Any, "the function that unwinds the stack"),
    optional("sym_visibility", AttrKind::Str, "who may name it, as of any symbol"),
    optional("garbageCollector", AttrKind::Str, "how garbage is collected"),
    CONVERGENT,
    optional("function_entry_count", AttrKind::Int, "how often it is called"),
    EFFECTS,
    optional("arm_streaming", AttrKind::Any, "SME: present where it runs in streaming mode"),
    optional("arm_locally_streaming", AttrKind::Any, "SME: present where its body does"),
    optional(
        "arm_streaming_compatible",
        AttrKind::Any,
        "SME: present where it runs in either mode",
    ),
    optional("arm_new_za", AttrKind::Any, "SME: present where it has a ZA of its own"),
    optional("arm_in_za", AttrKind::Any, "SME: present where it reads ZA"),
    optional("arm_out_za", AttrKind::Any, "SME: present where it writes ZA"),
    optional("arm_inout_za", AttrKind::Any, "SME: present where it reads and writes ZA"),
    optional("arm_preserves_za", AttrKind::Any, "SME: present where ZA stays"),
    optional("section", AttrKind::Str, "where the linker puts it"),
    optional("alignment", AttrKind::Int, "in bytes, a power of two"),
    optional("vscale_range", AttrKind::Any, "the least and the greatest scale of vectors"),
    optional("frame_pointer", AttrKind::Any, "which frames have a pointer"),
    optional("target_cpu", AttrKind::Str, "the processor it is made for"),
    optional("tune_cpu", AttrKind::Str, "the processor it is to be fast on"),
    optional("reciprocal_estimates", AttrKind::Str, "which quotients may be estimated"),
    optional("prefer_vector_width", AttrKind::Str, "the width of vectors, in bits"),
    optional("target_features", AttrKind::Any, "what the processor has"),
    optional("no_infs_fp_math", AttrKind::Bool, "whether floats are never infinite"),
    optional("no_nans_fp_math", AttrKind::Bool, "whether floats are never NaN"),
    optional("no_signed_zeros_fp_math", AttrKind::Bool, "whether zeros have no sign"),
    optional("denormal_fp_math", AttrKind::Str, "what becomes of subnormal floats"),
    optional("denormal_fp_math_f32", AttrKind::Str, "the same for `f32`"),
    optional("fp_contract", AttrKind::Str, "which operations on floats are joined"),
    optional("instrument_function_entry", AttrKind::Str, "what is called at its start"),
    optional("instrument_function_exit", AttrKind::Str, "what is called at its end"),
    NO_INLINE,
    ALWAYS_INLINE,
    INLINE_HINT,
    NO_UNWIND,
    WILL_RETURN,
    optional("optimize_none", AttrKind::Any, "present where it is to stay as it is"),
    optional("vec_type_hint", AttrKind::Any, "OpenCL: the type of vectors"),
    optional("work_group_size_hint", AttrKind::Any, "OpenCL: the likely size of a work group"),
    optional("reqd_work_group_size", AttrKind::Any, "OpenCL: the size of a work group"),
    optional("intel_reqd_sub_group_size", AttrKind::Int, "OpenCL: the size of a subgroup"),
    optional("uwtable_kind", AttrKind::Any, "which tables for unwinding it has"),
];
// What both a function and a call of it say.
const ARGUMENTS: AttrDef = optional("arg_attrs", AttrKind::Any, "a dictionary for each argument");
const RESULTS: AttrDef = optional("res_attrs", AttrKind::Any, "a dictionary for the result");
const EFFECTS: AttrDef =
    optional("memory_effects", AttrKind::Any, "which memory it reads and writes");
const CONVERGENT: AttrDef =
    optional("convergent", AttrKind::Any, "present where it is not to depend on more conditions");
const NO_UNWIND: AttrDef = optional("no_unwind", AttrKind::Any, "present where it raises nothing");
const WILL_RETURN: AttrDef =
    optional("will_return", AttrKind::Any, "present where it comes to an end");
const NO_INLINE: AttrDef =
    optional("no_inline", AttrKind::Any, "present where it is not to be inlined");
const ALWAYS_INLINE: AttrDef =
    optional("always_inline", AttrKind::Any, "present where it is to be");
const INLINE_HINT: AttrDef = optional("inline_hint", AttrKind::Any, "present where it might be");
const LINKAGE: AttrDef = optional("linkage", AttrKind::Any, "what the linker does with it")
    .absent(Absence::Means("#llvm.linkage<external>"));
const VISIBILITY: AttrDef = optional("visibility_", AttrKind::Int, "who sees it in shared objects")
    .absent(Absence::Means("0 : i64"));
const UNNAMED: AttrDef = optional("unnamed_addr", AttrKind::Int, "whether its address matters");
const CONVENTION: AttrDef = optional("CConv", AttrKind::Any, "the calling convention")
    .absent(Absence::Means("#llvm.cconv<ccc>"));
const CALL: &[AttrDef] = &[
    optional("callee", AttrKind::Any, "the symbol"),
    optional(
        "var_callee_type",
        AttrKind::Type,
        "the type of a function with any number of arguments",
    ),
    optional("fastmathFlags", AttrKind::Any, "what may be ignored; none where absent")
        .absent(Absence::Means("#llvm.fastmath<none>")),
    CONVENTION,
    optional("TailCallKind", AttrKind::Any, "whether the frame is to be used again")
        .absent(Absence::Means("#llvm.tailcallkind<none>")),
    optional("op_bundle_sizes", AttrKind::Any, "how many values each bundle has")
        .absent(Absence::Becomes("array<i32>", |_, _, _| true)),
    ARGUMENTS,
    RESULTS,
    EFFECTS,
    CONVERGENT,
    NO_UNWIND,
    WILL_RETURN,
    optional("op_bundle_tags", AttrKind::Any, "the name of each bundle"),
    NO_INLINE,
    ALWAYS_INLINE,
    INLINE_HINT,
    METADATA[0],
    METADATA[1],
    METADATA[2],
    METADATA[3],
];
