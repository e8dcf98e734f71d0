//! Numbers of any size: 40 and 400 digits, and all that lies around 64 and 128 bits.

use num_bigint::BigInt;
use tangram_presburger::count::Rational;
use tangram_presburger::{
    Aff, Budget, Error, Inequalities, Integer, PwAff, Relation, Space, Tuple, Union,
};

fn limit() -> Budget {
    Budget::steps(2_000_000)
}

fn read(text: &str) -> Relation {
    Relation::parse(text, &limit()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Numbers of 40 and of 400 digits, of no particular form.
fn numbers() -> [BigInt; 2] {
    let of = |digits: u32| BigInt::from(7).pow(3 * digits) % BigInt::from(10).pow(digits);
    [of(40), of(400)]
}

fn integer(value: &BigInt) -> Integer {
    value.clone().into()
}

#[test]
fn large_numbers_are_read_and_written() {
    for n in numbers() {
        let texts = [
            format!("{{ [i] : i >= {n} }}"),
            format!("{{ [i = {n}, j] : {n}j <= 1 }}"),
            format!("{{ [i] : i mod {n} = 3 }}"),
            format!("[n] -> {{ A[i] -> B[j] : 0 <= i <= {n}n + 1 and 3j >= i - {n} }}"),
        ];
        for text in texts {
            let set = read(&text);
            let again = read(&set.to_string());
            assert!(again.is_equal(&set, &limit()).expect("an answer"), "{text}");
            assert!(
                text.len() < 41 || set.to_string().contains(&n.to_string()[1..]) || n < 0.into()
            );
        }
        let bound = read(&format!("{{ [i] : i >= {n} }}"));
        assert_eq!(bound.to_string(), format!("{{ [i] : i >= {n} }}"));
        let one = read(&format!("{{ [{n}, -{n}] }}"));
        assert_eq!(one.points(&limit()), Ok(vec![vec![integer(&n), integer(&-&n)]]));
    }
    let power = read("{ [2^1000] }").sample(&limit()).expect("an answer");
    assert_eq!(power, Some(vec![integer(&BigInt::from(2).pow(1000))]));
    assert!("{ [2^99999999999] }".parse::<Relation>().is_err(), "no memory holds it");
}

#[test]
fn large_sets_are_counted_bounded_and_listed() {
    for n in numbers() {
        let m: BigInt = &n / 1000 + 7;
        let multiples = read(&format!("{{ [i] : exists j: i = {m}j and -5 <= i <= {n} }}"));
        let count = multiples.card(&limit()).expect("finite").evaluate::<Integer>(&[]);
        assert_eq!(count, Ok(Rational::from(integer(&(&n / &m + 1)))), "{n}");
        let greatest = multiples.lexmax(&limit()).and_then(|set| set.sample(&limit()));
        assert_eq!(greatest, Ok(Some(vec![integer(&(&n / &m * &m))])), "{n}");
        let triangle = read("[n] -> { [i, j] : 0 <= i <= j < n }").card(&limit()).expect("finite");
        let expected = &n * (&n + 1) / 2;
        assert_eq!(triangle.evaluate(&[integer(&n)]), Ok(Rational::from(integer(&expected))));
        let four = read(&format!("{{ [i] : {n} <= i <= {n} + 3 }}")).points(&limit());
        let listed: Vec<Vec<Integer>> = (0..4).map(|k| vec![integer(&(&n + k))]).collect();
        assert_eq!(four, Ok(listed));
        let least = read(&format!("{{ [i, j] : {m}i >= {n} and j = 2i }}")).lexmin(&limit());
        let ceiling = (&n + &m - 1) / &m;
        let point = least.and_then(|set| set.sample(&limit()));
        assert_eq!(point, Ok(Some(vec![integer(&ceiling), integer(&(2 * ceiling))])));
    }
}

#[test]
fn large_projections_and_eliminations_are_exact() {
    for n in numbers() {
        // Multiples of n, and only those, leave an i.
        let image = read(&format!("{{ [i] -> [j] : {n}i = j }}")).range(&limit()).expect("a set");
        for (j, inside) in [(3 * &n, true), (3 * &n + 1, false), (-&n, true)] {
            assert_eq!(image.contains(&[integer(&j)]), Ok(inside));
        }
        let rows = vec![
            vec![Integer::ZERO, integer(&n), Integer::from(-1)],
            vec![integer(&(&n * &n)), integer(&-&n), Integer::ONE],
        ];
        let system = Inequalities::new(vec!["x".into(), "y".into()], rows).expect("rows");
        let step = system.eliminate("x", &limit()).expect("x is there");
        // y <= n x and n x <= y + n n leave all y.
        let square = vec![integer(&(&n * &n)), Integer::ZERO, Integer::ZERO];
        assert_eq!(step.combined, vec![square]);
        assert!(step.result.rows().is_empty());
    }
}

#[test]
fn large_functions_are_evaluated_exactly() {
    let domain = Space::set(Vec::new(), Tuple::anonymous(1));
    for n in numbers() {
        let i = Aff::coordinate(&domain, 0).expect("there is one");
        let scaled = i.scale(integer(&n), 7).expect("7 is not 0");
        let whole = scaled.floor().expect("total").eval(&[integer(&(&n + 1))]);
        assert_eq!(whole, Ok(Rational::from(integer(&(&n * (&n + 1) / 7)))));
        let rest = i.modulo(integer(&n)).expect("positive").eval(&[integer(&(&n * 5 + 2))]);
        assert_eq!(rest, Ok(Rational::from(2)));
        let text = format!("{{ [i] -> [({n}i)] : i >= 0; [i] -> [(i - {n})] : i < 0 }}");
        let function = PwAff::parse(&text, &limit()).expect("a function");
        assert_eq!(function.eval(&[-1]), Ok(Some(Rational::from(integer(&(-1 - &n))))));
        let again = PwAff::parse(&function.to_string(), &limit()).expect("what is printed");
        assert!(again.is_equal(&function, &limit()).expect("an answer"));
    }
}

/// A linear congruential generator.
struct Source(u64);

impl Source {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }

    /// Mostly near a power of two from 2^62 to 2^130, of either sign.
    fn number(&mut self) -> BigInt {
        let small = BigInt::from(self.below(7)) - 3;
        let value = match self.below(4) {
            0 => return small,
            _ => BigInt::from(2).pow(62 + self.below(69) as u32) + small,
        };
        if self.below(2) == 0 { -value } else { value }
    }

    /// A set in two dimensions, in a box so that most operations end.
    fn set(&mut self) -> Relation {
        let size = self.number().magnitude().clone() + 5_u32;
        let mut facts = vec![format!("-{size} <= i <= {size} and 0 <= j <= {size}")];
        for _ in 0..1 + self.below(2) {
            let [a, b, c] = [self.number(), self.number(), self.number()];
            facts.push(match self.below(3) {
                0 => format!("({a}i + {b}j + {c}) mod {size} <= {}", &size / 2_u32),
                _ => format!("{a}i + {b}j + {c} >= 0"),
            });
        }
        read(&format!("{{ [i, j] : {} }}", facts.join(" and ")))
    }
}

#[test]
fn nothing_is_refused_for_its_size() {
    type Operation = fn(&Relation, &Relation, &Budget) -> Result<Relation, Error>;
    let operations: [(&str, Operation); 14] = [
        ("intersect", |a, b, limit| a.intersect(b, limit)),
        ("union", |a, b, _| a.union(b)),
        ("subtract", |a, b, limit| a.subtract(b, limit)),
        ("complement", |a, _, limit| a.complement(limit)),
        ("project", |a, _, limit| a.project_out(1..2, limit)),
        ("coalesce", |a, b, limit| a.union(b)?.coalesce(limit)),
        ("gist", |a, b, limit| a.gist(b, limit)),
        ("simple hull", |a, b, limit| a.union(b)?.simple_hull(limit)),
        ("affine hull", |a, _, limit| a.affine_hull(limit)),
        ("convex hull", |a, b, limit| a.union(b)?.convex_hull(limit)),
        ("lexmin", |a, _, limit| a.lexmin(limit)),
        ("lexmax", |a, _, limit| a.lexmax(limit)),
        ("redundancies", |a, _, limit| a.remove_redundancies(limit)),
        ("disjoint", |a, b, limit| a.union(b)?.make_disjoint(limit)),
    ];
    let mut source = Source(11);
    let (mut answers, mut all) = (0, 0);
    for _ in 0..4 {
        let (a, b) = (source.set(), source.set());
        for (name, operation) in &operations {
            let result = operation(&a, &b, &Budget::steps(50_000));
            assert_ne!(result.as_ref().err(), Some(&Error::Overflow), "{name} of {a} and {b}");
            all += 1;
            let Ok(result) = result else { continue };
            answers += 1;
            let again = result.to_string().parse::<Union>().expect("what is printed is read");
            assert!(again.relations().count() <= 1, "{name} of {a}");
        }
        if let Ok(Some(point)) = a.sample(&Budget::steps(50_000)) {
            assert_eq!(a.contains(&point), Ok(true), "{point:?} of {a}");
        }
        let counted = a.card(&Budget::steps(50_000));
        assert_ne!(counted.err(), Some(Error::Overflow), "card of {a}");
    }
    assert!(answers * 4 > all * 3, "{answers} of {all} answered");
}
