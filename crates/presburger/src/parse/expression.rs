//! Expressions: affine forms, rounding, minima and maxima, choices.

use super::Parser;
use crate::basic::Basic;
use crate::function::affine::Affine;
use crate::token::Token;
use crate::{Error, Integer};

/// The words that are no names of dimensions after a number, as in `2 mod`.
const WORDS: [&str; 9] =
    ["and", "or", "implies", "not", "mod", "exists", "forall", "true", "false"];

/// The most bits that a power may have.
const MAX_BITS: u64 = 1 << 24;

/// A form and where it is the value; without a condition, everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub when: Option<Basic>,
    pub form: Affine,
}

/// The value of an expression. Minima and maxima are kept: in comparisons they are no choice.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Plain(Affine),
    Min(Vec<Affine>),
    Max(Vec<Affine>),
    Cases(Vec<Case>),
}

impl From<Affine> for Expr {
    fn from(form: Affine) -> Self {
        Self::Plain(form)
    }
}

impl Expr {
    /// Moves to a scope of more dimensions.
    pub fn widened(self, dims: usize) -> Self {
        let wide = |form: &Affine| form.place(dims, &(0..form.dims).collect::<Vec<_>>());
        let all = |forms: Vec<Affine>| forms.iter().map(wide).collect();
        match self {
            Self::Plain(form) => Self::Plain(wide(&form)),
            Self::Min(forms) => Self::Min(all(forms)),
            Self::Max(forms) => Self::Max(all(forms)),
            Self::Cases(cases) => {
                let place = |part: &Basic| part.place(dims, &(0..part.dims).collect::<Vec<_>>());
                let wide = |case: &Case| Case {
                    when: case.when.as_ref().map(place),
                    form: wide(&case.form),
                };
                Self::Cases(cases.iter().map(wide).collect())
            }
        }
    }

    /// Returns the least (or greatest) of `forms`, which is NaN if one of them is.
    fn of_extreme(forms: Vec<Affine>, least: bool) -> Self {
        match forms.iter().find(|form| form.is_nan()) {
            Some(nan) => Self::Plain(nan.clone()),
            None if least => Self::Min(forms),
            None => Self::Max(forms),
        }
    }

    /// Splits into forms with conditions that do not overlap.
    pub fn cases(&self) -> Result<Vec<Case>, Error> {
        let (forms, least) = match self {
            Self::Plain(form) => return Ok(vec![Case { when: None, form: form.clone() }]),
            Self::Cases(cases) => return Ok(cases.clone()),
            Self::Min(forms) => (forms, true),
            Self::Max(forms) => (forms, false),
        };
        let mut cases = Vec::new();
        'form: for (index, form) in forms.iter().enumerate() {
            let mut when: Option<Basic> = None;
            for (other_index, other) in forms.iter().enumerate().filter(|(i, _)| *i != index) {
                let (low, high) = if least { (form, other) } else { (other, form) };
                // Of equal forms, the first is the value.
                let Some(fact) = high.at_least(low, other_index < index) else { continue 'form };
                when = match when {
                    None => Some(fact),
                    Some(old) => match old.intersect(&fact) {
                        None => continue 'form,
                        both => both,
                    },
                };
            }
            cases.push(Case { when, form: form.clone() });
        }
        Ok(cases)
    }

    fn scaled(self, num: &Integer, den: &Integer) -> Result<Self, Error> {
        let all = |forms: Vec<Affine>| forms.iter().map(|form| form.scaled(num, den)).collect();
        let kept = num.sign() >= 0;
        Ok(match self {
            Self::Plain(form) => Self::Plain(form.scaled(num, den)),
            Self::Min(forms) => Self::of_extreme(all(forms), kept),
            Self::Max(forms) => Self::of_extreme(all(forms), !kept),
            Self::Cases(_) => self.mapped(|form| form.scaled(num, den))?,
        })
    }

    fn negated(self) -> Result<Self, Error> {
        self.scaled(&Integer::MINUS_ONE, &Integer::ONE)
    }

    /// Applies `f` to each case.
    fn mapped(self, f: impl Fn(&Affine) -> Affine) -> Result<Self, Error> {
        if let Self::Plain(form) = &self {
            return Ok(Self::Plain(f(form)));
        }
        let mut cases = self.cases()?;
        for case in &mut cases {
            case.form = f(&case.form);
        }
        Ok(Self::Cases(cases))
    }

    fn plus(self, other: Self) -> Result<Self, Error> {
        let all =
            |forms: Vec<Affine>, by: &Affine| forms.iter().map(|form| form.plus(by)).collect();
        Ok(match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => Self::Plain(a.plus(&b)),
            (Self::Plain(a), Self::Min(b)) | (Self::Min(b), Self::Plain(a)) => {
                Self::of_extreme(all(b, &a), true)
            }
            (Self::Plain(a), Self::Max(b)) | (Self::Max(b), Self::Plain(a)) => {
                Self::of_extreme(all(b, &a), false)
            }
            (a, b) => {
                let (a, b) = (a.cases()?, b.cases()?);
                let pairs = pairs(&a, &b)?;
                let add = |(when, a, b): (_, &Affine, &Affine)| Case { when, form: a.plus(b) };
                Self::Cases(pairs.into_iter().map(add).collect())
            }
        })
    }

    /// Returns the least (or greatest) of both.
    fn extreme(self, other: Self, least: bool) -> Result<Self, Error> {
        let forms = |expr: &Self| match expr {
            Self::Plain(form) => Some(vec![form.clone()]),
            Self::Min(forms) if least => Some(forms.clone()),
            Self::Max(forms) if !least => Some(forms.clone()),
            _ => None,
        };
        if let (Some(a), Some(b)) = (forms(&self), forms(&other)) {
            return Ok(Self::of_extreme([a, b].concat(), least));
        }
        let mut cases = Vec::new();
        for (when, a, b) in pairs(&self.cases()?, &other.cases()?)? {
            for case in Self::of_extreme(vec![a.clone(), b.clone()], least).cases()? {
                cases.extend(
                    within(when.as_ref(), case.when.as_ref())?
                        .map(|when| Case { when, form: case.form }),
                );
            }
        }
        Ok(Self::Cases(cases))
    }
}

/// Intersects two conditions; the outer `None` is a contradiction.
fn within(a: Option<&Basic>, b: Option<&Basic>) -> Result<Option<Option<Basic>>, Error> {
    Ok(match (a, b) {
        (Some(a), Some(b)) => a.intersect(b).map(Some),
        (a, b) => Some(a.or(b).cloned()),
    })
}

type Pair<'a> = (Option<Basic>, &'a Affine, &'a Affine);

fn pairs<'a>(a: &'a [Case], b: &'a [Case]) -> Result<Vec<Pair<'a>>, Error> {
    let mut result = Vec::new();
    for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
        let when = within(x.when.as_ref(), y.when.as_ref())?;
        result.extend(when.map(|when| (when, &x.form, &y.form)));
    }
    Ok(result)
}

impl Parser<'_> {
    /// Returns the points where `a <= b`, or `a < b`.
    pub(super) fn at_most(&self, a: &Expr, b: &Expr, strict: bool) -> Result<Vec<Basic>, Error> {
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
        let mut result = if every_low { vec![Basic::universe(self.scope.len())] } else { vec![] };
        for low in lows {
            let mut row = if every_high { vec![Basic::universe(self.scope.len())] } else { vec![] };
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
    pub(super) fn equal(&self, a: &Expr, b: &Expr) -> Result<Vec<Basic>, Error> {
        self.compared(a, b, |a, b| a.minus(b).holds(true))
    }

    fn compared(
        &self,
        a: &Expr,
        b: &Expr,
        fact: impl Fn(&Affine, &Affine) -> Option<Basic>,
    ) -> Result<Vec<Basic>, Error> {
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
        let condition = self.deeper(Self::disjunction)?;
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

    /// Says whether a `?` comes before this expression ends.
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
            left = match (factor_of(&left), factor_of(&right)) {
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
            if self.eat("%") || self.eat("mod") {
                let modulus = self.positive()?;
                value = value.mapped(|form| form.modulo(&modulus))?;
            } else if self.eat("//") {
                let den = self.positive()?;
                value = value.mapped(|form| form.scaled(&Integer::ONE, &den).floor())?;
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
            return Ok(Affine::constant(value, dims).into());
        }
        if self.eat("-") {
            // A number takes its sign along, so that -1//4 is -1; -i mod 3 is -(i mod 3).
            if let Some(value) = self.number()? {
                return Ok(Affine::constant(-value, dims).into());
            }
            return self.deeper(Self::rest_of)?.negated();
        }
        if self.eat("(") {
            let inner = self.extended()?;
            self.need(")")?;
            return Ok(inner);
        }
        if self.eat("[") {
            // An old way to write a division rounded down.
            let inner = self.extended()?.mapped(Affine::floor)?;
            self.need("]")?;
            return Ok(inner);
        }
        let Token::Name(name) = self.peek().clone() else {
            return Err(self.unexpected("an expression"));
        };
        if *self.ahead(1) == Token::Sign("(") && !self.scope.contains(&name) {
            return self.call(&name);
        }
        let form = match self.scope.iter().rposition(|known| *known == name) {
            Some(col) => Affine::dim(col, dims),
            None if name.eq_ignore_ascii_case("nan") => Affine::nan(dims),
            None => return Err(self.unexpected("a name in scope")),
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
        // What memory holds is the only limit, and one that must not be met.
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
            value = value.mapped(Affine::floor)?;
        } else if name.starts_with("ceil") {
            value = value.mapped(|form| form.negated().floor().negated())?;
        }
        self.need(")")?;
        Ok(value)
    }
}

fn factor_of(expr: &Expr) -> Option<(Integer, Integer)> {
    match expr {
        Expr::Plain(form) if form.is_constant() => Some((form.row[0].clone(), form.den.clone())),
        _ => None,
    }
}
