//! Locations.

use super::{Kind, Parsed, Parser, Token};
use crate::attributes::AttrData;
use crate::location::{Loc, LocData};

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
        if token.kind == Kind::Hash && !self.loc_aliases.contains_key(&self.spelling(token)[1..]) {
            self.take();
            self.expect(b')', "after the location")?;
            return Ok(Some(token));
        }
        *loc = self.location_body()?;
        self.expect(b')', "after the location")?;
        Ok(None)
    }

    fn location_body(&mut self) -> Parsed<Loc> {
        self.nested(|p| {
            let token = p.token;
            match token.kind {
                Kind::String => p.place_or_name(),
                Kind::Hash => {
                    p.take();
                    match p.loc_aliases.get(&p.spelling(token)[1..]) {
                        Some(&loc) => Ok(loc),
                        None => p.unknown_alias(token),
                    }
                }
                Kind::Word => match p.spelling(token) {
                    "unknown" => {
                        p.take();
                        Ok(Loc::UNKNOWN)
                    }
                    "fused" => p.fused(),
                    "callsite" => p.call_site(),
                    "loc" => p.location(),
                    _ => p.unexpected("a location"),
                },
                _ => p.unexpected("a location"),
            }
        })
    }

    fn place_or_name(&mut self) -> Parsed<Loc> {
        let token = self.take();
        let name = self.text_of(token)?;
        if self.accept(b':') {
            let line = self.position()?;
            self.expect(b':', "before the column")?;
            let column = self.position()?;
            self.range_end()?;
            return Ok(self.context.loc(LocData::File { file: name, line, column }));
        }
        let mut child = Loc::UNKNOWN;
        if self.accept(b'(') {
            child = self.location_body()?;
            self.expect(b')', "after the location")?;
        }
        Ok(self.context.loc(LocData::Name { name, child }))
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

    /// `to :5` or `to 3:5`; not kept.
    fn range_end(&mut self) -> Parsed<()> {
        if !self.accept_word("to") {
            return Ok(());
        }
        if self.token.kind == Kind::Int {
            self.position()?;
        }
        self.expect(b':', "before the column")?;
        self.position()?;
        Ok(())
    }

    fn fused(&mut self) -> Parsed<Loc> {
        self.take();
        if self.accept(b'<') {
            // Metadata, which is not kept.
            self.attr()?;
            self.expect(b'>', "after the metadata")?;
        }
        self.expect(b'[', "before the locations")?;
        let mut parts = Vec::new();
        self.list(b']', |p| {
            parts.push(p.location_body()?);
            Ok(())
        })?;
        Ok(self.fuse_in_order(&parts))
    }

    /// Fuses as [`crate::Context::fuse`] does, in the order written, so that the text stays.
    fn fuse_in_order(&self, locs: &[Loc]) -> Loc {
        let mut parts: Vec<Loc> = Vec::new();
        for loc in locs {
            let inner = match self.context.loc_data(*loc) {
                LocData::Unknown => &[],
                LocData::Fused(inner) => &**inner,
                _ => std::slice::from_ref(loc),
            };
            for part in inner {
                if !parts.contains(part) && parts.len() < LocData::MAX_FUSED {
                    parts.push(*part);
                }
            }
        }
        match parts.as_slice() {
            [] => Loc::UNKNOWN,
            [one] => *one,
            _ => self.context.loc(LocData::Fused(parts.into())),
        }
    }

    fn call_site(&mut self) -> Parsed<Loc> {
        self.take();
        self.expect(b'(', "after `callsite`")?;
        let callee = self.location_body()?;
        self.expect_word("at")?;
        let caller = self.location_body()?;
        self.expect(b')', "after the call site")?;
        Ok(self.context.loc(LocData::CallSite { callee, caller }))
    }

    /// `#name = attribute` or `!name = type`.
    pub(super) fn alias(&mut self) -> Parsed<()> {
        let token = self.take();
        let name = &self.spelling(token)[1..];
        self.expect(b'=', "after an alias")?;
        if token.kind == Kind::Bang {
            let ty = self.ty()?;
            self.type_aliases.insert(name, ty);
            return Ok(());
        }
        let attr = self.attr()?;
        if let AttrData::Location(loc) = *self.context.attr_data(attr) {
            self.loc_aliases.insert(name, loc);
        } else {
            self.attr_aliases.insert(name, attr);
        }
        Ok(())
    }

    /// Gives operations the locations whose aliases were defined after them.
    pub(super) fn settle_locs(&mut self) {
        for (op, token) in std::mem::take(&mut self.late_locs) {
            match self.loc_aliases.get(&self.spelling(token)[1..]) {
                Some(&loc) => self.module.set_loc(op, loc),
                None => {
                    let _ = self.unknown_alias::<()>(token);
                }
            }
        }
    }
}
