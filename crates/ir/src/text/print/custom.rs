//! Operations in the form that their format says.

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashSet;
use tangram_affine::AffineMap;

use super::Printer;
use super::operations::{PrintTask, is_inherent};
use crate::assembly::{Anchor, DictStyle, Directive, Group, Instr, Program, RegionStyle};
use crate::attributes::{Attr, AttrData};
use crate::context::Str;
use crate::location::{Loc, LocData};
use crate::module::{Module, Op, Region, Value};
use crate::op_def::{Absence, Arity, OpDef, ResultDef, Traits};

/// What stands before the next piece, as MLIR's printers decide it.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    /// Whether a space may follow what was printed last.
    wanted: bool,
    /// Whether that was punctuation.
    punctuation: bool,
}

impl Spacing {
    pub(super) const AFTER_WORD: Spacing = Spacing { wanted: true, punctuation: false };
}

/// The operands of `op` that stand for operand `i` of its definition.
pub(super) fn segment(module: &Module, op: Op, i: usize) -> Range<usize> {
    let total = module.operand_count(op);
    let Some(def) = module.def(op) else { return 0..0 };
    const SIZES: &str = "operandSegmentSizes";
    let sizes = module.attr(op, SIZES).filter(|_| is_inherent(def, SIZES));
    let sizes = sizes.and_then(|attr| module.int_list(attr));
    if let Some(sizes) = sizes {
        let sum = |n: usize| sizes.iter().take(n).map(|&size| size.max(0) as usize).sum::<usize>();
        return sum(i).min(total)..sum(i + 1).min(total);
    }
    let open = |operand: &crate::OperandDef| operand.arity != Arity::One;
    let variadic = def.operands.iter().filter(|operand| open(operand)).count();
    let single = def.operands.len() - variadic;
    let each = (total.saturating_sub(single)).checked_div(variadic).unwrap_or(0);
    let size = |operand: &crate::OperandDef| if open(operand) { each } else { 1 };
    let start: usize = def.operands.iter().take(i).map(size).sum();
    let end = start + def.operands.get(i).map_or(0, size);
    start.min(total)..end.min(total)
}

/// The arguments of the directive for a payload in a format, if there is one.
fn payload_args(program: &Program) -> Option<&[&'static str]> {
    program.code.iter().find_map(|instr| match instr {
        Instr::Directive(Directive::Payload, args) => Some(&args[..]),
        _ => None,
    })
}

/// How many results of `op` stand for each result of its definition.
pub(super) fn result_sizes(module: &Module, op: Op, def: &OpDef) -> Vec<usize> {
    const SIZES: &str = "resultSegmentSizes";
    let sizes = module.attr(op, SIZES).filter(|_| is_inherent(def, SIZES));
    let sizes = sizes.and_then(|attr| module.int_list(attr));
    if let Some(sizes) = sizes.filter(|sizes| sizes.len() == def.results.len()) {
        return sizes.iter().map(|&size| size.max(0) as usize).collect();
    }
    let open = def.results.iter().filter(|result| result.arity != Arity::One).count();
    let rest = module.result_count(op).saturating_sub(def.results.len() - open);
    let each = rest.checked_div(open).unwrap_or(0);
    let size = |result: &ResultDef| if result.arity == Arity::One { 1 } else { each };
    def.results.iter().map(size).collect()
}

/// The results of `op` that stand for result `i` of its definition.
fn result_segment(module: &Module, op: Op, i: usize) -> Range<usize> {
    let total = module.result_count(op);
    let Some(def) = module.def(op).filter(|def| def.results.len() > 1) else { return 0..total };
    let sizes = result_sizes(module, op, def);
    let start: usize = sizes.iter().take(i).sum();
    let end = start + sizes.get(i).copied().unwrap_or(0);
    start.min(total)..end.min(total)
}

/// Whether the results of `map`, with `values` in the place of its inputs, name each of them, and
/// none is two inputs: a text of results alone has no others, and knows a value by its name.
fn names_each_once(map: &AffineMap, values: &[Value]) -> bool {
    let (dims, symbols) = map.used();
    let different: FxHashSet<Value> = values.iter().copied().collect();
    dims.into_iter().chain(symbols).all(|used| used) && different.len() == values.len()
}

impl<'a, W: fmt::Write> Printer<'a, W> {
    /// The format of `op`, if it is to be printed by one.
    pub(super) fn program(&self, op: Op) -> Option<&'a Program> {
        let module = self.module;
        if self.options.generic {
            return None;
        }
        let program = self.context.program(module.name(op))?;
        let def = module.def(op)?;
        let names_all = def.traits.contains(Traits::SAME_SIZES)
            || def.operands.iter().filter(|o| o.arity != Arity::One).count() < 2
            || module.attr(op, "operandSegmentSizes").is_some();
        let shows_all = def.implies.is_none() || module.is_as_implied(op);
        let has = |name: &str| {
            let name = name.trim_start_matches('$');
            match def.operands.iter().position(|operand| operand.name == name) {
                Some(i) => !segment(module, op, i).is_empty(),
                None => module.attr(op, name).is_some(),
            }
        };
        let fits = program.code.iter().all(|instr| match instr {
            Instr::Region(_, style) if style.inline => {
                self.inline_op(op, style.terminator).is_some()
            }
            Instr::Region(i, style) if style.hidden_args && self.options.locations => {
                program.says_places() || self.begins_with_arguments(op, *i)
            }
            Instr::Directive(Directive::Requires, args) => args.iter().all(|&name| has(name)),
            Instr::Directive(Directive::Without, args) => !args.iter().any(|&name| has(name)),
            Instr::Directive(Directive::Bits, args) => self.has_words(op, args),
            Instr::Directive(Directive::Ints, args) => self.is_array(op, args),
            Instr::Directive(Directive::Enum, args) => self.has_word(op, args),
            Instr::Directive(Directive::Access, args) => self.names_indices(op, args),
            Instr::Directive(Directive::AffineNest, _) => self.names_bounds(op),
            _ => true,
        });
        (names_all && shows_all && fits).then_some(program)
    }

    /// Whether the arguments of region `i` come from the line that `op` begins on, or from nowhere:
    /// the text of a loop has no place for where its counters come from.
    fn begins_with_arguments(&self, op: Op, i: usize) -> bool {
        let line = |loc| match self.context.loc_data(loc) {
            LocData::File { file, line, .. } => Some((*file, *line)),
            _ => None,
        };
        let around = line(self.module.loc(op));
        self.entry_args(op, i).into_iter().all(|arg| {
            let loc = self.module.arg_loc(arg);
            loc == Loc::UNKNOWN || around.is_some() && line(loc) == around
        })
    }

    /// Whether the number that `enum` prints has a word, or is the one that has none.
    fn has_word(&self, op: Op, args: &[&'static str]) -> bool {
        let &[name, _, ref words @ ..] = args else { return true };
        let Some(attr) = self.module.attr(op, name.trim_start_matches('$')) else { return true };
        let at = self.context.as_i64(attr).and_then(|value| usize::try_from(value).ok());
        at.is_some_and(|at| words.get(at).is_some_and(|&word| word != "-" || at == 0))
    }

    /// Whether the maps of `access` name each operand once.
    fn names_indices(&self, op: Op, args: &[&'static str]) -> bool {
        let &[map, operands] = args else { return true };
        let attr = self.module.attr(op, map.trim_start_matches('$'));
        let map = attr.and_then(|attr| self.context.as_affine_map(attr));
        map.is_none_or(|map| names_each_once(map, &self.values_of(op, operands)))
    }

    /// Whether the bounds of `affine-nest` name each operand once.
    fn names_bounds(&self, op: Op) -> bool {
        let map = |name| {
            let attr = self.module.attr(op, name)?;
            self.context.as_affine_map(attr)
        };
        let (Some(lower), Some(upper)) = (map("lowerBoundsMap"), map("upperBoundsMap")) else {
            return true;
        };
        let values: Vec<Value> = self.module.operands(op).collect();
        let (of_lower, of_upper) = values.split_at(lower.inputs().min(values.len()));
        names_each_once(lower, of_lower) && names_each_once(upper, of_upper)
    }

    /// Whether what `ints` prints is an array as it is read.
    fn is_array(&self, op: Op, args: &[&'static str]) -> bool {
        let &[name, ref width @ ..] = args else { return true };
        let Some(attr) = self.module.attr(op, name.trim_start_matches('$')) else { return true };
        match self.context.attr_data(attr) {
            AttrData::DenseArray { element, .. } => {
                width == ["i32"] && *element == self.context.int_type(32)
            }
            AttrData::I64s(_) => width.is_empty(),
            _ => false,
        }
    }

    /// Whether the flags that `bits` prints are a number, and each of its bits has a word.
    fn has_words(&self, op: Op, args: &[&'static str]) -> bool {
        let &[name, _, _, ref words @ ..] = args else { return true };
        let Some(attr) = self.module.attr(op, name.trim_start_matches('$')) else { return true };
        let value = self.context.as_i64(attr);
        value.is_some_and(|value| u64::try_from(value).is_ok_and(|bits| bits >> words.len() == 0))
    }

    /// Whether the terminator `last` of a region of `op` says nothing that reading would not add.
    fn is_implied(&self, op: Op, last: Op, style: RegionStyle) -> bool {
        let module = self.module;
        let silent = !style.shown && (style.always || module.result_count(op) == 0);
        silent
            && style.terminator == Some(module.name_text(last))
            && module.attrs(last) == Attr::EMPTY_DICT
            && module.operand_count(last) == 0
            // Readers choose where what they add comes from.
            && !self.options.locations
    }

    /// The operation that the region of `op` holds on one line: its results, or nothing, are what
    /// the terminator takes; or the terminator alone.
    fn inline_op(&self, op: Op, terminator: Option<&str>) -> Option<Op> {
        let module = self.module;
        let &[region] = module.regions(op) else { return None };
        let block = module.first_block(region).filter(|&b| module.next_block(b).is_none())?;
        let (first, last) = (module.first_op(block)?, module.last_op(block)?);
        let ends = terminator == Some(module.name_text(last)) && module.args(block).is_empty();
        let passes =
            module.next(first) == Some(last) && module.operands(last).eq(module.results(first));
        (ends && (first == last || passes)).then_some(first)
    }

    /// `%0 = arith.addi`.
    pub(super) fn custom_head(&mut self, op: Op) -> fmt::Result {
        self.results(op)?;
        let name = self.module.name_text(op);
        let dialect = self.dialects.last().copied().unwrap_or("builtin");
        let short = name.strip_prefix(dialect).and_then(|rest| rest.strip_prefix('.'));
        let short = short.filter(|rest| !rest.contains('.'));
        self.write(short.unwrap_or(name))?;
        self.spacing = Spacing::AFTER_WORD;
        Ok(())
    }

    /// Interprets the format of `op` from `pc` on; returns how many regions are open now that
    /// were not.
    pub(super) fn code(
        &mut self,
        op: Op,
        mut pc: usize,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        let Some(program) = self.context.program(self.module.name(op)) else { return Ok(0) };
        while let Some(instr) = program.code.get(pc) {
            pc += 1;
            match instr {
                Instr::Unless(anchor, end) => {
                    if !self.is_there(op, *anchor) {
                        pc = *end;
                    }
                }
                Instr::Region(i, style) => {
                    let Some(&region) = self.module.regions(op).get(*i) else { continue };
                    return self.custom_region(op, region, *style, pc, steps);
                }
                Instr::Regions => {
                    self.space()?;
                    steps.push(PrintTask::Regions(op, 0, pc));
                    return Ok(0);
                }
                Instr::Cases(terminator) => {
                    self.space()?;
                    steps.push(PrintTask::Cases(op, 1, pc, *terminator));
                    return Ok(0);
                }
                _ => self.piece(op, program, instr)?,
            }
        }
        if self.options.locations {
            self.write(" ")?;
            self.location(self.module.loc(op))?;
        }
        Ok(0)
    }

    fn piece(&mut self, op: Op, program: &Program, instr: &Instr) -> fmt::Result {
        match instr {
            Instr::Literal(text) => self.literal(text),
            Instr::Operand(i) => {
                self.space()?;
                let values = self.group(op, Group::Operand(*i));
                self.values(&values)
            }
            Instr::Attr(name) => {
                self.space()?;
                match self.module.attr(op, name) {
                    Some(attr) => self.attr(attr),
                    None => Ok(()),
                }
            }
            Instr::AttrDict(style) => self.attr_dict(op, &program.shown, *style),
            Instr::Type(group) => {
                self.space()?;
                let values = self.group(op, *group);
                self.types_of(&values)
            }
            Instr::FunctionalType => {
                self.space()?;
                self.functional_type(op)
            }
            Instr::Directive(directive, args) => self.directive(op, *directive, args),
            Instr::Unless(..) | Instr::Region(..) | Instr::Regions | Instr::Cases(_) => Ok(()),
        }
    }

    fn is_there(&self, op: Op, anchor: Anchor) -> bool {
        let module = self.module;
        match anchor {
            Anchor::Operand(i) => !segment(module, op, i).is_empty(),
            Anchor::Attr(name) => {
                module.attr(op, name).is_some_and(|attr| !self.is_default(op, name, attr))
            }
            Anchor::Results => module.result_count(op) > 0,
            Anchor::Region(i) => {
                let region = module.regions(op).get(i);
                region.is_some_and(|&region| module.first_block(region).is_some())
            }
        }
    }

    /// The values of `group`.
    pub(super) fn group(&self, op: Op, group: Group) -> Vec<Value> {
        let module = self.module;
        match group {
            Group::Operand(i) => {
                let range = segment(module, op, i);
                range.map(|at| module.operand(op, at)).collect()
            }
            Group::Result(i) => {
                result_segment(module, op, i).map(|at| module.result(op, at)).collect()
            }
        }
    }

    /// Writes the space before anything but a literal, if there is one.
    pub(super) fn space(&mut self) -> fmt::Result {
        let Spacing { wanted, punctuation } = self.spacing;
        self.spacing = Spacing::AFTER_WORD;
        if wanted || !punctuation { self.write(" ") } else { Ok(()) }
    }

    pub(super) fn literal(&mut self, text: &str) -> fmt::Result {
        let Spacing { wanted, punctuation } = self.spacing;
        if text.trim().is_empty() {
            self.write(text)?;
            self.spacing = Spacing { wanted: false, punctuation: true };
            return Ok(());
        }
        let first = text.chars().next().unwrap_or(' ');
        let tight = if punctuation { ">)}]," } else { "<>(){}[]," };
        let long = text.len() != 1 && text != "->";
        if wanted && (long || !tight.contains(first)) {
            self.write(" ")?;
        }
        self.write(text)?;
        let wanted = text.len() != 1 || !"<({[".contains(first);
        self.spacing = Spacing { wanted, punctuation: !(first == '_' || first.is_alphabetic()) };
        Ok(())
    }

    /// Values separated by commas.
    pub(super) fn values(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &value) in values.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.value(value)?;
        }
        Ok(())
    }

    /// The types of values separated by commas.
    pub(super) fn types_of(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &value) in values.iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.ty(self.module.value_type(value))?;
        }
        Ok(())
    }

    fn functional_type(&mut self, op: Op) -> fmt::Result {
        let operands: Vec<Value> = self.module.operands(op).collect();
        self.write("(")?;
        self.types_of(&operands)?;
        self.write(") -> ")?;
        self.result_types(op)
    }

    /// The attributes that nothing shows.
    pub(super) fn attr_dict(&mut self, op: Op, shown: &[&str], style: DictStyle) -> fmt::Result {
        let context = self.context;
        let def = self.module.def(op);
        // The text shows how many operands each list has.
        let counted = |name: &str| {
            name.ends_with("SegmentSizes") && def.is_some_and(|def| is_inherent(def, name))
        };
        let entries: Vec<(Str, Attr)> = context.entries(self.module.attrs(op)).to_vec();
        let rest: Vec<(Str, Attr)> = entries
            .into_iter()
            .filter(|&(name, attr)| {
                let name = context.text(name);
                !shown.contains(&name) && !counted(name) && !self.is_default(op, name, attr)
            })
            .collect();
        self.spacing = Spacing::AFTER_WORD;
        if rest.is_empty() {
            return Ok(());
        }
        self.write(match style {
            DictStyle::Bare => " ",
            DictStyle::Keyword => " attributes ",
            DictStyle::Assigned => " attrs =  ",
        })?;
        self.dictionary(&rest)
    }

    /// Returns whether an attribute of the operation itself means what its absence means.
    pub(super) fn is_default(&self, op: Op, name: &str, attr: Attr) -> bool {
        let Some(def) = self.module.def(op).and_then(|def| def.attr(name)) else { return false };
        match def.absence {
            Absence::Plain => false,
            Absence::Means(text) | Absence::Hides(text) => attr == self.context.attr_of(text),
            Absence::HidesIf(hides) | Absence::Becomes(_, hides) => hides(self.module, op, attr),
        }
    }

    fn custom_region(
        &mut self,
        op: Op,
        region: Region,
        style: RegionStyle,
        pc: usize,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        if style.mapper {
            return self.mapper(op, region, style, pc, steps);
        }
        self.space()?;
        if let (true, Some(inside)) = (style.inline, self.inline_op(op, style.terminator)) {
            self.write("{ ")?;
            steps.extend([
                PrintTask::Code(op, pc),
                PrintTask::Text(" }"),
                PrintTask::Unnamed(inside),
            ]);
            return Ok(0);
        }
        self.braced(op, region, style, PrintTask::Code(op, pc), steps)
    }

    /// A region with its arguments in front on a line of its own, unless a payload stood for it.
    fn mapper(
        &mut self,
        op: Op,
        region: Region,
        style: RegionStyle,
        pc: usize,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        steps.push(PrintTask::Code(op, pc));
        if self.shown_payload(op).is_some() {
            return Ok(0);
        }
        self.line(self.depth + 1)?;
        self.write("(")?;
        for (i, arg) in self.entry_args(op, 0).into_iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.argument(arg)?;
        }
        self.write(") ")?;
        let style = RegionStyle { hidden_args: true, ..style };
        Ok(1 + self.braced(op, region, style, PrintTask::Outdent, steps)?)
    }

    /// The operation that is printed in the place of the region of `op`.
    fn shown_payload(&self, op: Op) -> Option<Op> {
        let program = self.context.program(self.module.name(op))?;
        let args = payload_args(program)?;
        self.module.payload(op, args.first()?, args.contains(&"init"))
    }

    /// ` { arith.addf }`, where one operation is all that the region does.
    pub(super) fn payload(&mut self, op: Op, quiet: &str) -> fmt::Result {
        let Some(payload) = self.shown_payload(op) else { return Ok(()) };
        let (module, context) = (self.module, self.context);
        self.write(" { ")?;
        self.write(module.name_text(payload))?;
        let mut shown = self.with_defaults(payload);
        shown.retain(|&(name, attr)| {
            context.text(name) != quiet || !self.is_default(payload, quiet, attr)
        });
        if !shown.is_empty() {
            self.write(" ")?;
            self.dictionary(&shown)?;
        }
        self.spacing = Spacing::AFTER_WORD;
        self.write(" }")
    }

    /// Region `i` of `op` and those after it, separated by commas, and then its format from `pc`.
    pub(super) fn regions(
        &mut self,
        op: Op,
        i: usize,
        pc: usize,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        let Some(&region) = self.module.regions(op).get(i) else {
            steps.push(PrintTask::Code(op, pc));
            return Ok(0);
        };
        self.write(if i == 0 { "" } else { ", " })?;
        let style = RegionStyle::default();
        self.braced(op, region, style, PrintTask::Regions(op, i + 1, pc), steps)
    }

    /// Case `i` of `op` and those after it, then the default, which is its first region.
    pub(super) fn cases(
        &mut self,
        op: Op,
        i: usize,
        pc: usize,
        terminator: Option<&'static str>,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        let regions = self.module.regions(op);
        // As in MLIR, only that of the default goes without saying.
        let style = RegionStyle::default();
        self.line(self.depth)?;
        if let Some(&region) = regions.get(i) {
            let cases = self.module.attr(op, "cases").and_then(|attr| self.context.as_i64s(attr));
            let case = cases.and_then(|cases| cases.get(i - 1).copied()).unwrap_or(0);
            write!(self.out, "case {case} ")?;
            return self.braced(
                op,
                region,
                style,
                PrintTask::Cases(op, i + 1, pc, terminator),
                steps,
            );
        }
        self.write("default ")?;
        match regions.first() {
            Some(&region) => {
                let style = RegionStyle { terminator, ..style };
                self.braced(op, region, style, PrintTask::Code(op, pc), steps)
            }
            None => Ok(0),
        }
    }

    /// A region in braces, and then `next`.
    fn braced(
        &mut self,
        op: Op,
        region: Region,
        style: RegionStyle,
        next: PrintTask,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        let module = self.module;
        self.write("{")?;
        if !self.options.regions {
            self.write("...}")?;
            steps.push(next);
            return Ok(0);
        }
        steps.extend([next, PrintTask::Close]);
        if let Some(block) = module.first_block(region) {
            self.hidden
                .extend(module.last_op(block).filter(|&last| self.is_implied(op, last, style)));
            steps.push(match style.hidden_args || module.args(block).is_empty() {
                true => PrintTask::Inside(block),
                false => PrintTask::Block(block, true),
            });
        }
        self.enter_region(op);
        Ok(1)
    }
}
