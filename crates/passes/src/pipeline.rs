//! MLIR's syntax for pipelines: `builtin.module(func.func(canonicalize{top-down=false},cse))`.
//!
//! A name with brackets runs what stands in them on each operation of that name directly below;
//! `any` stands for every name. A name without is a pass; options stand in braces, separated by
//! spaces, as `name=value`; a value with spaces or commas stands in quotes or braces.

use std::fmt;

/// How deep pipelines may nest.
const MAX_DEPTH: usize = 64;

/// Passes, and pipelines inside, in the order in which they run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// The name of the operations that it runs on; `any` for all.
    pub anchor: String,
    /// What runs.
    pub items: Vec<Item>,
}

/// A part of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A pass.
    Pass {
        /// Its name.
        name: String,
        /// Its options, in their order.
        options: Vec<(String, String)>,
        /// Where its name starts in the text of the pipeline, in bytes.
        at: usize,
    },
    /// A pipeline for operations inside.
    Nested(Pipeline),
}

/// What is wrong with the text of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}\n  {text}\n  {caret:>width$}", caret = "^", width = .at + 1)]
pub struct PipelineError {
    /// The text.
    pub text: String,
    /// The byte where it is wrong.
    pub at: usize,
    /// What was expected and found.
    pub message: String,
}

impl Pipeline {
    /// Reads a pipeline. A list of passes without an operation around it runs on
    /// `builtin.module`.
    ///
    /// # Errors
    /// If the text is none, with the place.
    pub fn parse(text: &str) -> Result<Pipeline, PipelineError> {
        let mut parser = Parser { text, at: 0 };
        let mut items = parser.items(0)?;
        if parser.at < text.len() {
            return Err(parser.error("expected `,` or the end"));
        }
        match items.pop() {
            Some(Item::Nested(one)) if items.is_empty() && is_root(&one.anchor) => Ok(one),
            Some(last) => {
                items.push(last);
                Ok(Pipeline { anchor: "builtin.module".into(), items })
            }
            None => Ok(Pipeline { anchor: "builtin.module".into(), items }),
        }
    }
}

fn is_root(anchor: &str) -> bool {
    matches!(anchor, "builtin.module" | "any")
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (i, item) in self.items.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match item {
                Item::Nested(pipeline) => write!(f, "{pipeline}")?,
                Item::Pass { name, options, .. } => {
                    f.write_str(name)?;
                    if !options.is_empty() {
                        let options: Vec<String> =
                            options.iter().map(|(key, value)| option_text(key, value)).collect();
                        write!(f, "{{{}}}", options.join(" "))?;
                    }
                }
            }
        }
        f.write_str(")")
    }
}

fn option_text(key: &str, value: &str) -> String {
    match value.contains([' ', '}', '{']) {
        true => format!("{key}={{{value}}}"),
        false => format!("{key}={value}"),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> PipelineError {
        let found = match self.text[self.at..].chars().next() {
            Some(c) => format!(", found `{c}`"),
            None => ", found the end".into(),
        };
        let message = message.into() + &found;
        PipelineError { text: self.text.into(), at: self.at, message }
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn accept(&mut self, c: char) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(c);
        self.at += usize::from(found);
        found
    }

    /// Takes all up to a character that `end` knows.
    fn until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(end).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Item>, PipelineError> {
        let mut items = Vec::new();
        self.space();
        if self.at == self.text.len() || self.text[self.at..].starts_with(')') {
            return Ok(items);
        }
        loop {
            items.push(self.item(depth)?);
            if !self.accept(',') {
                self.space();
                return Ok(items);
            }
        }
    }

    fn item(&mut self, depth: usize) -> Result<Item, PipelineError> {
        self.space();
        let at = self.at;
        let name = self.until(|c| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
        if name.is_empty() {
            return Err(self.error("expected the name of a pass or operation"));
        }
        if self.accept('(') {
            if depth >= MAX_DEPTH {
                return Err(self.error(format!("expected at most {MAX_DEPTH} pipelines inside")));
            }
            let items = self.items(depth + 1)?;
            if !self.accept(')') {
                return Err(self.error("expected `,` or `)`"));
            }
            return Ok(Item::Nested(Pipeline { anchor: name.into(), items }));
        }
        let options = if self.accept('{') { self.options()? } else { Vec::new() };
        Ok(Item::Pass { name: name.into(), options, at })
    }

    fn options(&mut self) -> Result<Vec<(String, String)>, PipelineError> {
        let mut options = Vec::new();
        loop {
            if self.accept('}') {
                return Ok(options);
            }
            let key = self.until(|c| c.is_whitespace() || matches!(c, '=' | '}' | '{'));
            if key.is_empty() {
                return Err(self.error("expected the name of an option or `}`"));
            }
            let value = if self.accept('=') { self.value()? } else { "true" };
            options.push((key.into(), value.into()));
        }
    }

    fn value(&mut self) -> Result<&'a str, PipelineError> {
        for (open, close) in [('"', '"'), ('\'', '\''), ('{', '}')] {
            if self.text[self.at..].starts_with(open) {
                self.at += 1;
                let value = self.until(|c| c == close);
                if !self.accept(close) {
                    return Err(self.error(format!("expected `{close}`")));
                }
                return Ok(value);
            }
        }
        Ok(self.until(|c| c.is_whitespace() || c == '}'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_printed() {
        for (text, printed) in [
            ("canonicalize", "builtin.module(canonicalize)"),
            ("cse , canonicalize", "builtin.module(cse,canonicalize)"),
            (
                "builtin.module( func.func(cse,canonicalize{ top-down=false x={a b} }), inline)",
                "builtin.module(func.func(cse,canonicalize{top-down=false x={a b}}),inline)",
            ),
            ("func.func(cse)", "builtin.module(func.func(cse))"),
            ("any(cse)", "any(cse)"),
            ("builtin.module()", "builtin.module()"),
            ("", "builtin.module()"),
        ] {
            let pipeline = Pipeline::parse(text).expect("a pipeline");
            assert_eq!(pipeline.to_string(), printed);
            assert_eq!(Pipeline::parse(printed).expect("a pipeline").to_string(), printed);
        }
    }

    #[test]
    fn what_is_wrong_is_shown() {
        for (text, at, part) in [
            ("cse,,cse", 4, "expected the name of a pass"),
            ("func.func(cse", 13, "expected `,` or `)`, found the end"),
            ("cse)", 3, "expected `,` or the end, found `)`"),
            ("cse{a=1", 7, "expected the name of an option or `}`, found the end"),
            ("cse{a='1}", 9, "expected `'`"),
            ("cse{=1}", 4, "expected the name of an option"),
        ] {
            let error = Pipeline::parse(text).expect_err("wrong");
            assert_eq!((error.at, error.message.contains(part)), (at, true), "{error}");
        }
        let deep = "any(".repeat(100);
        let error = Pipeline::parse(&deep).expect_err("too deep");
        assert!(error.message.contains("at most 64"), "{error}");
    }
}
