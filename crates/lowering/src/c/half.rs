//! Floats of 16 bits in C: their bits in memory, and arithmetic in `float`.
//!
//! C has no type for them that every compiler knows, so an element is an `uint16_t`. A body
//! computes with the `float` of it and rounds each result, as the reference kernels do.

use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// Conversions, without branches: compilers vectorise loops over them.
///
/// Rounding is to nearest, ties to even. The sum of `bits` and half a unit of the last place that
/// stays carries into the exponent where it has to; a number below the least normal one is added to
/// one whose last place is that of the least number, and the addition rounds.
pub(super) const CONVERSIONS: &str = r"
static inline float tg_float_of_half(uint16_t x)
{
    const uint32_t rest = (uint32_t)(x & 0x7fff) << 13;
    /* Below the least normal number, the bits count units of 2^-24. */
    const float small = tg_float_of_bits((int32_t)(rest + 0x38800000)) - 6.103515625e-5f;
    const uint32_t normal = rest + ((x & 0x7c00) == 0x7c00 ? 0x70000000u : 0x38000000u);
    const uint32_t bits = (x & 0x7c00) ? normal : (uint32_t)tg_bits_of_float(small);
    return tg_float_of_bits((int32_t)(bits | (uint32_t)(x & 0x8000) << 16));
}

static inline uint16_t tg_half_of_float(float x)
{
    const uint32_t all = (uint32_t)tg_bits_of_float(x), bits = all & 0x7fffffff;
    const uint32_t small = (uint32_t)tg_bits_of_float(tg_float_of_bits((int32_t)bits) + 0.5f) - 0x3f000000;
    const uint32_t normal = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    const uint32_t finite = bits < 0x38800000 ? small : normal;
    const uint32_t large = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
    return (uint16_t)((bits < 0x47800000 ? finite : large) | (all >> 16 & 0x8000));
}

static inline float tg_float_of_bfloat(uint16_t x)
{
    return tg_float_of_bits((int32_t)((uint32_t)x << 16));
}

static inline uint16_t tg_bfloat_of_float(float x)
{
    const uint32_t bits = (uint32_t)tg_bits_of_float(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

/* The nearer to 0 of the two floats next to x, with an odd last bit where it is not x: a rounding
   after this one gives what one rounding of x would. */
static inline float tg_odd_float(double x)
{
    const float near = (float)x;
    const int32_t bits = tg_bits_of_float(near);
    const int32_t step = __builtin_fabs((double)near) > __builtin_fabs(x) ? -1 : 1;
    return near != near || (double)near == x || bits & 1 ? near : tg_float_of_bits(bits + step);
}
#define tg_half_of_double(x) tg_half_of_float(tg_odd_float(x))
#define tg_bfloat_of_double(x) tg_bfloat_of_float(tg_odd_float(x))
";

/// Whether an element is a float of 16 bits.
pub(super) fn is_half(element: DType) -> bool {
    matches!(element, DType::F16 | DType::BF16)
}

/// What arithmetic on a type is done in.
pub(super) fn arithmetic(element: DType) -> DType {
    if is_half(element) { DType::F32 } else { element }
}

fn name(element: DType) -> &'static str {
    if element == DType::F16 { "half" } else { "bfloat" }
}

/// A number in the type that its arithmetic is done in.
pub(super) fn widened(element: DType, x: &str) -> String {
    if is_half(element) { format!("tg_float_of_{}({x})", name(element)) } else { x.to_owned() }
}

/// A result of arithmetic in its type.
pub(super) fn rounded(element: DType, x: String) -> String {
    if is_half(element) { of_float(element, DType::F32, &x) } else { x }
}

/// The float of 16 bits next to a number of type `from`; integers are rounded to `float` first.
pub(super) fn of_float(element: DType, from: DType, x: &str) -> String {
    let from = if from == DType::F64 { "double" } else { "float" };
    format!("tg_{}_of_{from}(({from})({x}))", name(element))
}

/// The bits of a number as C.
pub(super) fn literal(element: DType, value: f64) -> String {
    let rounded = cast(&Tensor::scalar(value), element);
    let bits = rounded.map(|one| u16::from_ne_bytes([one.bytes()[0], one.bytes()[1]]));
    format!("((uint16_t){:#06x})", bits.unwrap_or_default())
}
