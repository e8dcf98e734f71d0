//! Tuples: names, expressions that a dimension equals, ranges, wrapped pairs.

use super::formula::{CONNECTIVES, RELATIONS};
use super::token::Token;
use super::{Case, Expr, Facts, Parser};
use crate::basic_map::BasicMap;
use crate::function::affine::Affine;
use crate::{Error, Integer, Tuple};

/// What stands before a parenthesis and names no tuple.
const FUNCTIONS: [&str; 6] = ["floor", "ceil", "floord", "ceild", "min", "max"];

impl Parser<'_> {
    /// Reads a tuple and brings its dimensions into scope; `given` gets what it says of them.
    pub(super) fn tuple(&mut self, given: &mut Facts) -> Result<Tuple, Error> {
        if self.is("rat") && *self.ahead(1) == Token::Sign(":") {
            return Err(self.unexpected("integer points; `rat:` is for a RationalRelation"));
        }
        let name = match self.peek() {
            Token::Sign("[") => String::new(),
            Token::Sign("(") if self.parenthesis_is_tuple() => String::new(),
            Token::Sign("(") => return Err(self.unexpected("a tuple, as `[i]`")),
            _ => self.name()?,
        };
        // As textbooks write statements: `S1(i, j)`.
        let parenthesis = self.is("(") && !FUNCTIONS.contains(&name.as_str());
        let end = if parenthesis { ")" } else { "]" };
        self.need(if parenthesis { "(" } else { "[" })?;
        if end == "]" && self.starts_tuple() {
            let (left, right) = self.deeper(|parser| {
                let left = parser.tuple(given)?;
                parser.need("->")?;
                Ok((left, parser.tuple(given)?))
            })?;
            self.need("]")?;
            return Ok(Tuple { name, ..Tuple::wrapping(left, right) });
        }
        let mut dims: Vec<String> = Vec::new();
        while !self.is(end) {
            if !dims.is_empty() {
                self.need(",")?;
            }
            dims.push(self.element(given)?);
        }
        self.need(end)?;
        Ok(Tuple::new(name, dims))
    }

    /// Tells `(i, j)`, a tuple, from `(i + 1)`, which is the value of a function.
    fn parenthesis_is_tuple(&self) -> bool {
        let mut open = 0_usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(" | "[") => open += 1,
                Token::Sign(")" | "]") => open = open.saturating_sub(1),
                Token::Sign(",") if open == 1 => return true,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        false
    }

    pub(super) fn starts_tuple(&self) -> bool {
        match self.peek() {
            Token::Sign("[") => true,
            Token::Name(_) => *self.ahead(1) == Token::Sign("["),
            _ => false,
        }
    }

    /// Reads a new name, perhaps with its value or range, or an expression alone.
    fn element(&mut self, given: &mut Facts) -> Result<String, Error> {
        let col = self.scope.len();
        if self.is("*") && matches!(self.ahead(1), Token::Sign("," | "]" | ")")) {
            self.at += 1;
            return Ok(self.fresh());
        }
        if let Token::Name(name) = self.peek().clone()
            && !self.scope.contains(&name)
            && matches!(self.ahead(1), Token::Sign("," | "]" | ")" | "="))
        {
            self.at += 1;
            self.scope.push(name.clone());
            if self.eat("=") {
                self.value_of(col, given)?;
            }
            return Ok(name);
        }
        let name = self.fresh();
        self.value_of(col, given)?;
        Ok(name)
    }

    fn fresh(&mut self) -> String {
        let mut name = format!("o{}", self.scope.len());
        // Nor may a name that comes later mean this dimension.
        let names = self.names.get_or_insert_with(|| {
            let name = |(token, _): &(Token, usize)| match token {
                Token::Name(name) => Some(name.clone()),
                _ => None,
            };
            self.tokens.iter().filter_map(name).collect()
        });
        while self.scope.contains(&name) || names.contains(&name) {
            name.push('_');
        }
        self.scope.push(name.clone());
        name
    }

    /// Reads a value, a value by pieces, or a range `low:high` for the dimension in column `col`.
    fn value_of(&mut self, col: usize, given: &mut Facts) -> Result<(), Error> {
        let dim = Affine::dim(col, self.scope.len()).into();
        if !self.is(":") {
            if self.starts_pieces() {
                let value = Expr::Cases(self.value_by_pieces()?);
                given.push(self.equal(&dim, &value)?);
                return Ok(());
            }
            let start = self.column();
            let value = self.extended()?;
            if !self.is(":") {
                if let Expr::Plain(form) = &value
                    && form.den != Integer::ONE
                {
                    self.exact.push((start, form.den.clone()));
                }
                given.push(self.equal(&dim, &value)?);
                return Ok(());
            }
            given.push(self.at_most(&value, &dim, false)?);
        }
        self.need(":")?;
        if !self.is(",") && !self.is("]") && !self.is(")") {
            let high = self.extended()?;
            given.push(self.at_most(&dim, &high, false)?);
        }
        Ok(())
    }

    /// Returns whether `value : formula` stands here, in parentheses or not, before the next
    /// comma: in a range, no comparison follows the colon.
    pub(super) fn starts_pieces(&self) -> bool {
        let (mut open, mut colon, mut choice) = (0_usize, false, false);
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(" | "[") => open += 1,
                Token::Sign(")" | "]") if open == 0 => return false,
                Token::Sign(")" | "]") => open -= 1,
                Token::Sign("," | "}") if open == 0 => return false,
                Token::Sign(";") => return true,
                Token::Sign("?") => choice = true,
                Token::Sign(":") => colon = !choice,
                Token::Sign(sign)
                    if colon && (RELATIONS.contains(sign) || CONNECTIVES.contains(sign)) =>
                {
                    return true;
                }
                Token::Name(name) if colon && CONNECTIVES.contains(&name.as_str()) => return true,
                _ => {}
            }
        }
        false
    }

    /// Reads `value : formula; value : formula`; parentheses may be around all or around each.
    pub(super) fn value_by_pieces(&mut self) -> Result<Vec<Case>, Error> {
        let mut cases = Vec::new();
        loop {
            if self.is("(") && self.parenthesis_has_pieces() {
                self.at += 1;
                cases.extend(self.deeper(Self::value_by_pieces)?);
                self.need(")")?;
            } else {
                let value = self.extended()?;
                let domain = match self.eat(":") {
                    true => self.formula()?,
                    false => vec![BasicMap::universe(self.scope.len())],
                };
                for case in value.cases()? {
                    let when = case.when.unwrap_or_else(|| BasicMap::universe(self.scope.len()));
                    for part in self.both(domain.clone(), &[when])? {
                        cases.push(Case { when: Some(part), form: case.form.clone() });
                    }
                }
            }
            if !self.eat(";") {
                return Ok(cases);
            }
        }
    }

    /// Returns whether `:` or `;`, but no `?`, is inside of the parenthesis that opens here.
    fn parenthesis_has_pieces(&self) -> bool {
        let mut open = 0_usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(" | "[") => open += 1,
                Token::Sign(")" | "]") => open = open.saturating_sub(1),
                Token::Sign("?") if open == 1 => return false,
                Token::Sign(":" | ";") if open == 1 => return true,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        false
    }
}
