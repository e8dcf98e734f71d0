//! The directive of functions: name, arguments, results and attributes.

use smallvec::SmallVec;

use super::custom::{Draft, Types};
use super::{Kind, Parsed, Parser};
use crate::attributes::Attr;
use crate::types::{Type, TypeData};

/// A few attributes.
type Attrs = SmallVec<[Attr; 4]>;

impl<'a> Parser<'a> {
    /// ` private @f(%arg0: i32 {a}) -> (i32 {b})`.
    pub(super) fn function_header(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        for visibility in ["public", "private", "nested"] {
            if self.accept_word(visibility) {
                let attr = self.context.str_attr(visibility);
                self.set_attr(draft, "sym_visibility", attr);
            }
        }
        let (inputs, results, _) = self.named_signature(draft, false)?;
        let ty = self.context.type_attr(self.context.function_type(&inputs, &results));
        self.set_attr(draft, "function_type", ty);
        Ok(())
    }

    /// The same of a function whose type is text: `!dialect.func<void (ptr, i32, ...)>`.
    pub(super) fn text_function_header(
        &mut self,
        draft: &mut Draft<'a>,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[name, dialect, nothing, ..] = args else { return Ok(()) };
        let (inputs, results, open) = self.named_signature(draft, true)?;
        let prefix = format!("!{dialect}.");
        let short = |&ty: &Type| {
            let text = self.type_text(ty);
            text.strip_prefix(&prefix).map(str::to_owned).unwrap_or(text)
        };
        let mut parts: Vec<String> = inputs.iter().map(short).collect();
        parts.extend(open.then(|| "...".to_owned()));
        let result = results.first().map_or_else(|| nothing.to_owned(), short);
        let text = format!("{name}<{result} ({})>", parts.join(", "));
        let ty = self.context.ty(TypeData::Opaque(self.context.str(&text)));
        self.set_attr(draft, "function_type", self.context.type_attr(ty));
        Ok(())
    }

    /// `@f(%arg0: i32 {a}, ...) -> (i32 {b})`: the types, and whether more arguments may follow.
    fn named_signature(
        &mut self,
        draft: &mut Draft<'a>,
        variadic: bool,
    ) -> Parsed<(Types, Types, bool)> {
        let name = self.symbol_string()?;
        self.set_attr(draft, "sym_name", name);
        let (mut inputs, mut dicts, mut open) = (Types::new(), Attrs::new(), false);
        self.expect(b'(', "before the arguments")?;
        self.list(b')', |p| {
            let token = p.token;
            let start = token.start as usize;
            if variadic && p.src.get(start..start + 3) == Some(b"...") {
                p.jump(start + 3);
                open = true;
                return if p.is(b')') { Ok(()) } else { p.unexpected("`)` after `...`") };
            }
            let named = token.kind == Kind::Percent;
            if named {
                p.take();
                p.expect(b':', "before the type of the argument")?;
            }
            let ty = p.ty()?;
            inputs.push(ty);
            dicts.push(p.optional_dictionary()?);
            let loc = p.argument_loc()?;
            if named {
                draft.arg_locs.extend(loc.map(|loc| (draft.region_args.len(), loc)));
                draft.region_args.push((token, ty));
            }
            Ok(())
        })?;
        self.signature_attrs(draft, "arg_attrs", &dicts);
        let results = self.function_result_list(draft)?;
        Ok((inputs, results, open))
    }

    fn function_result_list(&mut self, draft: &mut Draft<'a>) -> Parsed<Types> {
        let (mut results, mut dicts) = (Types::new(), Attrs::new());
        if self.token.kind != Kind::Arrow {
            return Ok(results);
        }
        self.take();
        if self.accept(b'(') {
            self.list(b')', |p| {
                results.push(p.ty()?);
                dicts.push(p.optional_dictionary()?);
                Ok(())
            })?;
        } else {
            results.push(self.ty()?);
        }
        self.signature_attrs(draft, "res_attrs", &dicts);
        Ok(results)
    }

    pub(super) fn optional_dictionary(&mut self) -> Parsed<Attr> {
        if !self.is(b'{') {
            return Ok(Attr::EMPTY_DICT);
        }
        self.attr()
    }

    fn signature_attrs(&mut self, draft: &mut Draft<'a>, name: &'static str, dicts: &[Attr]) {
        if dicts.iter().any(|&dict| dict != Attr::EMPTY_DICT) {
            let attr = self.context.array_attr(dicts);
            self.set_attr(draft, name, attr);
        }
    }
}
