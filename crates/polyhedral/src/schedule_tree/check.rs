//! The rules that every schedule tree keeps.

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
        let mut states: Vec<Option<State>> = vec![None; self.nodes.len()];
        for node in self.nodes() {
            let fail = |fault| Error::IllFormed { node, fault };
            let parent = self.parent(node);
            self.check_shape(node, parent).map_err(fail)?;
            let outer = match parent {
                Some(parent) => states[parent.index()].clone().unwrap_or_default(),
                None => State::default(),
            };
            self.check_parameters(node, &outer).map_err(fail)?;
            states[node.index()] = Some(self.enter(node, outer, budget)?);
        }
        Ok(())
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

    /// Checks what a node says about the instances that reach it, and passes them on.
    fn enter(&self, node: Node, mut state: State, budget: &Budget) -> Result<State, Error> {
        let fail = |fault| Error::IllFormed { node, fault };
        match self.kind(node) {
            NodeKind::Domain(domain) => {
                sets(domain).map_err(fail)?;
                state.params = domain.parameters();
                state.active = domain.clone();
            }
            NodeKind::Context(set) => {
                over_outer(set, state.dims).map_err(fail)?;
                state.params.extend(set.space().params.iter().cloned());
            }
            NodeKind::Guard(set) => over_outer(set, state.dims).map_err(fail)?,
            NodeKind::Filter(filter) => {
                sets(filter).map_err(fail)?;
                state.active = state.active.intersect(filter, budget)?;
            }
            NodeKind::Band(band) => {
                if let Some(fault) = members(band, &state.active, budget)? {
                    return Err(fail(fault));
                }
                let count = band.members.len();
                let option = band_fault(&band.options, state.dims, count, budget)?;
                if let Some(fault) = option {
                    return Err(fail(fault.into()));
                }
                state.dims += count;
            }
            NodeKind::Extension(map) => {
                if self.parent(node).is_none() {
                    // A tree to graft: its bands stand outside.
                    let input = map.relations().find_map(|piece| piece.space().input.as_ref());
                    state.dims = input.map_or(0, |input| input.dims.len());
                }
                for piece in map.relations() {
                    let input = piece.space().input.as_ref();
                    let input =
                        input.ok_or_else(|| fail(Fault::Shape { expected: "relations" }))?;
                    let (expected, found) = (state.dims, input.dims.len());
                    if expected != found {
                        return Err(fail(Fault::OuterDimensions { expected, found }));
                    }
                }
                if self.parent(node).is_none() {
                    state.params = map.parameters();
                }
                state.active = state.active.union(&map.range(budget)?)?;
            }
            NodeKind::Expansion { contraction, expansion } => {
                if let Some(fault) = expanded(contraction, expansion, &state.active, budget)? {
                    return Err(fail(fault));
                }
                state.active = state.active.apply_range(expansion, budget)?;
            }
            NodeKind::Sequence | NodeKind::Set | NodeKind::Mark(_) | NodeKind::Leaf => {}
        }
        Ok(state)
    }
}

/// What holds where a node stands.
#[derive(Clone, Default)]
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
