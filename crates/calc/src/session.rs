//! Statements and expressions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tangram_presburger::count::PiecewiseQuasiPolynomial;
use tangram_presburger::{Budget, Error, Union};

use crate::error::{CalcError, Fault};
use crate::operators::{BINARY, binary, power};
use crate::reader::{Token, tokens};
use crate::unary::{NAMES, unary};
use crate::value::Value;

/// Expressions nest at most this deep.
const DEPTH: usize = 200;

/// The variables of a calculation, and the limit on each statement.
#[derive(Debug, Default)]
pub struct Session {
    variables: BTreeMap<String, Value>,
    steps: Option<u64>,
    cancel: Option<Arc<AtomicBool>>,
}

impl Session {
    /// Limits each statement to `steps` elementary steps.
    pub fn with_steps(steps: u64) -> Self {
        Self { steps: Some(steps), ..Self::default() }
    }

    /// Ends the statement that runs with an error when `flag` is set.
    #[must_use]
    pub fn with_cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Returns the names that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Returns the value of a name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// Runs a program; returns what it prints, a text for each statement that prints.
    ///
    /// # Errors
    /// [`CalcError`] with the place of the first statement that fails.
    pub fn run(&mut self, program: &str) -> Result<Vec<String>, CalcError> {
        let mut lines = Vec::new();
        self.run_with(program, |value| lines.push(value.to_string()))?;
        Ok(lines)
    }

    /// Runs a program and hands on each value that it prints as soon as its statement is done.
    ///
    /// # Errors
    /// [`CalcError`] with the place of the first statement that fails.
    pub fn run_with(
        &mut self,
        program: &str,
        mut print: impl FnMut(&Value),
    ) -> Result<(), CalcError> {
        let tokens = tokens(program).map_err(|fault| fault.locate(program))?;
        let mut at = 0;
        while tokens[at].0 != Token::End {
            let budget = self.budget();
            let mut evaluator = Evaluator { session: self, tokens: &tokens, at, depth: 0, budget };
            let result = evaluator.statement();
            at = evaluator.at;
            if let Some(value) = result.map_err(|fault| fault.locate(program))? {
                print(&value);
            }
        }
        Ok(())
    }

    /// Returns what one statement may use.
    fn budget(&self) -> Budget {
        let budget = self.steps.map_or_else(Budget::unlimited, Budget::steps);
        match &self.cancel {
            Some(flag) => budget.with_cancel(flag.clone()),
            None => budget,
        }
    }
}

struct Evaluator<'a> {
    session: &'a mut Session,
    tokens: &'a [(Token, usize)],
    at: usize,
    depth: usize,
    budget: Budget,
}

impl Evaluator<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn place(&self) -> usize {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(found) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, sign: &str) -> Result<(), Fault> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            Token::Name(text) | Token::Set(text) => format!("`{text}`"),
            Token::Number(value) => format!("`{value}`"),
            Token::Text(text) => format!("`\"{text}\"`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        };
        Fault::new(self.place(), format!("expected {expected}, found {found}"))
    }

    fn statement(&mut self) -> Result<Option<Value>, Fault> {
        if self.eat(";") {
            return Ok(None);
        }
        let assigned = match (self.peek(), self.tokens.get(self.at + 1)) {
            (Token::Name(name), Some((Token::Sign(":="), _))) => Some(name.clone()),
            _ => None,
        };
        if let Some(name) = assigned {
            if NAMES.iter().any(|(known, _)| *known == name) {
                return Err(self.unexpected("a name that is not an operator"));
            }
            self.at += 2;
            let value = self.expression()?;
            self.need(";")?;
            self.session.variables.insert(name, value);
            return Ok(None);
        }
        let place = self.place();
        if matches!(self.peek(), Token::Name(name) if name == "assert") {
            self.at += 1;
            let value = self.expression()?;
            self.need(";")?;
            return match value {
                Value::Bool(true) => Ok(None),
                Value::Bool(false) => Err(Fault::new(place, "the assertion does not hold")),
                other => {
                    Err(Fault::new(place, format!("expected a bool, found a {}", other.kind())))
                }
            };
        }
        if matches!(self.peek(), Token::Name(name) if name == "print") {
            self.at += 1;
        }
        let value = self.expression()?;
        self.need(";")?;
        Ok(Some(value))
    }

    fn expression(&mut self) -> Result<Value, Fault> {
        let mut left = self.operand()?;
        loop {
            let place = self.place();
            let operator = match self.peek() {
                Token::Sign(sign) => BINARY.iter().find(|known| *known == sign),
                Token::Name(name) => BINARY.iter().find(|known| *known == name),
                _ => None,
            };
            let Some(operator) = operator else { return Ok(left) };
            self.at += 1;
            let right = self.operand()?;
            left = binary(operator, &left, &right, &self.budget).map_err(|e| e.at(place))?;
        }
    }

    fn operand(&mut self) -> Result<Value, Fault> {
        if self.depth == DEPTH {
            return Err(self.unexpected("less nesting"));
        }
        self.depth += 1;
        let value = self.prefixed();
        self.depth -= 1;
        value
    }

    fn prefixed(&mut self) -> Result<Value, Fault> {
        let place = self.place();
        let name = match self.peek() {
            Token::Name(name) => NAMES.iter().map(|(known, _)| *known).find(|known| known == name),
            _ => None,
        };
        let value = match name {
            Some(name) if !self.session.variables.contains_key(name) => {
                self.at += 1;
                let argument = self.operand()?;
                return unary(name, argument, &self.budget).map_err(|e| e.at(place));
            }
            _ => self.primary()?,
        };
        self.postfixed(value)
    }

    fn primary(&mut self) -> Result<Value, Fault> {
        let place = self.place();
        let token = self.peek().clone();
        self.at += 1;
        match token {
            Token::Number(value) => Ok(Value::Int(value)),
            Token::Text(text) => Ok(Value::Text(text)),
            Token::Set(text) => {
                literal(&text, &self.budget).map_err(|error| Fault::of(place, Some(&text), &error))
            }
            Token::Name(name) if name == "True" => Ok(Value::Bool(true)),
            Token::Name(name) if name == "False" => Ok(Value::Bool(false)),
            Token::Name(name) if self.session.variables.contains_key(&name) => {
                Ok(self.session.variables[&name].clone())
            }
            Token::Sign("-") => match self.operand()? {
                Value::Int(value) => Ok(Value::Int(value.wrapping_neg())),
                other => {
                    Err(Fault::new(place, format!("expected an int, found a {}", other.kind())))
                }
            },
            Token::Sign("(") => self.parenthesis(),
            _ => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// Reads a value in parentheses, or a list of several.
    fn parenthesis(&mut self) -> Result<Value, Fault> {
        let mut items = vec![self.expression()?];
        while self.eat(",") {
            items.push(self.expression()?);
        }
        self.need(")")?;
        Ok(if items.len() > 1 { Value::List(items) } else { items.swap_remove(0) })
    }

    fn postfixed(&mut self, mut value: Value) -> Result<Value, Fault> {
        loop {
            let place = self.place();
            if self.eat("^-1") {
                value = unary("inverse", value, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("^+") {
                value = unary("closure", value, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("^") {
                let Token::Number(exponent) = *self.peek() else {
                    return Err(self.unexpected("a number"));
                };
                self.at += 1;
                value = power(&value, exponent, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("(") {
                let argument = self.parenthesis()?;
                value = binary("()", &value, &argument, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("[") {
                let index = self.expression()?;
                self.need("]")?;
                value = element(value, &index).ok_or_else(|| {
                    Fault::new(place, "expected a list and an index of it".to_owned())
                })?;
            } else {
                return Ok(value);
            }
        }
    }
}

/// Reads a set, a relation or, where the text is neither, a quasi-polynomial.
fn literal(text: &str, budget: &Budget) -> Result<Value, Error> {
    match Union::parse(text, budget) {
        Err(error @ Error::Syntax { .. }) => PiecewiseQuasiPolynomial::parse(text, budget)
            .map(|function| Value::Counts(vec![function]))
            .map_err(|_| error),
        result => result.map(Value::Union),
    }
}

fn element(list: Value, index: &Value) -> Option<Value> {
    match (list, index) {
        (Value::List(items), Value::Int(index)) => {
            items.into_iter().nth(usize::try_from(*index).ok()?)
        }
        _ => None,
    }
}
