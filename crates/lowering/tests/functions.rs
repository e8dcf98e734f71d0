//! The elementary functions of compiled code beside the C library's, which compute in `double`, and
//! its conversions of floats of 16 bits beside the reference kernel.

use std::process::Command;

use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// A program that prints, for each function, its largest error in units of the last place over
/// every `step`-th `float`, and the number of results that are wrong in kind.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static double sigmoid_of_double(double x) { return 1 / (1 + exp(-x)); }

/* An infinity is right where the exact value is at most half a step from the largest number. */
static double error(float found, double exact)
{
    if (exact != exact)
        return found != found ? 0 : 1e9;
    if (exact == 0 && !signbit(found) != !signbit(exact))
        return 1e9;
    if (isinf(found))
        return fabs(exact) >= 3.4028234e38 && (found > 0) == (exact > 0) ? 0 : 1e9;
    if (isinf(exact))
        return 1e9;
    int exponent;
    frexp(exact, &exponent);
    double unit = ldexp(1, exponent - 24);
    if (unit < ldexp(1, -149))
        unit = ldexp(1, -149);
    return fabs(found - exact) / unit;
}

#define MEASURE(name, function, exact) \
    { \
        double most = error(function(-0.0f), exact(-0.0)); \
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) { \
            const float x = tg_float_of_bits((int32_t)(uint32_t)bits); \
            const double own = error(function(x), exact((double)x)); \
            most = own > most ? own : most; \
        } \
        printf("%s %f\n", name, most); \
    }

int main(int count, char **arguments)
{
    const uint64_t step = strtoull(arguments[1], NULL, 10);
    MEASURE("exp", tg_expf, exp)
    MEASURE("log", tg_logf, log)
    MEASURE("tanh", tg_tanhf, tanh)
    MEASURE("erf", tg_erff, erf)
    MEASURE("sigmoid", tg_sigmoidf, sigmoid_of_double)
    return count != 2;
}
"#;

/// Largest errors, in units of the last place.
const BOUNDS: [(&str, f64); 5] =
    [("exp", 1.0), ("log", 1.0), ("tanh", 1.5), ("erf", 3.0), ("sigmoid", 2.5)];

/// What a program prints that has `main` behind the elementary functions.
fn printed(main: &str, argument: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder for the program");
    let (source, program) = (folder.path().join("functions.c"), folder.path().join("functions"));
    let text = format!("{}{main}", tangram_lowering::elementary_functions());
    std::fs::write(&source, text).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-w", "-o"]).arg(&program).arg(&source).arg("-lm");
    assert!(compiler.status().expect("a C compiler").success());
    let out = Command::new(&program).arg(argument).output().expect("the program runs");
    String::from_utf8(out.stdout).expect("text")
}

fn measure(step: u64) {
    let text = printed(PROGRAM, &step.to_string());
    println!("{text}");
    for (name, bound) in BOUNDS {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        let error: f64 = line.expect("a line").parse().expect("a number");
        assert!(error <= bound, "{name}: {error} units of the last place");
    }
}

#[test]
fn errors_are_within_their_bounds() {
    measure(9973);
}

/// Every `float` there is.
#[test]
#[ignore = "long: a minute and more"]
fn errors_are_within_their_bounds_everywhere() {
    measure(1);
}

/// A program that prints the bits of every float of 16 bits as a `float`, and of every `step`-th
/// `float`, and numbers of `double` around those with few bits, as floats of 16 bits.
const CONVERSIONS: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static void narrowed(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    printf("d %llu %u %u\n", (unsigned long long)bits, tg_half_of_double(x), tg_bfloat_of_double(x));
}

int main(int count, char **arguments)
{
    const uint64_t step = strtoull(arguments[1], NULL, 10);
    for (uint32_t x = 0; x <= UINT16_MAX; x++)
        printf("w %u %u %u\n", x, (uint32_t)tg_bits_of_float(tg_float_of_half(x)),
            (uint32_t)tg_bits_of_float(tg_float_of_bfloat(x)));
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
        const float x = tg_float_of_bits((int32_t)(uint32_t)bits);
        printf("n %u %u %u\n", (uint32_t)bits, tg_half_of_float(x), tg_bfloat_of_float(x));
    }
    /* Half way between two floats of 16 bits, and as near to that as a double can be. */
    for (uint32_t x = 1; x < UINT16_MAX; x += 37) {
        const double ends[] = {tg_float_of_half(x), tg_float_of_half(x + 1), tg_float_of_bfloat(x),
            tg_float_of_bfloat(x + 1)};
        for (int i = 0; i < 4; i += 2) {
            const double middle = (ends[i] + ends[i + 1]) / 2;
            narrowed(middle);
            narrowed(nextafter(middle, INFINITY));
            narrowed(nextafter(middle, -INFINITY));
            narrowed(middle * 1e-30);
        }
    }
    return count != 2;
}
"#;

/// Whether two bit patterns of a type are the same number; of NaN there is one.
fn same(element: DType, found: u32, expected: u32) -> bool {
    let (magnitude, infinity) = match element {
        DType::F16 => (0x7fff, 0x7c00),
        DType::BF16 => (0x7fff, 0x7f80),
        _ => (0x7fff_ffff, 0x7f80_0000),
    };
    let is_nan = |bits: u32| bits & magnitude > infinity;
    found == expected || (is_nan(found) && is_nan(expected))
}

#[test]
fn floats_of_16_bits_convert_as_the_kernel_does() {
    let halves = [DType::F16, DType::BF16];
    let text = printed(CONVERSIONS, "9973");
    let mut lines = 0;
    for line in text.lines() {
        lines += 1;
        let mut words = line.split(' ');
        let kind = words.next().expect("a kind");
        let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
        for (at, half) in halves.into_iter().enumerate() {
            let found = numbers[at + 1] as u32;
            let (from, to) = match kind {
                "w" => (
                    Tensor::from_bytes(half, [], (numbers[0] as u16).to_ne_bytes().to_vec()),
                    DType::F32,
                ),
                "n" => (Ok(Tensor::scalar(f32::from_bits(numbers[0] as u32))), half),
                _ => (Ok(Tensor::scalar(f64::from_bits(numbers[0]))), half),
            };
            let expected = cast(&from.expect("a number"), to).expect("a number");
            let expected =
                expected.bytes().iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
            assert!(same(to, found, expected), "{line}: {found:#x} for {expected:#x}");
        }
    }
    assert!(lines > 400_000, "{lines} conversions");
}
