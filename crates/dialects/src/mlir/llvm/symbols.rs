//! Functions and calls.

use tangram_ir::{Absence, AttrDef, AttrKind, OpDef, Traits};

use super::super::{optional, required, results, values};

/// Functions and calls.
pub(super) static DEFS: &[OpDef] = &[
    OpDef {
        attrs: &[
            required("sym_name", AttrKind::Str, "the name"),
            required("function_type", AttrKind::Type, "the type"),
            optional("arg_attrs", AttrKind::Any, "a dictionary for each argument"),
            optional("res_attrs", AttrKind::Any, "a dictionary for the result"),
            LINKAGE,
            VISIBILITY,
            UNNAMED,
            CONVENTION,
            optional("comdat", AttrKind::Any, "the group that the linker keeps one of"),
            optional("passthrough", AttrKind::Any, "attributes of LLVM's own"),
            optional("dso_local", AttrKind::Any, "present where it is in the same object"),
            optional("personality", AttrKind::Any, "the function that unwinds the stack"),
        ],
        regions: Some(1),
        traits: Traits::ISOLATED.union(Traits::SYMBOL),
        ..OpDef::new("llvm.func", "a function")
    }
    .text(
        "( word($linkage, llvm.linkage<, private, internal, available_externally, linkonce, weak, \
         common, appending, extern_weak, linkonce_odr, weak_odr, external) )? \
         enum($visibility_, i64?, -, hidden, protected) \
         enum($unnamed_addr, i64!, -, local_unnamed_addr, unnamed_addr) \
         ( word($CConv, llvm.cconv<, ccc, fastcc, coldcc, cc_10, cc_11, anyregcc, \
         preserve_mostcc, preserve_allcc, swiftcc, cxx_fast_tlscc, tailcc, swifttailcc, \
         x86_stdcallcc, x86_fastcallcc, arm_apcscc, arm_aapcscc, arm_aapcs_vfpcc, msp430_intrcc, \
         x86_thiscallcc, ptx_kernelcc, ptx_devicecc, spir_funccc, spir_kernelcc, intel_ocl_bicc, \
         x86_64_sysvcc, win64cc, hhvmcc, x86_intrcc, amdgpu_kernelcc, x86_regcallcc) )? \
         text-function(llvm.func, llvm, void, ptr, struct, array, func, metadata, label, token, \
         x86_amx, ppc_fp128, target, byte) ( `comdat` `(` $comdat `)` )? attr-dict-with-keyword \
         ( region(0, hidden-args) )?",
    ),
    OpDef {
        operands: &[
            values("callee_operands", "the arguments; the function first where no symbol names it"),
            values("op_bundle_operands", "what bundles are given"),
        ],
        results: &[results("result", "the result, if there is one")],
        attrs: CALL,
        ..OpDef::new("llvm.call", "calls a function")
    }
    .text(
        "requires($callee) without($op_bundle_operands, $arg_attrs, $res_attrs) \
         ( word($CConv, llvm.cconv<, fastcc, coldcc, tailcc, swiftcc, swifttailcc, spir_funccc) )? \
         ( word($TailCallKind, llvm.tailcallkind<, tail, musttail, notail) )? \
         $callee `(` $callee_operands `)` ( `vararg` `(` $var_callee_type `)` )? \
         hidden($op_bundle_sizes) attr-dict `:` functional-type",
    ),
];

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
    optional("arg_attrs", AttrKind::Any, "a dictionary for each argument"),
    optional("res_attrs", AttrKind::Any, "a dictionary for the result"),
];
