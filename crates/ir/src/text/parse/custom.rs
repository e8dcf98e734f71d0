//! Operations in the form that their format says.

use smallvec::SmallVec;

use super::blocks::Blocks;
use super::locs::{Located, ReadLoc};
use super::operations::{OpenRegion, Pending};
use super::values::ValueUse;
use super::{Failed, Kind, Parsed, Parser, Token};
use crate::assembly::{Anchor, DictStyle, Directive, Group, Instr, Program, RegionStyle};
use crate::attributes::{Attr, AttrData};
use crate::context::{Context, Name, Str};
use crate::module::{Block, Op, OpState, Point, Region, Value};
use crate::op_def::{Arity, InferCx, OpDef, Traits};
use crate::payload::Payload;
use crate::types::Type;

/// The types of the values of one operand or result of a definition.
pub(super) type Types = SmallVec<[Type; 2]>;
/// The values of one operand of a definition.
pub(super) type Uses = SmallVec<[ValueUse; 2]>;

/// What was read of an operation so far.
pub(super) struct Draft<'a> {
    pub(super) def: &'static OpDef,
    op_name: Name,
    pub(super) program: &'a Program,
    pc: usize,
    /// The uses for each operand of the definition.
    pub(super) operands: Vec<Uses>,
    /// The types for each operand of the definition, where known.
    pub(super) types: Vec<Option<Types>>,
    /// The types for each result of the definition, where known.
    pub(super) results: Vec<Option<Types>>,
    pub(super) attrs: Vec<(Str, Attr)>,
    /// Arguments of the next region that stand in front of it.
    pub(super) region_args: Vec<(Token, Type)>,
    /// The locations that are written behind some of them, by number.
    pub(super) arg_locs: Vec<(usize, ReadLoc)>,
    /// Terminators of its regions that the text leaves out.
    implied: SmallVec<[Op; 2]>,
    /// Arguments of its regions for whose places the text has none.
    unplaced: SmallVec<[Value; 2]>,
    /// The next region has an entry block also if it has no arguments.
    style: RegionStyle,
    /// Whether a list of regions has begun.
    listing: bool,
    /// The numbers of the cases so far.
    cases: Vec<i64>,
    /// Whether the next region is the first one, which was made before.
    first_region: bool,
    /// What stands in the place of the region.
    pub(super) payload: Option<Payload>,
}

impl<'a> Draft<'a> {
    fn new(op_name: Name, def: &'static OpDef, program: &'a Program) -> Draft<'a> {
        let mut draft = Draft {
            def,
            op_name,
            program,
            pc: 0,
            operands: Vec::new(),
            types: Vec::new(),
            results: Vec::new(),
            attrs: Vec::new(),
            region_args: Vec::new(),
            arg_locs: Vec::new(),
            implied: SmallVec::new(),
            unplaced: SmallVec::new(),
            style: RegionStyle::default(),
            listing: false,
            cases: Vec::new(),
            first_region: false,
            payload: None,
        };
        draft.restart(op_name, def, program);
        draft
    }

    /// Forgets what was read and begins with another operation; memory is kept.
    fn restart(&mut self, op_name: Name, def: &'static OpDef, program: &'a Program) {
        (self.def, self.op_name, self.program, self.pc) = (def, op_name, program, 0);
        self.operands.iter_mut().for_each(Uses::clear);
        self.operands.resize_with(def.operands.len(), Uses::new);
        self.types.clear();
        self.types.resize_with(def.operands.len(), || None);
        self.results.clear();
        self.results.resize_with(def.results.len(), || None);
        self.attrs.clear();
        self.region_args.clear();
        self.arg_locs.clear();
        self.implied.clear();
        self.unplaced.clear();
        self.style = RegionStyle::default();
        self.listing = false;
        self.cases.clear();
        self.first_region = false;
        self.payload = None;
    }

    /// Gives the results these types, as those of one variadic result.
    pub(super) fn set_results(&mut self, types: &[Type]) {
        self.results.clear();
        self.results.push(Some(types.into()));
    }

    /// The attribute `name`, if it was read.
    pub(super) fn attr(&self, context: &Context, name: &str) -> Option<Attr> {
        self.attrs.iter().find(|entry| context.text(entry.0) == name).map(|entry| entry.1)
    }
}

impl<'a> Parser<'a> {
    /// Reads an operation whose name is the current word.
    pub(super) fn custom_operation(
        &mut self,
        results: SmallVec<[(Token, u32); 1]>,
        block: Block,
        open: &mut Vec<OpenRegion<'a>>,
        at: &mut Block,
    ) -> Parsed<()> {
        let Some((op_name, def, program)) = self.custom_name(open) else {
            return self.no_name();
        };
        let token = self.take();
        self.note_operation(token, op_name);
        let draft = match self.drafts.pop() {
            Some(mut draft) => {
                draft.restart(op_name, def, program);
                draft
            }
            None => Box::new(Draft::new(op_name, def, program)),
        };
        let (loc, draft) = (self.place(token.start), Some(draft));
        let mut pending = Pending::new(token, loc);
        (pending.results, pending.draft) = (results, draft);
        self.custom_body(pending, Some(block), open, at)
    }

    /// Goes on with the format of `pending`, up to its next region or its end.
    pub(super) fn custom_body(
        &mut self,
        mut pending: Pending<'a>,
        block: Option<Block>,
        open: &mut Vec<OpenRegion<'a>>,
        at: &mut Block,
    ) -> Parsed<()> {
        let Some(mut draft) = pending.draft.take() else { return Err(Failed) };
        let program = draft.program;
        while let Some(instr) = program.code.get(draft.pc) {
            draft.pc += 1;
            match instr {
                Instr::Unless(anchor, end) => {
                    let blank = |instr: &&Instr| matches!(instr, Instr::Literal("" | " "));
                    let first = program.code[draft.pc..].iter().find(|instr| !blank(instr));
                    if !self.begins(&draft, *anchor, first) {
                        draft.pc = *end;
                    }
                }
                Instr::Region(_, style) if style.mapper && draft.payload.is_some() => {}
                Instr::Region(_, style) => {
                    draft.style = *style;
                    if style.mapper {
                        self.mapper_args(&mut draft)?;
                    }
                    pending.draft = Some(draft);
                    return self.custom_region(pending, block, open, at);
                }
                Instr::Regions => {
                    let more = if draft.listing { self.accept(b',') } else { self.is(b'{') };
                    draft.listing = more;
                    if more {
                        draft.pc -= 1;
                        draft.style = RegionStyle::default();
                        pending.draft = Some(draft);
                        return self.custom_region(pending, block, open, at);
                    }
                }
                Instr::Cases(terminator) => {
                    draft.style = RegionStyle::default();
                    if self.accept_word("case") {
                        let case = self.integer()?;
                        draft.cases.push(case);
                        draft.pc -= 1;
                    } else {
                        self.expect_word("default")?;
                        let cases = self.context.i64s_attr(&std::mem::take(&mut draft.cases));
                        self.set_attr(&mut draft, "cases", cases);
                        draft.first_region = true;
                        draft.style.terminator = *terminator;
                    }
                    pending.draft = Some(draft);
                    return self.custom_region(pending, block, open, at);
                }
                _ => self.piece(&mut draft, &mut pending, instr, open)?,
            }
        }
        self.end_custom(pending, draft, block)
    }

    /// Returns whether an optional part is there.
    fn begins(&self, draft: &Draft<'a>, anchor: Anchor, first: Option<&Instr>) -> bool {
        match (first, anchor) {
            (Some(Instr::Literal(text)), Anchor::Operand(i)) if *text == ":" => {
                !draft.operands[i].is_empty()
            }
            (Some(Instr::Literal(text)), _) => self.at_literal(text),
            (Some(Instr::Directive(Directive::Word, args)), _) => {
                let words = args.get(2..).unwrap_or(&[]);
                words.contains(&self.spelling(self.token))
            }
            (Some(Instr::Operand(_)), _) => self.token.kind == Kind::Percent,
            (Some(Instr::Attr(_)), _) => self.is(b'[') || self.token.kind == Kind::Hash,
            (Some(Instr::Region(..)), _) => self.is(b'{'),
            _ => false,
        }
    }

    fn at_literal(&self, text: &str) -> bool {
        match text {
            "->" => self.token.kind == Kind::Arrow,
            "[]" => self.is(b'[') && self.touches(b']'),
            _ => self.spelling(self.token) == text,
        }
    }

    pub(super) fn literal_text(&mut self, text: &str) -> Parsed<()> {
        if self.at_literal(text) {
            self.take();
            return Ok(());
        }
        self.unexpected(&format!("`{text}`"))
    }

    fn piece(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &mut Pending<'a>,
        instr: &Instr,
        open: &mut [OpenRegion<'a>],
    ) -> Parsed<()> {
        match instr {
            Instr::Literal("" | " ") => Ok(()),
            Instr::Literal(text) => self.literal_text(text),
            Instr::Operand(i) => self.operand(draft, *i),
            Instr::Attr(name) => {
                let attr = self.attr()?;
                self.set_attr(draft, name, attr);
                Ok(())
            }
            Instr::AttrDict(style) => {
                match style {
                    DictStyle::Bare => {}
                    DictStyle::Keyword if self.accept_word("attributes") => {}
                    DictStyle::Assigned if self.accept_word("attrs") => {
                        self.expect(b'=', "after `attrs`")?;
                    }
                    DictStyle::Keyword | DictStyle::Assigned => return Ok(()),
                }
                match self.accept(b'{') {
                    true => self.entries(&mut draft.attrs),
                    false => Ok(()),
                }
            }
            Instr::Type(group) => self.group_types(draft, *group),
            Instr::FunctionalType => self.functional(draft),
            Instr::Directive(directive, args) => {
                self.directive(draft, pending, *directive, args, open)
            }
            Instr::Unless(..) | Instr::Region(..) | Instr::Regions | Instr::Cases(_) => Ok(()),
        }
    }

    /// One value, or those that stand for a variadic operand.
    fn operand(&mut self, draft: &mut Draft<'a>, i: usize) -> Parsed<()> {
        let arity = draft.def.operands[i].arity;
        if arity != Arity::One && self.token.kind != Kind::Percent {
            return Ok(());
        }
        loop {
            let value = self.value_use()?;
            draft.operands[i].push(value);
            if arity != Arity::Variadic || !self.accept(b',') {
                return Ok(());
            }
        }
    }

    /// As many types as `group` has values, or for results any number.
    fn group_types(&mut self, draft: &mut Draft<'a>, group: Group) -> Parsed<()> {
        let count = match group {
            Group::Operand(i) => Some(draft.operands[i].len()),
            Group::Result(i) if draft.def.results[i].arity == Arity::One => Some(1),
            Group::Result(_) => None,
        };
        let mut types = Types::new();
        while count.is_none_or(|count| types.len() < count) {
            types.push(self.ty()?);
            let more = count.is_none_or(|count| types.len() < count);
            if more && !self.accept(b',') {
                break;
            }
        }
        match group {
            Group::Operand(i) => draft.types[i] = Some(types),
            Group::Result(i) => draft.results[i] = Some(types),
        }
        Ok(())
    }

    fn functional(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        let mut inputs = Vec::new();
        self.expect(b'(', "before the operand types")?;
        self.list(b')', |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect_kind(Kind::Arrow, "`->` before the result types")?;
        let mut results = SmallVec::new();
        self.function_results(&mut results)?;
        self.assign(draft, &inputs, &results);
        Ok(())
    }

    /// Gives operands and results these types, in order.
    pub(super) fn assign(&self, draft: &mut Draft<'a>, inputs: &[Type], results: &[Type]) {
        let mut rest = inputs;
        for (uses, types) in draft.operands.iter().zip(&mut draft.types) {
            let (now, later) = rest.split_at(uses.len().min(rest.len()));
            *types = Some(now.into());
            rest = later;
        }
        let mut rest = results;
        let last = draft.def.results.len().saturating_sub(1);
        for (i, (def, types)) in draft.def.results.iter().zip(&mut draft.results).enumerate() {
            let count = match def.arity {
                Arity::One => 1,
                _ if i == last => rest.len(),
                _ => rest.len() / 2,
            };
            let (now, later) = rest.split_at(count.min(rest.len()));
            *types = Some(now.into());
            rest = later;
        }
    }

    fn custom_region(
        &mut self,
        mut pending: Pending<'a>,
        block: Option<Block>,
        open: &mut Vec<OpenRegion<'a>>,
        at: &mut Block,
    ) -> Parsed<()> {
        let Some(draft) = &mut pending.draft else { return Err(Failed) };
        let op = match (pending.op, block) {
            (Some(op), _) => op,
            (None, Some(block)) => {
                let mut state = OpState::new(draft.op_name, pending.loc);
                state.successors = pending.successors.clone();
                self.module.create_at(Point::End(block), state)
            }
            (None, None) => return Err(Failed),
        };
        pending.op = Some(op);
        pending.isolated = draft.def.traits.contains(Traits::ISOLATED);
        let spare = std::mem::take(&mut self.region_args);
        let mut args = std::mem::replace(&mut draft.region_args, spare);
        let mut locs = std::mem::take(&mut draft.arg_locs).into_iter().peekable();
        self.expect(b'{', "before a region")?;
        let keeps_first = draft.program.code.iter().any(|instr| matches!(instr, Instr::Cases(_)));
        if keeps_first && self.module.regions(op).is_empty() {
            self.module.add_region(op);
        }
        let region = match draft.first_region {
            true => self.module.region(op, 0),
            false => self.module.add_region(op),
        };
        let scope = self.values.enter(pending.isolated);
        let entry = (!args.is_empty()).then(|| self.module.add_block(region));
        if self.holds_symbols(op) {
            self.note_table();
        }
        open.push(OpenRegion { region, blocks: Blocks::default(), owner: pending, scope });
        if let (Some(entry), Some(OpenRegion { owner, .. })) = (entry, open.last_mut()) {
            *at = entry;
            for (i, (token, ty)) in args.drain(..).enumerate() {
                let value = self.module.add_arg(entry, ty);
                let read = locs.next_if(|entry| entry.0 == i).map(|entry| entry.1);
                if read.is_none()
                    && let Some(draft) = &mut owner.draft
                {
                    draft.unplaced.extend((!draft.program.says_places()).then_some(value));
                }
                self.locate_argument(value, token, read);
                self.define_arg(token, value)?;
            }
        }
        self.region_args = args;
        Ok(())
    }

    /// Ends the only block of a region with what goes without saying.
    pub(super) fn implied_terminator(&mut self, owner: &mut Pending<'a>, region: Region) {
        let Some(draft) = &mut owner.draft else { return };
        let loc = owner.loc;
        let single = draft.def.traits.contains(Traits::SINGLE_BLOCK);
        let block = match self.module.first_block(region) {
            Some(block) if self.module.next_block(block).is_none() => block,
            None if draft.style.terminator.is_some() || single => self.module.add_block(region),
            _ => return,
        };
        let Some(terminator) = draft.style.terminator else { return };
        let last = self.module.last_op(block);
        if last.is_some_and(|last| self.module.has_traits(last, Traits::TERMINATOR)) {
            return;
        }
        let mut state = OpState::new(self.context.name(terminator), loc);
        if let (true, Some(last)) = (draft.style.inline, last) {
            state.operands = self.module.results(last).collect();
        }
        state.regions = self.context.def(state.name).and_then(|def| def.regions).unwrap_or(0);
        let op = self.module.create_at(Point::End(block), state);
        draft.implied.push(op);
        for region in self.module.regions(op).to_vec() {
            self.module.add_block(region);
        }
    }

    fn end_custom(
        &mut self,
        pending: Pending<'a>,
        mut draft: Box<Draft<'a>>,
        block: Option<Block>,
    ) -> Parsed<()> {
        let mut state = OpState::new(draft.op_name, pending.loc);
        self.apply_rules(&mut draft);
        for i in 0..draft.operands.len() {
            for n in 0..draft.operands[i].len() {
                let used = draft.operands[i][n];
                let Some(ty) = self.operand_type(&draft, i, n) else {
                    let name = self.values.names.spelling(used.name);
                    let message = format!("expected a type for `{name}`, found none");
                    return self.error(used.token(), "operand-type", message);
                };
                state.operands.push(self.resolve(used, ty)?);
            }
        }
        self.segment_sizes(&mut draft);
        self.settle_defaults(draft.def, &mut draft.attrs);
        state.attrs = self.context.dict_of(&mut draft.attrs);
        state.successors = pending.successors.clone();
        self.result_types(&pending, &draft, &mut state)?;
        let late = self.trailing_loc(&mut state.loc)?;
        let state_loc = state.loc;
        let regions = draft.def.regions.unwrap_or(0);
        let op = match (pending.op, block) {
            (Some(op), _) => {
                self.module.set_operands(op, &state.operands);
                self.module.set_attrs(op, state.attrs);
                self.module.set_loc(op, state.loc);
                self.module.set_results(op, &state.results);
                op
            }
            (None, Some(block)) => self.module.create_at(Point::End(block), state),
            (None, None) => return Err(Failed),
        };
        while self.module.regions(op).len() < regions as usize {
            self.module.add_region(op);
        }
        if draft.def.implies.is_some() && !self.module.make_implied(op) {
            let message = "expected elements whose computation is known in this form";
            return self.error(pending.name, "implied-body", message.to_owned());
        }
        if draft.payload.is_some_and(|payload| !self.module.make_payload(op, payload)) {
            let message = "expected operands that have elements".to_owned();
            return self.error(pending.name, "payload", message);
        }
        // What the text leaves out comes from where the operation does.
        let told = late.is_some() || state_loc != pending.loc;
        for &arg in draft.unplaced.iter().filter(|_| told) {
            self.module.set_arg_loc(arg, state_loc);
            self.late_locs.extend(late.map(|token| (Located::Arg(arg), token)));
        }
        for &end in &draft.implied {
            self.module.set_loc(end, self.module.loc(op));
            self.late_locs.extend(late.map(|token| (Located::Op(end), token)));
        }
        self.late_locs.extend(late.map(|token| (Located::Op(op), token)));
        self.drafts.push(draft);
        self.name_results(op, &pending.results)
    }

    fn segment_sizes(&mut self, draft: &mut Draft<'a>) {
        let def = draft.def;
        if def.traits.contains(Traits::SAME_SIZES) {
            return;
        }
        let several = |open: usize| open > 1;
        if several(def.operands.iter().filter(|operand| operand.arity != Arity::One).count()) {
            let sizes = self.i32s(draft.operands.iter().map(Uses::len));
            self.set_attr(draft, "operandSegmentSizes", sizes);
        }
        let said = draft.results.iter().all(Option::is_some);
        if said && several(def.results.iter().filter(|result| result.arity != Arity::One).count()) {
            let sizes = self.i32s(draft.results.iter().flatten().map(Types::len));
            self.set_attr(draft, "resultSegmentSizes", sizes);
        }
    }

    pub(super) fn i32s(&self, values: impl Iterator<Item = usize>) -> Attr {
        let bytes: Vec<u8> = values.flat_map(|size| (size as i32).to_le_bytes()).collect();
        let element = self.context.int_type(32);
        self.context.attr(AttrData::DenseArray { element, bytes: bytes.into() })
    }

    /// The types of results: as written, as the operands', or inferred.
    fn result_types(
        &mut self,
        pending: &Pending<'a>,
        draft: &Draft<'a>,
        state: &mut OpState,
    ) -> Parsed<()> {
        if draft.results.iter().all(Option::is_some) {
            for types in draft.results.iter().flatten() {
                state.results.extend_from_slice(types);
            }
            return Ok(());
        }
        let named: u32 = pending.results.iter().map(|&(_, count)| count).sum();
        let cx = InferCx {
            module: self.module,
            name: draft.op_name,
            def: draft.def,
            operands: &state.operands,
            attrs: state.attrs,
            result_count: Some(named as usize),
        };
        let inferred = draft.def.infer.map(|infer| infer(&cx));
        match inferred {
            Some(Ok(inferred)) => {
                state.results.extend(inferred.types);
                Ok(())
            }
            Some(Err(error)) => self.error(pending.name, "result-type", error.to_string()),
            // What always has results says their types.
            None if draft.def.results.iter().all(|result| result.arity != Arity::One) => Ok(()),
            None => {
                let message = "expected the types of the results, found none".into();
                self.error(pending.name, "result-type", message)
            }
        }
    }

    /// Adds attribute `name` to what was read.
    pub(super) fn set_attr(&mut self, draft: &mut Draft<'a>, name: &'static str, attr: Attr) {
        let place = (name.as_ptr() as usize, name.len());
        let name = *self.attr_names.entry(place).or_insert_with(|| self.context.str(name));
        draft.attrs.push((name, attr));
    }

    /// Where the values of operand `name` go.
    pub(super) fn group_number(&self, draft: &Draft<'a>, name: &str) -> usize {
        let at = draft.def.operands.iter().position(|operand| operand.name == name);
        at.unwrap_or(0)
    }
}
