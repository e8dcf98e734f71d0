//! The names of values beside the generic form: `%c1`, `%dim`, `%arg0`, `%3`.
//!
//! As MLIR's printer gives them: an operation may name its results; a name that is taken where it
//! would be seen gets a number behind it. Counters go on in regions from where they stand after the
//! region around, so that siblings have the same names.

use rustc_hash::FxHashSet;

use super::numbering::Numbering;
use crate::assembly::{Directive, Instr};
use crate::attributes::AttrData;
use crate::module::{Block, Module, Op, Region, Value};
use crate::op_def::{OpDef, Traits};
use crate::types::{Signedness, TypeData};

/// The counters when a region begins, and how many names are taken around it.
#[derive(Clone, Copy)]
struct Counters {
    value: u32,
    arg: u32,
    conflict: u32,
    scope: usize,
}

struct Naming<'a> {
    module: &'a Module,
    numbering: Numbering,
    used: FxHashSet<Box<str>>,
    /// The names that are taken, in the order of the scopes that took them.
    taken: Vec<Box<str>>,
    now: Counters,
}

impl Numbering {
    /// Numbers and names as `mlir-opt` prints them by default.
    pub(super) fn named(module: &Module) -> Numbering {
        let now = Counters { value: 0, arg: 0, conflict: 0, scope: 0 };
        let mut naming = Naming {
            module,
            numbering: Numbering::blank(module),
            used: FxHashSet::default(),
            taken: Vec::new(),
            now,
        };
        naming.results(module.root());
        let mut open: Vec<(Region, Counters)> =
            module.regions(module.root()).iter().map(|&region| (region, naming.now)).collect();
        while let Some((region, counters)) = open.pop() {
            naming.now = counters;
            for name in naming.taken.drain(counters.scope..) {
                naming.used.remove(&name);
            }
            naming.region(region);
            naming.now.scope = naming.taken.len();
            for block in module.blocks(region) {
                for op in module.ops(block) {
                    open.extend(module.regions(op).iter().map(|&region| (region, naming.now)));
                }
            }
        }
        naming.numbering
    }
}

impl Naming<'_> {
    fn region(&mut self, region: Region) {
        let module = self.module;
        let parent = module.region_parent(region);
        for (i, block) in module.blocks(region).enumerate() {
            self.numbering.number_block(module, block, i as u32);
            self.args(block, i == 0, parent);
            for op in module.ops(block) {
                self.results(op);
            }
        }
    }

    fn args(&mut self, block: Block, entry: bool, parent: Op) {
        let inputs = if entry { structured_inputs(self.module, parent) } else { None };
        for (i, &arg) in self.module.args(block).iter().enumerate() {
            match inputs {
                Some((inputs, _)) if i < inputs => self.name(arg, "in"),
                Some((_, written)) => self.name(arg, written),
                None if entry => {
                    let name = format!("arg{}", self.now.arg);
                    self.now.arg += 1;
                    self.name(arg, &name);
                }
                None => self.count(arg),
            }
        }
    }

    fn count(&mut self, value: Value) {
        self.numbering.number(value, self.now.value);
        self.now.value += 1;
    }

    fn results(&mut self, op: Op) {
        let module = self.module;
        if module.result_count(op) == 0 {
            return;
        }
        let first = module.result(op, 0);
        if let Some(name) = special_name(module, op).or_else(|| constant_name(module, op)) {
            return self.name(first, &name);
        }
        match module.def(op) {
            Some(def) if !def.result_names.is_empty() => self.named_results(op, def),
            _ => self.count(first),
        }
    }

    /// Names the first result of each group; the others share its name.
    fn named_results(&mut self, op: Op, def: &OpDef) {
        let total = self.module.result_count(op);
        let mut starts: Vec<u32> = Vec::new();
        let mut at = 0;
        for (i, size) in super::custom::result_sizes(self.module, op, def).into_iter().enumerate() {
            if size == 0 || at >= total {
                continue;
            }
            starts.push(at as u32);
            let value = self.module.result(op, at);
            match def.result_names.get(i) {
                Some(name) if !name.is_empty() => self.name(value, name),
                _ => self.count(value),
            }
            at += size;
        }
        if starts.len() > 1 {
            self.numbering.groups.insert(op, starts);
        }
    }

    fn name(&mut self, value: Value, name: &str) {
        let name = self.unique(name);
        self.numbering.name(value, &name);
        self.used.insert(name.clone());
        self.taken.push(name);
    }

    fn unique(&mut self, name: &str) -> Box<str> {
        if !self.used.contains(name) {
            return name.into();
        }
        loop {
            let longer = format!("{name}_{}", self.now.conflict);
            self.now.conflict += 1;
            if !self.used.contains(longer.as_str()) {
                return longer.into();
            }
        }
    }
}

/// What the definition says.
fn special_name(module: &Module, op: Op) -> Option<String> {
    module.def(op).and_then(|def| def.names).and_then(|names| names(module, op))
}

/// `c5_i32`, `true`, `cst`.
fn constant_name(module: &Module, op: Op) -> Option<String> {
    let def = module.def(op).filter(|def| def.traits.contains(Traits::CONSTANT_LIKE))?;
    if !def.result_names.is_empty() {
        return None;
    }
    let context = module.context();
    Some(match context.attr_data(module.attr(op, "value")?) {
        AttrData::Bool(value) => value.to_string(),
        AttrData::Integer { value, ty } => match context.type_data(*ty) {
            TypeData::Index => format!("c{value}"),
            TypeData::Integer { width, sign } => {
                let sign = match sign {
                    Signedness::Signless => "",
                    Signedness::Signed => "s",
                    Signedness::Unsigned => "u",
                };
                format!("c{value}_{sign}i{width}")
            }
            _ => "cst".into(),
        },
        _ => "cst".into(),
    })
}

/// How many arguments of the region of a structured operation stand for inputs, and what the
/// others are called.
fn structured_inputs(module: &Module, op: Op) -> Option<(usize, &'static str)> {
    let program = module.context().program(module.name(op))?;
    let has = |directive: Directive| {
        program.code.iter().any(|instr| matches!(instr, Instr::Directive(d, _) if *d == directive))
    };
    let written = if has(Directive::Payload) { "init" } else { "out" };
    let inputs = super::custom::segment(module, op, 0).len();
    has(Directive::Structured).then_some((inputs, written))
}
