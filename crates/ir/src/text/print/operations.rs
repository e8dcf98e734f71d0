//! Operations, blocks and regions.

use std::fmt;

use super::custom::Spacing;
use super::numbering::ValueName;
use super::{Printer, Work};
use crate::attributes::Attr;
use crate::context::Str;
use crate::module::{Block, Op, Region, Value, ValueDef};
use crate::op_def::{Absence, Arity, OpDef};

/// Deeper operations stand no further to the right, so that what is nested without end does not
/// take the square of its depth in spaces.
const MAX_INDENTED: usize = 256;

/// What is printed next.
pub(super) enum PrintTask {
    /// An operation and what its regions hold.
    Op(Op),
    /// This operation and all after it in its block.
    From(Op),
    /// This block and all after it in its region; whether it is the entry block.
    Block(Block, bool),
    /// Region number `.1` of an operation and all after it, and then the end of the operation.
    Region(Op, usize),
    /// The operations of a block whose header is not printed.
    Inside(Block),
    /// The format of an operation from this piece on.
    Code(Op, usize),
    /// Region `.1` of an operation and all after it, separated by commas, then its format.
    Regions(Op, usize, usize),
    /// Case `.1` of an operation and all after it, then its format.
    Cases(Op, usize, usize, Option<&'static str>),
    /// The end of a region.
    Close,
    /// An operation without the names of its results.
    Unnamed(Op),
    /// This text.
    Text(&'static str),
    /// What follows stands one step further to the left.
    Outdent,
}

impl<W: fmt::Write> Printer<'_, W> {
    /// Prints `op`, starting at the left margin.
    pub(super) fn operation(&mut self, op: Op) -> fmt::Result {
        let mut steps = vec![PrintTask::Op(op)];
        while let Some(step) = steps.pop() {
            match step {
                PrintTask::Op(op) if self.program(op).is_some() => {
                    self.custom_head(op)?;
                    self.depth += self.code(op, 0, &mut steps)?;
                }
                PrintTask::Code(op, pc) => {
                    self.spacing = Spacing::AFTER_WORD;
                    self.depth += self.code(op, pc, &mut steps)?;
                }
                PrintTask::Regions(op, i, pc) => {
                    self.depth += self.regions(op, i, pc, &mut steps)?;
                }
                PrintTask::Cases(op, i, pc, terminator) => {
                    self.depth += self.cases(op, i, pc, terminator, &mut steps)?;
                }
                PrintTask::Inside(block) => {
                    let next = self.module.next_block(block);
                    steps.extend(next.map(|next| PrintTask::Block(next, false)));
                    steps.extend(self.module.first_op(block).map(PrintTask::From));
                }
                PrintTask::Op(op) => {
                    self.head(op)?;
                    if self.module.regions(op).is_empty() {
                        self.tail(op)?;
                    } else {
                        self.write(" (")?;
                        steps.push(PrintTask::Region(op, 0));
                    }
                }
                PrintTask::From(op) => {
                    if self.hidden.last() == Some(&op) {
                        self.hidden.pop();
                        continue;
                    }
                    steps.extend(self.module.next(op).map(PrintTask::From));
                    steps.push(PrintTask::Op(op));
                    self.line(self.depth)?;
                }
                PrintTask::Block(block, entry) => {
                    let next = self.module.next_block(block);
                    steps.extend(next.map(|next| PrintTask::Block(next, false)));
                    steps.extend(self.module.first_op(block).map(PrintTask::From));
                    self.header(block, entry, self.depth - 1)?;
                }
                PrintTask::Unnamed(op) => {
                    self.unnamed = true;
                    steps.push(PrintTask::Op(op));
                }
                PrintTask::Text(text) => self.write(text)?,
                PrintTask::Outdent => self.depth -= 1,
                PrintTask::Region(op, i) => self.depth += self.region(op, i, &mut steps)?,
                PrintTask::Close => {
                    self.depth -= 1;
                    self.dialects.pop();
                    self.line(self.depth)?;
                    self.write("}")?;
                }
            }
        }
        Ok(())
    }

    /// Begins region `i` of `op`, or ends `op` after the last one. Returns how many regions are
    /// open now that were not.
    fn region(
        &mut self,
        op: Op,
        i: usize,
        steps: &mut Vec<PrintTask>,
    ) -> Result<usize, fmt::Error> {
        let Some(&region) = self.module.regions(op).get(i) else {
            self.write(")")?;
            self.tail(op)?;
            return Ok(0);
        };
        self.write(if i == 0 { "{" } else { ", {" })?;
        if !self.options.regions {
            self.write("...}")?;
            steps.push(PrintTask::Region(op, i + 1));
            return Ok(0);
        }
        steps.extend([PrintTask::Region(op, i + 1), PrintTask::Close]);
        steps.extend(self.entry_block(region));
        self.enter_region(op);
        Ok(1)
    }

    /// Goes into a region of `op`, whose operations may leave out the name of a dialect.
    pub(super) fn enter_region(&mut self, op: Op) {
        self.dialects.push(self.module.def(op).map_or("", |def| def.default_dialect));
    }

    fn entry_block(&self, region: Region) -> Option<PrintTask> {
        self.module.first_block(region).map(|block| PrintTask::Block(block, true))
    }

    /// Starts a line.
    pub(super) fn line(&mut self, depth: usize) -> fmt::Result {
        const SPACES: &str = "\n                                                                ";
        let mut missing = 2 * depth.min(MAX_INDENTED);
        let first = missing.min(SPACES.len() - 1);
        self.write(&SPACES[..=first])?;
        missing -= first;
        while missing > 0 {
            let more = missing.min(SPACES.len() - 1);
            self.write(&SPACES[1..=more])?;
            missing -= more;
        }
        Ok(())
    }

    /// `%0:2 = "name"(%1)[^bb1] <{...}>`.
    fn head(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        self.results(op)?;
        self.quoted(module.name_text(op).as_bytes())?;
        self.write("(")?;
        for (i, value) in module.operands(op).enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.value(value)?;
        }
        self.write(")")?;
        self.successors(op)?;
        if let Some(def) = module.def(op) {
            let mut inherent = self.with_defaults(op);
            inherent.retain(|entry| is_inherent(def, self.context.text(entry.0)));
            if !inherent.is_empty() {
                self.write(" <")?;
                self.dictionary(&inherent)?;
                self.write(">")?;
            }
        } else if let (Some(properties), _) = self.context.split_properties(module.attrs(op)) {
            self.write(" <")?;
            self.attr(properties)?;
            self.write(">")?;
        }
        Ok(())
    }

    /// `%0:2 = `, or a name for each group of results.
    pub(super) fn results(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        let count = module.result_count(op);
        let mut starts = self.names.groups(op).to_vec();
        starts.push(count as u32);
        if std::mem::take(&mut self.unnamed) || count == 0 {
            return Ok(());
        }
        for (i, range) in starts.windows(2).enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.value_group(module.result(op, range[0] as usize))?;
            if range[1] - range[0] > 1 {
                self.write(":")?;
                self.number(u64::from(range[1] - range[0]))?;
            }
        }
        self.write(" = ")
    }

    fn successors(&mut self, op: Op) -> fmt::Result {
        let successors = self.module.successors(op);
        for (i, &block) in successors.iter().enumerate() {
            self.write(if i == 0 { "[" } else { ", " })?;
            self.block_name(block)?;
        }
        self.write(if successors.is_empty() { "" } else { "]" })
    }

    /// `{...} : (i32) -> i32 loc(...)`.
    fn tail(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        let rest = match module.def(op) {
            Some(def) => self.entries(op, |name| !is_inherent(def, name)),
            None => {
                let (_, attributes) = self.context.split_properties(module.attrs(op));
                self.context.entries(attributes).to_vec()
            }
        };
        if !rest.is_empty() {
            self.write(" ")?;
            self.dictionary(&rest)?;
        }
        self.write(" : (")?;
        for (i, value) in module.operands(op).enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.ty(module.value_type(value))?;
        }
        self.write(") -> ")?;
        self.result_types(op)?;
        if self.options.locations {
            self.write(" ")?;
            self.location(module.loc(op))?;
        }
        Ok(())
    }

    pub(super) fn result_types(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        if module.result_count(op) == 1 {
            self.work.push(Work::Results(module.value_type(module.result(op, 0))));
            let floor = self.work.len() - 1;
            return self.finish(floor);
        }
        self.write("(")?;
        for (i, value) in module.results(op).enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.ty(module.value_type(value))?;
        }
        self.write(")")
    }

    /// The attributes of `op` with those whose absence means a value, sorted by name.
    pub(super) fn with_defaults(&self, op: Op) -> Vec<(Str, Attr)> {
        let (module, context) = (self.module, self.context);
        let mut entries = context.entries(module.attrs(op)).to_vec();
        let defaults = module.def(op).map_or(&[][..], |def| def.attrs);
        let held = entries.len();
        for attr in defaults {
            if let Absence::Means(text) = attr.absence
                && module.attr(op, attr.name).is_none()
            {
                entries.push((context.str(attr.name), context.attr_of(text)));
            }
        }
        if entries.len() > held {
            entries.sort_by_key(|entry| context.text(entry.0));
        }
        entries
    }

    fn entries(&self, op: Op, keep: impl Fn(&str) -> bool) -> Vec<(Str, Attr)> {
        let all = self.context.entries(self.module.attrs(op));
        all.iter().copied().filter(|entry| keep(self.context.text(entry.0))).collect()
    }

    /// `^bb1(%3: i32):  // pred: ^bb0`, with its line start, if the block needs a header.
    fn header(&mut self, block: Block, entry: bool, depth: usize) -> fmt::Result {
        let module = self.module;
        let preds = self.names.predecessors(block).to_vec();
        let empty = module.first_op(block).is_none();
        let plain = module.args(block).is_empty() && !empty;
        if entry && plain && preds.is_empty() {
            return Ok(());
        }
        self.line(depth)?;
        self.block_name(block)?;
        for (i, &arg) in module.args(block).iter().enumerate() {
            self.write(if i == 0 { "(" } else { ", " })?;
            self.argument(arg)?;
        }
        self.write(if module.args(block).is_empty() { ":" } else { "):" })?;
        match preds.as_slice() {
            [] if entry => Ok(()),
            [] => self.write("  // no predecessors"),
            [one] => {
                self.write("  // pred: ")?;
                self.block_name(*one)
            }
            many => {
                write!(self.out, "  // {} preds: ", many.len())?;
                for (i, &pred) in many.iter().enumerate() {
                    self.write(if i == 0 { "" } else { ", " })?;
                    self.block_name(pred)?;
                }
                Ok(())
            }
        }
    }

    /// `%arg0: i32`, and where it comes from.
    pub(super) fn argument(&mut self, arg: Value) -> fmt::Result {
        self.value(arg)?;
        self.write(": ")?;
        self.ty(self.module.value_type(arg))?;
        self.argument_loc(arg)
    }

    pub(super) fn block_name(&mut self, block: Block) -> fmt::Result {
        match self.names.block(block) {
            super::numbering::UNKNOWN => self.write("^<unknown>"),
            n => {
                self.write("^bb")?;
                self.number(u64::from(n))
            }
        }
    }

    /// The name that the results of an operation share, or that of an argument.
    fn value_group(&mut self, value: Value) -> fmt::Result {
        let (prefix, n) = match self.names.value(value) {
            ValueName::Result(n) => ("%", n),
            ValueName::Arg(n) => ("%arg", n),
            ValueName::Named(name) => {
                self.out.write_str("%")?;
                return self.out.write_str(name);
            }
            ValueName::Unknown => return self.write("%<unknown>"),
        };
        self.write(prefix)?;
        self.number(u64::from(n))
    }

    pub(super) fn value(&mut self, value: Value) -> fmt::Result {
        let ValueDef::Result(op, i) = self.module.value_def(value) else {
            return self.value_group(value);
        };
        let groups = self.names.groups(op);
        let at = groups.partition_point(|&start| start <= i).saturating_sub(1);
        let start = groups.get(at).copied().unwrap_or(0);
        let end = groups.get(at + 1).copied().unwrap_or(self.module.result_count(op) as u32);
        self.value_group(self.module.result(op, start as usize))?;
        if end - start > 1 {
            self.write("#")?;
            self.number(u64::from(i - start))?;
        }
        Ok(())
    }
}

/// Returns whether attribute `name` belongs to the operation itself.
pub(super) fn is_inherent(def: &OpDef, name: &str) -> bool {
    let several = |open: usize| open > 1;
    match name {
        // What has one list of operands, or none, has no sizes of its own.
        "operandSegmentSizes" => {
            several(def.operands.iter().filter(|operand| operand.arity != Arity::One).count())
        }
        "resultSegmentSizes" => {
            several(def.results.iter().filter(|result| result.arity != Arity::One).count())
        }
        _ => def.attr(name).is_some(),
    }
}
