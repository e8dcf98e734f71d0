//! Generated code: its text for small schedules, what it runs, and the same through a C compiler.

use std::process::Command;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, Instance, MapInput};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::{Budget, Union};

fn of_tree(text: &str) -> Ast {
    let budget = Budget::steps(5_000_000);
    let tree = ScheduleTree::parse(text, &budget).expect("a tree");
    tree.check(&budget).expect("well-formed");
    Ast::of_tree(&tree, None, &AstOptions::default(), &budget).expect("code")
}

fn of_map(schedule: &str, options: &str) -> Ast {
    within("{ [] }", schedule, options)
}

fn within(context: &str, schedule: &str, options: &str) -> Ast {
    let budget = Budget::steps(5_000_000);
    let context = Union::parse(context, &budget).expect("a set").single().expect("one").clone();
    let schedule = Union::parse(schedule, &budget).expect("a map");
    let choices = Union::parse(options, &budget).expect("options");
    let options = AstOptions::default();
    Ast::of_map(&schedule, Some(&context), &choices, &options, &budget).expect("code")
}

fn check(ast: &Ast, expected: &str) {
    let mut style = CStyle::default();
    style.index = "int".into();
    assert_eq!(ast.to_c(&style), expected);
}

/// Runs code and writes instances as `S[1, 2] T[3]`.
fn run(ast: &Ast, params: &[i128]) -> String {
    let trace = ast.run(params, 10_000).expect("an end");
    trace
        .iter()
        .map(|Instance { statement, point }| format!("{statement}{point:?}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_skewed_nest() {
    let ast = of_map("[N, M] -> { S[i, j] -> [i + j, j] : 0 <= i < N and 0 <= j < M }", "{ }");
    check(
        &ast,
        "for (int c0 = 0; c0 < N + M - 1; c0 += 1)\n  \
           for (int c1 = max(0, c0 - N + 1); c1 <= min(M - 1, c0); c1 += 1)\n    \
             S(c0 - c1, c1);\n",
    );
    assert_eq!(run(&ast, &[2, 2]), "S[0, 0] S[1, 0] S[0, 1] S[1, 1]");
}

#[test]
fn an_iterator_is_no_parameter() {
    let ast = of_map("[c0, c0_] -> { S[i] -> [i] : c0 <= i < c0_ }", "{ }");
    check(&ast, "for (int c0__ = c0; c0__ < c0_; c0__ += 1)\n  S(c0__);\n");
}

#[test]
fn instances_of_one_point_are_all_called() {
    let ast = of_map("{ S[i] -> [i] : 0 <= i < 10; S[i] -> [i-10] : 10 <= i < 20 }", "{ }");
    check(&ast, "for (int c0 = 0; c0 <= 9; c0 += 1) {\n  S(c0);\n  S(c0 + 10);\n}\n");
    let ast = of_map("{ S[i,j] -> [i] : 0 <= i < 3 and (j = 0 or j = 1) }", "{ }");
    check(&ast, "for (int c0 = 0; c0 <= 2; c0 += 1) {\n  S(c0, 0);\n  S(c0, 1);\n}\n");
    let overlapping = "{ S[i] -> [i mod 4] : 0 <= i < 4 or i = 2 or i = 6 }";
    assert_eq!(run(&of_map(overlapping, "{ }"), &[]), "S[0] S[1] S[2] S[6] S[3]");
}

#[test]
fn an_extension_adds_where_the_loops_around_have_an_instance() {
    let ast = of_tree(
        "domain: \"{ S[i] : i = 0 or i = 3 }\"\nchild:\n  schedule: \"[{ S[i] -> [(i)] }]\"\n  \
         options: \"{ atomic[0] }\"\n  child:\n    extension: \"{ [t] -> X[] }\"\n    child:\n      \
         sequence:\n      - filter: \"{ X[] }\"\n      - filter: \"{ S[i] }\"\n",
    );
    assert_eq!(run(&ast, &[]), "X[] S[0] X[] S[3]");
}

#[test]
fn strides_and_tiles() {
    let ast = of_map("[N] -> { S[i] -> [32*floor(i/32), i] : 0 <= i < N }", "{ }");
    check(
        &ast,
        "for (int c0 = 0; c0 < N; c0 += 32)\n  \
           for (int c1 = c0; c1 <= min(N - 1, c0 + 31); c1 += 1)\n    \
             S(c1);\n",
    );
    let ast = of_map("[N] -> { S[i] -> [3*i + 1] : 0 <= i < N }", "{ }");
    assert_eq!(run(&ast, &[3]), "S[0] S[1] S[2]");
    assert!(ast.to_string().contains("+= 3"), "{ast}");
}

#[test]
fn divisions_that_are_known_are_not_written() {
    // The iterator is odd: its half is exact, and twice its half is the iterator but for 1.
    let ast = of_map("[N] -> { S[i, k] -> [i] : 2k = i - 1 and 0 <= i <= N }", "{ }");
    check(&ast, "for (int c0 = 1; c0 <= N; c0 += 2)\n  S(c0, (c0 - 1) / 2);\n");
    assert_eq!(run(&ast, &[5]), "S[1, 0] S[3, 1] S[5, 2]");
    // A symbol below 16 is its own remainder.
    let text = "[t, n] -> { S[i] -> [i] : exists a : i = t + 16a and 0 <= i < n and i < 32 \
        and 0 <= t < 16 }";
    let context = "[t, n] -> { [] : 0 <= t < 16 and n >= 32 }";
    let ast = within(context, text, "{ [i] -> unroll[0] }");
    check(&ast, "S(t);\nS(t + 16);\n");
}

#[test]
fn of_several_conditions_one_is_left_to_else() {
    let text = "[N] -> { S[i, 2] -> [i] : 0 < i < N - 1; S[0, 0] -> [0] : N > 1; \
        S[N - 1, 1] -> [N - 1] : N > 1 }";
    let ast = within("[N] -> { [] : N >= 2 }", text, "{ }");
    let expected = "for (int c0 = 0; c0 < N; c0 += 1)\n  \
        if (c0 == 0)\n    S(0, 0);\n  \
        else if (N == c0 + 1)\n    S(c0, 1);\n  \
        else\n    S(c0, 2);\n";
    check(&ast, expected);
    assert_eq!(run(&ast, &[4]), "S[0, 0] S[1, 2] S[2, 2] S[3, 1]");
    // For N = 1 none of them runs.
    let ast = of_map(text, "{ }");
    assert!(!ast.to_string().contains("else"), "{ast}");
    assert_eq!(run(&ast, &[1]), "");
}

#[test]
fn the_weaker_of_two_conditions_stands_around_both() {
    let ast = of_map(
        "[n] -> { S[i] -> [i, 0] : 0 <= i < 9 and n > 3; T[i] -> [i, 1] : 0 <= i < 9 and n > 7 }",
        "{ }",
    );
    let expected = "if (n >= 4)\n  \
        for (int c0 = 0; c0 <= 8; c0 += 1) {\n    \
            S(c0);\n    \
            if (n >= 8)\n      T(c0);\n  }\n";
    check(&ast, expected);
}

#[test]
fn a_condition_that_another_one_implies_stands_around_both() {
    let ast = of_map(
        "[n, m] -> { S[i] -> [i, 0] : 0 <= i < 9 and n > 3; \
         T[i] -> [i, 1] : 0 <= i < 9 and n = 2 m and m > 1 }",
        "{ }",
    );
    let expected = "if (n >= 4)\n  \
        for (int c0 = 0; c0 <= 8; c0 += 1) {\n    \
            S(c0);\n    \
            if (n == 2 * m)\n      T(c0);\n  }\n";
    check(&ast, expected);
    assert_eq!(run(&ast, &[3, 1]), "");
    assert_eq!(run(&ast, &[4, 2]).matches('T').count(), 9);
}

#[test]
fn options_unroll_separate_and_atomic() {
    let unrolled = of_map("{ S[i] -> [i] : 0 <= i < 3 }", "{ [i] -> unroll[0] }");
    check(&unrolled, "S(0);\nS(1);\nS(2);\n");
    let schedule = "[N] -> { S[i] -> [i, 0] : 0 <= i < N; T[i] -> [i, 1] : 2 <= i < N }";
    let separate = of_map(schedule, "{ [i, k] -> separate[0] }");
    let atomic = of_map(schedule, "{ [i, k] -> atomic[0] }");
    assert_eq!(separate.to_string().matches("if (").count(), 0, "{separate}");
    assert_eq!(atomic.to_string().matches("for (").count(), 1, "{atomic}");
    for n in -1..6 {
        assert_eq!(run(&separate, &[n]), run(&atomic, &[n]));
    }
    assert_eq!(run(&separate, &[3]), "S[0] S[1] S[2] T[2]");
}

#[test]
fn contexts_marks_and_guards() {
    let ast = of_tree(
        "domain: \"[N] -> { S[i] : 0 <= i < N }\"\nchild:\n  context: \"[N] -> { [] : N >= 4 }\"\n  child:\n    \
         schedule: \"[{ S[i] -> [(i)] }]\"\n    child:\n      mark: \"body\"\n      child:\n        \
         guard: \"[N] -> { [i] : i >= 2 }\"\n",
    );
    check(&ast, "for (int c0 = 0; c0 < N; c0 += 1)\n  if (c0 >= 2)\n    /* body */\n    S(c0);\n");
    assert_eq!(run(&ast, &[4]), "S[2] S[3]");
}

#[test]
fn a_marked_sequence_has_braces() {
    let ast = of_tree(
        "domain: \"{ S[i] : 0 <= i < 3; T[i] : 0 <= i < 3 }\"\nchild:\n  \
         schedule: \"[{ S[i] -> [(i)]; T[i] -> [(i)] }]\"\n  child:\n    mark: \"both\"\n    child:\n      \
         sequence:\n      - filter: \"{ S[i] }\"\n      - filter: \"{ T[i] }\"\n",
    );
    check(&ast, "for (int c0 = 0; c0 <= 2; c0 += 1) {\n  /* both */\n  S(c0);\n  T(c0);\n}\n");
}

#[test]
fn overlapped_tiles_by_an_extension() {
    let ast = of_tree(
        "domain: \"[N] -> { B[i] : 0 <= i < N }\"\nchild:\n  \
         schedule: \"[{ B[i] -> [(4*floor((i)/4))] }]\"\n  child:\n    \
         extension: \"[N] -> { [t] -> A[i] : t - 1 <= i <= t + 4 and 0 <= i < N }\"\n    child:\n      \
         sequence:\n      - filter: \"{ A[i] }\"\n        child:\n          schedule: \"[{ A[i] -> [(i)] }]\"\n      \
         - filter: \"{ B[i] }\"\n        child:\n          schedule: \"[{ B[i] -> [(i)] }]\"\n",
    );
    assert_eq!(
        run(&ast, &[6]),
        "A[0] A[1] A[2] A[3] A[4] B[0] B[1] B[2] B[3] A[3] A[4] A[5] B[4] B[5]"
    );
}

#[test]
fn an_expansion_runs_the_grouped_instances() {
    let ast = of_tree(
        "domain: \"{ P[i] : 0 <= i < 3 }\"\nchild:\n  schedule: \"[{ P[i] -> [(-i)] }]\"\n  child:\n    \
         contraction: \"{ S[i] -> P[i]; T[i] -> P[i] }\"\n    \
         expansion: \"{ P[i] -> S[i]; P[i] -> T[i] }\"\n    child:\n      sequence:\n      \
         - filter: \"{ T[i] }\"\n      - filter: \"{ S[i] }\"\n",
    );
    assert_eq!(run(&ast, &[]), "T[2] S[2] T[1] S[1] T[0] S[0]");
}

#[test]
fn an_isolated_part_has_its_own_loops() {
    let text = |isolate: &str| {
        format!(
            "domain: \"[N] -> {{ S[i] : 0 <= i < N }}\"\nchild:\n  \
             schedule: \"[{{ S[i] -> [(4*floor((i)/4))] }}, {{ S[i] -> [(i)] }}]\"\n  \
             options: \"[N] -> {{ {isolate} }}\"\n"
        )
    };
    let isolated = of_tree(&text("isolate[[] -> [t, i]] : 0 <= t and t + 3 < N"));
    let plain = of_tree(&text(""));
    for n in 0..14 {
        assert_eq!(run(&isolated, &[n]), run(&plain, &[n]));
    }
    // The full tiles have four iterations, without a minimum.
    assert!(isolated.to_string().contains("c1 <= c0 + 3"), "{isolated}");
}

#[test]
fn a_part_that_is_isolated_whatever_the_outer_loops_are_is_so_below_them() {
    let code = |isolate: &str| {
        let text = format!(
            "domain: \"[N] -> {{ S[i, j] : 0 <= i < N and 0 <= j < N }}\"\nchild:\n  \
             schedule: \"[{{ S[i, j] -> [(i)] }}]\"\n  child:\n    \
             schedule: \"[{{ S[i, j] -> [(j)] }}]\"\n    \
             options: \"[N] -> {{ {isolate} }}\"\n"
        );
        of_tree(&text)
    };
    let below = code("isolate[[] -> [j]] : 2 <= j < 5");
    assert_eq!(below.to_string(), code("isolate[[i] -> [j]] : 2 <= j < 5").to_string());
    assert_ne!(below.to_string(), code("").to_string());
    assert_eq!(run(&below, &[6]), run(&code(""), &[6]));
}

#[test]
fn several_instances_at_one_point_and_the_other_way_round() {
    let many = of_map("{ S[i, j] -> [i] : 0 <= i < 2 and 0 <= j < 2 }", "{ }");
    assert_eq!(run(&many, &[]), "S[0, 0] S[0, 1] S[1, 0] S[1, 1]");
    let again = of_map("{ S[i] -> [k] : 0 <= i < 2 and i <= k <= i + 1 }", "{ }");
    assert_eq!(run(&again, &[]), "S[0] S[0] S[1] S[1]");
}

#[test]
fn a_schedule_without_last_point_is_a_loop_without_end() {
    let endless = of_map("[n] -> { S[i] -> [i] : i >= n }", "{ }");
    check(&endless, "for (int c0 = n; 1; c0 += 1)\n  S(c0);\n");
    let mut calls = Vec::new();
    let end = endless.run_with(&[4], 9, |_, point| calls.extend_from_slice(point));
    assert!(matches!(end, Err(Error::Presburger(tangram_presburger::Error::Steps { limit: 9 }))));
    // One test finds the loop, and two steps make each call.
    assert_eq!(calls, [4, 5, 6, 7]);
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let budget = Budget::unlimited();
    let schedule = Union::parse("{ S[i] -> [i] : i >= 0 }", &budget).expect("a map");
    let empty = Union::empty();
    let options = AstOptions::default();
    let before = Union::parse("{ S[i] -> [i] : i <= 0 }", &budget).expect("a map");
    let no_start = Ast::of_map(&before, None, &empty, &options, &budget);
    let error = no_start.expect_err("no first value").to_string();
    assert!(error.starts_with("the loop `c0` over `S` has no first value"), "{error}");
    let few = Ast::of_map(&schedule, None, &empty, &options, &Budget::steps(3));
    assert!(matches!(few, Err(Error::Presburger(tangram_presburger::Error::Steps { .. }))));
    let wrong = MapInput::parse("# only a map\n{ S[i] -> [i] }\n{ [", &budget);
    assert!(matches!(wrong, Err(Error::Notation { line: 3, .. })), "{wrong:?}");
}

/// Place and message of what is wrong with a text of the form `.in`.
fn wrong(text: &str) -> (Option<(usize, usize)>, String) {
    let error = MapInput::parse(text, &Budget::unlimited()).expect_err(text);
    (error.place(&[]), error.without_place())
}

#[test]
fn parts_of_a_text_are_wrong_at_their_place() {
    for (text, place, said) in [
        ("", (1, 1), "expected schedule, as in `{ ... }`"),
        ("{ S[i] -> [i] }\n\n", (1, 16), "expected context, as in `{ : }`"),
        ("{ S[i] -> [i] }\n{ : }\n", (2, 6), "expected options, as in `{ }`"),
        ("{ S[i] ->\n  [j] : k }{ : }{ }", (2, 9), "a name in scope"),
        ("{ S[i] -> [i] }\n{ S[i]; T[i] }\n{ }", (2, 1), "`context`"),
        (
            "{ S[i] -> [i] }\n{ S[i] : i > 3 }\n{ }",
            (2, 1),
            "`context`: expected the space `[..] -> { : .. }`",
        ),
        ("{ S[i] -> [i] } { : }\n{ }\n # more\n  { }", (4, 3), "expected the end behind"),
    ] {
        let (found, message) = wrong(text);
        assert_eq!(found, Some(place), "{text}: {message}");
        assert!(message.contains(said), "{text}: {message}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    // Columns are those of the options in `{ S[i, j] -> [i, j] } { : }` and what follows.
    for (options, column, said) in [
        ("{ [i, j] -> unrol[0] }", 41, "options are atomic, separate, separation_class, unroll"),
        ("{ [i, j] -> unroll[1]; [i, j] -> sperate[0] }", 62, "no option `sperate`"),
        ("{ [i, j] -> isolate[[] -> [0, 0]] }", 41, "no option `isolate`"),
        ("{ [i, j] -> unroll[0]; [i, j] -> unroll[7] }", 41, "there are 2, counted from 0"),
        ("{ [i, j] -> unroll[-1] }", 41, "there are 2, counted from 0"),
        ("{ [i, j] -> separation_class[[2] -> [0]] }", 41, "there are 2, counted from 0"),
        ("{ [i, j] -> separation_class[2] }", 41, "`separation_class[[0] -> [1]]`"),
        ("{ [i, j] -> unroll[0, 1] }", 41, "expected one dimension, `unroll[0]`"),
        ("{ unroll[0] }", 31, "expected where it holds, as in `[i] -> unroll[0]`"),
    ] {
        let (place, message) = wrong(&format!("{{ S[i, j] -> [i, j] }} {{ : }} {options}"));
        assert_eq!(place, Some((1, column)), "{options}: {message}");
        assert!(message.contains(said), "{options}: {message}");
    }
    // What has no end is for as many dimensions as there are; a map without points has none.
    for options in [
        "{ [i, j] -> unroll[x] : x >= 5; [i, j] -> separate[x] : x < 0 }",
        "{ [i, j] -> atomic[x]; [i, j] -> separation_class[[x] -> [1]] : i > 3 }",
        "{ }",
    ] {
        let input = MapInput::parse(
            &format!("{{ S[i, j] -> [i, j] }} {{ : }} {options}"),
            &Budget::unlimited(),
        );
        assert!(input.expect(options).idle.is_none(), "{options}");
    }
    // isl passes over options for other points, and so do we, but say so.
    let other = "{ S[i, j] -> [i, j] } { : } { [i, j, k] -> unroll[0] }";
    let idle = MapInput::parse(other, &Budget::unlimited()).expect("an input").idle;
    let idle = idle.expect("an option without effect");
    assert_eq!(idle.place(&[]), Some((1, 44)));
    assert!(idle.without_place().ends_with("the points of the map are `[*, *]`"), "{idle}");
}

/// Compiles code of parameters `N` and `M` that calls `S[i, j]` and `T[i]`, and compares what it
/// runs with what the interpreter runs; `name` tells the files of tests apart.
fn compare_with_compiler(name: &str, ast: &Ast, cases: &[(i128, i128)]) {
    let program = format!(
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n{}\n\
         void S(int64_t i, int64_t j) {{ printf(\"S[%d, %d] \", (int)i, (int)j); }}\n\
         void T(int64_t i) {{ printf(\"T[%d] \", (int)i); }}\n\
         static void run(int64_t N, int64_t M) {{\n{ast}}}\n\
         int main(int n, char **v) {{\n  run(atoll(v[1]), atoll(v[n - 1]));\n  return 0;\n}}\n",
        Ast::macros()
    );
    let folder = std::env::temp_dir().join(format!("tangram-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, binary) = (folder.join("loops.c"), folder.join("loops"));
    std::fs::write(&source, program).expect("written");
    let flags = ["-std=c99", "-Wall", "-Werror", "-O1", "-o"];
    let Ok(compiled) = Command::new("cc").args(flags).arg(&binary).arg(&source).output() else {
        println!("skipped: needs cc");
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    for (n, m) in cases {
        let out =
            Command::new(&binary).args([n.to_string(), m.to_string()]).output().expect("runs");
        assert_eq!(String::from_utf8_lossy(&out.stdout).trim_end(), run(ast, &[*n, *m]), "{ast}");
    }
    // A folder that stays behind does no harm.
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn a_compiler_runs_the_same() {
    let ast = of_map(
        "[N, M] -> { S[i, j] -> [floor((i - 2*j)/3), j, 0] : 0 <= i < N and -M <= j < i; \
         T[i] -> [i, floor(i/2), 1] : 0 <= i <= 3*M and 2*floor((i + N)/2) = i + N }",
        "{ }",
    );
    compare_with_compiler("ast", &ast, &[(0, 0), (1, 3), (7, 2), (10, 5)]);
}

#[test]
fn remainders_of_negative_values_are_right_in_c() {
    // A sum without a bound is only asked whether it is a multiple; one with a bound is raised.
    let ast = of_map(
        "[N, M] -> { S[i, j] -> [i, j] : -4 <= i <= 4 and -N <= j <= 3 and i mod 5 >= 3; \
         T[i] -> [i, 4] : -4 <= i <= 4 and (i + M) mod 2 = 0 }",
        "{ }",
    );
    let text = ast.to_string();
    assert!(text.contains(" % 2 == 0") && text.contains(" % 5 >= 3"), "{text}");
    compare_with_compiler("remainders", &ast, &[(3, 0), (4, 1), (4, -3), (6, -8), (5, 17)]);
    for m in -5..=5_i128 {
        let trace = ast.run(&[2, m], 1000).expect("an end");
        let runs = |name: &str, i: i128| {
            trace.iter().filter(|run| run.statement == name && run.point[0] == i).count()
        };
        for i in -4..=4_i128 {
            let (s, t) = (i.rem_euclid(5) >= 3, (i + m).rem_euclid(2) == 0);
            assert_eq!(
                (runs("S", i), runs("T", i)),
                (6 * usize::from(s), usize::from(t)),
                "{i}, {m}"
            );
        }
    }
}

#[test]
fn opposite_conditions_are_one_condition_and_its_else() {
    let text = "domain: \"[N] -> { A[] : N > 3; B[] : N <= 3; C[] : N > 5 }\"
child:
  sequence:
  - filter: \"{ A[] }\"
  - filter: \"{ B[] }\"
  - filter: \"{ C[] }\"
";
    let ast = of_tree(text);
    check(&ast, "if (N >= 4)\n  A();\nelse\n  B();\nif (N >= 6)\n  C();\n");
    assert_eq!(run(&ast, &[3]), "B[]");
    assert_eq!(run(&ast, &[4]), "A[]");
    assert_eq!(run(&ast, &[6]), "A[] C[]");
}

#[test]
fn a_piece_with_a_stride_is_no_value() {
    let ast = of_tree(
        "domain: \"[m, n] -> { S[i, j] : i mod 2 = 0 and j mod 2 = 1 and n >= 0 and 0 <= i <= (n mod 4) + 1 and 1 <= j < m }\"
child:
  schedule: \"[m, n] -> [{ S[i, j] -> [(i - floor((3i + 3)/4))] }, { S[i, j] -> [(i)] }]\"
  permutable: 1
  options: \"[m, n] -> { isolate[[] -> [i0]] : i0 mod 2 = 0 and n >= 0 and m >= 2 and 0 <= i0 <= (n mod 4) + 1 }\"
",
    );
    assert_eq!(ast.params(), ["m", "n"]);
    assert_eq!(run(&ast, &[2, 3]), "S[0, 1] S[2, 1] S[4, 1]");
}

#[test]
fn a_dimension_with_one_value_is_not_written() {
    let text = |isolate: &str| {
        format!(
            "domain: \"[N] -> {{ S[i = N - 3, j] : N - 3 <= j < N }}\"\nchild:\n  \
             schedule: \"[{{ S[i, j] -> [(i)] }}, {{ S[i, j] -> [(floor((2*i + j)/2))] }}, \
             {{ S[i, j] -> [(2*i + j)] }}]\"\n  options: \"[N] -> {{ {isolate} }}\"\n"
        )
    };
    let plain = of_tree(&text(""));
    for isolate in [
        "N + 2i0 - 3 <= 2i1 <= N + 2i0 - 2",
        "N + 2i0 - 2 <= 2i1 <= 2i0 + 2N - 8",
        "i1 <= floor((N + 2i0)/3)",
        "2i0 + 2 <= i2 and i2 + i1 <= 4i0 + 9",
    ] {
        let isolated = of_tree(&text(&format!("isolate[[] -> [i0, i1, i2]] : {isolate}")));
        // A name without a loop would have no value here.
        for n in -2..12 {
            assert_eq!(run(&isolated, &[n]), run(&plain, &[n]), "{isolated}");
        }
        assert!(!isolated.to_string().contains("c0"), "{isolated}");
    }
}

#[test]
fn loops_around_nothing_do_not_run() {
    let mut options = AstOptions::default();
    options.guard_idle_loops = true;
    // The inner loop is short, and the outer one would go round without it.
    for (short, guard) in
        [("n mod 7", "n >= 7 * floord(n, 7) + 1"), ("floor(n / 3)", "n >= 3"), ("n", "n >= 1")]
    {
        let text = format!("[n, m] -> {{ S[i, j] -> [i, j] : 0 <= i < m and 0 <= j < {short} }}");
        let budget = Budget::steps(5_000_000);
        let schedule = Union::parse(&text, &budget).expect("a map");
        let ast = Ast::of_map(&schedule, None, &Union::empty(), &options, &budget).expect("code");
        let code = ast.to_c(&CStyle::default());
        let first = code.lines().next().unwrap_or_default();
        assert!(first.starts_with("if (") && first.contains(guard), "{code}");
        for params in [[-8, 2], [0, 2], [1, 2], [2, 2], [3, 2], [7, 2], [16, 2], [17, 0]] {
            let most = match short {
                "n mod 7" => i128::rem_euclid(params[0], 7),
                "n" => params[0],
                _ => i128::div_euclid(params[0], 3),
            };
            let count = run(&ast, &params).split_whitespace().count() as i128;
            assert_eq!(count, 2 * most.max(0) * params[1], "{params:?}\n{code}");
        }
    }
}
