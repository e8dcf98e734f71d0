//! Names of values.
//!
//! A value keeps the name that it was imported with, unless another one has it: bodies may use one
//! name each for values that come to lie in one graph. Names of graph outputs go before all others:
//! the value that a graph returns now takes the name of the output, whatever it was called.

use tangram_ir::{Block, Op, Str, Value};

use super::Exporter;

impl Exporter<'_> {
    /// Notes every name that the model uses, so that fresh ones differ from all.
    pub(super) fn take_names(&mut self) {
        for node in &self.source.nodes {
            for name in node.output.iter().chain(&node.input) {
                self.taken.insert(self.context.str(name));
            }
        }
        for tensor in &self.source.tensors {
            self.taken.insert(self.context.str(tensor.name()));
        }
        for graph in self.source.graphs.values() {
            for info in graph.input.iter().chain(&graph.output).chain(&graph.value_info) {
                self.taken.insert(self.context.str(info.name()));
            }
        }
    }

    /// Gives the arguments and outputs of the graph in `block` their names, those of a body others
    /// if a graph around it has them by now. Returns, for each output that needs a node of its own
    /// to get its name, its name and value: what a body returns from around it does.
    pub(super) fn name_interface(
        &mut self,
        block: Block,
        outputs: &mut [(Str, Value)],
    ) -> Vec<(Str, Value)> {
        for &arg in self.module.args(block) {
            self.names[arg] = self.module.value_name(arg).map(|name| self.claimed(name));
        }
        let mut copies = Vec::new();
        for (name, value) in outputs.iter_mut() {
            let value = *value;
            let around = self.is_around(value);
            if self.names[value] == Some(*name) && !around {
                continue;
            }
            let own = self.module.value_name(value) == Some(*name);
            let free = self.names[value].is_none() && !around;
            *name = self.claimed(*name);
            let here =
                self.module.def_block(value) == Some(block) && self.module.def_op(value).is_some();
            if free && (own || here) {
                self.names[value] = Some(*name);
            } else {
                copies.push((*name, value));
            }
        }
        self.name_results(block);
        copies
    }

    /// Whether `value` belongs to one of the graphs around the innermost, which is still empty.
    fn is_around(&self, value: Value) -> bool {
        self.written.contains(&value) || self.home(value) + 1 < self.graphs.len()
    }

    /// Gives results their own names, where nothing else has them.
    fn name_results(&mut self, block: Block) {
        for op in self.module.ops(block) {
            for value in self.module.results(op) {
                // A constant of another graph is written there if it can be, and named then.
                let elsewhere = self.origin(value).is_some_and(|origin| origin.block != block);
                if self.names[value].is_none() && !elsewhere {
                    let own = self.module.value_name(value);
                    self.names[value] = own.filter(|&name| self.claim(name, false));
                }
            }
        }
    }

    /// Takes `name`, unless the innermost graph or one around it has it, or, if the value comes to
    /// lie where it was not, any graph: those beside each other may use one name.
    fn claim(&mut self, name: Str, moved: bool) -> bool {
        let known = self.graphs.iter().any(|graph| graph.names.contains(&name));
        let free = !(known || moved && self.given.contains(&name));
        if let (true, Some(graph)) = (free, self.graphs.last_mut()) {
            graph.names.insert(name);
            self.given.insert(name);
        }
        free
    }

    /// `name`, or a fresh one if another value has it.
    fn claimed(&mut self, name: Str) -> Str {
        match self.claim(name, false) {
            true => name,
            false => self.fresh_name(self.context.text(name)),
        }
    }

    /// The name of `value`, a fresh one if it has none.
    pub(super) fn name(&mut self, value: Value) -> String {
        let name = match self.names[value] {
            Some(name) => name,
            None => {
                let origin = self.origin(value).map(|origin| origin.block);
                let own = self.module.value_name(value);
                let own = own.filter(|_| origin.is_some() || self.is_erased(value));
                let moved = origin != self.graphs.last().map(|graph| graph.block);
                let name = match own.filter(|&own| self.claim(own, moved)) {
                    Some(own) => own,
                    None => {
                        let stem = self.stem(value);
                        self.fresh_name(&stem)
                    }
                };
                self.names[value] = Some(name);
                name
            }
        };
        self.context.text(name).to_owned()
    }

    /// An absorbed constant may be gone from the program; nobody else has its name then.
    fn is_erased(&self, value: Value) -> bool {
        self.module.def_op(value).is_some_and(|op: Op| !self.module.is_live(op))
    }

    fn stem(&self, value: Value) -> String {
        match self.module.def_op(value).filter(|&op| self.module.is_live(op)) {
            Some(op) => {
                let name = self.module.name_text(op);
                name.rsplit('.').next().unwrap_or(name).to_owned()
            }
            None => "value".to_owned(),
        }
    }

    /// A name that nothing else has.
    pub(super) fn fresh_name(&mut self, stem: &str) -> Str {
        loop {
            self.fresh += 1;
            let name = self.context.str(&format!("{stem}_t{}", self.fresh));
            if self.taken.insert(name) {
                return name;
            }
        }
    }
}
