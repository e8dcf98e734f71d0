//! Transitive closures and powers against paths, hulls against isl's definitions.

use tangram_presburger::{Budget, Error, Relation, Union};

fn limit() -> Budget {
    Budget::steps(100_000_000)
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &limit()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Closes a finite relation step by step.
fn paths(map: &Relation) -> Relation {
    let mut all = map.clone();
    loop {
        let next = all.union(&all.apply_range(map, &limit()).unwrap()).unwrap();
        let next = next.coalesce(&limit()).unwrap();
        if next.is_subset(&all, &limit()).unwrap() {
            return all;
        }
        all = next;
    }
}

#[test]
fn exact_closures_are_all_paths() -> Result<(), Error> {
    for (text, exact) in [
        ("{ [i] -> [i + 2] : 0 <= i < 9 }", true),
        ("{ [i, j] -> [i + 1, j - 1] : 0 <= i < 5 and 0 < j < 5 }", true),
        ("{ [i] -> [j] : 0 <= i < j < 6 }", true),
        ("{ [i] -> [i + 1] : 0 <= i < 3; [i] -> [i + 2] : 10 <= i < 15 }", true),
        ("{ [0] -> [3]; [3] -> [1]; [1] -> [7] }", true),
        ("{ [i] -> [2i] : 0 < i < 9 }", true),
        ("{ [5] -> [20]; [i] -> [i + 1] : 0 <= i < 5; [i] -> [i + 3] : 20 <= i < 30 }", true),
        ("{ [i, j] -> [i + 1, j] : 0 <= i, j < 3; [i, j] -> [i, j + 1] : 0 <= i, j < 3 }", true),
        ("{ [i] -> [i + 1] : -2 <= i <= 5; [i] -> [i] : -1 <= i <= 4 and i mod 2 = 0 }", true),
        ("{ [i] -> [i + 1] : 0 <= i < 30 and i mod 3 != 2; [i] -> [i - 2] : 2 <= i <= 20 }", true),
        ("{ [i] -> [j] : 0 <= i <= j <= 9; [i] -> [9 - i] : 3 <= i <= 5 }", true),
    ] {
        let map = read(text);
        let (closure, is_exact) = map.transitive_closure(&limit())?;
        let want = paths(&map);
        assert!(want.is_subset(&closure, &limit())?, "{text}: {closure} lacks paths");
        assert_eq!(is_exact, exact, "{text}: {closure}");
        if is_exact {
            assert!(closure.is_equal(&want, &limit())?, "{text}: {closure}");
        }
    }
    Ok(())
}

#[test]
fn closures_over_parameters_are_exact() -> Result<(), Error> {
    let map = read("[n] -> { [i, j] -> [i, j + 1] : 0 <= i, j < n }");
    let (closure, exact) = map.transitive_closure(&limit())?;
    let want = read("[n] -> { [i, j] -> [i, k] : 0 <= i < n and 0 <= j < k <= n }");
    assert!(exact && closure.is_equal(&want, &limit())?, "{closure}");
    let (power, exact) = map.power(&limit())?;
    let want = read(
        "[n] -> { [k] -> [[i, j] -> [i, j + k]] : k >= 1 and 0 <= i < n and 0 <= j and j + k <= n }",
    );
    assert!(exact && power.is_equal(&want, &limit())?, "{power}");
    let three = std::num::NonZeroU64::new(3).expect("not 0");
    let cube = map.fixed_power(three, &limit())?;
    assert!(cube.is_equal(
        &read("[n] -> { [i, j] -> [i, j + 3] : 0 <= i < n and 0 <= j < n - 2 }"),
        &limit()
    )?);
    Ok(())
}

#[test]
fn powers_that_end_or_repeat_are_exact() -> Result<(), Error> {
    for (text, want) in [
        // A step changes the parity, so that there is no second one.
        (
            "[n] -> { [i, j] -> [i + 1, j] : 0 <= i <= n and (i + j) mod 2 = 1 }",
            "[n] -> { [1] -> [[i, j] -> [i + 1, j]] : 0 <= i <= n and (i + j) mod 2 = 1 }",
        ),
        ("{ [i] -> [j] : 0 <= i, j <= 4 }", "{ [k] -> [[i] -> [j]] : k >= 1 and 0 <= i, j <= 4 }"),
        (
            "{ [0] -> [3]; [3] -> [9] }",
            "{ [1] -> [[0] -> [3]]; [1] -> [[3] -> [9]]; [2] -> [[0] -> [9]] }",
        ),
        (
            "{ [i] -> [2i] : 1 <= i <= 3 }",
            "{ [k] -> [[i] -> [o]] : 1 <= i and ((k = 1 and i <= 3 and o = 2i) or (k = 2 and i = 1 and o = 4)) }",
        ),
    ] {
        let (power, exact) = read(text).power(&limit())?;
        assert!(exact && power.is_equal(&read(want), &limit())?, "{text}: {exact} {power}");
    }
    Ok(())
}

#[test]
fn steps_of_several_kinds_close_over_parameters() -> Result<(), Error> {
    for (text, want) in [
        // Steps that go nowhere.
        (
            "[n] -> { [i] -> [i + 1] : 0 <= i < n; [i] -> [i] : i mod 2 = 0 }",
            "[n] -> { [i] -> [j] : 0 <= i < j <= n; [i] -> [i] : i mod 2 = 0 }",
        ),
        // Back to the start from anywhere.
        (
            "[n] -> { [i] -> [i + 1] : 0 <= i < n; [i] -> [0] : 0 <= i <= n }",
            "[n] -> { [i] -> [j] : 0 <= i <= n and 0 <= j <= n }",
        ),
    ] {
        let (closure, exact) = read(text).transitive_closure(&limit())?;
        assert!(exact && closure.is_equal(&read(want), &limit())?, "{text}: {exact} {closure}");
    }
    Ok(())
}

#[test]
fn what_is_not_exact_says_so() -> Result<(), Error> {
    // Doubling is no sum of constant steps; an unbounded start cannot be walked through.
    let map = read("{ [i] -> [2i] : i > 0 }");
    let (closure, exact) = map.transitive_closure(&limit())?;
    assert!(!exact);
    assert!(closure.contains(&[3, 24])?);
    assert!(read("{ [i] -> [i, 0] }").transitive_closure(&limit()).is_err());
    Ok(())
}

#[test]
fn closures_pass_through_other_spaces() -> Result<(), Error> {
    let map: Union = "{ A[i] -> B[i + 1] : 0 <= i < 5; B[i] -> A[i] : 0 <= i < 4 }".parse()?;
    let (closure, exact) = map.transitive_closure(&limit())?;
    let mut want = map.clone();
    for _ in 0..12 {
        want = want.union(&want.apply_range(&map, &limit())?)?;
    }
    assert!(want.is_subset(&closure, &limit())?, "{closure}");
    assert!(exact && closure.is_equal(&want, &limit())?, "{closure} is not {want}");
    Ok(())
}

#[test]
fn convex_hulls_are_the_smallest() -> Result<(), Error> {
    for (text, want) in [
        ("{ [0, 0]; [4, 0]; [0, 4] }", "{ [i, j] : i >= 0 and j >= 0 and i + j <= 4 }"),
        ("{ [i] : 0 <= i <= 3 or 10 <= i <= 12 }", "{ [i] : 0 <= i <= 12 }"),
        (
            "[n] -> { [i, j] : (i = 0 and 0 <= j <= n) or (i = 2 and 0 <= j <= n + 2) }",
            "[n] -> { [i, j] : 0 <= i <= 2 and 0 <= j <= n + i }",
        ),
        ("{ [i, j] : i >= 0 and j = 0; [0, 1] }", "{ [i, j] : i >= 0 and 0 <= j <= 1 }"),
        ("{ [i] : false }", "{ [i] : false }"),
    ] {
        let hull = read(text).convex_hull(&limit())?;
        assert!(hull.is_equal(&read(want), &limit())?, "{text}: {hull}");
    }
    let strided = read("{ [i, j] : i = 2j and 0 <= j <= 3; [8, 4] }").polyhedral_hull(&limit())?;
    assert!(strided.is_equal(&read("{ [i, j] : i = 2j and 0 <= j <= 4 }"), &limit())?, "{strided}");
    Ok(())
}

#[test]
fn disjoint_disjuncts_share_no_point() -> Result<(), Error> {
    let set = read("[n] -> { [i] : 0 <= i <= n; [i] : 3 <= i <= 9; [i] : i mod 2 = 0 and i < 20 }");
    let apart = set.make_disjoint(&limit())?;
    assert!(apart.is_equal(&set, &limit())?);
    let parts = apart.conjunctions();
    for (index, a) in parts.iter().enumerate() {
        for b in &parts[index + 1..] {
            let one = |c| Relation::from_conjunctions(set.space().clone(), std::slice::from_ref(c));
            assert!(one(a)?.is_disjoint(&one(b)?, &limit())?);
        }
    }
    Ok(())
}

#[test]
fn powers_of_a_union_are_of_relations_only() -> Result<(), Error> {
    let union = |text: &str| Union::parse(text, &limit()).expect("well formed");
    let once = std::num::NonZeroU64::MIN;
    let steps = union("{ A[i] -> B[i + 1]; B[i] -> A[2i] }");
    assert!(steps.fixed_power(once, &limit())?.is_equal(&steps, &limit())?);
    let twice = steps.fixed_power(once.saturating_add(1), &limit())?;
    let expected = union("{ A[i] -> A[2i + 2]; B[i] -> B[2i + 1] }");
    assert!(twice.is_equal(&expected, &limit())?, "{twice}");
    let mixed = union("{ A[i] -> B[i + 1]; C[i] }");
    assert!(matches!(mixed.fixed_power(once, &limit()), Err(Error::Space { .. })));
    Ok(())
}
