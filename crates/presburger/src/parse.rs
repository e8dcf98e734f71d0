//! Parsing isl's notation into a union of conjunctions, quantifiers already eliminated.

use std::str::FromStr;

use crate::basic::{Basic, Div, merge, reduced};
use crate::matrix::{add, combine, remap};
use crate::relation::intersect_parts;
use crate::subtract::subtract_parts;
use crate::token::{Token, tokens};
use crate::{Budget, Error, Relation, Space, Tuple};

/// Parentheses, negations and quantifiers nest at most this deep.
const DEPTH: usize = 64;

/// An affine form over the names in scope and divisions of its own.
#[derive(Debug, Clone)]
struct Affine {
    dims: usize,
    divs: Vec<Div>,
    row: Vec<i128>,
}

impl Affine {
    fn constant(value: i128, dims: usize) -> Self {
        let mut row = vec![0; 1 + dims];
        row[0] = value;
        Self { dims, divs: Vec::new(), row }
    }

    fn as_constant(&self) -> Option<i128> {
        self.row[1..].iter().all(|v| *v == 0).then_some(self.row[0])
    }

    fn plus(&self, factor: i128, other: &Self) -> Result<Self, Error> {
        let (divs, to) = merge(self.dims, &self.divs, &other.divs);
        let cols = 1 + self.dims + divs.len();
        let row = combine(1, &self.row, factor, &remap(&other.row, cols, &to))?;
        Ok(Self { dims: self.dims, divs, row })
    }

    fn scaled(&self, factor: i128) -> Result<Self, Error> {
        Self::constant(0, self.dims).plus(factor, self)
    }

    fn floor_div(mut self, den: i128) -> Result<Self, Error> {
        self.row.resize(1 + self.dims + self.divs.len(), 0);
        let mut row = vec![0; self.row.len() + 1];
        row[self.row.len()] = 1;
        self.divs.push(reduced(Div { num: self.row, den })?);
        Ok(Self { dims: self.dims, divs: self.divs, row })
    }

    /// Returns the points where the form is 0, or not negative.
    fn holds(&self, equation: bool) -> Result<Vec<Basic>, Error> {
        let mut part = Basic::with_divs(self.dims, self.divs.clone());
        let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
        rows.push(&self.row);
        Ok(part.tidied()?.into_iter().collect())
    }
}

impl FromStr for Relation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl Relation {
    /// Parses a set or relation in isl's notation.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::Space`] if disjuncts differ in their tuples.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let mut parts = relations(text, budget)?.into_iter();
        let none = || Error::Syntax { column: 1, expected: "a tuple", found: text.to_owned() };
        let first = parts.next().ok_or_else(none)?;
        parts.try_fold(first, |all, part| all.union(&part))
    }
}

/// Parses disjuncts of any spaces, one relation each.
pub(crate) fn relations(text: &str, budget: &Budget) -> Result<Vec<Relation>, Error> {
    Parser { tokens: tokens(text)?, at: 0, depth: 0, scope: Vec::new(), budget }.relations()
}

struct Parser<'a> {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    scope: Vec<String>,
    budget: &'a Budget,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn is(&self, sign: &str) -> bool {
        match self.peek() {
            Token::Sign(found) => *found == sign,
            Token::Name(found) => found == sign,
            _ => false,
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, sign: &'static str) -> Result<(), Error> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    fn unexpected(&self, expected: &'static str) -> Error {
        let (token, column) = &self.tokens[self.at.min(self.tokens.len() - 1)];
        let found = match token {
            Token::Name(name) => name.clone(),
            Token::Number(value) => value.to_string(),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::End => "end of text".to_owned(),
        };
        Error::Syntax { column: *column, expected, found }
    }

    fn name(&mut self) -> Result<String, Error> {
        let Token::Name(name) = self.peek().clone() else { return Err(self.unexpected("a name")) };
        self.at += 1;
        Ok(name)
    }

    fn names(&mut self) -> Result<Vec<String>, Error> {
        let mut names = vec![self.name()?];
        while self.eat(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn relations(mut self) -> Result<Vec<Relation>, Error> {
        let mut params = Vec::new();
        if self.eat("[") {
            if !self.is("]") {
                params = self.names()?;
            }
            self.need("]")?;
            self.need("->")?;
        }
        self.need("{")?;
        let mut result = Vec::new();
        while !self.is("}") {
            result.push(self.disjunct(&params)?);
            if !self.eat(";") {
                break;
            }
        }
        self.need("}")?;
        if *self.peek() != Token::End {
            return Err(self.unexpected("end of text"));
        }
        Ok(result)
    }

    fn disjunct(&mut self, params: &[String]) -> Result<Relation, Error> {
        self.scope = params.to_vec();
        let mut given = Vec::new();
        let mut space = Space { params: params.to_vec(), input: None, output: Tuple::default() };
        if !self.is(":") {
            space.output = self.tuple(&mut given)?;
            if self.eat("->") {
                space.input = Some(space.output);
                space.output = self.tuple(&mut given)?;
            }
        }
        let dims = self.scope.len();
        let identity: Vec<usize> = (0..dims).collect();
        let mut parts = vec![Basic::universe(dims)];
        for fact in given {
            let fact = fact.iter().map(|f| f.place(dims, &identity[..f.dims])).collect::<Vec<_>>();
            parts = intersect_parts(&parts, &fact, self.budget)?;
        }
        if self.eat(":") {
            let formula = self.formula()?;
            parts = intersect_parts(&parts, &formula, self.budget)?;
        }
        Ok(Relation::new(space, parts))
    }

    fn tuple(&mut self, given: &mut Vec<Vec<Basic>>) -> Result<Tuple, Error> {
        let name = if self.is("[") { String::new() } else { self.name()? };
        self.need("[")?;
        if self.starts_tuple() {
            let left = self.deeper(|parser| parser.tuple(given))?;
            self.need("->")?;
            let right = self.deeper(|parser| parser.tuple(given))?;
            self.need("]")?;
            return Ok(Tuple { name, ..Tuple::wrapping(left, right) });
        }
        let mut dims: Vec<String> = Vec::new();
        while !self.is("]") {
            if !dims.is_empty() {
                self.need(",")?;
            }
            dims.push(self.element(given)?);
        }
        self.need("]")?;
        Ok(Tuple::new(name, dims))
    }

    fn starts_tuple(&self) -> bool {
        let next = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0;
        self.is("[") || matches!(self.peek(), Token::Name(_)) && *next == Token::Sign("[")
    }

    /// Reads a new name, or an expression that the new dimension equals.
    fn element(&mut self, given: &mut Vec<Vec<Basic>>) -> Result<String, Error> {
        let after = &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0;
        let alone = matches!(after, Token::Sign("," | "]"));
        let col = self.scope.len();
        if let Token::Name(name) = self.peek().clone()
            && alone
            && !self.scope.contains(&name)
        {
            self.at += 1;
            self.scope.push(name.clone());
            return Ok(name);
        }
        let mut fresh = format!("o{col}");
        while self.scope.contains(&fresh) {
            fresh.push('_');
        }
        self.scope.push(fresh.clone());
        let value = self.expression()?;
        let mut dim = Affine::constant(0, self.scope.len());
        dim.row[1 + col] = 1;
        given.push(dim.plus(-1, &value)?.holds(true)?);
        Ok(fresh)
    }

    fn formula(&mut self) -> Result<Vec<Basic>, Error> {
        let mut left = self.disjunction()?;
        while self.eat("implies") {
            let right = self.disjunction()?;
            left = self.negation(&left)?;
            left.extend(right);
        }
        Ok(left)
    }

    fn negation(&self, parts: &[Basic]) -> Result<Vec<Basic>, Error> {
        subtract_parts(&[Basic::universe(self.scope.len())], parts, self.budget)
    }

    fn disjunction(&mut self) -> Result<Vec<Basic>, Error> {
        let mut left = self.conjunction()?;
        while self.eat("or") {
            left.extend(self.conjunction()?);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Vec<Basic>, Error> {
        let mut left = self.literal()?;
        while self.eat("and") {
            let right = self.literal()?;
            left = intersect_parts(&left, &right, self.budget)?;
        }
        Ok(left)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH {
            return Err(self.unexpected("less nesting"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn literal(&mut self) -> Result<Vec<Basic>, Error> {
        if self.eat("true") {
            return Ok(vec![Basic::universe(self.scope.len())]);
        }
        if self.eat("false") {
            return Ok(Vec::new());
        }
        if self.eat("not") {
            let inner = self.deeper(Self::literal)?;
            return self.negation(&inner);
        }
        if self.is("exists") || self.is("forall") {
            return self.deeper(Self::quantified);
        }
        if self.is("(") && self.parenthesis_is_formula() {
            self.at += 1;
            let inner = self.deeper(Self::formula)?;
            self.need(")")?;
            return Ok(inner);
        }
        self.comparison()
    }

    fn quantified(&mut self) -> Result<Vec<Basic>, Error> {
        let all = self.is("forall");
        self.at += 1;
        let open = self.eat("(");
        let names = self.names()?;
        self.need(":")?;
        let outer = self.scope.len();
        self.scope.extend(names);
        let mut body = self.formula()?;
        if all {
            body = self.negation(&body)?;
        }
        let mut result = Vec::new();
        for part in &body {
            result.extend(part.project(outer..self.scope.len(), self.budget)?);
        }
        self.scope.truncate(outer);
        if open {
            self.need(")")?;
        }
        if all { self.negation(&result) } else { Ok(result) }
    }

    /// An expression holds no comparison, so one inside tells a formula.
    fn parenthesis_is_formula(&self) -> bool {
        let mut open = 0_usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::Sign(sign) if RELATIONS.contains(sign) => return true,
                Token::Name(name) if name == "true" || name == "false" => return true,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        false
    }

    fn comparison(&mut self) -> Result<Vec<Basic>, Error> {
        let mut left = self.list()?;
        let mut result = vec![Basic::universe(self.scope.len())];
        let mut links = 0;
        while let Token::Sign(sign) = *self.peek() {
            if !RELATIONS.contains(&sign) {
                break;
            }
            self.at += 1;
            links += 1;
            let right = self.list()?;
            let fact = self.related(&left, sign, &right)?;
            result = intersect_parts(&result, &fact, self.budget)?;
            left = right;
        }
        if links == 0 { Err(self.unexpected("a comparison")) } else { Ok(result) }
    }

    fn related(&self, a: &[Affine], sign: &str, b: &[Affine]) -> Result<Vec<Basic>, Error> {
        match sign {
            "<<" | "<<=" => return self.lexicographic(a, b, sign == "<<="),
            ">>" | ">>=" => return self.lexicographic(b, a, sign == ">>="),
            _ => {}
        }
        let mut result = vec![Basic::universe(self.scope.len())];
        for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
            let fact = match sign {
                "<=" => at_least(y, x, 0)?,
                "<" => at_least(y, x, 1)?,
                ">=" => at_least(x, y, 0)?,
                ">" => at_least(x, y, 1)?,
                "!=" => [at_least(x, y, 1)?, at_least(y, x, 1)?].concat(),
                _ => x.plus(-1, y)?.holds(true)?,
            };
            result = intersect_parts(&result, &fact, self.budget)?;
        }
        Ok(result)
    }

    fn lexicographic(&self, a: &[Affine], b: &[Affine], equal: bool) -> Result<Vec<Basic>, Error> {
        if a.len() != b.len() {
            return Err(self.unexpected("tuples of one length"));
        }
        let mut same = vec![Basic::universe(self.scope.len())];
        let mut result = Vec::new();
        for (x, y) in a.iter().zip(b) {
            result.extend(intersect_parts(&same, &at_least(y, x, 1)?, self.budget)?);
            same = intersect_parts(&same, &x.plus(-1, y)?.holds(true)?, self.budget)?;
        }
        if equal {
            result.extend(same);
        }
        Ok(result)
    }

    fn list(&mut self) -> Result<Vec<Affine>, Error> {
        let mut list = vec![self.expression()?];
        while self.eat(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    fn expression(&mut self) -> Result<Affine, Error> {
        let mut sum = Affine::constant(0, self.scope.len());
        let mut sign = if self.eat("-") { -1 } else { 1 };
        loop {
            let term = self.deeper(Self::product)?;
            sum = sum.plus(sign, &term)?;
            sign = match () {
                () if self.eat("+") => 1,
                () if self.eat("-") => -1,
                () => return Ok(sum),
            };
        }
    }

    fn product(&mut self) -> Result<Affine, Error> {
        let mut left = self.factor()?;
        loop {
            if self.eat("%") || self.eat("mod") {
                let den = self.positive()?;
                left = left.plus(-den, &left.clone().floor_div(den)?)?;
            } else if self.eat("*") || self.starts_factor() {
                let right = self.factor()?;
                left = match (left.as_constant(), right.as_constant()) {
                    (Some(factor), _) => right.scaled(factor)?,
                    (_, Some(factor)) => left.scaled(factor)?,
                    _ => return Err(self.unexpected("a constant factor")),
                };
            } else {
                return Ok(left);
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

    fn positive(&mut self) -> Result<i128, Error> {
        match *self.peek() {
            Token::Number(value) if value > 0 => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected("a positive number")),
        }
    }

    fn factor(&mut self) -> Result<Affine, Error> {
        let dims = self.scope.len();
        if let Token::Number(value) = *self.peek() {
            self.at += 1;
            return Ok(Affine::constant(value, dims));
        }
        if self.eat("-") {
            return self.deeper(Self::factor)?.scaled(-1);
        }
        if self.eat("(") {
            let inner = self.expression()?;
            self.need(")")?;
            return Ok(inner);
        }
        if self.is("floor") || self.is("ceil") {
            return self.rounded();
        }
        let Token::Name(name) = self.peek() else { return Err(self.unexpected("an expression")) };
        let Some(col) = self.scope.iter().rposition(|known| known == name) else {
            return Err(self.unexpected("a name in scope"));
        };
        self.at += 1;
        let mut result = Affine::constant(0, dims);
        result.row[1 + col] = 1;
        Ok(result)
    }

    /// `floor(e / d)` and `ceil(e / d)`.
    fn rounded(&mut self) -> Result<Affine, Error> {
        let up = self.is("ceil");
        self.at += 1;
        self.need("(")?;
        let mut inner = self.expression()?;
        if self.eat("/") {
            let den = self.positive()?;
            if up {
                inner.row[0] = add(inner.row[0], den - 1)?;
            }
            inner = inner.floor_div(den)?;
        }
        self.need(")")?;
        Ok(inner)
    }
}

const RELATIONS: [&str; 11] = ["<", "<=", ">", ">=", "=", "==", "!=", "<<", "<<=", ">>", ">>="];
const WORDS: [&str; 9] =
    ["and", "or", "implies", "not", "mod", "exists", "forall", "true", "false"];

/// Returns the points where `a - b >= least`.
fn at_least(a: &Affine, b: &Affine, least: i128) -> Result<Vec<Basic>, Error> {
    let mut form = a.plus(-1, b)?;
    form.row[0] = add(form.row[0], -least)?;
    form.holds(false)
}
