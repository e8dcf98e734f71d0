//! The directives of loops: counters, bounds, and the values that they carry.

use std::fmt;

use tangram_affine::AffineMap;

use super::Printer;
use super::custom::Spacing;
use crate::assembly::{Group, REDUCTIONS};
use crate::attributes::AttrData;
use crate::module::{Op, Value};
use crate::types::TypeData;

impl<W: fmt::Write> Printer<'_, W> {
    /// ` (%i, %j) = (%0, %1) to (%2, %3) step (%4, %5) init (%6)`.
    pub(super) fn nest(&mut self, op: Op) -> fmt::Result {
        self.counters(op, usize::MAX)?;
        for (i, word) in [" = (", " to (", " step (", " init ("].into_iter().enumerate() {
            let values = self.group(op, Group::Operand(i));
            if i == 3 && values.is_empty() {
                continue;
            }
            self.write(word)?;
            self.values(&values)?;
            self.write(")")?;
        }
        self.spacing = Spacing::AFTER_WORD;
        Ok(())
    }

    /// ` (%i, %j)`: the first `count` arguments of the region.
    pub(super) fn counters(&mut self, op: Op, count: usize) -> fmt::Result {
        let args = self.entry_args(op, 0);
        self.write(" (")?;
        self.values(&args[..count.min(args.len())])?;
        self.write(")")
    }

    pub(super) fn forall(&mut self, op: Op) -> fmt::Result {
        let numbers = |name: &str| {
            let list = self.module.attr(op, name).and_then(|attr| self.context.as_i64s(attr));
            list.unwrap_or_default()
        };
        let lists = ["staticLowerBound", "staticUpperBound", "staticStep"].map(numbers);
        self.counters(op, lists[0].len())?;
        // Constants that are operands count, as in MLIR's printer.
        let constant = |i: usize, number: i64| {
            let known = |value: &Value| {
                let attr = self.module.constant_value(*value);
                attr.and_then(|attr| self.context.as_i64(attr)) == Some(number)
            };
            let fixed = lists[i].iter().all(|&n| n == number || n == i64::MIN);
            fixed && self.group(op, Group::Operand(i)).iter().all(known)
        };
        let normal = constant(0, 0) && constant(2, 1);
        for (i, word) in [" = ", " to ", " step "].into_iter().enumerate() {
            let word = if normal { " in " } else { word };
            if normal && i != 1 {
                continue;
            }
            self.write(word)?;
            let values = self.group(op, Group::Operand(i));
            self.mixed_list(&lists[i], &values, "(", ")")?;
        }
        let outputs = self.group(op, Group::Operand(3));
        if !outputs.is_empty() {
            let args = self.entry_args(op, 0);
            self.write(" shared_outs(")?;
            self.bound_args(args.get(lists[0].len()..).unwrap_or(&[]), &outputs)?;
            self.write(")")?;
        }
        self.arrow_results(op, true)
    }

    /// ` (%i) = (max(0, %0)) to (10) step (2) reduce ("addf")`.
    pub(super) fn affine_nest(&mut self, op: Op) -> fmt::Result {
        self.counters(op, usize::MAX)?;
        let values: Vec<Value> = self.module.operands(op).collect();
        let lower = self.module.attr(op, "lowerBoundsMap");
        let lower = lower.and_then(|attr| self.context.as_affine_map(attr));
        let at = lower.map_or(0, AffineMap::inputs).min(values.len());
        self.write(" = (")?;
        self.grouped_bounds(op, ["lowerBoundsMap", "lowerBoundsGroups"], &values[..at], "max(")?;
        self.write(") to (")?;
        self.grouped_bounds(op, ["upperBoundsMap", "upperBoundsGroups"], &values[at..], "min(")?;
        self.write(")")?;
        let steps = self.module.attr(op, "steps").and_then(|attr| self.context.as_i64s(attr));
        let steps = steps.unwrap_or_default();
        if steps.iter().any(|&step| step != 1) {
            self.write(" step ")?;
            self.mixed_list(&steps, &[], "(", ")")?;
        }
        let kinds = self.module.attr(op, "reductions").and_then(|attr| self.context.as_i64s(attr));
        for (i, kind) in kinds.unwrap_or_default().into_iter().enumerate() {
            self.write(if i == 0 { " reduce (\"" } else { ", \"" })?;
            let kind = usize::try_from(kind).ok().and_then(|kind| REDUCTIONS.get(kind));
            self.write(kind.copied().unwrap_or("assign"))?;
            self.write("\"")?;
        }
        let reduces = self.module.result_count(op) > 0;
        self.write(if reduces { ")" } else { "" })?;
        self.arrow_results(op, true)
    }

    pub(super) fn grouped_bounds(
        &mut self,
        op: Op,
        names: [&str; 2],
        values: &[Value],
        prefix: &str,
    ) -> fmt::Result {
        let [map, groups] = names.map(|name| self.module.attr(op, name));
        let sizes = match groups.map(|attr| self.context.attr_data(attr)) {
            Some(AttrData::Dense { ty, bytes, splat }) => self.dense_integers(*ty, bytes, *splat),
            _ => Vec::new(),
        };
        let map = map.and_then(|attr| self.context.as_affine_map(attr));
        let Some(map) = map else { return Ok(()) };
        let mut results = map.results().iter();
        for (i, size) in sizes.into_iter().enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.write(if size == 1 { "" } else { prefix })?;
            for n in 0..size {
                self.write(if n == 0 { "" } else { ", " })?;
                let Some(&result) = results.next() else { break };
                self.substituted(map, result, values)?;
            }
            self.write(if size == 1 { "" } else { ")" })?;
        }
        Ok(())
    }

    /// ` iter_args(%a = %b) -> (i32)`.
    pub(super) fn iter_args(&mut self, op: Op, inits: &[Value]) -> fmt::Result {
        if inits.is_empty() {
            return Ok(());
        }
        let args = self.entry_args(op, 0);
        self.write(" iter_args(")?;
        self.bound_args(args.get(1..).unwrap_or(&[]), inits)?;
        self.write(") -> (")?;
        self.types_of(inits)?;
        self.write(")")
    }

    pub(super) fn entry_args(&self, op: Op, region: usize) -> Vec<Value> {
        let module = self.module;
        let region = module.regions(op).get(region);
        let entry = region.and_then(|&region| module.first_block(region));
        entry.map_or(Vec::new(), |entry| module.args(entry).to_vec())
    }

    pub(super) fn bound_args(&mut self, args: &[Value], inits: &[Value]) -> fmt::Result {
        for (i, (&arg, &init)) in args.iter().zip(inits).enumerate() {
            self.write(if i == 0 { "" } else { ", " })?;
            self.value(arg)?;
            self.write(" = ")?;
            self.value(init)?;
        }
        Ok(())
    }

    pub(super) fn counted_loop(&mut self, op: Op) -> fmt::Result {
        let operands: Vec<Value> = self.module.operands(op).collect();
        let [low, high, step, inits @ ..] = &operands[..] else { return Ok(()) };
        self.write(if self.module.attr(op, "unsignedCmp").is_some() { " unsigned " } else { " " })?;
        let counter = self.entry_args(op, 0).first().copied();
        counter.map_or(Ok(()), |counter| self.value(counter))?;
        for (word, value) in [(" = ", low), (" to ", high), (" step ", step)] {
            self.write(word)?;
            self.value(*value)?;
        }
        self.iter_args(op, inits)?;
        let ty = counter.map(|counter| self.module.value_type(counter));
        self.spacing = Spacing::AFTER_WORD;
        match ty.filter(|&ty| *self.context.type_data(ty) != TypeData::Index) {
            Some(ty) => {
                self.write("  : ")?;
                self.ty(ty)
            }
            None => Ok(()),
        }
    }

    pub(super) fn affine_loop(&mut self, op: Op) -> fmt::Result {
        let module = self.module;
        self.write(" ")?;
        let counter = self.entry_args(op, 0).first().copied();
        counter.map_or(Ok(()), |counter| self.value(counter))?;
        self.write(" = ")?;
        self.affine_bound(op, "lowerBoundMap", 0, "max ")?;
        self.write(" to ")?;
        self.affine_bound(op, "upperBoundMap", 1, "min ")?;
        let step = module.attr(op, "step").and_then(|attr| self.context.as_i64(attr));
        if let Some(step) = step.filter(|&step| step != 1) {
            write!(self.out, " step {step}")?;
        }
        let inits = self.group(op, Group::Operand(2));
        self.spacing = Spacing::AFTER_WORD;
        self.iter_args(op, &inits)
    }

    pub(super) fn affine_bound(
        &mut self,
        op: Op,
        name: &str,
        group: usize,
        prefix: &str,
    ) -> fmt::Result {
        let values = self.group(op, Group::Operand(group));
        let Some(attr) = self.module.attr(op, name) else { return Ok(()) };
        let Some(map) = self.context.as_affine_map(attr) else { return Ok(()) };
        let many = map.results().len() != 1;
        if let (0, Some(&[number])) = (map.inputs(), map.as_constants().as_deref()) {
            return write!(self.out, "{number}");
        }
        let alone = map.dims() == 0 && map.symbols() == 1 && !many && map.as_operand(0) == Some(0);
        if let (true, &[value]) = (alone, &values[..]) {
            return self.value(value);
        }
        self.write(if many { prefix } else { "" })?;
        self.attr(attr)?;
        self.dims_and_symbols(map.dims(), &values)
    }

    pub(super) fn affine_dma(&mut self, op: Op, maps: &[&str]) -> fmt::Result {
        let operands: Vec<Value> = self.module.operands(op).collect();
        let (mut rest, mut buffers) = (&operands[..], Vec::new());
        for (i, map) in maps.iter().enumerate() {
            let map = self.module.attr(op, map.trim_start_matches('$'));
            let map = map.and_then(|attr| self.context.as_affine_map(attr));
            let (Some(map), Some((&buffer, after))) = (map, rest.split_first()) else { break };
            let (indices, after) = after.split_at(map.inputs().min(after.len()));
            (rest, buffers) = (after, [buffers, vec![buffer]].concat());
            self.write(if i == 0 { " " } else { ", " })?;
            self.value(buffer)?;
            self.write("[")?;
            for (n, &result) in map.results().iter().enumerate() {
                self.write(if n == 0 { "" } else { ", " })?;
                self.substituted(map, result, indices)?;
            }
            self.write("]")?;
        }
        for &value in rest {
            self.write(", ")?;
            self.value(value)?;
        }
        self.spacing = Spacing::AFTER_WORD;
        self.write(" : ")?;
        self.types_of(&buffers)
    }

    pub(super) fn while_header(&mut self, op: Op) -> fmt::Result {
        let inits: Vec<Value> = self.module.operands(op).collect();
        if !inits.is_empty() {
            self.write(" (")?;
            let args = self.entry_args(op, 0);
            self.bound_args(&args, &inits)?;
            self.write(")")?;
        }
        self.write(" : (")?;
        self.types_of(&inits)?;
        self.write(") -> ")?;
        self.spacing = Spacing::AFTER_WORD;
        self.result_types(op)
    }
}
