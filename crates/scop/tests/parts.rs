//! Parts of C programs: domains, accesses, order, and what is refused.

mod support;

use support::budget;
use tangram_presburger::Union;
use tangram_scop::{Part, Problem, parts};

fn read(body: &str) -> Result<Vec<Part>, Vec<Problem>> {
    let text = format!(
        "double A[100][100], x[100], y[100], s;\nint n, m;\nvoid f(int p, double B[][10]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    );
    parts(&text, &budget())
}

fn part(body: &str) -> Part {
    read(body).unwrap_or_else(|problems| panic!("{problems:?}")).remove(0)
}

#[track_caller]
fn same(found: &Union, expected: &str) {
    let expected = Union::parse(expected, &budget()).expect("notation");
    assert!(found.is_equal(&expected, &budget()).expect("decided"), "{found}");
}

#[track_caller]
fn refuses(body: &str, line: usize, message: &str) {
    let problems = read(body).expect_err("refused");
    let found = &problems[0];
    assert!(found.message.contains(message) && found.line == 4 + line, "{found}");
}

#[test]
fn a_triangular_loop_nest() {
    let part = part(
        "for (int i = 0; i < n; i++)\n  for (int j = 0; j <= i; ++j)\n    y[i] += A[i][j] * x[j];",
    );
    assert_eq!((part.function.as_str(), part.first_line, part.last_line), ("f", 4, 8));
    let scop = &part.scop;
    same(&scop.domain().expect("a set"), "[n] -> { S0[i, j] : 0 <= j <= i < n }");
    same(
        &scop.reads,
        "[n] -> { S0[i, j] -> y[i] : 0 <= j <= i < n; S0[i, j] -> A[i, j] : 0 <= j <= i < n;
           S0[i, j] -> x[j] : 0 <= j <= i < n }",
    );
    same(&scop.must_writes, "[n] -> { S0[i, j] -> y[i] : 0 <= j <= i < n }");
    let map = scop.schedule.to_map(&budget()).expect("a map");
    same(&map, "[n] -> { S0[i, j] -> [i, j] : 0 <= j <= i < n }");
    assert_eq!(part.bodies[0].text, "y[i] += A[i][j] * x[j]");
    assert_eq!(part.bodies[0].line, 7);
    assert_eq!(scop.arrays.iter().map(|array| array.extents.len()).sum::<usize>(), 4);
}

#[test]
fn conditions_strides_and_directions() {
    let scop = part(
        "for (int i = n - 1; i >= 0; i -= 2)\n  if (i % 3 == 1 || i > m) x[i] = 0;\n  else { y[i] = 1; x[i] = 2; }",
    )
    .scop;
    same(
        &scop.domain().expect("a set"),
        "[n, m] -> { S0[i] : 0 <= i < n and (n - 1 - i) mod 2 = 0 and (i mod 3 = 1 or i > m);
           S1[i] : 0 <= i < n and (n - 1 - i) mod 2 = 0 and i mod 3 != 1 and i <= m;
           S2[i] : 0 <= i < n and (n - 1 - i) mod 2 = 0 and i mod 3 != 1 and i <= m }",
    );
    let map = scop.schedule.to_map(&budget()).expect("a map");
    let domain = scop.domain().expect("a set");
    let all = Union::parse("{ S0[i] -> [-i, 0]; S1[i] -> [-i, 1]; S2[i] -> [-i, 2] }", &budget());
    let all = all.expect("notation").intersect_domain(&domain, &budget()).expect("a map");
    assert!(map.is_equal(&all, &budget()).expect("decided"), "{map}");
}

#[test]
fn quotients_round_towards_zero_as_in_c() {
    let scop = part("for (int i = -7; i < 8; i++) x[i / 2] = y[i % 3];").scop;
    for i in -7_i128..8 {
        let at = Union::parse(&format!("{{ S0[{i}] }}"), &budget()).expect("notation");
        let written = scop.must_writes.intersect_domain(&at, &budget()).expect("a map");
        same(&written, &format!("{{ S0[{i}] -> x[{}] }}", i / 2));
        let read = scop.reads.intersect_domain(&at, &budget()).expect("a map");
        same(&read, &format!("{{ S0[{i}] -> y[{}] }}", i % 3));
    }
}

#[test]
fn minima_and_floors_bound_loops() {
    let scop = part(
        "for (int t = 0; t <= floord(n - 1, 32); t++)\n  for (int i = max(32 * t, 1); i < min(32 * t + 32, n); i++)\n    x[i] = s;",
    )
    .scop;
    same(
        &scop.domain().expect("a set"),
        "[n] -> { S0[t, i] : 0 <= t and 32t <= n - 1 and 32t <= i < 32t + 32 and 1 <= i < n }",
    );
    // `s` never changes here: reading it is no access.
    assert!(scop.reads.is_empty(&budget()).expect("decided"));
}

#[test]
fn scalars_and_local_variables_are_cells() {
    let part = part("for (int i = 0; i < 4; i++) { double t = x[i]; t *= 2; y[i] = t; }");
    let scop = &part.scop;
    same(
        &scop.must_writes,
        "{ S0[i] -> t[] : 0 <= i < 4; S1[i] -> t[] : 0 <= i < 4; S2[i] -> y[i] : 0 <= i < 4 }",
    );
    assert!(scop.arrays.iter().any(|array| array.name == "t" && array.local));
    assert_eq!(part.bodies[0].text, "t = x[i]");
    let out = scop.live_out(&budget()).expect("decided");
    same(&out, "{ S2[i] -> y[i] : 0 <= i < 4 }");
}

#[test]
fn what_is_not_affine_is_reported_with_its_place() {
    refuses("for (int i = 0; i < n * m; i++)\n x[i] = 0;", 1, "`n * m` is not affine");
    refuses("for (int i = 0; i < n; i *= 2)\n x[i] = 0;", 1, "constant step");
    refuses("for (int i = 0; i != n; i += 2)\n x[i] = 0;", 1, "must compare the loop variable");
    refuses("for (int i = 0; i > n; i++)\n x[i] = 0;", 1, "must compare the loop variable");
    refuses("if (x[0] > 0) while (n) x[0] = 0;", 1, "`x[0]` is not affine");
    refuses("for (int i = 0; i < n; i++)\n if (x[i] > 0) break;", 2, "leaves the loop");
    refuses("for (int i = 0; i < n; i++)\n if (x[i] > 0) puts(\"\");", 2, "calls a function");
    refuses("for (int i = 0; i < n; i++)\n while (x[i] > 0) { int i = 0; }", 2, "hides");
    refuses("for (int i = 0; i < n; i++) {\n n = 3; }", 1, "written inside the part");
    refuses("for (int i = 0; i < n; i++)\n *(0 + &n) = 3;", 1, "written inside the part");
    refuses("x[0] = puts(\"\");", 1, "not known to be pure");
    refuses("x[0] = *&y[1];", 1, "is no variable or array element");
    refuses("A[0] = 0;", 1, "one subscript for each dimension");
    refuses("while (n) x[0] = 0;", 1, "unknown number of times");
    refuses("for (int i = 0; i < n; i++)\n { x[i] = 0; return; }", 2, "leaves the loop");
    refuses("x[0] = 1 + (y[0] = 1);", 1, "has an effect inside");
    refuses("for (int i = 0; i < s; i++)\n x[i] = 0;", 1, "is not an integer");
    refuses("for (m = 0; m < n; m++)\n ;\nx[0] = m;", 3, "outside its loop");
}

#[test]
fn all_problems_are_reported_at_once() {
    let problems = read("x[0] = *&y[1];\ny[0] = puts(0);").expect_err("refused");
    assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn syntax_errors_have_a_place() {
    let problems = parts("int f( {", &budget()).expect_err("refused");
    assert_eq!((problems.len(), problems[0].line), (1, 1));
    let deep = format!("int x = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert!(parts(&deep, &budget()).expect_err("refused")[0].message.contains("nested"));
    // Each of them may be half of the next: the parser would try all ways to pair them.
    let long = format!("void f(int n) {{ int a = {}; }}", "+".repeat(80));
    assert!(parts(&long, &budget()).expect_err("refused")[0].message.contains("in a row"));
    let text = "void f(void) { print(\"((((--------------------------------\"); }";
    assert!(parts(text, &budget()).is_ok());
    let open = "void f() {\n#pragma scop\n}";
    assert!(parts(open, &budget()).expect_err("refused")[0].message.contains("endscop"));
}

#[test]
fn comments_are_no_code() {
    let body = "// for (;;)\nfor (int i = 0; i < n; i++) /* x[i * i] = 1;\n*/ x[i] = '\"';";
    let part = part(body);
    assert_eq!((part.last_line, part.bodies[0].line), (8, 7));
    assert_eq!(part.bodies[0].text, "x[i] = '\"'");
}

#[test]
fn control_that_depends_on_data_makes_one_statement_of_uncertain_writes() {
    let part = part(
        "for (int i = 0; i < n; i++)
  if (x[i] > y[0]) { double t = y[i]; x[i + 1] = t; if (t > 1) s = A[i][0]; } else y[i] = 1;",
    );
    let scop = &part.scop;
    assert_eq!(scop.statements.len(), 1);
    assert_eq!(
        part.bodies[0].text,
        "{ if (x[i] > y[0]) { double t = y[i]; x[i + 1] = t; if (t > 1) s = A[i][0]; } else y[i] = 1; }"
    );
    same(
        &scop.reads,
        "[n] -> { S0[i] -> x[i] : 0 <= i < n; S0[i] -> y[0] : 0 <= i < n;
           S0[i] -> y[i] : 0 <= i < n; S0[i] -> A[i, 0] : 0 <= i < n }",
    );
    same(&scop.must_writes, "{ }");
    same(
        &scop.may_writes,
        "[n] -> { S0[i] -> x[i + 1] : 0 <= i < n; S0[i] -> y[i] : 0 <= i < n; S0[i] -> s[] : 0 <= i < n }",
    );
}

#[test]
fn loops_over_data_make_one_statement() {
    // A product of a sparse matrix with a vector, in compressed rows.
    let text = "void f(int n, const int *row, const int *column, const double *value,
       const double *x, double *y) {
  int k;
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (k = row[i]; k < row[i + 1]; k++)
      y[i] += value[k] * x[column[k]];
  }
#pragma endscop
}
";
    let part = parts(text, &budget()).expect("a part").remove(0);
    let scop = &part.scop;
    let all = "0 <= i < n";
    same(
        &scop.reads,
        &format!(
            "[n] -> {{ S1[i] -> row[i] : {all}; S1[i] -> row[i + 1] : {all}; S1[i] -> y[i] : {all};
               S1[i] -> value[k] : {all}; S1[i] -> column[k] : {all}; S1[i] -> x[k] : {all} }}"
        ),
    );
    same(&scop.must_writes, &format!("[n] -> {{ S0[i] -> y[i] : {all} }}"));
    same(&scop.may_writes, &format!("[n] -> {{ S0[i] -> y[i] : {all}; S1[i] -> y[i] : {all} }}"));
    // The variable of the inner loop is each iteration's own.
    assert!(part.bodies[1].text.starts_with("{ int k; for (k = row[i];"));
}

#[test]
fn subscripts_that_depend_on_data_stand_for_all_places() {
    let scop = part("for (int i = 0; i < n; i++)\n A[i][(int)x[i]] += y[i * i];").scop;
    same(
        &scop.reads,
        "[n] -> { S0[i] -> x[i] : 0 <= i < n; S0[i] -> y[a] : 0 <= i < n; S0[i] -> A[i, a] : 0 <= i < n }",
    );
    same(&scop.may_writes, "[n] -> { S0[i] -> A[i, a] : 0 <= i < n }");
    same(&scop.must_writes, "{ }");
}
