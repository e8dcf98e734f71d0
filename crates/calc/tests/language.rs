//! Programs and what they print.

use tangram_calc::Session;

fn run(program: &str) -> Vec<String> {
    Session::with_steps(50_000_000)
        .run(program)
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn fails(program: &str) -> String {
    Session::with_steps(50_000_000).run(program).expect_err(program).to_string()
}

#[test]
fn assertions_of_the_relation_algebra_hold() {
    run(r#"
        # Definitions of the source texts: statements of a matrix product.
        S1 := [M, N] -> { S1[i, j] : 0 <= i <= M and 0 <= j <= N };
        S2 := [M, N, K] -> { S2[i, j, k] : 0 <= i <= M and 0 <= j <= N and 0 <= k <= K };
        All := S1 + S2;
        assert S1 <= All;
        assert S1 < All;
        assert (All - S2) = S1;
        assert (S1 * S2) = { };
        assert is_empty (S1 * S2);
        # Tiling: the division is a floor.
        T := { S1[j, i] -> [floor(j/32), floor(i/32), j, i] };
        assert T = { S1[j, i] -> [a, b, j, i] : 32a <= j <= 32a + 31 and 32b <= i <= 32b + 31 };
        assert is_bijective T;
        assert is_single_valued (T . { [a, b, j, i] -> [a, b] });
        assert (is_injective (T . { [a, b, j, i] -> [a, b] })) = False;
        assert is_surjective(T, ran T);
        # Access relation and reuse.
        A := [N] -> { S[i, j] -> A[j, i] : 3 <= i < 10 and i <= j < N and (i + 1) % 2 = 0 };
        assert (A . A^-1) <= { S[i, j] -> S[i, j] };
    "#);
}

#[test]
fn operators_compute() {
    for (program, expected) in [
        ("{ A[i] : 0 <= i < 3 } + { B[] };", "{ A[i] : i >= 0 and -i + 2 >= 0; B[] }"),
        ("lexmin { [i, j] : 2 <= i <= j };", "{ [i, j] : i - 2 = 0 and j - 2 = 0 }"),
        ("({ A[i] -> B[i + 1] })({ A[3] });", "{ B[o0] : o0 - 4 = 0 }"),
        ("{ [i] -> [i + 1] }^3;", "{ [i] -> [o1] : i - o1 + 3 = 0 }"),
        ("1 + 2 * 4;", "12"),
        ("typeof \"a\";", "string"),
        ("deltas { [i] -> [i + 2] };", "{ [o1] : o1 - 2 = 0 }"),
        (
            "coalesce ({ [i] : 0 <= i <= 3 } + { [i] : 2 <= i <= 9 });",
            "{ [i] : i >= 0 and -i + 9 >= 0 }",
        ),
        ("{ [0]; [1] } << { [1] };", "{ [i0] -> [i0'] : i0 = 0 and i0' - 1 = 0 }"),
        ("({ [1] }, True)[1];", "True"),
    ] {
        let printed = run(program);
        assert_eq!(printed.len(), 1, "{program}");
        if expected.starts_with('{') {
            run(&format!("assert {} = {expected};", printed[0]));
        } else {
            assert_eq!(printed[0], expected, "{program}");
        }
    }
}

#[test]
fn counting_and_elimination_are_within_reach() {
    let count = run("card { [i, j] : 0 <= i <= j <= 9 };");
    assert!(count[0].contains("55"), "{count:?}");
    let loops = run("loops([N] -> { [i, j] : 3 <= i < 10 and i <= j < N }, \"j, i\");");
    assert_eq!(loops, ["for j in 3 ..= N - 1\nfor i in 3 ..= min(9, j)"]);
    let step = run("fm({ [x, y] : 0 <= 2x <= y and x <= 5 }, \"x\");");
    assert!(step[0].starts_with("eliminate x: 1 lower bounds"), "{step:?}");
    assert!(step[0].contains("1 * 2 = 2 combinations, at most 2"), "{step:?}");
}

#[test]
fn scanning_lists_every_point() {
    let lines = run("scan { A[i, j] : 0 <= i <= j <= 1 };");
    assert_eq!(lines[0].matches("A[").count(), 3, "{lines:?}");
}

#[test]
fn errors_name_line_and_column() {
    for (program, expected) in [
        ("x;", "line 1, column 1: expected a value, found `x`"),
        ("A := { [i] };\n  A + ;", "line 2, column 7: expected a value, found `;`"),
        ("{ [i] : i >= }", "line 1, column 14: expected an expression, found `}`"),
        ("{ [i] };\n{ [i] : j > 0 };", "line 2, column 9: expected a name in scope, found `j`"),
        ("{ [i] ", "line 1, column 1: expected `}` after this, found the end"),
        ("assert { [1] } = { [2] };", "line 1, column 1: the assertion does not hold"),
        ("n := 1; 1 + { [i] };", "line 1, column 11: `+` does not work on a int and a set"),
        (
            "deltas { A[i] -> B[i] };",
            "line 1, column 1: expected the space `B[i] -> B[i']`, found `A[i] -> B[i']`",
        ),
        ("{ [i] } 3;", "line 1, column 9: expected `;`, found `3`"),
    ] {
        let error = fails(program);
        let close = error.split(':').next() == expected.split(':').next();
        assert!(close, "{program}: {error}, expected {expected}");
        if !program.starts_with("deltas") {
            assert_eq!(error, expected, "{program}");
        }
    }
}

#[test]
fn limits_stop_a_statement_and_keep_the_session() {
    let mut session = Session::with_steps(100);
    let hard = "B := { [i] : (exists a, b: 17a + 13b <= i <= 23a - 11b + 5 and 0 <= a, b <= 90) };";
    assert!(session.run("A := { [1] };").is_ok());
    assert!(session.run(hard).expect_err("too long").message.contains("more than 100 steps"));
    assert_eq!(session.run("A = { [1] };"), Ok(vec!["True".to_owned()]));
}

#[test]
fn counts_are_added_up_summed_and_bounded() {
    for (program, expected) in [
        ("assert card { A[i] : 0 <= i < 4; B[i, j] : 0 <= i, j < 3 } = { 13 };", ""),
        ("assert sum { [i] -> i^2 : 0 <= i <= 3 } = { 14 };", ""),
        ("assert sum (card { [i] -> [j] : 0 <= j <= i < 4 }) = { 10 };", ""),
        ("assert 2 * { [i] -> i } + { [i] -> i } = { [i] -> 3 * i };", ""),
        ("assert sum ({ [i] -> i } * { [i] : 1 <= i <= 4 }) = { 10 };", ""),
        ("assert { [i] -> i } * { [i] -> i + 1 } = { [i] -> i^2 + i };", ""),
        ("ub { [i] -> i^2 : -1 <= i <= 3 };", "{ max(9) }"),
        ("typeof (lb { [i] -> i : 1 <= i <= 3 });", "fold"),
    ] {
        let lines = run(program);
        assert_eq!(lines.first().map_or("", String::as_str), expected, "{program}");
    }
    let wrong = fails("assert card { [i] : 0 <= i < 4 } = { 5 };");
    assert_eq!(wrong, "line 1, column 1: the assertion does not hold");
}

#[test]
fn closures_are_pairs_of_a_relation_and_exactness() {
    let program = "R := [n] -> { [i] -> [i + 1] : 0 <= i < n };
        assert R^+[0] = [n] -> { [i] -> [j] : 0 <= i < j <= n };
        assert R^+[1];
        assert (pow R)[0] = [n] -> { [k] -> [[i] -> [i + k]] : k > 0 and 0 <= i and i + k <= n };
        assert hull { [0]; [5] } = { [i] : 0 <= i <= 5 };
        assert poly { [0]; [5] } = { [i] : 0 <= i <= 5 };
        assert disjoint { [i] : i > 0; [i] : i > 3 } = { [i] : i > 0 };";
    assert_eq!(run(program), Vec::<String>::new());
}
