//! Pictures: one mark for each point or pair, inside the page; clear refusals.

use tangram_presburger::{Budget, Error, Union, plot};

fn picture(text: &str) -> Result<String, Error> {
    let budget = Budget::steps(10_000_000);
    plot::svg(&Union::parse(text, &budget)?, &budget)
}

/// The elements called `name` that have `attribute`.
fn count(svg: &str, name: &str, attribute: &str) -> usize {
    svg.lines().filter(|l| l.starts_with(&format!("<{name} ")) && l.contains(attribute)).count()
}

#[test]
fn every_point_is_a_dot_of_its_spaces_colour() {
    let svg = picture("{ S[i, j] : 0 <= i < 4 and 0 <= j <= i; T[i, j] : i = 9 and 0 <= j < 3 }")
        .unwrap();
    // A dot for each point, and one in the legend.
    assert_eq!(count(&svg, "circle", "#0072b2"), 10 + 1);
    assert_eq!(count(&svg, "circle", "#d55e00"), 3 + 1);
    assert!(svg.contains(">S</text>") && svg.contains(">T</text>"));
}

#[test]
fn every_pair_is_an_arrow_and_a_pair_of_equals_a_ring() {
    let svg = picture("{ [i] -> [j] : 0 <= i < 3 and i <= j < 3 }").unwrap();
    assert_eq!(count(&svg, "line", "marker-end"), 6);
    let svg = picture("{ [i, j] -> [i, l] : 0 <= i, j < 2 and j <= l <= j + 1 }").unwrap();
    assert_eq!(count(&svg, "line", "marker-end"), 4);
    assert_eq!(count(&svg, "circle", "fill=\"none\""), 4);
}

#[test]
fn three_dimensions_and_far_away_points_stay_on_the_page() {
    for text in [
        "{ [i, j, k] : -2 <= i, j, k <= 2 and i + j + k = 0 }",
        "{ [i] : 1000000 <= i <= 1000040 }",
        "{ [i, j] : 0 <= i <= 100 and j = -i }",
        "{ [i] : false }",
    ] {
        let svg = picture(text).unwrap();
        let number = |line: &str, name: &str| -> f64 {
            let rest = line.split(&format!(" {name}=\"")).nth(1).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let page = svg.lines().next().unwrap();
        let (width, height) = (number(page, "width"), number(page, "height"));
        for line in svg.lines().filter(|line| line.starts_with("<circle")) {
            assert!((0.0..=width).contains(&number(line, "cx")), "{text}: {line}");
            assert!((0.0..=height).contains(&number(line, "cy")), "{text}: {line}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    assert!(matches!(picture("{ [i] : i >= 0 }"), Err(Error::Unbounded { .. })));
    let open = picture("[N] -> { [i] : 0 <= i < N }");
    assert_eq!(open, Err(Error::UnboundedParameter { name: "N".into() }));
    assert!(matches!(picture("{ [a, b, c, d] : 0 <= a, b, c, d < 2 }"), Err(Error::Space { .. })));
    assert!(matches!(picture("{ [a, b] -> [c] : 0 <= a, b, c < 2 }"), Err(Error::Space { .. })));
    assert!(matches!(picture("{ [a, b] : 0 <= a, b < 200 }"), Err(Error::Points { .. })));
}
