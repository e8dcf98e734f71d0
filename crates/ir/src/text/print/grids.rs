//! The directives of grids: counters with sizes, tokens, and arguments that stand for memory.

use std::fmt;

use super::Printer;
use super::custom::Spacing;
use crate::assembly::{AXES, Group};
use crate::attributes::{Attr, AttrData};
use crate::module::{Op, Value};
use crate::types::TypeData;

impl<W: fmt::Write> Printer<'_, W> {
    /// The values of the operand called `name`.
    pub(super) fn values_of(&self, op: Op, name: &str) -> Vec<Value> {
        let name = name.trim_start_matches('$');
        let def = self.module.def(op);
        let at = def.and_then(|def| def.operands.iter().position(|operand| operand.name == name));
        at.map_or(Vec::new(), |at| self.group(op, Group::Operand(at)))
    }

    /// `async [%0]`.
    pub(super) fn tokens(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let &[operands, word, _, ref tight @ ..] = args else { return Ok(()) };
        let values = self.values_of(op, operands);
        let last = self.module.def(op).map_or(0, |def| def.results.len()).saturating_sub(1);
        let given = !self.group(op, Group::Result(last)).is_empty();
        if !given && values.is_empty() && !tight.is_empty() {
            return Ok(());
        }
        self.space()?;
        self.write(if given { word } else { "" })?;
        if values.is_empty() {
            return Ok(());
        }
        self.write(if given { " [" } else { "[" })?;
        self.values(&values)?;
        self.write("]")
    }

    /// `blocks(%i, %j, %k) in (%a = %0, %b = %1, %c = %2) threads...`.
    pub(super) fn grid(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let (sets, _) = args.as_chunks::<2>();
        let Some((&[word, operand], first)) = sets.split_last() else { return Ok(()) };
        let all = self.entry_args(op, 0);
        let arguments = |at: usize| all.get(at..at + AXES).unwrap_or(&[]).to_vec();
        let count = first.len() * AXES;
        if self.grid_sets(op, args) == sets.len() {
            let at = 2 * count;
            self.axes(op, word, operand, [arguments(at), arguments(at + AXES)])?;
        }
        for (i, &[word, operand]) in first.iter().enumerate() {
            let at = i * AXES;
            self.axes(op, word, operand, [arguments(at), arguments(at + count)])?;
        }
        Ok(())
    }

    /// How many of the sets of counters of a grid are there.
    fn grid_sets(&self, op: Op, args: &[&'static str]) -> usize {
        let (sets, _) = args.as_chunks::<2>();
        let more = sets.last().is_some_and(|last| !self.values_of(op, last[1]).is_empty());
        sets.len().saturating_sub(usize::from(!more))
    }

    fn axes(
        &mut self,
        op: Op,
        word: &str,
        first: &str,
        [counters, sizes]: [Vec<Value>; 2],
    ) -> fmt::Result {
        let name = first.trim_start_matches('$');
        let def = self.module.def(op);
        let at = def.and_then(|def| def.operands.iter().position(|operand| operand.name == name));
        let groups = at.unwrap_or(0)..at.unwrap_or(0) + AXES;
        let values: Vec<Value> =
            groups.flat_map(|group| self.group(op, Group::Operand(group))).collect();
        self.spacing = Spacing::AFTER_WORD;
        self.write(" ")?;
        self.write(word)?;
        self.write("(")?;
        self.values(&counters)?;
        self.write(") in (")?;
        self.bound_args(&sizes, &values)?;
        self.write(")")
    }

    /// How many arguments of the region of `op` stand in front of its attributions.
    fn arguments_before(&self, op: Op) -> usize {
        let ty = self.module.attr(op, "function_type").map(|attr| self.context.attr_data(attr));
        if let Some(AttrData::Type(ty)) = ty
            && let TypeData::Function { inputs, .. } = self.context.type_data(*ty)
        {
            return inputs.len();
        }
        let program = self.context.program(self.module.name(op));
        program
            .and_then(|program| program.grid())
            .map_or(0, |args| 2 * AXES * self.grid_sets(op, args))
    }

    /// `workgroup(%a : t {x}) private(%b : t)`.
    pub(super) fn attributions(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let &[count, ref lists @ ..] = args else { return Ok(()) };
        let count = self.module.attr(op, count.trim_start_matches('$'));
        let count = count.and_then(|attr| self.context.as_i64(attr)).unwrap_or(0);
        let all = self.entry_args(op, 0);
        let rest = all.get(self.arguments_before(op)..).unwrap_or(&[]);
        let (first, second) = rest.split_at(usize::try_from(count).unwrap_or(0).min(rest.len()));
        self.spacing = Spacing::AFTER_WORD;
        for (&[word, attrs], values) in lists.as_chunks::<2>().0.iter().zip([first, second]) {
            for (i, &value) in values.iter().enumerate() {
                match i {
                    0 => write!(self.out, " {word}(")?,
                    _ => self.write(", ")?,
                }
                self.value(value)?;
                self.write(" : ")?;
                self.ty(self.module.value_type(value))?;
                self.item_dictionary(op, attrs.trim_start_matches('$'), i)?;
                self.argument_loc(value)?;
            }
            self.write(if values.is_empty() { "" } else { ")" })?;
        }
        Ok(())
    }

    /// Entry `i` of the list of dictionaries `name`, if it holds anything.
    fn item_dictionary(&mut self, op: Op, name: &str, i: usize) -> fmt::Result {
        let list = self.module.attr(op, name).map(|attr| self.context.attr_data(attr));
        let Some(AttrData::Array(items)) = list else { return Ok(()) };
        match items.get(i).filter(|&&item| item != Attr::EMPTY_DICT) {
            Some(&item) => {
                self.write(" ")?;
                self.attr(item)
            }
            None => Ok(()),
        }
    }

    /// `: i64`, where the type is not `index`.
    pub(super) fn width(&mut self, op: Op, name: &str) -> fmt::Result {
        self.space()?;
        let first = self.values_of(op, name).first().copied();
        let ty = first.map(|value| self.module.value_type(value));
        match ty.filter(|&ty| *self.context.type_data(ty) != TypeData::Index) {
            Some(ty) => {
                self.write(": ")?;
                self.ty(ty)
            }
            None => Ok(()),
        }
    }

    /// `args(%0 : i32, %1 : f32)`.
    pub(super) fn typed_values(&mut self, op: Op, args: &[&'static str]) -> fmt::Result {
        let &[word, operands] = args else { return Ok(()) };
        self.space()?;
        let values = self.values_of(op, operands);
        for (i, &value) in values.iter().enumerate() {
            match i {
                0 => write!(self.out, "{word}(")?,
                _ => self.write(", ")?,
            }
            self.value(value)?;
            self.write(" : ")?;
            self.ty(self.module.value_type(value))?;
        }
        self.write(if values.is_empty() { "" } else { ")" })
    }
}
