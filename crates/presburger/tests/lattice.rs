//! Hidden equations, lattices of points, freed dimensions.

use tangram_presburger::{Budget, Error, Relation};

fn limit() -> Budget {
    Budget::steps(10_000_000)
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &limit()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn lattices_hold_what_points_generate() -> Result<(), Error> {
    for (text, want) in [
        ("{ [i] : i mod 6 = 1 }", "{ [i] : i mod 6 = 1 }"),
        ("{ [i] : i mod 6 = 1 or i mod 4 = 3 }", "{ [i] : i mod 2 = 1 }"),
        ("{ [3]; [10]; [31] }", "{ [i] : i mod 7 = 3 }"),
        ("{ [4]; [4] }", "{ [4] }"),
        (
            "{ [i, j] : i = 4j + 1 or (i = 4j + 3 and j mod 2 = 1) }",
            "{ [i, j] : (i - 4j) mod 2 = 1 }",
        ),
        ("{ [0, 0]; [2, 4]; [4, 8] }", "{ [i, j] : j = 2i and i mod 2 = 0 }"),
        ("{ [0, 0]; [2, 1]; [0, 3] }", "{ [i, j] : i mod 2 = 0 and (2j - i) mod 6 = 0 }"),
        (
            "[n] -> { [i] : n = 2i + 1 and i mod 3 = 0 }",
            "[n] -> { [i] : n = 2i + 1 and i mod 3 = 0 }",
        ),
        (
            "{ [i] -> [o] : o = 3i and 0 <= i <= 9; [i] -> [3i + 6] }",
            "{ [i] -> [o] : (o - 3i) mod 6 = 0 }",
        ),
        ("{ [i] : 0 <= i <= 1 }", "{ [i] }"),
        ("{ [i] : 2i = 1 }", "{ [i] : false }"),
        ("{ [i, j] : exists e: i + j = 10e and 0 <= i <= 3 }", "{ [i, j] : (i + j) mod 10 = 0 }"),
    ] {
        let set = read(text);
        let hull = set.lattice_hull(&limit())?;
        assert!(hull.is_equal(&read(want), &limit())?, "{text}: {hull}");
        assert!(set.is_subset(&hull, &limit())?, "{text}: {hull}");
        assert!(hull.is_subset(&set.affine_hull(&limit())?, &limit())?, "{text}: {hull}");
        assert!(hull.conjunctions().len() <= 1);
    }
    Ok(())
}

#[test]
fn a_lattice_is_that_of_all_points() -> Result<(), Error> {
    for text in [
        "{ [i, j] : 0 <= i, j <= 12 and (2i + 3j) mod 5 = 1 and (i - j) mod 3 = 0 }",
        "{ [i, j] : 0 <= i <= 20 and i = 2j + floor(i/4) }",
        "{ [i, j, k] : 0 <= i, j, k <= 5 and i + j = 2k and (i + 2j) mod 3 = 0 }",
        "{ [i, j] : 0 <= i <= 9 and j = 3 * floor(i/3) }",
    ] {
        let set = read(text);
        let mut points = Relation::empty(set.space().clone());
        for point in set.points(&limit())? {
            points = points.union(&Relation::point(set.space().clone(), &point)?)?;
        }
        let (hull, of_points) = (set.lattice_hull(&limit())?, points.lattice_hull(&limit())?);
        assert!(hull.is_equal(&of_points, &limit())?, "{text}: {hull}, not {of_points}");
    }
    Ok(())
}

#[test]
fn convex_hulls_are_tight_on_strides() -> Result<(), Error> {
    for (text, want) in [
        ("{ [i] : 0 <= i <= 4 and i mod 2 = 1 }", "{ [i] : 1 <= i <= 3 and i mod 2 = 1 }"),
        ("{ [i] : 0 <= i <= 9 and i mod 4 = 2; [20] }", "{ [i] : 2 <= i <= 20 }"),
        (
            "{ [i, j] : 0 <= i + j <= 6 and (i + j) mod 5 = 3 and 0 <= j <= 1 }",
            "{ [i, j] : i + j = 3 and 0 <= j <= 1 }",
        ),
        ("[n] -> { [i] : 0 <= 3i <= n and n = 6i }", "[n] -> { [i] : i >= 0 and n = 6i }"),
    ] {
        let set = read(text);
        let hull = set.convex_hull(&limit())?;
        assert!(hull.is_equal(&read(want), &limit())?, "{text}: {hull}");
        assert!(set.is_subset(&hull, &limit())?, "{text}: {hull}");
    }
    Ok(())
}

#[test]
fn equations_are_detected() -> Result<(), Error> {
    for (text, equations) in [
        ("{ [i, j] : i <= 2j <= i and i mod 2 = 0 }", 1),
        ("{ [i, j] : 0 <= i <= 5 and i + j <= 0 and j >= 0 }", 2),
        ("{ [i, j] : 1 <= 2i + 3j <= 1 }", 1),
        ("{ [i, j] : 3 <= 4i + 2j <= 4 }", 1),
        ("[n] -> { [i] : n <= i and 2i <= 2n + 1 }", 1),
        ("{ [i] : 0 <= i <= 5 }", 0),
    ] {
        let set = read(text);
        let plain = set.detect_equalities(&limit())?;
        assert!(plain.is_equal(&set, &limit())?, "{text}: {plain}");
        let [part] = &plain.conjunctions()[..] else { panic!("{text}: {plain}") };
        let of_dims = |row: &&Vec<_>| {
            row[1..=set.space().params.len() + set.space().output.dims.len()]
                .iter()
                .any(|v| *v != 0)
        };
        assert!(part.equalities.iter().filter(of_dims).count() >= equations, "{text}: {plain}");
        let hull = set.affine_hull(&limit())?.conjunctions();
        assert_eq!(hull[0].equalities.len(), equations, "{text}");
    }
    let none = read("{ [i] : 2i = 1; [i] : i > 3 and i < 4 }").detect_equalities(&limit())?;
    assert!(none.conjunctions().is_empty());
    Ok(())
}

#[test]
fn eliminated_dimensions_are_free() -> Result<(), Error> {
    let map = read("[n] -> { A[i] -> B[j, k, l] : 2k = j and 0 <= l <= j + i and k < n }");
    let freed = map.eliminate(1..2, &limit())?;
    let want = "[n] -> { A[i] -> B[j, k, l] : j mod 2 = 0 and 0 <= l <= j + i and j < 2n }";
    assert!(freed.is_equal(&read(want), &limit())?, "{freed}");
    assert_eq!(freed.space(), map.space());
    assert!(map.eliminate(0..0, &limit())?.is_equal(&map, &limit())?);
    assert!(matches!(map.eliminate(2..4, &limit()), Err(Error::Space { .. })));
    Ok(())
}

#[test]
fn affine_hulls_keep_the_congruences_of_every_disjunct() -> Result<(), Error> {
    for (text, want) in [
        // A point is in the congruences of others, whichever comes first.
        ("{ [i] : i = 2; [i] : i mod 3 = 2 }", "{ [i] : i mod 3 = 2 }"),
        ("{ [i] : i mod 3 = 2; [i] : i = 2 }", "{ [i] : i mod 3 = 2 }"),
        (
            "{ [i] : 1 <= i <= 2 and i mod 2 = 0; [i] : i mod 3 = 2; [i] : 5 < i < 5 }",
            "{ [i] : i mod 3 = 2 }",
        ),
        ("{ [i] : i mod 4 = 1; [i] : i mod 2 = 1 }", "{ [i] : i mod 2 = 1 }"),
        ("{ [i] : i mod 4 = 1; [i] : i = 2 }", "{ [i] }"),
        // Bounds may say what makes a congruence of another one.
        (
            "{ [i, j] : i = 2 and j = 2; [i, j] : 2 <= i <= 3 and (i - 2j + 2) mod 4 = 1 }",
            "{ [i, j] : j mod 2 = 0 }",
        ),
        // What the equations say is not said again.
        ("{ [i] : 1 <= i <= 2 and i mod 2 = 0 }", "{ [i = 2] }"),
    ] {
        assert_eq!(read(text).strided_affine_hull(&limit())?.to_string(), want, "{text}");
    }
    Ok(())
}

#[test]
fn disjuncts_without_points_take_no_stride_from_a_hull() -> Result<(), Error> {
    let nothing = "[i, j] : 0 <= j <= i <= 3 and 2i + 2j <= -1 and i + j >= -2";
    let strided = "[i, j] : 1 <= j <= 2 and 4 <= i <= 9 and (i - j) mod 2 = 0";
    let hull = |text: String| read(&text).convex_hull(&limit());
    let alone = hull(format!("{{ {strided} }}"))?;
    let both = hull(format!("{{ {nothing}; {strided} }}"))?;
    assert!(both.is_equal(&alone, &limit())?, "{both} is not {alone}");
    assert!(both.intersect(&read("{ [4, 1] }"), &limit())?.is_empty(&limit())?, "{both}");
    Ok(())
}
