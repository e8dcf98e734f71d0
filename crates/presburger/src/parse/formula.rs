//! Formulas: connectives, quantifiers, chains of comparisons.

use super::token::Token;
use super::{DEPTH, Expr, Parser};
use crate::Error;
use crate::basic_map::BasicMap;
use crate::formula::{both, negation, taken_away, widened};

pub(super) const RELATIONS: [&str; 11] =
    ["<", "<=", ">", ">=", "=", "==", "!=", "<<", "<<=", ">>", ">>="];
pub(super) const CONNECTIVES: [&str; 13] =
    ["and", "or", "not", "implies", "exists", "forall", "true", "false", "&&", "||", "!", "&", "|"];

impl Parser<'_> {
    pub(super) fn both(&self, a: Vec<BasicMap>, b: &[BasicMap]) -> Result<Vec<BasicMap>, Error> {
        let dims = self.scope.len();
        both(&widened(a, dims), &widened(b.to_vec(), dims), self.budget)
    }

    /// Reads a formula over the names in scope, without columns of names that it binds.
    pub(super) fn formula(&mut self) -> Result<Vec<BasicMap>, Error> {
        self.apart(Self::implication)
    }

    /// Reads what is to have no columns of names that it binds.
    pub(super) fn apart(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Vec<BasicMap>, Error>,
    ) -> Result<Vec<BasicMap>, Error> {
        let keeps = std::mem::replace(&mut self.keeps, false);
        let parts = read(self);
        self.keeps = keeps;
        parts
    }

    fn implication(&mut self) -> Result<Vec<BasicMap>, Error> {
        let outer = self.scope.len();
        let mut left = self.disjunction()?;
        while self.eat("implies") {
            // What is negated has no values for names that it binds.
            left = self.without_bound(left, outer)?;
            left = self.negation(&left)?;
            let right = self.disjunction()?;
            left = widened(left, self.scope.len());
            left.extend(right);
        }
        Ok(left)
    }

    /// Takes away the columns from `outer` on.
    fn without_bound(
        &mut self,
        parts: Vec<BasicMap>,
        outer: usize,
    ) -> Result<Vec<BasicMap>, Error> {
        let dims = self.scope.len();
        if dims == outer {
            return Ok(parts);
        }
        let mut result = Vec::new();
        for part in widened(parts, dims) {
            if self.rational {
                result.extend(part.eliminated(outer..dims, self.budget)?);
            } else {
                result.extend(part.project(outer..dims, self.budget)?);
            }
        }
        self.scope.truncate(outer);
        Ok(result)
    }

    pub(super) fn negation(&self, parts: &[BasicMap]) -> Result<Vec<BasicMap>, Error> {
        negation(self.scope.len(), parts, self.budget)
    }

    pub(super) fn disjunction(&mut self) -> Result<Vec<BasicMap>, Error> {
        let mut parts = self.conjunction()?;
        let before = self.scope.len();
        while self.eat("or") || self.eat("||") || self.eat("|") {
            parts.extend(self.conjunction()?);
        }
        // Once for all: there may be very many of them.
        Ok(if self.scope.len() > before { widened(parts, self.scope.len()) } else { parts })
    }

    fn conjunction(&mut self) -> Result<Vec<BasicMap>, Error> {
        let mut left = self.literal()?;
        while self.eat("and") || self.eat("&&") || self.eat("&") {
            let right = self.literal()?;
            left = self.both(left, &right)?;
        }
        Ok(left)
    }

    fn literal(&mut self) -> Result<Vec<BasicMap>, Error> {
        if self.eat("true") {
            return Ok(vec![BasicMap::universe(self.scope.len())]);
        }
        if self.eat("false") {
            return Ok(Vec::new());
        }
        if self.eat("not") || self.eat("!") {
            let inner = self.deeper(|parser| parser.apart(Self::literal))?;
            return self.negation(&inner);
        }
        if self.is("exists") || self.is("forall") {
            return self.deeper(Self::quantified);
        }
        if self.is("(") && self.parenthesis_is_formula() {
            self.at += 1;
            let inner = self.deeper(Self::implication)?;
            self.need(")")?;
            return Ok(inner);
        }
        self.comparison()
    }

    /// Reads `exists (a, b = floor(n/2): formula)`, the parentheses left out or not.
    ///
    /// Names that quantifiers inside bind may be taken away together with its own.
    fn quantified(&mut self) -> Result<Vec<BasicMap>, Error> {
        let all = self.is("forall");
        self.at += 1;
        let open = self.eat("(");
        let outer = self.scope.len();
        let mut given = Vec::new();
        loop {
            let name = self.name()?;
            self.scope.push(name);
            if self.eat("=") {
                given.push((self.scope.len() - 1, self.extended()?));
            }
            if !self.eat(",") {
                break;
            }
        }
        let dims = self.scope.len();
        let mut facts = vec![BasicMap::universe(dims)];
        for (col, value) in given {
            let dim = crate::function::affine::Affine::dim(col, dims).into();
            let value = value.widened(dims);
            facts = self.both(facts, &self.equal(&dim, &value)?)?;
        }
        let mut body = facts.clone();
        if self.eat(":") {
            if all {
                let formula = self.formula()?;
                body = self.negation(&formula)?;
            } else {
                let keeps = std::mem::replace(&mut self.keeps, true);
                body = self.implication()?;
                self.keeps = keeps;
            }
            body = self.both(facts, &body)?;
        }
        if open {
            self.need(")")?;
        }
        if self.keeps && !all && !self.rational {
            let found = taken_away(&body, &(outer..self.scope.len()), self.budget)?;
            match found {
                Some(_) => self.scope.truncate(outer),
                None => self.scope.hide(outer),
            }
            return Ok(found.unwrap_or(body));
        }
        let result = self.without_bound(body, outer)?;
        if all { self.negation(&result) } else { Ok(result) }
    }

    /// Tells `(formula)` from `(expression)`: outside of inner parentheses, one has
    /// comparisons or connectives, or nothing but a formula in parentheses.
    fn parenthesis_is_formula(&self) -> bool {
        // Deeper ones are refused in any case.
        for start in self.at..self.at + DEPTH {
            let (mut open, mut formula, mut alone) = (0_usize, false, None);
            for (offset, (token, _)) in self.tokens[start..].iter().enumerate() {
                match token {
                    Token::Sign("(") => open += 1,
                    Token::Sign(")") => open = open.saturating_sub(1),
                    Token::Sign("?") if open == 1 => return false,
                    Token::Sign(sign) if open == 1 => {
                        formula |= RELATIONS.contains(sign) || CONNECTIVES.contains(sign);
                    }
                    Token::Name(name) if open == 1 => {
                        formula |= CONNECTIVES.contains(&name.as_str());
                    }
                    _ => {}
                }
                if open == 1 && offset > 1 && alone.is_none() {
                    // Where the first inner parenthesis closes, if one opens the text.
                    alone = Some(offset);
                }
                if open == 0 {
                    break;
                }
            }
            let token = |at: usize| self.tokens.get(at).map(|(token, _)| token);
            let nested = token(start + 1) == Some(&Token::Sign("("));
            let closes = alone.is_some_and(|at| token(start + at + 1) == Some(&Token::Sign(")")));
            if formula || !(nested && closes) {
                return formula;
            }
        }
        false
    }

    fn comparison(&mut self) -> Result<Vec<BasicMap>, Error> {
        let mut left = self.list()?;
        let mut result = vec![BasicMap::universe(self.scope.len())];
        let mut links = 0;
        while let Token::Sign(sign) = *self.peek() {
            if !RELATIONS.contains(&sign) {
                break;
            }
            self.at += 1;
            links += 1;
            let right = self.list()?;
            let fact = self.related(&left, sign, &right)?;
            result = self.both(result, &fact)?;
            left = right;
        }
        if links == 0 { Err(self.unexpected("a comparison")) } else { Ok(result) }
    }

    fn list(&mut self) -> Result<Vec<Expr>, Error> {
        let mut list = vec![self.expression()?];
        while self.eat(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    fn related(&self, a: &[Expr], sign: &str, b: &[Expr]) -> Result<Vec<BasicMap>, Error> {
        match sign {
            "<<" | "<<=" => return self.lexicographic(a, b, sign == "<<="),
            ">>" | ">>=" => return self.lexicographic(b, a, sign == ">>="),
            _ => {}
        }
        let mut result = vec![BasicMap::universe(self.scope.len())];
        for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
            let fact = match sign {
                "<=" => self.at_most(x, y, false)?,
                "<" => self.at_most(x, y, true)?,
                ">=" => self.at_most(y, x, false)?,
                ">" => self.at_most(y, x, true)?,
                "!=" => [self.at_most(x, y, true)?, self.at_most(y, x, true)?].concat(),
                _ => self.equal(x, y)?,
            };
            result = self.both(result, &fact)?;
        }
        Ok(result)
    }

    fn lexicographic(&self, a: &[Expr], b: &[Expr], equal: bool) -> Result<Vec<BasicMap>, Error> {
        if a.len() != b.len() {
            return Err(self.unexpected("tuples of one length"));
        }
        let mut same = vec![BasicMap::universe(self.scope.len())];
        let mut result = Vec::new();
        for (x, y) in a.iter().zip(b) {
            result.extend(self.both(same.clone(), &self.at_most(x, y, true)?)?);
            same = self.both(same, &self.equal(x, y)?)?;
        }
        if equal {
            result.extend(same);
        }
        Ok(result)
    }
}
