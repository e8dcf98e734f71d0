//! Comparisons: a table decided by hand, and brute force on boxes.

use proptest::prelude::*;

use super::laws::{NAMES, lookup, trees};
use crate::symbolic::{Expr, Facts, Truth};

fn parse(text: &str) -> Expr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Decides `a op b`, with `|` for "divides".
fn decide(facts: &Facts, question: &str) -> Truth {
    let words = ["==", "<=", "<", "|"];
    let op = words.into_iter().find(|op| question.contains(op)).expect("an operator");
    let (a, b) = question.split_once(op).expect("two sides");
    let (a, b) = (parse(a), parse(b));
    match op {
        "==" => facts.equal(&a, &b),
        "<=" => facts.less_equal(&a, &b),
        "<" => facts.less(&a, &b),
        _ => facts.divides(&a, &b),
    }
}

#[test]
fn decisions_over_nonnegative_symbols() {
    use Truth::{False, True, Unknown};
    let table = [
        ("B*S == S*B", True),
        ("N == N + 1", False),
        ("N == M", Unknown),
        ("2*N == 2*M + 1", False),
        ("6*N + 9*M == 2", False),
        ("N//2 + (N + 1)//2 == N", True),
        ("N//3 + (N+1)//3 + (N+2)//3 == N", True),
        ("N % 4 < 4", True),
        ("0 <= N % 4", True),
        ("N % 4 == 4", False),
        ("(N % 6) % 3 == N % 3", True),
        ("4*(N//4) <= N", True),
        ("N <= 4*(N//4)", Unknown),
        ("N <= N*M + N", True),
        ("0 <= N*M", True),
        ("N*M == -1", False),
        ("0 <= N - 1", Unknown),
        ("N + 1 <= 0", False),
        ("min(N, M) <= max(N, M)", True),
        ("max(N, M) + min(N, M) == N + M", True),
        ("max(N, 0) == N", True),
        ("H//s <= H", Unknown),
        ("0 <= H//s", True),
        ("2 | 4*N + 2", True),
        ("2 | 4*N + 1", False),
        ("2 | N", Unknown),
        ("2 | N*(N//1) + N", Unknown),
        ("s | s*N", True),
        ("trunc(N/2) == N//2", True),
        // Real but not integer solutions: 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4.
        ("3*max(11*x + 13*y - 45, 27 - 11*x - 13*y, 7*x - 9*y - 4, -10 - 7*x + 9*y) < 1", False),
    ];
    for (question, expected) in table {
        assert_eq!(decide(&Facts::new(), question), expected, "{question}");
    }
}

#[test]
fn assumptions_are_used() {
    let mut facts = Facts::with_default_lower(1);
    facts.set_lower("z", -3);
    assert!(facts.assume_equal(&parse("T"), &parse("2*S")));
    assert!(facts.assume_less_equal(&parse("S"), &parse("512")));
    assert!(facts.assume_divides(&parse("8"), &parse("C")));
    let table = [
        ("T//2 == S", Truth::True),
        ("T <= 1024", Truth::True),
        ("2 | T", Truth::True),
        ("4 | C", Truth::True),
        ("16 | C", Truth::Unknown),
        ("8 <= C", Truth::True),
        ("S <= B*S", Truth::True),
        ("1 <= B*S*C", Truth::True),
        ("H//s <= H", Truth::True),
        ("H - s*(H//s) < s", Truth::True),
        ("0 <= z + 3", Truth::True),
        ("0 <= z", Truth::Unknown),
    ];
    for (question, expected) in table {
        assert_eq!(decide(&facts, question), expected, "{question}");
    }
    let trunc = facts.trunc_div(&parse("H"), &parse("s"));
    assert_eq!(trunc, Some(parse("H//s")));
    assert_eq!(facts.max(&parse("B*S"), &parse("S")), Some(parse("B*S")));
    assert_eq!(facts.min(&parse("z"), &parse("S")), Some(parse("min(z, S)")));
}

/// Lists the values of an expression on a box that starts at the lower bound.
fn values(expr: &Expr, lower: i64, side: i64) -> Vec<Option<i64>> {
    let axis = || lower..lower + side;
    axis()
        .flat_map(|a| axis().flat_map(move |b| axis().map(move |c| [a, b, c])))
        .map(|point| expr.eval(&lookup(point)))
        .collect()
}

fn contradiction(truth: Truth, found: impl Iterator<Item = bool>) -> bool {
    let mut found = found;
    match truth {
        Truth::True => !found.all(|holds| holds),
        Truth::False => found.any(|holds| holds),
        Truth::Unknown => false,
    }
}

/// Makes `floor((p*a + q*b + r)/d) + u*a + v*b + w`.
fn affine() -> impl Strategy<Value = Expr> {
    ((-4i64..5, -4i64..5, -6i64..7, 1i64..6), (-2i64..3, -2i64..3, -4i64..5)).prop_map(
        |((p, q, r, d), (u, v, w))| {
            parse(&format!("({p}*a + {q}*b + {r})//{d} + {u}*a + {v}*b + {w}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn answers_are_never_wrong(a in trees(), b in trees(), lower in -2i64..3) {
        let (Some(a), Some(b)) = (a.expr(), b.expr()) else { return Ok(()) };
        let facts = Facts::with_default_lower(lower);
        let (left, right) = (values(&a, lower, 6), values(&b, lower, 6));
        let pairs = || left.iter().zip(&right).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        prop_assert!(!contradiction(facts.equal(&a, &b), pairs().map(|(a, b)| a == b)), "{} = {}", a, b);
        prop_assert!(!contradiction(facts.less_equal(&a, &b), pairs().map(|(a, b)| a <= b)), "{} <= {}", a, b);
        let nonzero = pairs().filter(|(a, _)| *a != 0);
        prop_assert!(!contradiction(facts.divides(&a, &b), nonzero.map(|(a, b)| b % a == 0)), "{} | {}", a, b);
    }

    #[test]
    fn affine_questions_on_a_box_are_decided(a in affine(), b in affine()) {
        let mut facts = Facts::new();
        for name in &NAMES[..2] {
            prop_assert!(facts.assume_less_equal(&Expr::symbol(name), &Expr::int(7)));
        }
        let axis = || 0..8;
        let points = axis().flat_map(|x| axis().map(move |y| [x, y, 0]));
        let pairs: Vec<_> =
            points.map(|point| (a.eval(&lookup(point)), b.eval(&lookup(point)))).collect();
        let exact = |holds: fn(&(Option<i64>, Option<i64>)) -> bool| {
            match pairs.iter().filter(|pair| holds(pair)).count() {
                0 => Truth::False,
                count if count == pairs.len() => Truth::True,
                _ => Truth::Unknown,
            }
        };
        prop_assert_eq!(facts.equal(&a, &b), exact(|(a, b)| a == b), "{} = {}", a, b);
        prop_assert_eq!(facts.less_equal(&a, &b), exact(|(a, b)| a <= b), "{} <= {}", a, b);
    }
}
