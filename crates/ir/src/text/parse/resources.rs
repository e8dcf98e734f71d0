//! The footer that holds big tensors, and what tools put there.

use bytes::Bytes;

use super::strings::hex_bytes;
use super::{Kind, Parsed, Parser};
use crate::context::Str;
use crate::resource::ForeignResource;
use crate::text::print::ALIGNMENT;

impl Parser<'_> {
    /// `{-# dialect_resources: {builtin: {key: "0x..."}}, external_resources: {tool: {...}} #-}`.
    pub(super) fn footer(&mut self) -> Parsed<()> {
        let result = self.sections();
        while result.is_err() && !matches!(self.token.kind, Kind::FooterEnd | Kind::Eof) {
            self.take();
        }
        result
    }

    fn sections(&mut self) -> Parsed<()> {
        self.take();
        while self.token.kind != Kind::FooterEnd {
            let external = match self.spelling(self.token) {
                "dialect_resources" => false,
                "external_resources" => true,
                _ => return self.unexpected("`dialect_resources`, `external_resources` or `#-}`"),
            };
            self.take();
            self.expect(b':', "after the section")?;
            self.expect(b'{', "before the dialects")?;
            self.list(b'}', |p| {
                let owner = p.resource_name("the name of a dialect or tool")?;
                p.expect(b':', "after the name")?;
                p.expect(b'{', "before the resources")?;
                p.list(b'}', |p| p.entry(external, owner))
            })?;
            if !self.accept(b',') {
                break;
            }
        }
        self.expect_kind(Kind::FooterEnd, "`#-}`")?;
        Ok(())
    }

    fn resource_name(&mut self, what: &str) -> Parsed<Str> {
        let token = self.token;
        match token.kind {
            Kind::Word => {
                self.take();
                Ok(self.context.str(self.spelling(token)))
            }
            Kind::String => {
                self.take();
                self.text_of(token)
            }
            _ => self.unexpected(what),
        }
    }

    fn entry(&mut self, external: bool, owner: Str) -> Parsed<()> {
        let key = self.resource_name("the key of a resource")?;
        self.expect(b':', "after the key")?;
        let value = self.token;
        let written = self.spelling(value);
        if external || self.context.text(owner) != "builtin" {
            if value.kind != Kind::String && !matches!(written, "true" | "false") {
                return self.unexpected("a string, `true` or `false`");
            }
            self.take();
            let value = self.context.str(written);
            let resource = ForeignResource { external, owner, key, value };
            self.module.resources_mut().add_foreign(resource);
            return Ok(());
        }
        self.take();
        let bytes = hex_bytes(written.trim_matches('"')).filter(|_| value.kind == Kind::String);
        let Some((&alignment, _)) = bytes.as_deref().and_then(<[u8]>::split_first_chunk) else {
            let message = "expected \"0x...\" with at least four bytes".to_string();
            return self.error(value, "resource", message);
        };
        let resources = self.module.resources_mut();
        resources.insert(key, Bytes::from(bytes.unwrap_or_default()).slice(4..));
        let alignment = u32::from_le_bytes(alignment);
        if alignment != ALIGNMENT {
            resources.set_alignment(key, alignment);
        }
        Ok(())
    }
}
