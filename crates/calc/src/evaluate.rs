//! Statements and expressions.

use tangram_presburger::count::{Integer, UnionPwQPolynomial, UnionPwQPolynomialFold};
use tangram_presburger::{Budget, Error, Union, exact_quotients};

use crate::error::Fault;
use crate::functions::negative;
use crate::help;
use crate::matrices;
use crate::operators::{BINARY, Failure, binary, power};
use crate::reader::Token;
use crate::session::Session;
use crate::unary::{NAMES, unary};
use crate::value::Value;

/// Expressions nest at most this deep.
const DEPTH: usize = 200;

/// Reads and runs the tokens of a program, one statement after the other.
pub(crate) struct Evaluator<'a> {
    pub session: &'a mut Session,
    pub tokens: &'a [(Token, usize)],
    pub at: usize,
    pub depth: usize,
    pub budget: Budget,
    /// What may be meant otherwise.
    pub warnings: Vec<Fault>,
}

/// What a statement asks for.
pub(crate) enum Done {
    Nothing,
    Print(Value),
    /// A value, which may get a name.
    Show(Value),
    /// A value, and the steps that it took.
    Timed(Value, u64),
    /// The name of a file to run, at a place.
    Source(String, usize),
}

impl<'a> Evaluator<'a> {
    pub fn new(
        session: &'a mut Session,
        tokens: &'a [(Token, usize)],
        at: usize,
        budget: Budget,
    ) -> Self {
        Self { session, tokens, at, depth: 0, budget, warnings: Vec::new() }
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    /// The token after the next one.
    pub fn second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn place(&self) -> usize {
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

    pub fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            Token::Name(text) | Token::Set(text) => format!("`{text}`"),
            Token::Number(value) => format!("`{value}`"),
            Token::Text(text) => format!("`\"{text}\"`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Matrices(_) => "a matrix of constraints".to_owned(),
            Token::End => "the end".to_owned(),
        };
        Fault::syntax(self.place(), format!("expected {expected}, found {found}"))
    }

    /// Runs one statement.
    pub fn statement(&mut self) -> Result<Done, Fault> {
        if self.eat(";") {
            return Ok(Done::Nothing);
        }
        let assigned = match (self.peek(), self.second()) {
            (Token::Name(name), Token::Sign(":=")) => Some(name.clone()),
            _ => None,
        };
        if let Some(name) = assigned {
            if help::is_reserved(&name) || name.starts_with('$') {
                return Err(self.unexpected("a name that is not an operator, verb or result"));
            }
            self.at += 2;
            let value = self.expression()?;
            self.need(";")?;
            self.session.assign(name, value);
            return Ok(Done::Nothing);
        }
        let place = self.place();
        let verb = match self.peek() {
            Token::Name(name) if self.session.value(name).is_none() => name.clone(),
            _ => String::new(),
        };
        match verb.as_str() {
            "assert" => {
                self.at += 1;
                self.assertion(place)
            }
            "source" => {
                self.at += 1;
                let (path, place) = self.file()?;
                self.need(";")?;
                Ok(Done::Source(path, place))
            }
            "write" => {
                self.at += 1;
                self.write()
            }
            "help" => {
                self.at += 1;
                self.help()
            }
            // A statement's picture is one of all that follows.
            "plot" => {
                self.at += 1;
                let value = self.plot(place, Self::expression)?;
                self.need(";")?;
                Ok(Done::Show(value))
            }
            "time" => {
                self.at += 1;
                let value = self.expression()?;
                self.need(";")?;
                Ok(Done::Timed(value, self.budget.used()))
            }
            _ => {
                let print = verb == "print";
                self.at += usize::from(print);
                let value = self.expression()?;
                self.need(";")?;
                Ok(if print { Done::Print(value) } else { Done::Show(value) })
            }
        }
    }

    fn assertion(&mut self, place: usize) -> Result<Done, Fault> {
        let value = self.expression()?;
        self.need(";")?;
        match value {
            Value::Bool(true) => Ok(Done::Nothing),
            Value::Bool(false) => Err(Fault::new(place, "the assertion does not hold")),
            other => {
                let message = format!("expected a boolean, found a {}", other.kind());
                Err(Fault::new(place, message))
            }
        }
    }

    /// `write "file" E;`.
    fn write(&mut self) -> Result<Done, Fault> {
        let (path, place) = self.file()?;
        let value = self.expression()?;
        self.need(";")?;
        let written = self.session.host(place)?.write(&path, &format!("{value}\n"));
        written.map_err(|message| Fault::new(place, message))?;
        Ok(Done::Nothing)
    }

    /// `help;` or `help word;`.
    fn help(&mut self) -> Result<Done, Fault> {
        let word = match self.peek() {
            Token::Name(name) | Token::Text(name) => Some(name.clone()),
            Token::Sign(";") => None,
            Token::Sign(sign) => Some((*sign).to_owned()),
            _ => return Err(self.unexpected("an operator or a verb")),
        };
        let text = match &word {
            None => help::all(),
            Some(word) => help::of(word)
                .ok_or_else(|| self.unexpected("an operator or a verb; `help;` lists them"))?,
        };
        self.at += usize::from(word.is_some());
        self.need(";")?;
        Ok(Done::Show(Value::Text(text)))
    }

    pub fn expression(&mut self) -> Result<Value, Fault> {
        let mut left = self.operand()?;
        loop {
            let place = self.place();
            let operator = match self.peek() {
                Token::Sign(sign) => BINARY.iter().find(|(known, _)| known == sign),
                Token::Name(name) => BINARY.iter().find(|(known, _)| known == name),
                _ => None,
            };
            let Some((operator, _)) = operator else { return Ok(left) };
            self.at += 1;
            let right = self.operand()?;
            left = binary(operator, left, right, &self.budget).map_err(|e| e.at(place))?;
        }
    }

    pub fn operand(&mut self) -> Result<Value, Fault> {
        if self.depth == DEPTH {
            return Err(self.unexpected("less nesting"));
        }
        self.depth += 1;
        let value = self.prefixed();
        self.depth -= 1;
        value
    }

    fn prefixed(&mut self) -> Result<Value, Fault> {
        if let Some(value) = self.verb()? {
            return Ok(value);
        }
        let place = self.place();
        let name = match self.peek() {
            Token::Name(name) => NAMES.iter().map(|(known, ..)| *known).find(|known| known == name),
            _ => None,
        };
        let value = match name {
            Some(name) if self.session.value(name).is_none() => {
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
            Token::Number(value) => Ok(Value::Number(value.into())),
            Token::Text(text) => Ok(Value::Text(text)),
            Token::Set(text) => {
                let value = literal(&text, &self.budget)
                    .map_err(|error| Fault::of(place, Some(&text), &error))?;
                self.warn_of_quotients(place, &text, &value)?;
                Ok(value)
            }
            Token::Matrices(all) => {
                let union = matrices::union(&all).map_err(|error| Failure::from(error).at(place));
                Ok(Value::Union(union?))
            }
            Token::Name(name) if name == "True" => Ok(Value::Bool(true)),
            Token::Name(name) if name == "False" => Ok(Value::Bool(false)),
            Token::Name(name) if self.session.value(&name).is_some() => {
                Ok(self.session.value(&name).cloned().unwrap_or(Value::List(Vec::new())))
            }
            Token::Sign("-") => match self.operand()? {
                Value::Number(value) => Ok(Value::Number(value.neg())),
                Value::Functions(all) => Ok(Value::Functions(negative(&all))),
                other => {
                    let message =
                        format!("expected a number or function, found a {}", other.kind());
                    Err(Fault::new(place, message))
                }
            },
            Token::Sign("(") => self.parenthesis(),
            Token::Name(name) if name.starts_with('$') => {
                let message = format!("expected a value, found `{name}`, which is no result");
                Err(Fault::new(place, message))
            }
            Token::Name(name) if !help::is_reserved(&name) => {
                let message =
                    format!("expected a value, found `{name}`; `{name} := ...;` gives it one");
                Err(Fault::new(place, message))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// Reads a value in parentheses, or a list of several.
    fn parenthesis(&mut self) -> Result<Value, Fault> {
        if self.eat(")") {
            return Ok(Value::List(Vec::new()));
        }
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
            if self.eat("^+") {
                value = unary("closure", value, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("^") {
                let exponent = self.exponent()?;
                value = power(value, &exponent, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("(") {
                let argument = self.parenthesis()?;
                value = binary("()", value, argument, &self.budget).map_err(|e| e.at(place))?;
            } else if self.eat("[") {
                let index = self.expression()?;
                self.need("]")?;
                value = element(value, &index).map_err(|message| Fault::new(place, message))?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Warns of dimensions that are quotients: few mean that only multiples have one.
    fn warn_of_quotients(&mut self, place: usize, text: &str, value: &Value) -> Result<(), Fault> {
        if !matches!(value, Value::Union(_)) || !text.contains('/') {
            return Ok(());
        }
        let found = exact_quotients(text, &self.budget)
            .map_err(|error| Fault::of(place, Some(text), &error))?;
        for (column, divisor) in found {
            let offset = text.char_indices().nth(column - 1).map_or(text.len(), |(i, _)| i);
            let message = format!(
                "a quotient is exact, so that only multiples of {divisor} have one; \
                 `floor(../{divisor})` rounds down"
            );
            self.warnings.push(Fault::new(place + offset, message));
        }
        Ok(())
    }

    /// Reads an integer behind `^`.
    fn exponent(&mut self) -> Result<Integer, Fault> {
        let negative = self.eat("-");
        let Token::Number(value) = self.peek().clone() else {
            return Err(self.unexpected("an integer or `+`"));
        };
        self.at += 1;
        Ok(if negative { value.neg() } else { value })
    }
}

/// Reads a set or a relation or, where the text is neither, a quasi-polynomial or a bound.
fn literal(text: &str, budget: &Budget) -> Result<Value, Error> {
    let union = || Union::parse(text, budget).map(Value::Union);
    let function = || UnionPwQPolynomial::parse(text, budget).map(Value::Functions);
    let bound = || UnionPwQPolynomialFold::parse(text, budget).map(Value::Bound);
    let ways: [&dyn Fn() -> Result<Value, Error>; 3] = [&union, &function, &bound];
    let mut farthest = None;
    for way in ways {
        match way() {
            Err(error @ Error::Syntax { .. }) => {
                // What is none of these was meant to be what was read farthest.
                if farthest.as_ref().is_none_or(|known| column(&error) > column(known)) {
                    farthest = Some(error);
                }
            }
            outcome => return outcome,
        }
    }
    farthest.map_or_else(union, Err)
}

/// Where an error in a text is; 0 of others.
fn column(error: &Error) -> usize {
    if let Error::Syntax { column, .. } = error { *column } else { 0 }
}

fn element(list: Value, index: &Value) -> Result<Value, String> {
    let Value::List(items) = list else {
        return Err(format!("expected a list before `[`, found a {}", list.kind()));
    };
    let count = items.len();
    let place = match index {
        Value::Number(index) => index.to_integer().and_then(|index| index.to_i64()),
        _ => None,
    };
    let item = place.and_then(|place| items.into_iter().nth(usize::try_from(place).ok()?));
    item.ok_or_else(|| format!("expected an index from 0 to {}, found {index}", count.max(1) - 1))
}
