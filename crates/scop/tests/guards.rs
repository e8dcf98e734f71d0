//! Conditions on data around loops of marked parts: what stands inside is a part of its own.

mod support;

use support::{PRINTF, budget, in_tiles, marked, print_the_same};
use tangram_scop::{Problem, parts};

/// A program that runs a part on data that conditions find true and false, and prints all of it.
fn program(part: &str) -> String {
    format!(
        "{PRINTF}static double A[19][23], x[23], s;
static int flag;
static void f(int n, int m)
{{
#pragma scop
{part}
#pragma endscop
}}
int main(void)
{{
    for (int run = 0; run < 6; run++) {{
        s = run % 2 ? 1.5 : -1.5;
        flag = run % 3;
        for (int i = 0; i < 19; i++)
            for (int j = 0; j < 23; j++) A[i][j] = (i * 5 + j * 3 + run) % 7 - 2.5;
        for (int j = 0; j < 23; j++) x[j] = j % 4 - 1.25;
        f(run < 2 ? 19 : 3, run < 4 ? 23 : 0);
        for (int i = 0; i < 19; i++)
            for (int j = 0; j < 23; j++) printf(\"%a\\n\", A[i][j]);
        for (int j = 0; j < 23; j++) printf(\"%a\\n\", x[j]);
        printf(\"%a %d\\n\", s, flag);
    }}
}}
"
    )
}

/// Finds so many parts, and runs the program with all of them in tiles.
#[track_caller]
fn computes_the_same(name: &str, part: &str, count: usize) {
    let text = program(part);
    let found = marked(&text);
    assert_eq!(found.len(), count, "{name}");
    let code = in_tiles(&text, &found);
    assert!(code.matches("for (long long").count() >= 2 * count, "{code}");
    print_the_same(&format!("guard-{name}"), &text, &code);
}

const NEST: &str = "for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            A[i][j] = 2 * A[i][j] + x[j];";

#[test]
fn loops_in_a_branch_are_a_part() {
    computes_the_same("one", &format!("if (s > 0)\n    {NEST}"), 1);
    computes_the_same("else", &format!("if (x[0] * s > 0) {{\n{NEST}\n}} else {{\n{NEST}\n}}"), 2);
    computes_the_same("nested", &format!("if (s > 0) {{ if (flag) {{\n{NEST}\n}} x[1] = 3; }}"), 1);
}

#[test]
fn what_stands_around_a_condition_is_a_part() {
    let around = format!("{NEST}\ns = s * 0.5 - x[2];\nif (s < 0)\n    {NEST}\n{NEST}");
    computes_the_same("around", &around, 3);
}

#[test]
fn loops_may_change_the_condition() {
    let part = "if (A[0][0] > 0)
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            A[i][j] = -A[i][j];
if (A[0][0] > 0) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            A[i][j] += x[j];
    A[0][0] = -1;
}";
    computes_the_same("changed", part, 2);
}

#[test]
fn cases_of_data_are_conditions() {
    let part = format!("switch ((int)s) {{\ncase 1: {{\n{NEST}\nbreak; }}\ndefault: break;\n}}");
    computes_the_same("cases", &part, 1);
}

#[test]
fn the_condition_is_reported() {
    let text = program(&format!("if (s > 0)\n    {NEST}"));
    let found = tangram_scop::marked(&text, &budget()).expect("a part");
    let at: Vec<&str> = found.refused.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(at.len(), 1, "{at:?}");
    assert!(at[0].starts_with("`s` is not affine"), "{at:?}");
    assert!(found.parts.iter().all(|part| !part.marked));
}

#[test]
fn other_reasons_still_refuse_a_part() {
    let refused =
        |part: &str| -> Vec<Problem> { parts(&program(part), &budget()).expect_err("refused") };
    // Nothing inside is a loop that could be a part.
    assert_eq!(refused("if (s > 0)\n    while (s < 9) s += 1;").len(), 1);
    assert_eq!(refused(&format!("if (s > 0)\n    {NEST}\nprintf(\"\");")).len(), 2);
    assert_eq!(refused(&format!("while (s < 9) {{\n{NEST}\ns += 1;\n}}")).len(), 1);
}
