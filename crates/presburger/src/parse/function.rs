//! Functions: pieces whose last tuple holds expressions over the dimensions before it.

use super::token::{Token, Tokens};
use super::{Case, Facts, Parser};
use crate::basic_map::BasicMap;
use crate::{Budget, Error, Space, Tuple};

/// One piece of a function as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// Without an input tuple, a function of the parameters.
    pub space: Space,
    /// Where the piece holds, over parameters and inputs.
    pub domain: Vec<BasicMap>,
    /// The values of each output; each output has a condition of its own.
    pub outputs: Vec<Vec<Case>>,
    /// Where the text of the piece begins, in characters from 1.
    pub column: usize,
}

/// Parses the pieces of a function.
pub(crate) fn functions(tokens: Tokens, budget: &Budget) -> Result<Vec<Value>, Error> {
    Parser::new(tokens, budget).pieces(Parser::value)
}

impl Parser<'_> {
    fn value(&mut self, params: &[String], mut given: Facts) -> Result<Value, Error> {
        let column = self.tokens[self.at.min(self.tokens.len() - 1)].1;
        let mut space = Space { params: params.to_vec(), input: None, output: Tuple::default() };
        if self.has_input() {
            space.input = Some(self.tuple(&mut given)?);
            self.need("->")?;
        }
        let mut outputs = Vec::new();
        space.output = self.outputs(&mut outputs)?;
        let domain = self.condition(given)?;
        Ok(Value { space, domain, outputs, column })
    }

    /// Returns whether `->` follows the tuple that starts here.
    fn has_input(&self) -> bool {
        let mut open = 0_usize;
        for (index, (token, _)) in self.tokens[self.at..].iter().enumerate() {
            match token {
                Token::Sign("[") => open += 1,
                Token::Sign("]") => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return *self.ahead(index + 1) == Token::Sign("->");
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn outputs(&mut self, values: &mut Vec<Vec<Case>>) -> Result<Tuple, Error> {
        let name = if self.is("[") { String::new() } else { self.name()? };
        self.need("[")?;
        if self.starts_tuple() {
            let (left, right) = self.deeper(|parser| {
                let left = parser.outputs(values)?;
                parser.need("->")?;
                Ok((left, parser.outputs(values)?))
            })?;
            self.need("]")?;
            return Ok(Tuple { name, ..Tuple::wrapping(left, right) });
        }
        let mut dims = Vec::new();
        while !self.is("]") {
            if !dims.is_empty() {
                self.need(",")?;
            }
            let named = match self.peek().clone() {
                Token::Name(name) if *self.ahead(1) == Token::Sign("=") => Some(name),
                _ => None,
            };
            self.at += 2 * usize::from(named.is_some());
            dims.push(named.unwrap_or_else(|| format!("o{}", values.len())));
            values.push(self.output()?);
        }
        self.need("]")?;
        Ok(Tuple::new(name, dims))
    }

    /// Reads an expression, perhaps by pieces.
    fn output(&mut self) -> Result<Vec<Case>, Error> {
        if self.starts_pieces() { self.value_by_pieces() } else { self.extended()?.cases() }
    }
}
