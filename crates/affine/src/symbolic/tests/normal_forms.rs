//! Text in, normal form out; each right side was derived by hand.

use crate::symbolic::{Expr, Facts, broadcast, infer_minus_one};

fn parse(text: &str) -> Expr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn normal_forms() {
    let table = [
        ("N", "N"),
        ("2*H+1", "2*H + 1"),
        ("S*B", "B*S"),
        ("1 - N", "1 - N"),
        ("-N - 1", "-N - 1"),
        ("N - N", "0"),
        ("(N + 1)**2 - N*N", "2*N + 1"),
        ("(a+b)*(a-b)", "a^2 - b^2"),
        ("floor((H + 2*p - k)/s) + 1", "floor((H + 2*p - k)/s) + 1"),
        ("floor((4*N+6)/2)", "2*N + 3"),
        ("floor((N+4)/2)", "floor(N/2) + 2"),
        ("(H - 3)//2 + 1", "floor((H + 1)/2) - 1"),
        ("-(-N//2)", "floor((N + 1)/2)"),
        ("ceil(N/2)", "floor((N + 1)/2)"),
        ("N ceildiv 4", "floor((N + 3)/4)"),
        ("-(-N//3)", "floor((N + 2)/3)"),
        ("N % 2", "N - 2*floor(N/2)"),
        ("(N % 4) % 2", "N - 2*floor(N/2)"),
        ("(N % 4) // 4", "0"),
        ("N//2//3", "floor(N/6)"),
        ("((H+1)//2 + 1)//2", "floor((H + 3)/4)"),
        ("(6*N + 3) // 4", "N + floor((N + 1)/2)"),
        ("(2*N + 3) // 4", "floor((N + 1)/2)"),
        ("(2*N + 1) // 4", "floor(N/2)"),
        ("floor(H/2 - 1/2)", "floor((H + 1)/2) - 1"),
        ("(H + 2*s)//s", "floor(H/s) + 2"),
        ("(B*S + B)//(B*T)", "floor((S + 1)/T)"),
        ("(3*s*N)//(2*s)", "N + floor(N/2)"),
        ("H//(-s)", "floor(-H/s)"),
        ("-7//2", "-4"),
        ("-7 % 3", "2"),
        ("trunc(-7/2)", "-3"),
        ("trunc(-N/2)", "-trunc(N/2)"),
        ("trunc(4*N/2)", "2*N"),
        ("trunc(N/(2*N))", "0"),
        ("max(3, N, N + 1, 2)", "max(N, 2) + 1"),
        ("max(a, max(b, c))", "max(a, b, c)"),
        ("-max(-N, -3)", "min(N, 3)"),
        ("min(N, 3) - N*0", "min(N, 3)"),
        ("max(4, 7)", "7"),
        ("768*B*S/S", "768*B"),
        ("unk__12 + input.1", "input.1 + unk__12"),
        ("`a/b` * 2", "2*`a/b`"),
        ("`mod` mod 2", "`mod` - 2*floor(`mod`/2)"),
        ("``", "``"),
        ("-9223372036854775808", "-9223372036854775808"),
    ];
    for (text, expected) in table {
        assert_eq!(parse(text).to_string(), expected, "{text}");
        assert_eq!(parse(expected), parse(text), "{text}");
    }
}

#[test]
fn errors_name_the_place() {
    let table = [
        ("", "expected a number, a name or '(', found the end at offset 0"),
        ("N +", "expected a number, a name or '(', found the end at offset 3"),
        ("N ) 2", "expected an operator or the end, found ')' at offset 2"),
        ("(N", "expected ')', found the end at offset 2"),
        ("`N", "expected a closing backtick, found the end at offset 0"),
        ("N/2", "expected an integer expression within the limits, found another at offset 3"),
        ("N//0", "expected an integer expression within the limits, found another at offset 4"),
        ("sin(N)", "expected floor, ceil, trunc, min or max before '(', found the end at offset 6"),
    ];
    for (text, expected) in table {
        let error = text.parse::<Expr>().expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<Expr>().is_err());
}

#[test]
fn exact_quotients() {
    let table = [
        ("B*S*768", "S", Some("768*B")),
        ("B*S*768", "-768*B", Some("-S")),
        ("a^2 - b^2", "a + b", Some("a - b")),
        ("2*N + 4", "N + 2", Some("2")),
        ("6*N + 3", "3", Some("2*N + 1")),
        ("N", "2", None),
        ("N + 1", "N", None),
        ("N", "0", None),
        ("B*floor(H/2)", "floor(H/2)", Some("B")),
    ];
    for (num, den, expected) in table {
        let quotient = parse(num).exact_div(&parse(den)).map(|q| q.to_string());
        assert_eq!(quotient.as_deref(), expected, "{num} by {den}");
    }
}

#[test]
fn limits_end_in_none() {
    let max = Expr::int(i64::MAX);
    assert_eq!(max.try_add(&Expr::int(1)), None);
    assert_eq!(max.try_mul(&parse("2*N")), None);
    assert_eq!(Expr::int(i64::MIN).neg(), None);
    assert_eq!(Expr::int(i64::MIN).floor_div(&Expr::int(-1)), None);
    let mut product = Expr::int(1);
    let grown = (0..20).try_for_each(|i| {
        product = product.try_mul(&Expr::symbol(&format!("x{i}")).try_add(&Expr::int(1))?)?;
        Some(())
    });
    assert_eq!(grown, None);
    let mut nested = Expr::symbol("N");
    let deep = (0..100).try_for_each(|i| {
        let d = Expr::symbol(&format!("d{i}"));
        nested = nested.floor_div(&d)?;
        Some(())
    });
    assert_eq!(deep, None);
}

#[test]
fn accessors() {
    let expr = parse("floor((W + 1)/s) + H*max(W, 2)");
    assert_eq!(expr.symbols(), ["H", "W", "s"]);
    assert_eq!((expr.as_int(), expr.as_symbol()), (None, None));
    assert_eq!(Expr::symbol("a b").as_symbol(), Some("a b"));
    assert_eq!(Expr::int(7).as_int(), Some(7));
    let replaced = expr.substitute(&|name| (name == "W").then(|| parse("s*T - 1")));
    assert_eq!(replaced, Some(parse("T + H*max(s*T - 1, 2)")));
    assert_eq!(expr.substitute(&|name| (name == "s").then(|| Expr::int(0))), None);
}

#[test]
fn shapes() {
    let facts = Facts::new();
    let table = [
        ("N", "N", Some("N")),
        ("1", "N", Some("N")),
        ("N", "1", Some("N")),
        ("N", "8", Some("8")),
        ("8", "4", None),
        ("N", "M", None),
        ("N + 9", "8", None),
        ("0", "1", Some("0")),
        ("0", "N", None),
    ];
    for (a, b, expected) in table {
        let dim = broadcast(&parse(a), &parse(b), &facts).map(|dim| dim.to_string());
        assert_eq!(dim.as_deref(), expected, "{a} with {b}");
    }
    let dims = |texts: &[&str]| texts.iter().map(|text| parse(text)).collect::<Vec<_>>();
    let known = dims(&["S*B", "12"]);
    assert_eq!(infer_minus_one(&dims(&["B", "S", "768"]), &known), Some(Expr::int(64)));
    assert_eq!(infer_minus_one(&dims(&["B", "S"]), &dims(&["T"])), None);
    assert_eq!(infer_minus_one(&dims(&["0", "S"]), &dims(&["0"])), None);
}
