//! Control and scopes of C that parts follow: `switch` in its forms, and names that hide others.
//! Each program prints the same before and after.

mod support;

use support::{PRINTF, budget, in_tiles, marked, print_the_same, prints_the_same_anew};
use tangram_scop::parts;

/// A program that runs a part for many values of its parameters, and prints all that it wrote.
fn program(part: &str) -> String {
    format!(
        "{PRINTF}static double A[12][12], x[12], y[12];
static void f(int n, int m, int c)
{{
#pragma scop
{part}
#pragma endscop
}}
int main(void)
{{
    static const int characters[] = {{ 'a', '\\n', 0, 2, 7 }};
    for (int run = 0; run < 9 * 7 * 5; run++) {{
        for (int i = 0; i < 12; i++) {{
            for (int j = 0; j < 12; j++) A[i][j] = (i * 5 + j * 3 + run) % 7 - 2.5;
            x[i] = i % 4 - 1.25;
            y[i] = 0;
        }}
        f(run % 9, run / 9 % 7, characters[run / 63]);
        double sum = 0;
        for (int i = 0; i < 12; i++) {{
            for (int j = 0; j < 12; j++) sum = sum * 1.0625 + A[i][j];
            sum = sum * 1.0625 + x[i] - y[i];
        }}
        printf(\"%a\\n\", sum);
    }}
}}
"
    )
}

/// Follows the whole part, which computes the same in tiles.
#[track_caller]
fn computes_the_same(name: &str, part: &str) {
    prints_the_same_anew(&format!("control-{name}"), &program(part));
}

/// Finds so many parts inside one that is none as a whole.
#[track_caller]
fn holds_parts(name: &str, part: &str, count: usize, reason: &str) {
    let text = program(part);
    let found = tangram_scop::marked(&text, &budget()).expect("parts");
    assert_eq!(found.parts.len(), count, "{name}");
    assert!(found.refused.iter().any(|problem| problem.message.contains(reason)), "{found:?}");
    print_the_same(&format!("control-{name}"), &text, &in_tiles(&text, &found.parts));
}

#[track_caller]
fn refuses(part: &str, at: (usize, usize), message: &str) {
    let problems = parts(&program(part), &budget()).expect_err("refused");
    let first = &problems[0];
    assert!(first.message.contains(message), "{first}");
    assert_eq!((first.line, first.column), (5 + at.0, at.1), "{first}");
}

const NEST: &str = "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) A[i][j] += x[j];";

#[test]
fn cases_go_on_in_the_next_one() {
    let part = "switch (m) {\ncase 1: x[0] = 2;\ncase 4: NEST\ndefault: y[2] += 1; break;\n\
                case 2: y[3] = x[1];\ncase 3: { x[1] += y[3]; break; }\ncase 5:;\n}";
    computes_the_same("falls", &part.replace("NEST", NEST));
    let part = "for (int i = 0; i < n; i++)\nswitch (i % 4) {\ndefault:\ncase 1: x[i] += 1;\n\
                case 2: y[i] = x[i]; if (i > m) continue; y[i] -= 1; break;\ncase 0: y[i] = 4;\n}";
    computes_the_same("default", part);
}

#[test]
fn cases_end_on_conditions() {
    let part = "switch (m) {\ncase 1: if (n > 3) break; NEST\ncase 2: x[2] = 1;\n\
                if (n > 5) { x[3] = 2; break; } else if (n == 4) break;\ny[1] = x[2]; break;\n\
                case 3: { if (c == 2) break; NEST break; }\ndefault: y[2] = 1;\n}\nx[4] = y[1];";
    computes_the_same("break", &part.replace("NEST", NEST));
    let part = "for (int i = 0; i < n; i++) {\nswitch (m) {\n\
                case 1: if (i == 2) break; if (i == 4) continue; x[i] += 1;\n\
                case 2: switch (i) { case 3: if (c > 3) break; x[i] = 2; default: continue; } break;\n\
                case 4: for (int j = 0; j < n; j++) { if (j > i) break; A[i][j] += 1; } break;\n\
                }\ny[i] += x[i];\nif (i == c) break;\nx[i] -= 3;\n}";
    computes_the_same("nested", part);
}

#[test]
fn labels_are_constants_and_ranges() {
    let part = "switch (c) { case 'a': NEST break; case '\\n': x[1] = 1; break;\n\
                case '\\0': case '\\x02': x[2] = 4; break; default: x[3] = 5; }";
    computes_the_same("characters", &part.replace("NEST", NEST));
    let part = "switch (n) { case 1 ... 3: NEST break; case 5: case 6 ... 7: x[1] = 1;\n\
                default: x[3] = 5; }\nswitch (m) case 2: x[4] = 1;";
    computes_the_same("ranges", &part.replace("NEST", NEST));
}

#[test]
fn cases_share_what_their_block_declares() {
    let part = "switch (m) {\nint q; double x[12];\nx[1] = 9;\ncase 1: q = n; y[0] += q; break;\n\
                case 2: for (int j = 0; j < 12; j++) x[j] = j; NEST\n\
                int r = 3; q = r; y[3] = q; break;\n\
                case 3: { double m = y[1] + 2; y[0] = m; }\n}\ny[5] = x[2];";
    computes_the_same("declared", &part.replace("NEST", NEST));
}

#[test]
fn a_switch_that_data_leaves_holds_parts() {
    let part = "switch (m) { case 2: if (x[0] > y[1]) break; NEST break; default: x[0] = 1; }";
    let reason = "leaves the `switch`, on a condition that is not affine";
    holds_parts("data", &part.replace("NEST", NEST), 1, reason);
    let inside = "for (int i = 0; i < n; i++) {\nswitch (i) { case 2: if (x[i] > 0) break; y[i] = 1; \
                  default: y[i] += 2; }\nx[i] += 1;\n}";
    computes_the_same("one statement", inside);
}

#[test]
fn branches_that_leave_the_part_hold_parts() {
    let part = format!("if (m > 2) {{ {NEST} return; }}\n{NEST}");
    holds_parts("return", &part, 2, "`return;` leaves the part");
    let part = format!("if (m > 2) {{ {NEST} goto end; }}\n{NEST}");
    let text = program(&part).replace("#pragma endscop", "#pragma endscop\nend:;");
    let found = marked(&text);
    assert_eq!(found.len(), 2);
    print_the_same("control-goto", &text, &in_tiles(&text, &found));
    refuses("for (int i = 0; i < n; i++)\n  return;", (2, 3), "leaves the loop");
}

#[test]
fn cases_inside_other_statements_are_refused() {
    let nested = "is a case inside another statement";
    refuses("switch (m) { case 0: { x[0] = 1; case 1: x[1] = 1; } }", (1, 34), nested);
    // The head of the `switch` is not in the statement that the loop would be.
    let inside = "for (int i = 0; i < n; i++)\n switch (i) { case 0: while (x[0] > 0) { case 1: x[0] -= 1; } }";
    refuses(inside, (2, 42), nested);
    // Here it is.
    let whole = "for (int i = 0; i < n; i++) switch ((int)x[i]) {\n\
                 case 0: while (x[i] < 3) { case 1: x[i] += 1; } }";
    computes_the_same("whole", whole);
}

#[test]
fn inner_names_hide_outer_ones() {
    let sized = "{ int n = 5; for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) A[i][j] += n; }\n\
                 for (int i = 0; i < n; i++) x[i] += n;";
    computes_the_same("block", sized);
    let set = "if (m > 1) { int n = x[1] > 0; n += 2; y[n] += 1; }\nfor (int i = 0; i < n; i++) x[i] += n;";
    computes_the_same("written", &set.replace("y[n] += 1", "y[0] += n"));
    let loops = "for (int n = 0; n < m; n++) { x[n] += n; for (int m = n; m < 6; m++) A[m][n] += m; }\n\
                 for (int i = 0; i < n; i++) { for (int i = 0; i < m; i++) y[i] += 1; x[i] += m; }";
    computes_the_same("loops", loops);
    let array = "for (int i = 0; i < n; i++) {\ndouble x[3];\nfor (int x = 0; x < 5; x++) y[x] += x;\n\
                 x[0] = i; x[1] = A[i][0]; y[i] += x[0] * x[1];\n}\nx[3] += 1;";
    computes_the_same("arrays", array);
    let value = "for (int i = 0; i < n; i++) { int m = i + 2; { int n = m; for (int j = 0; j < n; j++)\n\
                 A[i][j] += n * m; } }\nx[n] += m;";
    computes_the_same("values", value);
}

#[test]
fn loops_that_compare_their_variable_with_itself_are_refused() {
    let expected = "must compare the loop variable with a bound";
    refuses("for (int i = 0; i < 12 - i; i++) x[i] = 1;", (1, 17), expected);
    refuses("for (int n = 0; n < 12 - n; n++) x[n] = 1;", (1, 17), expected);
}

#[test]
fn types_and_constants_of_a_part_are_refused() {
    let message = "names a type or constants";
    refuses("{ enum { E = 4 }; for (int i = 0; i < E; i++) x[i] = 1; }", (1, 3), message);
    refuses(
        "typedef double T; T t = x[0];\nfor (int i = 0; i < n; i++) y[i] = t;",
        (1, 1),
        message,
    );
}

#[test]
fn extents_keep_their_meaning_in_blocks_that_hide_their_names() {
    let text = format!(
        "{PRINTF}static void f(int n, double A[n][n], double x[n])
{{
    if (x[0] > 0) {{
        int n = 3;
#pragma scop
        for (int j = 0; j < n; j++)
            for (int i = 0; i < 6; i++) A[i][j] += A[i][j + 1] * x[j];
#pragma endscop
    }}
}}
int main(void)
{{
    double A[7][7], x[7];
    for (int i = 0; i < 49; i++) A[i / 7][i % 7] = i;
    for (int i = 0; i < 7; i++) x[i] = i + 1;
    f(7, A, x);
    for (int i = 0; i < 49; i++) printf(\"%a\\n\", A[i / 7][i % 7]);
}}
"
    );
    let found = marked(&text);
    let array = found[0].arrays.iter().find(|array| array.name == "A").expect("an array");
    assert!(!array.extents.contains(&"n".to_owned()), "{array:?}");
    print_the_same("control-extents", &text, &in_tiles(&text, &found));
}
