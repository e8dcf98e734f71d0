//! MLIR's `cf` dialect: branches between the blocks of a region.

mod canonicalize;

use tangram_ir::{AttrKind, Branch, OpDef, Traits};

use super::{optional, required, value, values};

pub(super) use canonicalize::REWRITES;

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef {
        operands: &[value("arg", "`i1`: what has to hold")],
        attrs: &[required("msg", AttrKind::Str, "what to say when it does not")],
        assembly: Some("$arg `,` $msg attr-dict; $arg: i1"),
        ..OpDef::new("cf.assert", "ends the program with a message unless a condition holds")
    },
    OpDef {
        operands: &[values("destOperands", "the arguments of the block")],
        traits: ENDS,
        branch: Branch::Operands,
        assembly: Some("branch(0, $destOperands) attr-dict"),
        ..OpDef::new("cf.br", "goes on with a block")
    },
    OpDef {
        operands: &[
            value("condition", "`i1`"),
            values("trueDestOperands", "the arguments of the first block"),
            values("falseDestOperands", "the arguments of the second block"),
        ],
        attrs: &[optional("branch_weights", AttrKind::Ints, "how often each block follows")],
        traits: ENDS,
        branch: Branch::Segments(1),
        assembly: Some(
            "$condition ( `weights` `(` ints($branch_weights, i32) `)` )? `,` branch(0, $trueDestOperands) `,` branch(1, $falseDestOperands) attr-dict; $condition: i1",
        ),
        ..OpDef::new(
            "cf.cond_br",
            "goes on with the first block if a condition holds, else the second",
        )
    },
    OpDef {
        operands: &[
            value("flag", "an integer"),
            values("defaultOperands", "the arguments of the first block"),
            values("caseOperands", "the arguments of the other blocks, one after the other"),
        ],
        attrs: &[
            optional("case_values", AttrKind::Any, "the integer for each block but the first"),
            required("case_operand_segments", AttrKind::Ints, "how many arguments each case has"),
        ],
        traits: ENDS,
        branch: Branch::Cases,
        assembly: Some("$flag `:` type($flag) `,` switch attr-dict"),
        ..OpDef::new(
            "cf.switch",
            "goes on with the block whose integer equals the flag, else the first",
        )
    },
];

const ENDS: Traits = Traits::TERMINATOR.union(Traits::PURE);
