//! Parsing operations with their regions and blocks, in the generic form and in custom ones.

use smallvec::SmallVec;

use super::blocks::Blocks;
use super::custom::Draft;
use super::locs::Located;
use super::values::{Scope, ValueUse};
use super::{Failed, Kind, Parsed, Parser, Token};
use crate::attributes::{Attr, AttrData};
use crate::context::{Name, Str};
use crate::location::Loc;
use crate::module::{Block, Op, OpState, Point, Region};
use crate::op_def::{Absence, OpDef, Traits};
use crate::types::Type;

/// An operation of which the part before its regions has been read.
pub(super) struct Pending<'a> {
    pub(super) name: Token,
    pub(super) loc: Loc,
    operands: SmallVec<[ValueUse; 4]>,
    pub(super) successors: SmallVec<[Block; 2]>,
    /// Result names, and how many results each stands for.
    pub(super) results: SmallVec<[(Token, u32); 1]>,
    /// What stands in `<...>`.
    properties: Option<Attr>,
    pub(super) isolated: bool,
    pub(super) op: Option<Op>,
    /// What was read of it, if it is not in generic form.
    pub(super) draft: Option<Box<Draft<'a>>>,
}

impl<'a> Pending<'a> {
    pub(super) fn new(name: Token, loc: Loc) -> Pending<'a> {
        Pending {
            name,
            loc,
            operands: SmallVec::new(),
            successors: SmallVec::new(),
            results: SmallVec::new(),
            properties: None,
            isolated: false,
            op: None,
            draft: None,
        }
    }
}

/// A region that is being read.
pub(super) struct OpenRegion<'a> {
    pub(super) region: Region,
    pub(super) blocks: Blocks<'a>,
    pub(super) owner: Pending<'a>,
    pub(super) scope: Scope,
}

/// The type of an operation: what follows the colon.
#[derive(Default)]
struct Signature {
    inputs: SmallVec<[Type; 4]>,
    results: SmallVec<[Type; 2]>,
}

impl<'a> Parser<'a> {
    /// Reads the whole text.
    pub(super) fn file(&mut self) {
        let body = self.module.body();
        let mut open: Vec<OpenRegion<'a>> = Vec::new();
        let mut at = body;
        while self.errors.len() < super::MAX_ERRORS {
            let before = self.token.start;
            match self.statement(&mut open, &mut at, body) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Failed) => {
                    // What cannot begin a statement does not begin the next one either.
                    if self.token.start == before {
                        self.take();
                    }
                    self.recover();
                }
            }
        }
        self.undefined_values();
        self.settle_locs();
        if self.errors.is_empty() {
            self.adopt_root();
        }
    }

    /// Reads an operation, a block header, the end of a region or something of the top level.
    /// `false` at the end.
    fn statement(
        &mut self,
        open: &mut Vec<OpenRegion<'a>>,
        at: &mut Block,
        body: Block,
    ) -> Parsed<bool> {
        match self.token.kind {
            Kind::Eof if open.is_empty() => return Ok(false),
            Kind::Eof => {
                let _ = self.unexpected::<()>("`}` at the end of a region");
                return Ok(false);
            }
            Kind::Punct(b'}') if !open.is_empty() => {
                self.take();
                self.close_region(open, at, body)?;
            }
            Kind::Caret if !open.is_empty() => {
                if let Some(top) = open.last_mut() {
                    *at = self.block_header(top.region, &mut top.blocks)?;
                }
            }
            Kind::Hash | Kind::Bang if open.is_empty() => self.alias()?,
            Kind::FooterStart if open.is_empty() => self.footer()?,
            _ => {
                let results = match self.token.kind {
                    Kind::Percent => self.result_names()?,
                    _ => SmallVec::new(),
                };
                if self.token.kind == Kind::Word {
                    let block = self.current_block(open, *at, body);
                    *at = block;
                    self.custom_operation(results, block, open, at)?;
                    return Ok(true);
                }
                let pending = self.start_operation(results, open)?;
                let block = self.current_block(open, *at, body);
                *at = block;
                self.body_of(pending, block, open)?;
            }
        }
        Ok(true)
    }

    /// The block that takes the next operation; an entry block without a header begins here.
    fn current_block(&mut self, open: &mut [OpenRegion<'a>], at: Block, body: Block) -> Block {
        match open.last_mut() {
            None => body,
            Some(top) if self.module.first_block(top.region).is_none() => {
                self.module.add_block(top.region)
            }
            Some(_) => at,
        }
    }

    /// Reads up to the regions.
    fn start_operation(
        &mut self,
        results: SmallVec<[(Token, u32); 1]>,
        open: &mut [OpenRegion<'a>],
    ) -> Parsed<Pending<'a>> {
        if self.token.kind != Kind::String {
            return self.no_name();
        }
        let name = self.take();
        let loc = self.place(name.start);
        self.expect(b'(', "before the operands")?;
        let mut operands = SmallVec::new();
        self.list(b')', |p| {
            operands.push(p.value_use()?);
            Ok(())
        })?;
        let successors = self.successor_list(open)?;
        let mut properties = None;
        if self.accept(b'<') {
            properties = Some(self.attr()?);
            self.expect(b'>', "after the properties")?;
        }
        let new = Pending::new(name, loc);
        Ok(Pending { operands, successors, results, properties, ..new })
    }

    /// Reports that something else stands where an operation should begin.
    pub(super) fn no_name<T>(&mut self) -> Parsed<T> {
        const HINT: &str =
            "print the module in generic form, as `mlir-opt --mlir-print-op-generic` does";
        let custom = self.token.kind == Kind::Word;
        let result = self.unexpected("the name of an operation in quotes");
        if custom && let Some((_, error)) = self.errors.last_mut() {
            error.hint = Some(HINT.into());
        }
        result
    }

    /// `[^bb1, ^bb2]`, if it is there.
    fn successor_list(&mut self, open: &mut [OpenRegion<'a>]) -> Parsed<SmallVec<[Block; 2]>> {
        let mut successors = SmallVec::new();
        if !self.accept(b'[') {
            return Ok(successors);
        }
        self.list(b']', |p| {
            let token = p.expect_kind(Kind::Caret, "a block")?;
            let Some(top) = open.last_mut() else {
                let message = "expected no successors at the top, found one".into();
                return p.error(token, "successor", message);
            };
            successors.push(p.block_use(token, &mut top.blocks));
            Ok(())
        })?;
        Ok(successors)
    }

    /// `%0, %1:2 =`.
    fn result_names(&mut self) -> Parsed<SmallVec<[(Token, u32); 1]>> {
        let mut names = SmallVec::new();
        loop {
            let name = self.expect_kind(Kind::Percent, "a result")?;
            let mut count = 1;
            if self.accept(b':') {
                let token = self.expect_kind(Kind::Int, "how many results there are")?;
                count = match self.spelling(token).parse() {
                    Ok(n) if n > 0 => n,
                    _ => {
                        return self.error(
                            token,
                            "result-count",
                            "expected at least one result, found none".into(),
                        );
                    }
                };
            }
            names.push((name, count));
            if !self.accept(b',') {
                break;
            }
        }
        self.expect(b'=', "after the results")?;
        Ok(names)
    }

    /// Reads on after the properties: regions one after the other, or the rest.
    fn body_of(
        &mut self,
        mut pending: Pending<'a>,
        block: Block,
        open: &mut Vec<OpenRegion<'a>>,
    ) -> Parsed<()> {
        if !self.accept(b'(') {
            return self.end_operation(pending, Some(block));
        }
        let mut state = self.state(&pending)?;
        state.successors = pending.successors.clone();
        let name = state.name;
        let op = self.module.create_at(Point::End(block), state);
        pending.op = Some(op);
        pending.isolated =
            self.context.def(name).is_some_and(|def| def.traits.contains(Traits::ISOLATED));
        self.open_region(pending, open)
    }

    fn open_region(&mut self, owner: Pending<'a>, open: &mut Vec<OpenRegion<'a>>) -> Parsed<()> {
        self.expect(b'{', "before a region")?;
        let Some(op) = owner.op else { return Err(Failed) };
        let region = self.module.add_region(op);
        if self.holds_symbols(op) {
            self.note_table();
        }
        let scope = self.values.enter(owner.isolated);
        open.push(OpenRegion { region, blocks: Blocks::default(), owner, scope });
        Ok(())
    }

    pub(super) fn holds_symbols(&self, op: Op) -> bool {
        self.module.def(op).is_some_and(|def| def.traits.contains(Traits::SYMBOL_TABLE))
    }

    /// After the `}` of a region: the next region of the same operation, or its rest.
    fn close_region(
        &mut self,
        open: &mut Vec<OpenRegion<'a>>,
        at: &mut Block,
        body: Block,
    ) -> Parsed<()> {
        let Some(mut top) = open.pop() else { return Err(Failed) };
        self.undefined_blocks(top.blocks);
        self.leave(top.scope);
        let op = top.owner.op;
        if op.is_some_and(|op| self.holds_symbols(op)) {
            self.note_table_end();
        }
        *at = op.and_then(|op| self.module.block(op)).unwrap_or(body);
        if top.owner.draft.is_some() {
            self.implied_terminator(&mut top.owner, top.region);
            return self.custom_body(top.owner, None, open, at);
        }
        if self.accept(b',') {
            return self.open_region(top.owner, open);
        }
        self.expect(b')', "after the regions")?;
        self.end_operation(top.owner, None)
    }

    fn state(&mut self, pending: &Pending<'a>) -> Parsed<OpState> {
        let Token { kind, start, end } = pending.name;
        let bare = Token { kind, start: start + 1, end: end - 1 };
        let name = if self.spelling(bare).contains('\\') {
            let bytes = self.unescape(pending.name)?;
            self.context.name(&String::from_utf8_lossy(&bytes))
        } else {
            self.memo.string(self.context, self.text, bare).as_name()
        };
        self.note_operation(pending.name, name);
        Ok(OpState::new(name, pending.loc))
    }

    /// Reads attributes, type and location, and makes the operation or completes it.
    fn end_operation(&mut self, pending: Pending<'a>, block: Option<Block>) -> Parsed<()> {
        let mut attrs = Vec::new();
        if self.accept(b'{') {
            self.entries(&mut attrs)?;
        }
        self.expect(b':', "before the type of the operation")?;
        let signature = self.signature()?;
        let mut state = self.state(&pending)?;
        state.attrs = self.all_attrs(&pending, state.name, attrs)?;
        if signature.inputs.len() != pending.operands.len() {
            let message = format!(
                "expected {} operand types, found {}",
                pending.operands.len(),
                signature.inputs.len()
            );
            return self.error(pending.name, "operand-count", message);
        }
        for (&used, &ty) in pending.operands.iter().zip(&signature.inputs) {
            state.operands.push(self.resolve(used, ty)?);
        }
        state.results = signature.results;
        state.successors = pending.successors;
        let late = self.trailing_loc(&mut state.loc)?;
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
        self.late_locs.extend(late.map(|token| (Located::Op(op), token)));
        self.name_results(op, &pending.results)
    }

    /// The properties and attributes of an operation. Those of a registered one are a dictionary,
    /// in which of two with one name the property stays, as in MLIR.
    fn all_attrs(
        &mut self,
        pending: &Pending<'a>,
        name: Name,
        mut attrs: Vec<(Str, Attr)>,
    ) -> Parsed<Attr> {
        let Some(def) = self.context.def(name) else {
            let attributes = self.context.dict(attrs);
            return Ok(match pending.properties {
                Some(properties) => self.context.with_properties(properties, attributes),
                None => attributes,
            });
        };
        if let Some(properties) = pending.properties {
            let AttrData::Dict(entries) = self.context.attr_data(properties) else {
                let message = "expected a dictionary as properties, found another attribute".into();
                return self.error(pending.name, "properties", message);
            };
            attrs.extend_from_slice(entries);
        }
        self.settle_defaults(def, &mut attrs);
        Ok(self.context.dict_of(&mut attrs))
    }

    /// Drops what means the same as its absence, and adds what is never absent.
    pub(super) fn settle_defaults(&mut self, def: &OpDef, attrs: &mut Vec<(Str, Attr)>) {
        for attr in def.attrs {
            let (Absence::Means(text) | Absence::Becomes(text, _)) = attr.absence else { continue };
            let drops = matches!(attr.absence, Absence::Means(_));
            if drops && attrs.is_empty() {
                continue;
            }
            let place =
                |p: &Self| attrs.iter().position(|entry| p.context.text(entry.0) == attr.name);
            match place(self) {
                Some(at) if drops && attrs[at].1 == self.default_attr(text) => {
                    attrs.remove(at);
                }
                None if !drops => {
                    attrs.push((self.context.str(attr.name), self.default_attr(text)))
                }
                _ => {}
            }
        }
    }

    fn default_attr(&mut self, text: &'static str) -> Attr {
        let context = self.context;
        *self.defaults.entry(text).or_insert_with(|| context.attr_of(text))
    }

    pub(super) fn name_results(&mut self, op: Op, names: &[(Token, u32)]) -> Parsed<()> {
        let Some(&(first, _)) = names.first() else { return Ok(()) };
        let named: u64 = names.iter().map(|&(_, count)| u64::from(count)).sum();
        let found = self.module.result_count(op);
        if named != found as u64 {
            let message = format!("expected {named} result types, found {found}");
            return self.error(first, "result-count", message);
        }
        let mut at = 0;
        for &(token, count) in names {
            self.define_results(token, op, at, count)?;
            at += count;
        }
        Ok(())
    }

    /// `(i32, i32) -> i32`.
    fn signature(&mut self) -> Parsed<Signature> {
        let mut signature = Signature::default();
        self.expect(b'(', "before the operand types")?;
        self.list(b')', |p| {
            signature.inputs.push(p.ty()?);
            Ok(())
        })?;
        self.expect_kind(Kind::Arrow, "`->` before the result types")?;
        self.function_results(&mut signature.results)?;
        Ok(signature)
    }

    /// Skips to what looks like the start of the next operation, at the same depth: a line that
    /// begins like one. What stands in brackets is skipped as a whole.
    fn recover(&mut self) {
        // A bracket without end is looked for once only: that takes the rest of the text.
        let mut balanced = true;
        loop {
            match self.token.kind {
                Kind::Eof | Kind::FooterStart => return,
                Kind::FooterEnd => {
                    self.take();
                    return;
                }
                Kind::Percent | Kind::String | Kind::Caret | Kind::Word | Kind::Punct(b'}')
                    if self.starts_line() =>
                {
                    return;
                }
                Kind::Punct(open @ (b'(' | b'[' | b'{')) if balanced => {
                    let end =
                        super::opaque::balanced_end(self.src, self.token.start as usize, open);
                    balanced = end.is_some();
                    self.jump(end.unwrap_or(self.token.end as usize));
                }
                _ => {
                    self.take();
                }
            }
        }
    }

    /// Returns whether only space stands before the current token on its line.
    fn starts_line(&self) -> bool {
        let before = &self.src[..self.token.start as usize];
        let space = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
        matches!(space, None | Some(b'\n'))
    }

    /// Makes a single `builtin.module` at the top the root.
    fn adopt_root(&mut self) {
        let body = self.module.body();
        let Some(op) = self.module.first_op(body) else { return };
        let alone = self.module.next(op).is_none();
        if !alone || self.module.name_text(op) != "builtin.module" {
            return;
        }
        let one_block = match self.module.regions(op) {
            &[region] => match self.module.first_block(region) {
                None => {
                    self.module.add_block(region);
                    true
                }
                Some(block) => self.module.next_block(block).is_none(),
            },
            _ => false,
        };
        let plain = self.module.operand_count(op) == 0 && self.module.result_count(op) == 0;
        if one_block && plain {
            self.module.set_root(op);
        }
    }
}
