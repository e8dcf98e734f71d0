//! Expressions: affine forms, rounding, minima and maxima, choices by conditions.

use super::choice::{Case, Expr, pairs, within};
use super::token::Token;
use super::{Parser, undeclared};
use crate::basic_map::BasicMap;
use crate::function::affine::Affine;
use crate::{Error, Integer};

/// The words that are no names of dimensions after a number, as in `2 mod`.
pub(super) const WORDS: [&str; 9] =
    ["and", "or", "implies", "not", "mod", "exists", "forall", "true", "false"];

/// The most bits that a power may have: a short text must not make numbers that take long.
const MAX_BITS: u64 = 1 << 16;

impl Parser<'_> {
    /// Returns the points where `a <= b`, or `a < b`.
    pub(super) fn at_most(&self, a: &Expr, b: &Expr, strict: bool) -> Result<Vec<BasicMap>, Error> {
        let (lows, every_low) = match a {
            Expr::Plain(form) => (std::slice::from_ref(form), true),
            Expr::Max(forms) => (&forms[..], true),
            Expr::Min(forms) => (&forms[..], false),
            Expr::Cases(_) => return self.compared(a, b, |a, b| b.at_least(a, strict)),
        };
        let (highs, every_high) = match b {
            Expr::Plain(form) => (std::slice::from_ref(form), true),
            Expr::Min(forms) => (&forms[..], true),
            Expr::Max(forms) => (&forms[..], false),
            Expr::Cases(_) => return self.compared(a, b, |a, b| b.at_least(a, strict)),
        };
        let mut result =
            if every_low { vec![BasicMap::universe(self.scope.len())] } else { vec![] };
        for low in lows {
            let mut row =
                if every_high { vec![BasicMap::universe(self.scope.len())] } else { vec![] };
            for high in highs {
                let fact = high.at_least(low, strict);
                if every_high {
                    row = self.both(row, fact.as_slice())?;
                } else {
                    row.extend(fact);
                }
            }
            if every_low {
                result = self.both(result, &row)?;
            } else {
                result.extend(row);
            }
        }
        Ok(result)
    }

    /// Returns the points where `a = b`.
    pub(super) fn equal(&self, a: &Expr, b: &Expr) -> Result<Vec<BasicMap>, Error> {
        self.compared(a, b, |a, b| a.minus(b).holds(true))
    }

    fn compared(
        &self,
        a: &Expr,
        b: &Expr,
        fact: impl Fn(&Affine, &Affine) -> Option<BasicMap>,
    ) -> Result<Vec<BasicMap>, Error> {
        if let (Expr::Plain(a), Expr::Plain(b)) = (a, b) {
            return Ok(fact(a, b).into_iter().collect());
        }
        let (a, b) = (a.cases()?, b.cases()?);
        self.budget.spend(a.len() * b.len())?;
        let mut result = Vec::new();
        for (when, a, b) in pairs(&a, &b)? {
            let fact = fact(a, b);
            match when {
                None => result.extend(fact),
                Some(when) => result.extend(self.both(vec![when], fact.as_slice())?),
            }
        }
        Ok(result)
    }

    /// Reads `condition ? value : value`, or a value.
    pub(super) fn extended(&mut self) -> Result<Expr, Error> {
        if !self.chooses() {
            return self.expression();
        }
        let condition = self.deeper(|parser| parser.apart(Self::disjunction))?;
        self.need("?")?;
        let yes = self.deeper(Self::extended)?;
        self.need(":")?;
        let no = self.deeper(Self::extended)?;
        let otherwise = self.negation(&condition)?;
        let condition = self.negation(&otherwise)?;
        let mut cases = Vec::new();
        for (parts, value) in [(condition, yes), (otherwise, no)] {
            for (part, case) in parts
                .iter()
                .flat_map(|part| value.cases().into_iter().flatten().map(move |case| (part, case)))
            {
                let when = within(Some(part), case.when.as_ref())?;
                cases.extend(when.map(|when| Case { when, form: case.form }));
            }
        }
        Ok(Expr::Cases(cases))
    }

    /// Returns whether a `?` comes before this expression ends.
    fn chooses(&self) -> bool {
        let mut open = 0_usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(" | "[") => open += 1,
                Token::Sign(")" | "]") if open == 0 => return false,
                Token::Sign(")" | "]") => open -= 1,
                Token::Sign("?") if open == 0 => return true,
                Token::Sign("," | ":" | ";" | "}") if open == 0 => return false,
                _ => {}
            }
        }
        false
    }

    pub(super) fn expression(&mut self) -> Result<Expr, Error> {
        let mut sum = self.deeper(Self::product)?;
        loop {
            let sign = match () {
                () if self.eat("+") => 1,
                () if self.eat("-") => -1,
                () => return Ok(sum),
            };
            let term = self.deeper(Self::product)?;
            sum = sum.plus(if sign < 0 { term.negated()? } else { term })?;
        }
    }

    fn product(&mut self) -> Result<Expr, Error> {
        let mut left = self.rest_of()?;
        while self.eat("*") || self.starts_factor() {
            let right = self.rest_of()?;
            left = match (self.factor_of(&left), self.factor_of(&right)) {
                (Some((num, den)), _) => right.scaled(&num, &den)?,
                (_, Some((num, den))) => left.scaled(&num, &den)?,
                _ => return Err(self.unexpected("a constant factor")),
            };
        }
        Ok(left)
    }

    /// Reads a factor with `mod 3`, `% 3`, `/ 3` or `// 3` behind it.
    ///
    /// These bind more tightly than a product: `2 * i mod 3` is `2 * (i mod 3)`.
    fn rest_of(&mut self) -> Result<Expr, Error> {
        let mut value = self.factor()?;
        loop {
            let start = self.at;
            if self.eat("%") || self.eat("mod") {
                let modulus = self.positive()?;
                value = self.rounded(start, value, |form| form.modulo(&modulus))?;
            } else if self.eat("//") {
                let den = self.positive()?;
                value =
                    self.rounded(start, value, |form| form.scaled(&Integer::ONE, &den).floor())?;
            } else if self.eat("/") {
                let den = self.positive()?;
                value = value.scaled(&Integer::ONE, &den)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// `2i`, `2(i + 1)` and `2 floor(i/3)` are products.
    fn starts_factor(&self) -> bool {
        let after_number = self.at > 0 && matches!(self.tokens[self.at - 1].0, Token::Number(_));
        let begins = match self.peek() {
            Token::Name(name) => !WORDS.contains(&name.as_str()),
            token => *token == Token::Sign("("),
        };
        after_number && begins
    }

    fn positive(&mut self) -> Result<Integer, Error> {
        let open = self.eat("(");
        let Token::Number(value) = self.peek().clone() else {
            return Err(self.unexpected("a positive number"));
        };
        if value.sign() <= 0 {
            return Err(self.unexpected("a positive number"));
        }
        self.at += 1;
        if open {
            self.need(")")?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<Expr, Error> {
        let dims = self.scope.len();
        if let Some(value) = self.number()? {
            return Ok(self.constant(value));
        }
        if self.eat("-") {
            // A number takes its sign along, so that -1//4 is -1; -i mod 3 is -(i mod 3).
            if let Some(value) = self.number()? {
                return Ok(self.constant(-value));
            }
            return self.deeper(Self::rest_of)?.negated();
        }
        if self.eat("(") {
            let inner = self.extended()?;
            self.need(")")?;
            return Ok(inner);
        }
        let start = self.at;
        if self.eat("[") {
            // An old way to write a division rounded down.
            let inner = self.extended()?;
            let inner = self.rounded(start, inner, Affine::floor)?;
            self.need("]")?;
            return Ok(inner);
        }
        let Token::Name(name) = self.peek().clone() else {
            return Err(self.unexpected("an expression"));
        };
        if *self.ahead(1) == Token::Sign("(") && !self.scope.contains(&name) {
            return self.call(&name);
        }
        let form = match self.scope.column(&name) {
            Some(col) => Affine::dim(col, dims),
            None if name.eq_ignore_ascii_case("nan") => Affine::nan(dims),
            None => return Err(undeclared(self.column(), name)),
        };
        self.at += 1;
        Ok(form.into())
    }

    /// Reads `3` or `2^3`, if a number stands here.
    fn number(&mut self) -> Result<Option<Integer>, Error> {
        let Token::Number(value) = self.peek().clone() else { return Ok(None) };
        self.at += 1;
        if !self.eat("^") {
            return Ok(Some(value));
        }
        let exponent = self.positive()?;
        let power = exponent.to_i64().and_then(|power| u32::try_from(power).ok());
        let bits = power.map(|power| u64::from(power).saturating_mul(value.bits()));
        match (power, bits) {
            (Some(power), Some(bits)) if bits <= MAX_BITS => {
                self.budget.spend(1 + (bits / 64) as usize)?;
                Ok(Some(value.pow(power)))
            }
            _ => Err(Error::Overflow),
        }
    }

    /// Reads `floor(e)`, `ceil(e)`, `floord(e, d)`, `ceild(e, d)`, `min(e, ..)`, `max(e, ..)`.
    fn call(&mut self, name: &str) -> Result<Expr, Error> {
        if !["floor", "ceil", "floord", "ceild", "min", "max"].contains(&name) {
            return Err(self.unexpected("floor, ceil, min or max"));
        }
        let start = self.at;
        self.at += 2;
        let mut value = self.extended()?;
        match name {
            "min" | "max" => {
                while self.eat(",") {
                    let other = self.extended()?;
                    value = value.extreme(other, name == "min")?;
                }
            }
            "floord" | "ceild" => {
                self.need(",")?;
                let den = self.positive()?;
                value = value.scaled(&Integer::ONE, &den)?;
            }
            _ => {}
        }
        if name.starts_with("floor") {
            value = self.rounded(start, value, Affine::floor)?;
        } else if name.starts_with("ceil") {
            value = self.rounded(start, value, |form| form.negated().floor().negated())?;
        }
        self.need(")")?;
        Ok(value)
    }

    /// Makes the value of a number: a multiple of the scale where that is a dimension.
    fn constant(&self, value: Integer) -> Expr {
        let mut form = Affine::constant(value, self.scope.len());
        if self.rational {
            form.row.swap(0, 1);
        }
        form.into()
    }

    fn factor_of(&self, expr: &Expr) -> Option<(Integer, Integer)> {
        let Expr::Plain(form) = expr else { return None };
        let col = usize::from(self.rational);
        let others = form.row.iter().enumerate().filter(|(index, _)| *index != col);
        let alone = others.into_iter().all(|(_, value)| value.is_zero());
        alone.then(|| (form.row[col].clone(), form.den.clone()))
    }

    /// Rounds a value; in a rational set, nothing is rounded.
    ///
    /// `start` is the token that says so.
    fn rounded(
        &mut self,
        start: usize,
        value: Expr,
        round: impl Fn(&Affine) -> Affine,
    ) -> Result<Expr, Error> {
        if self.rational {
            self.at = start;
            return Err(self.unexpected("no rounding in a rational set"));
        }
        value.mapped(round)
    }
}
