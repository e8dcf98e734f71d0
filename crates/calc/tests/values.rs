//! Matrices, functions and sets of several spaces: how programs write them, and what they print.

mod support;

use support::{fails, run};

#[test]
fn matrices_of_constraints_are_sets() {
    run("P := # a triangle
          3 4
          1  1  0  0   # i >= 0
          1 -1  1 -1   # i < j
          1  0 -1  6;
        assert P = { [i, j] : 0 <= i < j <= 6 };
        assert card P = { 21 };
        Q :=
        2
        2 3
        1 1 -1
        1 -1 4
        1 3
        0 2 -20
        ;
        assert Q = { [i] : 1 <= i <= 4 or i = 10 };
        All := 0 2
        ;
        assert All = { [] };
        assert (1 - 1) * 3 = 0;");
    for (program, expected) in [
        ("1 3\n2 0 0;", "line 2, column 1: expected 0 or 1 in row 1 of the matrix, found `2`"),
        ("1 3\n1 0;", "line 2, column 4: expected a number in row 1 of the matrix, found `;`"),
        (
            "2 1\n1 1;",
            "line 1, column 3: expected the number of columns of a matrix, at least 2, found `1`",
        ),
    ] {
        assert_eq!(fails(program), expected, "{program}");
    }
}

#[test]
fn constraints_and_vertices_are_dual() {
    run("P := { [i, j] : i, j >= 0 and 2i + 3j <= 4 };
        C := coefficients P;
        assert { coefficients[[0] -> [1, 0]]; coefficients[[4] -> [-2, -3]] } <= C;
        assert { coefficients[[3] -> [-2, -3]] } * C = { };
        assert solutions C = P;
        assert solutions (coefficients [n] -> { [i] : 0 <= i <= n }) = [n] -> { [i] : 0 <= i <= n };
        assert lattice_width(P) = { 4/3 };
        assert lattice_width { [i, j] : 0 <= 2i - 3j <= 5 and 0 <= i <= 40 } = { 5 };");
    let corners = run("vertices [n] -> { A[i] : 0 <= i and 2i <= n };");
    assert_eq!(corners, ["([n] -> { A[(0)] : n >= 0 }, [n] -> { A[((n)/2)] : n >= 0 })"]);
    run("W := lattice_width [n] -> { [x, y] : x, y >= 0 and x <= 10 and 2x + y <= n };
        assert W = [n] -> { 10 : n >= 21; 1/2 * n : 0 <= n <= 20 };
        assert detect_equalities { [i, j] : 2i <= 3j <= 2i + 1 and 3j >= 2i } = { [i, j] : 0 <= 3j - 2i <= 1 };");
}

#[test]
fn functions_and_bounds_of_several_tuples_stand_together() {
    run("F := [n] -> { A[i] -> n * i : i >= 0; B[i, j] -> i^2; 7 : n <= 3 };
        assert F = ([n] -> { A[i] -> n * i : i >= 0 } + { B[i, j] -> i^2 } + [n] -> { 7 : n <= 3 });
        M := { S[k] -> A[i] : 0 <= i <= k; S[k] -> B[k, j] : 0 < j < 3 };
        assert (M . F) = [n] -> { S[k] -> n * k * (k + 1)/2 + 2 * k^2 : k >= 0; S[k] -> 2k^2 : k < 0 };
        assert (F * { A[i] : i < 5 })({ A[i] }) = [n] -> { 10 * n };
        assert (F @ { A[3] }) = [n] -> { A[3] -> 3 * n };
        U := { A[i] -> max(i, 3); B[i, j] -> max(i + j) };
        assert (M . U) = { S[k] -> max(3, k + 2) : k >= 0; S[k] -> max(k + 2) : k < 0 };
        assert (U @ { A[2]; A[9] }) = { A[2] -> max(3); A[9] -> max(9) };
        assert (U * { A[i] : 0 <= i < 5 })({ A[i] }) = { max(4) };
        assert dom (U * { B[i, i] }) = { B[i, i] };
        assert ((U * { A[i] : i > 5 }) % { A[i] : i > 5 }) = { A[i] -> max(i, 3) };
        assert (2 * (U * { A[i] })) = { A[i] -> max(2 * i, 6) };
        assert (ub { [A[i] -> B[j]] -> j - i : 0 <= j <= i })[0] = { A[i] -> max(0, -i) : i >= 0 };");
    // What is printed is read back, where several tuples were a sum that was not.
    assert_eq!(
        run("card { A[i] -> [j] : 0 <= j < i; B[] -> [3] };"),
        ["{ A[i] -> i : i >= 1; B[] -> 1 }"]
    );
    assert!(fails("{ A[i] -> max(i); B[i] -> min(i) };").contains("column 27"));
}

#[test]
fn functions_are_read_as_isl_writes_them() {
    for (program, holds) in [
        (
            "sum { [[n] -> [i]] -> i : 0 <= i <= n } = { [n] -> (1/2 * n + 1/2 * n^2) : n >= 0 }",
            true,
        ),
        ("{ [m, l = 1 + 2m] -> m } = { [m, l] -> m : l = 1 + 2m }", true),
        ("{ [m, l = 1 + 2m] -> m : m > 3 } = { [m, l] -> m : l = 1 + 2m }", false),
        ("sum { a[i] -> ([(i)/3]) : 0 <= i <= 5 } = { 3 }", true),
        ("sum [a=0, b=0:1] -> { [c=0:2] -> c } = [a=0, b=0:1] -> { 3 }", true),
        ("[a=0] -> { 3 } = [a] -> { 3 }", false),
        ("card { [i] : i > 3 and i < 3 } = [n] -> { }", true),
        ("card { [i] : 0 <= i < 3 } == { }", false),
        ("{ [i] -> i } - { [i] -> i } == { }", true),
    ] {
        let answer = run(&format!("{program};"));
        assert_eq!(answer, [if holds { "True" } else { "False" }], "{program}");
    }
    for (program, expected) in [
        (
            "{ [i] -> i + };",
            "line 1, column 14: expected a variable, a number, `floor` or `(`, found `}`",
        ),
        (
            "{ [i] -> i^2 : j > 0 };",
            "line 1, column 16: expected a name in scope (`[j] -> { .. }` makes `j` a parameter), found `j`",
        ),
        (
            "{ [i] -> i^2 * k };",
            "line 1, column 16: expected a name in scope (`[k] -> { .. }` makes `k` a parameter), found `k`",
        ),
    ] {
        assert_eq!(fails(program), expected);
    }
    let error = fails("card { [i] : 0 <= i < 3 } == { [i] };");
    assert!(
        error.contains("it equal; functions are compared") || error.contains("gives: equal"),
        "{error}"
    );
}

#[test]
fn sets_of_parameters_restrict_what_they_meet() {
    run("S := [N] -> { A[i] : 0 <= i < N; B[i] : i = N }; P := [N] -> { : N = 3 };
        assert S * P = [N] -> { A[i] : N = 3 and 0 <= i <= 2; B[3] : N = 3 };
        assert P * S = (S * P); assert (params S) >= P; assert P <= params S;
        assert S - P = S; assert P * P = P;
        assert (S % P) * P = (S * P); assert (P % S) = { };
        M := [N] -> { A[i] -> B[i] : 0 <= i < N };
        assert M * P = [N] -> { A[i] -> B[i] : N = 3 and 0 <= i <= 2 };
        assert (M % P) * P = (M * P); assert M - P = M;
        # The point [] is a point like others.
        Z := [N] -> { [] : N = 3 }; assert S * Z = { }; assert Z * P = Z; assert Z != P;
        F := [N] -> { A[i] -> N * i }; assert F * P = [N] -> { A[i] -> 3 * i : N = 3 };");
    assert_eq!(
        run("[N] -> { : N > 3 }; params [N] -> { A[i] : i > N };"),
        ["[N] -> { : N >= 4 }", "[N] -> { : }"]
    );
}

#[test]
fn operations_on_several_spaces_drop_those_they_do_not_take() {
    run("assert unwrap { A[i]; [B[i] -> C[i]] } = { B[i] -> C[i] };
        assert curry { A[i] -> B[j]; [A[i] -> B[j]] -> C[] } = { A[i] -> [B[j] -> C[]] };
        assert uncurry { A[i] -> B[j]; A[i] -> [B[j] -> C[]] } = { [A[i] -> B[j]] -> C[] };
        assert deltas { A[i] -> B[i]; A[i] -> A[i + 2] } = { A[2] };");
}

#[test]
fn each_space_has_its_sample() {
    let program = "S := sample { A[i] : i > 3; B[j] : 0 < j < 2; C[k] : k < k }; S;
        assert S <= { A[i] : i > 3; B[1] }; assert count_disjuncts S = 2;";
    assert!(run(program)[0].contains("A["));
}

/// One list of points after the other was copied for each new one.
#[test]
fn long_lists_of_points_take_time_as_they_are_long() {
    run("L := scan { [i, j] : 0 <= i < 150 and 0 <= j < 100 }; assert count_disjuncts L = 15000;");
}

#[test]
fn what_doubles_has_an_end() {
    let squares = |start: &str| format!("x := {start}; {}x;", "x := x * x; ".repeat(40));
    for program in [squares("3"), squares("(1 / 3)"), squares("(0 - 7)")] {
        assert!(fails(&program).contains("too large"), "{program}");
    }
    let texts = format!("x := \"ab\"; {}", "x := x + x; ".repeat(40));
    assert!(fails(&texts).contains("a text has at most"));
    let powers = format!("R := {{ [i] -> [3i] }}; {}", "R := R . R; ".repeat(40));
    assert!(fails(&powers).contains("too large"));
    assert!(fails("({ [i] -> [i / 2] }) ^ 4073709561;").contains("too large"));
    // Numbers that are long and no longer stay what they are.
    let long = "7".repeat(90_000);
    run(&format!("x := {long}; assert x + x - x = x; assert x * 1 = x;"));
    run("x := 3; x := x * x; x := x * x; assert x = 81; assert \"a\" + \"b\" = \"ab\";");
}
