//! Classes after congruence: one witness for each e-node, one representative for each class.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tangram_dialects::constant;
use tangram_egraph::{Id, Symbol};
use tangram_gsl::matching::Classes;
use tangram_gsl::rules::merged_type;
use tangram_ir::{Op, Value};

use crate::graph::Graph;

const NONE: u32 = u32::MAX;

/// What each value is equal to.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// For each value the number of its class.
    class_of: Vec<u32>,
    members: Vec<Vec<Value>>,
    representatives: Vec<Value>,
}

impl Table {
    fn class(&self, value: Value) -> Option<usize> {
        let class = *self.class_of.get(value.as_u32() as usize)?;
        (class != NONE).then_some(class as usize)
    }
}

impl Classes for Graph {
    fn representative(&self, value: Value) -> Value {
        self.table.class(value).map_or(value, |class| self.table.representatives[class])
    }

    fn members(&self, value: Value) -> &[Value] {
        self.table.class(value).map_or(&[], |class| &self.table.members[class])
    }
}

impl Graph {
    /// Closes the classes under congruence, drops the witnesses that say the same as others, and
    /// makes all operands representatives.
    pub fn refresh(&mut self) {
        self.egraph.rebuild();
        let dropped = self.drop_repeated();
        self.number_classes();
        self.share_types();
        for op in dropped {
            for value in self.module.results(op) {
                let kept = self.representative(value);
                self.module.replace_uses(value, kept);
            }
            self.module.erase(op);
        }
        self.canonicalise();
    }

    /// Takes out witnesses with equal operators and operands; the first stays.
    fn drop_repeated(&mut self) -> Vec<Op> {
        let mut seen: FxHashSet<(Symbol, SmallVec<[Id; 4]>)> = FxHashSet::default();
        let mut dropped = Vec::new();
        let egraph = &self.egraph;
        self.witnesses.retain(|witness| {
            let children = witness.children.iter().map(|&id| egraph.find(id)).collect();
            let first = seen.insert((witness.symbol, children)) || witness.fixed;
            if !first {
                dropped.push(witness.op);
            }
            first
        });
        dropped
    }

    fn number_classes(&mut self) {
        let mut numbers: FxHashMap<Id, u32> = FxHashMap::default();
        let mut table =
            Table { class_of: vec![NONE; self.module.value_capacity()], ..Table::default() };
        let args = self.module.args(self.block).iter().copied();
        let results = self.witnesses.iter().flat_map(|w| self.module.results(w.op));
        for value in args.chain(results) {
            let Some(class) = self.class(value) else { continue };
            let next = table.members.len() as u32;
            let number = *numbers.entry(class).or_insert(next);
            if number == next {
                table.members.push(Vec::new());
            }
            table.members[number as usize].push(value);
            table.class_of[value.as_u32() as usize] = number;
        }
        let is_constant = |value: &Value| constant::constant_attr(&self.module, *value).is_some();
        let first =
            |members: &Vec<Value>| members.iter().copied().find(is_constant).unwrap_or(members[0]);
        table.representatives = table.members.iter().map(first).collect();
        // Values without a witness of their own belong where their e-nodes are.
        for (&value, &id) in self.values() {
            let at = &mut table.class_of[value.as_u32() as usize];
            if *at == NONE {
                *at = numbers.get(&self.egraph.find(id)).copied().unwrap_or(NONE);
            }
        }
        self.table = table;
    }

    /// Gives every member of a class the type that all of them say together.
    fn share_types(&mut self) {
        for members in &self.table.members {
            if members.len() < 2 {
                continue;
            }
            let context = self.module.context();
            let first = self.module.value_type(members[0]);
            let ty = members.iter().fold(first, |ty, value| {
                merged_type(context, ty, self.module.value_type(*value)).unwrap_or(ty)
            });
            let contents = members.iter().find_map(|value| self.module.contents(*value));
            for &value in members {
                self.module.set_value_type(value, ty);
                self.module.set_contents(value, contents);
            }
        }
    }

    fn canonicalise(&mut self) {
        for i in 0..self.witnesses.len() {
            let op = self.witnesses[i].op;
            for k in 0..self.module.operand_count(op) {
                let value = self.module.operand(op, k);
                let kept = self.representative(value);
                if kept != value {
                    self.module.set_operand(op, k, kept);
                }
            }
        }
    }
}
