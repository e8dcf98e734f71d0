//! Affine expressions in a normal form.
//!
//! An expression is a sum of *atoms* with integer factors and a constant; an atom is a dimension,
//! a symbol, or a quotient or rest of an expression by a positive number. `x ceildiv c` is
//! `(x + c - 1) floordiv c`. What divides evenly leaves a quotient or rest, so that equal
//! expressions mostly look equal. Arithmetic that does not fit in 64 bits gives `None`.

use std::fmt;

/// The deepest nesting of quotients and rests.
const MAX_DEPTH: u32 = 16;
/// The most terms of a sum.
const MAX_TERMS: usize = 64;

/// What a sum is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// A dimension, by number.
    Dim(u32),
    /// A symbol, by number.
    Symbol(u32),
    /// A sum divided by a number above 1, rounded down.
    Floor(Box<Expr>, i64),
    /// The rest of that division: at least 0, below the number.
    Mod(Box<Expr>, i64),
}

/// A sum of atoms with factors, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Expr {
    /// Atoms with factors other than 0, sorted by atom.
    pub terms: Vec<(Atom, i64)>,
    /// The constant.
    pub constant: i64,
}

impl Expr {
    /// A number.
    pub fn number(constant: i64) -> Expr {
        Expr { terms: Vec::new(), constant }
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Expr {
        Expr { terms: vec![(atom, 1)], constant: 0 }
    }

    /// The number that it is, if it is one.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + other * factor`.
    pub fn plus(&self, other: &Expr, factor: i64) -> Option<Expr> {
        let mut out = Expr::number(self.constant.checked_add(other.constant.checked_mul(factor)?)?);
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (atom, coefficient) = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some((x, _)), Some((y, _))) if x == y => {
                    let ((x, p), (_, q)) = (a.next()?, b.next()?);
                    (x, p.checked_add(q.checked_mul(factor)?)?)
                }
                (Some((x, _)), other) if other.is_none_or(|(y, _)| x < y) => {
                    let (x, p) = a.next()?;
                    (x, *p)
                }
                _ => {
                    let (y, q) = b.next()?;
                    (y, q.checked_mul(factor)?)
                }
            };
            if coefficient != 0 {
                out.terms.push((atom.clone(), coefficient));
            }
        }
        (out.terms.len() <= MAX_TERMS).then_some(out)
    }

    /// `self * factor`.
    pub fn times(&self, factor: i64) -> Option<Expr> {
        Expr::default().plus(self, factor)
    }

    /// `self floordiv by`, for `by > 0`.
    pub fn floor_div(&self, by: i64) -> Option<Expr> {
        if by <= 0 {
            return None;
        }
        let (whole, rest) = self.split(by)?;
        let shared = |g: u64, c: i64| num_integer::gcd(g, c.unsigned_abs());
        let common = rest.terms.iter().fold(by.unsigned_abs(), |g, (_, c)| shared(g, *c));
        let common = i64::try_from(common).ok()?;
        // floor((g * x + r) / (g * c)) = floor((x + floor(r / g)) / c)
        let terms = rest.terms.iter().map(|(atom, c)| (atom.clone(), c / common)).collect();
        let reduced = Expr { terms, constant: rest.constant.div_euclid(common) };
        let by = by / common;
        match (reduced.as_number(), by) {
            (Some(number), _) => whole.plus(&Expr::number(number.div_euclid(by)), 1),
            (None, 1) => whole.plus(&reduced, 1),
            _ => {
                let atom = Atom::Floor(Box::new(reduced), by);
                (atom.depth() <= MAX_DEPTH).then_some(())?;
                whole.plus(&Expr::atom(atom), 1)
            }
        }
    }

    /// `self ceildiv by`, for `by > 0`.
    pub fn ceil_div(&self, by: i64) -> Option<Expr> {
        self.plus(&Expr::number(by.checked_sub(1)?), 1)?.floor_div(by)
    }

    /// `self mod by`, for `by > 0`.
    pub fn modulo(&self, by: i64) -> Option<Expr> {
        if by <= 0 {
            return None;
        }
        let (_, rest) = self.split(by)?;
        if let Some(number) = rest.as_number() {
            return Some(Expr::number(number.rem_euclid(by)));
        }
        let atom = Atom::Mod(Box::new(rest), by);
        (atom.depth() <= MAX_DEPTH).then(|| Expr::atom(atom))
    }

    /// `(q, r)` with `self = q * by + r`, where `r` has no multiples of `by`.
    fn split(&self, by: i64) -> Option<(Expr, Expr)> {
        let (mut whole, mut rest) = (
            Expr::number(self.constant.div_euclid(by)),
            Expr::number(self.constant.rem_euclid(by)),
        );
        for (atom, factor) in &self.terms {
            match factor % by {
                0 => whole.terms.push((atom.clone(), factor / by)),
                _ => rest.terms.push((atom.clone(), *factor)),
            }
        }
        Some((whole, rest))
    }

    /// The expression with `dim` of each dimension and `symbol` of each symbol in their place.
    pub fn substitute(
        &self,
        dim: &dyn Fn(u32) -> Option<Expr>,
        symbol: &dyn Fn(u32) -> Option<Expr>,
    ) -> Option<Expr> {
        let mut out = Expr::number(self.constant);
        for (atom, factor) in &self.terms {
            let value = match atom {
                Atom::Dim(i) => dim(*i)?,
                Atom::Symbol(i) => symbol(*i)?,
                Atom::Floor(of, by) => of.substitute(dim, symbol)?.floor_div(*by)?,
                Atom::Mod(of, by) => of.substitute(dim, symbol)?.modulo(*by)?,
            };
            out = out.plus(&value, *factor)?;
        }
        Some(out)
    }

    /// Its value where dimensions and symbols have these values.
    pub fn evaluate(&self, dims: &[i64], symbols: &[i64]) -> Option<i64> {
        let value = |list: &[i64], i: u32| list.get(i as usize).copied().map(Expr::number);
        self.substitute(&|i| value(dims, i), &|i| value(symbols, i))?.as_number()
    }

    /// Tells `found` each dimension (`true`) and symbol (`false`) in it.
    pub fn variables(&self, found: &mut dyn FnMut(bool, u32)) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Dim(i) => found(true, *i),
                Atom::Symbol(i) => found(false, *i),
                Atom::Floor(of, _) | Atom::Mod(of, _) => of.variables(found),
            }
        }
    }
}

impl Atom {
    fn depth(&self) -> u32 {
        match self {
            Atom::Dim(_) | Atom::Symbol(_) => 0,
            Atom::Floor(of, _) | Atom::Mod(of, _) => {
                1 + of.terms.iter().map(|(atom, _)| atom.depth()).max().unwrap_or(0)
            }
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of, word, by) = match self {
            Atom::Dim(i) => return write!(f, "d{i}"),
            Atom::Symbol(i) => return write!(f, "s{i}"),
            Atom::Floor(of, by) => (of, "floordiv", by),
            Atom::Mod(of, by) => (of, "mod", by),
        };
        match (&of.terms[..], of.constant) {
            ([(Atom::Dim(_) | Atom::Symbol(_), 1)], 0) => write!(f, "{of} {word} {by}"),
            _ => write!(f, "({of}) {word} {by}"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (atom, factor)) in self.terms.iter().enumerate() {
            let mut text = atom.to_string();
            if matches!(atom, Atom::Floor(..) | Atom::Mod(..)) && factor.unsigned_abs() != 1 {
                text = format!("({text})");
            }
            match (i, *factor) {
                (0, -1) if text.contains(' ') => write!(f, "-({text})")?,
                (0, -1) => write!(f, "-{text}")?,
                (_, -1) => write!(f, " - {text}")?,
                (0, 1) => f.write_str(&text)?,
                (_, 1) => write!(f, " + {text}")?,
                (0, factor) => write!(f, "{text} * {factor}")?,
                (_, factor) if factor < 0 => write!(f, " - {text} * {}", factor.unsigned_abs())?,
                (_, factor) => write!(f, " + {text} * {factor}")?,
            }
        }
        match (self.terms.is_empty(), self.constant) {
            (true, constant) => write!(f, "{constant}"),
            (false, 0) => Ok(()),
            (false, constant) if constant < 0 => write!(f, " - {}", constant.unsigned_abs()),
            (false, constant) => write!(f, " + {constant}"),
        }
    }
}
