//! Loops, and the variables of what they carry.

use tangram_ir::{Block, Op, TypeData, Value};

use super::{Number, Printer};
use crate::PrintError;
use crate::text::{Strength, Text};

impl Printer<'_> {
    /// Writes the head of a loop, with the variables that it carries before it; returns its body.
    pub(super) fn open_loop(&mut self, op: Op) -> Result<Block, PrintError> {
        let module = self.module;
        let body = module.regions(op).first().and_then(|&region| module.first_block(region));
        let body = body.ok_or_else(|| self.unknown(op))?;
        let operands: Vec<Value> = module.operands(op).collect();
        let [low, high, step, inits @ ..] = &operands[..] else { return Err(self.unknown(op)) };
        let [counter, arguments @ ..] = module.args(body) else { return Err(self.unknown(op)) };
        for (&init, &argument) in inits.iter().zip(arguments) {
            match self.shared(init, op) {
                Some(number) => self.hold(number, argument),
                None => {
                    let first = self.operand(op, init)?;
                    let declared = self.declared(argument, false)?;
                    let number = self.variable(argument);
                    let name = &self.variables[number].name;
                    self.line(&format!("{declared}{name} = {};", first.text));
                }
            }
        }
        let low = self.operand(op, *low)?.text;
        let high = self.operand(op, *high)?.at_least(Strength::Sum);
        let step = self.operand(op, *step)?.text;
        let number = self.variable(*counter);
        let ty = self.type_name(module.value_type(*counter))?;
        let name = &self.variables[number].name;
        let next = match step.as_str() {
            "1" => format!("{name}++"),
            _ => format!("{name} += {step}"),
        };
        self.line(&format!("for ({ty} {name} = {low}; {name} < {high}; {next}) {{"));
        Ok(body)
    }

    /// The variable of a value that a loop starts from, if the loop may change it.
    fn shared(&self, init: Value, op: Op) -> Option<Number> {
        let module = self.module;
        let number = *self.numbers.get(&init)?;
        let is_index =
            matches!(module.context().type_data(module.value_type(init)), TypeData::Index);
        let own = module.def_block(init) == module.block(op) && module.has_one_use(init);
        (own && !is_index && self.is_free(number, op)).then_some(number)
    }

    /// Whether nothing reads what a variable holds after the statement of `op`.
    fn is_free(&self, number: Number, op: Op) -> bool {
        self.variables[number].values.iter().all(|&value| self.places.is_last_read(value, op))
    }

    /// The carried variable that the result of an operation becomes, if it can at once.
    pub(super) fn updated(&self, op: Op) -> Option<Number> {
        let module = self.module;
        let block = module.block(op)?;
        let (around, end) = (module.parent(op)?, module.last_op(block)?);
        if module.name_text(around) != "scf.for" {
            return None;
        }
        let mut yielded = module.uses(module.result(op, 0)).filter(|used| used.op == end);
        let (used, other) = (yielded.next()?, yielded.next());
        let argument = *module.args(block).get(used.index as usize + 1)?;
        let number = *self.numbers.get(&argument)?;
        (other.is_none() && self.is_free(number, op)).then_some(number)
    }

    /// Writes the end of a loop: what an iteration gives becomes what the next one takes.
    pub(super) fn close_loop(&mut self, end: Op) -> Result<(), PrintError> {
        let module = self.module;
        let Some(block) = module.block(end) else { return Err(self.unknown(end)) };
        let Some(around) = module.parent(end) else { return Err(self.unknown(end)) };
        let arguments: Vec<Value> = module.args(block).iter().skip(1).copied().collect();
        let yielded: Vec<Value> = module.operands(end).collect();
        let mut moves = Vec::new();
        for (&argument, &value) in arguments.iter().zip(&yielded) {
            let number = self.number(end, argument)?;
            if self.numbers.get(&value) != Some(&number) {
                moves.push((number, argument, self.operand(end, value)?));
            }
        }
        // One of several could read what another one has just written.
        if let [_, _, ..] = moves[..] {
            for (number, argument, text) in &mut moves {
                let declared = self.declared(*argument, false)?;
                let mut name = format!("{}_next", self.variables[*number].name);
                while !self.names.insert(name.clone()) {
                    name.push('_');
                }
                self.line(&format!("{declared}{name} = {};", text.text));
                *text = Text::atom(name);
            }
        }
        for (number, _, text) in moves {
            let name = self.variables[number].name.clone();
            self.line(&format!("{name} = {};", text.text));
        }
        self.depth -= 1;
        self.line("}");
        let results: Vec<Value> = module.results(around).collect();
        for (&argument, result) in arguments.iter().zip(results) {
            let number = self.number(end, argument)?;
            self.hold(number, result);
        }
        Ok(())
    }

    fn number(&self, op: Op, value: Value) -> Result<Number, PrintError> {
        let number = self.numbers.get(&value).copied();
        number.ok_or_else(|| PrintError::Undefined(self.module.name_text(op).to_owned()))
    }
}
