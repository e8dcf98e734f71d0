//! The directives of grids: counters with sizes, tokens, and arguments that stand for memory.

use smallvec::smallvec;

use super::custom::{Draft, Types, Uses};
use super::{Kind, Parsed, Parser, Token};
use crate::assembly::AXES;
use crate::attributes::{Attr, AttrData};
use crate::types::{Type, TypeData};

impl<'a> Parser<'a> {
    /// `async [%0]`: the last result, and what has to be done before.
    pub(super) fn tokens(
        &mut self,
        draft: &mut Draft<'a>,
        name: &str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[_, word, ty, ..] = args else { return Ok(()) };
        let (group, ty) = (self.group_number(draft, name), self.type_called(ty));
        let given = self.accept_word(word);
        if let Some(last) = draft.results.last_mut() {
            *last = Some(if given { smallvec![ty] } else { Types::new() });
        }
        if self.accept(b'[') {
            self.list(b']', |p| {
                let value = p.value_use()?;
                draft.operands[group].push(value);
                Ok(())
            })?;
        }
        draft.types[group] = Some(smallvec![ty; draft.operands[group].len()]);
        Ok(())
    }

    /// `blocks(%i, %j, %k) in (%a = %0, %b = %1, %c = %2) threads...`, perhaps with another one in
    /// front.
    pub(super) fn grid(&mut self, draft: &mut Draft<'a>, args: &[&'static str]) -> Parsed<()> {
        let (sets, _) = args.as_chunks::<2>();
        let Some((&last, first)) = sets.split_last() else { return Ok(()) };
        let in_front = self.accept_word(last[0]);
        let more = if in_front { Some(self.axes(draft, last[1])?) } else { None };
        let (mut counters, mut sizes) = (Vec::new(), Vec::new());
        for &[word, operand] in first {
            self.expect_word(word)?;
            let (some, others) = self.axes(draft, operand)?;
            counters.extend(some);
            sizes.extend(others);
        }
        let index = self.index();
        let more = more.into_iter().flat_map(|(counters, sizes)| counters.into_iter().chain(sizes));
        let all = counters.into_iter().chain(sizes).chain(more);
        draft.region_args.extend(all.map(|token| (token, index)));
        Ok(())
    }

    /// `(%i, %j, %k) in (%a = %0, %b = %1, %c = %2)`, from operand `first` on.
    fn axes(&mut self, draft: &mut Draft<'a>, first: &str) -> Parsed<(Vec<Token>, Vec<Token>)> {
        let group = self.group_number(draft, first.trim_start_matches('$'));
        let start = self.token;
        let mut counters = Vec::new();
        self.expect(b'(', "before the counters")?;
        self.list(b')', |p| {
            counters.push(p.expect_kind(Kind::Percent, "a counter")?);
            Ok(())
        })?;
        self.expect_word("in")?;
        let (sizes, values) = self.bound_args()?;
        if counters.len() != AXES || sizes.len() != AXES {
            let message = format!("expected {AXES} counters and as many sizes");
            return self.error(start, "grid", message);
        }
        for (i, value) in values.into_iter().enumerate() {
            self.indices(draft, group + i, smallvec![value]);
        }
        Ok((counters, sizes))
    }

    /// `workgroup(%a : t {x}) private(%b : t)`.
    pub(super) fn attributions(
        &mut self,
        draft: &mut Draft<'a>,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[count, ref lists @ ..] = args else { return Ok(()) };
        for (i, &[word, attrs]) in lists.as_chunks::<2>().0.iter().enumerate() {
            let (mut dicts, before) = (Vec::new(), draft.region_args.len());
            if self.accept_word(word) {
                self.expect(b'(', "before the arguments")?;
                self.list(b')', |p| {
                    let token = p.expect_kind(Kind::Percent, "an argument")?;
                    p.expect(b':', "before the type of the argument")?;
                    let ty = p.ty()?;
                    dicts.push(p.optional_dictionary()?);
                    let loc = p.argument_loc()?;
                    draft.arg_locs.extend(loc.map(|loc| (draft.region_args.len(), loc)));
                    draft.region_args.push((token, ty));
                    Ok(())
                })?;
            }
            if i == 0 {
                let number = (draft.region_args.len() - before) as i128;
                let ty = self.context.int_type(64);
                let attr = self.context.attr(AttrData::Integer { value: number, ty });
                self.set_attr(draft, count.trim_start_matches('$'), attr);
            }
            if dicts.iter().any(|&dict| dict != Attr::EMPTY_DICT) {
                let attr = self.context.array_attr(&dicts);
                self.set_attr(draft, attrs.trim_start_matches('$'), attr);
            }
        }
        Ok(())
    }

    /// `: i64`, where the type is not `index`.
    pub(super) fn width(&mut self, draft: &mut Draft<'a>, name: &str) -> Parsed<()> {
        let group = self.group_number(draft, name);
        let ty: Type = match self.accept(b':') {
            true => self.ty()?,
            false => self.context.ty(TypeData::Index),
        };
        draft.types[group] = Some(smallvec![ty]);
        Ok(())
    }

    /// `args(%0 : i32, %1 : f32)`, if it is there.
    pub(super) fn typed_values(
        &mut self,
        draft: &mut Draft<'a>,
        args: &[&'static str],
    ) -> Parsed<()> {
        let &[word, operands] = args else { return Ok(()) };
        let group = self.group_number(draft, operands.trim_start_matches('$'));
        let (mut values, mut types) = (Uses::new(), Types::new());
        if self.accept_word(word) {
            self.expect(b'(', "before the values")?;
            self.list(b')', |p| {
                values.push(p.value_use()?);
                p.expect(b':', "before the type")?;
                types.push(p.ty()?);
                Ok(())
            })?;
        }
        draft.operands[group] = values;
        draft.types[group] = Some(types);
        Ok(())
    }
}
