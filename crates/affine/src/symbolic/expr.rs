//! The expression type: representation, construction, access, order.
//!
//! Symbols are names, products are allowed, and equal values have one form; an `AffineExpr`
//! (`crate::expr`) has numbered dimensions, is affine, and keeps the form in which MLIR writes it.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::monomial::{Atom, Compound, Monomial};
use super::{MAX_DEPTH, MAX_TERMS, MAX_WEIGHT};

/// Is an integer expression over named symbols, in normal form.
///
/// A clone costs at most one reference count; integers never allocate. Operations return `None`
/// where a coefficient would leave `i64`, where a limit of this module would be passed, and where
/// a denominator is zero.
#[derive(Clone, PartialEq, Eq)]
pub struct Expr(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Int(i64),
    Polynomial(Arc<Polynomial>),
}

/// Holds at least one non-constant term; terms descend by monomial, coefficients are not zero.
struct Polynomial {
    hash: u64,
    weight: u32,
    depth: u32,
    constant: i64,
    terms: Box<[Term]>,
}

impl PartialEq for Polynomial {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.constant == other.constant && self.terms == other.terms
    }
}

impl Eq for Polynomial {}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub(super) monomial: Monomial,
    pub(super) coeff: i64,
}

impl Expr {
    /// Makes a constant.
    pub const fn int(value: i64) -> Self {
        Self(Repr::Int(value))
    }

    /// Makes the symbol `name`; any string is a name.
    pub fn symbol(name: &str) -> Self {
        let monomial = Monomial::atom(Atom::Symbol(name.into()));
        Self::build(vec![Term { monomial, coeff: 1 }], 0, 1, 0)
    }

    /// Returns the value of a constant.
    pub fn as_int(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(value) => Some(value),
            Repr::Polynomial(_) => None,
        }
    }

    /// Returns the name, where the expression is one symbol and nothing else.
    pub fn as_symbol(&self) -> Option<&str> {
        match self.as_atom()? {
            Atom::Symbol(name) => Some(name),
            Atom::Compound(_) => None,
        }
    }

    /// Tells whether the expression is a constant.
    pub fn is_int(&self) -> bool {
        matches!(self.0, Repr::Int(_))
    }

    /// Lists the symbols that occur, sorted, each once.
    pub fn symbols(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect_symbols(&mut names);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the terms, each a product of symbols and divisions with its factor, and the constant.
    ///
    /// ```
    /// use tangram_affine::symbolic::Expr;
    ///
    /// let expr: Expr = "2*batch*seq + seq + 3".parse().unwrap();
    /// let (terms, constant) = expr.affine_terms();
    /// let texts: Vec<String> = terms.iter().map(|(m, c)| format!("{c} of {m}")).collect();
    /// assert_eq!((texts, constant), (vec!["2 of batch*seq".into(), "1 of seq".into()], 3));
    /// ```
    pub fn affine_terms(&self) -> (Vec<(Expr, i64)>, i64) {
        // A part of an expression within the limits is within them.
        let alone =
            |term: &Term| Some((Self::from_monomial(term.monomial.clone(), 1)?, term.coeff));
        (self.terms().iter().filter_map(alone).collect(), self.constant())
    }

    fn collect_symbols<'a>(&'a self, names: &mut Vec<&'a str>) {
        for (atom, _) in self.terms().iter().flat_map(|term| &term.monomial.0) {
            match atom {
                Atom::Symbol(name) => names.push(name),
                Atom::Compound(compound) => {
                    compound.children().iter().for_each(|child| child.collect_symbols(names));
                }
            }
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.as_int() == Some(0)
    }

    pub(super) fn terms(&self) -> &[Term] {
        match &self.0 {
            Repr::Int(_) => &[],
            Repr::Polynomial(polynomial) => &polynomial.terms,
        }
    }

    pub(super) fn constant(&self) -> i64 {
        match &self.0 {
            Repr::Int(value) => *value,
            Repr::Polynomial(polynomial) => polynomial.constant,
        }
    }

    pub(super) fn depth(&self) -> u32 {
        match &self.0 {
            Repr::Int(_) => 0,
            Repr::Polynomial(polynomial) => polynomial.depth,
        }
    }

    pub(super) fn weight(&self) -> u32 {
        match &self.0 {
            Repr::Int(_) => 1,
            Repr::Polynomial(polynomial) => polynomial.weight,
        }
    }

    /// Returns the coefficient of the greatest monomial: the sign of the expression as written.
    pub(super) fn leading_coeff(&self) -> i64 {
        self.terms().first().map_or(self.constant(), |term| term.coeff)
    }

    pub(super) fn as_atom(&self) -> Option<&Atom> {
        match self.terms() {
            [term] if term.coeff == 1 && self.constant() == 0 => term.monomial.as_atom(),
            _ => None,
        }
    }

    /// Makes an expression from descending terms without zeros; `None` past a limit.
    pub(super) fn from_terms(terms: Vec<Term>, constant: i64) -> Option<Self> {
        if terms.is_empty() {
            return Some(Self::int(constant));
        }
        // Without the least i64, every coefficient has a negation and prints after a minus sign.
        let extreme = constant == i64::MIN || terms.iter().any(|term| term.coeff == i64::MIN);
        let atoms = || terms.iter().flat_map(|term| &term.monomial.0).map(|(atom, _)| atom);
        let weight = atoms().fold(1u32, |sum, atom| sum.saturating_add(atom.weight()));
        let depth = atoms().map(Atom::depth).max().unwrap_or(0);
        if extreme || terms.len() > MAX_TERMS || weight > MAX_WEIGHT || depth > MAX_DEPTH {
            return None;
        }
        Some(Self::build(terms, constant, weight, depth))
    }

    pub(super) fn from_compound(compound: Compound) -> Option<Self> {
        let monomial = Monomial::atom(Atom::Compound(Arc::new(compound)));
        Self::from_terms(vec![Term { monomial, coeff: 1 }], 0)
    }

    pub(super) fn from_monomial(monomial: Monomial, coeff: i64) -> Option<Self> {
        if monomial.is_one() || coeff == 0 {
            return Some(Self::int(coeff));
        }
        Self::from_terms(vec![Term { monomial, coeff }], 0)
    }

    fn build(terms: Vec<Term>, constant: i64, weight: u32, depth: u32) -> Self {
        let mut hasher = FxHasher::default();
        constant.hash(&mut hasher);
        terms.hash(&mut hasher);
        let (hash, terms) = (hasher.finish(), terms.into_boxed_slice());
        Self(Repr::Polynomial(Arc::new(Polynomial { hash, weight, depth, constant, terms })))
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::int(value)
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Int(value) => value.hash(state),
            Repr::Polynomial(polynomial) => polynomial.hash.hash(state),
        }
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares terms from the greatest down, constants last: an order for sorting, not of values.
impl Ord for Expr {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Polynomial(a), Repr::Polynomial(b)) = (&self.0, &other.0)
            && Arc::ptr_eq(a, b)
        {
            return Ordering::Equal;
        }
        for (a, b) in self.terms().iter().zip(other.terms()) {
            let order = a.monomial.cmp(&b.monomial).then(a.coeff.cmp(&b.coeff));
            if order.is_ne() {
                return order;
            }
        }
        let by_length = self.terms().len().cmp(&other.terms().len());
        by_length.then(self.constant().cmp(&other.constant()))
    }
}
