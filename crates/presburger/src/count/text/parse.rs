//! Reading piecewise quasi-polynomials in isl's notation.
//!
//! Values are polynomials and are read here. Tuples and conditions are those of sets: their tokens go
//! to the parser of sets, `crate::parse`.

use std::ops::Range;
use std::str::FromStr;

use crate::count::bound::bernstein::{PwQPolynomialFold, Side, named};
use crate::count::piecewise::Pieces;
use crate::count::piecewise::card::disjoint;
use crate::count::piecewise::pw_qpolynomial::PwQPolynomial;
use crate::count::quasi_polynomial::QPolynomial;
use crate::count::quasi_polynomial::guard::Guard;
use crate::count::quasi_polynomial::nonfinite::NonFinite;
use crate::parse::token::Tokens;
use crate::parse::{set_of, undeclared};
use crate::{Budget, Error, Integer, Rational, Relation, Tuple};

/// How deep parentheses may be nested.
const DEPTH: usize = 100;

impl PwQPolynomial {
    /// Parses `[n] -> { A[i] -> 1/2 * n * i^2 + floor((n)/3) : 0 <= i <= n; .. }`.
    ///
    /// Where pieces overlap their values add up.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::Space`] if pieces have different tuples.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let mut pieces = functions(text, budget)?.into_iter();
        let first = pieces.next().unwrap_or_else(|| Self::new(Vec::new(), None, Pieces::zero(0)));
        pieces.try_fold(first, |sum, piece| sum.add(&piece, budget))
    }
}

/// Reads pieces, each as a function of its own.
pub(in crate::count) fn functions(
    text: &str,
    budget: &Budget,
) -> Result<Vec<PwQPolynomial>, Error> {
    let mut all = Vec::new();
    Parser::new(text, budget).pieces(|parser, params| {
        all.push(parser.piece(params)?);
        Ok(())
    })?;
    Ok(all)
}

impl FromStr for PwQPolynomial {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl PwQPolynomialFold {
    /// Parses `[n] -> { A[i] -> max(n, 2 * i - 3) : n >= 1; .. }`, with `min` in all pieces or
    /// `max`.
    ///
    /// Where pieces overlap, the extreme one of all their values counts.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::Space`] if pieces have different tuples.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let (side, pieces) = bounds(text, budget)?;
        let mut pieces = pieces.into_iter();
        let nothing = Self { params: Vec::new(), domain: None, side, pieces: Vec::new() };
        let first = pieces.next().unwrap_or(nothing);
        pieces.try_fold(first, |all, piece| all.fold(&piece, budget))
    }
}

/// Reads pieces, each as a bound of its own, and which side they are on.
pub(in crate::count) fn bounds(
    text: &str,
    budget: &Budget,
) -> Result<(Side, Vec<PwQPolynomialFold>), Error> {
    let (mut known, mut all) = (None, Vec::new());
    let params = Parser::new(text, budget).pieces(|parser, params| {
        if known.is_none() && parser.sees("}") {
            return Ok(());
        }
        let (tuple, (side, values)) = parser.head(params, |parser| parser.extremes(known))?;
        known = Some(side);
        let mut pieces = Vec::new();
        for guard in parser.guards(tuple.clone())? {
            pieces.push((guard, values.clone()));
        }
        let domain = parser.domain(tuple)?;
        all.push(PwQPolynomialFold { params: params.to_vec(), domain, side, pieces });
        Ok(())
    })?;
    let side = known.unwrap_or(Side::Upper);
    if all.is_empty() {
        all.push(PwQPolynomialFold { params, domain: None, side, pieces: Vec::new() });
    }
    Ok((side, all))
}

impl FromStr for PwQPolynomialFold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    /// What declares the parameters, and limits them where it gives values.
    header: Tokens,
    names: Vec<String>,
    depth: usize,
    budget: &'a Budget,
}

impl<'a> Parser<'a> {
    fn new(text: &str, budget: &'a Budget) -> Self {
        let chars = text.chars().collect();
        Self { chars, at: 0, header: Tokens::none(), names: Vec::new(), depth: 0, budget }
    }

    /// Reads `[n] -> { piece; piece }` up to the end; returns the parameters.
    fn pieces(
        mut self,
        mut piece: impl FnMut(&mut Self, &[String]) -> Result<(), Error>,
    ) -> Result<Vec<String>, Error> {
        let params = self.params()?;
        self.expect("{", "`{`")?;
        loop {
            piece(&mut self, &params)?;
            if !self.take(";") {
                break;
            }
        }
        self.expect("}", "`;` or `}`")?;
        self.skip_space();
        if self.at < self.chars.len() {
            return Err(self.fault("the end"));
        }
        Ok(params)
    }

    fn skip_space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn fault(&mut self, expected: &'static str) -> Error {
        self.skip_space();
        let found: String = self.chars[self.at..].iter().take(12).collect();
        Error::Syntax { column: self.at + 1, expected: expected.into(), found }
    }

    fn sees(&mut self, sign: &str) -> bool {
        self.skip_space();
        let mut rest = self.chars[self.at..].iter();
        sign.chars().all(|c| rest.next() == Some(&c))
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.sees(sign);
        if found {
            self.at += sign.chars().count();
        }
        found
    }

    fn expect(&mut self, sign: &str, expected: &'static str) -> Result<(), Error> {
        if self.take(sign) { Ok(()) } else { Err(self.fault(expected)) }
    }

    fn word(&mut self, keep: fn(char) -> bool) -> String {
        self.skip_space();
        let word: String = self.chars[self.at..].iter().take_while(|c| keep(**c)).collect();
        self.at += word.chars().count();
        word
    }

    fn name(&mut self) -> Option<String> {
        self.skip_space();
        let first = self.chars.get(self.at)?;
        (first.is_alphabetic() || *first == '_')
            .then(|| self.word(|c| c.is_alphanumeric() || c == '_' || c == '\''))
    }

    fn number(&mut self) -> Result<Integer, Error> {
        let digits = self.word(|c| c.is_ascii_digit());
        match digits.parse::<num_bigint::BigInt>() {
            Ok(value) => Ok(value.into()),
            Err(_) => Err(self.fault("a number")),
        }
    }

    /// Reads `[n] ->`, or `[n, m = 0:5] ->` with values, if it is there.
    fn params(&mut self) -> Result<Vec<String>, Error> {
        if !self.sees("[") {
            return Ok(Vec::new());
        }
        self.brackets();
        self.expect("->", "`->`")?;
        self.header = Tokens::of(&self.text(&(0..self.at)))?;
        Ok(self.set(None, 0..0)?.space().params.clone())
    }

    /// Takes what is in brackets, nested ones included.
    fn brackets(&mut self) {
        let mut open = 0_usize;
        while let Some(c) = self.chars.get(self.at) {
            self.at += 1;
            match c {
                '[' => open += 1,
                ']' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
    }

    /// Takes `A[i, j] ->` if it is there; returns where the tuple stands in the text.
    fn tuple(&mut self) -> Result<Option<Range<usize>>, Error> {
        self.skip_space();
        let start = self.at;
        self.name();
        if !self.sees("[") {
            self.at = start;
            return Ok(None);
        }
        self.brackets();
        let end = self.at;
        // Without an arrow, brackets round down, as in `[(i)/3]`.
        if !self.take("->") {
            self.at = start;
            return Ok(None);
        }
        Ok(Some(start..end))
    }

    fn piece(&mut self, params: &[String]) -> Result<PwQPolynomial, Error> {
        let (domain, value) = self.head(params, Self::value)?;
        let mut pieces = Pieces::zero(self.names.len());
        for guard in self.guards(domain.clone())? {
            pieces.push(guard, value.clone());
        }
        Ok(PwQPolynomial::new(params.to_vec(), self.domain(domain)?, pieces))
    }

    /// Reads the tuple of arguments; `[]` is none.
    fn domain(&self, tuple: Option<Range<usize>>) -> Result<Option<Tuple>, Error> {
        let set = tuple.map(|tuple| self.set(Some(tuple), 0..0)).transpose()?;
        Ok(set.and_then(|set| named(set.space().output.clone())))
    }

    /// Reads `min(a, b)` or `max(a, b)`; only one of them if that is `known`.
    fn extremes(&mut self, known: Option<Side>) -> Result<(Side, Vec<QPolynomial>), Error> {
        let side = match () {
            () if known != Some(Side::Upper) && self.take("min") => Side::Lower,
            () if known != Some(Side::Lower) && self.take("max") => Side::Upper,
            () => return Err(self.fault("`min` in all pieces, or `max`")),
        };
        self.expect("(", "`(`")?;
        let mut values = vec![self.sum()?];
        while self.take(",") {
            values.push(self.sum()?);
        }
        self.expect(")", "`,` or `)`")?;
        Ok((side, values))
    }

    /// Reads the tuple of arguments, if there is one, and what comes before the colon.
    fn head<T>(
        &mut self,
        params: &[String],
        value: impl Fn(&mut Self) -> Result<T, Error>,
    ) -> Result<(Option<Range<usize>>, T), Error> {
        let tuple = self.tuple()?;
        self.names = params.to_vec();
        if let Some(tuple) = &tuple {
            let set = self.set(Some(tuple.clone()), 0..0)?;
            self.names.extend(set.space().output.dims.iter().cloned());
        }
        Ok((tuple, value(self)?))
    }

    fn value(&mut self) -> Result<QPolynomial, Error> {
        match self.sees("}") {
            true => Ok(QPolynomial::zero(self.names.len())),
            false => self.sum(),
        }
    }

    /// Reads a formula after a colon, up to the end of the piece, and what the tuple says.
    fn guards(&mut self, tuple: Option<Range<usize>>) -> Result<Vec<Guard>, Error> {
        let mut formula = self.at..self.at;
        if self.take(":") {
            formula.start = self.at;
            while self.chars.get(self.at).is_some_and(|c| !matches!(c, ';' | '}')) {
                self.at += 1;
            }
            formula.end = self.at;
        }
        let set = self.set(tuple, formula)?;
        let parts = disjoint(&set, self.budget)?;
        Ok(parts.iter().map(|part| Guard::from_conjunction(self.names.len(), part)).collect())
    }

    /// Reads a tuple and a formula with the parser of sets.
    fn set(&self, tuple: Option<Range<usize>>, formula: Range<usize>) -> Result<Relation, Error> {
        let tuple = tuple.unwrap_or(0..0);
        let (arguments, condition) = (self.text(&tuple), self.text(&formula));
        let (tuple, formula) = ((&*arguments, tuple.start + 1), (&*condition, formula.start + 1));
        set_of(&self.header, tuple, formula, self.budget)
    }

    fn text(&self, range: &Range<usize>) -> String {
        self.chars[range.clone()].iter().collect()
    }

    fn sum(&mut self) -> Result<QPolynomial, Error> {
        let mut sum = QPolynomial::zero(self.names.len());
        let mut negative = self.take("-");
        loop {
            let term = self.product()?;
            sum = if negative { sum.sub(&term) } else { sum.add(&term) };
            self.skip_space();
            match self.chars.get(self.at) {
                Some('+') => negative = false,
                Some('-') => negative = true,
                _ => return Ok(sum),
            }
            self.at += 1;
        }
    }

    fn product(&mut self) -> Result<QPolynomial, Error> {
        let mut product = self.power()?;
        loop {
            self.budget.spend(product.len())?;
            self.skip_space();
            let next = self.chars.get(self.at).copied();
            if self.take("*") {
                product = product.mul(&self.power()?);
            } else if self.take("/") {
                self.skip_space();
                let start = self.at;
                let by = self.number()?;
                let Some(by) = Rational::new(Integer::ONE, by) else {
                    self.at = start;
                    return Err(self.fault("a divisor that is not 0"));
                };
                product = product.scale(&by);
            } else if next.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '(' | '[')) {
                product = product.mul(&self.power()?);
            } else {
                return Ok(product);
            }
        }
    }

    fn power(&mut self) -> Result<QPolynomial, Error> {
        let mut sign = Rational::ONE;
        while self.take("-") {
            sign = sign.neg();
        }
        let base = self.factor()?;
        if !self.take("^") {
            return Ok(base.scale(&sign));
        }
        match self.number()?.to_i64() {
            Some(exponent @ 0..=64) => Ok(base.pow(exponent as u32).scale(&sign)),
            _ => Err(self.fault("a power of at most 64")),
        }
    }

    fn factor(&mut self) -> Result<QPolynomial, Error> {
        let vars = self.names.len();
        if self.take("(") {
            return self.enclosed(")", "`)`");
        }
        let start = self.at;
        if self.take("[") {
            // An old way to write a division rounded down.
            let inner = self.enclosed("]", "`]`")?;
            return inner.floor().ok_or_else(|| self.fault("a floor of a linear expression"));
        }
        let expected = "a variable, a number, `floor` or `(`";
        let Some(name) = self.name() else {
            let digit = self.chars.get(self.at).is_some_and(char::is_ascii_digit);
            let value = if digit { self.number() } else { Err(self.fault(expected)) };
            return Ok(QPolynomial::constant(vars, value?.into()));
        };
        if let Some(index) = self.names.iter().position(|other| *other == name) {
            return Ok(QPolynomial::variable(vars, index));
        }
        let non_finite = match name.as_str() {
            "infty" | "infinity" => Some(NonFinite::Infinity),
            "NaN" => Some(NonFinite::NaN),
            _ => None,
        };
        if let Some(value) = non_finite {
            return Ok(QPolynomial::non_finite(vars, value));
        }
        if name == "floor" && self.take("(") {
            let inner = self.enclosed(")", "`)`")?;
            return inner.floor().ok_or_else(|| self.fault("a floor of a linear expression"));
        }
        self.at = start;
        self.skip_space();
        Err(undeclared(self.at + 1, name))
    }

    /// Reads a sum and what closes it.
    fn enclosed(&mut self, close: &str, name: &'static str) -> Result<QPolynomial, Error> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("fewer nested parentheses"));
        }
        let inner = self.sum()?;
        self.depth -= 1;
        self.expect(close, name)?;
        Ok(inner)
    }
}
