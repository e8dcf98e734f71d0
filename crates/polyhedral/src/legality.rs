//! Whether a schedule tree keeps dependences in order.
//!
//! Pairs of instances go down the tree. A band lets go of those that it runs one after the
//! other, a sequence of those in different children; what is left at a leaf runs at the same
//! time. A pair that runs backwards, or at the same time, is a violation.
//!
//! Instances that an extension adds are not looked at: they run once for each iteration of
//! the loops around them.

use std::collections::{BTreeMap, BTreeSet};

use tangram_presburger::{Budget, Order, Relation, Tuple, Union};

use crate::{Band, Error, Node, NodeKind, ScheduleTree, Violation};

/// Checks a tree: `validity` runs forwards, and coincident members keep the pairs of
/// `coincidence` together. Pairs of an instance with itself say nothing.
///
/// Exact; the cost is that of a few set operations for each node and member.
///
/// # Errors
/// [`Error::Illegal`] with the first node that breaks an order.
pub fn check(
    tree: &ScheduleTree,
    validity: &Union,
    coincidence: &Union,
    budget: &Budget,
) -> Result<(), Error> {
    check_below(tree, tree.root(), validity, coincidence, budget)
}

/// Checks a node and all below it, where the rest of a tree is known to keep the order: which pairs
/// reach a node, and what it does to them, depends on the nodes above it alone.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_below(
    tree: &ScheduleTree,
    top: Node,
    validity: &Union,
    coincidence: &Union,
    budget: &Budget,
) -> Result<(), Error> {
    let first = Walk::new(tree, top, budget)?.run(validity, coincidence);
    if !matches!(first, Err(Error::Illegal { .. })) {
        return first;
    }
    // Pairs of instances that the tree does not have say nothing; few trees are given any.
    let inside = [within(tree, validity, budget)?, within(tree, coincidence, budget)?];
    Walk::new(tree, top, budget)?.run(&inside[0], &inside[1])
}

/// Keeps the pairs whose instances are in a tree, or are of statements that it does not know.
///
/// # Errors
/// [`Error::Presburger`] if the budget ends.
pub fn within(tree: &ScheduleTree, pairs: &Union, budget: &Budget) -> Result<Union, Error> {
    let mut instances = Union::empty();
    for node in tree.nodes() {
        match tree.kind(node) {
            NodeKind::Domain(domain) => instances = instances.union(domain)?,
            NodeKind::Expansion { .. } => {
                for child in tree.children(node) {
                    instances = instances.union(&tree.active(child, budget)?)?;
                }
            }
            _ => {}
        }
    }
    let known = |tuple: &Tuple| instances.relations().any(|set| set.space().output == *tuple);
    let mut kept = Vec::new();
    for pair in pairs.relations() {
        let mut own = Union::from(pair.clone());
        if pair.space().input.as_ref().is_some_and(known) {
            own = own.intersect_domain(&instances, budget)?;
        }
        if known(&pair.space().output) {
            own = own.intersect_range(&instances, budget)?;
        }
        kept.extend(own.relations().cloned());
    }
    Ok(Union::collect(kept)?)
}

/// What a band may promise.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub permutable: bool,
    pub coincident: Vec<bool>,
}

/// Checks a node and all below it, as [`check_below`] does, and finds out which bands there are
/// permutable and which members coincident.
pub(crate) fn facts(
    tree: &ScheduleTree,
    top: Node,
    dependences: &Union,
    coincidence: &Union,
    budget: &Budget,
) -> Result<Vec<(Node, Facts)>, Error> {
    let found = || -> Result<Walk<'_>, Error> {
        Ok(Walk { facts: Some(Vec::new()), ..Walk::new(tree, top, budget)? })
    };
    let mut walk = found()?;
    match walk.run(dependences, coincidence) {
        Err(Error::Illegal { .. }) => {
            walk = found()?;
            let inside = [within(tree, dependences, budget)?, within(tree, coincidence, budget)?];
            walk.run(&inside[0], &inside[1])?;
        }
        outcome => outcome?,
    }
    let mut facts = walk.facts.unwrap_or_default();
    // Bands that no dependence reaches promise everything.
    let known: BTreeSet<Node> = facts.iter().map(|(node, _)| *node).collect();
    let mut open = vec![top];
    while let Some(node) = open.pop() {
        open.extend(tree.children(node));
        if let NodeKind::Band(band) = tree.kind(node)
            && !known.contains(&node)
        {
            let coincident = vec![true; band.members.len()];
            facts.push((node, Facts { permutable: true, coincident }));
        }
    }
    Ok(facts)
}

/// Pairs that the nodes above leave together.
#[derive(Clone)]
struct Pairs {
    validity: Union,
    /// Nothing if they are those of the order.
    coincidence: Option<Union>,
}

struct Walk<'a> {
    tree: &'a ScheduleTree,
    /// The node that is looked at, with all below it.
    top: Node,
    /// The nodes above it, the root first: pairs go through them unchecked.
    above: Vec<Node>,
    /// For each node, how instances below it are grouped at it.
    contractions: Vec<Union>,
    budget: &'a Budget,
    /// What bands may promise; not there if their own promises are checked.
    facts: Option<Vec<(Node, Facts)>>,
}

impl<'a> Walk<'a> {
    fn new(tree: &'a ScheduleTree, top: Node, budget: &'a Budget) -> Result<Self, Error> {
        let (above, contractions) = (tree.above(top), contractions(tree, budget)?);
        Ok(Self { tree, top, above, contractions, budget, facts: None })
    }

    fn run(&mut self, validity: &Union, coincidence: &Union) -> Result<(), Error> {
        let other = (!validity.plain_is_equal(coincidence)).then(|| coincidence.clone());
        let mut start = Pairs { validity: validity.clone(), coincidence: other };
        for node in std::mem::take(&mut self.above) {
            start = self.through(node, start)?;
        }
        let start = start.map(|pairs| apart(pairs, self.budget))?;
        let mut open = vec![(self.top, start)];
        while let Some((node, pairs)) = open.pop() {
            if !pairs.is_empty(self.budget)? {
                self.enter(node, pairs, &mut open)?;
            }
        }
        Ok(())
    }

    /// Keeps the pairs that a node above the ones that are looked at leaves together.
    fn through(&self, node: Node, pairs: Pairs) -> Result<Pairs, Error> {
        match self.tree.kind(node) {
            NodeKind::Band(band) => {
                let mut left = pairs;
                for member in &band.members {
                    let schedule = self.grouped(node, &member.schedule)?;
                    left = left.map(|pairs| together(pairs, &schedule, self.budget))?;
                }
                Ok(left)
            }
            NodeKind::Filter(filter) => {
                let filter = self.inner(node, filter)?;
                pairs.map(|pairs| self.inside(pairs, &filter))
            }
            _ => Ok(pairs),
        }
    }

    fn enter(
        &mut self,
        node: Node,
        pairs: Pairs,
        open: &mut Vec<(Node, Pairs)>,
    ) -> Result<(), Error> {
        let pairs = match self.tree.kind(node) {
            NodeKind::Band(band) => self.band(node, band, pairs)?,
            NodeKind::Filter(_) => self.through(node, pairs)?,
            NodeKind::Sequence => return self.siblings(node, &pairs, true, open),
            NodeKind::Set => return self.siblings(node, &pairs, false, open),
            NodeKind::Leaf if !pairs.validity.is_empty(self.budget)? => {
                return Err(Error::Illegal { node, violation: Violation::Together });
            }
            _ => pairs,
        };
        open.extend(self.tree.children(node).map(|child| (child, pairs.clone())));
        Ok(())
    }

    fn inside(&self, pairs: &Union, filter: &Union) -> Result<Union, Error> {
        let first = pairs.intersect_domain(filter, self.budget)?;
        Ok(first.intersect_range(filter, self.budget)?)
    }

    /// Returns a set with the instances below that belong to its members.
    fn inner(&self, node: Node, set: &Union) -> Result<Union, Error> {
        let grouped = self.contractions[node.index()].intersect_range(set, self.budget)?;
        Ok(set.union(&grouped.domain(self.budget)?)?)
    }

    /// Hands each child the pairs whose instances may both be its own.
    ///
    /// # Errors
    /// [`Error::Illegal`] at the first child that runs before, or in no order with, another one
    /// whose instances it needs.
    fn siblings(
        &self,
        node: Node,
        pairs: &Pairs,
        ordered: bool,
        open: &mut Vec<(Node, Pairs)>,
    ) -> Result<(), Error> {
        let mut filters = Vec::new();
        for child in self.tree.children(node) {
            if let NodeKind::Filter(filter) = self.tree.kind(child) {
                filters.push((child, self.inner(child, filter)?));
            }
        }
        let holders = Holders::new(filters.iter().map(|(_, filter)| filter));
        let validity = self.distribute(&holders, &pairs.validity)?;
        let wrong = |one: usize, two: usize| one > two || (!ordered && one != two);
        if let Some(at) = self.first_broken(&holders, &pairs.validity, wrong)? {
            let violation =
                if ordered { Violation::Backwards { member: 0 } } else { Violation::Unordered };
            return Err(Error::Illegal { node: filters[at].0, violation });
        }
        let coincidence = match &pairs.coincidence {
            Some(pairs) => self.distribute(&holders, pairs)?.into_iter().map(Some).collect(),
            None => vec![None; filters.len()],
        };
        let parts = validity.into_iter().zip(coincidence);
        open.extend(filters.iter().zip(parts).map(|((child, _), (validity, coincidence))| {
            (*child, Pairs { validity, coincidence })
        }));
        Ok(())
    }

    /// For each child, the pairs whose statements are both in it.
    fn distribute(&self, holders: &Holders, pairs: &Union) -> Result<Vec<Union>, Error> {
        let mut parts = vec![Vec::new(); holders.children];
        for pair in pairs.relations() {
            for (one, ..) in holders.of_pair(pair).filter(|(one, _, two, _)| one == two) {
                parts[one].push(pair.clone());
            }
        }
        parts.into_iter().map(|part| Ok(Union::collect(part)?)).collect()
    }

    /// The first child that holds one instance of a pair where the other one is in a child
    /// that is `wrong` for it.
    fn first_broken(
        &self,
        holders: &Holders,
        pairs: &Union,
        wrong: impl Fn(usize, usize) -> bool,
    ) -> Result<Option<usize>, Error> {
        let mut first: Option<usize> = None;
        for pair in pairs.relations() {
            for (one, sources, two, sinks) in holders.of_pair(pair) {
                let at = one.max(two);
                if !wrong(one, two) || first.is_some_and(|first| first <= at) {
                    continue;
                }
                let from = pair.intersect_domain(sources, self.budget)?;
                if !from.intersect_range(sinks, self.budget)?.is_empty(self.budget)? {
                    first = Some(at);
                }
            }
        }
        Ok(first)
    }

    fn band(&mut self, node: Node, band: &Band, pairs: Pairs) -> Result<Pairs, Error> {
        let fail = |violation| Err(Error::Illegal { node, violation });
        let all = pairs.clone();
        let mut left = pairs;
        let finding = self.facts.is_some();
        let mut facts = Facts { permutable: true, coincident: Vec::new() };
        for (index, member) in band.members.iter().enumerate() {
            let schedule = self.grouped(node, &member.schedule)?;
            if self.any(&left.validity, &schedule, Order::Greater)? {
                return fail(Violation::Backwards { member: index });
            }
            if index > 0 && facts.permutable && (finding || band.permutable) {
                facts.permutable = !self.any(&all.validity, &schedule, Order::Greater)?;
            }
            if band.permutable && !facts.permutable {
                return fail(Violation::Permutable { member: index });
            }
            let base = if band.permutable { &all } else { &left };
            let coincident = self.is_coincident(base.coincidence(), &schedule)?;
            if member.coincident && !coincident {
                return fail(Violation::Coincident { member: index });
            }
            facts.coincident.push(coincident);
            left = left.map(|pairs| together(pairs, &schedule, self.budget))?;
        }
        if finding && facts.permutable {
            // What interchange may bring outside must be parallel there, too; a wavefront keeps its
            // parallel inner loops, and its order.
            for (index, member) in band.members.iter().enumerate() {
                if facts.permutable && facts.coincident[index] {
                    let schedule = self.grouped(node, &member.schedule)?;
                    facts.permutable = self.is_coincident(all.coincidence(), &schedule)?;
                }
            }
        }
        if let Some(all) = &mut self.facts {
            all.push((node, facts));
        }
        Ok(left)
    }

    /// Returns a member with values for the instances that those at the node stand for.
    fn grouped(&self, node: Node, schedule: &Union) -> Result<Union, Error> {
        let grouped = self.contractions[node.index()].apply_range(schedule, self.budget)?;
        Ok(schedule.union(&grouped)?)
    }

    /// Returns whether a member gives the instances of some pair values in an order.
    fn any(&self, pairs: &Union, schedule: &Union, order: Order) -> Result<bool, Error> {
        Ok(!in_order(pairs, schedule, &lexicographic(order), self.budget)?.is_empty(self.budget)?)
    }

    /// Returns whether a member gives the two instances of each pair one value.
    fn is_coincident(&self, pairs: &Union, schedule: &Union) -> Result<bool, Error> {
        Ok(!self.any(pairs, schedule, Order::Less)?
            && !self.any(pairs, schedule, Order::Greater)?)
    }
}

/// Which children of a node hold instances of a statement.
struct Holders<'a> {
    children: usize,
    /// By the names of statements.
    sets: BTreeMap<&'a str, Vec<(usize, &'a Relation)>>,
}

impl<'a> Holders<'a> {
    fn new(filters: impl Iterator<Item = &'a Union>) -> Self {
        let mut holders = Self { children: 0, sets: BTreeMap::new() };
        for filter in filters {
            for set in filter.relations() {
                let name = set.space().output.name.as_str();
                holders.sets.entry(name).or_default().push((holders.children, set));
            }
            holders.children += 1;
        }
        holders
    }

    fn of(&self, tuple: &Tuple) -> impl Iterator<Item = (usize, &'a Relation)> {
        let named = self.sets.get(tuple.name.as_str()).into_iter().flatten().copied();
        named.filter(move |(_, set)| set.space().output == *tuple)
    }

    /// The children with instances of the source, beside those with instances of the sink.
    fn of_pair(
        &self,
        pair: &Relation,
    ) -> impl Iterator<Item = (usize, &'a Relation, usize, &'a Relation)> {
        let sources = pair.space().input.iter().flat_map(|source| self.of(source));
        let sinks = &pair.space().output;
        sources
            .flat_map(move |(one, from)| self.of(sinks).map(move |(two, to)| (one, from, two, to)))
    }
}

/// Relates values of one member.
fn lexicographic(order: Order) -> Relation {
    Relation::lexicographic(Vec::new(), Tuple::anonymous(1), order)
}

/// Keeps the pairs to whose instances a schedule of one dimension gives one value.
pub(crate) fn together(pairs: &Union, schedule: &Union, budget: &Budget) -> Result<Union, Error> {
    let same = Relation::identity(Vec::new(), Tuple::anonymous(1));
    in_order(pairs, schedule, &same, budget)
}

/// Keeps the pairs to whose instances a schedule of one dimension gives different values.
pub(crate) fn taken_apart(
    pairs: &Union,
    schedule: &Union,
    budget: &Budget,
) -> Result<Union, Error> {
    let forwards = in_order(pairs, schedule, &lexicographic(Order::Less), budget)?;
    let backwards = in_order(pairs, schedule, &lexicographic(Order::Greater), budget)?;
    Ok(forwards.union(&backwards)?)
}

/// Keeps the pairs whose values `order` relates.
///
/// Pairs meet the order of instances, one relation for two statements, rather than the
/// values of each pair: those would join every part of a dependence with every other.
fn in_order(
    pairs: &Union,
    schedule: &Union,
    order: &Relation,
    budget: &Budget,
) -> Result<Union, Error> {
    let reached = schedule.apply_range(&order.clone().into(), budget)?;
    Ok(pairs.intersect_composition(&reached, &schedule.inverse()?, budget)?)
}

impl Pairs {
    fn coincidence(&self) -> &Union {
        self.coincidence.as_ref().unwrap_or(&self.validity)
    }

    fn map(&self, change: impl Fn(&Union) -> Result<Union, Error>) -> Result<Self, Error> {
        let coincidence = self.coincidence.as_ref().map(&change).transpose()?;
        Ok(Self { validity: change(&self.validity)?, coincidence })
    }

    fn is_empty(&self, budget: &Budget) -> Result<bool, Error> {
        let others = self.coincidence.as_ref();
        Ok(self.validity.is_empty(budget)?
            && others.map_or(Ok(true), |others| others.is_empty(budget))?)
    }
}

/// For each node, maps instances below to those that stand for them at the node.
pub(crate) fn contractions(tree: &ScheduleTree, budget: &Budget) -> Result<Vec<Union>, Error> {
    let nodes: Vec<Node> = tree.nodes().collect();
    let mut maps = vec![Union::empty(); nodes.len()];
    for node in nodes.iter().rev() {
        let mut below = Union::empty();
        for child in tree.children(*node) {
            below = below.union(&maps[child.index()])?;
        }
        if let NodeKind::Expansion { contraction, .. } = tree.kind(*node) {
            below = below.apply_range(contraction, budget)?.union(contraction)?;
        }
        maps[node.index()] = below;
    }
    Ok(maps)
}

/// Removes pairs of an instance with itself.
fn apart(pairs: &Union, budget: &Budget) -> Result<Union, Error> {
    let same = pairs.domain(budget)?.identity(budget)?;
    Ok(pairs.subtract(&same, budget)?)
}
