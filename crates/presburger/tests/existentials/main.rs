//! Sets with quantifiers: what they hold, and what operations make of them, beside their meaning at
//! every point of a box.

mod formula;
mod images;
mod known;

use std::collections::BTreeSet;

use formula::{Case, SIDE, Source};
use images::Image;
use tangram_presburger::{Budget, Error, Integer, Relation};

/// Far more than nearly all of the sets take for all that is asked of them.
const STEPS: u64 = 5_000_000;

type Points = BTreeSet<[i64; 3]>;

/// The values of one dimension.
fn side() -> std::ops::RangeInclusive<i64> {
    -SIDE - 1..=SIDE + 1
}

/// Compares where a set holds with what it should hold, in the box and next to it.
fn compare(what: &str, set: &Relation, expected: &Points, text: &str) {
    for n in side() {
        for (x, y) in side().flat_map(|x| side().map(move |y| (x, y))) {
            let found = set.contains(&[n, x, y]).expect("three numbers");
            let wanted = expected.contains(&[n, x, y]);
            assert_eq!(found, wanted, "{what} of {text} at {n} {x} {y}: {set}");
        }
    }
}

/// Checks one set; an error is that of the budget.
fn check(case: &Case, budget: &Budget) -> Result<(), Error> {
    let text = &case.text;
    let expected: Points = case.points.iter().copied().collect();
    let set = Relation::parse(text, budget)?;
    compare("the set", &set, &expected, text);
    assert_eq!(set.is_empty(budget)?, expected.is_empty(), "whether {text} is empty");
    let small = |point: &Vec<Integer>| point.iter().filter_map(Integer::to_i64).collect();
    let found: Vec<Vec<i64>> = set.points(budget)?.iter().map(small).collect();
    let listed: Vec<Vec<i64>> = expected.iter().map(|point| point.to_vec()).collect();
    assert_eq!(found, listed, "the points of {text}");
    compare("what is printed", &Relation::parse(&set.to_string(), budget)?, &expected, text);
    compare("coalesce", &set.coalesce(budget)?, &expected, text);

    let first: Points =
        side().filter_map(|n| expected.iter().find(|point| point[0] == n).copied()).collect();
    compare("the least point", &set.lexmin(budget)?, &first, text);
    let projected = set.project_out(1..2, budget)?;
    for (n, x) in side().flat_map(|n| side().map(move |x| (n, x))) {
        let wanted = expected.iter().any(|point| point[..2] == [n, x]);
        assert_eq!(projected.contains(&[n, x]), Ok(wanted), "the projection of {text} at {n} {x}");
    }
    let count = set.card(budget)?;
    let mut total = 0;
    for n in side() {
        let wanted = expected.iter().filter(|point| point[0] == n).count();
        total += wanted;
        let found = count.evaluate(&[n])?.to_string();
        assert_eq!(found, wanted.to_string(), "how many points {text} has where n is {n}");
    }
    // Without a parameter, the same is counted another way.
    let closed = Relation::parse(&text.replacen("[n] -> { [x, y]", "{ [n, x, y]", 1), budget)?;
    let found = closed.card(budget)?.constant_value()?.to_string();
    assert_eq!(found, total.to_string(), "how many points {text} has in all");

    let rest = set.complement(budget)?;
    let outside: Points = side()
        .flat_map(|n| side().flat_map(move |x| side().map(move |y| [n, x, y])))
        .filter(|point| !expected.contains(point))
        .collect();
    compare("the complement", &rest, &outside, text);
    Ok(())
}

/// Checks so many sets. One in a hundred may end at its budget, and one in ten is to have points.
fn sets(seed: u64, count: usize) {
    let mut source = Source::new(seed);
    let (mut refused, mut full) = (0, 0);
    for _ in 0..count {
        let case = source.case();
        full += usize::from(!case.points.is_empty());
        match check(&case, &Budget::steps(STEPS)) {
            Err(Error::Steps { .. }) => {
                println!("over {STEPS} steps: {}", case.text);
                refused += 1;
            }
            result => result.unwrap_or_else(|error| panic!("{}: {error}", case.text)),
        }
    }
    println!("{count} sets, {full} of them with points, {refused} over the budget");
    assert!(full > count / 10, "{full} of {count} have points");
    assert!(refused <= 1 + count / 100, "{refused} of {count} end at the budget");
}

/// Checks so many images of boxes. One in thirty may end at its budget; of how many the points are
/// counted for all parameters at once is printed.
fn images(seed: u64, count: usize) {
    let mut source = Source::new(seed);
    let (mut refused, mut counted) = (0, 0);
    for _ in 0..count {
        let image = Image::random(&mut source);
        match image.check(2 * STEPS) {
            Err(Error::Steps { .. }) => {
                println!("over {} steps: {}", 2 * STEPS, image.texts()[0]);
                refused += 1;
            }
            result => counted += usize::from(result.expect("no error but that of the budget")),
        }
    }
    println!("{count} images, {counted} counted for all parameters, {refused} over the budget");
    assert!(refused <= 1 + count / 30, "{refused} of {count} end at the budget");
    assert!(counted > count / 2, "{counted} of {count} are counted");
}

#[test]
fn images_of_boxes_have_their_points() {
    images(1, 12);
}

#[test]
fn sets_with_quantifiers_are_what_they_mean() {
    sets(1, 60);
}

#[test]
#[ignore = "minutes: more than ten thousand sets"]
fn sets_with_quantifiers_at_length() {
    for seed in 100..124 {
        sets(seed, 500);
    }
}

#[test]
#[ignore = "minutes: most are counted for all parameters, or tried to"]
fn images_of_boxes_at_length() {
    for seed in 100..104 {
        images(seed, 50);
    }
}
