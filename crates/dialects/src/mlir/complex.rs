//! MLIR's `complex` dialect: complex numbers of floats.

use tangram_ir::{Absence, AttrDef, AttrKind, OpDef, OperandDef, ResultDef, Traits};

use super::{FASTMATH, LHS_RHS, RESULT, required, result, value};

/// The text of a function of one number, with the type of what it gives.
macro_rules! of_one {
    ($result:literal) => {
        concat!(
            "$complex flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($complex); ",
            $result
        )
    };
}

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    part("complex.abs", "the distance from zero", RESULT, FLOAT),
    part("complex.angle", "the angle of the number, in radians", RESULT, FLOAT),
    part("complex.re", "the real part", REAL, of_one!("$real: element($complex)")),
    part("complex.im", "the imaginary part", IMAGINARY, of_one!("$imaginary: element($complex)")),
    unary("complex.conj", "the number with its imaginary part negated"),
    unary("complex.cos", "the cosine"),
    unary("complex.exp", "e to the power of the operand"),
    unary("complex.expm1", "e to the power of the operand, minus one, exact near zero"),
    unary("complex.log", "the natural logarithm"),
    unary("complex.log1p", "the natural logarithm of one plus the operand, exact near zero"),
    unary("complex.neg", "the number negated"),
    unary("complex.rsqrt", "one divided by the square root"),
    unary("complex.sign", "the number divided by its distance from zero"),
    unary("complex.sin", "the sine"),
    unary("complex.sqrt", "the square root"),
    unary("complex.tan", "the tangent"),
    unary("complex.tanh", "the hyperbolic tangent"),
    binary("complex.add", "the sum", COMMUTES),
    binary("complex.sub", "the difference", PURE),
    binary("complex.mul", "the product", COMMUTES),
    binary("complex.div", "the quotient", PURE),
    binary("complex.pow", "the left operand to the power of the right one", PURE),
    binary("complex.atan2", "the complex analogue of the angle of (rhs, lhs)", PURE),
    OpDef {
        operands: LHS_RHS,
        attrs: MAYBE_FASTMATH,
        ..pure("complex.powi", "a complex number to the power of a signed integer")
    }
    .text(
        "$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result) `,` \
         type($rhs); $lhs: $result",
    ),
    compare("complex.eq", "whether both parts are equal"),
    compare("complex.neq", "whether a part differs"),
    OpDef {
        operands: &[value("real", "the real part"), value("imaginary", "the imaginary part")],
        results: COMPLEX_RESULT,
        ..pure("complex.create", "the number of these parts")
    }
    .text(
        "$real `,` $imaginary attr-dict `:` type($complex); $real: element($complex), \
         $imaginary: element($complex)",
    ),
    OpDef {
        results: COMPLEX_RESULT,
        attrs: &[required("value", AttrKind::Any, "the real and the imaginary part")],
        traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
        ..pure("complex.constant", "a constant number")
    }
    .text("$value attr-dict `:` type($complex)"),
    OpDef {
        operands: &[value("operand", "the bits")],
        ..pure("complex.bitcast", "the same bits as another type of the same width")
    }
    .text("$operand attr-dict `:` type($operand) `to` type($result)"),
];

const PURE: Traits = Traits::PURE.union(Traits::ELEMENTWISE);
const COMMUTES: Traits = PURE.union(Traits::COMMUTATIVE);
/// As [`FASTMATH`], but MLIR tells its absence from flags that allow nothing.
const MAYBE_FASTMATH: &[AttrDef] = &[FASTMATH[0].absent(Absence::Plain)];
const FLOAT: &str = of_one!("$result: element($complex)");
const COMPLEX: &[OperandDef] = &[value("complex", "the number")];
const COMPLEX_RESULT: &[ResultDef] = &[result("complex", "the number")];
const REAL: &[ResultDef] = &[result("real", "the real part")];
const IMAGINARY: &[ResultDef] = &[result("imaginary", "the imaginary part")];

const fn pure(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { results: RESULT, traits: PURE, ..OpDef::new(name, summary) }
}

const fn function(
    name: &'static str,
    summary: &'static str,
    operands: &'static [OperandDef],
    attrs: &'static [AttrDef],
) -> OpDef {
    OpDef { operands, attrs, ..pure(name, summary) }
}

const fn unary(name: &'static str, summary: &'static str) -> OpDef {
    function(name, summary, COMPLEX, FASTMATH).text(of_one!("$result: $complex"))
}

/// A float that says something of a number.
const fn part(
    name: &'static str,
    summary: &'static str,
    results: &'static [ResultDef],
    text: &'static str,
) -> OpDef {
    OpDef { results, ..function(name, summary, COMPLEX, FASTMATH) }.text(text)
}

const fn binary(name: &'static str, summary: &'static str, traits: Traits) -> OpDef {
    let traits = traits.union(Traits::SAME_TYPE);
    OpDef { traits, ..function(name, summary, LHS_RHS, FASTMATH) }.text(
        "$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)",
    )
}

const fn compare(name: &'static str, summary: &'static str) -> OpDef {
    function(name, summary, LHS_RHS, &[])
        .text("$lhs `,` $rhs attr-dict `:` type($lhs); $rhs: $lhs, $result: i1")
}
