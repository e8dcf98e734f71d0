//! What the functions of a program use: types, rounding down, elementary functions.

use super::half::CONVERSIONS;

/// The start of a source.
pub(crate) fn preamble() -> String {
    format!("{FUNCTIONS}{CONVERSIONS}")
}

/// Types and elementary functions.
///
/// The functions of one `float` have no branch, so that compilers vectorise loops over them. Their
/// polynomials are best approximations found by Lawson's iteration, rounded to `float`;
/// `tests/functions.rs` states their errors and measures them on every `float`.
const FUNCTIONS: &str = r#"#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#define TANGRAM_SIMD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
/* Loops of one vector are to be vectorised, not unrolled before that. */
#define TANGRAM_SIMD _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define TANGRAM_SIMD
#endif

/* Compilers that guess how often a loop runs take deep ones for cold, and do not vectorise them. */
#if defined(__GNUC__)
#define TANGRAM_HOT __attribute__((hot))
#define TANGRAM_PREFETCH(from) __builtin_prefetch(from, 0, 2)
#define tg_likely(x) __builtin_expect(!!(x), 1)
#else
#define TANGRAM_HOT
#define TANGRAM_PREFETCH(from)
#define tg_likely(x) (x)
#endif

/* A tile is in memory from here on, and no value stays in a vector register from before. Compilers keep
   the constants of what follows a sum in registers while the sum runs, and then the sums of its tile
   in memory. */
#define tg_forget(tile, ...) __asm__ volatile("" : "+m"(tile) : : __VA_ARGS__)
#if defined(__GNUC__) && defined(__AVX512F__)
#define TANGRAM_FORGET(tile) tg_forget(tile, \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
    "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", \
    "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
#elif defined(__GNUC__) && defined(__x86_64__)
#define TANGRAM_FORGET(tile) tg_forget(tile, \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
    "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__GNUC__) && defined(__aarch64__)
#define TANGRAM_FORGET(tile) tg_forget(tile, \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", \
    "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", \
    "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", \
    "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#else
#define TANGRAM_FORGET(tile)
#endif

/* A vector that several rows of a tile are updated with is loaded once. Where registers seem scarce, gcc
   puts the load into each update instead: 4 rows of 2 vectors wait for 12 loads instead of 6 then, and
   take half as long again. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define TANGRAM_KEEP(vector) __asm__("" : "+v"(vector));
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define TANGRAM_KEEP(vector) __asm__("" : "+x"(vector));
#else
#define TANGRAM_KEEP(vector)
#endif

#define tg_floord(n, d) ((n) / (d) - ((n) % (d) < 0))
#define tg_mod(n, d) ((n) - (d) * tg_floord(n, d))
#define tg_lines(bytes) (((bytes) + 63) / 64 * 64)
#define tg_min(a, b) ((a) < (b) ? (a) : (b))
#define tg_max(a, b) ((a) > (b) ? (a) : (b))

/* The iterations of `count` loops that part `part` of `parts` runs: a range of one loop, and all of
   the others. That is the first one in `order` of which no range is an eighth longer than others;
   where there is none, the one that divides best. */
static inline void tg_share(int count, const int64_t *counts, const int *order, int64_t part,
    int64_t parts, int64_t *first, int64_t *last)
{
    int chosen = 0;
    double best = 0;
    for (int i = 0; i < count; i++) {
        const int64_t own = counts[order[i]], longest = (own + parts - 1) / parts;
        const double used = own > 0 ? (double)own / (double)(longest * parts) : 1;
        if (best < 0.89 && used > best)
            chosen = order[i], best = used;
        first[i] = 0, last[i] = counts[i];
    }
    if (parts > 1) {
        first[chosen] = counts[chosen] * part / parts;
        last[chosen] = counts[chosen] * (part + 1) / parts;
    }
}

static inline float tg_float_of_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int32_t tg_bits_of_float(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* x = k ln 2 + r: e^r, a polynomial on |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer: `shifted`
   is k and that. */
static inline float tg_exp_of_restf(float x, float *shifted)
{
    *shifted = x * 1.44269504f + 12582912.0f;
    const float k = *shifted - 12582912.0f;
    /* ln 2 in two parts; the product with the first one is exact. */
    const float r = (x - k * 0.693145752f) - k * 1.42860677e-6f;
    float p = 1.991852478e-4f;
    p = p * r + 1.394617721e-3f;
    p = p * r + 8.333263919e-3f;
    p = p * r + 4.166626930e-2f;
    p = p * r + 1.666666716e-1f;
    p = p * r + 0.5f;
    return p * (r * r) + r + 1.0f;
}

static inline float tg_expf(float x)
{
    float shifted;
    const float p = tg_exp_of_restf(x, &shifted);
    /* 2^k by two factors that are normal numbers. Where k is no such integer the ends below say what
       comes, or p is a NaN. */
    const uint32_t k = (uint32_t)tg_bits_of_float(shifted) - 0x4b400000u;
    const uint32_t half = (uint32_t)((int32_t)k >> 1);
    const float y = p * tg_float_of_bits((int32_t)((half + 127u) << 23))
        * tg_float_of_bits((int32_t)((k - half + 127u) << 23));
    const float positive = x < -104.0f ? 0.0f : y;
    return x > 89.0f ? INFINITY : positive;
}

/* x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); the polynomial is log(1 + f). */
static inline float tg_logf(float x)
{
    const int32_t tiny = x < 1.17549435e-38f;
    const float scaled = tiny ? x * 8388608.0f : x;
    const int32_t bits = tg_bits_of_float(scaled);
    const int32_t e = (bits - 0x3f3504f3) >> 23;
    const float f = tg_float_of_bits(bits - (int32_t)((uint32_t)e << 23)) - 1.0f;
    float p = 6.915146858e-2f;
    p = p * f - 1.178969592e-1f;
    p = p * f + 1.187301651e-1f;
    p = p * f - 1.238436997e-1f;
    p = p * f + 1.421865523e-1f;
    p = p * f - 1.666924953e-1f;
    p = p * f + 2.000222653e-1f;
    p = p * f - 2.499998659e-1f;
    p = p * f + 3.333331048e-1f;
    const float k = (float)(tiny ? e - 23 : e);
    const float z = f * f;
    const float low = p * (z * f) - 0.5f * z + k * 1.42860677e-6f;
    const float y = low + f + k * 0.693145752f;
    const float end = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : y;
    return x != x || x == INFINITY ? x : end;
}

static inline float tg_sigmoidf(float x)
{
    const float e = tg_expf(-__builtin_fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

static inline double tg_sigmoid(double x)
{
    const double e = exp(-__builtin_fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* e^x between -87 and 88; anything for a NaN. `shifted` has k in its low bits, and k in the exponent is
   a factor. */
static inline float tg_exp_nearf(float x)
{
    float shifted;
    const float p = tg_exp_of_restf(x, &shifted);
    const uint32_t exponent = (uint32_t)tg_bits_of_float(shifted) << 23;
    return tg_float_of_bits((int32_t)((uint32_t)tg_bits_of_float(p) + exponent));
}

/* An odd polynomial near 0, where the quotient would cancel; a NaN goes through it. Its sum is +0 for -0. */
static inline float tg_tanhf(float x)
{
    const float a = __builtin_fabsf(x);
    const float z = x * x;
    float p = -5.603913683e-3f;
    p = p * z + 2.055171877e-2f;
    p = p * z - 5.371410772e-2f;
    p = p * z + 1.333115250e-1f;
    p = p * z - 3.333327174e-1f;
    const float small = p * z * x + x;
    const float t = a > 10.0f ? 10.0f : a;
    const float big = 1.0f - 2.0f / (tg_exp_nearf(2.0f * t) + 1.0f);
    return __builtin_copysignf(a >= 0.64f ? big : small, x);
}

/* An odd polynomial up to 1; beyond, 1 - e^q where q is the polynomial of log(erfc x). */
static inline float tg_erff(float x)
{
    const float a = __builtin_fabsf(x);
    const float z = x * x;
    float p = 7.853860734e-5f;
    p = p * z - 8.010193706e-4f;
    p = p * z + 5.188327748e-3f;
    p = p * z - 2.685381286e-2f;
    p = p * z + 1.128358543e-1f;
    p = p * z - 3.761262596e-1f;
    p = p * z + 1.128379107f;
    const float small = x * p;
    const float t = a > 4.0f ? 4.0f : a;
    float q = 1.863792568e-4f;
    q = q * t - 2.947658999e-3f;
    q = q * t + 2.183806710e-2f;
    q = q * t - 1.031067595e-1f;
    q = q * t - 6.381448507e-1f;
    q = q * t - 1.127089143f;
    q = q * t - 3.415223036e-4f;
    const float big = 1.0f - tg_exp_nearf(q);
    return a >= 1.0f ? __builtin_copysignf(big, x) : small;
}

static inline float tg_fmodf(float a, float b)
{
    const float r = fmodf(a, b);
    return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

static inline double tg_fmod(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

static inline int64_t tg_imod(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return 0;
    const int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t tg_ipow(int64_t a, int64_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    uint64_t power = 1, base = (uint64_t)a;
    for (; b > 0; b >>= 1, base *= base)
        if (b & 1)
            power *= base;
    return (int64_t)power;
}

/* As x86 converts: what does not fit becomes the least number, and fewer bits are its low ones. */
static inline int64_t tg_int64_of_double(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}
static inline int32_t tg_int32_of_double(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
static inline uint64_t tg_uint64_of_double(double x)
{
    if (x >= 0.0)
        return x < 18446744073709551616.0 ? (uint64_t)x : UINT64_MAX;
    return (uint64_t)tg_int64_of_double(x);
}
#define tg_int8_of_double(x) ((int8_t)tg_int64_of_double(x))
#define tg_int16_of_double(x) ((int16_t)tg_int64_of_double(x))
#define tg_uint8_of_double(x) ((uint8_t)tg_int64_of_double(x))
#define tg_uint16_of_double(x) ((uint16_t)tg_int64_of_double(x))
#define tg_uint32_of_double(x) ((uint32_t)tg_int64_of_double(x))
#define tg_int8_of_float tg_int8_of_double
#define tg_int16_of_float tg_int16_of_double
#define tg_int32_of_float tg_int32_of_double
#define tg_int64_of_float tg_int64_of_double
#define tg_uint8_of_float tg_uint8_of_double
#define tg_uint16_of_float tg_uint16_of_double
#define tg_uint32_of_float tg_uint32_of_double
#define tg_uint64_of_float tg_uint64_of_double
"#;
