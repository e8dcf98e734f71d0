//! Laws: an operation on expressions followed by evaluation is the operation on values.

use std::cmp::Ordering;

use proptest::prelude::*;

use crate::symbolic::Expr;

/// Is an expression that was never normalised.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Int(i64),
    Symbol(usize),
    Node(Op, Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Floor,
    Ceil,
    Mod,
    Trunc,
    Min,
    Max,
}

pub(super) const NAMES: [&str; 3] = ["a", "b", "x/y"];
const OPS: [Op; 9] =
    [Op::Add, Op::Sub, Op::Mul, Op::Floor, Op::Ceil, Op::Mod, Op::Trunc, Op::Min, Op::Max];

impl Tree {
    pub(super) fn expr(&self) -> Option<Expr> {
        let (op, a, b) = match self {
            Self::Int(value) => return Some(Expr::int(*value)),
            Self::Symbol(index) => return Some(Expr::symbol(NAMES[*index])),
            Self::Node(op, a, b) => (op, a.expr()?, b.expr()?),
        };
        match op {
            Op::Add => a.try_add(&b),
            Op::Sub => a.try_sub(&b),
            Op::Mul => a.try_mul(&b),
            Op::Floor => a.floor_div(&b),
            Op::Ceil => a.ceil_div(&b),
            Op::Mod => a.modulo(&b),
            Op::Trunc => a.trunc_div(&b),
            Op::Min => Expr::min(&a, &b),
            Op::Max => Expr::max(&a, &b),
        }
    }

    /// Evaluates directly; `None` for a division by zero.
    pub(super) fn value(&self, values: [i64; 3]) -> Option<i128> {
        let (op, a, b) = match self {
            Self::Int(value) => return Some(i128::from(*value)),
            Self::Symbol(index) => return Some(i128::from(values[*index])),
            Self::Node(op, a, b) => (op, a.value(values)?, b.value(values)?),
        };
        let floor = |a: i128, b: i128| {
            let (a, b) = if b < 0 { (-a, -b) } else { (a, b) };
            (b != 0).then(|| a.div_euclid(b))
        };
        match op {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Floor => floor(a, b),
            Op::Ceil => floor(-a, b).map(|q| -q),
            Op::Mod => Some(a - b * floor(a, b)?),
            Op::Trunc => a.checked_div(b),
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
        }
    }
}

pub(super) fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(-6i64..7).prop_map(Tree::Int), (0..3usize).prop_map(Tree::Symbol)];
    leaf.prop_recursive(4, 14, 2, |inner| {
        (proptest::sample::select(&OPS[..]), inner.clone(), inner)
            .prop_map(|(op, a, b)| Tree::Node(op, Box::new(a), Box::new(b)))
    })
}

pub(super) fn lookup(values: [i64; 3]) -> impl Fn(&str) -> Option<i64> {
    move |name| Some(values[NAMES.iter().position(|other| *other == name)?])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn no_value_leaves_its_bounds(
        tree in trees(), ends in [(-6i64..7, 0i64..7), (-6i64..7, 0i64..7), (1i64..7, 0i64..7)],
    ) {
        let ranges = ends.map(|(least, more)| (least, least + more));
        let range = |name: &str| NAMES.iter().position(|n| *n == name).map(|i| ranges[i]);
        let expr = tree.expr();
        let bounds = expr.as_ref().and_then(|expr| expr.bounds(&range));
        let Some((least, most)) = bounds else { return Ok(()) };
        for a in ranges[0].0..=ranges[0].1 {
            for b in ranges[1].0..=ranges[1].1 {
                for c in ranges[2].0..=ranges[2].1 {
                    if let Some(value) = tree.value([a, b, c]) {
                        prop_assert!((least..=most).contains(&value), "{value} {least} {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn normal_forms_keep_the_value(tree in trees(), values in [-9i64..10, -9i64..10, -9i64..10]) {
        let Some(expr) = tree.expr() else { return Ok(()) };
        if let Some(value) = tree.value(values) {
            prop_assert_eq!(expr.eval(&lookup(values)).map(i128::from), Some(value), "{}", expr);
        }
    }

    #[test]
    fn print_and_parse_are_inverse(tree in trees()) {
        let Some(expr) = tree.expr() else { return Ok(()) };
        let text = expr.to_string();
        prop_assert_eq!(text.parse::<Expr>(), Ok(expr), "{}", text);
    }

    #[test]
    fn substitution_commutes_with_evaluation(
        tree in trees(), inner in trees(), values in [-5i64..6, -5i64..6, -5i64..6],
    ) {
        let (Some(expr), Some(inner)) = (tree.expr(), inner.expr()) else { return Ok(()) };
        let replaced = expr.substitute(&|name| (name == "a").then(|| inner.clone()));
        let (Some(replaced), Some(value)) = (replaced, inner.eval(&lookup(values))) else {
            return Ok(());
        };
        let outer = expr.eval(&lookup([value, values[1], values[2]]));
        if outer.is_some() {
            prop_assert_eq!(replaced.eval(&lookup(values)), outer, "{}", replaced);
        }
    }

    #[test]
    fn ring_laws_hold_structurally(a in trees(), b in trees(), c in trees()) {
        let (Some(a), Some(b), Some(c)) = (a.expr(), b.expr(), c.expr()) else { return Ok(()) };
        prop_assert_eq!(a.try_add(&b), b.try_add(&a));
        prop_assert_eq!(a.try_mul(&b), b.try_mul(&a));
        let left = b.try_add(&c).and_then(|sum| a.try_mul(&sum));
        let right = a.try_mul(&b).zip(a.try_mul(&c)).and_then(|(x, y)| x.try_add(&y));
        if let (Some(left), Some(right)) = (left, right) {
            prop_assert_eq!(left, right);
        }
        if let Some(quotient) = a.try_mul(&b).and_then(|product| product.exact_div(&b)) {
            prop_assert_eq!(quotient, a);
        } else {
            prop_assert!(b.as_int() == Some(0) || a.try_mul(&b).is_none(), "{} * {}", a, b);
        }
    }

    #[test]
    fn the_order_is_total(a in trees(), b in trees(), c in trees()) {
        let (Some(a), Some(b), Some(c)) = (a.expr(), b.expr(), c.expr()) else { return Ok(()) };
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn any_text_ends_in_a_result(text in "[-+*/%^(),0-9abN` ]{0,24}") {
        if let Ok(expr) = text.parse::<Expr>() {
            prop_assert_eq!(expr.to_string().parse::<Expr>(), Ok(expr));
        }
    }
}
