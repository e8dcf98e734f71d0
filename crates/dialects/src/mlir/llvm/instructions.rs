//! Instructions: numbers, memory, control flow.

use tangram_ir::{Absence, AttrDef, AttrKind, Branch, OpDef, OperandDef, ResultDef, Traits};

use super::super::{LHS_RHS, infer, optional, required, result, value, values};
use super::METADATA;

/// Every instruction.
pub(super) static DEFS: &[OpDef] = &[
    wrapping("llvm.add", "the sum of two integers, modulo 2^width", COMMUTES),
    wrapping("llvm.sub", "the difference of two integers, modulo 2^width", Traits::PURE),
    wrapping("llvm.mul", "the product of two integers, modulo 2^width", COMMUTES),
    wrapping("llvm.shl", "the left operand shifted up by the right one", Traits::PURE),
    exact("llvm.udiv", "the unsigned quotient, rounded down", TRAPS),
    exact("llvm.sdiv", "the signed quotient, truncated toward zero", TRAPS),
    exact("llvm.lshr", "the left operand shifted down, filled with zeros", Traits::PURE),
    exact("llvm.ashr", "the left operand shifted down, its sign bit repeated", Traits::PURE),
    binary("llvm.urem", "the remainder of unsigned division", &[], TRAPS),
    binary("llvm.srem", "the remainder of signed division", &[], TRAPS),
    binary("llvm.and", "bits set in both operands", &[], COMMUTES),
    binary("llvm.xor", "bits set in one operand only", &[], COMMUTES),
    binary("llvm.or", "bits set in either operand", DISJOINT, COMMUTES)
        .text("keyword($isDisjoint, disjoint) $lhs `,` $rhs attr-dict `:` type($res)"),
    binary("llvm.fadd", "the sum of two floats", FASTMATH, COMMUTES),
    binary("llvm.fsub", "the difference of two floats", FASTMATH, Traits::PURE),
    binary("llvm.fmul", "the product of two floats", FASTMATH, COMMUTES),
    binary("llvm.fdiv", "the quotient of two floats", FASTMATH, Traits::PURE),
    binary("llvm.frem", "the remainder of the division of two floats", FASTMATH, Traits::PURE),
    OpDef {
        operands: &[value("operand", "a float")],
        attrs: FASTMATH,
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        ..pure("llvm.fneg", "the float with its sign turned")
    }
    .text("$operand attr-dict `:` type($res)"),
    OpDef {
        operands: &[value("val", "a value")],
        traits: Traits::PURE.union(Traits::SAME_TYPE),
        ..pure("llvm.freeze", "the value, or any one if it is poison or undefined")
    }
    .text("$val attr-dict `:` type($val); $res: $val"),
    OpDef {
        operands: LHS_RHS,
        attrs: PREDICATE,
        infer: Some(infer::boolean_like_first),
        ..pure("llvm.icmp", "compares two integers or pointers")
    }
    .text(
        "enum($predicate, i64\", eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge) $lhs `,` $rhs \
         attr-dict `:` type($lhs); $rhs: $lhs",
    ),
    OpDef {
        operands: LHS_RHS,
        attrs: FLOAT_PREDICATE,
        infer: Some(infer::boolean_like_first),
        ..pure("llvm.fcmp", "compares two floats")
    }
    .text(
        "enum($predicate, i64\", _false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, \
         ule, une, uno, _true) $lhs `,` $rhs attr-dict `:` type($lhs); $rhs: $lhs",
    ),
    OpDef {
        operands: &[
            value("condition", "`i1`, or `i1` for each element"),
            value("trueValue", "the result where the condition holds"),
            value("falseValue", "the result where it does not"),
        ],
        attrs: FASTMATH,
        ..pure("llvm.select", "one of two values, as a condition says")
    }
    .text(
        "$condition `,` $trueValue `,` $falseValue attr-dict `:` type($condition) `,` \
         type($res); $trueValue: $res, $falseValue: $res",
    ),
    cast("llvm.sext", "a wider integer of the same signed value"),
    cast("llvm.sitofp", "the nearest float to a signed integer"),
    cast("llvm.fptosi", "a float rounded toward zero, as a signed integer"),
    cast("llvm.fptoui", "a float rounded toward zero, as an unsigned integer"),
    cast("llvm.fpext", "a wider float of the same value"),
    cast("llvm.fptrunc", "the nearest narrower float"),
    cast("llvm.bitcast", "the same bits as another type of the same width"),
    cast("llvm.addrspacecast", "the pointer in another address space"),
    cast("llvm.ptrtoint", "the address as an integer"),
    OpDef { attrs: &[DEREFERENCEABLE], ..cast("llvm.inttoptr", "the pointer with this address") },
    unsigned("llvm.zext", "a wider integer of the same unsigned value"),
    unsigned("llvm.uitofp", "the nearest float to an unsigned integer"),
    OpDef { attrs: OVERFLOW, ..cast("llvm.trunc", "the low bits of an integer") }.text(
        "$arg bits($overflowFlags, i32, overflow, nsw, nuw) attr-dict `:` type($arg) `to` \
         type($res)",
    ),
    OpDef {
        attrs: &[required("value", AttrKind::Any, "a number, text or elements")],
        // The name without one keeps numbers in text.
        result_names: &[""],
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        ..pure("llvm.mlir.constant", "a constant")
    }
    .text("`(` $value `)` attr-dict `:` type($res)"),
    special("llvm.mlir.undef", "a value that is not defined"),
    special("llvm.mlir.poison", "a value that may be anything"),
    special("llvm.mlir.zero", "zero, a null pointer, or an aggregate of these"),
    OpDef {
        attrs: &[required("global_name", AttrKind::Any, "the symbol")],
        ..pure("llvm.mlir.addressof", "the address of a global or function")
    }
    .text("$global_name attr-dict `:` type($res)"),
    OpDef {
        operands: &[value("arraySize", "how many elements")],
        results: RES,
        attrs: ALLOCATED,
        ..OpDef::new("llvm.alloca", "memory that lives until the function returns")
    }
    .text(
        "keyword($inalloca, inalloca) $arraySize `x` type-attr($elem_type) attr-dict `:` `(` \
         type($arraySize) `)` `->` type($res)",
    ),
    OpDef {
        operands: &[
            value("base", "a pointer"),
            values("dynamicIndices", "indices that are not constant"),
        ],
        attrs: INDEXED,
        ..pure("llvm.getelementptr", "the address of a part")
    }
    .text(
        "enum($noWrapFlags, i32?, -, inbounds_flag, nusw, inbounds, nuw) $base \
         mixed($dynamicIndices, rawConstantIndices, tight, i32) attr-dict `:` functional-type `,` \
         type-attr($elem_type)",
    ),
    OpDef {
        operands: &[value("addr", "a pointer")],
        results: RES,
        attrs: LOADED,
        ..OpDef::new("llvm.load", "reads memory")
    }
    .text(
        "keyword($volatile_, volatile) $addr ( `atomic` ( `syncscope` `(` $syncscope `)` )? \
         enum($ordering, i64, not_atomic, unordered, monotonic, -, acquire, release, acq_rel, \
         seq_cst) )? keyword($invariant, invariant) keyword($invariantGroup, invariant_group) \
         attr-dict `:` type($addr) `->` type($res)",
    ),
    OpDef {
        operands: &[value("value", "what is written"), value("addr", "a pointer")],
        attrs: STORED,
        ..OpDef::new("llvm.store", "writes memory")
    }
    .text(
        "keyword($volatile_, volatile) $value `,` $addr ( `atomic` ( `syncscope` `(` $syncscope \
         `)` )? enum($ordering, i64, not_atomic, unordered, monotonic, -, acquire, release, \
         acq_rel, seq_cst) )? keyword($invariantGroup, invariant_group) attr-dict `:` \
         type($value) `,` type($addr)",
    ),
    OpDef {
        operands: &[values("destOperands", "the arguments of the block")],
        attrs: &[LOOP],
        traits: ENDS,
        branch: Branch::Operands,
        ..OpDef::new("llvm.br", "goes on with a block")
    }
    .text("branch(0, $destOperands) attr-dict"),
    OpDef {
        operands: &[
            value("condition", "`i1`"),
            values("trueDestOperands", "the arguments of the first block"),
            values("falseDestOperands", "the arguments of the second block"),
        ],
        attrs: &[optional("branch_weights", AttrKind::Any, "how often each block follows"), LOOP],
        traits: ENDS,
        branch: Branch::Segments(1),
        ..OpDef::new("llvm.cond_br", "goes on with one of two blocks, as a condition says")
    }
    .text(
        "$condition `,` branch(0, $trueDestOperands) `,` branch(1, $falseDestOperands) attr-dict; \
         $condition: i1",
    ),
    OpDef {
        operands: &[super::super::maybe("arg", "the result of the function")],
        traits: ENDS,
        ..OpDef::new("llvm.return", "ends a function")
    }
    .text("attr-dict ( $arg `:` type($arg) )?"),
    OpDef {
        traits: Traits::TERMINATOR,
        ..OpDef::new("llvm.unreachable", "a place that is never reached")
    }
    .text("attr-dict"),
];

const LOOP: AttrDef = optional("loop_annotation", AttrKind::Any, "what is known of the loop");
const COMMUTES: Traits = Traits::PURE.union(Traits::COMMUTATIVE);
const TRAPS: Traits = Traits::PURE.union(Traits::MAY_TRAP);
const ENDS: Traits = Traits::TERMINATOR.union(Traits::PURE);
const RES: &[ResultDef] = &[result("res", "the result")];
const ARG: &[OperandDef] = &[value("arg", "what is converted")];
const OVERFLOW: &[AttrDef] = &[optional(
    "overflowFlags",
    AttrKind::Int,
    "overflow that cannot happen: 1 for signed, 2 for unsigned",
)
.absent(Absence::Means("0 : i32"))];
const FASTMATH: &[AttrDef] = &[optional(
    "fastmathFlags",
    AttrKind::Any,
    "`#llvm.fastmath<...>`: what may be ignored; none where absent",
)
.absent(Absence::Means("#llvm.fastmath<none>"))];
const EXACT: &[AttrDef] =
    &[optional("isExact", AttrKind::Any, "present where no remainder is lost")];
const DISJOINT: &[AttrDef] =
    &[optional("isDisjoint", AttrKind::Any, "present where no bit is set in both")];
const NON_NEGATIVE: &[AttrDef] =
    &[optional("nonNeg", AttrKind::Any, "present where the operand has no sign")];
const DEREFERENCEABLE: AttrDef =
    optional("dereferenceable", AttrKind::Any, "how many bytes may be read");
const PREDICATE: &[AttrDef] =
    &[required("predicate", AttrKind::Int, "MLIR's number of the comparison")];
const FLOAT_PREDICATE: &[AttrDef] = &[PREDICATE[0], FASTMATH[0]];
const ELEMENT: AttrDef = required("elem_type", AttrKind::Type, "the type of an element");
const ALIGNMENT: AttrDef = optional("alignment", AttrKind::Int, "in bytes, a power of two");
const ALLOCATED: &[AttrDef] = &[
    ELEMENT,
    ALIGNMENT,
    optional("inalloca", AttrKind::Any, "present where it holds an argument of a call"),
];
const INDEXED: &[AttrDef] = &[
    ELEMENT,
    required("rawConstantIndices", AttrKind::Ints, "the indices; the least `i32` if dynamic"),
    optional("noWrapFlags", AttrKind::Int, "overflow that cannot happen")
        .absent(Absence::Means("0 : i32")),
];
const ORDERING: AttrDef =
    optional("ordering", AttrKind::Int, "what other threads see").absent(Absence::Means("0 : i64"));
const VOLATILE: AttrDef =
    optional("volatile_", AttrKind::Any, "present where the access itself is seen");
const NONTEMPORAL: AttrDef =
    optional("nontemporal", AttrKind::Any, "present where caches are passed by");
const GROUP: AttrDef =
    optional("invariantGroup", AttrKind::Any, "present where a group has one value");
const SCOPE: AttrDef = optional("syncscope", AttrKind::Str, "which threads are ordered");
const LOADED: &[AttrDef] = &[
    ALIGNMENT,
    VOLATILE,
    NONTEMPORAL,
    optional("invariant", AttrKind::Any, "present where the memory does not change"),
    GROUP,
    ORDERING,
    SCOPE,
    DEREFERENCEABLE,
    METADATA[0],
    METADATA[1],
    METADATA[2],
    METADATA[3],
];
const STORED: &[AttrDef] = &[
    ALIGNMENT,
    VOLATILE,
    NONTEMPORAL,
    GROUP,
    ORDERING,
    SCOPE,
    METADATA[0],
    METADATA[1],
    METADATA[2],
    METADATA[3],
];

const fn pure(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { results: RES, traits: Traits::PURE, ..OpDef::new(name, summary) }
}

const fn binary(
    name: &'static str,
    summary: &'static str,
    attrs: &'static [AttrDef],
    traits: Traits,
) -> OpDef {
    let traits = traits.union(Traits::SAME_TYPE);
    OpDef { operands: LHS_RHS, attrs, traits, ..pure(name, summary) }
        .text("$lhs `,` $rhs attr-dict `:` type($res)")
}

const fn wrapping(name: &'static str, summary: &'static str, traits: Traits) -> OpDef {
    binary(name, summary, OVERFLOW, traits).text(
        "$lhs `,` $rhs bits($overflowFlags, i32, overflow, nsw, nuw) attr-dict `:` type($res)",
    )
}

const fn exact(name: &'static str, summary: &'static str, traits: Traits) -> OpDef {
    binary(name, summary, EXACT, traits)
        .text("keyword($isExact, exact) $lhs `,` $rhs attr-dict `:` type($res)")
}

const fn cast(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { operands: ARG, ..pure(name, summary) }
        .text("$arg attr-dict `:` type($arg) `to` type($res)")
}

/// A cast of an unsigned integer, of which the text may say that it has no sign.
const fn unsigned(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { attrs: NON_NEGATIVE, ..cast(name, summary) }
        .text("keyword($nonNeg, nneg) $arg attr-dict `:` type($arg) `to` type($res)")
}

const fn special(name: &'static str, summary: &'static str) -> OpDef {
    pure(name, summary).text("attr-dict `:` type($res)")
}
