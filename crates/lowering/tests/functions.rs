//! The elementary functions of compiled code beside the C library's, which compute in `double`.

use std::process::Command;

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
        double most = 0; \
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

fn measure(step: u64) {
    let folder = tempfile::tempdir().expect("a folder for the program");
    let (source, program) = (folder.path().join("functions.c"), folder.path().join("functions"));
    let text = format!("{}{PROGRAM}", tangram_lowering::elementary_functions());
    std::fs::write(&source, text).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-w", "-o"]).arg(&program).arg(&source).arg("-lm");
    assert!(compiler.status().expect("a C compiler").success());
    let out = Command::new(&program).arg(step.to_string()).output().expect("the program runs");
    let text = String::from_utf8(out.stdout).expect("text");
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
