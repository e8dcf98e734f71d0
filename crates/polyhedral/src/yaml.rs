//! Documents of nested maps, lists and texts, as isl writes them.
//!
//! isl also allows sets and relations without quotes, `sink: { S[i] -> A[i] }`, which
//! YAML reads as something else; these are quoted first.

use saphyr_parser::{Event, Marker, Parser};

use crate::Error;

/// A parsed document: an arena of values; the root is [`Document::root`].
pub(crate) struct Document {
    values: Vec<Value>,
    /// The lines of the text as it was given.
    lines: Vec<String>,
}

/// A value with its place, from 1.
pub(crate) struct Value {
    pub line: usize,
    pub column: usize,
    /// Line and column of the key in front of it, from 1.
    pub key: Option<(usize, usize)>,
    pub kind: Kind,
}

/// What a value is; children are positions in the document.
pub(crate) enum Kind {
    Text(String),
    List(Vec<usize>),
    Map(Vec<(String, usize)>),
}

impl Document {
    /// Parses one document. Nesting costs heap, not stack.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let quoted = quote_bare(text);
        let mut builder = Builder { values: Vec::new(), open: Vec::new(), keys: Vec::new() };
        for event in Parser::new_from_str(&quoted) {
            let (event, span) = event.map_err(|error| Error::Structure {
                line: error.marker().line(),
                column: error.marker().col() + 1,
                expected: "a YAML document",
                found: error.info().to_owned(),
            })?;
            builder.take(event, span.start)?;
        }
        if builder.values.is_empty() {
            return Err(wrong(&Marker::new(0, 1, 0), "a document", "nothing"));
        }
        Ok(Self { values: builder.values, lines: text.lines().map(str::to_owned).collect() })
    }

    pub fn root(&self) -> usize {
        0
    }

    pub fn value(&self, index: usize) -> &Value {
        &self.values[index]
    }

    /// Returns the entries of a map.
    pub fn entries(&self, index: usize) -> Result<&[(String, usize)], Error> {
        match &self.value(index).kind {
            Kind::Map(entries) => Ok(entries),
            _ => Err(self.wrong(index, "a map of keys to values")),
        }
    }

    pub fn items(&self, index: usize) -> Result<&[usize], Error> {
        match &self.value(index).kind {
            Kind::List(items) => Ok(items),
            _ => Err(self.wrong(index, "a list")),
        }
    }

    pub fn text(&self, index: usize) -> Result<&str, Error> {
        match &self.value(index).kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.wrong(index, "a text")),
        }
    }

    /// Returns the column of a character, counted from 1, of a text; that of the text itself if
    /// it goes on in other lines.
    pub fn column_in(&self, index: usize, at: usize) -> usize {
        let Value { line, column, .. } = self.value(index);
        let rest = self.lines.get(line - 1).map_or("", |line| line).chars().skip(column - 1);
        let rest: Vec<char> = rest.collect();
        let quotes = usize::from(matches!(rest.first(), Some('"' | '\'')));
        if rest.len() < quotes + at { *column } else { column + quotes + at - 1 }
    }

    /// Makes the error that names a key that means nothing and those that do.
    pub fn unknown_key(&self, found: &str, index: usize, known: &'static [&'static str]) -> Error {
        let value = self.value(index);
        let (line, column) = value.key.unwrap_or((value.line, value.column));
        Error::Key { line, column, found: found.to_owned(), known }
    }

    /// Makes the error that says what belongs in the place of a value.
    pub fn wrong(&self, index: usize, expected: &'static str) -> Error {
        let value = self.value(index);
        let found = match &value.kind {
            Kind::Text(text) => text.clone(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(entries) => {
                entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(", ")
            }
        };
        Error::Structure { line: value.line, column: value.column, expected, found }
    }
}

/// A key with its line and column, from 1.
type Key = (String, usize, usize);

struct Builder {
    values: Vec<Value>,
    /// Lists and maps that are not closed yet.
    open: Vec<usize>,
    /// For each open value, the key whose value comes next.
    keys: Vec<Option<Key>>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<(), Error> {
        match event {
            Event::Alias(_) => Err(wrong(&at, "a value", "an alias")),
            Event::Scalar(text, ..) => {
                if let Some((Kind::Map(_), key @ None)) = self.innermost() {
                    *key = Some((text.into_owned(), at.line(), at.col() + 1));
                    return Ok(());
                }
                self.push(Kind::Text(text.into_owned()), &at).map(|_| ())
            }
            Event::SequenceStart(..) => self.open(Kind::List(Vec::new()), &at),
            Event::MappingStart(..) => self.open(Kind::Map(Vec::new()), &at),
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                self.keys.pop();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn innermost(&mut self) -> Option<(&mut Kind, &mut Option<Key>)> {
        let index = *self.open.last()?;
        Some((&mut self.values[index].kind, self.keys.last_mut()?))
    }

    fn open(&mut self, kind: Kind, at: &Marker) -> Result<(), Error> {
        let index = self.push(kind, at)?;
        self.open.push(index);
        self.keys.push(None);
        Ok(())
    }

    fn push(&mut self, kind: Kind, at: &Marker) -> Result<usize, Error> {
        let index = self.values.len();
        let mut place = None;
        match self.innermost() {
            Some((Kind::List(items), _)) => items.push(index),
            Some((Kind::Map(entries), key)) => match key.take() {
                Some((key, line, column)) => {
                    entries.push((key, index));
                    place = Some((line, column));
                }
                None => return Err(wrong(at, "a key", "a list or map")),
            },
            Some((Kind::Text(_), _)) => {}
            None if index > 0 => return Err(wrong(at, "one document", "another")),
            None => {}
        }
        self.values.push(Value { line: at.line(), column: at.col() + 1, key: place, kind });
        Ok(index)
    }
}

fn wrong(at: &Marker, expected: &'static str, found: &str) -> Error {
    Error::Structure { line: at.line(), column: at.col() + 1, expected, found: found.to_owned() }
}

/// Quotes values that are sets or relations in isl's notation.
///
/// A value may go on over several lines, until its braces close; these become one line, with
/// as many empty lines behind it.
fn quote_bare(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        // YAML refuses tabs that isl reads as space, in the second line of a long text.
        let indent = line.len() - line.trim_start().len();
        let mut line = line[..indent].replace('\t', "        ") + &line[indent..];
        let mut joined = 0;
        if awaits_value(&line) && lines.peek().is_some_and(|next| opens_bare(next)) {
            line = format!("{} {}", line.trim_end(), lines.next().unwrap_or_default().trim());
            joined += 1;
        }
        if let Some(start) = bare_value(&line) {
            while is_open(&line[start..])
                && let Some(next) = lines.next()
            {
                line = format!("{} {}", line.trim_end(), next.trim());
                joined += 1;
            }
            let (head, value) = line.split_at(start);
            quoted.push_str(&format!("{head}\"{}\"", value.trim_end()));
        } else {
            quoted.push_str(&line);
        }
        quoted.extend(std::iter::repeat_n('\n', 1 + joined));
    }
    quoted
}

/// Whether a line is the key of a set or relation alone.
fn awaits_value(line: &str) -> bool {
    let key = line.trim().strip_suffix(':').unwrap_or_default();
    let key = key.trim_start_matches("- ").trim();
    !["", "child", "coincident", "sequence", "set"].contains(&key)
        && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

fn opens_bare(line: &str) -> bool {
    line.trim_start().starts_with(['{', '[']) && !line.contains('"')
}

/// Whether braces are still to come or to close.
fn is_open(value: &str) -> bool {
    let count = |c| value.matches(c).count();
    count('{') != count('}') || count('{') == 0
}

/// Finds where an unquoted set or relation starts in a line `key: value`.
fn bare_value(line: &str) -> Option<usize> {
    let (key, value) = line.split_once(':')?;
    let start = line.len() - value.trim_start().len();
    (awaits_value(&format!("{key}:")) && opens_bare(value)).then_some(start)
}
