//! Parsing MLIR's text into a module; errors are collected, each with its place.
//!
//! One pass over the bytes, one token of look-ahead. Operations and regions are read with a stack
//! of open regions; types and attributes by recursion that stops at [`MAX_DEPTH`]. Text in which
//! they nest deeper than [`SHALLOW`] is read again, by a thread whose stack is made for that.
//! After an error in an operation reading goes on with the next one, so that one run reports many
//! errors.

mod affine;
mod aliases;
mod attrs;
mod blocks;
mod custom;
mod dense;
mod directives;
mod flags;
mod functions;
mod grids;
mod lexer;
mod locs;
mod loops;
mod memo;
mod names;
mod opaque;
mod operations;
mod record;
mod resources;
mod rules;
mod strings;
mod texts;
mod types;
mod values;
mod vectors;
mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tangram_affine::AffineExprs;

use crate::attributes::Attr;
use crate::context::{Context, Str};
use crate::diagnostic::Diagnostic;
use crate::location::{Loc, LocData, line_starts};
use crate::module::Module;
use crate::text::occurrences::Occurrences;
use crate::types::Type;
use lexer::{Kind, Token};
use values::Values;

/// How deep types and attributes may nest.
const MAX_DEPTH: u32 = 10_000;
/// How deep they may nest on the stack of any thread.
const SHALLOW: u32 = 100;
/// The code of the error where they nest deeper.
const TOO_DEEP: &str = "nested-too-deeply";
/// What a level takes of the stack: several times what was measured without optimisation.
const STACK_PER_LEVEL: usize = 16 << 10;
/// After this many errors reading stops.
const MAX_ERRORS: usize = 100;

/// Reads a module; `file_name` stands in the locations. Operations are in generic form or, where
/// their definition has an assembly format, in that.
///
/// Operations that are not registered are accepted. What stands at the top without a
/// `builtin.module` around it goes into one.
///
/// # Errors
/// What is wrong with the text, each with its place, in order.
pub fn parse(
    text: &str,
    file_name: &str,
    context: Arc<Context>,
) -> Result<Module, Vec<Diagnostic>> {
    parse_as(text, file_name, context, false).0
}

/// As [`parse`], and says where names stand, also in a text with errors.
pub fn parse_with_occurrences(
    text: &str,
    file_name: &str,
    context: Arc<Context>,
) -> (Result<Module, Vec<Diagnostic>>, Occurrences) {
    parse_as(text, file_name, context, true)
}

/// Returns the byte behind the token that starts at byte `at`, on its line.
pub fn token_end(text: &str, at: usize) -> usize {
    let token = lexer::next(text.as_bytes(), at);
    if token.start as usize == at { token.end as usize } else { at }
}

fn parse_as(text: &str, file_name: &str, context: Arc<Context>, recorded: bool) -> Read {
    let file = context.str(file_name);
    if u32::try_from(text.len()).is_err() {
        let loc = context.loc(LocData::File { file, line: 1, column: 1 });
        let message = format!("expected at most 4 GiB of text, found {} bytes", text.len());
        let errors = vec![Diagnostic::error("text-too-big", loc, message)];
        return (Err(errors), Occurrences::default());
    }
    let first = read(text, file, context.clone(), (SHALLOW, recorded));
    let too_deep = |errors: &Vec<Diagnostic>| errors.iter().any(|error| error.code == TOO_DEEP);
    if !first.0.as_ref().is_err_and(too_deep) {
        return first;
    }
    let stack = (bracket_depth(text).min(MAX_DEPTH) as usize + 64) * STACK_PER_LEVEL;
    let second = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(stack);
        let reader =
            builder.spawn_scoped(scope, || read(text, file, context, (MAX_DEPTH, recorded)));
        reader.ok()?.join().ok()
    });
    // Where there are no threads, or not that much memory, less can be read.
    second.unwrap_or(first)
}

/// A module or what is wrong with its text, and where names stand.
type Read = (Result<Module, Vec<Diagnostic>>, Occurrences);

/// Reads a module in which types and attributes nest at most `max_depth` deep. `recorded`: whether
/// someone asks where names stand.
fn read(text: &str, file: Str, context: Arc<Context>, (max_depth, recorded): (u32, bool)) -> Read {
    let mut module = Module::new(context);
    let context = module.context_arc().clone();
    let mut parser = Parser::new(text, file, &context, &mut module);
    parser.max_depth = max_depth;
    parser.record = recorded.then(Box::default);
    parser.file();
    let mut errors = std::mem::take(&mut parser.errors);
    let record = parser.record.take();
    drop(parser);
    let occurrences = record.map(|record| record.finish(&module)).unwrap_or_default();
    if errors.is_empty() {
        return (Ok(module), occurrences);
    }
    errors.sort_by_key(|&(at, _)| at);
    (Err(errors.into_iter().map(|(_, error)| error).collect()), occurrences)
}

/// At least how deep brackets stand inside each other; those in strings and comments count.
fn bracket_depth(text: &str) -> u32 {
    let (mut depth, mut most, mut before) = (0u32, 0, b' ');
    let bytes = text.as_bytes();
    for (i, &byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'[' | b'(' | b'{' => {
                depth = depth.saturating_add(1);
                most = most.max(depth);
            }
            // An arrow or a comparison closes nothing.
            b'>' if before == b'-' || bytes.get(i + 1) == Some(&b'=') => {}
            b'>' | b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = byte;
    }
    most
}

/// Says that an error has been reported.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// The state of reading one text.
struct Parser<'a> {
    text: &'a str,
    src: &'a [u8],
    token: Token,
    file: Str,
    context: &'a Context,
    module: &'a mut Module,
    errors: Vec<(u32, Diagnostic)>,
    depth: u32,
    max_depth: u32,
    aliases: aliases::Aliases<'a>,
    /// Whose location is an alias that is defined further down.
    late_locs: Vec<(locs::Located, Token)>,
    values: Values<'a>,
    /// The number of the first byte of the text, among those of the context.
    base: Option<u32>,
    /// Where lines start; only where `base` is missing.
    lines: Option<Box<[u32]>>,
    registered: FxHashMap<&'a str, bool>,
    /// Whether a dialect has operations that are known.
    dialects: FxHashMap<&'a str, bool>,
    memo: memo::Memo<'a>,
    /// The integers that were read, by size, sign and type.
    numbers: FxHashMap<(u64, bool, Type), Attr>,
    /// The map of each number of dimensions to themselves.
    identities: Vec<Attr>,
    /// Where affine expressions are made.
    affine_exprs: AffineExprs,
    /// The operations that words named.
    named: words::Words<'a>,
    /// The names of attributes that the formats say, by where their text is.
    attr_names: FxHashMap<(usize, usize), Str>,
    /// The attributes that definitions give as defaults.
    defaults: FxHashMap<&'static str, Attr>,
    /// What was read of operations that are made: its memory is used again.
    #[expect(clippy::vec_box, reason = "the boxes go to operations that are read, and come back")]
    drafts: Vec<Box<custom::Draft<'a>>>,
    /// Memory for the arguments of a region.
    region_args: Vec<(Token, Type)>,
    /// Where names stand, if someone asks.
    record: Option<Box<record::Record>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: Str, context: &'a Context, module: &'a mut Module) -> Self {
        let src = text.as_bytes();
        Parser {
            text,
            src,
            token: lexer::next(src, 0),
            file,
            context,
            module,
            errors: Vec::new(),
            depth: 0,
            max_depth: SHALLOW,
            aliases: aliases::Aliases::default(),
            late_locs: Vec::new(),
            named: words::Words::default(),
            attr_names: FxHashMap::default(),
            defaults: FxHashMap::default(),
            drafts: Vec::new(),
            region_args: Vec::new(),
            record: None,
            values: Values::default(),
            base: context.add_source(file, text),
            lines: None,
            registered: FxHashMap::default(),
            dialects: FxHashMap::default(),
            memo: memo::Memo::default(),
            identities: Vec::new(),
            numbers: FxHashMap::default(),
            affine_exprs: AffineExprs::new(),
        }
    }
}

/// Tokens.
impl<'a> Parser<'a> {
    /// The text of `token`.
    fn spelling(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// Takes the current token.
    fn take(&mut self) -> Token {
        let token = self.token;
        self.token = lexer::next(self.src, token.end as usize);
        token
    }

    /// Goes on reading at byte `at`.
    fn jump(&mut self, at: usize) {
        self.token = lexer::next(self.src, at);
    }

    fn is(&self, punct: u8) -> bool {
        self.token.kind == Kind::Punct(punct)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.spelling(self.token) == word
    }

    /// Takes `punct` if it is next.
    fn accept(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.take();
        }
        found
    }

    /// Takes the word `word` if it is next.
    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, punct: u8, context: &str) -> Parsed<Token> {
        if self.is(punct) {
            return Ok(self.take());
        }
        self.unexpected(&format!("`{}` {context}", char::from(punct)))
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`")) }
    }

    fn expect_kind(&mut self, kind: Kind, what: &str) -> Parsed<Token> {
        if self.token.kind == kind { Ok(self.take()) } else { self.unexpected(what) }
    }

    /// Returns whether the byte after the current token is `b`, with no space between.
    fn touches(&self, b: u8) -> bool {
        self.src.get(self.token.end as usize) == Some(&b)
    }

    /// Reads `item`s separated by commas up to `close`, which is taken.
    fn list(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.accept(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.accept(close) {
                return Ok(());
            }
            if !self.accept(b',') {
                return self.unexpected(&format!("`,` or `{}`", char::from(close)));
            }
        }
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.max_depth {
            let (at, most) = (self.token, self.max_depth);
            return self.error(
                at,
                TOO_DEEP,
                format!(
                    "expected at most {most} types or attributes inside each other, found more"
                ),
            );
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// Errors and places.
impl Parser<'_> {
    /// Reports an error at `token`.
    fn error<T>(&mut self, token: Token, code: &'static str, message: String) -> Parsed<T> {
        if self.errors.len() < MAX_ERRORS {
            let loc = self.place(token.start);
            self.errors.push((token.start, Diagnostic::error(code, loc, message)));
        }
        Err(Failed)
    }

    /// Reports that something else was expected where the current token stands.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.token;
        let found = match token.kind {
            Kind::Eof => "the end of the text".to_string(),
            Kind::Bad if self.src.get(token.start as usize) == Some(&b'"') => {
                "a string without end".to_string()
            }
            _ => {
                let text: String = self.spelling(token).chars().take(40).collect();
                format!("`{text}`")
            }
        };
        self.error(token, "syntax", format!("expected {expected}, found {found}"))
    }

    /// The location of byte `at`.
    fn place(&mut self, at: u32) -> Loc {
        match self.base {
            Some(base) => Loc::at_position(base + at),
            None => self.counted_place(at),
        }
    }

    /// The same, where no position numbers are left.
    fn counted_place(&mut self, at: u32) -> Loc {
        let src = self.src;
        let lines = self.lines.get_or_insert_with(|| line_starts(src));
        let line = lines.partition_point(|&start| start <= at);
        let start = lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let (line, column) = (line as u32, at - start + 1);
        self.context.loc(LocData::File { file: self.file, line, column })
    }
}
