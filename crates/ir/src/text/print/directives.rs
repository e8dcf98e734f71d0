//! The directives of formats; see [`Directive`].

use std::fmt;

use tangram_affine::{AffineExpr, AffineMap, Name, Sink};

use super::Printer;
use super::custom::{Spacing, segment};
use crate::assembly::{Directive, Group};
use crate::attributes::{Attr, AttrData};
use crate::module::{Op, Value};
use crate::types::{Type, TypeData};

/// Stands for an entry of a static list that an operand gives.
const DYNAMIC: i64 = i64::MIN;

impl<W: fmt::Write> Printer<'_, W> {
    pub(super) fn directive(
        &mut self,
        op: Op,
        directive: Directive,
        args: &[&'static str],
    ) -> fmt::Result {
        let module = self.module;
        let name = args.first().and_then(|arg| arg.strip_prefix('$')).unwrap_or("");
        let attr = module.attr(op, name);
        match directive {
            Directive::Flags => {
                self.flags(attr.filter(|&attr| !self.is_default(op, name, attr)), args)
            }
            Directive::Enum => self.enumerator(attr, args),
            Directive::Bits => self.bits(attr, args),
            Directive::TextFunction => self.text_function_signature(op, args),
            Directive::Requires | Directive::Without => Ok(()),
            Directive::Word => match attr.map(|attr| self.context.attr_data(attr)) {
                Some(AttrData::Opaque(text)) => {
                    let text = self.context.text(*text).trim_end_matches('>');
                    let prefix = args.get(1).copied().unwrap_or("");
                    self.literal(text.strip_prefix(prefix).unwrap_or(text).trim_start())
                }
                _ => Ok(()),
            },
            Directive::Keyword => match attr.filter(|&attr| attr != Attr::FALSE) {
                Some(_) => self.literal(args.get(1).copied().unwrap_or("")),
                None => Ok(()),
            },
            Directive::Int => {
                self.space()?;
                let value = attr.and_then(|attr| self.context.as_i64(attr)).unwrap_or(0);
                write!(self.out, "{value}")
            }
            Directive::Symbol => {
                self.space()?;
                let text = attr.and_then(|attr| self.context.as_text(attr)).unwrap_or("");
                self.symbol(text)
            }
            Directive::Mixed => self.mixed(op, name, args),
            Directive::Branch => self.branch(op, args),
            Directive::Switch => self.switch(op),
            Directive::Function => self.function_signature(op),
            Directive::SelectType => self.select_type(op),
            Directive::Map => {
                self.space()?;
                self.mapped(op, attr, args)
            }
            Directive::Access => self.access(op, attr, args),
            Directive::CountedLoop => self.counted_loop(op),
            Directive::AffineLoop => self.affine_loop(op),
            Directive::Results => self.arrow_results(op, true),
            Directive::LooseResults => self.arrow_results(op, false),
            Directive::WhileHeader => self.while_header(op),
            Directive::CalleeType => {
                self.space()?;
                self.ty(module.value_type(module.operand(op, 0)))
            }
            Directive::TypeAttr => {
                self.space()?;
                attr.map_or(Ok(()), |attr| self.attr(attr))
            }
            Directive::Structured => self.structured(op),
            Directive::GenericAttributes => {
                self.generic_attributes(op, args.get(1..).unwrap_or(&[]))
            }
            Directive::Global => self.global(op),
            Directive::Module => match module.attr(op, "sym_name") {
                Some(name) => {
                    self.space()?;
                    self.symbol(self.context.as_text(name).unwrap_or(""))
                }
                None => Ok(()),
            },
            Directive::Permutation => self.permutation(attr),
            Directive::Choice => {
                let word = args.get(if attr == Some(Attr::TRUE) { 2 } else { 1 });
                self.literal(word.copied().unwrap_or(""))
            }
            Directive::AllResults => {
                self.space()?;
                let results: Vec<Value> = module.results(op).collect();
                self.types_of(&results)
            }
            Directive::Hidden => Ok(()),
            Directive::Ints => {
                self.space()?;
                let numbers = attr.and_then(|attr| match args.get(1).copied().unwrap_or("") {
                    "i32" => self.module.int_list(attr),
                    _ => self.context.as_i64s(attr),
                });
                self.mixed_list(&numbers.unwrap_or_default(), &[], "[", "]")
            }
            Directive::DmaStart => self.dma_start(op),
            Directive::Nest => self.nest(op),
            Directive::Forall => self.forall(op),
            Directive::AffineNest => self.affine_nest(op),
            Directive::Angled => self.angled(attr),
            Directive::Maps => self.maps(op, name, attr),
            Directive::Payload => self.payload(op, args.get(1).copied().unwrap_or("")),
            Directive::AffineDma => self.affine_dma(op, args),
            Directive::TransferTypes | Directive::OuterTypes => Ok(()),
            Directive::Tokens => self.tokens(op, args),
            Directive::Grid => self.grid(op, args),
            Directive::Attributions => self.attributions(op, args),
            Directive::Width => self.width(op, name),
            Directive::Passed => self.typed_values(op, args),
        }
    }

    /// `<add>`.
    fn angled(&mut self, attr: Option<Attr>) -> fmt::Result {
        self.space()?;
        match attr.map(|attr| self.context.attr_data(attr)) {
            Some(AttrData::Opaque(text)) => {
                let text = self.context.text(*text);
                self.write(&text[text.find('<').unwrap_or(0)..])
            }
            _ => Ok(()),
        }
    }

    /// ` indexing_maps = [...]`, unless they are what the definition implies.
    fn maps(&mut self, op: Op, name: &str, attr: Option<Attr>) -> fmt::Result {
        let Some(attr) = attr.filter(|&attr| self.module.implied_attr(op, name) != Some(attr))
        else {
            return Ok(());
        };
        self.spacing = Spacing::AFTER_WORD;
        self.write(" ")?;
        self.write(name)?;
        self.write(" = ")?;
        self.attr(attr)
    }

    fn flags(&mut self, attr: Option<Attr>, args: &[&'static str]) -> fmt::Result {
        let Some(AttrData::Opaque(text)) = attr.map(|attr| self.context.attr_data(attr)) else {
            return Ok(());
        };
        let text = self.context.text(*text);
        let inside = text.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
        let Some(inside) = inside else { return Ok(()) };
        self.literal(args.get(1).copied().unwrap_or(""))?;
        write!(self.out, "<{inside}>")
    }

    fn enumerator(&mut self, attr: Option<Attr>, args: &[&'static str]) -> fmt::Result {
        let value = attr.and_then(|attr| self.context.as_i64(attr));
        let at = value.and_then(|value| usize::try_from(value).ok()).unwrap_or(usize::MAX);
        match args.get(2..).and_then(|names| names.get(at)) {
            Some(&"-") | None => Ok(()),
            Some(word) if args.get(1).is_some_and(|width| width.ends_with('"')) => {
                self.space()?;
                write!(self.out, "\"{word}\"")
            }
            Some(word) => self.literal(word),
        }
    }

    /// ` overflow<nsw, nuw>`, where a bit is set.
    fn bits(&mut self, attr: Option<Attr>, args: &[&'static str]) -> fmt::Result {
        let value = attr.and_then(|attr| self.context.as_i64(attr)).unwrap_or(0);
        let &[_, _, keyword, ref words @ ..] = args else { return Ok(()) };
        let set = |bit: usize| value >> bit & 1 == 1;
        let set: Vec<&str> = (0..words.len()).filter(|&i| set(i)).map(|i| words[i]).collect();
        if set.is_empty() {
            return Ok(());
        }
        self.literal(keyword)?;
        write!(self.out, "<{}>", set.join(", "))
    }

    pub(super) fn mixed(&mut self, op: Op, name: &str, args: &[&'static str]) -> fmt::Result {
        let module = self.module;
        let at = module.def(op).and_then(|d| d.operands.iter().position(|o| o.name == name));
        let values = segment(module, op, at.unwrap_or(0)).map(|i| module.operand(op, i));
        let values: Vec<Value> = values.collect();
        let list = args.get(1).and_then(|list| module.attr(op, list));
        let numbers = match args.get(3) {
            Some(&"i32") => {
                let narrow = list.and_then(|attr| module.int_list(attr)).unwrap_or_default();
                let wide = |n| if n == i64::from(i32::MIN) { DYNAMIC } else { n };
                narrow.into_iter().map(wide).collect()
            }
            _ => list.and_then(|attr| self.context.as_i64s(attr)).unwrap_or_default(),
        };
        let (open, close) = if args.get(2) == Some(&"round") { ("(", ")") } else { ("[", "]") };
        let tight = args.get(2) == Some(&"tight");
        if tight {
            self.spacing = Spacing::AFTER_WORD
        } else {
            self.space()?
        }
        self.mixed_list(&numbers, &values, open, close)
    }

    /// Numbers, and values in the place of those that are not known.
    pub(super) fn mixed_list(
        &mut self,
        numbers: &[i64],
        values: &[Value],
        open: &str,
        close: &str,
    ) -> fmt::Result {
        let mut values = values.iter().copied();
        self.write(open)?;
        for (i, &number) in numbers.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            match (number, number == DYNAMIC) {
                (_, true) => match values.next() {
                    Some(value) => self.value(value)?,
                    None => self.write("?")?,
                },
                (number, false) => write!(self.out, "{number}")?,
            }
        }
        self.write(close)
    }

    fn branch(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let module = self.module;
        let at: usize = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(0);
        self.space()?;
        if let Some(&block) = module.successors(op).get(at) {
            self.block_name(block)?;
        }
        let ranges = module.successor_operands(op);
        let range = ranges.and_then(|ranges| ranges.get(at).cloned()).unwrap_or(0..0);
        let values: Vec<Value> = range.map(|i| module.operand(op, i)).collect();
        self.passed(&values)
    }

    /// `(%0, %1 : i32, f32)`, or nothing.
    fn passed(&mut self, values: &[Value]) -> fmt::Result {
        if values.is_empty() {
            return Ok(());
        }
        self.write("(")?;
        self.values(values)?;
        self.write(" : ")?;
        self.types_of(values)?;
        self.write(")")
    }

    fn switch(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        let cases = module.attr(op, "case_values").map(|attr| self.context.attr_data(attr));
        let cases: Vec<u128> = match cases {
            Some(AttrData::Dense { ty, bytes, splat }) => self.dense_integers(*ty, bytes, *splat),
            _ => Vec::new(),
        };
        let ranges = module.successor_operands(op).unwrap_or_default();
        self.write(" [")?;
        for (i, &block) in module.successors(op).iter().enumerate() {
            self.write(if i == 0 { "" } else { "," })?;
            self.line(self.depth + 1)?;
            match i.checked_sub(1).and_then(|i| cases.get(i)) {
                None => self.write("default: ")?,
                Some(case) => write!(self.out, "{case}: ")?,
            }
            self.block_name(block)?;
            let range = ranges.get(i).cloned().unwrap_or(0..0);
            let values: Vec<Value> = range.map(|i| module.operand(op, i)).collect();
            self.passed(&values)?;
        }
        self.line(self.depth)?;
        self.spacing = Spacing::AFTER_WORD;
        self.write("]")
    }

    pub(super) fn dense_integers(&self, ty: Type, bytes: &[u8], splat: bool) -> Vec<u128> {
        let Some((dims, element)) = crate::shaped::shape(self.context, ty) else {
            return Vec::new();
        };
        let size = self.context.element_bytes(element).unwrap_or(1).max(1);
        // MLIR prints cases without a sign.
        let value = |chunk: &[u8]| chunk.iter().rev().fold(0u128, |n, &b| n << 8 | u128::from(b));
        let all: Vec<u128> = bytes.chunks(size).map(value).collect();
        let count: i64 = dims.iter().product();
        match (splat, all.first()) {
            (true, Some(&one)) => vec![one; usize::try_from(count).unwrap_or(0)],
            _ => all,
        }
    }

    fn select_type(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        self.space()?;
        let condition = module.value_type(module.operand(op, 0));
        if !self.context.is_boolean(condition) {
            self.ty(condition)?;
            self.write(", ")?;
        }
        self.ty(module.value_type(module.result(op, 0)))
    }

    /// `#map(%0)[%1]`.
    fn mapped(&mut self, op: Op, attr: Option<Attr>, args: &[&'static str]) -> fmt::Result {
        let values = self.values_of(op, args.get(1).copied().unwrap_or(""));
        let dims = |attr| match self.context.attr_data(attr) {
            AttrData::AffineMap(map) => Some((attr, map.dims())),
            AttrData::IntegerSet(set) => Some((attr, set.constraints().dims())),
            _ => None,
        };
        let Some((attr, dims)) = attr.and_then(dims) else { return Ok(()) };
        self.attr(attr)?;
        self.dims_and_symbols(dims, &values)
    }

    pub(super) fn dims_and_symbols(&mut self, dims: usize, values: &[Value]) -> fmt::Result {
        let (dims, symbols) = values.split_at(dims.min(values.len()));
        self.write("(")?;
        self.values(dims)?;
        self.write(")")?;
        if symbols.is_empty() {
            return Ok(());
        }
        self.write("[")?;
        self.values(symbols)?;
        self.write("]")
    }

    /// `[%0 + 1, symbol(%1)]`.
    fn access(&mut self, op: Op, attr: Option<Attr>, args: &[&'static str]) -> fmt::Result {
        let values = self.values_of(op, args.get(1).copied().unwrap_or(""));
        self.write("[")?;
        if let Some(map) = attr.and_then(|attr| self.context.as_affine_map(attr)) {
            for (i, &result) in map.results().iter().enumerate() {
                self.write(if i == 0 { "" } else { ", " })?;
                self.substituted(map, result, &values)?;
            }
        }
        self.spacing = Spacing::AFTER_WORD;
        self.write("]")
    }

    /// An expression of `map` with values in the place of dimensions and symbols.
    pub(super) fn substituted(
        &mut self,
        map: &AffineMap,
        expr: AffineExpr,
        values: &[Value],
    ) -> fmt::Result {
        map.print_expr(expr, &mut WithValues { printer: self, dims: map.dims(), values })
    }

    pub(super) fn arrow_results(&mut self, op: Op, always: bool) -> fmt::Result {
        let module = self.module;
        self.spacing = Spacing::AFTER_WORD;
        let results: Vec<Value> = module.results(op).collect();
        let function = |&value: &Value| {
            matches!(self.context.type_data(module.value_type(value)), TypeData::Function { .. })
        };
        let bare = !always && results.len() == 1 && !results.iter().any(function);
        if results.is_empty() {
            return Ok(());
        }
        self.write(if bare { " -> " } else { " -> (" })?;
        self.types_of(&results)?;
        self.write(if bare { "" } else { ")" })
    }

    fn structured(&mut self, op: Op) -> fmt::Result {
        self.spacing = Spacing::AFTER_WORD;
        for (i, word) in [(0, " ins("), (1, " outs(")] {
            let values = self.group(op, Group::Operand(i));
            if values.is_empty() {
                continue;
            }
            self.write(word)?;
            self.values(&values)?;
            self.write(" : ")?;
            self.types_of(&values)?;
            self.write(")")?;
        }
        Ok(())
    }

    fn dma_start(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        let operands: Vec<Value> = module.operands(op).collect();
        let (mut buffers, mut inside) = (Vec::new(), 0usize);
        for (i, &value) in operands.iter().enumerate() {
            let ty = module.value_type(value);
            let rank = match self.context.type_data(ty) {
                TypeData::MemRef { dims, .. } => Some(dims.len()),
                _ => None,
            };
            match inside {
                0 => self.write(if i == 0 { " " } else { ", " })?,
                _ => {
                    self.write(if buffers.last() == Some(&operands[i - 1]) { "" } else { ", " })?
                }
            }
            self.value(value)?;
            if inside > 0 {
                inside -= 1;
                self.write(if inside == 0 { "]" } else { "" })?;
            } else if let Some(rank) = rank {
                buffers.push(value);
                inside = rank;
                self.write(if rank == 0 { "[]" } else { "[" })?;
            }
        }
        self.spacing = Spacing::AFTER_WORD;
        self.write(" : ")?;
        self.types_of(&buffers)
    }

    fn generic_attributes(&mut self, op: Op, names: &[&str]) -> fmt::Result {
        let context = self.context;
        self.write(" {")?;
        let mut first = true;
        for &name in names {
            let Some(attr) = self.module.attr(op, name) else { continue };
            self.write(if first { "" } else { ", " })?;
            first = false;
            self.write(name)?;
            self.write(" = ")?;
            match context.attr_data(attr) {
                AttrData::Array(items) if name == "iterator_types" => self.iterators(items)?,
                _ => self.attr(attr)?,
            }
        }
        self.spacing = Spacing::AFTER_WORD;
        self.write("}")
    }

    fn iterators(&mut self, items: &[Attr]) -> fmt::Result {
        self.write("[")?;
        for (i, &item) in items.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            match self.context.attr_data(item) {
                AttrData::Opaque(text) => {
                    let text = self.context.text(*text);
                    let word = text.split_once(".iterator_type<");
                    let word = word.and_then(|(_, word)| word.strip_suffix('>')).unwrap_or(text);
                    write!(self.out, "\"{word}\"")?;
                }
                _ => self.attr(item)?,
            }
        }
        self.write("]")
    }

    fn global(&mut self, op: Op) -> fmt::Result {
        let (module, context) = (self.module, self.context);
        if let Some(visibility) = module.attr(op, "sym_visibility") {
            self.write(" ")?;
            self.attr(visibility)?;
        }
        if module.attr(op, "constant").is_some() {
            self.write(" constant")?;
        }
        self.write(" ")?;
        let name = module.attr(op, "sym_name").and_then(|attr| context.as_text(attr));
        self.symbol(name.unwrap_or(""))?;
        self.write(" : ")?;
        if let Some(ty) = module.attr(op, "type") {
            self.attr(ty)?;
        }
        self.spacing = Spacing::AFTER_WORD;
        match module.attr(op, "initial_value").map(|attr| (attr, context.attr_data(attr))) {
            None => Ok(()),
            Some((_, AttrData::Unit)) => self.write(" = uninitialized"),
            Some((_, AttrData::Dense { ty, bytes, splat })) => {
                self.write(" = ")?;
                self.dense(*ty, bytes, *splat)
            }
            Some((attr, _)) => {
                self.write(" = ")?;
                self.attr(attr)
            }
        }
    }

    fn permutation(&mut self, attr: Option<Attr>) -> fmt::Result {
        self.space()?;
        match attr.and_then(|attr| self.context.as_affine_map(attr)) {
            Some(map) => write!(self.out, "{map}"),
            None => Ok(()),
        }
    }
}

/// Takes an expression whose names are values.
struct WithValues<'p, 'a, W: fmt::Write> {
    printer: &'p mut Printer<'a, W>,
    dims: usize,
    values: &'p [Value],
}

impl<W: fmt::Write> Sink for WithValues<'_, '_, W> {
    fn text(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        self.printer.out.write_fmt(text)
    }

    fn name(&mut self, name: Name) -> fmt::Result {
        let (at, symbol) = match name {
            Name::Dim(i) => (i as usize, false),
            Name::Symbol(i) => (self.dims + i as usize, true),
        };
        let Some(&value) = self.values.get(at) else { return self.text(format_args!("{name}")) };
        self.printer.write(if symbol { "symbol(" } else { "" })?;
        self.printer.value(value)?;
        self.printer.write(if symbol { ")" } else { "" })
    }
}
