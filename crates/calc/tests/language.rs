//! Programs and what they print.

mod support;

use support::{fails, run};
use tangram_calc::Session;

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
fn results_have_names_where_they_are_asked_for() {
    let mut session = Session::default().with_named_results();
    let mut run = |program: &str| {
        let mut lines = Vec::new();
        let outcome = session.run_with(program, |printed| {
            lines.push(format!("{} {}", printed.name.unwrap_or("-"), printed.value));
        });
        outcome.map(|()| lines).map_err(|error| error.message)
    };
    // Texts and what `print` prints have none, and do not count.
    let lines = run("1; 2 + 3; print 4; \"text\"; A := 6; $0 + $1; A; ($0, $2)[1];");
    assert_eq!(lines.unwrap(), ["$0 1", "$1 5", "- 4", "- text", "$2 6", "$3 6", "$4 6"]);
    assert_eq!(run("$4 * $1;").unwrap(), ["$5 30"]);
    assert_eq!(run("$6;").unwrap_err(), "expected a value, found `$6`, which is no result");
    let refused = "expected a name that is not an operator, verb or result, found `$0`";
    assert_eq!(run("$0 := 1;").unwrap_err(), refused);
    assert_eq!(run("1 + $;").unwrap_err(), "expected a token, found `$`");
    // In a program that is no conversation there are none.
    assert!(fails("1; $0;").contains("no result"));
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
        ("x;", "line 1, column 1: expected a value, found `x`; `x := ...;` gives it one"),
        ("1 / 0;", "line 1, column 3: 1 cannot be divided by 0; the divisor must be another"),
        ("card 3;", "line 1, column 1: `card` does not work on a number; it takes a set or map"),
        (
            "{ [0] } * { [i] -> [i] };",
            "line 1, column 9: `*` does not work on a set and a map; it intersects or multiplies; a set behind a map restricts inputs; `and` of booleans",
        ),
        ("(1, 2)[2];", "line 1, column 7: expected an index from 0 to 1, found 2"),
        (
            "card := 1;",
            "line 1, column 1: expected a name that is not an operator, verb or result, found `card`",
        ),
        ("last { } under { };", "line 1, column 10: expected `before`, found `under`"),
        ("read \"a\";", "line 1, column 6: files are not within reach of this session"),
        (
            "{ [i] -> [i + 1] }^0;",
            "line 1, column 19: expected an exponent other than 0; `identity (dom M + ran M)` is what no step reaches",
        ),
        (
            "scan { [i] : i > 0 };",
            "line 1, column 1: dimension 0 is unbounded; intersect with a set that bounds it",
        ),
        (
            "lexmin [N] -> { S[i] : i <= N };",
            "line 1, column 1: dimension 0 (`i`) of `S` has no least value where [N] -> { : }; intersect with a set that bounds it",
        ),
        (
            "lexmax { A[i] -> B[j] : i >= 0 and j >= 0 and (j <= 5 or i >= 7) };",
            "line 1, column 1: dimension 0 (`j`) of `B` has no greatest value where { A[i] : i >= 7 }; intersect with a set that bounds it",
        ),
        (
            "scan [n] -> { [i] : 0 < i < 3 };",
            "line 1, column 1: the parameter `n` has no value here; intersect with a set that gives it one",
        ),
        ("A := { [i] };\n  A + ;", "line 2, column 7: expected a value, found `;`"),
        ("{ [i] : i >= }", "line 1, column 14: expected an expression, found `}`"),
        (
            "{ [i] };\n{ [i] : j > 0 };",
            "line 2, column 9: expected a name in scope (`[j] -> { .. }` makes `j` a parameter), found `j`",
        ),
        ("{ [i] ", "line 1, column 1: expected `}` after this, found the end"),
        ("assert { [1] } = { [2] };", "line 1, column 1: the assertion does not hold"),
        (
            "n := 1; 1 + { [i] };",
            "line 1, column 11: `+` does not work on a number and a set; it unites sets or maps, adds functions or numbers, joins strings, `or` of booleans",
        ),
        ("{ [i] } 3;", "line 1, column 9: expected `;`, found `3`"),
        (
            "S := { S[i] -> [i] };\ncodegen S using { [i] -> unrol[0] };",
            "line 2, column 26: there is no option `unrol` here; options are atomic, separate, separation_class, unroll",
        ),
        (
            "O := { [i, j] -> unroll[0] }; codegen { S[i] -> [i] } using O;",
            "line 1, column 61: `{ [i, j] -> unroll[0] }` has no effect: the points of the map are `[*]`",
        ),
        (
            "S := schedule { S[i] }; codegen S using { [i] -> unroll[0] };",
            "line 1, column 35: `using` is for maps: the bands of a schedule tree have their options",
        ),
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
        ("ub { [i] -> i^2 : -1 <= i <= 3 };", "({ max(9) }, False)"),
        ("typeof (lb { [i] -> i : 1 <= i <= 3 })[0];", "piecewise quasipolynomial fold"),
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

#[test]
fn numbers_are_exact_and_of_any_size() {
    for (program, expected) in [
        ("1 / 3 + 1 / 6;", "2/9"),
        ("1 / 3 + (1 / 6);", "1/2"),
        (
            "99999999999999999999999999999999999999999 * 10;",
            "999999999999999999999999999999999999999990",
        ),
        ("-(2 / 4);", "-1/2"),
        ("1 / 2 < (2 / 3);", "True"),
        ("True * False + True;", "True"),
        ("(1, True) + 1;", "2"),
    ] {
        assert_eq!(run(program), [expected], "{program}");
    }
}

#[test]
fn functions_apply_to_sets_and_after_relations() {
    for (program, holds) in [
        // Values of i^2 at 2 and 3, and their sum.
        ("{ [i] -> i^2 } @ { [2]; [3] } = { [i] -> 4 : i = 2; [i] -> 9 : i = 3 }", true),
        ("{ [i] -> i^2 }({ [i] : 2 <= i <= 3 }) = { 13 }", true),
        // The sum of j over 0 <= j <= i is i (i + 1) / 2.
        (
            "{ [i] -> [j] : 0 <= j <= i } . { [j] -> j } = { [i] -> (1/2 * i + 1/2 * i^2) : i >= 0 }",
            true,
        ),
        (
            "{ [j] -> j }({ [i] -> [j] : 0 <= j <= i }) = { [i] -> (1/2 * i + 1/2 * i^2) : i >= 0 }",
            true,
        ),
        (
            "[n] -> { A[j] -> n * j } after [m] -> { [i] -> A[j] : i <= j <= m } = { [i] -> 0 }",
            false,
        ),
        ("dom { [i] -> i : 0 <= i <= 4 } = { [i] : 0 <= i <= 4 }", true),
        (
            "sum (card { [[i] -> [j]] -> [k] : 0 <= k < j <= i < 3 }) = { [i] -> (1/2 * i + 1/2 * i^2) : 1 <= i < 3 }",
            true,
        ),
        (
            "({ [i] -> i : 0 <= i <= 4 } % { [i] : i >= 0 }) * { [i] : i >= 0 } = { [i] -> i : 0 <= i <= 4 }",
            true,
        ),
        // Bounds: the greater one, moved, restricted.
        (
            "(ub { [i] -> i : 0 <= i <= 4 }) . (ub { [i] -> 2 * i : 1 <= i <= 3 }) = (ub { [i] -> i : 6 <= i <= 6 })",
            true,
        ),
        ("(ub { [i] -> i : 0 <= i <= 4 }) + { 3 } = (ub { [i] -> i : 0 <= i <= 7 })", true),
        ("poly [n] -> { 3 * floor(n/2) } = [n] -> { 3/2 * n }", true),
        ("upoly [n] -> { 3 * floor(n/2) } = [n] -> { 3/2 * n }", true),
        ("lpoly [n] -> { 3 * floor(n/2) } = [n] -> { 3/2 * n - 3/2 }", true),
        // What a bound is printed as is read again.
        ("(ub { [i] -> i : 0 <= i <= 4 }) = { max(4) }", true),
        ("2 * (ub { [i] -> i : 0 <= i <= 4 }) = (ub { [i] -> i : 0 <= i <= 8 })", true),
        ("-1 * (ub { [i] -> i : 0 <= i <= 4 }) = (lb { [i] -> i : -4 <= i <= 0 })", true),
        (
            "dom ((ub [n] -> { [i] -> i : 0 <= i <= n }) * [n] -> { : n >= 3 }) = [n] -> { : n >= 3 }",
            true,
        ),
    ] {
        let answer = run(&format!("{program};"));
        assert_eq!(answer, [if holds { "True" } else { "False" }], "{program}");
    }
}

#[test]
fn a_pair_with_exactness_stands_for_its_result() {
    run("R := [n] -> { [i] -> [i + 1] : 0 <= i < n };
        assert R^+ * { [0] } = [n] -> { [0] -> [j] : 0 < j <= n };
        assert (R^+)^-1 = [n] -> { [j] -> [i] : 0 <= i < j <= n };
        assert R^-2 = [n] -> { [i] -> [i - 2] : 2 <= i <= n };
        assert { [i] -> [-i] } << { [i] -> [i] } = { [i] -> [j] : -i < j };
        assert ({ [i] -> [j] : i > 0 and j > 0 } % { [i] : i > 0 }) * { [i] : i > 0 } = { [i] -> [j] : i > 0 and j > 0 };
        assert box { [i, j] : 0 <= i <= 2j and j <= 3 } = { [i, j] : 0 <= i <= 6 and 0 <= j <= 3 };
        assert strides { [i, j] : i mod 4 = 1 and j mod 2 = 0 and i > j } = { [i, j] : i mod 4 = 1 and j mod 2 = 0 };
        assert (dom (unwrap (lift { [i] : i mod 3 = 1 }))) = { [i] : i mod 3 = 1 };
        assert project_out({ [i, j] : 0 <= i <= j <= 4 }, \"j\") = { [i] : 0 <= i <= 4 };");
}

#[test]
fn dependences_schedules_and_code_are_within_reach() {
    // a[i] is written by S and read by T one iteration later.
    let program = "D := [n] -> { S[i] : 0 <= i < n; T[i] : 1 <= i < n };
        W := { S[i] -> a[i] } * D;
        R := { T[i] -> a[i - 1] } * D;
        O := { S[i] -> [i, 0]; T[i] -> [i, 1] };
        F := last W before R under O;
        assert F[0] = [n] -> { S[i] -> T[i + 1] : 0 <= i < n - 1 };
        assert F[1] = { };
        assert any W before R under O = F[0];
        assert last W any W before R under O = F[0];
        S := schedule D respecting F[0] minimizing F[0];
        assert typeof S = \"schedule\";
        assert dom S = D;
        # The source comes before the sink.
        assert (F[0] <= (S << S));
        assert map (tree (map S)) = map S;";
    run(program);
    let code = run("codegen { S[i] -> [i] : 0 <= i < 3 };");
    assert_eq!(code, ["for (int64_t c0 = 0; c0 <= 2; c0 += 1)\n  S(c0);"]);
    let code = run("codegen { S[i] -> [i] : 0 <= i < 3 } using { [i] -> unroll[0] };");
    assert_eq!(code, ["S(0);\nS(1);\nS(2);"]);
    let same = run("codegen { S[i] : 0 <= i < 3 };");
    assert!(same[0].contains("S(c0)"), "{same:?}");
    let tree = run("codegen (schedule { S[i] : 0 <= i < 3 });");
    assert!(tree[0].contains("S(c0)"), "{tree:?}");
}

#[test]
fn schedules_are_edited_and_go_from_form_to_form() {
    run("M := { S[i, j] -> [i, j] : 0 <= i, j < 4 };
         P := { S[i, j] -> S[i + 1, j - 1] : 0 <= i < 3 and 1 <= j < 4 };
         T := edit (tree M) using \"find band; skew 1 0 1; interchange 0 1\" respecting P;
         assert map T = { S[i, j] -> [i + j, i] : 0 <= i, j < 4 };
         K := { S[i] -> [i, 0] : 0 <= i < 4; T[i, j] -> [i, 1, j] : 0 <= i, j < 4 };
         assert kelly (tree_of_kelly K) = K;
         R := { S[i] -> [0, i, 0] : 0 <= i < 4; T[i, j] -> [0, i, 1, j, 0] : 0 <= i, j < 4 };
         assert regular (tree_of_kelly R) = R;
         A := { S[i] -> [i] : 0 <= i < 4; T[i, j] -> [j, i] : 0 <= i, j < 4 };
         assert affine (tree_of_affine A) = A;
         C := { S[i] -> [i] : 0 <= i < 4; S[i] -> [i + 9] : 1 <= i < 3 };
         assert map_of_roots (tree_with_copies C) = C;");
    let broken = "edit (tree { S[i, j] -> [i, j] : 0 <= i, j < 4 }) using \"find band; interchange 0 1\" \
                  respecting { S[i, j] -> S[i + 1, j - 1] : 0 <= i < 3 and 1 <= j < 4 };";
    let error = Session::default().run(broken).expect_err("backwards").to_string();
    assert!(error.contains("runs an instance before one that it depends on"), "{error}");
}

/// Files in memory.
#[derive(Debug)]
struct Memory(std::sync::Arc<std::sync::Mutex<std::collections::BTreeMap<String, String>>>);

impl tangram_calc::Host for Memory {
    fn read(&self, path: &str) -> Result<String, String> {
        let files = self.0.lock().map_err(|error| error.to_string())?;
        files.get(path).cloned().ok_or_else(|| format!("{path}: no such file"))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let mut files = self.0.lock().map_err(|error| error.to_string())?;
        files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    fn scop(
        &self,
        path: &str,
        _: &tangram_presburger::Budget,
    ) -> Result<tangram_polyhedral::scop::Scop, String> {
        Err(format!("{path}: no C here"))
    }
}

#[test]
fn files_are_read_written_and_run() {
    let files = std::sync::Arc::new(std::sync::Mutex::default());
    let mut session = Session::default().with_host(Memory(std::sync::Arc::clone(&files)));
    let lines = session.run(
        "A := { [i] : 0 <= i < 3 }; write \"a\" A; assert read \"a\" = A;
         write \"s\" schedule A; assert dom (read \"s\") = A;
         write \"p\" \"B := card A; B;\"; source \"p\"; assert B = { 3 };
         assert plot \"x.svg\" A = \"x.svg\"; assert read \"a\" <= A;",
    );
    assert_eq!(lines, Ok(vec!["{ 3 }".to_owned()]));
    assert!(session.run("plot { [0] };").expect("draws")[0].starts_with("<svg"));
    let missing = session.run("read \"b\";").expect_err("no file").to_string();
    assert_eq!(missing, "line 1, column 6: b: no such file");
    let inner = session.run("write \"q\" \"1;\n2 +;\"; source \"q\";").expect_err("wrong");
    assert!(inner.message.starts_with("q:2:4: expected a value, found `;`"), "{inner}");
    let looping = session.run("write \"r\" \"source r\"; source \"r\";").expect_err("no text");
    assert!(looping.message.contains("r:1:8: expected the name of a file"), "{looping}");
}

#[test]
fn files_that_run_themselves_are_refused_once() {
    let texts = [("a", "1;\nsource \"a\";"), ("b", "source \"c\";"), ("c", " source \"b\";")];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let files = std::sync::Arc::new(std::sync::Mutex::new(texts.into_iter().collect()));
    let session = || Session::default().with_host(Memory(std::sync::Arc::clone(&files)));
    let own = session().with_file("a").run("1;\nsource \"a\";").expect_err("a circle");
    assert_eq!(own.to_string(), "line 2, column 8: `a` runs itself");
    let round = session().run("source \"b\";").expect_err("a circle");
    assert_eq!(round.message, "b:1:8: c:1:9: `b` runs itself, by `c`");
    // One file may run another one twice.
    session().run("write \"d\" \"1;\"; source \"d\"; source \"d\";").expect("no circle");
}

#[test]
fn every_word_of_iscc_is_known() {
    // The table of operations in barvinok's manual.
    let words = "aff card coalesce codegen using coefficients solutions cross cross_range deltas \
        deltas_map dom domain domain_map ran range range_map identity lattice_width lb lexmin \
        lexmax lift map params parse_file poly lpoly upoly pow print read sample scan source sum \
        typeof ub vertices wrap unwrap write zip any last before under schedule respecting \
        minimizing after assert";
    let known = ["using", "under", "respecting", "minimizing"];
    for word in words.split_whitespace().filter(|word| !known.contains(word)) {
        assert!(run(&format!("help {word};"))[0].starts_with(word), "{word}");
    }
    let session = Session::default();
    for word in known {
        let (_, words) = tangram_calc::complete(&session, word, word.len());
        assert!(words.iter().any(|known| known == word), "{word}");
    }
    for sign in ["+", "-", "*", "@", "%", ".", "->", "->*", "->-", "=", "==", "<=", "<", ">", "<<"]
    {
        assert!(run(&format!("help {sign};"))[0].starts_with(sign), "{sign}");
    }
}

#[test]
fn every_word_is_explained_and_completes() {
    let session = Session::default();
    let help = run("help;").concat();
    for word in ["card", "codegen", "any", "last", "schedule", "plot", "cross_range", "strides"] {
        assert!(help.contains(&format!("\n  {word} ")), "{word}");
        assert!(run(&format!("help {word};"))[0].starts_with(word), "{word}");
        let (_, words) = tangram_calc::complete(&session, word, word.len());
        assert!(words.iter().any(|known| known == word), "{word}");
    }
    assert!(fails("help nothing;").contains("`help;` lists them"));
}

#[test]
fn infinity_is_a_value_of_counts_and_no_value_that_of_sums() {
    run("assert card { [i] : i >= 0 } = { infty };
        assert card [n] -> { [i, j] : 0 <= i <= n and j >= i } = [n] -> { infty : n >= 0 };
        assert card [n] -> { [i] : i >= 0 and n > 0; [i] : -10 < i < 0 and n < 8 }
            = [n] -> { infty : n > 0; 9 : n <= 0 };
        assert card { A[i] -> B[j] : j >= i } = { A[i] -> infty };
        # No integer is between a third and two thirds.
        assert card { [i, j] : i >= 0 and 1 <= 3j <= 2 } = { };
        assert (sum { [i] -> i : i >= 0 }) + \"\" = \"{ NaN }\";
        assert (sum { [i] -> 0 : i >= 0 }) + \"\" = \"{ 0 }\";
        I := card { [i] : i >= 0 };
        assert I + { 1 } = I; assert (-2 * I) + \"\" = \"{ -infty }\"; assert (I - I) + \"\" = \"{ NaN }\";
        assert (I = { 7 }) = False; assert I != { NaN };");
}

#[test]
fn a_picture_is_one_of_all_that_follows() {
    // As what is written by `write` is; within an expression, it is an operand as any other.
    let both = run("plot { [0] } + { [7] };");
    assert_eq!(both, run("plot ({ [0] } + { [7] });"));
    assert_ne!(both, run("plot { [0] };"));
}

#[test]
fn what_is_no_program_is_told_from_what_fails() {
    for (program, is_syntax) in [
        ("{ [1] } + ;", true),
        ("{ [i] : i < n };", true),
        ("{ [i] ", true),
        ("?;", true),
        ("scan { [i] : i > 0 };", false),
        ("assert False;", false),
        ("{ [1] } + 2;", false),
    ] {
        let error = Session::default().run(program).expect_err(program);
        assert_eq!(error.is_syntax, is_syntax, "{program}: {error}");
    }
}
