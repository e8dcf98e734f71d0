//! Values that may be infinite or no number, and the functions that have them.

use tangram_presburger::{
    Aff, Budget, Error, MultiUnionPwAff, PwAff, Relation, Space, Tuple, UnionPwAff, Value,
};

fn limit() -> Budget {
    Budget::steps(1_000_000)
}

fn value(text: &str) -> Value {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn values_print_as_they_are_read() {
    for text in ["0", "-7", "5/3", "-1/2", "infty", "-infty", "NaN"] {
        assert_eq!(value(text).to_string(), text);
    }
    assert_eq!(value(" 6/-4 ").to_string(), "-3/2");
    for (text, column) in [("", 1), ("1/0", 1), ("  x", 3), ("1/2/3", 1), ("+infty", 1)] {
        let error = text.parse::<Value>().expect_err(text);
        assert!(matches!(error, Error::Syntax { column: found, .. } if found == column), "{error}");
    }
}

#[test]
fn order_has_no_place_for_nan() {
    let order = ["-infty", "-3", "0", "1/2", "7", "infty"].map(value);
    for (i, a) in order.iter().enumerate() {
        for (j, b) in order.iter().enumerate() {
            assert_eq!(a.partial_cmp(b), Some(i.cmp(&j)), "{a} and {b}");
        }
        assert!(*a != Value::NaN && a.partial_cmp(&Value::NaN).is_none());
    }
    assert!(value("NaN") != value("NaN") && value("NaN").is_nan());
    assert!(value("1/2").pow2().is_err() && value("infty").pow2().is_err());
    assert_eq!(Value::from(1_i64 << 40).pow2().unwrap_err(), Error::Overflow);
}

#[test]
fn greatest_values_may_be_infinite_or_none() -> Result<(), Error> {
    let objective = Aff::parse("{ [i, j] -> [(i + 2j)/3] }", &limit())?;
    for (set, low, high) in [
        ("{ [i, j] : 0 <= i, j <= 4 }", "0", "4"),
        ("{ [i, j] : 0 <= i <= 4 and j >= 1 }", "2/3", "infty"),
        ("{ [i, j] : i + 2j = 5 }", "5/3", "5/3"),
        ("{ [i, j] }", "-infty", "infty"),
        ("[n] -> { [i, j] : 0 <= i <= n <= 6 and j = 0 }", "0", "2"),
        ("{ [i, j] : false }", "NaN", "NaN"),
        ("{ [i, j] : 2i = 1 }", "NaN", "NaN"),
    ] {
        let points = Relation::parse(set, &limit())?;
        assert_eq!(points.max_value(&objective, &limit())?.to_string(), high, "{set}");
        assert_eq!(points.min_value(&objective, &limit())?.to_string(), low, "{set}");
    }
    let piecewise = PwAff::parse("{ [i] -> [i] : 0 <= i <= 5; [i] -> [NaN] : i > 9 }", &limit())?;
    assert!(piecewise.max_value(&limit())?.is_nan());
    Ok(())
}

#[test]
fn tuples_of_unions_read_and_print() -> Result<(), Error> {
    for (text, printed) in [
        ("[n] -> C[{A[i]->[i+n];B[j]->[j]},{A[i]->[0];B[j]->[1]}]", None),
        ("(C[] : { A[i] : i >= 0 })", Some("(C[] : { A[i] : i >= 0 })")),
        ("[n] -> (C[] : { : n >= 0 })", Some("[n] -> (C[] : { : n >= 0 })")),
        ("C[]", Some("C[]")),
        ("[B[{ A[x] -> [x + 1] : x > 4 }] -> C[]]", None),
        ("(C[{ A[i] -> [i] }] : { A[i] : i >= 0 })", Some("C[{ A[i] -> [(i)] : i >= 0 }]")),
    ] {
        let read = MultiUnionPwAff::parse(text, &limit())?;
        let shown = read.to_string();
        let back = MultiUnionPwAff::parse(&shown, &limit())?;
        assert!(back.is_equal(&read, &limit())?, "{text} is printed {shown}");
        assert!(printed.is_none_or(|printed| printed == shown), "{text} is printed {shown}");
    }
    for (text, column) in [
        ("[n] -> C[{ A[i] -> [m] }]", 21),
        ("C[{ A[i] -> [i] }, 3]", 20),
        ("C[] x", 5),
        ("(C[] : { A[i] }", 16),
        ("[B[] C[]]", 6),
        ("  [n, $] -> C[{ A[i] -> [i] }]", 7),
    ] {
        let error = MultiUnionPwAff::parse(text, &limit()).expect_err(text);
        assert!(
            matches!(error, Error::Syntax { column: found, .. } if found == column),
            "{text}: {error}"
        );
    }
    Ok(())
}

#[test]
fn schedules_of_several_statements_become_functions_and_back() -> Result<(), Error> {
    let text = "[n] -> L[{ S[i] -> [i] : i < n; T[j] -> [j] }, { S[i] -> [0]; T[j] -> [1] }]";
    let schedule = MultiUnionPwAff::parse(text, &limit())?;
    let functions = schedule.to_union_pw_multi_aff(&limit())?;
    let relations = functions.to_union()?;
    let expected = "[n] -> { S[i] -> L[i, 0] : i < n; T[j] -> L[j, 1] }".parse()?;
    assert!(relations.is_equal(&expected, &limit())?, "{relations}");
    let back = MultiUnionPwAff::from_union_pw_multi_aff(&functions)?;
    // A statement has a value where all members have one.
    let expected = schedule.intersect_domain(&functions.domain()?, &limit())?;
    assert!(back.is_equal(&expected, &limit())? && !back.is_equal(&schedule, &limit())?);
    let sum = UnionPwAff::parse("{ S[i] -> [i]; T[j] -> [2j] }", &limit())?;
    let twice = sum.union_add(&sum.scale(-2, 1)?, &limit())?;
    assert!(twice.is_equal(&sum.neg()?, &limit())?);
    assert!(matches!(UnionPwAff::parse("{ S[i] -> A[i] }", &limit()), Err(Error::Space { .. })));
    Ok(())
}

#[test]
fn a_constant_may_be_on_the_empty_tuple_or_of_the_parameters() -> Result<(), Error> {
    for (input, text) in [
        (Some(Tuple::default()), "{ [] -> [(3/2)] }"),
        (None, "{ [(3/2)] }"),
        (Some(Tuple::new("A", ["i"])), "{ A[i] -> [(3/2)] }"),
    ] {
        let space = Space { params: Vec::new(), input, output: Tuple::anonymous(1) };
        let made = PwAff::from(Aff::constant_in(space, 3, 2)?);
        assert!(made.is_equal(&PwAff::parse(text, &limit())?, &limit())?, "{made} is not {text}");
        assert_eq!(made.space().input, PwAff::parse(text, &limit())?.space().input, "{text}");
    }
    let two = Space { params: Vec::new(), input: None, output: Tuple::anonymous(2) };
    assert!(matches!(Aff::constant_in(two, 1, 1), Err(Error::Space { .. })));
    Ok(())
}
