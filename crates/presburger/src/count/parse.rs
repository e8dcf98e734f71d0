//! Reading piecewise quasi-polynomials in isl's notation.

use super::card::disjoint;
use super::function::PiecewiseQuasiPolynomial;
use super::guard::Guard;
use super::piecewise::Pieces;
use super::quasi::QuasiPolynomial;
use crate::{Budget, Error, Integer, Rational, Relation, Tuple};

/// How deep parentheses may be nested.
const DEPTH: usize = 100;

impl PiecewiseQuasiPolynomial {
    /// Parses `[n] -> { A[i] -> 1/2 * n * i^2 + floor((n)/3) : 0 <= i <= n; .. }`.
    ///
    /// Where pieces overlap their values add up.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::Space`] if pieces have different tuples.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let mut parser = Parser::new(text, budget);
        let params = parser.params()?;
        parser.expect("{", "`{`")?;
        let mut result: Option<Self> = None;
        loop {
            let piece = parser.piece(&params)?;
            result = Some(match result {
                None => piece,
                Some(sum) => sum.add(&piece, budget)?,
            });
            if !parser.take(";") {
                break;
            }
        }
        parser.expect("}", "`;` or `}`")?;
        parser.skip_space();
        if parser.at < parser.chars.len() {
            return Err(parser.fault("the end"));
        }
        Ok(result.unwrap_or_else(|| Self::new(params, None, Pieces::zero(0))))
    }
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    names: Vec<String>,
    depth: usize,
    budget: &'a Budget,
}

impl<'a> Parser<'a> {
    fn new(text: &str, budget: &'a Budget) -> Self {
        Self { chars: text.chars().collect(), at: 0, names: Vec::new(), depth: 0, budget }
    }

    fn skip_space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn fault(&mut self, expected: &'static str) -> Error {
        self.skip_space();
        let found: String = self.chars[self.at..].iter().take(12).collect();
        Error::Syntax { column: self.at + 1, expected, found }
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

    /// Reads names in brackets; the opening one is taken already.
    fn list(&mut self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        if self.take("]") {
            return Ok(names);
        }
        loop {
            match self.name() {
                Some(name) if names.contains(&name) => return Err(self.fault("a new name")),
                Some(name) => names.push(name),
                None => return Err(self.fault("a name")),
            }
            if self.take("]") {
                return Ok(names);
            }
            self.expect(",", "`,` or `]`")?;
        }
    }

    fn params(&mut self) -> Result<Vec<String>, Error> {
        if !self.take("[") {
            return Ok(Vec::new());
        }
        let names = self.list()?;
        self.expect("->", "`->`")?;
        Ok(names)
    }

    /// Reads `A[i, j] ->` if it is there.
    fn tuple(&mut self) -> Result<Option<Tuple>, Error> {
        let start = self.at;
        let name = self.name().unwrap_or_default();
        if !self.take("[") {
            self.at = start;
            return Ok(None);
        }
        let dims = self.list()?;
        self.expect("->", "`->`")?;
        Ok(Some(Tuple::new(name, dims)))
    }

    fn piece(&mut self, params: &[String]) -> Result<PiecewiseQuasiPolynomial, Error> {
        let domain = self.tuple()?;
        self.names = params.to_vec();
        self.names.extend(domain.iter().flat_map(|tuple| tuple.dims.clone()));
        let value =
            if self.sees("}") { QuasiPolynomial::zero(self.names.len()) } else { self.sum()? };
        let mut pieces = Pieces::zero(self.names.len());
        if self.take(":") {
            for guard in self.guards(params)? {
                pieces.push(guard, value.clone());
            }
        } else {
            pieces.push(Guard::new(self.names.len()), value);
        }
        Ok(PiecewiseQuasiPolynomial::new(params.to_vec(), domain, pieces))
    }

    /// Reads a formula with the parser of sets, up to the end of the piece.
    fn guards(&mut self, params: &[String]) -> Result<Vec<Guard>, Error> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| !matches!(c, ';' | '}')) {
            self.at += 1;
        }
        let formula: String = self.chars[start..self.at].iter().collect();
        let dims = self.names[params.len()..].join(", ");
        let head = format!("[{}] -> {{ [{dims}] :", params.join(", "));
        let shift = head.chars().count();
        let located = |error| match error {
            Error::Syntax { column, expected, found } => {
                let column = (column + start).saturating_sub(shift);
                Error::Syntax { column, expected, found }
            }
            other => other,
        };
        let set = Relation::parse(&format!("{head}{formula}}}"), self.budget).map_err(located)?;
        let parts = disjoint(&set, self.budget)?;
        Ok(parts.iter().map(|part| Guard::from_conjunction(self.names.len(), part)).collect())
    }

    fn sum(&mut self) -> Result<QuasiPolynomial, Error> {
        let mut sum = QuasiPolynomial::zero(self.names.len());
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

    fn product(&mut self) -> Result<QuasiPolynomial, Error> {
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
            } else if next.is_some_and(|c| c.is_alphabetic() || c == '_' || c == '(') {
                product = product.mul(&self.power()?);
            } else {
                return Ok(product);
            }
        }
    }

    fn power(&mut self) -> Result<QuasiPolynomial, Error> {
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

    fn factor(&mut self) -> Result<QuasiPolynomial, Error> {
        let vars = self.names.len();
        if self.take("(") {
            return self.parenthesized();
        }
        let start = self.at;
        let Some(name) = self.name() else {
            return Ok(QuasiPolynomial::constant(vars, self.number()?.into()));
        };
        if let Some(index) = self.names.iter().position(|other| *other == name) {
            return Ok(QuasiPolynomial::variable(vars, index));
        }
        if name == "floor" && self.take("(") {
            let inner = self.parenthesized()?;
            return inner.floor().ok_or_else(|| self.fault("a floor of a linear expression"));
        }
        self.at = start;
        Err(self.fault("a variable, a number, `floor` or `(`"))
    }

    fn parenthesized(&mut self) -> Result<QuasiPolynomial, Error> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("fewer nested parentheses"));
        }
        let inner = self.sum()?;
        self.depth -= 1;
        self.expect(")", "`)`")?;
        Ok(inner)
    }
}
