//! Arithmetic on tensor extents.
//!
//! An extent is a number, a symbolic expression or unknown ([`Dim`]). Arithmetic on numbers takes
//! a short way; everything else goes through the normal form of
//! [`tangram_affine::symbolic::Expr`]. Unknown stays unknown: no names are invented. Every
//! symbol stands for a number that is at least 0, and within the range that is assumed of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use tangram_affine::symbolic::{Expr, Facts, Truth};
use tangram_ir::{Context, Dim, DimKind, Str};

use crate::assume::{Assumption, assume};

/// The parsed form of each symbolic element of a recorded list.
#[derive(Default)]
struct Parsed {
    exprs: RwLock<FxHashMap<Str, Option<Expr>>>,
}

/// The extent as an expression; `None` if it is unknown.
pub fn expr(context: &Context, dim: Dim) -> Option<Expr> {
    match dim.kind() {
        DimKind::Static(n) => Some(Expr::int(n)),
        DimKind::Unknown => None,
        DimKind::Symbolic(expr) => Some(context.dim_expr(expr).clone()),
    }
}

/// The expression written in `text`; `None` if it is none.
pub fn parse(context: &Context, text: Str) -> Option<Expr> {
    let table = context.extension::<Parsed>();
    if let Some(known) = table.exprs.read().get(&text) {
        return known.clone();
    }
    let parsed: Option<Expr> = context.text(text).parse().ok();
    table.exprs.write().insert(text, parsed.clone());
    parsed
}

/// The expression as an extent; a negative number is no extent and gives unknown.
pub fn dim(context: &Context, expr: &Expr) -> Dim {
    context.dim(expr)
}

/// The normal form of `expr` as an interned string.
pub fn intern(context: &Context, expr: &Expr) -> Str {
    let text = context.str(&expr.to_string());
    let table = context.extension::<Parsed>();
    if !table.exprs.read().contains_key(&text) {
        table.exprs.write().insert(text, Some(expr.clone()));
    }
    text
}

/// The ranges that a context's symbols lie in, and the facts that follow.
#[derive(Default)]
struct Assumed {
    ranges: RwLock<BTreeMap<String, (i64, i64)>>,
    facts: RwLock<Arc<Facts>>,
}

/// What is assumed of the symbols: each is at least 0, and lies in the range that
/// [`assume_range`] has given it.
pub fn facts(context: &Context) -> Arc<Facts> {
    Arc::clone(&context.extension::<Assumed>().facts.read())
}

/// Assumes that `symbol` lies between `least` and `greatest` in all programs of `context`: what is
/// inferred, folded and matched from now on may rely on it. A second range narrows the first.
/// Returns whether any value is left.
pub fn assume_range(context: &Context, symbol: &str, least: i64, greatest: i64) -> bool {
    let assumed = context.extension::<Assumed>();
    let mut ranges = assumed.ranges.write();
    let known = ranges.get(symbol).copied().unwrap_or((0, i64::MAX));
    let (least, greatest) = (least.max(known.0), greatest.min(known.1));
    if least > greatest {
        return false;
    }
    ranges.insert(symbol.to_owned(), (least, greatest));
    let mut facts = Facts::default();
    for (symbol, &(least, greatest)) in ranges.iter() {
        facts.set_lower(symbol, least);
        facts.assume_less_equal(&Expr::symbol(symbol), &Expr::int(greatest));
    }
    *assumed.facts.write() = Arc::new(facts);
    true
}

/// The range that `symbol` lies in, both ends included; `None` if none is assumed.
pub fn range(context: &Context, symbol: &str) -> Option<(i64, i64)> {
    context.extension::<Assumed>().ranges.read().get(symbol).copied()
}

/// All ranges that are assumed, by symbol.
pub fn ranges(context: &Context) -> Vec<(String, (i64, i64))> {
    let ranges = context.extension::<Assumed>().ranges.read();
    ranges.iter().map(|(symbol, &range)| (symbol.clone(), range)).collect()
}

fn binary(
    context: &Context,
    (a, b): (Dim, Dim),
    fast: impl Fn(i64, i64) -> Option<i64>,
    slow: impl Fn(&Expr, &Expr) -> Option<Expr>,
) -> Dim {
    if let (Some(a), Some(b)) = (a.as_static(), b.as_static()) {
        return fast(a, b).map_or(Dim::UNKNOWN, Dim::fixed);
    }
    match (expr(context, a), expr(context, b)) {
        (Some(a), Some(b)) => slow(&a, &b).map_or(Dim::UNKNOWN, |e| dim(context, &e)),
        _ => Dim::UNKNOWN,
    }
}

/// `a + b`.
pub fn add(context: &Context, a: Dim, b: Dim) -> Dim {
    binary(context, (a, b), i64::checked_add, Expr::try_add)
}

/// `a - b`.
pub fn sub(context: &Context, a: Dim, b: Dim) -> Dim {
    binary(context, (a, b), i64::checked_sub, Expr::try_sub)
}

/// `a - b` as an expression that may be negative; `None` if it is unknown.
pub fn sub_signed(context: &Context, a: Dim, b: Dim) -> Option<Expr> {
    expr(context, a)?.try_sub(&expr(context, b)?)
}

/// The extent as it is written: a number, an expression or `?`.
pub fn text(context: &Context, dim: Dim) -> String {
    match dim.kind() {
        DimKind::Static(n) => n.to_string(),
        DimKind::Symbolic(expr) => context.dim_text(expr).to_owned(),
        DimKind::Unknown => "?".to_owned(),
    }
}

/// `a * b`; 0 times anything is 0.
pub fn mul(context: &Context, a: Dim, b: Dim) -> Dim {
    let zero = Dim::fixed(0);
    if a == zero || b == zero {
        return zero;
    }
    binary(context, (a, b), i64::checked_mul, Expr::try_mul)
}

/// The product of `dims`; 1 for none.
pub fn product(context: &Context, dims: &[Dim]) -> Dim {
    dims.iter().fold(Dim::fixed(1), |acc, &d| mul(context, acc, d))
}

/// `floor(a / b)` for a number `b` greater than 0.
pub fn floor_div(context: &Context, a: Dim, b: i64) -> Dim {
    if b <= 0 {
        return Dim::UNKNOWN;
    }
    let fast = |a: i64, b: i64| Some(a.div_euclid(b));
    binary(context, (a, Dim::fixed(b)), fast, Expr::floor_div)
}

/// `ceil(a / b)` for a number `b` greater than 0.
pub fn ceil_div(context: &Context, a: Dim, b: i64) -> Dim {
    if b <= 0 {
        return Dim::UNKNOWN;
    }
    let fast = |a: i64, b: i64| a.checked_add(b - 1).map(|n| n.div_euclid(b));
    binary(context, (a, Dim::fixed(b)), fast, Expr::ceil_div)
}

/// Returns whether `a` and `b` are equal for all values of the symbols.
pub fn equal(context: &Context, a: Dim, b: Dim) -> Truth {
    match (a.as_static(), b.as_static()) {
        (Some(a), Some(b)) if a == b => return Truth::True,
        (Some(_), Some(_)) => return Truth::False,
        _ => {}
    }
    if a == b && !a.is_unknown() {
        return Truth::True;
    }
    match (expr(context, a), expr(context, b)) {
        (Some(a), Some(b)) => facts(context).equal(&a, &b),
        _ => Truth::Unknown,
    }
}

/// The extent of two broadcast dimensions; unknown if it depends on what is unknown.
///
/// `Err` if both are numbers that do not fit.
pub fn broadcast(context: &Context, a: Dim, b: Dim) -> Result<Dim, (i64, i64)> {
    match (a.as_static(), b.as_static()) {
        (Some(1), _) => Ok(b),
        (_, Some(1)) => Ok(a),
        (Some(a), Some(b)) if a != b => Err((a, b)),
        (Some(_), Some(_)) => Ok(a),
        (None, None) if equal(context, a, b) == Truth::True => Ok(a),
        (known, other) => {
            assume(Assumption::Broadcast(a, b));
            // A number other than 1 decides: the other is that number or 1.
            Ok(match (known, other) {
                (Some(_), _) => a,
                (_, Some(_)) => b,
                _ => Dim::UNKNOWN,
            })
        }
    }
}

/// Says that `a` and `b` differ for all values of the symbols. Where that is not known, they are
/// taken to be equal: who asks goes on as if they were.
pub fn differ(context: &Context, a: Dim, b: Dim) -> bool {
    let found = equal(context, a, b);
    if found == Truth::Unknown {
        assume(Assumption::Equal(a, b));
    }
    found == Truth::False
}

/// A list of elements as extents; what is unknown stays unknown.
pub fn known<C: FromIterator<Dim>>(context: &Context, list: &[Option<Expr>]) -> C {
    list.iter().map(|e| e.as_ref().map_or(Dim::UNKNOWN, |e| dim(context, e))).collect()
}

/// The better known of two descriptions of one extent; `None` if they contradict each other.
pub fn refine(context: &Context, inferred: Dim, claimed: Dim) -> Option<Dim> {
    if inferred.is_unknown() {
        return Some(claimed);
    }
    (!differ(context, inferred, claimed)).then_some(inferred)
}
