//! Values: their variables, names and expressions.

use tangram_ir::{AttrData, Op, Value};

use super::{Number, Printer, Variable};
use crate::text::{Places, Strength, Text};
use crate::{PrintError, Spelling};

impl Printer<'_> {
    /// A new variable for a value, named as it is.
    pub(super) fn variable(&mut self, value: Value) -> Number {
        let number = self.variables.len();
        let own = self.module.value_name(value).map(|name| self.module.context().text(name));
        let own = own.filter(|name| is_identifier(name));
        let mut name = own.map_or_else(|| format!("v{number}"), str::to_owned);
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        self.variables.push(Variable { name, values: Vec::new() });
        self.hold(number, value);
        number
    }

    /// From now on a variable holds another value.
    pub(super) fn hold(&mut self, number: Number, value: Value) {
        self.variables[number].values.push(value);
        self.numbers.insert(value, number);
    }

    pub(super) fn operands(&mut self, op: Op) -> Result<Vec<Text>, PrintError> {
        self.module.operands(op).map(|value| self.operand(op, value)).collect()
    }

    pub(super) fn operand(&mut self, op: Op, value: Value) -> Result<Text, PrintError> {
        if let Some(text) = self.pending.remove(&value) {
            return Ok(text);
        }
        if let Some(&number) = self.numbers.get(&value) {
            return Ok(Text::atom(self.variables[number].name.clone()));
        }
        match self.module.def_op(value) {
            Some(def) if self.module.name_text(def) == "arith.constant" => self.constant(def),
            _ => Err(PrintError::Undefined(self.module.name_text(op).to_owned())),
        }
    }

    /// An integer, or a zero of any type.
    fn constant(&mut self, op: Op) -> Result<Text, PrintError> {
        let (module, context) = (self.module, self.module.context());
        let unknown = || PrintError::Operation("arith.constant".to_owned());
        let attr = module.attr(op, "value").ok_or_else(unknown)?;
        let text = match context.attr_data(attr) {
            AttrData::Integer { value, .. } if *value < 0 => {
                return Ok(Text::new(value.to_string(), Strength::Product));
            }
            AttrData::Integer { value, .. } => value.to_string(),
            AttrData::Float { bits: 0, .. } => "0".to_owned(),
            AttrData::Dense { bytes, .. } if bytes.iter().all(|&byte| byte == 0) => {
                let ty = self.type_name(module.value_type(module.result(op, 0)))?;
                format!("({ty}){{0}}")
            }
            _ => return Err(unknown()),
        };
        Ok(Text::atom(text))
    }

    /// The expression that an operation is.
    pub(super) fn value(
        &mut self,
        op: Op,
        spelling: Spelling,
        operands: &[Text],
    ) -> Result<Text, PrintError> {
        Ok(match (spelling, operands) {
            (Spelling::Infix(sign, strength), [left, right]) => {
                Text::joined(left, sign, strength, right)
            }
            (Spelling::Prefix(sign), [operand]) => Text::prefixed(sign, operand),
            (Spelling::Advance, [view, by]) => Text::joined(view, '+', Strength::Sum, by),
            (
                Spelling::Value(template, strength)
                | Spelling::Read(template, strength)
                | Spelling::Form(template, strength),
                _,
            ) => Text::new(self.filled(op, template, operands)?, strength),
            _ => return Err(self.unknown(op)),
        })
    }

    /// The text of a template for an operation.
    pub(super) fn filled(
        &mut self,
        op: Op,
        template: &str,
        operands: &[Text],
    ) -> Result<String, PrintError> {
        let (module, target) = (self.module, self.target);
        let named = |wanted: &str| template.contains(wanted);
        let (mut types, mut helper) = ([String::new(), String::new()], String::new());
        if named("%T") || named("%F") {
            let ty = module.value_type(module.result(op, 0));
            types[0] = self.type_name(ty)?;
            let name = module.name_text(op);
            if let Some(at) = target.helpers.iter().position(|(own, ..)| *own == name) {
                if !self.helpers.contains(&(at, ty)) {
                    self.helpers.push((at, ty));
                }
                helper = format!("{}{}", self.name, target.helpers[at].1);
            }
        }
        if named("%t") {
            types[1] = self.type_name(module.value_type(module.operand(op, 0)))?;
        }
        let types = [types[0].as_str(), types[1].as_str()];
        Ok(Places { operands, types, helper: &helper }.filled(template))
    }

    /// A view, and all that it becomes as it walks.
    fn walked(&self, view: Value) -> Vec<Value> {
        let module = self.module;
        let (mut at, mut seen) = (0, vec![view]);
        while let Some(&view) = seen.get(at) {
            at += 1;
            for used in module.uses(view) {
                let number = used.index as usize;
                let next = match module.name_text(used.op) {
                    "tg.advance" => vec![module.result(used.op, 0)],
                    "scf.for" => self.carried_by(used.op, number),
                    "scf.yield" => {
                        let around = module.parent(used.op);
                        around.map_or_else(Vec::new, |op| self.carried_by(op, number + 3))
                    }
                    _ => Vec::new(),
                };
                for value in next {
                    if !seen.contains(&value) {
                        seen.push(value);
                    }
                }
            }
        }
        seen
    }

    /// Whether something is stored by way of a view.
    pub(super) fn is_written(&self, view: Value) -> bool {
        let module = self.module;
        self.walked(view).into_iter().any(|view| {
            module.uses(view).any(|used| {
                let name = module.name_text(used.op);
                matches!(name, "memref.store" | "vector.store") && used.index == 1
            })
        })
    }

    /// What is read from the buffer of a view, one element at a time.
    pub(super) fn read_from(&self, view: Value) -> Vec<Value> {
        let module = self.module;
        let reads = self.walked(view).into_iter().flat_map(|view| module.uses(view));
        let reads = reads.filter(|used| module.name_text(used.op) == "memref.load");
        reads.map(|used| module.result(used.op, 0)).collect()
    }

    /// The argument and the result of a loop that operand `at` of it becomes.
    fn carried_by(&self, around: Op, at: usize) -> Vec<Value> {
        let module = self.module;
        let Some(number) = at.checked_sub(3) else { return Vec::new() };
        let body = module.regions(around).first().and_then(|&region| module.first_block(region));
        let argument = body.and_then(|body| module.args(body).get(number + 1).copied());
        argument.into_iter().chain(module.results(around).nth(number)).collect()
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
