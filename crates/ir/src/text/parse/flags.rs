//! The directives that are words: flags, enumerators, kinds.

use super::custom::Draft;
use super::{Kind, Parsed, Parser};
use crate::attributes::AttrData;

impl<'a> Parser<'a> {
    pub(super) fn flags(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[_, keyword, prefix] = args else { return Ok(()) };
        if !self.accept_word(keyword) {
            return Ok(());
        }
        self.expect(b'<', "before flags")?;
        let mut words: Vec<&str> = Vec::new();
        self.list(b'>', |p| {
            let token = p.expect_kind(Kind::Word, "a flag")?;
            words.push(p.spelling(token));
            Ok(())
        })?;
        let comma = if keyword == "fastmath" { "," } else { ", " };
        let attr = self.opaque(&format!("{prefix}<{}>", words.join(comma)));
        self.set_attr(draft, name, attr);
        Ok(())
    }

    /// `overflow<nsw, nuw>`, if it is there.
    pub(super) fn bits(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[_, width, keyword, ref words @ ..] = args else { return Ok(()) };
        if !self.accept_word(keyword) {
            return Ok(());
        }
        self.expect(b'<', "before flags")?;
        let mut value = 0i128;
        self.list(b'>', |p| {
            let spelling = p.spelling(p.token);
            match words.iter().position(|&word| word == spelling) {
                Some(bit) => value |= 1 << bit,
                None if spelling == "none" => {}
                None => return p.unexpected(&format!("one of {words:?}")),
            }
            p.take();
            Ok(())
        })?;
        let ty = self.context.int_type(width.trim_start_matches('i').parse().unwrap_or(32));
        let attr = self.context.attr(AttrData::Integer { value, ty });
        self.set_attr(draft, name, attr);
        Ok(())
    }

    /// `eq` of `#dialect<kind eq>`.
    pub(super) fn word(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let prefix = args.get(1).copied().unwrap_or("");
        let words = args.get(2..).unwrap_or(&[]);
        let word = self.spelling(self.token);
        if self.token.kind != Kind::Word || !(words.is_empty() || words.contains(&word)) {
            return self.unexpected(&format!("one of {words:?}"));
        }
        self.take();
        let space = if prefix.ends_with('<') { "" } else { " " };
        let attr = self.opaque(&format!("{prefix}{space}{word}>"));
        self.set_attr(draft, name, attr);
        Ok(())
    }

    pub(super) fn enumerator(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let (width, names) = (args.get(1).copied().unwrap_or("i64"), args.get(2..).unwrap_or(&[]));
        let spelling = match self.token.kind {
            Kind::String => self.spelling(self.token).trim_matches('"'),
            _ => self.spelling(self.token),
        };
        let value = names.iter().position(|&word| word == spelling && word != "-");
        let value = match value {
            Some(value) => {
                self.take();
                value
            }
            // What may be absent is followed by something else.
            None if width.ends_with('?') => return Ok(()),
            None if width.ends_with('!') => 0,
            None => return self.unexpected(&format!("one of {names:?}")),
        };
        let width = width.trim_matches(['i', '?', '!', '"']).parse().unwrap_or(64);
        let ty = self.context.int_type(width);
        let attr = self.context.attr(AttrData::Integer { value: value as i128, ty });
        self.set_attr(draft, name, attr);
        Ok(())
    }

    /// `<add>`.
    pub(super) fn angled(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        prefix: &str,
    ) -> Parsed<()> {
        self.expect(b'<', "before a word")?;
        let token = self.expect_kind(Kind::Word, "a word")?;
        self.expect(b'>', "after a word")?;
        let attr = self.opaque(&format!("{prefix}<{}>", self.spelling(token)));
        self.set_attr(draft, name, attr);
        Ok(())
    }
}
