//! Reading steps: a name and operands, each with its place.

use crate::Error;

/// A step with its place, from 1.
#[derive(Debug, Clone)]
pub(super) struct ScriptStep {
    pub line: usize,
    pub column: usize,
    pub name: String,
    pub operands: Vec<Operand>,
}

/// An operand with its place, from 1.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub line: usize,
    pub column: usize,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Number(i128),
    Name(String),
    /// A set or map, or what stood between quotes.
    Text(String),
}

/// Characters with their places.
struct Reader<'a> {
    left: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    column: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.left.next()?;
        if c == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn wrong(&self, expected: &'static str, found: impl Into<String>) -> Error {
        let (line, column) = (self.line, self.column);
        Error::Structure { line, column, expected, found: found.into() }
    }

    /// Reads the text up to a quote, which may go over several lines; two quotes stand for one.
    fn quoted(&mut self, quote: char) -> Result<String, Error> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some(c) if c == quote => match self.left.peek() {
                    Some(next) if *next == quote => text.extend(self.next()),
                    _ => return Ok(text),
                },
                Some(c) => text.push(c),
                None => return Err(self.wrong("a quote that ends the text", "the end")),
            }
        }
    }

    /// Reads a set or map, `[n] -> { .. }`, up to the brace that closes it.
    fn braced(&mut self, first: char) -> Result<String, Error> {
        let (mut text, mut depth) = (String::from(first), usize::from(first == '{'));
        loop {
            let Some(c) = self.next() else {
                return Err(self.wrong("a `}` that ends the set or map", "the end"));
            };
            text.push(c);
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return Ok(text),
                '}' => depth -= 1,
                _ => {}
            }
        }
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::from(first);
        while let Some(c) = self.left.peek().copied() {
            if c.is_whitespace() || ";,#\"'".contains(c) {
                break;
            }
            word.push(c);
            self.next();
        }
        word
    }
}

/// Cuts a text into steps.
pub(super) fn steps(text: &str) -> Result<Vec<ScriptStep>, Error> {
    let mut reader = Reader { left: text.chars().peekable(), line: 1, column: 1 };
    let (mut steps, mut open): (Vec<ScriptStep>, Option<ScriptStep>) = (Vec::new(), None);
    loop {
        let (line, column) = (reader.line, reader.column);
        let Some(c) = reader.next() else { break };
        let value = match c {
            '\n' | ';' => {
                steps.extend(open.take());
                continue;
            }
            '#' => {
                while reader.left.peek().is_some_and(|c| *c != '\n') {
                    reader.next();
                }
                continue;
            }
            ',' => continue,
            c if c.is_whitespace() => continue,
            '"' | '\'' => Value::Text(reader.quoted(c)?),
            '{' | '[' => Value::Text(reader.braced(c)?),
            c => {
                let word = reader.word(c);
                word.parse().map_or(Value::Name(word), Value::Number)
            }
        };
        match (&mut open, value) {
            (Some(step), value) => step.operands.push(Operand { line, column, value }),
            (None, Value::Name(name)) => {
                open = Some(ScriptStep { line, column, name, operands: Vec::new() });
            }
            (None, Value::Number(number)) => {
                let found = number.to_string();
                return Err(Error::Structure {
                    line,
                    column,
                    expected: "the name of a step",
                    found,
                });
            }
            (None, Value::Text(found)) => {
                return Err(Error::Structure {
                    line,
                    column,
                    expected: "the name of a step",
                    found,
                });
            }
        }
    }
    steps.extend(open);
    Ok(steps)
}
