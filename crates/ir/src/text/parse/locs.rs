//! Parsing locations behind operations and block arguments.

use rustc_hash::FxHashSet;

use super::{Kind, Parsed, Parser, Token};
use crate::attributes::Attr;
use crate::context::Str;
use crate::location::{Loc, LocData};
use crate::module::{Op, Value};

/// What has a location.
#[derive(Clone, Copy)]
pub(super) enum Located {
    Op(Op),
    /// An argument of a block.
    Arg(Value),
}

/// A location that was read, or the alias of one that is not defined yet.
pub(super) type ReadLoc = Result<Loc, Token>;

/// A location of which an inner one is being read.
enum Outer {
    /// `loc(...)` within a location.
    Parentheses,
    /// `"name"(...)`.
    Name(Str),
    /// `callsite(... at`.
    Callee,
    /// What stands after `at`, for this callee.
    Caller(Loc),
    /// `fused<...>[..., `, with its metadata.
    Fused(Vec<Loc>, Option<Attr>),
}

impl<'a> Parser<'a> {
    /// `loc(...)`, with everything in it known already.
    pub(super) fn location(&mut self) -> Parsed<Loc> {
        self.expect_word("loc")?;
        self.expect(b'(', "after `loc`")?;
        let loc = self.location_body()?;
        self.expect(b')', "after the location")?;
        Ok(loc)
    }

    /// Reads a location after an operation or argument, if there is one, into `loc`. An alias
    /// that is not defined yet is returned.
    pub(super) fn trailing_loc(&mut self, loc: &mut Loc) -> Parsed<Option<Token>> {
        if !self.is_word("loc") {
            return Ok(None);
        }
        self.take();
        self.expect(b'(', "after `loc`")?;
        let token = self.token;
        if token.kind == Kind::Hash && !self.is_loc_alias(token) {
            self.take();
            self.expect(b')', "after the location")?;
            return Ok(Some(token));
        }
        *loc = self.location_body()?;
        self.expect(b')', "after the location")?;
        Ok(None)
    }

    /// Reads a location after an argument, if there is one.
    pub(super) fn argument_loc(&mut self) -> Parsed<Option<ReadLoc>> {
        if !self.is_word("loc") {
            return Ok(None);
        }
        let mut loc = Loc::UNKNOWN;
        Ok(Some(self.trailing_loc(&mut loc)?.map_or(Ok(loc), Err)))
    }

    /// Gives `arg` the location that was read; where none was, its place in the text, as in MLIR.
    pub(super) fn locate_argument(&mut self, arg: Value, name: Token, read: Option<ReadLoc>) {
        match read {
            Some(Ok(loc)) => self.module.set_arg_loc(arg, loc),
            Some(Err(alias)) => self.late_locs.push((Located::Arg(arg), alias)),
            None => {
                let place = self.place(name.start);
                self.module.set_arg_loc(arg, place);
            }
        }
    }

    /// Locations nest without limit, so those around the current one are kept in a stack.
    fn location_body(&mut self) -> Parsed<Loc> {
        let mut open: Vec<Outer> = Vec::new();
        loop {
            let Some(mut loc) = self.location_start(&mut open)? else { continue };
            loop {
                let Some(outer) = open.pop() else { return Ok(loc) };
                match self.location_end(outer, loc)? {
                    Ok(whole) => loc = whole,
                    Err(outer) => {
                        open.push(outer);
                        break;
                    }
                }
            }
        }
    }

    /// Reads a location that holds no others, or the start of one that does.
    fn location_start(&mut self, open: &mut Vec<Outer>) -> Parsed<Option<Loc>> {
        let token = self.token;
        match token.kind {
            Kind::String => self.place_or_name(open),
            Kind::Hash => {
                self.take();
                self.loc_alias(token).map(Some)
            }
            Kind::Word => match self.spelling(token) {
                "unknown" => {
                    self.take();
                    Ok(Some(Loc::UNKNOWN))
                }
                "fused" => self.fused(open),
                "callsite" => {
                    self.take();
                    self.expect(b'(', "after `callsite`")?;
                    open.push(Outer::Callee);
                    Ok(None)
                }
                "loc" => {
                    self.take();
                    self.expect(b'(', "after `loc`")?;
                    open.push(Outer::Parentheses);
                    Ok(None)
                }
                _ => self.unexpected("a location"),
            },
            _ => self.unexpected("a location"),
        }
    }

    /// Goes on with `outer` after `inner`: the location that it makes, or what it is now.
    fn location_end(&mut self, outer: Outer, inner: Loc) -> Parsed<Result<Loc, Outer>> {
        let close = "after the location";
        Ok(Ok(match outer {
            Outer::Parentheses => {
                self.expect(b')', close)?;
                inner
            }
            Outer::Name(name) => {
                self.expect(b')', close)?;
                self.context.loc(LocData::Name { name, child: inner })
            }
            Outer::Callee => {
                self.expect_word("at")?;
                return Ok(Err(Outer::Caller(inner)));
            }
            Outer::Caller(callee) => {
                self.expect(b')', "after the call site")?;
                self.context.loc(LocData::CallSite { callee, caller: inner })
            }
            Outer::Fused(mut parts, metadata) => {
                parts.push(inner);
                if self.accept(b',') {
                    return Ok(Err(Outer::Fused(parts, metadata)));
                }
                self.expect(b']', "or `,` after a location")?;
                self.fuse_in_order(&parts, metadata)
            }
        }))
    }

    fn place_or_name(&mut self, open: &mut Vec<Outer>) -> Parsed<Option<Loc>> {
        let token = self.take();
        let name = self.text_of(token)?;
        if self.accept(b':') {
            let line = self.position()?;
            self.expect(b':', "before the column")?;
            let column = self.position()?;
            let end = self.range_end(line)?.filter(|&end| end != (line, column));
            return Ok(Some(self.context.loc(match end {
                None => LocData::File { file: name, line, column },
                Some(end) => LocData::Range { file: name, start: (line, column), end },
            })));
        }
        if self.accept(b'(') {
            open.push(Outer::Name(name));
            return Ok(None);
        }
        Ok(Some(self.context.loc(LocData::Name { name, child: Loc::UNKNOWN })))
    }

    fn position(&mut self) -> Parsed<u32> {
        let token = self.expect_kind(Kind::Int, "a line or column")?;
        match self.spelling(token).parse() {
            Ok(n) => Ok(n),
            Err(_) => {
                let message =
                    format!("expected a line or column, found `{}`", self.spelling(token));
                self.error(token, "position", message)
            }
        }
    }

    /// `to :5` or `to 3:5`, if it is there: the line, this one where none is named, and the column.
    fn range_end(&mut self, line: u32) -> Parsed<Option<(u32, u32)>> {
        if !self.accept_word("to") {
            return Ok(None);
        }
        let line = if self.token.kind == Kind::Int { self.position()? } else { line };
        self.expect(b':', "before the column")?;
        Ok(Some((line, self.position()?)))
    }

    fn fused(&mut self, open: &mut Vec<Outer>) -> Parsed<Option<Loc>> {
        self.take();
        let mut metadata = None;
        if self.accept(b'<') {
            metadata = Some(self.nested(Self::attr)?);
            self.expect(b'>', "after the metadata")?;
        }
        self.expect(b'[', "before the locations")?;
        if self.accept(b']') {
            return Ok(Some(self.fuse_in_order(&[], metadata)));
        }
        open.push(Outer::Fused(Vec::new(), metadata));
        Ok(None)
    }

    /// Fuses `locs` in the order written, as MLIR does: unknown ones go, those that are fused with
    /// the same metadata are taken apart, and metadata keep what is one location or none.
    fn fuse_in_order(&self, locs: &[Loc], metadata: Option<Attr>) -> Loc {
        let mut parts: Vec<Loc> = Vec::new();
        for loc in locs {
            match self.context.loc_data(*loc) {
                LocData::Unknown => {}
                LocData::Fused { parts: inner, metadata: of } if *of == metadata => {
                    parts.extend(inner);
                }
                _ => parts.push(*loc),
            }
        }
        let mut seen: FxHashSet<Loc> = FxHashSet::default();
        parts.retain(|&part| seen.insert(part));
        match (parts.as_slice(), metadata) {
            ([], None) => Loc::UNKNOWN,
            ([], _) => self.context.loc(LocData::Fused { parts: [Loc::UNKNOWN].into(), metadata }),
            ([one], None) => *one,
            _ => self.context.loc(LocData::Fused { parts: parts.into(), metadata }),
        }
    }
}
