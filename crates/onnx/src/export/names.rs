//! Names of values.
//!
//! A value keeps the name that it was imported with. Names of graph outputs go before all others:
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

    /// Gives the arguments and outputs of the graph in `block` their names. Returns, for each
    /// output that needs a node of its own to get its name, its place and value.
    pub(super) fn name_interface(
        &mut self,
        block: Block,
        outputs: &[(Str, Value)],
    ) -> Vec<(Str, Value)> {
        for &arg in self.module.args(block) {
            self.names[arg] = self.module.value_name(arg);
        }
        let mut copies = Vec::new();
        for &(name, value) in outputs {
            let own = self.module.value_name(value) == Some(name);
            let free = self.names[value].is_none();
            let here =
                self.module.def_block(value) == Some(block) && self.module.def_op(value).is_some();
            if self.names[value] == Some(name) || free && (own || here) {
                self.names[value] = Some(name);
            } else {
                copies.push((name, value));
            }
        }
        self.name_results(block, outputs);
        copies
    }

    /// Gives results their own names, where no output has taken them.
    fn name_results(&mut self, block: Block, outputs: &[(Str, Value)]) {
        let reserved: rustc_hash::FxHashSet<Str> = outputs.iter().map(|o| o.0).collect();
        for op in self.module.ops(block) {
            for value in self.module.results(op) {
                if self.names[value].is_none() {
                    let own = self.module.value_name(value);
                    self.names[value] = own.filter(|name| !reserved.contains(name));
                }
            }
        }
    }

    /// The name of `value`, a fresh one if it has none.
    pub(super) fn name(&mut self, value: Value) -> String {
        let name = match self.names[value] {
            Some(name) => name,
            None => {
                let own = self.module.value_name(value).filter(|_| self.is_erased(value));
                let name = match own {
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
