//! The directives of formats; see [`Directive`].

use smallvec::{SmallVec, smallvec};

use super::attrs::decimal;
use super::custom::{Draft, Types, Uses};
use super::operations::{OpenRegion, Pending};
use super::{Kind, Parsed, Parser};
use crate::assembly::Directive;
use crate::attributes::{Attr, AttrData};
use crate::types::{Type, TypeData};

/// Stands for an entry of a static list that an operand gives.
const DYNAMIC: i64 = i64::MIN;

impl<'a> Parser<'a> {
    /// `[1, 0]`, of `i32` or of `i64`.
    fn int_array(&mut self, narrow: bool) -> Parsed<Attr> {
        let (mut numbers, mut bytes) = (SmallVec::<[i64; 8]>::new(), Vec::new());
        self.expect(b'[', "before a list of numbers")?;
        self.list(b']', |p| {
            let token = p.token;
            let number = p.integer()?;
            numbers.push(number);
            match i32::try_from(number) {
                Ok(number) => bytes.extend(number.to_le_bytes()),
                Err(_) if narrow => {
                    let message = format!("expected a number of 32 bits, found {number}");
                    return p.error(token, "number", message);
                }
                Err(_) => {}
            }
            Ok(())
        })?;
        Ok(match narrow {
            true => {
                let element = self.context.int_type(32);
                self.context.attr(AttrData::DenseArray { element, bytes: bytes.into() })
            }
            false => self.context.i64s_attr(&numbers),
        })
    }

    pub(super) fn directive(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &mut Pending<'a>,
        directive: Directive,
        args: &[&'static str],
        open: &mut [OpenRegion<'a>],
    ) -> Parsed<()> {
        let name = args.first().and_then(|arg| arg.strip_prefix('$')).unwrap_or("");
        let word = args.get(1).copied().unwrap_or("");
        match directive {
            Directive::Flags => self.flags(draft, name, args),
            Directive::Enum => self.enumerator(draft, name, args),
            Directive::Word => self.word(draft, name, args),
            Directive::Bits => self.bits(draft, name, args),
            Directive::TextFunction => self.text_function_header(draft, args),
            Directive::Requires | Directive::Without => Ok(()),
            Directive::Keyword => {
                if self.accept_word(word) {
                    self.set_attr(draft, name, Attr::UNIT);
                }
                Ok(())
            }
            Directive::Int => {
                let value = self.integer()?;
                let ty = match word.strip_prefix('i').and_then(|width| width.parse().ok()) {
                    Some(width) => self.context.int_type(width),
                    None => self.context.ty(TypeData::Index),
                };
                let attr = self.context.attr(AttrData::Integer { value: value.into(), ty });
                self.set_attr(draft, name, attr);
                Ok(())
            }
            Directive::Symbol => {
                let attr = self.symbol_string()?;
                if name != "sym_name" {
                    self.note_symbol_used();
                }
                self.set_attr(draft, name, attr);
                Ok(())
            }
            Directive::Mixed => self.mixed(draft, name, args),
            Directive::Branch => self.branch(draft, pending, args, open),
            Directive::Switch => self.switch(draft, pending, open),
            Directive::Function => self.function_header(draft),
            Directive::SelectType => self.select_type(draft),
            Directive::Map => self.mapped(draft, name, args),
            Directive::Access => self.access(draft, name, args),
            Directive::CountedLoop => self.counted_loop(draft),
            Directive::AffineLoop => self.affine_loop(draft),
            Directive::Results | Directive::LooseResults => self.arrow_results(draft),
            Directive::WhileHeader => self.while_header(draft),
            Directive::CalleeType => self.callee_type(draft),
            Directive::TypeAttr => {
                let ty = self.ty()?;
                let attr = self.context.type_attr(ty);
                self.set_attr(draft, name, attr);
                Ok(())
            }
            Directive::Structured => self.structured(draft),
            Directive::GenericAttributes => {
                self.generic_attributes(draft, args.first().copied().unwrap_or(""))
            }
            Directive::Global => self.global(draft),
            Directive::Module => {
                if self.token.kind == Kind::At {
                    let attr = self.symbol_string()?;
                    self.set_attr(draft, "sym_name", attr);
                }
                Ok(())
            }
            Directive::Permutation => self.permutation(draft, name),
            Directive::Choice => {
                let yes = self.accept_word(args.get(2).copied().unwrap_or(""));
                if !yes {
                    self.expect_word(word)?;
                }
                self.set_attr(draft, name, self.context.bool_attr(yes));
                Ok(())
            }
            Directive::AllResults => {
                let mut types = vec![self.ty()?];
                while self.accept(b',') {
                    types.push(self.ty()?);
                }
                let inputs: Vec<Type> = draft.types.iter().flatten().flatten().copied().collect();
                self.assign(draft, &inputs, &types);
                Ok(())
            }
            Directive::Hidden => Ok(()),
            Directive::Ints => {
                let attr = self.int_array(word == "i32")?;
                self.set_attr(draft, name, attr);
                Ok(())
            }
            Directive::DmaStart => self.dma_start(draft),
            Directive::Nest => self.nest(draft),
            Directive::Forall => self.forall(draft),
            Directive::AffineNest => self.affine_nest(draft),
            Directive::Angled => self.angled(draft, name, word),
            Directive::Maps => {
                if self.accept_word(name) {
                    self.expect(b'=', "before the maps")?;
                    let attr = self.attr()?;
                    self.set_attr(draft, name, attr);
                }
                Ok(())
            }
            Directive::Payload => self.payload(draft, args),
            Directive::TransferTypes => self.transfer_types(draft, pending),
            Directive::AffineDma => self.affine_dma(draft, args),
            Directive::OuterTypes => self.outer_types(draft, pending),
            Directive::Tokens => self.tokens(draft, name, args),
            Directive::Grid => self.grid(draft, args),
            Directive::Attributions => self.attributions(draft, args),
            Directive::Width => self.width(draft, name),
            Directive::Passed => self.typed_values(draft, args),
        }
    }

    /// A number of at most 64 bits.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        let negative = self.accept(b'-');
        let token = self.expect_kind(Kind::Int, "an integer")?;
        let text = self.spelling(token);
        let value = match (decimal(text), negative) {
            (Some(size), true) => Some(-(size as i64)),
            (Some(size), false) => Some(size as i64),
            // The least number has no positive one.
            (None, true) => format!("-{text}").parse().ok(),
            (None, false) => text.parse().ok(),
        };
        match value {
            Some(value) => Ok(value),
            None => {
                let message = format!("expected a number of at most 64 bits, found `{text}`");
                self.error(token, "integer-range", message)
            }
        }
    }

    /// `@name` as a string.
    pub(super) fn symbol_string(&mut self) -> Parsed<Attr> {
        let token = self.expect_kind(Kind::At, "a symbol")?;
        self.note_symbol(token, true, 0);
        let text = self.spelling(token);
        if text.as_bytes().get(1) == Some(&b'"') {
            let text = self.text_of(token)?;
            return Ok(self.context.attr(AttrData::String(text)));
        }
        Ok(self.context.str_attr(&text[1..]))
    }

    /// `[%0, 4]`.
    pub(super) fn mixed(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let group = self.group_number(draft, name);
        let (first, close) = match args.get(2) {
            Some(&"round") => (b'(', b')'),
            _ => (b'[', b']'),
        };
        self.expect(first, "before a list of values and numbers")?;
        let mut numbers: SmallVec<[i64; 8]> = SmallVec::new();
        self.list(close, |p| {
            if p.token.kind == Kind::Percent {
                let value = p.value_use()?;
                draft.operands[group].push(value);
                numbers.push(DYNAMIC);
                // A type may be said where it is `index`.
                if p.accept(b':') {
                    p.ty()?;
                }
            } else {
                numbers.push(p.integer()?);
            }
            Ok(())
        })?;
        draft.types[group] = Some(smallvec![self.index(); draft.operands[group].len()]);
        let attr = match args.get(3) {
            Some(&"i32") => {
                let narrow = |&n: &i64| i32::try_from(n).unwrap_or(i32::MIN).to_le_bytes();
                let bytes: Vec<u8> = numbers.iter().flat_map(narrow).collect();
                let element = self.context.int_type(32);
                self.context.attr(AttrData::DenseArray { element, bytes: bytes.into() })
            }
            _ => self.context.i64s_attr(&numbers),
        };
        self.set_attr(draft, args.get(1).copied().unwrap_or(""), attr);
        Ok(())
    }

    pub(super) fn index(&self) -> Type {
        self.context.ty(TypeData::Index)
    }

    /// `^bb1(%0 : i32)`.
    fn branch(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &mut Pending<'a>,
        args: &[&'static str],
        open: &mut [OpenRegion<'a>],
    ) -> Parsed<()> {
        let name = args.get(1).and_then(|arg| arg.strip_prefix('$')).unwrap_or("");
        let group = self.group_number(draft, name);
        self.successor(pending, open)?;
        let (values, types) = self.passed()?;
        draft.operands[group] = values;
        draft.types[group] = Some(types);
        Ok(())
    }

    fn successor(&mut self, pending: &mut Pending<'a>, open: &mut [OpenRegion<'a>]) -> Parsed<()> {
        let token = self.expect_kind(Kind::Caret, "a block")?;
        let Some(top) = open.last_mut() else {
            let message = "expected no successors at the top, found one".into();
            return self.error(token, "successor", message);
        };
        let block = self.block_use(token, &mut top.blocks);
        pending.successors.push(block);
        Ok(())
    }

    /// `(%0, %1 : i32, f32)`, if it is there.
    fn passed(&mut self) -> Parsed<(Uses, Types)> {
        let (mut values, mut types) = (Uses::new(), Types::new());
        if !self.accept(b'(') {
            return Ok((values, types));
        }
        self.list(b':', |p| {
            values.push(p.value_use()?);
            Ok(())
        })?;
        self.list(b')', |p| {
            types.push(p.ty()?);
            Ok(())
        })?;
        Ok((values, types))
    }

    fn switch(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &mut Pending<'a>,
        open: &mut [OpenRegion<'a>],
    ) -> Parsed<()> {
        let flag = draft.types[0].as_ref().and_then(|types| types.first().copied());
        let element = flag.unwrap_or_else(|| self.context.int_type(32));
        self.expect(b'[', "before the cases")?;
        let (mut cases, mut sizes) = (Vec::new(), Vec::new());
        let (mut first, mut types) = (true, [Types::new(), Types::new()]);
        self.list(b']', |p| {
            if first {
                p.expect_word("default")?;
            } else {
                cases.push(p.integer()?);
            }
            p.expect(b':', "before a block")?;
            p.successor(pending, open)?;
            let (values, more) = p.passed()?;
            let group = if first { 1 } else { 2 };
            if !first {
                sizes.push(values.len());
            }
            draft.operands[group].extend(values);
            types[group - 1].extend(more);
            first = false;
            Ok(())
        })?;
        let [default, others] = types;
        draft.types[1] = Some(default);
        draft.types[2] = Some(others);
        if !cases.is_empty() {
            let size = self.context.element_bytes(element).unwrap_or(4);
            let bytes: Vec<u8> = cases
                .iter()
                .flat_map(|&case| i128::from(case).to_le_bytes().into_iter().take(size))
                .collect();
            let ty = self.context.ty(TypeData::Vector {
                dims: [cases.len() as i64].into(),
                scalable: [false].into(),
                element,
            });
            let splat = cases.len() == 1;
            let data = AttrData::Dense { ty, bytes: bytes.into(), splat };
            let attr = self.context.attr(data);
            self.set_attr(draft, "case_values", attr);
        }
        let segments = self.i32s(sizes.into_iter());
        self.set_attr(draft, "case_operand_segments", segments);
        Ok(())
    }

    fn select_type(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let first = self.ty()?;
        let (condition, value) = match self.accept(b',') {
            true => (first, self.ty()?),
            false => (self.context.int_type(1), first),
        };
        draft.types = [condition, value, value].map(|ty| Some(smallvec![ty])).to_vec();
        Ok(())
    }

    /// `#map(%0)[%1]`.
    fn mapped(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let attr = self.attr()?;
        self.set_attr(draft, name, attr);
        let group = self.group_number(draft, args.get(1).map_or("", |arg| &arg[1..]));
        self.dims_and_symbols(draft, group)
    }

    pub(super) fn dims_and_symbols(&mut self, draft: &mut Draft<'a>, group: usize) -> Parsed<()> {
        let mut values = Uses::new();
        let mut value = |p: &mut Self| {
            values.push(p.value_use()?);
            Ok(())
        };
        self.expect(b'(', "before the dimensions")?;
        self.list(b')', &mut value)?;
        if self.accept(b'[') {
            self.list(b']', &mut value)?;
        }
        self.indices(draft, group, values);
        Ok(())
    }

    /// Makes `values`, which are indices, operand `group`.
    pub(super) fn indices(&self, draft: &mut Draft<'a>, group: usize, values: Uses) {
        draft.types[group] = Some(smallvec![self.index(); values.len()]);
        draft.operands[group] = values;
    }

    /// `[%0 + 1, symbol(%1)]`.
    fn access(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'static str,
        args: &[&'static str],
    ) -> Parsed<()> {
        let group = self.group_number(draft, args.get(1).map_or("", |arg| &arg[1..]));
        self.expect(b'[', "before the indices")?;
        let (map, operands) = self.affine_of_values(b']')?;
        self.set_attr(draft, name, map);
        let values = operands.dims.into_iter().chain(operands.symbols).collect();
        self.indices(draft, group, values);
        Ok(())
    }

    pub(super) fn arrow_results(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let mut types = SmallVec::new();
        if self.token.kind == Kind::Arrow {
            self.take();
            self.function_results(&mut types)?;
        }
        draft.set_results(&types);
        Ok(())
    }

    fn callee_type(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let token = self.token;
        let ty = self.ty()?;
        let TypeData::Function { inputs, results } = self.context.type_data(ty) else {
            return self.error(token, "callee-type", "expected the type of a function".into());
        };
        draft.types = vec![Some(smallvec![ty]), Some(inputs[..].into())];
        draft.set_results(results);
        Ok(())
    }

    fn structured(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        for (i, word) in ["ins", "outs"].into_iter().enumerate() {
            draft.types[i] = Some(Types::new());
            if !self.accept_word(word) {
                continue;
            }
            let (values, types) = self.passed()?;
            draft.operands[i] = values;
            draft.types[i] = Some(types);
        }
        Ok(())
    }

    /// `%a[%i], %b[%j], %n, %tag[%k], %stride, %size : types of the three buffers`.
    fn dma_start(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        // Where buffers stand among the operands.
        let (mut values, mut buffers) = (Uses::new(), Vec::new());
        loop {
            let value = self.value_use()?;
            if self.accept(b'[') {
                buffers.push(values.len());
                values.push(value);
                self.list(b']', |p| {
                    values.push(p.value_use()?);
                    Ok(())
                })?;
            } else {
                values.push(value);
            }
            // As in MLIR, a comma may be the last.
            if !self.accept(b',') || self.is(b':') {
                break;
            }
        }
        self.buffer_types(draft, values, &buffers)
    }

    /// `: types of the buffers`, which stand at these places among `values`; the others are indices.
    pub(super) fn buffer_types(
        &mut self,
        draft: &mut Draft<'a>,
        values: Uses,
        buffers: &[usize],
    ) -> Parsed<()> {
        let mut types: Types = smallvec![self.index(); values.len()];
        self.expect(b':', "before the types of the buffers")?;
        for (i, &at) in buffers.iter().enumerate() {
            if i > 0 {
                self.expect(b',', "before the type of the next buffer")?;
            }
            types[at] = self.ty()?;
        }
        draft.operands[0] = values;
        draft.types[0] = Some(types);
        Ok(())
    }

    fn generic_attributes(&mut self, draft: &mut Draft<'a>, dialect: &str) -> Parsed<()> {
        let mut entries = Vec::new();
        match self.token.kind {
            Kind::Hash => {
                let dict = self.attr()?;
                entries = self.context.entries(dict).to_vec();
            }
            _ => {
                self.expect(b'{', "before the maps and iterators")?;
                self.entries(&mut entries)?;
            }
        }
        for (name, attr) in entries {
            let attr = match self.context.attr_data(attr) {
                AttrData::Array(items) if self.context.text(name) == "iterator_types" => {
                    let items: Vec<Attr> =
                        items.iter().map(|&item| self.iterator(item, dialect)).collect();
                    self.context.array_attr(&items)
                }
                _ => attr,
            };
            draft.attrs.push((name, attr));
        }
        Ok(())
    }

    fn iterator(&self, item: Attr, dialect: &str) -> Attr {
        match self.context.as_text(item) {
            Some(word) => self.opaque(&format!("{dialect}.iterator_type<{word}>")),
            None => item,
        }
    }

    fn global(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        if self.token.kind == Kind::String {
            let visibility = self.attr()?;
            self.set_attr(draft, "sym_visibility", visibility);
        }
        if self.accept_word("constant") {
            self.set_attr(draft, "constant", Attr::UNIT);
        }
        let name = self.symbol_string()?;
        self.set_attr(draft, "sym_name", name);
        self.expect(b':', "before the type")?;
        let ty = self.ty()?;
        self.set_attr(draft, "type", self.context.type_attr(ty));
        if !self.accept(b'=') {
            return Ok(());
        }
        let value = match (self.accept_word("uninitialized"), self.context.type_data(ty)) {
            (true, _) => Attr::UNIT,
            (false, TypeData::MemRef { dims, element, .. }) if self.is_word("dense") => {
                let tensor = self.context.tensor_type(dims, *element);
                self.dense_of(tensor)?
            }
            _ => self.attr()?,
        };
        self.set_attr(draft, "initial_value", value);
        Ok(())
    }

    /// `(d0, d1) -> (d1, d0)`.
    fn permutation(&mut self, draft: &mut Draft<'a>, name: &'static str) -> Parsed<()> {
        let map = self.bare_map()?;
        self.set_attr(draft, name, map);
        Ok(())
    }
}
