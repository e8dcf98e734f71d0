//! What people read: one line per rule of printing, and that all of it reads back.

use tangram_presburger::{Budget, Conjunction, Division, Error, Relation, Space, Tuple, Union};

/// Given texts and how they are printed.
const PRINTED: [(&str, &str); 40] = [
    // Bounds of one term make a chain; a bound that is off by one is strict.
    (
        "[N] -> { [i, j] : i >= 0 and i <= N - 1 and j >= 0 and i >= j }",
        "[N] -> { [i, j] : 0 <= i < N and 0 <= j <= i }",
    ),
    ("{ [i, j] : i + j >= 3 and -i - j >= -7 }", "{ [i, j] : 3 - i <= j <= 7 - i }"),
    ("[n] -> { [i] : i > n }", "[n] -> { [i] : i > n }"),
    ("{ [i, j] : 3i - 2j < 7 }", "{ [i, j] : 2j >= 3i - 6 }"),
    // What others imply goes, but not the only bound of a dimension.
    ("{ [i] : 0 <= i <= 20 and i <= 30 and 2i <= 41 and 3i >= -2 }", "{ [i] : 0 <= i <= 20 }"),
    (
        "{ [i, j] : 0 <= i and 0 <= j and j <= i and i + j <= 9 and i <= 9 }",
        "{ [i, j] : 0 <= i <= 9 and 0 <= j <= i and j <= 9 - i }",
    ),
    ("[n] -> { [i] : 1 <= i <= n and n >= 0 }", "[n] -> { [i] : n >= 0 and 1 <= i <= n }"),
    // A dimension that an equation defines stands in its tuple, with the name it was given.
    ("{ [i] -> [i + 1] }", "{ [i] -> [i + 1] }"),
    ("{ S[i] -> A[j] : j = 2i and i >= 0 }", "{ S[i] -> A[j = 2i] : i >= 0 }"),
    ("{ [x, y] : x <= y and y <= x and x > 3 }", "{ [x, y = x] : x >= 4 }"),
    (
        "{ [i, j, k] : j = i + 1 and k = 2j + i and k <= 9 }",
        "{ [i, j = i + 1, k = 3i + 2] : i <= 2 }",
    ),
    ("{ S[i] -> S[i] }", "{ S[i] -> S[i] }"),
    ("{ [i, j] : i = 2j }", "{ [i, j] : i = 2j }"),
    (
        "{ [i, j, k] : i + j + k = 7 and 0 <= k <= 2 }",
        "{ [i, j, k = 7 - i - j] : 5 - i <= j <= 7 - i }",
    ),
    ("{ [5] -> [] }", "{ [5] -> [] }"),
    // Divisions and remainders, without `exists` where the text is short.
    ("{ [i] : exists k: i = 2k }", "{ [i] : i mod 2 = 0 }"),
    // A division of what is a multiple is none.
    ("{ [x] -> [floor(x/2)] : x = 0 }", "{ [x = 0] -> [0] }"),
    ("{ [x, y] -> [y, floor(y/2)] : y = 2x }", "{ [x, y = 2x] -> [2x, x] }"),
    // Of parameters, what is all of them is said alone.
    ("[n] -> { : n >= 11; : }", "[n] -> { : }"),
    // What equations say of a division already is not said again.
    ("{ [i] : i = 2 and i mod 2 = 0 }", "{ [i = 2] }"),
    ("{ [i, j] : j = 3 and i = 2 and (i + j) mod 5 = 0 }", "{ [i = 2, j = 3] }"),
    ("{ [i] : (5 - i) mod 3 = 1 }", "{ [i] : i mod 3 = 1 }"),
    ("{ [i, j] : (i + 5j) mod 4 = 3 }", "{ [i, j] : (i + j) mod 4 = 3 }"),
    ("{ [i] : 1 <= i mod 3 }", "{ [i] : i mod 3 >= 1 }"),
    ("{ [i] : i mod 3 > 1 }", "{ [i] : i mod 3 = 2 }"),
    ("{ [i] : (i + 1) mod 2 = 2 }", "{ [i] : (i + 1) mod 2 = 2 }"),
    ("{ [i, j] : i = 2*(j mod 3) + 1 }", "{ [i, j] : i = 2*(j mod 3) + 1 }"),
    ("{ [i] -> [floor(i/3), i mod 3] }", "{ [i] -> [floor(i/3), i mod 3] }"),
    ("{ [i, j] : j <= floor(i/2) }", "{ [i, j] : 2j <= i }"),
    ("{ [i, j] : 2j <= i <= 2j + 1 }", "{ [i, j] : i - 1 <= 2j <= i }"),
    ("{ [i] -> [floor(floor(i/2)/3)] }", "{ [i] -> [floor(i/6)] }"),
    (
        "[n, m] -> { [i, j] -> [k] : exists q: q = floor((12345i + 3456j + 789n)/34567) and q <= k <= 2q and m <= 3q + k }",
        "[n, m] -> { [i, j] -> [k] : exists (e0 = floor((789n + 12345i + 3456j)/34567): e0 <= k <= 2e0 and k >= m - 3e0) }",
    ),
    // A division that is a number is two bounds, wherever it comes up.
    ("{ [b] : floor(b/32768) = 0 }", "{ [b] : 0 <= b <= 32767 }"),
    ("{ [i] : floor(i/16) = 2 and i mod 16 >= 3 }", "{ [i] : 35 <= i <= 47 }"),
    // Several disjuncts and spaces; nothing at all.
    ("{ [i, j] : i, j << 3, 4 }", "{ [i, j] : i <= 2; [i = 3, j] : j <= 3 }"),
    ("{ A[i] : i > 0; B[] }", "{ A[i] : i >= 1; B[] }"),
    ("{ [i] : 2 <= 3i <= 2 }", "{ }"),
    ("[n] -> { S[i, j] : 0 <= 0 = i < 0 < n }", "{ }"),
    ("{ A[i] : i = 0 and i < 0; B[] }", "{ B[] }"),
    ("[n] -> { [] : n mod 2 = 0 and n >= 3 }", "[n] -> { [] : n mod 2 = 0 and n >= 3 }"),
];

#[test]
fn texts_are_short_and_read_back() {
    let limit = Budget::steps(10_000_000);
    let read = |text: &str| Union::parse(text, &limit).unwrap_or_else(|e| panic!("{text}: {e}"));
    for (given, printed) in PRINTED {
        let value = read(given);
        assert_eq!(value.to_string(), printed, "{given}");
        assert!(read(printed).is_equal(&value, &limit).expect("decided"), "{given}");
        assert_eq!(read(printed).to_string(), printed, "printing again changes nothing");
    }
}

#[test]
fn a_value_uses_earlier_dimensions_only() -> Result<(), Error> {
    // j = 3 - 2 floor(k/2), where k comes behind j.
    let part = Conjunction {
        divisions: vec![Division { numerator: vec![0, 0, 1], denominator: 2 }],
        equalities: vec![vec![-3, 1, 0, 2]],
        inequalities: Vec::new(),
    };
    let space = Space::set(Vec::new(), Tuple::new("", ["j", "k"]));
    let set = Relation::from_conjunctions(space, &[part])?;
    let text = set.to_string();
    assert!(
        Relation::parse(&text, &Budget::unlimited())?.is_equal(&set, &Budget::unlimited())?,
        "{text}"
    );
    Ok(())
}

/// Where inputs and outputs have one name, a value may speak of the output, which then is named.
#[test]
fn dimensions_that_share_their_names_are_told_apart() -> Result<(), Error> {
    let budget = Budget::unlimited();
    let terms = ["x", "y", "2y", "x - y", "y - 2x", "x + y", "0"];
    let mut texts = 0;
    for (at, first) in terms.iter().enumerate() {
        for second in &terms[at..] {
            let map = format!("{{ [x, y] -> [{first}, {second}] }}");
            let map: Relation = Relation::parse(&map, &budget)?;
            for other in &terms {
                let next = format!("{{ [x, y] -> [{other}, x + 2y] : 0 <= x <= y }}");
                let next = Relation::parse(&next, &budget)?;
                for found in [
                    map.apply_range(&map.inverse()?, &budget)?,
                    map.apply_range(&next, &budget)?.inverse()?,
                    map.inverse()?.apply_range(&next.inverse()?, &budget)?,
                ] {
                    let text = found.to_string();
                    let read = Relation::parse(&text, &budget)?;
                    assert!(read.is_equal(&found, &budget)?, "{text}");
                    texts += usize::from(text.contains('\''));
                }
            }
        }
    }
    assert!(texts > 0, "no name was shared");
    Ok(())
}
