//! Programs and the values they leave.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tangram_presburger::{Budget, USUAL_STEPS};

use crate::error::{CalcError, Fault};
use crate::evaluate::{Done, Evaluator};
use crate::host::Host;
use crate::reader::{Token, tokens};
use crate::value::Value;

/// Files run files at most this deep.
const SOURCES: usize = 20;

/// The variables of a calculation, the limit on each statement, and the files it may use.
#[derive(Debug, Default)]
pub struct Session {
    variables: BTreeMap<String, Value>,
    steps: Option<u64>,
    cancel: Option<Arc<AtomicBool>>,
    host: Option<Box<dyn Host>>,
    /// The files that are being run, outermost first, by the names they were asked for.
    sources: Vec<String>,
    /// How many results have got a name; nothing if they get none.
    results: Option<usize>,
    warnings: Vec<CalcError>,
}

/// What a statement prints.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// The name under which the value can be used again, `$0`, `$1`, ..
    pub name: Option<&'a str>,
    /// The value.
    pub value: &'a Value,
}

impl Session {
    /// Limits each statement to `steps` elementary steps; without it, to [`USUAL_STEPS`].
    pub fn with_steps(steps: u64) -> Self {
        Self { steps: Some(steps), ..Self::default() }
    }

    /// Ends the statement that runs with an error when `flag` is set.
    #[must_use]
    pub fn with_cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Names each value that an expression alone prints `$0`, `$1`, .., as a conversation wants it.
    /// Texts get no name, and `print` gives none.
    #[must_use]
    pub fn with_named_results(mut self) -> Self {
        self.results = Some(0);
        self
    }

    /// Lets programs use files.
    #[must_use]
    pub fn with_host(mut self, host: impl Host + 'static) -> Self {
        self.host = Some(Box::new(host));
        self
    }

    /// Says from which file programs come, so that one which runs that file again is refused.
    #[must_use]
    pub fn with_file(mut self, path: &str) -> Self {
        self.sources.push(path.to_owned());
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

    /// Returns what may be meant otherwise in the programs that ran since the last call.
    pub fn take_warnings(&mut self) -> Vec<CalcError> {
        std::mem::take(&mut self.warnings)
    }

    /// Runs a program; returns what it prints, a text for each statement that prints.
    ///
    /// # Errors
    /// [`CalcError`] with the place of the first statement that fails.
    pub fn run(&mut self, program: &str) -> Result<Vec<String>, CalcError> {
        let mut lines = Vec::new();
        self.run_with(program, |printed| lines.push(printed.value.to_string()))?;
        Ok(lines)
    }

    /// Runs a program and hands on each value that it prints as soon as its statement is done.
    ///
    /// # Errors
    /// [`CalcError`] with the place of the first statement that fails.
    pub fn run_with(
        &mut self,
        program: &str,
        mut print: impl FnMut(Printed<'_>),
    ) -> Result<(), CalcError> {
        self.statements(program, &mut print)
    }

    fn statements(
        &mut self,
        program: &str,
        print: &mut dyn FnMut(Printed<'_>),
    ) -> Result<(), CalcError> {
        let tokens = tokens(program).map_err(|fault| fault.locate(program))?;
        let mut at = 0;
        while tokens[at].0 != Token::End {
            let budget = self.budget();
            let mut evaluator = Evaluator::new(self, &tokens, at, budget);
            let result = evaluator.statement();
            at = evaluator.at;
            let warnings = std::mem::take(&mut evaluator.warnings);
            self.warnings.extend(warnings.into_iter().map(|fault| fault.locate(program)));
            match result.map_err(|fault| fault.locate(program))? {
                Done::Nothing => (),
                Done::Print(value) => print(Printed { name: None, value: &value }),
                Done::Show(value) => self.show(value, print),
                Done::Timed(value, steps) => {
                    self.show(value, print);
                    let steps = Value::Text(format!("{steps} steps"));
                    print(Printed { name: None, value: &steps });
                }
                Done::Source(path, place) => {
                    self.source(&path, place, print).map_err(|fault| fault.locate(program))?;
                }
            }
        }
        Ok(())
    }

    /// Prints a result, under a name if results have names.
    fn show(&mut self, value: Value, print: &mut dyn FnMut(Printed<'_>)) {
        let count = self.results.as_mut().filter(|_| !matches!(value, Value::Text(_)));
        let Some(count) = count else { return print(Printed { name: None, value: &value }) };
        let name = format!("${count}");
        *count += 1;
        print(Printed { name: Some(&name), value: &value });
        self.assign(name, value);
    }

    /// Runs a file; an error in it names its line and column.
    fn source(
        &mut self,
        path: &str,
        place: usize,
        print: &mut dyn FnMut(Printed<'_>),
    ) -> Result<(), Fault> {
        if let Some(from) = self.sources.iter().position(|running| running == path) {
            let through: Vec<_> =
                self.sources[from + 1..].iter().map(|p| format!("`{p}`")).collect();
            let by = if through.is_empty() { "" } else { ", by " };
            let message = format!("`{path}` runs itself{by}{}", through.join(" and "));
            return Err(Fault::new(place, message));
        }
        if self.sources.len() >= SOURCES {
            let message = format!("expected at most {SOURCES} files that run each other");
            return Err(Fault::new(place, message));
        }
        let text = self.host(place)?.read(path).map_err(|message| Fault::new(place, message))?;
        self.sources.push(path.to_owned());
        let outcome = self.statements(&text, print);
        self.sources.pop();
        outcome.map_err(|error| {
            let (line, column) = (error.line, error.column);
            Fault::new(place, format!("{path}:{line}:{column}: {}", error.message))
        })
    }

    /// Evaluates a text that is one expression.
    pub(crate) fn expression(&mut self, text: &str) -> Result<Value, CalcError> {
        let mut value = || {
            let tokens = tokens(text)?;
            let budget = self.budget();
            let mut evaluator = Evaluator::new(self, &tokens, 0, budget);
            let value = evaluator.expression()?;
            match evaluator.peek() {
                Token::End | Token::Sign(";") => Ok(value),
                _ => Err(evaluator.unexpected("the end")),
            }
        };
        value().map_err(|fault| fault.locate(text))
    }

    pub(crate) fn assign(&mut self, name: String, value: Value) {
        self.variables.insert(name, value);
    }

    /// Returns what reads and writes files.
    pub(crate) fn host(&self, place: usize) -> Result<&dyn Host, Fault> {
        let host = self.host.as_deref();
        host.ok_or_else(|| Fault::new(place, "files are not within reach of this session"))
    }

    /// Returns what one statement may use.
    fn budget(&self) -> Budget {
        let budget = Budget::steps(self.steps.unwrap_or(USUAL_STEPS));
        match &self.cancel {
            Some(flag) => budget.with_cancel(flag.clone()),
            None => budget,
        }
    }
}
