//! The chosen program back in the function.
//!
//! Operations of the function that were chosen stay the same operations, so that what no rule
//! touched keeps its names and places.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_egraph::Id;
use tangram_ir::{Attr, AttrData, Module, Op, OpState, Point, Value};

use crate::choose::{Chosen, Node, Problem};
use crate::graph::{Graph, captured, nested};

/// Writes the chosen program into the function that the graph was read from.
pub(crate) fn write(module: &mut Module, graph: &Graph, problem: &Problem, chosen: &Chosen) {
    let mut writer = Writer {
        module,
        graph,
        problem,
        values: FxHashMap::default(),
        ops: FxHashMap::default(),
        written: FxHashMap::default(),
        makers: graph.witnesses.iter().map(|witness| (witness.op, witness.id)).collect(),
        kept: FxHashSet::default(),
    };
    for &class in &chosen.order {
        let Some(choice) = chosen.selection.chosen[class] else { continue };
        match &problem.nodes[choice] {
            Node::Operation(number) => writer.operation(class, *number),
            Node::Value(value) => writer.value(class, *value),
            Node::Joined(witnesses) => writer.joined(class, witnesses),
        }
    }
    writer.name_values();
    writer.erase_rest();
}

struct Writer<'a> {
    module: &'a mut Module,
    graph: &'a Graph,
    problem: &'a Problem,
    values: FxHashMap<usize, Value>,
    ops: FxHashMap<usize, Op>,
    /// What was written for each witness: it may be a choice of its own and part of another.
    written: FxHashMap<usize, Op>,
    /// The e-node of each operation.
    makers: FxHashMap<Op, Id>,
    kept: FxHashSet<Op>,
}

impl Writer<'_> {
    fn value(&mut self, class: usize, value: Value) {
        let made = match self.graph.module.def_op(value) {
            None => Some(value),
            Some(op) => {
                let index = self.graph.module.results(op).position(|result| result == value);
                let maker = self.makers.get(&op).and_then(|&id| self.problem.class(self.graph, id));
                let maker = maker.and_then(|class| self.ops.get(&class));
                maker.zip(index).map(|(op, index)| self.module.result(*op, index))
            }
        };
        self.values.extend(made.map(|made| (class, made)));
    }

    fn operation(&mut self, class: usize, number: usize) {
        let count = self.graph.module.operand_count(self.graph.witnesses[number].op);
        let operands = self.operands(&self.graph.witnesses[number].children[..count]);
        let op = self.witness(number, operands);
        self.ops.insert(class, op);
        if self.module.result_count(op) == 1 {
            self.values.insert(class, self.module.result(op, 0));
        }
    }

    /// Writes operations of which each is the first operand of the next.
    fn joined(&mut self, class: usize, witnesses: &[usize]) {
        let mut last: Option<Op> = None;
        for &number in witnesses {
            let below = last.map(|op| self.module.result(op, 0));
            let rest = usize::from(below.is_some());
            let rest = self.operands(&self.graph.witnesses[number].children[rest..]);
            last = Some(self.witness(number, below.into_iter().chain(rest).collect()));
        }
        if let Some(op) = last {
            self.ops.insert(class, op);
            self.values.insert(class, self.module.result(op, 0));
        }
    }

    fn operands(&self, children: &[Id]) -> Vec<Value> {
        let value = |id: &Id| self.values.get(&self.problem.class(self.graph, *id)?).copied();
        let operands: Vec<Value> = children.iter().filter_map(value).collect();
        debug_assert_eq!(operands.len(), children.len(), "children come first");
        operands
    }

    /// Writes a witness once.
    fn witness(&mut self, number: usize, operands: Vec<Value>) -> Op {
        if let Some(&op) = self.written.get(&number) {
            return op;
        }
        let witness = &self.graph.witnesses[number];
        let op = if self.graph.is_original(witness.op) {
            self.keep(witness.op, &operands)
        } else {
            self.create(witness.op, operands)
        };
        self.written.insert(number, op);
        self.kept.insert(op);
        op
    }

    fn keep(&mut self, op: Op, operands: &[Value]) -> Op {
        let renewed: FxHashMap<Value, Value> = captured(self.module, op)
            .into_iter()
            .filter_map(|value| {
                let class = self.problem.class(self.graph, self.graph.id(value)?)?;
                Some((value, *self.values.get(&class)?))
            })
            .collect();
        for inner in nested(self.module, op) {
            for i in 0..self.module.operand_count(inner) {
                if let Some(&new) = renewed.get(&self.module.operand(inner, i)) {
                    self.module.set_operand(inner, i, new);
                }
            }
        }
        self.module.set_operands(op, operands);
        if op != self.graph.terminator {
            self.module.move_to(op, Point::Before(self.graph.terminator));
        }
        op
    }

    fn create(&mut self, like: Op, operands: Vec<Value>) -> Op {
        let from = &self.graph.module;
        let mut state = OpState::new(from.name(like), from.loc(like));
        state.attrs = from.attrs(like);
        state.operands = operands.into();
        state.results = from.results(like).map(|value| from.value_type(value)).collect();
        self.copy_resources(state.attrs);
        let op = self.module.create_at(Point::Before(self.graph.terminator), state);
        for (old, new) in from.results(like).zip(self.module.results(op)) {
            self.module.set_contents(new, from.contents(old));
        }
        op
    }

    fn copy_resources(&mut self, attrs: Attr) {
        let context = self.module.context_arc().clone();
        for (_, attr) in context.entries(attrs) {
            let AttrData::Resource { key, .. } = context.attr_data(*attr) else { continue };
            if self.module.resources().find(*key).is_none()
                && let Some(bytes) = self.graph.module.resources().find(*key)
            {
                self.module.resources_mut().insert(*key, bytes.clone());
            }
        }
    }

    /// A new value takes over the name of one that it replaces.
    fn name_values(&mut self) {
        let block = self.graph.block;
        for op in self.module.ops(block).collect::<Vec<_>>() {
            if self.kept.contains(&op) {
                continue;
            }
            for value in self.module.results(op) {
                let Some(name) = self.module.value_name(value) else { continue };
                let class = self.graph.id(value).and_then(|id| self.problem.class(self.graph, id));
                let new = class.and_then(|class| self.values.get(&class).copied());
                if let Some(new) = new.filter(|new| self.module.value_name(*new).is_none()) {
                    self.module.set_value_name(new, Some(name));
                }
            }
        }
    }

    fn erase_rest(&mut self) {
        let ops: Vec<Op> = self.module.ops(self.graph.block).collect();
        for op in ops.into_iter().rev() {
            if !self.kept.contains(&op) {
                self.module.erase(op);
            }
        }
    }
}
