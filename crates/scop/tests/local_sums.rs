//! Sums in local variables that are stored at last: they gather in the element itself, so that
//! loops around them can be jammed, and the bits stay.

mod support;

use support::{PRINTF, in_tiles, marked, print_the_same};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, rewrite};

/// A program around a part: what it computes is printed to the last bit.
fn program(part: &str) -> String {
    format!(
        "{PRINTF}static float w[24 * 24], x[24], out[48];
static double A[24][24], y[24], z[24];
static float fits(float v) {{ return v > 0.5f ? v : 0.25f * v; }}
int main(void) {{
  int n = 23;
  for (int i = 0; i < 24; i++) {{
    x[i] = 1.0f / (i + 3); y[i] = 1.0 / (i + 7); z[i] = i;
    for (int j = 0; j < 24; j++) {{ w[i * 24 + j] = (i * 7 + j * 5) % 11 / 3.0f; A[i][j] = i - j / 7.0; }}
  }}
  float last = 0;
#pragma scop
{part}
#pragma endscop
  for (int i = 0; i < 48; i++) printf(\"%a \", out[i]);
  for (int i = 0; i < 24; i++) printf(\"%a %a %a\\n\", y[i], z[i], A[i][i]);
  printf(\"%a\\n\", last);
}}
"
    )
}

/// Returns whether a part has no scalar of its own left, after both forms of it were run.
fn gathers_in_place(name: &str, part: &str) -> bool {
    let text = program(part);
    let parts = marked(&text);
    print_the_same(name, &text, &in_tiles(&text, &parts));
    !parts[0].scop.arrays.iter().any(|array| array.local && array.extents.is_empty())
}

#[test]
fn sums_gather_in_the_element_that_they_are_stored_into() {
    for (name, part) in [
        (
            "row",
            "for (int i = 0; i < n; i++) {
    float v = 0.0f;
    for (int j = 0; j < n; j++) v += w[i * n + j] * x[j];
    out[i] = v;
  }",
        ),
        (
            "late",
            "for (int i = 0; i < n; i++) {
    double s;
    s = A[i][0];
    for (int j = 1; j < n; j++) s = s + A[i][j] * y[j];
    z[i] = s;
  }",
        ),
        (
            "deep",
            "for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) {
    float s = x[i];
    for (int k = 0; k < n - 17; k++) { for (int l = k; l < n - 17; l++) s -= w[24 * k + l] * x[j]; s *= 0.5f; }
    if (i < 7) s += 1.0f;
    out[2 * i + j] = s;
  }",
        ),
        (
            "two",
            "for (int i = 0; i < n; i++) {
    float a = 0.0f; double b = 1.0;
    for (int j = 0; j < n; j++) { a += w[24 * i + j] * x[j]; b += A[i][j] * y[j]; }
    out[i] = a; z[i] = b;
  }",
        ),
        (
            "scaled",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v / n; }",
        ),
        (
            "choice",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += w[24 * i + j]; v *= x[i]; out[i] = v <= 0.5f ? 1.0f : v; }",
        ),
        (
            "from itself",
            "for (int i = 0; i < n; i++) { float v = x[0] * out[i]; for (int j = 0; j < n; j++) v += w[24 * i + j]; out[i] = v; }",
        ),
        // Other elements of the array are read: loops say that they are others.
        (
            "triangle",
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {
    double s = A[i][j];
    for (int k = 0; k < j; k++) s -= A[i][k] * A[j][k];
    A[i][j] = s / A[j][j];
  }",
        ),
        // A product is no declaration of a pointer.
        (
            "factor",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = last * v; }",
        ),
        // What follows reads the element, in a loop, too.
        (
            "loop behind",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v;
    for (int j = 0; j < n; j++) y[j] += v; }",
        ),
        (
            "after",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v; y[i] = v; }",
        ),
        (
            "mirrored",
            "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {
    double s = 0.0;
    for (int k = 0; k < n; k++) s += y[k] * (i - z[k] * j);
    A[i][j] = s; A[j][i] = s;
  }",
        ),
        (
            "numbers",
            "for (int i = 0; i < 23; i++) { double v = 0; for (int j = 0; j < 23; j++) v += A[i][j] * y[j]; z[i] = v; }",
        ),
        (
            "data",
            "for (int i = 0; i < n; i++) {
    float s = 0.0f;
    for (int j = 0; j < n; j++) { if (w[24 * i + j] > 1.0f) { s += fits(x[j]); } }
    out[i] = s;
  }",
        ),
    ] {
        assert!(gathers_in_place(name, part), "{name}");
    }
}

#[test]
fn variables_that_are_more_than_one_element_stay() {
    for (name, part) in [
        // The array is read or written before the end.
        (
            "read",
            "for (int i = 1; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j] + out[i]; out[i] = v; }",
        ),
        (
            "both",
            "for (int i = 1; i < n; i++) { float v = x[i]; out[i - 1] = 3; v += out[i]; out[i] = v; }",
        ),
        // The last iteration reads the element from before, or a cell that could be the element.
        (
            "closed",
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {
    double s = A[i][j];
    for (int k = 0; k <= j; k++) s -= A[i][k] * A[j][k];
    A[i][j] = s;
  }",
        ),
        (
            "found",
            "for (int i = 0; i < n; i++) {
    double s = y[i];
    for (int k = 0; k < i; k++) s -= y[(int)z[k] % 3] / 8;
    y[i] = s;
  }",
        ),
        // Another type rounds.
        (
            "types",
            "for (int i = 0; i < n; i++) { double v = 0; for (int j = 0; j < n; j++) v += w[i * n + j] * x[j]; out[i] = v; }",
        ),
        // Not stored where it is written, stored more often, or added to what is there.
        (
            "some",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; if (i > 3) out[i] = v; }",
        ),
        (
            "often",
            "for (int i = 0; i < n; i++) { float v = x[i]; for (int j = 0; j < 4; j++) { v += x[j]; out[i + j] = v; } }",
        ),
        (
            "more",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] += v; }",
        ),
        // Nothing is gathered in a loop that is as long as a parameter says.
        ("flat", "for (int i = 0; i < n; i++) { float v = x[i]; v *= 2; out[i] = v; }"),
        (
            "short",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < 3; j++) v += x[j]; out[i] = v; }",
        ),
        // Behind the store, the element is written again before the variable is read.
        (
            "again",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v; out[i] = 3; y[i] = v; }",
        ),
        (
            "loop",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v;
    for (int j = 0; j < n; j++) { y[j] += v; out[j] = 1; } }",
        ),
        // The element is not what the variable is, which is read again.
        (
            "half",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v / 2; y[i] = v; }",
        ),
        (
            "turned",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = -v; out[i] += v; }",
        ),
        (
            "half, loop behind",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v * x[0];
    for (int j = 0; j < n; j++) y[j] += v; }",
        ),
        // What is stored is computed from the element, too, or from another sum.
        (
            "element",
            "for (int i = 0; i < n; i++) { float v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = out[i] * 2 + v; }",
        ),
        (
            "sums",
            "for (int i = 0; i < n; i++) { float v = 0, u = 1; for (int j = 0; j < n; j++) { v += x[j]; u -= x[j]; } out[i] = v + u; }",
        ),
        // Two elements of one array could be the same.
        (
            "pair",
            "for (int i = 0; i < n; i++) { float v = 0, u = 1; for (int j = 0; j < n; j++) { v += x[j]; u -= x[j]; } out[i] = v; out[n - i] = u; }",
        ),
    ] {
        assert!(!gathers_in_place(name, part), "{name}");
    }
    // It lives on.
    let outside = "for (int i = 0; i < n; i++) { last = 0; for (int j = 0; j < n; j++) last += x[j]; out[i] = last; }";
    assert!(gathers_in_place("outside", outside));
    let parts = marked(&program(outside));
    assert!(parts[0].scop.arrays.iter().any(|array| array.name == "last"));
}

/// Variables of the function: `v` is read by nothing behind the part, `last` is printed.
#[test]
fn each_value_of_a_dead_variable_gathers_in_its_own_element() {
    let has = |name: &str, part: &str, variable: &str| {
        let text =
            program(part).replace("float last = 0;", "float last = 0, v = 3; float *to = &v;");
        let text =
            text.replace("float *to = &v;", if name == "address" { "float *to = &v;" } else { "" });
        let parts = marked(&text);
        print_the_same(name, &text, &in_tiles(&text, &parts));
        parts[0].scop.arrays.iter().any(|array| array.name == variable)
    };
    let sums = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) { v = x[j]; for (int k = 0; k < n; k++) v += w[24 * j + k]; out[24 + j] = v; }
    for (int j = i; j < n; j++) { v = 1; for (int k = 0; k < n; k++) v -= w[24 * k + j]; out[24 + j] = v / 2; }
  }
  for (int i = 0; i < n; i++) { v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v; }";
    assert!(!has("dead", sums, "v"));
    // The last value is used: at the end, by who has its address, in another block.
    assert!(has("needed", &sums.replace("v ", "last ").replace("v;", "last;"), "last"));
    assert!(has("address", sums, "v"));
    let later = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) { v = 0; for (int k = 0; k < n; k++) v += x[k]; out[j] = v; }
    for (int j = 0; j < n; j++) out[24 + j] += v;
  }";
    assert!(has("later", later, "v"));
    let half = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {
    v = out[j]; for (int k = 0; k < n; k++) v += w[24 * j + k]; out[j] = v / 2; y[j] += v;
  }";
    assert!(has("half", half, "v"));
    let before = "for (int i = 0; i < n; i++) { out[24 + i] = v; v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v; }";
    assert!(has("before", before, "v"));
    let some = "for (int i = 0; i < n; i++) { if (i > 2) v = 0; for (int j = 0; j < n; j++) v += x[j]; out[i] = v; }";
    assert!(has("some", some, "v"));
}

#[test]
fn rows_of_a_matrix_run_side_by_side() {
    let text =
        "void matmul(float *restrict out, float *restrict x, float *restrict w, int n, int d)
{
#pragma scop
    for (int i = 0; i < d; i++) {
        float val = 0.0f;
        for (int j = 0; j < n; j++) {
            val += w[i * n + j] * x[j];
        }
        out[i] = val;
    }
#pragma endscop
}
";
    let parts = marked(text);
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    let best = parts[0].scop.optimise(&recipe, &support::budget()).expect("a schedule");
    let context = parts[0].scop.context.as_ref();
    let ast = Ast::of_tree(&best.tree, context, &AstOptions::default(), &support::budget());
    let ast = (!best.original).then(|| ast.expect("code"));
    let code = rewrite(text, &[(&parts[0], ast.as_ref())], &Emit::default()).expect("code");
    // Several rows in one loop, each in a variable of its own.
    assert!(code.contains("float s3 = out[(c0 + 3)];") || code.contains("s3 += w["), "{code}");
}
