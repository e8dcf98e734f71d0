//! The example and the procedures of the source text, and elimination against brute force.

use tangram_presburger::{Budget, Inequalities, Relation};

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// 2x - 5y + 4z <= 10, 3x - 6y + 3z <= 9, -x + 5y - 2z <= -7, -3x + 2y + 6z <= 12.
fn example() -> Inequalities {
    let rows =
        vec![vec![10, -2, 5, -4], vec![9, -3, 6, -3], vec![-7, 1, -5, 2], vec![12, 3, -2, -6]];
    Inequalities::new(names("x y z"), rows).expect("rows that fit")
}

#[test]
fn the_example_is_eliminated_as_by_hand() {
    let step = example().eliminate("x", &Budget::unlimited()).expect("an elimination");
    assert_eq!((step.lower.len(), step.upper.len()), (2, 2));
    let mut by_hand =
        vec![vec![-4, 0, -5, 0], vec![-4, 0, -3, 1], vec![54, 0, 11, -24], vec![21, 0, 4, -9]];
    let mut combined = step.combined.clone();
    by_hand.sort();
    combined.sort();
    assert_eq!(combined, by_hand);
    let text = step.to_string();
    assert!(text.contains("2 * 2 = 4 combinations, at most 4"), "{text}");
}

#[test]
fn projection_is_not_intersection_with_zero() {
    let system = example();
    let shadow = system.eliminate("x", &Budget::unlimited()).expect("an elimination").result;
    let slice = system.at_zero("x").expect("a slice");
    assert_eq!(shadow.contains(&[0, -2, 0]), Ok(true));
    assert_eq!(slice.contains(&[0, -2, 0]), Ok(false));
}

#[test]
fn a_swapped_combination_would_accept_an_infeasible_system() {
    // 4 <= 2x and 3x <= 5: the text's printed step gives 4 * 2 <= 5 * 3, which holds.
    let rows = vec![vec![-4, 2], vec![5, -3]];
    let system = Inequalities::new(names("x"), rows).expect("rows that fit");
    let step = system.eliminate("x", &Budget::unlimited()).expect("an elimination");
    assert_eq!(step.combined, [vec![-1, 0]]);
    assert_eq!(step.result.contains(&[0]), Ok(false));
}

#[test]
fn elimination_is_rational_and_projection_exact() {
    let limit = Budget::unlimited();
    let doubles = Relation::parse("{ [x, y] : y = 2x }", &limit).expect("a set");
    let shadow = Inequalities::of(&doubles).expect("rows")[0].eliminate("x", &limit);
    assert!(shadow.expect("an elimination").result.rows().is_empty());
    let exact = doubles.project_out(0..1, &limit).expect("a projection");
    assert_eq!((exact.contains(&[1]), exact.contains(&[2])), (Ok(false), Ok(true)));
}

fn loops(text: &str, order: &[&str]) -> Vec<String> {
    let budget = Budget::steps(1_000_000);
    let set = Relation::parse(text, &budget).expect("a set");
    let nests = set.loop_bounds(order, &budget).expect("bounds");
    nests.concat().iter().map(ToString::to_string).collect()
}

#[test]
fn loops_are_interchanged_with_the_right_bounds() {
    let text = "[N] -> { [i, j] : 3 <= i <= 9 and i <= j < N }";
    assert_eq!(loops(text, &["i", "j"]), ["for i in 3 ..= min(9, N - 1)", "for j in i ..= N - 1"]);
    assert_eq!(loops(text, &["j", "i"]), ["for j in 3 ..= N - 1", "for i in 3 ..= min(9, j)"]);
}

#[test]
fn strides_of_loops_are_said_apart() {
    let odd = "[N] -> { [i, j] : 3 <= i <= 9 and i <= j < N and (i + 1) mod 2 = 0 }";
    assert_eq!(
        loops(odd, &["j", "i"]),
        ["for j in 3 ..= N - 1", "for i in 3 ..= min(9, j) where i mod 2 = 1"]
    );
    assert_eq!(
        loops("{ [i] : 0 <= i <= 9 and i mod 3 = 1 }", &["i"]),
        ["for i in 1 ..= 7 where i mod 3 = 1"]
    );
    assert_eq!(
        loops("{ [i, j] : 0 <= i, j <= 9 and (i + 2j) mod 5 = 2 }", &["i", "j"]),
        ["for i in 0 ..= 9", "for j in 0 ..= 9 where (j - 2i - 1) mod 5 = 0"]
    );
}

#[test]
fn divisions_of_outer_loops_stand_in_bounds() {
    assert_eq!(
        loops("[N] -> { [i] : 32 * floor(N/32) <= i < N }", &["i"]),
        ["for i in 32*floor(N/32) ..= N - 1"]
    );
    // What is no stride is a condition of the innermost loop.
    let two = loops("{ [i] : 0 <= i <= 9 and i mod 3 <= 1 }", &["i"]);
    assert!(two[0].starts_with("for i in 0 ..= 9 where "), "{two:?}");
}

#[test]
fn shadows_hold_exactly_the_rational_points() {
    let mut state = 5_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from((state >> 33) % 7) - 3
    };
    for _ in 0..200 {
        let rows: Vec<Vec<i128>> = (0..5).map(|_| (0..3).map(|_| next()).collect()).collect();
        let system = Inequalities::new(names("x y"), rows.clone()).expect("rows that fit");
        let shadow = system.eliminate("x", &Budget::unlimited()).expect("an elimination").result;
        for y in -6..=6 {
            // Bounds of x at y, as fractions with the common denominator 60.
            let (mut low, mut high, mut holds) = (i128::MIN, i128::MAX, true);
            for row in &rows {
                let rest = (row[0] + row[2] * y) * 60;
                match row[1].signum() {
                    0 => holds &= rest >= 0,
                    1 => low = low.max(-rest / row[1]),
                    _ => high = high.min(rest / -row[1]),
                }
            }
            assert_eq!(shadow.contains(&[0, y]), Ok(holds && low <= high), "{system}at y = {y}");
        }
    }
}

#[test]
fn real_shadows_keep_strides_and_drop_splits() {
    let limit = Budget::unlimited();
    let set = |text: &str| Relation::parse(text, &limit).expect("a set");
    let equal = |a: &Relation, b: &str| a.is_equal(&set(b), &limit).expect("an answer");
    let strided = set("[n] -> { [x, y] : x = 3y + 1 and 0 <= y <= n }");
    let shadow = strided.real_shadow(1..2, &limit).expect("a shadow");
    assert!(equal(&shadow, "[n] -> { [x] : x mod 3 = 1 and 0 < x <= 3n + 1 }"), "{shadow}");
    // Where 5x mod 7 is 1, 2 or 3, no multiple of 7 is between.
    let narrow = set("{ [x, y] : 5x <= 7y <= 5x + 3 }");
    let exact = narrow.project_out(1..2, &limit).expect("a projection");
    assert!(!equal(&exact, "{ [x] }"), "{exact}");
    let shadow = narrow.real_shadow(1..2, &limit).expect("a shadow");
    assert!(equal(&shadow, "{ [x] }"), "{shadow}");
}

#[test]
fn explicit_bounds_leave_out_what_others_imply() {
    let limit = Budget::unlimited();
    let set = |text: &str| Relation::parse(text, &limit).expect("a set");
    let equal = |a: &Relation, b: &str| a.is_equal(&set(b), &limit).expect("an answer");
    let triangle = set("[n] -> { [i, j] : 0 <= i <= j <= n }");
    let bounds = triangle.explicit_bounds(1..2, &limit).expect("bounds");
    assert!(equal(&bounds, "[n] -> { [i] : 0 <= i }"), "{bounds}");
    let equation = set("[n] -> { [i, j] : i = 2j and 0 <= j <= n }");
    let bounds = equation.explicit_bounds(1..2, &limit).expect("bounds");
    assert!(equal(&bounds, "[n] -> { [i] : i mod 2 = 0 and 0 <= i <= 2n }"), "{bounds}");
}

#[test]
fn a_projection_is_in_its_shadow_and_that_in_its_explicit_bounds() {
    let limit = Budget::unlimited();
    let mut state = 11_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from((state >> 33) % 9) - 4
    };
    for _ in 0..60 {
        let mut row = || format!("{} + {}x + {}y + {}z", next(), next(), next(), next());
        let text = format!(
            "{{ [x, y, z] : {} >= 0 and {} >= 0 and {} >= 0 and {} = 3*floor(({})/3) \
             and -5 <= x, y, z <= 5 }}",
            row(),
            row(),
            row(),
            row(),
            row()
        );
        let set = Relation::parse(&text, &limit).expect("a set");
        let exact = set.project_out(1..3, &limit).expect("a projection");
        let shadow = set.real_shadow(1..3, &limit).expect("a shadow");
        let bounds = set.explicit_bounds(1..3, &limit).expect("bounds");
        assert!(exact.is_subset(&shadow, &limit).expect("an answer"), "{text}");
        assert!(shadow.is_subset(&bounds, &limit).expect("an answer"), "{text}");
    }
}
