//! MLIR's `math` dialect: functions of numbers, element by element.

mod fold;

use tangram_ir::{AttrDef, OpDef, OperandDef, Traits};

use super::{FASTMATH, LHS_RHS, RESULT, infer, result, value};

/// Every definition of this dialect.
pub static DEFS: &[OpDef] = &[
    OpDef { fold: Some(fold::absf), ..float("math.absf", "the float without its sign") },
    float("math.acos", "the angle, in radians, whose cosine is given"),
    float("math.acosh", "the inverse of the hyperbolic cosine"),
    float("math.asin", "the angle, in radians, whose sine is given"),
    float("math.asinh", "the inverse of the hyperbolic sine"),
    float("math.atan", "the angle, in radians, whose tangent is given"),
    float("math.atanh", "the inverse of the hyperbolic tangent"),
    float("math.cbrt", "the cube root"),
    OpDef { fold: Some(fold::ceil), ..float("math.ceil", "the next integer upwards") },
    float("math.cos", "the cosine of an angle in radians"),
    float("math.cosh", "the hyperbolic cosine"),
    float("math.erf", "the error function"),
    float("math.erfc", "one minus the error function"),
    float("math.exp", "e to the power of the operand"),
    float("math.exp2", "two to the power of the operand"),
    float("math.expm1", "e to the power of the operand, minus one, exact near zero"),
    OpDef { fold: Some(fold::floor), ..float("math.floor", "the next integer downwards") },
    float("math.log", "the natural logarithm"),
    float("math.log10", "the logarithm to base ten"),
    float("math.log1p", "the natural logarithm of one plus the operand, exact near zero"),
    float("math.log2", "the logarithm to base two"),
    OpDef {
        fold: Some(fold::round),
        ..float("math.round", "the nearest integer, ties away from zero")
    },
    OpDef {
        fold: Some(fold::roundeven),
        ..float("math.roundeven", "the nearest integer, ties to even")
    },
    float("math.rsqrt", "one divided by the square root"),
    float("math.sin", "the sine of an angle in radians"),
    float("math.sinh", "the hyperbolic sine"),
    OpDef { fold: Some(fold::sqrt), ..float("math.sqrt", "the square root") },
    float("math.tan", "the tangent of an angle in radians"),
    float("math.tanh", "the hyperbolic tangent"),
    OpDef { fold: Some(fold::trunc), ..float("math.trunc", "the next integer towards zero") },
    OpDef { fold: Some(fold::absi), ..integer("math.absi", "the size of a signed integer") },
    OpDef {
        fold: Some(fold::ctlz),
        ..integer("math.ctlz", "how many zeros stand before the highest set bit")
    },
    OpDef {
        fold: Some(fold::cttz),
        ..integer("math.cttz", "how many zeros stand below the lowest set bit")
    },
    OpDef { fold: Some(fold::ctpop), ..integer("math.ctpop", "how many bits are set") },
    same(LHS_RHS, FASTMATH, OpDef::new("math.atan2", "the angle of the point (rhs, lhs)").text("$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)")),
    same(
        LHS_RHS,
        FASTMATH,
        OpDef::new("math.copysign", "the left operand with the sign of the right one").text("$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)"),
    ),
    same(
        LHS_RHS,
        FASTMATH,
        OpDef::new("math.powf", "the left operand to the power of the right one").text("$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)"),
    ),
    OpDef {
        operands: LHS_RHS,
        results: RESULT,
        attrs: FASTMATH,
        traits: PURE,
        infer: Some(infer::like_first),
        assembly: Some("$lhs `,` $rhs flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($lhs) `,` type($rhs)"), ..OpDef::new("math.fpowi", "a float to the power of a signed integer")
    },
    same(LHS_RHS, &[], OpDef::new("math.ipowi", "a signed integer to the power of another").text("$lhs `,` $rhs attr-dict `:` type($result)")),
    same(FMA, FASTMATH, OpDef::new("math.fma", "a * b + c, rounded once").text("$a `,` $b `,` $c flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)")),
    same(CLAMP, FASTMATH, OpDef::new("math.clampf", "the value, or the bound that it passes").text("$value `to` space `[` $min `,` $max `]` flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)")),
    test("math.isfinite", "whether the operand is neither infinite nor NaN"),
    test("math.isinf", "whether the operand is infinite"),
    test("math.isnan", "whether the operand is NaN"),
    test("math.isnormal", "whether the operand is finite, not zero and not subnormal"),
    OpDef {
        operands: OPERAND,
        results: &[result("sin", "the sine"), result("cos", "the cosine")],
        attrs: FASTMATH,
        traits: PURE,
        infer: Some(infer::twice_first),
        assembly: Some("$operand flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($operand)"), result_names: &["sin", "cos"], ..OpDef::new("math.sincos", "sine and cosine of an angle in radians")
    },
];

const PURE: Traits = Traits::PURE.union(Traits::ELEMENTWISE).union(Traits::PROPAGATES_POISON);
const OPERAND: &[OperandDef] = &[value("operand", "the argument")];
const FMA: &[OperandDef] =
    &[value("a", "a factor"), value("b", "a factor"), value("c", "a summand")];
const CLAMP: &[OperandDef] =
    &[value("value", "what is bounded"), value("min", "the least"), value("max", "the greatest")];

const fn same(operands: &'static [OperandDef], attrs: &'static [AttrDef], def: OpDef) -> OpDef {
    OpDef {
        operands,
        results: RESULT,
        attrs,
        traits: PURE.union(Traits::SAME_TYPE),
        infer: Some(infer::like_first),
        ..def
    }
}

const fn float(name: &'static str, summary: &'static str) -> OpDef {
    const TEXT: &str =
        "$operand flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($result)";
    same(OPERAND, FASTMATH, OpDef::new(name, summary).text(TEXT))
}

const fn integer(name: &'static str, summary: &'static str) -> OpDef {
    const TEXT: &str = "$operand attr-dict `:` type($result)";
    same(OPERAND, &[], OpDef::new(name, summary).text(TEXT))
}

const fn test(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        operands: OPERAND,
        results: RESULT,
        attrs: FASTMATH,
        traits: PURE,
        infer: Some(infer::boolean_like_first),
        assembly: Some(
            "$operand flags($fastmath, fastmath, arith.fastmath) attr-dict `:` type($operand)",
        ),
        ..OpDef::new(name, summary)
    }
}
