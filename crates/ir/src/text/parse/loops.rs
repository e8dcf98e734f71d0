//! The directives of loops: counters, bounds, and the values that they carry.

use smallvec::{SmallVec, smallvec};
use tangram_affine::AffineMap;

use super::custom::{Draft, Types, Uses};
use super::{Kind, Parsed, Parser, Token};
use crate::assembly::REDUCTIONS;
use crate::attributes::{Attr, AttrData};

impl<'a> Parser<'a> {
    /// `(%i, %j) = (%0, %1) to (%2, %3) step (%4, %5) init (%6)`.
    pub(super) fn nest(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        self.counters(draft)?;
        self.expect(b'=', "after the counters")?;
        for (i, word) in ["", "to", "step", "init"].into_iter().enumerate() {
            if i == 3 && !self.is_word(word) {
                break;
            }
            if !word.is_empty() {
                self.expect_word(word)?;
            }
            let mut values = Uses::new();
            self.expect(b'(', "before a list of values")?;
            self.list(b')', |p| {
                values.push(p.value_use()?);
                Ok(())
            })?;
            match i {
                3 => draft.operands[i] = values,
                _ => self.indices(draft, i, values),
            }
        }
        Ok(())
    }

    /// `(%i, %j)`: the arguments of the region, which are indices.
    pub(super) fn counters(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let index = self.index();
        self.expect(b'(', "before the counters")?;
        self.list(b')', |p| {
            let token = p.expect_kind(Kind::Percent, "a counter")?;
            draft.region_args.push((token, index));
            Ok(())
        })
    }

    pub(super) fn forall(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        const LISTS: [[&str; 3]; 3] = [
            ["$dynamicLowerBound", "staticLowerBound", "round"],
            ["$dynamicUpperBound", "staticUpperBound", "round"],
            ["$dynamicStep", "staticStep", "round"],
        ];
        self.counters(draft)?;
        let count = draft.region_args.len();
        if self.accept_word("in") {
            self.mixed(draft, &LISTS[1][0][1..], &LISTS[1])?;
            for (i, number) in [(0, 0), (2, 1)] {
                draft.types[i] = Some(Types::new());
                let attr = self.context.i64s_attr(&vec![number; count]);
                self.set_attr(draft, LISTS[i][1], attr);
            }
        } else {
            for (list, word) in LISTS.iter().zip(["=", "to", "step"]) {
                self.literal_text(word)?;
                self.mixed(draft, &list[0][1..], list)?;
            }
        }
        let (mut args, mut types) = (Vec::new(), SmallVec::new());
        if self.accept_word("shared_outs") {
            (args, draft.operands[3]) = self.bound_args()?;
            self.expect_kind(Kind::Arrow, "`->` before the types of the results")?;
            self.function_results(&mut types)?;
        }
        draft.region_args.extend(args.into_iter().zip(types.iter().copied()));
        draft.types[3] = Some(types.as_slice().into());
        draft.set_results(&types);
        Ok(())
    }

    /// `(%i) = (max(0, %0)) to (10) step (2) reduce ("addf") -> (f32)`.
    pub(super) fn affine_nest(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        self.counters(draft)?;
        let count = draft.region_args.len();
        self.expect(b'=', "after the counters")?;
        self.grouped_bounds(draft, ["lowerBoundsMap", "lowerBoundsGroups"], "max")?;
        self.expect_word("to")?;
        self.grouped_bounds(draft, ["upperBoundsMap", "upperBoundsGroups"], "min")?;
        let mut steps = Vec::new();
        if self.accept_word("step") {
            self.expect(b'(', "before the steps")?;
            self.list(b')', |p| {
                steps.push(p.integer()?);
                Ok(())
            })?;
        }
        steps.resize(count, 1);
        let numbers = |numbers: &[i64]| -> Attr {
            let items: Vec<Attr> = numbers.iter().map(|&n| self.context.i64_attr(n)).collect();
            self.context.array_attr(&items)
        };
        let attr = numbers(&steps);
        self.set_attr(draft, "steps", attr);
        let mut kinds = Vec::new();
        if self.accept_word("reduce") {
            self.expect(b'(', "before the reductions")?;
            self.list(b')', |p| {
                let name = p.spelling(p.token).trim_matches('"');
                let Some(kind) = REDUCTIONS.iter().position(|&kind| kind == name) else {
                    return p.unexpected(&format!("one of {REDUCTIONS:?}"));
                };
                p.take();
                kinds.push(kind as i64);
                Ok(())
            })?;
        }
        let items: Vec<Attr> = kinds.iter().map(|&n| self.context.i64_attr(n)).collect();
        let attr = self.context.array_attr(&items);
        self.set_attr(draft, "reductions", attr);
        self.arrow_results(draft)
    }

    /// `(max(0, %0), %1 + 2)`: one map for all, and how many results each counter has.
    pub(super) fn grouped_bounds(
        &mut self,
        draft: &mut Draft<'a>,
        [map, groups]: [&'static str; 2],
        extreme: &str,
    ) -> Parsed<()> {
        self.expect(b'(', "before the bounds")?;
        let (attr, operands, sizes) = self.grouped_affine(extreme)?;
        self.set_attr(draft, map, attr);
        let bytes: Vec<u8> = sizes.iter().flat_map(|&n| (n as i32).to_le_bytes()).collect();
        let dims = [crate::types::Dim::fixed(sizes.len() as i64)];
        let ty = self.context.tensor_type(&dims, self.context.int_type(32));
        let splat = sizes.len() == 1 || sizes.windows(2).all(|pair| pair[0] == pair[1]);
        let bytes = if splat { bytes.into_iter().take(4).collect() } else { bytes };
        let data = AttrData::Dense { ty, bytes: bytes.into(), splat };
        self.set_attr(draft, groups, self.context.attr(data));
        let values = operands.dims.into_iter().chain(operands.symbols);
        draft.operands[0].extend(values);
        draft.types[0] = Some(smallvec![self.index(); draft.operands[0].len()]);
        Ok(())
    }

    /// `iter_args(%a = %b) -> (i32)`, with the types of the arguments.
    pub(super) fn iter_args(
        &mut self,
        draft: &mut Draft<'a>,
        group: usize,
        counter: Token,
    ) -> Parsed<()> {
        let index = self.index();
        draft.region_args.push((counter, index));
        let mut types = SmallVec::new();
        if self.accept_word("iter_args") {
            let (args, inits) = self.bound_args()?;
            self.expect_kind(Kind::Arrow, "`->` before the types of the results")?;
            self.function_results(&mut types)?;
            draft.region_args.extend(args.into_iter().zip(types.iter().copied()));
            draft.operands[group] = inits;
        }
        draft.types[group] = Some(types.as_slice().into());
        draft.set_results(&types);
        Ok(())
    }

    /// `(%a = %b, %c = %d)`.
    pub(super) fn bound_args(&mut self) -> Parsed<(Vec<Token>, Uses)> {
        let (mut args, mut inits) = (Vec::new(), Uses::new());
        self.expect(b'(', "before the arguments")?;
        self.list(b')', |p| {
            args.push(p.expect_kind(Kind::Percent, "an argument")?);
            p.expect(b'=', "after an argument")?;
            inits.push(p.value_use()?);
            Ok(())
        })?;
        Ok((args, inits))
    }

    pub(super) fn counted_loop(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        if self.accept_word("unsigned") {
            self.set_attr(draft, "unsignedCmp", Attr::UNIT);
        }
        let counter = self.expect_kind(Kind::Percent, "the counter")?;
        self.expect(b'=', "after the counter")?;
        for (i, word) in ["to", "step", ""].into_iter().enumerate() {
            let value = self.value_use()?;
            draft.operands[i].push(value);
            if !word.is_empty() {
                self.expect_word(word)?;
            }
        }
        self.iter_args(draft, 3, counter)?;
        let ty = if self.accept(b':') { self.ty()? } else { self.index() };
        if let Some(counter) = draft.region_args.first_mut() {
            counter.1 = ty;
        }
        for types in draft.types.iter_mut().take(3) {
            *types = Some(smallvec![ty]);
        }
        Ok(())
    }

    pub(super) fn affine_loop(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let counter = self.expect_kind(Kind::Percent, "the counter")?;
        self.expect(b'=', "after the counter")?;
        self.affine_bound(draft, "lowerBoundMap", 0, "max")?;
        self.expect_word("to")?;
        self.affine_bound(draft, "upperBoundMap", 1, "min")?;
        let value = if self.accept_word("step") { self.integer()? } else { 1 };
        let ty = self.index();
        let step = self.context.attr(AttrData::Integer { value: value.into(), ty });
        self.set_attr(draft, "step", step);
        self.iter_args(draft, 2, counter)
    }

    pub(super) fn affine_bound(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        group: usize,
        prefix: &str,
    ) -> Parsed<()> {
        if matches!(self.token.kind, Kind::Int | Kind::Punct(b'-')) {
            let number = self.integer()?;
            let map = self.context.attr(AttrData::AffineMap(AffineMap::constant(number)));
            self.set_attr(draft, name, map);
            self.indices(draft, group, Uses::new());
            return Ok(());
        }
        if self.token.kind == Kind::Percent {
            let value = self.value_use()?;
            let map = self.context.attr(AttrData::AffineMap(AffineMap::symbol_identity()));
            self.set_attr(draft, name, map);
            self.indices(draft, group, smallvec![value]);
            return Ok(());
        }
        self.accept_word(prefix);
        let map = self.attr()?;
        self.set_attr(draft, name, map);
        self.dims_and_symbols(draft, group)
    }

    /// `%a[%i + 1], %b[symbol(%n)], %size : types of the buffers`, with a map for each buffer.
    pub(super) fn affine_dma(
        &mut self,
        draft: &mut Draft<'a>,
        maps: &[&'static str],
    ) -> Parsed<()> {
        let (mut values, mut buffers) = (Uses::new(), Vec::new());
        for map in maps {
            if !buffers.is_empty() {
                self.expect(b',', "before the next buffer")?;
            }
            buffers.push(values.len());
            values.push(self.value_use()?);
            self.expect(b'[', "before the indices")?;
            let (attr, operands) = self.affine_of_values(b']')?;
            self.set_attr(draft, map.trim_start_matches('$'), attr);
            values.extend(operands.dims.into_iter().chain(operands.symbols));
        }
        while self.accept(b',') {
            values.push(self.value_use()?);
        }
        self.buffer_types(draft, values, &buffers)
    }

    pub(super) fn while_header(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let (args, inits) =
            if self.is(b'(') { self.bound_args()? } else { (Vec::new(), Uses::new()) };
        self.expect(b':', "before the types of the loop")?;
        let mut inputs = Types::new();
        self.expect(b'(', "before the types of the arguments")?;
        self.list(b')', |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect_kind(Kind::Arrow, "`->` before the types of the results")?;
        let mut results = SmallVec::new();
        self.function_results(&mut results)?;
        draft.region_args.extend(args.into_iter().zip(inputs.iter().copied()));
        draft.operands[0] = inits;
        draft.types[0] = Some(inputs);
        draft.set_results(&results);
        Ok(())
    }
}
