//! Choices of several operations that are one kernel.
//!
//! A bias behind a convolution or product, and a function of each element behind either, are
//! computed in the same kernel if nothing else uses what is between. So each such chain of
//! operations is one choice for the class of the last, beside the choices of one operation.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tangram_dialects::nn::bias;
use tangram_egraph::Id;
use tangram_ir::{Module, Op};

use crate::choose::{Node, Problem};
use crate::cost::CostModel;
use crate::graph::Graph;

/// The most chains that end in one class.
const CHAINS: usize = 64;

/// Witnesses by number, the convolution or product first; each is the first operand of the next.
pub(crate) type Witnesses = SmallVec<[usize; 3]>;

/// Operations that are one kernel.
struct Chain {
    witnesses: Witnesses,
    kids: SmallVec<[Id; 4]>,
    seconds: f64,
}

type Chains = FxHashMap<Id, Vec<Chain>>;

impl Problem {
    /// Adds the chains that are one kernel; lists those choices that the function makes, by class.
    /// `folds` says which witnesses depend on constants only.
    pub(crate) fn join(
        &mut self,
        module: &Module,
        (graph, folds): (&Graph, &[bool]),
        cost: &CostModel,
    ) -> Vec<(usize, usize)> {
        let computed: Vec<usize> = (0..graph.witnesses.len())
            .filter(|&number| !folds[number] && !graph.witnesses[number].fixed)
            .collect();
        let mut original = Vec::new();
        let mut chains = products(graph, cost, &computed);
        while !chains.is_empty() {
            let mut longer = Chains::default();
            for &number in &computed {
                let witness = &graph.witnesses[number];
                let Some((&below, rest)) = witness.children.split_first() else { continue };
                let class = graph.egraph.find(witness.id);
                for chain in chains.get(&graph.egraph.find(below)).into_iter().flatten() {
                    let known = longer.entry(class).or_default();
                    if known.len() == CHAINS || !may_follow(graph, chain, witness.op) {
                        continue;
                    }
                    let chain = chain.with(graph, cost, number, rest);
                    let node = Node::Joined(chain.witnesses.clone());
                    let choice = self.push(graph, witness.id, &chain.kids, chain.seconds, node);
                    if chain.is_original(module, graph) {
                        original.push((self.class_of(choice), choice));
                    }
                    known.push(chain);
                }
            }
            chains = longer;
        }
        // Where one ends within another, the function has the longer one.
        original.reverse();
        original
    }
}

/// The convolutions and products by class.
fn products(graph: &Graph, cost: &CostModel, computed: &[usize]) -> Chains {
    let mut chains = Chains::default();
    for &number in computed {
        let witness = &graph.witnesses[number];
        if !bias::is_product(graph.module.name_text(witness.op)) {
            continue;
        }
        let known = chains.entry(graph.egraph.find(witness.id)).or_default();
        if known.len() < CHAINS {
            known.push(Chain {
                witnesses: smallvec![number],
                kids: witness.children.clone(),
                seconds: cost.alone(&graph.module, witness.op),
            });
        }
    }
    chains
}

/// Returns whether `op` is part of the kernel that `chain` is, if it stands behind it.
fn may_follow(graph: &Graph, chain: &Chain, op: Op) -> bool {
    let module = &graph.module;
    let of = |number: &usize| graph.witnesses[*number].op;
    let (first, last) = (of(&chain.witnesses[0]), chain.witnesses.last().map(of));
    let at_product = chain.witnesses.len() == 1;
    let ends = last.is_some_and(|last| !at_product && bias::is_function(module, last));
    at_product && bias::can_have_bias(module, first, op)
        || !ends && bias::is_function(module, op) && bias::can_have_function(module, first)
}

impl Chain {
    /// The chain with witness `number` behind it, whose other operands are `rest`.
    fn with(&self, graph: &Graph, cost: &CostModel, number: usize, rest: &[Id]) -> Chain {
        let (module, of) = (&graph.module, |number: usize| graph.witnesses[number].op);
        let behind = cost.seconds_behind(module, of(self.witnesses[0]), of(number));
        Chain {
            witnesses: self.witnesses.iter().copied().chain([number]).collect(),
            kids: self.kids.iter().chain(rest).copied().collect(),
            seconds: self.seconds + behind,
        }
    }

    /// Returns whether the function that the graph was read from has this kernel.
    fn is_original(&self, module: &Module, graph: &Graph) -> bool {
        let ops: SmallVec<[Op; 3]> =
            self.witnesses.iter().map(|&number| graph.witnesses[number].op).collect();
        ops.iter().all(|op| graph.is_original(*op))
            && ops.last().is_some_and(|last| bias::kernel(module, *last) == ops)
    }
}
