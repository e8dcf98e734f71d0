//! Expressions against plain arithmetic, and text against itself.

use proptest::prelude::*;

use crate::{AffineExpr, AffineExprs, AffineMap, BinaryOp, IntegerSet, Node, simplify};

/// A tree, before anything simplifies it.
#[derive(Clone, Debug)]
enum Tree {
    Dim(u32),
    Symbol(u32),
    Number(i64),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Times(Box<Tree>, i64),
    Divide(BinaryOp, Box<Tree>, i64),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0..3u32).prop_map(Tree::Dim),
        (0..2u32).prop_map(Tree::Symbol),
        (-9..10i64).prop_map(Tree::Number),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let divisions =
            prop_oneof![Just(BinaryOp::FloorDiv), Just(BinaryOp::CeilDiv), Just(BinaryOp::Mod)];
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Add(a.into(), b.into())),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Sub(a.into(), b.into())),
            1 => (inner.clone(), -6..7i64).prop_map(|(a, b)| Tree::Times(a.into(), b)),
            2 => (divisions, inner, 1..9i64).prop_map(|(op, a, b)| Tree::Divide(op, a.into(), b)),
        ]
    })
}

impl Tree {
    fn value(&self, dims: &[i64], symbols: &[i64]) -> i64 {
        let of = |tree: &Tree| tree.value(dims, symbols);
        match self {
            Tree::Dim(i) => dims[*i as usize],
            Tree::Symbol(i) => symbols[*i as usize],
            Tree::Number(value) => *value,
            Tree::Add(a, b) => of(a) + of(b),
            Tree::Sub(a, b) => of(a) - of(b),
            Tree::Times(a, b) => of(a) * b,
            Tree::Divide(BinaryOp::FloorDiv, a, b) => of(a).div_euclid(*b),
            Tree::Divide(BinaryOp::CeilDiv, a, b) => -(-of(a)).div_euclid(*b),
            Tree::Divide(_, a, b) => of(a).rem_euclid(*b),
        }
    }

    fn make(&self, exprs: &mut AffineExprs) -> AffineExpr {
        match self {
            Tree::Dim(i) => exprs.dim(*i),
            Tree::Symbol(i) => exprs.symbol(*i),
            Tree::Number(value) => exprs.constant(*value),
            Tree::Add(a, b) => {
                let (a, b) = (a.make(exprs), b.make(exprs));
                exprs.add(a, b)
            }
            Tree::Sub(a, b) => {
                let (a, b) = (a.make(exprs), b.make(exprs));
                exprs.sub(a, b)
            }
            Tree::Times(a, b) => {
                let (a, b) = (a.make(exprs), exprs.constant(*b));
                exprs.mul(a, b)
            }
            Tree::Divide(op, a, b) => {
                let (a, b) = (a.make(exprs), exprs.constant(*b));
                exprs.binary(*op, a, b)
            }
        }
    }

    fn map(&self) -> AffineMap {
        let mut exprs = AffineExprs::new();
        let result = self.make(&mut exprs);
        AffineMap::new(3, 2, &exprs, &[result])
    }
}

const POINTS: [[i64; 5]; 6] = [
    [0, 0, 0, 0, 0],
    [1, -1, 2, 3, -5],
    [-7, 5, 11, -2, 8],
    [13, 2, -24, 6, 1],
    [-24, -9, 35, 11, -3],
    [100, 47, -31, -64, 12],
];

/// After that many readings a text is the same for good.
const SETTLED: usize = 12;

proptest! {
    #[test]
    fn making_and_simplifying_keep_the_value(tree in trees()) {
        let mut exprs = AffineExprs::new();
        let made = tree.make(&mut exprs);
        let simple = simplify(&mut exprs, made);
        let map = AffineMap::new(3, 2, &exprs, &[made, simple]);
        for point in POINTS {
            let value = tree.value(&point[..3], &point[3..]);
            prop_assert_eq!(map.evaluate(&point), Some(vec![value; 2]), "{} at {:?}", map, point);
        }
    }

    #[test]
    fn bounds_decide_nothing_wrongly(tree in trees(), low in prop::array::uniform5(-20..20i64)) {
        let map = tree.map();
        let bounds = low.map(|low| (Some(low), Some(low + 3)));
        let mut exprs = AffineExprs::new();
        let results = map.within(&mut exprs, &bounds);
        let within = AffineMap::new(3, 2, &exprs, &results);
        for step in 0..4 {
            let point = [0, 1, 2, 3, 4].map(|i| low[i] + (step * (i as i64 + 1)) % 4);
            prop_assert_eq!(within.evaluate(&point), map.evaluate(&point), "{} is {}", map, within);
        }
    }

    #[test]
    fn what_is_printed_is_read_as_the_same(tree in trees(), equal in any::<bool>()) {
        let map = tree.map();
        let text = map.to_string();
        let again: AffineMap = text.parse().expect("printed text");
        let values = POINTS.map(|point| again.evaluate(&point) == map.evaluate(&point));
        prop_assert_eq!(values, [true; 6], "{}", text);
        // What is read is made anew, which may bring it further, and more than once; then it stays.
        let mut texts = vec![text, again.to_string()];
        while texts[texts.len() - 1] != texts[texts.len() - 2] && texts.len() <= SETTLED {
            let read: AffineMap = texts[texts.len() - 1].parse().expect("printed text");
            texts.push(read.to_string());
        }
        prop_assert!(texts.len() <= SETTLED, "{:#?}", texts);
        let set = IntegerSet::of(again, &[equal]);
        let read: IntegerSet = set.to_string().parse().expect("printed text");
        for point in POINTS {
            prop_assert_eq!(read.contains(&point), set.contains(&point));
        }
    }

    #[test]
    fn a_composition_is_one_map_after_the_other(
        outer in trees(),
        inner in prop::collection::vec(trees(), 3),
    ) {
        let mut exprs = AffineExprs::new();
        let results: Vec<AffineExpr> = inner.iter().map(|tree| tree.make(&mut exprs)).collect();
        let inner = AffineMap::new(3, 2, &exprs, &results);
        let outer = outer.map();
        let composed = outer.compose(&inner).expect("small maps");
        for point in POINTS {
            let middle = inner.evaluate(&point).expect("small numbers");
            let expected = outer.evaluate(&[&middle[..], &[4, -3]].concat());
            let operands = [&point[..3], &[4, -3], &point[3..]].concat();
            prop_assert_eq!(composed.evaluate(&operands), expected, "{} after {}", outer, inner);
        }
    }
}

fn text(map: &str) -> String {
    map.parse::<AffineMap>().expect("a map").to_string()
}

#[test]
fn identities_of_the_constructors() {
    for (given, made) in [
        ("(x) -> (3 + x + 4)", "(d0) -> (d0 + 7)"),
        ("(x) -> (x * 2 + x * 3)", "(d0) -> (d0 * 5)"),
        ("(x) -> (x - (x floordiv 4) * 4)", "(d0) -> (d0 mod 4)"),
        ("(x)[n] -> (x - (x floordiv n) * n)", "(d0)[s0] -> (d0 mod s0)"),
        ("(x, y) -> ((x * 8 + y) floordiv 4)", "(d0, d1) -> (d0 * 2 + d1 floordiv 4)"),
        ("(x, y) -> ((x * 8 + y) mod 4)", "(d0, d1) -> (d1 mod 4)"),
        ("(x) -> (x mod 12 mod 4)", "(d0) -> (d0 mod 4)"),
        ("(x) -> (-x, --x, -(x + 1))", "(d0) -> (-d0, d0, -(d0 + 1))"),
        ("(x)[] -> (2 * 3 ceildiv 4)", "(d0) -> (2)"),
    ] {
        assert_eq!(text(given), made, "{given}");
    }
}

#[test]
fn bounds_decide_quotients() {
    let map: AffineMap =
        "(x)[n] -> (x mod 32, (x + 3) floordiv 64, (n mod 6) ceildiv 8, x ceildiv 16)"
            .parse()
            .expect("a map");
    let mut exprs = AffineExprs::new();
    let results = map.within(&mut exprs, &[(Some(0), Some(31)), (None, None)]);
    let within = AffineMap::new(1, 1, &exprs, &results);
    assert_eq!(within.to_string(), "(d0)[s0] -> (d0, 0, (s0 mod 6) ceildiv 8, d0 ceildiv 16)");
}

#[test]
fn depth_is_no_limit() {
    let deep = 200_000;
    let brackets = format!("(x) -> ({}x{})", "(".repeat(deep), ")".repeat(deep));
    assert_eq!(text(&brackets), "(d0) -> (d0)");
    let right =
        format!("(x)[n] -> ({}x{})", "n + 2 * (x floordiv 3 + ".repeat(deep), ")".repeat(deep));
    let map: AffineMap = right.parse().expect("a map");
    assert_eq!(map.to_string().parse::<AffineMap>().map(|map| map.dims()), Ok(1));
    let mut exprs = AffineExprs::new();
    let symbols = [exprs.symbol(0)];
    let results = map.substitute(&mut exprs, &[], &symbols);
    simplify(&mut exprs, results[0]);
    let sums = "x * 4 + (y floordiv 3 + ".repeat(deep / 10) + "x" + &")".repeat(deep / 10);
    let divided: AffineMap = format!("(x, y) -> (({sums}) floordiv 4)").parse().expect("a map");
    assert_eq!(divided.evaluate(&[0, 0]), Some(vec![0]));
}

#[test]
fn numbers_that_do_not_fit_are_left() {
    let map: AffineMap =
        "(x) -> (9223372036854775807 + x * 2 + 1, 9223372036854775807 * 2)".parse().expect("a map");
    assert_eq!(map.evaluate(&[0]), None);
    let mut exprs = AffineExprs::new();
    let results = map.substitute(&mut exprs, &[], &[]);
    let simple = simplify(&mut exprs, results[1]);
    assert!(matches!(exprs.node(simple), Node::Binary(..)));
}

#[test]
fn what_is_refused_says_where() {
    for (text, at) in [
        ("(x, x) -> (x)", 4),
        ("(x) -> (y)", 8),
        ("(x, y) -> (x * y)", 13),
        ("(x, y) -> (x mod y)", 13),
        ("(x) -> (x +)", 11),
        ("(x) -> (x", 9),
        ("(x) -> (99999999999999999999)", 8),
        ("(x) -> (x) x", 11),
        ("(x) -> ((x)", 11),
    ] {
        use crate::ParseError::{Expected, NotAffine, Redefinition};
        let place = match text.parse::<AffineMap>() {
            Err(Expected { at, .. } | NotAffine { at, .. } | Redefinition { at, .. }) => at,
            Ok(map) => panic!("{text} is {map}"),
        };
        assert_eq!(place, at, "{text}");
    }
}
