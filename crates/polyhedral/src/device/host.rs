//! The loops of the host.

use tangram_presburger::formula::{Comparison, Expr};
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

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
                        let dim = |root: &usize| self.roots[*root].loop_value(depth + at);
                        let schedule = below[node.index()].iter().map(dim);
                        let schedule = Union::collect(schedule.collect::<Result<Vec<_>, _>>()?)?;
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
                        let all = |root: &usize| {
                            Relation::universe(Space::set(Vec::new(), self.roots[*root].tuple()))
                        };
                        let filter = Union::collect(inside.iter().map(all))?;
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
}

impl Root {
    /// The tuple of its launches: the values of the loops around it.
    fn tuple(&self) -> Tuple {
        Tuple::new(&self.name, (0..self.depth).map(|dim| format!("o{dim}")))
    }

    /// Relates its launches to the value of a loop around it.
    fn loop_value(&self, at: usize) -> Result<Relation, Error> {
        let space = Space::map(Vec::new(), self.tuple(), Tuple::anonymous(1));
        let value = Expr::name(format!("o{at}"));
        let equal = Expr::output(0).compared(Comparison::Equal, value);
        Ok(Relation::such_that(space, &equal, &Budget::unlimited())?)
    }

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
