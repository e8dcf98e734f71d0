//! The footer that holds big tensors.

use bytes::Bytes;

use super::strings::hex_bytes;
use super::{Kind, Parsed, Parser};

impl Parser<'_> {
    /// `{-# dialect_resources: {builtin: {key: "0x..."}} #-}`. What other dialects and external
    /// tools put there is skipped.
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
            let section = self.expect_kind(Kind::Word, "`dialect_resources` or `#-}`")?;
            let ours = self.spelling(section) == "dialect_resources";
            self.expect(b':', "after the section")?;
            self.expect(b'{', "before the dialects")?;
            self.list(b'}', |p| {
                let dialect = p.take();
                let ours = ours && p.spelling(dialect) == "builtin";
                p.expect(b':', "after the dialect")?;
                p.expect(b'{', "before the resources")?;
                p.list(b'}', |p| p.entry(ours))
            })?;
            if !self.accept(b',') {
                break;
            }
        }
        self.expect_kind(Kind::FooterEnd, "`#-}`")?;
        Ok(())
    }

    fn entry(&mut self, ours: bool) -> Parsed<()> {
        let token = self.take();
        let key = match token.kind {
            Kind::Word => self.context.str(self.spelling(token)),
            Kind::String => self.text_of(token)?,
            _ => return self.error(token, "syntax", "expected the key of a resource".into()),
        };
        self.expect(b':', "after the key")?;
        let value = self.take();
        if !ours {
            return Ok(());
        }
        let text = self.spelling(value).trim_matches('"');
        match hex_bytes(text) {
            // Four bytes of alignment come first.
            Some(bytes) if value.kind == Kind::String && bytes.len() >= 4 => {
                let bytes = Bytes::from(bytes).slice(4..);
                self.module.resources_mut().insert(key, bytes);
                Ok(())
            }
            _ => {
                let message = "expected \"0x...\" with at least four bytes".to_string();
                self.error(value, "resource", message)
            }
        }
    }
}
