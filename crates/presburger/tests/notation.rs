//! The notation, facts about parametric sets, and claims of the source texts that are wrong.

use tangram_presburger::{Budget, Error, Relation, Union};

fn read(text: &str) -> Relation {
    Relation::parse(text, &Budget::steps(20_000_000))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn equal(a: &str, b: &str) -> bool {
    read(a)
        .is_equal(&read(b), &Budget::steps(20_000_000))
        .unwrap_or_else(|error| panic!("{a}: {error}"))
}

#[test]
fn different_texts_mean_the_same() {
    for (a, b) in [
        ("[n] -> { [i] : 0 <= i < n }", "[n] -> { [i] : i >= 0 and i <= n - 1 }"),
        ("{ [i] : exists k: i = 2k }", "{ [i] : i mod 2 = 0 }"),
        ("{ [i] : exists (a, b: i = 6a + 4b) }", "{ [i] : i % 2 = 0 }"),
        ("{ [i] : forall k: k >= i implies k >= 3 }", "{ [i] : i >= 3 }"),
        ("{ [i] : not (i < 2 or i > 4) }", "{ [i] : 2 <= i <= 4 }"),
        ("{ [i, j] : i, j << 3, 4 }", "{ [i, j] : i < 3 or (i = 3 and j < 4) }"),
        ("{ [i] -> [i + 1, floor(i/3)] }", "{ [i] -> [a, b] : a = i + 1 and 3b <= i <= 3b + 2 }"),
        ("{ [i] : ceil(i/3) = 2 }", "{ [i] : i = 4 or i = 5 or i = 6 }"),
        ("{ A[i] : i = 1; A[i] : i = 2 }", "{ A[x] : 1 <= x <= 2 }"),
        ("[n, m] -> { [i] : i < n }", "[n] -> { [i] : i < n }"),
        ("{ [i] : exists k: 5i <= 7k <= 5i + 1 }", "{ [i] : i mod 7 = 0 or i mod 7 = 4 }"),
    ] {
        assert!(equal(a, b), "{a} and {b}");
    }
}

#[test]
fn parentheses_nest_so_far_and_no_further() {
    let nested =
        |depth: usize| format!("{{ [i] : {}i > 0{} }}", "(".repeat(depth), ")".repeat(depth));
    assert!(equal(&nested(40), "{ [i] : i > 0 }"));
    let error = Relation::parse(&nested(100_000), &Budget::steps(20_000_000));
    let error = error.expect_err("too deep").to_string();
    assert!(error.contains("less nesting"), "{error}");
}

#[test]
fn seeds_wrong_claims_are_refused() {
    // The union of two corner boxes is not the box around them.
    let boxes = "[N, M] -> { [i, j] : 0 <= i <= M and 0 <= j <= N; [i, j] : M <= i <= 2M and N <= j <= 2N }";
    assert!(!equal(boxes, "[N, M] -> { [i, j] : 0 <= i <= 2M and 0 <= j <= 2N }"));
    // `a < b` is `a <= b - 1`.
    assert!(!equal("{ [a, b] : a < b }", "{ [a, b] : a <= b }"));
    // A tile number is a floor, not an exact quotient.
    assert!(!equal("{ [j] -> [floor(j/32)] }", "{ [j] -> [o] : 32o = j }"));
    assert!(equal("{ [j] -> [floor(j/32)] }", "{ [j] -> [o] : 32o <= j <= 32o + 31 }"));
    // 4 <= 2x and 3x <= 5 has no solution, not even a rational one.
    assert!(equal("{ [x] : 4 <= 2x and 3x <= 5 }", "{ [x] : false }"));
    // Projection is not intersection with x = 0, and the rational shadow is not the integer one.
    assert!(!equal("{ [y] : exists x: y = x + 1 and x >= 3 }", "{ [y] : 0 >= 3 and y = 1 }"));
    assert!(!equal("{ [y] : exists x: 2x = y }", "{ [y] }"));
}

#[test]
fn example_of_projection_keeps_integers_only() {
    let exact = "{ [y, z] : exists x: x >= 7 + 5y - 2z and x <= 3 + 2y - z and 2x <= 10 + 5y - 4z \
                 and 3x >= -12 + 2y + 6z }";
    let set = read(exact);
    for y in -12..6_i128 {
        for z in -12..12_i128 {
            let inside = (-200..200_i128).any(|x| {
                x >= 7 + 5 * y - 2 * z
                    && x <= 3 + 2 * y - z
                    && 2 * x <= 10 + 5 * y - 4 * z
                    && 3 * x >= -12 + 2 * y + 6 * z
            });
            assert_eq!(set.contains(&[y, z]), Ok(inside), "y = {y}, z = {z}");
        }
    }
}

#[test]
fn bijections_and_surjections_are_told_apart() {
    let limit = Budget::unlimited();
    let shift = read("{ [i] -> [i + 1] }");
    assert_eq!(shift.is_bijective(&limit), Ok(true));
    assert_eq!(shift.is_surjective_onto(&read("{ [i] }"), &limit), Ok(true));
    let double = read("{ [i] -> [2i] }");
    assert_eq!(double.is_bijective(&limit), Ok(true));
    assert_eq!(double.is_surjective_onto(&read("{ [i] }"), &limit), Ok(false));
    assert_eq!(read("{ [i] -> [floor(i/2)] }").is_injective(&limit), Ok(false));
    assert_eq!(read("{ [i] -> [j] : i <= j }").is_single_valued(&limit), Ok(false));
}

#[test]
fn wrong_texts_name_the_column() {
    for (text, column) in [
        ("{ [i] : i < }", 13),
        ("{ [i] : j = 0 }", 9),
        ("[n] { [i] }", 5),
        ("{ [i] : i * i = 1 }", 15),
    ] {
        match Relation::parse(text, &Budget::unlimited()) {
            Err(Error::Syntax { column: found, .. }) => assert_eq!(found, column, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let deep = format!("{{ [i] : {}i = 0{} }}", "(".repeat(5000), ")".repeat(5000));
    assert!(matches!(Relation::parse(&deep, &Budget::unlimited()), Err(Error::Syntax { .. })));
    assert!(matches!("{ A[i]; B[i] }".parse::<Relation>(), Err(Error::Space { .. })));
}

#[test]
fn limits_are_errors_and_infinite_sets_have_no_list() {
    let hard =
        "{ [i] : exists a, b, c: 17a + 13b <= 19c + i <= 23a - 11b + 5 and 7a <= 5c <= 7a + 1 }";
    assert_eq!(Relation::parse(hard, &Budget::steps(10)).err(), Some(Error::Steps { limit: 10 }));
    let half_line = read("{ [i] : i >= 0 }");
    assert_eq!(half_line.points(&Budget::unlimited()), Err(Error::Unbounded { dim: 0 }));
    let huge = format!("{{ [i] : {}i >= {} and 3i <= {} }}", i128::MAX, i128::MAX, i128::MAX);
    huge.parse::<Relation>().expect("large numbers are no obstacle");
    let over =
        format!("{{ [i, j] : {}i >= 7j and {}j >= 5i and 2i + 3j <= 1 }}", i128::MAX, i128::MAX);
    let over = over.parse::<Relation>().expect("tableaus grow as wide as they need");
    assert!(!over.is_empty(&Budget::unlimited()).expect("an answer"));
    let literal = format!("{{ [i] : i >= {}0 }}", i128::MAX);
    let read = literal.parse::<Relation>().expect("any number of digits");
    assert_eq!(read.to_string(), literal);
}

#[test]
fn values_travel_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Relation>();
}

#[test]
fn what_isl_writes_is_read() {
    for (text, same) in [
        ("{ [i] : exists (e = floor(i/4): 4e = i) }", "{ [i] : i mod 4 = 0 }"),
        (
            "{ [b, c] : exists (e0 = [b/32], e1 = [c/32]: 32e0 = b and 32e1 = c) }",
            "{ [b, c] : b mod 32 = 0 and c mod 32 = 0 }",
        ),
        (
            "[n] -> { [i] : max(0, n - 3) <= i < min(n, 10) }",
            "[n] -> { [i] : 0 <= i and n - 3 <= i and i < n and i < 10 }",
        ),
        ("[n] -> { [min(n, 3)] }", "[n] -> { [i] : (n <= 3 and i = n) or (n > 3 and i = 3) }"),
        ("[n] -> { [i] : i <= max(n, 3) }", "[n] -> { [i] : i <= n or i <= 3 }"),
        (
            "{ [i] -> [(i > 0 ? i : -i)] }",
            "{ [i] -> [j] : (i > 0 and j = i) or (i <= 0 and j = -i) }",
        ),
        (
            "{ [a] -> [a - 1 : a > 0; a : a <= 0] }",
            "{ [a] -> [b] : (a > 0 and b = a - 1) or (a <= 0 and b = a) }",
        ),
        ("{ [x = 2:5, :7, 3:] }", "{ [x, y, z] : 2 <= x <= 5 and y <= 7 and z >= 3 }"),
        ("{ [i] : 2 * i mod 3 = 2 }", "{ [i] : i mod 3 = 1 }"),
        ("{ [-1//4, 0 - 1//4] }", "{ [-1, 0] }"),
        (
            "[N = 2, M] -> { [i = [(M + N)/4]] }",
            "[N, M] -> { [i] : N = 2 and i = floor((M + N)/4) }",
        ),
        ("{ [i] : i/2 >= 3 & i <= 2^3 | FALSE }", "{ [i] : 6 <= i <= 8 }"),
        ("{ [i] : ((i > 3) and (i < 9)) }", "{ [i] : 3 < i < 9 }"),
        ("{ [i] : ((i + 1) * 2) > 8 }", "{ [i] : i >= 4 }"),
        ("{ [*, i] : i = 1 }", "{ [a, 1] }"),
        ("[y] -> { A[1, o1] : 0 <= o1 <= y }", "[y] -> { A[a, b] : a = 1 and 0 <= b <= y }"),
    ] {
        let read = |text: &str| text.parse::<Relation>().unwrap_or_else(|e| panic!("{text}: {e}"));
        let (a, b) = (read(text), read(same));
        assert!(a.is_equal(&b, &Budget::unlimited()).expect("answered"), "{text} is {a}");
    }
    let rational = "{ rat: [i] }".parse::<Relation>().unwrap_err();
    assert_eq!(
        rational.to_string(),
        "column 3: expected integer points; `rat:` is for a RationalRelation, found `rat`"
    );
}

#[test]
fn the_notation_of_textbooks_is_read() {
    let same = |textbook: &str, ours: &str| {
        let budget = Budget::steps(1_000_000);
        let read = |text: &str| {
            Union::parse(text, &budget).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        assert!(read(textbook).is_equal(&read(ours), &budget).expect("decided"), "{textbook}");
    };
    same(
        "[N] -> { S1(i, j) : 3 ≤ i < 10 ∧ i ≤ j < N ∧ (i + 1) % 2 = 0 }",
        "[N] -> { S1[i, j] : 3 <= i < 10 and i <= j < N and (i + 1) mod 2 = 0 }",
    );
    same("{ S（i，j） ： i ＞ 0 ； T[] }", "{ S[i, j] : i > 0; T[] }");
    same("{ S(i) → A(j, i) : ∃ e : j = 2e ∧ ¬(i ≠ j) }", "{ S[i] -> A[i, i] : i mod 2 = 0 }");
    same("{ S(i) : ∀ e : e ≥ 0 ⇒ i ≤ e ∨ i ⩽ −1 }", "{ S[i] : i <= 0 }");
    same("{ S1(j, i) -> (⌊j/32⌋, i) }", "{ S1[j, i] -> [floor(j/32), i] }");
    same("{ S(i, j) : i, j ≺ 2, 3 }", "{ S[i, j] : i < 2 or (i = 2 and j < 3) }");
    for (text, column) in [("{ (i) : i > 0 }", 3), ("{ S[i] -> (i) }", 11)] {
        let error = Union::parse(text, &Budget::steps(1_000)).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("column {column}: expected a tuple, as `[i]`, found `(`")
        );
    }
}

#[test]
fn quotients_that_are_not_rounded_are_found() {
    let found = |text: &str| {
        let all = tangram_presburger::exact_quotients(text, &Budget::steps(1_000)).expect(text);
        all.into_iter().map(|(column, by)| format!("{column}: {by}")).collect::<Vec<_>>()
    };
    assert_eq!(found("{ S[j, i] -> [j/32, floor(i/32), 2i/2] }"), ["15: 32"]);
    assert!(found("{ S[j] -> [floor(j/32)] : j/2 >= 1 }").is_empty());
}

#[test]
fn names_are_what_texts_can_name() {
    for name in ["S", "_x", "i'", "S_1", "floor", "äö"] {
        assert!(tangram_presburger::is_name(name), "{name}");
        let set = Union::parse(&format!("{{ {name}[] }}"), &Budget::steps(1_000)).expect(name);
        assert_eq!(set.relations().next().expect("one").space().output.name, name);
    }
    for name in ["", "1", "a b", "S[i]", "and", "Exists", "x-y", "rat"] {
        assert!(!tangram_presburger::is_name(name), "{name}");
    }
}

#[test]
fn parameters_beside_points_are_read_as_they_are_written() {
    for text in ["{ :; A[i] }", "[n] -> { : n > 0; A[i] }", "{ A[i]; : }"] {
        let budget = Budget::steps(1_000);
        let union = Union::parse(text, &budget).expect(text);
        let again = Union::parse(&union.to_string(), &budget).expect("what is written");
        assert!(union.is_equal(&again, &budget).expect("decided"), "{text}: {union}");
        assert_eq!(union.relations().count(), 2);
    }
}
