//! Cardinality of sets and relations in isl's notation: examples, laws, and isl itself.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tangram_presburger::count::{PwQPolynomial, PwQPolynomialFold, Rational, Side};
use tangram_presburger::{Budget, Error, Relation, Value};

fn budget() -> Budget {
    Budget::steps(20_000_000)
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn card(text: &str) -> PwQPolynomial {
    read(text).card(&budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(function: &PwQPolynomial, point: &[i64]) -> Rational {
    function.evaluate(point).expect("the point has the right dimension")
}

#[test]
fn the_loop_nest_of_the_book_is_counted() {
    let count =
        card("[N, M] -> { S1[i, j] : 0 <= i < N - M + 4 and i >= N - M and 0 <= j <= N - 2i }");
    let mut nonzero = 0;
    for n in -5..=25_i64 {
        for m in -5..=29_i64 {
            let rows = (0.max(n - m)..n - m + 4).map(|i| (n - 2 * i + 1).max(0));
            let expected: i64 = rows.sum();
            nonzero += usize::from(expected > 0);
            assert_eq!(value(&count, &[n, m]), Rational::from(expected), "{n}, {m}: {count}");
        }
    }
    assert!(nonzero > 200, "the grid holds enough points: {nonzero}");
}

#[test]
fn counts_print_as_a_reader_expects() {
    for (set, expected) in [
        ("{ [i, j] : 0 <= i < 3 and 0 <= j < 5 }", "{ 15 }"),
        ("[n] -> { [i] : 0 <= i < n }", "[n] -> { n : n >= 1 }"),
        ("[n] -> { [i] : 0 <= 2i <= n }", "[n] -> { (1 + floor(n/2)) : n >= 0 }"),
        ("[n] -> { [i] : 2i = n }", "[n] -> { 1 : n mod 2 = 0 }"),
        ("{ A[i] -> B[j] : 0 <= j <= i }", "{ A[i] -> (1 + i) : i >= 0 }"),
        ("[n] -> { [i] : i < 0 and i > n and n > 5 }", "[n] -> { 0 }"),
        ("[n] -> { [i, j] : 0 <= i <= j < n }", "[n] -> { (1/2 * n + 1/2 * n^2) : n >= 1 }"),
    ] {
        assert_eq!(card(set).to_string(), expected, "{set}");
    }
}

#[test]
fn what_is_printed_reads_back() {
    for text in [
        "[n] -> { [i] : 0 <= 3i <= n }",
        "[n, m] -> { A[i] -> B[j, k] : 0 <= j <= i + n and 0 <= 2k <= j + m and k <= 9 }",
        "[n] -> { [i] : exists k: 0 <= i <= n and 3k <= i <= 3k + 1 }",
        "[n] -> { [i] : i mod 2 = n mod 3 and 0 <= i <= 20 }",
    ] {
        let count = card(text);
        let printed = count.to_string();
        let back = PwQPolynomial::parse(&printed, &budget())
            .unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(back.to_string(), printed);
        let difference = count.sub(&back, &budget()).expect("the same space");
        assert!(difference.pieces().is_empty(), "{difference}");
    }
}

#[test]
fn tuples_may_hold_pairs_and_values() {
    let read = |text: &str| {
        let function = PwQPolynomial::parse(text, &budget());
        function.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let count = card("[n] -> { [A[i] -> B[i + 1, j]] -> C[k] : 0 <= k <= i + j and j <= n }");
    let text = count.to_string();
    assert!(text.contains("[A[i] -> B[o2, j]] ->"), "{text}");
    assert!(count.sub(&read(&text), &budget()).expect("one space").pieces().is_empty(), "{text}");
    let function = read("[n] -> { S[A[0] -> [[i] -> T[n, j]]] -> 2 * i * j : i >= 0 }");
    assert_eq!(function.evaluate(&[7, 0, 3, 7, 5]).expect("a point"), 30.into());
    for outside in [[7, 1, 3, 7, 5], [7, 0, 3, 6, 5], [7, 0, -3, 7, 5]] {
        assert_eq!(function.evaluate(&outside).expect("a point"), 0.into(), "{outside:?}");
    }
    assert_eq!(read(&function.to_string()), function);
    let diagonal = read("{ [i, i] -> i }");
    assert_eq!(diagonal.evaluate(&[4, 4]).expect("a point"), 4.into());
    assert_eq!(diagonal.evaluate(&[4, 5]).expect("a point"), 0.into());
}

#[test]
fn bounds_read_back() {
    let weight = PwQPolynomial::parse("[n] -> { [i] -> i * (n - i) : 0 <= i <= n }", &budget());
    let weight = weight.expect("a function");
    for side in [Side::Lower, Side::Upper] {
        let bound = weight.bound(side, &budget()).expect("a bounded set");
        let back =
            PwQPolynomialFold::parse(&bound.to_string(), &budget()).expect("what is printed");
        assert_eq!(back.to_string(), bound.to_string());
        for n in -2..9 {
            assert_eq!(back.evaluate(&[n]), bound.evaluate(&[n]), "{bound} at {n}");
        }
    }
    let least = PwQPolynomialFold::parse(
        "[n] -> { min(n, 3, 1/2 * n^2) : n >= 0; min(0) : n < 0 }",
        &budget(),
    );
    let least = least.expect("a bound");
    assert_eq!(least.side(), Side::Lower);
    for (n, value) in [(5, 3), (2, 2), (-4, 0)] {
        assert_eq!(least.evaluate(&[n]), Some(value.into()), "at {n}");
    }
    assert_eq!(least.evaluate(&[1]), Rational::new(1.into(), 2.into()));
    let mixed = PwQPolynomialFold::parse("[n] -> { min(n); max(n) }", &budget());
    assert!(matches!(mixed, Err(Error::Syntax { column: 18, .. })), "{mixed:?}");
}

#[test]
fn wrong_texts_name_their_column() {
    for (text, column) in [
        ("[n] -> { n + m }", 14),
        ("[n] -> { n * }", 14),
        ("[n] -> { n : n > }", 18),
        ("[n] -> { 1/0 }", 12),
        ("{ 5", 4),
        ("{ 5 } 7", 7),
        ("{ [i, i + ] -> 1 }", 11),
        ("[n] -> { [i, [j]] -> 1 }", 15),
        ("{ [i] -> i : i > 0 and j }", 24),
        ("{ floor(2 ^ 99) }", 15),
    ] {
        match PwQPolynomial::parse(text, &budget()) {
            Err(Error::Syntax { column: found, .. }) => assert_eq!(found, column, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let deep = format!("{{ {}1 }}", "(".repeat(100_000));
    assert!(PwQPolynomial::parse(&deep, &budget()).is_err());
    let signs = format!("{{ {}1 }}", "-".repeat(100_000));
    assert!(PwQPolynomial::parse(&signs, &budget()).is_ok());
}

#[test]
fn limits_are_errors_and_infinity_is_a_value() {
    let infinite = read("[n] -> { [i, j] : 0 <= i <= n and j >= 0 }").card(&budget());
    let infinite = infinite.expect("a count");
    assert_eq!(infinite.value_at(&[0]), Ok(Value::Infinity));
    assert_eq!(infinite.evaluate(&[0]), Err(Error::NotFinite));
    assert_eq!(infinite.evaluate(&[-1]), Ok(Rational::ZERO));
    assert_eq!(infinite.to_string(), "[n] -> { infty : n >= 0 }");
    // Parts that do not depend on each other: each is counted once, in either order.
    let hard = "0 <= a and 0 <= b and 0 <= c and 3a + 5b + 7c <= n";
    let steps = |text: &str| {
        let budget = budget();
        let count = read(text).card(&budget).expect("a count");
        (count.to_string(), budget.used())
    };
    let (_, alone) = steps(&format!("[n] -> {{ [a, b, c] : {hard} }}"));
    for dims in ["a, b, c, j", "j, a, b, c"] {
        let (text, used) = steps(&format!("[n] -> {{ [{dims}] : {hard} and j >= 0 }}"));
        assert_eq!(text, "[n] -> { infty : n >= 0 }");
        assert!(used < alone * 3 / 2, "{dims}: {used} steps, {alone} for the finite part");
    }
    let set = read("[n] -> { [i, j, k] : 0 <= i <= j and 2j <= 3k and 5k <= 7n - i }");
    assert_eq!(set.card(&Budget::steps(10)), Err(Error::Steps { limit: 10 }));
    assert!(set.card(&budget()).is_ok());
}

/// The book's union of two corner boxes is not the box around them: the counts differ too.
#[test]
fn two_corner_boxes_are_fewer_points_than_their_hull() {
    let boxes = card(
        "[N, M] -> { [i, j] : 0 <= i <= M and 0 <= j <= N; [i, j] : M <= i <= 2M and N <= j <= 2N }",
    );
    // Both hold the corner (M, N).
    assert_eq!(value(&boxes, &[3, 4]), Rational::from(2 * 20 - 1));
    let hull = card("[N, M] -> { [i, j] : 0 <= i <= 2M and 0 <= j <= 2N }");
    assert_eq!(value(&hull, &[3, 4]), Rational::from(63));
}

/// `a < b` is `a <= b - 1`; the swapped step of Fourier-Motzkin would find a point here.
#[test]
fn other_errors_of_the_source_texts_change_counts() {
    assert_eq!(card("{ [i] : 0 <= i < 3 }").to_string(), "{ 3 }");
    assert_eq!(card("{ [x] : 4 <= 2x and 3x <= 5 }").to_string(), "{ 0 }");
    let tiles = card("[n] -> { [j] -> [t] : 32t <= j <= 32t + 31 and 0 <= j < n }");
    assert!((0..70).all(|j| value(&tiles, &[70, j]) == Rational::ONE));
    let typo = card("[n] -> { [j] -> [t] : 32t <= j <= 31t + 31 and 0 <= j < n }");
    assert_eq!(value(&typo, &[70, 63]), Rational::ZERO);
}

const SETS: [&str; 6] = [
    "[n] -> { [i, j] : 0 <= i <= n and 0 <= 2j <= i + 3 }",
    "[n] -> { [i, j] : 0 <= i <= 7 and -i <= j <= n }",
    "[n] -> { [i, j] : i mod 3 = 1 and 0 <= i <= n and 0 <= j <= 4 }",
    "[n] -> { [i, j] : 0 <= i, j <= 5 and i + j <= n; [i, j] : 2 <= i <= 6 and 3 <= j <= n }",
    "[n] -> { [i, j] : exists k: i = 2k + j and 0 <= k <= n and 0 <= j <= 3 }",
    "[n] -> { [i, j] : 3i + 5j = n and i >= 0 and j >= 0 }",
];

fn grid(a: &PwQPolynomial) -> Vec<Rational> {
    (-3..=12).map(|n| value(a, &[n])).collect()
}

#[test]
fn unions_and_differences_share_out_their_points() {
    for (a, b) in SETS.iter().flat_map(|a| SETS.iter().map(move |b| (a, b))) {
        let (x, y) = (read(a), read(b));
        let count = |set: &Relation| set.card(&budget()).expect("a bounded set");
        let union = count(&x.union(&y).expect("one space"));
        let both = count(&x.intersect(&y, &budget()).expect("one space"));
        let only = count(&x.subtract(&y, &budget()).expect("one space"));
        let sum = count(&x).add(&count(&y), &budget()).expect("one space");
        let other = union.add(&both, &budget()).expect("one space");
        assert_eq!(grid(&sum), grid(&other), "{a} and {b}");
        let parts = only.add(&both, &budget()).expect("one space");
        assert_eq!(grid(&count(&x)), grid(&parts), "{a} and {b}");
        assert_eq!(grid(&parts.sub(&only, &budget()).expect("one space")), grid(&both));
    }
}

#[test]
fn translations_keep_counts_and_products_multiply_them() {
    for text in SETS {
        let moved = read(text)
            .apply_range(&read("[n] -> { [i, j] -> [i + 2n - 5, j + i] }"), &budget())
            .expect("one space");
        let count = card(text);
        assert_eq!(grid(&count), grid(&moved.card(&budget()).expect("bounded")), "{text}");
        let (_, body) = text.split_once(" : ").expect("a formula");
        if body.contains(';') || body.contains("exists") {
            continue;
        }
        let body = body.trim_end_matches('}');
        let pair = body.replace('i', "x").replace('j', "y");
        let pair = pair.replace("xn", "in");
        let square = card(&format!("[n] -> {{ [i, j, x, y] : ({body}) and ({pair}) }}"));
        let expected = count.mul(&count, &budget()).expect("one space");
        assert_eq!(grid(&square), grid(&expected), "{text}");
    }
}

const SCRIPT: &str = r#"
import itertools, sys, islpy
from islpy import dim_type

def at(function, point, params):
    where = islpy.Point.zero(function.get_domain_space())
    for i, value in enumerate(point):
        kind, place = (dim_type.param, i) if i < params else (dim_type.set, i - params)
        where = where.set_coordinate_val(kind, place, islpy.Val(value))
    return function.eval(where)

bad = count = read = 0
for line in sys.stdin:
    relation, got, values = line.rstrip("\n").split("\t")
    want = (islpy.Map if "] -> [" in relation.split("{")[1] else islpy.Set)(relation).card()
    count += 1
    # Equal functions may be written differently, so values are compared. Reading long texts is slow.
    ours = islpy.PwQPolynomial(got) if len(got) < 1500 else None
    read += ours is not None
    points = itertools.product(range(-2, 6), repeat=1 + want.dim(dim_type.in_))
    for point, value in zip(points, values.split(), strict=True):
        expected = at(want, point, 1)
        if not expected.eq(islpy.Val(int(value))) or ours and not expected.eq(at(ours, point, 1)):
            bad += 1
            print("WRONG", relation, "got", got, "want", want, "at", point)
            break
print("checked", count, "read", read, "wrong", bad)
"#;

fn python() -> Option<String> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let path = std::env::var("TANGRAM_PYTHON").unwrap_or_else(|_| local.display().to_string());
    let check = "import islpy; islpy.Set.card";
    let found = Command::new(&path).args(["-c", check]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(path)
}

/// A small generator: the same inputs in every run.
struct Source(u64);

impl Source {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    fn relation(&mut self) -> String {
        let mut facts = vec!["0 <= j <= n + 3".to_owned(), "0 <= 2k <= j + 7".to_owned()];
        for _ in 0..self.next(0, 2) {
            let mut c = || self.next(-3, 3);
            let row = format!("{}*i + {}*j + {}*k + {}*n >= {}", c(), c(), c(), c(), c());
            facts.push(row);
        }
        if self.next(0, 2) == 0 {
            facts.push(format!("(i + {}*j) mod {} = {}", self.next(-2, 2), self.next(2, 4), 1));
        }
        if self.next(0, 2) == 0 {
            facts.push(format!("(exists e: 3e <= j + k <= {}*e + 1)", self.next(2, 4)));
        }
        let space = if self.next(0, 1) == 0 { "[i] -> [j, k]" } else { "[j, k]" };
        let text = format!("[n] -> {{ {space} : {} }}", facts.join(" and "));
        if space == "[j, k]" { text.replace("*i", "").replace("(i +", "(1 +") } else { text }
    }
}

#[test]
fn counts_agree_with_barvinok() {
    let Some(python) = python() else {
        println!("skipped: needs islpy-barvinok");
        return;
    };
    let mut source = Source(5);
    let mut lines = String::new();
    for _ in 0..30 {
        let text = source.relation();
        let count = card(&text);
        let values: Vec<String> = match count.domain() {
            None => (-2..6).map(|n| value(&count, &[n]).to_string()).collect(),
            Some(_) => (-2..6)
                .flat_map(|n| (-2..6).map(move |i| [n, i]))
                .map(|point| value(&count, &point).to_string())
                .collect(),
        };
        lines.push_str(&format!("{text}\t{count}\t{}\n", values.join(" ")));
    }
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("the script reads");
    let output = child.wait_with_output().expect("the script ends");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(
        output.status.success() && text.contains("checked 30 ") && text.contains(" wrong 0"),
        "{text}"
    );
}
