//! The loops of the host.

use tangram_presburger::{Budget, Tuple, Union};

use super::kernel_selection::{Offload, Root};
use crate::ast::{Ast, AstOptions};
use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree};

impl Offload {
    /// Generates the loops that launch kernels.
    pub(super) fn host(&self, budget: &Budget) -> Result<Ast, Error> {
        let mut launches = Vec::new();
        for root in &self.roots {
            launches.push(root.launches(budget)?);
        }
        let mut host = ScheduleTree::new(NodeKind::Domain(Union::collect(
            launches.iter().flat_map(|set| set.relations().cloned()),
        )?));
        let below = self.below();
        // A node, where its children go, and the number of loops around it.
        let mut open = vec![(self.tree.root(), host.root(), 0)];
        while let Some((node, to, depth)) = open.pop() {
            if below[node.index()].is_empty() || self.roots.iter().any(|root| root.node == node) {
                continue;
            }
            let (to, depth) = match self.tree.kind(node) {
                NodeKind::Band(band) => {
                    let mut members = Vec::new();
                    for at in 0..band.members.len() {
                        let place = |_: &Root| format!(" -> [o{}]", depth + at);
                        let schedule = self.tuples(&below[node.index()], place)?;
                        members.push(Member { schedule, coincident: false });
                    }
                    let next = depth + members.len();
                    let band = Band { members, permutable: false, options: Union::empty() };
                    (host.add(to, NodeKind::Band(band)), next)
                }
                NodeKind::Sequence | NodeKind::Set => {
                    let list = host.add(to, NodeKind::Sequence);
                    for child in self.tree.children(node) {
                        let inside = &below[child.index()];
                        if inside.is_empty() {
                            continue;
                        }
                        let filter = self.tuples(inside, |_| String::new())?;
                        let filter = host.add(list, NodeKind::Filter(filter));
                        open.push((child, filter, depth));
                    }
                    continue;
                }
                _ => (to, depth),
            };
            open.extend(self.tree.children(node).map(|child| (child, to, depth)));
        }
        host.close();
        host.check(budget)?;
        Ast::of_tree(&host, None, &AstOptions::default(), budget)
    }

    /// Lists for each node the kernels at it or below it.
    fn below(&self) -> Vec<Vec<usize>> {
        let nodes: Vec<Node> = self.tree.nodes().collect();
        let mut below = vec![Vec::new(); nodes.len()];
        for node in nodes.into_iter().rev() {
            let own = self.roots.iter().position(|root| root.node == node);
            let mut all: Vec<usize> = own.into_iter().collect();
            for child in self.tree.children(node) {
                all.extend(&below[child.index()]);
            }
            below[node.index()] = all;
        }
        below
    }

    /// Writes the launches of kernels as tuples, each with something behind it.
    fn tuples(&self, kernels: &[usize], rest: impl Fn(&Root) -> String) -> Result<Union, Error> {
        let piece = |at: &usize| {
            let root = &self.roots[*at];
            let dims: Vec<String> = (0..root.depth).map(|dim| format!("o{dim}")).collect();
            format!("{}[{}]{}", root.name, dims.join(", "), rest(root))
        };
        let pieces: Vec<String> = kernels.iter().map(piece).collect();
        Ok(Union::parse(&format!("{{ {} }}", pieces.join("; ")), &Budget::unlimited())?)
    }
}

impl Root {
    /// Returns the values of the loops around the kernel with which it is launched.
    fn launches(&self, budget: &Budget) -> Result<Union, Error> {
        let mut all = Vec::new();
        for set in self.prefix.range(budget)?.coalesce(budget)?.relations() {
            let mut launch = Tuple::anonymous(self.depth);
            launch.name.clone_from(&self.name);
            all.push(set.cast(None, launch)?);
        }
        Ok(Union::collect(all)?)
    }
}
