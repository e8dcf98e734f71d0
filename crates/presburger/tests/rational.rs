//! Sets of rational points, against the formulas they are written with.

use tangram_presburger::{Budget, Error, Integer, Rational, RationalRelation, Relation};

fn limit() -> Budget {
    Budget::steps(1_000_000)
}

fn read(text: &str) -> RationalRelation {
    RationalRelation::parse(text, &limit()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn same(a: &RationalRelation, b: &str) -> bool {
    a.is_equal(&read(b), &limit()).expect("decided")
}

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(Integer::from(num), Integer::from(den)).expect("not 0")
}

/// All pairs of multiples of a half and a third within a small box.
fn grid() -> Vec<[Rational; 2]> {
    let line = || (-24..=24).filter(|n| n % 2 == 0 || n % 3 == 0).map(|n| ratio(n, 6));
    line().flat_map(|x| line().map(move |y| [x.clone(), y])).collect()
}

/// A conjunction of rows `a x + b y + c >= 0`, or `> 0`.
#[derive(Clone)]
struct Rows(Vec<([i64; 3], bool)>);

impl Rows {
    fn random(state: &mut u64, count: usize) -> Self {
        let mut next = |low: i64, high: i64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            low + ((*state >> 33) % (high - low + 1) as u64) as i64
        };
        let row = |_| ([next(-3, 3), next(-3, 3), next(-4, 6)], next(0, 2) == 0);
        Self((0..count).map(row).collect())
    }

    fn text(&self) -> String {
        let row = |([a, b, c], strict): &([i64; 3], bool)| {
            format!("{a}x + {b}y + {c} {} 0", if *strict { ">" } else { ">=" })
        };
        let rows: Vec<String> = self.0.iter().map(row).collect();
        format!("rat: [x, y] : {}", rows.join(" and "))
    }

    fn holds(&self, point: &[Rational]) -> bool {
        self.0.iter().all(|([a, b, c], strict)| {
            let times = |factor: i64, value: &Rational| value.mul(&Rational::from(factor));
            let value = times(*a, &point[0]).add(&times(*b, &point[1])).add(&Rational::from(*c));
            if *strict { value > Rational::ZERO } else { value >= Rational::ZERO }
        })
    }

    /// Returns whether some `y` goes with `x`: by the greatest lower and least upper bound.
    fn has_partner(&self, x: &Rational) -> bool {
        let mut low: Option<(Rational, bool)> = None;
        let mut high: Option<(Rational, bool)> = None;
        for ([a, b, c], strict) in &self.0 {
            let rest = x.mul(&Rational::from(*a)).add(&Rational::from(*c));
            if *b == 0 {
                if rest < Rational::ZERO || *strict && rest == Rational::ZERO {
                    return false;
                }
                continue;
            }
            let bound = (rest.mul(&ratio(-1, *b)), *strict);
            // Of equal bounds, the strict one is tighter.
            if *b > 0 {
                low = Some(low.map_or(bound.clone(), |old| old.max(bound)));
            } else {
                let tighter = |old: (Rational, bool)| match old.0.cmp(&bound.0) {
                    std::cmp::Ordering::Equal => (old.0, old.1 || bound.1),
                    std::cmp::Ordering::Less => old,
                    std::cmp::Ordering::Greater => bound.clone(),
                };
                high = Some(high.map_or(bound.clone(), tighter));
            }
        }
        match (low, high) {
            (Some((low, a)), Some((high, b))) => low < high || low == high && !a && !b,
            _ => true,
        }
    }
}

#[test]
fn operations_agree_with_the_formulas() -> Result<(), Error> {
    let mut state = 3;
    let grid = grid();
    let (mut inside, mut subsets) = (0, 0);
    for _ in 0..40 {
        let (f, g) = (Rows::random(&mut state, 3), Rows::random(&mut state, 2));
        let (a, b) = (read(&format!("{{ {} }}", f.text())), read(&format!("{{ {} }}", g.text())));
        let both = a.intersect(&b, &limit())?;
        let minus = a.subtract(&b, &limit())?;
        let either = a.union(&b)?.coalesce(&limit())?;
        let not = a.complement(&limit())?;
        let flat = a.project_out(1..2, &limit())?;
        let printed = read(&either.to_string());
        assert!(printed.is_equal(&either, &limit())?, "{either}");
        let subset = a.is_subset(&b, &limit())?;
        assert_eq!(subset, minus.is_empty(&limit())?);
        subsets += usize::from(subset);
        for point in &grid {
            let (p, q) = (f.holds(point), g.holds(point));
            inside += usize::from(p);
            assert_eq!(a.contains(point)?, p, "{a} at {point:?}");
            assert_eq!(both.contains(point)?, p && q, "{a} and {b} at {point:?}");
            assert_eq!(minus.contains(point)?, p && !q, "{a} minus {b} at {point:?}");
            assert_eq!(either.contains(point)?, p || q, "{a} or {b} at {point:?}");
            assert_eq!(not.contains(point)?, !p, "not {a} at {point:?}");
            assert!(!subset || !p || q, "{a} in {b} at {point:?}");
            let partner = f.has_partner(&point[0]);
            assert_eq!(flat.contains(&point[..1])?, partner, "{a} without y at {point:?}");
        }
        match a.sample(&limit())? {
            Some(point) => assert!(f.holds(&point), "{a} at {point:?}"),
            None => assert!(a.is_empty(&limit())? && !grid.iter().any(|point| f.holds(point))),
        }
    }
    assert!(inside > 1000 && subsets > 0, "{inside} points, {subsets} subsets");
    Ok(())
}

#[test]
fn nothing_is_tightened() -> Result<(), Error> {
    let half = read("{ rat: [i] : 2i = 1 }");
    assert!(
        !half.is_empty(&limit())?
            && Relation::parse("{ [i] : 2i = 1 }", &limit())?.is_empty(&limit())?
    );
    assert!(half.contains(&[ratio(1, 2)])? && !half.contains(&[ratio(1, 1)])?);
    assert_eq!(half.sample(&limit())?, Some(vec![ratio(1, 2)]));
    assert!(half.integer_points(&limit())?.is_empty(&limit())?);
    assert_eq!(half.to_string(), "{ rat: [i] : 2i = 1 }");
    // Strict bounds are strict: there are points between 0 and 1.
    let open = read("{ rat: [i] : 0 < i < 1 }");
    assert!(open.contains(&[ratio(1, 9)])? && !open.contains(&[ratio(0, 1)])?);
    assert_eq!(open.to_string(), "{ rat: [i] : 0 < i < 1 }");
    let shadow = read("[n] -> { rat: [i] : exists e: 2e = i and n <= e <= n + 1/3 }");
    assert!(same(&shadow, "[n] -> { rat: [i] : 2n <= i <= 2n + 2/3 }"));
    assert!(same(&read("{ rat: [(1)/2, 0:1] }"), "{ rat: [x, y] : 2x = 1 and 0 <= y <= 1 }"));
    assert!(same(&read("{ rat: [i] : not (i > 1 or i < 0) }"), "{ rat: [i] : 0 <= i <= 1 }"));
    Ok(())
}

#[test]
fn rational_and_integer_disjuncts_mix() -> Result<(), Error> {
    let integers = read("{ [i] : 0 <= i <= 10 }");
    let rationals = read("{ rat: [i] : 0 <= i <= 10 }");
    assert!(
        integers.is_subset(&rationals, &limit())? && !rationals.is_subset(&integers, &limit())?
    );
    assert!(read("{ rat: [0]; rat: [7] }").is_subset(&integers, &limit())?);
    assert!(!read("{ rat: [(1)/2] }").is_subset(&integers, &limit())?);
    assert!(same(&integers.intersect(&rationals, &limit())?, "{ [i] : 0 <= i <= 10 }"));
    assert!(integers.subtract(&rationals, &limit())?.is_empty(&limit())?);
    let gaps = read("{ rat: [i] : 0 <= i <= 2 }").subtract(&integers, &limit())?;
    assert!(same(&gaps, "{ rat: [i] : 0 < i < 1 or 1 < i < 2 }"));
    let endless = read("{ rat: [i] }").subtract(&read("{ [i] }"), &limit());
    assert!(matches!(endless, Err(Error::Unbounded { .. })));
    let mixed = read("{ rat: [i] : 0 <= 2i <= 1; [i] : 5 <= i <= 9 }");
    assert_eq!(mixed.to_string(), "{ rat: [i] : i >= 0 and 2i <= 1; [i] : 5 <= i <= 9 }");
    assert!(
        mixed
            .integer_points(&limit())?
            .is_equal(&"{ [i] : i = 0 or 5 <= i <= 9 }".parse()?, &limit())?
    );
    Ok(())
}

#[test]
fn least_points_are_reached_or_there_are_none() -> Result<(), Error> {
    let least = read("{ rat: [i] : 1 <= 2i <= 9 or i >= 10 }").lexmin(&limit())?;
    assert!(same(&least, "{ rat: [i] : 2i = 1 }"));
    assert!(read("{ rat: [i] : i > 0 }").lexmin(&limit())?.is_empty(&limit())?);
    let least =
        read("[n] -> { rat: [i, j] : 2i >= n and i >= 0 and i + 3j >= 1 }").lexmin(&limit())?;
    assert!(same(
        &least,
        "[n] -> { rat: [i, j] : 3j = 1 - i and ((n >= 0 and 2i = n) or (n < 0 and i = 0)) }"
    ));
    let greatest = read("{ rat: [i] -> [o] : 0 <= 3o <= i }").lexmax(&limit())?;
    assert!(same(&greatest, "{ rat: [i] -> [o] : 3o = i and i >= 0 }"));
    Ok(())
}

#[test]
fn relations_relax_to_rational_ones() -> Result<(), Error> {
    let set = Relation::parse("{ [i, j] : 3 <= 2i + 3j <= 7 }", &limit())?;
    assert!(same(&set.rational(&limit())?, "{ rat: [i, j] : 3 <= 2i + 3j <= 7 }"));
    let even = Relation::parse("{ [i] : i mod 2 = 0 and 0 <= i <= 4 }", &limit())?;
    assert!(same(&even.rational(&limit())?, "{ rat: [i] : 0 <= i <= 4 }"));
    let swap = read("{ rat: A[i] -> B[j] : 2i = j }");
    assert!(same(&swap.inverse()?, "{ rat: B[j] -> A[i] : 2i = j }"));
    assert!(same(&swap.range(&limit())?, "{ rat: B[j] }"));
    assert!(swap.domain(&limit())?.complement(&limit())?.is_empty(&limit())?);
    Ok(())
}

#[test]
fn rounding_is_refused() {
    for text in ["{ rat: [floor(i/2)] }", "{ rat: [i] : i mod 2 = 0 }", "{ rat: [i] : [i/2] = 1 }"]
    {
        let error = RationalRelation::parse(text, &limit()).expect_err("refused");
        assert!(matches!(error, Error::Syntax { .. }), "{text}: {error}");
    }
    let error =
        RationalRelation::parse("{ rat: [i] : i mod 2 = 0 }", &limit()).expect_err("refused");
    assert_eq!(error.to_string(), "column 16: expected no rounding in a rational set, found `mod`");
}

/// Says on which side of the line from `a` to `b` a point lies: a positive, zero or negative number.
fn side(a: &[Rational], b: &[Rational], point: &[Rational]) -> Rational {
    let minus = |x: &Rational, y: &Rational| x.add(&y.mul(&Rational::from(-1)));
    let left = minus(&b[0], &a[0]).mul(&minus(&point[1], &a[1]));
    minus(&left, &minus(&b[1], &a[1]).mul(&minus(&point[0], &a[0])))
}

/// Returns whether a point is in the triangle of three points that are not on one line.
fn in_triangle([a, b, c]: [&[Rational; 2]; 3], point: &[Rational]) -> bool {
    let sides = [side(a, b, point), side(b, c, point), side(c, a, point)];
    side(a, b, c) != Rational::ZERO
        && (sides.iter().all(|s| *s >= Rational::ZERO)
            || sides.iter().all(|s| *s <= Rational::ZERO))
}

#[test]
fn convex_hulls_of_points_are_the_triangles_between_them() -> Result<(), Error> {
    let mut state: u64 = 11;
    let grid = grid();
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..12 {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            grid[(state >> 33) as usize % grid.len()].clone()
        };
        let corners = [next(), next(), next(), next()];
        let texts: Vec<String> = corners
            .iter()
            .map(|[x, y]| {
                let (a, b, c, d) = (x.numer(), x.denom(), y.numer(), y.denom());
                format!("rat: [x, y] : {b}x = {a} and {d}y = {c}")
            })
            .collect();
        let set = read(&format!("{{ {} }}", texts.join("; ")));
        let (hull, simple) = (set.convex_hull(&limit())?, set.simple_hull(&limit())?);
        assert!(hull.is_subset(&simple, &limit())?, "{hull} and {simple}");
        let three = |skip: usize| {
            let mut rest = (0..4).filter(|i| *i != skip).map(|i| &corners[i]);
            [(); 3].map(|()| rest.next().expect("three"))
        };
        if (0..4).all(|skip| {
            let [a, b, c] = three(skip);
            side(a, b, c) == Rational::ZERO
        }) {
            continue;
        }
        for point in &grid {
            let expected = (0..4).any(|skip| in_triangle(three(skip), point));
            assert_eq!(hull.contains(point)?, expected, "{hull} of {set} at {point:?}");
            inside += usize::from(expected);
            outside += usize::from(!expected);
        }
    }
    assert!(inside > 100 && outside > 100, "{inside} points inside, {outside} outside");
    Ok(())
}

#[test]
fn hulls_are_tight_and_strict_where_their_points_are() -> Result<(), Error> {
    let convex = |text: &str| read(text).convex_hull(&limit());
    let simple = |text: &str| read(text).simple_hull(&limit());
    let line = "{ rat: [x] : 0 <= 2x <= 1; rat: [x] : 2 <= 3x < 5 }";
    for hull in [convex(line)?, simple(line)?] {
        assert!(same(&hull, "{ rat: [x] : 0 <= x and 3x < 5 }"), "{hull}");
    }
    // Of two disjuncts, one has the points of the bound.
    let ends = convex("{ rat: [x] : 0 < x < 1; rat: [x] : 0 <= x < 1/2 }")?;
    assert!(same(&ends, "{ rat: [x] : 0 <= x < 1 }"), "{ends}");
    // What no point meets is strict although no disjunct has the row.
    let slanted =
        convex("{ rat: [x, y] : x = 0 and 0 < y < 1; rat: [x, y] : x = 2 and 0 < y < 2 }")?;
    assert!(same(&slanted, "{ rat: [x, y] : 0 <= x <= 2 and 0 < y and 2y < 2 + x }"), "{slanted}");
    let steps = "{ rat: [x, y] : x = 0 and 0 <= 2y <= 1; rat: [x, y] : 2x = 1 and 1 <= 3y <= 7 }";
    assert!(same(&simple(steps)?, "{ rat: [x, y] : 0 <= 2x <= 1 and 0 <= 3y <= 7 }"));
    let tight = "{ rat: [x, y] : x >= 0 and 2x <= 1 and 3y >= 2x and 6y <= 3 + 22x }";
    assert!(same(&convex(steps)?, tight));
    // Integer points are among the others.
    let mixed = "{ rat: [x] : 0 <= 2x <= 1; [x] : 3 <= x <= 5 }";
    assert!(same(&convex(mixed)?, "{ rat: [x] : 0 <= x <= 5 }"));
    assert!(same(&simple(mixed)?, "{ rat: [x] : 0 <= x <= 5 }"));
    assert!(same(&convex("{ [x] : 3 <= x <= 5 or x = 9 }")?, "{ [x] : 3 <= x <= 9 }"));
    assert!(convex("{ rat: [x] : x < 0 and x > 0 }")?.is_empty(&limit())?);
    assert!(simple("{ rat: [x] : x < 0 and x > 0 }")?.is_empty(&limit())?);
    Ok(())
}

#[test]
fn affine_hulls_hold_the_equations_of_all_points() -> Result<(), Error> {
    let affine = |text: &str| read(text).affine_hull(&limit());
    assert!(same(&affine("{ rat: [x, y] : 2x = 1 and 0 < y < 1 }")?, "{ rat: [x, y] : 2x = 1 }"));
    let points = "{ rat: [x, y] : 2x = 1 and y = 0; rat: [x, y] : 3x = 1 and 2y = 1 }";
    assert!(same(&affine(points)?, "{ rat: [x, y] : 6x + 2y = 3 }"), "{}", affine(points)?);
    let flat = "{ rat: [x, y] : x <= 2y <= x and x >= 0 }";
    assert!(same(&affine(flat)?, "{ rat: [x, y] : x = 2y }"));
    assert!(same(&affine("{ rat: [x] : 2x = 1; [x] : x = 3 }")?, "{ rat: [x] }"));
    assert!(same(&affine("{ [x, y] : x = 2y }")?, "{ [x, y] : x = 2y }"));
    Ok(())
}

#[test]
fn gist_agrees_within_the_context() -> Result<(), Error> {
    let gist = |a: &str, b: &str| read(a).gist(&read(b), &limit());
    let half = gist("{ rat: [x] : 0 <= 2x <= 1 }", "{ rat: [x] : 3x >= 1 }")?;
    assert!(same(&half, "{ rat: [x] : 2x <= 1 }"), "{half}");
    assert!(same(
        &gist("{ rat: [x] : 0 < x < 1 }", "{ rat: [x] : 0 < x }")?,
        "{ rat: [x] : x < 1 }"
    ));
    let whole = gist("{ [x] : 0 <= x <= 5 }", "{ rat: [x] : 0 <= x <= 2 }")?;
    assert!(same(&whole, "{ [x] }"), "{whole}");
    let mut state = 5;
    let grid = grid();
    let mut fewer = 0;
    for _ in 0..30 {
        let (f, g) = (Rows::random(&mut state, 4), Rows::random(&mut state, 2));
        let (h, i) = (Rows::random(&mut state, 2), Rows::random(&mut state, 3));
        let a = read(&format!("{{ {}; {} }}", f.text(), h.text()));
        let b = read(&format!("{{ {}; {} }}", g.text(), i.text()));
        let simpler = a.gist(&b, &limit())?;
        fewer += usize::from(!simpler.is_equal(&a, &limit())?);
        for point in grid.iter().filter(|p| g.holds(*p) || i.holds(*p)) {
            let expected = f.holds(point) || h.holds(point);
            assert_eq!(simpler.contains(point)?, expected, "{a} given {b} at {point:?}");
        }
    }
    assert!(fewer > 5, "{fewer} became simpler");
    Ok(())
}
