//! Functions of two or more tensors, broadcast together and applied to each element.

use tangram_affine::symbolic::{Expr, Truth};
use tangram_ir::{AttrDef, AttrKind, InferCx, OpDef, OperandDef, ResultDef, Traits};

use tangram_tensor::elementwise::{self as kernels, ShiftDirection};
use tangram_tensor::{DType, Tensor};

use super::{NnOp, Numbers, maybe, open, operand, result, sample::Role, variadic};
use crate::eval::{EvalCx, EvalFn, Evaluated, single};
use crate::field::{Evaluated as OverField, Evaluation, prime};
use crate::infer::{Contents, InferExt, Result, Shaped, broadcast, one, one_element, one_with};
use crate::structured::{
    Binary, Comparison, Number, ScalarId, Stage, Structured, StructuredCx, Unary, elementwise,
    number_of, scalars,
};
use crate::{dims, infer_error};

const LHS_RHS: &[OperandDef] =
    &[operand("lhs", "any shape"), operand("rhs", "a shape that broadcasts with `lhs`")];
const ALL: &[OperandDef] = &[variadic("inputs", "one or more; shapes that broadcast together")];
const OUT: &[ResultDef] = &[result("output", "the shapes of the operands, broadcast together")];

const PLAIN: Traits = Traits::PURE.union(Traits::ELEMENTWISE).union(Traits::BROADCASTING);
const COMMUTES: Traits = PLAIN.union(Traits::COMMUTATIVE);
const SEMIGROUP: Traits = COMMUTES.union(Traits::ASSOCIATIVE);

const fn arith(
    name: &'static str,
    summary: &'static str,
    traits: Traits,
    attrs: &'static [AttrDef],
    eval: EvalFn,
) -> NnOp {
    let def = OpDef {
        operands: LHS_RHS,
        results: OUT,
        attrs,
        traits,
        infer: Some(infer_arith),
        ..OpDef::new(name, summary)
    };
    NnOp::new(def).eval(eval)
}

const fn compare(name: &'static str, summary: &'static str, traits: Traits, eval: EvalFn) -> NnOp {
    let def = OpDef { infer: Some(infer_compare), ..arith(name, summary, traits, &[], eval).def };
    NnOp::new(def).eval(eval)
}

const fn n_ary(name: &'static str, summary: &'static str, eval: EvalFn) -> NnOp {
    let def = OpDef { operands: ALL, ..arith(name, summary, PLAIN, &[], eval).def };
    NnOp::new(def).eval(eval)
}

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    arith("nn.add", "`lhs + rhs`", SEMIGROUP, &[], |cx| zip_with(cx, kernels::add))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Add, x, y)))
        .sums(),
    arith("nn.subtract", "`lhs - rhs`", PLAIN, &[], |cx| zip_with(cx, kernels::subtract))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Sub, x, y)))
        .sums(),
    arith("nn.multiply", "`lhs * rhs`", SEMIGROUP, &[], |cx| zip_with(cx, kernels::multiply))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Mul, x, y)))
        .numbers(Numbers::INTEGRAL.union(Numbers::PRODUCT))
        .over_field(product_over_field),
    arith("nn.divide", "`lhs / rhs`; integers are truncated towards 0", PLAIN, &[], |cx| {
        zip_with(cx, kernels::divide)
    })
    .structured(|cx| both(cx, |s, x, y| divided(s, Binary::Div, x, y)))
    .numbers(Numbers::FITS.union(Numbers::QUOTIENT))
    .over_field(quotient_over_field),
    arith(
        "nn.mod",
        "the remainder of `lhs / rhs`",
        PLAIN,
        &[maybe(
            "fmod",
            AttrKind::Bool,
            "the sign of `lhs` as in C when true, else the sign of `rhs`; false if absent",
        )],
        eval_mod,
    )
    .structured(structured_mod)
    .numbers(Numbers::FITS.union(Numbers::JUMPS)),
    arith("nn.power", "`lhs ^ rhs`, with the element type of `lhs`", PLAIN, &[], |cx| {
        zip_with(cx, kernels::power)
    })
    .structured(structured_power)
    .numbers(Numbers::QUOTIENT)
    .over_field(power_over_field),
    arith("nn.maximum", "the greater", SEMIGROUP, &[], |cx| zip_with(cx, kernels::maximum))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Max, x, y)))
        .numbers(Numbers::CHOSEN)
        .over_field(|cx| Some(cx.polynomial(cx.symmetric()?, 1))),
    arith("nn.minimum", "the lesser", SEMIGROUP, &[], |cx| zip_with(cx, kernels::minimum))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Min, x, y)))
        .numbers(Numbers::CHOSEN)
        .over_field(|cx| Some(cx.polynomial(cx.symmetric()?, 1))),
    arith("nn.prelu", "`lhs` where positive, else `lhs * rhs`", PLAIN, &[], |cx| {
        zip_with(cx, kernels::prelu)
    })
    .structured(|cx| both(cx, scalars::prelu)),
    arith(
        "nn.swiglu",
        "`lhs * sigmoid(alpha * lhs) * rhs`; the operands have one shape",
        Traits::PURE,
        &[maybe("alpha", AttrKind::Float, "1 if absent")],
        |cx| {
            let alpha = cx.attrs().float("alpha").unwrap_or(1.0);
            single(kernels::multiply(&kernels::swish(cx.need(0)?, alpha)?, cx.need(1)?))
        },
    )
    .structured(structured_swiglu),
    arith("nn.bitwise_and", "bits set in both", SEMIGROUP, &[], |cx| {
        zip_with(cx, kernels::bitwise_and)
    })
    .structured(|cx| both(cx, |s, x, y| s.binary(Binary::BitAnd, x, y)))
    .numbers(Numbers::CHOSEN),
    arith("nn.bitwise_or", "bits set in either", SEMIGROUP, &[], |cx| {
        zip_with(cx, kernels::bitwise_or)
    })
    .structured(|cx| both(cx, |s, x, y| s.binary(Binary::BitOr, x, y)))
    .numbers(Numbers::CHOSEN),
    arith("nn.bitwise_xor", "bits set in one", SEMIGROUP, &[], |cx| {
        zip_with(cx, kernels::bitwise_xor)
    })
    .structured(|cx| both(cx, |s, x, y| s.binary(Binary::BitXor, x, y)))
    .numbers(Numbers::CHOSEN),
    arith("nn.left_shift", "`lhs` shifted left by `rhs` bits", PLAIN, &[], |cx| {
        shift(cx, ShiftDirection::Left)
    })
    .structured(|cx| both(cx, |s, x, y| s.binary(Binary::ShiftLeft, x, y)))
    .open(open::shifted),
    arith("nn.right_shift", "`lhs` shifted right by `rhs` bits", PLAIN, &[], |cx| {
        shift(cx, ShiftDirection::Right)
    })
    .structured(|cx| both(cx, |s, x, y| s.binary(Binary::ShiftRight, x, y)))
    .numbers(Numbers::FITS)
    .open(open::shifted),
    arith("nn.logical_and", "both", SEMIGROUP, &[], |cx| zip_with(cx, kernels::logical_and))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::And, x, y)))
        .numbers(Numbers::CHOSEN)
        .roles(&[Role::Truth, Role::Truth]),
    arith("nn.logical_or", "either", SEMIGROUP, &[], |cx| zip_with(cx, kernels::logical_or))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Or, x, y)))
        .numbers(Numbers::CHOSEN)
        .roles(&[Role::Truth, Role::Truth]),
    arith("nn.logical_xor", "exactly one", SEMIGROUP, &[], |cx| zip_with(cx, kernels::logical_xor))
        .structured(|cx| both(cx, |s, x, y| s.binary(Binary::Xor, x, y)))
        .numbers(Numbers::CHOSEN)
        .roles(&[Role::Truth, Role::Truth]),
    compare("nn.equal", "`lhs = rhs`", COMMUTES, |cx| zip_with(cx, kernels::equal))
        .structured(|cx| both(cx, |s, x, y| s.compare(Comparison::Eq, x, y)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    compare("nn.less", "`lhs < rhs`", PLAIN, |cx| zip_with(cx, kernels::less))
        .structured(|cx| both(cx, |s, x, y| s.compare(Comparison::Lt, x, y)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    compare("nn.less_equal", "`lhs <= rhs`", PLAIN, |cx| zip_with(cx, kernels::less_equal))
        .structured(|cx| both(cx, |s, x, y| s.compare(Comparison::Le, x, y)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    compare("nn.greater", "`lhs > rhs`", PLAIN, |cx| zip_with(cx, kernels::greater))
        .structured(|cx| both(cx, |s, x, y| s.compare(Comparison::Gt, x, y)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    compare("nn.greater_equal", "`lhs >= rhs`", PLAIN, |cx| zip_with(cx, kernels::greater_equal))
        .structured(|cx| both(cx, |s, x, y| s.compare(Comparison::Ge, x, y)))
        .numbers(Numbers::CHOSEN.union(Numbers::JUMPS)),
    n_ary("nn.add_n", "the sum of the inputs", |cx| single(kernels::sum(&cx.all()?)))
        .structured(|cx| folded(cx, Binary::Add))
        .sums(),
    n_ary("nn.mean_n", "the mean of the inputs", |cx| single(kernels::mean(&cx.all()?)))
        .structured(structured_mean_n)
        .over_field(|cx| cx.mean(cx.operand_count() as f64)),
    n_ary("nn.max_n", "the greatest of the inputs", |cx| single(kernels::max(&cx.all()?)))
        .structured(|cx| folded(cx, Binary::Max))
        .numbers(Numbers::CHOSEN),
    n_ary("nn.min_n", "the least of the inputs", |cx| single(kernels::min(&cx.all()?)))
        .structured(|cx| folded(cx, Binary::Min))
        .numbers(Numbers::CHOSEN),
    NnOp::new(OpDef {
        operands: &[
            operand("condition", "booleans"),
            operand("x", "taken where true"),
            operand("y", "taken where false"),
        ],
        results: OUT,
        traits: PLAIN,
        infer: Some(infer_where),
        ..OpDef::new("nn.where", "`x` where `condition`, else `y`")
    })
    .eval(eval_where)
    .structured(structured_where)
    .moves()
    .roles(&[Role::Truth]),
];

fn product_over_field(cx: &Evaluation<'_>) -> Option<OverField> {
    Some(cx.polynomial(prime::multiply(cx.operand(0)?, cx.operand(1)?).ok()?, 1))
}

fn quotient_over_field(cx: &Evaluation<'_>) -> Option<OverField> {
    let inverse = prime::map(cx.operand(1)?, prime::inverse).ok()?;
    Some(cx.polynomial(prime::multiply(cx.operand(0)?, &inverse).ok()?, 1))
}

/// By a number from 0 to 8, or 1/2; by any other, nothing is known of it.
fn power_over_field(cx: &Evaluation<'_>) -> Option<OverField> {
    const DEGREE: u32 = 8;
    let x = cx.operand(0)?;
    cx.operand(1)?;
    let exponent = cx.number(1).filter(|exponent| exponent.rank() <= x.rank());
    let power = match exponent.map(Tensor::f64s).transpose().ok()?.as_deref() {
        Some([n]) if (0.0..=8.0).contains(n) && n.fract() == 0.0 => {
            let n = *n as u64;
            prime::map(x, |base| prime::power(base, n)).ok()?
        }
        Some([0.5]) => prime::map(x, prime::root).ok()?,
        _ => cx.opaque()?,
    };
    Some(cx.polynomial(power, DEGREE))
}

fn joined(cx: &InferCx<'_>) -> Result<Shaped> {
    let shapes: Vec<Shaped> =
        (0..cx.operands.len()).map(|i| cx.tensor(i)).collect::<Result<_>>()?;
    match cx.def.name {
        "nn.power" => {}
        "nn.where" => one_element(cx, [1, 2])?,
        _ => one_element(cx, 0..cx.operands.len())?,
    }
    let first = shapes.first().ok_or_else(|| infer_error!("`{}` has no operand", cx.def.name))?;
    let dims = broadcast(cx.context(), &shapes.iter().collect::<Vec<_>>())?;
    Ok(Shaped { dims, element: first.element })
}

fn infer_arith(cx: &InferCx<'_>) -> Result {
    let shaped = joined(cx)?;
    let f: fn(&Expr, &Expr) -> Option<Expr> = match cx.def.name {
        "nn.add" => Expr::try_add,
        "nn.subtract" => Expr::try_sub,
        "nn.multiply" => Expr::try_mul,
        "nn.divide" => Expr::trunc_div,
        "nn.mod" => modulo_of(cx),
        "nn.maximum" => Expr::max,
        "nn.minimum" => Expr::min,
        _ => return one(cx, &shaped),
    };
    let contents = zip(cx, f);
    one_with(cx, &shaped, contents)
}

/// The C remainder is the floor remainder only for operands that are not negative.
fn modulo_of(cx: &InferCx<'_>) -> fn(&Expr, &Expr) -> Option<Expr> {
    if cx.attrs().flag("fmod") { |_, _| None } else { Expr::modulo }
}

/// Contents of operands of rank 0 or 1, combined element by element.
fn zip(cx: &InferCx<'_>, f: impl Fn(&Expr, &Expr) -> Option<Expr>) -> Option<Contents> {
    let flat = |i: usize| cx.tensor(i).ok()?.rank().filter(|&rank| rank <= 1);
    (0..2).try_for_each(|i| flat(i).map(drop))?;
    let (a, b) = (cx.contents(0)?, cx.contents(1)?);
    let n = match (a.len(), b.len()) {
        (n, m) if n == m => n,
        (n, 1) => n,
        (1, m) => m,
        _ => return None,
    };
    let at = |c: &Contents, i: usize| if c.len() == 1 { c[0].clone() } else { c[i].clone() };
    Some((0..n).map(|i| f(at(&a, i).as_ref()?, at(&b, i).as_ref()?)).collect())
}

fn infer_compare(cx: &InferCx<'_>) -> Result {
    let shaped = Shaped { element: cx.context().int_type(1), ..joined(cx)? };
    let facts = dims::facts(cx.context());
    let holds = |a: &Expr, b: &Expr| match cx.def.name {
        "nn.equal" => facts.equal(a, b),
        "nn.less" => facts.less(a, b),
        "nn.less_equal" => facts.less_equal(a, b),
        "nn.greater" => facts.less(b, a),
        _ => facts.less_equal(b, a),
    };
    let contents = zip(cx, |a, b| match holds(a, b) {
        Truth::True => Some(Expr::int(1)),
        Truth::False => Some(Expr::int(0)),
        Truth::Unknown => None,
    });
    one_with(cx, &shaped, contents)
}

fn infer_where(cx: &InferCx<'_>) -> Result {
    let shaped = Shaped { element: cx.tensor(1)?.element, ..joined(cx)? };
    let contents = select(cx);
    one_with(cx, &shaped, contents)
}

/// Contents of a choice whose condition is known.
fn select(cx: &InferCx<'_>) -> Option<Contents> {
    let flat = |i: usize| cx.tensor(i).ok()?.rank().filter(|&rank| rank <= 1);
    (0..3).try_for_each(|i| flat(i).map(drop))?;
    let (condition, x, y) = (cx.contents(0)?, cx.contents(1)?, cx.contents(2)?);
    let n = condition.len().max(x.len()).max(y.len());
    if [&condition, &x, &y].iter().any(|c| c.len() != n && c.len() != 1) {
        return None;
    }
    let at = |c: &Contents, i: usize| if c.len() == 1 { c[0].clone() } else { c[i].clone() };
    let pick = |i: usize| match at(&condition, i)?.as_int()? {
        0 => at(&y, i),
        _ => at(&x, i),
    };
    Some((0..n).map(pick).collect())
}

fn zip_with(
    cx: &EvalCx<'_>,
    kernel: fn(&Tensor, &Tensor) -> tangram_tensor::Result<Tensor>,
) -> Evaluated {
    single(kernel(cx.need(0)?, cx.need(1)?))
}

fn shift(cx: &EvalCx<'_>, direction: ShiftDirection) -> Evaluated {
    single(kernels::bit_shift(cx.need(0)?, cx.need(1)?, direction))
}

fn eval_mod(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::modulo(cx.need(0)?, cx.need(1)?, cx.attrs().flag("fmod")))
}

fn eval_where(cx: &EvalCx<'_>) -> Evaluated {
    single(kernels::select(cx.need(0)?, cx.need(1)?, cx.need(2)?))
}

/// One parallel loop nest over two operands.
fn both(
    cx: &StructuredCx<'_>,
    f: impl FnOnce(&mut Stage, ScalarId, ScalarId) -> ScalarId,
) -> Option<Structured> {
    elementwise(cx, |s, xs| match xs {
        &[x, y] if s.type_of(x) == s.type_of(y) => Some(f(s, x, y)),
        _ => None,
    })
}

fn structured_mod(cx: &StructuredCx<'_>) -> Option<Structured> {
    let function = if cx.attrs().flag("fmod") { Binary::Rem } else { Binary::Mod };
    both(cx, |s, x, y| divided(s, function, x, y))
}

/// A quotient or remainder; of integers by zero, none.
fn divided(s: &mut Stage, function: Binary, x: ScalarId, y: ScalarId) -> ScalarId {
    let y = if s.type_of(y).is_int() { s.unary(Unary::Nonzero, y) } else { y };
    s.binary(function, x, y)
}

/// A power; of integers no negative one of zero, which is a quotient by it.
fn powered(s: &mut Stage, x: ScalarId, y: ScalarId) -> ScalarId {
    let element = s.type_of(y);
    if !(element.is_int() && element.is_signed()) {
        return s.binary(Binary::Pow, x, y);
    }
    let (zero, one) = (s.number(y, 0.0), s.number(x, 1.0));
    let negative = s.compare(Comparison::Lt, y, zero);
    let divisor = s.select(negative, x, one);
    let divisor = s.unary(Unary::Nonzero, divisor);
    let base = s.select(negative, divisor, x);
    s.binary(Binary::Pow, base, y)
}

/// Mixed types in `f64`, integers in `i64`, which wraps alike; a square or cube by an exponent of
/// one element is a product.
fn structured_power(cx: &StructuredCx<'_>) -> Option<Structured> {
    let (x, y) = (cx.operand(0)?, cx.operand(1)?);
    let single = y.extents.iter().all(|n| n.as_int() == Some(1)) && y.rank() <= x.rank();
    let (base, exponent) = (x.element, y.element);
    let between = match (base.is_float(), exponent.is_float()) {
        (true, true) | (false, false) if base == exponent => None,
        (true, _) | (false, true) => Some(DType::F64),
        // Exponents from 2^63 on and bases that differ in sign do not fit.
        (false, false) if [base, exponent].contains(&DType::U64) => return None,
        (false, false) => Some(DType::I64),
    };
    elementwise(cx, |s, xs| {
        let &[x, y] = xs else { return None };
        let (x, y) = match between {
            Some(element) => (s.cast(element, x), s.cast(element, y)),
            None => (x, y),
        };
        if !(single && between.is_none() && base.is_float()) {
            return Some(powered(s, x, y));
        }
        match cx.constant(1).as_ref().and_then(number_of) {
            Some(Number::Float(_, 2.0)) => Some(s.mul(x, x)),
            Some(Number::Float(_, 3.0)) => Some(cube(s, x)),
            Some(_) => Some(s.binary(Binary::Pow, x, y)),
            None => {
                let power = s.binary(Binary::Pow, x, y);
                let (square, cube) = (s.mul(x, x), cube(s, x));
                let [two, three] = [2.0, 3.0].map(|n| s.number(y, n));
                let is_three = s.compare(Comparison::Eq, y, three);
                let other = s.select(is_three, cube, power);
                let is_two = s.compare(Comparison::Eq, y, two);
                Some(s.select(is_two, square, other))
            }
        }
    })
}

fn cube(s: &mut Stage, x: ScalarId) -> ScalarId {
    let square = s.mul(x, x);
    s.mul(square, x)
}

/// The activation is rounded before the product.
fn structured_swiglu(cx: &StructuredCx<'_>) -> Option<Structured> {
    let alpha = cx.attrs().float("alpha").unwrap_or(1.0);
    let element = cx.operand(0).filter(|x| x.element.is_float())?.element;
    both(cx, |s, x, y| {
        let gate = scalars::swish(s, x, alpha);
        let gate = s.rounded(element, gate);
        s.mul(gate, y)
    })
}

/// All operands from the left, rounded after each.
fn fold(s: &mut Stage, element: DType, xs: &[ScalarId], by: Binary) -> Option<ScalarId> {
    let (&first, rest) = xs.split_first()?;
    rest.iter().try_fold(first, |folded, &x| {
        (s.type_of(x) == s.type_of(folded)).then_some(())?;
        let folded = s.binary(by, folded, x);
        Some(s.rounded(element, folded))
    })
}

fn folded(cx: &StructuredCx<'_>, by: Binary) -> Option<Structured> {
    let element = cx.operand(0)?.element;
    elementwise(cx, |s, xs| fold(s, element, xs, by))
}

fn structured_mean_n(cx: &StructuredCx<'_>) -> Option<Structured> {
    let element = cx.operand(0).filter(|x| x.element.is_float())?.element;
    elementwise(cx, |s, xs| {
        let sum = fold(s, element, xs, Binary::Add)?;
        let count = s.number(sum, xs.len() as f64);
        Some(s.div(sum, count))
    })
}

fn structured_where(cx: &StructuredCx<'_>) -> Option<Structured> {
    let out = cx.result(0)?;
    let mut stage = Stage::over(&out.extents);
    let loops: Vec<usize> = (0..out.rank()).collect();
    let mut load = |i| stage.broadcast_exact(&cx.operand(i)?, &loops);
    let (condition, x, y) = (load(0)?, load(1)?, load(2)?);
    (stage.type_of(x) == stage.type_of(y)).then_some(())?;
    let value = stage.select(condition, x, y);
    Some(Structured::one(stage.store_parallel(&out, value)))
}
