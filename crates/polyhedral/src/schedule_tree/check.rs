//! The rules that every schedule tree keeps.

use std::rc::Rc;

use tangram_presburger::{Budget, Relation, Union};

use crate::ast::band_fault;
use crate::{Band, Error, Fault, Member, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Checks the rules of schedule trees, parents first.
    ///
    /// # Errors
    /// [`Error::IllFormed`] with the first node that breaks a rule; a set operation that
    /// fails or runs out of its budget.
    pub fn check(&self, budget: &Budget) -> Result<(), Error> {
        self.check_below(self.root(), budget)
    }

    /// Checks a node and all nodes below it, where the others are known to keep the rules: what a
    /// node may say depends on the nodes above it alone.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn check_below(&self, top: Node, budget: &Budget) -> Result<(), Error> {
        let mut state = State::default();
        for node in self.above(top) {
            state = self.pass(node, &state, budget)?;
        }
        let mut open = vec![(top, Rc::new(state))];
        while let Some((node, outer)) = open.pop() {
            let fail = |fault| Error::IllFormed { node, fault };
            self.check_shape(node, self.parent(node)).map_err(fail)?;
            self.check_parameters(node, &outer).map_err(fail)?;
            self.check_kind(node, &outer, budget)?;
            let state = Rc::new(self.pass(node, &outer, budget)?);
            let mut children: Vec<Node> = self.children(node).collect();
            children.reverse();
            open.extend(children.into_iter().map(|child| (child, Rc::clone(&state))));
        }
        Ok(())
    }

    /// Lists the nodes above a node, the root first.
    pub(crate) fn above(&self, node: Node) -> Vec<Node> {
        let mut above: Vec<Node> =
            std::iter::successors(self.parent(node), |node| self.parent(*node)).collect();
        above.reverse();
        above
    }

    fn check_shape(&self, node: Node, parent: Option<Node>) -> Result<(), Fault> {
        let kind = self.kind(node);
        let root = matches!(kind, NodeKind::Domain(_) | NodeKind::Extension(_));
        let found = self.children(node).count();
        let listed =
            parent.is_some_and(|p| matches!(self.kind(p), NodeKind::Sequence | NodeKind::Set));
        match (kind, parent) {
            (_, None) if !root => return Err(Fault::Root),
            (NodeKind::Domain(_), Some(_)) => return Err(Fault::InnerDomain),
            (kind, _) if listed && !matches!(kind, NodeKind::Filter(_)) => {
                return Err(Fault::NotFilter);
            }
            _ => {}
        }
        match kind {
            NodeKind::Leaf if found > 0 => Err(Fault::LeafWithChildren),
            NodeKind::Sequence | NodeKind::Set if found == 0 => Err(Fault::NoChildren),
            NodeKind::Leaf | NodeKind::Sequence | NodeKind::Set => Ok(()),
            NodeKind::Band(band) if band.members.is_empty() => Err(Fault::NoMembers),
            NodeKind::Mark(name) if name.is_empty() => Err(Fault::NamelessMark),
            _ if found != 1 => Err(Fault::Children { found }),
            _ => Ok(()),
        }
    }

    /// A parameter must come from the root's domain or a context above.
    fn check_parameters(&self, node: Node, outer: &State) -> Result<(), Fault> {
        let used = match self.kind(node) {
            NodeKind::Filter(set) => set.parameters(),
            NodeKind::Guard(set) => set.space().params.clone(),
            NodeKind::Band(band) => {
                band.members.iter().flat_map(|member| member.schedule.parameters()).collect()
            }
            NodeKind::Extension(map) if self.parent(node).is_some() => map.parameters(),
            NodeKind::Expansion { expansion, .. } => expansion.parameters(),
            _ => return Ok(()),
        };
        match used.into_iter().find(|name| !outer.params.contains(name)) {
            Some(name) => Err(Fault::Parameter { name }),
            None => Ok(()),
        }
    }

    /// Checks what a node says about the instances that reach it.
    fn check_kind(&self, node: Node, state: &State, budget: &Budget) -> Result<(), Error> {
        let fail = |fault| Error::IllFormed { node, fault };
        match self.kind(node) {
            NodeKind::Domain(set) | NodeKind::Filter(set) => sets(set).map_err(fail),
            NodeKind::Context(set) | NodeKind::Guard(set) => {
                over_outer(set, state.dims).map_err(fail)
            }
            NodeKind::Band(band) => {
                if let Some(fault) = members(band, &state.active, budget)? {
                    return Err(fail(fault));
                }
                let count = band.members.len();
                let option = band_fault(&band.options, state.dims, count, budget)?;
                option.map_or(Ok(()), |fault| Err(fail(fault.into())))
            }
            NodeKind::Extension(map) => {
                let is_root = self.parent(node).is_none();
                for piece in map.relations() {
                    let input = piece.space().input.as_ref();
                    let input =
                        input.ok_or_else(|| fail(Fault::Shape { expected: "relations" }))?;
                    let found = input.dims.len();
                    let expected = if is_root { outer_dims(map) } else { state.dims };
                    if expected != found {
                        return Err(fail(Fault::OuterDimensions { expected, found }));
                    }
                }
                Ok(())
            }
            NodeKind::Expansion { contraction, expansion } => {
                let fault = expanded(contraction, expansion, &state.active, budget)?;
                fault.map_or(Ok(()), |fault| Err(fail(fault)))
            }
            NodeKind::Sequence | NodeKind::Set | NodeKind::Mark(_) | NodeKind::Leaf => Ok(()),
        }
    }

    /// What holds below a node, by what holds where it stands.
    fn pass(&self, node: Node, outer: &State, budget: &Budget) -> Result<State, Error> {
        let State { active, dims, params } = outer;
        let (mut dims, mut params) = (*dims, params.clone());
        let active = match self.kind(node) {
            NodeKind::Domain(domain) => {
                params = domain.parameters();
                domain.clone()
            }
            NodeKind::Filter(filter) => active.intersect(filter, budget)?,
            NodeKind::Extension(map) => {
                if self.parent(node).is_none() {
                    dims = outer_dims(map);
                    params = map.parameters();
                }
                active.union(&map.range(budget)?)?
            }
            NodeKind::Expansion { expansion, .. } => active.apply_range(expansion, budget)?,
            NodeKind::Context(set) => {
                params.extend(set.space().params.iter().cloned());
                active.clone()
            }
            NodeKind::Band(band) => {
                dims += band.members.len();
                active.clone()
            }
            _ => active.clone(),
        };
        Ok(State { active, dims, params })
    }
}

/// The dimensions outside a tree to graft: its bands stand there.
fn outer_dims(map: &Union) -> usize {
    let input = map.relations().find_map(|piece| piece.space().input.as_ref());
    input.map_or(0, |input| input.dims.len())
}

/// What holds where a node stands.
#[derive(Default)]
struct State {
    /// Instances that reach the node.
    active: Union,
    /// Members of the bands above.
    dims: usize,
    params: Vec<String>,
}

fn sets(union: &Union) -> Result<(), Fault> {
    let all = union.relations().all(Relation::is_set);
    if all { Ok(()) } else { Err(Fault::Shape { expected: "sets" }) }
}

fn over_outer(set: &Relation, dims: usize) -> Result<(), Fault> {
    if !set.is_set() {
        return Err(Fault::Shape { expected: "a set" });
    }
    let found = set.space().output.dims.len();
    // A set of no dimensions speaks of parameters alone and stands anywhere.
    if found == dims || found == 0 {
        Ok(())
    } else {
        Err(Fault::OuterDimensions { expected: dims, found })
    }
}

fn members(band: &Band, active: &Union, budget: &Budget) -> Result<Option<Fault>, Error> {
    for (member, Member { schedule, .. }) in band.members.iter().enumerate() {
        let plain = |piece: &Relation| {
            let output = &piece.space().output;
            !piece.is_set() && output.name.is_empty() && output.dims.len() == 1
        };
        if !schedule.relations().all(plain) {
            return Ok(Some(Fault::MemberSpace { member }));
        }
        let needed = schedule.intersect_domain(active, budget)?;
        if !needed.is_single_valued(budget)? {
            return Ok(Some(Fault::MemberManyValued { member }));
        }
        if !active.is_subset(&needed.domain(budget)?, budget)? {
            return Ok(Some(Fault::MemberPartial { member }));
        }
    }
    Ok(None)
}

fn expanded(
    contraction: &Union,
    expansion: &Union,
    active: &Union,
    budget: &Budget,
) -> Result<Option<Fault>, Error> {
    if contraction.relations().chain(expansion.relations()).any(Relation::is_set) {
        return Ok(Some(Fault::Shape { expected: "relations" }));
    }
    if !contraction.is_single_valued(budget)? {
        return Ok(Some(Fault::ContractionManyValued));
    }
    if !expansion.is_subset(&contraction.inverse()?, budget)? {
        return Ok(Some(Fault::ExpansionMismatch));
    }
    if !active.is_subset(&expansion.domain(budget)?, budget)? {
        return Ok(Some(Fault::ExpansionPartial));
    }
    Ok(None)
}
