//! Parsing isl's notation: sets and relations with their quantifiers eliminated, functions.
//!
//! A text is a list of pieces between braces, `[n] -> { piece; piece }`. [`tuple`] reads
//! the tuples of a piece, [`formula`] what follows the colon, [`expression`] the terms.
//! Functions share all of it: in theirs, the last tuple holds expressions of the
//! dimensions before it.
//!
//! The one parser of this notation: counts (`count/text/parse`) and tuples of functions on several
//! tuples (`function/multi_union_text`) hand it the tokens of what they hold. Maps and sets in MLIR's
//! notation are `tangram_affine`'s.

mod choice;
mod expression;
mod formula;
mod function;
mod scope;
pub(crate) mod token;
mod tuple;

use std::collections::HashSet;
use std::str::FromStr;

pub(crate) use choice::{Case, Expr};
use expression::WORDS;
pub(crate) use function::{Value, functions};
use scope::Scope;

use crate::basic_map::BasicMap;
use crate::rational_relation::{SCALE, cone, universe};
use crate::{Budget, Error, Integer, Relation, Space, Tuple};
use token::{Token, Tokens};

/// Parentheses, negations and quantifiers nest at most this deep.
const DEPTH: usize = 64;

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
        let none = Error::Syntax { column: 1, expected: "a tuple".into(), found: text.to_owned() };
        one(relations(Tokens::of(text)?, budget)?).unwrap_or(Err(none))
    }
}

/// Returns whether a text can name a tuple or a parameter: a letter or `_`, then letters, digits,
/// `_` and `'`, and no word of the notation.
pub fn is_name(text: &str) -> bool {
    let Ok(Tokens(tokens)) = Tokens::of(text) else { return false };
    let [(Token::Name(name), _), (Token::End, _)] = &tokens[..] else { return false };
    name == text && !WORDS.contains(&text) && text != "rat"
}

/// Finds quotients that are dimensions of sets and relations in a text: `{ [j] -> [j/32] }` relates
/// multiples of 32 alone, as `floor(j/32)` would round.
///
/// Returns the column of each, from 1, and its divisor.
///
/// # Errors
/// Those of the text.
pub fn exact_quotients(text: &str, budget: &Budget) -> Result<Vec<(usize, Integer)>, Error> {
    let mut parser = Parser::new(Tokens::of(text)?, budget);
    parser.each_piece(Parser::disjunct)?;
    Ok(parser.exact)
}

/// Says that nothing in the text declares a name, and how that is done.
pub(crate) fn undeclared(column: usize, name: String) -> Error {
    let expected = format!("a name in scope (`[{name}] -> {{ .. }}` makes `{name}` a parameter)");
    Error::Syntax { column, expected: expected.into(), found: name }
}

/// Unites disjuncts of one space, if there are any.
fn one(parts: Vec<Relation>) -> Option<Result<Relation, Error>> {
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    Some(parts.try_fold(first, |all, part| all.union(&part)))
}

/// Parses disjuncts of any spaces, one relation each.
pub(crate) fn relations(tokens: Tokens, budget: &Budget) -> Result<Vec<Relation>, Error> {
    Parser::new(tokens, budget).pieces(Parser::disjunct)
}

/// Parses a set of one piece that other notations hold, `params { tuple : formula }`; an empty
/// tuple is `[]`.
///
/// `params` are the tokens before the brace, the others texts with the columns where they start.
pub(crate) fn set_of(
    params: &Tokens,
    tuple: (&str, usize),
    formula: (&str, usize),
    budget: &Budget,
) -> Result<Relation, Error> {
    let head = params.clone().sign("{");
    let head =
        if tuple.0.is_empty() { head.sign("[").sign("]") } else { head.text(tuple.0, tuple.1)? };
    let tokens = head.sign(":").text(formula.0, formula.1)?.sign("}");
    let space = || Error::Space { expected: "one set".into(), found: "none".into() };
    one(relations(tokens, budget)?).unwrap_or_else(|| Err(space()))
}

/// Parses disjuncts of one space, of which some may be marked as rational.
///
/// Those are cones: their first parameter is the scale.
pub(crate) fn rational_relations(text: &str, budget: &Budget) -> Result<Vec<Relation>, Error> {
    let parser = Parser { allows_rational: true, ..Parser::new(Tokens::of(text)?, budget) };
    parser.pieces(Parser::disjunct)
}

/// What tuples say of their dimensions; each fact is over the scope where it stands.
type Facts = Vec<Vec<BasicMap>>;

struct Parser<'a> {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// The names in scope, one per column.
    scope: Scope,
    /// All names of the text, from when a dimension has none.
    names: Option<HashSet<String>>,
    budget: &'a Budget,
    /// Where values of dimensions are quotients that are not rounded, and their divisors.
    exact: Vec<(usize, Integer)>,
    allows_rational: bool,
    /// Whether names that a quantifier binds stay columns until the one around it takes all away.
    keeps: bool,
    /// Whether this disjunct is one of rational points: the first column in scope is the scale,
    /// of which constants are multiples.
    rational: bool,
}

impl<'a> Parser<'a> {
    fn new(tokens: Tokens, budget: &'a Budget) -> Self {
        Self {
            tokens: tokens.0,
            at: 0,
            depth: 0,
            scope: Scope::default(),
            names: None,
            budget,
            exact: Vec::new(),
            allows_rational: false,
            keeps: false,
            rational: false,
        }
    }

    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// Returns the token `count` places on; the last one is the end.
    fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)].0
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

    fn column(&self) -> usize {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    fn unexpected(&self, expected: &'static str) -> Error {
        let (token, column) = &self.tokens[self.at.min(self.tokens.len() - 1)];
        let found = match token {
            Token::Name(name) => name.clone(),
            Token::Number(value) => value.to_string(),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::End => "end of text".to_owned(),
        };
        Error::Syntax { column: *column, expected: expected.into(), found }
    }

    fn name(&mut self) -> Result<String, Error> {
        let Token::Name(name) = self.peek().clone() else { return Err(self.unexpected("a name")) };
        self.at += 1;
        Ok(name)
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

    /// Reads `[parameters] -> { piece; piece }`; each piece starts with the parameters in scope.
    fn pieces<T>(
        mut self,
        piece: impl Fn(&mut Self, &[String], Facts) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.each_piece(piece)
    }

    fn each_piece<T>(
        &mut self,
        piece: impl Fn(&mut Self, &[String], Facts) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let (mut params, mut given) = self.parameters()?;
        self.need("{")?;
        // The way of the Omega calculator and of old isl: parameters between the braces.
        if params.is_empty() && self.is("Sym") && *self.ahead(1) == Token::Sign("=") {
            self.at += 2;
            params = self.distinct_names(&mut given)?;
        }
        let mut result = Vec::new();
        while !self.is("}") {
            self.scope = Scope::of(&params);
            result.push(piece(self, &params, given.clone())?);
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

    /// Reads `[n, m = 5] ->`, if it is there.
    fn parameters(&mut self) -> Result<(Vec<String>, Facts), Error> {
        let mut given = Facts::new();
        if !self.is("[") {
            return Ok((Vec::new(), given));
        }
        let names = self.distinct_names(&mut given)?;
        self.need("->")?;
        Ok((names, given))
    }

    fn distinct_names(&mut self, given: &mut Facts) -> Result<Vec<String>, Error> {
        let start = self.at;
        let names = self.tuple(given)?.dims;
        let mut seen = HashSet::with_capacity(names.len());
        if !names.iter().all(|name| seen.insert(name)) {
            self.at = start;
            return Err(self.unexpected("distinct parameters"));
        }
        Ok(names)
    }

    fn disjunct(&mut self, params: &[String], mut given: Facts) -> Result<Relation, Error> {
        let mut space = Space { params: params.to_vec(), input: None, output: Tuple::default() };
        self.rational =
            self.allows_rational && self.is("rat") && *self.ahead(1) == Token::Sign(":");
        if self.rational {
            self.at += 2;
            self.scope.prepend(SCALE);
            space.params.insert(0, SCALE.to_owned());
            given.iter_mut().flatten().for_each(|part| *part = cone(part));
        }
        if self.is(":") {
            space.output = Tuple::params();
        } else {
            space.output = self.tuple(&mut given)?;
            if self.eat("->") {
                space.input = Some(space.output);
                space.output = self.tuple(&mut given)?;
            }
        }
        let parts = self.condition(given)?;
        Ok(Relation::new(space, parts))
    }

    /// Reads what follows the tuples, and adds what they say themselves.
    fn condition(&mut self, given: Facts) -> Result<Vec<BasicMap>, Error> {
        let dims = self.scope.len();
        let all = if self.rational { universe(dims) } else { BasicMap::universe(dims) };
        let mut parts = vec![all];
        for fact in given {
            let widened = |part: &BasicMap| part.place(dims, &(0..part.dims).collect::<Vec<_>>());
            let fact: Vec<BasicMap> = fact.iter().map(widened).collect();
            parts = self.both(parts, &fact)?;
        }
        if self.eat(":") && !self.is(";") && !self.is("}") {
            let formula = self.formula()?;
            parts = self.both(parts, &formula)?;
        }
        if parts.len() > 1 {
            let all = std::mem::take(&mut parts);
            for part in all {
                if !part.is_empty(self.budget)? {
                    parts.push(part);
                }
            }
        }
        Ok(parts)
    }
}
